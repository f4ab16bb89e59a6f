//! Where results go: standard output, or a file that is complete or not there.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use ctxsim::error::Error;

/// Writes text to a file, where one is named, and else prints it.
pub(crate) fn put(path: Option<&Path>, text: &str) -> Result<(), Error> {
    match path {
        Some(path) => write(path, text),
        None => print(text),
    }
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

/// Writes text to a temporary file beside the wanted one and renames it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The temporary file's own name would only confuse.
    let mut file = builder.tempfile_in(folder).map_err(|it| failed(it.kind().into()))?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|it| failed(it.error))?;
    Ok(())
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
