//! Where a memory loses answers, and what each change of a field or of an event brings.

use super::Model;
use super::metric::{ScoreCurve, mean};
use super::play::{AgingPlayer, AnsweredQuestion};
use super::stream::{Aging, AgingStream, Ask};
use crate::prelude::*;
use crate::trial::LosingMemory;
use ctxsim_input::policy::memory::SessionMemory;
use ctxsim_input::scenario::AgingEvent;
use ctxsim_input::text::set::{Override, SetTarget};

/// The stages in the order of the pipeline.
const STAGES: [&str; 4] = ["write", "keep", "find", "use"];
/// How many times as much of something is tried.
const MORE: u64 = 4;

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

/// Returns the changes of a load that leave out an event, or all of them.
fn without_events(load: &AgingLoad) -> Vec<String> {
    let n = load.events.len();
    let mut kept: Vec<Vec<&AgingEvent>> = Vec::new();
    if n > 1 {
        kept.extend(
            (0..n).map(|at| load.events.iter().enumerate().filter(|it| it.0 != at).map(|it| it.1).collect()),
        );
    }
    if n > 0 {
        kept.push(Vec::new());
    }
    let set = |events: &Vec<&AgingEvent>| {
        Some(format!("scenario.load.aging.events={}", ctxsim_input::text::source::value_text(events)?))
    };
    kept.iter().filter_map(set).collect()
}

/// Returns what can be changed so that a stage loses less, as `--set` takes it; what a file does not take is not played.
fn of_stage(nth: usize, memory: Option<&SessionMemory>, aging: &Aging) -> Vec<String> {
    let Some(memory) = memory else { return Vec::new() };
    let store = format!("memory.sessions.store.{}", memory.store.name());
    match STAGES[nth] {
        "use" => {
            let does = |it: &Model| it.utilisation * it.recall_by_span;
            let best = Model::all().iter().max_by(|one, other| does(one).total_cmp(&does(other)));
            let best = best.filter(|it| does(it) > does(&aging.model)).into_iter();
            best.map(|it| format!("scenario.load.aging.models=[\"{}\"]", it.name)).collect()
        }
        "find" => {
            let more = memory.read.count().map(|n| {
                let kind = if matches!(memory.read, SessionRead::Last(_)) { "last" } else { "top.n" };
                format!("memory.sessions.read.{kind}={}", n * MORE)
            });
            more.into_iter().chain(["memory.sessions.read=all".to_owned()]).collect()
        }
        _ => {
            let mut changes = vec!["memory.sessions.store=entries()".to_owned()];
            if let Some(summary) = memory.store.compaction() {
                let of_prompt = aging.numbers.prompts.get(&summary.prompt).and_then(|it| it.words);
                changes.extend(summary.words.or(of_prompt).map(|it| format!("{store}.words={}", it * MORE)));
                changes.extend(aging.numbers.prompts.keys().map(|it| format!("{store}.prompt={it}")));
            }
            if let SessionStore::Entries { capacity_tokens: Some(tokens) } = &memory.store {
                changes.push(format!("{store}.capacity_tokens={}", tokens * MORE));
            }
            changes
        }
    }
}

impl Aging {
    /// Finds what to repair in a memory.
    pub(super) fn repair(&self, memory: &LosingMemory) -> Option<StageRepair> {
        let changes = |nth: usize| {
            [without_events(&self.load), of_stage(nth, memory.policy.session_memory(), self)].concat()
        };
        memory.repair(changes, |change| self.scored(&memory.policy, change))
    }

    /// Returns the mean score over all streams with a field of the policy or of the scenario set as `--set` sets it; none if neither
    /// takes that.
    fn scored(&self, policy: &Policy, change: &str) -> Option<f64> {
        let change = Override::parse(change).ok()?;
        let is_of_policy = change.target == SetTarget::Policy;
        let aging = if is_of_policy { self.clone() } else { self.setting(&change)? };
        let policy = if is_of_policy { policy.setting(&change)? } else { policy.clone() };
        let scores = (0..aging.n_trials()).map(|trial| {
            let stream = aging.stream(trial);
            let log = AgingPlayer::new(&aging, &stream, true).policy(&policy, &aging.model);
            ScoreCurve::new(&log.scores()).mean()
        });
        mean(scores.flatten())
    }
}
