//! What code that answers with a view is told and what it answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BoxError, Text};
use crate::input::policy;
use crate::projection::Ambient;
use crate::quantity::Tokens;
use crate::timeline::Timeline;

/// An agent's own function from its history to what it sends, called before each request.
///
/// A type that implements this is a policy like any other. `FnMut(&Cx, &[Entry]) -> Result<Vec<Part>, BoxError>` implements it.
pub trait View: Send {
    /// Returns what the next request shows of the history, front to back.
    ///
    /// The history is everything of the session in the order in which it came, unchanged by earlier views. Entries that no part names are
    /// left out of the request. The stable prefix (system prompt and tool schemas) is always sent; parts need not name it.
    ///
    /// # Errors
    /// Any error ends the run with a message that names the policy and the request. A panic does the same where panics unwind.
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError>;

    /// Returns how long a view stands; until the next one, by default.
    fn lasts(&self) -> Lasts {
        Lasts::History
    }
}

impl<F> View for F
where
    F: FnMut(&Cx<'_>, &[Entry<'_>]) -> Result<Vec<Part>, BoxError> + Send,
{
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        self(cx, history)
    }
}

/// How long a view stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// It takes the place of the history until the next view.
    #[default]
    History,
    /// It holds for one request; what the agent keeps is its history as it came.
    Request,
}

/// An entry's number: entries are numbered from 0 in the order in which they come, over all sessions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(pub u32);

impl fmt::Display for ItemId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.0)
    }
}

/// A kind of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
    /// A summary of earlier entries; providers are sent it as user text.
    Summary,
    /// Memory in the prompt; providers are sent it as user text.
    Memory,
    /// A question whether a tool may run, or its answer.
    Approval,
}

impl From<policy::Kind> for Kind {
    fn from(kind: policy::Kind) -> Self {
        match kind {
            policy::Kind::System => Self::System,
            policy::Kind::ToolSchema => Self::ToolSchema,
            policy::Kind::User => Self::User,
            policy::Kind::Assistant => Self::Assistant,
            policy::Kind::Reasoning => Self::Reasoning,
            policy::Kind::ToolCall => Self::ToolCall,
            policy::Kind::ToolResult => Self::ToolResult,
            policy::Kind::Summary => Self::Summary,
            policy::Kind::Memory => Self::Memory,
            policy::Kind::Approval => Self::Approval,
        }
    }
}

impl From<Kind> for policy::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::System => Self::System,
            Kind::ToolSchema => Self::ToolSchema,
            Kind::User => Self::User,
            Kind::Assistant => Self::Assistant,
            Kind::Reasoning => Self::Reasoning,
            Kind::ToolCall => Self::ToolCall,
            Kind::ToolResult => Self::ToolResult,
            Kind::Summary => Self::Summary,
            Kind::Memory => Self::Memory,
            Kind::Approval => Self::Approval,
        }
    }
}

/// One entry of a history, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// Its number.
    pub id: ItemId,
    /// What it is.
    pub kind: Kind,
    /// The tool of a call or a result; empty for all others.
    pub tool: &'a str,
    /// The call of a result; `None` for all others.
    pub call: Option<ItemId>,
    /// What it says, where the scenario has text; of a call, its input as JSON.
    pub text: Option<&'a str>,
    /// Its size in tokens.
    pub tokens: u32,
    /// Whether it belongs to the stable prefix, which every request sends as it is.
    pub is_stable: bool,
}

impl<'a> Entry<'a> {
    /// Returns an item of a timeline as an entry, numbered by its place there.
    pub(crate) fn of(timeline: &'a Timeline, at: u32) -> Option<Self> {
        let item = timeline.spine.items.get(at as usize)?;
        let tool = timeline.spine.tools.get_index(usize::from(item.tool)).map_or("", String::as_str);
        Some(Self {
            id: ItemId(at),
            kind: item.kind.into(),
            tool,
            call: Some(ItemId(item.pair)).filter(|it| it.0 < at),
            text: timeline.texts.of(at),
            tokens: item.raw,
            is_stable: timeline.spine.sessions.iter().any(|it| it.stable.contains(&at)),
        })
    }
}

/// What stands around a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Cx<'a> {
    /// The number of the request, from 0, among all that this run has asked a view for.
    pub request: u64,
    /// The session, from 0.
    pub session: u32,
    /// The turn, from 0.
    pub turn: u32,
    /// Milliseconds from the start of the scenario to this request.
    pub now_ms: i64,
    /// Milliseconds since the last request started.
    pub idle_ms: u64,
    /// Milliseconds for which a cache entry lives after its last use, where the provider documents it.
    pub ttl_ms: Option<u64>,
    /// Tokens of the request as it would go out if nothing were changed.
    pub prompt_tokens: Tokens,
    /// The most tokens that a prompt may have under the profile; `None` where there is no limit.
    pub prompt_limit: Option<Tokens>,
    /// The first entry of the history that came since the last view, as an index into the history.
    pub new_from: usize,
    /// Entries that the recorded harness took out since the last view, and that the history no longer has.
    pub gone: &'a [ItemId],
    pub(super) timeline: &'a Timeline,
    pub(super) ambient: Ambient,
}

impl Cx<'_> {
    /// Returns how many tokens some words take: counted by the scenario's tokenizer, or by its characters per token where it has none.
    #[must_use]
    pub fn tokens(&self, words: &str) -> u32 {
        Text::from(words).counted(self.timeline).tokens
    }

    /// Returns whether the provider's cache has had the time to forget the last request.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.ambient.is_cold()
    }
}

/// A call of a model that wrote a part, billed as a call of the policy's summariser.
///
/// It is billed once, when its part enters the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCall {
    /// Tokens of its prompt.
    pub input: Tokens,
    /// Tokens that it wrote.
    pub output: Tokens,
    /// Whether its prompt begins with the agent's prompt as it was before this view, so that the provider's cache can serve it.
    #[serde(default)]
    pub shares_prefix: bool,
}

impl ModelCall {
    /// Creates a call with a prompt of its own; sizes are tokens.
    #[must_use]
    pub fn new(input: Tokens, output: Tokens) -> Self {
        Self { input, output, shares_prefix: false }
    }

    /// Sets that its prompt begins with the agent's own.
    #[must_use]
    pub fn sharing_prefix(self) -> Self {
        Self { shares_prefix: true, ..self }
    }
}

/// A part of a view: an entry as it came, an entry in other words, or words of the policy's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub(super) form: PartForm,
    pub(super) replaces: Vec<ItemId>,
    pub(super) written_by: Option<ModelCall>,
    pub(super) has_handle: bool,
    pub(super) is_exact: bool,
}

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartForm {
    Keep(ItemId),
    Rewrite(ItemId, Text),
    Insert(Kind, Text),
}

impl Part {
    fn new(form: PartForm) -> Self {
        Self { form, replaces: Vec::new(), written_by: None, has_handle: false, is_exact: false }
    }

    /// Shows an entry as it came.
    #[must_use]
    pub fn keep(id: ItemId) -> Self {
        Self::new(PartForm::Keep(id))
    }

    /// Shows an entry in other words.
    ///
    /// What the words keep of the entry counts as kept: their common beginning and end, where the scenario has text.
    #[must_use]
    pub fn rewrite(id: ItemId, text: impl Into<Text>) -> Self {
        Self::new(PartForm::Rewrite(id, text.into()))
    }

    /// Shows words of the policy's own between two messages.
    #[must_use]
    pub fn insert(kind: Kind, text: impl Into<Text>) -> Self {
        Self::new(PartForm::Insert(kind, text.into()))
    }

    /// Sets which entries inserted words replace; these are summarised and not merely left out.
    #[must_use]
    pub fn replacing(mut self, ids: impl IntoIterator<Item = ItemId>) -> Self {
        self.replaces.extend(ids);
        self
    }

    /// Sets the model call that wrote the words.
    #[must_use]
    pub fn written_by(self, call: ModelCall) -> Self {
        Self { written_by: Some(call), ..self }
    }

    /// Sets that the words name a handle by which the agent can fetch the entry again.
    #[must_use]
    pub fn with_handle(self) -> Self {
        Self { has_handle: true, ..self }
    }

    /// Sets that the words keep what is exact in the entry.
    #[must_use]
    pub fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }
}
