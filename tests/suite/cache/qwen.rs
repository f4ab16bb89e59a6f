//! The breakpoints rule with the numbers of Qwen's explicit cache (2026-10-11) and of Bedrock (about 2026-09).

use ctxsim::timeline::Kind;

use super::Blocks;
use super::listed::{Listed, rules_of, users};

const QWEN: &str = r#"[cache.breakpoints]
min_tokens = 1_024
breakpoints_max = 4
lookback_positions = 20
lookback_unit = "block"
ttl = "5m"
readable = "response_end""#;

const END: &str = "layout: (breakpoints: [(at: automatic)])";

#[test]
fn qwen_guide_an_entry_exists_after_the_response() {
    for (readable, at_ms, read) in [
        ("response_end", 1_999, 0),
        ("response_end", 2_000, 3_000),
        ("response_start", 999, 0),
        ("response_start", 1_000, 3_000),
        ("request_start", 0, 3_000),
    ] {
        let rules = QWEN.replace("response_end", readable);
        let mut cache = Listed::new(&rules_of(&rules), END);
        cache.send(&users(3_000, &[]), 0);

        // The response starts one second after the request and ends two seconds after it.
        assert_eq!(cache.send(&users(3_000, &[]), at_ms).read, read, "{readable} at {at_ms} ms");
    }
}

#[test]
fn qwen_guide_five_minutes_begin_again_with_every_hit() {
    for (renewal, reads) in [("on_use", [0, 3_000, 3_000]), ("never", [0, 3_000, 0])] {
        let mut cache = Listed::new(&rules_of(&format!("{QWEN}\nrenewal = \"{renewal}\"")), END);
        let found = [0, 200_000, 400_000].map(|at_ms| cache.send(&users(3_000, &[]), at_ms).read);

        assert_eq!(found, reads, "{renewal}");
    }
}

#[test]
fn an_entry_is_no_older_than_the_oldest_may_be() {
    let mut cache = Listed::new(&rules_of(&format!("{QWEN}\nmax_age = \"10m\"")), END);
    let found = (0..5).map(|n| cache.send(&users(3_000, &[]), n * 200_000).read);

    assert_eq!(found.collect::<Vec<_>>(), [0, 3_000, 3_000, 3_000, 0], "written anew after ten minutes");
}

#[test]
fn qwen_guide_prefixes_of_1024_tokens_and_more_are_written() {
    let all = |tokens| {
        Listed::new(&rules_of(QWEN), END).reads_and_writes(&[users(tokens, &[]), users(tokens, &[])])
    };

    assert_eq!(all(1_023), [[0, 0], [0, 0]]);
    assert_eq!(all(1_024), [[0, 1_024], [1_024, 0]]);
}

/// A user message, then so many calls in a row and their results.
fn parallel(n: u64) -> Blocks {
    let mut blocks = vec![(Kind::User, 1, 2_000)];
    blocks.extend((0..n).map(|it| (Kind::ToolCall, 100 + it, 10)));
    blocks.extend((0..n).map(|it| (Kind::ToolResult, 200 + it, 100)));
    Blocks(blocks)
}

#[test]
fn bedrock_guide_twenty_blocks_back_are_looked_at_where_anthropic_counts_runs() {
    for (unit, n_calls, read) in
        [("block", 9, 2_000), ("block", 10, 0), ("run", 10, 2_000), ("run", 200, 2_000)]
    {
        let rules = QWEN.replace("\"block\"", &format!("\"{unit}\""));
        let mut cache = Listed::new(&rules_of(&rules), END);
        cache.send(&parallel(0), 0);

        assert_eq!(cache.send(&parallel(n_calls), 60_000).read, read, "{n_calls} calls, by {unit}");
    }
}

#[test]
fn bedrock_guide_every_prefix_has_the_minimum_behind_it_as_a_whole() {
    let both = "layout: (breakpoints: [(at: end_of(system)), (at: automatic)])";
    let prompt = |system| users(system, &[(2, 600)]);

    let all = |system| {
        Listed::new(&rules_of(QWEN), both).reads_and_writes(&[prompt(system), users(system, &[(3, 600)])])
    };

    assert_eq!(all(800), [[0, 1_400], [0, 1_400]], "the first breakpoint is too early, the second is not");
    assert_eq!(all(1_024), [[0, 1_624], [1_024, 600]]);
}
