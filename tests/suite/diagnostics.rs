//! Broken inputs: what a person is told, where, and what to do about it.

use crate::support::*;

/// The file that is sound where tokenizers are built, and what it shows elsewhere.
const NOT_BUILT: &str = "scenario.tokenizer_not_built.toml";
const CODE_NOT_BUILT: &str = "tokenizer-not-built";

/// Returns the names of a folder's input files, sorted.
fn inputs(folder: &str) -> Vec<String> {
    let is_input = |it: &String| it.ends_with(".ron") || it.ends_with(".toml");
    names_in(&root().join(folder)).into_iter().filter(is_input).collect()
}

/// Validates a file of a folder, which must be refused with nothing printed; returns what is told.
fn refused(folder: &str, file: &str) -> String {
    refused_line(folder, &["validate".to_owned(), file.to_owned()])
}

/// Runs a command line in a folder, which must be refused with nothing printed; returns what is told.
fn refused_line(folder: &str, args: &[String]) -> String {
    let output = ctxsim(root().join(folder), args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let helped = text.matches("= help: ").count();
    assert_eq!(helped, text.matches("error[").count(), "every answer names its way out:\n{text}");
    text
}

fn assert_told(folder: &str, name: &str, text: &str) {
    assert_snapshot(folder, name, text);
}

/// What is told of a broken file or of a mistaken command line.
struct Answer {
    /// The file, or the line.
    of: String,
    /// The problems, each with its code, its place and its way out.
    problems: Vec<String>,
}

impl Answer {
    fn new(of: &str, text: &str) -> Self {
        // The last line of several problems counts them.
        let text = text.rsplit_once("\n\n").filter(|it| it.1.contains(" problems; ")).map_or(text, |it| it.0);
        let problems = text.split("error[").skip(1).map(|it| format!("error[{}", it.trim_end())).collect();
        Self { of: of.to_owned(), problems }
    }

    /// Returns a line a problem, with its code and its place, below what they are of.
    fn listed(&self) -> String {
        let here = format!("{}:", self.of);
        let lines = self.problems.iter();
        let lines = lines.map(|it| format!("  {}  {}\n", code(it), place(it).trim_start_matches(&here)));
        format!("{}\n{}", self.of, lines.collect::<String>())
    }
}

/// Returns a problem's code.
fn code(problem: &str) -> &str {
    problem.trim_start_matches("error[").split_once(']').unwrap().0
}

/// Returns where a problem is: the file with line and column, and the field, as far as they are told.
fn place(problem: &str) -> String {
    let place = problem.lines().find_map(|it| it.trim_start().strip_prefix("--> "));
    let marked = problem.lines().filter(|it| it.trim_start().starts_with('|'));
    let field = marked.filter_map(|it| Some(it.rsplit_once('^')?.1.trim())).next_back().unwrap_or_default();
    format!("{} {field}", place.unwrap_or("nowhere")).trim_end().to_owned()
}

/// Returns what is told of each broken file.
fn of_files() -> Vec<Answer> {
    let files = inputs("tests/invalid").into_iter().filter(|it| it != NOT_BUILT);
    files.map(|it| Answer::new(&it, &refused("tests/invalid", &it))).collect()
}

/// Returns what is told of each mistaken command line.
fn of_lines() -> Vec<Answer> {
    let lines = ["mistaken_lines", "mistyped_lines", "mistaken_outputs"].into_iter().flat_map(lines);
    let told = |it: Vec<String>| {
        Answer::new(&format!("$ ctxsim {}", it.join(" ")), &refused_line("tests/invalid", &it))
    };
    lines.map(told).collect()
}

#[test]
fn every_mistake_is_answered_with_code_and_place_and_each_code_in_its_words() {
    let files = of_files();
    for file in &files {
        assert!(!file.problems.is_empty(), "{} is not told of", file.of);
        assert!(file.problems.iter().all(|it| place(it) != "nowhere"), "no place in {}", file.of);
    }
    let mut answers: Vec<Answer> = files.into_iter().chain(of_lines()).collect();

    assert_told("diagnostics", "places", &answers.iter().map(Answer::listed).collect::<String>());

    // The words are those of the mistake that comes with the fewest others.
    answers.sort_by_key(|it| it.problems.len());
    let mut words: BTreeMap<&str, &str> = BTreeMap::new();
    for problem in answers.iter().flat_map(|it| &it.problems) {
        words.entry(code(problem)).or_insert(problem);
    }
    for (code, problem) in &words {
        assert_told("diagnostics/words", code, problem);
    }
    let shown: BTreeSet<String> = words.into_keys().chain([CODE_NOT_BUILT]).map(str::to_owned).collect();
    assert_eq!(worded(), shown, "words of no mistake stay behind");
}

#[test]
#[cfg(not(feature = "tokens"))]
fn a_tokenizer_that_is_not_built_is_told_so() {
    let answer = Answer::new(NOT_BUILT, &refused("tests/invalid", NOT_BUILT));

    assert_eq!(answer.problems.iter().map(|it| code(it)).collect::<Vec<_>>(), [CODE_NOT_BUILT]);
    assert_told("diagnostics/words", CODE_NOT_BUILT, &answer.problems[0]);
}

#[test]
fn a_careless_line_is_answered_with_what_was_meant() {
    let told =
        |it: &Vec<String>| format!("$ ctxsim {}\n{}\n", it.join(" "), refused_line("tests/invalid", it));

    assert_told("diagnostics", "mistyped", &lines("mistyped_lines").iter().map(told).collect::<String>());
}

/// Returns the codes whose words are kept.
fn worded() -> BTreeSet<String> {
    let files = fs::read_dir(root().join("snapshots/diagnostics/words")).unwrap();
    let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.map(|it| it.trim_end_matches(".snap").to_owned()).collect()
}

/// Returns the command lines of a table, each as its words: what stands in quotation marks is one.
fn lines(name: &str) -> Vec<Vec<String>> {
    let word = |(nth, part): (usize, &str)| match nth % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.replace("\\t", "\t")],
    };
    table_lines(name).map(|it| it.split('\'').enumerate().flat_map(word).collect()).collect()
}

#[test]
fn every_code_has_its_broken_file() {
    let shown = worded();
    // Warnings have files of their own: tests/lints.
    let warnings = ctxsim::input::policy::lint::LINTS.iter().map(|it| it.code);
    let of_profiles = ctxsim::input::profile::cache::UNMET;
    let warnings = warnings.chain(of_profiles).chain(ctxsim::app::check::WARNINGS).map(|it| it.name());
    let elsewhere: BTreeSet<&str> =
        table("codes_elsewhere").into_iter().map(|it| it.0).chain(warnings).collect();

    let codes = codes();
    let missing: Vec<&String> =
        codes.iter().filter(|it| !shown.contains(*it) && !elsewhere.contains(it.as_str())).collect();
    assert!(codes.len() > 50, "{codes:?}");
    assert_eq!(missing, Vec::<&String>::new(), "put a broken file into tests/invalid for each");
    let listed: Vec<&&str> = elsewhere.iter().filter(|it| shown.contains(**it)).collect();
    assert_eq!(listed, Vec::<&&str>::new(), "these are shown now");
    let stale: Vec<&str> = elsewhere.into_iter().filter(|it| !codes.contains(*it)).collect();
    assert_eq!(stale, Vec::<&str>::new(), "no code is called so any more");
}

/// Returns the names of all codes, as they stand where problems are told.
fn codes() -> BTreeSet<String> {
    let named = |text: &str| -> Vec<String> {
        let behind = text.split("Code(\"").skip(1);
        behind.filter_map(|it| Some(it.split_once('"')?.0.to_owned())).collect()
    };
    super::tidy::own_sources().iter().flat_map(|it| named(&it.1)).collect()
}

#[test]
fn ten_mistakes_of_a_newcomer_are_answered_with_place_and_fix() {
    let mut transcript = String::new();
    for file in inputs("tests/newcomer").iter().filter(|it| !it.contains("of_base")) {
        let text = refused("tests/newcomer", file);
        assert!(text.contains("= help: "), "{text}");
        transcript += &format!("$ ctxsim validate {file}\n{text}\n");
    }

    assert_told("cli", "newcomer", &transcript);
}
