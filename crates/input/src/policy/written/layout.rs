//! Where a prompt asks the provider's cache for breakpoints, and where memory is placed.

use crate::prelude::*;

use super::{Duration, SizeBound};
use crate::TtlClass;
use std::borrow::Cow;

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
static USUAL: [Breakpoint; 3] = [
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

    /// Returns the breakpoints that a prompt of so many tokens asks for, in the order written.
    pub fn asked(&self, prompt: Tokens) -> impl Iterator<Item = AskedBreakpoint> {
        let all = self.breakpoints.as_deref().unwrap_or(&USUAL);
        all.iter().enumerate().filter_map(move |(nth, own)| {
            let is_met = own.when.as_ref().is_none_or(|it| it.holds(prompt));
            // Where its lifetime is not asked for, it stays, unless a later one says what holds at its place then.
            let is_last = || all[nth + 1..].iter().all(|it| it.at != own.at);
            let stays = is_met || own.ttl.is_some() && is_last();
            stays.then_some(AskedBreakpoint { nth, at: own.at, class: own.class().filter(|_| is_met) })
        })
    }

    /// Returns prompts of which it asks everything that it ever asks, with its sizes known.
    pub fn turning_points(&self) -> impl Iterator<Item = Tokens> {
        let bounds = self.breakpoints.iter().flatten().filter_map(|it| {
            let BreakpointCond::Prompt(bound) = it.when.as_ref()?;
            if let Size::Tokens(tokens) = bound.given()?.1 { Some(*tokens) } else { None }
        });
        std::iter::once(0).chain(bounds.flat_map(|it| [it.saturating_sub(1), it, it.saturating_add(1)]))
    }

    /// Puts numbers of tokens in the place of the sizes that its breakpoints depend on, where they are known.
    pub fn with_sizes(&self, tokens: impl Fn(&Size) -> Option<Tokens>) -> Cow<'_, Self> {
        let mut own = Cow::Borrowed(self);
        if self.breakpoints.iter().flatten().any(|it| it.when.is_some()) {
            let all = own.to_mut().breakpoints.iter_mut().flatten();
            for size in all.filter_map(|it| it.when.as_mut()?.size()) {
                *size = tokens(size).map_or_else(|| size.clone(), Size::Tokens);
            }
        }
        own
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
        Self { at, ttl: None, when: None }
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
    /// When its `ttl` holds, or without one, when it is asked for at all. Otherwise the next breakpoint with the same `at` holds, or the
    /// default lifetime. Default: always.
    pub when: Option<BreakpointCond>,
}

/// A breakpoint that a prompt asks for.
#[derive(Clone, Copy, Debug)]
pub struct AskedBreakpoint {
    /// Its place among all that are written.
    pub nth: usize,
    /// Its place in the prompt.
    pub at: PromptPlace,
    /// The lifetime of its entry; `None` for the harness's choice.
    pub class: Option<TtlClass>,
}

/// What a breakpoint may depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BreakpointCond {
    /// Tokens of the request that carries it.
    Prompt(SizeBound),
}

impl BreakpointCond {
    /// Returns whether it holds of a prompt of so many tokens; sizes that are not numbers of tokens hold of every prompt.
    fn holds(&self, prompt: Tokens) -> bool {
        let Self::Prompt(bound) = self;
        bound.given().is_none_or(|(relation, size)| match size {
            Size::Tokens(size) => relation.holds(prompt, *size),
            _ => true,
        })
    }

    /// Returns the size that it compares with, to be changed.
    pub(in crate::policy) fn size(&mut self) -> Option<&mut Size> {
        let Self::Prompt(SizeBound { above, at_least, below, at_most }) = self;
        [above, at_least, below, at_most].into_iter().find_map(Option::as_mut)
    }
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
