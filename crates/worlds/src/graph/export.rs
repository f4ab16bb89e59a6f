//! A graph of facts as JSON, in the fields of the benchmark's `dependency_graph.json`.

use serde_json::{Map, Value, json};

use super::{Accumulator, Edge, FactIx, FactRelation, FactVersion, Graph, Says};
use ctxsim_base::quantity::ix;

/// Returns a graph as the benchmark writes one: tasks, facts by their first version, pairs, totals.
pub fn export(graph: &Graph) -> Value {
    let roots = (0..graph.facts.len()).filter(|it| graph.facts[*it].replaces.is_none());
    let facts: Map<String, Value> = roots.map(|it| (id(ix(it)), fact(graph, ix(it)))).collect();
    let tasks: Map<String, Value> = graph.edges.iter().enumerate().map(|it| task(graph, it)).collect();
    let totals: Map<String, Value> = (0..graph.accumulators.len()).map(|it| total(graph, it)).collect();
    let pairs = graph.pairs.iter().enumerate().map(|(nth, pair)| {
        let fact = |it: FactIx| &graph.facts[it as usize];
        json!({
            "shared_term": format!("term_{nth}"),
            "fact_ids": pair.map(id),
            "domains": pair.map(|it| domain(graph, fact(it).domain)),
            "values": pair.map(|it| keyword(fact(it))),
        })
    });
    json!({
        "tasks": tasks,
        "facts": facts,
        "interference_map": pairs.collect::<Vec<_>>(),
        "accumulators": totals,
        "summary": {
            "total_facts": graph.facts.len(),
            "total_versioned": graph.facts.iter().filter(|it| it.version > 1).count(),
            "total_invalidated": graph.facts.iter().filter(|it| it.invalidated_at.is_some()).count(),
            "total_dependencies": graph.edges.len(),
            "total_interference_pairs": graph.pairs.len(),
            "max_chain_depth": graph.edges.iter().map(|it| it.chain_depth).max().unwrap_or(0),
        },
    })
}

/// Returns a question and what it depends on.
fn task(graph: &Graph, (nth, edge): (usize, &Edge)) -> (String, Value) {
    let required = |it: &FactIx| (id(*it), json!(version_at(graph, *it, edge.session)));
    let sessions: Vec<u32> = edge.facts.iter().map(|it| graph.facts[*it as usize].session).collect();
    let task = json!({
        "session": edge.session,
        "depends_on_facts": edge.facts.iter().map(|it| id(*it)).collect::<Vec<_>>(),
        "depends_on_sessions": sessions,
        "dependency_type": word(edge.relation),
        "chain_depth": edge.chain_depth,
        "fact_versions_required": edge.facts.iter().map(required).collect::<Map<_, _>>(),
    });
    (format!("s{}_{}_{nth}", edge.session, word(edge.relation)), task)
}

/// Returns a fact with all its versions.
fn fact(graph: &Graph, root: FactIx) -> Value {
    let first = &graph.facts[root as usize];
    let versions = graph.chain(root).map(|it| {
        let version = &graph.facts[it as usize];
        json!({
            "version": version.version,
            "session": version.session,
            "keywords": [keyword(version)],
            "content": graph.spell(it),
            "fact_id": id(it),
            "current": version.replaced_by.is_none() && version.invalidated_at.is_none(),
            "invalidated_at": version.invalidated_at,
        })
    });
    json!({
        "introduced_session": first.session,
        "domain": domain(graph, first.domain),
        "versions": versions.collect::<Vec<_>>(),
    })
}

/// Returns a running total with its changes.
fn total(graph: &Graph, nth: usize) -> (String, Value) {
    let Accumulator { initial, domain: of, deltas } = &graph.accumulators[nth];
    let deltas = deltas.iter().map(|it| json!({ "session": it.session, "amount": it.amount }));
    let total = json!({
        "initial_value": initial,
        "domain": domain(graph, *of),
        "session": 0,
        "deltas": deltas.collect::<Vec<_>>(),
        "final_value": graph.total(nth, u32::MAX),
    });
    (format!("{}_{nth}", domain(graph, *of)), total)
}

/// Returns the newest version of a fact that has been said by a session.
fn version_at(graph: &Graph, fact: FactIx, session: u32) -> u16 {
    let said = graph.chain(fact).map(|it| &graph.facts[it as usize]).filter(|fact| fact.session <= session);
    said.map(|it| it.version).max().unwrap_or(1)
}

fn id(fact: FactIx) -> String {
    format!("fact_{fact}")
}

fn keyword(fact: &FactVersion) -> String {
    match fact.says {
        Says::Value(value) => value.to_string(),
        Says::Subject => format!("topic_{}", fact.record),
    }
}

fn domain(graph: &Graph, domain: u16) -> &str {
    graph.domains.get(usize::from(domain)).map_or("", String::as_str)
}

/// Returns the benchmark's word for a relation.
fn word(relation: FactRelation) -> &'static str {
    match relation {
        FactRelation::Compare => "compare",
        FactRelation::Trend => "trend",
        FactRelation::Synthesize => "synthesize",
        FactRelation::Standalone => "standalone",
    }
}
