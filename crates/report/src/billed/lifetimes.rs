//! Lifetimes of cache entries where no setting of an agent is simulated: what all writes cost with the other one, and what pauses would change.

use super::session::{BilledRequest, BilledSession};
use super::{BilledLever, BilledRow, Told, ToldSession, by_kind};
use ctxsim_base::grid::numbers::counted;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::missed::MissCause;

pub(super) struct Lifetimes;

const HOUR_MS: u64 = 3_600_000;
const FIVE_MINUTES_MS: u64 = 300_000;

impl BilledLever for Lifetimes {
    fn name(&self) -> &'static str {
        "lifetimes"
    }

    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        if session.has_lifetime_setting {
            return Vec::new();
        }
        let lane = if session.timeline.is_of_agent() { "sub-agents" } else { "main" };
        let told = |(of, saved): (&str, f64)| Told {
            of: format!("{of} {lane}"),
            saved,
            times: 1,
            ..Told::default()
        };
        let sum = |saved: fn(&BilledRequest<'_>) -> f64| session.requests.iter().map(saved).sum::<f64>();
        let all = [("1 hour", sum(an_hour)), ("5 minutes", sum(five_minutes))];
        all.into_iter().filter(|it| it.1 != 0.0).map(told).listed()
    }

    fn rows(&self, all: &[ToldSession<'_>]) -> Vec<BilledRow> {
        let row = |it: super::KindOfTold<'_>| BilledRow {
            of: it.of.to_owned(),
            title: format!(
                "Cache entries that live {}",
                it.of.replace(" main", ", main conversations").replace(" sub", ", sub")
            ),
            about: format!("{} would pay other prices for writes", counted(it.sessions, "session")),
            saved: it.saved,
            ..BilledRow::default()
        };
        by_kind(all).into_iter().map(row).listed()
    }
}

/// Returns what a request saves if everything is written for an hour: what it missed after up to an hour is read, and writes cost more.
fn an_hour(it: &BilledRequest<'_>) -> f64 {
    let Some([short, long]) = it.writes_usd() else { return 0.0 };
    let missed =
        it.miss.filter(|miss| miss.0 == MissCause::Paused && it.pause_ms <= HOUR_MS && !it.is_long());
    let again = if missed.is_some() { it.again_usd() } else { 0.0 };
    let written = it.tokens.write[0].saturating_sub(missed.map_or(0, |it| it.1));
    again - written as f64 * (long - short)
}

/// Returns what it saves if everything is written for five minutes: writes cost less, and what it read after longer is written again.
fn five_minutes(it: &BilledRequest<'_>) -> f64 {
    let Some([short, long]) = it.writes_usd() else { return 0.0 };
    let is_lost = it.is_long() && (FIVE_MINUTES_MS..=HOUR_MS).contains(&it.pause_ms);
    let lost = if is_lost { it.tokens.read } else { 0 };
    it.tokens.write[1] as f64 * (long - short) - lost as f64 * (short - it.read_usd())
}
