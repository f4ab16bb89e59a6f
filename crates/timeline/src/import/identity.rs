//! Which sessions a recording holds, by the ids in its log: found in a small part of the file, before it is read.

use serde_json::Value;

use super::document::FrontOutline;
use super::lines::LogLines;
use super::values::Text;
use super::{json, usage_csv};

/// How much of a file is searched for an id.
pub(super) const HEAD_BYTES: usize = 128 << 10;

/// A session of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Its id in the log, with that of the sub-agent if it is one's session.
    pub(super) id: String,
    /// Its name within the file; empty for a single session.
    pub(super) name: String,
    /// Whether the recording has the texts of the session, and not only its usage.
    pub(super) has_texts: bool,
}

/// What records of any format say about their session.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct IdentityRecord<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    id: Text<'a>,
    #[serde(rename = "sessionId")]
    session_id: Text<'a>,
    #[serde(rename = "agentId")]
    agent_id: Text<'a>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Option<bool>,
    /// What a record of a rollout holds.
    payload: Value,
}

/// Returns the sessions of a recording whose log names them.
pub(super) fn identities(lines: &mut LogLines<'_>) -> Vec<Identity> {
    if usage_csv::detect(lines.head()) {
        let sessions = usage_csv::sessions(lines).into_iter();
        return sessions.map(|(name, id)| Identity { id, name, has_texts: false }).collect();
    }
    let mut of_agent = None;
    for record in lines.head().lines().filter_map(json::first::<IdentityRecord<'_>>) {
        match id(&record) {
            // A session's file may begin with what its sub-agents did.
            Some(id) if record.is_sidechain == Some(true) => {
                of_agent.get_or_insert_with(|| format!("{id}/{}", record.agent_id.0));
            }
            Some(id) => return vec![of_log(id.to_owned())],
            None => {}
        }
    }
    of_agent.or_else(|| of_document(lines.head())).map(of_log).into_iter().collect()
}

/// Returns the id at the front of a document.
fn of_document(head: &str) -> Option<String> {
    let outline = FrontOutline::of(head);
    let id = ["info.id", "sessionId", "session_id"].iter().find_map(|it| outline.get(it));
    id.filter(|it| !it.is_empty()).map(str::to_owned)
}

fn of_log(id: String) -> Identity {
    Identity { id, name: String::new(), has_texts: true }
}

/// Returns the id of the session that a record names.
fn id<'r>(record: &'r IdentityRecord<'_>) -> Option<&'r str> {
    let id = match record.kind.0.as_ref() {
        "session_meta" => record.payload["id"].as_str()?,
        "session" => &record.id.0,
        _ => &record.session_id.0,
    };
    (!id.is_empty()).then_some(id)
}
