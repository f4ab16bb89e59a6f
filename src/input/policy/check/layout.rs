//! The rules of a layout.

use crate::diag::Problems;
use crate::input::policy::{Layout, Place};

/// Checks a layout.
pub(super) fn layout(layout: Option<&Layout>, problems: &mut Problems) {
    if layout.and_then(|it| it.volatile).is_some_and(|it| it.tokens == 0) {
        problems.push_at(
            "volatile-empty",
            "volatile.tokens",
            "a line of 0 tokens changes nothing",
            "write how many tokens it takes, or leave it out",
        );
    }
    for (index, it) in layout.and_then(|it| it.breakpoints.as_ref()).into_iter().flatten().enumerate() {
        if matches!(it.at, Place::LastMessages { n: 0, .. }) {
            problems.push_at(
                "breakpoint-nowhere",
                format_args!("breakpoints.{index}.at"),
                "the last 0 messages have no end",
                "write `n: 1` or more, or leave the breakpoint out",
            );
        }
    }
}
