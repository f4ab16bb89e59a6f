//! The small sessions in `tests/data/cache-vectors`: every row equal, in tokens and in picodollars.

use ctxsim::vectors::{From, detect, run, table};

const GOLDEN: &str = include_str!("../../data/cache-vectors/golden.json");
/// Random sessions and vectors with other numbers, three rules and seven policies; rows by an independent program.
const RANDOM: [&str; 2] = [
    include_str!("../../data/cache-vectors/random-1.json"),
    include_str!("../../data/cache-vectors/random-2.json"),
];

#[test]
fn every_row_of_the_golden_vectors_is_equal_from_requests_and_from_traces() {
    assert!(detect(GOLDEN));

    let played = run(GOLDEN).unwrap();
    let all = played.series;

    assert_eq!((played.not_played, played.passed_over), (Vec::new(), Vec::new()));
    for series in &all {
        let (name, policy, rule, from) = (&series.name, &series.policy, &series.rule, series.from);
        assert_eq!(series.different(), [] as [usize; 0], "{name}, {policy}, {rule}, {from}");
        assert_eq!(series.expected_total.unwrap_or_default(), series.total().unwrap_or_default());
    }
    let n = |from, is_vector| {
        let of = all.iter().filter(|it| it.from == from && it.policy.is_empty() == is_vector);
        (of.clone().count(), of.map(|it| it.rows.len()).sum::<usize>())
    };
    assert_eq!(n(From::Requests, false), n(From::Trace, false));
    assert_eq!(n(From::Requests, false).0, 24, "three sessions, four policies, two rules");
    assert_eq!(n(From::Requests, true).0, 9, "vectors of the rule alone");
}

#[test]
fn the_example_of_the_format_s_page_is_played_as_it_says() {
    let page = include_str!("../../../docs/vectors.md");
    let example = page.split_once("```json").unwrap().1.split_once("```").unwrap().0;

    let played = run(example).unwrap();

    assert!(played.is_as_expected(), "{}", table(&played));
    assert_eq!((played.series.len(), played.not_played, played.passed_over), (2, Vec::new(), Vec::new()));
}

#[test]
fn a_wrong_row_is_told() {
    let (right, wrong) = ("\"uncached\": 52", "\"uncached\": 53");
    let spoilt = GOLDEN.replacen(right, wrong, 1);
    assert_ne!(spoilt, GOLDEN, "the vector of mixed lifetimes has such a row");

    let played = run(&spoilt).unwrap();

    assert!(!played.is_as_expected());
    let wrong: Vec<_> = played.series.iter().filter(|it| !it.is_as_expected()).collect();
    assert_eq!(wrong.len(), 1);
    assert_eq!((wrong[0].name.as_str(), wrong[0].different()), ("mixed_ttl_billing", vec![1]));
}

#[test]
fn every_row_of_random_vectors_is_equal_under_other_numbers() {
    for text in RANDOM {
        let played = run(text).unwrap();

        assert!(played.is_as_expected(), "{}", table(&played));
        assert_eq!(played.not_played, [], "{}", table(&played));
        for rule in ["breakpoints", "prefix_interval", "boundaries"] {
            assert!(played.series.iter().any(|it| it.rule == rule && it.from == From::Trace), "{rule}");
        }
    }
}

#[test]
fn a_rule_a_policy_or_a_field_that_is_not_known_is_told_and_the_rest_is_played() {
    let mut file: serde_json::Value = serde_json::from_str(GOLDEN).unwrap();
    file["rules"]["breakpoints"]["grace_ms"] = 5.into();
    file["rules"]["breakpoints"]["live"] = "now - touched < ttl".into();
    let runs = file["sessions"]["G1_one_loop"]["runs"].as_object_mut().unwrap();
    let mut strange = runs["none"].clone();
    strange["expected"]["units"] = strange["expected"]["breakpoints"].clone();
    runs.insert("observation_masking".to_owned(), strange);

    let played = run(&file.to_string()).unwrap();

    let text = table(&played);
    assert!(text.contains("not played, a policy of this name is not known; known are none, "), "{text}");
    assert!(
        text.contains("not played, the rule `units` is not known: G1_one_loop, observation_masking"),
        "{text}"
    );
    assert!(text.contains("passed over: `rules.*.grace_ms` is not looked at"), "{text}");
    assert!(text.contains("passed over: `rules.*.live` says something else than what is played"), "{text}");
    assert!(played.is_as_expected(), "what is known is played: {text}");
}

/// What a policy of a sentence makes of three loops with results of 3,000 and 2,000 tokens.
fn of_three_loops(policy: &str, sentence: &str) -> Vec<ctxsim::vectors::Row> {
    let user = |n: u32| format!(r#"["u{n}", "user", 100]"#);
    let step = |n: u32, enters: String, emits: &str, boundary: bool| {
        let at = n * 10_000;
        format!(
            r#"{{"t_ms": {at}, "response_start_ms": {at}, "boundary": {boundary}, "enters": [{enters}], "emits": [{emits}]}}"#
        )
    };
    let (call, text) = (r#"["c", "tool_use", 20]"#, r#"["a", "text", 50]"#);
    let steps = [
        step(0, format!(r#"["s", "system", 1000], {}"#, user(0)), call, true),
        step(1, r#"["r0", "tool_result", 3000]"#.to_owned(), text, false),
        step(2, user(1), call, true),
        step(3, r#"["r1", "tool_result", 2000]"#.to_owned(), text, false),
        step(4, user(2), text, true),
    ];
    let file = format!(
        r#"{{"rules": {{"prefix_interval": {{"min_tokens": 0, "step": 1}}}}, "policies": {{"{policy}": "{sentence}"}},
            "sessions": {{"s": {{"trace": [{}]}}}}}}"#,
        steps.join(", ")
    );
    let played = run(&file).unwrap();
    assert_eq!((played.series.len(), played.not_played), (1, Vec::new()));
    played.series[0].rows.clone()
}

#[test]
fn opencode_prunes_what_lies_behind_the_last_loops_and_the_newest_tokens_if_that_frees_enough() {
    let sentence = |freed: &str| {
        format!(
            "results outside the last 1 completed loops, beyond 1 K of them newest first, if > {freed} is freed, marker 10"
        )
    };
    let prompts = |freed: &str| {
        of_three_loops("opencode", &sentence(freed)).iter().map(|it| it.prompt).collect::<Vec<_>>()
    };

    assert_eq!(prompts("2,989"), [1_100, 4_120, 4_270, 6_290, 3_450]);
    assert_eq!(prompts("2,990"), [1_100, 4_120, 4_270, 6_290, 6_440]);
}

#[test]
fn cc_auto_summarises_in_a_request_of_its_own_and_brings_the_newest_results_back() {
    let sentence = "prompt >= 6,000: 100-token instruction, summary 300, newest 1 results back, each <= 400";

    let rows = of_three_loops("cc_auto", sentence);

    let prompts: Vec<u64> = rows.iter().map(|it| it.prompt).collect();
    assert_eq!(prompts, [1_100, 4_120, 4_270, 6_290 + 100, 1_000 + 300 + 400, 1_850]);
    assert_eq!((rows[3].read, rows[3].output), (4_270, 300), "it begins as the prompt does");
    assert_eq!(rows[4].read, 1_000, "tools and system prompt stay");
}

#[test]
fn marks_outside_a_prompt_and_lifetimes_of_no_name_are_told() {
    let file = |mark: &str| {
        let segments = r#"[["a", "user", 2000, 1], ["b", "text", 10, 2]]"#;
        let request =
            format!(r#"{{"t_ms": 0, "response_start_ms": 1, "segments": {segments}, "marks": [{mark}]}}"#);
        format!(r#"{{"rules": {{}}, "cache_vectors": {{"v": {{"requests": [{request}]}}}}}}"#)
    };
    for (mark, reason) in [
        (r#"[2, "5m"]"#, "a mark stands behind segment 2 of 2, counted from 0"),
        (r#"[1, "5min"]"#, "no lifetime is called `5min`"),
    ] {
        let played = run(&file(mark)).unwrap();
        assert_eq!((played.series.len(), played.not_played[0].reason.as_str()), (0, reason));
    }
    let played = run(&file(r#"[1, "30m"]"#)).unwrap();
    assert_eq!(played.series[0].rows[0].write.get("30m"), Some(&2_010));
    assert!(!played.series[0].expects() && played.is_as_expected(), "nothing to compare with");
}

#[test]
fn a_file_that_does_not_decode_is_told_with_its_place() {
    let problem = &run("{\"rules\": {},\n \"sessions\": {\"s\": {\"ttl\": 5}}}").unwrap_err()[0];

    assert_eq!((problem.code, problem.place.line_column), ("vectors-unreadable", Some((2, 28))));
    assert!(problem.message.contains("expected a string"), "{problem}");
}

#[test]
fn other_json_is_no_file_of_vectors() {
    for text in ["", "{}", "[1]", "{\"rules\": {}}", "hello", "{\"rules\": 1, \"sessions\": {}}"] {
        assert!(!detect(text), "{text:?}");
    }
    assert_eq!(run("{\"rules\": 1}").unwrap_err()[0].code, "vectors-unreadable");
}
