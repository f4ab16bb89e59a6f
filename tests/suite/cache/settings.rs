//! What a change beside the content of a prompt takes with it, under every rule that compares prefixes.

use ctxsim::input::Settings;
use ctxsim::input::profile::cache::{SETTINGS, Setting};
use ctxsim::timeline::Kind;

use super::listed::{Listed, rules_of};

use super::*;

const RULES: [&str; 5] = [
    "[cache.breakpoints]",
    "[cache.prefix_interval]",
    "[cache.units]\nunits = [\"input_end\", \"common_prefix\"]\ninterval_tokens = 500",
    "[cache.blocks]\nblock_tokens = 500",
    "[cache.stored]\nttl = \"1h\"",
];

const EVERY_LEVEL: &str =
    "layout: (breakpoints: [(at: end_of(tools)), (at: end_of(system)), (at: last_messages(n: 1))])";

fn prompt() -> Blocks {
    Blocks(vec![(Kind::ToolSchema, 1, 2_000), (Kind::System, 2, 1_500), (Kind::User, 3, 500)])
}

fn changed(setting: Setting, value: u32) -> Settings {
    let mut settings = Settings::default();
    settings.set(setting, value);
    settings
}

/// What a second request reads when one setting has changed.
fn read(rules: &CacheRules, setting: Setting) -> u64 {
    let mut cache = Listed::new(rules, EVERY_LEVEL);
    cache.send(&prompt(), 0);
    cache.send_under(&prompt(), 60_000, changed(setting, 1)).read
}

/// Rules that know of settings, with Anthropic's table but for `changes`.
fn with(rules: &str, changes: &str) -> CacheRules {
    let said = format!("{rules}\ninvalidates = {{ {changes} }}");
    rules_of(&said)
}

#[test]
fn anthropic_guide_each_change_takes_its_level_and_what_stands_behind_it() {
    // The table is the default, but for images; a word that changes nothing makes the rules look at settings.
    let rules = with(RULES[0], "effort = \"nothing\", images = \"messages\"");
    let reads = SETTINGS.map(|it| read(&rules, it));

    let [tools, system, features] = [0, 2_000, 2_000];
    let (choice, images, thinking, effort, preamble) = (3_500, 3_500, 3_500, 4_000, 3_500);
    // Where no message can set the effort, the request does.
    assert_eq!(reads, [0, tools, system, features, choice, images, thinking, effort, preamble, effort]);
    let in_band = |level: &str| with(RULES[0], &format!("effort = \"tools\"{level}"));
    let levels =
        [("", 0), (", effort_in_band = \"messages\"", 3_500), (", effort_in_band = \"nothing\"", 4_000)];
    assert_eq!(levels.map(|it| read(&in_band(it.0), Setting::EffortInBand)), levels.map(|it| it.1));
}

#[test]
fn every_rule_loses_the_same_levels() {
    for rules in &RULES[..4] {
        for (level, read_tokens) in [("tools", 0), ("system", 2_000), ("messages", 3_500), ("nothing", 4_000)]
        {
            let rules_of_level = with(rules, &format!("thinking = \"{level}\", model = \"nothing\""));

            assert_eq!(read(&rules_of_level, Setting::Thinking), read_tokens, "{level} under {rules}");
        }
    }
}

#[test]
fn stored_contents_are_made_again_for_what_changed_in_them() {
    let rules = with(RULES[4], "thinking = \"messages\", images = \"nothing\"");
    let mut cache = Listed::new(&rules, "");

    let reads = [(Setting::Images, 1), (Setting::Thinking, 1), (Setting::Model, 1)]
        .map(|(setting, value)| cache.send_under(&prompt(), 0, changed(setting, value)).read);

    assert_eq!(reads, [3_500; 3], "the content ends where the messages begin; another model has another one");
}

#[test]
fn an_old_value_brings_the_old_prefixes_back() {
    for rules in &RULES[..4] {
        let mut cache = Listed::new(&with(rules, "model = \"tools\", effort = \"nothing\""), EVERY_LEVEL);
        let reads = [(0, 0), (1, 1), (2, 0), (3, 1), (4, 2)]
            .map(|(n, model)| cache.send_under(&prompt(), n * 60_000, changed(Setting::Model, model)).read);

        assert_eq!(reads, [0, 0, 4_000, 4_000, 0], "{rules}");
    }
}

#[test]
fn a_trace_whose_model_changes_midway_starts_again_there_and_goes_on_when_it_comes_back() {
    let mut builder = TimelineBuilder::new("switch", &[]);
    builder.stable(Kind::System, 2_000);
    builder.begin_turn(&[NewItem::plain(Kind::User, 500)]);
    for step in 0..4 {
        match step {
            2 => builder.change(Setting::Model, 1),
            3 => builder.change(Setting::Model, 0),
            _ => {}
        }
        let results = [NewItem::plain(Kind::ToolResult, 1_000)];
        builder.step(step * 10_000, 100, &[NewItem::call("read", 100)], &results);
    }
    let timeline = builder.finish();
    let policy = policy_from("(name: \"it\", about: \"it\")");
    for rules in &RULES[..2] {
        let mut rows = Rows::default();
        Simulation::new(&timeline, &policy, &Limits::NONE, &rules_of(rules)).run(&mut rows);

        let reads: Vec<u64> = rows.requests.iter().map(|it| it.usage.read).collect();
        assert_eq!(reads, [0, 2_500, 0, 3_600], "{rules}");
    }
}
