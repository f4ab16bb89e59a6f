//! Draws shared by both random generators.

use ctxsim_base::rng::{Cpython, Draw};

/// A source of draws.
pub(super) trait Dice {
    /// Draws a number below a count.
    fn below(&mut self, count: u64) -> u64;
    /// Draws a whole number between two, both included.
    fn between(&mut self, first: u64, last: u64) -> u64;
    /// Draws a number between two.
    fn uniform(&mut self, from: f64, to: f64) -> f64;
}

impl Dice for Cpython {
    #[inline]
    fn below(&mut self, count: u64) -> u64 {
        self.below(count)
    }

    #[inline]
    fn between(&mut self, first: u64, last: u64) -> u64 {
        self.between(first, last)
    }

    #[inline]
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        self.uniform(from, to)
    }
}

impl Dice for Draw {
    #[inline]
    fn below(&mut self, count: u64) -> u64 {
        self.next_below(count)
    }

    #[inline]
    fn between(&mut self, first: u64, last: u64) -> u64 {
        let reach = last.saturating_sub(first);
        let drawn = match reach.checked_add(1) {
            Some(count) => self.next_below(count),
            None => self.next_bits(),
        };
        first + drawn
    }

    #[inline]
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.next_unit()
    }
}

/// Draws one of several alternatives.
#[inline]
pub(super) fn choice(count: usize, dice: &mut impl Dice) -> usize {
    let drawn = dice.below(count as u64);
    usize::try_from(drawn).unwrap_or(0)
}
