//! Contents that the harness stores for a time and pays for by the token-hour.

use crate::prelude::*;

use super::{CacheRules, InvalidatesFields, Renewal, Ttls, qualified};

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoredFields {
    /// Shorter contents cannot be stored.
    pub min_tokens: Option<Tokens>,
    /// How long a content is kept.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub ttl: Ttls,
    /// Whether the harness renews a content's lifetime whenever it uses the content. Default: never.
    pub renewal: Option<Renewal>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
}

impl StoredFields {
    pub(super) fn check(&self, problems: &mut Problems) -> CacheRules {
        let ttl_ms = self.ttl.only(problems).filter(|it| *it > 0);
        if ttl_ms.is_none() {
            let help = "add one, such as `ttl: \"1h\"`";
            problems.push_at(Code("ttl-missing"), "ttl", "explicitly stored content needs a lifetime", help);
        }
        let rules = ExplicitCache {
            min_tokens: self.min_tokens.unwrap_or(0),
            ttl_ms: ttl_ms.unwrap_or(1),
            renews: self.renewal == Some(Renewal::OnUse),
        };
        qualified(CacheRules::ExplicitCache(rules), self.invalidates.as_ref(), None, problems)
    }
}

/// The numbers of explicitly stored contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExplicitCache {
    /// Shorter contents cannot be stored.
    pub min_tokens: Tokens,
    /// How long a content is kept, in milliseconds.
    pub ttl_ms: u64,
    /// Whether the harness renews a content's lifetime whenever it uses the content.
    pub renews: bool,
}
