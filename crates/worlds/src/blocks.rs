//! Recorded prompts as ids of fixed blocks.
//!
//! A block trace fixes its prompts, so it is a world whose requests are fixed (`Plays::Fixed`), not a timeline of items: no policy acts on
//! it. Ids become dense numbers, so the store (`cache/lru.rs`, also behind the rule `blocks` for items) is a ring of indices in one vector.
//! `blocks/trace.rs` reads the traces.

pub mod trace;

use crate::prelude::*;

use crate::Registered;
use ctxsim_engine::take::Fixed;
use ctxsim_input::{CacheRules, Profile};
use trace::BlockTrace;

/// What a block trace reads of a policy: nothing.
static KIND: LoadKind =
    LoadKind { words: ["is a block trace, which no policy changes", "identity"], ..LoadKind::NOTHING };

/// Block traces.
pub(crate) const WORLD: Registered = Registered {
    read: |text, name| {
        let read = trace::detect(text).then(|| trace::read(text, name))?;
        Some(read.map(|it| Arc::new(BlockTrace { name: name.to_owned(), ..it }) as _))
    },
    ..Registered::NEW
};

impl Fixed for BlockTrace {
    fn replay(&self, limits: &Limits, cache: &CacheRules, sink: &mut dyn Sink) -> Outcome {
        trace::replay(self, limits, cache, sink)
    }
}

impl World for BlockTrace {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn plays(&self) -> Plays<'_> {
        Plays::Fixed(self)
    }

    fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    fn notes(&self, _load: &Load) -> Vec<String> {
        vec![format!(
            "{} is a block trace: its prompts are as recorded, and no policy changes them.",
            self.name
        )]
    }

    fn refusal(&self, profile: &Profile) -> Option<Diagnostic> {
        let mut problem = self.refusal(&profile.cache)?;
        problem.message = format!("{} ({})", problem.message, profile.name);
        problem.place.field.clear();
        Some(problem)
    }

    fn trial(&self, _length: Option<u64>, _trial: u64, _limits: &Limits) -> OrProblems<(Timeline, Limits)> {
        let message =
            format!("{} is a block trace: its prompts are block ids that no policy changes", self.name);
        let problem = Diagnostic::at(Code("explain-what"), "", message);
        Err(vec![problem.help("name a scenario of items, such as `agents/coding_day`")])
    }
}
