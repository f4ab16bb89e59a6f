//! The rules of a layout.

use crate::diag::Problems;
use crate::input::policy::{Changes, DynamicPlace, Layout, Place};

/// Checks a layout.
pub(super) fn layout(layout: Option<&Layout>, problems: &mut Problems) {
    for (index, it) in layout.iter().flat_map(|it| &it.dynamic).enumerate() {
        if it.tokens == 0 {
            problems.push_at(
                "dynamic-empty",
                format_args!("dynamic.{index}.tokens"),
                "content of 0 tokens changes nothing",
                "write how many tokens it takes, or leave it out",
            );
        }
        if it.at == DynamicPlace::Tail && it.changes != Changes::default() {
            problems.push_at(
                "dynamic-tail-changes",
                format_args!("dynamic.{index}.changes"),
                "at the tail nothing is cached, however rarely it changes",
                "leave `changes` out, or write another place",
            );
        }
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
