//! A lever: something that a user can change, what that does to his bill, and the word that the rule gives it.

use serde::Serialize;

/// The word of a lever: what to do about it. The first that applies is its own; `decide` says when each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It saves, and keeps what is needed, whatever else was tried beside it.
    Do,
    /// It saves, but costs something that is not ctxsim's to judge.
    YourCall,
    /// It probably saves, and trying it risks little.
    Try,
    /// It probably costs.
    Dont,
    /// None of these.
    CannotTell,
}

impl Word {
    /// Returns it as a reader sees it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Do => "do",
            Self::YourCall => "your call",
            Self::Try => "try",
            Self::Dont => "don't",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// How a lever's effect is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// What the logs say was billed is enough to work it out.
    Bills,
    /// The sessions were played with it.
    #[default]
    Simulated,
}

impl KnownBy {
    /// Returns it as a reader sees it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Bills => "by the bills",
            Self::Simulated => "simulated",
        }
    }
}

/// A setting, or several together, and what it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lever {
    /// The settings: `key=value`.
    pub set: Vec<String>,
    /// What it does, in a few words that need no explanation.
    pub title: String,
    /// None where nothing changes.
    pub word: Option<Word>,
    /// In a sentence, what keeps it from a better word, or what the word rests on.
    pub why: String,
    /// US dollars that it saves a month, negative where it costs more; and the 95% interval, the least saving first.
    pub saved_month: Option<f64>,
    pub saved_interval: Option<[f64; 2]>,
    /// The relative change of the whole cost that these dollars are, and its 95% interval.
    pub change: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// The share of the needed evidence that prompts still hold, and the lower end of its interval.
    pub evidence_kept: Option<f64>,
    pub evidence_low: Option<f64>,
    pub known_by: KnownBy,
}
