//! A reference simulator's rule: the previous prompt is cached, up to where the policy is known to have edited.
//!
//! Follows selfonomy/duckagent @06550f4, `benchmark/context_policy_benchmark.py`. It does not compare
//! content; it only knows how much of the previous prompt the policy's passes left alone. The model's output
//! is not part of that.

use super::{CacheRule, EntryFound, Fate, Finding, RequestView};
use crate::prelude::*;
use ctxsim_input::Steps;

/// The previous prompt's length.
pub(super) struct PrefixCap {
    steps: Steps,
    previous: Tokens,
}

impl PrefixCap {
    pub(super) fn new(steps: Steps) -> Self {
        Self { steps, previous: 0 }
    }
}

impl CacheRule for PrefixCap {
    fn needs_chain(&self) -> bool {
        false
    }

    #[inline]
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let common = self.previous.min(request.intact_tokens);
        self.previous = request.prompt;
        let read = self.steps.floor(common).min(request.prompt);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at: None }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        if self.previous == 0 {
            return Finding::default();
        }
        let common = self.previous.min(request.intact_tokens);
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
