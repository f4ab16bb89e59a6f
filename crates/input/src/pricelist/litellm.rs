//! BerriAI/litellm's `model_prices_and_context_window.json`: one object per model, US dollars per token.
//!
//! Read at version 1.109.1. Prices above a length apply to the whole request, excluding the threshold itself,
//! except for xAI, whose thresholds litellm includes.

use crate::prelude::*;

use super::json::{self, Json};
use super::{List, ListContents, ListEntry, NoProfileReason, PriceFile, usual_price};
use crate::profile::written::{LimitsSpec, PriceSpec, ServicePrices, TierSpec, Weekday, WindowSpec};

pub(super) const LIST: List = List {
    name: "litellm",
    looks_like: "a JSON object of models with `litellm_provider`",
    source: "BerriAI/litellm, model_prices_and_context_window.json",
    detect,
    read,
};

/// The services, as suffixes of keys and as profiles name them.
const SERVICES: [(&str, &str); 6] = [
    ("_batches", "batch"),
    ("_flex", "flex"),
    ("_priority", "priority"),
    ("_ultrafast", "ultrafast"),
    ("_balanced", "balanced"),
    ("_decisions", "decisions"),
];

/// The kinds of models that write text for tokens.
const MODES: [&str; 3] = ["chat", "responses", "completion"];

fn detect(file: &PriceFile) -> bool {
    file.text.trim_start().starts_with('{') && file.text.contains("\"litellm_provider\"")
}

fn read(files: &[&PriceFile], found: &mut ListContents) -> Result<(), Vec<Diagnostic>> {
    for file in files {
        let tree = json::read(file)?;
        for (key, value) in tree.object().into_iter().flatten() {
            if key == "sample_spec" {
                continue;
            }
            match entry(key, value) {
                Ok(entry) => found.entries.push(entry),
                Err((code, reason)) => found.leave(key, code, reason),
            }
        }
    }
    Ok(())
}

/// Reads one model.
fn entry(key: &str, value: &Json) -> Result<ListEntry, NoProfileReason> {
    let fields = value.object().ok_or_else(|| ("price-malformed", "a model must be an object".to_owned()))?;
    let provider = fields.get("litellm_provider").and_then(Json::text);
    let provider = provider.ok_or_else(|| ("provider-missing", "no `litellm_provider`".to_owned()))?;
    let mode = fields.get("mode").and_then(Json::text).unwrap_or("chat");
    if !MODES.contains(&mode) {
        return Err((
            "not-a-text-model",
            format!("its mode is `{mode}`, which is not priced by text tokens"),
        ));
    }
    let is_paid = |it: &&Json| **it != Json::Null && **it != Json::Number(0.0);
    if fields.get("input_cost_per_request").filter(is_paid).is_some() {
        return Err(("price-form", "a price per request".to_owned()));
    }
    let rates = LitellmRates::read(fields)?;
    let mut price = rates.price(provider)?;
    price.windows = windows(fields.get("off_peak_pricing"), &price)?;
    factors(fields, &mut price)?;
    let number = |name: &str| fields.get(name).and_then(Json::tokens);
    let model = key.strip_prefix(provider).and_then(|it| it.strip_prefix('/')).unwrap_or(key);
    let model = model.strip_prefix("openai/responses/").unwrap_or(model);
    let source = fields.get("source").and_then(Json::text);
    let left_out = LEFT_OUT.iter().filter(|(field, _)| fields.contains_key(*field));
    let mut left_out: Vec<String> = left_out.map(|(_, what)| (*what).to_owned()).collect();
    let is_unread = |it: &&String| is_price(it) && what(it).is_none() && *it != CACHE_HIT;
    left_out.extend(fields.keys().filter(is_unread).map(|it| format!("`{it}`")));
    if fields.get("off_peak_pricing").is_some_and(|it| it.get("weekday_timezone").is_some()) {
        left_out.push("weekdays in a time zone other than UTC".to_owned());
    }
    Ok(ListEntry {
        provider: provider.to_owned(),
        model: model.to_owned(),
        limits: LimitsSpec {
            context_tokens: None,
            input_tokens: number("max_input_tokens"),
            output_tokens: number("max_output_tokens"),
        },
        cache_min_tokens: number("prompt_cache_min_tokens"),
        prices: vec![price],
        sources: source.iter().map(|it| (*it).to_owned()).collect(),
        left_out,
        ..ListEntry::default()
    })
}

/// What profiles cannot express.
const LEFT_OUT: [(&str, &str); 4] = [
    ("output_cost_per_reasoning_token", "a separate price for reasoning"),
    ("input_cost_per_audio_token", "a separate price for audio"),
    ("explicit_cache_read_input_token_cost", "a separate price for explicitly cached reads"),
    ("search_context_cost_per_query", "a price per search"),
];

/// One kind of token that a key prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PricedPart {
    Input,
    Output,
    Read,
    Write(&'static str),
}

/// The token kind of a key's beginning, the longest first. A write without a lifetime has the provider's
/// default one.
const PARTS: [(&str, PricedPart); 6] = [
    ("cache_creation_input_token_cost_above_12hr", PricedPart::Write("12h")),
    ("cache_creation_input_token_cost_above_1hr", PricedPart::Write("1h")),
    ("cache_creation_input_token_cost", PricedPart::Write("")),
    ("cache_read_input_token_cost", PricedPart::Read),
    ("input_cost_per_token", PricedPart::Input),
    ("output_cost_per_token", PricedPart::Output),
];

/// What some providers' models have for `cache_read_input_token_cost`.
const CACHE_HIT: &str = "input_cost_per_token_cache_hit";

/// Prices by the prompt length above which they hold, and by part.
type RatesByThreshold = IndexMap<Tokens, IndexMap<PricedPart, Decimal>>;

/// Every price of a model: by service, by threshold, by part.
#[derive(Debug, Default)]
struct LitellmRates {
    by_service: IndexMap<&'static str, RatesByThreshold>,
}

impl LitellmRates {
    fn read(fields: &IndexMap<String, Json>) -> Result<Self, NoProfileReason> {
        let mut rates = Self::default();
        for (key, value) in fields {
            let (key, value) = match key.as_str() {
                CACHE_HIT if !fields.contains_key("cache_read_input_token_cost") => {
                    ("cache_read_input_token_cost", value)
                }
                key => (key, value),
            };
            let Some(place) = what(key) else {
                // A dearer price for longer prompts that is passed over would make them too cheap.
                if is_price(key) && key.contains("_above_") && key.ends_with("_tokens") {
                    return Err(("price-form", format!("`{key}` has an unsupported threshold")));
                }
                continue;
            };
            if *value == Json::Null {
                continue;
            }
            let malformed = |what: String| ("price-malformed", format!("`{key}`: {what}"));
            rates.put(place, value.per_token().map_err(malformed)?).map_err(malformed)?;
        }
        rates.read_tiered(fields.get("tiered_pricing"))?;
        Ok(rates)
    }

    /// Reads prices that are listed by the length from which on they hold.
    fn read_tiered(&mut self, tiers: Option<&Json>) -> Result<(), NoProfileReason> {
        let malformed = |what: &str| ("price-malformed", format!("`tiered_pricing`: {what}"));
        let tiers = match tiers {
            None | Some(Json::Null) => &[],
            Some(tiers) => tiers.list().ok_or_else(|| malformed("not a list of tiers"))?,
        };
        for tier in tiers {
            let tier = tier.object().ok_or_else(|| malformed("a tier must be an object"))?;
            let start = tier.get("range").and_then(|it| it.list()?.first());
            let start = match start {
                Some(Json::Number(zero)) if *zero == 0.0 => 0,
                Some(other) => {
                    other.tokens().ok_or_else(|| malformed("a range must start at a number of tokens"))?
                }
                None => return Err(malformed("a tier without a range")),
            };
            for (key, value) in tier {
                let Some(("", 0, part)) = what(key) else { continue };
                let malformed = |what: String| malformed(&format!("`{key}`: {what}"));
                self.put(("", start, part), value.per_token().map_err(malformed)?).map_err(malformed)?;
            }
        }
        Ok(())
    }

    /// Records a price; a different price for the same place is rejected as ambiguous.
    fn put(&mut self, (service, threshold, part): Keyed, price: Decimal) -> Result<(), String> {
        let parts = self.by_service.entry(service).or_default().entry(threshold).or_default();
        match parts.insert(part, price) {
            Some(other) if other != price => Err(format!("both {other} and {price} USD per million tokens")),
            _ => Ok(()),
        }
    }

    /// Writes the prices as a profile does.
    fn price(&self, provider: &str) -> Result<PriceSpec, NoProfileReason> {
        let none = IndexMap::new();
        let usual = self.by_service.get("").unwrap_or(&none);
        let sells_half_hours = usual.get(&0).is_some_and(|base| base.contains_key(&PricedPart::Write("12h")))
            || ["openai", "azure", "azure_ai"].contains(&provider);
        let usual_ttl = if sells_half_hours { "30m" } else { "5m" };
        let mut price = usual_price(prices(usual, provider, usual_ttl))?;
        for (service, by_threshold) in self.by_service.iter().filter(|(name, _)| !name.is_empty()) {
            let own = prices(by_threshold, provider, usual_ttl);
            // A service without a price for input is told in part only, and what is not told must not be guessed.
            if own.input.is_some() && own.output.is_some() {
                price.services.insert((*service).to_owned(), own);
            }
        }
        Ok(price)
    }
}

/// Returns the prices of a service, or of none.
fn prices(rates: &RatesByThreshold, provider: &str, usual_ttl: &str) -> ServicePrices {
    let is_counted_in = provider == "xai";
    let none = IndexMap::new();
    let base = rates.get(&0).unwrap_or(&none);
    let mut above: Vec<(Tokens, &IndexMap<PricedPart, Decimal>)> =
        rates.iter().filter(|it| *it.0 > 0).map(|(threshold, parts)| (*threshold, parts)).collect();
    above.order_by_key(|it| it.0);
    let tier = |(threshold, parts): (Tokens, &IndexMap<PricedPart, Decimal>)| TierSpec {
        above_prompt_tokens: (!is_counted_in).then_some(threshold),
        from_prompt_tokens: is_counted_in.then_some(threshold),
        input: parts.get(&PricedPart::Input).copied(),
        output: parts.get(&PricedPart::Output).copied(),
        cache_read: parts.get(&PricedPart::Read).copied(),
        cache_write: writes(parts, usual_ttl),
        ..TierSpec::default()
    };
    ServicePrices {
        factor: None,
        input: base.get(&PricedPart::Input).copied(),
        output: base.get(&PricedPart::Output).copied(),
        cache_read: base.get(&PricedPart::Read).copied(),
        cache_write: writes(base, usual_ttl),
        tiers: above.into_iter().map(tier).collect(),
    }
}

/// Returns the prices of writes by lifetime, the shortest first.
fn writes(parts: &IndexMap<PricedPart, Decimal>, usual_ttl: &str) -> IndexMap<String, Decimal> {
    let by_ttl = [("", usual_ttl), ("1h", "1h"), ("12h", "12h")];
    let given = by_ttl
        .iter()
        .filter_map(|(key, ttl)| Some(((*ttl).to_owned(), *parts.get(&PricedPart::Write(key))?)));
    given.collect()
}

/// Returns whether a key prices tokens of text.
fn is_price(key: &str) -> bool {
    PARTS.iter().any(|(start, _)| key.starts_with(start))
}

/// What a key prices: the service, the threshold, the kind of token.
type Keyed = (&'static str, Tokens, PricedPart);

/// Returns what a key prices, if it can be read.
fn what(key: &str) -> Option<Keyed> {
    let (key, service) = SERVICES
        .iter()
        .find_map(|(ending, name)| Some((key.strip_suffix(ending)?, *name)))
        .unwrap_or((key, ""));
    let (rest, part) = PARTS.iter().find_map(|(start, part)| Some((key.strip_prefix(start)?, *part)))?;
    if rest.is_empty() {
        return Some((service, 0, part));
    }
    let thousands: Tokens = rest.strip_prefix("_above_")?.strip_suffix("k_tokens")?.parse().ok()?;
    Some((service, thousands.checked_mul(1_000)?, part))
}

/// Reads the hours at which a model is cheaper.
fn windows(off_peak: Option<&Json>, price: &PriceSpec) -> Result<Vec<WindowSpec>, NoProfileReason> {
    let Some(off_peak) = off_peak else { return Ok(Vec::new()) };
    let malformed = |what: &str| ("price-malformed", format!("`off_peak_pricing`: {what}"));
    if !price.tiers.is_empty() {
        return Err(("price-form", "prices both by hour and by prompt length".to_owned()));
    }
    let rate = |name: &str| {
        let read = off_peak.get(name).map(Json::per_token).transpose();
        read.map_err(|it| malformed(&format!("`{name}`: {it}")))
    };
    let own = WindowSpec {
        input: rate("input_cost_per_token")?,
        output: rate("output_cost_per_token")?,
        cache_read: rate("cache_read_input_token_cost")?,
        ..WindowSpec::default()
    };
    let windows = off_peak.get("windows").and_then(Json::list).ok_or_else(|| malformed("no `windows`"))?;
    let read = windows.iter().map(|window| {
        // Without hours a window would hold all day.
        let hours: Option<Vec<String>> = match window.get("hours_utc") {
            Some(Json::Text(hours)) => Some(vec![hours.clone()]),
            Some(Json::List(hours)) => hours.iter().map(|it| it.text().map(str::to_owned)).collect(),
            _ => None,
        };
        let hours =
            hours.filter(|it| !it.is_empty()).ok_or_else(|| malformed("a window without `hours_utc`"))?;
        let days = match window.get("weekdays") {
            None => &[],
            Some(days) => days.list().ok_or_else(|| malformed("`weekdays` is not a list"))?,
        };
        let weekdays = days.iter();
        let weekdays =
            weekdays.map(|it| weekday(it).ok_or_else(|| malformed("a weekday must be from 1 to 7")));
        Ok(WindowSpec { weekdays: weekdays.collect::<Result<_, _>>()?, hours, ..own.clone() })
    });
    read.collect()
}

fn weekday(number: &Json) -> Option<Weekday> {
    use Weekday::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
    let index = usize::try_from(number.tokens()?).ok()?.checked_sub(1)?;
    [Mon, Tue, Wed, Thu, Fri, Sat, Sun].get(index).copied()
}

/// Reads what a region or a speed multiplies prices with.
fn factors(fields: &IndexMap<String, Json>, price: &mut PriceSpec) -> Result<(), NoProfileReason> {
    let entry = fields.get("provider_specific_entry").and_then(Json::object);
    let own = ["us", "eu", "fast"].iter().filter_map(|it| Some((*it, entry?.get(*it)?)));
    let uplift = "regional_processing_uplift_multiplier_";
    let regional = fields.iter().filter_map(|(key, value)| Some((key.strip_prefix(uplift)?, value)));
    for (name, value) in own.chain(regional) {
        let factor = if let Json::Number(number) = value { Decimal::from_f64(*number) } else { None };
        let factor = factor.filter(|it| *it > Decimal::ZERO);
        let factor = factor
            .ok_or_else(|| ("price-malformed", format!("the factor of `{name}` is not a number above 0")))?;
        let service = ServicePrices { factor: Some(factor), ..ServicePrices::default() };
        price.services.insert(name.to_owned(), service);
    }
    Ok(())
}
