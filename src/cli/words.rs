//! Which arguments are sessions: options that take several values would otherwise take the paths behind them.

use crate::catalog::{Catalog, Kind};
use crate::diag::{Code, Diagnostic};
use crate::error::Error;

/// Returns the values of an option without those that mean sessions, which are added to the sessions.
pub(crate) fn without_sessions(
    catalog: &Catalog,
    (option, kind): (&str, Kind),
    given: &[String],
    sessions: &mut Vec<String>,
) -> Result<Vec<String>, Error> {
    let mut kept = Vec::with_capacity(given.len());
    for word in given {
        // A revision is no path.
        if !word.starts_with(crate::cli::git::MARK) && catalog.means_sessions(kind, word)? {
            sessions.push(word.clone());
        } else {
            kept.push(word.clone());
        }
    }
    if kept.is_empty()
        && let Some(word) = given.first()
    {
        let noun = kind.noun();
        let problem = Diagnostic::at(
            Code::Usage,
            "",
            format!("`{option}` needs a {noun}, but `{word}` means sessions"),
        );
        return Err(vec![problem.help(format!("name a {noun} first, as in `{option} NAME {word}`"))].into());
    }
    Ok(kept)
}
