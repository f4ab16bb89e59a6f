//! What published runs say about the task under policies: the contrasts of `assumptions/quality.toml`.

use crate::prelude::*;

use ctxsim_input::{AssumedNumber, PolicyFamily};

/// What is declared of the task.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct KnownTask {
    pub window: TaskWindow,
    pub sources: IndexMap<String, TaskSource>,
    /// Arms of published runs against those that kept everything, worked out from their files.
    pub contrasts: Vec<TaskContrast>,
    /// The same, by family and scaffold.
    pub pooled: Vec<TaskPool>,
    /// As others worked them out.
    pub read: Vec<TaskContrast>,
}

/// Which windows are small.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct TaskWindow {
    /// A window is small below this share of a session's requests.
    pub share: f64,
}

/// Where contrasts come from.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct TaskSource {
    pub title: String,
    pub url: String,
    pub about: String,
}

/// A number, with its 95% interval where that is known.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct TaskNumber {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A policy against keeping everything.
#[derive(Clone, Debug, Deserialize)]
pub struct TaskContrast {
    /// None where no policy of ctxsim is of its family.
    pub family: Option<PolicyFamily>,
    /// The source, by its key.
    pub source: String,
    pub policy: String,
    pub scaffold: String,
    #[serde(default)]
    pub model: String,
    /// The newest results that it shows.
    pub window: Option<u64>,
    /// How many tasks the published runs had, and of how many there are both arms here.
    pub tasks: Option<u64>,
    pub n: u64,
    /// The turns of the agent that keeps everything, on average.
    pub raw_turns: Option<f64>,
    /// Percentage points of tasks solved.
    pub points: TaskNumber,
    pub cost: TaskNumber,
    pub turns: Option<TaskNumber>,
}

/// Contrasts of several models together.
#[derive(Clone, Debug, Deserialize)]
pub struct TaskPool {
    pub family: PolicyFamily,
    pub source: String,
    pub scaffold: String,
    pub contrasts: usize,
    pub n: u64,
    pub points: TaskNumber,
    pub cost: TaskNumber,
    pub turns: TaskNumber,
    /// The points of one half of the tasks and of the other.
    pub halves: [f64; 2],
}

declared_once! { pub KnownTask: ctxsim_assumptions::QUALITY }

// What is assumed of levers that are worked out from bills: the numbers of `assumptions/levers.toml`.

/// What habits would cost that nobody recorded.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LeverTerms {
    /// The tokens of a summary that a user asks for.
    pub summary_tokens: AssumedNumber<f64>,
    /// The most requests of a session that another model may be tried on.
    pub trial_requests: u64,
}

declared_once! { pub LeverTerms: ctxsim_assumptions::LEVERS }
