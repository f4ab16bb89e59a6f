//! What missed the cache although an earlier request had put it there, by recorded bills alone, and why as far as the log says.

use crate::prelude::*;

use super::carried::{CarriedItems, RatesByPlace, usage};
use ctxsim_input::TtlClass;
use ctxsim_timeline::import::behind_within_ms;
use ctxsim_timeline::row::columns;
use ctxsim_timeline::{Diagnosis, Event, Occasion};

/// Fewer tokens are no miss: providers cache no shorter prefixes, and some read in steps.
pub const MISS_MIN: Tokens = 1_024;

/// Why a prompt's front was not read, by who knows it best: what the provider or the harness says in the log, then what the session's
/// content shows, then what its times allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissCause {
    /// The session began, and nobody had left tools and system prompt in the cache.
    Began,
    /// Its entries had expired.
    Paused,
    /// The harness had compacted or cleared the history.
    Compacted,
    /// Part of the history left the prompt: the user went back, reasoning was dropped, or the prompt is smaller and nothing says why.
    Cut,
    /// The session was left and taken up again while its entries lived.
    Resumed,
    /// Another model answered, which has a cache of its own.
    Model,
    /// A skill or a slash command was expanded.
    Skill,
    /// The tools had changed.
    Tools,
    /// The tools were those of the request before in another order or spelling.
    ToolOrder,
    /// The system prompt had changed.
    System,
    /// Effort, thinking, tool choice or another setting of the request had changed.
    Setting,
    /// A memory file, a reminder or another earlier message had changed.
    Messages,
    /// The provider says that it no longer knew the request before, although its entries should have been alive.
    Forgotten,
    /// What was read ends exactly where the request before had read to: what that one wrote was not there yet.
    Behind,
    /// Nothing says why.
    Untold,
}

/// Settings of which something else tells what their change means.
const TOLD_OTHERWISE: [Setting; 3] = [Setting::Model, Setting::System, Setting::Preamble];

impl MissCause {
    /// Returns it in a few words, which every report uses.
    pub fn about(self) -> &'static str {
        match self {
            Self::Began => "a session began (tools and system prompt)",
            Self::Paused => "a pause outlived the cache",
            Self::Compacted => "the history was compacted or cleared",
            Self::Cut => "part of the history left the prompt",
            Self::Resumed => "the session was resumed",
            Self::Model => "another model answered",
            Self::Skill => "a skill or slash command was expanded",
            Self::Tools => "the tools changed",
            Self::ToolOrder => "the same tools came in another order or spelling",
            Self::System => "the system prompt changed",
            Self::Setting => "effort, thinking, tool choice or another setting changed",
            Self::Messages => "earlier messages changed",
            Self::Forgotten => "the provider had dropped it from its cache",
            Self::Behind => "what the request before wrote was not there yet",
            Self::Untold => "not told: nothing in the log says why",
        }
    }
}

/// A request whose prompt was cached farther than it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    pub step: StepIx,
    /// Why it was not read.
    pub cause: MissCause,
    /// Tokens that were not read.
    pub tokens: Tokens,
    /// What they cost beyond a read, in US dollars.
    pub usd: f64,
}

columns! { Miss;
    /// Why it was not read.
    "because": Text = |it| it.cause.about(),
    /// Tokens that were not read.
    "tokens": Tokens = |it| it.tokens,
    /// What they cost beyond a read.
    "usd": Usd = |it| it.usd,
}

/// Finds what the request of a step missed, if it did.
pub fn missed_at(timeline: &Timeline, profile: &Profile, step: StepIx) -> Option<Miss> {
    all_misses(timeline, profile).into_iter().find(|it| it.step == step)
}

/// Finds the misses of a session at a profile's prices and lifetimes, in order; none where its requests have no bills of their own.
pub fn all_misses(timeline: &Timeline, profile: &Profile) -> Vec<Miss> {
    if timeline.recorded.as_ref().is_none_or(|it| it.is_spread) {
        return Vec::new();
    }
    let prices = &profile.prices;
    let spine = &timeline.spine;
    let mut all = Vec::new();
    let mut window = CarriedItems::new(timeline);
    let mut before: Option<(StepIx, Usage)> = None;
    for (session, row) in spine.sessions.iter().enumerate() {
        window.begin(session);
        for step in row.turns.clone().flat_map(|turn| spine.turns[turn as usize].steps.clone()) {
            // What was in the prompt before and still is.
            let known = window.next;
            window.reach(step);
            let Some(usage) = usage(timeline, step) else { continue };
            let sent = window.tokens_before(if before.is_none() { known.max(spine.n_stable) } else { known });
            let cached = before.map_or(sent, |(_, it)| sent.min(cached(it, prices))).min(usage.prompt);
            let tokens = cached.saturating_sub(usage.cache_read);
            if tokens >= MISS_MIN {
                let rates = RatesByPlace::new(timeline, prices, usage);
                let paid = rates.cost(usage.cache_read, cached);
                let usd = paid - tokens as f64 * prices.usual().read().usd();
                all.push(Miss { step, cause: cause(timeline, &profile.cache, before, step), tokens, usd });
            }
            before = Some((step, usage));
        }
    }
    all
}

/// Returns the steps whose prompts were sent again but for their front, though nothing in the timeline says so: what the harness did there, it
/// would have done under another setting, too.
pub fn rewrites_not_foreseen(timeline: &Timeline, profile: &Profile) -> Vec<StepIx> {
    /// A read that reaches little farther than the front ends there.
    use MissCause::{Began, Behind, Compacted, Cut, Model, Paused};
    const REACH: f64 = 1.2;
    let front = timeline.shared.as_ref().map_or(0, |it| it.end);
    let front: Tokens = timeline.spine.items.iter().take(front as usize).map(|it| Tokens::from(it.raw)).sum();
    let is_known =
        |step| events(timeline, step..step + 1).iter().any(|it| matches!(it.kind, EventKind::Change(..)));
    let ends_at_front =
        |step: StepIx| usage(timeline, step).is_some_and(|it| it.cache_read as f64 <= REACH * front as f64);
    // Neither pauses nor the harness's own cuts change prompts whatever is set.
    let is_of_habit = |it: &Miss| !matches!(it.cause, Began | Paused | Compacted | Cut | Model | Behind);
    let misses = all_misses(timeline, profile).into_iter().filter(is_of_habit);
    misses.map(|it| it.step).filter(|it| ends_at_front(*it) && !is_known(*it)).collect()
}

/// Returns the events before the requests of some steps.
fn events(timeline: &Timeline, steps: Range<StepIx>) -> &[Event] {
    let [from, to] = [steps.start, steps.end]
        .map(|step| timeline.events.partition_point(|it| timeline.spine.step_at(it.at) < step));
    &timeline.events[from..to]
}

/// Returns how many tokens a request left in the cache: all of its prompt where writes are not billed.
fn cached(usage: Usage, prices: &Prices) -> Tokens {
    match prices.usual().write(0) {
        Some(_) => usage.cache_read + usage.cache_write,
        None => usage.prompt,
    }
}

/// Returns why the prompt of a step's request was not read as far as the request before had it cached.
pub(crate) fn cause_of(timeline: &Timeline, rules: &CacheRules, step: StepIx) -> MissCause {
    let before = (0..step).rev().find_map(|it| Some((it, usage(timeline, it)?)));
    cause(timeline, rules, before, step)
}

/// Returns why a request's prompt was not read: what the log has between it and the request before.
fn cause(
    timeline: &Timeline,
    rules: &CacheRules,
    before: Option<(StepIx, Usage)>,
    step: StepIx,
) -> MissCause {
    use MissCause::{Compacted, Cut, Forgotten, Messages, Paused, Resumed, Skill};
    let Some((last, usage)) = before else { return MissCause::Began };
    let between = Between { timeline, last, step };
    let shown = between.shown().or_else(|| between.has_paused(rules, usage).then_some(MissCause::Paused));
    match between.diagnosis() {
        Some(Diagnosis::Model) => MissCause::Model,
        Some(Diagnosis::System) => MissCause::System,
        Some(Diagnosis::Tools) => MissCause::Tools,
        // What changed them or let them expire, where the log shows that, and no other cause.
        Some(Diagnosis::Messages) => {
            shown.filter(|it| matches!(it, Compacted | Cut | Skill | Resumed)).unwrap_or(Messages)
        }
        Some(Diagnosis::Forgotten) => {
            shown.filter(|it| matches!(it, Paused | Compacted | Cut | Resumed)).unwrap_or(Forgotten)
        }
        None => shown
            .or_else(|| between.changed())
            .or_else(|| between.is_behind(usage).then_some(MissCause::Behind))
            .unwrap_or(MissCause::Untold),
    }
}

/// What the log has between a request and the one before it.
struct Between<'t> {
    timeline: &'t Timeline,
    last: StepIx,
    step: StepIx,
}

impl Between<'_> {
    /// Returns whether an event is in it.
    fn found(&self, is: impl Fn(&EventKind) -> bool) -> bool {
        events(self.timeline, self.last + 1..self.step + 1).iter().any(|it| is(&it.kind))
    }

    /// Returns what the log tells in it besides messages, each with the step of its request.
    fn occasions(&self) -> &[(StepIx, Occasion)] {
        let all = self.timeline.recorded.as_ref().map_or(&[] as &[_], |it| &it.occasions);
        let [from, to] = [self.last, self.step].map(|step| all.partition_point(|it| it.0 <= step));
        &all[from..to]
    }

    fn has(&self, occasion: Occasion) -> bool {
        self.occasions().iter().any(|it| it.1 == occasion)
    }

    /// Returns why the provider says that it did not read all.
    fn diagnosis(&self) -> Option<Diagnosis> {
        self.occasions().iter().find_map(|it| match it {
            (step, Occasion::Diagnosed(diagnosis)) if *step == self.step => Some(*diagnosis),
            _ => None,
        })
    }

    /// Returns what the harness's marks and the session's content show.
    fn shown(&self) -> Option<MissCause> {
        if self.found(|it| matches!(it, EventKind::Change(Setting::Model, _))) {
            return Some(MissCause::Model);
        }
        if self.has(Occasion::Removed) || self.found(|it| matches!(it, EventKind::Compaction(_))) {
            return Some(MissCause::Compacted);
        }
        // A prompt that shrank without a mark when a session was resumed is one that was resumed.
        if !self.has(Occasion::Restart) && self.found(|it| matches!(it, EventKind::Reset(_))) {
            return Some(MissCause::Cut);
        }
        // The turn before may have had it.
        let foreseen = self.timeline.odds.as_ref().and_then(|it| it.rewrite(self.step));
        if self.has(Occasion::Skill) || foreseen.is_some_and(|it| it.because.is_of_skill()) {
            return Some(MissCause::Skill);
        }
        if self.has(Occasion::ToolsReordered) {
            return Some(MissCause::ToolOrder);
        }
        if self.has(Occasion::ToolsFound) || self.has(Occasion::RemoteControl) {
            return Some(MissCause::Tools);
        }
        self.changed_front().or_else(|| {
            let is_set =
                |it: &EventKind| matches!(it, EventKind::Change(it, _) if !TOLD_OTHERWISE.contains(it));
            self.found(is_set).then_some(MissCause::Setting)
        })
    }

    /// Returns what changed in front of all messages.
    fn changed_front(&self) -> Option<MissCause> {
        let items = &self.timeline.spine.items;
        let has = |kind: Kind| {
            self.found(|it| match it {
                EventKind::Front(front) => front.iter().any(|it| items[it.item as usize].kind == kind),
                _ => false,
            })
        };
        match (has(Kind::ToolSchema), has(Kind::System)) {
            (true, _) => Some(MissCause::Tools),
            (false, true) => Some(MissCause::System),
            _ => None,
        }
    }

    /// Returns whether its request started so shortly after the one before that what that one wrote may not be there yet, and read to where that
    /// one had, and no farther.
    fn is_behind(&self, before: Usage) -> bool {
        let read = usage(self.timeline, self.step).map_or(0, |it| it.cache_read);
        let started = |step: StepIx| self.timeline.spine.steps[step as usize].at_ms;
        let after_ms = started(self.step).saturating_sub(started(self.last));
        read > 0 && read == before.cache_read && after_ms < behind_within_ms() as i64
    }

    /// Returns whether more time passed than the entries of the request before live.
    fn has_paused(&self, rules: &CacheRules, before: Usage) -> bool {
        let steps = &self.timeline.spine.steps;
        let (last, own) = (&steps[self.last as usize], &steps[self.step as usize]);
        let [_, long] = before.writes(self.timeline.harness.ttl);
        let class = if long > 0 { TtlClass::Long } else { TtlClass::Short };
        let paused_ms = u64::try_from(own.at_ms - last.end_ms.max(last.at_ms)).unwrap_or(0);
        rules.life_ms(class).is_some_and(|it| paused_ms > it)
    }

    /// Returns what the rules of its harness say that it did.
    fn changed(&self) -> Option<MissCause> {
        if self.has(Occasion::Restart) {
            return Some(MissCause::Resumed);
        }
        self.found(|it| matches!(it, EventKind::Change(..))).then_some(MissCause::Messages)
    }
}
