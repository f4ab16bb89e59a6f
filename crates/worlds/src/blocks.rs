//! Recorded prompts as ids of fixed blocks.

pub mod trace;
mod world;

pub(super) use world::WORLD;
