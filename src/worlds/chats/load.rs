//! A load of chats: where they come from, and the numbers that hold in it.

use std::sync::Arc;

use super::assumed::Numbers;
use super::users::{Chats, Source, User};
use crate::input::Scenario;
use crate::input::scenario::{ChatLoad, ChatSource};
use crate::rng::Seed;

/// Chats of one scenario, made trial by trial.
#[derive(Clone, Debug)]
pub struct ChatScenario {
    /// Its name.
    pub name: String,
    /// How many trials there are.
    pub trials: u64,
    /// The numbers that hold in it.
    pub numbers: Numbers,
    conversation_time: bool,
    session_ms: u64,
    source: Source<'static>,
    seed: Seed,
}

impl ChatScenario {
    /// Takes a scenario whose numbers have been checked; `users` are those of its file, if it has one.
    pub fn new(scenario: &Scenario, load: &ChatLoad, users: Option<Arc<[User]>>) -> Self {
        let source = match &load.from {
            ChatSource::Generated(made) => Source::Generated(*made),
            ChatSource::LongMemEval { .. } => Source::Read(users.unwrap_or_default()),
        };
        Self {
            name: scenario.name.clone(),
            trials: load.trials,
            numbers: Numbers::declared().with(&load.numbers).unwrap_or_else(|_| Numbers::declared().clone()),
            conversation_time: load.conversation_time,
            session_ms: load.session_seconds.saturating_mul(1_000),
            source,
            seed: Seed(scenario.seed),
        }
    }

    /// Makes the chats of one trial; the same for every policy.
    pub fn chats(&self, trial: u64) -> Chats {
        let seed = self.seed.child("runner trial", trial);
        let chats = Chats::new(&self.source, seed, &self.numbers);
        Chats { conversation_time: self.conversation_time, session_ms: self.session_ms, ..chats }
    }
}
