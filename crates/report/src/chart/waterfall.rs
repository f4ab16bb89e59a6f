//! How one bill becomes another: each part that changed, a step from the first total to the last.

use serde::Serialize;

use super::axis::Axis;
use super::ink::{self, Ink};
use super::scene::{Anchor, LINE, Path, Scene, SceneText, WIDTH, fit, line, rectangle, width};
use super::{ChartData, Picture};
use crate::reasons::moved;
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers;
use ctxsim_base::list::Listed as _;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "two policies with known costs that do the same work";
/// How high a bar is.
const BAR: f64 = 13.0;

/// A bill that becomes another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waterfall {
    pub title: String,
    pub subject: String,
    pub steps: Vec<WaterStep>,
}

/// A total, or what is added to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaterStep {
    pub name: String,
    /// In US dollars; of a part, by how much the total moves.
    pub usd: f64,
    pub is: WaterKind,
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaterKind {
    Total,
    /// A part of a bill, for better or worse.
    Part,
    /// What changes.
    Change,
}

/// Returns a chart for each table: from the first policy to the one that is advised, else to the next cheapest.
pub fn all(source: &ChartData<'_>) -> Vec<Waterfall> {
    let verdicts = source.report.verdicts_of(&source.sections);
    let of_section = source.sections.iter().filter_map(|section| {
        let (first, others) = section.lines.split_first()?;
        let verdict = verdicts.iter().find(|it| it.load == section.load && it.profile == section.profile);
        let advised = verdict.and_then(|it| it.cheapest.as_ref()).map(|it| it.policy.as_str());
        let usd = |it: &crate::sections::TableLine| it.tally.costs.total();
        let is_real = |it: &&crate::sections::TableLine| !source.report.oracles.contains(&it.policy);
        let known = || others.iter().filter(is_real).filter(|it| usd(it).is_some() && it.stopped.is_none());
        let best = known().find(|it| Some(it.policy.as_str()) == advised);
        let by_cost = |one: &&crate::sections::TableLine, other: &&crate::sections::TableLine| {
            usd(one).unwrap_or_default().total_cmp(&usd(other).unwrap_or_default())
        };
        let candidate = best.or_else(|| known().filter(|it| usd(it) > usd(first)).min_by(by_cost))?;
        let parts = moved(&candidate.tally, &first.tally)?;
        let ends = [usd(first)?, usd(candidate)?];
        let names = [first, candidate].map(|it| source.names.of(&it.policy).label);
        Waterfall::between(section.subject(), &names, ends, parts)
    });
    of_section.listed()
}

impl Waterfall {
    fn between(
        subject: String,
        names: &[String; 2],
        ends: [f64; 2],
        parts: Vec<(String, f64)>,
    ) -> Option<Self> {
        let told: f64 = parts.iter().map(|it| it.1).sum();
        let rest = ends[1] - ends[0] - told;
        let rest = (rest.abs() > 0.000_5 * ends[0]).then(|| ("other parts".to_owned(), rest));
        let step = |(name, usd): (String, f64)| WaterStep { name, usd, is: WaterKind::Change };
        let [from, to] =
            [0, 1].map(|nth| WaterStep { name: names[nth].clone(), usd: ends[nth], is: WaterKind::Total });
        let changes = parts.into_iter().chain(rest).map(step).listed();
        (!changes.is_empty()).then(|| Self {
            title: format!("From the bill of {} to that of {}", names[0], names[1]),
            subject,
            steps: std::iter::once(from).chain(changes).chain([to]).listed(),
        })
    }

    fn decimals(&self) -> usize {
        super::cents(self.steps.iter().map(|it| it.usd.abs()).fold(0.0, f64::max))
    }

    /// Writes the amount of a step, with a sign where it is none of the totals.
    fn written(&self, it: &WaterStep) -> String {
        match it.is {
            WaterKind::Change => super::signed_dollars(it.usd, self.decimals()),
            _ => format!("${}", numbers::fixed(it.usd, self.decimals())),
        }
    }

    /// Returns where each step begins and ends.
    fn ends(&self) -> Vec<[f64; 2]> {
        let mut at = 0.0;
        let end = |it: &WaterStep| {
            if it.is == WaterKind::Total {
                at = it.usd;
                return [0.0, it.usd];
            }
            let from = at;
            at += it.usd;
            [from, at]
        };
        self.steps.iter().map(end).listed()
    }
}

fn ink_of(it: &WaterStep) -> Ink {
    match it.is {
        WaterKind::Total => ink::FAINT,
        WaterKind::Part => ink::part(0),
        WaterKind::Change => ink::policy(if it.usd < 0.0 { 2 } else { 1 }),
    }
}

impl Picture for Waterfall {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let said = self.steps.iter().map(|it| format!("{} {}", it.name, self.written(it)));
        format!("{}.", said.listed().join("; "))
    }

    fn table(&self) -> Grid {
        let rows = self.steps.iter().map(|it| vec![it.name.clone(), self.written(it)]);
        Grid::new("", 1, &["step", "USD"], rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let (left, right, top) = (8.0, WIDTH - 16.0, 4.0);
        let ends = self.ends();
        let [low, high] =
            ends.iter().flatten().fold([0.0_f64, 0.0_f64], |[low, high], it| [low.min(*it), high.max(*it)]);
        let across = Axis::new(low, high, [left, right], 5.0);
        let pitch = LINE + BAR + 7.0;
        let bottom = top + pitch * self.steps.len() as f64 + 2.0;
        across.below(&mut scene, [top, bottom], "US dollars", |it| across.written(it));
        for (nth, (it, [from, to])) in self.steps.iter().zip(&ends).enumerate() {
            let y = top + pitch * nth as f64;
            let amount = self.written(it);
            // Lines of the axis do not run through words.
            scene.add(Path::filled(rectangle([0.0, y], [WIDTH, y + LINE]), ink::PAPER));
            let name = SceneText::new(left, y + 14.0, fit(&it.name, right - left - width(&amount) - 16.0));
            scene.add(if it.is == WaterKind::Total { name.bold() } else { name });
            scene.add(SceneText::new(right, y + 14.0, amount.clone()).anchored(Anchor::End).bold());
            let [from, to] = [from.min(*to), from.max(*to)].map(|it| across.at(it));
            let bar = rectangle([from, y + LINE + 2.0], [to.max(from + 1.0), y + LINE + 2.0 + BAR]);
            let label = format!("{}: {amount}", it.name);
            scene.spot(label, false, vec![Path::filled(bar, ink_of(it)).into()]);
            if nth + 1 < self.steps.len() {
                let x = across.at(ends[nth][1]);
                let joint = line([[x, y + LINE + 2.0 + BAR], [x, y + pitch + LINE + 2.0]]);
                scene.add(Path::drawn(joint, ink::FAINT, 1.0));
            }
        }
        scene.height = bottom + 46.0;
        scene
    }
}
