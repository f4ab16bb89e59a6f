//! A provider's own export of usage or costs: sums by day, as its administration interface or its console writes them.

use std::collections::BTreeMap;

use ctxsim_input::profile::calendar::DAY_MS;

use super::documents;
use super::rows::{look, moment, table};
use crate::import::prelude::*;

/// What a provider says of one day, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportedDay {
    /// What it charged, if the export says so.
    pub charged: Option<Cost>,
    /// Input that was neither read nor written, what was read, what was written, and output; if the export says so.
    pub tokens: Option<[Tokens; 4]>,
}

/// A provider's export, by days since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderExport {
    pub days: BTreeMap<i64, ExportedDay>,
    /// How many of its rows say nothing of a day that is known.
    pub n_left_out: usize,
}

/// When a row's day begins.
const DAY: [&str; 6] = ["starting_at", "start_time_iso", "usage_date_utc", "start_time", "date_utc", "date"];

/// Amounts in dollars.
const DOLLARS: [&str; 4] = ["amount.value", "amount_value", "cost_usd", "amount_usd"];

/// The counts of a row, each by its names: what was neither read nor written, all input, what was read, what was written, and output.
const COUNTS: [&[&str]; 6] = [
    &["uncached_input_tokens", "usage_input_tokens_no_cache"],
    &["input_tokens"],
    &["cache_read_input_tokens", "usage_input_tokens_cache_read", "input_cached_tokens"],
    &["cache_creation.ephemeral_5m_input_tokens", "usage_input_tokens_cache_write_5m"],
    &["cache_creation.ephemeral_1h_input_tokens", "usage_input_tokens_cache_write_1h"],
    &["output_tokens", "usage_output_tokens"],
];

/// The most dollars of a row that are believed.
const DOLLARS_MAX: f64 = 1e9;

/// Reads a provider's export; nothing of what is none.
pub fn provider_export(text: &str) -> Option<ProviderExport> {
    let mut export = ProviderExport::default();
    if text.trim_ascii_start().starts_with(['{', '[']) {
        documents::each(text, &mut Losses::default(), |_, raw, _| {
            let page: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            let buckets =
                if page["data"].is_array() { list(&page["data"]) } else { std::slice::from_ref(&page) };
            for bucket in buckets {
                list(&bucket["results"]).iter().for_each(|it| export.take(bucket, it));
                // A bucket's day may have had no use.
                if let Some(day) = day_of(bucket).filter(|_| bucket["results"].is_array()) {
                    export.days.entry(day).or_default();
                }
            }
        });
    } else {
        table::rows(text).for_each(|(_, row)| export.take(&row, &row));
    }
    let says = |it: &ExportedDay| it.charged.is_some() || it.tokens.is_some();
    export.days.values().any(says).then_some(export)
}

impl ProviderExport {
    fn take(&mut self, bucket: &Value, row: &Value) {
        let charged = charged(row);
        let [uncached, input, read, short, long, output] = COUNTS.map(|names| count(row, names));
        let uncached = uncached.or_else(|| input?.checked_sub(read.unwrap_or(0)));
        let known = |it: Option<Tokens>| it.unwrap_or(0);
        let tokens =
            uncached.map(|it| [it, known(read), known(short).saturating_add(known(long)), known(output)]);
        let Some(day) = day_of(bucket).filter(|_| charged.is_some() || tokens.is_some()) else {
            self.n_left_out += 1;
            return;
        };
        let day = self.days.entry(day).or_default();
        if let Some(Cost(more)) = charged {
            day.charged = Some(Cost(day.charged.map_or(0, |it| it.0).saturating_add(more)));
        }
        if let Some(more) = tokens {
            let before = day.tokens.unwrap_or_default();
            day.tokens = Some(std::array::from_fn(|it| before[it].saturating_add(more[it])));
        }
    }
}

fn day_of(row: &Value) -> Option<i64> {
    let begins = look(row, &DAY)?;
    let at_ms = match begins {
        Value::String(date) if date.len() == "YYYY-MM-DD".len() => {
            moment(&Value::String(format!("{date}T00:00:00Z")))
        }
        other => moment(other),
    };
    Some(at_ms?.div_euclid(DAY_MS))
}

/// Returns what a row charges. Anthropic's interface writes cents as a text, the others dollars.
fn charged(row: &Value) -> Option<Cost> {
    let amount = |it: &Value| it.as_f64().or_else(|| it.as_str()?.parse().ok());
    let cents = || row.get("amount").filter(|it| it.is_string()).and_then(amount).map(|it| it / 100.0);
    let dollars = look(row, &DOLLARS).and_then(amount).or_else(cents)?;
    (0.0..DOLLARS_MAX).contains(&dollars).then(|| Cost((dollars * 1e12).round() as u128))
}

fn count(row: &Value, names: &[&str]) -> Option<Tokens> {
    let value = look(row, names)?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str) -> Vec<(i64, Option<u128>, Option<[u64; 4]>)> {
        let days = provider_export(text).unwrap().days.into_iter();
        days.map(|(day, it)| (day, it.charged.map(|it| it.0 / 1_000_000_000), it.tokens)).collect()
    }

    #[test]
    fn exports_of_costs_are_read_in_cents_and_in_dollars() {
        let anthropic = r#"{"data":[{"starting_at":"2026-01-02T00:00:00Z","results":[{"currency":"USD","amount":"123.5"},
            {"currency":"USD","amount":"76.5"}]},{"starting_at":"2026-01-03T00:00:00Z","results":[]}],"has_more":false}"#;
        let openai = r#"{"object":"page","data":[{"object":"bucket","start_time":1767312000,
            "results":[{"amount":{"value":0.06,"currency":"usd"}}]}]}"#;

        assert_eq!(days(anthropic), [(20_455, Some(2_000), None), (20_456, None, None)]);
        assert_eq!(days(openai), [(20_455, Some(60), None)]);
        assert_eq!(
            days("usage_date_utc,cost_usd\n2026-01-02,1.25\n2026-01-02,0.25\n"),
            [(20_455, Some(1_500), None)]
        );
    }

    #[test]
    fn exports_of_usage_are_read_with_and_without_what_was_read_in_their_input() {
        let anthropic = r#"{"data":[{"starting_at":"2026-01-02T00:00:00Z","results":[{"uncached_input_tokens":5,
            "cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":1},"cache_read_input_tokens":9,"output_tokens":4}]}]}"#;
        let openai = r#"{"data":[{"start_time":1767312000,"results":[{"input_tokens":14,"input_cached_tokens":9,"output_tokens":4}]}]}"#;

        assert_eq!(days(anthropic), [(20_455, None, Some([5, 9, 3, 4]))]);
        assert_eq!(days(openai), [(20_455, None, Some([5, 9, 0, 4]))]);
    }
}
