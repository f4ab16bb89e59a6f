//! The rules of a load of sessions one after another; a higher floor knows which numbers exist.

use crate::scenario::{GeneratedHistory, HistoryLoad, HistorySource};
use ctxsim_base::diag::{Code, Problems};

/// The most generated sessions.
const SESSIONS_MAX: u64 = 10_000;
/// The most sources of a generated session.
const SOURCES_MAX: u64 = 1_000;
/// The most generated requests.
const REQUESTS_MAX: u64 = 1_000_000;
/// The most tokens of a generated source, and of what stands before the first message.
const TOKENS_MAX: u64 = 1_000_000;

/// Checks a load of histories.
pub(super) fn check(load: &HistoryLoad, problems: &mut Problems) {
    match &load.from {
        HistorySource::Recorded(paths) if paths.is_empty() => {
            let help = "name at least one file, folder or pattern";
            problems.push_at(Code::SessionsNone, "from.recorded", "the load has no session", help);
        }
        HistorySource::Recorded(_) => {}
        HistorySource::Generated(made) => problems.within("from.generated", |to| generated(made, to)),
    }
}

fn generated(made: &GeneratedHistory, problems: &mut Problems) {
    let fields = [
        ("sessions", made.sessions, [1, SESSIONS_MAX]),
        ("sources", made.sources, [1, SOURCES_MAX]),
        ("source_tokens", made.source_tokens, [1, TOKENS_MAX]),
        ("stable_tokens", made.stable_tokens, [1, TOKENS_MAX]),
        ("more_requests", made.more_requests, [0, REQUESTS_MAX]),
        ("changes_every", made.changes_every, [0, SESSIONS_MAX]),
        ("hours", made.hours, [1, 87_600]),
    ];
    for (field, value, range) in fields {
        problems.check_range(Code::HistoryRange, field, value, range);
    }
    let requests = made.sources.saturating_add(made.more_requests).saturating_add(1);
    if requests.saturating_mul(made.sessions) > REQUESTS_MAX {
        let help = format!("keep sessions × requests at or below {REQUESTS_MAX}");
        problems.push_at(Code::HistoryRange, "sessions", "the sessions have too many requests", help);
    }
}
