//! Determines the kind of an input file from its content.

use std::path::Path;

use super::{Kind, Origin};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_input::text::decode;
use ctxsim_input::{Format, PolicyFile, ProfileFile, ScenarioFile, Source, SuiteFile};
use ctxsim_timeline::import;

/// Returns the kind of a file by its top-level fields or, if these fit several kinds, by the nearest folder
/// named after a kind.
///
/// # Errors
/// The file cannot be read.
pub fn kind_of(path: &Path) -> Result<Kind, Error> {
    if Format::of(path).is_none() {
        return Ok(Kind::Scenario);
    }
    let likely = likely(&Source::read(path)?);
    let folders: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).listed();
    let of_folder = folders.iter().rev().find_map(|it| likely.iter().find(|kind| kind.folder() == it));
    Ok(*of_folder.or(likely.first()).unwrap_or(&Kind::Policy))
}

/// Returns the kinds that share most of a file's top-level fields.
fn likely(source: &Source) -> Vec<Kind> {
    let n_known = |fields: &[&str]| source.keys().filter(|it| fields.contains(it)).count();
    let known = [
        (Kind::Policy, n_known(decode::fields::<PolicyFile>())),
        (Kind::Scenario, n_known(decode::fields::<ScenarioFile>())),
        (Kind::Profile, n_known(decode::fields::<ProfileFile>())),
        (Kind::Suite, n_known(decode::fields::<SuiteFile>())),
    ];
    let most = known.iter().map(|(_, n)| *n).max().unwrap_or(0);
    known.into_iter().filter(|(_, n)| *n == most).map(|(kind, _)| kind).listed()
}

/// Reports a file of another kind than requested, or nothing if it may be of that kind.
pub(super) fn other_kind(asked: Kind, source: &Source) -> Option<Diagnostic> {
    let likely = likely(source);
    let found = *likely.first().filter(|_| !likely.contains(&asked))?;
    let command = format!("ctxsim run --{} {}", found.noun(), source.file);
    Some(wrong_kind(asked, found.noun(), &source.file, &command))
}

/// Reports a recorded session where an input file was expected, or nothing if it is not one.
pub(super) fn recorded(asked: Kind, origin: &Origin) -> Option<Diagnostic> {
    let is_recorded = Format::of(origin.path()).is_none()
        && import::detect_from(origin.reader().ok()?.as_mut()).is_ok_and(|it| it.is_some());
    let label = origin.label();
    is_recorded.then(|| wrong_kind(asked, "recorded session", &label, &format!("ctxsim run {label}")))
}

fn wrong_kind(asked: Kind, found: &str, file: &str, command: &str) -> Diagnostic {
    let message = format!("this file is a {found}, not a {}", asked.noun());
    let mut problem = Diagnostic::at(Code("file-kind"), "", message).help(format!("run `{command}`"));
    file.clone_into(&mut problem.place.file);
    problem
}
