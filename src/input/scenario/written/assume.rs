//! What is assumed about a recorded session; what a scenario is silent about stands in `assumptions/recorded.toml`.

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Level;
use crate::input::policy::Preserve;
use crate::input::text::decode::{Format, decode};
use crate::input::text::duration::Duration;
use crate::quantity::{Decimal, Tokens};

/// What holds where no scenario says anything, with its sources.
const DEFAULTS: &str = include_str!("../../../../assumptions/recorded.toml");

/// What is assumed about a recorded session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assume {
    /// Characters per token where only relative or missing sizes are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chars_per_token: Option<Decimal>,
    /// Characters per token of what the user types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_chars_per_token: Option<Decimal>,
    /// Tokens of a user's message beside its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_tokens: Option<Tokens>,
    /// Outputs up to so many tokens are what a stream announces at its start, and no counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder_output_tokens: Option<Tokens>,
    /// A prompt that shrinks by less than this share, 0 to 1, lost its end; by more, all behind the stable prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind_share_max: Option<Decimal>,
    /// Whether history that the harness took out on its own account is gone for every policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<Resets>,
    /// A policy avoids a compaction where its prompt is smaller than what was compacted by at least this share, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_margin: Option<Decimal>,
    /// What counts texts where the recording has no usage; their characters do, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<TokenizerName>,
    /// The longest summary of a tool result, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_tokens_max: Option<Tokens>,
    /// How much of a tool result its exact excerpt is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_excerpt: Option<ExactExcerpt>,
    /// The longest recovery handle, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle_tokens_max: Option<Tokens>,
    /// Requests of which the recording has nothing; those that its own earlier bills suggest, when silent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_request: Option<SideRequest>,
    /// How long after a turn's last reply the harness makes its usual side request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_request_delay: Option<Duration>,
    /// No side request follows a request of which more tokens than this were not read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_request_cold_tokens: Option<Tokens>,
    /// Of inferred side requests: one is expected where more than this share, 0 to 1, of the turns before had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_request_share: Option<Decimal>,
    /// Of inferred side requests: so many turns with one are taken to stand before the session's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_request_prior_turns: Option<u32>,
    /// What the recording's tools are called in policies, and why their results may be needed; first match wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolAssume>,
    /// What the recording's calls say about which results were needed again, by rule.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub needs: IndexMap<String, NeedRule>,
}

/// What becomes of history that the harness took out on its own account: compactions that the log tells, and results that it
/// cleared to make room. What the user cleared, compacted or went back from is gone in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Resets {
    /// It is gone, as recorded.
    #[default]
    Keep,
    /// It stays, and what the harness put in its place goes.
    Undo,
}

/// A published tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenizerName {
    /// `o200k_base`, of OpenAI's models from GPT-4o on.
    O200k,
    /// `cl100k_base`, of those before.
    Cl100k,
}

/// How much of a recorded tool result its exact excerpt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExactExcerpt {
    /// All of it: what a later need could read of it.
    #[default]
    Whole,
    /// At most so many tokens.
    AtMost(Tokens),
}

/// A request that a harness makes beside those that it records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SideRequest {
    /// It makes none.
    None,
    /// What is usual for the harness that recorded.
    Usual,
    /// The same, but only before turns where the bills of the session's own earlier turns let expect it: what was read at a
    /// turn then tells on later ones. Earlier bills also tell how much tools and system prompt take. No other choice looks at bills.
    Inferred,
    /// The prompt with the reply, after every turn.
    AfterTurn {
        /// How long after the reply.
        delay: Duration,
    },
}

/// What a recorded tool counts as.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolAssume {
    /// The recorded tool's name, `*` stands for any run of characters.
    pub tool: String,
    /// The name that policies see; the recorded one, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_as: Option<String>,
    /// The field of a call's input that names the tool, where this one only passes calls on; the other rules are then those
    /// of the tool so named. It takes a recording with text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_from: Option<String>,
    /// The evidence class of its results.
    #[serde(default)]
    pub preserve: Preserve,
}

/// When a recorded call says that an earlier result was needed, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NeedRule {
    /// How probable it is that the agent has to fetch the result again where the prompt no longer shows it, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Between which probabilities that is known to lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Tools whose calls fetch the result again themselves, so that they need nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rereads: Option<Vec<String>>,
    /// How much of the result is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The arguments of calls that the rule looks at, where it looks at some alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<String>>,
    /// Texts of fewer characters say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub characters_min: Option<u64>,
}

impl Assume {
    /// Returns what holds where no scenario says anything.
    #[must_use]
    pub fn defaults() -> &'static Self {
        static SPEC: OnceLock<Assume> = OnceLock::new();
        SPEC.get_or_init(|| decode(DEFAULTS, Format::Toml).unwrap_or_default())
    }

    /// Fills in what is not said.
    #[must_use]
    pub fn complete(&self) -> Self {
        let rest = Self::defaults();
        let mut needs = rest.needs.clone();
        for (rule, own) in &self.needs {
            let rest = needs.shift_remove(rule).unwrap_or_default();
            needs.insert(rule.clone(), own.over(rest));
        }
        Self {
            chars_per_token: self.chars_per_token.or(rest.chars_per_token),
            user_chars_per_token: self.user_chars_per_token.or(rest.user_chars_per_token),
            user_message_tokens: self.user_message_tokens.or(rest.user_message_tokens),
            placeholder_output_tokens: self.placeholder_output_tokens.or(rest.placeholder_output_tokens),
            rewind_share_max: self.rewind_share_max.or(rest.rewind_share_max),
            resets: self.resets.or(rest.resets),
            compaction_margin: self.compaction_margin.or(rest.compaction_margin),
            summary_tokens_max: self.summary_tokens_max.or(rest.summary_tokens_max),
            exact_excerpt: self.exact_excerpt.or(rest.exact_excerpt),
            handle_tokens_max: self.handle_tokens_max.or(rest.handle_tokens_max),
            side_request: self.side_request.or(rest.side_request),
            side_request_delay: self.side_request_delay.or(rest.side_request_delay),
            side_request_cold_tokens: self.side_request_cold_tokens.or(rest.side_request_cold_tokens),
            side_request_share: self.side_request_share.or(rest.side_request_share),
            side_request_prior_turns: self.side_request_prior_turns.or(rest.side_request_prior_turns),
            tokenizer: self.tokenizer.or(rest.tokenizer),
            tools: self.tools.clone(),
            needs,
        }
    }
}

impl NeedRule {
    /// Fills in what is not said.
    fn over(&self, rest: Self) -> Self {
        Self {
            weight: self.weight.or(rest.weight),
            interval: self.interval.or(rest.interval.filter(|_| self.weight.is_none())),
            rereads: self.rereads.clone().or(rest.rereads),
            level: self.level.or(rest.level),
            arguments: self.arguments.clone().or(rest.arguments),
            characters_min: self.characters_min.or(rest.characters_min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assumption_has_a_default_in_the_one_file() {
        let spec: Assume = decode(DEFAULTS, Format::Toml).unwrap();

        let written = toml::Table::try_from(&spec).unwrap();
        // The tools are the session's own, the side request is the format's, and a tokenizer is a choice.
        assert_eq!(written.len(), 15, "a field of `Assume` without a default");
        assert!(spec.needs.values().all(|it| it.weight.is_some() && it.level.is_some()));
        assert_eq!(Assume::default().complete(), spec);
    }

    #[test]
    fn a_scenario_overrides_one_number_of_a_rule_and_keeps_the_others() {
        let own: Assume = decode("[needs.same_path]\nweight = 0.0", Format::Toml).unwrap();

        let complete = own.complete();

        let (mine, usual) = (&complete.needs["same_path"], &Assume::defaults().needs["same_path"]);
        assert_eq!(mine.weight, Some(0.0));
        assert_eq!(mine.arguments, usual.arguments);
        assert_eq!(complete.needs["literals"], Assume::defaults().needs["literals"]);
    }
}
