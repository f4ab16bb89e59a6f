//! The memory of a policy: one of three kinds, all in the words write, store, read, use.

use crate::prelude::*;

/// What a policy remembers outside the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemorySpec {
    /// Facts, written and read back while a session runs.
    Facts(FactMemory),
    /// What is left of earlier sessions, for loads over which a memory ages.
    Sessions(SessionMemory),
    /// A memory service that is called from session to session, for loads with sessions and facts.
    Service(ServiceMemory),
}

/// A part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MemoryPart"))]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    /// Everything is written.
    Write,
    /// Nothing is evicted.
    Store,
    /// Everything stored is found.
    Read,
    /// Whatever is left of a fact is enough to answer.
    Use,
}

impl MemorySpec {
    /// Returns the name of its kind in files.
    pub fn kind(&self) -> &'static str {
        crate::text::name_of(self)
    }
}

// Facts that are kept outside the window while a session runs.

/// Facts outside the window: what is written of the history, where, and how it is read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactMemory {
    /// What is extracted from the history.
    pub write: FactExtraction,
    /// Where it is stored.
    pub store: FactStore,
    /// How it is recalled.
    pub read: RecallRule,
    /// The states in which a fact answers a probe. Default: `exact`, `summarised` and `recoverable`.
    #[serde(default, rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<State>,
    /// The service that holds it, whose calls are counted; a memory in a file or in the harness makes no
    /// calls.
    pub service: Option<String>,
    /// Parts that lose nothing, so that a loss can be attributed to the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<MemoryPart>,
}

/// What is extracted from the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactExtraction {
    /// When an item is searched for facts.
    #[serde(default)]
    pub from: SearchedWhen,
    /// The draws for each fact, in order; each success writes the fact once.
    pub extract: Vec<Extract>,
}

/// When an item is searched for facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchedWhen {
    /// When it enters.
    #[default]
    Session,
    /// When the prompt stops showing it in full.
    Hidden,
}

/// One draw, with either `p` or `miss`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Which facts it applies to.
    #[serde(default)]
    pub facts: Facts,
    /// The probability that the fact is written.
    pub p: Option<f64>,
    /// The probability that one pass misses it.
    pub miss: Option<f64>,
    /// Number of passes that must all miss it, in one draw. Default: 1.
    pub passes: Option<u8>,
    /// The bank or file for the fact. Default: that of its category.
    pub into: Option<String>,
}

/// Which facts a draw applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// Explicit facts, which are marked.
    Explicit,
    /// Implicit facts, said in passing.
    Implicit,
    /// All.
    #[default]
    Any,
}

/// Where facts are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FactStore {
    /// One list.
    Entries {
        /// Tokens of each fact in the prompt.
        tokens_per_fact: u64,
        /// Its capacity; the oldest fact is dropped first. Default: unlimited.
        capacity: Option<u64>,
    },
    /// One list per category, each with its own capacity.
    Banks {
        /// The categories; facts of other categories go to the last.
        categories: Vec<String>,
        /// Each bank's capacity; the oldest fact is dropped first.
        capacity: u64,
        /// Tokens of each fact in the prompt.
        tokens_per_fact: u64,
    },
    /// One file per category; the prompt holds their index.
    Files {
        /// Tokens of each fact in the index.
        tokens_per_fact: u64,
    },
}

/// How facts are recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecallRule {
    /// All facts are in the prompt.
    All,
    /// The most recently written facts are in the prompt.
    Last(u64),
    /// The prompt holds an index; a call fetches a fact by its key.
    ByKey,
}

/// The state of a fact when a probe asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The item that states it is shown in full.
    Exact,
    /// A part of that item is shown.
    Preview,
    /// A summary or a memory in the prompt states it.
    Summarised,
    /// A handle or an index leads to it.
    Recoverable,
    /// Nothing leads to it.
    Lost,
}

/// How a random number from 0 to 1 decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawBar {
    /// Kept if below the bar.
    Below(f64),
    /// Kept if above the bar.
    Above(f64),
}

impl FactMemory {
    /// Returns whether a fact in this state answers a probe.
    pub fn answers(&self, state: State) -> bool {
        let usual = [State::Exact, State::Summarised, State::Recoverable];
        if self.answers.is_empty() { usual.contains(&state) } else { self.answers.contains(&state) }
    }
}

impl Extract {
    /// Returns the bar to which the random number is compared.
    pub fn bar(&self) -> DrawBar {
        let passes = i32::from(self.passes.unwrap_or(1));
        self.p.map_or_else(|| DrawBar::Above(self.miss.unwrap_or(0.0).powi(passes)), DrawBar::Below)
    }
}

impl FactStore {
    /// Returns the banks that exist from the start; files are created on demand.
    pub fn banks(&self) -> Vec<&str> {
        match self {
            Self::Entries { .. } => vec!["entries"],
            Self::Banks { categories, .. } => categories.iter().map(String::as_str).collect(),
            Self::Files { .. } => Vec::new(),
        }
    }

    /// Returns whether there is a bank for every category.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Files { .. })
    }

    /// Returns the capacity of a bank; unlimited if `None`.
    pub fn capacity(&self) -> Option<u64> {
        match self {
            Self::Entries { capacity, .. } => *capacity,
            Self::Banks { capacity, .. } => Some(*capacity),
            Self::Files { .. } => None,
        }
    }

    /// Returns the size of each fact in the prompt.
    pub fn tokens_per_fact(&self) -> Tokens {
        let (Self::Entries { tokens_per_fact, .. }
        | Self::Banks { tokens_per_fact, .. }
        | Self::Files { tokens_per_fact }) = self;
        *tokens_per_fact
    }

    /// Returns the declared banks for categories; facts of other categories go to the last.
    pub fn declared(&self) -> Option<&[String]> {
        if let Self::Banks { categories, .. } = self { Some(categories) } else { None }
    }
}

// How an agent uses a memory service across sessions, as a policy declares it.

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

// What an agent carries from session to session, as a policy declares it for loads of many sessions.

/// What an agent carries from one session to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionMemory {
    /// How a session is written when it ends.
    #[serde(default)]
    pub write: SessionWrite,
    /// Where it is stored.
    pub store: SessionStore,
    /// What is read back for a question.
    #[serde(default)]
    pub read: SessionRead,
    /// Exact totals beside the memory. Default: none.
    pub overlay: Option<Overlay>,
    /// What changes the memory when its answers get worse. Default: nothing.
    pub controller: Option<Controller>,
    /// Parts that lose nothing, so that a loss can be attributed to the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<MemoryPart>,
}

/// How a session is written when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SessionWrite {
    /// How running totals are maintained.
    pub totals: TotalsSurvive,
}

/// Where sessions are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionStore {
    /// Nothing: the lower bound.
    Nothing,
    /// The whole history: the upper bound.
    Everything,
    /// Every record, word for word.
    Entries {
        /// The most tokens; the oldest records are dropped. Default: unlimited.
        capacity_tokens: Option<u64>,
    },
    /// One summary, rewritten from itself and the session.
    Summary(SummaryLoss),
    /// One summary, rewritten from the whole history.
    History(SummaryLoss),
    /// One summary per session, all of them kept.
    Episodes(SummaryLoss),
    /// Files that the agent writes itself, one per domain.
    Files,
}

/// How a summary is made, and therefore what it loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SummaryLoss {
    /// The prompt, from `assumptions/aging/numbers.toml`: how many exact statements it keeps, in how many
    /// words.
    pub prompt: String,
    /// The most words of the summary, instead of the prompt's number.
    pub words: Option<u64>,
    /// How many words the budget shrinks with each session. Default: 0.
    #[serde(default)]
    pub words_less_per_session: u64,
    /// The probability that an exact statement survives one pass, in addition to losses by capacity. Default:
    /// 1.
    pub survival: Option<f64>,
    /// Weight of a statement's own importance relative to chance, 0 to 1. Default: 0.
    #[serde(default)]
    pub salience: f64,
    /// How many standard deviations of chance a session's own statements rank above older ones. Default: 0.
    #[serde(default)]
    pub recency: f64,
    /// Whether a gist still names the topic of its record. Default: true.
    pub gists_name_subjects: Option<bool>,
}

/// What is read back for a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionRead {
    /// All of it.
    #[default]
    All,
    /// The most recently written records or files.
    Last(u64),
    /// Those most similar to the question; of a workspace, the files that are opened.
    Top {
        /// How many.
        n: u64,
        /// Whether similar records can take each other's places. Default: true.
        #[serde(default = "crate::text::yes")]
        crowding: bool,
    },
}

impl SessionRead {
    /// Returns how many records or files a question brings back; none where it brings back all.
    pub fn count(self) -> Option<u64> {
        match self {
            Self::All => None,
            Self::Last(n) | Self::Top { n, .. } => Some(n),
        }
    }
}

/// How running totals survive summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TotalsSurvive {
    /// A change is applied to the balance when its session is written.
    #[default]
    Fold,
    /// A change is a statement like any other; the surviving changes are added up when the total is asked
    /// for.
    Sum,
}

/// Exact totals before the memory, computed from marks in the text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The share of changes, 0 to 1, that carry a mark. Default: 1.
    #[serde(default = "one")]
    pub marked: f64,
}

/// Changes a memory once, when its answers get worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Switch on the overlay if the error of a total exceeds this.
    pub error_above: f64,
    /// Change the compaction prompt if the scenario's score falls below this.
    pub score_below: f64,
    /// The prompt to change to.
    pub prompt: String,
    /// Sessions at the start without changes. Default: 1.
    #[serde(default = "crate::text::once")]
    pub warmup_sessions: u64,
    /// Whether to rewrite the existing memory as well. Default: false.
    #[serde(default)]
    pub retroactive: bool,
}

impl SessionStore {
    /// Returns how its summaries are made, if it makes any.
    pub fn compaction(&self) -> Option<&SummaryLoss> {
        match self {
            Self::Summary(it) | Self::History(it) | Self::Episodes(it) => Some(it),
            Self::Nothing | Self::Everything | Self::Entries { .. } | Self::Files => None,
        }
    }

    /// Returns the name of its variant in files.
    pub fn name(&self) -> &'static str {
        crate::text::name_of(self)
    }
}

fn one() -> f64 {
    1.0
}
