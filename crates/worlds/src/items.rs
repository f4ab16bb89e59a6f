//! Ordinary timelines: items one after another, which the engine plays.

use std::sync::Arc;

use ctxsim_engine::take::{LoadKind, Plays, World};
use ctxsim_timeline::Timeline;

use super::Registered;

/// A timeline in which no facts are planted.
#[derive(Debug)]
pub struct Items(pub Arc<Timeline>);

/// What items read of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    prompt: true,
    words: ["reads `stages`, `code` or `process`", "clear_tool_results"],
    ..LoadKind::NOTHING
};

/// Items without planted facts.
pub(super) const WORLD: Registered = Registered {
    kind: |load| (load.is_of_items() && !load.plants_facts()).then_some(&KIND),
    ..Registered::NEW
};

impl World for Items {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn plays(&self) -> Plays<'_> {
        Plays::Items(&self.0)
    }

    fn laid_out(&self, timeline: Arc<Timeline>) -> Option<Arc<dyn World>> {
        Some(Arc::new(Self(timeline)))
    }

    fn assumptions(&self) -> &[String] {
        &self.0.assumptions
    }
}
