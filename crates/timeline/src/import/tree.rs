//! Records that name the record which they follow: the branch that ends at the last one is what the model saw.

use crate::import::prelude::*;

/// A record in a tree, and what it adds to the prompts.
#[derive(Debug)]
pub(super) struct TreeRecord<S> {
    /// Its line, and when it was written.
    pub(super) stamp: Stamp,
    /// Its name; empty where records have none.
    pub(super) id: String,
    /// The one that it follows; empty for the first.
    pub(super) parent: String,
    /// What it says.
    pub(super) said: S,
}

/// The records from the first to the last one, along their parents, each with its place among all.
pub(super) type Branch<S> = Vec<(usize, TreeRecord<S>)>;

/// Returns the branch of the last record, and what stands on those that were left.
pub(super) fn branch<S>(entries: Vec<TreeRecord<S>>, losses: &mut Losses) -> (Branch<S>, Vec<TreeRecord<S>>) {
    let path = follow(&entries, losses);
    let mut by_place: Vec<Option<TreeRecord<S>>> = entries.into_iter().map(Some).collect();
    let branch = path.into_iter().filter_map(|it| Some((it, by_place[it].take()?))).collect();
    (branch, by_place.into_iter().flatten().collect())
}

fn follow<S>(nodes: &[TreeRecord<S>], losses: &mut Losses) -> Vec<usize> {
    let names = nodes.iter().enumerate().filter(|(_, it)| !it.id.is_empty());
    let by_name: IndexMap<&str, usize> = names.map(|(index, it)| (it.id.as_str(), index)).collect();
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
            _ => by_name.get(node.parent.as_str()).copied().filter(|it| !is_taken[*it]).or_else(|| {
                losses.add(node.stamp.line, "missing parents; the previous line is used instead");
                before
            }),
        };
    }
    for (node, _) in nodes.iter().zip(&is_taken).filter(|(_, is_taken)| !**is_taken) {
        losses.add(node.stamp.line, "records on abandoned branches");
    }
    path.reverse();
    path
}
