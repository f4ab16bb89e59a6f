//! Verbs in sight, and the flags that have options of their own.

use super::*;

/// The most verbs in sight.
const VERBS_MAX: usize = 16;

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
fn the_help_of_a_flag_shows_its_own_options_that_of_its_verb_names_it_and_its_old_name_is_no_command() {
    for (old, form) in FORMS {
        let shown = out(&ctxsim(&[&words(form, "")[..], &["--help"]].concat()));
        let [host, flag] = match words(form, "")[..] {
            [host, flag, ..] => [vec![host, "--help"], vec![flag]],
            ref flag => [vec!["--help"], flag.to_vec()],
        };

        assert!(out(&ctxsim(&host)).contains(flag[0]), "{form}");
        assert!(shown.contains("Usage: ctxsim ") && shown.lines().count() > 6, "{form}: {shown}");
        assert!(refused(&ctxsim(&[old, "--help"])).contains("unknown command"), "{old}");
    }
}

#[test]
fn a_misspelt_value_is_answered_with_the_one_that_was_meant() {
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

    assert_says(&script, &["--merge", "--redact", "--schema", "--completions", "--length"]);
    assert!(!script.contains("run --merge") && !script.contains("ctxsim__merge"));
    let mut bash = Command::new("bash");
    let folder = tempdir().unwrap();
    let path = folder.path().join("it.bash");
    fs::write(&path, script).unwrap();
    if let Ok(checked) = bash.arg("-n").arg(&path).status() {
        assert!(checked.success());
    }
}
