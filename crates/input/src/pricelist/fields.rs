//! What entries of lists and profiles are compared by: a model's name, and its usual prices.

use indexmap::IndexMap;

use super::ListEntry;
use super::rules::canonical;
use crate::profile::calendar;
use crate::profile::written::PriceSpec;
use ctxsim_base::quantity::Decimal;

/// Returns what a model is known by in every list.
pub(super) fn key(entry: &ListEntry) -> String {
    let model = entry.model.to_lowercase().replace('.', "-");
    let provider = canonical(&entry.provider);
    format!("{provider}/{}", model.strip_prefix(&format!("{provider}/")).unwrap_or(&model))
}

/// Returns those of dated prices that hold on a day; none where a day is no day.
pub(super) fn price_in_force<'p>(prices: &'p [PriceSpec], as_of: &str) -> Option<&'p PriceSpec> {
    let on = calendar::parse_day(as_of)?;
    let mut dated = Vec::with_capacity(prices.len());
    for price in prices {
        let from = price.from.as_deref().map_or(Some(i64::MIN), calendar::parse_day)?;
        dated.push((from, price));
    }
    dated.into_iter().filter(|(from, _)| *from <= on).max_by_key(|(from, _)| *from).map(|(_, price)| price)
}

/// Returns usual prices by name.
pub(super) fn fields(price: &PriceSpec) -> IndexMap<String, Decimal> {
    let mut fields = IndexMap::new();
    let mut put = |name: String, price: Option<Decimal>| fields.extend(price.map(|it| (name, it)));
    put("input".to_owned(), Some(price.input));
    put("output".to_owned(), price.output);
    put("cache_read".to_owned(), price.cache_read);
    // Lists that know one lifetime call it differently.
    let written = |ttl: &str| format!("cache_write.{}", if ttl == "30m" { "5m" } else { ttl });
    price.cache_write.iter().for_each(|(ttl, write)| put(written(ttl), Some(*write)));
    for tier in &price.tiers {
        let above = tier.above_prompt_tokens.or(tier.from_prompt_tokens).unwrap_or_default();
        put(format!("above {above}: input"), tier.input);
        put(format!("above {above}: output"), tier.output);
        put(format!("above {above}: cache_read"), tier.cache_read);
        let writes = tier.cache_write.iter();
        writes.for_each(|(ttl, write)| put(format!("above {above}: {}", written(ttl)), Some(*write)));
    }
    fields
}
