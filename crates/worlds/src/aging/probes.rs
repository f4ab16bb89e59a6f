//! A user's own agent: the write, read and use numbers of a declared memory that explain what it answered to questions.

mod expected;
mod likelihood;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::assumed::{AgingNumbers, Model};
use ctxsim_base::rng::Seed;
use ctxsim_input::policy::memory::{SessionMemory, SessionRead, SessionStore};
use ctxsim_input::scenario::AgingLoad;

pub use table::{ProbeQuestion, read};

use expected::ExpectedShares;
use likelihood::{Likelihood, UsePoint};

/// A number of a memory, as the answers show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The part of the memory that it is of: `write`, `read` or `use`.
    pub part: &'static str,
    /// Its name among the declared numbers.
    pub number: &'static str,
    /// The most likely value.
    pub value: f64,
    /// The 95% interval.
    pub ci95: [f64; 2],
    /// By how much answers about one fact are alike: the interval is as wide as if there were so many times fewer answers.
    pub alike: f64,
    /// Whether the answers leave out most of what it can be.
    pub is_known: bool,
}

/// What the answers show of a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedMemory {
    /// How many answers there are.
    pub n_answers: usize,
    /// How many facts they are about.
    pub n_facts: usize,
    /// The numbers.
    pub estimates: Vec<Estimate>,
}

/// What a fit holds fixed: the memory, the sessions, and the numbers that are not fitted.
#[derive(Debug)]
pub struct Memories {
    expected: ExpectedShares,
    /// Which of write and read the memory has a number for.
    has: [bool; 2],
}

impl Memories {
    /// Plays a memory with all values of the numbers that it has, over sessions of a load.
    pub fn new(spec: &SessionMemory, load: &AgingLoad, model: &Arc<Model>, seed: Seed) -> Self {
        let writes = matches!(
            spec.store,
            SessionStore::Summary(_)
                | SessionStore::History(_)
                | SessionStore::Episodes(_)
                | SessionStore::Files
        );
        let is_searched = matches!(spec.store, SessionStore::Entries { .. } | SessionStore::Files);
        let reads = is_searched && matches!(spec.read, SessionRead::Top { .. });
        let has = [writes, reads];
        Self { expected: ExpectedShares::new(spec, load, model, seed, has), has }
    }

    /// Fits write, read and use to answers.
    pub fn fit(&self, probes: &[ProbeQuestion]) -> FittedMemory {
        let likelihood = Likelihood::new(&self.expected, probes);
        let best = likelihood.best(self.has);
        let mut of_facts: BTreeMap<&str, usize> = BTreeMap::new();
        probes.iter().for_each(|it| *of_facts.entry(it.fact.as_str()).or_default() += 1);
        let names = [("use", "utilisation"), ("write", "extract"), ("read", "similarity_margin")];
        let is_fitted = [true, self.has[0], self.has[1]];
        let estimates =
            names.iter().enumerate().filter(|it| is_fitted[it.0]).map(|(axis, (part, number))| {
                let alike = likelihood.alike(&best, axis);
                let ci95 = likelihood.interval(best, axis, self.has, alike);
                let all = UsePoint::RANGES[axis];
                let is_known = ci95[1] - ci95[0] < (all[1] - all[0]) / 2.0;
                Estimate { part, number, value: best.0[axis], ci95, alike, is_known }
            });
        FittedMemory { n_answers: probes.len(), n_facts: of_facts.len(), estimates: estimates.collect() }
    }
}

impl FittedMemory {
    /// Returns the file of a model that answers like this agent. What it writes was fitted under its own prompt, so its adherence is whole.
    pub fn model(&self, about: &str) -> String {
        let line = |it: &Estimate| {
            format!("{} = {:.3}    # 95% from {:.2} to {:.2}\n", it.number, it.value, it.ci95[0], it.ci95[1])
        };
        let (own, others): (Vec<_>, Vec<_>) = self.estimates.iter().partition(|it| it.part == "use");
        let mut text = format!("about = {}\nkind = \"measured\"\n", serde_json::Value::from(about));
        own.iter().for_each(|it| text += &line(it));
        text += "\n[numbers]\n";
        others.iter().for_each(|it| text += &line(it));
        text
    }
}

/// Returns the numbers with those of a point, for a fit or for a test that generates answers.
fn with(numbers: &AgingNumbers, point: &UsePoint) -> AgingNumbers {
    let mut numbers = numbers.clone();
    numbers.fitted.extract = point.0[1];
    numbers.fitted.similarity_margin = point.0[2];
    numbers
}
