//! A report, put together from what the loads of a plan came to, whoever played them.

use crate::prelude::*;

use crate::session::{note_on_recounted_tokens, note_on_refused_marks};
use crate::written_loads::early_request_lint;
use ctxsim_base::grid::numbers::{NONE, percent};
use ctxsim_base::quantity::Expected;
use ctxsim_engine::take::{FailedRun, Run};
use ctxsim_input::policy::Builtin;
use ctxsim_input::profile::cache::unmet;
use ctxsim_report::part::{LoadResult, MissingPrice, PartHead, RunResult};
use ctxsim_report::sections::{Detail, Section, TableLine};
use ctxsim_report::{FoldedRuns, RecordingLosses, Report, RunBrief, SessionReport};
use ctxsim_timeline::import::LossReason;

/// What one load of a plan came to.
pub(super) struct LoadResults {
    pub(super) runs: Vec<Run>,
    pub(super) notes: Vec<String>,
    pub(super) session: Option<SessionReport>,
    /// What of its recording could not be used.
    pub(super) losses: Vec<LossReason>,
    /// The profiles of a load with an unknown cost.
    pub(super) unpriced: Vec<MissingPrice>,
}

impl LoadResults {
    pub(super) fn from_runs(load: &Load, runs: Vec<Run>, session: Option<SessionReport>) -> Self {
        let is_unpriced = runs.iter().any(|it| it.tally.costs.total().is_none());
        let unpriced = load.profiles.iter().filter(|_| is_unpriced).map(missing_prices_of).listed();
        let losses =
            load.timeline().and_then(|it| it.recorded.as_ref()).map_or_else(Vec::new, |it| it.losses.clone());
        Self { runs, notes: notes_on_load(load), session, losses, unpriced }
    }

    /// Takes what totals need.
    pub(super) fn into_load_result(self, load: &Load) -> LoadResult {
        let (runs, failures) = Report::split_off_failed(self.runs);
        LoadResult {
            name: load.name.clone(),
            runs: runs.into_iter().map(RunResult::new).listed(),
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
    pub fn report_head(&self, min_evidence: f64) -> PartHead {
        let policies = || self.scenarios.iter().flat_map(|it| &it.policies);
        let oracles = policies().filter(|it| it.code.as_ref().is_some_and(Builtin::looks_ahead));
        let title = |it: &Arc<Policy>| Some((it.name.clone(), it.title.clone()?));
        let settings = self.settings.iter().flat_map(|it| it.titles());
        let schedules = policies().filter(|it| it.code == Some(Builtin::Hindsight));
        PartHead {
            suite: self.suite.clone(),
            notes: self.notes.clone(),
            references: self.references.clone(),
            oracles: distinct(oracles.map(|it| it.name.clone())),
            schedules: distinct(schedules.map(|it| it.name.clone())),
            titles: policies().filter_map(title).chain(settings).collect(),
            settings: self.settings.iter().flat_map(|it| it.titles()).map(|it| it.0).listed(),
            baseline: self.policies[0].clone(),
            has_sum: self.has_sum,
            is_ranked: self.is_ranked,
            is_selected: self.selection.is_set(),
            min_evidence,
        }
    }
}

/// What loads came to, gathered one by one in the order of their plan.
#[derive(Default)]
pub(super) struct GatheredResults {
    runs: Vec<Run>,
    /// What is kept of the runs in place of them, if they are folded.
    folded: Option<FoldedRuns>,
    sessions: Vec<SessionReport>,
    losses: RecordingLosses,
    pub(super) notes: IndexSet<String>,
    unpriced: IndexSet<MissingPrice>,
    pub(super) failures: Vec<FailedRun>,
    pub(super) skipped: Vec<SkippedFile>,
}

impl GatheredResults {
    /// Gathers sums and what intervals are made of, and no runs.
    pub(super) fn new_without_runs() -> Self {
        Self { folded: Some(FoldedRuns::default()), ..Self::default() }
    }

    pub(super) fn add_load(&mut self, results: LoadResults) {
        self.losses.add_session_losses(&results.losses);
        self.unpriced.extend(results.unpriced);
        match &mut self.folded {
            Some(folded) => folded.add_load(&results.runs, results.session.as_ref()),
            None => self.runs.extend(results.runs),
        }
        self.notes.extend(results.notes);
        self.sessions.extend(results.session);
    }

    /// Returns whether no load takes part, or none of the sessions that were asked for.
    pub(super) fn has_nothing_to_report(&self, with_selection: bool) -> bool {
        let has_no_run = self.runs.is_empty() && self.folded.as_ref().is_none_or(FoldedRuns::is_empty);
        has_no_run && self.failures.is_empty() || with_selection && self.sessions.is_empty()
    }
}

/// Puts a report together.
pub(super) fn assemble_report(head: &PartHead, gathered: GatheredResults) -> Report {
    let GatheredResults { runs, folded, sessions, losses, notes, unpriced, failures, skipped } = gathered;
    let told = head.notes.iter().cloned().chain(notes).listed();
    let suite = head.suite.clone();
    let report = match folded {
        Some(folded) => Report::from_folded(suite, told, (folded, failures), head.has_sum),
        None => Report::new(suite, told, runs, head.has_sum),
    };
    let mut report = Report {
        references: head.references.clone(),
        skipped,
        sessions,
        losses,
        oracles: head.oracles.clone(),
        titles: head.titles.clone(),
        settings: head.settings.clone(),
        is_ranked: head.is_ranked,
        min_evidence: head.min_evidence,
        ..report
    };
    report.notes.extend(report.notes_on_failed_baseline(&head.baseline));
    report.notes.extend(distinct(notes_on_unpriced(&report, unpriced.iter()).into_iter()));
    report.notes.extend(report.note_on_unread_records());
    report.notes.extend(report.notes_on_newer_versions());
    report.notes.extend(notes_on_best_effort_caches(&report));
    report.n_first_notes = report.notes.len();
    report.notes.extend(notes_on_hindsight(&report, &head.schedules));
    report.notes.extend(notes_on_recovery(&report));
    report.notes.extend(report.notes_on_compactions());
    report.notes.extend(report.notes_on_summariser_limits());
    if !head.is_ranked {
        report.notes.extend(report.idle_stage_notes());
    }
    report
}

/// Returns what a reader must know of it and the policies that it is played under.
pub fn notes_on_load(load: &Load) -> Vec<String> {
    let mut notes = note_on_recounted_tokens(load).into_iter().chain(note_on_refused_marks(load)).listed();
    for policy in &load.policies {
        for it in unmet(policy, &load.profiles) {
            let (name, field, help) = (&policy.name, it.place.field, it.help.unwrap_or_default());
            notes.push(format!("{name}: {} (`{field}`): {help}.", it.message));
        }
    }
    let written = load.timeline().filter(|it| it.recorded.is_none());
    let early = written.and_then(|it| early_request_lint(&it.spine));
    let early = early.map(|it| format!("{}: {}; {}.", load.name, it.message, it.help.unwrap_or_default()));
    notes.extend(load.unmet().into_iter().chain(early).chain(load.world.notes(load)));
    notes.extend(notes_on_unread_fields(load));
    notes
}

/// Notes parts of policies that the load does not read.
fn notes_on_unread_fields(load: &Load) -> Vec<String> {
    let mut unread: IndexMap<&str, Vec<String>> = IndexMap::new();
    for policy in &load.policies {
        let fields = load.world.kind().unread(policy);
        fields.for_each(|it| unread.entry(it).or_default().push(policy.name.clone()));
    }
    let told = unread.into_iter().map(|(field, policies)| {
        let (names, are) = (listed(&policies), if policies.len() == 1 { "is" } else { "are" });
        format!("{} does not read `{field}`: {names} {are} simulated without it.", load.name)
    });
    told.listed()
}

/// Returns what a comparison changes of its inputs, in words: overrides, what else is named, seed and trials.
pub(super) fn describe_changes(comparison: &Comparison, other_names: Option<String>) -> Vec<String> {
    let seed = comparison.seed.map(|it| format!("seed {it}"));
    let trials = comparison.trials.map(|it| format!("{it} trials"));
    comparison.set.iter().cloned().chain(other_names).chain(seed).chain(trials).listed()
}

/// Lists the changes made for a run, so that its numbers are not mistaken for those of the files, and counts the guards of a suite that concern
/// parts the run leaves out.
pub(super) fn notes_on_plan(comparison: &Comparison, n_unjudged: usize) -> Vec<String> {
    let changes = describe_changes(comparison, None);
    let changed = (!changes.is_empty()).then(|| format!("Changed for this run: {}.", changes.join(", ")));
    let (guards, are) = if n_unjudged == 1 { ("guard", "is") } else { ("guards", "are") };
    let unjudged = (n_unjudged > 0).then(|| {
        format!("{n_unjudged} {guards} of the suite {are} not checked: this run omits what they refer to.")
    });
    changed.into_iter().chain(unjudged).listed()
}

/// Compares each policy's savings with those of the best schedule in hindsight, table by table.
pub(super) fn notes_on_hindsight(report: &Report, schedule_names: &[String]) -> Vec<String> {
    if schedule_names.is_empty() {
        return Vec::new();
    }
    let sections = report.sections(Detail::Groups);
    let whole = sections.iter().filter(|it| !it.is_part);
    whole.filter_map(|it| hindsight_note(it, report, schedule_names)).listed()
}

fn hindsight_note(section: &Section, report: &Report, schedule_names: &[String]) -> Option<String> {
    let first = section.lines.first()?;
    let best = section.lines.iter().find(|it| schedule_names.contains(&it.policy))?;
    let saved = |line: &TableLine| {
        let is_same = line.tally.outcome.did_as_much_as(&first.tally.outcome);
        let costs = first.tally.costs.total().zip(line.tally.costs.total()).filter(|_| is_same);
        costs.map(|(base, own)| (base - own) / base).filter(|it| it.is_finite())
    };
    let most = saved(best)?;
    let subject = section.subject_and_profile();
    let bound = best.tally.bound.zip(first.tally.costs.total()).map(|(bound, base)| (base - bound) / base);
    let bound = bound.map_or_else(String::new, |saved| {
        format!(", and no schedule that keeps every needed item can save more than {}", percent(saved))
    });
    let (best, first) = (&best.policy, &first.policy);
    if most < SAVED_MIN {
        return Some(format!("{subject}: even {best} saves nothing against {first}{bound}."));
    }
    let is_real = |it: &&TableLine| it.policy != *first && !report.oracles.contains(&it.policy);
    let taken = section.lines.iter().filter(is_real).filter_map(|line| {
        let share = saved(line)? / most;
        Some(if share < 0.0 {
            format!("{} costs more than {first}", line.policy)
        } else {
            format!("{} achieves {:.0}% of the savings of {best}", line.policy, share * 100.0)
        })
    });
    let taken: Vec<String> = taken.listed();
    let taken = if taken.is_empty() { String::new() } else { format!("; {}", taken.join(", ")) };
    let most = percent(most);
    Some(format!("{subject}: {best} would save {most} of {first}'s cost{bound}{taken}."))
}

/// A smaller share of the cost is nothing.
const SAVED_MIN: f64 = 0.000_5;

/// Lists which orders depend on the recovery assumptions, and where recovery was sampled.
pub(super) fn notes_on_recovery(report: &Report) -> Vec<String> {
    let played: IndexSet<&str> =
        report.run_briefs().filter(|it| it.figures.n_played > 0).map(|it| it.policy).collect();
    let n_played = report.run_briefs().map(|it| it.figures.n_played).max().unwrap_or_default();
    let mut notes = notes_on_uncertain_orders(report);
    if !played.is_empty() {
        let names = played.into_iter().listed().join(", ");
        notes.push(format!(
      "Recovery was sampled {n_played} times for policies whose edits depend on fetched results: {names}."
    ));
    }
    notes
}

/// Says what rests on best-effort caches where one policy is played alone, so that no verdict does.
pub(super) fn notes_on_best_effort_caches(report: &Report) -> Vec<String> {
    let policies = distinct(report.run_briefs().map(|it| it.policy));
    if policies.len() > 1 || report.run_briefs().all(|it| it.figures.saved_by_luck.is_none()) {
        return Vec::new();
    }
    let sections = report.sections(Detail::Groups);
    let resting =
        sections.iter().filter_map(|it| Some((it.profile.as_str(), it.trust.best_effort.as_ref()?)));
    let mut resting = resting.listed();
    resting.dedup_by_key(|it| it.0);
    let most =
        resting.iter().max_by(|one, other| one.1.times_without_hits.total_cmp(&other.1.times_without_hits));
    let Some((profile, share)) = most else { return Vec::new() };
    let others = match resting.len() - 1 {
        0 => String::new(),
        n => format!(" The same holds, to a lesser degree, under {}.", counted(n, "other profile")),
    };
    vec![format!("Under {profile}, {}.{others}", share.best_effort_clause())]
}

/// The name of the profile of sessions that each run under their own model's.
const OWN: &str = "their own models' profiles";

/// Lists the policies whose order against the first depends on what is assumed.
fn notes_on_uncertain_orders(report: &Report) -> Vec<String> {
    let profiles = if report.has_sessions_under_own_models() {
        vec![None]
    } else {
        distinct(report.run_briefs().map(|it| it.profile)).into_iter().map(Some).listed()
    };
    let mut notes = Vec::new();
    for profile in profiles {
        let lines = report.policy_sums(profile);
        let Some((first, base)) = lines.iter().next() else { continue };
        let is_of_first =
            |it: &RunBrief<'_>| it.policy == first && profile.is_none_or(|profile| it.profile == profile);
        let start = match report.run_briefs().filter(is_of_first).count() {
            1 => "Whether",
            _ => "Over all scenarios, whether",
        };
        let under = profile.unwrap_or(OWN);
        for (policy, _) in lines.iter().skip(1).filter(|it| it.1.run.tally.is_open_against(&base.run.tally)) {
            notes.push(format!(
                "{start} {policy} costs less than {first} under {under} depends on what is assumed."
            ));
        }
    }
    notes
}

/// Returns which prices a profile lacks.
pub(super) fn missing_prices_of(profile: &Profile) -> MissingPrice {
    let rates = profile.prices.usual();
    let writes = [0, 1].map(|it| rates.write(it).is_none());
    MissingPrice { profile: profile.name.clone(), output: rates.output.is_none(), writes }
}

/// Returns a note for each profile under which some cost is unknown.
pub(super) fn notes_on_unpriced<'p>(
    report: &Report,
    profiles: impl Iterator<Item = &'p MissingPrice>,
) -> Vec<String> {
    let notes = profiles.filter_map(|profile| {
        let lines = report.policy_sums(Some(&profile.profile));
        let sums = lines.iter().map(|it| &it.1.run.tally).filter(|it| it.costs.total().is_none());
        let unknown: Vec<&Tally> = sums.listed();
        (!unknown.is_empty()).then(|| {
            let (name, parts) = (&profile.profile, list_unpriced_parts(&unknown, profile));
            format!("{name}: no price is known for {parts}, so costs that include them are unknown ({NONE}).")
        })
    });
    notes.listed()
}

/// Returns what sums of unknown cost use that has no price.
fn list_unpriced_parts(sums: &[&Tally], profile: &MissingPrice) -> String {
    let uses_write = |class: usize| {
        sums.iter().any(|tally| {
            let sums = &tally.sums;
            [&sums.main, &sums.summariser, &sums.keep_alive].iter().any(|it| it.tokens.write[class] > 0)
                || sums.needs.refetched.write[class] > Expected::ZERO
        })
    };
    let missing = [
        ("output", profile.output),
        ("short cache writes (minutes)", profile.writes[0] && uses_write(0)),
        ("long cache writes (an hour or more)", profile.writes[1] && uses_write(1)),
    ];
    let names = missing.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| *name).listed();
    // A tier, an hour of the day or stored contents.
    if names.is_empty() { "some tokens".to_owned() } else { names.join(" and ") }
}
