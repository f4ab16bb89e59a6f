//! What a policy comes to on a load under a price list is the same to the picodollar, whichever command asks for it and beside whatever else.

use ctxsim::catalog::InputKind;
use ctxsim::input::profile::price::VariedRate;
use ctxsim::report::ALL;
use ctxsim::take::{Progress, Run, Sinks, in_order};

use crate::import::undo::{BY_ITSELF, compacted};
use crate::support::*;
use crate::tune::folders::Recipe;

/// Policies of which most edit what was fetched again, so that recovery is played.
const POLICIES: [&str; 6] = [
    "identity",
    "truncate_oldest",
    "sliding_window",
    "clear_tool_results_at_40k_min_5k",
    "duckagent/duckagent_recoverable_decay_guarded_mid",
    "duckagent/immediate_summary",
];

/// Price lists of every kind of cache rules, with and without prices that depend on length or hour.
const PROFILES: [&str; 9] = [
    "alibaba/qwen3-coder-plus",
    "anthropic/claude-opus-4.5",
    "anthropic/claude-sonnet-5.5",
    "bedrock/nova-pro",
    "deepseek/deepseek-v4-flash",
    "google/gemini-2.5-pro-explicit",
    "groq/gpt-oss-20b",
    "openai/gpt-5.4",
    "zai/glm-5",
];

/// A small load of each kind, with two policies for it.
const KINDS: [(&str, [&str; 2], &[&str]); 4] = [
    ("duckagent/long_run", ["identity", "clear_tool_results"], &["scenario.load.generate.turns=8"]),
    (
        "context_decay/trials",
        ["context_decay/naive_truncation", "context_decay/memory_banks"],
        &["scenario.load.conversation.trials=2", "scenario.load.conversation.lengths=[50]"],
    ),
    (
        "aging/s1",
        ["aging/lossy", "aging/append_only"],
        &["scenario.load.aging.trials=2", "scenario.load.aging.sessions=4"],
    ),
    (
        "memory_runners/long",
        ["memory_runners/context_only", "memory_runners/entries"],
        &["scenario.load.chats.trials=2", "scenario.load.chats.from.generated.sessions=4"],
    ),
];

const QUIET: Progress<'_> = &|_, _| {};

fn comparison(scenario: &str, policies: &[&str], set: &[&str]) -> Comparison {
    Comparison { set: owned(set), ..comparing(policies, &[scenario], &PROFILES) }
}

fn plan(comparison: &Comparison) -> Plan {
    planned(comparison)
}

/// How much of a law was held to anything.
#[derive(Clone, Copy, Default)]
struct Held {
    cells: usize,
    /// Cells of which recovery was played.
    played: usize,
}

/// Holds every cell of a comparison of price lists to the run of its policy on its load, or returns why there is none.
fn priced_as_run(plan: &Plan) -> Result<Held, String> {
    let runs = plan.report(None, QUIET).unwrap().runs;
    let found = plan.sensitivity_to_profiles(None, QUIET).map_err(|it| it.to_string())?;
    let mut held = Held::default();
    for grid in &found.grids {
        for (profile, row) in found.profiles.iter().zip(&grid.rows) {
            for (policy, cell) in found.policies.iter().zip(&row.cells) {
                let is_own = |it: &&Run| {
                    it.policy == *policy
                        && it.profile == profile.name
                        && (grid.load == ALL || it.scenario == grid.load)
                };
                let own: Vec<&Run> = runs.iter().filter(is_own).collect();
                // A scenario may run under the model that it is of, and under no other.
                if own.len() != if grid.load == ALL { found.grids.len() - 1 } else { 1 } {
                    continue;
                }
                let mut run = own[0].tally.clone();
                own[1..].iter().for_each(|more| run.add(&more.tally));
                let case = format!("{policy} on {} under {}", grid.load, profile.name);
                assert_eq!(cell.exact(), run.costs.exact(), "{case}");
                assert_eq!(cell.evidence_kept(), run.evidence_kept(), "{case}");
                held.cells += 1;
                held.played += usize::from(run.n_played > 0);
            }
        }
    }
    Ok(held)
}

/// Returns what a command keeps of runs, for comparison: whatever is found beside the bill names the other policies.
fn tallies(load: &Load, sinks: &Sinks<'_>) -> Vec<Tally> {
    load.takes(sinks, QUIET).takes.into_iter().map(|it| it.run.tally).collect()
}

/// Holds the runs of a load to those of each policy and of each profile by itself, and to plays that are asked for more and for less.
fn alone_as_beside(load: &Load) {
    let (n_policies, all) = (load.policies.len(), tallies(load, &Sinks::default()));
    for nth in 0..n_policies {
        let alone = Load { policies: vec![Arc::clone(&load.policies[nth])], ..load.clone() };
        let of_policy: Vec<&Tally> = all.iter().skip(nth).step_by(n_policies).collect();
        for (beside, alone) in of_policy.into_iter().zip(tallies(&alone, &Sinks::default())) {
            assert_same(load, &load.policies[nth].name, beside, &alone);
        }
    }
    for (profile, beside) in load.profiles.iter().zip(all.chunks(n_policies)) {
        let alone = Load { profiles: vec![profile.clone()], ..load.clone() }.counted();
        for (beside, alone) in beside.iter().zip(tallies(&alone, &Sinks::default())) {
            assert_same(load, &profile.name, beside, &alone);
        }
    }
    let more = Sinks { rows: true, trials: true, breaks: true, answers: true, ..Sinks::default() };
    for (beside, more) in all.iter().zip(tallies(load, &more)) {
        assert_same(load, "asked for rows", beside, &more);
    }
    for (beside, bare) in all.iter().zip(tallies(load, &Sinks { bare: true, ..Sinks::default() })) {
        let number = |it: &Tally| (it.costs.exact(), it.sums, it.waiting, it.outcome.clone());
        assert_eq!(number(beside), number(&bare), "{}: asked for costs alone", load.name);
    }
}

fn assert_same(load: &Load, what: &str, beside: &Tally, alone: &Tally) {
    assert_eq!(beside.costs.exact(), alone.costs.exact(), "{}: {what}", load.name);
    assert!(beside == alone, "{}: {what}\n{beside:#?}\n{alone:#?}", load.name);
}

#[test]
fn a_comparison_of_price_lists_comes_to_what_runs_do() {
    let with_compaction = compacted(BY_ITSELF).replace("\"model\":\"m\"", "\"model\":\"claude-opus-4-5\"");
    let compacted = folder_of_sessions("one_answer/compacted", &[with_compaction]);

    let recorded = priced_as_run(&plan(&comparison("recorded/claude-code", &POLICIES, &[]))).unwrap();
    let both = Comparison {
        scenarios: vec![compacted.display().to_string(), "duckagent/long_log_debug".to_owned()],
        ..comparison("", &POLICIES, &[])
    };
    let both = priced_as_run(&plan(&both)).unwrap();
    let drawn = ["scenario.recovery=sampled"];
    let drawn = priced_as_run(&plan(&comparison("duckagent/fix_test_loop", &POLICIES, &drawn))).unwrap();

    let all = POLICIES.len() * PROFILES.len();
    assert_eq!((recorded.cells, both.cells, drawn.cells), (all, 3 * all, all));
    assert!(recorded.played > PROFILES.len(), "some recovery is played: {}", recorded.played);
}

#[test]
fn a_comparison_of_price_lists_comes_to_what_runs_do_on_every_kind_of_load() {
    for (scenario, policies, set) in KINDS {
        let held = priced_as_run(&plan(&comparison(scenario, &policies, set))).unwrap();
        assert_eq!(held.cells, 2 * PROFILES.len(), "{scenario}");
    }
}

#[test]
fn loads_that_have_no_comparison_of_price_lists_are_refused_by_name() {
    let blocks = root().join("tests/data/blocks/mooncake.jsonl");
    let blocks = comparison(&blocks.display().to_string(), &POLICIES[..2], &[]);
    let turns = comparison(
        "duckagent/fix_test_loop",
        &["identity", "clear_tool_results"],
        &["scenario.turns_ratio=1.2"],
    );

    let why = |comparison| plan(comparison).sensitivity_to_profiles(None, QUIET).unwrap_err().to_string();

    assert!(why(&blocks).contains("is a block trace, which no policy changes"), "{}", why(&blocks));
    assert!(why(&turns).contains("scenario.turns_ratio"), "{}", why(&turns));
}

/// Recovery that was played pays at each rate, too: what its draws do, on average.
#[test]
fn a_rate_that_is_doubled_costs_as_much_more_as_was_paid_at_it() {
    let mut plan = plan(&comparison("recorded/claude-code", &POLICIES, &[]));
    let all = plan.profiles.iter().find(|it| it.name == PROFILES[1]).unwrap().clone();
    let doubled = |rate| Profile { prices: all.prices.times(rate, 2), ..all.clone() };
    plan.profiles = std::iter::once(all.clone()).chain(VariedRate::ALL.map(doubled)).collect();

    let rows = plan.sensitivity_to_profiles(None, QUIET).unwrap().grids.remove(0).rows;

    for (nth, cell) in rows[0].cells.iter().enumerate() {
        for (rate, doubled) in VariedRate::ALL.into_iter().zip(&rows[1..]) {
            let more = doubled.cells[nth].cost().unwrap() - cell.cost().unwrap();
            let paid = cell.elasticity(rate).unwrap() * cell.cost().unwrap();
            assert!((more - paid).abs() < 1e-9, "{} at {}: {more} and {paid}", POLICIES[nth], rate.name());
        }
    }
}

#[test]
fn a_run_comes_to_the_same_whatever_is_asked_beside_it() {
    for scenario in ["recorded/claude-code", "duckagent/long_log_debug"] {
        let plan =
            plan(&Comparison { profiles: owned(&PROFILES[..6]), ..comparison(scenario, &POLICIES, &[]) });
        plan.map_loads(None, QUIET, |load, _| alone_as_beside(load)).unwrap();
    }
}

#[test]
fn run_compare_and_sweep_show_one_cost() {
    let [base, candidate] = ["identity", "clear_tool_results_at_40k_min_5k"];
    let of_one = Comparison {
        profiles: owned(&["anthropic/claude-opus-4.5"]),
        ..comparison("recorded/claude-code", &[base, candidate], &[])
    };
    let plan = plan(&of_one);

    let runs = plan.report(None, QUIET).unwrap().runs;
    let swept = plan.sweep_loads(None, QUIET).unwrap();
    let contrasts = plan.contrast_pairs(&[[0, 1]], None, QUIET).unwrap();

    let costs: Vec<f64> = runs.iter().map(|it| it.tally.costs.total().unwrap()).collect();
    assert!(runs[1].tally.n_played > 0, "recovery is played");
    let of_sweep: Vec<f64> = swept[0].runs.iter().map(|it| it.tally.costs.total().unwrap()).collect();
    assert_eq!(of_sweep, costs);
    let total = contrasts[0].numbers.iter().find(|it| it.place == "totals.cost_usd.total").unwrap();
    assert_eq!([total.delta.base, total.delta.candidate], costs[..]);
}

/// Suites whose loads take minutes, or hours, without optimisation; each has another here that plays the same kind of load.
const HEAVY: [&str; 3] = ["aging-full", "aging-responses", "context-decay-whole"];

#[test]
#[ignore = "slow: .ci/run runs it"]
fn every_suite_comes_to_what_runs_do() {
    let catalog = bundled_catalog();
    let suites: Vec<&str> = catalog.names(InputKind::Suite).filter(|it| !HEAVY.contains(it)).collect();
    let told = in_order(suites.len(), |nth| {
        let of_suite = Comparison { suite: Some(suites[nth].to_owned()), ..Comparison::default() };
        // Named, they hold for recorded sessions, too, whatever model answered these.
        let profiles = plan(&of_suite).profiles.iter().map(|it| it.name.clone()).collect();
        match priced_as_run(&plan(&Comparison { profiles, ..of_suite })) {
            Ok(held) => format!("{}: {} cells", suites[nth], held.cells),
            Err(why) => format!("{}: {}", suites[nth], why.lines().next().unwrap()),
        }
    });
    let refused: Vec<&String> = told.iter().filter(|it| !it.ends_with(" cells")).collect();
    assert_eq!(refused, Vec::<&String>::new());
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn recorded_and_made_up_folders_come_to_what_runs_do() {
    let recipes = [11, 27].map(|tail| Recipe { seed: 3, tail, sessions: 4 });
    let made = recipes.map(|it| (0..it.sessions).map(|nth| it.text(nth)).collect::<Vec<_>>()).concat();
    let mut folders = vec![folder_of_sessions("one_answer/made-up", &made)];
    if let Some(shared) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) {
        let known = ["claude-code", "claude-code-2", "codex", "pi", "deepseek"];
        folders.extend(known.map(|it| shared.join("recorded").join(it)).into_iter().filter(|it| it.is_dir()));
    }
    let mut played = 0;
    for folder in &folders {
        let of_folder = comparison(&folder.display().to_string(), &POLICIES, &[]);
        played += priced_as_run(&plan(&of_folder)).unwrap().played;
        let few = Comparison { profiles: owned(&PROFILES[..3]), ..of_folder };
        plan(&few).map_loads(None, QUIET, |load, _| alone_as_beside(load)).unwrap();
    }
    assert!(played > 0, "some recovery is played");
}
