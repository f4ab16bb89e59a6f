//! Charts of a report. Each kind of chart is a file in this folder and a line of [`KINDS`].
//!
//! Each kind collects its numbers from the report in a plain structure, describes them in words and as a
//! table, and draws them. One place writes drawings as SVG.

mod axis;
pub mod forest;
pub mod frontier;
mod ink;
mod legend;
pub mod names;
mod prelude;
pub mod requests;
pub mod curves;
pub mod days;
pub mod scene;
pub mod stacked;
pub mod winners;

use super::sections::{Detail, Section};
use super::template;
use crate::prelude::*;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_engine::take::CurvePlaces::Session;
use curves::recall_charts_over;
use names::PolicyLabels;
use requests::RunRequests;
use scene::Scene;

#[derive(Clone, Copy, Debug)]
pub struct ChartKind {
    /// The name of its charts on the command line.
    pub name: &'static str,
    /// What a run needs for such a chart.
    pub needs: &'static str,
    /// Makes them.
    all: fn(&ChartData<'_>) -> Vec<Box<dyn Picture>>,
}

/// The kinds, in display order.
pub const KINDS: [ChartKind; 7] = [
    ChartKind { name: "frontier", needs: frontier::NEEDS, all: |it| boxed(frontier::frontier_charts(it)) },
    ChartKind { name: "cost", needs: stacked::NEEDS, all: |it| boxed(stacked::cost_charts(it)) },
    ChartKind { name: "waiting", needs: stacked::NEEDS_TIMES, all: |it| boxed(stacked::waiting_charts(it)) },
    ChartKind { name: "requests", needs: requests::NEEDS, all: |it| boxed(requests::request_charts(it)) },
    ChartKind { name: "depth", needs: curves::NEEDS, all: |it| boxed(curves::recall_by_depth(it)) },
    ChartKind { name: "length", needs: curves::NEEDS, all: |it| boxed(curves::recall_by_length(it)) },
    ChartKind { name: "aging", needs: curves::NEEDS_AGING, all: |it| boxed(recall_charts_over(it, Session)) },
];

/// The most policies that a picture with a line for each shows: the first, and the cheapest of the others.
const MOST_LINES: usize = 14;

/// Returns the lines that a picture shows, the first and the lowest of the others by some number where there are too many, and a
/// sentence on those that it leaves to its numbers.
fn cheapest_with_note<T>(all: &[T], n_kept: usize, cost: impl Fn(&T) -> f64) -> (Vec<&T>, Option<String>) {
    if all.len() <= MOST_LINES {
        return (all.iter().listed(), None);
    }
    let (first, rest) = all.split_at(n_kept);
    let mut rest: Vec<&T> = rest.iter().listed();
    rest.order_by(|one, other| cost(one).total_cmp(&cost(other)));
    let n_more = all.len() - MOST_LINES;
    let shown = first.iter().chain(rest.into_iter().take(MOST_LINES - n_kept)).listed();
    (shown, Some(format!("and {n_more} more expensive ones, in the numbers")))
}

/// The most tables with charts; name fewer scenarios or profiles to see the others.
const MOST_TABLES: usize = 24;

#[derive(Debug)]
pub struct ChartData<'r> {
    pub report: &'r Report,
    /// Its tables.
    pub sections: Vec<Section>,
    /// The number of tables without charts, because there are too many.
    pub n_left_out: usize,
    /// Its policies.
    pub names: PolicyLabels,
    /// The requests of its runs, if they were kept.
    pub traces: &'r [RunRequests],
}

/// A chart before it is drawn.
pub trait Picture {
    /// What it shows, and its subject with the profile.
    fn title_and_subject(&self) -> [String; 2];
    /// Its key numbers in words.
    fn describe_key_numbers(&self) -> String;
    /// Its numbers.
    fn numbers_grid(&self) -> Grid;
    /// What is drawn.
    fn draw_scene(&self) -> Scene;
}

/// Returns the id of the row that has one of some names.
pub(super) type FindRowId<'h> = &'h dyn Fn(&[String]) -> Option<String>;

/// A chart as shown on a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageChart {
    /// Its name, unique in the report.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its subject and profile.
    pub subject: String,
    /// Its key numbers in words.
    pub summary: String,
    /// Its numbers.
    pub table: Grid,
    #[serde(skip)]
    scene: Scene,
}

impl<'r> ChartData<'r> {
    /// Collects the data of a report's charts.
    pub fn new(report: &'r Report, detail: Detail, traces: &'r [RunRequests]) -> Self {
        let mut sections = report.sections(detail);
        let n_left_out = sections.len().saturating_sub(MOST_TABLES);
        sections.truncate(MOST_TABLES);
        Self { report, sections, n_left_out, names: PolicyLabels::new(report), traces }
    }

    /// Returns the charts that have data. The first of a kind has the kind's name; the others are numbered.
    pub fn draw_charts(&self) -> Vec<PageChart> {
        let name = |kind: &str, nth| if nth == 1 { kind.to_owned() } else { format!("{kind}-{nth}") };
        let charts = KINDS.iter().flat_map(|kind| {
            let pictures = (kind.all)(self).into_iter().zip(1..);
            pictures.map(move |(it, nth)| draw_chart(&name(kind.name, nth), &*it))
        });
        charts.listed()
    }
}

/// Writes a difference in dollars: what is saved is negative.
fn format_signed_usd(usd: f64, decimals: usize) -> String {
    format!("{}${}", if usd < 0.0 { "−" } else { "+" }, fixed(usd.abs(), decimals))
}

/// Makes a chart of a picture.
pub fn draw_chart(name: &str, picture: &dyn Picture) -> PageChart {
    let [title, subject] = picture.title_and_subject();
    PageChart {
        name: name.to_owned(),
        title,
        subject,
        summary: picture.describe_key_numbers(),
        table: picture.numbers_grid(),
        scene: picture.draw_scene(),
    }
}

impl PageChart {
    /// Returns the drawing as a file of its own, with its title.
    ///
    /// # Errors
    /// What the template says.
    pub fn to_svg_file(&self) -> Result<String, template::Error> {
        self.to_svg(None)
    }

    /// Returns the drawing: as a part of a page, with links to what its parts may be called, or as a file of its own.
    pub(super) fn to_svg(&self, row_id_of: Option<FindRowId<'_>>) -> Result<String, template::Error> {
        let is_alone = row_id_of.is_none();
        let link = |it: &scene::Spot| row_id_of.filter(|_| !it.keys.is_empty()).and_then(|of| of(&it.keys));
        let drawing = group! {
            // Whether it is a separate file.
            "is_alone": is_alone,
            "style": if is_alone { chart_css()? } else { String::new() },
            "title": self.title.clone(),
            "subject": scene::shorten_end(&self.subject, scene::WIDTH - 8.0),
            "summary": self.summary.clone(),
            "scene": Value::serialised(&self.scene),
            // Where each spot leads, if anywhere.
            "hrefs": self.scene.spots.iter().map(link).listed(),
            "ink": ink::TEXT.light,
            "paper": ink::PAPER.light,
        };
        template::render_template("scene.svg", include_str!("chart/scene.svg"), drawing)
    }
}

/// Returns the style that adapts charts to dark screens and shows the value of a point.
pub(super) fn chart_css() -> Result<String, template::Error> {
    let inks = [ink::TEXT, ink::FAINT, ink::GRID, ink::PAPER].into_iter();
    let style = group! {
        "ink": ink::TEXT.light,
        "ink_on_dark": ink::TEXT.dark,
        "paper": ink::PAPER.light,
        "paper_on_dark": ink::PAPER.dark,
        "inks": Value::serialised(&inks.chain(ink::POLICIES).chain(ink::PARTS).listed()),
    };
    template::render_template("scene.css", include_str!("chart/scene.css"), style)
}

fn boxed<P: Picture + 'static>(pictures: Vec<P>) -> Vec<Box<dyn Picture>> {
    pictures.into_iter().map(|it| Box::new(it) as Box<dyn Picture>).listed()
}

/// Returns one chart as an SVG file: the first, or the one that is named. `why_no_traces` says why there are no requests to chart, if there are none.
///
/// # Errors
/// The report has no such chart, or it cannot be written.
pub fn draw_named_chart_svg(
    report: &Report,
    (traces, why_no_traces): (&[RunRequests], Option<&str>),
    detail: Detail,
    chart_name: Option<&str>,
) -> Result<String, Error> {
    let figures = ChartData::new(report, detail, traces).draw_charts();
    let figure = figures.iter().find(|it| chart_name.is_none_or(|name| it.name == name));
    let found = figure.ok_or_else(|| vec![missing_chart_error(chart_name, &figures, why_no_traces)])?;
    found.to_svg_file().map_err(|it| vec![Diagnostic::at(Code("unwritable"), "", it.to_string())].into())
}

/// Reports a missing chart, and lists the available ones.
fn missing_chart_error(chart_name: Option<&str>, figures: &[PageChart], why_not: Option<&str>) -> Diagnostic {
    let chart_name = chart_name.unwrap_or(KINDS[0].name);
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    let is_further = |it: &str| it.is_empty() || it.strip_prefix('-').is_some_and(is_number);
    let kind = KINDS.iter().find(|it| chart_name.strip_prefix(it.name).is_some_and(is_further));
    let message = match (kind, why_not) {
        (Some(it), Some(why)) if it.name == "requests" => why.to_owned(),
        (Some(it), _) => format!("this run has no chart `{chart_name}`: it needs {}", it.needs),
        (None, _) => format!("unknown chart `{chart_name}`"),
    };
    let mut what = "charts of this run";
    let mut names = figures.iter().map(|it| format!("`{}`", it.name)).listed();
    if names.is_empty() {
        what = "available charts and their requirements";
        names = KINDS.iter().map(|it| format!("`{}` ({})", it.name, it.needs)).listed();
    }
    Diagnostic::at(Code("chart-missing"), "", message).help(format!("{what}: {}", names.join(", ")))
}
