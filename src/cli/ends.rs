//! What an interrupt ends: programs that run, and temporary files and folders.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, Once, PoisonError};

use crate::own::process::end_all;

/// What is removed.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The exit code after an interrupt, as shells define it for Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Has interrupts, requests to end and hang-ups end what this process has begun.
pub(crate) fn watch() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without a handler, Ctrl-C may leave a temporary file behind; the output is still worth writing.
        let _ = ctrlc::set_handler(interrupted);
    });
}

/// Makes a temporary file or folder that an interrupt removes, until [`made`] says that it is no longer there.
///
/// # Errors
/// It cannot be made.
pub(crate) fn temporary<T>(
    make: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> &Path,
) -> io::Result<T> {
    watch();
    // An interrupt waits for its name.
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let it = make()?;
    all.insert(path(&it).to_owned());
    Ok(it)
}

/// Forgets a temporary file or folder that was renamed or removed.
pub(crate) fn made(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
}

/// Ends and removes everything, and exits.
fn interrupted() {
    // The lock is kept until the end, so that nothing else is begun.
    let all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    end_all();
    for path in all.iter() {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
    process::exit(INTERRUPTED);
}
