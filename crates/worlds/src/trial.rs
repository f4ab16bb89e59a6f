//! What loads of facts share, whatever remembers them:
//! numbers over trials and how far policies differ in them, what to repair, what each memory requested, and what is most like a question.

use crate::prelude::*;
use std::fmt;

use rustc_hash::FxBuildHasher;

use ctxsim_base::quantity::Cost;
use ctxsim_engine::engine::Simulation;
use ctxsim_engine::ledger::Sums;
use ctxsim_engine::measure::{Beside, Tally};
use ctxsim_engine::memory::Replayed;
use ctxsim_engine::price::PriceRows;
use ctxsim_engine::take::{Curve, FoldedLedger, Keys, in_order_telling};
use ctxsim_input::CacheRules;

/// Numbers by name; a dot parts a group from its member.
pub type Numbered = IndexMap<String, Statistic>;

/// What a number is called before it is summed up: some are noted for each question, so nothing is written out yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberName {
    Alone(&'static str),
    Of(&'static str, &'static str),
    Nth(&'static str, u32),
}

impl From<&'static str> for NumberName {
    fn from(name: &'static str) -> Self {
        Self::Alone(name)
    }
}

impl fmt::Display for NumberName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone(name) => to.write_str(name),
            Self::Of(group, member) => write!(to, "{group}.{member}"),
            Self::Nth(group, nth) => write!(to, "{group}.{nth}"),
        }
    }
}

/// What was observed of a memory over trials, before it is summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Numbers by name, one a trial or one a question.
    values: IndexMap<NumberName, Vec<f64>, FxBuildHasher>,
    /// By stage: the share of questions that it loses, one a trial.
    losses: [Vec<f64>; 4],
}

impl Observed {
    /// Notes a number, if there is one.
    pub fn note(&mut self, name: impl Into<NumberName>, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into() {
            self.values.entry(name.into()).or_default().push(value);
        }
    }

    /// Notes the share of a trial's questions that each stage loses.
    pub fn lose(&mut self, losses: [f64; 4]) {
        self.losses.iter_mut().zip(losses).for_each(|(own, loss)| own.push(loss));
    }

    /// Adds what was observed over later trials.
    pub fn add(&mut self, other: Self) {
        for (name, values) in other.values {
            self.values.entry(name).or_default().extend(values);
        }
        self.losses.iter_mut().zip(other.losses).for_each(|(own, more)| own.extend(more));
    }

    /// Sums up; the numbers stand in the order of some names, all others after them in the order of their own.
    pub fn statistics(&self, names: &[&str]) -> Numbered {
        let named = |(name, values): (&NumberName, &Vec<f64>)| {
            Some((name.to_string(), Statistic::new(values.iter().copied())?))
        };
        let mut numbers: Numbered = self.values.iter().filter_map(named).collect();
        let place = |name: &String| names.iter().position(|it| it == name).unwrap_or(names.len());
        numbers.sort_by(|one, _, other, _| place(one).cmp(&place(other)).then_with(|| one.cmp(other)));
        numbers
    }

    /// Returns how much more of each number this has than another, trial by trial: of those that both have equally often, and that
    /// `is_kept` keeps by how often that is.
    pub fn less(&self, other: &Self, is_kept: impl Fn(usize) -> bool) -> Numbered {
        let of = |(name, own): (&NumberName, &Vec<f64>)| {
            let base = other.values.get(name).filter(|it| it.len() == own.len() && is_kept(own.len()))?;
            let differences: Vec<f64> = own.iter().zip(base).map(|(own, base)| own - base).collect();
            Some((name.to_string(), Statistic::new(differences.into_iter())?))
        };
        self.values.iter().filter_map(of).collect()
    }

    /// Returns the mean of a number.
    pub fn mean(&self, name: &'static str) -> Option<f64> {
        Statistic::new(self.values.get(&NumberName::from(name))?.iter().copied()).map(|it| it.mean)
    }
}

/// Plays every trial, and adds up what each gives.
pub(crate) fn over_trials<T: Default + Send>(
    n_trials: u64,
    progress: Progress<'_>,
    one: impl Fn(u64) -> T + Sync,
    add: impl Fn(&mut T, T),
) -> T {
    let mut all = in_order_telling(saturated(n_trials), progress, |trial| one(trial as u64)).into_iter();
    let mut sum = all.next().unwrap_or_default();
    all.for_each(|it| add(&mut sum, it));
    sum
}

/// Returns how much more a policy has than each other one, by the other's name.
pub(crate) fn paired<T>(load: &Load, own: usize, less: impl Fn(usize) -> Option<T>) -> IndexMap<String, T> {
    let others = load.policies.iter().enumerate().filter(|it| it.0 != own);
    others.filter_map(|(at, other)| Some((other.name.clone(), less(at)?))).collect()
}

/// Returns whether there is certainly more of something, or certainly less; none where neither is certain.
pub(crate) fn certain(difference: &Statistic) -> Option<bool> {
    match difference.ci95? {
        [low, _] if low > 0.0 => Some(true),
        [_, high] if high < 0.0 => Some(false),
        _ => None,
    }
}

/// How much more of something a policy has than another where a declared number has some value.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordering {
    /// The load.
    pub scenario: String,
    /// The declared number.
    pub number: String,
    /// Its declared value.
    pub declared: f64,
    /// The value that it has here.
    pub value: f64,
    /// What the policies are compared by.
    pub compared: String,
    /// The policy that another is compared with.
    pub against: String,
    /// How much more of it the other has, trial by trial.
    pub difference: Statistic,
}

/// A memory with what it loses.
pub(crate) struct LosingMemory {
    pub(crate) policy: Arc<Policy>,
    /// By stage: the share of questions that it loses, one a trial.
    losses: [Vec<f64>; 4],
    /// The mean score over all trials.
    score: f64,
}

impl LosingMemory {
    /// Finds what to repair, by playing what could be changed over all trials.
    pub(crate) fn repair(
        &self,
        changes: impl Fn(usize) -> Vec<String>,
        play: impl Fn(&str) -> Option<f64>,
    ) -> Option<StageRepair> {
        StageRepair::find(|nth| self.losses[nth].clone(), self.score, changes, play)
    }
}

/// Returns what to repair in each memory of a load, which is still to be found; repairs are judged by one of the numbers.
pub(crate) fn repairs<'o>(
    load: &Load,
    observed: impl Iterator<Item = &'o Observed>,
    score: &'static str,
    find: impl Fn(&LosingMemory) -> Option<StageRepair> + Send + Sync + 'static,
) -> Vec<MemoryRepair> {
    let losing = load.policies.iter().zip(observed).map(|(policy, it)| LosingMemory {
        policy: Arc::clone(policy),
        losses: it.losses.clone(),
        score: it.mean(score).unwrap_or(0.0),
    });
    let losing: Vec<LosingMemory> = losing.collect();
    MemoryRepair::each(losing.len(), move || in_order(losing.len(), |at| find(&losing[at])))
}

/// A run with what was found.
pub(crate) type FoundRun<'r, T> = (&'r Run, &'r T);

/// Returns the runs that have findings of a kind, with these.
pub(crate) fn found<'r, T: Findings>(runs: &[&'r Run]) -> Vec<FoundRun<'r, T>> {
    runs.iter().filter_map(|run| Some((*run, run.found::<T>()?))).collect()
}

/// Returns whether two runs are of one scenario and profile.
pub(crate) fn is_beside<T>(one: &FoundRun<'_, T>, other: &FoundRun<'_, T>) -> bool {
    one.0.is_beside(other.0)
}

/// Returns the scenario and the profile of runs.
pub(crate) fn subject<T>(runs: &[FoundRun<'_, T>]) -> String {
    runs.first().map(|it| it.0.subject()).unwrap_or_default()
}

/// Returns a title with the scenario and the profile of runs.
pub(crate) fn titled<T>(title: &str, runs: &[FoundRun<'_, T>]) -> String {
    format!("{title}: {}", subject(runs))
}

/// Returns the curve of a run.
pub(crate) fn curve(run: &Run, name: String, numbers: Vec<Option<Statistic>>) -> Curve {
    Curve { policy: run.policy.clone(), name, is_beside: false, numbers }
}

/// What a memory requested over the first trial.
pub(crate) struct Replay {
    pub(crate) requests: Replayed,
    /// What its calls to a service cost, if its service has prices of its own.
    pub(crate) service: Option<Cost>,
    /// How many milliseconds it took, if its world counts them itself.
    pub(crate) latency_ms: Option<f64>,
}

/// Plays the requests of each policy under every pair of limits and cache rules, and prices them under every profile; calls to a service cost
/// what its file says. The numbers are in the order of the load's runs.
pub(crate) fn tallies<T: Sync>(replays: &[(Replay, T)], load: &Load) -> Vec<Tally> {
    let (keys, n) = (Keys::new(&load.profiles, &load.policies), load.policies.len());
    let played = in_order(keys.distinct.len() * n, |at| {
        let key = &keys.distinct[at / n];
        replays[at % n].0.folded(&load.policies[at % n], key.limits, key.cache, keys.is_flat)
    });
    let priced = load.cells().map(|cell| {
        let (sums, index, outcome) = &played[keys.within(cell)];
        let Replay { service, latency_ms, .. } = replays[cell.policy].0;
        let beside = Beside { service, latency_ms, ..Beside::default() };
        Tally::beside(sums, index.as_ref(), outcome, load.models_of(cell), &beside)
    });
    priced.collect()
}

impl Replay {
    /// Plays the requests and folds them to what prices ask for.
    fn folded(&self, policy: &Policy, limits: &Limits, cache: &CacheRules, is_flat: bool) -> FoldedLedger {
        let mut sink: (Sums, PriceRows) = Default::default();
        let play = Simulation::new(&self.requests.timeline, policy, limits, cache);
        let outcome = play.with_memory(self.requests.memory()).run(&mut sink);
        let (sums, rows) = sink;
        (sums, (!is_flat).then(|| rows.into()), outcome)
    }
}

/// Returns 64 random bits as a number that is distributed almost normally: the sum of four even ones, which is the same on any machine.
pub(crate) fn normal(bits: u64) -> f64 {
    let parts = [bits & 0xffff, bits >> 16 & 0xffff, bits >> 32 & 0xffff, bits >> 48];
    let sum: u64 = parts.iter().sum();
    // Four even numbers from 0 to 1 have the mean 2 and the variance 1/3.
    (sum as f64 / 65_535.0 - 2.0) * 1.732_050_807_568_877_2
}

/// Returns the n that score most.
pub(crate) fn best<T: Copy + Ord>(mut scored: Vec<(f64, T)>, n: usize) -> Vec<T> {
    if n > 0 && n < scored.len() {
        scored
            .select_nth_unstable_by(n - 1, |one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    }
    scored.truncate(n);
    scored.into_iter().map(|it| it.1).collect()
}
