//! How a question is answered: two search passes read entries and versions of the document,
//! and a model answers from what was found.

mod search;

use self::search::QuestionReading;
use super::log::{Answered, ModelRole};
use super::run::Desk;
use super::users::{Question, QuestionKind};
use crate::graph::FactIx;
use ctxsim_base::quantity::ix;
use ctxsim_base::rng::{Seed, Stream};
use ctxsim_engine::ledger::Loss;
use ctxsim_input::policy::memory::ServiceCall;

struct QuestionDraws {
    /// By fact: what the model makes of it.
    uses: Stream,
    stale: Stream,
    date: Stream,
    in_text: Stream,
    /// Of the question itself.
    own: Stream,
}

/// Answers what is asked of a user by now.
pub(super) fn due(desk: &mut Desk<'_, '_>) {
    let user = desk.user;
    while let Some(question) =
        user.questions.get(desk.state.n_asked).filter(|it| it.after <= desk.state.session)
    {
        let nth = desk.state.n_asked;
        desk.state.n_asked += 1;
        answer(desk, question, nth);
    }
}

/// Answers a question; a question whose facts no longer hold is not asked.
fn answer(desk: &mut Desk<'_, '_>, question: &Question, nth: usize) {
    let needed = desk.user.needed(question);
    if needed.is_empty() && question.kind != QuestionKind::Abstention {
        return;
    }
    let seed = super::run::user_seed(desk.chats, desk.user_ix);
    let draws = QuestionDraws::new(seed, nth);
    let (reading, passes) = read(desk, question, &needed, &draws);
    let loss = lost(desk, question, &needed, &reading, &draws);
    let is_right = question.is_echoed || loss.is_ok();
    desk.answered(Answered {
        user: ix(desk.user_ix),
        question: ix(nth),
        kind: question.kind,
        is_right,
        loss: loss.err().flatten().filter(|_| !is_right),
        passes,
    });
}

/// Reads the current document and what one or two passes of a search find; returns how many passes there were.
fn read(
    desk: &mut Desk<'_, '_>,
    question: &Question,
    needed: &[FactIx],
    draws: &QuestionDraws,
) -> (QuestionReading, u32) {
    let n_facts = desk.user.graph.facts.len();
    let Some(spec) = desk.rules.spec.as_ref().map(|it| it.read.clone()) else {
        return (QuestionReading::nothing(n_facts), 0);
    };
    let sizes = &desk.rules.numbers.sizes;
    let [question_tokens, judged, answered] =
        [sizes.question_tokens, sizes.judge_output_tokens, sizes.answer_output_tokens].map(u64::from);
    let mut reading = QuestionReading::current(&desk.state.document, n_facts);
    let document_words = desk.state.document.words();
    if spec.document_alone {
        let tokens = desk.rules.numbers.tokens(document_words);
        desk.made(ServiceCall::GetContext, tokens, 0);
        desk.model(ModelRole::Answer, question_tokens, document_words, answered);
        return (reading, 0);
    }
    let pass = |desk: &mut Desk<'_, '_>, reading: &mut QuestionReading, nth: u32| {
        let found = if nth == 0 { spec.first } else { spec.second };
        let words = search::pass(desk, question, (found, nth), reading, &draws.own);
        let tokens = desk.rules.numbers.tokens(words);
        desk.made(ServiceCall::Search, tokens, 0);
        tokens
    };
    let first = pass(desk, &mut reading, 0);
    desk.model(ModelRole::Judgement, question_tokens + first, document_words, judged);
    let search = &desk.rules.numbers.search;
    let is_complete = !needed.is_empty() && needed.iter().all(|it| reading.has(*it));
    let p = if is_complete { search.refines_complete } else { search.refines_missing };
    let refines = draws.own.nth(0, 0).unit() < p;
    let second = if refines { pass(desk, &mut reading, 1) } else { 0 };
    desk.model(ModelRole::Answer, question_tokens + first + second, document_words, answered);
    (reading, 1 + u32::from(refines))
}

/// Returns what lost a wrong answer; `None` for answers to questions about something never stated.
fn lost(
    desk: &Desk<'_, '_>,
    question: &Question,
    needed: &[FactIx],
    reading: &QuestionReading,
    draws: &QuestionDraws,
) -> Result<(), Option<Loss>> {
    if question.kind == QuestionKind::Abstention {
        return abstains(desk, question, reading, draws);
    }
    let each = |fact: &FactIx| states(desk, question, *fact, reading, draws);
    if question.any {
        let mut first = None;
        for loss in needed.iter().map(each) {
            let Err(loss) = loss else { return Ok(()) };
            first = first.or(Some(loss));
        }
        return first.map_or(Ok(()), |it| Err(Some(it)));
    }
    needed.iter().try_for_each(|it| each(it).map_err(Some))
}

/// Says whether a model states one of the facts that an answer needs, and what lost it if not.
fn states(
    desk: &Desk<'_, '_>,
    question: &Question,
    fact: FactIx,
    reading: &QuestionReading,
    draws: &QuestionDraws,
) -> Result<(), Loss> {
    let numbers = &desk.rules.numbers;
    if !reading.has(fact) {
        return Err(where_lost(desk, fact));
    }
    let p = match question.kind {
        QuestionKind::Counting if reading.in_document(fact) => numbers.r#use.counts_document,
        QuestionKind::Counting => numbers.r#use.counts_entry,
        _ => numbers.r#use.states,
    };
    if draws.uses.nth(fact.into(), 0).unit() >= p {
        return Err(Loss::Use);
    }
    // The message itself says where it came from.
    let has_source = question.kind == QuestionKind::Audit && reading.in_entry(fact);
    if question.needs_dates && !has_source && !is_dated(desk, fact, draws) {
        return Err(Loss::Write);
    }
    let is_current = question.versions == super::users::NeededVersion::Current;
    let mut older =
        desk.user.graph.chain(fact).take_while(|it| *it != fact).filter(|older| reading.has(*older));
    if is_current && let Some(old) = older.next() {
        // Two values in one version of the document have no dates of their own.
        let is_apart = !(reading.is_current(old) && reading.is_current(fact));
        let carries_time = desk.chats.conversation_time || !reading.in_entry(old);
        let p = match is_apart && carries_time {
            true => numbers.r#use.takes_stale_dated,
            false => numbers.r#use.takes_stale,
        };
        if draws.stale.nth(fact.into(), 0).unit() < p {
            return Err(Loss::Use);
        }
    }
    Ok(())
}

/// Returns whether an unanswerable question is correctly left unanswered.
fn abstains(
    desk: &Desk<'_, '_>,
    question: &Question,
    reading: &QuestionReading,
    draws: &QuestionDraws,
) -> Result<(), Option<Loss>> {
    let numbers = &desk.rules.numbers.r#use;
    let reads = desk.rules.spec.is_some();
    let takes_near = question
        .near
        .iter()
        .any(|it| reading.has(*it) && draws.uses.nth((*it).into(), 0).unit() < numbers.takes_near);
    let invents = draws.own.nth(1, 0).unit() < numbers.invents;
    if reads && (takes_near || invents) { Err(None) } else { Ok(()) }
}

/// Returns whether the date of an event is known: the agent was told when its conversation took place, or its own words say it.
fn is_dated(desk: &Desk<'_, '_>, fact: FactIx, draws: &QuestionDraws) -> bool {
    let numbers = &desk.rules.numbers;
    let says = || draws.in_text.nth(fact.into(), 0).unit() < numbers.dates.in_text;
    let keeps = || draws.date.nth(fact.into(), 0).unit() < numbers.document.keeps_date;
    desk.chats.conversation_time || says() && keeps()
}

/// Returns what lost a fact that was not read.
fn where_lost(desk: &Desk<'_, '_>, fact: FactIx) -> Loss {
    let vault = desk.service.vault(desk.user_ix);
    let holders = vault.holders(fact);
    let is_alone = desk.rules.spec.as_ref().is_some_and(|it| it.read.document_alone);
    match (!holders.entries.is_empty() || !holders.shards.is_empty(), is_alone) {
        (false, _) => Loss::Write,
        (true, true) => Loss::Store,
        (true, false) => Loss::Read,
    }
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
