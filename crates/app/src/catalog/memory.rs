//! Inputs that were built in code: they stand beside files, under names of their own.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use super::origin::MEMORY_MARK;
use super::{Built, Catalog, HeldText, Kind, Origin, name_below};
use ctxsim_input::policy::OwnCode;
use ctxsim_timeline::Timeline;

impl Catalog {
    /// Adds a text under a path as files have it below a folder of inputs: `policies/mine.ron`. It replaces one of the same name.
    /// Returns whether the path names a kind and a format.
    pub fn hold_text(&mut self, path: &str, text: String) -> bool {
        let named = |kind| Some((kind, name_below(kind, path)?));
        let Some(key) = Kind::ALL.into_iter().find_map(named) else { return false };
        self.entries.insert(key, Origin::Memory(Arc::new(HeldText::new(path, text))));
        true
    }

    /// Adds what a file of a kind would say, such as a `PolicyFile`, and the code behind it. It replaces one of the same name.
    pub fn hold<T: Any + Send + Sync>(&mut self, kind: Kind, name: &str, file: T, code: Option<OwnCode>) {
        let built = Built::new(&format!("{}/{name}.ron", kind.folder()), file, code);
        self.entries.insert((kind, name.to_owned()), Origin::Built(Arc::new(built)));
    }

    /// Adds a scenario that was built in code, under a name.
    pub fn hold_timeline(&mut self, name: &str, timeline: Arc<Timeline>) {
        let built = Built::new(name, timeline, None);
        self.entries.insert((Kind::Scenario, name.to_owned()), Origin::Built(Arc::new(built)));
    }

    /// Returns the text of an input in memory that a diagnostic names.
    pub(super) fn text_in_memory(&self, label: &str) -> Option<String> {
        let path = Path::new(label.strip_prefix(MEMORY_MARK)?);
        let mut origins = self.entries.values().filter(|it| matches!(it, Origin::Memory(_)));
        origins.find(|it| it.path() == path)?.text().ok().map(std::borrow::Cow::into_owned)
    }
}
