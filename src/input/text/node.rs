//! A text as a tree of entries with their byte ranges, the same for both formats.

mod ron;

use std::ops::Range;

use toml::de::{DeArray, DeTable, DeValue};

pub(super) use ron::of_ron;

/// A value in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    /// Its bytes.
    pub span: Range<usize>,
    /// The name before its brackets, `tokens` of `tokens(5)`, or the whole value if it is a bare word.
    pub tag: Option<String>,
    /// Fields, keys or elements.
    pub entries: Vec<Entry>,
    /// Whether it has no brackets.
    pub is_leaf: bool,
}

/// A field, a key with its value, or an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Its name, if it has one.
    pub key: Option<String>,
    /// The bytes of the name.
    pub key_span: Range<usize>,
    /// The bytes of name and value; of a section, its header's.
    pub span: Range<usize>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Returns the entry of a path's step: by key, by its element's `name`, by `name#2` for the second of
    /// that name, or by index.
    pub(super) fn entry(&self, text: &str, step: &str) -> Option<&Entry> {
        if let Some(found) = self.entries.iter().find(|it| it.key.as_deref() == Some(step)) {
            return Some(found);
        }
        let (name, nth) = match step.rsplit_once('#').map(|(name, nth)| (name, nth.parse::<usize>())) {
            Some((name, Ok(nth))) if nth > 0 => (name, nth),
            _ => (step, 1),
        };
        let named = |it: &&Entry| it.key.is_none() && it.value.name(text) == Some(name);
        let by_index = || self.entries.get(step.parse::<usize>().ok()?).filter(|it| it.key.is_none());
        self.entries.iter().filter(named).nth(nth - 1).or_else(by_index)
    }

    /// Returns the value of its field `name`.
    fn name<'t>(&self, text: &'t str) -> Option<&'t str> {
        let entry = self.entries.iter().find(|it| it.key.as_deref() == Some("name"))?;
        Some(text.get(entry.value.span.clone())?.trim_matches(['"', '\'']))
    }

    /// Returns the path to the smallest entry that covers a byte; empty if there is none.
    pub(super) fn way_to(&self, byte: usize) -> Vec<usize> {
        let mut best = None;
        self.search(byte, &mut Vec::new(), &mut best);
        best.map(|(_, way)| way).unwrap_or_default()
    }

    fn search(&self, byte: usize, way: &mut Vec<usize>, best: &mut Option<(usize, Vec<usize>)>) {
        for (index, entry) in self.entries.iter().enumerate() {
            way.push(index);
            let covers = [&entry.span, &entry.value.span].into_iter().filter(|it| it.contains(&byte));
            if let Some(length) = covers.map(ExactSizeIterator::len).min()
                && best.as_ref().is_none_or(|(known, _)| length <= *known)
            {
                *best = Some((length, way.clone()));
            }
            entry.value.search(byte, way, best);
            way.pop();
        }
    }

    /// Returns the path to the entry whose name covers a byte, else the result of [`Self::way_to`].
    pub(super) fn way_to_key(&self, byte: usize) -> Vec<usize> {
        let mut ways = vec![(self, Vec::new())];
        while let Some((node, way)) = ways.pop() {
            for (index, entry) in node.entries.iter().enumerate() {
                let way: Vec<usize> = way.iter().copied().chain([index]).collect();
                if entry.key_span.contains(&byte) {
                    return way;
                }
                ways.push((&entry.value, way));
            }
        }
        self.way_to(byte)
    }

    /// Returns the entry at the end of a path.
    pub(super) fn at(&self, way: &[usize]) -> Option<&Entry> {
        let (last, before) = way.split_last()?;
        let mut node = self;
        for index in before {
            node = &node.entries.get(*index)?.value;
        }
        node.entries.get(*last)
    }

    /// Returns a path as a field path: keys, the names of elements, indices.
    pub(super) fn path(&self, text: &str, way: &[usize]) -> String {
        let mut node = self;
        let mut steps = Vec::new();
        for index in way {
            let Some(entry) = node.entries.get(*index) else { break };
            steps.extend(node.tag.as_deref().filter(|_| !steps.is_empty()).map(str::to_owned));
            let is_wrapped = node.tag.is_some() && entry.key.is_none() && node.entries.len() == 1;
            if !is_wrapped {
                let name = entry.key.as_deref().or_else(|| entry.value.name(text));
                steps.push(name.map_or_else(|| index.to_string(), str::to_owned));
            }
            node = &entry.value;
        }
        steps.join(".")
    }
}

/// Parses a TOML document as a tree.
pub(super) fn of_toml(table: &DeTable<'_>) -> Node {
    Node { entries: entries_of_table(table), ..Node::default() }
}

fn entries_of_table(table: &DeTable<'_>) -> Vec<Entry> {
    let entry = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, &toml::Spanned<DeValue<'_>>)| {
        let (key_span, value_span) = (key.span(), value.span());
        let is_section = value_span.start < key_span.end;
        let span = if is_section { value_span.clone() } else { key_span.start..value_span.end };
        let key = Some(key.get_ref().to_string());
        Entry { key, key_span, span, value: of_value(value.get_ref(), value_span) }
    };
    table.iter().map(entry).collect()
}

fn entries_of_array(array: &DeArray<'_>) -> Vec<Entry> {
    let entry = |value: &toml::Spanned<DeValue<'_>>| {
        let span = value.span();
        let value = of_value(value.get_ref(), span.clone());
        Entry { key: None, key_span: span.start..span.start, span, value }
    };
    array.iter().map(entry).collect()
}

fn of_value(value: &DeValue<'_>, span: Range<usize>) -> Node {
    let (entries, is_leaf) = match value {
        DeValue::Table(table) => (entries_of_table(table), false),
        DeValue::Array(array) => (entries_of_array(array), false),
        _ => (Vec::new(), true),
    };
    Node { span, tag: None, entries, is_leaf }
}
