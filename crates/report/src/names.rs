//! Names of policies without their folders, words that begin a sentence, and amounts of dollars.

use super::distinct;
use crate::prelude::*;

/// Returns a name without its folders; what an agent does keeps the agent's name.
fn name_without_folders(name: &str) -> &str {
    name.strip_prefix("agents/").unwrap_or_else(|| name.rsplit('/').next().unwrap_or(name))
}

/// Returns names without their folders, where they are still distinct.
pub(super) fn names_without_folders<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let all = distinct(names.iter().copied());
    let is_alone = |name: &str| {
        all.iter().filter(|it| name_without_folders(it) == name_without_folders(name)).count() == 1
    };
    names.iter().map(|it| if is_alone(it) { name_without_folders(it) } else { *it }).listed()
}

/// Returns words with a capital at their beginning.
pub(super) fn capitalise(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Says something of a number of things; nothing where there is none.
pub(super) fn text_if_any<N: Copy + Default + PartialEq>(n: N, words: impl FnOnce(N) -> String) -> String {
    if n == N::default() { String::new() } else { words(n) }
}

/// Says something where a condition holds; else nothing.
pub(super) fn text_if(holds: bool, words: impl FnOnce() -> String) -> String {
    if holds { words() } else { String::new() }
}

/// Writes what is known; nothing where it is not.
pub(super) fn or_nothing<T>(known: Option<T>, written: impl FnOnce(T) -> String) -> String {
    known.map(written).unwrap_or_default()
}

/// Joins the first few of some texts, and says how many more there are.
pub(super) fn first_few(texts: impl Iterator<Item = String>, most: usize) -> String {
    let mut texts = texts.listed();
    let more = text_if_any(texts.len().saturating_sub(most), |n| format!(" and {n} more"));
    texts.truncate(most);
    texts.join(", ") + &more
}

/// Returns the first few of some names, and behind them how many more there are.
pub(super) fn names_and_more(names: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut names = names.listed();
    let n_more = names.len().saturating_sub(most);
    names.truncate(most);
    names.extend((n_more > 0).then(|| format!("{n_more} more")));
    names
}

/// Returns the last part of a folder.
pub(crate) fn last_folder_name(group: &str) -> String {
    let last = group.rsplit(['/', '\\']).find(|it| !it.is_empty()).unwrap_or(group);
    in_one_line(last).into_owned()
}

/// Returns an amount of US dollars; small ones with more digits.
pub(super) fn format_usd(usd: f64) -> String {
    let sign = if usd < 0.0 { "−" } else { "" };
    let decimals = if usd.abs() >= 1.0 || usd == 0.0 { 2 } else { 4 };
    format!("{sign}${}", fixed(usd.abs(), decimals))
}

/// Returns how many decimals dollars up to an amount have: cents, unless all of it is less than a dollar.
pub(super) fn usd_decimals_up_to(highest: f64) -> usize {
    if highest >= 1.0 { 2 } else { numbers::decimals(highest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_its_folder_stands_where_no_other_ends_so() {
        assert_eq!(names_without_folders(&["a/x", "b/x", "b/y", "z", "z"]), ["a/x", "b/x", "y", "z", "z"]);
        // A preset keeps the name of its agent.
        let presets = ["agents/codex/auto_compact", "identity"];
        assert_eq!(names_without_folders(&presets), ["codex/auto_compact", "identity"]);
    }
}
