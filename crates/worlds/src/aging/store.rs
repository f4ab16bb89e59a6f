//! The contents of a memory and how they are lost: written session by session, affected by events.

use std::cmp::Ordering;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::assumed::{AgingNumbers, Model};
use super::rules::{MemoryRules, SummaryPass};
use super::stream::AgingStream;
use crate::prelude::*;
use crate::trial::normal;
use ctxsim_base::rng::Stream as Draws;
use ctxsim_input::policy::memory::{MemoryPart, SummaryLoss, TotalsSurvive};
use ctxsim_input::scenario::Happening;

/// What sessions say: where the facts and the records of each begin, and after the last where they end.
pub(super) struct StatedFacts {
    facts: Vec<FactIx>,
    records: Vec<RecordIx>,
    /// The facts that are retracted in some session.
    pub(super) retracted: Vec<FactIx>,
}

impl StatedFacts {
    /// Looks where each session of a stream begins.
    pub(super) fn new(stream: &AgingStream) -> Self {
        let graph = &stream.graph;
        let facts = |at: u32| ix(graph.facts.partition_point(|it| it.session < at));
        let records = |at: u32| ix(graph.records.partition_point(|it| it.session < at));
        let is_retracted = |it: &FactIx| graph.facts[*it as usize].invalidated_at.is_some();
        let sessions = 0..=stream.n_sessions();
        Self {
            facts: sessions.clone().map(facts).collect(),
            records: sessions.map(records).collect(),
            retracted: (0..ix(graph.facts.len())).filter(is_retracted).collect(),
        }
    }

    fn of(places: &[u32], session: u32) -> Range<u32> {
        let at = |it: usize| places.get(it).or(places.last()).copied().unwrap_or_default();
        at(session as usize)..at(session as usize + 1)
    }
}

/// A memory over the sessions of a stream.
pub(super) struct AgingStore<'a> {
    pub(super) stream: &'a AgingStream,
    said: &'a StatedFacts,
    pub(super) numbers: &'a AgingNumbers,
    pub(super) rules: MemoryRules,
    /// By fact: whether its words are held.
    pub(super) is_exact: Vec<bool>,
    /// By fact: whether the session that says it left it in the memory.
    pub(super) was_held: Vec<bool>,
    /// By record: of how many of its facts the words are held.
    pub(super) n_exact: Vec<u32>,
    /// By record: whether the gist of it is held.
    pub(super) has_gist: Vec<bool>,
    /// The facts whose words are held; of what is held word for word, all that came.
    pub(super) exact: Vec<FactIx>,
    /// The records of which there is a gist, or which are held word for word; in the order in which they came.
    pub(super) records: Vec<RecordIx>,
    /// By total and change: whether it is in the balance.
    pub(super) folded: Vec<Vec<bool>>,
    /// Whether the balance that totals begin with is held.
    pub(super) knows_initial: bool,
    /// The first session of which the history is still there.
    pub(super) history_from: u32,
    /// Words that an event left to summaries.
    pub(super) words: Option<u64>,
    /// How many passes have been made over it.
    pub(super) passes: u32,
    /// How often its records have been put in another order.
    pub(super) order: u32,
    /// How often its files have been merged.
    pub(super) n_merged: u32,
    /// By fact: the one draw in its life that decides whether it is taken up; a history is taken up again in
    /// every pass.
    extract: Vec<f64>,
    draws: MemoryPurposes,
}

/// The draws of a memory: each is a function of the stream's seed, the purpose, the thing and the pass.
pub(super) struct MemoryPurposes {
    head: Draws,
    noise: Draws,
    salience: Draws,
    gist: Draws,
    survive: Draws,
    retract: Draws,
    fold: Draws,
    event: Draws,
}

impl<'a> AgingStore<'a> {
    /// Begins with what is in the agent's profile, word for word.
    pub(super) fn new(
        stream: &'a AgingStream,
        said: &'a StatedFacts,
        rules: MemoryRules,
        numbers: &'a AgingNumbers,
    ) -> Self {
        let of = |purpose: &str| stream.seed.stream(purpose, 0);
        let graph = &stream.graph;
        let taken_up = of("aging extract");
        let extract = (0..graph.facts.len() as u64).map(|it| taken_up.unit_of(it, 0)).collect();
        let mut store = Self {
            stream,
            said,
            numbers,
            rules,
            is_exact: vec![false; graph.facts.len()],
            was_held: vec![false; graph.facts.len()],
            n_exact: vec![0; graph.records.len()],
            has_gist: vec![false; graph.records.len()],
            exact: Vec::new(),
            records: Vec::new(),
            folded: graph.accumulators.iter().map(|it| vec![false; it.deltas.len()]).collect(),
            knows_initial: true,
            history_from: 0,
            words: None,
            passes: 0,
            order: 0,
            n_merged: 0,
            extract,
            draws: MemoryPurposes {
                head: of("aging head"),
                noise: of("aging noise"),
                salience: of("aging salience"),
                gist: of("aging gist"),
                survive: of("aging survive"),
                retract: of("aging retract"),
                fold: of("aging fold"),
                event: of("aging event"),
            },
        };
        if store.rules.spec.store == SessionStore::Nothing {
            store.knows_initial = false;
        } else {
            for fact in store.facts_of(0) {
                if graph.facts[fact as usize].record < stream.profile_records {
                    store.hold(fact);
                }
            }
        }
        store
    }

    /// Returns the facts that a session says.
    pub(super) fn facts_of(&self, session: u32) -> Range<FactIx> {
        StatedFacts::of(&self.said.facts, session)
    }

    /// Returns the records that a session says.
    fn records_of(&self, session: u32) -> Range<RecordIx> {
        StatedFacts::of(&self.said.records, session)
    }

    /// Holds the words of a fact.
    fn hold(&mut self, fact: FactIx) {
        if !std::mem::replace(&mut self.is_exact[fact as usize], true) {
            self.exact.push(fact);
            self.n_exact[self.stream.graph.facts[fact as usize].record as usize] += 1;
        }
    }

    /// Lets go of the words of all facts.
    fn drop_exact(&mut self) -> Vec<FactIx> {
        let dropped = std::mem::take(&mut self.exact);
        for fact in &dropped {
            self.is_exact[*fact as usize] = false;
            self.n_exact[self.stream.graph.facts[*fact as usize].record as usize] = 0;
        }
        dropped
    }

    /// Returns whether a fact can be read off what is held: its words, or, of what a record is about, its gist.
    pub(super) fn holds(&self, fact: FactIx) -> bool {
        let it = &self.stream.graph.facts[fact as usize];
        let by_gist = || it.says == Says::Subject && self.gists_name_subjects() && self.mentions(it.record);
        self.is_exact[fact as usize] || by_gist()
    }

    /// Returns whether anything of a record is held.
    pub(super) fn mentions(&self, record: RecordIx) -> bool {
        self.has_gist[record as usize] || self.n_exact[record as usize] > 0
    }

    /// Returns whether a gist says what its record is about.
    pub(super) fn gists_name_subjects(&self) -> bool {
        let compaction = self.rules.spec.store.compaction();
        compaction.and_then(|it| it.gists_name_subjects).unwrap_or(true)
    }

    /// Writes a session.
    pub(super) fn write(&mut self, session: u32) {
        match self.rules.spec.store.clone() {
            SessionStore::Nothing => {}
            SessionStore::Everything => self.append(session),
            SessionStore::Entries { capacity_tokens } => {
                self.append(session);
                self.evict(capacity_tokens);
            }
            SessionStore::Files => self.file(session),
            SessionStore::Summary(spec) => self.summarise(&spec, session, Some(session)),
            SessionStore::History(spec) => self.summarise_history(&spec, session),
            SessionStore::Episodes(spec) => self.episode(&spec, session),
        }
        for fact in self.facts_of(session) {
            self.was_held[fact as usize] = self.holds(fact);
        }
        self.fold(session);
    }

    /// Keeps a session word for word.
    fn append(&mut self, session: u32) {
        self.facts_of(session).for_each(|it| self.hold(it));
        self.records.extend(self.records_of(session));
    }

    /// Lets the oldest records go until what is held fits.
    fn evict(&mut self, capacity_tokens: Option<u64>) {
        let Some(capacity) = capacity_tokens else { return };
        while self.tokens() > capacity && !self.records.is_empty() {
            let oldest = self.records.remove(0);
            self.forget_record(oldest);
        }
    }

    /// Lets a record go with all that it says.
    fn forget_record(&mut self, record: RecordIx) {
        let facts = &self.stream.graph.facts;
        self.release(|it| facts[it as usize].record == record);
        self.has_gist[record as usize] = false;
    }

    /// Writes what is taken up of a session into files, over what it replaces.
    fn file(&mut self, session: u32) {
        let extract = if self.rules.is_oracle(MemoryPart::Write) { 1.0 } else { self.numbers.fitted.extract };
        for fact in self.facts_of(session) {
            if self.is_extracted(fact, extract) {
                self.supersede(fact);
                self.hold(fact);
            }
        }
        self.retract(session, extract);
        self.records.extend(self.records_of(session));
        self.prune();
    }

    /// Returns the file of a domain.
    pub(super) fn file_of(&self, domain: u16) -> u16 {
        domain.checked_shr(self.n_merged).unwrap_or(0)
    }

    /// Returns whether a statement is taken up at all: one draw in its life.
    fn is_extracted(&self, fact: FactIx, extract: f64) -> bool {
        extract >= 1.0 || self.extract[fact as usize] < extract
    }

    /// Lets go of the versions that a fact replaces.
    fn supersede(&mut self, fact: FactIx) {
        let graph = &self.stream.graph;
        if graph.facts[fact as usize].replaces.is_some() {
            let earlier: Vec<FactIx> = graph.chain(fact).take_while(|it| *it != fact).collect();
            self.release(|it| earlier.contains(&it));
        }
    }

    /// Lets go of what a session retracts, where the retraction is taken up.
    fn retract(&mut self, session: u32, extract: f64) {
        let facts = &self.stream.graph.facts;
        let draws = &self.draws.retract;
        let is_due = |it: &FactIx| facts[*it as usize].invalidated_at == Some(session);
        let is_taken = |it: &FactIx| extract >= 1.0 || draws.unit_of((*it).into(), 0) < extract;
        let gone: Vec<FactIx> = self.said.retracted.iter().copied().filter(is_due).filter(is_taken).collect();
        if !gone.is_empty() {
            self.release(|it| gone.contains(&it));
        }
    }

    /// Lets go of the words of some facts.
    fn release(&mut self, is_gone: impl Fn(FactIx) -> bool) {
        for fact in self.exact.extract_if(.., |it| is_gone(*it)) {
            self.is_exact[fact as usize] = false;
            let record = self.stream.graph.facts[fact as usize].record;
            self.n_exact[record as usize] = self.n_exact[record as usize].saturating_sub(1);
        }
    }

    /// Works the changes of a session into the balance; a figure that could be confused is in the way.
    fn fold(&mut self, session: u32) {
        if self.rules.spec.store.compaction().is_none() || self.rules.spec.write.totals == TotalsSurvive::Sum
        {
            return;
        }
        let n_beside = self.n_confusable();
        let odds = if self.rules.is_oracle(MemoryPart::Write) {
            1.0
        } else {
            1.0 + self.rules.confusion(self.numbers) * n_beside as f64
        };
        let fold = self.rules.fold(self.numbers) / odds;
        for (total, accumulator) in self.stream.graph.accumulators.iter().enumerate() {
            for (nth, delta) in accumulator.deltas.iter().enumerate() {
                if delta.session == session {
                    let draw = self.draws.fold.unit_of(total as u64, nth as u64);
                    self.folded[total][nth] = draw < fold;
                }
            }
        }
    }

    /// Returns how many figures that could be confused with another are held.
    fn n_confusable(&self) -> usize {
        let graph = &self.stream.graph;
        graph.pairs.iter().flatten().filter(|it| self.is_exact[**it as usize]).count()
    }
}

impl AgingStore<'_> {
    /// Lets something happen before a session.
    pub(super) fn happen(&mut self, what: &Happening, session: u32) {
        match what {
            Happening::PartialReset { share } => self.reset(*share),
            Happening::Reindex => self.order += 1,
            Happening::ReduceBudget { words } => {
                self.words = Some(*words);
                if self.rules.spec.store == SessionStore::Files {
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
        if let Some(spec) = self.rules.spec.store.compaction().cloned() {
            self.summarise(&spec, session, None);
        } else if self.rules.spec.store == SessionStore::Files {
            self.rewrite(session);
        }
    }

    /// Puts two files into one, which is written anew.
    fn merge(&mut self, session: u32) {
        if self.rules.spec.store == SessionStore::Files {
            self.n_merged += 1;
            self.rewrite(session);
        }
    }

    /// Takes the oldest statements out of files until the rest fits.
    fn prune(&mut self) {
        let Some(words) = self.words else { return };
        let n_most = words / self.numbers.assumed.words_per_statement.max(1);
        let n_kept = self.exact.iter().zip(0..n_most).count();
        self.release_at(0..self.exact.len() - n_kept);
    }

    /// Lets go of the exact statements at some places, of which the oldest is the first.
    fn release_at(&mut self, places: Range<usize>) -> Vec<FactIx> {
        self.exact.sort_unstable();
        let gone = self.exact[places].to_vec();
        self.release(|it| gone.binary_search(&it).is_ok());
        gone
    }

    /// Lets go of the gists of some records.
    fn release_gists(&mut self, records: &[RecordIx]) {
        records.iter().for_each(|it| self.has_gist[*it as usize] = false);
    }

    /// Loses a share: of records and histories the oldest, of a summary its end, which says what came last.
    fn reset(&mut self, share: f64) {
        let loses_newest = matches!(self.rules.spec.store, SessionStore::Summary(_));
        let lost = |n: usize| {
            let n_gone = (n as f64 * share).round() as usize;
            if loses_newest { n - n_gone..n } else { 0..n_gone }
        };
        let gone = self.release_at(lost(self.exact.len()));
        let records: Vec<RecordIx> = self.records.drain(lost(self.records.len())).collect();
        self.release_gists(&records);
        if !loses_newest {
            let last = gone.last().map_or(0, |it| self.stream.graph.facts[*it as usize].session);
            self.history_from = self.history_from.max(last);
        }
    }

    /// Keeps the first words alone.
    fn truncate(&mut self, words: u64) {
        let n: usize = saturated(words / self.numbers.assumed.words_per_statement.max(1));
        let n_all = self.exact.len();
        self.release_at(n.min(n_all)..n_all);
        let room = n.saturating_sub(self.exact.len());
        let records = self.records.split_off(room.min(self.records.len()));
        self.release_gists(&records);
    }

    /// Loses the history: a memory that is made from it keeps its summary.
    fn flush(&mut self, session: u32) {
        self.history_from = session;
        if matches!(self.rules.spec.store, SessionStore::History(_)) {
            return;
        }
        self.drop_exact();
        let records = std::mem::take(&mut self.records);
        self.release_gists(&records);
        self.folded.iter_mut().flatten().for_each(|it| *it = false);
        self.knows_initial = false;
    }

    /// Writes everything again in another form: each statement is taken up again.
    pub(super) fn rewrite(&mut self, session: u32) {
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
    pub(super) fn rewrite_history(&mut self, session: u32, prompt: &str) {
        self.rules.prompt = Some(prompt.to_owned());
        let n_profile = self.stream.profile_records;
        let facts = &self.stream.graph.facts;
        let is_of_profile = |it: FactIx| facts[it as usize].record < n_profile;
        self.release(is_of_profile);
        self.rewrite(session);
    }
}

impl AgingStore<'_> {
    /// Returns the tokens of the whole memory.
    pub(super) fn tokens(&self) -> u64 {
        let words = self.numbers.assumed.words_per_statement * self.n_statements();
        (words as f64 * self.numbers.assumed.tokens_per_word).round() as u64 + self.header_tokens()
    }

    /// Returns the number of statements it has: what is exact, and the gists of what is not. Word for word, a
    /// record has a line more.
    fn n_statements(&self) -> u64 {
        let lines = match self.rules.spec.store {
            SessionStore::Nothing => 0,
            SessionStore::Summary(_) | SessionStore::History(_) | SessionStore::Episodes(_) => {
                self.records.iter().filter(|it| self.has_gist[**it as usize]).count()
            }
            _ => self.records.len(),
        };
        (self.exact.len() + lines) as u64
    }

    /// Returns the tokens of the totals before it.
    fn header_tokens(&self) -> u64 {
        const TOTAL: u64 = 12;
        if self.rules.overlay.is_some() { TOTAL * self.stream.graph.accumulators.len() as u64 } else { 0 }
    }

    /// Returns what represents its content; a summary that is made again is written in other words.
    pub(super) fn digest(&self) -> u64 {
        let front = [self.passes, self.order];
        let said = front.iter().chain(&self.exact).chain(&self.records);
        let mut bytes = Vec::with_capacity(4 * (front.len() + self.exact.len() + self.records.len()));
        said.for_each(|it| bytes.extend_from_slice(&it.to_le_bytes()));
        xxh3_64(&bytes)
    }
}

impl AgingStore<'_> {
    /// Begins a pass in a session; returns what it leaves.
    fn begin_pass(&mut self, spec: &SummaryLoss, session: u32) -> SummaryPass {
        self.passes += 1;
        self.rules.pass(spec, session, self.words, self.numbers)
    }

    /// Makes the summary again from itself and a session, or, without one, from itself alone.
    fn summarise(&mut self, spec: &SummaryLoss, at: u32, session: Option<u32>) {
        let pass = self.begin_pass(spec, at);
        let mut before = self.drop_exact();
        if session.is_some() {
            // What stood in the profile word for word is taken up like anything else that is new.
            before.retain(|it| self.stream.graph.facts[*it as usize].session != at);
        }
        let mut heads = std::mem::take(&mut self.records);
        heads.extend(before.iter().map(|it| self.stream.graph.facts[*it as usize].record));
        // Beside what the capacity takes.
        let draw = |fact: FactIx| self.draws.survive.unit_of(fact.into(), self.passes.into());
        before.retain(|it| pass.survival >= 1.0 || draw(*it) < pass.survival);
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
    fn summarise_history(&mut self, spec: &SummaryLoss, session: u32) {
        let pass = self.begin_pass(spec, session);
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
    fn episode(&mut self, spec: &SummaryLoss, session: u32) {
        let pass = self.begin_pass(spec, session);
        let mut before = self.drop_exact();
        before.retain(|it| self.stream.graph.facts[*it as usize].session != session);
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
