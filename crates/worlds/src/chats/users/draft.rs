//! A user while they are written: sessions with what they say, change, end and refer to again, and questions.

use super::{ChatSession, FactWording, NeededVersion, Question, QuestionKind, StatementKind, User};
use crate::graph::{FactIx, Says};
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::ix;

/// A user that is being written.
pub struct UserDraft {
    user: User,
}

impl UserDraft {
    /// Begins a user with sessions of so many messages, each of so many words.
    pub fn new(name: impl Into<String>) -> Self {
        let mut user = User { name: name.into(), ..User::default() };
        user.graph.domains.push("chat".to_owned());
        Self { user }
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

    fn note(&mut self, session: u32, fact: FactIx, said: FactWording) -> FactIx {
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
