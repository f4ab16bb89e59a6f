//! Items shown in another way: all alike, or by the rows of a table.

use super::pool::CompiledBudget;
use crate::prelude::*;
use crate::projection::{Act, Left, Pool, RungParts, TableRows};
use ctxsim_input::Action;

/// Shows each item by the first row that matches it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Show {
    rows: TableRows,
    budget: Option<CompiledBudget>,
    grows: bool,
}

impl Show {
    pub(super) fn new(action: &Action, of: &RungParts<'_>) -> Self {
        let (spine, known) = (&of.timeline.spine, of.context.known);
        let rows = TableRows::new(&action.rows(&of.policy.tables), spine, known);
        let Action::Table { budget, template, grows, .. } = action else {
            return Self { rows, budget: None, grows: false };
        };
        Self {
            rows: rows.write(of.policy.template(template.as_ref()), spine, of.writer),
            budget: budget.as_ref().map(|it| CompiledBudget::new(it, known)),
            grows: *grows,
        }
    }
}

impl Act for Show {
    #[inline]
    fn touch(&self, slot: SlotIx, pool: Option<&mut Pool>, edit: &mut Editor<'_, '_>) -> u32 {
        let Some(rendered) = self.rows.at(edit.prompt().item(slot), pool) else { return 0 };
        u32::from(if self.grows { edit.resize(slot, rendered) } else { edit.shrink(slot, rendered) })
    }

    #[inline]
    fn budget(&self) -> Option<CompiledBudget> {
        self.budget
    }

    fn only_shrinks(&self) -> bool {
        !self.grows
    }

    fn would_change(&self, prompt: &Prompt<'_>, slot: SlotIx) -> bool {
        let stands = prompt.slot(slot);
        let rendered = self.rows.at(prompt.item(slot), None);
        stands.state == State::Shown && rendered.is_some_and(|it| it.tokens < stands.tokens)
    }

    fn rows(&self) -> Option<&TableRows> {
        Some(&self.rows)
    }

    fn text(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<String> {
        self.rows.text(prompt, slot, prompt.slot(slot).rendition)
    }

    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        self.rows.left(prompt, slot).filter(|_| prompt.slot(slot).state == State::Shown)
    }
}
