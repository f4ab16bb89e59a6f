//! Spells the fix of a problem in the format of its file.

use super::source::Format;
use super::tree::{Node, Tree, TreeEntry};

/// Returns a sentence whose text in backticks is respelled in a format; fixes are written in RON.
///
/// `per: turns(1)` becomes `per = { turns = 1 }`; bare words and text already in TOML do not change.
pub fn spell(sentence: &str, format: Format) -> String {
    if format == Format::Ron {
        return sentence.to_owned();
    }
    let spelt = |(index, part)| if index % 2 == 1 { in_toml(part) } else { part.to_owned() };
    sentence.split('`').enumerate().map(spelt).collect::<Vec<_>>().join("`")
}

/// Returns a snippet of RON as TOML; anything else unchanged.
fn in_toml(snippet: &str) -> String {
    let closes = snippet.matches('(').count() == snippet.matches(')').count();
    let is_ron = snippet.contains(['(', ':']) && closes && !snippet.contains('=');
    let text = format!("({snippet})");
    let root = Tree::new(&text, Format::Ron).root;
    if !is_ron || root.span.end != text.len() || root.entries().is_empty() {
        return snippet.to_owned();
    }
    entries(&text, &root)
}

fn entries(text: &str, node: &Node) -> String {
    let spelt = |entry: &TreeEntry| match entry.name() {
        Some(key) if is_bare(key) => format!("{key} = {}", value(text, &entry.value)),
        Some(key) => format!("\"{key}\" = {}", value(text, &entry.value)),
        None => value(text, &entry.value),
    };
    node.entries().iter().map(spelt).collect::<Vec<_>>().join(", ")
}

/// Returns a value as TOML.
pub(super) fn value(text: &str, node: &Node) -> String {
    let written = text.get(node.span.clone()).unwrap_or_default();
    let Some(tag) = node.tag() else {
        return match (node.is_leaf(), node.is_list()) {
            (true, _) => written.to_owned(),
            (false, true) => format!("[{}]", entries(text, node)),
            (false, false) => format!("{{ {} }}", entries(text, node)),
        };
    };
    if node.is_leaf() {
        let is_plain = written == "…" || written == "true" || written == "false";
        let is_number = written.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit());
        return if is_plain || is_number { written.to_owned() } else { format!("\"{written}\"") };
    }
    match node.entries() {
        [only] if only.key.is_none() => format!("{{ {tag} = {} }}", value(text, &only.value)),
        all if all.iter().all(|it| it.key.is_none()) => format!("{{ {tag} = [{}] }}", entries(text, node)),
        _ => format!("{{ {tag} = {{ {} }} }}", entries(text, node)),
    }
}

/// Returns whether a TOML key needs no quotes.
fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_spelled_as_the_file_spells_it() {
        let cases = [
            ("write `last(1)` or more", "write `{ last = 1 }` or more"),
            ("write `per: turns(1)` or `per: all`", "write `per = { turns = 1 }` or `per = \"all\"`"),
            ("`at: [entry], scope: (part: entering)`", "`at = [\"entry\"], scope = { part = \"entering\" }`"),
            ("`ratio(0.8)`, or `times(80, limit)`", "`{ ratio = 0.8 }`, or `{ times = [80, \"limit\"] }`"),
            ("`prompt(above: …)`", "`{ prompt = { above = … } }`"),
            ("`every(turns(3))`", "`{ every = { turns = 3 } }`"),
            ("`last_messages(n: 1, offset: 2)`", "`{ last_messages = { n = 1, offset = 2 } }`"),
            ("`x: { \"5m\": 1.5, \"a b\": \"c\" }`", "`x = { 5m = 1.5, \"a b\" = \"c\" }`"),
        ];

        for (ron, toml) in cases {
            assert_eq!(spell(ron, Format::Toml), toml);
            assert_eq!(spell(ron, Format::Ron), ron);
        }
    }

    #[test]
    fn words_and_what_is_no_ron_stay_as_they_are() {
        for text in
            ["did you mean `apply`?", "`--set params.x.ratio=0.7`", "`{ tokens = 5 }`", "`a(b`", "`\"5m\"`"]
        {
            assert_eq!(spell(text, Format::Toml), text);
        }
    }
}
