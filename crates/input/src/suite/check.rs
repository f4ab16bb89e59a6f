//! The rules of a suite.

use super::{BoundOf, Figure, Guard, GuardRule, Habits, SuiteFile};
use crate::prelude::*;
use crate::text::set::Override;

/// Checks a suite.
pub(super) fn suite(suite: &SuiteFile, problems: &mut Problems) {
    if let Some(habits) = &suite.break_even {
        check_habits(habits, problems);
    }
    check_guards(&suite.guards, problems);
    check_figures(&suite.figures, problems);
    for (index, text) in suite.set.iter().enumerate() {
        if let Err(problem) = Override::parse(text) {
            let (field, help) = (format!("set.{index}"), problem.help.unwrap_or_default());
            problems.push_at(problem.code, field, problem.message, help);
        }
    }
}

/// Checks the inputs of break-even points.
fn check_habits(asked: &Habits, problems: &mut Problems) {
    let zeros = [
        ("prune_removes_tokens", asked.prune_removes_tokens == 0),
        ("keep_alive_after", asked.keep_alive_after == Decimal::ZERO),
        ("fill_up_requests", asked.fill_up_requests == 0),
        ("compression", asked.compression == Decimal::ZERO),
    ];
    for (field, _) in zeros.into_iter().filter(|it| it.1) {
        let message = "a break-even point of 0 is not possible";
        let help = "write more than 0";
        problems.push_at(Code("break-even-value"), format_args!("break_even.{field}"), message, help);
    }
    if asked.compaction_miss_share > Decimal::ONE {
        let message = "the share is above 1";
        let help = "write a share from 0 to 1";
        problems.push_at(Code("break-even-value"), "break_even.compaction_miss_share", message, help);
    }
}

/// Checks guards: each has one bound, and a metric if the bound needs one. The catalog checks that their
/// names exist.
fn check_guards(guards: &[Guard], problems: &mut Problems) {
    problems.within_each("guards", guards, check_guard);
}

fn check_guard(guard: &Guard, problems: &mut Problems) {
    let rules = guard.rules();
    let [rule] = rules.as_slice() else {
        let message = format!("guard `{}` has {} bounds", guard.name, rules.len());
        let help = "write exactly one of `above`, `at_least`, `below`, `at_most`, `max_increase`, `max_decrease`, \
                `fired`";
        problems.push(Code("guard-bound"), message, help);
        return;
    };
    match rule {
        GuardRule::Fired(_) if guard.metric.is_some() || guard.over.is_some() || guard.surely => {
            let message = format!(
                "guard `{}` has `fired`, which does not combine with `metric`, `over` or `surely`",
                guard.name
            );
            problems.push(Code("guard-bound"), message, "remove these fields, or use another bound");
        }
        GuardRule::Fired(_) => {}
        _ if guard.metric.is_none() => {
            let help = "add `metric` with a number of the JSON report, such as `totals.cost_usd.total`";
            problems.push(Code("guard-metric"), format!("guard `{}` has no `metric`", guard.name), help);
        }
        GuardRule::MaxIncrease(share) | GuardRule::MaxDecrease(share) => {
            if matches!(share.of, BoundOf::Window | BoundOf::Limit) || share.number < 0.0 {
                let message = format!("guard `{}` allows a change by {share}", guard.name);
                let help = "write a share of the base's number, such as \"3%\" or 0.03";
                problems.push(Code("guard-bound"), message, help);
            }
        }
        GuardRule::Bound(..) => {}
    }
}

/// Checks published figures: names are unique, and each number is compared with at most one other.
fn check_figures(figures: &[Figure], problems: &mut Problems) {
    for (index, figure) in figures.iter().enumerate() {
        problems.within(format_args!("figures.{index}"), |problems| {
            if figures[..index].iter().any(|it| it.name == figure.name) {
                let message = format!("two figures are called `{}`", figure.name);
                problems.push_at(Code("figure-duplicate"), "name", message, "use each name once");
            }
            let is_less = figure.minus.is_some() || figure.minus_scenario.is_some();
            if is_less && figure.over.is_some() {
                let message = "a figure has both `over` and `minus`";
                problems.push_at(Code("figure-twice"), "over", message, "keep `over` or `minus`");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::GuardBound;

    fn guard() -> Guard {
        Guard {
            name: "it is kept".to_owned(),
            policy: "p".to_owned(),
            metric: Some("retention.accuracy.mean".to_owned()),
            above: Some(GuardBound { number: 0.5, of: BoundOf::One }),
            ..Guard::default()
        }
    }

    #[test]
    fn a_guard_has_one_bound() {
        let bound = |number, of| Some(GuardBound { number, of });
        let twice = Guard { below: bound(1.0, BoundOf::One), ..guard() };
        let fires = Guard { above: None, metric: None, fired: vec!["cut".to_owned()], ..guard() };
        let codes_of = |guard: Guard| -> Vec<(&str, String)> {
            let mut problems = Problems::default();
            check_guards(&[guard], &mut problems);
            let found = problems.into_result(()).err().unwrap_or_default();
            found.into_iter().map(|it| (it.code.name(), it.place.field)).collect()
        };

        assert_eq!(codes_of(guard()), []);
        assert_eq!(codes_of(fires.clone()), []);
        let wrong = [
            twice,
            Guard { surely: true, ..fires },
            Guard { above: None, max_increase: bound(0.9, BoundOf::Window), ..guard() },
            Guard { above: None, max_increase: bound(-1.0, BoundOf::Percent), ..guard() },
        ];
        for guard in wrong {
            assert_eq!(codes_of(guard), [("guard-bound", "guards.0".to_owned())]);
        }
        assert_eq!(codes_of(Guard { metric: None, ..guard() }), [("guard-metric", "guards.0".to_owned())]);
    }
}
