//! What code that answers with a view receives, and what it returns.

use std::borrow::Cow;

use crate::prelude::*;

use super::BoxError;
use crate::projection;

pub use ctxsim_input::policy::Kind;

/// An agent's own function from its history to what it sends, called before each request.
///
/// A type that implements this is a policy like any other. `FnMut(&Cx, &[Entry]) -> Result<Vec<Part>, BoxError>` implements it.
pub trait View: Send {
    /// Returns the view of the history to send with the next request, front to back.
    ///
    /// The history contains all entries of the session in order of arrival, unchanged by earlier views. Entries that no part names are
    /// omitted from the request. The stable prefix (such as the system prompt and tool schemas) is always sent; parts need not name it.
    ///
    /// # Errors
    /// Any error ends the run with a message that names the policy and the request. So does a panic, if panics unwind.
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError>;

    /// Returns how long a view stays in effect; by default, until the next one.
    fn lasts(&self) -> Lasts {
        Lasts::History
    }

    /// Returns the message for a view that cannot be sent, with any details the code can add; the run ends with it.
    #[doc(hidden)]
    fn refused(&mut self, why: String) -> String {
        why
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

/// How long a view stays in effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// Until the next view: it replaces the history.
    #[default]
    History,
    /// For one request only: the agent's history stays unchanged.
    Request,
}

/// An entry's number: entries are numbered from 0 in order of arrival, across all sessions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(pub u32);

impl fmt::Display for ItemId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.0)
    }
}

/// One entry of a history, in its original form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// Its number.
    pub id: ItemId,
    /// What it is.
    pub kind: Kind,
    /// The tool, for a call or a result; empty for all other entries.
    pub tool: &'a str,
    /// For a result, its call; `None` for all other entries.
    pub call: Option<ItemId>,
    /// Its text, if the scenario has text; for a call, its input as JSON.
    pub text: Option<&'a str>,
    /// Its size in tokens.
    pub tokens: Tokens,
    /// Whether it belongs to the stable prefix, which every request sends unchanged.
    pub is_stable: bool,
}

impl<'a> Entry<'a> {
    /// Returns an item of a timeline as an entry, numbered by its place there.
    #[doc(hidden)]
    pub fn of(timeline: &'a Timeline, at: u32) -> Option<Self> {
        let item = timeline.spine.items.get(at as usize)?;
        let tool = timeline.spine.tools.get_index(usize::from(item.tool)).map_or("", String::as_str);
        Some(Self {
            id: ItemId(at),
            kind: item.kind,
            tool,
            call: Some(ItemId(item.pair)).filter(|it| it.0 < at),
            text: timeline.texts.text(at),
            tokens: item.raw.into(),
            is_stable: timeline.spine.sessions.iter().any(|it| it.stable.contains(&at)),
        })
    }
}

/// The circumstances of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Cx<'a> {
    /// The number of the request, counted from 0 (as the process protocol counts) over all requests for which this run has asked for a view.
    pub request: u64,
    /// The session, from 0.
    pub session: u32,
    /// The turn, from 0.
    pub turn: u32,
    /// Milliseconds from the start of the scenario to this request.
    pub now_ms: i64,
    /// Milliseconds since the last request started.
    pub idle_ms: u64,
    /// How long a cache entry lives after its last use, in milliseconds, if the provider documents it.
    pub ttl_ms: Option<u64>,
    /// The size of the request in tokens if nothing were changed.
    pub prompt_tokens: Tokens,
    /// The profile's prompt limit in tokens; `None` if it sets none.
    pub prompt_limit: Option<Tokens>,
    /// The index in the history of the first entry added since the last view.
    pub new_from: usize,
    /// Entries that the recorded harness removed since the last view, so that the history no longer contains them.
    pub gone: &'a [ItemId],
    pub(super) timeline: &'a Timeline,
    pub(super) ambient: Ambient,
}

impl Cx<'_> {
    /// Returns the size of a text in tokens: counted with the scenario's tokenizer, or estimated from its characters per token if it has none.
    pub fn tokens(&self, words: &str) -> Tokens {
        Text::from(words).counted(self.timeline).tokens.into()
    }

    /// Returns whether the last request has expired from the provider's cache by now.
    pub fn is_cold(&self) -> bool {
        self.ambient.is_cold()
    }
}

/// A model call that wrote a part, billed as a call to the policy's summariser.
///
/// It is billed once, when its part enters the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCall {
    /// The size of its prompt in tokens.
    pub input: Tokens,
    /// How many tokens it wrote.
    pub output: Tokens,
    /// Whether its prompt begins with the agent's prompt as it was before this view, so that the provider's cache can serve that part.
    #[serde(default)]
    pub shares_prefix: bool,
}

impl ModelCall {
    /// Creates a call with a prompt of its own; sizes are tokens.
    pub fn new(input: Tokens, output: Tokens) -> Self {
        Self { input, output, shares_prefix: false }
    }

    /// Declares that its prompt begins with the agent's own prompt.
    pub fn sharing_prefix(self) -> Self {
        Self { shares_prefix: true, ..self }
    }
}

/// A part of a view: an unchanged entry, an entry with new text, or text of the policy's own.
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

    /// Shows an entry unchanged.
    pub fn keep(id: ItemId) -> Self {
        Self::new(PartForm::Keep(id))
    }

    /// Shows an entry with new text.
    ///
    /// Whatever the new text has in common with the original at its beginning and end counts as kept, if the scenario has text.
    pub fn rewrite(id: ItemId, text: impl Into<Text>) -> Self {
        Self::new(PartForm::Rewrite(id, text.into()))
    }

    /// Inserts text of the policy's own between two messages.
    pub fn insert(kind: Kind, text: impl Into<Text>) -> Self {
        Self::new(PartForm::Insert(kind, text.into()))
    }

    /// Sets which entries the inserted text replaces; these count as summarised, not merely omitted.
    pub fn replacing(mut self, ids: impl IntoIterator<Item = ItemId>) -> Self {
        self.replaces.extend(ids);
        self
    }

    /// Sets the model call that wrote the text.
    pub fn written_by(self, call: ModelCall) -> Self {
        Self { written_by: Some(call), ..self }
    }

    /// Declares that the text names a handle with which the agent can fetch the entry again.
    pub fn with_handle(self) -> Self {
        Self { has_handle: true, ..self }
    }

    /// Declares that the text keeps the exact evidence in the entry.
    pub fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }
}

// Words of code outside this crate: spoken out, or known by their size and a digest.

/// Words that code puts into a prompt: given as they are, or as a size and a digest.
///
/// Caches know a text by its content, so the same words are the same text wherever and whenever they are said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(TextForm);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextForm {
    Words(String),
    Sized { tokens: u32, digest: u64 },
}

impl Text {
    /// Creates a text of a known size whose words are not given.
    ///
    /// `tokens` is its size in tokens of the model. Equal texts must have equal digests, and different texts different ones.
    pub fn sized(tokens: Tokens, digest: u64) -> Self {
        // What is larger is refused as it stands: no prompt has room for it.
        Self(TextForm::Sized { tokens: saturated(tokens), digest })
    }

    /// Returns the words, if they were given.
    pub fn words(&self) -> Option<&str> {
        match &self.0 {
            TextForm::Words(words) => Some(words),
            TextForm::Sized { .. } => None,
        }
    }

    /// Returns the same, with words counted by so many characters per token.
    #[doc(hidden)]
    pub fn counted_by(&self, chars_per_token: Decimal) -> projection::PromptText {
        match &self.0 {
            TextForm::Words(words) => projection::PromptText::counted(words, None, chars_per_token),
            TextForm::Sized { tokens, digest } => projection::PromptText::sized(*tokens, *digest),
        }
    }

    /// Returns the size and the content that a prompt holds; words are counted as the timeline counts texts of policies.
    #[doc(hidden)]
    pub fn counted(&self, timeline: &Timeline) -> projection::PromptText {
        match &self.0 {
            TextForm::Words(words) => projection::PromptText::counted_words(words, timeline),
            TextForm::Sized { tokens, digest } => projection::PromptText::sized(*tokens, *digest),
        }
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self(TextForm::Words(words.to_owned()))
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self(TextForm::Words(words))
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        words.as_str().into()
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(words: Cow<'_, str>) -> Self {
        Self(TextForm::Words(words.into_owned()))
    }
}
