//! The kit that tests policies against laws: it finds every fault that was put in, and none in the policies that ship.

use ctxsim::catalog::{Catalog, InputKind};
use ctxsim::testing::{self, Law, LawKit, LawReport, LawState};
use ctxsim::{BoxError, CodePolicy, Cx, Entry, Part, View};

use crate::support::*;

/// How many sessions the laws that bundled policies should keep are tried on here; `ctxsim check --laws` tries more.
const SESSIONS: u32 = 6;

fn laws(
    catalog: &Catalog,
    policies: Vec<String>,
    sessions: Option<u32>,
) -> Result<LawReport, ctxsim::error::Error> {
    let comparison = Comparison {
        policies,
        allow_process: true,
        ..comparing(&[], &["duckagent/fix_test_loop"], &["anthropic/claude-opus-4.5"])
    };
    LawKit { seed: 0, sessions }.check_policies(&Plan::new(catalog, &comparison)?)
}

fn path_of(broken: &str) -> String {
    root().join("tests/laws").join(broken).display().to_string()
}

fn broken_policies() -> Vec<String> {
    let folder = root().join("tests/laws");
    let name = |it: fs::DirEntry| it.file_name().into_string().unwrap();
    let mut all: Vec<String> =
        fs::read_dir(folder).unwrap().map(|it| name(it.unwrap())).filter(|it| it.ends_with(".ron")).collect();
    all.sort();
    all
}

/// Runs the command line in a folder, and returns its exit code and what it prints.
fn ctxsim(folder: &TempDir, args: &[&str]) -> (Option<i32>, String) {
    let output = crate::support::ctxsim(folder, args);
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Runs the last line of a report, which shows the request of a breach.
fn explained(folder: &TempDir, report: &str) -> (Option<i32>, String) {
    let command = report.lines().rev().find_map(|it| it.strip_prefix("ctxsim ")).unwrap();
    ctxsim(folder, &command.split(' ').collect::<Vec<_>>())
}

/// Checks that the kit finds the faults of some broken policies, each by its own law.
fn find_faults(snapshot: &str, all: &[String]) {
    let catalog = bundled_catalog();
    let mut found = String::new();
    for name in all {
        let report = laws(&catalog, vec![path_of(name)], None).unwrap();
        let law = Law::ALL.into_iter().find(|it| name.starts_with(it.name())).unwrap();
        let turns = report.broken_laws().find(|it| it.1 == law).map(|it| it.2.turns);
        assert!(turns.is_some_and(|it| it <= 3), "{name}: {turns:?}\n{report}");
        for (_, law, it) in report.broken_laws() {
            let (turn, request, what) = (it.turn, it.request, &it.what);
            writeln!(found, "{name}: {}, turn {turn}, request {request}: {what}", law.name()).unwrap();
        }
    }
    assert_snapshot("laws", snapshot, &found);
}

/// Returns the broken policies that are stages, and those that are programs.
fn stages_and_programs() -> (Vec<String>, Vec<String>) {
    let is_program = |it: &String| fs::read_to_string(path_of(it)).unwrap().contains("process:");
    let (programs, stages) = broken_policies().into_iter().partition(is_program);
    (stages, programs)
}

#[test]
fn twelve_faults_are_put_in_at_least_two_for_each_law() {
    let all = broken_policies();

    assert_eq!(all.len(), 12);
    for law in Law::ALL {
        assert!(all.iter().filter(|it| it.starts_with(law.name())).count() >= 2, "{}", law.name());
    }
}

#[test]
fn every_fault_of_stages_is_found_with_a_counterexample_of_at_most_three_turns() {
    find_faults("faults", &stages_and_programs().0);
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn every_fault_of_programs_is_found_with_a_counterexample_of_at_most_three_turns() {
    let programs = stages_and_programs().1;

    assert_eq!(programs.len(), 2);
    find_faults("faults_of_programs", &programs);
}

#[test]
fn bundled_policies_break_the_laws_that_their_files_name_and_no_others() {
    let catalog = bundled_catalog();
    let (mut exceptions, mut wrong) = (String::new(), String::new());
    for name in catalog.names(InputKind::Policy) {
        // Some are for other loads than agents' sessions.
        let Ok(report) = laws(&catalog, vec![name.to_owned()], Some(SESSIONS)) else { continue };
        report.failed_policies().for_each(|_| wrong += &report.to_string());
        let exempt = report.policies[0].laws.iter().filter(|it| it.state == LawState::Exempt);
        let exempt: Vec<&str> = exempt.map(|it| it.law.name()).collect();
        if !exempt.is_empty() {
            writeln!(exceptions, "{name}: {}", exempt.join(", ")).unwrap();
        }
    }
    assert_eq!(wrong, "");
    assert_snapshot("laws", "exceptions", &exceptions);
}

/// Shows how often it was asked, and sends no results.
struct CountingView(usize);

impl View for CountingView {
    fn view(&mut self, _: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        self.0 += 1;
        let said = history.iter().filter(|it| it.kind == ctxsim::Kind::User).map(|it| Part::keep(it.id));
        Ok(said.chain([Part::insert(ctxsim::Kind::User, format!("Asked {} times.", self.0))]).collect())
    }
}

#[test]
fn a_view_in_code_is_tested_against_the_same_laws() {
    let forgets = |_: &Cx<'_>, _: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> { Ok(Vec::new()) };
    let comparison = ctxsim::Comparison::new()
        .policy(CodePolicy::view("forgets", move |_| forgets))
        .policy(CodePolicy::view("counts", |_| CountingView(0)));
    let report = testing::laws(comparison, LawKit::default()).unwrap();

    let broken = |policy: &str| -> Vec<Law> {
        report.broken_laws().filter(|it| it.0.policy == policy).map(|it| it.1).collect()
    };
    assert_eq!(broken("forgets"), [Law::KeepsTask, Law::Recoverable], "{report}");
    assert_eq!(broken("counts"), [Law::StablePrefix, Law::Idempotent, Law::Recoverable], "{report}");
}

#[test]
fn a_program_is_tested_and_its_counterexample_is_run_and_explained() {
    let law = Law::StablePrefix.name();
    let folder = TempDir::new().unwrap();
    let policy = path_of("stable-prefix.shows_and_hides.ron");
    let (code, text) = ctxsim(&folder, &["check", "--laws", "--policy", &policy]);
    assert!(code == Some(2) && text.contains("--allow-process"), "{code:?} {text}");

    // Two sessions show it, and every session starts a program.
    let (code, text) =
        ctxsim(&folder, &["check", "--laws", "--allow-process", "--sessions", "2", "--policy", &policy]);
    assert!(code == Some(1) && text.contains(&format!("{law:14} BROKEN")), "{code:?} {text}");
    let scenario = format!("laws/{law}-shows_and_hides.{law}.toml");
    let run = ["run", "--allow-process", "--policy", &policy, "--scenario", &scenario];
    let (code, ran) = ctxsim(&folder, &run);
    assert_eq!(code, Some(0), "{ran}");
    let (code, text) = explained(&folder, &text);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_counterexample_is_a_scenario_file_that_other_commands_read() {
    let folder = TempDir::new().unwrap();
    let policy = &path_of("keeps-task.drops_user_messages.ron");

    let (code, text) = ctxsim(&folder, &["check", "--laws", "--policy", policy]);
    assert_eq!(code, Some(1), "{text}");
    assert_snapshot("laws", "check", &text.replace(policy, "POLICY"));
    let (code, text) = explained(&folder, &text);
    assert_eq!(code, Some(0), "{text}");
    let scenario = "laws/keeps-task-drops_user_messages.keeps-task.toml";
    assert_snapshot("laws", "counterexample", &fs::read_to_string(folder.path().join(scenario)).unwrap());
    let (code, text) = ctxsim(&folder, &["run", "--policy", policy, "--scenario", scenario]);
    assert_eq!(code, Some(0), "{text}");

    let (code, text) =
        ctxsim(&folder, &["check", "--laws", "--policy", "identity", "--sessions", "3", "--format", "json"]);
    assert!(code == Some(0) && text.starts_with("{\n  \"schema\": \"ctxsim.laws/1\""), "{code:?} {text}");
}

#[test]
fn an_exception_is_of_one_file_and_must_be_needed() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, rest: &str| {
        let text = format!("(name: \"{name}\", about: \"A policy.\", {rest})");
        fs::write(folder.path().join(format!("{name}.ron")), text).unwrap();
    };
    write("heir", "base: \"sliding_window\"");
    write(
        "modest",
        "base: \"identity\", allows: { \"bounded\": \"it keeps everything\", \"keeps-task\": \"no\" }",
    );
    let check = |policies: &[&str]| ctxsim(&folder, &[&["check", "--laws", "--policy"], policies].concat());

    let (code, text) = check(&["sliding_window"]);
    assert!(code == Some(0) && text.contains("recoverable    exempt"), "{text}");
    let (code, text) = check(&["heir.ron"]);
    assert!(code == Some(1) && text.contains("recoverable    BROKEN"), "{text}");
    let (code, text) = check(&["modest.ron", "identity", "--sessions", "1"]);
    assert!(code == Some(1) && text.contains("bounded        exempt"), "{text}");
    assert!(text.contains("keeps-task     UNNEEDED"), "{text}");
    assert!(text.starts_with("1 of 2 policies break a law that their files do not name"), "{text}");
}

#[test]
fn a_seed_gives_one_report() {
    let catalog = bundled_catalog();
    let policies = ["bounded.trims_replies.ron", "recoverable.drops_results.ron"].map(path_of).to_vec();
    let said = || serde_json::to_string(&laws(&catalog, policies.clone(), Some(SESSIONS)).unwrap()).unwrap();
    assert_eq!(said(), said());
}
