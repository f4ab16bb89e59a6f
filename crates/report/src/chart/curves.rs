//! Shares of planted facts found, as a line for each policy, with the bounds that hold its mean with 95% confidence.

use super::prelude::*;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Curve, CurvePlaces, Curves};

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "a load that plants facts";
/// What a run must have for a chart by session.
pub(super) const NEEDS_AGING: &str = "a load of many sessions";
/// The least room for the name of a place.
const LABEL: f64 = 26.0;
/// How high the frame is.
const HEIGHT: f64 = 230.0;

/// Shares of facts found, from 0 to 1, as lines over places.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecallChart {
    /// What the places are.
    pub axis: CurvePlaces,
    /// What it shows.
    pub title: String,
    /// Of what, and under which profile.
    pub subject: String,
    /// The places, in order.
    pub places: Vec<String>,
    pub lines: Vec<CurveLine>,
}

/// A policy, and a number for each place that has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveLine {
    pub policy: PolicyLabel,
    /// Its name, with whether it stopped.
    pub name: String,
    /// Whether it is another definition of what a line shows, to stand beside it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_beside: bool,
    pub numbers: Vec<Option<Statistic>>,
}

/// Returns the charts by depth.
pub fn recall_by_depth(source: &ChartData<'_>) -> Vec<RecallChart> {
    recall_charts_over(source, CurvePlaces::Depth)
}

/// Returns the charts by length.
pub fn recall_by_length(source: &ChartData<'_>) -> Vec<RecallChart> {
    recall_charts_over(source, CurvePlaces::Length)
}

/// Returns the curves of what worlds found, over places of some kind.
pub(super) fn recall_charts_over(source: &ChartData<'_>, axis: CurvePlaces) -> Vec<RecallChart> {
    let runs: Vec<&Run> = source.report.runs.iter().listed();
    let all = ctxsim_worlds::findings().flat_map(|it| (it.curves)(&runs));
    let shown = all.filter(|it| it.axis == axis && !it.places.is_empty());
    let mut drawn: Vec<(RecallChart, Vec<String>)> = Vec::new();
    for one in shown.map(|it| RecallChart::new(it, &source.names)) {
        // What prices do not move is drawn once for all of them.
        match drawn.iter_mut().find(|(it, _)| it.has_same_lines(&one)) {
            Some((_, subjects)) => subjects.push(one.subject),
            None => drawn.push((one.clone(), vec![one.subject])),
        }
    }
    drawn.into_iter().map(|(it, subjects)| RecallChart { subject: join_subjects(&subjects), ..it }).listed()
}

/// Names several subjects in one; what they begin with is said once.
fn join_subjects(subjects: &[String]) -> String {
    let (first, more) = (&subjects[0], &subjects[1..]);
    let Some((load, _)) = first.split_once(UNDER) else { return subjects.join(", ") };
    let front = format!("{load}{UNDER}");
    match more.iter().map(|it| it.strip_prefix(&front)).collect::<Option<Vec<_>>>() {
        Some(profiles) if !profiles.is_empty() => format!("{first} and {}", profiles.join(" and ")),
        _ => subjects.join(", "),
    }
}

/// What stands between a load and its profile.
const UNDER: &str = " under ";

/// Returns what places are, and what the numbers over them are.
fn axis_names(places: CurvePlaces) -> [&'static str; 2] {
    let found = "share of facts found";
    match places {
        CurvePlaces::Depth => ["depth of the fact; an empty quarter counts as 0, as published", found],
        CurvePlaces::Length => ["messages of the conversation", found],
        CurvePlaces::Session => ["session", "score"],
    }
}

impl RecallChart {
    /// Makes a chart of curves.
    fn new(curves: Curves, names: &PolicyLabels) -> Self {
        let Curves { axis, title, subject, places, curves } = curves;
        let line = |curve: Curve| CurveLine {
            policy: names.label_of(&curve.policy),
            name: curve.name,
            is_beside: curve.is_beside,
            numbers: curve.numbers,
        };
        Self { axis, title, subject, places, lines: curves.into_iter().map(line).listed() }
    }

    /// Returns whether another chart shows the same lines on the same load.
    fn has_same_lines(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|it| it.subject.split(UNDER).next());
        own == others && self.title == other.title && self.places == other.places && self.lines == other.lines
    }

    /// Draws a line with its points; where there are few lines, over the band of its bounds.
    fn draw_line(&self, scene: &mut Scene, curve: &CurveLine, place_x: impl Fn(usize) -> f64, up: &Axis) {
        let nth = curve.policy.nth;
        let known = curve.known_numbers().map(|(at, it)| ([place_x(at), up.position_of(it.mean)], at, it));
        let known: Vec<([f64; 2], usize, Statistic)> = known.listed();
        let stroke = legend::policy_line(nth, line_path(known.iter().map(|it| it.0)));
        scene.draw(if curve.is_beside { SvgPath { dash: Some("2 4".to_owned()), ..stroke } } else { stroke });
        let is_banded = self.lines.len() <= MOST_BANDS;
        for (at, place, number) in known {
            let bounds = number.ci95.filter(|_| is_banded && !curve.is_beside).map(|[low, high]| {
                let bounds = [low.max(0.0), high.min(1.0)].map(|it| [at[0], up.position_of(it)]);
                let band = SvgPath::stroked(line_path(bounds), ink::policy_ink(nth), 5.0);
                SvgPath { opacity: Some(0.3), ..band }
            });
            let (name, written) = (&curve.name, format_statistic(&number));
            let label = format!("{name}, {}: {written}", self.places[place]);
            let dot = if curve.is_beside {
                SvgPath::filled(policy_shape_path(0, at, 2.0), ink::policy_ink(nth))
            } else {
                legend::policy_point(nth, at, 3.5)
            };
            let marks = bounds.into_iter().chain([dot]).listed();
            scene.add_row_link(vec![curve.policy.name.clone(), name.clone()], label, marks);
        }
    }

    /// Writes the lines' names beside their ends, lines of the same end in one, none over another.
    fn draw_line_names(&self, scene: &mut Scene, x: f64, up: &Axis, [top, bottom]: [f64; 2]) {
        let ends = self.lines.iter().filter(|it| !it.is_beside);
        let ends = ends.filter_map(|it| Some((up.position_of(it.known_numbers().last()?.1.mean), it)));
        let mut ends: Vec<(f64, &CurveLine)> = ends.listed();
        ends.order_by(|one, other| one.0.total_cmp(&other.0));
        let names = ends.iter().map(|(_, it)| it.name.replacen(&it.policy.name, &it.policy.label, 1));
        let names = shorten_names(&names.listed(), WIDTH - x - 21.0);
        let n = ends.len() as f64;
        let pitch = ((bottom - top) / n.max(1.0)).min(LINE - 2.0);
        let mut last = top - pitch;
        for ((nth, (y, it)), name) in ends.into_iter().enumerate().zip(names) {
            let most = bottom - pitch * (n - nth as f64 - 1.0);
            let at = y.max(last + pitch).min(most);
            last = at;
            // A line that ends before the last place has its name beside it, and nothing that leads there.
            if it.numbers.last().is_some_and(Option::is_some) {
                let lead = line_path([[x + 2.0, y], [x + 9.0, at]]);
                scene.draw(SvgPath::stroked(lead, ink::policy_ink(it.policy.nth), 1.0));
            }
            scene.draw(legend::policy_point(it.policy.nth, [x + 14.0, at], 3.5));
            scene.add(SceneText::new(x + 21.0, at + 4.5, name));
        }
    }
}

/// Of more lines, bounds would lie over one another; the numbers have them.
const MOST_BANDS: usize = 4;
/// How much room names beside lines take.
const NAMES: f64 = 138.0;

impl CurveLine {
    /// Returns its numbers with their places, where there are any.
    fn known_numbers(&self) -> impl Iterator<Item = (usize, Statistic)> + '_ {
        self.numbers.iter().enumerate().filter_map(|(at, it)| Some((at, (*it)?)))
    }
}

/// Writes a number with what it is sure to.
fn format_statistic(number: &Statistic) -> String {
    format!("{:.3}{}", number.mean, or_nothing(number.reach(), |it| format!(" ± {it:.3}")))
}

impl Picture for RecallChart {
    fn title_and_subject(&self) -> [String; 2] {
        [self.title.clone(), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let ends = |curve: &CurveLine| {
            let name = &curve.name;
            let known = curve.known_numbers().map(|(at, it)| (&self.places[at], it.mean)).listed();
            match known.as_slice() {
                [] => format!("{name} has none"),
                [(from, first)] => format!("{name} {first:.3} at {from}"),
                [(from, first), .., (to, last)] => format!("{name} {first:.3} at {from}, {last:.3} at {to}"),
            }
        };
        let said: Vec<String> = self.lines.iter().map(ends).listed();
        let [_, number] = axis_names(self.axis);
        format!("{}: {}.", capitalise(number), said.join("; "))
    }

    fn numbers_grid(&self) -> Grid {
        let columns = ["policy"].into_iter().chain(self.places.iter().map(String::as_str)).listed();
        let rows = self.lines.iter().map(|curve| {
            let numbers = curve.numbers.iter().map(|it| or_none(it.as_ref(), format_statistic));
            [curve.name.clone()].into_iter().chain(numbers).listed()
        });
        Grid::new("", 1, &columns, rows)
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let (top, left, right) = (36.0, 40.0, WIDTH - NAMES);
        let bottom = top + HEIGHT;
        let up = Axis::rounded(0.0, 1.0, [bottom, top], 5.0);
        let bounds = if self.lines.len() <= MOST_BANDS { " (shaded: 95%)" } else { "" };
        let [places, number] = axis_names(self.axis);
        let written = |share| format!("{share:.1}");
        up.draw_left_of_frame(&mut scene, [left, right], &format!("{number}{bounds}"), written);
        let pitch = (right - left) / self.places.len().max(1) as f64;
        let middle = |at: usize| left + (at as f64 + 0.5) * pitch;
        let mut foot = bottom;
        // Where places lie close together, not each has room for its name.
        let every = (LABEL / pitch).ceil().max(1.0) as usize;
        let room = pitch * every as f64 - 4.0;
        for (at, name) in self.places.iter().enumerate().step_by(every) {
            // What does not fit is parted at its last space.
            let parted = name.rsplit_once(' ').filter(|_| text_width(name) > room);
            for (nth, part) in parted.map_or(vec![&**name], |it| vec![it.0, it.1]).into_iter().enumerate() {
                let y = bottom + 15.0 + LINE * nth as f64;
                let name = SceneText::new(middle(at), y, shorten_middle(part, room));
                scene.add(name.with_anchor(Anchor::Middle).faint());
                foot = y.max(foot);
            }
        }
        scene.add(SceneText::new(WIDTH / 2.0, foot + LINE, places).with_anchor(Anchor::Middle));
        self.lines.iter().for_each(|it| self.draw_line(&mut scene, it, middle, &up));
        self.draw_line_names(&mut scene, middle(self.places.len().saturating_sub(1)), &up, [top, bottom]);
        let foot = self.lines.iter().find(|line| line.is_beside).map_or(foot, |curve| {
            let words = curve.name.split_once(": ").map_or(curve.name.as_str(), |it| it.1);
            let words = shorten_end(&format!("dotted: {words}"), WIDTH - left);
            scene.add(SceneText::new(left, foot + 2.0 * LINE, words).faint());
            foot + LINE
        });
        scene.height = foot + LINE + 29.0;
        scene
    }
}
