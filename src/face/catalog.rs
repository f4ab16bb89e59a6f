//! Inputs by name.

use std::path::Path;

use crate::catalog::{BUNDLE, Catalog as Inner, InputKind};
use crate::face::{Error, Problem};
use ctxsim_app::check;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_input::policy::Size;

/// Inputs by name: bundled ones, files, and texts in memory.
///
/// ```
/// let catalog = ctxsim::Catalog::bundled();
/// assert!(catalog.policies().any(|it| it == "clear_tool_results"));
/// let numbers = catalog.policy_numbers("clear_tool_results")?;
/// assert!(numbers.iter().any(|(path, _)| path == "params.trigger.tokens"));
/// # Ok::<(), ctxsim::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalog(pub(super) Inner);

impl Catalog {
    /// Returns the inputs that ship with the crate; none without the feature `bundled`.
    #[must_use]
    pub fn bundled() -> Self {
        Self(crate::catalog::bundled_catalog())
    }

    /// Returns an empty catalog.
    #[must_use]
    pub fn empty() -> Self {
        Self(Inner::empty(BUNDLE))
    }

    /// Returns the names of its policies, sorted.
    pub fn policies(&self) -> impl Iterator<Item = &str> {
        self.0.names(InputKind::Policy)
    }

    /// Returns the names of its scenarios, sorted.
    pub fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.0.names(InputKind::Scenario)
    }

    /// Returns the names of its profiles, sorted.
    pub fn profiles(&self) -> impl Iterator<Item = &str> {
        self.0.names(InputKind::Profile)
    }

    /// Returns the names of its suites, sorted.
    pub fn suites(&self) -> impl Iterator<Item = &str> {
        self.0.names(InputKind::Suite)
    }

    /// Returns the text of a policy's file.
    ///
    /// # Errors
    /// There is no such policy, or its file cannot be read.
    pub fn policy_text(&self, name: &str) -> Result<String, Error> {
        Ok(ctxsim_app::input_text(&self.0, Some(InputKind::Policy), name, None)?)
    }

    /// Returns the text of a profile's file.
    ///
    /// # Errors
    /// There is no such profile, or its file cannot be read.
    pub fn profile_text(&self, name: &str) -> Result<String, Error> {
        Ok(ctxsim_app::input_text(&self.0, Some(InputKind::Profile), name, None)?)
    }

    /// Returns what a policy does in a few plain words, if its file says it.
    ///
    /// # Errors
    /// There is no such policy, or it or a base cannot be read.
    pub fn policy_title(&self, name: &str) -> Result<Option<String>, Error> {
        Ok(self.0.policy(name)?.spec.title)
    }

    /// Returns what a policy says of itself, in a sentence or two.
    ///
    /// # Errors
    /// There is no such policy, or it or a base cannot be read.
    pub fn policy_about(&self, name: &str) -> Result<String, Error> {
        Ok(self.0.policy(name)?.spec.about)
    }

    /// Returns the numbers that a policy and its bases declare as parameters: the path that overrides each, as `--set` has it, and its value, in
    /// the unit that ends the path. `None` is a size in tokens that is computed during a run, from the model's limits for example.
    ///
    /// # Errors
    /// There is no such policy, or it or a base cannot be read.
    pub fn policy_numbers(&self, name: &str) -> Result<Vec<(String, Option<f64>)>, Error> {
        let spec = self.0.policy(name)?.spec;
        let number = |(name, size): (&String, &Size)| {
            let (unit, value) = size.number();
            (format!("params.{name}.{unit}"), value)
        };
        Ok(spec.params.iter().map(number).collect())
    }

    /// Checks a policy with its bases, as `ctxsim validate` does; returns what it warns of.
    ///
    /// # Errors
    /// Every problem of the policy.
    pub fn check_policy(&self, name: &str) -> Result<Vec<Problem>, Error> {
        check::check_input(&self.0, InputKind::Policy, name)?;
        let warnings = check::lint_input(&self.0, InputKind::Policy, name)?;
        Ok(warnings.iter().map(Problem::new).collect())
    }

    /// Adds a folder that holds `policies/`, `scenarios/`, `profiles/` or `suites/`; its inputs override others of the same name.
    ///
    /// # Errors
    /// The folder cannot be read, contains none of these, or has two files with the same name.
    pub fn folder(self, folder: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self(self.0.with_folder(folder.as_ref())?))
    }

    /// Adds a text in memory under the path it would have in such a folder, such as `policies/mine.ron`.
    ///
    /// # Errors
    /// The path does not begin with a kind's folder and end with `.ron` or `.toml`.
    pub fn text(mut self, path: &str, text: impl Into<String>) -> Result<Self, Error> {
        if self.0.try_add_text(path, text.into()) {
            return Ok(self);
        }
        let message = format!("cannot tell the kind of input and its format from the path `{path}`");
        let help = "write `policies/NAME.ron`; or `scenarios`, `profiles`, `suites`, and `.toml`";
        Err(Diagnostic::at(Code("path-unclear"), "", message).help(help).into())
    }
}
