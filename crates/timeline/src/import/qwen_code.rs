//! Qwen Code's chats: JSON lines of records that name the record before them, with contents as the Gemini interface writes them.

mod record;

use indexmap::IndexMap;
use memchr::memmem;

use self::record::{QwenRecord, QwenUsage};
use super::assemble::{Assembler, HistorySummary, Reply};
use super::format::{Checked, LogFormat};
use super::gemini_cli::{GeminiContent, Spoken};
use super::json;
use super::lines::LogLines;
use super::losses::Losses;
use super::times;
use super::transcript::{Part, Transcript};
use super::tree::{TreeRecord, branch};
use super::usage::{BillReader, Billed};

pub(super) const FORMAT: LogFormat = LogFormat {
    name: "qwen-code",
    looks_like: "one JSON record per line, with `type`, `uuid` and a `message` that has `parts`",
    place: "`~/.qwen/projects/PROJECT/chats/*.jsonl`",
    reads: "the branch of the last record: messages, thoughts, tool calls and results, usage per request, compressions, sub-agents as \
        sessions of their own",
    omits: "the system prompt and the tool schemas; abandoned branches; what the request that compressed the history was billed",
    checked: Checked::Structure("a made-up chat of two requests (Piebald-AI/splitrail)"),
    detect,
    read,
    scan: None,
};

/// Returns whether one of the first lines is a message.
fn detect(head: &str) -> bool {
    let is_message = |it: &QwenRecord<'_>| {
        let is_kind = matches!(it.kind.0.as_ref(), "user" | "assistant" | "tool_result");
        is_kind && !it.uuid.0.is_empty() && it.message.as_ref().is_some_and(|it| it.parts.is_some())
    };
    let has_parts = memmem::find(head.as_bytes(), b"\"parts\"").is_some();
    has_parts && head.lines().filter_map(json::first::<QwenRecord<'_>>).any(|it| is_message(&it))
}

/// Reads a chat, and those of its sub-agents.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut session = String::new();
    let mut by_agent: IndexMap<String, Vec<TreeRecord<QwenParts>>> = IndexMap::new();
    while let Some(line) = lines.next_new(losses) {
        json::each(line.number, line.text, losses, |record: QwenRecord<'_>, losses| {
            if session.is_empty() {
                record.session_id.0.as_ref().clone_into(&mut session);
            }
            let agent =
                if record.is_sidechain.0 { record.agent_id.0.as_ref().to_owned() } else { String::new() };
            let entry = entry(line.number, record, losses);
            by_agent.entry(agent).or_default().push(entry);
        });
    }
    let is_alone = by_agent.len() == 1;
    let transcripts = by_agent.into_iter().map(|(agent, entries)| {
        let mut transcript = gather(entries, losses);
        if !agent.is_empty() {
            transcript.of_agent = Some([agent.clone(), session.clone()]);
            transcript.name = if is_alone { String::new() } else { agent };
        } else if !is_alone {
            transcript.name.clone_from(&session);
        }
        transcript
    });
    transcripts.collect()
}

/// What a record adds to the prompts.
#[derive(Debug)]
enum QwenParts {
    /// Nothing; it only links others.
    Nothing,
    /// Something on the user's side, and whether the user typed it.
    User(Vec<Spoken>, bool),
    /// What the model answered.
    Reply(Box<Reply>),
    /// What stands in place of the history from here on.
    Compaction(Vec<Part>),
}

/// Makes an entry of a record.
fn entry(line: usize, record: QwenRecord<'_>, losses: &mut Losses) -> TreeRecord<QwenParts> {
    let at_ms = times::noted(&record.timestamp.0, line, losses);
    let (id, parent) = (record.uuid.0.as_ref().to_owned(), record.parent_uuid.0.as_ref().to_owned());
    let subtype = record.subtype.0.as_ref().to_owned();
    let said = match record.kind.0.as_ref() {
        "user" | "tool_result" => {
            let parts = record.message.unwrap_or_default().parts.unwrap_or_default();
            let is_typed =
                record.kind.0 == "user" && matches!(subtype.as_str(), "" | "mid_turn_user_message");
            QwenParts::User(spoken(parts), is_typed)
        }
        "assistant" => QwenParts::Reply(Box::new(reply(line, record, losses))),
        "system" if subtype == "chat_compression" => QwenParts::Compaction(record.compressed()),
        other => {
            let name = if subtype.is_empty() { other.to_owned() } else { format!("{other}/{subtype}") };
            losses.never(line, &name);
            QwenParts::Nothing
        }
    };
    TreeRecord { line, id, parent, at_ms, said }
}

fn spoken(parts: GeminiContent<'_>) -> Vec<Spoken> {
    parts.0.into_iter().filter_map(|it| it.spoken()).collect()
}

/// Reads what the model answered.
fn reply(line: usize, record: QwenRecord<'_>, losses: &mut Losses) -> Reply {
    let bill = BillReader::new(line, "usageMetadata", losses);
    let Billed { usage, reasoning, .. } = QwenUsage::billed(record.usage_metadata, bill);
    let parts = spoken(record.message.unwrap_or_default().parts.unwrap_or_default());
    Reply {
        parts: parts.into_iter().filter_map(Spoken::reply).collect(),
        model: record.model.0.into_owned(),
        usage,
        reasoning,
        ..Reply::default()
    }
}

/// Gathers the requests of a branch.
fn gather(entries: Vec<TreeRecord<QwenParts>>, losses: &mut Losses) -> Transcript {
    let mut assembler = Assembler::default();
    let (branch, left) = branch(entries, losses);
    for (_, TreeRecord { line, at_ms, said, .. }) in branch {
        match said {
            QwenParts::Nothing => {}
            QwenParts::User(parts, is_typed) => {
                for part in parts {
                    part.hear(line, at_ms, is_typed, &mut assembler, losses);
                }
            }
            QwenParts::Reply(reply) => {
                assembler.replied(Reply { response_ms: at_ms, end_ms: at_ms, ..*reply });
            }
            QwenParts::Compaction(parts) => assembler.replaced(line, at_ms, HistorySummary::new(parts)),
        }
    }
    let mut transcript = assembler.finish(losses);
    transcript.counts_output = transcript.is_billed();
    let of_reply =
        |it: TreeRecord<QwenParts>| if let QwenParts::Reply(reply) = it.said { reply.usage } else { None };
    transcript.aside = left.into_iter().filter_map(of_reply).collect();
    transcript.drops_reasoning = true;
    transcript.marks_compactions = true;
    transcript
}
