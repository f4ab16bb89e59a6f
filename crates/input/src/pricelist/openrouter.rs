//! OpenRouter's listing of models, `https://openrouter.ai/api/v1/models`: US dollars per token, as text.
//!
//! Read on 2026-05-12. A model's provider is its maker; the prices are those at which OpenRouter sells it.

use super::json::{self, Json};
use super::{List, ListContents, ListEntry, NoProfileReason, PriceFile};
use crate::profile::written::{LimitsSpec, PriceSpec};
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::quantity::Decimal;

pub(super) const LIST: List = List {
    name: "openrouter",
    looks_like: "a JSON object with `data`, a list of models with `canonical_slug`",
    source: "OpenRouter, https://openrouter.ai/api/v1/models",
    detect,
    read,
};

/// What stands beside tokens in `pricing`.
const PER_TOKEN: [&str; 4] = ["prompt", "completion", "input_cache_read", "input_cache_write"];

fn detect(file: &PriceFile) -> bool {
    file.text.trim_start().starts_with('{') && file.text.contains("\"canonical_slug\"")
}

fn read(files: &[&PriceFile], found: &mut ListContents) -> Result<(), Vec<Diagnostic>> {
    for file in files {
        let tree = json::read(file)?;
        for model in tree.get("data").and_then(Json::list).unwrap_or_default() {
            let id = model.get("id").and_then(Json::text).unwrap_or("a model without an `id`");
            match entry(id, model) {
                Ok(entry) => found.entries.push(entry),
                Err((code, reason)) => found.leave(id, code, reason),
            }
        }
    }
    Ok(())
}

/// Reads one model.
fn entry(id: &str, model: &Json) -> Result<ListEntry, NoProfileReason> {
    let (provider, name) =
        id.split_once('/').ok_or_else(|| ("provider-missing", "no maker before its name".to_owned()))?;
    let outputs = model.get("architecture").and_then(|it| it.get("output_modalities")).and_then(Json::list);
    if outputs.is_some_and(|it| it.iter().any(|it| it.text() != Some("text"))) {
        return Err(("not-a-text-model", "it writes more than text".to_owned()));
    }
    let pricing = model.get("pricing").and_then(Json::object);
    let pricing = pricing.ok_or_else(|| ("price-malformed", "a model without `pricing`".to_owned()))?;
    let price = |field: &str| -> Result<Option<Decimal>, NoProfileReason> {
        let Some(text) = pricing.get(field).and_then(Json::text) else { return Ok(None) };
        let price = Decimal::parse(text).and_then(|it| it.shifted(6)).filter(|it| it.scaled(6).is_some());
        let malformed = || ("price-malformed", format!("`{field}`: `{text}` is not a price"));
        price.map(Some).ok_or_else(malformed)
    };
    let input = price("prompt")?.ok_or_else(|| ("price-absent", "no price for input tokens".to_owned()))?;
    let write = price("input_cache_write")?;
    let spec = PriceSpec {
        input,
        output: price("completion")?,
        cache_read: price("input_cache_read")?,
        cache_write: write.into_iter().map(|it| ("5m".to_owned(), it)).collect(),
        ..PriceSpec::default()
    };
    let is_other = |it: &&String| !PER_TOKEN.contains(&it.as_str());
    let top = model.get("top_provider");
    Ok(ListEntry {
        provider: provider.to_owned(),
        model: name.to_owned(),
        title: model.get("name").and_then(Json::text).map(str::to_owned),
        limits: LimitsSpec {
            context_tokens: model.get("context_length").and_then(Json::tokens),
            input_tokens: None,
            output_tokens: top.and_then(|it| it.get("max_completion_tokens")).and_then(Json::tokens),
        },
        prices: vec![spec],
        left_out: pricing.keys().filter(is_other).map(|it| format!("`{it}`")).collect(),
        ..ListEntry::default()
    })
}
