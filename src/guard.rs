//! Rules on reports: a result that breaks one fails a build.

use std::fmt;

use crate::input::suite::Guard;
use crate::report::json::Numbers;
use crate::report::{Report, Run};

/// What a rule came to on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The rule.
    pub guard: String,
    /// The run: policy, scenario, profile.
    pub run: [String; 3],
    /// The number's place in the JSON report.
    pub metric: String,
    /// The number; nothing when the run has none there, or two that are both 0 to be divided.
    pub value: Option<f64>,
    /// What it had to be.
    pub bound: String,
    /// Whether it is.
    pub holds: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [policy, scenario, profile] = &self.run;
        write!(f, "{}: ", self.guard)?;
        match self.value {
            Some(value) => write!(f, "{value} is not {}", self.bound)?,
            None => write!(f, "`{}` has no value that could be {}", self.metric, self.bound)?,
        }
        write!(f, " ({policy} on {scenario} under {profile})")
    }
}

/// Holds a report against guards; what the report does not run is not judged.
#[must_use]
pub fn judge(guards: &[Guard], report: &Report) -> Vec<Verdict> {
    let runs: Vec<Numbers<'_>> = report.labelled().map(|(run, label)| Numbers::new(run, label)).collect();
    let is = |name: &str, wanted: &Option<String>| wanted.as_ref().is_none_or(|it| name == it);
    let mut verdicts = Vec::new();
    for guard in guards {
        let mine = runs.iter().filter(|Numbers { run, .. }| {
            run.policy == guard.policy
                && is(&run.scenario, &guard.scenario)
                && is(&run.profile, &guard.profile)
        });
        for numbers in mine {
            let run = numbers.run;
            let other = guard.over.as_ref().map(|over| {
                let is_other =
                    |it: &Run| it.policy == *over && it.scenario == run.scenario && it.profile == run.profile;
                runs.iter().find(|it| is_other(it.run))
            });
            // The policy to compare with was left out of this run.
            if matches!(other, Some(None)) {
                continue;
            }
            let divisor = other.flatten().map_or(Some(1.0), |it| it.at(&guard.metric));
            let value = numbers.at(&guard.metric).zip(divisor).map(|(value, divisor)| value / divisor);
            let value = value.filter(|it| !it.is_nan());
            for (word, bound, compare) in guard.bounds() {
                verdicts.push(Verdict {
                    guard: guard.name.clone(),
                    run: [&run.policy, &run.scenario, &run.profile].map(String::clone),
                    metric: guard.metric.clone(),
                    value,
                    bound: format!("{word} {bound}"),
                    holds: value.is_some_and(|it| compare(&it, &bound)),
                });
            }
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_is_said_to_be_missing() {
        let verdict = Verdict {
            guard: "it is kept".to_owned(),
            run: ["p", "s", "m"].map(str::to_owned),
            metric: "retention.gap".to_owned(),
            value: None,
            bound: "above 0.5".to_owned(),
            holds: false,
        };

        let told = "it is kept: `retention.gap` has no value that could be above 0.5 (p on s under m)";
        assert_eq!(verdict.to_string(), told);
        let low = Verdict { value: Some(0.25), ..verdict };
        assert_eq!(low.to_string(), "it is kept: 0.25 is not above 0.5 (p on s under m)");
    }
}
