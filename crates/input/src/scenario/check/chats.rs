//! The rules of a load of chats; a higher floor knows which numbers exist.

use crate::prelude::*;
use crate::scenario::{ChatLoad, ChatSource, GeneratedChats};

/// The most sessions of a user.
const SESSIONS_MAX: u64 = 1_000;
/// The most messages of a session.
const MESSAGES_MAX: u64 = 500;
/// The most users of a service.
const USERS_MAX: u64 = 200;
/// The most questions of a type.
const QUESTIONS_MAX: u64 = 500;
/// The most trials.
const TRIALS_MAX: u64 = 10_000;
/// The most messages in all trials.
const ALL_MESSAGES_MAX: u64 = 20_000_000;
/// The longest pause between sessions, in seconds: ten years.
const PAUSE_MAX: u64 = 315_360_000;

/// Checks a load of chats.
pub(super) fn check(load: &ChatLoad, problems: &mut Problems) {
    problems.check_range(Code("chats-range"), "trials", load.trials, [1, TRIALS_MAX]);
    problems.check_range(Code("chats-range"), "session_seconds", load.session_seconds, [0, PAUSE_MAX]);
    if let ChatSource::Generated(made) = &load.from {
        problems.within("from.generated", |to| generated(made, load.trials, to));
    }
}

fn generated(made: &GeneratedChats, trials: u64, problems: &mut Problems) {
    problems.check_range(Code("chats-range"), "sessions", made.sessions, [2, SESSIONS_MAX]);
    problems.check_range(Code("chats-range"), "messages", made.messages, [1, MESSAGES_MAX]);
    problems.check_range(Code("chats-range"), "users", made.users, [1, USERS_MAX]);
    let counts = &made.questions;
    let types = [
        ("single_fact", counts.single_fact),
        ("knowledge_update", counts.knowledge_update),
        ("counting", counts.counting),
        ("timeline", counts.timeline),
        ("abstention", counts.abstention),
        ("audit", counts.audit),
    ];
    for (field, n) in types {
        problems.check_range(Code("chats-range"), format_args!("questions.{field}"), n, [0, QUESTIONS_MAX]);
    }
    if types.iter().all(|it| it.1 == 0) {
        let help = "add at least one question, such as `single_fact = 1`";
        problems.push_at(Code("questions-empty"), "questions", "no questions are asked", help);
    }
    let each = made.sessions.saturating_mul(made.messages).saturating_mul(made.users);
    if each.saturating_mul(trials) > ALL_MESSAGES_MAX {
        let message = "the trials have too many messages";
        let help = format!("keep sessions × messages × users × trials at or below {ALL_MESSAGES_MAX}");
        problems.push_at(Code("chats-range"), "sessions", message, help);
    }
}
