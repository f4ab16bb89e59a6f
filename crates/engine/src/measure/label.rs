//! How a run compares with the first policy of its group: a lower cost alone is not a win.

use serde::{Deserialize, Serialize};

use super::Tally;
use ctxsim_base::quantity::Expected;

/// A label of a run relative to its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// It is the baseline.
    Baseline,
    /// Cheaper, with no more recovery tokens and no more recovery calls.
    Dominates,
    /// At least half a percent cheaper, with at most two percent more of either.
    SafeCostWin,
    /// Cheaper, but evidence is lost.
    CostOnly,
    /// The same cost and the same recovery: it changed nothing that is paid for.
    Same,
    /// Not cheaper.
    Loses,
}

/// The smallest saving of a safe win.
const COST_SHARE: f64 = 0.995;
/// The largest increase in recovery of a safe win.
const RECOVERY_SHARE: f64 = 1.02;

impl Label {
    /// Compares a run with the baseline; `None` if they cannot be compared.
    ///
    /// Runs without needs do not show lost evidence, a run that stopped early has done less work, and an
    /// unknown cost cannot be compared.
    pub fn new(run: &Tally, baseline: &Tally) -> Option<Self> {
        let is_same_work = run.outcome.did_as_much_as(&baseline.outcome);
        if !run.has_needs || !baseline.has_needs || !is_same_work {
            return None;
        }
        let (cost, cost_then) = (run.costs.exact()?, baseline.costs.exact()?);
        let (tokens, tokens_then) = (recovery_tokens(run), recovery_tokens(baseline));
        let (calls, calls_then) = (run.sums.needs.calls, baseline.sums.needs.calls);
        let is_safe = cost.usd() <= cost_then.usd() * COST_SHARE
            && tokens.to_f64() <= tokens_then.to_f64() * RECOVERY_SHARE
            && calls.to_f64() <= calls_then.to_f64() * RECOVERY_SHARE;
        Some(if cost < cost_then && tokens <= tokens_then && calls <= calls_then {
            Self::Dominates
        } else if is_safe {
            Self::SafeCostWin
        } else if cost < cost_then {
            Self::CostOnly
        } else if cost == cost_then && tokens == tokens_then && calls == calls_then {
            Self::Same
        } else {
            Self::Loses
        })
    }
}

/// Returns the expected tokens of recovery, input and output.
fn recovery_tokens(run: &Tally) -> Expected {
    run.recovery_input + run.recovery_output
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{NeedSums, Sums};
    use crate::price::Costs;
    use ctxsim_base::quantity::Amount;

    fn run(cost: f64, tokens: f64, calls: f64) -> Tally {
        Tally {
            sums: Sums {
                needs: NeedSums { calls: Expected::of(calls), ..NeedSums::default() },
                ..Sums::default()
            },
            costs: Costs { recovery: Amount::of_usd(cost), ..Costs::default() },
            recovery_input: Expected::of(tokens),
            ..Tally::empty()
        }
    }

    #[test]
    fn a_run_is_named_by_cost_and_by_what_recovery_takes() {
        let baseline = run(100.0, 1_000.0, 10.0);
        let label = |cost, tokens, calls| Label::new(&run(cost, tokens, calls), &baseline);

        assert_eq!(label(99.9, 1_000.0, 10.0), Some(Label::Dominates));
        assert_eq!(label(99.5, 1_020.0, 10.2), Some(Label::SafeCostWin));
        assert_eq!(label(99.6, 1_020.0, 10.0), Some(Label::CostOnly), "less than half a percent");
        assert_eq!(label(50.0, 1_021.0, 10.0), Some(Label::CostOnly), "more than two percent");
        assert_eq!(label(100.0, 0.0, 0.0), Some(Label::Loses), "an equal cost is no win");
        assert_eq!(label(100.0, 1_000.0, 10.0), Some(Label::Same), "nor is it a loss if nothing differs");
    }

    #[test]
    fn a_run_that_did_less_or_knows_no_needs_is_not_compared() {
        let baseline = run(100.0, 0.0, 0.0);
        let mut stopped = run(1.0, 0.0, 0.0);
        (stopped.outcome.turns_requested, stopped.outcome.turns_completed) = (8, 7);
        let mut unknown = run(1.0, 0.0, 0.0);
        unknown.has_needs = false;

        assert_eq!(Label::new(&stopped, &baseline), None);
        assert_eq!(Label::new(&unknown, &baseline), None);
    }
}
