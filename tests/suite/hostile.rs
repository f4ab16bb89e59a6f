//! A repository whose every file is hostile: no program starts without its flag, and no file is written that was not named.
//!
//! Where `strace` works, every call that starts a program or writes a file is looked at. Elsewhere the test says so, and looks at what started
//! programs would leave behind and at every file before and after.
#![cfg(unix)]

mod ends;
mod git;
mod traced;
mod tree;

use traced::{Traced, is_traced};
use tree::Tree;

/// What a command line may start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Starts {
    Nothing,
    /// Git, which starts nothing.
    Git,
    /// A policy's program: the line says so.
    Program,
}
use Starts::{Git, Nothing, Program};

use crate::support::*;

/// A command line, the exit code if it must be one, what it may start, and what it must write: a file, or a folder with its files.
type Case = (&'static str, Option<i32>, Starts, &'static [&'static str]);

/// A line that does what it says, and writes these files.
const fn works(line: &'static str, files: &'static [&'static str]) -> Case {
    (line, Some(0), Nothing, files)
}

/// A line that may be refused, and writes no other files than these.
const fn ends(line: &'static str, files: &'static [&'static str]) -> Case {
    (line, None, Nothing, files)
}

const fn refused(line: &'static str) -> Case {
    (line, Some(2), Nothing, &[])
}

/// A line for which git is asked.
const fn asks_git(line: &'static str, code: Option<i32>) -> Case {
    (line, code, Git, &[])
}

/// A line that may start a policy's program.
const fn starts(line: &'static str) -> Case {
    (line, None, Program, &[])
}

/// What reads, prints, or is refused, and writes nothing.
const READING: [Case; 35] = [
    works("list", &[]),
    works("list formats", &[]),
    works("show policy cap", &[]),
    works("show policy cap_low --merged", &[]),
    works("show --schema policy", &[]),
    works("--man", &[]),
    works("--completions bash", &[]),
    works("validate ctx", &[]),
    works("validate ctx/policies", &[]),
    works("show ctx/policies/cap.ron --as toml", &[]),
    works("prices import prices.json --as-of 2026-11-21", &[]),
    works("run --suite clean", &[]),
    works("run --suite clean --rows requests", &[]),
    works("explain --policy cap --scenario one --profile plain --request 2", &[]),
    ends("import sess", &[]),
    ends("import --report sess/s.jsonl", &[]),
    ends("run sess --policy identity", &[]),
    ends("advise sess", &[]),
    refused("realised advice.json sess"),
    refused("tune --fit answers.csv --policy aging/careful"),
    ends("tune --design sess", &[]),
    refused("run --merge nope"),
    works("show sess/s.jsonl --redact", &[]),
    works("sweep --policy cap --vary params.cap.tokens=1000,2000 --scenario one --profile plain", &[]),
    ends("tune --policy cap --vary params.cap.tokens=1000,2000 sess", &[]),
    works("sensitivity --policy cap --scenario one --profile plain", &[]),
    refused("run --store read out"),
    // Git starts nothing, whatever the checkout says.
    asks_git("compare --base rev:origin/main --candidate cap --scenario one --profile plain", Some(0)),
    asks_git("compare --base rev:origin/main", None),
    asks_git("compare --base rev:origin/part --candidate cap", Some(2)),
    asks_git("compare --base rev:--output=pwn --candidate cap", Some(2)),
    asks_git("compare --base rev:origin/main:prog --candidate cap --scenario one --profile plain", Some(2)),
    asks_git("run --policy rev:origin/main:cap --scenario one --profile plain", Some(0)),
    asks_git("run --suite rev --allow-rev", Some(0)),
    asks_git("check --suite rev --allow-rev", Some(0)),
];

/// Exports what a memory holds.
const STORE: &str = "run --store write --policy context_decay/file_backed --scenario context_decay/paper --length 50 --output o/store";

/// What writes what it is told to, and starts what it is allowed to.
const WRITING: [Case; 28] = [
    works("run --suite clean --html o/page.html --output o/report.json", &["o/page.html", "o/report.json"]),
    works("run --policy cap --scenario one --profile plain --parts o/parts", &["o/parts/"]),
    works(
        "compare --base identity --candidate cap --scenario one --profile plain --output o/c.md",
        &["o/c.md"],
    ),
    works("check --suite clean --bless", &["snapshots/clean/"]),
    works(
        "check --suite linked --bless",
        &["snapshots/linked/one/plain.snap", "snapshots/linked/assumed.toml"],
    ),
    works("check --suite .. --bless", &["snapshots/--/"]),
    works("check --suite clean --ratchet", &["snapshots/clean/ratchet.toml"]),
    works("check --suite clean --output o/check.xml --html o/check.html", &["o/check.xml", "o/check.html"]),
    works("show ctx/policies/cap.ron --as toml --output o/cap.toml", &["o/cap.toml"]),
    works("show policy cap --output o/show.ron", &["o/show.ron"]),
    works("show --schema --output o/schemas", &["o/schemas/"]),
    works("--man --output o/man", &["o/man/"]),
    works("show sess/s.jsonl --redact --output o/redacted.jsonl", &["o/redacted.jsonl"]),
    works("prices import prices.json --as-of 2026-11-21 --output o/prices", &["o/prices/"]),
    works("init policy o/policies/p.toml --from identity", &["o/policies/p.toml"]),
    works(
        "sweep --policy cap --vary params.cap.tokens=1000,2000 --scenario one --profile plain --output o/sweep.json",
        &["o/sweep.json"],
    ),
    works(
        "explain --policy cap --scenario one --profile plain --request 2 --output o/explained.json",
        &["o/explained.json"],
    ),
    works("import sess/s.jsonl --output o/import.json", &["o/import.json"]),
    works("sensitivity --policy cap --scenario one --profile plain --output o/s.csv", &["o/s.csv"]),
    works("run --merge o/parts --html o/merged.html", &["o/merged.html"]),
    works("screen sess --html o/screen.html", &["o/screen.html"]),
    ends("advise sess --html o/advice.html", &["o/advice.html"]),
    works(STORE, &["o/store/"]),
    works("run --store read o/store", &[]),
    starts("run --suite starts --allow-process"),
    starts("check --suite starts --allow-process"),
    starts("validate --allow-process ctx/policies/prog.ron"),
    starts("compare --base rev:origin/main --candidate prog --scenario one --profile plain --allow-process"),
];

#[test]
fn every_verb_is_among_the_cases() {
    let help = Tree::new().ctxsim(Path::new("/"), &["--help"]).stdout;
    let help = String::from_utf8(help).unwrap();
    let (_, listed) = help.split_once("Look at my bill:\n").unwrap();
    let verbs = listed.lines().take_while(|it| *it != "Options:").filter_map(|it| it.strip_prefix("  "));
    let verbs: Vec<&str> = verbs.filter_map(|it| it.split(' ').next()).collect();
    let cases = READING
        .iter()
        .chain(&WRITING)
        .map(|it| it.0)
        .chain(table("refused_commands").into_iter().map(|it| it.0));
    let cases: Vec<&str> = cases.filter_map(|it| it.split(' ').next()).collect();

    assert!(verbs.len() > 12, "{verbs:?}");
    let left: Vec<&&str> = verbs.iter().filter(|it| !cases.contains(it)).collect();
    assert_eq!(left, Vec::<&&str>::new(), "these verbs are in no case");
}

/// Holds a command line against what it may do, and returns what it said.
fn held(tree: &Tree, (line, code, starts, writes): Case) -> String {
    let before = tree.files();
    let Traced { output, started, written } = traced::run(tree, line);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ended = output.status.code();

    assert!(matches!(ended, Some(0..=2)), "`{line}` ends with {ended:?}: {said}");
    if let Some(code) = code {
        assert_eq!(ended, Some(code), "`{line}`: {said}");
    }
    assert!(!said.contains(tree::SECRET), "`{line}` tells a secret: {said}");
    let marks = tree.marks();
    match starts {
        Program => assert_eq!(marks, ["prog"], "`{line}` has to start the program, and nothing else: {said}"),
        _ => assert_eq!(marks, Vec::<String>::new(), "`{line}` starts a program: {said}"),
    }
    let is_git = |it: &PathBuf| it.ends_with("git") && !it.starts_with(tree.top());
    match starts {
        Nothing => assert_eq!(started, Vec::<PathBuf>::new(), "`{line}` starts programs"),
        Git => assert!(
            started.iter().all(is_git) && (!is_traced() || !started.is_empty()),
            "`{line}` starts {started:?}"
        ),
        Program => {}
    }
    let named: Vec<PathBuf> = writes.iter().map(|it| tree.repository().join(it)).collect();
    let is_of = |path: &Path, named: &Path| match named.as_os_str().to_string_lossy().ends_with('/') {
        true => path.starts_with(named) || named.starts_with(path),
        // A temporary file stands beside what it becomes.
        false => {
            let is_temporary = path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(".tmp"));
            path == named || named.starts_with(path) || is_temporary && path.parent() == named.parent()
        }
    };
    // A program's files are checked out into the folder for temporary ones.
    let is_named = |it: &Path| {
        named.iter().any(|named| is_of(it, named)) || starts == Program && it.starts_with(tree.temporary())
    };
    let marked = |it: &Path| starts == Program && it.starts_with(tree.top().join("marks"));
    let unnamed: Vec<&PathBuf> = written.iter().filter(|it| !is_named(it) && !marked(it)).collect();
    assert_eq!(unnamed, Vec::<&PathBuf>::new(), "`{line}` writes");
    let after = tree.files();
    let changed: BTreeMap<_, _> = after.iter().filter(|it| before.get(it.0) != Some(it.1)).collect();
    let gone: Vec<_> = before.keys().filter(|it| !after.contains_key(*it)).collect();
    assert!(changed.keys().all(|it| is_named(it)), "`{line}` changes {:?}", changed.keys());
    assert!(gone.iter().all(|it| is_named(it)), "`{line}` removes {gone:?}");
    for path in &named {
        let is_there = after.keys().any(|it| it.starts_with(path));
        assert!(is_there, "`{line}` has to write {}: {said}", path.display());
    }
    said
}

#[test]
#[expect(clippy::print_stdout, reason = "a law says how many cases it held, and where it sees less")]
fn no_program_starts_without_its_flag_and_no_file_is_written_that_was_not_named() {
    if !is_traced() {
        println!(
            "strace does not work here: only marks of programs and files before and after are looked at"
        );
    }
    let tree = Tree::new();
    for case in READING {
        held(&tree, case);
    }
    for (line, code) in table("refused_commands") {
        let said = held(&tree, refused(line));
        assert!(said.contains(&format!("[{code}]")), "`{line}`: {said}");
    }
    for case in WRITING {
        tree.forget_marks();
        held(&tree, case);
    }
    println!(
        "{} cases in a repository whose every file is hostile",
        READING.len() + table("refused_commands").len() + WRITING.len()
    );
}

#[test]
fn names_with_control_characters_start_and_write_nothing_either() {
    let tree = Tree::new();
    tree.add_control_characters();

    let reading = READING.iter().filter(|it| it.2 != Git).map(|it| it.0);
    for line in reading.chain(table("refused_commands").into_iter().map(|it| it.0)).step_by(3) {
        held(&tree, ends(line, &[]));
    }
}

#[test]
fn what_a_suite_names_outside_the_project_is_not_shown_and_what_the_command_line_names_is() {
    let tree = Tree::new();

    for line in
        ["check --suite reads", "run --suite reads", "check --suite links", "run --suite links --format json"]
    {
        let said = held(&tree, refused(line));
        assert!(said.contains("it is outside the project"), "`{line}`: {said}");
        assert!(said.contains("ctxsim validate "), "`{line}`: {said}");
    }
    let annotated = traced::run(&tree, "check --suite reads --format github").output;
    assert!(!String::from_utf8_lossy(&annotated.stdout).contains(tree::SECRET));
    // Whoever names a file may read it.
    let secret = tree.top().join("home/secret.toml");
    let said = traced::run(&tree, &format!("run --policy {} --scenario one", secret.display())).output;
    assert!(String::from_utf8_lossy(&said.stderr).contains(tree::SECRET), "{:?}", said.stderr);
}

#[test]
fn init_encodes_what_it_is_given_leaves_nothing_behind_and_replaces_nothing() {
    let tree = Tree::new();
    for name in ["a\"b", "a\\b", "PROMPT", "an $(id) 'x"] {
        let folder = tree.fresh();
        fs::create_dir(folder.join(name)).unwrap();
        fs::copy(tree.repository().join("sess/s.jsonl"), folder.join(name).join("s.jsonl")).unwrap();
        for args in [&["init", "--sessions", name][..], &["validate", "ctx"], &["check"]] {
            let output = tree.ctxsim(&folder, args);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            // What was just written holds on what it was written for.
            assert_eq!(output.status.code(), Some(0), "{name} {args:?}: {said}");
        }
    }

    // Another tool's snapshot stays, and so does a folder that a link leads to.
    let folder = tree.fresh();
    let foreign = folder.join("snapshots/mine/example/anthropic-claude-sonnet-5.5.snap");
    fs::create_dir_all(foreign.parent().unwrap()).unwrap();
    fs::write(&foreign, "mine").unwrap();
    let output = tree.ctxsim(&folder, &["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "mine");
    assert!(!folder.join("ctxsim.toml").exists() && !folder.join("ctx/policies/mine.ron").exists());

    let folder = tree.fresh();
    std::os::unix::fs::symlink(tree.top().join("home/elsewhere"), folder.join(".github")).unwrap();
    let output = tree.ctxsim(&folder, &["init"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!folder.join("ctxsim.toml").exists());
    assert!(fs::read_dir(tree.top().join("home/elsewhere")).unwrap().next().is_none());
}

#[test]
fn init_policy_writes_the_format_of_the_extension() {
    let tree = Tree::new();
    let folder = tree.fresh();
    for name in ["x.toml", "x.ron", "policies/team/y.toml", "a \"b.toml"] {
        for args in [&["init", "policy", name, "--from", "identity"][..], &["validate", name]] {
            let output = tree.ctxsim(&folder, args);
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let output = tree.ctxsim(&folder, &["init", "policy", "x.json", "--from", "identity"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.join("x.json").exists());
}

#[test]
fn a_snapshot_replaces_snapshots_only_and_a_store_removes_banks_only() {
    let tree = Tree::new();
    held(&tree, ("check --suite clean --bless", Some(0), Nothing, &["snapshots/clean/"]));
    let snapshot = tree.repository().join("snapshots/clean/one/plain.snap");
    for foreign in ["mine\n", "<!DOCTYPE html>\n<!-- Written by ctxsim. -->\n"] {
        for (path, line) in [
            (snapshot.clone(), "check --suite clean --bless"),
            (snapshot.with_extension("snap.new"), "check --suite clean"),
            (tree.repository().join("snapshots/clean/ratchet.toml"), "check --suite clean --ratchet"),
            (tree.repository().join("snapshots/clean/ratchet.toml"), "check --suite clean --ratchet --bless"),
        ] {
            let kept = fs::read_to_string(&snapshot).unwrap();
            // A number has to move before something waits for review.
            fs::write(&snapshot, kept.clone() + "other\n").unwrap();
            fs::write(&path, foreign).unwrap();
            held(&tree, refused(line));
            assert_eq!(fs::read_to_string(&path).unwrap(), foreign, "`{line}`");
            fs::remove_file(&path).unwrap();
            fs::write(&snapshot, kept).unwrap();
        }
    }

    // An index may list any file: what is no bank stays, and a bank that the memory no longer has goes.
    held(&tree, (STORE, Some(0), Nothing, &["o/store/"]));
    let store = tree.repository().join("o/store");
    let index = fs::read_to_string(store.join("index.json")).unwrap();
    let bank = index.split_once("\"bank\": \"").unwrap().1.split('"').next().unwrap();
    let entry = |name: &str| format!("\"written\": [{{\"bank\": \"{name}\", \"key\": \"k\"}},");
    let entries = [entry("package"), entry("old")].map(|it| it.replacen("\"written\": [", "", 1)).concat();
    let listed = index.replacen("\"written\": [", &format!("\"written\": [{entries}"), 1);
    assert!(!bank.is_empty() && listed != index);
    fs::write(store.join("index.json"), listed).unwrap();
    fs::write(store.join("package.json"), "{\"scripts\": {\"test\": \"true\"}}").unwrap();
    fs::write(store.join("old.json"), "{\"k\": \"v\"}").unwrap();
    held(&tree, (STORE, Some(0), Nothing, &["o/store/"]));
    assert!(store.join("package.json").exists() && !store.join("old.json").exists());
}
