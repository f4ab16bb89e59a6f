//! A tree of values in which keys are unique and every number is exactly what the text says.

use crate::prelude::*;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::PriceFile;
use crate::Format;
use crate::text::source::decode_table;
use crate::text::source::{Source, json_problem};

/// A value of a price list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number; the nearest float, which is written back exactly as in the text.
    Number(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Json>),
    /// Values by key, in the order of the text.
    Object(IndexMap<String, Json>),
}

impl Json {
    pub(super) fn object(&self) -> Option<&IndexMap<String, Json>> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    pub(super) fn list(&self) -> Option<&[Json]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.object()?.get(key)
    }

    /// Returns a price in US dollars per million tokens that is written per million.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn per_million(&self) -> Result<Decimal, String> {
        self.per_token_times(0)
    }

    /// Returns a price in US dollars per million tokens that is written per token.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn per_token(&self) -> Result<Decimal, String> {
        self.per_token_times(6)
    }

    fn per_token_times(&self, places: u32) -> Result<Decimal, String> {
        let number = match self {
            Self::Number(number) => *number,
            other => return Err(format!("{} instead of a price", other.kind())),
        };
        let read = |number| Decimal::from_f64(number).and_then(|it| it.shifted(places));
        let price = [number, as_meant(number)].into_iter().filter_map(read).find(|it| it.scaled(6).is_some());
        price.ok_or_else(|| match number {
            _ if number < 0.0 => format!("a negative price, {number}"),
            _ if !number.is_finite() => format!("{number} instead of a price"),
            _ => format!("{number} is not a whole number of millionths of a dollar per million tokens"),
        })
    }

    /// Returns a number of tokens; `None` for zero and for anything but a whole number.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        let Self::Number(number) = *self else { return None };
        (number.fract() == 0.0 && (1.0..1e15).contains(&number)).then_some(number as Tokens)
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Returns a number to its 15th digit, the last that a float surely holds (`DBL_DIG`): 2e-7 of 2.0000000000000002e-7, which
/// a program has computed.
fn as_meant(number: f64) -> f64 {
    format!("{number:.14e}").parse().unwrap_or(number)
}

/// Reads a file's text: TOML where its name says so, else JSON.
///
/// # Errors
/// What is not well-formed, a key that is twice, or too deep nesting, with its place.
pub(super) fn read(file: &PriceFile) -> Result<Json, Vec<Diagnostic>> {
    if file.path.ends_with(".toml") {
        return decode_table(&file.text, Format::Toml).map_err(|problems| {
            Source::new(&file.path, Format::Toml, file.text.as_str()).locate_all(problems)
        });
    }
    serde_json::from_str(&file.text).map_err(|error| {
        let mut problem = json_problem(&file.text, &error);
        problem.place.file.clone_from(&file.path);
        vec![problem]
    })
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonBuilder)
    }
}

/// Builds the tree.
struct JsonBuilder;

impl<'de> Visitor<'de> for JsonBuilder {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Json, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(access)).map(Json::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut fields = IndexMap::new();
        while let Some(key) = access.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(de::Error::custom(format!("the key `{key}` occurs twice")));
            }
            let value = access.next_value()?;
            fields.insert(key, value);
        }
        Ok(Json::Object(fields))
    }
}
