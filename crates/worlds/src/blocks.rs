//! Recorded prompts as ids of fixed blocks.
//!
//! A block trace fixes its prompts, so it is a world whose requests are fixed (`Plays::Fixed`), not a timeline of items: no policy acts on
//! it. `worlds/blocks/trace/fast_ids.rs` reads its arrays of ids quickly; anything unusual goes to the JSON parser. Ids become dense
//! numbers, so the store (`cache/lru.rs`, also behind the rule `blocks` for items) is a ring of indices in one vector. `trace/mooncake.rs`
//! reads traces of Mooncake.
//!
//! `worlds/blocks/trace/fast_ids.rs` reads its arrays of ids quickly; anything unusual goes to the JSON parser. Ids become dense numbers,
//! so the store (`cache/lru.rs`, also behind the rule `blocks` for items) is a ring of indices in one vector. `trace/mooncake.rs` reads
//! traces of Mooncake.

pub mod trace;
mod world;

pub(super) use world::WORLD;
