//! The profile of a model named in a recording.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::catalog::{Catalog, Kind, Origin};
use crate::diag::Diagnostic;
use crate::input::{Limits, Profile, ProfileFile};

/// The profiles by model.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelProfiles {
    all: Vec<Arc<Profile>>,
}

/// A profile that covers models: as written, and checked; a broken one covers no model, and `validate` reports why.
#[derive(Clone, Debug)]
pub(super) struct OfModels {
    /// As written.
    pub(super) spec: Arc<ProfileFile>,
    checked: Option<Arc<Profile>>,
}

impl OfModels {
    fn new(spec: ProfileFile) -> Self {
        let checked = Profile::new(&spec).ok().map(Arc::new);
        Self { spec: Arc::new(spec), checked }
    }

    fn read(catalog: &Catalog, name: &str) -> Option<Self> {
        let spec = catalog.profile(name).ok()?.spec;
        (!spec.models.is_empty()).then(|| Self::new(spec))
    }

    /// Returns the bundled ones by their paths. They never change, so a process reads them once: a plan for one small session would
    /// take most of its time for them.
    fn bundled() -> &'static BTreeMap<&'static str, Self> {
        static READ: OnceLock<BTreeMap<&'static str, OfModels>> = OnceLock::new();
        READ.get_or_init(|| {
            let catalog = Catalog::bundled();
            let of = |(name, origin): (&str, &Origin)| match origin {
                Origin::Bundled(path) => Some((*path, Self::read(&catalog, name)?)),
                _ => None,
            };
            catalog.origins(Kind::Profile).filter_map(of).collect()
        })
    }
}

impl ModelProfiles {
    /// Reads those of a catalog.
    pub(super) fn read(catalog: &Catalog) -> Vec<OfModels> {
        let bundled = OfModels::bundled();
        let of = |(name, origin): (&str, &Origin)| match origin {
            Origin::Bundled(path) => bundled.get(path).cloned(),
            _ => OfModels::read(catalog, name),
        };
        catalog.origins(Kind::Profile).filter_map(of).collect()
    }

    /// Takes those that are checked.
    pub(super) fn new(all: impl IntoIterator<Item = OfModels>) -> Self {
        Self { all: all.into_iter().filter_map(|it| it.checked).collect() }
    }

    /// Takes those that pass the rules, of specs that may have been overridden.
    pub(super) fn of_specs(specs: &[ProfileFile]) -> Self {
        Self { all: specs.iter().filter_map(|it| Profile::new(it).ok()).map(Arc::new).collect() }
    }

    /// Removes the limits of all of them.
    pub(super) fn take_limits(&mut self) {
        self.all.iter_mut().for_each(|it| Arc::make_mut(it).limits = Limits::NONE);
    }

    /// Returns the profile of a model: the one whose pattern matches most of its id; of equal ones, the first
    /// by name.
    ///
    /// # Errors
    /// There is none; the help names the nearest.
    pub(super) fn of(&self, model: &str) -> Result<&Profile, Box<Diagnostic>> {
        let fitting = self.all.iter().rev().filter_map(|it| Some((it.fits(model)?, &**it)));
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
        let ranked =
            self.all.iter().rev().filter_map(|it| Some((it.models.iter().map(common).max()?, &**it)));
        ranked.max_by_key(|it| it.0).filter(|it| it.0 >= LEAST).map(|it| it.1)
    }
}
