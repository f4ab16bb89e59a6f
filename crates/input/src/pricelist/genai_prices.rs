//! pydantic/genai-prices' `data.json`: providers with models, US dollars per million tokens, rules on names.
//!
//! Read at commit 47df840a. A tier applies to the whole request above its `start`; of several lists of
//! prices, the last whose constraint holds applies.

use indexmap::IndexMap;

use super::json::{self, Json};
use super::matching::Match;
use super::{List, ListContents, ListEntry, NoProfileReason, PriceFile};
use crate::profile::written::{LimitsSpec, PriceSpec, TierSpec, WindowSpec};
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::quantity::{Decimal, Tokens};

pub(super) const LIST: List = List {
    name: "genai-prices",
    looks_like: "a JSON list of providers with `models`",
    source: "pydantic/genai-prices, prices/data.json",
    detect,
    read,
};

fn detect(file: &PriceFile) -> bool {
    file.text.trim_start().starts_with('[') && file.path.ends_with(".json")
}

fn read(files: &[&PriceFile], found: &mut ListContents) -> Result<(), Vec<Diagnostic>> {
    for file in files {
        let tree = json::read(file)?;
        for (index, it) in tree.list().into_iter().flatten().enumerate() {
            match it.get("id").and_then(Json::text) {
                Some(id) => provider(id, it, found),
                None => {
                    found.leave(
                        format!("provider {index}"),
                        "provider-missing",
                        "a provider without an `id`",
                    );
                }
            }
        }
    }
    Ok(())
}

/// Reads one provider's models.
fn provider(id: &str, provider: &Json, found: &mut ListContents) {
    let texts = |name: &str| {
        let list = provider.get(name).and_then(Json::list).unwrap_or_default();
        list.iter().filter_map(|it| it.text().map(str::to_owned)).collect::<Vec<_>>()
    };
    let fallbacks = texts("fallback_model_providers");
    if !fallbacks.is_empty() {
        found.fallbacks.insert(id.to_owned(), fallbacks);
    }
    let Some(models) = provider.get("models").and_then(Json::list) else {
        found.leave(id, "models-missing", "a provider without a list of `models`");
        return;
    };
    let sources = texts("pricing_urls");
    for (index, model) in models.iter().enumerate() {
        let name = model.get("id").and_then(Json::text);
        let named = || format!("{id}/{}", name.map_or_else(|| format!("model {index}"), str::to_owned));
        match entry(id, name, model, &sources) {
            Ok(entry) if found.entries.iter().any(|it| it.provider == id && it.model == entry.model) => {
                let reason = "an earlier model of the provider has the same `id`";
                found.leave(named(), "model-duplicate", reason);
            }
            Ok(entry) => found.entries.push(entry),
            Err((code, reason)) => found.leave(named(), code, reason),
        }
    }
}

/// Reads one model.
fn entry(
    provider: &str,
    name: Option<&str>,
    model: &Json,
    sources: &[String],
) -> Result<ListEntry, NoProfileReason> {
    let malformed = |what: String| ("price-malformed", what);
    let name = name.ok_or_else(|| malformed("a model without an `id`".to_owned()))?;
    let matching = match model.get("match") {
        None => None,
        Some(rule) => Some(Match::read(rule).map_err(|it| ("match-unread", it))?),
    };
    let mut left_out = Vec::new();
    let prices = match model.get("prices") {
        Some(Json::List(conditional)) => conditional_prices(conditional, &mut left_out)?,
        Some(prices @ Json::Object(_)) => vec![price(prices, &mut left_out)?],
        _ => return Err(malformed("a model without `prices`".to_owned())),
    };
    let context_tokens = model.get("context_window").and_then(Json::tokens);
    Ok(ListEntry {
        provider: provider.to_owned(),
        model: name.to_owned(),
        title: model.get("name").and_then(Json::text).map(str::to_owned),
        limits: LimitsSpec { context_tokens, ..LimitsSpec::default() },
        cache_min_tokens: None,
        prices,
        matching,
        sources: sources.to_vec(),
        left_out,
    })
}

/// Reads prices that hold from a day on, or at some hours.
fn conditional_prices(
    conditional: &[Json],
    left_out: &mut Vec<String>,
) -> Result<Vec<PriceSpec>, NoProfileReason> {
    let mut prices: Vec<PriceSpec> = Vec::new();
    for one in conditional {
        let given =
            one.get("prices").ok_or_else(|| ("price-malformed", "an item without `prices`".to_owned()))?;
        let mut spec = price(given, left_out)?;
        let constraint = one.get("constraint").filter(|it| **it != Json::Null);
        let field = |name: &str| constraint.and_then(|it| it.get(name)).and_then(Json::text);
        match (constraint, field("start_date"), field("start_time"), field("end_time")) {
            (None, ..) => prices.push(spec),
            (_, Some(day), None, None) => {
                spec.from = Some(day.to_owned());
                prices.push(spec);
            }
            (_, None, Some(start), Some(end)) => {
                let usual = prices.last_mut().filter(|it| it.tiers.is_empty() && spec.tiers.is_empty());
                let hour = |text: &str| text.get(..5).map(str::to_owned).filter(|_| text.ends_with('Z'));
                let (Some(usual), Some(start), Some(end)) = (usual, hour(start), hour(end)) else {
                    return Err((
                        "price-form",
                        "hourly prices in a form that profiles do not support".to_owned(),
                    ));
                };
                usual.windows.push(WindowSpec {
                    hours: vec![format!("{start}-{end}")],
                    input: Some(spec.input),
                    output: spec.output,
                    cache_read: spec.cache_read,
                    cache_write: spec.cache_write,
                    ..WindowSpec::default()
                });
            }
            _ => return Err(("price-form", "an unknown kind of constraint".to_owned())),
        }
    }
    Ok(prices)
}

/// A list's prices for one kind of token.
#[derive(Debug, Default)]
struct GenaiRates {
    base: Option<Decimal>,
    above: IndexMap<Tokens, Decimal>,
}

/// Reads one set of prices.
fn price(prices: &Json, left_out: &mut Vec<String>) -> Result<PriceSpec, NoProfileReason> {
    let fields =
        prices.object().ok_or_else(|| ("price-malformed", "`prices` is not an object".to_owned()))?;
    let mut by_name: IndexMap<&str, GenaiRates> = IndexMap::new();
    for (name, value) in fields {
        match name.as_str() {
            "input_mtok" | "output_mtok" | "cache_read_mtok" | "cache_write_mtok" | "cache_write_1h_mtok" => {
                let priced = priced(value).map_err(|it| ("price-malformed", format!("`{name}`: {it}")))?;
                by_name.insert(name, priced);
            }
            "requests_kcount" => return Err(("price-form", "a price per request".to_owned())),
            other => left_out.push(format!("`{other}`")),
        }
    }
    let base = |name: &str| by_name.get(name).and_then(|it| it.base);
    let input = base("input_mtok").ok_or_else(|| ("price-absent", "no price for input tokens".to_owned()))?;
    let writes = |price: &dyn Fn(&str) -> Option<Decimal>| {
        let by_ttl = [("cache_write_mtok", "5m"), ("cache_write_1h_mtok", "1h")];
        by_ttl
            .iter()
            .filter_map(|(name, ttl)| Some(((*ttl).to_owned(), price(name)?)))
            .collect::<IndexMap<_, _>>()
    };
    let mut starts: Vec<Tokens> = by_name.values().flat_map(|it| it.above.keys().copied()).collect();
    starts.sort_unstable();
    starts.dedup();
    let tiers = starts.into_iter().map(|start| {
        let above = |name: &str| by_name.get(name).and_then(|it| it.above.get(&start)).copied();
        TierSpec {
            above_prompt_tokens: Some(start),
            input: above("input_mtok"),
            output: above("output_mtok"),
            cache_read: above("cache_read_mtok"),
            cache_write: writes(&above),
            ..TierSpec::default()
        }
    });
    Ok(PriceSpec {
        input,
        output: base("output_mtok"),
        cache_read: base("cache_read_mtok"),
        cache_write: writes(&base),
        tiers: tiers.collect(),
        ..PriceSpec::default()
    })
}

/// Reads a price, or a base with tiers.
fn priced(value: &Json) -> Result<GenaiRates, String> {
    let Some(tiers) = value.get("tiers") else {
        return Ok(GenaiRates { base: Some(value.per_million()?), above: IndexMap::new() });
    };
    let base = value.get("base").ok_or("tiers without a `base`")?.per_million()?;
    let mut above = IndexMap::new();
    for tier in tiers.list().ok_or("`tiers` is not a list")? {
        let start =
            tier.get("start").and_then(Json::tokens).ok_or("a tier must start at a number of tokens")?;
        let price = tier.get("price").ok_or("a tier without a `price`")?.per_million()?;
        if above.insert(start, price).is_some() {
            return Err(format!("two tiers start at {start}"));
        }
    }
    Ok(GenaiRates { base: Some(base), above })
}
