//! The tables of a comparison across profiles, and their notes.

use super::Compared;
use crate::ALL;
use crate::prelude::*;
use ctxsim_engine::measure::sensitivity::{Flip, OpenOrders, PriceCell, PriceRow, Sensitivity};
use ctxsim_engine::measure::{BreakEven, Label};
use ctxsim_input::profile::price::VariedRate;

/// The most characters of a line for names of profiles.
const NAMES_WIDTH: usize = 48;

/// The columns that are hidden if there is not enough room, in this order.
const LEAVING: [&str; 9] = [
    "as of",
    "pauses for 1 h",
    "… against compression",
    "fill up from",
    "prune requests",
    "until",
    "results shown",
    "of limit",
    "recovery tokens",
];

pub(super) fn counts_heading(comparison: &Sensitivity) -> String {
    let n_loads = comparison.grids.iter().filter(|it| it.load != ALL).count();
    let n_more = comparison.n_left_out;
    let shown = text_if_any(n_more, |n| format!(" ({} more left out by --top)", thousands(n as u64)));
    format!(
        "{} on {} under {}{shown}, {} of cache rules and limits: {}",
        format_count(comparison.policies.len(), "policy", "policies"),
        format_count(n_loads, "scenario", "scenarios"),
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

/// Returns all tables in order, what their columns mean below them.
pub(super) fn all_grids(comparison: &Sensitivity, is_detailed: bool) -> Vec<Grid> {
    let shown = if is_detailed { comparison.grids.len() } else { 1 };
    let mut grids = Vec::new();
    for grid in comparison.grids.iter().take(shown) {
        grids.push(savings_grid(comparison, grid, &policy_letters(comparison)));
        grids.push(costs_grid(comparison, grid));
        grids.push(cost_orders_grid(comparison, grid));
        grids.extend(rank_flips_grid(comparison, grid));
        grids.push(elasticities_grid(comparison, grid, is_detailed));
    }
    grids.extend(break_even_grid(comparison));
    grids.into_iter().map(|grid| Grid { more: column_legend(&grid), ..grid.leaving(&LEAVING) }).listed()
}

fn grid_title(sensitivity: &Sensitivity, grid: &Compared, what: &str) -> String {
    match grid.load.as_str() {
        ALL => format!("{what} · all {} scenarios", sensitivity.grids.len() - 1),
        load => format!("{what} · {load}"),
    }
}

fn costs_grid(sensitivity: &Sensitivity, grid: &Compared) -> Grid {
    let is_counted = sensitivity.profiles.iter().any(|it| it.counts().is_some());
    let heads = ["profile", "as of"].into_iter().chain(is_counted.then_some("tokens"));
    let columns = heads.map(str::to_owned).chain(policy_letters(sensitivity)).listed();
    // All lists with as many decimals: those of the cheapest, but at most four beside a list that costs a dollar.
    let largest = |row: &PriceRow| row.cells.iter().filter_map(PriceCell::cost).fold(0.0, f64::max);
    let is_dear = grid.rows.iter().any(|it| largest(it) >= 1.0);
    let decimals = grid.rows.iter().map(|it| numbers::decimals(largest(it))).max().unwrap_or(4);
    let decimals = if is_dear { decimals.min(4) } else { decimals };
    let rows = sensitivity.profiles.iter().zip(&grid.rows).map(|(profile, row)| {
        let mut line = vec![profile.name.clone(), profile.as_of.clone()];
        line.extend(is_counted.then(|| profile.counts().unwrap_or_else(|| NONE.to_owned())));
        line.extend(row.cells.iter().map(|cell| {
            let cost = numbers::fixed_or_none(cell.cost(), decimals);
            if cell.is_stopped() { format!("{cost} ×") } else { cost }
        }));
        line
    });
    Grid::new(grid_title(sensitivity, grid, "Cost in USD"), 1, &columns, rows)
}

/// Returns the cheapest policies, and the evidence that they keep.
fn cost_orders_grid(sensitivity: &Sensitivity, grid: &Compared) -> Grid {
    let letters = policy_letters(sensitivity);
    let rows = sensitivity.profiles.iter().zip(&grid.rows).map(|(profile, row)| {
        let cheapest = row.cheapest();
        let kept = cheapest.and_then(|it| row.cells[it].kept());
        let label = cheapest.map_or(NONE, |it| if it == 0 { "baseline" } else { label_name(row.label(it)) });
        let until = row.nearest.map(|nearest| {
            let factor = format_three_digits(nearest.factor);
            format!("{} × {factor}: {}", nearest.part.name(), letters[nearest.policy])
        });
        let order = format_cost_order(row, &letters);
        [profile.name.clone(), order, or_none(kept, percent), label.to_owned(), or_none(until, |it| it)]
    });
    let columns = ["profile", "order by cost", "cheapest keeps", "cheapest is", "until"];
    let title = grid_title(sensitivity, grid, "Order by cost, and the evidence kept by the cheapest");
    Grid::new(title, 1, &columns, rows)
}

/// Writes an order by cost: `C < A = B`.
fn format_cost_order(row: &PriceRow, letters: &[String]) -> String {
    if row.is_free() {
        return "free: everything costs nothing".to_owned();
    }
    let order = row.order();
    let equal = order.chunk_by(|one, other| row.cells[*one].rank == row.cells[*other].rank);
    let equal = equal.map(|group| group.iter().map(|it| letters[*it].as_str()).listed().join(" = "));
    let text = equal.listed().join(" < ");
    if text.is_empty() { NONE.to_owned() } else { text }
}

fn rank_flips_grid(sensitivity: &Sensitivity, grid: &Compared) -> Option<Grid> {
    let letters = policy_letters(sensitivity);
    let names = |profiles: &[usize]| {
        let mut room = NAMES_WIDTH;
        let names = profiles.iter().map(|it| sensitivity.profiles[*it].name.as_str());
        let fits = |name: &&str| {
            room = room.saturating_sub(name.chars().count() + 2);
            room > 0
        };
        let shown: Vec<&str> = names.take_while(fits).listed();
        if shown.is_empty() {
            return format!("{} profiles", profiles.len());
        }
        let more = text_if_any(profiles.len() - shown.len(), |n| format!(" and {n} more"));
        format!("{}{more}", shown.join(", "))
    };
    let line = |flip: &Flip| {
        let [left, right] = flip.policies.map(|it| letters[it].as_str());
        let [left_cheaper, right_cheaper] = &flip.cheaper;
        // The fewer profiles are the news.
        let is_left = left_cheaper.len() < right_cheaper.len();
        let (cheaper, dearer) = if is_left { (left, right) } else { (right, left) };
        let profiles = if is_left { left_cheaper } else { right_cheaper };
        vec![
            format!("{left}, {right}"),
            left_cheaper.len().to_string(),
            right_cheaper.len().to_string(),
            format!("{cheaper} < {dearer}: {}", names(profiles)),
        ]
    };
    let columns = ["pair", "first cheaper", "second cheaper", "exceptions"];
    (!grid.flips.is_empty()).then(|| {
        Grid::new(grid_title(sensitivity, grid, "Rank flips"), 1, &columns, grid.flips.iter().map(line))
    })
}

fn elasticities_grid(sensitivity: &Sensitivity, grid: &Compared, is_detailed: bool) -> Grid {
    let letters = policy_letters(sensitivity);
    let cells = || grid.rows.iter().flat_map(|it| &it.cells);
    // Most lists have no price for some of it, and nobody stores anything under most rules.
    let is_paid =
        |part: &VariedRate| *part == VariedRate::Input || cells().any(|it| it.elasticity(*part) != Some(0.0));
    let parts: Vec<VariedRate> = VariedRate::ALL.into_iter().filter(is_paid).listed();
    let columns = ["profile", "policy"].into_iter().chain(parts.iter().map(|it| it.name()));
    let mut rows = Vec::new();
    for (profile, row) in sensitivity.profiles.iter().zip(&grid.rows) {
        let shown = if is_detailed { row.cells.len() } else { 1 };
        for (letter, cell) in letters.iter().zip(&row.cells).take(shown) {
            let mut line = vec![profile.name.clone(), letter.clone()];
            line.extend(parts.iter().map(|part| numbers::fixed_or_none(cell.elasticity(*part), 3)));
            rows.push(line);
        }
    }
    let columns: Vec<String> = columns.map(|it| it.replace('_', " ")).listed();
    Grid::new(
        grid_title(sensitivity, grid, "Cost elasticity (% of cost per % of a rate, ±10%)"),
        2,
        &columns,
        rows,
    )
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
    Some(format!(
        "{n} {lists} nothing ({first}{more}): no policy is the cheapest there, and --sort cost shows them last."
    ))
}

/// Writes a number with three significant digits, or whole where it has more.
fn format_three_digits(number: f64) -> String {
    let digits = [1.0, 10.0, 100.0].into_iter().filter(|it| number.abs() >= *it).count();
    fixed(number, 3 - digits)
}

/// What the columns mean that do not say so themselves.
const LEGEND: [(&str, &str); 9] = [
    ("Δ cost", "the median change against the first policy"),
    ("results shown", "the share of tool output that prompts show"),
    ("of limit", "the longest prompt as a share of the limit"),
    (
        "labels",
        "`dominates` and `safe cost win` save without more recovery, `cost only` saves by losing evidence",
    ),
    ("as of", "the day the prices were read"),
    ("until", "the smallest change of one rate that makes another policy the cheapest"),
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
pub(super) fn comparison_notes(comparison: &Sensitivity) -> Vec<String> {
    let mut notes = comparison.skipped.iter().cloned().chain(free_price_lists_note(comparison)).listed();
    let mut rows = comparison.grids.iter().flat_map(|grid| &grid.rows);
    if rows.any(|row| row.cells.iter().any(PriceCell::is_stopped)) {
        notes.push("× stopped at a limit: it did less work and is not ranked.".to_owned());
    }
    // What users asked alone says nothing of results.
    let is_unknown = |cell: &PriceCell| cell.recovery_tokens().is_none() && cell.remembered.is_none();
    let is_silent = |grid: &&Compared| grid.rows.iter().flat_map(|row| &row.cells).any(is_unknown);
    let silent = comparison.grids.iter().filter(is_silent).map(|it| it.load.as_str()).listed().join(", ");
    if !silent.is_empty() {
        let none = "declares no evidence needs: do not judge it by cost alone";
        notes.push(format!("{silent}: this scenario {none}."));
    }
    if let Some(OpenOrders { neighbours, open, unknown }) = comparison.open_orders() {
        let unknown = text_if_any(unknown, |n| {
            format!(" Nobody has published how the models of {n} count: these stand with the recorded sizes.")
        });
        notes.push(format!(
            "tokens: sizes are counted anew where another family's models count differently \
            (assumptions/tokenizers.toml). The order of {open} of {neighbours} pairs of neighbouring price lists depends on it.{unknown}"
        ));
    }
    notes.push(match &comparison.asked {
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
    });
    notes
}

/// The labels and their names.
const LABELS: [(Label, &str); 5] = [
    (Label::Dominates, "dominates"),
    (Label::SafeCostWin, "safe cost win"),
    (Label::CostOnly, "cost only"),
    (Label::Same, "same"),
    (Label::Loses, "loses"),
];

/// Returns a label's name; `None` for the baseline and for runs that cannot be compared.
fn label_name(label: Option<Label>) -> &'static str {
    LABELS.iter().find(|(it, _)| Some(*it) == label).map_or(NONE, |(_, word)| word)
}

/// Returns a line for each policy.
fn savings_grid(sensitivity: &Sensitivity, grid: &Compared, letters: &[String]) -> Grid {
    let remembered = grid.rows.iter().flat_map(|it| &it.cells).find_map(|it| it.remembered.as_ref());
    let is_priced = |row: &&PriceRow| !row.is_free() && row.cells.iter().any(|cell| cell.rank.is_some());
    let n_priced = grid.rows.iter().filter(is_priced).count();
    // The range of a number over all profiles; a single number if both ends look the same.
    let range = |policy: &usize, number: fn(&PriceCell) -> Option<f64>, written: fn(f64) -> String| {
        let numbers = || grid.rows.iter().filter_map(|row| number(row.cells.get(*policy)?));
        match [numbers().reduce(f64::min), numbers().reduce(f64::max)].map(|it| or_none(it, written)) {
            [least, most] if least == most => least,
            [least, most] => format!("{}–{most}", least.trim_end_matches('%')),
        }
    };
    let tokens = |number: f64| numbers::short(number.round() as u64);
    let n_cheapest = |policy: usize| grid.rows.iter().filter(|row| row.cheapest() == Some(policy)).count();
    let columns: [Of<'_, usize>; 8] = [
        ("policy", &|policy| letters[*policy].clone()),
        ("cheapest under", &|policy| format!("{} of {n_priced}", n_cheapest(*policy))),
        ("Δ cost", &|policy| if *policy == 0 { NONE.to_owned() } else { median_change_text(grid, *policy) }),
        (remembered.map_or("evidence kept", |it| it.heading), &|policy| {
            range(policy, PriceCell::kept, percent)
        }),
        ("recovery tokens", &|policy| range(policy, PriceCell::recovery_tokens, tokens)),
        ("results shown", &|policy| range(policy, PriceCell::results_shown, percent)),
        ("of limit", &|policy| range(policy, PriceCell::of_limit, percent)),
        ("labels", &|policy| {
            if *policy == 0 { "baseline".to_owned() } else { label_counts_text(grid, *policy) }
        }),
    ];
    let policies = (0..letters.len()).listed();
    Grid::from_columns(
        grid_title(sensitivity, grid, "Savings and losses of each policy"),
        1,
        &policies,
        &columns,
    )
}

/// Writes the median of the changes of cost against the first policy.
fn median_change_text(grid: &Compared, policy: usize) -> String {
    let share = |cells: &[PriceCell]| {
        let (cell, first) = (cells.get(policy)?, cells.first()?);
        let share = cell.cost()? / first.cost()?;
        Some(share).filter(|it| cell.did_as_much_as(first) && it.is_finite())
    };
    let mut shares: Vec<f64> = grid.rows.iter().filter_map(|it| share(&it.cells)).listed();
    shares.sort_by(f64::total_cmp);
    let median = shares.get(shares.len() / 2).copied();
    median.and_then(|it| numbers::change(it, 1.0)).unwrap_or_else(|| NONE.to_owned())
}

/// Counts the profiles by the policy's label.
fn label_counts_text(grid: &Compared, policy: usize) -> String {
    let count =
        |label| grid.rows.iter().filter(|it| !it.is_free() && it.label(policy) == Some(label)).count();
    let counts = LABELS.iter().map(|(label, word)| (count(*label), word)).filter(|(n, _)| *n > 0);
    let words: Vec<String> = counts.map(|(n, word)| format!("{n} {word}")).listed();
    if words.is_empty() { NONE.to_owned() } else { words.join(", ") }
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
