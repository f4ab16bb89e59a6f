//! A report as one self-contained HTML page.

mod kinds;

use super::advise::words::recommendation_card;
use super::carried::FilledKind;
use super::chart::requests::{RequestBars, RunRequests};
use super::chart::{self, ChartData, PageChart};
use super::effects::{changes_by_assumption_grid, changes_by_session_grids};
use super::names::names_without_folders;
use super::page::{Card, Page, PagePart, PagePiece, PageTable, Tone};
use super::sections::{Detail, Section, TableLine};
use super::verdict::{Verdict, format_trimmed_percent};
use super::{ALL, distinct, template};
use crate::prelude::*;
use ctxsim_engine::measure::{Better, Remembered};

/// The requests that a page can chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    pub runs: Vec<RunRequests>,
    /// Why there are none.
    pub left_out: Option<String>,
}

/// The kinds of charts that carry a verdict, in their order; the others show causes.
const CARRIES: [&str; 6] = ["requests", "frontier", "cost", "depth", "length", "aging"];
/// The most tables that stand open, and have charts on the page; the others are folded.
const OPEN: usize = 3;
/// The most notes that stand open.
const NOTES: usize = 4;

/// The suite that supplies what nobody named, so that nobody asked for it.
const DEFAULT: &str = "default";

/// Returns the report as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(report: &Report, detail: Detail, traces: &Traces) -> Result<String, template::Error> {
    let source = ChartData::new(report, detail, &traces.runs);
    let PageCharts { carrying, others, left_out } = page_charts(&source, traces);
    let is_several = report.advised.len() > 1;
    let cards = report.advised.iter().map(|it| recommendation_card(it, is_several.then(|| it.agent.clone())));
    let page = Page {
        command: "run",
        title: page_title(report),
        about: comparison_description(report),
        answers: cards.chain(verdict_cards(report)).listed(),
        rests_on: basis_sentences(report),
        parts: vec![
            PagePart::new("Picture", PagePiece::pictures(carrying)),
            PagePart::new("Tables", table_pieces(report, detail)),
            PagePart::new("Causes", cause_pieces(&source, detail, left_out, others)),
            PagePart::new("Assumptions", assumption_pieces(report)),
        ],
    };
    page.into_html()
}

/// Says what the verdicts rest on: the sessions that were read, else how often loads were drawn, and the day of the prices.
fn basis_sentences(report: &Report) -> Vec<String> {
    let sessions = report.sessions_description();
    if !sessions.is_empty() {
        return sessions;
    }
    let trials = report.policy_sums(None).iter().map(|it| it.1.run.trials).max().unwrap_or(1);
    let drawn = (trials > 1).then(|| format!("{} trials of each load.", thousands(trials)));
    let days = numbers::days(report.run_briefs().map(|it| it.as_of).listed().into_iter());
    drawn.into_iter().chain((!days.is_empty()).then(|| format!("Prices of {days}."))).listed()
}

/// The charts of a page.
struct PageCharts {
    /// Those that carry the verdict: the first of each kind, in the order of [`CARRIES`].
    carrying: Vec<PageChart>,
    others: Vec<PageChart>,
    /// Sentences on those that are not on the page.
    left_out: Vec<String>,
}

/// Parts the charts of a report.
fn page_charts(source: &ChartData<'_>, traces: &Traces) -> PageCharts {
    let nth = |it: &PageChart| it.name.rsplit_once('-').and_then(|it| it.1.parse::<usize>().ok());
    let is_drawn = |it: &PageChart| nth(it).is_none_or(|it| it <= OPEN);
    let (drawn, more): (Vec<_>, Vec<_>) = source.draw_charts().into_iter().partition(is_drawn);
    let place = |it: &PageChart| CARRIES.iter().position(|kind| *kind == it.name);
    let (mut carrying, others): (Vec<_>, Vec<_>) = drawn.into_iter().partition(|it| place(it).is_some());
    carrying.order_by_key(place);
    let n_shown = source.sections.len();
    let tables = (source.n_left_out > 0)
        .then(|| format!("Charts cover the first {n_shown} tables; {} more have none.", source.n_left_out));
    let more = more.last().map(|last| {
        let n = counted(more.len(), "further chart");
        format!("{n} of other tables: `--chart NAME`, up to `{}`.", last.name)
    });
    let left_out = tables.into_iter().chain(more).chain(traces.left_out.clone()).listed();
    PageCharts { carrying, others, left_out }
}

/// Returns the tables; a row of policies has the command that explains what costs the change.
fn table_pieces(report: &Report, detail: Detail) -> Vec<PagePiece> {
    let figures = report.figures_grid().into_iter().map(PagePiece::table);
    let sections = report.sections(detail).into_iter().map(|section| {
        let mut grid = section.to_grid(numbers::short);
        for (row, line) in grid.rows.iter_mut().zip(&section.lines) {
            let notes = report.titles.get(&line.policy).cloned().into_iter().chain(row.note.take());
            row.note = notes.reduce(|one, other| format!("{one}; {other}"));
        }
        let grid = if report.columns.is_empty() { move_answer_columns_first(grid) } else { grid };
        let command = |policy: &str| report.explains.command_for_policy(report, &section, policy);
        (PagePiece::Table(PageTable::new(grid, command)), section.is_part)
    });
    let others = report.findings_grids().into_iter().map(|it| (PagePiece::table(it), false));
    let (mut open, mut folded) = (Vec::new(), Vec::new());
    for (piece, is_part) in sections.chain(others) {
        if !is_part && open.len() < OPEN { open.push(piece) } else { folded.push(piece) }
    }
    open.extend(PagePiece::fold(counted(folded.len(), "further table"), folded));
    figures.chain(open).listed()
}

/// Puts the columns first that answer: what a policy costs, by how much that differs, and what it keeps.
fn move_answer_columns_first(mut grid: Grid) -> Grid {
    const FIRST: [&str; 4] = ["cost USD", "Δ cost", "95% interval", "evidence kept"];
    let mut order: Vec<usize> = (0..grid.columns.len()).listed();
    let place = |at: usize| FIRST.iter().position(|it| *it == grid.columns[at].heading);
    order.order_by_key(|at| (*at > 0, place(*at).unwrap_or(FIRST.len())));
    grid.columns = order.iter().map(|at| grid.columns[*at].clone()).listed();
    for row in &mut grid.rows {
        row.cells = order.iter().filter_map(|at| row.cells.get(*at).cloned()).listed();
    }
    grid
}

/// Returns what brings the numbers about. A section more is a line more.
fn cause_pieces(
    source: &ChartData<'_>,
    detail: Detail,
    left_out: Vec<String>,
    figures: Vec<PageChart>,
) -> Vec<PagePiece> {
    let (report, effects) = (source.report, cost_change_tables(source));
    let guards = report.guards_heading().map(|it| PagePiece::list(&it, report.guard_lines(detail)));
    let sections = [
        guards.unwrap_or_default(),
        report.contents_and_miss_grids().into_iter().map(PagePiece::table).listed(),
        report.memory_file_cost_line().into_iter().map(PagePiece::Text).listed(),
        PagePiece::fold(counted(effects.len(), "table") + " on what changes the cost", effects),
        PagePiece::fold(counted(figures.len(), "further chart"), PagePiece::charts(figures)),
        left_out.into_iter().map(PagePiece::Text).listed(),
    ];
    sections.into_iter().flatten().listed()
}

/// Returns tables on changes in cost: by session, by request, by what is assumed, and what fills the prompts.
fn cost_change_tables(source: &ChartData<'_>) -> Vec<PagePiece> {
    let mut grids = changes_by_session_grids(source);
    let charts = chart::requests::request_charts(source);
    grids.extend(charts.iter().filter_map(RequestBars::largest_differences_grid));
    let sections = source.sections.iter();
    grids.extend(sections.filter_map(|section| changes_by_assumption_grid(source, section)).take(OPEN));
    let filled = source.traces.iter().filter(|run| !run.filled.is_empty());
    grids.extend(filled.map(|run| FilledKind::prompt_contents_grid(&run.scenario, &run.filled)));
    grids.into_iter().map(PagePiece::table).listed()
}

/// Returns what is assumed, and what else a reader must know.
fn assumption_pieces(report: &Report) -> Vec<PagePiece> {
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    let mut notes = report.all_notes().into_iter().chain(references).listed();
    let more = notes.split_off(notes.len().min(NOTES));
    let more = PagePiece::fold(counted(more.len(), "more note"), PagePiece::list("", more));
    let scenarios = distinct(report.run_briefs().map(|it| it.scenario));
    let kinds = kinds::group_assumptions(report.assumption_sentences(), &scenarios);
    let folds = kinds.into_iter().flat_map(|it| PagePiece::fold(it.heading, vec![PagePiece::List(it.lines)]));
    PagePiece::list("Notes", notes).into_iter().chain(more).chain(folds).listed()
}

/// Returns the verdicts: of published figures, of tables, and of what is remembered.
fn verdict_cards(report: &Report) -> Vec<Card> {
    let sections = report.sections(Detail::Groups);
    let verdicts = report.verdicts_of(&sections);
    let is_several = verdicts.len() > 1;
    let of_tables = verdicts.iter().map(|verdict| {
        let is_own = |it: &&Section| it.load == verdict.load && it.profile == verdict.profile;
        let load = verdict.load.split(" (").next().unwrap_or_default();
        let of = is_several.then(|| format!("{load} under {}", verdict.profile));
        Card { of, ..Card::from_verdict(verdict, sections.iter().find(is_own)) }
    });
    let repairs = report.memory_repair_lines().into_iter();
    let repairs = repairs.map(|what| Card { number: "Repair".to_owned(), what, ..Card::default() });
    let all = published_figures_card(report).into_iter().chain(memory_cards(report)).chain(of_tables);
    let all: Vec<Card> = all.chain(repairs).listed();
    if all.is_empty() { vec![no_comparison_card(report)] } else { all }
}

/// Says that there is nothing to compare.
fn no_comparison_card(report: &Report) -> Card {
    let n_policies = distinct(report.run_briefs().map(|it| it.policy)).len();
    let costs: Option<Vec<f64>> = report.run_briefs().map(|it| it.figures.cost).collect();
    let usd = costs.filter(|_| n_policies == 1).map(|it| it.iter().sum::<f64>());
    let number = usd.map(|it| format!("${}", fixed(it, numbers::decimals(it))));
    Card {
        number: number.unwrap_or_else(|| "No verdict".to_owned()),
        what: "Nothing is compared: a verdict takes two policies that do the same work.".to_owned(),
        ..Card::default()
    }
}

/// Says what a policy costs instead of what another does.
fn cost_instead_of_base(section: Option<&Section>, policy: &str) -> Option<String> {
    let section = section?;
    let usd = |it: &TableLine| it.tally.costs.total();
    let (own, base) = (section.lines.iter().find(|it| it.policy == policy)?, section.lines.first()?);
    Some(own_cost_instead_of_other([usd(own)?, usd(base)?]))
}

/// Says two costs.
pub(super) fn own_cost_instead_of_other(usd: [f64; 2]) -> String {
    let decimals = usd_decimals_up_to(usd.into_iter().fold(0.0, f64::max));
    let [own, base] = usd.map(|it| format!("${}", fixed(it, decimals)));
    format!("{own} instead of {base}")
}

/// Says a change in cost as a verdict does, and how it may be taken: twice as much and more as a factor.
pub(super) fn cost_change_text_and_tone(change: f64, is_sure: bool) -> (String, Tone) {
    match change {
        it if it >= 1.0 => (format!("Costs {:.1}×", 1.0 + it), Tone::Worse),
        it if it > 0.0 => (format!("Costs {}", signed(it)), if is_sure { Tone::Worse } else { Tone::Plain }),
        it => (signed(it), if is_sure { Tone::Better } else { Tone::Plain }),
    }
}

impl Card {
    /// Says why the first policy is kept: what the only other one costs, or the next.
    fn keep_card(verdict: &Verdict, section: Option<&Section>, title: Option<&String>, plain: Self) -> Self {
        let kept = format_trimmed_percent(verdict.min_evidence);
        let lines = section.map_or(&[][..], |it| &it.lines);
        let next = lines.iter().skip(1).filter(|it| it.tally.costs.total().is_some());
        let change = |line: &TableLine| section?.relative_cost_change(line);
        let next = next.filter(|line| change(line).is_some_and(|it| it > 0.0));
        let usd = |it: &TableLine| it.tally.costs.total().unwrap_or(f64::INFINITY);
        let next = next.min_by(|one, other| usd(one).total_cmp(&usd(other)));
        let told = next.and_then(|line| {
            let instead = cost_instead_of_base(section, &line.policy)?;
            Some((line, cost_change_text_and_tone(change(line)?, true), instead))
        });
        let plain = Self { sure: None, ..plain };
        let next = match told {
            Some((line, (number, tone), instead)) if lines.len() == 2 => {
                let what = format!("{instead}, with {}: keep {}", line.policy, verdict.baseline);
                return Self { number, what, tone, ..plain };
            }
            Some((line, (number, _), instead)) => {
                let number = number.to_lowercase().replace("costs ", "");
                format!("; the next, {}, costs {number}: {instead}", line.policy)
            }
            None => String::new(),
        };
        let title = title.map_or_else(|| "Nothing".to_owned(), |it| format!("{it}: nothing"));
        let what = format!("{title} that keeps at least {kept} of the evidence is cheaper{next}");
        Self { number: format!("Keep {}", verdict.baseline), what, ..plain }
    }

    fn from_verdict(verdict: &Verdict, section: Option<&Section>) -> Self {
        let Some(best) = &verdict.cheapest else {
            return Self { number: "No verdict".to_owned(), what: verdict.full_text(), ..Self::default() };
        };
        let doubts = verdict.trust.doubts_clause();
        let doubts = doubts.strip_prefix(", ").map(|it| format!("{}{}.", it[..1].to_uppercase(), &it[1..]));
        let more = [verdict.compactions_sentence(best), verdict.caveat_sentences(best)]
            .map(|it| it.trim().to_owned());
        let apply = best.apply.as_ref().filter(|_| verdict.knows_evidence);
        let how = apply.map(|it| format!("To apply {}, put this in {}:", best.shown, it.at));
        let words = doubts.into_iter().chain(more.into_iter().filter(|it| !it.is_empty())).chain(how);
        let plain = Self {
            words: words.listed(),
            code: apply.map(|it| it.write.clone()),
            // An interval that would look like one number is not told.
            sure: verdict.interval_text(best).filter(|_| {
                best.interval.is_some() || best.assumed.is_some_and(|ends| signed(ends[0]) != signed(ends[1]))
            }),
            ..Self::default()
        };
        let named = best.name_with_title();
        if !verdict.knows_evidence {
            return Self {
                number: best.change.map_or_else(|| "No recommendation".to_owned(), signed),
                what: format!("{named} costs least, but what it forgets is unknown: no recommendation"),
                ..plain
            };
        }
        let kept = format_trimmed_percent(verdict.min_evidence);
        let holds = best.evidence_kept.map_or_else(String::new, |it| format!("; it keeps {}", percent(it)));
        let Some(change) = best.change else {
            return Self::keep_card(verdict, section, best.title.as_ref(), plain);
        };
        let instead = cost_instead_of_base(section, &best.policy).map_or_else(String::new, |it| it + ", ");
        // Whether the interval lies on one side of nothing.
        let lies = |ends: Option<[f64; 2]>| ends.is_none_or(|[low, high]| low * high > 0.0);
        let is_sure = lies(best.interval) && lies(best.assumed) && !best.is_open;
        let (number, tone) = cost_change_text_and_tone(change, is_sure);
        let what =
            format!("{instead}with {named}, the cheapest that keeps at least {kept} of the evidence{holds}");
        Self { number, what, tone, ..plain }
    }
}

/// Says how many of the published figures are reproduced.
fn published_figures_card(report: &Report) -> Option<Card> {
    let lines = report.compare_figures();
    let judged: Vec<_> = lines.iter().filter_map(|it| Some((it, it.within?))).listed();
    let missed: Vec<&str> = judged.iter().filter(|it| !it.1).map(|(line, _)| line.name.as_str()).listed();
    let words = if missed.is_empty() { Vec::new() } else { vec![format!("Outside: {}.", missed.join("; "))] };
    (!judged.is_empty()).then(|| Card {
        number: format!("{} of {}", judged.len() - missed.len(), judged.len()),
        what: "published figures lie within their bands".to_owned(),
        words,
        tone: if missed.is_empty() { Tone::Better } else { Tone::Worse },
        ..Card::default()
    })
}

/// Says of each load on which something is remembered who remembers most, and what that costs; loads that differ only in prices
/// have one verdict.
fn memory_cards(report: &Report) -> Vec<Card> {
    let runs = report.runs.iter().filter(|it| it.findings.is_some()).listed();
    let loads = runs.chunk_by(|one, other| one.is_beside(other)).listed();
    // Where the base has nothing to remember, what counts is what memories cost and spare.
    if loads.len() > 1 && loads.iter().all(|it| it[0].remembered().next().is_none()) {
        return cheapest_memory_card(&loads).into_iter().listed();
    }
    let cards = loads.iter().filter_map(|it| best_memory_card(it));
    let said = grouped(cards.map(|it| ((it.of.clone(), it.number.clone(), it.what.clone()), it)));
    let mut cards = said.into_values().filter_map(|it| it.into_iter().next()).listed();
    if let [only] = cards.as_mut_slice() {
        only.of = None;
    }
    cards
}

/// Says which memory costs least over all loads.
fn cheapest_memory_card(loads: &[&[&Run]]) -> Option<Card> {
    let total = |policy: &str| {
        let cost_of = |it: &&[&Run]| it.iter().find(|it| it.policy == policy)?.tally.costs.total();
        loads.iter().map(cost_of).sum::<Option<f64>>()
    };
    let base = &loads.first()?.first()?.policy;
    let usd = total(base).filter(|it| *it > 0.0)?;
    let names = loads.iter().copied().flatten().map(|it| it.policy.as_str());
    let others = distinct(names.filter(|name| *name != base.as_str()));
    let known = others.into_iter().filter_map(|it| Some((it, total(it)? / usd - 1.0)));
    let (best, change) = known.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let over = format!("over {} scenarios that cost ${} with {base}", loads.len(), fixed(usd, 2));
    Some(if change < 0.0 {
        Card { number: signed(change), what: format!("with {best}, {over}"), ..Card::default() }
    } else {
        let what = format!("no other memory costs less {over}; the next, {best}, costs {}", signed(change));
        Card { number: format!("Keep {base}"), what, ..Card::default() }
    })
}

/// Says of a load who remembers most.
fn best_memory_card(runs: &[&Run]) -> Option<Card> {
    let known = runs.iter().filter_map(|it| Some((*it, it.remembered().next()?))).listed();
    let usd = |it: &Run| it.tally.costs.total().unwrap_or(f64::INFINITY);
    let real = || known.iter().filter(|it| !it.0.looks_ahead);
    let badness = |it: &Remembered| if it.better == Better::Lower { it.number.mean } else { -it.number.mean };
    let (best, most) = real().min_by(|one, other| {
        badness(&one.1).total_cmp(&badness(&other.1)).then(usd(one.0).total_cmp(&usd(other.0)))
    })?;
    let written = |it: f64| if most.is_share { percent(it) } else { fixed(it, 2) };
    let names = runs.iter().map(|it| it.policy.as_str()).listed();
    let shown: IndexMap<&str, &str> = names.iter().copied().zip(names_without_folders(&names)).collect();
    let sure = most.number.ci95.map(|ends| {
        let ([low, high], trials) = (ends.map(written), thousands(most.number.n));
        format!("95% interval {low} to {high}, {trials} trials")
    });
    let dearest = runs.iter().map(|run| usd(run)).filter(|it| it.is_finite()).fold(0.0, f64::max);
    let decimals = numbers::decimals(dearest);
    let cost = |run: &Run| or_nothing(run.tally.costs.total(), |usd| format!("${}", fixed(usd, decimals)));
    let cheapest = real().min_by(|one, other| usd(one.0).total_cmp(&usd(other.0)));
    let cheapest = cheapest.filter(|it| it.0.policy != best.policy && usd(it.0) < usd(best));
    let cheapest = cheapest.map(|(run, most)| {
        let (name, usd, kept) = (shown[&*run.policy], cost(run), written(most.number.mean));
        format!("Cheapest is {name} at {usd}, with {} {kept}.", most.heading)
    });
    let alike = known.iter().filter(|it| (it.1.number.mean - most.number.mean).abs() < 1e-12).count() - 1;
    let alike = match alike {
        0 => String::new(),
        1 => ", as does one other, which costs no less".to_owned(),
        n => format!(", as do {n} others, which cost no less"),
    };
    let is_priced = usd(best) > 0.0 && usd(best).is_finite();
    let price = is_priced.then(|| format!("It costs {} under {}.", cost(best), best.profile));
    Some(Card {
        of: Some(best.scenario.clone()),
        number: written(most.number.mean),
        what: format!("{}: {} has the best{alike}", most.heading, shown[&*best.policy]),
        sure,
        words: price.into_iter().chain(cheapest).listed(),
        ..Card::default()
    })
}

/// Describes the page.
fn page_title(report: &Report) -> String {
    let scenarios = distinct(report.run_briefs().map(|it| it.scenario));
    let sessions: IndexSet<&str> = report.sessions.iter().map(|it| it.name.as_str()).collect();
    let is_recorded = scenarios.iter().all(|it| sessions.contains(it));
    let subject = match (scenarios.as_slice(), &report.suite) {
        ([only], _) if is_recorded => format!("recorded session {only}"),
        ([only], _) => (*only).to_owned(),
        (all, _) if is_recorded => format!("{} recorded sessions", thousands(all.len() as u64)),
        (_, Some(suite)) if suite != DEFAULT => format!("suite {suite}"),
        (all, _) => format!("{} scenarios", thousands(all.len() as u64)),
    };
    let mut runs = report.runs.iter().filter(|it| it.scenario != ALL).peekable();
    let are_memories = runs.peek().is_some() && runs.all(Run::is_of_memory);
    let what = if are_memories { "Memories" } else { "Context policies" };
    format!("{what} compared: {subject}")
}

/// Describes what was compared.
fn comparison_description(report: &Report) -> String {
    let first = report.run_briefs().next().map(|it| format!("; changes are relative to {}", it.policy));
    let policies = counted(distinct(report.run_briefs().map(|it| it.policy)).len(), "policy");
    let scenarios = counted(report.n_scenarios(), "scenario");
    let profiles = counted(distinct(report.run_briefs().map(|it| it.profile)).len(), "profile");
    format!("{policies}, {scenarios}, {profiles}{}.", first.unwrap_or_default())
}
