//! Finds what is wrong with a text: its first syntax error, or else every problem.
//!
//! For the latter, each faulty entry is removed and the rest is parsed again.

mod required;
mod ron;
mod toml;

use std::ops::Range;

use super::decode::Format;
use super::fault::{self, Fault};
use super::node::{Node, of_ron, of_toml};
use super::once::Shape;
use crate::diag::{Diagnostic, Place, nearest};

/// The most problems reported for one text.
const PROBLEMS_MAX: usize = 64;

/// The longest value repeated in a message, in bytes.
const WORD_MAX: usize = 40;

/// The most entries removed from one text.
const ATTEMPTS_MAX: usize = 512;

/// Returns everything that is wrong with a text; at least one problem for an invalid one.
pub(super) fn problems(text: &str, format: Format, shape: Shape) -> Vec<Diagnostic> {
    let whole = match format {
        Format::Ron => of_ron(text),
        Format::Toml => of_toml(::toml::de::DeTable::parse_recoverable(text).0.get_ref()),
    };
    let mut found = Found { text, format, shape, whole, list: Vec::new(), damage: Vec::new() };
    match format {
        Format::Ron => found.in_ron(),
        Format::Toml => found.in_toml(),
    }
    found.list
}

/// Returns the keys of a RON text that are set twice in one place; the parser keeps the last one.
pub(super) fn duplicates(text: &str) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    let root = of_ron(text);
    let mut nodes = vec![&root];
    while let Some(node) = nodes.pop() {
        let mut keys = indexmap::IndexSet::new();
        for entry in &node.entries {
            if let Some(key) = &entry.key
                && !keys.insert(key)
            {
                let place = Place { span: Some(entry.key_span.clone()), ..Place::default() };
                let problem = Diagnostic {
                    place,
                    ..Diagnostic::at("duplicate-key", "", format!("`{key}` is set twice"))
                };
                list.push(problem.help("remove one of the two"));
            }
        }
        nodes.extend(node.entries.iter().rev().map(|it| &it.value));
    }
    list
}

/// The problems found so far, and the entries removed.
struct Found<'a> {
    text: &'a str,
    format: Format,
    /// What the text should be.
    shape: Shape,
    /// The text before anything is removed.
    whole: Node,
    list: Vec<Diagnostic>,
    /// Where something was removed, and its name.
    damage: Vec<(Range<usize>, Option<String>)>,
}

impl Found<'_> {
    /// Reports a fault unless it only follows from a removed entry; returns the entry to remove next.
    fn take(&mut self, root: &Node, fault: &Fault) -> Option<Vec<usize>> {
        let way = match fault {
            // TOML gives what the document itself lacks no place.
            Fault { missing: Some(_), span, .. } if *span == (0..0) => Vec::new(),
            Fault { code: "unknown-field", span, .. } => root.way_to_key(span.start),
            Fault { span, .. } => root.way_to(span.start),
        };
        let fault = &told_by_schema(self.shape, root, &way, fault);
        let node = root.at(&way).map_or(root, |it| &it.value);
        let harmed = self.damage.iter().filter(|(span, _)| *span == node.span);
        let harmed: Vec<Option<String>> = harmed.map(|(_, key)| key.clone()).collect();
        let stands_for = |given: &str, field: &str| {
            nearest(given, [field]).is_some() || fault::of_old_name(given, |it| it == field).is_some()
        };
        let is_harmed = |field: &str| harmed.iter().flatten().any(|it| stands_for(it, field));
        match &fault.missing {
            Some(first) => {
                for field in
                    required::missing(self.shape, root, &way, first).iter().filter(|it| !is_harmed(&it.name))
                {
                    let span = fault.span.clone();
                    let fault = fault::missing_field(&field.name, field.about.as_deref());
                    self.report(root, &way, &Fault { span, ..fault });
                }
            }
            None if harmed.is_empty() => self.report(root, &way, fault),
            None => {}
        }
        if way.is_empty() || self.list.len() >= PROBLEMS_MAX {
            return None;
        }
        let holder = root.at(&way[..way.len() - 1]).map_or(root, |it| &it.value);
        self.damage.push((holder.span.clone(), root.at(&way).and_then(|it| it.key.clone())));
        Some(way)
    }

    fn report(&mut self, root: &Node, way: &[usize], fault: &Fault) {
        let value = root.at(way).map(|it| &it.value);
        let path = self.path(root, way);
        // TOML takes a table of one key for one value.
        let inner = value.filter(|it| it.entries.len() == 1).and_then(|it| it.entries[0].key.as_deref());
        let field = inner.map_or_else(|| path.clone(), |it| format!("{path}.{it}"));
        let fault = &fault.clone().of_field(&field, self.format);
        let mut problem = Diagnostic::at(fault.code, path, fault.message.clone());
        problem.help.clone_from(&fault.help);
        let is_value = !matches!(fault.code, "unknown-field" | "unknown-choice" | "missing-field");
        let span = match value {
            Some(value) if is_value && value.is_leaf && !value.span.is_empty() => value.span.clone(),
            Some(value) if fault.missing.is_some() => value.span.clone(),
            _ => fault.span.clone(),
        };
        self.push(problem, span);
    }

    /// Returns a path with the indices that elements have when nothing is removed.
    fn path(&self, root: &Node, way: &[usize]) -> String {
        let (mut node, mut whole, mut steps) = (root, &self.whole, Vec::new());
        for index in way {
            let Some(entry) = node.entries.get(*index) else { break };
            let same = whole.entries.iter().position(|it| it.span == entry.span);
            let Some(same) = same else { return root.path(self.text, way) };
            (node, whole) = (&entry.value, &whole.entries[same].value);
            steps.push(same);
        }
        self.whole.path(self.text, &steps)
    }

    fn push(&mut self, mut problem: Diagnostic, span: Range<usize>) {
        problem.place.span = Some(span);
        self.list.push(problem);
    }
}

/// Adds to a fault what the parser does not know about its place.
fn told_by_schema(shape: Shape, root: &Node, way: &[usize], fault: &Fault) -> Fault {
    let mut fault = fault.clone();
    if let (Some(number), Some(kind)) = (&fault.number, required::number(shape, root, way)) {
        fault.help = fault::out_of_range(number, &kind).help;
    }
    if fault.is_of_several {
        let known = required::variants(shape, root, way);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let entries = root.at(way).map_or(&root.entries, |it| &it.value.entries);
        let keys = entries.iter().filter_map(|it| Some((it.key.as_deref()?, &it.key_span)));
        if let Some((key, span)) = keys.into_iter().find(|(key, _)| !known.is_empty() && !known.contains(key))
        {
            return Fault { span: span.clone(), ..fault::unknown_choice(key, &known) };
        }
    }
    fault
}

/// Returns the value at a place as written, or nothing for a long one.
fn word_at<'t>(text: &'t str, root: &Node, byte: usize) -> &'t str {
    let entry = root.at(&root.way_to(byte));
    let span = entry
        .and_then(|it| [&it.value.span, &it.key_span].into_iter().find(|it| it.contains(&byte)).cloned());
    let word = span.and_then(|it| text.get(it)).unwrap_or_default();
    if word.len() <= WORD_MAX && !word.contains('\n') { word } else { "" }
}
