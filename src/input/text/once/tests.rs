//! Values and errors are those that each format has without the way in between.

use indexmap::IndexMap;
use serde::de::DeserializeSeed;
use serde::{Deserialize, Serialize};

use super::{Grown, Said, read};
use crate::input::text::decode::{read_ron, ron_options};

/// One of each kind of thing that inputs are made of.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    small: u8,
    share: f64,
    short: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    perhaps: Option<bool>,
    words: Vec<String>,
    pair: (i64, char),
    wrapped: Wrapped,
    choices: Vec<Choice>,
    map: IndexMap<String, u32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(String);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Unit,
    One(u64),
    Two(u8, u8),
    Fields { tokens: u64 },
}

const RON: &str = r#"(small: 1, share: 0.1, short: 0.1, perhaps: true, words: ["a"], pair: (-1, 'b'), wrapped: "c",
    choices: [unit, one(5), two(1, 2), fields(tokens: 3)], map: { "d": 4 })"#;

const TOML: &str = r#"small = 1
share = 0.1
short = 0.1
words = ["a", "b"]
pair = [-1, "b"]
wrapped = "c"
choices = ["unit", { one = 5 }, { two = [1, 2] }, { fields = { tokens = 3 } }]
map = { d = 4 }
"#;

/// Returns a text, and what becomes of it by each of some replacements.
fn variants(text: &str, replacements: &[(&str, &str)]) -> Vec<String> {
    let replaced = replacements.iter().map(|(from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    [text.to_owned()].into_iter().chain(replaced).collect()
}

#[test]
fn ron_is_read_as_without_it() {
    let wrong = [
        ("small: 1", "small: 300"),
        ("small: 1", "small: -1"),
        ("small: 1", "smal: 1"),
        ("small: 1,", ""),
        ("small: 1,", "small: 1, small: 2,"),
        ("perhaps: true", "perhaps: 1"),
        ("[\"a\"]", "\"a\""),
        ("\"c\"", "7"),
        ("(-1, 'b')", "(-1)"),
        ("one(5)", "one"),
        ("unit", "unit(5)"),
        ("unit", "other"),
        ("tokens: 3", "token: 3"),
        ("two(1, 2)", "two(1, 2, 3)"),
        ("\"d\": 4", "\"d\": \"e\""),
    ];
    for text in variants(RON, &wrong) {
        let direct = ron_options().from_str::<Whole>(&text);

        let once = read::<Whole, _>(|grow| read_ron(&text, grow));

        assert_eq!(once, direct.map(Some), "{text}");
    }
}

#[test]
fn toml_is_read_as_without_it() {
    let wrong = [
        ("small = 1", "small = 300"),
        ("small = 1", "smal = 1"),
        ("small = 1", ""),
        ("small = 1", "small = 99_999_999_999_999_999_999"),
        ("[\"a\", \"b\"]", "\"a\""),
        ("\"c\"", "7"),
        ("[-1, \"b\"]", "[-1]"),
        ("{ one = 5 }", "\"one\""),
        ("\"unit\"", "{ unit = 5 }"),
        ("\"unit\"", "\"other\""),
        ("\"unit\"", "5"),
        ("{ one = 5 }", "{ one = 5, two = [1, 2] }"),
        ("tokens = 3", "token = 3"),
        ("d = 4", "d = 1.5"),
    ];
    for text in variants(TOML, &wrong) {
        let direct = toml::from_str::<Whole>(&text);

        let parsed = toml::de::Deserializer::parse(&text).unwrap();
        let once = read::<Whole, _>(|grow| Grown(grow).deserialize(parsed));

        assert_eq!(once, direct.map(Some), "{text}");
    }
}

#[test]
fn every_format_writes_what_it_writes_without_it() {
    let whole: Whole = ron_options().from_str(RON).unwrap();
    let said = Said::by(&whole).unwrap();

    let pretty = ron::ser::PrettyConfig::new;
    assert_eq!(
        ron_options().to_string_pretty(&said, pretty()).unwrap(),
        ron_options().to_string_pretty(&whole, pretty()).unwrap()
    );
    assert_eq!(toml::to_string_pretty(&said).unwrap(), toml::to_string_pretty(&whole).unwrap());
    assert_eq!(serde_json::to_string(&said).unwrap(), serde_json::to_string(&whole).unwrap());
    assert_eq!(toml::Value::try_from(said).unwrap(), toml::Value::try_from(whole).unwrap());
}

#[derive(Debug, PartialEq, Deserialize)]
struct Outer {
    inner: Inner,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    tokens: u64,
}

#[test]
fn a_list_is_not_taken_for_named_fields() {
    let direct: Outer = toml::from_str("inner = [3]").unwrap();
    assert_eq!(direct, Outer { inner: Inner { tokens: 3 } }, "what is derived takes fields in order");

    let parsed = toml::de::Deserializer::parse("inner = [3]").unwrap();
    let once = read::<Outer, _>(|grow| Grown(grow).deserialize(parsed));

    assert_eq!(once.unwrap_err().message(), "invalid type: sequence, expected struct Inner");
}
