//! Published conclusions, beside our own numbers.

use super::tables::ScenarioRuns;
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers::plain_or_none as written;
use ctxsim_input::suite::DerivedNumber;

impl ScenarioRuns<'_> {
    /// One line per finding whose policies are in the report; `None` if there is none.
    pub(super) fn published(&self) -> Option<Grid> {
        let mut rows = Vec::new();
        for reference in self.references {
            for finding in &reference.findings {
                let Some(ours) = self.found(finding) else { continue };
                let write = |number| written(number, usize::from(finding.decimals));
                rows.push(vec![
                    finding.name.clone(),
                    write(ours),
                    write(Some(finding.value)),
                    reference.name.clone(),
                ]);
            }
        }
        (!rows.is_empty())
            .then(|| Grid::new("Published findings", 1, &["finding", "ours", "theirs", "whose"], rows))
    }

    /// Returns our number for a finding, or `None` if a policy was left out.
    fn found(&self, finding: &DerivedNumber) -> Option<Option<f64>> {
        let number = |policy: &str| {
            let (_, retention) = self.runs.iter().find(|(run, _)| run.policy == policy)?;
            Some(retention.number(&finding.metric).map(|it| match finding.from_decimals {
                Some(decimals) => rounded(it, decimals),
                None => it,
            }))
        };
        let value = number(&finding.policy)?;
        let Some(over) = &finding.over else { return Some(value) };
        let ratio = value.zip(number(over)?).map(|(value, over)| value / over);
        Some(ratio.filter(|it| it.is_finite()))
    }
}

/// Rounds a number as tables write it.
fn rounded(number: f64, decimals: u8) -> f64 {
    written(Some(number), decimals.into()).parse().unwrap_or(number)
}
