//! OpenTelemetry: spans and log records of requests, by the common names and by the emitters' own.
//!
//! `timeline/import/otel` sorts spans and log records by what they are (`emitter.rs`: each emitter's names of a bill, and whether its input
//! holds what was cached), leaves one record per request, and makes a session of each agent (`lanes.rs`). Where messages are exported, they
//! are the history (`conversation.rs`); else the spans of tools are. If any record of a library reads and writes more than its input, the
//! inputs of that library are taken as without it, and a sentence says so. `timeline/import/copilot_cli.rs` has the bills of a session as
//! totals: `spread.rs` divides them in proportion to the prompts' sizes by their texts, so that the totals hold. `Recorded::is_spread`
//! marks them, and `calibrate.rs` leaves them out.

mod attributes;
mod conversation;
mod emitter;
mod lanes;
mod messages;
mod record;

use self::emitter::RecordRole;
use self::record::OtelRecord;
use super::documents;
use crate::import::prelude::*;

/// How many lines at the front are searched for a record.
const LINES_MAX: usize = 20;

/// Marks of the format in a value that is longer than the front.
const MARKS: [&str; 3] = ["\"resourceSpans\"", "\"resourceLogs\"", "\"scopeSpans\""];

pub(super) const FORMAT: LogFormat = LogFormat { name: "otel", detect, read };

/// Returns whether the front holds spans or log records: on one of its lines, or as its first value.
pub(super) fn detect(head: &str) -> bool {
    let text = head.trim_ascii_start();
    let first = text.strip_prefix('[').unwrap_or(text).trim_ascii_start();
    let mut values =
        std::iter::once(first).chain(head.lines().take(LINES_MAX)).filter(|it| it.starts_with('{'));
    let is_cut = || {
        head.lines()
            .take(LINES_MAX)
            .any(|it| MARKS.iter().any(|mark| it.trim_start_matches(['{', ' ']).starts_with(mark)))
    };
    values.any(|it| json::first(it).is_some_and(|value| record::is_telemetry(&value))) || is_cut()
}

/// Reads the requests, one session per agent of a conversation.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let text = lines.rest();
    let mut records = Vec::new();
    documents::each(&text, losses, |line, value, losses| {
        let found =
            json::first::<Value>(value.get()).map(|it| record::records(line, &it)).unwrap_or_default();
        if found.is_empty() {
            losses.add(line, "objects without spans or log records");
        }
        records.extend(found);
    });
    drop(text);
    for record in &records {
        tell(record, losses);
    }
    let apart = apart(&records);
    let lanes = lanes::lanes(records, losses);
    let several = lanes.len() > 1;
    let transcripts = lanes.into_iter().map(|lane| {
        let name = match &lane.agent {
            _ if !several => String::new(),
            Some(agent) => format!("{}/{agent}", lane.conversation),
            None => lane.conversation.clone(),
        };
        let of_agent = lane.agent.clone().map(|it| [it, lane.conversation.clone()]);
        let is_apart = |it: &OtelRecord| apart.contains(&it.scope);
        let mut transcript = conversation::transcript(lane, &is_apart, losses);
        if !apart.is_empty() {
            transcript.assumptions.push(
                "Some input counts are smaller than what was read and written; the inputs of their library are taken as without it."
                    .to_owned(),
            );
        }
        Transcript { name, of_agent, ..transcript }
    });
    transcripts.collect()
}

/// Tells of records that are not requests, by what they are.
fn tell(record: &OtelRecord, losses: &mut Losses) {
    match record.role() {
        RecordRole::Agent => {
            losses.add(record.line, "spans of agents, whose sums repeat what their requests were billed");
        }
        RecordRole::Sum => losses.add(record.line, format!("`{}` spans, which wrap requests", record.name)),
        RecordRole::Other => {
            let what = if record.is_log { "log records" } else { "spans" };
            losses.add(record.line, format!("{what} `{}`, which are no requests", record.name));
        }
        RecordRole::Request(..) | RecordRole::Tool | RecordRole::Prompt => {}
    }
}

/// Returns the libraries whose inputs cannot hold what they read and wrote.
fn apart(records: &[OtelRecord]) -> IndexSet<String> {
    let contradicts =
        |it: &&OtelRecord| matches!(it.role(), RecordRole::Request(names, _) if it.contradicts(names));
    records.iter().filter(contradicts).map(|it| it.scope.clone()).collect()
}
