//! A load that cannot be made says everything that is wrong with it.

use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::input::{Format, Scenario, ScenarioFile, Source};
use ctxsim::timeline::load::load;
use ctxsim::timeline::{Due, Kind, Timeline, TurnIx};

/// Reads a scenario from TOML.
fn scenario(text: &str) -> ScenarioFile {
    let text = format!("name = \"it\"\nabout = \"\"\n{text}");
    Source::new("it.toml", Format::Toml, text).decode().unwrap_or_else(|it| panic!("{it}"))
}

/// Makes the timeline of a scenario that is not recorded.
fn made(text: &str) -> Result<Timeline, Vec<Diagnostic>> {
    match load(&Scenario::new(&scenario(text))?, |path, _| panic!("{path} is recorded")) {
        Ok(timeline) => Ok(timeline),
        Err(Error::Invalid(problems)) => Err(problems),
        Err(other) => panic!("{other}"),
    }
}

/// Returns the field and the code of every problem.
fn problems(text: &str) -> Vec<(String, &'static str)> {
    made(text).unwrap_err().into_iter().map(|it| (it.place.field, it.code.name())).collect()
}

#[test]
fn written_turns_report_every_problem_with_its_field() {
    let text = r#"
        call_overhead_tokens = 4_294_967_296
        chars_per_token = 0.0
        stable = [{ kind = "tool_result", tokens = 3_000_000_000 }]

        [[load.turns]]
        user_tokens = 2_147_483_648
        answer_tokens = 1
        answer_needs = { raw_content = -1.0 }
        follow_up_needs = { none = 1e308, raw_content = 1e308 }

        [[load.turns]]
        user_tokens = 1
        answer_tokens = 1
        calls = [{ tool = "", args_tokens = 1, result = { raw = 2_147_483_648 }, recover = { raw_content = 1 } }]
        revisits = [{ turns_back = 0, weight = nan }]
    "#;

    let found = problems(text);

    let expected = [
        ("stable.0.tokens", "size-too-large"),
        ("stable.0.kind", "stable-kind"),
        ("call_overhead_tokens", "size-too-large"),
        ("chars_per_token", "chars-per-token-zero"),
        ("load.turns.0.user_tokens", "size-too-large"),
        ("load.turns.0.answer_needs.raw_content", "weight-invalid"),
        ("load.turns.0.follow_up_needs", "weight-invalid"),
        ("load.turns.1.calls.0.tool", "tool-unnamed"),
        ("load.turns.1.calls.0.result.raw", "size-too-large"),
        ("load.turns.1.calls.0.recover.raw_content", "recover-unused"),
        ("load.turns.1.revisits.0.turns_back", "revisit-of-itself"),
        ("load.turns.1.revisits.0.weight", "weight-invalid"),
    ];
    assert_eq!(found, expected.map(|(field, code)| (field.to_owned(), code)));
    assert_eq!(problems("load.turns = []"), [("load.turns".to_owned(), "load-empty")]);
}

#[test]
fn a_silent_result_takes_its_sizes_from_its_whole() {
    let text = r#"
        [[load.turns]]
        user_tokens = 1
        answer_tokens = 1
        calls = [
            { tool = "rg", args_tokens = 1, result = { raw = 5_000 } },
            { tool = "rg", args_tokens = 1, result = { raw = 50 } },
            { tool = "rg", args_tokens = 1, result = { raw = 5_000, summary = 60 } },
        ]
    "#;

    let timeline = made(text).unwrap();

    let results = timeline.spine.items.iter().filter(|it| it.kind == Kind::ToolResult);
    let sizes: Vec<[u32; 4]> = results.map(|it| [it.raw, it.excerpt, it.summary, it.handle]).collect();
    assert_eq!(sizes, [[5_000, 256, 256, 96], [50, 50, 50, 50], [5_000, 60, 60, 60]]);
}

#[test]
fn needs_are_normalised_and_revisits_are_not() {
    let text = r#"
        [[load.turns]]
        user_tokens = 1
        answer_tokens = 1
        answer_needs = { raw_content = 1.0 }
        follow_up_needs = { raw_content = 3.0, none = 1.0 }

        [[load.turns]]
        user_tokens = 1
        answer_tokens = 1
        revisits = [
            { turns_back = 1, weight = 7.0 },
            { turns_back = 1, weight = 0.0 },
            { turns_back = 2 },
            { turns_back = 1, level = "none" },
            { turns_back = 1, level = "local_detail", weight = 0.5, recover_tokens = 9 },
        ]
    "#;

    let timeline = made(text).unwrap();

    assert!(timeline.needs.due(0, Due::Answer).is_empty(), "an answer without calls has no results to need");
    assert_eq!(timeline.needs.due(0, Due::TurnEnd)[0].weight, 0.75);
    let revisits: Vec<_> = timeline
        .needs
        .due(1, Due::TurnStart)
        .iter()
        .map(|it| (it.source, it.weight, it.recover_tokens))
        .collect();
    assert_eq!(revisits, [(0, 1.0, None), (0, 0.5, Some(9))]);
}

#[test]
fn a_recorded_load_gets_the_path_as_written_and_the_name_of_the_scenario() {
    let written = made("[[load.turns]]\nuser_tokens = 1\nanswer_tokens = 1").unwrap();
    let spec = scenario("[load.recorded]\npath = \"../session.jsonl\"\nassume = { summary_tokens_max = 7 }");

    let timeline = load(&Scenario::new(&spec).unwrap(), |path, assume| {
        assert_eq!((path, assume.summary_tokens_max), ("../session.jsonl", Some(7)));
        Ok(Timeline { name: "session".to_owned(), ..written })
    });

    assert_eq!(timeline.unwrap().name, "it");
}

#[test]
fn random_turns_follow_from_the_seed_and_grow_without_changing() {
    let random =
        |seed: u64, turns: u64| made(&format!("seed = {seed}\nload.random.turns = {turns}")).unwrap().spine;
    let [short, long, other] = [random(1, 40), random(1, 80), random(2, 40)];

    assert_eq!(short.items, long.items[..short.items.len()]);
    assert_eq!(short.steps, long.steps[..short.steps.len()]);
    assert_ne!(short.steps, other.steps);
}

#[test]
fn random_turns_have_every_shape() {
    let timeline = made("load.random.turns = 400").unwrap();

    let spine = &timeline.spine;
    assert!(spine.turns.iter().any(|it| it.steps.len() == 1), "an answer without calls");
    assert!(spine.turns.iter().any(|it| it.user.len() == 2), "two user messages");
    assert!(spine.steps.iter().any(|it| it.results.len() > 2), "parallel calls");
    assert!(spine.steps.is_sorted_by_key(|it| it.at_ms));
    let pauses = spine.steps.windows(2).map(|it| it[1].at_ms - it[0].at_ms);
    assert!(pauses.clone().any(|it| it == 0) && pauses.clone().any(|it| it > 3_600_000));
    let results = || spine.items.iter().filter(|it| it.kind == Kind::ToolResult);
    for shape in [
        (|it| it.raw == 0) as fn(&&ctxsim::timeline::Item) -> bool,
        |it| it.raw > 30_000,
        |it| it.handle == 0,
        |it| it.summary > it.raw,
        |it| it.excerpt < it.raw && it.summary < it.raw,
    ] {
        assert!(results().any(|it| shape(&it)));
    }
    for item in results() {
        let call = spine.items[item.pair as usize];
        assert_eq!((call.kind, call.tool, call.step_ix), (Kind::ToolCall, item.tool, item.step_ix));
    }
    let turns = 0..TurnIx::try_from(spine.turns.len()).unwrap();
    for due in [Due::TurnStart, Due::Answer, Due::TurnEnd] {
        let levels: std::collections::BTreeSet<_> =
            turns.clone().flat_map(|it| timeline.needs.due(it, due)).map(|it| it.level).collect();
        assert_eq!(levels.len(), 5, "{due:?}");
    }
}
