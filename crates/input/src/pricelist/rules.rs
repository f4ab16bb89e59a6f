//! The cache rules that a provider applies to a model: the first matching row of `assumptions/price_lists.toml`.

use crate::prelude::*;

use super::ListEntry;
use crate::profile::cache::Cache;
use crate::profile::written::AssumptionsSpec;

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
pub(super) struct CacheRow {
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
    pub(super) doubt: String,
    /// The provider's page.
    pub(super) source: String,
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
pub(super) struct ServiceFactor {
    providers: Vec<String>,
    service: String,
    pub(super) factor: Decimal,
    /// The provider's page.
    pub(super) source: String,
}

/// Returns what is known, read once.
fn known() -> &'static PriceKnowledge {
    static KNOWN: LazyLock<PriceKnowledge> = LazyLock::new(|| declared(TEXT));
    &KNOWN
}

/// Returns what is assumed of an agent.
pub(super) fn assumptions() -> AssumptionsSpec {
    known().assumptions.clone()
}

/// Returns the one name of a provider, which is the folder of its profiles.
pub(super) fn canonical(provider: &str) -> &str {
    let known = known().names.iter().find(|(_, others)| others.iter().any(|it| it == provider));
    known.map_or(provider, |(name, _)| name)
}

/// Returns what a provider says a way of being served costs.
pub(super) fn service(provider: &str, name: &str) -> Option<&'static ServiceFactor> {
    let provider = canonical(provider);
    known().services.iter().find(|it| is_among(&it.providers, provider) && it.service == name)
}

/// Returns the cache rules of a model and the row that they come from, if they are known.
pub(super) fn rules(entry: &ListEntry) -> Option<(Cache, &'static CacheRow)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::decode::{Format, decode_table};

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
