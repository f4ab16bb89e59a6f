//! Requests, messages and replies as the interfaces of the providers write them.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::import::content::Content;
use crate::import::content::Measured;
use crate::import::json;
use crate::import::times::milliseconds;
use crate::import::usage::BillReader;
use crate::import::values::{CacheControl, MessageContent, Text, dollars};
use crate::{LoggedOutcome, Usage};
use ctxsim_base::quantity::{Cost, Tokens};
use ctxsim_input::profile::cache::Setting;

/// How many values may hold one another around a list of messages.
const HOLDERS_MAX: usize = 4;

/// A value that is looked at later, if at all.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// A request, or what holds one; every member may be of any type.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct RequestRecord<'a> {
    /// The messages as the agent means them, beside those that a model without function calls is sent.
    raw_messages: Raw<'a>,
    messages: Raw<'a>,
    traj: Raw<'a>,
    history: Raw<'a>,
    conversation: Raw<'a>,
    input: Raw<'a>,
    request: Raw<'a>,
    body: Raw<'a>,
    data: Raw<'a>,
    params: Raw<'a>,
    proxy_server_request: Raw<'a>,
    /// The system prompt.
    pub(super) system: Raw<'a>,
    /// The same, under another name.
    pub(super) instructions: Raw<'a>,
    /// The tools' schemas.
    pub(super) tools: Raw<'a>,
    /// Which tools the model may or must call.
    tool_choice: Raw<'a>,
    thinking: Raw<'a>,
    output_config: Option<Map<String, Value>>,
    reasoning: Option<Map<String, Value>>,
    reasoning_effort: Option<String>,
    speed: Option<String>,
    /// A mark that the provider places at the end.
    pub(super) cache_control: Option<CacheControl>,
    /// The reply.
    pub(super) response: Raw<'a>,
    timestamp: Raw<'a>,
    #[serde(rename = "startTime")]
    start_time: Raw<'a>,
    #[serde(rename = "endTime")]
    end_time: Raw<'a>,
    latency_sec: Raw<'a>,
    model: Text<'a>,
    /// The model behind a name that a gateway gives.
    backing_model: Text<'a>,
    cost: Raw<'a>,
    response_cost: Raw<'a>,
    spend: Raw<'a>,
    /// Who speaks, where the value is a message and no request.
    pub(super) role: Text<'a>,
    /// The type of an item that has no role.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// The bill of a row of another format, which would be lost among messages.
    #[serde(rename = "usageDetails", alias = "usage_details")]
    pub(super) usage_of_row: Raw<'a>,
    /// What an agent's trajectory says of the whole run.
    info: Raw<'a>,
    /// How an agent's trajectory is written.
    trajectory_format: Text<'a>,
}

impl<'a> RequestRecord<'a> {
    /// Returns the list of messages, its own or that of the request it holds, with the record that it is in.
    pub(super) fn list(&self) -> Option<(Self, Vec<&'a RawValue>)> {
        self.list_within(HOLDERS_MAX)
    }

    fn list_within(&self, depth: usize) -> Option<(Self, Vec<&'a RawValue>)> {
        let lists =
            [self.raw_messages, self.messages, self.traj, self.history, self.conversation, self.input];
        if let Some(list) = lists.into_iter().flatten().find(|it| is_list(it)) {
            return Some((self.clone(), serde_json::from_str(list.get()).ok()?));
        }
        let inner = [self.request, self.body, self.data, self.params, self.proxy_server_request];
        let depth = depth.checked_sub(1)?;
        inner.into_iter().flatten().find_map(|it| object::<RequestRecord<'a>>(it)?.list_within(depth))
    }

    /// Returns when the request was made. A log that gives its duration is written when it ends.
    pub(super) fn at_ms(&self) -> Option<i64> {
        let latency_ms = self.latency_sec.and_then(seconds).unwrap_or(0);
        moment(self.start_time).or_else(|| Some(moment(self.timestamp)?.saturating_sub(latency_ms)))
    }

    /// Returns when its reply had come, where the log says so.
    pub(super) fn end_ms(&self) -> Option<i64> {
        moment(self.end_time).or_else(|| moment(self.timestamp.filter(|_| self.latency_sec.is_some())))
    }

    /// Returns the model behind a gateway's name, where the log has one.
    pub(super) fn backing_model(&self) -> &str {
        &self.backing_model.0
    }

    /// Returns the model that was asked.
    pub(super) fn model(&self) -> &str {
        &self.model.0
    }

    /// Returns whether the agent handed in a result, where its trajectory says how it ended; whether that is right stands elsewhere.
    pub(super) fn outcome(&self) -> Option<LoggedOutcome> {
        // Trajectories of mini-swe-agent and SWE-agent say it of the whole run.
        let run: Value = object(self.info?)?;
        let status = run["exit_status"].as_str()?;
        let is_submitted = status.to_ascii_lowercase().starts_with("submitted");
        let (name, value) = ("submitted".to_owned(), if is_submitted { 1.0 } else { 0.0 });
        (!status.is_empty()).then_some(LoggedOutcome { name, value })
    }

    /// Returns the format of the trajectory that holds the messages, if it says one.
    pub(super) fn trajectory_format(&self) -> &str {
        &self.trajectory_format.0
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
        let effort = |of: &Option<Map<String, Value>>| Some(of.as_ref()?.get("effort")?.as_str()?.to_owned());
        let own = effort(&self.output_config).filter(|it| it != "high");
        let effort = own.or_else(|| effort(&self.reasoning)).or_else(|| self.reasoning_effort.clone());
        [
            (Setting::ToolChoice, set(self.tool_choice)),
            (Setting::Thinking, set(self.thinking)),
            (Setting::Effort, effort.unwrap_or_default()),
            (Setting::Features, self.speed.clone().filter(|it| it != "standard").unwrap_or_default()),
        ]
    }

    /// Returns what the log says that the request cost.
    pub(super) fn cost(&self) -> Option<Cost> {
        let costs = [self.cost, self.response_cost, self.spend];
        costs.into_iter().flatten().find_map(|it| dollars(&json::first(it.get())?))
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

/// What a harness keeps beside a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ExtraRecord<'a> {
    response: Raw<'a>,
    timestamp: Raw<'a>,
}

impl<'a> MessageRecord<'a> {
    fn extra(&self) -> ExtraRecord<'a> {
        self.extra.and_then(object).unwrap_or_default()
    }

    /// Returns the response that is kept beside the message, if any.
    fn beside(&self) -> Option<ReplyRecord<'a>> {
        object::<ReplyRecord<'a>>(self.extra().response?)
    }

    /// Returns the record of what was billed, its own or that of the response kept beside it.
    pub(super) fn usage(&self) -> Raw<'a> {
        self.usage.or_else(|| self.beside()?.usage)
    }

    /// Returns which model spoke; empty if nothing says so.
    pub(super) fn model(&self) -> String {
        let beside = || self.beside().map_or_else(String::new, |it| it.model.0.into_owned());
        if self.model.0.is_empty() { beside() } else { self.model.0.as_ref().to_owned() }
    }

    /// Returns when it was written.
    pub(super) fn at_ms(&self) -> Option<i64> {
        let written = moment(self.timestamp.or_else(|| self.extra().timestamp));
        written.or_else(|| self.beside()?.at_ms())
    }
}

/// A call as a message lists it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct MessageCallRecord<'a> {
    /// Its name.
    pub(super) id: Text<'a>,
    /// What is called.
    pub(super) function: Option<FunctionRecord<'a>>,
}

/// What a call calls.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct FunctionRecord<'a> {
    /// The tool.
    pub(super) name: Text<'a>,
    /// The arguments.
    pub(super) arguments: Option<Content>,
}

/// A reply: a message of its own, a list of choices, or a list of items.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ReplyRecord<'a> {
    /// The provider's name of it.
    pub(super) id: Text<'a>,
    /// Which model answered.
    pub(super) model: Text<'a>,
    body: Raw<'a>,
    /// Choices, each with a message.
    pub(super) choices: Raw<'a>,
    /// Items.
    pub(super) output: Raw<'a>,
    /// Blocks, where the reply is a message itself.
    pub(super) content: Raw<'a>,
    /// What was billed.
    pub(super) usage: Raw<'a>,
    /// When it was made.
    pub(super) timestamp: Raw<'a>,
    created: Raw<'a>,
    created_at: Raw<'a>,
}

impl<'a> ReplyRecord<'a> {
    /// Returns the reply itself, which may be in the body of a response.
    pub(super) fn innermost(self) -> Self {
        match self.body.and_then(object::<ReplyRecord<'a>>) {
            Some(inner) => Self { timestamp: inner.timestamp.or(self.timestamp), ..inner },
            None => self,
        }
    }

    /// Returns when it was made.
    pub(super) fn at_ms(&self) -> Option<i64> {
        moment(self.timestamp.or(self.created).or(self.created_at))
    }
}

/// A choice of a reply.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ChoiceRecord<'a> {
    /// Its message.
    pub(super) message: Raw<'a>,
}

/// What was billed, and what the numbers mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BilledUsage {
    /// The numbers.
    pub(super) usage: Usage,
    /// How much of the output was reasoning.
    pub(super) reasoning: u64,
    /// Whether plain input is what is after the last breakpoint.
    pub(super) has_breakpoints: bool,
    /// What the bill says that it cost.
    pub(super) cost: Option<Cost>,
}

/// Reads a bill as each of the interfaces says it; nothing if nothing was billed.
pub(super) fn billed(record: &Value, bill: BillReader<'_>) -> Option<BilledUsage> {
    let has = |field: &str| bill.number(field).is_some();
    let is_apart = has("cache_read_input_tokens") || has("cache_creation_input_tokens");
    let billed = if is_apart && !has("prompt_tokens") { apart(bill) } else { together(bill) };
    // What a router says that the request cost.
    billed.map(|it| BilledUsage { cost: dollars(&record["cost"]), ..it })
}

/// Reads a bill whose input is without what was read and written.
fn apart(mut bill: BillReader<'_>) -> Option<BilledUsage> {
    let uncached = bill.needed("input_tokens");
    let output = bill.tokens("output_tokens");
    let cache_read = bill.tokens("cache_read_input_tokens");
    let cache_write = bill.tokens("cache_creation_input_tokens");
    let prompt = uncached + cache_read + cache_write;
    let cache_write_long = written_long(&mut bill, "cache_creation", cache_write);
    let usage = Usage { prompt, cache_read, cache_write, cache_write_long, uncached, output };
    let has_breakpoints = cache_read + cache_write > 0;
    bill.finish(usage).map(|usage| BilledUsage { usage, has_breakpoints, ..BilledUsage::default() })
}

/// Reads a bill whose input holds everything. Gateways put another provider's figures beside their own.
fn together(mut bill: BillReader<'_>) -> Option<BilledUsage> {
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
    let of_provider = bill.number("cache_read_input_tokens").or(bill.number("prompt_cache_hit_tokens"));
    let of_provider = of_provider.unwrap_or_default();
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
    let cache_write_long = written_long(&mut bill, &lifetimes, cache_write);
    let usage = Usage { prompt, cache_read, cache_write, cache_write_long, uncached, output: n_output };
    let has_breakpoints = cache_write > 0;
    bill.finish(usage).map(|usage| BilledUsage { usage, reasoning, has_breakpoints, cost: None })
}

/// Returns how much of what was written lives for an hour, where the bill tells.
fn written_long(bill: &mut BillReader<'_>, lifetimes: &str, cache_write: Tokens) -> Option<Tokens> {
    let long = bill.number(&format!("{lifetimes}.ephemeral_1h_input_tokens"))?;
    let field = "cache_creation.ephemeral_1h_input_tokens";
    let long = bill.count(field, long);
    bill.less(cache_write, field, long);
    Some(long)
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
