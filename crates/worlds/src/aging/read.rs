//! Streams from a JSON file: what `--rows facts` writes, a graph of AgingBench, or chats in the format of LongMemEval or LoCoMo.

use std::io::BufRead;

use crate::prelude::*;
use indexmap::IndexSet;

use super::stream::AgingStream;
use super::{told, written};
use crate::chats::ChatNumbers;
use crate::chats::long_mem_eval::{self, json_fault};
use ctxsim_input::scenario::{
    StreamFact, StreamFile, StreamQuestion, StreamRecord, StreamSession, StreamTotal,
};

/// What a file of graphs should be.
const GRAPHS: &str = "write what `--rows facts --format jsonl` writes: a JSON object a line, with the sessions in `stream`; or a \
    `dependency_graph.json` with `facts` and `tasks`; chats of LongMemEval or LoCoMo begin with `[`";

/// What a row of `--rows facts` has for a stream, or a graph file of the benchmark.
#[derive(Deserialize)]
struct GraphRow {
    stream: Option<StreamFile>,
    dependency_graph: Option<DependencyGraph>,
    #[serde(flatten)]
    graph: Option<DependencyGraph>,
}

/// The streams of a file, and how many of its questions no memory over sessions can be asked.
#[derive(Debug, Default)]
pub struct ReadStreams {
    pub streams: Vec<AgingStream>,
    /// Questions about something that was never said, or is not true any more.
    pub n_left_out: usize,
}

/// Returns whether a text begins like a graph of facts.
pub(super) fn is_graph(front: &str) -> bool {
    let front = front.trim_start();
    front.starts_with('{') && front.contains("\"dependency_graph\"")
}

/// Reads streams.
///
/// # Errors
/// Every problem of the file, each with its field path.
pub(super) fn read(reader: &mut dyn BufRead) -> OrProblems<ReadStreams> {
    let front = reader.fill_buf().map(|it| String::from_utf8_lossy(it).into_owned()).unwrap_or_default();
    if !front.trim_start().starts_with('[') {
        return graphs(reader);
    }
    let numbers = ChatNumbers::declared();
    let mut read = ReadStreams::default();
    long_mem_eval::each(reader, numbers, &mut |user| match told::stream(&user, numbers) {
        Some((stream, n_left_out)) => {
            read.streams.push(stream);
            read.n_left_out += n_left_out;
        }
        None => read.n_left_out += user.questions.len(),
    })?;
    if read.streams.is_empty() {
        let message = "no question asks for something that was said";
        return Err(vec![
            Diagnostic::at(Code("chats-empty"), "", message).help("add a question with evidence"),
        ]);
    }
    Ok(read)
}

/// Reads graphs of facts, one after another.
fn graphs(reader: &mut dyn BufRead) -> OrProblems<ReadStreams> {
    let mut read = ReadStreams::default();
    for row in serde_json::Deserializer::from_reader(reader).into_iter::<GraphRow>() {
        let row = row.map_err(|it| vec![json_fault(&it, GRAPHS)])?;
        let graph = row.dependency_graph.or(row.graph);
        let (file, place) = match (row.stream, graph) {
            (Some(file), _) => (file, "stream"),
            (None, Some(graph)) if graph.n_sessions() > SESSIONS_MAX => {
                let n = graph.n_sessions();
                let message = format!("the graph speaks of session {n}, which is beyond all limits");
                let problem = Diagnostic::at(Code("aging-range"), "dependency_graph", message);
                return Err(vec![problem.help("number sessions from 0")]);
            }
            (None, Some(graph)) => (graph.stream(), "dependency_graph"),
            (None, None) => {
                let problem =
                    Diagnostic::at(Code("chats-json"), "", "the file has no `stream` and no graph of facts");
                return Err(vec![problem.help(GRAPHS)]);
            }
        };
        file.check().map_err(|all| crate::numbers::within(place, all).collect::<Vec<_>>())?;
        let stream = written::read(&file, Seed(0));
        read.n_left_out += stream.n_over();
        read.streams.push(stream);
    }
    if read.streams.is_empty() {
        let problem = Diagnostic::at(Code("chats-empty"), "", "the file contains no sessions");
        return Err(vec![problem.help("write what `--rows facts` writes")]);
    }
    Ok(read)
}

/// No graph of more sessions is laid out; the check of streams allows far fewer.
const SESSIONS_MAX: usize = 10_000;

/// A `dependency_graph.json`.
#[derive(Deserialize)]
struct DependencyGraph {
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
    fn stream(&self) -> StreamFile {
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
        let pairs = self.interference_map.iter().map(|it| it.fact_ids.clone());
        file.confusable = pairs.filter_map(|it| <[String; 2]>::try_from(it).ok()).collect();
        self.tasks.values().for_each(|it| self.ask(&mut file, it));
        self.add_totals(&mut file);
        file
    }

    /// Returns how many sessions it has.
    fn n_sessions(&self) -> usize {
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
        all.collect::<IndexSet<_>>().into_iter().cloned().collect()
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
