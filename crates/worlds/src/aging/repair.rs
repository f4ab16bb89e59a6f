//! Where a memory loses answers, and what to change in which file.

use super::play::AnsweredQuestion;
use super::stream::{AgingStream, Ask};
use ctxsim_engine::take::StageRepair;
use ctxsim_input::policy::memory::{SessionMemory, SessionStore};

/// The stages in the order of the pipeline.
const STAGES: [&str; 4] = ["write", "keep", "find", "use"];

/// Returns the share of a stream's questions for one fact that each stage loses, if any were asked.
pub(super) fn losses(stream: &AgingStream, asked: &[AnsweredQuestion]) -> Option<[f64; 4]> {
    let is_one = |it: &&AnsweredQuestion| matches!(stream.probes[it.probe].ask, Ask::Any { .. });
    let has_scored = asked.iter().filter(is_one).any(|it| stream.probes[it.probe].is_scored);
    let counts = |it: &&AnsweredQuestion| is_one(it) && (!has_scored || stream.probes[it.probe].is_scored);
    let (mut lost, mut n) = ([0.0; 4], 0.0);
    for it in asked.iter().filter(counts) {
        n += 1.0;
        let [own, found, told] = [0, 1, 2].map(|nth| it.answers[nth].is_right);
        let stage = match (own, found, told) {
            (true, ..) => continue,
            (_, true, _) => 2,
            (.., true) => usize::from(it.is_written),
            _ => 3,
        };
        lost[stage] += 1.0;
    }
    (n > 0.0).then(|| lost.map(|it| it / n))
}

/// Returns what to repair by what each stage loses, stream by stream.
pub(super) fn repair(losses: &[Vec<f64>; 4], spec: Option<&SessionMemory>) -> Option<StageRepair> {
    StageRepair::of(|nth| losses[nth].clone(), |nth| change(STAGES[nth], spec))
}

/// Returns the field to change for a stage, and in which file.
fn change(stage: &str, spec: Option<&SessionMemory>) -> String {
    let store = spec.map(|it| it.store.name()).unwrap_or("nothing");
    let of_policy = |field: &str| format!("`memory.sessions.{field}` in the policy's file");
    match (stage, spec.map(|it| &it.store)) {
        ("use", _) => {
            "`load.aging.models` in the scenario's file: a model that uses more of what it reads".to_owned()
        }
        ("find", _) => of_policy("read") + ": read more, or all of it",
        (_, None | Some(SessionStore::Nothing)) => of_policy("store") + ": it keeps nothing",
        ("write", Some(SessionStore::Files)) => of_policy("store") + ": `entries` keep what files leave out",
        (_, Some(SessionStore::Entries { .. })) => of_policy("store.entries.capacity_tokens") + ": more",
        ("write", Some(it)) if it.compaction().is_some_and(|it| it.prompt == "careful") => {
            of_policy("store") + ": `entries` keep what a summary leaves out"
        }
        ("write", _) => {
            let fuller =
                format!("; or `store.{store}.prompt`, where the summary leaves out what it could hold");
            of_policy("store") + ": `entries` keep what a summary leaves out" + &fuller
        }
        _ => of_policy(&format!("store.{store}.words")) + ": more, or `entries`, which are not rewritten",
    }
}
