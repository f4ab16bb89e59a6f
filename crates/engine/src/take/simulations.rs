//! The simulations of a load: runs whose requests are bound to be the same share one.
//!
//! **Price comes after the ledger.** A simulation is keyed by timeline, compiled policy, cache rules, limits, and how recovery is priced.
//! Its ledger folds to `Sums`, and one `Sums` is priced under every profile that shares the key. DuckAgent's nine profiles have six
//! distinct limits, so this saves a third of the work. The key holds the *compiled* program, not the policy's name: policies that compile
//! to the same program under the limits are simulated once. Policies that differ only in how the agent recovers share a simulation and get
//! one ledger each, because expected recovery never changes a prompt (`take/simulations.rs`). Simulations whose prompts differ neither in
//! limits nor in cache rules share a play: each cache answers the same requests, and a limit that no request comes to needs no play of its
//! own (`Simulations::shared`). Under a profile whose models count tokens differently (`input/profile/family.rs`), a recording's
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

use crate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::ends::{AtEnds, RecoveryTerms};
use super::load::{Keys, SimulationKey};
use super::play::{FoldedLedger, Keeper, KeptDetail, Wanted};
use super::threads::in_order;
use super::world::{Fixed, Plays};
use super::{Cell, Load, Progress};
use crate::engine::{CompiledPolicy, Simulation, erased};
use crate::explain::{self, PrefixBreak};
use crate::hindsight;
use crate::price::PriceRows;
use crate::recovery::{CompiledRecovery, End, Terms};

/// The simulations of a load, and where each run finds its own.
pub struct Simulations<'a> {
    all: Vec<PlannedSimulation<'a>>,
    /// By pair of limits and cache rules, then by policy; conversations have none, because they are played trial by
    /// trial.
    places: Vec<LedgerPlace>,
    /// What the profiles ask.
    pub keys: Keys<'a>,
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

impl<'a> Simulations<'a> {
    /// Finds what has to be played, with what is assumed of recovery as it is declared.
    pub fn new(load: &'a Load) -> Self {
        Self::of_load(load, false)
    }

    /// Finds what has to be played; what is assumed of recovery may be at the ends of its intervals, too: all of it together, and each
    /// assumption alone.
    pub(super) fn of_load(load: &'a Load, has_ends: bool) -> Self {
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
        let outcomes = self.play(trial, &mut erased(&mut sinks));
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
        let seen = || Simulation::compiled(timeline, compiled, self.cache);
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
                    let play = Simulation::compiled(timeline, compiled, cache).recovering(&[*recovery]);
                    play.drawn(self.seed_of(trial)).run(sink)
                });
                drawn.collect()
            }
            Play::Items(timeline, compiled) => {
                let play = Simulation::compiled(timeline, compiled, cache).recovering(recoveries);
                vec![play.run_each(sinks); recoveries.len()]
            }
            Play::Fixed(requests) => sinks.iter_mut().map(|it| requests.replay(limits, cache, it)).collect(),
        }
    }
}

// Plays that several simulations share.
//
// Where neither limits nor cache rules change what a policy shows, it is played once, and each cache answers the same requests.

/// What some simulations came to, recovery by recovery: all of them to the same.
type SameLedgers<L> = (Vec<usize>, Vec<L>);

/// How the agents of a play recover: each way has a ledger of its own.
#[derive(Clone, Copy)]
struct Recovering<'r> {
    ways: &'r [CompiledRecovery],
    /// What the needs are drawn from, where they are.
    drawn_from: Option<Seed>,
}

/// A trial with drawn needs of simulations that share their prompts.
struct DrawnTrial {
    members: Vec<usize>,
    /// The ledger whose recovery is played.
    ledger: usize,
    trial: u64,
}

/// What is kept of plays.
struct Kept<M, K> {
    /// Whether each cache answers, or one for all.
    asks_all: bool,
    /// Makes a sink for prices that are flat or not.
    sink: M,
    /// Makes of a sink what is kept.
    keep: K,
}

/// Keeps what prices ask for.
fn for_prices()
-> Kept<impl Fn(bool) -> FoldingLedger + Sync, impl Fn(FoldingLedger, Outcome) -> FoldedLedger + Sync> {
    Kept { asks_all: true, sink: folding, keep: folded }
}

impl Simulations<'_> {
    /// Plays ledgers that are open once more with drawn needs, as often as is declared: of those that share their prompts, each trial is played
    /// once, and every cache answers it. Returns what they came to, by simulation and ledger.
    pub(super) fn drawn(
        &self,
        is_open: impl Fn(usize, usize) -> bool,
        progress: Progress<'_>,
    ) -> BTreeMap<(usize, usize), Vec<Arc<FoldedLedger>>> {
        let mut trials: Vec<DrawnTrial> = Vec::new();
        // Sweeps have a thousand simulations and often none that is drawn, and looking for what is alike takes the square of their number.
        let is_drawn = |nth: &usize| (0..self.all[*nth].recoveries.len()).any(|ledger| is_open(*nth, ledger));
        for group in self.groups((0..self.all.len()).filter(is_drawn), &|_| false) {
            let Some(first) = group.first().map(|nth| &self.all[*nth]) else { continue };
            let Play::Items(timeline, _) = &first.play else { continue };
            for (ledger, recovery) in first.recoveries.iter().enumerate() {
                let is_declared = recovery.terms().is_some_and(|terms| terms.is_declared);
                let is_member = |nth: &usize| is_declared && is_open(*nth, ledger);
                let members: Vec<usize> = group.iter().copied().filter(is_member).collect();
                let n_trials = if members.is_empty() { 0 } else { timeline.refetch.played_trials() };
                for trial in 0..n_trials {
                    trials.push(DrawnTrial { members: members.clone(), ledger, trial });
                }
            }
        }
        let played = in_order(trials.len(), |nth| {
            let DrawnTrial { members, ledger, trial } = &trials[nth];
            let first = &self.all[members[0]];
            let how = Recovering {
                ways: &first.recoveries[*ledger..=*ledger],
                drawn_from: Some(first.seed.child("recovery trial", *trial)),
            };
            let played = self.play_shared(members, how, &for_prices());
            progress(self.n_runs(), self.n_runs());
            played
        });
        let mut all: BTreeMap<(usize, usize), Vec<Arc<FoldedLedger>>> = BTreeMap::new();
        for (DrawnTrial { ledger, .. }, played) in trials.iter().zip(played) {
            for (members, ledgers) in played {
                for one in ledgers.into_iter().map(Arc::new) {
                    for member in &members {
                        all.entry((*member, *ledger)).or_default().push(Arc::clone(&one));
                    }
                }
            }
        }
        all
    }

    /// Plays them all, trial by trial, and collects their ledgers; what is to be played alone is, in its first trial by the caller.
    fn shared<S: Sink, L: Send>(
        &self,
        progress: Progress<'_>,
        kept: &Kept<impl Fn(bool) -> S + Sync, impl Fn(S, Outcome) -> L + Sync>,
        is_alone: impl Fn(usize) -> bool + Sync,
        alone: impl Fn(usize) -> Vec<L> + Sync,
    ) -> Ledgers<L> {
        let groups = self.groups(0..self.all.len(), &is_alone);
        let trials = |it: &Vec<usize>| it.first().map_or(0, |first| self.all[*first].n_trials);
        let pieces = groups.iter().flat_map(|it| (0..trials(it)).map(move |trial| (&it[..], trial)));
        let pieces: Vec<(&[usize], usize)> = pieces.collect();
        let (n_all, n_done) = (self.n_runs(), AtomicUsize::new(0));
        let done = in_order(pieces.len(), |nth| {
            let played = match pieces[nth] {
                ([one], 0) if is_alone(*one) => vec![(vec![*one], alone(*one))],
                ([one], trial) => {
                    let simulation = &self.all[*one];
                    let ledgers = simulation.run(trial, || (kept.sink)(simulation.is_flat));
                    vec![(vec![*one], ledgers.map(|(sink, outcome)| (kept.keep)(sink, outcome)).collect())]
                }
                (members, _) => self.play_shared(members, self.expected(members), kept),
            };
            // Whoever waits is told of simulations, however many of them were one play.
            pieces[nth].0.iter().for_each(|_| progress(n_done.fetch_add(1, Relaxed) + 1, n_all));
            played
        });
        let mut ledgers = Ledgers { played: Vec::new(), of: vec![usize::MAX; self.all.len()] };
        for ((_, trial), of_piece) in pieces.iter().zip(done) {
            for (members, of_trial) in of_piece {
                match ledgers.played.last_mut().filter(|_| *trial > 0) {
                    Some(before) => before.push(of_trial),
                    None => {
                        members.iter().for_each(|it| ledgers.of[*it] = ledgers.played.len());
                        ledgers.played.push(vec![of_trial]);
                    }
                }
            }
        }
        ledgers
    }

    /// Returns how the agents of simulations recover that share a play in which nothing is drawn.
    fn expected(&self, members: &[usize]) -> Recovering<'_> {
        let ways = members.first().map_or(&[][..], |it| &self.all[*it].recoveries);
        Recovering { ways, drawn_from: None }
    }

    /// Collects those of some simulations that share a play.
    fn groups(&self, of: impl Iterator<Item = usize>, is_alone: &impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for nth in of {
            let is_like = |first: &usize| !is_alone(*first) && self.all[*first].plays_like(&self.all[nth]);
            match groups.iter_mut().find(|group| !is_alone(nth) && group.first().is_some_and(is_like)) {
                Some(group) => group.push(nth),
                None => groups.push(vec![nth]),
            }
        }
        groups
    }

    /// Plays simulations that share their prompts: within the widest of their limits, which is what those come to that are not reached,
    /// and once more for each of the others.
    fn play_shared<S: Sink, L>(
        &self,
        members: &[usize],
        how: Recovering<'_>,
        kept: &Kept<impl Fn(bool) -> S, impl Fn(S, Outcome) -> L>,
    ) -> Vec<SameLedgers<L>> {
        let limits_of = |it: &usize| self.all[*it].limits;
        let Some(widest) = members.iter().map(limits_of).copied().reduce(wider) else { return Vec::new() };
        let (mut all, longest) = self.play_within(&widest, members, how, kept);
        let holds = |it: &usize| *limits_of(it) == widest || is_kept(limits_of(it), longest);
        let mut reached: Vec<usize> = members.iter().copied().filter(|it| !holds(it)).collect();
        for (members, _) in &mut all {
            members.retain(holds);
        }
        all.retain(|it| !it.0.is_empty());
        while let Some(limits) = reached.first().map(limits_of) {
            let (own, others) = reached.iter().partition(|it| limits_of(it) == limits);
            reached = others;
            all.extend(self.play_within(limits, &own, how, kept).0);
        }
        all
    }

    /// Plays simulations that share their prompts within the same limits; returns the most tokens of a prompt and of a reply, too.
    fn play_within<S: Sink, L>(
        &self,
        limits: &Limits,
        members: &[usize],
        how: Recovering<'_>,
        kept: &Kept<impl Fn(bool) -> S, impl Fn(S, Outcome) -> L>,
    ) -> (Vec<SameLedgers<L>>, [Tokens; 2]) {
        let mut lanes: Vec<(&CacheRules, Vec<usize>)> = Vec::new();
        for it in members {
            let rules = self.all[*it].cache;
            match lanes.iter_mut().find(|lane| !kept.asks_all || lane.0 == rules) {
                Some(lane) => lane.1.push(*it),
                None => lanes.push((rules, vec![*it])),
            }
        }
        let Some(PlannedSimulation { play: Play::Items(timeline, compiled), cache, .. }) =
            members.first().map(|it| &self.all[*it])
        else {
            return (Vec::new(), [0; 2]);
        };
        let rules: Vec<&CacheRules> = lanes.iter().map(|it| it.0).collect();
        let compiled = compiled.clone().within(*limits);
        let play = Simulation::compiled(timeline, &compiled, cache).recovering(how.ways).under(&rules);
        let play = if let Some(seed) = how.drawn_from { play.drawn(seed) } else { play };
        let are_flat = lanes.iter().map(|it| it.1.iter().all(|it| self.all[*it].is_flat));
        let sinks = are_flat.flat_map(|it| std::iter::repeat_n(it, how.ways.len()));
        let mut sinks: Vec<S> = sinks.map(&kept.sink).collect();
        let (outcome, longest) = play.run_measured(&mut sinks);
        let mut ledgers = sinks.into_iter().map(|it| (kept.keep)(it, outcome.clone()));
        let of_lane = |(_, members)| (members, ledgers.by_ref().take(how.ways.len()).collect());
        (lanes.into_iter().map(of_lane).collect(), longest)
    }
}

impl PlannedSimulation<'_> {
    /// Returns whether another differs in its limits and cache rules at most, and these change no prompt.
    fn plays_like(&self, other: &Self) -> bool {
        let (Play::Items(one, policy), Play::Items(same, like)) = (&self.play, &other.play) else {
            return false;
        };
        std::ptr::eq(*one, *same)
            && !self.is_drawn
            && one.facts.is_none()
            && policy.plays_alike_under(self.cache, other.cache)
            && self.recoveries == other.recoveries
            && policy.shows_like(like)
    }
}

/// Returns the limits that keep within neither.
fn wider(one: Limits, other: Limits) -> Limits {
    Limits {
        prompt: one.prompt.max(other.prompt),
        window: one.window.max(other.window),
        output: one.output.max(other.output),
    }
}

/// Returns whether a prompt and a reply of so many tokens keep within limits.
fn is_kept(limits: &Limits, [prompt, output]: [Tokens; 2]) -> bool {
    prompt <= limits.prompt && output <= limits.output
}
