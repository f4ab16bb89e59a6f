//! A comparison across profiles as a page: who is cheapest under most lists, the changes under them, and the effect of each rate.

use super::grids::{all_grids, comparison_notes, counts_heading, format_count, lettered_policies};
use super::{ALL, Compared};
use crate::chart::draw_chart;
use crate::chart::names::PolicyLabel;
use crate::chart::winners::{Winners, WonPriceList};
use crate::effects::{PolicyChanges, change_spread_grid};
use crate::page::{Card, Page, PagePart, PagePiece};
use crate::prelude::*;
use crate::template;
use crate::verdict::{MIN_EVIDENCE, format_trimmed_percent};
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::sensitivity::{ComparedProfile, PriceRow, Sensitivity};
use ctxsim_input::profile::price::VariedRate as Rate;

/// What a policy must keep to be called the cheapest.
const FLOOR: Floor = Floor(MIN_EVIDENCE);

/// Returns the comparison as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(comparison: &Sensitivity) -> Result<String, template::Error> {
    let first = comparison.grids.first();
    let won = first.and_then(|grid| cheapest_by_price_list(comparison, grid));
    let won = won.map(|it| draw_chart("cheapest", &it));
    let more = first.map(|grid| [cost_changes_grid(comparison, grid), rate_effects_grid(comparison, grid)]);
    let more = more.into_iter().flatten().flatten();
    let tables = all_grids(comparison, false).into_iter().chain(more).flat_map(|mut grid| {
        let words = grid.more.take().map(PagePiece::Text);
        std::iter::once(PagePiece::table(grid)).chain(words)
    });
    let policies = PagePiece::list("Policies", lettered_policies(comparison));
    let n_policies = format_count(comparison.policies.len(), "policy", "policies");
    let lists = counted(comparison.profiles.len(), "price list");
    Page {
        command: "sensitivity",
        title: format!("{n_policies} under {lists}"),
        about: format!("{}.", counts_heading(comparison)),
        answers: first.and_then(|grid| answer_card(comparison, grid)).into_iter().listed(),
        rests_on: comparison_notes(comparison),
        parts: vec![
            PagePart::picture(PagePiece::pictures(won.into_iter().listed())),
            PagePart::tables(policies.into_iter().chain(tables).listed()),
        ],
    }
    .into_html()
}

/// What is said where no load declares what is needed.
const UNKNOWN: &str = "Nothing says which evidence is needed, so what it loses is unknown.";

/// Says it in a paragraph.
pub(super) fn answer_paragraph(comparison: &Sensitivity) -> Option<String> {
    let Card { number, what, words, .. } = answer_card(comparison, comparison.grids.first()?)?;
    Some(format!("{number} {what}. {}", words.join(" ")))
}

/// Says which policy is the cheapest under most price lists, of those that keep enough.
fn answer_card(comparison: &Sensitivity, grid: &Compared) -> Option<Card> {
    let rows: Vec<&PriceRow> = grid.rows.iter().filter(|it| !it.is_free()).listed();
    let (n, best) = n_wins_and_cheapest_policy(comparison, grid)?;
    let kept = || rows.iter().filter_map(|it| it.cells.get(best)?.kept());
    let kept = kept().reduce(f64::min).zip(kept().reduce(f64::max)).map(|(low, high)| {
        let (low, high) = (percent(low), percent(high));
        let to = if low == high { String::new() } else { format!(" to {high}") };
        format!("It keeps {low}{to} of the needed evidence.")
    });
    // Whoever forgets more is not the cheapest of what does the same.
    let is_below = |nth: usize, row: &PriceRow| {
        row.cheapest() == Some(nth) && !FLOOR.passes(row.cells[nth].evidence_kept())
    };
    let others = comparison.policies.iter().enumerate().skip(1);
    let below = others.filter(|(nth, _)| grid.rows.iter().any(|row| is_below(*nth, row)));
    let below = below.map(|it| it.1.as_str()).listed().join(", ");
    let floor = format_trimmed_percent(FLOOR.0);
    let below = (!below.is_empty())
        .then(|| format!("Cheaper under some lists, but below {floor} of the evidence: {below}."));
    let n_lists = rows.iter().filter(|it| it.cheapest_keeping(FLOOR).is_some()).count();
    let plural = if n_lists == 1 { "" } else { "s" };
    let keeping = kept.as_ref().map(|_| format!(" that keeps at least {floor} of the evidence"));
    let keeping = keeping.unwrap_or_default();
    Some(Card {
        number: format!("{n} of {n_lists}"),
        what: format!("price list{plural}: {} is the cheapest{keeping}", comparison.policies[best]),
        words: vec![kept.unwrap_or_else(|| UNKNOWN.to_owned())].into_iter().chain(below).listed(),
        ..Card::default()
    })
}

/// Returns under how many price lists the policy that is cheapest most often is, and which it is.
fn n_wins_and_cheapest_policy(comparison: &Sensitivity, grid: &Compared) -> Option<(usize, usize)> {
    let is_won = |row: &&PriceRow, policy| row.cheapest_keeping(FLOOR) == Some(policy);
    let wins = |policy: usize| grid.rows.iter().filter(|it| is_won(it, policy)).count();
    (0..comparison.policies.len()).map(|nth| (wins(nth), nth)).rev().max_by_key(|it| it.0)
}

/// Returns whom each price list is cheapest for.
fn cheapest_by_price_list(comparison: &Sensitivity, grid: &Compared) -> Option<Winners> {
    let label = |nth: usize| PolicyLabel::new(&comparison.policies[nth], nth);
    let won = |(profile, row): (&ComparedProfile, &PriceRow)| {
        let best = row.cheapest_keeping(FLOOR)?;
        let change = row.cells[best].cost()? / row.cells[0].cost()? - 1.0;
        let change = Some(change).filter(|it| best > 0 && it.is_finite());
        Some((best, WonPriceList { name: profile.name.clone(), policy: label(best), change }))
    };
    let won: Vec<(usize, WonPriceList)> = comparison.profiles.iter().zip(&grid.rows).filter_map(won).listed();
    let n_won = |nth: usize| won.iter().filter(|it| it.0 == nth).count();
    let policies = (0..comparison.policies.len()).map(|nth| (label(nth), n_won(nth))).listed();
    let floor = format_trimmed_percent(FLOOR.0);
    (won.len() > 1).then(|| Winners {
        subject: format!("{}; of those that keep at least {floor} of the evidence", grid_subject(grid)),
        policies,
        lists: won.into_iter().map(|it| it.1).listed(),
    })
}

/// Returns what a grid is of.
fn grid_subject(grid: &Compared) -> String {
    if grid.load == ALL { "all scenarios".to_owned() } else { grid.load.clone() }
}

/// Returns the changes in cost that each policy makes under the price lists.
fn cost_changes_grid(comparison: &Sensitivity, grid: &Compared) -> Option<Grid> {
    let under_lists = |nth: usize| PolicyChanges {
        policy: comparison.policies[nth].clone(),
        changes: grid.rows.iter().filter_map(|row| relative_cost_change(row, nth)).listed(),
    };
    let (base, subject) = (&comparison.policies[0], grid_subject(grid));
    let title = format!("Change in cost against {base} under the price lists · {subject}");
    change_spread_grid(title, "price lists", (1..comparison.policies.len()).map(under_lists).listed())
}

/// Returns the change in a policy's cost under a price list that is not free.
fn relative_cost_change(row: &PriceRow, policy: usize) -> Option<f64> {
    let (own, first) = (row.cells.get(policy)?, row.cells.first()?);
    let change = own.cost()? / first.cost()? - 1.0;
    (!row.is_free() && own.did_as_much_as(first) && change.is_finite()).then_some(change)
}

/// Returns the effect of each rate, a tenth lower and a tenth higher, on what the policy saves that is cheapest most often.
fn rate_effects_grid(comparison: &Sensitivity, grid: &Compared) -> Option<Grid> {
    let best = n_wins_and_cheapest_policy(comparison, grid)?.1;
    let lists = comparison.profiles.iter().zip(&grid.rows).filter_map(|(profile, row)| {
        let declared = relative_cost_change(row, best)?;
        let ends = |rate: &Rate| {
            let [own, first] = [&row.cells[best], &row.cells[0]].map(|cell| cell.cost_at(*rate));
            let [low, high] = [0, 1].map(|nth| Some(own[nth]? / first[nth]? - 1.0));
            or_none(low.zip(high), |(low, high)| interval([low, high]) + "%")
        };
        let rates = Rate::ALL.iter().map(ends);
        Some([profile.name.clone(), signed(declared)].into_iter().chain(rates).listed())
    });
    let rates = Rate::ALL.into_iter().map(|rate| rate.name().replace('_', " "));
    let columns = ["profile", "as listed"].map(str::to_owned).into_iter().chain(rates).listed();
    let policy = &comparison.policies[best];
    let title = format!("Change in cost with {policy}, each rate a tenth lower … a tenth higher");
    (best > 0).then(|| Grid::new(title, 1, &columns, lists))
}
