//! Policies that are declared, and those that are code.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;

use crate::face::{Error, Trace};
use ctxsim_engine::own::process::Process as Inner;
use ctxsim_engine::own::{Memory, Own, View};
use ctxsim_input::policy::{LayoutSpec as InnerLayout, MemoryPlace, OwnCode};
use ctxsim_input::text::Decode;
use ctxsim_input::text::source::Source;
use ctxsim_input::{Format, PolicyFile, RecoverySpec as InnerRecovery};

/// A declared policy, read from text.
///
/// ```
/// let policy = ctxsim::Policy::toml("name = \"mine\"\nbase = \"clear_tool_results\"\nabout = \"Later.\"\n")?;
/// assert_eq!(policy.name(), "mine");
/// // A mistake has its line and column, and a fix.
/// let error = ctxsim::Policy::ron("(name: \"mine\",\n abuot: \"\")").unwrap_err();
/// assert_eq!(error.problems()[0].line_column, Some((2, 2)));
/// # Ok::<(), ctxsim::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) text: String,
}

impl Policy {
    /// Reads a policy in RON, in the format of a policy file.
    ///
    /// # Errors
    /// The text is not RON, or has fields that a policy does not have. Rules between fields are checked by [`Comparison::plan`](crate::Comparison::plan).
    pub fn ron(text: impl Into<String>) -> Result<Self, Error> {
        Self::parse(text.into(), Format::Ron)
    }

    /// Reads a policy in TOML, in the format of a policy file.
    ///
    /// # Errors
    /// The same as for [`Policy::ron`], for TOML.
    pub fn toml(text: impl Into<String>) -> Result<Self, Error> {
        Self::parse(text.into(), Format::Toml)
    }

    fn parse(text: String, format: Format) -> Result<Self, Error> {
        let spec: PolicyFile = decode_text("memory:policy", &text, format)?;
        Ok(Self { name: spec.name, format, text })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Reads a text that code gives, so that each problem has its line and column.
pub(super) fn decode_text<T: Decode>(label: &str, text: &str, format: Format) -> Result<T, Error> {
    Ok(Source::new(label, format, text).decode()?)
}

/// Where a prompt has cache breakpoints, where memory is placed in it, and what else the agent adds to it.
///
/// The default is that of a policy without a layout: breakpoints where the harness puts them, memory at the end.
#[derive(Clone, Debug, Default)]
pub struct PromptLayout(pub(super) InnerLayout);

impl PromptLayout {
    /// Reads a layout in RON, as the field `layout` of a policy file has it.
    ///
    /// # Errors
    /// The text is not RON, or has fields that a layout does not have.
    pub fn ron(text: &str) -> Result<Self, Error> {
        Ok(Self(decode_text("memory:layout", text, Format::Ron)?))
    }

    /// Puts memory before everything else: any change to it breaks the whole cached prefix.
    #[must_use]
    pub fn memory_first(mut self) -> Self {
        self.0.memory = MemoryPlace::Head;
        self
    }
}

/// How an agent gets back what it needs but can no longer see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// One call fetches exactly what is needed.
    #[default]
    OneShot,
    /// The same, but raw file content is fetched as the smallest exact range, which then stays in the prompt.
    Pinned,
    /// The agent reads whole files again, and repeats this if they do not stay in the prompt.
    NaiveReread {
        /// The maximum number of reads.
        limit: u64,
    },
}

impl Recovery {
    pub(super) fn to_engine_recovery(self) -> InnerRecovery {
        match self {
            Self::OneShot => InnerRecovery::OneShot,
            Self::Pinned => InnerRecovery::Pinned,
            Self::NaiveReread { limit } => InnerRecovery::NaiveReread { limit, fits: None },
        }
    }
}

/// A policy that is code; each run creates its own instance, on the run's thread.
///
/// It works wherever a declared policy does: comparisons, guards, sensitivity, explanations, sampled recovery, streaming. A run whose code
/// returns an error, panics or answers with a view that cannot be sent ends with an error that names the policy and the request.
#[derive(Clone)]
pub struct CodePolicy {
    own: Own,
    title: Option<String>,
    about: String,
    layout: Option<PromptLayout>,
    recovery: Recovery,
}

/// How the program of a policy is started.
#[derive(Clone, Debug)]
pub struct Process(Inner);

impl Process {
    /// Creates a process from a program and its arguments; the program is looked up in `PATH`, or relative to the folder if its name contains a `/`.
    #[must_use]
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>) -> Self {
        Self(Inner {
            command: command.into_iter().map(Into::into).collect(),
            folder: PathBuf::from("."),
            deadline: Duration::from_secs(10),
            params: IndexMap::new(),
        })
    }

    /// Sets the folder in which the program runs; the current one by default.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.0.folder = folder.into();
        self
    }

    /// Sets how long it may take to start and to answer each request; 10 seconds by default.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.0.deadline = deadline;
        self
    }
}

impl fmt::Debug for CodePolicy {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("CodePolicy").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl CodePolicy {
    fn new(own: Own) -> Self {
        let about = "A policy in code.".to_owned();
        Self { own, title: None, about, layout: None, recovery: Recovery::default() }
    }

    /// Creates a policy from a function that creates a [`View`], which maps the history to a view before each request.
    #[must_use]
    pub fn view<V: View + 'static>(
        name: impl AsRef<str>,
        make: impl Fn(Trace<'_>) -> V + Send + Sync + 'static,
    ) -> Self {
        Self::new(Own::view(name.as_ref(), move |it| Ok(make(Trace::from_inputs(it)))))
    }

    /// Creates a policy from a program that is asked over its standard input and output, using the protocol `ctxsim.policy/1`.
    ///
    /// One program is started for each run. The protocol is described in `docs/reference/processes.md`.
    #[must_use]
    pub fn process(name: impl AsRef<str>, process: Process) -> Self {
        Self::new(Own::process(name.as_ref(), process.0))
    }

    /// Adds a memory, which recalls something for each request.
    #[must_use]
    pub fn memory<M: Memory + 'static>(
        mut self,
        make: impl Fn(Trace<'_>) -> M + Send + Sync + 'static,
    ) -> Self {
        self.own = self.own.with_memory(move |it| make(Trace::from_inputs(it)));
        self
    }

    /// Sets where prompts place cache breakpoints, memory and dynamic content.
    #[must_use]
    pub fn layout(self, layout: PromptLayout) -> Self {
        Self { layout: Some(layout), ..self }
    }

    /// Sets how the agent gets back what it cannot see; one call by default.
    #[must_use]
    pub fn recovery(self, recovery: Recovery) -> Self {
        Self { recovery, ..self }
    }

    /// Sets what it does in a few words, at most 48 characters, which verdicts say beside its name; none by default.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the sentence with which reports describe the policy.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.own.name()
    }

    /// Returns what it declares in addition to its code, as a policy file would, and the code.
    pub(super) fn into_parts(self) -> (PolicyFile, OwnCode) {
        let file = PolicyFile {
            title: self.title,
            about: self.about,
            layout: self.layout.map(|it| it.0),
            recovery: Some(self.recovery.to_engine_recovery()),
            ..PolicyFile::named(self.own.name())
        };
        (file, OwnCode::new(self.own))
    }
}
