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
//! (`report/lines.rs`) of every table that it can be in (`GroupKey`) and keeps its `Brief` (cost at three ends, turns,
//! facts). Tables, verdicts and notes look at `PolicyLines` and `Brief`s alone, so they do not know whether there are runs. A search has
//! parts of the same shape (`PartOf<TuneHead>`).

pub mod tickets;

use crate::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::assembled::{Came, Gathered, assembled_report};
use crate::session::session_report;
use crate::watch::{PlanWatcher, ProblemsFound};
use crate::{Load, PlanWatch, ReadyLoad, load, selection};
use ctxsim_engine::take::{in_order, with_threads};
use ctxsim_report::part::{Common, Excluded, OfLoad, PartHead, PartOf, RunPart, VERSION};
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
    pub fn has(self, name: &str) -> bool {
        xxh3_64(name.as_bytes()) % self.of.max(1) as u64 == self.part as u64 - 1
    }
}

/// What a load of a job came to.
type MadePart<H> = Result<Vec<<H as Common>::Load>, Error>;

/// What is done with the parts of a job while they are made.
pub struct Making<'a, H: Common = PartHead> {
    /// The number of threads; `None` takes all cores.
    pub threads: Option<usize>,
    /// The digest of the job.
    pub job: &'a str,
    /// What its parts have in common.
    pub head: &'a H,
    /// The share of the scenarios.
    pub shard: PlanShard,
    /// Tells whether the part of a place in the plan is there already.
    pub has: &'a (dyn Fn(usize) -> bool + Sync),
    /// Takes each part, from the threads that make them and in no order.
    pub take: &'a (dyn Fn(PartOf<H>) -> Result<(), Error> + Sync),
}

impl Plan {
    /// Checks that its scenarios come to parts: no rule looks at single runs, and nothing that a world finds beside the bill has to be kept.
    ///
    /// # Errors
    /// What of it does not fold, and what to do instead.
    pub fn check_parts(&self) -> Result<(), Error> {
        let mut problems = Vec::new();
        if !self.guards.is_empty() {
            let message = "the suite has guards, which look at single runs".to_owned();
            let problem = Diagnostic::at(Code("part-guards"), "", message);
            problems.push(problem.help("leave `--totals` and `--parts` out"));
        }
        if let Some(entry) = self.scenarios.iter().find(|it| !it.spec.load.is_of_items()) {
            problems.push(without_parts(&entry.name));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
    }

    /// Plays the scenarios of a share and hands over what each came to. Recordings that cannot be used are skipped, also those that were named,
    /// unless there is only one; the others' parts are made before an error is told.
    ///
    /// # Errors
    /// What [`Plan::open`] says of the scenarios of the share, what taking a part says, or it was stopped.
    pub fn parts(&self, told: PlanWatch<'_>, making: &Making<'_>) -> Result<(), Error> {
        self.check_parts()?;
        let open = |it: &ReadyLoad| self.open(it);
        self.each_part(told, making, open, |load| self.play_part(load).map(|it| vec![it]))
    }

    /// Makes the parts of a share, given how scenarios are opened and what a load comes to.
    pub(super) fn each_part<H: Common + Sync>(
        &self,
        told: PlanWatch<'_>,
        making: &Making<'_, H>,
        open: impl Fn(&ReadyLoad) -> Result<Vec<Load>, Error> + Sync,
        one: impl Fn(&Load) -> Result<Vec<H::Load>, Error> + Sync,
    ) -> Result<(), Error>
    where
        H::Load: Send,
    {
        let watch = PlanWatcher::new(told);
        let mine = |it: &usize| making.shard.has(&self.scenarios[*it].name) && !(making.has)(*it);
        let mine: Vec<usize> = (0..self.scenarios.len()).filter(mine).listed();
        let n_done = Mutex::new(0);
        let results = with_threads(making.threads, || {
            let chosen = if mine.is_empty() { None } else { self.chosen(&watch, &open) };
            in_order(mine.len(), |at| {
                if watch.is_stopped() {
                    return Ok(());
                }
                let (nth, entry) = (mine[at], &self.scenarios[mine[at]]);
                let made = self.part(entry, &open, chosen.as_ref().map(|it| &it[nth]), &watch, &one);
                let made = match made {
                    Err(error @ (Error::Invalid(_) | Error::Read { .. }))
                        if H::TELLS_SKIPPED && self.scenarios.len() > 1 =>
                    {
                        vec![Err(Skipped::new(&entry.loaded.origin.label(), error))]
                    }
                    made => made?,
                };
                if !watch.is_stopped() {
                    (making.take)(self.put_together(nth, made, making)?)?;
                    let done = n_done.lock().map_or(0, |mut done| {
                        *done += 1;
                        *done
                    });
                    watch.tell(done, mine.len());
                }
                Ok(())
            })
        });
        watch.check()?;
        let mut found = ProblemsFound::default();
        results.into_iter().filter_map(Result::err).for_each(|it| found.error(it));
        found.stop()
    }

    /// Plays all scenarios and folds their parts, each as soon as those before it are there.
    ///
    /// # Errors
    /// What [`Plan::parts`] and [`fold`] say.
    pub fn folded(
        &self,
        threads: Option<usize>,
        told: PlanWatch<'_>,
        min_evidence: f64,
    ) -> Result<Report, Error> {
        let folding = Mutex::new((Folding::default(), BTreeMap::new()));
        let take = |part: RunPart| {
            let (folding, waiting) = &mut *folding.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.insert(part.nth, part);
            while let Some(part) = waiting.remove(&folding.n_added) {
                folding.add(part);
            }
            Ok(())
        };
        let (job, head) = (self.job(min_evidence), self.head(min_evidence));
        let shard = PlanShard::WHOLE;
        self.parts(told, &Making { threads, job: &job, head: &head, shard, has: &|_| false, take: &take })?;
        folding.into_inner().unwrap_or_else(PoisonError::into_inner).0.report()
    }

    /// Plays a load.
    fn play_part(&self, load: &Load) -> Result<OfLoad, Error> {
        let taken = self.taken(load, false, &|_, _| {});
        let session = session_report(load, &self.as_recorded, &self.models, taken.billed.as_deref());
        let runs = taken.into_runs();
        if runs.iter().any(|it| it.findings.is_some()) {
            return Err(without_parts(&load.name).into());
        }
        Ok(Came::from_runs(load, runs, session).part(load))
    }

    /// Puts the part of a scenario together.
    fn put_together<H: Common>(
        &self,
        nth: usize,
        made: Vec<Result<MadePart<H>, Skipped>>,
        making: &Making<'_, H>,
    ) -> Result<PartOf<H>, Error> {
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
        Ok(PartOf {
            schema: H::SCHEMA.to_owned(),
            version: VERSION.to_owned(),
            job: making.job.to_owned(),
            head: making.head.clone(),
            nth,
            of: self.scenarios.len(),
            name: self.scenarios[nth].name.clone(),
            loads,
            skipped,
        })
    }
}

/// Says that a scenario has no parts.
fn without_parts(name: &str) -> Diagnostic {
    let message = format!("{name} has more than a bill, such as planted facts, which parts do not hold");
    let help =
        "leave `--totals` and `--parts` out, or name recorded sessions or scenarios with turns of their own";
    Diagnostic::at(Code("part-findings"), "", message).help(help)
}

/// Folds parts, which are read one by one in the order of their plan, to the report of all scenarios.
///
/// # Errors
/// A part cannot be read, or no session is left.
pub fn fold(order: &[usize], read: impl Fn(usize) -> Result<RunPart, Error>) -> Result<Report, Error> {
    let mut folding = Folding::default();
    for number in order {
        folding.add(read(*number)?);
    }
    folding.report()
}

/// Parts that are folded one by one, in the order of their plan.
struct Folding {
    /// What the job's parts have in common.
    head: Option<PartHead>,
    gathered: Gathered,
    n_added: usize,
}

impl Default for Folding {
    fn default() -> Self {
        Self { head: None, gathered: Gathered::folding(), n_added: 0 }
    }
}

impl Folding {
    fn add(&mut self, part: RunPart) {
        self.n_added += 1;
        self.head.get_or_insert(part.head);
        self.gathered.skipped.extend(part.skipped.into_iter().map(Skipped::from));
        for OfLoad { name, runs, failures, notes, session, left_out: losses, unpriced } in part.loads {
            let is_recorded = session.is_some();
            let runs = runs.into_iter().map(|it| it.run(&name, is_recorded)).listed();
            self.gathered.failures.extend(failures);
            let session = session.map(SessionReport::in_totals);
            self.gathered.add(Came { runs, notes, session, losses, unpriced });
        }
    }

    fn report(self) -> Result<Report, Error> {
        let Self { head, gathered, .. } = self;
        let Some(head) = head.filter(|it| !gathered.has_none(it.is_selected)) else {
            return Err(selection::none_left(&gathered.skipped));
        };
        Ok(assembled_report(&head, gathered))
    }
}

impl Plan {
    /// Returns the digest of its rules and that of its scenarios, in hexadecimal digits.
    pub fn job(&self, min_evidence: f64) -> String {
        format!("{}-{:016x}", self.rules(min_evidence), xxh3_64(self.listed().as_bytes()))
    }

    /// Returns the digest of what is the same for all scenarios: version, policies, profiles and options.
    pub fn rules(&self, min_evidence: f64) -> String {
        let policies = self.scenarios.first().map(|it| &it.policies);
        let (profiles, models, selection) = (&self.profiles, &self.models, &self.selection);
        let text = format!("{VERSION}{policies:?}{profiles:?}{models:?}{selection:?}{min_evidence}");
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }

    /// Lists the scenarios with all that is known of each beforehand.
    fn listed(&self) -> String {
        let contents = in_order(self.scenarios.len(), |it| self.scenarios[it].digest());
        let mut text = format!("{:?}", self.skipped);
        let mut policies: Option<(&[Arc<Policy>], u64)> = None;
        for (entry, content) in self.scenarios.iter().zip(contents) {
            let own = policies
                .filter(|it| it.0.iter().zip(&entry.policies).all(|(one, other)| Arc::ptr_eq(one, other)));
            let (_, own) =
                *policies.insert(own.unwrap_or_else(|| {
                    (&entry.policies, xxh3_64(format!("{:?}", entry.policies).as_bytes()))
                }));
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{} {content:016x} {own:016x} {}", entry.name, entry.told());
        }
        text
    }
}

impl ReadyLoad {
    /// Returns the digest of its recording's bytes; 0 where it is none, or cannot be read.
    fn digest(&self) -> u64 {
        if let Some(known) = self.indexing.content {
            return known;
        }
        let LoadSpec::Recorded { path, .. } = &self.spec.load else { return 0 };
        if self.loaded.origin.timeline().is_some() {
            return 0;
        }
        load::origin_of(&self.loaded, path, load::RECORDED).map_or(0, |it| content(&it))
    }

    /// Returns what is said of it and what others tell of it, wherever it lies.
    fn told(&self) -> String {
        let mut spec = self.spec.clone();
        if let LoadSpec::Recorded { path, .. } = &mut spec.load {
            path.clear();
        }
        let indexing = (&self.indexing.twins, &self.indexing.beside);
        format!("{spec:?} {} {} {indexing:?}", self.is_searched, self.under_own_model)
    }
}

/// Returns the digest of a recording's bytes; 0 where it cannot be read.
pub(crate) fn content(origin: &Origin) -> u64 {
    let Ok(mut reader) = origin.reader() else { return 0 };
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
