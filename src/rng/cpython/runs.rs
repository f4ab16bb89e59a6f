//! Counts the words of a text of random letters.

use super::{HIGH, temper, temper_high, unit};

/// The words of which letters are made, a pair for each, not yet tempered.
#[derive(Clone, Copy)]
pub(crate) struct Letters<'w>(pub(super) &'w [[u32; 2]]);

/// How many letters are compared at once.
const MOST: usize = 128;
/// Stands for yes, where several are worked out at once; 0 stands for no.
const YES: u32 = u32::MAX;

impl Letters<'_> {
    /// Counts the runs of anything but the last letter of an alphabet of so many.
    pub(crate) fn runs_without_last(self, population: u32) -> u64 {
        let last = f64::from(population) - 1.0;
        // Nearly always the high word decides.
        let bar = (last / f64::from(population) * f64::from(1 << HIGH)) as i32;
        // By letter, behind the one before the first, which is as good as the last of the alphabet.
        let mut is_last = [YES; MOST + 1];
        let mut runs = 0;
        for pairs in self.0.chunks(MOST) {
            let drawn = &mut is_last[..=pairs.len()];
            if !compare(pairs, bar, &mut drawn[1..]) {
                for (is_last, [high, low]) in drawn[1..].iter_mut().zip(pairs) {
                    *is_last = yes_if(unit(temper(*high), temper(*low)) * f64::from(population) >= last);
                }
            }
            runs += u64::from(begun(drawn));
            is_last[0] = drawn[pairs.len()];
        }
        runs
    }
}

/// Tells by the high word of each pair whether it is above a bar; returns not so, if any is too near to tell.
fn compare(pairs: &[[u32; 2]], bar: i32, is_above: &mut [u32]) -> bool {
    let mut is_near = 0;
    for (is_above, [high, _]) in is_above.iter_mut().zip(pairs) {
        let high = (temper_high(*high) >> (u32::BITS - HIGH)).cast_signed();
        *is_above = yes_if(high > bar);
        is_near |= yes_if(high == bar);
    }
    is_near == 0
}

/// Counts the runs of no that begin behind the first.
fn begun(is: &[u32]) -> u32 {
    is.iter().zip(&is[1..]).fold(0_u32, |begun, (before, is)| begun.wrapping_sub(before & !is))
}

#[inline]
fn yes_if(is: bool) -> u32 {
    0_u32.wrapping_sub(u32::from(is))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Cpython;

    #[test]
    fn a_high_word_at_the_bar_does_not_decide() {
        let mut is_above = [7; 2];

        assert!(!compare(&[[0, u32::MAX]], 0, &mut [0]));
        assert!(compare(&[[1, 0], [u32::MAX, 0]], 0, &mut is_above));
        assert_eq!(is_above, [YES; 2]);
        assert_eq!((begun(&[0, YES, 0, 0, YES, YES, 0]), begun(&[YES])), (2, 0));
    }

    #[test]
    fn runs_of_any_alphabet_are_those_of_draws_in_turn() {
        let words: Vec<[u32; 2]> = (0..1_000_u32).map(|it| [it.wrapping_mul(0x9e37_79b9), it]).collect();

        for population in [1, 2, 3, 28, 1_000, u32::MAX] {
            for many in [&words[..], &words[..128], &words[..129], &words[..1], &[]] {
                let last = f64::from(population) - 1.0;
                let is_last = |[high, low]: &[u32; 2]| {
                    unit(temper(*high), temper(*low)) * f64::from(population) >= last
                };
                let text: String = many.iter().map(|it| if is_last(it) { ' ' } else { 'x' }).collect();
                let runs = text.split_whitespace().count() as u64;
                assert_eq!(Letters(many).runs_without_last(population), runs, "{population} {}", many.len());
            }
        }
        assert_eq!(Cpython::new(42_u64).runs_without_last(28, 6), 1);
    }
}
