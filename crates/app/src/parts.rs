//! Parts of a plan: each scenario played by itself, anywhere, and all of them folded to the report that one process makes.
//!
//! Plan → `PlanShard` → `ReadyLoad` → `RunPart` (a line of JSON), anywhere and in any order → `PartSet` (each once, one job) → fold →
//! `Report` → totals.
//!
//! A `RunPart` (`report/part.rs`) is what one scenario (each session of a file) came to under all policies and profiles: `Tally`s (money in
//! picodollars, expected numbers in billionths, ratios as what was met and its weight), notes, what was skipped and lost. Everybody reads
//! the index of all recordings, so it has what others tell of its session. It has schema, version, the digest of its job
//! (`app/parts/tickets.rs`: policies, profiles, options, each scenario's bytes and what the index tells) and a `PartHead` (what a report needs
//! of its plan): a fold needs nothing else. Numbers stand by their places (`packed!` of `base/quantity.rs`): only their own version reads them.
//!
//! A fold (`app/parts.rs`) orders parts by their place in the plan and puts them together as `run` does (`app/assembled.rs`): float sums
//! have one order, whoever played what and however often. `run --totals`, `run --merge`, `Totals::fold` of the face and `fold` of the wheel
//! are this one thing. What has more than a bill has no such parts. It keeps no runs: `report/folded.rs` adds each to the sums
//! (`report/lines.rs`) of every table that it can be in (`GroupKey`) and keeps its `RunBrief` (cost at three ends, turns,
//! facts). Tables, verdicts and notes look at `PolicySums` and `RunBrief`s alone, so they do not know whether there are runs. A search has
//! parts of the same shape (`PartOf<TuneHead>`).

pub mod tickets;

use crate::prelude::*;
use std::fmt::Write as _;
use std::io::BufRead;
use std::sync::atomic::{AtomicUsize, Ordering};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::assembled::{GatheredResults, LoadResults, assemble_report};
use crate::session::session_report;
use crate::watch::PlanWatcher;
use crate::{PlanWatch, load, selection};
use ctxsim_report::part::{Excluded, JobKind, JobPart, LoadResult, PartHead, RunPart, VERSION};
use ctxsim_report::{Report, SessionReport};

/// Which scenarios of a plan are played: one share of several, by the hash of a scenario's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanShard {
    /// Which share, from 1.
    pub part: usize,
    /// The number of shares.
    pub of: usize,
}

impl PlanShard {
    /// All of them.
    pub const WHOLE: Self = Self { part: 1, of: 1 };

    /// Returns whether a scenario is in the share.
    pub fn contains_scenario(self, name: &str) -> bool {
        xxh3_64(name.as_bytes()) % self.of.max(1) as u64 == self.part as u64 - 1
    }
}

/// What a load of a job came to.
type MadePart<H> = Result<Vec<<H as JobKind>::Load>>;

/// What is done with the parts of a job while they are made.
pub struct PartsRequest<'a, H: JobKind = PartHead> {
    /// The number of threads; `None` takes all cores.
    pub threads: Option<usize>,
    /// The digest of the job.
    pub job: &'a str,
    /// What its parts have in common.
    pub head: &'a H,
    /// The share of the scenarios.
    pub shard: PlanShard,
    /// Tells whether the part of a place in the plan is there already.
    pub is_made: &'a (dyn Fn(usize) -> bool + Sync),
    /// Takes each part, from the threads that make them and in no order.
    pub hand_over: &'a (dyn Fn(JobPart<H>) -> Result<()> + Sync),
}

impl Plan {
    /// Checks that its scenarios come to parts: no rule looks at single runs, and nothing that a world finds beside the bill has to be kept.
    ///
    /// # Errors
    /// What of it does not fold, and what to do instead.
    pub fn check_splittable(&self) -> Result<()> {
        let mut problems = Vec::new();
        if !self.guards.is_empty() {
            let message = "the suite has guards, which look at single runs".to_owned();
            let problem = Diagnostic::at(Code("part-guards"), "", message);
            problems.push(problem.help("leave `--totals` and `--parts` out"));
        }
        if let Some(entry) = self.scenarios.iter().find(|it| !it.spec.load.is_of_items()) {
            problems.push(no_parts_problem(&entry.name));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
    }

    /// Plays the scenarios of a share and hands over what each came to. Recordings that cannot be used are skipped, also those that were named,
    /// unless there is only one; the others' parts are made before an error is told.
    ///
    /// # Errors
    /// What [`Plan::open`] says of the scenarios of the share, what taking a part says, or it was stopped.
    pub fn make_parts(&self, watch: PlanWatch<'_>, request: &PartsRequest<'_>) -> Result<()> {
        self.check_splittable()?;
        let open = |it: &ReadyLoad| self.open(it);
        self.make_parts_with(watch, request, open, |load| self.play_load_as_part(load).map(|it| vec![it]))
    }

    /// Makes the parts of a share, given how scenarios are opened and what a load comes to.
    pub(super) fn make_parts_with<H: JobKind + Sync>(
        &self,
        watch: PlanWatch<'_>,
        request: &PartsRequest<'_, H>,
        open: impl Fn(&ReadyLoad) -> Result<Vec<Load>> + Sync,
        make_load_parts: impl Fn(&Load) -> Result<Vec<H::Load>> + Sync,
    ) -> Result<()>
    where
        H::Load: Send,
    {
        let watch = PlanWatcher::new(watch);
        let mine = |it: &usize| {
            request.shard.contains_scenario(&self.scenarios[*it].name) && !(request.is_made)(*it)
        };
        let mine: Vec<usize> = (0..self.scenarios.len()).filter(mine).listed();
        let n_done = AtomicUsize::new(0);
        let results = with_threads(request.threads, || {
            let chosen = if mine.is_empty() { None } else { self.find_exclusions(&watch, &open) };
            in_order(mine.len(), |at| {
                if watch.is_stopped() {
                    return Ok(());
                }
                let (nth, entry) = (mine[at], &self.scenarios[mine[at]]);
                let chosen = chosen.as_ref().map(|it| &it[nth]);
                let made = self.map_loads_of_scenario(entry, &open, chosen, &watch, &make_load_parts);
                let made = match made {
                    Err(error @ (Error::Invalid(_) | Error::Read { .. }))
                        if H::TELLS_SKIPPED && self.scenarios.len() > 1 =>
                    {
                        vec![Err(SkippedFile::new(&entry.loaded.origin.label(), error))]
                    }
                    made => made?,
                };
                if !watch.is_stopped() {
                    (request.hand_over)(self.assemble_part(nth, made, request)?)?;
                    watch.report_progress(n_done.fetch_add(1, Ordering::Relaxed) + 1, mine.len());
                }
                Ok(())
            })
        });
        watch.check_not_stopped()?;
        let mut found = ProblemsFound::default();
        results.into_iter().filter_map(Result::err).for_each(|it| found.add_error(it));
        found.fail_if_any()
    }

    /// Plays all scenarios and folds their parts, each as soon as those before it are there.
    ///
    /// # Errors
    /// What [`Plan::make_parts`] and [`fold_parts`] say.
    pub fn report_from_parts(
        &self,
        threads: Option<usize>,
        watch: PlanWatch<'_>,
        min_evidence: f64,
    ) -> Result<Report> {
        let folding = Mutex::new((PartFold::new(), BTreeMap::new()));
        let take = |part: RunPart| {
            let (folding, waiting) = &mut *folding.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.insert(part.nth, part);
            while let Some(part) = waiting.remove(&folding.n_added) {
                folding.add_part(part);
            }
            Ok(())
        };
        let (job, head) = (&self.job_digest(min_evidence), &self.report_head(min_evidence));
        let shard = PlanShard::WHOLE;
        let request = PartsRequest { threads, job, head, shard, is_made: &|_| false, hand_over: &take };
        self.make_parts(watch, &request)?;
        folding.into_inner().unwrap_or_else(PoisonError::into_inner).0.into_report()
    }

    /// Plays a load.
    fn play_load_as_part(&self, load: &Load) -> Result<LoadResult> {
        let played = self.as_played(load);
        let taken = self.play_load(&played, false, &|_, _| {});
        let session = session_report(load, &self.as_recorded, &self.models, taken.billed.as_deref());
        let runs = taken.into_runs();
        if runs.iter().any(|it| it.findings.is_some()) {
            return Err(no_parts_problem(&load.name).into());
        }
        Ok(LoadResults::from_runs(load, runs, session).into_load_result(load))
    }

    /// Puts the part of a scenario together.
    fn assemble_part<H: JobKind>(
        &self,
        nth: usize,
        made: Vec<Result<MadePart<H>, SkippedFile>>,
        request: &PartsRequest<'_, H>,
    ) -> Result<JobPart<H>> {
        let (mut loads, mut skipped) = (Vec::new(), Vec::new());
        // What was left out of the plan is told once.
        if nth == 0 {
            skipped.extend(self.skipped.iter().cloned().map(Excluded::from));
        }
        for one in made {
            match one {
                Ok(of_load) => loads.extend(of_load?),
                Err(left_out) => skipped.push(left_out.into()),
            }
        }
        Ok(JobPart {
            schema: H::SCHEMA.to_owned(),
            version: VERSION.to_owned(),
            job: request.job.to_owned(),
            head: request.head.clone(),
            nth,
            of: self.scenarios.len(),
            name: self.scenarios[nth].name.clone(),
            loads,
            skipped,
        })
    }

    /// Returns the digest of its rules and that of its scenarios, in hexadecimal digits.
    pub fn job_digest(&self, min_evidence: f64) -> String {
        format!("{}-{:016x}", self.rules_digest(min_evidence), xxh3_64(self.scenarios_to_digest().as_bytes()))
    }

    /// Returns the digest of what is the same for all scenarios: version, policies, profiles and options.
    pub fn rules_digest(&self, min_evidence: f64) -> String {
        let policies = self.scenarios.first().map(|it| &it.policies);
        let settings = self.settings.as_ref().map(|it| it.policies().listed());
        let rules = (policies, &self.profiles, &self.models, &self.selection, settings);
        let text = format!("{VERSION}{rules:?}{min_evidence}");
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }

    /// Lists the scenarios with all that is known of each beforehand.
    fn scenarios_to_digest(&self) -> String {
        let contents = in_order(self.scenarios.len(), |it| self.scenarios[it].recording_digest());
        let mut text = format!("{:?}", self.skipped);
        let mut policies: Option<(&[Arc<Policy>], u64)> = None;
        for (entry, content) in self.scenarios.iter().zip(contents) {
            let own = policies
                .filter(|it| it.0.iter().zip(&entry.policies).all(|(one, other)| Arc::ptr_eq(one, other)));
            let digest = || xxh3_64(format!("{:?}", entry.policies).as_bytes());
            let (_, own) = *policies.insert(own.unwrap_or_else(|| (&entry.policies, digest())));
            // Writing to a text cannot fail.
            let _ =
                writeln!(text, "{} {content:016x} {own:016x} {}", entry.name, entry.describe_for_digest());
        }
        text
    }
}

/// Says that a scenario has no parts.
fn no_parts_problem(name: &str) -> Diagnostic {
    let message = format!("{name} has more than a bill, such as planted facts, which parts do not hold");
    let help =
        "leave `--totals` and `--parts` out, or name recorded sessions or scenarios with turns of their own";
    Diagnostic::at(Code("part-findings"), "", message).help(help)
}

/// Folds parts, which are read one by one in the order of their plan, to the report of all scenarios.
///
/// # Errors
/// A part cannot be read, or no session is left.
pub fn fold_parts(part_numbers: &[usize], read: impl Fn(usize) -> Result<RunPart>) -> Result<Report> {
    let mut folding = PartFold::new();
    for number in part_numbers {
        folding.add_part(read(*number)?);
    }
    folding.into_report()
}

/// Parts that are folded one by one, in the order of their plan.
struct PartFold {
    /// What the job's parts have in common.
    head: Option<PartHead>,
    gathered: GatheredResults,
    n_added: usize,
}

impl PartFold {
    fn new() -> Self {
        Self { head: None, gathered: GatheredResults::new_without_runs(), n_added: 0 }
    }

    fn add_part(&mut self, part: RunPart) {
        self.n_added += 1;
        self.head.get_or_insert(part.head);
        self.gathered.skipped.extend(part.skipped.into_iter().map(SkippedFile::from));
        for LoadResult { name, runs, failures, notes, session, left_out: losses, unpriced } in part.loads {
            let is_recorded = session.is_some();
            let runs = runs.into_iter().map(|it| it.into_run(&name, is_recorded)).listed();
            self.gathered.failures.extend(failures);
            let session = session.map(SessionReport::without_details);
            self.gathered.add_load(LoadResults { runs, notes, session, losses, unpriced });
        }
    }

    fn into_report(self) -> Result<Report> {
        let Self { head, gathered, .. } = self;
        let Some(head) = head.filter(|it| !gathered.has_nothing_to_report(it.is_selected)) else {
            return Err(selection::none_left_error(&gathered.skipped));
        };
        Ok(assemble_report(&head, gathered))
    }
}

impl ReadyLoad {
    /// Returns the digest of its recording's bytes; 0 where it is none, or cannot be read.
    fn recording_digest(&self) -> u64 {
        if let Some(known) = self.indexing.content {
            return known;
        }
        let LoadSpec::Recorded { path, .. } = &self.spec.load else { return 0 };
        if self.loaded.origin.built_timeline().is_some() {
            return 0;
        }
        load::origin_of_named_file(&self.loaded, path, load::RECORDED).map_or(0, |it| digest_of_bytes(&it))
    }

    /// Returns what is said of it and what others tell of it, wherever it lies.
    fn describe_for_digest(&self) -> String {
        let mut spec = self.spec.clone();
        if let LoadSpec::Recorded { path, .. } = &mut spec.load {
            path.clear();
        }
        let indexing = (&self.indexing.twins, &self.indexing.beside);
        format!("{spec:?} {} {} {indexing:?}", self.is_searched, self.under_own_model)
    }
}

/// Returns the digest of a recording's bytes; 0 where it cannot be read.
pub(crate) fn digest_of_bytes(origin: &Origin) -> u64 {
    let Ok(mut reader) = origin.open_reader() else { return 0 };
    let mut digest = Xxh3Default::new();
    while let Ok(bytes) = reader.fill_buf()
        && !bytes.is_empty()
    {
        digest.update(bytes);
        let n = bytes.len();
        reader.consume(n);
    }
    digest.digest()
}
