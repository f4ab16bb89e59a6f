//! Each policy's cost by part.

use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend::{self, Swatch};
use super::names::PolicyLabel;
use super::scene::{Anchor, DrawnMark, LINE, Path, Scene, SceneText, WIDTH, fit, line, rectangle, width};
use super::{ChartData, Picture, fewest};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::price::Costs;

/// What a run needs for such a chart.
pub(super) const NEEDS: &str = "a policy whose cost is known";
/// How high a bar is.
const BAR: f64 = 18.0;
/// The parts of a cost, in their order.
pub const PARTS: [&str; 7] = [
    "cache read",
    "cache write",
    "uncached input",
    "output",
    "recovery and exploration",
    "compaction",
    "other",
];

/// The policies of a table by parts of their cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stacked {
    /// Of what, and under which profile.
    pub subject: String,
    /// The policies whose cost is known.
    pub bars: Vec<StackedBar>,
    /// The policies whose cost is unknown.
    pub left_out: Vec<String>,
}

/// A policy by parts of its cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackedBar {
    pub policy: PolicyLabel,
    /// US dollars, in the order of [`PARTS`].
    pub usd: [f64; 7],
    /// All of it.
    pub total: f64,
    /// The same at either end of the recovery assumptions.
    pub interval: Option<[f64; 2]>,
    /// Where it stopped at a limit.
    pub stopped: Option<String>,
}

/// Returns a chart for each table with a known cost.
pub fn all(source: &ChartData<'_>) -> Vec<Stacked> {
    let of_section = source.sections.iter().map(|section| {
        let (known, unknown): (Vec<_>, Vec<_>) =
            section.lines.iter().partition(|it| it.tally.costs.total().is_some());
        let bars = known.into_iter().filter_map(|line| {
            Some(StackedBar {
                policy: source.names.of(&line.policy),
                usd: parts(&line.tally.costs),
                total: line.tally.costs.total()?,
                interval: line.tally.cost_interval(),
                stopped: line.stopped.clone(),
            })
        });
        let left_out = unknown.into_iter().map(|it| it.policy.clone()).listed();
        Stacked { subject: section.subject(), bars: bars.listed(), left_out }
    });
    of_section.filter(|it| it.bars.iter().any(|bar| bar.total > 0.0)).listed()
}

/// Divides a cost among [`PARTS`].
fn parts(costs: &Costs) -> [f64; 7] {
    let (main, other) = (&costs.main, costs.storage + costs.memory + costs.penalty);
    let [read, write, uncached, output] =
        [main.read, main.write, main.uncached, main.output].map(|it| it.usd());
    let recovery = (costs.assumed() + costs.reaction).usd().max(0.0);
    [read, write, uncached, output, recovery, costs.compaction.usd(), other.usd()]
}

impl StackedBar {
    /// Returns its name, with a mark if it stopped and so did less work.
    fn name(&self) -> String {
        let mark = if self.stopped.is_some() { " (stopped)" } else { "" };
        format!("{}{mark}", self.policy.label)
    }
}

impl Stacked {
    /// Returns the parts that some policy pays for.
    fn shown(&self) -> Vec<usize> {
        (0..PARTS.len()).filter(|part| self.bars.iter().any(|it| it.usd[*part] > 0.0)).listed()
    }

    fn decimals(&self) -> usize {
        super::cents(self.bars.iter().map(|it| it.total).fold(0.0, f64::max))
    }

    /// Draws a bar, and the interval of its end.
    fn bar(bar: &StackedBar, across: &Axis, y: f64) -> Vec<DrawnMark> {
        let mut marks: Vec<DrawnMark> = Vec::new();
        let mut sum = 0.0;
        for (part, usd) in bar.usd.iter().enumerate().filter(|(_, usd)| **usd > 0.0) {
            let (from, to) = (across.at(sum), across.at(sum + usd));
            let path = Path::filled(rectangle([from, y], [to, y + BAR]), ink::part(part));
            // A border would hide what is thin.
            marks.push(if to - from > 3.0 { path.outlined(ink::PAPER, 1.0) } else { path }.into());
            sum += usd;
        }
        if let Some([low, high]) = bar.interval.filter(|[low, high]| across.at(*high) - across.at(*low) > 1.0)
        {
            let middle = y + BAR / 2.0;
            let [low, high] = [low, high].map(|it| across.at(it));
            let ends = [low, high].map(|x| line([[x, middle - 4.0], [x, middle + 4.0]])).concat();
            let reach = line([[low, middle], [high, middle]]) + &ends;
            marks.push(Path::drawn(reach.clone(), ink::PAPER, 3.5).into());
            marks.push(Path::drawn(reach, ink::TEXT, 1.5).into());
        }
        marks
    }
}

impl Picture for Stacked {
    fn title(&self) -> String {
        "Cost by part of the bill".to_owned()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let decimals = self.decimals();
        let said = self.bars.iter().map(|it| {
            let largest = (0..PARTS.len()).max_by(|one, other| it.usd[*one].total_cmp(&it.usd[*other]));
            let of = largest
                .filter(|_| it.total > 0.0)
                .map(|part| format!(", {} of it {}", numbers::percent(it.usd[part] / it.total), PARTS[part]));
            format!("{} ${}{}", it.name(), numbers::fixed(it.total, decimals), of.unwrap_or_default())
        });
        let mut words = format!("{}.", said.listed().join("; "));
        if !self.left_out.is_empty() {
            words.push_str(&format!(" Unpriced: {}.", self.left_out.join(", ")));
        }
        words
    }

    fn table(&self) -> Grid {
        let (shown, decimals) = (self.shown(), self.decimals());
        let columns: Vec<&str> =
            ["policy"].into_iter().chain(shown.iter().map(|it| PARTS[*it])).chain(["total USD"]).listed();
        let rows = self.bars.iter().map(|it| {
            let amounts = shown.iter().map(|part| it.usd[*part]).chain([it.total]);
            [it.policy.label.clone()]
                .into_iter()
                .chain(amounts.map(|it| numbers::fixed(it, decimals)))
                .listed()
        });
        Grid::new("", 1, &columns, rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let entries =
            self.shown().into_iter().map(|it| (Swatch::Colour(ink::part(it)), PARTS[it].to_owned()));
        let top = legend::legend(&mut scene, entries) + 4.0;
        let (left, right) = (12.0, WIDTH - 24.0);
        let (bars, more) = fewest(&self.bars, 1, |it| it.total);
        let high = bars.iter().map(|it| it.interval.map_or(it.total, |[_, high]| high.max(it.total)));
        let across = Axis::new(0.0, high.fold(0.0, f64::max), [left, right], 5.0);
        let pitch = LINE + BAR + 10.0;
        let bottom = top + pitch * bars.len() as f64 + 2.0;
        across.below(&mut scene, [top, bottom], "cost in US dollars", |it| across.written(it));
        let decimals = self.decimals();
        for (nth, bar) in bars.into_iter().enumerate() {
            let y = top + pitch * nth as f64 + LINE + 2.0;
            let total = format!("${}", numbers::fixed(bar.total, decimals));
            let room = right - left - width(&total) - 24.0;
            // Lines of the axis do not run through words.
            scene.add(Path::filled(rectangle([left, y - LINE], [right + 1.0, y - 2.0]), ink::PAPER));
            scene.add(legend::point(bar.policy.nth, [left + 4.0, y - 8.5], 4.5));
            scene.add(SceneText::new(left + 14.0, y - 4.0, fit(&bar.name(), room)));
            scene.add(SceneText::new(right, y - 4.0, total.clone()).anchored(Anchor::End).bold());
            let mut parts: Vec<(f64, &str)> = bar.usd.into_iter().zip(PARTS).filter(|it| it.0 > 0.0).listed();
            parts.order_by(|one, other| other.0.total_cmp(&one.0));
            // The table has the others.
            let said = parts
                .iter()
                .take(3)
                .map(|(usd, part)| format!("{part} {}", numbers::percent(usd / bar.total)));
            let label = format!("{}: {}", bar.name(), said.listed().join(", "));
            scene.spot_of(bar.policy.keys(), label, Self::bar(bar, &across, y));
        }
        if let Some(more) = more {
            scene.add(SceneText::new(left, bottom + 52.0, more).faint());
        }
        scene.height = bottom + 62.0;
        scene
    }
}
