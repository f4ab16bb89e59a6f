//! Broken inputs: what a person is told, where, and what to do about it.

use crate::support::*;

/// Codes that neither a broken file nor a command line can show, and where they are shown instead.
const ELSEWHERE: [(&str, &str); 59] = [
    ("price-unused", "a warning of profiles: tests/suite/lints.rs"),
    ("git-incomplete", "of a partial clone: tests/suite/hostile/git.rs"),
    ("git-too-old", "of an old git: tests/suite/hostile/git.rs"),
    ("output-link", "of a link: tests/suite/cli/output.rs"),
    ("revision-not-allowed", "of a repository: tests/suite/hostile.rs"),
    ("templates-missing", "of builds without the feature `templates`: tests/lean.rs"),
    ("world-missing", "of builds without the feature `worlds`: crates/worlds/src/lib.rs"),
    ("ratchet-missing", "of `check --ratchet` in continuous integration: tests/suite/checks.rs"),
    (
        "block-trace-unknown",
        "of the library's `trace::read` of block traces, which the binary asks only for timelines that it knows",
    ),
    ("recording-line", "of a file too large for the test data: tests/suite/cli/folders.rs"),
    ("fact-circle", "of a graph of facts made in code: tests/suite/aging/laws.rs"),
    ("generate-unknown", "of the library: tests/suite/face/failures.rs"),
    ("init-exists", "of a folder: tests/suite/guide.rs"),
    ("name-empty", "of an input built in code: tests/suite/face/failures.rs"),
    ("name-twice", "of two inputs built in code: tests/suite/face/failures.rs"),
    ("path-unclear", "of a text in memory: tests/suite/face/failures.rs"),
    ("price-invalid", "of a profile built in code: tests/suite/face/failures.rs"),
    ("setting-broken", "of the files of agents, which tests/suite/advise.rs reads"),
    ("run-failed", "of own code, explained: tests/suite/face/failures.rs"),
    ("run-stopped", "by a caller in code: tests/suite/face/reports.rs"),
    ("min-evidence", "of a caller in code: tests/suite/face/reports.rs"),
    ("recording-read", "of a caller in code: tests/suite/face/reports.rs"),
    ("run-unknown", "of a plan in code: tests/suite/face/failures.rs"),
    ("part-broken", "of parts: tests/suite/parts.rs"),
    ("part-findings", "of parts: tests/suite/parts.rs"),
    ("part-guards", "of parts: tests/suite/parts.rs"),
    ("part-job", "of parts: tests/suite/parts.rs"),
    ("part-missing", "of parts: tests/suite/parts.rs"),
    ("part-share", "of parts: tests/suite/parts.rs"),
    ("part-twice", "of parts: tests/suite/parts.rs"),
    ("part-version", "of parts: tests/suite/parts.rs"),
    ("shard", "of files of a sweep: tests/suite/sweep.rs"),
    ("tune-loads", "of a grid: crates/app/src/tune.rs"),
    ("vary-too-many", "of a grid: crates/app/src/grid.rs"),
    ("vary-twice", "of a grid: crates/app/src/grid.rs"),
    ("vary-values", "of a grid: crates/app/src/grid.rs"),
    ("git-failed", "of a repository: tests/suite/contrast.rs"),
    ("invalid", "stands for several others"),
    ("list-empty", "of a comparison of the library; a suite that lists nothing runs nothing"),
    ("process-fault", "of a program: tests/suite/processes.rs"),
    ("process-not-on-disk", "of a catalog that a program of its own holds"),
    ("recording-empty", "of a recording: tests/suite/import/claude_code.rs"),
    ("recording-several", "of the library's `import`, which takes one session"),
    ("revision-policy", "of a repository: tests/suite/contrast.rs"),
    ("scenario-not-run", "of a folder: tests/suite/checks.rs"),
    ("store-differs", "of a folder: tests/suite/cli.rs"),
    ("store-input-missing", "of a folder: tests/suite/cli.rs"),
    ("tools-too-many", "needs 65,535 tools: tests/suite/import/usage.rs"),
    ("need-back", "of a scenario built in code"),
    ("need-weight", "of a scenario built in code"),
    ("turns-missing", "of a scenario built in code"),
    ("store-json", "of the files of a store: crates/engine/src/memory/export.rs"),
    ("store-key-missing", "of the files of a store: crates/engine/src/memory/export.rs"),
    ("store-key-stray", "of the files of a store: crates/engine/src/memory/export.rs"),
    ("store-name", "of the files of a store: crates/engine/src/memory/export.rs"),
    ("store-order", "of the files of a store: crates/engine/src/memory/export.rs"),
    ("store-schema", "of the files of a store: crates/engine/src/memory/export.rs"),
    ("store-none", "of an export of the library: tests/suite/context_decay.rs"),
    ("unwritable", "of a report that cannot be written"),
];

/// A recorded session.
const SESSION: &str = "../../scenarios/recorded/claude-code-session.jsonl";

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
    refused_line(folder, &["validate", file])
}

/// Runs a command line in a folder, which must be refused with nothing printed; returns what is told.
fn refused_line(folder: &str, args: &[&str]) -> String {
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
    let lines = [
        mistaken_lines(),
        mistaken_files(),
        mistaken_overrides(),
        mistaken_lines_for_conversations(),
        mistyped_lines(),
        mistaken_outputs(),
    ]
    .concat();
    let told = |it: &Vec<&str>| {
        Answer::new(&format!("$ ctxsim {}", it.join(" ")), &refused_line("tests/invalid", it))
    };
    lines.iter().map(told).collect()
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
    let told = |it: &Vec<&str>| format!("$ ctxsim {}\n{}\n", it.join(" "), refused_line("tests/invalid", it));

    assert_told("diagnostics", "mistyped", &mistyped_lines().iter().map(told).collect::<String>());
}

/// Returns the codes whose words are kept.
fn worded() -> BTreeSet<String> {
    let files = fs::read_dir(root().join("snapshots/diagnostics/words")).unwrap();
    let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.map(|it| it.trim_end_matches(".snap").to_owned()).collect()
}

/// Capacities that no store has.
const CAPACITIES: [&str; 3] = [
    "profile.cache.blocks.capacity_blocks=0",
    "profile.cache.blocks.capacity_blocks=-5",
    "profile.cache.blocks.capacity_blocks=9e9",
];

/// Returns command lines with mistakes of all kinds.
fn mistaken_lines() -> Vec<Vec<&'static str>> {
    let blocks = ["run", "--scenario", "../data/blocks/mooncake.jsonl", "--policy", "identity"];
    let lru = |set| [&blocks[..], &["--profile", "open/blocks-512-lru", "--set", set]].concat();
    let plain =
        ["run", "--scenario", "duckagent/plain_chat", "--policy", "identity", "--profile", "unlimited"];
    let needles = ["--scenario", "context_decay/trials", "--trials", "1", "--profile", "unlimited"];
    vec![
        vec!["compare", "--base", "rev:main", "--candidate", "identity"],
        vec!["run", "--policy", "a\tb", "--scenario", "duckagent/plain_chat"],
        vec!["run", "recorded/claude-code", "--columns", "evidnce_kept,cost,colour"],
        vec!["run", "--policy", "identity", "../data/small"],
        vec!["run", "--policy", "../../examples/policies/clear_old_results_node.ron"],
        [&plain[..], &["--rows", "requests", "--format", "table"]].concat(),
        [&plain[..], &["--rows", "trials"]].concat(),
        [&plain[..], &["--rows", "cards"]].concat(),
        [&plain[..], &["--rows", "calls"]].concat(),
        vec!["run", "--scenario", "duckagent/plain_chat", "--policy", "aging/lossy"],
        [&["compare", "--base", "memory_runners/entries", "--candidate", "identity"][..], &needles].concat(),
        vec!["tune", "--policy", "aging/lossy", "--scenario", "aging/s2"],
        vec!["run", "--suite", "memory-runners", "--rows", "requests"],
        vec!["run", "--suite", "aging-lite", "--rows", "requests"],
        vec!["run", "--scenario", "live_grid/gpt-6-luna/fill_0.9", "--profile", "unlimited"],
        vec!["run", "recorded/claude-code", "--set", "scenario.load.recorded.assume.resets=perhaps"],
        vec!["run", "../data/broken/negative_usage.jsonl"],
        [&plain[..], &["--chart", "cost", "--format", "html"]].concat(),
        [&plain[..], &["--chart", "aging"]].concat(),
        [&plain[..], &["--chart", "costs"]].concat(),
        args(
            "run --suite context-decay --set scenario.load.conversation.needle_density=0 \
            --set memory.facts.write.extract.2.p=1.5",
        ),
        [&blocks[..], &["--profile", "open/blocks-64-infinite"]].concat(),
        [&blocks[..], &["--profile", "anthropic/claude-opus-4.5"]].concat(),
        refused_layout("../data/layouts/many.ron"),
        refused_layout("../data/layouts/mixed.ron"),
        refused_layout("../data/layouts/order.ron"),
        lru(CAPACITIES[0]),
        lru(CAPACITIES[1]),
        [&blocks[..], &["--profile", "open/blocks-64-infinite", "--set", CAPACITIES[2]]].concat(),
        vec!["run", "--scenario", "blocks_negative.jsonl"],
        vec!["run", "--scenario", "blocks_too_large.jsonl"],
        vec!["run", "--scenario", "blocks_cut.json"],
        vec!["run", "--scenario", "nowhere.jsonl"],
        vec!["run", "nowhere.jsonl", "--policy", "idenity", "--profile", "opuss"],
        vec!["run", "--scenario", "../data/blocks"],
        vec!["run", "../data/prices/litellm", "--since", "yesterday"],
        vec!["run", "../data/model_unknown.jsonl", "../data/model_unknown.jsonl"],
        vec!["run", "../newcomer"],
        [&["explain"], &plain[1..], &["--request", "99"]].concat(),
        args("explain --scenario context_decay/trials --policy identity --request 1 --length 51"),
    ]
}

/// Returns command lines with mistakes about files other than scenarios.
fn mistaken_files() -> Vec<Vec<&'static str>> {
    vec![
        vec!["validate", "nowhere.ron"],
        vec!["validate", "../data/twice"],
        vec!["validate", "../data/blocks"],
        vec!["show", "unknown.jsonl", "--as", "ron"],
        vec!["prices", "import", "unknown.jsonl", "--as-of", "today"],
        vec!["prices", "import", "unknown.jsonl", "--as-of", "2026-11-21"],
        vec!["prices", "import", "nowhere.json", "--as-of", "2026-11-21"],
        vec!["prices", "import", "prices_nan.json", "--as-of", "2026-11-21"],
        vec!["prices", "import", "prices_twice.json", "--as-of", "2026-11-21"],
        vec!["prices", "import", "prices_negative.json", "--as-of", "2026-11-21"],
        vec!["advise", SESSION, "--agent", "nobody"],
        vec!["advise", SESSION, "--settings", "settings_cut.json"],
        vec!["advise", SESSION, "--settings", "settings_other.json"],
        vec!["advise", SESSION, "--settings", "nowhere.json", "--apply"],
        vec!["advise", "unknown.jsonl"],
        vec!["advise", "duckagent/plain_chat"],
        vec!["realised", "forecast_cut.json", SESSION],
        vec!["realised", "nowhere.json", SESSION],
        vec!["realised", "forecast_cut.json", SESSION, "--outcomes", "outcomes_wordy.csv"],
        vec!["realised", "forecast_cut.json", SESSION, "--outcomes", "outcomes_columns.csv"],
        vec!["tune", "--fit", "answers_careless.csv", "--policy", "aging/careful"],
        vec!["tune", "--fit", "answers_columns.csv", "--policy", "aging/careful"],
        vec!["tune", "--fit", "answers_none.csv", "--policy", "aging/careful"],
        vec!["tune", "--fit", "answers_fine.csv", "--policy", "identity"],
        args("tune --fit answers_fine.csv --policy aging/careful --scenario memory_runners/spec"),
    ]
}

/// Returns command lines whose overrides are mistaken.
fn mistaken_overrides() -> Vec<Vec<&'static str>> {
    let plain =
        ["run", "--scenario", "duckagent/plain_chat", "--policy", "identity", "--profile", "unlimited"];
    vec![
        [
            &plain[..],
            &["--set", "params.x", "--set", "params..x=1", "--set", "parms.x=1", "--set", "params.x=1..5"],
        ]
        .concat(),
        [&plain[..], &["--set", "scenario.sed=1"]].concat(),
        args("run --suite default --set params.triger.tokens=1 --set truncate_oldes.params.budget=1"),
        args(
            "run --suite duckagent-matrix --policy duckagent/raw_snapshot \
            --policy duckagent/pressure_summary --set params.threshold.ratio=0.7",
        ),
        [&plain[..], &["--set", "scenario.seed=many"]].concat(),
    ]
}

/// Returns command lines whose output cannot be written, or not so.
fn mistaken_outputs() -> Vec<Vec<&'static str>> {
    let plain =
        ["run", "--scenario", "duckagent/plain_chat", "--policy", "identity", "--profile", "unlimited"];
    let explain = ["explain", "--policy", "identity", "--scenario", "duckagent/plain_chat", "--request", "1"];
    vec![
        [&plain[..], &["--rows", "needs", "--output", "needs.md"]].concat(),
        [&plain[..], &["--output", "report.doc"]].concat(),
        [&plain[..], &["--output", "nowhere/report.csv"]].concat(),
        [&plain[..], &["--output", "../data"]].concat(),
        [&plain[..], &["--html", "two.html", "--output", "./two.html"]].concat(),
        [&plain[..], &["--output", "policy.params.ron/report"]].concat(),
        [&plain[..], &["--output", "policy.memory_controller_unused.ron", "--format", "csv"]].concat(),
        args(
            "show policy ../data/small/policies/cap.ron --output ../data/prices/../small/policies/cap.ron \
            --force",
        ),
        [&explain[..], &["--output", "request.csv"]].concat(),
        vec!["sensitivity", "--output", "report.svg"],
        vec!["import", "unknown.jsonl", "--format", "csv"],
        vec!["import", "refused.jsonl"],
        vec!["show", "../newcomer/of_base.ron", "--as", "toml", "--output", "policy.ron"],
        [&explain[..], &["--session", "other"]].concat(),
    ]
}

/// Returns a command line with a layout that the provider's API refuses.
fn refused_layout(policy: &'static str) -> Vec<&'static str> {
    ["run", "--scenario", "duckagent/plain_chat", "--profile", "anthropic/claude-opus-5", "--policy", policy]
        .to_vec()
}

/// Returns command lines for conversations with mistakes.
fn mistaken_lines_for_conversations() -> Vec<Vec<&'static str>> {
    let suite = ["run", "--suite", "context-decay"];
    let drawn = ["run", "--scenario", "recorded/claude-code", "--set", "scenario.recovery=sampled"];
    vec![
        [
            &suite[..],
            &["--set", "scenario.seed=99999999999999999999"],
            &["--set", "scenario.load.conversation.hash_seed=99999999999999999999"],
        ]
        .concat(),
        [&suite[..], &["--trials", "99999999999"]].concat(),
        vec!["run", "--suite", "default", "--trials", "3"],
        vec!["sensitivity", "--trials", "3"],
        [&drawn[..], &["--trials", "3", "--rows", "requests"]].concat(),
        [&drawn[..], &["--trials", "99999999999"]].concat(),
        [&suite[..], &["--set", "scenario.trials=3"]].concat(),
        [&suite[..], &["--rows", "needs"]].concat(),
        [
            &suite[..],
            &["--set", "memory.facts.oracle=[write]", "--set", "memory.facts.use=[exact, summarised]"],
        ]
        .concat(),
        [&suite[..], &["--set", "memory.facts.oracle=write"]].concat(),
        [&suite[..], &["--set", "memory.facts.store={ entries = { tokens_per_fact = 5, capactiy = 9 } }"]]
            .concat(),
    ]
}

/// Returns a command line with an override.
fn set(text: &'static str) -> Vec<&'static str> {
    vec!["run", "--suite", "context-decay", "--set", text]
}

/// Returns command lines that were typed carelessly.
fn mistyped_lines() -> Vec<Vec<&'static str>> {
    vec![
        vec!["rnu"],
        vec!["context-decay"],
        vec!["policy.template_broken.ron"],
        vec!["run", "--policy", "profile.limits_zero.toml"],
        vec!["run", "--suite", "scenario.times_zero.toml"],
        vec!["run", "--profile", "suite.guards.toml"],
        vec!["run", "--policy", "../data/model_unknown.jsonl"],
        vec!["run", "--profiles", "opus"],
        vec!["run", "--limit", "0"],
        vec!["run", "--seed", "99999999999999999999"],
        vec!["nowhere/"],
        vec!["nowhere/**/*.jsonl"],
        vec!["nowhere"],
        vec!["run", "--scenario", "nowhere"],
        vec!["show", "--schema", "--output", "unknown.jsonl"],
        vec!["show", "--schema", "--output", "unknown.jsonl/below/it"],
        vec!["explain", "--format", "html"],
        vec!["list", "--filter", "sonet"],
        vec!["list", "scenarios", "--filter", "opus"],
        vec!["list", "--filter", "xyzzy"],
        vec!["run", "--seed", "-1"],
        vec!["run", "--trials", "many"],
        vec!["run", "--threads", "0"],
        vec!["run", "--policy"],
        vec!["run", "--scenario", "sliding_window"],
        vec!["run", "--scenario", "-session.jsonl"],
        vec!["run", "--polcy", "identity"],
        vec!["run", "--fromat", "json"],
        vec!["run", "--format", "jsno"],
        vec!["run", "--profile", "opus"],
        vec!["run", "--profile", "claude-opus-4.5"],
        vec!["run", "--policy", "identiyt"],
        vec!["run", "--policy", "../data/blocks"],
        vec!["run", "--suite", ".."],
        vec!["explain", "--policy", "identity"],
        vec!["show", "policy", "sliding"],
        vec!["show", "profile", "unlimited", "--merged"],
        vec!["show", "scenario", "unknown.jsonl"],
        vec!["validate", "policy.params_circel.ron"],
        vec!["validate", "../data/small_elsewhere/not_utf8.toml"],
        vec!["import", "../data/small_elsewhere/not_utf8.toml"],
        vec!["prices", "import", "../data/small_elsewhere/not_utf8.toml", "--as-of", "2026-11-21"],
        vec!["import", "--report", "../../scenarios/duckagent/plain_chat.ron"],
        vec!["run", "--suite", "../data/small_elsewhere/lost.toml"],
        set("ratio="),
        set("context_decay/memory_banks..capacity=3"),
        set(".window=3"),
        set("window.=3"),
        set("context_decay/words.limits.input_tokens=3"),
        set("profile.context_decay/word.limits.input_tokens=3"),
        set("profile.limts.input_tokens=3"),
        set("profile.cache.blocks.block_tokens=3"),
        set("profile.prices.cache_read=0.1"),
        set("profile.prices.0.storage=*2"),
        set("profile.name=*2"),
        set("scenario.seed=1.5M tokens"),
        set("scenario.seed=-1"),
        set("scenario.recovery=[\"de\", \"fr\"]"),
        set("params.window=4"),
        set("params.window.ratio=-0.5"),
        set("scenario.langauge=de"),
    ]
}

#[test]
fn every_code_has_its_broken_file() {
    let shown = worded();
    // Warnings have files of their own: tests/lints.
    let warnings = ctxsim::input::policy::lint::LINTS.iter().map(|it| it.code);
    let of_profiles = ctxsim::input::profile::cache::UNMET;
    let warnings = warnings.chain(of_profiles).chain(ctxsim::app::check::WARNINGS).map(|it| it.name());
    let elsewhere: BTreeSet<&str> = ELSEWHERE.iter().map(|it| it.0).chain(warnings).collect();

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
