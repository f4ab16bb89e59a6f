//! The assumed numbers that a suite's snapshots rest on, on disk: one a line, so that a changed one is one changed line.

use crate::prelude::*;

use ctxsim_input::text::source::decode_table;
use ctxsim_report::made::InputDigest;

use super::snapshots::{read_if_there, snapshot_folder};

/// The file of a suite.
const FILE: &str = "assumed.toml";
/// How it begins.
const HEAD: &str = "# The assumed numbers that these snapshots rest on, kept by `ctxsim check --bless`; `--explain` simulates under them.\n";

/// Assumed numbers by name, each as it is written.
pub(super) type AssumedLines = IndexMap<String, String>;

/// Returns the digest of numbers.
pub(super) fn digest_of_assumed(numbers: &AssumedLines) -> String {
    let texts =
        sorted_by_name(numbers).into_iter().flat_map(|(name, number)| [name.as_str(), number.as_str()]);
    InputDigest::from_texts("", "", texts).digest
}

/// Returns the numbers that are kept; `None` if there is no such file.
///
/// # Errors
/// It cannot be read.
pub(super) fn read_assumed(root: &Path, suite: &str) -> Result<Option<AssumedLines>> {
    let path = assumed_file_path(root, suite);
    let Some(text) = read_if_there(&path)? else { return Ok(None) };
    let decoded: Result<IndexMap<String, Value>, _> = decode_table(&text, Format::Toml);
    let in_it = |it: Diagnostic| it.in_file(path.display().to_string());
    let numbers = decoded.map_err(|problems| problems.into_iter().map(in_it).listed())?;
    Ok(Some(numbers.into_iter().map(|(name, number)| (name, number.to_string())).collect()))
}

/// Keeps numbers.
///
/// # Errors
/// The file is something else, or cannot be written.
pub(super) fn write_assumed(root: &Path, suite: &str, inputs: &InputFiles, now: &AssumedLines) -> Result<()> {
    let mut text = HEAD.to_owned();
    for (name, number) in sorted_by_name(now) {
        let _ = writeln!(text, "{name:?} = {number}");
    }
    let kept = OverwriteRules { inputs, replaced: Replaceable::Beginning(HEAD) };
    output::write_together(&[(assumed_file_path(root, suite), text)], kept)
}

/// Returns numbers by name, in the order of the names.
fn sorted_by_name(numbers: &AssumedLines) -> BTreeMap<&String, &String> {
    numbers.iter().collect()
}

fn assumed_file_path(root: &Path, suite: &str) -> PathBuf {
    snapshot_folder(root, suite).join(FILE)
}
