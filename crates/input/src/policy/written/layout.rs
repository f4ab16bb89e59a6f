//! Where a prompt asks the provider's cache for breakpoints, and where memory is placed.

use crate::prelude::*;

use super::Duration;
use crate::TtlClass;

/// How a prompt is laid out for the provider's cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LayoutSpec {
    /// The breakpoints; an empty list asks for none. Default: where the harness puts them.
    pub breakpoints: Option<Vec<Breakpoint>>,
    /// Where recalled memory is placed.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub memory: MemoryPlace,
    /// Content that the harness adds to the history, such as the time, a list of files or a catalogue of
    /// memories, in prompt order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dynamic: Vec<Dynamic>,
}

/// Content outside the history. It changes from time to time, but keeps its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dynamic {
    /// A name for readers.
    pub name: Option<String>,
    /// Its size.
    pub tokens: u32,
    /// Its place.
    #[serde(default)]
    pub at: DynamicPlace,
    /// When it changes.
    #[serde(default)]
    pub changes: Changes,
}

/// The place of content outside the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DynamicPlace {
    /// Before the rest of the system prompt, and after the tools if these come first.
    #[default]
    FrontOfSystem,
    /// After the stable prefix and its breakpoint, before the first message.
    BehindSystem,
    /// After everything, including the last breakpoint: sent with every request and never cached.
    Tail,
}

/// When something changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// Claude Code's breakpoints: after the tools, after the system prompt, after the last two messages.
const USUAL: [Breakpoint; 3] = [
    Breakpoint::at(PromptPlace::EndOf(LevelEnd::Tools)),
    Breakpoint::at(PromptPlace::EndOf(LevelEnd::System)),
    Breakpoint::at(PromptPlace::LastMessages { n: 2, offset: 0 }),
];

/// The layout of a policy that declares none.
static SILENT: LayoutSpec = LayoutSpec { breakpoints: None, memory: MemoryPlace::Tail, dynamic: Vec::new() };

impl LayoutSpec {
    /// The layout of a policy that declares none.
    pub fn silent() -> &'static Self {
        &SILENT
    }

    /// Returns the breakpoints that a prompt asks for, in the order written.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        self.breakpoints.as_deref().unwrap_or(&USUAL)
    }

    /// Returns the dynamic content of a place, in order.
    pub fn dynamic_at(&self, place: DynamicPlace) -> impl Iterator<Item = &Dynamic> {
        self.dynamic.iter().filter(move |it| it.at == place)
    }

    /// Returns whether the policy leaves them to the harness.
    pub fn is_silent(&self) -> bool {
        self.breakpoints.is_none()
    }

    /// Returns whether some breakpoint asks for entries that live for an hour.
    pub fn asks_for_hours(&self) -> bool {
        self.breakpoints.iter().flatten().any(|it| it.class() == Some(TtlClass::Long))
    }
}

impl Breakpoint {
    /// A breakpoint whose entry has the harness's lifetime.
    pub const fn at(at: PromptPlace) -> Self {
        Self { at, ttl: None }
    }

    /// Returns the lifetime of its entry; `None` for the harness's choice.
    pub fn class(&self) -> Option<TtlClass> {
        self.ttl.map(|it| TtlClass::from_ms(it.0))
    }
}

/// Where recalled memory is placed in a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryPlace {
    /// Before everything: a change in it breaks the whole prompt.
    Head,
    /// After the stable prefix, before the first message.
    BehindSystem,
    /// After everything, including the last breakpoint: sent with every request and never cached.
    #[default]
    Tail,
}

/// A cache breakpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Breakpoint {
    /// Its place.
    pub at: PromptPlace,
    /// How long its entry lives. Default: as the harness asks, else the provider's shortest lifetime.
    pub ttl: Option<Duration>,
}

/// A place in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PromptPlace {
    /// After a level of the prompt.
    EndOf(LevelEnd),
    /// After each of the last messages; a message is a run of items of one side.
    LastMessages {
        /// How many.
        n: u8,
        /// How many at the end to skip.
        #[serde(default)]
        offset: u8,
    },
    /// Before a turn: 0 is the active turn, 1 the one before it. Edits within the turn leave its entry
    /// intact, however long the turn is.
    BeforeTurn(u8),
    /// After the last item.
    Automatic,
}

/// A level of a prompt before its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LevelEnd {
    /// The tool schemas.
    Tools,
    /// The system prompt.
    System,
}
