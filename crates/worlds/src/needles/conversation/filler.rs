//! What messages say beside facts, as numbers of words: what a draw chooses among, and what each choice adds.
//!
//! The words are counted after the templates of the Context Decay Benchmark (clawRxiv 2604.01047, version 1), and the
//! sequential source makes every draw that its script makes, in its order.

use super::choice;
use ctxsim_base::rng::{Cpython, Draw, Lookahead};
use ctxsim_timeline::Kind;

/// Letters of which a run is drawn, the blank being the last.
const LETTERS: u32 = 28;

/// What the parts of a template are drawn from.
trait FillerParts {
    /// Draws a number below a count.
    fn below(&mut self, count: u32) -> u32;

    /// Draws one of so many words; the template's own number counts it.
    #[inline(always)]
    fn word(&mut self, choices: u32) {
        self.below(choices);
    }

    /// Draws a whole number between two; the template's own number counts it.
    #[inline(always)]
    fn number(&mut self, first: u32, last: u32) {
        self.below(last - first + 1);
    }

    /// Draws one of several phrases, of so many words each.
    #[inline(always)]
    fn phrase<const N: usize>(&mut self, words: [u64; N]) -> u64 {
        // A lookahead that sees too few words may draw anything.
        words.get(self.below(N as u32) as usize).copied().unwrap_or(0)
    }

    /// Draws how many letters and blanks follow, between two numbers.
    #[inline(always)]
    fn letters(&mut self, first: u32, last: u32) -> u32 {
        first + self.below(last - first + 1)
    }
}

impl FillerParts for Cpython {
    #[inline(always)]
    fn below(&mut self, count: u32) -> u32 {
        self.below_word(count)
    }
}

impl FillerParts for Lookahead {
    #[inline(always)]
    fn below(&mut self, count: u32) -> u32 {
        self.below_word(count)
    }
}

impl FillerParts for Draw {
    fn below(&mut self, count: u32) -> u32 {
        u32::try_from(self.next_below(u64::from(count))).unwrap_or(0)
    }

    // No draw shifts another, so that one whose result says nothing need not be made.
    #[inline]
    fn word(&mut self, _choices: u32) {}

    #[inline]
    fn number(&mut self, _first: u32, _last: u32) {}
}

/// Says one of the four things that a user says, and counts the words.
#[inline(always)]
fn user(nth: usize, parts: &mut impl FillerParts) -> u64 {
    match nth {
        0 => {
            parts.word(5);
            17 + parts.phrase([1, 2, 2, 1, 1])
        }
        1 => {
            parts.word(5);
            13 + parts.phrase([1, 2, 2, 1, 1])
        }
        2 => {
            parts.word(5);
            16
        }
        _ => {
            let spiked = parts.phrase([2, 2, 2, 2]);
            parts.number(5, 20);
            10 + spiked
        }
    }
}

/// Says one of the four things that an assistant says.
#[inline(always)]
fn assistant(nth: usize, parts: &mut impl FillerParts) -> u64 {
    match nth {
        0 => {
            parts.word(10);
            parts.word(4);
            parts.word(4);
            24
        }
        1 => {
            parts.word(4);
            let state = parts.phrase([2, 3, 2]);
            10 + state + parts.phrase([1, 2, 2, 2])
        }
        2 => {
            parts.word(4);
            parts.number(1, 100);
            parts.number(0, 15);
            parts.number(0, 3);
            16
        }
        _ => {
            parts.number(5, 50);
            parts.word(5);
            22
        }
    }
}

/// Says one of the two things that a tool gives back, and how many letters and blanks follow the words.
#[inline(always)]
fn tool(nth: usize, parts: &mut impl FillerParts) -> (u64, u32) {
    match nth {
        0 => {
            parts.word(10);
            parts.word(3);
            parts.word(5);
            parts.number(1, 500);
            parts.word(4);
            (11, 0)
        }
        _ => {
            parts.word(4);
            parts.word(4);
            parts.word(4);
            parts.number(1, 200);
            parts.number(201, 400);
            (4, parts.letters(40, 120))
        }
    }
}

/// Draws a message from a named stream: who speaks, in which way, and which part of that adds words.
#[inline]
pub(super) fn drawn(dice: &mut Draw) -> (Kind, u64) {
    match choice(3, dice) {
        0 => (Kind::User, user(choice(4, dice), dice)),
        1 => (Kind::Assistant, assistant(choice(4, dice), dice)),
        _ => {
            let (words, letters) = tool(choice(2, dice), dice);
            (Kind::ToolResult, words + runs(letters, dice))
        }
    }
}

/// What can be said in each way, in words.
struct Alternatives {
    users: [u64; 4],
    assistants: [u64; 4],
    tools: [u64; 2],
    /// How many letters and blanks follow what a tool says in its last way, which is drawn last.
    letters: u32,
}

impl Alternatives {
    #[inline(always)]
    fn draw(parts: &mut impl FillerParts) -> Self {
        let users = [user(0, parts), user(1, parts), user(2, parts), user(3, parts)];
        let assistants = [assistant(0, parts), assistant(1, parts), assistant(2, parts), assistant(3, parts)];
        let ((log, _), (quote, letters)) = (tool(0, parts), tool(1, parts));
        Self { users, assistants, tools: [log, quote], letters }
    }

    #[cold]
    #[inline(never)]
    fn draw_in_turn(dice: &mut Cpython) -> Self {
        Self::draw(dice)
    }

    /// Draws the letters, then who speaks, and in which way; letters that are not said are not counted.
    #[inline(always)]
    fn one_of(&self, dice: &mut Cpython) -> Option<(Kind, u64)> {
        let mut upcoming = dice.upcoming();
        let letters = upcoming.letters(self.letters)?;
        let who = upcoming.below_word(3)?;
        let way = upcoming.below_word(if who < 2 { 4 } else { 2 })? as usize;
        let said = match who {
            0 => (Kind::User, self.users[way]),
            1 => (Kind::Assistant, self.assistants[way]),
            _ if way == 0 => (Kind::ToolResult, self.tools[way]),
            _ => (Kind::ToolResult, self.tools[way] + letters.runs_without_last(LETTERS)),
        };
        let n_drawn = upcoming.n_drawn();
        dice.skip(n_drawn);
        Some(said)
    }

    /// Does the same by draws that each wait for the one before.
    #[cold]
    #[inline(never)]
    fn one_in_turn(&self, dice: &mut Cpython) -> (Kind, u64) {
        let [log, quote] = self.tools;
        let tools = [log, quote + dice.runs_without_last(LETTERS, self.letters)];
        match dice.below_word(3) {
            0 => (Kind::User, self.users[dice.below_word(4) as usize]),
            1 => (Kind::Assistant, self.assistants[dice.below_word(4) as usize]),
            _ => (Kind::ToolResult, tools[dice.below_word(2) as usize]),
        }
    }
}

/// Draws a message as the published script does: what every speaker would say in every way, then who speaks, and in which way.
///
/// All of it is drawn on the words that come next, looked at ahead; where these are too few, it is drawn in turn.
pub(super) fn sequential(dice: &mut Cpython) -> (Kind, u64) {
    let mut lookahead = dice.upcoming().lookahead();
    let mut all = Alternatives::draw(&mut lookahead);
    match lookahead.n_drawn() {
        Some(n_drawn) => dice.skip(n_drawn),
        None => all = Alternatives::draw_in_turn(dice),
    }
    all.one_of(dice).unwrap_or_else(|| all.one_in_turn(dice))
}

/// Counts the words of letters and blanks: a 28th of all is a blank.
///
/// There are two letters to a word of the generator, because a 28th of 2^32 is a whole number but for a part in 10^9; there
/// are at most 128.
#[inline]
fn runs(letters: u32, dice: &mut Draw) -> u64 {
    const BAR: u32 = u32::MAX / LETTERS;
    if letters == 0 {
        return 0;
    }
    // Blanks at even places and at odd ones, the first letter's bit being the highest.
    let (mut even, mut odd) = (0_u64, 0_u64);
    let n_pairs = letters.div_ceil(2);
    for _ in 0..n_pairs {
        let bits = dice.next_bits();
        even = even << 1 | u64::from((bits >> 32) as u32 <= BAR);
        odd = odd << 1 | u64::from(bits as u32 <= BAR);
    }
    // What is behind the last letter begins no word.
    odd |= u64::from(letters % 2);
    let begin = 1 << (n_pairs - 1);
    let begun = !even & (odd >> 1 | begin) & (begin | (begin - 1));
    u64::from(begun.count_ones() + (!odd & even).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_same_drawn_ahead_and_in_turn() {
        for seed in 0..20 {
            let mut dice = Cpython::new(seed);
            let mut plain = dice.clone();
            for _ in 0..500 {
                let in_turn = Alternatives::draw_in_turn(&mut plain).one_in_turn(&mut plain);
                assert_eq!(sequential(&mut dice), in_turn);
            }
            assert_eq!(dice.bits(32), plain.bits(32));
        }
    }
}
