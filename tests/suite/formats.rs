//! RON and TOML are two ways to write the same spec.

use std::fmt::Debug;

use crate::support::*;

fn read<T: Decode>(path: &str) -> T {
    Source::read(&root().join(path)).unwrap().decode().unwrap()
}

/// Writes every file of a folder in both formats and reads it back.
fn convert<T: Encode + Decode + PartialEq + Debug>(folder: &str) {
    let files = files_below(&root().join(folder), &["ron", "toml"]);
    assert!(!files.is_empty());
    for path in files {
        let spec: T = Source::read(&path).unwrap().decode().unwrap();
        for format in [Format::Ron, Format::Toml] {
            let text = encode(&spec, format).unwrap();
            let again: T =
                decode(&text, format).unwrap_or_else(|it| panic!("{}: {it:#?}\n{text}", path.display()));
            assert_eq!(again, spec, "{}", path.display());
            assert!(!text.contains("Some("), "{}", path.display());
        }
    }
}

#[test]
fn every_bundled_file_means_the_same_in_both_formats() {
    convert::<PolicyFile>("policies");
    convert::<ScenarioFile>("scenarios");
    convert::<ProfileFile>("profiles");
    convert::<SuiteFile>("suites");
}

#[test]
fn twins_are_equal() {
    let twin = |name: &str| ["ron", "toml"].map(|it| format!("tests/twins/{name}.{it}"));
    let equal = |[left, right]: [PolicyFile; 2]| assert_eq!(left, right);
    equal(twin("policy").each_ref().map(|it| read(it)));
    let equal = |[left, right]: [ScenarioFile; 2]| assert_eq!(left, right);
    equal(twin("scenario").each_ref().map(|it| read(it)));
    let equal = |[left, right]: [ProfileFile; 2]| assert_eq!(left, right);
    equal(twin("profile").each_ref().map(|it| read(it)));
    let equal = |[left, right]: [SuiteFile; 2]| assert_eq!(left, right);
    equal(twin("suite").each_ref().map(|it| read(it)));
}
