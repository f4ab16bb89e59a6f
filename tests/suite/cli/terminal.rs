//! What people read on a terminal: the answer first, few lines, and colours only where they are asked for.

use super::*;

/// The most lines that an answer on recordings takes at 100 columns.
const LINES: usize = 40;

/// The verbs that answer on recordings.
const ANSWERS: [&str; 5] = [
    "run",
    "compare --base identity --candidate clear_tool_results",
    "advise",
    "tune --policy clear_tool_results --vary params.trigger.tokens=40000,60000,80000",
    "screen",
];

fn takes_at_most_forty_lines(line: &str, paths: &[&str]) {
    let args: Vec<&str> = line.split(' ').chain(paths.iter().copied()).chain(["--width", "100"]).collect();

    let text = out(&ctxsim(&args));

    let told = format!("{paths:?}, {line}:\n{text}");
    assert!(text.lines().count() <= LINES, "{} lines: {told}", text.lines().count());
    // A command that is wrapped cannot be copied.
    let is_wide = |it: &&str| it.chars().count() > 100 && !it.trim_start().starts_with("ctxsim ");
    assert_eq!(text.lines().find(is_wide), None, "{told}");
    assert!(text.lines().count() > 10, "{told}");
}

#[test]
fn answers_on_one_session_and_on_many_take_at_most_forty_lines() {
    for n in [1, 12] {
        let folder = folder_of_years(n);
        ANSWERS.iter().for_each(|it| takes_at_most_forty_lines(it, &[folder.path().to_str().unwrap()]));
    }
}

#[test]
fn answers_on_forty_shared_sessions_take_at_most_forty_lines() {
    let Ok(shared) = std::env::var("CTXSIM_REFERENCE") else { return };
    let of = |name: &str| format!("{shared}/recorded/{name}");
    let all = ["claude-code", "claude-code-2", "codex", "pi"].map(of);
    let all = all.each_ref().map(String::as_str);
    for line in ANSWERS {
        // Advice is given for each agent on its own, and each has a table of its settings.
        takes_at_most_forty_lines(line, if ["advise", "run"].contains(&line) { &all[..2] } else { &all });
    }
}

#[test]
fn the_answer_stands_first_and_notes_are_at_most_three() {
    let folder = folder_of_years(1);
    let path = folder.path().to_str().unwrap();
    let first = |args: &[&str]| {
        let text = out(&ctxsim(&[args, &[path]].concat()));
        (text.lines().next().unwrap_or_default().to_owned(), text.matches("\nNote: ").count())
    };

    let compare = first(&["compare", "--base", "identity", "--candidate", "clear_tool_results"]);
    let (run, n_notes) = first(&["run"]);
    let (advise, _) = first(&["advise"]);

    assert!(compare.0.contains("clear_tool_results"), "{compare:?}");
    assert_eq!(run, advise, "one question, one answer");
    assert!(advise.starts_with("Nothing to ") || advise.starts_with("Do this: "), "{advise}");
    assert!(n_notes <= 3 && compare.1 <= 3, "{n_notes}");
    assert!(first(&["run", "--details"]).1 > 3, "and details have them all");
}

#[test]
fn colours_are_only_where_they_are_asked_for_and_change_no_letter() {
    let folder = folder_of_years(1);
    let path = folder.path().to_str().unwrap();
    for line in ["run", "compare --base identity --candidate clear_tool_results", "advise", "screen", "list"]
    {
        let of = |more: &[&str]| {
            let path = if line == "list" { vec![] } else { vec![path] };
            let args: Vec<&str> = line.split(' ').chain(path).chain(more.iter().copied()).collect();
            out(&ctxsim(&args))
        };
        let (plain, coloured) = (of(&[]), of(&["--color", "always"]));

        assert!(!plain.contains('\x1b') && coloured.contains("\x1b[1m"), "{line}: a pipe has none");
        assert_eq!(without_colours(&coloured), plain, "{line}");
        assert_eq!(of(&["--color=never"]), plain);
    }
    let file = folder.path().join("report.txt");
    out(&ctxsim(&["--color", "always", "run", path, "--output", file.to_str().unwrap()]));
    assert!(!fs::read_to_string(file).unwrap().contains('\x1b'), "nor has a file");
}

#[test]
fn quiet_leaves_the_answer_and_its_numbers_and_nothing_else() {
    let folder = folder_of_years(1);
    let path = folder.path().to_str().unwrap();
    let whole = out(&ctxsim(&["run", path]));

    for args in [["--quiet", "run", path], ["run", path, "-q"]] {
        let quiet = out(&ctxsim(&args));

        assert!(
            !["Note: ", "More: ", "Next: ", "Simulated: "].iter().any(|it| quiet.contains(it)),
            "{quiet}"
        );
        assert!(whole.starts_with(quiet.trim_end()), "{quiet}");
    }
}

#[test]
fn the_catalogue_is_read_at_a_glance_and_described_on_demand() {
    let glance = out(&ctxsim(&["list"]));
    let policies = out(&ctxsim(&["list", "policies"]));

    assert!(glance.lines().count() <= 100, "{glance}");
    assert_says(&glance, &["policies (", "scenarios (", "profiles (", "suites ("]);
    assert!(policies.contains("\nagents/cline/\n") && policies.contains("How a policy is known: "));
    assert!(policies.lines().all(|it| it.chars().count() <= 100), "lines wrap");
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|it| it.split_once('m').map_or("", |it| it.1)).collect::<String>()
}
