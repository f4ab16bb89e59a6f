//! What turns say beside facts, as numbers of words: what a draw chooses among, and what each choice adds.
//!
//! The words are counted after the templates of the Context Decay Benchmark (clawRxiv 2604.01047, version 1), and the
//! sequential source makes every draw that its script makes, in its order.

use super::dice::choice;
use crate::rng::{Cpython, Draw, Window};
use crate::trace::Kind;

/// Letters of which a run is drawn, the blank being the last.
const LETTERS: u32 = 28;

/// What the parts of a template are drawn from.
trait Parts {
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
        // A window that shows too few words may draw anything.
        words.get(self.below(N as u32) as usize).copied().unwrap_or(0)
    }

    /// Draws how many letters and blanks follow, between two numbers.
    #[inline(always)]
    fn letters(&mut self, first: u32, last: u32) -> u32 {
        first + self.below(last - first + 1)
    }
}

impl Parts for Cpython {
    #[inline(always)]
    fn below(&mut self, count: u32) -> u32 {
        self.below_word(count)
    }
}

impl Parts for Window {
    #[inline(always)]
    fn below(&mut self, count: u32) -> u32 {
        self.below_word(count)
    }
}

impl Parts for Draw {
    #[inline]
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
fn user(nth: usize, parts: &mut impl Parts) -> u64 {
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
fn assistant(nth: usize, parts: &mut impl Parts) -> u64 {
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
fn tool(nth: usize, parts: &mut impl Parts) -> (u64, u32) {
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

/// Draws a turn from a named stream: who speaks, in which way, and what of that adds words.
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

/// Draws a turn as the published script does: what every speaker would say in every way, then who speaks, and in which way.
///
/// All of it is drawn on the words that come next, looked at ahead; where these are too few, it is drawn in turn.
pub(super) fn sequential(dice: &mut Cpython) -> (Kind, u64) {
    let mut window = dice.upcoming().window();
    let mut said = every(&mut window);
    match window.n_drawn() {
        Some(n_drawn) => dice.skip(n_drawn),
        None => said = every_in_turn(dice),
    }
    one_of(&said, dice).unwrap_or_else(|| one_in_turn(&said, dice))
}

/// What is said in each way, in words: by a user, by an assistant, and by a tool with the letters that follow.
type Said = ([u64; 4], [u64; 4], [(u64, u32); 2]);

/// Draws all that can be said.
#[inline(always)]
fn every(parts: &mut impl Parts) -> Said {
    let users = [user(0, parts), user(1, parts), user(2, parts), user(3, parts)];
    let assistants = [assistant(0, parts), assistant(1, parts), assistant(2, parts), assistant(3, parts)];
    (users, assistants, [tool(0, parts), tool(1, parts)])
}

#[cold]
#[inline(never)]
fn every_in_turn(dice: &mut Cpython) -> Said {
    every(dice)
}

/// Draws the letters, then which of all is said; letters that are not said are not counted.
#[inline(always)]
fn one_of((users, assistants, tools): &Said, dice: &mut Cpython) -> Option<(Kind, u64)> {
    let mut upcoming = dice.upcoming();
    let letters = [upcoming.letters(tools[0].1)?, upcoming.letters(tools[1].1)?];
    let who = upcoming.below_word(3)?;
    let way = upcoming.below_word(if who < 2 { 4 } else { 2 })? as usize;
    let said = match who {
        0 => (Kind::User, users[way]),
        1 => (Kind::Assistant, assistants[way]),
        _ => (Kind::ToolResult, tools[way].0 + letters[way].runs_without_last(LETTERS)),
    };
    let n_drawn = upcoming.n_drawn();
    dice.skip(n_drawn);
    Some(said)
}

#[cold]
#[inline(never)]
fn one_in_turn((users, assistants, tools): &Said, dice: &mut Cpython) -> (Kind, u64) {
    let tools = tools.map(|(words, letters)| words + dice.runs_without_last(LETTERS, letters));
    match dice.below_word(3) {
        0 => (Kind::User, users[dice.below_word(4) as usize]),
        1 => (Kind::Assistant, assistants[dice.below_word(4) as usize]),
        _ => (Kind::ToolResult, tools[dice.below_word(2) as usize]),
    }
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
