//! What `tune` tries: by default every number that the user of the agent can set.

use indexmap::IndexMap;

use super::ranges::{Fineness, SeenSessions, VariedParam};
use crate::catalog::Catalog;
use crate::grid::{OverrideGrid, VariedPath};
use crate::{Comparison, Load, Plan, Progress};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::projection::num::Known;
use ctxsim_input::PolicyFile;
use ctxsim_input::policy::{SearchUse, Size};
use ctxsim_report::tune::{FixedParam, Varied};

/// What is tried.
#[derive(Clone, Debug, Default)]
pub struct ParamSearch {
    /// The paths that are varied.
    pub varied: Vec<Varied>,
    /// The parameters that are left alone.
    pub fixed: Vec<FixedParam>,
    /// The points: overrides of the policy, none for the policy as it is.
    pub points: Vec<Vec<String>>,
}

impl ParamSearch {
    /// Takes the points of a grid.
    ///
    /// # Errors
    /// The grid varies scenarios or profiles.
    pub fn of(grid: &OverrideGrid) -> Result<Self, Error> {
        if (0..grid.len()).any(|it| !grid.point(it).of_load.is_empty()) {
            let problem = Diagnostic::at(Code("tune-loads"), "", "`tune` cannot vary scenarios or profiles");
            return Err(vec![problem.help("vary fields of the policy; `ctxsim sweep` varies others")].into());
        }
        let axis = |it: &VariedPath| Varied {
            path: it.path.clone(),
            values: it.values.clone(),
            rule: "as given".into(),
        };
        Ok(Self {
            varied: grid.axes.iter().map(axis).listed(),
            fixed: Vec::new(),
            points: (0..grid.len()).map(|it| grid.point(it).of_policy).listed(),
        })
    }

    /// Finds what can be varied in the last policy of a comparison, and values that fit its sessions.
    ///
    /// # Errors
    /// The policy has nothing to vary, or every problem of the inputs.
    pub fn by_default(
        catalog: &Catalog,
        comparison: &Comparison,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Result<Self, Error> {
        let policy = comparison.policies.last().map_or("", String::as_str);
        let spec = catalog.policy(policy)?.spec;
        let standings = spec.standings();
        if !standings.values().any(|it| matches!(it, SearchUse::Varied(_))) {
            let is_declared = spec.settable.is_some() && !standings.is_empty();
            return Err(nothing(policy, is_declared));
        }
        let (seen, params) = seen(catalog, comparison, threads, progress)?;
        let (candidates, fixed) = sorted(&spec, &standings, &params, &seen);
        if candidates.is_empty() {
            return Err(nothing(policy, false));
        }
        let fineness = match candidates.len() {
            0..=2 => Fineness::Fine,
            4 => Fineness::Coarse,
            _ => Fineness::Medium,
        };
        let varied: Vec<Varied> = candidates.iter().filter_map(|it| it.varied(&seen, fineness)).listed();
        let points = if varied.len() > 4 { one_at_a_time(&varied) } else { together(&varied) };
        Ok(Self { varied, fixed, points })
    }
}

/// Sorts parameters into those to vary and those to leave alone, with the reason.
fn sorted<'a>(
    spec: &'a PolicyFile,
    standings: &'a IndexMap<&str, SearchUse>,
    params: &'a IndexMap<String, Size>,
    seen: &SeenSessions,
) -> (Vec<VariedParam<'a>>, Vec<FixedParam>) {
    let bounds = spec.prompt_bounds();
    let (mut candidates, mut fixed) = (Vec::new(), Vec::new());
    for (name, standing) in standings {
        let reason = match standing {
            SearchUse::Measured => "measured or constant".to_owned(),
            SearchUse::PartOf(whole) => format!("part of {whole}"),
            SearchUse::Varied(least) => {
                let Some(size) = params.get(*name) else { continue };
                let one = VariedParam { name, size, least: *least, is_prompt_bound: bounds.contains(name) };
                if one.varied(seen, Fineness::Coarse).is_some() {
                    candidates.push(one);
                    continue;
                }
                "known only during a run".to_owned()
            }
        };
        fixed.push(FixedParam { param: (*name).to_owned(), reason });
    }
    (candidates, fixed)
}

/// Says that a policy has nothing to vary.
fn nothing(policy: &str, is_declared: bool) -> Error {
    let message = if is_declared {
        format!("no parameter of {policy} is a setting: `settable` names none")
    } else {
        format!("{policy} has no numbers in its `params` that its stages decide by")
    };
    let problem = Diagnostic::at(Code("tune-params"), "", message);
    let help = "name the values to try, as in `--vary stages.NAME.FIELD=1,2,4` or, of a memory, \
        `--vary memory.sessions.store.summary.words=150,300`";
    vec![problem.help(help)].into()
}

/// Returns every combination, the policy as it is first.
fn together(varied: &[Varied]) -> Vec<Vec<String>> {
    varied.iter().fold(vec![Vec::new()], |points, it| {
        let with = |point: &Vec<String>, value: &String| [point.clone(), vec![it.setting(value)]].concat();
        let of = |point: &Vec<String>| {
            let others = it.values.iter().map(|value| with(point, value));
            std::iter::once(point.clone()).chain(others).listed()
        };
        points.iter().flat_map(of).listed()
    })
}

/// Returns the policy as it is, and with each value alone.
fn one_at_a_time(varied: &[Varied]) -> Vec<Vec<String>> {
    let alone = varied.iter().flat_map(|it| it.values.iter().map(|value| vec![it.setting(value)]));
    std::iter::once(Vec::new()).chain(alone).listed()
}

/// Looks at the sessions under the base; also returns the parameters of the policy, with what overrides them.
fn seen(
    catalog: &Catalog,
    comparison: &Comparison,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(SeenSessions, IndexMap<String, Size>), Error> {
    let plan = Plan::new(catalog, comparison)?;
    let of_loads = plan.each(threads, progress, |load, progress| {
        let base = load.policies.first().cloned().into_iter().listed();
        let runs = Load { policies: base, ..load.clone() }.runs(progress);
        let prompt_max = runs.iter().map(|it| it.tally.sums.main.prompt_max).max().unwrap_or(0);
        let known = load
            .timeline()
            .into_iter()
            .flat_map(|timeline| load.profiles.iter().map(move |it| Known::of(timeline, it.limits)));
        let params = load.policies.last().map(|it| it.params.clone()).unwrap_or_default();
        (prompt_max, known.listed(), params)
    })?;
    let mut seen = SeenSessions::default();
    let mut all_params = None;
    for (prompt_max, known, params) in of_loads {
        seen.prompt_max = seen.prompt_max.max(prompt_max);
        seen.known.extend(known);
        all_params.get_or_insert(params);
    }
    Ok((seen, all_params.unwrap_or_default()))
}
