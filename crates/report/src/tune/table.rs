//! What tuning found, for a terminal: what was tried, the best variants, and the verdict.

use std::fmt::Write as _;

use super::{BlockPart, TunePart, Tuned, TunedPoint, WhyNot, variant_name};
use ctxsim_base::grid::numbers::{
    self, counted, fixed, fixed_or_none, listed, or_none, percent, signed, thousands,
};
use ctxsim_base::grid::prose::wrap;
use ctxsim_base::grid::terminal::draw_with_note;
use ctxsim_base::grid::tint::{ROWS_LEAST, Terminal, Tint};
use ctxsim_base::grid::{CellKind, Grid, Hue};
use ctxsim_base::list::Listed as _;

/// The most variants that are shown by default.
const SHOWN: usize = 12;

/// What shows every variant.
pub(super) const DETAILS: &str = "ctxsim tune --details";

/// The title of the blocks that limits on what was held out rest on.
pub(crate) const HELD_OUT_BLOCKS: &str = "What limits on the sessions held out rest on";

/// The title of the blocks where each project is held out in turn.
pub(crate) const IN_TURN_BLOCKS: &str = "Each project under what is chosen without it, and by time";

/// Returns what was found as text: whether to use it, how it did, and the variants.
pub fn tuned(it: &Tuned, shows_all: bool, on: impl Into<Terminal>) -> String {
    let on = on.into();
    let drawn = |on, n_shown| text(it, shows_all, n_shown, on);
    if shows_all { drawn(on, usize::MAX) } else { on.fitted(ROWS_LEAST..=SHOWN, drawn) }
}

/// Returns the same with so many of the variants.
fn text(it: &Tuned, shows_all: bool, n_shown: usize, on: Terminal) -> String {
    let mut text = String::new();
    match &it.goal {
        Some(goal) => goal.lines(&it.base).iter().enumerate().for_each(|(nth, line)| {
            on.paragraph(if nth == 0 { Tint::Strong } else { Tint::Plain }, "", line, &mut text);
        }),
        None => best(it, on, &mut text),
    }
    text.push('\n');
    let sessions: usize = it.parts.iter().map(|it| it.sessions).sum();
    let head = format!(
        "{} tuned against {} on {}: {}",
        it.policy,
        it.base,
        counted(sessions, "session"),
        counted(it.variants, "variant")
    );
    on.paragraph(Tint::Strong, "", &head, &mut text);
    let variants = it.goal.as_ref().map_or_else(|| grid(it, n_shown), |goal| goal.grid(&it.base, n_shown));
    let _ = writeln!(text, "{}", draw_with_note(&variants, on));
    if !on.is_quiet {
        on.paragraphs(Tint::Faint, "", varied(it), &mut text);
    }
    if shows_all {
        block_grids(it).iter().for_each(|it| {
            let _ = write!(text, "\n{}\n{}\n", on.paint(Tint::Strong, &it.title), draw_with_note(it, on));
        });
    }
    text
}

/// Returns the blocks that limits rest on, as tables.
pub(super) fn block_grids(it: &Tuned) -> Vec<Grid> {
    let of = [(HELD_OUT_BLOCKS, &it.held_out_blocks), (IN_TURN_BLOCKS, &it.by_project_blocks)];
    of.into_iter().filter(|it| !it.1.is_empty()).map(|(title, blocks)| block_grid(title, blocks)).listed()
}

/// Returns blocks as a table: projects, then those of time.
pub(crate) fn block_grid(title: &str, blocks: &[BlockPart]) -> Grid {
    let decimals = numbers::decimals(blocks.iter().map(|it| it.base_cost).fold(0.0, f64::max));
    let row = |it: &BlockPart| {
        vec![
            it.name.clone(),
            it.over.one().to_owned(),
            it.sessions.to_string(),
            fixed(it.base_cost, decimals),
            or_none(it.change, signed),
            or_none(it.evidence_kept, percent),
        ]
    };
    let headings = ["block", "one", "sessions", "base USD", "Δ cost", "kept"];
    Grid::new(title, 1, &headings, blocks.iter().map(row)).with(CellKind::Text, &[1])
}

/// Says what was varied, and what was not.
pub(super) fn varied(it: &Tuned) -> Vec<String> {
    let one = |it: &super::Varied| {
        let path = it.path.split_once("params.").map_or(it.path.as_str(), |it| it.1);
        format!("{path} ({}; {})", it.values.join(", "), it.rule)
    };
    let all: Vec<String> = it.varied.iter().map(one).listed();
    let mut lines = vec![format!("Varies {}.", listed(&all))];
    if !it.fixed.is_empty() {
        let mut by_reason: indexmap::IndexMap<&str, Vec<&str>> = indexmap::IndexMap::new();
        it.fixed.iter().for_each(|it| by_reason.entry(&it.reason).or_default().push(&it.param));
        let all = by_reason.iter().map(|(reason, params)| format!("{} ({reason})", params.join(", ")));
        lines.push(format!("Not varied: {}.", all.listed().join("; ")));
    }
    if let Some(goal) = &it.goal {
        lines.push(goal.title());
        return lines;
    }
    if let Some(number) = it.kept_of() {
        lines.push(format!(
            "Memories declare no evidence needs. Here, evidence kept means {number}, as a share of all questions."
        ));
    }
    if !it.never_fired.is_empty() {
        let stages: Vec<String> = it.never_fired.iter().map(|it| format!("`{it}`")).listed();
        let longest = thousands(it.prompt_tokens_max);
        lines.push(format!(
            "{} never fired in any variant; the longest prompt under {} has {longest} tokens.",
            listed(&stages),
            it.base
        ));
    }
    lines
}

/// Returns the variants as a table, the best first; of those with the same results one.
pub(super) fn grid(it: &Tuned, n_shown: usize) -> Grid {
    let heads: &[&str] = if it.parts.len() > 1 { &["chosen-on", "held-out"] } else { &["all"] };
    let of_parts = heads.iter().flat_map(|head| ["USD", "Δ cost", "kept"].map(|it| format!("{head} {it}")));
    let headings: Vec<String> = std::iter::once(String::new()).chain(of_parts).listed();
    let costs = it.points.iter().flat_map(|it| &it.parts).filter_map(|part| part.base_cost);
    let decimals = numbers::decimals(costs.fold(0.0, f64::max));
    let own = |it: &TunePart| {
        [fixed_or_none(it.cost, decimals), or_none(it.change(), signed), or_none(it.evidence_kept, percent)]
    };
    let base =
        |it: &TunePart| [fixed_or_none(it.base_cost, decimals), signed(0.0), or_none(it.base_kept, percent)];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let row = |name: String, cells: &mut dyn Iterator<Item = [String; 3]>| {
        std::iter::once(name).chain(cells.flatten()).listed()
    };
    if let Some(first) = it.points.first() {
        rows.push(row(it.base.clone(), &mut first.parts.iter().map(base)));
    }
    let groups: Vec<&[TunedPoint]> = it.points.chunk_by(|one, other| one.parts == other.parts).listed();
    for (nth, group) in groups.iter().take(n_shown).enumerate() {
        let best = if nth == 0 { " (best)" } else { "" };
        let alike = match group.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} alike"),
        };
        let name = format!("{}{alike}{best}", variant_name(&group[0].set));
        rows.push(row(name, &mut group[0].parts.iter().map(own)));
    }
    let changes = headings.iter().filter(|it| it.ends_with("Δ cost")).map(String::as_str).listed();
    Grid::new("", 1, &headings, rows)
        .hued(Hue::Less, &changes)
        .leaving_out(groups.len().saturating_sub(n_shown), DETAILS)
}

/// Says whether to use what is best.
fn verdict(it: &Tuned, on: Terminal, text: &mut String) {
    let answer = match &it.reason {
        Some(reason) => format!("Nothing is recommended: {reason}."),
        None if it.chosen.is_empty() => "Recommended as it is: the held-out sessions confirm it.".to_owned(),
        None => "Recommended: the held-out sessions confirm it. To apply:".to_owned(),
    };
    on.paragraph(Tint::Strong, "", &answer, text);
    if it.reason.is_none() {
        it.chosen.iter().for_each(|it| {
            let _ = writeln!(text, "  {it}");
        });
    }
}

/// Says whether to use the best variant, which it is, and how it did on both parts.
fn best(it: &Tuned, on: Terminal, text: &mut String) {
    let width = on.width;
    verdict(it, on, text);
    let keeps = it.parts.first().is_some_and(|own| own.surely_keeps(it.min_evidence));
    let floor = percent(it.min_evidence);
    let what = match it.kept_of() {
        _ if !keeps => format!("Costs least, but may keep less than {floor}"),
        None => format!("Cheapest that keeps {floor} of the evidence"),
        Some(number) => format!("Cheapest that has {number} of at least {floor}"),
    };
    wrap(&format!("{what}: {}", variant_name(&it.chosen)), "", width, text);
    match it.parts.as_slice() {
        [own, out] => {
            let line = |head: &str, part: &TunePart, more: &str, text: &mut String| {
                wrap(
                    &format!("{}: {}{more}", counted(part.sessions, "session"), part.words()),
                    head,
                    width,
                    text,
                );
            };
            line("  chosen on  ", own, "", text);
            line("  held out   ", out, &format!(" ({})", it.split_words()), text);
            if let Some(limits) = out.limits_words() {
                wrap(&limits, "             ", width, text);
            }
        }
        parts => parts.iter().for_each(|it| {
            wrap(&format!("{}: {}", counted(it.sessions, "session"), it.words()), "  ", width, text);
        }),
    }
    if let Some(part) = &it.by_project {
        let words =
            format!("{}: {} (chosen anew without each)", counted(part.projects, "project"), part.words());
        wrap(&words, "  in turn    ", width, text);
    }
    if !it.cautions.is_empty() {
        wrap(&format!("{} {}.", of_whom(it), it.cautions.join("; ")), "", width, text);
    }
    if let Some(optimism) = it.optimism {
        wrap(&against(optimism), "", width, text);
    }
    // Where the word is the reason, it is told.
    it.word_rests_on
        .iter()
        .filter(|_| it.why_not != Some(WhyNot::Word))
        .for_each(|it| wrap(it, "", width, text));
}

/// Names the sessions that are judged.
pub(super) fn of_whom(it: &Tuned) -> &'static str {
    if it.parts.len() > 1 { "Of the sessions held out:" } else { "Of these sessions:" }
}

/// Compares the change in cost on the two parts.
pub(super) fn against(optimism: f64) -> String {
    let points = format!("{:.1}", optimism.abs() * 100.0);
    match points.as_str() {
        "0.0" => "The held-out sessions show the same change in cost.".to_owned(),
        _ => {
            let side = if optimism > 0.0 { "higher" } else { "lower" };
            format!(
                "On the held-out sessions its cost is {points} percentage points {side} than on those that it was chosen on."
            )
        }
    }
}
