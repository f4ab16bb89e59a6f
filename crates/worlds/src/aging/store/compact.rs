//! Summaries: what stays exact, what becomes a gist, and what is lost.

use std::cmp::Ordering;

use super::AgingStore;
use crate::aging::rules::SummaryPass;
use crate::graph::{FactIx, RecordIx};
use crate::similar::normal;
use ctxsim_input::policy::memory::SummaryLoss;

impl AgingStore<'_> {
    /// Makes the summary again from itself and a session, or, without one, from itself alone.
    pub(super) fn summarise(&mut self, spec: &SummaryLoss, at: u32, session: Option<u32>) {
        let pass = self.rules.pass(spec, at, self.words, self.numbers);
        self.passes += 1;
        let mut before = self.drop_exact();
        if session.is_some() {
            // What stood in the profile word for word is taken up like anything else that is new.
            before.retain(|it| self.stream.graph.facts[*it as usize].session != at);
        }
        let mut heads = std::mem::take(&mut self.records);
        heads.extend(before.iter().map(|it| self.stream.graph.facts[*it as usize].record));
        before.retain(|it| self.survives(*it, &pass));
        before.into_iter().for_each(|it| self.hold(it));
        if let Some(session) = session {
            self.take_up(session, &pass);
            heads.extend(self.heads_of(session, &pass));
        }
        self.choose(at, &pass);
        self.keep_gists(heads, &pass);
    }

    /// Makes the summary again from all the history that is still there, and from itself where a part is
    /// gone.
    pub(super) fn summarise_history(&mut self, spec: &SummaryLoss, session: u32) {
        let pass = self.rules.pass(spec, session, self.words, self.numbers);
        self.passes += 1;
        let summary = self.drop_exact();
        let from = self.history_from;
        let is_older = |it: &FactIx| self.stream.graph.facts[*it as usize].session < from;
        let older: Vec<FactIx> = summary.into_iter().filter(is_older).collect();
        let mut heads = std::mem::take(&mut self.records);
        older.into_iter().for_each(|it| self.hold(it));
        for session in from..=session {
            self.take_up(session, &pass);
            heads.extend(self.heads_of(session, &pass));
        }
        self.choose(session, &pass);
        self.keep_gists(heads, &pass);
    }

    /// Adds a summary of a session to those before.
    pub(super) fn episode(&mut self, spec: &SummaryLoss, session: u32) {
        let pass = self.rules.pass(spec, session, self.words, self.numbers);
        self.passes += 1;
        let before = self.drop_exact();
        let before: Vec<FactIx> = before
            .into_iter()
            .filter(|it| self.stream.graph.facts[*it as usize].session != session)
            .collect();
        let old_heads = std::mem::take(&mut self.records);
        let gists: Vec<RecordIx> = old_heads.into_iter().filter(|it| self.has_gist[*it as usize]).collect();
        self.take_up(session, &pass);
        self.choose(session, &pass);
        self.keep_gists(self.heads_of(session, &pass).collect(), &pass);
        before.into_iter().for_each(|it| self.hold(it));
        for gist in gists {
            self.has_gist[gist as usize] = true;
            self.records.push(gist);
        }
        self.records.sort_unstable();
    }

    /// Returns the records of a session of which the subject is taken up.
    fn heads_of(&self, session: u32, pass: &SummaryPass) -> impl Iterator<Item = RecordIx> + use<'_> {
        let heads = pass.heads;
        self.records_of(session)
            .filter(move |it| heads >= 1.0 || self.draws.head.unit_of((*it).into(), 0) < heads)
    }

    /// Takes up what a session says.
    fn take_up(&mut self, session: u32, pass: &SummaryPass) {
        for fact in self.facts_of(session) {
            if self.is_extracted(fact, pass.extract) {
                self.supersede(fact);
                self.hold(fact);
            }
        }
        self.retract(session, pass.extract);
    }

    /// Returns whether an exact statement survives a pass, beside what the capacity takes.
    fn survives(&self, fact: FactIx, pass: &SummaryPass) -> bool {
        let draw = || self.draws.survive.unit_of(fact.into(), self.passes.into());
        pass.survival >= 1.0 || draw() < pass.survival
    }

    /// Leaves as many exact statements as there is room for: a summary that fits loses nothing.
    fn choose(&mut self, session: u32, pass: &SummaryPass) {
        if self.exact.len() <= pass.exact {
            return;
        }
        let scored = self.exact.iter().map(|it| (self.score(*it, session, pass), *it));
        let mut scored: Vec<(f64, FactIx)> = scored.collect();
        let best_first =
            |one: &(f64, FactIx), other: &(f64, FactIx)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1));
        let last = pass.exact.checked_sub(1).map(|nth| nth_of(scored.clone(), nth, best_first));
        scored.retain(|it| last.is_some_and(|last| best_first(it, &last).is_le()));
        self.drop_exact();
        // They hardly ever left their order, which costs one look then.
        scored.sort_unstable_by_key(|it| it.1);
        scored.into_iter().for_each(|(_, it)| self.hold(it));
    }

    /// Returns how strongly a statement asks to stay: chance, its own importance, and whether it is new.
    fn score(&self, fact: FactIx, session: u32, pass: &SummaryPass) -> f64 {
        let noise = normal(self.draws.noise.bits_of(fact.into(), self.passes.into()));
        let is_new = self.stream.graph.facts[fact as usize].session == session;
        let recency = if is_new { pass.recency } else { 0.0 };
        if pass.salience == 0.0 {
            return noise + recency;
        }
        let own = normal(self.draws.salience.bits_of(fact.into(), 0));
        (1.0 - pass.salience) * noise + pass.salience * own + recency
    }

    /// Keeps the gists of records that have no exact statement, as far as there is room.
    fn keep_gists(&mut self, mut heads: Vec<RecordIx>, pass: &SummaryPass) {
        heads.sort_unstable();
        heads.dedup();
        heads.iter().for_each(|it| self.has_gist[*it as usize] = false);
        let needed = |it: &RecordIx| self.n_exact[*it as usize] == 0;
        let mut open: Vec<RecordIx> = heads.iter().copied().filter(needed).collect();
        if open.len() > pass.gists {
            let draw = |it: RecordIx| self.draws.gist.bits_of(it.into(), self.passes.into());
            let drawn: Vec<(u64, RecordIx)> = open.iter().map(|it| (draw(*it), *it)).collect();
            let last = pass.gists.checked_sub(1).map(|nth| nth_of(drawn.clone(), nth, Ord::cmp));
            let kept = drawn.into_iter().filter(|it| last.is_some_and(|last| *it <= last));
            open = kept.map(|it| it.1).collect();
        }
        open.iter().for_each(|it| self.has_gist[*it as usize] = true);
        self.records = open;
    }
}

/// Returns what would be at a place if all were in order.
fn nth_of<T: Copy>(mut all: Vec<T>, nth: usize, order: impl Fn(&T, &T) -> Ordering) -> T {
    *all.select_nth_unstable_by(nth, order).1
}
