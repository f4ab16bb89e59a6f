//! An edit needs the result that its old text is in.

use memchr::memmem::Finder;

use super::NeededResult;
use super::history::{CallHistory, PastCall};
use crate::ItemIx;
use crate::prelude::*;
use ctxsim_input::scenario::NeedRule;

/// Finds, among the results that name what the call edits, the newest that holds its old text.
pub(super) fn find(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    let names = spec.arguments.as_deref().unwrap_or_default();
    let n_min: usize = saturated(spec.characters_min.unwrap_or_default());
    let olds: Vec<&str> = call.named(names).filter(|it| it.trim().chars().count() >= n_min.max(1)).collect();
    if olds.is_empty() {
        return Vec::new();
    }
    let mut results: Vec<ItemIx> = Vec::new();
    for other in call.others(names) {
        results.extend(history.results_for(other));
        results.extend(history.places(other).filter(|it| history.kind(*it) == Kind::ToolResult));
    }
    results.sort_unstable();
    results.dedup();
    let holding = |old: &str| {
        let old = Finder::new(old.trim_matches('\n'));
        results.iter().rev().copied().find(|it| holds(history.text(*it), &old))
    };
    olds.into_iter().filter_map(holding).map(|item| NeededResult { item, names: None }).collect()
}

/// Returns whether a text holds another, whether or not its lines are numbered.
fn holds(text: &str, old: &Finder<'_>) -> bool {
    let is_in = |text: &str| old.find(text.as_bytes()).is_some();
    is_in(text) || old.needle().contains(&b'\n') && is_in(&without_numbers(text))
}

/// Takes the number off each line that has one.
fn without_numbers(text: &str) -> String {
    let line = |line| {
        let digits = str::trim_start(line);
        let rest = digits.trim_start_matches(|it: char| it.is_ascii_digit());
        let is_numbered = rest.len() < digits.len();
        ['→', '\t'].into_iter().find_map(|it| rest.strip_prefix(it)).filter(|_| is_numbered).unwrap_or(line)
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_lines_hold_what_they_say_and_not_their_numbers() {
        let holds = |text: &str, old: &str| holds(text, &Finder::new(old));
        let read = "     1→fn main() {\n     2→    go();\n     3→}";

        assert!(holds(read, "fn main() {\n    go();"));
        assert!(holds(read, "go();"));
        assert!(!holds(read, "fn main() {\n    stop();"));
        assert!(
            holds("7 apples\n8 pears", "7 apples\n8 pears"),
            "a line that begins with a number is no numbered line"
        );
    }
}
