//! Recorded compactions in a report: who avoids them, and what each policy costs with all of them and with none.

use super::Report;
use crate::prelude::*;
use ctxsim_engine::measure::Resets;

/// The most policies listed per profile.
const POLICIES: usize = 12;

/// The most profiles listed.
const PROFILES: usize = 6;

/// The runs under one profile, or under any.
#[derive(Default)]
struct ResetRuns<'r> {
    profile: Option<&'r str>,
    /// The sessions that were compacted.
    sessions: IndexSet<&'r str>,
}

impl Report {
    /// Describes by profile which recorded compactions the policies avoid, and what each policy costs with all
    /// of them and with none; empty if nothing was compacted.
    pub fn notes_on_resets(&self) -> Vec<String> {
        let is_own = self.is_one_question();
        let mut groups: IndexMap<Option<&str>, ResetRuns<'_>> = IndexMap::new();
        for run in self.briefs().filter(|it| it.figures.has_resets) {
            let profile = (!is_own).then_some(run.profile);
            let group =
                groups.entry(profile).or_insert_with(|| ResetRuns { profile, ..ResetRuns::default() });
            group.sessions.insert(run.scenario);
        }
        let n_more = groups.len().saturating_sub(PROFILES);
        let mut notes: Vec<String> = groups.values().take(PROFILES).map(|it| it.note(self)).listed();
        if n_more > 0 {
            notes.push(format!("{n_more} more profiles have recorded compactions: see `--format json`."));
        }
        notes
    }
}

impl ResetRuns<'_> {
    /// Says what the policies avoid, and both bills.
    fn note(&self, report: &Report) -> String {
        let lines = report.lines(self.profile);
        let sums: Vec<(&str, &Tally)> = lines.iter().map(|(policy, it)| (policy, &it.run.tally)).listed();
        let n = sums.first().and_then(|it| it.1.resets).map_or(0, |resets| resets.recorded);
        let head = match (n, self.sessions.len()) {
            (1, _) => "1 recorded compaction".to_owned(),
            (n, 1) => format!("{n} recorded compactions in 1 session"),
            (n, sessions) => format!("{n} recorded compactions in {sessions} sessions"),
        };
        let listed: Vec<String> = sums.iter().take(POLICIES).map(|(policy, it)| line(policy, it)).listed();
        let more = match sums.len().saturating_sub(POLICIES) {
            0 => String::new(),
            n => format!("; {n} more policies: see `--format json`"),
        };
        let under = self.profile.map_or_else(String::new, |it| format!(" under {it}"));
        format!(
            "{head}{under}. A policy that stays below the trigger avoids it; otherwise the bill includes the \
                request that wrote the summary. What each costs: {}{more}.",
            listed.join("; ")
        )
    }
}

/// Says both bills of a policy and what it avoids.
fn line(policy: &str, tally: &Tally) -> String {
    let Resets { recorded, avoided, n_open, n_reached, .. } = tally.resets.unwrap_or_default();
    let bills = tally.bills();
    let decimals = numbers::decimals(bills.iter().flatten().copied().fold(0.0, f64::max)).min(2);
    let written = |bill: Option<f64>, otherwise: &str| {
        bill.map_or(otherwise.to_owned(), |it| format!("${}", numbers::fixed(it, decimals)))
    };
    let without = if bills[0].is_some() { "stopped at a limit" } else { "unknown" };
    let (kept, undone) = (written(bills[0], "unknown"), written(bills[1], without));
    let avoids = match avoided {
        0 => "it avoids none of them".to_owned(),
        n if n == recorded => "it avoids all of them".to_owned(),
        n => format!("it avoids {n}"),
    };
    let mut text = format!("{policy} {kept} with them, {undone} without ({avoids}");
    if n_open > 0 {
        text += &format!("; without them a limit stops it in {}, which counts as recorded", sessions(n_open));
    }
    if n_reached > 0 {
        text += &format!("; still reaches the trigger later in {}", sessions(n_reached));
    }
    text + ")"
}

fn sessions(n: u32) -> String {
    if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") }
}
