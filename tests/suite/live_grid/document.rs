//! The page of trust and `docs/reference/live-grid.md` show what these tests measure.

use std::fmt::Write as _;

use super::scores::{Scores, against_none, is_evicted, noise, played, scores};
use crate::tune::hold_table;

use super::{Cell, Knows, Played, scored};

/// A table in Markdown, its columns padded.
fn table(rows: &[Vec<String>]) -> String {
    let width = |nth: usize| rows.iter().map(|it| it[nth].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (n, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(nth, cell)| {
            if nth == 0 { format!("{cell:<0$}", width(nth)) } else { format!("{cell:>0$}", width(nth)) }
        });
        writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | ")).unwrap();
        if n == 0 {
            let rule = (0..row.len()).map(|nth| {
                if nth == 0 { "-".repeat(width(nth)) } else { format!("{}:", "-".repeat(width(nth) - 1)) }
            });
            writeln!(text, "| {} |", rule.collect::<Vec<_>>().join(" | ")).unwrap();
        }
    }
    text
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|it| (*it).to_owned()).collect()
}

/// The scores of all cells.
fn overview() -> String {
    let mut rows = vec![row(&[
        "cell",
        "rank correlation of cost",
        "cost against `none`, points off",
        "floor, points",
        "hit rate, points off",
        "last / longest prompt, % off",
        "facts within bounds",
    ])];
    for (forecast, mechanics) in played(Knows::Forecast).iter().zip(played(Knows::Mechanics)) {
        let of =
            |(name, cell, played): &(String, Cell, Vec<Played>)| -> Scores { scores(name, cell, played) };
        let (f, m) = (of(forecast), of(mechanics));
        rows.push(vec![
            forecast.0.clone(),
            format!("{:.2} / {:.2}", f.rank, m.rank),
            format!("{:.1} / {:.1}", f.cost, m.cost),
            format!("{:.1}", f.floor),
            format!("{:.1} / {:.1}", f.hit, m.hit),
            format!("{:.1} / {:.1}", m.last_prompt, m.longest_prompt),
            format!("{} of {}", m.facts, scored().len()),
        ]);
    }
    table(&rows)
}

/// One cell, strategy by strategy.
fn of_cell(name: &str, cell: &Cell, forecast: &[Played], mechanics: &[Played]) -> String {
    let mut rows = vec![row(&[
        "strategy",
        "cost, %",
        "± seeds, points",
        "forecast, %",
        "with its replies, %",
        "hit, %",
        "ours, %",
        "longest prompt, tokens",
        "ours, tokens",
        "facts left",
        "ours, facts",
    ])];
    for (nth, strategy) in scored().iter().enumerate() {
        let it = &cell.strategies[*strategy];
        let facts = it.facts_left.iter().sum::<f64>() / it.facts_left.len() as f64;
        let [low, high] = mechanics[nth].facts_left;
        let mark = if is_evicted(name, strategy) { " ¹" } else { "" };
        rows.push(vec![
            format!("{strategy}{mark}"),
            format!("{:+.1}", it.against_none_percent),
            format!("{:.1}", noise(cell, strategy)),
            format!("{:+.1}", against_none(forecast, nth)),
            format!("{:+.1}", against_none(mechanics, nth)),
            format!("{:.1}", it.hit_percent),
            format!("{:.1}", mechanics[nth].hit_percent),
            format!("{:.0}", it.peak_prompt),
            format!("{:.0}", mechanics[nth].peak_prompt),
            format!("{facts:.1}"),
            if low == high { format!("{low:.0}") } else { format!("{low:.0}–{high:.0}") },
        ]);
    }
    table(&rows)
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn the_document_on_counterfactuals_shows_what_is_measured() {
    let overview = overview();
    let mut text = String::new();
    for (forecast, mechanics) in played(Knows::Forecast).iter().zip(played(Knows::Mechanics)) {
        let (name, cell, of_forecast) = forecast;
        write!(text, "\n## {name}\n\n{}", of_cell(name, cell, of_forecast, &mechanics.2)).unwrap();
    }

    insta::with_settings!({snapshot_path => "../../../snapshots/live_grid", prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("tables", format!("{overview}{text}"));
    });
    hold_table("explanation/trust.md", "live grid", &overview);
    hold_table("reference/live-grid.md", "tables", &text);
}
