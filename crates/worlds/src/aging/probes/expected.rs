//! How probably a fact is held, and is in view, by session and lag, for values of the write and read numbers: played, not derived.

use std::sync::Arc;

use super::likelihood::UsePoint;
use crate::aging::assumed::{AgingNumbers, Model};
use crate::aging::generate;
use crate::aging::play::AgingPlayer;
use crate::aging::rules::MemoryRules;
use crate::aging::stream::{AgingStream, Ask};
use ctxsim_base::rng::Seed;
use ctxsim_engine::take::in_order;
use ctxsim_input::policy::memory::{MemoryPart, SessionMemory};
use ctxsim_input::scenario::AgingLoad;

/// The streams whose means stand for probabilities.
const STREAMS: u64 = 100;
/// The values of the write number that are played, and of the read number; between them lies a straight line.
const STEPS: [usize; 2] = [20, 12];

/// What is held and in view in one session of one lag.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LagCell {
    /// Held by the memory.
    pub(super) held: f64,
    /// Held, and in what a question brings back.
    pub(super) seen: f64,
}

/// Probabilities by values of the numbers, session and lag.
#[derive(Debug)]
pub(super) struct ExpectedShares {
    n_sessions: usize,
    /// How many values each axis has.
    n: [usize; 2],
    /// By value of write, then of read, then by session and lag.
    cells: Vec<Vec<LagCell>>,
}

impl ExpectedShares {
    /// Plays a memory with all values of the numbers that it has.
    pub(super) fn new(
        spec: &SessionMemory,
        load: &AgingLoad,
        model: &Arc<Model>,
        seed: Seed,
        has: [bool; 2],
    ) -> Self {
        // What the model uses is a factor of its own, and known.
        let oracle = spec.oracle.iter().copied().chain([MemoryPart::Use]).collect();
        let spec = SessionMemory { oracle, ..spec.clone() };
        let declared =
            model.answering(&load.numbers).map_or_else(|_| AgingNumbers::declared().clone(), |it| it.1);
        // What is written is fitted as it is under the agent's own prompt, however well it follows instructions.
        let model = &Arc::new(Model { adherence: 1.0, ..Model::clone(model) });
        let n = [0, 1].map(|axis| if has[axis] { STEPS[axis] + 1 } else { 1 });
        let streams = in_order(STREAMS as usize, |nth| {
            generate::stream(load, seed.child("probe stream", nth as u64), &declared)
        });
        let n_sessions: usize = streams.first().map_or(0, |it| it.sessions.len());
        let cells = in_order(n[0] * n[1], |at| {
            let place = [at / n[1], at % n[1]];
            let mut point = UsePoint([1.0, declared.fitted.extract, declared.fitted.similarity_margin]);
            for axis in [0, 1] {
                if has[axis] {
                    let [low, high] = UsePoint::RANGES[axis + 1];
                    point.0[axis + 1] = low + (high - low) * place[axis] as f64 / STEPS[axis] as f64;
                }
            }
            let numbers = super::with(&declared, &point);
            played(&spec, &streams, &numbers, model, n_sessions)
        });
        Self { n_sessions, n, cells }
    }

    /// Returns the probabilities of a session and a lag at a point; what is said in the session itself is in view.
    pub(super) fn at(&self, session: u32, lag: u32, point: &UsePoint) -> LagCell {
        if lag == 0 {
            return LagCell { held: 1.0, seen: 1.0 };
        }
        let last = self.n_sessions.saturating_sub(1);
        let session = (session as usize).min(last);
        let place = session * self.n_sessions + (lag as usize).min(session);
        let [write, read] = [0, 1].map(|axis| {
            let [low, high] = UsePoint::RANGES[axis + 1];
            let n = self.n[axis].saturating_sub(1);
            let at = (point.0[axis + 1] - low) / (high - low) * n as f64;
            let below = (at.floor() as usize).min(n.saturating_sub(1));
            (below, (below + 1).min(n), (at - below as f64).clamp(0.0, 1.0))
        });
        let cell = |write: usize, read: usize| self.cells[write * self.n[1] + read][place];
        let over_read = |at: usize| mixed(cell(at, read.0), cell(at, read.1), read.2);
        mixed(over_read(write.0), over_read(write.1), write.2)
    }
}

fn mixed(one: LagCell, other: LagCell, part: f64) -> LagCell {
    let between = |one: f64, other: f64| one + (other - one) * part;
    LagCell { held: between(one.held, other.held), seen: between(one.seen, other.seen) }
}

/// Plays a memory over streams, and counts what is held and in view by session and lag.
fn played(
    spec: &SessionMemory,
    streams: &[AgingStream],
    numbers: &AgingNumbers,
    model: &Arc<Model>,
    n_sessions: usize,
) -> Vec<LagCell> {
    let mut counts = vec![[0.0; 3]; n_sessions * n_sessions];
    for stream in streams {
        let player = AgingPlayer::of(stream, numbers, &[], false);
        let log = player.play(MemoryRules::new(Some(spec), Arc::clone(model)));
        for asked in &log.asked {
            let Ask::Any { facts, is_echoed: false } = &stream.probes[asked.probe].ask else { continue };
            let [fact] = facts.as_slice() else { continue };
            let Some(current) = stream.graph.current(*fact, asked.session) else { continue };
            let said = stream.graph.facts[current as usize].session;
            let place = asked.session as usize * n_sessions + asked.session.saturating_sub(said) as usize;
            let [seen, held, _] = &asked.answers;
            let count = &mut counts[place];
            count[0] += 1.0;
            count[1] += f64::from(u8::from(held.is_right));
            count[2] += f64::from(u8::from(seen.is_right));
        }
    }
    smoothed(&counts, n_sessions)
}

/// Returns shares by session and lag; a place that no question has takes those of all sessions with its lag.
fn smoothed(counts: &[[f64; 3]], n_sessions: usize) -> Vec<LagCell> {
    let of_lag = |lag: usize| {
        let mut sum = [0.0; 3];
        for session in 0..n_sessions {
            sum.iter_mut().zip(counts[session * n_sessions + lag]).for_each(|(sum, it)| *sum += it);
        }
        sum
    };
    let lags: Vec<[f64; 3]> = (0..n_sessions).map(of_lag).collect();
    let share = |[n, held, seen]: [f64; 3]| LagCell { held: held / n.max(1.0), seen: seen / n.max(1.0) };
    let at = |place: usize| {
        let own = counts[place];
        let mut lag = place % n_sessions.max(1);
        while own[0] == 0.0 && lags[lag][0] == 0.0 && lag > 0 {
            lag -= 1;
        }
        if own[0] > 0.0 { share(own) } else { share(lags[lag]) }
    };
    (0..counts.len()).map(at).collect()
}
