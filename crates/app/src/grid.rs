//! A grid of overrides: every value of each varied path with every value of the others.

use crate::prelude::*;

use ctxsim_base::diag::Problems;
use ctxsim_base::quantity::Decimal;
use ctxsim_input::text::set::{self, SetTarget};
use ctxsim_report::sweep::json::POINTS_MAX;
use ctxsim_report::tune::VariedPath;

/// A grid of overrides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverrideGrid {
    /// The varied paths; the last one varies fastest.
    pub axes: Vec<VariedPath>,
}

/// A point of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridPoint {
    /// Its place in the grid, from 0.
    pub index: usize,
    /// Overrides of scenarios and profiles.
    pub of_load: Vec<String>,
    /// Overrides of the policy.
    pub of_policy: Vec<String>,
}

impl OverrideGrid {
    /// Parses `PATH=LO..HI:STEP` and `PATH=A,B,C`.
    ///
    /// # Errors
    /// Every axis that cannot be parsed, a path that is varied twice, or too many points.
    pub fn parse(texts: &[String]) -> Checked<Self> {
        let mut problems = Problems::default();
        let mut grid = Self::default();
        for text in texts {
            match parse_axis(text) {
                Ok(axis) if grid.axes.iter().any(|it| it.path == axis.path) => {
                    let message = format!("`{}` is varied twice", axis.path);
                    problems.push(Code("vary-twice"), message, "list all of its values in one `--vary`");
                }
                Ok(axis) => grid.axes.push(axis),
                Err((message, help)) => problems.push(Code("vary-values"), message, help),
            }
        }
        let n = grid.axes.iter().try_fold(1_usize, |n, it| n.checked_mul(it.values.len()));
        if n.is_none_or(|it| it > POINTS_MAX) {
            let message = format!("the grid has more than {POINTS_MAX} points");
            problems.push(Code("vary-too-many"), message, "vary fewer paths, or use larger steps");
        }
        problems.into_result(grid)
    }

    /// Returns the number of points it has.
    pub fn len(&self) -> usize {
        self.axes.iter().map(|it| it.values.len()).product()
    }

    /// Returns whether it has no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn point_at(&self, index: usize) -> GridPoint {
        let mut rest = index;
        let mut set: Vec<String> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            set.push(format!("{}={}", axis.path, axis.values[rest % axis.values.len()]));
            rest /= axis.values.len();
        }
        set.reverse();
        let is_of_policy = |it: &String| Override::parse(it).is_ok_and(|it| it.target == SetTarget::Policy);
        let (of_policy, of_load) = set.into_iter().partition(is_of_policy);
        GridPoint { index, of_load, of_policy }
    }
}

/// Parses an axis; what is wrong with it is told with a way out.
fn parse_axis(text: &str) -> Result<VariedPath, (String, String)> {
    let Some((path, values)) = text.split_once('=') else {
        let help = "write `--vary PATH=LO..HI:STEP` or `--vary PATH=A,B,C`";
        return Err((format!("`{text}` has no values"), help.to_owned()));
    };
    let values = match values.split_once("..") {
        Some((from, rest)) => parse_range(values, from, rest)?,
        None => values.split(',').map(|it| it.trim().to_owned()).listed(),
    };
    if values.iter().any(String::is_empty) {
        let help = format!("separate values with commas, as in `{path}=2,4,8`");
        return Err((format!("`{text}` has an empty value"), help));
    }
    if let Some([first, again]) = first_equal_values(&values) {
        let message = if first == again {
            format!("`{text}` has the value `{first}` twice")
        } else {
            format!("`{first}` and `{again}` of `{text}` are the same value")
        };
        return Err((message, "list each value once".to_owned()));
    }
    Ok(VariedPath { path: path.trim().to_owned(), values, rule: "as given".into() })
}

/// Returns the first two values of a list that are the same, however they are written.
fn first_equal_values(values: &[String]) -> Option<[&str; 2]> {
    let mut seen: IndexMap<String, &str> = IndexMap::with_capacity(values.len());
    values.iter().find_map(|value| {
        let meant = set::number(value).map_or_else(|| value.clone(), |it| it.to_string());
        seen.insert(meant, value).map(|first| [first, value.as_str()])
    })
}

/// Returns the numbers of a range, both ends included, without a rounding error.
fn parse_range(text: &str, from: &str, to_and_step: &str) -> Result<Vec<String>, (String, String)> {
    let (to, step) = to_and_step.split_once(':').unwrap_or((to_and_step, "1"));
    let refused = |message: String, help: &str| Err((message, help.to_owned()));
    if step.trim_start().starts_with('-') {
        let help = "write the lower end first, and a step above 0, as in `0.4..0.8:0.05`";
        return refused(format!("the step of `{text}` is negative"), help);
    }
    let [Some(from), Some(to), Some(step)] = [from, to, step].map(set::number) else {
        let help = "write numbers of at least 0, as in `0.4..0.8:0.05` or `20k..90k:10k`";
        return refused(format!("`{text}` is not a range of numbers"), help);
    };
    if step == Decimal::ZERO {
        return refused(format!("the step of `{text}` is 0"), "write a step above 0, as in `0.4..0.8:0.05`");
    }
    if to < from {
        let help = "write the lower end first, as in `0.4..0.8:0.05`";
        return refused(format!("`{text}` ends below its start"), help);
    }
    format_range(from, to, step).ok_or_else(|| {
        let most = thousands(POINTS_MAX as u64);
        (format!("`{text}` has more than {most} values"), "use larger steps".to_owned())
    })
}

/// Writes the numbers of a range, all with as many decimals; `None` if there are too many.
fn format_range(from: Decimal, to: Decimal, step: Decimal) -> Option<Vec<String>> {
    let places =
        [from, to, step].iter().map(|it| it.to_string().split_once('.').map_or(0, |it| it.1.len())).max()?;
    let places = u32::try_from(places).ok()?;
    let [from, to, step] = [from.scaled(places)?, to.scaled(places)?, step.scaled(places)?];
    let n = (to - from) / step;
    if n >= POINTS_MAX as u64 {
        return None;
    }
    let unit = 10_u64.checked_pow(places)?;
    let written = |digits: u64| match places {
        0 => digits.to_string(),
        _ => format!("{}.{:0width$}", digits / unit, digits % unit, width = places as usize),
    };
    Some((0..=n).map(|it| written(from + it * step)).listed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(texts: &[&str]) -> Result<OverrideGrid, Vec<&'static str>> {
        let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
        OverrideGrid::parse(&texts).map_err(|it| it.iter().map(|it| it.code.name()).collect())
    }

    #[test]
    fn a_range_has_both_ends_and_no_rounding_errors() {
        let axis = |text| grid(&[text]).unwrap().axes.remove(0).values;

        assert_eq!(axis("params.x.ratio=0.4..0.8:0.1"), ["0.4", "0.5", "0.6", "0.7", "0.8"]);
        assert_eq!(axis("params.x=2,4, 8"), ["2", "4", "8"]);
        assert_eq!(axis("params.x.tokens=10_000..30_000:10000"), ["10000", "20000", "30000"]);
        assert_eq!(axis("params.x=1..3"), ["1", "2", "3"]);
        assert_eq!(axis("params.x=0.05..0.16:0.05"), ["0.05", "0.10", "0.15"]);
    }

    #[test]
    fn a_grid_counts_its_last_axis_fastest_and_knows_what_is_of_the_policy() {
        let grid = grid(&["params.a=1,2", "profile.limits.input_tokens=7", "stages.s.when=1,2,3"]).unwrap();

        assert_eq!(grid.len(), 6);
        let point = grid.point_at(4);
        assert_eq!(point.of_policy, ["params.a=2", "stages.s.when=2"]);
        assert_eq!(point.of_load, ["profile.limits.input_tokens=7"]);
    }

    #[test]
    fn what_cannot_be_varied_is_refused() {
        assert_eq!(grid(&["params.a"]), Err(vec!["vary-values"]));
        assert_eq!(grid(&["params.a=2..1"]), Err(vec!["vary-values"]));
        assert_eq!(grid(&["params.a=1,,2"]), Err(vec!["vary-values"]));
        assert_eq!(grid(&["params.a=1", "params.a=2"]), Err(vec!["vary-twice"]));
        assert_eq!(grid(&["params.a=0..99999", "params.b=0..99999"]), Err(vec!["vary-too-many"]));
    }

    #[test]
    fn each_wrong_range_is_told_what_is_wrong_with_it() {
        let told = |text: &str| parse_axis(text).unwrap_err().0;

        assert_eq!(told("x=1..100000000:1"), "`1..100000000:1` has more than 1,000,000 values");
        assert_eq!(told("x=1..5:0"), "the step of `1..5:0` is 0");
        assert_eq!(told("x=1..5:-5"), "the step of `1..5:-5` is negative");
        assert_eq!(told("x=5..1"), "`5..1` ends below its start");
        assert_eq!(told("x=1..many"), "`1..many` is not a range of numbers");
    }

    #[test]
    fn a_value_that_is_written_in_two_ways_is_one_value() {
        let told = |text: &str| parse_axis(text).unwrap_err().0;

        assert_eq!(told("x=10k,20k,10_000"), "`10k` and `10_000` of `x=10k,20k,10_000` are the same value");
        assert_eq!(told("x=mine,yours,mine"), "`x=mine,yours,mine` has the value `mine` twice");
        assert_eq!(parse_axis("x=20k..40k:10k").unwrap().values, ["20000", "30000", "40000"]);
    }
}
