//! Rows with usage, one per request: exports of tracing services and logs of proxies that differ in the names of their fields alone.

mod shapes;
pub(super) mod table;

use std::fmt::Write as _;

use serde_json::json;

use self::shapes::{RowShape, SHAPES};
use super::bodies::any;
use super::documents::LineCount;
use super::losses::{LATE, member, order_by_time};
use super::{bodies, documents, messages};
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat =
    LogFormat { name: "usage-rows", detect: |head| shape_of(head).is_some(), read };

/// Returns the shape of the first row.
fn shape_of(head: &str) -> Option<&'static RowShape> {
    let text = head.trim_ascii_start();
    let first = match text.starts_with(['{', '[']) {
        true => {
            // A page of an interface has its rows in a list.
            let value = bodies::first(head)?;
            value.pointer("/data/0").cloned().unwrap_or(value)
        }
        false => table::rows(text.get(..text.find('\n')? + 1)?).next()?.1,
    };
    SHAPES.shape_of(&first)
}

fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let Some(shape) = shape_of(lines.head()) else { return Vec::new() };
    let text = lines.rest();
    let mut found = FoundRows { shape, known: IndexSet::new(), rows: Vec::new() };
    if text.trim_ascii_start().starts_with(['{', '[']) {
        documents::each(&text, losses, |line, raw, losses| {
            let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            let rows = match value.get("data") {
                Some(Value::Array(rows)) => rows.as_slice(),
                _ => std::slice::from_ref(&value),
            };
            rows.iter().for_each(|it| found.take(line, it, losses));
            losses.locate_by(line, |field| LineCount::new(&text).place(member(raw.get(), field)));
        });
    } else {
        for (line, row) in table::rows(&text) {
            found.take(line, &row, losses);
            losses.locate_by(line, |_| (line, 1));
        }
    }
    drop(text);
    // Rows stand in the order of their times, where all have one.
    order_by_time(&mut found.rows, |it| (it.line, it.at_ms), LATE, losses);
    if found.rows.iter().all(|it| it.messages.is_some()) {
        return found.with_texts(losses);
    }
    found.sessions()
}

/// Returns what stands on the first of some paths that leads to anything; keys may hold the dots themselves.
pub(super) fn look<'v>(value: &'v Value, paths: &[impl AsRef<str>]) -> Option<&'v Value> {
    fn along<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
        let object = value.as_object()?;
        object.get(path).or_else(|| {
            path.match_indices('.').find_map(|(at, _)| along(object.get(&path[..at])?, &path[at + 1..]))
        })
    }
    paths.iter().find_map(|it| along(value, it.as_ref()).filter(|it| !it.is_null() && *it != ""))
}

/// A request as its row tells it.
struct UsageRow {
    line: usize,
    session: String,
    at_ms: Option<i64>,
    first_ms: Option<i64>,
    end_ms: Option<i64>,
    model: String,
    usage: Option<Usage>,
    reasoning: Tokens,
    cost: Option<Cost>,
    /// Whether what comes after it is what its calls gave back.
    calls: bool,
    /// How many messages it sent, if the row says so.
    n_messages: Option<u64>,
    messages: Option<Vec<Value>>,
    output: Value,
}

struct FoundRows {
    shape: &'static RowShape,
    known: IndexSet<u128>,
    rows: Vec<UsageRow>,
}

impl FoundRows {
    fn take(&mut self, line: usize, row: &Value, losses: &mut Losses) {
        let shape = self.shape;
        if !shape.fits(row) {
            return losses.add(line, "rows of another shape");
        }
        if !self.known.insert(xxh3_128(row.to_string().as_bytes())) {
            return losses.add(line, "repeated lines");
        }
        let text = |paths: &[String]| look(row, paths).and_then(Value::as_str).unwrap_or_default();
        let kind = text(std::slice::from_ref(&shape.only.field));
        if !shape.only.of.is_empty() && !shape.only.of.iter().any(|it| it == kind) {
            return losses.add(line, format!("rows of type `{kind}`, which are no requests"));
        }
        let (usage, reasoning) = self.billed(line, row, losses);
        let time = |paths: &[String]| look(row, paths).and_then(moment);
        let at_ms = time(&shape.start);
        let took =
            |paths: &[String]| look(row, paths).and_then(Value::as_f64).filter(|it| (0.0..1e9).contains(it));
        let after = |ms: Option<f64>| Some(at_ms?.saturating_add(ms?.round() as i64));
        let names = shape.session.iter().filter_map(|it| look(row, &[it]));
        let session: Vec<String> = names.map(bodies::text).collect();
        self.rows.push(UsageRow {
            line,
            session: session.join("/"),
            at_ms,
            first_ms: time(&shape.first).or_else(|| after(took(&shape.first))),
            end_ms: time(&shape.end).or_else(|| after(took(&shape.end))),
            model: text(&shape.model).to_owned(),
            usage,
            reasoning,
            cost: look(row, &shape.cost).and_then(dollars),
            calls: matches!(text(&shape.stop), "tool_use" | "tool_calls"),
            n_messages: look(row, &shape.n_messages).and_then(Value::as_u64),
            messages: look(row, &shape.input).and_then(spoken),
            output: look(row, &shape.output).cloned().unwrap_or_default(),
        });
    }

    fn billed(&self, line: usize, row: &Value, losses: &mut Losses) -> (Option<Usage>, Tokens) {
        let shape = self.shape;
        let mut bill = BillReader::new(line, "", losses);
        for (holder, _) in shape.tokens_in.iter().filter_map(|it| it.rsplit_once('.')) {
            look(row, &[holder]).into_iter().for_each(|it| bill.tell_unknown(it));
        }
        let mut count = |names: &[String]| {
            let found = names.iter().find_map(|name| Some((name, look(row, &[name])?)));
            found.map_or(0, |(name, value)| bill.count(name, Count::of(value)))
        };
        let (input, output) = (count(&shape.tokens_in), count(&shape.tokens_out));
        let (cache_read, cache_write) = (count(&shape.read), count(&shape.written));
        let reasoning = count(&shape.reasoning);
        let cached = cache_read.saturating_add(cache_write);
        if look(row, &shape.tokens_in).is_none() {
            losses.add(line, "rows without usage");
            return (None, 0);
        }
        let uncached = if shape.is_apart { input } else { bill.less(input, &shape.read[0], cached) };
        let output = if shape.is_apart { output.saturating_add(reasoning) } else { output };
        (bill.apart([uncached, cache_read, cache_write, output]), reasoning.min(output))
    }

    /// Reads rows with messages as `messages` does.
    fn with_texts(self, losses: &mut Losses) -> Vec<Transcript> {
        let mut said = String::new();
        for row in self.rows {
            let answer = spoken(&row.output).and_then(|mut it| it.pop()).or_else(|| message(&row.output));
            let answer =
                answer.unwrap_or_else(|| json!({"role": "assistant", "content": bodies::text(&row.output)}));
            let usage = row.usage.map(|it| {
                json!({
                    "prompt_tokens": it.prompt,
                    "completion_tokens": it.output,
                    "prompt_tokens_details": {"cached_tokens": it.cache_read, "cache_creation_tokens": it.cache_write},
                    "completion_tokens_details": {"reasoning_tokens": row.reasoning},
                })
            });
            let request = json!({
                "startTime": row.at_ms,
                "endTime": row.end_ms,
                "model": row.model,
                "cost": row.cost.map(Cost::usd),
                "messages": row.messages,
                "response": {"choices": [{"message": answer}], "usage": usage},
            });
            // Writing to a text does not fail.
            let _ = writeln!(said, "{request}");
        }
        let mut transcripts = messages::read_text(&said, losses);
        transcripts.iter_mut().for_each(|it| it.tools_of = Some(messages::FORMAT.name));
        transcripts
    }

    /// Makes sessions of rows without texts: what a prompt has more than the one before and its reply is what has come.
    fn sessions(self) -> Vec<Transcript> {
        let mut sessions: IndexMap<String, Vec<Vec<UsageRow>>> = IndexMap::new();
        for row in self.rows {
            let session = sessions.entry(row.session.clone()).or_default();
            // A conversation with fewer messages than before is another one.
            match session.last_mut() {
                Some(last) if last.last().is_some_and(|it| it.n_messages <= row.n_messages) => last.push(row),
                _ => session.push(vec![row]),
            }
        }
        let all = sessions.into_iter().flat_map(|(name, of_name)| {
            let several = of_name.len() > 1;
            of_name.into_iter().zip(1_usize..).map(move |(rows, nth)| {
                (if several { format!("{name}/{nth}") } else { name.clone() }, transcript(rows))
            })
        });
        named_apart(all.collect())
    }
}

/// Makes a session of rows without texts.
fn transcript(rows: Vec<UsageRow>) -> Transcript {
    let mut transcript = Transcript::default();
    let mut before: Option<(Usage, bool)> = None;
    for (row, nth) in rows.into_iter().zip(0_u64..) {
        let came = before.zip(row.usage).map(|((before, _), usage)| {
            usage.prompt.saturating_sub(before.prompt).saturating_sub(before.output)
        });
        let part = |kind, tokens, nth| Part { tokens, ..Part::new(kind, 1, nth) };
        let mut begins = None;
        match (transcript.exchanges.last_mut(), before) {
            (Some(last), Some((_, true))) => last.results.push(part(Kind::ToolResult, came, 2 * nth)),
            _ => begins = Some(vec![part(Kind::User, came, 2 * nth)]),
        }
        transcript.exchanges.push(Exchange {
            begins,
            at_ms: row.at_ms,
            response_ms: row.first_ms.or(row.end_ms),
            end_ms: row.end_ms,
            model: row.model,
            usage: row.usage,
            reasoning: row.reasoning,
            cost: row.cost,
            reply: vec![part(Kind::Assistant, row.usage.map(|it| it.output), 2 * nth + 1)],
            ..Exchange::default()
        });
        before = row.usage.map(|it| (it, row.calls)).or(before);
    }
    transcript.counts_output = transcript.is_billed();
    transcript.has_breakpoints = transcript.has_writes();
    transcript
}

/// Returns messages with their roles; nothing if a value is no list of such.
fn spoken(value: &Value) -> Option<Vec<Value>> {
    // A list of lists is that of several prompts that were sent at once, of which there is one here.
    let messages = match list(value.get("messages").unwrap_or(value)) {
        [Value::Array(only)] => only,
        all => all,
    };
    let messages: Option<Vec<Value>> = messages.iter().map(message).collect();
    messages.filter(|it| !it.is_empty())
}

/// Returns a message with its role; nothing if a value is none.
fn message(value: &Value) -> Option<Value> {
    let answer =
        ["/generations/0/0/message", "/generations/0/message"].iter().find_map(|it| value.pointer(it));
    let message = answer.or(value.get("message")).unwrap_or(value);
    if let Some(role) = of_langchain(message) {
        return Some(role);
    }
    let role = look(message, &["role", "message.role"])?;
    match message.get("role") {
        Some(_) => Some(message.clone()),
        None => Some(json!({"role": role, "content": look(message, &["message.content"])})),
    }
}

/// Returns a message that LangChain has serialised by its class (`lc`, `id`, `kwargs`) in the usual words.
fn of_langchain(message: &Value) -> Option<Value> {
    let (class, said) = (message.get("id")?.as_array()?.last()?.as_str()?, message.get("kwargs")?);
    let role = match class.trim_end_matches("Chunk") {
        "SystemMessage" => "system",
        "HumanMessage" => "user",
        "AIMessage" => "assistant",
        "ToolMessage" => "tool",
        _ => return None,
    };
    let mut usual = json!({"role": role, "content": any(said, &["content"])});
    let calls = list(any(said, &["tool_calls"]));
    // Blocks of Anthropic's hold the calls themselves.
    if !calls.is_empty() && !list(&usual["content"]).iter().any(|it| it["type"] == "tool_use") {
        let call = |it: &Value| json!({"id": it["id"], "type": "function", "function": {"name": it["name"], "arguments": it["args"].to_string()}});
        usual["tool_calls"] = calls.iter().map(call).collect();
    }
    if let Some(call) = said.get("tool_call_id") {
        usual["tool_call_id"] = call.clone();
    }
    Some(usual)
}

/// Reads a time: ISO 8601, or seconds or milliseconds since 1970.
pub(super) fn moment(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => milliseconds(text),
        // As seconds, larger numbers would lie in the year 5138.
        _ => value
            .as_f64()
            .filter(|it| (1e9..1e15).contains(it))
            .map(|it| if it < 1e11 { it * 1_000.0 } else { it } as i64),
    }
}
