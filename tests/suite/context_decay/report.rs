//! What is said of the benchmark: tables, charts, costs and guards.

use ctxsim::report::html::{self, Traces};
use ctxsim::report::{json, run_blocks};

use super::*;

#[test]
fn the_paper_s_tables_stand_beside_ours() {
    assert_snapshot(
        "context_decay",
        "markdown",
        &run_blocks::report_markdown(&quietly(&plan(&[]), 1), Detail::Groups),
    );
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_costs_in_the_document_are_those_of_the_suites() {
    let costs = |suite: &str| {
        let comparison = Comparison { suite: Some(suite.to_owned()), ..Comparison::default() };
        let report = quietly(&planned(&comparison), 2);
        let grid = report.findings_grids().into_iter().find(|it| it.title.starts_with("Cost and retention"));
        grid.unwrap().rows
    };
    let (budget, whole) = (costs("context-decay-cost"), costs("context-decay-whole"));
    let text = include_str!("../../../docs/studies/context-decay.md");
    let section = text.split("## What it costs").nth(1).unwrap().split("\n## ").next().unwrap();

    let mut n_rows = 0;
    for line in section.lines().filter(|it| it.contains("| whole |") || it.contains("| 15% |")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).filter(|it| !it.is_empty()).collect();
        let policy = match cells[0] {
            "file-backed" => "context_decay/file_backed",
            "memory banks" => "context_decay/memory_banks",
            "sliding window + summary" => "context_decay/sliding_window_summary",
            "naive truncation" => "context_decay/naive_truncation",
            _ => "identity",
        };
        let rows = if cells[1] == "whole" { &whole } else { &budget };
        let row = rows.iter().find(|it| it.cells[0] == policy).unwrap().cells.as_slice();
        assert_eq!([&row[1], &row[2], &row[3]], [cells[2], &cells[3].replace(',', ""), cells[4]], "{line}");
        assert_eq!(rounded(row[4].parse().unwrap(), 2), cells[5].parse::<f64>().unwrap(), "{line}");
        n_rows += 1;
    }
    assert_eq!(n_rows, 8);
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn every_policy_keeps_what_it_keeps_on_every_load_at_its_price() {
    let comparison = Comparison { suite: Some("context-decay-cost".to_owned()), ..Comparison::default() };
    let report = quietly(&planned(&comparison), 2);

    assert_snapshot("context_decay", "cost", &run_blocks::report_markdown(&report, Detail::Groups));
    let comparison = Comparison { suite: Some("context-decay-whole".to_owned()), ..Comparison::default() };
    let report = quietly(&planned(&comparison), 2);
    assert_snapshot("context_decay", "whole", &run_blocks::report_markdown(&report, Detail::Groups));
}

#[test]
fn charts_stand_on_the_page_with_the_numbers_that_they_show() {
    let page = html::html_page(&quietly(&plan(&[]), 1), Detail::Groups, &Traces::default()).unwrap();

    assert_eq!(page.matches("<svg").count(), 2, "by depth and by length");
    for (policy, number) in [("file_backed", "0.886"), ("naive_truncation", "0.570")] {
        assert!(page.contains(&format!("context_decay/{policy}</th>")) && page.contains(number));
        assert!(page.contains(&format!(">{policy}</text>")), "a name stands beside the line of {policy}");
    }
}

#[test]
fn the_claims_of_the_publication_are_guards_that_can_fail() {
    let judged = |set: &[&str]| {
        let plan = plan(set);
        quietly(&plan, 1).guard_verdicts
    };

    let verdicts = judged(&[]);
    assert_eq!(verdicts.len(), 7);
    assert!(verdicts.iter().all(|it| it.holds), "{verdicts:?}");
    let broken: Vec<_> =
        judged(&["memory.facts.write.extract.2.p=0.2"]).into_iter().filter(|it| !it.holds).collect();
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].to_string().contains("is not above 0.85 (context_decay/file_backed on"));
}

#[test]
fn a_guard_finds_the_number_that_the_json_has_at_its_place() {
    let report = quietly(&plan(&[]), 1);
    let document: Value = serde_json::from_str(&json::report_json(&report).unwrap()).unwrap();
    let run = json::RunNumbers::new(&report.runs[0], None);

    for place in [
        "retention.accuracy.mean",
        "retention.accuracy.se",
        "retention.gap",
        "retention.depth_accuracy.early (0-25%).sd",
        "retention.by_length.500.context_tokens.mean",
        "retention.states.lost",
        "totals.requests",
    ] {
        let step = |at: &Value, step| at.get(step).cloned();
        let number = place.split('.').try_fold(document["runs"][0].clone(), |at, it| step(&at, it));
        assert_eq!(run.number_at(place), number.unwrap().as_f64(), "{place}");
    }
    assert_eq!(run.number_at("retention.nothing"), None);
}
