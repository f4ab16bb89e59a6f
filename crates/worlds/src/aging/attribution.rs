//! Which stage of the memory pipeline is a candidate for repair: accuracy as it is, with perfect retrieval, and with perfect context.

use crate::prelude::*;

/// How much write errors must change across a session to count as a discontinuity.
const DISCONTINUITY: f64 = 0.10;

/// A session's accuracy with none, one and two parts replaced by oracles: P1, P2, P3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ladder {
    pub session: u32,
    /// The three accuracies.
    pub accuracy: [f64; 3],
    /// How many questions they are of.
    pub n: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineStage {
    /// What was not written, or not kept.
    Write,
    /// What was kept and not found.
    Read,
    /// What was found and not used.
    Use,
    /// One of the first two, if there is no retrieval to tell them apart by.
    WriteOrRead,
}

/// Shares of the error by stage: a diagnosis of where to look, not of a cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Attribution {
    /// Error that is left with perfect context.
    pub use_error: f64,
    /// Error that perfect context takes away beyond perfect retrieval, or none if there is no retrieval step.
    pub write_error: Option<f64>,
    /// Error that perfect retrieval takes away, or none if there is no retrieval step.
    pub read_error: Option<f64>,
    /// Both, if there is no retrieval step.
    pub write_or_read_error: Option<f64>,
    /// All of it.
    pub total_error: f64,
    /// The share of use in it, or none if there is no error.
    pub use_share: Option<f64>,
    /// The stage with the largest share.
    pub candidate: Option<PipelineStage>,
    /// Sessions in which an oracle made answers worse, so that shares say nothing.
    pub anomalies: Vec<u32>,
    /// Sessions across which the write error jumps, and by how much.
    pub discontinuities: Vec<(u32, f64)>,
}

impl Ladder {
    /// Returns the errors of use, write and read, none below 0.
    pub fn errors(&self) -> [f64; 3] {
        let [p1, p2, p3] = self.accuracy;
        [1.0 - p3, p3 - p2, p2 - p1].map(|it| it.max(0.0))
    }

    /// Returns whether an oracle made answers worse.
    pub fn is_anomaly(&self) -> bool {
        let [p1, p2, p3] = self.accuracy;
        p1 > p2 || p2 > p3
    }
}

impl Attribution {
    /// Divides the error of sessions, each weighted by its questions, or none if nothing was asked. Without a
    /// retrieval step, what was not written and what was not found are told together.
    pub fn new(sessions: &[Ladder], has_retrieval: bool) -> Option<Self> {
        let weight = |it: &Ladder| f64::from(it.n.max(1));
        let all: f64 = sessions.iter().map(weight).sum();
        if sessions.is_empty() {
            return None;
        }
        let [used, write, read] = [0, 1, 2]
            .map(|stage| sessions.iter().map(|it| it.errors()[stage] * weight(it)).sum::<f64>() / all);
        let shares = if has_retrieval {
            vec![(PipelineStage::Use, used), (PipelineStage::Write, write), (PipelineStage::Read, read)]
        } else {
            vec![(PipelineStage::Use, used), (PipelineStage::WriteOrRead, write + read)]
        };
        let largest =
            shares.into_iter().filter(|it| it.1 > 0.0).max_by(|one, other| one.1.total_cmp(&other.1));
        Some(Self {
            use_error: used,
            write_error: has_retrieval.then_some(write),
            read_error: has_retrieval.then_some(read),
            write_or_read_error: (!has_retrieval).then_some(write + read),
            total_error: used + write + read,
            use_share: Some(used / (used + write + read)).filter(|it| it.is_finite()),
            candidate: largest.map(|it| it.0),
            anomalies: sessions.iter().filter(|it| it.is_anomaly()).map(|anomaly| anomaly.session).collect(),
            discontinuities: discontinuities(sessions),
        })
    }
}

/// Returns the sessions across which the write error jumps: maintenance, told apart from gradual loss by time alone.
fn discontinuities(sessions: &[Ladder]) -> Vec<(u32, f64)> {
    let jump = |it: &[Ladder]| (it[1].session, it[2].errors()[1] - it[0].errors()[1]);
    sessions.windows(3).map(jump).filter(|it| it.1.abs() >= DISCONTINUITY).collect()
}
