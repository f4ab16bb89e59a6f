//! Chats as a stream of sessions: each message that says something is a record, and questions are asked in a session after all others.

use std::collections::BTreeSet;

use crate::aging::stream::{AgingProbe, AgingSession, AgingStream, Ask, Scoring};
use crate::chats::{ChatNumbers, Question, QuestionKind, User};
use crate::graph::{FactIx, FactRelation, Graph, Says};
use ctxsim_base::quantity::ix;
use ctxsim_base::rng::Seed;

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
        graph,
        sessions: spoken.chain([asking]).collect(),
        probes,
        scoring: Scoring::Probes,
        profile_records: 0,
        seed: Seed(0),
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
