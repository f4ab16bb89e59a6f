//! What an image costs in tokens: the rule of each provider, declared in `assumptions/images.toml`.

use crate::prelude::*;
use std::sync::OnceLock;

use super::{ProfileFile, models};

/// The rules, with sources.
const FILE: &str = ctxsim_assumptions::IMAGES;

/// The size of an image, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageSize {
    pub width: u32,
    pub height: u32,
}

/// How the models of a provider count an image.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ImageRule {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// The ids of its models; `*` matches anything. None: it counts for all that no other names.
    models: Vec<String>,
    patches: Option<ImagePatches>,
    tiles: Option<ImageTiles>,
    /// What every image takes.
    tokens: Option<Tokens>,
}

/// Squares of which each is a token, or a little more.
#[derive(Debug, PartialEq, Deserialize)]
struct ImagePatches {
    side: u32,
    edge_max: Option<u32>,
    count_max: u64,
    factor: Option<f64>,
}

/// Squares of many tokens.
#[derive(Debug, PartialEq, Deserialize)]
struct ImageTiles {
    side: u32,
    fits: Option<u32>,
    short_edge: Option<u32>,
    base: Tokens,
    each: Tokens,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ImageRules {
    unknown: UnknownImage,
    rules: Vec<ImageRule>,
}

/// The size that is assumed of an image whose size is not known, with the ends of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct UnknownImage {
    pub value: ImageSize,
    pub low: ImageSize,
    pub high: ImageSize,
}

static DECLARED: LazyLock<ImageRules> = LazyLock::new(|| declared(FILE));

impl UnknownImage {
    /// Returns what is declared.
    pub fn declared() -> Self {
        DECLARED.unknown
    }
}

impl ImageRule {
    /// Returns the rule of a model, however a provider or a router writes its id.
    pub fn of_model(id: &str) -> &'static Self {
        Self::of_names([id].into_iter())
    }

    /// Returns the rule of a profile: that of the models it covers, else that of its name.
    pub(super) fn of_profile(profile: &ProfileFile) -> &'static Self {
        let models = profile.models.iter().map(|pattern| models::name_in(pattern));
        Self::of_names(models.chain([profile.name.as_str()]))
    }

    fn of_names<'n>(mut ids: impl Iterator<Item = &'n str>) -> &'static Self {
        static NONE: OnceLock<ImageRule> = OnceLock::new();
        let rules = &DECLARED.rules;
        let other = || rules.iter().find(|it| it.models.is_empty());
        ids.find_map(|id| Self::naming(rules, id))
            .or_else(other)
            .unwrap_or_else(|| NONE.get_or_init(Self::default))
    }

    fn naming<'r>(rules: &'r [Self], id: &str) -> Option<&'r Self> {
        let id = id.to_ascii_lowercase();
        let begins = id.match_indices(['/', '.', '-', ':']).map(|it| it.0 + 1);
        let names: Vec<&str> = std::iter::once(0).chain(begins).map(|at| &id[at..]).collect();
        // What stands first in an id is more of its name than what stands behind it.
        names
            .iter()
            .find_map(|name| rules.iter().find(|it| it.models.iter().any(|model| wildcard(model, name))))
    }

    /// Returns whether it counts for all models that no rule names.
    pub fn is_of_others(&self) -> bool {
        self.models.is_empty()
    }

    /// Returns how many tokens an image takes; one whose size is not known takes those of the size that is assumed.
    pub fn tokens(&self, size: Option<ImageSize>) -> u32 {
        let ImageSize { width, height } = size.unwrap_or(UnknownImage::declared().value);
        let [width, height] = [width, height].map(|it| f64::from(it.max(1)));
        let tokens = match (&self.patches, &self.tiles) {
            (Some(patches), _) => patches.tokens(width, height),
            (None, Some(tiles)) => tiles.tokens(width, height),
            (None, None) => self.tokens.unwrap_or_default() as f64,
        };
        tokens.max(1.0) as u32
    }
}

impl ImagePatches {
    fn tokens(&self, width: f64, height: f64) -> f64 {
        let side = f64::from(self.side.max(1));
        let mut scale = self.edge_max.map_or(1.0, |it| (f64::from(it) / width.max(height)).min(1.0));
        let count = |scale: f64| whole(width * scale / side) * whole(height * scale / side);
        if count(scale) > self.count_max as f64 {
            let room = (self.count_max as f64 * side * side / (width * height)).sqrt();
            let fit = |edge: f64| (edge * room / side).floor().max(1.0) / (edge * room / side);
            scale = room * fit(width).min(fit(height)).min(1.0);
        }
        (count(scale).min(self.count_max as f64) * self.factor.unwrap_or(1.0)).ceil()
    }
}

impl ImageTiles {
    fn tokens(&self, width: f64, height: f64) -> f64 {
        let fits = self.fits.map_or(1.0, |it| (f64::from(it) / width.max(height)).min(1.0));
        let short = width.min(height) * fits;
        let scale = fits * self.short_edge.map_or(1.0, |it| (f64::from(it) / short).min(1.0));
        let side = f64::from(self.side.max(1));
        self.base as f64 + self.each as f64 * whole(width * scale / side) * whole(height * scale / side)
    }
}

/// Returns how many whole squares cover so many, whatever a float has lost of them.
fn whole(squares: f64) -> f64 {
    (squares - 1e-9).ceil().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(model: &str, width: u32, height: u32) -> u32 {
        ImageRule::of_model(model).tokens(Some(ImageSize { width, height }))
    }

    #[test]
    fn providers_own_examples_come_out() {
        assert_eq!(tokens("gpt-4o-2024-11-20", 1_024, 1_024), 765);
        assert_eq!(tokens("gpt-4o", 2_048, 4_096), 1_105);
        assert_eq!(tokens("gpt-4.1-mini", 1_024, 1_024), 1_659, "1,024 patches times 1.62");
        assert_eq!(tokens("gpt-4.1-mini", 1_800, 2_400), 2_353, "1,452 patches times 1.62");
        assert_eq!(tokens("claude-sonnet-4-6", 1_000, 1_000), 36 * 36);
        assert_eq!(tokens("us.anthropic.claude-opus-4-6-v1:0", 3_000, 2_000), 48 * 32);
        assert_eq!(tokens("anthropic/claude-opus-5", 1_920, 1_080), 69 * 39);
        assert_eq!(tokens("gemini-2.5-pro", 384, 384), 258);
        assert_eq!(tokens("gemini-2.5-pro", 1_536, 768), 516);
        assert_eq!(tokens("gemini-3.1-pro-preview", 100, 100), 1_120);
    }

    #[test]
    fn no_image_is_over_its_rule_s_limit_and_a_larger_one_takes_no_fewer_than_a_small_one() {
        for (model, most) in [("claude-opus-4-6", 1_568), ("claude-opus-5", 4_784), ("gpt-6-sol", 1_844)] {
            for width in (100..8_000).step_by(97) {
                assert!(tokens(model, width, 1_000) <= most, "{model} at {width}");
                assert!(tokens(model, width, 1_000) > tokens(model, 32, 32));
            }
        }
    }

    #[test]
    fn every_rule_counts_and_only_the_last_names_no_model() {
        let rules = &DECLARED.rules;
        let ways = |it: &ImageRule| {
            usize::from(it.patches.is_some())
                + usize::from(it.tiles.is_some())
                + usize::from(it.tokens.is_some())
        };
        assert!(rules.iter().all(|it| ways(it) == 1));
        assert!(rules.iter().rev().skip(1).all(|it| !it.models.is_empty()));
        assert!(rules.last().is_some_and(|it| it.models.is_empty()));
        let UnknownImage { value, low, high } = UnknownImage::declared();
        let of = |it| ImageRule::of_model("claude-opus-5").tokens(Some(it));
        assert!(of(low) < of(value) && of(value) < of(high));
    }
}
