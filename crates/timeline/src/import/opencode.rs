//! opencode sessions, and those of its forks, as `opencode export` writes them: one JSON document per session.

use super::document::{self, DocumentPiece};
use super::losses::order_by_time;
use super::usage::NO_OBJECT;
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat = LogFormat { name: "opencode", detect, read };

/// Returns whether the front is that of an export.
fn detect(head: &str) -> bool {
    if !head.contains("\"info\"") {
        return false;
    }
    let outline = FrontOutline::of(head);
    let is_message = matches!(outline.get("messages[].info.role"), Some("user" | "assistant"));
    is_message || outline.get("info.id").is_some_and(|it| it.starts_with("ses_"))
}

/// Reads all exports of a recording.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut sessions = vec![OpencodeExport::default()];
    document::each(lines, &["messages"], losses, |piece, losses| {
        let Some(session) = sessions.last_mut() else { return };
        session.take(piece, losses);
        if piece.path.is_empty() {
            sessions.push(OpencodeExport::default());
        }
    });
    sessions.retain(|it| !it.messages.is_empty());
    named_apart(sessions.into_iter().map(|it| (it.id.clone(), it.finish(losses))).collect())
}

#[derive(Debug, Default)]
struct OpencodeExport {
    id: String,
    parent: String,
    folder: String,
    messages: Vec<OpencodeMessage>,
}

/// What a message says, and how it was billed.
#[derive(Debug, Default)]
struct OpencodeMessage {
    stamp: Stamp,
    id: String,
    end_ms: Option<i64>,
    said: OpencodeParts,
}

/// What a message adds to the prompts.
#[derive(Debug, Default)]
enum OpencodeParts {
    #[default]
    Nothing,
    /// Something on the user's side, and whether the user typed it.
    User(Vec<Part>, bool),
    /// The harness or the user wanted a summary; the first message that stays, if any does.
    Compaction { cause: Remover, stays: String },
    /// What the model answered.
    Reply(Box<OpencodeAnswer>),
}

/// What the model answered.
#[derive(Debug, Default)]
struct OpencodeAnswer {
    exchange: Exchange,
    results: Vec<CallOutcome>,
    is_summary: bool,
    /// Whether it did not come to its end, and its numbers, which are there, are all zero.
    is_aborted: bool,
}

/// What a call gave back.
#[derive(Debug)]
struct CallOutcome {
    part: Part,
    /// When it left the prompts.
    cleared_ms: Option<i64>,
}

impl OpencodeExport {
    fn take(&mut self, piece: DocumentPiece<'_>, losses: &mut Losses) {
        let Some(text) = piece.text else { return };
        match piece.path {
            "info" => {
                if let Some(info) = json::first::<Value>(text).filter(Value::is_object) {
                    let names = ["id", "parentID", "directory"];
                    let said = names.map(|it| info[it].as_str().unwrap_or_default().to_owned());
                    [self.id, self.parent, self.folder] = said;
                }
            }
            "messages[]" => {
                let record = json::record::<OpencodeMessageRecord<'_>>(piece.line, text, losses);
                self.messages.extend(record.and_then(|it| message(piece.line, it, losses)));
            }
            _ => {}
        }
    }

    /// Puts the messages in order, each once.
    fn ordered(&mut self, losses: &mut Losses) {
        let mut known: IndexMap<(String, Option<i64>), OpencodeMessage> = IndexMap::new();
        for (number, message) in std::mem::take(&mut self.messages).into_iter().enumerate() {
            // Ids of others may be redacted to one word.
            let id = if message.id.is_empty() { number.to_string() } else { message.id.clone() };
            if let Some(before) = known.insert((id, message.stamp.ms), message) {
                losses.add(before.stamp.line, "messages that stand twice; the last one is used");
            }
        }
        self.messages = known.into_values().collect();
        let late = "messages after later ones; they are ordered by time";
        order_by_time(&mut self.messages, |it| (it.stamp.line, it.stamp.ms), late, losses);
    }

    fn finish(mut self, losses: &mut Losses) -> Transcript {
        self.ordered(losses);
        let mut walk = OpencodeWalk::default();
        for message in self.messages {
            walk.visit(message, losses);
        }
        let mut transcript = walk.assembler.finish(losses);
        // These models' interface takes reasoning out of the prompts when the user speaks again.
        let is_forgetful =
            |it: &&Exchange| it.model.rsplit('/').next().is_some_and(|name| name.starts_with("gpt-"));
        let n_forgetful = transcript.exchanges.iter().filter(is_forgetful).count();
        transcript.counts_output = transcript.is_billed();
        transcript.has_breakpoints = transcript.has_writes();
        transcript.marks_compactions = true;
        transcript.forgets_reasoning = 2 * n_forgetful > transcript.exchanges.len();
        transcript.ttl = transcript.has_breakpoints.then_some(TtlClass::Short);
        transcript.folder = self.folder;
        transcript.of_agent = (!self.parent.is_empty()).then_some([self.id, self.parent]);
        transcript
    }
}

/// The walk along the messages.
#[derive(Debug, Default)]
struct OpencodeWalk {
    assembler: Assembler,
    cause: Remover,
    stays: String,
    /// By message, its first part.
    begins: IndexMap<String, usize>,
    /// Calls whose results leave the prompts, each with the time.
    to_clear: Vec<(i64, String)>,
}

impl OpencodeWalk {
    fn visit(&mut self, message: OpencodeMessage, losses: &mut Losses) {
        let OpencodeMessage { stamp, id, end_ms, said } = message;
        self.begins.insert(id, self.assembler.n_parts());
        match said {
            OpencodeParts::Nothing => {}
            OpencodeParts::User(parts, is_typed) => {
                for part in parts {
                    self.assembler.said(stamp, part, is_typed);
                }
            }
            OpencodeParts::Compaction { cause, stays } => (self.cause, self.stays) = (cause, stays),
            OpencodeParts::Reply(answer) if answer.is_summary => self.compact(stamp, *answer, losses),
            OpencodeParts::Reply(answer) => self.reply(stamp, end_ms, *answer, losses),
        }
    }

    /// Takes a reply with the results of its calls.
    fn reply(&mut self, stamp: Stamp, end_ms: Option<i64>, answer: OpencodeAnswer, losses: &mut Losses) {
        let OpencodeAnswer { exchange, results, is_aborted, .. } = answer;
        if is_aborted {
            return self.aborted(stamp, exchange.reply, results, losses);
        }
        // Results that the harness had cleared by then are in no prompt any more.
        let is_due = |it: &mut (i64, String)| stamp.ms.is_some_and(|at_ms| it.0 <= at_ms);
        let calls: Vec<String> = self.to_clear.extract_if(.., is_due).map(|cleared| cleared.1).collect();
        self.assembler.cleared(&calls);
        self.assembler.replied(Exchange { at_ms: stamp.ms, end_ms, ..exchange });
        for CallOutcome { part, cleared_ms } in results {
            self.to_clear.extend(cleared_ms.map(|it| (it, part.call.clone())));
            self.assembler.answered(Stamp { ms: end_ms, ..stamp }, part, losses);
        }
    }

    /// Takes a reply that was not finished: it is not a request that anyone billed, but the later prompts hold what was said.
    fn aborted(&mut self, stamp: Stamp, reply: Vec<Part>, results: Vec<CallOutcome>, losses: &mut Losses) {
        losses.add(stamp.line, "replies without usage that were aborted or not finished; what they say counts as context, not as a request");
        let spoken = reply.into_iter().filter(|part| part.kind != Kind::Reasoning);
        let parts = spoken.chain(results.into_iter().map(|it| it.part));
        for part in parts.filter(|it| it.characters > 0) {
            self.assembler.said(stamp, part.with_kind(Kind::Assistant), false);
        }
    }

    /// Takes what stands in place of the history.
    fn compact(&mut self, stamp: Stamp, answer: OpencodeAnswer, losses: &mut Losses) {
        let summary = answer.exchange.reply.into_iter().find(|part| part.kind == Kind::Assistant);
        let Some(summary) = summary else {
            return losses.add(stamp.line, "compactions that were not finished");
        };
        let stays = std::mem::take(&mut self.stays);
        let summary = HistorySummary {
            stays_from: or_unlimited(self.begins.get(&stays).copied()),
            cause: std::mem::take(&mut self.cause),
            bill: answer.exchange.usage,
            ..HistorySummary::new(vec![summary.with_kind(Kind::Summary)])
        };
        self.assembler.replaced(stamp, summary);
    }
}

/// Returns a time of a record, in milliseconds since 1970.
fn milliseconds(time: &Value, name: &str) -> Option<i64> {
    time.get(name).filter(|it| !it.is_null()).and_then(|it| Count::of(it).milliseconds())
}

/// Reads a message.
fn message(line: usize, record: OpencodeMessageRecord<'_>, losses: &mut Losses) -> Option<OpencodeMessage> {
    let Shaped::Object(about) = record.info else {
        losses.add(line, "messages without `info`");
        return None;
    };
    let parts: Vec<OpencodePart<'_>> =
        record.parts.into_iter().flatten().filter_map(Shaped::object).collect();
    let [at_ms, end_ms] = ["created", "completed"].map(|it| milliseconds(&about.time, it));
    let id = about.id.0.as_ref().to_owned();
    let said = match about.role.0.as_ref() {
        "user" => user(line, parts, losses),
        "assistant" => OpencodeParts::Reply(Box::new(answer(line, &about, parts, losses))),
        other => {
            losses.add(line, format!("messages of the unknown role `{other}`"));
            OpencodeParts::Nothing
        }
    };
    Some(OpencodeMessage { stamp: Stamp { line, ms: at_ms }, id, end_ms, said })
}

/// Reads the user's message, or what the harness says in the user's place.
fn user(line: usize, parts: Vec<OpencodePart<'_>>, losses: &mut Losses) -> OpencodeParts {
    if let Some(part) = parts.iter().find(|it| it.kind.0 == "compaction") {
        let cause = if part.auto == Some(Flag(false)) { Remover::Asked } else { Remover::Harness };
        return OpencodeParts::Compaction { cause, stays: part.tail_start_id.0.as_ref().to_owned() };
    }
    let is_typed = parts.iter().any(|it| !it.synthetic.0);
    let said = parts.into_iter().filter_map(|part| user_part(line, part, losses)).collect();
    OpencodeParts::User(said, is_typed)
}

fn user_part(line: usize, part: OpencodePart<'_>, losses: &mut Losses) -> Option<Part> {
    if part.ignored.0 {
        losses.add(line, "parts that the model is not to see");
        return None;
    }
    match part.kind.0.as_ref() {
        "text" => Some(Part::of(Kind::User, part.text.unwrap_or_default())),
        // Of a text file, the text is a part of its own.
        "file" if part.mime.0.starts_with("text/") || part.mime.0 == "application/x-directory" => None,
        "file" => {
            let file = part.url.unwrap_or_default();
            Some(Part::of(Kind::User, file.content(part.mime.0.starts_with("image/"))))
        }
        "subtask" => Some(Part::of(Kind::User, part.prompt.unwrap_or_default())),
        "agent" => None,
        other => {
            losses.add(line, format!("parts of the unknown type `{other}` in messages"));
            None
        }
    }
}

/// Reads what the model answered.
fn answer(
    line: usize,
    about: &AboutRecord<'_>,
    parts: Vec<OpencodePart<'_>>,
    losses: &mut Losses,
) -> OpencodeAnswer {
    let mut bill = BillReader::of(line, "tokens", &about.tokens, losses);
    let uncached = bill.needed("input");
    let output = bill.needed("output");
    let reasoning = bill.tokens("reasoning");
    if !about.tokens["cache"].is_null() && !about.tokens["cache"].is_object() {
        bill.refuse("cache", NO_OBJECT);
    }
    let cache_read = bill.tokens("cache.read");
    let cache_write = bill.tokens("cache.write");
    let has_numbers = bill.is_complete;
    // Reasoning is a part of the output only if the total says so.
    let sum = uncached + cache_read + cache_write + output;
    let is_inside = bill.number("total").is_some() && bill.tokens("total") == sum && reasoning <= output;
    let output = if is_inside { output } else { output + reasoning };
    let usage = bill.apart([uncached, cache_read, cache_write, output]);
    let mut exchange = Exchange {
        model: about.model.0.as_ref().to_owned(),
        usage,
        reasoning,
        cost: dollars(&about.cost).filter(|it| it.0 > 0),
        ..Exchange::default()
    };
    let mut results = Vec::new();
    for part in parts {
        spoken(line, part, &mut exchange.reply, &mut results, losses);
    }
    let has_ended = !matches!(about.finish.0.as_ref(), "" | "other" | "unknown" | "error");
    let is_aborted = usage.is_none() && has_numbers && !(has_ended && about.error.is_none());
    OpencodeAnswer { exchange, results, is_summary: about.summary.0, is_aborted }
}

/// Reads a part of a reply; a call has its result with it.
fn spoken(
    line: usize,
    part: OpencodePart<'_>,
    parts: &mut Vec<Part>,
    results: &mut Vec<CallOutcome>,
    losses: &mut Losses,
) {
    match part.kind.0.as_ref() {
        "text" => parts.push(Part::of(Kind::Assistant, part.text.unwrap_or_default())),
        "reasoning" => parts.push(Part::of(Kind::Reasoning, part.text.unwrap_or_default())),
        "tool" => {
            let Shaped::Object(state) = part.state else {
                return losses.add(line, "calls without a state");
            };
            let StateRecord { status, input, output, error, time } = state;
            parts.push(Part::call(&part.call.0, &part.tool.0, input.unwrap_or_default().0));
            let content = match status.0.as_ref() {
                "completed" => output.unwrap_or_default(),
                "error" => error.unwrap_or_default(),
                _ => {
                    losses.add(line, "calls without a result");
                    Content::default()
                }
            };
            let result = Part::result(&part.call.0, &part.tool.0, content);
            results.push(CallOutcome { part: result, cleared_ms: milliseconds(&time, "compacted") });
        }
        // Marks of the harness, which no prompt holds.
        "step-start" | "step-finish" | "patch" | "snapshot" | "retry" => {}
        other => losses.add(line, format!("parts of the unknown type `{other}` in replies")),
    }
}

// What an exported session of opencode writes of its messages and their parts.

/// A message with its parts.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct OpencodeMessageRecord<'a> {
    /// What is said of it.
    info: Shaped<AboutRecord<'a>>,
    /// Its parts.
    parts: Option<Vec<Shaped<OpencodePart<'a>>>>,
}

/// What is said of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct AboutRecord<'a> {
    /// Its id.
    id: Text<'a>,
    /// `user` or `assistant`.
    role: Text<'a>,
    /// The model that answered.
    #[serde(rename = "modelID")]
    model: Text<'a>,
    /// What was billed.
    tokens: Value,
    /// What opencode reckons that it cost.
    cost: Value,
    /// When it began and ended, in milliseconds since 1970.
    time: Value,
    /// How the reply ended.
    finish: Text<'a>,
    /// What went wrong.
    error: Option<Measured>,
    /// Whether the reply is the summary of a compaction.
    summary: Flag,
}

/// A part of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct OpencodePart<'a> {
    /// `text`, `reasoning`, `tool`, `file`, `compaction`, …
    #[serde(rename = "type")]
    kind: Text<'a>,
    /// Of a `text` or `reasoning`.
    text: Option<Content>,
    /// Whether the harness wrote the text, and not the user.
    synthetic: Flag,
    /// Whether the model is not to see it.
    ignored: Flag,
    /// Of a `tool`: the tool.
    tool: Text<'a>,
    /// The call's name.
    #[serde(rename = "callID")]
    call: Text<'a>,
    /// What became of the call.
    state: Shaped<StateRecord<'a>>,
    /// Of a `file`: what it is.
    mime: Text<'a>,
    /// Of a `file`: where it is, or its content.
    url: Option<LoggedFile>,
    /// Of a `subtask`: what it is asked.
    prompt: Option<Content>,
    /// Of a `compaction`: whether the harness wanted it.
    auto: Option<Flag>,
    /// Of a `compaction`: the first message that stays.
    tail_start_id: Text<'a>,
}

/// What became of a call.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct StateRecord<'a> {
    /// `pending`, `running`, `completed` or `error`.
    status: Text<'a>,
    /// The arguments.
    input: Option<Arguments>,
    /// What came back.
    output: Option<Content>,
    /// What went wrong.
    error: Option<Content>,
    /// When it came, and when its result left the prompts.
    time: Value,
}
