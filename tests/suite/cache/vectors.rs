//! The small sessions in `tests/data/cache-vectors`: every row equal, in tokens and in picodollars.

use ctxsim::vectors::{From, detect, run};

const GOLDEN: &str = include_str!("../../data/cache-vectors/golden.json");

#[test]
fn every_row_of_the_golden_vectors_is_equal_from_requests_and_from_traces() {
    assert!(detect(GOLDEN));

    let (all, not_played) = run(GOLDEN).unwrap();

    assert_eq!(not_played, [] as [String; 0]);
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
fn a_wrong_row_is_told() {
    let (right, wrong) = ("\"uncached\": 52", "\"uncached\": 53");
    let spoilt = GOLDEN.replacen(right, wrong, 1);
    assert_ne!(spoilt, GOLDEN, "the vector of mixed lifetimes has such a row");

    let (all, _) = run(&spoilt).unwrap();

    let wrong: Vec<_> = all.iter().filter(|it| !it.is_as_expected()).collect();
    assert_eq!(wrong.len(), 1);
    assert_eq!((wrong[0].name.as_str(), wrong[0].different()), ("mixed_ttl_billing", vec![1]));
}

#[test]
fn other_json_is_no_file_of_vectors() {
    for text in ["", "{}", "[1]", "{\"rules\": {}}", "hello"] {
        assert!(!detect(text), "{text:?}");
    }
    assert_eq!(run("{\"rules\": 1}").unwrap_err()[0].code, "vectors-unreadable");
}
