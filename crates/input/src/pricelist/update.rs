//! What newer price lists change in profiles: the prices that differ, and the profile with these from a day on.

use crate::prelude::*;
use std::collections::BTreeSet;

use super::place::{PlacedProfile, place};
use super::{ListContents, ListEntry, canonical};
use crate::profile::calendar;
use crate::profile::models::{REVISION, without_revisions};
use crate::profile::written::PriceSpec;
use crate::text::source;
use crate::{Format, Profile, ProfileFile};

/// What a list changes in a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceUpdate {
    /// The profile's name.
    pub name: String,
    pub list: &'static str,
    /// Each price that differs, as it is in the profile, if it is there, and in the list.
    pub changes: Vec<(String, Option<Decimal>, Decimal)>,
    /// The profile with a period of these prices from the day of the list on; none where its prices depend on the hour, or where the
    /// result breaks a rule.
    pub text: Option<String>,
}

/// What lists that were read on a day say of profiles.
#[derive(Clone, Debug, Default)]
pub struct ListUpdates {
    /// How many profiles the lists have prices for.
    pub n_known: usize,
    /// What they change in them.
    pub changed: Vec<PriceUpdate>,
    /// Models that vendors of profiles sell with a price for cached input and no profile covers, each with a draft of a profile.
    pub new: Vec<PlacedProfile>,
    /// How many more they sell that have no such price.
    pub n_new_uncached: usize,
}

/// Compares lists with profiles; the first list that has a profile counts. Only the seller's own models are compared, by their usual prices. A
/// model of a vendor that no profile covers is new.
pub fn updates(
    lists: &[ListContents],
    as_of: &str,
    vendors: &BTreeSet<String>,
    is_covered: &dyn Fn(&str) -> bool,
    profile_of: &dyn Fn(&str) -> Option<ProfileFile>,
) -> ListUpdates {
    let mut found: IndexMap<String, (&'static str, &ListEntry, ProfileFile)> = IndexMap::new();
    let mut new: IndexMap<String, PlacedProfile> = IndexMap::new();
    let mut n_new_uncached = 0;
    for list in lists {
        let mut unknown = ListContents { list: list.list, source: list.source, ..ListContents::default() };
        for entry in &list.entries {
            let vendor = canonical(&entry.provider);
            let id = format!("{}/{}", entry.provider, entry.model);
            if vendors.contains(vendor) && !is_covered(&id) {
                if entry.prices.iter().any(|price| price.cache_read.is_some()) {
                    let models =
                        vec![format!("{}{REVISION}", without_revisions(&entry.model.to_lowercase()))];
                    unknown.entries.push(ListEntry { models, ..entry.clone() });
                } else {
                    n_new_uncached += 1;
                }
            }
            let Some(spec) = profile_of(&id) else { continue };
            if spec.name.split('/').next() != Some(vendor) {
                continue;
            }
            let is_of_name = key(entry) == spec.name.replace('.', "-");
            // Of several ids of a profile, the one of its name tells its price.
            match found.get(&spec.name) {
                Some((known, ..)) if !(is_of_name && *known == list.list) => {}
                _ => drop(found.insert(spec.name.clone(), (list.list, entry, spec))),
            }
        }
        for draft in place(&unknown, as_of, "").placed {
            new.entry(draft.profile.models.concat()).or_insert(draft);
        }
    }
    found.sort_keys();
    new.sort_by(|_, one, _, other| one.name.cmp(&other.name));
    let n_known = found.len();
    let changed = found.into_values().filter_map(|(list, entry, spec)| update(list, entry, &spec, as_of));
    ListUpdates { n_known, changed: changed.collect(), new: new.into_values().collect(), n_new_uncached }
}

fn update(list: &'static str, entry: &ListEntry, spec: &ProfileFile, as_of: &str) -> Option<PriceUpdate> {
    let (new, old) = (price_in_force(&entry.prices, as_of)?, price_in_force(&spec.prices, as_of)?);
    // A list without a price for something does not say that it is free, and one of zero for writes says that there are none.
    let (listed, known) = (fields(new), fields(old));
    let changes = listed.into_iter().map(|(field, price)| (known.get(&field).copied(), field, price));
    let changes: Vec<_> = changes
        .filter(|it| it.0 != Some(it.2) && !(it.0.is_none() && it.2.scaled(6) == Some(0)))
        .map(|(known, field, price)| (field, known, price))
        .collect();
    if changes.is_empty() {
        return None;
    }
    let name = spec.name.clone();
    let text = if old.windows.is_empty() { dated(spec.clone(), old, new, as_of) } else { None };
    Some(PriceUpdate { name, list, changes, text })
}

/// Writes a profile with a list's prices from a day on. What the list does not say stays.
fn dated(mut spec: ProfileFile, old: &PriceSpec, new: &PriceSpec, as_of: &str) -> Option<String> {
    let mut price = PriceSpec { from: Some(as_of.to_owned()), ..old.clone() };
    price.input = new.input;
    price.output = new.output.or(old.output);
    price.cache_read = new.cache_read.or(old.cache_read);
    if price.cache_write.len() == 1 && new.cache_write.len() == 1 {
        // Lists that know one lifetime call it differently.
        price.cache_write.values_mut().zip(new.cache_write.values()).for_each(|it| *it.0 = *it.1);
    } else {
        price.cache_write.extend(new.cache_write.clone());
    }
    if !new.tiers.is_empty() {
        price.tiers.clone_from(&new.tiers);
    }
    spec.prices.retain(|it| it.from.as_deref() != Some(as_of));
    spec.prices.push(price);
    as_of.clone_into(&mut spec.as_of);
    Profile::new(&spec).ok()?;
    source::encode(&spec, Format::Toml).ok()
}

// What entries of lists and profiles are compared by: a model's name, and its usual prices.

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
