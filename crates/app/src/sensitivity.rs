//! A plan priced under many profiles: each distinct pair of cache rules and limits is simulated once.

use std::cell::RefCell;
use std::sync::Arc;

use super::reads::check_same_work;
use super::watch::PlanWatcher;
use super::{Plan, in_order, never_stops};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::BreakEven;
use ctxsim_engine::measure::sensitivity::{
    self, Ledger, ProfileShare, Sensitivity, SensitivityGrid, Variations,
};
use ctxsim_engine::price::PriceIndex;
use ctxsim_engine::take::{
    Cell, CountedLoad, FailedRun, FailedRuns, FoldedLedger, Ledgers, Load, Progress, Simulations, Unpriced,
};
use ctxsim_input::profile::Counting;
use ctxsim_report::ALL;

/// The ledgers of a load, simulation by simulation and trial by trial.
struct LedgersOfLoad<'a> {
    load: &'a Load,
    simulations: &'a Simulations<'a>,
    /// What the engine played, where it did.
    ledgers: Option<Ledgers<FoldedLedger>>,
    /// What its world played itself, by pair of limits and cache rules, then by policy.
    own: Option<Vec<Unpriced>>,
}

/// A load as it came out under the profiles.
#[derive(Default)]
struct PricedLoad {
    name: String,
    /// By profile, then by policy.
    cells: Vec<Vec<sensitivity::CellSum>>,
    n_distinct: usize,
    n_played: usize,
    failed: Vec<FailedRun>,
    /// By profile.
    counting: Vec<Option<Counting>>,
}

/// The sum of loads, which are added in their order; of each, only its table is kept.
#[derive(Default)]
struct PricedSum {
    /// By profile, then by policy.
    cells: Vec<Vec<sensitivity::CellSum>>,
    n_distinct: usize,
    n_played: usize,
    failed: Vec<FailedRun>,
    /// By profile: how its models count the loads, each way once.
    counting: Vec<Vec<Counting>>,
}

impl PricedSum {
    /// Adds a load, and returns its table.
    fn add(&mut self, load: PricedLoad) -> SensitivityGrid {
        let PricedLoad { name, cells, n_distinct, n_played, failed, counting } = load;
        self.cells.resize_with(self.cells.len().max(cells.len()), Vec::new);
        for (own, more) in self.cells.iter_mut().zip(&cells) {
            let n_known = own.len();
            own.iter_mut().zip(more).for_each(|(own, more)| own.add(more));
            own.extend(more.iter().skip(n_known).cloned());
        }
        self.n_distinct = self.n_distinct.max(n_distinct);
        self.n_played += n_played;
        self.failed.extend(failed);
        self.counting.resize_with(self.counting.len().max(counting.len()), Vec::new);
        for (known, one) in self.counting.iter_mut().zip(counting) {
            known.extend(one.filter(|it| !known.contains(it)));
        }
        SensitivityGrid::new(name, &cells)
    }
}

impl Plan {
    /// Runs everything and compares the policies across the plan's profiles, whatever model a session was
    /// recorded with.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn sensitivity(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Sensitivity, Error> {
        let open = |entry: &super::ReadyLoad| {
            let entry = super::ReadyLoad { under_own_model: false, ..entry.clone() };
            self.open(&entry)
        };
        let one = |load: &Load, it: Progress<'_>| play_and_price(load, self.policies.len(), it);
        let mut sum = PricedSum::default();
        let settle = |it: Result<PricedLoad, Error>| it.map(|it| sum.add(it));
        let watch = never_stops(progress);
        let loads = self.each_watched(threads, &PlanWatcher::new(&watch), open, one, settle)?.0;
        let each = loads.into_iter().collect::<Result<Vec<_>, Error>>()?;
        if !sum.failed.is_empty() {
            return Err(Error::Run(Box::new(FailedRuns(sum.failed))));
        }
        let all = (each.len() > 1).then(|| SensitivityGrid::new(ALL.to_owned(), &sum.cells));
        let counting = |nth: usize| sum.counting.get(nth).cloned().unwrap_or_default();
        Ok(Sensitivity {
            policies: self.policies.clone(),
            profiles: (0..self.profiles.len()).map(|it| self.facts(it, counting(it))).listed(),
            grids: all.into_iter().chain(each).listed(),
            n_distinct: sum.n_distinct,
            n_simulations: sum.n_played,
            asked: self.break_even,
            n_left_out: 0,
        })
    }

    fn facts(&self, nth: usize, counting: Vec<Counting>) -> ProfileShare {
        let profile = &self.profiles[nth];
        ProfileShare {
            counting,
            name: profile.name.clone(),
            as_of: profile.as_of.clone(),
            break_even: BreakEven::new(profile, self.break_even.as_ref()),
        }
    }
}

/// Plays it and prices the ledgers under every profile.
fn play_and_price(load: &Load, n_policies: usize, progress: Progress<'_>) -> Result<PricedLoad, Error> {
    check_same_work(load, &(0..load.policies.len()).listed())?;
    if load.policies.len() < n_policies {
        let message = format!("{} is a block trace, which no policy changes", load.name);
        let problem = Diagnostic::at(Code::PolicyUnread, "", message);
        return Err(vec![problem.help("add `--policy identity`")].into());
    }
    if load.turns_ratio.is_some() {
        let message = "a comparison of price lists takes as many turns as the load has";
        let problem = Diagnostic::at(Code::TurnsRatioRange, "scenario.turns_ratio", message);
        return Err(vec![problem.help("leave it out, and declare it in a run")].into());
    }
    let counting = (0..load.profiles.len()).map(|it| load.counting(it)).listed();
    let sum = PricedLoad { name: load.name.clone(), counting, ..PricedLoad::default() };
    let sum = RefCell::new(sum);
    let play = |load: &Load, _: &[usize]| price_as_laid_out(load, &mut sum.borrow_mut(), progress);
    let cells = load.lived(&play, &|it: &sensitivity::CellSum| it.outcome());
    let mut all: Vec<Vec<sensitivity::CellSum>> = vec![Vec::new(); load.profiles.len()];
    cells.into_iter().for_each(|(cell, it)| all[cell.profile].push(it));
    Ok(PricedLoad { cells: all, ..sum.into_inner() })
}

/// The same, whatever its policies avoid; counts what is played.
fn price_as_laid_out(
    load: &Load,
    sum: &mut PricedLoad,
    progress: Progress<'_>,
) -> Vec<(Cell, sensitivity::CellSum)> {
    let simulations = load.simulations();
    let world = load.service().unwrap_or_else(|| Arc::clone(&load.world));
    let own = world.folded(load, &simulations.keys, progress);
    sum.n_played += simulations.n_runs();
    sum.n_played += own.iter().flatten().map(|it| it.trials.len()).sum::<usize>();
    let ledgers = if own.is_none() { Some(simulations.folded(progress)) } else { None };
    let played = LedgersOfLoad { load, simulations: &simulations, ledgers, own };
    sum.failed.extend(load.cells().filter_map(|cell| played.failed(cell)));
    let cells = in_order(load.profiles.len(), |profile| {
        let variations = Variations::new(&load.profiles[profile]);
        let cell = |policy| {
            let cell = Cell { scenario: 0, profile, policy };
            (cell, played.priced(cell, &variations))
        };
        (0..load.policies.len()).map(cell).listed()
    });
    sum.n_distinct = sum.n_distinct.max(simulations.keys.distinct.len());
    cells.into_iter().flatten().listed()
}

impl<'a> LedgersOfLoad<'a> {
    /// Returns why a run came to no result, if it did.
    fn failed(&self, cell: Cell) -> Option<FailedRun> {
        let mut faults = self.ledgers_of(cell).map(|it| &it.2);
        let fault = faults.find_map(|it| it.fault.as_deref())?;
        Some(self.load.failed(cell, fault))
    }

    /// Returns what a run came to, trial by trial.
    fn ledgers_of(&self, cell: Cell) -> Box<dyn Iterator<Item = &FoldedLedger> + '_> {
        match (&self.own, &self.ledgers) {
            (Some(own), _) => Box::new(own[self.simulations.within(cell)].trials.iter()),
            (None, Some(ledgers)) => Box::new(ledgers.of(self.simulations, cell)),
            (None, None) => Box::new(std::iter::empty()),
        }
    }

    /// Prices the ledgers of one run.
    fn priced(&'a self, cell: Cell, variations: &Variations<'_>) -> sensitivity::CellSum {
        let summariser = self.load.policies[cell.policy].summariser();
        let of = |sums, index: &'a Option<PriceIndex>, outcome| Ledger {
            summariser,
            ..Ledger::new(sums, index.as_ref(), outcome)
        };
        let own = self.own.as_ref().map(|it| &it[self.simulations.within(cell)]);
        let (has_needs, service) = (self.load.has_needs(), own.and_then(|it| it.service));
        let turns = self.load.turns;
        let counted = self.load.counted_under(cell.profile).and_then(CountedLoad::shares);
        let ledger = |(sums, index, outcome): &'a FoldedLedger| Ledger {
            has_needs,
            service,
            turns,
            counted,
            ..of(sums, index, outcome)
        };
        let remembered = own.and_then(|it| it.remembered.clone());
        summed(self.ledgers_of(cell).map(ledger), variations).remembering(remembered)
    }
}

/// Prices the trials of a run and adds them up.
fn summed<'a>(trials: impl Iterator<Item = Ledger<'a>>, variations: &Variations<'_>) -> sensitivity::CellSum {
    let both = |mut sum: sensitivity::CellSum, more: sensitivity::CellSum| {
        sum.add(&more);
        sum
    };
    let (sums, outcome) = Default::default();
    let nothing = Ledger::new(&sums, None, &outcome);
    let priced = trials.map(|it| sensitivity::CellSum::new(&it, variations));
    priced.reduce(both).unwrap_or_else(|| sensitivity::CellSum::new(&nothing, variations))
}
