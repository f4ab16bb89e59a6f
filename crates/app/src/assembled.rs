//! A report, put together from what the loads of a plan came to, whoever played them.

use std::sync::Arc;

use indexmap::IndexSet;

use super::notes::notes_on_load;
use super::{Load, Plan, unpriced};
use ctxsim_base::list::Listed as _;
use ctxsim_engine::take::{FailedRun, Run};
use ctxsim_input::Policy;
use ctxsim_input::policy::Builtin;
use ctxsim_report::part::{MissingPrice, OfLoad, OfRun, PartHead};
use ctxsim_report::{Folded, RecordingLosses, Report, SessionReport, Skipped, distinct};
use ctxsim_timeline::import::LossReason;

/// What one load of a plan came to.
pub(super) struct Came {
    pub(super) runs: Vec<Run>,
    pub(super) notes: Vec<String>,
    pub(super) session: Option<SessionReport>,
    /// What of its recording could not be used.
    pub(super) losses: Vec<LossReason>,
    /// The profiles of a load with an unknown cost.
    pub(super) unpriced: Vec<MissingPrice>,
}

impl Came {
    pub(super) fn of(load: &Load, runs: Vec<Run>, session: Option<SessionReport>) -> Self {
        let is_unpriced = runs.iter().any(|it| it.tally.costs.total().is_none());
        let unpriced =
            if is_unpriced { load.profiles.iter().map(unpriced::missing).listed() } else { Vec::new() };
        let losses =
            load.timeline().and_then(|it| it.recorded.as_ref()).map_or_else(Vec::new, |it| it.losses.clone());
        Self { runs, notes: notes_on_load(load), session, losses, unpriced }
    }

    /// Takes what totals need.
    pub(super) fn part(self, load: &Load) -> OfLoad {
        let (runs, failures) = Report::without_failed(self.runs);
        OfLoad {
            name: load.name.clone(),
            runs: runs.into_iter().map(OfRun::new).listed(),
            failures,
            notes: self.notes,
            session: self.session.map(|it| SessionReport { as_logged: None, filled: None, ..it }),
            left_out: self.losses,
            unpriced: self.unpriced,
        }
    }
}

impl Plan {
    /// Returns what a report needs of it beside what its loads came to.
    pub fn head(&self, min_evidence: f64) -> PartHead {
        let policies = || self.scenarios.iter().flat_map(|it| &it.policies);
        let oracles = policies().filter(|it| it.code.as_ref().is_some_and(Builtin::looks_ahead));
        let title = |it: &Arc<Policy>| Some((it.name.clone(), it.title.clone()?));
        let schedules = policies().filter(|it| it.code == Some(Builtin::Hindsight));
        PartHead {
            suite: self.suite.clone(),
            notes: self.notes.clone(),
            references: self.references.clone(),
            oracles: distinct(oracles.map(|it| it.name.clone())),
            schedules: distinct(schedules.map(|it| it.name.clone())),
            titles: policies().filter_map(title).collect(),
            baseline: self.policies[0].clone(),
            has_sum: self.has_sum,
            is_ranked: self.is_ranked,
            is_selected: self.selection.is_asked(),
            min_evidence,
        }
    }
}

/// What loads came to, gathered one by one in the order of their plan.
#[derive(Default)]
pub(super) struct Gathered {
    runs: Vec<Run>,
    /// What is kept of the runs in place of them, if they are folded.
    folded: Option<Folded>,
    sessions: Vec<SessionReport>,
    losses: RecordingLosses,
    pub(super) notes: IndexSet<String>,
    unpriced: IndexSet<MissingPrice>,
    pub(super) failures: Vec<FailedRun>,
    pub(super) skipped: Vec<Skipped>,
}

impl Gathered {
    /// Gathers sums and what intervals are made of, and no runs.
    pub(super) fn folding() -> Self {
        Self { folded: Some(Folded::default()), ..Self::default() }
    }

    pub(super) fn add(&mut self, load: Came) {
        self.losses.add(&load.losses);
        self.unpriced.extend(load.unpriced);
        match &mut self.folded {
            Some(folded) => folded.add(&load.runs, load.session.as_ref()),
            None => self.runs.extend(load.runs),
        }
        self.notes.extend(load.notes);
        self.sessions.extend(load.session);
    }

    /// Returns whether no load takes part, or none of the sessions that were asked for.
    pub(super) fn has_none(&self, is_selected: bool) -> bool {
        let has_no_run = self.runs.is_empty() && self.folded.as_ref().is_none_or(Folded::is_empty);
        has_no_run && self.failures.is_empty() || is_selected && self.sessions.is_empty()
    }
}

/// Puts a report together.
pub(super) fn assembled_report(head: &PartHead, gathered: Gathered) -> Report {
    let Gathered { runs, folded, sessions, losses, notes, unpriced, failures, skipped } = gathered;
    let told = head.notes.iter().cloned().chain(notes).listed();
    let suite = head.suite.clone();
    let report = match folded {
        Some(folded) => Report::of_folded(suite, told, (folded, failures), head.has_sum),
        None => Report::new(suite, told, runs, head.has_sum),
    };
    let mut report = Report {
        references: head.references.clone(),
        skipped,
        sessions,
        losses,
        oracles: head.oracles.clone(),
        titles: head.titles.clone(),
        is_ranked: head.is_ranked,
        min_evidence: head.min_evidence,
        ..report
    };
    report.notes.extend(report.notes_on_failures(&head.baseline));
    report.notes.extend(distinct(unpriced::notes(&report, unpriced.iter()).into_iter()));
    report.notes.extend(report.note_on_unread());
    report.notes.extend(report.notes_on_versions());
    report.notes.extend(super::notes::on_best_effort(&report));
    report.n_first_notes = report.notes.len();
    report.notes.extend(super::notes::on_hindsight(&report, &head.schedules));
    report.notes.extend(super::notes::on_recovery(&report));
    report.notes.extend(report.notes_on_resets());
    report.notes.extend(report.notes_on_summarisers());
    if !head.is_ranked {
        report.notes.extend(report.notes_on_stages());
    }
    report
}
