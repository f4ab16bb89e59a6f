//! What an agent keeps of the sources that it fetched, from one session of a project to the next.

use serde::{Deserialize, Serialize};

use ctxsim_base::quantity::Tokens;

/// Notes of sources (files, searches, commands, pages), for the sessions of one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceMemory {
    /// What is noted, and when the notes are written.
    #[serde(default)]
    pub write: SourceWrite,
    /// Where they are kept.
    pub store: SourceStore,
    /// Which of them every prompt holds.
    #[serde(default)]
    pub read: SourceRead,
}

/// What is noted of a session's fetches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SourceWrite {
    /// The kinds of sources. Default: files, searches, lookups and pages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<SourceKind>,
    /// How much of a source is kept.
    pub keeps: Keeps,
    /// How often the notes are written.
    pub every: NoteRewrite,
    /// Who writes them.
    pub by: NoteWriter,
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A file, or a range of one.
    File,
    /// A search in files, or a list of them.
    Search,
    /// A command that only looks.
    Lookup,
    /// Any other command: what it prints is the outcome of something done.
    Action,
    /// A page, or a search of the web.
    Page,
}

/// How much of a source is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Keeps {
    /// A note of it, as long as `assumptions/histories` says.
    #[default]
    Note,
    /// All of it.
    Whole,
}

/// Who writes notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteWriter {
    /// The agent, by a call at the end of its prompt: it writes what is new.
    #[default]
    Agent,
    /// A model that is sent the session and the old notes: it writes all of them.
    Model,
    /// The harness, without a model: it misses nothing, and no request is made.
    Harness,
}

/// How often notes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteRewrite {
    /// At the end of every n-th session.
    Sessions(u64),
    /// After every n-th request of a session, and at its end.
    Requests(u64),
}

impl Default for NoteRewrite {
    fn default() -> Self {
        Self::Sessions(1)
    }
}

/// Where notes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SourceStore {
    /// One file that every prompt holds.
    File {
        /// The most tokens; the notes that were fetched longest ago go first. Default: unlimited.
        tokens: Option<Tokens>,
    },
    /// Files by topic (the folder of a path, the first word of a command); every prompt holds their index, and a call reads one.
    Topics {
        /// The most tokens of one file. Default: unlimited.
        tokens: Option<Tokens>,
    },
    /// A list to which every session appends; nothing is replaced before it is full.
    Entries {
        /// The most tokens. Default: unlimited.
        tokens: Option<Tokens>,
    },
    /// One summary that a model writes anew each time.
    Summary {
        /// The most words.
        words: u64,
    },
    /// A list for each kind of source.
    Banks {
        /// The most notes of each.
        capacity: u64,
    },
    /// One context document of a memory service: fetched when a session begins, written anew when it ends.
    Document {
        /// The most tokens. Default: unlimited.
        tokens: Option<Tokens>,
    },
}

/// Which notes every prompt holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceRead {
    /// All.
    #[default]
    All,
    /// So many: those that most sessions fetched, of equal ones the newest.
    Top(u64),
}

impl SourceKind {
    /// All, in the order of tables.
    pub const ALL: [Self; 5] = [Self::File, Self::Search, Self::Lookup, Self::Page, Self::Action];

    /// Returns its name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Search => "search",
            Self::Lookup => "lookup",
            Self::Action => "action",
            Self::Page => "page",
        }
    }
}

impl SourceWrite {
    /// Returns whether it notes a kind of source.
    pub fn notes(&self, kind: SourceKind) -> bool {
        if self.of.is_empty() { kind != SourceKind::Action } else { self.of.contains(&kind) }
    }
}
