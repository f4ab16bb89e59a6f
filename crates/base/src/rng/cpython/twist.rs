//! One turn of the twister: the next block of words, after the recurrence of Matsumoto and Nishimura (1998).

/// How many words further on the one stands that a word is combined with.
const FAR: usize = 397;

/// Replaces a block by the next one.
///
/// A block is turned in three parts. None of them changes the words that it is combined with, so the compiler can turn several
/// words at once.
pub(super) fn twist(block: &mut [u32]) {
    let n_near = block.len() - FAR;
    let (first, rest) = block.split_at_mut(n_near);
    turn(first, &rest[FAR - n_near..], rest[0]);
    let (second, third) = rest.split_at_mut(n_near);
    turn(second, first, third[0]);
    turn(third, second, first[0]);
}

/// Turns some words, which one more word follows.
fn turn(words: &mut [u32], far: &[u32], next: u32) {
    let last = words.len() - 1;
    let far = &far[..=last];
    for at in 0..last {
        words[at] = far[at] ^ turned(words[at], words[at + 1]);
    }
    words[last] = far[last] ^ turned(words[last], next);
}

/// Joins the highest bit of a word with the other bits of the next one.
#[inline]
fn turned(word: u32, next: u32) -> u32 {
    let joined = (word & (1 << 31)) | (next & !(1 << 31));
    joined >> 1 ^ (joined & 1).wrapping_neg() & 0x9908_b0df
}

#[cfg(test)]
mod tests {
    use mt19937::MT19937;
    use rand::Rng as _;

    #[test]
    fn a_turn_is_that_of_the_generator_itself() {
        let mut twister = MT19937::new_with_slice_seed(&[7]);
        let mut block = twister.get_state().to_vec();

        for _ in 0..3 {
            super::twist(&mut block);
            // The first word of a block turns all of it.
            twister.set_index(block.len());
            twister.next_u32();
            assert_eq!(block, twister.get_state());
        }
    }
}
