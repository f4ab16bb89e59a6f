//! Turns that are written out, as a timeline.

use indexmap::{IndexMap, IndexSet};

use super::evidence::{Recover, normalised, turns_back};
use super::{Due, Kind, Level, Need, NewItem, Preserve, Sizes, Timeline, TimelineBuilder};
use crate::diag::{Diagnostic, Problems};
use crate::quantity::{Decimal, Tokens};
use crate::spec::ScenarioSpec;
use crate::spec::scenario::{CallSpec, ResultSpec, RevisitSpec, TurnSpec};

/// No item is larger, so that sums of a few never leave 32 bits.
pub const ITEM_TOKENS_MAX: Tokens = (1 << 31) - 1;

/// No written load has more items.
const ITEMS_MAX: usize = 10_000_000;

/// The longest summary of a result that says nothing about its own.
const SUMMARY_TOKENS_MAX: Tokens = 256;

/// The longest handle of a result that says nothing about its own.
const HANDLE_TOKENS_MAX: Tokens = 96;

/// Makes a timeline of a scenario's written turns.
///
/// # Errors
/// Every problem of the scenario and its turns, each with its field path.
pub fn timeline(spec: &ScenarioSpec, turns: &[TurnSpec]) -> Result<Timeline, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    check(spec, &mut problems);
    problems.within("load.turns", |problems| check_turns(spec, turns, problems));
    problems.into_result(())?;
    let mut writer = Writer::new(spec);
    for spec in turns {
        writer.push(&of_spec(spec));
    }
    Ok(writer.finish())
}

/// Checks what a scenario says beside its load.
pub(super) fn check(spec: &ScenarioSpec, problems: &mut Problems) {
    for (index, item) in spec.stable.iter().enumerate() {
        problems.within(format_args!("stable.{index}"), |problems| {
            problems.within("tokens", |problems| size(item.tokens, problems));
            if matches!(item.kind, Kind::ToolCall | Kind::ToolResult) {
                problems.within("kind", |problems| {
                    problems.push(
                        "stable-kind",
                        "a tool's call or result is no part of the stable prefix",
                        "write `system`, `tool_schema` or `memory`",
                    );
                });
            }
        });
    }
    problems.within("call_overhead_tokens", |problems| size(spec.call_overhead_tokens, problems));
    if spec.chars_per_token.is_some_and(|it| it <= Decimal::ZERO) {
        problems.within("chars_per_token", |problems| {
            problems.push(
                "chars-per-token-zero",
                "a token has more than no characters",
                "leave it out, or write `4.0`",
            );
        });
    }
}

/// Checks turns.
fn check_turns(spec: &ScenarioSpec, turns: &[TurnSpec], problems: &mut Problems) {
    if turns.is_empty() {
        problems.push("load-empty", "there is no turn", "write at least one turn");
    }
    let n_items = turns.iter().map(|it| it.calls.len().saturating_mul(2).saturating_add(2));
    let n_items = n_items.fold(spec.stable.len(), usize::saturating_add);
    if n_items > ITEMS_MAX {
        let message = format!("the load has {n_items} items, more than {ITEMS_MAX}");
        problems.push("load-too-large", message, "split it into several scenarios");
    }
    let mut tools = IndexSet::new();
    for (index, spec_turn) in turns.iter().enumerate() {
        problems.within(index, |problems| check_turn(spec_turn, spec.call_overhead_tokens, problems));
        tools.extend(spec_turn.calls.iter().map(|it| it.tool.as_str()));
    }
    if tools.len() >= usize::from(u16::MAX) {
        problems.push("tools-too-many", format!("{} different tools", tools.len()), "use fewer names");
    }
}

/// Checks one turn.
fn check_turn(spec: &TurnSpec, overhead: Tokens, problems: &mut Problems) {
    problems.within("user_tokens", |problems| size(spec.user_tokens, problems));
    problems.within("answer_tokens", |problems| size(spec.answer_tokens, problems));
    for (index, call) in spec.calls.iter().enumerate() {
        problems.within(format_args!("calls.{index}"), |problems| check_call(call, overhead, problems));
    }
    problems.within("answer_needs", |problems| check_weights(&spec.answer_needs, problems));
    problems.within("follow_up_needs", |problems| check_weights(&spec.follow_up_needs, problems));
    for (index, revisit) in spec.revisits.iter().enumerate() {
        problems.within(format_args!("revisits.{index}"), |problems| check_revisit(revisit, problems));
    }
}

/// Checks one call and its result.
fn check_call(spec: &CallSpec, overhead: Tokens, problems: &mut Problems) {
    if spec.tool.is_empty() {
        problems.within("tool", |problems| {
            problems.push("tool-unnamed", "a call names its tool", "write the tool's name");
        });
    }
    problems.within("purpose_tokens", |problems| size(spec.purpose_tokens, problems));
    problems.within("args_tokens", |problems| size(spec.args_tokens, problems));
    let parts_fit = [spec.purpose_tokens, spec.args_tokens, overhead].iter().all(|it| *it <= ITEM_TOKENS_MAX);
    if parts_fit && call_tokens(spec, overhead) > ITEM_TOKENS_MAX {
        let message = "purpose, arguments and overhead together are too large for one item";
        problems.push("size-too-large", message, format!("keep their sum at or below {ITEM_TOKENS_MAX}"));
    }
    problems.within("result", |problems| {
        let ResultSpec { raw, excerpt, summary, handle } = spec.result;
        for (field, tokens) in
            [("raw", Some(raw)), ("excerpt", excerpt), ("summary", summary), ("handle", handle)]
        {
            problems.within(field, |problems| size(tokens.unwrap_or(0), problems));
        }
    });
    for (level, tokens) in &spec.recover {
        problems.within(format_args!("recover.{}", level_name(*level)), |problems| {
            size(*tokens, problems);
            if matches!(level, Level::None | Level::GlobalConclusion | Level::RawContent) {
                problems.push(
                    "recover-unused",
                    "nothing asks for this number: a conclusion costs nothing, and the whole is fetched at its raw size",
                    "leave it out",
                );
            }
        });
    }
}

/// Checks weights that are normalised later.
fn check_weights(weights: &IndexMap<Level, f64>, problems: &mut Problems) {
    for (level, weight) in weights {
        problems.within(level_name(*level), |problems| check_weight(*weight, problems));
    }
    let total: f64 = weights.values().sum();
    if weights.values().all(|it| it.is_finite()) && !total.is_finite() {
        problems.push(
            "weight-invalid",
            "the weights add up to more than a number can hold",
            "use smaller ones",
        );
    }
}

/// Checks one weight.
fn check_weight(weight: f64, problems: &mut Problems) {
    if !weight.is_finite() || weight < 0.0 {
        problems.push("weight-invalid", format!("{weight} is no weight"), "write a number from 0 up");
    }
}

/// Checks one revisit.
fn check_revisit(spec: &RevisitSpec, problems: &mut Problems) {
    if spec.turns_back == 0 {
        problems.within("turns_back", |problems| {
            problems.push(
                "revisit-of-itself",
                "a turn cannot come back to itself",
                "write how many turns back, from 1 up",
            );
        });
    }
    problems.within("weight", |problems| check_weight(spec.weight, problems));
    problems.within("recover_tokens", |problems| size(spec.recover_tokens.unwrap_or(0), problems));
}

/// Checks a size of one item.
fn size(tokens: Tokens, problems: &mut Problems) {
    if tokens > ITEM_TOKENS_MAX {
        let message = format!("{tokens} tokens are too many for one item");
        problems.push("size-too-large", message, format!("write at most {ITEM_TOKENS_MAX}"));
    }
}

/// Returns a level as files write it.
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::None => "none",
        Level::GlobalConclusion => "global_conclusion",
        Level::ContinuationHandle => "continuation_handle",
        Level::LocalDetail => "local_detail",
        Level::ExactEvidence => "exact_evidence",
        Level::RawContent => "raw_content",
    }
}

/// Returns the tokens that a model writes for a call.
fn call_tokens(spec: &CallSpec, overhead: Tokens) -> Tokens {
    spec.purpose_tokens.saturating_add(spec.args_tokens).saturating_add(overhead)
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
    pub(super) fn new(spec: &ScenarioSpec) -> Self {
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
                self.builder.need(Due::TurnStart, Need { source, level, weight, recover_tokens });
            }
        }
        let mut due = |due, weights: &[(Level, f64)]| {
            for (level, weight) in normalised(weights.iter().copied()) {
                self.builder.need(due, Need { source: own, level, weight, recover_tokens: None });
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
fn call_of_spec(spec: &CallSpec) -> Call<'_> {
    Call {
        tool: &spec.tool,
        said_tokens: narrow(spec.purpose_tokens.saturating_add(spec.args_tokens)),
        sizes: sizes(&spec.result),
        preserve: spec.preserve,
        recover: recover(spec),
    }
}

/// Takes a checked turn as a file writes it.
fn of_spec(spec: &TurnSpec) -> Turn<'_> {
    let weights = |weights: &IndexMap<Level, f64>| weights.iter().map(|(level, it)| (*level, *it)).collect();
    let revisit = |spec: &RevisitSpec| Revisit {
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
pub(super) fn begin(spec: &ScenarioSpec) -> TimelineBuilder {
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
fn sizes(spec: &ResultSpec) -> Sizes {
    let summary = spec.summary.unwrap_or(spec.raw.min(SUMMARY_TOKENS_MAX));
    Sizes {
        raw: narrow(spec.raw),
        excerpt: narrow(spec.excerpt.unwrap_or(summary)),
        summary: narrow(summary),
        handle: narrow(spec.handle.unwrap_or(summary.min(HANDLE_TOKENS_MAX))),
    }
}

/// Returns what fetches a result again.
fn recover(spec: &CallSpec) -> Recover {
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
