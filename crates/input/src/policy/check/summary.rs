//! The rules of summaries, of what stays beside them, and of the model that writes them.

use super::size::Resolver;
use crate::policy::{
    Action, Count, Kind, Order, Policy, Scope, Summarise, SummaryPer, SummaryPrompt, SummaryWords,
};
use crate::prelude::*;

/// Checks a summary.
pub(super) fn check(
    summary: &mut Summarise,
    scope: &Scope,
    resolver: &Resolver<'_>,
    problems: &mut Problems,
) {
    if scope.order != Order::Oldest {
        let message = "a summary takes the place of its first item, so it starts with the oldest unit";
        let help = "leave `order` out";
        problems.push(Code("summary-order"), message, help);
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

/// Checks that a policy that names a model for its summaries has a model write one.
pub(super) fn summariser(policy: &Policy, problems: &mut Problems) {
    let asks = |it: &Action| matches!(it, Action::Summarise(it) if it.prompt != SummaryPrompt::Free);
    let mut rungs = policy.stages().iter().flat_map(|it| policy.rungs(it));
    if policy.summariser.is_some() && !rungs.any(|it| asks(it.action)) {
        let message = "no stage of this policy asks a model for a summary";
        let help = "remove `summariser`, or give a stage `apply: summarise(…)` without `prompt: free`";
        problems.push_at(Code("summariser-idle"), "summariser", message, help);
    }
}

/// Checks the number of summaries and what is known of their words.
fn written(summary: &Summarise, problems: &mut Problems) {
    if summary.per == SummaryPer::Unit && summary.at_least.is_some() {
        let message = "one summary per unit always replaces exactly one unit";
        let help = "leave out `at_least` or `per`";
        problems.push_at(Code("summary-at-least-of-one"), "at_least", message, help);
    }
    if summary.says == SummaryWords::Head && summary.prompt != SummaryPrompt::Free {
        let message = "a model-written summary cannot repeat the beginnings of results";
        let help = "write `prompt: free`, or leave `says` out";
        problems.push_at(Code("summary-head-of-a-model"), "says", message, help);
    }
}

/// Checks that settings of a request come with a request.
fn asked(summary: &Summarise, problems: &mut Problems) {
    let is_free = summary.prompt == SummaryPrompt::Free;
    if summary.reads.is_some() && summary.prompt != SummaryPrompt::Separate {
        problems.push_at(
            Code("summary-reads-all"),
            "reads",
            if is_free {
                "`reads` has no effect: no request is made"
            } else {
                "an aligned summariser reads the agent's own prompt"
            },
            "leave `reads` out, or write `prompt: separate`",
        );
    }
    if summary.again.is_some() && is_free {
        let message = "`again` has no effect: no request is made";
        let help = "leave `again` out, or write `prompt: separate`";
        problems.push_at(Code("summary-again-free"), "again", message, help);
    }
}

/// Checks what stays beside a summary.
fn kept(summary: &Summarise, problems: &mut Problems) {
    let Some(kept) = &summary.keeps else { return };
    let is_cut = |kind: &Kind| *kind != Kind::Summary && !summary.copy.contains(kind);
    if kept.kinds.is_empty() || !kept.kinds.iter().all(is_cut) {
        let message = "`kinds` cannot contain copied kinds, or summaries, because these cannot be cut";
        let help = "write `kinds: [user]`";
        problems.push_at(Code("summary-keeps"), "keeps.kinds", message, help);
    }
}

/// Resolves the sizes that belong to a summary.
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
            problems.push_at(Code("restore-nothing"), "files", "restoring 0 files has no effect", help);
        }
        resolver.size_in("each", restore.each.as_mut(), problems);
        resolver.size_in("all", restore.all.as_mut(), problems);
        resolver.item_in("name", restore.name.as_mut(), problems);
        resolver.size_in("more", restore.more.as_mut(), problems);
    });
}
