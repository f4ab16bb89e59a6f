//! Events of a memory besides its sessions; each kind of memory handles them in its own way.

use super::AgingStore;
use crate::aging::assumed::Model;
use crate::graph::{FactIx, RecordIx};
use ctxsim_base::quantity::saturated;
use ctxsim_input::policy::memory::SessionStore;
use ctxsim_input::scenario::Happening;

impl AgingStore<'_> {
    /// Lets something happen before a session.
    pub(in crate::aging) fn happen(&mut self, what: &Happening, session: u32) {
        match what {
            Happening::PartialReset { share } => self.reset(*share),
            Happening::Reindex => self.order += 1,
            Happening::ReduceBudget { words } => {
                self.words = Some(*words);
                if self.rules.store == SessionStore::Files {
                    self.prune();
                } else {
                    self.recompact(session);
                }
            }
            Happening::MemoryCompaction { words } => self.truncate(*words),
            Happening::FlushHistory => self.flush(session),
            Happening::Recompact => self.recompact(session),
            Happening::Migration => self.rewrite(session),
            Happening::MergeFiles => self.merge(session),
            Happening::PromptUpdate { prompt } => self.rules.prompt = Some(prompt.clone()),
            Happening::ModelRotation { model } => {
                if let Some(model) = Model::named(model) {
                    self.rules.model = model;
                }
            }
        }
    }

    /// Makes a summary again, or writes each file again; records are as they were said.
    fn recompact(&mut self, session: u32) {
        if let Some(spec) = self.rules.store.compaction().cloned() {
            self.summarise(&spec, session, None);
        } else if self.rules.store == SessionStore::Files {
            self.rewrite(session);
        }
    }

    /// Puts two files into one, which is written anew.
    fn merge(&mut self, session: u32) {
        if self.rules.store == SessionStore::Files {
            self.n_merged += 1;
            self.rewrite(session);
        }
    }

    /// Takes the oldest statements out of files until the rest fits.
    pub(super) fn prune(&mut self) {
        let Some(words) = self.words else { return };
        let n_most = words / self.numbers.assumed.words_per_statement.max(1);
        self.exact.sort_unstable();
        let n_kept = self.exact.iter().rev().zip(0..n_most).count();
        let gone = self.exact[..self.exact.len() - n_kept].to_vec();
        self.release(|it| gone.binary_search(&it).is_ok());
    }

    /// Loses a share: of records and histories the oldest, of a summary its end, which says what came last.
    fn reset(&mut self, share: f64) {
        let loses_newest = matches!(self.rules.store, SessionStore::Summary(_));
        let part = |n: usize| (n as f64 * share).round() as usize;
        self.exact.sort_unstable();
        let n_gone = part(self.exact.len());
        let gone = if loses_newest {
            self.exact[self.exact.len() - n_gone..].to_vec()
        } else {
            self.exact[..n_gone].to_vec()
        };
        self.release(|it| gone.binary_search(&it).is_ok());
        let n_records = part(self.records.len());
        let range =
            if loses_newest { self.records.len() - n_records..self.records.len() } else { 0..n_records };
        let records: Vec<RecordIx> = self.records.drain(range).collect();
        records.into_iter().for_each(|it| self.has_gist[it as usize] = false);
        if !loses_newest {
            let last = gone.last().map_or(0, |it| self.stream.graph.facts[*it as usize].session);
            self.history_from = self.history_from.max(last);
        }
    }

    /// Keeps the first words alone.
    fn truncate(&mut self, words: u64) {
        let n = saturated(words / self.numbers.assumed.words_per_statement.max(1));
        self.exact.sort_unstable();
        let gone: Vec<FactIx> = self.exact.get(n..).unwrap_or_default().to_vec();
        self.release(|it| gone.binary_search(&it).is_ok());
        let room = n.saturating_sub(self.exact.len());
        let records = self.records.split_off(room.min(self.records.len()));
        records.into_iter().for_each(|it| self.has_gist[it as usize] = false);
    }

    /// Loses the history: a memory that is made from it keeps its summary.
    fn flush(&mut self, session: u32) {
        self.history_from = session;
        if matches!(self.rules.store, SessionStore::History(_)) {
            return;
        }
        self.drop_exact();
        let records = std::mem::take(&mut self.records);
        records.into_iter().for_each(|it| self.has_gist[it as usize] = false);
        self.folded.iter_mut().flatten().for_each(|it| *it = false);
        self.knows_initial = false;
    }

    /// Writes everything again in another form: each statement is taken up again.
    pub(in crate::aging) fn rewrite(&mut self, session: u32) {
        let extract = self.numbers.fitted.extract;
        let draws = self.draws.event.clone();
        let at = u64::from(session);
        self.release(|it| draws.unit_of(it.into(), at) >= extract);
        let draws = &self.draws.event;
        for (total, folded) in self.folded.iter_mut().enumerate() {
            for (nth, is_folded) in folded.iter_mut().enumerate() {
                // Facts and changes have draws of their own.
                let id = u64::MAX - ((total as u64) << 32 | nth as u64);
                *is_folded &= draws.unit_of(id, at) < extract;
            }
        }
    }

    /// Writes the memory again from the raw sessions under another prompt, as the controller does in
    /// retrospect. The sessions do not say what the profile said, so that its constraints go; what is left is
    /// taken up again.
    pub(in crate::aging) fn rewrite_history(&mut self, session: u32, prompt: &str) {
        self.rules.prompt = Some(prompt.to_owned());
        let n_profile = self.stream.profile_records;
        let facts = &self.stream.graph.facts;
        let is_of_profile = |it: FactIx| facts[it as usize].record < n_profile;
        self.release(is_of_profile);
        self.rewrite(session);
    }
}
