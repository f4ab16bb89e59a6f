//! Chats: what users say in their sessions and the later questions, whatever their source.

mod generate;
pub mod long_mem_eval;

use crate::prelude::*;

use super::ChatNumbers;
use super::summary::TYPES;
use ctxsim_input::policy::memory::DocSection;
use ctxsim_input::scenario::GeneratedChats;
use ctxsim_timeline::facts::{FactForm, FactPlane};
use ctxsim_timeline::{ItemIx, Kind, TurnIx};

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
pub enum ChatOrigin {
    /// They are drawn.
    Generated(GeneratedChats),
    /// They have been read.
    Read(Arc<[User]>),
}

impl Chats {
    /// Makes the chats of one trial.
    pub fn new(source: &ChatOrigin, seed: Seed, numbers: &ChatNumbers) -> Self {
        match source {
            ChatOrigin::Generated(made) => Self::of_users(generate::users(made, seed, numbers), seed),
            ChatOrigin::Read(users) => Self::of_users(Arc::clone(users), seed),
        }
    }

    /// Tells a timeline with facts as the chats of one user.
    pub fn of_timeline(timeline: &Timeline, seed: Seed) -> Self {
        Self::of_users(user(timeline, ChatNumbers::declared()).into_iter().collect::<Vec<_>>(), seed)
    }

    /// Takes users as they are.
    pub fn of_users(users: impl Into<Arc<[User]>>, seed: Seed) -> Self {
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
        TYPES[self as usize]
    }
}

/// A user that is being written.
pub struct UserDraft {
    user: User,
}

impl UserDraft {
    /// Begins a user of whom nothing is known yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_graph(name, Graph { domains: vec!["chat".to_owned()], ..Graph::default() })
    }

    /// Begins a user who will say the facts of a graph.
    pub(crate) fn with_graph(name: impl Into<String>, graph: Graph) -> Self {
        Self { user: User { name: name.into(), graph, ..User::default() } }
    }

    /// Begins a session.
    pub fn session(&mut self, messages: u32, words: u64) {
        self.user.sessions.push(ChatSession { messages, words, ..ChatSession::default() });
    }

    /// Returns how many sessions there are.
    pub fn n_sessions(&self) -> u32 {
        ix(self.user.sessions.len())
    }

    /// Says something new in a session that has begun.
    pub fn say(&mut self, session: u32, said: FactWording) -> FactIx {
        let record = self.user.graph.record(session, 0).unwrap_or_default();
        let fact = self.user.graph.say(record, Says::Subject, true);
        self.note(session, fact, said)
    }

    /// Says another value of something in a session that has begun, or nothing if it is over or has another
    /// value already.
    pub fn update(&mut self, old: FactIx, session: u32, said: FactWording) -> Option<FactIx> {
        let record = self.user.graph.record(session, 0).ok()?;
        let fact = self.user.graph.update(old, record, 0).ok()?;
        Some(self.note(session, fact, said))
    }

    /// Ends something in a session that has begun.
    pub fn end(&mut self, fact: FactIx, session: u32) {
        self.user.graph.invalidate(fact, session);
        self.user.sessions[session as usize].ends.push(fact);
    }

    /// Refers to something again in a session that has begun.
    pub fn again(&mut self, fact: FactIx, session: u32) {
        self.user.sessions[session as usize].again.push(fact);
    }

    /// Asks something.
    pub fn ask(&mut self, question: Question) {
        self.user.questions.push(question);
    }

    /// Returns the user so far.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// Ends the user.
    pub fn finish(mut self) -> User {
        let user = &mut self.user;
        for session in &mut user.sessions {
            session.facts.order_by_key(|it| (user.said[*it as usize].message, *it));
        }
        user.questions.order_by_key(|it| it.after);
        self.user
    }

    /// Says a fact of the graph in a session that has begun.
    pub(crate) fn note(&mut self, session: u32, fact: FactIx, said: FactWording) -> FactIx {
        self.user.said.push(said);
        self.user.sessions[session as usize].facts.push(fact);
        fact
    }
}

impl FactWording {
    /// Says something of a kind in a message.
    pub fn new(kind: StatementKind, message: u32, words: u32) -> Self {
        Self { message, kind, words, text: None }
    }
}

impl Question {
    /// A question of a type after so many sessions; its facts are needed in their current version.
    pub fn new(kind: QuestionKind, after: u32, needs: Vec<FactIx>) -> Self {
        Self {
            kind,
            after,
            needs,
            versions: NeededVersion::Current,
            needs_dates: kind == QuestionKind::Timeline,
            any: false,
            near: Vec::new(),
            is_echoed: false,
        }
    }
}

/// Returns a timeline's one user, or nothing if it has no facts. What is marked as a fact is one, what is not
/// is said in passing.
fn user(timeline: &Timeline, numbers: &ChatNumbers) -> Option<User> {
    let plane = timeline.facts.as_ref()?;
    let mut draft = UserDraft::new(timeline.name.clone());
    let messages = messages(timeline, &mut draft, numbers);
    let facts = said(plane, &messages, &mut draft, numbers);
    for probe in &plane.probes {
        let plant = &plane.plants[probe.plant as usize];
        let Some(fact) = facts.get(&plant.fact).copied() else { continue };
        let kind = if plant.version > 1 { QuestionKind::KnowledgeUpdate } else { QuestionKind::SingleFact };
        draft.ask(Question::new(kind, session_of(timeline, probe.at.turn_ix) + 1, vec![fact]));
    }
    Some(draft.finish())
}

/// The session and the message of each item.
type MessagePlaces = BTreeMap<ItemIx, (u32, u32)>;

/// Begins the sessions; returns each item's session and message.
fn messages(timeline: &Timeline, draft: &mut UserDraft, numbers: &ChatNumbers) -> MessagePlaces {
    let mut places = BTreeMap::new();
    for session in &timeline.spine.sessions {
        let (mut n, mut tokens) = (0, 0_u64);
        for turn in session.turns.clone() {
            for item in timeline.spine.turns[turn as usize].items.clone() {
                places.insert(item, (draft.n_sessions(), n));
                let it = &timeline.spine.items[item as usize];
                n += u32::from(matches!(it.kind, Kind::User | Kind::Assistant));
                tokens = tokens.saturating_add(it.raw.into());
            }
        }
        let words = (tokens as f64 / numbers.sizes.tokens_per_word.max(f64::MIN_POSITIVE)) as u64;
        draft.session(n.max(1), words);
    }
    places
}

/// Says the plants; returns the first version of each fact.
fn said(
    plane: &FactPlane,
    messages: &MessagePlaces,
    draft: &mut UserDraft,
    numbers: &ChatNumbers,
) -> BTreeMap<u32, u32> {
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    for plant in &plane.plants {
        let Some(&(session, message)) = messages.get(&plant.item) else { continue };
        let kind = if plant.form == FactForm::Explicit { StatementKind::Fact } else { StatementKind::Detail };
        let n_messages = draft.user().sessions[session as usize].messages;
        let said = FactWording::new(kind, message.min(n_messages - 1), numbers.sizes.statement_words);
        let fact = match last.get(&plant.fact).copied() {
            Some(old) => draft.update(old, session, said),
            None => Some(draft.say(session, said)),
        };
        if let Some(fact) = fact {
            first.entry(plant.fact).or_insert(fact);
            last.insert(plant.fact, fact);
        }
    }
    first
}

/// Returns the session of a turn; what is asked when the load is over belongs to the last.
fn session_of(timeline: &Timeline, turn: TurnIx) -> u32 {
    let sessions = &timeline.spine.sessions;
    let at = sessions.partition_point(|it| it.turns.end <= turn).min(sessions.len().saturating_sub(1));
    ix(at)
}
