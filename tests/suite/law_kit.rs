//! The kit that holds policies against laws: it finds every fault that was put in, and none in the policies that ship.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::{Catalog, Kind, bundled_catalog};
use ctxsim::testing::{self, Law, LawKit, LawReport};
use ctxsim::{BoxError, Code, Cx, Entry, Part};
use tempfile::TempDir;

/// How many sessions the policies that ship are tried on here; `ctxsim check --laws` tries more.
const SESSIONS: u32 = 6;

fn laws(
    catalog: &Catalog,
    policies: Vec<String>,
    sessions: Option<u32>,
) -> Result<LawReport, ctxsim::error::Error> {
    let comparison = Comparison {
        policies,
        scenarios: vec!["duckagent/fix_test_loop".to_owned()],
        profiles: vec!["anthropic/claude-opus-4.5".to_owned()],
        allow_process: true,
        ..Comparison::default()
    };
    LawKit { seed: 0, sessions }.check(&Plan::new(catalog, &comparison)?)
}

fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/laws");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn broken_policies() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/laws");
    let mut all: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it == "ron"))
        .map(|it| (it.file_name().unwrap().to_str().unwrap().to_owned(), it.display().to_string()))
        .collect();
    all.sort();
    all
}

#[test]
fn every_fault_is_found_with_a_counterexample_of_at_most_three_turns() {
    let all = broken_policies();
    assert_eq!(all.len(), 12);
    for law in Law::ALL {
        assert!(all.iter().filter(|it| it.0.starts_with(law.name())).count() >= 2, "{}", law.name());
    }
    let catalog = bundled_catalog();
    for (name, path) in all {
        let report = laws(&catalog, vec![path], None).unwrap();
        let law = Law::ALL.into_iter().find(|it| name.starts_with(it.name())).unwrap();
        let found = report.broken().find(|it| it.1 == law);
        let turns = found.map(|it| it.2.turns);
        assert!(turns.is_some_and(|it| it <= 3), "{name}: {turns:?}\n{report}");
    }
}

#[test]
fn policies_that_ship_keep_every_law_that_their_files_do_not_name_as_an_exception() {
    let catalog = bundled_catalog();
    let (mut exceptions, mut wrong) = (String::new(), String::new());
    for name in catalog.names(Kind::Policy) {
        // Some are for other loads than agents' sessions.
        let Ok(report) = laws(&catalog, vec![name.to_owned()], Some(SESSIONS)) else { continue };
        for policy in &report.policies {
            let exempt: Vec<&str> =
                policy.laws.iter().filter(|it| it.allowed.is_some()).map(|it| it.law.name()).collect();
            if !exempt.is_empty() {
                writeln!(exceptions, "{}: {}", policy.policy, exempt.join(", ")).unwrap();
            }
        }
        for (policy, law, it) in report.broken() {
            writeln!(
                wrong,
                "{} {} turn {} request {}: {}",
                policy.policy,
                law.name(),
                it.turn,
                it.request,
                it.what
            )
            .unwrap();
        }
    }
    assert_eq!(wrong, "");
    assert_snapshot("exceptions", &exceptions);
}

#[test]
fn a_view_in_code_is_held_against_the_same_laws() {
    let forgets = |_: &Cx<'_>, _: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> { Ok(Vec::new()) };
    let comparison = ctxsim::Comparison::new().policy(Code::view("forgets", move |_| forgets));
    let report = testing::laws(comparison, LawKit::default()).unwrap();

    let broken: Vec<Law> = report.broken().map(|it| it.1).collect();
    assert!(broken.contains(&Law::KeepsTask) && broken.contains(&Law::Recoverable), "{report}");
}

#[test]
fn a_counterexample_is_a_scenario_file_that_a_run_reads() {
    let folder = TempDir::new().unwrap();
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/laws/keeps-task.drops_user_messages.ron");
    let ctxsim = |args: &[&str]| {
        let mut ctxsim = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
        let output = ctxsim.args(args).current_dir(&folder).env("NO_COLOR", "1").output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let policy = policy.to_str().unwrap();

    let (code, text) = ctxsim(&["check", "--laws", "--policy", policy]);
    assert_eq!(code, Some(1), "{text}");
    assert_snapshot("check", &text.replace(policy, "POLICY"));
    let scenario = "laws/keeps-task-drops_user_messages.keeps-task.toml";
    assert_snapshot("counterexample", &fs::read_to_string(folder.path().join(scenario)).unwrap());
    let (code, text) = ctxsim(&["run", "--policy", policy, "--scenario", scenario]);
    assert_eq!(code, Some(0), "{text}");

    let (code, text) =
        ctxsim(&["check", "--laws", "--policy", "identity", "--sessions", "3", "--format", "json"]);
    assert!(code == Some(0) && text.starts_with("{\n  \"schema\": \"ctxsim.laws/1\""), "{code:?} {text}");
}
