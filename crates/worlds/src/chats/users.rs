//! Chats: what users say in their sessions and the later questions, whatever their source.

mod draft;
mod generate;
mod locomo;
pub mod long_mem_eval;
mod plane;

use std::sync::Arc;

use crate::chats::ChatNumbers;
use crate::graph::{FactIx, Graph};
use ctxsim_base::rng::Seed;
use ctxsim_input::policy::memory::DocSection;
use ctxsim_input::scenario::GeneratedChats;
use ctxsim_timeline::Timeline;

pub use draft::UserDraft;

/// Chats of several users of one service, ready to be played.
#[derive(Clone, Debug)]
pub struct Chats {
    pub users: Arc<[User]>,
    /// Whether the agent is told when each conversation took place.
    pub conversation_time: bool,
    /// Milliseconds from the end of a session to the start of the next.
    pub session_ms: u64,
    /// The random generator of everything that happens to them.
    pub seed: Seed,
}

/// A user with what is said and asked.
#[derive(Clone, Debug, Default)]
pub struct User {
    /// What the memory is called.
    pub name: String,
    /// The versions of what is said, and what is retracted when.
    pub graph: Graph,
    /// By fact of the graph: how it is said.
    pub said: Vec<FactWording>,
    pub sessions: Vec<ChatSession>,
    /// What is asked, in the order of the sessions after which it is.
    pub questions: Vec<Question>,
}

/// How a fact is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactWording {
    /// The message of its session.
    pub message: u32,
    /// What kind of statement it is.
    pub kind: StatementKind,
    /// Its words in a document.
    pub words: u32,
    /// The words themselves, where the load has some.
    pub text: Option<Box<str>>,
}

/// A session of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatSession {
    /// The number of messages it has.
    pub messages: u32,
    /// Words of all of them.
    pub words: u64,
    /// The facts that it says, by message.
    pub facts: Vec<FactIx>,
    /// What it refers to again.
    pub again: Vec<FactIx>,
    pub ends: Vec<FactIx>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Something that holds.
    Fact,
    /// Something that the user likes.
    Preference,
    /// How people and things stand to each other.
    Entity,
    /// Something that happened.
    Event,
    /// Something said in passing.
    Detail,
}

/// A question about what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its type.
    pub kind: QuestionKind,
    /// How many sessions are over when it is asked.
    pub after: u32,
    /// The facts that an answer needs, or none if nothing of it was said.
    pub needs: Vec<FactIx>,
    pub versions: NeededVersion,
    /// Whether an answer needs their dates, too.
    pub needs_dates: bool,
    /// Whether one of them is enough.
    pub any: bool,
    /// Facts that are similar and not meant.
    pub near: Vec<FactIx>,
    /// Whether the question's own text holds the answer.
    pub is_echoed: bool,
}

/// A type of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QuestionKind {
    /// After a fact that was said once.
    SingleFact,
    /// After a fact that changed.
    KnowledgeUpdate,
    /// How many things were named in different sessions, or what follows from several of them.
    Counting,
    /// When something was, or what came first.
    Timeline,
    /// After something that was never said.
    Abstention,
    /// What was known before something changed, and where it came from.
    Audit,
}

/// The version in which a fact is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededVersion {
    /// The one that is current when it is asked.
    Current,
    Named,
}

/// Where the chats of a load come from.
#[derive(Clone, Debug)]
pub enum ChatOrigin<'a> {
    /// They are drawn.
    Generated(GeneratedChats),
    /// They have been read.
    Read(Arc<[User]>),
    /// They are a timeline with facts.
    Plane(&'a Timeline),
}

impl Chats {
    /// Makes the chats of one trial.
    pub fn new(source: &ChatOrigin<'_>, seed: Seed, numbers: &ChatNumbers) -> Self {
        let users: Arc<[User]> = match source {
            ChatOrigin::Generated(made) => generate::users(made, seed, numbers).into(),
            ChatOrigin::Read(users) => Arc::clone(users),
            ChatOrigin::Plane(timeline) => plane::user(timeline, numbers).into_iter().collect(),
        };
        Self::of(users, seed)
    }

    /// Takes users as they are.
    pub fn of(users: impl Into<Arc<[User]>>, seed: Seed) -> Self {
        Self { users: users.into(), conversation_time: false, session_ms: 0, seed }
    }

    /// Returns the number of sessions the longest user has.
    pub fn n_sessions(&self) -> usize {
        self.users.iter().map(|it| it.sessions.len()).max().unwrap_or(0)
    }
}

impl User {
    /// Returns what a fact is about: its first version.
    pub fn subject(&self, fact: FactIx) -> FactIx {
        self.graph.chain(fact).next().unwrap_or(fact)
    }

    /// Returns the facts that a question needs, each in the version in which it is needed; what no longer holds is left out.
    pub fn needed(&self, question: &Question) -> Vec<FactIx> {
        let last = question.after.saturating_sub(1);
        let version = |it: &FactIx| match question.versions {
            NeededVersion::Named => Some(*it),
            NeededVersion::Current => self.graph.current(*it, last),
        };
        question.needs.iter().filter_map(version).collect()
    }
}

impl StatementKind {
    /// Returns the section that it belongs to; `lists_details` takes what is said in passing into Facts.
    pub fn section(self, lists_details: bool) -> DocSection {
        match self {
            Self::Fact => DocSection::Facts,
            Self::Preference => DocSection::Preferences,
            Self::Entity => DocSection::Entities,
            Self::Event => DocSection::Timeline,
            Self::Detail if lists_details => DocSection::Facts,
            Self::Detail => DocSection::Notes,
        }
    }
}

impl QuestionKind {
    /// All, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::SingleFact,
        Self::KnowledgeUpdate,
        Self::Counting,
        Self::Timeline,
        Self::Abstention,
        Self::Audit,
    ];

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleFact => "single_fact",
            Self::KnowledgeUpdate => "knowledge_update",
            Self::Counting => "counting",
            Self::Timeline => "timeline",
            Self::Abstention => "abstention",
            Self::Audit => "audit",
        }
    }
}
