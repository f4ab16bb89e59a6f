//! Blocks in order of use, linked by index: the oldest leaves when the store is full.

use ctxsim_input::profile::{Blocks, Touch};

/// Stands for "not in the store"; a block's place is its number plus one, and place 0 closes the ring.
const ABSENT: u32 = u32::MAX;

/// The most blocks that can be told apart.
pub const BLOCKS_MAX: u32 = ABSENT - 1;

/// A block's neighbours in the order of use.
#[derive(Clone, Copy, Debug)]
struct UseNeighbours {
    newer: u32,
    older: u32,
}

/// Which blocks a store holds.
#[derive(Clone, Debug)]
pub struct Lru {
    places: Vec<UseNeighbours>,
    capacity: Option<u32>,
    touch: Touch,
    n_held: u32,
}

impl Lru {
    /// Returns an empty store.
    pub fn new(rules: &Blocks) -> Self {
        let ring = UseNeighbours { newer: 0, older: 0 };
        Self { places: vec![ring], capacity: rules.capacity_blocks, touch: rules.touch, n_held: 0 }
    }

    /// Makes room for blocks numbered from 0 to below `n_blocks`.
    pub fn reserve(&mut self, n_blocks: u32) {
        let absent = UseNeighbours { newer: ABSENT, older: ABSENT };
        let n_places = n_blocks.min(BLOCKS_MAX) as usize + 1;
        if self.places.len() < n_places {
            self.places.resize(n_places, absent);
        }
    }

    /// Takes a prompt: returns how many of its first blocks the store held, then holds all of it.
    ///
    /// Numbers for which no room was made are neither found nor held.
    #[inline]
    pub fn submit(&mut self, blocks: &[u32]) -> usize {
        let n_hits = blocks.iter().take_while(|it| self.holds(**it)).count();
        match (self.capacity, self.touch) {
            (None, _) => blocks[n_hits..].iter().for_each(|it| self.mark(*it)),
            (Some(capacity), Touch::HeadFirst) => blocks.iter().for_each(|it| self.use_one(*it, capacity)),
            (Some(capacity), Touch::TailFirst) => {
                blocks.iter().rev().for_each(|it| self.use_one(*it, capacity));
            }
        }
        n_hits
    }

    /// Returns whether the store holds a block.
    #[inline]
    pub fn holds(&self, block: u32) -> bool {
        self.places.get(block as usize + 1).is_some_and(|it| it.older != ABSENT)
    }

    /// Holds a block for good; a store without a capacity keeps no order.
    #[inline]
    fn mark(&mut self, block: u32) {
        if let Some(place) = self.places.get_mut(block as usize + 1) {
            place.older = 0;
        }
    }

    /// Makes a block the newest; the oldest leaves when there is no room.
    #[inline]
    fn use_one(&mut self, block: u32, capacity: u32) {
        let at = block as usize + 1;
        let Some(&UseNeighbours { newer, older }) = self.places.get(at) else { return };
        if older == ABSENT {
            if self.n_held == capacity {
                self.evict();
            }
            self.n_held += 1;
        } else {
            self.places[newer as usize].older = older;
            self.places[older as usize].newer = newer;
        }
        let newest = self.places[0].older;
        self.places[at] = UseNeighbours { newer: 0, older: newest };
        self.places[newest as usize].newer = block + 1;
        self.places[0].older = block + 1;
    }

    /// Lets the oldest block go.
    #[inline]
    fn evict(&mut self) {
        let oldest = self.places[0].newer as usize;
        if oldest == 0 {
            return;
        }
        let newer = self.places[oldest].newer;
        self.places[newer as usize].older = 0;
        self.places[0].newer = newer;
        self.places[oldest].older = ABSENT;
        self.n_held -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn store(capacity_blocks: Option<u32>, touch: Touch) -> Lru {
        let mut store = Lru::new(&Blocks { block_tokens: 16, capacity_blocks, touch });
        store.reserve(100);
        store
    }

    /// Does the same with a plain list, oldest first.
    fn naive(held: &mut Vec<u32>, blocks: &[u32], capacity: usize, touch: Touch) -> usize {
        let n_hits = blocks.iter().take_while(|it| held.contains(it)).count();
        let order: Vec<u32> = match touch {
            Touch::HeadFirst => blocks.to_vec(),
            Touch::TailFirst => blocks.iter().rev().copied().collect(),
        };
        for block in order {
            held.retain(|it| *it != block);
            if held.len() == capacity {
                held.remove(0);
            }
            held.push(block);
        }
        n_hits
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_list_holds(
            prompts in prop::collection::vec(prop::collection::vec(0_u32..40, 0..30), 0..40),
            capacity in 1_u32..30,
            is_head_first: bool,
        ) {
            let touch = if is_head_first { Touch::HeadFirst } else { Touch::TailFirst };
            let mut store = store(Some(capacity), touch);
            let mut held = Vec::new();
            for prompt in &prompts {
                prop_assert_eq!(store.submit(prompt), naive(&mut held, prompt, capacity as usize, touch));
            }
        }
    }
}
