//! Public price lists, read into entries that become profiles.
//!
//! Nothing is guessed; entries that cannot be used are listed with their reasons.

mod json;
mod litellm;
mod models_dev;
pub mod place;
mod rules;
mod services;
pub mod update;

use crate::prelude::*;

use crate::profile::written::{LimitsSpec, PriceSpec};

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
