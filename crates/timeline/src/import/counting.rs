//! What characters weigh where no recording says, and how a total is split over parts.

use crate::import::prelude::*;

/// What is assumed of sizes that no recording says.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeAssumptions {
    /// Characters to the token of what has no recorded size.
    pub(super) chars_per_token: Decimal,
    /// Characters to the token of what the user types.
    pub(super) user_chars_per_token: Decimal,
    /// Whether the tokens of what the user types are those of the model that was billed, where they were counted.
    pub(super) counts_users: bool,
    /// Tokens of a user's message beside its text.
    pub(super) user_message_tokens: Tokens,
    /// Outputs of at most this many tokens are placeholders, not counts.
    pub(super) placeholder_output_tokens: Tokens,
    /// A prompt that shrinks by less than this share lost its end.
    pub(super) rewind_share_max: Decimal,
}

/// What a part of a user's message says.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserText {
    pub(super) characters: u64,
    /// Its tokens, where they were counted.
    pub(super) tokens: Option<Tokens>,
}

impl SizeAssumptions {
    /// Returns what so many characters weigh.
    pub(super) fn tokens(&self, characters: u64) -> Tokens {
        tokens_of(characters, self.chars_per_token)
    }

    /// Returns what a user's message weighs, with what is after the prompt's last breakpoint: an estimate, unless all of it was counted.
    pub(super) fn user_tokens(&self, parts: &[UserText], tail: Tokens) -> Tokens {
        if parts.is_empty() {
            return 0;
        }
        let counted: Option<Tokens> = parts.iter().map(|it| it.tokens).sum();
        let of_text = counted.filter(|_| self.counts_users).unwrap_or_else(|| {
            let sum = parts.iter().fold(0, |sum: u64, it| sum.saturating_add(it.characters));
            tokens_of(sum, self.user_chars_per_token)
        });
        of_text.saturating_add(self.user_message_tokens).saturating_add(tail)
    }

    /// Returns whether a prompt that lost so much lost its end alone.
    pub(super) fn is_rewind(&self, known: Tokens, lost: Tokens) -> bool {
        let fraction = (0..=18).find_map(|places| Some((self.rewind_share_max.scaled(places)?, places)));
        fraction.is_some_and(|(digits, places)| {
            u128::from(lost) * 10_u128.pow(places) < u128::from(known) * u128::from(digits)
        })
    }
}

/// Splits a total in proportion to weights, exactly; the largest remainders get what rounding leaves, of equals the first.
pub(super) fn apportion(total: Tokens, weights: &[u64]) -> Vec<Tokens> {
    let sum: u128 = weights.iter().map(|it| u128::from(*it)).sum();
    let equal = vec![1; weights.len()];
    let (weights, sum) = if sum == 0 { (equal.as_slice(), equal.len() as u128) } else { (weights, sum) };
    let products = weights.iter().map(|it| u128::from(*it) * u128::from(total));
    let mut shares = Vec::with_capacity(weights.len());
    let mut remainders = Vec::with_capacity(weights.len());
    for (index, product) in products.enumerate() {
        shares.push(saturated(product / sum));
        remainders.push((std::cmp::Reverse(product % sum), index));
    }
    remainders.sort_unstable();
    let placed = shares.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it));
    let left = saturated(total.saturating_sub(placed));
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
    saturated(tokens)
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
