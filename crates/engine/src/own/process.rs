//! A policy that is a program in any language, asked over its standard input and output: `ctxsim.policy/1`.
//!
//! Each run has a program of its own. No other module of the library starts programs or keeps deadlines.

mod answer;
mod child;

use crate::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

use self::answer::OutputLine;
use self::child::Child;
use super::view::{Kind, PartForm, View};
use super::{BoxError, CodeInputs, Cx, Entry, ItemId, Lasts, Own, Part};
use crate::projection::{Known, Num};
use ctxsim_input::ProcessFile;

pub use self::child::end_all;

/// The version of the protocol.
const PROTOCOL: &str = "ctxsim.policy/1";

/// How a program is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// The program and its arguments; a program with a `/` in its name is found from the folder on, others by `PATH`.
    pub command: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// How long it may take to start, and to answer a request.
    pub deadline: Duration,
    /// Parameters that it is told, as numbers: sizes in tokens.
    pub params: IndexMap<String, Size>,
}

impl Process {
    /// Returns how a policy file says that its program is started.
    pub fn new(file: &ProcessFile, params: &IndexMap<String, Size>) -> Self {
        Self {
            command: file.command.clone(),
            folder: file.folder.clone().unwrap_or_default(),
            deadline: Duration::from_millis(file.deadline().0),
            params: params.clone(),
        }
    }

    /// Starts the program, and ends it again by closing its input.
    ///
    /// # Errors
    /// It cannot be started, does not answer, or does not end within a second.
    pub fn try_out(&self, policy: &str, made: CodeInputs<'_>) -> Result<(), BoxError> {
        let mut session = RunningProgram::start(self, policy, made)?;
        if session.child.close() {
            return Ok(());
        }
        Err("the program keeps running after its standard input is closed: exit at the end of input".into())
    }
}

/// Reads a line that a program wrote, as a run does.
///
/// # Errors
/// What is wrong with it, in words.
pub fn heard(line: &[u8]) -> Result<(), String> {
    OutputLine::read(line).map(drop)
}

impl Own {
    /// Creates a policy of a name whose views come from a program.
    pub fn process(name: &str, process: Process) -> Self {
        let policy: Arc<str> = name.into();
        Self::view(name, move |made| RunningProgram::start(&process, &policy, made))
    }
}

/// A program at work.
struct RunningProgram {
    child: Child,
    lasts: Lasts,
    /// Entries that the program has been told of and that are not gone, in order.
    told: Vec<ItemId>,
    /// What it last answered.
    view: Vec<Part>,
    /// The first entry that has come since.
    new_from: ItemId,
}

impl RunningProgram {
    /// Starts the program and waits until it is ready.
    fn start(process: &Process, policy: &str, made: CodeInputs<'_>) -> Result<Self, BoxError> {
        let mut child = Child::start(process, made.play)?;
        let known = Known::new(made.timeline, made.limits);
        let params = process.params.iter().map(|(name, size)| (name.as_str(), Num::known(size, &known)));
        child.tell(&InputLine::Open {
            protocol: PROTOCOL,
            run: RunNames { policy, scenario: &made.timeline.name },
            seed: made.timeline.seed,
            params: params.collect(),
            limits: Limited { prompt: Some(made.limits.prompt).filter(|it| *it != UNLIMITED) },
        })?;
        let line = child.hear("the opening message")?;
        let answer = OutputLine::read(&line).map_err(|it| child.fault(&it))?;
        match answer {
            OutputLine::Ready { lasts } => {
                Ok(Self { child, lasts, told: Vec::new(), view: Vec::new(), new_from: ItemId(0) })
            }
            OutputLine::Error { message, .. } => Err(child.fault(&format!("the program reports: {message}"))),
            other => {
                let what =
                    format!("the program answers the opening message with `{}`, not `ready`", other.name());
                Err(child.fault(&what))
            }
        }
    }

    /// Returns which of the entries that the program knows are gone, and forgets them.
    fn gone(&mut self, history: &[Entry<'_>]) -> Vec<ItemId> {
        let is_there = |it: &ItemId| history.binary_search_by_key(it, |entry| entry.id).is_ok();
        let gone: Vec<ItemId> = self.told.iter().copied().filter(|it| !is_there(it)).collect();
        if !gone.is_empty() {
            self.told.retain(is_there);
        }
        gone
    }

    /// Takes from the last view what is gone.
    fn forget(&mut self, gone: &[ItemId]) {
        let is_gone = |it: &ItemId| gone.binary_search(it).is_ok();
        self.view.retain_mut(|part| {
            let had_any = !part.replaces.is_empty();
            part.replaces.retain(|it| !is_gone(it));
            match &part.form {
                PartForm::Keep(id) | PartForm::Rewrite(id, _) => !is_gone(id),
                PartForm::Insert(..) => !had_any || !part.replaces.is_empty(),
            }
        });
    }

    /// Tells the program of a request and returns what it answers.
    fn ask(&mut self, cx: &Cx<'_>, history: &[Entry<'_>], gone: &[ItemId]) -> Result<Vec<u8>, BoxError> {
        let first = self.told.last().map_or(ItemId(0), |it| ItemId(it.0.saturating_add(1)));
        let new = &history[history.partition_point(|it| it.id < first)..];
        self.told.extend(new.iter().map(|it| it.id));
        self.child.tell(&InputLine::Request {
            n: cx.request,
            session: cx.session,
            turn: cx.turn,
            now_ms: cx.now_ms,
            idle_ms: cx.idle_ms,
            ttl_ms: cx.ttl_ms,
            prompt_tokens: cx.prompt_tokens,
            gone,
            add: new.iter().map(Added::from).collect(),
        })?;
        self.child.hear(&format!("request n={}", cx.request))
    }

    /// Returns a view in parts.
    fn parts(&mut self, n: u64, line: &[u8], history: &[Entry<'_>]) -> Result<Vec<Part>, String> {
        let answer = OutputLine::read(line)?;
        if let Some(answered) = answer.n().filter(|it| *it != n) {
            return Err(format!("the program answered request n={answered}, but it was asked for n={n}"));
        }
        match answer {
            OutputLine::View { parts, .. } => answer::parts(parts, history),
            OutputLine::Same { .. } => {
                let new = &history[history.partition_point(|it| it.id < self.new_from)..];
                let mut parts = std::mem::take(&mut self.view);
                parts.extend(new.iter().map(|it| Part::keep(it.id)));
                Ok(parts)
            }
            OutputLine::Error { message, .. } => Err(format!("the program reports: {message}")),
            OutputLine::Ready { .. } => Err(format!("the program answered request n={n} with `ready`")),
        }
    }
}

impl View for RunningProgram {
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        let gone = self.gone(history);
        self.forget(&gone);
        let line = self.ask(cx, history, &gone)?;
        let parts = self.parts(cx.request, &line, history).map_err(|it| self.child.fault(&it))?;
        self.view.clone_from(&parts);
        self.new_from = self.told.last().map_or(ItemId(0), |it| ItemId(it.0.saturating_add(1)));
        Ok(parts)
    }

    fn lasts(&self) -> Lasts {
        self.lasts
    }

    fn refused(&mut self, why: String) -> String {
        self.child.fault(&why).to_string()
    }
}

// What a program is told.

/// A line of a program's input.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputLine<'a> {
    /// A run begins.
    Open {
        /// The version of the protocol.
        protocol: &'static str,
        /// Which run.
        run: RunNames<'a>,
        /// Its random seed.
        seed: u64,
        /// The policy's parameters; null where a parameter has no limit.
        params: IndexMap<&'a str, Option<Tokens>>,
        /// What the profile allows.
        limits: Limited,
    },
    /// A request is about to go out.
    Request {
        /// Its number.
        n: u64,
        session: u32,
        turn: u32,
        now_ms: i64,
        idle_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<u64>,
        prompt_tokens: Tokens,
        /// Entries of earlier messages that the history no longer has.
        gone: &'a [ItemId],
        /// Entries that have come.
        add: Vec<Added<'a>>,
    },
}

/// What a run is called.
#[derive(Debug, Serialize)]
struct RunNames<'a> {
    policy: &'a str,
    scenario: &'a str,
}

/// How large things may be, in tokens.
#[derive(Debug, Serialize)]
struct Limited {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Tokens>,
}

/// An entry that has come.
#[derive(Debug, Serialize)]
struct Added<'a> {
    id: ItemId,
    kind: Kind,
    #[serde(skip_serializing_if = "str::is_empty")]
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<ItemId>,
    tokens: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stable: bool,
}

impl<'a> From<&Entry<'a>> for Added<'a> {
    fn from(entry: &Entry<'a>) -> Self {
        let Entry { id, kind, tool, call, text, tokens, is_stable } = *entry;
        Self { id, kind, tool, call, tokens, text, stable: is_stable }
    }
}
