//! A comparison across profiles as a page: who is cheapest under most lists, what the others lose by that, and the changes under all of them.

use super::answer::{ListAnswer, PriceAnswer, format_three_digits};
use super::grids::{
    comparison_notes, counts_heading, detail_grids, first_grids, format_count, lettered_policies,
};
use crate::chart::draw_chart;
use crate::chart::names::PolicyLabel;
use crate::chart::winners::{Winners, WonList};
use crate::page::{Card, Page, PagePart, PagePiece};
use crate::prelude::*;
use crate::template;
use ctxsim_engine::measure::sensitivity::Sensitivity;

/// Returns the comparison as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(comparison: &Sensitivity) -> Result<String, template::Error> {
    let answers = PriceAnswer::all(comparison);
    let won = answers.iter().filter(|it| it.lists.len() > 1).map(cheapest_by_price_list);
    let first = answers.iter().flat_map(|it| first_grids(it, answers.len() == 1));
    let tables = first.chain(detail_grids(&answers, comparison)).flat_map(|mut grid| {
        let words = grid.more.take().map(PagePiece::Text);
        std::iter::once(PagePiece::table(grid)).chain(words)
    });
    let policies = PagePiece::list("Policies", lettered_policies(comparison));
    let n_policies = format_count(comparison.policies.len(), "policy", "policies");
    let lists = counted(comparison.profiles.len(), "price list");
    let card = |answer: &PriceAnswer<'_>| {
        let [number, what] = answer.headline();
        let of = (answers.len() > 1).then(|| answer.group.title.clone());
        Card { of, number, what, words: answer.sentences(), ..Card::default() }
    };
    Page {
        command: "sensitivity",
        title: format!("{n_policies} under {lists}"),
        about: format!("{}.", counts_heading(comparison)),
        answers: answers.iter().map(card).listed(),
        rests_on: comparison_notes(comparison, true),
        parts: vec![
            PagePart::new("Picture", PagePiece::pictures(won.map(|it| draw_chart("cheapest", &it)).listed())),
            PagePart::new("Tables", policies.into_iter().chain(tables).listed()),
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
        stays: it.loss.map_or_else(|| answer.below_floor(), signed),
        ratio: or_none(it.ratio, format_three_digits),
    };
    let (best, deciding, group) = (answer.names[answer.best], answer.deciding_name(), &answer.group.title);
    Winners {
        subject: format!("{group}; by {deciding} ÷ input; staying with {best}"),
        stays: best.to_owned(),
        ratio: format!("{deciding} ÷ input"),
        policies: (0..answer.names.len()).map(|nth| (label(nth), answer.n_won(nth))).listed(),
        lists: answer.lists.iter().map(won).listed(),
    }
}
