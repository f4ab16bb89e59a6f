//! The stress patterns: code, wide turns, logs, a refactor.

use super::{Cycle, Pattern, PatternCall, Tool, cycle};
use crate::spec::scenario::LevelSpec::{
    ContinuationHandle, ExactEvidence, GlobalConclusion, LocalDetail, None as Nothing, RawContent,
};
use crate::timeline::Preserve;

/// All of them, in the order in which a long run has them.
pub(super) const ALL: [&Pattern; 4] =
    [&LONG_CODE_DEVELOPMENT, &MANY_TOOLS_PER_LOOP, &PROCESS_LOG_MARATHON, &FULLSTACK_REFACTOR];

/// Six file reads, a search and a test run a turn; every third turn a log.
pub(super) const LONG_CODE_DEVELOPMENT: Pattern = Pattern {
    n_turns: 24,
    user: Cycle { start: 120, length: 4, step: 32 },
    answer: Cycle { start: 620, length: 5, step: 110 },
    calls: long_code_development,
    answer_needs: &[
        (Nothing, 0.1),
        (GlobalConclusion, 0.18),
        (LocalDetail, 0.17),
        (ExactEvidence, 0.5),
        (RawContent, 0.05),
    ],
    follow_up_needs: &[
        (Nothing, 0.12),
        (GlobalConclusion, 0.23),
        (ContinuationHandle, 0.06),
        (LocalDetail, 0.22),
        (ExactEvidence, 0.37),
        (RawContent, 0.08),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[
        (1, ExactEvidence, 0.18),
        (3, LocalDetail, 0.12),
        (6, ExactEvidence, 0.12),
        (10, RawContent, 0.08),
    ],
};

fn long_code_development(index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool { said: 76, ..Tool::file([1_100, 260, 88], 1_800, 900) };
    const SEARCH: Tool = Tool::reference("rg", [900, 320, 96], 700);
    const TESTS: Tool = Tool::reference("process_start", [1_000, 520, 120], 1_200);
    const LOG: Tool = Tool::reference("process_read", [1_400, 620, 140], 1_800);
    for file in 0..6 {
        let tool = Tool { excerpt: FILE.excerpt + cycle(file, 3) * 260, ..FILE };
        calls.push(tool.call(7_200 + (index * 997 + file * 1_699) % 10_800));
    }
    calls.push(SEARCH.call(4_800 + index % 5 * 1_250));
    calls.push(TESTS.call(9_500 + index % 6 * 3_200));
    if index % 3 == 2 {
        calls.push(LOG.call(24_000 + index % 4 * 8_000));
    }
}

/// 28 file reads and searches a turn.
pub(super) const MANY_TOOLS_PER_LOOP: Pattern = Pattern {
    n_turns: 8,
    user: Cycle { start: 160, length: 3, step: 40 },
    answer: Cycle { start: 940, length: 4, step: 160 },
    calls: many_tools_per_loop,
    answer_needs: &[
        (Nothing, 0.08),
        (GlobalConclusion, 0.16),
        (LocalDetail, 0.18),
        (ExactEvidence, 0.5),
        (RawContent, 0.08),
    ],
    follow_up_needs: &[
        (Nothing, 0.18),
        (GlobalConclusion, 0.18),
        (ContinuationHandle, 0.05),
        (LocalDetail, 0.24),
        (ExactEvidence, 0.35),
        (RawContent, 0.1),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[(1, ExactEvidence, 0.24), (2, LocalDetail, 0.16), (3, RawContent, 0.12)],
};

fn many_tools_per_loop(index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool { said: 66, ..Tool::file([900, 220, 80], 1_200, 850) };
    const SEARCH: Tool = Tool { name: "rg", preserve: Preserve::Reference, ..FILE };
    calls.extend((0..28).map(|nth| {
        let tool = if nth % 4 == 3 { SEARCH } else { FILE };
        let tool = Tool {
            excerpt: tool.excerpt + cycle(nth, 5) * 140,
            summary: tool.summary + cycle(nth, 4) * 40,
            ..tool
        };
        tool.call(4_200 + (index * 379 + nth * 821) % 9_600)
    }));
}

/// A huge log chunk and a search a turn; every fourth turn a file.
pub(super) const PROCESS_LOG_MARATHON: Pattern = Pattern {
    n_turns: 48,
    user: Cycle { start: 90, length: 5, step: 18 },
    answer: Cycle { start: 420, length: 6, step: 70 },
    calls: process_log_marathon,
    answer_needs: &[
        (Nothing, 0.12),
        (GlobalConclusion, 0.26),
        (ContinuationHandle, 0.12),
        (LocalDetail, 0.42),
        (RawContent, 0.08),
    ],
    follow_up_needs: &[
        (Nothing, 0.16),
        (GlobalConclusion, 0.27),
        (ContinuationHandle, 0.22),
        (LocalDetail, 0.3),
        (RawContent, 0.07),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[(1, LocalDetail, 0.26), (8, LocalDetail, 0.1), (12, RawContent, 0.06)],
};

fn process_log_marathon(index: u64, calls: &mut Vec<PatternCall>) {
    const LOG: Tool = Tool::reference("process_read", [1_200, 580, 140], 2_400);
    const SEARCH: Tool = Tool::reference("rg", [760, 260, 88], 650);
    const FILE: Tool = Tool::file([1_150, 280, 88], 1_300, 800);
    calls.push(LOG.call(22_000 + index % 8 * 7_500));
    calls.push(SEARCH.call(3_500 + index % 6 * 900));
    if index.is_multiple_of(4) {
        calls.push(FILE.call(8_500 + index % 5 * 1_800));
    }
}

/// Ten file reads and two test runs a turn.
pub(super) const FULLSTACK_REFACTOR: Pattern = Pattern {
    n_turns: 18,
    user: Cycle { start: 150, length: 4, step: 35 },
    answer: Cycle { start: 820, length: 5, step: 130 },
    calls: fullstack_refactor,
    answer_needs: &[
        (Nothing, 0.08),
        (GlobalConclusion, 0.14),
        (LocalDetail, 0.16),
        (ExactEvidence, 0.56),
        (RawContent, 0.06),
    ],
    follow_up_needs: &[
        (Nothing, 0.1),
        (GlobalConclusion, 0.22),
        (ContinuationHandle, 0.08),
        (LocalDetail, 0.2),
        (ExactEvidence, 0.4),
        (RawContent, 0.09),
    ],
    follow_up_needs_of_talk: &[],
    revisits: &[
        (1, ExactEvidence, 0.22),
        (4, LocalDetail, 0.12),
        (7, ExactEvidence, 0.14),
        (9, RawContent, 0.08),
    ],
};

fn fullstack_refactor(index: u64, calls: &mut Vec<PatternCall>) {
    const FILE: Tool = Tool::file([1_050, 250, 92], 1_600, 900);
    const FRONTEND: Tool = Tool::reference("process_start", [1_050, 520, 120], 1_500);
    const BACKEND: Tool = Tool::reference("process_start", [1_150, 560, 120], 1_600);
    for file in 0..10 {
        let tool = Tool { excerpt: FILE.excerpt + cycle(file, 4) * 220, ..FILE };
        calls.push(tool.call(6_400 + (index * 541 + file * 1_171) % 12_500));
    }
    calls.push(FRONTEND.call(12_000 + index % 5 * 4_000));
    calls.push(BACKEND.call(15_000 + index % 7 * 3_600));
}
