//! The commands that explain the rows of a report.

use super::sections::Section;
use crate::prelude::*;

/// What names the policies, loads and profiles of a report on a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainCommands {
    /// By policy: its arguments.
    pub policies: IndexMap<String, String>,
    /// By load and profile: their arguments.
    pub loads: IndexMap<[String; 2], String>,
}

impl ExplainCommands {
    /// Returns the command that explains a policy's last request, in the scenario of a table where its cost changes most.
    pub fn command_for_policy(&self, report: &Report, section: &Section, policy: &str) -> Option<String> {
        let runs_of = |policy: &str| -> Vec<&Run> {
            let own = report.runs.iter().filter(|it| it.policy == policy && section.has_profile(&it.profile));
            own.filter(|it| section.members.contains(&it.scenario)).listed()
        };
        let first = runs_of(&section.lines.first()?.policy);
        let usd = |it: &Run| it.tally.costs.total().unwrap_or_default();
        let change = |run: &&Run| {
            first.iter().find(|it| it.is_beside(run)).map_or(0.0, |base| (usd(run) - usd(base)).abs())
        };
        // The first policy changes nothing, so that its dearest run is the one to look at.
        let is_first = section.lines.first().is_some_and(|it| it.policy == policy);
        let weight = |it: &&Run| if is_first { usd(it) } else { change(it) };
        let run = runs_of(policy).into_iter().max_by(|one, other| weight(one).total_cmp(&weight(other)))?;
        let own = self.policies.get(policy)?;
        let load = self.loads.get(&[run.scenario.clone(), run.profile.clone()])?;
        let n = run.tally.sums.main.n;
        (n > 0).then(|| format!("ctxsim explain {own} {load} --request {n}"))
    }
}
