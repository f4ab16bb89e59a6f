//! JSON Schema of the input files, made of the types that read them.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::profile::TtlsSpec;
use super::size::{CountSpec, DurationSpec};
use crate::quantity::Decimal;

/// Returns the schema of a kind of file, such as [`PolicySpec`](super::PolicySpec), draft 2020-12, with what every field means.
///
/// It says what may stand where; what must hold between fields is told by `ctxsim validate`.
///
/// # Errors
/// None in practice: a schema is JSON.
pub fn of<T: JsonSchema>() -> Result<String, serde_json::Error> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).map(|it| it + "\n")
}

/// What is written with its unit in quotes.
impl JsonSchema for DurationSpec {
    fn schema_name() -> Cow<'static, str> {
        "DurationSpec".into()
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
impl JsonSchema for TtlsSpec {
    fn schema_name() -> Cow<'static, str> {
        "TtlsSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<DurationSpec>();
        json_schema!({
            "description": "One duration or a list of them.",
            "oneOf": [one, { "type": "array", "items": one }]
        })
    }
}

/// A number, or the parameter that holds it.
impl JsonSchema for CountSpec {
    fn schema_name() -> Cow<'static, str> {
        "CountSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A whole number, or a parameter that holds one.",
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

/// An exact number.
impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number from 0 up, with at most 18 digits.",
            "type": "number",
            "minimum": 0
        })
    }
}
