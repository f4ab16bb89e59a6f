//! Recordings under models that count tokens differently.

use ctxsim::input::profile::{Factor, Family};
use ctxsim::report::sensitivity::markdown;
use ctxsim::take::Sinks;

use crate::support::*;

/// A recording that Claude Opus 4.5 answered.
const SESSION: &str = "recorded/claude-code";

/// A profile without cache and with plain prices, which declares what its models count.
fn profile(folder: &Path, tokenizer: &str) -> String {
    let text = format!(
        r#"name = "mine"
about = "A model of this test."
as_of = "2026-11-25"
sources = ["this test"]
{tokenizer}

cache = "none"

[[prices]]
input = 1.0
output = 10.0
"#
    );
    let path = folder.join("mine.toml");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn plan(profiles: &[&str], policies: &[&str]) -> Plan {
    planned(&comparing(policies, &[SESSION], profiles))
}

fn load(plan: &Plan) -> Load {
    plan.open(&plan.scenarios[0]).unwrap().remove(0)
}

fn report(profiles: &[&str]) -> Report {
    plan(profiles, &["identity", "clear_tool_results"]).report(Some(1), &|_, _| {}).unwrap()
}

fn factor() -> Factor {
    Family::named("claude-3").unwrap().factor_to(Family::named("o200k").unwrap())
}

/// The prompts of a session where everything is kept, item by item.
fn prompts(timeline: &Timeline, size: impl Fn(u32) -> u32) -> Vec<u64> {
    let spine = &timeline.spine;
    let shown = |end: usize| spine.items[..end].iter().map(|it| u64::from(size(it.raw))).sum::<u64>();
    spine.steps.iter().map(|it| shown(it.reply.start as usize)).collect()
}

#[test]
fn each_prompt_is_the_sum_of_its_parts_counted_anew() {
    let folder = TempDir::new().unwrap();
    let mine = profile(folder.path(), "tokenizer = \"o200k\"");
    let load = load(&plan(&[&mine], &["identity"]));
    let timeline = load.timeline().unwrap();

    let rows = load.takes(&Sinks { rows: true, ..Sinks::default() }, &|_, _| {});

    let unread = factor().tokens(timeline.harness.unread_tokens);
    let expected = prompts(timeline, |it| factor().size(it)).into_iter().map(|it| it + unread);
    let own = rows.of(0, 0).unwrap().rows.as_ref().unwrap();
    let own: Vec<u64> = own.requests.iter().filter(|it| it.role == Role::Main).map(|it| it.prompt).collect();
    assert_eq!(own, expected.collect::<Vec<_>>());
    assert!(own.len() > 5);
}

#[test]
fn a_profile_of_the_family_that_was_recorded_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let mine = profile(folder.path(), "tokenizer = \"claude-3\"");
    let other = TempDir::new().unwrap();
    let silent = profile(other.path(), "");
    let [own, silent] = [&mine, &silent].map(|it| report(&[it]));

    let costs = |it: &Report| it.runs.iter().map(|it| it.tally.costs.total()).collect::<Vec<_>>();
    assert_eq!(costs(&own), costs(&silent));
    let is_told = |it: &Report| it.all_notes().iter().any(|it| it.contains("Nobody has published"));
    assert!(!is_told(&own) && is_told(&silent));
}

#[test]
fn a_verdict_says_that_nobody_knows_how_a_model_counts_and_the_profile_may() {
    let folder = TempDir::new().unwrap();
    let silent = report(&[&profile(folder.path(), "")]).verdict_lines().concat();
    let told = report(&[&profile(folder.path(), "tokenizer = \"qwen\"")]).verdict_lines().concat();

    assert!(silent.contains("How many tokens mine would count is not known"), "{silent}");
    assert!(!told.contains("would count is not known"), "{told}");
}

#[test]
fn a_cost_s_interval_is_as_wide_as_what_is_known_of_the_counts() {
    let folder = TempDir::new().unwrap();
    let mine = profile(folder.path(), "tokenizer = \"o200k\"");
    let report = report(&[&mine]);

    let kept = &report.runs[0].tally;
    let (cost, [low, high]) = (kept.costs.total().unwrap(), kept.cost_interval().unwrap());
    let [few, many] = factor().shares();
    assert!((low / cost - few).abs() < 1e-9 && (high / cost - many).abs() < 1e-9, "{low} {cost} {high}");
    assert!(few < 0.95 && many > 1.05);
}

#[test]
fn explanations_count_as_their_runs_do() {
    let folder = TempDir::new().unwrap();
    let mine = profile(folder.path(), "tokenizer = \"o200k\"");
    let out = |args: &[&str]| {
        let output = ctxsim(root(), args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let named = ["--policy", "identity", "--scenario", SESSION, "--profile", &mine, "--format", "json"];

    let rows = out(&[&["run", "--rows", "requests"][..], &named].concat());
    let explained = out(&[&["explain", "--request", "5"][..], &named].concat());

    let row = &rows.as_array().unwrap()[4];
    assert_eq!(explained["row"]["prompt_tokens"], row["prompt_tokens"], "{explained:#} {row:#}");
}

#[test]
fn price_lists_side_by_side_say_how_their_models_count() {
    let all = ["anthropic/claude-opus-4.5", "openai/gpt-5.4", "openai/gpt-6-sol"];
    let sensitivity = plan(&all, &["identity"]).sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap();

    let counts: Vec<String> = sensitivity.profiles.iter().filter_map(|it| it.counts()).collect();
    assert_eq!(counts, ["as recorded", "×0.77 [0.73, 0.84]", "not known"]);
    let told = markdown(&sensitivity, false);
    assert!(told.contains("of 1, nobody has published how"), "{told}");
}
