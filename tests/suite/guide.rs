//! Documents with commands: they are run, and what they print is what the documents show.

use crate::blocks::{Block, Piece, pieces};
use crate::support::*;

/// Returns a document with what its commands print now; its files are written.
pub(crate) fn played(document: &str, folder: &Path) -> String {
    let mut text = String::new();
    for piece in pieces(document) {
        let block = match piece {
            Piece::Line(line) => {
                text += &format!("{line}\n");
                continue;
            }
            Piece::Block(block) => block,
        };
        if let Some(path) = block.path() {
            write_below(folder, path, block.text());
        }
        let body = match block.language.as_str() {
            "console" => {
                let commands = block.body.iter().filter_map(|it| it.strip_prefix("$ "));
                commands.map(|it| format!("$ {it}\n{}", part(&block, &printed(it, folder)))).collect()
            }
            _ => block.text(),
        };
        text += &format!("{}\n{body}```\n", block.opening());
    }
    text
}

/// Runs a command of a document in a folder, which is home, too.
pub(crate) fn run(command: &str, folder: &Path) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_ctxsim")).parent().unwrap();
    let command = &format!("PATH='{}':\"$PATH\"\n{command}", binary.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("HOME", folder.join("home"));
    shell.env_remove("CI").env_remove("COLUMNS").env("NO_COLOR", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "t").env(format!("GIT_{role}_EMAIL"), "t@example.org");
    }
    shell.output().unwrap()
}

/// Returns what a command prints.
fn printed(command: &str, folder: &Path) -> String {
    let output = run(command, folder);
    assert!(
        output.status.code().is_some_and(|it| it < 2),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the part of what was printed that a block shows: from the first line that begins with the text of `from=`, up to the first one that
/// begins with that of `until=`, at most `lines=`. `+` stands for a blank. `…` follows where more was printed.
fn part(block: &Block, printed: &str) -> String {
    let word =
        |name: &str| block.words.iter().find_map(|it| it.strip_prefix(name)).map(|it| it.replace('+', " "));
    let lines: Vec<&str> = printed.lines().collect();
    let find = |lines: &[&str], begin: &str| {
        let found = lines.iter().position(|it| it.trim_start().starts_with(begin));
        found.unwrap_or_else(|| panic!("no line begins with {begin:?}:\n{printed}"))
    };
    if lines.is_empty() {
        return String::new();
    }
    let rest = lines.split_at(word("from=").map_or(0, |it| find(&lines, &it))).1;
    let end = word("until=").map_or(rest.len(), |it| find(rest, &it) + 1);
    let end = word("lines=").map_or(end, |it| it.parse().unwrap()).min(rest.len());
    let shown: String = rest[..end].iter().map(|it| format!("{it}\n")).collect();
    format!("{shown}{}", if end < rest.len() { "…\n" } else { "" })
}

/// Puts the stream that a document names into a folder.
pub(super) fn beside(document: &str, folder: &Path) {
    let stream = "help_desk.toml";
    if document.contains(stream) {
        let own = data("aging/streams").join(stream);
        fs::copy(own, folder.join(stream)).unwrap();
    }
}

/// Holds a document against what its commands print.
fn holds(document: &str) {
    let root = root();
    let path = root.join(document);
    let shown = fs::read_to_string(&path).unwrap();
    let folder = tempdir().unwrap();
    beside(&shown, folder.path());

    let now = played(&shown, folder.path());

    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(&path, &now).unwrap();
        return;
    }
    assert!(shown == now, "{document}: set CTXSIM_BLESS to write what the commands print");
}

/// Holds every page below a folder of the book against what its commands print.
#[cfg(unix)]
fn hold_all(folder: &str) {
    let root = root();
    let mut count = 0;
    for page in crate::words::pages_below(root, folder) {
        let text = fs::read_to_string(&page).unwrap();
        if crate::blocks::blocks(&text).iter().any(|it| it.language == "console") {
            holds(&page.strip_prefix(root).unwrap().to_string_lossy());
            count += 1;
        }
    }
    assert!(count > 0, "{folder}");
}

#[cfg(unix)]
#[test]
fn the_tutorial_shows_what_its_commands_print() {
    hold_all("docs/tutorial.md");
}

#[cfg(unix)]
#[test]
fn each_how_to_shows_what_its_commands_print() {
    hold_all("docs/how-to");
}

#[cfg(unix)]
#[test]
fn the_explanations_show_what_their_commands_print() {
    hold_all("docs/explanation");
}

#[cfg(unix)]
#[test]
fn the_studies_show_what_their_commands_print() {
    hold_all("docs/studies");
}

#[cfg(unix)]
#[test]
fn the_action_checks_and_posts_a_summary() {
    let folder = tempdir().unwrap();
    printed(
        "ctxsim init && git init --quiet --initial-branch main && git add . && git commit --quiet -m begin",
        folder.path(),
    );
    let action = root().join("action.sh");
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
    fs::write(&policy, text.replace("40_000", "200_000")).unwrap();
    let failed = run("main", "false");
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();

    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8(failed.stdout).unwrap().contains("::error file=ctx/policies/mine.ron"));
    assert!(summary.contains("✅ mine passed") && summary.contains("❌ mine failed"), "{summary}");
    assert_says(
        &summary,
        &["mine against mine@&#8203;main", "`clear` never fired: no prompt exceeded 200,000"],
    );
}

/// What stands for GitHub's command line: it notes what it is asked, and knows a comment once one was written.
#[cfg(unix)]
const GH: &str = "#!/bin/sh\necho \"$@\" >> \"$GH_LOG\"\n[ -z \"${GH_REFUSES:-}\" ] || exit 1\n\
    case \"$*\" in\n*--paginate*) [ ! -f \"$GH_LOG.id\" ] || cat \"$GH_LOG.id\" ;;\n*PATCH*) ;;\n*) echo 41 > \"$GH_LOG.id\" ;;\nesac\n";

#[cfg(unix)]
#[test]
fn the_action_comments_once_and_writes_the_summary_where_its_token_may_not() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = started();
    let programs = tempdir().unwrap();
    let gh = programs.path().join("gh");
    fs::write(&gh, GH).unwrap();
    fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
    let (log, summary) = (programs.path().join("log"), folder.path().join("summary.md"));
    let run = |event: &str, refuses: &str| {
        let action = root().join("action.sh");
        let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.arg(action).current_dir(folder.path()).env("CI", "1").env("PATH", path).env("GH_LOG", &log);
        shell.env("CTXSIM", env!("CARGO_BIN_EXE_ctxsim")).env("GH_TOKEN", "token").env("GH_REFUSES", refuses);
        shell.env("GITHUB_EVENT_NAME", event).env("GITHUB_REF", "refs/pull/7/merge");
        shell.env("GITHUB_REPOSITORY", "owner/agent").env("GITHUB_STEP_SUMMARY", &summary);
        let code = shell.output().unwrap().status.code();
        let asked = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        (code, asked, summary.exists())
    };

    let (code, asked, has_summary) = run("pull_request", "");
    assert_eq!((code, has_summary), (Some(0), false), "{asked}");
    assert!(
        asked
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("api --silent repos/owner/agent/issues/7/comments -F body=@")
    );
    let (_, asked, has_summary) = run("pull_request", "");
    let updates = "api --silent --method PATCH repos/owner/agent/issues/comments/41 -F body=@";
    assert!(asked.lines().nth(1).unwrap().starts_with(updates) && !has_summary, "{asked}");
    let (code, _, has_summary) = run("pull_request", "1");
    assert_eq!((code, has_summary), (Some(0), true));
    assert!(fs::read_to_string(&summary).unwrap().contains("✅ mine passed"));
    let (code, asked, _) = run("pull_request_target", "");
    assert_eq!((code, asked.as_str()), (Some(2), ""));
}

#[test]
fn the_action_passes_every_option_of_check() {
    let action = fs::read_to_string(root().join("action.sh")).unwrap();
    let help = ctxsim(root(), ["check", "-h"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let options = help.lines().filter_map(|it| it.trim_start().strip_prefix("--"));
    let name =
        |it: &str| it.chars().take_while(|it| it.is_ascii_lowercase() || *it == '-').collect::<String>();
    let options: Vec<String> = options.map(name).collect();

    // What is written where, and how, is the action's own; it accepts no numbers, and laws have their usual sessions.
    let own = ["bless", "color", "force", "format", "html", "output", "width", "profile", "sessions", "seed"];
    let lacking: Vec<&String> = options
        .iter()
        .filter(|it| !own.contains(&it.as_str()))
        .filter(|it| !action.contains(&format!("--{it}")) && !action.contains(&format!("switch {it} ")))
        .collect();
    assert!(options.len() > 10 && lacking.is_empty(), "{lacking:?}");
}

/// Makes a folder with the files that `ctxsim init` writes.
#[cfg(unix)]
fn started() -> TempDir {
    let folder = tempdir().unwrap();
    printed("ctxsim init", folder.path());
    folder
}

/// Changes a starter file, and returns the exit code of `ctxsim check` and what it prints.
#[cfg(unix)]
fn checked_with(folder: &Path, changes: &[[&str; 2]]) -> (Option<i32>, String) {
    let path = folder.join("ctx/policies/mine.ron");
    let text = fs::read_to_string(&path).unwrap();
    let changed = changes.iter().fold(text.clone(), |it, [from, to]| it.replace(from, to));
    fs::write(&path, changed).unwrap();
    let output = program(folder, ["check"]).env("CI", "1").output().unwrap();
    fs::write(&path, text).unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[cfg(unix)]
#[test]
fn the_starter_policy_saves_money_and_its_guards_fail_when_it_costs_more_than_keeping_everything() {
    let folder = started();
    let text = printed("ctxsim run --suite mine --format json", folder.path());
    let report: Value = serde_json::from_str(&text).unwrap();
    let cost = |policy: &str| {
        let mut runs = report["runs"].as_array().unwrap().iter();
        let run = runs.find(|it| it["policy"] == policy).unwrap();
        run["totals"]["cost_usd"]["total"].as_f64().unwrap()
    };
    assert!(cost("mine") < 0.8 * cost("identity"), "{} {}", cost("mine"), cost("identity"));
    assert_eq!(checked_with(folder.path(), &[]).0, Some(0));

    let dearer = [["40_000", "15_000"], ["tokens(20_000)", "tokens(0)"]];
    let (code, text) = checked_with(folder.path(), &dearer);

    assert_eq!(code, Some(1));
    assert!(text.contains("FAIL It costs no more than keeping everything"), "{text}");
    assert!(text.contains("FAIL Needed evidence stays in the prompt"), "{text}");
    let (_, text) = checked_with(folder.path(), &[["40_000", "90_000"]]);
    assert!(text.contains("FAIL Prompts stay within their limit"), "{text}");
    let (_, text) = checked_with(folder.path(), &[["40_000", "400_000"]]);
    assert!(text.contains("FAIL The budget is reached"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_lower_trigger_moves_the_starter_snapshot() {
    let folder = started();

    let (code, text) = checked_with(folder.path(), &[["40_000", "15_000"]]);

    assert_eq!(code, Some(1));
    assert!(text.contains("mine, US dollars: 1.16") && text.contains("mine, evidence kept"), "{text}");
}

#[cfg(unix)]
#[test]
fn starting_with_sessions_says_at_once_which_guards_fail_on_them() {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("sessions")).unwrap();
    let session = data("recorded/codex-rollout.jsonl");
    fs::copy(session, folder.path().join("sessions/one.jsonl")).unwrap();

    let text = printed("ctxsim init --sessions sessions", folder.path());

    assert_says(&text, &["These guards fail today, so they are comments in ctx/suites/mine.toml"]);
    assert!(text.contains("  The budget is reached: 0 is not at least 1 (mine on ALL"), "{text}");
}

/// Returns the commands of a workflow's or an action's `run` steps.
pub(crate) fn run_steps(yaml: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((before, command)) = line.split_once("run: ") else { continue };
        if before.contains('#') {
            continue;
        }
        let mut step = command.to_owned();
        if command == "|" {
            step.clear();
            while let Some(line) = lines.next_if(|it| it.starts_with(&format!("{before}  "))) {
                step += &format!("{}\n", line.trim());
            }
        }
        steps.push(step);
    }
    steps
}

#[cfg(unix)]
#[test]
fn the_workflow_that_init_writes_runs_with_the_ctxsim_on_the_path() {
    let folder = started();
    let commit = "git init --quiet && git add . && git commit --quiet -m begin && git update-ref refs/remotes/origin/main HEAD";
    printed(commit, folder.path());
    let policy = folder.path().join("ctx/policies/mine.ron");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("40_000", "60_000")).unwrap();
    let workflow = fs::read_to_string(folder.path().join(".github/workflows/ctxsim.yml")).unwrap();
    let temporary = tempdir().unwrap();

    for step in run_steps(&workflow) {
        let variables = "export CI=1 GITHUB_BASE_REF=main GITHUB_STEP_SUMMARY=$PWD/summary.md";
        let temporary = temporary.path().display();
        printed(&format!("{variables} RUNNER_TEMP='{temporary}'\n{step}"), folder.path());
    }

    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains("### ❌ mine failed"), "{summary}");
    let compared: Vec<&str> = summary.lines().filter(|it| it.contains(" against mine@")).collect();
    let own = "### mine against mine@&#8203;origin/main · example · anthropic/claude-sonnet-5.5 (2026-11-21)";
    assert_eq!(compared, [own], "the suite's own scenario, and no other");
}

#[cfg(unix)]
#[test]
fn a_policy_that_the_base_does_not_have_is_named_and_the_others_are_compared() {
    let folder = started();
    printed("git init --quiet && git add . && git commit --quiet -m begin", folder.path());
    fs::write(
        folder.path().join("ctx/policies/fresh.ron"),
        "(name: \"fresh\", about: \"New.\", base: \"mine\")",
    )
    .unwrap();
    let compare = || ctxsim(folder.path(), ["compare", "--base", "rev:HEAD"]);

    let alone = compare();
    let policy = folder.path().join("ctx/policies/mine.ron");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("40_000", "60_000")).unwrap();
    let beside = compare();

    assert!(alone.stdout.starts_with(b"`HEAD` does not have `fresh`: there is nothing to compare.\n"));
    assert!(String::from_utf8(beside.stderr).unwrap().contains("not compared: `HEAD` does not have `fresh`"));
    assert!(String::from_utf8(beside.stdout).unwrap().contains("\nmine against mine@HEAD · example"));
}

#[test]
fn what_users_copy_into_their_ci_runs_no_code_of_an_unknown_owner() {
    let root = root();
    let files =
        "crates/cli/src/verbs/init/workflow.yml action.yml action.sh README.md docs/how-to/guard-in-ci.md";
    for file in listed(files) {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let uses = text.lines().filter_map(|it| it.split_once("uses: ")).map(|it| it.1);
        for action in uses {
            assert!(action.starts_with("actions/"), "{file}: {action}");
        }
        for line in text.lines().filter(|it| it.contains("cargo install")) {
            assert!(line.contains("--path"), "{file}: {line}");
        }
        // Nobody has claimed these names yet: a package of such a name is a stranger's.
        for command in ["npx ctxsim", "uvx ctxsim", "pip install ctxsim", "binstall ctxsim"] {
            assert!(!text.contains(command), "{file}: {command}");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_commands_that_init_prints_pass_in_an_empty_repository() {
    let folder = tempdir().unwrap();
    printed("git init --quiet", folder.path());
    let run = |args: &[&str]| ctxsim(folder.path(), args);
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
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("ctxsim.toml"), "folders = []\n").unwrap();

    let output = ctxsim(folder.path(), ["init"]);

    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("ctx").exists());
}
