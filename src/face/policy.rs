//! Declared policies, and what every policy can declare.

use crate::face::Error;
use ctxsim_input::policy::{LayoutSpec as InnerLayout, MemoryPlace};
use ctxsim_input::text::{Decode, source::Source};
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
        Self::read(text.into(), Format::Ron)
    }

    /// Reads a policy in TOML, in the format of a policy file.
    ///
    /// # Errors
    /// The same as for [`Policy::ron`], for TOML.
    pub fn toml(text: impl Into<String>) -> Result<Self, Error> {
        Self::read(text.into(), Format::Toml)
    }

    fn read(text: String, format: Format) -> Result<Self, Error> {
        let spec: PolicyFile = decoded("memory:policy", &text, format)?;
        Ok(Self { name: spec.name, format, text })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Reads a text that code gives, so that each problem has its line and column.
pub(super) fn decoded<T: Decode>(label: &str, text: &str, format: Format) -> Result<T, Error> {
    Ok(Source::new(label, format, text).decode()?)
}

/// Where a prompt has cache breakpoints, where memory is placed in it, and what else the agent adds to it.
///
/// The default is that of a policy without a layout: breakpoints where the harness puts them, memory at the end.
#[derive(Clone, Debug, Default)]
pub struct Layout(pub(super) InnerLayout);

impl Layout {
    /// Reads a layout in RON, as the field `layout` of a policy file has it.
    ///
    /// # Errors
    /// The text is not RON, or has fields that a layout does not have.
    pub fn ron(text: &str) -> Result<Self, Error> {
        Ok(Self(decoded("memory:layout", text, Format::Ron)?))
    }

    /// Sets no breakpoints.
    #[must_use]
    pub fn without_breakpoints(mut self) -> Self {
        self.0.breakpoints = Some(Vec::new());
        self
    }

    /// Puts memory before everything else: any change to it breaks the whole cached prefix.
    #[must_use]
    pub fn memory_first(mut self) -> Self {
        self.0.memory = MemoryPlace::Head;
        self
    }

    /// Puts memory after the system prompt, before the first message.
    #[must_use]
    pub fn memory_behind_system(mut self) -> Self {
        self.0.memory = MemoryPlace::BehindSystem;
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
    pub(super) fn inner(self) -> InnerRecovery {
        match self {
            Self::OneShot => InnerRecovery::OneShot,
            Self::Pinned => InnerRecovery::Pinned,
            Self::NaiveReread { limit } => InnerRecovery::NaiveReread { limit, fits: None },
        }
    }
}
