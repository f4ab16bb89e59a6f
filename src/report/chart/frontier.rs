//! What each policy costs against what it keeps of needed evidence, and which policies no other beats in both.

use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend::{self, Sample, name_beside};
use super::names::Policy;
use super::scene::{Path, Scene, WIDTH, line};
use super::{Picture, Source};
use crate::grid::Grid;
use crate::grid::numbers;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "two policies with known cost and known kept evidence";
/// How high the frame is.
const HEIGHT: f64 = 240.0;
/// Points nearer than this are one to the eye.
const NEAR: f64 = 4.0;

/// The policies of a table by cost and evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frontier {
    /// Of what, and under which profile.
    pub subject: String,
    /// The policies whose cost and evidence are known.
    pub points: Vec<Point>,
    /// The policies that stopped early, or whose cost or evidence is unknown.
    pub left_out: Vec<String>,
}

/// A policy by cost and evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The policy.
    pub policy: Policy,
    /// What it costs, in US dollars.
    pub usd: f64,
    /// The same at either end of what is assumed of recovery.
    pub usd_interval: Option<[f64; 2]>,
    /// The share of needed evidence that it keeps.
    pub kept: f64,
    /// Whether no other policy costs less and keeps as much, or keeps more and costs as much; one that looks ahead neither is
    /// nor hinders.
    pub is_efficient: bool,
}

/// Returns a chart for each table with two such policies at least.
pub fn all(source: &Source<'_>) -> Vec<Frontier> {
    let of_section = source.sections.iter().map(|section| {
        let mut left_out = Vec::new();
        let mut points = Vec::new();
        for line in &section.lines {
            let policy = source.names.of(&line.policy);
            let numbers = line.tally.costs.total().zip(line.tally.evidence_kept());
            match numbers.filter(|_| line.stopped.is_none()) {
                Some((usd, kept)) => {
                    let usd_interval = line.tally.cost_interval();
                    points.push(Point { policy, usd, usd_interval, kept, is_efficient: false });
                }
                None => left_out.push(policy.name),
            }
        }
        Frontier::new(section.subject(), points, left_out)
    });
    of_section.filter(|it| it.points.len() > 1).collect()
}

/// Marks the points that no other beats.
fn mark_efficient(points: &mut [Point]) {
    let real: Vec<(f64, f64)> =
        points.iter().filter(|it| !it.policy.looks_ahead).map(|it| (it.usd, it.kept)).collect();
    for point in points.iter_mut().filter(|it| !it.policy.looks_ahead) {
        point.is_efficient = !real.iter().any(|(usd, kept)| {
            *usd <= point.usd && *kept >= point.kept && (*usd < point.usd || *kept > point.kept)
        });
    }
}

impl Frontier {
    /// Finds the points that no other beats.
    pub fn new(subject: String, mut points: Vec<Point>, left_out: Vec<String>) -> Self {
        mark_efficient(&mut points);
        Self { subject, points, left_out }
    }

    /// Returns the number of decimals its amounts have.
    fn decimals(&self) -> usize {
        numbers::decimals(self.points.iter().map(|it| it.usd).fold(0.0, f64::max))
    }

    /// Returns the efficient points, the cheapest first.
    fn efficient(&self) -> Vec<&Point> {
        let mut points: Vec<&Point> = self.points.iter().filter(|it| it.is_efficient).collect();
        points.sort_by(|one, other| one.usd.total_cmp(&other.usd));
        points
    }

    /// Draws the line through the efficient points, what can be had for each cost, and returns its corners.
    fn draw_frontier(&self, scene: &mut Scene, across: &Axis, up: &Axis, right: f64) -> Vec<[f64; 2]> {
        let mut corners: Vec<[f64; 2]> = Vec::new();
        for point in self.efficient() {
            let at = [across.at(point.usd), up.at(point.kept)];
            corners.extend(corners.last().map(|it| [at[0], it[1]]));
            corners.push(at);
        }
        corners.extend(corners.last().map(|it| [right, it[1]]));
        scene.add(Path::drawn(line(corners.clone()), ink::FAINT, 1.5).dashed(Some("5 4".to_owned())));
        corners
    }

    /// Writes names beside the efficient points and the first; points in one place share a name.
    fn draw_names(
        &self,
        scene: &mut Scene,
        places: &[[f64; 2]],
        mut taken: Vec<legend::Area>,
        frame: legend::Area,
    ) {
        let is_near = |one: [f64; 2], other: [f64; 2]| {
            (one[0] - other[0]).abs() < NEAR && (one[1] - other[1]).abs() < NEAR
        };
        let mut named: Vec<[f64; 2]> = Vec::new();
        for (nth, point) in self.points.iter().enumerate() {
            let at = places[nth];
            if (nth > 0 && !point.is_efficient) || named.iter().any(|it| is_near(*it, at)) {
                continue;
            }
            let more = places.iter().filter(|it| is_near(**it, at)).count() - 1;
            let more = if more == 0 { String::new() } else { format!(" +{more}") };
            name_beside(scene, &mut taken, frame, at, &format!("{}{more}", point.policy.label));
            named.push(at);
        }
    }
}

impl Picture for Frontier {
    fn title(&self) -> String {
        "Cost against evidence kept".to_owned()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let decimals = self.decimals();
        let said = |it: &&Point| {
            let usd = numbers::fixed(it.usd, decimals);
            format!("{} (${usd}, {} kept)", it.policy.label, numbers::percent(it.kept))
        };
        let efficient: Vec<String> = self.efficient().iter().map(said).collect();
        let mut words = format!(
            "{} policies; no other is cheaper and keeps as much evidence as {}.",
            self.points.len(),
            efficient.join(", ")
        );
        if let Some(ahead) = self.points.iter().find(|it| it.policy.looks_ahead) {
            words.push_str(&format!(" {} knows later needs and is not compared.", said(&ahead)));
        }
        if !self.left_out.is_empty() {
            words.push_str(&format!(
                " Excluded because they stopped early or a number is unknown: {}.",
                self.left_out.join(", ")
            ));
        }
        words
    }

    fn table(&self) -> Grid {
        let decimals = self.decimals();
        let rows = self.points.iter().map(|it| {
            let ends = it.usd_interval.map(|ends| ends.map(Some)).unwrap_or_default();
            let [low, high] = ends.map(|it| numbers::fixed_or_none(it, decimals));
            vec![
                it.policy.label.clone(),
                numbers::fixed(it.usd, decimals),
                low,
                high,
                numbers::percent(it.kept),
                if it.is_efficient { "yes" } else { "no" }.to_owned(),
            ]
        });
        Grid::new("", 1, &["policy", "cost USD", "from", "to", "evidence kept", "efficient"], rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let entries = self.points.iter().map(|it| match &it.policy {
            policy if policy.looks_ahead => {
                (Sample::Ring(policy.nth), format!("{} (not compared)", policy.label))
            }
            policy => (Sample::Shape(policy.nth), policy.label.clone()),
        });
        let top = legend::legend(&mut scene, entries) + 34.0;
        let (bottom, left, right) = (top + HEIGHT, 52.0, WIDTH - 20.0);
        let ends = self
            .points
            .iter()
            .flat_map(|it| it.usd_interval.unwrap_or([it.usd; 2]).into_iter().chain([it.usd]));
        let (low, high) = ends.fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let lowest = self.points.iter().map(|it| it.kept).fold(1.0, f64::min);
        let across = Axis::of_points(low, high, [left, right], 5.0);
        let up = Axis::of_points(lowest, 1.0, [bottom, top], 5.0);
        across.below(&mut scene, [top, bottom], "cost in US dollars", |it| across.written(it));
        up.beside(&mut scene, [left, right], "needed evidence kept", |it| format!("{:.0}%", it * 100.0));
        let corners = self.draw_frontier(&mut scene, &across, &up, right);
        let places: Vec<[f64; 2]> =
            self.points.iter().map(|it| [across.at(it.usd), up.at(it.kept)]).collect();
        let reaches: Vec<[[f64; 2]; 2]> = self
            .points
            .iter()
            .zip(&places)
            .map(|(it, [_, y])| it.usd_interval.unwrap_or([it.usd; 2]).map(|it| [across.at(it), *y]))
            .collect();
        // Names lie over no point, no interval and no part of the line.
        let lines = reaches.iter().copied().chain(corners.windows(2).map(|it| [it[0], it[1]]));
        let points = places.iter().map(|[x, y]| [x - 6.0, y - 6.0, x + 6.0, y + 6.0]);
        let taken = points.chain(lines.map(legend::around)).collect();
        self.draw_names(&mut scene, &places, taken, [left, top - 8.0, WIDTH, bottom]);
        let decimals = self.decimals();
        for ((point, at), reach) in self.points.iter().zip(places).zip(reaches) {
            let (nth, usd) = (point.policy.nth, numbers::fixed(point.usd, decimals));
            let label = format!("{}: ${usd}, {} kept", point.policy.label, numbers::percent(point.kept));
            let mark =
                if point.policy.looks_ahead { legend::ring(nth, at) } else { legend::point(nth, at, 5.5) };
            let reach = Path::drawn(line(reach), ink::policy(nth), 1.5);
            scene.spot(label, true, vec![reach.into(), mark.into()]);
        }
        scene.height = bottom + 62.0;
        scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::scene::Mark;

    fn point(nth: usize, usd: f64, kept: f64, looks_ahead: bool) -> Point {
        let name = format!("policy_{nth}");
        let policy = Policy { label: name.clone(), name, nth, looks_ahead };
        Point { policy, usd, usd_interval: None, kept, is_efficient: false }
    }

    #[test]
    fn a_policy_is_efficient_where_no_other_is_as_good_in_both_and_better_in_one() {
        let mut points = [
            point(0, 1.0, 0.9, false),
            point(1, 1.0, 0.9, false),
            point(2, 1.0, 0.8, false),
            point(3, 0.5, 0.2, false),
            point(4, 2.0, 0.9, false),
            point(5, 0.1, 1.0, true),
        ];

        mark_efficient(&mut points);

        let efficient = points.map(|it| it.is_efficient);
        assert_eq!(efficient, [true, true, false, true, false, false], "who looks ahead is out of the race");
    }

    #[test]
    fn names_never_lie_over_one_another() {
        // Points on a spiral, so that some are far apart and some are not.
        let points = (0..40).map(|nth| {
            let (turn, reach) = (nth as f64 * 0.7, nth as f64 / 90.0);
            point(nth, 5.0 + 4.0 * reach * turn.cos(), 0.5 + reach * turn.sin(), false)
        });
        let mut points: Vec<Point> = points.collect();
        points.iter_mut().for_each(|it| it.is_efficient = true);
        let scene = Frontier { subject: String::new(), points, left_out: Vec::new() }.scene();

        let areas: Vec<_> = scene
            .marks
            .iter()
            .filter_map(|it| match it {
                Mark::Text(text) => Some(text.area()),
                Mark::Path(_) => None,
            })
            .collect();
        assert!(areas.len() > 40 + 12 + 5, "names beside points, {} in all", areas.len());
        for (nth, one) in areas.iter().enumerate() {
            assert!(areas[nth + 1..].iter().all(|it| !legend::meet(*one, *it)), "{:?}", scene.marks);
            assert!(one[0] >= 0.0 && one[2] <= WIDTH && one[3] <= scene.height, "{one:?}");
        }
    }
}
