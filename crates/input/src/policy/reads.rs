//! Which parameters a policy reads: setting an unused one has no effect.

use indexmap::{IndexMap, IndexSet};

use super::{PolicyFile, Size};
use crate::text::decode::to_tree;
use crate::text::{Node, Said};

/// The key under which a size or a count names its parameter.
const PARAM: &str = "param";

impl PolicyFile {
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

/// Returns the parameters that a policy's stages read by themselves, not through other parameters, outside some fields.
pub(super) fn directly(policy: &PolicyFile, without: &[&str]) -> IndexSet<String> {
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
pub(super) fn in_size(size: &Size) -> IndexSet<String> {
    let mut read = IndexSet::new();
    if let Some(tree) = of_size(size) {
        collect(&tree, &mut read);
    }
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
