//! The rules of a memory, by its kind.

mod facts;
mod service;
mod sessions;

use crate::policy::memory::MemorySpec;
use crate::prelude::*;

/// Checks a memory.
pub(super) fn check(spec: &MemorySpec, problems: &mut Problems) {
    match spec {
        MemorySpec::Facts(it) => facts::check(it, problems),
        MemorySpec::Sessions(it) => sessions::check(it, problems),
        MemorySpec::Service(it) => service::check(it, problems),
    }
}
