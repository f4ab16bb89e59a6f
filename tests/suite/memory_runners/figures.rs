//! The document on memory runners shows what is computed.

use ctxsim::grid::Grid;
use ctxsim::grid::markdown::Markdown;
use ctxsim::worlds::chats::tables::flips;
use ctxsim::worlds::chats::{ChatScenario, orderings};
use ctxsim::worlds::trial::Ordering;

use super::accuracy::summary;

use super::*;

/// The document.
const DOCUMENT: &str = "docs/studies/memory-runners.md";
/// Set to write the tables anew.
const WRITES: &str = "CTXSIM_WRITE_MEMORY_RUNNERS";

fn path() -> PathBuf {
    root().join(DOCUMENT)
}

/// Checks what stands between two marks of the document, or writes it.
fn assert_shown(mark: &str, text: &str) {
    let document = fs::read_to_string(path()).unwrap();
    let (from, to) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = document.split_once(&from).unwrap();
    let (shown, after) = rest.split_once(&to).unwrap();
    if std::env::var_os(WRITES).is_some() {
        fs::write(path(), format!("{before}{from}{text}{to}{after}")).unwrap();
        return;
    }
    assert_eq!(shown, text, "run this test with {WRITES}=1 to write the table of {DOCUMENT} anew");
}

/// Returns a table as the document shows it, below a title of its own.
fn table(grid: &Grid) -> String {
    let untitled = Grid { title: String::new(), ..grid.clone() };
    let mut text = Markdown::default();
    text.table(&untitled);
    text.trim_end().to_owned() + "\n"
}

/// Returns the tables of a scenario's report under five policies, those of some titles.
fn tables(scenario: &str, titles: &[&str]) -> String {
    let policies = ["entries", "entries_spec", "context_only", "context_only_listed"];
    let policies = policies.map(|it| format!("memory_runners/{it}"));
    let report = report(scenario, &policies.each_ref().map(String::as_str), &[]);
    let grids = report.findings_grids();
    let of = |title: &&str| grids.iter().find(|it| it.title.starts_with(*title)).map(table).unwrap();
    titles.iter().map(of).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_document_shows_the_tables_of_the_specifications_case() {
    let all = ["Calls", "Time", "Models", "Correct answers", "When entries", "Expected by the specification"];
    assert_shown("dated", &tables("memory_runners/spec_dated", &all));
    assert_shown("undated", &tables("memory_runners/spec", &["Correct answers", "When entries"]));
}

/// The whole sweep takes minutes in a build that is not optimised.
#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_document_shows_where_the_order_flips() {
    let whole = std::env::var_os("CTXSIM_REFERENCE").is_some() || std::env::var_os(WRITES).is_some();
    if whole {
        assert_shown("flips", &table(&flips(&swept())));
        return;
    }
    let document = fs::read_to_string(path()).unwrap();
    let number = "document.takes_detail_listed";
    for row in flips(&of_number(number)).rows {
        let line = format!("| {} |", row.cells.join(" | "));
        assert!(document.contains(&line), "{line}");
    }
}

/// Sweeps all numbers.
fn swept() -> Vec<Ordering> {
    let names = ["entries", "context_only", "context_only_listed"].map(|it| format!("memory_runners/{it}"));
    let comparison = Comparison {
        policies: names.to_vec(),
        ..comparing(&[], &["memory_runners/spec_dated"], &["unlimited"])
    };
    let plan = planned(&comparison);
    plan.map_loads(None, &|_, _| {}, |load, progress| {
        let service = load.service().expect("they are written");
        let service: &dyn std::any::Any = &*service;
        service.downcast_ref::<ctxsim::worlds::chats::Writing>().unwrap().orderings(load, progress)
    })
    .unwrap()
    .concat()
}

/// Sweeps one number under the mitigation.
fn of_number(number: &str) -> Vec<Ordering> {
    let plan =
        planned(&comparing(&["memory_runners/entries"], &["memory_runners/spec_dated"], &["unlimited"]));
    let of = |load: &ctxsim::take::Load| {
        let chats: &ChatScenario = load.world().expect("it has chats");
        let listed = runner("context_only_listed");
        orderings(chats, number, &runner("entries"), &[("memory_runners/context_only_listed", &listed)])
    };
    plan.map_loads(None, &|_, _| {}, |load, _| of(load)).unwrap().concat()
}

#[test]
fn the_document_says_of_savings_what_is_computed() {
    let document = fs::read_to_string(path()).unwrap();
    let [entries, context] = [0, 1].map(|it| summary(true, it));
    let saved = |own: u64, base: u64| format!("{:.0}%", 100.0 * (1.0 - own as f64 / base as f64));

    assert_eq!(saved(150, 600), "75%");
    assert_eq!(saved(context.n_ingestion(), entries.n_ingestion()), "82%");
    assert_eq!(saved(250, 850), "71%");
    assert_says(
        &document,
        &["150 calls for 50 sessions, 75% fewer than the 600 of the specification's own baseline"],
    );
    let ratio = entries.latency_ms.ingestion as f64 / context.latency_ms.ingestion as f64;
    assert!((2.0..5.0).contains(&ratio), "{ratio}");
    assert_eq!(saved(context.storage.document_words, entries.storage.words()), "98%");
    assert!(context.storage.shard_words > entries.storage.entry_words, "versions are larger than entries");
}
