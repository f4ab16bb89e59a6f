//! Policies as Python functions: what they see of a run, and what they answer.

use std::sync::Arc;

use ctxsim::{BoxError, CodePolicy, ItemId, Kind, Lasts, Text, View};
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::stop::Stop;

/// One entry of a history, as it arrived; earlier views never change it.
#[pyclass(frozen, get_all, module = "ctxsim")]
pub(crate) struct Entry {
    /// Its number, in order of arrival across all sessions of a run.
    id: u32,
    /// What it is: `system`, `tool_schema`, `user`, `assistant`, `reasoning`, `tool_call`, `tool_result`, `summary`, `memory` or `approval`.
    kind: String,
    /// The tool of a call or a result; empty for others.
    tool: String,
    /// For a result, the number of its call.
    call: Option<u32>,
    /// Its text, if the session has text; for a call, its input as JSON.
    text: Option<Py<PyString>>,
    /// Its size in tokens.
    tokens: u64,
    /// Whether every request sends it unchanged, in front of everything else.
    is_stable: bool,
}

/// The circumstances of a request. Numbers count from 0, sizes are tokens, times milliseconds.
#[pyclass(frozen, get_all, module = "ctxsim")]
pub(crate) struct Cx {
    /// The number of the request, from 0.
    request: u64,
    /// The session, from 0.
    session: u32,
    /// The turn, from 0.
    turn: u32,
    /// Milliseconds from the start of the scenario to this request.
    now_ms: i64,
    /// Milliseconds since the last request started.
    idle_ms: u64,
    /// How long a cache entry lives after its last use, in milliseconds; None if the provider does not say.
    ttl_ms: Option<u64>,
    /// The size of the request in tokens if nothing were changed.
    prompt_tokens: u64,
    /// The profile's prompt limit in tokens; None if it sets none.
    prompt_limit: Option<u64>,
    /// The index in the history of the first entry added since the last view.
    new_from: usize,
    /// The numbers of the entries that the recorded harness removed since the last view. The history no longer has them, so a view need not follow them.
    gone: Vec<u32>,
    /// Whether the last request has expired from the provider's cache by now.
    is_cold: bool,
}

/// What happens in a run: `requests` of its agent, user `turns`, the random `seed`, the profile's `prompt_limit` in tokens.
#[pyclass(frozen, get_all, module = "ctxsim")]
pub(crate) struct Trace {
    /// The scenario's name.
    name: String,
    /// How many user turns it has.
    turns: usize,
    /// How many requests its agent makes.
    requests: usize,
    /// The random seed of the run.
    seed: u64,
    /// The profile's prompt limit in tokens; None if it sets none.
    prompt_limit: Option<u64>,
}

/// A model call that wrote a part, billed once as a call to the policy's summariser: tokens that it read and wrote, and whether its prompt begins
/// with the agent's own, so that the cache serves that part.
#[pyclass(frozen, from_py_object, module = "ctxsim")]
#[derive(Clone)]
pub(crate) struct ModelCall(ctxsim::ModelCall);

/// A part of a view; `keep`, `rewrite` and `insert` make them.
#[pyclass(frozen, from_py_object, module = "ctxsim")]
#[derive(Clone)]
pub(crate) struct Part(ctxsim::Part);

/// A text known only by its size and a number that tells it from others.
#[pyclass(frozen, from_py_object, module = "ctxsim")]
#[derive(Clone)]
pub(crate) struct Sized(Text);

#[pymethods]
impl Entry {
    fn __repr__(&self) -> String {
        let tool = if self.tool.is_empty() { String::new() } else { format!(" {}", self.tool) };
        format!("<ctxsim.Entry {}: {}{tool}, {} tokens>", self.id, self.kind, self.tokens)
    }
}

#[pymethods]
impl ModelCall {
    #[new]
    #[pyo3(signature = (input, output, *, shares_prefix=false))]
    fn new(input: u64, output: u64, shares_prefix: bool) -> Self {
        let call = ctxsim::ModelCall::new(input, output);
        Self(if shares_prefix { call.sharing_prefix() } else { call })
    }
}

/// An entry, or its number.
#[derive(FromPyObject)]
pub(crate) enum EntryArg<'py> {
    Entry(PyRef<'py, Entry>),
    Id(u32),
}

impl EntryArg<'_> {
    fn id(&self) -> ItemId {
        match self {
            Self::Entry(it) => ItemId(it.id),
            Self::Id(it) => ItemId(*it),
        }
    }
}

/// A text, or its size.
#[derive(FromPyObject)]
pub(crate) enum TextArg {
    Words(String),
    Sized(Sized),
}

impl From<TextArg> for Text {
    fn from(it: TextArg) -> Self {
        match it {
            TextArg::Words(words) => words.into(),
            TextArg::Sized(Sized(text)) => text,
        }
    }
}

/// A text known only by its size in tokens; texts with equal numbers are equal to caches.
#[pyfunction]
pub(crate) fn sized(tokens: u64, number: u64) -> Sized {
    Sized(Text::sized(tokens, number))
}

/// Shows an entry unchanged, as naming the entry itself does.
#[pyfunction]
pub(crate) fn keep(entry: EntryArg<'_>) -> Part {
    Part(ctxsim::Part::keep(entry.id()))
}

/// Shows an entry with new text, or with `sized(…)`. `handle`: the text names a way to fetch the entry again; `exact`: it keeps the exact evidence.
#[pyfunction]
#[pyo3(signature = (entry, text, *, handle=false, exact=false, written_by=None))]
pub(crate) fn rewrite(
    entry: EntryArg<'_>,
    text: TextArg,
    handle: bool,
    exact: bool,
    written_by: Option<ModelCall>,
) -> Part {
    finished(ctxsim::Part::rewrite(entry.id(), text), handle, exact, written_by)
}

/// Inserts text of the policy's own between two messages. The entries that it `replaces` count as summarised, not as left out.
#[pyfunction]
#[pyo3(signature = (text, *, kind="summary", replaces=Vec::new(), handle=false, exact=false, written_by=None))]
pub(crate) fn insert(
    text: TextArg,
    kind: &str,
    replaces: Vec<EntryArg<'_>>,
    handle: bool,
    exact: bool,
    written_by: Option<ModelCall>,
) -> PyResult<Part> {
    let kind: Kind = serde_json::from_value(kind.into())
        .map_err(|error| PyValueError::new_err(format!("unknown kind: {error}")))?;
    let part = ctxsim::Part::insert(kind, text).replacing(replaces.iter().map(EntryArg::id));
    Ok(finished(part, handle, exact, written_by))
}

fn finished(part: ctxsim::Part, handle: bool, exact: bool, written_by: Option<ModelCall>) -> Part {
    let part = if handle { part.with_handle() } else { part };
    let part = if exact { part.exact() } else { part };
    Part(match written_by {
        Some(ModelCall(call)) => part.written_by(call),
        None => part,
    })
}

/// Makes a policy of a Python function that makes a view for each run.
pub(crate) fn code(name: &str, make: &Arc<Py<PyAny>>, lasts: Lasts, stop: &Stop) -> CodePolicy {
    let (make, stop) = (Arc::clone(make), stop.clone());
    CodePolicy::view(name, move |trace| {
        let trace = Trace {
            name: trace.name().to_owned(),
            turns: trace.turns(),
            requests: trace.requests(),
            seed: trace.seed(),
            prompt_limit: trace.prompt_limit(),
        };
        let view = Python::attach(|py| make.call1(py, (trace,)).map_err(|it| said(py, it, &stop)));
        Viewed { view, history: Vec::new(), lasts, stop: stop.clone() }
    })
}

/// A view in Python, with the entries that it has been shown: Python never has to follow what has gone.
struct Viewed {
    view: Result<Py<PyAny>, String>,
    /// The entries of the last history, in its order.
    history: Vec<(u32, Py<Entry>)>,
    lasts: Lasts,
    stop: Stop,
}

impl View for Viewed {
    fn view(
        &mut self,
        cx: &ctxsim::Cx<'_>,
        history: &[ctxsim::Entry<'_>],
    ) -> Result<Vec<ctxsim::Part>, BoxError> {
        if self.stop.is_set() {
            return Err("the runs were stopped".into());
        }
        Python::attach(|py| {
            let view = self.view.as_ref().map_err(|it| it.clone())?.clone_ref(py);
            let answer = self.shown(py, history).and_then(|shown| view.bind(py).call1((seen(cx), shown)));
            answer.and_then(|it| parts(&it)).map_err(|it| said(py, it, &self.stop).into())
        })
    }

    fn lasts(&self) -> Lasts {
        self.lasts
    }
}

impl Viewed {
    /// Returns the history as a tuple; an entry is made once, however often it is shown.
    fn shown<'py>(
        &mut self,
        py: Python<'py>,
        history: &[ctxsim::Entry<'_>],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let same = self.history.iter().zip(history).take_while(|(had, it)| had.0 == it.id.0).count();
        let mut had = self.history.split_off(same).into_iter().peekable();
        for it in &history[same..] {
            while had.next_if(|old| old.0 < it.id.0).is_some() {}
            let entry = match had.next_if(|old| old.0 == it.id.0) {
                Some((_, entry)) => entry,
                None => Py::new(py, Entry::new(py, it))?,
            };
            self.history.push((it.id.0, entry));
        }
        PyTuple::new(py, self.history.iter().map(|it| &it.1))
    }
}

impl Entry {
    fn new(py: Python<'_>, it: &ctxsim::Entry<'_>) -> Self {
        Self {
            id: it.id.0,
            kind: serde_json::to_value(it.kind)
                .ok()
                .and_then(|name| name.as_str().map(str::to_owned))
                .unwrap_or_default(),
            tool: it.tool.to_owned(),
            call: it.call.map(|it| it.0),
            text: it.text.map(|it| PyString::new(py, it).unbind()),
            tokens: it.tokens,
            is_stable: it.is_stable,
        }
    }
}

fn seen(cx: &ctxsim::Cx<'_>) -> Cx {
    Cx {
        request: cx.request,
        session: cx.session,
        turn: cx.turn,
        now_ms: cx.now_ms,
        idle_ms: cx.idle_ms,
        ttl_ms: cx.ttl_ms,
        prompt_tokens: cx.prompt_tokens,
        prompt_limit: cx.prompt_limit,
        new_from: cx.new_from,
        gone: cx.gone.iter().map(|it| it.0).collect(),
        is_cold: cx.is_cold(),
    }
}

/// Reads what a view answered: parts, or entries and numbers that are kept.
fn parts(answer: &Bound<'_, PyAny>) -> PyResult<Vec<ctxsim::Part>> {
    let mut all = Vec::new();
    for it in answer.try_iter()? {
        let it = it?;
        if let Ok(part) = it.cast::<Part>() {
            all.push(part.get().0.clone());
        } else if let Ok(entry) = it.cast::<Entry>() {
            all.push(ctxsim::Part::keep(ItemId(entry.get().id)));
        } else if let Ok(id) = it.extract::<u32>() {
            all.push(ctxsim::Part::keep(ItemId(id)));
        } else {
            let words =
                format!("a view is made of entries, their numbers and parts, not of {}", it.get_type());
            return Err(PyTypeError::new_err(words));
        }
    }
    Ok(all)
}

/// Says what was raised, and where. What the user raised to stop everything stops everything.
fn said(py: Python<'_>, raised: PyErr, stop: &Stop) -> String {
    let words = format!("{raised}{}", place(py, &raised).unwrap_or_default());
    if raised.is_instance_of::<PyKeyboardInterrupt>(py) || raised.is_instance_of::<PySystemExit>(py) {
        stop.set(raised);
    }
    words
}

/// Returns the line that raised something.
fn place(py: Python<'_>, raised: &PyErr) -> Option<String> {
    let frames = py.import("traceback").ok()?.call_method1("extract_tb", (raised.traceback(py)?,)).ok()?;
    let last = frames.get_item(-1).ok()?;
    let (file, line): (String, usize) =
        (last.getattr("filename").ok()?.extract().ok()?, last.getattr("lineno").ok()?.extract().ok()?);
    let file = file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned();
    Some(format!(" ({file}, line {line})"))
}
