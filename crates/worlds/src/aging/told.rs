//! A stream of sessions over which a memory ages as chats, and chats as such a stream:
//! each record is a message, each probe a question when it is first asked.

use std::collections::BTreeSet;

use super::stream::{AgingProbe, AgingSession, AgingStream, Ask, StreamScore};
use crate::chats::{
    ChatNumbers, FactWording, NeededVersion, Question, QuestionKind, StatementKind, User, UserDraft,
};
use crate::prelude::*;

/// Returns a stream's one user. What a stream tracks is a fact, what it says beside that is said in passing.
pub(super) fn user(stream: &AgingStream, numbers: &ChatNumbers) -> User {
    let graph = &stream.graph;
    let first_of = |session: u32| graph.records.partition_point(|it| it.session < session);
    let mut draft = UserDraft::with_graph("agent", graph.clone());
    for (nth, session) in (0..).zip(&stream.sessions) {
        let words = (f64::from(session.tokens) / numbers.sizes.tokens_per_word.max(f64::MIN_POSITIVE)) as u64;
        // A session that says nothing still has a message.
        draft.session(ix::<u32>(first_of(nth + 1) - first_of(nth)).max(1), words);
    }
    for (at, fact) in (0..).zip(&graph.facts) {
        let message = (fact.record as usize).saturating_sub(first_of(fact.session));
        let kind = if fact.is_tracked { StatementKind::Fact } else { StatementKind::Detail };
        let said = FactWording::new(kind, ix(message), numbers.sizes.statement_words);
        draft.note(fact.session, at, said);
        if let Some(session) = fact.invalidated_at {
            draft.end(at, session);
        }
    }
    stream.probes.iter().filter_map(|it| question(stream, it)).for_each(|it| draft.ask(it));
    draft.finish()
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
            let due = graph.accumulators[*accumulator as usize].due(*at);
            let due: Vec<FactIx> = due.map(|it| it.fact).collect();
            if due.is_empty() {
                return None;
            }
            Question { versions: NeededVersion::Named, ..of(QuestionKind::Counting, due) }
        }
    })
}

/// Returns a user's stream, and how many questions it leaves out because nothing of what they ask was said; none if that leaves none.
/// Only what questions need is tracked; everything else is said in passing.
pub(super) fn stream(user: &User, numbers: &ChatNumbers) -> Option<(AgingStream, usize)> {
    let asked: Vec<&Question> = user.questions.iter().filter(|it| !it.needs.is_empty()).collect();
    if asked.is_empty() {
        return None;
    }
    let mut graph = graph(user, &asked);
    let last: u32 = ix(user.sessions.len());
    let probes = asked.iter().map(|it| AgingProbe {
        from: it.after.min(last),
        until: it.after.min(last) + 1,
        ask: ask(&mut graph, it, last),
        is_scored: true,
    });
    let mut probes: Vec<AgingProbe> = probes.collect();
    probes.sort_by_key(|it| it.from);
    let tokens = |words: u64| ((words as f64 * numbers.sizes.tokens_per_word) as u32).max(1);
    let spoken = user.sessions.iter().map(|it| AgingSession { tasks: 1, tokens: tokens(it.words) });
    let asking = AgingSession { tasks: 1, tokens: tokens(u64::from(numbers.sizes.statement_words)) };
    let stream = AgingStream {
        sessions: spoken.chain([asking]).collect(),
        probes,
        ..AgingStream::new(graph, StreamScore::Answers, Seed(0))
    };
    Some((stream, user.questions.len() - asked.len()))
}

/// Returns what is said: a fact that a question needs only survives word for word.
fn graph(user: &User, asked: &[&Question]) -> Graph {
    let roots = asked.iter().flat_map(|it| &it.needs).filter_map(|it| user.graph.chain(*it).next());
    let needed: BTreeSet<FactIx> = roots.flat_map(|it| user.graph.chain(it).collect::<Vec<_>>()).collect();
    let mut graph = Graph { edges: Vec::new(), ..user.graph.clone() };
    for (place, fact) in (0..).zip(&mut graph.facts) {
        fact.says = Says::Value(i64::from(place));
        fact.is_tracked = needed.contains(&place);
    }
    graph
}

fn ask(graph: &mut Graph, question: &Question, last: u32) -> Ask {
    let session = question.after.min(last);
    let relation = match question.kind {
        QuestionKind::Counting => FactRelation::Synthesize,
        QuestionKind::Timeline => FactRelation::Compare,
        _ => FactRelation::Standalone,
    };
    let facts = question.needs.clone();
    if relation != FactRelation::Standalone && facts.len() > 1 {
        return Ask::Chain(graph.depend(session, relation, facts));
    }
    if facts.len() == 1 {
        graph.depend(session, FactRelation::Standalone, facts.clone());
    }
    Ask::Any { facts, is_echoed: question.is_echoed }
}
