//! The rules of a layout.

use crate::diag::Problems;
use crate::input::TtlClass;
use crate::input::policy::{Breakpoint, Layout, Place, written};

/// Checks a layout.
pub(super) fn layout(layout: Option<&written::Layout>, problems: &mut Problems) -> Layout {
    let memory = layout.map(|it| it.memory).unwrap_or_default();
    let Some(breakpoints) = layout.and_then(|it| it.breakpoints.as_ref()) else {
        return Layout { memory, ..Layout::default() };
    };
    let breakpoints = breakpoints.iter().enumerate().map(|(index, it)| {
        if matches!(it.at, Place::LastMessages { n: 0, .. }) {
            problems.push_at(
                "breakpoint-nowhere",
                format_args!("breakpoints.{index}.at"),
                "the last 0 messages have no end",
                "write `n: 1` or more, or leave the breakpoint out",
            );
        }
        Breakpoint { at: it.at, ttl: it.ttl.map(|it| TtlClass::of(it.0)) }
    });
    Layout { breakpoints: breakpoints.collect(), is_silent: false, memory }
}
