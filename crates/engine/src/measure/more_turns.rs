//! What more turns cost: a session that goes on at its end, in expectation, by what its own requests cost.
//!
//! A session with k % more turns goes on at its end for k % of its requests. Each of these sends a prompt as long as the session's longest. What a
//! prompt repeats costs in proportion to its length. What is new in it, outputs, summaries, recovery and all else cost what they cost a request on
//! average. As much is new in a session as its longest prompt holds, or all that was not read from the cache, where that is less; the rest was
//! sent again. So the cost grows in proportion to the turns, and `docs/reference/turns.md` says what it leaves out.

use super::Tally;
use super::assumed::{Assumed, AssumedChanges};
use crate::prelude::*;
use crate::price::{Bill, Costs};
use ctxsim_input::{AssumedNumber, PolicyFamily};

/// How many times an average request's input one more costs, at the end of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TurnGrowth {
    /// What is read from the cache.
    read: f64,
    /// What is not.
    missed: f64,
}

impl Tally {
    fn growth(&self) -> Option<TurnGrowth> {
        let main = &self.sums.main;
        let (prompts, longest) = (main.tokens.prompt(), main.prompt_max as f64);
        let read = longest * main.n as f64 / prompts as f64;
        let missed = (prompts - main.tokens.read) as f64;
        let new = if missed > 0.0 { (longest / missed).min(1.0) } else { 1.0 };
        (prompts > 0).then_some(TurnGrowth { read, missed: new + (1.0 - new) * read })
    }

    /// Returns what as many turns again would cost at the end of a session, in US dollars; k % more turns cost k % of it. `None` where nothing was
    /// sent, or a price is unknown.
    pub fn as_many_again(&self) -> Option<f64> {
        let (growth, main) = (self.growth()?, &self.costs.main);
        let missed = (main.write + main.uncached).usd();
        Some(self.costs.total()? + main.read.usd() * (growth.read - 1.0) + missed * (growth.missed - 1.0))
    }

    /// Returns it with so many turns more, as a share of its own: tokens, requests and costs grow as one more turn costs.
    pub fn with_more_turns(self, more: f64) -> Self {
        let Some(growth) = self.growth() else { return self };
        let [read, missed, rest] = [growth.read, growth.missed, 1.0].map(|it| 1.0 + more * it);
        let tokens = |it: u64, by: f64| (it as f64 * by).round() as u64;
        let cost = |it: Cost, by: f64| Cost((it.0 as f64 * by).round() as u128);
        let amount = |it: Amount| Amount((it.0 as f64 * rest).round() as i128);
        let expected = |it: Expected| Expected::from_f64(it.to_f64() * rest);
        let mut sums = self.sums;
        let own = &mut sums.main;
        own.n = tokens(own.n, rest);
        own.tokens.read = tokens(own.tokens.read, read);
        own.tokens.write = own.tokens.write.map(|it| tokens(it, missed));
        own.tokens.uncached = tokens(own.tokens.uncached, missed);
        own.tokens.output = tokens(own.tokens.output, rest);
        let main = &self.costs.main;
        let costs = Costs {
            main: Bill {
                read: cost(main.read, read),
                write: cost(main.write, missed),
                uncached: cost(main.uncached, missed),
                output: cost(main.output, rest),
                ..*main
            },
            compaction: cost(self.costs.compaction, rest),
            keep_alive: cost(self.costs.keep_alive, rest),
            storage: cost(self.costs.storage, rest),
            memory: cost(self.costs.memory, rest),
            penalty: cost(self.costs.penalty, rest),
            recovery: amount(self.costs.recovery),
            exploration: amount(self.costs.exploration),
            reaction: amount(self.costs.reaction),
            left: amount(self.costs.left),
            left_ends: self.costs.left_ends.map(amount),
            ..self.costs
        };
        Self {
            sums,
            costs,
            recovery_input: expected(self.recovery_input),
            recovery_output: expected(self.recovery_output),
            reaction_tokens: expected(self.reaction_tokens),
            recovery_interval: self.recovery_interval.map(|it| it.map(amount)),
            assumed: Box::new(self.assumed.times(rest)),
            counted_ends: self.counted_ends.map(|it| it.map(amount)),
            waiting: self.waiting.times(rest),
            latency_ms: self.latency_ms * rest,
            ..self
        }
    }

    /// Returns it with so many times the turns, which may be as few and as many times as `ends` says.
    pub fn at_turns_ratio(self, ratio: f64, ends: [f64; 2]) -> Self {
        let again = self.as_many_again().unwrap_or_default();
        let changes = ends.map(|end| Amount::of_usd(again * (end - ratio)));
        let more = self.with_more_turns(ratio - 1.0);
        let assumed: AssumedChanges = more.assumed.with(Assumed::Turns, changes);
        Self { assumed: Box::new(assumed), ..more }
    }
}

// How many times the turns agents took under published policies: the numbers of `assumptions/turns.toml`.

/// Ratios by family of policy and scaffold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TurnRatios {
    ratios: Vec<TurnRatio>,
}

/// The ratio of one family under one scaffold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TurnRatio {
    pub family: PolicyFamily,
    pub scaffold: String,
    /// How many models were compared, and on how many tasks each.
    pub contrasts: u64,
    pub n: u64,
    pub turns: AssumedNumber<f64>,
    /// The lowest and the highest of the models.
    pub range: [f64; 2],
    /// Of one half of the tasks and of the other.
    pub halves: [f64; 2],
}

declared_once! { pub TurnRatios: ctxsim_assumptions::TURNS }

impl TurnRatios {
    /// Returns all of them.
    pub fn all(&self) -> &[TurnRatio] {
        &self.ratios
    }

    /// Returns between which ratios a policy lies, around the one that a run asks for: those of all models under policies of its families,
    /// if it is one of them. What nothing was published of, or lies outside, is as it was asked for.
    pub fn ends(&self, policy: &Policy, asked: f64) -> [f64; 2] {
        let families = policy.families();
        let known = self.ratios.iter().filter(|it| families.contains(&it.family)).flat_map(|it| it.range);
        let [low, high] =
            known.fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], it| [low.min(it), high.max(it)]);
        if (low..=high).contains(&asked) { [low, high] } else { [asked; 2] }
    }
}
