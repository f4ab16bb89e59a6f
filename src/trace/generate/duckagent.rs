//! The generated workloads of the DuckAgent benchmark: patterns of loops whose sizes cycle with the loop's index.

mod stress;
mod validation;

use indexmap::IndexMap;

use super::{Generator, Takes};
use crate::spec::ScenarioSpec;
use crate::spec::scenario::{CallSpec, LevelSpec, LoopSpec, ResultSpec, RevisitSpec};
use crate::trace::written::Writer;
use crate::trace::{Preserve, Trace};
use crate::units::Tokens;

/// The stress pattern of long code development.
pub(super) const STRESS_LONG_CODE_DEVELOPMENT: Generator = Generator {
    name: "duckagent/stress_long_code_development",
    about: "Six file reads, a search and a test run a loop; every third loop a log.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::LONG_CODE_DEVELOPMENT, scale),
};

/// The stress pattern of wide loops.
pub(super) const STRESS_MANY_TOOLS_PER_LOOP: Generator = Generator {
    name: "duckagent/stress_many_tools_per_loop",
    about: "28 file reads and searches a loop.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::MANY_TOOLS_PER_LOOP, scale),
};

/// The stress pattern of process logs.
pub(super) const STRESS_PROCESS_LOG_MARATHON: Generator = Generator {
    name: "duckagent/stress_process_log_marathon",
    about: "A huge log chunk and a search a loop; every fourth loop a file.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::PROCESS_LOG_MARATHON, scale),
};

/// The stress pattern of a large refactor.
pub(super) const STRESS_FULLSTACK_REFACTOR: Generator = Generator {
    name: "duckagent/stress_fullstack_refactor",
    about: "Ten file reads and two test runs a loop.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &stress::FULLSTACK_REFACTOR, scale),
};

/// The validation pattern of mixed chat.
pub(super) const VALIDATION_CHAT_MIXED_WORK: Generator = Generator {
    name: "duckagent/validation_chat_mixed_work",
    about: "Chat, with a small file read in two loops of five.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::CHAT_MIXED_WORK, scale),
};

/// The validation pattern of revisited code.
pub(super) const VALIDATION_EXACT_REVISIT_WORK: Generator = Generator {
    name: "duckagent/validation_exact_revisit_work",
    about: "Three file reads a loop that later loops come back to.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::EXACT_REVISIT_WORK, scale),
};

/// The validation pattern of logs.
pub(super) const VALIDATION_LOG_RECOVERY_WORK: Generator = Generator {
    name: "duckagent/validation_log_recovery_work",
    about: "A log chunk and a search a loop.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::LOG_RECOVERY_WORK, scale),
};

/// The validation pattern of very wide loops.
pub(super) const VALIDATION_WIDE_CURRENT_LOOP_WORK: Generator = Generator {
    name: "duckagent/validation_wide_current_loop_work",
    about: "36 file reads and searches a loop.",
    takes: Takes::Scale,
    make: |spec, scale| repeat(spec, &validation::WIDE_CURRENT_LOOP_WORK, scale),
};

/// The validation pattern of huge files.
pub(super) const VALIDATION_RECOVERY_OSCILLATION_WORK: Generator = Generator {
    name: "duckagent/validation_recovery_oscillation_work",
    about: "One file of 300,000 tokens a loop.",
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

/// A pattern of loops.
struct Pattern {
    /// How many loops it has at scale 1.
    n_loops: u64,
    /// Tokens of the user message.
    user: Cycle,
    /// Tokens of the answer.
    answer: Cycle,
    /// The calls of a loop.
    calls: fn(u64) -> Vec<CallSpec>,
    /// What the answer needs.
    answer_needs: &'static [(LevelSpec, f64)],
    /// What follows from a loop.
    follow_up_needs: &'static [(LevelSpec, f64)],
    /// What follows from a loop without calls, where that differs.
    follow_up_needs_of_talk: &'static [(LevelSpec, f64)],
    /// What a loop comes back to: how many loops back, at which level, how probably.
    revisits: &'static [(u64, LevelSpec, f64)],
}

/// A number that grows for some loops and then starts over.
struct Cycle {
    start: Tokens,
    length: u64,
    step: Tokens,
}

impl Cycle {
    /// Returns the number of a loop.
    fn at(&self, index: u64) -> Tokens {
        self.start + index % self.length * self.step
    }
}

impl Pattern {
    /// Returns a loop of the pattern.
    fn loop_at(&self, index: u64) -> LoopSpec {
        let calls = (self.calls)(index);
        let follow_up = if calls.is_empty() && !self.follow_up_needs_of_talk.is_empty() {
            self.follow_up_needs_of_talk
        } else {
            self.follow_up_needs
        };
        // The first loops have nothing to come back to, even where another pattern went before.
        let revisits = self.revisits.iter().filter(|(back, ..)| *back <= index);
        LoopSpec {
            name: String::new(),
            user_tokens: self.user.at(index),
            answer_tokens: self.answer.at(index),
            calls,
            answer_needs: self.answer_needs.iter().copied().collect(),
            follow_up_needs: follow_up.iter().copied().collect(),
            revisits: revisits.map(|(back, level, weight)| revisit(*back, *level, *weight)).collect(),
        }
    }
}

/// Returns a revisit that is fetched again by the results' own numbers.
fn revisit(loops_back: u64, level: LevelSpec, weight: f64) -> RevisitSpec {
    RevisitSpec { name: String::new(), loops_back, level, weight, recover_tokens: None }
}

/// A tool as a pattern calls it; all sizes in tokens.
#[derive(Clone, Copy)]
struct Tool {
    name: &'static str,
    preserve: Preserve,
    purpose: Tokens,
    args: Tokens,
    excerpt: Tokens,
    summary: Tokens,
    handle: Tokens,
    recover: &'static [(LevelSpec, Tokens)],
}

impl Tool {
    /// A tool whose results are looked up, with the sizes of excerpt, summary and handle.
    const fn reference(
        name: &'static str,
        sizes: [Tokens; 3],
        recover: &'static [(LevelSpec, Tokens)],
    ) -> Self {
        let [excerpt, summary, handle] = sizes;
        let preserve = Preserve::Reference;
        Self { name, preserve, purpose: 20, args: 64, excerpt, summary, handle, recover }
    }

    /// A tool that reads files to work on.
    const fn file(sizes: [Tokens; 3], recover: &'static [(LevelSpec, Tokens)]) -> Self {
        Self { preserve: Preserve::WorkingEvidence, ..Self::reference("read_file", sizes, recover) }
    }

    /// Returns a call with a result of this size.
    fn call(&self, raw: Tokens) -> CallSpec {
        CallSpec {
            name: String::new(),
            tool: self.name.to_owned(),
            purpose_tokens: self.purpose,
            args_tokens: self.args,
            result: ResultSpec {
                raw,
                excerpt: Some(self.excerpt),
                summary: Some(self.summary),
                handle: Some(self.handle),
            },
            preserve: self.preserve,
            recover: self.recover.iter().copied().collect::<IndexMap<_, _>>(),
        }
    }
}

/// Makes the trace of one pattern.
fn repeat(spec: &ScenarioSpec, pattern: &Pattern, scale: u64) -> Trace {
    let mut writer = Writer::new(spec);
    for index in 0..pattern.n_loops.saturating_mul(scale) {
        writer.push(&pattern.loop_at(index));
    }
    writer.finish()
}

/// Makes the trace of the stress patterns one after the other, at the least scale that gives enough turns.
fn long_run(spec: &ScenarioSpec, turns: u64) -> Trace {
    let n_loops: u64 = stress::ALL.iter().map(|it| it.n_loops).sum();
    let scale = turns.div_ceil(n_loops);
    let mut left = turns;
    let mut writer = Writer::new(spec);
    for pattern in stress::ALL {
        let taken = left.min(pattern.n_loops.saturating_mul(scale));
        for index in 0..taken {
            writer.push(&pattern.loop_at(index));
        }
        left -= taken;
    }
    writer.finish()
}
