//! The branch of a session's tree that ends at its last message.

use super::node::{ClaudeNode, ClaudeParts, SessionFacts};
use crate::import::prelude::*;

/// Returns the nodes from the root to the last message, by their places in the file.
pub(super) fn follow(nodes: &[ClaudeNode], losses: &mut Losses) -> Vec<usize> {
    let mut by_name: IndexMap<&str, usize> = IndexMap::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, it)| !it.uuid.is_empty()) {
        by_name.entry(node.uuid.as_str()).or_insert(index);
    }
    let is_tree = nodes.iter().any(|it| it.parent.is_some());
    let mut is_taken = vec![false; nodes.len()];
    let mut path = Vec::new();
    let mut next = end(nodes, &by_name);
    while let Some(index) = next {
        is_taken[index] = true;
        path.push(index);
        let node = &nodes[index];
        let missing = match &node.parent {
            Some(name) => {
                next = by_name.get(name.as_str()).copied().filter(|it| !is_taken[*it]);
                "missing parents; the previous line is used instead"
            }
            None if is_tree && can_begin(node) => {
                next = if node.told == SessionFacts::Cleared {
                    last_before(nodes, &is_taken, index)
                } else {
                    None
                };
                continue;
            }
            None => {
                next = None;
                "records without a parent; the previous line is used instead"
            }
        };
        if next.is_none() {
            next = before(&is_taken, index);
            if node.parent.is_some() || next.is_some() {
                losses.add(node.stamp.line, missing);
            }
        }
    }
    path.reverse();
    path
}

/// Returns the last message; where the latest of all follows it in the tree, the file is out of order, and that one.
fn end(nodes: &[ClaudeNode], by_name: &IndexMap<&str, usize>) -> Option<usize> {
    let is_message = |it: &usize| !matches!(nodes[*it].said, ClaudeParts::Nothing);
    let last = (0..nodes.len()).rfind(is_message)?;
    let latest = (0..nodes.len()).filter(is_message).max_by_key(|it| nodes[*it].stamp.ms).unwrap_or(last);
    let parent = |it: &usize| by_name.get(nodes[*it].parent.as_deref()?).copied();
    let follows = std::iter::successors(Some(latest), parent).take(nodes.len()).any(|it| it == last);
    Some(if follows { latest } else { last })
}

/// Returns whether a session can begin with a record: a reply answers something, and a result belongs to a call.
fn can_begin(node: &ClaudeNode) -> bool {
    let can = match &node.said {
        ClaudeParts::Nothing => true,
        ClaudeParts::User { parts, .. } => parts.iter().all(|it| it.part.kind != Kind::ToolResult),
        ClaudeParts::Reply { .. } => false,
    };
    can && !node.uuid.is_empty()
}

/// Returns the last message before the place where a session was cleared: what it was before, of which every request was billed.
fn last_before(nodes: &[ClaudeNode], is_taken: &[bool], index: usize) -> Option<usize> {
    (0..index).rfind(|it| !is_taken[*it] && !matches!(nodes[*it].said, ClaudeParts::Nothing))
}

/// Returns the nearest place before this one that is not taken.
fn before(is_taken: &[bool], index: usize) -> Option<usize> {
    is_taken[..index].iter().rposition(|it| !it)
}
