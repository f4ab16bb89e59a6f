//! What published figures of ageing are read from, played without requests: what a memory answers does not depend on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctxsim::catalog::Catalog;
use ctxsim::input::policy::memory::{SessionRead, SessionStore};
use ctxsim::input::scenario::LoadSpec;
use ctxsim::input::suite::Figure;
use ctxsim::input::{Scenario, ScenarioFile};
use ctxsim::worlds::aging::{
    Aging, AgingObserved, AgingPlayer, AgingSummary, MemoryRules, ReadStreams, StreamResult,
};

/// The model that figures are of where their scenario names none.
pub(crate) const REFERENCE: &str = "mid";

/// Our number for a figure, with its standard error where streams tell one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ours {
    pub(crate) value: f64,
    pub(crate) se: Option<f64>,
}

/// What has been played: by policy and scenario.
#[derive(Default)]
pub(crate) struct AgingRuns(BTreeMap<(String, String), (AgingObserved, AgingSummary)>);

/// Returns the model that a figure is of.
pub(crate) fn model_of(scenario: &str) -> &str {
    scenario.split('/').nth(2).unwrap_or(REFERENCE)
}

impl AgingRuns {
    /// Plays all that figures are read from; `changes` has the numbers that are changed where a model answers.
    pub(crate) fn of(
        catalog: &Catalog,
        figures: &[&Figure],
        changes: &dyn Fn(&str) -> Vec<(String, f64)>,
    ) -> Self {
        let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for figure in figures {
            let [policies, scenarios] = figure.read_from();
            for scenario in scenarios {
                let all = wanted.entry(scenario.to_owned()).or_default();
                all.extend(policies.iter().map(|it| (*it).to_owned()));
                all.sort();
                all.dedup();
            }
        }
        let mut runs = Self::default();
        for (scenario, policies) in wanted {
            let changes = changes(model_of(&scenario));
            let all = observed(catalog, &scenario, &policies, changes);
            let names = policies.into_iter().map(|it| (it, scenario.clone()));
            runs.0.extend(names.zip(all));
        }
        runs
    }

    /// Returns our number for a figure.
    pub(crate) fn ours(&self, figure: &Figure) -> Option<Ours> {
        let at = |policy: &String, scenario: &String| self.0.get(&(policy.clone(), scenario.clone()));
        let own = at(&figure.policy, &figure.scenario)?;
        let number = number(&own.1, &figure.metric)?;
        if let Some(over) = &figure.over {
            let base = self::number(&at(over, &figure.scenario)?.1, &figure.metric)?;
            return Some(Ours { value: number.value / base.value, se: None });
        }
        if figure.minus.is_none() && figure.minus_scenario.is_none() {
            return Some(number);
        }
        let policy = figure.minus.as_ref().unwrap_or(&figure.policy);
        let base = at(policy, figure.minus_scenario.as_ref().unwrap_or(&figure.scenario))?;
        let less = self::number(&base.1, &figure.metric)?;
        // Runs of one scenario have the same streams; those of two are taken as independent.
        let paired = || own.0.less(&base.0).get(stem(&figure.metric)?)?.se;
        let apart = || Some(number.se?.hypot(less.se?));
        let se = if figure.minus_scenario.is_some() { apart() } else { paired() };
        Some(Ours { value: number.value - less.value, se })
    }
}

/// Returns what a metric of a report is called among a memory's numbers.
fn stem(metric: &str) -> Option<&str> {
    metric.strip_prefix("aging.")?.strip_suffix(".mean")
}

/// Returns a number of a run by the metric's place in reports.
fn number(summary: &AgingSummary, metric: &str) -> Option<Ours> {
    let attribution = summary.attribution.as_ref();
    let alone = |value: f64| Ours { value, se: None };
    match metric {
        "aging.attribution.total_error" => attribution.map(|it| alone(it.total_error)),
        "aging.attribution.use_error" => attribution.map(|it| alone(it.use_error)),
        "aging.attribution.use_share" => attribution?.use_share.map(alone),
        _ => summary.number(stem(metric)?).map(|it| Ours { value: it.mean, se: it.se }),
    }
}

/// Plays policies over the streams of a scenario that one model answers.
fn observed(
    catalog: &Catalog,
    scenario: &str,
    policies: &[String],
    changes: Vec<(String, f64)>,
) -> Vec<(AgingObserved, AgingSummary)> {
    let of_file = scenario.split('/').take(2).collect::<Vec<_>>().join("/");
    let file: ScenarioFile = catalog.scenario(&of_file).unwrap().spec;
    let LoadSpec::Aging(mut load) = file.load.clone() else { panic!("{scenario} has no sessions") };
    if load.models.len() > 1 {
        load.models = vec![model_of(scenario).to_owned()];
    }
    load.numbers.extend(changes);
    let checked = Scenario::new(&ScenarioFile { load: LoadSpec::Aging(load.clone()), ..file }).unwrap();
    let aging = &Aging::all(&checked, &load, &[], ReadStreams::default())[0];
    let policies: Vec<_> = policies.iter().map(|it| catalog.policy(it).unwrap().spec).collect();
    let specs: Vec<_> = policies.iter().map(|it| it.session_memory().unwrap()).collect();
    let event = aging.events().iter().map(|it| it.session).min().and_then(|it| u32::try_from(it).ok());
    let mut all = vec![AgingObserved::default(); specs.len()];
    for trial in 0..aging.n_trials() {
        let stream = &aging.stream(trial);
        let player = AgingPlayer::new(aging, stream, true);
        let calm = event.map(|_| AgingPlayer::new(aging, stream, false));
        for (spec, own) in specs.iter().zip(&mut all) {
            let rules = || MemoryRules::new(Some(spec), Arc::clone(&aging.model));
            let log = &player.play(rules());
            let control = calm.as_ref().map(|it| it.play(rules()));
            let numbers = &aging.numbers;
            let control = control.as_ref();
            own.add(AgingObserved::new(StreamResult { stream, numbers, log, control, event }));
        }
    }
    let summed = all.into_iter().zip(specs).map(|(own, spec)| {
        let is_searched = matches!(spec.store, SessionStore::Entries { .. } | SessionStore::Files);
        let summary = own.summary(is_searched && spec.read != SessionRead::All);
        (own, summary)
    });
    summed.collect()
}
