//! What needs cost, from what stands of their source.

use ctxsim::input::policy::ShownAs;
use ctxsim::input::{CacheRules, Policy, RecoverySpec, Size};
use ctxsim::ledger::{ExploredRow, NeedRow, TokenUse};
use ctxsim::recovery::End;
use ctxsim::timeline::{Item, ItemNeed, Kind, Level, Need, Preserve, Timeline, TurnEvidence};

use super::history::{History, Slot, Stands};
use super::size::{Env, World};

/// A turn whose evidence is needed, or else a result.
pub(super) type Source = (bool, u32);

/// Meets a need, or recovers it, or fails.
pub(super) fn meet(
    timeline: &Timeline,
    policy: &Policy,
    world: &World,
    history: &History<'_>,
    due_in: u32,
    need: &Need,
) -> NeedRow {
    let evidence = &history.evidence[need.source as usize];
    let of_source = |it: &usize| *it >= history.n_stable() && history.item(*it).turn_ix == need.source;
    let slots: Vec<usize> = (0..history.slots.len()).filter(of_source).collect();
    let is_behind = slots.iter().any(|it| history.slots[*it].view.is_behind());
    let count = |holds: &dyn Fn(usize, &Slot) -> bool| {
        let results = slots.iter().filter(|it| history.item(**it).kind == Kind::ToolResult);
        results.filter(|it| holds(**it, &history.slots[**it])).count()
    };
    // What a fold tells of stands as it was when it was folded.
    let shown = |slot: &Slot| matches!(slot.view.stands, Stands::Shown | Stands::Told | Stands::Fold(_));
    let share = |n: usize, of: u32| if is_behind || of == 0 { 0.0 } else { n as f64 / f64::from(of) };
    let n_handles = count(&|it, slot| slot.view.stands != Stands::Dropped && history.item(it).handle > 0);
    let is_working = |it: usize| is_exact(history.item(it));
    let met = match need.level {
        Level::None | Level::GlobalConclusion => 1.0,
        Level::ContinuationHandle => f64::from(u8::from(n_handles > 0)),
        Level::LocalDetail => {
            let n_raw = count(&|_, slot| shown(slot) && slot.view.rendition == ShownAs::Raw);
            f64::from(u8::from(!is_behind && n_raw > 0))
        }
        Level::ExactEvidence => {
            share(count(&|it, slot| shown(slot) && slot.view.exact && is_working(it)), evidence.n_working)
        }
        Level::RawContent => {
            let is_full = |it: usize, slot: &Slot| slot.last_tokens >= u64::from(history.item(it).raw);
            share(count(&|it, slot| shown(slot) && is_full(it, slot)), evidence.n_results)
        }
    };
    settle(timeline, policy, world, due_in, need, evidence, met, n_handles)
}

/// Returns whether needs for exact evidence of its turn are for an item: its call says so, or no call of the turn says anything.
pub(super) fn is_exact(item: &Item) -> bool {
    matches!(item.preserve, Preserve::WorkingEvidence | Preserve::Unset)
}

/// Meets what one result is needed for, or recovers it, or fails.
pub(super) fn meet_item(
    timeline: &Timeline,
    policy: &Policy,
    world: &World,
    history: &History<'_>,
    due_in: u32,
    need: &ItemNeed,
) -> NeedRow {
    let index = history.place_of(need.inferred.item).unwrap();
    let (slot, item) = (&history.slots[index].view, history.item(index));
    let is_told = |slot: &Stands| matches!(slot, Stands::Shown | Stands::Told | Stands::Fold(_));
    let is_whole = |it: usize| {
        let slot = &history.slots[it].view;
        is_told(&slot.stands) && slot.rendition == ShownAs::Raw
    };
    let is_shown = is_told(&slot.stands);
    let is_exact = is_shown && (slot.exact || matches!(slot.rendition, ShownAs::Raw | ShownAs::Exact));
    let mentions = timeline.needs.mentions(need).iter().filter_map(|it| history.place_of(*it));
    let mentions = mentions.filter(|it| is_whole(*it)).count();
    let own = slot.stands != Stands::Dropped && item.handle > 0;
    let n_handles = usize::from(own) + usize::from(is_whole(index)) + mentions;
    let holds = match need.need.level {
        Level::None | Level::GlobalConclusion => true,
        Level::ContinuationHandle => n_handles > 0,
        Level::LocalDetail => is_whole(index),
        Level::ExactEvidence => is_exact,
        Level::RawContent => {
            is_whole(index) || slot.stands == Stands::Shown && slot.tokens >= u64::from(item.raw)
        }
    };
    let met = f64::from(u8::from(holds));
    let row = settle(timeline, policy, world, due_in, &need.need, &need.evidence, met, n_handles);
    NeedRow { inferred: Some(need.inferred), ..row }
}

/// Says what a need comes to that is met by a share.
#[expect(clippy::too_many_arguments, reason = "the naive simulator has no state to keep them in")]
fn settle(
    timeline: &Timeline,
    policy: &Policy,
    world: &World,
    due_in: u32,
    need: &Need,
    evidence: &TurnEvidence,
    met: f64,
    n_handles: usize,
) -> NeedRow {
    let mut row = NeedRow {
        turn_ix: due_in,
        level: need.level,
        weight: need.weight,
        met,
        calls: 0.0,
        repeats: 0.0,
        fetched: 0,
        failed: 0.0,
        ..NeedRow::default()
    };
    let unmet = need.weight * (1.0 - met);
    if unmet <= 0.0 {
        return row;
    }
    let (mut fetched, mut attempts) =
        (need.recover_tokens.unwrap_or_else(|| evidence.recover_tokens(need.level)), 1);
    if evidence.is_single {
        fetched = fetched.min(timeline.refetch.terms(End::Value).fetched_max);
    }
    match policy.recovery() {
        RecoverySpec::Pinned if need.level == Level::RawContent => {
            fetched = evidence.file_range.unwrap_or(fetched);
        }
        RecoverySpec::NaiveReread { limit, fits }
            if evidence.file > 0 && need.level >= Level::LocalDetail =>
        {
            fetched = evidence.file;
            let beside = u64::from(fetched) + timeline.stable_tokens();
            attempts = if beside <= world.size(fits.as_ref().unwrap_or(&Size::Limit), Env::default()) {
                1
            } else {
                *limit
            };
        }
        _ => {}
    }
    let is_lost = evidence.has_handle && n_handles == 0;
    if need.level == Level::ContinuationHandle || fetched == 0 || is_lost {
        row.failed = unmet;
    } else {
        row.calls = unmet * attempts as f64;
        row.repeats = unmet * (attempts - 1) as f64;
        row.fetched = u64::from(fetched);
    }
    row
}

/// A call that was expected.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// What was needed; `None` for what was looked up anew.
    source: Option<Source>,
    probability: f64,
    parts: u64,
    level: Level,
    host: Option<(usize, u64)>,
    /// The first slot where a result may come that takes the place of the host.
    unsettled_from: Option<usize>,
}

impl Expected {
    fn is_carried(&self, history: &History<'_>) -> bool {
        self.host.is_none_or(|(slot, tokens)| {
            let view = &history.slots[slot].view;
            view.is_visible() && view.tokens >= tokens
        })
    }
}

/// Moves calls beside the first result that came after the newest of them and is shown.
fn rehost(calls: &mut [Expected], history: &History<'_>) {
    let Some(from) = calls.iter().filter_map(|it| it.unsettled_from).max() else { return };
    let is_result =
        |it: &usize| history.item(*it).kind == Kind::ToolResult && history.slots[*it].view.is_visible();
    let Some(host) = (from..history.slots.len()).find(is_result) else { return };
    for call in calls.iter_mut().filter(|it| it.unsettled_from.is_some()) {
        if call.is_carried(history) {
            call.host = Some((host, history.slots[host].view.tokens));
        }
        call.unsettled_from = None;
    }
}

/// What is carried of all calls, in tokens.
pub(super) fn carried(calls: &mut [Expected], history: &History<'_>) -> f64 {
    rehost(calls, history);
    calls.iter().filter(|it| it.is_carried(history)).map(|it| it.parts).sum::<u64>() as f64 / 1_048_576.0
}

/// The same of what was fetched for needs, and of what was looked up anew.
pub(super) fn carried_apart(calls: &mut [Expected], history: &History<'_>) -> [f64; 2] {
    rehost(calls, history);
    [true, false].map(|is_needed| {
        let calls = calls.iter().filter(|it| it.source.is_some() == is_needed && it.is_carried(history));
        calls.map(|it| it.parts).sum::<u64>() as f64 / 1_048_576.0
    })
}

/// Says what is expected of a need that the prompt does not meet, by the formula in `recovery/expected.rs`.
pub(super) fn expect(
    timeline: &Timeline,
    rules: &CacheRules,
    history: &History<'_>,
    calls: &mut Vec<Expected>,
    mut row: NeedRow,
    source: Source,
    last_read: u64,
) -> NeedRow {
    if row.met >= 1.0 {
        return row;
    }
    let terms = timeline.refetch.terms(End::Value);
    let stands = carried(calls, history);
    let is_known =
        |it: &&Expected| it.source == Some(source) && it.level >= row.level && it.is_carried(history);
    let left: f64 = calls.iter().filter(is_known).map(|it| 1.0 - it.probability).product();
    row.met = 1.0 - (1.0 - row.met) * left;
    let probability = (row.calls - row.repeats).clamp(0.0, 1.0);
    (row.calls, row.repeats, row.failed) = (row.calls * left, row.repeats * left, row.failed * left);
    if row.calls <= 0.0 {
        return row;
    }
    let brought = row.fetched as f64 + f64::from(terms.call_tokens);
    row.refetched = Some(asked(timeline, rules, history, row.calls, brought, stands, last_read));
    let level = meets(timeline, &row, source);
    let parts = (row.calls * brought * 1_048_576.0).round() as u64;
    calls.push(Expected { source: Some(source), probability, parts, level, ..beside(history) });
    row
}

/// Says what is looked up anew of what is missing, by the formula in `recovery/expected.rs`.
pub(super) fn explore(
    timeline: &Timeline,
    rules: &CacheRules,
    history: &History<'_>,
    expected: &mut Vec<Expected>,
    missing: f64,
    last_read: u64,
) -> Option<ExploredRow> {
    let terms = timeline.refetch.terms(End::Value);
    let stands = carried(expected, history);
    let calls = terms.explores?.calls(missing, (history.tokens() - history.stable_tokens()) as f64 + stands);
    if calls <= 0.0 {
        return None;
    }
    let [mean, _] = terms.explores?.moments();
    let brought = mean + f64::from(terms.call_tokens);
    let tokens = asked(timeline, rules, history, calls, brought, stands, last_read);
    let parts = (calls * brought * 1_048_576.0).round() as u64;
    expected.push(Expected { parts, ..beside(history) });
    Some(ExploredRow { calls, fetched: calls * mean, tokens: Some(tokens), ..ExploredRow::default() })
}

/// How calls are billed.
fn asked(
    timeline: &Timeline,
    rules: &CacheRules,
    history: &History<'_>,
    calls: f64,
    brought: f64,
    stands: f64,
    last_read: u64,
) -> TokenUse<f64> {
    let terms = timeline.refetch.terms(End::Value);
    let resent = calls * terms.own_request * (history.tokens() as f64 + stands);
    let plain = plain(rules);
    let read = match plain {
        CacheRules::None => 0.0,
        CacheRules::ExplicitCache(_) => (calls * terms.own_request * last_read as f64).min(resent),
        _ => resent,
    };
    let mut asked = TokenUse { output: calls * f64::from(terms.call_tokens), ..TokenUse::default() };
    (asked.read, asked.uncached) = (read, resent - read);
    match plain {
        CacheRules::Breakpoints(rules) => {
            asked.write[rules.class(timeline.harness.ttl) as usize] += calls * brought;
        }
        _ => asked.uncached += calls * brought,
    }
    asked
}

/// Begins a call that stands beside the newest result, or else beside what is shown last.
fn beside(history: &History<'_>) -> Expected {
    let results = (history.n_stable()..history.slots.len()).rev();
    let newest = results.into_iter().find(|it| history.item(*it).kind == Kind::ToolResult);
    let is_shown = |it: &usize| history.slots[*it].view.is_visible();
    let host = newest.filter(is_shown).or_else(|| (0..history.slots.len()).rev().find(is_shown));
    Expected {
        source: None,
        probability: 0.0,
        parts: 0,
        level: Level::None,
        host: host.map(|it| (it, history.slots[it].view.tokens)),
        unsettled_from: Some(history.slots.len()),
    }
}

/// What a call meets later: all that was asked of a turn; of a result what it brings of it.
pub(super) fn meets(timeline: &Timeline, row: &NeedRow, source: Source) -> Level {
    match source {
        (true, _) => row.level,
        (false, item) if row.fetched >= u64::from(timeline.spine.items[item as usize].raw) => {
            Level::RawContent
        }
        _ => row.level.max(Level::ExactEvidence),
    }
}

/// The rules behind what holds beside the content of a prompt.
fn plain(rules: &CacheRules) -> &CacheRules {
    match rules {
        CacheRules::Qualified(of) => plain(&of.rules),
        rules => rules,
    }
}
