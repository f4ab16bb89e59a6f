//! What the schema knows about a place: other missing fields, and the range of a number.

use serde_json::Value;

use crate::text::decode::fields;
use crate::text::read::Shape;
use crate::text::schema::{POLICY, PROFILE, SCENARIO, SUITE};
use crate::text::tree::Node;
use crate::{PolicyFile, ProfileFile, ScenarioFile, SuiteFile};

/// A required field, with its meaning from the schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Required {
    pub name: String,
    pub about: Option<String>,
}

/// Returns the required fields that the struct at the end of a path lacks; only `first` if the schema does
/// not know it.
pub(super) fn missing(shape: Shape, root: &Node, way: &[usize], first: &str) -> Vec<Required> {
    let Some(document) = schema_of(shape) else { return alone(first) };
    let document = SchemaDocument { root: &document };
    let Some((schemas, node)) = document.walk(root, way) else { return alone(first) };
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
    holders.iter().flat_map(|it| document.choices(it)).find_map(|it| of(&it)).unwrap_or_else(|| alone(first))
}

/// Returns the schema's name for the number type at the end of a path.
pub(super) fn number(shape: Shape, root: &Node, way: &[usize]) -> Option<String> {
    let document = schema_of(shape)?;
    let document = SchemaDocument { root: &document };
    let (schemas, _) = document.walk(root, way)?;
    let formats = schemas.iter().flat_map(|it| document.choices(it)).filter_map(|it| it["format"].as_str());
    formats.map(str::to_owned).next()
}

/// Returns the keys of which a table at the end of a path may have one.
pub(super) fn variants(shape: Shape, root: &Node, way: &[usize]) -> Vec<String> {
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

fn alone(field: &str) -> Vec<Required> {
    vec![Required { name: field.to_owned(), about: None }]
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
