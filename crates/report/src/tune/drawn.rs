//! What tuning found, for a terminal and as a page: whether to use the best variant, how it did, what was tried, and all variants.

use ctxsim_base::grid::numbers::{fixed_or_none, listed_code};

use super::{TunePart, Tuned, TunedPoint, WhyNot, variant_name};
use crate::blocks::Block;
use crate::chart::frontier::ADVISED;
use crate::found::{Candidate, SearchResultCharts, SearchResultText};
use crate::page::{Card, Page, PagePart, PagePiece, Tone};
use crate::prelude::*;
use crate::sampled::Sampled;
use crate::{found, template};

/// The most variants that are shown by default.
const SHOWN: usize = 12;
/// Variants that cost so many times what the base does are in the numbers alone.
const DEAR: f64 = 1.5;
/// The most variants whose change is drawn.
const MOST_DRAWN: usize = 12;
/// The columns of a part of the sessions.
pub(super) const COLUMNS: [&str; 3] = ["USD", "Δ cost", "kept"];

/// Returns what was found as text: whether to use it, how it did, and the variants.
pub fn terminal_text(tuned: &Tuned, shows_all: bool, terminal: impl Into<Terminal>) -> String {
    let (answer, table) = match &tuned.goal {
        Some(goal) => {
            let mut lines = goal.result_sentences(&tuned.base).into_iter();
            let first = lines.next().map(Block::Answer).into_iter();
            (first.chain(lines.map(Block::Text)).listed(), goal.variants_grid(&tuned.base))
        }
        None => (answer_blocks(tuned), variants_grid(tuned)),
    };
    let (sessions, variants) = (counted(tuned.n_sessions(), "session"), counted(tuned.variants, "variant"));
    let title = format!("{} tuned against {} on {sessions}: {variants}", tuned.policy, tuned.base);
    SearchResultText {
        answer,
        table: Grid { title, ..table },
        has_base: true,
        most: SHOWN,
        shows_all_by: "ctxsim tune --details",
        notes: tried_sentences(tuned),
    }
    .draw(shows_all, terminal.into())
}

/// Returns what was found as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(tuned: &Tuned) -> Result<String, template::Error> {
    let table = Grid { title: "Every variant, the best first".to_owned(), ..variants_grid(tuned) };
    let (sessions, variants) = (counted(tuned.n_sessions(), "session"), counted(tuned.variants, "variant"));
    Page {
        command: "tune",
        title: format!("{} tuned against {}", tuned.policy, tuned.base),
        about: format!("{variants} on {sessions}."),
        answers: vec![best_variant_card(tuned)],
        rests_on: best_variant_sentences(tuned),
        parts: vec![
            PagePart::new("Picture", PagePiece::pictures(result_charts(tuned).all_charts())),
            PagePart::new("Tables", vec![PagePiece::table(table)]),
            PagePart::new("Causes", PagePiece::list("What was tried", tried_sentences(tuned))),
        ],
    }
    .into_html()
}

/// Says whether to use the best variant.
pub(super) fn recommendation_sentence(tuned: &Tuned) -> String {
    match &tuned.reason {
        Some(reason) if tuned.why_not == Some(WhyNot::Word) => format!("{reason}."),
        Some(reason) => format!("Nothing is recommended: {reason}."),
        None => {
            let how = if tuned.chosen.is_empty() { " as it is" } else { "" };
            format!("Recommended{how}: the held-out sessions confirm it.")
        }
    }
}

/// Says whether to use the best variant, which it is, and how it did.
fn answer_blocks(tuned: &Tuned) -> Vec<Block> {
    let is_set = tuned.reason.is_none() && !tuned.chosen.is_empty();
    let apply = if is_set { " To apply:" } else { "" };
    let mut blocks = vec![Block::Answer(recommendation_sentence(tuned) + apply)];
    blocks.extend(is_set.then(|| Block::Code(tuned.chosen.join("\n"))));
    blocks.extend(best_variant_sentences(tuned).into_iter().map(Block::Text));
    blocks
}

/// Says which variant is the best and how it did on both parts.
fn best_variant_sentences(tuned: &Tuned) -> Vec<String> {
    let keeps = tuned.parts.first().is_some_and(|own| own.surely_keeps(tuned.min_evidence));
    let floor = percent(tuned.min_evidence);
    let what = match tuned.evidence_measure_name() {
        _ if !keeps => format!("Costs least, but may keep less than {floor}"),
        None => format!("Cheapest that keeps {floor} of the evidence"),
        Some(number) => format!("Cheapest that has {number} of at least {floor}"),
    };
    let mut lines = vec![format!("{what}: {}", variant_name(&tuned.chosen))];
    let words = |part: &TunePart| format!("{}: {}", counted(part.sessions, "session"), part.result_clause());
    match tuned.parts.as_slice() {
        [own, out] => {
            lines.push(format!("Chosen on {}", words(own)));
            lines.push(format!("Held out {} ({})", words(out), tuned.split_description()));
        }
        parts => lines.extend(parts.iter().map(words)),
    }
    lines.extend(tuned.optimism.map(optimism_sentence));
    // Where the word is the reason, it is told.
    lines.extend(tuned.word_rests_on.clone().filter(|_| tuned.why_not != Some(WhyNot::Word)));
    lines
}

/// Compares the change in cost on the two parts.
fn optimism_sentence(optimism: f64) -> String {
    let points = format!("{:.1}", optimism.abs() * 100.0);
    if points == "0.0" {
        return "The held-out sessions show the same change in cost.".to_owned();
    }
    let side = if optimism > 0.0 { "higher" } else { "lower" };
    format!(
        "On the held-out sessions its cost is {points} percentage points {side} than on those that it was chosen on."
    )
}

/// Returns the best variant as the verdict of a page.
fn best_variant_card(tuned: &Tuned) -> Card {
    let out = tuned.parts.last();
    let change = out.and_then(TunePart::cost_change_share).map(signed);
    let ends = out.and_then(|it| it.spread?.interval);
    let is_recommended = tuned.reason.is_none();
    let (keep, whose) = (format!("Keep {}", tuned.base), if is_recommended { "" } else { "The best: " });
    Card {
        number: if is_recommended { change.unwrap_or_default() } else { keep },
        what: recommendation_sentence(tuned),
        sure: ends.map(|it| format!("{whose}95% interval {}% on the sessions held out", interval(it))),
        code: Some(tuned.chosen.join("\n")).filter(|it| is_recommended && !it.is_empty()),
        tone: if is_recommended { Tone::Better } else { Tone::Plain },
        ..Card::default()
    }
}

/// Says what was varied, and what was not.
fn tried_sentences(tuned: &Tuned) -> Vec<String> {
    let one = |varied: &super::VariedPath| {
        let path = varied.path.split_once("params.").map_or(varied.path.as_str(), |it| it.1);
        format!("{path} ({}; {})", varied.values.join(", "), varied.rule)
    };
    let mut lines = vec![format!("Varies {}.", listed(&tuned.varied.iter().map(one).listed()))];
    if !tuned.fixed.is_empty() {
        let by_reason = grouped(tuned.fixed.iter().map(|it| (&it.reason, it.param.as_str())));
        let all = by_reason.iter().map(|(reason, params)| format!("{} ({reason})", params.join(", ")));
        lines.push(format!("Not varied: {}.", all.listed().join("; ")));
    }
    if let Some(goal) = &tuned.goal {
        lines.push(goal.looked_for_sentence());
        return lines;
    }
    if let Some(number) = tuned.evidence_measure_name() {
        lines.push(format!(
            "Memories declare no evidence needs. Here, evidence kept means {number}, as a share of all questions."
        ));
    }
    if !tuned.never_fired.is_empty() {
        let (stages, n) = (listed_code(&tuned.never_fired), thousands(tuned.prompt_tokens_max));
        let longest = format!("the longest prompt under {} has {n} tokens", tuned.base);
        lines.push(format!("{stages} never fired in any variant; {longest}."));
    }
    lines
}

/// Returns the variants that differ in their results, the best first, each with those that are like it.
fn groups_of_equal_points(tuned: &Tuned) -> impl Iterator<Item = &[TunedPoint]> {
    tuned.points.chunk_by(|one, other| one.parts == other.parts)
}

/// Returns the variants as a table, the best first; of those with the same results one.
fn variants_grid(tuned: &Tuned) -> Grid {
    let costs = tuned.points.iter().flat_map(|it| &it.parts).filter_map(|part| part.base_cost);
    let decimals = numbers::decimals(costs.fold(0.0, f64::max));
    let base = |part: &TunePart| {
        vec![fixed_or_none(part.base_cost, decimals), signed(0.0), or_none(part.base_kept, percent)]
    };
    let of_base = tuned.points.first().map(|it| it.parts.iter().map(base).listed());
    let mut rows = of_base.map(|cells| (tuned.base.clone(), cells)).into_iter().listed();
    for (nth, group) in groups_of_equal_points(tuned).enumerate() {
        let alike = text_if_any(group.len() - 1, |n| format!(" and {n} alike"));
        let best = if nth == 0 { " (best)" } else { "" };
        let name = format!("{}{alike}{best}", variant_name(&group[0].set));
        rows.push((name, group[0].parts.iter().map(|it| it.format_cells(decimals)).listed()));
    }
    found::candidates_grid(&COLUMNS, tuned.parts.len(), rows)
}

/// Returns what the variants cost and keep, on the sessions held out if there are any.
fn result_charts(tuned: &Tuned) -> SearchResultCharts<'_> {
    let mut n_dear = 0;
    let mut candidates = Vec::new();
    for (nth, group) in groups_of_equal_points(tuned).enumerate() {
        let Some(part) = group[0].parts.last() else { continue };
        let is_dear = part.cost_change_share() > Some(DEAR - 1.0);
        n_dear += usize::from(is_dear);
        candidates.push(Candidate {
            name: variant_name(&group[0].set),
            usd: part.cost.filter(|_| nth == 0 || !is_dear),
            kept: part.evidence_kept,
            change: part.cost_change_share().filter(|_| nth < MOST_DRAWN),
            interval: part.spread.and_then(|it| it.interval),
            interval_over: Sampled::Sessions,
            mark: (nth == 0).then_some(if tuned.is_recommended { ADVISED } else { "best" }),
        });
    }
    let first = tuned.parts.last();
    let held_out = if tuned.parts.len() > 1 { "on the sessions held out" } else { "on all sessions" };
    let dear = text_if_any(n_dear, |n| {
        format!("; {} that cost +50% and more are in the table", counted(n, "variant"))
    });
    SearchResultCharts {
        base: &tuned.base,
        base_usd: first.and_then(|it| it.base_cost),
        base_kept: first.and_then(|it| it.base_kept),
        subject: format!("{}, {held_out}{dear}", tuned.policy),
        changes_of: held_out.to_owned(),
        one: "variant",
        candidates,
    }
}
