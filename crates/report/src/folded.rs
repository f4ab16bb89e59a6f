//! What a fold keeps of runs: their sums, and of each run what intervals are made of. Its size hardly grows with the sessions.

use super::lines::{PolicySums, RunBrief, RunFigures};
use super::sections::groups::{FEW_SCENARIOS, top_folder};
use super::{ALL, FailedRun, GroupKey, SessionReport};
use crate::prelude::*;
use ctxsim_base::quantity::ix;

/// Runs that were folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedRuns {
    policies: IndexSet<String>,
    profiles: IndexSet<String>,
    days: IndexSet<String>,
    scenarios: Vec<Box<str>>,
    /// In the order of a report.
    runs: Vec<FoldedRun>,
    sums: IndexMap<FoldUnder, PolicySums>,
}

/// Runs that are added up: those of a key, under one profile or under any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FoldUnder {
    key: GroupKey,
    profile: Option<String>,
}

/// What is kept of one run; names are numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FoldedRun {
    policy: u32,
    profile: u32,
    day: u32,
    scenario: u32,
    figures: RunFigures,
}

impl FoldedRuns {
    /// Adds the runs of one load.
    pub fn add_load(&mut self, runs: &[Run], session: Option<&SessionReport>) {
        let Some(first) = runs.first() else { return };
        let mut keys = table_keys_of_runs(runs, session);
        let scenario = ix(self.scenarios.len());
        self.scenarios.push(first.scenario.as_str().into());
        // Scenarios are shown by themselves only where they are few.
        match self.scenarios.len() {
            0..=FEW_SCENARIOS => keys.push(GroupKey::One(first.scenario.clone())),
            _ => self.sums.retain(|it, _| !matches!(it.key, GroupKey::One(_))),
        }
        for run in runs {
            let kept = FoldedRun {
                policy: intern_name(&mut self.policies, &run.policy),
                profile: intern_name(&mut self.profiles, &run.profile),
                day: intern_name(&mut self.days, &run.assumed.as_of),
                scenario,
                figures: run.into(),
            };
            self.runs.push(kept);
            for key in &keys {
                let profiles = [Some(run.profile.clone()), None];
                let all = profiles.map(|profile| FoldUnder { key: key.clone(), profile });
                all.into_iter().for_each(|it| self.sums.entry(it).or_default().add_run(run));
            }
        }
    }

    /// Returns whether there is no run.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the runs in brief.
    pub(super) fn run_briefs(&self) -> impl Iterator<Item = RunBrief<'_>> {
        self.runs.iter().map(|run| RunBrief {
            policy: &self.policies[run.policy as usize],
            scenario: &self.scenarios[run.scenario as usize],
            profile: &self.profiles[run.profile as usize],
            as_of: &self.days[run.day as usize],
            figures: run.figures,
        })
    }

    /// Returns the sums of the runs of a key, under one profile or under any; `None` where there are no runs.
    pub(super) fn policy_sums(&self, key: &GroupKey, profile: Option<&str>) -> Option<&PolicySums> {
        self.sums.get(&FoldUnder { key: key.clone(), profile: profile.map(str::to_owned) })
    }

    /// Returns the sums over scenarios, by profile, then by policy; a policy that failed on one of them has none.
    pub fn sums_over_scenarios(&self, failures: &[FailedRun]) -> Vec<Run> {
        let is_of = |run: &Run, no: &FailedRun| no.policy == run.policy && no.profile == run.profile;
        let has_failed = |run: &Run| failures.iter().any(|no| is_of(run, no));
        let by_profile = self.profiles.iter().filter_map(|it| self.policy_sums(&GroupKey::All, Some(it)));
        let runs = by_profile.flat_map(|it| it.iter().map(|(_, sum)| &sum.run));
        runs.filter(|it| !has_failed(it)).map(|sum| Run { scenario: ALL.to_owned(), ..sum.clone() }).listed()
    }
}

/// Returns the number of a name.
fn intern_name(names: &mut IndexSet<String>, name: &str) -> u32 {
    ix(names.get_index_of(name).unwrap_or_else(|| names.insert_full(name.to_owned()).0))
}

/// Returns the keys of all tables that the runs of a load may be in.
fn table_keys_of_runs(runs: &[Run], session: Option<&SessionReport>) -> Vec<GroupKey> {
    let Some(session) = session else {
        return vec![GroupKey::All, GroupKey::Folder(top_folder(&runs[0].scenario).to_owned())];
    };
    let is_under_several = runs.iter().any(|it| it.profile != runs[0].profile);
    let format = GroupKey::Format { is_under_several, format: session.format };
    let mut keys = vec![GroupKey::All, GroupKey::Sessions { is_under_several }, format];
    keys.extend((!is_under_several).then(|| GroupKey::Lane { is_of_agent: session.parent.is_some() }));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::RunResult;
    use ctxsim_engine::measure::Tally;

    fn run(policy: &str, nth: usize) -> Run {
        let of_run = RunResult {
            policy: policy.to_owned(),
            profile: "some/model".to_owned(),
            as_of: "2026-11-25".to_owned(),
            seed: 0,
            trials: 1,
            looks_ahead: false,
            is_counting_unknown: false,
            tally: Tally::empty(),
            stages: Vec::new(),
            apply: None,
        };
        of_run.into_run(&format!("sessions/{nth}"), false)
    }

    /// A session under seven policies may take two kilobytes, its name and its row included.
    #[test]
    fn what_is_kept_of_a_session_is_small_and_sums_do_not_grow_with_sessions() {
        assert!(size_of::<FoldedRun>() * 7 < 600, "{}", size_of::<FoldedRun>());
        let mut folded = FoldedRuns::default();
        let add = |folded: &mut FoldedRuns, sessions: std::ops::Range<usize>| {
            sessions.for_each(|nth| folded.add_load(&["identity", "other"].map(|it| run(it, nth)), None));
        };

        add(&mut folded, 0..FEW_SCENARIOS + 1);
        let n_sums = folded.sums.len();
        add(&mut folded, FEW_SCENARIOS + 1..100);

        assert_eq!((folded.sums.len(), folded.runs.len()), (n_sums, 200));
        let all = folded.policy_sums(&GroupKey::All, None).unwrap();
        assert_eq!(all.iter().map(|(_, it)| it.run.tally.n_runs).collect::<Vec<_>>(), [100, 100]);
    }
}
