//! How an agent uses a memory service across sessions, as a policy declares it.

use crate::prelude::*;

/// Writes sessions to a memory service and answers questions from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServiceMemory {
    /// The service: a file of `assumptions/memory_runners/services`. Default: `local`.
    #[serde(default = "local")]
    pub service: String,
    /// What is written of a session, and when.
    #[serde(default)]
    pub write: ServiceWrite,
    /// The context document in which it is stored.
    #[serde(default)]
    pub store: ContextDocument,
    /// What is read at the start of a session and to answer a question.
    #[serde(default)]
    pub read: ServiceRead,
}

/// What is written of a session, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServiceWrite {
    /// Whether each message is also an entry. Otherwise only the context document is written, at the end of
    /// each session. Default: false.
    pub entries: bool,
    /// With entries: write the document after this many messages of a session; 0 for never. Default: 6.
    pub flush_every: Option<u64>,
    /// The calls at the end of a session. Default: put the document; with entries, wait first.
    pub at_end: Option<Vec<ServiceCall>>,
    /// Whether the prompt asks for a comprehensive Facts section, which also lists implicit facts. Default:
    /// false.
    pub lists_details: bool,
}

/// A call to a memory service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServiceCall {
    /// Adds an entry.
    AddEntry,
    /// Waits until everything written can be found.
    AwaitConsistency,
    /// Adds a version of the context document.
    PutContext,
    /// Gets the latest version of the context document.
    GetContext,
    /// Gets the latest entries.
    ListEntries,
    /// Finds entries and versions of the document.
    Search,
}

/// A context document and its capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ContextDocument {
    /// Its largest size. Default: 5,000 words.
    pub cap: Cap,
    /// Its sections. Default: facts, timeline, entities, preferences and notes.
    pub sections: Vec<DocSection>,
    /// Facts stated in this many sessions, including the last one, are protected. Default: 1.
    pub recent_sessions: u64,
    /// Entities mentioned this many times are key entities, and protected. Default: 2.
    pub key_references: u64,
}

/// The largest size of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// In words.
    Words(u64),
    /// In characters.
    Chars(u64),
}

/// A section of a context document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DocSection {
    /// The subject of the memory.
    Description,
    /// Current facts.
    Facts,
    /// The user's preferences.
    Preferences,
    /// Decisions.
    Decisions,
    /// Topics of conversations.
    Topics,
    /// People and things, and their relations.
    Entities,
    /// Anything else worth keeping, with a line for each old conversation.
    Notes,
    /// Conversations and events, in order.
    Timeline,
    /// A diagram of relations.
    Diagram,
}

/// What is read at the start of a session and to answer a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServiceRead {
    /// The calls at the start of a session. Default: wait and get the document; with entries, also list them.
    pub at_start: Option<Vec<ServiceCall>>,
    /// Whether only the current document is read, without a search. Default: false.
    pub document_alone: bool,
    /// What the first pass finds. Default: 10 entries and 3 versions of the document.
    pub first: SearchPass,
    /// What the second pass finds, if the model asks for one. Default: 5 and 2.
    pub second: SearchPass,
}

/// What one pass of a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchPass {
    /// The number of entries.
    pub entries: u64,
    /// How many versions of the document.
    pub shards: u64,
}

impl Default for ContextDocument {
    fn default() -> Self {
        use DocSection::{Entities, Facts, Notes, Preferences, Timeline};
        Self {
            cap: Cap::Words(5_000),
            sections: vec![Facts, Timeline, Entities, Preferences, Notes],
            recent_sessions: 1,
            key_references: 2,
        }
    }
}

impl Default for ServiceRead {
    fn default() -> Self {
        let (first, second) = (SearchPass { entries: 10, shards: 3 }, SearchPass { entries: 5, shards: 2 });
        Self { at_start: None, document_alone: false, first, second }
    }
}

impl ServiceMemory {
    /// Returns the calls at the start of a session.
    pub fn starts_with(&self) -> &[ServiceCall] {
        use ServiceCall::{AwaitConsistency, GetContext, ListEntries};
        match (&self.read.at_start, self.write.entries) {
            (Some(calls), _) => calls,
            (None, false) => &[AwaitConsistency, GetContext],
            (None, true) => &[AwaitConsistency, GetContext, ListEntries],
        }
    }

    /// Returns the calls at the end of a session.
    pub fn ends_with(&self) -> &[ServiceCall] {
        use ServiceCall::{AwaitConsistency, PutContext};
        match (&self.write.at_end, self.write.entries) {
            (Some(calls), _) => calls,
            (None, false) => &[PutContext],
            (None, true) => &[AwaitConsistency, PutContext],
        }
    }

    /// Returns the number of messages after which the document is also written, if it is.
    pub fn flushes_every(&self) -> Option<u64> {
        self.write.flush_every.or(self.write.entries.then_some(6)).filter(|it| *it > 0)
    }
}

impl ServiceCall {
    /// All sections, in table order.
    pub const ALL: [Self; 6] = [
        Self::AddEntry,
        Self::AwaitConsistency,
        Self::PutContext,
        Self::GetContext,
        Self::ListEntries,
        Self::Search,
    ];

    /// Returns its name in files and reports.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }
}

fn local() -> String {
    "local".to_owned()
}
