//! Whole numbers in smaller types: places in lists, and sizes that may be larger than their type.
//!
//! A number of an input file is never narrowed here before it is checked: one that is too large is a problem with its file,
//! line and field. `tests/suite/tidy.rs` counts the uses of [`saturated`], and lets nothing else saturate.

/// A whole number with a largest value.
pub trait Narrow: Copy {
    /// The largest value.
    const MOST: Self;
}

macro_rules! whole {
    ($($number:ty)*) => { $(impl Narrow for $number { const MOST: Self = <$number>::MAX; })* };
}

whole!(u16 u32 u64 usize i64 i128);

/// Returns a size in another type, or the largest one where it is beyond that: for what is computed from checked numbers,
/// and for limits that nothing in the type can exceed.
#[inline]
pub fn saturated<T: Narrow>(size: impl TryInto<T>) -> T {
    size.try_into().unwrap_or(T::MOST)
}

/// Returns a place in a list, or its length, as lists of this simulator hold it: memory ends long before the type does, and
/// what could be longer than a small type is checked where it is read.
#[inline]
pub fn ix<T: Narrow + TryFrom<usize>>(place: usize) -> T {
    debug_assert!(T::try_from(place).is_ok(), "a list is longer than its places can say");
    saturated(place)
}

/// Returns a limit, or the largest number where there is none.
#[inline]
pub fn or_unlimited<T: Narrow>(limit: Option<T>) -> T {
    limit.unwrap_or(T::MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_is_the_largest_number() {
        assert_eq!(saturated::<u32>(7_u64), 7);
        assert_eq!(saturated::<u32>(u64::MAX), u32::MAX);
        assert_eq!(saturated::<i64>(u128::MAX), i64::MAX);
        assert_eq!(ix::<u16>(7), 7);
        assert_eq!(or_unlimited(None::<u32>), u32::MAX);
    }
}
