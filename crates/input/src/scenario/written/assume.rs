//! Assumptions about a recorded session; defaults come from `assumptions/recorded.toml`.

use crate::prelude::*;

use super::Level;
use crate::policy::Preserve;

/// The defaults, with their sources.
const DEFAULTS: &str = ctxsim_assumptions::RECORDED;

/// Assumptions about a recorded session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assume {
    /// Characters per token, if only relative sizes are known or sizes are missing.
    pub chars_per_token: Option<Decimal>,
    /// Characters per token of user text.
    pub user_chars_per_token: Option<Decimal>,
    /// Tokens of a user message in addition to its text.
    pub user_message_tokens: Option<Tokens>,
    /// Recorded outputs of at most this many tokens are placeholders that a stream writes at its start, not
    /// counts.
    pub placeholder_output_tokens: Option<Tokens>,
    /// A prompt that shrinks by less than this share, 0 to 1, lost its end; one that shrinks by more lost
    /// everything after the stable prefix.
    pub rewind_share_max: Option<Decimal>,
    /// Whether history that the harness removed by itself is gone for every policy.
    pub resets: Option<ResetsAssumed>,
    /// A policy avoids a compaction if its prompt is smaller than the compacted one by at least this share, 0
    /// to 1.
    pub compaction_margin: Option<Decimal>,
    /// The instruction at the end of the request that wrote a recorded summary, in tokens, if its bill is not recorded.
    pub compaction_instruction_tokens: Option<Tokens>,
    /// A recorded summary whose size the recording does not show, in tokens.
    pub compaction_summary_tokens: Option<Tokens>,
    /// The tokenizer of texts without recorded usage. Default: sizes follow their characters.
    pub tokenizer: Option<TokenizerName>,
    /// The longest summary of a tool result, in tokens.
    pub summary_tokens_max: Option<Tokens>,
    /// The exact excerpt of a tool result.
    pub exact_excerpt: Option<ExactExcerpt>,
    /// The longest recovery handle, in tokens.
    pub handle_tokens_max: Option<Tokens>,
    /// Requests that the recording does not contain. Default: those inferred from the session's own earlier
    /// bills.
    pub side_request: Option<HiddenRequest>,
    /// How long after a turn's last reply the harness makes its usual side request.
    pub side_request_delay: Option<Duration>,
    /// No side request follows a request with more than this many tokens not read from the cache.
    pub side_request_cold_tokens: Option<Tokens>,
    /// For inferred side requests: one is expected if more than this share, 0 to 1, of the earlier turns had
    /// one.
    pub side_request_share: Option<Decimal>,
    /// For inferred side requests: this many turns with one are assumed before the session's first.
    pub side_request_prior_turns: Option<u32>,
    /// The policies' names of the recording's tools, and why their results may be needed; the first match
    /// wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolAssume>,
    /// How the recording's calls reveal which results were needed again, by rule.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub needs: IndexMap<String, NeedRule>,
}

/// What happens to history that the harness removed by itself: compactions in the log, and results cleared to
/// make room. Whatever the user cleared, compacted or undid is always gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResetsAssumed {
    /// It is gone, as recorded.
    #[default]
    Keep,
    /// It stays, and the harness's replacement is removed.
    Undo,
}

/// A published tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenizerName {
    /// `o200k_base`, of OpenAI's models from GPT-4o on.
    O200k,
    /// `cl100k_base`, of earlier OpenAI models.
    Cl100k,
}

/// The exact excerpt of a recorded tool result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExactExcerpt {
    /// Everything that a later need could read.
    #[default]
    Whole,
    /// At most this many tokens.
    AtMost(Tokens),
}

/// A request that a harness makes without recording it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HiddenRequest {
    /// It makes none.
    None,
    /// What is usual for the recording harness.
    Usual,
    /// The same, but only before turns where the bills of the session's own earlier turns suggest it: what
    /// was read at one turn is used for later ones. Earlier bills also show the size of tools and system
    /// prompt. No other choice uses bills.
    Inferred,
    /// The prompt with the reply, after every turn.
    AfterTurn {
        /// How long after the reply.
        delay: Duration,
    },
}

/// How a recorded tool is treated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolAssume {
    /// The recorded tool's name; `*` matches any run of characters.
    pub tool: String,
    /// The name that policies see. Default: the recorded one.
    pub counts_as: Option<String>,
    /// The field of a call's input that names the actual tool, if this tool only forwards calls; the other
    /// rules are then those of that tool. Needs a recording with text.
    pub name_from: Option<String>,
    /// The evidence class of its results.
    #[serde(default)]
    pub preserve: Preserve,
}

/// When a recorded call reveals that an earlier result was needed, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NeedRule {
    /// The probability, 0 to 1, that the agent must fetch the result again if the prompt no longer shows it.
    pub weight: Option<f64>,
    /// The interval of that probability.
    pub interval: Option<[f64; 2]>,
    /// Tools whose calls fetch the result again themselves, so they need nothing.
    pub rereads: Option<Vec<String>>,
    /// How much of the result is needed.
    pub level: Option<Level>,
    /// The arguments of calls that the rule checks. Default: all.
    pub arguments: Option<Vec<String>>,
    /// Shorter texts are ignored.
    pub characters_min: Option<u64>,
}

impl Assume {
    /// Returns the defaults.
    pub fn defaults() -> &'static Self {
        static SPEC: LazyLock<Assume> = LazyLock::new(|| declared(DEFAULTS));
        &SPEC
    }

    /// Fills in the defaults.
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
            compaction_instruction_tokens: self
                .compaction_instruction_tokens
                .or(rest.compaction_instruction_tokens),
            compaction_summary_tokens: self.compaction_summary_tokens.or(rest.compaction_summary_tokens),
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
    /// Fills in the defaults.
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
    use crate::text::source::{Format, decode};

    #[test]
    fn every_assumption_has_a_default_in_the_one_file() {
        let spec: Assume = decode(DEFAULTS, Format::Toml).unwrap();

        let written = toml::Table::try_from(&spec).unwrap();
        // The tools are the session's own, the side request is the format's, and a tokenizer is a choice.
        assert_eq!(written.len(), 17, "a field of `Assume` without a default");
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
