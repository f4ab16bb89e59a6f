//! The rules of turns and patterns of them.

use crate::prelude::*;

use super::{size, turns};
use crate::scenario::{
    Amount, Cycle, Generate, ITEM_TOKENS_MAX, Level, ListChoice, NumberRange, PatternPlaces, ResultSizes,
    Revisit, ScenarioFile, ScriptedCall, ScriptedChange, ScriptedImages, SessionFile, TurnSpec,
};

/// The most turns of a load.
pub(super) const TURNS_MAX: u64 = 1_000_000;
/// The most repetitions of a pattern.
const SCALE_MAX: u64 = 10_000;
/// The longest wait between two requests, in milliseconds: a year.
const WAIT_MS_MAX: u64 = 31_536_000_000;
/// The most facts of one name in one result.
const SPREAD_MAX: u32 = 10_000;
/// The longest edge of an image, in pixels: no provider takes a longer one.
const EDGE_MAX: u32 = 8_000;
/// The most tokens of an image under any rule.
const IMAGE_TOKENS_MAX: u64 = 50_000;
/// The most images of one size in one message.
const IMAGES_MAX: u64 = 1_000;
/// The most items, needs and facts of a load.
const PARTS_MAX: u64 = 25_000_000;
/// The most tokens of all prompts of a load, of all of its trials, were nothing ever removed: up to here JSON numbers are exact everywhere, and
/// thousands of loads add up in 64 bits.
const PROMPTS_MAX: u64 = 1 << 53;

/// Checks turns that are written out.
pub(super) fn written(spec: &ScenarioFile, turns: &[TurnSpec], problems: &mut Problems) {
    check_turns(spec, turns.iter().map(|it| (it, it.times)), problems);
}

/// Checks patterns and their repetitions.
pub(super) fn generated(spec: &ScenarioFile, load: &Generate, problems: &mut Problems) {
    match (load.turns, load.scale) {
        (Some(turns), None) => problems.check_range(Code("generate-length"), "turns", turns, [1, TURNS_MAX]),
        (None, Some(scale)) => problems.check_range(Code("generate-length"), "scale", scale, [1, SCALE_MAX]),
        (given, _) => {
            let message =
                if given.is_some() { "`turns` and `scale` are both set" } else { "the load has no length" };
            let help = format!("write either `turns` (1 to {TURNS_MAX}) or `scale` (1 to {SCALE_MAX})");
            problems.push(Code("generate-length"), message, help);
        }
    }
    problems.within("patterns", |problems| check_turns(spec, load.taken(), problems));
}

/// Checks turns and their numbers.
fn check_turns<'a>(
    spec: &ScenarioFile,
    turns: impl Iterator<Item = (&'a TurnSpec, u64)>,
    problems: &mut Problems,
) {
    let mut n_parts = spec.stable.len() as u64;
    let stable = spec.stable.iter().fold(0, |sum: u64, it| sum.saturating_add(it.tokens));
    let mut all = Content { tokens: stable, requests: 0 };
    let (mut tools, mut told) = (IndexSet::new(), IndexSet::new());
    let mut turns = turns.enumerate().peekable();
    if turns.peek().is_none() {
        problems.push(Code("load-empty"), "there are no turns", "add at least one turn");
    }
    for (index, (turn, taken)) in turns {
        problems.within(index, |problems| check_turn(turn, spec.call_overhead_tokens, problems));
        n_parts = n_parts.saturating_add(parts(turn, taken));
        all.add(spec, turn, taken);
        tools.extend(turn.calls.iter().map(|it| it.tool.as_str()));
        told.extend(
            turn.calls.iter().flat_map(|it| it.told().map(|it| it.0)).chain(turn.plants.iter().cloned()),
        );
        problems.within(format_args!("{index}.asks"), |problems| check_asks(&turn.asks, &told, problems));
    }
    if n_parts > PARTS_MAX {
        let message =
            format!("the load has {n_parts} items, needs and facts, which is more than {PARTS_MAX}");
        let help = "write fewer turns, or split it into several scenarios";
        problems.push(Code("load-too-large"), message, help);
    }
    let requests = all.requests.saturating_mul(spec.trials.unwrap_or(1).max(1));
    if all.tokens.saturating_mul(requests) > PROMPTS_MAX && problems.is_empty() {
        let message = format!(
            "{requests} requests over {} tokens come to more than {PROMPTS_MAX} tokens of prompts",
            all.tokens
        );
        problems.push(Code("load-too-large"), message, "write fewer turns, smaller items, or fewer trials");
    }
    if tools.len() >= usize::from(u16::MAX) {
        let help = "use fewer tool names";
        let message = format!("{} different tool names are too many", tools.len());
        problems.push(Code("tools-too-many"), message, help);
    }
}

/// What a load comes to at most.
struct Content {
    /// Tokens of all items.
    tokens: u64,
    requests: u64,
}

impl Content {
    /// Adds a number of turns.
    fn add(&mut self, spec: &ScenarioFile, turn: &TurnSpec, taken: u64) {
        let said = turn.user_tokens.most().saturating_add(turn.answer_tokens.most());
        let images = n_images(&turn.images).saturating_mul(IMAGE_TOKENS_MAX);
        self.take(taken, said.saturating_add(spec.answer_overhead_tokens).saturating_add(images));
        self.requests = self.requests.saturating_add(taken);
        for call in &turn.calls {
            let made = call.turns.as_ref().map_or(taken, |it| it.among(taken));
            let n = made.saturating_mul(turn.rounds.most()).saturating_mul(call.times);
            let images = n_images(&call.images).saturating_mul(IMAGE_TOKENS_MAX);
            let texts = [call.text_tokens.most(), call.result.raw.most(), spec.unread_tokens, images];
            let of_call = call_tokens(call, spec.call_overhead_tokens);
            self.take(n, texts.into_iter().fold(of_call, u64::saturating_add));
            self.requests = self.requests.saturating_add(n);
        }
    }

    fn take(&mut self, n: u64, tokens: u64) {
        self.tokens = self.tokens.saturating_add(n.saturating_mul(tokens));
    }
}

/// Returns the number of items, revisits and facts in a number of turns.
fn parts(turn: &TurnSpec, taken: u64) -> u64 {
    let product = |factors: &[u64]| factors.iter().fold(1, |product: u64, it| product.saturating_mul(*it));
    let count = |lists: &[usize]| lists.iter().sum::<usize>() as u64;
    // A message and an answer; a call and a result.
    let own = count(&[2, turn.revisits.len(), turn.plants.len(), turn.asks.len()])
        .saturating_add(n_images(&turn.images));
    let of_calls = turn.calls.iter().map(|call| {
        let made = call.turns.as_ref().map_or(taken, |it| it.among(taken));
        let spread = call.spreads.values().fold(0, |sum: u64, it| sum.saturating_add((*it).into()));
        let items = 2 + usize::from(call.text_tokens.most() > 0);
        let facts = count(&[items, call.plants.len()]).saturating_add(spread);
        product(&[made, turn.rounds.most(), call.times, facts.saturating_add(n_images(&call.images))])
    });
    of_calls.fold(product(&[taken, own]), u64::saturating_add)
}

/// Returns how many images there are.
fn n_images(images: &[ScriptedImages]) -> u64 {
    images.iter().fold(0, |sum: u64, it| sum.saturating_add(it.count))
}

/// Checks that facts are stated before they are asked for, in the same pattern or earlier.
fn check_asks(asks: &[String], told: &IndexSet<String>, problems: &mut Problems) {
    for (index, fact) in asks.iter().enumerate().filter(|(_, it)| !told.contains(it.as_str())) {
        let otherwise = || "plant it with `plants` in an earlier turn or call".to_owned();
        let help = near_or(fact, told.iter().map(String::as_str), otherwise);
        let message = format!("no earlier turn or call plants `{fact}`");
        problems.push_at(Code("fact-unknown"), index, message, help);
    }
}

fn check_turn(spec: &TurnSpec, overhead: Tokens, problems: &mut Problems) {
    problems.within("times", |problems| repeated(spec.times, problems));
    problems.within("user_tokens", |problems| amount(&spec.user_tokens, CountedUnit::Tokens, problems));
    problems.within("answer_tokens", |problems| amount(&spec.answer_tokens, CountedUnit::Tokens, problems));
    problems.within_each("images", &spec.images, check_image);
    problems.within("rounds", |problems| {
        repeated(spec.rounds.least(), problems);
        amount(&spec.rounds, CountedUnit::Rounds, problems);
    });
    problems.within("response_ms", |problems| amount(&spec.response_ms, CountedUnit::Milliseconds, problems));
    if let Some(ms) = &spec.gap_ms {
        problems.within("gap_ms", |problems| amount(ms, CountedUnit::Milliseconds, problems));
    }
    problems.within_each("calls", &spec.calls, |call, to| check_call(call, overhead, to));
    check_in_band(spec.in_band, spec.effort.as_ref(), problems);
    problems.within_each("changes", &spec.changes, |change, to| check_change(change, spec, to));
    problems.within("answer_needs", |problems| check_weights(&spec.answer_needs, problems));
    problems.within("follow_up_needs", |problems| check_weights(&spec.follow_up_needs, problems));
    problems.within("talk_needs", |problems| check_weights(&spec.talk_needs, problems));
    problems.within_each("revisits", &spec.revisits, check_revisit);
}

/// Checks that an effort is given where a message is to set it.
fn check_in_band(in_band: bool, effort: Option<&String>, problems: &mut Problems) {
    if in_band && effort.is_none() {
        let message = "`in_band` says how the effort changes, and none is given";
        let help = "add the effort, as in `effort = \"low\"`, or remove `in_band`";
        problems.push_at(Code("in-band-alone"), "in_band", message, help);
    }
}

/// Checks that a turn has the request from which on something changes.
fn check_change(change: &ScriptedChange, turn: &TurnSpec, problems: &mut Problems) {
    check_in_band(change.in_band, change.effort.as_ref(), problems);
    let of_round = turn.calls.iter().fold(0, |sum: u64, it| sum.saturating_add(it.times));
    let of_round = if turn.parallel { of_round.min(1) } else { of_round };
    let most = turn.rounds.most().saturating_mul(of_round).saturating_add(1);
    if !(2..=most).contains(&change.request) {
        let (message, help) = match change.request {
            0 => ("requests are counted from 1".to_owned(), "write 2 or more".to_owned()),
            1 => (
                "what changes with the first request of a turn is said by the turn".to_owned(),
                "move the fields to the turn itself".to_owned(),
            ),
            n => (
                format!("the turn has no request {n}"),
                format!("it has at most {most}: one for each call, and one for the answer"),
            ),
        };
        problems.push_at(Code("change-request"), "request", message, help);
    }
}

/// Checks one call and its result.
fn check_call(spec: &ScriptedCall, overhead: Tokens, problems: &mut Problems) {
    if spec.tool.is_empty() {
        problems.push_at(Code("tool-unnamed"), "tool", "the call has no tool", "write the tool's name");
    }
    problems.within("times", |problems| repeated(spec.times, problems));
    if let Some(places) = &spec.turns {
        problems.within("turns", |problems| check_places(places, problems));
    }
    problems.within("text_tokens", |to| amount(&spec.text_tokens, CountedUnit::Tokens, to));
    problems.within("purpose_tokens", |to| amount(&spec.purpose_tokens, CountedUnit::Tokens, to));
    problems.within("args_tokens", |to| amount(&spec.args_tokens, CountedUnit::Tokens, to));
    if let Some(ms) = &spec.gap_ms {
        problems.within("gap_ms", |problems| amount(ms, CountedUnit::Milliseconds, problems));
    }
    for (name, count) in spec.spreads.iter().filter(|(_, it)| !(1..=SPREAD_MAX).contains(*it)) {
        let message = format!("{count} facts in one result is out of range");
        let help = format!("write a number from 1 to {SPREAD_MAX}");
        problems.push_at(Code("spread-range"), format_args!("spreads.{name}"), message, help);
    }
    let parts = [spec.purpose_tokens.most(), spec.args_tokens.most(), overhead];
    let parts_fit = parts.iter().all(|it| *it <= ITEM_TOKENS_MAX);
    if parts_fit && call_tokens(spec, overhead) > ITEM_TOKENS_MAX {
        let message = "purpose, arguments and overhead together exceed the largest item";
        let help = format!("keep their sum at or below {ITEM_TOKENS_MAX}");
        problems.push(Code("size-too-large"), message, help);
    }
    problems.within("result", |problems| {
        let ResultSizes { raw, excerpt, summary, handle } = &spec.result;
        let parts = [("excerpt", excerpt), ("summary", summary), ("handle", handle)];
        let parts = parts.into_iter().filter_map(|(field, it)| Some((field, it.as_ref()?)));
        for (field, tokens) in std::iter::once(("raw", raw)).chain(parts) {
            problems.within(field, |problems| amount(tokens, CountedUnit::Tokens, problems));
        }
    });
    problems.within_each("images", &spec.images, check_image);
    for (level, tokens) in &spec.recover {
        problems.within(format_args!("recover.{}", level.name()), |problems| {
            size(*tokens, problems);
            if matches!(level, Level::None | Level::GlobalConclusion | Level::RawContent) {
                let message = "this number has no effect: recovering a conclusion costs nothing, and recovering the \
                    whole result costs its raw size";
                problems.push(Code("recover-unused"), message, "remove it");
            }
        });
    }
}

/// Checks images: how many, and that both edges are known or neither.
fn check_image(images: &ScriptedImages, problems: &mut Problems) {
    problems.check_range(Code("image-range"), "count", images.count, [1, IMAGES_MAX]);
    for (field, edge) in [("width", images.width), ("height", images.height)] {
        let range = [1, EDGE_MAX.into()];
        edge.into_iter().for_each(|it| problems.check_range(Code("image-range"), field, it.into(), range));
    }
    if images.width.is_some() != images.height.is_some() {
        let message = "an image has a width and a height, and one of them is missing";
        let help = "write both, as in `(width: 1280, height: 800)`, or neither";
        problems.push(Code("image-edge"), message, help);
    }
}

/// Checks weights that will be normalised.
fn check_weights(weights: &IndexMap<Level, f64>, problems: &mut Problems) {
    for (level, weight) in weights {
        problems.within(level.name(), |problems| check_weight(*weight, problems));
    }
    let total: f64 = weights.values().sum();
    if weights.values().all(|it| it.is_finite()) && !total.is_finite() {
        problems.push(Code("weight-invalid"), "the sum of the weights is too large", "use smaller weights");
    }
}

fn check_weight(weight: f64, problems: &mut Problems) {
    if !weight.is_finite() || weight < 0.0 {
        let help = "write a number of at least 0";
        problems.push(Code("weight-invalid"), format!("{weight} is not a valid weight"), help);
    }
}

fn check_revisit(spec: &Revisit, problems: &mut Problems) {
    if spec.turns_back == 0 {
        let help = "write how many turns back (at least 1)";
        problems.push_at(Code("revisit-of-itself"), "turns_back", "a turn cannot refer to itself", help);
    }
    problems.within("weight", |problems| check_weight(spec.weight, problems));
    problems.within("recover_tokens", |problems| size(spec.recover_tokens.unwrap_or(0), problems));
}

/// Checks a number that may change or be drawn.
fn amount(amount: &Amount, unit: CountedUnit, problems: &mut Problems) {
    match amount {
        Amount::Fixed(number) => unit.check(*number, problems),
        Amount::Cycle(cycle) => check_cycle(cycle, unit, problems),
        Amount::Range(NumberRange { first, last }) => {
            if first > last {
                let message = format!("`first` ({first}) is more than `last` ({last})");
                problems.push(Code("value-range"), message, "write the smaller number as `first`");
            }
            problems.within("first", |problems| unit.check(*first, problems));
            problems.within("last", |problems| unit.check(*last, problems));
        }
        Amount::Choice(ListChoice { one_of }) => problems.within("one_of", |problems| {
            if one_of.is_empty() {
                let help = "write at least one";
                problems.push(Code("value-none"), "there are no numbers to choose from", help);
            }
            for (index, number) in one_of.iter().enumerate() {
                problems.within(index, |problems| unit.check(*number, problems));
            }
        }),
    }
}

#[derive(Clone, Copy)]
enum CountedUnit {
    Tokens,
    Milliseconds,
    Rounds,
}

impl CountedUnit {
    fn max(self) -> u64 {
        match self {
            Self::Tokens => ITEM_TOKENS_MAX,
            Self::Milliseconds => WAIT_MS_MAX,
            // How many items they make is counted over the whole load.
            Self::Rounds => u64::MAX,
        }
    }

    fn check(self, number: u64, problems: &mut Problems) {
        match self {
            Self::Tokens => size(number, problems),
            Self::Milliseconds if number > WAIT_MS_MAX => {
                let message = format!("{number} milliseconds is more than a year");
                problems.push(Code("wait-too-long"), message, format!("write at most {WAIT_MS_MAX}"));
            }
            Self::Milliseconds | Self::Rounds => {}
        }
    }
}

/// Checks a number that starts over.
fn check_cycle(cycle: &Cycle, unit: CountedUnit, problems: &mut Problems) {
    if cycle.modulo == 0 {
        let help = "write the number at which the size starts over (at least 1)";
        problems.push_at(Code("cycle-empty"), "modulo", "`modulo` cannot be 0", help);
    }
    problems.within("base", |to| unit.check(cycle.base, to));
    problems.within("per_turn", |to| unit.check(cycle.per_turn, to));
    problems.within("per_call", |to| unit.check(cycle.per_call, to));
    problems.within("modulo", |to| unit.check(cycle.modulo, to));
    if [cycle.base, cycle.modulo].iter().all(|it| *it <= unit.max()) {
        unit.check(Amount::Cycle(*cycle).most(), problems);
    }
}

/// Checks a number of repetitions.
fn repeated(times: u64, problems: &mut Problems) {
    if times == 0 {
        let help = "write 1 or more, or remove the entry";
        problems.push(Code("times-zero"), "0 repetitions have no effect", help);
    }
}

/// Checks the turns in which a call is made.
fn check_places(spec: &PatternPlaces, problems: &mut Problems) {
    let wrong = if spec.at.is_empty() {
        "no turn is selected".to_owned()
    } else {
        let Some(place) = spec.at.iter().find(|it| **it >= spec.every) else { return };
        format!("`every` is {}, so no turn has index {place}", spec.every)
    };
    let help = "count from 0 and stay below `every`, as in `(every: 3, at: [2])`";
    problems.push(Code("places-range"), wrong, help);
}

/// Returns the most tokens that a model writes for a call.
fn call_tokens(spec: &ScriptedCall, overhead: Tokens) -> Tokens {
    spec.purpose_tokens.most().saturating_add(spec.args_tokens.most()).saturating_add(overhead)
}

// The rules of several sessions.

/// The latest that a session may begin, in milliseconds: a year.
const AT_MS_MAX: u64 = 31_536_000_000;

/// Checks sessions: each has a name of its own, and the agents of sub-agents are among them.
pub(super) fn check_sessions(spec: &ScenarioFile, sessions: &[SessionFile], problems: &mut Problems) {
    if sessions.is_empty() {
        let help = "write at least one, with `name` and `turns`";
        problems.push(Code("sessions-none"), "the load has no session", help);
    }
    let names: IndexSet<&str> = sessions.iter().map(|it| it.name.as_str()).collect();
    let mut known = IndexSet::new();
    for (index, session) in sessions.iter().enumerate() {
        problems.within(index, |problems| {
            let name = session.name.as_str();
            if name.is_empty() || name.contains('/') || !known.insert(name) {
                let message = format!("`{name}` is not a name of its own");
                let help = "write a name without `/` that no other session has";
                problems.push_at(Code("session-name"), "name", message, help);
            }
            if session.at.0 > AT_MS_MAX {
                problems.push_at(Code("session-at"), "at", "it begins too late", "write at most `365d`");
            }
            if let Some(parent) = session.parent.as_deref().filter(|it| *it == name || !names.contains(it)) {
                let message = format!("there is no other session `{parent}`");
                let help = "name the session whose agent started this one";
                problems.push_at(Code("session-parent"), "parent", message, help);
            }
            problems.within("turns", |to| turns::written(spec, &session.turns, to));
        });
    }
}
