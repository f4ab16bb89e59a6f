//! What the results of a plan are made with: the digests of everything that it read.

use crate::prelude::*;
use std::iter;

use super::parts::digest_of_bytes;
use ctxsim_report::made::{InputDigest, MadeWith};

/// Returns the digests of a plan's files but its scenarios, each with its bases.
pub(super) fn input_digests(
    suite: Option<&Loaded<SuiteFile>>,
    policies: &[Loaded<PolicyFile>],
    profiles: &[Loaded<ProfileFile>],
) -> Vec<InputDigest> {
    let suite = suite.map(|it| input_digest(InputKind::Suite, &it.spec.name, it));
    let policies = policies.iter().map(|it| input_digest(InputKind::Policy, &it.spec.name, it));
    let profiles = profiles.iter().map(|it| input_digest(InputKind::Profile, &it.spec.name, it));
    suite.into_iter().chain(policies).chain(profiles).listed()
}

fn input_digest<T>(kind: InputKind, name: &str, loaded: &Loaded<T>) -> InputDigest {
    let texts = loaded.source.iter().chain(&loaded.bases).map(|it: &Source| it.text.as_str());
    let files = files_on_disk(loaded.source.iter().chain(&loaded.bases));
    InputDigest { files, ..InputDigest::from_texts(kind.noun(), name, texts) }
}

/// Returns the files of inputs that are on disk.
fn files_on_disk<'s>(sources: impl Iterator<Item = &'s Source>) -> Vec<String> {
    sources.map(|it| it.file.clone()).filter(|it| Path::new(it).is_file()).listed()
}

impl Plan {
    /// Returns what its results are made with, given the day of the prices by profile; recordings are read for it.
    pub fn made_with(&self, price_day_by_profile: IndexMap<String, String>) -> MadeWith {
        let scenarios = self.scenarios.iter().map(ReadyLoad::scenario_digest);
        let inputs = self.digests.iter().cloned().chain(scenarios).listed();
        MadeWith { prices: price_day_by_profile, inputs }
    }
}

impl ReadyLoad {
    /// Returns the digest of its file with those that it names, or of its recording.
    fn scenario_digest(&self) -> InputDigest {
        let noun = InputKind::Scenario.noun();
        let Some(source) = &self.loaded.source else {
            return InputDigest::from_digest(noun, &self.name, digest_of_bytes(&self.loaded.origin));
        };
        let beside = self.loaded.spec.load.path().and_then(|it| self.loaded.origin.file_beside(it));
        let beside = beside.map(|it| digest_of_bytes(&it).to_string());
        let texts = iter::once(source.text.as_str()).chain(beside.as_deref());
        let files = files_on_disk(iter::once(source));
        InputDigest { files, ..InputDigest::from_texts(noun, &self.name, texts) }
    }
}
