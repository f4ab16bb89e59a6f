//! The branch of a session's tree that ends at its last message.

use indexmap::IndexMap;

use super::node::{Node, Said};
use crate::trace::import::losses::Losses;

/// Returns the nodes from the root to the last message, by their places in the file.
pub(super) fn follow(nodes: &[Node], losses: &mut Losses) -> Vec<usize> {
    let mut by_name: IndexMap<&str, usize> = IndexMap::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, it)| !it.uuid.is_empty()) {
        by_name.entry(node.uuid.as_str()).or_insert(index);
    }
    let mut is_taken = vec![false; nodes.len()];
    let mut path = Vec::new();
    let mut next = nodes.iter().rposition(|it| !matches!(it.said, Said::Nothing));
    while let Some(index) = next {
        is_taken[index] = true;
        path.push(index);
        let node = &nodes[index];
        next = match &node.parent {
            Some(name) => by_name.get(name.as_str()).copied().filter(|it| !is_taken[*it]).or_else(|| {
                losses.add(node.line, "parents that the file does not hold; the line before stands for each");
                before(&is_taken, index)
            }),
            None if node.uuid.is_empty() => before(&is_taken, index),
            None => None,
        };
    }
    path.reverse();
    path
}

/// Returns the nearest place before this one that is not taken.
fn before(is_taken: &[bool], index: usize) -> Option<usize> {
    is_taken[..index].iter().rposition(|it| !it)
}
