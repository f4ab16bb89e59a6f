//! The best schedule in hindsight under a profile's own rules: several candidates are played,
//! and the cheapest is used.
//!
//! A schedule is made for a simple cache (`builtin/schedule.rs`), and a provider's cache may differ: entries
//! only at breakpoints, steps, smallest prefixes, prices by length. So each candidate is played and billed
//! like any policy. Keeping everything is one of them, so the result never costs more than that.

use std::borrow::Cow;

use crate::engine::{CompiledPolicy, Simulation};
use crate::prelude::*;
use crate::price::{Costs, PriceRows};
use ctxsim_input::{Builtin, RecoveryPrice, ScheduleFor};

/// Returns a policy as it runs on a timeline under a profile with these limits: `hindsight` becomes its
/// cheapest schedule.
pub fn under<'p>(
    policy: &'p Policy,
    timeline: &Timeline,
    profile: &Profile,
    limits: &Limits,
) -> Cow<'p, Policy> {
    match policy.code {
        Some(Builtin::Hindsight) => {
            Cow::Owned(policy.clone().with_code(code(policy, timeline, profile, limits)))
        }
        _ => Cow::Borrowed(policy),
    }
}

/// Returns the code that a policy runs on a timeline under a profile with these limits.
pub fn code(policy: &Policy, timeline: &Timeline, profile: &Profile, limits: &Limits) -> Option<Builtin> {
    if policy.code != Some(Builtin::Hindsight) {
        return policy.code.clone();
    }
    let compiled = CompiledPolicy::new(timeline, policy, limits);
    let schedules = candidates(profile).into_iter().map(|it| Some(Builtin::Schedule(it)));
    let all = std::iter::once(policy.code.clone()).chain(schedules);
    let bill = |code| played(timeline, &compiled.clone().with_code(code), profile);
    let billed = all.map(|code| (bill(code.clone()), code));
    // The first of equals, so that nothing is dropped for nothing.
    billed.min_by(|(one, _), (other, _)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)))?.1
}

/// Returns the costs for which schedules are made: each write price with its lifetime, for dense and for
/// sparse entries.
fn candidates(profile: &Profile) -> Vec<ScheduleFor> {
    let rates = profile.prices.usual();
    let ttl_ms = lifetimes(&profile.cache);
    let writes = [Some((rates.input, ttl_ms[0])), rates.write(0).zip(Some(ttl_ms[0]))];
    let writes = writes.into_iter().chain([rates.write(1).zip(Some(ttl_ms[1]))]).flatten();
    let mut all = Vec::new();
    for (write, ttl_ms) in writes {
        for rewrites_all in [false, true] {
            let made_for = ScheduleFor { read: rates.read().0, write: write.0, ttl_ms, rewrites_all };
            if !all.contains(&made_for) {
                all.push(made_for);
            }
        }
    }
    all
}

/// Returns how long entries live, by class, in milliseconds.
fn lifetimes(rules: &CacheRules) -> [Option<u64>; 2] {
    match rules.plain() {
        CacheRules::Breakpoints(it) => [it.ttl_ms[0].or(it.ttl_ms[1]), it.ttl_ms[1].or(it.ttl_ms[0])],
        rules => [rules.ttl_ms(); 2],
    }
}

/// Plays and bills a candidate: the turns missing at its end, and US dollars.
fn played(timeline: &Timeline, compiled: &CompiledPolicy<'_>, profile: &Profile) -> (u32, f64) {
    let mut sink: (Sums, PriceRows) = Default::default();
    let recovery = match profile.assumptions.recovery {
        RecoveryPrice::Flat => compiled.recovery().under(None),
        RecoveryPrice::Requests => compiled.recovery(),
    };
    let play = Simulation::compiled(timeline, compiled, &profile.cache).recovering(&[recovery]);
    let outcome = play.run_each(std::slice::from_mut(&mut sink));
    let (sums, rows) = sink;
    let costs = Costs::new(&sums, Some(&rows.into()), outcome.limit_violations, profile);
    let missing = outcome.turns_requested.saturating_sub(outcome.turns_completed);
    (missing, costs.total().unwrap_or(f64::INFINITY))
}
