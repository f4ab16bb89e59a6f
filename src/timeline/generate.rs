//! Named deterministic generators of timelines.

mod duckagent;
mod random;

use super::{Timeline, scripted};
use crate::diag::{Diagnostic, Problems, nearest};
use crate::spec::ScenarioSpec;

/// A generator of timelines.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// What scenarios call it.
    pub name: &'static str,
    /// What it makes.
    pub about: &'static str,
    /// What its length is counted in.
    pub takes: Takes,
    make: fn(&ScenarioSpec, u64) -> Timeline,
}

/// What a generator's length is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// User turns.
    Turns,
    /// Repetitions of its pattern.
    Scale,
}

impl Takes {
    /// Returns the field's name, the other field's name, and the largest length.
    fn field(self) -> (&'static str, &'static str, u64) {
        match self {
            Self::Turns => ("turns", "scale", 1_000_000),
            Self::Scale => ("scale", "turns", 10_000),
        }
    }
}

/// All generators, in the order of their names.
pub const GENERATORS: [Generator; 11] = [
    duckagent::LONG_RUN,
    duckagent::STRESS_FULLSTACK_REFACTOR,
    duckagent::STRESS_LONG_CODE_DEVELOPMENT,
    duckagent::STRESS_MANY_TOOLS_PER_LOOP,
    duckagent::STRESS_PROCESS_LOG_MARATHON,
    duckagent::VALIDATION_CHAT_MIXED_WORK,
    duckagent::VALIDATION_EXACT_REVISIT_WORK,
    duckagent::VALIDATION_LOG_RECOVERY_WORK,
    duckagent::VALIDATION_RECOVERY_OSCILLATION_WORK,
    duckagent::VALIDATION_WIDE_CURRENT_LOOP_WORK,
    random::TOOL_LOOPS,
];

/// Makes the timeline that a scenario asks a generator for.
///
/// # Errors
/// Every problem of the scenario, each with its field path.
pub fn timeline(
    spec: &ScenarioSpec,
    kind: &str,
    turns: Option<u64>,
    scale: Option<u64>,
) -> Result<Timeline, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    scripted::check(spec, &mut problems);
    let Some(generator) = GENERATORS.iter().find(|it| it.name == kind) else {
        unknown(kind, &mut problems);
        return Err(problems.into_result(()).err().unwrap_or_default());
    };
    let length = problems.within("load.generate", |problems| length(generator.takes, turns, scale, problems));
    problems.into_result(())?;
    Ok((generator.make)(spec, length))
}

/// Checks the length that a scenario gives.
fn length(takes: Takes, turns: Option<u64>, scale: Option<u64>, problems: &mut Problems) -> u64 {
    let (wanted, other, max) = takes.field();
    let (given, stray) = if takes == Takes::Turns { (turns, scale) } else { (scale, turns) };
    let range = format!("write `{wanted}`, from 1 to {max}");
    if stray.is_some() {
        problems.within(other, |problems| {
            let message = format!("this generator takes `{wanted}`, not `{other}`");
            problems.push("generate-length", message, range.clone());
        });
    }
    match given {
        Some(length) if (1..=max).contains(&length) => return length,
        Some(length) => problems.within(wanted, |problems| {
            problems.push("generate-length", format!("{length} is out of range"), range);
        }),
        None if stray.is_none() => {
            problems.push("generate-length", format!("`{wanted}` is missing"), range);
        }
        None => {}
    }
    0
}

/// Reports a generator that does not exist.
fn unknown(kind: &str, problems: &mut Problems) {
    let names = GENERATORS.map(|it| it.name);
    let help = match nearest(kind, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of {}", names.map(|it| format!("`{it}`")).join(", ")),
    };
    problems.within("load.generate.kind", |problems| {
        problems.push("generator-unknown", format!("no generator is called `{kind}`"), help);
    });
}
