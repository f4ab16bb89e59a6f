//! The digest of a job: parts that were made of the same inputs in the same way have the same one, on any machine.

use std::fmt::Write as _;
use std::io::BufRead;
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::catalog::Origin;
use crate::{Plan, ReadyLoad, load};
use ctxsim_engine::take::in_order;
use ctxsim_input::Policy;
use ctxsim_input::scenario::LoadSpec;
use ctxsim_report::part::VERSION;

impl Plan {
    /// Returns the digest of its rules and that of its scenarios, in hexadecimal digits.
    pub fn job(&self, min_evidence: f64) -> String {
        format!("{}-{:016x}", self.rules(min_evidence), xxh3_64(self.listed().as_bytes()))
    }

    /// Returns the digest of what is the same for all scenarios: version, policies, profiles and options.
    pub fn rules(&self, min_evidence: f64) -> String {
        let policies = self.scenarios.first().map(|it| &it.policies);
        let (profiles, models, selection) = (&self.profiles, &self.models, &self.selection);
        let text = format!("{VERSION}{policies:?}{profiles:?}{models:?}{selection:?}{min_evidence}");
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }

    /// Lists the scenarios with all that is known of each beforehand.
    fn listed(&self) -> String {
        let contents = in_order(self.scenarios.len(), |it| self.scenarios[it].digest());
        let mut text = format!("{:?}", self.skipped);
        let mut policies: Option<(&[Arc<Policy>], u64)> = None;
        for (entry, content) in self.scenarios.iter().zip(contents) {
            let own = policies
                .filter(|it| it.0.iter().zip(&entry.policies).all(|(one, other)| Arc::ptr_eq(one, other)));
            let (_, own) =
                *policies.insert(own.unwrap_or_else(|| {
                    (&entry.policies, xxh3_64(format!("{:?}", entry.policies).as_bytes()))
                }));
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{} {content:016x} {own:016x} {}", entry.name, entry.told());
        }
        text
    }
}

impl ReadyLoad {
    /// Returns the digest of its recording's bytes; 0 where it is none, or cannot be read.
    fn digest(&self) -> u64 {
        if let Some(known) = self.indexing.content {
            return known;
        }
        let LoadSpec::Recorded { path, .. } = &self.spec.load else { return 0 };
        if self.loaded.origin.timeline().is_some() {
            return 0;
        }
        load::origin_of(&self.loaded, path, load::RECORDED).map_or(0, |it| content(&it))
    }

    /// Returns what is said of it and what others tell of it, wherever it lies.
    fn told(&self) -> String {
        let mut spec = self.spec.clone();
        if let LoadSpec::Recorded { path, .. } = &mut spec.load {
            path.clear();
        }
        let indexing = (&self.indexing.twins, &self.indexing.beside);
        format!("{spec:?} {} {} {indexing:?}", self.is_searched, self.under_own_model)
    }
}

/// Returns the digest of a recording's bytes; 0 where it cannot be read.
pub(crate) fn content(origin: &Origin) -> u64 {
    let Ok(mut reader) = origin.reader() else { return 0 };
    let mut digest = Xxh3Default::new();
    while let Ok(bytes) = reader.fill_buf()
        && !bytes.is_empty()
    {
        digest.update(bytes);
        let n = bytes.len();
        reader.consume(n);
    }
    digest.digest()
}
