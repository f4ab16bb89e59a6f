//! The laws that a context policy should keep, by name; a policy file allows itself to break one by naming it in `allows`.

use crate::prelude::*;

/// A property that a policy has on every session, or says that it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Law {
    /// Every request shows what its user asked.
    KeepsTask,
    /// What was sent stays as it was, most of the time.
    StablePrefix,
    /// The same request has the same answer.
    Idempotent,
    /// Prompts fit.
    Bounded,
    /// What is removed can be found again.
    Recoverable,
}

impl Law {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::KeepsTask, Self::StablePrefix, Self::Idempotent, Self::Bounded, Self::Recoverable];

    /// Returns its name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeepsTask => "keeps-task",
            Self::StablePrefix => "stable-prefix",
            Self::Idempotent => "idempotent",
            Self::Bounded => "bounded",
            Self::Recoverable => "recoverable",
        }
    }

    /// Returns what it says, in a sentence without its full stop.
    pub fn says(self) -> &'static str {
        match self {
            Self::KeepsTask => "every request shows the user's message of its turn, whole or in a summary",
            Self::StablePrefix => {
                "of three requests in a row, at least one begins with everything that the request before it sent"
            }
            Self::Idempotent => "a request that is sent again, with nothing new, is the same",
            Self::Bounded => {
                "no request is above the prompt limit, as long as what must stay takes at most half of it"
            }
            Self::Recoverable => {
                "a tool result that is removed leaves a placeholder, an excerpt, a handle or a summary"
            }
        }
    }

    /// Returns the law of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
