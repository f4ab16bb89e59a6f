//! A ledger folded to the numbers of a report.

pub mod break_even;
pub mod label;
pub mod probe;
pub mod retention;
pub mod sensitivity;
pub mod statistic;
pub mod totals;
pub mod trial;

use crate::ledger::{Outcome, RequestSums, Sums};
use crate::model::{Limits, Profile};
use crate::price::{Costs, PriceIndex};

pub use break_even::BreakEven;
pub use label::Label;
pub use retention::Retention;
pub use sensitivity::Sensitivity;
pub use statistic::Statistic;
pub use totals::Totals;

/// The exact numbers behind a report's totals: of one run, or of several added up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// How many runs are added up.
    pub n_runs: u32,
    /// What the rows sum to.
    pub sums: Sums,
    /// What the runs came to beside their rows.
    pub outcome: Outcome,
    /// What they cost.
    pub costs: Costs,
    /// The limits of the profile.
    pub limits: Limits,
    /// Whether anything needs anything; without needs, recovery and evidence are unknown.
    pub has_needs: bool,
    /// Expected tokens that recovery calls read.
    pub recovery_input: f64,
    /// Expected tokens that recovery calls write.
    pub recovery_output: f64,
    /// Expected milliseconds of all requests, one after the other.
    pub latency_ms: f64,
}

impl Tally {
    /// Counts one run and prices it; prices that are not flat ask for the requests by length.
    #[must_use]
    pub fn new(
        sums: &Sums,
        index: Option<&PriceIndex>,
        outcome: &Outcome,
        has_needs: bool,
        profile: &Profile,
    ) -> Self {
        let assumed = &profile.assumptions;
        let (calls, fetched) = sums.needs.unsent();
        let latency = |requests: &RequestSums| {
            let not_read = requests.prompt.saturating_sub(requests.read);
            requests.n as f64 * assumed.request_latency_ms
                + not_read as f64 * assumed.latency_ms_per_uncached_token
                + requests.output as f64 * assumed.latency_ms_per_output_token
        };
        Self {
            n_runs: 1,
            sums: *sums,
            outcome: *outcome,
            costs: Costs::new(sums, index, outcome.limit_violations, profile),
            limits: profile.limits,
            has_needs,
            recovery_input: calls * assumed.recovery_overhead_tokens as f64 + fetched,
            recovery_output: calls * assumed.recovery_output_tokens as f64,
            latency_ms: latency(&sums.main) + latency(&sums.summariser) + calls * assumed.recovery_latency_ms,
        }
    }

    /// Adds a run of the same policy under the same profile: sums, maxima, and the first failure.
    pub fn add(&mut self, other: &Self) {
        self.n_runs = self.n_runs.saturating_add(other.n_runs);
        add_requests(&mut self.sums.main, &other.sums.main);
        add_requests(&mut self.sums.summariser, &other.sums.summariser);
        let (needs, more) = (&mut self.sums.needs, &other.sums.needs);
        needs.calls += more.calls;
        needs.repeats += more.repeats;
        needs.fetched += more.fetched;
        needs.failed += more.failed;
        needs.sent_calls += more.sent_calls;
        needs.sent_fetched += more.sent_fetched;
        needs.weight += more.weight;
        needs.met += more.met;
        let (stored, more) = (&mut self.sums.stored, &other.sums.stored);
        stored.n += more.n;
        stored.tokens += more.tokens;
        stored.token_ms += more.token_ms;
        add_outcome(&mut self.outcome, &other.outcome);
        self.costs += &other.costs;
        self.has_needs |= other.has_needs;
        self.recovery_input += other.recovery_input;
        self.recovery_output += other.recovery_output;
        self.latency_ms += other.latency_ms;
    }

    /// Returns the share of input tokens that was read from the cache.
    #[must_use]
    pub fn cache_hit_ratio(&self) -> f64 {
        let main = &self.sums.main;
        if main.prompt == 0 { 0.0 } else { main.read as f64 / main.prompt as f64 }
    }

    /// Returns the share of needed evidence that prompts still held; nothing when none was needed.
    #[must_use]
    pub fn evidence_kept(&self) -> Option<f64> {
        let needs = &self.sums.needs;
        (needs.weight > 0.0).then(|| needs.met / needs.weight)
    }

    /// Returns the expected share of scenarios that end without a failure; 0 once a limit is violated.
    #[must_use]
    pub fn answerability(&self) -> f64 {
        if self.outcome.limit_violations > 0 {
            return 0.0;
        }
        (1.0 - self.sums.needs.failed / f64::from(self.n_runs.max(1))).max(0.0)
    }

    /// Returns the expected tokens of everything that was asked and answered.
    #[must_use]
    pub fn expected_total_tokens(&self) -> f64 {
        let (main, summariser) = (&self.sums.main, &self.sums.summariser);
        (main.prompt + main.output + summariser.prompt + summariser.output) as f64
            + self.recovery_input
            + self.recovery_output
    }
}

/// Adds requests: sums and maxima.
fn add_requests(sums: &mut RequestSums, more: &RequestSums) {
    sums.n += more.n;
    sums.prompt += more.prompt;
    sums.read += more.read;
    sums.write[0] += more.write[0];
    sums.write[1] += more.write[1];
    sums.uncached += more.uncached;
    sums.output += more.output;
    sums.prompt_max = sums.prompt_max.max(more.prompt_max);
    sums.output_max = sums.output_max.max(more.output_max);
    sums.items += more.items;
}

/// Adds outcomes; the first failure stands.
fn add_outcome(outcome: &mut Outcome, more: &Outcome) {
    outcome.turns_requested = outcome.turns_requested.saturating_add(more.turns_requested);
    outcome.turns_started = outcome.turns_started.saturating_add(more.turns_started);
    outcome.turns_completed = outcome.turns_completed.saturating_add(more.turns_completed);
    outcome.failure = outcome.failure.or(more.failure);
    outcome.limit_violations = outcome.limit_violations.saturating_add(more.limit_violations);
    outcome.tool_results.raw_tokens += more.tool_results.raw_tokens;
    outcome.tool_results.visible_tokens += more.tool_results.visible_tokens;
    outcome.tool_results.compressed += more.tool_results.compressed;
    outcome.touched_slots += more.touched_slots;
    if let Some(more) = &more.blocks {
        let blocks = outcome.blocks.get_or_insert_default();
        blocks.n_blocks += more.n_blocks;
        blocks.n_hits += more.n_hits;
        blocks.n_subagents = blocks.n_subagents.saturating_add(more.n_subagents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Failure, FailureKind, NeedSums};

    fn tally(n_requests: u64, prompt_max: u64, failed: f64) -> Tally {
        let main = RequestSums { n: n_requests, prompt: 100, read: 40, prompt_max, ..Default::default() };
        let needs = NeedSums { failed, weight: 2.0, met: 1.0, ..NeedSums::default() };
        Tally {
            n_runs: 1,
            sums: Sums { main, needs, ..Sums::default() },
            outcome: Outcome { turns_requested: 3, ..Outcome::default() },
            costs: Costs::default(),
            limits: Limits::NONE,
            has_needs: true,
            recovery_input: 0.0,
            recovery_output: 0.0,
            latency_ms: 1.5,
        }
    }

    #[test]
    fn runs_add_up_but_their_maxima_do_not() {
        let mut all = tally(2, 70, 0.5);

        all.add(&tally(3, 50, 0.25));

        assert_eq!((all.sums.main.n, all.sums.main.prompt_max), (5, 70));
        assert_eq!(all.outcome.turns_requested, 6);
        assert_eq!(all.answerability(), 1.0 - 0.75 / 2.0);
        assert_eq!(all.evidence_kept(), Some(0.5));
        assert_eq!(all.cache_hit_ratio(), 0.4);
    }

    #[test]
    fn the_first_failure_stands_and_a_violation_leaves_nothing_answerable() {
        let mut all = tally(1, 1, 0.0);
        let mut stopped = tally(1, 1, 0.0);
        stopped.outcome.failure = Some(Failure { turn: 2, kind: FailureKind::FinalNoTool });
        stopped.outcome.limit_violations = 1;
        let mut later = stopped;
        later.outcome.failure = Some(Failure { turn: 9, kind: FailureKind::FinalNoTool });

        all.add(&stopped);
        all.add(&later);

        assert_eq!(all.outcome.failure.map(|it| it.turn), Some(2));
        assert_eq!(all.answerability(), 0.0);
    }
}
