//! What sweeps and searches optimise, and what they demand: a number of the bill or of what is remembered, with its better direction.

use std::fmt;

use ctxsim_base::diag::nearest;
use ctxsim_engine::measure::Better;
use ctxsim_engine::take::Number;

use super::PointNumbers;
use crate::metric::COST;
use crate::prelude::*;
use crate::remembered::main_number_per_finding;

/// The path of what is expected to be fetched again.
const RECOVERY_CALLS: &str = "recovery.expected_calls";

/// An objective of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Objective {
    /// Low cost.
    Cost,
    /// Much of the needed evidence kept.
    Evidence,
    /// Much remembered: planted facts found, mean scores of ageing memories, right answers.
    Retention,
    /// A short longest prompt.
    Prompt,
    /// Few recovery calls.
    Recovery,
    /// A number of what is remembered.
    Found(&'static Number),
}

impl Objective {
    /// Those that each kind of load may have, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Cost, Self::Evidence, Self::Retention, Self::Prompt, Self::Recovery];

    /// Returns what it is a number of; of much remembered, without the place, which differs between kinds of memories.
    fn number_definition(self) -> Number {
        let make = |name, place, heading, better, is_share| Number { name, place, heading, better, is_share };
        match self {
            Self::Cost => make("cost", COST, "cost USD", Better::Lower, false),
            Self::Evidence => make("evidence", "evidence_kept", "evidence kept", Better::Higher, true),
            Self::Retention => make("retention", "", "facts found", Better::Higher, true),
            Self::Prompt => make("prompt", "prompt_tokens_max", "prompt max tok", Better::Lower, false),
            Self::Recovery => make("recovery", RECOVERY_CALLS, "recovery calls", Better::Lower, false),
            Self::Found(number) => *number,
        }
    }

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        self.number_definition().name
    }

    /// Returns every objective.
    pub fn every() -> impl Iterator<Item = Self> {
        let found = ctxsim_worlds::findings().flat_map(|it| it.numbers);
        Self::ALL.into_iter().chain(found.filter(|it| it.better != Better::Neither).map(Self::Found))
    }

    /// Returns its number among those of a point: of what is remembered, the number of the kind of memory.
    pub fn value_at_point(self, point: &PointNumbers) -> Option<f64> {
        point.get(self.metric_path(point)?)
    }

    /// Returns its place in reports; of the retention, that of the kind of memory that a point has.
    pub(super) fn metric_path(self, point: &PointNumbers) -> Option<&'static str> {
        let mut main_places = main_number_per_finding().map(|it| it.place);
        match self {
            Self::Retention => main_places.find(|it| point.get(it).is_some()),
            other => Some(other.number_definition().place),
        }
    }

    /// Returns a number, negated if higher is better, so that lower is better.
    pub fn badness(self, number: f64) -> f64 {
        if self.number_definition().better == Better::Lower { number } else { -number }
    }

    /// Returns its heading; of what is remembered, that of the kind of memory.
    pub fn column_heading(self, has_path: impl Fn(&str) -> bool) -> &'static str {
        let main = main_number_per_finding().find(|it| matches!(self, Self::Retention) && has_path(it.place));
        main.map_or(self.number_definition().heading, |it| it.heading)
    }

    /// Writes one of its numbers.
    pub fn format_number(self, number: f64, decimals: usize) -> String {
        match self {
            Self::Cost => numbers::fixed(number, decimals),
            Self::Prompt => numbers::fixed(number, 0),
            Self::Recovery => numbers::expected(number),
            other if other.number_definition().is_share => numbers::percent(number),
            _ => numbers::fixed(number, 1),
        }
    }
}

impl TryFrom<String> for Objective {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_it = |objective: &Self| {
            let Number { name, place, heading, .. } = objective.number_definition();
            let is_found = matches!(objective, Self::Found(_));
            let written = [place, heading, place.strip_suffix(".mean").unwrap_or(place)];
            name == text || is_found && written.contains(&text.as_str())
        };
        Self::every().find(is_it).ok_or_else(|| {
            let names = Self::every().map(Self::name).listed();
            let near = nearest(&text, names.iter().copied()).map(|it| format!("did you mean `{it}`?"));
            let hint = near.unwrap_or_else(|| format!("use one of {}", names.join(", ")));
            format!("unknown objective `{text}`; {hint}")
        })
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> Self {
        objective.name().to_owned()
    }
}

/// A bound that a point has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PointGuard {
    /// The number that it bounds.
    pub of: Objective,
    /// Whether the number must not fall below the bound; otherwise it must not exceed it.
    pub is_least: bool,
    pub bound: f64,
}

impl PointGuard {
    /// Returns whether a number keeps the bound.
    pub fn allows(&self, number: f64) -> bool {
        if self.is_least { number >= self.bound } else { number <= self.bound }
    }
}

impl fmt::Display for PointGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_least { ">=" } else { "<=" };
        write!(f, "{}{sign}{}", self.of.name(), self.bound)
    }
}

impl TryFrom<String> for PointGuard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let form = "write a bound as in `accumulator_error<=20` or `final>=0.5`";
        let is_least = text.contains(">=");
        let parts = text.split_once(if is_least { ">=" } else { "<=" });
        let (name, bound) = parts.ok_or_else(|| format!("`{text}` has no `>=` or `<=`; {form}"))?;
        let bound = bound.trim().parse::<f64>().ok().filter(|it| it.is_finite());
        let bound = bound.ok_or_else(|| format!("`{text}` has no number; {form}"))?;
        Ok(Self { of: Objective::try_from(name.trim().to_owned())?, is_least, bound })
    }
}

impl From<PointGuard> for String {
    fn from(guard: PointGuard) -> Self {
        guard.to_string()
    }
}
