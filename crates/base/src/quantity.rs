//! Quantities of the simulator: exact decimals, rates, costs, expected numbers. Arithmetic is exact and never wraps.
//!
//! US dollars per million tokens, stored as integer micro-dollars, are picodollars per token: `tokens × rate` needs no rounding, and sums
//! are `u128`. Ratios are exact decimals, and products round down. An expected number (calls, tokens) is rounded once, to a billionth,
//! where a row enters the sums (`Expected`, `quantity/expected.rs`): sums are whole numbers, which no order changes, and their products
//! with rates are exact. A run's expected amounts are rounded once to a picodollar for each kind of token (`price::charged`), so that two
//! runs with the same tokens of a kind pay the same for them under any price list; a total is a sum of whole picodollars (`Amount`), over
//! loads, parts and trials alike. Prices still come after the ledger: no row is kept to round it. Where rows are shown, a request pays what
//! the amount of the run grows by when its rows are added (`price.rs`); such steps add up to the total to the picodollar, and a
//! law of the suite holds that they do. What belongs to the run as a whole (reaction, stored contents, calls of memories, penalties) stands
//! with its last request. What a rate is paid is the cost less the cost without that rate, exactly; ranks, elasticities and break-even
//! points are decided on these whole numbers, so what is equal has no break-even point. Shares and weights (evidence) are floats, folded in
//! row order.

mod expected;
#[cfg(feature = "schema")]
mod schema;

use std::fmt;
use std::ops::{Add, AddAssign, Mul};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use crate::{packed, sums};
pub use expected::{Amount, Expected};

/// Has sums added field by field; what stands behind `max` keeps the larger one, behind `each` is a list of sums, and behind `or` is set once.
#[macro_export]
macro_rules! sums {
    ($type:ty: $($field:ident),+ $(; max $($most:ident),+)? $(; each $($list:ident),+)? $(; or $($flag:ident),+)?) => {
        impl std::ops::AddAssign for $type {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
                $($(self.$most = self.$most.max(other.$most);)+)? $($(self.$flag |= other.$flag;)+)?
                $($(self.$list.iter_mut().zip(other.$list).for_each(|(own, more)| *own += more);)+)?
            }
        }
    };
}

/// A number of tokens: plain and unsigned, because every formula of the engine uses it.
pub type Tokens = u64;

/// The value that means "no limit".
pub const UNLIMITED: Tokens = u64::MAX;

/// The most decimal places.
const PLACES_MAX: u32 = 18;

/// A non-negative decimal stored as `digits / 10^scale`, so that `0.8` is exactly eight tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Decimal {
    digits: u64,
    scale: u32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };
    /// One.
    pub const ONE: Self = Self { digits: 1, scale: 0 };

    /// Converts a float to the shortest decimal that denotes it. `None` if it is negative, not finite, or
    /// longer than 18 digits.
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() || value < 0.0 {
            return None;
        }
        Self::parse(&format!("{value}"))
    }

    /// Parses plain decimal notation, `12` or `0.0625`, of at most 18 digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let plain = !whole.is_empty() && digits.len() <= 18 && digits.bytes().all(|it| it.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten().map(|digits| Self { digits, scale: ix(fraction.len()) })
    }

    /// Returns the product with a number of tokens, rounded down; an unlimited number stays unlimited.
    pub fn share_of(self, tokens: Tokens) -> Tokens {
        if tokens == UNLIMITED {
            return UNLIMITED;
        }
        let product = u128::from(self.digits) * u128::from(tokens) / 10_u128.pow(self.scale);
        saturated(product)
    }

    /// Returns the value times `10^places`, if that is a whole number.
    pub fn scaled(self, places: u32) -> Option<u64> {
        let more = places.checked_sub(self.scale)?;
        self.digits.checked_mul(10_u64.checked_pow(more)?)
    }

    /// Returns the exact product, or `None` if it does not fit.
    pub fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        let product = Self { digits, scale: self.scale.checked_add(other.scale)? }.normal();
        (product.scale <= PLACES_MAX).then_some(product)
    }

    /// Returns the value times `10^places`, or `None` if it does not fit.
    pub fn shifted(self, places: u32) -> Option<Self> {
        match self.scale.checked_sub(places) {
            Some(scale) => Some(Self { scale, ..self }.normal()),
            None => self.scaled(places).map(|digits| Self { digits, scale: 0 }),
        }
    }

    /// Returns the value divided by `10^places`.
    pub fn shrunk(self, places: u32) -> Self {
        Self { scale: self.scale.saturating_add(places), ..self }.normal()
    }

    /// Returns the same value without trailing zeros, so that equal values compare equal.
    fn normal(mut self) -> Self {
        while self.scale > 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Returns the nearest float.
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or_default()
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        let left = u128::from(self.digits) * 10_u128.pow(other.scale);
        let right = u128::from(other.digits) * 10_u128.pow(self.scale);
        Some(left.cmp(&right))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u64.pow(self.scale);
        write!(f, "{}", self.digits / unit)?;
        if self.scale > 0 {
            write!(f, ".{:0width$}", self.digits % unit, width = self.scale as usize)?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::from_f64(value).ok_or_else(|| {
            let why = if value < 0.0 {
                "is below 0: write a number of at least 0"
            } else {
                "has too many digits: write at most 18"
            };
            de::Error::custom(format!("{value} {why}"))
        })
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

/// A price per token in picodollars, which equals micro-dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rate(pub u64);

impl Rate {
    /// Converts US dollars per million tokens; `None` when the price has more than six decimals.
    pub fn from_usd_per_million(price: Decimal) -> Option<Self> {
        price.scaled(6).map(Self)
    }

    /// Returns the rate as a float of dollars per token, for estimates that no bill has.
    pub fn usd(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl Mul<Rate> for Tokens {
    type Output = Cost;

    fn mul(self, rate: Rate) -> Cost {
        Cost(u128::from(self) * u128::from(rate.0))
    }
}

/// An exact amount of money in picodollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub u128);

impl Cost {
    /// Converts an amount in US dollars; `None` when it has more than twelve decimals.
    pub fn from_usd(amount: Decimal) -> Option<Self> {
        amount.scaled(12).map(|it| Self(u128::from(it)))
    }

    /// Returns how far two amounts are apart.
    pub fn apart(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// Returns the nearest float of US dollars, for display and expected values.
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Cost {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(u128::from(times)))
    }
}

// Whole numbers in smaller types: places in lists, and sizes that may be larger than their type.
//
// A number of an input file is never narrowed here before it is checked: one that is too large is a problem with its file,
// line and field. `tests/suite/tidy.rs` counts the uses of [`saturated`], and lets nothing else saturate.

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

// Values written by the places of their fields, for programs of the same version alone: names would be most of the bytes.

/// Has a type written as lists of its fields, in the order given; fields behind `else` are not written, and are read as their defaults.
///
/// A list holds at most sixteen fields.
#[macro_export]
macro_rules! packed {
    ($type:ty: $([$($field:ident),+]),+ $(; else $($rest:ident),+)?) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&($(($(&self.$field,)+),)+), to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let ($(($($field,)+),)+) = serde::Deserialize::deserialize(from)?;
                Ok(Self { $($($field,)+)+ $($($rest: Default::default(),)+)? })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_floors_its_exact_product() {
        let ratio = Decimal::from_f64(0.29).unwrap();

        assert_eq!(ratio.share_of(100), 29, "0.29 × 100 is 28.999… in floats");
        assert_eq!(Decimal::from_f64(0.8).unwrap().share_of(272_001), 217_600);
        assert_eq!(ratio.share_of(UNLIMITED), UNLIMITED);
    }

    #[test]
    fn a_price_per_million_is_a_whole_number_of_picodollars_per_token() {
        let rate = Rate::from_usd_per_million(Decimal::parse("0.003625").unwrap()).unwrap();

        assert_eq!(rate, Rate(3_625));
        assert_eq!(1_000_000 * rate, Cost(3_625_000_000));
        assert_eq!(Rate::from_usd_per_million(Decimal::parse("0.0000001").unwrap()), None);
    }

    #[test]
    fn decimals_move_their_point_exactly() {
        let decimal = |text| Decimal::parse(text).unwrap();

        assert_eq!(decimal("0.000000075").shifted(6), Some(decimal("0.075")));
        assert_eq!(decimal("0.5").shifted(3), Some(decimal("500")));
        assert_eq!(decimal("25000").shrunk(4), decimal("2.5"));
        assert_eq!(decimal("1.1").times(decimal("0.50")), Some(decimal("0.55")));
        assert_eq!(decimal("999999999").times(decimal("99999999999")), None);
    }

    #[test]
    fn decimals_are_shown_as_written() {
        for text in ["0", "12", "0.0625", "0.85"] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Decimal::parse("-1"), None);
        assert_eq!(Decimal::from_f64(f64::NAN), None);
    }

    #[test]
    fn what_fits_stays_and_what_does_not_is_the_largest_number() {
        assert_eq!(saturated::<u32>(7_u64), 7);
        assert_eq!(saturated::<u32>(u64::MAX), u32::MAX);
        assert_eq!(saturated::<i64>(u128::MAX), i64::MAX);
        assert_eq!(ix::<u16>(7), 7);
        assert_eq!(or_unlimited(None::<u32>), u32::MAX);
    }
}
