//! Finds a field in a text: from a field path to bytes, in both formats.

use crate::prelude::*;

use super::{Node, Tree, TreeEntry};

impl Tree {
    /// Returns the bytes of the deepest existing field of a dotted path, or nothing if none exists.
    ///
    /// Elements of a list are found by their `name` (`name#2` is the second of that name) or by their index; a
    /// variant is a step of its own, as in `until.prompt.at_most`.
    pub(in crate::text) fn find(&self, path: &str) -> Option<Range<usize>> {
        let mut found = None;
        let mut place = NodeSpan { node: &self.root, is_inside: true };
        let mut rest = path;
        while let Some((next, behind)) = place.next(rest) {
            (place, rest) = (next, behind);
            found = Some(place.span());
        }
        found
    }

    /// Returns the value at the end of a dotted path, if the text has it.
    pub(in crate::text) fn exact(&self, path: &str) -> Option<&Node> {
        let mut place = NodeSpan { node: &self.root, is_inside: true };
        let mut rest = path;
        while !rest.is_empty() {
            (place, rest) = place.next(rest)?;
        }
        Some(place.node)
    }
}

/// A node, including or excluding its tag.
#[derive(Clone, Copy)]
struct NodeSpan<'a> {
    node: &'a Node,
    is_inside: bool,
}

impl<'a> NodeSpan<'a> {
    /// Splits the first step off a path; a key, or an element's name, may contain dots.
    fn split(self, path: &str) -> (&str, &str) {
        let named = |it: &'a TreeEntry| it.name().or_else(|| it.value.name());
        let keys = self.node.entries().iter().filter_map(named);
        let behind = |key: &str| path.strip_prefix(key).filter(|it| it.is_empty() || it.starts_with('.'));
        let dotted = keys.filter(|it| it.contains('.') && behind(it).is_some()).map(str::len).max();
        let (step, rest) = path.split_at(dotted.or_else(|| path.find('.')).unwrap_or(path.len()));
        (step, rest.strip_prefix('.').unwrap_or(rest))
    }

    /// Takes the first step of a path that is not empty; returns where it leads, and the rest.
    fn next(self, path: &str) -> Option<(Self, &str)> {
        let (step, rest) = self.split(path);
        match step.is_empty() {
            true if rest.is_empty() => None,
            true => self.next(rest),
            false => self.step(step).map(|it| (it, rest)),
        }
    }

    fn step(self, step: &str) -> Option<Self> {
        if !self.is_inside && self.node.tag() == Some(step) {
            return Some(Self { is_inside: true, ..self });
        }
        // A variant's only argument needs no step of its own: `sum.0` is the first part of `sum([…])`.
        if let [only] = self.node.entries()
            && self.node.tag().is_some()
            && only.key.is_none()
            && let Some(found) = (Self { node: &only.value, is_inside: false }).step(step)
        {
            return Some(found);
        }
        self.node.entry(step).map(|entry| Self { node: &entry.value, is_inside: false })
    }

    fn span(self) -> Range<usize> {
        match self.node.entries() {
            [only] if self.is_inside && only.key.is_none() && self.node.tag().is_some() => {
                only.value.span.clone()
            }
            _ => self.node.span.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Format;

    const RON: &str = r#"(name: "a", stages: [(name: "first", until: 1), (name: "second", until: 12), /* ( */ (name: "first", when: prompt(above: sum([ratio(80), param("t")])))], params: {"x": 3})"#;
    const TOML: &str = "name = \"a\"\n[[stages]]\nname = \"first\"\n[[stages]]\nname = \"second\"\nuntil = 12\nwhen = { prompt = { above = { sum = [{ ratio = 80 }] } } }\n";

    fn find(text: &str, format: Format, path: &str) -> Option<Range<usize>> {
        Tree::new(text, format).find(path)
    }

    fn ron(path: &str) -> Option<&'static str> {
        find(RON, Format::Ron, path).map(|it| &RON[it])
    }

    fn toml(path: &str) -> Option<&'static str> {
        find(TOML, Format::Toml, path).map(|it| &TOML[it])
    }

    #[test]
    fn a_path_leads_to_the_bytes_of_its_field() {
        assert_eq!(ron("stages.second.until"), Some("12"));
        assert_eq!(ron("stages.0.until"), Some("1"));
        assert_eq!(ron("params.x"), Some("3"));
        assert_eq!(toml("stages.second.until"), Some("12"));
    }

    #[test]
    fn variants_and_their_arguments_are_steps() {
        assert_eq!(ron("stages.first#2.when.prompt.above.sum.0.ratio"), Some("80"));
        assert_eq!(ron("stages.2.when.prompt.above.sum.1"), Some(r#"param("t")"#));
        assert_eq!(toml("stages.second.when.prompt.above.sum.0.ratio"), Some("80"));
    }

    #[test]
    fn a_key_with_dots_is_one_step() {
        let text = "[a.\"../b.c\"]\nx = 1\n[a.b]\nx = 2\n";

        assert_eq!(find(text, Format::Toml, "a.../b.c.x").map(|it| &text[it]), Some("1"));
        assert_eq!(find(text, Format::Toml, "a.b.x").map(|it| &text[it]), Some("2"));
    }

    #[test]
    fn a_path_that_the_text_does_not_give_leads_to_what_holds_it() {
        assert_eq!(ron("params.y"), Some("{\"x\": 3}"));
        assert_eq!(ron("zebra"), None);
    }
}
