//! Which parameters a search may vary, and why it leaves the others alone.

use crate::prelude::*;

use super::{Cond, PolicyFile, Size};
use crate::text::source::to_tree;
use crate::text::{Node, Said};

/// The fields whose sizes follow from a model, an agent or a count: what a summary takes, what comes back after
/// it, and what frames an item. A smaller number there is no setting, it is a wrong fact.
const MEASURED: [&str; 7] = ["output", "overhead", "restore", "again", "frame", "each", "adds"];

/// What a search does with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchUse {
    /// It varies it, from this number up.
    Varied(u64),
    /// It leaves it alone: the user of the agent cannot set it, or it is the size of what something writes.
    Measured,
    /// It leaves it alone: another parameter, which is varied, is made of it.
    PartOf(String),
}

impl PolicyFile {
    /// Returns each parameter that something reads, with what a search does with it.
    pub fn standings(&self) -> IndexMap<&str, SearchUse> {
        let read = self.params_read();
        let names = self.params.keys().map(String::as_str);
        let names = names.filter(|it| read.as_ref().is_none_or(|read| read.contains(*it)));
        let decides = params_beside(self, &MEASURED);
        let standing = |name: &str| match &self.settable {
            Some(settable) => settable
                .get(name)
                .map_or(SearchUse::Measured, |it| SearchUse::Varied(it.at_least.unwrap_or(0))),
            None if decides.contains(name) => SearchUse::Varied(0),
            None => {
                let made_of_it = |it: &&String| params_in_size(&self.params[*it]).contains(name);
                let whole = decides.iter().filter(|it| self.params.contains_key(*it)).find(made_of_it);
                whole.map_or(SearchUse::Measured, |it| SearchUse::PartOf(it.clone()))
            }
        };
        names.map(|it| (it, standing(it))).collect()
    }

    /// Returns the parameters that a prompt's length is compared with, directly or through other parameters.
    pub fn prompt_bounds(&self) -> IndexSet<&str> {
        let mut found = IndexSet::new();
        for stage in &self.stages {
            let steps = stage.then.iter().flat_map(|it| [&it.when, &it.until]);
            for cond in [&stage.when, &stage.until].into_iter().chain(steps).flatten() {
                cond.each(&mut |it| {
                    if let Cond::Prompt(bound) | Cond::Body(bound) | Cond::Raw(bound) | Cond::Counted(bound) =
                        it
                        && let Some((_, size)) = bound.given()
                    {
                        self.follow(size, &mut found);
                    }
                });
            }
        }
        found
    }

    /// Follows a size to the parameters that are as large as it is; what is taken off or added is not.
    fn follow<'p>(&'p self, size: &'p Size, found: &mut IndexSet<&'p str>) {
        match size {
            Size::Param(name) if found.insert(name) => {
                if let Some(size) = self.params.get(name) {
                    self.follow(size, found);
                }
            }
            Size::Min(parts) | Size::Max(parts) => parts.iter().for_each(|it| self.follow(it, found)),
            Size::Minus(parts) => parts.iter().take(1).for_each(|it| self.follow(it, found)),
            Size::ByWindow { then, otherwise, .. } => {
                self.follow(then, found);
                self.follow(otherwise, found);
            }
            _ => {}
        }
    }

    /// Returns the parameters read by anything but a parameter, directly or through other parameters; `None`
    /// if the file has a number that a tree cannot hold.
    pub fn params_read(&self) -> Option<IndexSet<String>> {
        if self.params.is_empty() {
            return Some(IndexSet::new());
        }
        let rest = Self { params: IndexMap::new(), settable: None, ..self.clone() };
        let mut read = IndexSet::new();
        // A program is given all of them.
        read.extend(self.process.iter().flat_map(|_| self.params.keys().cloned()));
        collect(&to_tree(&rest).ok()?, &mut read);
        let mut next = 0;
        while let Some(name) = read.get_index(next).cloned() {
            if let Some(size) = self.params.get(&name) {
                collect(&of_size(size)?, &mut read);
            }
            next += 1;
        }
        Some(read)
    }
}

// Which parameters a policy reads: setting an unused one has no effect.

/// The key under which a size or a count names its parameter.
const PARAM: &str = "param";

/// Returns the parameters that a policy's stages read by themselves, not through other parameters, outside some fields.
pub(super) fn params_beside(policy: &PolicyFile, without: &[&str]) -> IndexSet<String> {
    let rest = PolicyFile { params: IndexMap::new(), settable: None, ..policy.clone() };
    let mut read = IndexSet::new();
    read.extend(policy.process.iter().flat_map(|_| policy.params.keys().cloned()));
    if let Ok(mut tree) = to_tree(&rest) {
        remove(&mut tree, without);
        collect(&tree, &mut read);
    }
    read
}

/// Returns the parameters that a size names.
pub(super) fn params_in_size(size: &Size) -> IndexSet<String> {
    let mut read = IndexSet::new();
    of_size(size).iter().for_each(|it| collect(it, &mut read));
    read
}

/// Removes fields of some names, at any depth.
fn remove(tree: &mut Node, fields: &[&str]) {
    let Some(entries) = tree.entries_mut() else { return };
    entries.retain(|it| it.name().is_none_or(|it| !fields.contains(&it)));
    entries.iter_mut().for_each(|it| remove(&mut it.value, fields));
}

/// Returns a size as a tree, or nothing for a bare word, which names no parameter.
fn of_size(size: &Size) -> Option<Node> {
    let table: IndexMap<&str, &Size> = IndexMap::from([("size", size)]);
    Said::by(&table).ok().map(Node::from)
}

/// Collects the parameters named below a value.
fn collect(tree: &Node, read: &mut IndexSet<String>) {
    let name = tree.get(PARAM).and_then(Node::as_str).filter(|_| tree.entries().len() == 1);
    read.extend(name.map(str::to_owned));
    tree.entries().iter().for_each(|it| collect(&it.value, read));
}
