//! The files that inputs are read from: none of them may be written to.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::sync::MutexGuard;

use super::Origin;
use ctxsim_input::text::source::read_stream;

/// Files on disk that were named as inputs; copies share one list.
#[derive(Clone, Debug, Default)]
pub struct InputFiles(Arc<Mutex<FilesRead>>);

#[derive(Debug, Default)]
struct FilesRead {
    named: BTreeSet<PathBuf>,
    /// What was read from devices and pipes, each of them once.
    streams: BTreeMap<PathBuf, Arc<PipedBytes>>,
}

/// What was read from a device or a pipe.
#[derive(Debug, PartialEq, Eq)]
pub struct PipedBytes {
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it stands for a file, whose name it has: not for a device or a pipe.
    pub is_file: bool,
}

impl InputFiles {
    /// Adds a file.
    pub fn add_path(&self, path: &Path) {
        self.lock_state().named.insert(path.to_owned());
    }

    /// Adds an input's file, if it is on disk.
    pub(super) fn add_origin(&self, origin: &Origin) {
        if let Origin::File(path) = origin {
            self.add_path(path);
        }
    }

    /// Returns whether a path leads to one of the files, also through links and `..`.
    pub fn contains_path(&self, path: &Path) -> bool {
        self.lock_state().named.iter().any(|it| is_same_file(it, path))
    }

    /// Reads a device or a pipe, when it is first named.
    pub(super) fn read_stream_once(&self, path: &Path) -> Result<Arc<PipedBytes>> {
        let mut state = self.lock_state();
        if let Some(known) = state.streams.get(path) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(PipedBytes { path: path.to_owned(), bytes: read_stream(path)?, is_file: false });
        state.streams.insert(path.to_owned(), Arc::clone(&read));
        Ok(read)
    }

    fn lock_state(&self) -> MutexGuard<'_, FilesRead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether two paths lead to the same file, through whatever links.
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
