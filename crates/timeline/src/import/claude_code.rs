//! Claude Code sessions: JSON lines whose records form a tree, with several lines per reply.

mod branch;
mod node;
mod record;
mod scan;
mod session;
mod totals;

use self::record::ClaudeRecord;
use super::index::Indexed;
use crate::import::prelude::*;

/// What the rules about harnesses call it.
pub(super) const HARNESS: &str = "claude-code";

pub(super) const FORMAT: LogFormat = LogFormat {
    name: "claude-code",
    looks_like: "one JSON record per line or a list of them, with `type`, `uuid` and `message`",
    place: "~/.claude/projects/PROJECT/SESSION.jsonl, or what `claude -p --verbose` prints with `--output-format json` or `stream-json`",
    reads: "messages, tool calls and results, usage with cache reads and writes of both lifetimes, compactions, sub-agents, versions",
    omits: "the system prompt and the tool schemas; side requests; most requests of sub-agents from 2.1.91 on, which are estimated beside the bill by their totals",
    checked: Checked::Real("sessions of entireio/cli and EntityProcess/agentv"),
    detect,
    read,
};

/// Returns whether one of the first lines holds a user's or an assistant's record.
pub(super) fn detect(head: &str) -> bool {
    let is_record = |line: &str| {
        let records = serde_json::Deserializer::from_str(line).into_iter::<ClaudeRecord<'_>>();
        records.map_while(Result::ok).any(|it| is_message(&it))
    };
    json::unlisted(head).lines().any(is_record)
}

/// Returns whether a record is one that a prompt may hold.
fn is_message(record: &ClaudeRecord<'_>) -> bool {
    let is_named = !record.uuid.0.is_empty() || !record.timestamp.0.is_empty();
    is_named && matches!(record.kind.0.as_ref(), "user" | "assistant") && record.message.is_some()
}

/// Reads a session, of the agent itself and of each of its sub-agents whose records the file holds: the branch that ends at the last
/// message of each.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let (lanes, mut agents) = records(lines, |lines| node::read(lines, losses));
    let is_alone = lanes.len() == 1;
    let lane = |(name, node::ClaudeLane { nodes, of_agent, .. })| {
        let path = branch::follow(&nodes, losses);
        let mut transcript = session::gather(&nodes, &path, losses);
        transcript.harness = HARNESS;
        // What is known of side requests was seen of the agent's own sessions.
        transcript.makes_side_requests = true;
        transcript.of_agent = of_agent;
        // The agent's own session is the first, if there is one.
        transcript.agents = std::mem::take(&mut agents);
        transcript.name = if is_alone { String::new() } else { name };
        transcript
    };
    lanes.into_iter().map(lane).collect()
}

/// Returns what a scan of a recording tells of its sessions; what cannot be used is passed over.
pub(super) fn scan(lines: &mut LogLines<'_>) -> Vec<Indexed> {
    records(lines, scan::scan)
}

/// Reads lines, also where they stand in a list.
fn records<T>(lines: &mut LogLines<'_>, read: impl FnOnce(&mut LogLines<'_>) -> T) -> T {
    if !lines.head().trim_ascii_start().starts_with('[') {
        return read(lines);
    }
    let text = lines.rest();
    read(&mut LogLines::new(&mut json::unlisted(&text).as_bytes()))
}

/// Returns what a sub-agent's session is called within its file.
fn lane_name(agent: &str) -> String {
    let name = agent.strip_prefix("agent-").unwrap_or(agent);
    format!("agent-{}", if name.is_empty() { "unnamed" } else { name })
}
