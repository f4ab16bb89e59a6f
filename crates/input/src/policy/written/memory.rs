//! The memory of a policy: one of three kinds, all in the words write, store, read, use.

mod facts;
mod service;
mod sessions;

use crate::prelude::*;

pub use self::facts::*;
pub use self::service::*;
pub use self::sessions::*;

/// What a policy remembers outside the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemorySpec {
    /// Facts, written and read back while a session runs.
    Facts(FactMemory),
    /// What is left of earlier sessions, for loads over which a memory ages.
    Sessions(SessionMemory),
    /// A memory service that is called from session to session, for loads with sessions and facts.
    Service(ServiceMemory),
}

/// A part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MemoryPart"))]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    /// Everything is written.
    Write,
    /// Nothing is evicted.
    Store,
    /// Everything stored is found.
    Read,
    /// Whatever is left of a fact is enough to answer.
    Use,
}

impl MemorySpec {
    /// Returns the name of its kind in files.
    pub fn kind(&self) -> &'static str {
        crate::text::name_of(self)
    }
}
