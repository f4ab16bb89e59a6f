//! Sizes of recorded parts: the growth between two recorded prompts, split by characters.

use super::transcript::{Exchange, Part};
use crate::trace::Usage;
use crate::units::{Decimal, Tokens};

/// Outputs up to this many tokens are what a stream announces at its start.
pub(super) const PLACEHOLDER_OUTPUT_TOKENS: Tokens = 10;

/// What the parts of a recording weigh.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allotment {
    /// What the first prompt holds beside the parts that the recording shows.
    pub(super) overhead: Tokens,
    /// One size a part, in order.
    pub(super) tokens: Vec<u32>,
    /// How many prompts were smaller than one before them.
    pub(super) n_shrunk: usize,
    /// By how much the sizes before a reply exceed its recorded prompt, at most.
    pub(super) excess_max: Tokens,
    /// Whether text had to be scaled down to fit into the first prompt.
    pub(super) is_scaled: bool,
}

/// Allots the recorded prompts to the parts before them.
pub(super) fn allot(exchanges: &[Exchange], chars_per_token: Decimal) -> Allotment {
    let mut state = State { chars_per_token, allotment: Allotment::default(), open: Vec::new(), known: None };
    let last = exchanges.iter().rposition(|it| it.usage.is_some());
    for (index, exchange) in exchanges.iter().enumerate() {
        state.arrive(exchange.user());
        if let Some(usage) = &exchange.usage {
            state.settle(usage.prompt);
        }
        match exchange.usage.filter(|_| Some(index) == last) {
            Some(usage) => state.answer(&exchange.reply, &usage),
            None => state.arrive(&exchange.reply),
        }
        state.arrive(&exchange.results);
    }
    state.estimate();
    state.allotment
}

/// The walk from prompt to prompt.
struct State {
    chars_per_token: Decimal,
    allotment: Allotment,
    /// The characters of parts that have no size yet.
    open: Vec<u64>,
    /// What is allotted so far, once a prompt is known: the largest prompt.
    known: Option<Tokens>,
}

impl State {
    fn arrive(&mut self, parts: &[Part]) {
        self.open.extend(parts.iter().map(|it| it.characters));
    }

    /// Gives the open parts what a prompt has more than the ones before it.
    fn settle(&mut self, prompt: Tokens) {
        let open = std::mem::take(&mut self.open);
        let Some(known) = self.known.replace(prompt) else {
            let estimates: Vec<Tokens> = open.iter().map(|it| tokens_of(*it, self.chars_per_token)).collect();
            let shown = estimates.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it));
            self.allotment.overhead = prompt.saturating_sub(shown);
            self.allotment.is_scaled = shown > prompt;
            return self.push(&apportion(shown.min(prompt), &estimates));
        };
        if prompt < known {
            self.allotment.n_shrunk += 1;
            self.allotment.excess_max = self.allotment.excess_max.max(known - prompt);
            self.known = Some(known);
        }
        self.push(&apportion(prompt.saturating_sub(known), &open));
    }

    /// Gives the last reply its output, where that is a count and not a placeholder.
    fn answer(&mut self, reply: &[Part], usage: &Usage) {
        if usage.output <= PLACEHOLDER_OUTPUT_TOKENS {
            return self.arrive(reply);
        }
        let characters: Vec<u64> = reply.iter().map(|it| it.characters).collect();
        self.push(&apportion(usage.output, &characters));
    }

    /// Gives the open parts a size by their characters alone.
    fn estimate(&mut self) {
        let open = std::mem::take(&mut self.open);
        let estimates: Vec<Tokens> = open.iter().map(|it| tokens_of(*it, self.chars_per_token)).collect();
        self.push(&estimates);
    }

    fn push(&mut self, tokens: &[Tokens]) {
        self.allotment.tokens.extend(tokens.iter().map(|it| u32::try_from(*it).unwrap_or(u32::MAX)));
    }
}

/// Splits a total in proportion to weights, exactly; the largest remainders get what rounding leaves, of equals the first.
fn apportion(total: Tokens, weights: &[u64]) -> Vec<Tokens> {
    let sum: u128 = weights.iter().map(|it| u128::from(*it)).sum();
    let equal = vec![1; weights.len()];
    let (weights, sum) = if sum == 0 { (equal.as_slice(), equal.len() as u128) } else { (weights, sum) };
    let products = weights.iter().map(|it| u128::from(*it) * u128::from(total));
    let mut shares = Vec::with_capacity(weights.len());
    let mut remainders = Vec::with_capacity(weights.len());
    for (index, product) in products.enumerate() {
        shares.push(Tokens::try_from(product / sum).unwrap_or(Tokens::MAX));
        remainders.push((std::cmp::Reverse(product % sum), index));
    }
    remainders.sort_unstable();
    let placed = shares.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it));
    let left = usize::try_from(total.saturating_sub(placed)).unwrap_or(usize::MAX);
    for (_, index) in remainders.iter().take(left) {
        shares[*index] += 1;
    }
    shares
}

/// Returns what so many characters weigh, rounded up.
fn tokens_of(characters: u64, chars_per_token: Decimal) -> Tokens {
    let fraction = (0..=18).find_map(|places| Some((chars_per_token.scaled(places)?, places)));
    let Some((digits, places)) = fraction.filter(|(digits, _)| *digits > 0) else { return characters };
    let tokens = (u128::from(characters) * 10_u128.pow(places)).div_ceil(u128::from(digits));
    Tokens::try_from(tokens).unwrap_or(Tokens::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_exact_and_the_largest_remainders_get_the_rest() {
        assert_eq!(apportion(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(apportion(7, &[10, 0, 25]), [2, 0, 5]);
        assert_eq!(apportion(5, &[0, 0]), [3, 2], "parts without text share alike");
        assert_eq!(apportion(5, &[]), [0; 0]);
    }

    #[test]
    fn characters_become_tokens_by_the_exact_ratio_rounded_up() {
        let ratio = Decimal::parse("2.5").unwrap();

        assert_eq!(tokens_of(0, ratio), 0);
        assert_eq!(tokens_of(5, ratio), 2);
        assert_eq!(tokens_of(6, ratio), 3);
    }
}
