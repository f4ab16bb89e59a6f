//! What each kind of load reads of a policy: a policy of which it reads nothing is refused, with loads that would.
//!
//! **What a load reads of a policy** (`LoadKind`, `app/reads.rs`). Items and conversations read its stages, code or program and, where
//! facts are planted, a memory of facts or a service; ageing sessions a memory of sessions or a service; chats a service; a block trace
//! nothing. A policy that sets parts of which a load reads none is refused before anything runs, with scenarios that do read them. A policy
//! that sets nothing is a base for every load. A part that is not read is noted. Comparisons, sweeps and price comparisons also refuse a
//! memory runner beside other policies, because its requests are its own work.

use std::sync::Arc;

use indexmap::IndexMap;

use super::ReadyLoad;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers::{counted, listed};
use ctxsim_base::list::Listed as _;
use ctxsim_engine::take::{Load, LoadKind, Unread};
use ctxsim_input::Policy;
use ctxsim_report::{Skipped, distinct};

/// Returns the kind of a scenario before its recording is read; a recording may still be of another one.
pub(super) fn kind_of(entry: &ReadyLoad) -> &'static LoadKind {
    if let Some(timeline) = entry.loaded.origin.timeline() {
        return ctxsim_worlds::of_items(Arc::clone(timeline)).kind();
    }
    ctxsim_worlds::kind(&entry.spec.load)
}

/// Reports policies that cannot be played on loads of a kind.
pub(super) fn problem(unread: &Unread, kind: &LoadKind, policies: &[&str], loads: &[&str]) -> Diagnostic {
    let fields: Vec<String> = unread.0.iter().map(|it| format!("`{}`", it.field())).listed();
    let [reads, policy] = kind.words;
    let (they, set, have) = if policies.len() == 1 { ("it", "sets", "has") } else { ("they", "set", "have") };
    let names: Vec<String> = policies.iter().map(|it| (*it).to_owned()).listed();
    let load = match loads {
        [only] => (*only).to_owned(),
        all => format!("{} and {}", all[0], counted(all.len() - 1, "more scenario")),
    };
    let message = format!(
        "{} {have} no effect on {load}: {they} only {set} {}, and that scenario {reads}",
        listed(&names),
        listed(&fields)
    );
    let scenarios = distinct(unread.0.iter().map(|it| it.scenario()));
    let scenarios: Vec<String> = scenarios.iter().map(|it| format!("`{it}`")).listed();
    let help = format!(
        "name a scenario such as {}, or for this one a policy such as `{policy}`",
        scenarios.join(" or ")
    );
    Diagnostic::at(Code::PolicyUnread, "", message).help(help)
}

/// Returns the first scenario in which policies are judged by what they remember, rather than by evidence needs.
pub(super) fn of_memories(entries: &[ReadyLoad]) -> Option<&str> {
    entries.iter().find(|it| kind_of(it).is_of_memories).map(|it| it.name.as_str())
}

/// Checks that some of its policies do work that can be compared: a memory runner writes sessions and answers questions,
/// and any other policy answers the sessions' own requests.
///
/// # Errors
/// Some are played by a memory runner, and others are not.
pub(super) fn check_same_work(load: &Load, policies: &[usize]) -> Result<(), Error> {
    let policies = policies.iter().filter_map(|it| load.policies.get(*it));
    let (written, others): (Vec<_>, Vec<_>) = policies.partition(|it| load.is_written_by(it));
    let (Some(written), Some(other)) = (written.first(), others.first()) else { return Ok(()) };
    let message = format!(
        "{} and {} do not do the same work on {}: a memory runner writes and asks its own requests, so their costs cannot \
        be compared",
        written.name, other.name, load.name
    );
    let help = "compare memory runners with each other, or put both side by side with `ctxsim run`";
    Err(vec![Diagnostic::at(Code::PolicyOtherWork, "", message).help(help)].into())
}

/// Finds the scenarios that cannot play every policy: those that were only found in a folder or by a pattern are left out while
/// others remain, and the rest are problems.
pub(super) fn check(
    entries: Vec<ReadyLoad>,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<ReadyLoad>, Vec<Skipped>) {
    let why = |entry: &ReadyLoad| {
        let kind = kind_of(entry);
        let one = |it: &Arc<Policy>| Some((kind, kind.reads(it).err()?, it.name.clone()));
        entry.policies.iter().filter_map(one).listed()
    };
    let found: Vec<_> = entries.iter().map(why).listed();
    let remains = found.iter().any(Vec::is_empty);
    let mut groups: IndexMap<(&LoadKind, Unread), [Vec<&str>; 2]> = IndexMap::new();
    let mut skipped = Vec::new();
    for (entry, why) in entries.iter().zip(&found) {
        let leaves = entry.is_searched && remains;
        for (kind, unread, policy) in why {
            if leaves {
                let reason = problem(unread, kind, &[policy], &[&entry.name]).message;
                skipped.push(Skipped::of(entry.loaded.origin.label(), &reason));
                break;
            }
            let [policies, loads] = groups.entry((*kind, unread.clone())).or_default();
            policies.push(policy);
            loads.push(&entry.name);
        }
    }
    problems.extend(groups.iter().map(|((kind, unread), [policies, loads])| {
        let [policies, loads] = [policies, loads].map(|it| distinct(it.iter().copied()));
        problem(unread, kind, &policies, &loads)
    }));
    let kept =
        entries.iter().zip(&found).filter(|(entry, why)| why.is_empty() || !(entry.is_searched && remains));
    (kept.map(|it| it.0.clone()).listed(), skipped)
}
