//! What needs cost, from what stands of their source.

use ctxsim::ledger::NeedRow;
use ctxsim::model::{Policy, Recovery};
use ctxsim::spec::policy::ShownSpec;
use ctxsim::timeline::{ItemNeed, Kind, Level, Need, Preserve, Timeline, TurnEvidence};

use super::history::{History, Slot, Stands};
use super::size::{Env, World};

/// Meets a need, or recovers it, or fails.
pub(super) fn meet(
    timeline: &Timeline,
    policy: &Policy,
    world: &World,
    history: &History<'_>,
    due_in: u32,
    need: &Need,
) -> NeedRow {
    let evidence = &timeline.needs.evidence[need.source as usize];
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
    let is_working = |it: usize| history.item(it).preserve == Preserve::WorkingEvidence;
    let met = match need.level {
        Level::None | Level::GlobalConclusion => 1.0,
        Level::ContinuationHandle => f64::from(u8::from(n_handles > 0)),
        Level::LocalDetail => {
            let n_raw = count(&|_, slot| shown(slot) && slot.view.rendition == ShownSpec::Raw);
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

/// Meets what one result is needed for, or recovers it, or fails.
pub(super) fn meet_item(
    timeline: &Timeline,
    policy: &Policy,
    world: &World,
    history: &History<'_>,
    due_in: u32,
    need: &ItemNeed,
) -> NeedRow {
    let index = need.inferred.item as usize;
    let (slot, item) = (&history.slots[index].view, history.item(index));
    let is_told = |slot: &Stands| matches!(slot, Stands::Shown | Stands::Told | Stands::Fold(_));
    let is_whole = |it: usize| {
        let slot = &history.slots[it].view;
        is_told(&slot.stands) && slot.rendition == ShownSpec::Raw
    };
    let is_shown = is_told(&slot.stands);
    let is_exact = is_shown && (slot.exact || matches!(slot.rendition, ShownSpec::Raw | ShownSpec::Exact));
    let mentions = timeline.needs.mentions(need).iter().filter(|it| is_whole(**it as usize)).count();
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
        inferred: None,
        is_sent: false,
    };
    let unmet = need.weight * (1.0 - met);
    if unmet <= 0.0 {
        return row;
    }
    let (mut fetched, mut attempts) =
        (need.recover_tokens.unwrap_or_else(|| evidence.recover_tokens(need.level)), 1);
    match &policy.recovery {
        Recovery::Pinned if need.level == Level::RawContent => {
            fetched = evidence.file_range.unwrap_or(fetched);
        }
        Recovery::NaiveReread { limit, fits } if evidence.file > 0 && need.level >= Level::LocalDetail => {
            fetched = evidence.file;
            let beside = u64::from(fetched) + timeline.stable_tokens();
            attempts = if beside <= world.size(fits, Env::default()) { 1 } else { *limit };
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
