//! Sizes of recorded parts: the growth between two recorded prompts, the user's text by its characters, the rest split by them.

use super::transcript::{Exchange, Part};
use crate::trace::Usage;
use crate::units::{Decimal, Tokens};

/// What is assumed of sizes that no recording says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting {
    /// Characters to the token of what has no recorded size.
    pub(super) chars_per_token: Decimal,
    /// Characters to the token of what the user types.
    pub(super) user_chars_per_token: Decimal,
    /// Tokens of a user's message beside its text.
    pub(super) user_message_tokens: Tokens,
    /// Outputs up to so many tokens are no counts.
    pub(super) placeholder_output_tokens: Tokens,
    /// A prompt that shrinks by less than this share lost its end.
    pub(super) rewind_share_max: Decimal,
}

/// What the parts of a recording weigh.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allotment {
    /// What the first prompt holds beside the parts that the recording shows.
    pub(super) overhead: Tokens,
    /// One size a part, in order.
    pub(super) tokens: Vec<u32>,
    /// Prompts that shrank, in order.
    pub(super) resets: Vec<Reset>,
    /// How many of them no reset explains.
    pub(super) n_shrunk: usize,
    /// By how much the sizes before a reply exceed its recorded prompt, at most.
    pub(super) excess_max: Tokens,
    /// Whether text had to be scaled down to fit into the first prompt.
    pub(super) is_scaled: bool,
}

/// A prompt that shrank: what the harness took out before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reset {
    /// The request.
    pub(super) exchange: usize,
    /// Whether the request begins a loop.
    pub(super) begins: bool,
    /// How many parts from the first on stay, with what stands for earlier ones; `None` when nothing does.
    pub(super) keeps: Option<usize>,
    /// Tokens of what stands for the others, of which the recording shows nothing.
    pub(super) carried: Tokens,
}

/// Allots the recorded prompts to the parts before them; plain input may be what stands behind a breakpoint.
pub(super) fn allot(exchanges: &[Exchange], counting: Counting, has_breakpoints: bool) -> Allotment {
    let mut state = State {
        counting,
        allotment: Allotment::default(),
        open: Vec::new(),
        n_user: 0,
        known: None,
        kept: Vec::new(),
        carried: 0,
    };
    let last = exchanges.iter().rposition(|it| it.usage.is_some());
    let stable_max = stable_max(exchanges, &counting, has_breakpoints);
    for (index, exchange) in exchanges.iter().enumerate() {
        state.arrive(exchange.user());
        state.n_user = if exchange.begins.is_some() { exchange.user().len() } else { 0 };
        if let Some(usage) = &exchange.usage {
            let tail = if has_breakpoints { usage.uncached } else { 0 };
            state.settle(
                Request { index, begins: exchange.begins.is_some(), tail },
                usage.prompt,
                stable_max,
            );
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

/// Returns how much can have stood in front of every prompt: what the smallest has beside the user's own text.
fn stable_max(exchanges: &[Exchange], counting: &Counting, has_breakpoints: bool) -> Tokens {
    let room = exchanges.iter().filter_map(|exchange| {
        let usage = exchange.usage?;
        let tail = if has_breakpoints { usage.uncached } else { 0 };
        let user: Vec<u64> = exchange.user().iter().map(|it| it.characters).collect();
        Some(usage.prompt.saturating_sub(counting.user_tokens(&user, tail)))
    });
    room.skip(1).min().unwrap_or(Tokens::MAX)
}

/// A request whose prompt is known.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// Its place.
    index: usize,
    /// Whether it begins a loop.
    begins: bool,
    /// What stands behind its last breakpoint.
    tail: Tokens,
}

/// The walk from prompt to prompt.
struct State {
    counting: Counting,
    allotment: Allotment,
    /// The characters of parts that have no size yet.
    open: Vec<u64>,
    /// How many of them, at the end, are the user's.
    n_user: usize,
    /// What is allotted so far, once a prompt is known: the prompt.
    known: Option<Tokens>,
    /// Per part that still stands and has a size: its index and its tokens.
    kept: Vec<(usize, Tokens)>,
    /// Tokens of what stands for parts that a reset took out.
    carried: Tokens,
}

impl State {
    fn arrive(&mut self, parts: &[Part]) {
        self.open.extend(parts.iter().map(|it| it.characters));
    }

    /// Gives the open parts what a prompt has more than the ones before it.
    fn settle(&mut self, request: Request, prompt: Tokens, stable_max: Tokens) {
        let Some(known) = self.known.replace(prompt) else {
            let open = std::mem::take(&mut self.open);
            let estimates: Vec<Tokens> = open.iter().map(|it| self.counting.tokens(*it)).collect();
            let shown = estimates.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it));
            let unseen = prompt.saturating_sub(shown);
            self.allotment.overhead = unseen.min(stable_max);
            self.carried = unseen - self.allotment.overhead;
            if self.carried > 0 {
                let carried = self.carried;
                self.allotment.resets.push(Reset {
                    exchange: request.index,
                    begins: request.begins,
                    keeps: None,
                    carried,
                });
            }
            self.allotment.is_scaled = shown > prompt;
            return self.push(&apportion(shown.min(prompt), &estimates));
        };
        match prompt.checked_sub(known) {
            Some(growth) => self.grow(growth, request.tail),
            None => self.shrink(request, known, prompt),
        }
    }

    /// Splits a growth: the user's parts by their characters, the others share what is left.
    fn grow(&mut self, growth: Tokens, tail: Tokens) {
        let open = std::mem::take(&mut self.open);
        let (others, user) = open.split_at(open.len() - self.n_user.min(open.len()));
        let estimate = self.counting.user_tokens(user, tail);
        let of_user = if others.is_empty() { growth } else { estimate.min(growth) };
        let of_others = if user.is_empty() { growth } else { growth - of_user };
        self.push(&apportion(of_others, others));
        self.push(&apportion(of_user, user));
    }

    /// Finds what must have gone: the end, when the user went back, or all of the history.
    fn shrink(&mut self, request: Request, known: Tokens, prompt: Tokens) {
        let open = std::mem::take(&mut self.open);
        let (gone, user) = open.split_at(open.len() - self.n_user.min(open.len()));
        let estimates: Vec<Tokens> = gone.iter().map(|it| self.counting.tokens(*it)).collect();
        let room = prompt.saturating_sub(self.counting.user_tokens(user, request.tail));
        let front = self.allotment.overhead.saturating_add(self.carried);
        let is_rewind = !user.is_empty() && front <= room && self.counting.is_rewind(known, known - prompt);
        let n_kept = if is_rewind { self.n_within(room - front) } else { 0 };
        let goes = self.kept.get(n_kept).map_or(self.allotment.tokens.len(), |it| it.0);
        let keeps = is_rewind.then_some(goes);
        self.push(&estimates);
        self.kept.truncate(n_kept);
        if !is_rewind {
            self.carried = room.saturating_sub(self.allotment.overhead);
        }
        let rest = prompt.saturating_sub(self.standing());
        self.push(&apportion(if user.is_empty() { 0 } else { rest }, user));
        let carried = if is_rewind { 0 } else { self.carried };
        let Request { index: exchange, begins, .. } = request;
        self.allotment.resets.push(Reset { exchange, begins, keeps, carried });
        let excess = self.standing().abs_diff(prompt);
        if excess > 0 {
            self.allotment.n_shrunk += 1;
            self.allotment.excess_max = self.allotment.excess_max.max(excess);
        }
    }

    /// Returns how many of the parts that stand fit into so many tokens, from the first on.
    fn n_within(&self, room: Tokens) -> usize {
        let mut sum: Tokens = 0;
        let fits = |it: &&(usize, Tokens)| {
            sum = sum.saturating_add(it.1);
            sum <= room
        };
        self.kept.iter().take_while(fits).count()
    }

    /// Returns the tokens of everything that stands and has a size.
    fn standing(&self) -> Tokens {
        let front = self.allotment.overhead.saturating_add(self.carried);
        self.kept.iter().fold(front, |sum, it| sum.saturating_add(it.1))
    }

    /// Gives the last reply its output, where that is a count and not a placeholder.
    fn answer(&mut self, reply: &[Part], usage: &Usage) {
        if usage.output <= self.counting.placeholder_output_tokens {
            return self.arrive(reply);
        }
        let characters: Vec<u64> = reply.iter().map(|it| it.characters).collect();
        self.push(&apportion(usage.output, &characters));
    }

    /// Gives the open parts a size by their characters alone.
    fn estimate(&mut self) {
        let open = std::mem::take(&mut self.open);
        let estimates: Vec<Tokens> = open.iter().map(|it| self.counting.tokens(*it)).collect();
        self.push(&estimates);
    }

    fn push(&mut self, tokens: &[Tokens]) {
        for it in tokens {
            self.kept.push((self.allotment.tokens.len(), *it));
            self.allotment.tokens.push(u32::try_from(*it).unwrap_or(u32::MAX));
        }
    }
}

impl Counting {
    /// Returns what so many characters weigh.
    fn tokens(&self, characters: u64) -> Tokens {
        tokens_of(characters, self.chars_per_token)
    }

    /// Estimates a user's message, with what stands behind the prompt's last breakpoint.
    fn user_tokens(&self, characters: &[u64], tail: Tokens) -> Tokens {
        let sum = characters.iter().fold(0, |sum: u64, it| sum.saturating_add(*it));
        if characters.is_empty() {
            return 0;
        }
        tokens_of(sum, self.user_chars_per_token)
            .saturating_add(self.user_message_tokens)
            .saturating_add(tail)
    }

    /// Returns whether a prompt that lost so much lost its end alone.
    fn is_rewind(&self, known: Tokens, lost: Tokens) -> bool {
        let fraction = (0..=18).find_map(|places| Some((self.rewind_share_max.scaled(places)?, places)));
        fraction.is_some_and(|(digits, places)| {
            u128::from(lost) * 10_u128.pow(places) < u128::from(known) * u128::from(digits)
        })
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
