//! Patterns of turns: what they say, written out turn by turn, makes the same load.

use ctxsim::input::scenario::{
    Amount, Cycle, Generate, Level, ListChoice, NumberRange, PatternPlaces, PatternRandom, ResultSizes,
    Revisit, ScriptedCall, TurnSpec,
};
use ctxsim::timeline::facts::FactPlane;
use ctxsim::timeline::load::load;
use ctxsim::timeline::{Due, Phase, TurnIx, When};
use proptest::prelude::*;

use super::*;

/// Reads a load from TOML.
fn scenario(load: &str) -> ScenarioFile {
    let text = format!("name = \"it\"\nabout = \"\"\ncall_overhead_tokens = 28\n{load}");
    Source::new("it.toml", Format::Toml, text).decode().unwrap_or_else(|it| panic!("{it}"))
}

/// Returns the patterns of a scenario.
fn patterns(spec: &mut ScenarioFile) -> &mut Generate {
    let LoadSpec::Generate(generate) = &mut spec.load else { panic!("{} has no patterns", spec.name) };
    generate
}

/// Makes the timeline of a scenario that must be well-formed.
fn made(spec: &ScenarioFile) -> Timeline {
    let scenario = Scenario::new(spec).unwrap_or_else(|it| panic!("{it:#?}"));
    load(&scenario, |path, _| panic!("{path} is recorded")).unwrap()
}

/// Returns the example of the reference as it would be written.
fn example() -> ScenarioFile {
    let path = root().join("docs/reference/scenario.toml");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().skip_while(|it| !it.starts_with("# [load.generate]"));
    let lines = lines.take_while(|it| !it.starts_with("# [load.random]"));
    let lines: Vec<&str> = lines.map(|it| it.trim_start_matches("# ").trim_start_matches('#')).collect();
    scenario(&lines.join("\n"))
}

/// Returns the tool and the size of each result of a turn.
fn results(timeline: &Timeline, turn: usize) -> Vec<(&str, u32)> {
    let row = &timeline.spine.turns[turn];
    let items = &timeline.spine.items[row.items.start as usize..row.items.end as usize];
    let results = items.iter().filter(|it| it.kind == Kind::ToolResult);
    results.map(|it| (timeline.spine.tools[usize::from(it.tool)].as_str(), it.raw)).collect()
}

#[test]
fn the_example_of_the_reference_does_what_it_says() {
    let timeline = made(&example());

    let user = |turn: usize| timeline.spine.items[timeline.spine.turns[turn].user.start as usize].raw;
    assert_eq!(timeline.spine.turns.len(), 21);
    assert_eq!([0, 1, 2, 3, 4, 5, 20].map(user), [110, 1_600, 1_640, 1_680, 1_720, 1_600, 90]);
    assert_eq!(
        results(&timeline, 1),
        [
            ("read_file", 7_200),
            ("read_file", 8_899),
            ("rg", 900 + 280),
            ("read_file", 7_200 + 5_097),
            ("read_file", 7_200 + 6_796),
            ("rg", 900)
        ]
    );
    assert_eq!(results(&timeline, 2), [], "the second of three turns calls nothing");
    assert_eq!(results(&timeline, 3)[0], ("read_file", 7_200 + 2 * 997));
    assert!(timeline.needs.due(1, Due::TurnStart).is_empty(), "nothing of the pattern went before");
    assert_eq!(timeline.needs.due(2, Due::TurnStart)[0].source, 1);
    assert_eq!(timeline.needs.due(1, Due::TurnEnd).len(), 1);
    assert!(timeline.needs.due(2, Due::TurnEnd).is_empty(), "what was talked of is not needed");
    let facts = timeline.facts.as_ref().unwrap();
    let at = When { turn_ix: 20, phase: Phase::TurnStart };
    assert!(facts.probes.len() == 2 && facts.probes.iter().all(|it| it.at == at));
    // The first turn tells it; of the 19 that follow 13 search twice each.
    let versions = facts.probes.iter().map(|it| facts.plants[it.plant as usize].version);
    assert_eq!(versions.collect::<Vec<u16>>(), [1 + 13 * 2, 1]);
}

#[test]
fn a_scale_repeats_each_pattern_and_a_number_of_turns_cuts_the_last_ones() {
    let mut spec = example();
    patterns(&mut spec).turns = Some(45);

    let users = |spec: &ScenarioFile| -> Vec<usize> {
        let load = made(spec);
        let rows = load.spine.turns.iter().map(|it| load.spine.items[it.user.start as usize].raw);
        let rows: Vec<u32> = rows.collect();
        [110, 90].map(|tokens| rows.iter().filter(|it| **it == tokens).count()).to_vec()
    };

    assert_eq!(users(&spec), [3, 0], "three times 1 and 19, of which 42 are left");
    *patterns(&mut spec) = Generate { turns: None, scale: Some(2), ..patterns(&mut spec).clone() };
    assert_eq!(users(&spec), [2, 2]);
    assert_eq!(made(&spec).spine.turns.len(), 42);
}

#[test]
fn a_long_run_has_the_patterns_of_the_four_stress_scenarios() {
    let mut scenarios = decoded::<ScenarioFile>("scenarios");
    let names =
        ["long_code_development", "many_tools_per_loop", "process_log_marathon", "fullstack_refactor"];

    let parts = names
        .map(|it| patterns(scenarios.get_mut(&format!("duckagent/stress_{it}")).unwrap()).patterns.clone());

    assert_eq!(patterns(scenarios.get_mut("duckagent/long_run").unwrap()).patterns, parts.concat());
}

/// A grid of a live benchmark: requirements, turns that fill the window, look-ups with facts, a correction, questions.
#[test]
fn a_workload_of_fillers_look_ups_and_questions_can_be_said_in_patterns() {
    let look_up = |name: &str| {
        format!(
            "[[load.generate.patterns]]\nuser_tokens = 50\nanswer_tokens = 268\n\
             calls = [{{ tool = \"lookup_{name}\", args_tokens = 4, plants = [\"{name} 1\", \"{name} 2\"], result = {{ raw = 10_780 }} }}]\n"
        )
    };
    let fillers = |n: u64| {
        format!("[[load.generate.patterns]]\ntimes = {n}\nuser_tokens = 1_784\nanswer_tokens = 268\n")
    };
    let said =
        |more: &str| format!("[[load.generate.patterns]]\nuser_tokens = 110\nanswer_tokens = 268\n{more}\n");
    let turns = [
        said("plants = [\"code\"]"),
        look_up("early"),
        fillers(6),
        said("plants = [\"code\"]"),
        look_up("mid"),
        fillers(6),
        said("asks = [\"code\", \"early 1\", \"early 2\", \"mid 1\", \"mid 2\"]"),
    ];

    let spec = scenario(&format!("[load.generate]\nscale = 1\n{}", turns.concat()));
    let timeline = made(&spec);

    let facts = timeline.facts.unwrap();
    assert_eq!((timeline.spine.turns.len(), facts.plants.len(), facts.probes.len()), (17, 6, 5));
    let asked: Vec<(u16, u32)> = facts
        .probes
        .iter()
        .map(|it| &facts.plants[it.plant as usize])
        .map(|it| (it.version, timeline.spine.items[it.item as usize].raw))
        .collect();
    assert_eq!(asked, [(2, 110), (1, 10_780), (1, 10_780), (1, 10_780), (1, 10_780)]);
}

#[test]
fn a_pattern_of_ones_own_runs_from_its_file_and_takes_another_length() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let spec = ScenarioFile { name: "mine".to_owned(), ..example() };
    fs::write(&path, ctxsim::input::text::source::encode(&spec, Format::Toml).unwrap()).unwrap();
    let turns = |set: &[&str]| {
        let comparison = Comparison {
            set: owned(set),
            ..comparing(&["identity"], &[&path.display().to_string()], &["anthropic/claude-sonnet-4.5"])
        };
        let report = reported(&comparison);
        report.runs[0].tally.outcome.turns_requested
    };

    assert_eq!(turns(&[]), 21);
    assert_eq!(turns(&["scenario.load.generate.turns=30"]), 30);
}

#[test]
fn drawn_numbers_keep_to_their_range_and_of_named_streams_a_longer_load_begins_as_a_shorter_one() {
    let drawn = |times: u64, random: &str, seed: u64| {
        let mut spec = scenario(&format!(
            "[load.generate]\nscale = 1\nrandom = \"{random}\"\n[[load.generate.patterns]]\ntimes = {times}\n\
             user_tokens = {{ first = 60, last = 140 }}\nrounds = {{ one_of = [1, 1, 4] }}\nanswer_tokens = 5\n\
             gap_ms = {{ first = 10, last = 20 }}\n\
             calls = [{{ tool = \"rg\", args_tokens = 1, result = {{ raw = {{ one_of = [7, 9] }} }} }}]"
        ));
        spec.seed = seed;
        made(&spec)
    };
    let items = |it: &Timeline| it.spine.items.iter().map(|it| it.raw).collect::<Vec<u32>>();
    let (short, long) = (drawn(10, "named", 3), drawn(40, "named", 3));

    let users = long.spine.turns.iter().map(|it| long.spine.items[it.user.start as usize].raw);
    let users: BTreeSet<u32> = users.collect();
    assert!(users.len() > 10 && users.iter().all(|it| (60..=140).contains(it)), "{users:?}");
    let rounds: BTreeSet<u32> = long.spine.turns.iter().map(|it| it.steps.end - it.steps.start - 1).collect();
    assert_eq!(rounds, BTreeSet::from([1, 4]));
    assert!(long.spine.steps.is_sorted_by_key(|it| it.at_ms) && long.spine.steps[79].at_ms >= 390);
    assert!(items(&long).starts_with(&items(&short)));
    for other in [drawn(10, "named", 4), drawn(10, "splitmix64", 3)] {
        assert_ne!(items(&other), items(&short));
    }
}

/// Writes a load of patterns out, turn by turn and call by call, with sizes that are numbers.
fn written_out(load: &Generate) -> Vec<TurnSpec> {
    let n_turns: u64 = load.patterns.iter().map(|it| it.times).sum();
    let wanted = load.turns.unwrap_or(u64::MAX);
    let scale = load.scale.unwrap_or_else(|| (0..).find(|it| it * n_turns >= wanted).unwrap());
    let all = load.patterns.iter().flat_map(|it| (0..it.times * scale).map(move |turn| one(it, turn)));
    all.take(usize::try_from(wanted).unwrap()).collect()
}

/// Writes one turn of a pattern out.
fn one(pattern: &TurnSpec, turn: u64) -> TurnSpec {
    let mut calls = Vec::new();
    for _ in 0..pattern.rounds.most() {
        for call in &pattern.calls {
            let is_made = call.turns.as_ref().is_none_or(|it| it.at.iter().any(|at| turn % it.every == *at));
            for _ in 0..if is_made { call.times } else { 0 } {
                let nth = calls.len() as u64;
                let value = |it: &Amount| value(it, turn, nth);
                let ResultSizes { raw, excerpt, summary, handle } = &call.result;
                calls.push(ScriptedCall {
                    times: 1,
                    turns: None,
                    text_tokens: value(&call.text_tokens),
                    gap_ms: call.gap_ms.as_ref().map(value),
                    purpose_tokens: value(&call.purpose_tokens),
                    args_tokens: value(&call.args_tokens),
                    result: ResultSizes {
                        raw: value(raw),
                        excerpt: excerpt.as_ref().map(value),
                        summary: summary.as_ref().map(value),
                        handle: handle.as_ref().map(value),
                    },
                    ..call.clone()
                });
            }
        }
    }
    let is_talk = calls.is_empty() && !pattern.talk_needs.is_empty();
    let follow_up_needs = if is_talk { &pattern.talk_needs } else { &pattern.follow_up_needs };
    TurnSpec {
        times: 1,
        rounds: Amount::Fixed(1),
        gap_ms: pattern.gap_ms.as_ref().map(|it| value(it, turn, 0)),
        user_tokens: value(&pattern.user_tokens, turn, 0),
        answer_tokens: value(&pattern.answer_tokens, turn, 0),
        follow_up_needs: follow_up_needs.clone(),
        talk_needs: IndexMap::new(),
        revisits: pattern.revisits.iter().filter(|it| it.turns_back <= turn).cloned().collect(),
        calls,
        ..pattern.clone()
    }
}

/// Computes a size where nothing overflows.
fn value(amount: &Amount, turn: u64, nth: u64) -> Amount {
    let Amount::Cycle(cycle) = amount else { return amount.clone() };
    let grown = u128::from(turn) * u128::from(cycle.per_turn) + u128::from(nth) * u128::from(cycle.per_call);
    Amount::Fixed(cycle.base + u64::try_from(grown % u128::from(cycle.modulo)).unwrap())
}

/// Everything of a timeline that its turns decide.
fn told(timeline: &Timeline) -> String {
    let Timeline { spine, needs, facts, .. } = timeline;
    let turns = 0..TurnIx::try_from(spine.turns.len()).unwrap();
    let due =
        turns.flat_map(|turn| [Due::TurnStart, Due::Answer, Due::TurnEnd].map(|it| needs.due(turn, it)));
    let due: Vec<_> = due.collect();
    let facts = facts.as_ref().map(|FactPlane { plants, probes, .. }| (plants, probes));
    format!("{spine:#?}\n{due:#?}\n{:#?}\n{facts:#?}", needs.evidence)
}

/// Numbers that are rarely meant.
fn odd() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![0, 1 << 31, (1 << 31) - 1, 1 << 62, i64::MAX.unsigned_abs(), u64::MAX])
}

/// A number of a range; of `one_in`, one that is rarely meant.
fn number(range: std::ops::Range<u64>, one_in: u32) -> BoxedStrategy<u64> {
    if one_in == 0 { range.boxed() } else { prop_oneof![one_in - 1 => range, 1 => odd()].boxed() }
}

fn amount(odd: u32) -> impl Strategy<Value = Amount> {
    let cycle = (number(0..5_000, odd), number(0..3_000, odd), number(0..3_000, odd), number(1..4_000, odd));
    let cycle =
        cycle.prop_map(|(base, per_turn, per_call, modulo)| Cycle { base, per_turn, per_call, modulo });
    let ends = (number(0..3_000, odd), number(3_000..5_000, odd));
    let list = prop::collection::vec(number(0..5_000, odd), usize::from(odd == 0)..4);
    prop_oneof![
        2 => number(0..5_000, odd).prop_map(Amount::Fixed),
        2 => cycle.prop_map(Amount::Cycle),
        1 => ends.prop_map(|(first, last)| Amount::Range(NumberRange { first, last })),
        1 => list.prop_map(|one_of| Amount::Choice(ListChoice { one_of })),
    ]
}

fn needs() -> impl Strategy<Value = IndexMap<Level, f64>> {
    let level = prop::sample::select(vec![Level::None, Level::LocalDetail, Level::RawContent]);
    prop::collection::vec((level, 0.0..2.0), 0..3).prop_map(|it| it.into_iter().collect())
}

fn facts() -> impl Strategy<Value = Vec<String>> {
    prop::sample::subsequence(vec!["port".to_owned(), "name".to_owned()], 0..=1)
}

fn call(odd: u32) -> impl Strategy<Value = ScriptedCall> {
    let places = (1_u64..5, prop::collection::btree_set(0_u64..5, 1..3)).prop_map(|(every, at)| {
        let mut at: Vec<u64> = at.into_iter().map(|it| it % every).collect();
        at.dedup();
        PatternPlaces { every, at }
    });
    let sizes =
        (amount(odd), prop::option::of(amount(odd)), prop::option::of(amount(odd)), Just(None::<Amount>));
    let result =
        sizes.prop_map(|(raw, excerpt, summary, handle)| ResultSizes { raw, excerpt, summary, handle });
    let said = (amount(odd), amount(odd), amount(odd));
    (number(1..4, odd), prop::option::of(places), said, result, facts()).prop_map(
        |(times, turns, (text_tokens, purpose_tokens, args_tokens), result, plants)| ScriptedCall {
            name: String::new(),
            tool: "rg".to_owned(),
            times,
            turns,
            text_tokens,
            purpose_tokens,
            args_tokens,
            result,
            images: Vec::new(),
            gap_ms: (times > 1).then_some(Amount::Fixed(3_000)),
            plants,
            spreads: IndexMap::from([("spread".to_owned(), 3)]),
            preserve: None,
            recover: IndexMap::from([(Level::LocalDetail, 7)]),
        },
    )
}

fn pattern(odd: u32) -> impl Strategy<Value = TurnSpec> {
    let revisit = (1_u64..6).prop_map(|turns_back| Revisit {
        name: String::new(),
        turns_back,
        level: Level::ExactEvidence,
        weight: 0.5,
        recover_tokens: None,
    });
    let counts = (number(1..6, odd), number(1..4, odd));
    let lists = (prop::collection::vec(call(odd), 0..4), prop::collection::vec(revisit, 0..3), facts());
    (counts, (amount(odd), amount(odd), prop::option::of(amount(odd))), lists, [needs(), needs(), needs()])
        .prop_map(
            |((times, rounds), (user_tokens, answer_tokens, gap_ms), (calls, revisits, plants), needs)| {
                let [answer_needs, follow_up_needs, talk_needs] = needs;
                TurnSpec {
                    name: String::new(),
                    times,
                    user_tokens,
                    answer_tokens,
                    rounds: Amount::Fixed(rounds),
                    response_ms: Amount::Fixed(2_000),
                    gap_ms,
                    calls,
                    repeats: true,
                    asks: plants.clone(),
                    plants,
                    answer_needs,
                    follow_up_needs,
                    talk_needs,
                    revisits,
                    ..TurnSpec::default()
                }
            },
        )
}

/// A load of patterns; of `odd` numbers one is rarely meant, of 0 none.
fn generate(odd: u32) -> impl Strategy<Value = Generate> {
    let length = prop_oneof![
        number(1..40, odd).prop_map(|it| (Some(it), None)),
        number(1..4, odd).prop_map(|it| (None, Some(it)))
    ];
    (length, prop::collection::vec(pattern(odd), 1..4)).prop_map(|((turns, scale), patterns)| Generate {
        turns,
        scale,
        random: PatternRandom::Named,
        patterns,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patterns_make_the_load_that_they_come_to_when_written_out(generate in generate(0)) {
        let repeated = ScenarioFile { load: LoadSpec::Generate(generate.clone()), ..example() };
        let written = ScenarioFile { load: LoadSpec::Turns(written_out(&generate)), ..example() };

        prop_assert_eq!(told(&made(&repeated)), told(&made(&written)));
    }

    #[test]
    fn patterns_of_any_numbers_are_refused_or_make_a_load_of_bounded_size(generate in generate(40)) {
        let spec = ScenarioFile { load: LoadSpec::Generate(generate), ..example() };

        match Scenario::new(&spec) {
            Ok(_) => {
                let spine = made(&spec).spine;
                prop_assert!(spine.items.len() <= 25_000_000);
                prop_assert!(spine.items.iter().all(|it| it.raw < 1 << 31));
            }
            Err(problems) => prop_assert!(problems.iter().all(|it| it.help.is_some())),
        }
    }
}
