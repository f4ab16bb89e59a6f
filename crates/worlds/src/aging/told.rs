//! A stream of sessions over which a memory ages, as chats: each record is a message, each probe a question when it is first asked.

use super::AgingStream;
use crate::aging::stream::{AgingProbe, Ask};
use crate::chats::{
    ChatNumbers, ChatSession, FactWording, NeededVersion, Question, QuestionKind, StatementKind, User,
};
use crate::graph::{FactIx, FactRelation};
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::ix;

/// Returns a stream's one user. What a stream tracks is a fact, what it says beside that is said in passing.
pub(super) fn user(stream: &AgingStream, numbers: &ChatNumbers) -> User {
    let graph = &stream.graph;
    let mut sessions = sessions(stream, numbers);
    let mut said = Vec::with_capacity(graph.facts.len());
    let first_of = |session: u32| graph.records.partition_point(|it| it.session < session);
    for (at, fact) in graph.facts.iter().enumerate() {
        let message = (fact.record as usize).saturating_sub(first_of(fact.session));
        let kind = if fact.is_tracked { StatementKind::Fact } else { StatementKind::Detail };
        said.push(FactWording::new(kind, ix(message), numbers.sizes.statement_words));
        if let Some(session) = sessions.get_mut(fact.session as usize) {
            session.facts.push(ix(at));
        }
        if let Some(session) = fact.invalidated_at.and_then(|it| sessions.get_mut(it as usize)) {
            session.ends.push(ix(at));
        }
    }
    for session in &mut sessions {
        session.facts.order_by_key(|it| (said[*it as usize].message, *it));
    }
    let mut questions: Vec<Question> = stream.probes.iter().filter_map(|it| question(stream, it)).collect();
    questions.order_by_key(|it| it.after);
    User { name: "agent".to_owned(), graph: graph.clone(), said, sessions, questions }
}

/// Returns the sessions; one that says nothing still has a message.
fn sessions(stream: &AgingStream, numbers: &ChatNumbers) -> Vec<ChatSession> {
    let mut sessions: Vec<ChatSession> = stream
        .sessions
        .iter()
        .map(|it| {
            let words = (f64::from(it.tokens) / numbers.sizes.tokens_per_word.max(f64::MIN_POSITIVE)) as u64;
            ChatSession { words, ..ChatSession::default() }
        })
        .collect();
    for record in &stream.graph.records {
        if let Some(session) = sessions.get_mut(record.session as usize) {
            session.messages += 1;
        }
    }
    sessions.iter_mut().for_each(|it| it.messages = it.messages.max(1));
    sessions
}

/// Returns what a probe asks, when it is first asked, or nothing if it is asked before anything is kept, or
/// after the end.
fn question(stream: &AgingStream, probe: &AgingProbe) -> Option<Question> {
    let graph = &stream.graph;
    let after = probe.from;
    if after == 0 || after > stream.n_sessions() {
        return None;
    }
    let of = |kind, needs: Vec<FactIx>| Question::new(kind, after, needs);
    let is_changed = |it: &FactIx| {
        graph.facts[*it as usize].version > 1 || graph.facts[*it as usize].replaced_by.is_some()
    };
    Some(match &probe.ask {
        Ask::Any { facts, is_echoed } => {
            let kind = match facts.iter().any(is_changed) {
                true => QuestionKind::KnowledgeUpdate,
                false => QuestionKind::SingleFact,
            };
            Question { any: true, is_echoed: *is_echoed, ..of(kind, facts.clone()) }
        }
        Ask::Chain(edge) => {
            let edge = &graph.edges[*edge as usize];
            let kind = match edge.relation {
                FactRelation::Trend => QuestionKind::Timeline,
                _ => QuestionKind::Counting,
            };
            Question { versions: NeededVersion::Named, needs_dates: false, ..of(kind, edge.facts.clone()) }
        }
        Ask::Binding { fact } => {
            let pair = graph.facts[*fact as usize].pair;
            let near = graph.pairs.iter().flatten().copied().filter(|it| it != fact);
            let near = if pair.is_some() { near.collect() } else { Vec::new() };
            Question { near, ..of(QuestionKind::SingleFact, vec![*fact]) }
        }
        Ask::Total { accumulator, at } => {
            let deltas = &graph.accumulators[*accumulator as usize].deltas;
            let due: Vec<FactIx> =
                deltas.iter().filter(|it| it.session <= *at).map(|delta| delta.fact).collect();
            if due.is_empty() {
                return None;
            }
            Question { versions: NeededVersion::Named, ..of(QuestionKind::Counting, due) }
        }
    })
}
