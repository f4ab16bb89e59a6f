//! Which parameters a policy reads: what nothing reads changes nothing, however it is set.

use indexmap::{IndexMap, IndexSet};

use super::{PolicyFile, Size};
use crate::input::text::decode::{Tree, to_tree};

/// The key under which a size or a count names its parameter.
const PARAM: &str = "param";

impl PolicyFile {
    /// Returns the parameters that anything but a parameter reads, or a parameter that is read itself; nothing, where the file
    /// holds a number that no tree can.
    #[must_use]
    pub fn params_read(&self) -> Option<IndexSet<String>> {
        let rest = Self { params: IndexMap::new(), ..self.clone() };
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

/// Returns a size as a tree; a bare word has none, and names nothing.
fn of_size(size: &Size) -> Option<Tree> {
    let table: IndexMap<&str, &Size> = IndexMap::from([("size", size)]);
    to_tree(&table).ok()
}

/// Collects the parameters that are named below a value.
fn collect(tree: &Tree, read: &mut IndexSet<String>) {
    match tree {
        Tree::Table(table) => {
            let name = table.get(PARAM).and_then(Tree::as_str).filter(|_| table.len() == 1);
            read.extend(name.map(str::to_owned));
            table.values().for_each(|it| collect(it, read));
        }
        Tree::Array(list) => list.iter().for_each(|it| collect(it, read)),
        _ => {}
    }
}
