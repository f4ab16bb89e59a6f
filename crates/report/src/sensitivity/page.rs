//! A comparison across profiles as a page: who is cheapest under most lists, what the others lose by that, and the changes under all of them.

use super::answer::{ListAnswer, PriceAnswer, format_three_digits};
use super::grids::{
    comparison_notes, counts_heading, detail_grids, first_grids, format_count, lettered_policies,
};
use super::{ALL, Compared};
use crate::chart::draw_chart;
use crate::chart::names::PolicyLabel;
use crate::chart::winners::{Winners, WonList};
use crate::effects::{PolicyChanges, change_spread_grid};
use crate::page::{Card, Page, PagePart, PagePiece};
use crate::prelude::*;
use crate::template;
use ctxsim_engine::measure::sensitivity::{PriceRow, Sensitivity};

/// Returns the comparison as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(comparison: &Sensitivity) -> Result<String, template::Error> {
    let answer = PriceAnswer::new(comparison);
    let won = answer.as_ref().filter(|it| it.lists.len() > 1).map(cheapest_by_price_list);
    let won = won.map(|it| draw_chart("cheapest", &it));
    let first = answer.as_ref().map_or_else(Vec::new, |it| first_grids(it, comparison));
    let changes = comparison.grids.first().and_then(|grid| cost_changes_grid(comparison, grid));
    let grids = first.into_iter().chain(changes).chain(detail_grids(answer.as_ref(), comparison));
    let tables = grids.flat_map(|mut grid| {
        let words = grid.more.take().map(PagePiece::Text);
        std::iter::once(PagePiece::table(grid)).chain(words)
    });
    let policies = PagePiece::list("Policies", lettered_policies(comparison));
    let n_policies = format_count(comparison.policies.len(), "policy", "policies");
    let lists = counted(comparison.profiles.len(), "price list");
    let card = answer.as_ref().map(|it| {
        let [number, what] = it.headline();
        Card { number, what, words: it.sentences(), ..Card::default() }
    });
    Page {
        command: "sensitivity",
        title: format!("{n_policies} under {lists}"),
        about: format!("{}.", counts_heading(comparison)),
        answers: card.into_iter().listed(),
        rests_on: comparison_notes(comparison, true),
        parts: vec![
            PagePart::picture(PagePiece::pictures(won.into_iter().listed())),
            PagePart::tables(policies.into_iter().chain(tables).listed()),
        ],
    }
    .into_html()
}

/// Returns whom each price list is cheapest for, and what it loses by the policy that is cheapest under most.
fn cheapest_by_price_list(answer: &PriceAnswer<'_>) -> Winners {
    let label = |nth: usize| PolicyLabel::new(answer.names[nth], nth);
    let won = |it: &ListAnswer<'_>| WonList {
        name: it.name.to_owned(),
        policy: label(it.winner),
        loss: it.loss,
        ratio: or_none(it.ratio, format_three_digits),
    };
    let policies = (0..answer.names.len()).map(|nth| (label(nth), answer.n_won(nth))).listed();
    Winners {
        subject: format!("{}; in the order of {} ÷ input", answer.subject(), answer.deciding_name()),
        stays: answer.names[answer.best].to_owned(),
        ratio: format!("{} ÷ input", answer.deciding_name()),
        policies,
        lists: answer.lists.iter().map(won).listed(),
    }
}

/// Returns the changes in cost that each policy makes under the price lists.
fn cost_changes_grid(comparison: &Sensitivity, grid: &Compared) -> Option<Grid> {
    let under_lists = |nth: usize| PolicyChanges {
        policy: comparison.policies[nth].clone(),
        changes: grid.rows.iter().filter_map(|row| cost_change(row, nth)).listed(),
    };
    let (base, load) = (&comparison.policies[0], &grid.load);
    let subject = if load == ALL { "all scenarios" } else { load };
    let title = format!("Change in cost against {base} under the price lists · {subject}");
    change_spread_grid(title, "price lists", (1..comparison.policies.len()).map(under_lists).listed())
}

/// Returns the change in a policy's cost under a price list that is not free.
fn cost_change(row: &PriceRow, policy: usize) -> Option<f64> {
    let (own, first) = (row.cells.get(policy)?, row.cells.first()?);
    let change = own.cost()? / first.cost()? - 1.0;
    (!row.is_free() && own.did_as_much_as(first) && change.is_finite()).then_some(change)
}
