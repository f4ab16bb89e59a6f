//! The log of a run: every call, message and model request in order, and how each question was answered.

use super::users::QuestionKind;
use ctxsim_base::quantity::sums;
use ctxsim_engine::ledger::Loss;
use ctxsim_input::policy::memory::ServiceCall;

/// What happened at some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChatEvent {
    pub user: u32,
    /// The session; of answering, how many are over.
    pub session: u32,
    /// Whether a session was written or a question answered.
    pub phase: ChatPhase,
    /// When it began, in milliseconds.
    pub at_ms: u64,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Of these, milliseconds that were waited for the index.
    pub waited_ms: u64,
    /// What it was.
    pub what: Occurrence,
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatPhase {
    /// A session is written.
    Ingestion,
    /// A question is answered.
    Qa,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// The agent begins to work for a user.
    Initialised,
    /// A message comes.
    Message(u32),
    /// A call to the service, with the tokens that it carries.
    Call(ServiceCall, u64),
    /// A request to a model.
    Model {
        /// What it is for.
        role: ModelRole,
        /// Tokens of the instruction and of what it is to read, beside system prompt and document.
        said: u64,
        /// Words of the document in its prompt.
        document_words: u64,
        /// The document, by how often it has been written; 0 before.
        version: u32,
        /// Tokens that it writes.
        output: u64,
    },
    /// What is protected is larger than the cap, in words.
    ProtectedOverCap { protected_words: u64, cap_words: u64 },
}

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelRole {
    /// An entry for a message.
    Summary,
    /// The document.
    Synthesis,
    /// Whether what was found is enough.
    Judgement,
    Answer,
}

/// How a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    pub user: u32,
    /// Which question of the user.
    pub question: u32,
    /// Its type.
    pub kind: QuestionKind,
    /// Whether the answer is right.
    pub is_right: bool,
    /// What lost it, if it is wrong, or nothing if something was answered that was never said.
    pub loss: Option<Loss>,
    /// How many passes searched.
    pub passes: u32,
}

/// What a service holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Storage {
    pub entries: u64,
    /// Versions of documents.
    pub shards: u64,
    pub entry_words: u64,
    /// Words of all versions.
    pub shard_words: u64,
    /// Words of the current documents.
    pub document_words: u64,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatLog {
    /// What happened, user by user as their sessions came.
    pub events: Vec<ChatEvent>,
    pub answers: Vec<Answered>,
    /// By session of the users: what the service held when it was over, the last one at the end.
    pub storage: Vec<Storage>,
    /// Milliseconds from the beginning to the end of the user who was done last.
    pub wall_ms: u64,
}

impl ChatLog {
    /// Returns how many calls of a kind there were in a phase.
    pub fn calls(&self, phase: ChatPhase, call: ServiceCall) -> u64 {
        let is_one = |it: &&ChatEvent| {
            it.phase == phase && matches!(it.what, Occurrence::Call(kind, _) if kind == call)
        };
        self.events.iter().filter(is_one).count() as u64
    }

    /// Returns how many calls there were in a phase.
    pub fn n_calls(&self, phase: ChatPhase) -> u64 {
        ServiceCall::ALL.iter().map(|it| self.calls(phase, *it)).sum()
    }
}

impl ModelRole {
    /// All, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Summary, Self::Synthesis, Self::Judgement, Self::Answer];

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        ["summary", "synthesis", "judgement", "answer"][self as usize]
    }
}

impl ChatPhase {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        ["ingestion", "qa"][self as usize]
    }
}

sums!(Storage: entries, shards, entry_words, shard_words, document_words);

impl Storage {
    pub fn words(&self) -> u64 {
        self.entry_words + self.shard_words
    }
}
