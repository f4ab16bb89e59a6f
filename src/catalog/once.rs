//! Bundled files, read once in a process: they never change, and a small plan would take most of its time for them.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;

type OncePath = BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>;

/// Returns what a bundled file was read as, or reads it.
pub(super) fn once<T: Clone + Send + Sync + 'static>(
    path: &'static str,
    read: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    static KNOWN: Mutex<OncePath> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = known().get(path).cloned();
    if let Some(before) = before.and_then(|it| it.downcast::<T>().ok()) {
        return Ok((*before).clone());
    }
    let read = read()?;
    known().insert(path, Arc::new(read.clone()));
    Ok(read)
}
