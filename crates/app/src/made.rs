//! What the results of a plan are made with: the digests of everything that it read.

use crate::prelude::*;
use std::iter;

use super::parts::content;
use super::{Plan, ReadyLoad};
use ctxsim_input::Source;
use ctxsim_report::made::{InputDigest, MadeWith};

/// Returns the digests of a plan's files but its scenarios, each with its bases.
pub(super) fn digests(
    suite: Option<&Loaded<SuiteFile>>,
    policies: &[Loaded<PolicyFile>],
    profiles: &[Loaded<ProfileFile>],
) -> Vec<InputDigest> {
    let suite = suite.map(|it| digest(Kind::Suite, &it.spec.name, it));
    let policies = policies.iter().map(|it| digest(Kind::Policy, &it.spec.name, it));
    let profiles = profiles.iter().map(|it| digest(Kind::Profile, &it.spec.name, it));
    suite.into_iter().chain(policies).chain(profiles).listed()
}

fn digest<T>(kind: Kind, name: &str, loaded: &Loaded<T>) -> InputDigest {
    let texts = loaded.source.iter().chain(&loaded.bases).map(|it: &Source| it.text.as_str());
    let files = files(loaded.source.iter().chain(&loaded.bases));
    InputDigest { files, ..InputDigest::of_texts(kind.noun(), name, texts) }
}

/// Returns the files of inputs that are on disk.
fn files<'s>(sources: impl Iterator<Item = &'s Source>) -> Vec<String> {
    sources.map(|it| it.file.clone()).filter(|it| Path::new(it).is_file()).listed()
}

impl Plan {
    /// Returns what its results are made with, given the day of the prices by profile; recordings are read for it.
    pub fn made(&self, prices: IndexMap<String, String>) -> MadeWith {
        let scenarios = self.scenarios.iter().map(ReadyLoad::made);
        let inputs = self.digests.iter().cloned().chain(scenarios).listed();
        MadeWith { prices, inputs, ..MadeWith::default() }
    }
}

impl ReadyLoad {
    /// Returns the digest of its file with those that it names, or of its recording.
    fn made(&self) -> InputDigest {
        let noun = Kind::Scenario.noun();
        let Some(source) = &self.loaded.source else {
            return InputDigest::of(noun, &self.name, content(&self.loaded.origin));
        };
        let beside = self.loaded.spec.load.path().and_then(|it| self.loaded.origin.beside(it));
        let beside = beside.map(|it| content(&it).to_string());
        let texts = iter::once(source.text.as_str()).chain(beside.as_deref());
        let files = files(iter::once(source));
        InputDigest { files, ..InputDigest::of_texts(noun, &self.name, texts) }
    }
}
