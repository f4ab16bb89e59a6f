//! A graph of facts as AgingBench writes one, as a written stream: what it says of sessions, facts, questions and totals.

use indexmap::IndexMap;
use serde::Deserialize;

use ctxsim_input::scenario::{
    StreamFact, StreamFile, StreamQuestion, StreamRecord, StreamSession, StreamTotal,
};

/// No graph of more sessions is laid out; the check of streams allows far fewer.
pub(super) const SESSIONS_MAX: usize = 10_000;

/// A `dependency_graph.json`.
#[derive(Deserialize)]
pub(super) struct DependencyGraph {
    facts: IndexMap<String, GraphFact>,
    #[serde(default)]
    tasks: IndexMap<String, GraphTask>,
    #[serde(default)]
    interference_map: Vec<GraphPair>,
    #[serde(default)]
    accumulators: IndexMap<String, GraphTotal>,
}

#[derive(Deserialize)]
struct GraphFact {
    #[serde(default)]
    domain: String,
    versions: Vec<GraphVersion>,
}

#[derive(Deserialize)]
struct GraphVersion {
    session: u32,
    invalidated_at: Option<u32>,
}

#[derive(Deserialize)]
struct GraphTask {
    session: u32,
    depends_on_facts: Vec<String>,
    #[serde(default)]
    dependency_type: String,
}

#[derive(Deserialize)]
struct GraphPair {
    fact_ids: Vec<String>,
}

#[derive(Deserialize)]
struct GraphTotal {
    initial_value: f64,
    #[serde(default)]
    domain: String,
    #[serde(default)]
    deltas: Vec<GraphDelta>,
}

#[derive(Deserialize)]
struct GraphDelta {
    session: u32,
    amount: f64,
}

impl DependencyGraph {
    /// Returns it as a written stream. Sessions have their default sizes, and a total is asked for in the session after each change,
    /// because the graph tells neither.
    pub(super) fn stream(&self) -> StreamFile {
        let mut file = StreamFile {
            topics: self.topics(),
            sessions: vec![StreamSession::default(); self.n_sessions()],
            ..StreamFile::default()
        };
        for (id, fact) in &self.facts {
            for (nth, version) in fact.versions.iter().enumerate() {
                let new = StreamFact {
                    name: Some(version_name(id, nth)),
                    replaces: nth.checked_sub(1).map(|it| version_name(id, it)),
                    ..blank_fact()
                };
                say(&mut file, version.session, &fact.domain, new);
                if let Some(ended) = version.invalidated_at {
                    file.sessions[ended as usize].retracts.push(version_name(id, nth));
                }
            }
        }
        file.confusable = self.interference_map.iter().filter_map(|it| it.names()).collect();
        self.tasks.values().for_each(|it| self.ask(&mut file, it));
        self.add_totals(&mut file);
        file
    }

    /// Returns how many sessions it has.
    pub(super) fn n_sessions(&self) -> usize {
        let versions = self.facts.values().flat_map(|it| &it.versions);
        let said = versions.flat_map(|it| [Some(it.session), it.invalidated_at]).flatten();
        let changed =
            self.accumulators.values().flat_map(|it| &it.deltas).map(|it| it.session.saturating_add(1));
        let asked = self.tasks.values().map(|it| it.session);
        said.chain(changed).chain(asked).max().unwrap_or(0) as usize + 1
    }

    fn topics(&self) -> Vec<String> {
        let of_facts = self.facts.values().map(|it| &it.domain);
        let all = of_facts.chain(self.accumulators.values().map(|it| &it.domain)).filter(|it| !it.is_empty());
        let mut topics: Vec<String> = Vec::new();
        all.for_each(|it| {
            if !topics.contains(it) {
                topics.push(it.clone());
            }
        });
        topics
    }

    fn ask(&self, file: &mut StreamFile, task: &GraphTask) {
        let facts = task.depends_on_facts.clone();
        let newest = |id: &String| {
            let versions = &self.facts.get(id)?.versions;
            Some(version_name(id, versions.iter().rposition(|it| it.session < task.session)?))
        };
        let mut question = StreamQuestion::new(true);
        match (task.dependency_type.as_str(), facts.as_slice()) {
            (_, [fact]) => question.fact = Some(fact.clone()),
            ("trend", [old, _]) => {
                question.trend = Some([old.clone(), newest(old).unwrap_or_else(|| old.clone())]);
            }
            ("compare", _) => question.compare = Some(facts),
            _ => question.synthesize = Some(facts),
        }
        file.sessions[task.session as usize].asks.push(question);
    }

    fn add_totals(&self, file: &mut StreamFile) {
        for (name, total) in &self.accumulators {
            let topic = Some(total.domain.clone()).filter(|it| !it.is_empty());
            file.totals.push(StreamTotal {
                name: name.clone(),
                initial: total.initial_value.round() as i64,
                topic,
            });
            for delta in &total.deltas {
                let adds = Some(delta.amount.round() as i64);
                let change = StreamFact { adds, to: Some(name.clone()), ..blank_fact() };
                say(file, delta.session, &total.domain, change);
                let question = StreamQuestion { total: Some(name.clone()), ..StreamQuestion::new(false) };
                file.sessions[delta.session as usize + 1].asks.push(question);
            }
        }
    }
}

impl GraphPair {
    fn names(&self) -> Option<[String; 2]> {
        <[String; 2]>::try_from(self.fact_ids.clone()).ok()
    }
}

/// Says a fact in a record of its own.
fn say(file: &mut StreamFile, session: u32, topic: &str, fact: StreamFact) {
    let topic = (!topic.is_empty()).then(|| topic.to_owned());
    let record = StreamRecord { topic, profile: false, facts: vec![fact] };
    file.sessions[session as usize].says.push(record);
}

fn blank_fact() -> StreamFact {
    StreamFact {
        name: None,
        value: None,
        subject: false,
        replaces: None,
        adds: None,
        to: None,
        tracked: true,
    }
}

/// Returns the name of a version; the first has the fact's own.
fn version_name(id: &str, nth: usize) -> String {
    if nth == 0 { id.to_owned() } else { format!("{id}_v{}", nth + 1) }
}
