//! The load before any policy: a spine of turns, steps and items, and the planes that this load has.

pub mod build;
pub mod conversation;
pub mod event;
pub mod evidence;
pub mod facts;
pub mod import;
pub mod infer_needs;
pub mod load;
pub mod random;
pub mod scripted;
pub mod text;
pub mod tool_form;

use std::ops::Range;

use indexmap::IndexSet;

use crate::input::TtlClass;
use crate::input::scenario::TokenizerName;
use crate::input::scenario::refetch::Refetch;
use crate::quantity::{Cost, Decimal, Tokens};

pub use crate::input::policy::{Kind, Preserve};
pub use build::{NewItem, Sizes, TimelineBuilder};
pub use conversation::Conversation;
pub use event::{Event, EventKind, Lifecycle, Phase, When};
pub use evidence::{Due, Inferred, ItemNeed, Level, Need, Needs, TurnEvidence};
pub use text::Texts;
pub use tool_form::Capability;

/// An item's place in the timeline; in a run it has a slot, which is the same number until the run adds items.
pub type ItemIx = u32;
/// A step's place in the timeline.
pub type StepIx = u32;
/// A turn's place in the timeline.
pub type TurnIx = u32;
/// Stands for "no item".
pub const NO_ITEM: ItemIx = ItemIx::MAX;

/// A load: what happened, before any policy looked at it.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What it is called in reports.
    pub name: String,
    /// Structure and sizes.
    pub spine: Spine,
    /// What later needs what earlier.
    pub needs: Needs,
    /// What was said that is asked about later, where the load has facts.
    pub facts: Option<facts::FactPlane>,
    /// What the items say, where the load has text.
    pub texts: Texts,
    /// What happened beside the requests, in order.
    pub events: Vec<Event>,
    /// How the recorded harness used the provider's cache.
    pub harness: Harness,
    /// Turns after which it makes no side request, in order.
    pub quiet_turns: Vec<TurnIx>,
    /// What the provider billed, where the timeline was recorded.
    pub recorded: Option<Recorded>,
    /// The models that answered, where it was recorded; a change of [`Setting::Model`] is to a place in it.
    ///
    /// [`Setting::Model`]: crate::input::profile::cache::Setting::Model
    pub models: Vec<RecordedModel>,
    /// When its first request started, in milliseconds since 1970, where the recording says so.
    pub began_ms: Option<i64>,
    /// Characters per token, where a policy counts in characters.
    pub chars_per_token: Decimal,
    /// What counts texts that a policy writes; their characters do where there is none.
    pub tokenizer: Option<TokenizerName>,
    /// What it takes to fetch something again.
    pub refetch: Refetch,
    /// What is assumed rather than known, in sentences.
    pub assumptions: Vec<String>,
}

/// Structure and sizes; rows hold ranges into the next level.
#[derive(Clone, Debug, Default)]
pub struct Spine {
    /// The sessions, in order; every load has one.
    pub sessions: Vec<Session>,
    /// The turns, in order.
    pub turns: Vec<TurnRow>,
    /// The model requests, in order.
    pub steps: Vec<StepRow>,
    /// The items, in order of arrival.
    pub items: Vec<Item>,
    /// The names of the tools.
    pub tools: IndexSet<String>,
    /// What each of them does, in the same order, where a recording's harness says so.
    pub capabilities: Vec<Option<Capability>>,
    /// How many items at the front form the stable prefix of the first session.
    pub n_stable: ItemIx,
}

/// One conversation with an agent, from start to end; its prompt begins with its stable prefix and what memory recalls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// What its log calls it; empty where nothing does.
    pub id: String,
    /// The session whose agent started this one's, as its log calls it.
    pub parent: Option<String>,
    /// The items of its stable prefix; empty where it begins with that of the session before.
    pub stable: Range<ItemIx>,
    /// Its turns.
    pub turns: Range<TurnIx>,
}

/// One turn: a user message and everything up to the agent's final answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its requests.
    pub steps: Range<StepIx>,
    /// Its items: the user's first, then step by step the reply and the results.
    pub items: Range<ItemIx>,
    /// The user's items.
    pub user: Range<ItemIx>,
}

/// One model request: its prompt is everything shown before `reply`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    /// Milliseconds since the timeline began at which the request starts.
    pub at_ms: i64,
    /// The same, at which its response starts.
    pub response_ms: i64,
    /// The same, at which its response ends.
    pub end_ms: i64,
    /// What the model answers; parallel calls are several items of one reply.
    pub reply: Range<ItemIx>,
    /// What its calls give back.
    pub results: Range<ItemIx>,
    /// Tokens that the model writes.
    pub output_tokens: Tokens,
}

/// One message part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Stands for its content: equal content, equal digest.
    pub digest: u64,
    /// Tokens as it came.
    pub raw: u32,
    /// Tokens of its exact excerpt.
    pub excerpt: u32,
    /// Tokens of its summary.
    pub summary: u32,
    /// Tokens of its recovery handle; 0 when there is none.
    pub handle: u32,
    /// The call of a result, the result of a call.
    pub pair: ItemIx,
    /// Its place in the load; [`NO_ITEM`] for what a run adds.
    pub origin: ItemIx,
    /// The turn it belongs to; the first turn for the stable prefix.
    pub turn_ix: TurnIx,
    /// The step it belongs to; that of the first request for items before any.
    pub step_ix: StepIx,
    /// The tool, for calls and results.
    pub tool: u16,
    /// What it is.
    pub kind: Kind,
    /// Why it may be needed again.
    pub preserve: Preserve,
    /// Of a result: which of the session's results it is, from 1; 0 for all others.
    pub rank: u32,
}

/// How a harness uses the provider's cache; not what it was billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harness {
    /// How long it asks entries to live.
    pub ttl: Option<TtlClass>,
    /// So long after a turn's last response, it sends the prompt with the reply once more, in a request of no record.
    pub side_request_ms: Option<u64>,
    /// None follows a request of which more tokens than this were not read from the cache.
    pub side_request_cold_tokens: Tokens,
    /// So many tokens stand behind the last message of each of its requests; they are billed, and no later prompt reads them.
    pub unread_tokens: Tokens,
}

/// What the provider billed for a recorded session.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// One entry a step, where the recording has it.
    pub usage: Vec<Option<Usage>>,
    /// By step, the tokens behind the last breakpoint; empty where the recording does not know of breakpoints.
    pub tails: Vec<Tokens>,
    /// By step, what the recording itself says that it cost; empty where it says nothing.
    pub costs: Vec<Option<Cost>>,
    /// The steps before whose requests the harness compacted the history on its own account, in order; none where that is undone.
    pub compactions: Vec<StepIx>,
    /// The steps before whose requests a summary took the place of the history, those that the user asked for included.
    pub summarised: Vec<StepIx>,
    /// What a prompt at the request before a compaction has to stay below, so that it would not have come to it.
    pub avoided_below: Tokens,
    /// The first step that has more in front of it than was recorded, because what the harness took out stays.
    pub undone_from: Option<StepIx>,
}

/// A model of a recorded session, and what it was billed for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedModel {
    /// Its id, as the recording writes it.
    pub name: String,
    /// How many requests it answered; one that was not billed names no model, where others were.
    pub requests: u64,
    /// The tokens of their prompts, as billed.
    pub input: Tokens,
}

/// What the provider billed for one request, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole prompt: read, written and uncached.
    pub prompt: Tokens,
    /// Read from the cache.
    pub cache_read: Tokens,
    /// Written to the cache.
    pub cache_write: Tokens,
    /// Of it, what is to live for an hour or longer; `None` where the recording does not say.
    pub cache_write_long: Option<Tokens>,
    /// Neither.
    pub uncached: Tokens,
    /// Written by the model.
    pub output: Tokens,
}

impl Usage {
    /// Returns what was written to the cache by class of lifetime, short and long: as the recording says, else all in the
    /// class that the harness asks for.
    #[must_use]
    pub fn writes(&self, asked: Option<TtlClass>) -> [Tokens; 2] {
        let usual = if asked == Some(TtlClass::Long) { self.cache_write } else { 0 };
        let long = self.cache_write_long.unwrap_or(usual).min(self.cache_write);
        [self.cache_write - long, long]
    }
}

impl Spine {
    /// Returns what a tool goes by, after its place: its name, and what it does.
    pub fn names(&self, tool: usize) -> impl Iterator<Item = &str> {
        let does = self.capabilities.get(tool).copied().flatten();
        self.tools.get_index(tool).map(String::as_str).into_iter().chain(does.map(Capability::name))
    }

    /// Returns whether a tool goes by one of some names.
    #[must_use]
    pub fn is_one_of(&self, tool: u16, names: &[String]) -> bool {
        self.names(usize::from(tool)).any(|name| names.iter().any(|it| it == name))
    }

    /// Returns whether a result says more than its call, so that it brought something.
    #[must_use]
    pub fn brings(&self, result: ItemIx) -> bool {
        let Some(item) = self.items.get(result as usize) else { return false };
        self.items.get(item.pair as usize).is_none_or(|call| item.raw > call.raw)
    }

    /// Returns the step before whose request a moment is; the one that comes next, where it is none's.
    #[must_use]
    pub fn step_at(&self, at: When) -> StepIx {
        let row = self.turns.get(at.turn_ix as usize);
        let end = StepIx::try_from(self.steps.len()).unwrap_or(StepIx::MAX);
        match (at.phase, row) {
            (Phase::Request(step), _) => step,
            (Phase::SessionStart | Phase::TurnStart, Some(row)) => row.steps.start,
            (Phase::TurnEnd | Phase::SessionEnd, Some(row)) => row.steps.end,
            (_, None) => end,
        }
    }
}

impl Timeline {
    /// Returns the tokens behind the last breakpoint of a step's request, where a recording has them.
    #[must_use]
    pub fn tail(&self, step: StepIx) -> Tokens {
        let tails = self.recorded.as_ref().map_or(&[] as &[Tokens], |it| it.tails.as_slice());
        tails.get(step as usize).copied().unwrap_or(0)
    }

    /// Returns the model that was billed for the most input, the earlier one where two are equal.
    #[must_use]
    pub fn main_model(&self) -> Option<&RecordedModel> {
        let size = |it: &RecordedModel| (it.input, it.requests);
        self.models.iter().rev().max_by_key(|it| size(it))
    }

    /// Returns when its last request started, in milliseconds since 1970, where the recording says so.
    #[must_use]
    pub fn last_ms(&self) -> Option<i64> {
        let last = self.spine.steps.last().map_or(0, |it| it.at_ms);
        self.began_ms.map(|it| it.saturating_add(last))
    }

    /// Returns the tokens of the first session's stable prefix.
    #[must_use]
    pub fn stable_tokens(&self) -> Tokens {
        self.spine.items[..self.spine.n_stable as usize].iter().map(|it| Tokens::from(it.raw)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_split_as_the_recording_says_and_else_as_the_harness_asks() {
        let usage = Usage { cache_write: 10, cache_write_long: Some(4), ..Usage::default() };
        let silent = Usage { cache_write_long: None, ..usage };

        assert_eq!(usage.writes(None), [6, 4]);
        assert_eq!(usage.writes(Some(TtlClass::Long)), [6, 4]);
        assert_eq!(silent.writes(Some(TtlClass::Long)), [0, 10]);
        assert_eq!(silent.writes(None), [10, 0]);
    }
}
