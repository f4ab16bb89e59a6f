//! A schedule in hindsight: drops what will never be asked again when that is cheapest, behind the place where that is cheapest.
//!
//! It assumes that what is asked later is all that is needed, and that entries live for so long after their last use. It keeps every item that is needed as
//! it came, and never shortens one. What it assumes of the cache may be wrong of a profile: [`crate::hindsight`] plays several schedules and
//! takes the cheapest.

use crate::prelude::*;

use super::schedule::{Clear, SchedulePrices, ScheduledItem, cheapest, cost};
use super::{LastAsked, asked};
use ctxsim_input::ScheduleFor;

/// Knows all needs, and clears by a schedule that was made for them; the default keeps everything.
#[derive(Clone, Debug, Default)]
pub struct Hindsight {
    /// By step: the items to drop before its request.
    drops: Vec<Vec<ItemIx>>,
    /// How many steps' drops are done.
    n_done: usize,
}

impl Hindsight {
    /// Finds the schedule, session by session.
    pub fn new(timeline: &Timeline, made_for: &ScheduleFor) -> Self {
        let mut drops = vec![Vec::new(); timeline.spine.steps.len()];
        let dead = deaths(&timeline.spine, &asked(timeline));
        for steps in segments(timeline) {
            let load = ScheduledLoad::new(timeline, &dead, steps.clone());
            for clear in cheapest(&load.units, &load.prices(timeline, made_for)) {
                drops[steps.start + clear.request].extend(load.cleared(clear));
            }
        }
        Self { drops, n_done: 0 }
    }
}

impl Projector for Hindsight {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let step = edit.prompt().arrived().steps as usize;
        while self.n_done <= step {
            let items = self.drops.get_mut(self.n_done).map(std::mem::take).unwrap_or_default();
            self.n_done += 1;
            edit.prompt.touch(items.len() as u64);
            for item in items {
                if let Some(slot) = edit.prompt().history().slot_of(item) {
                    edit.take_out(slot);
                }
            }
        }
    }
}

/// Returns what the cheapest schedules found cost, session by session, in the unit of the prices that they are made for: in a cache that has
/// an entry wherever one is of use, and none of messages at the requests that are told.
pub(super) fn cheapest_cost(
    timeline: &Timeline,
    made_for: &ScheduleFor,
    is_renewed: impl Fn(usize) -> bool,
) -> u128 {
    let dead = deaths(&timeline.spine, &asked(timeline));
    let of = |steps: Range<usize>| {
        let load = ScheduledLoad::new(timeline, &dead, steps.clone());
        let mut prices = load.prices(timeline, made_for);
        let front: u64 = load.units.iter().take(load.n_system).map(|it| it.tokens).sum();
        // Tools and system prompt are read even then.
        let mut kept = 0;
        for (price, _) in prices.kept.iter_mut().zip(steps).filter(|it| is_renewed(it.1)) {
            kept += u128::from(front) * u128::from(prices.write.saturating_sub(*price));
            *price = prices.write.max(*price);
        }
        cost(&load.units, &prices, &cheapest(&load.units, &prices)).saturating_sub(kept)
    };
    segments(timeline).into_iter().map(of).sum()
}

/// A session, or what lies between two compactions of its harness, as its schedule sees it.
struct ScheduledLoad {
    units: Vec<ScheduledItem>,
    /// By unit: the item that is dropped.
    items: Vec<ItemIx>,
    /// How many units stand in front of all messages.
    n_system: usize,
    steps: Range<usize>,
}

impl ScheduledLoad {
    fn new(timeline: &Timeline, dead: &[usize], steps: Range<usize>) -> Self {
        let spine = &timeline.spine;
        let gone = gone(timeline);
        let all = (0..spine.items.len()).filter_map(|it| ItemIx::try_from(it).ok());
        let is_there = |it: &ItemIx| first_shown(spine, *it) < steps.end && gone[*it as usize] > steps.start;
        let mut load = Self { units: Vec::new(), items: Vec::new(), n_system: 0, steps: steps.clone() };
        for index in all.filter(is_there) {
            let item = &spine.items[index as usize];
            // A call goes with its result, and stands in front of it.
            let result = Some(item.pair).filter(|it| item.kind == Kind::ToolCall && *it != NO_ITEM);
            let dead_at = dead[result.unwrap_or(index) as usize];
            // What stands behind the system prompt and the tools may be no entry's end, although no turn takes it away.
            let is_first = load.n_system == load.units.len();
            load.n_system += usize::from(
                is_first && index < spine.n_stable && matches!(item.kind, Kind::System | Kind::ToolSchema),
            );
            load.units.push(ScheduledItem {
                arrives: first_shown(spine, index).saturating_sub(steps.start),
                dead: dead_at.saturating_sub(steps.start),
                tokens: item.raw.into(),
            });
            load.items.push(result.unwrap_or(index));
        }
        load
    }

    /// Returns what is paid: the cache has lost a prompt that was sent too long ago.
    fn prices(&self, timeline: &Timeline, made_for: &ScheduleFor) -> SchedulePrices {
        let ScheduleFor { read, write, ttl_ms, rewrites_all } = *made_for;
        let steps = &timeline.spine.steps[self.steps.clone()];
        let idle =
            |nth: usize| nth.checked_sub(1).map_or(0, |it| steps[nth].at_ms.saturating_sub(steps[it].at_ms));
        let is_cold = |nth: usize| {
            let idle = u64::try_from(idle(nth)).unwrap_or(0);
            ttl_ms.is_some_and(|it| idle > it)
        };
        let kept = (0..steps.len()).map(|it| if is_cold(it) { write } else { read }).collect();
        SchedulePrices { kept, write, breaks_at: rewrites_all.then_some(self.n_system) }
    }

    /// Returns the items that a clear drops, each once.
    fn cleared(&self, clear: Clear) -> Vec<ItemIx> {
        let units = self.units.iter().zip(&self.items).skip(clear.place);
        let gone = units.filter(|(it, _)| it.arrives <= clear.request && it.dead <= clear.request);
        let mut items: Vec<ItemIx> = gone.map(|it| *it.1).collect();
        items.sort_unstable();
        items.dedup();
        items
    }
}

/// Returns the steps of each session, parted where its harness took something out of the history.
fn segments(timeline: &Timeline) -> Vec<Range<usize>> {
    let spine = &timeline.spine;
    let of_turn = |turn: u32| spine.turns.get(turn as usize).map(|it| it.steps.clone()).unwrap_or_default();
    let mut cuts: Vec<usize> =
        spine.sessions.iter().map(|it| of_turn(it.turns.start).start as usize).collect();
    cuts.extend(resets(timeline).map(|it| it.0));
    cuts.extend([0, spine.steps.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|it| it[0]..it[1]).collect()
}

/// Returns what the harness took out: the first step without it, and the items.
fn resets(timeline: &Timeline) -> impl Iterator<Item = (usize, Range<ItemIx>)> {
    timeline.events.iter().filter_map(|it| match &it.kind {
        EventKind::Reset(items) => Some((timeline.spine.step_at(it.at) as usize, items.clone())),
        _ => None,
    })
}

/// Returns, by item, the first step without it, whatever a policy does: behind its session, or where the harness takes it out.
pub(super) fn gone(timeline: &Timeline) -> Vec<usize> {
    let spine = &timeline.spine;
    let mut gone = vec![usize::MAX; spine.items.len()];
    for session in spine.sessions.iter().skip(1) {
        let first = spine.turns.get(session.turns.start as usize).map_or(0, |it| it.steps.start as usize);
        let n_before = spine.turns.get(session.turns.start as usize).map_or(0, |it| it.items.start);
        for item in spine.n_stable..n_before {
            gone[item as usize] = gone[item as usize].min(first);
        }
    }
    for (step, items) in resets(timeline) {
        for item in items.filter(|it| (*it as usize) < spine.items.len()).map(|it| it as usize) {
            gone[item] = gone[item].min(step);
        }
    }
    gone
}

/// Returns the first request that shows an item: its step's own for what stands in front of its reply.
pub(super) fn first_shown(spine: &Spine, index: ItemIx) -> usize {
    let item = &spine.items[index as usize];
    let step = item.step_ix as usize;
    let is_answer = spine.steps.get(step).is_some_and(|it| index >= it.reply.start && index < it.results.end);
    step + usize::from(is_answer)
}

/// Returns, by item, the first request that need not show it: never for what always stands there.
pub(super) fn deaths(spine: &Spine, asked: &[LastAsked]) -> Vec<usize> {
    let mut dead = vec![usize::MAX; spine.items.len()];
    let mut read = |items: Range<ItemIx>, at: StepIx| {
        for it in items {
            dead[it as usize] = at as usize;
        }
    };
    for row in &spine.turns {
        read(row.user.clone(), row.steps.end);
        for step in row.steps.clone() {
            let it = &spine.steps[step as usize];
            read(it.reply.start..it.results.end, step + 2);
        }
    }
    for (at, asked) in dead.iter_mut().zip(asked) {
        if let Some((step, _)) = asked.until(0) {
            // What is asked at a request or behind it has to stand there.
            *at = if step == StepIx::MAX { usize::MAX } else { (*at).max(step as usize + 1) };
        }
    }
    dead
}
