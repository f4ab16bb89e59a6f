//! The rules of a memory, by its kind.

mod facts;
mod service;
mod sessions;
mod sources;

use crate::diag::Problems;
use crate::input::policy::memory::Memory;

/// Checks a memory.
pub(super) fn check(spec: &Memory, problems: &mut Problems) {
    match spec {
        Memory::Facts(it) => facts::check(it, problems),
        Memory::Sessions(it) => sessions::check(it, problems),
        Memory::Service(it) => service::check(it, problems),
        Memory::Sources(it) => sources::check(it, problems),
    }
}
