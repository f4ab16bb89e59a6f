//! The rules of a load of many sessions; a higher floor knows which generators, prompts and models exist.

use super::stream::{self, SESSIONS_MAX};
use crate::prelude::*;
use crate::scenario::{AgingLoad, Happening};

/// The most trials.
const TRIALS_MAX: u64 = 10_000;
/// The most sessions in all trials, because the score of each is stored.
const ALL_SESSIONS_MAX: u64 = 1_000_000;
/// The most work of all trials, as sessions × sessions × sessions × trials: each session may be asked about every pair before it.
const WORK_MAX: u64 = 500_000_000;
/// The most statements of a session.
const TOKENS_MAX: u64 = 1_000_000;

/// Checks a load of many sessions.
pub(super) fn check(load: &AgingLoad, problems: &mut Problems) {
    let is_generated = check_source(load, problems);
    check_numbers(load, is_generated, problems);
    let shares = [
        ("dependency_density", load.dependency_density),
        ("update_rate", load.update_rate),
        ("forget_rate", load.forget_rate),
    ];
    for (field, value) in shares {
        value.into_iter().for_each(|it| problems.check_share(field, it));
    }
    if load.models.is_empty() {
        problems.push_at(Code("models-empty"), "models", "no model is named", "write `models = [\"mid\"]`");
    }
    check_events(load, problems);
}

/// Checks that the sessions have one source; returns whether it is a generator.
fn check_source(load: &AgingLoad, problems: &mut Problems) -> bool {
    let sources = [
        ("generator", !load.generator.is_empty()),
        ("stream", load.stream.is_some()),
        ("path", load.path.is_some()),
    ];
    let given: Vec<&str> = sources.iter().filter(|it| it.1).map(|it| it.0).collect();
    match given.as_slice() {
        [] => {
            let help = "write `generator = \"lifestyle\"` and `sessions = 10`, or write the sessions under `stream`, or name a \
                JSON file in `path`";
            problems.push(Code("aging-source"), "nothing gives the sessions", help);
        }
        ["generator"] => {}
        [one] => {
            for field in load.of_generators() {
                let message =
                    format!("`{field}` tells a generator what to make, and the sessions are in `{one}`");
                problems.push_at(Code("aging-source"), field, message, "remove it");
            }
        }
        [first, others @ ..] => {
            let message = format!("the sessions are in `{first}` and in `{}`", others.join("`, `"));
            problems.push(Code("aging-source"), message, "keep one of them");
        }
    }
    if let Some(written) = &load.stream {
        problems.within("stream", |to| stream::check(written, true, to));
    }
    given == ["generator"]
}

fn check_numbers(load: &AgingLoad, is_generated: bool, problems: &mut Problems) {
    let n_sessions = load.n_sessions();
    let numbers = [
        ("sessions", Some(load.sessions).filter(|_| is_generated), [2, SESSIONS_MAX]),
        ("trials", Some(load.trials), [1, TRIALS_MAX]),
        ("tokens_per_session", load.tokens_per_session, [1, TOKENS_MAX]),
        ("max_chain_depth", load.max_chain_depth, [1, 4]),
        ("confusable_pairs", load.confusable_pairs, [0, 12]),
        ("curated_sessions", load.curated_sessions, [1, SESSIONS_MAX]),
    ];
    for (field, value, range) in numbers {
        value.into_iter().for_each(|it| problems.check_range(Code("aging-range"), field, it, range));
    }
    if n_sessions.saturating_mul(load.trials) > ALL_SESSIONS_MAX {
        let message = format!("{} sessions in {} trials exceed the limit", n_sessions, load.trials);
        let help = format!("keep sessions times trials at or below {ALL_SESSIONS_MAX}");
        problems.push_at(Code("aging-range"), "trials", message, help);
    }
    let work = [n_sessions; 3].into_iter().fold(load.trials, u64::saturating_mul);
    if problems.is_empty() && work > WORK_MAX {
        let message = format!(
            "{} sessions in {} trials are too much work, which grows with the cube of the sessions",
            n_sessions, load.trials
        );
        let most = (WORK_MAX / n_sessions.max(1).saturating_pow(3)).to_string();
        let help = match most.as_str() {
            "0" => "write at most 793 sessions".to_owned(),
            most => format!("write `trials = {most}`, or fewer sessions"),
        };
        problems.push_at(Code("aging-range"), "trials", message, help);
    }
}

/// Checks what happens to the memory; a file alone knows how many sessions it has.
fn check_events(load: &AgingLoad, problems: &mut Problems) {
    let n_sessions = if load.path.is_some() { SESSIONS_MAX } else { load.n_sessions() };
    problems.within_each("events", &load.events, |event, problems| {
        if !(1..n_sessions).contains(&event.session) {
            let last = n_sessions.saturating_sub(1);
            let message = format!("the load has no session {} for this event to precede", event.session);
            let help = match last {
                0 => "remove the event, or generate two sessions or more".to_owned(),
                _ => format!("write a number from 1 to {last}"),
            };
            problems.push_at(Code("event-session"), "session", message, help);
        }
        match &event.what {
            Happening::PartialReset { share } => problems.check_share("what", *share),
            Happening::ReduceBudget { words: 0 } | Happening::MemoryCompaction { words: 0 } => {
                let help = "write 1 or more, or `flush_history`";
                problems.push_at(Code("capacity-zero"), "what", "a memory needs at least one word", help);
            }
            _ => {}
        }
    });
}
