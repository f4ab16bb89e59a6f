//! Needs that a recording reveals:
//! a call needed an earlier result if it repeats the result's text or returns to its source.
//!
//! **Needs of recordings are inferred** from later calls (`timeline/infer_needs`, one file per rule). A call that repeats words of an
//! earlier result, or returns to its file or process, needed that result at that request. A later *read* of the same file is not a need but
//! the fetch itself, and is already in the recording. An inferred need refers to one item and names its rule. Its result can be fetched by
//! its handle, or through any other item that still shows the handle's arguments. Weights, with their intervals, and all other assumptions
//! about recordings are in `assumptions/recorded.toml`, with sources.

mod history;
mod old_text;
mod rules;

use crate::prelude::*;

use super::{Inferred, ItemIx, Kind, Level, NO_ITEM, Need, Timeline, TurnEvidence};
use ctxsim_input::scenario::NeedRule;
use ctxsim_input::scenario::summaries::FactKind;
use history::{CallHistory, PastCall};

/// The rules; of equal weights, the first wins.
const RULES: &[InferenceRule] = &[
    InferenceRule { name: "old_text", find: old_text::find },
    InferenceRule { name: "polled_again", find: rules::polled_again },
    InferenceRule { name: "same_path", find: rules::same_path },
    InferenceRule { name: "literals", find: rules::literals },
];

/// Returns the names of all rules, in order.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|it| it.name)
}

/// A rule that finds the earlier results needed by a call.
struct InferenceRule {
    /// Its name in scenarios and rows.
    name: &'static str,
    /// Returns the results, in any order.
    find: fn(&PastCall, &CallHistory<'_>, &NeedRule) -> Vec<NeededResult>,
}

/// A result that a call needs.
#[derive(Clone, Copy)]
struct NeededResult {
    item: ItemIx,
    /// What the call names of it, if it names a fact.
    names: Option<FactKind>,
}

/// A rule with its numbers, and what it has found.
struct ActiveRule<'a> {
    rule: &'static InferenceRule,
    spec: &'a NeedRule,
    found: Inference,
}

/// Adds the needs that the calls of a timeline reveal; a timeline without text has none.
pub(super) fn infer_needs(timeline: &mut Timeline, specs: &IndexMap<String, NeedRule>, tools: &[String]) {
    let mut rules: Vec<ActiveRule<'_>> = RULES
        .iter()
        .filter_map(|rule| {
            let spec = specs.get(rule.name)?;
            let weight = spec.weight.filter(|it| *it > 0.0)?;
            let weight = weight.min(1.0);
            let interval = spec.interval.unwrap_or([weight; 2]).map(|it| it.clamp(0.0, 1.0));
            let level = spec.level.unwrap_or(Level::ExactEvidence);
            let found = Inference { rule: rule.name, n_found: 0, level, weight, interval };
            Some(ActiveRule { rule, spec, found })
        })
        .collect();
    if timeline.texts.is_empty() || rules.is_empty() {
        return;
    }
    let of_handles: Vec<&str> = ["same_path", "polled_again"]
        .into_iter()
        .filter_map(|it| specs.get(it)?.arguments.as_deref())
        .flatten()
        .map(String::as_str)
        .collect();
    let mut needs = std::mem::take(&mut timeline.needs);
    let mut history = CallHistory::new(timeline);
    for step in 0..timeline.spine.steps.len() {
        history.learn(step);
        for (rule, NeededResult { item, names }) in found(&history, step, &rules) {
            let rule = &mut rules[rule].found;
            rule.n_found += 1;
            let row = &timeline.spine.items[item as usize];
            let inferred = Inferred { rule: rule.rule, step: ix(step), item, names };
            let need = Need::new(row.turn_ix, rule.level, rule.weight, None);
            let need = Need { interval: rule.interval, ..need };
            let mentions = history.mentions(item, &of_handles);
            let is_file = timeline.spine.is_one_of(row.tool, tools);
            needs.push_item(inferred, need, TurnEvidence::of_item(row, is_file), &mentions);
        }
    }
    timeline.needs = needs;
    say(timeline, rules.into_iter().map(|it| it.found));
}

/// What a rule found.
pub(super) struct Inference {
    pub(super) rule: &'static str,
    /// The number of needs.
    pub(super) n_found: usize,
    /// How much of a result they ask for.
    pub(super) level: Level,
    /// Their probability.
    pub(super) weight: f64,
    /// The interval of that probability.
    pub(super) interval: [f64; 2],
}

/// Returns the results needed by a step's calls, each with the rule of the largest weight.
fn found(history: &CallHistory<'_>, step: usize, rules: &[ActiveRule<'_>]) -> Vec<(usize, NeededResult)> {
    let mut by_item: IndexMap<ItemIx, (usize, NeededResult)> = IndexMap::new();
    for call in history.spine.steps[step].reply.clone().filter_map(|it| history.call(it)) {
        for (index, active) in rules.iter().enumerate() {
            for one in (active.rule.find)(call, history, active.spec) {
                let (holds, found) = by_item.entry(one.item).or_insert((index, one));
                if (rules[*holds].found.weight, *holds) != (active.found.weight, index)
                    && (rules[*holds].found.weight < active.found.weight
                        || rules[*holds].found.weight <= active.found.weight && index < *holds)
                {
                    (*holds, *found) = (index, one);
                } else if *holds == index {
                    // Of several facts of one result, the first that rates are published of.
                    found.names = found.names.or(one.names);
                }
            }
        }
    }
    by_item.sort_unstable_keys();
    by_item.into_values().collect()
}

/// Limits of all weights; see docs/explanation/trust.md.
const UNKNOWN: [&str; 3] = [
    "Not known: how much more is fetched when a policy leaves no summary; weights were measured with a \
        harness's summaries, in sessions from few projects.",
    "Not known: what agents get wrong by continuing without fetching; the evidence kept shows where they \
        could.",
    "Not known: how a shorter prompt changes replies; they are as recorded under every policy.",
];

/// Describes which needs were found.
pub(super) fn say(timeline: &mut Timeline, rules: impl Iterator<Item = Inference>) {
    let found: Vec<String> = rules
        .filter(|it| it.n_found > 0)
        .map(|it| {
            let [low, high] = it.interval;
            let interval = if low < high { format!(" from {low} to {high}") } else { String::new() };
            format!("{} by `{}` ({}, weight {}{interval})", it.n_found, it.rule, it.level.name(), it.weight)
        })
        .collect();
    if !found.is_empty() {
        timeline.assumptions.push(format!(
            "Results that later calls needed, judged by text that the calls repeat: {}.",
            found.join(", ")
        ));
        timeline.assumptions.extend(UNKNOWN.map(str::to_owned));
    }
}

/// Returns the result of a call, if it has one.
fn result_of(timeline: &super::Spine, call: ItemIx) -> Option<ItemIx> {
    let pair = timeline.items.get(call as usize)?.pair;
    let is_result = timeline.items.get(pair as usize).is_some_and(|it| it.kind == Kind::ToolResult);
    (pair != NO_ITEM && is_result).then_some(pair)
}
