//! A ledger folded to a report's numbers.

pub mod assumed;
pub mod break_even;
pub mod carried;
pub mod delta;
pub mod fixed;
pub mod floor;
pub mod known_task;
pub mod limits;
pub mod metric;
pub mod missed;
pub mod month;
pub mod more_turns;
pub mod sensitivity;
pub mod statistic;
pub mod sub_agents;
pub mod waiting;

use crate::ledger::{ExploredSums, Firing, NeedSums, RequestSums, RunFault, TokenUse};
use crate::prelude::*;
use crate::price::{self, Bill, Costs, Models, PaidAtRates, PriceIndex};
use assumed::{Assumed, AssumedChanges, AssumedCost, AssumedReach};
use ctxsim_input::{Assumptions, Lifetimes};
use ctxsim_timeline::Recorded;
use waiting::{Waited, Waiting};

pub use break_even::BreakEven;
pub use delta::{Better, Delta, Label, Remembered, SAME, Spread, Standing};
pub use sensitivity::Sensitivity;
pub use statistic::{Statistic, student};

/// The exact numbers behind a report's totals, for one run or the sum of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The number of runs in the sum.
    pub n_runs: u32,
    /// The sums of the rows.
    pub sums: Sums,
    /// The outcome of the runs, apart from their rows.
    pub outcome: Outcome,
    pub costs: Costs,
    /// The limits of the profile.
    pub limits: Limits,
    /// The lifetimes for which its cache is written.
    pub lifetimes: Lifetimes,
    /// The longest prompt as a share of its profile's limit; `None` without a limit. A sum has the largest.
    pub limit_pressure: Option<f64>,
    /// Whether the load has needs; without needs, recovery and evidence are unknown.
    pub has_needs: bool,
    /// Expected tokens that recovery calls read.
    pub recovery_input: Expected,
    /// Expected tokens that recovery calls write.
    pub recovery_output: Expected,
    /// Expected tokens that reads and writes of the agent have more, or fewer, because the policy edits fetched results.
    pub reaction_tokens: Expected,
    /// The cost of recovery and exploration at the lower and upper ends of the recovery assumptions, if there are any.
    pub recovery_interval: Option<[Amount; 2]>,
    /// The change in cost at either end of each assumption alone.
    pub assumed: Box<AssumedChanges>,
    /// The change in cost at either end of what is assumed of how other models count its tokens; `None` if they are those that were
    /// recorded.
    pub counted_ends: Option<[Amount; 2]>,
    /// The number of sampled runs over which recovery is averaged; 0 for the closed form.
    pub n_played: u32,
    /// Expected milliseconds of all requests, one after the other.
    pub latency_ms: f64,
    /// The recorded compactions that it would have avoided; `None` if there were none.
    pub resets: Option<Resets>,
    /// The longest prompt of the model that writes summaries, if it is not the session's and has a limit.
    pub summariser_limit: Option<Tokens>,
    /// The lowest cost, in US dollars, of anything that keeps every needed item; known only for schedules in
    /// hindsight.
    pub bound: Option<f64>,
    /// What hits save that the provider does not promise, if it promises none.
    pub hit_stake: Option<Cost>,
    /// How long its requests take.
    pub waiting: Waiting,
    /// What is paid at each rate, where that was asked for.
    pub paid: Option<Box<PaidAtRates>>,
}

packed!(Tally:
    [n_runs, sums, outcome, costs, limits, lifetimes, limit_pressure, has_needs],
    [recovery_input, recovery_output, reaction_tokens, recovery_interval, assumed, counted_ends],
    [n_played, latency_ms, resets, summariser_limit, bound, hit_stake, waiting]; else paid);

impl Tally {
    /// Returns the tally of a run in which nothing happened.
    pub fn empty() -> Self {
        Self { n_runs: 1, has_needs: true, ..Self::default() }
    }

    /// Counts one run and prices it; prices that depend on length need the requests by length.
    pub fn new<'a>(
        sums: &Sums,
        index: Option<&PriceIndex>,
        outcome: &Outcome,
        has_needs: bool,
        models: impl Into<Models<'a>>,
    ) -> Self {
        Self::beside(sums, index, outcome, models.into(), &Beside { has_needs, ..Beside::default() })
    }

    /// The same, with what is known beside the ledger.
    pub fn beside(
        sums: &Sums,
        index: Option<&PriceIndex>,
        outcome: &Outcome,
        models: Models<'_>,
        beside: &Beside,
    ) -> Self {
        let profile = models.session;
        let assumed = &profile.assumptions;
        let (calls, _) = sums.needs.unsent();
        let refetched = price::refetched(&sums.needs, assumed);
        let latency = |requests: &RequestSums, assumed: &Assumptions| {
            let not_read = requests.tokens.prompt() - requests.tokens.read;
            requests.n as f64 * assumed.request_latency_ms
                + not_read as f64 * assumed.latency_ms_per_uncached_token
                + requests.tokens.output as f64 * assumed.latency_ms_per_output_token
        };
        let latency_ms = || {
            latency(&sums.main, assumed)
                + latency(&sums.summariser, &models.summariser.assumptions)
                + (calls + sums.explored.calls - sums.explored.sent_calls).to_f64()
                    * assumed.recovery_latency_ms
                + sums.memory.calls() as f64 * assumed.memory_latency_ms
        };
        let played = beside.played.as_ref();
        let costs =
            |models: Models<'_>| beside.costs(Costs::new(sums, index, outcome.limit_violations, models));
        let paid = match played {
            Some(played) => played.paid,
            None => PaidAtRates::new(|models| costs(models).exact(), models),
        };
        let prompt = if beside.has_own_budgets { UNLIMITED } else { profile.limits.prompt };
        let tally = Self {
            n_runs: 1,
            sums: played.map_or(*sums, |it| Sums { needs: it.needs, explored: it.explored, ..*sums }),
            outcome: beside.outcome(outcome),
            recovery_interval: beside.interval,
            assumed: Box::default(),
            counted_ends: None,
            costs: costs(models),
            limits: Limits { prompt, ..profile.limits },
            lifetimes: profile.cache.lifetimes(),
            limit_pressure: pressure(sums.main.prompt_max, profile.limits.prompt),
            has_needs: beside.has_needs,
            recovery_input: refetched.prompt(),
            recovery_output: refetched.output,
            reaction_tokens: played.map_or(Expected::ZERO, |it| it.tokens),
            n_played: played.map_or(0, |it| it.n),
            latency_ms: beside.latency_ms.unwrap_or_else(latency_ms),
            resets: None,
            summariser_limit: models.summariser_limit(),
            bound: beside.bound,
            hit_stake: hit_stake(&sums.main.tokens, profile),
            waiting: beside.waiting(Waiting::new(sums, models, &refetched, beside.shared_calls)),
            paid: paid.map(Box::new),
        };
        let ends = tally.exact_interval().or(tally.costs.exact().map(|it| [it; 2]));
        let share = |it: Amount, of: f64| Amount::of_usd(it.usd() * (of - 1.0));
        let counted = beside.counted.zip(ends);
        let counted_ends = counted.map(|([few, many], [low, high])| [share(low, few), share(high, many)]);
        let assumed = Box::new(tally.assumed_changes(beside, counted_ends));
        Self { counted_ends, assumed, ..tally }
    }

    /// Returns what each assumption changes alone, beside those of recovery.
    fn assumed_changes(&self, beside: &Beside, counted: Option<[Amount; 2]>) -> AssumedChanges {
        let of_world = self.recovery_interval.filter(|_| beside.assumed == AssumedChanges::default());
        let world = of_world.map_or([Amount::ZERO; 2], |it| it.map(|end| end - self.costs.assumed()));
        let left = self.costs.left_ends.map(|end| end - self.costs.left);
        let changes = beside.assumed.with(Assumed::World, world).with(Assumed::LeftByOthers, left);
        changes.with(Assumed::Counting, counted.unwrap_or_default())
    }

    /// Returns its cost with what each assumption changes of it, or nothing if a price is unknown.
    pub fn assumed_cost(&self) -> Option<AssumedCost> {
        let usd = self.costs.total()?;
        Some(AssumedCost { usd, all_ends: self.cost_interval().unwrap_or([usd; 2]), changes: *self.assumed })
    }

    /// Returns how far the relative difference of its cost from another's hangs on what is assumed; not at all where a price is unknown.
    pub fn assumed_reach(&self, base: &Self) -> AssumedReach {
        let both = self.assumed_cost().zip(base.assumed_cost().filter(|it| it.usd > 0.0));
        both.map_or_else(AssumedReach::default, |(own, base)| own.reach_from(&base))
    }

    /// Returns the lowest and the highest relative difference of its cost from another's where all that is assumed is wrong in one direction.
    pub fn assumed_bound(&self, base: &Self) -> Option<[f64; 2]> {
        self.assumed_cost()?.bound_from(&base.assumed_cost().filter(|it| it.usd > 0.0)?)
    }

    /// Returns whether what is assumed decides which of the two costs less.
    pub fn is_open_against(&self, base: &Self) -> bool {
        let both = self.assumed_cost().zip(base.assumed_cost().filter(|it| it.usd > 0.0));
        both.is_some_and(|(own, base)| own.reach_from(&base).turns(own.change_from(&base)))
    }

    /// Adds a run of the same policy under the same profile: sums, maxima, and the first failure.
    pub fn add(&mut self, other: &Self) {
        self.n_runs = self.n_runs.saturating_add(other.n_runs);
        self.sums += other.sums;
        add_outcome(&mut self.outcome, &other.outcome);
        let (own, more) = (self.interval(), other.interval());
        let is_known = self.recovery_interval.is_some() || other.recovery_interval.is_some();
        self.recovery_interval = is_known.then(|| [own[0] + more[0], own[1] + more[1]]);
        *self.assumed += *other.assumed;
        let counted = [self.counted_ends, other.counted_ends].into_iter().flatten();
        self.counted_ends = counted.reduce(|own, more| [own[0] + more[0], own[1] + more[1]]);
        if self.resets.is_some() || other.resets.is_some() {
            let resets = |it: &Self| Resets { bills: it.exact_bills(), ..it.resets.unwrap_or_default() };
            let mut sum = resets(self);
            sum.add(&resets(other));
            self.resets = Some(sum);
        }
        self.costs += other.costs;
        let pressures = self.limit_pressure.into_iter().chain(other.limit_pressure);
        self.limit_pressure = pressures.reduce(f64::max);
        self.has_needs |= other.has_needs;
        self.n_played = self.n_played.max(other.n_played);
        self.recovery_input += other.recovery_input;
        self.recovery_output += other.recovery_output;
        self.reaction_tokens += other.reaction_tokens;
        self.latency_ms += other.latency_ms;
        self.waiting += other.waiting;
        self.summariser_limit = self.summariser_limit.or(other.summariser_limit);
        self.bound = self.bound.zip(other.bound).map(|(own, more)| own + more);
        let stakes = self.hit_stake.into_iter().chain(other.hit_stake);
        self.hit_stake = stakes.reduce(|own, more| own + more);
        if let Some((own, more)) = self.paid.as_mut().zip(other.paid.as_ref()) {
            **own += **more;
        }
    }

    /// Returns what it costs in US dollars with all recorded compactions and with none of them; the same where
    /// there were none.
    pub fn bills(&self) -> [Option<f64>; 2] {
        self.exact_bills().map(|it| it.map(Amount::usd))
    }

    fn exact_bills(&self) -> [Option<Amount>; 2] {
        self.resets.map_or([self.costs.exact(); 2], |it| it.bills)
    }

    /// Returns the cost of recovery and exploration at either end of their assumptions.
    fn interval(&self) -> [Amount; 2] {
        self.recovery_interval.unwrap_or([self.costs.assumed(); 2])
    }

    /// Returns the run's cost in US dollars at either end of what is assumed of recovery, of what sessions that nobody recorded had
    /// left in the cache, and of how other models count tokens; `None` without assumptions, or if a price is unknown.
    pub fn cost_interval(&self) -> Option<[f64; 2]> {
        self.exact_interval().map(|it| it.map(Amount::usd))
    }

    fn exact_interval(&self) -> Option<[Amount; 2]> {
        let rest = self.costs.exact()? - self.costs.assumed() - self.costs.left;
        let is_assumed = self.recovery_interval.is_some()
            || self.counted_ends.is_some()
            || self.costs.left_ends != [Amount::ZERO; 2];
        let ([low, high], [few, many]) = (self.interval(), self.costs.left_ends);
        let [smaller, larger] = self.counted_ends.unwrap_or_default();
        is_assumed.then(|| [rest + low + few.min(many) + smaller, rest + high + few.max(many) + larger])
    }

    /// Returns the run's cost at the lower end of the recovery assumptions, as declared, and at the upper
    /// end; not a number if a price is unknown.
    pub fn cost_ends(&self) -> [f64; 3] {
        let total = self.costs.total().unwrap_or(f64::NAN);
        let [low, high] = self.cost_interval().unwrap_or([total; 2]);
        [low, total, high]
    }

    /// Returns the share of input tokens that was read from the cache.
    pub fn cache_hit_ratio(&self) -> f64 {
        let main = &self.sums.main.tokens;
        if main.prompt() == 0 { 0.0 } else { main.read as f64 / main.prompt() as f64 }
    }

    /// Returns the share of needed evidence in prompts if model's summaries say what was published of others: as published, and at either
    /// end; `None` if no need names a fact that only a summary has.
    pub fn evidence_told(&self) -> Option<[f64; 3]> {
        let (told, (met, needed)) = (&self.sums.needs.told, self.sums.needs.evidence());
        let share = |it: f64| (met + it) / needed;
        (told.high > 0.0).then(|| [told.value, told.low, told.high].map(share))
    }

    /// Returns the share of needed evidence that was still in prompts, of what users asked too; `None` if nothing says which results
    /// are needed, because what users asked alone tells nothing of them.
    pub fn evidence_kept(&self) -> Option<f64> {
        let (met, needed) = self.sums.needs.evidence();
        (self.has_needs && needed > 0.0).then(|| met / needed)
    }

    /// Returns the share of turns' requests that show what users asked; `None` where that is not needed.
    pub fn task_kept(&self) -> Option<f64> {
        let users = &self.sums.needs.users;
        (users.running > 0.0).then(|| users.running_met / users.running)
    }

    /// Returns the ends of that share over what is assumed of users' messages; `None` if nothing of it depends on that.
    pub fn evidence_ends(&self) -> Option<[f64; 2]> {
        let ends = self.sums.needs.evidence_ends();
        (self.has_needs && self.sums.needs.users.weight.value > 0.0 && ends[0] < ends[1]).then_some(ends)
    }

    /// Returns whether anything says which results are needed: what users asked alone tells nothing of them.
    pub fn knows_needs(&self) -> bool {
        self.sums.needs.weight > 0.0
    }

    /// Returns the expected share of scenarios that end without a failure; 0 once a limit is violated.
    pub fn answerability(&self) -> f64 {
        if self.outcome.limit_violations > 0 {
            return 0.0;
        }
        (1.0 - self.sums.needs.failed.to_f64() / f64::from(self.n_runs.max(1))).max(0.0)
    }

    /// Returns the expected tokens of all requests and answers.
    pub fn expected_total_tokens(&self) -> Expected {
        let Sums { main, summariser, keep_alive, .. } = &self.sums;
        let asked = [main, summariser, keep_alive].map(|it| it.tokens.prompt() + it.tokens.output);
        let explored = self.sums.explored.tokens;
        let expected = self.recovery_input + self.recovery_output + explored.prompt() + explored.output;
        Expected::from(asked.into_iter().sum::<u64>()) + expected + self.reaction_tokens
    }
}

/// Returns a prompt as a share of the limit; `None` without a limit.
fn pressure(prompt: Tokens, limit: Tokens) -> Option<f64> {
    (limit != UNLIMITED && limit > 0).then(|| prompt as f64 / limit as f64)
}

/// Adds outcomes; the first failure is kept.
fn add_outcome(outcome: &mut Outcome, more: &Outcome) {
    outcome.turns_requested = outcome.turns_requested.saturating_add(more.turns_requested);
    outcome.turns_started = outcome.turns_started.saturating_add(more.turns_started);
    outcome.turns_completed = outcome.turns_completed.saturating_add(more.turns_completed);
    outcome.failure = outcome.failure.or(more.failure);
    if outcome.fault.is_none() {
        outcome.fault.clone_from(&more.fault);
    }
    outcome.limit_violations = outcome.limit_violations.saturating_add(more.limit_violations);
    outcome.tool_results += more.tool_results;
    outcome.touched_slots += more.touched_slots;
    let n_stages = outcome.firings.len().max(more.firings.len());
    outcome.firings.resize_with(n_stages, Firing::default);
    for (firing, more) in outcome.firings.iter_mut().zip(&more.firings) {
        *firing += *more;
    }
    if let Some(more) = &more.blocks {
        let blocks = outcome.blocks.get_or_insert_default();
        *blocks += *more;
    }
}

// What is known of a run beside its ledger: intervals of recovery, recovery that was played, bills of other models and services.

/// What is known of a run beside its ledger; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Whether the load has needs.
    pub has_needs: bool,
    /// The cost of recovery at the lower and upper ends of all assumptions.
    pub interval: Option<[Amount; 2]>,
    /// The change in cost at either end of each assumption of recovery alone.
    pub assumed: AssumedChanges,
    /// The ends of its sizes' interval as shares of them, if they were counted anew for other models.
    pub counted: Option<[f64; 2]>,
    /// Recovery as it was played, where the closed form does not know the prompts.
    pub played: Option<PlayedRecovery>,
    /// Why a play of recovery came to no result.
    pub fault: Option<Arc<RunFault>>,
    /// The agent's requests, each billed at the prices of the model that answered it, where these were several.
    pub own_models: Option<Bill>,
    /// What these requests take, each with its own model.
    pub own_waiting: Option<Waited>,
    /// The share of recovery calls that share a request with others.
    pub shared_calls: f64,
    /// What the calls of a memory to its service cost, if the service has prices of its own.
    pub service: Option<Cost>,
    /// Milliseconds, if a world counts them itself.
    pub latency_ms: Option<f64>,
    /// The turns of the session as recorded: without a compaction, two of them may be one.
    pub turns: Option<u32>,
    /// The lowest cost, in US dollars, of anything that keeps every needed item.
    pub bound: Option<f64>,
    /// Whether each trial has a prompt limit of its own.
    pub has_own_budgets: bool,
}

/// Means over runs with sampled needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedRecovery {
    /// The cost of the runs, less the closed form's.
    pub cost: Amount,
    /// What they pay at each rate, where that was asked for.
    pub paid: Option<PaidAtRates>,
    /// Tokens of their requests, less the closed form's.
    pub tokens: Expected,
    /// What became of the needs.
    pub needs: NeedSums,
    /// What was looked up anew.
    pub explored: ExploredSums,
    /// The number of runs.
    pub n: u32,
}

impl Beside {
    /// Returns the costs of a run, from those of its ledger.
    fn costs(&self, ledger: Costs) -> Costs {
        Costs {
            main: self.own_models.unwrap_or(ledger.main),
            memory: self.service.unwrap_or(ledger.memory),
            reaction: self.played.as_ref().map_or(Amount::ZERO, |it| it.cost),
            is_unknown: ledger.is_unknown || self.own_models.is_some_and(|it| it.is_incomplete),
            ..ledger
        }
    }

    /// Returns what a run takes, from what its ledger does.
    fn waiting(&self, ledger: Waiting) -> Waiting {
        Waiting { main: self.own_waiting.unwrap_or(ledger.main), ..ledger }
    }

    /// Returns the outcome of a run, from that of its ledger.
    fn outcome(&self, ledger: &Outcome) -> Outcome {
        let mut outcome = ledger.clone();
        if let Some(fault) = &self.fault {
            outcome.fault = Some(Arc::clone(fault));
        }
        if let Some(turns) = self.turns.filter(|_| outcome.turns_completed == outcome.turns_requested) {
            [outcome.turns_requested, outcome.turns_started, outcome.turns_completed] = [turns; 3];
        }
        outcome
    }
}

// What a run owes to cache hits that its provider calls likely, not sure.

/// Returns what a run's reads would cost more as plain input, at the standard prices of short prompts, if its provider promises no hit.
fn hit_stake(tokens: &TokenUse, profile: &Profile) -> Option<Cost> {
    let rates = profile.prices.usual();
    let saved = rates.input.0.saturating_sub(rates.read().0);
    profile.is_best_effort.then(|| Cost(u128::from(tokens.read) * u128::from(saved)))
}

// Recorded compactions that a policy would have avoided, and the session's cost with and without them.

/// The harness's own compactions under one policy, of one session or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resets {
    /// How many were recorded.
    pub recorded: u32,
    /// Of these: compactions whose trigger the policy's prompt would not have reached.
    pub avoided: u32,
    /// Requests after such a compaction, up to the next that is not avoided.
    pub requests: u64,
    /// The cost with all of them, as recorded, and with none; `None` if a price is unknown or a limit stops
    /// the policy. In a sum, sessions without compactions are part of both.
    pub bills: [Option<Amount>; 2],
    /// Sessions in which the policy's prompts stay below the trigger, but without the compactions a limit stops
    /// it: they count as recorded.
    pub n_open: u32,
    /// Sessions in which all are avoided, but the prompt still reaches the trigger, only later.
    pub n_reached: u32,
}

packed!(Resets: [recorded, avoided, requests, bills, n_open, n_reached]);

impl Resets {
    /// Counts the compactions that a run avoids, and the requests that follow them.
    pub fn new(recorded: &Recorded, n_steps: usize, avoided: &[StepIx]) -> Self {
        let mut resets = Self::default();
        let mut nexts = recorded.compactions.iter().skip(1).map(|it| u64::from(*it));
        for step in &recorded.compactions {
            let next = nexts.next().unwrap_or(n_steps as u64);
            resets.recorded += 1;
            if avoided.contains(step) {
                resets.avoided += 1;
                resets.requests += next.saturating_sub(u64::from(*step));
            }
        }
        resets
    }

    /// Adds those of another session.
    pub fn add(&mut self, more: &Self) {
        self.recorded = self.recorded.saturating_add(more.recorded);
        self.avoided = self.avoided.saturating_add(more.avoided);
        self.requests = self.requests.saturating_add(more.requests);
        self.n_open = self.n_open.saturating_add(more.n_open);
        self.n_reached = self.n_reached.saturating_add(more.n_reached);
        self.bills = [0, 1].map(|nth| Some(self.bills[nth]? + more.bills[nth]?));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Failure, FailureKind, NeedSums, TokenUse};

    fn tally(n_requests: u64, prompt_max: u64, failed: f64) -> Tally {
        let tokens = TokenUse { read: 40, uncached: 60, ..TokenUse::default() };
        let main = RequestSums { n: n_requests, tokens, prompt_max, ..Default::default() };
        let failed = Expected::from_f64(failed);
        let needs = NeedSums { failed, weight: 2.0, met: 1.0, ..NeedSums::default() };
        Tally {
            sums: Sums { main, needs, ..Sums::default() },
            outcome: Outcome { turns_requested: 3, ..Outcome::default() },
            latency_ms: 1.5,
            ..Tally::empty()
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
        let mut later = stopped.clone();
        later.outcome.failure = Some(Failure { turn: 9, kind: FailureKind::FinalNoTool });

        all.add(&stopped);
        all.add(&later);

        assert_eq!(all.outcome.failure.map(|it| it.turn), Some(2));
        assert_eq!(all.answerability(), 0.0);
    }

    #[test]
    fn the_requests_behind_an_avoided_compaction_count_up_to_the_next_one() {
        let recorded = Recorded { compactions: vec![3, 7], ..Recorded::default() };
        let counted = |avoided: &[StepIx]| {
            let resets = Resets::new(&recorded, 10, avoided);
            (resets.recorded, resets.avoided, resets.requests)
        };

        assert_eq!(counted(&[3, 7]), (2, 2, 7));
        assert_eq!(counted(&[3]), (2, 1, 4));
        assert_eq!(counted(&[]), (2, 0, 0));
    }

    #[test]
    fn sessions_add_up_and_one_with_an_unknown_bill_leaves_that_of_all_unknown() {
        let one = Resets {
            recorded: 1,
            avoided: 1,
            requests: 5,
            bills: [4, 5].map(|it| Some(Amount(it))),
            ..Resets::default()
        };
        let other = Resets { recorded: 2, bills: [Some(Amount(1)), None], ..Resets::default() };
        let mut all = one;

        all.add(&other);

        assert_eq!((all.recorded, all.avoided, all.requests), (3, 1, 5));
        assert_eq!(all.bills, [Some(Amount(5)), None]);
    }
}
