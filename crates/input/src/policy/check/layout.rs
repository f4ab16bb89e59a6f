//! The rules of a layout.

use crate::policy::{Changes, DynamicPlace, LayoutSpec, PromptPlace};
use ctxsim_base::diag::{Code, Problems};

/// Checks a layout.
pub(super) fn layout(layout: Option<&LayoutSpec>, problems: &mut Problems) {
    for (index, it) in layout.iter().flat_map(|it| &it.dynamic).enumerate() {
        if it.tokens == 0 {
            let message = "content of 0 tokens has no effect";
            let help = "write its size in tokens, or leave it out";
            problems.push_at(Code::DynamicEmpty, format_args!("dynamic.{index}.tokens"), message, help);
        }
        if it.at == DynamicPlace::Tail && it.changes != Changes::default() {
            problems.push_at(
                Code::DynamicTailChanges,
                format_args!("dynamic.{index}.changes"),
                "content at the tail is never cached, so its changes do not matter",
                "remove `changes`, or choose another place",
            );
        }
    }
    for (index, it) in layout.and_then(|it| it.breakpoints.as_ref()).into_iter().flatten().enumerate() {
        if matches!(it.at, PromptPlace::LastMessages { n: 0, .. }) {
            let message = "`last_messages` needs at least one message";
            let help = "write `n: 1` or more, or remove the breakpoint";
            problems.push_at(Code::BreakpointNowhere, format_args!("breakpoints.{index}.at"), message, help);
        }
    }
}
