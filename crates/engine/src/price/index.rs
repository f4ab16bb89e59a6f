//! Requests in the order of their prompts' length with sums from the front, so that a tier is priced by two look-ups.

use super::Bill;
use crate::ledger::{NeedRow, TokenUse};
use crate::prelude::*;
use ctxsim_input::{PriceList, TierReach};

/// Which part of the requests prices can ask for, as they come.
#[derive(Clone, Debug, Default)]
pub struct PriceRows {
    of_role: [Vec<PricedRequest>; 3],
    stored: Vec<ExplicitCacheRow>,
}

#[derive(Clone, Copy, Debug)]
struct PricedRequest {
    prompt: Tokens,
    at_ms: i64,
    tokens: TokenUse,
}

impl Sink for PriceRows {
    fn request(&mut self, row: &RequestRow) {
        let (tokens, at_ms) = (row.tokens(), row.at_ms);
        self.of_role[row.role as usize].push(PricedRequest { prompt: tokens.prompt(), at_ms, tokens });
    }

    fn need(&mut self, _: &NeedRow) {}

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.stored.push(*row);
    }
}

/// A ledger ready to be priced under any number of price lists.
#[derive(Clone, Debug, Default)]
pub struct PriceIndex {
    pub(super) of_role: [Side; 3],
    stored: Vec<ExplicitCacheRow>,
}

/// The requests of one role.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// By length of the prompt.
    rows: Vec<PricedRequest>,
    /// What the first so many rows consumed.
    sums: Vec<TokenUse>,
}

impl From<PriceRows> for PriceIndex {
    fn from(rows: PriceRows) -> Self {
        Self { of_role: rows.of_role.map(Side::new), stored: rows.stored }
    }
}

impl PriceIndex {
    /// Prices the stored contents, each by its own length when it was made, or nothing if some part has no
    /// price.
    pub fn stored(&self, prices: &Prices) -> Option<Cost> {
        let mut sum = Cost::default();
        for row in &self.stored {
            sum += super::stored(prices.at(row.at_ms).of_prompt(row.tokens), row.tokens, row.token_ms)?;
        }
        Some(sum)
    }
}

impl Side {
    fn new(mut rows: Vec<PricedRequest>) -> Self {
        rows.sort_by_key(|it| it.prompt);
        let mut sums = Vec::with_capacity(rows.len() + 1);
        let mut sum = TokenUse::default();
        sums.push(sum);
        for row in &rows {
            sum += row.tokens;
            sums.push(sum);
        }
        Self { rows, sums }
    }

    pub(super) fn bill(&self, prices: &Prices) -> Bill {
        match prices.timeless() {
            Some(list) if list.reach == TierReach::WholeRequest || list.tiers.is_empty() => {
                self.by_length(list)
            }
            _ => self.by_request(prices),
        }
    }

    /// Prices each stretch of lengths at its own rates.
    fn by_length(&self, list: &PriceList) -> Bill {
        let mut bill = Bill::default();
        let (mut rates, mut start) = (&list.base, 0);
        for tier in &list.tiers {
            let end = self.rows.partition_point(|it| it.prompt < tier.from_tokens);
            bill += Bill::at(rates, &self.between(start, end));
            (rates, start) = (&tier.rates, end);
        }
        bill += Bill::at(rates, &self.between(start, self.rows.len()));
        bill
    }

    /// Prices request by request, where the hour or the place of a token decides.
    fn by_request(&self, prices: &Prices) -> Bill {
        let mut bill = Bill::default();
        for row in &self.rows {
            bill += Bill::of_request(prices.at(row.at_ms), &row.tokens);
        }
        bill
    }

    /// Returns what a stretch of rows consumed.
    fn between(&self, start: usize, end: usize) -> TokenUse {
        match (self.sums.get(start), self.sums.get(end)) {
            (Some(before), Some(until)) => *until - *before,
            _ => TokenUse::default(),
        }
    }
}
