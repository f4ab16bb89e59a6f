//! The session loop: questions are answered from memory, then the session is written; events happen in between.

mod answer;

use crate::prelude::*;

use super::assumed::{AgingNumbers, Model};
use super::metric::StatedTotal;
use super::rules::MemoryRules;
use super::store::{AgingStore, StatedFacts};
use super::stream::{Aging, AgingStream, Ask, StreamScore};
use ctxsim_base::rng::Stream as Draws;
use ctxsim_input::policy::memory::SessionMemory as Spec;
use ctxsim_input::scenario::AgingEvent;

/// Which parts of the pipeline are replaced by ones that lose nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// None: the agent as it is (P1).
    None,
    /// What is needed is found, if it is held (P2).
    Read,
    /// What is needed is in the prompt (P3).
    Context,
}

impl Oracle {
    /// All of them, from the agent as it is to the most help.
    pub const ALL: [Self; 3] = [Self::None, Self::Read, Self::Context];
}

/// How one question was answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Whether it was answered as it should be.
    pub is_right: bool,
    /// Of a question over several facts: which of them were stated.
    pub hops: Vec<bool>,
    /// Whether an old version was stated.
    pub is_stale: bool,
    /// Whether a fact was stated that could be confused with the target.
    pub is_confused: bool,
    /// The total that was stated, or none if there was nothing to say.
    pub total: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredQuestion {
    /// Which probe of the stream it is.
    pub probe: usize,
    /// The session that asks it.
    pub session: u32,
    /// By [`Oracle`]: how it is answered.
    pub answers: [Answer; 3],
    /// Whether the session that said it left any of what it asks for in the memory; only of wrong answers about one fact.
    pub is_written: bool,
}

/// A session's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionLog {
    /// Its score, or none if nothing covers it.
    pub score: Option<f64>,
    /// The tokens of the memory that it began with.
    pub memory_tokens: u64,
    /// What represents the content of that memory; 0 where the player does not tell contents.
    pub memory_digest: u64,
    /// The share of what was retracted before that it does not mention, or none if nothing was.
    pub forgotten: Option<f64>,
    /// Whether the controller did something after it.
    pub is_controlled: bool,
}

/// A memory's results over a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgingLog {
    /// By session; where the scenario scores the memory's text, a last point follows the last session.
    pub sessions: Vec<SessionLog>,
    /// What was asked, in order.
    pub asked: Vec<AnsweredQuestion>,
}

impl AgingLog {
    /// Returns the scores by session, as far as there are any.
    pub fn scores(&self) -> Vec<Option<f64>> {
        self.sessions.iter().map(|it| it.score).collect()
    }
}

/// Plays memories over streams.
pub struct AgingPlayer<'a> {
    pub stream: &'a AgingStream,
    /// The declared numbers.
    pub numbers: &'a AgingNumbers,
    /// What happens, and when.
    pub events: &'a [AgingEvent],
    /// Whether a score is 1 before anything is asked.
    pub begins_at_one: bool,
    /// Whether each oracle has draws of its own.
    own_oracle_draws: bool,
    /// Whether logs tell what represents a memory's content, which only its cost asks.
    pub(super) tells_contents: bool,
    /// The facts that scores count.
    tracked: Vec<Tracked>,
    /// What sessions say.
    said: StatedFacts,
    draws: AnswerPurposes,
}

/// A fact that scores count.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    fact: FactIx,
    /// The session that says it.
    session: u32,
    /// The session that says another value; beyond all, if none does.
    replaced: u32,
    /// Its record, if the gist of the record states it, too.
    subject_of: Option<RecordIx>,
    /// Whether it is in a text by chance.
    is_hit: bool,
}

/// The draws of answers: each is a function of the stream's seed, the purpose, and what is decided: a question or a fact, and the session.
struct AnswerPurposes {
    use_of_fact: Draws,
    use_with_retrieval: Draws,
    use_with_context: Draws,
    header: Draws,
    mark: Draws,
    cite: Draws,
    mention: Draws,
    similarity: Draws,
}

impl AnswerPurposes {
    fn new(seed: Seed) -> Self {
        let of = |purpose: &str| seed.stream(purpose, 0);
        Self {
            use_of_fact: of("aging use"),
            use_with_retrieval: of("aging use with retrieval"),
            use_with_context: of("aging use with context"),
            header: of("aging header"),
            mark: of("aging mark"),
            cite: of("aging cite"),
            mention: of("aging mention"),
            similarity: of("aging similarity"),
        }
    }
}

/// Returns which asking of a question it is: one that is asked again in another session is another thing to decide.
fn asking((probe, session): (usize, u32)) -> u64 {
    ((probe as u64) << 32) | u64::from(session)
}

impl<'a> AgingPlayer<'a> {
    /// Plays a load's stream, with what happens in it or without.
    pub fn new(aging: &'a Aging, stream: &'a AgingStream, has_events: bool) -> Self {
        let events = if has_events { aging.events() } else { &[] };
        let player = Self::of_stream(stream, &aging.numbers, events, aging.begins_at_one());
        Self { own_oracle_draws: aging.load.own_oracle_draws, ..player }
    }

    /// Plays a stream that was made in code.
    pub fn of_stream(
        stream: &'a AgingStream,
        numbers: &'a AgingNumbers,
        events: &'a [AgingEvent],
        begins_at_one: bool,
    ) -> Self {
        let facts = &stream.graph.facts;
        let draws = stream.seed.stream("aging chance hit", 0);
        let said_in = |it: FactIx| facts[it as usize].session;
        let tracked = (0..ix(facts.len())).filter(|it| facts[*it as usize].is_tracked).map(|place| {
            let fact = &facts[place as usize];
            Tracked {
                fact: place,
                session: fact.session,
                replaced: fact.replaced_by.map_or(u32::MAX, said_in),
                subject_of: (fact.says == Says::Subject).then_some(fact.record),
                is_hit: draws.unit_of(place.into(), 0) < numbers.counted.chance_hit,
            }
        });
        let tracked = tracked.collect();
        let (said, draws) = (StatedFacts::new(stream), AnswerPurposes::new(stream.seed));
        Self {
            stream,
            numbers,
            events,
            begins_at_one,
            own_oracle_draws: false,
            tells_contents: false,
            tracked,
            said,
            draws,
        }
    }

    /// Plays the memory of a policy.
    pub fn policy(&self, policy: &Policy, model: &Arc<Model>) -> AgingLog {
        self.play(MemoryRules::new(policy.session_memory(), Arc::clone(model)))
    }

    /// Plays a memory as it is declared.
    pub fn declared(&self, spec: &Spec, model: &Arc<Model>) -> AgingLog {
        self.play(MemoryRules::new(Some(spec), Arc::clone(model)))
    }

    /// Plays a memory.
    pub fn play(&self, rules: MemoryRules) -> AgingLog {
        let mut run = AgingRun {
            store: AgingStore::new(self.stream, &self.said, rules, self.numbers),
            player: self,
            log: AgingLog::default(),
            error: None,
            has_overlay_fired: false,
            has_prompt_fired: false,
            n_begun: 0,
            open: Vec::new(),
        };
        for session in 0..self.stream.n_sessions() {
            run.session(session);
        }
        run.last_point();
        run.log
    }
}

/// A memory on its way through a stream.
struct AgingRun<'a> {
    store: AgingStore<'a>,
    player: &'a AgingPlayer<'a>,
    log: AgingLog,
    /// The error of the total that was asked last.
    error: Option<f64>,
    has_overlay_fired: bool,
    has_prompt_fired: bool,
    /// How many probes have begun to be asked.
    n_begun: usize,
    /// Those of them that are still asked.
    open: Vec<usize>,
}

impl AgingRun<'_> {
    fn session(&mut self, session: u32) {
        for event in self.player.events.iter().filter(|it| it.session == u64::from(session)) {
            self.store.happen(&event.what, session);
        }
        let (memory_tokens, memory_digest) = self.size();
        let first = self.log.asked.len();
        self.ask(session);
        let forgotten = self.forgotten(session);
        let before = self.score_before(session, first);
        self.store.write(session);
        let scores_after = self.player.stream.scoring == StreamScore::Fidelity;
        let score = if scores_after { self.fidelity(session) } else { before };
        let is_controlled = self.control(session, score);
        self.log.sessions.push(SessionLog { score, memory_tokens, memory_digest, forgotten, is_controlled });
    }

    /// Returns the tokens of the memory, and what represents its content.
    fn size(&self) -> (u64, u64) {
        (self.store.tokens(), if self.player.tells_contents { self.store.digest() } else { 0 })
    }

    /// Asks what a session asks.
    fn ask(&mut self, session: u32) {
        let stream = self.player.stream;
        while stream.probes.get(self.n_begun).is_some_and(|it| it.from <= session) {
            self.open.push(self.n_begun);
            self.n_begun += 1;
        }
        self.open.retain(|it| session < stream.probes[*it].until);
        for nth in self.open.clone() {
            let probe = &stream.probes[nth];
            if let Some(answers) = self.answers(&probe.ask, (nth, session)) {
                if let Ask::Total { accumulator, at } = probe.ask {
                    self.error = Some(StatedTotal::new(stream, accumulator, at, &answers[0]).error());
                }
                let is_written = !answers[1].is_right && self.was_written(&probe.ask, session);
                self.log.asked.push(AnsweredQuestion { probe: nth, session, answers, is_written });
            }
        }
    }

    /// Returns whether the session that said it left any of what a question asks for in the memory.
    fn was_written(&self, ask: &Ask, session: u32) -> bool {
        let Ask::Any { facts, .. } = ask else { return false };
        let mut current = facts.iter().filter_map(|it| self.player.stream.graph.current(*it, session));
        current.any(|it| self.store.was_held[it as usize])
    }

    /// Lets the controller look at a session; returns whether it did something.
    fn control(&mut self, session: u32, score: Option<f64>) -> bool {
        let Some(controller) = self.store.rules.spec.controller.clone() else { return false };
        if u64::from(session) < controller.warmup_sessions {
            return false;
        }
        let overlay = !self.has_overlay_fired && self.error.is_some_and(|it| it > controller.error_above);
        let prompt = !self.has_prompt_fired && score.is_some_and(|it| it < controller.score_below);
        if overlay {
            self.has_overlay_fired = true;
            // The marks have been read all along.
            self.store.rules.overlay = Some(1.0);
        }
        if prompt {
            self.has_prompt_fired = true;
            self.store.rules.prompt = Some(controller.prompt.clone());
        }
        if (overlay || prompt) && controller.retroactive {
            self.store.rewrite_history(session, &controller.prompt);
        }
        overlay || prompt
    }
}
