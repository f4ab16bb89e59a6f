//! A sweep: the points of a grid by cost and retention, the Pareto front, and its knee.

mod drawn;
pub mod json;
mod objective;

use ctxsim_engine::measure::{Label, Remembered};

use super::chart::PageChart;
use super::metric::{self, COST, ShownMetric as _};
use crate::prelude::*;
use crate::sampled::Sampled;

pub use drawn::{html_page, terminal_text};
pub use objective::{Objective, PointGuard};

/// The number that shows how far a run got.
const COMPLETED: &str = "turns_completed";
/// The number that it had to complete.
const REQUESTED: &str = "turns_requested";
/// The other numbers of a point, by their path in `totals`.
const PLACES: [&str; 10] = [
    COST,
    "cost_usd.total_low",
    "cost_usd.total_high",
    "evidence_kept",
    "prompt_tokens_max",
    "recovery.expected_calls",
    "cache_hit_ratio",
    "requests",
    REQUESTED,
    COMPLETED,
];

/// The numbers of a point by metric; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PointNumbers(pub IndexMap<String, Option<f64>>);

impl PointNumbers {
    /// Takes the numbers of runs that are added up, and what they remember together.
    pub fn new(tally: &Tally, remembered: &[Remembered]) -> Self {
        let of_totals = |place: &&str| {
            let number = metric::at_place(place).and_then(|it| it.value_in(tally));
            ((*place).to_owned(), number.filter(|it| it.is_finite()))
        };
        let mut numbers: IndexMap<String, Option<f64>> = PLACES.iter().map(of_totals).collect();
        numbers.insert("retention.accuracy.mean".to_owned(), None);
        numbers.extend(remembered.iter().map(|it| (it.place.clone(), Some(it.number.mean))));
        Self(numbers)
    }

    /// Returns whether no limit stopped any run.
    fn completed_all_turns(&self) -> bool {
        self.get(COMPLETED).is_some() && self.get(COMPLETED) == self.get(REQUESTED)
    }

    /// Returns a number.
    pub fn get(&self, metric_path: &str) -> Option<f64> {
        self.0.get(metric_path).copied().flatten()
    }
}

/// A point of a grid with its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Its place in the grid, from 0.
    pub index: usize,
    /// Its overrides.
    pub set: Vec<String>,
    /// Its numbers.
    pub numbers: PointNumbers,
    /// The base's numbers under the same overrides of loads.
    pub base: PointNumbers,
    /// How it compares with the base.
    pub label: Option<Label>,
    /// The 95% interval of its relative change in cost for later sessions, over what is assumed, too; of a single session, over that alone.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
    /// What that interval is over.
    #[serde(default)]
    pub interval_over: Sampled,
    /// The lowest and the highest of that change where everything that is assumed is wrong in one direction, if anything is.
    #[serde(default)]
    pub bound: Option<[f64; 2]>,
    /// By number of what is remembered: the 95% interval of how much more it has than the base, trial by trial.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub more: IndexMap<String, [f64; 2]>,
}

impl SweepPoint {
    /// Returns whether it does all the work, or as much as the base.
    fn does_all_or_base_work(&self) -> bool {
        self.numbers.completed_all_turns() || self.numbers.get(COMPLETED) == self.base.get(COMPLETED)
    }

    /// Returns whether it and the base do the same work; two memories of the same sessions make requests of their own.
    fn does_same_work_as_base(&self) -> bool {
        let are_complete = self.numbers.completed_all_turns() && self.base.completed_all_turns();
        are_complete || self.numbers.get(COMPLETED) == self.base.get(COMPLETED)
    }

    /// Names the interval of its change in cost.
    fn cost_change_interval_text(&self) -> Option<String> {
        self.interval.map(|ends| self.interval_over.interval_text(&format!("{}%", interval(ends))))
    }

    /// Returns whether it is worth what it costs, against a base that does the same work. It costs less; or, where nothing says what is
    /// needed, it remembers more by at least the share by which it costs more. Where intervals are known, it does so at their
    /// unfavourable ends.
    fn is_worth_its_cost(&self, objectives: &[Objective]) -> bool {
        let is_dear = matches!(self.label, Some(Label::Loses | Label::Same));
        let known = |of: Objective| of.value_at_point(&self.numbers).zip(of.value_at_point(&self.base));
        let cost = known(Objective::Cost).filter(|it| it.1 > 0.0).map(|(own, base)| own / base);
        let cost = cost.filter(|_| self.label.is_none() && self.does_same_work_as_base());
        let Some(cost) = cost else { return !is_dear };
        let cost = self.interval.map_or(cost, |it| 1.0 + it[1]);
        let asks_cost = objectives.contains(&Objective::Cost);
        if asks_cost && cost < 1.0 {
            return true;
        }
        let of_memory = |it: &&Objective| matches!(it, Objective::Retention | Objective::Found(_));
        let mut gains = objectives.iter().filter(of_memory).filter_map(|objective| {
            let (own, base) = known(*objective)?;
            let ends = objective.metric_path(&self.numbers).and_then(|it| self.more.get(it));
            let [one, other] = ends.map_or([own - base; 2], |it| *it).map(|it| -objective.badness(it));
            Some((one.min(other), base))
        });
        gains.any(|(gain, base)| gain > 0.0 && (!asks_cost || base > 0.0 && 1.0 + gain / base >= cost))
    }
}

/// The description of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepHead {
    /// The base.
    pub base: String,
    /// The policy that is varied.
    pub policy: String,
    /// The scenarios, as they were named.
    pub scenarios: Vec<String>,
    /// The profiles, as they were named.
    pub profiles: Vec<String>,
    /// Settings shared by all points: overrides, seed, trials.
    pub set: Vec<String>,
    /// The varied paths with their values.
    pub vary: Vec<(String, Vec<String>)>,
    /// The objectives.
    pub objectives: Vec<Objective>,
    /// What points on the front have to keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<PointGuard>,
    /// The number of points in the grid.
    pub points: usize,
}

/// A sweep of all points of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Its description.
    pub head: SweepHead,
    /// The points, in the order of the grid.
    pub points: Vec<SweepPoint>,
    /// The Pareto front by index, cheapest first.
    pub front: Vec<usize>,
    /// Of these, the point closest to the best value of every objective; `None` if no point that does the same work is worth what
    /// it costs against the base.
    pub knee: Option<usize>,
}

impl Sweep {
    /// Finds the front and the knee.
    pub fn new(head: SweepHead, mut points: Vec<SweepPoint>) -> Self {
        points.order_by_key(|it| it.index);
        let asked = |it: &&Objective| points.iter().any(|point| it.value_at_point(&point.numbers).is_some());
        let objectives: Vec<Objective> = head.objectives.iter().filter(asked).copied().listed();
        let mut known: Vec<(usize, Vec<f64>)> = Vec::new();
        for (nth, point) in points.iter().enumerate().filter(|it| it.1.does_all_or_base_work()) {
            // What is unknown keeps no bound.
            let keeps =
                |it: &PointGuard| it.of.value_at_point(&point.numbers).is_some_and(|value| it.allows(value));
            let is_allowed = head.guards.iter().all(keeps);
            let badness = objectives.iter().map(|it| Some(it.badness(it.value_at_point(&point.numbers)?)));
            let badness = badness.collect::<Option<Vec<f64>>>().filter(|_| is_allowed);
            known.extend(badness.map(|it| (nth, it)));
        }
        let front = pareto_front(&known);
        let pays = |it: &&(usize, Vec<f64>)| points[it.0].is_worth_its_cost(&objectives);
        let knee = knee_of_front(&front.iter().filter(pays).listed());
        Self { head, front: front.into_iter().map(|it| it.0).listed(), knee, points }
    }

    /// Draws what all points that do the work cost and keep, beside the base.
    pub fn frontier_chart(&self) -> Option<PageChart> {
        drawn::result_charts(self).frontier_chart()
    }
}

/// Returns whether one set of numbers dominates another; lower is better.
fn dominates(one: &[f64], other: &[f64]) -> bool {
    one != other && one.iter().zip(other).all(|(one, other)| one <= other)
}

/// Returns the points that no other dominates, those of equal numbers once; the first objective orders them.
fn pareto_front(points: &[(usize, Vec<f64>)]) -> Vec<(usize, Vec<f64>)> {
    let is_beaten = |own: &[f64]| points.iter().any(|(_, other)| dominates(other, own));
    let mut front = points.iter().filter(|it| !is_beaten(&it.1)).cloned().listed();
    front.order_by(|a, b| {
        a.1.iter().zip(&b.1).map(|(a, b)| a.total_cmp(b)).find(|it| it.is_ne()).unwrap_or(a.0.cmp(&b.0))
    });
    front.dedup_by(|a, b| a.1 == b.1);
    front
}

/// Returns the point of a front that is closest to the best value of every objective; no point dominates it.
pub(super) fn knee_of_points(points: &[(usize, Vec<f64>)]) -> Option<usize> {
    knee_of_front(&pareto_front(points).iter().listed())
}

/// Returns the point closest to the best value of every objective, each scaled from best to worst among these points, or by that value, if
/// they all lie close to it: a front that is narrow in one objective does not pay much for it in another.
fn knee_of_front(front: &[&(usize, Vec<f64>)]) -> Option<usize> {
    let n = front.first()?.1.len();
    let ends = |at: usize| {
        let all = || front.iter().map(|it| it.1[at]);
        [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)]
    };
    let ends: Vec<[f64; 2]> = (0..n).map(ends).listed();
    let distance = |numbers: &[f64]| -> f64 {
        let parts = numbers.iter().zip(&ends).map(|(number, [low, high])| {
            let scale = (high - low).max(low.abs());
            if scale > 0.0 { (number - low) / scale } else { 0.0 }
        });
        parts.map(|it| it * it).sum()
    };
    front.iter().min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1))).map(|it| it.0)
}

/// Returns overrides by the last steps of their paths.
pub fn short_overrides(overrides: &[String]) -> String {
    let one = |text: &String| {
        let (path, value) = text.split_once('=').unwrap_or((text, ""));
        let path = path.split_once("params.").map_or(path, |it| it.1);
        format!("{path}={value}")
    };
    overrides.iter().map(one).listed().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(index: usize, cost: f64, kept_share: f64) -> SweepPoint {
        let numbers = numbers(&[(COST, cost), ("evidence_kept", kept_share), (COMPLETED, 3.0)]);
        SweepPoint { index, numbers, base: self::numbers(&[(COMPLETED, 3.0)]), ..SweepPoint::default() }
    }

    fn numbers(all: &[(&str, f64)]) -> PointNumbers {
        PointNumbers(all.iter().map(|(place, number)| ((*place).to_owned(), Some(*number))).collect())
    }

    fn head(objectives: &[Objective]) -> SweepHead {
        SweepHead { objectives: objectives.to_vec(), ..SweepHead::default() }
    }

    #[test]
    fn the_front_has_what_no_point_beats_and_the_knee_is_its_best_bargain() {
        let head = head(&[Objective::Cost, Objective::Evidence, Objective::Retention]);
        let points = [(10.0, 1.0), (5.0, 0.95), (4.0, 0.5), (6.0, 0.9), (5.0, 0.95)].iter().enumerate();
        let mut points = points.map(|(nth, it)| point(nth, it.0, it.1)).listed();
        let mut stopped = point(5, 0.1, 1.0);
        stopped.numbers.0.insert(COMPLETED.to_owned(), Some(1.0));
        points.push(stopped);

        let sweep = Sweep::new(head, points);

        assert_eq!(sweep.front, [2, 1, 0], "cheapest first, equal ones once, none that stopped");
        assert_eq!(sweep.knee, Some(1));

        let losing = |it: &SweepPoint| SweepPoint { label: Some(Label::Loses), ..it.clone() };
        let sweep = Sweep::new(sweep.head, sweep.points.iter().map(losing).collect());
        assert_eq!((sweep.front.len(), sweep.knee), (3, None), "nobody is sent to a point that does not pay");
    }

    /// Four windows over a memory that finds all but the same facts, as `context_decay/file_backed` does.
    #[test]
    fn a_knee_counts_what_it_costs() {
        let remembering = |index: usize, cost: f64, facts: f64, base: [f64; 2]| {
            let numbers = |[cost, facts]: [f64; 2]| {
                let known = [(COST, cost), ("retention.accuracy.mean", facts)];
                numbers(&[&known[..], &[(COMPLETED, 3.0), (REQUESTED, 3.0)]].concat())
            };
            let (numbers, base) = (numbers([cost, facts]), numbers(base));
            SweepPoint { index, numbers, base, ..SweepPoint::default() }
        };
        let knee = |points: &[[f64; 2]], base: [f64; 2]| {
            let all = points.iter().enumerate();
            let points = all.map(|(nth, it)| remembering(nth, it[0], it[1], base)).collect();
            Sweep::new(head(&[Objective::Cost, Objective::Retention]), points).knee
        };
        let windows = [[36.85, 0.875], [47.26, 0.876], [78.17, 0.879], [128.38, 0.882]];

        assert_eq!(knee(&windows, windows[1]), Some(0));
        assert_eq!(knee(&windows[1..], windows[1]), None, "+65% and +172% for less than a point");
        assert_eq!(knee(&windows[2..], [60.0, 0.5]), Some(0), "+30% for three quarters more");
    }
}
