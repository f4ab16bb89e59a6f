//! What a table says, for code that acts on it.

use std::fmt;

use serde::Serialize;

/// What a table of a report says: which policy to take. `Display` is the sentence at the end of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// What was run: a scenario, or a group of them.
    pub load: String,
    /// Under which profile, or that each session ran under its own model's.
    pub profile: String,
    /// How many scenarios are added up.
    pub scenarios: usize,
    /// The share of the evidence that a policy must keep to be recommended, from 0 to 1.
    pub min_evidence: f64,
    /// Whether anything says what is needed, so that losses are known; if not, nothing is recommended.
    pub knows_evidence: bool,
    /// The policy that the others are measured against.
    pub baseline: String,
    /// The cheapest policy that keeps enough, which may be the baseline; `None` if no cost is known.
    pub cheapest: Option<String>,
    /// By which share its cost differs from the baseline's: −0.1 is a tenth less. `None` for the baseline itself.
    pub change: Option<f64>,
    /// The 95% interval of that share for later sessions, over what is assumed, too; `None` for a single session.
    pub interval: Option<[f64; 2]>,
    /// Cheaper policies that lose more evidence, the cheapest first.
    pub lossy: Vec<String>,
    /// All of it in a few sentences.
    pub words: String,
}

impl Verdict {
    pub(super) fn new(it: ctxsim_report::Verdict) -> Self {
        let words = it.words();
        let best = it.cheapest.as_ref();
        Self {
            change: best.and_then(|it| it.change),
            interval: best.and_then(|it| it.interval),
            cheapest: it.cheapest.map(|it| it.policy),
            lossy: it.lossy.into_iter().map(|it| it.policy).collect(),
            load: it.load,
            profile: it.profile,
            scenarios: it.scenarios,
            min_evidence: it.min_evidence,
            knows_evidence: it.knows_evidence,
            baseline: it.baseline,
            words,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.words)
    }
}
