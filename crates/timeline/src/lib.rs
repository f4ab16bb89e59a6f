//! The load before any policy, and the importers that read recordings into it.
//!
//! A timeline is a *spine* of sessions → turns → steps → items, with optional planes. Rows hold ranges into the next level; an item takes
//! 48 bytes. A turn is a user message and everything up to the agent's final answer. A step is one model request with its reply and the
//! results of its calls.
//!
//! A **session** has an id and may name its parent (the session that started it). Its prompt starts with its own stable prefix or with that
//! of the previous session. When a new session starts, nothing of the previous one is shown any more except a shared stable prefix. Cache
//! entries live on, by time.
//!
//! **Moments.** `When` names a moment: the start or end of a session or turn, or the time before a step's request. Events (a reset by the
//! harness, a changed setting or lifetime, a front that somebody else sent again, something that happens to the memory) and probes are due
//! at a `When`. Moments are ordered by time.
//!
//! **Planes.** The evidence plane lists needs by the moment at which they are due (`TurnStart`, `Answer`, `TurnEnd`) and, per turn, the
//! cost of fetching evidence again. All of this is computed when the timeline is built, so checking a need during a run takes a handful of
//! comparisons. The fact plane lists facts, their versions and deltas, and probes. The text plane holds the items' texts, each text once. A
//! plane is passed only to code that needs it: policies and caches never see needs or facts, except `clairvoyant`, which is built from the
//! whole timeline.

mod prelude;
pub mod row;
mod before;
pub mod event;
pub mod evidence;
pub mod facts;
pub mod load;
pub mod odds;
mod occasion;
pub mod own;
mod recounted;
pub mod scripted;
pub mod shared;
pub mod text;
pub mod tool_form;
pub mod build;
pub mod infer_needs;
pub mod import;
pub mod random;

use crate::prelude::*;

use ctxsim_input::CacheRules;
use ctxsim_input::profile::{ImageRule, ImageSize};
use ctxsim_input::scenario::TokenizerName;
use ctxsim_input::scenario::refetch::Refetch;
use ctxsim_input::scenario::user_messages::UserTerms;

pub use build::{ItemSizes, NewItem, TimelineBuilder};
pub use ctxsim_input::policy::{Kind, Preserve};
pub use event::{Compaction, Event, EventKind, FrontItem, Lifecycle, Phase, When};
pub use evidence::{Due, Inferred, ItemNeed, Level, Need, Needs, TurnEvidence};
pub use occasion::{Diagnosis, InjectedText, Occasion};
pub use shared::Shared;
pub use text::Texts;
pub use tool_form::Capability;

/// An item's index in the timeline. Its slot in a run has the same number until the run adds items.
pub type ItemIx = u32;
/// A step's index in the timeline.
pub type StepIx = u32;
/// A turn's index in the timeline.
pub type TurnIx = u32;
/// Means "no item".
pub const NO_ITEM: ItemIx = ItemIx::MAX;

/// A load: what happened, before any policy changes it.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Its name in reports.
    pub name: String,
    /// Structure and sizes.
    pub spine: Spine,
    /// Which later events need which earlier ones.
    pub needs: Needs,
    /// Planted facts and the questions about them, if the load has facts.
    pub facts: Option<facts::FactPlane>,
    /// The items' texts, if the load has text.
    pub texts: Texts,
    /// Its images, if it has any.
    pub images: TimelineImages,
    /// Events other than requests, in order.
    pub events: Vec<Event>,
    /// How the recorded harness used the provider's cache.
    pub harness: Harness,
    /// The front of its prompts that other sessions send, too, if any are known.
    pub shared: Option<Shared>,
    /// What no record tells of its bill, if it was recorded in a format of which that was measured.
    pub odds: Option<odds::Odds>,
    /// Requests that the harness sends after a turn beside the agent's own, in order.
    pub side_requests: Vec<SideRequest>,
    /// The provider's bill, if the timeline was recorded.
    pub recorded: Option<Recorded>,
    /// The models that answered, if it was recorded; a change of [`Setting::Model`] is to an index in this
    /// list.
    ///
    /// [`Setting::Model`]: ctxsim_input::profile::cache::Setting::Model
    pub models: Vec<RecordedModel>,
    /// When its first request started, in milliseconds since 1970, if the recording says so.
    pub began_ms: Option<i64>,
    /// Characters per token, for policies that count characters.
    pub chars_per_token: Decimal,
    /// The tokenizer of texts that a policy writes; `None` to use characters per token.
    pub tokenizer: Option<TokenizerName>,
    /// The scenario's random seed, for policies that draw.
    pub seed: u64,
    /// What an agent needs to fetch something again.
    pub refetch: Refetch,
    /// What is assumed of users' messages, if what users asked is needed.
    pub users: Option<UserTerms>,
    /// Its assumptions, in sentences.
    pub assumptions: Vec<String>,
}

/// The images of a load.
#[derive(Clone, Debug, Default)]
pub struct TimelineImages {
    /// The rule by which their tokens were counted.
    pub rule: Option<&'static ImageRule>,
    /// Each item that is one, in order, with its size in pixels, where that is known.
    pub items: Vec<(ItemIx, Option<ImageSize>)>,
}

/// Structure and sizes; rows hold ranges into the next level.
#[derive(Clone, Debug, Default)]
pub struct Spine {
    /// The sessions, in order; never empty.
    pub sessions: Vec<Session>,
    /// The turns, in order.
    pub turns: Vec<TurnRow>,
    /// The model requests, in order.
    pub steps: Vec<StepRow>,
    /// The items, in order of arrival.
    pub items: Vec<Item>,
    /// The names of the tools.
    pub tools: IndexSet<String>,
    /// Each tool's capability, in the same order, if the recording's harness defines it.
    pub capabilities: Vec<Option<Capability>>,
    /// The number of items in the stable prefix of the first session.
    pub n_stable: ItemIx,
}

/// One conversation with an agent, from start to end; its prompt begins with its stable prefix and recalled
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Its id in the log; may be empty.
    pub id: String,
    /// The id of the session whose agent started this one.
    pub parent: Option<String>,
    /// What its draws are made from, if it was recorded. Default: its id, else its contents.
    pub draws: Option<u64>,
    /// The items of its stable prefix; empty if it uses the previous session's.
    pub stable: Range<ItemIx>,
    pub turns: Range<TurnIx>,
}

/// One turn: a user message and everything up to the agent's final answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its requests.
    pub steps: Range<StepIx>,
    /// Its items: the user's first, then, step by step, the reply and the results.
    pub items: Range<ItemIx>,
    /// The user's items.
    pub user: Range<ItemIx>,
}

/// One model request; its prompt is everything shown before `reply`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    /// When the request starts, in milliseconds since the timeline began.
    pub at_ms: i64,
    /// When its response starts.
    pub response_ms: i64,
    /// When its response ends.
    pub end_ms: i64,
    /// The model's reply; parallel calls are several items of one reply.
    pub reply: Range<ItemIx>,
    /// The results of its calls.
    pub results: Range<ItemIx>,
    /// Tokens of the model's output.
    pub output_tokens: Tokens,
}

/// One message part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// A digest of its content: equal contents have equal digests.
    pub digest: u64,
    /// Tokens as received.
    pub raw: u32,
    /// Tokens of its exact excerpt.
    pub excerpt: u32,
    /// Tokens of its summary.
    pub summary: u32,
    /// Tokens of its recovery handle; 0 if it has none.
    pub handle: u32,
    /// A result's call, or a call's result.
    pub pair: ItemIx,
    /// Its index in the load; [`NO_ITEM`] for items that a run adds.
    pub origin: ItemIx,
    /// The turn to which it belongs; the first turn for the stable prefix.
    pub turn_ix: TurnIx,
    /// The step to which it belongs; the first step for earlier items.
    pub step_ix: StepIx,
    /// The tool, for calls and results.
    pub tool: u16,
    pub kind: Kind,
    /// Why it may be needed again.
    pub preserve: Preserve,
    /// For a result: its number among the session's results, from 1; otherwise 0.
    pub rank: u32,
}

/// How a harness uses the provider's cache, as opposed to what it was billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harness {
    /// The requested lifetime of entries.
    pub ttl: Option<TtlClass>,
    /// Whether it sends the prompt with the reply again after some turns, in requests that no record bills.
    pub makes_side_requests: bool,
    /// No side request follows a request with more than this many tokens not read from the cache.
    pub side_request_cold_tokens: Tokens,
    /// Tokens after the last message of each request, which are billed but never read by a later prompt.
    pub unread_tokens: Tokens,
}

/// A request that the harness sends after a turn, with the prompt and the reply once more; no record shows its bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideRequest {
    /// The turn that it follows.
    pub turn_ix: TurnIx,
    /// When it is sent.
    pub at_ms: i64,
    /// Whether the log shows that it was sent; else it is not sent where the cache is cold.
    pub is_logged: bool,
}

/// What a part of the fixed part of a recorded session's prompts is: of what stands before every message of its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FixedPart {
    /// The definitions of tools, where the log has them.
    ToolSchemas,
    /// The system prompt, where the log has it.
    SystemPrompt,
    /// Files such as AGENTS.md, where the log has them.
    MemoryFiles,
    /// What the harness says in messages of its own.
    HarnessMessages,
    /// What the log does not show, but other sessions had sent before the first request: tools and system prompt.
    SharedFront,
    /// What the log does not show behind that.
    BehindFront,
    /// What the log does not show, where nothing tells more of it.
    NotShown,
}

impl FixedPart {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolSchemas => "tool schemas",
            Self::SystemPrompt => "system prompt",
            Self::MemoryFiles => "memory files",
            Self::HarnessMessages => "harness messages",
            Self::SharedFront => "hidden: shared",
            Self::BehindFront => "hidden: own",
            Self::NotShown => "hidden: unsplit",
        }
    }

    /// Returns what something before all messages is that a log shows.
    pub fn of_stable(kind: Kind) -> Self {
        match kind {
            Kind::ToolSchema => Self::ToolSchemas,
            Kind::System => Self::SystemPrompt,
            Kind::Memory => Self::MemoryFiles,
            _ => Self::HarnessMessages,
        }
    }
}

/// The provider's bill of a recorded session.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The format of the log, by which its tools are known.
    pub format: &'static str,
    /// The newest version of the harness that made its requests; empty if the log names none.
    pub version: String,
    /// When that version compacts under the session's model, as far as that is known.
    pub harness_limits: HarnessLimits,
    /// The newest version of which that is described, if the log's is newer.
    pub newer_than: Option<&'static Documented>,
    /// The working folder, that of the checkout for a worktree, if the log names it; else empty.
    pub project: String,
    /// What stands before the messages of the first prompt, item by item, in order.
    pub fixed: Box<[(ItemIx, FixedPart)]>,
    /// One entry per step, if recorded.
    pub usage: Vec<Option<Usage>>,
    /// Whether the usage is known for the session alone, and spread over its requests.
    pub is_spread: bool,
    /// By step, the tokens after the last breakpoint; empty if the recording has no breakpoints.
    pub tails: Vec<Tokens>,
    /// By step, where the log's own request marks its prompt for the cache; empty if it shows no marks.
    pub marks: Box<[Box<[RecordedMark]>]>,
    /// By step, the cost stated by the recording itself; empty if it states none.
    pub costs: Vec<Option<Cost>>,
    /// What of the recording is in no part of its sessions, and the file that it is.
    pub losses: Vec<import::LossReason>,
    pub file: String,
    /// The steps before whose requests the harness compacted the history by itself, in order; empty if that
    /// is undone.
    pub compactions: Vec<StepIx>,
    /// The last steps before the harness's own compactions, also before those that are undone: what a prompt there
    /// has decides whether it avoids the compaction.
    pub before_compactions: Vec<StepIx>,
    /// The steps before whose requests a summary replaced the history, including those requested by the user.
    pub summarised: Box<[StepIx]>,
    /// What the log tells of requests besides their messages, in order.
    pub occasions: Box<[(StepIx, Occasion)]>,
    /// What the log bills beside the steps: requests that no later prompt follows.
    pub aside: Box<[AsideBill]>,
    /// The requests that wrote summaries and that no usage shows.
    pub unbilled: Vec<UnbilledSummary>,
    /// Sub-agents of which the log holds totals alone: their requests are in no bill.
    pub agents: Box<[AgentTotals]>,
    /// The plan that the log names, such as that of a subscription; empty where it names none.
    pub plan: String,
    /// How far the limits of its account were used up, as often as the log says so, in order of time.
    pub limits: Box<[LimitReading]>,
    /// What became of its task, if the log tells.
    pub outcome: Option<LoggedOutcome>,
    /// The size that a prompt must stay below at a compaction's request to avoid it.
    pub avoided_below: Tokens,
    /// The session among others, if it was read from memory: what others tell of it is known only when they are named.
    pub among: Option<Arc<import::Among>>,
    /// The session itself, if its harness compacted it, to lay it out without some of the compactions.
    pub session: Option<Arc<import::CompactedSession>>,
    /// The first step with more history than recorded, because what the harness removed stays.
    pub undone_from: Option<StepIx>,
}

impl Recorded {
    /// Returns what the requests were billed that wrote summaries.
    pub fn summaries(&self) -> Vec<Usage> {
        self.aside.iter().filter(|it| it.kind == AsideKind::Summary).map(|it| it.usage).collect()
    }
}

/// How far a limit of an account was used up at one time: all of the account's use in a window of time, also what no log here holds.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LimitReading {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub window_minutes: u32,
    /// When the window ends, in milliseconds since 1970.
    pub ends_ms: i64,
    pub used_percent: f64,
    /// The plan that the log names beside it; empty where it names none.
    pub plan: String,
}

/// What a log tells of what became of a session's task.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LoggedOutcome {
    /// What is told.
    pub name: String,
    /// A number; 1 for yes.
    pub value: f64,
}

/// A mark for the cache in a recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMark {
    /// The last item before it; `None` for one that the provider places at the end.
    pub item: Option<ItemIx>,
    /// How long its entry lives.
    pub ttl: TtlClass,
}

/// The newest version of a harness that is described.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documented {
    /// The harness, in words.
    pub harness: String,
    /// The version.
    pub to: String,
}

/// When a harness compacts the history by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HarnessLimits {
    /// The window that it keeps to, in tokens, if it is not the model's.
    pub window: Option<Tokens>,
    /// The tokens that it leaves of its window for the longest output.
    pub output_reserve: Option<Tokens>,
    /// The smallest prompt at which the log shows that it compacted the session by itself.
    pub trigger: Option<Tokens>,
}

/// A model of a recorded session, and its bill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedModel {
    /// Its id in the recording.
    pub name: String,
    /// The number of requests it answered; an unbilled request names no model if others were billed.
    pub requests: u64,
    /// The tokens of their prompts, as billed.
    pub input: Tokens,
    /// What is cached of the client's requests, where its logs show another cache than the provider's documents.
    pub cache: Option<CacheRules>,
}

/// What a log tells of a sub-agent, or of those of a workflow, whose requests it does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AgentTotals {
    /// The name of the sub-agent or of the workflow; empty where it is not known.
    #[serde(skip)]
    pub agent: String,
    /// Its model; empty where the log names none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Tokens of its last request, prompt and answer; of several sub-agents, their sum.
    pub tokens: Tokens,
    /// How many tools it used.
    pub tools: u64,
    /// How many sub-agents these are.
    pub agents: u64,
    /// Whether its last request wrote to the cache for an hour.
    #[serde(rename = "long", skip_serializing_if = "std::ops::Not::not")]
    pub is_long: bool,
}

/// A request that a log bills and that is no step.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AsideBill {
    #[serde(flatten)]
    pub usage: Usage,
    pub kind: AsideKind,
    /// Its model; empty where the log names none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// When it was sent, in milliseconds since 1970, or else the request beside which it stands; `None` if the log tells no times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

/// What a request was for that is no step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsideKind {
    /// It wrote a summary of the history.
    Summary,
    /// It lies on a branch that the user left.
    #[default]
    LeftBranch,
    /// It went on inside another one, with the results of the provider's own tools.
    Inner,
    /// Another model advised inside another one.
    Advisor,
}

/// A request that wrote a summary, and that no usage of its log shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UnbilledSummary {
    /// Tokens of the history that it read.
    #[serde(rename = "tokens_before")]
    pub prompt: Tokens,
    /// Tokens that it wrote, as far as the log shows them.
    #[serde(rename = "tokens_after")]
    pub output: Tokens,
    /// Whether the log states the size before; if not, it is that of the request before it and its answer.
    pub is_stated: bool,
    /// Whether the request before it wrote to the cache for an hour.
    pub is_long: bool,
    /// The model of that request; empty where the log names none.
    pub model: String,
    /// When it was asked for, in milliseconds since 1970, and how long after that request ended.
    pub at_ms: Option<i64>,
    pub pause_ms: Option<i64>,
}

/// What the provider billed for one request, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The whole prompt: read, written and uncached.
    #[serde(skip)]
    pub prompt: Tokens,
    pub uncached: Tokens,
    pub cache_read: Tokens,
    /// Written to the cache.
    pub cache_write: Tokens,
    /// Of it, tokens with a lifetime of an hour or more; `None` if the recording does not say.
    pub cache_write_long: Option<Tokens>,
    /// Written by the model.
    pub output: Tokens,
}

columns! { Usage;
    /// The prompt.
    "prompt_tokens": Tokens = |it| it.prompt,
    /// Of it, read from the cache.
    "cache_read_tokens": Tokens = |it| it.cache_read,
    /// Of it, written to the cache.
    "cache_write_tokens": Tokens = |it| it.cache_write,
    /// Of it, plain input.
    "uncached_tokens": Tokens = |it| it.uncached,
    /// What the model wrote.
    "output_tokens": Tokens = |it| it.output,
}

impl Usage {
    /// Returns how much of the prompt stands in the cache after the request.
    pub fn cached(&self) -> Tokens {
        self.cache_read.saturating_add(self.cache_write)
    }

    /// Returns the tokens written to the cache by lifetime class (short, long): as recorded, else all in the
    /// class that the harness requests.
    pub fn writes(&self, asked: Option<TtlClass>) -> [Tokens; 2] {
        let usual = if asked == Some(TtlClass::Long) { self.cache_write } else { 0 };
        let long = self.cache_write_long.unwrap_or(usual).min(self.cache_write);
        [self.cache_write - long, long]
    }
}

impl Spine {
    /// Returns a tool's name and capability, by index.
    pub fn names(&self, tool: usize) -> impl Iterator<Item = &str> {
        let does = self.capabilities.get(tool).copied().flatten();
        self.tools.get_index(tool).map(String::as_str).into_iter().chain(does.map(Capability::name))
    }

    /// Returns whether a tool matches one of several names.
    pub fn is_one_of(&self, tool: u16, names: &[String]) -> bool {
        self.names(usize::from(tool)).any(|name| names.iter().any(|it| it == name))
    }

    /// Returns what a session's draws are made from.
    pub fn draws(&self, session: &Session) -> u64 {
        if let Some(draws) = session.draws {
            return draws;
        }
        if !session.id.is_empty() {
            return xxh3_64(session.id.as_bytes());
        }
        let turns = self.turns.get(session.turns.start as usize..session.turns.end as usize);
        let items = turns.unwrap_or_default().iter().flat_map(|it| it.items.clone());
        let rows = items.filter_map(|it| self.items.get(it as usize));
        let digests: Vec<u8> = rows.flat_map(|it| it.digest.to_le_bytes()).collect();
        xxh3_64(&digests)
    }

    /// Returns whether a result is larger than its call, so that it contributed something.
    pub fn brings(&self, result: ItemIx) -> bool {
        let Some(item) = self.items.get(result as usize) else { return false };
        self.items.get(item.pair as usize).is_none_or(|call| item.raw > call.raw)
    }

    /// Returns the step before whose request a moment is, or the next step.
    pub fn step_at(&self, at: When) -> StepIx {
        let row = self.turns.get(at.turn_ix as usize);
        let end = ix(self.steps.len());
        match (at.phase, row) {
            (Phase::Request(step), _) => step,
            (Phase::SessionStart | Phase::TurnOpen | Phase::TurnStart, Some(row)) => row.steps.start,
            (Phase::TurnEnd | Phase::SessionEnd, Some(row)) => row.steps.end,
            (_, None) => end,
        }
    }
}

impl Timeline {
    /// Returns the tokens after the last breakpoint of a step's request, if recorded.
    #[inline]
    pub fn tail(&self, step: StepIx) -> Tokens {
        let tails = self.recorded.as_ref().map_or(&[] as &[Tokens], |it| it.tails.as_slice());
        tails.get(step as usize).copied().unwrap_or(0)
    }

    /// Returns the model that was billed for the most input; of equal ones, the earlier.
    pub fn main_model(&self) -> Option<&RecordedModel> {
        main_model(&self.models)
    }

    /// Returns whether it is the session of a sub-agent.
    pub fn is_of_agent(&self) -> bool {
        self.spine.sessions.first().is_some_and(|it| it.parent.is_some())
    }

    /// Returns when its last request started, in milliseconds since 1970, if the recording says so.
    pub fn last_ms(&self) -> Option<i64> {
        let last = self.spine.steps.last().map_or(0, |it| it.at_ms);
        self.began_ms.map(|it| it.saturating_add(last))
    }

    /// Returns what the harness sends after a turn, in order.
    pub fn side_requests_after(&self, turn_ix: TurnIx) -> &[SideRequest] {
        let from = self.side_requests.partition_point(|it| it.turn_ix < turn_ix);
        let n = self.side_requests[from..].iter().take_while(|it| it.turn_ix == turn_ix).count();
        &self.side_requests[from..from + n]
    }

    /// Returns the tokens of the front that other sessions send, too.
    pub fn shared_tokens(&self) -> Tokens {
        let end = self.shared.as_ref().map_or(0, |it| it.end as usize);
        self.spine.items.iter().take(end).map(|it| Tokens::from(it.raw)).sum()
    }

    /// Returns the tokens of tools and system prompt at the front of its prompts.
    pub fn front_tokens(&self) -> Tokens {
        let stable = &self.spine.items[..self.spine.n_stable as usize];
        let front = stable.iter().take_while(|it| matches!(it.kind, Kind::System | Kind::ToolSchema));
        front.map(|it| Tokens::from(it.raw)).sum()
    }

    /// Returns the tokens of the first session's stable prefix.
    pub fn stable_tokens(&self) -> Tokens {
        self.spine.items[..self.spine.n_stable as usize].iter().map(|it| Tokens::from(it.raw)).sum()
    }
}

/// Returns the model that was billed for the most input; of equal ones, the earlier.
pub fn main_model(models: &[RecordedModel]) -> Option<&RecordedModel> {
    models.iter().rev().max_by_key(|it| (it.input, it.requests))
}

#[cfg(test)]
mod tests {
    use crate::*;

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
