//! The three questions that people come with, and the screen without a question, as users ask them in a folder of their own.
//!
//! Each takes at most five commands.

use std::time::Instant;

use crate::support::*;
use crate::tune::folders::Recipe;

/// Commands that somebody types, which are counted.
struct Typed<'f> {
    folder: &'f Path,
    n: usize,
    since: Instant,
}

impl<'f> Typed<'f> {
    #[expect(clippy::disallowed_methods, reason = "how long a user waits is told, and judged by nobody")]
    fn new(folder: &'f Path) -> Self {
        Self { folder, n: 0, since: Instant::now() }
    }

    fn command(&mut self, line: &str) -> Output {
        self.n += 1;
        ctxsim(self.folder, args(line))
    }

    #[expect(clippy::print_stdout, reason = "the time that a user waits is told")]
    fn done(&self, question: &str) {
        println!("{question}: {} commands, {:.1} s", self.n, self.since.elapsed().as_secs_f64());
        assert!(self.n <= 5, "{question}");
    }
}

/// The program in a folder, with a home and variables.
fn at_home(home: &Path, variables: &[(&str, &Path)]) -> String {
    let mut program = program(home, [] as [&str; 0]);
    program.env("HOME", home).envs(variables.iter().copied());
    out(&program.output().unwrap())
}

#[test]
fn alone_it_reads_the_folders_of_agents_or_says_that_it_shows_an_example() {
    let home = tempdir().unwrap();
    let elsewhere = tempdir().unwrap();
    let none = at_home(home.path(), &[]);
    for folder in [home.path().join(".claude"), elsewhere.path().join("claude")] {
        let project = folder.join("projects/mine");
        fs::create_dir_all(&project).unwrap();
        fs::copy(data("recorded/claude-code-progress.jsonl"), project.join("session.jsonl")).unwrap();
    }

    let own = at_home(home.path(), &[]);
    let moved = at_home(home.path(), &[("CLAUDE_CONFIG_DIR", &elsewhere.path().join("claude"))]);
    let ci = at_home(home.path(), &[("CI", Path::new("true"))]);

    assert_says(
        &none,
        &["An example, a bundled session", "Claude Code, Codex, Gemini CLI", "`ctxsim FOLDER`"],
    );
    assert!(own.starts_with("Read from ~/.claude/projects; `ctxsim FOLDER` reads others."), "{own}");
    assert!(moved.contains(&elsewhere.path().join("claude/projects").display().to_string()), "{moved}");
    assert!(ci.starts_with("An example, a bundled session: `CI` is set."), "{ci}");
}

#[test]
fn what_other_prices_would_change_is_one_command_and_forty_lines() {
    let folder = data("recorded");
    let mut typed = Typed::new(&folder);

    let text = out(&typed.command("sensitivity claude-code-progress.jsonl"));

    assert!(text.lines().count() <= 40, "{text}");
    let json: Value =
        parsed(&ctxsim(&folder, ["sensitivity", "claude-code-progress.jsonl", "--format", "json"]));
    assert_eq!(json["answers"].as_array().unwrap().len(), 1, "{}", json["answers"]);
    let answer = &json["answers"][0];
    let lists = format!("{} of {} price lists: ", answer["cheapest_under"], answer["price_lists"]);
    assert!(text.starts_with(&lists) && text.contains("promptCacheTtl=5m"), "{text}");
    typed.done("what under other prices");
}

#[test]
fn whether_numbers_moved_is_four_commands_and_accepting_is_one() {
    let folder = tempdir().unwrap();
    let mut typed = Typed::new(folder.path());

    out(&typed.command("init"));
    let green = out(&typed.command("check"));
    let policy = folder.path().join("ctx/policies/mine.ron");
    let raised = fs::read_to_string(&policy).unwrap().replace("tokens(40_000)", "tokens(60_000)");
    fs::write(&policy, raised).unwrap();
    let moved = typed.command("check");
    out(&typed.command("check --bless"));
    let accepted = out(&typed.command("check"));

    assert!(green.contains(" passed") && accepted.contains(" passed"), "{green}\n{accepted}");
    assert_eq!(moved.status.code(), Some(1), "{}", all_said(&moved));
    assert_says(&all_said(&moved), &["numbers changed", "the policy mine has changed"]);
    typed.done("did a policy's numbers move");
}

#[test]
fn whether_a_pull_request_costs_more_is_two_commands() {
    let folder = tempdir().unwrap();
    let mut typed = Typed::new(folder.path());
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=me", "-c", "user.email=me@here"];
        let run = Command::new("git").args(who).args(args).current_dir(folder.path()).output().unwrap();
        assert!(run.status.success(), "{args:?}: {}", all_said(&run));
    };

    out(&typed.command("init"));
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "begin"]);
    git(&["switch", "--quiet", "-c", "raise"]);
    let policy = folder.path().join("ctx/policies/mine.ron");
    let raised = fs::read_to_string(&policy).unwrap().replace("tokens(40_000)", "tokens(60_000)");
    fs::write(&policy, &raised).unwrap();
    let text = out(&typed.command("compare --base rev:main"));

    assert!(text.contains("mine costs more (+"), "{text}");
    typed.done("does this pull request cost more");
    fs::write(policy.with_file_name("ours.ron"), raised.replace("\"mine\"", "\"ours\"")).unwrap();
    fs::remove_file(&policy).unwrap();
    let renamed = "compare --base rev:main --candidate ours --scenario example";
    assert_says(&out(&typed.command(renamed)), &["ours against mine@main"]);
}

/// Settings of an agent are rows of `run`, levers of `advise` and of the first screen: one word, one interval and one reason.
#[test]
fn a_setting_has_one_word_one_interval_and_one_reason_on_every_surface() {
    let folder = data("recorded");
    let json = |verb: &str| -> Value { parsed(&ctxsim(&folder, [verb, ".", "--format", "json"])) };
    let [run, advise, screen] = ["run", "advise", "screen"].map(json);
    let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
    let of_agents = list(&advise["agents"]).iter().flat_map(|it| list(&it["levers"])).collect::<Vec<_>>();
    let on_screen = list(&screen["levers"]);

    let mut n = 0;
    for verdict in list(&run["verdicts"]) {
        let verdict = &verdict["verdict"];
        let choices = [&verdict["lossy"], &verdict["keep_more"]].map(list).concat();
        let choices = std::iter::once(verdict["cheapest"].clone()).chain(choices);
        // Sessions of an unknown agent are played under policies, which are none of its settings.
        let is_setting = |it: &Value| it["policy"].as_str().is_some_and(|it| it.contains('='));
        for choice in choices.filter(|it| !it["word"].is_null() && is_setting(it)) {
            let set = Value::from(vec![choice["policy"].clone()]);
            let lever = of_agents.iter().find(|it| it["set"] == set).unwrap_or_else(|| panic!("{choice}"));
            let shown = on_screen.iter().filter(|it| it["set"] == set);
            for surface in std::iter::once(lever).chain(shown) {
                for key in ["word", "why", "interval"] {
                    assert_eq!(choice[key], surface[key], "{key} of {set}");
                }
            }
            n += 1;
        }
    }
    assert!(n > 0, "{}", run["verdicts"]);
}

/// Rows of the tables of a Markdown text, by the name in their first cell, under the headings of the last table before them.
fn printed_rows(markdown: &str) -> Vec<BTreeMap<String, String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|it| it.trim().replace("&#8203;", "")).collect()
    };
    let (mut heads, mut rows) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = markdown.lines().collect();
    for (nth, line) in lines.iter().enumerate().filter(|it| it.1.starts_with('|')) {
        if lines.get(nth + 1).is_some_and(|it| it.starts_with("|---")) {
            heads = cells(line);
        } else if !line.starts_with("|---") {
            rows.push(heads.iter().cloned().zip(cells(line)).collect());
        }
    }
    rows
}

/// What a surface prints of a choice: the change of its cost, its interval, and its word with the reason, as far as it says them.
type PrintedChoice = [Option<String>; 3];

/// What `run` prints of a policy.
fn printed_by_run(markdown: &str, policy: &str) -> PrintedChoice {
    let rows = printed_rows(markdown);
    let row = rows.iter().find(|it| it.get("policy").is_some_and(|it| it == policy)).unwrap();
    let cell = |name: &str| row.get(name).filter(|it| *it != "–").cloned();
    let word = markdown.split("The word for it is ").nth(1).and_then(|it| it.split_once(". "));
    [cell("Δ cost"), cell("95% interval"), word.map(|it| it.0.to_owned())]
}

/// What `compare` prints of its candidate.
fn printed_by_compare(markdown: &str) -> PrintedChoice {
    let answer = markdown.lines().find(|it| it.starts_with("**")).unwrap();
    let inside = answer.split_once(" (").unwrap().1.split_once(')').unwrap().0;
    let (change, sure) = inside.split_once(", ").unwrap();
    let ends = sure.strip_prefix("95% interval ").map(|it| it.replace(" to ", "…").replace('%', ""));
    let word = markdown.split("The word for it is ").nth(1).and_then(|it| it.split_once(". "));
    [Some(change.to_owned()), ends, word.map(|it| it.0.to_owned())]
}

/// A policy beside one that keeps everything, on one session, six, and 23, and on scripted loads: what is printed is read back.
#[test]
fn what_run_and_compare_print_of_a_choice_is_the_same_to_the_digit() {
    const POLICY: &str = "clear_tool_results_at_40k_min_5k";
    let folder = tempdir().unwrap();
    for n in [1, 6, 23] {
        let of = folder.path().join(format!("of{n}"));
        fs::create_dir(&of).unwrap();
        let made = Recipe { seed: 5, tail: 27, sessions: n };
        (0..n).for_each(|nth| fs::write(of.join(format!("s{nth}.jsonl")), made.text(nth)).unwrap());
    }
    for (load, is_told) in
        [("of1", false), ("of6", true), ("of23", true), ("duckagent/incremental_workspace_audit", false)]
    {
        let shared = ["--format", "markdown"];
        let scripted = ["--profile", "anthropic/claude-opus-4.5"];
        let more = if load.starts_with("of") { &shared[..] } else { &[&shared[..], &scripted].concat() };
        let run = [&["run", "--policy", "identity", "--policy", POLICY, load][..], more].concat();
        let run = out(&ctxsim(folder.path(), run));
        let compare =
            [&["compare", "--base", "identity", "--candidate", POLICY, "--scenario", load][..], more];
        let compare = out(&ctxsim(folder.path(), compare.concat()));

        let [by_run, by_compare] = [printed_by_run(&run, POLICY), printed_by_compare(&compare)];
        assert_eq!(by_run[..2], by_compare[..2], "{load}:\n{run}\n{compare}");
        assert_eq!(by_run[1].is_some(), is_told, "{load}: {run}");
        // `run` says the word of what it would choose.
        assert!(by_run[2].is_none() || by_run[2] == by_compare[2], "{load}:\n{run}\n{compare}");
    }
}

/// Every setting of every agent that both print, on 9, 21 and all 80 reference sessions of three agents.
#[test]
fn what_run_and_advice_print_of_a_setting_is_the_same_to_the_digit() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = root.join("recorded/2026");
    for load in ["skills", "entire-graph", "."] {
        let run = out(&ctxsim(&folder, ["run", load, "--format", "markdown"]));
        let advise: Value = parsed(&ctxsim(&folder, ["advise", load, "--format", "json"]));
        let printed = out(&ctxsim(&folder, ["advise", load, "--details", "--format", "markdown"]));
        let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
        let levers = list(&advise["agents"]).iter().flat_map(|it| list(&it["levers"])).collect::<Vec<_>>();
        let mut n = 0;
        for row in printed_rows(&run) {
            let Some(name) = row.get("policy").filter(|it| it.contains('=')) else { continue };
            let lever = levers.iter().find(|it| it["set"] == Value::from(vec![name.clone()])).unwrap();
            let of_lever = |row: &BTreeMap<String, String>| {
                row.get("what").is_some_and(|it| it == name || Some(it.as_str()) == lever["title"].as_str())
            };
            let Some(advised) = printed_rows(&printed).into_iter().find(of_lever) else { continue };
            // What is expected of a *do* is shrunk; its change is the same.
            if lever["word"] != "do" {
                assert_eq!(row.get("Δ cost"), advised.get("Δ cost"), "{load} {name}: {printed}");
            }
            let kept = advised["kept"].split(' ').next().unwrap();
            assert!(kept == "–" || row["evidence kept"] == kept, "{load} {name}: {row:?} {advised:?}");
            n += 1;
        }
        assert!(n > 0, "{load}: {run}\n{printed}");
    }
}

#[test]
fn a_run_of_several_agents_has_a_table_for_each_and_names_what_changes_nothing() {
    let folder = data("recorded");
    let text = out(&ctxsim(&folder, ["run", "."]));
    let json: Value = parsed(&ctxsim(&folder, ["run", ".", "--format", "json"]));

    let policies = |format: &str| -> BTreeSet<String> {
        let own = |it: &&Value| it["scenario"].as_str().unwrap().contains(format);
        let runs = json["runs"].as_array().unwrap().iter().filter(own);
        runs.map(|it| it["policy"].as_str().unwrap().to_owned()).collect()
    };
    let (claude, codex) = (policies("claude-code"), policies("codex"));
    assert!(
        claude.contains("promptCacheTtl=1h") && codex.contains("tool_output_token_limit=2500"),
        "{codex:?}"
    );
    assert!(!codex.contains("promptCacheTtl=1h") && claude.contains("clairvoyant"), "{claude:?}");
    assert_says(&text, &["No effect in these sessions: ", "Nothing to "]);
}
