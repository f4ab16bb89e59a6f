//! Two policies against each other, request by request: where one is dearer, where it saves, and what that comes to.

use std::collections::BTreeMap;

use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend::{self, Swatch};
use super::requests::{self, RequestBars};
use super::scene::{LINE, Path, Scene, WIDTH, line, rectangle, round};
use super::{ChartData, Picture};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::ledger::pairing::RequestId;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "requests of two policies whose costs are known";
/// How high each of the two frames is.
const HEIGHT: f64 = 96.0;
/// Smaller differences are none.
const NOTHING: f64 = 1e-9;
/// The most requests in the numbers: those that differ most.
const MOST_ROWS: usize = 10;

/// Two policies, request by request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestPairs {
    pub subject: String,
    /// What is compared with what: the base, then the candidate.
    pub names: [String; 2],
    /// What the candidate's request costs less the base's, in US dollars, request by request.
    pub differences: Vec<f64>,
}

/// Returns a chart for each scenario and profile: the policy that is advised, else the next one, against the first.
pub fn all(source: &ChartData<'_>) -> Vec<RequestPairs> {
    requests::all(source).iter().filter_map(RequestPairs::new).listed()
}

impl RequestPairs {
    /// Takes the differences of two policies from a chart of their requests.
    pub fn new(of: &RequestBars) -> Option<Self> {
        let base = of.panels.first()?;
        let candidate = of.candidate()?;
        base.trace.usd.zip(candidate.trace.usd)?;
        let mut by_request: BTreeMap<RequestId, f64> = BTreeMap::new();
        for (panel, sign) in [(base, -1.0), (candidate, 1.0)] {
            for bar in &panel.trace.sent {
                *by_request.entry(bar.id).or_default() += sign * bar.usd.iter().sum::<f64>();
            }
        }
        let differences = by_request.into_values().listed();
        let names = [base, candidate].map(|it| it.policy.label.clone());
        differences.iter().any(|it| it.abs() > NOTHING).then(|| Self {
            subject: of.subject.clone(),
            names,
            differences,
        })
    }

    /// Returns the places of the largest differences, in order.
    fn largest(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.differences.len()).filter(|it| self.differences[*it].abs() > NOTHING).listed();
        order.order_by(|one, other| self.differences[*other].abs().total_cmp(&self.differences[*one].abs()));
        order.truncate(MOST_ROWS);
        order.sort_unstable();
        order
    }

    fn total(&self) -> f64 {
        self.differences.iter().sum()
    }

    /// Returns the running sum.
    fn sums(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let add = |it: &f64| {
            sum += it;
            sum
        };
        self.differences.iter().map(add).listed()
    }
}

/// Writes a difference in dollars with its sign.
fn dollars(usd: f64) -> String {
    super::signed_dollars(usd, if usd.abs() >= 0.995 { 2 } else { 4 })
}

impl Picture for RequestPairs {
    fn title(&self) -> String {
        format!("{} against {}", self.names[1], self.names[0])
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let [saves, costs] =
            [-1.0, 1.0].map(|sign| self.differences.iter().filter(move |it| **it * sign > NOTHING));
        format!(
            "{} against {}, request by request: {} in all, {} in {} and {} in {}.",
            self.names[1],
            self.names[0],
            dollars(self.total()),
            dollars(saves.clone().sum()),
            numbers::counted(saves.count(), "request"),
            dollars(costs.clone().sum()),
            numbers::counted(costs.count(), "request"),
        )
    }

    fn table(&self) -> Grid {
        let order = self.largest();
        let sums = self.sums();
        let rows = order
            .into_iter()
            .map(|it| vec![format!("request {}", it + 1), dollars(self.differences[it]), dollars(sums[it])]);
        Grid::new("", 1, &["differs most", "USD", "sum so far"], rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let inks = [ink::policy(2), ink::policy(1)];
        let entries = [(inks[0], "saved"), (inks[1], "costs more")];
        let top = legend::legend(&mut scene, entries.map(|(ink, it)| (Swatch::Colour(ink), it.to_owned())))
            + LINE
            + 14.0;
        let (left, right) = (58.0, WIDTH - 12.0);
        let across = Axis::exact(self.differences.len() as f64, [left, right], 6.0);
        let ends = |all: &[f64]| {
            all.iter().fold([0.0_f64, 0.0_f64], |[low, high], it| [low.min(*it), high.max(*it)])
        };
        let sums = self.sums();
        let first = top;
        let frames = [
            ("each request, US dollars", &self.differences, top),
            ("sum so far, US dollars", &sums, top + HEIGHT + 2.0 * LINE + 10.0),
        ];
        for (name, all, top) in frames {
            let [low, high] = ends(all);
            let up = Axis::new(low, high, [top + HEIGHT, top], 3.0);
            up.beside(&mut scene, [left, right], name, |it| up.written(it).replace('-', "−"));
            let zero = up.at(0.0);
            for (sign, ink) in [-1.0, 1.0].into_iter().zip(inks) {
                let bars = all.iter().enumerate().filter(|it| it.1 * sign > 0.0);
                let d: String = bars
                    .map(|(nth, it)| {
                        let [from, to] = [nth, nth + 1].map(|it| across.at(it as f64));
                        rectangle([from, zero.min(up.at(*it))], [to.max(from + 0.5), zero.max(up.at(*it))])
                    })
                    .collect();
                if !d.is_empty() {
                    scene.add(Path::filled(d, ink));
                }
            }
            scene.add(Path::drawn(line([[left, zero], [right, zero]]), ink::FAINT, 1.0));
            if top == first {
                for at in self.largest() {
                    let [from, to] = [at, at + 1].map(|it| across.at(it as f64));
                    let usd = self.differences[at];
                    let bar =
                        rectangle([from, zero.min(up.at(usd))], [to.max(from + 0.5), zero.max(up.at(usd))]);
                    let ink = inks[usize::from(usd > 0.0)];
                    let label = format!("request {}: {}", at + 1, dollars(usd));
                    scene.spot(label, true, vec![Path::filled(bar, ink).into()]);
                }
            }
        }
        let bottom = round(top + 2.0 * HEIGHT + 2.0 * LINE + 10.0);
        across.below(&mut scene, [bottom; 2], "requests, in order", |it| across.written(it));
        scene.height = bottom + 46.0;
        scene
    }
}
