//! The profile of a model named in a recording.

use crate::catalog::{Catalog, Kind};
use crate::diag::Diagnostic;
use crate::input::{Limits, Profile, ProfileFile};

/// The profiles by model.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelProfiles {
    all: Vec<Profile>,
}

impl ModelProfiles {
    /// Reads those of a catalog, as written; a broken one covers no model, and `validate` reports why.
    pub(super) fn read(catalog: &Catalog) -> Vec<ProfileFile> {
        let files = catalog.names(Kind::Profile).filter_map(|it| catalog.profile(it).ok());
        files.map(|it| it.spec).filter(|it| !it.models.is_empty()).collect()
    }

    /// Takes checked profiles.
    pub(super) fn new(specs: &[ProfileFile]) -> Self {
        Self { all: specs.iter().filter_map(|it| Profile::new(it).ok()).collect() }
    }

    /// Removes the limits of all of them.
    pub(super) fn take_limits(&mut self) {
        self.all.iter_mut().for_each(|it| it.limits = Limits::NONE);
    }

    /// Returns the profile of a model: the one whose pattern matches most of its id; of equal ones, the first
    /// by name.
    ///
    /// # Errors
    /// There is none; the help names the nearest.
    pub(super) fn of(&self, model: &str) -> Result<&Profile, Box<Diagnostic>> {
        let fitting = self.all.iter().rev().filter_map(|it| Some((it.fits(model)?, it)));
        if let Some((_, profile)) = fitting.max_by_key(|it| it.0) {
            return Ok(profile);
        }
        let message = format!("no profile covers the model `{model}`");
        let help = match self.nearest(model) {
            Some(near) => format!(
                "use the nearest, `--profile {}`, or write a profile with `models = [\"{model}\"]`",
                near.name
            ),
            None => "name one with `--profile`; `ctxsim list profiles` shows all".to_owned(),
        };
        Err(Box::new(Diagnostic::at("model-unknown", "", message).help(help)))
    }

    /// Returns the one whose id begins most like a model's.
    fn nearest(&self, model: &str) -> Option<&Profile> {
        /// Fewer common letters are not a match.
        const LEAST: usize = 3;
        let id = model.rsplit('/').next().unwrap_or(model);
        let common = |it: &String| it.chars().zip(id.chars()).take_while(|(a, b)| a == b).count();
        let ranked = self.all.iter().rev().filter_map(|it| Some((it.models.iter().map(common).max()?, it)));
        ranked.max_by_key(|it| it.0).filter(|it| it.0 >= LEAST).map(|it| it.1)
    }
}
