//! Why a policy's cost differs from the first one's: how often it acted, and which parts of the bill changed.

use super::firings::Stages;
use super::sections::TableLine;
use crate::prelude::*;

/// Parts that change the cost by less than this share are omitted.
const TOLD_FROM: f64 = 0.000_5;

/// The most parts listed, largest first.
const TOLD: usize = 4;

/// Explains why a line's cost differs from the first line's; `None` if the two cannot be compared.
pub(super) fn reason_of_change(line: &TableLine, first: &TableLine, stages: &Stages) -> Option<String> {
    let parts = parts(&line.tally, &first.tally);
    let acted: u64 = line.tally.outcome.firings.iter().map(|it| it.acted).sum();
    if acted == 0 && parts.as_ref().is_none_or(Vec::is_empty) {
        if stages.is_empty() {
            return Some("it has no stages".to_owned());
        }
        let why = stages.all_idle().map(|(stage, why)| format!("`{stage}` {why}"));
        let why: Vec<String> = why.listed();
        return (!why.is_empty()).then(|| why.join("; "));
    }
    let parts = parts?;
    let times = if acted == 1 { "once".to_owned() } else { format!("{} times", thousands(acted)) };
    // What moved then is due to its layout or its memory.
    let lead = if acted == 0 { "no stage acted: ".to_owned() } else { format!("acted {times}: ") };
    let said = match parts.as_slice() {
        [] => "no part of the bill changed".to_owned(),
        parts => listed(
            &parts.iter().take(TOLD).map(|(name, share)| format!("{name} {}", signed(*share))).listed(),
        ),
    };
    Some(format!("{lead}{said}"))
}

/// Returns whether no stage of a line ever acted, and its bill is the first line's.
pub(super) fn is_idle(line: &TableLine, first: &TableLine) -> bool {
    line.tally.outcome.firings.iter().all(|it| it.acted == 0)
        && parts(&line.tally, &first.tally).is_some_and(|it| it.is_empty())
}

/// Returns the parts of the bill that moved, as shares of the first one's cost, the largest first, or nothing
/// if the two did not do the same work, or some cost is not known.
fn parts(tally: &Tally, first: &Tally) -> Option<Vec<(String, f64)>> {
    let whole = first.costs.total()?;
    Some(moved(tally, first)?.into_iter().map(|(name, usd)| (name, usd / whole)).listed())
}

/// Returns the same in US dollars.
pub(super) fn moved(tally: &Tally, first: &Tally) -> Option<Vec<(String, f64)>> {
    let whole = first.costs.total().filter(|it| *it > 0.0)?;
    if tally.costs.total().is_none() || !tally.outcome.did_as_much_as(&first.outcome) {
        return None;
    }
    let summaries = tally.sums.summariser.n;
    let summaries = match summaries {
        0 => "no summaries".to_owned(),
        1 => "1 summary request".to_owned(),
        n => format!("{} summary requests", thousands(n)),
    };
    let (own, other) = (&tally.costs, &first.costs);
    let parts = [
        ("cache reads", own.main.read.usd() - other.main.read.usd()),
        ("cache writes", own.main.write.usd() - other.main.write.usd()),
        ("uncached input", own.main.uncached.usd() - other.main.uncached.usd()),
        ("output", own.main.output.usd() - other.main.output.usd()),
        (summaries.as_str(), own.compaction.usd() - other.compaction.usd()),
        ("keep-alive requests", own.keep_alive.usd() - other.keep_alive.usd()),
        ("recovery", (own.recovery - other.recovery).usd()),
        ("exploration", (own.exploration - other.exploration).usd()),
        ("reaction to what is fetched", (own.reaction - other.reaction).usd()),
        ("stored contents", own.storage.usd() - other.storage.usd()),
        ("memory", own.memory.usd() - other.memory.usd()),
        ("penalties", own.penalty.usd() - other.penalty.usd()),
    ];
    let parts = parts.into_iter().map(|(name, usd)| (name.to_owned(), usd));
    let mut moved: Vec<(String, f64)> = parts.filter(|it| it.1.abs() / whole >= TOLD_FROM).listed();
    moved.order_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    Some(moved)
}
