//! A text as a tree of values with their places, the same for both formats; types are read from it.

mod ron;
mod toml;

use crate::prelude::*;
use std::collections::BTreeSet;

use super::Said;

/// A text, parsed once.
#[derive(Debug)]
pub(super) struct Tree {
    pub format: Format,
    /// The whole value; of a broken text, as much as can be understood.
    pub root: Node,
    /// The first syntax error.
    pub fault: Option<Diagnostic>,
}

/// A value in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its bytes; of a TOML section, its header's.
    pub span: Range<usize>,
    /// What it is.
    pub value: Value,
    /// Whether no type reads it, because it was reported.
    pub is_skipped: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false` in TOML; in RON, these are words.
    Bool(bool),
    /// A whole number; one beyond this type is the type's greatest or least.
    Whole(i128),
    Real(f64),
    /// A character in single quotes.
    Letter(char),
    Text(String),
    /// A name without quotes, or what begins no value.
    Word(String),
    /// `[…]`
    List(Vec<TreeEntry>),
    /// `{…}`, or a TOML table.
    Map(Vec<TreeEntry>),
    /// `(…)`, and the name in front of it, which may be empty.
    Group(String, Vec<TreeEntry>),
}

/// A field, a key with its value, or an element.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeEntry {
    /// The key, unless it is an element.
    pub key: Option<Node>,
    pub value: Node,
}

impl Tree {
    /// Parses a text.
    pub(super) fn new(text: &str, format: Format) -> Self {
        let (root, fault) = match format {
            Format::Ron => ron::parse(text),
            Format::Toml => toml::parse(text),
        };
        let fault = fault.map(|(problem, span)| located(problem, span));
        Self { format, root, fault }
    }
}

/// Adds its bytes to a problem.
pub(super) fn located(problem: Diagnostic, span: Range<usize>) -> Diagnostic {
    let place = Place { span: Some(span), ..problem.place };
    Diagnostic { place, ..problem }
}

impl Node {
    pub(super) fn new(span: Range<usize>, value: Value) -> Self {
        Self { span, value, is_skipped: false }
    }

    /// Returns a value that stands in no text.
    pub(super) fn of(value: Value) -> Self {
        Self::new(0..0, value)
    }

    /// Returns a table of one key that stands in no text.
    pub(super) fn table(entries: Vec<(String, Self)>) -> Self {
        let entry = |(key, value)| TreeEntry { key: Some(Self::of(Value::Text(key))), value };
        Self::of(Value::Map(entries.into_iter().map(entry).collect()))
    }

    /// Returns a list that stands in no text.
    pub(super) fn list(elements: Vec<Self>) -> Self {
        Self::of(Value::List(elements.into_iter().map(|value| TreeEntry { key: None, value }).collect()))
    }

    /// Returns its fields, keys or elements.
    pub fn entries(&self) -> &[TreeEntry] {
        match &self.value {
            Value::List(entries) | Value::Map(entries) | Value::Group(_, entries) => entries,
            _ => &[],
        }
    }

    /// Returns its fields, keys or elements, to be changed.
    pub fn entries_mut(&mut self) -> Option<&mut Vec<TreeEntry>> {
        match &mut self.value {
            Value::List(entries) | Value::Map(entries) | Value::Group(_, entries) => Some(entries),
            _ => None,
        }
    }

    /// Sets the value of an entry.
    pub(super) fn set(&mut self, index: usize, value: Self) {
        if let Some(entry) = self.entries_mut().and_then(|it| it.get_mut(index)) {
            entry.value = value;
        }
    }

    /// Adds the entries of another table.
    pub(super) fn add(&mut self, other: Self) {
        if let (Some(entries), Value::Map(more)) = (self.entries_mut(), other.value) {
            entries.extend(more);
        }
    }

    /// Returns whether it has no brackets.
    pub(super) fn is_leaf(&self) -> bool {
        !matches!(self.value, Value::List(_) | Value::Map(_) | Value::Group(..))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    pub fn is_table(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Returns its text.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the name before its brackets, `tokens` of `tokens(5)`, or the whole value if it is a bare word.
    pub(super) fn tag(&self) -> Option<&str> {
        match &self.value {
            Value::Word(tag) | Value::Group(tag, _) => Some(tag.as_str()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|it| it.name() == Some(key)).map(|it| &it.value)
    }

    /// Returns the entry of a path's step: by key, by its element's `name`, by `name#2` for the second of
    /// that name, or by index.
    fn entry(&self, step: &str) -> Option<&TreeEntry> {
        let entries = self.entries();
        if let Some(found) = entries.iter().find(|it| it.name() == Some(step)) {
            return Some(found);
        }
        let (name, nth) = match step.rsplit_once('#').map(|(name, nth)| (name, nth.parse::<usize>())) {
            Some((name, Ok(nth))) if nth > 0 => (name, nth),
            _ => (step, 1),
        };
        let named = |it: &&TreeEntry| it.key.is_none() && it.value.name() == Some(name);
        let by_index = || entries.get(step.parse::<usize>().ok()?).filter(|it| it.key.is_none());
        entries.iter().filter(named).nth(nth - 1).or_else(by_index)
    }

    /// Returns the text of its field `name`.
    fn name(&self) -> Option<&str> {
        self.get("name").and_then(Self::word)
    }

    /// Returns it as a name, with or without quotes.
    pub(super) fn word(&self) -> Option<&str> {
        if let Value::Text(name) | Value::Word(name) = &self.value { Some(name) } else { None }
    }

    /// Returns the entry at the end of a way of indices.
    pub(super) fn at(&self, way: &[usize]) -> Option<&TreeEntry> {
        let (last, before) = way.split_last()?;
        let holder = before.iter().try_fold(self, |node, index| Some(&node.entries().get(*index)?.value))?;
        holder.entries().get(*last)
    }

    /// Returns whether a key is set twice in one place.
    pub(super) fn says_twice(&self) -> bool {
        let mut known = BTreeSet::new();
        let mut entries = self.entries().iter();
        entries.any(|it| it.name().is_some_and(|it| !known.insert(it)) || it.value.says_twice())
    }

    /// Lets no type read the entry at the end of a way.
    pub(super) fn skip(&mut self, way: &[usize]) {
        let mut node = self;
        for index in way {
            let Some(entry) = node.entries_mut().and_then(|it| it.get_mut(*index)) else { return };
            node = &mut entry.value;
        }
        node.is_skipped = true;
    }

    /// Returns a way as a field path: keys, the names of elements, indices.
    pub(super) fn path(&self, way: &[usize]) -> String {
        let mut node = self;
        let mut steps = Vec::new();
        for index in way {
            let Some(entry) = node.entries().get(*index) else { break };
            steps.extend(node.tag().filter(|_| !steps.is_empty()).map(str::to_owned));
            let is_wrapped = node.tag().is_some() && entry.key.is_none() && node.entries().len() == 1;
            if !is_wrapped {
                let name = entry.name().or_else(|| entry.value.name().filter(|_| entry.key.is_none()));
                steps.push(name.map_or_else(|| index.to_string(), str::to_owned));
            }
            node = &entry.value;
        }
        steps.join(".")
    }
}

impl TreeEntry {
    /// Returns its key.
    pub fn name(&self) -> Option<&str> {
        self.key.as_ref()?.word()
    }
}

// A value of a type as a tree, in the shapes of TOML.

impl From<Said> for Node {
    fn from(said: Said) -> Self {
        match said {
            Said::Bool(it) => Self::of(Value::Bool(it)),
            Said::I64(it) => Self::of(Value::Whole(it.into())),
            Said::U64(it) => Self::of(Value::Whole(it.into())),
            Said::I128(it) => Self::of(Value::Whole(it)),
            Said::U128(it) => Self::of(i128::try_from(it).map_or(Value::Real(it as f64), Value::Whole)),
            Said::F64(it) => Self::of(Value::Real(it)),
            Said::Text(it) => Self::of(Value::Text(it)),
            Said::Some(it) | Said::NewtypeStruct(_, it) => (*it).into(),
            Said::UnitVariant((.., name)) => Self::of(Value::Text(name.to_owned())),
            Said::NewtypeVariant((.., name), it) => Self::table(vec![(name.to_owned(), (*it).into())]),
            Said::TupleVariant((.., name), all) => Self::table(vec![(name.to_owned(), list(all))]),
            Said::StructVariant((.., name), all) => Self::table(vec![(name.to_owned(), fields(all))]),
            Said::Struct(_, all) => fields(all),
            Said::Map(all) => table(all.into_iter().map(|(key, it)| (word(&key.into()), it))),
            Said::Seq(all) | Said::Tuple(all) => list(all),
            Said::None | Said::Unit => Self::of(Value::Map(Vec::new())),
        }
    }
}

fn list(all: Vec<Said>) -> Node {
    Node::list(all.into_iter().map(Node::from).collect())
}

fn fields(all: Vec<(&'static str, Said)>) -> Node {
    table(all.into_iter().map(|(key, it)| (key.to_owned(), it)))
}

/// Returns a table without what is absent.
fn table(all: impl Iterator<Item = (String, Said)>) -> Node {
    let there = all.filter(|(_, it)| !matches!(it, Said::None | Said::Unit));
    Node::table(there.map(|(key, it)| (key, it.into())).collect())
}

/// Returns a key as text.
fn word(key: &Node) -> String {
    match &key.value {
        Value::Text(it) | Value::Word(it) => it.clone(),
        Value::Whole(it) => it.to_string(),
        _ => String::new(),
    }
}

// Finds a field in a text: from a field path to bytes, in both formats.

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

    fn find<'t>(text: &'t str, format: Format, path: &str) -> Option<&'t str> {
        Tree::new(text, format).find(path).map(|span| &text[span])
    }

    #[test]
    fn a_key_with_dots_is_one_step() {
        let text = "[a.\"../b.c\"]\nx = 1\n[a.b]\nx = 2\n";

        assert_eq!(find(text, Format::Toml, "a.../b.c.x"), Some("1"));
        assert_eq!(find(text, Format::Toml, "a.b.x"), Some("2"));
    }

    #[test]
    fn a_path_that_the_text_does_not_give_leads_to_what_holds_it() {
        let text = "(name: \"a\", params: {\"x\": 3})";

        assert_eq!(find(text, Format::Ron, "params.y"), Some("{\"x\": 3}"));
        assert_eq!(find(text, Format::Ron, "zebra"), None);
    }
}
