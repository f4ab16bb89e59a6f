//! Inputs that were built in code: they stand beside files, under names of their own.

use std::path::Path;
use std::sync::Arc;

use super::origin::MEMORY_MARK;
use super::{Built, Catalog, Kind, Memory, Origin, name_below};
use crate::input::policy::OwnCode;
use crate::timeline::Timeline;

impl Catalog {
    /// Adds a text under a path as files have it below a folder of inputs, `policies/mine.ron`; over one of the same name.
    ///
    /// Returns `None` where the path does not say a kind and a format.
    #[must_use]
    pub fn with_text(mut self, path: &str, text: String) -> Option<Self> {
        let (kind, name) = Kind::ALL.into_iter().find_map(|kind| Some((kind, name_below(kind, path)?)))?;
        self.entries.insert((kind, name), Origin::Memory(Arc::new(Memory::new(path, text))));
        Some(self)
    }

    /// Adds a scenario that was built in code, under its timeline's name.
    #[must_use]
    pub fn with_timeline(mut self, timeline: Timeline) -> Self {
        let key = (Kind::Scenario, timeline.name.clone());
        self.entries.insert(key, Origin::Built(Arc::new(Built::new(timeline))));
        self
    }

    /// Puts code behind a policy, by its name.
    #[must_use]
    pub fn with_code(mut self, policy: &str, code: OwnCode) -> Self {
        self.codes.insert(policy.to_owned(), code);
        self
    }

    /// Puts cache rules in code behind a profile, by its name.
    #[must_use]
    pub fn with_cache(mut self, profile: &str, rules: OwnCode) -> Self {
        self.caches.insert(profile.to_owned(), rules);
        self
    }

    /// Returns the code behind a policy.
    #[must_use]
    pub fn code(&self, policy: &str) -> Option<&OwnCode> {
        self.codes.get(policy)
    }

    /// Returns the cache rules in code behind a profile.
    #[must_use]
    pub fn cache(&self, profile: &str) -> Option<&OwnCode> {
        self.caches.get(profile)
    }

    /// Returns the text of an input in memory that a diagnostic names.
    pub(super) fn text_in_memory(&self, label: &str) -> Option<String> {
        let path = Path::new(label.strip_prefix(MEMORY_MARK)?);
        let mut origins = self.entries.values().filter(|it| matches!(it, Origin::Memory(_)));
        origins.find(|it| it.path() == path)?.text().ok().map(std::borrow::Cow::into_owned)
    }
}
