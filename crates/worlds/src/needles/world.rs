//! Plays conversations trial by trial: each is generated once, played under every policy, and dropped.
//!
//! **Conversations** are a load with trials. `worlds/needles/world.rs` makes each (length, trial) once, runs it under every policy and pair
//! of limits and rules, and drops it. Trials are spread over threads; results stay in order. A conversation's context budget *is* its
//! prompt limit, so `ratio(0.15)` in a policy is a share of the budget, and a policy that exceeds the budget stops as it would at a
//! provider's limit. A conversation is drawn as messages and numbers; its timeline and the words of its facts are made only on demand.

use crate::prelude::*;
use std::cell::OnceCell;

use super::conversation::{ConversationLoad, Dialogue};
use super::planted::{self, AskedLoad, NeedleProbe, Planted};
use super::trial::{LoadTrial, ScriptTrial, TrialSink};
use super::{Retention, found, window};
use crate::chats::{Chats, Writing};
use crate::{Registered, trial};
use ctxsim_engine::engine::Simulation;
use ctxsim_engine::hindsight;
use ctxsim_engine::ledger::{KeptRow, NeedRow, ProbeRow, RequestRow, Rows as Ledger};
use ctxsim_engine::measure::{Beside, Tally};
use ctxsim_engine::memory::export::{Banks, ExportedFact};
use ctxsim_engine::price::PriceRows;
use ctxsim_engine::take::{self, FoldedLedger, Keys, SimulationKey, TrialLedger, in_order_telling, of_run};
use ctxsim_input::scenario::LoadSpec as Form;
use ctxsim_timeline::facts::FactIx;

/// A trial's result under one policy.
#[derive(Clone, Debug)]
struct PlayedTrial {
    /// What is priced.
    folded: FoldedLedger,
    /// What was kept.
    trial: LoadTrial,
    /// Its questions, if they were asked for.
    probes: Vec<NeedleProbe>,
}

/// The trials of a load.
#[derive(Clone, Copy)]
struct Trials<'a> {
    load: &'a Load,
    conversation: &'a ConversationLoad,
    keys: &'a Keys<'a>,
    progress: Progress<'a>,
    /// Whether every row is complete, including policy edits, which takes longer.
    in_full: bool,
}

impl Trials<'_> {
    /// Plays every trial and keeps something of each run.
    fn play<S: Sink + Default, T: Send>(self, keep: impl Fn(&Dialogue, S, Outcome) -> T + Sync) -> Kept<T> {
        let n_trials = self.conversation.n_trials();
        Kept(in_order_telling(n_trials, self.progress, |index| self.one(index, &keep)))
    }

    /// Makes one conversation and plays it under every policy, its budget being the prompt limit.
    fn one<S: Sink + Default, T>(self, index: usize, keep: &impl Fn(&Dialogue, S, Outcome) -> T) -> Vec<T> {
        let made = self.conversation.trial(index);
        let per_token = self.conversation.chars_per_token();
        // Only what cannot go the short way needs a timeline.
        let timeline = OnceCell::new();
        let mut all = Vec::with_capacity(self.keys.distinct.len() * self.load.policies.len());
        for SimulationKey { limits, cache, profile, .. } in &self.keys.distinct {
            let limits = Limits { prompt: limits.prompt.min(made.budget_tokens), ..**limits };
            for policy in &self.load.policies {
                let mut sink = S::default();
                let short = || window::simulate(&made, per_token, policy, &limits, cache, &mut sink);
                let outcome = match (!self.in_full).then(short).flatten() {
                    Some(outcome) => outcome,
                    None => {
                        sink = S::default();
                        let timeline = timeline.get_or_init(|| Timeline {
                            seed: self.load.seed,
                            ..self.conversation.timeline(&made)
                        });
                        let policy = hindsight::under(policy, timeline, profile, &limits);
                        Simulation::new(timeline, &policy, &limits, cache).run(&mut sink)
                    }
                };
                all.push(keep(&made, sink, outcome));
            }
        }
        all
    }
}

/// What was kept: by trial, then by pair of limits and cache rules, then by policy.
struct Kept<T>(Vec<Vec<T>>);

impl<T> Kept<T> {
    /// Returns what was kept of one run, trial by trial.
    fn of(&self, run: usize) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().map(move |it| &it[run])
    }

    /// Returns something of what was kept, run by run of a load.
    fn by_run<U>(&self, load: &Load, keys: &Keys<'_>, some: impl Fn(&T) -> Vec<U>) -> Vec<(Cell, Vec<U>)> {
        load.own_cells().map(|cell| (cell, self.of(keys.within(cell)).flat_map(&some).collect())).collect()
    }
}

/// Tells what became of a question.
fn answer(it: &NeedleProbe) -> take::TrialQuestion {
    let what = format!("`{}` of message {} of {}", it.needle, it.message, it.conv_length);
    take::TrialQuestion { state: it.state, what }
}

/// Returns which of all conversations one is.
fn place(conversation: &ConversationLoad, length: u64, trial: u64) -> OrProblems<usize> {
    conversation.index_of(length, trial).ok_or_else(|| {
        let message = format!(
            "{} has no conversation number {trial} with {length} messages",
            conversation.scenario.name
        );
        let lengths: Vec<String> = conversation.lengths.iter().map(u64::to_string).collect();
        let last = conversation.trials.saturating_sub(1);
        let help =
            format!("the lengths are {}; conversations are numbered from 0 to {last}", lengths.join(", "));
        vec![Diagnostic::at(Code("conversation-unknown"), "", message).help(help)]
    })
}

/// Keeps the probes of a run and what its memory holds at the end.
#[derive(Debug, Default)]
struct ProbeKeeper {
    probes: Vec<ProbeRow>,
    kept: Vec<(u64, String, FactIx)>,
}

impl Sink for ProbeKeeper {
    fn request(&mut self, _row: &RequestRow) {}

    fn need(&mut self, _row: &NeedRow) {}

    fn probe(&mut self, row: &ProbeRow) {
        self.probes.push(*row);
    }

    fn kept(&mut self, row: &KeptRow<'_>) {
        self.kept.push((row.nth, row.bank.to_owned(), row.fact));
    }
}

/// What conversations read of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    prompt: true,
    facts: true,
    service: true,
    is_of_memories: true,
    words: planted::KIND.words,
    ..LoadKind::NOTHING
};

/// Conversations with planted facts.
pub(crate) const WORLD: Registered = Registered {
    kind: |load| match load {
        Form::Conversation(_) => Some(&KIND),
        load => load.plants_facts().then_some(&planted::KIND),
    },
    make: |scenario, _| {
        let Form::Conversation(load) = &scenario.load else { return None };
        Some(Ok(vec![Arc::new(ConversationLoad::new(scenario, load))]))
    },
    of_items: |timeline| timeline.facts.is_some().then(|| Arc::new(Planted(Arc::clone(timeline))) as _),
    rows: || {
        vec![
            ("`--rows trials` of conversations: one conversation", heads::<LoadTrial>()),
            (
                "`--rows published` of conversations: one conversation, as the published script writes it",
                heads::<ScriptTrial>(),
            ),
            ("`--rows probes` of conversations: one question about a fact", heads::<NeedleProbe>()),
        ]
    },
    findings: Some(&found::KIND),
    ..Registered::NEW
};

impl ConversationLoad {
    /// Plays every trial under the policies of a load.
    fn played(&self, load: &Load, keys: &Keys<'_>, asks: bool, progress: Progress<'_>) -> Kept<PlayedTrial> {
        let keep = |made: &Dialogue, (sums, trial): TrialSink, index, outcome: Outcome| PlayedTrial {
            trial: trial.ended(made.length, made.trial, made.total_tokens, &outcome),
            folded: (sums, index, outcome),
            probes: Vec::new(),
        };
        let trials = Trials { load, conversation: self, keys, progress, in_full: false };
        if asks {
            return trials.play(
                |made, ((sink, rows), asked): ((TrialSink, PriceRows), ProbeKeeper), outcome| {
                    let index = (!keys.is_flat).then(|| rows.into());
                    PlayedTrial { probes: self.in_words(made, &asked), ..keep(made, sink, index, outcome) }
                },
            );
        }
        if keys.is_flat {
            return trials.play(|made, sink, outcome| keep(made, sink, None, outcome));
        }
        trials.play(|made, (sink, rows): (TrialSink, PriceRows), outcome| {
            keep(made, sink, Some(rows.into()), outcome)
        })
    }

    /// Returns the questions of a trial.
    fn in_words(&self, made: &Dialogue, asked: &ProbeKeeper) -> Vec<NeedleProbe> {
        let Dialogue { n_stable, length, trial, .. } = *made;
        let load = AskedLoad { facts: Some(&made.facts), n_stable, length, trial };
        let word = |row: &ProbeRow| Some(load.probe(row, Some(self.spell(made, row.fact)?)));
        asked.probes.iter().filter_map(word).collect()
    }

    /// Plays every trial and returns them, run by run.
    pub fn trials_of(&self, load: &Load, progress: Progress<'_>) -> Vec<(Cell, Vec<LoadTrial>)> {
        let keys = Keys::new(&load.profiles, &load.policies);
        self.played(load, &keys, false, progress).by_run(load, &keys, |it| vec![it.trial])
    }

    /// Plays every trial and returns the questions, run by run.
    pub fn probes_of(&self, load: &Load, progress: Progress<'_>) -> Vec<(Cell, Vec<NeedleProbe>)> {
        let keys = &Keys::new(&load.profiles, &load.policies);
        let trials = Trials { load, conversation: self, keys, progress, in_full: false };
        let kept = trials.play(|made, asked: ProbeKeeper, _| self.in_words(made, &asked));
        kept.by_run(load, keys, Clone::clone)
    }

    /// Returns the categories for which a policy has no bank, and where these facts go.
    fn strays(&self, policy: &Policy) -> Option<String> {
        let memory = policy.fact_memory()?;
        let banks = memory.store.declared()?;
        memory.write.extract.iter().find(|it| it.into.is_none())?;
        let strays = self.category_names.iter().filter(|it| !banks.contains(it));
        let strays: Vec<String> = strays.map(|it| format!("`{it}`")).collect();
        let strays = match strays.as_slice() {
            [] => return None,
            [only] => only.clone(),
            [others @ .., last] => format!("{} or {last}", others.join(", ")),
        };
        Some(format!("{} has no bank for {strays}: those facts go to `{}`.", policy.name, banks.last()?))
    }
}

/// Adds up the trials of a run, and compares them with those of the other policies.
fn retained(load: &Load, cell: Cell, keys: &Keys<'_>, kept: &Kept<PlayedTrial>) -> (Tally, Retention) {
    let profile = &load.profiles[cell.profile];
    let of = |policy| kept.of(keys.within(Cell { policy, ..cell })).map(|it| &it.trial);
    let tallies = kept.of(keys.within(cell)).map(|one| {
        let (sums, index, outcome) = &one.folded;
        let beside = Beside { has_own_budgets: true, ..Beside::default() };
        Tally::beside(sums, index.as_ref(), outcome, load.models_of(cell), &beside)
    });
    let own = of(cell.policy);
    let paired = trial::paired(load, cell.policy, |other| Retention::less(own.clone(), of(other)));
    let trials: Vec<LoadTrial> = own.clone().copied().collect();
    (take::summed(tallies, profile), Retention { paired, ..Retention::new(&trials) })
}

impl World for ConversationLoad {
    fn name(&self) -> &str {
        &self.scenario.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn trials(&self) -> Option<u64> {
        Some(self.trials)
    }

    fn premises(&self) -> Option<[&'static str; 2]> {
        Some([
            "A conversation's budget is its prompt limit; the memory is at the end of the prompt, \
                where it is never read from a cache.",
            "Writing a memory, and calls that fetch a fact by its key, are not billed.",
        ])
    }

    fn notes(&self, load: &Load) -> Vec<String> {
        load.policies.iter().filter_map(|it| self.strays(it)).collect()
    }

    fn service(self: Arc<Self>, seed: u64) -> Option<Arc<dyn World>> {
        let own = Arc::clone(&self);
        let chats = move |trial| {
            let timeline = own.timeline(&own.trial(saturated(trial)));
            Chats::of_timeline(&timeline, Seed(seed).child("runner trial", trial))
        };
        let n_trials = self.n_trials() as u64;
        Some(Arc::new(Writing::new(self, n_trials, chats)))
    }

    fn play(&self, load: &Load, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        let keys = Keys::new(&load.profiles, &load.policies);
        let played = self.played(load, &keys, sinks.answers, progress);
        let assumed = load.assumed();
        let cells: Vec<Cell> = load.cells().collect();
        // To fold many trials is work, too.
        in_order(cells.len(), |at| {
            let (tally, retention) = retained(load, cells[at], &keys, &played);
            let run = Run { findings: Some(Arc::new(retention)), ..load.run(cells[at], tally, &assumed) };
            let answers = played.of(keys.within(cells[at])).flat_map(|it| it.probes.iter().map(answer));
            Take { answers: answers.collect(), ..Take::new(cells[at], run) }
        })
    }

    fn rows(&self, load: &Load, which: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        match which {
            RowsOf::Trials => {
                let all = self.trials_of(load, progress);
                all.iter().map(|(cell, it)| of_run(load.run_name(*cell), it)).collect()
            }
            RowsOf::Published => {
                let all = self.trials_of(load, progress);
                let named = all.into_iter().map(|(cell, it)| (load.run_name(cell).policy, it));
                vec![Rows::new::<ScriptTrial>(Vec::new(), ScriptTrial::all(named))]
            }
            RowsOf::Questions => {
                let all = self.probes_of(load, progress);
                all.iter().map(|(cell, it)| of_run(load.run_name(*cell), it)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn without_rows(&self, of_needs: bool) -> Option<Diagnostic> {
        let message = format!("{} declares no needs: probes ask for its facts", self.scenario.name);
        let help = "use `--rows probes` for one row per fact, or `--rows trials` for one per conversation";
        of_needs.then(|| Diagnostic::at(Code("rows-conversation"), "", message).help(help))
    }

    fn ledgers(&self, load: &Load, progress: Progress<'_>) -> Vec<(Cell, Vec<TrialLedger>)> {
        let keys = &Keys::new(&load.profiles, &load.policies);
        let keep = |made: &Dialogue, rows: Ledger, outcome: Outcome| TrialLedger {
            length: made.length,
            trial: made.trial,
            rows: Arc::new(rows),
            limit_violations: outcome.limit_violations,
        };
        let kept = Trials { load, conversation: self, keys, progress, in_full: true }.play(keep);
        kept.by_run(load, keys, |it| vec![it.clone()])
    }

    fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    fn trial(&self, length: Option<u64>, trial: u64, limits: &Limits) -> OrProblems<(Timeline, Limits)> {
        let length = length.or(self.lengths.first().copied()).unwrap_or_default();
        let made = self.trial(place(self, length, trial)?);
        let limits = Limits { prompt: limits.prompt.min(made.budget_tokens), ..*limits };
        Ok((self.timeline(&made), limits))
    }

    fn banks(&self, load: &Load, length: u64, trial: u64) -> OrProblems<Banks> {
        let index = place(self, length, trial)?;
        let keys = Keys::new(&load.profiles, &load.policies);
        let in_words = |made: &Dialogue, mut asked: ProbeKeeper, _| {
            asked.kept.sort_unstable();
            let mut all = Banks::default();
            for (_, bank, fact) in asked.kept {
                let Some(said) = self.spell(made, fact) else { continue };
                all.written.push(ExportedFact { bank: bank.clone(), key: said.key.clone() });
                all.banks.entry(bank).or_default().insert(said.key, said.value);
            }
            all
        };
        let trials = Trials { load, conversation: self, keys: &keys, progress: &|_, _| {}, in_full: false };
        let mut kept = trials.one(index, &in_words);
        Ok(kept.pop().unwrap_or_default())
    }
}
