//! The workloads as they are drawn: every item and every time is the oracle's.

use std::fs;

use ctxsim::timeline::{Item, Kind, Timeline};
use serde_json::{Value, json as value};

use super::{folders, json, timeline, workload};

/// What the oracle calls an item.
fn kind(item: &Item) -> &'static str {
    match item.kind {
        Kind::ToolSchema => "tool",
        Kind::System => "system",
        Kind::User => "user",
        Kind::Assistant => "text",
        Kind::ToolCall => "tool_use",
        Kind::ToolResult => "tool_result",
        _ => "none of the oracle's",
    }
}

/// The steps of a timeline in the shape of a trace: when, whether it begins a loop, what enters, what is answered.
fn steps(timeline: &Timeline) -> Vec<Value> {
    let spine = &timeline.spine;
    let items = |range: std::ops::Range<u32>| -> Vec<Value> {
        let items = &spine.items[range.start as usize..range.end as usize];
        items.iter().map(|it| value!([kind(it), it.raw])).collect()
    };
    let mut told = Vec::new();
    for (nth, turn) in spine.turns.iter().enumerate() {
        let mut enters = if nth == 0 { items(0..spine.n_stable) } else { Vec::new() };
        enters.extend(items(turn.user.clone()));
        for step in turn.steps.clone() {
            let row = &spine.steps[step as usize];
            told.push(value!([
                row.at_ms,
                row.response_ms,
                step == turn.steps.start,
                enters,
                items(row.reply.clone())
            ]));
            enters = items(row.results.clone());
        }
    }
    told
}

/// The steps of a trace without names of items.
fn expected(trace: &Value) -> Vec<Value> {
    let items = |list: &Value| -> Vec<Value> {
        list.as_array().unwrap().iter().map(|it| value!([it[1], it[2]])).collect()
    };
    let step = |it: &Value| {
        value!([
            it["t_ms"],
            it["response_start_ms"],
            it["boundary"],
            items(&it["enters"]),
            items(&it["emits"])
        ])
    };
    trace["steps"].as_array().unwrap().iter().map(step).collect()
}

#[test]
fn every_workload_is_drawn_as_the_oracle_draws_it() {
    for folder in folders() {
        for entry in fs::read_dir(folder.join("traces")).unwrap() {
            let trace = json(&entry.unwrap().path());
            let spec = workload(trace["name"].as_str().unwrap());

            assert_eq!(Some(spec.seed), trace["seed"].as_u64());
            assert_eq!(steps(&timeline(&spec)), expected(&trace), "{}", spec.name);
        }
    }
}
