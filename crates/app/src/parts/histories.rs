//! Parts of a plan over recorded histories: each project or user by itself, anywhere, and the report that all of them come to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::Making;
use super::job::content;
use crate::assembled::assembled_report;
use crate::assembled::{Came, Gathered};
use crate::found::ProblemsFound;
use crate::histories::{HistorySessions, IndexedRecording, Recordings, grouped, recorded};
use crate::watch::PlanWatcher;
use crate::{Plan, PlanWatch, ReadyLoad, selection};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::take::{Load, World, in_order, with_threads};
use ctxsim_input::ScenarioFile;
use ctxsim_input::scenario::{HistoryLoad, HistorySource, LoadSpec as Form};
use ctxsim_report::part::{Common as _, Excluded, HistoryHead, HistoryPart, OfHistory, VERSION, WholeRun};
use ctxsim_report::{Report, Skipped};
use ctxsim_worlds::histories::{ProjectHistory, ProjectSession};

/// The histories of a plan: the index tells which there are, and no session is read yet.
pub struct Histories<'p> {
    plan: &'p Plan,
    entry: &'p ReadyLoad,
    load: &'p HistoryLoad,
    recordings: Recordings,
    /// The projects or users, in order.
    groups: Vec<String>,
}

/// What is read of one project or user.
#[derive(Default)]
struct HistoryGroup {
    sessions: Vec<(String, ProjectSession)>,
    skipped: Vec<Excluded>,
}

/// A history of the share, ready to be played: no world if none of its sessions can be used.
struct Mine {
    nth: usize,
    worlds: Vec<Arc<dyn World>>,
    skipped: Vec<Excluded>,
}

impl Plan {
    /// Finds the histories of its scenario of recorded sessions.
    ///
    /// # Errors
    /// It has another scenario, a folder cannot be read, or there is no recording.
    pub fn histories(&self, threads: Option<usize>) -> Result<Histories<'_>, Error> {
        let found = match self.scenarios.as_slice() {
            [entry] => recorded(&entry.spec.load).map(|it| (entry, it)),
            _ => None,
        };
        let Some((entry, (load, paths))) = found else {
            let problem =
                Diagnostic::at(Code::PartFindings, "", "only recorded histories come to such parts");
            return Err(vec![problem.help("name recorded sessions")].into());
        };
        let recordings = with_threads(threads, || Recordings::find(&entry.loaded, load, paths))?;
        if recordings.all().is_empty() {
            return Err(selection::none_left(recordings.left_out()));
        }
        let groups = recordings.groups().into_iter().map(str::to_owned).listed();
        Ok(Histories { plan: self, entry, load, recordings, groups })
    }
}

impl Histories<'_> {
    /// Returns their names, in order.
    pub fn names(&self) -> Vec<String> {
        self.groups.iter().map(|it| ProjectHistory::name_of(&self.entry.spec.name, it)).listed()
    }

    /// Returns the digest of the job, in hexadecimal digits: of policies, profiles and options, and of the recordings wherever they lie.
    pub fn job(&self, min_evidence: f64) -> String {
        format!("{}-{:016x}", self.plan.rules(min_evidence), xxh3_64(self.listed().as_bytes()))
    }

    /// Returns what all parts of the job have in common.
    pub fn head(&self, min_evidence: f64) -> HistoryHead {
        HistoryHead(self.plan.head(min_evidence))
    }

    /// Lists all that is known beforehand.
    fn listed(&self) -> String {
        let all = self.recordings.all();
        let contents = in_order(all.len(), |it| content(&all[it].origin));
        let from = HistorySource::Recorded(Vec::new());
        let load = Form::History(Box::new(HistoryLoad { from, ..self.load.clone() }));
        let spec = ScenarioFile { load, ..self.entry.spec.clone() };
        let mut text = format!("{spec:?} {}", self.entry.under_own_model);
        for it in self.recordings.left_out() {
            // Writing to a text cannot fail.
            let _ = write!(text, "\n{} {}", of_path(&it.file), it.reason);
        }
        for (IndexedRecording { name, is_searched, indexing, .. }, content) in all.iter().zip(contents) {
            let (name, told) = (of_path(name), (&indexing.twins, &indexing.beside));
            let _ = write!(text, "\n{name} {is_searched} {content:016x} {told:?}");
        }
        text
    }

    /// Plays the histories of a share and hands over what each came to. Only recordings with sessions of theirs are read.
    ///
    /// # Errors
    /// A recording that was named cannot be used, a history cannot be played, what taking a part says, or it was stopped.
    pub fn parts(&self, told: PlanWatch<'_>, making: &Making<'_, HistoryHead>) -> Result<(), Error> {
        let watch = PlanWatcher::new(told);
        let names = self.names();
        let mine = |it: &usize| making.shard.has(&names[*it]) && !(making.has)(*it);
        let mine: Vec<usize> = (0..names.len()).filter(mine).listed();
        let n_done = AtomicUsize::new(0);
        let made = with_threads(making.threads, || -> Result<Vec<Result<(), Error>>, Error> {
            let mine = self.read(&mine)?;
            Ok(in_order(mine.len(), |it| {
                if !watch.is_stopped() {
                    (making.take)(self.part(&mine[it], &names, making)?)?;
                    watch.tell(n_done.fetch_add(1, Ordering::Relaxed) + 1, mine.len());
                }
                Ok(())
            }))
        });
        watch.check()?;
        let mut found = ProblemsFound::default();
        made?.into_iter().filter_map(Result::err).for_each(|it| found.error(it));
        found.stop()
    }

    /// Reads the sessions of some histories.
    fn read(&self, mine: &[usize]) -> Result<Vec<Mine>, Error> {
        let mut groups: BTreeMap<&str, HistoryGroup> =
            mine.iter().map(|it| (self.groups[*it].as_str(), HistoryGroup::default())).collect();
        let HistorySessions { sessions, skipped } = self.recordings.read(&|it| groups.contains_key(it))?;
        for session in sessions {
            if let Some(group) = groups.get_mut(session.0.as_str()) {
                group.sessions.push(session);
            }
        }
        for it in skipped {
            if let Some(group) = groups.get_mut(it.group.as_str()) {
                group.skipped.push(Excluded { place: it.place, ..it.skipped.into() });
            }
        }
        // Both are in order.
        let worlds = |(nth, group): (&usize, HistoryGroup)| {
            let worlds = grouped(&self.entry.spec, self.load, group.sessions, Vec::new())?;
            Ok(Mine { nth: *nth, worlds, skipped: group.skipped })
        };
        mine.iter().zip(groups.into_values()).map(worlds).collect()
    }

    /// Plays a history and puts its part together.
    fn part(
        &self,
        mine: &Mine,
        names: &[String],
        making: &Making<'_, HistoryHead>,
    ) -> Result<HistoryPart, Error> {
        let loads = self.entry.loads(mine.worlds.clone(), &self.plan.profiles, &self.plan.models)?;
        Ok(HistoryPart {
            schema: HistoryHead::SCHEMA.to_owned(),
            version: VERSION.to_owned(),
            job: making.job.to_owned(),
            head: making.head.clone(),
            nth: mine.nth,
            of: names.len(),
            name: names[mine.nth].clone(),
            loads: loads.iter().map(|it| self.came(it)).listed(),
            skipped: mine.skipped.clone(),
        })
    }

    /// Plays a load.
    fn came(&self, load: &Load) -> OfHistory {
        let Came { runs, notes, unpriced, .. } =
            Came::of(load, self.plan.taken(load, false, &|_, _| {}).into_runs(), None);
        let runs = runs.into_iter().map(WholeRun::new).listed();
        OfHistory { name: load.name.clone(), runs, notes, unpriced }
    }
}

/// Returns the name of a file without its folder, which may be another one elsewhere.
fn of_path(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Puts the parts of histories, which are read one by one in their order, together to the report of all of them.
///
/// # Errors
/// A part cannot be read, or no session is left.
pub fn fold_histories(
    order: &[usize],
    read: impl Fn(usize) -> Result<HistoryPart, Error>,
) -> Result<Report, Error> {
    let (mut head, mut skipped, mut loads) = (None, Vec::new(), Vec::new());
    for number in order {
        let part = read(*number)?;
        head.get_or_insert(part.head.0);
        skipped.extend(part.skipped);
        loads.extend(part.loads);
    }
    skipped.order_by_key(|it| it.place);
    let skipped: Vec<Skipped> = skipped.into_iter().map(Skipped::from).listed();
    let mut gathered = Gathered::default();
    gathered.notes.extend(Skipped::note(&skipped));
    // What is read and has no run is of a model that no profile stands for, as its first note says.
    let unplayed = loads.first().and_then(|it: &OfHistory| it.notes.first().cloned());
    for OfHistory { name, runs, notes, unpriced } in loads {
        let runs = runs.into_iter().map(|it| it.run(&name)).listed();
        gathered.add(Came { runs, notes, session: None, losses: Vec::new(), unpriced });
    }
    match (head, unplayed) {
        (Some(head), _) if !gathered.has_none(head.is_selected) => Ok(assembled_report(&head, gathered)),
        (_, Some(note)) => {
            let problem = Diagnostic::at(Code::ModelUnknown, "", note);
            Err(vec![problem.help("run every shard again with `--profile`, into another folder")].into())
        }
        _ => Err(selection::none_left(&skipped)),
    }
}
