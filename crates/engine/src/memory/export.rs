//! A memory's final contents: a JSON file per bank, and an index with the order of writing.
//!
//! **Stores as files.** `memory/export.rs` turns what a memory holds into texts (a JSON file for each bank, an index with the order of
//! writing) and back. Only the command line (`ctxsim run --store`) writes them to a folder.

use crate::prelude::*;

use ctxsim_base::diag::{Code, Diagnostic, Problems};
use ctxsim_input::policy::memory::bank::{self, is_file_name};
use ctxsim_input::text::source::json_problem;

/// The schema of an index.
pub const SCHEMA: &str = "ctxsim.store/1";
/// The file of the index, beside those of the banks.
pub const INDEX_FILE: &str = "index.json";

/// A memory's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The run that left it, and the order in which its facts were written.
    pub index: Index,
    /// By bank: keys with their values, the oldest first.
    pub banks: IndexMap<String, IndexMap<String, String>>,
}

/// What a memory holds in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banks {
    /// By bank: keys with their values, the oldest first.
    pub banks: IndexMap<String, IndexMap<String, String>>,
    /// Every fact of every bank, the oldest first.
    pub written: Vec<ExportedFact>,
}

/// The run that left a store, and the order in which its facts were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The schema of these files.
    pub schema: String,
    /// The policy as given: a name or a path, which may be relative to the working directory.
    pub policy: String,
    /// The scenario, in the same way.
    pub scenario: String,
    /// The profile, in the same way.
    pub profile: String,
    /// The seed.
    pub seed: u64,
    /// Messages of the conversation.
    pub length: u64,
    /// Index of the conversation among those of that length, from 0.
    pub trial: u64,
    /// The overrides, `PATH=VALUE`.
    pub set: Vec<String>,
    /// Every fact of every bank, the oldest first.
    pub written: Vec<ExportedFact>,
}

/// One fact in one bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportedFact {
    /// The bank.
    pub bank: String,
    /// The key of the fact.
    pub key: String,
}

impl Export {
    /// Returns the files (name and text), the index first.
    ///
    /// # Errors
    /// A bank's name cannot be a file, or equals another except for case.
    pub fn files(&self) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        for (index, bank) in self.banks.keys().enumerate() {
            bank::check(bank, self.banks.keys().take(index).map(String::as_str), &mut problems);
        }
        problems.into_result(())?;
        let unwritable =
            |error: serde_json::Error| vec![Diagnostic::at(Code("unwritable"), "", error.to_string())];
        let mut files = vec![(INDEX_FILE.to_owned(), pretty(&self.index).map_err(unwritable)?)];
        for (bank, facts) in &self.banks {
            files.push((file(bank), pretty(facts).map_err(unwritable)?));
        }
        Ok(files)
    }

    /// Returns the bank files of an earlier store in the same folder that this one lacks, from the text of
    /// the earlier index; empty if that is not an index.
    pub fn stale(&self, earlier_index: &str) -> Vec<String> {
        let own: IndexSet<String> = self.banks.keys().map(|it| file(it)).collect();
        Self::bank_files(earlier_index).difference(&own).cloned().collect()
    }

    /// Returns the bank files of a store, from the text of its index; empty if that is not an index.
    pub fn bank_files(index: &str) -> IndexSet<String> {
        let index = serde_json::from_str::<Index>(index).ok().filter(|it| it.schema == SCHEMA);
        let banks = index.into_iter().flat_map(|it| it.written).map(|it| it.bank);
        banks.filter(|it| is_file_name(it)).map(|it| file(&it)).collect()
    }

    /// Returns whether a text is that of a bank.
    pub fn is_bank(text: &str) -> bool {
        serde_json::from_str::<IndexMap<String, String>>(text).is_ok()
    }

    /// Reads the files back; `text_of` returns the text of a file by name.
    ///
    /// # Errors
    /// Every problem in every file, with the file's name and, for broken JSON, line and column; or the errors
    /// of `text_of`.
    pub fn read<E: From<Vec<Diagnostic>>>(text_of: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let name = INDEX_FILE.to_owned();
        let index: Index = parse(&name, &text_of(&name)?)?;
        let of_index =
            |code, message| at(INDEX_FILE, code, message, "run `ctxsim run --store write` with this version");
        if index.schema != SCHEMA {
            let message = format!("this index has the schema `{}`, not `{SCHEMA}`", index.schema);
            return Err(vec![of_index(Code("store-schema"), message)].into());
        }
        let mut banks: IndexMap<String, IndexMap<String, String>> = IndexMap::new();
        let mut problems = Vec::new();
        let mut seen = IndexSet::new();
        for bank in index.written.iter().map(|it| &it.bank).filter(|it| seen.insert(*it)) {
            let name = file(bank);
            if is_file_name(bank) {
                match parse(&name, &text_of(&name)?) {
                    Ok(facts) => {
                        banks.insert(bank.clone(), facts);
                    }
                    Err(more) => problems.extend(more),
                }
            } else {
                let message = format!("`{bank}` is not the name of a file beside the index");
                problems.push(of_index(Code("store-name"), message));
            }
        }
        if problems.is_empty() {
            problems = disagreements(&index, &banks);
        }
        if problems.is_empty() { Ok(Self { index, banks }) } else { Err(problems.into()) }
    }
}

/// Returns where the index and the bank files disagree.
fn disagreements(index: &Index, banks: &IndexMap<String, IndexMap<String, String>>) -> Vec<Diagnostic> {
    let again =
        |bank: &str, code, message| at(&file(bank), code, message, "run `ctxsim run --store write` again");
    let mut problems = Vec::new();
    for (bank, facts) in banks {
        let written = index.written.iter().filter(|it| it.bank == *bank).map(|it| &it.key);
        let wanted: Vec<&String> = written.collect();
        for key in wanted.iter().filter(|it| !facts.contains_key(it.as_str())) {
            let message = format!("the index has `{key}`, but this file does not");
            problems.push(again(bank, Code("store-key-missing"), message));
        }
        for key in facts.keys().filter(|it| !wanted.contains(it)) {
            let message = format!("this file has `{key}`, but the index does not");
            problems.push(again(bank, Code("store-key-stray"), message));
        }
        if problems.is_empty() && !wanted.iter().copied().eq(facts.keys()) {
            let message = "the facts are repeated or not in the index's order".to_owned();
            problems.push(again(bank, Code("store-order"), message));
        }
    }
    problems
}

/// Returns the name of a bank's file.
fn file(bank: &str) -> String {
    format!("{bank}.json")
}

/// Writes a value in readable JSON.
fn pretty(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|it| it + "\n")
}

/// Reads a file's JSON.
fn parse<T: for<'t> Deserialize<'t>>(name: &str, text: &str) -> Result<T, Vec<Diagnostic>> {
    serde_json::from_str(text).map_err(|error| {
        let mut problem = json_problem(text, &error).help("use a file written by `ctxsim run --store write`");
        name.clone_into(&mut problem.place.file);
        vec![Diagnostic { code: Code("store-json"), ..problem }]
    })
}

/// Reports a problem of a file.
fn at(file: &str, code: Code, message: String, help: &str) -> Diagnostic {
    let mut problem = Diagnostic::at(code, "", message).help(help);
    file.clone_into(&mut problem.place.file);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_base::error::Error;

    fn export() -> Export {
        let facts = |pairs: &[(&str, &str)]| -> IndexMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let written = |bank: &str, key: &str| ExportedFact { bank: bank.to_owned(), key: key.to_owned() };
        Export {
            index: Index {
                schema: SCHEMA.to_owned(),
                policy: "p".to_owned(),
                scenario: "s".to_owned(),
                profile: "m".to_owned(),
                seed: 42,
                length: 50,
                trial: 3,
                set: vec!["a=1".to_owned()],
                written: vec![written("config", "b"), written("explicit", "a"), written("config", "a")],
            },
            banks: [
                ("config".to_owned(), facts(&[("b", "x \"y\""), ("a", "")])),
                ("explicit".to_owned(), facts(&[("a", "")])),
            ]
            .into_iter()
            .collect(),
        }
    }

    fn read(files: &[(String, String)]) -> Result<Export, Error> {
        Export::read(|name| {
            let found = files.iter().find(|(it, _)| it == name);
            found
                .map(|(_, text)| text.clone())
                .ok_or_else(|| vec![at(name, Code("file"), String::new(), "")].into())
        })
    }

    #[test]
    fn files_that_disagree_are_refused() {
        let refused = |name: &str, from: &str, to: &str| {
            let mut files = export().files().unwrap();
            let (_, text) = files.iter_mut().find(|(it, _)| it == name).unwrap();
            assert!(text.contains(from));
            *text = text.replacen(from, to, 1);
            let Err(Error::Invalid(problems)) = read(&files) else { panic!("refused") };
            problems
                .iter()
                .map(|it| format!("{} {}", it.place.file, it.code.name()))
                .collect::<Vec<_>>()
                .join(", ")
        };

        assert_eq!(refused("explicit.json", "}", ""), "explicit.json store-json");
        assert_eq!(refused("explicit.json", "\"\"", "7"), "explicit.json store-json");
        assert_eq!(
            refused("explicit.json", "\"a\"", "\"c\""),
            "explicit.json store-key-missing, explicit.json store-key-stray"
        );
        assert_eq!(
            refused("config.json", "\"b\": \"x \\\"y\\\"\",\n  \"a\": \"\"", "\"a\": \"\", \"b\": \"\""),
            "config.json store-order"
        );
        assert_eq!(refused("index.json", "ctxsim.store/1", "ctxsim.store/9"), "index.json store-schema");
        assert_eq!(refused("index.json", "\"explicit\"", "\"../x\""), "index.json store-name");
        assert_eq!(refused("index.json", "\"trial\"", "\"trail\""), "index.json store-json");
    }

    #[test]
    fn a_file_is_stale_when_an_earlier_index_lists_it_and_the_store_has_it_not() {
        let earlier = export().files().unwrap().remove(0).1;
        let mut new = export();
        assert_eq!(new.stale(&earlier), Vec::<String>::new());
        new.banks.shift_remove("explicit");

        assert_eq!(new.stale(&earlier), ["explicit.json"]);
        for other in [
            earlier.replace("\"explicit\"", "\"../explicit\""),
            earlier.replace("ctxsim.store/1", "ctxsim.store/9"),
            earlier.replace("\"trial\"", "\"trail\""),
            String::new(),
        ] {
            assert_eq!(new.stale(&other), Vec::<String>::new(), "{other}");
        }
    }

    #[test]
    fn a_bank_that_cannot_be_a_file_is_not_written() {
        let mut export = export();
        export.banks.insert("a/b".to_owned(), IndexMap::new());
        export.banks.insert("Index".to_owned(), IndexMap::new());
        export.banks.insert("Config".to_owned(), IndexMap::new());

        let codes: Vec<&str> = export.files().unwrap_err().iter().map(|it| it.code.name()).collect();
        assert_eq!(codes, ["bank-name", "bank-name", "bank-case"]);
    }
}
