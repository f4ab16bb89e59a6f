//! The DuckAgent workloads add up to the figures of the simulator that they come from.

use ctxsim::input::ScenarioFile;
use ctxsim::input::scenario::{Level, LoadSpec};
use ctxsim::timeline::{Due, Item, Kind, Timeline, TurnIx};

use super::*;

/// The levels that cost something, in ascending order.
const LEVELS: [Level; 5] = [
    Level::GlobalConclusion,
    Level::ContinuationHandle,
    Level::LocalDetail,
    Level::ExactEvidence,
    Level::RawContent,
];

/// Adds up a timeline, with every sum in the order of the timeline.
fn digest(timeline: &Timeline) -> String {
    let spine = &timeline.spine;
    let sum = |kind: Kind, size: fn(&Item) -> u32| -> u64 {
        spine.items.iter().filter(|it| it.kind == kind).map(|it| u64::from(size(it))).sum()
    };
    let n_calls = spine.items.iter().filter(|it| it.kind == Kind::ToolCall).count();
    let result = |size| sum(Kind::ToolResult, size);
    let mut text = format!(
        "  loops calls raw excerpt summary handle call user answer: {} {n_calls} {} {} {} {} {} {} {}\n",
        spine.turns.len(),
        result(|it| it.raw),
        result(|it| it.excerpt),
        result(|it| it.summary),
        result(|it| it.handle),
        sum(Kind::ToolCall, |it| it.raw),
        sum(Kind::User, |it| it.raw),
        sum(Kind::Assistant, |it| it.raw),
    );
    let recover =
        |level| -> u64 { timeline.needs.evidence.iter().map(|it| u64::from(it.recover_tokens(level))).sum() };
    let _ = writeln!(
        text,
        "  recover handle local exact: {} {} {}",
        recover(Level::ContinuationHandle),
        recover(Level::LocalDetail),
        recover(Level::ExactEvidence)
    );
    for (name, due) in [("loop_start", Due::TurnStart), ("answer", Due::Answer), ("loop_end", Due::TurnEnd)] {
        let weights = LEVELS.map(|level| format!("{:?}", weight(timeline, due, level)));
        let _ = writeln!(text, "  {name}: {}", weights.join(" "));
    }
    text
}

/// Adds up the weights of a level that are due at a moment.
fn weight(timeline: &Timeline, due: Due, level: Level) -> f64 {
    let turns = 0..TurnIx::try_from(timeline.spine.turns.len()).unwrap();
    let needs = turns.flat_map(|it| timeline.needs.due(it, due)).filter(|it| it.level == level);
    needs.fold(0.0, |sum, it| sum + it.weight)
}

#[test]
fn the_duckagent_workloads_add_up_as_in_their_source() {
    let scenarios: BTreeMap<String, ScenarioFile> = decoded("scenarios");
    let golden =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/duckagent_workloads.txt"));
    let golden = golden.unwrap();

    let mut text = String::new();
    for title in golden.lines().filter(|it| !it.starts_with(' ')) {
        let (name, length) = title.split_once(' ').unwrap_or((title, ""));
        let mut spec = scenarios[&format!("duckagent/{name}")].clone();
        if let LoadSpec::Generate(load) = &mut spec.load {
            let given = if load.turns.is_some() { &mut load.turns } else { &mut load.scale };
            *given = Some(length.parse().unwrap());
        }
        let timeline = bundled(&BTreeMap::from([(name.to_owned(), spec)]), name);
        let _ = write!(text, "{title}\n{}", digest(&timeline));
    }

    assert_eq!(text, golden);
}

#[test]
fn a_call_is_a_step_of_its_own_and_the_answer_is_the_last_one() {
    let timeline = bundled(&decoded("scenarios"), "duckagent/fix_test_loop");

    let spine = &timeline.spine;
    assert_eq!(timeline.stable_tokens(), 4_620);
    assert_eq!(spine.steps.len(), 5, "two calls and an answer, then one call and an answer");
    for row in &spine.turns {
        let steps = &spine.steps[row.steps.start as usize..row.steps.end as usize];
        let (answer, calls) = steps.split_last().unwrap();
        assert_eq!(spine.items[answer.reply.start as usize].kind, Kind::Assistant);
        assert!(answer.results.is_empty());
        for step in calls {
            let call = spine.items[step.reply.start as usize];
            assert_eq!((call.kind, u64::from(call.raw)), (Kind::ToolCall, step.output_tokens));
            assert_eq!((call.pair, step.results.len()), (step.results.start, 1));
        }
    }
}
