//! Where results go: standard output, or a file.

mod file;

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use ctxsim::error::Error;

pub(crate) use file::{check, write};

/// The name of standard output, where a file could be given.
const STANDARD_OUTPUT: [&str; 2] = ["-", "/dev/stdout"];

/// Writes text to the given file, or prints it.
pub(crate) fn put(path: Option<&Path>, text: &str) -> Result<(), Error> {
    match to_file(path) {
        Some(path) => write(path, text),
        None => print(text),
    }
}

/// Returns the given file, or `None` for standard output.
pub(crate) fn to_file(path: Option<&Path>) -> Option<&Path> {
    path.filter(|it| !STANDARD_OUTPUT.iter().any(|name| it.as_os_str() == *name))
}

/// Creates a folder if it is missing.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })
}

/// Prints text; a closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: PathBuf::from("standard output"), source: error })
        }
        _ => Ok(()),
    }
}

/// Returns the width of the terminal, if the output is one.
pub(crate) fn width() -> Option<usize> {
    let is_terminal = io::stdout().is_terminal();
    is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0))
}

/// Returns whether the output is coloured: on a terminal, unless the environment forbids it.
pub(crate) fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
