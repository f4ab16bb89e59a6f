//! Puts values in order by a sort that is compiled once, and not for each type of values: for what is sorted once in a run.

use std::cmp::Ordering;

/// Values that can be put in order; those that are equal keep theirs.
pub trait InOrder<T> {
    /// Puts them in the order of a comparison.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Puts them in the order of a key.
    fn order_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);
}

impl<T> InOrder<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut places: Vec<usize> = (0..self.len()).collect();
        sort(&mut places, &mut |one, other| compare(&self[one], &self[other]));
        take_places(&mut places, &mut |one, other| self.swap(one, other));
    }

    fn order_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.order_by(|one, other| key(one).cmp(&key(other)));
    }
}

/// Sorts places by what stands there.
#[inline(never)]
fn sort(places: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    places.sort_by(|one, other| compare(*one, *other));
}

/// Brings to each place what stands at the place that is named there, cycle by cycle.
#[inline(never)]
fn take_places(places: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut at = start;
        while places[at] != start {
            let next = places[at];
            swap(at, next);
            places[at] = at;
            at = next;
        }
        places[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::InOrder as _;

    #[test]
    fn values_stand_as_a_stable_sort_leaves_them() {
        let mut draw = 1_u64;
        for n in 0..200 {
            let mut ours: Vec<(u64, usize)> = Vec::new();
            for nth in 0..n {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ours.push(((draw >> 40) % 17, nth));
            }
            let mut theirs = ours.clone();
            theirs.sort_by_key(|it| it.0);
            ours.order_by_key(|it| it.0);
            assert_eq!(ours, theirs);
        }
    }
}
