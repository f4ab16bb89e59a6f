//! Writes a regular file whole or not at all, and anything else as it is: devices, pipes and links stay what they are.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, Once, PoisonError};

use crate::error::Error;
use tempfile::NamedTempFile;

use super::KeptFile;

/// The temporary file being written; an interrupt removes it.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code after an interrupt, as shells define it for Ctrl-C.
const INTERRUPTED: i32 = 130;

/// The longest chain of links that is followed.
const LINKS_MAX: usize = 40;

/// Checks that a file can be written before any work is done.
///
/// # Errors
/// Its folder does not exist, it is a folder, or it may not be written.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let checked = place(path).and_then(|place| match place {
        PathTarget::Other | PathTarget::File(..) => Ok(()),
        PathTarget::New(target) => fs::metadata(folder(&target)).map(|_| ()),
    });
    checked.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Writes text, unless that would replace something that must be kept.
///
/// # Errors
/// As [`check`] and [`KeptFile::check`], or the disk is full.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>, kept: KeptFile<'_>) -> Result<(), Error> {
    let text = text.as_ref();
    kept.check(path, Some(text))?;
    let written = place(path).and_then(|place| match place {
        PathTarget::Other => through(path, text),
        PathTarget::File(target, permissions) => replace(&target, Some(permissions), text),
        PathTarget::New(target) => replace(&target, None, text),
    });
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// What a path points to.
enum PathTarget {
    /// A device, a pipe, a socket.
    Other,
    /// A regular file, behind all links, with its permissions.
    File(PathBuf, Permissions),
    /// Nothing yet, after all links.
    New(PathBuf),
}

/// Returns what a path points to.
fn place(path: &Path) -> io::Result<PathTarget> {
    match fs::metadata(path) {
        Ok(it) if it.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(it) if it.is_file() => {
            // A rename would replace a file that is protected from writing.
            OpenOptions::new().write(true).open(path)?;
            Ok(PathTarget::File(fs::canonicalize(path)?, it.permissions()))
        }
        Ok(_) => Ok(PathTarget::Other),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(PathTarget::New(behind_links(path))),
        Err(error) => Err(error),
    }
}

/// Returns the end of a chain of dangling links.
fn behind_links(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else { break };
        target = folder(&target).join(next);
    }
    target
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes to a device or pipe; a closed pipe is not an error.
fn through(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    match file.write_all(text).and_then(|()| file.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a temporary file beside the wanted one and renames it.
fn replace(path: &Path, permissions: Option<Permissions>, text: &[u8]) -> io::Result<()> {
    let mut file = pending(folder(path), permissions.as_ref())?;
    let written = file.write_all(text).and_then(|()| match permissions {
        Some(permissions) => file.as_file().set_permissions(permissions),
        None => Ok(()),
    });
    // After a crash of the system a name must not lead to a file whose bytes were never stored.
    let written = written.and_then(|()| file.as_file().sync_all());
    // The temporary file's own name would only confuse.
    let result = written.and_then(|()| file.persist(path).map(|_| ()).map_err(|it| it.error));
    *PENDING.lock().unwrap_or_else(PoisonError::into_inner) = None;
    result.map_err(|it| it.kind().into())
}

/// Makes a temporary file that an interrupt removes.
fn pending(folder: &Path, permissions: Option<&Permissions>) -> io::Result<NamedTempFile> {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without a handler, Ctrl-C may leave a temporary file behind; the output is still worth writing.
        let _ = ctrlc::set_handler(interrupted);
    });
    // An interrupt waits for the name of the file.
    let mut name = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are those of Unix"))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(permissions.cloned().unwrap_or(std::os::unix::fs::PermissionsExt::from_mode(0o666)));
    #[cfg(not(unix))]
    let _ = permissions;
    let file = builder.tempfile_in(folder)?;
    *name = Some(file.path().to_owned());
    Ok(file)
}

/// Removes the incomplete file and exits.
fn interrupted() {
    // The lock is kept until the end, so that no other file is begun.
    let pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = pending.as_ref() {
        let _ = fs::remove_file(path);
    }
    process::exit(INTERRUPTED);
}
