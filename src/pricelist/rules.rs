//! Which cache rules a provider applies to a model, as its own pages say; what they leave open stands as a comment.

use super::Entry;

/// The cache rules of a model as a profile writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Which rules.
    pub(super) rules: &'static str,
    /// The shortest prefix that is cached.
    pub(super) min_tokens: Option<u64>,
    /// How prefixes grow beyond it.
    pub(super) step_tokens: Option<u64>,
    /// Where entries are made and looked for, as a profile writes it.
    pub(super) places: &'static str,
    /// How long an entry lives after its last use, as a profile writes it.
    pub(super) ttl: Option<&'static str>,
    /// What the pages leave open or the rules cannot say.
    pub(super) doubt: &'static str,
    /// Where they are told.
    pub(super) source: &'static str,
}

/// The names under which the lists know one provider; the first is the profile's folder.
const PROVIDERS: [&[&str]; 17] = [
    &["anthropic"],
    &["openai"],
    &["google", "gemini", "google-gemini"],
    &["deepseek"],
    &["xai", "x-ai"],
    &["moonshotai", "moonshot"],
    &["alibaba", "dashscope"],
    &["zai", "zhipuai", "z-ai"],
    &["minimax"],
    &["groq"],
    &["fireworks", "fireworks_ai", "fireworks-ai"],
    &["mistral", "mistralai"],
    &["together", "together_ai", "togetherai"],
    &["bedrock", "bedrock_converse", "aws", "amazon-bedrock"],
    &["cohere", "cohere_chat"],
    &["cerebras"],
    &["azure", "azure_ai"],
];

/// Returns the one name of a provider.
pub(super) fn canonical(provider: &str) -> &str {
    PROVIDERS.iter().find(|it| it.contains(&provider)).map_or(provider, |it| it[0])
}

const ANTHROPIC: &str = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching";
const OPENAI: &str = "https://developers.openai.com/api/docs/guides/prompt-caching";
const BEDROCK: &str = "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html";

/// Prefixes that the provider finds by itself, without a fee for writing.
const fn automatic(
    min: u64,
    step: u64,
    ttl: Option<&'static str>,
    doubt: &'static str,
    source: &'static str,
) -> Rules {
    Rules {
        rules: "prefix_interval",
        min_tokens: Some(min),
        step_tokens: Some(step),
        places: "",
        ttl,
        doubt,
        source,
    }
}

/// Entries at breakpoints, which a request marks or which follow from it, with a fee for writing.
const fn breakpoints(
    min: u64,
    places: &'static str,
    ttl: &'static str,
    doubt: &'static str,
    source: &'static str,
) -> Rules {
    Rules {
        rules: "breakpoints",
        min_tokens: Some(min),
        step_tokens: None,
        places,
        ttl: Some(ttl),
        doubt,
        source,
    }
}

/// Places of Anthropic's entries, and of OpenAI's.
const MARKED: &str = "breakpoints_max = 4\nlookback_positions = 20\n";
const LOOKED_UP: &str = "breakpoints_max = 4\nlookup = { first = 2, latest = 50, message_ends = 20, lead = true }\n\
     automatic = \"last_message\"\nimplicit = true\n";

/// Returns the rules of a model, where they are known.
#[expect(clippy::too_many_lines, reason = "a table, one row a provider")]
pub(super) fn rules(entry: &Entry) -> Option<Rules> {
    let model = entry.model.to_lowercase();
    // Regions and deployments stand in front of the name.
    let own_name = model.rsplit('/').next().unwrap_or(&model);
    let provider = canonical(&entry.provider);
    let is_openais = provider == "openai" || is_of_openai(own_name);
    let rules = match provider {
        "anthropic" => Rules {
            // Latest hits among 17,283 recorded pairs: 309 s and 3,614 s.
            places: "breakpoints_max = 4\nlookback_positions = 20\nttl_grace = \"10s\"\n",
            ..anthropic(claude_min(&model))
        },
        "vertex_ai-anthropic_models" | "azure" if model.contains("claude") => anthropic(claude_min(&model)),
        "bedrock" if model.contains("claude") => Rules {
            places: "breakpoints_max = 4\nlookback_positions = 20\nlookback_unit = \"block\"\n",
            ttl: Some(if sells_hours(entry) { "[\"5m\", \"1h\"]" } else { "\"5m\"" }),
            doubt: "about 20 blocks are looked back; an implicit cache beside it is best effort",
            source: BEDROCK,
            ..anthropic(bedrock_min(&model))
        },
        "bedrock" if model.contains("amazon.nova") => automatic(
            1_024,
            1,
            Some("\"5m\""),
            "the nearest rule to implicit caching, best effort; explicit checkpoints exist too",
            BEDROCK,
        ),
        "openai" | "azure" if is_openais && !is_before_breakpoints(own_name) => breakpoints(
            1_024,
            LOOKED_UP,
            "\"30m\"",
            "entries may live longer; the API reference has the latest 80 breakpoints instead of 50",
            OPENAI,
        ),
        "openai" | "azure" if own_name.starts_with("gpt-5.5") => automatic(
            2_048,
            2_048,
            Some("\"30m\""),
            "best effort; cut every 2,048 tokens from a hidden start; kept typically half an hour, up to a day",
            OPENAI,
        ),
        "openai" | "azure" if is_openais => automatic(
            1_024,
            128,
            Some("\"5m\""),
            "best effort; entries live five to ten minutes in memory, up to a day on request",
            OPENAI,
        ),
        "moonshotai" if model.contains("k3") => breakpoints(
            256,
            "automatic = \"last_block\"\nimplicit = true\n\
             invalidates = { tool_choice = \"nothing\", effort = \"tools\" }\n",
            "[\"5m\", \"1h\"]",
            "how far back entries are looked for is not published; another model reads in steps of 256",
            "https://platform.kimi.ai/docs/pricing/chat-k3",
        ),
        "deepseek" => Rules {
            rules: "units",
            places: "units = [\"input_end\", \"output_end\", \"common_prefix\"]\n",
            ..automatic(
                64,
                64,
                None,
                "units at fixed intervals, too, of no published length; entries live for hours to days",
                "https://api-docs.deepseek.com/guides/kv_cache",
            )
        },
        "google" | "vertex_ai-language-models" => automatic(
            gemini_min(&entry.provider, &model),
            1,
            None,
            "implicit caching is best effort, with no lifetime or step published",
            "https://ai.google.dev/gemini-api/docs/caching",
        ),
        "xai" => automatic(
            1_024,
            128,
            None,
            "minimum and step as measured in August 2026, not published; entries may go at any time",
            "https://docs.x.ai/developers/advanced-api-usage/prompt-caching",
        ),
        "moonshotai" => automatic(
            256,
            256,
            Some("\"5m\""),
            "steps as measured; the models of this line bill no writes",
            "https://platform.kimi.ai/docs (context caching)",
        ),
        "zai" => automatic(
            500,
            1,
            None,
            "500 tokens are advised, not required; no lifetime or step published",
            "https://docs.z.ai/guides/capabilities/cache",
        ),
        "minimax" => {
            automatic(512, 1, None, "no lifetime or step published", "https://platform.minimax.io/docs")
        }
        "groq" => automatic(
            0,
            1,
            Some("\"2h\""),
            "no minimum or step published",
            "https://console.groq.com/docs/prompt-caching",
        ),
        "fireworks" => automatic(
            0,
            1,
            None,
            "no minimum, lifetime or step published",
            "https://docs.fireworks.ai/guides/prompt-caching",
        ),
        "alibaba" => automatic(
            1_024,
            1,
            None,
            "the implicit cache, best effort, of no published lifetime; an explicit one bills writes",
            "https://www.alibabacloud.com/help/en/model-studio/context-cache",
        ),
        "meta" => automatic(
            0,
            1,
            None,
            "hits were seen; no rule is published: the longest common prefix is taken",
            "https://ai.developer.meta.com/docs/pricing-rate-limits",
        ),
        "mistral" => automatic(
            0,
            1,
            None,
            "best effort: a key raises the chance of a hit; no minimum, lifetime or step is published",
            "https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching",
        ),
        "together" => automatic(
            0,
            1,
            None,
            "the longest prefix; no minimum, lifetime or step is published",
            "https://docs.together.ai/docs/inference/chat/prompt-caching",
        ),
        _ => return None,
    };
    let has_discount = entry.prices.iter().any(|it| it.cache_read.is_some());
    has_discount.then_some(Rules { min_tokens: entry.cache_min_tokens.or(rules.min_tokens), ..rules })
}

/// Anthropic's rules, from so many tokens on.
const fn anthropic(min: u64) -> Rules {
    let doubt =
        "the minimum is that of the provider's own platform; it is not published for the newest models";
    breakpoints(min, MARKED, "[\"5m\", \"1h\"]", doubt, ANTHROPIC)
}

/// Returns whether writes for an hour have a price.
fn sells_hours(entry: &Entry) -> bool {
    entry.prices.iter().any(|it| it.cache_write.contains_key("1h"))
}

/// Returns whether a name is one of OpenAI's own.
fn is_of_openai(name: &str) -> bool {
    ["gpt-", "o1", "o3", "o4", "codex", "computer-use"].iter().any(|it| name.starts_with(it))
}

/// Returns whether a model of OpenAI finds prefixes by interval, as those before GPT-5.6 do.
fn is_before_breakpoints(model: &str) -> bool {
    let later = ["gpt-5.6", "gpt-5.7", "gpt-5.8", "gpt-5.9", "gpt-6", "gpt-7"];
    !later.iter().any(|it| model.starts_with(it))
}

/// Returns the shortest prompt that Gemini caches by itself.
fn gemini_min(provider: &str, model: &str) -> u64 {
    if provider.starts_with("vertex_ai") || model.contains("gemini-2.5") { 2_048 } else { 4_096 }
}

/// Returns the shortest prefix that a model of Anthropic caches at Bedrock.
fn bedrock_min(model: &str) -> u64 {
    if model.contains("opus-4-7") || model.contains("mythos-preview") { 4_096 } else { claude_min(model) }
}

/// Returns the shortest prefix that a model of Anthropic caches.
fn claude_min(model: &str) -> u64 {
    let model = model.replace('.', "-");
    let is = |names: &[&str]| names.iter().any(|it| model.contains(it));
    if is(&["opus-4-5", "opus-4-6", "haiku-4-5"]) {
        4_096
    } else if is(&["opus-4-7", "mythos-preview", "haiku-3", "3-5-haiku", "3-haiku"]) {
        2_048
    } else if is(&["fable-5", "mythos-5", "opus-5", "sonnet-5-5", "haiku-5-5"]) {
        512
    } else {
        1_024
    }
}
