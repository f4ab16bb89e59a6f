//! Records that name the record which they follow: the branch that ends at the last one is what the model saw.

use indexmap::IndexMap;

use super::losses::Losses;

/// A record in a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'e> {
    /// Its line.
    pub(super) line: usize,
    /// Its name; empty where records have none.
    pub(super) id: &'e str,
    /// The one that it follows; empty for the first.
    pub(super) parent: &'e str,
}

/// Returns the places of the records from the first to the last one, along their parents.
pub(super) fn follow(nodes: &[Node<'_>], losses: &mut Losses) -> Vec<usize> {
    let names = nodes.iter().enumerate().filter(|(_, it)| !it.id.is_empty());
    let by_name: IndexMap<&str, usize> = names.map(|(index, it)| (it.id, index)).collect();
    let mut is_taken = vec![false; nodes.len()];
    let mut path = Vec::new();
    let mut next = nodes.len().checked_sub(1);
    while let Some(index) = next {
        is_taken[index] = true;
        path.push(index);
        let node = &nodes[index];
        let before = index.checked_sub(1).filter(|it| !is_taken[*it]);
        next = match (node.id.is_empty(), node.parent.is_empty()) {
            (true, true) => before,
            (false, true) => None,
            _ => by_name.get(node.parent).copied().filter(|it| !is_taken[*it]).or_else(|| {
                losses.add(node.line, "missing parents; the previous line is used instead");
                before
            }),
        };
    }
    for (node, _) in nodes.iter().zip(&is_taken).filter(|(_, is_taken)| !**is_taken) {
        losses.add(node.line, "records on abandoned branches");
    }
    path.reverse();
    path
}
