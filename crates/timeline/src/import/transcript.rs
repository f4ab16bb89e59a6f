//! A recording in the order in which the model saw it, whatever its format; assembled from a harness's records as they happened.

use super::image::LoggedImage;
use crate::import::prelude::*;
use crate::{AgentTotals, AsideBill, AsideKind, FixedPart, ItemIx, Level, LoggedOutcome, Occasion};

/// A recording: its requests, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    /// What is before every prompt, as far as the recording shows it.
    pub(super) stable: Vec<Part>,
    /// Where it changes: each version of it, part by part, the first being `stable`; else nothing.
    pub(super) fronts: Vec<Vec<Part>>,
    /// The requests; never one without a part in its reply.
    pub(super) exchanges: Vec<Exchange>,
    /// What requests were billed that no later prompt follows, and that stand beside none of the others.
    pub(super) aside: Vec<AsideBill>,
    /// Sub-agents of which the log holds totals alone.
    pub(super) agents: Vec<AgentTotals>,
    /// The plan that the log names; empty where it names none.
    pub(super) plan: String,
    /// How far the limits of its account were used up, as often as the log says so.
    pub(super) limits: Vec<LimitReading>,
    /// What became of its task, if the log tells.
    pub(super) outcome: Option<LoggedOutcome>,
    /// Its name within the file; empty for a single session.
    pub(super) name: String,
    /// Of a sub-agent's session: what the sub-agent is called, and the session whose agent started it.
    pub(super) of_agent: Option<[String; 2]>,
    /// The working folder; empty where the log names none, or where its index knows it.
    pub(super) folder: String,
    /// The harness, as the rules call it; empty where none is known.
    pub(super) harness: &'static str,
    /// How long its harness asks entries to live, where no rule says so.
    pub(super) ttl: Option<TtlClass>,
    /// Whether its harness is known to make side requests, which no record shows.
    pub(super) makes_side_requests: bool,
    /// Whether its plain input is what is after the last breakpoint.
    pub(super) has_breakpoints: bool,
    /// Whether its output counts are what the reply takes in the next prompt.
    pub(super) counts_output: bool,
    /// Whether it is a review that another session asked for.
    pub(super) is_review: bool,
    /// Whether its usage is known for the session alone, and spread over its requests.
    pub(super) is_spread: bool,
    /// Whether its log marks every compaction, so that a prompt which shrinks a little without a mark was not compacted.
    pub(super) marks_compactions: bool,
    /// Whether no prompt holds any reasoning.
    pub(super) drops_reasoning: bool,
    /// Whether reasoning leaves the prompts when the user speaks again.
    pub(super) forgets_reasoning: bool,
    /// The format whose table of tools applies, where it is not the one that was read.
    pub(super) tools_of: Option<&'static str>,
    /// Needs that were inferred from texts which are no longer there: in the history as the harness left it, and as it would
    /// have been had the harness taken nothing out.
    pub(super) needs: [Vec<PartNeed>; 2],
    /// What its draws are made from, where the texts are no longer there.
    pub(super) draws: Option<u64>,
    /// What is assumed of the history that the harness took out, in sentences.
    pub(super) assumptions: Vec<String>,
    /// What other sessions of the same user tell of it.
    pub(super) neighbours: Neighbours,
}

/// One request: what came before it, what the model answered, what its calls gave back.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    /// The user's parts, where the request begins a turn.
    pub(super) begins: Option<Vec<Part>>,
    /// Milliseconds on the recording's clock at which the request started.
    pub(super) at_ms: Option<i64>,
    /// The same, at which the response began, as far as the recording says.
    pub(super) response_ms: Option<i64>,
    /// The same, at which it ended.
    pub(super) end_ms: Option<i64>,
    /// What the log says of a compaction of the history before this request.
    pub(super) compacts: Option<LoggedCompaction>,
    /// What the requests were billed that wrote the summary, if the log says so.
    pub(super) summarised: Vec<Usage>,
    /// What the log says of the sizes of that history and its summary.
    pub(super) summary_sizes: SummarySizes,
    /// What ran inside it, or beside it.
    pub(super) inner: Vec<AsideBill>,
    /// The results, by their places among the parts of the transcript, that the harness cleared before this request.
    pub(super) cleared: Vec<usize>,
    /// The first of the parts, by its place in the transcript, that the user's going back took out before this request.
    pub(super) rewound_to: Option<usize>,
    /// Skills, restarts and diagnoses that the log has for it.
    pub(super) before: Vec<Occasion>,
    /// When the harness had summed up for the user what was done, before this request.
    pub(super) recaps: Vec<i64>,
    /// The version of the harness that made it.
    pub(super) version: Version,
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
    /// What it asked for beside its messages, where the log has bodies of requests.
    pub(super) form: RequestForm,
}

/// What a request asks for beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RequestForm {
    /// Marks for the cache.
    pub(super) marks: Vec<LoggedMark>,
    /// What stands for the value of each setting that is not as at the beginning.
    pub(super) settings: Vec<(Setting, u32)>,
    /// Which of the session's fronts its prompt begins with: the first, or another of [`Transcript::fronts`].
    pub(super) front: usize,
}

impl RequestForm {
    /// Returns what stands for the value of a setting.
    pub(super) fn value(&self, setting: Setting) -> u32 {
        self.settings.iter().find(|it| it.0 == setting).map_or(0, |it| it.1)
    }
}

/// A mark for the cache in the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LoggedMark {
    /// How many parts of the transcript are before it; `None` for one that the provider places at the end.
    pub(super) n_before: Option<usize>,
    /// Whether its entry lives for an hour.
    pub(super) is_long: bool,
}

/// A need for a result, which stands among the parts of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PartNeed {
    /// The rule that found it.
    #[serde(skip)]
    pub(super) rule: &'static str,
    /// The request whose calls reveal it.
    #[serde(rename = "request")]
    pub(super) exchange: usize,
    /// The result, by its place.
    pub(super) part: usize,
    /// How much of it.
    pub(super) level: Level,
    /// The probability, and its interval.
    pub(super) weight: [f64; 3],
    /// Other parts that name the result's source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) mentions: Vec<usize>,
}

/// A compaction of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoggedCompaction {
    /// The first part, counted from the first of the transcript, that stays; beyond all parts, when none does.
    pub(super) stays_from: usize,
    /// Who wanted it.
    pub(super) cause: Remover,
}

/// What a log says of a compaction beside the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SummarySizes {
    /// Tokens of the history before, and of what stands in its place.
    pub(super) before: Option<Tokens>,
    pub(super) after: Option<Tokens>,
    /// When the summary was asked for, in milliseconds since 1970.
    pub(super) at_ms: Option<i64>,
    /// Whether the request that wrote it stands in the log as one of the agent's own.
    pub(super) is_step: bool,
}

/// Who wanted history to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remover {
    /// The harness, to make room.
    #[default]
    Harness,
    /// The user asked for a summary.
    Asked,
    /// The user began again: nothing represents what went.
    Cleared,
}

/// One message part.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// What it is.
    pub(super) kind: Kind,
    pub(super) characters: u64,
    /// Stands for its content.
    pub(super) digest: u64,
    /// Its tokens, where a tokenizer counted its text.
    pub(super) tokens: Option<Tokens>,
    /// Until its transcript is assembled: the name of the call that it is or answers; empty where there is none.
    pub(super) call: String,
    /// The tool of a call or a result, as recorded.
    pub(super) tool: String,
    /// Of a result: which call of the reply it answers.
    pub(super) answers: usize,
    /// Of a call without its text: what stands for the file that it names.
    pub(super) file: Option<u64>,
    /// Whether the harness put it in the place of history that it took out.
    pub(super) stands_in: bool,
    /// Of a message before the user's first: what of the fixed part of the prompts it is.
    pub(super) fixed: Option<FixedPart>,
    /// The images in it, until they are parts of their own; of one that is, itself.
    pub(super) images: Vec<LoggedImage>,
    /// Its text, where the recording has it; of a call, its input as JSON. Held once, however often the part is cloned.
    pub(super) text: Option<Arc<str>>,
}

/// Names the sessions of a file apart, by what each is called or else by its number; one that is alone needs no name.
pub(super) fn named_apart(sessions: Vec<(String, Transcript)>) -> Vec<Transcript> {
    let several = sessions.len() > 1;
    let named = sessions.into_iter().zip(1_usize..).map(|((id, session), number)| {
        let id = if id.is_empty() { number.to_string() } else { id };
        Transcript { name: if several { id } else { String::new() }, ..session }
    });
    named.collect()
}

impl Transcript {
    /// Returns the model of a request: one that was not billed names none, where others were.
    pub(super) fn model_of<'e>(&self, exchange: &'e Exchange) -> &'e str {
        let is_named = exchange.usage.is_some() || self.exchanges.iter().all(|it| it.usage.is_none());
        if is_named { &exchange.model } else { "" }
    }

    /// Returns how many tokens a reply takes in later prompts, where its harness logs counted outputs; an output of at most `placeholder_max`
    /// tokens is a placeholder and no count.
    pub(super) fn kept_of_reply(&self, exchange: &Exchange, placeholder_max: Tokens) -> Option<Tokens> {
        let output = exchange.usage?.output;
        let less = HarnessRules::reply_less(self.harness, exchange.version, &exchange.model)?;
        (output > placeholder_max).then(|| output.saturating_sub(less))
    }

    /// Counts what the user said as the model counts it that was billed for it, where that is known.
    pub(super) fn count_users(&mut self) {
        for exchange in self.exchanges.iter_mut().filter(|it| it.usage.is_some()) {
            let said = exchange.begins.iter_mut().flatten().filter(|it| it.kind == Kind::User);
            for part in said {
                let counted = part.text.as_ref().and_then(|it| tokens::of_model(&exchange.model, it));
                part.tokens = part.tokens.or(counted);
            }
        }
    }

    /// Returns whether any request has a bill.
    pub(super) fn is_billed(&self) -> bool {
        self.exchanges.iter().any(|it| it.usage.is_some())
    }

    /// Returns whether any request wrote to the cache for a price, which takes breakpoints.
    pub(super) fn has_writes(&self) -> bool {
        self.exchanges.iter().filter_map(|it| it.usage).any(|usage| usage.cache_write > 0)
    }

    /// Returns what stands before the messages of the first prompt: so many items that the log does not show, then what it does, each at
    /// its place among the items.
    pub(super) fn fixed(&self, n_hidden: ItemIx, places: &[ItemIx]) -> Box<[(ItemIx, FixedPart)]> {
        let hidden = (0..n_hidden).map(|it| (it, FixedPart::NotShown));
        let stable = self.stable.iter().map(|it| Some(FixedPart::of_stable(it.kind)));
        let said = self.exchanges.first().map_or(&[] as &[Part], Exchange::user).iter().map(|it| it.fixed);
        let shown = stable.chain(said).zip(places).filter_map(|(part, place)| Some((*place, part?)));
        hidden.chain(shown).collect()
    }

    /// Returns before which requests a summary took the place of a history that the recording shows, whoever wanted it.
    pub(super) fn summarised(&self) -> Vec<usize> {
        let exchanges = self.exchanges.iter().enumerate().skip(1);
        let is_summarised = |it: &Exchange| it.compacts.is_some_and(|it| it.cause != Remover::Cleared);
        exchanges.filter(|(_, it)| is_summarised(it)).map(|it| it.0).collect()
    }
}

impl Part {
    /// A part with content of so many characters.
    pub(super) fn new(kind: Kind, characters: u64, content_digest: u64) -> Self {
        // Equal texts of different kinds are kept apart.
        let digest = xxh3_64_with_seed(&content_digest.to_le_bytes(), kind as u64 + 1);
        Self {
            kind,
            characters,
            digest,
            tokens: None,
            call: String::new(),
            tool: String::new(),
            answers: usize::MAX,
            file: None,
            stands_in: false,
            fixed: None,
            images: Vec::new(),
            text: None,
        }
    }

    /// A part with its content, and its text where that is known.
    pub(super) fn of(kind: Kind, content: impl Into<Content>) -> Self {
        let Content { measured, text, images } = content.into();
        Self { text, images, ..Self::new(kind, measured.characters, measured.digest) }
    }

    /// What a model said or thought, if it is anything.
    pub(super) fn spoken(kind: Kind, content: Option<Content>) -> Option<Self> {
        let content = content.filter(|it| it.measured.characters > 0 || !it.images.is_empty())?;
        Some(Self::of(kind, content))
    }

    /// A call of a tool with its arguments.
    pub(super) fn call(id: &str, tool: &str, arguments: Content) -> Self {
        let measured = Measured::text(tool).then(arguments.measured, 0);
        let part = Self::of(Kind::ToolCall, Content { measured, ..arguments });
        Self { call: id.to_owned(), tool: tool.to_owned(), ..part }
    }

    /// What a call gave back, whose tool may be known by the call alone.
    pub(super) fn result(call: &str, tool: &str, content: impl Into<Content>) -> Self {
        Self { call: call.to_owned(), tool: tool.to_owned(), ..Self::of(Kind::ToolResult, content) }
    }

    /// The same content as another kind of part, which is neither call nor result.
    pub(super) fn with_kind(self, kind: Kind) -> Self {
        Self { kind, call: String::new(), tool: String::new(), answers: usize::MAX, ..self }
    }
}

impl Exchange {
    /// Returns the user's parts that are before the reply.
    pub(super) fn user(&self) -> &[Part] {
        self.begins.as_deref().unwrap_or_default()
    }

    /// Returns what the log tells of it besides messages.
    pub(super) fn occasions(&self) -> impl Iterator<Item = Occasion> {
        let is_marked = self.compacts.is_some() || !self.cleared.is_empty();
        self.before.iter().copied().chain(is_marked.then_some(Occasion::Removed))
    }

    /// Returns whether the model asked for tools, so that the turn goes on.
    pub(super) fn has_calls(&self) -> bool {
        self.reply.iter().any(|it| it.kind == Kind::ToolCall)
    }
}

/// What stands in the place of a history.
#[derive(Debug)]
pub(super) struct HistorySummary {
    pub(super) parts: Vec<Part>,
    /// The first part of the history that stays; beyond all parts, when none does.
    pub(super) stays_from: usize,
    /// Who wanted it.
    pub(super) cause: Remover,
    /// What the request for it was billed, if the log says so.
    pub(super) bill: Option<Usage>,
}

impl HistorySummary {
    /// Parts in the place of the whole history.
    pub(super) fn new(parts: Vec<Part>) -> Self {
        Self { parts, stays_from: usize::MAX, cause: Remover::Harness, bill: None }
    }

    /// A text in the place of the whole history.
    pub(super) fn of(content: impl Into<Content>) -> Self {
        Self::new(vec![Part::of(Kind::Summary, content)])
    }
}

/// The requests so far, and what waits for the next one.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    transcript: Transcript,
    /// The user's parts that no request has seen yet.
    pending: Pending,
    /// By name, the calls of the last reply and of those before it.
    calls: IndexMap<String, AssembledCall>,
    /// By call, the places of its result and of the images in it among the parts.
    results: IndexMap<String, Range<usize>>,
    /// When the last thing after the last reply arrived.
    after_ms: Option<i64>,
    n_parts: usize,
}

#[derive(Debug, Default)]
struct Pending {
    parts: Vec<Part>,
    line: usize,
    at_ms: Option<i64>,
    compacts: Option<LoggedCompaction>,
    summarised: Vec<Usage>,
    summary_sizes: SummarySizes,
    /// How many of the parts came before that.
    n_before: usize,
    cleared: Vec<usize>,
    rewound_to: Option<usize>,
    before: Vec<Occasion>,
    recaps: Vec<i64>,
}

/// A call: which request made it, which of its calls it is, and its tool.
#[derive(Debug)]
struct AssembledCall {
    exchange: usize,
    nth: usize,
    tool: String,
}

impl Assembler {
    /// Appends to what is before every prompt; nothing else may have come yet.
    pub(super) fn stable(&mut self, mut part: Part) {
        part.count_images_as_text();
        self.transcript.stable.push(part);
        self.n_parts += 1;
    }

    /// Returns how many parts there are so far: the index of the next one.
    pub(super) fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// Returns whether nothing of the conversation has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.transcript.exchanges.is_empty() && self.pending.parts.is_empty()
    }

    /// Appends a part of the user's side: to a new turn, or to the results when the turn goes on and nobody typed it.
    pub(super) fn said(&mut self, stamp: Stamp, part: Part, is_typed: bool) {
        let (said, images) = part.apart();
        for part in said.into_iter().chain(images) {
            self.said_alone(stamp, part, is_typed);
        }
    }

    fn said_alone(&mut self, stamp: Stamp, mut part: Part, is_typed: bool) {
        self.n_parts += 1;
        // Where the harness compacted the history, and nobody has typed anything since.
        let is_replacing = || self.pending.parts[self.pending.n_before..].iter().all(|it| it.stands_in);
        part.stands_in |= !is_typed && self.pending.compacts.is_some() && is_replacing();
        match self.transcript.exchanges.last_mut().filter(|it| it.has_calls()) {
            Some(last) if !is_typed && self.pending.parts.is_empty() => {
                last.results.push(part);
                self.after_ms = self.after_ms.max(stamp.ms);
            }
            _ => {
                self.pending.line = stamp.line;
                self.pending.at_ms = self.pending.at_ms.max(stamp.ms);
                self.pending.parts.push(part);
            }
        }
    }

    /// Appends a part that the harness put in the place of history; it begins a turn.
    pub(super) fn stood_in(&mut self, stamp: Stamp, part: Part) {
        self.said(stamp, Part { stands_in: true, ..part }, true);
    }

    /// Records that the history was removed; only parts from this index on stay.
    pub(super) fn compacted(&mut self, stays_from: usize, cause: Remover) {
        let before = self.pending.compacts.map_or(cause, |it| it.cause);
        self.pending.compacts = Some(LoggedCompaction { stays_from, cause: cause.max(before) });
        self.pending.n_before = self.pending.parts.len();
    }

    /// Records what a summary was billed that takes the place of the history: its request is none of the agent's own.
    pub(super) fn summarised(&mut self, line: usize, bill: Usage) {
        self.pending.line = line;
        self.pending.summarised.push(bill);
    }

    /// Records what the log says of the sizes of a compaction that comes, or came.
    pub(super) fn sized(&mut self, sizes: SummarySizes) {
        self.pending.summary_sizes = sizes;
    }

    /// Puts something in the place of the history.
    pub(super) fn replaced(&mut self, stamp: Stamp, summary: HistorySummary) {
        self.compacted(summary.stays_from, summary.cause);
        for part in summary.parts {
            self.stood_in(stamp, part);
        }
        if let Some(bill) = summary.bill {
            self.summarised(stamp.line, bill);
        }
    }

    /// Records a log event before the next request.
    pub(super) fn happened(&mut self, occasion: Occasion) {
        self.pending.before.push(occasion);
    }

    /// Records that the harness summed up for the user what was done.
    pub(super) fn recapped(&mut self, at_ms: i64) {
        self.pending.recaps.push(at_ms);
    }

    /// Records that the user went back: no part from this index on is in a later prompt.
    pub(super) fn rewound(&mut self, first: usize) {
        let n_sent = self.n_parts - self.pending.parts.len();
        if first < n_sent {
            self.pending.rewound_to = Some(self.pending.rewound_to.map_or(first, |it| it.min(first)));
        }
        self.pending.parts.truncate(first.saturating_sub(n_sent));
        self.n_parts = n_sent + self.pending.parts.len();
    }

    /// Says that the harness cleared the results of these calls; returns how many there are.
    pub(super) fn cleared(&mut self, calls: &[String]) -> usize {
        let places = calls.iter().filter_map(|it| self.results.swap_remove(it)).collect::<Vec<_>>();
        let n_results = places.len();
        self.pending.cleared.extend(places.into_iter().flatten());
        self.pending.cleared.sort_unstable();
        n_results
    }

    /// Appends a result; one that answers no call of the last reply stands without its call.
    pub(super) fn answered(&mut self, stamp: Stamp, part: Part, losses: &mut Losses) {
        let n_exchanges = self.transcript.exchanges.len();
        let Some(last) = self.transcript.exchanges.last_mut() else {
            losses.add(stamp.line, "results before the first request, which count as user text");
            return self.said(stamp, part.with_kind(Kind::User), true);
        };
        let call = self.calls.get(&part.call);
        let tool = if part.tool.is_empty() { call.map_or("", |it| &it.tool).to_owned() } else { part.tool };
        let answers = match call {
            Some(call) if call.exchange + 1 == n_exchanges => call.nth,
            _ => {
                losses.add(
                    stamp.line,
                    "results that answer no call of the previous reply; they are kept without a call",
                );
                usize::MAX
            }
        };
        let (result, images) = Part { call: String::new(), tool, answers, ..part }.apart();
        let first = self.n_parts;
        self.n_parts += images.len() + usize::from(result.is_some());
        last.results.extend(result.into_iter().chain(images));
        self.results.insert(part.call, first..self.n_parts);
        self.after_ms = self.after_ms.max(stamp.ms);
    }

    /// Appends what the last reply brought about as a whole, and no call of it.
    pub(super) fn observed(&mut self, at_ms: Option<i64>, part: Part) {
        let Some(last) = self.transcript.exchanges.last_mut() else { return };
        let (observed, images) = part.apart();
        self.n_parts += images.len() + usize::from(observed.is_some());
        last.results.extend(observed.into_iter().chain(images));
        self.after_ms = self.after_ms.max(at_ms);
    }

    /// Appends a request with its reply; of what came before it, the exchange says nothing.
    pub(super) fn replied(&mut self, mut exchange: Exchange) {
        // The provider may have the history summarised first.
        let is_summary = |it: &mut AsideBill| it.kind == AsideKind::Summary;
        for bill in exchange.inner.extract_if(.., is_summary).collect::<Vec<_>>() {
            let parts = exchange.reply.extract_if(.., |it| it.kind == Kind::Summary).collect();
            let stamp = Stamp { line: self.pending.line, ms: exchange.at_ms.or(exchange.response_ms) };
            self.replaced(stamp, HistorySummary { bill: Some(bill.usage), ..HistorySummary::new(parts) });
        }
        let pending = std::mem::take(&mut self.pending);
        let n_exchanges = self.transcript.exchanges.len();
        let mut nth = 0;
        for part in &mut exchange.reply {
            let name = std::mem::take(&mut part.call);
            if part.kind == Kind::ToolCall {
                let call = AssembledCall { exchange: n_exchanges, nth, tool: part.tool.clone() };
                self.calls.insert(name, call);
                nth += 1;
            }
            part.count_images_as_text();
        }
        if exchange.reply.is_empty() {
            exchange.reply.push(Part::new(Kind::Assistant, 0, 0));
        }
        self.n_parts += exchange.reply.len();
        let begins = !pending.parts.is_empty() || pending.compacts.is_some() || n_exchanges == 0;
        self.transcript.exchanges.push(Exchange {
            begins: begins.then_some(pending.parts),
            at_ms: exchange.at_ms.or(pending.at_ms.max(self.after_ms)).or(exchange.response_ms),
            end_ms: exchange.end_ms.max(exchange.response_ms),
            compacts: pending.compacts,
            summarised: pending.summarised,
            summary_sizes: pending.summary_sizes,
            cleared: pending.cleared,
            rewound_to: pending.rewound_to,
            before: pending.before,
            recaps: pending.recaps,
            ..exchange
        });
        self.after_ms = None;
    }

    /// Ends the recording.
    pub(super) fn finish(self, losses: &mut Losses) -> Transcript {
        let Self { mut transcript, pending, .. } = self;
        if !pending.parts.is_empty() {
            losses.add(pending.line, "user text after the last request, which no model has seen");
        }
        for _ in pending.summarised {
            losses.add(pending.line, "bills of summaries after the last request");
        }
        let n = transcript.summarised().len();
        if n > 0 {
            transcript.assumptions.push(format!(
                "Compactions: {n}. What stands in the place of the history begins a turn, and no policy has what it replaced."
            ));
        }
        transcript
    }
}
