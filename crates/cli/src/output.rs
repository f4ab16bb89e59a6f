//! Where results go: standard output, or a file.

mod file;

use crate::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use annotate_snippets::{Group, Renderer};
use clap::ColorChoice;
use ctxsim_app::catalog::is_same_file;
use ctxsim_base::foreign::{self, in_one_line, runner};
use ctxsim_base::grid::tint::printed_painted;
use ctxsim_timeline::row::json::json_text;
use serde::Serialize;
use terminal_size::{terminal_size, terminal_size_of};

pub(super) use file::{
    OverwriteRules, Replaceable, WrittenByRemark, check_no_link, check_output_path, file_begins_with,
    make_folder, open_to_append, remove_own_file, truncate_file, write_text_file,
};

/// The name of standard output, where a file could be given.
const STANDARD_OUTPUT: [&str; 2] = ["-", "/dev/stdout"];

/// Where a result is written.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct OutputArgs {
    /// Write to a file atomically; `-` is standard output
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// Whether files of others are replaced.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct ForceArgs {
    /// Replace a file even if ctxsim did not write it; an input is never replaced
    #[arg(long)]
    pub force: bool,
}

/// A page beside the result.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PageArgs {
    /// Also write the result to a self-contained page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl PageArgs {
    /// Returns whether a page is asked for.
    pub(super) fn is_asked(&self) -> bool {
        self.html.is_some()
    }

    /// Checks before any work that the page may be written, and that what is written beside it are other files.
    pub(super) fn check_output_path<'p>(
        &'p self,
        inputs: &InputFiles,
        force: ForceArgs,
        other_outputs: impl IntoIterator<Item = &'p Path>,
    ) -> Result<()> {
        check_distinct_outputs(other_outputs.into_iter().chain(self.html.as_deref()))?;
        let Some(path) = &self.html else { return Ok(()) };
        check_output_path(path)?;
        force.overwrite_rules(inputs).check_may_write(path, None)
    }

    /// Writes the page, if it is asked for.
    pub(super) fn write_if_asked<E: std::fmt::Display>(
        &self,
        inputs: &InputFiles,
        force: ForceArgs,
        page: impl FnOnce() -> Result<String, E>,
    ) -> Result<()> {
        let Some(path) = &self.html else { return Ok(()) };
        let text = page().map_err(unwritable_error)?;
        write_text_file(path, FormatArg::HTML.add_byline(&text), force.overwrite_rules(inputs))
    }
}

impl ForceArgs {
    /// Returns what must be kept, besides these inputs.
    pub(super) fn overwrite_rules(self, inputs: &InputFiles) -> OverwriteRules<'_> {
        OverwriteRules { inputs, replaced: if self.force { Replaceable::All } else { Replaceable::Results } }
    }
}

impl OutputArgs {
    /// Returns the file, or `None` for standard output.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|it| !STANDARD_OUTPUT.iter().any(|name| it.as_os_str() == *name))
    }

    /// Checks before any work that the file may be written, and replaces nothing that must be kept.
    pub(super) fn check_output_path(&self, inputs: &InputFiles) -> Result<()> {
        self.file().map_or(Ok(()), |it| self.force.overwrite_rules(inputs).check_may_write(it, None))
    }

    /// Writes a result to the file, with a remark that ctxsim wrote it, or prints it.
    pub(super) fn write_result(
        &self,
        inputs: &InputFiles,
        format: FormatArg,
        text: impl AsRef<[u8]>,
    ) -> Result<()> {
        let text = format.neutralise_control_codes(text.as_ref())?;
        match self.file() {
            Some(path) => write_text_file(path, format.add_byline(&text), self.force.overwrite_rules(inputs)),
            None => print_encoded(&text),
        }
    }

    /// Writes JSON as it is made to the file, or prints it.
    pub(super) fn write_streamed_json(
        &self,
        inputs: &InputFiles,
        write: impl FnOnce(&mut dyn io::Write) -> Result<(), serde_json::Error>,
    ) -> Result<()> {
        match self.file() {
            Some(path) => {
                self.force.overwrite_rules(inputs).check_may_write(path, None)?;
                file::write_atomically(path, |to| Ok(write(to)?))
            }
            None => print_streamed(|to| Ok(write(to)?)),
        }
    }

    /// Writes an input file, which is the user's from now on, or shows it.
    pub(super) fn write_new_input_file(&self, inputs: &InputFiles, text: &str) -> Result<()> {
        match self.file() {
            Some(path) => write_text_file(path, text, self.force.overwrite_rules(inputs)),
            None => print_encoded(runner::disarmed(&foreign::in_lines(text)).as_bytes()),
        }
    }
}

/// Marks the files that names lead to as inputs, before they are read; wrong names are reported where they are.
pub(super) fn mark_inputs<'n>(catalog: &Catalog, kind: InputKind, all: impl IntoIterator<Item = &'n String>) {
    for name in all {
        let found: Vec<String> = match kind {
            InputKind::Scenario => {
                let hits = catalog.search_scenarios(name).unwrap_or_default().found;
                hits.into_iter().map(|it| it.name).listed()
            }
            _ => catalog.expand_pattern(kind, name),
        };
        found.iter().for_each(|it| drop(catalog.find_origin(kind, it)));
    }
}

/// Writes several files, or none: not if one of them must be kept, and not if one cannot be written.
pub(super) fn write_together(files: &[(PathBuf, impl AsRef<[u8]>)], kept: OverwriteRules<'_>) -> Result<()> {
    files.iter().try_for_each(|(path, text)| kept.check_may_write(path, Some(text.as_ref())))?;
    let begun = RemovedUnlessKept::new(files.iter().map(|it| it.0.as_path()));
    let mut staged = Vec::with_capacity(files.len());
    for (path, text) in files {
        path.parent().map_or(Ok(()), make_folder)?;
        staged.extend(file::stage_file(path, |to| to.write_all(text.as_ref()))?);
    }
    staged.into_iter().try_for_each(file::StagedFile::move_into_place)?;
    begun.keep();
    Ok(())
}

/// Files and folders that are not there yet. What is there of them when this ends, or when the command is interrupted, is taken back,
/// unless it is to be kept.
pub(super) struct RemovedUnlessKept(Vec<PathBuf>);

impl RemovedUnlessKept {
    /// Takes what of some paths is not there: the path, or the first of its folders that is missing.
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let is_missing = |it: &&Path| !it.as_os_str().is_empty() && it.symlink_metadata().is_err();
        let first = |path: &'p Path| path.ancestors().take_while(is_missing).last().map(Path::to_owned);
        let all: Vec<PathBuf> = paths.into_iter().filter_map(first).listed();
        all.iter().for_each(|it| ends::remove_on_interrupt(it));
        Self(all)
    }

    /// Keeps all of it.
    pub(super) fn keep(mut self) {
        self.0.drain(..).for_each(|it| ends::keep_on_interrupt(&it));
    }
}

impl Drop for RemovedUnlessKept {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
            ends::keep_on_interrupt(path);
        }
    }
}

/// Refuses outputs of which two would be one file, however their paths are written.
///
/// # Errors
/// Two are.
fn check_distinct_outputs<'p>(outputs: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    let mut places: Vec<PathBuf> = Vec::new();
    // To a device or a pipe, one result after the other is written.
    let is_file = |path: &&Path| fs::metadata(path).map_or(true, |it| it.is_file());
    for path in outputs.into_iter().filter(is_file) {
        let folder = fs::canonicalize(file::parent_or_current(path)).unwrap_or_default();
        let mut place = folder.join(path.file_name().unwrap_or_default());
        // Names differ by more than their case where most systems tell them apart by that.
        if cfg!(any(windows, target_os = "macos")) {
            place = place.to_string_lossy().to_lowercase().into();
        }
        if places.iter().any(|it| *it == place || is_same_file(it, &place)) {
            let message = "two results would be written to this file";
            return Err(error_at(Code("output-twice"), path, message, "name another file for one of them"));
        }
        places.push(place);
    }
    Ok(())
}

/// Prints text for people.
pub(super) fn print_text(text: &str) -> Result<()> {
    print_encoded(neutralise_control_codes(text).as_bytes())
}

/// Returns text for people, in which nothing but our own colours is obeyed.
pub(super) fn neutralise_control_codes(text: &str) -> Cow<'_, str> {
    printed_painted(text, is_stdout_coloured())
}

/// Prints what a writer made for programs, which has neutralised everything; a closed pipe is not an error.
pub(super) fn print_encoded(text: &[u8]) -> Result<()> {
    print_streamed(|to| to.write_all(text))
}

/// The same of what is made as it is printed.
fn print_streamed(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: PathBuf::from("standard output"), source: error })
        }
        _ => Ok(()),
    }
}

/// Whether something that was to be told on standard error could not be written.
static IS_UNTOLD: AtomicBool = AtomicBool::new(false);

/// The columns of the line of progress that stands on the terminal.
static SHOWN: AtomicUsize = AtomicUsize::new(0);

/// A text in which every code is ours: what was drawn had none.
pub(super) struct DrawnProblem(String);

impl DrawnProblem {
    /// Draws a problem and what is around it, none of which has a code.
    pub(super) fn from_group(group: Group<'_>) -> Self {
        Self(runner::disarmed(&Renderer::styled().render(&[group])).into_owned())
    }
}

/// Tells a line on standard error, in which no code is obeyed.
pub(super) fn print_note(line: impl fmt::Display) {
    write_raw_to_stderr(&format!("{}\n", foreign::printed(&line.to_string())));
}

/// Tells what was drawn on standard error, an empty line in front of each but the first.
pub(super) fn print_problems_to_stderr(all: &[DrawnProblem]) {
    let all: Vec<&str> = all.iter().map(|it| it.0.as_str()).listed();
    write_raw_to_stderr(&format!("{}\n", all.join("\n\n")));
}

/// Shows a line of progress on the terminal, in the place of the one that stands there, or takes that back where the line is empty; it is
/// cut to the width of the terminal, as one that breaks cannot be taken back.
pub(super) fn show_progress_line(line: &str) {
    let room = terminal_size_of(io::stderr()).map_or(usize::MAX, |(width, _)| usize::from(width.0));
    let line: String = in_one_line(line).chars().take(room.saturating_sub(1)).collect();
    write_raw_to_stderr(&line);
    SHOWN.store(line.chars().count(), Ordering::Relaxed);
}

/// Writes to standard error as it is, in the place of the line of progress. That is overwritten with blanks, because a terminal without
/// colours may know no code either. What cannot be written is noted: nobody is left to tell it to.
fn write_raw_to_stderr(text: &str) {
    let mut to = anstream::stderr().lock();
    let n = SHOWN.swap(0, Ordering::Relaxed);
    let cleared = if n > 0 { format!("\r{}\r", " ".repeat(n)) } else { String::new() };
    if to.write_all((cleared + text).as_bytes()).and_then(|()| to.flush()).is_err() {
        IS_UNTOLD.store(true, Ordering::Relaxed);
    }
}

/// Returns whether all that was to be told on standard error was written.
pub(super) fn is_all_stderr_written() -> bool {
    !IS_UNTOLD.load(Ordering::Relaxed)
}

/// Returns a result as JSON.
pub(super) fn to_json_text(result: &impl Serialize) -> Result<String> {
    json_text(result).map_err(unwritable_error)
}

/// Returns the width and the height of the terminal, if the output is one.
pub(super) fn stdout_width_and_height() -> Option<[usize; 2]> {
    let is_terminal = io::stdout().is_terminal();
    is_terminal.then(terminal_size).flatten().map(|(width, height)| [width.0, height.0].map(usize::from))
}

/// Whether only answers are shown.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// When text is coloured, and how much is told: on every verb.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct ToneArgs {
    /// When to colour text; `auto` does on a terminal unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_default_value = true,
        help_heading = "Everywhere"
    )]
    color: ColorChoice,
    /// Show answers only: no progress, no notes, nothing on how to go on
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    quiet: bool,
}

impl ToneArgs {
    /// Lets everything that is told from now on have it so.
    pub(super) fn apply_globally(self) {
        IS_QUIET.store(self.quiet, Ordering::Relaxed);
        match self.color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Returns whether only answers are shown.
pub(super) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Returns how text is shown on standard output, or in a file, but for its width.
pub(super) fn terminal_without_width(is_on_stdout: bool) -> Terminal {
    // The line below the answer is that of the prompt.
    let height = stdout_width_and_height().filter(|_| is_on_stdout).map(|it| it[1].saturating_sub(1));
    Terminal { width: None, height, is_coloured: is_on_stdout && is_stdout_coloured(), is_quiet: is_quiet() }
}

/// Returns whether the output is coloured: on a terminal, unless the environment forbids it.
pub(super) fn is_stdout_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
