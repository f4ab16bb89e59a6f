//! A guard's bound as written: a number, a percentage, or a share of the model's limits.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A bound: a number, `"3%"`, or a share of a limit of the profile, as in `"0.9 window"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardBound {
    /// The number.
    pub number: f64,
    /// The unit of the number.
    pub of: BoundOf,
}

/// The unit of a bound's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundOf {
    /// None: the number is the bound.
    One,
    /// Percent.
    Percent,
    /// Shares of the profile's context window.
    Window,
    /// Shares of the profile's longest prompt.
    Limit,
}

impl GuardBound {
    /// Returns the bound as a plain share; in a checked suite, only a percentage has one.
    pub fn share(self) -> f64 {
        if self.of == BoundOf::Percent { self.number / 100.0 } else { self.number }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, of) = match text.strip_suffix('%') {
            Some(number) => (number, BoundOf::Percent),
            None => match text.split_once(char::is_whitespace)? {
                (number, of) if of.trim() == "window" => (number, BoundOf::Window),
                (number, of) if of.trim() == "limit" => (number, BoundOf::Limit),
                _ => return None,
            },
        };
        let number = number.trim().parse::<f64>().ok().filter(|it| it.is_finite())?;
        Some(Self { number, of })
    }
}

impl fmt::Display for GuardBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            BoundOf::One => write!(f, "{}", self.number),
            BoundOf::Percent => write!(f, "{}%", self.number),
            BoundOf::Window => write!(f, "{} window", self.number),
            BoundOf::Limit => write!(f, "{} limit", self.number),
        }
    }
}

impl Serialize for GuardBound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.of {
            BoundOf::One => serializer.serialize_f64(self.number),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for GuardBound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoundVisitor)
    }
}

/// Parses a number, or a text with a number and its unit.
struct BoundVisitor;

impl de::Visitor<'_> for BoundVisitor {
    type Value = GuardBound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, `\"3%\"`, `\"0.9 window\"` or `\"0.9 limit\"`")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<GuardBound, E> {
        Ok(GuardBound { number, of: BoundOf::One })
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<GuardBound, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<GuardBound, E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<GuardBound, E> {
        GuardBound::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_says_what_it_is_a_part_of() {
        let bound = |text: &str| GuardBound::parse(text).map(|it| (it.number, it.of));

        assert_eq!(bound("3%"), Some((3.0, BoundOf::Percent)));
        assert_eq!(bound("0.9 window"), Some((0.9, BoundOf::Window)));
        assert_eq!(bound("1 limit"), Some((1.0, BoundOf::Limit)));
        assert_eq!(bound("3"), None, "a number needs no quotes");
        assert_eq!(bound("0.9 windows"), None);
        assert_eq!(GuardBound::parse("3%").unwrap().to_string(), "3%");
    }
}
