//! Policies that are programs: equal to the same policy in stages, and each failure told without an effect on other runs.

use ctxsim::input::policy::Duration;

use crate::support::*;

/// What a program says when it has been told that a run begins.
const READY: &str = r#"{"type":"ready","protocol":"ctxsim.policy/1"}"#;
/// A small load with calls and their results.
const LOAD: &str = "duckagent/fix_test_loop";

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn assert_told(name: &str, text: &str) {
    assert_snapshot("processes", name, text);
}

/// A folder of policies that are shell scripts.
struct Scripts(TempDir);

impl Scripts {
    fn new() -> Self {
        Self(tempdir().unwrap())
    }

    /// Adds a policy of a script that does something with each line `$line` after the first, the `n`-th request's.
    fn answering(&self, name: &str, each: &str) {
        let body =
            format!("read -r line\necho '{READY}'\nn=0\nwhile read -r line; do\n{each}\nn=$((n+1))\ndone\n");
        self.script(name, &body, Duration(10_000));
    }

    fn script(&self, name: &str, body: &str, deadline: Duration) {
        fs::write(self.0.path().join(format!("{name}.sh")), body).unwrap();
        self.command(name, &["sh", &format!("{name}.sh")], deadline);
    }

    fn command(&self, name: &str, command: &[&str], deadline: Duration) {
        let policy = format!(
            "(name: \"{name}\", about: \"A script.\", process: (command: {command:?}, deadline: \"{deadline}\"))"
        );
        fs::write(self.0.path().join(format!("{name}.ron")), policy).unwrap();
    }

    /// Runs policies beside one that keeps everything, and another that follows them.
    fn run(&self, names: &[&str], more: &[&str]) -> Output {
        let mut args = vec!["run", "--scenario", LOAD, "--profile", "unlimited", "--policy", "identity"];
        let files: Vec<String> = names.iter().map(|it| format!("{it}.ron")).collect();
        files.iter().for_each(|it| args.extend(["--policy", it]));
        args.extend(["--policy", "clear_tool_results"]);
        args.extend(more);
        ctxsim(self.0.path(), &args)
    }
}

/// Scripts of which each fails in a way of its own.
const FAILING: &str = "\
    hangs-at-the-start hangs crashes closes-its-output is-cut-off prints answers-another-request \
    names-an-unknown-entry names-an-entry-twice tears-a-pair has-an-unknown-field has-a-wrong-type \
    says-ready-twice speaks-another-version reports-an-error answers-without-end is-missing \
    is-beside-the-file";

/// Adds the scripts that give no whole answer.
fn add_silent(scripts: &Scripts) {
    // The shell is killed and its child is not: nobody waits for the pipes that this one holds.
    scripts.script("hangs-at-the-start", "sleep 5", Duration(200));
    scripts.script(
        "hangs",
        &format!("read -r line\necho '{READY}'\nread -r line\nsleep 5\n"),
        Duration(2_000),
    );
    scripts.answering("crashes", "for i in $(seq 25); do echo \"note $i\" >&2; done; exit 3");
    scripts.answering("closes-its-output", "exec 1>&-; sleep 3");
    scripts.answering("is-cut-off", r#"printf '{"type":"view","n":0,"par'; exit 0"#);
    scripts.command("is-missing", &["no-such-program-anywhere"], Duration(10_000));
    scripts.command("is-beside-the-file", &["is-missing.ron"], Duration(10_000));
}

/// Adds the scripts that answer something wrong.
fn add_wrong(scripts: &Scripts) {
    scripts.answering("prints", "echo 'loading the model'");
    scripts.answering("answers-another-request", r#"echo '{"type":"same","n":7}'"#);
    scripts
        .answering("names-an-unknown-entry", r#"echo '{"type":"view","n":'$n',"parts":[{"keep":[0,999]}]}'"#);
    scripts.answering(
        "names-an-entry-twice",
        r#"echo '{"type":"view","n":'$n',"parts":[{"keep":[0,2]},{"keep":[1,2]}]}'"#,
    );
    scripts.answering(
        "tears-a-pair",
        r#"if [ $n = 0 ]; then echo '{"type":"same","n":0}'
        else call=${line#*'"kind":"tool_call"'}; result=${line##*'"kind":"tool_result"'}; result=${result#*'"call":'}
        echo '{"type":"view","n":'$n',"parts":[{"keep":[0,'${result%%,*}']}]}'; fi"#,
    );
    scripts.answering("has-an-unknown-field", r#"echo '{"type":"same","n":'$n',"why":"lazy"}'"#);
    scripts.answering(
        "has-a-wrong-type",
        r#"echo '{"type":"view","n":'$n',"parts":[{"keep":[0,2]},{"insert":{"kind":"note","text":"x"}}]}'"#,
    );
    scripts.answering("says-ready-twice", &format!("echo '{READY}'"));
    scripts.script(
        "speaks-another-version",
        r#"echo '{"type":"ready","protocol":"ctxsim.policy/2"}'; cat > /dev/null"#,
        Duration(10_000),
    );
    scripts
        .answering("reports-an-error", r#"echo '{"type":"error","n":'$n',"message":"no model is loaded"}'"#);
    scripts.answering("answers-without-end", "head -c 80000000 /dev/zero | tr '\\0' x");
}

#[test]
fn each_failure_is_told_with_its_run_and_its_reason_and_the_other_runs_finish() {
    let scripts = Scripts::new();
    add_silent(&scripts);
    add_wrong(&scripts);

    let output = scripts.run(&listed(FAILING), &["--allow-process"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));

    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_told("failures", &err);
    for name in listed(FAILING) {
        assert!(err.contains(&format!("{name} failed on {LOAD} under unlimited")), "{name}: {err}");
    }
    assert!(out.contains("\nidentity ") && out.contains("\nclear_tool_results "), "{out}");
}

#[test]
fn a_program_that_answers_without_reading_holds_up_nobody() {
    let scripts = Scripts::new();
    let answers: String = (0..200).map(|n| format!("echo '{{\"type\":\"same\",\"n\":{n}}}'\n")).collect();
    scripts.script("never-reads", &format!("echo '{READY}'\n{answers}"), Duration(10_000));

    // In the second its harness takes entries out, so that `same` means less than it meant.
    let codex = data("recorded/codex-rollout.jsonl").display().to_string();
    for load in ["recorded/claude-code", &codex] {
        let on = ["--allow-process", "--rows", "requests", "--format", "jsonl", load];
        let output = scripts.run(&["never-reads"], &on);

        assert!(output.status.success(), "{}", text(&output.stderr));
        let rows = text(&output.stdout);
        let of = |name: &str| {
            let (policy, load) = (format!("\"policy\":\"{name}\","), format!("\"scenario\":\"{LOAD}\""));
            let mine = rows.lines().filter(|it| it.contains(&policy) && !it.contains(&load));
            mine.map(|it| it.replace(&policy, "")).collect::<Vec<_>>()
        };
        assert!(of("never-reads").len() > 2);
        assert_eq!(of("never-reads"), of("identity"));
    }
}

#[test]
fn a_program_that_differs_from_itself_is_told_by_its_first_request_that_does() {
    let scripts = Scripts::new();
    scripts.answering(
        "follows-its-seed",
        r#"if [ $n = 2 ]; then
        echo '{"type":"view","n":2,"parts":[{"insert":{"kind":"user","text":"seed '$PYTHONHASHSEED'"}},{"keep":[3,7]}]}'
        else echo '{"type":"same","n":'$n'}'; fi"#,
    );

    let once = scripts.run(&["follows-its-seed"], &["--allow-process"]);
    let twice = scripts.run(&["follows-its-seed"], &["--allow-process", "--play-twice"]);

    assert!(once.status.success(), "{}", text(&once.stderr));
    assert_eq!(twice.status.code(), Some(1));
    assert_told("differs", &text(&twice.stderr));
}

#[test]
fn no_program_starts_unless_that_is_allowed() {
    let scripts = Scripts::new();
    scripts.script("leaves-a-mark", "touch mark", Duration(10_000));
    let suite = "(name: \"mine\", about: \"A suite.\", policies: [\"leaves-a-mark.ron\"], scenarios: [\"duckagent/fix_test_loop\"], profiles: [\"unlimited\"])";
    fs::write(scripts.0.path().join("mine.ron"), suite).unwrap();
    let on = ["--scenario", LOAD, "--profile", "unlimited"];
    let policy = ["--policy", "leaves-a-mark.ron"];
    let refused = |args: &[&str]| {
        let output = ctxsim(scripts.0.path(), args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains("`leaves-a-mark` starts a program: `sh leaves-a-mark.sh`"), "{told}");
        assert!(told.contains("= help: add `--allow-process`"), "{told}");
    };

    refused(&[&["run"], &policy[..], &on].concat());
    refused(&["run", "--suite", "mine.ron"]);
    refused(&["check", "--suite", "mine.ron"]);
    refused(&[&["compare", "--base", "identity", "--candidate", "leaves-a-mark.ron"], &on[..]].concat());
    refused(&[&["explain", "--request", "1"], &policy[..], &on].concat());
    refused(&[&["sweep", "--vary", "recovery.naive_reread.limit=1,2"], &policy[..], &on].concat());
    refused(&[&["sensitivity"], &policy[..], &on].concat());
    let validated = ctxsim(scripts.0.path(), ["validate", "leaves-a-mark.ron"]);
    let told = "1 input is valid; 1 program was not run: add `--allow-process` to test it\n";
    assert_eq!(text(&validated.stdout), told, "{}", text(&validated.stderr));

    assert!(!scripts.0.path().join("mark").exists());
}

/// Runs git in a folder.
fn git(folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(who).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Makes a repository with a program, which reads its answers from a file beside it, and commits it.
fn repository() -> Scripts {
    let scripts = Scripts::new();
    fs::write(scripts.0.path().join("answer.sh"), r#"echo '{"type":"same","n":'$n'}'"#).unwrap();
    scripts.answering("mine", ". ./answer.sh");
    git(scripts.0.path(), &["init", "-q"]);
    git(scripts.0.path(), &["add", "."]);
    git(scripts.0.path(), &["commit", "-qm", "One"]);
    scripts
}

const AGAINST_MAIN: [&str; 7] =
    ["compare", "--base", "rev:main", "--candidate", "mine.ron", "--scenario", LOAD];

#[test]
fn a_program_of_another_revision_runs_with_the_files_of_that_revision() {
    let scripts = repository();
    let folder = scripts.0.path();
    // Only a file beside the program changes: it leaves out whatever is after the stable prefix and the first message.
    let cut = r#"case "$line" in *'"n":0,'*) echo '{"type":"same","n":0}';; *) echo '{"type":"view","n":'$n',"parts":[{"keep":[0,3]}]}';; esac"#;
    fs::write(folder.join("answer.sh"), cut).unwrap();
    let temporary = tempdir().unwrap();
    let more = ["--profile", "unlimited", "--allow-process", "--format", "json"];

    let compared: Value = parsed(
        &program(folder, [&AGAINST_MAIN[..], &more].concat())
            .env("TMPDIR", temporary.path())
            .output()
            .unwrap(),
    );
    let of = |policy: &str| {
        let on = ["--scenario", LOAD, "--profile", "unlimited", "--format", "json", "--allow-process"];
        let run = ctxsim(folder, [&["run", "--policy", policy], &on[..]].concat());
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        report["runs"][0]["totals"]["prompt_tokens_max"].as_f64().unwrap()
    };
    let changes = compared["comparisons"][0]["numbers"].as_array().unwrap();
    let longest = changes.iter().find(|it| it["place"] == "totals.prompt_tokens_max").unwrap();
    assert_eq!(
        [&longest["base"], &longest["candidate"]].map(|it| it.as_f64().unwrap()),
        [of("identity"), of("mine.ron")]
    );
    assert!(of("mine.ron") < of("identity"));
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "the checkout is removed");
    assert_eq!(fs::read_to_string(folder.join("answer.sh")).unwrap(), cut, "the working tree stays as it is");
}

#[test]
fn programs_that_cannot_be_compared_with_their_revision_never_count_as_unchanged() {
    let scripts = repository();
    let folder = scripts.0.path();

    let refused = ctxsim(folder, AGAINST_MAIN);
    fs::write(folder.join("installed.sh"), r#"echo '{"type":"same","n":'$n'}'"#).unwrap();
    scripts.answering("mine", ". ./installed.sh");
    git(folder, &["commit", "-qam", "Two"]);
    let failed = ctxsim(folder, [&AGAINST_MAIN[..], &["--allow-process"]].concat());

    assert_eq!(refused.status.code(), Some(2));
    assert_told("revision", &text(&refused.stderr));
    assert_eq!(failed.status.code(), Some(2));
    assert_says(&text(&failed.stderr), &["error[run-failed]: mine@main failed on"]);
    assert_eq!(text(&refused.stdout) + &text(&failed.stdout), "");
}

/// Makes a folder with a suite of a program that crashes, on two scenarios under two profiles, and a suite that holds.
fn suites_with_a_crash() -> Scripts {
    let scripts = Scripts::new();
    scripts.answering("crashes", "echo 'the last words' >&2; exit 3");
    let suite = |name: &str, policy: &str| {
        let text = format!(
            "name = \"{name}\"\nabout = \"A suite.\"\npolicies = [\"identity\", \"{policy}\"]\n\
             scenarios = [\"{LOAD}\", \"duckagent/plain_chat\"]\nprofiles = [\"unlimited\", \"anthropic/claude-opus-4.5\"]\n"
        );
        fs::write(scripts.0.path().join(format!("{name}.toml")), text).unwrap();
    };
    suite("broken", "crashes.ron");
    suite("good", "clear_tool_results");
    scripts
}

/// Checks both suites in a format.
fn checked(scripts: &Scripts, more: &[&str]) -> Output {
    let args = ["check", "--suite", "broken.toml", "good.toml", "--allow-process"];
    ctxsim(scripts.0.path(), [&args[..], more].concat())
}

#[test]
fn a_check_of_a_program_that_crashes_writes_a_result_in_every_format_and_tells_its_reason_once() {
    let scripts = suites_with_a_crash();

    let [junit, sarif, github] = ["junit", "sarif", "github"].map(|it| checked(&scripts, &["--format", it]));

    for output in [&junit, &sarif, &github] {
        assert_eq!(output.status.code(), Some(2));
        let told = text(&output.stderr);
        assert_eq!(told.matches("the last words").count(), 1, "{told}");
        assert_says(&told, &["error[run-failed]: crashes failed on duckagent/fix_test_loop under"]);
        assert_eq!(told.matches("duckagent/plain_chat under").count(), 2, "{told}");
    }
    let junit = text(&junit.stdout);
    let document = roxmltree::Document::parse(&junit).unwrap();
    assert_eq!(document.root_element().attribute("errors"), Some("1"));
    let error = document.descendants().find(|it| it.has_tag_name("error")).unwrap();
    assert_eq!(error.attribute("type"), Some("run-failed"));
    assert!(error.attribute("message").unwrap().starts_with("crashes failed on"), "{junit}");
    let sarif: Value = serde_json::from_slice(&sarif.stdout).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!([&result["ruleId"], &result["level"]], ["run-failed", "error"]);
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "broken.toml");
    let github = text(&github.stdout);
    assert!(github.contains("### ❌ broken could not be checked: 1 problem"), "{github}");
    assert!(github.contains("### ✅ good passed") && github.contains("::error file=broken.toml"), "{github}");
}

#[test]
fn a_check_of_a_broken_file_writes_a_result_with_its_place_and_accepts_nothing() {
    let scripts = suites_with_a_crash();
    fs::write(scripts.0.path().join("crashes.ron"), "(\n    name: 3,\n)").unwrap();

    let output = checked(&scripts, &["--format", "junit", "--bless"]);

    assert_eq!(output.status.code(), Some(2));
    let junit = text(&output.stdout);
    assert!(junit.contains("<testcase name=\"crashes.ron:2:11\" classname=\"errors\">"), "{junit}");
    assert!(!scripts.0.path().join("snapshots").exists());
    fs::write(scripts.0.path().join("ctxsim.toml"), "folders = 3\n").unwrap();
    let output = checked(&scripts, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["suites"][0]["errors"][0]["file"], "ctxsim.toml");
}

/// Returns the words that follow one of some beginnings of a line.
fn declared(text: &str, begins: &[&str]) -> Vec<String> {
    let named = text.lines().filter_map(|line| begins.iter().find_map(|it| line.strip_prefix(it)));
    let word = |it: &str| it.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    let mut names: Vec<String> = named.map(word).collect();
    names.sort();
    names
}

#[test]
fn both_helpers_offer_the_same_functions() {
    let [python, script] = ["ctxsim_policy.py", "ctxsim_policy.mjs"]
        .map(|it| fs::read_to_string(root().join("examples/policies").join(it)).unwrap());

    let names = declared(&python, &["def "]);

    assert_eq!(names, ["insert", "keep", "rewrite", "run", "sized", "view"]);
    assert_eq!(declared(&script, &["export function ", "export async function ", "export const "]), names);
    if has("node") {
        let ask = "import('./examples/policies/ctxsim_policy.mjs').then(({ view, rewrite, keep }) => {\
            const history = [0, 1, 2, 3].map((id) => ({ id }));\
            const changed = { 1: rewrite(1, 'x', { exact: true }), 2: null };\
            const both = [changed, new Map(Object.entries(changed).map(([id, it]) => [Number(id), it]))];\
            console.log(both.map((it) => JSON.stringify(view(history, it))).join('\\n'), JSON.stringify(keep(3)));\
        })";
        let output = Command::new("node").args(["-e", ask]).current_dir(root()).output().unwrap();
        let view = r#"[{"keep":[0,0]},{"rewrite":{"id":1,"text":"x","exact":true}},{"keep":[3,3]}]"#;
        assert_eq!(
            text(&output.stdout),
            format!("{view}\n{view} {{\"keep\":[3,3]}}\n"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn validation_tries_out_the_program_where_it_may_start() {
    let scripts = Scripts::new();
    let same = r#"echo '{"type":"same","n":'$n'}'"#;
    scripts.answering("is-fine", same);
    scripts.answering("lies", r#"echo '{"type":"same","n":4}'"#);
    let body = format!(
        "read -r line\necho '{READY}'\nn=0\nwhile :; do\nif read -r line; then {same}; else sleep 1; fi\nn=$((n+1))\ndone"
    );
    scripts.script("never-ends", &body, Duration(10_000));
    let validated = |name: &str| ctxsim(scripts.0.path(), ["validate", "--allow-process", name]);

    assert_eq!(text(&validated("is-fine.ron").stdout), "1 input is valid\n");
    // Needs are drawn once and not twelve times, and every play starts the program.
    let counted = format!(
        "echo started >> starts\nread -r line\necho '{READY}'\nn=0\nwhile read -r line; do\n{same}\nn=$((n+1))\ndone"
    );
    scripts.script("counted", &counted, Duration(10_000));
    assert_eq!(text(&validated("counted.ron").stdout), "1 input is valid\n");
    let starts = fs::read_to_string(scripts.0.path().join("starts")).unwrap();
    assert!((6..=20).contains(&starts.lines().count()), "{}", starts.lines().count());
    for (name, told) in [("lies.ron", "validated-lies"), ("never-ends.ron", "validated-never-ends")] {
        let output = validated(name);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_told(told, &text(&output.stderr));
    }
}

#[test]
fn the_example_in_python_equals_its_twin_in_every_row() {
    if has("python3") {
        equals_its_twin("clear_old_results_python");
    }
}

#[test]
fn the_example_in_javascript_equals_its_twin_in_every_row() {
    if has("node") {
        equals_its_twin("clear_old_results_node");
    }
}

/// Holds the rows of an example against those of the policy in stages, on recorded sessions.
fn equals_its_twin(name: &str) {
    let twin = "clear_old_results";
    let small = ["--set", "*.params.above.tokens=100", "--set", "*.params.keep.count=0"];
    let loads: [(&str, &[&str]); 4] = [
        ("recorded/claude-code", &[]),
        ("tests/data/recorded/pi-session.jsonl", &[]),
        ("tests/data/recorded/codex-rollout.jsonl", &[]),
        ("tests/data/recorded/codex-rollout.jsonl", &small),
    ];
    let mut n_changed = 0;
    for (load, more) in loads {
        let [file, twin_file] = [name, twin].map(|it| format!("examples/policies/{it}.ron"));
        let policies = ["--policy", "identity", "--policy", &twin_file, "--policy", &file];
        let on = ["--profile", "anthropic/claude-opus-4.5", "--rows", "requests", "--play-twice", load];
        let args = [&["run", "--allow-process"][..], &policies, &on, more].concat();
        let output = ctxsim(root(), &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let rows = text(&output.stdout);
        let of = |name: &str| -> Vec<String> {
            let start = format!("{{\"policy\":\"{name}\",");
            rows.lines().filter_map(|it| it.strip_prefix(&start)).map(str::to_owned).collect()
        };
        let rows = of(name);
        assert!(!rows.is_empty());
        assert_eq!(rows, of(twin), "{load}");
        n_changed += rows.iter().zip(of("identity")).filter(|(mine, other)| *mine != other).count();
    }
    assert!(n_changed > 60, "{n_changed}");
}

#[test]
fn the_helpers_that_users_copy_are_short() {
    for helper in ["ctxsim_policy.py", "ctxsim_policy.mjs"] {
        let text = fs::read_to_string(root().join("examples/policies").join(helper)).unwrap();
        assert!(text.lines().count() <= 120, "{helper}");
    }
}

#[test]
fn a_plan_of_the_library_starts_programs_only_where_it_is_told_to() {
    let scripts = Scripts::new();
    scripts.answering("mine", r#"echo '{"type":"same","n":'$n'}'"#);
    let comparison = comparing(
        &["identity", &scripts.0.path().join("mine.ron").display().to_string()],
        &[LOAD],
        &["unlimited"],
    );
    let catalog = bundled_catalog();

    assert!(Plan::new(&catalog, &comparison).unwrap_err().to_string().contains("process-not-allowed"));
    let allowed = Comparison { allow_process: true, ..comparison };
    let report = Plan::new(&catalog, &allowed).unwrap().report(None, &|_, _| {}).unwrap();
    assert_eq!(report.failures, []);
    assert_eq!(report.runs[0].tally.sums, report.runs[1].tally.sums);
}
