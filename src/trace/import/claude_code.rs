//! Claude Code sessions: JSON lines whose records form a tree, several lines a reply.

mod branch;
pub(super) mod harness;
mod node;
mod record;
mod session;

use self::record::Record;
use super::losses::Losses;
use super::transcript::Transcript;

/// How many lines are looked at to find the format.
const DETECT_LINES: usize = 1_000;

/// Returns whether one of the first lines holds a user's or an assistant's record.
pub(super) fn detect(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').lines().take(DETECT_LINES).any(|line| {
        let mut records = serde_json::Deserializer::from_str(line).into_iter::<Record<'_>>();
        matches!(records.next(), Some(Ok(it)) if is_message(&it))
    })
}

/// Returns whether a record is one that a prompt may hold.
fn is_message(record: &Record<'_>) -> bool {
    let is_named = !record.uuid.0.is_empty() || !record.timestamp.0.is_empty();
    is_named && matches!(record.kind.0.as_ref(), "user" | "assistant") && record.message.is_some()
}

/// Reads a session: the branch that ends at its last message.
pub(super) fn read(text: &str, losses: &mut Losses) -> Vec<Transcript> {
    let nodes = node::read(text, losses);
    let path = branch::follow(&nodes, losses);
    let mut transcript = session::gather(&nodes, &path, losses);
    let version = path.iter().map(|it| nodes[*it].version.as_ref()).find(|it| !it.is_empty());
    transcript.harness = harness::of(version.unwrap_or_default());
    vec![transcript]
}
