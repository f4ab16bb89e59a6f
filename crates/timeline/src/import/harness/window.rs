//! When a version of a harness compacts the history, under which models.

use serde::Deserialize;

use super::{Cases, HarnessRules, Version, VersionRange, is_of_models};
use crate::import::transcript::Transcript;
use crate::{HarnessLimits, RecordedModel, main_model};
use ctxsim_base::quantity::Tokens;

/// The window and the reserve of some versions under some models.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HarnessWindow {
    #[serde(default)]
    versions: VersionRange,
    /// Patterns of models' ids; empty for all.
    #[serde(default)]
    models: Vec<String>,
    /// The window that the harness keeps to; that of the model if `None`.
    window: Option<Tokens>,
    /// What it leaves of it for the longest output.
    output_reserve: Tokens,
    /// Compactions that came where this puts them, and all; nothing where it is only documented.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test holds it"))]
    pub(super) seen: Option<Cases>,
    /// What it rests on.
    #[expect(dead_code, reason = "for readers of the file, and so that no row is without one")]
    source: String,
}

impl HarnessWindow {
    /// Returns whether it holds for a version and a model, in a session with so large a prompt.
    fn fits(&self, version: Version, model: &str, prompt_max: Tokens) -> bool {
        self.versions.include(version)
            && is_of_models(&self.models, model)
            && self.window.is_none_or(|it| prompt_max <= it)
    }
}

impl Transcript {
    /// Returns when a version of its harness compacts, by the model that answered most of it; nothing where that is not known.
    pub(in crate::import) fn harness_limits(
        &self,
        version: Version,
        models: &[RecordedModel],
    ) -> HarnessLimits {
        let model = main_model(models).map_or("", |it| it.name.as_str());
        let prompt_max = self.exchanges.iter().filter_map(|it| it.usage).map(|usage| usage.prompt).max();
        let mut rules = HarnessRules::of(self.harness).into_iter().flat_map(|it| &it.windows);
        let fitting = rules.find(|it| it.fits(version, model, prompt_max.unwrap_or(0)));
        fitting.map_or_else(HarnessLimits::default, |it| HarnessLimits {
            window: it.window,
            output_reserve: Some(it.output_reserve),
            trigger: None,
        })
    }
}
