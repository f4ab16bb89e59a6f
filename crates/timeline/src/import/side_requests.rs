//! Inferred side requests: each turn's from the bills of earlier turns, never from its own.

use super::transcript::Exchange;
use ctxsim_base::quantity::{Decimal, Tokens};

/// The evidence for side requests in this session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideRequestEvidence {
    /// How long after a turn's last reply a side request comes.
    pub(super) delay_ms: u64,
    /// None follows a request of which more tokens than this were not read from the cache.
    pub(super) cold_tokens: Tokens,
    /// One is expected where more than this share of the turns before had one.
    pub(super) share: Decimal,
    /// So many turns with one are taken to be before the first.
    pub(super) prior_turns: u32,
}

/// Returns the requests that begin a turn and before which no side request is expected, in order.
pub(super) fn unexpected(exchanges: &[Exchange], inference: &SideRequestEvidence) -> Vec<usize> {
    let mut unexpected = Vec::new();
    let (mut n_with, mut n_told) = (Tokens::from(inference.prior_turns), Tokens::from(inference.prior_turns));
    for (index, pair) in exchanges.windows(2).enumerate() {
        let [before, turn] = pair else { continue };
        if turn.begins.is_none() {
            continue;
        }
        if n_with <= inference.share.of(n_told) {
            unexpected.push(index + 1);
        }
        if let Some(had_one) = tells(before, turn, inference) {
            n_with += Tokens::from(had_one);
            n_told += 1;
        }
    }
    unexpected
}

/// Returns whether a turn's bill shows that a side request preceded it, or that none did; most misses show neither.
fn tells(before: &Exchange, turn: &Exchange, inference: &SideRequestEvidence) -> Option<bool> {
    let (billed_before, billed) = (before.usage?, turn.usage?);
    let cached_before = billed_before.prompt.saturating_sub(billed_before.uncached);
    if billed.cache_read != cached_before {
        return (billed.cache_read > cached_before).then_some(true);
    }
    let came_ms = before.end_ms?.saturating_add_unsigned(inference.delay_ms);
    let not_read = billed_before.prompt.saturating_sub(billed_before.cache_read);
    let could_come = turn.at_ms? >= came_ms && not_read <= inference.cold_tokens;
    could_come.then_some(false)
}
