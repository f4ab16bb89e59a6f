//! What a search found, drawn in one way whichever verb searched: an answer above a table of candidates, and pictures of what these cost and keep.

use ctxsim_base::grid::tint::ROWS_LEAST;

use crate::blocks::{Block, draw_blocks};
use crate::chart::forest::{ForestLine, ForestPlot};
use crate::chart::frontier::Frontier;
use crate::chart::names::PolicyLabel;
use crate::chart::{PageChart, draw_chart, frontier};
use crate::page::evidence_kept_text;
use crate::prelude::*;
use crate::sampled::Sampled;

/// What a search found, as a terminal shows it.
pub(crate) struct SearchResultText {
    pub(crate) answer: Vec<Block>,
    /// Every candidate, below the base if it is among them.
    pub(crate) table: Grid,
    pub(crate) has_base: bool,
    /// The most candidates that are shown by default, and the command that shows the others.
    pub(crate) most: usize,
    pub(crate) shows_all_by: &'static str,
    pub(crate) notes: Vec<String>,
}

impl SearchResultText {
    /// Draws everything, or else as many candidates as a terminal has room for.
    pub(crate) fn draw(&self, shows_all: bool, terminal: Terminal) -> String {
        match shows_all {
            true => self.draw_n_candidates(self.table.rows.len(), terminal),
            false => terminal.fitted(ROWS_LEAST..=self.most, |on, n| self.draw_n_candidates(n, on)),
        }
    }

    fn draw_n_candidates(&self, n_shown: usize, terminal: Terminal) -> String {
        let n_rows = n_shown + usize::from(self.has_base);
        let mut table = self.table.clone();
        table.rows.truncate(n_rows);
        let table = table.leaving_out(self.table.rows.len().saturating_sub(n_rows), self.shows_all_by);
        let notes = self.notes.iter().cloned().map(Block::Aside);
        let below = std::iter::once(Block::Table(table)).chain(notes).listed();
        let answer = draw_blocks(&self.answer, "", terminal);
        format!("{}\n{}", answer.trim_end(), draw_blocks(&below, "", terminal))
    }
}

/// Makes a table of candidates by the columns of each part of the sessions; a row is a name and the cells of each part.
pub(crate) fn candidates_grid(names: &[&str], n_parts: usize, rows: Vec<(String, Vec<Vec<String>>)>) -> Grid {
    let heads: &[&str] = if n_parts > 1 { &["chosen-on", "held-out"] } else { &["all"] };
    let headings = heads.iter().flat_map(|head| names.iter().map(move |it| format!("{head} {it}")));
    let headings = std::iter::once(String::new()).chain(headings).listed();
    Grid::new("", 1, &headings, rows.into_iter().map(|(name, parts)| [vec![name], parts.concat()].concat()))
}

/// A candidate, as pictures show it.
#[derive(Debug, Default)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    /// What it costs, in US dollars, where that is compared with what it keeps.
    pub(crate) usd: Option<f64>,
    /// The share of needed evidence that it keeps.
    pub(crate) kept: Option<f64>,
    /// By how much its cost differs from the base's, where that is drawn.
    pub(crate) change: Option<f64>,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) interval_over: Sampled,
    pub(crate) mark: Option<&'static str>,
}

/// What pictures show of a search.
#[derive(Debug)]
pub(crate) struct SearchResultCharts<'f> {
    pub(crate) base: &'f str,
    /// What the base costs and keeps.
    pub(crate) base_usd: Option<f64>,
    pub(crate) base_kept: Option<f64>,
    pub(crate) subject: String,
    /// What changes in cost are of, and what one of them is.
    pub(crate) changes_of: String,
    pub(crate) one: &'static str,
    pub(crate) candidates: Vec<Candidate>,
}

impl SearchResultCharts<'_> {
    /// Returns the pictures that can be drawn.
    pub(crate) fn all_charts(&self) -> Vec<PageChart> {
        self.frontier_chart().into_iter().chain(self.cost_changes_chart()).listed()
    }

    /// Draws what candidates cost and keep, beside the base.
    pub(crate) fn frontier_chart(&self) -> Option<PageChart> {
        let base = Candidate {
            name: self.base.to_owned(),
            usd: self.base_usd,
            kept: self.base_kept,
            mark: Some(frontier::BASE),
            ..Candidate::default()
        };
        let mut points = Vec::new();
        for (nth, shown) in std::iter::once(&base).chain(&self.candidates).enumerate() {
            let (Some(usd), Some(kept)) = (shown.usd, shown.kept) else { continue };
            let point = frontier::FrontierPoint::new(PolicyLabel::new(&shown.name, nth), usd, kept);
            let both = shown.interval.zip(self.base_usd);
            let usd_interval = both.map(|(ends, usd)| ends.map(|end| usd * (1.0 + end)));
            points.push(Ok(frontier::FrontierPoint { usd_interval, mark: shown.mark, ..point }));
        }
        let frontier = Frontier::new(self.subject.clone(), frontier::KEPT, points);
        let frontier = Frontier { is_numbered: true, ..frontier };
        (frontier.points.len() > 1).then(|| draw_chart("frontier", &frontier))
    }

    /// Draws by how much the cost of each candidate differs from the base's.
    fn cost_changes_chart(&self) -> Option<PageChart> {
        let line = |shown: &Candidate| {
            let name = shown.name.clone() + &or_nothing(shown.mark, |mark| format!(" ({mark})"));
            let kept = evidence_kept_text(shown.kept);
            let line = ForestLine::of_relative_cost(name, shown.change?, shown.interval, kept);
            Some(ForestLine { interval_over: shown.interval_over, ..line })
        };
        let forest = ForestPlot {
            title: "Change in cost".to_owned(),
            subject: self.changes_of.clone(),
            base: self.base.to_owned(),
            of: self.one,
            lines: self.candidates.iter().filter_map(line).listed(),
        };
        (!forest.lines.is_empty()).then(|| draw_chart("changes", &forest))
    }
}
