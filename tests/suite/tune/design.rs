//! A search over policies gives the same file on any number of threads, and on a made-up load one that costs less than every preset.

use ctxsim::app::design::{Candidate, DesignPlays, DesignSearch, DesignTerms};

use crate::support::*;

#[path = "../../../examples/design_rates/made_up.rs"]
#[allow(dead_code, reason = "the example measures more")]
mod loads;

/// The floor of the searches.
const FLOOR: f64 = 0.9;

/// Opens sessions of a made-up load.
fn opened(load: &loads::MadeUp, folder: &Path, seed: u64, sessions: u64) -> Comparison {
    Comparison {
        scenarios: load.write(folder, seed, sessions),
        ..comparing(&["identity"], &[], &["anthropic/claude-sonnet-5.5"])
    }
}

#[test]
fn on_a_made_up_load_a_search_finds_a_policy_that_costs_less_than_every_preset_and_keeps_to_its_budget() {
    let folder = tempdir().unwrap();
    let catalog = bundled_catalog();
    let load = &loads::LOADS[0];
    let mut plays =
        DesignPlays::open(&catalog, &opened(load, folder.path(), 0, 8), Some(2), &|_, _| {}).unwrap();
    let (own, other): (Vec<usize>, Vec<usize>) = (0..8).partition(|it| *it < 4);
    let terms = DesignTerms { min_evidence: FLOOR, budget: 5_000, seed: 0 };

    let found = DesignSearch::new(&mut plays, &own, terms, &|_, _| {}).search().unwrap();

    // The best that is known is found from four of ten seeds (`examples/design_rates`); it has to be of the grammar.
    assert!(loads::LOADS.iter().all(|it| plays.grammar.parse_candidate(it.best).is_some()));
    let presets: Vec<Candidate> = (0..plays.presets.len()).map(|it| plays.preset_candidate(it)).collect();
    let all: Vec<Candidate> = presets.iter().chain([&found.chosen]).cloned().collect();
    plays.play_new(&all, &other, &|_, _| {}).unwrap();
    let cost = |it: &Candidate| 1.0 + plays.score_on(it, &other, FLOOR).change;
    assert!(
        presets.iter().all(|it| cost(it) > cost(&found.chosen)),
        "{}",
        plays.candidate_name(&found.chosen)
    );
    assert!(found.plays <= 5_000, "{}", found.plays);
}

#[test]
fn a_designed_file_is_the_same_on_any_number_of_threads_and_says_what_each_stage_does() {
    let folder = tempdir().unwrap();
    let loads = loads::LOADS[0].write(folder.path(), 1, 10);
    let written = |threads: &str, name: &str| {
        let path = folder.path().join(name);
        let path_text = path.display().to_string();
        let args = ["tune", "--design", "--budget", "5000", "--threads", threads, "--output", &path_text];
        let profile = ["--profile", "anthropic/claude-sonnet-5.5", "--scenario"];
        let loads: Vec<&str> = loads.iter().map(String::as_str).collect();
        let said = out(&ctxsim(folder.path(), [&args[..], &profile, &loads].concat()));
        (said, fs::read_to_string(path).unwrap())
    };

    let [(said, one), (_, other)] = [written("1", "mine.ron"), written("2", "other.ron")];

    assert_eq!(one, other.replace("\"other\"", "\"mine\""));
    let is_of_a_stage = |it: &str| it.starts_with(' ') && it.trim_start().starts_with("// ");
    assert!(one.lines().any(is_of_a_stage), "{one}");
    assert!(said.contains("Ceiling there: hindsight") && said.contains("successive halving"), "{said}");
    let valid = ctxsim(folder.path(), ["validate", "mine.ron"]);
    assert!(valid.status.success(), "{valid:?}\n{one}");
}
