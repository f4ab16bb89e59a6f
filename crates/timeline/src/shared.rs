//! The front of a session's prompts that other sessions of its user send, too: tools and system prompt.

use crate::prelude::*;

use super::own::OwnCounts;
use super::{Event, EventKind, ItemIx, Phase, StepIx, Timeline, TurnIx, When};
use ctxsim_base::order::InOrder as _;

/// The front of a session's prompts that other sessions of its user send, too. No policy decides when they do, so this is a fact of
/// the load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    /// Its items are those before this one.
    pub end: ItemIx,
    /// When another session last sent it before a request: the request's step, and milliseconds since the timeline began, which
    /// are negative before that. In order, at most one a step.
    pub sent: Vec<(StepIx, i64)>,
    /// A longer front, which ends before an item, and when another session last sent it before the first request: what prompts of siblings
    /// have in common beyond tools and system prompt, by what they say and not by what any policy makes of it.
    pub sibling: Option<(ItemIx, i64)>,
    /// How probable it is that a session that nobody recorded had left it before the first request; nothing where the one that
    /// left it is known.
    pub chance: Option<Chance>,
}

impl Shared {
    /// Returns when another session last sent it before the first request, in milliseconds before that, if one is known.
    pub fn sent_before_ms(&self) -> Option<i64> {
        self.sent.first().filter(|it| it.0 == 0).map(|first| first.1.saturating_neg())
    }

    /// Says what others share, of so many tokens, in a sentence.
    pub fn sentence(&self, tokens: Tokens) -> String {
        let sent = self
            .sent_before_ms()
            .map(|it| format!("{:.1} minutes before this one began", it as f64 / 60_000.0));
        match (sent, self.chance) {
            (Some(sent), None) => {
                format!("Another session sent the same tools and system prompt ({tokens} tokens) {sent}.")
            }
            (sent, chance) => {
                let last = sent.map_or_else(String::new, |it| format!(" (last {it})"));
                format!(
                    "No other session is known to have sent the same tools and system prompt ({tokens} tokens) within their \
                     lifetime{last}; they are in the cache with a probability of {:.3}.",
                    chance.map_or(0.0, |it| it.value)
                )
            }
        }
    }
}

/// A probability and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// The probability.
    pub value: f64,
    /// The ends of its interval.
    pub interval: [f64; 2],
    /// The probability as declared, whatever a user's own sessions make of it.
    pub declared: f64,
}

impl Chance {
    /// What never happens.
    pub const NONE: Self = Self { value: 0.0, interval: [0.0; 2], declared: 0.0 };

    /// Returns a probability that is declared without doubt.
    pub fn certain(value: f64) -> Self {
        Self { value, interval: [value; 2], declared: value }
    }
}

/// What other sessions of the same user tell of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Neighbours {
    /// Tokens of tools and system prompt, as the reads of other sessions show them.
    pub front_tokens: Option<Tokens>,
    /// When one of them last answered before the first request and before each that follows a pause, in milliseconds since 1970.
    pub sent_ms: Vec<i64>,
    /// When another of the same parent was last answered that had been started with the same message, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling_ms: Option<i64>,
    /// When replies ended that are billed in the log of another session, in milliseconds since 1970, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub billed_ms: Vec<i64>,
    /// How probable it is that a session that nobody recorded had left them; nothing where a known one did.
    pub chance: Option<Chance>,
    /// What was counted in those of them that had ended when it began.
    #[serde(default, skip_serializing_if = "OwnCounts::is_silent")]
    pub own: OwnCounts,
}

impl Timeline {
    /// Takes what other sessions tell of it and of its odds, whose front ends before an item, and says so among its assumptions.
    pub(super) fn hear(&mut self, neighbours: &Neighbours, end: ItemIx) {
        self.leave_bills(&neighbours.billed_ms);
        self.shared = neighbours.of(self, end);
        let tokens = self.shared_tokens();
        let (own, mut said) = (&neighbours.own, Vec::new());
        if let Some(shared) = &mut self.shared {
            let what = "tools and system prompt are in the cache though no known session left them";
            shared.chance = own.narrow(shared.chance, own.front, what, &mut said);
            self.assumptions.push(shared.sentence(tokens));
        }
        said.extend(self.odds.iter_mut().flat_map(|it| own.narrow_all(it)));
        self.assumptions.append(&mut said);
    }

    /// Leaves the bills of replies that ended at some moments to the sessions whose logs hold them, too.
    fn leave_bills(&mut self, ended_ms: &[i64]) {
        let (Some(recorded), Some(began_ms)) = (&mut self.recorded, self.began_ms) else { return };
        let mut n_left = 0;
        for (nth, (step, usage)) in self.spine.steps.iter().zip(&mut recorded.usage).enumerate() {
            if ended_ms.binary_search(&began_ms.saturating_add(step.end_ms)).is_ok() {
                n_left += usize::from(usage.take().is_some());
                recorded.costs.get_mut(nth).map(Option::take);
            }
        }
        if n_left > 0 {
            let what = "replies that another session's log holds, too, and that are billed there";
            self.assumptions.push(format!("{what}: {n_left}"));
        }
    }

    /// Returns it with its front in the cache before the first request, or not, as the first bill says: a question about what else a billed
    /// session would have cost does not ask how probable that was. `None` where no bill says so, or no front is shared.
    pub fn begun_as_billed(&self) -> Option<Self> {
        let recorded = self.recorded.as_ref().filter(|it| !it.is_spread)?;
        let read = recorded.usage.first().copied().flatten()?.cache_read;
        let mut shared = self.shared.clone()?;
        shared.chance = None;
        shared.sent.retain(|it| it.0 > 0);
        if read > 0 {
            // Just before: it lives on whatever lifetime is asked for, because others still send it.
            shared.sent.insert(0, (0, -1));
        }
        Some(Self { shared: Some(shared), ..self.clone() })
    }

    /// Adds that the harness wrote what stands before the messages anew, before the requests of some steps, in order.
    pub fn rewritten_before(&mut self, steps: &[StepIx]) {
        /// Numbers of changes that no log counts up to.
        const FIRST: u32 = 1 << 30;
        let turn_of =
            |step: StepIx| self.spine.turns.partition_point(|it| it.steps.start <= step).saturating_sub(1);
        let event = |(step, nth): (&StepIx, u32)| Event {
            at: When { turn_ix: turn_of(*step) as TurnIx, phase: Phase::Request(*step) },
            kind: EventKind::Change(Setting::Preamble, FIRST + nth),
        };
        let events = steps.iter().zip(0..).map(event).collect::<Vec<_>>();
        self.events.extend(events);
        self.events.order_by_key(|it| it.at);
    }
}

impl Neighbours {
    /// Returns whether they tell nothing.
    pub fn is_silent(&self) -> bool {
        !self.tell_front() && self.own.is_silent() && self.billed_ms.is_empty()
    }

    /// Returns whether they tell of tools and system prompt.
    pub(super) fn tell_front(&self) -> bool {
        !self.sent_ms.is_empty() || self.chance.is_some() || self.front_tokens.is_some()
    }

    /// Returns what a timeline hears of them, whose front ends before an item; nothing where it has none, or they tell nothing.
    fn of(&self, timeline: &Timeline, end: ItemIx) -> Option<Shared> {
        if end == 0 || !self.tell_front() {
            return None;
        }
        let began_ms = timeline.began_ms.unwrap_or_default();
        let mut before_ms = i64::MIN;
        let sent = timeline.spine.steps.iter().enumerate().filter_map(|(step, row)| {
            let at_ms = began_ms.saturating_add(row.at_ms);
            let after_ms = std::mem::replace(&mut before_ms, at_ms);
            let answered = self.sent_ms.partition_point(|it| *it <= at_ms);
            let sent_ms = self.sent_ms[..answered].last().copied().filter(|it| *it > after_ms)?;
            Some((ix(step), sent_ms.saturating_sub(began_ms)))
        });
        let started_with =
            timeline.spine.turns.first().filter(|it| !it.user.is_empty()).map(|it| it.user.start + 1);
        let sibling = started_with.zip(self.sibling_ms.map(|it| it.saturating_sub(began_ms)));
        Some(Shared { end, sent: sent.collect(), sibling, chance: self.chance })
    }
}
