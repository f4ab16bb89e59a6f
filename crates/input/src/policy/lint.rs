//! What is wrong with a policy by construction: it would run, but users found out that it costs more than it saves.

mod empty;
mod front;
mod goal;
mod never;
mod saving;
mod separate;
mod summary;
mod target;
mod task;
mod window;
mod within;

use crate::prelude::*;

use super::law::Law;
use super::{Cond, Policy, Relation, Size, WindowKind};

/// A rule that policies are held to, without running them.
#[derive(Clone, Copy, Debug)]
pub struct Lint {
    pub code: Code,
    /// Where it was found out.
    pub source: &'static str,
    find: fn(&Policy, &mut LintHit<'_>),
}

/// All rules; each is a file.
pub static LINTS: [Lint; 11] = [
    target::LINT,
    saving::LINT,
    separate::LINT,
    front::LINT,
    window::LINT,
    summary::LINT,
    within::LINT,
    task::LINT,
    never::LINT,
    goal::LINT,
    empty::LINT,
];

/// Prompt limits under which sizes are compared, in tokens: what holds under all of them holds under any model.
const LIMITS: [u64; 4] = [128_000, 200_000, 400_000, 1_000_000];

/// What a rule finds.
struct LintHit<'l> {
    lint: &'l Lint,
    all: Vec<Diagnostic>,
}

impl LintHit<'_> {
    /// Adds what is wrong at a field, and the smallest change that mends it.
    fn add(&mut self, field: String, message: String, mend: &str) {
        let help = format!("{mend} (see {})", self.lint.source);
        self.all.push(Diagnostic::at(self.lint.code, field, message).help(help));
    }
}

impl Policy {
    /// Returns what is wrong with it by construction, except for what its file allows.
    pub fn lints(&self) -> Vec<Diagnostic> {
        let found = LINTS.iter().filter(|it| !self.allows.contains_key(it.code.name())).flat_map(|lint| {
            let mut found = LintHit { lint, all: Vec::new() };
            (lint.find)(self, &mut found);
            found.all
        });
        found.collect()
    }
}

/// Reports allowances that name neither a rule nor a law. One that is not needed may be inherited, so it is no problem.
pub(super) fn check_allowances(allows: &IndexMap<String, String>, problems: &mut Problems) {
    let known = || LINTS.iter().map(|it| it.code.name()).chain(Law::ALL.map(Law::name));
    for code in allows.keys().filter(|code| known().all(|it| it != code.as_str())) {
        let help = match nearest(code, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("no warning or law is called `{code}`");
        problems.push_at(Code("lint-unknown"), format_args!("allows.{code}"), message, help);
    }
}

/// Returns the lower bound of a trigger, if it has one, and what it is compared with; of alternatives, none holds for sure.
fn floor(cond: &Cond) -> Option<(&Cond, &Size)> {
    bounded(cond, |it| matches!(it, Relation::Above | Relation::AtLeast))
}

/// Returns the upper bound of a goal.
fn ceiling(cond: &Cond) -> Option<(&Cond, &Size)> {
    bounded(cond, |it| matches!(it, Relation::Below | Relation::AtMost))
}

fn bounded(cond: &Cond, is_wanted: fn(Relation) -> bool) -> Option<(&Cond, &Size)> {
    match cond {
        Cond::All(parts) => parts.iter().find_map(|it| bounded(it, is_wanted)),
        _ => bound(cond).filter(|it| is_wanted(it.0)).map(|it| (cond, it.1)),
    }
}

/// Returns the bound of what a prompt holds, if the condition is one.
fn bound(cond: &Cond) -> Option<(Relation, &Size)> {
    match cond {
        Cond::Prompt(it) | Cond::Body(it) | Cond::Raw(it) | Cond::Counted(it) | Cond::Scope(it) => it.given(),
        _ => None,
    }
}

/// Returns a size under a prompt limit; none where only a run knows it.
fn tokens(size: &Size, limit: u64) -> Option<u64> {
    let all = |parts: &[Size]| parts.iter().map(|it| tokens(it, limit)).collect::<Option<Vec<u64>>>();
    match size {
        Size::Tokens(tokens) => Some(*tokens),
        Size::Ratio(ratio) => Some(ratio.share_of(limit)),
        Size::Limit | Size::Window => Some(limit),
        Size::Times(factor, size) => Some(factor.share_of(tokens(size, limit)?)),
        Size::Sum(parts) => all(parts)?.into_iter().try_fold(0_u64, u64::checked_add),
        Size::Min(parts) => all(parts)?.into_iter().min(),
        Size::Max(parts) => all(parts)?.into_iter().max(),
        Size::Minus(parts) => {
            let parts = all(parts)?;
            let (first, rest) = parts.split_first()?;
            Some(rest.iter().fold(*first, |left, it| left.saturating_sub(*it)))
        }
        Size::ByWindow { below, of: WindowKind::Limit | WindowKind::Window, then, otherwise } => {
            tokens(if limit < *below { then } else { otherwise }, limit)
        }
        Size::Chars(_) | Size::OutputLimit | Size::Start | Size::Input | Size::Behind => None,
        Size::Count(_) | Size::PerRank(_) | Size::Param(_) | Size::Harness { .. } => None,
    }
}

/// Returns two sizes under the first limit, if a relation between them holds under all, and which limit that is, if that matters.
fn under_all(one: &Size, other: &Size, holds: impl Fn(u64, u64) -> bool) -> Option<([u64; 2], &'static str)> {
    let sizes = LIMITS.map(|it| Some([tokens(one, it)?, tokens(other, it)?]));
    let is_so = sizes.iter().all(|it| it.is_some_and(|it| holds(it[0], it[1])));
    let is_one = sizes.iter().all(|it| *it == sizes[0]);
    let under = if is_one { "" } else { " (under a limit of 128,000 tokens)" };
    sizes[0].filter(|_| is_so).map(|it| (it, under))
}
