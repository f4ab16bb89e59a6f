//! The twister's state for a seed, as its authors' `init_by_array` sets it up.
//!
//! It begins with a state that is the same for all seeds, which is worked out when the code is compiled.

use super::BLOCK;

/// The state of `init_genrand(19650218)`.
const COMMON: [u32; BLOCK] = {
    let mut state = [19_650_218; BLOCK];
    let mut at = 1;
    while at < BLOCK {
        state[at] = mixed(state[at - 1], 1_812_433_253).wrapping_add(at as u32);
        at += 1;
    }
    state
};

/// Returns the state for a key of at least one word and fewer than a state has.
pub(super) fn state(key: &[u32]) -> [u32; BLOCK] {
    let mut state = COMMON;
    let mut before = state[0];
    // Once around and one place more with the key, then on from there to the end, and the first place last.
    for (at, (nth, word)) in (1..BLOCK).chain([1]).zip((0_u32..).zip(key).cycle()) {
        before = (state[at] ^ mixed(before, 1_664_525)).wrapping_add(*word).wrapping_add(nth);
        state[at] = before;
    }
    for at in (2..BLOCK).chain([1]) {
        before = (state[at] ^ mixed(before, 1_566_083_941)).wrapping_sub(at as u32);
        state[at] = before;
    }
    state[0] = 1 << 31;
    state
}

const fn mixed(word: u32, factor: u32) -> u32 {
    (word ^ (word >> 30)).wrapping_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_that_of_the_generator_itself() {
        for key in [&[0][..], &[42], &[u32::MAX], &[7, 1], &[0, u32::MAX], &[1, 2, 3]] {
            let twister = mt19937::MT19937::new_with_slice_seed(key);

            assert_eq!(&state(key), twister.get_state(), "{key:?}");
        }
    }
}
