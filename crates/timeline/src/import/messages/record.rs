//! Requests, messages and replies as the interfaces of the providers write them.

use super::session::is_item;
use super::walk::{HOLDERS, LISTS};
use crate::LoggedOutcome;
use crate::import::prelude::*;

/// How many values may hold one another around a list of messages.
const HOLDERS_MAX: usize = 4;

/// A value that is looked at later, if at all.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// A request, or what holds one; every member may be of any type.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestRecord<'a>(pub(super) Members<'a>);

impl<'a> RequestRecord<'a> {
    /// Reads a value, if it is an object.
    pub(super) fn of(value: &'a RawValue) -> Option<Self> {
        Members::of(value).map(Self)
    }

    /// Returns the list of messages, its own or that of the request it holds, with the record that it is in.
    pub(super) fn list(&self) -> Option<(Self, Vec<&'a RawValue>)> {
        self.list_within(HOLDERS_MAX)
    }

    fn list_within(&self, depth: usize) -> Option<(Self, Vec<&'a RawValue>)> {
        if let Some(list) = LISTS.iter().filter_map(|it| self.0.raw(it)).find(|it| is_list(it)) {
            return Some((self.clone(), serde_json::from_str(list.get()).ok()?));
        }
        let depth = depth.checked_sub(1)?;
        HOLDERS.iter().find_map(|it| Self::of(self.0.raw(it)?)?.list_within(depth))
    }

    /// Returns whether it is a message, or an item without a role, and no request.
    pub(super) fn is_message(&self) -> bool {
        !self.0.text("role").is_empty() || is_item(&self.0.text("type"))
    }

    /// Returns the reply beside it.
    pub(super) fn response(&self) -> Raw<'a> {
        self.0.raw("response")
    }

    /// Returns when the request was made. A log that gives its duration is written when it ends.
    pub(super) fn at_ms(&self) -> Option<i64> {
        let latency_ms = self.0.raw("latency_sec").and_then(seconds).unwrap_or(0);
        let written = || Some(moment(self.0.raw("timestamp"))?.saturating_sub(latency_ms));
        moment(self.0.raw("startTime")).or_else(written)
    }

    /// Returns when its reply had come, where the log says so.
    pub(super) fn end_ms(&self) -> Option<i64> {
        let at_end = || moment(self.0.raw("timestamp").filter(|_| self.0.raw("latency_sec").is_some()));
        moment(self.0.raw("endTime")).or_else(at_end)
    }

    /// Returns whether the agent handed in a result, where its trajectory says how it ended; whether that is right stands elsewhere.
    pub(super) fn outcome(&self) -> Option<LoggedOutcome> {
        // Trajectories of mini-swe-agent and SWE-agent say it of the whole run.
        let run: Value = object(self.0.raw("info")?)?;
        let status = run["exit_status"].as_str()?;
        let is_submitted = status.to_ascii_lowercase().starts_with("submitted");
        let (name, value) = ("submitted".to_owned(), if is_submitted { 1.0 } else { 0.0 });
        (!status.is_empty()).then_some(LoggedOutcome { name, value })
    }

    /// Returns the settings of the request, each with what it is set to; empty where it is what a request without it means.
    pub(super) fn settings(&self) -> [(Setting, String); 4] {
        let measured = |raw: Raw<'_>| raw.and_then(|it| json::first::<Measured>(it.get()));
        let usual =
            ["auto", "disabled", "none"].map(|kind| [kind.to_owned(), format!("{{\"type\":\"{kind}\"}}")]);
        let set = |raw: Raw<'_>| {
            let text: String = raw.map_or("", RawValue::get).split_whitespace().collect();
            let is_usual = text == "null" || usual.iter().flatten().any(|it| *it == text.trim_matches('"'));
            let digest = measured(raw).map_or(0, |it| it.digest);
            if text.is_empty() || is_usual { String::new() } else { format!("{digest:x}") }
        };
        // Of Anthropic's models, whose field this is, the usual effort means the same as none.
        let effort = |name: &str| self.0.get::<Members<'a>>(name)?.get::<String>("effort");
        let own = effort("output_config").filter(|it| it != "high");
        let told = own.or_else(|| effort("reasoning")).or_else(|| self.0.get("reasoning_effort"));
        let speed = self.0.text("speed");
        [
            (Setting::ToolChoice, set(self.0.raw("tool_choice"))),
            (Setting::Thinking, set(self.0.raw("thinking"))),
            (Setting::Effort, told.unwrap_or_default()),
            (Setting::Features, if speed == "standard" { String::new() } else { speed.into_owned() }),
        ]
    }

    /// Returns what the log says that the request cost.
    pub(super) fn cost(&self) -> Option<Cost> {
        ["cost", "response_cost", "spend"].iter().find_map(|it| dollars(&self.0.get(it)?))
    }
}

/// Returns whether a value is a list with anything in it.
fn is_list(value: &RawValue) -> bool {
    value.get().strip_prefix('[').is_some_and(|it| !it.trim_ascii_start().starts_with(']'))
}

/// Reads a value as a record, if it is an object.
pub(super) fn object<'a, T: serde::Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    value.get().starts_with('{').then(|| serde_json::from_str(value.get()).ok()).flatten()
}

/// A message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct MessageRecord<'a> {
    /// Who speaks.
    pub(super) role: Text<'a>,
    /// What is said.
    pub(super) content: MessageContent<'a>,
    /// The calls of a reply.
    pub(super) tool_calls: Raw<'a>,
    /// The call that a result answers.
    pub(super) tool_call_id: Text<'a>,
    /// The tool of a result.
    pub(super) name: Text<'a>,
    /// Reasoning beside what is said.
    pub(super) reasoning_content: Option<Content>,
    /// The same, under another name.
    pub(super) reasoning: Option<Content>,
    /// What was billed for a reply.
    usage: Raw<'a>,
    /// What a harness keeps beside it.
    extra: Raw<'a>,
    /// When it was written.
    timestamp: Raw<'a>,
    /// Which model speaks.
    model: Text<'a>,
}

impl<'a> MessageRecord<'a> {
    /// Returns what a harness keeps beside the message, by its name.
    fn extra(&self, name: &str) -> Raw<'a> {
        self.extra.and_then(Members::of)?.raw(name)
    }

    /// Returns the response that is kept beside the message, if any.
    fn beside(&self) -> Option<ReplyRecord<'a>> {
        let members = Members::of(self.extra("response")?)?;
        Some(ReplyRecord { timestamp: members.raw("timestamp"), members })
    }

    /// Returns the record of what was billed, its own or that of the response kept beside it.
    pub(super) fn usage(&self) -> Raw<'a> {
        self.usage.or_else(|| self.beside()?.members.raw("usage"))
    }

    /// Returns which model spoke; empty if nothing says so.
    pub(super) fn model(&self) -> String {
        let beside = || self.beside().map_or_else(String::new, |it| it.members.text("model").into_owned());
        if self.model.0.is_empty() { beside() } else { self.model.0.as_ref().to_owned() }
    }

    /// Returns when it was written.
    pub(super) fn at_ms(&self) -> Option<i64> {
        moment(self.timestamp.or_else(|| self.extra("timestamp"))).or_else(|| self.beside()?.at_ms())
    }
}

/// A reply: a message of its own, a list of choices, or a list of items.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplyRecord<'a> {
    pub(super) members: Members<'a>,
    timestamp: Raw<'a>,
}

impl<'a> ReplyRecord<'a> {
    /// Reads a reply, which may be in the body of a response.
    pub(super) fn of(value: &'a RawValue) -> Option<Self> {
        let whole = Members::of(value)?;
        let timestamp = whole.raw("timestamp");
        let members = whole.get("body").unwrap_or(whole);
        Some(Self { timestamp: members.raw("timestamp").or(timestamp), members })
    }

    /// Returns when it was made.
    pub(super) fn at_ms(&self) -> Option<i64> {
        moment(self.timestamp.or(self.members.raw("created")).or(self.members.raw("created_at")))
    }
}

/// What was billed, and what the numbers mean.
#[derive(Clone, Debug, Default)]
pub(super) struct BilledReply {
    /// The numbers.
    pub(super) bill: ReplyBill,
    /// How much of the output was reasoning.
    pub(super) reasoning: u64,
    /// Whether plain input is what is after the last breakpoint.
    pub(super) has_breakpoints: bool,
    /// What the bill says that it cost.
    pub(super) cost: Option<Cost>,
}

/// Reads a bill as each of the interfaces says it; nothing if nothing was billed.
pub(super) fn billed(line: usize, record: &Value, losses: &mut Losses) -> Option<BilledReply> {
    let bill = BillReader::of(line, "usage", record, losses);
    let has = |field: &str| bill.number(field).is_some();
    let is_apart = has("cache_read_input_tokens") || has("cache_creation_input_tokens");
    let thought = "output_tokens_details.thinking_tokens";
    let (usage, reasoning) = if is_apart && !has("prompt_tokens") {
        let reasoning = bill.number(thought).and_then(Count::known).unwrap_or(0);
        billed_apart(bill).map(|it| (it, reasoning.min(it.output)))
    } else {
        together(bill)
    }
    .unzip();
    let bill = ReplyBill::new(line, "usage.iterations", record, usage, losses);
    let usage = bill.usage?;
    let has_breakpoints = usage.cache_write > 0 || is_apart && usage.cache_read > 0;
    // What a router says that the request cost.
    let cost = dollars(&record["cost"]);
    Some(BilledReply { bill, reasoning: reasoning.unwrap_or(0), has_breakpoints, cost })
}

/// Reads a bill whose input holds everything. Gateways put another provider's figures beside their own.
fn together(mut bill: BillReader<'_>) -> Option<(Usage, Tokens)> {
    let [input, output] = match bill.number("prompt_tokens") {
        Some(_) => ["prompt_tokens", "completion_tokens"],
        None => ["input_tokens", "output_tokens"],
    };
    let prompt = bill.needed(input);
    let counted = bill.number("completion_tokens").or(bill.number("output_tokens"));
    let n_output = bill.count(output, counted.unwrap_or_default());
    let one_of = |first, second| if bill.number(first).is_some() { first } else { second };
    let details = one_of("prompt_tokens_details", "input_tokens_details");
    let reasoning = one_of("completion_tokens_details", "output_tokens_details");
    let lifetimes = format!("{details}.cache_creation_token_details");
    let lifetimes = one_of(&lifetimes, "cache_creation").to_owned();
    let [cached, written] = ["cached", "cache_creation"].map(|it| format!("{details}.{it}_tokens"));
    // Older gateways leave their own figure at nought beside the provider's.
    let of_provider = ["cache_read_input_tokens", "prompt_cache_hit_tokens", "cached_tokens"];
    let of_provider = of_provider.iter().find_map(|it| bill.number(it)).unwrap_or_default();
    let cache_read = bill.tokens(&cached).max(bill.count("cache_read_input_tokens", of_provider));
    let of_details = bill.number(&written).or(bill.number(&format!("{details}.cache_write_tokens")));
    let counted = of_details.or(bill.number("cache_creation_input_tokens"));
    let cache_write = bill.count(&written, counted.unwrap_or_default());
    // Some of them add to the plain input only what was read: what was written is then beside the prompt.
    let is_beside = of_details.is_none() && cache_read <= prompt && cache_write > prompt - cache_read;
    let prompt = if is_beside { prompt + cache_write } else { prompt };
    let reasoning = bill.tokens(&format!("{reasoning}.reasoning_tokens")).min(n_output);
    let unread = bill.less(prompt, &cached, cache_read);
    let uncached = bill.less(unread, &written, cache_write);
    let field = "cache_creation.ephemeral_1h_input_tokens";
    let long = bill.number(&format!("{lifetimes}.ephemeral_1h_input_tokens"));
    let cache_write_long = long.map(|it| bill.count(field, it));
    bill.less(cache_write, field, cache_write_long.unwrap_or(0));
    let usage = Usage { prompt, cache_read, cache_write, cache_write_long, uncached, output: n_output };
    bill.finish(usage).map(|usage| (usage, reasoning))
}

/// Reads seconds as milliseconds.
fn seconds(value: &RawValue) -> Option<i64> {
    let number: f64 = value.get().parse().ok()?;
    (0.0..1e9).contains(&number).then(|| (number * 1_000.0).round() as i64)
}

/// Reads a time: ISO 8601, or seconds or milliseconds since 1970.
pub(super) fn moment(value: Raw<'_>) -> Option<i64> {
    /// Numbers from here on are milliseconds: as seconds, they would lie in the year 5138.
    const MILLISECONDS_FROM: f64 = 1e11;
    let text = value?.get();
    match text.strip_prefix('"') {
        Some(text) => milliseconds(text.trim_end_matches('"')),
        None => {
            let number: f64 = text.parse().ok()?;
            let ms = if number < MILLISECONDS_FROM { number * 1_000.0 } else { number };
            (0.0..1e15).contains(&ms).then(|| ms.round() as i64)
        }
    }
}
