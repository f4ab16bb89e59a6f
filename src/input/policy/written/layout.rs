//! Where a prompt asks the provider's cache for breakpoints, and where memory stands in it.

use serde::{Deserialize, Serialize};

use super::Duration;
use crate::input::TtlClass;

/// How a prompt is laid out for the provider's cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The breakpoints; an empty list asks for none. Where the harness puts them, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<Vec<Breakpoint>>,
    /// Where what memory recalls stands.
    #[serde(default, skip_serializing_if = "MemoryPlace::is_tail")]
    pub memory: MemoryPlace,
    /// What the harness adds that is not part of the history, such as the time, a list of files or a catalogue of memories, in the
    /// order in which it stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dynamic: Vec<Dynamic>,
}

/// Content that is not part of the history. It changes from time to time, and stays as long as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dynamic {
    /// What it is; for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How long it is.
    pub tokens: u32,
    /// Where it stands.
    #[serde(default)]
    pub at: DynamicPlace,
    /// When it changes.
    #[serde(default)]
    pub changes: Changes,
}

/// Where content stands that is not part of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DynamicPlace {
    /// In front of the rest of the system prompt, behind the tools where these come first.
    #[default]
    FrontOfSystem,
    /// Behind the stable prefix and the breakpoint there, in front of the first message.
    BehindSystem,
    /// Behind everything, and behind the last breakpoint: sent with every request, and never cached.
    Tail,
}

/// When something changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// With each request.
    #[default]
    Request,
    /// With each turn.
    Turn,
    /// With each session.
    Session,
}

/// What Claude Code asks for: behind the tools, behind the system prompt, behind the last two messages.
const USUAL: [Breakpoint; 3] = [
    Breakpoint::at(Place::EndOf(LevelEnd::Tools)),
    Breakpoint::at(Place::EndOf(LevelEnd::System)),
    Breakpoint::at(Place::LastMessages { n: 2, offset: 0 }),
];

/// That of a policy that says nothing of it.
static SILENT: Layout = Layout { breakpoints: None, memory: MemoryPlace::Tail, dynamic: Vec::new() };

impl Layout {
    /// That of a policy that says nothing of it.
    #[must_use]
    pub fn silent() -> &'static Self {
        &SILENT
    }

    /// Returns the breakpoints that a prompt asks for, in the order in which they are written.
    #[must_use]
    pub fn breakpoints(&self) -> &[Breakpoint] {
        self.breakpoints.as_deref().unwrap_or(&USUAL)
    }

    /// Returns the dynamic content that stands in a place, in order.
    pub fn dynamic_at(&self, place: DynamicPlace) -> impl Iterator<Item = &Dynamic> {
        self.dynamic.iter().filter(move |it| it.at == place)
    }

    /// Returns whether the policy says nothing of them.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.breakpoints.is_none()
    }
}

impl Breakpoint {
    /// A breakpoint whose entry lives as the harness asks.
    #[must_use]
    pub const fn at(at: Place) -> Self {
        Self { at, ttl: None }
    }

    /// Returns how long its entry lives; the harness's choice, when silent.
    #[must_use]
    pub fn class(&self) -> Option<TtlClass> {
        self.ttl.map(|it| TtlClass::of(it.0))
    }
}

/// Where what memory recalls stands in a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryPlace {
    /// In front of everything: what changes in it breaks the whole prompt.
    Head,
    /// Behind the stable prefix, in front of the first message.
    BehindSystem,
    /// Behind everything, and behind the last breakpoint: sent with every request, and never cached.
    #[default]
    Tail,
}

impl MemoryPlace {
    /// Returns whether it stands behind everything.
    fn is_tail(&self) -> bool {
        *self == Self::Tail
    }
}

/// A cache breakpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Breakpoint {
    /// Where it stands.
    pub at: Place,
    /// How long its entry lives; as the harness asks, else as short as the provider offers, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Duration>,
}

/// A place in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Place {
    /// Behind a level of the prompt.
    EndOf(LevelEnd),
    /// Behind each of the last messages; a message is a run of items of one side.
    LastMessages {
        /// How many.
        n: u8,
        /// How many at the end are passed over.
        #[serde(default)]
        offset: u8,
    },
    /// In front of a turn: of the active one at 0, of the one before it at 1. It keeps an entry there that edits of the turn
    /// leave whole, however long the turn is.
    BeforeTurn(u8),
    /// Behind the last item.
    Automatic,
}

/// A level of a prompt that stands before its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LevelEnd {
    /// The tool schemas.
    Tools,
    /// The system prompt.
    System,
}
