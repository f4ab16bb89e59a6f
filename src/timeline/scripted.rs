//! Turns that are written out, one by one or as patterns, as a timeline.

use indexmap::IndexMap;

use super::evidence::{Recover, normalised, turns_back};
use super::facts::Form;
use super::{Due, Kind, Level, Need, NewItem, Sizes, Timeline, TimelineBuilder};
use crate::input::scenario::{Amount, Call, Generate, ITEM_TOKENS_MAX, ResultSizes, Turn};
use crate::input::{Scenario, ScenarioFile};
use crate::quantity::Tokens;

/// The longest summary of a result that says nothing about its own.
const SUMMARY_TOKENS_MAX: Tokens = 256;

/// The longest handle of a result that says nothing about its own.
const HANDLE_TOKENS_MAX: Tokens = 96;

/// Makes a timeline of a scenario's written turns.
#[must_use]
pub fn timeline(scenario: &Scenario, turns: &[Turn]) -> Timeline {
    let mut writer = Writer::new(scenario);
    for turn in turns {
        (0..turn.times).for_each(|index| writer.push(turn, index, u64::MAX));
    }
    writer.builder.finish()
}

/// Makes a timeline of a scenario's patterns.
#[must_use]
pub fn generated(scenario: &Scenario, load: &Generate) -> Timeline {
    let mut writer = Writer::new(scenario);
    for (pattern, n_turns) in load.taken() {
        // The first turns of a pattern have nothing to come back to, even where another one went before.
        (0..n_turns).for_each(|index| writer.push(pattern, index, index));
    }
    writer.builder.finish()
}

/// Appends turns to a timeline: every call is a step of its own, and the answer is the last step.
///
/// Written loads have no clock: every request starts at 0.
#[derive(Debug)]
struct Writer {
    builder: TimelineBuilder,
    overhead: Tokens,
}

impl Writer {
    /// Begins a timeline with the scenario's name and its stable prefix.
    fn new(spec: &ScenarioFile) -> Self {
        Self { builder: begin(spec), overhead: spec.call_overhead_tokens }
    }

    /// Appends a turn by its place in its pattern; it comes back to turns that are no more than `reach` before it.
    fn push(&mut self, spec: &Turn, turn: u64, reach: u64) {
        self.builder.begin_turn(&[NewItem::plain(Kind::User, narrow(spec.user_tokens.at(turn, 0)))]);
        self.plant(&spec.plants);
        spec.asks.iter().for_each(|it| self.builder.ask(it));
        self.revisits(spec, reach);
        let made: Vec<&Call> = spec.calls.iter().filter(|it| it.is_made_in(turn)).collect();
        if !made.is_empty() {
            let round = made.iter().flat_map(|call| (0..call.times).map(move |_| *call));
            let calls = (0..spec.rounds).flat_map(|_| round.clone());
            calls.zip(0..).for_each(|(call, nth)| self.call(call, turn, nth));
        }
        let answer = narrow(spec.answer_tokens.at(turn, 0));
        let answer_item = NewItem::plain(Kind::Assistant, answer);
        self.builder.step(0, Tokens::from(answer), &[answer_item], &[]);
        // An answer that called no tool has no results to need.
        if !made.is_empty() {
            self.needs(Due::Answer, &spec.answer_needs);
        }
        let is_talk = made.is_empty() && !spec.talk_needs.is_empty();
        self.needs(Due::TurnEnd, if is_talk { &spec.talk_needs } else { &spec.follow_up_needs });
    }

    /// Appends one call, by its place in its turn.
    fn call(&mut self, spec: &Call, turn: u64, nth: u64) {
        let said = [spec.purpose_tokens, spec.args_tokens].map(|it| it.at(turn, nth));
        let tokens = narrow(said.into_iter().fold(self.overhead, Tokens::saturating_add));
        let sizes = sizes(&spec.result, |it| it.at(turn, nth));
        let reply = NewItem::call(&spec.tool, tokens);
        let result = NewItem::result(&spec.tool, 0, sizes, spec.preserve, recover(spec));
        self.builder.step(0, Tokens::from(tokens), &[reply], &[result]);
        self.plant(&spec.plants);
    }

    /// Says that the item that came last tells facts.
    fn plant(&mut self, facts: &[String]) {
        facts.iter().for_each(|it| self.builder.plant(it, Form::Explicit, 0));
    }

    /// Appends what the open turn needs of earlier ones.
    fn revisits(&mut self, spec: &Turn, reach: u64) {
        let own = self.builder.turn_ix();
        for revisit in spec.revisits.iter().filter(|it| it.turns_back <= reach) {
            let Some(source) = turns_back(own, revisit.turns_back) else { continue };
            let weight = revisit.weight.clamp(0.0, 1.0);
            if weight > 0.0 && revisit.level != Level::None {
                let need = Need::new(source, revisit.level, weight, revisit.recover_tokens.map(narrow));
                self.builder.need(Due::TurnStart, need);
            }
        }
    }

    /// Appends what is needed of the open turn.
    fn needs(&mut self, due: Due, weights: &IndexMap<Level, f64>) {
        let own = self.builder.turn_ix();
        for (level, weight) in normalised(weights.iter().map(|(level, it)| (*level, *it))) {
            self.builder.need(due, Need::new(own, level, weight, None));
        }
    }
}

/// Begins a timeline with a scenario's name and its stable prefix.
pub(super) fn begin(spec: &ScenarioFile) -> TimelineBuilder {
    let mut builder = TimelineBuilder::new(&spec.name, &spec.file_tools);
    if let Some(ratio) = spec.chars_per_token {
        builder.chars_per_token(ratio);
    }
    for item in &spec.stable {
        builder.stable(item.kind, narrow(item.tokens));
    }
    builder
}

/// Returns the sizes of a result, filling in what it is silent about.
fn sizes(spec: &ResultSizes, at: impl Fn(Amount) -> Tokens) -> Sizes {
    let raw = at(spec.raw);
    let summary = spec.summary.map_or(raw.min(SUMMARY_TOKENS_MAX), &at);
    Sizes {
        raw: narrow(raw),
        excerpt: narrow(spec.excerpt.map_or(summary, &at)),
        summary: narrow(summary),
        handle: narrow(spec.handle.map_or(summary.min(HANDLE_TOKENS_MAX), &at)),
    }
}

/// Returns what fetches a result again.
fn recover(spec: &Call) -> Recover {
    let tokens = |level| spec.recover.get(&level).map_or(0, |it| narrow(*it));
    Recover {
        handle: tokens(Level::ContinuationHandle),
        local: tokens(Level::LocalDetail),
        exact: tokens(Level::ExactEvidence),
    }
}

/// Narrows a checked size.
pub(super) fn narrow(tokens: Tokens) -> u32 {
    u32::try_from(tokens.min(ITEM_TOKENS_MAX)).unwrap_or(u32::MAX)
}
