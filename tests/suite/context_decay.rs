//! The Context Decay Benchmark: its published script row by row, its means over many trials, and what memories lose.

mod report;

use ctxsim::app::{self};
use ctxsim::error::Error;
use ctxsim::memory::export::Export;
use ctxsim::report::json;
use ctxsim::take::Progress;
use ctxsim::worlds::needles::ConversationLoad;
use ctxsim::worlds::needles::trial::{LOSSES, LoadTrial, QUARTILES, STATES};

use crate::support::*;

/// Returns a file below the tests' data.
fn data(path: &str) -> PathBuf {
    root().join("tests/data/context_decay").join(path)
}

/// Plans the suite with some overrides.
fn plan(set: &[&str]) -> Plan {
    Plan::new(&bundled_catalog(), &comparison(set)).unwrap()
}

fn comparison(set: &[&str]) -> Comparison {
    Comparison { suite: Some("context-decay".to_owned()), set: owned(set), ..Comparison::default() }
}

fn quietly(plan: &Plan, threads: usize) -> Report {
    plan.report(Some(threads), &|_, _| {}).unwrap()
}

/// Returns the trials of a plan, each with its policy.
fn trials(plan: &Plan, threads: usize) -> Vec<(String, LoadTrial)> {
    let of = |load: &Load, it: Progress<'_>| load.world::<ConversationLoad>().unwrap().trials_of(load, it);
    let runs = plan.map_loads(Some(threads), &|_, _| {}, of).unwrap().concat();
    let named = |(cell, trials): (ctxsim::take::Cell, Vec<LoadTrial>)| {
        let policy = plan.policies[cell.policy].clone();
        trials.into_iter().map(move |it| (policy.clone(), it))
    };
    runs.into_iter().flat_map(named).collect()
}

/// Rounds as the script does before it writes.
fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap()
}

#[test]
fn every_row_of_the_published_script_is_reproduced() {
    let ours = trials(&plan(&["scenario.load.conversation.hash_seed=0"]), 1);
    let text = fs::read_to_string(data("seed42_hashseed0.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();

    assert_eq!((rows.len(), ours.len()), (100, 100));
    for row in rows {
        let is_row = |policy: &str, it: &LoadTrial| {
            row["policy"] == policy && row["conv_length"] == it.length && row["trial"] == it.trial
        };
        let (_, own) = ours.iter().find(|(policy, it)| is_row(policy, it)).unwrap();
        let own = serde_json::to_value(ctxsim::row::fields(own)).unwrap();
        for (field, expected) in row.as_object().unwrap() {
            let decimals = match field.as_str() {
                "policy" => continue,
                "compression_ratio" => 2,
                "info_density" => 3,
                _ => 4,
            };
            let pairs: Vec<(&Value, &Value)> = match expected.as_object() {
                Some(bins) => bins.iter().map(|(bin, expected)| (&own[field][bin], expected)).collect(),
                None => vec![(&own[field], expected)],
            };
            for (own, expected) in pairs {
                let own = rounded(own.as_f64().unwrap(), decimals);
                assert_eq!(Some(own), expected.as_f64(), "{field} of {row}");
            }
        }
    }
}

#[test]
fn rows_of_trials_are_the_scripts_own_file_on_request() {
    let run = args(
        "run --suite context-decay --rows published --format json --set scenario.load.conversation.hash_seed=0",
    );
    let ours: Vec<Value> = parsed(&ctxsim(root(), run));
    let text = fs::read_to_string(data("seed42_hashseed0.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let names = [
        "Naive Truncation",
        "Sliding Window + Summary",
        "Structured Memory Banks",
        "File-Backed Persistent State",
    ];
    let policies = ["naive_truncation", "sliding_window_summary", "memory_banks", "file_backed"];

    assert_eq!((rows.len(), ours.len()), (100, 100));
    let orders: Vec<_> = ours.iter().map(|it| it["conv_length"].as_u64()).collect();
    assert!(orders.is_sorted(), "by length, as the script runs");
    for row in &rows {
        let name =
            names[policies.iter().position(|it| row["policy"].as_str().unwrap().ends_with(it)).unwrap()];
        let is_it = |it: &&Value| {
            it["strategy"] == name && it["conv_length"] == row["conv_length"] && it["trial"] == row["trial"]
        };
        let own = ours.iter().find(is_it).unwrap().as_object().unwrap();
        for (field, value) in row.as_object().unwrap().iter().filter(|it| it.0 != "policy") {
            let is_equal = match value.as_object() {
                Some(bins) => bins.iter().all(|(bin, value)| own[field][bin].as_f64() == value.as_f64()),
                None => own[field].as_f64() == value.as_f64(),
            };
            assert!(is_equal, "{field}: {} is not {value}", own[field]);
        }
        let fields: Vec<&String> = own.keys().collect();
        assert_eq!(fields.len(), row.as_object().unwrap().len(), "{fields:?}");
    }
}

#[test]
fn every_number_of_the_published_tables_and_findings_is_ours() {
    let report = quietly(&plan(&[]), 1);
    let number = |policy: &str, place: &str| {
        let run = report.runs.iter().find(|it| it.policy == policy).unwrap();
        run.found::<ctxsim::worlds::needles::Retention>().unwrap().number(place).unwrap()
    };
    let [paper] = &report.references[..] else { panic!("one publication") };

    let mut n_compared = 0;
    for (policy, values) in &paper.values {
        for (place, value) in values {
            let decimals = match place.as_str() {
                "compression_ratio.mean" => 1,
                "info_density.mean" => 2,
                _ => 3,
            };
            assert_eq!(rounded(number(policy, place), decimals), *value, "{place} of {policy}");
            n_compared += 1;
        }
    }
    assert_eq!(n_compared, 64);
    let grid = report.findings_grids().into_iter().find(|it| it.title.starts_with("Published findings"));
    let rows = grid.unwrap().rows;
    assert_eq!(rows.len(), paper.findings.len());
    for row in rows {
        assert_eq!(row.cells[1], row.cells[2], "{}", row.cells[0]);
    }
    let ratios = paper.findings.iter().filter(|it| it.over.is_some()).map(|it| it.value);
    assert_eq!(ratios.collect::<Vec<_>>(), [6.2, 5.7, 35.5]);
}

#[test]
fn shares_of_the_published_script_are_products_of_floats() {
    let set = |share: &str| {
        vec![
            "scenario.load.conversation.lengths=[100]".to_owned(),
            "scenario.load.conversation.trials=1".to_owned(),
            format!("scenario.load.conversation.{share}"),
        ]
    };
    let first = |scenario: &str, share: &str| {
        let comparison =
            Comparison { scenarios: vec![scenario.to_owned()], set: set(share), ..comparison(&[]) };
        trials(&planned(&comparison), 1)[0].1.needles().total
    };

    // `int(100 * 0.29)` is 28 in Python.
    assert_eq!(first("context_decay/paper", "needle_density=0.29"), 28);
    assert_eq!(first("context_decay/trials", "needle_density=0.29"), 29);
}

#[test]
fn means_over_many_trials_agree_with_the_script_within_four_standard_errors() {
    let comparison = Comparison { scenarios: vec!["context_decay/trials".to_owned()], ..comparison(&[]) };
    let report = quietly(&planned(&comparison), 2);
    let expected: Value =
        serde_json::from_str(&fs::read_to_string(data("means_300_trials.json")).unwrap()).unwrap();

    let mut n_compared = 0;
    let mut compare = |own: &Value, theirs: &Value, what: &str| {
        for (metric, theirs) in theirs.as_object().unwrap() {
            let Some(mean) = theirs.get("mean").and_then(Value::as_f64) else { continue };
            let own = &own[if metric == "retrieval_accuracy" { "accuracy" } else { metric }];
            let error = own["se"].as_f64().unwrap().hypot(theirs["se"].as_f64().unwrap());
            let own = own["mean"].as_f64().unwrap();
            assert!((own - mean).abs() <= 4.0 * error, "{what} {metric}: {own} is not {mean} ± 4 × {error}");
            n_compared += 1;
        }
    };
    for run in &report.runs {
        let own = serde_json::to_value(run.found::<ctxsim::worlds::needles::Retention>().unwrap()).unwrap();
        compare(&own, &expected["by_strategy"][&run.policy], &run.policy);
        for (length, theirs) in expected["by_strategy_length"][&run.policy].as_object().unwrap() {
            compare(&own["by_length"][length], theirs, &format!("{} at {length}", run.policy));
        }
        compare(&own["depth_accuracy"], &expected["by_strategy_depth"][&run.policy], &run.policy);
    }
    assert_eq!(n_compared, 116);
}

#[test]
fn who_drops_nothing_and_may_keep_all_knows_all() {
    let comparison = Comparison {
        policies: vec!["identity".to_owned(), "context_decay/naive_truncation".to_owned()],
        ..comparison(&["scenario.load.conversation.context_budget_ratio=1.0"])
    };
    let report = quietly(&planned(&comparison), 1);

    for run in &report.runs {
        assert_eq!(
            run.found::<ctxsim::worlds::needles::Retention>().unwrap().accuracy.mean,
            1.0,
            "{}",
            run.policy
        );
    }
}

#[test]
fn probes_add_up_to_their_trials() {
    let plan = plan(&["scenario.load.conversation.trials=2"]);
    let trials =
        |load: &Load, it: Progress<'_>| load.world::<ConversationLoad>().unwrap().trials_of(load, it);
    let trials = plan.map_loads(Some(1), &|_, _| {}, trials).unwrap().concat();
    let probes =
        |load: &Load, it: Progress<'_>| load.world::<ConversationLoad>().unwrap().probes_of(load, it);
    let probes = plan.map_loads(Some(2), &|_, _| {}, probes).unwrap().concat();

    assert_eq!((probes.len(), probes[0].1.len()), (4, 370));
    for ((cell, trials), (at, probes)) in trials.iter().zip(&probes) {
        assert_eq!(cell, at);
        for trial in trials {
            let of: Vec<_> = probes
                .iter()
                .filter(|it| (it.conv_length, it.trial) == (trial.length, trial.trial))
                .collect();
            let count = |holds: &dyn Fn(&ctxsim::worlds::needles::NeedleProbe) -> bool| {
                u32::try_from(of.iter().filter(|it| holds(it)).count()).unwrap()
            };
            assert_eq!(count(&|it| it.found && it.implicit), trial.implicit.found);
            assert_eq!(count(&|it| !it.implicit), trial.explicit.total);
            for (nth, state) in STATES.into_iter().enumerate() {
                assert_eq!(count(&|it| it.state == state), trial.states[nth]);
            }
            for (nth, loss) in LOSSES.into_iter().enumerate() {
                assert_eq!(count(&|it| it.lost_in == Some(loss)), trial.losses[nth]);
            }
            for (nth, quarter) in QUARTILES.into_iter().enumerate() {
                assert_eq!(count(&|it| it.quarter == quarter), trial.quartiles[nth].total);
                let depth = nth as f64 / 4.0..(nth + 1) as f64 / 4.0;
                assert!(of.iter().all(|it| it.quarter != quarter || depth.contains(&it.depth)));
            }
        }
    }
    // The script's own needles of its first conversation: message, key, value.
    let own: Vec<_> =
        probes[0].1[1..3].iter().map(|it| (it.message, it.needle.as_str(), it.value.as_str())).collect();
    assert_eq!(own, [(6, "cache_ttl_seconds_fc27bc", "615"), (35, "timeout_ms_d769d3", "15672")]);
}

#[test]
fn what_a_memory_holds_goes_to_files_and_back() {
    for (policy, set) in
        [("file_backed", &[][..]), ("memory_banks", &["memory.facts.store.banks.capacity=2"][..])]
    {
        let comparison = Comparison { policies: vec![format!("context_decay/{policy}")], ..comparison(set) };
        let plan = planned(&comparison);
        let export = plan.export_memory(100, 4, &[]).unwrap();

        let files = export.files().unwrap();
        assert!(files.len() > 3);
        let read = Export::read(|name| {
            Ok::<_, Error>(files.iter().find(|it| it.0 == name).map(|it| it.1.clone()).unwrap())
        });
        assert_eq!(read.unwrap(), export);
        let n_facts: usize = export.banks.values().map(indexmap::IndexMap::len).sum();
        assert_eq!(n_facts, export.index.written.len());
        if policy == "memory_banks" {
            assert!(export.banks.values().all(|it| it.len() <= 2));
        }
    }
    let refused = |policy: &str, length, trial| {
        let comparison = Comparison { policies: vec![policy.to_owned()], ..comparison(&[]) };
        let plan = planned(&comparison);
        plan.export_memory(length, trial, &[]).unwrap_err()[0].code.name()
    };
    assert_eq!(refused("identity", 50, 0), "store-none");
    assert_eq!(refused("context_decay/file_backed", 51, 0), "conversation-unknown");
    assert_eq!(refused("context_decay/file_backed", 50, 5), "conversation-unknown");
}

#[test]
fn a_category_without_a_bank_is_noted_with_where_its_facts_go() {
    let notes = |categories: &str, more: &[&str]| {
        let banks = format!("memory.facts.store.banks.categories={categories}");
        let comparison = Comparison {
            policies: vec!["context_decay/memory_banks".to_owned()],
            scenarios: vec!["context_decay/paper".to_owned()],
            ..comparison(&[&[banks.as_str()], more].concat())
        };
        let plan = planned(&comparison);
        let notes = app::notes_on_load(&plan.open(&plan.scenarios[0]).unwrap()[0]);
        notes.into_iter().filter(|it| it.contains("bank for")).collect::<Vec<_>>()
    };

    assert_eq!(
        notes(r#"["cofnig", "decision", "result", "entity"]"#, &[]),
        ["context_decay/memory_banks has no bank for `config`: those facts go to `entity`."]
    );
    assert_eq!(
        notes(r#"["decision", "other"]"#, &[]),
        [
            "context_decay/memory_banks has no bank for `config`, `result` or `entity`: those facts go to `other`."
        ]
    );
    assert_eq!(notes(r#"["entity", "config", "decision", "result", "more"]"#, &[]), Vec::<String>::new());
    let elsewhere = r#"memory.facts.write.extract=[{ p = 0.9, into = "all" }]"#;
    assert_eq!(notes(r#"["all"]"#, &[elsewhere]), Vec::<String>::new(), "no fact goes by its category");
    for suite in ["context-decay", "context-decay-cost"] {
        let comparison = Comparison { suite: Some(suite.to_owned()), ..Comparison::default() };
        let plan = planned(&comparison);
        let notes = app::notes_on_load(&plan.open(&plan.scenarios[0]).unwrap()[0]);
        assert!(!notes.iter().any(|it| it.contains("bank for")), "{suite}: {notes:?}");
    }
}

#[test]
fn threads_change_nothing() {
    for set in [&[][..], &["scenario.load.conversation.trials=3", "scenario.seed=9"]] {
        let plan = plan(set);
        assert_eq!(trials(&plan, 1), trials(&plan, 2));
    }
    let plan = plan(&[]);
    assert_eq!(
        json::report_json(&quietly(&plan, 1)).unwrap(),
        json::report_json(&quietly(&plan, 2)).unwrap()
    );
}

/// Adds up the found needles and the losses of one policy, whose memory is changed.
fn lost(policy: &str, set: &[&str]) -> (u32, [u32; 5]) {
    let comparison = Comparison { policies: vec![format!("context_decay/{policy}")], ..comparison(set) };
    let plan = planned(&comparison);
    let mut sum = (0, [0; 5]);
    for (_, trial) in trials(&plan, 1) {
        sum.0 += trial.needles().found;
        for (sum, loss) in sum.1.iter_mut().zip(trial.losses) {
            *sum += loss;
        }
    }
    sum
}

#[test]
fn a_loss_is_laid_at_the_part_that_lost_and_each_part_can_be_made_to_lose_nothing() {
    let (found, [write, store, read, uses, stopped]) = lost("memory_banks", &[]);
    assert_eq!((store, read, uses, stopped), (0, 0, 0, 0), "the published capacity of 50 never binds");
    assert_eq!(found + write, 925);

    assert_eq!(lost("memory_banks", &["memory.facts.oracle=[\"write\"]"]), (925, [0; 5]));
    let small = ["memory.facts.store.banks.capacity=3"];
    let (found_small, [write_small, store_small, ..]) = lost("memory_banks", &small);
    assert!(found_small < found && store_small > 0 && write_small <= write);
    assert_eq!(lost("memory_banks", &[small[0], "memory.facts.oracle=[\"store\"]"]).0, found);

    let last = ["memory.facts.read={ last = 2 }"];
    let (found_last, [.., read_last, _, _]) = lost("memory_banks", &last);
    assert!(found_last < found && read_last > 0);
    assert_eq!(lost("memory_banks", &[last[0], "memory.facts.oracle=[\"read\"]"]).0, found);
}

#[test]
fn the_paper_s_text_and_its_code_are_two_policies() {
    let named = ["scenario.load.conversation.random=\"named\"", "scenario.load.conversation.trials=40"];
    let comparison = |name: &str| Comparison {
        policies: vec![format!("context_decay/{name}")],
        scenarios: vec!["context_decay/trials".to_owned()],
        set: vec![named[1].to_owned()],
        ..comparison(&[])
    };
    let explicit = |name: &str| {
        let report = quietly(&Plan::new(&bundled_catalog(), &comparison(name)).unwrap(), 2);
        report.runs[0]
            .found::<ctxsim::worlds::needles::Retention>()
            .unwrap()
            .non_empty
            .explicit_accuracy
            .unwrap()
            .mean
    };

    assert!((explicit("memory_banks_as_written") - 0.85).abs() < 0.03);
    assert!((explicit("memory_banks") - 0.9775).abs() < 0.02);
    assert!((explicit("file_backed_as_written") - 0.9775).abs() < 0.02);
    assert!((explicit("file_backed") - 0.9995).abs() < 0.005);
}

#[test]
fn every_bad_parameter_is_told_at_once_with_its_place() {
    let file = |path: &str| data(path).display().to_string();
    let comparison = Comparison {
        policies: vec![file("bad_memory.ron")],
        scenarios: vec![file("bad_conversation.toml")],
        profiles: vec!["context_decay/words".to_owned()],
        ..Comparison::default()
    };

    let Err(Error::Invalid(problems)) = Plan::new(&bundled_catalog(), &comparison) else {
        panic!("the inputs are refused");
    };
    let told: Vec<String> = problems
        .iter()
        .map(|it| {
            assert!(it.help.is_some() && it.place.line_column.is_some(), "{it}");
            format!("{} {}", it.place.field, it.code.name())
        })
        .collect();
    let expected = [
        "memory.facts.store.banks.capacity capacity-zero",
        "memory.facts.write.extract.0.miss probability-range",
        "memory.facts.write.extract.1 extract-bar",
        "memory.facts.write.extract.2.into bank-unknown",
        "load.conversation.lengths lengths-empty",
        "load.conversation.trials trials-range",
        "load.conversation.needle_density share-range",
        "load.conversation.context_budget_ratio share-range",
        "load.conversation.implicit_ratio probability-range",
        "load.conversation hash-seed-missing",
        "load.conversation.domains domains-empty",
        "load.conversation.categories.other.port needle-duplicate",
        "load.conversation.categories.other.port.between value-range",
    ];
    assert_eq!(told, expected);
}

#[test]
fn facts_are_named_nowhere_under_projection_or_cache() {
    let is_below = |file: &str| ["projection", "cache"].iter().any(|it| file.contains(it));
    let files = super::tidy::own_sources().into_iter().filter(|it| is_below(&it.0));
    let files: Vec<(String, String)> = files.collect();
    assert!(files.len() > 10);
    for (file, text) in files {
        let names = |line: &str| !line.trim_start().starts_with("//") && line.contains("facts");
        assert!(!text.lines().any(names), "{file}");
    }
}
