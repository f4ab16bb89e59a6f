//! Searches parameters on recorded sessions, and writes the policy file of the result.

use super::grid::Grid;
use super::{Comparison, Plan, Progress, world};
use crate::catalog::Catalog;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::input::policy::Size;
use crate::input::profile::calendar;
use crate::input::text::decode::encode;
use crate::input::text::set::Setting;
use crate::input::{Format, PolicyFile};
use crate::quantity::Decimal;
use crate::report::tune::{Tuned, TunedSession};

/// The default factors of a parameter, in hundredths.
const FACTORS: [u64; 5] = [50, 75, 100, 150, 200];
/// The most parameters varied by default: the grid grows with each.
const PARAMS_MAX: usize = 3;

/// Returns a grid around the numbers of a policy's parameters.
///
/// # Errors
/// The policy cannot be read, or has no numbers in its parameters.
pub fn around(catalog: &Catalog, policy: &str) -> Result<Grid, Error> {
    let spec = catalog.policy(policy)?.spec;
    let read = spec.params_read();
    let axes =
        spec.params.iter().filter(|(name, _)| read.as_ref().is_none_or(|it| it.contains(name.as_str())));
    let axes: Vec<String> = axes.filter_map(|(name, size)| axis(name, size)).take(PARAMS_MAX).collect();
    if axes.is_empty() {
        let problem = Diagnostic::at("tune-params", "", format!("{policy} has no numbers in its `params`"));
        return Err(
            vec![problem.help("name the values to try, as in `--vary stages.NAME.FIELD=1,2,4`")].into()
        );
    }
    Ok(Grid::parse(&axes)?)
}

/// Returns the default values of a parameter, if it is a plain number above 0.
fn axis(name: &str, size: &Size) -> Option<String> {
    let (kind, values): (&str, Vec<String>) = match size {
        Size::Tokens(n) if *n > 0 => ("tokens", FACTORS.map(|it| (n * it / 100).max(1).to_string()).into()),
        Size::Count(n) if *n > 0 => ("count", FACTORS.map(|it| (n * it / 100).max(1).to_string()).into()),
        Size::Ratio(share) if *share > Decimal::ZERO => {
            let share = share.to_f64();
            ("ratio", FACTORS.map(|it| format!("{:.4}", (share * it as f64 / 100.0).min(1.0))).into())
        }
        _ => return None,
    };
    let values = crate::report::distinct(values.into_iter());
    Some(format!("params.{name}.{kind}={}", values.join(",")))
}

/// Plays a grid on every session, chooses on one part and tests the choice on the other; also returns the
/// date of the newest session.
///
/// # Errors
/// Every problem of the inputs.
pub fn tune(
    catalog: &Catalog,
    comparison: &Comparison,
    grid: &Grid,
    (min_evidence, seed): (f64, u64),
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(Tuned, Option<String>), Error> {
    let points: Vec<Vec<String>> = (0..grid.len()).map(|it| grid.point(it).of_policy).collect();
    if (0..grid.len()).any(|it| !grid.point(it).of_load.is_empty()) {
        let problem = Diagnostic::at("tune-loads", "", "`tune` cannot vary scenarios or profiles");
        return Err(vec![problem.help("vary fields of the policy; `ctxsim sweep` varies others")].into());
    }
    let plan = Plan::new(catalog, &Comparison { variants: points.clone(), ..comparison.clone() })?;
    if let Some(load) = world::of_memories(&plan.scenarios) {
        let message = format!("{load} declares no evidence needs, which `tune` weighs against the cost");
        let problem = Diagnostic::at("tune-needs", "", message);
        return Err(vec![problem.help("use `ctxsim sweep --objective cost retention` for memories")].into());
    }
    let names = [plan.policies[0].clone(), plan.policies.last().cloned().unwrap_or_default()];
    let loads = plan.swept(threads, progress)?;
    let sessions: Vec<TunedSession> = loads
        .iter()
        .filter(|it| it.runs.len() == points.len() + 1)
        .map(|it| TunedSession {
            project: it.project.clone(),
            last_ms: it.last_ms,
            base: it.runs[0].tally.clone(),
            variants: it.runs[1..].iter().map(|it| it.tally.clone()).collect(),
        })
        .collect();
    let day = sessions.iter().filter_map(|it| it.last_ms).max().map(calendar::written);
    let tuned = Tuned::new([&names[0], &names[1]], &sessions, &points, min_evidence, seed);
    Ok((tuned, day))
}

/// Returns the policy file of the choice; `None` if nothing is recommended.
///
/// # Errors
/// The policy cannot be read or written.
pub fn tuned_policy(
    catalog: &Catalog,
    policy: &str,
    name: &str,
    (tuned, day): (&Tuned, Option<&str>),
    format: Format,
) -> Result<Option<String>, Error> {
    let Some(set) = tuned.chosen.as_ref().filter(|_| tuned.is_recommended) else { return Ok(None) };
    let loaded = catalog.policy(policy)?;
    let mut specs = [loaded.spec.clone()];
    let policies = super::set_policies::Policies { catalog, loaded: std::slice::from_ref(&loaded) };
    for text in set {
        let setting = Setting::parse(text).map_err(|it| vec![*it])?;
        policies.set(&setting, &mut specs).map_err(|it| vec![*it])?;
    }
    let [spec] = specs;
    let mut sources = spec.sources.clone();
    sources.push(tuned.evidence(day));
    let spec = PolicyFile {
        base: None,
        about: format!("{} Tuned: {}.", spec.about, set.join(", ")),
        as_of: day.map(str::to_owned).or(spec.as_of.clone()),
        name: name.to_owned(),
        sources,
        ..spec
    };
    let text = encode(&spec, format).map_err(|it| vec![*it])?;
    Ok(Some(text))
}
