//! Shares of planted facts found, as a line for each policy, with the bounds that hold its mean with 95% confidence.

use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend::{self, Sample};
use super::names::{Names, Policy};
use super::scene::{Anchor, LINE, Path, Scene, Text, WIDTH, fit, line, width};
use super::{Picture, Source};
use crate::grid::Grid;
use crate::grid::numbers::NONE;
use crate::measure::Statistic;
use crate::take::{Curve, Curves, Places, Run};
use crate::worlds;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "a load that plants facts";
/// What a run must have for a chart by session.
pub(super) const NEEDS_SESSIONS: &str = "a load of many sessions";
/// What a run must have for a chart by lag.
pub(super) const NEEDS_HISTORIES: &str = "a load of a project's sessions";
/// The least room for the name of a place.
const LABEL: f64 = 26.0;
/// How high the frame is.
const HEIGHT: f64 = 230.0;

/// Shares of facts found, from 0 to 1, as lines over places.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lines {
    /// What the places are.
    pub axis: Places,
    /// What it shows.
    pub title: String,
    /// Of what, and under which profile.
    pub subject: String,
    /// The places, in order.
    pub places: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A policy, and a number for each place that has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The policy.
    pub policy: Policy,
    /// Its name, with whether it stopped.
    pub name: String,
    /// Its numbers.
    pub numbers: Vec<Option<Statistic>>,
}

/// Returns the charts by depth.
pub fn by_depth(source: &Source<'_>) -> Vec<Lines> {
    all(source, Places::Depth)
}

/// Returns the charts by length.
pub fn by_length(source: &Source<'_>) -> Vec<Lines> {
    all(source, Places::Length)
}

/// Returns the charts of ageing memories, by session.
pub fn by_session(source: &Source<'_>) -> Vec<Lines> {
    all(source, Places::Session)
}

/// Returns the charts of histories, by lag.
pub fn by_lag(source: &Source<'_>) -> Vec<Lines> {
    all(source, Places::Lag)
}

/// Returns the curves of what worlds found, over places of some kind.
fn all(source: &Source<'_>, axis: Places) -> Vec<Lines> {
    let runs: Vec<&Run> = source.report.runs.iter().collect();
    let names = Names::new(source.report);
    let all = worlds::findings().flat_map(|it| (it.curves)(&runs));
    let shown = all.filter(|it| it.axis == axis && !it.places.is_empty());
    shown.map(|it| Lines::new(it, &names)).collect()
}

/// Returns the name of an axis.
fn axis_name(places: Places) -> &'static str {
    match places {
        Places::Depth => "depth of the fact; an empty quarter counts as 0, as published",
        Places::Length => "messages of the conversation",
        Places::Session => "session",
        Places::Lag => "sessions since the last fetch",
    }
}

/// Returns what the numbers over places are.
fn number_name(places: Places) -> &'static str {
    match places {
        Places::Depth | Places::Length => "share of facts found",
        Places::Session => "score",
        Places::Lag => "share",
    }
}

impl Lines {
    /// Makes a chart of curves.
    fn new(curves: Curves, names: &Names) -> Self {
        let Curves { axis, title, subject, places, curves } = curves;
        let line = |it: Curve| Line { policy: names.of(&it.policy), name: it.name, numbers: it.numbers };
        Self { axis, title, subject, places, lines: curves.into_iter().map(line).collect() }
    }

    /// Draws a line, its points and their bounds, a little beside the places, so that the bounds of all are seen.
    fn draw(&self, scene: &mut Scene, line_of: &Line, place: impl Fn(usize) -> f64, up: &Axis) {
        let nth = line_of.policy.nth;
        let known = line_of.numbers.iter().enumerate().filter_map(|(at, it)| Some((at, (*it)?)));
        let known: Vec<([f64; 2], usize, Statistic)> =
            known.map(|(at, it)| ([place(at), up.at(it.mean)], at, it)).collect();
        scene.add(legend::stroke(nth, line(known.iter().map(|it| it.0))));
        for (at, place, number) in known {
            let bounds = number.ci95.map(|[low, high]| {
                let d = line([[at[0], up.at(low.max(0.0))], [at[0], up.at(high.min(1.0))]]);
                Path::drawn(d, ink::policy(nth), 1.2).into()
            });
            let label = format!("{}, {}: {}", line_of.policy.label, self.places[place], said(Some(&number)));
            let marks = bounds.into_iter().chain([legend::point(nth, at, 4.0).into()]);
            scene.spot(label, true, marks.collect());
        }
    }
}

/// Parts words that do not fit at their last space.
fn in_two(words: &str, most: f64) -> Vec<&str> {
    match words.rsplit_once(' ') {
        Some((head, tail)) if width(words) > most => vec![head, tail],
        _ => vec![words],
    }
}

/// Writes a number with what it is sure to.
fn said(number: Option<&Statistic>) -> String {
    match number.map(|it| (it.mean, it.reach())) {
        Some((mean, Some(reach))) => format!("{mean:.3} ± {reach:.3}"),
        Some((mean, None)) => format!("{mean:.3}"),
        None => NONE.to_owned(),
    }
}

impl Picture for Lines {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let ends = |it: &Line| {
            let known =
                it.numbers.iter().zip(&self.places).filter_map(|(it, place)| Some((place, (*it)?.mean)));
            let known: Vec<(&String, f64)> = known.collect();
            match (known.first(), known.last()) {
                (Some((from, first)), Some((to, last))) if known.len() > 1 => {
                    format!("{} {first:.3} at {from}, {last:.3} at {to}", it.name)
                }
                (Some((from, first)), _) => format!("{} {first:.3} at {from}", it.name),
                _ => format!("{} has none", it.name),
            }
        };
        let said: Vec<String> = self.lines.iter().map(ends).collect();
        let number = number_name(self.axis);
        format!("{}{}: {}.", number[..1].to_uppercase(), &number[1..], said.join("; "))
    }

    fn table(&self) -> Grid {
        let columns: Vec<&str> =
            ["policy"].into_iter().chain(self.places.iter().map(String::as_str)).collect();
        let rows = self.lines.iter().map(|it| {
            [it.name.clone()]
                .into_iter()
                .chain(it.numbers.iter().map(|it| said(it.as_ref())))
                .collect::<Vec<_>>()
        });
        Grid::new("", 1, &columns, rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let entries = self.lines.iter().map(|it| (Sample::Line(it.policy.nth), it.name.clone()));
        let top = legend::legend(&mut scene, entries) + 34.0;
        let (left, right, bottom) = (52.0, WIDTH - 12.0, top + HEIGHT);
        let up = Axis::new(0.0, 1.0, [bottom, top], 5.0);
        up.beside(&mut scene, [left, right], &format!("{} (bars: 95%)", number_name(self.axis)), |it| {
            format!("{it:.1}")
        });
        let pitch = (right - left) / self.places.len().max(1) as f64;
        let middle = |at: usize| left + (at as f64 + 0.5) * pitch;
        let mut foot = bottom;
        // Where places lie close together, not each has room for its name.
        let every = (LABEL / pitch).ceil().max(1.0) as usize;
        let pitch_of_names = pitch * every as f64;
        for (at, name) in self.places.iter().enumerate().step_by(every) {
            for (nth, part) in in_two(name, pitch_of_names - 4.0).into_iter().enumerate() {
                let y = bottom + 15.0 + LINE * nth as f64;
                scene.add(
                    Text::new(middle(at), y, fit(part, pitch_of_names - 4.0))
                        .anchored(Anchor::Middle)
                        .faint(),
                );
                foot = y.max(foot);
            }
        }
        let across = Text::new((left + right) / 2.0, foot + LINE, axis_name(self.axis));
        scene.add(across.anchored(Anchor::Middle));
        let n_lines = self.lines.len() as f64;
        let step = (pitch * 0.6 / n_lines.max(1.0)).min(5.0);
        for (nth, it) in self.lines.iter().enumerate() {
            let shift = (nth as f64 - (n_lines - 1.0) / 2.0) * step;
            self.draw(&mut scene, it, |at| middle(at) + shift, &up);
        }
        scene.height = foot + LINE + 29.0;
        scene
    }
}
