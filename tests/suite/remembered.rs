//! What memories hold, beside what they cost: in snapshots, comparisons, sweeps and under many price lists.

use ctxsim::memory::RequestWriter;
use ctxsim::report::rows::{RowContext, request_rows};

use crate::support::*;

const PROFILE: &str = "anthropic/claude-haiku-4.5";
const NEEDLES: &str = "--scenario context_decay/trials --set scenario.load.conversation.trials=3 --set scenario.load.conversation.lengths=[50,200]";
const AGEING: &str = "--scenario aging/s2_10 --set scenario.load.aging.trials=3";
const CHATS: &str = "--scenario memory_runners/long --set scenario.load.chats.trials=3 --set scenario.load.chats.from.generated.sessions=6";

/// Runs a command line under one profile and returns the JSON document that it prints.
fn document(args: &str) -> Value {
    let args = format!("{args} --profile {PROFILE} --format json");
    parsed(&ctxsim(root(), args.split_whitespace()))
}

fn report(policies: &[&str], load: &str) -> Report {
    let owned = |it: &str| it.to_owned();
    let words: Vec<&str> = load.split_whitespace().collect();
    let set = words.iter().zip(words.iter().skip(1)).filter(|it| *it.0 == "--set").map(|it| owned(it.1));
    let comparison = Comparison {
        policies: policies.iter().map(|it| owned(it)).collect(),
        set: set.collect(),
        ..comparing(&[], &[words[1]], &[PROFILE])
    };
    reported(&comparison)
}

#[test]
fn a_total_that_an_ageing_memory_gets_wrong_moves_its_snapshot() {
    let folder = tempdir().unwrap();
    let check = |totals: &str, more: &[&str]| {
        let policy = format!(
            "(name: \"mine\", about: \"A\", base: \"aging/lossy\", memory: sessions(write: (totals: {totals}), store: summary(prompt: \"lossy\")))"
        );
        fs::write(folder.path().join("mine.ron"), policy).unwrap();
        let suite = format!(
            "name = \"suite\"\nabout = \"A\"\npolicies = [\"mine.ron\"]\nscenarios = [\"aging/s2_10\"]\nprofiles = [\"{PROFILE}\"]\nset = [\"scenario.load.aging.trials=3\"]"
        );
        fs::write(folder.path().join("suite.toml"), suite).unwrap();
        let args = [&["check", "--suite", "suite.toml"][..], more].concat();
        program(folder.path(), args).env("CI", "1").output().unwrap()
    };

    assert!(check("fold", &["--bless"]).status.success());
    assert!(check("fold", &[]).status.success());
    let moved = check("sum", &[]);

    let text = String::from_utf8(moved.stdout).unwrap();
    assert_eq!(moved.status.code(), Some(1), "{text}");
    assert!(text.contains("error in totals"), "{text}");
}

#[test]
fn snapshots_hold_what_each_kind_of_memory_forgets() {
    let heads = |policy: &str, load: &str| {
        let text = report(&[policy], load).snapshot_tables()[0].text.clone();
        text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };

    let ageing = heads("aging/lossy", AGEING);
    assert!(ageing.contains("US dollars mean score") && ageing.contains("error in totals"), "{ageing}");
    let chats = heads("memory_runners/entries", CHATS);
    assert!(chats.contains("US dollars right answers single facts updates"), "{chats}");
    assert!(heads("context_decay/memory_banks", NEEDLES).ends_with("accuracy US dollars"));
}

#[test]
fn two_memories_are_compared_by_what_they_remember_on_the_same_draws() {
    for (policies, load, place) in [
        (["aging/lossy", "aging/careful"], AGEING, "aging.mean.mean"),
        (
            ["memory_runners/context_only", "memory_runners/entries"],
            CHATS,
            "memory_calls.accuracy.overall.mean",
        ),
        (
            ["context_decay/naive_truncation", "context_decay/memory_banks"],
            NEEDLES,
            "retention.accuracy.mean",
        ),
    ] {
        let document =
            document(&format!("compare --base {} --candidate {} {load}", policies[0], policies[1]));
        let numbers = document["comparisons"][0]["numbers"].as_array().unwrap();
        let it = numbers.iter().find(|it| it["place"] == place).unwrap();
        let runs = report(&policies, load).runs;
        let [base, candidate] = [0, 1].map(|nth| runs[nth].remembered().next().unwrap().number.mean);
        assert_eq!((it["base"].as_f64(), it["candidate"].as_f64()), (Some(base), Some(candidate)), "{place}");
        let [low, high] = [0, 1].map(|nth| it["interval"][nth].as_f64().unwrap());
        assert!(low <= candidate - base && candidate - base <= high, "{place}: {low} to {high}");
    }
}

#[test]
fn a_sweep_and_price_lists_show_the_number_of_a_run() {
    for (policies, load, vary, place) in [
        (["identity", "aging/lossy"], AGEING, "memory.sessions.write.totals=fold", "aging.mean.mean"),
        (
            ["identity", "memory_runners/entries"],
            CHATS,
            "memory.service.write.entries=true",
            "memory_calls.accuracy.overall.mean",
        ),
        (
            ["identity", "context_decay/memory_banks"],
            NEEDLES,
            "params.window.ratio=0.15",
            "retention.accuracy.mean",
        ),
    ] {
        let of_run = report(&policies, load).runs[1].remembered().next().unwrap();
        assert_eq!(of_run.place, place);

        let swept = document(&format!("sweep --policy {} --vary {vary} {load}", policies[1]));
        assert_eq!(swept["points"][0]["numbers"][place].as_f64(), Some(of_run.number.mean), "{place}");
        assert_eq!(swept["front"], json!([0]), "{place}: what does the work is on the front");
        let priced = document(&format!("sensitivity --policy {} {} {load}", policies[0], policies[1]));
        let cell = &priced["loads"][0]["cells"][1];
        assert_eq!(cell["remembered"]["mean"].as_f64(), Some(of_run.number.mean), "{place}");
    }
}

#[test]
fn price_lists_charge_memories_what_a_run_charges_them() {
    for (policies, load) in [
        (["identity", "aging/lossy"], AGEING),
        (["memory_runners/context_only_hosted", "memory_runners/entries"], CHATS),
    ] {
        let runs = report(&policies, load).runs;
        let priced = document(&format!("sensitivity --policy {} {} {load}", policies[0], policies[1]));
        for (run, cell) in runs.iter().zip(priced["loads"][0]["cells"].as_array().unwrap()) {
            assert_eq!(cell["cost_usd"].as_f64(), run.tally.costs.total(), "{}", run.policy);
            let rates = cell["rates"].as_object().unwrap();
            let paid: f64 = rates.values().filter_map(|it| it["elasticity"].as_f64()).sum();
            assert!(paid <= 1.0 + 1e-9, "{}: rates are charged at most the whole bill", run.policy);
        }
    }
}

#[test]
fn rows_name_the_session_of_their_turn() {
    let mut writer = RequestWriter::new("three", 100, false);
    (0..3).for_each(|_| writer.request(50, 10, None));
    let timeline = writer.finish().timeline;
    let policy = Policy::new(&PolicyFile::named("identity")).unwrap();
    let profile = Profile::new(&bundled_catalog().profile(PROFILE).unwrap().spec).unwrap();
    let mut rows = Rows::default();
    Simulation::new(&timeline, &policy, &profile.limits, &profile.cache).run(&mut rows);

    let sessions = &timeline.spine.sessions;
    let context = RowContext {
        policy: &policy,
        scenario: "s",
        sessions,
        recorded: None,
        misses: &[],
        profile: &profile,
        names_run: false,
    };
    let all = serde_json::to_value(request_rows(&rows, context, &[])).unwrap();

    let sessions = all.as_array().unwrap().iter().map(|it| it["session"].as_u64().unwrap());
    assert_eq!(sessions.collect::<Vec<_>>(), [0, 1, 2]);
}
