//! A scenario file as written.

mod amount;
mod assume;
mod stream;
mod turns;

use crate::prelude::*;

use super::refetch::Refetch;
use super::user_messages::UserMessages;
use crate::policy::Kind;

pub use self::amount::*;
pub use self::assume::*;
pub use self::stream::*;
pub use self::turns::*;

crate::decoded_here!(ScenarioFile, LoadSpec, Assume);
crate::encoded_here!(ScenarioFile);

/// A scenario: a load and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// The name: the file's path below `scenarios/` without its extension.
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Parameters of policies that it overrides.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// The random seed. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Whether needs are weighted or sampled.
    #[serde(default)]
    pub recovery: RecoveryMode,
    /// How often needs are sampled, if they are. Default: 1.
    pub trials: Option<u64>,
    /// What an agent needs to fetch something again.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub refetch: Refetch,
    /// Whether what users asked is needed. Default: in recorded sessions, and in generated loads that declare no needs.
    pub user_messages: Option<UserMessages>,
    /// Items at the start of every prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stable: Vec<StableItem>,
    /// Tokens after the last message of each of the agent's requests, which are billed but never read by a
    /// later prompt. Default: 0.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub unread_tokens: Tokens,
    /// Whether every stated fact is asked for at the end of the load, in addition to what turns ask for.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub asks_at_end: bool,
    /// The only profiles under which it runs; `*` matches any run of characters. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// Tokens of a tool call, in addition to its purpose and arguments.
    #[serde(default)]
    pub call_overhead_tokens: Tokens,
    /// Tokens of an answer in later prompts, in addition to its billed output. Default: 0.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub answer_overhead_tokens: Tokens,
    /// Tools whose results are files that can be read again by range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_tools: Vec<String>,
    /// Characters per token, for policies that count characters. Default: 4.
    pub chars_per_token: Option<Decimal>,
    /// How many times the turns the agent takes under a policy that edits its prompts, 0.1 to 10. Default: as many.
    pub turns_ratio: Option<Decimal>,
    /// The source of the items.
    pub load: LoadSpec,
}

impl ScenarioFile {
    /// Returns a scenario without turns, under a name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// How the agent fetches what a prompt does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryMode {
    /// By probability: costs are expected values, and the history does not change.
    #[default]
    Expected,
    /// By sampling: a sampled fetch enters the history as a request, a call and its result.
    Sampled,
}

/// An item of the stable prefix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StableItem {
    /// Its kind.
    pub kind: Kind,
    /// Its size.
    pub tokens: Tokens,
    /// What tells it apart from another of its kind and size in the same place, where a turn changes the prefix.
    pub name: Option<String>,
}

/// The source of a scenario's items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LoadSpec {
    /// Written out.
    Turns(Vec<TurnSpec>),
    /// Several sessions, of one or of several users.
    Sessions(Vec<SessionFile>),
    /// Made from repeated patterns.
    Generate(Generate),
    /// Drawn at random: turns of every shape.
    Random {
        /// The number of user turns.
        turns: u64,
    },
    /// Synthetic conversations with planted facts.
    Conversation(Conversations),
    /// Sessions over which a memory ages.
    Aging(Box<AgingLoad>),
    /// Chats of many sessions, and questions about what was said in them.
    Chats(Box<ChatLoad>),
    /// A recorded session.
    Recorded {
        /// The file, relative to the scenario's folder.
        path: String,
        /// Assumptions about what the recording does not contain.
        #[serde(default)]
        assume: Box<Assume>,
    },
}

impl Default for LoadSpec {
    /// No turns.
    fn default() -> Self {
        Self::Turns(Vec::new())
    }
}

impl LoadSpec {
    /// Returns whether it is of items, one after another, rather than of a world of its own.
    pub fn is_of_items(&self) -> bool {
        !matches!(self, Self::Conversation(_) | Self::Aging(_) | Self::Chats(_))
    }

    /// Returns whether facts are planted in its items.
    pub fn plants_facts(&self) -> bool {
        let tells = |it: &TurnSpec| it.calls.iter().any(|call| call.told().next().is_some());
        let plants = |turns: &[TurnSpec]| turns.iter().any(|it| !it.plants.is_empty() || tells(it));
        match self {
            Self::Turns(turns) => plants(turns),
            Self::Sessions(all) => all.iter().any(|it| plants(&it.turns)),
            Self::Generate(made) => plants(&made.patterns),
            _ => false,
        }
    }

    /// Returns the file that it is, relative to the scenario's folder.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Recorded { path, .. } => Some(path),
            Self::Chats(load) => match &load.from {
                ChatSource::LongMemEval { path } => Some(path),
                ChatSource::Generated(_) => None,
            },
            Self::Aging(load) => load.path.as_deref(),
            _ => None,
        }
    }
}

// A load of chats whose users are later asked what they said, as written.

/// Chats of many sessions, and questions about what was said in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChatLoad {
    /// How often the chats are drawn; for chats from a file, how often their losses are.
    pub trials: u64,
    /// Whether the agent knows when each conversation took place. Default: false.
    #[serde(default)]
    pub conversation_time: bool,
    /// Seconds from the end of a session to the start of the next. Default: 0, so sessions are read one after
    /// the other.
    #[serde(default)]
    pub session_seconds: u64,
    /// Overrides of numbers in `assumptions/memory_runners/numbers.toml`, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub numbers: IndexMap<String, f64>,
    /// The source of the chats.
    pub from: ChatSource,
}

/// The source of chats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChatSource {
    /// Drawn from the seed.
    Generated(GeneratedChats),
    /// A JSON file in LongMemEval's format: each question has a user with its own sessions.
    LongMemEval {
        /// The file, relative to the scenario's folder.
        path: String,
    },
}

/// Randomly drawn chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GeneratedChats {
    /// Sessions per user.
    pub sessions: u64,
    /// Messages per session.
    pub messages: u64,
    /// Users that share the service. Default: 1.
    #[serde(default = "crate::text::once")]
    pub users: u64,
    /// Questions of each type for each user after all sessions.
    #[serde(default)]
    pub questions: QuestionCounts,
}

/// Numbers of questions by type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QuestionCounts {
    /// About a fact that was stated once. Default: 10.
    pub single_fact: u64,
    /// About a fact that changed. Default: 10.
    pub knowledge_update: u64,
    /// About the number of things named in different sessions. Default: 10.
    pub counting: u64,
    /// About when something happened, or what came first. Default: 10.
    pub timeline: u64,
    /// About something that was never stated. Default: 10.
    pub abstention: u64,
    /// About the earlier value of a fact that changed, and where it came from. Default: 0.
    #[serde(skip_serializing_if = "crate::text::is_default")]
    pub audit: u64,
}

impl Default for QuestionCounts {
    fn default() -> Self {
        Self { single_fact: 10, knowledge_update: 10, counting: 10, timeline: 10, abstention: 10, audit: 0 }
    }
}

// A load of synthetic conversations with planted facts, as written.

/// Conversations of several lengths, each drawn many times, with facts planted in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Conversations {
    /// Messages of a conversation; each length is drawn `trials` times.
    pub lengths: Vec<u64>,
    /// Conversations per length.
    pub trials: u64,
    /// The random generator.
    #[serde(default)]
    pub random: Random,
    /// The `PYTHONHASHSEED` under which `cpython` hashes strings.
    pub hash_seed: Option<u32>,
    /// The share of messages that state a fact, above 0 and at most 1.
    pub needle_density: f64,
    /// The share of implicit facts, said in passing, 0 to 1.
    pub implicit_ratio: f64,
    /// The share of a conversation's tokens that fits into a prompt, above 0 and at most 1.
    pub context_budget_ratio: f64,
    /// Seconds between messages. Default: none.
    #[serde(default)]
    pub message_seconds: u64,
    /// The topics of conversations, one word each.
    pub domains: Vec<String>,
    /// Keys of facts with their values, by category.
    pub categories: IndexMap<String, IndexMap<String, FactValues>>,
}

/// The random generator of conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Random {
    /// Named streams: a draw in one place never shifts a draw in another.
    #[default]
    Named,
    /// CPython's `random.Random`, one draw after the other, as in a published Python benchmark.
    Cpython,
}

/// The possible values of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FactValues {
    /// A whole number.
    Between {
        /// The smallest.
        first: u64,
        /// The largest.
        last: u64,
        /// The prefix.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prefix: String,
    },
    /// A number with decimals.
    Uniform {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
        /// The number of decimals.
        decimals: u8,
        /// The suffix.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        suffix: String,
    },
    /// One of several words.
    OneOf(Vec<String>),
}

// A load of many sessions in which facts are stated, changed, retracted and asked for again, as written.

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
