//! A load of many sessions in which facts are stated, changed, retracted and asked for again, as written.

use crate::prelude::*;

use super::StreamFile;

/// Sessions over which a memory ages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgingLoad {
    /// The generator of the sessions; `crates/worlds/src/aging/generate.rs` lists them. Required unless `stream` or `path` gives
    /// them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub generator: String,
    /// The number of sessions that a generator makes. Required with `generator`.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub sessions: u64,
    /// The sessions, written out.
    pub stream: Option<Box<StreamFile>>,
    /// A JSON file with the sessions, relative to the scenario's folder: what `--rows facts` writes, a `dependency_graph.json` of
    /// AgingBench, or a file in the format of LongMemEval or LoCoMo.
    pub path: Option<String>,
    /// The number of session streams to draw; with `stream` or `path`, how often the losses of each stream are drawn.
    pub trials: u64,
    /// The models that answer, each as its own load: names of files in `assumptions/aging/models`, or `.toml` files of your own,
    /// relative to the scenario's folder.
    pub models: Vec<String>,
    /// Overrides of numbers in `assumptions/aging/numbers.toml`, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub numbers: IndexMap<String, f64>,
    /// The preset of the pressure, for fields below that are omitted.
    #[serde(default)]
    pub pressure: PressurePreset,
    /// What the environment says in a session.
    pub tokens_per_session: Option<u64>,
    /// The share of sessions, 0 to 1, with a question that combines several earlier facts.
    pub dependency_density: Option<f64>,
    /// The share of facts, 0 to 1, that change their value in a session.
    pub update_rate: Option<f64>,
    /// The most versions of a fact; a question combines at most one fact more. 1 to 4.
    pub max_chain_depth: Option<u64>,
    /// Pairs of facts that can be confused.
    pub confusable_pairs: Option<u64>,
    /// The session in which they are stated.
    pub confusable_start_session: Option<u64>,
    /// Sessions at the start without questions that combine several facts.
    pub warmup_sessions: Option<u64>,
    /// The share of facts, 0 to 1, that are retracted in a session.
    pub forget_rate: Option<f64>,
    /// Whether facts change repeatedly, up to `max_chain_depth`; otherwise once, as in the benchmark by
    /// default.
    #[serde(default)]
    pub deep_version_chains: bool,
    /// Whether a running total is asked for in every session; otherwise in every second or third.
    #[serde(default)]
    pub dense_totals: bool,
    /// After this many sessions nothing new is stated, while memories continue to be rewritten. Default:
    /// never.
    pub curated_sessions: Option<u64>,
    /// The score before any question has been asked.
    #[serde(default)]
    pub before_first: BeforeFirst,
    /// Whether the answers with perfect retrieval and with perfect context have draws of their own, as those of a live model
    /// do, so that an oracle can make an answer worse. Default: false.
    #[serde(default)]
    pub own_oracle_draws: bool,
    /// Events that affect the memory; each run is accompanied by a control run without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<AgingEvent>,
}

impl AgingLoad {
    /// Returns the load of a file that is named itself, answered by a model.
    pub fn of_file(path: &str, trials: u64, model: &str) -> Self {
        Self { path: Some(path.to_owned()), trials, models: vec![model.to_owned()], ..Self::default() }
    }

    /// Returns how many sessions it has; 0 if only its file tells.
    pub fn n_sessions(&self) -> u64 {
        self.stream.as_ref().map_or(self.sessions, |it| it.sessions.len() as u64)
    }

    /// Returns the fields it sets that only a generator reads.
    pub fn of_generators(&self) -> Vec<&'static str> {
        let fields = [
            ("sessions", self.sessions > 0),
            ("pressure", self.pressure != PressurePreset::Usual),
            ("tokens_per_session", self.tokens_per_session.is_some()),
            ("dependency_density", self.dependency_density.is_some()),
            ("update_rate", self.update_rate.is_some()),
            ("max_chain_depth", self.max_chain_depth.is_some()),
            ("confusable_pairs", self.confusable_pairs.is_some()),
            ("confusable_start_session", self.confusable_start_session.is_some()),
            ("warmup_sessions", self.warmup_sessions.is_some()),
            ("forget_rate", self.forget_rate.is_some()),
            ("deep_version_chains", self.deep_version_chains),
            ("dense_totals", self.dense_totals),
            ("curated_sessions", self.curated_sessions.is_some()),
        ];
        fields.into_iter().filter(|it| it.1).map(|it| it.0).collect()
    }
}

/// How much pressure a load puts on a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PressurePreset {
    /// The benchmark's configuration without a preset.
    #[default]
    Usual,
    /// No dependencies, changes, confusable facts or retractions.
    None,
    /// A little of each.
    Light,
    /// The benchmark's own choice.
    Medium,
    /// Much of each.
    Heavy,
}

/// The score of sessions before any question has been asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BeforeFirst {
    /// None; the curve begins with the first score.
    #[default]
    Absent,
    /// 1, as the paper has it.
    One,
}

/// An event that affects a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgingEvent {
    /// The session before which it happens, from 1.
    pub session: u64,
    /// The event.
    pub what: Happening,
}

/// An event that can affect the memory of a deployed agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Happening {
    /// A part is lost: the oldest records or history, or the end of a summary.
    PartialReset {
        /// The lost share, 0 to 1.
        share: f64,
    },
    /// Records are reordered, and questions find different ones.
    Reindex,
    /// Summaries and files get fewer words from now on.
    ReduceBudget {
        /// The number of words.
        words: u64,
    },
    /// The memory is cut to its first words, once.
    MemoryCompaction {
        /// The number of words.
        words: u64,
    },
    /// The history is lost: all of a summary, of records or of files; for a summary made from the history, only the
    /// history.
    FlushHistory,
    /// The summary is made again, or the files are.
    Recompact,
    /// Files are merged, two into one, and rewritten.
    MergeFiles,
    /// Everything is rewritten in another form.
    Migration,
    /// Summaries use another prompt from now on.
    PromptUpdate {
        /// The prompt.
        prompt: String,
    },
    /// Another model answers from now on.
    ModelRotation {
        /// The model.
        model: String,
    },
}
