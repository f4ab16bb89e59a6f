//! A kind of load: how it is played, what it reads of a policy, and what it tells beside the bill.
//!
//! **A kind of load is a `World`** (`take/world.rs`). It has a name, says how its requests come about (`Plays`: the engine plays a
//! timeline, they are fixed, or the world plays its trials itself), which parts of a policy it reads (`LoadKind`), and what it needs from a
//! play: runs, ledgers for many price lists, rows. Every method but the name and the kind has a default. A world stands in one folder of
//! `worlds/` and one line of `worlds/lib.rs`; the form of its files and of its memory stands in `input`. Worlds that are made of another
//! one name that one, and `tune --fit` names ageing (`app/probes.rs`, `cli/verbs/fit.rs`); nothing else outside a world's folder names it.
//! Facts written to a memory service are a world made of another one (`World::service`, `worlds/chats/run.rs`): a policy with `memory:
//! service` is played by it, on the facts of the load's own world. A library without the feature `worlds` has items alone, and refuses
//! other loads.

use crate::prelude::*;
use std::any::Any;

use super::{Cell, Load, Progress, Sinks, Take};
use crate::ledger::Rows as Ledger;
use crate::memory::export::Banks;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_input::policy::memory::MemorySpec;
use ctxsim_timeline::row::Rows;

/// What a scenario plays.
pub trait World: Any + fmt::Debug + Send + Sync {
    /// Returns the name of the load.
    fn name(&self) -> &str;

    /// Returns what it reads of a policy.
    fn kind(&self) -> &'static LoadKind;

    /// Returns how its requests come about.
    fn plays(&self) -> Plays<'_> {
        Plays::Trials
    }

    /// Returns it with another layout of its items.
    fn laid_out(&self, _timeline: Arc<Timeline>) -> Option<Arc<dyn World>> {
        None
    }

    /// Returns how many trials each of its loads has, if it draws them itself.
    fn trials(&self) -> Option<u64> {
        None
    }

    /// Returns what is assumed rather than known, in sentences.
    fn assumptions(&self) -> &[String] {
        &[]
    }

    /// Returns what every run of it rests on, in place of what is said of recovery.
    fn premises(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// Returns the model that answered most of it, if it was recorded and is no timeline.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Returns what a reader of the runs of a load must know.
    fn notes(&self, _load: &Load) -> Vec<String> {
        Vec::new()
    }

    /// Returns why it cannot be played under a profile, if it cannot.
    fn refusal(&self, _profile: &Profile) -> Option<Diagnostic> {
        None
    }

    /// Returns the same facts as a memory service is told them, if it has any.
    fn service(self: Arc<Self>, _seed: u64) -> Option<Arc<dyn World>> {
        None
    }

    /// Plays a load of it under all of the load's policies, into the sinks that are asked for; the takes are in the order of a
    /// report.
    fn play(&self, load: &Load, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        load.played(sinks, progress)
    }

    /// Plays a load of it and returns rows of some kind; none where it has none.
    fn rows(&self, _load: &Load, _of: RowsOf, _progress: Progress<'_>) -> Vec<Rows> {
        Vec::new()
    }

    /// Returns why it has no rows of requests or of needs, if it has none.
    fn without_rows(&self, _of_needs: bool) -> Option<Diagnostic> {
        None
    }

    /// Plays a load of it trial by trial and returns the rows of each, run by run.
    fn ledgers(&self, _load: &Load, _progress: Progress<'_>) -> Vec<(Cell, Vec<TrialLedger>)> {
        Vec::new()
    }

    /// Returns the lengths of its trials, in messages, if they have any.
    fn lengths(&self) -> &[u64] {
        &[]
    }

    /// Makes the timeline of one trial, by default of the first length, and its limits.
    ///
    /// # Errors
    /// There is no such trial, or it has no timeline.
    fn trial(
        &self,
        _length: Option<u64>,
        _trial: u64,
        _limits: &Limits,
    ) -> Result<(Timeline, Limits), Vec<Diagnostic>> {
        let message =
            format!("{} consists of sessions: its requests depend on what the memory kept", self.name());
        let problem = Diagnostic::at(Code("explain-what"), "", message);
        Err(vec![problem.help("name a scenario of items, such as `agents/coding_day`")])
    }

    /// Plays one trial under a load's first policy and profile, and returns what its memory holds in the end.
    ///
    /// # Errors
    /// It has no such trial, or its facts have no words.
    fn banks(&self, load: &Load, _length: u64, _trial: u64) -> Result<Banks, Vec<Diagnostic>> {
        let problem = Diagnostic::at(Code("rows-trials"), "", format!("{} has no conversations", load.name));
        Err(vec![problem.help("name a scenario with `load.conversation`")])
    }
}

/// How the requests of a load come about.
#[derive(Clone, Copy)]
pub enum Plays<'w> {
    /// The engine plays items.
    Items(&'w Arc<Timeline>),
    /// They are as recorded, and no policy changes them.
    Fixed(&'w dyn Fixed),
    /// The world plays its trials one by one.
    Trials,
}

/// Requests that no policy changes.
pub trait Fixed: Sync {
    /// Replays them under limits and the rules of a cache.
    fn replay(&self, limits: &Limits, cache: &CacheRules, sink: &mut dyn Sink) -> Outcome;
}

/// Rows that only some worlds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsOf {
    Trials,
    /// One trial, with the fields of the script that published it.
    Published,
    Questions,
    /// One stream: its facts, and what depends on them.
    Facts,
    /// One call of a memory to its service.
    Calls,
    /// One action of what writes to a service.
    Log,
    /// One changed assumption, and what then answers more.
    Orderings,
}

/// The rows of one trial.
#[derive(Clone, Debug)]
pub struct TrialLedger {
    /// Its length, in messages.
    pub length: u64,
    /// Which of that length it is, from 0.
    pub trial: u64,
    pub rows: Arc<Ledger>,
    /// Limits exceeded by its requests.
    pub limit_violations: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialQuestion {
    /// What became of what it asks for.
    pub state: &'static str,
    /// What it asks for, in words.
    pub what: String,
}

/// What a kind of load reads of a policy.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct LoadKind {
    /// Whether it reads what edits the prompt: stages, code or a program.
    pub prompt: bool,
    /// Whether it reads a memory of facts.
    pub facts: bool,
    /// Whether it reads a memory of sessions.
    pub sessions: bool,
    /// Whether it reads a memory service.
    pub service: bool,
    /// Whether policies are judged by what they remember, rather than by evidence needs.
    pub is_of_memories: bool,
    /// What it reads, in words, and a policy for it.
    pub words: [&'static str; 2],
}

/// A part of a policy that decides what the model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyPart {
    /// What edits the prompt: stages, code or a program.
    Prompt(&'static str),
    /// A memory of facts.
    Facts,
    /// A memory of sessions.
    Sessions,
    /// A memory service.
    Service,
}

/// Why a policy cannot be played: the parts that it sets, none of which the load reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unread(pub Vec<PolicyPart>);

impl PolicyPart {
    /// Returns the parts that a policy sets; one that sets none does the same in every load.
    fn all_of(policy: &Policy) -> Vec<Self> {
        let prompt = match policy {
            _ if policy.process.is_some() => Some("process"),
            _ if policy.code.is_some() => Some("code"),
            _ if !policy.stages().is_empty() => Some("stages"),
            _ => None,
        };
        let memory = policy.memory.as_ref().map(|it| match it {
            MemorySpec::Facts(_) => Self::Facts,
            MemorySpec::Sessions(_) => Self::Sessions,
            MemorySpec::Service(_) => Self::Service,
        });
        prompt.map(Self::Prompt).into_iter().chain(memory).collect()
    }

    /// Returns its field in a policy file.
    pub fn field(self) -> &'static str {
        match self {
            Self::Prompt(field) => field,
            Self::Facts => "memory.facts",
            Self::Sessions => "memory.sessions",
            Self::Service => "memory.service",
        }
    }

    /// Returns a bundled scenario that reads it.
    pub fn scenario(self) -> &'static str {
        match self {
            Self::Prompt(_) => "agents/coding_day",
            Self::Facts => "context_decay/trials",
            Self::Sessions => "aging/s1",
            Self::Service => "memory_runners/spec",
        }
    }
}

impl LoadKind {
    /// Nothing is read.
    pub const NOTHING: Self = Self {
        prompt: false,
        facts: false,
        sessions: false,
        service: false,
        is_of_memories: false,
        words: [""; 2],
    };

    /// Checks that it reads something of a policy, unless the policy sets nothing.
    ///
    /// # Errors
    /// It reads none of the parts that the policy sets.
    pub fn reads(&self, policy: &Policy) -> Result<(), Unread> {
        let parts = PolicyPart::all_of(policy);
        let is_played = parts.is_empty() || parts.iter().any(|it| self.reads_part(*it));
        if is_played { Ok(()) } else { Err(Unread(parts)) }
    }

    /// Returns the parts of a policy that it plays without; nothing where it reads no part of any.
    pub fn unread(&self, policy: &Policy) -> impl Iterator<Item = &'static str> {
        let reads_any = self.reads_any();
        let all = PolicyPart::all_of(policy).into_iter();
        all.filter(move |it| reads_any && !self.reads_part(*it)).map(PolicyPart::field)
    }

    /// Returns whether it reads anything of any policy.
    pub fn reads_any(&self) -> bool {
        self.prompt || self.facts || self.sessions || self.service
    }

    fn reads_part(&self, part: PolicyPart) -> bool {
        match part {
            PolicyPart::Prompt(_) => self.prompt,
            PolicyPart::Facts => self.facts,
            PolicyPart::Sessions => self.sessions,
            PolicyPart::Service => self.service,
        }
    }

    /// Returns whether a policy is written to a memory service: all are where that is all that is read.
    pub fn is_written_by(&self, policy: &Policy) -> bool {
        let is_all = self.service && !self.prompt && !self.facts && !self.sessions;
        is_all || policy.service_memory().is_some() && self.service
    }
}
