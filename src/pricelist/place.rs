//! Entries of price lists as profiles: joined with the provider's cache rules, written, checked.

use indexmap::IndexSet;

use super::rules::{self, canonical};
use super::{Entry, Found, Reason, Unplaced};
use crate::diag::Diagnostic;
use crate::input::profile::written::{Cache, Price, Service};
use crate::input::text::decode::{self, Tree};
use crate::input::{Format, Profile, ProfileFile};
use crate::quantity::Decimal;

/// A profile that a list gives.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Provider and model: its path below the folder that it is made for.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The profile itself.
    pub profile: Profile,
    /// What of the entry is not in it.
    pub left_out: Vec<String>,
}

/// What became of a list.
#[derive(Clone, Debug, Default)]
pub struct Placing {
    /// The profiles, in the order of the list.
    pub placed: Vec<Placed>,
    /// What is in no profile, with reasons.
    pub unplaced: Vec<Unplaced>,
}

/// Makes profiles of a list that was read on some day, to stand in a folder below `profiles/`, or in that one itself.
#[must_use]
pub fn place(found: &Found, as_of: &str, folder: &str) -> Placing {
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
fn name(entry: &Entry) -> Result<String, Reason> {
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
        return Err(("name-unusable", "its name cannot be a path".to_owned()));
    }
    Ok(format!("{provider}/{}", parts.join("/")))
}

/// Writes an entry as a profile and checks what was written.
fn profile(entry: &Entry, name: &str, found: &Found, as_of: &str, folder: &str) -> Result<Placed, Reason> {
    if entry.prices.iter().any(|it| it.output.is_none()) {
        return Err(("not-a-text-model", "no price for a token of output".to_owned()));
    }
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let problems = |it: &[Diagnostic]| {
        let all: Vec<String> = it.iter().map(|it| format!("`{}`: {}", it.place.field, it.message)).collect();
        ("profile-invalid", all.join("; "))
    };
    let text = text(entry, path, found, as_of).map_err(|it| problems(&[*it]))?;
    let spec: ProfileFile = decode::decode(&text, Format::Toml).map_err(|it| problems(&it))?;
    let profile = Profile::new(&spec).map_err(|it| problems(&it))?;
    Ok(Placed { name: name.to_owned(), text, profile, left_out: entry.left_out.clone() })
}

/// Writes an entry as a profile, below a comment that says what its cache rules leave open.
fn text(entry: &Entry, name: String, found: &Found, as_of: &str) -> Result<String, Box<Diagnostic>> {
    let title = entry.title.as_deref().unwrap_or(&entry.model);
    let provider = canonical(&entry.provider);
    let (cache, doubt, source) = cache(entry);
    let mut sources: IndexSet<&str> = [found.source].into();
    sources.extend(entry.sources.iter().map(String::as_str).chain(source));
    let spec = ProfileFile {
        name,
        about: format!("{title} at {provider}, at the prices that {} lists.", found.list),
        as_of: as_of.to_owned(),
        sources: sources.into_iter().map(str::to_owned).collect(),
        limits: entry.limits,
        cache,
        prices: entry.prices.iter().map(with_factors).collect(),
        assumptions: rules::assumptions(),
    };
    let doubt = doubt.map_or_else(String::new, |it| format!("# Cache: {it}.\n"));
    Ok(doubt + &decode::encode(&spec, Format::Toml)?)
}

/// Returns the cache rules, what they leave open, and where they are told.
fn cache(entry: &Entry) -> (Cache, Option<&'static str>, Option<&'static str>) {
    if let Some((cache, row)) = rules::rules(entry) {
        return (cache, Some(&row.doubt), Some(&row.source));
    }
    let has_discount = entry.prices.iter().any(|it| it.cache_read.is_some());
    let doubt = has_discount.then_some("cached input is cheaper, but by which rules is not known");
    (Cache::default(), doubt, None)
}

/// Writes services that differ from the usual prices by one factor as that factor.
fn with_factors(usual: &Price) -> Price {
    let mut price = usual.clone();
    for service in price.services.values_mut() {
        if let Some(factor) = service.factor.or_else(|| factor(usual, service)) {
            *service = Service { factor: Some(factor), ..Service::default() };
        }
    }
    price
}

/// Returns the one factor by which a service differs from the usual prices, if it is one.
fn factor(usual: &Price, service: &Service) -> Option<Decimal> {
    const PLACES: u32 = 4;
    let usual = Service {
        factor: None,
        input: Some(usual.input),
        output: usual.output,
        cache_read: usual.cache_read,
        cache_write: usual.cache_write.clone(),
        tiers: usual.tiers.clone(),
    };
    let (own, base) = (service.input?.scaled(6 + PLACES)?, usual.input?.scaled(6).filter(|it| *it > 0)?);
    let parts = own.is_multiple_of(base).then(|| u32::try_from(own / base).ok())??;
    let factor = Decimal::from_f64(f64::from(parts))?.shrunk(PLACES);
    let (own, usual) = (decode::to_tree(service).ok()?, decode::to_tree(&usual).ok()?);
    is_times(&own, &usual, factor).then_some(factor)
}

/// Returns whether a tree of prices is another one times a factor.
fn is_times(own: &Tree, base: &Tree, factor: Decimal) -> bool {
    match (own, base) {
        (Tree::Float(own), Tree::Float(base)) => {
            let base = Decimal::from_f64(*base).and_then(|it| it.times(factor));
            base.is_some() && Decimal::from_f64(*own) == base
        }
        (Tree::Array(own), Tree::Array(base)) => {
            own.len() == base.len() && own.iter().zip(base).all(|(own, base)| is_times(own, base, factor))
        }
        (Tree::Table(own), Tree::Table(base)) => {
            let is_times_base = |key, own| base.get(key).is_some_and(|base| is_times(own, base, factor));
            own.len() == base.len() && own.iter().all(|(key, own)| is_times_base(key, own))
        }
        _ => own == base,
    }
}
