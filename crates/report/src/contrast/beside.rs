//! What a reader of comparisons must know beside them: which inputs changed beside the policies, and what the results were made with.

use super::FieldChange;
use super::words::field;
use crate::made::MadeWith;
use crate::prelude::*;
use ctxsim_base::grid::numbers::listed_code;

/// The most changed fields that are shown of an input.
const FIELDS_SHOWN: usize = 8;

/// What stands beside comparisons.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// The loads, in a sentence for each group of comparisons, where nobody named them.
    pub loads: Vec<String>,
    /// The revision that the base is of, if it is of one.
    pub revision: Option<String>,
    /// Policies that the revision does not have.
    pub new: Vec<String>,
    /// Inputs other than the compared policies that are not as the revision has them.
    pub changed: Vec<InputChange>,
    /// Folders of inputs that git does not have, so that what changed there is unknown.
    pub unknown: Vec<String>,
    pub made: MadeWith,
}

/// An input that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputChange {
    /// What kind of input it is.
    pub kind: &'static str,
    pub name: String,
    pub how: InputFate,
    /// What its file says otherwise; of what was added or removed, nothing.
    pub fields: Vec<FieldChange>,
}

/// What happened to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputFate {
    Added,
    Removed,
    Changed,
}

impl InputChange {
    /// Returns its kind and its name.
    fn title(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }

    /// Says what changed in it.
    fn words(&self) -> String {
        let mut fields: Vec<String> = self.fields.iter().take(FIELDS_SHOWN).map(field).listed();
        let more = self.fields.len().saturating_sub(FIELDS_SHOWN);
        fields.extend((more > 0).then(|| format!("and {more} more")));
        let how = match self.how {
            InputFate::Added => "added".to_owned(),
            InputFate::Removed => "removed".to_owned(),
            InputFate::Changed if fields.is_empty() => "changed".to_owned(),
            InputFate::Changed => fields.join(", "),
        };
        format!("{}: {how}", self.title())
    }
}

impl Beside {
    /// Says why there is no comparison.
    pub fn nothing_compared(&self) -> String {
        let revision = self.revision.as_deref().unwrap_or_default();
        let titles: Vec<String> = self.changed.iter().map(InputChange::title).listed();
        match (self.new.is_empty(), titles.is_empty()) {
            (true, true) => "The candidate is the same as the base: nothing changes.".to_owned(),
            (true, false) => format!(
                "Nothing to compare with `{revision}`: no policy that both have changed. This changed: {}.",
                listed(&titles)
            ),
            (false, _) => format!("{}: there is nothing to compare.", self.newness()),
        }
    }

    /// Says which policies are new.
    pub fn newness(&self) -> String {
        format!("`{}` does not have {}", self.revision.as_deref().unwrap_or_default(), listed_code(&self.new))
    }

    /// Says in a line each what changed beside the policies.
    pub fn lines(&self) -> Vec<String> {
        let unknown =
            self.unknown.iter().map(|it| format!("{it}: git does not have it, so what changed is unknown"));
        self.changed.iter().map(InputChange::words).chain(unknown).listed()
    }

    /// Returns the heading of these lines.
    pub fn heading(&self) -> String {
        format!("Changed beside the policies since `{}`", self.revision.as_deref().unwrap_or_default())
    }
}
