//! Where price lists disagree about one model at one provider.

use indexmap::{IndexMap, IndexSet};

use super::rules::canonical;
use super::{Entry, Found};
use crate::units::Decimal;

/// A price on which lists disagree.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Provider and model.
    pub model: String,
    /// Which price.
    pub field: String,
    /// What each list says, in the order of the lists; nothing where a list that has the model is silent.
    pub said: Vec<(&'static str, Option<Decimal>)>,
}

/// Returns how many models at least two lists have, and every price on which they disagree, by model.
///
/// Of dated prices those count that hold on a day, `YYYY-MM-DD`; the latest, where none is given.
#[must_use]
pub fn compare(lists: &[Found], as_of: Option<&str>) -> (usize, Vec<Disagreement>) {
    let mut by_model: IndexMap<String, Vec<(&'static str, &Entry)>> = IndexMap::new();
    for found in lists {
        for entry in &found.entries {
            let entries = by_model.entry(key(entry)).or_default();
            if !entries.iter().any(|(list, _)| *list == found.list) {
                entries.push((found.list, entry));
            }
        }
    }
    by_model.retain(|_, entries| entries.len() > 1);
    by_model.sort_keys();
    let all = by_model.iter().flat_map(|(model, entries)| disagreements(model, entries, as_of));
    (by_model.len(), all.collect())
}

/// Returns what a model is known by in every list.
fn key(entry: &Entry) -> String {
    let model = entry.model.to_lowercase().replace('.', "-");
    let provider = canonical(&entry.provider);
    format!("{provider}/{}", model.strip_prefix(&format!("{provider}/")).unwrap_or(&model))
}

fn disagreements(model: &str, entries: &[(&'static str, &Entry)], as_of: Option<&str>) -> Vec<Disagreement> {
    let priced: Vec<_> = entries.iter().map(|(list, entry)| (*list, fields(entry, as_of))).collect();
    let names: IndexSet<&String> = priced.iter().flat_map(|(_, it)| it.keys()).collect();
    let rows = names.into_iter().filter_map(|field| {
        let said: Vec<_> = priced.iter().map(|(list, it)| (*list, it.get(field).copied())).collect();
        let is_agreed = said.windows(2).all(|it| it[0].1 == it[1].1);
        (!is_agreed).then(|| Disagreement { model: model.to_owned(), field: field.clone(), said })
    });
    rows.collect()
}

/// Returns the usual prices of an entry by name, as they are on a day or, without one, at last.
fn fields(entry: &Entry, as_of: Option<&str>) -> IndexMap<String, Decimal> {
    let mut fields = IndexMap::new();
    // Days written alike are in order as texts.
    let holds = |from: &str| as_of.is_none_or(|day| from <= day);
    let price = entry.prices.iter().rfind(|it| it.from.as_deref().is_none_or(holds));
    let Some(price) = price else { return fields };
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
