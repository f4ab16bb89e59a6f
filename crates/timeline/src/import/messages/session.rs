//! The messages of one conversation, whichever interface they were written for.

use ctxsim_input::profile::cache::SETTINGS;

use super::record::{BilledReply, MessageRecord, Raw, ReplyRecord, RequestRecord, billed, object};
use crate::import::codex::{ItemRecord, item_call, item_output, item_reasoning};
use crate::import::prelude::*;
use crate::import::transcript::{LoggedMark, RequestForm};
use crate::import::values::{CacheControl, MessageBlock};
use crate::{LoggedOutcome, Occasion};

/// Returns whether a type is that of an item without a role.
pub(super) fn is_item(kind: &str) -> bool {
    kind == "reasoning" || kind.ends_with("_call") || kind.ends_with("_call_output")
}

/// Returns, for each message, what represents it and all before it.
pub(super) fn histories(list: &[&RawValue]) -> Vec<u64> {
    let mut history = 0;
    let digests = list.iter().map(|it| {
        let message = json::first::<MessageRecord<'_>>(it.get()).unwrap_or_default();
        let content = message.content.as_blocks().measured;
        // What a reply says beside its text matters only as far as its calls are named.
        let calls = message.tool_calls.map_or("", RawValue::get);
        let own = xxh3_64_with_seed(message.role.0.as_bytes(), content.digest)
            ^ xxh3_64_with_seed(calls.as_bytes(), 1);
        history = xxh3_64_with_seed(&own.to_le_bytes(), history);
        history
    });
    digests.collect()
}

/// A conversation so far.
#[derive(Debug, Default)]
pub(super) struct MessageSession {
    assembler: Assembler,
    /// Items of a reply that is not complete yet.
    open: Option<Exchange>,
    /// Whether the last reply is one that was recorded as such, which the next request repeats.
    is_replied: bool,
    /// When the request was made whose messages come.
    pub(super) at_ms: Option<i64>,
    has_breakpoints: bool,
    has_usage: bool,
    /// The versions of what stands before the messages.
    fronts: Vec<LoggedFront>,
    /// By setting, the values so far.
    values: [IndexSet<String>; SETTINGS.len()],
    /// What the open request asks for beside its messages.
    form: RequestForm,
    /// By message, how many parts there are up to its end.
    pub(super) ends: Vec<usize>,
    /// What became of its task, if the log tells.
    pub(super) outcome: Option<LoggedOutcome>,
    /// Whether commands stand in the text of replies, and what they print in the next message.
    pub(super) has_commands: bool,
    /// How many commands there were, and whether the last one has no result yet.
    commands: (usize, bool),
}

/// What stands before the messages of a request.
#[derive(Clone, Debug, Default)]
struct LoggedFront {
    tools: Vec<Part>,
    system: Vec<Part>,
    /// What stands for its tools, in whatever order they and their members are.
    same: u64,
}

impl LoggedFront {
    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.tools.iter().chain(&self.system)
    }

    /// Returns what its halves are to providers that tell prompts apart by them as a whole.
    fn settings(&self) -> [(Setting, String); 2] {
        let digests = |parts: &[Part]| parts.iter().map(|it| format!("{:x} ", it.digest)).collect::<String>();
        [(Setting::Tools, digests(&self.tools)), (Setting::System, digests(&self.system))]
    }

    fn digest(&self) -> Vec<u64> {
        self.parts().map(|it| it.digest).collect()
    }

    /// Returns its parts with empty ones up to so many tools and parts of the system prompt.
    fn padded(self, [n_tools, n_system]: [usize; 2]) -> Vec<Part> {
        let of = |parts: Vec<Part>, kind, n: usize| {
            let missing = n.saturating_sub(parts.len());
            parts.into_iter().chain(std::iter::repeat_n(Part::new(kind, 0, 0), missing))
        };
        of(self.tools, Kind::ToolSchema, n_tools).chain(of(self.system, Kind::System, n_system)).collect()
    }
}

/// Returns what stands for a value, in whatever order members of objects are.
fn unordered(value: &Value) -> u64 {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|it| it.0 != "cache_control");
            let member = |(key, it): (&String, &Value)| xxh3_64_with_seed(key.as_bytes(), unordered(it));
            members.map(member).fold(1, u64::wrapping_add)
        }
        Value::Array(list) => {
            list.iter().fold(2, |sum, it| xxh3_64_with_seed(&unordered(it).to_le_bytes(), sum))
        }
        other => xxh3_64_with_seed(other.to_string().as_bytes(), 3),
    }
}

/// Returns the parts of a system prompt: one, or one up to each block that is marked for the cache.
fn system_blocks(system: &MessageContent<'_>) -> Vec<Content> {
    let MessageContent::Blocks(blocks) = system else {
        return Some(system.as_blocks()).filter(|it| it.measured.characters > 0).into_iter().collect();
    };
    let is_end = |it: &MessageBlock<'_>| it.cache_control.is_some();
    let parts =
        blocks.split_inclusive(is_end).map(|it| Content::join(it.iter().map(MessageBlock::to_content)));
    parts.filter(|it| it.measured.characters > 0).collect()
}

impl MessageSession {
    /// Takes the system prompt, the tools and the settings of a request; what a body leaves out stays as it was.
    pub(super) fn front(&mut self, request: &RequestRecord<'_>) {
        let system = request.0.raw("system").or(request.0.raw("instructions"));
        let system = system.and_then(|it| json::first::<MessageContent<'_>>(it.get()));
        let tools: Option<Vec<Measured>> = request.0.get("tools");
        let is_told = system.is_some() || tools.is_some();
        let mut front = self.fronts.get(self.form.front).cloned().unwrap_or_default();
        let before = front.clone();
        if let Some(tools) = tools {
            // What stands for tools, in whatever order they and their members are.
            let values: Vec<Value> = request.0.get("tools").unwrap_or_default();
            front.same = values.iter().map(unordered).fold(0, u64::wrapping_add);
            front.tools = tools.into_iter().map(|it| Part::of(Kind::ToolSchema, it)).collect();
        }
        if let Some(system) = system {
            let blocks = system_blocks(&system);
            front.system = blocks.into_iter().map(|it| Part::of(Kind::System, it)).collect();
        }
        if self.fronts.is_empty() && self.assembler.is_empty() {
            front.parts().for_each(|it| self.assembler.stable(it.clone()));
            self.fronts.push(front);
        } else if is_told && !self.fronts.is_empty() {
            let is_reordered = front.settings()[0] != before.settings()[0] && front.same == before.same;
            if is_reordered && !front.tools.is_empty() {
                self.assembler.happened(Occasion::ToolsReordered);
            }
            let known = self.fronts.iter().position(|it| it.digest() == front.digest());
            self.form.front = known.unwrap_or(self.fronts.len());
            if known.is_none() {
                self.fronts.push(front);
            }
        }
        self.form.settings.clear();
        let front = self.fronts.get(self.form.front);
        let of_front = front.into_iter().flat_map(LoggedFront::settings).collect::<Vec<_>>();
        for (setting, value) in request.settings().into_iter().chain(of_front) {
            let number = self.values[setting as usize].insert_full(value).0;
            if number > 0 {
                self.form.settings.push((setting, ix(number)));
            }
        }
    }

    /// Takes the marks for the cache of a request whose messages have been taken.
    pub(super) fn marks(&mut self, request: &RequestRecord<'_>, list: &[&RawValue]) {
        let mark = |n_before, it: &CacheControl| LoggedMark { n_before, is_long: it.ttl() == TtlClass::Long };
        let front = self.fronts.get(self.form.front).cloned().unwrap_or_default();
        let mut marks = Vec::new();
        let tools: Vec<Members<'_>> = request.0.get("tools").unwrap_or_default();
        let of_tools = (1..).zip(&tools).filter_map(|(n, it)| Some((n, it.get("cache_control")?)));
        marks.extend(of_tools.map(|(n, it)| mark(Some(n), &it)));
        let system: Option<MessageContent<'_>> = request.0.get("system");
        if let Some(MessageContent::Blocks(blocks)) = &system {
            let marked = (1..).zip(blocks).filter_map(|(n, it)| Some((n, it.cache_control.as_ref()?)));
            marks.extend(marked.map(|(n, it)| {
                // Each mark ends a part of the front.
                let n_parts = blocks[..n].iter().filter(|it| it.cache_control.is_some()).count();
                mark(Some(front.tools.len() + n_parts.min(front.system.len())), it)
            }));
        }
        for message in list.iter().zip(&self.ends) {
            let record = json::first::<MessageRecord<'_>>(message.0.get()).unwrap_or_default();
            let MessageContent::Blocks(blocks) = record.content else { continue };
            let n_after = |nth: usize| blocks[nth + 1..].iter().map(MessageBlock::n_parts).sum::<usize>();
            let after = blocks.iter().enumerate().map(|(nth, it)| (n_after(nth), &it.cache_control));
            let marked = after.filter_map(|(n_after, it)| Some((n_after, it.as_ref()?)));
            marks.extend(marked.map(|(n_after, it)| mark(Some(message.1.saturating_sub(n_after)), it)));
        }
        marks.extend(request.0.get("cache_control").map(|it| mark(None, &it)));
        self.form.marks = marks;
    }

    /// Takes a message, or an item.
    pub(super) fn message(&mut self, line: usize, value: &str, losses: &mut Losses) {
        self.take(line, value, losses);
        self.ends.push(self.assembler.n_parts());
    }

    fn take(&mut self, line: usize, value: &str, losses: &mut Losses) {
        match json::first::<ItemRecord<'_>>(value) {
            Some(item) if item.role.0.is_empty() && is_item(&item.kind.0) => {
                return self.item(line, &item, losses);
            }
            _ => {}
        }
        let Ok(message) = serde_json::from_str::<MessageRecord<'_>>(value) else {
            return losses.add(line, "invalid messages");
        };
        let stamp = Stamp { line, ms: message.at_ms().or(self.at_ms) };
        match message.role.0.as_ref() {
            "assistant" | "model" => self.assistant(line, message, losses),
            "user" => {
                self.close();
                self.user(stamp, message.content, losses);
            }
            "system" | "developer" => {
                self.close();
                let content = message.content.to_content();
                if self.assembler.is_empty() {
                    self.assembler.stable(Part::of(Kind::System, content));
                } else {
                    self.assembler.said(stamp, Part::of(Kind::User, content), false);
                }
            }
            "tool" | "function" => {
                self.close();
                let content = message.content.to_content();
                let part = Part::result(&message.tool_call_id.0, &message.name.0, content);
                self.assembler.answered(stamp, part, losses);
            }
            other => losses.add(line, format!("messages of the unknown role `{other}`")),
        }
    }

    /// Takes an item of the Responses interface: those of one reply stand one after the other.
    fn item(&mut self, line: usize, item: &ItemRecord<'_>, losses: &mut Losses) {
        if let Some(result) = item_output(item) {
            self.close();
            return self.assembler.answered(Stamp { line, ms: self.at_ms }, result, losses);
        }
        let named = item_call(item).unwrap_or_else(|| item_reasoning(item));
        if !self.is_replied {
            self.open.get_or_insert_default().reply.push(named);
        }
    }

    /// Makes a request of the items of a reply.
    fn close(&mut self) {
        self.is_replied = false;
        if let Some(exchange) = self.open.take() {
            self.assembler.replied(exchange);
        }
    }

    /// Takes what the model said, unless it is the reply that was recorded with the last request.
    fn assistant(&mut self, line: usize, message: MessageRecord<'_>, losses: &mut Losses) {
        if self.is_replied {
            return;
        }
        let (usage, model) = (message.usage(), message.model());
        let at_ms = message.at_ms();
        let mut exchange = self.open.take().unwrap_or_default();
        exchange.model = model;
        exchange.reply.extend(spoken(line, message, losses));
        self.bill(line, usage, &mut exchange, losses);
        if self.has_commands {
            let number = self.commands.0;
            let is_asked = divide(&mut exchange.reply, &number.to_string());
            self.commands = (number + usize::from(is_asked), is_asked);
            if exchange.reasoning > 0 {
                // It was billed, and is in no log: the next request is sent without it.
                exchange.reply.insert(0, Part::new(Kind::Reasoning, 0, 0));
            }
        }
        exchange.response_ms = at_ms.or(self.at_ms);
        exchange.end_ms = exchange.response_ms;
        self.assembler.replied(exchange);
    }

    /// Takes a recorded reply to a request, given by what the log keeps of it and by what was sent.
    pub(super) fn reply(
        &mut self,
        line: usize,
        value: &RawValue,
        [request, within]: [&RequestRecord<'_>; 2],
        losses: &mut Losses,
    ) {
        self.close();
        let Some(record) = ReplyRecord::of(value) else {
            return losses.add(line, "responses that are not JSON objects");
        };
        let said = &record.members;
        let mut exchange = Exchange { at_ms: request.at_ms(), ..Exchange::default() };
        let choice = said.get::<Vec<Members<'_>>>("choices").and_then(|it| it.first()?.raw("message"));
        let is_message = said.raw("content").is_some() && said.raw("output").is_none();
        let message = choice.or_else(|| Some(value).filter(|_| is_message));
        if let Some(message) = message.and_then(|it| json::first::<MessageRecord<'_>>(it.get())) {
            exchange.reply = spoken(line, message, losses);
        } else if let Some(content) = said.get("content") {
            let mut message = MessageRecord::default();
            message.content = content;
            exchange.reply = spoken(line, message, losses);
        }
        let items: Vec<ItemRecord<'_>> = said.get("output").unwrap_or_default();
        for item in items {
            exchange.reply.push(match item.kind.0.as_ref() {
                "message" => Part::of(Kind::Assistant, item.content.to_content()),
                _ => item_call(&item).unwrap_or_else(|| item_reasoning(&item)),
            });
        }
        if exchange.reply.is_empty() {
            losses.add(line, "responses without a message");
        }
        self.bill(line, said.raw("usage"), &mut exchange, losses);
        exchange.cost = request.cost().or(exchange.cost);
        exchange.form = self.form.clone();
        let names =
            [(&request.0, "backing_model"), (said, "model"), (&within.0, "model"), (&request.0, "model")];
        let names = names.into_iter().map(|(members, name)| members.text(name));
        exchange.model = names.into_iter().find(|it| !it.is_empty()).unwrap_or_default().into_owned();
        exchange.response_ms = request.end_ms().or(record.at_ms()).or(exchange.at_ms);
        exchange.end_ms = exchange.response_ms;
        self.assembler.replied(exchange);
        self.is_replied = true;
    }

    /// Reads what was billed for a reply.
    fn bill(&mut self, line: usize, usage: Raw<'_>, exchange: &mut Exchange, losses: &mut Losses) {
        let Some(record) = usage.filter(|it| it.get() != "null") else { return };
        let Some(record) = object::<Value>(record) else {
            return BillReader::new(line, "usage", losses).refuse("", "not an object of token counts");
        };
        let Some(BilledReply { bill, reasoning, has_breakpoints, cost }) = billed(line, &record, losses)
        else {
            return;
        };
        (exchange.usage, exchange.reasoning, exchange.cost) = (bill.usage, reasoning, cost);
        exchange.inner = bill.inner;
        self.has_breakpoints |= has_breakpoints;
        self.has_usage = true;
    }

    /// Takes what is on the user's side: text, and results of calls.
    fn user(&mut self, stamp: Stamp, content: MessageContent<'_>, losses: &mut Losses) {
        let blocks = match content {
            MessageContent::Plain(text) if self.has_commands && self.commands.0 > 0 => {
                return self.printed(stamp, text, losses);
            }
            MessageContent::Plain(text) => {
                return self.assembler.said(stamp, Part::of(Kind::User, text), true);
            }
            MessageContent::Blocks(blocks) => blocks,
        };
        let has_results = blocks.iter().any(|it| it.kind.0 == "tool_result");
        for block in blocks {
            match block.kind.0.as_ref() {
                "tool_result" => {
                    let part = Part::result(&block.tool_use_id.0, "", block.content.to_content());
                    self.assembler.answered(stamp, part, losses);
                }
                "text" | "input_text" | "image" | "image_url" | "input_image" | "document" | "input_file" => {
                    self.assembler.said(stamp, Part::of(Kind::User, block.to_content()), !has_results);
                }
                other => {
                    losses.add(stamp.line, format!("blocks of the unknown type `{other}` in user messages"));
                }
            }
        }
    }

    /// Takes what a command printed, or what the harness says where a reply has none.
    fn printed(&mut self, stamp: Stamp, text: Content, losses: &mut Losses) {
        let part = Part::result(&self.commands.0.saturating_sub(1).to_string(), "", text);
        match std::mem::take(&mut self.commands.1) {
            true => self.assembler.answered(stamp, part, losses),
            false => self.assembler.observed(stamp.ms, part),
        }
    }

    /// Ends the conversation.
    pub(super) fn finish(mut self, losses: &mut Losses) -> Transcript {
        self.close();
        let mut transcript = self.assembler.finish(losses);
        if self.fronts.len() > 1 {
            pad(&mut transcript, self.fronts);
        }
        transcript.has_breakpoints = self.has_breakpoints;
        transcript.counts_output = self.has_usage;
        transcript.outcome = self.outcome;
        transcript.drops_reasoning = self.has_commands;
        transcript
    }
}

/// Gives all versions of a front the same number of parts; what stands behind them moves.
fn pad(transcript: &mut Transcript, fronts: Vec<LoggedFront>) {
    let longest = |n: fn(&LoggedFront) -> usize| fronts.iter().map(n).max().unwrap_or(0);
    let lengths = [longest(|it| it.tools.len()), longest(|it| it.system.len())];
    for exchange in &mut transcript.exchanges {
        let own = fronts.get(exchange.form.front).map_or([0; 2], |it| [it.tools.len(), it.system.len()]);
        let first = fronts.first().map_or(0, |it| it.parts().count());
        for n in exchange.form.marks.iter_mut().filter_map(|it| it.n_before.as_mut()) {
            *n = match *n {
                n if n <= own[0] => n,
                n if n <= own[0] + own[1] => n + lengths[0] - own[0],
                n => n + lengths[0] + lengths[1] - first,
            };
        }
    }
    transcript.fronts = fronts.into_iter().map(|it| it.padded(lengths)).collect();
    transcript.stable = transcript.fronts.first().cloned().unwrap_or_default();
}

/// Returns the parts of a reply.
fn spoken(line: usize, message: MessageRecord<'_>, losses: &mut Losses) -> Vec<Part> {
    let reasoning = Part::spoken(Kind::Reasoning, message.reasoning_content.or(message.reasoning));
    let said = message.content.into_parts(Kind::Assistant, |it| spoken_block(line, it, losses));
    let mut parts: Vec<Part> = reasoning.into_iter().chain(said).collect();
    let calls = message.tool_calls.and_then(|it| json::first::<Vec<Members<'_>>>(it.get()));
    for call in calls.unwrap_or_default() {
        let function: Members<'_> = call.get("function").unwrap_or_default();
        let asked = function.get("arguments").unwrap_or_default();
        parts.push(Part::call(&call.text("id"), &function.text("name"), asked));
    }
    parts
}

/// Makes a part of a block of a reply.
fn spoken_block(line: usize, block: MessageBlock<'_>, losses: &mut Losses) -> Option<Part> {
    let plain = |kind, content: Content| Some(Part::of(kind, content));
    match block.kind.0.as_ref() {
        "text" | "output_text" | "refusal" => plain(Kind::Assistant, block.text.unwrap_or_default()),
        "thinking" | "redacted_thinking" => plain(Kind::Reasoning, block.into_thought()),
        "compaction" => plain(Kind::Summary, block.content.to_content()),
        "tool_use" | "server_tool_use" => {
            Some(Part::call(&block.id.0, &block.name.0, block.input.unwrap_or_default().0))
        }
        // The provider's own tools answer inside the reply.
        kind if kind.ends_with("_tool_result") => plain(Kind::Assistant, block.content.to_content()),
        other => {
            losses.add(line, format!("blocks of the unknown type `{other}` in replies"));
            None
        }
    }
}

/// What trajectories begin their format's name with whose replies hold commands.
pub(super) const WITH_COMMANDS: &str = "mini-swe-agent";

/// The tool by which such a command runs.
const TOOL: &str = "bash";

/// How a command begins and ends.
const FENCES: [&str; 2] = ["```bash", "\n```"];

/// Divides the text of a reply into what is said and the command in it, as a call of this name; returns whether there is one.
fn divide(parts: &mut Vec<Part>, call: &str) -> bool {
    let Some(nth) = parts.iter().rposition(|it| it.kind == Kind::Assistant) else { return false };
    let Some(text) = parts[nth].text.clone() else { return false };
    let Some((said, block)) = command(&text) else { return false };
    let input =
        serde_json::json!({ "command": block.trim_start_matches(FENCES[0]).trim_matches(['\n', '`']) });
    let asked = Content { text: Some(Arc::from(input.to_string())), ..Content::from(Measured::text(block)) };
    parts[nth] = Part::of(Kind::Assistant, Content::new(&said));
    parts.insert(nth + 1, Part::call(call, TOOL, asked));
    true
}

/// Returns what is around the one command of a text, and the command with its fences; none where there are several or none.
fn command(text: &str) -> Option<(String, &str)> {
    let begins = text.find(FENCES[0])?;
    let ends = begins + text[begins..].find(FENCES[1])? + FENCES[1].len();
    let (before, rest) = text.split_at(begins);
    let (block, after) = rest.split_at(ends - begins);
    (!after.contains(FENCES[0])).then(|| (format!("{before}{after}"), block))
}
