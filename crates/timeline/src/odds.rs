//! What no record tells of a session's bill, as declared probabilities: they change no prompt and no row.

use crate::prelude::*;

use super::StepIx;
use super::shared::Chance;

/// The odds of what no record tells: a chance is missing where it is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Odds {
    /// A request that reads less than this share of what was to be read has fallen.
    pub fallen_below: Decimal,
    /// The share of what was to be read that a fall leaves; where nothing is said, tools and system prompt.
    pub kept: Option<Chance>,
    /// That the first request of a turn falls, though nothing in the log says why.
    pub turn: Option<Chance>,
    /// That another request of a turn does.
    pub within: Option<Chance>,
    /// That entries of an hour do not outlive a pause between five minutes and an hour.
    pub hour_missed: Option<Chance>,
    /// That a side request came before a turn where one is expected.
    pub side_expected: Option<Chance>,
    /// That one came where none is expected.
    pub side_unexpected: Option<Chance>,
    /// That a request reads only what the one before did, because what that one wrote is not there yet: where it starts within so many
    /// milliseconds of the other's start, shortest first.
    pub behind: Vec<(u64, Chance)>,
    /// The requests before which the harness is taken to have written all messages anew, and those that are taken to read what outlived a
    /// pause, in order.
    pub rewrites: Vec<Foreseen>,
}

/// A request before which a harness is taken to have written all messages anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    pub step: StepIx,
    /// Why.
    pub because: Trigger,
    /// That it did.
    pub comes: Chance,
}

/// Before which request the messages are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The first after history was taken out.
    Reset,
    /// The one that first has an expanded skill.
    Skill,
    /// The first of the turn after one with a skill.
    TurnAfterSkill,
    /// The first of the turn after one that called a certain tool.
    TurnAfterCall,
    /// The first after the session was resumed.
    Restart,
    /// The first after the model had searched for tools for the first time.
    ToolsFound,
    /// One after a pause that tools and system prompt outlive: it reads them, because many sessions send them.
    FrontStays,
    /// The first that is put together after the harness had connected the session to a remote control.
    RemoteControl,
}

impl Trigger {
    /// Returns why, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reset => "history was removed",
            Self::Skill => "a skill was expanded",
            Self::TurnAfterSkill => "the previous turn had a skill",
            Self::TurnAfterCall => "the previous turn called a tool that triggers it",
            Self::Restart => "the session was resumed",
            Self::ToolsFound => "the model had searched for tools",
            Self::FrontStays => "tools and system prompt outlived a pause",
            Self::RemoteControl => "the session was connected to a remote control",
        }
    }

    /// Returns whether it is about a skill or a slash command that was expanded.
    pub fn is_of_skill(self) -> bool {
        matches!(self, Self::Skill | Self::TurnAfterSkill)
    }
}

impl Odds {
    /// Returns how probable it is that a request reads only what the one before did, which started so many milliseconds earlier.
    pub fn behind(&self, after_ms: i64) -> Option<Chance> {
        let after_ms = u64::try_from(after_ms).ok()?;
        self.behind.iter().find(|it| after_ms < it.0).map(|it| it.1)
    }

    /// Returns the rewrite before a step, if one is taken to have happened.
    pub fn rewrite(&self, step: StepIx) -> Option<&Foreseen> {
        self.rewrites.binary_search_by_key(&step, |it| it.step).ok().map(|at| &self.rewrites[at])
    }
}

/// What part of what could be read from a best-effort cache is read, as it was counted in recorded sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitShare(pub Chance);

impl HitShare {
    /// Returns it as declared, and where most and least is read.
    pub fn ends(self) -> [f64; 3] {
        let [low, high] = self.0.interval;
        [self.0.value, high, low]
    }
}
