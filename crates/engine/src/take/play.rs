//! A load played under its policies and profiles.

use crate::prelude::*;

use super::ends::{AloneAtEnd, AtEnds};
use super::load::{CountedLoad, OtherModels};
use super::simulations::{Ledgers, Simulations};
use super::world::{Plays, TrialQuestion};
use super::{Cell, FailedRun, Load, Progress, Run, RunBasis, StageFacts};
use crate::builtin::bound;
use crate::engine::CompiledPolicy;
use crate::explain::{Break, PrefixBreak};
use crate::ledger::{ExploredSums, NeedSums, RunFault};
use crate::measure::assumed::{Assumed, AssumedChanges};
use crate::measure::more_turns::TurnRatios;
use crate::measure::{Beside, PlayedRecovery, Tally};
use crate::price::{self, Models, PaidAtRates, PriceIndex, PriceRows};
use crate::projection::{Known, Threshold};
use crate::recovery::Assumption;
use ctxsim_input::{Builtin, Stage};

/// A ledger folded to what prices ask for, and what its run came to beside.
pub type FoldedLedger = (Sums, Option<PriceIndex>, Outcome);

impl Load {
    /// Names a run that came to no result.
    pub fn failed(&self, cell: Cell, fault: &RunFault) -> FailedRun {
        FailedRun {
            policy: self.policies[cell.policy].name.clone(),
            scenario: self.name.clone(),
            profile: self.profiles[cell.profile].name.clone(),
            turn: fault.turn,
            request: fault.step.saturating_add(1),
            reason: fault.what.clone(),
        }
    }

    /// Returns what has to be played.
    pub fn simulations(&self) -> Simulations<'_> {
        Simulations::new(self)
    }

    /// Has the engine play it, and folds its runs.
    pub fn played(&self, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        let simulations = Simulations::of_load(self, !sinks.bare);
        let other_models = self.other_models();
        let billed = self.billed(sinks, &simulations);
        let every = self.cells().filter(|_| sinks.rows || other_models.is_some());
        let rows = every.chain(billed).filter_map(|it| simulations.ledger_of(it)).collect();
        let ledgers = simulations.detailed(&Wanted { rows, breaks: sinks.breaks }, progress);
        let drawn = DrawnRuns::new(&simulations, &ledgers, progress);
        let of = Played { load: self, simulations: &simulations, ledgers: &ledgers, drawn, other_models };
        let assumed = self.assumed();
        let take = |cell| Take { is_billed: billed == Some(cell), ..of.take(cell, sinks, &assumed) };
        self.cells().map(take).collect()
    }

    /// Finds the run whose requests are those of the policy that is compared with the recorded bill.
    fn billed(&self, sinks: &Sinks<'_>, simulations: &Simulations<'_>) -> Option<Cell> {
        let (timeline, policy) = (self.timeline().filter(|it| it.recorded.is_some())?, sinks.billed?);
        let alike = simulations.like(&CompiledPolicy::new(timeline, policy, &Limits::NONE))?;
        let is_alike =
            |it: &Cell| it.profile == 0 && simulations.ledger_of(*it).is_some_and(|it| it.0 == alike);
        self.cells().find(is_alike)
    }

    /// Returns what its runs rest on, profile by profile.
    pub fn assumed(&self) -> Vec<Arc<RunBasis>> {
        let assumed = |(nth, it)| Arc::new(RunBasis::new(&self.facts(nth), it));
        self.profiles.iter().enumerate().map(assumed).collect()
    }

    /// Makes a run of what a play came to, without findings, and with the setting of real agents that does as its policy does.
    pub fn run(&self, cell: Cell, tally: Tally, assumed: &[Arc<RunBasis>]) -> Run {
        Run { apply: self.applied(cell), ..self.run_alone(cell, tally, assumed) }
    }

    /// The same without the setting: searches play many policies and print none of their settings.
    fn run_alone(&self, cell: Cell, tally: Tally, assumed: &[Arc<RunBasis>]) -> Run {
        let policy = &self.policies[cell.policy];
        Run {
            policy: policy.name.clone(),
            scenario: self.name.clone(),
            profile: self.profiles[cell.profile].name.clone(),
            seed: self.seed,
            trials: self.trials,
            looks_ahead: policy.code.as_ref().is_some_and(Builtin::looks_ahead),
            tally,
            findings: None,
            assumed: Arc::clone(&assumed[cell.profile]),
            stages: self.stages(cell),
            apply: None,
        }
    }

    /// Returns what a schedule in hindsight is read against: the least that a trial to the end can cost.
    fn bound(&self, cell: Cell, outcome: &Outcome) -> Option<f64> {
        let is_schedule = self.policies[cell.policy].code == Some(Builtin::Hindsight);
        let timeline = self.timeline_under(cell.profile);
        let timeline = timeline.filter(|_| is_schedule && outcome.failure.is_none())?;
        let profile = &self.profiles[cell.profile];
        // Some requests may have been answered, and billed, by cheaper models.
        let share = bound::least_share(profile, self.models.iter())?;
        Some(bound::bound(timeline, profile)? * share - left_at_most(timeline, profile))
    }

    /// Plays it and returns what each trial came to; nothing where no needs are drawn.
    pub fn drawn(&self, progress: Progress<'_>) -> Vec<(Cell, Vec<Tally>)> {
        if !self.is_sampled {
            return Vec::new();
        }
        let play = |load: &Self, _: &[usize]| load.drawn_as_laid_out(progress);
        let all = self.lived(&play, &|it: &(Outcome, Vec<Tally>)| &it.0);
        all.into_iter().map(|(cell, (_, tallies))| (cell, tallies)).collect()
    }

    /// The same, whatever its policies avoid, with the outcomes of the first trials.
    fn drawn_as_laid_out(&self, progress: Progress<'_>) -> Vec<(Cell, (Outcome, Vec<Tally>))> {
        let simulations = self.simulations();
        let ledgers = simulations.folded(progress);
        let plain = Beside { has_needs: self.has_needs(), turns: self.turns, ..Beside::default() };
        let tallies = |cell: Cell| {
            let counted = self.counted_under(cell.profile).and_then(CountedLoad::shares);
            let beside = Beside { counted, ..plain.clone() };
            let priced = |(sums, index, outcome): &FoldedLedger| {
                Tally::beside(sums, index.as_ref(), outcome, self.models_of(cell), &beside)
            };
            let all: Vec<Tally> = ledgers.of(&simulations, cell).map(priced).collect();
            (cell, (all.first().map_or_else(Outcome::default, |it| it.outcome.clone()), all))
        };
        self.own_cells().map(tallies).collect()
    }

    /// Plays it and keeps the rows of its first trial; conversations have none, and those of a run that failed say so.
    pub fn rows(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>)> {
        let play = |load: &Self, _: &[usize]| load.rows_as_laid_out(progress);
        let all = self.lived(&play, &|it: &(Arc<Rows>, Outcome)| &it.1);
        all.into_iter().map(|(cell, (rows, _))| (cell, rows)).collect()
    }

    /// The same, whatever its policies avoid, with the outcomes.
    fn rows_as_laid_out(&self, progress: Progress<'_>) -> Vec<(Cell, (Arc<Rows>, Outcome))> {
        if matches!(self.world.plays(), Plays::Trials) {
            return Vec::new();
        }
        let simulations = self.simulations().first_trials();
        let cells = self.own_cells().filter_map(|it| simulations.ledger_of(it));
        let ledgers = simulations.detailed(&Wanted { rows: cells.collect(), breaks: false }, progress);
        let of = |cell| {
            let it = ledgers.of(&simulations, cell).next()?;
            Some((cell, (Arc::clone(it.rows.as_ref()?), it.folded.2.clone())))
        };
        self.own_cells().filter_map(of).collect()
    }

    /// Returns what a report says of the stages of a policy.
    pub(super) fn stages(&self, cell: Cell) -> Arc<[StageFacts]> {
        // Each conversation has a limit of its own.
        let limits = self.profiles[cell.profile].limits;
        let known = self.timeline_under(cell.profile).map(|it| Known::new(it, limits));
        let threshold = |stage: &Stage| Threshold::new(stage.when.as_ref()?, known.as_ref()?);
        let stages = self.policies[cell.policy].stages().iter().map(|stage| StageFacts {
            name: stage.name.clone(),
            has_trigger: stage.when.is_some(),
            threshold: threshold(stage),
        });
        stages.collect()
    }
}

/// Returns the most that other sessions can save one, in US dollars: the bound knows of none.
fn left_at_most(timeline: &Timeline, profile: &Profile) -> f64 {
    let front_tokens = |end: ItemIx| -> Tokens {
        timeline.spine.items.iter().take(end as usize).map(|it| Tokens::from(it.raw)).sum()
    };
    let fronts = timeline.events.iter().filter_map(|it| match it.kind {
        EventKind::FrontSent(end) => Some(front_tokens(end)),
        _ => None,
    });
    let times = timeline.shared.as_ref().map_or(0, |it| it.sent.len() + usize::from(it.chance.is_some()));
    let left = fronts.sum::<Tokens>() as f64 + times as f64 * timeline.shared_tokens() as f64;
    let rates = profile.prices.usual();
    let dearest =
        [Some(rates.input), rates.write(0), rates.write(1)].into_iter().flatten().map(|it| it.usd());
    let saved = (dearest.fold(0.0, f64::max) - rates.read().usd()).max(0.0);
    left * saved
}

/// What the plays of a load came to.
struct Played<'a> {
    load: &'a Load,
    simulations: &'a Simulations<'a>,
    ledgers: &'a Ledgers<KeptDetail>,
    drawn: DrawnRuns,
    other_models: Option<OtherModels>,
}

impl Played<'_> {
    /// Makes the take of a run.
    fn take(&self, cell: Cell, sinks: &Sinks<'_>, assumed: &[Arc<RunBasis>]) -> Take {
        let load = self.load;
        let details = || self.ledgers.of(self.simulations, cell);
        let trials: Vec<Tally> = details().map(|it| self.tally(cell, it)).collect();
        let first = details().next();
        let breaks = first.iter().flat_map(|it| it.breaks.iter());
        let tally = summed(trials.iter().cloned(), &load.profiles[cell.profile]);
        let run = if sinks.settings {
            load.run(cell, tally, assumed)
        } else {
            load.run_alone(cell, tally, assumed)
        };
        Take {
            rows: first.and_then(|it| it.rows.clone()),
            trials: if sinks.trials && load.is_sampled { trials } else { Vec::new() },
            breaks: breaks.map(|it| it.of(&load.policies[cell.policy])).collect(),
            timeline: load.timeline_under(cell.profile).map(Arc::clone),
            ..Take::new(cell, run)
        }
    }

    /// Prices what a trial came to, with all that is known beside its ledger.
    fn tally(&self, cell: Cell, detail: &KeptDetail) -> Tally {
        let (load, (sums, index, outcome)) = (self.load, &detail.folded);
        let models = load.models_of(cell);
        let tally = |models, beside: &Beside| Tally::beside(sums, index.as_ref(), outcome, models, beside);
        let has_needs = load.has_needs();
        let counted = load.counted_under(cell.profile).and_then(CountedLoad::shares);
        let shared_calls = load.shared_calls(cell.profile);
        let plain = Beside { has_needs, counted, turns: load.turns, shared_calls, ..Beside::default() };
        let closed = tally(Models { without: None, ..models }, &plain);
        let ends = self.ends(cell).filter(|_| has_needs);
        let moved = |it: AloneAtEnd<Amount>| (it.played - closed.costs.assumed()).times(it.share);
        let beside = Beside {
            interval: ends.map(|it| it.all),
            assumed: ends.map(|it| changes(it.each.map(|it| it.map(moved)))).unwrap_or_default(),
            bound: load.bound(cell, outcome),
            ..plain
        };
        let beside = self.drawn.beside(self.simulations, cell, models, &closed, beside);
        let own = self.other_models.as_ref().zip(detail.rows.as_ref());
        let (own_models, own_waiting) = own.map(|(it, rows)| it.bill(load, cell, rows)).unzip();
        let priced = tally(models, &Beside { own_models, own_waiting, ..beside });
        let edits = priced.outcome.firings.iter().any(|it| it.acted > 0);
        match load.turns_ratio.filter(|_| edits) {
            Some(ratio) => {
                priced.at_turns_ratio(ratio, TurnRatios::declared().ends(&load.policies[cell.policy], ratio))
            }
            None => priced,
        }
    }

    /// Returns the cost of recovery and exploration at the ends of what is assumed of them; nothing if a price is unknown.
    fn ends(&self, cell: Cell) -> Option<AtEnds<Amount>> {
        let profile = &self.load.profiles[cell.profile];
        let mut is_known = true;
        let cost = |it: &KeptDetail| {
            let cost = price::assumed(&it.folded.0, profile);
            is_known &= cost.is_some();
            cost.unwrap_or_default()
        };
        let ends = self.ledgers.bounds_of(self.simulations, cell).map(|it| it.map(cost));
        ends.filter(|_| is_known)
    }
}

/// Returns what each assumption of recovery changes, from a list in their order.
fn changes(each: [[Amount; 2]; Assumption::N]) -> AssumedChanges {
    let all = Assumption::ALL.into_iter().zip(each);
    all.fold(AssumedChanges::default(), |sum, (of, it)| sum.with(Assumed::Recovery(of), it))
}

/// Adds up the trials of a run.
pub fn summed(trials: impl Iterator<Item = Tally>, profile: &Profile) -> Tally {
    let both = |mut sum: Tally, more: Tally| {
        sum.add(&more);
        sum
    };
    let nothing = || Tally::new(&Sums::default(), None, &Outcome::default(), false, profile);
    trials.reduce(both).unwrap_or_else(nothing)
}

// Recovery that is played instead of computed, if a policy edits fetched results or if fetching may change its edits.
//
// The closed form does not know the prompts there: needs are sampled several times, and the mean cost of
// these runs is used instead.

/// By simulation and ledger: the results of runs with sampled needs; none where the closed form applies.
pub(super) struct DrawnRuns(BTreeMap<(usize, usize), Vec<Arc<FoldedLedger>>>);

impl DrawnRuns {
    /// Plays what the ledgers require.
    pub(super) fn new(
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<KeptDetail>,
        progress: Progress<'_>,
    ) -> Self {
        let is_open = |simulation, ledger: usize| {
            let outcome = ledgers.of_simulation(simulation).get(ledger).map(|it| &it.folded.2);
            // Where the policy's edits hang on what is fetched, the closed form of recovery does not hold.
            outcome.is_some_and(|it| it.reacts || it.is_swayed)
        };
        Self(simulations.drawn(is_open, progress))
    }

    /// Returns what is known beside a run's ledger once recovery was played; the same where the closed form applies.
    pub(super) fn beside(
        &self,
        simulations: &Simulations<'_>,
        cell: Cell,
        models: Models<'_>,
        closed: &Tally,
        beside: Beside,
    ) -> Beside {
        let Some(runs) = simulations.ledger_of(cell).and_then(|it| self.0.get(&it)) else { return beside };
        if let Some(fault) = runs.iter().find_map(|it| it.2.fault.as_ref()) {
            return Beside { fault: Some(Arc::clone(fault)), ..beside };
        }
        let mut drawn: Vec<Tally> = Vec::with_capacity(runs.len());
        for (sums, index, outcome) in runs.iter().map(|it| &**it) {
            if outcome.failure.is_none() || closed.outcome.failure.is_some() {
                drawn.push(Tally::new(sums, index.as_ref(), outcome, true, models));
            }
        }
        let total = closed.costs.exact().filter(|_| !drawn.is_empty());
        let Some(played) = total.map(|it| mean_of(&drawn, closed, it)) else { return beside };
        Beside { played: Some(played), ..beside }
    }
}

/// Returns what drawn runs come to on average, beside what the closed form says.
fn mean_of(drawn: &[Tally], closed: &Tally, total: Amount) -> PlayedRecovery {
    let n = ix(drawn.len());
    let mean = |of: &dyn Fn(&Tally) -> Expected| drawn.iter().map(of).sum::<Expected>().over(n);
    let share = |of: &dyn Fn(&Tally) -> f64| drawn.iter().map(of).sum::<f64>() / n as f64;
    let cost: Amount = drawn.iter().filter_map(|it| it.costs.exact()).sum();
    let paid: Option<Vec<PaidAtRates>> = drawn.iter().map(|it| it.paid.as_deref().copied()).collect();
    PlayedRecovery {
        cost: cost.over(n) - total,
        paid: paid.map(|it| PaidAtRates::mean(&it)),
        tokens: mean(&Tally::expected_total_tokens) - closed.expected_total_tokens(),
        needs: NeedSums {
            calls: mean(&|it| it.sums.needs.calls),
            repeats: mean(&|it| it.sums.needs.repeats),
            fetched: mean(&|it| it.sums.needs.fetched),
            failed: mean(&|it| it.sums.needs.failed),
            weight: share(&|it| it.sums.needs.weight),
            met: share(&|it| it.sums.needs.met),
            refetched: closed.sums.needs.refetched,
            told: closed.sums.needs.told,
            users: closed.sums.needs.users,
            ..NeedSums::default()
        },
        explored: ExploredSums {
            calls: mean(&|it| it.sums.explored.calls),
            fetched: mean(&|it| it.sums.explored.fetched),
            tokens: closed.sums.explored.tokens,
            ..ExploredSums::default()
        },
        n: ix(drawn.len()),
    }
}

// What is asked of a play beside its numbers, and what the play gives for one run: nobody plays again to learn more.
//
// **One play gives a `Take`** (`take/play.rs`). Whoever needs rows, trials, broken prefixes, answers or the rows that are compared with a
// recorded bill asks for them before the play (`Sinks`), and nobody plays again to learn more: reports, comparisons, pages and calibration
// read the same takes. A `Tally` is made once, of a ledger and of what is known beside it (`measure.rs`). `tests/suite/nets.rs`
// counts scans, imports, compilations, layouts and plays (`counts.rs`). With `--since`, `--limit` and `--model`, the index or a glance
// (`timeline/import/index.rs`) tells which recordings take part, and only these are laid out. The caches of a play stand on lanes
// (`Lanes` in `cache.rs`): each answers the same requests, and those whose rules differ in their steps alone share what they know.

/// What is asked of a play beside its numbers; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sinks<'a> {
    /// The rows of the first trial, where the engine plays.
    pub rows: bool,
    /// What each trial with drawn needs came to.
    pub trials: bool,
    /// Where prefixes broke, and whose edits broke them.
    pub breaks: bool,
    /// What became of each question, where trials ask any.
    pub answers: bool,
    /// The settings of real agents that do as each policy does, with the numbers of the run.
    pub settings: bool,
    /// Whether costs stand alone: neither at the ends of what is assumed, nor beside those with and without the recorded compactions.
    pub bare: bool,
    /// A policy whose requests are compared with the recorded bill: its rows with all of the recorded compactions.
    pub billed: Option<&'a Policy>,
}

/// What one play gave for one run.
#[derive(Clone, Debug)]
pub struct Take {
    /// The run's place.
    pub cell: Cell,
    /// Its numbers.
    pub run: Run,
    /// Its rows, if they were asked for.
    pub rows: Option<Arc<Rows>>,
    /// What each of its trials came to, if that was asked for.
    pub trials: Vec<Tally>,
    /// Where its prefixes broke, if that was asked for.
    pub breaks: Vec<Break>,
    /// What became of its questions, if that was asked for.
    pub answers: Vec<TrialQuestion>,
    /// The layout that it was played in, where the engine plays items.
    pub timeline: Option<Arc<Timeline>>,
    /// Whether its requests are those of the policy that is compared with the recorded bill.
    pub is_billed: bool,
}

/// What one play of a load gave.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Run by run, in the order of a report.
    pub takes: Vec<Take>,
    /// The rows that are compared with the recorded bill, if a run of the load has them.
    pub billed: Option<Arc<Rows>>,
}

impl Take {
    /// A run of which nothing else was asked.
    pub fn new(cell: Cell, run: Run) -> Self {
        Self {
            cell,
            run,
            rows: None,
            trials: Vec::new(),
            breaks: Vec::new(),
            answers: Vec::new(),
            timeline: None,
            is_billed: false,
        }
    }

    /// Returns the rows that are compared with the recorded bill, if it has them and no limit stopped it.
    pub(super) fn billed(&self) -> Option<Arc<Rows>> {
        let outcome = &self.run.tally.outcome;
        let is_whole = outcome.failure.is_none() && outcome.fault.is_none() && outcome.limit_violations == 0;
        self.rows.clone().filter(|_| self.is_billed && is_whole)
    }
}

impl Taken {
    /// Returns the take of a run.
    pub fn of(&self, profile: usize, policy: usize) -> Option<&Take> {
        self.takes.iter().find(|it| it.cell.profile == profile && it.cell.policy == policy)
    }

    /// Returns the runs alone.
    pub fn into_runs(self) -> Vec<Run> {
        self.takes.into_iter().map(|it| it.run).collect()
    }
}

// What a play keeps of a run: what prices ask for and, where it was asked for, rows and broken prefixes.

/// What a play keeps of one run.
#[derive(Clone, Debug)]
pub(super) struct KeptDetail {
    /// What prices ask for.
    pub folded: FoldedLedger,
    /// Its rows, if they were asked for.
    pub rows: Option<Arc<Rows>>,
    /// Where its prefixes broke, if that was asked for; runs that share a simulation share them.
    pub breaks: Arc<[PrefixBreak]>,
}

/// What is asked of the plays of a load beside what prices ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The ledgers, by simulation and place, whose first trial keeps its rows.
    pub(super) rows: BTreeSet<(usize, usize)>,
    /// Whether broken prefixes are looked for.
    pub(super) breaks: bool,
}

impl Wanted {
    /// Returns whether more is asked of a simulation than prices ask for.
    pub(super) fn asks(&self, simulation: usize) -> bool {
        self.breaks || self.rows.range((simulation, 0)..).next().is_some_and(|it| it.0 == simulation)
    }
}

/// A sink that keeps sums and, where asked, the requests by length and all rows.
pub(super) type Keeper = (Sums, (Option<PriceRows>, Option<Rows>));

impl KeptDetail {
    /// Takes what a sink kept.
    pub(super) fn new((sums, (prices, rows)): Keeper, outcome: Outcome, breaks: Arc<[PrefixBreak]>) -> Self {
        let fault = outcome.fault.clone();
        Self {
            rows: rows.map(|rows| Arc::new(Rows { fault, ..rows })),
            folded: (sums, prices.map(Into::into), outcome),
            breaks,
        }
    }
}
