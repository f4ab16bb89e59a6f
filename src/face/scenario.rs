//! Scenarios built in code or read from recordings, and what the code of a run can see of one.

use std::fmt;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::face::policy::decode_text;
use crate::face::{Catalog, Error, Kind, Text};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::quantity::{Decimal, saturated};
use ctxsim_engine::own::{CodeInputs, Entry};
use ctxsim_input::scenario::{self as input, Assume, LoadSpec};
use ctxsim_input::{Format, Scenario as Checked, ScenarioFile};
use ctxsim_timeline::evidence::Recover;
use ctxsim_timeline::import::Among;
use ctxsim_timeline::scripted::sizes_of;
use ctxsim_timeline::{Due, Kind as ItemKind, Need, NewItem, Preserve, Timeline, TimelineBuilder, import};

/// A workload: what happens in a session, independent of any policy.
#[derive(Clone)]
pub struct Scenario {
    timeline: Arc<Timeline>,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Scenario").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Scenario {
    /// Begins a scenario.
    #[must_use]
    pub fn builder(name: impl Into<String>) -> ScenarioBuilder {
        ScenarioBuilder { name: name.into(), stable: Vec::new(), turns: Vec::new() }
    }

    /// Reads recorded sessions in any format that the command line reads; [`Recording`](crate::Recording) also sets assumptions and tools.
    ///
    /// A single session gets the name; with several, each session's own name is appended.
    ///
    /// # Errors
    /// The recording cannot be read; otherwise, every problem in it.
    pub fn recorded(name: impl AsRef<str>, from: impl BufRead) -> Result<Vec<Self>, Error> {
        Recording::new(name.as_ref()).read(from)
    }

    /// Generates a workload with the given number of turns: `random` for turns of every shape, or the name of a bundled scenario that is generated from
    /// patterns, such as `agents/coding_day`.
    /// Its name combines the kind, the number of turns and the seed, as in `random-20-7`.
    ///
    /// # Errors
    /// The name is unknown, or is not a scenario that is generated from patterns.
    pub fn generate(kind: &str, turns: u64, seed: u64) -> Result<Self, Error> {
        let mut spec = if kind == "random" {
            ScenarioFile { load: LoadSpec::Random { turns }, ..ScenarioFile::named("random") }
        } else {
            Catalog::bundled().0.scenario(kind)?.spec
        };
        spec.seed = seed;
        match &mut spec.load {
            LoadSpec::Random { turns: n } => *n = turns,
            LoadSpec::Generate(load) => (load.turns, load.scale) = (Some(turns), None),
            _ => {
                let message = format!("`{kind}` is not generated from patterns");
                let help = "write `random`, or name a scenario whose load is `generate`";
                return Err(Diagnostic::at(Code("generate-unknown"), "load", message).help(help).into());
            }
        }
        let checked = Checked::new(&spec)?;
        let missing = |_: &str, _: &Assume| {
            let message = "a generated load reads no recording";
            Err(Diagnostic::at(Code("recording-missing"), "load", message).into())
        };
        let timeline = ctxsim_timeline::load::load(&checked, missing)?;
        // Several that are generated alike are told apart.
        Ok(Self::new(Timeline { name: format!("{kind}-{turns}-{seed}"), ..timeline }))
    }

    pub(super) fn new(timeline: Timeline) -> Self {
        Self::from_shared(Arc::new(timeline))
    }

    pub(super) fn from_shared(timeline: Arc<Timeline>) -> Self {
        Self { timeline }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.timeline.name
    }

    /// Returns what happened.
    #[must_use]
    pub fn trace(&self) -> Trace<'_> {
        Trace { timeline: &self.timeline, prompt_limit: None }
    }

    /// Returns what it was read from, if it was read from bytes whose log was scanned.
    pub(super) fn source_log(&self) -> Option<&Among> {
        self.timeline.recorded.as_ref()?.among.as_deref()
    }

    pub(super) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }
}

/// What happens in a scenario; passed to the function that creates a run's code.
#[derive(Clone, Copy)]
pub struct Trace<'t> {
    timeline: &'t Timeline,
    prompt_limit: Option<u64>,
}

impl fmt::Debug for Trace<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Trace").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl<'t> Trace<'t> {
    pub(super) fn from_inputs(made: CodeInputs<'t>) -> Self {
        let limit = made.limits.prompt;
        let prompt_limit = (limit != ctxsim_base::quantity::UNLIMITED).then_some(limit);
        Self { timeline: made.timeline, prompt_limit }
    }

    /// Returns the scenario's name.
    #[must_use]
    pub fn name(&self) -> &'t str {
        &self.timeline.name
    }

    /// Returns how many user turns it has.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.timeline.spine.turns.len()
    }

    /// Returns how many requests its agent makes.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.timeline.spine.steps.len()
    }

    /// Returns every entry that the scenario will produce, in order. A policy that looks ahead knows more than any agent.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'t>> {
        let timeline = self.timeline;
        (0..).map_while(move |at| Entry::of(timeline, at))
    }

    /// Returns the random seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.timeline.seed
    }

    /// Returns the profile's prompt limit in tokens; `None` if it sets none.
    #[must_use]
    pub fn prompt_limit(&self) -> Option<u64> {
        self.prompt_limit
    }
}

/// How much of the earlier evidence later work needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Only the conclusion; the result itself is not needed.
    GlobalConclusion,
    /// A handle to continue from.
    Handle,
    /// A detail of a result.
    LocalDetail,
    /// Exact evidence.
    ExactEvidence,
    /// The whole raw content.
    RawContent,
}

/// Builds a scenario; see [`Scenario::builder`].
#[derive(Debug)]
pub struct ScenarioBuilder {
    name: String,
    stable: Vec<(Kind, Text)>,
    turns: Vec<Turn>,
}

/// One turn of a scenario: what the agent does with a user's message.
#[derive(Debug)]
pub struct Turn {
    user: Text,
    steps: Vec<Step>,
    needs: Vec<(u32, Level, f64)>,
    pause: Duration,
}

#[derive(Debug)]
enum Step {
    Call { tool: String, arguments: Text, result: Text, pause: Duration },
    Answer { text: Text, pause: Duration },
}

impl ScenarioBuilder {
    /// Adds to the stable prefix: a system prompt, or tool schemas.
    #[must_use]
    pub fn stable(mut self, kind: Kind, text: impl Into<Text>) -> Self {
        self.stable.push((kind, text.into()));
        self
    }

    /// Adds a turn: the user's message, and what the agent does with it. A turn without an answer gets an empty one.
    #[must_use]
    pub fn turn(mut self, user_text: impl Into<Text>, add_steps: impl FnOnce(&mut Turn)) -> Self {
        let mut turn =
            Turn { user: user_text.into(), steps: Vec::new(), needs: Vec::new(), pause: Duration::ZERO };
        add_steps(&mut turn);
        self.turns.push(turn);
        self
    }

    /// Checks the scenario.
    ///
    /// # Errors
    /// Every problem: a missing name, no turns, a stable prefix with kinds other than system prompt and tool schemas, needs that reach back
    /// beyond the first turn, or needs whose weight is not a probability.
    pub fn build(self) -> Result<Scenario, Error> {
        let problems = self.find_problems();
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let mut builder = TimelineBuilder::new(&self.name, &[]);
        for (kind, text) in &self.stable {
            builder.stable_item(&SpokenText::new(text).to_new_item(*kind));
        }
        let mut at_ms = 0_i64;
        for (nth, turn) in (0_u32..).zip(&self.turns) {
            at_ms = add_pause_ms(at_ms, turn.pause);
            builder.begin_turn(&[SpokenText::new(&turn.user).to_new_item(ItemKind::User)]);
            for step in &turn.steps {
                at_ms = step.append_and_get_end_ms(at_ms, &mut builder);
            }
            if !matches!(turn.steps.last(), Some(Step::Answer { .. })) {
                let silent = Step::Answer { text: "".into(), pause: Duration::ZERO };
                at_ms = silent.append_and_get_end_ms(at_ms, &mut builder);
            }
            for (back, level, weight) in &turn.needs {
                let need = Need::new(nth.saturating_sub(*back), level.to_input_level(), *weight, None);
                builder.need(Due::Answer, need);
            }
        }
        Ok(Scenario::new(builder.finish()))
    }

    fn find_problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut push = |code, field: String, message: String, help: &str| {
            let problem = Diagnostic::at(code, field, message).help(help);
            problems.push(problem.in_file(format!("scenario {}", self.name)));
        };
        if self.name.trim().is_empty() {
            push(Code("name-empty"), "name".into(), "the scenario has no name".into(), "give it one");
        }
        if self.turns.is_empty() {
            let message = "the scenario has no turn".into();
            push(Code("turns-missing"), "turns".into(), message, "add one with `turn`");
        }
        for (nth, (kind, _)) in self.stable.iter().enumerate() {
            if !matches!(kind, Kind::System | Kind::ToolSchema) {
                let message = format!("`{kind:?}` is not allowed in the stable prefix");
                let help = "use `Kind::System` or `Kind::ToolSchema`";
                push(Code("stable-kind"), format!("stable.{nth}"), message, help);
            }
        }
        for (nth, turn) in self.turns.iter().enumerate() {
            for (which, (back, _, weight)) in turn.needs.iter().enumerate() {
                let field = || format!("turns.{nth}.needs.{which}");
                if usize::try_from(*back).map_or(true, |back| back == 0 || back > nth) {
                    let message = format!("turn {} cannot look back {back} turns", nth + 1);
                    push(Code("need-back"), field(), message, "1 means the previous turn");
                }
                if !(0.0..=1.0).contains(weight) {
                    let message = format!("{weight} is not a probability");
                    push(Code("need-weight"), field(), message, "write a number from 0 to 1");
                }
            }
        }
        problems
    }
}

impl Turn {
    /// Adds a pause before the next step, or before the turn if it has no step yet.
    pub fn pause(&mut self, before: Duration) -> &mut Self {
        self.pause = self.pause.saturating_add(before);
        self
    }

    /// Calls a tool: one request, whose reply is the call, and the call's result.
    pub fn call(&mut self, tool: &str, arguments: impl Into<Text>, result: impl Into<Text>) -> &mut Self {
        let (arguments, result, pause) = (arguments.into(), result.into(), self.take_pause());
        self.steps.push(Step::Call { tool: tool.to_owned(), arguments, result, pause });
        self
    }

    /// Answers the user: one request.
    pub fn answer(&mut self, text: impl Into<Text>) -> &mut Self {
        let pause = self.take_pause();
        self.steps.push(Step::Answer { text: text.into(), pause });
        self
    }

    /// Declares that the answer needs something from the turn `back` turns earlier, with a probability from 0 to 1.
    pub fn needs(&mut self, turns_back: u32, level: Level, probability: f64) -> &mut Self {
        self.needs.push((turns_back, level, probability));
        self
    }

    /// Returns the pause before a step; before the first it is the turn's own.
    fn take_pause(&mut self) -> Duration {
        if self.steps.is_empty() { Duration::ZERO } else { std::mem::take(&mut self.pause) }
    }
}

impl Level {
    fn to_input_level(self) -> input::Level {
        match self {
            Self::GlobalConclusion => input::Level::GlobalConclusion,
            Self::Handle => input::Level::ContinuationHandle,
            Self::LocalDetail => input::Level::LocalDetail,
            Self::ExactEvidence => input::Level::ExactEvidence,
            Self::RawContent => input::Level::RawContent,
        }
    }
}

/// A text as a timeline holds it.
struct SpokenText {
    tokens: u32,
    digest: u64,
    words: Option<Arc<str>>,
}

impl SpokenText {
    fn new(text: &Text) -> Self {
        let chars_per_token = Decimal::parse("4").unwrap_or(Decimal::ONE);
        let said = text.counted_by(chars_per_token);
        Self { tokens: said.tokens, digest: said.content.digest(), words: text.words().map(Arc::from) }
    }

    fn to_new_item(&self, kind: ItemKind) -> NewItem<'_> {
        NewItem { digest: Some(self.digest), text: self.words.as_ref(), ..NewItem::plain(kind, self.tokens) }
    }
}

impl Step {
    /// Appends the step, which begins at the given time after the start; returns the time at which it ends.
    fn append_and_get_end_ms(&self, start_ms: i64, builder: &mut TimelineBuilder) -> i64 {
        let (Self::Call { pause, .. } | Self::Answer { pause, .. }) = self;
        let at_ms = add_pause_ms(start_ms, *pause);
        match self {
            Self::Call { tool, arguments, result, .. } => {
                let (arguments, result) = (SpokenText::new(arguments), SpokenText::new(result));
                let call = NewItem { tool, ..arguments.to_new_item(ItemKind::ToolCall) };
                let sizes = sizes_of(result.tokens);
                let recover = Recover { handle: sizes.handle, local: sizes.summary, exact: sizes.excerpt };
                let plain = NewItem::result(tool, 0, sizes, Preserve::WorkingEvidence, recover);
                let result = NewItem { digest: Some(result.digest), text: result.words.as_ref(), ..plain };
                builder.step(at_ms, arguments.tokens.into(), &[call], &[result]);
            }
            Self::Answer { text, .. } => {
                let said = SpokenText::new(text);
                builder.step(at_ms, said.tokens.into(), &[said.to_new_item(ItemKind::Assistant)], &[]);
            }
        }
        at_ms
    }
}

/// Returns a moment some time later.
fn add_pause_ms(at_ms: i64, pause: Duration) -> i64 {
    at_ms.saturating_add(saturated(pause.as_millis()))
}

/// How a recording is read: its name, what is assumed of it, and which of its tools read files.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = std::fs::read("scenarios/recorded/claude-code-session.jsonl")?;
/// let recording = ctxsim::Recording::new("mine").assume("(resets: keep, summary_tokens_max: 400)")?.file_tools(["Read"]);
/// let sessions = recording.read(&bytes[..])?;
/// let report = ctxsim::Comparison::new().scenarios(sessions).own_models().rows().run()?;
/// for total in report.totals() {
///     println!("{} costs {:?} US dollars", total.policy(), total.usd());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    name: String,
    assume: Assume,
    file_tools: Vec<String>,
}

impl Recording {
    /// Names a recording. A single session gets the name; with several, each session's own name is appended.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), assume: Assume::default(), file_tools: Vec::new() }
    }

    /// Sets what is assumed where the recording is silent, and its table of tools, in RON, as the field `load.recorded.assume` of a scenario
    /// file has it.
    ///
    /// # Errors
    /// The text is not RON, or has fields that assumptions do not have.
    pub fn assume(self, ron: &str) -> Result<Self, Error> {
        let assume = decode_text("memory:assume", ron, Format::Ron)?;
        Ok(Self { assume, ..self })
    }

    /// Sets the tools whose results are files that can be read again by range; names may have `*`.
    #[must_use]
    pub fn file_tools<S: Into<String>>(self, tools: impl IntoIterator<Item = S>) -> Self {
        Self { file_tools: tools.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns the files of a folder in the order in which the command line takes them: each with its path, and with the name that its session has in
    /// reports, the shortest that tells it from the others.
    #[must_use]
    pub fn names(paths: &[impl AsRef<Path>]) -> Vec<(PathBuf, String)> {
        let mut paths: Vec<PathBuf> = paths.iter().map(|it| it.as_ref().to_owned()).collect();
        paths.sort();
        let names = ctxsim_app::names_of_recordings(&paths);
        paths.into_iter().zip(names).collect()
    }

    /// Leaves out sessions that another of these holds, too, by the id in their logs, as the command line does for the files of a folder; what has
    /// texts, then the longer file, then the first one stays. Returns the names of those that are left out.
    pub fn remove_duplicates(sessions: &mut Vec<Scenario>) -> Vec<String> {
        let among: Vec<Option<&Among>> = sessions.iter().map(|it| it.source_log()).collect();
        let twins = ctxsim_app::dropped_twins_in_memory(&among);
        let mut nth = 0..;
        let is_kept = |_: &Scenario| !nth.next().is_some_and(|it| twins.contains(&it));
        let (kept, left_out): (_, Vec<Scenario>) = sessions.drain(..).partition(is_kept);
        *sessions = kept;
        left_out.iter().map(|it| it.name().to_owned()).collect()
    }

    /// Reads its sessions, in any format that the command line reads: Claude Code, Codex, pi, message logs and others.
    ///
    /// The result is that of a file with these bytes.
    ///
    /// # Errors
    /// The recording cannot be read; otherwise, every problem in it.
    pub fn read(&self, mut from: impl BufRead) -> Result<Vec<Scenario>, Error> {
        let name = self.name.as_str();
        let mut bytes = Vec::new();
        let read = from.read_to_end(&mut bytes);
        let read = read.and_then(|_| import::import_bytes(&bytes, name, &self.assume, &self.file_tools));
        let read = read.map_err(|source| ctxsim_base::error::Error::Read { path: name.into(), source })?;
        let in_it = |it: Diagnostic| it.in_file(name);
        let all = read.map_err(|problems| problems.into_iter().map(in_it).collect::<Vec<_>>())?;
        Ok(all.into_iter().map(|it| Scenario::new(ctxsim_app::timeline_with_losses(it, name))).collect())
    }
}
