//! Files that ship with a program: whoever embeds ctxsim hands them down as one value, and no lower crate names one.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ctxsim_base::error::Error;

/// Files with their paths and texts, sorted by path within each folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bundle(&'static [(&'static str, &'static str)]);

/// A file of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct BundledFile {
    bundle: Bundle,
    path: &'static str,
    text: &'static str,
}

/// A file's text in memory, and what it was read as.
type Reading = (usize, TypeId);

impl Bundle {
    /// Takes paths and texts.
    pub const fn new(files: &'static [(&'static str, &'static str)]) -> Self {
        Self(files)
    }

    /// Returns all files, in order.
    pub(super) fn files(self) -> impl Iterator<Item = BundledFile> {
        self.0.iter().map(move |(path, text)| BundledFile { bundle: self, path, text })
    }

    /// Returns the file at a path.
    pub(super) fn file(self, path: &str) -> Option<BundledFile> {
        self.files().find(|it| it.path == path)
    }
}

impl BundledFile {
    pub(super) fn path(self) -> &'static str {
        self.path
    }

    pub(super) fn text(self) -> &'static str {
        self.text
    }

    /// Returns a file at a path of the same bundle.
    pub(super) fn other(self, path: &str) -> Option<Self> {
        self.bundle.file(path)
    }

    /// Returns what the file was read as, or reads it: it never changes, and a small plan would take most of its time for such files.
    pub(crate) fn once<T: Clone + Send + Sync + 'static>(
        self,
        read: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        static KNOWN: Mutex<BTreeMap<Reading, Arc<dyn Any + Send + Sync>>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        // Two bundles may have different files at one path, so the path is not enough.
        let reading = (self.text.as_ptr().addr(), TypeId::of::<T>());
        let before = known().get(&reading).cloned();
        if let Some(before) = before.and_then(|it| it.downcast::<T>().ok()) {
            return Ok((*before).clone());
        }
        let read = read()?;
        known().insert(reading, Arc::new(read.clone()));
        Ok(read)
    }
}

impl PartialEq for BundledFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}

impl Eq for BundledFile {}
