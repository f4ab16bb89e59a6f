//! Finds what is wrong with a text: its first syntax error, or else every problem.
//!
//! For the latter, the type is read from the tree again without each entry that it refused.
//!
//! serde stops at the first type error. So the entry of the tree that a type refused is skipped, and the type is read from the same tree
//! again, without parsing (`text/problems`). Problems that only follow from the skipped entry are not reported: a missing field whose entry
//! was skipped, or a misspelling of it. This needs no list of fields, so a new field is covered as soon as its type exists. `text/fault`
//! has one wording and one set of codes for both formats. A key that is set twice is a problem in both, though serde would take the last
//! one in a map. If the syntax is broken, only the first error is reported, because the rest may follow from it. serde names the first
//! field that a struct lacks; `missing` names the others, from the schemas in `schema/`, which are made from the same types. A
//! fix shows what to write in RON within backticks, and `text/spelling` shows it in TOML if the file is TOML.
//!
//! The rules of a kind push problems with a field path in which list elements are addressed by name (`stages.clear#2` is the second of that
//! name) and variants are path segments (`until.prompt.at_most`). A problem of a table, ladder or parameter that a stage uses is reported
//! where it is declared. `Tree::find` finds the value's bytes with the same tree; a problem of a merged policy is reported in the file
//! of the chain that sets the field. A ratio above 1 is rejected, because 80 for 80% is the likelier intention: more than the limit is
//! `times(1.5, limit)`.

use crate::prelude::*;

use super::fault::{self, TextFault};
use super::read::{Refusal, Shape, Why};
use super::schema::{POLICY, PROFILE, SCENARIO, SUITE};
use super::source::{Format, fields};
use super::tree::{Node, Tree, located};
use crate::{PolicyFile, ProfileFile, ScenarioFile, SuiteFile};
use serde_json::Value;

/// The most problems reported for one text.
const PROBLEMS_MAX: usize = 64;

/// The longest value repeated in a message, in bytes.
const WORD_MAX: usize = 40;

/// Returns everything that is wrong with a text, in its order; at least one problem for an invalid one.
pub(super) fn found_problems(tree: &Tree, text: &str, shape: Shape) -> Vec<Diagnostic> {
    let mut root = tree.root.clone();
    let mut list = duplicates(&mut root);
    if let Some(fault) = &tree.fault {
        list.push(fault.clone());
    } else {
        let mut found = EntryProblems { text, format: tree.format, shape, root, list, damage: Vec::new() };
        while found.list.len() < PROBLEMS_MAX && found.next() {}
        list = found.list;
    }
    list.order_by_key(|it| it.place.span.as_ref().map(|it| it.start));
    list
}

/// Returns the keys that are set twice in one place, of which the types read only the first.
fn duplicates(root: &mut Node) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        let mut keys: IndexSet<String> = IndexSet::new();
        for entry in node.entries_mut().into_iter().flatten() {
            let Some(key) = entry.name().map(str::to_owned) else { continue };
            if keys.contains(&key) {
                let message = format!("`{key}` is set twice");
                let problem =
                    Diagnostic::at(Code("duplicate-key"), "", message).help("remove one of the two");
                list.push(located(problem, entry.key.as_ref().map_or(0..0, |it| it.span.clone())));
                entry.value.is_skipped = true;
            }
            keys.insert(key);
        }
        nodes.extend(node.entries_mut().into_iter().flatten().map(|it| &mut it.value));
    }
    list
}

/// The problems found so far, and the entries skipped.
struct EntryProblems<'a> {
    text: &'a str,
    format: Format,
    /// What the text should be.
    shape: Shape,
    root: Node,
    list: Vec<Diagnostic>,
    /// The ways to where something is skipped, and its name.
    damage: Vec<(Vec<usize>, Option<String>)>,
}

impl EntryProblems<'_> {
    /// Reads the type once, and reports what it refuses unless that only follows from a skipped entry; returns whether
    /// to read it again.
    fn next(&mut self) -> bool {
        let Err(refused) = self.shape.try_read(&self.root, self.format) else { return false };
        let Refusal { why, way, is_key } = self.at_key(refused.told());
        let harmed = self.damage.iter().filter(|(holder, _)| *holder == way && !is_key);
        let harmed: Vec<Option<String>> = harmed.map(|(_, key)| key.clone()).collect();
        let is_harmed = |field: &str| harmed.iter().flatten().any(|given| nearest(given, [field]).is_some());
        match &why {
            Why::Missing(first) => {
                let alone = || vec![Required { name: (*first).to_owned(), about: None }];
                let missing = missing(self.shape, &self.root, &way, first).unwrap_or_else(alone);
                let end = self.root.span.end;
                for field in missing.iter().filter(|it| !is_harmed(&it.name)) {
                    let fault = fault::missing_field(&field.name, field.about.as_deref());
                    // What a text as a whole lacks is told at its last bracket.
                    let span = way.is_empty().then_some(end.saturating_sub(1)..end);
                    self.report(&way, is_key, TextFault { span, ..fault });
                }
            }
            _ if harmed.is_empty() => self.report(&way, is_key, self.told(&why, &way, is_key)),
            _ => {}
        }
        let Some((_, holder)) = way.split_last() else { return false };
        let key = self.root.at(&way).and_then(|it| it.name().map(str::to_owned));
        self.damage.push((holder.to_vec(), key));
        self.root.skip(&way);
        true
    }

    /// Returns a refusal at the key that it names, where a type that reads one of several shapes had read on.
    fn at_key(&self, mut refusal: Refusal) -> Refusal {
        let Why::Field(name, _) = &refusal.why else { return refusal };
        let entries = self.root.at(&refusal.way).map_or(&self.root, |it| &it.value).entries();
        if let Some(index) = entries.iter().position(|it| it.name() == Some(name)).filter(|_| !refusal.is_key)
        {
            refusal.way.push(index);
            refusal.is_key = true;
        }
        refusal
    }

    /// Explains what a type refuses, with what only the schema knows about its place.
    fn told(&self, why: &Why, way: &[usize], is_key: bool) -> TextFault {
        let mut fault = fault::explained(why, self.word(way, is_key), self.format);
        if let (Some(number), Some(kind)) = (&fault.number, number(self.shape, &self.root, way)) {
            fault.help = fault::out_of_range(number, &kind).help;
        }
        if let (Why::Choice(..), Some(entry)) = (why, self.root.at(way).filter(|_| !is_key)) {
            // Only the name is told, not what stands in its parentheses.
            let start = entry.value.span.start;
            fault.span = entry.value.tag().map(|it| start..start + it.len());
        }
        if fault.is_of_several {
            let known = variants(self.shape, &self.root, way);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let entries = self.root.at(way).map_or(&self.root, |it| &it.value).entries();
            let keys = entries.iter().filter_map(|it| Some((it.name()?, it.key.as_ref()?.span.clone())));
            if entries.is_empty() && !known.is_empty() {
                fault.help = Some(format!("write one of `{}`", known.join("`, `")));
            }
            let unknown = keys.into_iter().find(|(key, _)| !known.is_empty() && !known.contains(key));
            if let Some((key, span)) = unknown {
                return TextFault { span: Some(span), ..fault::unknown_choice(key, &known) };
            }
        }
        fault
    }

    fn report(&mut self, way: &[usize], is_key: bool, fault: TextFault) {
        let path = self.root.path(way);
        // TOML takes a table of one key for one value.
        let value = self.root.at(way).map(|it| &it.value);
        let inner = value.filter(|it| it.entries().len() == 1).and_then(|it| it.entries()[0].name());
        let field = inner.map_or_else(|| path.clone(), |it| format!("{path}.{it}"));
        let fault = fault.of_field(&field, self.format);
        let problem = Diagnostic { help: fault.help, ..Diagnostic::at(fault.code, path, fault.message) };
        let span = fault.span.unwrap_or_else(|| self.span(way, is_key));
        self.list.push(located(problem, span));
    }

    /// Returns the bytes of the value, or of the key, at the end of a way.
    fn span(&self, way: &[usize], is_key: bool) -> Range<usize> {
        match self.root.at(way) {
            Some(entry) => entry.key.as_ref().filter(|_| is_key).unwrap_or(&entry.value).span.clone(),
            None => self.root.span.clone(),
        }
    }

    /// Returns the value, or the key, at the end of a way as written, or nothing for a long one.
    fn word(&self, way: &[usize], is_key: bool) -> &str {
        let word = self.text.get(self.span(way, is_key)).unwrap_or_default();
        if word.len() <= WORD_MAX && !word.contains('\n') { word } else { "" }
    }
}

// What the schema knows about a place: other missing fields, and the range of a number.

/// A required field, with its meaning from the schema.
#[derive(Clone, Debug, PartialEq)]
struct Required {
    pub name: String,
    pub about: Option<String>,
}

/// Returns the required fields that the struct at the end of a path lacks, if the schema knows `first` as one.
fn missing(shape: Shape, root: &Node, way: &[usize], first: &str) -> Option<Vec<Required>> {
    let document = schema_of(shape)?;
    let document = SchemaDocument { root: &document };
    let (schemas, node) = document.walk(root, way)?;
    let holders = document.inside(&schemas, node);
    let given = |name: &str| node.entries().iter().any(|it| it.name() == Some(name) && !it.value.is_skipped);
    let of = |schema: &&Value| {
        let schema = document.resolve(schema);
        let required = schema["required"].as_array()?.iter().filter_map(Value::as_str);
        let lacking = required.filter(|it| !given(it)).map(|it| Required {
            name: it.to_owned(),
            about: schema["properties"][it]["description"].as_str().map(first_sentence),
        });
        let lacking: Vec<Required> = lacking.collect();
        lacking.iter().any(|it| it.name == first).then_some(lacking)
    };
    holders.iter().flat_map(|it| document.choices(it)).find_map(|it| of(&it))
}

/// Returns the schema's name for the number type at the end of a path.
fn number(shape: Shape, root: &Node, way: &[usize]) -> Option<String> {
    let document = schema_of(shape)?;
    let document = SchemaDocument { root: &document };
    let (schemas, _) = document.walk(root, way)?;
    let formats = schemas.iter().flat_map(|it| document.choices(it)).filter_map(|it| it["format"].as_str());
    formats.map(str::to_owned).next()
}

/// Returns the keys of which a table at the end of a path may have one.
fn variants(shape: Shape, root: &Node, way: &[usize]) -> Vec<String> {
    let Some(document) = schema_of(shape) else { return Vec::new() };
    let document = SchemaDocument { root: &document };
    let schemas = document.walk(root, way).map(|(schemas, _)| schemas).unwrap_or_default();
    let choices = schemas.iter().flat_map(|it| document.choices(it));
    choices.filter_map(|it| it["properties"].as_object()).flat_map(|it| it.keys().cloned()).collect()
}

/// Returns the schema of a kind of file.
fn schema_of(shape: Shape) -> Option<Value> {
    let schemas = [
        (fields::<PolicyFile>(), POLICY),
        (fields::<ScenarioFile>(), SCENARIO),
        (fields::<ProfileFile>(), PROFILE),
        (fields::<SuiteFile>(), SUITE),
    ];
    let wanted = shape.fields();
    let text = schemas.into_iter().find(|(known, _)| *known == wanted).map(|(_, text)| text);
    text.and_then(|it| serde_json::from_str(it).ok())
}

/// Returns a field's meaning, as the end of a sentence.
fn first_sentence(text: &str) -> String {
    let sentence = text.split(['\n', ';']).next().unwrap_or(text).trim_end_matches('.');
    let mut letters = sentence.chars();
    letters.next().map(|it| it.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// A schema document with its definitions.
struct SchemaDocument<'a> {
    root: &'a Value,
}

impl<'a> SchemaDocument<'a> {
    /// Returns the schemas of the value at the end of a way, and the value.
    fn walk<'n>(&self, root: &'n Node, way: &[usize]) -> Option<(Vec<&'a Value>, &'n Node)> {
        let mut schemas = vec![self.root];
        let mut node = root;
        for index in way {
            let entry = node.entries().get(*index)?;
            let inside = self.inside(&schemas, node);
            schemas = match entry.name() {
                Some(key) => inside.iter().filter_map(|it| self.field(it, key)).collect(),
                None if node.tag().is_some() && node.entries().len() == 1 => inside,
                None => inside.iter().filter_map(|it| self.element(it, *index)).collect(),
            };
            node = &entry.value;
        }
        Some((schemas, node))
    }

    /// Follows references.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/"));
        name.map_or(schema, |it| &self.root["$defs"][it])
    }

    /// Returns the alternative schemas of a value.
    fn choices(&self, schema: &'a Value) -> Vec<&'a Value> {
        let schema = self.resolve(schema);
        let inner = ["oneOf", "anyOf"].into_iter().filter_map(|it| schema[it].as_array()).flatten();
        let inner: Vec<&Value> = inner.flat_map(|it| self.choices(it)).collect();
        if inner.is_empty() { vec![schema] } else { inner }
    }

    /// Returns the schemas of the contents of a value's brackets, without its tag.
    fn inside(&self, schemas: &[&'a Value], node: &Node) -> Vec<&'a Value> {
        let choices = schemas.iter().flat_map(|it| self.choices(it));
        match node.tag().filter(|_| !node.is_leaf()) {
            Some(tag) => choices.filter_map(|it| it["properties"].get(tag)).collect(),
            None => choices.collect(),
        }
    }

    /// Returns the schema of a field, or of any key of a map.
    fn field(&self, schema: &'a Value, key: &str) -> Option<&'a Value> {
        let any = |it: &'a Value| Some(&it["additionalProperties"]).filter(|it| it.is_object());
        self.choices(schema).into_iter().find_map(|it| it["properties"].get(key).or_else(|| any(it)))
    }

    /// Returns the schema of an element.
    fn element(&self, schema: &'a Value, index: usize) -> Option<&'a Value> {
        let any = |it: &'a Value| it.get("items").filter(|it| it.is_object());
        self.choices(schema).into_iter().find_map(|it| it["prefixItems"].get(index).or_else(|| any(it)))
    }
}
