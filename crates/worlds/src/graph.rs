//! The temporal graph of facts: what was stated when, what replaced it, what depends on it,
//! and so what is true at any session.

use serde_json::{Map, Value, json};

use crate::prelude::*;

/// A fact's index in its graph.
pub type FactIx = u32;
/// A record's index in its graph.
pub type RecordIx = u32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactVersion {
    /// The session that says it.
    pub session: u32,
    /// Its domain, by its place among those of the graph.
    pub domain: u16,
    pub record: RecordIx,
    pub says: Says,
    /// Which version it is, from 1.
    pub version: u16,
    /// The version before.
    pub replaces: Option<FactIx>,
    /// The version after.
    pub replaced_by: Option<FactIx>,
    /// The session that retracts it.
    pub invalidated_at: Option<u32>,
    /// Whether it is among what the score of its scenario counts.
    pub is_tracked: bool,
    /// The pair of facts that could be confused to which it belongs.
    pub pair: Option<u16>,
}

/// What a fact says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// A figure, which only survives verbatim.
    Value(i64),
    /// The subject of its record, which a gist keeps, too.
    Subject,
}

/// Something said in one piece: a decision, a report, a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactRecord {
    pub session: u32,
    pub domain: u16,
}

/// How a question combines several facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactRelation {
    /// Sets one against another.
    Compare,
    /// Follows one from an earlier version to the current one.
    Trend,
    /// Puts several together.
    Synthesize,
    /// Asks for one alone.
    Standalone,
}

/// The facts on which a question depended when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When it is asked.
    pub session: u32,
    /// What it does with the facts.
    pub relation: FactRelation,
    pub facts: Vec<FactIx>,
    /// The longest chain of versions among them.
    pub chain_depth: u16,
}

/// A running total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator {
    /// What it begins with, in the first session.
    pub initial: i64,
    pub domain: u16,
    /// Its changes, in order.
    pub deltas: Vec<TotalChange>,
}

impl Accumulator {
    /// Returns its changes up to a session, that one included.
    pub fn due(&self, session: u32) -> impl Iterator<Item = &TotalChange> {
        self.deltas.iter().filter(move |it| it.session <= session)
    }
}

/// A change of a running total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalChange {
    /// The session that says it.
    pub session: u32,
    /// By how much.
    pub amount: i64,
    /// The fact that says it.
    pub fact: FactIx,
}

/// The facts of a stream of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What facts are about.
    pub domains: Vec<String>,
    /// The records, by session.
    pub records: Vec<FactRecord>,
    /// The facts, by session.
    pub facts: Vec<FactVersion>,
    /// What questions depend on.
    pub edges: Vec<Edge>,
    /// Pairs of facts that could be confused.
    pub pairs: Vec<[FactIx; 2]>,
    /// The running totals.
    pub accumulators: Vec<Accumulator>,
}

impl Graph {
    /// Begins a record.
    ///
    /// # Errors
    /// The domain is unknown.
    pub fn record(&mut self, session: u32, domain: u16) -> Result<RecordIx, Box<Diagnostic>> {
        if usize::from(domain) >= self.domains.len() {
            let message = format!("there is no domain {domain}");
            let help = format!("the graph has {} domains, counted from 0", self.domains.len());
            return Err(Box::new(Diagnostic::at(Code("domain-unknown"), "records", message).help(help)));
        }
        self.records.push(FactRecord { session, domain });
        Ok(ix(self.records.len() - 1))
    }

    /// Says something new in a record.
    pub fn say(&mut self, record: RecordIx, says: Says, is_tracked: bool) -> FactIx {
        let FactRecord { session, domain } = self.records[record as usize];
        self.push(FactVersion {
            session,
            domain,
            record,
            says,
            version: 1,
            replaces: None,
            replaced_by: None,
            invalidated_at: None,
            is_tracked,
            pair: None,
        })
    }

    /// States another value of an earlier fact, in a record of a later session.
    ///
    /// # Errors
    /// The fact has been retracted, or already has another value.
    pub fn update(&mut self, old: FactIx, record: RecordIx, value: i64) -> Result<FactIx, Box<Diagnostic>> {
        let fact = self.facts[old as usize].clone();
        let refused = |code, why: &str, help: &str| {
            let problem = Diagnostic::at(code, format!("facts.{old}"), format!("fact {old} {why}"));
            Err(Box::new(problem.help(help)))
        };
        if fact.invalidated_at.is_some() {
            let help = "add a new fact, or remove the retraction";
            return refused(Code("fact-invalidated"), "is retracted and cannot be changed", help);
        }
        if fact.replaced_by.is_some() {
            return refused(Code("fact-replaced"), "has already been changed", "change its current version");
        }
        let session = self.records[record as usize].session;
        let version = fact.version.saturating_add(1);
        let says = Says::Value(value);
        let new = self.push(FactVersion { session, record, says, version, replaces: Some(old), ..fact });
        self.facts[old as usize].replaced_by = Some(new);
        Ok(new)
    }

    /// Retracts a fact.
    pub fn invalidate(&mut self, fact: FactIx, session: u32) {
        self.facts[fact as usize].invalidated_at = Some(session);
    }

    /// Says two facts that could be confused, and that they could.
    pub fn confuse(&mut self, facts: [FactIx; 2]) {
        let pair = ix(self.pairs.len());
        facts.iter().for_each(|it| self.facts[*it as usize].pair = Some(pair));
        self.pairs.push(facts);
    }

    /// Notes what a question depends on; versions count that are said before it is asked.
    pub fn depend(&mut self, session: u32, relation: FactRelation, facts: Vec<FactIx>) -> u32 {
        let is_said = |it: &FactIx| self.facts[*it as usize].session < session;
        let depth = |it: &FactIx| ix(self.chain(*it).filter(is_said).count().max(1));
        let chain_depth = facts.iter().map(depth).max().unwrap_or(0);
        self.edges.push(Edge { session, relation, facts, chain_depth });
        ix(self.edges.len() - 1)
    }

    fn push(&mut self, fact: FactVersion) -> FactIx {
        self.facts.push(fact);
        ix(self.facts.len() - 1)
    }

    /// Returns the versions of a fact, the first one first; a circle is walked once.
    pub fn chain(&self, fact: FactIx) -> impl Iterator<Item = FactIx> {
        let n = self.facts.len();
        let back = move |it: &FactIx| self.facts[*it as usize].replaces;
        let first = std::iter::successors(Some(fact), back).take(n).last().unwrap_or(fact);
        std::iter::successors(Some(first), move |it| self.facts[*it as usize].replaced_by).take(n)
    }

    /// Returns the version of a fact that holds at a session; nothing before it was said and once it is retracted.
    pub fn current(&self, fact: FactIx, session: u32) -> Option<FactIx> {
        let said = self.chain(fact).take_while(|it| self.facts[*it as usize].session <= session).last()?;
        self.facts[said as usize].invalidated_at.is_none_or(|it| it > session).then_some(said)
    }

    /// Returns a running total at a session, its own changes included.
    pub fn total(&self, accumulator: usize, session: u32) -> i64 {
        let it = &self.accumulators[accumulator];
        it.initial + it.due(session).map(|delta| delta.amount).sum::<i64>()
    }

    /// Checks a graph that was built by hand.
    ///
    /// # Errors
    /// Every fact of an unknown domain, changed after it was retracted, out of order, or with circular
    /// versions.
    pub fn check(&self) -> OrProblems<()> {
        let mut problems = Vec::new();
        for (at, fact) in self.facts.iter().enumerate() {
            let mut problem = |code, message: String, help: &str| {
                problems.push(Diagnostic::at(code, format!("facts.{at}"), message).help(help));
            };
            if usize::from(fact.domain) >= self.domains.len() {
                let help = "add it to the graph's domains";
                problem(Code("domain-unknown"), format!("fact {at} has domain {}", fact.domain), help);
            }
            let Some(new) = fact.replaced_by.map(|it| it as usize) else { continue };
            if self.chain_returns(at) {
                let help = "the first version must not replace anything";
                problem(Code("fact-circle"), format!("the versions of fact {at} are circular"), help);
                continue;
            }
            let Some(later) = self.facts.get(new) else {
                problem(
                    Code("fact-unknown"),
                    format!("fact {at} is replaced by {new}"),
                    "name a fact of the graph",
                );
                continue;
            };
            if fact.invalidated_at.is_some_and(|it| it <= later.session) {
                let help = "add a new fact, or remove the retraction";
                problem(
                    Code("fact-invalidated"),
                    format!("fact {at} is changed after it was retracted"),
                    help,
                );
            }
            if later.session < fact.session {
                let help = "change it in a later session";
                problem(Code("fact-order"), format!("fact {at} is changed before it is introduced"), help);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Returns whether the versions after a fact come back to it.
    fn chain_returns(&self, start: usize) -> bool {
        let after = |it: &usize| self.facts.get(*it)?.replaced_by.map(|it| it as usize);
        std::iter::successors(after(&start), after).take(self.facts.len()).any(|it| it == start)
    }

    /// Returns the words of a fact.
    pub fn spell(&self, fact: FactIx) -> String {
        let it = &self.facts[fact as usize];
        let domain = self.domains.get(usize::from(it.domain)).map_or("", String::as_str);
        match it.says {
            Says::Value(value) => format!("{domain} record {}: figure {fact} is {value}", it.record),
            Says::Subject => format!("{domain} record {} is about topic {}", it.record, it.record),
        }
    }
}

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
