//! What tokens cost under one price list, exactly; a price that nobody gives makes the sum unknown.

use crate::ledger::TokenUse;
use crate::prelude::*;
use ctxsim_base::quantity::Rate;
use ctxsim_input::{PriceList, Rates, TierReach};

/// What requests cost, by what their tokens are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Reads from the cache.
    pub read: Cost,
    pub write: Cost,
    /// Plain input.
    pub uncached: Cost,
    pub output: Cost,
    /// Whether some token has no price; the amounts then leave it out.
    pub is_incomplete: bool,
}

ctxsim_base::quantity::packed!(Bill: [read, write, uncached, output, is_incomplete]);

impl Bill {
    /// Prices tokens at one set of rates.
    pub fn at(rates: &Rates, tokens: &TokenUse) -> Self {
        let mut is_incomplete = false;
        let mut cost = |tokens: Tokens, rate: Option<Rate>| {
            is_incomplete |= tokens > 0 && rate.is_none();
            rate.map_or(Cost::default(), |it| tokens * it)
        };
        let write = cost(tokens.write[0], rates.write(0)) + cost(tokens.write[1], rates.write(1));
        let output = cost(tokens.output, rates.output);
        Self {
            read: tokens.read * rates.read(),
            write,
            uncached: tokens.uncached * rates.input,
            output,
            is_incomplete,
        }
    }

    /// Prices one request, whose length may decide.
    pub fn of_request(list: &PriceList, request: &TokenUse) -> Self {
        match list.reach {
            TierReach::WholeRequest => Self::at(list.of_prompt(request.prompt()), request),
            TierReach::Bracket => Self::in_brackets(list, request, 0),
        }
    }

    /// Prices the tokens of a request's prompt between two places, and returns them; parts that follow one another cost together what the
    /// whole does. A prompt is reads first, then long writes, short writes, plain input.
    pub fn of_part(list: &PriceList, request: &TokenUse, [from, to]: [Tokens; 2]) -> (TokenUse, Self) {
        let part = request.up_to(to).zip(request.up_to(from), Tokens::saturating_sub);
        let bill = match list.reach {
            TierReach::WholeRequest => Self::at(list.of_prompt(request.prompt()), &part),
            TierReach::Bracket => Self::in_brackets(list, &part, from),
        };
        (part, bill)
    }

    /// Prices each token where it stands, so many tokens behind the beginning: reads first, then long writes, short writes, plain input,
    /// output.
    fn in_brackets(list: &PriceList, request: &TokenUse, from: Tokens) -> Self {
        let mut bill = Self::default();
        let starts = list.tiers.iter().map(|it| it.from_tokens.saturating_sub(1));
        let ends = starts.chain([Tokens::MAX]);
        let rates = std::iter::once(&list.base).chain(list.tiers.iter().map(|it| &it.rates));
        let mut left = *request;
        let mut start = from;
        for (rates, end) in rates.zip(ends) {
            let mut room = end.saturating_sub(start);
            let mut take = |tokens: &mut Tokens| {
                let taken = (*tokens).min(room);
                room -= taken;
                *tokens -= taken;
                taken
            };
            let read = take(&mut left.read);
            let long = take(&mut left.write[1]);
            let short = take(&mut left.write[0]);
            let uncached = take(&mut left.uncached);
            let output = if left.prompt() == 0 { std::mem::take(&mut left.output) } else { 0 };
            bill += Self::at(rates, &TokenUse { read, write: [short, long], uncached, output });
            start = start.max(end);
        }
        bill
    }

    /// Returns the sum, or nothing if some token has no price.
    pub fn total(&self) -> Option<Cost> {
        (!self.is_incomplete).then(|| self.known())
    }

    /// Returns the sum of what has a price.
    pub(super) fn known(&self) -> Cost {
        self.read + self.write + self.uncached + self.output
    }
}

ctxsim_base::quantity::sums!(Bill: read, write, uncached, output; or is_incomplete);

/// Returns what it costs to keep tokens for some time, to the nearest picodollar, or nothing if nobody says.
pub fn storage(rates: &Rates, tokens: Tokens, ms: u64) -> Option<Cost> {
    storage_of(rates, u128::from(tokens).checked_mul(u128::from(ms))?)
}

/// Returns what so many tokens times milliseconds of storage cost.
fn storage_of(rates: &Rates, token_ms: u128) -> Option<Cost> {
    const HOUR_MS: u128 = 3_600_000;
    let per_hour = u128::from(rates.storage?.0);
    let product = token_ms.checked_mul(per_hour)?.checked_add(HOUR_MS / 2)?;
    Some(Cost(product / HOUR_MS))
}

/// Returns what stored contents cost: made at the price of a write, else of input, then kept, or nothing if
/// nobody says.
pub(super) fn stored(rates: &Rates, tokens: Tokens, token_ms: u128) -> Option<Cost> {
    Some(tokens * rates.write(0)? + storage_of(rates, token_ms)?)
}
