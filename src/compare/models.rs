//! Which profile stands for a model that a recording names.

use crate::catalog::{Catalog, Kind};
use crate::diag::Diagnostic;
use crate::input::{Limits, Profile, ProfileFile};

/// The profiles that stand for models.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelProfiles {
    all: Vec<Profile>,
}

impl ModelProfiles {
    /// Reads those of a catalog, as written; a broken one stands for none, and `validate` tells why.
    pub(super) fn read(catalog: &Catalog) -> Vec<ProfileFile> {
        let files = catalog.names(Kind::Profile).filter_map(|it| catalog.profile(it).ok());
        files.map(|it| it.spec).filter(|it| !it.models.is_empty()).collect()
    }

    /// Takes those that have passed every rule.
    pub(super) fn new(specs: &[ProfileFile]) -> Self {
        Self { all: specs.iter().filter_map(|it| Profile::new(it).ok()).collect() }
    }

    /// Takes the limits off all of them.
    pub(super) fn take_limits(&mut self) {
        self.all.iter_mut().for_each(|it| it.limits = Limits::NONE);
    }

    /// Returns the one that stands for a model: whose pattern says most of its id, the first by name where two say as much.
    ///
    /// # Errors
    /// There is none; the nearest is named.
    pub(super) fn of(&self, model: &str) -> Result<&Profile, Box<Diagnostic>> {
        let fitting = self.all.iter().rev().filter_map(|it| Some((it.fits(model)?, it)));
        if let Some((_, profile)) = fitting.max_by_key(|it| it.0) {
            return Ok(profile);
        }
        let message = format!("no profile stands for the model `{model}`");
        let help = match self.nearest(model) {
            Some(near) => format!(
                "`--profile {}` is the nearest; or write a profile with `models = [\"{model}\"]`",
                near.name
            ),
            None => "name one with `--profile`; `ctxsim list profiles` names what there is".to_owned(),
        };
        Err(Box::new(Diagnostic::at("model-unknown", "", message).help(help)))
    }

    /// Returns the one whose id begins most like a model's.
    fn nearest(&self, model: &str) -> Option<&Profile> {
        /// Fewer letters in common say nothing.
        const LEAST: usize = 3;
        let id = model.rsplit('/').next().unwrap_or(model);
        let common = |it: &String| it.chars().zip(id.chars()).take_while(|(a, b)| a == b).count();
        let ranked = self.all.iter().rev().filter_map(|it| Some((it.models.iter().map(common).max()?, it)));
        ranked.max_by_key(|it| it.0).filter(|it| it.0 >= LEAST).map(|it| it.1)
    }
}
