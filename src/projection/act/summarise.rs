//! Summaries: the shortest run of units whose predicted result meets the goal gives way to one text.

use super::ask::Made;
use super::stay::Left;
use super::{CompiledSummary, progress};
use crate::input::policy::Part;
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
            let result = summary.result_of(&batch, activation, edit.prompt());
            look.prompt = prompt.saturating_sub(result.freed());
            look.scope.tokens =
                scope.saturating_sub(if stays_in_scope { result.freed() } else { result.taken() });
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
    let result = summary.result_of(&batch, activation, edit.prompt());
    let is_smaller = result.stands() < result.env.input;
    if batch.n_units < summary.at_least || result.replaced(&batch).is_empty() || !is_smaller {
        return;
    }
    let made = Made {
        read: batch.input.saturating_add(batch.copied),
        written: result.output.saturating_add(batch.copied),
        n_turns: batch.n_turns(result.left.as_ref(), edit.prompt()),
    };
    for request in summary.requests(&made, &result.env, edit) {
        edit.ask(request);
    }
    for (slot, rendered) in result.left.iter().flat_map(|it| &it.shown) {
        edit.resize(*slot, *rendered);
    }
    let slots = result.replaced(&batch);
    edit.absorb(slots, u32::try_from(result.stands()).unwrap_or(u32::MAX), None);
    let n = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    edit.note_pass(rung.scope.part == Part::Active, n, n);
}

/// What a summary of a batch makes of the prompt.
struct Outcome {
    /// What stays of the batch, where anything can.
    left: Option<Left>,
    env: Env,
    output: Tokens,
    /// What stands behind it as a part of it.
    more: Tokens,
}

impl CompiledSummary {
    fn result_of(&self, batch: &Batch, activation: &Activation<'_>, prompt: &Prompt<'_>) -> Outcome {
        let left = self.stay.as_ref().map(|it| it.left(&batch.slots, prompt, &activation.env));
        let env = Env { input: left.as_ref().map_or(batch.input, |it| it.input), ..activation.env };
        Outcome { left, env, output: self.output.eval(&env), more: self.more.eval(&env) }
    }
}

impl Outcome {
    /// Returns how large the summary stands in the prompt.
    fn stands(&self) -> Tokens {
        self.output.saturating_add(self.more)
    }

    /// Returns what comes back into the prompt beside it.
    fn added(&self) -> Tokens {
        self.left.as_ref().map_or(0, |it| it.added)
    }

    /// Returns by how much it makes the prompt smaller.
    fn freed(&self) -> Tokens {
        self.env.input.saturating_sub(self.stands().saturating_add(self.added()))
    }

    /// Returns by how much it makes the scope smaller where the summary is not in it.
    fn taken(&self) -> Tokens {
        self.env.input.saturating_sub(self.added())
    }

    /// Returns the slots that it takes the place of.
    fn replaced<'o>(&'o self, batch: &'o Batch) -> &'o [SlotIx] {
        self.left.as_ref().map_or(&batch.slots, |it| &it.replaced)
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
    /// Returns how many turns a summary replaces, with what stays left out.
    fn n_turns(&self, left: Option<&Left>, prompt: &Prompt<'_>) -> u32 {
        let Some(left) = left else { return self.n_turns };
        let mut turns: Vec<TurnIx> = left.replaced.iter().map(|it| prompt.item(*it).turn_ix).collect();
        turns.dedup();
        u32::try_from(turns.len()).unwrap_or(u32::MAX)
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
        self.input += tokens;
        self.slots.push(index);
    }
}
