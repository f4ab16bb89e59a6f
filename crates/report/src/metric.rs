//! How tables show the numbers of a run.

use crate::prelude::*;
use ctxsim_engine::measure::Better;
use ctxsim_timeline::row::ColumnUnit;

pub use ctxsim_engine::measure::metric::{ByTtl, COST, Metric, RunTotals, WAITING, at_place, selectable};

/// How tables show a number.
struct NumberStyle {
    place: &'static str,
    /// The heading of its column.
    heading: &'static str,
    /// Its order of hiding if there is not enough room, from 1; `None` for never.
    leaves: Option<u8>,
    /// Its better direction when two policies are compared.
    better: Option<Better>,
}

const fn usual_column(
    metric_name: &'static str,
    heading: &'static str,
    hiding_rank: Option<u8>,
    better: Better,
) -> NumberStyle {
    NumberStyle { place: metric_name, heading, leaves: hiding_rank, better: Some(better) }
}

const fn optional_column(metric_name: &'static str, heading: &'static str) -> NumberStyle {
    NumberStyle { place: metric_name, heading, leaves: None, better: None }
}

/// The columns that tables have if nothing is asked for, from left to right; policies are compared by them.
const USUAL: [NumberStyle; 10] = [
    usual_column("requests", "requests", Some(5), Better::Neither),
    usual_column("prompt_tokens_max", "prompt max tok", Some(6), Better::Lower),
    usual_column("cache_hit_ratio", "cache hit", Some(10), Better::Higher),
    usual_column("cache_read_tokens", "read tok", Some(4), Better::Neither),
    usual_column("cache_write_tokens", "write tok", Some(3), Better::Neither),
    usual_column("uncached_tokens", "uncached tok", Some(2), Better::Neither),
    usual_column("recovery.expected_calls", "recovery calls", Some(7), Better::Lower),
    usual_column("evidence_kept", "evidence kept", Some(11), Better::Higher),
    usual_column(WAITING, "waiting minutes", Some(1), Better::Lower),
    usual_column(COST, "cost USD", None, Better::Lower),
];

/// The columns with a heading of their own that can be asked for.
const OPTIONAL: &[NumberStyle] = &[
    optional_column("waiting_minutes.requests", "requests minutes"),
    optional_column("waiting_minutes.compaction", "compaction minutes"),
    optional_column("waiting_minutes.recovery", "recovery minutes"),
    optional_column("waiting_minutes.total_low", "minutes low"),
    optional_column("waiting_minutes.total_high", "minutes high"),
    optional_column("turns_completed_share", "turns completed"),
    optional_column("limit_pressure", "limit pressure"),
    optional_column("tool_results.saved_share", "compression savings"),
    optional_column("recovery.expected_tokens", "recovery tokens"),
    optional_column("cost_usd.base", "base USD"),
    optional_column("cost_usd.cache_read", "cache read USD"),
    optional_column("cost_usd.cache_write", "cache write USD"),
    optional_column("cost_usd.uncached", "uncached USD"),
    optional_column("cost_usd.output", "output USD"),
    optional_column("cost_usd.recovery", "recovery USD"),
    optional_column("cost_usd.exploration", "exploration USD"),
    optional_column("cost_usd.reaction", "reaction USD"),
    optional_column("cost_usd.left_by_others", "left by others USD"),
    optional_column("cost_usd.compaction", "compaction USD"),
    optional_column("cost_usd.keep_alive", "keep alive USD"),
    optional_column("cost_usd.storage", "storage USD"),
    optional_column("cost_usd.penalty", "penalty USD"),
    optional_column("cost_usd.total_low", "total low USD"),
    optional_column("cost_usd.total_high", "total high USD"),
];

/// Numbers without such a column by which policies are compared, too.
const ALSO_COMPARED: [(&str, Better); 2] =
    [("limit_violations", Better::Lower), ("compaction.requests", Better::Neither)];

/// How tokens are written.
pub type TokenFormat = fn(Tokens) -> String;

/// How a number of a run is shown.
pub trait ShownMetric {
    fn metric(&self) -> &Metric;

    /// Returns its better direction.
    fn better_direction(&self) -> Better {
        let also = || ALSO_COMPARED.iter().find(|it| it.0 == self.metric().name).map(|(_, better)| *better);
        number_style(self.metric()).and_then(|it| it.better).or_else(also).unwrap_or(Better::Neither)
    }

    /// Returns its value in a tally; `None` if unknown.
    fn value_in(&self, tally: &Tally) -> Option<f64> {
        self.metric().value(tally).number()
    }

    /// Returns whether it is a share, whose differences are in percentage points.
    fn is_share(&self) -> bool {
        self.metric().unit == ColumnUnit::Share
    }

    /// Returns a value as text, with a number of decimals for dollars.
    fn format_number(&self, number: f64, usd_decimals: usize) -> String {
        match shown_unit(self.metric()) {
            Some(ColumnUnit::Share) => percent(number),
            Some(ColumnUnit::Usd) => fixed(number, usd_decimals),
            Some(ColumnUnit::Count | ColumnUnit::Tokens) => fixed(number, 0),
            Some(ColumnUnit::Minutes) => fixed(number, 1),
            _ => numbers::expected(number),
        }
    }

    /// Returns its order of hiding; `None` if it is never hidden.
    fn hiding_rank(&self) -> Option<u8> {
        number_style(self.metric()).and_then(|it| it.leaves)
    }

    /// Returns the heading of its column.
    fn column_heading(&self) -> &'static str {
        number_style(self.metric()).map_or(self.metric().name, |it| it.heading)
    }

    /// Returns its cells, all with as many decimals; dollars with the given number of them.
    fn format_cells<'t>(
        &self,
        tallies: impl Iterator<Item = &'t Tally>,
        token_format: TokenFormat,
        usd_decimals: usize,
    ) -> Vec<String> {
        let values: Vec<Value> = tallies.map(|it| self.metric().value(it)).listed();
        let has_fraction = values.iter().filter_map(Value::number).any(|it| it.fract() != 0.0);
        let unit = shown_unit(self.metric());
        let cell = |value: &Value| match (unit, value) {
            (Some(ColumnUnit::Tokens), Value::Count(count)) => token_format(*count),
            (_, Value::Count(count)) => thousands(*count),
            (Some(ColumnUnit::Share), Value::Real(share)) => percent(*share),
            (Some(ColumnUnit::Usd), Value::Real(amount)) => fixed(*amount, usd_decimals),
            (Some(ColumnUnit::Minutes), Value::Real(minutes)) => fixed(*minutes, 1),
            // Fractions of a token are of no interest.
            (Some(ColumnUnit::Tokens), Value::Real(count)) => fixed(*count, 0),
            (_, Value::Real(count)) => fixed(*count, if has_fraction { 2 } else { 0 }),
            (_, Value::Text(text)) => text.to_string(),
            _ => NONE.to_owned(),
        };
        values.iter().map(cell).listed()
    }
}

impl ShownMetric for Metric {
    fn metric(&self) -> &Metric {
        self
    }
}

fn number_style(metric: &Metric) -> Option<&'static NumberStyle> {
    USUAL.iter().chain(OPTIONAL).find(|it| it.place == metric.name)
}

/// Returns its unit if it has a column of its own; others are written as they are.
fn shown_unit(metric: &Metric) -> Option<ColumnUnit> {
    number_style(metric).map(|_| metric.unit)
}

/// Returns the metrics by which policies are compared, cost first, then by column.
pub fn compared_metrics() -> Vec<&'static Metric> {
    let usual = USUAL.iter().map(|it| it.place).filter(|place| *place != COST);
    let also = ALSO_COMPARED.iter().map(|it| it.0);
    std::iter::once(COST).chain(usual).chain(also).filter_map(at_place).listed()
}

/// Returns the metrics that tables show if nothing is asked for, from left to right.
pub fn usual_metrics() -> impl Iterator<Item = &'static Metric> {
    USUAL.iter().filter_map(|it| at_place(it.place))
}
