//! The profile that an override names, in `profile.NAME.…`.

use super::{Override, SetTarget, decode};
use crate::ProfileFile;
use ctxsim_base::diag::{Code, Diagnostic, nearest};

impl Override {
    /// Returns the profile that it names, preferring the longest known name; `None` if it applies to all.
    pub fn profile(&self, is_known: impl Fn(&str) -> bool) -> Option<String> {
        let is_field = |it: &String| decode::fields::<ProfileFile>().contains(&it.as_str());
        if self.target != SetTarget::Profile || self.path.first().is_some_and(is_field) {
            return None;
        }
        let known: Vec<usize> =
            (1..self.path.len()).rev().filter(|it| is_known(&self.path[..*it].join("."))).collect();
        // A shorter name that is known is not meant where a field follows further on.
        let is_followed = |it: &&usize| self.path.get(**it).is_some_and(is_field);
        let has_field = self.path.iter().any(is_field);
        let n_steps = known.iter().find(is_followed).or(known.first().filter(|_| !has_field))?;
        Some(self.path[..*n_steps].join("."))
    }

    /// Reports an unknown profile; `None` if it names a field, or nearly one.
    pub fn unknown_profile(&self, names: &[&str]) -> Option<Box<Diagnostic>> {
        let fields = decode::fields::<ProfileFile>();
        let is_field = |it: &String| fields.contains(&it.as_str());
        if nearest(self.path.first()?, fields.iter().copied()).is_some() {
            return None;
        }
        let at = self.path.iter().position(is_field).unwrap_or(self.path.len());
        let (name, rest) = self.path.split_at(at);
        let name = name.join(".");
        let near = nearest(&name, names.iter().copied())
            .or_else(|| names.iter().copied().find(|it| it.contains(&name)));
        let help = match (near, names) {
            (Some(near), _) => {
                let path: Vec<&str> =
                    ["profile", near].into_iter().chain(rest.iter().map(String::as_str)).collect();
                format!("did you mean `{}`?", path.join("."))
            }
            (None, [only]) => format!("the profile of this run is `{only}`"),
            (None, _) => "name a profile of this run, or leave out the name to change all of them".to_owned(),
        };
        let message = format!("this run has no profile `{name}`");
        Some(self.named(Diagnostic::at(Code::SetNoSuchProfile, "", message).help(help)))
    }

    /// Returns the override as it applies to a profile that it names.
    pub fn of_profile(&self, name: &str) -> Self {
        let n_steps = name.split('.').count();
        Self { path: self.path[n_steps..].to_vec(), ..self.clone() }
    }
}
