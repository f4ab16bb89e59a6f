//! A reference simulator's rule: the previous prompt is cached, up to a cap where the policy is known to have edited.
//!
//! After selfonomy/duckagent @06550f4, `benchmark/context_policy_benchmark.py`. It knows no content: any pass over the
//! active turn, and any edit before a request, is taken to break the prompt behind the stable prefix; an edit at a
//! turn's end breaks it behind the turn's user message. What the model wrote is not part of the previous prompt.

use super::{CacheRule, EntryFound, Fate, Finding, RequestView};
use crate::ledger::CacheUse;
use crate::model::policy::Moment;
use crate::model::profile::Steps;
use crate::projection::Visit;
use crate::quantity::Tokens;

/// The previous prompt's length.
pub(super) struct PrefixCap {
    steps: Steps,
    previous: Tokens,
}

impl PrefixCap {
    pub(super) fn new(steps: Steps) -> Self {
        Self { steps, previous: 0 }
    }

    /// Returns up to where the previous prompt is taken to stand.
    #[inline]
    fn common(&self, request: &RequestView<'_>) -> Tokens {
        request.visits.iter().fold(self.previous, |common, visit| common.min(cap(visit, request.stable)))
    }
}

/// Returns up to where a pass leaves the previous prompt as it was.
fn cap(visit: &Visit, stable: Tokens) -> Tokens {
    match visit.moment {
        Moment::Entry => Tokens::MAX,
        Moment::TurnEnd if visit.n_changed > 0 => visit.tokens_before_steps,
        Moment::TurnStart | Moment::Request if visit.n_changed > 0 || visit.is_active => stable,
        _ => Tokens::MAX,
    }
}

impl CacheRule for PrefixCap {
    fn needs_chain(&self) -> bool {
        false
    }

    #[inline]
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let common = self.common(request);
        self.previous = request.prompt;
        let read = self.steps.floor(common).min(request.prompt);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at: None }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        if self.previous == 0 {
            return Finding::default();
        }
        let common = self.common(request);
        let fate = match self.steps.floor(common).min(request.prompt) {
            0 if common >= self.steps.min => Fate::Capped(common),
            0 => Fate::TooShort { min_tokens: self.steps.min },
            _ if common < self.previous => Fate::Capped(common),
            read => Fate::Read(read),
        };
        let entry = EntryFound { slot: None, tokens: self.previous, age_ms: None, life_ms: None, fate };
        Finding { marks: Vec::new(), entries: vec![entry] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// selfonomy/duckagent, `test_context_policy_benchmark.py`: the billable prefix grows in steps from the minimum.
    #[test]
    fn the_reference_bills_prefixes_in_steps_of_128_from_1024_on() {
        let steps = Steps { min: 1_024, step: 128 };

        let billed = [1_023, 1_024, 1_151, 1_152].map(|common| steps.floor(common));

        assert_eq!(billed, [0, 1_024, 1_024, 1_152]);
    }
}
