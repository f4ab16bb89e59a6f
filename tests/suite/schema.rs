//! The schemas that editors use: true of every bundled input, and named in full by the reference files.

use ctxsim::input::text::source::to_json;

use crate::support::*;

const KINDS: [(&str, &str); 4] =
    [("policy", "policies"), ("scenario", "scenarios"), ("profile", "profiles"), ("suite", "suites")];

fn read_schema(kind: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join(format!("schema/{kind}.json"))).unwrap()).unwrap()
}

/// Returns the input files below a folder.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let mut files = ctxsim::catalog::input_files(folder).unwrap();
    files.sort();
    files
}

/// Returns what a file says, as JSON.
fn as_json(kind: &str, path: &Path) -> Value {
    fn tree<T: Decode + Encode>(source: &Source) -> Value {
        match source.format {
            // As it is written, before anything is read into it.
            Format::Toml => {
                serde_json::to_value(toml::from_str::<toml::Value>(&source.text).unwrap()).unwrap()
            }
            Format::Ron => to_json(&source.decode::<T>().unwrap()).unwrap(),
        }
    }
    let source = Source::read(path).unwrap();
    match kind {
        "policy" => tree::<PolicyFile>(&source),
        "scenario" => tree::<ScenarioFile>(&source),
        "profile" => tree::<ProfileFile>(&source),
        _ => tree::<SuiteFile>(&source),
    }
}

/// Whether a value is of a type.
fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

/// Why a value is not what a schema asks for; every keyword that the schemas use is known here, and no other passes.
fn fault(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(allowed) = schema.as_bool() {
        return (!allowed).then(|| format!("{value} is not allowed"));
    }
    let wrong = |what: &str| Some(format!("{value}: {what}"));
    let all = |schemas: &Value| schemas.as_array().unwrap().clone();
    for (keyword, asked) in schema.as_object().expect("a schema is an object or a boolean") {
        let found = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" | "pattern" => None,
            "$ref" => {
                let name = asked.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                fault(root, root["$defs"].get(name).expect("a definition"), value)
            }
            "type" => {
                let types = if asked.is_array() { all(asked) } else { vec![asked.clone()] };
                if types.iter().any(|it| is_of(it, value)) { None } else { wrong("type") }
            }
            "const" => (value != asked).then(|| format!("{value} is not {asked}")),
            "enum" if all(asked).contains(value) => None,
            "enum" => wrong("none of the choices"),
            "oneOf" | "anyOf" => {
                let n_fit = all(asked).iter().filter(|it| fault(root, it, value).is_none()).count();
                if n_fit == 1 || (n_fit > 1 && keyword == "anyOf") {
                    None
                } else {
                    wrong("fits none or several")
                }
            }
            "minimum" if value.as_f64().is_some_and(|it| it < asked.as_f64().unwrap()) => wrong("too small"),
            "maximum" if value.as_f64().is_some_and(|it| it > asked.as_f64().unwrap()) => wrong("too large"),
            "minItems" if value.as_array().is_some_and(|it| (it.len() as u64) < asked.as_u64().unwrap()) => {
                wrong("too few")
            }
            "maxItems" if value.as_array().is_some_and(|it| it.len() as u64 > asked.as_u64().unwrap()) => {
                wrong("too many")
            }
            "minimum" | "maximum" | "minItems" | "maxItems" => None,
            "required" if !value.is_object() => None,
            "required" => all(asked)
                .iter()
                .find(|it| value.get(it.as_str().unwrap()).is_none())
                .map(|it| format!("{it} is missing")),
            "properties" => asked.as_object().unwrap().iter().find_map(|(name, inner)| {
                fault(root, inner, value.get(name)?).map(|it| format!("{name}: {it}"))
            }),
            "additionalProperties" => value.as_object().and_then(|it| {
                let others = it.iter().filter(|(key, _)| schema["properties"].get(key.as_str()).is_none());
                others
                    .clone()
                    .find_map(|(key, inner)| fault(root, asked, inner).map(|it| format!("{key}: {it}")))
            }),
            "prefixItems" => value
                .as_array()
                .and_then(|it| it.iter().zip(&all(asked)).find_map(|(item, inner)| fault(root, inner, item))),
            "items" => value.as_array().and_then(|it| it.iter().find_map(|it| fault(root, asked, it))),
            other => panic!("unknown keyword {other}"),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[test]
fn every_bundled_input_is_what_its_schema_asks_for() {
    let mut n_checked = 0;
    for (kind, folder) in KINDS {
        let schema = read_schema(kind);
        for path in inputs(&root().join(folder)) {
            assert_eq!(fault(&schema, &schema, &as_json(kind, &path)), None, "{}", path.display());
            n_checked += 1;
        }
    }
    assert!(n_checked > 40, "{n_checked}");
}

#[test]
fn a_schema_refuses_what_does_not_decode() {
    let mut n_refused = 0;
    for path in inputs(&root().join("tests/invalid")).iter().filter(|it| it.extension().unwrap() == "toml") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let kind = name.split('.').next().unwrap();
        let text = fs::read_to_string(path).unwrap();
        let Ok(value) = toml::from_str::<toml::Value>(&text) else { continue };
        let decodes = match kind {
            "policy" => toml::from_str::<PolicyFile>(&text).is_ok(),
            "scenario" => toml::from_str::<ScenarioFile>(&text).is_ok(),
            "profile" => toml::from_str::<ProfileFile>(&text).is_ok(),
            _ => toml::from_str::<SuiteFile>(&text).is_ok(),
        };
        let schema = read_schema(kind);
        // A duration's text is a pattern, which this check does not read.
        if !decodes && !name.contains("ttl") {
            assert!(fault(&schema, &schema, &serde_json::to_value(value).unwrap()).is_some(), "{name}");
            n_refused += 1;
        }
    }
    assert!(n_refused > 5, "{n_refused}");
}

#[test]
fn every_bundled_toml_file_names_its_schema() {
    for (kind, folder) in KINDS.into_iter().chain([("", "docs/reference")]) {
        for path in inputs(&root().join(folder)).iter().filter(|it| it.extension().unwrap() == "toml") {
            let kind = if kind.is_empty() { path.file_stem().unwrap().to_str().unwrap() } else { kind };
            let text = fs::read_to_string(path).unwrap();
            let named = text.lines().next().unwrap().strip_prefix("#:schema ").expect("a schema line");
            let schema = path.parent().unwrap().join(named).canonicalize().expect("the schema");
            assert_eq!(schema, root().join(format!("schema/{kind}.json")).canonicalize().unwrap());
        }
    }
}

/// Returns every name that a schema knows: fields, and the words of choices.
fn names(schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(fields) = schema["properties"].as_object() {
        found.extend(fields.keys().cloned());
    }
    found.extend(
        schema["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .chain(schema.get("const"))
            .filter_map(Value::as_str)
            .map(str::to_owned),
    );
    match schema {
        Value::Object(inner) => inner.values().for_each(|it| names(it, found)),
        Value::Array(inner) => inner.iter().for_each(|it| names(it, found)),
        _ => {}
    }
}

#[test]
fn every_reference_file_names_every_field_and_choice_and_loads() {
    for (kind, _) in KINDS {
        let path = ["ron", "toml"].iter().map(|it| root().join(format!("docs/reference/{kind}.{it}")));
        let path = path.into_iter().find(|it| it.exists()).expect("a reference file");
        let text = fs::read_to_string(&path).unwrap();
        let words: BTreeSet<&str> =
            text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).collect();
        let mut known = BTreeSet::new();
        names(&read_schema(kind), &mut known);

        let missing: Vec<&String> = known.iter().filter(|it| !words.contains(it.as_str())).collect();
        assert_eq!(missing, Vec::<&String>::new(), "of {kind}");
        let schema = read_schema(kind);
        assert_eq!(fault(&schema, &schema, &as_json(kind, &path)), None, "{kind}");
        let checked = Command::new(env!("CARGO_BIN_EXE_ctxsim")).arg("validate").arg(&path).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}
