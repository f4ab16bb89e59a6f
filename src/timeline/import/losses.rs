//! What a recording loses on its way to a timeline, counted by reason.

use std::fmt;

use indexmap::IndexMap;

/// A reason for omitted records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first affected line, from 1.
    pub line: usize,
    /// How often it occurred.
    pub count: usize,
    /// The affected lines, in order.
    pub lines: Vec<usize>,
    /// What was left out, and why.
    pub what: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

/// Collects losses, one entry per reason.
#[derive(Debug, Default)]
pub(super) struct Losses {
    by_reason: IndexMap<String, Vec<usize>>,
}

impl Losses {
    /// Counts a loss on a line.
    pub(super) fn add(&mut self, line: usize, what: impl Into<String>) {
        self.by_reason.entry(what.into()).or_default().push(line);
    }

    /// Takes those of others in.
    pub(super) fn extend(&mut self, others: Self) {
        for (what, lines) in others.by_reason {
            self.by_reason.entry(what).or_default().extend(lines);
        }
    }

    /// Returns the losses by their first lines.
    pub(super) fn in_order(self) -> Vec<Loss> {
        let losses = self.by_reason.into_iter().map(|(what, mut lines)| {
            lines.sort_unstable();
            Loss { line: lines.first().copied().unwrap_or(0), count: lines.len(), lines, what }
        });
        let mut losses: Vec<Loss> = losses.collect();
        losses.sort_by_key(|it| it.line);
        losses
    }
}
