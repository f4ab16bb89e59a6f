//! The price lists that the field keeps, read into entries that become profiles.
//!
//! Nothing is guessed, and what cannot be placed is listed with its reason.

pub mod compare;
mod genai_prices;
mod json;
mod litellm;
pub mod matching;
mod models_dev;
pub mod place;
mod rules;
mod services;

use indexmap::IndexMap;

use crate::diag::Diagnostic;
use crate::input::profile::written::{Limits, Price};
use matching::Match;

/// The lists there are; the first that recognises a text reads it.
const LISTS: [List; 3] = [litellm::LIST, genai_prices::LIST, models_dev::LIST];

/// A price list's format.
struct List {
    /// Its name.
    name: &'static str,
    /// What its files look like, for people.
    looks_like: &'static str,
    /// Where it is kept.
    source: &'static str,
    /// Returns whether a file is of this list.
    detect: fn(&PriceFile) -> bool,
    /// Reads all files of the list.
    read: fn(&[&PriceFile], &mut Found) -> Result<(), Vec<Diagnostic>>,
}

/// A file of a price list.
#[derive(Clone, Debug)]
pub struct PriceFile {
    /// Its path, `/` between its parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What a list says of one model at one provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The provider, as the list calls it.
    pub provider: String,
    /// The model, as the list calls it.
    pub model: String,
    /// What people call it.
    pub title: Option<String>,
    /// How much it takes and gives.
    pub limits: Limits,
    /// The shortest prefix that its provider caches.
    pub cache_min_tokens: Option<u64>,
    /// What it costs.
    pub prices: Vec<Price>,
    /// Which names mean it, where the list says.
    pub matching: Option<Match>,
    /// Where the list read it.
    pub sources: Vec<String>,
    /// What the list says and a profile cannot.
    pub left_out: Vec<String>,
}

/// Why a model is in no profile: a code and a sentence.
type Reason = (&'static str, String);

/// Something of a list that is in no profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unplaced {
    /// Which list.
    pub list: &'static str,
    /// Which model of it, with its provider.
    pub name: String,
    /// A stable kebab-case code.
    pub code: &'static str,
    /// Why.
    pub reason: String,
}

/// What a list says.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Its name.
    pub list: &'static str,
    /// Where it is kept.
    pub source: &'static str,
    /// Its models, in the order of the list.
    pub entries: Vec<Entry>,
    /// What of it is of no use, with reasons.
    pub unplaced: Vec<Unplaced>,
    /// By provider: whose models it also sells, where the list says so.
    pub fallbacks: IndexMap<String, Vec<String>>,
}

impl Found {
    /// Leaves something out.
    fn leave(&mut self, name: impl Into<String>, code: &'static str, reason: impl Into<String>) {
        self.unplaced.push(Unplaced { list: self.list, name: name.into(), code, reason: reason.into() });
    }

    /// Returns the entry that a model's name means at a provider, or at those whose models it also sells.
    #[must_use]
    pub fn entry(&self, provider: &str, model: &str) -> Option<&Entry> {
        let own = |provider: &str| {
            let mut entries = self.entries.iter().filter(|it| it.provider == provider);
            entries.find(|it| it.matching.as_ref().map_or(it.model == model, |rule| rule.matches(model)))
        };
        let others = self.fallbacks.get(provider);
        own(provider).or_else(|| others?.iter().find_map(|it| own(it)))
    }
}

/// Reads price lists, each recognised by what its files hold.
///
/// # Errors
/// A file is of no known list, or is not well-formed.
pub fn read(files: &[PriceFile]) -> Result<Vec<Found>, Vec<Diagnostic>> {
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
        let mut found = Found { list: list.name, source: list.source, ..Found::default() };
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
    let mut problem = Diagnostic::at("price-list-unknown", "", "not a price list of a known kind");
    problem.place.file.clone_from(&file.path);
    problem.help(format!("known lists: {}", known.join("; ")))
}
