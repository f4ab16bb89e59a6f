//! The files that inputs are read from: none of them may be written to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Origin;

/// Files on disk that were named as inputs; copies share one list.
#[derive(Clone, Debug, Default)]
pub struct Files(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Files {
    /// Adds a file.
    pub fn note(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    /// Adds an input's file, if it is on disk.
    pub(super) fn note_origin(&self, origin: &Origin) {
        if let Origin::File(path) = origin {
            self.note(path);
        }
    }

    /// Returns whether a path leads to one of the files, also through links and `..`.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().any(|it| is_same_file(it, path))
    }
}

/// Returns whether two paths lead to the same file, through whatever links.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    let identity = |path: &Path| {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
    };
    #[cfg(not(unix))]
    let identity = |path: &Path| fs::canonicalize(path).ok();
    identity(one).is_some_and(|it| Some(it) == identity(other))
}
