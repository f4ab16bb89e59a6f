//! Databases are read as what their agent exports is, with their log, and damage to one is told with its page.

use ctxsim::timeline::import::{import_from, with_log};

use super::*;

fn bytes_of(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/data").join(name)).unwrap()
}

fn read(bytes: &[u8]) -> Result<Vec<Imported>, String> {
    let read = import_from(&mut { bytes }, "test", &Assume::default(), &[]).unwrap();
    read.map_err(|problems| problems[0].message.clone())
}

/// Returns all that is known of the sessions of a recording, by name, a line each.
fn told(bytes: &[u8]) -> Vec<String> {
    let all = read(bytes).unwrap();
    all.iter()
        .flat_map(|it| {
            format!("{:#?}", (&it.session, &it.timeline)).lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

fn requests(bytes: &[u8]) -> usize {
    read(bytes).unwrap().iter().map(|it| it.timeline.spine.steps.len()).sum()
}

#[test]
fn opencodes_database_gives_the_sessions_of_its_export() {
    let export = told(&bytes_of("shapes/opencode-export.jsonl"));

    let stored = told(&bytes_of("shapes/opencode.db"));
    let differ: Vec<_> = stored.iter().zip(&export).filter(|it| it.0 != it.1).collect();
    assert!(differ.is_empty() && stored.len() == export.len(), "{differ:?}");
}

#[test]
fn a_database_is_read_with_the_transactions_in_its_log_that_were_finished() {
    let (database, log) = (bytes_of("shapes/opencode-open.db"), bytes_of("shapes/opencode-open.db-wal"));

    assert_eq!(requests(&database), 2);
    let is_told = |bytes: &[u8]| {
        let losses = &read(bytes).unwrap()[0].losses;
        losses.iter().any(|it| it.what.contains("is written through a `-wal` file"))
    };
    assert!(is_told(&database) && !is_told(&with_log(database.clone(), &log)));
    assert!(!is_told(&with_log(database.clone(), b"")), "nothing was written since");
    assert!(told(&with_log(database.clone(), &log)) == told(&bytes_of("shapes/opencode.db")));

    // Frames that are cut off, changed or those of an earlier log end it where the last transaction before them ended.
    let frame = 24 + 512;
    let of_first = (0..=log.len() / frame)
        .map(|it| requests(&with_log(database.clone(), &log[..32 + it * frame - it.min(1)])));
    let of_first: Vec<usize> = of_first.collect();
    assert!(of_first.is_sorted() && of_first.ends_with(&[7]), "{of_first:?}");
    for at in [0, 9, 20, 28, 32, 41, 50, 600] {
        let mut changed = log.clone();
        changed[at] ^= 1;
        assert_eq!(requests(&with_log(database.clone(), &changed)), 2, "{at}");
    }
}

#[test]
fn the_command_line_reads_the_log_beside_a_database_and_changes_neither() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["opencode-open.db", "opencode-open.db-wal"] {
        fs::write(folder.path().join(name), bytes_of(&format!("shapes/{name}"))).unwrap();
    }

    let output = ctxsim(folder.path(), ["import", "opencode-open.db"]);

    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("opencode, 2 sessions") && text.contains("for 7 requests"), "{text}");
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["opencode-open.db", "opencode-open.db-wal"]);
    for name in names.iter().map(|it| it.to_str().unwrap()) {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), bytes_of(&format!("shapes/{name}")));
    }
    // An export of one of its sessions is the same session in another file.
    fs::write(
        folder.path().join("export.jsonl"),
        bytes_of("shapes/opencode-export.jsonl").split_inclusive(|it| *it == b'\n').next().unwrap(),
    )
    .unwrap();
    let output = ctxsim(folder.path(), ["run", ".", "--policy", "identity"]);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(text.replace('\n', " ").contains("the same session in another file"), "{text}");
}

#[test]
fn damage_to_a_database_is_told_with_its_page_and_never_read_around() {
    let whole = bytes_of("shapes/opencode.db");
    let export = told(&whole);
    let n_pages = whole.len() / 512;
    let mut told_pages = 0;
    for page in 1..=n_pages {
        let at = (page - 1) * 512 + if page == 1 { 100 } else { 0 };
        let kind = whole[at];
        let mut changed = whole.clone();
        changed[at] = 77;
        // A page that no table leads to is not looked at; of a page that goes on with a record, this is the number of the next.
        match read(&changed) {
            Ok(_) => assert!(matches!(kind, 0 | 2 | 10) || told(&changed) == export, "{page}"),
            Err(problem) => {
                assert!(problem.contains(" of the database is damaged: "), "{problem}");
                told_pages += usize::from(problem.starts_with(&format!("page {page} of")));
            }
        }
        let cut = read(&whole[..(page - 1) * 512 + 200]).unwrap_err();
        assert!(cut.starts_with("page ") && cut.contains(" is damaged: "), "{cut}");
    }
    assert!(told_pages > n_pages / 2, "{told_pages} of {n_pages}");
    let circle = read(&bytes_of("fuzz/recording/database_circle.db")).unwrap_err();
    assert!(circle.ends_with("is damaged: two places lead to it"), "{circle}");
}

#[test]
fn zcodes_requests_are_read_from_its_database_by_their_rows() {
    let all = read(&bytes_of("shapes/zcode.sqlite")).unwrap();

    let usage = all[0].timeline.recorded.as_ref().unwrap().usage.iter().flatten();
    let bills: Vec<[u64; 4]> =
        usage.map(|it| [it.prompt, it.cache_read, it.cache_write, it.output]).collect();
    assert_eq!((all[0].format, all.len()), ("usage-rows", 1));
    assert_eq!(bills, [[9_000, 0, 0, 210], [9_400, 8_960, 0, 120], [9_700, 9_344, 0, 90]]);
}
