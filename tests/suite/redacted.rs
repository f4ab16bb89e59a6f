//! A redacted session gives the numbers of its original, and has none of its words.

use ctxsim::app::{read_recording, redact_recording};
use ctxsim::catalog::InputKind;
use ctxsim::report::json;
use ctxsim::timeline::Recorded;
use ctxsim::timeline::import::detect_from;

use crate::support::*;

/// Words of the form itself: its fields, and the names of kinds, causes, rules, levels, formats and flags.
const VOCABULARY: &str = "after again agent answers approval aside asked assistant atif before begins breakpoints cache characters claude \
    cleared codex compacts compactions content copilot ctxsim counts drops draws evidence exact exchange false file flags \
    forgets format gemini handle harness has height hits image inspect kimi level literals local long makes marks mentions messages number \
    model needs old opencode otel output path pixels polled raw read reasoning reply request requests response restart results \
    rewound rule same schema session short side sizes skill spread stable stands summarised summary system text tokens tool \
    uncached undone usage user version weight width write qwen detail continuation conclusion global fixed memory files agents tools outcome submitted value";

/// Returns the files below a folder that hold a recorded session.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            below(&path, files);
        } else if is_session(&path) {
            files.push(path);
        }
    }
}

fn is_session(path: &Path) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    matches!(detect_from(&mut bytes.as_slice()), Ok(Some(_)))
        && read_recording(&bundled_catalog(), path.to_str().unwrap()).is_ok()
}

fn samples() -> Vec<PathBuf> {
    let root = root();
    let mut files = Vec::new();
    below(&root.join("tests/data/recorded"), &mut files);
    below(&root.join("scenarios/recorded"), &mut files);
    files
}

fn references() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return Vec::new() };
    let mut files = Vec::new();
    ["formats", "recorded/claude-code", "recorded/codex", "recorded/pi"]
        .iter()
        .for_each(|it| below(&root.join(it), &mut files));
    files
}

/// A session and its redaction, each in a folder of its own under one name.
struct Pair {
    _folder: TempDir,
    original: String,
    redacted: String,
    text: String,
}

fn pair(path: &Path) -> Pair {
    let folder = tempdir().unwrap();
    let file = |name: &str| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder.join("session.jsonl")
    };
    let (original, copy) = (file("one"), file("two"));
    fs::copy(path, &original).unwrap();
    let text = redact_recording(&bundled_catalog(), original.to_str().unwrap()).unwrap();
    fs::write(&copy, &text).unwrap();
    let [original, redacted] = [original, copy].map(|it| it.to_str().unwrap().to_owned());
    Pair { _folder: folder, original, redacted, text }
}

/// The bundled policies that play on a session and quote none of its words.
fn policies(path: &str) -> Vec<String> {
    let catalog = bundled_catalog();
    let names: Vec<String> = catalog.names(InputKind::Policy).map(str::to_owned).collect();
    let reads_no_words = |name: &String| {
        let spec = catalog.policy(name).unwrap().spec;
        Policy::new(&spec).is_ok() && spec.templates.is_empty()
    };
    let plays = |name: &String| Plan::new(&catalog, &comparison(path, vec![name.clone()])).is_ok();
    names.into_iter().filter(reads_no_words).filter(plays).collect()
}

fn comparison(path: &str, policies: Vec<String>) -> Comparison {
    Comparison { policies, ..comparing(&[], &[path], &["anthropic/claude-opus-4.5"]) }
}

/// Returns the runs of a report, without what says in words where they come from.
fn runs(path: &str, policies: &[String]) -> Vec<Value> {
    let catalog = bundled_catalog();
    let plan = Plan::new(&catalog, &comparison(path, policies.to_vec())).unwrap();
    let report = plan.report(Some(2), &|_, _| {}).unwrap();
    let document: Value = serde_json::from_str(&json::report_json(&report).unwrap()).unwrap();
    let mut runs = document["runs"].as_array().unwrap().clone();
    for run in &mut runs {
        let run = run.as_object_mut().unwrap();
        ["scenario", "assumptions", "notes"].iter().for_each(|it| _ = run.remove(*it));
    }
    runs
}

/// Compares the reports of sessions with those of their redactions.
fn compare(files: &[PathBuf]) {
    let mut policies_of_items = Vec::new();
    for path in files {
        let pair = pair(path);
        if policies_of_items.is_empty() {
            policies_of_items = policies(&pair.original);
            assert!(policies_of_items.len() > 60, "{}", policies_of_items.len());
        }
        let (before, after) =
            (runs(&pair.original, &policies_of_items), runs(&pair.redacted, &policies_of_items));
        assert!(!before.is_empty(), "{}", path.display());
        assert_eq!(before.len(), after.len(), "{}", path.display());
        for (nth, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!(
                before,
                after,
                "{}: {}",
                path.display(),
                policies_of_items[nth % policies_of_items.len()]
            );
        }
    }
}

#[test]
fn what_prompts_begin_with_and_what_was_billed_aside_is_kept() {
    let (mut seen, mut n_agents) = (BTreeSet::new(), 0);
    for path in samples() {
        let pair = pair(&path);
        let [before, after] =
            [&pair.original, &pair.redacted].map(|it| read_recording(&bundled_catalog(), it).unwrap());
        for (before, after) in before.iter().zip(&after) {
            let [before, after] = [before, after].map(|it| it.timeline.recorded.as_ref().unwrap());
            assert_eq!(before.fixed, after.fixed, "{}", path.display());
            assert_eq!(before.aside, after.aside, "{}", path.display());
            let counts = |of: &Recorded| {
                of.agents.iter().map(|it| (it.tokens, it.tools, it.agents)).collect::<Vec<_>>()
            };
            assert_eq!((counts(before), &before.plan), (counts(after), &after.plan), "{}", path.display());
            n_agents += before.agents.len();
            seen.extend(before.fixed.iter().map(|it| it.1));
        }
    }
    assert!(seen.len() >= 3 && n_agents >= 3, "{seen:?}, {n_agents}");
}

/// Returns the words of a text: five letters and more in a row.
fn words(text: &str) -> BTreeSet<String> {
    let runs = text.split(|it: char| !it.is_alphabetic());
    runs.filter(|it| it.chars().count() >= 5).map(str::to_lowercase).collect()
}

/// Returns the names in the lists of tools in a policy.
fn tools_of(policy: &Value) -> Vec<String> {
    let Some(fields) = policy.as_object() else {
        return policy.as_array().into_iter().flatten().flat_map(tools_of).collect();
    };
    let tools = fields.iter().filter(|it| it.0.ends_with("tools")).filter_map(|it| it.1.as_array());
    let tools = tools.flatten().filter_map(|it| it.as_str()).map(str::to_owned);
    tools.chain(fields.values().flat_map(tools_of)).collect()
}

/// Looks for words in redacted sessions that neither the form, a table of tools, a policy nor a model brings.
fn search(files: &[PathBuf]) {
    let tables = fs::read_dir(root().join("assumptions/tools")).unwrap();
    let tables: String = tables.map(|it| fs::read_to_string(it.unwrap().path()).unwrap()).collect();
    let tools = tables.lines().filter_map(|it| it.strip_prefix("[tools.")?.split(']').next());
    let policies = bundled_catalog();
    let named = policies.names(InputKind::Policy).map(|it| policies.policy(it).unwrap().spec);
    let of_policies: Vec<String> =
        named.flat_map(|it| tools_of(&serde_json::to_value(it).unwrap())).collect();
    let known = tools.chain([VOCABULARY]).chain(of_policies.iter().map(String::as_str));
    let known: BTreeSet<String> = known.flat_map(words).collect();
    for path in files {
        let pair = pair(path);
        let sessions = read_recording(&bundled_catalog(), &pair.original).unwrap();
        let models = sessions.iter().flat_map(|it| &it.timeline.models).flat_map(|it| words(&it.name));
        let known: BTreeSet<String> = known.iter().cloned().chain(models).collect();
        let told: Vec<String> = words(&pair.text).difference(&known).cloned().collect();
        assert_eq!(told, [""; 0], "{}", path.display());
    }
}

/// Samples with compactions, sub-agents, files that are read again and totals that are spread.
const QUICK: [&str; 4] =
    ["opencode-part.json", "inspect-part.json", "kimi-agents.jsonl", "copilot-cli-session.jsonl"];

#[test]
fn a_redacted_session_gives_the_numbers_of_its_original_under_every_policy_that_quotes_no_words() {
    let is_quick = |it: &PathBuf| QUICK.iter().any(|name| it.ends_with(name));
    let files: Vec<PathBuf> = samples().into_iter().filter(is_quick).collect();
    assert_eq!(files.len(), QUICK.len());
    compare(&files);
}

#[test]
#[ignore = "slow: all samples"]
fn every_redacted_sample_gives_the_numbers_of_its_original() {
    compare(&samples());
}

#[test]
fn a_redacted_session_has_no_word_of_its_original() {
    let files = samples();
    assert!(files.len() > 20);
    search(&files);
}

#[test]
#[ignore = "slow: hundreds of sessions"]
fn redacted_reference_sessions_give_the_numbers_of_their_originals_and_have_none_of_their_words() {
    let files = references();
    search(&files);
    compare(&files);
}
