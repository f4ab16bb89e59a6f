//! Searches parameters on recorded sessions, and writes the policy file of the result.

mod axes;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::parts::PartsRequest;
use super::sweep::play_under_each_profile;
use super::{PlanWatch, SweptLoad, SweptRun, entry, selection};
use crate::prelude::*;
use ctxsim_report::part::{JobKind, JobPart};
use ctxsim_report::sweep::PointNumbers;
use ctxsim_report::tune::{TriedVariants, Tuned, TunedSession, variant_name};

pub use axes::{default_variants, variants_from_grid};

/// The sessions of a search, each under the base and under every point.
#[derive(Clone, Debug)]
pub struct TunedSessions {
    /// The sessions.
    pub sessions: Vec<TunedSession>,
    /// What was tried.
    pub tried: TriedVariants,
    /// The base, and the policy that is tuned.
    pub names: [String; 2],
}

/// A search on the sessions of a comparison.
pub struct Tuning<'a> {
    catalog: &'a Catalog,
    /// With the points as variants of the last policy.
    comparison: Comparison,
    plan: Plan,
    head: TuneHead,
}

/// What all parts of a search have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TuneHead {
    /// The base's name and the policy's.
    names: [String; 2],
    /// What is tried.
    tried: TriedVariants,
    /// The share of evidence that has to be kept.
    min_evidence: f64,
    /// What parts projects.
    seed: u64,
}

impl JobKind for TuneHead {
    const SCHEMA: &'static str = "ctxsim.tune-part/1";
    type Load = TunedSession;
    const TELLS_SKIPPED: bool = false;

    fn has_all_results(&self, load: &TunedSession) -> bool {
        load.variants.len() == self.tried.points.len()
    }
}

impl<'a> Tuning<'a> {
    /// Plans a search.
    ///
    /// # Errors
    /// Every problem of the inputs.
    pub fn new(
        catalog: &'a Catalog,
        comparison: &Comparison,
        tried: TriedVariants,
        min_evidence: f64,
        seed: u64,
    ) -> Result<Self> {
        let comparison = Comparison { variants: tried.points.clone(), ..comparison.clone() };
        let plan = Plan::new(catalog, &comparison)?;
        let names = [plan.policies[0].clone(), plan.policies.last().cloned().unwrap_or_default()];
        let policy = comparison.policies.last().map_or("", String::as_str);
        let stages = catalog.policy(policy)?.spec.stages.into_iter().map(|it| it.name).listed();
        let tried = TriedVariants { stages, ..tried };
        Ok(Self { catalog, comparison, plan, head: TuneHead { names, tried, min_evidence, seed } })
    }

    /// Plays it on every session, chooses on one part and tests the choice on the other.
    ///
    /// # Errors
    /// Every problem of the sessions.
    pub fn tune(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Tuned> {
        let TunedSessions { sessions, .. } = self.play_sessions(threads, progress)?;
        Ok(self.head.clone().choose_and_test(&sessions))
    }

    /// Plays it on every session.
    ///
    /// # Errors
    /// Every problem of the sessions.
    pub fn play_sessions(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<TunedSessions> {
        let mut sessions = Vec::new();
        let mut take = |plan: &Plan, seed: Option<u64>| -> Result<()> {
            let loads = plan.sweep_loads(threads, progress)?;
            sessions.extend(loads.into_iter().filter_map(|it| self.head.to_tuned_session(it, seed)));
            Ok(())
        };
        if entry::first_memory_scenario_name(&self.plan.scenarios).is_none() {
            take(&self.plan, None)?;
        } else {
            // Memories are played over drawn sessions, so other seeds are other sessions; a file of chats is drawn anew as well.
            for nth in 0..OF_MEMORIES {
                let seed = Some(self.comparison.seed.unwrap_or_default().saturating_add(nth));
                let comparison = Comparison { seed, ..self.comparison.clone() };
                take(&Plan::new(self.catalog, &comparison)?, seed)?;
            }
        }
        let TuneHead { tried, names, .. } = self.head.clone();
        Ok(TunedSessions { sessions, tried, names })
    }

    /// Returns the names of the scenarios, in the order of their parts.
    pub fn scenario_names(&self) -> Vec<&str> {
        self.plan.scenarios.iter().map(|it| it.name.as_str()).listed()
    }

    /// Returns the digest of the job.
    ///
    /// # Errors
    /// What is tried cannot be written.
    pub fn job_digest(&self) -> Result<String> {
        let head = serde_json::to_string(&self.head);
        let head = head.map_err(|it| Diagnostic::at(Code("unwritable"), "", it.to_string()))?;
        Ok(format!("{}-{:016x}", self.plan.job_digest(self.head.min_evidence), xxh3_64(head.as_bytes())))
    }

    /// Returns what its parts have in common.
    pub fn head(&self) -> &TuneHead {
        &self.head
    }

    /// Checks that it comes to parts.
    ///
    /// # Errors
    /// It is of memories.
    pub fn check_splittable(&self) -> Result<()> {
        let Some(name) = entry::first_memory_scenario_name(&self.plan.scenarios) else { return Ok(()) };
        let message = format!("{name} is of memories, which are simulated over drawn sessions");
        let help = "leave `--parts` out, or name recorded sessions";
        Err(Error::refused(Code("part-findings"), message, help))
    }

    /// Plays it on the sessions of a share, and hands over what each came to.
    ///
    /// # Errors
    /// What [`Tuning::check_splittable`], a session or taking a part says.
    pub fn make_parts(&self, watch: PlanWatch<'_>, request: &PartsRequest<'_, TuneHead>) -> Result<()> {
        self.check_splittable()?;
        let open = |it: &ReadyLoad| self.plan.open_for_sweeps(it);
        self.plan.make_parts_with(watch, request, open, |load| {
            let loads = play_under_each_profile(load, &|_, _| {})?;
            Ok(loads.into_iter().filter_map(|it| self.head.to_tuned_session(it, None)).listed())
        })
    }
}

/// Folds the parts of a search, which are read one by one in the order of their plan.
///
/// # Errors
/// A part cannot be read, or no session is left.
pub fn fold_parts(part_ids: &[usize], read: impl Fn(usize) -> Result<JobPart<TuneHead>>) -> Result<Tuned> {
    let (mut head, mut sessions, mut skipped) = (None, Vec::new(), Vec::new());
    for number in part_ids {
        let part = read(*number)?;
        head.get_or_insert(part.head);
        sessions.extend(part.loads);
        skipped.extend(part.skipped.into_iter().map(SkippedFile::from));
    }
    let head = head.filter(|_| !sessions.is_empty());
    head.map(|it| it.choose_and_test(&sessions)).ok_or_else(|| selection::none_left_error(&skipped))
}

impl TuneHead {
    /// Returns a load under the base and each variant; of what is played under a seed, what is remembered stands for evidence. `None`
    /// if not all of them came to a result.
    fn to_tuned_session(&self, load: SweptLoad, seed: Option<u64>) -> Option<TunedSession> {
        if load.runs.len() != self.tried.points.len() + 1 {
            return None;
        }
        // Kinds of findings list the number that they are judged by first.
        let share = |it: &SweptRun| it.remembered.iter().find(|it| it.is_share).cloned();
        let shares = load.runs.iter().map(share).filter(|_| seed.is_some()).collect::<Option<Vec<_>>>();
        let remembered = shares.and_then(|all| {
            let heading = all.first()?.heading.to_owned();
            Some((heading, all.iter().map(|it| it.number.mean).listed()))
        });
        let goal = &self.tried.goal;
        let columns = goal.objectives.iter().copied().chain(goal.guards.iter().map(|it| it.of));
        let numbers = |run: &SweptRun| {
            let numbers = PointNumbers::new(&run.tally, &run.remembered);
            columns.clone().map(|of| of.value_at_point(&numbers)).listed()
        };
        let numbers = if goal.has_objectives() { load.runs.iter().map(numbers).listed() } else { Vec::new() };
        let mut tallies = load.runs.into_iter().map(|it| it.tally);
        let base = tallies.next()?;
        let project = seed.map_or(load.project, |it| format!("seed {it}"));
        let variants = tallies.listed();
        Some(TunedSession { project, last_ms: load.last_ms, base, variants, remembered, numbers })
    }

    /// Chooses on one part of the sessions and tests the choice on the other.
    fn choose_and_test(self, sessions: &[TunedSession]) -> Tuned {
        let Self { names: [base, policy], tried, min_evidence, seed } = self;
        Tuned::new([&base, &policy], sessions, tried, min_evidence, seed)
    }
}

/// How many seeds memories are played under: half choose, the others test the choice.
const OF_MEMORIES: u64 = 12;

/// Returns the policy file of the choice; `None` if nothing is recommended.
///
/// # Errors
/// The policy cannot be read or written.
pub fn tuned_policy_text(
    catalog: &Catalog,
    policy: &str,
    name: &str,
    tuned: &Tuned,
    format: Format,
) -> Result<Option<String>> {
    if !tuned.is_recommended {
        return Ok(None);
    }
    let loaded = catalog.policy(policy)?;
    let mut specs = [loaded.spec.clone()];
    let policies = super::overrides::NamedPolicies { catalog, loaded: std::slice::from_ref(&loaded) };
    for text in &tuned.chosen {
        policies.apply_override(&Override::parse(text)?, &mut specs)?;
    }
    let [mut spec] = specs;
    (spec.base, spec.title) = (None, None);
    spec.about = format!("{} Tuned: {}.", spec.about, variant_name(&tuned.chosen));
    spec.as_of = tuned.day.clone().or(spec.as_of);
    name.clone_into(&mut spec.name);
    spec.sources.push(tuned.provenance_sentence());
    Ok(Some(encode(&spec, format)?))
}
