//! How likely answers are under values of use, write and read: the best values, and those that are hardly worse.

use std::collections::BTreeMap;

use super::expected::ExpectedShares;
use super::table::ProbeQuestion;
use ctxsim_engine::measure::student;

/// Values of use, write and read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UsePoint(pub(super) [f64; 3]);

impl UsePoint {
    /// What each can be.
    pub(super) const RANGES: [[f64; 2]; 3] = [[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]];
}

/// No answer is impossible: nothing is less likely than this.
const LEAST: f64 = 1e-4;
/// The values of an axis that are looked at.
const GRID: usize = 100;
/// The values that a search begins with.
const COARSE: usize = 10;
/// The rounds of a search, each with half the steps of the one before.
const ROUNDS: usize = 9;
/// What twice the logarithm of the likelihood may fall by, for 95%.
const FALL: f64 = 3.841;
/// The normal quantile at 97.5%.
const NORMAL: f64 = 1.96;
/// The step of a slope, as a share of what a number can be.
const STEP: f64 = 0.05;

/// Answers that share a fact, session and lag, counted.
struct AnswerCount {
    session: u32,
    lag: u32,
    held: Option<bool>,
    is_right: bool,
    n: f64,
}

/// Answers, counted.
pub(super) struct Likelihood<'a> {
    expected: &'a ExpectedShares,
    /// All of them.
    lines: Vec<AnswerCount>,
    facts: Vec<Vec<AnswerCount>>,
}

impl<'a> Likelihood<'a> {
    /// Counts answers.
    pub(super) fn new(expected: &'a ExpectedShares, probes: &[ProbeQuestion]) -> Self {
        let mut of_facts: BTreeMap<&str, Vec<&ProbeQuestion>> = BTreeMap::new();
        for probe in probes {
            of_facts.entry(&probe.fact).or_default().push(probe);
        }
        let facts = of_facts.values().map(|it| counted(it.iter().copied())).collect();
        Self { expected, lines: counted(probes.iter()), facts }
    }

    /// Returns the logarithm of the likelihood of some answers.
    fn log(&self, lines: &[AnswerCount], point: &UsePoint) -> f64 {
        let of = |line: &AnswerCount| {
            let cell = self.expected.at(line.session, line.lag, point);
            let uses = point.0[0];
            let p = match line.held {
                None => uses * cell.seen,
                Some(false) => 0.0,
                Some(true) => uses * cell.seen / cell.held.max(LEAST),
            };
            let of_held = match line.held {
                None => 0.0,
                Some(true) => log(cell.held),
                Some(false) => log(1.0 - cell.held),
            };
            line.n * (of_held + if line.is_right { log(p) } else { log(1.0 - p) })
        };
        lines.iter().map(of).sum()
    }

    fn all(&self, point: &UsePoint) -> f64 {
        self.log(&self.lines, point)
    }

    /// Returns the axes that are fitted.
    fn axes([write, read]: [bool; 2]) -> Vec<usize> {
        [(0, true), (1, write), (2, read)].into_iter().filter(|it| it.1).map(|place| place.0).collect()
    }

    /// Returns the most likely values.
    pub(super) fn best(&self, has: [bool; 2]) -> UsePoint {
        self.climbed(&Self::axes(has), &UsePoint([0.9, 0.7, 1.0]))
    }

    /// Searches some axes: the best of coarse values together, then ever smaller steps along each.
    fn climbed(&self, axes: &[usize], from: &UsePoint) -> UsePoint {
        let mut best = (self.all(from), *from);
        let n = (0..axes.len()).fold(1, |n, _| n * (COARSE + 1));
        for at in 0..n {
            let (mut point, mut rest) = (*from, at);
            for axis in axes {
                let [low, high] = UsePoint::RANGES[*axis];
                point.0[*axis] = low + (high - low) * (rest % (COARSE + 1)) as f64 / COARSE as f64;
                rest /= COARSE + 1;
            }
            best = better(best, (self.all(&point), point));
        }
        self.refined(axes, best.1)
    }

    /// Goes on from a point with ever smaller steps along each axis.
    fn refined(&self, axes: &[usize], from: UsePoint) -> UsePoint {
        let mut best = (self.all(&from), from);
        let mut step = 1.0 / COARSE as f64;
        for _ in 0..ROUNDS {
            for _ in 0..2 {
                for axis in axes {
                    let [low, high] = UsePoint::RANGES[*axis];
                    for side in [-1.0, 1.0] {
                        let mut point = best.1;
                        point.0[*axis] = (point.0[*axis] + side * step * (high - low)).clamp(low, high);
                        best = better(best, (self.all(&point), point));
                    }
                }
            }
            step /= 2.0;
        }
        best.1
    }

    /// Returns by how much answers about one fact are alike where an axis is concerned: the spread of the slopes of facts against
    /// the curvature of all, and more for few facts.
    pub(super) fn alike(&self, best: &UsePoint, axis: usize) -> f64 {
        let n_facts = self.facts.len() as u64;
        let few = (student(n_facts.saturating_sub(1).max(1)) / NORMAL).powi(2);
        self.alike_along(best, axis).unwrap_or(1.0).max(1.0) * few
    }

    /// Compares the squares of the slopes of facts with those of answers. Slopes reach over a step, because between values that were
    /// played the likelihood is made of straight pieces.
    fn alike_along(&self, best: &UsePoint, axis: usize) -> Option<f64> {
        let [low, high] = UsePoint::RANGES[axis];
        let step = STEP * (high - low);
        let moved = |by: f64| {
            let mut point = *best;
            // Where the best value is at an end, the slopes are taken a step inside.
            point.0[axis] = point.0[axis].clamp(low + step, high - step) + by * step;
            point
        };
        let [below, above] = [-1.0, 1.0].map(moved);
        let slope = |lines: &[AnswerCount]| self.log(lines, &above) - self.log(lines, &below);
        let of_answers = |it: &AnswerCount| slope(std::slice::from_ref(it)).powi(2) / it.n;
        let answers: f64 = self.facts.iter().flatten().map(of_answers).sum();
        let slopes: Vec<f64> = self.facts.iter().map(|it| slope(it)).collect();
        let n = slopes.len() as f64;
        let facts = slopes.iter().map(|it| it.powi(2)).sum::<f64>() * n / (n - 1.0).max(1.0);
        Some(facts / answers).filter(|it| it.is_finite())
    }

    /// Returns the values of an axis under which answers are hardly less likely, whatever the others are.
    pub(super) fn interval(&self, best: UsePoint, axis: usize, has: [bool; 2], alike: f64) -> [f64; 2] {
        let others: Vec<usize> = Self::axes(has).into_iter().filter(|it| *it != axis).collect();
        let most = self.all(&best);
        let [low, high] = UsePoint::RANGES[axis];
        let step = (high - low) / GRID as f64;
        let reached = |side: f64| {
            let (mut from, mut end) = (best, best.0[axis]);
            loop {
                let next = (end + side * step).clamp(low, high);
                if next == end {
                    return end;
                }
                from.0[axis] = next;
                from = self.refined(&others, from);
                if 2.0 * (most - self.all(&from)) > FALL * alike {
                    return next;
                }
                end = next;
            }
        };
        [reached(-1.0), reached(1.0)]
    }
}

fn log(p: f64) -> f64 {
    p.clamp(LEAST, 1.0 - LEAST).ln()
}

fn better(one: (f64, UsePoint), other: (f64, UsePoint)) -> (f64, UsePoint) {
    if other.0 > one.0 { other } else { one }
}

/// Counts answers that are alike.
fn counted<'p>(probes: impl Iterator<Item = &'p ProbeQuestion>) -> Vec<AnswerCount> {
    let mut counts: BTreeMap<(u32, u32, Option<bool>, bool), f64> = BTreeMap::new();
    for it in probes {
        *counts.entry((it.session, it.lag, it.held, it.is_right)).or_default() += 1.0;
    }
    let line = |((session, lag, held, is_right), n)| AnswerCount { session, lag, held, is_right, n };
    counts.into_iter().map(line).collect()
}
