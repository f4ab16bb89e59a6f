//! Policies that are declared, and what every policy can declare.

use crate::face::Error;
use crate::input::policy::{Layout as InnerLayout, MemoryPlace};
use crate::input::text::decode::decode;
use crate::input::{Format, PolicyFile, Recovery as InnerRecovery};

/// A declared policy that was read from text.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) text: String,
}

impl Policy {
    /// Reads a policy in RON, as policy files have it.
    ///
    /// # Errors
    /// The text is not RON, or has other fields than a policy. Rules between fields are checked by [`Comparison::plan`](crate::Comparison::plan).
    pub fn ron(text: impl Into<String>) -> Result<Self, Error> {
        Self::read(text.into(), Format::Ron)
    }

    /// Reads a policy in TOML, as policy files have it.
    ///
    /// # Errors
    /// As of [`Policy::ron`].
    pub fn toml(text: impl Into<String>) -> Result<Self, Error> {
        Self::read(text.into(), Format::Toml)
    }

    fn read(text: String, format: Format) -> Result<Self, Error> {
        let spec: PolicyFile = decode(&text, format)?;
        Ok(Self { name: spec.name, format, text })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Where a prompt asks the provider's cache for breakpoints, where memory stands in it, and what else the agent adds to it.
///
/// The default is what a policy without a layout has: breakpoints where the harness puts them, memory at the end.
#[derive(Clone, Debug, Default)]
pub struct Layout(pub(super) InnerLayout);

impl Layout {
    /// Reads a layout in RON, as the field `layout` of a policy file has it.
    ///
    /// # Errors
    /// The text is not RON, or has other fields than a layout.
    pub fn ron(text: &str) -> Result<Self, Error> {
        Ok(Self(decode(text, Format::Ron)?))
    }

    /// Asks for no breakpoints.
    #[must_use]
    pub fn without_breakpoints(mut self) -> Self {
        self.0.breakpoints = Some(Vec::new());
        self
    }

    /// Puts memory in front of everything: any change in it breaks the whole cached prompt.
    #[must_use]
    pub fn memory_first(mut self) -> Self {
        self.0.memory = MemoryPlace::Head;
        self
    }

    /// Puts memory behind the system prompt, in front of the first message.
    #[must_use]
    pub fn memory_behind_system(mut self) -> Self {
        self.0.memory = MemoryPlace::BehindSystem;
        self
    }
}

/// How an agent gets back what it needs and cannot see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// One call fetches what a need asks for.
    #[default]
    OneShot,
    /// The same, but raw file content is fetched by the smallest exact range, which stays.
    Pinned,
    /// It reads whole files again, and again when they do not stay.
    NaiveReread {
        /// How often at most.
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
