//! Turns that are written out, one by one or as patterns, as a timeline.
//!
//! **A pattern is a turn that repeats.** `load.turns` and the patterns of `load.generate` share one type, `TurnSpec`, one set of rules and
//! one writer (`timeline/scripted.rs`). A number is a constant, a cycle (`base + (turn × per_turn + call × per_call) mod modulo`), or drawn
//! from a range or a list. A call says how often and in which turns it is made. The cycle is the only arithmetic, and it is enough for all
//! of DuckAgent's generated workloads. Bounds are known before anything is built, even for draws. The size of a load, built or rejected, is
//! computed in closed form (`Generate::taken`, `PatternPlaces::among`). Sizes, rounds, gaps and response times are such numbers. A load
//! without gaps takes no simulated time. Numbers are drawn in the order of events. With `random = "named"`, each turn has its own stream.
//! `"splitmix64"` is one sequence from the seed, which other programs can reproduce in a few lines. `load.random` draws everything that a
//! pattern would state; `load.sessions` is several loads of turns, with users and times.

use crate::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::evidence::{Recover, normalised, turns_back};
use super::facts::{FactForm, ItemShare};
use super::{Due, FrontItem, ItemSizes, Kind, Level, Need, NewItem, Preserve, Timeline, TimelineBuilder};
use ctxsim_base::rng::{Seed, SplitMix64, Stream};
use ctxsim_input::profile::ImageRule;
use ctxsim_input::profile::cache::SETTINGS;
use ctxsim_input::scenario::{
    Amount, Generate, ITEM_TOKENS_MAX, PatternRandom, ResultSizes, ScriptedCall, ScriptedChange,
    ScriptedImages, StableItem, TurnSpec,
};
use ctxsim_input::{Scenario, ScenarioFile, Settings};

/// The longest default summary of a result.
const SUMMARY_TOKENS_MAX: Tokens = 256;

/// The longest default handle of a result.
const HANDLE_TOKENS_MAX: Tokens = 96;

/// Makes a timeline of a scenario's written turns.
pub fn timeline(scenario: &Scenario, turns: &[TurnSpec]) -> Timeline {
    let mut writer = ScriptedTurns::new(scenario, turns, PatternRandom::Named);
    for turn in turns {
        (0..turn.times).for_each(|index| writer.push(turn, index, u64::MAX));
    }
    writer.builder.finish()
}

/// Makes a timeline of a scenario's patterns.
pub fn generated(scenario: &Scenario, load: &Generate) -> Timeline {
    let mut writer = ScriptedTurns::new(scenario, &load.patterns, load.random);
    for (pattern, n_turns) in load.taken() {
        // The first turns of a pattern have nothing to come back to, even where another one went before.
        (0..n_turns).for_each(|index| writer.push(pattern, index, index));
    }
    writer.builder.finish()
}

/// The stream of each turn's draws, with the turn's place in the load.
const STREAM: &str = "patterns";

/// Where drawn numbers come from.
#[derive(Debug)]
enum Draws {
    Named(Seed, Stream),
    InOrder(SplitMix64),
}

impl Draws {
    fn new(draws: PatternRandom, seed: u64) -> Self {
        match draws {
            PatternRandom::Named => Self::Named(Seed(seed), Seed(seed).stream(STREAM, 0)),
            PatternRandom::Splitmix64 => Self::InOrder(SplitMix64::new(seed)),
        }
    }

    fn begin_turn(&mut self, index: u64) {
        if let Self::Named(seed, stream) = self {
            *stream = seed.stream(STREAM, index);
        }
    }

    fn below(&mut self, count: u64) -> u64 {
        match self {
            Self::Named(_, stream) => stream.between(0, count.saturating_sub(1)),
            Self::InOrder(words) => words.next_below(count),
        }
    }
}

/// Appends turns to a timeline: every call is its own step, and the answer is the last step.
///
/// Numbers are drawn in the order of events: the message, the number of rounds; for each call its text,
/// purpose, arguments, result, response and gap; then the answer's.
#[derive(Debug)]
struct ScriptedTurns {
    builder: TimelineBuilder,
    overhead: Tokens,
    answer_overhead: u32,
    source: Draws,
    /// When the next request starts; a load without gaps takes no time.
    at_ms: i64,
    n_turns: u64,
    /// The class of results of the turn whose calls name none.
    unnamed: Preserve,
    /// The number of the turn's requests so far.
    n_requests: u64,
    fronts: ScriptedFronts,
    /// By setting, the values so far; the first is that of the beginning.
    values: [IndexSet<String>; SETTINGS.len()],
    settings: Settings,
}

impl ScriptedTurns {
    /// Begins a timeline with the scenario's name and its stable prefix.
    fn new(spec: &ScenarioFile, turns: &[TurnSpec], draws: PatternRandom) -> Self {
        let source = Draws::new(draws, spec.seed);
        let fronts = ScriptedFronts::new(&spec.stable, turns);
        let mut builder = begin_with(spec, &fronts.places);
        let empty = fronts.places.iter().zip(0..).filter(|it| it.0.tokens == 0 && fronts.changes);
        builder.front(empty.map(|it| FrontItem { item: it.1, tokens: 0, digest: 0 }).collect());
        Self {
            builder,
            fronts,
            settings: Settings::default(),
            values: std::array::from_fn(|_| IndexSet::from([String::new()])),
            overhead: spec.call_overhead_tokens,
            answer_overhead: narrow(spec.answer_overhead_tokens),
            source,
            at_ms: 0,
            n_turns: 0,
            unnamed: Preserve::None,
            n_requests: 0,
        }
    }

    /// Returns a number at its place in its pattern and its turn.
    fn value(&mut self, amount: &Amount, turn: u64, nth: u64) -> u64 {
        amount.at(turn, nth, |count| self.source.below(count))
    }

    /// Appends a turn by its place in its pattern; it refers back at most `reach` turns.
    fn push(&mut self, spec: &TurnSpec, turn: u64, reach: u64) {
        self.source.begin_turn(self.n_turns);
        self.n_turns += 1;
        let user = narrow(self.value(&spec.user_tokens, turn, 0));
        self.n_requests = 0;
        let digest = spec.says.as_ref().map(|it| xxh3_64_with_seed(it.as_bytes(), user.into()));
        let said = NewItem { digest, ..NewItem::plain(Kind::User, user) };
        let said: Vec<NewItem<'_>> = std::iter::once(said).chain(images(&spec.images)).collect();
        self.builder.begin_turn(&said);
        spec.plants.iter().for_each(|it| self.builder.plant(it, FactForm::Explicit, 0));
        spec.asks.iter().for_each(|it| self.builder.ask(it));
        self.revisits(spec, reach);
        let made: Vec<&ScriptedCall> = spec.calls.iter().filter(|it| it.is_made_in(turn)).collect();
        let has_named = made.iter().any(|it| it.preserve.is_some());
        self.unnamed = if has_named { Preserve::None } else { Preserve::Unset };
        let rounds = self.value(&spec.rounds, turn, 0);
        if !made.is_empty() {
            let round = made.iter().flat_map(|call| (0..call.times).map(move |_| *call));
            let n = if spec.parallel { round.clone().count() } else { 1 };
            let calls: Vec<&ScriptedCall> = (0..rounds).flat_map(|_| round.clone()).collect();
            calls
                .chunks(n)
                .zip((0..).step_by(n))
                .for_each(|(calls, nth)| self.calls(spec, calls, (turn, nth)));
        }
        let answer = narrow(self.value(&spec.answer_tokens, turn, 0));
        let answer_item = NewItem::plain(Kind::Assistant, answer.saturating_add(self.answer_overhead));
        self.next_request(spec);
        self.builder.step(self.at_ms, Tokens::from(answer), &[answer_item], &[]);
        if spec.repeats {
            let results = made.iter().flat_map(|it| it.told()).map(|told| told.0);
            results.chain(spec.plants.iter().cloned()).for_each(|it| self.builder.repeat(&it));
        }
        self.wait(&spec.response_ms, spec.gap_ms.as_ref(), (turn, 0));
        // An answer that called no tool has no results to need.
        if !made.is_empty() {
            self.needs(Due::Answer, &spec.answer_needs);
        }
        let is_talk = made.is_empty() && !spec.talk_needs.is_empty();
        self.needs(Due::TurnEnd, if is_talk { &spec.talk_needs } else { &spec.follow_up_needs });
    }

    /// Begins the next request of a turn, with what changes from there on beside its messages.
    fn next_request(&mut self, turn: &TurnSpec) {
        self.n_requests += 1;
        let n = self.n_requests;
        turn.each_change().filter(|it| it.request == n).for_each(|it| self.change(&it));
    }

    fn change(&mut self, spec: &ScriptedChange) {
        for (setting, value) in spec.settings() {
            self.set(setting, value);
        }
        if let Some(stable) = &spec.stable {
            let [tools, system] = self.fronts.change(stable, &mut self.builder);
            self.set(Setting::Tools, &tools);
            self.set(Setting::System, &system);
        }
    }

    fn set(&mut self, setting: Setting, value: &str) {
        // An effort has one number, whichever way it is set.
        let known = if setting == Setting::EffortInBand { Setting::Effort } else { setting };
        let number = ix(self.values[known as usize].insert_full(value.to_owned()).0);
        let before = self.settings;
        self.settings.set(setting, number);
        if self.settings != before {
            self.builder.change(setting, number);
        }
    }

    /// Appends calls that are made in one request, by their pattern's turn and the place of the first in it.
    fn calls(&mut self, turn: &TurnSpec, calls: &[&ScriptedCall], (nth_turn, first): (u64, u64)) {
        let (mut reply, mut results, mut output) = (Vec::new(), Vec::new(), 0);
        for ((spec, nth), answers) in calls.iter().zip(first..).zip(0..) {
            let text = narrow(self.value(&spec.text_tokens, nth_turn, nth));
            let said = [&spec.purpose_tokens, &spec.args_tokens].map(|it| self.value(it, nth_turn, nth));
            let tokens = narrow(said.into_iter().fold(self.overhead, Tokens::saturating_add));
            let sizes = sizes(&spec.result, |it| self.value(it, nth_turn, nth));
            reply.extend((text > 0).then(|| NewItem::plain(Kind::Assistant, text)));
            reply.push(NewItem::call(&spec.tool, tokens));
            let preserve = spec.preserve.unwrap_or(self.unnamed);
            results.push(NewItem::result(&spec.tool, answers, sizes, preserve, recover(spec)));
            let images = images(&spec.images);
            results.extend(images.map(|it| NewItem { tool: &spec.tool, answers: usize::MAX, ..it }));
            output += Tokens::from(text) + Tokens::from(tokens);
        }
        self.next_request(turn);
        self.builder.step(self.at_ms, output, &reply, &results);
        let Some((last, before)) = calls.split_last() else { return };
        let last_place = (nth_turn, first + before.len() as u64);
        self.wait(&turn.response_ms, last.gap_ms.as_ref(), last_place);
        for (fact, place) in calls.iter().flat_map(|it| it.told()) {
            self.builder.plant(&fact, FactForm::Explicit, 0);
            if let Some((behind, of)) = place {
                self.builder.placed(ItemShare { behind, of });
            }
        }
    }

    /// Says when the response to the last request starts, and waits for the next request: without a gap, until the response is there.
    fn wait(&mut self, response_ms: &Amount, gap_ms: Option<&Amount>, (turn, nth): (u64, u64)) {
        let response_ms = self.at_ms.saturating_add(saturated(self.value(response_ms, turn, nth)));
        self.builder.response(response_ms, response_ms);
        self.at_ms = match gap_ms {
            Some(gap_ms) => self.at_ms.saturating_add(saturated(self.value(gap_ms, turn, nth))),
            None => response_ms,
        };
    }

    /// Adds the open turn's needs for earlier turns.
    fn revisits(&mut self, spec: &TurnSpec, reach: u64) {
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

    /// Adds later needs for the open turn.
    fn needs(&mut self, due: Due, weights: &IndexMap<Level, f64>) {
        let own = self.builder.turn_ix();
        for (level, weight) in normalised(weights.iter().map(|(level, it)| (*level, *it))) {
            self.builder.need(due, Need::new(own, level, weight, None));
        }
    }
}

/// The versions of a stable prefix that turns change, item by item: of each kind as many as the longest has.
#[derive(Debug)]
struct ScriptedFronts {
    first: Vec<StableItem>,
    places: Vec<StableItem>,
    /// Whether any turn changes it.
    changes: bool,
}

impl ScriptedFronts {
    /// Adds to a stable prefix the places that it lacks of what turns put there, behind those of their kind.
    fn new(stable: &[StableItem], turns: &[TurnSpec]) -> Self {
        let versions: Vec<Vec<StableItem>> =
            turns.iter().flat_map(TurnSpec::each_change).filter_map(|it| it.stable).collect();
        let mut places = stable.to_vec();
        for item in versions.iter().flatten() {
            let of_kind = |it: &StableItem| it.kind == item.kind;
            let longest = versions.iter().map(|it| it.iter().filter(|it| of_kind(it)).count()).max();
            let behind = match places.iter().rposition(of_kind) {
                Some(last) => last + 1,
                None if item.kind == Kind::ToolSchema => 0,
                None => places.len(),
            };
            let missing = longest.unwrap_or(0).saturating_sub(places.iter().filter(|it| of_kind(it)).count());
            let place = StableItem { tokens: 0, ..item.clone() };
            places.splice(behind..behind, std::iter::repeat_n(place, missing));
        }
        Self { first: stable.to_vec(), places, changes: !versions.is_empty() }
    }

    /// Puts another version in its place; returns what its tools and its system prompt are called.
    fn change(&mut self, stable: &[StableItem], builder: &mut TimelineBuilder) -> [String; 2] {
        let nth = |items: &[StableItem], kind: Kind, n: usize| {
            items.iter().filter(|it| it.kind == kind).nth(n).cloned()
        };
        let mut front = Vec::new();
        for (place, item) in self.places.iter().zip(0..) {
            let n = self.places[..item as usize].iter().filter(|it| it.kind == place.kind).count();
            let (now, first) = (nth(stable, place.kind, n), nth(&self.first, place.kind, n));
            let own = builder.digest_of(item);
            let named = now.as_ref().and_then(|it| it.name.as_ref()).map(|it| xxh3_64(it.as_bytes()));
            let digest = if now == first { own } else { named.unwrap_or(own) };
            front.push(FrontItem { item, tokens: narrow(now.map_or(0, |it| it.tokens)), digest });
        }
        builder.front(front);
        [Kind::ToolSchema, Kind::System].map(|kind| {
            let of = |items: &[StableItem]| {
                format!("{:?}", items.iter().filter(|it| it.kind == kind).collect::<Vec<_>>())
            };
            if of(stable) == of(&self.first) { String::new() } else { of(stable) }
        })
    }
}

/// Begins a timeline with a scenario's name and its stable prefix.
pub fn begin_timeline(spec: &ScenarioFile) -> TimelineBuilder {
    begin_with(spec, &spec.stable)
}

fn begin_with(spec: &ScenarioFile, stable: &[StableItem]) -> TimelineBuilder {
    let mut builder = TimelineBuilder::new(&spec.name, &spec.file_tools);
    if spec.asks_at_end {
        builder.ask_at_end();
    }
    if let Some(ratio) = spec.chars_per_token {
        builder.chars_per_token(ratio);
    }
    for item in stable {
        builder.stable(item.kind, narrow(item.tokens));
    }
    builder.timeline.images.rule = Some(ImageRule::of_model(""));
    builder
}

/// Returns images as items, counted by the rule of models whose own is not published: those of a profile count them anew.
fn images(written: &[ScriptedImages]) -> impl Iterator<Item = NewItem<'static>> {
    written.iter().flat_map(|it| {
        let (size, count) = (it.size(), usize::try_from(it.count).unwrap_or_default());
        std::iter::repeat_n(NewItem::image(size, ImageRule::of_model("").tokens(size)), count)
    })
}

/// Returns the sizes of a result with all defaults filled in.
fn sizes(spec: &ResultSizes, mut at: impl FnMut(&Amount) -> Tokens) -> ItemSizes {
    let raw = at(&spec.raw);
    let excerpt = spec.excerpt.as_ref().map(&mut at);
    let summary = spec.summary.as_ref().map_or(raw.min(SUMMARY_TOKENS_MAX), &mut at);
    ItemSizes {
        raw: narrow(raw),
        excerpt: narrow(excerpt.unwrap_or(summary)),
        summary: narrow(summary),
        handle: narrow(spec.handle.as_ref().map_or(summary.min(HANDLE_TOKENS_MAX), &mut at)),
    }
}

/// Returns the sizes of a result of which only its own size is given.
pub fn sizes_of(raw: u32) -> ItemSizes {
    let summary = raw.min(narrow(SUMMARY_TOKENS_MAX));
    ItemSizes { raw, excerpt: summary, summary, handle: summary.min(narrow(HANDLE_TOKENS_MAX)) }
}

/// Returns the tokens needed to fetch a result again.
fn recover(spec: &ScriptedCall) -> Recover {
    let tokens = |level| spec.recover.get(&level).map_or(0, |it| narrow(*it));
    Recover {
        handle: tokens(Level::ContinuationHandle),
        local: tokens(Level::LocalDetail),
        exact: tokens(Level::ExactEvidence),
    }
}

/// Narrows a checked size.
pub fn narrow(tokens: Tokens) -> u32 {
    saturated(tokens.min(ITEM_TOKENS_MAX))
}
