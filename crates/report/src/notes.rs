//! What a reader of a report must know: runs without a result, sizes that are estimates, models without data, what compactions make of numbers.

use super::sections::columns::TableColumn;
use super::{SessionReport, distinct};
use crate::prelude::*;
use ctxsim_engine::measure::Resets;
use ctxsim_engine::take::FailedRun;

/// What the numbers on waiting begin with.
const WAITING_PLACE: &str = "waiting_minutes.";
/// The most profiles that are named.
const PROFILES_NAMED: usize = 6;
/// The most policies listed per profile.
const POLICIES: usize = 12;
/// The most profiles listed.
const PROFILES: usize = 6;

impl Report {
    /// Takes the runs out that came to no result, of a list in the order of a report.
    pub fn split_off_failed(mut runs: Vec<Run>) -> (Vec<Run>, Vec<FailedRun>) {
        let failed = runs.iter().filter_map(FailedRun::from_run).listed();
        runs.retain(|it| it.tally.outcome.fault.is_none());
        (runs, failed)
    }

    /// Returns the runs that failed, in sentences; they stand in front of everything else.
    pub(super) fn failure_lines(&self) -> Vec<String> {
        let heading = match self.failures.len() {
            0 => return Vec::new(),
            1 => "1 run FAILED and is in no table:".to_owned(),
            n => format!("{n} runs FAILED and are in no table:"),
        };
        std::iter::once(heading).chain(self.failures.iter().map(ToString::to_string)).listed()
    }

    /// Returns what a reader of the numbers must know of runs that failed.
    pub fn notes_on_failed_baseline(&self, baseline: &str) -> Vec<String> {
        let failed = self.failures.iter().filter(|it| it.policy == baseline);
        let scenarios = distinct(failed.map(|it| it.scenario.as_str())).join(", ");
        if scenarios.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "{baseline} is the baseline and failed on {scenarios}: differences there are against the next policy."
        )]
    }

    /// Returns a sentence for each policy that sends the summarising model more than it takes.
    pub fn notes_on_summariser_limits(&self) -> Vec<String> {
        let mut worst: IndexMap<String, (Tokens, Tokens)> = IndexMap::new();
        // Under one profile, the same model writes all summaries of a policy.
        for profile in distinct(self.run_briefs().map(|it| it.profile)) {
            for (policy, sum) in self.policy_sums(Some(profile)).iter() {
                let longest = sum.run.tally.sums.summariser.prompt_max;
                if let Some(limit) = sum.run.tally.summariser_limit.filter(|it| longest > *it) {
                    let told = worst.entry(policy.to_owned()).or_insert((longest, limit));
                    told.0 = told.0.max(longest);
                }
            }
        }
        let note = |(policy, (longest, limit)): (String, (Tokens, Tokens))| {
            let [longest, limit] = [longest, limit].map(thousands);
            format!(
                "{policy}: its summary requests send up to {longest} tokens, but the model that writes them takes only {limit}, so they \
                 would fail. Set `reads` in `summarise` to send less."
            )
        };
        worst.into_iter().map(note).listed()
    }

    /// Returns a note that names profiles without data on waiting; nothing where no column asks for it.
    pub(super) fn note_on_profiles_without_timings(&self) -> Option<String> {
        let is_of_waiting = |it: &TableColumn| matches!(it, TableColumn::Number(metric) if metric.name.starts_with(WAITING_PLACE));
        if !self.columns.iter().any(is_of_waiting) {
            return None;
        }
        let unknown = self.run_briefs().filter(|it| it.figures.is_waiting_unknown);
        let names = distinct(unknown.map(|it| format!("`{}`", it.profile)));
        (!names.is_empty()).then(|| {
            let names = listed(&names_and_more(names.into_iter(), PROFILES_NAMED));
            format!("Waiting is unknown under {names}: there are no timings of their models, and those of another model are not used.")
        })
    }

    /// Describes by profile which recorded compactions the policies avoid, and what each policy costs with all
    /// of them and with none; empty if nothing was compacted.
    pub fn notes_on_compactions(&self) -> Vec<String> {
        let is_own = self.has_sessions_under_own_models();
        let mut groups: IndexMap<Option<&str>, IndexSet<&str>> = IndexMap::new();
        for run in self.run_briefs().filter(|it| it.figures.has_resets) {
            groups.entry((!is_own).then_some(run.profile)).or_default().insert(run.scenario);
        }
        let n_more = groups.len().saturating_sub(PROFILES);
        let more = format!("{n_more} more profiles have recorded compactions: see `--format json`.");
        let more = Some(more).filter(|_| n_more > 0);
        groups.iter().take(PROFILES).map(|it| self.compaction_note(*it.0, it.1.len())).chain(more).listed()
    }

    /// Returns how many requests of a scenario or, for a group, of all sessions are estimated.
    pub(super) fn estimated_requests_in(&self, load: &str) -> Option<EstimatedRequests> {
        let is_one = self.run_briefs().any(|it| it.scenario == load);
        EstimatedRequests::new(self.sessions.iter().filter(|it| !is_one || it.name == load))
    }

    /// Says how many requests of which sessions are estimated, or nothing if none is.
    pub(super) fn estimated_requests_line(&self) -> Option<String> {
        let all = EstimatedRequests::new(self.sessions.iter())?;
        let affected = self.sessions.iter().filter(|it| it.requests_estimated > 0).listed();
        let named = |session: &&SessionReport| {
            let n = session.requests_estimated;
            let n = if n == session.requests { "all".to_owned() } else { thousands(n) };
            format!("{} ({n})", session.name)
        };
        let mut names: Vec<String> = affected.iter().take(NAMES_MAX).map(named).listed();
        let n_more = affected.len().saturating_sub(NAMES_MAX);
        names.extend((n_more > 0).then(|| format!("and {} more", thousands(n_more as u64))));
        Some(format!("{}: {}.", all.estimate_clause(), names.join(", ")))
    }

    /// Says what the policies avoid under a profile, or under any, and both bills; so many sessions were compacted.
    fn compaction_note(&self, profile: Option<&str>, n_sessions: usize) -> String {
        let lines = self.policy_sums(profile);
        let mut sums = lines.iter().map(|(policy, it)| (policy, &it.run.tally)).listed();
        let n = sums.first().and_then(|it| it.1.resets).map_or(0, |resets| resets.recorded);
        let head = match (n, n_sessions) {
            (1, _) => "1 recorded compaction".to_owned(),
            (n, 1) => format!("{n} recorded compactions in 1 session"),
            (n, sessions) => format!("{n} recorded compactions in {sessions} sessions"),
        };
        let more = text_if_any(sums.len().saturating_sub(POLICIES), |n| {
            format!("; {n} more policies: see `--format json`")
        });
        sums.truncate(POLICIES);
        let bills = sums.into_iter().map(|(name, it)| compaction_bills_line(name, it)).listed().join("; ");
        let under = profile.map_or_else(String::new, |it| format!(" under {it}"));
        format!(
            "{head}{under}. A policy that stays below the trigger avoids it; otherwise the bill includes the \
                request that wrote the summary. What each costs: {bills}{more}."
        )
    }
}

/// Says both bills of a policy and what it avoids.
fn compaction_bills_line(policy: &str, tally: &Tally) -> String {
    let Resets { recorded, avoided, n_open, n_reached, .. } = tally.resets.unwrap_or_default();
    let bills = tally.bills();
    let decimals = numbers::decimals(bills.iter().flatten().copied().fold(0.0, f64::max)).min(2);
    let written = |bill: Option<f64>, otherwise: &str| {
        bill.map_or(otherwise.to_owned(), |it| format!("${}", fixed(it, decimals)))
    };
    let without = if bills[0].is_some() { "stopped at a limit" } else { "unknown" };
    let (kept, undone) = (written(bills[0], "unknown"), written(bills[1], without));
    let avoids = match avoided {
        0 => "it avoids none of them".to_owned(),
        n if n == recorded => "it avoids all of them".to_owned(),
        n => format!("it avoids {n}"),
    };
    let sessions = |n: u32| if n == 1 { "1 session".to_owned() } else { format!("{n} sessions") };
    let open = |n| format!("; without them a limit stops it in {}, which counts as recorded", sessions(n));
    let reached = |n| format!("; still reaches the trigger later in {}", sessions(n));
    let (open, reached) = (text_if_any(n_open, open), text_if_any(n_reached, reached));
    format!("{policy} {kept} with them, {undone} without ({avoids}{open}{reached})")
}

/// Verdicts mention estimates from this share of the requests on. Below it they hardly matter: what came between two bills is known.
const TOLD_FROM: f64 = 0.05;

/// The most sessions that are named.
const NAMES_MAX: usize = 3;

/// How many requests of recorded sessions have sizes that are estimated from their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EstimatedRequests {
    /// The number of these requests.
    pub requests: u64,
    /// The number of all requests.
    pub of: u64,
}

impl EstimatedRequests {
    /// Adds sessions up; `None` if all their requests have recorded usage.
    fn new<'s>(sessions: impl Iterator<Item = &'s SessionReport>) -> Option<Self> {
        let mut sum = Self { requests: 0, of: 0 };
        for session in sessions {
            sum.requests += session.requests_estimated;
            sum.of += session.requests;
        }
        (sum.requests > 0).then_some(sum)
    }

    /// Says it in a sentence, if it matters to a verdict.
    pub fn sentence_if_many(self) -> Option<String> {
        let is_told = self.requests as f64 >= TOLD_FROM * self.of as f64;
        is_told.then(|| format!("Estimated: {}.", self.estimate_clause()))
    }

    fn estimate_clause(self) -> String {
        let (requests, all, is_one) = (thousands(self.requests), thousands(self.of), self.requests == 1);
        let (have, their) = if is_one { ("has", "its size is") } else { ("have", "their sizes are") };
        format!("{requests} of {all} requests {have} no recorded usage, so {their} estimated from the text")
    }
}
