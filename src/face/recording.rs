//! Recorded sessions as bytes, with what a scenario file says beside them.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::face::policy::decoded;
use crate::face::{Error, Scenario};
use ctxsim_base::diag::Diagnostic;
use ctxsim_input::Format;
use ctxsim_input::scenario::Assume;
use ctxsim_timeline::import::{self, Among};

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
        let assume = decoded("memory:assume", ron, Format::Ron)?;
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
    pub fn once(sessions: &mut Vec<Scenario>) -> Vec<String> {
        let among: Vec<Option<&Among>> = sessions.iter().map(|it| it.among()).collect();
        let twins = ctxsim_app::twins_in_memory(&among);
        let mut nth = 0..;
        let (kept, left_out) =
            sessions.drain(..).partition(|_| !nth.next().is_some_and(|it| twins.contains(&it)));
        *sessions = kept;
        let left_out: Vec<Scenario> = left_out;
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
        let all = read.map_err(|problems| {
            let located = problems.into_iter().map(|mut it: Diagnostic| {
                name.clone_into(&mut it.place.file);
                it
            });
            Error::from(located.collect::<Vec<_>>())
        })?;
        Ok(all.into_iter().map(|it| Scenario::new(ctxsim_app::with_losses(it, name))).collect())
    }
}
