//! The contents of a memory and how they are lost: written session by session, affected by events.

pub(super) mod compact;
mod events;
mod size;

use std::ops::Range;

use super::assumed::AgingNumbers;
use super::rules::MemoryRules;
use super::stream::AgingStream;
use crate::graph::{FactIx, RecordIx, Says};
use ctxsim_base::quantity::ix;
use ctxsim_base::rng::Stream as Draws;
use ctxsim_input::policy::memory::MemoryPart;
use ctxsim_input::policy::memory::{SessionStore, TotalsSurvive};

/// What sessions say: where the facts and the records of each begin, and after the last where they end.
pub(super) struct StatedFacts {
    facts: Vec<FactIx>,
    records: Vec<RecordIx>,
}

impl StatedFacts {
    /// Looks where each session of a stream begins.
    pub(super) fn new(stream: &AgingStream) -> Self {
        let graph = &stream.graph;
        let facts = |at: u32| ix(graph.facts.partition_point(|it| it.session < at));
        let records = |at: u32| ix(graph.records.partition_point(|it| it.session < at));
        let sessions = 0..=stream.n_sessions();
        Self { facts: sessions.clone().map(facts).collect(), records: sessions.map(records).collect() }
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
    /// The facts that are retracted in some session.
    retracted: Vec<FactIx>,
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
            retracted: (0..ix(graph.facts.len()))
                .filter(|it| graph.facts[*it as usize].invalidated_at.is_some())
                .collect(),
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
        if store.rules.store == SessionStore::Nothing {
            store.knows_initial = false;
        } else {
            let in_profile = |it: &FactIx| graph.facts[*it as usize].record < stream.profile_records;
            store
                .facts_of(0)
                .filter(in_profile)
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|it| store.hold(it));
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
        let compaction = self.rules.store.compaction();
        compaction.and_then(|it| it.gists_name_subjects).unwrap_or(true)
    }

    /// Writes a session.
    pub(super) fn write(&mut self, session: u32) {
        match self.rules.store.clone() {
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
        let is_of = |it: &FactIx| facts[*it as usize].record == record;
        for fact in self.exact.extract_if(.., |it| is_of(it)) {
            self.is_exact[fact as usize] = false;
        }
        self.n_exact[record as usize] = 0;
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
        let gone: Vec<FactIx> = self.retracted.iter().copied().filter(is_due).filter(is_taken).collect();
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
        if self.rules.store.compaction().is_none() || self.rules.write.totals == TotalsSurvive::Sum {
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
