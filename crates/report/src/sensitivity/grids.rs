//! The tables of a comparison across profiles, and their notes.

use super::Compared;
use super::answer::{ListAnswer, PriceAnswer, format_three_digits};
use crate::ALL;
use crate::prelude::*;
use ctxsim_engine::measure::BreakEven;
use ctxsim_engine::measure::sensitivity::{PriceCell, PriceRow, Sensitivity};
use ctxsim_input::profile::Counting;

/// The most price lists of a first look that another policy wins.
const SHOWN: usize = 7;

/// The columns that are hidden if there is not enough room, in this order.
const LEAVING: [&str; 7] = [
    "as of",
    "pauses for 1 h",
    "… against compression",
    "fill up from",
    "prune requests",
    "results shown",
    "of limit",
];

pub(super) fn counts_heading(comparison: &Sensitivity) -> String {
    format!(
        "{} on {} under {}, {} of cache rules and limits: {}",
        format_count(comparison.policies.len(), "policy", "policies"),
        format_count(comparison.grids.iter().filter(|it| it.load != ALL).count(), "scenario", "scenarios"),
        format_count(comparison.profiles.len(), "profile", "profiles"),
        format_count(comparison.n_distinct, "distinct pair", "distinct pairs"),
        format_count(comparison.n_simulations, "simulation", "simulations"),
    )
}

/// Counts things whose number in words is not regular.
pub(super) fn format_count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns a short name for each policy: A to Z, then A2 and so on.
fn policy_letters(comparison: &Sensitivity) -> Vec<String> {
    let letter = |index: usize| {
        let letter = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
        if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26 + 1) }
    };
    (0..comparison.policies.len()).map(letter).listed()
}

/// Each policy behind its short name.
pub(super) fn lettered_policies(comparison: &Sensitivity) -> Vec<String> {
    let named = policy_letters(comparison).into_iter().zip(&comparison.policies);
    named.map(|(letter, policy)| format!("{letter}: {policy}")).listed()
}

/// Returns the tables of a first look: what each policy saves; and, of a single answer, who is cheapest under each price list; of many, only
/// where it is another one.
pub(super) fn first_grids(answer: &PriceAnswer<'_>, is_only: bool) -> Vec<Grid> {
    let is_few = answer.lists.len() <= SHOWN;
    let shown = answer.lists.iter().filter(|it| is_few || it.winner != answer.best).listed();
    let n_more = shown.len().saturating_sub(SHOWN);
    let what = if is_few { EACH } else { "Where another one is the cheapest" };
    let lists = is_only.then(|| lists_grid(answer, what, &shown[..shown.len() - n_more])).flatten();
    let lists = lists.map(|it| it.leaving_out(n_more, "--details"));
    std::iter::once(savings_grid(answer)).chain(lists).map(|grid| grid.leaving(&LEAVING)).listed()
}

/// Returns every other table, what their columns mean below them: every price list, the costs on every load, and break-even points.
pub(super) fn detail_grids(answers: &[PriceAnswer<'_>], comparison: &Sensitivity) -> Vec<Grid> {
    let all = answers.iter().filter_map(|it| lists_grid(it, EACH, &it.lists.iter().listed()));
    let costs = comparison.grids.iter().map(|grid| costs_grid(comparison, grid));
    let grids = all.chain(costs).chain(break_even_grid(comparison));
    grids.map(|grid| Grid { more: column_legend(&grid), ..grid.leaving(&LEAVING) }).listed()
}

/// What a table of all price lists shows.
const EACH: &str = "The cheapest under each price list";

/// Returns who is cheapest under some price lists, in the order of the ratio that decides; `None` of none.
fn lists_grid(answer: &PriceAnswer<'_>, what: &str, lists: &[&ListAnswer<'_>]) -> Option<Grid> {
    let ratio = answer.deciding_name();
    let columns: [Of<'_, &ListAnswer<'_>>; 6] = [
        ("price list", &|it| it.name.to_owned()),
        (&format!("{ratio} ÷ input"), &|it| or_none(it.ratio, format_three_digits)),
        ("cheapest", &|it| answer.names[it.winner].to_owned()),
        ("cost USD", &|it| fixed(it.cost, numbers::decimals(it.cost).min(4))),
        ("Δ cost", &|it| if it.winner == 0 { NONE.to_owned() } else { signed(it.change) }),
        ("staying costs", &|it| it.loss.map_or_else(|| answer.below_floor(), signed)),
    ];
    let title = format!("{what} · {}", answer.group.title);
    (!lists.is_empty()).then(|| Grid::from_columns(title, 1, lists, &columns).with(CellKind::Name, &[2]))
}

fn costs_grid(sensitivity: &Sensitivity, grid: &Compared) -> Grid {
    let is_counted = sensitivity.profiles.iter().any(|it| it.counts().is_some());
    let heads = ["profile", "as of"].into_iter().chain(is_counted.then_some("tokens"));
    let columns = heads.map(str::to_owned).chain(policy_letters(sensitivity)).listed();
    // All lists with as many decimals: those of the cheapest, but at most four beside a list that costs a dollar.
    let largest = |row: &PriceRow| row.cells.iter().filter_map(PriceCell::cost).fold(0.0, f64::max);
    let decimals = grid.rows.iter().map(|it| numbers::decimals(largest(it))).max().unwrap_or(4);
    let decimals = if grid.rows.iter().any(|it| largest(it) >= 1.0) { decimals.min(4) } else { decimals };
    let rows = sensitivity.profiles.iter().zip(&grid.rows).map(|(profile, row)| {
        let mut line = vec![profile.name.clone(), profile.as_of.clone()];
        line.extend(is_counted.then(|| profile.counts().unwrap_or_else(|| NONE.to_owned())));
        line.extend(row.cells.iter().map(|cell| {
            let cost = numbers::fixed_or_none(cell.cost(), decimals);
            if cell.is_stopped { format!("{cost} ×") } else { cost }
        }));
        line
    });
    let load = match grid.load.as_str() {
        ALL => format!("all {} scenarios", sensitivity.grids.len() - 1),
        load => load.to_owned(),
    };
    Grid::new(format!("Cost in USD · {load}"), 1, &columns, rows)
}

fn break_even_grid(sensitivity: &Sensitivity) -> Option<Grid> {
    let known = sensitivity.profiles.iter().filter(|it| it.break_even.hit_share_short.is_some());
    let known: Vec<(&str, &BreakEven)> = known.map(|it| (it.name.as_str(), &it.break_even)).listed();
    let share = |it| or_none(it, numbers::percent);
    let number = numbers::fixed_or_none;
    let columns: [Of<'_, (&str, &BreakEven)>; 9] = [
        ("profile", &|(name, _)| (*name).to_owned()),
        ("hit share", &|(_, it)| share(it.hit_share_short)),
        ("… 1 h", &|(_, it)| share(it.hit_share_long)),
        ("… against compression", &|(_, it)| share(it.hit_share_against_compression)),
        ("pauses for 1 h", &|(_, it)| number(it.long_from_pauses, 2)),
        ("keep alive min", &|(_, it)| number(it.keep_alive_minutes, 1)),
        ("prune requests", &|(_, it)| number(it.prune_requests, 1)),
        ("fill up from", &|(_, it)| number(it.fill_up_tokens, 0)),
        ("compact after", &|(_, it)| number(it.compaction_tokens, 0)),
    ];
    let title = "Break-even points of the price lists";
    (!known.is_empty()).then(|| Grid::from_columns(title, 1, &known, &columns))
}

/// Says which price lists charge nothing.
fn free_price_lists_note(comparison: &Sensitivity) -> Option<String> {
    let rows = comparison.profiles.iter().zip(&comparison.grids.first()?.rows);
    let names: Vec<&str> = rows.filter(|(_, row)| row.is_free()).map(|(it, _)| it.name.as_str()).listed();
    let (lists, more) =
        if names.len() == 1 { ("price list charges", "") } else { ("price lists charge", ", …") };
    let (n, first) = (names.len(), names.first()?);
    Some(format!("{n} {lists} nothing ({first}{more}): no policy is the cheapest there."))
}

/// What the columns mean that do not say so themselves.
const LEGEND: [(&str, &str); 4] = [
    ("as of", "the day the prices were read"),
    ("pauses for 1 h", "pauses beyond the short lifetime from which an entry for an hour costs less"),
    ("fill up from", "prefix tokens from which padding to the shortest cached length pays"),
    ("compact after", "tokens of growth after which a compaction costs least"),
];

/// Explains the columns of a table; `None` if they all say it themselves.
fn column_legend(grid: &Grid) -> Option<String> {
    let is_shown = |heading: &str| grid.columns.iter().any(|it| it.heading == heading);
    let shown = LEGEND.iter().filter(|it| is_shown(it.0));
    let told = shown.map(|(heading, means)| format!("{heading}: {means}")).listed().join("; ");
    (!told.is_empty()).then(|| format!("{told}."))
}

/// Returns the notes of a comparison.
pub(super) fn comparison_notes(comparison: &Sensitivity, is_detailed: bool) -> Vec<String> {
    let mut notes = comparison.skipped.iter().cloned().chain(free_price_lists_note(comparison)).listed();
    let mut rows = comparison.grids.iter().flat_map(|grid| &grid.rows);
    if rows.any(|row| row.cells.iter().any(|cell| cell.is_stopped)) {
        notes.push("× stopped at a limit: it did less work and is not ranked.".to_owned());
    }
    // What users asked alone says nothing of results.
    let is_unknown = |cell: &PriceCell| cell.recovery_tokens.is_none() && cell.remembered.is_none();
    let is_silent = |grid: &&Compared| grid.rows.iter().flat_map(|row| &row.cells).any(is_unknown);
    let silent = comparison.grids.iter().filter(is_silent).map(|it| it.load.as_str()).listed().join(", ");
    let none = "declares no evidence needs: do not judge it by cost alone";
    notes.extend((!silent.is_empty()).then(|| format!("{silent}: this scenario {none}.")));
    let counting = || comparison.profiles.iter().flat_map(|it| &it.counting);
    if counting().any(|it| *it != Counting::AsRecorded) {
        let unknown = text_if_any(counting().filter(|it| **it == Counting::Unknown).count(), |n| {
            format!("; of {n}, nobody has published how, so they stand with the recorded sizes")
        });
        notes.push(format!(
            "Where another family's models count tokens differently, sizes are counted anew (assumptions/tokenizers.toml){unknown}."
        ));
    }
    notes.extend(is_detailed.then(|| match &comparison.asked {
        Some(asked) => format!(
            "break-even: a prune removes {} tokens and rewrites {}; a request after {} of a lifetime keeps \
                an entry alive; {} requests share a prefix; compression makes a prompt {} times smaller; \
                a compaction leaves {} tokens, requests add {}, and {} of them miss (--set break_even.…).",
            thousands(asked.prune_removes_tokens),
            thousands(asked.prune_rewrites_tokens),
            asked.keep_alive_after,
            asked.fill_up_requests,
            asked.compression,
            thousands(asked.compaction_prefix_tokens),
            thousands(asked.compaction_growth_tokens),
            asked.compaction_miss_share,
        ),
        None => "the suite has no [break_even], so some break-even points are unknown.".to_owned(),
    }));
    notes
}

/// Returns a line for each policy.
fn savings_grid(answer: &PriceAnswer<'_>) -> Grid {
    let grid = &answer.group.grid;
    let remembered = grid.rows.iter().flat_map(|it| &it.cells).find_map(|it| it.remembered.as_ref());
    let kept = remembered.map_or("evidence kept", |it| it.heading);
    // The range of a number over all profiles; a single number if both ends look the same.
    let range = |policy: &usize, number: fn(&PriceCell) -> Option<f64>, written: fn(f64) -> String| {
        let numbers = || grid.rows.iter().filter_map(|row| number(row.cells.get(*policy)?));
        match [numbers().reduce(f64::min), numbers().reduce(f64::max)].map(|it| or_none(it, written)) {
            [least, most] if least == most => least,
            [least, most] => format!("{}–{most}", least.trim_end_matches('%')),
        }
    };
    let tokens = |number: f64| numbers::short(number.round() as u64);
    let columns: [Of<'_, usize>; 7] = [
        ("policy", &|policy| answer.names[*policy].to_owned()),
        ("cheapest under", &|policy| format!("{} of {}", answer.n_won(*policy), answer.lists.len())),
        ("Δ cost", &|policy| if *policy == 0 { NONE.to_owned() } else { median_change_text(grid, *policy) }),
        (kept, &|policy| range(policy, PriceCell::kept, percent)),
        ("recovery tokens", &|policy| range(policy, |it| it.recovery_tokens, tokens)),
        ("results shown", &|policy| range(policy, |it| it.results_shown, percent)),
        ("of limit", &|policy| range(policy, |it| it.of_limit, percent)),
    ];
    let group = &answer.group.title;
    let title = format!("What each policy saves (the median over the price lists) and keeps · {group}");
    Grid::from_columns(title, 1, &(0..answer.names.len()).listed(), &columns)
}

/// Writes the median of the changes of cost against the first policy.
fn median_change_text(grid: &Compared, policy: usize) -> String {
    let share = |cells: &[PriceCell]| {
        let (cell, first) = (cells.get(policy)?, cells.first()?);
        Some(cell.cost()? / first.cost()?).filter(|it| cell.did_as_much_as(first) && it.is_finite())
    };
    let mut shares: Vec<f64> = grid.rows.iter().filter_map(|it| share(&it.cells)).listed();
    shares.sort_by(f64::total_cmp);
    let median = shares.get(shares.len() / 2).copied();
    median.and_then(|it| numbers::change(it, 1.0)).unwrap_or_else(|| NONE.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_that_may_leave_is_one_of_some_table() {
        let source = include_str!("grids.rs");
        for heading in LEAVING {
            assert!(source.matches(&format!("\"{heading}\"")).count() > 1, "{heading}");
        }
    }
}
