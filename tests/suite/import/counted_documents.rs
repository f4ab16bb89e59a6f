//! Sessions of other agents have the requests, turns and tokens that an independent count finds in their files.
//!
//! `tests/data/formats/count.py` counts, and `counts.json` beside it is its table. The files are too large for the test data;
//! `CTXSIM_REFERENCE` names a folder that has them. Small parts of them are in `tests/data/recorded`, with a table of their own.

use ctxsim::timeline::import::import_from;

use super::*;

/// What is counted of a file.
const COUNTED: [&str; 9] =
    ["sessions", "turns", "requests", "billed", "summaries", "uncached", "read", "written", "output"];

/// Counts what was read of a file.
fn counted(path: &Path) -> [u64; 9] {
    let bytes = fs::read(path).unwrap();
    let all = import_from(&mut bytes.as_slice(), "test", &Assume::default(), &[]).unwrap();
    let all = all.unwrap_or_else(|problems| panic!("{}: {problems:?}", path.display()));
    let mut sums = [0; 9];
    for Imported { timeline, .. } in &all {
        assert_well_formed(timeline);
        let recorded = timeline.recorded.as_ref().unwrap();
        let billed: Vec<&Usage> = recorded.usage.iter().flatten().collect();
        let sum = |of: fn(&Usage) -> u64| billed.iter().map(|it| of(it)).sum();
        let n = |n: usize| u64::try_from(n).unwrap();
        let of_session = [
            1,
            n(timeline.spine.turns.len()),
            n(timeline.spine.steps.len()),
            n(billed.len()),
            n(recorded.summaries().len()),
            sum(|it| it.uncached),
            sum(|it| it.cache_read),
            sum(|it| it.cache_write),
            sum(|it| it.output),
        ];
        sums.iter_mut().zip(of_session).for_each(|(sum, n)| *sum += n);
    }
    sums
}

/// Compares the files of a table, below a folder.
fn assert_counted(table: &str, folder: &Path) {
    let rows: Vec<Value> = serde_json::from_str(table).unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let file = row["file"].as_str().unwrap();
        let expected = COUNTED.map(|it| row[it].as_u64().unwrap());

        assert_eq!(counted(&folder.join(file)), expected, "{file}: {COUNTED:?}");
    }
}

#[test]
fn whole_sessions_of_other_agents_have_the_requests_turns_and_tokens_of_an_independent_count() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    assert_counted(include_str!("../../data/formats/counts.json"), &root.join("formats"));
}

#[test]
fn parts_of_sessions_of_other_agents_have_the_requests_turns_and_tokens_of_an_independent_count() {
    let root = root().join("tests/data");
    assert_counted(include_str!("../../data/formats/parts.json"), &root);
}
