//! The colours of charts: each as it is on white paper, and what takes its place on a dark screen.

use crate::prelude::*;

/// A colour: on white, and on a dark screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Ink {
    /// On white paper; charts are drawn in it, and style sheets look for it.
    pub(super) light: &'static str,
    /// On a dark screen.
    pub(super) dark: &'static str,
}

const fn ink(light: &'static str, dark: &'static str) -> Ink {
    Ink { light, dark }
}

/// Words and outlines.
pub(super) const TEXT: Ink = ink("#222222", "#e4e4e4");
/// Words that may be overlooked.
pub(super) const FAINT: Ink = ink("#595959", "#b0b0b0");
/// Lines after what is shown.
pub(super) const GRID: Ink = ink("#dddddd", "#3d3d3d");
/// What everything is drawn on.
pub(super) const PAPER: Ink = ink("#ffffff", "#181818");

/// Colours of policies, which people with any kind of sight tell apart (Okabe and Ito).
pub(super) const POLICIES: [Ink; 7] = [
    ink("#0072b2", "#4aa8e0"),
    ink("#d55e00", "#f08a3c"),
    ink("#009e73", "#2fc79b"),
    ink("#cc79a7", "#e39cc3"),
    ink("#e69f00", "#f2bd49"),
    ink("#56b4e9", "#9ad4f5"),
    ink("#000000", "#fafafa"),
];

/// Colours of parts of a whole, none of them a policy's (Tol's muted colours).
pub(super) const PARTS: [Ink; 9] = [
    ink("#88ccee", "#88ccee"),
    ink("#332288", "#8577e0"),
    ink("#ddcc77", "#ddcc77"),
    ink("#117733", "#3fae66"),
    ink("#cc6677", "#dd7f8e"),
    ink("#aa4499", "#cf74c0"),
    ink("#888888", "#9a9a9a"),
    ink("#44aa99", "#5cc4b2"),
    ink("#999933", "#b9b94e"),
];

/// Returns the colour of the n-th policy.
pub(super) fn policy_ink(nth: usize) -> Ink {
    POLICIES[nth % POLICIES.len()]
}

/// Returns the colour of the n-th part.
pub(super) fn part_ink(nth: usize) -> Ink {
    PARTS[nth % PARTS.len()]
}
