//! The values of a parameter that are tried by default: the one place that says which, and why.

use ctxsim_base::list::Listed as _;
use ctxsim_base::quantity::{Decimal, Tokens};
use ctxsim_engine::projection::num::{Known, Num};
use ctxsim_input::policy::Size;
use ctxsim_report::distinct;
use ctxsim_report::tune::Varied;

/// What is known of the sessions before anything is tried.
#[derive(Debug, Default)]
pub(super) struct SeenSessions {
    /// The longest prompt under the base.
    pub(super) prompt_max: Tokens,
    /// What the runs know in advance, one for each load and profile.
    pub(super) known: Vec<Known>,
}

/// How many values are tried: the fewer, the more parameters are varied together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fineness {
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
        match (self, fineness) {
            (Self::Around, Fineness::Fine) => &[25, 50, 75, 125, 150, 200, 300, 400],
            (Self::Around, Fineness::Medium) => &[50, 75, 150, 200],
            (Self::Around, Fineness::Coarse) => &[50, 200],
            (Self::OfPrompts, Fineness::Fine) => &[15, 25, 35, 45, 55, 65, 75, 90],
            (Self::OfPrompts, Fineness::Medium) => &[25, 45, 65, 85],
            (Self::OfPrompts, Fineness::Coarse) => &[40, 75],
            (Self::FromZero, Fineness::Fine) => &[1, 2, 5, 10, 15, 20, 30, 40],
            (Self::FromZero, Fineness::Medium) => &[2, 5, 10, 20],
            (Self::FromZero, Fineness::Coarse) => &[5, 15],
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Around => "multiples of its own number",
            Self::OfPrompts => "shares of the longest prompt",
            Self::FromZero => "up from 0, by shares of the longest prompt",
        }
    }
}

/// The unit of a parameter, and the number that it has.
enum GivenParam {
    Tokens(Tokens),
    Chars(u64),
    Count(u64),
    Ratio(Decimal),
}

/// A parameter to vary.
pub(super) struct VariedParam<'a> {
    pub(super) name: &'a str,
    pub(super) size: &'a Size,
    /// The least that the agent accepts.
    pub(super) least: u64,
    /// Whether it is compared with a prompt.
    pub(super) is_prompt_bound: bool,
}

impl VariedParam<'_> {
    /// Returns the values to try; `None` if its number is known only during a run.
    pub(super) fn varied(&self, seen: &SeenSessions, fineness: Fineness) -> Option<Varied> {
        let given = match self.size {
            Size::Tokens(number) => GivenParam::Tokens(*number),
            Size::Chars(number) => GivenParam::Chars(*number),
            Size::Count(number) => GivenParam::Count(*number),
            Size::Ratio(share) => GivenParam::Ratio(*share),
            _ if self.is_prompt_bound => GivenParam::Tokens(0),
            other => GivenParam::Tokens(median(other, &seen.known)?),
        };
        let rule = match given {
            GivenParam::Tokens(_) if self.is_prompt_bound => RangeRule::OfPrompts,
            GivenParam::Tokens(0)
            | GivenParam::Chars(0)
            | GivenParam::Count(0)
            | GivenParam::Ratio(Decimal::ZERO) => RangeRule::FromZero,
            _ => RangeRule::Around,
        };
        let percents = rule.percents(fineness).iter();
        let of_prompt = |percent: &u64| rounded(part(seen.prompt_max, *percent));
        let (unit, values): (_, Vec<String>) = match (given, rule) {
            (GivenParam::Ratio(share), RangeRule::Around) => {
                ("ratio", percents.filter_map(|it| capped(share, *it)).listed())
            }
            (GivenParam::Ratio(_), _) => ("ratio", percents.map(|it| format!("0.{it:02}")).listed()),
            (GivenParam::Count(number), RangeRule::Around) => {
                ("count", self.numbers(percents.map(|it| part(number, *it))))
            }
            (GivenParam::Count(_), _) => ("count", self.numbers(percents.copied())),
            (GivenParam::Chars(number), RangeRule::Around) => {
                ("chars", self.numbers(percents.map(|it| part(number, *it))))
            }
            (GivenParam::Chars(_), _) => ("chars", self.numbers(percents.map(|it| 4 * of_prompt(it)))),
            (GivenParam::Tokens(number), RangeRule::Around) => {
                ("tokens", self.numbers(percents.map(|it| part(number, *it))))
            }
            (GivenParam::Tokens(_), _) => ("tokens", self.numbers(percents.map(of_prompt))),
        };
        let values = distinct(values.into_iter());
        let path = format!("params.{}.{unit}", self.name);
        (!values.is_empty()).then(|| Varied { path, values, rule: rule.words().into() })
    }

    /// Writes numbers of at least 1, and of no less than the agent accepts; its own number is left out.
    fn numbers(&self, all: impl Iterator<Item = u64>) -> Vec<String> {
        let own = match self.size {
            Size::Tokens(own) | Size::Chars(own) | Size::Count(own) => Some(*own),
            _ => None,
        };
        let tried = all.map(|it| it.max(self.least).max(1)).filter(|it| Some(*it) != own);
        tried.map(|it| it.to_string()).listed()
    }
}

/// Returns some percent of a number.
fn part(number: u64, percent: u64) -> u64 {
    (u128::from(number) * u128::from(percent) / 100).try_into().unwrap_or(number)
}

/// Returns some percent of a share, at most all of it; nothing for the share itself.
fn capped(share: Decimal, percent: u64) -> Option<String> {
    let factor = Decimal::parse(&format!("{}.{:02}", percent / 100, percent % 100))?;
    let value = Some(share.times(factor)?).filter(|it| *it <= Decimal::ONE).unwrap_or(Decimal::ONE);
    (value != share).then(|| value.to_string())
}

/// Rounds a number to two digits, as people write thresholds.
fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

/// Returns a size in the median load; `None` if no load knows it in advance.
fn median(size: &Size, known: &[Known]) -> Option<Tokens> {
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
        let varied = candidate.varied(&seen, Fineness::Medium).unwrap();
        (varied.path, varied.values)
    }

    #[test]
    fn a_trigger_is_tried_where_prompts_are_and_a_number_around_itself() {
        let computed = Size::Minus(vec![Size::Limit, Size::Tokens(33_000)]);
        assert_eq!(values(&computed, true, 0).1, ["39000", "70000", "100000", "130000"]);
        assert_eq!(values(&Size::Tokens(900_000), true, 0).1, ["39000", "70000", "100000", "130000"]);
        assert_eq!(
            values(&computed, true, 67_000).1,
            ["67000", "70000", "100000", "130000"],
            "none that is refused"
        );
        assert_eq!(values(&Size::Tokens(20_000), false, 0).1, ["10000", "15000", "30000", "40000"]);
        let share = Size::Times(Decimal::parse("0.1").unwrap(), Box::new(Size::Limit));
        assert_eq!(values(&share, false, 0).1, ["10000", "15000", "30000", "40000"]);
    }

    #[test]
    fn a_zero_has_a_range_of_its_own_in_each_unit() {
        assert_eq!(
            values(&Size::Tokens(0), false, 0),
            ("params.x.tokens".into(), texts(&[3_100, 7_800, 16_000, 31_000]))
        );
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
