//! The rules of a memory of sessions; a higher floor knows which prompts exist.

use crate::policy::memory::{SessionMemory, SessionStore, SummaryLoss};
use crate::prelude::*;

/// Checks a memory of sessions.
pub(super) fn check(spec: &SessionMemory, problems: &mut Problems) {
    if let Some(compaction) = spec.store.compaction() {
        problems.within(format_args!("store.{}", spec.store.name()), |to| check_compaction(compaction, to));
    }
    if spec.store == (SessionStore::Entries { capacity_tokens: Some(0) }) {
        let help = "leave it out, or write 1 or more";
        problems.push_at(
            Code("capacity-zero"),
            "store.entries.capacity_tokens",
            "the capacity leaves room for \
            nothing",
            help,
        );
    }
    check_read(spec, problems);
    if let Some(overlay) = &spec.overlay {
        problems.check_share("overlay.marked", overlay.marked);
    }
    if let Some(controller) = &spec.controller {
        problems.within("controller", |problems| {
            for (field, value) in
                [("error_above", controller.error_above), ("score_below", controller.score_below)]
            {
                if !value.is_finite() || value < 0.0 {
                    let help = "write a number of at least 0";
                    problems.push_at(Code("threshold-range"), field, "the threshold is out of range", help);
                }
            }
        });
        if spec.store.compaction().is_none() {
            let help = "remove `controller`, or store a `summary`, a `history` or `episodes`";
            problems.push_at(
                Code("controller-unused"),
                "controller",
                "there is no prompt for the controller to \
                change",
                help,
            );
        }
    }
}

fn check_read(spec: &SessionMemory, problems: &mut Problems) {
    let Some(n) = spec.read.count() else { return };
    if n == 0 {
        let help = "read 1 or more";
        problems.push_at(Code("read-nothing"), "read", "the memory never reads anything back", help);
    }
    if !matches!(spec.store, SessionStore::Entries { .. } | SessionStore::Files) {
        let help = "write `read: all`, or store `entries` or `files`";
        let message = "this memory is one text, which is always read as a whole";
        problems.push_at(Code("read-whole"), "read", message, help);
    }
}

fn check_compaction(spec: &SummaryLoss, problems: &mut Problems) {
    if spec.words == Some(0) {
        let help = "write 1 or more";
        problems.push_at(Code("capacity-zero"), "words", "a summary needs at least one word", help);
    }
    problems.check_share("survival", spec.survival.unwrap_or(1.0));
    problems.check_share("salience", spec.salience);
    if !(-100.0..=100.0).contains(&spec.recency) {
        let help = "write a number from -100 to 100";
        problems.push_at(Code("recency-range"), "recency", "the value is out of range", help);
    }
}
