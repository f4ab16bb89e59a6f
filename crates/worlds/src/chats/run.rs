//! The session loop: users write their sessions through a runner and are asked questions, in the order of their own clocks.

use super::answer;
use super::assumed::{ChatNumbers, RunnerRules};
use super::document::{ChatDocument, News};
use super::log::{Answered, ChatEvent, ChatLog, ChatPhase, ModelRole, Occurrence, Storage};
use super::service::Service;
use super::users::{ChatSession, Chats, StatementKind, User};
use crate::prelude::*;
use ctxsim_base::rng::Stream;
use ctxsim_input::policy::memory::DocSection;

/// Plays runners over chats.
pub struct ChatPlayer<'a> {
    pub chats: &'a Chats,
    /// The declared numbers, as the load has them.
    pub numbers: &'a ChatNumbers,
}

impl ChatPlayer<'_> {
    /// Plays a policy's runner; a policy without one keeps nothing.
    pub fn play(&self, spec: Option<&ServiceMemory>) -> ChatLog {
        let rules = RunnerRules::new(spec, self.numbers);
        let users = &self.chats.users;
        let mut service = Service::new(&rules.service, users);
        let mut log =
            ChatLog { storage: vec![Storage::default(); self.chats.n_sessions()], ..ChatLog::default() };
        let mut states: Vec<DeskState> =
            (0..users.len()).map(|user| DeskState::new(self.chats, user, &rules)).collect();
        let mut at_desk = |user: usize, state: &mut DeskState, work: fn(&mut Desk<'_, '_>)| {
            let (chats, rules, service, log) = (self.chats, &rules, &mut service, &mut log);
            work(&mut Desk { user: &users[user], user_ix: user, chats, rules, service, log, state });
        };
        for (user, state) in states.iter_mut().enumerate() {
            at_desk(user, state, |desk| desk.note(Occurrence::Initialised));
        }
        // Whoever's clock stands earliest goes on, so that writes reach the one indexer nearly in order.
        let is_left = |user: usize, state: &DeskState| (state.session as usize) < users[user].sessions.len();
        while let Some(user) = (0..users.len())
            .filter(|it| is_left(*it, &states[*it]))
            .min_by_key(|it| (states[*it].now_ms, *it))
        {
            at_desk(user, &mut states[user], one_session);
        }
        log.wall_ms = states.iter().map(|it| it.now_ms).max().unwrap_or(0);
        log
    }
}

/// Writes one session, and asks what is asked after it. With entries, each message is one, and the document beside them is also written
/// and put in mid-session; without, messages gather until the session is over. A policy without a runner calls nothing.
fn one_session(desk: &mut Desk<'_, '_>) {
    let entries = desk.rules.spec.as_ref().filter(|it| it.write.entries);
    desk.start();
    for message in 0..desk.session().messages {
        desk.state.n_messages = message + 1;
        desk.note(Occurrence::Message(message));
        let Some(entries) = entries else { continue };
        desk.add_entry(message);
        if entries.flushes_every().is_some_and(|it| (u64::from(message) + 1).is_multiple_of(it)) {
            desk.flush();
        }
    }
    desk.flush();
    desk.close();
    desk.state.phase = ChatPhase::Qa;
    answer::due(desk);
    desk.state.phase = ChatPhase::Ingestion;
    desk.pause();
}

/// Where a runner works for one user.
pub struct Desk<'d, 'a> {
    pub user: &'a User,
    /// The user's place among those of the service.
    pub user_ix: usize,
    pub chats: &'a Chats,
    /// The policy's words and the declared numbers.
    pub rules: &'a RunnerRules,
    pub service: &'d mut Service<'a>,
    log: &'d mut ChatLog,
    pub state: &'d mut DeskState,
}

/// How far a user is.
#[derive(Clone, Debug)]
pub struct DeskState {
    /// The session that is being written, or how many are over.
    pub session: u32,
    /// The user's clock, in milliseconds.
    pub now_ms: u64,
    /// Whether a session is written or a question answered.
    pub phase: ChatPhase,
    /// How many questions have been asked.
    pub n_asked: usize,
    /// The document as it was written last.
    pub document: ChatDocument,
    /// How often it has been written.
    pub version: u32,
    /// Messages of the session that have come.
    n_messages: u32,
    /// How many of the session's facts are in the document, or have been lost on the way.
    n_written: usize,
    draws: DeskDraws,
}

/// Draws of what becomes of a statement.
#[derive(Clone, Debug)]
struct DeskDraws {
    entry: Stream,
    take: Stream,
    keep: Stream,
    contradiction: Stream,
}

impl DeskState {
    /// Begins with an empty document.
    fn new(chats: &Chats, user: usize, rules: &RunnerRules) -> Self {
        let seed = user_seed(chats, user);
        let sections: &[DocSection] = rules.spec.as_ref().map_or(&[], |it| &it.store.sections);
        Self {
            session: 0,
            now_ms: 0,
            phase: ChatPhase::Ingestion,
            n_asked: 0,
            document: ChatDocument::new(sections),
            version: 0,
            n_messages: 0,
            n_written: 0,
            draws: DeskDraws {
                entry: seed.stream("runner entry", 0),
                take: seed.stream("runner take", 0),
                keep: seed.stream("runner keep", 0),
                contradiction: seed.stream("runner contradiction", 0),
            },
        }
    }
}

/// Returns where the draws of a user come from: one more user changes nobody's.
pub(crate) fn user_seed(chats: &Chats, user: usize) -> Seed {
    chats.seed.child("runner user", user as u64)
}

impl Desk<'_, '_> {
    /// Returns the session that is being written.
    pub fn session(&self) -> &ChatSession {
        &self.user.sessions[self.state.session as usize]
    }

    /// Makes the calls of a session's start.
    pub fn start(&mut self) {
        self.state.n_messages = 0;
        self.state.n_written = 0;
        let calls: Vec<ServiceCall> =
            self.rules.spec.iter().flat_map(|it| it.starts_with()).copied().collect();
        calls.into_iter().for_each(|it| self.call(it));
    }

    /// Makes the calls of a session's end; the document is written before it is put.
    fn flush(&mut self) {
        let calls: Vec<ServiceCall> = self.rules.spec.iter().flat_map(|it| it.ends_with()).copied().collect();
        for call in calls {
            if call == ServiceCall::PutContext {
                self.synthesise();
            }
            self.call(call);
        }
    }

    /// Makes a call to the service.
    pub fn call(&mut self, call: ServiceCall) {
        let mut waited = 0;
        let words = match call {
            ServiceCall::AwaitConsistency => {
                waited = self.service.wait_ms(self.user_ix, self.state.now_ms);
                0
            }
            ServiceCall::PutContext => {
                let DeskState { session, document, now_ms, .. } = &*self.state;
                self.service.put_context(self.user_ix, *session, document, *now_ms);
                document.words()
            }
            ServiceCall::GetContext => self.state.document.words(),
            ServiceCall::ListEntries => {
                /// The latest entries that are listed.
                const LISTED: usize = 10;
                let entries = &self.service.vault(self.user_ix).entries;
                entries.iter().rev().take(LISTED).map(|it| it.words).sum()
            }
            ServiceCall::AddEntry | ServiceCall::Search => 0,
        };
        self.made(call, self.rules.numbers.tokens(words), waited);
    }

    /// Notes a call with the tokens that it carries, and lets its time pass.
    pub fn made(&mut self, call: ServiceCall, tokens: u64, waited_ms: u64) {
        let ms = self.rules.service.latency_ms(call).saturating_add(waited_ms);
        self.pass(ms, waited_ms, Occurrence::Call(call, tokens));
    }

    /// Lets a model write an entry for a message, and adds it.
    pub fn add_entry(&mut self, message: u32) {
        let numbers = &self.rules.numbers;
        let session = self.session();
        let message_words = session.words / u64::from(session.messages.max(1));
        let said = numbers.tokens(message_words);
        let is_of = |it: &&FactIx| self.user.said[**it as usize].message == message;
        let facts: Vec<FactIx> =
            session.facts.iter().filter(is_of).copied().filter(|it| self.enters(*it)).collect();
        let words = u64::from(numbers.entries.words);
        self.model(ModelRole::Summary, said, 0, u64::from(numbers.sizes.entry_output_tokens));
        let (session, now_ms) = (self.state.session, self.state.now_ms);
        self.service.add_entry(self.user_ix, session, facts, words, now_ms);
        self.made(ServiceCall::AddEntry, self.rules.numbers.tokens(words), 0);
    }

    /// Returns whether an entry holds what its message says.
    fn enters(&self, fact: FactIx) -> bool {
        let entries = &self.rules.numbers.entries;
        let is_detail = self.user.said[fact as usize].kind == StatementKind::Detail;
        let p = if is_detail { entries.takes_detail } else { entries.takes };
        self.state.draws.entry.nth(fact.into(), 0).unit() < p
    }

    /// Lets a model write the document again, from itself and the session so far.
    pub fn synthesise(&mut self) {
        let Some(spec) = &self.rules.spec else { return };
        let numbers = &self.rules.numbers;
        let session = self.session();
        let so_far = session.words * u64::from(self.state.n_messages) / u64::from(session.messages.max(1));
        let said = numbers.tokens(so_far).saturating_add(numbers.sizes.instruction_tokens.into());
        let before = self.state.document.words();
        let overflow = self.rewrite(spec);
        let output = self.rules.numbers.tokens(self.state.document.words());
        self.model(ModelRole::Synthesis, said, before, output);
        self.state.version += 1;
        if let Some(it) = overflow {
            self.note(it);
        }
    }

    /// Merges what is new of the session into the document, and holds it to its cap.
    fn rewrite(&mut self, spec: &ServiceMemory) -> Option<Occurrence> {
        let (user, numbers) = (self.user, &self.rules.numbers);
        let session = &user.sessions[self.state.session as usize];
        let DeskState { session: now, document, version, n_messages, n_written, draws, .. } =
            &mut *self.state;
        let (now, nth) = (*now, u64::from(*version));
        let keeps = numbers.document.keeps;
        if keeps < 1.0 {
            // One draw of many parts: the n-th part is of the n-th fact, whether it is held or not.
            let mut draw = draws.keep.nth(0, nth);
            let lost: Vec<bool> = user.said.iter().map(|_| draw.next_unit() >= keeps).collect();
            document.lose(|fact| lost[fact as usize]);
        }
        for fact in session.again.iter().filter(|_| *n_written == 0) {
            document.mention(user.subject(*fact), now);
        }
        let is_said = |it: &&FactIx| user.said[**it as usize].message < *n_messages;
        let new = session.facts.iter().skip(*n_written).take_while(is_said).copied();
        for fact in new {
            *n_written += 1;
            let said = &user.said[fact as usize];
            let p = match (said.kind, spec.write.lists_details) {
                (StatementKind::Detail, false) => numbers.document.takes_detail,
                (StatementKind::Detail, true) => numbers.document.takes_detail_listed,
                _ => numbers.document.takes,
            };
            if draws.take.nth(fact.into(), 0).unit() < p {
                let sees =
                    draws.contradiction.nth(fact.into(), 0).unit() < numbers.document.sees_contradiction;
                let section = said.kind.section(spec.write.lists_details);
                let (subject, words) = (user.subject(fact), said.words);
                document.say(&News { section, subject, fact, words, sees_contradiction: sees }, now);
            }
        }
        if *n_messages == session.messages {
            session.ends.iter().for_each(|it| document.retract(user.subject(*it)));
        }
        let sizes = &numbers.sizes;
        document.converse(now, sizes.date_words, sizes.summary_words);
        for (section, words) in [
            (DocSection::Description, sizes.description_words),
            (DocSection::Topics, sizes.topics_words),
            (DocSection::Decisions, sizes.decisions_words),
            (DocSection::Diagram, sizes.diagram_words),
        ] {
            document.frame(section, now, words);
        }
        let cap_words = numbers.words(spec.store.cap);
        let over = document.prune(cap_words, &spec.store, now);
        over.map(|protected_words| Occurrence::ProtectedOverCap { protected_words, cap_words })
    }

    /// Asks a model for something, with some words of the document in its prompt.
    pub fn model(&mut self, role: ModelRole, said: u64, document_words: u64, output: u64) {
        let numbers = &self.rules.numbers;
        let ms = numbers.model.ms(numbers.prompt(said, document_words), output);
        let version = self.state.version;
        self.pass(ms.round() as u64, 0, Occurrence::Model { role, said, document_words, version, output });
    }

    /// Ends the session: what the service holds is noted.
    fn close(&mut self) {
        let vault = self.service.vault(self.user_ix);
        let held = Storage {
            entries: vault.entries.len() as u64,
            shards: vault.shards.len() as u64,
            entry_words: vault.entries.iter().map(|it| it.words).sum(),
            shard_words: vault.shards.iter().map(|it| it.words).sum(),
            document_words: self.state.document.words(),
        };
        let own = self.state.session as usize;
        // A user whose sessions are over keeps what the service holds, while others go on.
        let is_last = own + 1 == self.user.sessions.len();
        let until = if is_last { self.log.storage.len() } else { own + 1 };
        self.log.storage[own..until].iter_mut().for_each(|it| *it += held);
        self.state.session += 1;
    }

    /// Lets the time up to the next session pass.
    fn pause(&mut self) {
        self.state.now_ms = self.state.now_ms.saturating_add(self.chats.session_ms);
    }

    /// Notes something that takes no time.
    fn note(&mut self, what: Occurrence) {
        self.pass(0, 0, what);
    }

    /// Notes an answer.
    pub fn answered(&mut self, answer: Answered) {
        self.log.answers.push(answer);
    }

    fn pass(&mut self, ms: u64, waited_ms: u64, what: Occurrence) {
        let user = ix(self.user_ix);
        let DeskState { session, phase, now_ms, .. } = *self.state;
        self.log.events.push(ChatEvent { user, session, phase, at_ms: now_ms, ms, waited_ms, what });
        self.state.now_ms = now_ms.saturating_add(ms);
    }
}
