//! How a policy's memory loses content when a model answers:
//! the policy's settings with the declared numbers filled in.

use crate::prelude::*;

use super::assumed::{self, AgingNumbers, Exact, Model, SummariserPrompt};
use crate::numbers;
use ctxsim_input::policy::memory::{MemoryPart, SessionMemory, SessionWrite, SummaryLoss, TotalsSurvive};

/// A memory as it works.
#[derive(Clone, Debug)]
pub struct MemoryRules {
    /// As it is declared.
    pub spec: SessionMemory,
    /// The share of changes that are in the overlay, or none if there is no overlay.
    pub overlay: Option<f64>,
    /// The prompt that makes its summaries.
    pub prompt: Option<String>,
    /// The model that answers.
    pub model: Arc<Model>,
}

/// What one pass over a summary leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryPass {
    /// Exact statements.
    pub exact: usize,
    /// Gists beside them.
    pub gists: usize,
    /// A new statement is taken up.
    pub extract: f64,
    /// What a new record is about is taken up.
    pub heads: f64,
    /// An exact statement survives, beside what the capacity takes.
    pub survival: f64,
    /// How much a statement's own importance counts beside chance.
    pub salience: f64,
    /// By how much the session's own statements come first.
    pub recency: f64,
}

/// A memory that keeps nothing.
static NOTHING: SessionMemory = SessionMemory {
    write: SessionWrite { totals: TotalsSurvive::Fold },
    store: SessionStore::Nothing,
    read: SessionRead::All,
    overlay: None,
    controller: None,
    oracle: Vec::new(),
};

impl MemoryRules {
    /// Takes what a policy declares; a policy that declares nothing keeps nothing.
    pub fn new(spec: Option<&SessionMemory>, model: Arc<Model>) -> Self {
        let spec = spec.unwrap_or(&NOTHING);
        Self {
            overlay: spec.overlay.map(|it| it.marked),
            prompt: spec.store.compaction().map(|it| it.prompt.clone()),
            spec: spec.clone(),
            model,
        }
    }

    /// A memory that keeps everything and reads all of it.
    pub fn ceiling(model: Arc<Model>) -> Self {
        let spec = SessionMemory { store: SessionStore::Everything, ..NOTHING.clone() };
        Self::new(Some(&spec), model)
    }

    /// Reports prompts of a policy that nothing declares.
    pub fn check(spec: &SessionMemory) -> Vec<Diagnostic> {
        let mut problems = Problems::default();
        let prompts = assumed::prompts();
        if let Some(compaction) = spec.store.compaction() {
            let field = format!("memory.sessions.store.{}.prompt", spec.store.name());
            problems.within(field, |to| numbers::named("prompt", &compaction.prompt, &prompts, to));
        }
        if let Some(controller) = &spec.controller {
            problems.within("memory.sessions.controller.prompt", |to| {
                numbers::named("prompt", &controller.prompt, &prompts, to);
            });
        }
        problems.into_result(()).err().unwrap_or_default()
    }

    /// Returns whether a part loses nothing.
    pub fn is_oracle(&self, part: MemoryPart) -> bool {
        self.spec.oracle.contains(&part)
    }

    /// Returns how probably a fact in view is stated.
    pub fn utilisation(&self) -> f64 {
        if self.is_oracle(MemoryPart::Use) { 1.0 } else { self.model.utilisation }
    }

    /// Returns the share of that which is left for something said some sessions ago, where the agent finds it by itself.
    pub fn recalled(&self, lag: u32) -> f64 {
        let by_span = self.model.recall_by_span;
        let is_helped = self.is_oracle(MemoryPart::Use) || self.is_oracle(MemoryPart::Read);
        if by_span >= 1.0 || is_helped { 1.0 } else { by_span.powf(lag.into()) }
    }

    /// Returns how probably a change is worked into a balance.
    pub fn fold(&self, numbers: &AgingNumbers) -> f64 {
        if self.is_oracle(MemoryPart::Write) { 1.0 } else { numbers.fitted.fold * self.model.revision }
    }

    /// Returns the odds of stating something that could be confused with the target beside it.
    pub fn confusion(&self, numbers: &AgingNumbers) -> f64 {
        if self.is_oracle(MemoryPart::Use) { 0.0 } else { numbers.assumed.confusion_odds }
    }

    /// Returns how probably the overlay's total is used.
    pub fn header_use(&self, numbers: &AgingNumbers) -> f64 {
        if self.is_oracle(MemoryPart::Use) { 1.0 } else { numbers.fitted.header_use }
    }

    /// Returns what a pass leaves in some session, with the words that an event left; nothing is lost by an oracle.
    pub fn pass(
        &self,
        spec: &SummaryLoss,
        session: u32,
        words: Option<u64>,
        numbers: &AgingNumbers,
    ) -> SummaryPass {
        let prompt = self.prompt.as_ref().and_then(|it| numbers.prompts.get(it));
        if self.is_oracle(MemoryPart::Write) {
            return SummaryPass {
                exact: usize::MAX,
                gists: usize::MAX,
                extract: 1.0,
                heads: 1.0,
                survival: 1.0,
                salience: 0.0,
                recency: 0.0,
            };
        }
        let least = numbers.assumed.words_per_statement.max(1);
        let less = spec.words_less_per_session.saturating_mul(u64::from(session));
        let own = spec.words.or(prompt.and_then(|it| it.words));
        let words = words.or(own).map(|it| it.saturating_sub(less).max(least));
        let followed = prompt.map_or(1.0, |it| followed(it, &self.model));
        let places = words.map_or(usize::MAX, |it| count((it / least) as f64));
        let exact = match prompt.map(|it| it.exact) {
            Some(Exact::Careful) => count(numbers.fitted.careful_statements as f64 * followed).min(places),
            _ => count(numbers.fitted.lossy_exact_share * places as f64),
        };
        SummaryPass {
            exact,
            gists: places.saturating_sub(exact),
            extract: numbers.fitted.extract * followed,
            heads: followed,
            survival: spec.survival.unwrap_or(1.0),
            salience: spec.salience,
            recency: spec.recency,
        }
    }
}

/// Returns the share of a prompt's work that a model does.
fn followed(prompt: &SummariserPrompt, model: &Model) -> f64 {
    if prompt.demanding { model.adherence } else { 1.0 }
}

/// Returns a count of statements, rounded.
fn count(number: f64) -> usize {
    number.round() as usize
}
