//! Streams from a JSON file: what `--rows facts` writes, a graph of AgingBench, or chats in the format of LongMemEval or LoCoMo.

mod bench;
mod heard;

use std::io::BufRead;

use serde::Deserialize;

use super::stream::AgingStream;
use super::written;
use crate::chats::ChatNumbers;
use crate::chats::long_mem_eval::{self, json_fault};
use bench::{DependencyGraph, SESSIONS_MAX};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::rng::Seed;
use ctxsim_input::scenario::StreamFile;

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
pub(super) fn read(reader: &mut dyn BufRead) -> Result<ReadStreams, Vec<Diagnostic>> {
    let front = reader.fill_buf().map(|it| String::from_utf8_lossy(it).into_owned()).unwrap_or_default();
    if !front.trim_start().starts_with('[') {
        return graphs(reader);
    }
    let numbers = ChatNumbers::declared();
    let mut read = ReadStreams::default();
    long_mem_eval::each(reader, numbers, &mut |user| match heard::stream(&user, numbers) {
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
fn graphs(reader: &mut dyn BufRead) -> Result<ReadStreams, Vec<Diagnostic>> {
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
