//! An exact number in the JSON Schemas of input files, which are derived in tests alone.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::Decimal;

impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number from 0 with at most 18 digits.",
            "type": "number",
            "minimum": 0
        })
    }
}
