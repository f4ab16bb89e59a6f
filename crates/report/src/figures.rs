//! Published figures beside our own: paper, ours, difference, our basis, and whether ours is within its band.
//!
//! **Figures** (`[[figures]]` of a suite) name a place in the JSON of a run, the published number, what our number rests on, and its
//! tolerance band; `report/figures.rs` looks up our number. Figures are not guards: a known miss is a row of the table, not a failed build.

use super::json::RunNumbers;
use crate::prelude::*;
use ctxsim_base::grid::numbers::plain_or_none;
use ctxsim_engine::measure::Statistic;
use ctxsim_input::suite::{Figure, FigureKind};

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    pub name: String,
    /// What it says.
    pub about: String,
    /// The published number.
    pub paper: Option<f64>,
    /// Ours; `None` if there is no data.
    pub ours: Option<f64>,
    /// The standard deviation of ours over streams; `None` for a difference or a ratio of two.
    pub sd: Option<f64>,
    /// The 95% confidence interval of our mean.
    pub ci95: Option<[f64; 2]>,
    /// Ours minus the published number.
    pub difference: Option<f64>,
    /// The basis of our number.
    pub kind: FigureKind,
    /// The band in which ours should be.
    pub band: [Option<f64>; 2],
    /// Whether it is, which it is not without a number; `None` without a band.
    pub within: Option<bool>,
}

impl ComparedFigure {
    /// Looks our number up in the runs of a report.
    fn new(figure: &Figure, runs: &[Run]) -> Self {
        let run = |policy: &str, scenario: &str| {
            let is_profile = |it: &Run| figure.profile.as_ref().is_none_or(|name| *name == it.profile);
            runs.iter().find(|it| it.policy == policy && it.scenario == scenario && is_profile(it))
        };
        let at = |run: Option<&Run>| RunNumbers::new(run?, None).number_at(&figure.metric);
        let own = run(&figure.policy, &figure.scenario);
        let is_less = figure.minus.is_some() || figure.minus_scenario.is_some();
        let ours = match (is_less, &figure.over) {
            (true, _) => {
                let policy = figure.minus.as_ref().unwrap_or(&figure.policy);
                let less = at(run(policy, figure.minus_scenario.as_ref().unwrap_or(&figure.scenario)));
                at(own).zip(less).map(|(own, less)| own - less)
            }
            (_, Some(over)) => at(own).zip(at(run(over, &figure.scenario))).map(|(own, over)| own / over),
            _ => at(own),
        };
        let is_alone = !is_less && figure.over.is_none();
        let statistic = own.filter(|_| is_alone).and_then(|it| statistic_of_mean(it, &figure.metric));
        let bounds = [figure.at_least, figure.at_most];
        // Where there is a band and we have no number, that is a miss.
        let lies = |it: f64| bounds[0].is_none_or(|low| it >= low) && bounds[1].is_none_or(|high| it <= high);
        let within = bounds.iter().any(Option::is_some).then(|| ours.is_some_and(lies));
        Self {
            name: figure.name.clone(),
            about: figure.about.clone(),
            paper: figure.paper,
            ours,
            sd: statistic.map(|it| it.sd),
            ci95: statistic.and_then(|it| it.ci95),
            difference: ours.zip(figure.paper).map(|(ours, paper)| ours - paper),
            kind: figure.kind,
            band: bounds,
            within,
        }
    }
}

/// Returns the statistic of which a place is the mean.
fn statistic_of_mean(run: &Run, metric: &str) -> Option<Statistic> {
    let findings = run.findings.as_ref()?;
    let stem = metric.strip_suffix(".mean")?;
    let mut columns = findings.kind().columns.iter();
    let name = columns.find_map(|it| stem.strip_prefix(it.name)?.strip_prefix('.'))?;
    findings.number(name)
}

impl Report {
    /// Returns the published figures of the suite beside our own.
    pub fn compare_figures(&self) -> Vec<ComparedFigure> {
        self.figures.iter().map(|it| self.compare_figure(it)).listed()
    }

    /// Returns any published figure beside our own.
    pub fn compare_figure(&self, figure: &Figure) -> ComparedFigure {
        ComparedFigure::new(figure, &self.runs)
    }

    /// Returns them as a table, or none if there are none.
    pub fn figures_grid(&self) -> Option<Grid> {
        let lines = self.compare_figures();
        let written = |it| plain_or_none(it, 3);
        let band = |line: &ComparedFigure| match line.band {
            [None, None] => NONE.to_owned(),
            [low, high] => format!("{} to {}", written(low), written(high)),
        };
        let columns: [Of<'_, ComparedFigure>; 8] = [
            ("figure", &|it| it.name.clone()),
            ("kind", &|it| it.kind.word().to_owned()),
            ("paper", &|it| written(it.paper)),
            ("ours", &|it| written(it.ours)),
            ("± 95%", &|it| written(it.ci95.map(|[low, high]| (high - low) / 2.0))),
            ("difference", &|it| or_none(it.difference, |it| format!("{it:+.3}"))),
            ("band", &band),
            ("within", &|it| it.within.map_or(NONE, |it| if it { "yes" } else { "no" }).to_owned()),
        ];
        (!lines.is_empty()).then(|| Grid::from_columns("Published figures and ours", 2, &lines, &columns))
    }
}
