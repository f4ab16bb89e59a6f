//! Policies held against the laws that they should keep, on random sessions; a breach comes with a session that is as small as possible.

use std::fmt;

use serde::Serialize;

use crate::prelude::*;
use ctxsim_base::grid::prose::wrap;
use ctxsim_base::grid::tint::COLUMNS;
use ctxsim_base::quantity::{Tokens, UNLIMITED};
use ctxsim_base::rng::{Seed, Stream};
use ctxsim_engine::laws::{LawBreach, breaches};
use ctxsim_input::policy::{Kind, Law, Preserve};
use ctxsim_input::scenario::{Amount, Assume, ResultSizes, ScriptedCall, StableItem, TurnSpec};
use ctxsim_input::{CacheRules, Scenario};
use ctxsim_timeline::load;

/// The prompt limit under a profile that has none, in tokens.
const LIMIT: u64 = 200_000;
/// How many sessions a policy is tried on by default, and how many one that is a program.
const SESSIONS: [u32; 2] = [48, 12];
/// On how many sessions a law from which a policy exempts itself is tried until it is broken, and how many with a program.
const EXEMPT_SESSIONS: [u32; 2] = [2_000, 48];
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
    /// Whether it is a program, which runs only where that is allowed.
    pub is_program: bool,
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
    /// What came of it.
    pub state: LawState,
    /// The reason that the policy's own file gives in `allows` for breaking it.
    pub allowed: Option<String>,
    /// The smallest session found on which the policy breaks it, if it may not.
    pub broken: Option<LawCounterexample>,
}

/// What came of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LawState {
    /// No session breaks it.
    Holds,
    /// A session breaks it.
    Broken,
    /// A session breaks it, as the policy's file says.
    Exempt,
    /// The policy's file says that it breaks it, and no session does.
    NeedlesslyExempt,
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
    pub fn broken_laws(&self) -> impl Iterator<Item = (&PolicyLaws, Law, &LawCounterexample)> {
        self.policies
            .iter()
            .flat_map(|it| it.laws.iter().filter_map(move |law| Some((it, law.law, law.broken.as_ref()?))))
    }

    /// Returns the policies that break a law, or say without need that they do.
    pub fn failed_policies(&self) -> impl Iterator<Item = &PolicyLaws> {
        let is_as_declared = |it: &LawVerdict| matches!(it.state, LawState::Holds | LawState::Exempt);
        self.policies.iter().filter(move |it| !it.laws.iter().all(is_as_declared))
    }

    /// Returns the laws of a single policy; of several, how many failed, and the laws of the first of these.
    pub fn to_text(&self, n_policies_max: usize) -> String {
        let n = self.policies.len();
        if n == 1 {
            return self.policies[0].to_text(self.seed);
        }
        let failed = self.failed_policies().count();
        let mut text = match failed {
            0 => format!("{n} policies break no law but those that their files name\n"),
            _ => format!(
                "{failed} of {n} policies break a law that their files do not name, or name one that they keep\n"
            ),
        };
        self.failed_policies().take(n_policies_max).for_each(|it| text += &it.to_text(self.seed));
        if failed > n_policies_max {
            text += &format!("{} more fail: see `--format json`\n", failed - n_policies_max);
        }
        text
    }
}

impl fmt::Display for LawReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.to_text(usize::MAX))
    }
}

impl PolicyLaws {
    fn to_text(&self, seed: u64) -> String {
        let mut text = format!("{}, on {} random sessions (seed {seed})\n", self.policy, self.sessions);
        for LawVerdict { law, says, state, allowed, broken } in &self.laws {
            let reason = allowed.as_deref().unwrap_or_default();
            let (word, said) = match state {
                LawState::Holds => ("holds", *says),
                LawState::Broken => ("BROKEN", *says),
                LawState::Exempt => ("exempt", reason),
                LawState::NeedlesslyExempt => {
                    ("UNNEEDED", "`allows` names it, and no session breaks it: remove it")
                }
            };
            wrap(said, &format!("  {:14} {word:8} ", law.name()), Some(COLUMNS), &mut text);
            if let Some(it) = broken {
                let at = format!("request {} (turn {}): {}", it.request, it.turn, it.what);
                wrap(&at, &" ".repeat(26), Some(COLUMNS), &mut text);
            }
        }
        text
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
    fn breaches_when_played(&self, timeline: &Timeline, laws: &[Law]) -> Result<Vec<LawBreach>> {
        breaches(timeline, self.policy, &self.limits, self.rules, laws).map_err(|what| {
            let message = format!("`{}` failed in a random session: {what}", self.policy.name);
            let help = "make the policy answer every request, then check its laws again";
            Error::refused(Code("process-fault"), message, help)
        })
    }

    /// Returns the breach of a law in a session, if there is one and the session is one.
    fn find_breach(&self, turns: &[TurnSpec], law: Law) -> Result<Option<LawBreach>> {
        let Some(timeline) = timeline_of_turns(turns) else { return Ok(None) };
        Ok(self.breaches_when_played(&timeline, &[law])?.into_iter().next())
    }
}

impl LawKit {
    /// Holds every policy of a plan against the laws, under the limits and the cache of its first profile.
    ///
    /// # Errors
    /// A policy that is code failed.
    pub fn check_policies(&self, plan: &Plan) -> Result<LawReport> {
        let (Some(entry), Some(profile)) = (plan.scenarios.first(), plan.profiles.first()) else {
            return Ok(LawReport { seed: self.seed, prompt_limit: LIMIT, policies: Vec::new() });
        };
        let bounded = Limits { prompt: LIMIT, window: LIMIT, output: profile.limits.output };
        let limits = if profile.limits.prompt == UNLIMITED { bounded } else { profile.limits };
        let tried = in_order(entry.policies.len(), |nth| {
            let trial = LawTrial { policy: &entry.policies[nth], limits, rules: &profile.cache };
            self.check_policy(&trial, plan.arguments.get(nth))
        });
        let policies = tried.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(LawReport { seed: self.seed, prompt_limit: limits.prompt, policies })
    }

    /// Holds one policy against the laws.
    fn check_policy(&self, trial: &LawTrial<'_>, argument: Option<&String>) -> Result<PolicyLaws> {
        let is_program = trial.policy.process.is_some();
        let counts = [SESSIONS, EXEMPT_SESSIONS, SHRINKS];
        let [usual, exempt, shrinks] = counts.map(|it| it[usize::from(is_program)]);
        let sessions = self.sessions.unwrap_or(usual);
        let is_exempt = |law: Law| trial.policy.allows.contains_key(law.name());
        let mut open: Vec<Law> = Law::ALL.to_vec();
        let mut found: Vec<(Law, Vec<TurnSpec>)> = Vec::new();
        // A rare breach that a file names is looked for longer than one that it does not.
        for nth in 0..sessions.max(exempt) {
            if nth == sessions {
                open.retain(|it| is_exempt(*it));
            }
            if open.is_empty() {
                break;
            }
            let turns = draw_turns(self.seed, nth.into(), trial.limits.prompt);
            let Some(timeline) = timeline_of_turns(&turns) else { continue };
            for breach in trial.breaches_when_played(&timeline, &open)? {
                open.retain(|it| *it != breach.law);
                found.push((breach.law, turns.clone()));
            }
        }
        let mut laws = Vec::with_capacity(Law::ALL.len());
        for law in Law::ALL {
            let on = found.iter().find(|it| it.0 == law).map(|it| &it.1);
            let (state, broken) = match (on, is_exempt(law)) {
                (None, false) => (LawState::Holds, None),
                (None, true) => (LawState::NeedlesslyExempt, None),
                (Some(_), true) => (LawState::Exempt, None),
                (Some(turns), false) => {
                    (LawState::Broken, Some(shrink_counterexample(trial, law, turns, shrinks)?))
                }
            };
            let allowed = trial.policy.allows.get(law.name()).cloned();
            laws.push(LawVerdict { law, says: law.says(), state, allowed, broken });
        }
        let policy = trial.policy.name.clone();
        let argument = argument.cloned().unwrap_or_else(|| format!("--policy {policy}"));
        Ok(PolicyLaws { policy, argument, is_program, sessions, laws })
    }
}

/// Makes the timeline of a session, if its turns are those of a valid scenario.
fn timeline_of_turns(turns: &[TurnSpec]) -> Option<Timeline> {
    let checked = Scenario::new(&scenario_of_turns("random", "", turns)).ok()?;
    let none = |_: &str, _: &Assume| Err(Error::from(Vec::<Diagnostic>::new()));
    load::load(&checked, none).ok()
}

/// Returns a counterexample as a scenario file.
fn to_counterexample(policy: &str, turns: &[TurnSpec], breach: LawBreach) -> Result<LawCounterexample> {
    let LawBreach { law, turn, request, what } = breach;
    let name = format!("{}.{}", policy.replace(['/', '\\', '.', ':', ' '], "-"), law.name());
    let about = format!("Breaks `{}` under {policy} at request {request}: {what}.", law.name());
    let scenario = encode(&scenario_of_turns(&name, &about, turns), Format::Toml)?;
    Ok(LawCounterexample { name, turns: turns.len(), turn, request, what, scenario })
}

/// The tools that are called; policies know them by these names or by what they can do.
const TOOLS: [&str; 3] = ["read_file", "search", "process_start"];
/// Usual tokens of a result, by session in turn, under the limit below.
const RESULTS: [Tokens; 3] = [600, 3_000, 9_000];
/// Milliseconds between turns: at once, within the usual lifetimes of cache entries, and after them.
const GAPS_MS: [Tokens; 4] = [1_000, 60_000, 400_000, 4_000_000];
const PRESERVES: [Preserve; 3] = [Preserve::WorkingEvidence, Preserve::Reference, Preserve::None];

/// Returns the turns of the n-th random session of a seed, sized for a prompt limit.
fn draw_turns(seed: u64, nth: u64, prompt_limit: Tokens) -> Vec<TurnSpec> {
    let mut draws = Seed(seed).stream("laws", nth);
    let usual = RESULTS[(nth % RESULTS.len() as u64) as usize];
    let n_turns = draws.between(1, 5);
    (0..n_turns).map(|_| draw_turn(&mut draws, usual, prompt_limit)).collect()
}

fn draw_turn(draws: &mut Stream, usual_result_tokens: Tokens, prompt_limit: Tokens) -> TurnSpec {
    let sized = |tokens: Tokens| Amount::Fixed((tokens * prompt_limit.min(10 * LIMIT) / LIMIT).max(1));
    let user_tokens = sized(draws.between(20, 1_500));
    let answer_tokens = sized(draws.between(20, 1_500));
    let gap_ms = Some(Amount::Fixed(draw_one_of(draws, &GAPS_MS)));
    let n_calls = draws.between(0, 3);
    let calls = (0..n_calls).map(|_| ScriptedCall {
        name: String::new(),
        tool: draw_one_of(draws, &TOOLS).to_owned(),
        times: draws.between(1, 7),
        turns: None,
        text_tokens: sized(draws.between(1, 200)),
        purpose_tokens: Amount::Fixed(0),
        args_tokens: sized(draws.between(5, 200)),
        result: ResultSizes {
            raw: sized(draws.between(usual_result_tokens / 4, 2 * usual_result_tokens)),
            excerpt: None,
            summary: None,
            handle: None,
        },
        images: Vec::new(),
        gap_ms: Some(Amount::Fixed(2_000)),
        plants: Vec::new(),
        spreads: Default::default(),
        preserve: Some(draw_one_of(draws, &PRESERVES)),
        recover: Default::default(),
    });
    let (calls, rounds) = (calls.collect(), Amount::Fixed(1));
    TurnSpec { user_tokens, answer_tokens, gap_ms, calls, times: 1, rounds, ..TurnSpec::default() }
}

fn draw_one_of<T: Copy>(draws: &mut Stream, choices: &[T]) -> T {
    choices[draws.between(0, choices.len() as u64 - 1) as usize]
}

/// Returns the scenario of some turns.
fn scenario_of_turns(name: &str, about: &str, turns: &[TurnSpec]) -> ScenarioFile {
    let stable = [(Kind::System, 1_800), (Kind::ToolSchema, 6_500)];
    ScenarioFile {
        about: about.to_owned(),
        stable: stable.map(|(kind, tokens)| StableItem { kind, tokens, name: None }).to_vec(),
        load: LoadSpec::Turns(turns.to_vec()),
        ..ScenarioFile::named(name)
    }
}

/// Makes a counterexample as small as so many tries allow.
fn shrink_counterexample(
    trial: &LawTrial<'_>,
    law: Law,
    turns: &[TurnSpec],
    mut tries: u32,
) -> Result<LawCounterexample> {
    let mut best = (turns.to_vec(), trial.find_breach(turns, law)?);
    'smaller: while tries > 0 {
        for candidate in smaller_sessions(&best.0) {
            if tries == 0 {
                break;
            }
            tries -= 1;
            if let Some(breach) = trial.find_breach(&candidate, law)? {
                best = (candidate, Some(breach));
                continue 'smaller;
            }
        }
        break;
    }
    let (turns, breach) = best;
    // The session was found by its breach; a policy that is not deterministic may not repeat it.
    let what = || "this session broke the law, and did not when it was tried again".to_owned();
    let breach = breach.unwrap_or_else(|| LawBreach { law, turn: 1, request: 1, what: what() });
    to_counterexample(&trial.policy.name, &turns, breach)
}

/// Returns smaller sessions, the smallest first: half of it, a turn less, two turns in one, a call less, fewer and smaller of everything.
fn smaller_sessions(turns: &[TurnSpec]) -> Vec<Vec<TurnSpec>> {
    let mut all = Vec::new();
    if turns.len() > 1 {
        all.push(turns[..turns.len() / 2].to_vec());
        all.push(turns[turns.len() / 2..].to_vec());
        all.extend((0..turns.len()).map(|nth| [&turns[..nth], &turns[nth + 1..]].concat()));
        all.extend((1..turns.len()).map(|nth| with_turn_merged(turns, nth)));
    }
    let mut change = |nth: usize, change: &dyn Fn(&mut TurnSpec)| {
        let mut changed = turns.to_vec();
        change(&mut changed[nth]);
        if changed != turns {
            all.push(changed);
        }
    };
    for (nth, turn) in turns.iter().enumerate() {
        for call in 0..turn.calls.len() {
            change(nth, &|it| drop(it.calls.remove(call)));
        }
        for call in 0..turn.calls.len() {
            change(nth, &|it| it.calls[call].times = (it.calls[call].times / 2).max(1));
            change(nth, &|it| it.calls[call].times = (it.calls[call].times - 1).max(1));
            change(nth, &|it| halve_size(&mut it.calls[call].result.raw, 1));
            change(nth, &|it| halve_size(&mut it.calls[call].text_tokens, 0));
            change(nth, &|it| halve_size(&mut it.calls[call].args_tokens, 1));
        }
        change(nth, &|it| it.gap_ms = Some(Amount::Fixed(0)));
        change(nth, &|it| halve_size(&mut it.user_tokens, 1));
        change(nth, &|it| halve_size(&mut it.answer_tokens, 1));
    }
    all
}

/// Returns the session with the calls of a turn made in the turn before.
fn with_turn_merged(turns: &[TurnSpec], nth: usize) -> Vec<TurnSpec> {
    let mut fewer = turns.to_vec();
    let mut calls = fewer.remove(nth).calls;
    fewer[nth - 1].calls.append(&mut calls);
    fewer
}

/// Halves a size, down to a least one.
fn halve_size(size: &mut Amount, least: u64) {
    if let Amount::Fixed(tokens) = size {
        *tokens = (*tokens / 2).max(least.min(*tokens));
    }
}
