//! What `tune` varies, by default every number that the user of the agent can set, and the values that it tries: the one place that says which.

use crate::prelude::*;

use crate::grid::OverrideGrid;
use ctxsim_base::quantity::{Decimal, Tokens};
use ctxsim_engine::projection::test::{Known, Num};
use ctxsim_input::policy::{SearchUse, Size};
use ctxsim_report::tune::{FixedParam, TriedVariants, VariedPath};

/// Takes the points of a grid.
///
/// # Errors
/// The grid varies scenarios or profiles.
pub fn variants_from_grid(grid: &OverrideGrid) -> Result<TriedVariants> {
    let mut points = Vec::new();
    for point in (0..grid.len()).map(|it| grid.point_at(it)) {
        if !point.of_load.is_empty() {
            let help = "vary fields of the policy; `ctxsim sweep` varies others";
            return Err(Error::refused(Code("tune-loads"), "`tune` cannot vary scenarios or profiles", help));
        }
        points.push(point.of_policy);
    }
    Ok(TriedVariants { varied: grid.axes.clone(), points, ..TriedVariants::default() })
}

/// Finds what can be varied in the last policy of a comparison, and values that fit its sessions.
///
/// # Errors
/// The policy has nothing to vary, or every problem of the inputs.
pub fn default_variants(
    catalog: &Catalog,
    comparison: &Comparison,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<TriedVariants> {
    let policy = comparison.policies.last().map_or("", String::as_str);
    let spec = catalog.policy(policy)?.spec;
    let standings = spec.standings();
    if !standings.values().any(|it| matches!(it, SearchUse::Varied(_))) {
        return Err(nothing_to_vary_error(policy, spec.settable.is_some() && !standings.is_empty()));
    }
    let (seen, params) = observe_sessions_and_params(catalog, comparison, threads, progress)?;
    let (candidates, fixed) = split_params_to_vary(&spec, &standings, &params, &seen);
    let fineness = match candidates.len() {
        0 => return Err(nothing_to_vary_error(policy, false)),
        1..=2 => Fineness::Fine,
        4 => Fineness::Coarse,
        _ => Fineness::Medium,
    };
    let varied = candidates.iter().filter_map(|it| it.values_to_try(&seen, fineness)).listed();
    let is_together = varied.len() <= 4;
    // The policy as it is, then each value: beside every point before it, or alone.
    let mut points = vec![Vec::new()];
    for axis in &varied {
        let settings = axis.values.iter().map(|it| format!("{}={it}", axis.path)).listed();
        let with = |point: &Vec<String>| {
            settings.iter().map(|it| [point.as_slice(), std::slice::from_ref(it)].concat()).listed()
        };
        if is_together {
            points = points.iter().flat_map(|it| [vec![it.clone()], with(it)].concat()).listed();
        } else {
            points.extend(with(&Vec::new()));
        }
    }
    Ok(TriedVariants { varied, fixed, points, ..TriedVariants::default() })
}

/// Sorts parameters into those to vary and those to leave alone, with the reason.
fn split_params_to_vary<'a>(
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
                if one.values_to_try(seen, Fineness::Coarse).is_some() {
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
fn nothing_to_vary_error(policy: &str, is_settable_declared: bool) -> Error {
    let message = if is_settable_declared {
        format!("no parameter of {policy} is a setting: `settable` names none")
    } else {
        format!("{policy} has no numbers in its `params` that its stages decide by")
    };
    let help = "name the values to try, as in `--vary stages.NAME.FIELD=1,2,4` or, of a memory, \
        `--vary memory.sessions.store.summary.words=150,300`";
    Error::refused(Code("tune-params"), message, help)
}

/// Looks at the sessions under the base; also returns the parameters of the policy, with what overrides them.
fn observe_sessions_and_params(
    catalog: &Catalog,
    comparison: &Comparison,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(SeenSessions, IndexMap<String, Size>)> {
    let plan = Plan::new(catalog, comparison)?;
    let of_loads = plan.map_loads(threads, progress, |load, progress| {
        let base = load.policies.first().cloned().into_iter().listed();
        let runs = Load { policies: base, ..load.clone() }.runs(progress);
        let prompt_max = runs.iter().map(|it| it.tally.sums.main.prompt_max).max().unwrap_or(0);
        let known = load
            .timeline()
            .into_iter()
            .flat_map(|timeline| load.profiles.iter().map(move |it| Known::new(timeline, it.limits)));
        (prompt_max, known.listed(), load.policies.last().map(|it| it.params.clone()).unwrap_or_default())
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

/// What is known of the sessions before anything is tried.
#[derive(Default)]
struct SeenSessions {
    /// The longest prompt under the base.
    prompt_max: Tokens,
    /// What the runs know in advance, one for each load and profile.
    known: Vec<Known>,
}

/// How many values are tried: the fewer, the more parameters are varied together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fineness {
    /// One or two parameters: nine values each.
    Fine,
    /// Three: five each. Also where more than four are varied one at a time.
    Medium,
    /// Four: three each.
    Coarse,
}

/// Where the values come from. Beside them, each parameter is tried as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RangeRule {
    /// From its own number: nothing else says what is a lot and what is little.
    Around,
    /// From the longest prompt, for what is compared with a prompt: a trigger that no prompt reaches does nothing.
    OfPrompts,
    /// From the longest prompt, for a 0, which has no multiples: a minimum pays only if it is a part of a prompt.
    FromZero,
}

impl RangeRule {
    /// Returns the values, in percent of what they come from.
    fn percents(self, fineness: Fineness) -> &'static [u64] {
        let by_fineness: [&[u64]; 3] = match self {
            Self::Around => [&[25, 50, 75, 125, 150, 200, 300, 400], &[50, 75, 150, 200], &[50, 200]],
            Self::OfPrompts => [&[15, 25, 35, 45, 55, 65, 75, 90], &[25, 45, 65, 85], &[40, 75]],
            Self::FromZero => [&[1, 2, 5, 10, 15, 20, 30, 40], &[2, 5, 10, 20], &[5, 15]],
        };
        by_fineness[fineness as usize]
    }

    fn description(self) -> &'static str {
        match self {
            Self::Around => "multiples of its own number",
            Self::OfPrompts => "shares of the longest prompt",
            Self::FromZero => "up from 0, by shares of the longest prompt",
        }
    }
}

/// A parameter to vary.
struct VariedParam<'a> {
    name: &'a str,
    size: &'a Size,
    /// The least that the agent accepts.
    least: u64,
    /// Whether it is compared with a prompt.
    is_prompt_bound: bool,
}

impl VariedParam<'_> {
    /// Returns the values to try; `None` if its number is known only during a run.
    fn values_to_try(&self, seen: &SeenSessions, fineness: Fineness) -> Option<VariedPath> {
        let (unit, own) = match self.size {
            Size::Tokens(own) => ("tokens", *own),
            Size::Chars(own) => ("chars", *own),
            Size::Count(own) => ("count", *own),
            Size::Ratio(share) => ("ratio", u64::from(*share != Decimal::ZERO)),
            _ if self.is_prompt_bound => ("tokens", 0),
            other => ("tokens", median_size(other, &seen.known)?),
        };
        let rule = match own {
            _ if self.is_prompt_bound && unit == "tokens" => RangeRule::OfPrompts,
            0 => RangeRule::FromZero,
            _ => RangeRule::Around,
        };
        let value = |percent: &u64| {
            let number = match (self.size, rule, unit) {
                (Size::Ratio(share), RangeRule::Around, _) => return scaled_if_changed(*share, *percent),
                (Size::Ratio(_), ..) => return Some(format!("0.{percent:02}")),
                (_, RangeRule::Around, _) => percent_of(own, *percent),
                (.., "count") => *percent,
                (.., "chars") => 4 * round_to_two_digits(percent_of(seen.prompt_max, *percent)),
                _ => round_to_two_digits(percent_of(seen.prompt_max, *percent)),
            };
            let number = number.max(self.least).max(1);
            // Its own number is the policy as it is.
            let is_own =
                matches!(self.size, Size::Tokens(it) | Size::Chars(it) | Size::Count(it) if *it == number);
            (!is_own).then(|| number.to_string())
        };
        let values = distinct(rule.percents(fineness).iter().filter_map(value));
        let path = format!("params.{}.{unit}", self.name);
        (!values.is_empty()).then(|| VariedPath { path, values, rule: rule.description().into() })
    }
}

/// Returns some percent of a number.
fn percent_of(number: u64, percent: u64) -> u64 {
    (u128::from(number) * u128::from(percent) / 100).try_into().unwrap_or(number)
}

/// Returns some percent of a share, at most all of it; nothing for the share itself.
fn scaled_if_changed(share: Decimal, percent: u64) -> Option<String> {
    let factor = Decimal::parse(&format!("{}.{:02}", percent / 100, percent % 100))?;
    let value = Some(share.times(factor)?).filter(|it| *it <= Decimal::ONE).unwrap_or(Decimal::ONE);
    (value != share).then(|| value.to_string())
}

/// Rounds a number to two digits, as people write thresholds.
fn round_to_two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

/// Returns a size in the median load; `None` if no load knows it in advance.
fn median_size(size: &Size, known: &[Known]) -> Option<Tokens> {
    let mut all: Vec<Tokens> = known.iter().filter_map(|it| Num::known(size, it)).listed();
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_input::Limits;

    fn values(size: &Size, is_prompt_bound: bool, least: u64) -> (String, Vec<String>) {
        let limits = Limits { prompt: 200_000, window: 200_000, output: 32_000 };
        let known = vec![Known::unrecorded(limits, Decimal::parse("4").unwrap())];
        let seen = SeenSessions { prompt_max: 156_579, known };
        let candidate = VariedParam { name: "x", size, least, is_prompt_bound };
        let varied = candidate.values_to_try(&seen, Fineness::Medium).unwrap();
        (varied.path, varied.values)
    }

    #[test]
    fn a_trigger_is_tried_where_prompts_are_and_a_number_around_itself() {
        let computed = Size::Minus(vec![Size::Limit, Size::Tokens(33_000)]);
        assert_eq!(values(&computed, true, 0).1, ["39000", "70000", "100000", "130000"]);
        assert_eq!(values(&Size::Tokens(900_000), true, 0).1, ["39000", "70000", "100000", "130000"]);
        let from_least = values(&computed, true, 67_000).1;
        assert_eq!(from_least, ["67000", "70000", "100000", "130000"], "none that is refused");
        assert_eq!(values(&Size::Tokens(20_000), false, 0).1, ["10000", "15000", "30000", "40000"]);
        let share = Size::Times(Decimal::parse("0.1").unwrap(), Box::new(Size::Limit));
        assert_eq!(values(&share, false, 0).1, ["10000", "15000", "30000", "40000"]);
    }

    #[test]
    fn a_zero_has_a_range_of_its_own_in_each_unit() {
        let tokens = ("params.x.tokens".into(), texts(&[3_100, 7_800, 16_000, 31_000]));
        assert_eq!(values(&Size::Tokens(0), false, 0), tokens);
        assert_eq!(values(&Size::Count(0), false, 0), ("params.x.count".into(), texts(&[2, 5, 10, 20])));
        assert_eq!(values(&Size::Ratio(Decimal::ZERO), false, 0).1, ["0.02", "0.05", "0.10", "0.20"]);
    }

    #[test]
    fn small_counts_and_large_shares_are_tried_once_each() {
        assert_eq!(values(&Size::Count(3), false, 0).1, ["1", "2", "4", "6"]);
        assert_eq!(values(&Size::Ratio(Decimal::parse("0.8").unwrap()), false, 0).1, ["0.4", "0.6", "1"]);
    }

    fn texts(numbers: &[u64]) -> Vec<String> {
        numbers.iter().map(ToString::to_string).collect()
    }
}
