//! How an agent keeps a memory at a service from session to session, as a policy declares it.

use serde::{Deserialize, Serialize};

/// Writes sessions to a memory service, and answers questions from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Runner {
    /// Whether one context document, written anew when a session is over, is all that is kept; else each message is an entry, and the
    /// document is also written in mid-session. True, when silent.
    #[serde(default = "yes")]
    pub context_only: bool,
    /// The service: a file of `assumptions/memory_runners/services`; `local`, when silent.
    #[serde(default = "local")]
    pub service: String,
    /// The calls at a session's start; waiting and getting the document, when silent, and with entries listing them, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_start: Option<Vec<ServiceCall>>,
    /// The calls at a session's end; putting the document, when silent, and with entries waiting before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_end: Option<Vec<ServiceCall>>,
    /// With entries, the document is also written after so many messages of a session, 0 for never; 6, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,
    /// The context document.
    #[serde(default)]
    pub document: ContextDocument,
    /// What is read to answer a question.
    #[serde(default)]
    pub search: TwoPass,
}

/// A call to a memory service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
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

/// A context document and what it may hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ContextDocument {
    /// Its size at most; 5,000 words, when silent.
    pub cap: Cap,
    /// Its sections; facts, timeline, entities, preferences and notes, when silent.
    pub sections: Vec<Section>,
    /// Facts said in so many sessions, the last one among them, are protected; 1, when silent.
    pub recent_sessions: u64,
    /// Entities said so many times are key ones, and protected; 2, when silent.
    pub key_references: u64,
    /// Whether the prompt asks for a comprehensive Facts section, which also lists what was said in passing; false, when silent.
    pub lists_details: bool,
}

/// The largest size of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// In words.
    Words(u64),
    /// In characters.
    Chars(u64),
}

/// A section of a context document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// What the memory is of.
    Description,
    /// What holds.
    Facts,
    /// What the user likes.
    Preferences,
    /// What was decided.
    Decisions,
    /// What conversations were about.
    Topics,
    /// People and things, and how they stand to each other.
    Entities,
    /// What else is worth keeping, and a line for each old conversation.
    Notes,
    /// Conversations and events, in order.
    Timeline,
    /// A drawing of how things stand to each other.
    Diagram,
}

/// What is read to answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TwoPass {
    /// Whether the current document is read alone, without a search; false, when silent.
    pub document_alone: bool,
    /// What the first pass finds; 10 entries and 3 versions of the document, when silent.
    pub first: Found,
    /// What the second pass finds, where the model asks for one; 5 and 2, when silent.
    pub second: Found,
}

/// What one pass of a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// How many entries.
    pub entries: u64,
    /// How many versions of the document.
    pub shards: u64,
}

impl Default for ContextDocument {
    fn default() -> Self {
        use Section::{Entities, Facts, Notes, Preferences, Timeline};
        Self {
            cap: Cap::Words(5_000),
            sections: vec![Facts, Timeline, Entities, Preferences, Notes],
            recent_sessions: 1,
            key_references: 2,
            lists_details: false,
        }
    }
}

impl Default for TwoPass {
    fn default() -> Self {
        let (first, second) = (Found { entries: 10, shards: 3 }, Found { entries: 5, shards: 2 });
        Self { document_alone: false, first, second }
    }
}

impl Runner {
    /// Returns the calls at a session's start.
    #[must_use]
    pub fn starts_with(&self) -> &[ServiceCall] {
        use ServiceCall::{AwaitConsistency, GetContext, ListEntries};
        match (&self.at_start, self.context_only) {
            (Some(calls), _) => calls,
            (None, true) => &[AwaitConsistency, GetContext],
            (None, false) => &[AwaitConsistency, GetContext, ListEntries],
        }
    }

    /// Returns the calls at a session's end.
    #[must_use]
    pub fn ends_with(&self) -> &[ServiceCall] {
        use ServiceCall::{AwaitConsistency, PutContext};
        match (&self.at_end, self.context_only) {
            (Some(calls), _) => calls,
            (None, true) => &[PutContext],
            (None, false) => &[AwaitConsistency, PutContext],
        }
    }

    /// Returns after how many messages the document is also written; none where it is not.
    #[must_use]
    pub fn flushes_every(&self) -> Option<u64> {
        self.flush_every.or((!self.context_only).then_some(6)).filter(|it| *it > 0)
    }
}

impl ServiceCall {
    /// All, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::AddEntry,
        Self::AwaitConsistency,
        Self::PutContext,
        Self::GetContext,
        Self::ListEntries,
        Self::Search,
    ];

    /// Returns what it is called in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AddEntry => "add_entry",
            Self::AwaitConsistency => "await_consistency",
            Self::PutContext => "put_context",
            Self::GetContext => "get_context",
            Self::ListEntries => "list_entries",
            Self::Search => "search",
        }
    }
}

fn yes() -> bool {
    true
}

fn local() -> String {
    "local".to_owned()
}
