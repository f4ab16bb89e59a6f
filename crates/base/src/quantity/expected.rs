//! Expected numbers and signed amounts of money, as whole multiples of a small unit: what is added up does not depend on the order.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use serde::{Deserialize, Serialize};

use super::{Cost, Rate, Tokens, saturated};

/// How many units one has.
const UNIT: i128 = 1_000_000_000;
/// Up to here, a float plus a half is exact.
const EXACT: f64 = 4_503_599_627_370_496.0;

/// An expected number of calls or tokens, in billionths. A row is rounded once; sums of rows, and their products with whole numbers,
/// are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expected(i128);

/// A signed amount of money, in picodollars: a difference, or what is expected to be paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub i128);

impl Expected {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Rounds a float to a billionth.
    #[inline]
    pub fn from_f64(number: f64) -> Self {
        let units = number * UNIT as f64;
        if units.abs() < EXACT {
            // Most are this small, and a word is cheaper than two.
            return Self(i128::from((units + 0.5_f64.copysign(units)) as i64));
        }
        Self::of_large(number)
    }

    /// The same for numbers whose product with the unit would round what is whole. Apart: where it is inlined, it is worked out beside each
    /// small number, in case.
    #[cold]
    #[inline(never)]
    fn of_large(number: f64) -> Self {
        let whole = number.trunc();
        Self(
            (whole as i128)
                .saturating_mul(UNIT)
                .saturating_add(((number - whole) * UNIT as f64).round() as i128),
        )
    }

    /// Returns the nearest float.
    #[inline]
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }

    /// Returns its share of several, to the nearest billionth.
    pub fn over(self, n: u64) -> Self {
        Self(divided(self.0, i128::from(n.max(1))))
    }

    /// Returns what so many tokens cost, to the nearest picodollar.
    #[inline]
    pub fn at(self, rate: Rate) -> Amount {
        self.paid(i128::from(rate.0))
    }

    /// Returns what so many of something cost, to the nearest picodollar.
    pub fn each(self, cost: Cost) -> Amount {
        self.paid(Amount::from(cost).0)
    }

    /// Returns a number of units for each, to the nearest whole.
    #[inline]
    pub fn whole(self, units: u64) -> i128 {
        self.paid(i128::from(units)).0
    }

    #[inline]
    fn paid(self, picodollars: i128) -> Amount {
        Amount(divided(self.0.saturating_mul(picodollars), UNIT))
    }
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Rounds US dollars to a picodollar.
    pub fn of_usd(usd: f64) -> Self {
        Self((usd * 1e12).round() as i128)
    }

    /// Returns the nearest float of US dollars.
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// Returns its share of several, to the nearest picodollar.
    pub fn over(self, n: u64) -> Self {
        Self(divided(self.0, i128::from(n.max(1))))
    }

    /// Returns a number of times of it, to the nearest picodollar of a float; once is exact.
    pub fn times(self, number: f64) -> Self {
        // A product with 1 would lose what a float does not hold.
        if number == 1.0 { self } else { Self::of_usd(self.usd() * number) }
    }
}

/// Divides, and rounds to the nearest; a half away from 0.
#[inline]
fn divided(number: i128, by: i128) -> i128 {
    let half = if number < 0 { -by / 2 } else { by / 2 };
    // Almost all numbers fit a word, whose division is several times as fast.
    match (i64::try_from(number.saturating_add(half)), i64::try_from(by)) {
        (Ok(number), Ok(by)) => i128::from(number / by),
        _ => number.saturating_add(half) / by,
    }
}

impl From<Tokens> for Expected {
    fn from(tokens: Tokens) -> Self {
        Self(i128::from(tokens) * UNIT)
    }
}

impl From<Cost> for Amount {
    fn from(cost: Cost) -> Self {
        Self(saturated(cost.0))
    }
}

/// Returns a sum that two words do not hold: the limit on its side.
#[cold]
fn full<T: Add<Output = T>>(one: T, other: T) -> T {
    one + other
}

macro_rules! adds {
    ($($type:ident)+) => { $(
        impl Add for $type {
            type Output = Self;

            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl Sub for $type {
            type Output = Self;

            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl AddAssign for $type {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                // The branch is never taken, and cheaper than the choice of a limit that nothing reaches.
                match self.0.checked_add(other.0) {
                    Some(sum) => self.0 = sum,
                    None => *self = full(*self, other),
                }
            }
        }

        impl Neg for $type {
            type Output = Self;

            fn neg(self) -> Self {
                Self(self.0.saturating_neg())
            }
        }

        impl Sum for $type {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self(0), Add::add)
            }
        }

        impl Mul<u64> for $type {
            type Output = Self;

            #[inline]
            fn mul(self, times: u64) -> Self {
                Self(self.0.saturating_mul(i128::from(times)))
            }
        }
    )+ };
}

adds!(Expected Amount);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_expected_numbers_do_not_depend_on_their_order() {
        let [tenth, fifth, most] = [0.1, 0.2, 0.7].map(Expected::from_f64);

        assert_eq!(tenth + fifth + most, Expected::from(1));
        assert_eq!(most + (fifth + tenth), Expected::from(1));
        assert_eq!(Expected::from_f64(-0.3) + tenth + fifth, Expected::ZERO);
        assert_eq!(Expected::from_f64(1e15), Expected::from(1_000_000_000_000_000));
    }

    #[test]
    fn what_is_wider_than_a_word_is_read_as_it_was_written() {
        for written in [Amount(-1 << 100), Amount(i128::MAX), Amount(0)] {
            let text = serde_json::to_string(&[written]).unwrap();
            assert_eq!(serde_json::from_str::<[Amount; 1]>(&text).unwrap(), [written]);
        }
        let text = serde_json::to_string(&Expected::from_f64(-1e20)).unwrap();
        assert_eq!(serde_json::from_str::<Expected>(&text).unwrap(), Expected::from_f64(-1e20));
    }

    #[test]
    fn money_is_rounded_once_and_to_the_nearest_picodollar() {
        let rate = Rate(3_000_001);

        assert_eq!(Expected::from_f64(0.5).at(rate), Amount(1_500_001), "a half goes up");
        assert_eq!(Expected::from_f64(-0.5).at(rate), Amount(-1_500_001));
        assert_eq!(Expected::from_f64(0.25).each(Cost(6)), Amount(2));
        assert_eq!(Amount(10).over(4), Amount(3));
        assert_eq!(Amount::of_usd(0.1) + Amount::of_usd(0.2), Amount::of_usd(0.3));
    }
}
