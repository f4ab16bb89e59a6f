//! A policy file as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::action::{ActionSpec, RowSpec};
use super::layout::LayoutSpec;
use super::memory::MemorySpec;
use super::size::{CondSpec, ExtentSpec, SizeSpec};
use super::template::TemplateSpec;

/// A policy: what part of a growing history the model gets to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicySpec {
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
    /// The policy whose fields this one starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Named sizes that a scenario, a suite or `--set` may set.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, SizeSpec>,
    /// Named tables of renditions.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub tables: IndexMap<String, Vec<RowSpec>>,
    /// Named steps that follow a stage's own.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ladders: IndexMap<String, Vec<StepSpec>>,
    /// Named text templates, for loads with text.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub templates: IndexMap<String, TemplateSpec>,
    /// Where the prompt asks the provider's cache for breakpoints; where the harness puts them, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutSpec>,
    /// What is done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageSpec>,
    /// The code that does it, where no stages do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeSpec>,
    /// How the agent gets back what it cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoverySpec>,
    /// What is remembered beside the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySpec>,
}

/// A policy that is code: each has its line in `src/builtin.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CodeSpec {
    /// Keeps what will be asked, at the level asked.
    Clairvoyant,
}

/// A stage: when it fires, where it acts, and until what goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StageSpec {
    /// A name, unique in the policy.
    pub name: String,
    /// The moments at which it is considered.
    #[serde(default = "StageSpec::default_at")]
    pub at: Vec<MomentSpec>,
    /// The trigger, looked at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<CondSpec>,
    /// Which items it acts on.
    #[serde(default)]
    pub scope: ScopeSpec,
    /// What it does to them.
    pub apply: ActionSpec,
    /// The goal, looked at after each unit; without one all units are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<CondSpec>,
    /// Further steps towards the same goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<StepSpec>,
    /// A ladder of the policy whose steps follow `then`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<String>,
    /// Whether its edits stay.
    #[serde(default)]
    pub lasts: LastsSpec,
    /// Whether its edits change what the provider's cache knows the prompt by.
    #[serde(default)]
    pub prefix: PrefixSpec,
}

impl StageSpec {
    /// Before each request.
    fn default_at() -> Vec<MomentSpec> {
        vec![MomentSpec::Request]
    }
}

/// A further step of a stage: what it does not say is the stage's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Whether it is its turn; always, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<CondSpec>,
    /// Which items; the stage's, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeSpec>,
    /// What it does to them.
    pub apply: ActionSpec,
    /// The goal; the stage's, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<CondSpec>,
}

/// A moment of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MomentSpec {
    /// A tool result is about to enter; the prompt is counted with the result as it came.
    Entry,
    /// A user message is in.
    TurnStart,
    /// A model request is about to go out.
    Request,
    /// The final answer is in; the turn is still the active one.
    TurnEnd,
}

/// Whether edits stay in the history or hold for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LastsSpec {
    /// They stay.
    #[default]
    History,
    /// They are taken back after the request.
    Request,
}

/// Whether edits break the cached prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrefixSpec {
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
pub struct ScopeSpec {
    /// Which part of the prompt.
    #[serde(default)]
    pub part: PartSpec,
    /// Which kinds of items. At `entry`, tool results unless said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindSpec>,
    /// Tool names, `*` stands for any run of characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Tool names that are left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except_tools: Vec<String>,
    /// Evidence classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<PreserveSpec>,
    /// How the item is shown now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ShownSpec>,
    /// The raw item has more than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub larger_than: Option<SizeSpec>,
    /// What is protected, counted over the whole history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<KeepSpec>,
    /// Units left alone at the front, counted among what is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_first: Option<ExtentSpec>,
    /// Units left alone at the end, counted among what is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_recent: Option<ExtentSpec>,
    /// Nothing but these units at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_recent: Option<ExtentSpec>,
    /// Which unit goes first.
    #[serde(default)]
    pub order: OrderSpec,
    /// The unit that is taken whole, after which the goal is looked at; an item, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ExtentSpec>,
}

/// A part of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PartSpec {
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
pub enum KindSpec {
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

/// Why an item may be needed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PreserveSpec {
    /// Its exact text is worked on.
    WorkingEvidence,
    /// It is looked up.
    Reference,
    /// It is not needed again.
    #[default]
    None,
}

/// How an item is shown, without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShownSpec {
    /// As it came.
    Raw,
    /// An exact excerpt with its handle.
    Exact,
    /// A summary with its handle.
    Summary,
    /// A summary without.
    Gist,
    /// Its first tokens, with its handle.
    Preview,
    /// Its handle alone.
    Handle,
    /// A placeholder.
    Marker,
    /// Cut.
    Truncate,
    /// Kept elsewhere, with its handle and a cut.
    Offload,
}

/// Items that are protected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeepSpec {
    /// Which kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindSpec>,
    /// Which tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How many at the front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<ExtentSpec>,
    /// How many at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<ExtentSpec>,
}

/// Which unit a stage takes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OrderSpec {
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
pub enum RecoverySpec {
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
        fits: Option<SizeSpec>,
    },
}
