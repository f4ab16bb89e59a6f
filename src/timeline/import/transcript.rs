//! A recording in the order in which the model saw it, whatever its format, and the way from there to a timeline.

use std::sync::Arc;

use indexmap::IndexSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::assumed::{Assumed, sentences};
use super::content::{Content, Measured};
use super::sizes::{Reset, allot};
use super::wrapped::unwrap;
use crate::model::cache::Setting;
use crate::quantity::{Cost, Tokens};
use crate::spec::scenario::{AssumeSpec, TokenizerSpec};
use crate::timeline::infer_needs::infer_needs;
use crate::timeline::{Harness, ItemIx, Kind, NewItem, Timeline, TimelineBuilder, Usage};
use crate::tokens;

/// A recording: its requests, in order.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// What stands in front of every prompt, as far as the recording shows it.
    pub(super) stable: Vec<Part>,
    /// The requests; never one without a part in its reply.
    pub(super) exchanges: Vec<Exchange>,
    /// What tells it from others of the same file; empty when it is alone.
    pub(super) name: String,
    /// How its harness uses the provider's cache.
    pub(super) harness: Harness,
    /// Whether its harness is known to make side requests, which no record shows.
    pub(super) makes_side_requests: bool,
    /// Whether these are assumed, where the scenario says nothing: not where the recording is
    /// the harness's own log, which is believed.
    pub(super) assumes_side_requests: bool,
    /// Whether its plain input is what stands behind the last breakpoint.
    pub(super) has_breakpoints: bool,
    /// Whether its output counts are what the reply takes in the next prompt.
    pub(super) counts_output: bool,
    /// Whether reasoning leaves the prompts when the user speaks again.
    pub(super) forgets_reasoning: bool,
    /// What reading it had to assume, in sentences.
    pub(super) assumptions: Vec<String>,
}

/// One request: what came before it, what the model answered, what its calls gave back.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The user's parts, where the request begins a turn.
    pub(super) begins: Option<Vec<Part>>,
    /// Milliseconds on the recording's clock at which the request started.
    pub(super) at_ms: Option<i64>,
    /// The same, at which the response began, as far as the recording says.
    pub(super) response_ms: Option<i64>,
    /// The same, at which it ended.
    pub(super) end_ms: Option<i64>,
    /// The first part, counted from the first of the transcript, that stays where the harness compacted the history
    /// before this request; beyond all parts, when none does.
    pub(super) compacts: Option<usize>,
    /// Which model answered; empty where the recording does not say.
    pub(super) model: String,
    /// What the provider billed.
    pub(super) usage: Option<Usage>,
    /// How much of its output was reasoning.
    pub(super) reasoning: Tokens,
    /// What the harness says that it cost.
    pub(super) cost: Option<Cost>,
    /// What the model answered.
    pub(super) reply: Vec<Part>,
    /// What came back, and what the user's side said before the next request of the turn.
    pub(super) results: Vec<Part>,
}

/// One message part.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// What it is.
    pub(super) kind: Kind,
    /// Its characters.
    pub(super) characters: u64,
    /// Stands for its content.
    pub(super) digest: u64,
    /// Its tokens, where a tokenizer counted its text.
    pub(super) tokens: Option<Tokens>,
    /// The tool of a call or a result, as recorded.
    pub(super) tool: String,
    /// Of a result: which call of the reply it answers.
    pub(super) answers: usize,
    /// Its text, where the recording has it; of a call, its input as JSON. Held once, however often the part is cloned.
    pub(super) text: Option<Arc<str>>,
}

impl Part {
    /// A part with content of so many characters.
    pub(super) fn new(kind: Kind, characters: u64, content_digest: u64) -> Self {
        let digest = xxh3_64_with_seed(&content_digest.to_le_bytes(), label(kind));
        Self { kind, characters, digest, tokens: None, tool: String::new(), answers: usize::MAX, text: None }
    }

    /// A part with its content, and its text where that is known.
    pub(super) fn of(kind: Kind, content: impl Into<Content>) -> Self {
        let Content { measured, text } = content.into();
        Self { text, ..Self::new(kind, measured.characters, measured.digest) }
    }

    /// The same content as another kind of part, which is neither call nor result.
    pub(super) fn with_kind(self, kind: Kind) -> Self {
        Self { kind, tool: String::new(), answers: usize::MAX, ..self }
    }
}

/// A part and the name of its call; empty where there is none.
#[derive(Debug)]
pub(super) struct Named {
    /// The call's name.
    pub(super) call: String,
    /// The part.
    pub(super) part: Part,
}

impl Named {
    /// A part that is no call.
    pub(super) fn plain(part: Part) -> Self {
        Self { call: String::new(), part }
    }

    /// A call of a tool with its arguments.
    pub(super) fn call(id: &str, tool: &str, arguments: Content) -> Self {
        let measured = Measured::text(tool).then(arguments.measured, 0);
        let mut part = Part::of(Kind::ToolCall, Content { measured, ..arguments });
        tool.clone_into(&mut part.tool);
        Self { call: id.to_owned(), part }
    }
}

impl Exchange {
    /// Returns the user's parts that stand before the reply.
    pub(super) fn user(&self) -> &[Part] {
        self.begins.as_deref().unwrap_or_default()
    }

    /// Returns whether the model asked for tools, so that the turn goes on.
    pub(super) fn has_calls(&self) -> bool {
        self.reply.iter().any(|it| it.kind == Kind::ToolCall)
    }
}

/// Keeps equal texts of different kinds apart.
fn label(kind: Kind) -> u64 {
    match kind {
        Kind::System => 1,
        Kind::ToolSchema => 2,
        Kind::User => 3,
        Kind::Assistant => 4,
        Kind::Reasoning => 5,
        Kind::ToolCall => 6,
        Kind::ToolResult => 7,
        Kind::Summary => 8,
        Kind::Memory => 9,
        Kind::Approval => 10,
    }
}

impl Transcript {
    /// Counts the texts of all parts by a tokenizer, where one is chosen and built; returns which.
    fn count(&mut self, chosen: Option<TokenizerSpec>) -> Option<TokenizerSpec> {
        let tokenizer = chosen.and_then(tokens::tokenizer)?;
        let of_exchanges = self
            .exchanges
            .iter_mut()
            .flat_map(|it| it.begins.iter_mut().flatten().chain(&mut it.reply).chain(&mut it.results));
        for part in self.stable.iter_mut().chain(of_exchanges) {
            part.tokens = part.text.as_ref().map(|it| tokenizer.count(it));
        }
        chosen
    }

    /// Puts the timeline together.
    pub(super) fn into_timeline(
        mut self,
        name: &str,
        assume: &AssumeSpec,
        file_tools: &[String],
    ) -> Timeline {
        let assume = assume.complete();
        let assumed = Assumed::new(&assume);
        unwrap(&mut self.exchanges, &assume.tools);
        let mut builder = TimelineBuilder::new(name, file_tools);
        builder.tokenizer(self.count(assume.tokenizer));
        let allotment = allot(&self, assumed.counting);
        let quiet = assumed.quiet(&self.exchanges);
        builder.chars_per_token(assumed.counting.chars_per_token);
        for sentence in sentences(&self, &assumed, &allotment) {
            builder.assume(sentence);
        }
        if allotment.overhead > 0 {
            builder.stable(Kind::System, u32::try_from(allotment.overhead).unwrap_or(u32::MAX));
        }
        let mut clock = Clock::default();
        builder.harness(assumed.harness(&self));
        let mut tokens = allotment.tokens.iter().copied();
        let mut places: Vec<ItemIx> = (builder.next_item()..).take(self.stable.len()).collect();
        for item in assumed.items(&self.stable, &mut tokens) {
            builder.stable_item(&item);
        }
        let mut forgotten = allotment.forgotten.iter().peekable();
        let mut models = Models::default();
        let mut resets = Resets::new(&allotment.resets, builder.next_item());
        for (index, exchange) in self.exchanges.iter().enumerate() {
            models.tell(&exchange.model, &mut builder);
            if exchange.begins.is_some() {
                if quiet.contains(&index) {
                    builder.quiet();
                }
                let mut user: Vec<NewItem<'_>> = resets.carried(index, true).into_iter().collect();
                let n_carried = user.len();
                user.extend(assumed.items(exchange.user(), &mut tokens));
                let first = builder.next_item();
                resets.apply(index, &mut builder, first, &places);
                while let Some((_, part)) = forgotten.next_if(|it| it.0 == index) {
                    if let Some(item) = places.get(*part) {
                        builder.reset(*item..item + 1);
                    }
                }
                builder.begin_turn(&user);
                places.extend((first..).skip(n_carried).take(exchange.user().len()));
            }
            let reply = assumed.items(&exchange.reply, &mut tokens);
            let mut results = assumed.items(&exchange.results, &mut tokens);
            places.extend((builder.next_item()..).take(reply.len() + results.len()));
            results.extend(resets.carried(index + 1, false));
            let written = reply.iter().map(|it| Tokens::from(it.sizes.raw)).sum();
            builder.step(
                clock.since_start(exchange.at_ms),
                assumed.output(exchange, written),
                &reply,
                &results,
            );
            builder.response(clock.place(exchange.response_ms), clock.place(exchange.end_ms));
            if let Some(usage) = exchange.usage {
                builder.usage(usage);
                builder.tail(if self.has_breakpoints { usage.uncached } else { 0 });
            }
            if let Some(cost) = exchange.cost {
                builder.cost(cost);
            }
            if self.exchanges.get(index + 1).is_some_and(|it| it.begins.is_none()) {
                let first = builder.next_item() - u32::from(resets.carries(index + 1));
                resets.apply(index + 1, &mut builder, first, &places);
            }
        }
        let mut timeline = builder.finish();
        infer_needs(&mut timeline, &assumed.needs, file_tools);
        timeline
    }
}

/// The models of a recording, in the order in which they come.
#[derive(Default)]
struct Models<'a> {
    names: IndexSet<&'a str>,
    last: usize,
}

impl<'a> Models<'a> {
    /// Tells the builder when the next request is another model's than the one before.
    fn tell(&mut self, model: &'a str, builder: &mut TimelineBuilder) {
        if model.is_empty() {
            return;
        }
        let (number, _) = self.names.insert_full(model);
        if std::mem::replace(&mut self.last, number) != number {
            builder.change(Setting::Model, u32::try_from(number).unwrap_or(u32::MAX));
        }
    }
}

/// Milliseconds since the first request; a clock that goes back stands still.
#[derive(Default)]
struct Clock {
    start: Option<i64>,
    last: i64,
}

impl Clock {
    fn since_start(&mut self, at_ms: Option<i64>) -> i64 {
        if let Some(at_ms) = at_ms {
            let start = *self.start.get_or_insert(at_ms);
            self.last = self.last.max(at_ms.saturating_sub(start));
        }
        self.last
    }

    /// Returns where a time lies since the first request; at the last one, when it is not known.
    fn place(&self, at_ms: Option<i64>) -> i64 {
        let start = self.start.unwrap_or(0);
        at_ms.map_or(self.last, |it| it.saturating_sub(start))
    }
}

/// The resets of a recording while its timeline is put together.
struct Resets<'a> {
    left: std::slice::Iter<'a, Reset>,
    next: Option<&'a Reset>,
    n_stable: ItemIx,
}

impl<'a> Resets<'a> {
    fn new(resets: &'a [Reset], n_stable: ItemIx) -> Self {
        let mut left = resets.iter();
        let next = left.next();
        Self { left, next, n_stable }
    }

    /// Returns whether something unknown stands for what a reset before this request took out.
    fn carries(&self, exchange: usize) -> bool {
        self.next.is_some_and(|it| it.exchange == exchange && it.carried > 0)
    }

    /// Returns what stands for it, in the message that the request begins with or in the one before.
    fn carried(&self, exchange: usize, begins: bool) -> Option<NewItem<'static>> {
        let reset =
            self.next.filter(|it| it.exchange == exchange && it.carried > 0 && it.begins == begins)?;
        Some(NewItem::plain(Kind::Summary, u32::try_from(reset.carried).unwrap_or(u32::MAX)))
    }

    /// Tells the builder of the reset before a request: up to `end`, and from the first part that goes.
    fn apply(&mut self, exchange: usize, builder: &mut TimelineBuilder, end: ItemIx, places: &[ItemIx]) {
        let Some(reset) = self.next.filter(|it| it.exchange == exchange) else { return };
        let place = |part: usize| places.get(part).copied().unwrap_or(end).min(end);
        let (start, end) = (reset.from.map_or(self.n_stable, place), reset.to.map_or(end, place));
        builder.reset(start..end);
        self.next = self.left.next();
    }
}
