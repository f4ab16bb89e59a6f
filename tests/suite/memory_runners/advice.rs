//! What to choose when: each line follows from the differences beside it, and audits are judged by what an audit asks.

use ctxsim::measure::Statistic;
use ctxsim::worlds::chats::tables::advised;
use ctxsim::worlds::chats::{ChatSummary, Wins};

use crate::support::*;

fn report(scenario: &str) -> Report {
    let comparison = Comparison {
        policies: ["entries", "context_only"].map(|it| format!("memory_runners/{it}")).to_vec(),
        ..comparing(&[], &[&format!("memory_runners/{scenario}")], &["anthropic/claude-haiku-4.5"])
    };
    reported(&comparison)
}

/// Returns how much more the runner with entries answers, by type.
fn difference(report: &Report, kind: &str) -> Option<Statistic> {
    let entries = report.runs[0].found::<ChatSummary>().unwrap();
    entries.paired["memory_runners/context_only"].get(kind).copied()
}

/// Returns what is advised: what matters, the differences, the verdict.
fn advice(report: &Report) -> Vec<[String; 3]> {
    let kind = report.runs[0].findings.as_ref().unwrap().kind();
    let runs: Vec<_> = report.runs.iter().collect();
    let grids = (kind.grids)(&runs, &[]);
    let grid = grids.into_iter().find(|it| it.title.starts_with("What to choose when")).unwrap();
    grid.rows.into_iter().map(|it| <[String; 3]>::try_from(it.cells).unwrap()).collect()
}

/// The types of questions that each line rests on.
const BY: [(&str, &[&str]); 4] = [
    ("recent information matters most", &["single_fact", "knowledge_update"]),
    ("audits", &["audit"]),
    ("history", &["timeline"]),
    ("fine-grained search", &["counting"]),
];

#[test]
fn each_line_of_advice_is_what_the_intervals_beside_it_say() {
    for scenario in ["spec", "spread", "long", "audits"] {
        let report = report(scenario);
        let lines = advice(&report);
        for (need, kinds) in BY {
            let [_, said, verdict] = lines.iter().find(|it| it[0] == need).unwrap();
            let found: Vec<Statistic> = kinds.iter().filter_map(|it| difference(&report, it)).collect();
            let all = found.iter().map(|it| match it.ci95.unwrap() {
                [low, _] if low > 0.0 => Wins::Entries,
                [_, high] if high < 0.0 => Wins::Document,
                _ => Wins::Open,
            });
            let wanted = match advised(all) {
                Wins::Entries => "entries: ",
                Wins::Document => "document: ",
                Wins::Open => "cannot tell",
            };
            assert!(verdict.starts_with(wanted), "{scenario}, {need}: {said}: {verdict}");
            for it in &found {
                assert!(said.contains(&format!("{:+.1}", it.mean * 100.0)), "{said}");
            }
            assert_eq!(found.is_empty(), said == "nothing asks for it", "{scenario}, {need}");
        }
    }
}

#[test]
fn an_audit_is_told_from_entries_and_an_open_difference_is_not_decided() {
    let lines = advice(&report("audits"));
    let audits = lines.iter().find(|it| it[0] == "audits").unwrap();
    assert!(audits[2].starts_with("entries: "), "{audits:?}");

    assert_eq!(advised([Wins::Open, Wins::Open].into_iter()), Wins::Open);
    assert_eq!(advised([Wins::Open, Wins::Document].into_iter()), Wins::Document);
    assert_eq!(
        advised([Wins::Entries, Wins::Document].into_iter()),
        Wins::Open,
        "they contradict each other"
    );
    assert_eq!(advised(std::iter::empty()), Wins::Open);
}
