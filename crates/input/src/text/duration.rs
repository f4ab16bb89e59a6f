//! Durations, written alike in all kinds of input.

use crate::prelude::*;
use serde::{Deserializer, Serializer, de};

/// A duration in milliseconds, written with its unit: `"90s"`, `"5m"`, `"1h"`, `"250ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

impl Duration {
    /// The units, longest first so that a whole number of them is found.
    const UNITS: [(&'static str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

    /// Parses `"5m"`; `None` if the number or its unit is missing or unknown.
    pub fn parse(text: &str) -> Option<Self> {
        let split = text.find(|it: char| !it.is_ascii_digit())?;
        let (number, unit) = text.split_at(split);
        let (_, ms) = Self::UNITS.iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(*ms).map(Self)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, ms) = Self::UNITS.iter().find(|(_, ms)| self.0.is_multiple_of(*ms)).unwrap_or(&("ms", 1));
        write!(f, "{}{unit}", self.0 / ms)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not a duration: write a whole number and ms, s, m, h or d, as in \"5m\""
            ))
        })
    }
}
