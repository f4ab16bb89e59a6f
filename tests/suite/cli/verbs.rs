//! Verbs in sight, and what was a verb and is a flag now.

use std::fs;
use std::process::Command;

use super::{ctxsim, data, out, refused};

/// The most verbs in sight.
const VERBS_MAX: usize = 16;

/// What was a verb, what it is now, and what is asked of both.
const MOVED: [(&str, &str, &str); 11] = [
    ("merge", "run --merge", "PARTS --format json"),
    ("merge", "sweep --merge", "PARTS --width 120"),
    ("store", "run --store", "read STORE"),
    ("fit", "tune --fit", "ANSWERS --policy aging/careful"),
    ("convert", "show", "policies/cap.ron --as toml"),
    ("convert", "show", "policies/cap.ron --as=ron"),
    ("export", "show", "../recorded/pi-session.jsonl --redact"),
    ("schema", "show --schema", "suite"),
    ("man", "--man", ""),
    ("completions", "--completions", "bash"),
    ("completions", "--completions", "zsh"),
];

/// What was a verb, and how the help of what it is now is asked for.
const FORMS: [(&str, &str); 8] = [
    ("merge", "run --merge"),
    ("store", "run --store"),
    ("fit", "tune --fit"),
    ("convert", "show --as toml"),
    ("export", "show --redact"),
    ("schema", "show --schema"),
    ("man", "--man"),
    ("completions", "--completions"),
];

/// Returns the words of a line.
fn words<'a>(verb: &'a str, rest: &'a str) -> Vec<&'a str> {
    verb.split(' ').chain(rest.split(' ')).filter(|it| !it.is_empty()).collect()
}

#[test]
fn at_most_sixteen_verbs_are_in_sight_in_groups_after_five_lines_and_each_line_is_short() {
    let help = out(&ctxsim(&["--help"]));

    let (opening, rest) = help.split_once("\n\n").unwrap();
    assert_eq!(opening.lines().count(), 5, "{opening}");
    assert_eq!(opening.lines().filter(|it| it.starts_with("  ctxsim ")).count(), 3, "{opening}");
    let (listed, _) = rest.split_once("\n\nOptions:\n").unwrap();
    let (groups, verbs): (Vec<&str>, Vec<&str>) =
        listed.lines().filter(|it| !it.is_empty()).partition(|it| it.ends_with(':'));
    assert_eq!(groups.len(), 5, "{groups:?}");
    assert!(verbs.len() <= VERBS_MAX, "{verbs:?}");
    for line in help.lines() {
        assert!(line.chars().count() < 80, "too long for 80 columns: {line}");
    }
    for line in verbs {
        let verb = line.trim_start().split(' ').next().unwrap();
        assert!(line.chars().nth(15).is_some_and(|it| it != ' '), "nothing says what `{verb}` does");
        assert!(out(&ctxsim(&[verb, "--help"])).contains("Usage: ctxsim"), "{verb}");
    }
    assert_eq!(help, out(&ctxsim(&["help"])));
    assert_eq!(help, out(&ctxsim(&["-h"])));
}

#[test]
fn an_old_verb_works_as_its_new_form_does_and_says_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let [parts, store, answers] = ["parts", "store", "answers.csv"].map(at);
    let conversation =
        "--policy context_decay/memory_banks --scenario context_decay/trials --length 50 --output";
    out(&ctxsim(&words("run", &format!("--policy keep --scenario one --profile plain --parts {parts}"))));
    out(&ctxsim(&words("run --store", &format!("write {conversation} {store}"))));
    let lines = (0..40).map(|it| format!("{},fact{it},{},{}\n", 1 + it % 6, it % 3, ["yes", "no"][it % 2]));
    fs::write(&answers, format!("session,fact,lag,right\n{}", lines.collect::<String>())).unwrap();
    let filled = |it: &str| it.replace("PARTS", &parts).replace("STORE", &store).replace("ANSWERS", &answers);

    for (old, new, rest) in MOVED {
        let rest = filled(rest);
        // As it was typed before.
        let was = rest.replace("--as toml", "--to toml").replace("--as=ron", "--to=ron");
        let [before, now] = [ctxsim(&words(old, &was)), ctxsim(&words(new, &rest))];

        assert_eq!(out(&before), out(&now), "{old} {was}");
        assert!(!before.stdout.is_empty(), "{old} {was}");
        let [said, silent] = [before.stderr, now.stderr].map(|it| String::from_utf8(it).unwrap());
        let (note, same) = said.split_once('\n').unwrap();
        assert!(note.starts_with(&format!("note: `ctxsim {old}` is now `ctxsim ")), "{note}");
        assert!(note.contains(new), "{note}");
        assert_eq!(same, silent, "{new} {rest}");
    }
}

#[test]
fn the_help_of_a_flag_shows_its_own_options_and_that_of_its_verb_names_it() {
    for (old, form) in FORMS {
        let shown = out(&ctxsim(&[&words(form, "")[..], &["--help"]].concat()));
        let [host, flag] = match words(form, "")[..] {
            [host, flag, ..] => [vec![host, "--help"], vec![flag]],
            ref flag => [vec!["--help"], flag.to_vec()],
        };

        assert!(out(&ctxsim(&host)).contains(flag[0]), "{form}");
        assert!(shown.contains("Usage: ctxsim ") && shown.lines().count() > 6, "{form}: {shown}");
        for old_help in [vec![old, "--help"], vec!["help", old]] {
            let told = ctxsim(&old_help);
            assert_eq!(out(&told), shown, "{old_help:?}");
            assert!(String::from_utf8(told.stderr).unwrap().starts_with("note: "), "{old_help:?}");
        }
    }
}

#[test]
fn a_misspelt_old_verb_or_value_is_answered_with_the_new_form() {
    assert!(refused(&ctxsim(&["show", "policy", "cap", "--as", "tonl"])).contains("did you mean `toml`?"));
}

#[test]
fn nothing_that_the_project_runs_names_an_old_verb() {
    let old = ["merge", "store", "fit", "convert", "export", "schema", "man", "completions"];
    let root = data("../..");
    let run = ["action.sh", "action.yml", "justfile", ".ci/archive", ".ci/digests", ".ci/run", ".ci/wheel"];
    let read = |it: &str| fs::read_to_string(root.join(it)).unwrap_or_default();
    let documents = crate::blocks::documents();
    let scripts = run.into_iter().map(|it| (it.to_owned(), read(it)));
    for (path, text) in scripts.chain(documents) {
        for verb in old {
            for named in [format!("ctxsim {verb} "), format!("ctxsim {verb}`"), format!("\"{verb}\", ")] {
                assert!(!text.contains(&named), "{path} names `{named}`");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn what_shells_complete_has_the_flags_and_their_options_and_no_old_verb() {
    let script = out(&ctxsim(&["--completions", "bash"]));

    for word in ["--merge", "--redact", "--schema", "--completions", "--length"] {
        assert!(script.contains(word), "{word}");
    }
    assert!(!script.contains("run --merge") && !script.contains("ctxsim__merge"));
    let mut bash = Command::new("bash");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.bash");
    fs::write(&path, script).unwrap();
    if let Ok(checked) = bash.arg("-n").arg(&path).status() {
        assert!(checked.success());
    }
}
