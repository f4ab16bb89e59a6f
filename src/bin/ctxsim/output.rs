//! Where results go: standard output, or a file.

mod file;

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use ctxsim::error::Error;

pub(crate) use file::{check, write};

/// What names standard output where a file could be named.
const STANDARD_OUTPUT: [&str; 2] = ["-", "/dev/stdout"];

/// Writes text to a file, where one is named, and else prints it.
pub(crate) fn put(path: Option<&Path>, text: &str) -> Result<(), Error> {
    match to_file(path) {
        Some(path) => write(path, text),
        None => print(text),
    }
}

/// Returns the file that is named; nothing where standard output is meant.
pub(crate) fn to_file(path: Option<&Path>) -> Option<&Path> {
    path.filter(|it| !STANDARD_OUTPUT.iter().any(|name| it.as_os_str() == *name))
}

/// Makes a folder for files, where it is not there yet.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })
}

/// Prints text; a reader that has gone away wants no more.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: PathBuf::from("standard output"), source: error })
        }
        _ => Ok(()),
    }
}

/// Returns how wide the terminal is, where the output is one.
pub(crate) fn width() -> Option<usize> {
    let is_terminal = io::stdout().is_terminal();
    is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0))
}

/// Returns whether the output shows colours: a terminal does, unless the environment says otherwise.
pub(crate) fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
