//! models.dev's tree: one TOML file per model below its provider's folder, US dollars per million tokens.
//!
//! Read at anomalyco/models.dev, commit f3fc6922. Tiers apply to the whole request above a prompt length.

use crate::prelude::*;

use super::json::{self, Json};
use super::{List, ListContents, ListEntry, NoProfileReason, PriceFile, usual_price};
use crate::profile::written::{LimitsSpec, ServicePrices, TierSpec};

pub(super) const LIST: List = List {
    name: "models.dev",
    looks_like: "TOML files `PROVIDER/models/MODEL.toml`",
    source: "anomalyco/models.dev, providers/",
    detect,
    read,
};

fn detect(file: &PriceFile) -> bool {
    names(&file.path).is_some() || file.path.rsplit('/').next() == Some("provider.toml")
}

fn read(files: &[&PriceFile], found: &mut ListContents) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for file in files {
        let Some((provider, model)) = names(&file.path) else { continue };
        let tree = match json::read(file) {
            Ok(tree) => tree,
            Err(more) => {
                problems.extend(more);
                continue;
            }
        };
        match entry(provider, model, &tree) {
            Ok(entry) => found.entries.push(entry),
            Err((code, reason)) => found.leave(format!("{provider}/{model}"), code, reason),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns provider and model as the path gives them; nothing for files that describe a provider.
fn names(path: &str) -> Option<(&str, &str)> {
    let (provider, model) = path.rsplit_once("/models/")?;
    Some((provider.rsplit('/').next()?, model.strip_suffix(".toml")?))
}

/// What is read of a model's `[cost]`.
const READ: [&str; 5] = ["input", "output", "cache_read", "cache_write", "tiers"];

/// Reads one model.
fn entry(provider: &str, model: &str, tree: &Json) -> Result<ListEntry, NoProfileReason> {
    let cost = tree.get("cost").ok_or_else(|| ("price-absent", "no `[cost]`".to_owned()))?;
    let mut price = usual_price(rates(cost)?)?;
    if let Some(tiers) = cost.get("tiers") {
        let malformed = || ("price-malformed", "`cost.tiers` is not a list of tiers".to_owned());
        price.tiers = tiers.list().ok_or_else(malformed)?.iter().map(tier).collect::<Result<_, _>>()?;
    }
    let modes = tree.get("experimental").and_then(|it| it.get("modes")).and_then(Json::object);
    for (name, mode) in modes.into_iter().flatten() {
        let Some(cost) = mode.get("cost") else { continue };
        let service = rates(cost)?;
        if service.input.is_some() && service.output.is_some() {
            price.services.insert(name.clone(), service);
        }
    }
    let limit = |name: &str| tree.get("limit").and_then(|it| it.get(name)).and_then(Json::tokens);
    let limits = LimitsSpec {
        context_tokens: limit("context"),
        input_tokens: limit("input"),
        output_tokens: limit("output"),
    };
    let others = cost.object().into_iter().flatten().filter(|(name, _)| !READ.contains(&name.as_str()));
    let mut left_out = Vec::new();
    for (name, value) in others {
        // A table would be prices at some length or hour; without it they would be wrong there.
        if !matches!(value, Json::Number(_)) {
            return Err(("price-form", format!("`cost.{name}` is an unknown price")));
        }
        left_out.push(format!("`{name}`"));
    }
    Ok(ListEntry {
        provider: provider.to_owned(),
        model: model.to_owned(),
        title: tree.get("name").and_then(Json::text).map(str::to_owned),
        limits,
        prices: vec![price],
        left_out,
        ..ListEntry::default()
    })
}

/// Reads the rates that a table gives.
fn rates(cost: &Json) -> Result<ServicePrices, NoProfileReason> {
    let rate = |name: &str| {
        let read = cost.get(name).map(Json::per_million).transpose();
        read.map_err(|it| ("price-malformed", format!("`cost.{name}`: {it}")))
    };
    let write = rate("cache_write")?;
    Ok(ServicePrices {
        input: rate("input")?,
        output: rate("output")?,
        cache_read: rate("cache_read")?,
        cache_write: write.into_iter().map(|it| ("5m".to_owned(), it)).collect(),
        ..ServicePrices::default()
    })
}

fn tier(tier: &Json) -> Result<TierSpec, NoProfileReason> {
    let malformed = |what: &str| ("price-malformed", format!("`cost.tiers`: {what}"));
    let kind = tier.get("tier").ok_or_else(|| malformed("a tier without `tier`"))?;
    if kind.get("type").is_some_and(|it| it.text() != Some("context")) {
        return Err(("price-form", "a tier that does not depend on the prompt length".to_owned()));
    }
    let size = kind.get("size").and_then(Json::tokens);
    let above_prompt_tokens = Some(size.ok_or_else(|| malformed("a size must be a number of tokens"))?);
    let ServicePrices { input, output, cache_read, cache_write, .. } = rates(tier)?;
    Ok(TierSpec { above_prompt_tokens, input, output, cache_read, cache_write, ..TierSpec::default() })
}
