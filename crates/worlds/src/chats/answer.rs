//! How a question is answered: two search passes read entries and versions of the document,
//! and a model answers from what was found.

use super::log::{Answered, ModelRole};
use super::run::{Desk, user_seed};
use super::service::Stored;
use super::users::{NeededVersion, Question, QuestionKind};
use crate::prelude::*;
use crate::trial::{best, normal};
use ctxsim_base::rng::Stream;
use ctxsim_engine::ledger::Loss;
use ctxsim_input::policy::memory::SearchPass;

struct QuestionDraws {
    /// By fact: what the model makes of it.
    uses: Stream,
    stale: Stream,
    date: Stream,
    in_text: Stream,
    /// Of the question itself.
    own: Stream,
}

impl QuestionDraws {
    /// Takes the draws of a user's question.
    fn new(seed: Seed, nth: usize) -> Self {
        let own = seed.child("runner question", nth as u64);
        Self {
            uses: own.stream("use", 0),
            stale: own.stream("stale", 0),
            date: seed.stream("runner date kept", 0),
            in_text: seed.stream("runner date in text", 0),
            own: own.stream("own", 0),
        }
    }
}

/// Answers what is asked of a user by now; a question whose facts no longer hold is not asked.
pub(super) fn due(desk: &mut Desk<'_, '_>) {
    let user = desk.user;
    while let Some(question) =
        user.questions.get(desk.state.n_asked).filter(|it| it.after <= desk.state.session)
    {
        let nth = desk.state.n_asked;
        desk.state.n_asked += 1;
        let needed = user.needed(question);
        if needed.is_empty() && question.kind != QuestionKind::Abstention {
            continue;
        }
        let draws = QuestionDraws::new(user_seed(desk.chats, desk.user_ix), nth);
        let (reading, passes) = read(desk, question, &needed, &draws);
        let loss = Answering { desk, question, reading, draws }.lost(&needed);
        let is_right = question.is_echoed || loss.is_ok();
        let loss = loss.err().flatten().filter(|_| !is_right);
        let (user, kind) = (ix(desk.user_ix), question.kind);
        desk.answered(Answered { user, question: ix(nth), kind, is_right, loss, passes });
    }
}

/// Reads the current document and what one or two passes of a search find; returns how many passes there were.
fn read(
    desk: &mut Desk<'_, '_>,
    question: &Question,
    needed: &[FactIx],
    draws: &QuestionDraws,
) -> (QuestionReading, u32) {
    let mut reading = QuestionReading::nothing(desk.user.graph.facts.len());
    let Some(spec) = desk.rules.spec.as_ref().map(|it| &it.read) else { return (reading, 0) };
    let sizes = &desk.rules.numbers.sizes;
    let [question_tokens, judged, answered] =
        [sizes.question_tokens, sizes.judge_output_tokens, sizes.answer_output_tokens].map(u64::from);
    desk.state.document.facts().for_each(|it| reading.mark(it, CURRENT));
    let document_words = desk.state.document.words();
    if spec.document_alone {
        let tokens = desk.rules.numbers.tokens(document_words);
        desk.made(ServiceCall::GetContext, tokens, 0);
        desk.model(ModelRole::Answer, question_tokens, document_words, answered);
        return (reading, 0);
    }
    let search = |desk: &mut Desk<'_, '_>, reading: &mut QuestionReading, found, nth| {
        let tokens = desk.rules.numbers.tokens(pass(desk, question, (found, nth), reading, &draws.own));
        desk.made(ServiceCall::Search, tokens, 0);
        tokens
    };
    let first = search(desk, &mut reading, spec.first, 0);
    desk.model(ModelRole::Judgement, question_tokens + first, document_words, judged);
    let numbers = &desk.rules.numbers.search;
    let is_complete = !needed.is_empty() && needed.iter().all(|it| reading.has(*it));
    let p = if is_complete { numbers.refines_complete } else { numbers.refines_missing };
    let refines = draws.own.nth(0, 0).unit() < p;
    let second = if refines { search(desk, &mut reading, spec.second, 1) } else { 0 };
    desk.model(ModelRole::Answer, question_tokens + first + second, document_words, answered);
    (reading, 1 + u32::from(refines))
}

/// A question with what has been read for it.
struct Answering<'q, 'd, 'a> {
    desk: &'q Desk<'d, 'a>,
    question: &'q Question,
    reading: QuestionReading,
    draws: QuestionDraws,
}

impl Answering<'_, '_, '_> {
    /// Returns what lost a wrong answer; `None` for answers to questions about something never stated.
    fn lost(&self, needed: &[FactIx]) -> Result<(), Option<Loss>> {
        if self.question.kind == QuestionKind::Abstention {
            return self.abstains();
        }
        if !self.question.any {
            return needed.iter().try_for_each(|it| self.states(*it).map_err(Some));
        }
        let mut first = None;
        for fact in needed {
            let Err(loss) = self.states(*fact) else { return Ok(()) };
            first = first.or(Some(loss));
        }
        first.map_or(Ok(()), |it| Err(Some(it)))
    }

    /// Says whether a model states one of the facts that an answer needs, and what lost it if not.
    fn states(&self, fact: FactIx) -> Result<(), Loss> {
        let Self { desk, question, reading, draws } = self;
        let numbers = &desk.rules.numbers.r#use;
        if !reading.has(fact) {
            return Err(self.where_lost(fact));
        }
        let p = match question.kind {
            QuestionKind::Counting if reading.facts[fact as usize] & (CURRENT | SHARD) != 0 => {
                numbers.counts_document
            }
            QuestionKind::Counting => numbers.counts_entry,
            _ => numbers.states,
        };
        if draws.uses.nth(fact.into(), 0).unit() >= p {
            return Err(Loss::Use);
        }
        // The message itself says where it came from.
        let has_source = question.kind == QuestionKind::Audit && reading.in_entry(fact);
        if question.needs_dates && !has_source && !self.is_dated(fact) {
            return Err(Loss::Write);
        }
        let older =
            desk.user.graph.chain(fact).take_while(|it| *it != fact).find(|older| reading.has(*older));
        if question.versions == NeededVersion::Current
            && let Some(old) = older
        {
            // Two values in one version of the document have no dates of their own.
            let is_apart = !(reading.is_current(old) && reading.is_current(fact));
            let carries_time = desk.chats.conversation_time || !reading.in_entry(old);
            let p = if is_apart && carries_time { numbers.takes_stale_dated } else { numbers.takes_stale };
            if draws.stale.nth(fact.into(), 0).unit() < p {
                return Err(Loss::Use);
            }
        }
        Ok(())
    }

    /// Returns whether an unanswerable question is correctly left unanswered.
    fn abstains(&self) -> Result<(), Option<Loss>> {
        let numbers = &self.desk.rules.numbers.r#use;
        let takes = |it: FactIx| self.draws.uses.nth(it.into(), 0).unit() < numbers.takes_near;
        let takes_near = self.question.near.iter().any(|it| self.reading.has(*it) && takes(*it));
        let invents = self.draws.own.nth(1, 0).unit() < numbers.invents;
        if self.desk.rules.spec.is_some() && (takes_near || invents) { Err(None) } else { Ok(()) }
    }

    /// Returns whether the date of an event is known: the agent was told when its conversation took place, or its own words say it.
    fn is_dated(&self, fact: FactIx) -> bool {
        let numbers = &self.desk.rules.numbers;
        let says = || self.draws.in_text.nth(fact.into(), 0).unit() < numbers.dates.in_text;
        let keeps = || self.draws.date.nth(fact.into(), 0).unit() < numbers.document.keeps_date;
        self.desk.chats.conversation_time || says() && keeps()
    }

    /// Returns what lost a fact that was not read.
    fn where_lost(&self, fact: FactIx) -> Loss {
        let holders = self.desk.service.vault(self.desk.user_ix).holders(fact);
        let is_alone = self.desk.rules.spec.as_ref().is_some_and(|it| it.read.document_alone);
        match (holders.entries.is_empty() && holders.shards.is_empty(), is_alone) {
            (true, _) => Loss::Write,
            (_, true) => Loss::Store,
            _ => Loss::Read,
        }
    }
}

/// What has been read for a question.
#[derive(Debug)]
struct QuestionReading {
    /// By fact: where it stands, a mark for each kind of place.
    facts: Vec<u8>,
    entries: Vec<usize>,
    shards: Vec<usize>,
}

/// It is in the current document.
const CURRENT: u8 = 1;
/// It is in a version of the document that a search found.
const SHARD: u8 = 2;
const ENTRY: u8 = 4;

impl QuestionReading {
    /// Nothing of so many facts has been read.
    fn nothing(n_facts: usize) -> Self {
        Self { facts: vec![0; n_facts], entries: Vec::new(), shards: Vec::new() }
    }

    /// Returns whether a fact has been read.
    fn has(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] != 0
    }

    /// Returns whether it is in the current document.
    fn is_current(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & CURRENT != 0
    }

    /// Returns whether it is in an entry that was read.
    fn in_entry(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & ENTRY != 0
    }

    fn mark(&mut self, fact: FactIx, place: u8) {
        self.facts[fact as usize] |= place;
    }
}

/// Searches once; returns the words of what is new. What was found before is not found again.
fn pass(
    desk: &Desk<'_, '_>,
    question: &Question,
    (found, nth): (SearchPass, u32),
    reading: &mut QuestionReading,
    draws: &Stream,
) -> u64 {
    let vault = desk.service.vault(desk.user_ix);
    let [entry_margins, shard_margins] = margins(desk, question);
    // One draw of many parts: the n-th part is of the n-th entry, or version, whatever else there is.
    let likest = |kind: u64, margins: Vec<f64>, all: &[Stored], read: &[usize], n: u64| {
        let mut draw = draws.nth(2 + kind, nth.into());
        let noisy = margins.into_iter().map(|it| it + normal(draw.next_bits())).enumerate();
        let is_open = |at: usize| all[at].visible_ms <= desk.state.now_ms && !read.contains(&at);
        let scored = noisy.filter(|it| is_open(it.0)).map(|(at, score)| (score, at));
        best(scored.collect(), saturated(n))
    };
    let entries = likest(0, entry_margins, &vault.entries, &reading.entries, found.entries);
    let shards = likest(1, shard_margins, &vault.shards, &reading.shards, found.shards);
    let mut words = 0;
    for (places, all, mark) in [(&entries, &vault.entries, ENTRY), (&shards, &vault.shards, SHARD)] {
        for at in places {
            words += all[*at].words;
            all[*at].facts.iter().for_each(|it| reading.mark(*it, mark));
        }
    }
    reading.entries.extend(entries);
    reading.shards.extend(shards);
    words
}

/// Returns by how much each entry and each version of the document is more like a question than any other.
fn margins(desk: &Desk<'_, '_>, question: &Question) -> [Vec<f64>; 2] {
    let vault = desk.service.vault(desk.user_ix);
    let numbers = &desk.rules.numbers.search;
    let mut of_entries = vec![0.0; vault.entries.len()];
    let mut of_shards = vec![0.0; vault.shards.len()];
    for near in &question.near {
        vault.holders(*near).entries.iter().for_each(|it| of_entries[*it] = numbers.near_margin);
    }
    let share = numbers.shard_margin / question.needs.len().max(1) as f64;
    let mut seen = vec![usize::MAX; vault.shards.len()];
    for (nth, need) in question.needs.iter().enumerate() {
        // What says an older version is about the same thing.
        for version in desk.user.graph.chain(*need) {
            let holders = vault.holders(version);
            holders.entries.iter().for_each(|it| of_entries[*it] = numbers.entry_margin);
            for at in &holders.shards {
                if seen[*at] != nth {
                    seen[*at] = nth;
                    of_shards[*at] += share;
                }
            }
        }
    }
    [of_entries, of_shards]
}
