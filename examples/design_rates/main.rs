//! How good the policies are that `ctxsim tune --design` finds, as the table of docs/reference/review.md says.
//!
//! `cargo run --release --example design_rates -- FOLDERS` splits recorded sessions by seed (`--seeds 10..20`): it searches on one half and
//! judges on the other. Without folders it searches on made-up loads of which the best policy is known; `--known` looks for these best policies.

#![expect(clippy::print_stdout, reason = "a command that prints tables")]

mod made_up;

use std::error::Error;
use std::fs;
use std::ops::Range;

use ctxsim::app::Comparison;
use ctxsim::app::design::{Candidate, DesignChoice, DesignPlays, DesignSearch, DesignTerms};
use ctxsim::catalog::bundled_catalog;
use ctxsim::rng::Seed;

use made_up::{LOADS, MadeUp};

/// The share of evidence that has to be kept.
const FLOOR: f64 = 0.9;
/// Splits of recorded sessions, and seeds of made-up ones.
const SEEDS: u64 = 10;
/// The plays of a search.
const BUDGET: usize = 20_000;
/// Sessions of a made-up load that are chosen on, and those that the choice is tested on.
const MADE_UP: [u64; 2] = [24, 48];
/// The profile of made-up loads.
const PROFILE: &str = "anthropic/claude-sonnet-5.5";

fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|it| it == "--known") {
        return LOADS.iter().try_for_each(known);
    }
    if args.is_empty() {
        return LOADS.iter().try_for_each(made_up);
    }
    let budget = taken(&mut args, "--budget").and_then(|it| it.parse().ok()).unwrap_or(BUDGET);
    let seeds = taken(&mut args, "--seeds");
    let seeds = seeds.as_deref().and_then(|it| it.split_once(".."));
    let seeds = seeds.and_then(|it| Some(it.0.parse().ok()?..it.1.parse().ok()?)).unwrap_or(0..SEEDS);
    recorded(&args, budget, seeds)
}

/// Takes an option with its value out of the arguments.
fn taken(args: &mut Vec<String>, name: &str) -> Option<String> {
    let at = args.iter().position(|it| it == name)?;
    args.drain(at..(at + 2).min(args.len())).nth(1)
}

/// Splits recorded sessions by seed, and searches on each split.
fn recorded(folders: &[String], budget: usize, seeds: Range<u64>) -> Result<(), Box<dyn Error>> {
    let catalog = bundled_catalog();
    let comparison = Comparison {
        policies: vec!["identity".to_owned()],
        scenarios: folders.to_vec(),
        own_models: true,
        ..Comparison::default()
    };
    let plays = &mut DesignPlays::open(&catalog, &comparison, None, &|_, _| {})?;
    let all: Vec<usize> = (0..plays.sessions.len()).collect();
    let presets: Vec<Candidate> = (0..plays.presets.len()).map(|it| plays.preset_candidate(it)).collect();
    plays.play_new(&presets, &all, &|_, _| {})?;
    println!(
        "| seed | file | Δ own half | Δ other half | kept there | against its best preset | against the first half's preset | plays |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
    let n_seeds = seeds.end - seeds.start;
    let mut counts = [0; 4];
    for seed in seeds {
        let halves = halves(plays, seed);
        let terms = DesignTerms { min_evidence: FLOOR, budget, seed };
        let found = DesignSearch::new(plays, &halves[0], terms, &|_, _| {}).search()?;
        let everything: Vec<Candidate> = presets.iter().chain([&found.chosen]).cloned().collect();
        plays.play_new(&everything, &halves[1], &|_, _| {})?;
        judge(plays, &halves, &found, &presets, &mut counts, seed);
    }
    println!(
        "of {n_seeds}: at most 1% over the cheapest preset that keeps the floor: {}; not more expensive than the preset that the first half chooses by \
         the same rule: {}; keeps the floor: {}; a preset: {}\n",
        counts[0], counts[1], counts[2], counts[3]
    );
    Ok(())
}

/// Parts sessions by recording, so that sub-agents stay with theirs.
fn halves(plays: &DesignPlays<'_>, seed: u64) -> [Vec<usize>; 2] {
    let file = |nth: usize| plays.sessions[nth].name().split('/').next().unwrap_or_default().to_owned();
    let mut files: Vec<String> = (0..plays.sessions.len()).map(file).collect();
    files.sort();
    files.dedup();
    let stream = Seed(seed).stream("split", 0);
    let mut drawn: Vec<(u64, String)> =
        (0..).zip(files).map(|(nth, it)| (stream.bits_of(nth, 0), it)).collect();
    drawn.sort();
    let first: Vec<&String> = drawn.iter().take(drawn.len() / 2).map(|it| &it.1).collect();
    let (one, other) = (0..plays.sessions.len()).partition(|it| first.contains(&&file(*it)));
    [one, other]
}

fn judge(
    plays: &DesignPlays<'_>,
    [own, other]: &[Vec<usize>; 2],
    found: &DesignChoice,
    presets: &[Candidate],
    counts: &mut [u64; 4],
    seed: u64,
) {
    let score = |it: &Candidate, on: &[usize]| plays.score_on(it, on, FLOOR);
    let keeps =
        |it: &Candidate| score(it, other).class < 2 && score(it, other).kept.is_none_or(|it| it >= FLOOR);
    let cost = |it: &Candidate| 1.0 + score(it, other).change;
    let best = presets.iter().filter(|it| keeps(it)).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    let keeping = presets.iter().filter(|it| score(it, own).class == 0);
    let first = keeping.min_by(|a, b| score(a, own).change.total_cmp(&score(b, own).change));
    let against = |it: Option<&Candidate>| it.map_or(0.0, |it| cost(&found.chosen) / cost(it) - 1.0);
    let (best_by, first_by) = (against(best), against(first));
    counts[0] += u64::from(best_by <= 0.01);
    counts[1] += u64::from(first_by <= 1e-9);
    counts[2] += u64::from(keeps(&found.chosen));
    counts[3] += u64::from(presets.contains(&found.chosen));
    println!(
        "| {seed} | {} | {:+.1}% | {:+.1}% | {:.1}% | {:+.1}% ({}) | {:+.1}% ({}) | {} of {} policies{} |",
        plays.candidate_name(&found.chosen),
        score(&found.chosen, own).change * 100.0,
        score(&found.chosen, other).change * 100.0,
        score(&found.chosen, other).kept.unwrap_or(1.0) * 100.0,
        best_by * 100.0,
        best.map_or("none".to_owned(), |it| plays.candidate_name(it)),
        first_by * 100.0,
        first.map_or("none".to_owned(), |it| plays.candidate_name(it)),
        found.plays,
        found.policies,
        if found.is_cut { ", cut" } else { "" },
    );
}

/// Opens sessions of a made-up load.
fn comparison(load: &MadeUp, folder: &std::path::Path, seed: u64, sessions: u64) -> Comparison {
    Comparison {
        policies: vec!["identity".to_owned()],
        scenarios: load.write(folder, seed, sessions),
        profiles: vec![PROFILE.to_owned()],
        ..Comparison::default()
    }
}

/// Searches on made-up sessions of several seeds.
fn made_up(load: &MadeUp) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("ctxsim-design-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let catalog = bundled_catalog();
    println!("{}: {}", load.name, load.about);
    let (mut n_near, mut n_beats) = (0, 0);
    for seed in 0..SEEDS {
        let mut plays = DesignPlays::open(
            &catalog,
            &comparison(load, &folder, seed, MADE_UP[0] + MADE_UP[1]),
            None,
            &|_, _| {},
        )?;
        let all: Vec<usize> = (0..plays.sessions.len()).collect();
        let (own, other) = all.split_at(MADE_UP[0] as usize);
        let terms = DesignTerms { min_evidence: FLOOR, budget: BUDGET, seed };
        let found = DesignSearch::new(&mut plays, own, terms, &|_, _| {}).search()?;
        let presets: Vec<Candidate> = (0..plays.presets.len()).map(|it| plays.preset_candidate(it)).collect();
        let known = plays.grammar.parse_candidate(load.best).unwrap_or_default();
        let everything: Vec<Candidate> = presets.iter().chain([&known, &found.chosen]).cloned().collect();
        plays.play_new(&everything, other, &|_, _| {})?;
        let cost = |it: &Candidate| 1.0 + plays.score_on(it, other, FLOOR).change;
        let keeps = |it: &&Candidate| {
            let it = plays.score_on(it, other, FLOOR);
            it.class < 2 && it.kept.is_none_or(|it| it >= FLOOR)
        };
        let best = presets.iter().filter(keeps).map(cost).min_by(f64::total_cmp).unwrap_or(1.0);
        let own_cost = cost(&found.chosen);
        n_near += u64::from(own_cost <= cost(&known) * 1.01);
        n_beats += u64::from(own_cost < best);
        println!(
            "  seed {seed}: {} ({:+.1}%; known best {:+.1}%, best preset {:+.1}%, kept {:.3}); {} plays",
            plays.candidate_name(&found.chosen),
            (own_cost - 1.0) * 100.0,
            (cost(&known) - 1.0) * 100.0,
            (best - 1.0) * 100.0,
            plays.score_on(&found.chosen, other, FLOOR).kept.unwrap_or(1.0),
            found.plays
        );
    }
    println!("  within 1% of the known best: {n_near} of {SEEDS}; cheaper than every preset: {n_beats}");
    Ok(fs::remove_dir_all(&folder)?)
}

/// Plays every policy of the kinds that have something to do in a made-up load.
fn known(load: &MadeUp) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("ctxsim-design-known-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let catalog = bundled_catalog();
    let mut plays = DesignPlays::open(&catalog, &comparison(load, &folder, 1_000, 6), None, &|_, _| {})?;
    let all: Vec<usize> = (0..plays.sessions.len()).collect();
    let mut policies = vec![plays.grammar.empty_candidate()];
    for (nth, kind) in
        plays.grammar.kinds.iter().enumerate().filter(|it| load.kinds.contains(&it.1.name.as_str()))
    {
        let values = kind.values.values().fold(vec![Vec::new()], |all: Vec<Vec<usize>>, it| {
            all.iter()
                .flat_map(|before| (0..it.len()).map(move |at| [before.clone(), vec![at]].concat()))
                .collect()
        });
        let with = |of: &Vec<usize>, mut it: Candidate| {
            it.stages[nth] = Some(of.clone());
            it
        };
        let more: Vec<_> =
            policies.iter().flat_map(|it| values.iter().map(|of| with(of, it.clone()))).collect();
        policies.extend(more);
    }
    plays.play_new(&policies, &all, &|_, _| {})?;
    let keeps = |it: &&Candidate| {
        let it = plays.score_on(it, &all, FLOOR);
        it.class < 2 && it.kept.is_none_or(|it| it >= FLOOR)
    };
    let mut scored: Vec<(f64, &Candidate)> =
        policies.iter().filter(keeps).map(|it| (plays.score_on(it, &all, FLOOR).change, it)).collect();
    scored.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("{}: {} policies", load.name, policies.len());
    for (change, it) in scored.iter().take(8) {
        println!(
            "  {:+.2}% kept {:.3}  {}",
            change * 100.0,
            plays.score_on(it, &all, FLOOR).kept.unwrap_or(1.0),
            plays.candidate_name(it)
        );
    }
    Ok(fs::remove_dir_all(&folder)?)
}
