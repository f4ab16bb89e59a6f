//! Plays that several simulations share.
//!
//! Where neither limits nor cache rules change what a policy shows, it is played once, and each cache answers the same requests.

use crate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{FoldingLedger, Ledgers, PlannedSimulation, Play, Simulations, folded, folding};
use crate::engine::Simulation;
use crate::recovery::CompiledRecovery;
use crate::take::Progress;
use crate::take::play::FoldedLedger;
use crate::take::threads::in_order;

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
pub(super) struct Kept<M, K> {
    /// Whether each cache answers, or one for all.
    pub(super) asks_all: bool,
    /// Makes a sink for prices that are flat or not.
    pub(super) sink: M,
    /// Makes of a sink what is kept.
    pub(super) keep: K,
}

/// Keeps what prices ask for.
pub(super) fn for_prices()
-> Kept<impl Fn(bool) -> FoldingLedger + Sync, impl Fn(FoldingLedger, Outcome) -> FoldedLedger + Sync> {
    Kept { asks_all: true, sink: folding, keep: folded }
}

impl Simulations<'_> {
    /// Plays ledgers that are open once more with drawn needs, as often as is declared: of those that share their prompts, each trial is played
    /// once, and every cache answers it. Returns what they came to, by simulation and ledger.
    pub(in crate::take) fn drawn(
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
    pub(super) fn shared<S: Sink, L: Send>(
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
    fn groups(
        &self,
        among: impl Iterator<Item = usize>,
        is_alone: &impl Fn(usize) -> bool,
    ) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for nth in among {
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
