//! A policy file as written.

mod action;
mod layout;
pub mod memory;
mod size;

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use crate::prelude::*;

use self::memory::{FactMemory, MemorySpec, ServiceMemory, SessionMemory};

pub use self::action::*;
pub use self::layout::*;
pub use self::size::*;

crate::decoded_here!(PolicyFile, LayoutSpec);
crate::encoded_here!(PolicyFile);

/// A policy: which part of a growing history the model sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The name: the file's path below `policies/` without its extension.
    pub name: String,
    /// What it does, in at most 48 characters without terms of this tool: reports say it beside the name. A file does not
    /// inherit the title of its base. Default: none.
    pub title: Option<String>,
    /// What it does, in one sentence: the summary.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The date on which the sources were read.
    pub as_of: Option<String>,
    /// The setting that makes a real agent behave like this.
    pub apply: Option<Apply>,
    /// The policy to start from; this file overrides its fields.
    pub base: Option<String>,
    /// Whose sessions it changes: the others keep everything. Default: both.
    pub applies_to: Option<Lanes>,
    /// What `ctxsim validate` would warn of and this file does on purpose: the warning's code and the reason.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub allows: IndexMap<String, String>,
    /// Named sizes that a scenario, a suite or `--set` may override.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// The parameters that a user of the real agent can set: `ctxsim tune` varies these and no others. Default: those
    /// that the stages decide by.
    pub settable: Option<IndexMap<String, Settable>>,
    /// Named tables of renditions.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub tables: IndexMap<String, Vec<TableRow>>,
    /// Named lists of further steps for stages.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ladders: IndexMap<String, Vec<StageStep>>,
    /// Named text templates, for loads with text.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub templates: IndexMap<String, Template>,
    /// How the harness counts the prompt, if it differs from what the provider bills. Default: as billed.
    pub counter: Option<HarnessCounter>,
    /// The profile of the model that writes summaries, by name. Its requests have that profile's prices and
    /// find nothing in the cache of the session's model. Default: the session's own model.
    pub summariser: Option<String>,
    /// Where the prompt asks the provider's cache for breakpoints. Default: where the harness puts them.
    pub layout: Option<LayoutSpec>,
    /// The stages, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageFile>,
    /// Built-in code that replaces the stages.
    pub code: Option<Builtin>,
    /// The program that does it, where neither stages nor code do.
    pub process: Option<ProcessFile>,
    /// How the agent recovers what it cannot see.
    pub recovery: Option<RecoverySpec>,
    /// What is remembered outside the window.
    pub memory: Option<MemorySpec>,
}

impl PolicyFile {
    /// Returns a policy that does nothing, under a name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Returns its memory, if that is one of facts.
    pub fn fact_memory(&self) -> Option<&FactMemory> {
        if let Some(MemorySpec::Facts(it)) = &self.memory { Some(it) } else { None }
    }

    /// Returns its memory, if that is one of sessions.
    pub fn session_memory(&self) -> Option<&SessionMemory> {
        if let Some(MemorySpec::Sessions(it)) = &self.memory { Some(it) } else { None }
    }

    /// Returns its memory, if that is a service.
    pub fn service_memory(&self) -> Option<&ServiceMemory> {
        if let Some(MemorySpec::Service(it)) = &self.memory { Some(it) } else { None }
    }
}

/// Whose recorded sessions a policy changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lanes {
    /// Those of the agent itself.
    Main,
    /// Those of its sub-agents.
    Sub,
    /// All.
    #[default]
    Both,
}

impl Lanes {
    /// Returns whether it includes a session of a sub-agent, or one of the agent itself.
    pub fn include(self, is_of_agent: bool) -> bool {
        match self {
            Self::Main => !is_of_agent,
            Self::Sub => is_of_agent,
            Self::Both => true,
        }
    }
}

/// A harness's own token count, which the condition `counted` reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HarnessCounter {
    /// By kind of item: tokens counted in addition to those billed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub adds: IndexMap<Kind, Size>,
}

/// A built-in policy; each has its line in `crates/engine/src/builtin.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// Keeps what will be needed, at the required level: full knowledge of later needs, not the lowest cost.
    Clairvoyant,
    /// Drops what will never be needed again, when and where that is cheapest: of several schedules, the
    /// cheapest under the profile's own rules and prices. Keeps everything if no schedule is cheaper or
    /// without a profile.
    Hindsight,
    /// One such schedule: what `hindsight` becomes under a profile. Files cannot name it.
    #[serde(skip)]
    Schedule(ScheduleFor),
    /// Code outside this crate: a library user's, or a program's. No file can name it.
    #[serde(skip)]
    Own(OwnCode),
}

impl Builtin {
    /// Returns whether it knows what will be needed later, as no agent does.
    pub fn looks_ahead(&self) -> bool {
        !matches!(self, Self::Own(_))
    }
}

/// A handle of code outside this crate. The floors that run it put a factory in and take it out; inputs only carry it.
#[derive(Clone)]
pub struct OwnCode(Arc<dyn Any + Send + Sync>);

impl OwnCode {
    /// Wraps a factory.
    pub fn new<T: Any + Send + Sync>(factory: T) -> Self {
        Self(Arc::new(factory))
    }

    /// Returns the factory, if it is of this type.
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

/// The costs for which a schedule in hindsight is made; all prices are in the same unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleFor {
    /// Price of a token read from the cache.
    pub read: u64,
    /// Price of a token written to the cache, or uncached where cache writes are not billed.
    pub write: u64,
    /// How long entries live after their last use, in milliseconds. Default: forever.
    pub ttl_ms: Option<u64>,
    /// Whether a clear rewrites everything after the stable prefix, as it does if entries exist only at
    /// breakpoints, or only what follows the cleared item.
    pub rewrites_all: bool,
}

/// A further step of a stage; omitted fields are the stage's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StageStep {
    /// The condition under which it runs. Default: always.
    pub when: Option<Cond>,
    /// Which items it changes. Default: the stage's.
    pub scope: Option<Scope>,
    /// Its action.
    pub apply: Action,
    /// The goal. Default: the stage's.
    pub until: Option<Cond>,
}

/// A moment in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// A tool result is about to enter; the prompt is counted with the unchanged result.
    Entry,
    /// A user message has entered.
    TurnStart,
    /// A model request is about to be sent.
    Request,
    /// The final answer has entered; its turn is still the active one.
    TurnEnd,
    /// A session begins with its stable prefix and recalled memory.
    SessionStart,
    /// A session's last turn has ended.
    SessionEnd,
    /// No request has been made for some time between two turns, as long as the stage's `pause`.
    Idle,
}

/// How long edits last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EditsLast {
    /// They are permanent.
    #[default]
    History,
    /// They are undone after the request.
    Request,
    /// They are undone when the turn ends; those made at its end are permanent.
    TurnEnd,
}

impl EditsLast {
    /// Returns how long edits last that are made at a moment.
    pub fn at(self, moment: Moment) -> Self {
        if self == Self::TurnEnd && moment == Moment::TurnEnd { Self::History } else { self }
    }
}

/// Whether edits break the cached prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrefixRule {
    /// They break it from the first changed item on.
    #[default]
    Breaks,
    /// They do not: the provider edits after its own cache.
    Keeps,
}

/// Filters over items. An item must pass all of them; an empty list passes everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Which part of the prompt.
    pub part: PromptPart,
    /// Which kinds of items. Default: all; at `entry`, tool results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Tool names; `*` matches any run of characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tool names to leave alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except_tools: Vec<String>,
    /// Evidence classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<Preserve>,
    /// How the item is currently shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ShownAs>,
    /// Only results (and their calls) that something later repeats, in one of these ways.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<Supersedes>,
    /// Only items whose raw size is larger than this.
    pub larger_than: Option<Size>,
    /// Protected items, counted over the whole history.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Keep>,
    /// Units to leave alone at the front, counted after all other filters.
    pub keep_first: Option<Extent>,
    /// Units to leave alone at the end, counted after all other filters.
    pub keep_recent: Option<Extent>,
    /// Only these units at the end.
    pub only_recent: Option<Extent>,
    /// Which unit goes first.
    pub order: Order,
    /// The unit taken as a whole before the goal is checked. Default: one item.
    pub by: Option<Extent>,
    /// Whether to leave alone a last unit that is not complete yet.
    pub whole: bool,
}

impl Scope {
    /// Returns the kinds of items it covers; empty for all. On entry, only tool results can change.
    pub fn kinds(&self) -> &[Kind] {
        if self.part == PromptPart::Entering { &[Kind::ToolResult] } else { &self.kinds }
    }
}

/// What makes an earlier result redundant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Supersedes {
    /// The result of a later call of the same tool with the same arguments.
    SameCall,
    /// A later read of the same file, or of another part of it.
    SameFile,
}

/// A part of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromptPart {
    /// Everything after the stable prefix.
    #[default]
    History,
    /// The last turn.
    Active,
    /// All earlier turns.
    Completed,
    /// The item about to enter.
    Entering,
}

/// A kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// A summary that replaces earlier items.
    Summary,
    /// Recalled memory.
    Memory,
    /// A question whether a tool may run, or its answer.
    Approval,
    /// An image, of a message or of a tool's result; a scope of tool results has the images of results, too.
    Image,
}

impl Kind {
    /// Returns the kind's name in files.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }
}

/// Why an item may be needed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Preserve {
    /// Its exact text is worked with.
    WorkingEvidence,
    /// Nobody says: to policies it is `none`, but needs of its turn for exact evidence are for it. Files leave it out.
    #[serde(skip)]
    Unset,
    /// It is looked up.
    Reference,
    /// It is not needed again.
    #[default]
    None,
}

impl Preserve {
    /// Returns whether needs for exact evidence of its turn are for it.
    #[inline]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::WorkingEvidence | Self::Unset)
    }
}

/// Items that are protected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Which kinds of items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Which tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How many at the front.
    pub first: Option<Extent>,
    /// The number of at the end.
    pub recent: Option<Extent>,
}

/// Which unit a stage takes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The oldest.
    #[default]
    Oldest,
    /// The newest.
    Newest,
    /// The largest in the prompt; of equal ones, the oldest.
    Largest,
}

/// How the agent recovers what it needs and cannot see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecoverySpec {
    /// One call that fetches what is needed.
    OneShot,
    /// The same, except that a need for raw file content is met by the smallest exact range, which stays in
    /// the prompt.
    Pinned,
    /// Reads whole files, repeatedly if they do not stay in the prompt.
    NaiveReread {
        /// The most attempts.
        limit: u64,
        /// A file stays if the stable prefix and the file together take at most this much. Default: the
        /// prompt limit.
        fits: Option<Size>,
    },
}

// How to configure a real agent to follow a policy.

/// A setting of a real agent: its place and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Apply {
    /// The place: a file, the environment, the body of a request.
    pub at: String,
    /// The value: a template that reads each parameter by its name, and `limit`, `window` and `output_limit`.
    /// Sizes are numbers of tokens, except `ratio` (the share) and `chars` (characters).
    pub write: String,
}

// Which parameters the user of a real agent can set.

/// A parameter that a user can set, and what the agent accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Settable {
    /// The least that the agent accepts, in the parameter's unit: tokens, characters or a count. Default: 0.
    pub at_least: Option<u64>,
}

// A text template as written.

/// The text of an item, or of a folded turn, in the prompt; for loads with text.
///
/// The language is Jinja's. Blank lines are removed. A tool result's template sees `tool`, `input` (the
/// call's arguments), `output`, `shown` (the rendition's name) and `head` (the rendition's number of tokens);
/// a turn's template sees `results` (their texts) and `quotes`. For a recording it also sees these in words
/// shared by all harnesses: `call` with `capability` and its arguments (`path`, `offset`, `limit`, `command`,
/// `cwd`, `process_id`, `cursor`, `query`, `url`), and `result` with `content`, `around` (what the harness
/// writes around it), `offset`, `returned_lines`, `next_offset`, `exit_code`, `process_id` and `status`, as
/// far as the tables in `assumptions/tools/` describe them.
///
/// Additional filters: `tag(NAME)` returns the text between `<NAME>` and `</NAME>`, or nothing; `json` parses
/// a text, or is undefined; `compact` writes a value on one line; `one_line`; `preview(TOKENS)` is the text
/// on one line, cut at four characters per token if it has more tokens; `prefix(TEXT)` puts a text before
/// each line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The text.
    pub write: String,
    /// For a tool result: the part that is exact evidence, whose tokens a budget is charged with. Default:
    /// all of it. If the part is empty, the result is never exact and is shown as over the budget.
    pub exact: Option<String>,
}

// A policy that is a program in any language.

/// A program that answers each request with a view of the history, over its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProcessFile {
    /// The program and its arguments. It runs in the policy file's folder and is not passed through a shell.
    pub command: Vec<String>,
    /// How long it may take to start, and to answer a request; 10 seconds, when silent.
    pub deadline: Option<Duration>,
    /// The folder of the file that says so; none for a file that is not on disk.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl ProcessFile {
    /// How long a program may take where its file says nothing.
    pub const DEADLINE: Duration = Duration(10_000);

    /// Returns how long the program may take.
    pub fn deadline(&self) -> Duration {
        self.deadline.unwrap_or(Self::DEADLINE)
    }
}

// A stage as written: omitted fields come from the base, or are defaults.

/// A stage: when it fires, which items it changes, and until which goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    /// A name, unique within the policy.
    pub name: String,
    /// The moments at which it may fire. Default: before each request.
    pub at: Option<Vec<Moment>>,
    /// For the moment `idle`: how long a pause between two turns must last.
    pub pause: Option<Pause>,
    /// The trigger, checked once.
    pub when: Option<Cond>,
    /// Which items it changes. Default: all.
    pub scope: Option<Scope>,
    /// Its action. Only a stage that exists in the base may omit it.
    pub apply: Option<Action>,
    /// The goal, checked after each unit; without one, all units are taken.
    pub until: Option<Cond>,
    /// Further steps towards the same goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<StageStep>,
    /// A ladder of the policy whose steps follow `then`.
    pub ladder: Option<String>,
    /// Whether its edits are permanent.
    pub lasts: Option<EditsLast>,
    /// Whether its edits change the text by which the provider's cache recognises the prompt.
    pub prefix: Option<PrefixRule>,
    /// Fields of the base's stage to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<StageField>,
}

/// Time since the last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Its duration.
    pub after: Duration,
    /// How often it fires within one pause, each time after the same duration. Default: once.
    #[serde(default = "crate::text::once", skip_serializing_if = "crate::text::is_once")]
    pub times: u64,
}

impl Pause {
    /// Returns whether a time since the last request is one at which it fires.
    pub fn is_at(&self, idle_ms: u64) -> bool {
        self.after.0 > 0
            && idle_ms > 0
            && idle_ms.is_multiple_of(self.after.0)
            && idle_ms / self.after.0 <= self.times
    }

    /// Returns the first such time after a given time since the last request.
    pub fn next(&self, idle_ms: u64) -> Option<u64> {
        let nth = idle_ms.checked_div(self.after.0)?.checked_add(1)?;
        if nth <= self.times { nth.checked_mul(self.after.0) } else { None }
    }
}

/// A field that `remove` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageField {
    /// The moments.
    At,
    /// The pause.
    Pause,
    /// The trigger.
    When,
    /// The items.
    Scope,
    /// The goal.
    Until,
    /// The further steps.
    Then,
    /// The ladder.
    Ladder,
    /// How long edits last.
    Lasts,
    /// Their effect on the cached prefix.
    Prefix,
}

impl StageField {
    /// Returns the field's name in files.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }
}
