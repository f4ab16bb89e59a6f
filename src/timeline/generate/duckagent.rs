//! The generated workloads of the DuckAgent benchmark: patterns of turns whose sizes cycle with the turn's index.

mod stress;
mod validation;

use super::{Generator, Takes};
use crate::spec::ScenarioSpec;
use crate::timeline::evidence::Recover;
use crate::timeline::scripted::{Call, Revisit, Turn, Writer};
use crate::timeline::{Level, Preserve, Sizes, Timeline};

/// A call of a pattern.
type PatternCall = Call<'static>;

/// The stress pattern of long code development.
pub(super) const STRESS_LONG_CODE_DEVELOPMENT: Generator = Generator {
    name: "duckagent/stress_long_code_development",
    about: "Six file reads, a search and a test run a turn; every third turn a log.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::LONG_CODE_DEVELOPMENT, scale),
};

/// The stress pattern of wide turns.
pub(super) const STRESS_MANY_TOOLS_PER_LOOP: Generator = Generator {
    name: "duckagent/stress_many_tools_per_loop",
    about: "28 file reads and searches a turn.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::MANY_TOOLS_PER_LOOP, scale),
};

/// The stress pattern of process logs.
pub(super) const STRESS_PROCESS_LOG_MARATHON: Generator = Generator {
    name: "duckagent/stress_process_log_marathon",
    about: "A huge log chunk and a search a turn; every fourth turn a file.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::PROCESS_LOG_MARATHON, scale),
};

/// The stress pattern of a large refactor.
pub(super) const STRESS_FULLSTACK_REFACTOR: Generator = Generator {
    name: "duckagent/stress_fullstack_refactor",
    about: "Ten file reads and two test runs a turn.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::FULLSTACK_REFACTOR, scale),
};

/// The validation pattern of mixed chat.
pub(super) const VALIDATION_CHAT_MIXED_WORK: Generator = Generator {
    name: "duckagent/validation_chat_mixed_work",
    about: "Chat, with a small file read in two turns of five.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::CHAT_MIXED_WORK, scale),
};

/// The validation pattern of revisited code.
pub(super) const VALIDATION_EXACT_REVISIT_WORK: Generator = Generator {
    name: "duckagent/validation_exact_revisit_work",
    about: "Three file reads a turn that later turns come back to.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::EXACT_REVISIT_WORK, scale),
};

/// The validation pattern of logs.
pub(super) const VALIDATION_LOG_RECOVERY_WORK: Generator = Generator {
    name: "duckagent/validation_log_recovery_work",
    about: "A log chunk and a search a turn.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::LOG_RECOVERY_WORK, scale),
};

/// The validation pattern of very wide turns.
pub(super) const VALIDATION_WIDE_CURRENT_LOOP_WORK: Generator = Generator {
    name: "duckagent/validation_wide_current_loop_work",
    about: "36 file reads and searches a turn.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::WIDE_CURRENT_LOOP_WORK, scale),
};

/// The validation pattern of huge files.
pub(super) const VALIDATION_RECOVERY_OSCILLATION_WORK: Generator = Generator {
    name: "duckagent/validation_recovery_oscillation_work",
    about: "One file of 300,000 tokens a turn.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::RECOVERY_OSCILLATION_WORK, scale),
};

/// The stress patterns, one after the other.
pub(super) const LONG_RUN: Generator = Generator {
    name: "duckagent/long_run",
    about: "The four stress patterns one after the other, cut to so many turns.",
    takes: Takes::Turns,
    make: long_run,
};

/// A pattern of turns.
struct Pattern {
    /// How many turns it has at scale 1.
    n_turns: u64,
    /// Tokens of the user message.
    user: Cycle,
    /// Tokens of the answer.
    answer: Cycle,
    /// Appends the calls of a turn.
    calls: fn(u64, &mut Vec<PatternCall>),
    /// What the answer needs.
    answer_needs: &'static [(Level, f64)],
    /// What follows from a turn.
    follow_up_needs: &'static [(Level, f64)],
    /// What follows from a turn without calls, where that differs.
    follow_up_needs_of_talk: &'static [(Level, f64)],
    /// What a turn comes back to: how many turns back, at which level, how probably.
    revisits: &'static [(u64, Level, f64)],
}

/// A number that grows for some turns and then starts over.
struct Cycle {
    start: u32,
    length: u64,
    step: u32,
}

impl Cycle {
    /// Returns the number of a turn.
    fn at(&self, index: u64) -> u32 {
        self.start + cycle(index, self.length) * self.step
    }
}

/// Returns the place of an index in a cycle.
fn cycle(index: u64, length: u64) -> u32 {
    u32::try_from(index % length).unwrap_or(0)
}

impl Pattern {
    /// Makes a turn of the pattern, in the place of an earlier one.
    fn turn_at(&self, index: u64, made: &mut Turn<'static>) {
        made.calls.clear();
        (self.calls)(index, &mut made.calls);
        let is_talk = made.calls.is_empty() && !self.follow_up_needs_of_talk.is_empty();
        let follow_up = if is_talk { self.follow_up_needs_of_talk } else { self.follow_up_needs };
        made.user_tokens = self.user.at(index);
        made.answer_tokens = self.answer.at(index);
        made.answer_needs.clear();
        made.answer_needs.extend_from_slice(self.answer_needs);
        made.follow_up_needs.clear();
        made.follow_up_needs.extend_from_slice(follow_up);
        // The first turns have nothing to come back to, even where another pattern went before.
        let revisits = self.revisits.iter().filter(|(turns_back, ..)| *turns_back <= index);
        made.revisits.clear();
        made.revisits.extend(revisits.map(|(turns_back, level, weight)| Revisit {
            turns_back: *turns_back,
            level: *level,
            weight: *weight,
            recover_tokens: None,
        }));
    }
}

/// A tool as a pattern calls it; all sizes in tokens.
#[derive(Clone, Copy)]
struct Tool {
    name: &'static str,
    preserve: Preserve,
    /// Purpose and arguments.
    said: u32,
    excerpt: u32,
    summary: u32,
    handle: u32,
    recover: Recover,
}

impl Tool {
    /// A tool whose results are looked up: excerpt, summary and handle, and what fetches a detail.
    const fn reference(name: &'static str, sizes: [u32; 3], local: u32) -> Self {
        let [excerpt, summary, handle] = sizes;
        let recover = Recover { handle: 0, local, exact: 0 };
        Self { name, preserve: Preserve::Reference, said: 84, excerpt, summary, handle, recover }
    }

    /// A tool that reads files to work on: excerpt, summary and handle, and what fetches an excerpt and a detail.
    const fn file(sizes: [u32; 3], exact: u32, local: u32) -> Self {
        let recover = Recover { handle: 0, local, exact };
        Self { preserve: Preserve::WorkingEvidence, recover, ..Self::reference("read_file", sizes, local) }
    }

    /// Returns a call with a result of this size.
    fn call(&self, raw: u64) -> PatternCall {
        let Self { excerpt, summary, handle, .. } = *self;
        let raw = u32::try_from(raw).unwrap_or(u32::MAX);
        let sizes = Sizes { raw, excerpt, summary, handle };
        Call {
            tool: self.name,
            said_tokens: self.said,
            sizes,
            preserve: self.preserve,
            recover: self.recover,
        }
    }
}

/// Makes the timeline of one pattern.
fn repeat(spec: &ScenarioSpec, pattern: &Pattern, scale: u64) -> Timeline {
    let mut writer = Writer::new(spec);
    let mut made = Turn::default();
    for index in 0..pattern.n_turns.saturating_mul(scale) {
        pattern.turn_at(index, &mut made);
        writer.push(&made);
    }
    writer.finish()
}

/// Makes the timeline of the stress patterns one after the other, at the least scale that gives enough turns.
fn long_run(spec: &ScenarioSpec, turns: u64) -> Timeline {
    let n_turns: u64 = stress::ALL.iter().map(|it| it.n_turns).sum();
    let scale = turns.div_ceil(n_turns);
    let mut left = turns;
    let mut made = Turn::default();
    let mut writer = Writer::new(spec);
    for pattern in stress::ALL {
        let taken = left.min(pattern.n_turns.saturating_mul(scale));
        for index in 0..taken {
            pattern.turn_at(index, &mut made);
            writer.push(&made);
        }
        left -= taken;
    }
    writer.finish()
}
