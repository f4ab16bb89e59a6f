//! What a run says, as blocks, drawn for a terminal, as Markdown, and as the summary of a job.
//!
//! Verdicts stand first, then what was read, the tables, guards and notes, and where to look further.

use super::advise::AgentAdvice;
use super::advise::words::recommendation_blocks;
use super::blocks::{Block, GuardsBlock, MeasuredBlock, blocks_to_markdown, draw_blocks};
use super::chart::requests::RunRequests;
use super::names::names_without_folders;
use super::sections::{Detail, Section};
use super::spark;
use crate::prelude::*;

/// The most notes on a terminal, unless details are asked for.
const NOTES: usize = 3;

/// How much of advice is said: what to do, and what it saves.
const SAID: usize = 2;

/// How a run is drawn on a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunLayout<'t> {
    pub on: Terminal,
    /// How much is shown.
    pub detail: Detail,
    /// The requests of its runs, where they were kept.
    pub traces: &'t [RunRequests],
}

/// Draws a run for a terminal; one that is not asked for details fits its lines, if there is one table alone.
pub fn report_text(report: &Report, layout: RunLayout<'_>) -> String {
    let draw = |on, n_notes| {
        let blocks = terminal_blocks(report, RunLayout { on, ..layout }, n_notes);
        draw_blocks(&blocks, "\n", on).trim().to_owned() + "\n"
    };
    let fits = is_brief(report, layout.detail) && report.verdicts().len() <= 1;
    if fits { layout.on.fitted(0..=NOTES, draw) } else { draw(layout.on, NOTES) }
}

/// Returns the run as Markdown.
pub fn report_markdown(report: &Report, detail: Detail) -> Markdown {
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    let mut blocks = answer_blocks(report, false);
    blocks.extend(table_blocks(report, &report.sections(detail), detail));
    blocks.push(Block::Facts(report.memory_and_miss_lines()));
    blocks.extend(guards_block(report, detail).map(Block::Guards));
    blocks.extend(Block::list_if_any("Notes", report.all_notes().into_iter().chain(references).listed()));
    blocks.extend(Block::list_if_any("Assumptions", report.assumption_sentences()));
    blocks.extend(Block::list_if_any("Next", report.next_command_lines(true)));
    blocks_to_markdown(&blocks)
}

/// Returns the run as the summary of a job: verdicts and tables visible; scenarios, notes and assumptions folded.
pub fn job_summary_markdown(report: &Report) -> Markdown {
    let sections = report.sections(Detail::Groups);
    let mut blocks = answer_blocks(report, false);
    blocks.extend(table_blocks(report, &sections, Detail::Groups));
    let (held, failed): (Vec<_>, Vec<_>) = report.guard_verdicts.iter().partition(|verdict| verdict.holds);
    let [held, failed] = [held, failed].map(|verdicts| verdicts.iter().map(ToString::to_string).listed());
    let guards = |heading| Block::Guards(GuardsBlock { heading, failed, held: Vec::new() });
    blocks.extend(report.guards_heading().map(guards));
    let scenarios = report.sections(Detail::Scenarios).into_iter().filter(|it| !sections.contains(it));
    let mut folded = scenarios.map(|section| Block::Table(section.to_grid(thousands))).listed();
    folded.extend(Block::list_if_any("Guards that hold", held));
    folded.extend(Block::list_if_any("Notes", report.all_notes()));
    folded.extend(Block::list_if_any("Assumptions", report.assumption_sentences()));
    blocks.push(Block::Fold("Scenarios, notes and assumptions", folded));
    blocks_to_markdown(&blocks)
}

/// Returns whether only the answer on recorded sessions is shown on a terminal.
fn is_brief(report: &Report, detail: Detail) -> bool {
    detail == Detail::Groups && !report.sessions.is_empty()
}

fn terminal_blocks(report: &Report, layout: RunLayout<'_>, max_notes: usize) -> Vec<Block> {
    let RunLayout { on, detail, traces } = layout;
    let (is_whole, is_brief) = (detail == Detail::Scenarios, is_brief(report, detail));
    let mut sections = report.sections(detail);
    if is_brief && sections.iter().any(|section| !section.is_part) {
        sections.retain(|section| !section.is_part);
    }
    let mut blocks = answer_blocks(report, is_brief);
    blocks.extend(table_blocks(report, &sections, detail));
    if is_whole {
        blocks.extend(report.memory_and_miss_lines().into_iter().map(|line| Block::Facts(vec![line])));
    }
    // The prompts of a single run: as it was, and under what is advised.
    let advised = report.verdicts().into_iter().find_map(|verdict| Some(verdict.cheapest?.policy));
    blocks.push(Block::Sketch(spark::draw_prompt_sizes(traces, advised.as_deref(), on)));
    blocks.extend(guards_block(report, detail).map(Block::Guards));
    if on.is_quiet {
        blocks.push(Block::More(None));
        return blocks;
    }
    let mut notes = report.all_notes();
    let assumptions = report.assumption_sentences();
    let left_out = if is_whole {
        blocks.extend(Block::list_if_any("Assumed:", assumptions));
        None
    } else {
        let n_more = notes.split_off(notes.len().min(max_notes)).len();
        let more = (n_more > 0).then(|| counted(n_more, "more note"));
        let assumed = (!assumptions.is_empty()).then(|| counted(assumptions.len(), "assumption"));
        let each = if is_brief { "each model and session" } else { "each scenario" };
        Some(more.into_iter().chain(assumed).chain([each.to_owned()]).listed())
    };
    blocks.push(Block::Notes(notes));
    let limits = simulation_limits_sentence(report, is_whole);
    blocks.push(Block::Marked("Simulated: ", Tint::Faint, vec![limits]));
    blocks.push(Block::More(left_out));
    blocks.push(Block::Marked("Next: ", Tint::Plain, report.next_command_lines(is_whole)));
    blocks
}

/// Returns what is advised of settings, the verdicts, what to repair, and what was read.
fn answer_blocks(report: &Report, is_brief: bool) -> Vec<Block> {
    let agent = |advice: &AgentAdvice| {
        let name = (report.advised.len() > 1).then(|| Block::Head(advice.agent.clone()));
        name.into_iter().chain(recommendation_blocks(advice).into_iter().take(SAID))
    };
    let verdicts = report.verdict_answers_and_details().into_iter().map(Block::Verdict);
    let repair = Block::Marked("Repair: ", Tint::Plain, report.memory_repair_lines());
    let sessions = if is_brief { report.sessions_summary() } else { report.sessions_description() };
    report.advised.iter().flat_map(agent).chain(verdicts).chain([repair, Block::Facts(sessions)]).listed()
}

/// Returns all tables: published figures, the tables of bills, and what worlds found. Those of groups leave out the policies of a long ranking
/// that changed nothing, and what fills the prompts.
fn table_blocks(report: &Report, sections: &[Section], detail: Detail) -> Vec<Block> {
    let mut blocks = report.figures_grid().into_iter().map(Block::Table).listed();
    for section in sections {
        let ranking = section.shortened_ranking_and_note().filter(|_| detail == Detail::Groups);
        let others = ranking.as_ref().map(|it| it.1.clone());
        let section = ranking.as_ref().map_or(section, |it| &it.0);
        let names = names_without_folders(&section.lines.iter().map(|line| line.policy.as_str()).listed());
        let [wide, narrow] = [thousands, numbers::short].map(|digits| {
            let mut grid = section.to_grid(digits);
            grid.title = format!("{} · {} ({})", section.load, section.profile, section.as_of);
            grid.rows.iter_mut().zip(&names).for_each(|(row, name)| (*name).clone_into(&mut row.cells[0]));
            grid
        });
        let whole = section.to_grid(thousands);
        blocks.push(Block::Measured(MeasuredBlock { whole, wide, narrow, others }));
    }
    blocks.extend(report.findings_grids().into_iter().map(Block::Table));
    // What fills the prompts, and what missed the cache, where this is the first report on recorded sessions.
    if detail == Detail::Scenarios && report.next.is_some() {
        blocks.extend(report.contents_and_miss_grids().into_iter().map(Block::Table));
    }
    blocks
}

/// Returns the guards, those that failed apart.
fn guards_block(report: &Report, detail: Detail) -> Option<GuardsBlock> {
    let mut failed = report.guard_lines(detail);
    let held = failed.split_off(report.guard_verdicts.iter().filter(|verdict| !verdict.holds).count());
    Some(GuardsBlock { heading: report.guards_heading()?, failed, held })
}

/// Says what a simulation is not, and how recovery was counted.
fn simulation_limits_sentence(report: &Report, is_detailed: bool) -> String {
    let is_drawn = report.run_briefs().any(|it| it.figures.is_drawn);
    let recovery = match (is_drawn, report.run_briefs().any(|it| it.figures.n_played > 0)) {
        _ if !is_detailed => "",
        (true, _) => " recovery was sampled;",
        (_, true) => " recovery is an expected value, or the mean of sampled runs;",
        _ => " recovery is an expected value;",
    };
    let needs = report.run_briefs().any(|it| it.figures.has_needs);
    let evidence = if needs { " evidence is text that a later step uses again;" } else { "" };
    format!("no model ran, no answer was judged;{recovery}{evidence} prices as of the dates shown.")
}
