//! What tests share: the names that most of them import, how the program is run, what is compared, and how snapshots are held.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::fmt::Write as _;
pub(crate) use std::fs;
pub(crate) use std::ops::ControlFlow;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::{Command, Output, Stdio};
pub(crate) use std::sync::{Arc, LazyLock, Mutex, OnceLock};

pub(crate) use ctxsim::app::{Comparison, Plan};
pub(crate) use ctxsim::catalog::bundled_catalog;
pub(crate) use ctxsim::engine::{CompiledPolicy, Simulation};
pub(crate) use ctxsim::input::policy::{Moment, ShownAs, Size};
pub(crate) use ctxsim::input::scenario::{Assume, HiddenRequest, LoadSpec};
pub(crate) use ctxsim::input::text::source::{decode, encode};
pub(crate) use ctxsim::input::text::{Decode, Encode};
pub(crate) use ctxsim::input::{
    CacheRules, Format, Limits, Policy, PolicyFile, Profile, ProfileFile, Scenario, ScenarioFile, Source,
    SuiteFile, TtlClass,
};
pub(crate) use ctxsim::ledger::{CacheUse, RequestRow, Role, Rows, Sums, TokenUse};
pub(crate) use ctxsim::measure::Tally;
pub(crate) use ctxsim::quantity::{Cost, Decimal, UNLIMITED};
pub(crate) use ctxsim::report::Report;
pub(crate) use ctxsim::report::sections::Detail;
pub(crate) use ctxsim::rng::Seed;
pub(crate) use ctxsim::take::Load;
pub(crate) use ctxsim::timeline::evidence::Recover;
pub(crate) use ctxsim::timeline::import::{Imported, import, import_all};
pub(crate) use ctxsim::timeline::{
    EventKind, ItemSizes, Kind, NewItem, Preserve, Timeline, TimelineBuilder, Usage,
};
pub(crate) use indexmap::IndexMap;
pub(crate) use serde_json::{Value, json};
pub(crate) use tempfile::{TempDir, tempdir};

use std::ffi::OsStr;
use std::path::Component;

use serde::de::DeserializeOwned;

/// The folder of the project.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A path below the data of tests.
pub(crate) fn data(path: &str) -> PathBuf {
    root().join("tests/data").join(path)
}

/// The lines of a table below the data of tests.
pub(crate) fn table_lines(name: &str) -> impl Iterator<Item = &'static str> {
    let text: &str = fs::read_to_string(data("tables").join(name).with_extension("txt")).unwrap().leak();
    text.lines().filter(|it| !it.starts_with('#'))
}

/// The rows of a table below the data of tests: a line each, `left | right`.
pub(crate) fn table(name: &str) -> Vec<(&'static str, &'static str)> {
    table_lines(name).map(|it| it.split_once(" | ").unwrap()).collect()
}

/// The files below a folder with one of these endings, or all if none is named, in order; none where there is no folder.
pub(crate) fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()) {
            let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if endings.is_empty() || endings.contains(&ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Resolves `.` and `..` of a path that has no links.
pub(crate) fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// A temporary folder with recorded sessions: other ids and other years, so that none is taken for a copy of another.
pub(crate) fn folder_of_years(n: u64) -> TempDir {
    let session = fs::read_to_string(root().join("scenarios/recorded/claude-code-session.jsonl")).unwrap();
    let folder = tempdir().unwrap();
    for nth in 0..n {
        let own =
            session.replace("2026-", &format!("{}-", 2027 + nth)).replace("msg_", &format!("msg_{nth}"));
        fs::write(folder.path().join(format!("s{nth}.jsonl")), own).unwrap();
    }
    folder
}

/// A temporary folder with files of these names.
pub(crate) fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir().unwrap();
    files.iter().for_each(|(name, text)| write_below(folder.path(), name, text));
    folder
}

/// A temporary folder with a policy, a recorded session, and a suite of both.
pub(crate) fn folder_of_suite(policy: &str, suite: &str) -> TempDir {
    let session = fs::read_to_string(root().join("scenarios/recorded/claude-code-session.jsonl")).unwrap();
    folder_with(&[("mine.ron", policy), ("suite.toml", suite), ("session.jsonl", &session)])
}

/// A folder of this name, which stays when the tests have ended, with a session of each text.
pub(crate) fn folder_of_sessions(name: &str, texts: &[impl AsRef<[u8]>]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    for (nth, text) in texts.iter().enumerate() {
        write_below(&folder, &format!("session-{nth}.jsonl"), text);
    }
    folder
}

/// Writes a file, and makes the folders that it stands in.
pub(crate) fn write_below(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The names of what a folder holds, in order.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The arguments of a command as one types them.
pub(crate) fn args(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The names of a list that is written with spaces.
pub(crate) fn listed(names: &str) -> Vec<&str> {
    args(names)
}

/// The program, to be run in a folder, whatever the environment of the tests is.
pub(crate) fn program(
    folder: impl AsRef<Path>,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    program
        .args(args)
        .current_dir(folder)
        .env("HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("home"))
        .env_remove("CI")
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE");
    program
}

/// Runs the program in a folder.
pub(crate) fn ctxsim(folder: impl AsRef<Path>, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    program(folder, args).output().unwrap()
}

/// Checks the suite of a folder.
pub(crate) fn check(folder: &Path, args: &[&str]) -> Output {
    ctxsim(folder, [&["check", "--suite", "suite.toml"], args].concat())
}

/// Returns whether a program is installed; says so where it is not.
#[expect(clippy::print_stdout, reason = "a test that does nothing says so")]
pub(crate) fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
    if !is_there {
        println!("skipped: there is no `{program}` here");
    }
    is_there
}

/// What a program that succeeded printed.
#[track_caller]
pub(crate) fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a program told that refused its input.
#[track_caller]
pub(crate) fn refusal(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{}{told}", String::from_utf8_lossy(&output.stdout));
    told
}

/// What a program that succeeded printed as JSON.
#[track_caller]
pub(crate) fn parsed<T: DeserializeOwned>(output: &Output) -> T {
    serde_json::from_str(&out(output)).unwrap()
}

/// All that a program said, in one line.
pub(crate) fn all_said(output: &Output) -> String {
    one_line(&String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap())
}

/// A text with one space wherever it is broken or indented.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Holds that a text has all of some parts.
#[track_caller]
pub(crate) fn assert_says(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in:\n{text}"));
}

/// A policy that is written in RON.
#[track_caller]
pub(crate) fn policy_from(text: &str) -> Policy {
    Policy::new(&decode(text, Format::Ron).unwrap()).unwrap()
}

/// A profile that is written in TOML.
#[track_caller]
pub(crate) fn profile_from(text: &str) -> Profile {
    Profile::new(&decode(text, Format::Toml).unwrap()).unwrap()
}

pub(crate) fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

/// Policies to be compared on loads under profiles.
pub(crate) fn comparing(policies: &[&str], scenarios: &[&str], profiles: &[&str]) -> Comparison {
    let [policies, scenarios, profiles] = [policies, scenarios, profiles].map(owned);
    Comparison { policies, scenarios, profiles, ..Comparison::default() }
}

/// Plans a comparison of bundled inputs.
#[track_caller]
pub(crate) fn planned(comparison: &Comparison) -> Plan {
    Plan::new(&bundled_catalog(), comparison).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Runs a comparison of bundled inputs.
#[track_caller]
pub(crate) fn reported(comparison: &Comparison) -> Report {
    planned(comparison).report(None, &|_, _| {}).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Holds a text against the snapshot of this name in a folder of `snapshots`.
#[track_caller]
pub(crate) fn assert_snapshot(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// What an import says it lost.
pub(crate) fn losses(imported: &Imported) -> Vec<String> {
    imported.losses.iter().map(ToString::to_string).collect()
}
