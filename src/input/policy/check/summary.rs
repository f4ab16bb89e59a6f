//! The rules of summaries, of what stays beside them and of who writes them.

use super::size::Resolver;
use crate::diag::Problems;
use crate::input::policy::{
    Action, Count, Kind, Order, Policy, Scope, Summarise, SummaryPer, SummaryPrompt, SummaryWords,
};

/// Checks a summary.
pub(super) fn check(
    summary: &mut Summarise,
    scope: &Scope,
    resolver: &Resolver<'_>,
    problems: &mut Problems,
) {
    if scope.order != Order::Oldest {
        problems.push(
            "summary-order",
            "a summary stands in the first slot that it replaces, so it is taken from the oldest unit on",
            "leave `order` out",
        );
    }
    problems.within("summarise", |problems| {
        resolver.size_in("output", Some(&mut summary.output), problems);
        resolver.size_in("overhead", summary.overhead.as_mut(), problems);
        if let Some(count) = &mut summary.at_least {
            problems.within("at_least", |to| resolver.count(count, to));
        }
        resolver.size_in("reads", summary.reads.as_mut(), problems);
        written(summary, problems);
        asked(summary, problems);
        kept(summary, problems);
        sizes(summary, resolver, problems);
    });
}

/// Checks that a policy that names a model for its summaries has a model write some.
pub(super) fn summariser(policy: &Policy, problems: &mut Problems) {
    let asks = |it: &Action| matches!(it, Action::Summarise(it) if it.prompt != SummaryPrompt::Free);
    let mut rungs = policy.stages().iter().flat_map(|it| policy.rungs(it));
    if policy.summariser.is_some() && !rungs.any(|it| asks(it.action)) {
        problems.push_at(
            "summariser-idle",
            "summariser",
            "no stage of this policy asks a model for a summary",
            "leave `summariser` out, or give a stage `apply: summarise(…)` without `prompt: free`",
        );
    }
}

/// Checks what is said of how many there are and of their words.
fn written(summary: &Summarise, problems: &mut Problems) {
    if summary.per == SummaryPer::Unit && summary.at_least.is_some() {
        problems.push_at(
            "summary-at-least-of-one",
            "at_least",
            "a summary for each unit replaces one unit",
            "leave `at_least` out, or `per`",
        );
    }
    if summary.says == SummaryWords::Head && summary.prompt != SummaryPrompt::Free {
        problems.push_at(
            "summary-head-of-a-model",
            "says",
            "a summary that a model writes does not say what results begin with",
            "write `prompt: free`, or leave `says` out",
        );
    }
}

/// Checks that what is said of requests is said of requests that are made.
fn asked(summary: &Summarise, problems: &mut Problems) {
    let is_free = summary.prompt == SummaryPrompt::Free;
    if summary.reads.is_some() && summary.prompt != SummaryPrompt::Separate {
        problems.push_at(
            "summary-reads-all",
            "reads",
            if is_free {
                "no request is made that could read less"
            } else {
                "an aligned summariser reads the agent's own prompt"
            },
            "leave `reads` out, or write `prompt: separate`",
        );
    }
    if summary.again.is_some() && is_free {
        let message = "no request is made that another could follow";
        problems.push_at(
            "summary-again-free",
            "again",
            message,
            "leave `again` out, or write `prompt: separate`",
        );
    }
}

/// Checks what stays beside a summary.
fn kept(summary: &Summarise, problems: &mut Problems) {
    let Some(kept) = &summary.keeps else { return };
    let is_cut = |kind: &Kind| *kind != Kind::Summary && !summary.copy.contains(kind);
    if kept.kinds.is_empty() || !kept.kinds.iter().all(is_cut) {
        problems.push_at(
            "summary-keeps",
            "keeps.kinds",
            "kept are items of some kinds, but no summaries, which cannot be cut, and nothing that is copied",
            "write `kinds: [user]`",
        );
    }
}

/// Resolves the sizes of what goes with a summary.
fn sizes(summary: &mut Summarise, resolver: &Resolver<'_>, problems: &mut Problems) {
    if let Some(kept) = &mut summary.keeps {
        resolver.size_in("keeps.tokens", Some(&mut kept.tokens), problems);
    }
    if let Some(again) = &mut summary.again {
        resolver.size_in("again.overhead", again.overhead.as_mut(), problems);
        resolver.size_in("again.output", again.output.as_mut(), problems);
    }
    let Some(restore) = &mut summary.restore else { return };
    problems.within("restore", |problems| {
        problems.within("files", |to| resolver.count(&mut restore.files, to));
        if restore.files == Count::Fixed(0) {
            let help = "write `files: 5`, or leave `restore` out";
            problems.push_at("restore-nothing", "files", "0 files do not come back", help);
        }
        resolver.size_in("each", restore.each.as_mut(), problems);
        resolver.size_in("all", restore.all.as_mut(), problems);
        resolver.size_in("name", restore.name.as_mut(), problems);
        resolver.size_in("more", restore.more.as_mut(), problems);
    });
}
