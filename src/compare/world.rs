//! What each kind of load reads of a policy: a policy of which it reads nothing is refused, with loads that would.

use indexmap::IndexMap;

use super::load::Workload;
use super::{Entry, Load};
use crate::catalog::Origin;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::input::Policy;
use crate::input::policy::memory::Memory;
use crate::input::scenario::{self, Turn};
use crate::report::numbers::{counted, listed};
use crate::report::{Skipped, distinct};
use crate::timeline::Timeline;

/// A kind of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum World {
    /// Items, one after another.
    Items {
        /// Whether facts are planted in them, which memories keep and questions ask for.
        has_facts: bool,
    },
    /// Conversations with planted facts.
    Conversations,
    /// Sessions over which a memory ages.
    Aging,
    /// Chats that are written to a memory service.
    Chats,
    /// Recorded prompts as block ids.
    Blocks,
}

/// A part of a policy that decides what the model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
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
pub(super) struct Unread(Vec<Part>);

impl Part {
    /// Returns the parts that a policy sets; one that sets none does the same in every load.
    fn all_of(policy: &Policy) -> Vec<Self> {
        let prompt = match policy {
            _ if policy.process.is_some() => Some("process"),
            _ if policy.code.is_some() => Some("code"),
            _ if !policy.stages().is_empty() => Some("stages"),
            _ => None,
        };
        let memory = policy.memory.as_ref().map(|it| match it {
            Memory::Facts(_) => Self::Facts,
            Memory::Sessions(_) => Self::Sessions,
            Memory::Service(_) => Self::Service,
        });
        prompt.map(Self::Prompt).into_iter().chain(memory).collect()
    }

    /// Returns its field in a policy file.
    fn field(self) -> &'static str {
        match self {
            Self::Prompt(field) => field,
            Self::Facts => "memory.facts",
            Self::Sessions => "memory.sessions",
            Self::Service => "memory.service",
        }
    }

    /// Returns a bundled scenario that reads it.
    fn scenario(self) -> &'static str {
        match self {
            Self::Prompt(_) => "agents/coding_day",
            Self::Facts => "context_decay/trials",
            Self::Sessions => "aging/s1",
            Self::Service => "memory_runners/spec",
        }
    }
}

impl World {
    /// Returns the kind of a scenario before its recording is read; a recording may still be a block trace.
    pub(super) fn of_entry(entry: &Entry) -> Self {
        if let Origin::Built(built) = &entry.loaded.origin {
            return Self::of_items(&built.timeline);
        }
        let plants = |turns: &[Turn]| {
            turns
                .iter()
                .any(|it| !it.plants.is_empty() || it.calls.iter().any(|it| it.told().next().is_some()))
        };
        match &entry.spec.load {
            scenario::Load::Turns(turns) => Self::Items { has_facts: plants(turns) },
            scenario::Load::Generate(made) => Self::Items { has_facts: plants(&made.patterns) },
            scenario::Load::Conversation(_) => Self::Conversations,
            scenario::Load::Aging(_) => Self::Aging,
            scenario::Load::Chats(_) => Self::Chats,
            _ => Self::Items { has_facts: false },
        }
    }

    /// Returns the kind of a load.
    pub(super) fn of(workload: &Workload) -> Self {
        match workload {
            Workload::Items(timeline) => Self::of_items(timeline),
            Workload::Conversations(_) => Self::Conversations,
            Workload::Aging(_) => Self::Aging,
            Workload::Chats(_) => Self::Chats,
            Workload::Blocks(_) => Self::Blocks,
        }
    }

    fn of_items(timeline: &Timeline) -> Self {
        Self::Items { has_facts: timeline.facts.is_some() }
    }

    /// Checks that it reads something of a policy, unless the policy sets nothing.
    ///
    /// # Errors
    /// It reads none of the parts that the policy sets.
    pub(super) fn reads(self, policy: &Policy) -> Result<(), Unread> {
        let parts = Part::all_of(policy);
        let is_played = parts.is_empty() || parts.iter().any(|it| self.reads_part(*it));
        if is_played { Ok(()) } else { Err(Unread(parts)) }
    }

    /// Returns the parts of a policy that it plays without.
    pub(super) fn unread(self, policy: &Policy) -> impl Iterator<Item = &'static str> {
        Part::all_of(policy).into_iter().filter(move |it| !self.reads_part(*it)).map(Part::field)
    }

    fn reads_part(self, part: Part) -> bool {
        match part {
            Part::Prompt(_) => matches!(self, Self::Items { .. } | Self::Conversations),
            Part::Facts => matches!(self, Self::Items { has_facts: true } | Self::Conversations),
            Part::Sessions => self == Self::Aging,
            Part::Service => !matches!(self, Self::Items { has_facts: false } | Self::Blocks),
        }
    }

    /// Returns whether a policy writes it through a memory runner: all do where chats are all there is.
    pub(super) fn is_written_by(self, policy: &Policy) -> bool {
        self == Self::Chats || policy.service_memory().is_some() && self.reads_part(Part::Service)
    }

    /// Returns what it reads, and a policy for it.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Items { has_facts: false } => ["reads `stages`, `code` or `process`", "clear_tool_results"],
            Self::Items { has_facts: true } | Self::Conversations => [
                "reads `stages`, `code`, `process`, `memory.facts` or `memory.service`",
                "context_decay/memory_banks",
            ],
            Self::Aging => ["reads `memory.sessions` or `memory.service`", "aging/lossy"],
            Self::Chats => ["reads `memory.service`", "memory_runners/entries"],
            Self::Blocks => ["is a block trace, which no policy changes", "identity"],
        }
    }
}

impl Unread {
    /// Reports policies that cannot be played on loads of a kind.
    pub(super) fn problem(&self, world: World, policies: &[&str], loads: &[&str]) -> Diagnostic {
        let fields: Vec<String> = self.0.iter().map(|it| format!("`{}`", it.field())).collect();
        let [reads, policy] = world.words();
        let (they, set, have) =
            if policies.len() == 1 { ("it", "sets", "has") } else { ("they", "set", "have") };
        let names: Vec<String> = policies.iter().map(|it| (*it).to_owned()).collect();
        let load = match loads {
            [only] => (*only).to_owned(),
            all => format!("{} and {}", all[0], counted(all.len() - 1, "more scenario")),
        };
        let message = format!(
            "{} {have} no effect on {load}: {they} only {set} {}, and that scenario {reads}",
            listed(&names),
            listed(&fields)
        );
        let scenarios = distinct(self.0.iter().map(|it| it.scenario()));
        let scenarios: Vec<String> = scenarios.iter().map(|it| format!("`{it}`")).collect();
        let help = format!(
            "name a scenario such as {}, or for this one a policy such as `{policy}`",
            scenarios.join(" or ")
        );
        Diagnostic::at("policy-unread", "", message).help(help)
    }
}

/// Returns the first scenario in which policies are judged by what they remember, rather than by evidence needs.
pub(super) fn of_memories(entries: &[Entry]) -> Option<&str> {
    let is_of_memories =
        |it: &&Entry| matches!(World::of_entry(it), World::Conversations | World::Aging | World::Chats);
    entries.iter().find(is_of_memories).map(|it| it.name.as_str())
}

impl Load {
    /// Checks that some of its policies do work that can be compared: a memory runner writes sessions and answers questions,
    /// and any other policy answers the sessions' own requests.
    ///
    /// # Errors
    /// Some are played by a memory runner, and others are not.
    pub(super) fn same_work(&self, policies: &[usize]) -> Result<(), Error> {
        let policies = policies.iter().filter_map(|it| self.policies.get(*it));
        let (written, others): (Vec<_>, Vec<_>) = policies.partition(|it| self.is_written_by(it));
        let (Some(written), Some(other)) = (written.first(), others.first()) else { return Ok(()) };
        let message = format!(
            "{} and {} do not do the same work on {}: a memory runner writes and asks its own requests, so their costs cannot \
            be compared",
            written.name, other.name, self.name
        );
        let help = "compare memory runners with each other, or put both side by side with `ctxsim run`";
        Err(vec![Diagnostic::at("policy-other-work", "", message).help(help)].into())
    }
}

/// Finds the scenarios that cannot play every policy: those that were only found in a folder or by a pattern are left out while
/// others remain, and the rest are problems.
pub(super) fn check(entries: Vec<Entry>, problems: &mut Vec<Diagnostic>) -> (Vec<Entry>, Vec<Skipped>) {
    let why = |entry: &Entry| {
        let world = World::of_entry(entry);
        let one = |it: &std::sync::Arc<Policy>| Some((world, world.reads(it).err()?, it.name.clone()));
        entry.policies.iter().filter_map(one).collect::<Vec<_>>()
    };
    let found: Vec<_> = entries.iter().map(why).collect();
    let remains = found.iter().any(Vec::is_empty);
    let mut groups: IndexMap<(World, Unread), [Vec<&str>; 2]> = IndexMap::new();
    let mut skipped = Vec::new();
    for (entry, why) in entries.iter().zip(&found) {
        let leaves = entry.is_searched && remains;
        for (world, unread, policy) in why {
            if leaves {
                let reason = unread.problem(*world, &[policy], &[&entry.name]).message;
                skipped.push(Skipped::of(entry.loaded.origin.label(), &reason));
                break;
            }
            let [policies, loads] = groups.entry((*world, unread.clone())).or_default();
            policies.push(policy);
            loads.push(&entry.name);
        }
    }
    problems.extend(groups.iter().map(|((world, unread), [policies, loads])| {
        let [policies, loads] = [policies, loads].map(|it| distinct(it.iter().copied()));
        unread.problem(*world, &policies, &loads)
    }));
    let kept =
        entries.iter().zip(&found).filter(|(entry, why)| why.is_empty() || !(entry.is_searched && remains));
    (kept.map(|it| it.0.clone()).collect(), skipped)
}
