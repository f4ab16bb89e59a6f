//! Where a field stands in a text: the way from a field path to its bytes, in both formats.

use std::fmt;
use std::ops::Range;

use ron::value::RawValue;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toml::de::{DeTable, DeValue};

use super::decode::Format;

/// Returns the bytes of the deepest field of a dotted path that the text gives, or nothing when it gives none of it.
///
/// Elements of a list are found by their `name` or by their index.
#[must_use]
pub fn find(text: &str, format: Format, path: &str) -> Option<Range<usize>> {
    let steps: Vec<&str> = path.split('.').filter(|it| !it.is_empty()).collect();
    (1..=steps.len()).rev().find_map(|depth| match format {
        Format::Ron => find_ron(text, &steps[..depth]),
        Format::Toml => find_toml(text, &steps[..depth]),
    })
}

/// Follows a path through a TOML document.
fn find_toml(text: &str, steps: &[&str]) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let nothing = DeTable::new();
    let mut table = document.get_ref();
    let mut list: Option<&toml::de::DeArray<'_>> = None;
    let mut span = None;
    for step in steps {
        let next = match list.take() {
            Some(items) => {
                items.iter().enumerate().find(|(index, item)| is_element(item.get_ref(), *index, step))?.1
            }
            None => table.get(*step)?,
        };
        span = Some(next.span());
        match next.get_ref() {
            DeValue::Table(inner) => table = inner,
            DeValue::Array(inner) => list = Some(inner),
            _ => table = &nothing,
        }
    }
    span
}

/// Returns whether a list's element is the one that a path names.
fn is_element(item: &DeValue<'_>, index: usize, step: &str) -> bool {
    let name = item.as_table().and_then(|it| it.get("name")).and_then(|it| it.get_ref().as_str());
    name == Some(step) || step.parse() == Ok(index)
}

/// Follows a path through a RON document.
fn find_ron(text: &str, steps: &[&str]) -> Option<Range<usize>> {
    let mut rest: &RawValue = ron::from_str::<&RawValue>(text).ok()?;
    for step in steps {
        let inner = rest.get_ron();
        let options = super::decode::ron_options();
        let mut deserializer = ron::de::Deserializer::from_str_with_options(inner, &options).ok()?;
        rest = Step { step }.deserialize(&mut deserializer).ok()?;
    }
    let trimmed = rest.get_ron().trim();
    let start = (trimmed.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(start..start + trimmed.len())
}

/// One step down a RON value: a field, a key, an element's name or its index.
struct Step<'a> {
    step: &'a str,
}

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = &'de RawValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = &'de RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "something with a `{}`", self.step)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.step {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        found.ok_or_else(|| de::Error::custom("no such field"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut index = 0;
        let mut found = None;
        while let Some(element) = list.next_element::<&'de RawValue>()? {
            if found.is_none()
                && (self.step.parse() == Ok(index) || name_of(element).as_deref() == Some(self.step))
            {
                found = Some(element);
            }
            index += 1;
        }
        found.ok_or_else(|| de::Error::custom("no such element"))
    }
}

/// Returns the `name` field of a RON value.
fn name_of(value: &RawValue) -> Option<String> {
    let options = super::decode::ron_options();
    let mut deserializer = ron::de::Deserializer::from_str_with_options(value.get_ron(), &options).ok()?;
    let raw = Step { step: "name" }.deserialize(&mut deserializer).ok()?;
    ron::from_str(raw.get_ron()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RON: &str =
        r#"(name: "a", stages: [(name: "first", until: 1), (name: "second", until: 12)], params: {"x": 3})"#;
    const TOML: &str =
        "name = \"a\"\n[[stages]]\nname = \"first\"\n[[stages]]\nname = \"second\"\nuntil = 12\n";

    #[test]
    fn a_path_leads_to_the_bytes_of_its_field() {
        assert_eq!(find(RON, Format::Ron, "stages.second.until").map(|it| &RON[it]), Some("12"));
        assert_eq!(find(RON, Format::Ron, "stages.0.until").map(|it| &RON[it]), Some("1"));
        assert_eq!(find(RON, Format::Ron, "params.x").map(|it| &RON[it]), Some("3"));
        assert_eq!(find(TOML, Format::Toml, "stages.second.until").map(|it| &TOML[it]), Some("12"));
    }

    #[test]
    fn a_path_that_the_text_does_not_give_leads_to_what_holds_it() {
        assert_eq!(find(RON, Format::Ron, "params.y").map(|it| &RON[it]), Some("{\"x\": 3}"));
        assert_eq!(find(RON, Format::Ron, "zebra"), None);
    }
}
