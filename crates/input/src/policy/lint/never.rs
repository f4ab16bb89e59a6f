//! A trigger that no prompt meets, because its parts exclude each other.

use std::mem::discriminant;

use super::{Lint, LintHit, bound, under_all};
use crate::policy::{Cond, Relation};
use crate::prelude::*;
use ctxsim_base::grid::numbers::thousands;

pub(super) const LINT: Lint = Lint {
    code: Code("stage-never-fires"),
    source: "docs/reference/policy.ron: `all` needs each of its conditions",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        if let Some(why) = stage.when.as_ref().and_then(never) {
            let mend = "swap the two sizes, or write `any([…])` if one of them is enough";
            found.add(format!("stages.{}.when", stage.name), format!("it never fires: {why}"), mend);
        }
    }
}

/// Returns why a condition never holds, if sizes tell.
fn never(cond: &Cond) -> Option<String> {
    match cond {
        Cond::All(parts) => parts.iter().find_map(never).or_else(|| excluded(parts)),
        Cond::Any(parts) => {
            let all: Option<Vec<String>> = parts.iter().map(never).collect();
            all?.into_iter().next()
        }
        _ => None,
    }
}

/// Returns what no number can be: two bounds that must both hold exclude each other.
fn excluded(parts: &[Cond]) -> Option<String> {
    let mut bounds = Vec::new();
    parts.iter().for_each(|it| needed(it, &mut bounds));
    let is_least = |it: Relation| matches!(it, Relation::Above | Relation::AtLeast);
    bounds.iter().filter(|it| is_least(it.1)).find_map(|(cond, least, low)| {
        let highs = bounds.iter().filter(|it| !is_least(it.1) && discriminant(it.0) == discriminant(*cond));
        highs.into_iter().find_map(|(_, most, high)| {
            let is_closed = (*least, *most) == (Relation::AtLeast, Relation::AtMost);
            let excludes = |low, high| low > high || low == high && !is_closed;
            let ([low_tokens, high_tokens], under) = under_all(low, high, excludes)?;
            let [low, high] = [low_tokens, high_tokens].map(thousands);
            Some(format!("nothing is {} {low} and {} {high} tokens{under}", word(*least), word(*most)))
        })
    })
}

fn word(relation: Relation) -> &'static str {
    match relation {
        Relation::Above => "above",
        Relation::AtLeast => "at least",
        Relation::Below => "below",
        Relation::AtMost => "at most",
    }
}

/// Collects the bounds that must all hold.
fn needed<'c>(cond: &'c Cond, bounds: &mut Vec<(&'c Cond, Relation, &'c Size)>) {
    match cond {
        Cond::All(parts) => parts.iter().for_each(|it| needed(it, bounds)),
        _ => bounds.extend(bound(cond).map(|it| (cond, it.0, it.1))),
    }
}
