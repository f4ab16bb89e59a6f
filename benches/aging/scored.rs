//! How many of the held-out figures of ageing are met, counted so that a hit means something, and what random numbers and constants score.

use std::collections::BTreeMap;

use ctxsim::catalog::Catalog;
use ctxsim::input::suite::{Figure, FigureKind};
use ctxsim::rng::Seed;
use ctxsim::worlds::aging::AgingNumbers;
use serde::Deserialize;

use super::played::{AgingRuns, Ours, REFERENCE};

/// How many draws of all numbers there are.
pub(crate) const DRAWS: u64 = 1_000;
/// The file that has them, from the root.
pub(crate) const FILE: &str = "tests/data/aging/draws.csv";
/// The seed of the draws.
const SEED: Seed = Seed(64);

/// Figures that are one prediction: those whose number is the same to nine digits.
pub(crate) struct Units<'f> {
    pub(crate) held_out: Vec<&'f Figure>,
    pub(crate) signs: Vec<&'f Figure>,
    /// By number: its figures, among those whose band is no wider than the figure.
    pub(crate) units: Vec<Vec<&'f Figure>>,
}

/// How many predictions are met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    /// Distinct numbers all of whose figures lie in their bands.
    pub(crate) hits: usize,
    /// Figures that lie in their bands, whatever these are worth.
    pub(crate) rows: usize,
    /// Directions beyond two standard errors.
    pub(crate) signs: usize,
}

/// Returns whether a number lies in a figure's band; no number does not.
pub(crate) fn is_within(figure: &Figure, ours: Option<f64>) -> bool {
    let above = |it: f64| figure.at_least.is_none_or(|low| it >= low);
    let below = |it: f64| figure.at_most.is_none_or(|high| it <= high);
    ours.is_some_and(|it| above(it) && below(it))
}

/// Returns whether a band says anything: it has two ends, no further apart than the figure is large. Where only a range is published, its
/// middle is the figure.
fn is_prediction(figure: &Figure) -> bool {
    let (Some(low), Some(high)) = (figure.at_least, figure.at_most) else { return false };
    high - low <= figure.paper.unwrap_or(f64::midpoint(low, high)).abs()
}

/// Returns whether a direction is certain: the number is on the right side of its bound by more than two standard errors.
pub(crate) fn is_certain(figure: &Figure, ours: Option<Ours>) -> bool {
    let bound = figure.at_least.or(figure.at_most);
    let (Some(Ours { value, se: Some(se) }), Some(bound)) = (ours, bound) else { return false };
    is_within(figure, Some(value)) && (value - bound).abs() > 2.0 * se
}

/// Returns the figures that are scored: held out, or of which a direction is.
pub(crate) fn judged(figures: &[Figure]) -> Vec<&Figure> {
    figures.iter().filter(|it| matches!(it.kind, FigureKind::HeldOut | FigureKind::Sign)).collect()
}

/// Returns the scores of a file of draws: hits, rows and signs by draw.
pub(crate) fn of_file(text: &str) -> Vec<[usize; 3]> {
    let line = |line: &str| {
        let cells: Vec<usize> = line.split(',').map(|it| it.parse().unwrap()).collect();
        [cells[1], cells[2], cells[3]]
    };
    text.lines().skip(1).map(line).collect()
}

impl<'f> Units<'f> {
    /// Sorts figures by what they are worth, under the numbers that are declared.
    pub(crate) fn new(figures: &'f [Figure], declared: &AgingRuns) -> Self {
        let of_kind = |kind| figures.iter().filter(move |it| it.kind == kind);
        let held_out: Vec<&Figure> = of_kind(FigureKind::HeldOut).collect();
        let one_sided = held_out.iter().copied().filter(|it| it.at_least.is_none() || it.at_most.is_none());
        let signs = of_kind(FigureKind::Sign).chain(one_sided).collect();
        let mut units: BTreeMap<String, Vec<&Figure>> = BTreeMap::new();
        for figure in held_out.iter().copied().filter(|it| is_prediction(it)) {
            let number = declared.ours(figure).map_or(figure.name.clone(), |it| format!("{:.8e}", it.value));
            units.entry(number).or_default().push(figure);
        }
        Self { held_out, signs, units: units.into_values().collect() }
    }

    /// Counts.
    pub(crate) fn score(&self, runs: &AgingRuns) -> Score {
        let is_met = |it: &&Figure| is_within(it, runs.ours(it).map(|it| it.value));
        Score {
            hits: self.units.iter().filter(|it| it.iter().all(is_met)).count(),
            rows: self.held_out.iter().filter(|it| is_met(it)).count(),
            signs: self.signs.iter().filter(|it| is_certain(it, runs.ours(it))).count(),
        }
    }

    /// Returns how many are met by one constant for each metric, chosen to meet as many as one can: an upper bound of what such a guess does.
    pub(crate) fn constants(&self) -> usize {
        let mut by_metric: BTreeMap<String, Vec<&Vec<&Figure>>> = BTreeMap::new();
        for unit in &self.units {
            by_metric.entry(of_metric(unit[0])).or_default().push(unit);
        }
        let best = |units: &Vec<&Vec<&Figure>>| {
            let ends = units.iter().flat_map(|it| it.iter()).flat_map(|it| [it.at_least, it.at_most]);
            let met =
                |guess: f64| units.iter().filter(|it| it.iter().all(|it| is_within(it, Some(guess)))).count();
            ends.flatten().map(met).max().unwrap_or(0)
        };
        by_metric.values().map(best).sum()
    }
}

/// Returns what a constant would be guessed for: shares are one kind of number, whatever they are of.
fn of_metric(figure: &Figure) -> String {
    let others = ["slope", "half_life", "accumulator_error"];
    let metric = others.iter().find(|it| figure.metric.contains(**it)).unwrap_or(&"share");
    let differs =
        figure.minus.is_some() || figure.minus_scenario.is_some() || figure.metric.contains("shock");
    let form = if figure.over.is_some() {
        "ratio of "
    } else if differs {
        "difference of "
    } else {
        ""
    };
    format!("{form}{metric}")
}

/// A number that is drawn, by the model that has it (none: every model), and between what.
pub(crate) struct Drawn {
    model: Option<String>,
    name: String,
    ends: [f64; 2],
    is_count: bool,
}

#[derive(Deserialize)]
struct Tried {
    fits: Vec<TriedNumber>,
}

#[derive(Deserialize)]
struct TriedNumber {
    number: String,
    model: Option<String>,
    from: f64,
    to: f64,
}

/// Returns the numbers that are drawn: those with an interval, and those of a model between the values that its fit tries.
pub(crate) fn drawn(fit: &str) -> Vec<Drawn> {
    let numbers = AgingNumbers::declared();
    let is_count = |name: &str| numbers.with(&[(name.to_owned(), 4.5)].into_iter().collect()).is_err();
    let shared = numbers.intervals.iter().map(|(name, ends)| {
        let is_own = ctxsim::worlds::aging::Model::OWN.contains(&name.as_str());
        let model = is_own.then(|| REFERENCE.to_owned());
        let is_count = !is_own && numbers.get(name).is_some_and(|it| it > 1.0) && is_count(name);
        Drawn { model, name: name.clone(), ends: *ends, is_count }
    });
    let tried: Tried = toml::from_str(fit).unwrap();
    let of_models = tried.fits.into_iter().filter(|it| it.model.as_deref().is_some_and(|it| it != REFERENCE));
    let own = of_models.map(|it| Drawn {
        model: it.model,
        name: it.number,
        ends: [it.from, it.to],
        is_count: false,
    });
    shared.chain(own).collect()
}

/// Plays figures with the numbers of a draw.
pub(crate) fn play(catalog: &Catalog, figures: &[&Figure], drawn: &[Drawn], draw: u64) -> AgingRuns {
    let draws = SEED.stream("random numbers of ageing", 0);
    let values: Vec<f64> = drawn
        .iter()
        .enumerate()
        .map(|(nth, it)| {
            let value = it.ends[0] + (it.ends[1] - it.ends[0]) * draws.unit_of(draw, nth as u64);
            if it.is_count { value.round() } else { value }
        })
        .collect();
    // A number that the model has of its own comes last, and so takes the place of the one that all others have.
    let changes = |model: &str| -> Vec<(String, f64)> {
        let of = |wanted: Option<&str>| {
            let its = drawn.iter().zip(&values).filter(|it| it.0.model.as_deref() == wanted);
            its.map(|(it, value)| (it.name.clone(), *value)).collect::<Vec<_>>()
        };
        [of(None), of(Some(model))].concat()
    };
    AgingRuns::of(catalog, figures, &changes)
}

/// Returns a percentile of scores.
pub(crate) fn percentile(mut all: Vec<usize>, share: f64) -> usize {
    all.sort_unstable();
    let at = (share * all.len() as f64).ceil() as usize;
    all[at.saturating_sub(1)]
}
