//! What holds of every memory: same seed, same numbers; the same stream for all; losses that follow from their mechanism.

use ctxsim::catalog::InputKind;
use ctxsim::input::scenario::{AgingLoad, Happening, PressurePreset};
use ctxsim::report::json;
use ctxsim::worlds::aging::generate::GENERATORS;
use ctxsim::worlds::aging::stream::Ask;
use ctxsim::worlds::graph::{FactRelation, Graph, Says};

use super::*;

#[test]
fn every_generator_makes_as_many_sessions_as_are_asked_for_and_a_sound_graph() {
    for (generator, _) in GENERATORS {
        for pressure in [PressurePreset::None, PressurePreset::Heavy] {
            for sessions in [2, 30] {
                let load = AgingLoad { generator: generator.to_owned(), sessions, pressure, ..load("s1") };
                let stream = stream(&load, 0);
                assert_eq!(stream.sessions.len() as u64, sessions, "{generator}");
                assert_eq!(stream.graph.check(), Ok(()), "{generator}");
            }
        }
    }
}

#[test]
fn a_question_for_one_fact_stands_in_the_graph_as_an_edge_of_its_own() {
    for name in ["s1_200", "s2_10", "s4_12", "s5_10", "s6_12", "s7_10"] {
        let stream = stream(&load(name), 0);
        let asked = stream.probes.iter().filter_map(|it| match &it.ask {
            Ask::Any { facts, .. } if facts.len() == 1 => Some((it.from, facts[0])),
            _ => None,
        });
        let alone = stream.graph.edges.iter().filter(|it| it.relation == FactRelation::Standalone);
        let [mut asked, mut edges] =
            [asked.collect::<Vec<_>>(), alone.map(|it| (it.session, it.facts[0])).collect()];
        [&mut asked, &mut edges].into_iter().for_each(|it| it.sort_unstable());
        assert!(!asked.is_empty() && asked == edges, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let report = |threads| {
        let comparison = Comparison { suite: Some("aging-lite".to_owned()), ..Comparison::default() };
        let plan = planned(&comparison);
        json::report_json(&plan.report(Some(threads), &|_, _| {}).unwrap()).unwrap()
    };

    assert_eq!(report(1), report(2));
}

#[test]
fn a_run_with_an_event_is_its_control_run_before_the_event() {
    for what in [
        Happening::FlushHistory,
        Happening::PartialReset { share: 0.5 },
        Happening::Reindex,
        Happening::ReduceBudget { words: 150 },
        Happening::MemoryCompaction { words: 80 },
        Happening::Recompact,
        Happening::Migration,
        Happening::PromptUpdate { prompt: "careful".to_owned() },
        Happening::ModelRotation { model: "weak".to_owned() },
    ] {
        let stream = stream(&load("s6_12"), 0);
        for name in ["lossy", "growing_history", "append_only", "lossy_episodic", "workspace"] {
            let calm = play(&stream, &[], &memory(name));
            let struck = play(&stream, &[event(6, what.clone())], &memory(name));
            assert_eq!(calm.sessions[..6], struck.sessions[..6], "{name}: {what:?}");
            let n_before = calm.asked.iter().filter(|it| it.session < 6).count();
            assert_eq!(calm.asked[..n_before], struck.asked[..n_before], "{name}: {what:?}");
        }
    }
}

#[test]
fn a_flush_costs_a_memory_and_a_summary_made_from_the_history_less() {
    let load = load("s6_12_flush");
    let shock = |name: &str| summary(&load, 40, &memory(name), model("mid")).mean("shock").unwrap();

    assert!(shock("lossy") < -0.05);
    assert!(shock("careful") < shock("growing_history"));
}

#[test]
fn the_floor_keeps_nothing_and_the_ceiling_everything() {
    let load = load("s1_curated_8");
    let last = |name: &str| summary(&load, 5, &memory(name), model("mid")).mean("final").unwrap();

    assert!(last("no_memory") < 0.05);
    assert_eq!(last("full_context"), 1.0);
    assert!(last("lossy") > last("no_memory") && last("careful") < last("full_context"));
}

#[test]
fn recall_in_the_last_session_is_the_mean_of_its_questions_by_lag() {
    let (load, spec) = (load("s6_12"), memory("lossy"));
    let stream = stream(&load, 3);
    let log = play(&stream, &[], &spec);
    let last: Vec<_> = log.asked.iter().filter(|it| it.session == 11).collect();
    let right = last.iter().filter(|it| it.answers[0].is_right).count() as f64;

    assert_eq!(log.sessions[11].score, Some(right / last.len() as f64));
}

#[test]
fn a_fact_changed_after_it_was_retracted_is_told_and_so_are_circles_and_unknown_domains() {
    let mut graph = Graph { domains: vec!["work".to_owned()], ..Graph::default() };
    let record = graph.record(0, 0).unwrap();
    assert_eq!(graph.record(0, 7).unwrap_err().code.name(), "domain-unknown");
    let fact = graph.say(record, Says::Value(1), true);
    let later = graph.record(2, 0).unwrap();
    let new = graph.update(fact, later, 2).unwrap();
    assert_eq!(graph.update(fact, later, 3).unwrap_err().code.name(), "fact-replaced");
    assert_eq!((graph.current(fact, 1), graph.current(fact, 2)), (Some(fact), Some(new)));
    graph.invalidate(new, 3);
    assert_eq!(graph.update(new, later, 3).unwrap_err().code.name(), "fact-invalidated");
    assert_eq!(graph.current(fact, 3), None);

    let codes = |graph: &Graph| -> Vec<&str> {
        graph.check().err().unwrap_or_default().iter().map(|it| it.code.name()).collect()
    };
    assert!(codes(&graph).is_empty());
    graph.facts[new as usize].replaced_by = Some(fact);
    assert!(codes(&graph).contains(&"fact-circle"));
    graph.facts[new as usize].replaced_by = None;
    graph.facts[fact as usize].invalidated_at = Some(1);
    graph.facts[fact as usize].domain = 9;
    assert_eq!(codes(&graph), ["domain-unknown", "fact-invalidated"]);
}

#[test]
fn every_bundled_memory_names_prompts_that_are_declared_and_plays_every_scenario_of_the_lighter_suite() {
    let catalog = bundled_catalog();
    let policies = catalog.expand_pattern(InputKind::Policy, "aging/*");
    assert!(policies.len() > 15);
    for name in policies {
        ctxsim::app::check::check_input(&catalog, InputKind::Policy, &name).unwrap();
        let name = name.trim_start_matches("aging/").to_owned();
        for scenario in ["s1", "s2", "s7"] {
            let of = load(scenario);
            let log = play(&stream(&of, 0), &of.events, &memory(&name));
            assert!(
                log.sessions.iter().filter_map(|it| it.score).all(|it| (0.0..=1.0).contains(&it)),
                "{name}"
            );
        }
    }
}
