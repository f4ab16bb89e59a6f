//! Summaries: the shortest run of units whose predicted result meets the goal gives way to one text.

use xxhash_rust::xxh3::xxh3_64;

use super::fold::extend;
use super::{CompiledSummary, progress};
use crate::input::policy::{Part, SummaryPrompt};
use crate::projection::change::SideRequest;
use crate::projection::edit::Editor;
use crate::projection::filter::ClassMask;
use crate::projection::num::{Env, Num};
use crate::projection::program::Activation;
use crate::projection::prompt::{Prompt, SlotIx};
use crate::projection::region::Region;
use crate::projection::rung::CompiledRung;
use crate::projection::scope::UnitSize;
use crate::projection::text::Text;
use crate::projection::tracker::unit_of;
use crate::quantity::Tokens;
use crate::timeline::{Kind, TurnIx};

/// Puts a summary in the place of the shortest run of units whose predicted result meets the goal, or of all.
pub(super) fn summarise(
    rung: &mut CompiledRung,
    summary: &CompiledSummary,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) {
    if summary.per_unit {
        return summarise_each(rung, summary, region, activation, edit);
    }
    let size = rung.scope.unit_size(edit, region);
    let added = |rung: &CompiledRung, kind| rung.counter.as_ref().map_or(0, |it| it.added_to(kind));
    let added_to_summary = added(rung, Kind::Summary);
    let mut look = rung.look(activation, progress(rung, region, edit), edit);
    let (prompt, counted, scope) = (look.prompt, look.counted, look.scope.tokens);
    let stays_in_scope = rung.scope.filter.has_summary();
    let mut batch = Batch::default();
    let mut units = std::mem::take(&mut rung.units);
    let mut at = region.from;
    loop {
        // No summary frees more than its input: the length of the output is asked only when the goal is within reach.
        look.prompt = prompt.saturating_sub(batch.input);
        if rung.goal.as_ref().is_some_and(|goal| !goal.wants_less_than(look.prompt)) {
            let freed = batch.input.saturating_sub(summary.output_of(&batch, activation));
            look.prompt = prompt.saturating_sub(freed);
            let more = if batch.slots.is_empty() { 0 } else { added_to_summary };
            look.counted = (counted + more).saturating_sub(freed + batch.added);
            look.scope.tokens = scope.saturating_sub(if stays_in_scope { freed } else { batch.input });
            if rung.goal.as_ref().is_some_and(|goal| goal.holds(&look)) {
                break;
            }
        }
        rung.scope.next_unit(edit, &mut at, region.to, &size, &mut units);
        if units.is_empty() {
            break;
        }
        batch.n_units += 1;
        for slot in &units {
            if rung.counts_progress() {
                look.progress.take(edit.prompt(), *slot);
            }
            let n_before = batch.slots.len();
            batch.add(edit.prompt(), *slot, &summary.copy);
            if batch.slots.len() > n_before {
                batch.added += added(rung, edit.prompt().kind(*slot));
            }
        }
    }
    rung.units = units;
    let is_made = batch.n_units >= summary.at_least && summary.replace(&batch, activation, edit);
    if is_made {
        let n = batch.n_slots();
        edit.note_pass(rung.scope.part == Part::Active, n, n);
    }
}

/// Puts a summary of its own in the place of each unit, up to the goal.
fn summarise_each(
    rung: &mut CompiledRung,
    summary: &CompiledSummary,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) {
    let size = rung.scope.unit_size(edit, region);
    let is_active = rung.scope.part == Part::Active;
    let resumes = !is_active
        && !rung.scope.protects_slots()
        && size.divides_alike()
        && !rung.counts_progress()
        && summary.is_constant();
    let mut at = if resumes { rung.resume(region, edit) } else { region.from };
    at = begin_of_unit(edit, at, region, &size);
    let mut begun = at;
    let mut taken = progress(rung, region, edit);
    let mut units = std::mem::take(&mut rung.units);
    let mut n_replaced = 0;
    while !rung.is_done(activation, taken, edit) {
        rung.scope.next_unit(edit, &mut at, region.to, &size, &mut units);
        let Some(first) = units.first() else { break };
        begun = *first;
        let mut batch = Batch::default();
        for slot in &units {
            if rung.counts_progress() {
                taken.take(edit.prompt(), *slot);
            }
            batch.add(edit.prompt(), *slot, &summary.copy);
        }
        if batch.has_items && summary.replace(&batch, activation, edit) {
            n_replaced += batch.n_slots();
        }
    }
    rung.units = units;
    if resumes {
        // The last unit may not be complete yet.
        rung.settled.cursor = rung.settled.cursor.max(begun);
    }
    edit.note_pass(is_active, n_replaced, n_replaced);
}

/// Returns where the unit begins in whose middle a place is.
fn begin_of_unit(edit: &mut Editor<'_, '_>, at: SlotIx, region: Region, size: &UnitSize) -> SlotIx {
    let UnitSize::Of(unit, _) = size else { return at };
    let mut begin = at;
    while begin > region.from
        && begin < edit.prompt().len()
        && unit_of(edit.prompt(), begin - 1, *unit) == unit_of(edit.prompt(), at, *unit)
    {
        begin -= 1;
    }
    edit.touch(u64::from(at - begin));
    begin
}

impl CompiledSummary {
    /// Returns whether it is as long whatever it replaces, and whenever.
    fn is_constant(&self) -> bool {
        matches!(self.output, Num::Const(_))
    }

    fn output_of(&self, batch: &Batch, activation: &Activation<'_>) -> Tokens {
        self.output.eval(&Env { input: batch.input, ..activation.env })
    }

    /// Puts the summary in the place of what it replaces, if that makes it smaller; returns whether it does.
    fn replace(&self, batch: &Batch, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        let output = self.output_of(batch, activation);
        if batch.slots.is_empty() || output >= batch.input {
            return false;
        }
        let tokens = u32::try_from(output).unwrap_or(u32::MAX);
        let Some(prompt) = self.request else {
            // What no model writes is the same whenever it is made of the same.
            let mut bytes = output.to_le_bytes().to_vec();
            batch.slots.iter().for_each(|it| extend(&mut bytes, edit.prompt(), *it));
            edit.absorb_as(&batch.slots, Text::sized(tokens, xxh3_64(&bytes)), None);
            return true;
        };
        let aligned = prompt == SummaryPrompt::Aligned;
        let overhead = self.overhead.eval(&Env { input: batch.input, ..activation.env });
        let input = if aligned { edit.prompt().tokens() } else { batch.input.saturating_add(batch.copied) };
        let request = SideRequest {
            prompt: overhead.saturating_add(input),
            chain: aligned.then(|| edit.chain().asking(overhead)),
            output: output.saturating_add(batch.copied),
            items: batch.n_turns,
        };
        edit.absorb(&batch.slots, tokens, Some(request));
        true
    }
}

/// What a summary is about to replace.
#[derive(Debug, Default)]
struct Batch {
    slots: Vec<SlotIx>,
    input: Tokens,
    copied: Tokens,
    /// What the harness counts for it beside its tokens.
    added: Tokens,
    n_units: u64,
    /// Whether anything of it is no summary already.
    has_items: bool,
    n_turns: u32,
    last_turn: Option<TurnIx>,
}

impl Batch {
    fn n_slots(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    fn add(&mut self, prompt: &Prompt<'_>, index: SlotIx, copy: &[Kind]) {
        let tokens = Tokens::from(prompt.slot(index).tokens);
        if !copy.is_empty() && ClassMask::of_kinds(copy).has_kind(prompt.kind(index)) {
            self.copied += tokens;
            return;
        }
        let turn_ix = prompt.item(index).turn_ix;
        self.n_turns += u32::from(self.last_turn != Some(turn_ix));
        self.last_turn = Some(turn_ix);
        self.has_items |= !prompt.slot(index).is_summary();
        self.input += tokens;
        self.slots.push(index);
    }
}
