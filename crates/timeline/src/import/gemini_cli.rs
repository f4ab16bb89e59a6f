//! Gemini CLI's chats: one JSON document per session, or JSON lines in which messages are written again and taken back.

mod record;

use self::record::{GeminiRecord, Spoken};
use super::document;
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat = LogFormat { name: "gemini-cli", detect, read };

/// Returns whether the front is that of a chat.
fn detect(head: &str) -> bool {
    let has = |word: &str| head.contains(word);
    if has("\"gemini\"") && head.lines().filter_map(json::first::<GeminiRecord<'_>>).any(|it| is_reply(&it)) {
        return true;
    }
    if !has("\"startTime\"") && !has("\"gemini\"") {
        return false;
    }
    let outline = FrontOutline::of(head);
    let is_chat = outline.has("sessionId") || has("\"gemini\"") && outline.has("messages[].timestamp");
    let is_message = outline.has("messages[].type") && outline.has("messages[].content");
    let is_first_line = outline.has("sessionId") && outline.has("startTime") && outline.has("kind");
    (is_chat && is_message || is_first_line) && !outline.has("uuid")
}

fn is_reply(record: &GeminiRecord<'_>) -> bool {
    record.role.0 == "gemini" && !record.id.0.is_empty()
}

/// Reads all chats of a recording.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut chats = vec![Chat::default()];
    if FrontOutline::of(lines.head()).has("messages[].type") {
        document::each(lines, &["messages"], losses, |piece, losses| {
            let Some(chat) = chats.last_mut() else { return };
            match (piece.path, piece.text) {
                ("", None) => chats.push(Chat::default()),
                ("messages[]", Some(text)) => {
                    if let Some(record) = json::record(piece.line, text, losses) {
                        chat.message(piece.line, record, losses);
                    }
                }
                ("sessionId", Some(text)) => text.trim_matches('"').clone_into(&mut chat.id),
                ("kind", Some(text)) => chat.is_agent = text == "\"subagent\"",
                _ => {}
            }
        });
    } else {
        while let Some(line) = lines.next_new(losses) {
            json::each(line, losses, |record: GeminiRecord<'_>, losses| {
                take(&mut chats, line.number, record, losses);
            });
        }
    }
    chats.retain(|it| !it.messages.is_empty());
    named_apart(chats.into_iter().map(|it| (it.id.clone(), it.finish(losses))).collect())
}

/// Takes a line: a message, a change, or the beginning of another chat.
fn take(chats: &mut Vec<Chat>, line: usize, record: GeminiRecord<'_>, losses: &mut Losses) {
    if chats.last().is_some_and(|it| !it.id.is_empty() && it.id != record.session_id.0)
        && !record.session_id.0.is_empty()
        && record.role.0.is_empty()
    {
        chats.push(Chat::default());
    }
    let Some(chat) = chats.last_mut() else { return };
    if let Some(to) = record.rewind_to {
        return chat.acts.push(GeminiStep::Rewind(to.0.into_owned()));
    }
    if let Some(set) = record.set {
        // Messages that are replaced as a whole are those of a history that the user changed.
        let changed = json::first::<GeminiRecord<'_>>(set.get()).unwrap_or_default();
        if !changed.session_id.0.is_empty() {
            changed.session_id.0.as_ref().clone_into(&mut chat.id);
        }
        return;
    }
    if record.role.0.is_empty() {
        chat.is_agent = record.kind.0 == "subagent";
        if !record.session_id.0.is_empty() && !record.start_time.0.is_empty() {
            chat.id = record.session_id.0.into_owned();
        } else {
            losses.add(line, "records that are neither messages nor changes");
        }
        return;
    }
    chat.message(line, record, losses);
}

#[derive(Debug, Default)]
struct Chat {
    id: String,
    is_agent: bool,
    acts: Vec<GeminiStep>,
    /// By id, or by its number where it has none; the last record of an id counts.
    messages: IndexMap<String, GeminiMessage>,
}

/// What happened, in order.
#[derive(Debug)]
enum GeminiStep {
    /// A message came, by its id.
    Message(String),
    /// The user went back to before a message.
    Rewind(String),
}

#[derive(Debug)]
struct GeminiMessage {
    stamp: Stamp,
    said: GeminiParts,
}

/// What a message adds to the prompts.
#[derive(Debug)]
enum GeminiParts {
    /// Something on the user's side.
    User(Vec<Spoken>),
    /// What the model answered, and what its calls gave back.
    Reply(Box<GeminiAnswer>),
}

/// What the model answered.
#[derive(Debug, Default)]
struct GeminiAnswer {
    exchange: Exchange,
    results: Vec<(Option<i64>, Part)>,
    /// Whether nothing came of it, and its numbers, which are there, are all zero.
    is_cancelled: bool,
}

impl Chat {
    fn message(&mut self, line: usize, record: GeminiRecord<'_>, losses: &mut Losses) {
        let stamp = Stamp::noted(line, &record.timestamp.0, losses);
        let id = record.id.0.as_ref().to_owned();
        let said = match record.role.0.as_ref() {
            "user" => GeminiParts::User(record.content.0.into_iter().filter_map(|it| it.spoken()).collect()),
            "gemini" => GeminiParts::Reply(Box::new(answer(line, record, losses))),
            other => {
                return losses
                    .add(line, format!("messages of type `{other}`, which is never part of a prompt"));
            }
        };
        let key = if id.is_empty() { format!("#{}", self.messages.len()) } else { id };
        // Another one of that name came at another time.
        let is_other = self.messages.get(&key).is_some_and(|it| it.stamp.ms != stamp.ms);
        let key = if is_other { format!("{key}#{}", self.messages.len()) } else { key };
        if self.messages.insert(key.clone(), GeminiMessage { stamp, said }).is_none() {
            self.acts.push(GeminiStep::Message(key));
        }
    }

    fn finish(mut self, losses: &mut Losses) -> Transcript {
        let mut assembler = Assembler::default();
        let mut begins: IndexMap<String, usize> = IndexMap::new();
        for act in std::mem::take(&mut self.acts) {
            match act {
                GeminiStep::Rewind(to) => match begins.get(&to) {
                    Some(first) => assembler.rewound(*first),
                    None => losses.add(0, "messages taken back that are not in the file"),
                },
                GeminiStep::Message(id) => {
                    let first = assembler.n_parts();
                    if let Some(message) = self.messages.swap_remove(&id) {
                        say(message, &mut assembler, losses);
                    }
                    begins.insert(id, first);
                }
            }
        }
        let mut transcript = assembler.finish(losses);
        transcript.counts_output = transcript.is_billed();
        transcript.drops_reasoning = true;
        if self.is_agent {
            transcript.assumptions.push(
                "The session is a sub-agent's; the file does not name the one that started it.".to_owned(),
            );
        }
        transcript
    }
}

/// Takes a message into the prompts.
fn say(message: GeminiMessage, assembler: &mut Assembler, losses: &mut Losses) {
    let GeminiMessage { stamp, said } = message;
    match said {
        GeminiParts::User(parts) => {
            for part in parts {
                part.hear(stamp, true, assembler, losses);
            }
        }
        GeminiParts::Reply(answer) => {
            let GeminiAnswer { exchange, results, is_cancelled } = *answer;
            if is_cancelled {
                losses.add(stamp.line, "replies without usage that were cancelled; what they say counts as context, not as a request");
                for part in exchange.reply.into_iter().filter(|it| it.kind != Kind::Reasoning) {
                    assembler.said(stamp, part.with_kind(Kind::Assistant), false);
                }
                return;
            }
            assembler.replied(Exchange { response_ms: stamp.ms, end_ms: stamp.ms, ..exchange });
            for (ms, part) in results {
                assembler.answered(Stamp { ms, ..stamp }, part, losses);
            }
        }
    }
}

/// Reads what the model answered.
fn answer(line: usize, record: GeminiRecord<'_>, losses: &mut Losses) -> GeminiAnswer {
    let mut bill = BillReader::of(line, "tokens", &record.tokens, losses);
    let input = bill.needed("input");
    let output = bill.needed("output");
    let cache_read = bill.tokens("cached");
    let reasoning = bill.tokens("thoughts");
    // What the provider's own tools added stands beside the prompt, and thoughts beside the output.
    let of_tools = bill.tokens("tool");
    let uncached = bill.less(input, "cached", cache_read) + of_tools;
    let has_numbers = bill.is_complete;
    let usage = bill.apart([uncached, cache_read, 0, output + reasoning]);
    let mut parts = Vec::new();
    if let Some(thought) = record.thoughts.filter(|_| reasoning > 0) {
        parts.push(Part::of(Kind::Reasoning, thought));
    }
    let mut results = Vec::new();
    for spoken in record.content.0.into_iter().filter_map(|it| it.spoken()) {
        match spoken {
            Spoken::Said(content) if content.measured.characters == 0 => {}
            Spoken::Result(part) => results.push((None, part)),
            other => parts.extend(other.reply()),
        }
    }
    for (nth, call) in record.tool_calls.into_iter().flatten().enumerate() {
        let Shaped::Object(call) = call else { continue };
        let id = if call.id.0.is_empty() { format!("{}/{nth}", record.id.0) } else { call.id.0.into_owned() };
        parts.push(Part::call(&id, &call.name.0, call.args.unwrap_or_default().0));
        let result = Part::result(&id, &call.name.0, call.result.into_content());
        results.push((milliseconds(&call.timestamp.0), result));
    }
    let model = record.model.0.into_owned();
    let is_cancelled = usage.is_none() && has_numbers && results.is_empty();
    let exchange = Exchange { reply: parts, model, usage, reasoning, ..Exchange::default() };
    GeminiAnswer { exchange, results, is_cancelled }
}
