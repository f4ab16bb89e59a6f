//! What later needs and probes ask of each item, and until when: full knowledge, which no agent has.

use crate::prelude::*;
use ctxsim_timeline::{Due, Level, Need, When};

/// Until when something is asked of an item; `None` when it is not, or no more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastAsked {
    /// All of it.
    pub(super) whole: Option<Time>,
    /// An exact excerpt.
    pub(super) exact: Option<Time>,
    pub(super) handle: Option<Time>,
}

/// A place in the order of events: the step, and which of its moments.
pub(super) type Time = (StepIx, u8);

/// What is asked when the load is over.
const AT_THE_END: Time = (StepIx::MAX, u8::MAX);

/// The place of what is asked behind the stages of a step's moments.
const AFTER_STAGES: u8 = 3;

/// The request's own place among the moments of a step: the needs of its start are over.
pub(super) const REQUEST: u8 = 1;

/// Returns what is asked of each item of a timeline.
pub(super) fn asked(timeline: &Timeline) -> Vec<LastAsked> {
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
            Level::ContinuationHandle => &mut self.handle,
            Level::ExactEvidence => &mut self.exact,
            Level::LocalDetail | Level::RawContent => &mut self.whole,
        };
        *until = (*until).max(Some(time));
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
