//! The schemas as the types have them, and whether the files in `schema/` still say so.

use std::borrow::Cow;
use std::path::Path;
use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::{POLICY, PROFILE, SCENARIO, SUITE};
use crate::policy::Count;
use crate::profile::cache::Ttls;
use crate::scenario::{Amount, Cycle, ListChoice, NumberRange};
use crate::suite::GuardBound;
use crate::text::duration::Duration;
use crate::{PolicyFile, ProfileFile, ScenarioFile, SuiteFile};

#[test]
fn the_schemas_are_those_of_the_types() {
    holds::<PolicyFile>("policy", POLICY);
    holds::<ScenarioFile>("scenario", SCENARIO);
    holds::<ProfileFile>("profile", PROFILE);
    holds::<SuiteFile>("suite", SUITE);
}

/// Compares the schema of a type with its file, or writes the file.
fn holds<T: JsonSchema>(kind: &str, kept: &str) {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(leave_out_unset));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if env::var_os("CTXSIM_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../schema/{kind}.json"));
        return fs::write(path, made).unwrap();
    }
    assert!(made == kept, "schema/{kind}.json: set CTXSIM_BLESS to write what the types say");
}

/// Leaves out of defaults what is not set, as files do.
fn leave_out_unset(schema: &mut Schema) {
    match schema.get_mut("default") {
        Some(Value::Null) => drop(schema.remove("default")),
        Some(Value::Object(fields)) => fields.retain(|_, it| !it.is_null()),
        _ => {}
    }
}

/// A value written with its unit in quotes.
impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration with its unit: ms, s, m, h or d.",
            "type": "string",
            "pattern": "^[0-9]+(ms|s|m|h|d)$"
        })
    }
}

/// One or several.
impl JsonSchema for Ttls {
    fn schema_name() -> Cow<'static, str> {
        "Ttls".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Duration>();
        json_schema!({
            "description": "One duration or a list of them.",
            "oneOf": [one, { "type": "array", "items": one }]
        })
    }
}

/// A number, or a text with a number and its unit.
impl JsonSchema for GuardBound {
    fn schema_name() -> Cow<'static, str> {
        "Bound".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, a percentage, or a share of the profile's window or prompt limit.",
            "oneOf": [
                { "type": "number" },
                { "type": "string", "pattern": "^ *-?[0-9.eE+-]+ *(%| +window| +limit) *$" }
            ]
        })
    }
}

/// A number, or a parameter that holds it.
impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A whole number, or the name of a parameter that holds one.",
            "oneOf": [
                { "type": "integer", "format": "uint64", "minimum": 0 },
                {
                    "type": "object",
                    "properties": { "param": { "description": "The parameter's name.", "type": "string" } },
                    "required": ["param"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

/// A number, or a rule or range for it.
impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let cycle = generator.subschema_for::<Cycle>();
        let drawn = [generator.subschema_for::<NumberRange>(), generator.subschema_for::<ListChoice>()];
        json_schema!({
            "description": "A number, a cycle of numbers, or a range or list to draw it from.",
            "oneOf": [{ "type": "integer", "format": "uint64", "minimum": 0 }, cycle, drawn[0], drawn[1]]
        })
    }
}
