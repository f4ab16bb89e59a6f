//! Public price lists, read into entries that become profiles.
//!
//! Nothing is guessed; entries that cannot be used are listed with their reasons.

mod json;
mod litellm;
mod models_dev;
pub mod place;
pub mod update;

use crate::prelude::*;

use crate::profile::cache::Cache;
use crate::profile::written::{AssumptionsSpec, LimitsSpec, PriceSpec, ServicePrices, TierSpec};
use crate::text::{Node, Said, TreeEntry, Value};

/// All lists; the first one that recognises a file reads it.
const LISTS: [List; 2] = [litellm::LIST, models_dev::LIST];

/// A price list's format.
struct List {
    name: &'static str,
    /// A description of its files.
    looks_like: &'static str,
    source: &'static str,
    /// Returns whether a file is of this list.
    detect: fn(&PriceFile) -> bool,
    /// Reads all files of the list.
    read: fn(&[&PriceFile], &mut ListContents) -> Result<(), Vec<Diagnostic>>,
}

/// A file of a price list.
#[derive(Clone, Debug)]
pub struct PriceFile {
    /// Its path, `/` between its parts.
    pub path: String,
    pub text: String,
}

/// A list's entry for one model at one provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListEntry {
    /// The provider's name in the list.
    pub provider: String,
    /// The model's name in the list.
    pub model: String,
    /// Its display name.
    pub title: Option<String>,
    /// The ids that a profile of it would cover; none where no recording is to choose it.
    pub models: Vec<String>,
    /// Its token limits.
    pub limits: LimitsSpec,
    /// The shortest prefix that its provider caches.
    pub cache_min_tokens: Option<u64>,
    pub prices: Vec<PriceSpec>,
    /// The list's own source for the entry.
    pub sources: Vec<String>,
    /// Parts of the entry that a profile cannot express.
    pub left_out: Vec<String>,
}

/// Why a model has no profile: a code and a sentence.
type NoProfileReason = (&'static str, String);

/// An entry that has no profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unplaced {
    pub list: &'static str,
    /// The model with its provider.
    pub name: String,
    /// A stable kebab-case code.
    pub code: &'static str,
    /// Why.
    pub reason: String,
}

#[derive(Clone, Debug, Default)]
pub struct ListContents {
    /// Its name.
    pub list: &'static str,
    pub source: &'static str,
    /// Its models, in the order of the list.
    pub entries: Vec<ListEntry>,
    /// Unusable parts, with reasons.
    pub unplaced: Vec<Unplaced>,
}

impl ListContents {
    /// Leaves something out.
    fn leave(&mut self, name: impl Into<String>, code: &'static str, reason: impl Into<String>) {
        self.unplaced.push(Unplaced { list: self.list, name: name.into(), code, reason: reason.into() });
    }
}

/// Reads price lists, detecting each format from the files' contents.
///
/// # Errors
/// A file belongs to no known list, or is malformed.
pub fn read(files: &[PriceFile]) -> Result<Vec<ListContents>, Vec<Diagnostic>> {
    let mut by_list: IndexMap<&'static str, (&List, Vec<&PriceFile>)> = IndexMap::new();
    let mut problems = Vec::new();
    for file in files {
        match LISTS.iter().find(|it| (it.detect)(file)) {
            Some(list) => by_list.entry(list.name).or_insert((list, Vec::new())).1.push(file),
            None => problems.push(unknown(file)),
        }
    }
    let mut all = Vec::with_capacity(by_list.len());
    for (list, files) in by_list.values() {
        let mut found = ListContents { list: list.name, source: list.source, ..ListContents::default() };
        match (list.read)(files, &mut found) {
            Ok(()) => all.push(found),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// Says that a file is of no known list.
fn unknown(file: &PriceFile) -> Diagnostic {
    let known: Vec<String> = LISTS.iter().map(|it| format!("{} ({})", it.name, it.looks_like)).collect();
    let mut problem = Diagnostic::at(Code("price-list-unknown"), "", "unknown price list format");
    problem.place.file.clone_from(&file.path);
    problem.help(format!("supported lists: {}", known.join("; ")))
}

/// Returns the prices that hold without a service; a model without a price for input or output has none.
fn usual_price(rates: ServicePrices) -> Result<PriceSpec, NoProfileReason> {
    let ServicePrices { input, output, cache_read, cache_write, tiers, .. } = rates;
    let input = input.ok_or_else(|| ("price-absent", "no price for input tokens".to_owned()))?;
    if output.is_none() {
        return Err(("price-absent", "no price for output tokens".to_owned()));
    }
    Ok(PriceSpec { input, output, cache_read, cache_write, tiers, ..PriceSpec::default() })
}

// The cache rules that a provider applies to a model: the first matching row of `assumptions/price_lists.toml`.

/// What no price list contains, with its sources.
const TEXT: &str = ctxsim_assumptions::PRICE_LISTS;

/// Knowledge beyond the lists.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceKnowledge {
    assumptions: AssumptionsSpec,
    /// Other names of a provider, by the folder of its profiles.
    names: IndexMap<String, Vec<String>>,
    rows: Vec<CacheRow>,
    minimums: Vec<Minimum>,
    services: Vec<ServiceFactor>,
}

/// The cache rules of some models.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheRow {
    providers: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    begins: Vec<String>,
    cache: Cache,
    /// Whether only the lifetimes are kept whose writes have a price.
    #[serde(default)]
    sold_lifetimes: bool,
    /// What the provider's pages leave open, or the rules cannot express.
    doubt: String,
    /// The provider's page.
    source: String,
}

/// The shortest prefix that is cached for some models of a row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Minimum {
    providers: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    tokens: Tokens,
}

/// The price of a service at some providers, as a factor on all prices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceFactor {
    providers: Vec<String>,
    service: String,
    factor: Decimal,
    /// The provider's page.
    source: String,
}

/// Returns what is known, read once.
fn known() -> &'static PriceKnowledge {
    static KNOWN: LazyLock<PriceKnowledge> = LazyLock::new(|| declared(TEXT));
    &KNOWN
}

/// Returns what is assumed of an agent.
fn assumptions() -> AssumptionsSpec {
    known().assumptions.clone()
}

/// Returns the one name of a provider, which is the folder of its profiles.
fn canonical(provider: &str) -> &str {
    let known = known().names.iter().find(|(_, others)| others.iter().any(|it| it == provider));
    known.map_or(provider, |(name, _)| name)
}

/// Returns the cache rules of a model and the row that they come from, if they are known.
fn cache_rules(entry: &ListEntry) -> Option<(Cache, &'static CacheRow)> {
    if entry.prices.iter().all(|it| it.cache_read.is_none()) {
        return None;
    }
    let model = entry.model.to_lowercase();
    let provider = canonical(&entry.provider);
    let row = known().rows.iter().find(|it| it.fits(provider, &model))?;
    let dashed = model.replace('.', "-");
    let of_model =
        known().minimums.iter().find(|it| is_among(&it.providers, provider) && has(&it.contains, &dashed));
    let mut cache = row.cache.clone();
    if let Some(min_tokens) = cache.min_tokens_mut() {
        *min_tokens = entry.cache_min_tokens.or(of_model.map(|it| it.tokens)).or(*min_tokens);
    }
    let is_sold = || entry.prices.iter().any(|it| it.cache_write.contains_key("1h"));
    if let Some(ttls) = cache.ttls_mut().filter(|_| row.sold_lifetimes && !is_sold()) {
        ttls.0.truncate(1);
    }
    Some((cache, row))
}

impl CacheRow {
    /// Returns whether the row is for a model, in lower case.
    fn fits(&self, provider: &str, model: &str) -> bool {
        // Regions and deployments stand in front of the name.
        let own_name = model.rsplit('/').next().unwrap_or(model);
        is_among(&self.providers, provider)
            && has(&self.contains, model)
            && (self.begins.is_empty() || self.begins.iter().any(|it| own_name.starts_with(it)))
    }
}

fn is_among(names: &[String], name: &str) -> bool {
    names.iter().any(|it| it == name)
}

/// Returns whether a name contains one of some parts, where any are given.
fn has(parts: &[String], name: &str) -> bool {
    parts.is_empty() || parts.iter().any(|it| name.contains(it))
}

// Services as lists price them: as a single factor where possible, completed where the provider states the factor.

/// Returns prices with their services as factors where they are, and the pages that say so of what a list leaves out.
fn served(usual: &PriceSpec, provider: &str) -> (PriceSpec, Vec<&'static str>) {
    let mut price = usual.clone();
    let mut sources = Vec::new();
    // What the provider says a way of being served costs.
    let own = |it: &&ServiceFactor| is_among(&it.providers, canonical(provider));
    for (name, service) in &mut price.services {
        if service.factor.is_some() {
            continue;
        }
        if factor(usual, service).is_none()
            && let Some(known) = known().services.iter().filter(own).find(|it| it.service == *name)
            && let Some(complete) = completed(usual, service, known.factor)
        {
            *service = complete;
            sources.push(known.source.as_str());
        }
        if let Some(factor) = factor(usual, service) {
            *service = ServicePrices { factor: Some(factor), ..ServicePrices::default() };
        }
    }
    (price, sources)
}

/// Returns what has a usual price and none for a service.
fn unpriced(price: &PriceSpec) -> Vec<String> {
    let mut found = Vec::new();
    for (name, service) in price.services.iter().filter(|(_, it)| it.factor.is_none()) {
        if price.cache_read.is_some() && service.cache_read.is_none() {
            found.push(format!("cache reads by `{name}` (billed as input)"));
        }
        for ttl in price.cache_write.keys().filter(|it| !service.cache_write.contains_key(*it)) {
            found.push(format!("cache writes for {ttl} by `{name}` (unknown)"));
        }
    }
    found
}

/// Returns a service with what it lacks at a factor of the usual price.
fn completed(usual: &PriceSpec, service: &ServicePrices, factor: Decimal) -> Option<ServicePrices> {
    let rate = |own: Option<Decimal>, usual: Option<Decimal>| match (own, usual) {
        (None, Some(usual)) => usual.times(factor).map(Some),
        (own, _) => Some(own),
    };
    let writes = |own: &IndexMap<String, Decimal>, usual: &IndexMap<String, Decimal>| {
        let all: Option<IndexMap<String, Decimal>> = usual
            .iter()
            .map(|(ttl, price)| Some((ttl.clone(), rate(own.get(ttl).copied(), Some(*price))??)))
            .collect();
        let mut all = all?;
        all.extend(own.iter().map(|(ttl, price)| (ttl.clone(), *price)));
        Some(all)
    };
    let threshold = |it: &TierSpec| (it.above_prompt_tokens, it.from_prompt_tokens);
    let tiers = usual.tiers.iter().map(|tier| {
        let own =
            service.tiers.iter().find(|it| threshold(it) == threshold(tier)).cloned().unwrap_or_default();
        Some(TierSpec {
            input: rate(own.input, tier.input)?,
            output: rate(own.output, tier.output)?,
            cache_read: rate(own.cache_read, tier.cache_read)?,
            cache_write: writes(&own.cache_write, &tier.cache_write)?,
            ..tier.clone()
        })
    });
    let mut tiers = tiers.collect::<Option<Vec<TierSpec>>>()?;
    let is_new = |it: &&TierSpec| usual.tiers.iter().all(|tier| threshold(tier) != threshold(it));
    tiers.extend(service.tiers.iter().filter(is_new).cloned());
    Some(ServicePrices {
        factor: None,
        input: rate(service.input, Some(usual.input))?,
        output: rate(service.output, usual.output)?,
        cache_read: rate(service.cache_read, usual.cache_read)?,
        cache_write: writes(&service.cache_write, &usual.cache_write)?,
        tiers,
    })
}

/// Returns the one factor by which a service differs from the usual prices, if it is one.
fn factor(usual: &PriceSpec, service: &ServicePrices) -> Option<Decimal> {
    const PLACES: u32 = 4;
    let PriceSpec { input, output, cache_read, cache_write, tiers, .. } = usual.clone();
    let usual = ServicePrices { factor: None, input: Some(input), output, cache_read, cache_write, tiers };
    let (own, base) = (service.input?.scaled(6 + PLACES)?, usual.input?.scaled(6).filter(|it| *it > 0)?);
    let parts = own.is_multiple_of(base).then(|| u32::try_from(own / base).ok())??;
    let factor = Decimal::from_f64(f64::from(parts))?.shrunk(PLACES);
    let (own, usual) = (Node::from(Said::by(service).ok()?), Node::from(Said::by(&usual).ok()?));
    is_times(&own, &usual, factor).then_some(factor)
}

/// Returns whether a tree of prices is another one times a factor.
fn is_times(own: &Node, base: &Node, factor: Decimal) -> bool {
    match (&own.value, &base.value) {
        (Value::Real(own), Value::Real(base)) => {
            let base = Decimal::from_f64(*base).and_then(|it| it.times(factor));
            base.is_some() && Decimal::from_f64(*own) == base
        }
        (Value::List(own), Value::List(base)) => {
            own.len() == base.len()
                && own.iter().zip(base).all(|(own, base)| is_times(&own.value, &base.value, factor))
        }
        (Value::Map(fields), Value::Map(others)) => {
            let is_times_base = |it: &TreeEntry| {
                let base = it.name().and_then(|name| base.get(name));
                base.is_some_and(|base| is_times(&it.value, base, factor))
            };
            fields.len() == others.len() && fields.iter().all(is_times_base)
        }
        _ => own == base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::source::{Format, decode_table};

    #[test]
    fn the_bundled_cache_rules_are_well_formed() {
        let known: PriceKnowledge = decode_table(TEXT, Format::Toml).unwrap();

        assert!(known.rows.iter().all(|it| !it.doubt.is_empty() && it.source.starts_with("https://")));
        assert!(known.services.iter().all(|it| it.source.starts_with("https://")));
        assert!(
            known
                .minimums
                .iter()
                .all(|it| known.rows.iter().any(|row| row.providers.contains(&it.providers[0])))
        );
    }
}
