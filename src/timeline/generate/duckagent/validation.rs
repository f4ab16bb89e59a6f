//! The validation patterns: chat, revisits, logs, very wide turns, huge files.

use super::{Cycle, Pattern, PatternCall, Tool, cycle};
use crate::spec::scenario::LevelSpec::{
    ContinuationHandle, ExactEvidence, GlobalConclusion, LocalDetail, None as Nothing, RawContent,
};
use crate::timeline::Preserve;
use crate::timeline::evidence::Recover;

/// Chat, with a small file read in two turns of five.
pub(super) const CHAT_MIXED_WORK: Pattern = Pattern {
    n_turns: 36,
    user: Cycle { start: 80, length: 5, step: 24 },
    answer: Cycle { start: 460, length: 4, step: 120 },
    calls: chat_mixed_work,
    answer_needs: &[],
    follow_up_needs: &[
        (Nothing, 0.42),
        (GlobalConclusion, 0.28),
        (LocalDetail, 0.12),
        (ExactEvidence, 0.18),
        (RawContent, 0.03),
    ],
    follow_up_needs_of_talk: &[(Nothing, 0.55), (GlobalConclusion, 0.45)],
    revisits: &[(2, ExactEvidence, 0.08), (5, LocalDetail, 0.06)],
};

fn chat_mixed_work(index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool::file([700, 180, 70], 800, 500);
    if matches!(index % 5, 0 | 3) {
        calls.push(FILE.call(2_400 + index % 4 * 700));
    }
}

/// Three file reads a turn that later turns come back to.
pub(super) const EXACT_REVISIT_WORK: Pattern = Pattern {
    n_turns: 20,
    user: Cycle { start: 130, length: 4, step: 30 },
    answer: Cycle { start: 620, length: 3, step: 130 },
    calls: exact_revisit_work,
    answer_needs: &[
        (Nothing, 0.08),
        (GlobalConclusion, 0.14),
        (LocalDetail, 0.18),
        (ExactEvidence, 0.52),
        (RawContent, 0.08),
    ],
    follow_up_needs: &[
        (Nothing, 0.16),
        (GlobalConclusion, 0.18),
        (LocalDetail, 0.16),
        (ExactEvidence, 0.5),
        (RawContent, 0.12),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[(1, ExactEvidence, 0.32), (4, ExactEvidence, 0.24), (7, RawContent, 0.10)],
};

fn exact_revisit_work(index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool::file([1_300, 240, 84], 1_600, 900);
    calls.extend((0..3).map(|file| {
        let tool = Tool { excerpt: FILE.excerpt + cycle(file, 3) * 220, ..FILE };
        tool.call(5_600 + (index * 719 + file * 977) % 5_400)
    }));
}

/// A log chunk and a search a turn.
pub(super) const LOG_RECOVERY_WORK: Pattern = Pattern {
    n_turns: 30,
    user: Cycle { start: 90, length: 6, step: 16 },
    answer: Cycle { start: 420, length: 5, step: 80 },
    calls: log_recovery_work,
    answer_needs: &[
        (Nothing, 0.12),
        (GlobalConclusion, 0.30),
        (ContinuationHandle, 0.16),
        (LocalDetail, 0.36),
        (RawContent, 0.06),
    ],
    follow_up_needs: &[
        (Nothing, 0.16),
        (GlobalConclusion, 0.28),
        (ContinuationHandle, 0.18),
        (LocalDetail, 0.34),
        (RawContent, 0.05),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[(1, LocalDetail, 0.28), (6, LocalDetail, 0.14), (10, RawContent, 0.05)],
};

fn log_recovery_work(index: u64, calls: &mut Vec<PatternCall>) {
    const LOG: Tool = Tool {
        recover: Recover { handle: 150, local: 2_100, exact: 0 },
        ..Tool::reference("process_read", [1_000, 520, 150], 2_100)
    };
    const SEARCH: Tool = Tool::reference("rg", [700, 260, 90], 700);
    calls.push(LOG.call(14_000 + index % 9 * 5_500));
    calls.push(SEARCH.call(2_800 + index % 4 * 900));
}

/// 36 file reads and searches a turn.
pub(super) const WIDE_CURRENT_LOOP_WORK: Pattern = Pattern {
    n_turns: 8,
    user: Cycle { start: 180, length: 4, step: 30 },
    answer: Cycle { start: 980, length: 3, step: 160 },
    calls: wide_current_loop_work,
    answer_needs: &[
        (Nothing, 0.08),
        (GlobalConclusion, 0.18),
        (LocalDetail, 0.20),
        (ExactEvidence, 0.48),
        (RawContent, 0.06),
    ],
    follow_up_needs: &[
        (Nothing, 0.14),
        (GlobalConclusion, 0.18),
        (ContinuationHandle, 0.05),
        (LocalDetail, 0.22),
        (ExactEvidence, 0.41),
        (RawContent, 0.08),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[(1, ExactEvidence, 0.26), (2, LocalDetail, 0.18), (3, RawContent, 0.08)],
};

fn wide_current_loop_work(index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool { said: 62, ..Tool::file([780, 220, 82], 1_100, 760) };
    const SEARCH: Tool = Tool { name: "rg", preserve: Preserve::Reference, ..FILE };
    calls.extend((0..36).map(|nth| {
        let tool = if nth % 3 == 2 { SEARCH } else { FILE };
        let tool = Tool {
            excerpt: tool.excerpt + cycle(nth, 4) * 120,
            summary: tool.summary + cycle(nth, 3) * 40,
            ..tool
        };
        tool.call(3_800 + (index * 487 + nth * 613) % 7_800)
    }));
}

/// One file of 300,000 tokens a turn.
pub(super) const RECOVERY_OSCILLATION_WORK: Pattern = Pattern {
    n_turns: 10,
    user: Cycle { start: 150, length: 1, step: 0 },
    answer: Cycle { start: 420, length: 1, step: 0 },
    calls: recovery_oscillation_work,
    answer_needs: &[(Nothing, 0.10), (ExactEvidence, 0.20), (RawContent, 0.70)],
    follow_up_needs: &[(Nothing, 1.0)],
    follow_up_needs_of_talk: &[],
    revisits: &[],
};

fn recovery_oscillation_work(_index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool { said: 106, ..Tool::file([6_000, 520, 120], 6_200, 2_400) };
    calls.push(FILE.call(300_000));
}
