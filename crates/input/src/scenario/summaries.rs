//! What a model's summary still says of what it replaced: published rates by kind of fact, declared in `assumptions/summaries.toml`.

use crate::prelude::*;

use super::refetch::AssumedNumber;

/// The rates, with their source.
const FILE: &str = ctxsim_assumptions::SUMMARIES;

/// A kind of fact that a need may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// A path of a file.
    Path,
    /// A number, or a name with digits.
    Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Summaries {
    kept: IndexMap<String, AssumedNumber<f64>>,
}

impl FactKind {
    /// Returns the kind of a literal, if it is one that rates are published of.
    pub fn of_literal(literal: &str) -> Option<Self> {
        match literal {
            it if it.contains('/') => Some(Self::Path),
            it if it.contains(|it: char| it.is_ascii_digit()) => Some(Self::Number),
            _ => None,
        }
    }

    /// Returns the share of such facts, 0 to 1, that a model's summary still says: as published, and the ends of its interval.
    pub fn kept(self) -> [f64; 3] {
        static READ: LazyLock<Summaries> = LazyLock::new(|| declared(FILE));
        let name = match self {
            Self::Path => "path",
            Self::Number => "number",
        };
        let rate = READ.kept.get(name).copied().unwrap_or_default();
        [rate.value, rate.low, rate.high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_rates_are_those_of_the_thread() {
        assert_eq!(FactKind::of_literal("src/lib.rs").map(FactKind::kept), Some([0.098, 0.0, 0.3]));
        assert_eq!(FactKind::of_literal("deadbeef42").map(FactKind::kept), Some([0.019, 0.0, 0.1]));
        assert_eq!(FactKind::of_literal("snake_case"), None);
    }
}
