//! Where a policy's layout puts breakpoints, through the engine.

use ctxsim::timeline::Kind;

use super::*;

/// One turn: a system prompt of 2,000, a user's 500, and three steps whose results are 1,000 each.
fn timeline() -> Timeline {
    let mut builder = TimelineBuilder::new("layout", &[]);
    builder.stable(Kind::System, 2_000);
    builder.begin_turn(&[NewItem::plain(Kind::User, 500)]);
    for step in 0..3 {
        let results = [NewItem::plain(Kind::ToolResult, 1_000)];
        builder.step(step * 10_000, 100, &[NewItem::call("read", 100)], &results);
    }
    builder.finish()
}

fn divided(layout: &str) -> Vec<[u64; 4]> {
    let text = format!("(name: \"it\", about: \"it\", {layout})");
    let policy = policy_from(&text);
    let mut rows = Rows::default();
    Simulation::new(&timeline(), &policy, &Limits::NONE, &CacheRules::Breakpoints(rules(1_024)))
        .run(&mut rows);
    let rows = rows.requests.iter().map(|it| it.usage);
    rows.map(|it| [it.read, it.write[0], it.write[1], it.uncached]).collect()
}

#[test]
fn a_silent_policy_asks_for_what_the_harness_asks_for() {
    assert_eq!(divided(""), [[0, 2_500, 0, 0], [2_500, 1_100, 0, 0], [3_600, 1_100, 0, 0]]);
}

#[test]
fn a_layout_without_breakpoints_caches_nothing() {
    assert_eq!(divided("layout: (breakpoints: [])"), [[0, 0, 0, 2_500], [0, 0, 0, 3_600], [0, 0, 0, 4_700]]);
}

#[test]
fn a_breakpoint_behind_the_system_prompt_alone_leaves_the_messages_uncached() {
    let layout = "layout: (breakpoints: [(at: end_of(system), ttl: \"1h\")])";

    assert_eq!(divided(layout), [[0, 0, 2_000, 500], [2_000, 0, 0, 1_600], [2_000, 0, 0, 2_700]]);
}

#[test]
fn an_offset_passes_over_the_last_messages_and_automatic_marks_the_end() {
    let behind = "layout: (breakpoints: [(at: last_messages(n: 1, offset: 1))])";
    assert_eq!(divided(behind), [[0, 0, 0, 2_500], [0, 2_600, 0, 1_000], [2_600, 1_100, 0, 1_000]]);

    let automatic = "layout: (breakpoints: [(at: automatic)])";
    assert_eq!(divided(automatic), [[0, 2_500, 0, 0], [2_500, 1_100, 0, 0], [3_600, 1_100, 0, 0]]);
}

#[test]
fn a_breakpoint_nowhere_is_refused() {
    let text = "(name: \"it\", about: \"it\", layout: (breakpoints: [(at: last_messages(n: 0))]))";

    let problems = Policy::new(&decode(text, Format::Ron).unwrap()).unwrap_err();

    assert_eq!(
        (problems[0].code.name(), problems[0].place.field.as_str()),
        ("breakpoint-nowhere", "layout.breakpoints.0.at")
    );
}

#[test]
fn content_in_front_that_changes_with_each_request_breaks_all_behind_it() {
    let time = "layout: (dynamic: [(name: \"time\", tokens: 25)])";

    assert_eq!(divided(time), [[0, 2_525, 0, 0], [0, 3_625, 0, 0], [0, 4_725, 0, 0]]);
}

#[test]
fn content_behind_the_system_prompt_leaves_that_to_its_own_breakpoint() {
    let files =
        |changes| format!("layout: (dynamic: [(tokens: 400, at: behind_system, changes: {changes})])");

    assert_eq!(divided(&files("request")), [[0, 2_900, 0, 0], [2_000, 2_000, 0, 0], [2_000, 3_100, 0, 0]]);
    assert_eq!(divided(&files("turn")), [[0, 2_900, 0, 0], [2_900, 1_100, 0, 0], [4_000, 1_100, 0, 0]]);
}

#[test]
fn content_at_the_tail_is_sent_with_every_request_and_never_cached() {
    let time = "layout: (dynamic: [(name: \"time\", tokens: 25, at: tail)])";

    assert_eq!(divided(time), [[0, 2_500, 0, 25], [2_500, 1_100, 0, 25], [3_600, 1_100, 0, 25]]);
}

#[test]
fn what_changes_with_a_turn_or_a_session_is_written_anew_then_and_only_then() {
    let mut builder = TimelineBuilder::new("sessions", &[]);
    builder.stable(Kind::System, 2_000);
    for nth in 0..4 {
        if nth == 2 {
            builder.begin_session("second", None);
        }
        builder.begin_turn(&[NewItem::plain(Kind::User, 100)]);
        builder.step(nth * 10_000, 10, &[NewItem::plain(Kind::Assistant, 10)], &[]);
    }
    let timeline = builder.finish();
    let reads = |changes: &str| {
        let dynamic = format!("dynamic: [(tokens: 400, at: front_of_system, changes: {changes})]");
        let text = format!("(name: \"it\", about: \"it\", layout: ({dynamic}))");
        let policy = policy_from(&text);
        let mut rows = Rows::default();
        Simulation::new(&timeline, &policy, &Limits::NONE, &CacheRules::Breakpoints(rules(1_024)))
            .run(&mut rows);
        rows.requests.iter().map(|it| it.usage.read).collect::<Vec<_>>()
    };

    assert_eq!(reads("turn"), [0, 0, 0, 0]);
    assert_eq!(reads("session"), [0, 2_500, 0, 2_500], "the second session has other content in front");
}
