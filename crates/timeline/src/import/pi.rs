//! pi sessions: JSON lines of messages, a tree since version 2, with the cost of each request.

use super::tree::{TreeRecord, branch};
use crate::AsideBill;
use crate::import::prelude::*;
use crate::import::transcript::SummarySizes;

pub(super) const FORMAT: LogFormat =
    LogFormat { name: "pi", detect: |head| json::any(head, is_message), read };

/// Returns whether an entry is a message of a role that pi knows.
fn is_message(record: &PiRecord<'_>) -> bool {
    let role = record.message.as_ref().map_or("", |it| it.role.0.as_ref());
    record.kind.0 == "message" && matches!(role, "user" | "assistant" | "toolResult" | "bashExecution")
}

/// Reads a session: the branch that ends at its last entry.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut entries = Vec::new();
    while let Some(line) = lines.next_new(losses) {
        json::each(line, losses, |record: PiRecord<'_>, losses| {
            entries.extend(entry(line.number, record, losses));
        });
    }
    vec![gather(entries, losses)]
}

/// What an entry adds to the prompts.
#[derive(Debug)]
enum PiParts {
    /// Nothing; it only links others.
    Nothing,
    /// Something on the user's side.
    User { parts: Vec<Part>, is_typed: bool },
    /// What a call gave back.
    Result(Part),
    /// What the model answered, and whether breakpoints cached it.
    Reply(Box<Exchange>, bool),
    /// A summary in place of everything before an entry, which is named, or counted from the file's first.
    Compaction { summary: Part, kept: String, kept_index: Option<u64>, before: Option<Tokens> },
    /// Nothing; whether the next reply is a summary in the place of everything before it.
    Summarises(bool),
}

/// Makes an entry of a record; the header is none.
fn entry(line: usize, record: PiRecord<'_>, losses: &mut Losses) -> Option<TreeRecord<PiParts>> {
    let stamp = Stamp::noted(line, &record.timestamp.0, losses);
    let (id, parent) = (record.id.0.as_ref().to_owned(), record.parent_id.0.as_ref().to_owned());
    let summary = Part::of(Kind::Summary, record.summary.unwrap_or_default());
    let said = match record.kind.0.as_ref() {
        "message" => said(line, record.message.unwrap_or_default(), losses),
        "compaction" => PiParts::Compaction {
            summary,
            kept: record.first_kept_entry_id.0.into_owned(),
            kept_index: record.first_kept_entry_index.and_then(Count::known),
            before: record.tokens_before.and_then(Count::known).filter(|it| *it > 0),
        },
        "compaction_start" | "session_compact" => PiParts::Summarises(true),
        "compaction_end" => PiParts::Summarises(false),
        "branch_summary" => PiParts::User { parts: vec![summary], is_typed: false },
        "custom_message" => {
            PiParts::User { parts: user_parts(line, record.content, losses), is_typed: false }
        }
        other => {
            losses.never(line, other);
            if other == "session" {
                return None;
            }
            PiParts::Nothing
        }
    };
    Some(TreeRecord { stamp, id, parent, said })
}

/// Says what a message adds to the prompts.
fn said(line: usize, message: PiMessage<'_>, losses: &mut Losses) -> PiParts {
    let user = |part| PiParts::User { parts: vec![part], is_typed: false };
    match message.role.0.as_ref() {
        "user" => PiParts::User { parts: user_parts(line, message.content, losses), is_typed: true },
        "custom" | "hookMessage" => {
            PiParts::User { parts: user_parts(line, message.content, losses), is_typed: false }
        }
        "toolResult" => {
            let content = message.content.to_content();
            PiParts::Result(Part::result(&message.tool_call_id.0, &message.tool_name.0, content))
        }
        "bashExecution" if message.exclude_from_context == Some(true) => {
            losses.add(line, "commands run by the user, which no model has seen");
            PiParts::Nothing
        }
        "bashExecution" => {
            let command = message.command.unwrap_or_default();
            user(Part::of(
                Kind::User,
                Content::join([command, message.output.unwrap_or_default()].into_iter()),
            ))
        }
        "branchSummary" | "compactionSummary" => {
            user(Part::of(Kind::Summary, message.summary.unwrap_or_default()))
        }
        "assistant" => reply(line, message, losses),
        other => {
            losses.add(line, format!("messages of the unknown role `{other}`"));
            PiParts::Nothing
        }
    }
}

/// The provider under which a gateway of agents writes texts that no model wrote.
const GATEWAY: &str = "openclaw";

/// Reads what the model answered, unless nobody did.
fn reply(line: usize, message: PiMessage<'_>, losses: &mut Losses) -> PiParts {
    if message.provider.0 == GATEWAY {
        losses.add(line, "replies that the gateway wrote and no model; they are kept without a request");
        let said = Part::of(Kind::Assistant, message.content.to_content());
        return PiParts::User { parts: vec![said], is_typed: false };
    }
    let (usage, cost) = billed(line, &message.usage, losses).unzip();
    let parts = message.content.into_parts(Kind::Assistant, |it| spoken(line, it, losses));
    if usage.is_none() && (message.stop_reason.0 == "error" || parts.is_empty()) {
        losses.add(line, "replies that failed or were cancelled, and were not billed");
        return PiParts::Nothing;
    }
    let at_ms = message.timestamp.and_then(Count::milliseconds);
    let exchange = Exchange {
        reply: parts,
        at_ms,
        response_ms: at_ms,
        model: message.model.0.into_owned(),
        usage,
        cost: cost.flatten(),
        ..Exchange::default()
    };
    PiParts::Reply(
        Box::new(exchange),
        message.api.0.starts_with("anthropic") || message.api.0.starts_with("bedrock"),
    )
}

/// Makes a part of a block of a reply.
fn spoken(line: usize, block: MessageBlock<'_>, losses: &mut Losses) -> Option<Part> {
    match block.kind.0.as_ref() {
        "text" => Some(Part::of(Kind::Assistant, block.text.unwrap_or_default())),
        "thinking" => Some(Part::of(Kind::Reasoning, block.thinking.unwrap_or_default())),
        "toolCall" => Some(Part::call(&block.id.0, &block.name.0, block.arguments.unwrap_or_default().0)),
        other => {
            losses.add(line, format!("blocks of the unknown type `{other}` in replies"));
            None
        }
    }
}

/// Reads the parts of a message on the user's side.
fn user_parts(line: usize, content: MessageContent<'_>, losses: &mut Losses) -> Vec<Part> {
    content.into_parts(Kind::User, |block| match block.kind.0.as_ref() {
        "text" | "image" => Some(Part::of(Kind::User, block.to_content())),
        other => {
            losses.add(line, format!("blocks of the unknown type `{other}` in messages"));
            None
        }
    })
}

/// Reads what was billed and what that cost, or nothing if nothing was billed.
fn billed(line: usize, record: &Value, losses: &mut Losses) -> Option<(Usage, Option<Cost>)> {
    let mut bill = BillReader::of(line, "message.usage", record, losses);
    let uncached = bill.needed("input");
    let output = bill.needed("output");
    let cache_read = bill.tokens("cacheRead");
    let cache_write = bill.tokens("cacheWrite");
    // OpenClaw writes the cost under another name.
    let cost = dollars(&record["cost"]["total"]).or_else(|| dollars(&record["costUSD"]));
    bill.apart([uncached, cache_read, cache_write, output]).map(|it| (it, cost))
}

/// Gathers the requests of the branch that ends at the last entry.
fn gather(entries: Vec<TreeRecord<PiParts>>, losses: &mut Losses) -> Transcript {
    let mut assembler = Assembler::default();
    // Where the parts of an entry begin, by its name and by its place.
    let mut by_name: IndexMap<String, usize> = IndexMap::new();
    let mut by_place: IndexMap<usize, usize> = IndexMap::new();
    let mut has_breakpoints = false;
    let mut is_summarising = false;
    let (branch, left) = branch(entries, losses);
    for (place, TreeRecord { stamp, id, said, .. }) in branch {
        by_name.insert(id, assembler.n_parts());
        by_place.insert(place, assembler.n_parts());
        match said {
            PiParts::Nothing => {}
            PiParts::Summarises(is_next) => is_summarising = is_next,
            PiParts::User { parts, is_typed } => {
                for part in parts {
                    assembler.said(stamp, part, is_typed);
                }
            }
            PiParts::Result(part) => assembler.answered(stamp, part, losses),
            PiParts::Reply(exchange, _) if std::mem::take(&mut is_summarising) => {
                let said = exchange.reply.into_iter().filter(|it| it.kind == Kind::Assistant);
                let parts = said.map(|it| it.with_kind(Kind::Summary)).collect();
                let summary = HistorySummary { bill: exchange.usage, ..HistorySummary::new(parts) };
                assembler.replaced(stamp, summary);
            }
            PiParts::Reply(exchange, is_cached) => {
                has_breakpoints |= is_cached;
                let response_ms = exchange.response_ms.or(stamp.ms);
                assembler.replied(Exchange { response_ms, end_ms: stamp.ms, ..*exchange });
            }
            PiParts::Compaction { summary, kept, kept_index, before } => {
                // In the first version, places count from the header.
                let place = kept_index.and_then(|it| usize::try_from(it).ok()?.checked_sub(1));
                let by_name = by_name.get(&kept).filter(|_| !kept.is_empty()).copied();
                let stays = by_name.or_else(|| by_place.get(&place?).copied());
                if stays.is_none() {
                    losses.add(
                        stamp.line,
                        "compactions whose first kept entry is not on the branch; nothing is kept",
                    );
                }
                let summary =
                    HistorySummary { stays_from: or_unlimited(stays), ..HistorySummary::new(vec![summary]) };
                assembler.replaced(stamp, summary);
                assembler.sized(SummarySizes { before, at_ms: stamp.ms, ..SummarySizes::default() });
            }
        }
    }
    let mut transcript = assembler.finish(losses);
    transcript.has_breakpoints = has_breakpoints;
    let bill = |it: TreeRecord<PiParts>| match it.said {
        PiParts::Reply(exchange, _) => Some(AsideBill {
            usage: exchange.usage?,
            model: exchange.model,
            at_ms: exchange.at_ms.or(it.stamp.ms),
            ..AsideBill::default()
        }),
        _ => None,
    };
    transcript.aside = left.into_iter().filter_map(bill).collect();
    transcript.counts_output = true;
    let forgets = HarnessRules::forgets_reasoning(FORMAT.name, &transcript.exchanges);
    transcript.forgets_reasoning = forgets.unwrap_or(false);
    let ttl = has_breakpoints.then_some(TtlClass::Short);
    transcript.ttl = ttl;
    transcript
}

// One line of a pi session as written.

/// An entry.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct PiRecord<'a> {
    /// `session`, `message`, `compaction`, `branch_summary`, `custom_message`, or one that is never part of a prompt.
    #[serde(rename = "type")]
    kind: Text<'a>,
    /// Its name; sessions of the first version have none.
    id: Text<'a>,
    /// The entry that it follows.
    parent_id: Text<'a>,
    /// When it was written, ISO 8601.
    timestamp: Text<'a>,
    /// What was said.
    message: Option<PiMessage<'a>>,
    /// What represents the history before a compaction, or for a branch.
    summary: Option<Content>,
    /// The first entry that a compaction keeps.
    first_kept_entry_id: Text<'a>,
    /// The same by its place in the file, in sessions of the first version.
    first_kept_entry_index: Option<Count>,
    /// Of a compaction: the tokens of the prompt before it.
    tokens_before: Option<Count>,
    /// Of a `custom_message`.
    content: MessageContent<'a>,
}

/// What was said.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct PiMessage<'a> {
    /// `user`, `assistant`, `toolResult`, `bashExecution`, `custom`, …
    role: Text<'a>,
    /// Its parts.
    content: MessageContent<'a>,
    /// Which interface answered.
    api: Text<'a>,
    /// Whose it was.
    provider: Text<'a>,
    /// Which model did.
    model: Text<'a>,
    /// Why it ended: `stop`, `toolUse`, `length`, `error` or `aborted`.
    stop_reason: Text<'a>,
    /// What was billed.
    usage: Value,
    /// When the request began, in milliseconds.
    timestamp: Option<Count>,
    /// The call that a result answers.
    tool_call_id: Text<'a>,
    /// The tool of a result.
    tool_name: Text<'a>,
    /// What the user ran.
    command: Option<Content>,
    /// What it printed.
    output: Option<Content>,
    /// Whether the model is not to see it.
    exclude_from_context: Option<bool>,
    /// Of a summary.
    summary: Option<Content>,
}
