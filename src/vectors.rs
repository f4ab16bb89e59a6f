//! Cache vectors: small sessions with the rows that a provider's cache must give, and what this cache makes of them.

mod boundaries;
mod compaction;
mod file;
mod load;
mod play;
mod policy;
mod report;
mod rules;
mod unknown;

use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use crate::diag::Diagnostic;
use crate::input::text::source::json_problem;
use crate::units::Tokens;

pub use file::VectorFile;
pub use report::{json, lines, missing, table};

/// Where a row's prompts come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// The prompts that the file lists; only the cache is at work.
    Requests,
    /// The file's trace under one of its policies; the engine makes the prompts.
    Trace,
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requests => "requests",
            Self::Trace => "trace",
        })
    }
}

/// What a cache makes of one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// Read from the cache.
    pub read: Tokens,
    /// Written, by lifetime; empty under rules that write nothing.
    pub write: IndexMap<String, Tokens>,
    /// Neither.
    pub uncached: Tokens,
    /// Written by the model.
    pub output: Tokens,
    /// What the request costs; `None` where the file names no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picodollars: Option<u128>,
}

/// One list of requests under one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The session, or the vector.
    pub name: String,
    /// The policy; empty for vectors of the rule alone.
    pub policy: String,
    /// The cache rule.
    pub rule: String,
    /// Where the prompts come from.
    pub from: From,
    /// What this cache makes of the requests.
    pub rows: Vec<Row>,
    /// What the file expects, where it says.
    pub expected: Option<Vec<file::ExpectedRow>>,
    /// What the file expects of the sum, where it says.
    pub expected_total: Option<u128>,
}

/// Something that a file asks for and that could not be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotPlayed {
    /// The session, or the vector.
    pub name: String,
    /// The policy; empty for vectors of the rule alone.
    pub policy: String,
    /// The cache rule.
    pub rule: String,
    /// Where the prompts would have come from.
    pub from: From,
    /// Why.
    pub reason: String,
}

impl fmt::Display for NotPlayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.policy.is_empty() {
            write!(f, ", {}", self.policy)?;
        }
        write!(f, ", {}, from {}", self.rule, self.from)
    }
}

/// What came of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// What was played.
    pub series: Vec<Series>,
    /// What was not.
    pub not_played: Vec<NotPlayed>,
    /// What the file says that nobody looked at.
    pub passed_over: Vec<String>,
}

impl Played {
    /// Returns whether every row that was played is as the file expects.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.series.iter().all(Series::is_as_expected)
    }
}

impl Series {
    /// Returns whether the file says what to expect.
    #[must_use]
    pub fn expects(&self) -> bool {
        self.expected.is_some() || self.expected_total.is_some()
    }

    /// Returns the rows that are not as expected, or that have no counterpart.
    #[must_use]
    pub fn different(&self) -> Vec<usize> {
        let Some(expected) = &self.expected else { return Vec::new() };
        let n = self.rows.len().max(expected.len());
        let is_equal = |index: &usize| matches!((self.rows.get(*index), expected.get(*index)), (Some(row), Some(it)) if it.is_met_by(row));
        (0..n).filter(|it| !is_equal(it)).collect()
    }

    /// Returns what all requests cost.
    #[must_use]
    pub fn total(&self) -> Option<u128> {
        self.rows.iter().map(|it| it.picodollars).sum()
    }

    /// Returns whether everything is as the file expects.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.different().is_empty() && self.expected_total.is_none_or(|it| self.total() == Some(it))
    }
}

/// Returns whether a text is a file of cache vectors; one without the names of such a file is not parsed for it.
#[must_use]
pub fn detect(text: &str) -> bool {
    let has = |name: &str| text.contains(name);
    text.trim_ascii_start().starts_with('{')
        && has("\"rules\"")
        && (has("\"sessions\"") || has("\"cache_vectors\""))
        && serde_json::from_str::<file::Probe>(text).is_ok_and(|it| it.has_requests())
}

/// Reads a file of cache vectors and plays everything in it; what cannot be played is told.
///
/// # Errors
/// The text is no such file.
pub fn run(text: &str) -> Result<Played, Vec<Diagnostic>> {
    let file: VectorFile = serde_json::from_str(text).map_err(|error| {
        let problem = json_problem(text, &error).help("the format is told in `docs/vectors.md`");
        vec![Diagnostic { code: "vectors-unreadable", ..problem }]
    })?;
    let (series, not_played) = play::play(&file);
    Ok(Played { series, not_played, passed_over: unknown::passed_over(text) })
}
