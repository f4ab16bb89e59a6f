//! Policies held against the laws that they should keep, on random sessions; a breach comes with a session that is as small as possible.

mod random;
mod shrink;

use std::fmt;

use serde::Serialize;

use super::Plan;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_base::quantity::UNLIMITED;
use ctxsim_engine::laws::{LawBreach, breaches};
use ctxsim_engine::take::in_order;
use ctxsim_input::policy::law::Law;
use ctxsim_input::scenario::{Assume, TurnSpec};
use ctxsim_input::text::decode::encode;
use ctxsim_input::{CacheRules, Format, Limits, Policy, Scenario};
use ctxsim_timeline::{Timeline, load};

/// The prompt limit under a profile that has none, in tokens.
const LIMIT: u64 = 200_000;
/// How many sessions a policy is tried on by default, and how many one that is a program.
const SESSIONS: [u32; 2] = [48, 12];
/// How many smaller sessions are tried to make a counterexample small, and how many with a program.
const SHRINKS: [u32; 2] = [600, 120];

/// What policies are held against: how many random sessions, from which seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct LawKit {
    /// The random seed.
    pub seed: u64,
    /// How many sessions each policy is tried on; without a number, 48, or 12 if it is a program.
    pub sessions: Option<u32>,
}

/// What laws some policies keep.
#[derive(Clone, Debug, Serialize)]
pub struct LawReport {
    /// The random seed.
    pub seed: u64,
    /// The prompt limit, in tokens.
    pub prompt_limit: u64,
    /// By policy, in the order of the plan.
    pub policies: Vec<PolicyLaws>,
}

/// What laws one policy keeps.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyLaws {
    /// Its name.
    pub policy: String,
    /// What names it on a command line, as in `--policy mine.ron`.
    pub argument: String,
    /// How many random sessions it was tried on.
    pub sessions: u32,
    /// Law by law.
    pub laws: Vec<LawVerdict>,
}

/// Whether a law holds.
#[derive(Clone, Debug, Serialize)]
pub struct LawVerdict {
    /// Its name, as `allows` in a policy file takes it.
    pub law: Law,
    /// What it says.
    pub says: &'static str,
    /// The reason that the policy gives for breaking it, if its file allows that; such a law is not tried.
    pub allowed: Option<String>,
    /// The smallest session found on which the policy breaks it.
    pub broken: Option<LawCounterexample>,
}

/// A session on which a policy breaks a law.
#[derive(Clone, Debug, Serialize)]
pub struct LawCounterexample {
    /// The scenario's name.
    pub name: String,
    /// How many turns it has.
    pub turns: usize,
    /// The turn of the breach, from 1.
    pub turn: u32,
    /// The request of the breach, from 1.
    pub request: u32,
    /// What the policy did.
    pub what: String,
    /// The scenario, as a TOML file that every command reads.
    pub scenario: String,
}

impl LawReport {
    /// Returns each law that a policy breaks, with the policy and the counterexample.
    pub fn broken(&self) -> impl Iterator<Item = (&PolicyLaws, Law, &LawCounterexample)> {
        self.policies
            .iter()
            .flat_map(|it| it.laws.iter().filter_map(move |law| Some((it, law.law, law.broken.as_ref()?))))
    }
}

impl fmt::Display for LawReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for policy in &self.policies {
            writeln!(to, "{}, on {} random sessions (seed {})", policy.policy, policy.sessions, self.seed)?;
            for LawVerdict { law, says, allowed, broken } in &policy.laws {
                match (allowed, broken) {
                    (Some(reason), _) => writeln!(to, "  {:14} exempt   {reason}", law.name())?,
                    (None, None) => writeln!(to, "  {:14} holds    {says}", law.name())?,
                    (None, Some(it)) => {
                        writeln!(to, "  {:14} BROKEN   {says}", law.name())?;
                        writeln!(to, "  {:23} request {} (turn {}): {}", "", it.request, it.turn, it.what)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A policy that is held against laws.
struct LawTrial<'p> {
    policy: &'p Policy,
    limits: Limits,
    rules: &'p CacheRules,
}

impl LawTrial<'_> {
    /// Returns the breaches of some laws in a session.
    fn breaches(&self, timeline: &Timeline, laws: &[Law]) -> Result<Vec<LawBreach>, Error> {
        breaches(timeline, self.policy, &self.limits, self.rules, laws).map_err(|what| {
            let message = format!("`{}` failed in a random session: {what}", self.policy.name);
            let problem = Diagnostic::at(Code::ProcessFault, "", message);
            vec![problem.help("make the policy answer every request, then check its laws again")].into()
        })
    }

    /// Returns the breach of a law in a session, if there is one and the session is one.
    fn breach(&self, turns: &[TurnSpec], law: Law) -> Result<Option<LawBreach>, Error> {
        let Some(timeline) = session(turns) else { return Ok(None) };
        Ok(self.breaches(&timeline, &[law])?.into_iter().next())
    }
}

impl LawKit {
    /// Holds every policy of a plan against the laws, under the limits and the cache of its first profile.
    ///
    /// # Errors
    /// A policy that is code failed.
    pub fn check(&self, plan: &Plan) -> Result<LawReport, Error> {
        let (Some(entry), Some(profile)) = (plan.scenarios.first(), plan.profiles.first()) else {
            return Ok(LawReport { seed: self.seed, prompt_limit: LIMIT, policies: Vec::new() });
        };
        let limits = if profile.limits.prompt == UNLIMITED {
            Limits { prompt: LIMIT, window: LIMIT, output: profile.limits.output }
        } else {
            profile.limits
        };
        let tried = in_order(entry.policies.len(), |nth| {
            let trial = LawTrial { policy: &entry.policies[nth], limits, rules: &profile.cache };
            self.policy(&trial, plan.arguments.get(nth))
        });
        let policies = tried.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(LawReport { seed: self.seed, prompt_limit: limits.prompt, policies })
    }

    /// Holds one policy against the laws.
    fn policy(&self, trial: &LawTrial<'_>, argument: Option<&String>) -> Result<PolicyLaws, Error> {
        let is_program = usize::from(trial.policy.process.is_some());
        let sessions = self.sessions.unwrap_or(SESSIONS[is_program]);
        let mut open: Vec<Law> =
            Law::ALL.into_iter().filter(|it| !trial.policy.allows.contains_key(it.name())).listed();
        let mut found: Vec<(Law, Vec<TurnSpec>)> = Vec::new();
        for nth in 0..sessions {
            if open.is_empty() {
                break;
            }
            let turns = random::turns(self.seed, nth.into(), trial.limits.prompt);
            let Some(timeline) = session(&turns) else { continue };
            for breach in trial.breaches(&timeline, &open)? {
                open.retain(|it| *it != breach.law);
                found.push((breach.law, turns.clone()));
            }
        }
        let mut laws = Vec::with_capacity(Law::ALL.len());
        for law in Law::ALL {
            let broken = match found.iter().find(|it| it.0 == law) {
                Some((_, turns)) => Some(shrink::counterexample(trial, law, turns, SHRINKS[is_program])?),
                None => None,
            };
            let allowed = trial.policy.allows.get(law.name()).cloned();
            laws.push(LawVerdict { law, says: law.says(), allowed, broken });
        }
        let policy = trial.policy.name.clone();
        let argument = argument.cloned().unwrap_or_else(|| format!("--policy {policy}"));
        Ok(PolicyLaws { policy, argument, sessions, laws })
    }
}

/// Makes the timeline of a session, if its turns are those of a valid scenario.
fn session(turns: &[TurnSpec]) -> Option<Timeline> {
    let checked = Scenario::new(&random::scenario("random", "", turns)).ok()?;
    let none = |_: &str, _: &Assume| Err(Error::from(Vec::<Diagnostic>::new()));
    load::load(&checked, none).ok()
}

/// Returns a counterexample as a scenario file.
fn written(policy: &str, turns: &[TurnSpec], breach: LawBreach) -> Result<LawCounterexample, Error> {
    let LawBreach { law, turn, request, what } = breach;
    let last = policy.rsplit(['/', '\\']).next().unwrap_or(policy);
    let name = format!("{}.{}", last.replace(['.', ':', ' '], "-"), law.name());
    let about = format!("Breaks `{}` under {policy} at request {request}: {what}.", law.name());
    let spec = random::scenario(&name, &about, turns);
    let scenario = encode(&spec, Format::Toml).map_err(|it| Error::from(vec![*it]))?;
    Ok(LawCounterexample { name, turns: turns.len(), turn, request, what, scenario })
}
