//! A policy file as written.

mod action;
mod aging;
mod apply;
mod fold;
mod layout;
pub mod memory;
mod process;
mod runner;
mod size;
mod stage;
mod summary;
mod template;

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

pub use self::action::*;
pub use self::aging::*;
pub use self::apply::*;
pub use self::fold::*;
pub use self::layout::*;
use self::memory::Memory;
pub use self::process::*;
pub use self::runner::*;
pub use self::size::*;
pub use self::stage::*;
pub use self::summary::*;
pub use self::template::*;

/// A policy: what part of a growing history the model gets to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The name: the file's path below `policies/` without its extension.
    pub name: String,
    /// What it does, in a sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The day on which the sources were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// The setting that makes the real agent do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Apply>,
    /// The policy whose fields this one starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Named sizes that a scenario, a suite or `--set` may set.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// Named tables of renditions.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub tables: IndexMap<String, Vec<TableRow>>,
    /// Named steps that follow a stage's own.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ladders: IndexMap<String, Vec<Step>>,
    /// Named text templates, for loads with text.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub templates: IndexMap<String, Template>,
    /// How the harness counts what it shows, where it does not count as the provider bills; as billed, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Counter>,
    /// The profile of the model that writes its summaries, by name: their requests have its prices and find nothing in the cache
    /// of the session's model. The session's own model, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summariser: Option<String>,
    /// Where the prompt asks the provider's cache for breakpoints; where the harness puts them, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// What is done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageFile>,
    /// The code that does it, where no stages do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The program that does it, where neither stages nor code do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessFile>,
    /// How the agent gets back what it cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// What is remembered beside the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// What is remembered from session to session, in loads of many sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aging: Option<Aging>,
    /// How a memory is kept at a service from session to session, in loads with sessions and facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Runner>,
}

impl PolicyFile {
    /// Returns a policy that does nothing, under a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: String::new(),
            sources: Vec::new(),
            as_of: None,
            apply: None,
            base: None,
            params: IndexMap::new(),
            tables: IndexMap::new(),
            ladders: IndexMap::new(),
            templates: IndexMap::new(),
            counter: None,
            summariser: None,
            layout: None,
            stages: Vec::new(),
            code: None,
            process: None,
            recovery: None,
            memory: None,
            aging: None,
            runner: None,
        }
    }
}

/// A harness's own count of tokens, which the condition `counted` asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// By kind: what it counts for each item beside what is billed for it.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub adds: IndexMap<Kind, Size>,
}

/// A policy that is code: each has its line in `src/builtin.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Keeps what will be asked, at the level asked: full knowledge of later needs, not the lowest cost.
    Clairvoyant,
    /// Drops what will never be asked again when that is cheapest, behind the place where that is cheapest: of several schedules the one that is
    /// cheapest under the profile's own rules and prices. Keeps everything where none is cheaper than that, and where no profile is asked.
    Hindsight,
    /// The same by one schedule: what `hindsight` becomes under a profile. No file can name it.
    #[serde(skip)]
    Schedule(ScheduleFor),
    /// Code outside this crate: a library user's, or a program's. No file can name it.
    #[serde(skip)]
    Own(OwnCode),
}

impl Code {
    /// Returns whether it knows what will be needed later, as no agent does.
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        !matches!(self, Self::Own(_))
    }
}

/// A handle of code outside this crate. The floors that run it put a factory in and take it out; inputs only carry it.
#[derive(Clone)]
pub struct OwnCode(Arc<dyn Any + Send + Sync>);

impl OwnCode {
    /// Wraps a factory.
    #[must_use]
    pub fn new<T: Any + Send + Sync>(factory: T) -> Self {
        Self(Arc::new(factory))
    }

    /// Returns the factory, if it is of this type.
    #[must_use]
    pub fn factory<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl PartialEq for OwnCode {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OwnCode {}

impl Hash for OwnCode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

impl fmt::Debug for OwnCode {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("OwnCode")
    }
}

/// What a schedule in hindsight is made for; prices are in any one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleFor {
    /// What a token costs that is read from the cache.
    pub read: u64,
    /// What a token costs that is written to it, or plain where nothing is billed as written.
    pub write: u64,
    /// How long entries live after their last use, in milliseconds; forever, when silent.
    pub ttl_ms: Option<u64>,
    /// Whether a clear is taken to write everything behind the stable prefix again, as it does where entries stand at breakpoints alone, and not
    /// only what stands behind its place.
    pub rewrites_all: bool,
}

/// A further step of a stage: what it does not say is the stage's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Whether it is its turn; always, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Cond>,
    /// Which items; the stage's, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What it does to them.
    pub apply: Action,
    /// The goal; the stage's, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Cond>,
}

/// A moment of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// A tool result is about to enter; the prompt is counted with the result as it came.
    Entry,
    /// A user message is in.
    TurnStart,
    /// A model request is about to go out.
    Request,
    /// The final answer is in; the turn is still the active one.
    TurnEnd,
    /// A session begins with its stable prefix and what memory recalls.
    SessionStart,
    /// A session's last turn is over.
    SessionEnd,
    /// Nothing has been asked for some time between two turns; the stage's `pause` says for how long.
    Idle,
}

/// Whether edits stay in the history or hold for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// They stay.
    #[default]
    History,
    /// They are taken back after the request.
    Request,
    /// Those made at the turn's end stay; all others are taken back after the request.
    TurnEnd,
}

impl Lasts {
    /// Returns whether edits made at a moment are taken back after the next request.
    #[must_use]
    pub fn is_taken_back(self, moment: Moment) -> bool {
        match self {
            Self::History => false,
            Self::Request => true,
            Self::TurnEnd => moment != Moment::TurnEnd,
        }
    }
}

/// Whether edits break the cached prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Prefix {
    /// They do, from the first changed item on.
    #[default]
    Breaks,
    /// They do not: the provider edits behind its own cache.
    Keeps,
}

/// Filters over items; every one must hold, and an empty list holds for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Which part of the prompt.
    #[serde(default)]
    pub part: Part,
    /// Which kinds of items. At `entry`, tool results unless said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Tool names, `*` stands for any run of characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tool names that are left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except_tools: Vec<String>,
    /// Evidence classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<Preserve>,
    /// How the item is shown now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// Only results, and calls with them, of which something later says the same again, in one of these ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<Supersedes>,
    /// The raw item has more than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub larger_than: Option<Size>,
    /// What is protected, counted over the whole history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Keep>,
    /// Units left alone at the front, counted among what is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_first: Option<Extent>,
    /// Units left alone at the end, counted among what is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_recent: Option<Extent>,
    /// Nothing but these units at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_recent: Option<Extent>,
    /// Which unit goes first.
    #[serde(default)]
    pub order: Order,
    /// The unit that is taken whole, after which the goal is looked at; an item, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Extent>,
    /// Whether a unit at the end that is not yet complete is left alone.
    #[serde(default)]
    pub whole: bool,
}

impl Scope {
    /// Returns the kinds of items that it is about; all, when empty. Nothing but tool results is changed as it enters.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        if self.part == Part::Entering { &[Kind::ToolResult] } else { &self.kinds }
    }
}

/// What makes an earlier result superfluous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Supersedes {
    /// The result of a later call of the same tool with the same arguments.
    SameCall,
    /// A later read of the file that the result is about, or of another part of it.
    SameFile,
}

/// A part of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Everything after the stable prefix.
    #[default]
    History,
    /// The last turn.
    Active,
    /// The turns before it.
    Completed,
    /// The item about to enter.
    Entering,
}

/// A kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// System prompt.
    System,
    /// Tool schemas.
    ToolSchema,
    /// User text.
    User,
    /// Assistant text.
    Assistant,
    /// Reasoning.
    Reasoning,
    /// A tool call.
    ToolCall,
    /// A tool result.
    ToolResult,
    /// A summary that stands for earlier items.
    Summary,
    /// Memory that stands in the prompt.
    Memory,
    /// A question whether a tool may run, or the answer to it.
    Approval,
}

impl Kind {
    /// Returns the kind as files write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::ToolSchema => "tool_schema",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Reasoning => "reasoning",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Summary => "summary",
            Self::Memory => "memory",
            Self::Approval => "approval",
        }
    }
}

/// Why an item may be needed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Preserve {
    /// Its exact text is worked on.
    WorkingEvidence,
    /// It is looked up.
    Reference,
    /// It is not needed again.
    #[default]
    None,
}

/// Items that are protected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Which kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Which tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How many at the front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Extent>,
    /// How many at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<Extent>,
}

/// Which unit a stage takes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The oldest.
    #[default]
    Oldest,
    /// The newest.
    Newest,
    /// The one that shows most tokens; of equals the oldest.
    Largest,
}

/// How the agent gets back what it needs and cannot see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recovery {
    /// One call that fetches what the need asks for.
    OneShot,
    /// The same, but a need for raw file content is met by the smallest exact range, which stays.
    Pinned,
    /// Reads whole files again, and again when they will not stay.
    NaiveReread {
        /// How often at most.
        limit: u64,
        /// A file stays when the stable prefix and the file take at most this much; the prompt limit, when silent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fits: Option<Size>,
    },
}
