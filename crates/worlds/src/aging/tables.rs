//! Tables of ageing memories: curves with half-life and cost, and mechanisms by policy and model.

use indexmap::IndexSet;

use super::AgingSummary;
use ctxsim_base::grid::numbers::{NONE, percent, plain_or_none as written, thousands};
use ctxsim_base::grid::{Grid, Of};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Curve, CurvePlaces, Curves, Run};
use ctxsim_input::suite::Reference;

/// A run with how its memory ages.
type Aged<'r> = (&'r Run, &'r AgingSummary);

/// A column of the diagnostic matrix: its heading, the metrics, the most telling first, and its decimals.
type Mechanism = (&'static str, &'static [&'static str], usize);

/// The mechanisms, each with its metrics, the most direct first.
const MECHANISMS: [Mechanism; 5] = [
    ("compression: final", &["final"], 3),
    ("interference: binding", &["binding"], 3),
    ("revision: version accuracy", &["version_accuracy", "rev_ex"], 3),
    ("revision: error in totals", &["accumulator_error"], 1),
    ("maintenance: shock", &["shock"], 3),
];

/// Returns the tables of runs.
pub(super) fn grids(runs: &[&Run], _references: &[Reference]) -> Vec<Grid> {
    let aged = aged(runs);
    let mut grids: Vec<Grid> = aged
        .chunk_by(|one, other| one.0.is_beside(other.0))
        .flat_map(|it| [of_curves(it), costs(it)])
        .collect();
    grids.extend(matrix(&aged));
    grids.extend(half_lives(&aged));
    grids
}

/// Returns the scores by session, and where constraints can be violated, how often they are beside the scores: an agent can go
/// on complying while what it knows is lost.
pub(super) fn curves(runs: &[&Run]) -> Vec<Curves> {
    let of = |it: &[Aged<'_>]| [Some(by_session(it)), violations(it)];
    aged(runs).chunk_by(|one, other| one.0.is_beside(other.0)).flat_map(of).flatten().collect()
}

fn aged<'r>(runs: &[&'r Run]) -> Vec<Aged<'r>> {
    runs.iter().filter_map(|run| Some((*run, run.found::<AgingSummary>()?))).collect()
}

/// Returns the curves of the policies of a scenario.
fn by_session(runs: &[Aged<'_>]) -> Curves {
    let one = |(run, it): &Aged<'_>| curve(run, &run.policy, &it.curve);
    drawn(format!("Aging by {}", metric(runs)), runs, runs.iter().map(one).collect())
}

/// Returns how often constraints are violated, where a scenario has any; the scores have their own picture.
fn violations(runs: &[Aged<'_>]) -> Option<Curves> {
    let one = |(run, it): &Aged<'_>| curve(run, &run.policy, &it.violations);
    let has_any = runs.iter().any(|it| !it.1.violations.is_empty());
    has_any.then(|| drawn("Violated constraints".to_owned(), runs, runs.iter().map(one).collect()))
}

fn curve(run: &Run, name: &str, numbers: &[Option<Statistic>]) -> Curve {
    Curve { policy: run.policy.clone(), name: name.to_owned(), is_beside: false, numbers: numbers.to_vec() }
}

/// Returns curves over the sessions of a scenario.
fn drawn(title: String, runs: &[Aged<'_>], curves: Vec<Curve>) -> Curves {
    let n_places = curves.iter().map(|it| it.numbers.len()).max().unwrap_or(0);
    let places = (0..n_places).map(|it| it.to_string()).collect();
    Curves { axis: CurvePlaces::Session, title, subject: subject(runs), places, curves }
}

/// Returns what the curves of a scenario show.
fn title(runs: &[Aged<'_>]) -> String {
    format!("Aging by {}: {}", metric(runs), subject(runs))
}

fn metric<'r>(runs: &[Aged<'r>]) -> &'r str {
    runs.first().map_or("", |it| it.1.metric.as_str())
}

/// Returns the scenario and the profile of runs.
fn subject(runs: &[Aged<'_>]) -> String {
    runs.first().map(|it| it.0.subject()).unwrap_or_default()
}

/// Returns a line for each policy of a scenario.
fn of_curves(runs: &[Aged<'_>]) -> Grid {
    let columns: [Of<'_, Aged<'_>>; 11] = [
        ("policy", &|(run, _)| run.policy.clone()),
        ("first", &|(_, it)| written(it.mean("m0"), 3)),
        ("final", &|(_, it)| written(it.mean("final"), 3)),
        ("± 95%", &|(_, it)| written(it.number("final").and_then(Statistic::reach), 3)),
        ("slope", &|(_, it)| written(it.mean("slope"), 4)),
        ("half-life", &|(_, it)| written(it.mean("half_life"), 1)),
        ("never halved", &|(run, it)| format!("{} of {}", it.half_life_infinite, run.trials)),
        ("floor", &|(_, it)| written(it.floor.last().copied().flatten(), 3)),
        ("ceiling", &|(_, it)| written(it.ceiling.last().copied().flatten(), 3)),
        ("error in totals", &|(_, it)| written(it.mean("accumulator_error"), 1)),
        ("USD per session", &|(_, it)| written(it.usd_per_session, 4)),
    ];
    Grid::of(title(runs), 1, runs, &columns)
}

/// Returns a line for each policy of a scenario: the cost of remembering.
fn costs(runs: &[Aged<'_>]) -> Grid {
    let columns: [Of<'_, Aged<'_>>; 7] = [
        ("policy", &|(run, _)| run.policy.clone()),
        ("memory tokens", &|(_, it)| written(it.mean("memory_tokens"), 0)),
        ("tokens per session", &|(_, it)| thousands(it.tokens_per_session.round() as u64)),
        ("cache hit", &|(run, _)| percent(run.tally.cache_hit_ratio())),
        ("requests", &|(_, it)| thousands(it.calls)),
        ("summaries alone", &|(_, it)| thousands(it.compaction_calls)),
        ("USD per session", &|(_, it)| written(it.usd_per_session, 4)),
    ];
    Grid::of(format!("Cost of remembering: {}", subject(runs)), 1, runs, &columns)
}

/// Returns the half-lives of memories by model, where several models answer a scenario: the mean of those that are finite, and
/// how many of the streams never halve.
fn half_lives(runs: &[Aged<'_>]) -> Option<Grid> {
    let profile = &runs.first()?.0.profile;
    let of_profile: Vec<&Aged<'_>> = runs.iter().filter(|it| it.0.profile == *profile).collect();
    let models: IndexSet<&str> = of_profile.iter().map(|it| it.1.model.as_str()).collect();
    if models.len() < 2 {
        return None;
    }
    let stem = |it: &Aged<'_>| {
        let own = format!("/{}", it.1.model);
        it.0.scenario.strip_suffix(own.as_str()).unwrap_or(&it.0.scenario).to_owned()
    };
    let lines: IndexSet<(&str, String)> =
        of_profile.iter().map(|it| (it.0.policy.as_str(), stem(it))).collect();
    let rows = lines.into_iter().map(|(policy, scenario)| {
        let cell = |model: &&str| {
            let is_it =
                |it: &&&Aged<'_>| it.0.policy == policy && it.1.model == **model && stem(it) == scenario;
            let Some((run, it)) = of_profile.iter().find(is_it) else { return NONE.to_owned() };
            format!("{} ({}/{})", written(it.mean("half_life"), 1), it.half_life_infinite, run.trials)
        };
        [policy.to_owned(), scenario.clone()].into_iter().chain(models.iter().map(cell)).collect::<Vec<_>>()
    });
    let columns: Vec<&str> = ["policy", "scenario"].into_iter().chain(models.iter().copied()).collect();
    Some(Grid::new("Half-life by model (streams that never halve)", 2, &columns, rows))
}

/// Returns a line for each policy, scenario and model: the effect of each ageing mechanism. Profiles differ in prices alone, which it
/// does not show.
fn matrix(runs: &[Aged<'_>]) -> Option<Grid> {
    let profiles: IndexSet<&str> = runs.iter().map(|it| it.0.profile.as_str()).collect();
    let first = *profiles.first()?;
    let title = match profiles.len() {
        1 => "Diagnostic matrix".to_owned(),
        _ => format!(
            "Diagnostic matrix, the same under {}",
            profiles.iter().copied().collect::<Vec<_>>().join(", ")
        ),
    };
    let row = |(run, it): &Aged<'_>| {
        let numbers = MECHANISMS
            .iter()
            .map(|(_, names, decimals)| written(names.iter().find_map(|name| it.mean(name)), *decimals));
        let candidate = it.attribution.as_ref().and_then(|it| it.candidate);
        let candidate = candidate.and_then(|it| Some(serde_json::to_value(it).ok()?.as_str()?.to_owned()));
        let front = [run.policy.clone(), run.scenario.clone(), it.model.clone()];
        front
            .into_iter()
            .chain(numbers)
            .chain([candidate.unwrap_or_else(|| NONE.to_owned())])
            .collect::<Vec<_>>()
    };
    let front = ["policy", "scenario", "model"].into_iter();
    let columns = front.chain(MECHANISMS.iter().map(|it| it.0)).chain(["candidate stage"]);
    let rows = runs.iter().filter(|it| it.0.profile == first).map(row);
    Some(Grid::new(title, 3, &columns.collect::<Vec<_>>(), rows))
}
