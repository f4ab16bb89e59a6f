//! Layouts that a provider's API answers with an error instead of a reply.

use crate::prelude::*;

use super::{CacheRules, TtlClass};
use crate::policy::{AskedBreakpoint, LayoutSpec, LevelEnd, PromptPlace, lint};
use crate::profile::Profile;

/// A rule of a provider's API about the breakpoints of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// More breakpoints than `breakpoints_max`.
    TooMany,
    /// A longer lifetime behind a shorter one.
    LongBehindShort,
    /// An automatic breakpoint in the place of one with another lifetime.
    TwoLifetimes,
}

impl Profile {
    /// Returns whether its API documents that it refuses a request whose prompt carries these marks, from its front to its end.
    pub fn refuses_marks(&self, marks: &[TtlClass]) -> bool {
        let CacheRules::Breakpoints(rules) = self.cache.plain() else { return false };
        let is_broken = |rule: &Refusal| match rule {
            Refusal::TooMany => marks.len() > usize::from(rules.breakpoints_max),
            Refusal::LongBehindShort => marks.windows(2).any(|it| it == [TtlClass::Short, TtlClass::Long]),
            // Whether an automatic mark falls on another one is seen in a layout alone.
            Refusal::TwoLifetimes => false,
        };
        self.refuses.iter().any(is_broken)
    }

    /// Returns which breakpoints of a layout its API refuses, each with why.
    pub fn refused(&self, layout: &LayoutSpec) -> Vec<Diagnostic> {
        let CacheRules::Breakpoints(rules) = self.cache.plain() else { return Vec::new() };
        let layout = layout.with_sizes(|it| lint::tokens(it, self.limits.prompt));
        let mut found: Vec<Diagnostic> = Vec::new();
        // Where a policy leaves them to the harness, nobody asks for any.
        for prompt in layout.turning_points().filter(|_| !layout.is_silent()) {
            let marks: Vec<_> = layout.asked(prompt).collect();
            let problems = self.refuses.iter().filter_map(|it| match it {
                Refusal::TooMany => too_many(&marks, rules.breakpoints_max.into()),
                Refusal::LongBehindShort => long_behind_short(&marks),
                Refusal::TwoLifetimes => two_lifetimes(&marks),
            });
            for problem in problems {
                if found.iter().all(|it| it.code != problem.code) {
                    found.push(problem);
                }
            }
        }
        found
    }
}

fn problem(code: Code, mark: &AskedBreakpoint, message: String, help: &str) -> Diagnostic {
    Diagnostic::at(code, format!("layout.breakpoints.{}", mark.nth), message).help(help)
}

fn too_many(marks: &[AskedBreakpoint], most: usize) -> Option<Diagnostic> {
    // An automatic breakpoint where the last message has one of its lifetime is none of its own.
    let is_at_end = |it: &AskedBreakpoint| matches!(it.at, PromptPlace::LastMessages { n: 1.., offset: 0 });
    let is_doubled = |own: &AskedBreakpoint| marks.iter().any(|it| is_at_end(it) && it.class == own.class);
    let count = |it: &AskedBreakpoint| match it.at {
        PromptPlace::LastMessages { n, .. } => usize::from(n),
        PromptPlace::Automatic if is_doubled(it) => 0,
        _ => 1,
    };
    let mut sum = 0;
    let mark = marks.iter().find(|it| {
        sum += count(it);
        sum > most
    })?;
    let all: usize = marks.iter().map(count).sum();
    let message = format!("a request has up to {all} breakpoints, but the API takes at most {most}");
    let help = "remove some, or ask for fewer messages in `last_messages`";
    Some(problem(Code("marks-too-many"), mark, message, help))
}

fn long_behind_short(marks: &[AskedBreakpoint]) -> Option<Diagnostic> {
    let is_short = |it: &AskedBreakpoint| it.class != Some(TtlClass::Long);
    let is_behind =
        |mark: &&AskedBreakpoint| marks.iter().any(|it| is_short(it) && comes_before(it.at, mark.at));
    let mark = marks.iter().filter(|it| !is_short(it)).find(is_behind)?;
    let message =
        "a breakpoint of an hour is behind one of five minutes, but the API takes longer lifetimes first";
    Some(problem(Code("marks-order"), mark, message.to_owned(), "give those before it `ttl: \"1h\"`, too"))
}

fn two_lifetimes(marks: &[AskedBreakpoint]) -> Option<Diagnostic> {
    let automatic = marks.iter().find(|it| it.at == PromptPlace::Automatic)?;
    let is_at_end = |it: &AskedBreakpoint| matches!(it.at, PromptPlace::LastMessages { n: 1.., offset: 0 });
    let class = |it: &AskedBreakpoint| it.class.unwrap_or_default();
    let mark = marks.iter().find(|it| is_at_end(it) && class(it) != class(automatic))?;
    let message =
        "the last message has a breakpoint of another lifetime than the automatic one that falls there";
    Some(problem(Code("marks-mixed"), mark, message.to_owned(), "give both the same `ttl`, or remove one"))
}

/// Returns whether a breakpoint surely stands before another: where messages alone decide, none does.
fn comes_before(one: PromptPlace, other: PromptPlace) -> bool {
    let rank = |it: PromptPlace| match it {
        PromptPlace::EndOf(LevelEnd::Tools) => 0,
        PromptPlace::EndOf(LevelEnd::System) => 1,
        PromptPlace::BeforeTurn(_) | PromptPlace::LastMessages { .. } => 2,
        PromptPlace::Automatic => 3,
    };
    match (one, other) {
        (PromptPlace::LastMessages { offset, .. }, PromptPlace::LastMessages { offset: later, .. }) => {
            offset > later
        }
        (PromptPlace::BeforeTurn(back), PromptPlace::BeforeTurn(later)) => back > later,
        _ => rank(one) < rank(other),
    }
}
