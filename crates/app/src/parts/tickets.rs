//! Jobs for machines without a folder in common: who has seen all recordings gives each a ticket, with which anybody makes its part.

use crate::prelude::*;

use serde::Serialize;

use super::{PartsRequest, PlanShard, digest_of_bytes};
use crate::PlanWatch;
use crate::catalog::{FoundScenarios, PipedBytes, scenario_of_recording};
use crate::index::{RecordingIndex, Twins};
use crate::named::{NamedScenario, dedup_and_name_scenarios};
use ctxsim_report::part::{Excluded, PartHead, RunPart, VERSION};
use ctxsim_timeline::import::BySession;

/// What every machine must know: which policies, profiles and options, and what a report needs of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The version that made it; no other can do it.
    pub version: String,
    /// The digest of version, policies, profiles and options, which a machine must come to, too.
    pub rules: String,
    /// The digest of the job.
    pub job: String,
    /// What is compared, without its recordings.
    pub comparison: Comparison,
    /// What a report needs of the plan.
    pub head: PartHead,
    /// What was found and takes no part.
    pub skipped: Vec<Excluded>,
}

/// A recording of a job: its place and name, and what the others tell of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its place, from 0.
    pub nth: usize,
    /// The number of recordings.
    pub of: usize,
    /// The name that reports have for it.
    pub name: String,
    /// Its path, or what names its bytes.
    pub path: String,
    is_searched: bool,
    content: u64,
    #[serde(default, skip_serializing_if = "Twins::is_empty")]
    twins: Twins,
    #[serde(default, skip_serializing_if = "BySession::is_empty")]
    beside: BySession,
}

/// A ticket with the bytes of its recording; without them, they are read from its path.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldTicket {
    /// The ticket.
    pub ticket: Ticket,
    /// The bytes.
    pub bytes: Option<Arc<PipedBytes>>,
}

/// A recording that is named: by a path, a folder or a pattern, or by bytes under some name.
#[derive(Clone, Debug)]
pub enum GivenRecording {
    /// A path, a folder or a pattern.
    Path(String),
    /// Bytes.
    Bytes(Arc<PipedBytes>),
}

impl HeldTicket {
    pub(in super::super) fn to_named_scenario(&self) -> NamedScenario {
        let Ticket { name, path, is_searched, content, twins, beside, .. } = &self.ticket;
        let origin = match &self.bytes {
            Some(bytes) => Origin::Stream(Arc::clone(bytes)),
            None => Origin::File(Path::new(path).to_owned()),
        };
        let mut loaded = scenario_of_recording(origin);
        loaded.spec.name.clone_from(name);
        let (twins, beside, content) = (twins.clone(), beside.clone(), Some(*content));
        let indexing = RecordingIndex { sessions: Vec::new(), twins, beside, content };
        NamedScenario { loaded, is_searched: *is_searched, indexing }
    }
}

/// Reads all recordings once and returns what every machine must know, and each recording with its ticket.
///
/// # Errors
/// Every problem of policies, profiles and options, a folder that cannot be read, or there is no recording.
pub fn new_job(
    catalog: &Catalog,
    comparison: &Comparison,
    recordings: &[GivenRecording],
    min_evidence: f64,
) -> Result<(Job, Vec<HeldTicket>)> {
    let (mut scenarios, mut skipped) = (Vec::new(), Vec::new());
    let mut add = |origin: Origin, is_searched| {
        scenarios.push(NamedScenario::new(scenario_of_recording(origin), is_searched));
    };
    for one in recordings {
        match one {
            GivenRecording::Bytes(bytes) => add(Origin::Stream(Arc::clone(bytes)), true),
            GivenRecording::Path(path) => {
                let FoundScenarios { found, left_out } = catalog.search_scenarios(path)?;
                skipped.extend(left_out.into_iter().map(SkippedFile::from));
                found.into_iter().for_each(|it| add(Origin::File(it.name.into()), it.is_searched));
            }
        }
    }
    let (scenarios, skipped) = dedup_and_name_scenarios((scenarios, skipped), comparison.alone);
    let n_all = scenarios.len();
    let held = scenarios.into_iter().enumerate().map(|(nth, scenario)| {
        let bytes =
            if let Origin::Stream(bytes) = &scenario.loaded.origin { Some(Arc::clone(bytes)) } else { None };
        let RecordingIndex { twins, beside, .. } = scenario.indexing;
        let (name, path) = (scenario.loaded.spec.name, scenario.loaded.origin.path().display().to_string());
        let content = digest_of_bytes(&scenario.loaded.origin);
        let is_searched = scenario.is_searched;
        let ticket = Ticket { nth, of: n_all, name, path, is_searched, content, twins, beside };
        HeldTicket { ticket, bytes }
    });
    let held: Vec<HeldTicket> = held.listed();
    if held.is_empty() {
        return Err(crate::selection::none_left_error(&skipped));
    }
    let comparison = Comparison { scenarios: Vec::new(), tickets: Vec::new(), ..comparison.clone() };
    let plan = plan_tickets(catalog, &comparison, held.clone())?;
    plan.check_splittable()?;
    let job = Job {
        version: VERSION.to_owned(),
        rules: plan.rules_digest(min_evidence),
        job: plan.job_digest(min_evidence),
        head: plan.report_head(min_evidence),
        skipped: skipped.into_iter().map(Excluded::from).listed(),
        comparison,
    };
    Ok((job, held))
}

/// Makes the parts of some recordings of a job.
///
/// # Errors
/// Another version or other inputs made the job, or what [`Plan::make_parts`] says.
pub fn play_tickets(
    catalog: &Catalog,
    job: &Job,
    tickets: Vec<HeldTicket>,
    watch: PlanWatch<'_>,
    threads: Option<usize>,
) -> Result<Vec<RunPart>> {
    if job.version != VERSION {
        let message = format!("the job was made by ctxsim {}, and this is {VERSION}", job.version);
        let help = "install one version on all machines";
        return Err(Diagnostic::at(Code("part-version"), "version", message).help(help).into());
    }
    if tickets.is_empty() {
        return Ok(Vec::new());
    }
    let places: Vec<(usize, usize)> = tickets.iter().map(|it| (it.ticket.nth, it.ticket.of)).listed();
    let plan = plan_tickets(catalog, &job.comparison, tickets)?;
    let rules = plan.rules_digest(job.head.min_evidence);
    if rules != job.rules {
        let wanted = &job.rules;
        let message =
            format!("policies, profiles or options are not those of the job: {rules} instead of {wanted}");
        let help = "give every machine the same files and the same ctxsim";
        return Err(Diagnostic::at(Code("part-job"), "rules", message).help(help).into());
    }
    let made: Mutex<Vec<RunPart>> = Mutex::default();
    let take = |part: RunPart| {
        let (nth, n_all) = places[part.nth];
        let mut skipped = if nth == 0 { job.skipped.clone() } else { Vec::new() };
        skipped.extend(part.skipped);
        let part = RunPart { nth, of: n_all, skipped, ..part };
        made.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        Ok(())
    };
    let (Job { job, head, .. }, shard) = (job, PlanShard::WHOLE);
    let request = PartsRequest { threads, job, head, shard, is_made: &|_| false, hand_over: &take };
    plan.make_parts(watch, &request)?;
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.order_by_key(|it| it.nth);
    Ok(made)
}

/// Plans recordings with tickets.
fn plan_tickets(catalog: &Catalog, comparison: &Comparison, tickets: Vec<HeldTicket>) -> Result<Plan> {
    let scenarios = tickets.iter().map(|it| it.ticket.path.clone()).listed();
    Plan::new(catalog, &Comparison { scenarios, tickets, ..comparison.clone() })
}
