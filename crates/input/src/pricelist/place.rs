//! Entries of price lists as profiles: combined with the provider's cache rules, written, and checked.

use super::{
    ListContents, ListEntry, NoProfileReason, Unplaced, assumptions, cache_rules, canonical, served, unpriced,
};
use crate::prelude::*;
use crate::profile::cache::Cache;
use crate::profile::written::PriceSpec;
use crate::text::source;
use crate::{Format, Profile, ProfileFile};

/// A profile made from a list.
#[derive(Clone, Debug)]
pub struct PlacedProfile {
    /// Provider and model: its path below the target folder.
    pub name: String,
    pub text: String,
    /// The profile itself.
    pub profile: Profile,
    /// The parts of the entry that are not in it.
    pub left_out: Vec<String>,
    /// Prices that are standard but missing for a service.
    pub unpriced: Vec<String>,
}

/// The result of importing a list.
#[derive(Clone, Debug, Default)]
pub struct Placing {
    /// The profiles, in the order of the list.
    pub placed: Vec<PlacedProfile>,
    /// Entries without a profile, with reasons.
    pub unplaced: Vec<Unplaced>,
}

/// Makes profiles of a list that was read on some date, for a folder below `profiles/`.
pub fn place(found: &ListContents, as_of: &str, folder: &str) -> Placing {
    let mut placing = Placing { unplaced: found.unplaced.clone(), ..Placing::default() };
    let mut names: IndexSet<String> = IndexSet::new();
    for entry in &found.entries {
        let result = match name(entry) {
            Ok(name) if names.contains(&name.to_lowercase()) => {
                Err(("name-duplicate", format!("another entry is already called `{name}`")))
            }
            Ok(name) => profile(entry, &name, found, as_of, folder),
            Err(reason) => Err(reason),
        };
        match result {
            Ok(placed) => {
                names.insert(placed.name.to_lowercase());
                placing.placed.push(placed);
            }
            Err((code, reason)) => {
                let name = format!("{}/{}", entry.provider, entry.model);
                placing.unplaced.push(Unplaced { list: found.list, name, code, reason });
            }
        }
    }
    placing
}

/// Returns an entry's name, which is a path: plain characters, no steps up.
fn name(entry: &ListEntry) -> Result<String, NoProfileReason> {
    let plain = |text: &str| {
        let kept =
            text.chars().map(|it| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '-' });
        kept.collect::<String>()
    };
    let parts: Vec<String> = entry.model.split('/').map(plain).collect();
    let is_path =
        |it: &String| !it.is_empty() && it.chars().any(|it| it.is_ascii_alphanumeric()) && it.len() < 200;
    let provider = plain(canonical(&entry.provider));
    if !is_path(&provider) || !parts.iter().all(is_path) || parts.len() > 8 {
        return Err(("name-unusable", "its name cannot be used as a path".to_owned()));
    }
    Ok(format!("{provider}/{}", parts.join("/")))
}

/// Writes an entry as a profile and checks what was written.
fn profile(
    entry: &ListEntry,
    name: &str,
    found: &ListContents,
    as_of: &str,
    folder: &str,
) -> Result<PlacedProfile, NoProfileReason> {
    if entry.prices.iter().any(|it| it.output.is_none()) {
        return Err(("not-a-text-model", "no price for output tokens".to_owned()));
    }
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let problems = |it: &[Diagnostic]| {
        let all: Vec<String> = it.iter().map(|it| format!("`{}`: {}", it.place.field, it.message)).collect();
        ("profile-invalid", all.join("; "))
    };
    let (prices, sources): (Vec<PriceSpec>, Vec<_>) =
        entry.prices.iter().map(|it| served(it, &entry.provider)).unzip();
    let sources = sources.concat();
    let unpriced: IndexSet<String> = prices.iter().flat_map(unpriced).collect();
    let text =
        text(entry, path, (prices, &sources), &unpriced, found, as_of).map_err(|it| problems(&[*it]))?;
    let spec: ProfileFile = source::decode(&text, Format::Toml).map_err(|it| problems(&it))?;
    let profile = Profile::new(&spec).map_err(|it| problems(&it))?;
    let unpriced = unpriced.into_iter().collect();
    Ok(PlacedProfile { name: name.to_owned(), text, profile, left_out: entry.left_out.clone(), unpriced })
}

/// Writes an entry as a profile, below a comment that says what its cache rules and its prices leave open.
fn text(
    entry: &ListEntry,
    name: String,
    (prices, of_services): (Vec<PriceSpec>, &[&'static str]),
    unpriced: &IndexSet<String>,
    found: &ListContents,
    as_of: &str,
) -> Result<String, Box<Diagnostic>> {
    let title = entry.title.as_deref().unwrap_or(&entry.model);
    let provider = canonical(&entry.provider);
    let (cache, doubt, source) = cache(entry);
    let mut sources: IndexSet<&str> = [found.source].into();
    sources.extend(entry.sources.iter().map(String::as_str).chain(source).chain(of_services.iter().copied()));
    let spec = ProfileFile {
        tokenizer: None,
        best_effort: false,
        name,
        about: format!("{title} at {provider}, at the prices of {}.", found.list),
        as_of: as_of.to_owned(),
        sources: sources.into_iter().map(str::to_owned).collect(),
        models: entry.models.clone(),
        limits: entry.limits,
        cache,
        prices,
        assumptions: assumptions(),
    };
    let doubt = doubt.map_or_else(String::new, |it| format!("# Cache: {it}.\n"));
    let unpriced = unpriced.iter().map(|it| format!("# Without a price: {it}.\n")).collect::<String>();
    Ok(doubt + &unpriced + &source::encode(&spec, Format::Toml)?)
}

/// Returns the cache rules, what they leave open, and where they are told.
fn cache(entry: &ListEntry) -> (Cache, Option<&'static str>, Option<&'static str>) {
    if let Some((cache, row)) = cache_rules(entry) {
        return (cache, Some(&row.doubt), Some(&row.source));
    }
    let has_discount = entry.prices.iter().any(|it| it.cache_read.is_some());
    let doubt = has_discount.then_some("cached input is cheaper, but the cache rules are not known");
    (Cache::default(), doubt, None)
}
