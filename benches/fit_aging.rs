//! Fits the numbers of the model of ageing to the figures that `assumptions/aging/fit.toml` names, and holds the files against the result;
//! with `--draws`, says what random numbers score (`tests/data/aging/draws.csv`, which `--write` makes anew).

#![expect(clippy::unwrap_used, reason = "a fit stops at what it did not expect")]

#[path = "aging/draws.rs"]
mod draws;
#[path = "aging/played.rs"]
mod played;
#[path = "aging/scored.rs"]
mod scored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use ctxsim::catalog::{Catalog, bundled_catalog};
use ctxsim::input::suite::Figure;
use played::{AgingRuns, model_of};
use serde::Deserialize;

/// The rounds after which a fit that still moves is given up.
const ROUNDS_MAX: usize = 6;
/// Below this, two values do as well.
const SAME: f64 = 1e-9;
/// How far from its band a claim without a number lies, in units of one.
const CLAIM: f64 = 0.1;

#[derive(Deserialize)]
struct Objective {
    fits: Vec<Fit>,
}

/// A number, the figures that it is fitted to, and the values that are tried.
#[derive(Deserialize)]
struct Fit {
    number: String,
    #[serde(default)]
    model: Option<String>,
    figures: Vec<String>,
    from: f64,
    to: f64,
    step: f64,
}

/// Fitted values, by model (none: of all) and number.
type Values = BTreeMap<(Option<String>, String), f64>;

impl Fit {
    fn key(&self) -> (Option<String>, String) {
        (self.model.clone(), self.number.clone())
    }

    /// Returns the values that are tried, free of rounding errors.
    fn values(&self) -> Vec<f64> {
        let n = ((self.to - self.from) / self.step).round() as u64;
        (0..=n).map(|nth| rounded(self.from + nth as f64 * self.step)).collect()
    }

    /// Returns the file in which its number stands.
    fn file(&self) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assumptions/aging");
        match &self.model {
            Some(model) => folder.join(format!("models/{model}.toml")),
            None => folder.join("numbers.toml"),
        }
    }
}

/// What has been played: our number for a figure under some overrides.
struct Played {
    catalog: Catalog,
    figures: BTreeMap<String, Figure>,
    known: BTreeMap<(String, String), Option<f64>>,
}

impl Played {
    /// Returns how far our numbers for some figures are from the published ones.
    fn loss(&mut self, names: &[String], values: &Values) -> f64 {
        names.iter().map(|it| self.loss_of(it, values)).sum()
    }

    fn loss_of(&mut self, name: &str, values: &Values) -> f64 {
        let figure = self.figures[name].clone();
        let Some(ours) = self.ours(&figure, values) else { return f64::INFINITY };
        let [low, high] = [figure.at_least, figure.at_most];
        if let Some(paper) = figure.paper {
            let half = (high.unwrap() - low.unwrap()) / 2.0;
            return ((ours - paper) / half).powi(2);
        }
        let outside =
            low.map_or(0.0, |it| (it - ours).max(0.0)) + high.map_or(0.0, |it| (ours - it).max(0.0));
        (outside / CLAIM).powi(2)
    }

    fn ours(&mut self, figure: &Figure, values: &Values) -> Option<f64> {
        let changes = changes(model_of(&figure.scenario), values);
        let key = (figure.name.clone(), format!("{changes:?}"));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let runs = AgingRuns::of(&self.catalog, &[figure], &|_| changes.clone());
        let ours = runs.ours(figure).map(|it| it.value);
        self.known.insert(key, ours);
        ours
    }
}

/// Returns the numbers under which a figure is played: all fitted numbers, and those of its model in their place.
fn changes(model: &str, values: &Values) -> Vec<(String, f64)> {
    let of_all = values.iter().filter(|it| it.0.0.is_none());
    let own = values.iter().filter(|it| it.0.0.as_deref() == Some(model));
    let by_name: BTreeMap<&str, f64> =
        of_all.chain(own).map(|(key, value)| (key.1.as_str(), *value)).collect();
    by_name.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Returns the number that stands in a file, and the file with another one.
fn in_file(path: &Path, number: &str, value: f64) -> (f64, String) {
    let text = fs::read_to_string(path).unwrap();
    let prefix = format!("{number} = ");
    let line = text.lines().find(|it| it.starts_with(&prefix)).unwrap();
    let written = line[prefix.len()..].split_whitespace().next().unwrap();
    let is_count = !written.contains('.');
    let new = if is_count { format!("{value:.0}") } else { format!("{value:.2}") };
    let line_now = line.replacen(written, &new, 1);
    (written.parse().unwrap(), text.replacen(line, &line_now, 1))
}

fn main() -> ExitCode {
    let has = |name: &str| env::args().any(|it| it == name);
    let writes = has("--write");
    if has("--draws") {
        draws::run(writes);
        return ExitCode::SUCCESS;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("../assumptions/aging/fit.toml")).unwrap();
    let objective: Objective = toml::from_str(&text).unwrap();
    let catalog = bundled_catalog();
    let suite = catalog.suite("aging-responses").unwrap().spec;
    let figures = suite.figures.into_iter().map(|it| (it.name.clone(), it)).collect();
    let mut played = Played { catalog, figures, known: BTreeMap::new() };

    let begin = |it: &Fit| (it.key(), in_file(&it.file(), &it.number, 0.0).0);
    let mut values: Values = objective.fits.iter().map(begin).collect();
    for round in 1..=ROUNDS_MAX {
        let before = values.clone();
        for fit in &objective.fits {
            let mut best = (f64::INFINITY, values[&fit.key()]);
            for value in fit.values() {
                values.insert(fit.key(), value);
                let loss = played.loss(&fit.figures, &values);
                if loss <= best.0 + SAME {
                    best = (loss.min(best.0), value);
                }
            }
            values.insert(fit.key(), best.1);
            println!(
                "round {round}: {} {} = {} (loss {:.4})",
                fit.model.as_deref().unwrap_or("–"),
                fit.number,
                best.1,
                best.0
            );
        }
        if values == before {
            break;
        }
    }

    let mut is_same = true;
    for fit in &objective.fits {
        let value = values[&fit.key()];
        let (stands, text) = in_file(&fit.file(), &fit.number, value);
        if (stands - value).abs() > SAME {
            is_same = false;
            println!("{}: {} is {stands}, fitted {value}", fit.file().display(), fit.number);
            if writes {
                fs::write(fit.file(), text).unwrap();
            }
        }
    }
    if is_same { ExitCode::SUCCESS } else { ExitCode::from(u8::from(!writes)) }
}
