//! The simulations of a load: runs whose requests are bound to be the same share one.
//!
//! **Price comes after the ledger.** A simulation is keyed by timeline, compiled policy, cache rules, limits, and how recovery is priced.
//! Its ledger folds to `Sums`, and one `Sums` is priced under every profile that shares the key. DuckAgent's nine profiles have six
//! distinct limits, so this saves a third of the work. The key holds the *compiled* program, not the policy's name: policies that compile
//! to the same program under the limits are simulated once. Policies that differ only in how the agent recovers share a simulation and get
//! one ledger each, because expected recovery never changes a prompt (`take/simulations.rs`). Simulations whose prompts differ neither in
//! limits nor in cache rules share a play: each cache answers the same requests, and a limit that no request comes to needs no play of its
//! own (`take/simulations/shared.rs`). Under a profile whose models count tokens differently (`input/profile/family.rs`), a recording's
//! timeline is counted anew (`timeline/recounted.rs`), and that timeline is in the key.
//!
//! **How fast.** `ctxsim run --suite duckagent-matrix --threads 1 --format json --output F` (thirty policies × nine profiles, 2.24 million
//! requests) takes 3.8 G instructions and 0.32 s of one core. The Python reference takes 130 s (nine times its 14.4 s for one profile),
//! about 400 times as long. With sampled needs, a late request costs about the same as an early one: at 32,000 turns of
//! `duckagent/long_run` a request takes 1.008 times the instructions that it takes at 4,000. Most of the speed comes from three things, in
//! this order:
//!
//! 1. Runs are keyed by their *compiled* program under the limits, so only 158 of the 270 are simulated, and policies that differ in
//!    recovery alone share a simulation (`take/simulations.rs`).
//! 2. One simulation is priced under every profile.
//! 3. No pass looks at settled slots again.
//!
//! A turn of a long session costs as much as a turn of a short one: from turn 50,000 to 100,000 of `duckagent/long_run`, a turn takes 0.995
//! times the instructions of turns 1,000 to 2,000 under guarded_mid, and 0.984 times under `identity` without a limit.

mod shared;

use crate::prelude::*;

use super::load::CountedLoad;
use super::play::{FoldedLedger, Keeper, KeptDetail, Wanted};
use super::threads::in_order;
use super::world::{Fixed, Plays};
use super::{Cell, Load, Progress};
use crate::engine::{self, CompiledPolicy};
use crate::explain::{self, PrefixBreak};
use crate::hindsight;
use crate::price::PriceRows;
use crate::recovery::{Assumption, CompiledRecovery, End, Ends, Terms};
use ctxsim_input::{Builtin, RecoveryPrice, Refetch};
use shared::{Kept, for_prices};

/// The simulations of a load, and where each run finds its own.
pub struct Simulations<'a> {
    all: Vec<PlannedSimulation<'a>>,
    /// By pair of limits and cache rules, then by policy; conversations have none, because they are played trial by
    /// trial.
    places: Vec<LedgerPlace>,
    /// What the profiles ask.
    pub keys: Keys<'a>,
}

/// What a simulation asks of a profile.
pub struct SimulationKey<'a> {
    pub limits: &'a Limits,
    /// Its cache rules.
    pub cache: &'a CacheRules,
    /// Whether it prices every recovery call alike.
    recovery: RecoveryPrice,
    /// The load as its models count it, if not as it was recorded.
    counted: Option<&'a CountedLoad>,
    /// Whether sums are enough for the prices of all such profiles.
    is_flat: bool,
    /// The first such profile; of some policies the prices decide what they do, and then it is the only one.
    pub profile: &'a Profile,
}

/// What the profiles of a load ask of its simulations.
pub struct Keys<'a> {
    /// By profile: which of the distinct pairs it has.
    of_profile: Vec<usize>,
    /// The distinct pairs of limits and cache rules.
    pub distinct: Vec<SimulationKey<'a>>,
    /// Whether sums are enough for all prices.
    pub is_flat: bool,
    n_policies: usize,
}

impl<'a> Keys<'a> {
    /// Collects what the profiles ask of the simulations of some policies, each thing once.
    pub fn new(profiles: &'a [Profile], policies: &[Arc<Policy>]) -> Self {
        Self::counted(profiles, policies, |_| None)
    }

    /// The same for a load, in the tokens that each profile's models count.
    pub(super) fn of_load(load: &'a Load) -> Self {
        Self::counted(&load.profiles, &load.policies, |nth| load.counted_under(nth))
    }

    fn counted(
        profiles: &'a [Profile],
        policies: &[Arc<Policy>],
        counted: impl Fn(usize) -> Option<&'a CountedLoad>,
    ) -> Self {
        let asks_prices = policies.iter().any(|it| it.code == Some(Builtin::Hindsight));
        let is_flat = |it: &Profile| it.prices.flat().is_some();
        let are_flat = policies.iter().filter_map(|it| it.summariser()).all(is_flat);
        let mut found = IndexSet::new();
        let mut distinct: Vec<SimulationKey<'a>> = Vec::new();
        let mut place = |(nth, profile): (usize, &'a Profile)| {
            let Profile { limits, cache, assumptions, .. } = profile;
            let counted = counted(nth);
            let family = counted.map(CountedLoad::key);
            let own = (limits, cache, assumptions.recovery, family, asks_prices.then_some(nth));
            let (place, is_new) = found.insert_full(own);
            if is_new {
                distinct.push(SimulationKey {
                    limits,
                    cache,
                    recovery: assumptions.recovery,
                    counted,
                    is_flat: are_flat,
                    profile,
                });
            }
            distinct[place].is_flat &= is_flat(profile);
            place
        };
        let of_profile = profiles.iter().enumerate().map(&mut place).collect();
        let is_flat = distinct.iter().all(|it| it.is_flat) && are_flat;
        Self { of_profile, distinct, is_flat, n_policies: policies.len() }
    }

    /// Returns which of the runs a run is, those of equal limits and cache rules being one.
    pub fn within(&self, cell: Cell) -> usize {
        self.of_profile[cell.profile] * self.n_policies + cell.policy
    }
}

/// One simulation: everything that its ledgers depend on.
struct PlannedSimulation<'a> {
    play: Play<'a>,
    /// How agents recover that see the same prompts; a ledger for each.
    recoveries: Vec<CompiledRecovery>,
    limits: &'a Limits,
    cache: &'a CacheRules,
    /// Whether sums are enough for all prices that its ledgers are asked for.
    is_flat: bool,
    /// What every draw of the first trial is made from.
    seed: Seed,
    /// How many times the needs are drawn; 1 where they are not.
    n_trials: usize,
    /// Whether the needs are drawn.
    is_drawn: bool,
}

enum Play<'a> {
    /// A timeline under one policy, played once for every policy that shows the same prompts.
    Items(&'a Timeline, Box<CompiledPolicy<'a>>),
    /// Requests, on which no policy acts.
    Fixed(&'a dyn Fixed),
}

/// What a ledger is folded from.
type FoldingLedger = (Sums, Option<PriceRows>);

/// Where a run finds its ledger.
#[derive(Clone, Copy)]
struct LedgerPlace {
    simulation: usize,
    ledger: usize,
    /// The ledgers at either end of what is assumed of recovery.
    bounds: Option<AtEnds<usize>>,
}

/// Something at the ends of what is assumed of recovery.
#[derive(Clone, Copy, Debug)]
pub struct AtEnds<T> {
    /// At the lower ends of all intervals, and at the upper ends.
    pub all: [T; 2],
    /// At the ends of one interval each, in the order of [`Assumption::ALL`].
    pub each: [[AloneAtEnd<T>; 2]; Assumption::N],
}

/// Something at the end of one assumption's interval.
#[derive(Clone, Copy, Debug)]
pub struct AloneAtEnd<T> {
    /// What was played.
    pub played: T,
    /// How many times the change of what was played that at this end is: not once where a cost is linear in an assumption, so that one end is
    /// enough.
    pub share: f64,
}

impl<T: Copy> AtEnds<T> {
    /// Makes something else of each.
    pub fn map<U>(&self, mut make: impl FnMut(T) -> U) -> AtEnds<U> {
        let all = self.all.map(&mut make);
        let mut end = |it: AloneAtEnd<T>| AloneAtEnd { played: make(it.played), share: it.share };
        AtEnds { all, each: self.each.map(|it| it.map(&mut end)) }
    }
}

impl<'a> Simulations<'a> {
    /// Finds what has to be played, with what is assumed of recovery as it is declared.
    pub fn new(load: &'a Load) -> Self {
        Self::of(load, false)
    }

    /// Finds what has to be played; what is assumed of recovery is at the ends of its intervals, too: all of it together, and each
    /// assumption alone.
    pub fn with_ends(load: &'a Load) -> Self {
        Self::of(load, true)
    }

    fn of(load: &'a Load, has_ends: bool) -> Self {
        let keys = Keys::of_load(load);
        let mut all = Vec::new();
        let places = find(load, &keys.distinct, has_ends, &mut all);
        Self { all, places, keys }
    }

    /// Returns the simulation of a policy of no run: one that shows the same prompts, without drawn needs.
    pub fn like(&self, policy: &CompiledPolicy<'_>) -> Option<usize> {
        let is_like = |it: &PlannedSimulation<'_>| match &it.play {
            Play::Items(_, own) => !it.is_drawn && own.shows_like(policy),
            Play::Fixed(_) => false,
        };
        self.all.iter().position(is_like)
    }

    /// Leaves of every simulation its first trial.
    pub fn first_trials(mut self) -> Self {
        self.all.iter_mut().for_each(|it| it.n_trials = 1);
        self
    }

    /// Returns how many there are, those of several trials being one.
    pub fn n_distinct(&self) -> usize {
        self.all.len()
    }

    /// Returns how many times the engine runs, trial by trial.
    pub fn n_runs(&self) -> usize {
        self.all.iter().map(|it| it.n_trials).sum()
    }

    /// Returns which of the load's runs a run is, those of equal limits and cache rules being one.
    pub fn within(&self, cell: Cell) -> usize {
        self.keys.within(cell)
    }

    /// Returns what each of them comes to beside its ledger: one cache answers for all that share a play.
    pub(super) fn outcomes(&self) -> Ledgers<Outcome> {
        let kept = Kept { asks_all: false, sink: |_| Sums::default(), keep: |_, outcome| outcome };
        self.shared(&|_, _| {}, &kept, |_| false, |_| Vec::new())
    }

    /// Runs them all and keeps what is wanted of each beside what the profiles' prices ask for.
    pub(super) fn detailed(&self, wanted: &Wanted, progress: Progress<'_>) -> Ledgers<KeptDetail> {
        let none: Arc<[PrefixBreak]> = Arc::default();
        let plain = |folded| KeptDetail { folded, rows: None, breaks: Arc::clone(&none) };
        let keep = |sink, outcome| plain(folded(sink, outcome));
        // What is asked for nothing else goes the short way.
        let is_alone = |nth: usize| wanted.asks(nth);
        self.shared(progress, &Kept { asks_all: true, sink: folding, keep }, is_alone, |nth| {
            let simulation = &self.all[nth];
            let keeper = |ledger| -> Keeper {
                let rows = wanted.rows.contains(&(nth, ledger)).then(Rows::default);
                (Sums::default(), ((!simulation.is_flat).then(PriceRows::default), rows))
            };
            let mut keepers: Vec<Keeper> = (0..simulation.n_ledgers()).map(keeper).collect();
            let (outcomes, breaks) = simulation.play_seen(0, wanted.breaks, &mut keepers);
            let kept = keepers.into_iter().zip(outcomes);
            kept.map(|(it, outcome)| KeptDetail::new(it, outcome, Arc::clone(&breaks))).collect()
        })
    }

    /// Runs them all and folds the ledgers to what the profiles' prices ask for: flat prices need no more than sums.
    pub fn folded(&self, progress: Progress<'_>) -> Ledgers<FoldedLedger> {
        self.shared(progress, &for_prices(), |_| false, |_| Vec::new())
    }

    /// Plays the first trial of each, into sinks that are made for its runs; returns them in the order of the simulations.
    pub fn run_into<S: Sink + Send>(
        &self,
        cells: &[Cell],
        sink: impl Fn(&[Cell]) -> S + Sync,
    ) -> Vec<(Vec<Cell>, S, Outcome)> {
        let played = in_order(self.all.len(), |index| {
            let of_ledger = |ledger: usize| -> Vec<Cell> {
                cells.iter().copied().filter(|it| self.ledger_of(*it) == Some((index, ledger))).collect()
            };
            let runs = self.all[index].run_into(0, |ledger| sink(&of_ledger(ledger)));
            let with_cells = |(ledger, (sink, outcome))| (of_ledger(ledger), sink, outcome);
            runs.into_iter().enumerate().map(with_cells).collect::<Vec<_>>()
        });
        played.into_iter().flatten().collect()
    }

    /// Returns the simulation of a run, and which of its ledgers is the run's.
    pub fn ledger_of(&self, cell: Cell) -> Option<(usize, usize)> {
        self.place(cell).map(|it| (it.simulation, it.ledger))
    }

    /// Returns where a run finds its ledger; loads that memories play have none.
    fn place(&self, cell: Cell) -> Option<LedgerPlace> {
        self.places.get(self.within(cell)).copied()
    }
}

/// What all simulations came to.
pub struct Ledgers<L> {
    /// What was played, by trial, then by recovery.
    played: Vec<Vec<Vec<L>>>,
    /// By simulation: which of these is its own; of one without trials, none.
    of: Vec<usize>,
}

impl<L> Ledgers<L> {
    /// Returns what a run came to, trial by trial.
    pub fn of(&self, simulations: &Simulations<'_>, cell: Cell) -> impl Iterator<Item = &L> {
        let ledgers = |it: LedgerPlace| self.trials(it.simulation).iter().map(move |trial| &trial[it.ledger]);
        simulations.place(cell).into_iter().flat_map(ledgers)
    }

    /// Returns what the first trial of a simulation came to, ledger by ledger.
    pub fn of_simulation(&self, simulation: usize) -> &[L] {
        self.trials(simulation).first().map_or(&[], Vec::as_slice)
    }

    fn trials(&self, simulation: usize) -> &[Vec<L>] {
        self.of.get(simulation).and_then(|it| self.played.get(*it)).map_or(&[], Vec::as_slice)
    }

    /// Returns what a run came to at either end of what is assumed of recovery, where anything is.
    pub fn bounds_of(&self, simulations: &Simulations<'_>, cell: Cell) -> Option<AtEnds<&L>> {
        let place = simulations.place(cell)?;
        let ledgers = self.of_simulation(place.simulation);
        place.bounds.map(|it| it.map(|ledger| &ledgers[ledger]))
    }
}

/// Adds the simulations that a load needs; returns where its runs find their ledgers.
fn find<'a>(
    load: &'a Load,
    distinct: &[SimulationKey<'a>],
    has_ends: bool,
    all: &mut Vec<PlannedSimulation<'a>>,
) -> Vec<LedgerPlace> {
    let mut places = Vec::with_capacity(distinct.len() * load.policies.len());
    for &SimulationKey { limits, cache, recovery: price, counted, is_flat, profile } in distinct {
        let first = all.len();
        // Every policy of a load recovers on the same terms.
        let terms = match load.world.plays() {
            Plays::Items(recorded) => RecoveryTerms::new(
                counted.map_or(&**recorded, |it| &*it.timeline),
                price,
                load.is_sampled,
                has_ends,
            ),
            _ => RecoveryTerms::AsDeclared,
        };
        let declared = match load.world.plays() {
            Plays::Items(recorded) => counted.map_or(recorded, |it| &it.timeline).refetch.terms(End::Value),
            _ => Terms::default(),
        };
        for policy in &load.policies {
            let (play, recoveries) = match load.world.plays() {
                Plays::Items(recorded) => {
                    let timeline = counted.map_or(recorded, |it| &it.timeline);
                    let code = hindsight::code(policy, timeline, profile, limits);
                    let compiled =
                        CompiledPolicy::recovering(timeline, policy, limits, declared).with_code(code);
                    let recoveries = terms.recoveries(compiled.recovery());
                    (Play::Items(timeline, Box::new(compiled)), Some(recoveries))
                }
                Plays::Fixed(requests) => (Play::Fixed(requests), None),
                Plays::Trials => return places,
            };
            let same = all[first..].iter().position(|it| it.play.is_like(&play));
            let simulation = first + same.unwrap_or(all.len() - first);
            if simulation == all.len() {
                all.push(PlannedSimulation {
                    play,
                    recoveries: Vec::new(),
                    limits,
                    cache,
                    is_flat,
                    seed: Seed(load.seed),
                    n_trials: if load.is_sampled { saturated(load.trials) } else { 1 },
                    is_drawn: load.is_sampled,
                });
            }
            let Some((declared, at_ends)) = recoveries else {
                places.push(LedgerPlace { simulation, ledger: 0, bounds: None });
                continue;
            };
            let ledger = all[simulation].ledger(declared);
            let bounds = at_ends.map(|it| it.map(|recovery| all[simulation].ledger(recovery)));
            places.push(LedgerPlace { simulation, ledger, bounds });
        }
    }
    places
}

/// On which terms the agents of a load recover.
enum RecoveryTerms {
    /// Every call is priced alike.
    Flat,
    /// As the policy says, where needs are drawn.
    AsDeclared,
    /// As declared, and where that is asked for at the ends of what is assumed.
    Requests(Terms, Option<Box<AtEnds<Terms>>>),
}

impl RecoveryTerms {
    fn new(timeline: &Timeline, price: RecoveryPrice, is_drawn: bool, has_ends: bool) -> Self {
        let refetch = &timeline.refetch;
        let at_ends = || {
            let all = [End::Low, End::High].map(|end| refetch.terms(end));
            let each = |it| {
                let at =
                    |it: AloneAtEnd<Ends>| AloneAtEnd { played: refetch.terms(it.played), share: it.share };
                alone(refetch, it).map(at)
            };
            Box::new(AtEnds { all, each: Assumption::ALL.map(each) })
        };
        match (price, is_drawn) {
            (RecoveryPrice::Flat, _) => Self::Flat,
            (RecoveryPrice::Requests, true) => Self::AsDeclared,
            (RecoveryPrice::Requests, false) => {
                Self::Requests(refetch.terms(Ends::default()), has_ends.then(at_ends))
            }
        }
    }

    /// Returns how a policy's agent recovers: as declared, and at the ends.
    fn recoveries(&self, declared: CompiledRecovery) -> (CompiledRecovery, Option<AtEnds<CompiledRecovery>>) {
        let at = |it: Terms| declared.under(Some(it));
        match self {
            Self::Flat => (declared.under(None), None),
            Self::AsDeclared => (declared, None),
            Self::Requests(terms, ends) => (at(*terms), ends.as_ref().map(|it| it.map(at))),
        }
    }
}

/// Returns what is played for the lower and the upper end of an assumption's interval: where a cost is linear in it, the farther end for both.
fn alone(refetch: &Refetch, assumption: Assumption) -> [AloneAtEnd<Ends>; 2] {
    let ends = [End::Low, End::High].map(|it| Ends::only(assumption, it));
    let numbers = refetch.number(assumption).filter(|_| assumption.is_linear());
    let Some([value, low, high]) = numbers else {
        return ends.map(|played| AloneAtEnd { played, share: 1.0 });
    };
    let (played, far) = if high - value >= value - low { (ends[1], high) } else { (ends[0], low) };
    let share = |end: f64| if far == value { 0.0 } else { (end - value) / (far - value) };
    [low, high].map(|end| AloneAtEnd { played, share: share(end) })
}

/// Begins what prices ask for: sums, and the requests by length where prices are not flat.
fn folding(is_flat: bool) -> FoldingLedger {
    (Sums::default(), (!is_flat).then(PriceRows::default))
}

/// Folds what was played.
fn folded((sums, rows): FoldingLedger, outcome: Outcome) -> FoldedLedger {
    (sums, rows.map(Into::into), outcome)
}

impl Play<'_> {
    /// Returns whether the two make the same requests, of one load under equal limits.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Items(_, one), Self::Items(_, other)) => one.shows_like(other),
            (Self::Fixed(_), Self::Fixed(_)) => true,
            _ => false,
        }
    }
}

impl PlannedSimulation<'_> {
    /// Returns which ledger is that of a recovery, adding one where there is none yet.
    fn ledger(&mut self, recovery: CompiledRecovery) -> usize {
        let known = self.recoveries.iter().position(|it| *it == recovery);
        known.unwrap_or_else(|| {
            self.recoveries.push(recovery);
            self.recoveries.len() - 1
        })
    }

    /// Returns what a trial is drawn from: the first from the seed itself.
    fn seed_of(&self, trial: usize) -> Seed {
        match u64::try_from(trial) {
            Ok(0) | Err(_) => self.seed,
            Ok(trial) => self.seed.child("trial", trial),
        }
    }

    /// Plays one trial into sinks of one kind.
    fn run<S: Sink>(&self, trial: usize, sink: impl Fn() -> S) -> impl Iterator<Item = (S, Outcome)> {
        let mut sinks: Vec<S> = (0..self.n_ledgers()).map(|_| sink()).collect();
        let outcomes = self.play(trial, &mut sinks);
        sinks.into_iter().zip(outcomes)
    }

    /// Plays one trial into sinks that the caller makes, one for each ledger.
    fn run_into<S: Sink>(&self, trial: usize, sink: impl Fn(usize) -> S) -> Vec<(S, Outcome)> {
        let mut sinks: Vec<S> = (0..self.n_ledgers()).map(sink).collect();
        let outcomes = self.play(trial, &mut engine::erased(&mut sinks));
        sinks.into_iter().zip(outcomes).collect()
    }

    /// Plays one trial into a sink for each ledger, and looks for broken prefixes where that is asked for.
    fn play_seen<S: Sink>(
        &self,
        trial: usize,
        breaks: bool,
        sinks: &mut [S],
    ) -> (Vec<Outcome>, Arc<[PrefixBreak]>) {
        let Play::Items(timeline, compiled) = &self.play else {
            return (self.play(trial, sinks), Arc::default());
        };
        let seen = || engine::Simulation::compiled(timeline, compiled, self.cache);
        match (breaks && trial == 0, self.is_drawn) {
            (false, _) => (self.play(trial, sinks), Arc::default()),
            (true, false) => {
                let (outcome, found) = explain::found_breaks(seen().recovering(&self.recoveries), sinks);
                (vec![outcome; self.recoveries.len()], found.into())
            }
            // Prefixes are compared where nothing is drawn, so that draws change nothing.
            (true, true) => {
                let mut sums = [Sums::default()];
                let (_, found) = explain::found_breaks(seen().recovering(&self.recoveries[..1]), &mut sums);
                (self.play(trial, sinks), found.into())
            }
        }
    }

    /// Returns how many ledgers a trial has: one for each recovery, or that of a block trace.
    fn n_ledgers(&self) -> usize {
        match &self.play {
            Play::Items(..) => self.recoveries.len(),
            Play::Fixed(_) => 1,
        }
    }

    /// Plays one trial into a sink for each ledger.
    fn play<S: Sink>(&self, trial: usize, sinks: &mut [S]) -> Vec<Outcome> {
        let Self { limits, cache, recoveries, .. } = self;
        match &self.play {
            // What is fetched is in the prompts, so each recovery is a run of its own.
            Play::Items(timeline, compiled) if self.is_drawn => {
                let ledgers = recoveries.iter().zip(sinks);
                let drawn = ledgers.map(|(recovery, sink)| {
                    let play =
                        engine::Simulation::compiled(timeline, compiled, cache).recovering(&[*recovery]);
                    play.drawn(self.seed_of(trial)).run(sink)
                });
                drawn.collect()
            }
            Play::Items(timeline, compiled) => {
                let play = engine::Simulation::compiled(timeline, compiled, cache).recovering(recoveries);
                vec![play.run_each(sinks); recoveries.len()]
            }
            Play::Fixed(requests) => sinks.iter_mut().map(|it| requests.replay(limits, cache, it)).collect(),
        }
    }
}
