//! Every example of the documents runs: commands here, Rust as examples of the crate, Python and JavaScript in the tests of the bindings.

use crate::blocks::{Block, NEEDS, blocks, documents, spans};
#[cfg(unix)]
use crate::guide::{self, played, run, run_steps};
use crate::support::*;

/// The most blocks of the documents and of the code that may be left unrun.
const UNRUN_MAX: usize = 25;

/// Words of a command line that have commands below them.
const GROUPS: [&str; 4] = ["init", "list", "prices", "show"];

/// Flags that make a verb do something else, with options of its own.
const FORMS: [&str; 7] = ["--merge", "--store", "--fit", "--as", "--redact", "--schema", "--man"];

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns the blocks of all documents, each with the document.
fn all() -> Vec<(String, Block)> {
    let of = |(path, text): (String, String)| blocks(&text).into_iter().map(move |it| (path.clone(), it));
    documents().into_iter().flat_map(of).collect()
}

/// Returns whether a block is a program that a policy starts.
fn is_program(block: &Block) -> bool {
    block.text().contains("ctxsim_policy")
}

/// Returns what a block is run by, if anything runs it.
fn runner(document: &str, block: &Block) -> Option<&'static str> {
    Some(match (block.language.as_str(), block.path()) {
        ("console", None) => "guide.rs holds what it prints",
        ("sh" | "yaml", None) => "its commands are run here",
        ("ron" | "toml" | "csv", Some(_)) => "it is written for the commands of its document",
        ("python" | "js", Some(_)) if is_program(block) => "a policy starts it here",
        ("python", None) if document != "bindings/wasm/README.md" => {
            "bindings/python/tests/test_documents.py"
        }
        ("js", None) if document != "bindings/python/README.md" => "bindings/wasm/tests/documents.test.mjs",
        ("rust", None) => "it is one of `examples/`, which rustdoc runs",
        ("toml", None) => "its tables are read here",
        ("jsonl", None) => "its lines are read here",
        ("text", None) => "it shows something: a picture, or what is printed",
        _ => return None,
    })
}

#[test]
fn each_block_says_what_it_is_and_few_are_not_run() {
    let mut unrun = Vec::new();
    for (document, block) in all() {
        let at = format!("{document}:{}", block.line);
        assert!(runner(&document, &block).is_some(), "{at}: nothing runs `{}`", block.opening());
        if let Some(reason) = block.needs() {
            assert!(NEEDS.iter().any(|it| it.0 == reason), "{at}: `{reason}` is not a reason: {NEEDS:?}");
            unrun.push(at.clone());
        }
        if block.language == "text" {
            let command =
                |it: &&String| ["ctxsim ", "$ ", "cargo ", "import "].iter().any(|word| it.starts_with(word));
            assert_eq!(block.body.iter().find(command), None, "{at}: a command stands in a block of `sh`");
        }
    }
    unrun.extend(unrun_in_code());
    assert!(!unrun.is_empty() && unrun.len() <= UNRUN_MAX, "{unrun:#?}");
}

/// Returns the examples in comments of the code that rustdoc does not run.
fn unrun_in_code() -> Vec<String> {
    let mut found = Vec::new();
    for path in ["src", "crates"].iter().flat_map(|it| files_below(&root().join(it), &["rs"])) {
        let text = fs::read_to_string(&path).unwrap();
        let words = ["ignore", "no_run", "compile_fail"].map(|it| format!("```{it}"));
        let lines = text.lines().enumerate().filter(|(_, it)| words.iter().any(|word| it.contains(word)));
        found.extend(lines.map(|(at, it)| format!("{}:{}: {}", path.display(), at + 1, it.trim())));
    }
    found
}

#[test]
fn the_rust_of_the_documents_is_that_of_the_examples() {
    let folder = root().join("examples");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_file());
    let texts: Vec<String> = files.map(|it| fs::read_to_string(it).unwrap()).collect();
    let codes: BTreeSet<&str> = texts.iter().map(|it| it.split_once("\n\n").unwrap().1.trim()).collect();
    let mut count = 0;

    for (document, block) in all().into_iter().filter(|it| it.1.language == "rust") {
        assert!(codes.contains(block.text().trim()), "{document}:{}: no example has this code", block.line);
        count += 1;
    }

    assert!(count > 0);
    let rustdoc = read("src/lib.rs");
    for path in rustdoc.lines().filter_map(|it| it.split_once("include_str!(\"../")?.1.split_once('"')) {
        assert!(root().join(path.0).is_file(), "{}", path.0);
    }
}

/// Returns the features that a table of dependencies asks of the crate, beside those that are on without asking.
fn features_of(dependencies: &toml::Table) -> Vec<String> {
    let ctxsim = &dependencies["dependencies"]["ctxsim"];
    assert_eq!(ctxsim.get("default-features").and_then(toml::Value::as_bool), Some(false));
    let features = ctxsim.get("features").and_then(toml::Value::as_array).unwrap();
    features.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_library_s_example_is_run_with_the_features_that_the_readme_names() {
    let block = all().into_iter().find(|it| it.1.path() == Some("Cargo.toml")).unwrap().1;
    let features = features_of(&block.text().parse().unwrap());

    let crate_file: toml::Table = read("Cargo.toml").parse().unwrap();
    let known = crate_file["features"].as_table().unwrap();
    assert!(features.iter().all(|it| known.contains_key(it)), "{features:?}");
    let doctests = format!("lean=(--no-default-features --features {})", features.join(","));
    if let Ok(checks) = fs::read_to_string(root().join(".ci/run")) {
        assert!(checks.contains(&doctests), ".ci/run should have `{doctests}`");
    }
}

#[test]
fn each_table_of_cache_rules_in_the_documents_is_that_of_a_profile() {
    let plain: toml::Table = read("tests/data/small/profiles/plain.toml").parse().unwrap();
    let folder = tempdir().unwrap();
    let mut names = Vec::new();
    for (_, block) in all().into_iter().filter(|it| it.1.language == "toml" && it.1.path().is_none()) {
        let table: toml::Table = block.text().parse().unwrap();
        for (rule, fields) in table["cache"].as_table().unwrap() {
            let mut profile = plain.clone();
            profile.insert("name".to_owned(), rule.clone().into());
            let cache = toml::Table::from_iter([(rule.clone(), fields.clone())]);
            profile.insert("cache".to_owned(), cache.into());
            fs::write(folder.path().join(format!("{rule}.toml")), profile.to_string()).unwrap();
            names.push(format!("{rule}.toml"));
        }
    }
    assert!(names.len() >= 4, "{names:?}");

    let output = ctxsim(folder.path(), [&["validate".to_owned()][..], names.as_slice()].concat());

    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_messages_of_the_documents_are_lines_of_json() {
    let mut types = BTreeSet::new();
    for (_, block) in all().into_iter().filter(|it| it.1.language == "jsonl") {
        let text = block.text().replace(['→', '←'], "");
        for message in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            types.insert(message.unwrap()["type"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(types.into_iter().collect::<Vec<_>>(), ["open", "ready", "request", "same", "view"]);
}

/// Returns the command lines of all documents, in blocks and in sentences, each with its place.
fn command_lines() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (document, text) in documents() {
        for block in blocks(&text).iter().filter(|it| it.language == "sh") {
            lines.extend(block.commands().map(|it| (format!("{document}:{}", block.line), it.to_owned())));
        }
        lines.extend(spans(&text).into_iter().map(|it| (document.clone(), it)));
    }
    lines.retain(|it| it.1.starts_with("ctxsim "));
    lines
}

#[test]
fn each_command_and_option_that_a_document_names_exists() {
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let lines = command_lines();
    assert!(lines.len() > 100, "{}", lines.len());
    for (at, line) in lines {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let verbs = match words.as_slice() {
            [group, verb, ..] if GROUPS.contains(group) && !verb.starts_with('-') => vec![*group, *verb],
            [verb, ..] if verb.chars().all(|it| it.is_ascii_lowercase()) => vec![*verb],
            [option, ..] if option.starts_with('-') => Vec::new(),
            // Sessions alone are run.
            _ => vec!["run"],
        };
        // The value of `--as` says what is meant, and a command stands behind `--store`.
        let form = words.iter().position(|it| FORMS.contains(it));
        let is_two = |it: &usize| ["--as", "--store"].contains(&words[*it]);
        let form = form.map(|it| &words[it..words.len().min(it + 1 + usize::from(is_two(&it)))]);
        let verbs =
            [&verbs[..1.min(verbs.len())], form.unwrap_or(verbs.get(1..).unwrap_or_default())].concat();
        let verbs: Vec<String> = verbs.into_iter().map(str::to_owned).collect();
        let help = helps.entry(verbs.clone()).or_insert_with(|| {
            out(&ctxsim(
                Path::new(env!("CARGO_TARGET_TMPDIR")),
                [&verbs[..], &["--help".to_owned()]].concat(),
            ))
        });
        for option in words.iter().filter(|it| it.starts_with("--")) {
            let name = option.split('=').next().unwrap().trim_end_matches([',', '…']);
            assert!(help.contains(name), "{at}: `{line}`: there is no `{name}`");
        }
    }
}

/// The session that the repository has, as another one of another day.
#[cfg(unix)]
fn session(nth: usize, day: &str) -> String {
    let text = read("scenarios/recorded/claude-code-session.jsonl");
    let text = text.replace("2026-01-15", day).replace("msg_", &format!("msg_{nth}"));
    text.replace("\"uuid\":\"", &format!("\"uuid\":\"{nth}"))
        .replace("\"parentUuid\":\"", &format!("\"parentUuid\":\"{nth}"))
}

/// Gives a document what its commands take for granted, where it does not write that itself: sessions, prices, a repository.
#[cfg(unix)]
fn give(folder: &Path, document: &str) {
    // Two sessions are enough for most; advice takes six.
    let days = ["02", "03", "04", "05", "06", "09"].map(|it| format!("2026-11-{it}"));
    let mut given: Vec<(String, String)> = Vec::new();
    for (nth, day) in days.iter().enumerate() {
        let places = ["home/.claude/projects/mine", "logs/mine", "sessions", "SESSIONS"];
        for place in &places[..if nth < 2 { 4 } else { 1 }] {
            given.push((format!("{place}/{day}.jsonl"), session(nth, day)));
        }
    }
    let mine = "(name: \"own\", about: \"Ours.\", base: \"clear_tool_results\")";
    for (path, text) in [
        ("home/.claude/settings.json", "{\"autoCompactWindow\": 160000}".to_owned()),
        ("session.jsonl", session(0, &days[0])),
        ("rollout.jsonl", read("tests/data/recorded/codex-rollout.jsonl")),
        ("prices.json", read("tests/data/prices/litellm/prices.json")),
        ("longmemeval_s_cleaned.json", read("scenarios/memory_runners/spec_questions.json")),
        ("my/policies/own.ron", mine.to_owned()),
    ] {
        given.push((path.to_owned(), text));
    }
    for (path, text) in given {
        let path = folder.join(path);
        if !path.exists() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    if document.contains("rev:main") && !folder.join(".git").exists() {
        let begin =
            "git init --quiet --initial-branch main && git add . && git commit --quiet --message begin";
        assert!(run(begin, folder).status.success());
    }
}

/// Returns the commands of a block, as a scheduler would start them.
#[cfg(unix)]
fn started(block: &Block) -> Vec<String> {
    let variables = "export SLURM_ARRAY_TASK_ID=1 JOB_COMPLETION_INDEX=0\n";
    let commands: Vec<String> = match block.language.as_str() {
        "sh" => block.commands().map(str::to_owned).collect(),
        "yaml" => {
            let last = |it: &str| serde_json::from_str::<Vec<String>>(it).unwrap().pop().unwrap();
            let lists = block.body.iter().filter_map(|it| it.strip_prefix("command: ")).map(last);
            run_steps(&block.text()).into_iter().chain(lists).collect()
        }
        _ => Vec::new(),
    };
    commands
        .into_iter()
        .map(|it: String| format!("{variables}{}", it.replace("${{ matrix.shard }}", "1")))
        .collect()
}

/// Without optimisation, the documents' commands take minutes of one core.
#[cfg(unix)]
#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_commands_of_the_documents_run() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (document, text) in documents() {
        let folder = tempdir().unwrap();
        let folder = folder.path();
        guide::beside(&text, folder);
        played(&text, folder);
        helpers(folder);
        give(folder, &text);
        for block in blocks(&text).iter().filter(|it| it.needs().is_none()) {
            let mut commands = started(block);
            if block.path().is_some_and(|it| it.ends_with(".ron")) {
                commands.push(format!("ctxsim validate {}", block.path().unwrap()));
            }
            for command in commands {
                if command.contains("--allow-process") && !has("node") {
                    continue;
                }
                count += 1;
                let output = run(&command, folder);
                if output.status.code().is_none_or(|it| it > 1) {
                    let told = String::from_utf8_lossy(&output.stderr).into_owned();
                    wrong.push(format!("{document}:{}: {command}\n{told}", block.line));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 60, "{count}");
}

/// Writes the helpers of policies that are programs beside those that need them.
#[cfg(unix)]
fn helpers(folder: &Path) {
    if folder.join("policies").is_dir() {
        for name in ["ctxsim_policy.mjs", "ctxsim_policy.py"] {
            fs::write(folder.join("policies").join(name), read(&format!("examples/policies/{name}")))
                .unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn the_programs_of_the_documents_are_one_policy() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let document = read("docs/reference/processes.md");
    played(&document, folder);
    helpers(folder);
    let policy = fs::read_to_string(folder.join("policies/mine.ron")).unwrap();
    let rows = |command: &str| {
        let changed = policy.replace("\"node\", \"policy.mjs\"", command);
        fs::write(folder.join("policies/mine.ron"), changed).unwrap();
        let on = "--scenario recorded/claude-code --profile anthropic/claude-opus-4.5 --rows requests --format jsonl";
        let output = run(&format!("ctxsim run --allow-process --policy policies/mine.ron {on}"), folder);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let programs = [("node", "\"node\", \"policy.mjs\""), ("python3", "\"python3\", \"policy.py\"")];

    let found: Vec<String> = programs.iter().filter(|it| has(it.0)).map(|it| rows(it.1)).collect();

    for rows in &found {
        assert_eq!(rows, &found[0]);
        assert!(rows.lines().any(|it| !it.contains("\"actions\":0,")), "the policy acts: {rows}");
    }
}
