//! Policies that are code and not stages, found by the name that a policy file gives.

pub mod bound;
pub mod hindsight;
pub mod schedule;

use crate::own::{CodeInputs, Own};
use crate::prelude::*;
use crate::projection::Rendered;
use ctxsim_input::Builtin;
use ctxsim_timeline::{Due, Level, Need, When};

pub use hindsight::Hindsight;

/// Returns the projector of a name, made ready for a timeline.
pub fn projector<'t>(code: &Builtin, made: CodeInputs<'t>) -> Box<dyn Projector + 't> {
    match code {
        Builtin::Clairvoyant => Box::new(Clairvoyant::new(made.timeline)),
        // Without a profile's prices no schedule is known to be cheaper than keeping everything.
        Builtin::Hindsight => Box::new(Hindsight::default()),
        Builtin::Schedule(made_for) => Box::new(Hindsight::new(made.timeline, made_for)),
        Builtin::Own(own) => {
            Own::from_code(own).map_or_else(|| Box::new(Hindsight::default()) as _, |it| it.projector(made))
        }
    }
}

// What later needs and probes ask of each item, and until when: full knowledge, which no agent has.

/// Until when something is asked of an item, `None` when it is not or no more: its handle, an exact excerpt, and all of it.
#[derive(Clone, Copy, Debug, Default)]
struct LastAsked([Option<Time>; 3]);

/// A place in the order of events: the step, and which of its moments.
type Time = (StepIx, u8);

/// What is asked when the load is over.
const AT_THE_END: Time = (StepIx::MAX, u8::MAX);

/// The place of what is asked behind the stages of a step's moments.
const AFTER_STAGES: u8 = 3;

/// The request's own place among the moments of a step: the needs of its start are over.
const REQUEST: u8 = 1;

/// Returns what is asked of each item of a timeline.
fn asked(timeline: &Timeline) -> Vec<LastAsked> {
    let spine = &timeline.spine;
    let mut asked = vec![LastAsked::default(); spine.items.len()];
    for (index, row) in spine.turns.iter().enumerate() {
        let last = row.steps.end.saturating_sub(1).max(row.steps.start);
        let turn_ix = ix(index);
        let before_answer = if row.steps.is_empty() { None } else { spine.steps.get(last as usize) };
        let before_answer = before_answer.map_or(row.items.end, |it| it.reply.start);
        let moments = [
            (Due::TurnStart, (row.steps.start, 0), row.user.end),
            (Due::Answer, (last, 2), before_answer),
            (Due::TurnEnd, (last, 3), row.items.end),
        ];
        for (due, time, end) in moments {
            let needs = timeline.needs.due(turn_ix, due).iter().filter(|it| it.weight > 0.0);
            needs.for_each(|it| ask_turn(spine, it, time, end, &mut asked));
        }
    }
    for it in timeline.needs.of_items().iter().filter(|it| it.need.weight > 0.0) {
        if let Some(asked) = asked.get_mut(it.inferred.item as usize) {
            let has_handle = it.evidence.has_handle;
            let level = if has_handle { it.need.level } else { it.need.level.max(Level::RawContent) };
            asked.ask(level, (it.inferred.step, REQUEST));
        }
    }
    ask_users(timeline, &mut asked);
    if let Some(plane) = &timeline.facts {
        for probe in &plane.probes {
            let item = plane.plants.get(probe.plant as usize).map_or(NO_ITEM, |it| it.item);
            if let Some(asked) = asked.get_mut(item as usize) {
                let is_last = probe.at == When::END;
                let at = if is_last { AT_THE_END } else { (spine.step_at(probe.at), AFTER_STAGES) };
                asked.ask(Level::RawContent, at);
            }
        }
    }
    asked
}

/// Notes until when users' messages are needed: by their turn, and by every later turn of their session if one may need them.
fn ask_users(timeline: &Timeline, asked: &mut [LastAsked]) {
    let Some(terms) = timeline.users else { return };
    let spine = &timeline.spine;
    for session in &spine.sessions {
        let turns = spine.turns.get(session.turns.start as usize..session.turns.end as usize);
        let turns = turns.unwrap_or_default();
        let end = turns.last().map_or(0, |it| it.steps.end);
        for row in turns {
            let until = if terms.earlier[2] > 0.0 { end } else { row.steps.end };
            for item in row.user.clone() {
                let is_said = matches!(spine.items[item as usize].kind, Kind::User | Kind::Summary);
                if let Some(last) = until.checked_sub(1).filter(|_| is_said) {
                    asked[item as usize].ask(Level::RawContent, (last, REQUEST));
                }
            }
        }
    }
}

impl LastAsked {
    /// Notes that a level is asked at a time.
    fn ask(&mut self, level: Level, time: Time) {
        let until = match level {
            Level::None | Level::GlobalConclusion => return,
            Level::ContinuationHandle => 0,
            Level::ExactEvidence => 1,
            Level::LocalDetail | Level::RawContent => 2,
        };
        self.0[until] = self.0[until].max(Some(time));
    }

    /// Returns until when at least a handle, an excerpt or the whole of it is asked.
    fn until(&self, level: usize) -> Option<Time> {
        self.0.into_iter().skip(level).flatten().max()
    }
}

/// Notes what a need asks of those results of its turn that have come by then: of all, or of the smallest that will do.
fn ask_turn(spine: &Spine, need: &Need, time: Time, end: ItemIx, asked: &mut [LastAsked]) {
    let Some(row) = spine.turns.get(need.source as usize) else { return };
    let item = |it: &ItemIx| &spine.items[*it as usize];
    let items = row.items.start..row.items.end.min(end);
    let results = items.filter(|it| item(it).kind == Kind::ToolResult);
    let asks: Vec<ItemIx> = match need.level {
        Level::None | Level::GlobalConclusion => Vec::new(),
        Level::ContinuationHandle => {
            results.filter(|it| item(it).handle > 0).min_by_key(|it| item(it).handle).into_iter().collect()
        }
        Level::LocalDetail => results.min_by_key(|it| item(it).raw).into_iter().collect(),
        Level::ExactEvidence => results.filter(|it| item(it).preserve.is_exact()).collect(),
        Level::RawContent => results.collect(),
    };
    for it in asks {
        asked[it as usize].ask(need.level, time);
    }
}

// Full knowledge of later needs: keeps what some later need or probe of positive weight asks, at the level asked.
//
// No policy can know more, so it shows what better selection could keep. It is not a lower bound on cost: each of its edits
// breaks the cached prefix, which can cost more than keeping everything.

/// Knows the whole load in advance, and still may cost more than a policy that edits nothing.
///
/// What the active turn is about stays as it came until it has been read: the user's message until the turn is over, a step
/// until the request after it is out.
#[derive(Clone, Debug)]
pub struct Clairvoyant {
    /// By item: what is asked of it, and until when.
    asked: Vec<LastAsked>,
    /// By step: the items to look at before its request.
    reviews: Vec<Vec<ItemIx>>,
    /// How many steps' reviews are done.
    n_reviewed: usize,
}

impl Clairvoyant {
    /// Looks ahead.
    pub fn new(timeline: &Timeline) -> Self {
        let spine = &timeline.spine;
        let asked = asked(timeline);
        let reviews = reviews(spine, &asked);
        Self { asked, reviews, n_reviewed: 0 }
    }

    /// Shows an item as it is still asked for from a time on.
    fn review(&self, index: ItemIx, now: Time, edit: &mut Editor<'_, '_>) {
        if index >= edit.prompt().len() {
            return;
        }
        let (item, asked) = (edit.prompt().item(index), &self.asked[index as usize]);
        let is_asked = |level: usize| asked.until(level).is_some_and(|it| it >= now);
        if is_asked(2) {
            return;
        }
        if is_asked(1) {
            let tokens = item.excerpt.saturating_add(item.handle).min(item.raw);
            edit.shrink(index, Rendered::sized(ShownAs::Exact, tokens, item.preserve.is_exact()));
        } else if is_asked(0) {
            edit.shrink(index, Rendered::sized(ShownAs::Handle, item.handle.min(item.raw), false));
        } else {
            edit.take_out(index);
        }
    }
}

impl Projector for Clairvoyant {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        if moment != Moment::Request {
            return;
        }
        let step: StepIx = saturated(edit.prompt().arrived().steps);
        while self.n_reviewed <= step as usize {
            let items = self.reviews.get_mut(self.n_reviewed).map(std::mem::take).unwrap_or_default();
            self.n_reviewed += 1;
            edit.prompt.touch(items.len() as u64);
            items.into_iter().for_each(|it| self.review(it, (step, REQUEST), edit));
        }
    }
}

/// Returns, by step, which items to look at: what has just been read, and what has just been asked for the last time.
fn reviews(spine: &Spine, asked: &[LastAsked]) -> Vec<Vec<ItemIx>> {
    let mut reviews = vec![Vec::new(); spine.steps.len() + 1];
    let mut at = |step: StepIx, item: ItemIx| {
        if let Some(items) = reviews.get_mut(step as usize) {
            items.push(item);
        }
    };
    for row in &spine.turns {
        row.user.clone().for_each(|it| at(row.steps.end, it));
        for step in row.steps.clone() {
            let it = &spine.steps[step as usize];
            // A call goes with its result.
            let is_led = |it: &ItemIx| {
                let item = &spine.items[*it as usize];
                item.kind == Kind::ToolCall && item.pair != NO_ITEM
            };
            (it.reply.start..it.results.end).filter(|it| !is_led(it)).for_each(|it| at(step + 2, it));
        }
    }
    for (index, asked) in asked.iter().enumerate() {
        let item = ix(index);
        let read_at = spine.items[index].step_ix.saturating_add(2);
        for (step, _) in asked.0.into_iter().flatten() {
            at(step.saturating_add(1).max(read_at), item);
        }
    }
    reviews
}
