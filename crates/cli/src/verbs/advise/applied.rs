//! A settings file that is changed, after the change was shown.

use std::fs;
use std::path::Path;

use ctxsim_app::advise::edit::{ChangedFile, undone};
use ctxsim_app::catalog::{Catalog, Files};
use ctxsim_app::forecast;
use ctxsim_base::diag::Code;
use ctxsim_base::error::Error;
use ctxsim_input::text::source::read_text;

use crate::output::{self, KeptFile, Replaced};
use crate::wrong_at;

/// Checks before any work that a settings file can be written.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    output::check(path)
}

/// Reads a settings file.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    if !path.exists() {
        let help = "check the path; an agent that has no settings yet needs the file first: `{}` if they are JSON, empty if TOML";
        return Err(wrong_at(Code("file"), path, "there is no such settings file", help));
    }
    read_text(path)
}

/// Writes a change that was shown, if the file is still as it was read.
pub(super) fn put(path: &Path, read: &str, changed: &ChangedFile) -> Result<(), Error> {
    if changed.text == read {
        return Ok(());
    }
    let unread = |source| Error::Read { path: path.to_owned(), source };
    let now = fs::read(path).map_err(unread)?;
    let (mark, text) = match now.strip_prefix("\u{feff}".as_bytes()) {
        Some(text) => ("\u{feff}", text),
        None => ("", &now[..]),
    };
    if text != read.as_bytes() {
        let message = "somebody else has changed this file in the meantime, so it was left as it is";
        return Err(wrong_at(Code("output-exists"), path, message, "run the command again"));
    }
    let kept = KeptFile { inputs: &Files::default(), replaced: Replaced::All };
    output::write(path, format!("{mark}{}", changed.text), kept)
}

/// Shows what goes and what comes, before anything is written.
///
/// # Errors
/// Nobody could be shown it.
pub(super) fn show(path: &Path, changed: &ChangedFile) -> Result<(), Error> {
    let [old, new] = &changed.diff;
    if old.is_empty() && new.is_empty() {
        output::tell(format_args!("{}: it says so already, so nothing is written", path.display()));
    } else {
        output::tell(format_args!("{}:", path.display()));
    }
    for (sign, lines) in [('-', old), ('+', new)] {
        lines.iter().for_each(|it| output::tell(format_args!("{sign} {it}")));
    }
    changed.notes.iter().for_each(output::tell);
    if output::is_told() {
        return Ok(());
    }
    let message = "the change could not be shown on standard error, so nothing was written";
    Err(wrong_at(Code("output-exists"), path, message, "run the command where standard error can be written"))
}

/// Takes back what was applied by a forecast, or shows alone what that changes.
pub(super) fn undo(catalog: &Catalog, from: &Path, settings: &Path, is_dry: bool) -> Result<(), Error> {
    check(settings)?;
    let saved = forecast(&from.display().to_string(), &read_text(from)?)?;
    catalog.files().note(from);
    let text = read(settings)?;
    let changed = undone(&saved, &settings.display().to_string(), &text)?;
    show(settings, &changed)?;
    if is_dry { Ok(()) } else { put(settings, &text, &changed) }
}
