//! Effects on a cache that do not depend on a prompt's content: changed settings, and machines without the entries.

use crate::prelude::*;

use super::CacheRules;

/// For each setting: the first level of the prompt that a change invalidates. Defaults: see [`Invalidates`].
pub type InvalidatesFields = IndexMap<Setting, PromptLevel>;

/// How often a request is served by a machine that has the entries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HitsFields {
    /// The probability, from 0 to 1.
    pub probability: Decimal,
    /// The seed of the draws that decide it. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Prompts of such lengths find nothing.
    pub never: Option<NeverFields>,
}

/// Lengths of prompts for which a cache was seen to hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NeverFields {
    /// The shortest, in tokens.
    pub from_tokens: Tokens,
    /// The longest, in tokens.
    pub to_tokens: Tokens,
}

impl HitsFields {
    /// Returns the draws, if a hit is not certain.
    fn check(&self, problems: &mut Problems) -> Option<Hits> {
        let probability = self.probability;
        let parts = probability.scaled(9).filter(|it| *it <= Hits::CERTAIN);
        if parts.is_none() {
            let message =
                format!("{probability} is not a probability (from 0 to 1, with at most nine decimals)");
            let help = "write a number from 0 to 1, such as 0.95";
            problems.push_at(Code("hit-probability"), "hits.probability", message, help);
        }
        let parts = parts.unwrap_or(Hits::CERTAIN);
        let never = self.never.map(|it| [it.from_tokens, it.to_tokens]);
        if let Some([from, to]) = never.filter(|[from, to]| from > to) {
            let message = format!("no prompt has at least {from} and at most {to} tokens");
            let help = "write the shorter length as `from_tokens`";
            problems.push_at(Code("hits-never"), "hits.never", message, help);
        }
        (parts < Hits::CERTAIN || never.is_some()).then_some(Hits { parts, seed: self.seed, never })
    }
}

/// Adds effects to rules, if there are any.
pub(super) fn qualified(
    rules: CacheRules,
    invalidates: Option<&InvalidatesFields>,
    hits: Option<&HitsFields>,
    problems: &mut Problems,
) -> CacheRules {
    let hits = hits.and_then(|it| it.check(problems));
    let said = invalidates.into_iter().flatten();
    let mut invalidates = Invalidates::default();
    said.for_each(|(setting, level)| invalidates.0[*setting as usize] = Some(*level));
    if invalidates == Invalidates::default() && hits.is_none() {
        return rules;
    }
    CacheRules::Qualified(Box::new(Qualified { rules, invalidates, hits, of_models: Vec::new() }))
}

/// Cache rules plus effects that do not depend on a prompt's content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Qualified {
    pub rules: CacheRules,
    /// What a change of a setting invalidates.
    pub invalidates: Invalidates,
    /// The probability that a request reaches the cached entries; always, if `None`.
    pub hits: Option<Hits>,
    /// In a session that several models answered: the rules of each, by [`Setting::Model`], in the place of all others.
    pub of_models: Vec<CacheRules>,
}

/// The probability that a request is served by a machine that has the entries.
///
/// The n-th request of a run uses the n-th number, from 1 to 10⁹, of the seed's stream `cache hit`, whatever
/// the policy. It hits if that number is at most the probability, so raising the probability never turns a
/// hit into a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hits {
    /// The probability in parts of 10⁹.
    pub parts: u64,
    /// The seed of the draws.
    pub seed: u64,
    /// The shortest and the longest prompt of those that find nothing, if there are any.
    pub never: Option<[Tokens; 2]>,
}

impl Hits {
    /// The number of parts that means certainty.
    pub const CERTAIN: u64 = 1_000_000_000;

    /// Returns whether a prompt of this length finds nothing, whatever is cached.
    pub fn is_never(&self, prompt: Tokens) -> bool {
        self.never.is_some_and(|[from, to]| (from..=to).contains(&prompt))
    }
}

/// A setting of a request beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The model.
    Model,
    /// The tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// Switches that change what the provider writes into the prompt: web search, citations, speed.
    Features,
    /// The tool choice.
    ToolChoice,
    /// Whether it contains images: the engine knows.
    Images,
    /// Thinking: its mode and budget.
    Thinking,
    /// Effort and verbosity.
    Effort,
    /// What the harness writes before the first message: memory files, reminders, lists of skills.
    Preamble,
    /// The effort, set by a message within the prompt: it holds until the next change of the effort, in band or not.
    EffortInBand,
}

/// A level of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromptLevel {
    /// The tools and everything after them.
    Tools,
    /// The system prompt and everything after it.
    System,
    /// The messages.
    Messages,
    /// No part of the prompt.
    Nothing,
}

/// A request's settings beside its content. Equal numbers mean equal settings; 0 is the initial setting of a
/// timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings([u32; 10]);

/// The place of the effort that a message has set: one more than its number, or 0 where it is that of the request itself.
const IN_BAND: usize = Setting::EffortInBand as usize;

impl Settings {
    /// Changes a setting.
    pub fn set(&mut self, setting: Setting, value: u32) {
        let is_own = value == self.get(Setting::Effort);
        match setting {
            Setting::EffortInBand => self.0[IN_BAND] = if is_own { 0 } else { value.saturating_add(1) },
            Setting::Effort => (self.0[setting as usize], self.0[IN_BAND]) = (value, 0),
            _ => self.0[setting as usize] = value,
        }
    }

    /// Returns a setting's value.
    pub fn get(&self, setting: Setting) -> u32 {
        self.0[setting as usize]
    }
}

/// All settings.
pub const SETTINGS: [Setting; 10] = {
    use Setting::{
        Effort, EffortInBand, Features, Images, Model, Preamble, System, Thinking, ToolChoice, Tools,
    };
    [Model, Tools, System, Features, ToolChoice, Images, Thinking, Effort, Preamble, EffortInBand]
};

/// For each setting: the first level of the prompt that a change invalidates, if the provider offers the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Invalidates([Option<PromptLevel>; 10]);

impl Default for Invalidates {
    /// The default effect of changes: everything after the place where the change appears. An image is content, and appears where it stands.
    fn default() -> Self {
        use PromptLevel::{Messages, Nothing, System, Tools};
        let levels = [Tools, Tools, System, System, Messages, Nothing, Messages, Messages, Messages];
        Self(std::array::from_fn(|it| levels.get(it).copied()))
    }
}

impl Invalidates {
    /// Returns the first level that a change of a setting invalidates, if the provider offers the change.
    pub fn level(&self, setting: Setting) -> Option<PromptLevel> {
        self.0[setting as usize]
    }

    /// Returns the settings that matter for a prefix that ends on some level; all others have their initial
    /// values.
    pub fn of(&self, settings: Settings, level: PromptLevel) -> Settings {
        let mut settings = settings;
        if let (None, Some(effort)) = (self.level(Setting::EffortInBand), settings.0[IN_BAND].checked_sub(1))
        {
            settings.set(Setting::Effort, effort);
        }
        let counts = |it: usize| self.0[it].is_some_and(|it| it <= level);
        Settings(std::array::from_fn(|it| if counts(it) { settings.0[it] } else { 0 }))
    }
}
