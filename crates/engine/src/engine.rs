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
//! The moments are in `engine/moments.rs`, requests are sent in `engine/send.rs`, and needs are met in `engine/users.rs`. Probes are
//! answered at their moment, after its stages. A request over a limit is recorded and marked, and ends the run. That is a result, not an
//! error.
//!
//! **Firings.** A program counts per stage how often its trigger held and how often it then edited anything (`Outcome::firings`);
//! `report/firings.rs` says which did nothing and why.

mod drawn;
mod lanes;
mod moments;
mod send;
mod users;

use crate::builtin;
use crate::cache::{CacheRule, Overseen, OwnMark, RequestView};
use crate::ledger::{Firing, RunFault};
use crate::memory::{AnyMemory, MemoryRun, PolicyMemory};
use crate::own::{CodeInputs, Own, PlayDigests};
use crate::prelude::*;
use crate::projection::{ChangeLog, Known, Program};
use crate::recovery::{Carried, CompiledRecovery, End, Removed, Terms};
use ctxsim_base::counts::count_one;
use ctxsim_input::policy::memory::FactMemory;
use ctxsim_input::{Builtin, DynamicPlace, LayoutSpec, Settings, TtlClass};
use ctxsim_timeline::Event;
use ctxsim_timeline::shared::Chance;
use drawn::DrawnNeeds;
use lanes::Lanes;
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
    #[must_use]
    pub fn recovering(self, recoveries: &[CompiledRecovery]) -> Self {
        Self { recoveries: recoveries.to_vec(), ..self }
    }

    /// Has a cache of each of these rules answer the requests, into sinks of its own: those of all ways to recover under the first rules,
    /// then those under the next. The play must be one that [does not depend on them](CompiledPolicy::plays_alike_under).
    #[must_use]
    pub fn under(self, rules: &[&'s CacheRules]) -> Self {
        Self { lanes: Lanes::new(self.timeline, rules), ..self }
    }

    /// Draws the needs; rows of requests that fetch something are further requests of the step that needs it.
    #[must_use]
    pub fn drawn(self, seed: Seed) -> Self {
        Self { drawn: Some(DrawnNeeds::new(self.timeline, seed)), ..self }
    }

    /// Puts a memory in code in the place of the policy's; the policy's layout places it.
    #[must_use]
    pub fn with_memory(self, memory: Box<dyn PolicyMemory + 's>) -> Self {
        let memory = MemoryRun::new(self.timeline.facts.as_ref(), Some(AnyMemory::Code(memory)));
        Self { memory, ..self }
    }

    /// Lets somebody look at each request before the cache answers it.
    #[must_use]
    pub fn overseen(self, look: impl FnMut(&dyn CacheRule, &RequestView<'_>) + 'static) -> Self {
        self.with_cache(|inner| Box::new(Overseen { inner, look }))
    }

    /// Puts another cache in the place of that of the rules, or around it; the rules still tell policies how long entries live.
    #[must_use]
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

    /// Plays it before the eyes of someone, into a sink for each way to recover.
    pub fn run_watched(mut self, watch: &mut dyn Watch, sinks: &mut [&mut dyn Sink]) -> Outcome {
        let policy = self.projector();
        self.run_by(&mut Watched { policy, watch }, sinks)
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

    /// Makes what plays the policy: its stages, or its code, which is played once more beforehand where that is asked for.
    fn projector(&mut self) -> Box<dyn Projector + 's> {
        let Some(code) = &self.policy.code else { return Box::new(std::mem::take(&mut self.policy.program)) };
        let made = |play| builtin::projector(code, self.policy.made(self.timeline, play));
        let policy = made(0);
        if self.policy.own().is_none_or(|it| !it.plays_twice) {
            return policy;
        }
        let played = PlayDigests::default();
        let Some(first) = self.lanes.rules().next() else { return policy };
        let again = Self::compiled(self.timeline, &self.policy, first);
        let again = Self { recoveries: self.recoveries.clone(), drawn: self.drawn.clone(), ..again };
        let mut sums = vec![Sums::default(); self.recoveries.len()];
        again.run_by(&mut *played.note(made(1)), &mut erased(&mut sums));
        played.compare(policy)
    }
}

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
    layout: &'t LayoutSpec,
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
            tail_tokens: layout.dynamic_at(DynamicPlace::Tail).map(|it| Tokens::from(it.tokens)).sum(),
            n_asking: 0,
            drawn,
            removed,
            users: timeline.users.map(Users::new),
            longest: [0; 2],
            outcome: Outcome::default(),
        }
    }

    fn play(mut self) -> (Outcome, [Tokens; 2]) {
        self.run();
        (self.outcome, self.longest)
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

// A run that someone watches: it is played as any other, and what the policy does and the cache is asked can be seen.
//
// Explaining costs ordinary runs nothing: the simulation runs again with an observed policy and cache (`Watch` sees the journal of edits at each
// moment, `CacheRule::look` reports what a cache knows of a prompt before it takes it), and `explain.rs` describes one request from these
// notes. A law in `tests/suite/explain.rs` checks that the row, the cost and every item's tokens are those of the run.

/// Sees a policy at work; it must not edit.
pub trait Watch {
    /// The policy is about to act.
    fn before(&mut self, moment: Moment, edit: &mut Editor<'_, '_>);
    /// The policy has acted; it can still be asked for the words that it put in.
    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>);
}

/// A policy that is watched.
struct Watched<'p, 'w> {
    policy: Box<dyn Projector + 'p>,
    watch: &'w mut dyn Watch,
}

impl Projector for Watched<'_, '_> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.watch.before(moment, edit);
        self.policy.project(moment, ambient, edit);
        self.watch.after(moment, &*self.policy, edit);
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        self.policy.next_pause(idle_ms)
    }

    fn firings(&self) -> Vec<Firing> {
        self.policy.firings()
    }
}

// A declarative policy compiled for one timeline and one set of limits: two that are equal play alike, whatever their names.

/// A declarative policy compiled for one timeline and one set of limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledPolicy<'p> {
    program: Program,
    layout: &'p LayoutSpec,
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
            layout: policy.layout(),
            memory: policy.fact_memory(),
            code: policy.code.clone(),
            limits: *limits,
            recovery: CompiledRecovery::new(policy.recovery(), &known, timeline.stable_tokens(), Some(terms))
                // Who knows what will be needed removes nothing that anyone would look for.
                .exploring(!policy.code.as_ref().is_some_and(Builtin::looks_ahead)),
        }
    }

    /// Puts other code in the place of the policy's, or none.
    #[must_use]
    pub fn with_code(self, code: Option<Builtin>) -> Self {
        Self { code, ..self }
    }

    /// Puts other limits in the place of its own, of which its stages make the same.
    #[must_use]
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

// Which results some request has shown whole: what was measured of recovery is measured of these.
//
// **Images** are items (`Kind::Image`) with a size in pixels (`Timeline::images`), behind the message or the result that they are in. A
// profile's rule (`assumptions/images.toml`, `profile/images.rs`) says how many tokens that is; `take/load.rs` counts them anew as it
// does texts, and `ImagesSeen` tells caches whether a prompt shows any.

/// What the requests so far have shown.
#[derive(Debug, Default)]
struct Seen {
    /// Results that their first request did not show whole, in order.
    cut: Vec<SlotIx>,
    /// Where the items begin that no request has shown yet.
    until: SlotIx,
}

impl Seen {
    /// Looks at what a request shows for the first time.
    #[inline]
    fn look(&mut self, prompt: &Prompt<'_>) {
        let is_cut = |it: &SlotIx| {
            let slot = prompt.slot(*it);
            prompt.item(*it).kind == Kind::ToolResult
                && !(slot.is_visible() && slot.rendition == ShownAs::Raw)
        };
        self.cut.extend((self.until..prompt.len()).filter(is_cut));
        self.until = prompt.len();
    }

    /// Returns whether some request has shown a result whole.
    fn has(&self, result: SlotIx) -> bool {
        result < self.until && self.cut.binary_search(&result).is_err()
    }
}

// Whether a prompt holds images, for caches whose provider looks at that.

/// The images that have come, where any cache asks.
#[derive(Debug)]
struct ImagesSeen {
    slots: Vec<SlotIx>,
    /// The first slot that has not been looked at.
    next: SlotIx,
}

impl ImagesSeen {
    /// Begins before the first item; `None` where a load has no images, or no cache asks for them.
    fn new<'r>(timeline: &Timeline, rules: impl Iterator<Item = &'r CacheRules>) -> Option<Self> {
        let mut rules = rules;
        let is_asked = !timeline.images.items.is_empty() && rules.any(|it| it.heeds(Setting::Images));
        is_asked.then(|| Self { slots: Vec::new(), next: 0 })
    }

    /// Returns whether a prompt shows one; the newest are the likeliest to be there.
    fn are_shown(&mut self, prompt: &Prompt<'_>) -> bool {
        self.slots.extend((self.next..prompt.len()).filter(|it| prompt.kind(*it) == Kind::Image));
        self.next = prompt.len();
        self.slots.iter().rev().any(|it| {
            let slot = prompt.slot(*it);
            slot.state == State::Shown && slot.rendition == ShownAs::Raw && slot.content.is_none()
        })
    }
}
