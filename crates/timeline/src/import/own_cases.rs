//! What a session's bills show of odds that no log tells beforehand, counted while the index scans it.

use super::harness::{BehindOdds, OwnKinds};
use crate::import::prelude::*;
use crate::own::OwnCounts;

/// The shorter lifetime of entries, in milliseconds: five minutes.
const SHORT_MS: i64 = 300_000;

/// The longer one: an hour.
const LONG_MS: i64 = 3_600_000;

/// What the user's side said since the last reply.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SaidSince {
    /// The user typed something.
    pub(super) is_typed: bool,
    /// Something that may have broken the prompt: a summary, a command, another model.
    pub(super) is_told: bool,
    /// A skill was expanded.
    pub(super) has_skill: bool,
}

/// A request that was billed.
#[derive(Clone, Copy, Debug)]
struct BilledBefore {
    usage: Usage,
    at_ms: i64,
    /// Whether the entries that it left were asked to live for an hour.
    is_long: bool,
}

/// Counts the cases of a session, request by request.
#[derive(Default)]
pub(super) struct OwnCases {
    pub(super) counts: OwnCounts,
    pub(super) since: SaidSince,
    before: Option<BilledBefore>,
    /// What is counted of its version; not known before the first request.
    kinds: Option<Option<OwnKinds>>,
    /// The model that answered last.
    model: String,
    /// Whether the turn has a skill, or a call that makes some versions rewrite the messages.
    pub(super) has_skill: bool,
}

impl OwnCases {
    /// Returns whether skills, and calls like them, change what is counted.
    pub(super) fn asks_for_calls(&self) -> bool {
        self.kinds.iter().flatten().any(|it| it.skills_rewrite) && !self.has_skill
    }

    /// Counts a request of a harness, given when the reply before it ended.
    pub(super) fn billed(
        &mut self,
        (harness, version): (&str, Version),
        model: &str,
        usage: Usage,
        [ended_ms, at_ms]: [i64; 2],
    ) {
        let since = std::mem::take(&mut self.since);
        let before = self.before.take();
        let is_long = match usage.cache_write_long {
            Some(long) if usage.cache_write > 0 => long > 0,
            _ => before.is_some_and(|it| it.is_long),
        };
        self.before = Some(BilledBefore { usage, at_ms, is_long });
        let is_other_model = self.model != model;
        if is_other_model {
            model.clone_into(&mut self.model);
        }
        // What a skill breaks: the requests of its turn, and the first of the next.
        let is_after_skill = self.has_skill || since.has_skill;
        self.has_skill = since.has_skill || self.has_skill && !since.is_typed;
        let kinds = self.kinds.get_or_insert_with(|| HarnessRules::own_kinds(harness, version));
        let (Some(kinds), Some(before)) = (kinds, before) else { return };
        // A prompt that is shorter than what was cached has lost something.
        if kinds.skills_rewrite && is_after_skill {
            return;
        }
        if is_other_model
            || since.is_told
            || before.usage.cached() == 0
            || usage.prompt < before.usage.cached()
        {
            return;
        }
        // What it shows that follows another one, after a pause, and so long after that one started.
        let (counts, is_typed) = (&mut self.counts, since.is_typed);
        let (pause_ms, after_ms) = (at_ms - ended_ms, at_ms - before.at_ms);
        let (read, cached) = (usage.cache_read, before.usage.cached());
        let is_behind = (before.usage.cache_read..cached).contains(&read);
        let is_within =
            |it: &BehindOdds| u64::try_from(after_ms).is_ok_and(|after| after < it.started_within.0);
        let class = kinds.declared.behind.iter().position(is_within);
        let class = class.filter(|_| before.usage.cache_read > 0 && before.usage.cache_write > 0);
        if let Some(nth) = class {
            counts.behind_at(kinds.declared.behind.len());
            counts.behind[nth].count(is_behind);
        }
        let has_fallen = read < kinds.declared.fallen_below.share_of(cached);
        let lifetime_ms = if before.is_long { LONG_MS } else { SHORT_MS };
        if kinds.declared.turn.is_some() && is_typed && pause_ms <= lifetime_ms {
            counts.turn.count(has_fallen && !(class.is_some() && is_behind));
        }
        if kinds.declared.hour_missed.is_some()
            && before.is_long
            && pause_ms > SHORT_MS
            && pause_ms <= LONG_MS
        {
            counts.hour_missed.count(has_fallen);
        }
    }
}
