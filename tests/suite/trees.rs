//! Inputs are read as the parsers of both formats read them, also damaged ones.

use std::fmt::Debug;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::de::DeserializeOwned;

use crate::fuzz::targets::agree::{is_same, reads_as_ron, returns};
use crate::random_policy::policy;
use crate::support::*;

/// How many damaged texts are read, of each kind and format: usually, and where someone has the time.
const FEW: usize = 150;
const MANY: usize = 20_000;

/// How many sound texts are generated: usually, and in the long run.
const GENERATED: [usize; 2] = [200, 10_000];

/// The longest text that is damaged, in bytes.
const BYTES_MAX: usize = 8_000;

/// Returns the texts of a kind, as bundled and as broken on purpose, in a format.
fn texts<T: Decode + Encode>(kind: &str, folder: &str, wanted: Format) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned(), "tests/invalid".to_owned(), "tests/twins".to_owned()];
    while let Some(folder) = folders.pop() {
        let root = root();
        let mut paths: Vec<_> =
            fs::read_dir(root.join(&folder)).unwrap().map(|it| it.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_of_kind = !folder.starts_with("tests") || name.starts_with(&format!("{kind}."));
            match Format::from_path(&path).filter(|_| is_of_kind) {
                _ if path.is_dir() => folders.push(format!("{folder}/{name}")),
                None => {}
                Some(format) => {
                    let text = fs::read_to_string(&path).unwrap();
                    let other = decode::<T>(&text, format).ok().and_then(|it| encode(&it, wanted).ok());
                    found.extend(if format == wanted { Some(text) } else { other });
                }
            }
        }
    }
    found
}

/// Returns the words, the numbers, the texts in quotes and the marks of a text.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '-');
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |it| it + 2),
            it if is_word(it) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            it => it.len_utf8(),
        };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

/// Draws damaged texts: tokens taken out, doubled, swapped, or taken from another text.
struct Damage<'t> {
    draws: Xoshiro256PlusPlus,
    texts: Vec<Vec<&'t str>>,
}

impl<'t> Damage<'t> {
    fn new(texts: &'t [String]) -> Self {
        let short = texts.iter().filter(|it| !it.is_empty() && it.len() < BYTES_MAX);
        Self { draws: Xoshiro256PlusPlus::seed_from_u64(29), texts: short.map(|it| tokens(it)).collect() }
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.draws.next_u64() % u64::try_from(n.max(1)).unwrap()).unwrap()
    }

    fn next(&mut self) -> String {
        let (one, other) = (self.below(self.texts.len()), self.below(self.texts.len()));
        let mut text = self.texts[one].clone();
        for _ in 0..=self.below(3) {
            let (from, to) = (self.below(text.len()), self.below(text.len()));
            let foreign = self.below(self.texts[other].len());
            match self.below(5) {
                0 => drop(text.remove(from)),
                1 => text.insert(to, text[from]),
                2 => text.swap(from, to),
                3 => text[from] = text[to],
                _ => text[from] = self.texts[other][foreign],
            }
        }
        text.concat()
    }
}

/// Reads every text of a kind in RON, and damaged ones, as the `ron` crate does.
fn hold_in_ron<T: Decode + Encode + DeserializeOwned + PartialEq + Debug>(
    kind: &str,
    folder: &str,
    n_damaged: usize,
) {
    let texts = texts::<T>(kind, folder, Format::Ron);
    let n_read = texts.iter().filter(|it| reads_as_ron::<T>(it)).count();
    assert!(n_read > 3, "{kind}: {n_read} of {}", texts.len());
    let mut damage = Damage::new(&texts);
    let n_read = (0..n_damaged).filter(|_| reads_as_ron::<T>(&damage.next())).count();
    assert!(n_read > n_damaged / 50 && n_read < n_damaged, "{kind}: {n_read} damaged texts are read");
}

/// Reads every text of a kind in TOML, and damaged ones, as the `toml` crate does, but for lists in place of named fields and
/// values behind the last one of a pair, which it takes.
fn hold_in_toml<T: Decode + Encode + DeserializeOwned + PartialEq + Debug>(
    kind: &str,
    folder: &str,
    n_damaged: usize,
) {
    let texts = texts::<T>(kind, folder, Format::Toml);
    let mut damage = Damage::new(&texts);
    let damaged: Vec<String> = (0..n_damaged).map(|_| damage.next()).collect();
    let mut n_read = 0;
    for text in texts.iter().chain(&damaged) {
        match (decode::<T>(text, Format::Toml), toml::from_str::<T>(text)) {
            (Ok(ours), theirs) => {
                assert!(is_same(&ours, &theirs.unwrap()), "{text}");
                returns(&ours);
                n_read += 1;
            }
            (Err(problems), Ok(_)) => {
                assert!(problems.iter().any(|it| it.code.name() == "wrong-type"), "{problems:?}\n{text}");
            }
            _ => {}
        }
    }
    assert!(n_read > n_damaged / 50 && n_read < texts.len() + n_damaged, "{kind}: {n_read} are read");
}

fn hold(n_damaged: usize) {
    hold_in_ron::<PolicyFile>("policy", "policies", n_damaged);
    hold_in_ron::<ScenarioFile>("scenario", "scenarios", n_damaged);
    hold_in_ron::<ProfileFile>("profile", "profiles", n_damaged);
    hold_in_ron::<SuiteFile>("suite", "suites", n_damaged);
    hold_in_toml::<PolicyFile>("policy", "policies", n_damaged);
    hold_in_toml::<ScenarioFile>("scenario", "scenarios", n_damaged);
    hold_in_toml::<ProfileFile>("profile", "profiles", n_damaged);
    hold_in_toml::<SuiteFile>("suite", "suites", n_damaged);
}

#[test]
fn inputs_are_read_as_the_parsers_of_both_formats_read_them() {
    hold(FEW);
}

#[test]
#[ignore = "takes minutes"]
fn many_damaged_inputs_are_read_as_the_parsers_of_both_formats_read_them() {
    hold(MANY);
}

/// Writes a sound text in another style: comments, blank lines and blanks behind commas.
fn restyled(text: &str, draws: &mut Xoshiro256PlusPlus) -> String {
    let styles = ["", "", " ", "\n\n", " // and\n", " /* a /* nested */ one */ ", "\t"];
    let mut styled = String::new();
    for token in tokens(text) {
        styled.push_str(token);
        if token == "," {
            styled.push_str(styles[usize::try_from(draws.next_u64() % 7).unwrap()]);
        }
    }
    styled
}

/// Reads generated sound documents as the crate does: random policies, and inputs of every kind in other styles.
fn hold_generated(n: usize) {
    let mut runner = TestRunner::deterministic();
    let policies = policy();
    let mut draws = Xoshiro256PlusPlus::seed_from_u64(64);
    type IsRead = fn(&str) -> bool;
    let kinds: [(Vec<String>, IsRead); 4] = [
        (texts::<PolicyFile>("policy", "policies", Format::Ron), reads_as_ron::<PolicyFile>),
        (texts::<ScenarioFile>("scenario", "scenarios", Format::Ron), reads_as_ron::<ScenarioFile>),
        (texts::<ProfileFile>("profile", "profiles", Format::Ron), reads_as_ron::<ProfileFile>),
        (texts::<SuiteFile>("suite", "suites", Format::Ron), reads_as_ron::<SuiteFile>),
    ];
    let short = |it: &&String| it.len() < BYTES_MAX;
    let kinds = kinds.map(|(all, reads)| (all.iter().filter(short).cloned().collect::<Vec<_>>(), reads));
    let mut n_read = 0;
    for nth in 0..n {
        let (all, reads) = &kinds[nth / 2 % kinds.len()];
        let of_file = &all[nth / 2 / kinds.len() % all.len()];
        let (text, reads) = if nth % 2 == 0 {
            let drawn = policies.new_tree(&mut runner).unwrap().current();
            (encode(&drawn, Format::Ron).unwrap(), &kinds[0].1)
        } else {
            (restyled(of_file, &mut draws), reads)
        };
        n_read += usize::from(reads(&text));
    }
    // What is broken on purpose stays so in another style.
    assert!(n_read * 10 > n * 8, "{n_read} of {n} are read");
}

#[test]
fn generated_documents_are_read_as_the_ron_crate_reads_them() {
    hold_generated(GENERATED[0]);
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn ten_thousand_generated_documents_are_read_as_the_ron_crate_reads_them() {
    hold_generated(GENERATED[1]);
}

#[test]
fn every_way_to_write_ron_is_read_as_the_ron_crate_reads_it() {
    let texts = [
        "#![enable(implicit_some, unwrap_newtypes,)]\n(name: \"a\", about: \"b\")",
        "#![type = \"x\"] #![schema = \"y\"] /* a /* b */ c */ (name: r\"a\", about: r##\"b\"#c\"##) // end",
        "PolicyFile(r#name: \"a\\n\\x41\\u{e9}\\xc3\\xa9\\\n    b\", about: \"\\\"\\\\\\'\\t\\0\")",
        "(name: \"a\", about: \"b\", base: None, as_of: Some(\"2026-01-01\"), sources: [],)",
        "(name: \"a\", about: \"b\", params: {\"a\": tokens(1_000), \"b\": ratio(+.5), \"c\": ratio(5e-1), \"d\": limit})",
        "(name: \"a\", about: \"b\", params: { \"a\": times (0.5, limit,), \"b\" : tokens(0x10) })",
    ];
    for text in texts {
        assert!(reads_as_ron::<PolicyFile>(text), "{text}");
    }
    for text in
        ["", "(", "()", "(name: \"a\"", "(name: 'a')", "(name: \"\\q\")", "(name: \"a\" about: \"b\")", "[]"]
    {
        assert!(!reads_as_ron::<PolicyFile>(text), "{text}");
    }
}
