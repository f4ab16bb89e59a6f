//! Ordinary timelines: items one after another, which the engine plays.

use std::sync::Arc;

use crate::rng::Seed;
use crate::row::Rows;
use crate::take::{Kind, Load, Plays, Progress, RowsOf, Sinks, Take, World};
use crate::timeline::Timeline;
use crate::worlds::chats::{Chats, Numbers, Source, Writing};
use crate::worlds::needles::planted;

/// A timeline.
#[derive(Debug)]
pub struct Items(pub Arc<Timeline>);

/// Items without planted facts.
pub(super) static PLAIN: Kind = Kind {
    prompt: true,
    facts: false,
    sessions: false,
    service: false,
    sources: false,
    is_of_memories: false,
    words: ["reads `stages`, `code` or `process`", "clear_tool_results"],
};

/// Items in which facts are planted, which memories keep and questions ask for.
pub(super) static WITH_FACTS: Kind = Kind {
    prompt: true,
    facts: true,
    sessions: false,
    service: true,
    sources: false,
    is_of_memories: false,
    words: [
        "reads `stages`, `code`, `process`, `memory.facts` or `memory.service`",
        "context_decay/memory_banks",
    ],
};

/// Returns what items read of a policy, with or without planted facts.
pub fn kind(has_facts: bool) -> &'static Kind {
    if has_facts { &WITH_FACTS } else { &PLAIN }
}

impl Items {
    /// Returns the timeline, if its questions ask for planted facts.
    fn asked(&self) -> Option<&Timeline> {
        Some(&*self.0).filter(|it| it.facts.as_ref().is_some_and(|it| !it.probes.is_empty()))
    }
}

impl World for Items {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn kind(&self) -> &'static Kind {
        kind(self.0.facts.is_some())
    }

    fn plays(&self) -> Plays<'_> {
        Plays::Items(&self.0)
    }

    fn play(&self, load: &Load, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        match self.asked() {
            Some(timeline) => planted::play(load, timeline, sinks, progress),
            None => load.played(sinks, progress),
        }
    }

    fn rows(&self, load: &Load, of: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        let asked = self.asked().filter(|_| of == RowsOf::Questions);
        asked.map_or_else(Vec::new, |it| planted::questions(load, it, progress))
    }

    fn laid_out(&self, timeline: Arc<Timeline>) -> Option<Arc<dyn World>> {
        Some(Arc::new(Self(timeline)))
    }

    fn assumptions(&self) -> &[String] {
        &self.0.assumptions
    }

    fn service(self: Arc<Self>, seed: u64) -> Option<Arc<dyn World>> {
        let numbers = Numbers::declared();
        let own = Arc::clone(&self);
        let chats =
            move |trial| Chats::new(&Source::Plane(&own.0), Seed(seed).child("runner trial", trial), numbers);
        Some(Arc::new(Writing::new(self, 1, chats)))
    }
}
