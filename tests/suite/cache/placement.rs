//! A locked comparison: policies that differ in nothing but where they ask for breakpoints.

use ctxsim::price::Costs;

use super::listed::profile;
use crate::support::*;

const LAYOUTS: [(&str, &str); 8] = [
    ("silent", ""),
    ("none", "[]"),
    ("last tool", "[(at: end_of(tools))]"),
    ("last system", "[(at: end_of(system))]"),
    ("last system, 1h", "[(at: end_of(system), ttl: \"1h\")]"),
    ("last message", "[(at: last_messages(n: 1))]"),
    ("last 3 messages", "[(at: last_messages(n: 3))]"),
    ("system 1h, automatic", "[(at: end_of(system), ttl: \"1h\"), (at: automatic)]"),
];

/// Twelve turns of three steps, a minute a step and half an hour between turns; a policy clears old results.
fn timeline() -> Timeline {
    let mut builder = TimelineBuilder::new("placement", &[]);
    builder.stable(Kind::ToolSchema, 6_000);
    builder.stable(Kind::System, 3_000);
    for n in 0..12 {
        builder.begin_turn(&[NewItem::plain(Kind::User, 200)]);
        for step in 0..3 {
            let at_ms = (n * 30 + step) * 60_000;
            let results = [NewItem::plain(Kind::ToolResult, 2_500), NewItem::plain(Kind::ToolResult, 400)];
            let calls = [NewItem::call("read", 60), NewItem::call("list", 40)];
            builder.step(at_ms, 100, &calls, &results);
        }
    }
    builder.finish()
}

fn policy(layout: &str) -> Policy {
    let layout = if layout.is_empty() { String::new() } else { format!(", layout: (breakpoints: {layout})") };
    let clear = "(name: \"clear\", scope: (part: completed, kinds: [tool_result], keep_recent: turns(4)), apply: show(marker(12)))";
    let text = format!("(name: \"it\", about: \"it\", stages: [{clear}]{layout})");
    policy_from(&text)
}

fn profiles() -> [(&'static str, Profile); 3] {
    let breakpoints = "[cache.breakpoints]\nmin_tokens = 1_024\n";
    let looked_back = format!("{breakpoints}lookback_positions = 20\nttl = [\"5m\", \"1h\"]");
    let looked_up = format!(
        "{breakpoints}lookup = {{ first = 2, latest = 50, message_ends = 20, lead = true }}\nautomatic = \"last_message\"\nimplicit = true\nttl = \"30m\""
    );
    let stored = "[cache.stored]\nmin_tokens = 4_096\nttl = \"1h\"\nrenewal = \"on_use\"";
    let [two, one] = ["{ \"5m\" = 6.25, \"1h\" = 10.0 }", "{ \"30m\" = 6.25 }"]
        .map(|it| format!("input = 5.0\noutput = 25.0\ncache_read = 0.5\ncache_write = {it}"));
    [
        ("looked back for", profile(&looked_back, &two)),
        ("looked up", profile(&looked_up, &one)),
        ("stored", profile(stored, "input = 5.0\noutput = 25.0\ncache_read = 0.5\nstorage = 4.5")),
    ]
}

#[test]
fn changing_only_the_placement_changes_reads_and_writes() {
    let timeline = timeline();
    let mut table = String::new();
    for (rules, profile) in profiles() {
        let _ = writeln!(
            table,
            "{rules:<22} {:>9} {:>9} {:>9} {:>9} {:>8}",
            "read", "short", "long", "uncached", "USD"
        );
        let mut prompts = Vec::new();
        for (name, layout) in LAYOUTS {
            let mut sums = Sums::default();
            Simulation::new(&timeline, &policy(layout), &Limits::NONE, &profile.cache).run(&mut sums);
            let (main, cost) = (&sums.main, Costs::new(&sums, None, 0, &profile).total().unwrap());
            let [short, long] = main.tokens.write;
            let _ = writeln!(
                table,
                "{name:<22} {:>9} {short:>9} {long:>9} {:>9} {cost:>8.4}",
                main.tokens.read, main.tokens.uncached
            );
            prompts.push(main.tokens.prompt());
        }
        table.push('\n');
        assert!(prompts.windows(2).all(|it| it[0] == it[1]), "the prompts are the same: {prompts:?}");
    }

    assert_snapshot("cache", "placement", &table);
}
