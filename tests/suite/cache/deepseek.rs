//! The units rule on DeepSeek's context caching guide, and on thirty requests of one recorded session.

use ctxsim::timeline::Kind;

use super::listed::{Listed, rules_of, users};

use super::*;

/// As the guide tells it; the step is that of the announcement of August 2024.
const GUIDE: &str = r#"[cache.units]
units = ["input_end", "output_end", "common_prefix"]
min_tokens = 64
step_tokens = 64
readable = "response_start""#;

const A: (u64, u64) = (1, 640);
const B: (u64, u64) = (2, 320);
const C: (u64, u64) = (3, 320);
const D: (u64, u64) = (4, 320);

/// What prompts of user blocks read, a minute apart.
fn reads<const N: usize>(rules: &str, prompts: &[&[(u64, u64)]; N]) -> [u64; N] {
    let prompts: [Blocks; N] = prompts.each_ref().map(|it| users(0, it));
    Listed::new(&rules_of(rules), "").reads_and_writes(&prompts).map(|it| it[0])
}

#[test]
fn deepseek_guide_a_prompt_that_goes_on_reads_what_stood_before() {
    assert_eq!(reads(GUIDE, &[&[A, B], &[A, B, C]]), [0, 960]);
}

#[test]
fn deepseek_guide_a_shared_beginning_is_missed_once_and_then_read() {
    assert_eq!(reads(GUIDE, &[&[A, B], &[A, C], &[A, D]]), [0, 0, 640]);
}

#[test]
fn without_learning_a_shared_beginning_is_never_read() {
    let never = GUIDE.replace(", \"common_prefix\"", "");

    assert_eq!(reads(&never, &[&[A, B], &[A, C], &[A, D]]), [0, 0, 0]);
}

#[test]
fn an_interval_leaves_units_inside_a_prompt() {
    let interval = "[cache.units]\ninterval_tokens = 256";

    assert_eq!(reads(interval, &[&[A, B], &[A, C], &[A, B, D]]), [0, 512, 768]);
}

#[test]
fn units_are_cut_to_whole_steps_from_a_minimum_on() {
    assert_eq!(reads(GUIDE, &[&[(1, 63)], &[(1, 63)], &[(2, 127)], &[(2, 127)]]), [0, 0, 0, 64]);
    let minimum = GUIDE.replace("min_tokens = 64", "min_tokens = 1_000");
    assert_eq!(reads(&minimum, &[&[(1, 999)], &[(1, 999)], &[(2, 1_070)], &[(2, 1_070)]]), [0, 0, 0, 1_064]);
}

#[test]
fn a_unit_has_to_be_built_and_is_cleared_when_nothing_uses_it() {
    let rules = rules_of(&format!("{GUIDE}\nreadable_after = \"3s\"\nttl = \"2h\""));
    let prompt = users(0, &[A]);
    let mut cache = Listed::new(&rules, "");
    let mut at = |at_ms| cache.send(&prompt, at_ms).read;

    // The response starts after one second, and the unit is built three seconds later.
    assert_eq!([at(0), at(3_999), at(4_000)], [0, 0, 640]);
    assert_eq!(
        [at(7_204_000), at(14_404_001), at(14_408_001)],
        [640, 0, 640],
        "two hours after the last use"
    );
}

/// One turn whose prompts and replies have the recorded lengths.
fn recorded(rows: &[[u64; 3]]) -> Timeline {
    let mut builder = TimelineBuilder::new("recorded", &[]);
    let tokens = |it: u64| u32::try_from(it).unwrap();
    builder.begin_turn(&[NewItem::plain(Kind::User, tokens(rows[0][0]))]);
    for (n, [prompt, output, _]) in rows.iter().enumerate() {
        let results =
            rows.get(n + 1).map(|next| NewItem::plain(Kind::ToolResult, tokens(next[0] - prompt - output)));
        let at_ms = i64::try_from(n).unwrap() * 10_000;
        builder.step(at_ms, *output, &[NewItem::call("it", tokens(*output))], results.as_slice());
    }
    builder.finish()
}

/// Returns by how much each request is predicted to read more than it was billed, with this minimum and step.
fn errors(step_tokens: u64) -> Vec<i64> {
    let text = include_str!("../../data/deepseek/usage.csv");
    let rows: Vec<[u64; 3]> = text.lines().skip(1).map(row).collect();
    let rules = rules_of(&GUIDE.replace("_tokens = 64", &format!("_tokens = {step_tokens}")));
    let identity = policy_from("(name: \"it\", about: \"it\")");
    let mut ledger = Rows::default();
    Simulation::new(&recorded(&rows), &identity, &Limits::NONE, &rules).run(&mut ledger);
    assert_eq!(ledger.requests.len(), rows.len());
    let pairs = ledger.requests.iter().zip(&rows);
    pairs
        .map(|(it, [.., read])| i64::try_from(it.usage.read).unwrap() - i64::try_from(*read).unwrap())
        .collect()
}

/// Reads prompt, output and read tokens of a line.
fn row(line: &str) -> [u64; 3] {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |index: usize| fields[index].parse::<u64>().unwrap();
    [number(8) + number(9), number(11), number(9)]
}

/// promptreplay 0.2.0 (PyPI, MIT): thirty requests of one Claude Code session, 1,756,672 tokens read by the bill.
#[test]
fn the_recorded_deepseek_session_is_read_to_within_two_steps_a_request() {
    // The bill counts in steps of 128, as others measured too. Units end with what the model wrote; where the bill is
    // lower, it is by one or two steps.
    let measured = errors(128);
    let of = |error: i64| measured.iter().filter(|it| **it == error).count();
    assert_eq!([of(0), of(128), of(256)], [18, 7, 5], "{measured:?}");
    assert_eq!(measured.iter().sum::<i64>(), 2_176, "0.124 percent of what was read");

    let documented = errors(64);
    assert!(documented.iter().all(|it| (0..=320).contains(it)), "{documented:?}");
    assert_eq!(documented.iter().sum::<i64>(), 3_008, "0.171 percent with the documented step of 64");
}
