//! Counts the words of a text of random letters.

use crate::rng::cpython::{AHEAD, HIGH, temper, temper_high, unit};

/// The words of which letters are made, a pair for each, not yet tempered; at most [`MOST`] of them.
#[derive(Clone, Copy)]
pub struct Letters<'w>(pub(super) &'w [[u32; 2]]);

/// How many letters can be looked at before any is drawn.
pub(super) const MOST: usize = AHEAD / 2;
/// All ones for true, because several are computed at once; 0 for false.
const YES: u32 = u32::MAX;

impl Letters<'_> {
    /// Counts the runs of anything but the last letter of an alphabet of so many.
    pub fn runs_without_last(self, population: u32) -> u64 {
        let last = f64::from(population) - 1.0;
        // Nearly always the high word decides.
        let bar = (last / f64::from(population) * f64::from(1 << HIGH)) as i32;
        // By letter, behind the one before the first, which is as good as the last of the alphabet.
        let mut lasts = [YES; MOST + 1];
        let lasts = &mut lasts[..=self.0.len()];
        if !compare(self.0, bar, &mut lasts[1..]) {
            for (last_or_not, [high, low]) in lasts[1..].iter_mut().zip(self.0) {
                *last_or_not = yes_if(unit(temper(*high), temper(*low)) * f64::from(population) >= last);
            }
        }
        u64::from(count_runs(lasts))
    }
}

/// Tells by the high word of each pair whether it is above a bar; returns not so, if any is too near to tell.
///
/// A loop over places, because a `zip` is a call for each text where it is not inlined.
fn compare(pairs: &[[u32; 2]], bar: i32, above: &mut [u32]) -> bool {
    let mut near = 0;
    let n = above.len().min(pairs.len());
    let (above, pairs) = (&mut above[..n], &pairs[..n]);
    for at in 0..n {
        let high = (temper_high(pairs[at][0]) >> (u32::BITS - HIGH)).cast_signed();
        above[at] = yes_if(high > bar);
        near |= yes_if(high == bar);
    }
    near == 0
}

/// Counts the runs of no that begin after the first.
fn count_runs(answers: &[u32]) -> u32 {
    (1..answers.len()).fold(0_u32, |runs, at| runs.wrapping_sub(answers[at - 1] & !answers[at]))
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
        let mut above = [7; 2];

        assert!(!compare(&[[0, u32::MAX]], 0, &mut [0]));
        assert!(compare(&[[1, 0], [u32::MAX, 0]], 0, &mut above));
        assert_eq!(above, [YES; 2]);
        assert_eq!((count_runs(&[0, YES, 0, 0, YES, YES, 0]), count_runs(&[YES])), (2, 0));
    }

    #[test]
    fn runs_of_any_alphabet_are_those_of_draws_in_turn() {
        let words: Vec<[u32; 2]> = (0..128_u32).map(|it| [it.wrapping_mul(0x9e37_79b9), it]).collect();

        for population in [1, 2, 3, 28, 1_000, u32::MAX] {
            for many in [&words[..], &words[..127], &words[..65], &words[..1], &[]] {
                let last = f64::from(population) - 1.0;
                let is_last = |[high, low]: &[u32; 2]| {
                    unit(temper(*high), temper(*low)) * f64::from(population) >= last
                };
                let text: String = many.iter().map(|it| if is_last(it) { ' ' } else { 'x' }).collect();
                let runs = text.split_whitespace().count() as u64;
                assert_eq!(Letters(many).runs_without_last(population), runs, "{population} {}", many.len());
            }
        }
        assert_eq!(Cpython::new(42).runs_without_last(28, 6), 1);
    }
}
