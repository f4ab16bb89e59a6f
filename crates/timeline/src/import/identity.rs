//! Which sessions a recording holds, by the ids in its log: found in a small part of the file, before it is read.

use std::borrow::Cow;

use super::document::FrontOutline;
use super::usage_csv;
use crate::import::prelude::*;

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

/// Returns the sessions of a recording whose log names them.
pub(super) fn identities(lines: &mut LogLines<'_>) -> Vec<Identity> {
    if usage_csv::detect(lines.head()) {
        let sessions = usage_csv::sessions(lines).into_iter();
        return sessions.map(|(name, id)| Identity { id, name, has_texts: false }).collect();
    }
    let mut of_agent = None;
    for record in lines.head().lines().filter_map(json::first::<Members<'_>>) {
        match id(&record) {
            // A session's file may begin with what its sub-agents did.
            Some(id) if record.get("isSidechain") == Some(true) => {
                of_agent.get_or_insert_with(|| format!("{id}/{}", record.text("agentId")));
            }
            Some(id) => return vec![of_log(id.into_owned())],
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
fn id<'r>(record: &Members<'r>) -> Option<Cow<'r, str>> {
    let id = match record.text("type").as_ref() {
        "session_meta" => record.get::<Members<'_>>("payload")?.text("id"),
        "session" => record.text("id"),
        _ => record.text("sessionId"),
    };
    Some(id).filter(|it| !it.is_empty())
}
