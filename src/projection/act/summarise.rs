//! Summaries: the shortest run of units whose predicted result meets the goal gives way to one text.

use super::{CompiledSummary, progress};
use crate::input::policy::{Part, SummaryPrompt};
use crate::projection::change::SideRequest;
use crate::projection::edit::Editor;
use crate::projection::filter::ClassMask;
use crate::projection::num::Env;
use crate::projection::program::CompiledRung;
use crate::projection::prompt::{Prompt, SlotIx};
use crate::projection::region::Region;
use crate::projection::test::Activation;
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
    let region = rung.scope.of_whole_steps(edit, region);
    let size = rung.scope.unit_size(edit, region);
    let mut look = rung.look(activation, progress(rung, region, edit), edit);
    let (prompt, scope) = (look.prompt, look.scope.tokens);
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
            batch.add(edit.prompt(), *slot, &summary.copy);
        }
    }
    rung.units = units;
    let output = summary.output_of(&batch, activation);
    if batch.slots.is_empty() || batch.n_units < summary.at_least || output >= batch.input {
        return;
    }
    let overhead = summary.overhead.eval(&Env { input: batch.input, ..activation.env });
    let request = summary.request.map(|prompt| {
        let aligned = prompt == SummaryPrompt::Aligned;
        let input = if aligned { edit.prompt().tokens() } else { batch.input.saturating_add(batch.copied) };
        SideRequest {
            prompt: overhead.saturating_add(input),
            chain: aligned.then(|| edit.chain().asking(overhead)),
            output: output.saturating_add(batch.copied),
            items: batch.n_turns,
        }
    });
    edit.absorb(&batch.slots, u32::try_from(output).unwrap_or(u32::MAX), request);
    let n = u32::try_from(batch.slots.len()).unwrap_or(u32::MAX);
    edit.note_pass(rung.scope.part == Part::Active, n, n);
}

impl CompiledSummary {
    fn output_of(&self, batch: &Batch, activation: &Activation<'_>) -> Tokens {
        self.output.eval(&Env { input: batch.input, ..activation.env })
    }
}

/// What a summary is about to replace.
#[derive(Debug, Default)]
struct Batch {
    slots: Vec<SlotIx>,
    input: Tokens,
    copied: Tokens,
    n_units: u64,
    n_turns: u32,
    last_turn: Option<TurnIx>,
}

impl Batch {
    fn add(&mut self, prompt: &Prompt<'_>, index: SlotIx, copy: &[Kind]) {
        let tokens = Tokens::from(prompt.slot(index).tokens);
        if !copy.is_empty() && ClassMask::of_kinds(copy).has_kind(prompt.kind(index)) {
            self.copied += tokens;
            return;
        }
        let turn_ix = prompt.item(index).turn_ix;
        self.n_turns += u32::from(self.last_turn != Some(turn_ix));
        self.last_turn = Some(turn_ix);
        self.input += tokens;
        self.slots.push(index);
    }
}
