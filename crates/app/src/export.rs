//! What a memory holds in the end.

use crate::prelude::*;

use ctxsim_engine::memory::export::{Banks, Export, Index, SCHEMA};

impl Plan {
    /// Plays one conversation and returns the final contents of the first policy's memory.
    ///
    /// # Errors
    /// The plan's first scenario cannot be opened or has no such conversation, or its first policy has no
    /// memory.
    pub fn export_memory(&self, length: u64, trial: u64, overrides: &[String]) -> Checked<Export> {
        let refuse = |code, message: &str, help: &str| vec![Diagnostic::at(code, "", message).help(help)];
        let (Some(entry), Some(profile)) = (self.scenarios.first(), self.profiles.first()) else {
            return Err(refuse(Code("list-empty"), "there is nothing to export", "name a scenario"));
        };
        let loads = self.open(entry).map_err(|error| error.problems())?;
        let Some(load) = loads.first() else { return Err(Vec::new()) };
        let Some(policy) = load.policies.first() else { return Err(Vec::new()) };
        if policy.fact_memory().is_none() {
            let message = format!("{} has no memory beside its prompt", policy.name);
            return Err(refuse(Code("store-none"), &message, "name a policy with a `memory`"));
        }
        let policies = vec![Arc::clone(policy)];
        let one = Load { policies, profiles: vec![profile.clone()], ..load.clone() };
        let Banks { banks, written } = load.world.banks(&one, length, trial)?;
        let index = Index {
            schema: SCHEMA.to_owned(),
            policy: policy.name.clone(),
            scenario: load.name.clone(),
            profile: profile.name.clone(),
            seed: load.seed,
            length,
            trial,
            set: overrides.to_vec(),
            written,
        };
        Ok(Export { index, banks })
    }
}
