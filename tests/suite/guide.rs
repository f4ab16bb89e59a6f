//! Documents with commands: they are run, and what they print is what the documents show.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The words that open a block of commands, and one that is a file.
const CONSOLE: &str = "```console";
const FILE: &str = "```ron ";

/// Returns the guide with what its commands print now.
fn played(guide: &str, folder: &Path) -> String {
    let mut text = String::new();
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        text += &format!("{line}\n");
        if let Some(path) = line.strip_prefix(FILE) {
            let body: Vec<&str> = lines.by_ref().take_while(|it| *it != "```").collect();
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, body.join("\n") + "\n").unwrap();
            text += &format!("{}\n```\n", body.join("\n"));
        } else if line == CONSOLE {
            let commands: Vec<&str> =
                lines.by_ref().take_while(|it| *it != "```").filter(|it| it.starts_with("$ ")).collect();
            for command in commands {
                text += &format!("{command}\n{}", printed(&command[2..], folder));
            }
            text += "```\n";
        }
    }
    text
}

/// Returns what a command prints.
fn printed(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_ctxsim")).parent().unwrap();
    let command = &format!("PATH='{}':\"$PATH\"\n{command}", binary.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env_remove("CI").env("NO_COLOR", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "t").env(format!("GIT_{role}_EMAIL"), "t@example.org");
    }
    let output = shell.output().unwrap();
    assert!(
        output.status.code().is_some_and(|it| it < 2),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Holds a document against what its commands print.
fn holds(document: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let shown = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();

    let now = played(&shown, folder.path());

    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(&path, &now).unwrap();
        return;
    }
    assert!(shown == now, "{document}: set CTXSIM_BLESS to write what the commands print");
}

#[cfg(unix)]
#[test]
fn the_guide_shows_what_its_commands_print() {
    holds("docs/guide.md");
}

#[cfg(unix)]
#[test]
fn the_field_notes_show_what_their_commands_print() {
    holds("docs/field-notes.md");
    holds("docs/duckagent-runtime.md");
}

#[cfg(unix)]
#[test]
fn the_action_checks_and_posts_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    printed(
        "ctxsim init && git init --quiet --initial-branch main && git add . && git commit --quiet -m begin",
        folder.path(),
    );
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.sh");
    let run = |base: &str, may_start: &str| {
        let mut shell = Command::new("sh");
        shell.arg(&action).current_dir(folder.path()).env("CI", "1").env("CTXSIM_BASE", base);
        shell
            .env("CTXSIM", env!("CARGO_BIN_EXE_ctxsim"))
            .env("CTXSIM_ALLOW_PROCESS", may_start)
            .env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"));
        shell.output().unwrap()
    };

    assert!(run("main", "false").status.success());
    assert!(run("main", "true").status.success());
    let policy = folder.path().join("ctx/policies/mine.ron");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("40_000", "90_000")).unwrap();
    let failed = run("main", "false");
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();

    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8(failed.stdout).unwrap().contains("::error file=ctx/policies/mine.ron"));
    assert!(summary.contains("✅ mine passed") && summary.contains("❌ mine failed"), "{summary}");
    assert!(
        summary.contains("mine against mine@main") && summary.contains("had no effect here"),
        "{summary}"
    );
}

#[cfg(unix)]
#[test]
fn the_commands_that_init_prints_pass_in_an_empty_repository() {
    let folder = tempfile::tempdir().unwrap();
    printed("git init --quiet", folder.path());
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_ctxsim")).args(args).current_dir(folder.path()).output().unwrap()
    };
    let text = String::from_utf8(run(&["init"]).stdout).unwrap();
    let (_, next) = text.split_once("Next:\n").unwrap();
    let commands: Vec<Vec<&str>> = next.lines().map(|it| it.split_whitespace().collect()).collect();

    assert_eq!(commands.len(), 2, "{text}");
    for command in commands {
        let (program, args) = command.split_first().unwrap();
        assert_eq!(*program, "ctxsim");
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let begun = run(&["init", "policy", "ours.ron", "--from", "clear_tool_results"]);
    assert_eq!(begun.status.code(), Some(0));
    assert_eq!(run(&["validate", "ours.ron"]).status.code(), Some(0));
}

#[test]
fn nothing_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ctxsim.toml"), "folders = []\n").unwrap();

    let output =
        Command::new(env!("CARGO_BIN_EXE_ctxsim")).arg("init").current_dir(folder.path()).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("ctx").exists());
}
