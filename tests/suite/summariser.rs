//! Summaries that another model writes than the session's: what its requests find in the cache, and at whose prices they are billed.

use ctxsim::catalog::Catalog;

use crate::support::*;

/// A session of the bundled catalogue under a policy of a folder of its own.
fn comparison(folder: &Path, policies: &[&str], profile: &str) -> (Catalog, Comparison) {
    let comparison = comparing(policies, &["recorded/claude-code"], &[profile]);
    (bundled_catalog().with_folder(folder).unwrap(), comparison)
}

/// A policy that compacts above 60,000 tokens, by a prompt of a kind, with or without a model of its own.
fn compacts(name: &str, prompt: &str, model: Option<&str>) -> String {
    let model = model.map_or(String::new(), |it| format!("summariser: \"{it}\","));
    format!(
        "(name: \"{name}\", about: \"Compacts.\", {model} stages: [(name: \"compact\", when: prompt(above: tokens(60_000)), \
         apply: summarise(output: tokens(2_000), prompt: {prompt}, overhead: tokens(500)))])"
    )
}

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let policies = folder.path().join("policies");
    fs::create_dir(&policies).unwrap();
    let mini = Some("openai/gpt-5.4-mini");
    for (name, prompt, model) in [
        ("own", "separate", None),
        ("mini", "separate", mini),
        ("own_aligned", "aligned", None),
        ("mini_aligned", "aligned", mini),
        ("unknown", "separate", Some("openai/gpt-5.4-mimi")),
    ] {
        fs::write(policies.join(format!("{name}.ron")), compacts(name, prompt, model)).unwrap();
    }
    folder
}

/// What each policy comes to on a recorded session.
fn tallies(policies: &[&str], profile: &str) -> Vec<Tally> {
    let folder = folder();
    let (catalog, comparison) = comparison(folder.path(), policies, profile);
    let report = Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap();
    report.runs.into_iter().map(|it| it.tally).collect()
}

/// Tokens of the summariser's requests: read, written, neither, answered.
fn asked(tally: &Tally) -> [u64; 4] {
    let tokens = tally.sums.summariser.tokens;
    [tokens.read, tokens.write.iter().sum(), tokens.uncached, tokens.output]
}

#[test]
fn the_same_requests_are_billed_at_the_summarisers_own_prices() {
    let both = tallies(&["own", "mini"], "anthropic/claude-opus-4.5");

    assert_eq!(asked(&both[0]), asked(&both[1]));
    assert_eq!(both[0].sums.main, both[1].sums.main, "what the agent sees does not depend on who sums it up");
    assert_eq!(both[0].costs.main, both[1].costs.main);
    let [_, _, input, output] = asked(&both[1]).map(|it| it as f64);
    assert!(input > 0.0);
    // Claude Opus 4.5: $5 and $25 a million; GPT-5.4 mini: $0.75 and $4.50.
    let usd = |prices: [f64; 2]| (input * prices[0] + output * prices[1]) / 1e6;
    assert!((both[0].costs.compaction.usd() - usd([5.0, 25.0])).abs() < 1e-9);
    assert!((both[1].costs.compaction.usd() - usd([0.75, 4.5])).abs() < 1e-9);
}

#[test]
fn an_aligned_prompt_finds_nothing_in_the_cache_of_another_model() {
    let both = tallies(&["own_aligned", "mini_aligned"], "anthropic/claude-opus-4.5");

    let [[own_read, ..], [read, written, ..]] = [asked(&both[0]), asked(&both[1])];
    assert!(own_read > 0);
    assert_eq!((read, written), (0, 0));
}

#[test]
fn tiers_of_the_summarisers_model_go_by_the_length_of_its_own_prompts() {
    // Flat prices beside tiered ones: both are billed request by request.
    let both = tallies(&["own", "mini"], "openai/gpt-5.4");

    assert!(both.iter().all(|it| it.costs.total().is_some()));
    assert!(both[1].costs.compaction < both[0].costs.compaction);
}

#[test]
fn a_summariser_that_is_sent_more_than_it_takes_is_told() {
    let folder = folder();
    let small = "name = \"small\"\nabout = \"Takes little.\"\nas_of = \"2026-11-22\"\nsources = [\"made up\"]\ncache = \"none\"\n\
        [limits]\ncontext_tokens = 10_000\noutput_tokens = 8_000\n[[prices]]\ninput = 1.0\noutput = 5.0\n";
    fs::create_dir(folder.path().join("profiles")).unwrap();
    fs::write(folder.path().join("profiles/small.toml"), small).unwrap();
    fs::write(folder.path().join("policies/tight.ron"), compacts("tight", "separate", Some("small")))
        .unwrap();
    let notes = |policy: &str| {
        let (catalog, comparison) = comparison(folder.path(), &[policy], "anthropic/claude-opus-4.5");
        Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap().notes.join("\n")
    };

    assert!(notes("tight").contains("takes only 10,000"), "{}", notes("tight"));
    assert!(!notes("mini").contains("would fail"), "{}", notes("mini"));
}

#[test]
fn a_model_that_nobody_knows_is_told_with_the_nearest_that_there_is() {
    let folder = folder();
    let (catalog, comparison) = comparison(folder.path(), &["unknown"], "anthropic/claude-opus-4.5");

    let told = Plan::new(&catalog, &comparison).map(|_| ()).unwrap_err().to_string();

    assert_says(&told, &["unknown.ron:1:", "openai/gpt-5.4-mini"]);
}
