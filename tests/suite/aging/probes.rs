//! A user's own answers: numbers that are known are found inside their intervals.

use ctxsim::input::policy::memory::{MemoryPart, SessionMemory as Spec, SessionRead};
use ctxsim::input::scenario::AgingLoad;
use ctxsim::worlds::aging::generate;
use ctxsim::worlds::aging::probes::{Memories, ProbeQuestion};
use ctxsim::worlds::aging::stream::Ask;
use ctxsim::worlds::aging::{AgingNumbers, AgingPlayer, MemoryRules, Model};

use super::*;

/// The numbers that answers are generated from.
const USE: f64 = 0.8;
const EXTRACT: f64 = 0.6;
const MARGIN: f64 = 1.5;

fn sessions() -> AgingLoad {
    AgingLoad { sessions: 16, events: Vec::new(), ..load("s6_12") }
}

/// Returns what an agent with known numbers answers: of every fact that is asked for, when its session ends and in later sessions.
fn answers(spec: &Spec, seed: u64, looks: bool) -> Vec<ProbeQuestion> {
    let mut numbers = AgingNumbers::declared().clone();
    numbers.fitted.extract = EXTRACT;
    numbers.fitted.similarity_margin = MARGIN;
    let stream = generate::stream(&sessions(), Seed(seed).child("an agent", 0), &numbers);
    let player = AgingPlayer::of_stream(&stream, &numbers, &[], false);
    let by = |utilisation: f64| std::sync::Arc::new(Model { utilisation, ..Model::default() });
    let log = player.play(MemoryRules::new(Some(spec), by(USE)));
    let held =
        player.play(MemoryRules::new(Some(&Spec { oracle: vec![MemoryPart::Use], ..spec.clone() }), by(USE)));
    let mut all = Vec::new();
    for (asked, of_held) in log.asked.iter().zip(&held.asked) {
        let Ask::Any { facts, .. } = &stream.probes[asked.probe].ask else { continue };
        let said = stream.graph.facts[facts[0] as usize].session;
        let fact = facts[0].to_string();
        let lag = asked.session - said;
        let is_right = asked.answers[0].is_right;
        let held = looks.then_some(of_held.answers[1].is_right);
        all.push(ProbeQuestion { session: asked.session, fact, lag, is_right, held });
    }
    // Of each session also what it has just said: whether that is used.
    let draws = Seed(seed).stream("said now", 0);
    for (at, fact) in stream.graph.facts.iter().enumerate().filter(|it| it.1.is_tracked) {
        let is_right = draws.nth(at as u64, 0).unit() < USE;
        let held = looks.then_some(true);
        all.push(ProbeQuestion { session: fact.session, fact: at.to_string(), lag: 0, is_right, held });
    }
    all
}

/// Returns in how many of a hundred tables each number lies inside its interval, and how wide the intervals are in all, by part.
fn coverage(spec: &Spec, looks: bool) -> Vec<(&'static str, usize, f64)> {
    let memories = Memories::new(spec, &sessions(), &model("mid"), Seed(7));
    let mut counts: Vec<(&'static str, usize, f64)> = Vec::new();
    for seed in 0..100 {
        let found = memories.fit(&answers(spec, seed, looks));
        for it in found.estimates {
            let (known, all) = match it.part {
                "use" => (USE, 1.0),
                "write" => (EXTRACT, 1.0),
                _ => (MARGIN, 4.0),
            };
            let is_inside = it.ci95[0] <= known && known <= it.ci95[1];
            let place = counts.iter().position(|of| of.0 == it.part).unwrap_or_else(|| {
                counts.push((it.part, 0, 0.0));
                counts.len() - 1
            });
            counts[place].1 += usize::from(is_inside);
            counts[place].2 += (it.ci95[1] - it.ci95[0]) / all;
        }
    }
    counts
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn numbers_that_are_known_lie_inside_their_intervals_in_nine_of_ten_tables() {
    let records = Spec { read: SessionRead::Top { n: 5, crowding: true }, ..memory("append_only") };
    // A summary that overflows loses facts together, which intervals know only in part.
    let cases = [(memory("careful"), true, ["use", "write"], 85), (records, false, ["use", "read"], 90)];
    let covered = |(spec, looks, parts, least): (Spec, _, _, _)| (coverage(&spec, looks), parts, least);
    let all: Vec<_> = cases.into_iter().map(covered).collect();
    for (found, parts, least) in &all {
        assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), parts);
        for (part, n_inside, widths) in found {
            assert!(n_inside >= least, "{part}: {n_inside} of 100, {all:?}");
            assert!(*widths < 65.0, "intervals that cover nearly everything say nothing: {part}, {all:?}");
        }
    }
}

#[test]
fn a_table_is_fitted_and_the_model_that_it_gives_answers_in_a_scenario() {
    let folder = tempdir().unwrap();
    let mut table = "session,fact,lag,right,held\n".to_owned();
    for it in answers(&memory("careful"), 3, true) {
        let word = |it: bool| if it { "yes" } else { "no" };
        let held = it.held.map_or("", word);
        let _ = writeln!(table, "{},{},{},{},{held}", it.session, it.fact, it.lag, word(it.is_right));
    }
    fs::write(folder.path().join("answers.csv"), table).unwrap();
    let run = |args: &[&str]| {
        let output = ctxsim(folder.path(), args);
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };

    let (code, told, problems) =
        run(&["tune", "--fit", "answers.csv", "--policy", "aging/careful", "--output", "ours.toml"]);
    assert_eq!(code, Some(0), "{problems}");
    assert!(told.contains("utilisation") && told.contains("extract") && !told.contains("margin"), "{told}");
    let scenario = "name = \"mine\"\nabout = \"Mine.\"\nseed = 1\n[load.aging]\ngenerator = \"multi_domain\"\nsessions = 8\n\
        trials = 2\nmodels = [\"ours.toml\"]\n";
    fs::write(folder.path().join("mine.toml"), scenario).unwrap();
    let (code, told, problems) =
        run(&["run", "--scenario", "mine.toml", "--policy", "aging/careful", "--profile", "unlimited"]);
    assert_eq!(code, Some(0), "{problems}");
    assert!(told.contains("mine"), "{told}");

    fs::write(folder.path().join("answers.csv"), "session,fact,lag,right\n0,a,0,perhaps\n1,b,3,yes\n")
        .unwrap();
    let (code, _, problems) = run(&["tune", "--fit", "answers.csv", "--policy", "aging/careful"]);
    assert_eq!(code, Some(2));
    assert!(problems.contains("answers.csv:2") && problems.contains("answers.csv:3"), "{problems}");
    let (code, _, problems) = run(&["tune", "--fit", "answers.csv", "--policy", "identity"]);
    assert_eq!(code, Some(2), "{problems}");
}
