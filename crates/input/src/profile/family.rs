//! Families of models that count alike, and how many tokens of one stand for those of another: declared in `assumptions/tokenizers.toml`.

use crate::prelude::*;

use super::{ProfileFile, models};
use crate::scenario::refetch::AssumedNumber;
use ctxsim_base::quantity::saturated;

/// The families, with sources.
const FILE: &str = ctxsim_assumptions::TOKENIZERS;

/// Models that count the tokens of a text alike.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The ids of its models; `*` matches anything.
    models: Vec<String>,
    /// Its tokens for each of `o200k_base`.
    factor: AssumedNumber<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Families {
    families: Vec<Family>,
}

/// How many tokens of one family stand for one of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The number that is used, above 0.
    pub value: f64,
    /// The ends of its interval.
    pub interval: [f64; 2],
}

/// How the models of a profile count a load that other models counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counting {
    /// As it was recorded.
    AsRecorded,
    /// So many tokens of their own for each that was recorded.
    Anew(Factor),
    /// Nobody has published how, so its sizes are those that were recorded.
    Unknown,
}

impl Counting {
    /// Returns it in a few words.
    pub fn words(self) -> String {
        match self {
            Self::AsRecorded => "as recorded".to_owned(),
            Self::Anew(factor) => format!("×{}", factor.words()),
            Self::Unknown => "not known".to_owned(),
        }
    }

    /// Returns the ends of a cost's interval as shares of the cost, where they are known.
    pub fn shares(self) -> Option<[f64; 2]> {
        match self {
            Self::AsRecorded => Some([1.0; 2]),
            Self::Anew(factor) => Some(factor.shares()),
            Self::Unknown => None,
        }
    }
}

impl Family {
    /// Returns every family.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Families> = LazyLock::new(|| declared(FILE));
        &ALL.families
    }

    /// Returns the family of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|it| it.name == name)
    }

    /// Returns the family of a model, however a provider or a router writes its id: what stands before the model's own name does not count.
    pub fn of_model(id: &str) -> Option<&'static Self> {
        Self::by_pattern(id).map(|it| it.0)
    }

    /// Returns a name that stands in for a model's: of the same family, made of the family's pattern and a number, with nothing else of the id.
    pub fn stand_in(id: &str, number: &str) -> Option<String> {
        let (family, pattern) = Self::by_pattern(id)?;
        let name = match pattern.strip_suffix('*') {
            Some(begin) => format!("{}-{number}", begin.trim_end_matches('-')),
            None => pattern.to_owned(),
        };
        (Self::of_model(&name) == Some(family)).then_some(name)
    }

    /// Returns the family of a model, and the pattern that finds it.
    fn by_pattern(id: &str) -> Option<(&'static Self, &'static str)> {
        let id = id.to_ascii_lowercase();
        let begins = id.match_indices(['/', '.', '-', ':']).map(|it| it.0 + 1);
        let names: Vec<&str> = std::iter::once(0).chain(begins).map(|at| &id[at..]).collect();
        let covers = |it: &&String| names.iter().any(|name| wildcard(it, name));
        Self::all().iter().find_map(|it| Some((it, it.models.iter().find(covers)?.as_str())))
    }

    /// Returns the family of a profile: the one it names, else that of the models it covers, else that of its name.
    pub(super) fn of_profile(profile: &ProfileFile) -> Option<&'static Self> {
        if let Some(name) = &profile.tokenizer {
            return Self::named(name);
        }
        let models = profile.models.iter().map(|pattern| models::name_in(pattern));
        models.chain([profile.name.as_str()]).find_map(Self::of_model)
    }

    /// Returns how many tokens of another family stand for one of its own; its interval is as wide as both of theirs allow.
    pub fn factor_to(&self, other: &Self) -> Factor {
        if self.name == other.name {
            return Factor::ONE;
        }
        let (own, to) = (self.factor, other.factor);
        Factor { value: to.value / own.value, interval: [to.low / own.high, to.high / own.low] }
    }
}

impl Factor {
    /// The same number.
    pub const ONE: Self = Self { value: 1.0, interval: [1.0; 2] };

    /// Returns whether it changes nothing.
    pub fn is_one(self) -> bool {
        self.interval == [1.0; 2]
    }

    /// Returns a size in the other family's tokens, to the nearest; what has tokens keeps one at least.
    pub fn size(self, tokens: u32) -> u32 {
        saturated(self.tokens(tokens.into()))
    }

    /// The same of a larger number.
    pub fn tokens(self, tokens: Tokens) -> Tokens {
        let scaled = (tokens as f64 * self.value).round() as Tokens;
        scaled.max(tokens.min(1))
    }

    /// Returns it with its interval.
    pub fn words(self) -> String {
        let [low, high] = self.interval;
        format!("{:.2} [{low:.2}, {high:.2}]", self.value)
    }

    /// Returns the ends of a cost's interval as shares of the cost.
    pub fn shares(self) -> [f64; 2] {
        self.interval.map(|it| it / self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: &str) -> &'static str {
        Family::of_model(id).map_or("none", |it| &it.name)
    }

    #[test]
    fn families_are_told_from_ids_of_makers_and_routers() {
        let known = [
            ("claude-opus-4-5-20251101", "claude-3"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-3"),
            ("claude-opus-4-20250514", "claude-3"),
            ("claude-opus-4-6[1m]", "claude-3"),
            ("claude-opus-4-7", "claude-4.7"),
            ("anthropic/claude-opus-4.8", "claude-4.7"),
            ("claude-sonnet-5", "claude-4.7"),
            ("openai/gpt-5.4", "o200k"),
            ("gpt-4-turbo", "cl100k"),
            ("duckagent/openai-gpt-5.4-mini", "o200k"),
            ("accounts/fireworks/models/deepseek-v4-flash", "deepseek"),
            ("vertex_ai/gemini-3.1-pro-preview", "gemini"),
            ("moonshotai/Kimi-K2.6", "kimi"),
            ("gpt-6-sol", "none"),
            ("grok-4.7", "none"),
        ];

        for (id, family) in known {
            assert_eq!(name(id), family, "{id}");
        }
    }

    #[test]
    fn what_stands_in_for_a_model_is_of_its_family_and_says_no_more_of_it() {
        let rows = [
            ("openai/gpt-4o-mini", Some("gpt-4o-model-1")),
            ("acme/gpt-4-acme-tuned", Some("gpt-4-model-1")),
            ("acme/claude-opus-4", Some("claude-opus-4")),
            ("acme/in-house-9", None),
        ];

        for (id, name) in rows {
            assert_eq!(Family::stand_in(id, "model-1").as_deref(), name, "{id}");
        }
    }

    #[test]
    fn no_model_is_of_two_families() {
        for family in Family::all() {
            for pattern in &family.models {
                assert_eq!(name(pattern.trim_end_matches('*')), family.name, "{pattern}");
            }
        }
        assert!(Family::all().len() > 5);
    }

    #[test]
    fn there_and_back_is_the_same_text() {
        let (one, other) = (Family::named("claude-3").unwrap(), Family::named("o200k").unwrap());
        let (there, back) = (one.factor_to(other), other.factor_to(one));

        assert!((there.value * back.value - 1.0).abs() < 1e-12);
        assert!(there.interval[0] < there.value && there.value < there.interval[1]);
        assert_eq!([there.size(0), there.size(1)], [0, 1]);
        assert!(one.factor_to(one).is_one());
    }
}
