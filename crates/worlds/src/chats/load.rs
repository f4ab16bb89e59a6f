//! A load of chats: where they come from, and the numbers that hold in it.

use std::sync::Arc;

use super::assumed::ChatNumbers;
use super::users::{ChatOrigin, Chats, User};
use ctxsim_base::rng::Seed;
use ctxsim_input::Scenario;
use ctxsim_input::scenario::{ChatLoad, ChatSource};

/// Chats of one scenario, made trial by trial.
#[derive(Clone, Debug)]
pub struct ChatScenario {
    pub name: String,
    /// How many trials there are.
    pub trials: u64,
    /// The numbers that hold in it.
    pub numbers: ChatNumbers,
    conversation_time: bool,
    session_ms: u64,
    source: ChatOrigin<'static>,
    seed: Seed,
}

impl ChatScenario {
    /// Takes a scenario whose numbers have been checked; `users` are those of its file, if it has one.
    pub fn new(scenario: &Scenario, load: &ChatLoad, users: Option<Arc<[User]>>) -> Self {
        let source = match &load.from {
            ChatSource::Generated(made) => ChatOrigin::Generated(*made),
            ChatSource::LongMemEval { .. } => ChatOrigin::Read(users.unwrap_or_default()),
        };
        Self {
            name: scenario.name.clone(),
            trials: load.trials,
            numbers: ChatNumbers::declared()
                .with(&load.numbers)
                .unwrap_or_else(|_| ChatNumbers::declared().clone()),
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
