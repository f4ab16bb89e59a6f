//! One need: something earlier that a later step needs.

use super::RowContext;
use crate::prelude::*;
use ctxsim_engine::ledger::NeedRow;
use ctxsim_timeline::row::columns;

/// A need with its context.
pub(super) struct DueNeed<'a> {
    pub(super) row: &'a NeedRow,
    pub(super) context: RowContext<'a>,
}

columns! { DueNeed<'_>;
    /// The session of the recording, from 0.
    "session": Count = |it| it.context.session(it.row.turn_ix),
    /// The user's turn in which it was due, from 0.
    "turn": Count = |it| it.row.turn_ix,
    /// The step of the recorded call that revealed it, or the last one of a turn that needed what users asked; null where it was declared.
    "step": Count = |it| it.row.inferred.map(|inferred| inferred.step),
    /// The rule by which that call revealed it; `running_message` and `earlier_messages` are of what users asked.
    "rule": Text = |it| it.row.inferred.map(|inferred| inferred.rule),
    /// The item that it needs.
    "item": Count = |it| it.row.inferred.map(|inferred| inferred.item),
    /// How much of the item was needed.
    "level": Text = |it| Value::of(&it.row.level),
    /// The probability of the need; of several messages the sum.
    "weight": Share = |it| it.row.weight,
    /// The share that the prompt met.
    "met": Share = |it| it.row.met,
    /// Calls that fetch it again.
    "expected_calls": Expected = |it| it.row.calls,
    /// Of these, beyond the first.
    "expected_repeat_calls": Expected = |it| it.row.repeats,
    /// What one such call fetches.
    "fetched_tokens": Tokens = |it| it.row.fetched,
    /// The probability that nothing recovers it.
    "expected_failures": Expected = |it| it.row.failed,
}
