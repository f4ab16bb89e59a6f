//! Chats that are drawn: statements of every kind, some of them changed, ended or mentioned again, and questions of five types.

use super::{FactWording, NeededVersion, Question, QuestionKind, StatementKind, User, UserDraft};
use crate::chats::ChatNumbers;
use crate::prelude::*;
use ctxsim_base::rng::Stream;
use ctxsim_input::scenario::GeneratedChats;

/// Writes one user.
struct UserWriter<'a> {
    made: &'a GeneratedChats,
    numbers: &'a ChatNumbers,
    seed: Seed,
    draft: UserDraft,
}

/// Draws the users; each from a seed of its own, so that one more changes nobody.
pub(super) fn users(made: &GeneratedChats, seed: Seed, numbers: &ChatNumbers) -> Vec<User> {
    let one = |nth: u64| {
        let seed = seed.child("runner chats", nth);
        let draft = UserDraft::new(format!("user {}", nth + 1));
        let mut writer = UserWriter { made, numbers, seed, draft };
        writer.sessions();
        writer.questions();
        writer.draft.finish()
    };
    (0..made.users).map(one).collect()
}

impl UserWriter<'_> {
    /// Writes all sessions with what nobody plans to ask about.
    fn sessions(&mut self) {
        let messages = short(self.made.messages);
        let words = self.made.messages.saturating_mul(self.numbers.sizes.message_words.into());
        let n_statements = self.made.messages as f64 * self.numbers.workload.statements_per_message;
        for session in 0..short(self.made.sessions) {
            self.draft.session(messages, words);
            self.change(session);
            let mut draws = self.seed.stream("runner statements", session.into());
            for _ in 0..n_statements.round() as u64 {
                let kind = self.kind(draws.unit());
                let said = self.said(kind, &mut draws);
                self.draft.say(session, said);
            }
        }
    }

    /// Draws a kind by the declared shares.
    fn kind(&self, at: f64) -> StatementKind {
        let shares = &self.numbers.workload.shares;
        let kinds = [
            (StatementKind::Fact, shares.fact),
            (StatementKind::Preference, shares.preference),
            (StatementKind::Entity, shares.entity),
            (StatementKind::Event, shares.event),
            (StatementKind::Detail, shares.detail),
        ];
        let mut left = at * kinds.iter().map(|it| it.1).sum::<f64>();
        for (kind, share) in kinds {
            left -= share;
            if left < 0.0 {
                return kind;
            }
        }
        StatementKind::Detail
    }

    /// Says something in a message of the user's: every other one is the assistant's.
    fn said(&self, kind: StatementKind, draws: &mut Stream) -> FactWording {
        let last = self.made.messages.div_ceil(2).saturating_sub(1);
        let message = short(draws.between(0, last).saturating_mul(2));
        FactWording::new(kind, message, self.numbers.sizes.statement_words)
    }

    /// Changes, ends and mentions what earlier sessions said.
    fn change(&mut self, session: u32) {
        let workload = &self.numbers.workload;
        let earlier: Vec<FactIx> = self.current().collect();
        let draws = |purpose: &str| self.seed.stream(purpose, session.into());
        let [again, update, end] = ["runner again", "runner update", "runner end"].map(draws);
        let is_drawn = |of: &Stream, it: FactIx, p: f64| of.nth(it.into(), session.into()).unit() < p;
        let mut place = draws("runner update message");
        for fact in earlier {
            let kind = self.draft.user().said[fact as usize].kind;
            let can_change = !matches!(kind, StatementKind::Event | StatementKind::Detail);
            if kind == StatementKind::Entity && is_drawn(&end, fact, workload.retracted) {
                self.draft.end(fact, session);
            } else if can_change && is_drawn(&update, fact, workload.updated) {
                let said = self.said(kind, &mut place);
                self.draft.update(fact, session, said);
            } else if is_drawn(&again, fact, workload.mentioned_again) {
                self.draft.again(fact, session);
            }
        }
    }

    /// Returns what holds, each in its current version.
    fn current(&self) -> impl Iterator<Item = FactIx> {
        let facts = &self.draft.user().graph.facts;
        let holds = |it: &FactIx| {
            let fact = &facts[*it as usize];
            fact.replaced_by.is_none() && fact.invalidated_at.is_none()
        };
        (0..short(facts.len() as u64)).filter(holds)
    }

    /// Asks questions of each type; what they need is said beside everything else.
    fn questions(&mut self) {
        let counts = self.made.questions;
        (0..counts.single_fact).for_each(|nth| self.single_fact(nth));
        (0..counts.knowledge_update).for_each(|nth| self.knowledge_update(nth));
        (0..counts.counting).for_each(|nth| self.counting(nth));
        (0..counts.timeline).for_each(|nth| self.timeline(nth));
        (0..counts.abstention).for_each(|nth| self.abstention(nth));
        (0..counts.audit).for_each(|nth| self.audit(nth));
    }

    fn single_fact(&mut self, nth: u64) {
        let mut draws = self.seed.stream("runner single fact", nth);
        let kinds = [StatementKind::Fact, StatementKind::Preference, StatementKind::Entity];
        let is_detail = draws.chance(self.numbers.workload.asked_detail);
        let stated = draws.pick(&kinds).copied().unwrap_or(StatementKind::Fact);
        let kind = if is_detail { StatementKind::Detail } else { stated };
        let session = short(draws.between(0, self.made.sessions - 1));
        let said = self.said(kind, &mut draws);
        let fact = self.draft.say(session, said);
        self.ask(QuestionKind::SingleFact, vec![fact]);
    }

    /// A fact that is changed in a later session.
    fn knowledge_update(&mut self, nth: u64) {
        let fact = self.changed("runner knowledge update", nth);
        self.ask(QuestionKind::KnowledgeUpdate, vec![fact]);
    }

    /// What was known before a fact changed, and where it came from.
    fn audit(&mut self, nth: u64) {
        let fact = self.changed("runner audit", nth);
        let question = Question::new(QuestionKind::Audit, short(self.made.sessions), vec![fact]);
        self.draft.ask(Question { versions: NeededVersion::Named, needs_dates: true, ..question });
    }

    /// Says a fact and, in a later session, another value; returns the first.
    fn changed(&mut self, purpose: &str, nth: u64) -> FactIx {
        let mut draws = self.seed.stream(purpose, nth);
        let first = draws.between(0, self.made.sessions.saturating_sub(2));
        let later = draws.between(first + 1, self.made.sessions - 1);
        let [said, again] = [0; 2].map(|_| self.said(StatementKind::Fact, &mut draws));
        let fact = self.draft.say(short(first), said);
        self.draft.update(fact, short(later), again);
        fact
    }

    fn counting(&mut self, nth: u64) {
        let draws = self.seed.stream("runner counting", nth);
        self.several(draws, QuestionKind::Counting, StatementKind::Detail, self.numbers.workload.counted);
    }

    fn timeline(&mut self, nth: u64) {
        let draws = self.seed.stream("runner timeline", nth);
        self.several(draws, QuestionKind::Timeline, StatementKind::Event, self.numbers.workload.dated);
    }

    /// Things of a kind, each in a session of its own as far as there are so many.
    fn several(&mut self, mut draws: Stream, kind: QuestionKind, of: StatementKind, [from, to]: [u64; 2]) {
        let n = draws.between(from, to).min(self.made.sessions).max(1);
        let mut open: Vec<u64> = (0..self.made.sessions).collect();
        let mut needs = Vec::new();
        for _ in 0..n {
            let at = usize::try_from(draws.between(0, open.len() as u64 - 1)).unwrap_or(0);
            let session = short(open.swap_remove(at));
            let said = self.said(of, &mut draws);
            needs.push(self.draft.say(session, said));
        }
        self.ask(kind, needs);
    }

    /// Something that was never said; something similar was.
    fn abstention(&mut self, nth: u64) {
        let mut draws = self.seed.stream("runner abstention", nth);
        let all: Vec<FactIx> = self.current().collect();
        let near = draws.pick(&all).copied().into_iter().collect();
        let question = Question::new(QuestionKind::Abstention, short(self.made.sessions), Vec::new());
        self.draft.ask(Question { near, ..question });
    }

    fn ask(&mut self, kind: QuestionKind, needs: Vec<FactIx>) {
        self.draft.ask(Question::new(kind, short(self.made.sessions), needs));
    }
}

/// Returns a count as it is held.
fn short(number: u64) -> u32 {
    saturated(number)
}
