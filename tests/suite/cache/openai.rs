//! The breakpoints rule with OpenAI's numbers from GPT-5.6 on: its prompt caching guide, read 2026-09-20, and its traps.

use super::listed::{Listed, rules_of, users};

use super::*;

const RULES: &str = r#"[cache.breakpoints]
min_tokens = 1_024
breakpoints_max = 4
lookup = { first = 2, latest = 50, message_ends = 20, lead = true }
automatic = "last_message"
implicit = true
ttl = "30m""#;

/// Behind the developer message alone, without the automatic breakpoint.
const EXPLICIT_LEAD: &str = "layout: (breakpoints: [(at: end_of(system))])";

/// Hundredths of what plain input costs: a write 125, a read 10.
fn cost(usage: &CacheUse) -> u64 {
    125 * (usage.write[0] + usage.write[1]) + 10 * usage.read + 100 * usage.uncached
}

/// What the same prompt costs when it is sent so many times, a second apart.
fn cost_of(n: u64, tokens: u64) -> u64 {
    let mut cache = Listed::new(&rules_of(RULES), EXPLICIT_LEAD);
    let prompt = users(tokens, &[]);
    (0..n).map(|it| cost(&cache.send(&prompt, i64::try_from(it).unwrap() * 1_000))).sum()
}

/// A conversation of so many user messages of 1,000 tokens, each answered but the last.
fn conversation(n: u64) -> Blocks {
    let turns = (1..=n).flat_map(|it| [(Kind::User, it, 1_000), (Kind::Assistant, 1_000 + it, 10)]);
    let mut blocks: Vec<_> = turns.collect();
    blocks.pop();
    Blocks(blocks)
}

#[test]
fn openai_guide_a_token_is_written_once_and_then_read_for_a_tenth() {
    assert_eq!(cost_of(2, 2_000), 135 * 2_000, "not twice the price");
    assert_eq!(cost_of(10, 2_000), 215 * 2_000, "not ten times");
}

#[test]
fn openai_guide_a_prompt_is_worth_padding_from_the_lengths_of_its_formula_on() {
    // 1,024 tokens, (0.1 + 1.15 / N) of their price each: 102.4 + 1177.6 / N tokens of plain input.
    let is_worth_it = |n: u64, tokens: u64| cost_of(n, 1_024) < 100 * tokens * n;

    assert!(!is_worth_it(10, 220) && is_worth_it(10, 221));
    assert!(!is_worth_it(1_962, 103) && is_worth_it(1_963, 103));
    assert!(!is_worth_it(20_000, 102), "never");
}

#[test]
fn openai_guide_lengths_are_exact_from_the_minimum_on() {
    let lengths = [(1_023, 0), (1_024, 1_024), (1_025, 1_025), (1_333, 1_333)];
    for (tokens, read) in lengths {
        let mut cache = Listed::new(&rules_of(RULES), "");
        let prompt = users(tokens, &[]);

        assert_eq!(cache.reads_and_writes(&[prompt, users(tokens, &[])]), [[0, read], [read, 0]]);
    }
}

#[test]
fn openai_guide_a_changing_message_behind_a_static_one_is_written_every_time() {
    let prompts = [10, 11, 12].map(|question| users(9_000, &[(question, 60)]));

    let all = Listed::new(&rules_of(RULES), "").reads_and_writes(&prompts);

    assert_eq!(all, [[0, 9_060]; 3]);
}

#[test]
fn codex_35300_one_breakpoint_behind_the_developer_message_serves_almost_everything() {
    // About 9,060 tokens a request: 8,932 of the developer and 123 to 128 that change.
    let prompts = [(10, 128), (11, 123), (12, 125)].map(|it| users(8_932, &[it]));
    let none = Listed::new(&rules_of(RULES), "").reads_and_writes(&prompts);
    assert_eq!(none, [[0, 9_060], [0, 9_055], [0, 9_057]]);

    let beside = "layout: (breakpoints: [(at: end_of(system)), (at: automatic)])";
    let one = Listed::new(&rules_of(RULES), beside).reads_and_writes(&prompts);

    assert_eq!(one, [[0, 9_060], [8_932, 123], [8_932, 125]]);
    assert_eq!((8_932.0_f64 / 9_060.0 * 1_000.0).round(), 986.0, "98.6 percent");
}

#[test]
fn openai_guide_an_implicit_entry_is_not_seen_from_explicit_breakpoints_elsewhere() {
    let prompt = users(9_000, &[(10, 1_000)]);
    let mut cache = Listed::new(&rules_of(RULES), "");
    assert_eq!(cache.send(&prompt, 0).write[0], 10_000);

    cache.lay_out(EXPLICIT_LEAD);
    let explicit = cache.send(&prompt, 60_000);
    assert_eq!((explicit.read, explicit.write[0], explicit.uncached), (0, 9_000, 1_000));

    cache.lay_out("layout: (breakpoints: [(at: last_messages(n: 1))])");
    assert_eq!(cache.send(&prompt, 120_000).read, 10_000, "a breakpoint at the old place finds it");
}

#[test]
fn openai_guide_a_message_that_grows_loses_its_old_end() {
    let mut cache = Listed::new(&rules_of(RULES), "");
    let prompts = [users(2_000, &[(10, 1_000)]), users(2_000, &[(10, 1_000), (11, 500)])];

    assert_eq!(cache.reads_and_writes(&prompts), [[0, 3_000], [0, 3_500]]);
}

#[test]
fn openai_guide_explicit_mode_without_breakpoints_caches_nothing() {
    let prompts = [conversation(3), conversation(3)];

    let all = Listed::new(&rules_of(RULES), "layout: (breakpoints: [])").reads_and_writes(&prompts);

    assert_eq!(all, [[0, 0]; 2]);
}

#[test]
fn openai_guide_twenty_earlier_ends_of_messages_are_looked_at() {
    for (n_more, read) in [(1, 2_010), (20, 2_010), (21, 0)] {
        let prompts = [conversation(2), conversation(2 + n_more)];

        let all = Listed::new(&rules_of(RULES), "").reads_and_writes(&prompts);

        assert_eq!(all[1][0], read, "{n_more} messages later");
    }
}

#[test]
fn openai_guide_the_last_result_of_a_group_ends_a_message() {
    let mut before = vec![(Kind::User, 1, 2_000)];
    before.extend((10..13).map(|it| (Kind::ToolCall, it, 50)));
    before.extend((20..23).map(|it| (Kind::ToolResult, it, 500)));
    let mut after = before.clone();
    after.extend([(Kind::ToolCall, 30, 50), (Kind::ToolResult, 31, 500)]);
    let mut cache = Listed::new(&rules_of(RULES), "");

    assert_eq!(cache.reads_and_writes(&[Blocks(before), Blocks(after)]), [[0, 3_650], [3_650, 550]]);
}

#[test]
fn openai_guide_four_breakpoints_write_and_the_latest_ones_win() {
    let six = "layout: (breakpoints: [(at: last_messages(n: 6))])";
    // Six ends, of users and of replies; a mark at the third user message finds what was written there.
    let mut cache = Listed::new(&rules_of(RULES), six);
    let mut prompt = conversation(3);
    prompt.0.push((Kind::Assistant, 1_003, 10));
    assert_eq!(cache.send(&prompt, 0).write[0], 3_030);

    let up_to = |n: usize| Blocks(prompt.0[..n].to_vec());
    let read = |n: usize, at_ms| cache.send(&up_to(n), at_ms).read;
    let mut read = read;
    assert_eq!([read(1, 60_000), read(2, 61_000)], [0, 0], "the first two are beyond the slots");
    assert_eq!(read(3, 62_000), 2_010);
}

#[test]
fn openai_guide_the_first_two_and_the_latest_fifty_breakpoints_are_looked_at() {
    let all = "layout: (breakpoints: [(at: last_messages(n: 60))])";
    // Thirty user messages and their replies are sixty ends of messages.
    let ends = (1..=30).flat_map(|it| [(Kind::User, it, 1_100), (Kind::Assistant, 1_000 + it, 10)]);
    let ends: Vec<_> = ends.collect();
    let is_found = |n: &usize| {
        let mut cache = Listed::new(&rules_of(RULES), "layout: (breakpoints: [(at: last_messages(n: 1))])");
        let written = cache.send(&Blocks(ends[..*n].to_vec()), 0).write[0];
        cache.lay_out(all);
        let read = cache.send(&Blocks(ends.clone()), 60_000).read;
        assert!(read == 0 || read == written);
        read > 0
    };

    let found: Vec<usize> = (1..=60).filter(is_found).collect();

    assert_eq!(found, [1, 2].into_iter().chain(11..=60).collect::<Vec<_>>());
}

#[test]
fn openai_guide_an_entry_lives_thirty_minutes_after_its_last_use() {
    let mut cache = Listed::new(&rules_of(RULES), "");
    let prompt = users(2_000, &[]);
    let mut read = |minutes: i64, ms: i64| cache.send(&prompt, minutes * 60_000 + ms).read;

    assert_eq!([read(0, 0), read(30, 0), read(60, 0), read(90, 1)], [0, 2_000, 2_000, 0]);
}

#[test]
fn litellm_an_entry_of_twelve_hours_is_a_class_of_its_own() {
    let rules = RULES.replace("ttl = \"30m\"", "ttl = [\"30m\", \"12h\"]");
    let long = "layout: (breakpoints: [(at: automatic, ttl: \"12h\")])";
    let mut cache = Listed::new(&rules_of(&rules), long);
    let prompt = users(2_000, &[]);

    assert_eq!(cache.send(&prompt, 0).write, [0, 2_000]);
    assert_eq!(cache.send(&prompt, 12 * 3_600_000).read, 2_000);
}
