//! What plays a timeline under a policy, and what a run is made of: project, ask the cache, recover, record; no I/O.
//!
//! One loop makes one pass over the timeline:
//!
//! ```text
//! session start  the stable prefix; events due; what memory recalls at the head; stages at session_start
//! turn start     the user's items; events due; stages at turn_start; needs due at the start
//! request        events due; memory's recall; stages at request; needs that the calls of this step reveal and, before
//!                the turn's last request, those of its answer; the cache splits the prompt; one row
//!                the reply and the results enter, each result followed by the stages at entry
//! turn end       stages at turn_end while the turn is still active, then the needs that follow from it
//! pause          stages at idle, each at its delay after the last request, until the next turn's first
//! session end    stages at session_end; memory is notified; events due
//! ```
//!
//! First a play that is about to begin (`Simulation`, of a `CompiledPolicy`), then a run in progress (`EngineRun`) and its moments. Requests
//! are sent in `engine/send.rs`, and needs are met in `engine/users.rs`. Probes are answered at their moment, after its stages. A request
//! over a limit is recorded and marked, and ends the run. That is a result, not an error.
//!
//! A layout also places content that is not part of the history (`layout: (dynamic: [(tokens: 25, at: front_of_system, changes:
//! request)])`). It becomes items of the policy's own, which are rewritten after each of the agent's requests, before a turn, or before a
//! session. An aligned summary sees them as the request that it precedes does. At the `tail`, such content is sent with every request and
//! never cached.
//!
//! **Firings.** A program counts per stage how often its trigger held and how often it then edited anything (`Outcome::firings`);
//! `report/firings.rs` says which did nothing and why.

mod drawn;
mod send;
mod users;

use crate::builtin;
use crate::cache::{CacheRule, ImagesSeen, Lanes, Overseen, OwnMark, RequestView};
use crate::ledger::{Failure, FailureKind, RunFault};
use crate::memory::{AnyMemory, Edited, MemoryRun, PolicyMemory};
use crate::own::{CodeInputs, Own, PlayDigests};
use crate::prelude::*;
use crate::projection::{ChangeLog, Known, Num, Program, Purpose, SideRequest, Watch, Watched};
use crate::recovery::{Carried, CompiledRecovery, End, Removed, Seen, Terms};
use ctxsim_base::counts::count_one;
use ctxsim_input::policy::memory::FactMemory;
use ctxsim_input::{Builtin, DynamicPlace, LayoutSpec, MemoryPlace, Settings, TtlClass};
use ctxsim_timeline::shared::Chance;
use ctxsim_timeline::{Compaction, Due, Event, FrontItem, Phase, Session, When};
use drawn::DrawnNeeds;
use std::borrow::Cow;
use users::Users;

/// A play of a timeline that is about to begin; [`run`](Self::run) plays it.
///
/// Prices are not asked: the ledger can be priced under every profile that shares these limits and cache rules.
pub struct Simulation<'s> {
    timeline: &'s Timeline,
    policy: CompiledPolicy<'s>,
    /// How the agent recovers, once for each sink.
    recoveries: Vec<CompiledRecovery>,
    /// The caches that answer its requests; each has its own sinks.
    lanes: Lanes<'s>,
    memory: MemoryRun<'s>,
    drawn: Option<DrawnNeeds>,
}

impl<'s> Simulation<'s> {
    /// Prepares to play a timeline under a policy, whose code may end the run, as a cache rule's may; the outcome then says so.
    pub fn new(timeline: &'s Timeline, policy: &'s Policy, limits: &Limits, rules: &'s CacheRules) -> Self {
        Self::of(timeline, CompiledPolicy::new(timeline, policy, limits), rules)
    }

    /// The same under a policy that is compiled for the timeline.
    pub fn compiled(timeline: &'s Timeline, policy: &CompiledPolicy<'s>, rules: &'s CacheRules) -> Self {
        Self::of(timeline, policy.clone(), rules)
    }

    fn of(timeline: &'s Timeline, policy: CompiledPolicy<'s>, rules: &'s CacheRules) -> Self {
        Self {
            timeline,
            recoveries: vec![policy.recovery()],
            lanes: Lanes::new(timeline, &[rules]),
            memory: policy.memory_run(timeline),
            drawn: None,
            policy,
        }
    }

    /// Lets the agent recover in other ways than the policy's, one for each sink: those of policies that
    /// [show alike](CompiledPolicy::shows_like).
    pub fn recovering(self, recoveries: &[CompiledRecovery]) -> Self {
        Self { recoveries: recoveries.to_vec(), ..self }
    }

    /// Has a cache of each of these rules answer the requests, into sinks of its own: those of all ways to recover under the first rules,
    /// then those under the next. The play must be one that [does not depend on them](CompiledPolicy::plays_alike_under).
    pub fn under(self, rules: &[&'s CacheRules]) -> Self {
        Self { lanes: Lanes::new(self.timeline, rules), ..self }
    }

    /// Draws the needs; rows of requests that fetch something are further requests of the step that needs it.
    pub fn drawn(self, seed: Seed) -> Self {
        Self { drawn: Some(DrawnNeeds::new(self.timeline, seed)), ..self }
    }

    /// Puts a memory in code in the place of the policy's; the policy's layout places it.
    pub fn with_memory(self, memory: Box<dyn PolicyMemory + 's>) -> Self {
        let memory = MemoryRun::new(self.timeline.facts.as_ref(), Some(AnyMemory::Code(memory)));
        Self { memory, ..self }
    }

    /// Lets somebody look at each request before the cache answers it.
    pub fn overseen(self, look: impl FnMut(&dyn CacheRule, &RequestView<'_>) + 'static) -> Self {
        self.with_cache(|inner| Box::new(Overseen { inner, look }))
    }

    /// Puts another cache in the place of that of the rules, or around it; the rules still tell policies how long entries live.
    pub fn with_cache(self, make: impl FnOnce(Box<dyn CacheRule>) -> Box<dyn CacheRule>) -> Self {
        Self { lanes: self.lanes.with_cache(make), ..self }
    }

    /// Plays it into a sink.
    pub fn run(self, sink: &mut dyn Sink) -> Outcome {
        self.run_each(&mut [sink])
    }

    /// Plays it once, into a sink for each way to recover.
    pub fn run_each<S: Sink>(self, sinks: &mut [S]) -> Outcome {
        self.run_measured(sinks).0
    }

    /// The same; returns the most tokens of a prompt and of a reply, too: under limits that these keep, a run is the same.
    pub fn run_measured<S: Sink>(mut self, sinks: &mut [S]) -> (Outcome, [Tokens; 2]) {
        if self.policy.code.is_some() {
            let mut policy = self.projector();
            return EngineRun::new(self, &mut *policy, &mut erased(sinks)).play();
        }
        let mut program = std::mem::take(&mut self.policy.program);
        EngineRun::new(self, &mut program, sinks).play()
    }

    /// Plays it with any projector in the place of the policy's stages or code.
    pub fn run_by(self, projector: &mut dyn Projector, sinks: &mut [&mut dyn Sink]) -> Outcome {
        EngineRun::new(self, projector, sinks).play().0
    }

    /// Plays it with its own projector inside another, which it returns, too.
    pub fn run_inside<P: Projector>(
        mut self,
        around: impl FnOnce(Box<dyn Projector + 's>) -> P,
        sinks: &mut [&mut dyn Sink],
    ) -> (Outcome, P) {
        let mut outer = around(self.projector());
        (self.run_by(&mut outer, sinks), outer)
    }

    /// Plays it under the eyes of an observer.
    pub fn run_watched(self, watch: &mut dyn Watch, sinks: &mut [&mut dyn Sink]) -> Outcome {
        self.run_inside(|policy| Watched { policy, watch }, sinks).0
    }

    /// Makes what plays the policy: its stages, or its code, which is played once more beforehand where that is asked for.
    fn projector(&mut self) -> Box<dyn Projector + 's> {
        let Some(code) = &self.policy.code else { return Box::new(std::mem::take(&mut self.policy.program)) };
        let made = |play| builtin::projector(code, self.policy.made(self.timeline, play));
        let policy = made(0);
        if self.policy.own().is_none_or(|it| !it.plays_twice) {
            return policy;
        }
        let mut played = PlayDigests::default();
        let Some(first) = self.lanes.rules().next() else { return policy };
        let again = Self::compiled(self.timeline, &self.policy, first);
        let again = Self { recoveries: self.recoveries.clone(), drawn: self.drawn.clone(), ..again };
        let mut sums = vec![Sums::default(); self.recoveries.len()];
        again.run_by(&mut Watched { policy: made(1), watch: &mut played }, &mut erased(&mut sums));
        played.n_compared = Some(0);
        Box::new(Watched { policy, watch: played })
    }
}

// A declarative policy compiled for one timeline and one set of limits: two that are equal play alike, whatever their names.

/// A declarative policy compiled for one timeline and one set of limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledPolicy<'p> {
    program: Program,
    /// With sizes under the limits.
    layout: Cow<'p, LayoutSpec>,
    memory: Option<&'p FactMemory>,
    code: Option<Builtin>,
    limits: Limits,
    recovery: CompiledRecovery,
}

impl<'p> CompiledPolicy<'p> {
    /// Prepares a policy.
    pub fn new(timeline: &Timeline, policy: &'p Policy, limits: &Limits) -> Self {
        Self::recovering(timeline, policy, limits, timeline.refetch.terms(End::Value))
    }

    /// The same, where the timeline's terms of recovery are at hand: many policies of one load share them.
    pub fn recovering(timeline: &Timeline, policy: &'p Policy, limits: &Limits, terms: Terms) -> Self {
        count_one(|it| &mut it.compiled);
        let known = Known::new(timeline, *limits);
        Self {
            program: Program::new(policy, timeline, &known),
            layout: policy.layout().with_sizes(|it| Num::fixed(Some(it), &known)),
            memory: policy.fact_memory(),
            code: policy.code.clone(),
            limits: *limits,
            recovery: CompiledRecovery::new(policy.recovery(), &known, timeline.stable_tokens(), Some(terms))
                // Who knows what will be needed removes nothing that anyone would look for.
                .exploring(!policy.code.as_ref().is_some_and(Builtin::looks_ahead)),
        }
    }

    /// Puts other code in the place of the policy's, or none.
    pub fn with_code(self, code: Option<Builtin>) -> Self {
        Self { code, ..self }
    }

    /// Puts other limits in the place of its own, of which its stages make the same.
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns whether the two differ in recovery at most: their prompts are the same, whatever they are called.
    pub fn shows_like(&self, other: &Self) -> bool {
        self.code == other.code
            && self.program == other.program
            && self.layout == other.layout
            && self.memory == other.memory
    }

    /// Returns whether its prompts are the same whichever of these caches answers, of a timeline without facts and drawn needs.
    pub fn plays_alike_under(&self, one: &CacheRules, other: &CacheRules) -> bool {
        self.code.is_none()
            && !one.has_code()
            && !other.has_code()
            && (one.ttl_ms() == other.ttl_ms() || !self.program.asks_lifetime())
    }

    /// Returns the code outside this crate that it runs, if it does.
    fn own(&self) -> Option<&Own> {
        match &self.code {
            Some(Builtin::Own(code)) => Own::from_code(code),
            _ => None,
        }
    }

    /// Returns what code is made for, in the n-th play of a timeline.
    fn made<'t>(&self, timeline: &'t Timeline, play: u8) -> CodeInputs<'t> {
        CodeInputs { timeline, limits: self.limits, play }
    }

    /// Begins to remember what a timeline says, and to answer what it asks.
    fn memory_run<'t>(&self, timeline: &'t Timeline) -> MemoryRun<'t>
    where
        'p: 't,
    {
        let plane = timeline.facts.as_ref();
        if let Some(memory) = self.own().and_then(|it| it.memory(self.made(timeline, 0))) {
            return MemoryRun::new(plane, Some(AnyMemory::Code(memory)));
        }
        MemoryRun::new(plane, plane.zip(self.memory).map(|(plane, rules)| AnyMemory::declared(rules, plane)))
    }

    /// Returns how the agent gets back what it cannot see.
    pub fn recovery(&self) -> CompiledRecovery {
        self.recovery
    }
}

// A run in progress.

/// Returns sinks of one type as sinks of any.
pub fn erased<S: Sink>(sinks: &mut [S]) -> Vec<&mut dyn Sink> {
    sinks.iter_mut().map(|it| it as &mut dyn Sink).collect()
}

/// Begins to note what a policy removes, if some agent looks things up anew because of it.
fn removed(recoveries: &[CompiledRecovery]) -> Option<Removed> {
    let explores = recoveries.iter().find_map(|it| it.terms()?.explores);
    explores.map(|it| Removed::new(it.fades_in_requests))
}

/// A way to recover.
struct Way {
    recovery: CompiledRecovery,
    /// What is expected to have been fetched; nothing where needs are drawn, or every call is priced alike.
    carried: Option<Carried>,
}

/// A run in progress.
///
/// It is compiled for declarative policies and the few kinds of sinks that plans use; everything else goes through `dyn`.
struct EngineRun<'r, 't, P: ?Sized, S> {
    timeline: &'t Timeline,
    projector: &'r mut P,
    layout: Cow<'t, LayoutSpec>,
    /// How the agent recovers.
    ways: Vec<Way>,
    limits: Limits,
    lanes: Lanes<'t>,
    /// One for each way under the first cache, then under the next.
    sinks: &'r mut [S],
    prompt: Prompt<'t>,
    log: ChangeLog,
    memory_run: MemoryRun<'t>,
    chain: Chain,
    ambient: Ambient,
    last_ms: Option<i64>,
    /// The step whose requests are being numbered, and how many it has made.
    numbered: (StepIx, u32),
    n_events: usize,
    /// Whether anybody else sends something that the caches hear of. One look a request, where most sessions have neither kind.
    hears: bool,
    /// How many requests of other sessions are heard of.
    n_heard: usize,
    /// What somebody else sends just before the next request: the items before this one.
    front_sent: Option<ItemIx>,
    /// Whether the recorded requests show their own marks for the cache, and those of the request that is sent.
    has_marks: bool,
    marks: Vec<OwnMark>,
    /// The steps whose prompts the outcome tells, from the next one on.
    before_compactions: &'t [StepIx],
    settings: Settings,
    /// The images that have come, where any cache asks whether there are any.
    images: Option<ImagesSeen>,
    /// The settings of the agent's last request.
    sent_settings: Settings,
    /// How long the harness asks entries to live.
    ttl: Option<TtlClass>,
    /// That an entry of an hour is missed after a pause that the recorded ones did not outlive, where the policy asks for such entries.
    hour_missed: Option<Chance>,
    /// Whether any request may read more or less than its cache says, by odds.
    has_odds: bool,
    /// What the layout puts behind everything else.
    tail_tokens: Tokens,
    /// How many requests of the turn have asked for a tool.
    n_asking: u32,
    /// How needs are drawn, where they are.
    drawn: Option<DrawnNeeds>,
    /// What the agent has seen whole, where anything is expected.
    seen: Option<Seen>,
    /// What the policy removed lately, where an agent looks things up anew because of it.
    removed: Option<Removed>,
    /// What users asked, where that is needed.
    users: Option<Users>,
    /// The most tokens of a prompt and of a reply.
    longest: [Tokens; 2],
    outcome: Outcome,
}

impl<'r, 't, P: Projector + ?Sized, S: Sink> EngineRun<'r, 't, P, S> {
    /// Stands before the first turn.
    fn new(simulation: Simulation<'t>, projector: &'r mut P, sinks: &'r mut [S]) -> Self {
        let Simulation { timeline, policy, recoveries, lanes, memory, drawn, .. } = simulation;
        let CompiledPolicy { layout, limits, .. } = policy;
        let removed = removed(&recoveries);
        let is_front = |it: &Event| matches!(it.kind, EventKind::FrontSent(_));
        let hour_missed = timeline.odds.as_ref().and_then(|it| it.hour_missed);
        let hour_missed = hour_missed.filter(|_| layout.asks_for_hours());
        let ttl_ms = lanes.rules().next().and_then(CacheRules::ttl_ms);
        // What is drawn is not expected.
        let terms = |it: &CompiledRecovery| it.terms().filter(|_| drawn.is_none());
        let way = |it: &CompiledRecovery| Way { recovery: *it, carried: terms(it).map(Carried::new) };
        let tail_tokens = layout.dynamic_at(DynamicPlace::Tail).map(|it| Tokens::from(it.tokens)).sum();
        Self {
            timeline,
            projector,
            layout,
            images: ImagesSeen::new(timeline, lanes.rules()),
            seen: recoveries.iter().any(|it| terms(it).is_some()).then(Seen::default),
            ways: recoveries.iter().map(way).collect(),
            limits,
            sinks,
            prompt: Prompt::new(&timeline.spine),
            log: ChangeLog::default(),
            memory_run: memory,
            chain: Chain::with_room(timeline.spine.items.len()),
            ambient: Ambient { ttl_ms, ..Ambient::default() },
            lanes,
            last_ms: None,
            numbered: (0, 0),
            n_events: 0,
            hears: timeline.shared.is_some() || timeline.events.iter().any(is_front),
            n_heard: 0,
            front_sent: None,
            has_marks: timeline.recorded.as_ref().is_some_and(|it| !it.marks.is_empty()),
            marks: Vec::new(),
            before_compactions: timeline.recorded.as_ref().map_or(&[], |it| &it.before_compactions),
            settings: Settings::default(),
            sent_settings: Settings::default(),
            ttl: timeline.harness.ttl,
            hour_missed,
            has_odds: hour_missed.is_some() || timeline.shared.as_ref().is_some_and(|it| it.chance.is_some()),
            tail_tokens,
            n_asking: 0,
            drawn,
            removed,
            users: timeline.users.map(Users::new),
            longest: [0; 2],
            outcome: Outcome::default(),
        }
    }

    /// Returns the sink of a way to recover under one of the caches.
    #[inline(always)]
    fn sink(&mut self, lane: usize, way: usize) -> &mut S {
        &mut self.sinks[lane * self.ways.len() + way]
    }

    /// Notes why the run cannot go on; its next request is not sent.
    #[cold]
    fn fail(&mut self, turn_ix: TurnIx, step: StepIx, what: String) {
        let policy = || self.projector.name().to_owned();
        let fault = || RunFault { policy: policy(), turn: turn_ix + 1, step, what }.into();
        self.outcome.fault.get_or_insert_with(fault);
    }
}

// The moments of sessions, turns and steps: what happens, what the policy does, and what enters.

impl<'t, P: Projector + ?Sized, S: Sink> EngineRun<'_, 't, P, S> {
    /// Plays to the end; returns the most tokens of a prompt and of a reply, too.
    fn play(mut self) -> (Outcome, [Tokens; 2]) {
        count_one(|it| &mut it.plays);
        let spine = &self.timeline.spine;
        self.outcome.turns_requested = ix(spine.turns.len());
        for (nth, session) in spine.sessions.iter().enumerate() {
            if let Err(failure) = self.play_session(nth, session) {
                self.outcome.failure = Some(failure);
                break;
            }
        }
        self.outcome.end_tokens = self.prompt.tokens() - self.prompt.memory_tokens();
        self.outcome.end_memory_tokens = self.remember();
        self.ask(When::END);
        self.memory_run.settle(self.prompt.active_turn(), self.sinks);
        self.memory_run.tell(self.sinks);
        for (lane, sinks) in self.sinks.chunks_mut(self.ways.len()).enumerate() {
            for row in self.lanes.cache(lane).stored() {
                sinks.iter_mut().for_each(|sink| sink.stored(row));
            }
        }
        self.outcome.tool_results = self.prompt.tool_results();
        self.outcome.touched_slots = self.prompt.touched();
        self.outcome.firings = self.projector.firings();
        self.outcome.is_swayed = self.log.is_swayed();
        (self.outcome, self.longest)
    }

    fn play_session(&mut self, nth: usize, session: &'t Session) -> Result<(), Failure> {
        let remembers = self.layout.memory != MemoryPlace::Tail && self.memory_run.remembers();
        self.prompt.begin_session(session, &self.layout, remembers);
        self.log.begin_session();
        if let Some(users) = &mut self.users {
            users.begin_session(&self.prompt);
        }
        self.forget_removed();
        if let Some(drawn) = &mut self.drawn {
            drawn.begin_session(&self.timeline.spine, session);
        }
        if nth > 0 && session.stable.is_empty() {
            self.renew(Changes::Session);
        }
        let (first, last) = (session.turns.start, session.turns.end.saturating_sub(1));
        let first_step = self.timeline.spine.step_at(When { turn_ix: first, phase: Phase::SessionStart });
        self.at(first_step);
        self.reach(first, Phase::SessionStart);
        self.recall();
        self.project(Moment::SessionStart, first, first_step);
        for turn_ix in session.turns.clone() {
            self.outcome.turns_started += 1;
            if turn_ix > 0 {
                self.renew(Changes::Turn);
            }
            self.play_turn(turn_ix).map_err(|kind| Failure { turn: turn_ix + 1, kind })?;
            self.outcome.turns_completed += 1;
            if turn_ix < last {
                self.idle(turn_ix);
            }
        }
        let next_step = self.timeline.spine.step_at(When { turn_ix: last, phase: Phase::SessionEnd });
        let last_step = first_step.max(next_step.saturating_sub(1));
        self.project(Moment::SessionEnd, last, last_step);
        self.memory_run.session_end(&self.prompt, nth);
        self.reach(last, Phase::SessionEnd);
        self.ask(When { turn_ix: last, phase: Phase::SessionEnd });
        Ok(())
    }

    /// Plays one turn, up to a request that goes over a limit.
    fn play_turn(&mut self, turn_ix: TurnIx) -> Result<(), FailureKind> {
        let row = &self.timeline.spine.turns[turn_ix as usize];
        self.n_asking = 0;
        self.prompt.begin_turn();
        self.at(row.steps.start);
        self.reach(turn_ix, Phase::TurnOpen);
        self.prompt.user(row.user.end);
        if let Some(users) = &mut self.users {
            users.begin_turn(&self.prompt);
        }
        self.reach(turn_ix, Phase::TurnStart);
        self.project(Moment::TurnStart, turn_ix, row.steps.start);
        self.needs(turn_ix, row.steps.start, Due::TurnStart)?;
        for step in row.steps.clone() {
            self.at(step);
            self.reach(turn_ix, Phase::Request(step));
            self.recall();
            self.project(Moment::Request, turn_ix, step);
            self.item_needs(turn_ix, step)?;
            let is_last = step + 1 == row.steps.end;
            if is_last {
                self.needs(turn_ix, step, Due::Answer)?;
            }
            self.user_needs(turn_ix, step, is_last);
            self.explore(turn_ix, step)?;
            self.ask(When { turn_ix, phase: Phase::Request(step) });
            self.n_asking += u32::from(!self.timeline.spine.steps[step as usize].results.is_empty());
            self.request(turn_ix, step)?;
            self.answer(turn_ix, step);
        }
        let last = row.steps.end.saturating_sub(1).max(row.steps.start);
        let shown = self.prompt.tokens();
        self.log.take_back(&mut self.prompt, true);
        self.note_removed(shown);
        self.project(Moment::TurnEnd, turn_ix, last);
        self.needs(turn_ix, last, Due::TurnEnd)?;
        self.ask(When { turn_ix, phase: Phase::TurnEnd });
        self.memory_run.turn_end(&self.prompt, turn_ix);
        self.send_unrecorded(turn_ix, row.steps.end.saturating_sub(1));
        Ok(())
    }

    /// Lets the policy act while nothing is asked, up to the first request of the next turn.
    fn idle(&mut self, turn_ix: TurnIx) {
        let Some(first) = self.projector.next_pause(0) else { return };
        let (turns, steps) = (&self.timeline.spine.turns, &self.timeline.spine.steps);
        let next = turns.get(turn_ix as usize + 1).and_then(|it| steps.get(it.steps.start as usize));
        let (Some(next), Some(last_ms)) = (next, self.last_ms) else { return };
        // A turn without requests begins when the next request is due: the pause lies before it.
        let Some(step) = turns[turn_ix as usize].steps.clone().next_back() else { return };
        let mut pause = Some(first);
        while let Some(idle_ms) = pause
            && let now_ms = last_ms.saturating_add_unsigned(idle_ms)
            && now_ms < next.at_ms
        {
            (self.ambient.now_ms, self.ambient.idle_ms) = (now_ms, idle_ms);
            self.project(Moment::Idle, turn_ix, step);
            pause = self.projector.next_pause(idle_ms);
        }
    }

    /// Lets happen what happened up to a moment, and answers what was asked before it.
    #[inline]
    fn reach(&mut self, turn_ix: TurnIx, phase: Phase) {
        let at = When { turn_ix, phase };
        while let Some(event) = self.timeline.events.get(self.n_events).filter(|it| it.at <= at) {
            self.n_events += 1;
            match &event.kind {
                EventKind::Reset(items) => {
                    let slots = self.prompt.history().slots_of(items);
                    if let Some(users) = &mut self.users {
                        users.forget(&slots, &self.prompt);
                    }
                    Editor::new(&mut self.prompt, &mut self.log, Moment::TurnStart).reset(slots);
                    self.forget_removed();
                }
                EventKind::Compaction(request) => self.compact(*request, event.at),
                EventKind::Change(setting, value) => self.settings.set(*setting, *value),
                EventKind::Front(items) => self.change_front(items),
                EventKind::Lifetime(ttl) => self.ttl = Some(*ttl),
                EventKind::FrontSent(end) => self.front_sent = Some(*end),
                EventKind::Memory(event) => self.memory_run.event(*event),
            }
        }
    }

    /// Puts other content in the place of what the prompts begin with.
    #[cold]
    fn change_front(&mut self, items: &[FrontItem]) {
        for FrontItem { item, tokens, digest } in items.iter().copied() {
            let slot = self.prompt.history().slots_of(&(item..item + 1)).start;
            Editor::new(&mut self.prompt, &mut self.log, Moment::TurnStart)
                .change_front(slot, tokens, digest);
        }
    }

    /// Sends the request with which the recorded harness had the history summarised.
    #[cold]
    fn compact(&mut self, request: Compaction, at: When) {
        // It stands with the request before it: the next one is the agent's.
        let step = self.timeline.spine.step_at(at).saturating_sub(1);
        let turn_ix = at.turn_ix - u32::from(at.phase == Phase::TurnOpen && at.turn_ix > 0);
        let Compaction { items, instruction, output } = request;
        let mut chain = self.chain.clone();
        chain.lend(&mut self.prompt, self.log.identities());
        let chain = chain.asking(instruction);
        let prompt = self.prompt.tokens().saturating_add(instruction);
        let purpose = Purpose::Summary;
        self.send_aside(SideRequest { prompt, chain: Some(chain), output, items, purpose }, turn_ix, step);
    }

    /// Begins anew with nothing removed.
    fn forget_removed(&mut self) {
        if let Some(removed) = &mut self.removed {
            removed.forget();
        }
    }

    /// Answers what is asked up to a moment.
    #[inline(always)]
    fn ask(&mut self, until: When) {
        if self.memory_run.is_asked(until) {
            let has_stopped = self.outcome.failure.is_some();
            self.remember();
            let view = Edited { prompt: &self.prompt, projector: &*self.projector };
            self.memory_run.probe(&view, until, has_stopped, self.sinks);
        }
    }

    /// Moves the clock to a step.
    #[inline]
    fn at(&mut self, step: StepIx) {
        let Some(row) = self.timeline.spine.steps.get(step as usize) else { return };
        self.ambient.now_ms = row.at_ms;
        let idle = self.last_ms.map_or(0, |last| row.at_ms.saturating_sub(last));
        self.ambient.idle_ms = u64::try_from(idle).unwrap_or(0);
    }

    /// Lets the policy edit if it may have something to do; at most moments it has nothing.
    #[inline(always)]
    fn project(&mut self, moment: Moment, turn_ix: TurnIx, step: StepIx) {
        let most = self.prompt.tokens() + self.log.fetched();
        if self.projector.may_act(moment, most) && self.outcome.fault.is_none() {
            self.edit(moment, turn_ix, step);
        }
    }

    /// Lets the policy edit, and records the requests that it makes.
    #[inline(never)]
    fn edit(&mut self, moment: Moment, turn_ix: TurnIx, step: StepIx) {
        let before = self.prompt.tokens();
        let mut edit = Editor::new(&mut self.prompt, &mut self.log, moment);
        self.projector.project(moment, &self.ambient, &mut edit);
        self.note_removed(before);
        if let Some(what) = self.log.failure.take() {
            self.fail(turn_ix, step, what);
        }
        for request in std::mem::take(&mut self.log.requests) {
            self.send_aside(request, turn_ix, step);
        }
    }

    /// Brings the memory up to date; returns what it takes at the end of the prompt.
    #[inline(always)]
    fn remember(&mut self) -> Tokens {
        self.memory_run.observe(&self.prompt);
        self.memory_run.tokens()
    }

    /// Lets memory say what it recalls where a slot is reserved for it.
    #[inline]
    fn recall(&mut self) {
        if self.prompt.memory().is_some() {
            self.memory_run.observe(&self.prompt);
            let it = self.memory_run.recall().unwrap_or_default();
            Editor::new(&mut self.prompt, &mut self.log, Moment::Request).recall(it.tokens, it.digest);
        }
    }

    /// Writes the dynamic content anew that changes so often.
    #[inline]
    fn renew(&mut self, changes: Changes) {
        if !self.layout.dynamic.is_empty() {
            Editor::new(&mut self.prompt, &mut self.log, Moment::Request).renew(changes);
        }
    }

    /// Lets the reply and the results in; each result may be changed as it enters.
    #[inline]
    fn answer(&mut self, turn_ix: TurnIx, step: StepIx) {
        let row = &self.timeline.spine.steps[step as usize];
        self.prompt.begin_step();
        self.prompt.arrive(row.reply.end);
        let joined = if self.drawn.is_some() { self.join_reply() } else { Vec::new() };
        if row.results.is_empty() && joined.is_empty() {
            return;
        }
        self.prompt.begin_results();
        for item in row.results.clone() {
            self.prompt.enter();
            if self.timeline.spine.items[item as usize].kind == Kind::ToolResult {
                self.project(Moment::Entry, turn_ix, step);
            }
        }
        for (call, asked, item) in joined {
            self.enter_fetched(&call, asked, item, turn_ix);
        }
    }
}
