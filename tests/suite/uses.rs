//! The three questions that people come with, and the screen without a question, as users ask them in a folder of their own.
//!
//! Each takes at most five commands.

use std::time::Instant;

use crate::support::*;

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

    assert!(text.lines().count() <= 40 && text.contains("price lists: "), "{text}");
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
    fs::write(&policy, raised).unwrap();
    let text = out(&typed.command("compare --base rev:main"));

    assert!(text.contains("mine costs more (+"), "{text}");
    typed.done("does this pull request cost more");
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
