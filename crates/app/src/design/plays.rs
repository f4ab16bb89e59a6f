//! What policies come to on the sessions of a design: each session is opened once, and each policy played on it once.

use crate::prelude::*;

use super::grammar::{Candidate, DesignGrammar};
use crate::sweep::TOGETHER;
use ctxsim_engine::ledger::Outcome;
use ctxsim_engine::take::{FailedRun, Run, in_order_telling};
use ctxsim_input::policy::Builtin;

/// What goes before the name of a stage that is added to a bundled policy.
const ADDED: &str = "more_";

/// What a policy comes to on a session, of which the base's costs are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DesignPlay {
    /// US dollars; `None` where it stops elsewhere than the base, or a price is unknown.
    pub usd: Option<f64>,
    /// Weight of the evidence that it keeps, and of all that is needed.
    pub kept: [f64; 2],
    /// Requests that show what the user asked, and all that should.
    pub task: [f64; 2],
}

/// A session of a design.
pub struct DesignSession {
    pub(super) load: Load,
    /// Where the base stops, profile by profile.
    base: Vec<Outcome>,
    pub usd: f64,
    pub last_ms: Option<i64>,
}

/// Sessions, presets, and what was played so far.
pub struct DesignPlays<'c> {
    catalog: &'c Catalog,
    pub grammar: &'static DesignGrammar,
    /// The base's name.
    pub base: String,
    /// The presets' names.
    pub presets: Vec<String>,
    pub sessions: Vec<DesignSession>,
    threads: Option<usize>,
    played: IndexMap<Candidate, Vec<Option<DesignPlay>>>,
}

impl<'c> DesignPlays<'c> {
    /// Opens the sessions of a comparison, whose first policy is the base.
    ///
    /// # Errors
    /// Every problem of the inputs, or a session is none of an agent.
    pub fn open(
        catalog: &'c Catalog,
        comparison: &Comparison,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let presets = playable_policy_names(catalog)?;
        let base = comparison.policies.first().cloned().unwrap_or_default();
        let policies = std::iter::once(base).chain(presets.iter().cloned()).listed();
        let plan = Plan::new(catalog, &Comparison { policies, ..comparison.clone() })?;
        let open = |it: &ReadyLoad| plan.open_for_sweeps(it);
        let (sessions, _) =
            plan.map_loads_opened_by(threads, progress, open, |load, _| DesignSession::new(load))?;
        let sessions = sessions.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (base, presets) =
            plan.policies.split_first().map(|it| (it.0.clone(), it.1.to_vec())).unwrap_or_default();
        let grammar = DesignGrammar::read()?;
        Ok(Self { catalog, grammar, base, presets, sessions, threads, played: IndexMap::new() })
    }

    /// Returns a preset as it is.
    pub fn preset_candidate(&self, nth: usize) -> Candidate {
        Candidate { preset: Some(nth), ..self.grammar.empty_candidate() }
    }

    /// Returns what a policy came to on a session; `None` where it was not played, or cannot be.
    pub fn play_of(&self, candidate: &Candidate, session: usize) -> Option<&DesignPlay> {
        self.played.get(candidate)?.get(session)?.as_ref()
    }

    /// Plays policies on sessions, as far as they have not been.
    ///
    /// # Errors
    /// The grammar is broken.
    pub fn play_new(&mut self, all: &[Candidate], sessions: &[usize], progress: Progress<'_>) -> Result<()> {
        let n = self.sessions.len();
        let mut jobs: Vec<(usize, Vec<Candidate>)> = Vec::new();
        for session in sessions {
            let is_new = |it: &&Candidate| self.play_of(it, *session).is_none();
            let new: Vec<Candidate> = all.iter().filter(is_new).cloned().listed();
            jobs.extend(new.chunks(TOGETHER).map(|it| (*session, it.to_vec())));
        }
        let done = with_threads(self.threads, || {
            in_order_telling(jobs.len(), progress, |nth| {
                let (session, own) = &jobs[nth];
                self.play_on_session(*session, own)
            })
        });
        for ((session, own), plays) in jobs.into_iter().zip(done) {
            for (candidate, play) in own.into_iter().zip(plays?) {
                self.played.entry(candidate).or_insert_with(|| vec![None; n])[session] = Some(play);
            }
        }
        Ok(())
    }

    /// Plays policies on a session.
    fn play_on_session(&self, session: usize, candidates: &[Candidate]) -> Result<Vec<DesignPlay>> {
        let made =
            candidates.iter().map(|it| self.policy_on_session(it, session)).collect::<Result<Vec<_>, _>>()?;
        let own = &self.sessions[session];
        let mut runs = own.runs_by_policy(made.iter().flatten().cloned().listed()).into_iter();
        // A policy that could not be made has no runs.
        let play = |policy: &Option<_>| policy.as_ref().and_then(|_| Some(own.sum_runs(&runs.next()?)));
        Ok(made.iter().map(play).map(Option::unwrap_or_default).collect())
    }

    /// Returns the policy of a candidate on a session; `None` where stages and preset do not fit together.
    fn policy_on_session(&self, candidate: &Candidate, session: usize) -> Result<Option<Arc<Policy>>> {
        if candidate.n_added_stages() == 0 {
            let nth = candidate.preset.map_or(0, |it| it + 1);
            return Ok(self.sessions[session].load.policies.get(nth).cloned());
        }
        let file = self.policy_file(candidate, "design")?;
        let base = file.base.as_ref().map(|it| self.catalog.policy(it)).transpose()?;
        let whole = match base {
            Some(base) => file.over(base.spec),
            None => file,
        };
        Ok(Policy::new(&whole).ok().map(Arc::new))
    }

    /// Returns the policy file of a candidate; what it begins with is its base.
    ///
    /// # Errors
    /// The grammar is broken.
    pub fn policy_file(&self, candidate: &Candidate, name: &str) -> Result<PolicyFile> {
        let mut file = self.grammar.policy_file(candidate)?;
        name.clone_into(&mut file.name);
        file.base = candidate.preset.map(|it| self.presets[it].clone());
        if file.base.is_some() {
            // A stage of the base with the same name would be laid under it.
            file.stages.iter_mut().for_each(|it| it.name = format!("{ADDED}{}", it.name));
        }
        Ok(file)
    }

    /// Names a candidate by its preset and its stages.
    pub fn candidate_name(&self, candidate: &Candidate) -> String {
        let stages = self.grammar.stages_of(candidate).map(|(kind, values)| kind.name_with_values(values));
        let parts = candidate.preset.iter().map(|it| self.presets[*it].clone()).chain(stages).listed();
        if parts.is_empty() { self.base.clone() } else { parts.join(" + ") }
    }

    /// Plays candidates on all sessions and returns the whole tallies, session by session, the base's first, which stands for one that cannot be
    /// played, too.
    ///
    /// # Errors
    /// The grammar is broken.
    pub fn tally_by_session(&self, candidates: &[Candidate]) -> Result<Vec<Vec<Tally>>> {
        let tally = |nth: usize| -> Result<Vec<Tally>> {
            let session = &self.sessions[nth];
            let base = session.base_policy();
            let mut policies = base.clone();
            for candidate in candidates {
                let own = self.policy_on_session(candidate, nth)?;
                policies.extend(own.map_or_else(|| base.clone(), |it| vec![it]));
            }
            let sum = |mut sum: Tally, more: Tally| {
                sum.add(&more);
                sum
            };
            let runs = session.runs_by_policy(policies).into_iter();
            Ok(runs.filter_map(|it| it.into_iter().map(|it| it.tally).reduce(sum)).collect())
        };
        with_threads(self.threads, || in_order(self.sessions.len(), tally)).into_iter().collect()
    }

    /// Returns what code that knows the future would come to, and the bound on any policy, in US dollars a session.
    ///
    /// # Errors
    /// There is no such policy.
    pub fn hindsight_and_bound_usd(&self) -> Result<Vec<[Option<f64>; 2]>> {
        let code = Policy::new(&self.catalog.policy("hindsight")?.spec).map(Arc::new)?;
        let ceiling = |nth: usize| {
            let runs = self.sessions[nth].runs_by_policy(vec![Arc::clone(&code)]).concat();
            let bounds = runs.iter().map(|it| it.tally.bound).collect::<Option<Vec<f64>>>();
            [self.sessions[nth].sum_runs(&runs).usd, bounds.map(|it| it.iter().sum())]
        };
        Ok(with_threads(self.threads, || in_order(self.sessions.len(), ceiling)))
    }
}

impl DesignSession {
    /// Takes a load and plays its base.
    fn new(load: &Load) -> Result<Self> {
        let Some(timeline) = load.timeline() else {
            let message = format!("{} is not a session of an agent", load.name);
            let help = "name recorded sessions, or scenarios of turns";
            return Err(Error::refused(Code("tune-loads"), message, help));
        };
        let last_ms = timeline.last_ms();
        let mut session = Self { load: load.clone(), base: Vec::new(), usd: 0.0, last_ms };
        let runs = session.runs_by_policy(session.base_policy()).concat();
        session.base = runs.iter().map(|it| it.tally.outcome.clone()).listed();
        session.usd = runs.iter().filter_map(|it| it.tally.costs.total()).sum();
        Ok(session)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.load.name
    }

    fn base_policy(&self) -> Vec<Arc<Policy>> {
        self.load.policies.iter().take(1).cloned().listed()
    }

    /// Plays policies and returns the runs of each, profile by profile.
    fn runs_by_policy(&self, policies: Vec<Arc<Policy>>) -> Vec<Vec<Run>> {
        let mut by_policy = vec![Vec::new(); policies.len()];
        if policies.is_empty() {
            return by_policy;
        }
        let runs = Load { policies, ..self.load.clone() }.runs(&|_, _| {});
        let n = by_policy.len();
        runs.into_iter().enumerate().for_each(|(nth, run)| by_policy[nth % n].push(run));
        by_policy
    }

    /// Returns what a policy came to in its runs, over all profiles.
    fn sum_runs(&self, runs: &[Run]) -> DesignPlay {
        let mut sum = DesignPlay { usd: Some(0.0), ..DesignPlay::default() };
        for (run, base) in runs.iter().zip(&self.base) {
            let tally = &run.tally;
            let is_same = tally.outcome.did_as_much_as(base) && FailedRun::from_run(run).is_none();
            sum.usd = sum.usd.zip(tally.costs.total().filter(|_| is_same)).map(|it| it.0 + it.1);
            let needs = &tally.sums.needs;
            if tally.has_needs {
                sum.kept = [sum.kept[0] + needs.met, sum.kept[1] + needs.weight];
                sum.task = [sum.task[0] + needs.users.running_met, sum.task[1] + needs.users.running];
            }
        }
        sum
    }
}

/// Returns the names of the policies that a session can be played under as they are: none has a memory, and none knows the future.
fn playable_policy_names(catalog: &Catalog) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let mut read = catalog.policy_reader();
    for name in catalog.names(InputKind::Policy) {
        let spec = read.read_policy(name)?.spec;
        let looks_ahead = spec.code.as_ref().is_some_and(Builtin::looks_ahead);
        if spec.memory.is_none() && spec.process.is_none() && !looks_ahead {
            all.push(name.to_owned());
        }
    }
    Ok(all)
}
