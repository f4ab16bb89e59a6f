//! The rules of several sessions.

use indexmap::IndexSet;

use super::turns;
use crate::scenario::{ScenarioFile, SessionFile};
use ctxsim_base::diag::{Code, Problems};

/// The latest that a session may begin, in milliseconds: a year.
const AT_MS_MAX: u64 = 31_536_000_000;

/// Checks sessions: each has a name of its own, and the agents of sub-agents are among them.
pub(super) fn check(spec: &ScenarioFile, sessions: &[SessionFile], problems: &mut Problems) {
    if sessions.is_empty() {
        let help = "write at least one, with `name` and `turns`";
        problems.push(Code::SessionsNone, "the load has no session", help);
    }
    let names: IndexSet<&str> = sessions.iter().map(|it| it.name.as_str()).collect();
    let mut known = IndexSet::new();
    for (index, session) in sessions.iter().enumerate() {
        problems.within(index, |problems| {
            let name = session.name.as_str();
            if name.is_empty() || name.contains('/') || !known.insert(name) {
                let message = format!("`{name}` is not a name of its own");
                let help = "write a name without `/` that no other session has";
                problems.push_at(Code::SessionName, "name", message, help);
            }
            if session.at.0 > AT_MS_MAX {
                problems.push_at(Code::SessionAt, "at", "it begins too late", "write at most `365d`");
            }
            if let Some(parent) = session.parent.as_deref().filter(|it| *it == name || !names.contains(it)) {
                let message = format!("there is no other session `{parent}`");
                let help = "name the session whose agent started this one";
                problems.push_at(Code::SessionParent, "parent", message, help);
            }
            problems.within("turns", |to| turns::written(spec, &session.turns, to));
        });
    }
}
