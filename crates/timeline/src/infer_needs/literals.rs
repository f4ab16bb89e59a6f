//! A name, a path or a number that stood last in an earlier result, and is used in a call, needs that result.

use super::NeededResult;
use super::history::{CallHistory, PastCall, words};
use crate::Kind;
use ctxsim_base::quantity::saturated;
use ctxsim_input::scenario::NeedRule;
use ctxsim_input::scenario::summaries::FactKind;

/// Finds the results that were the last to say a literal; once the agent has said it itself, it needs them no more.
pub(super) fn find(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    let n_min = saturated(spec.characters_min.unwrap_or_default());
    let mut results = Vec::new();
    for value in call.others(&[]) {
        let literals = words(value).filter(|it| is_literal(it, n_min));
        let newest = literals.filter_map(|it| {
            let item = history.places(it).next()?;
            Some(NeededResult { item, names: FactKind::of_literal(it) })
        });
        results.extend(newest.filter(|it| history.kind(it.item) == Kind::ToolResult));
    }
    results
}

/// Returns whether a word is one that nobody says by chance: long enough, with a digit, a joint, or a capital inside.
fn is_literal(word: &str, n_min: usize) -> bool {
    let is_joint = |it: char| it.is_ascii_digit() || matches!(it, '_' | '/' | '.');
    let has_hump =
        || word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    word.chars().count() >= n_min && (word.contains(is_joint) || has_hump())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_no_literal_and_names_are() {
        let literals = |words: [&str; 4]| words.map(|it| is_literal(it, 8));

        assert_eq!(literals(["straightforward", "well-known", "a.b", "Capital"]), [false; 4]);
        assert_eq!(literals(["snake_case", "camelCase", "src/lib.rs", "deadbeef42"]), [true; 4]);
    }
}
