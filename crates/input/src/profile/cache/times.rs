//! How long entries live, and from when they can be read.

use crate::prelude::*;
use serde::{Deserializer, Serializer, de};

/// One duration or a list of them: `"5m"`, `["5m", "1h"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ttls(pub Vec<Duration>);

impl Ttls {
    /// Returns the lifetime of rules that allow only one, in milliseconds.
    pub(super) fn only(&self, problems: &mut Problems) -> Option<u64> {
        if self.0.len() > 1 {
            let help = "write a single duration";
            problems.push_at(Code("ttl-several"), "ttl", "these rules allow only one lifetime", help);
        }
        self.0.first().map(|it| it.0)
    }

    /// Sorts lifetimes into their classes, in milliseconds; `None` if there are none.
    pub(super) fn by_class(&self, problems: &mut Problems) -> Option<[Option<u64>; 2]> {
        let mut classes = [None; 2];
        for ttl in &self.0 {
            let class = &mut classes[TtlClass::from_ms(ttl.0) as usize];
            if class.is_some() {
                let message = format!("`{ttl}` has the same class as another lifetime");
                let help = "write at most one lifetime below an hour and one of an hour or more";
                problems.push_at(Code("ttl-class-twice"), "ttl", message, help);
            }
            *class = Some(ttl.0);
        }
        (!self.0.is_empty()).then_some(classes)
    }
}

impl Serialize for Ttls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Ttls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TtlsVisitor)
    }
}

/// Parses a duration or a list of them.
struct TtlsVisitor;

impl<'de> de::Visitor<'de> for TtlsVisitor {
    type Value = Ttls;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"5m\", or a list of durations")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ttls, E> {
        Duration::deserialize(de::value::StrDeserializer::new(text)).map(|it| Ttls(vec![it]))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, access: A) -> Result<Ttls, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(access)).map(Ttls)
    }
}

/// A class of lifetimes; each has its price. Providers sell 5 or 30 minutes, and 1 or 12 hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TtlClass {
    /// Below an hour.
    #[default]
    Short,
    /// An hour or more.
    Long,
}

impl TtlClass {
    /// Returns the class of a lifetime in milliseconds.
    pub fn from_ms(ttl_ms: u64) -> Self {
        if ttl_ms < 3_600_000 { Self::Short } else { Self::Long }
    }

    /// Returns the lifetime that providers sell under its name, in milliseconds: five minutes, or an hour.
    pub fn usual_ms(self) -> u64 {
        match self {
            Self::Short => 300_000,
            Self::Long => 3_600_000,
        }
    }
}

/// The lifetimes that a provider sells, by class: whether the short one is half an hour, and the long one half a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetimes(pub bool, pub bool);

impl Lifetimes {
    /// Returns their names, by class.
    pub fn names(self) -> [&'static str; 2] {
        [if self.0 { "30m" } else { "5m" }, if self.1 { "12h" } else { "1h" }]
    }
}

/// Whether reading an entry restarts its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// Every use does.
    #[default]
    OnUse,
    /// No use does: the lifetime counts from the write.
    Never,
}

/// From when an entry can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Readable {
    /// The start of its writer's response.
    #[default]
    ResponseStart,
    /// The start of its writer's request.
    RequestStart,
    /// The end of its writer's response.
    ResponseEnd,
}
