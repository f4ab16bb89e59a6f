//! Turns that are written out, as a timeline.

use indexmap::IndexMap;

use super::evidence::{Recover, normalised, turns_back};
use super::{Due, Kind, Level, Need, NewItem, Preserve, Sizes, Timeline, TimelineBuilder};
use crate::input::scenario::{self, ITEM_TOKENS_MAX, ResultSizes};
use crate::input::{Scenario, ScenarioFile};
use crate::quantity::Tokens;

/// The longest summary of a result that says nothing about its own.
const SUMMARY_TOKENS_MAX: Tokens = 256;

/// The longest handle of a result that says nothing about its own.
const HANDLE_TOKENS_MAX: Tokens = 96;

/// Makes a timeline of a scenario's written turns.
#[must_use]
pub fn timeline(scenario: &Scenario, turns: &[scenario::Turn]) -> Timeline {
    let mut writer = Writer::new(scenario);
    for written in turns {
        writer.push(&of_spec(written));
    }
    writer.finish()
}

/// A checked turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn<'a> {
    /// Tokens of the user message.
    pub user_tokens: u32,
    /// Tokens of the answer.
    pub answer_tokens: u32,
    /// The calls.
    pub calls: Vec<Call<'a>>,
    /// What the answer needs.
    pub answer_needs: Vec<(Level, f64)>,
    /// What follows from it.
    pub follow_up_needs: Vec<(Level, f64)>,
    /// What it comes back to.
    pub revisits: Vec<Revisit>,
}

/// A checked call with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Tokens of purpose and arguments, without the scenario's overhead.
    pub said_tokens: u32,
    /// Sizes of the result.
    pub sizes: Sizes,
    /// Why the result may be needed again.
    pub preserve: Preserve,
    /// What it takes to fetch the result again.
    pub recover: Recover,
}

/// A checked need of something earlier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revisit {
    /// How many turns back.
    pub turns_back: u64,
    /// How much is needed.
    pub level: Level,
    /// How probable it is.
    pub weight: f64,
    /// Tokens that fetch it again; by the results' own numbers, when silent.
    pub recover_tokens: Option<u32>,
}

/// Appends checked turns to a timeline: every call is a step of its own, and the answer is the last step.
///
/// Written loads have no clock: every request starts at 0.
#[derive(Debug)]
pub(super) struct Writer {
    builder: TimelineBuilder,
    overhead: u32,
}

impl Writer {
    /// Begins a timeline with the scenario's name and its stable prefix.
    pub(super) fn new(spec: &ScenarioFile) -> Self {
        Self { builder: begin(spec), overhead: narrow(spec.call_overhead_tokens) }
    }

    /// Appends a turn.
    pub(super) fn push(&mut self, new: &Turn<'_>) {
        self.builder.begin_turn(&[NewItem::plain(Kind::User, new.user_tokens)]);
        self.needs(new);
        for call in &new.calls {
            let tokens = call.said_tokens.saturating_add(self.overhead);
            let reply = NewItem::call(call.tool, tokens);
            let result = NewItem::result(call.tool, 0, call.sizes, call.preserve, call.recover);
            self.builder.step(0, Tokens::from(tokens), &[reply], &[result]);
        }
        let answer = NewItem::plain(Kind::Assistant, new.answer_tokens);
        self.builder.step(0, Tokens::from(new.answer_tokens), &[answer], &[]);
    }

    /// Ends the timeline.
    pub(super) fn finish(self) -> Timeline {
        self.builder.finish()
    }

    /// Appends what the open turn needs, and what follows from it.
    fn needs(&mut self, new: &Turn<'_>) {
        let own = self.builder.turn_ix();
        for revisit in &new.revisits {
            let Some(source) = turns_back(own, revisit.turns_back) else { continue };
            let Revisit { level, recover_tokens, .. } = *revisit;
            let weight = revisit.weight.clamp(0.0, 1.0);
            if weight > 0.0 && level != Level::None {
                self.builder.need(Due::TurnStart, Need::new(source, level, weight, recover_tokens));
            }
        }
        let mut due = |due, weights: &[(Level, f64)]| {
            for (level, weight) in normalised(weights.iter().copied()) {
                self.builder.need(due, Need::new(own, level, weight, None));
            }
        };
        // An answer that called no tool has no results to need.
        if !new.calls.is_empty() {
            due(Due::Answer, &new.answer_needs);
        }
        due(Due::TurnEnd, &new.follow_up_needs);
    }
}

/// Takes a checked call as a file writes it.
fn call_of_spec(spec: &scenario::Call) -> Call<'_> {
    Call {
        tool: &spec.tool,
        said_tokens: narrow(spec.purpose_tokens.saturating_add(spec.args_tokens)),
        sizes: sizes(&spec.result),
        preserve: spec.preserve,
        recover: recover(spec),
    }
}

/// Takes a checked turn as a file writes it.
fn of_spec(spec: &scenario::Turn) -> Turn<'_> {
    let weights = |weights: &IndexMap<Level, f64>| weights.iter().map(|(level, it)| (*level, *it)).collect();
    let revisit = |spec: &scenario::Revisit| Revisit {
        turns_back: spec.turns_back,
        level: spec.level,
        weight: spec.weight,
        recover_tokens: spec.recover_tokens.map(narrow),
    };
    Turn {
        user_tokens: narrow(spec.user_tokens),
        answer_tokens: narrow(spec.answer_tokens),
        calls: spec.calls.iter().map(call_of_spec).collect(),
        answer_needs: weights(&spec.answer_needs),
        follow_up_needs: weights(&spec.follow_up_needs),
        revisits: spec.revisits.iter().map(revisit).collect(),
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
fn sizes(spec: &ResultSizes) -> Sizes {
    let summary = spec.summary.unwrap_or(spec.raw.min(SUMMARY_TOKENS_MAX));
    Sizes {
        raw: narrow(spec.raw),
        excerpt: narrow(spec.excerpt.unwrap_or(summary)),
        summary: narrow(summary),
        handle: narrow(spec.handle.unwrap_or(summary.min(HANDLE_TOKENS_MAX))),
    }
}

/// Returns what fetches a result again.
fn recover(spec: &scenario::Call) -> Recover {
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
