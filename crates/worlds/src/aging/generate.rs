//! Generates streams of sessions from a seed; each generator is one file below and one line here.

mod draft;
mod pressure;
mod s1;
mod s2;
mod s3;
mod s4;
mod s5;
mod s6;
mod s7;

use super::assumed::AgingNumbers;
use super::stream::AgingStream;
use ctxsim_base::rng::Seed;
use ctxsim_input::scenario::AgingLoad;

pub use draft::StreamDraft;
pub use pressure::Pressure;

/// Writes the sessions of a draft.
pub type Generator = fn(&mut StreamDraft<'_>);

/// The generators, by the name that a scenario gives.
pub const GENERATORS: [(&str, Generator); 7] = [
    ("research_literature", s1::write),
    ("lifestyle", s2::write),
    ("knowledge_base", s3::write),
    ("software_engineering", s4::write),
    ("self_management", s5::write),
    ("multi_domain", s6::write),
    ("self_planning", s7::write),
];

/// Generates a stream with a bundled generator; without sessions if there is no such generator.
pub fn stream(load: &AgingLoad, seed: Seed, numbers: &AgingNumbers) -> AgingStream {
    let generator = GENERATORS.iter().find(|it| it.0 == load.generator).map(|found| found.1);
    stream_by(generator.unwrap_or(|_| {}), load, seed, numbers)
}

/// Makes a stream by any generator.
pub fn stream_by(generator: Generator, load: &AgingLoad, seed: Seed, numbers: &AgingNumbers) -> AgingStream {
    let mut draft = StreamDraft::new(load, seed, numbers);
    generator(&mut draft);
    draft.finish()
}
