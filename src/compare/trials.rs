//! Plays conversations trial by trial: each is generated once, played under every policy, and dropped.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;

use super::simulations::{Key, Keys};
use super::{Cell, Load, Plan, Progress, in_order};
use crate::diag::Diagnostic;
use crate::engine::{self, window};
use crate::error::Error;
use crate::hindsight;
use crate::input::Limits;
use crate::ledger::{KeptRow, NeedRow, Outcome, ProbeRow, RequestRow, Rows, Sink, Sums};
use crate::measure::probe::Probe;
use crate::measure::trial::Trial;
use crate::memory::export::{Export, Index, SCHEMA, Written};
use crate::price::PriceIndex;
use crate::timeline::facts::FactIx;
use crate::timeline::{self, Conversation, Timeline};

/// A trial's result under one policy.
#[derive(Clone, Debug)]
pub(super) struct Played {
    /// What is priced.
    pub(super) sums: Sums,
    /// Its requests by length, if prices depend on length.
    pub(super) index: Option<PriceIndex>,
    /// Its outcome.
    pub(super) outcome: Outcome,
    /// What was kept.
    pub(super) trial: Trial,
}

/// The trials of a load.
#[derive(Clone, Copy)]
pub(super) struct Trials<'a> {
    pub(super) load: &'a Load,
    pub(super) conversation: &'a Conversation,
    pub(super) keys: &'a Keys<'a>,
    pub(super) progress: Progress<'a>,
    /// Whether every row is complete, including policy edits, which takes longer.
    pub(super) in_full: bool,
}

impl Trials<'_> {
    /// Plays every trial and keeps something of each run.
    pub(super) fn play<S: Sink + Default, T: Send>(
        self,
        keep: impl Fn(&timeline::conversation::Trial, S, Outcome) -> T + Sync,
    ) -> Kept<T> {
        let n_trials = self.conversation.n_trials();
        let n_done = AtomicUsize::new(0);
        Kept(in_order(n_trials, |index| {
            let kept = play_one((self.load, self.conversation), self.keys, index, self.in_full, &keep);
            (self.progress)(n_done.fetch_add(1, Ordering::Relaxed) + 1, n_trials);
            kept
        }))
    }
}

/// What was kept: by trial, then by pair of limits and cache rules, then by policy.
pub(super) struct Kept<T>(Vec<Vec<T>>);

impl<T> Kept<T> {
    /// Returns what was kept of one run, trial by trial.
    pub(super) fn of(&self, run: usize) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().map(move |it| &it[run])
    }
}

/// Makes one conversation and plays it under every policy, its budget being the prompt limit.
fn play_one<S: Sink + Default, T>(
    (load, conversation): (&Load, &Conversation),
    keys: &Keys<'_>,
    index: usize,
    in_full: bool,
    keep: &impl Fn(&timeline::conversation::Trial, S, Outcome) -> T,
) -> Vec<T> {
    let made = conversation.trial(index);
    let per_token = conversation.chars_per_token();
    // Only what cannot go the short way needs a timeline.
    let timeline = OnceCell::new();
    let mut all = Vec::with_capacity(keys.distinct.len() * load.policies.len());
    for Key { limits, cache, profile, .. } in &keys.distinct {
        let limits = Limits { prompt: limits.prompt.min(made.budget_tokens), ..**limits };
        for policy in &load.policies {
            let mut sink = S::default();
            let short = || window::simulate(&made, per_token, policy, &limits, cache, &mut sink);
            let outcome = match (!in_full).then(short).flatten() {
                Some(outcome) => outcome,
                None => {
                    sink = S::default();
                    let timeline =
                        timeline.get_or_init(|| Timeline { seed: load.seed, ..conversation.timeline(&made) });
                    let policy = hindsight::under(policy, timeline, profile, &limits);
                    engine::simulate(timeline, &policy, &limits, cache, &mut sink)
                }
            };
            all.push(keep(&made, sink, outcome));
        }
    }
    all
}

/// The rows of one conversation.
#[derive(Clone, Debug)]
pub struct ConversationRows {
    /// Its length, in messages.
    pub length: u64,
    /// Which of that length it is, from 0.
    pub trial: u64,
    /// Its rows.
    pub rows: Arc<Rows>,
}

/// Returns which of all conversations one is.
fn place(conversation: &Conversation, length: u64, trial: u64) -> Result<usize, Vec<Diagnostic>> {
    conversation.index_of(length, trial).ok_or_else(|| {
        let message =
            format!("{} has no conversation number {trial} with {length} messages", conversation.name());
        let lengths: Vec<String> = conversation.lengths().iter().map(u64::to_string).collect();
        let last = conversation.trials_per_length().saturating_sub(1);
        let help =
            format!("the lengths are {}; conversations are numbered from 0 to {last}", lengths.join(", "));
        vec![Diagnostic::at("conversation-unknown", "", message).help(help)]
    })
}

/// Makes the timeline of one conversation (by default of the first length), and its limits.
///
/// # Errors
/// There is no such conversation.
pub fn conversation(
    conversation: &Conversation,
    length: Option<u64>,
    trial: u64,
    limits: &Limits,
) -> Result<(Timeline, Limits), Vec<Diagnostic>> {
    let length = length.or(conversation.lengths().first().copied()).unwrap_or_default();
    let made = conversation.trial(place(conversation, length, trial)?);
    let limits = Limits { prompt: limits.prompt.min(made.budget_tokens), ..*limits };
    Ok((conversation.timeline(&made), limits))
}

/// Keeps the probes of a run and what its memory holds at the end.
#[derive(Debug, Default)]
struct Asked {
    probes: Vec<ProbeRow>,
    kept: Vec<(u64, String, FactIx)>,
}

impl Sink for Asked {
    fn request(&mut self, _row: &RequestRow) {}

    fn need(&mut self, _row: &NeedRow) {}

    fn probe(&mut self, row: &ProbeRow) {
        self.probes.push(*row);
    }

    fn kept(&mut self, row: &KeptRow<'_>) {
        self.kept.push((row.nth, row.bank.to_owned(), row.fact));
    }
}

impl Load {
    /// Plays its conversations and returns their probes, or nothing if it has none.
    #[must_use]
    pub fn probes(&self, progress: Progress<'_>) -> Vec<(Cell, Vec<Probe>)> {
        let Some(conversation) = self.workload.conversations() else { return Vec::new() };
        let simulations = self.simulations();
        let in_words = |made: &timeline::conversation::Trial, asked: Asked, _| -> Vec<Probe> {
            let word = |row: &ProbeRow| Some(Probe::new(row, conversation.spell(made, row.fact)?, made));
            asked.probes.iter().filter_map(word).collect()
        };
        let trials = Trials { load: self, conversation, keys: &simulations.keys, progress, in_full: false };
        let kept = trials.play(in_words);
        let of = |cell: Cell| kept.of(simulations.within(cell)).flatten().cloned().collect();
        self.engine_cells().map(|cell| (cell, of(cell))).collect()
    }

    /// Plays its conversations and returns their rows, or nothing if it has none.
    #[must_use]
    pub fn conversation_rows(&self, progress: Progress<'_>) -> Vec<(Cell, Vec<ConversationRows>)> {
        let Some(conversation) = self.workload.conversations() else { return Vec::new() };
        let simulations = self.simulations();
        let keep = |made: &timeline::conversation::Trial, rows: Rows, _| ConversationRows {
            length: made.length,
            trial: made.trial,
            rows: Arc::new(rows),
        };
        let trials = Trials { load: self, conversation, keys: &simulations.keys, progress, in_full: true };
        let kept = trials.play(keep);
        let of = |cell: Cell| kept.of(simulations.within(cell)).cloned().collect();
        self.engine_cells().map(|cell| (cell, of(cell))).collect()
    }
}

impl Plan {
    /// Plays one conversation and returns the final contents of the first policy's memory.
    ///
    /// # Errors
    /// The plan's first scenario cannot be opened or has no such conversation, or its first policy has no
    /// memory.
    pub fn export(&self, length: u64, trial: u64, set: &[String]) -> Result<Export, Vec<Diagnostic>> {
        let refuse = |code, message: String, help: &str| vec![Diagnostic::at(code, "", message).help(help)];
        let (Some(entry), Some(profile)) = (self.scenarios.first(), self.profiles.first()) else {
            return Err(refuse("list-empty", "there is nothing to play".to_owned(), "name a scenario"));
        };
        let loads = self.open(entry).map_err(|error| match error {
            Error::Invalid(problems) => problems,
            other => vec![other.into_problem()],
        })?;
        let Some(load) = loads.first() else { return Err(Vec::new()) };
        let Some((conversation, policy)) = load.workload.conversations().zip(load.policies.first()) else {
            let message = format!("{} has no conversations", load.name);
            return Err(refuse("rows-trials", message, "name a scenario with `load.conversation`"));
        };
        if policy.fact_memory().is_none() {
            let message = format!("{} has no memory beside its prompt", policy.name);
            return Err(refuse("store-none", message, "name a policy with a `memory`"));
        }
        let index = place(conversation, length, trial)?;
        let one = Load { policies: vec![Arc::clone(policy)], ..load.clone() };
        let keys = Keys::new(std::slice::from_ref(profile), &one.policies);
        let in_words = |made: &timeline::conversation::Trial, mut asked: Asked, _| {
            asked.kept.sort_unstable();
            let mut banks: IndexMap<String, IndexMap<String, String>> = IndexMap::new();
            let mut written = Vec::with_capacity(asked.kept.len());
            for (_, bank, fact) in asked.kept {
                let Some(said) = conversation.spell(made, fact) else { continue };
                written.push(Written { bank: bank.clone(), key: said.key.clone() });
                banks.entry(bank).or_default().insert(said.key, said.value);
            }
            (banks, written)
        };
        let mut kept = play_one((&one, conversation), &keys, index, false, &in_words);
        let (banks, written) = kept.pop().unwrap_or_default();
        let index = Index {
            schema: SCHEMA.to_owned(),
            policy: policy.name.clone(),
            scenario: load.name.clone(),
            profile: profile.name.clone(),
            seed: load.seed,
            length,
            trial,
            set: set.to_vec(),
            written,
        };
        Ok(Export { index, banks })
    }
}
