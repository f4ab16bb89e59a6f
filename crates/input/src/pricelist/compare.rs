//! Where price lists disagree about one model at one provider.

use indexmap::{IndexMap, IndexSet};

use super::rules::canonical;
use super::{ListContents, ListEntry};
use crate::profile::calendar;
use crate::profile::written::PriceSpec;
use ctxsim_base::quantity::Decimal;

/// A price on which lists disagree.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Provider and model.
    pub model: String,
    /// Which price.
    pub field: String,
    /// Each list's value, in list order; `None` if a list that has the model omits it.
    pub said: Vec<(&'static str, Option<Decimal>)>,
}

impl Disagreement {
    /// Returns whether two lists give different prices; else a list that has the model lacks the price.
    pub fn differs(&self) -> bool {
        let mut given = self.said.iter().filter_map(|it| it.1);
        let first = given.next();
        given.any(|it| Some(it) != first)
    }
}

/// Returns how many models at least two lists have, and every price on which they disagree, by model.
///
/// Of dated prices those count that hold on a day, `YYYY-MM-DD`; the latest, if none is given. A model
/// without a price on that day, or with a price from no known day, is in no list.
pub fn compare(lists: &[ListContents], as_of: Option<&str>) -> (usize, Vec<Disagreement>) {
    let mut by_model: IndexMap<String, Vec<(&'static str, &PriceSpec)>> = IndexMap::new();
    for found in lists {
        for entry in &found.entries {
            let Some(price) = price_in_force(&entry.prices, as_of) else { continue };
            let prices = by_model.entry(key(entry)).or_default();
            if !prices.iter().any(|(list, _)| *list == found.list) {
                prices.push((found.list, price));
            }
        }
    }
    by_model.retain(|_, prices| prices.len() > 1);
    by_model.sort_keys();
    let all = by_model.iter().flat_map(|(model, prices)| disagreements(model, prices));
    (by_model.len(), all.collect())
}

/// Returns what a model is known by in every list.
pub(super) fn key(entry: &ListEntry) -> String {
    let model = entry.model.to_lowercase().replace('.', "-");
    let provider = canonical(&entry.provider);
    format!("{provider}/{}", model.strip_prefix(&format!("{provider}/")).unwrap_or(&model))
}

/// Returns those of dated prices that hold on a day or, without one, at last.
pub(super) fn price_in_force<'p>(prices: &'p [PriceSpec], as_of: Option<&str>) -> Option<&'p PriceSpec> {
    let on = as_of.map_or(Some(i64::MAX), calendar::parse_day)?;
    let mut dated = Vec::with_capacity(prices.len());
    for price in prices {
        let from = price.from.as_deref().map_or(Some(i64::MIN), calendar::parse_day)?;
        dated.push((from, price));
    }
    dated.into_iter().filter(|(from, _)| *from <= on).max_by_key(|(from, _)| *from).map(|(_, price)| price)
}

fn disagreements(model: &str, prices: &[(&'static str, &PriceSpec)]) -> Vec<Disagreement> {
    let priced: Vec<_> = prices.iter().map(|(list, price)| (*list, fields(price))).collect();
    let names: IndexSet<&String> = priced.iter().flat_map(|(_, it)| it.keys()).collect();
    let rows = names.into_iter().filter_map(|field| {
        let said: Vec<_> = priced.iter().map(|(list, it)| (*list, it.get(field).copied())).collect();
        let is_agreed = said.windows(2).all(|it| it[0].1 == it[1].1);
        (!is_agreed).then(|| Disagreement { model: model.to_owned(), field: field.clone(), said })
    });
    rows.collect()
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
