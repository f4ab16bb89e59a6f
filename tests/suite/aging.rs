//! How memories age: metrics against AgingBench's own code, losses and where they come from, interventions, and published figures.

mod assumptions;
mod attribution;
mod baselines;
mod figures;
mod fixture;
mod interventions;
mod laws;
mod mechanisms;
mod models;
mod own_scenario;
#[path = "../../benches/aging/played.rs"]
pub(crate) mod played;
mod probes;
mod repairs;
mod reports;
#[path = "../../benches/aging/scored.rs"]
pub(crate) mod scored;
mod written;

use std::sync::Arc;

use ctxsim::input::policy::memory::SessionMemory as Spec;
use ctxsim::input::scenario::{AgingEvent, AgingLoad, Happening, LoadSpec};
use ctxsim::worlds::aging::generate;
use ctxsim::worlds::aging::{
    AgingLog, AgingNumbers, AgingObserved, AgingPlayer, AgingStream, AgingSummary, MemoryRules, Model,
    StreamResult,
};

use crate::support::*;

/// Returns the load of a bundled scenario.
pub(crate) fn load(name: &str) -> AgingLoad {
    let scenario = bundled_catalog().scenario(&format!("aging/{name}")).unwrap();
    let LoadSpec::Aging(load) = scenario.spec.load else { panic!("{name} has no sessions") };
    *load
}

/// Returns how a bundled policy remembers.
pub(crate) fn memory(name: &str) -> Spec {
    let policy = bundled_catalog().policy(&format!("aging/{name}")).unwrap();
    policy.spec.session_memory().unwrap().clone()
}

/// Returns a stream of a load.
pub(crate) fn stream(load: &AgingLoad, trial: u64) -> AgingStream {
    generate::stream(load, Seed(42).child("aging stream", trial), AgingNumbers::declared())
}

/// Returns a model.
pub(crate) fn model(name: &str) -> Arc<Model> {
    Model::named(name).unwrap()
}

/// Plays a memory over a stream.
pub(crate) fn play(stream: &AgingStream, events: &[AgingEvent], spec: &Spec) -> AgingLog {
    AgingPlayer::of_stream(stream, AgingNumbers::declared(), events, false)
        .play(MemoryRules::new(Some(spec), model("mid")))
}

/// Plays a memory over several streams of a load and sums up.
pub(crate) fn summary(load: &AgingLoad, trials: u64, spec: &Spec, by: Arc<Model>) -> AgingSummary {
    let mut all = AgingObserved::default();
    for trial in 0..trials {
        let stream = stream(load, trial);
        let player = |events| AgingPlayer::of_stream(&stream, AgingNumbers::declared(), events, false);
        let log = player(&load.events).play(MemoryRules::new(Some(spec), Arc::clone(&by)));
        let control = player(&[]).play(MemoryRules::new(Some(spec), Arc::clone(&by)));
        let event = load.events.first().map(|it| u32::try_from(it.session).unwrap());
        let control = Some(&control);
        let numbers = AgingNumbers::declared();
        all.add(AgingObserved::new(StreamResult { stream: &stream, numbers, log: &log, control, event }));
    }
    all.summary(!matches!(spec.read, ctxsim::input::policy::memory::SessionRead::All))
}

/// Something that happens before a session.
pub(crate) fn event(session: u64, what: Happening) -> AgingEvent {
    AgingEvent { session, what }
}
