//! Stops child programs and removes temporary files when the command is interrupted, and when a defect makes it panic.

use crate::prelude::*;
use std::sync::{Mutex, Once, PoisonError};
use std::{io, panic, process};

use ctxsim_engine::own::process::end_all;

/// The temporary files and folders to remove.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The exit code after an interrupt, as shells define it for Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Installs the handler of SIGINT, SIGTERM and SIGHUP (on Windows, Ctrl-C) that stops child programs and removes temporary files.
pub(super) fn install_interrupt_handler() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without the handler, an interrupt may leave a temporary file behind. That is no reason to write no output.
        let _ = ctrlc::set_handler(handle_interrupt);
        // A release aborts where it panics, so nothing is dropped that would remove its file.
        if cfg!(panic = "abort") {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                report(info);
                // Waiting would never end where the thread that panics holds the lock.
                if let Ok(temporary) = TEMPORARY.try_lock() {
                    stop_children_and_remove(&temporary);
                }
            }));
        }
    });
}

/// Creates a temporary file or folder, and has interrupts remove it until [`keep_on_interrupt`] is called.
///
/// # Errors
/// It cannot be created.
pub(super) fn create_temporary<T>(
    make: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> &Path,
) -> io::Result<T> {
    install_interrupt_handler();
    // An interrupt waits for the lock, so it cannot miss a file that is being created.
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let made = make()?;
    all.insert(path(&made).to_owned());
    Ok(made)
}

/// Has interrupts remove what is about to be made, until [`keep_on_interrupt`] is called.
pub(super) fn remove_on_interrupt(path: &Path) {
    install_interrupt_handler();
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
}

/// Takes a temporary file or folder off the list, because it was renamed or removed.
pub(super) fn keep_on_interrupt(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
}

/// Stops child programs, removes temporary files, and exits.
fn handle_interrupt() {
    // Hold the lock until the process exits, so that no other temporary file is created.
    let all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    stop_children_and_remove(&all);
    process::exit(INTERRUPTED);
}

/// Stops all child programs and removes all temporary files.
fn stop_children_and_remove(paths: &BTreeSet<PathBuf>) {
    end_all();
    for path in paths {
        // Another thread may have put one more file into a folder before it waits for the lock.
        let remove = || fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        let _ = remove().or_else(|_| remove());
    }
}
