//! The loop that plays a timeline under a policy: project, ask the cache, recover, record; no I/O.

mod compiled;
mod drawn;
mod fault;
mod watch;
pub mod window;

use crate::builtin;
use crate::cache::{CacheRule, RequestView, cache, cache_with_settings};
use crate::input::policy::Moment;
use crate::input::policy::layout::MemoryPlace;
use crate::input::{CacheRules, Layout, Limits, Policy, Settings};
use crate::ledger::{CacheUse, Change, Failure, FailureKind, NeedRow, Outcome, RequestRow, Role, Sink};
use crate::memory::{AnyMemory, Memory, MemoryRun};
use crate::projection::chain::Chain;
use crate::projection::edit::ChangeLog;
use crate::projection::{Ambient, Editor, Projector, Prompt, SideRequest};
use crate::quantity::Tokens;
use crate::recovery::{Billing, Carried, CompiledRecovery, Source, item_state};
use crate::rng::Seed;
use crate::timeline::{Due, EventKind, Kind, Phase, Session, StepIx, Timeline, TurnIx, When};

use drawn::Drawn;

pub use compiled::CompiledPolicy;
pub use fault::{Fault, RunError};
pub use watch::{Watch, play_with_cache, simulate_watched};

/// Plays a timeline under a declarative policy.
///
/// Prices are not asked: the ledger can be priced under every profile that shares these limits and cache rules.
pub fn simulate(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut impl Sink,
) -> Outcome {
    let compiled = CompiledPolicy::new(timeline, policy, limits);
    simulate_each(timeline, &compiled, &[compiled.recovery()], limits, rules, std::slice::from_mut(sink))
}

/// Plays a timeline once for all policies that [show alike](CompiledPolicy::shows_like): one recovery each, and one sink.
pub fn simulate_each<S: Sink>(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recoveries: &[CompiledRecovery],
    limits: &Limits,
    rules: &CacheRules,
    sinks: &mut [S],
) -> Outcome {
    play_ready(timeline, compiled, recoveries, limits, rules, (compiled.memory_run(timeline), None), sinks)
}

/// Plays a timeline under a declarative policy with a memory in code, made for the timeline; the policy's layout places it.
pub fn simulate_with_memory<'t>(
    timeline: &'t Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    memory: impl FnOnce(&'t Timeline) -> Box<dyn Memory + 't>,
    sink: &mut impl Sink,
) -> Outcome {
    let compiled = CompiledPolicy::new(timeline, policy, limits);
    let memory_run = MemoryRun::new(timeline.facts.as_ref(), Some(AnyMemory::Code(memory(timeline))));
    let recoveries = [compiled.recovery()];
    play_ready(
        timeline,
        &compiled,
        &recoveries,
        limits,
        rules,
        (memory_run, None),
        std::slice::from_mut(sink),
    )
}

/// Plays a timeline with drawn needs; rows of requests that fetch something are further requests of the step that needs it.
pub fn simulate_sampled<S: Sink>(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    seed: Seed,
    sink: &mut S,
) -> Outcome {
    let with = (compiled.memory_run(timeline), Some(Drawn::new(timeline, seed)));
    play_ready(timeline, compiled, &[recovery], limits, rules, with, std::slice::from_mut(sink))
}

fn play_ready<'t, S: Sink>(
    timeline: &'t Timeline,
    compiled: &CompiledPolicy<'_>,
    recoveries: &[CompiledRecovery],
    limits: &Limits,
    rules: &CacheRules,
    (memory_run, drawn): (MemoryRun<'t>, Option<Drawn>),
    sinks: &mut [S],
) -> Outcome {
    if let Some(code) = compiled.code {
        let mut projector = builtin::projector(code, timeline);
        let run = Run::new(timeline, &mut projector, compiled.layout, recoveries, limits, rules, sinks);
        return run.with(memory_run, drawn).play_declared();
    }
    let mut program = compiled.program.clone();
    let run = Run::new(timeline, &mut program, compiled.layout, recoveries, limits, rules, sinks);
    run.with(memory_run, drawn).play_declared()
}

/// Plays a timeline under any projector.
///
/// # Errors
/// The projector made an edit that cannot be made.
pub fn play(
    timeline: &Timeline,
    projector: &mut impl Projector,
    layout: &Layout,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut impl Sink,
) -> Result<Outcome, RunError> {
    Run::new(timeline, projector, layout, &[recovery], limits, rules, std::slice::from_mut(sink)).play()
}

/// Returns whether some request says other things beside its content than the first.
fn has_changes(timeline: &Timeline) -> bool {
    timeline.events.iter().any(|it| matches!(it.kind, EventKind::Change(..)))
}

/// A run in progress.
struct Run<'r, 't, P, S> {
    timeline: &'t Timeline,
    projector: &'r mut P,
    layout: &'r Layout,
    /// How the agent recovers, once for each sink.
    recoveries: &'r [CompiledRecovery],
    limits: &'r Limits,
    cache: Box<dyn CacheRule>,
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
    settings: Settings,
    /// Whether the cache hardly served the last request.
    is_cold: bool,
    /// How many requests of the turn have asked for a tool.
    n_asking: u32,
    /// How needs are drawn, where they are.
    drawn: Option<Drawn>,
    /// What is expected to have been fetched, once for each sink; nothing where needs are drawn, or every call is priced alike.
    carried: Vec<Option<Carried>>,
    /// What the agent's last request read of its prompt.
    last_read: Tokens,
    outcome: Outcome,
    /// Why the run cannot go on.
    fault: Option<RunError>,
}

impl<'r, 't, P: Projector, S: Sink> Run<'r, 't, P, S> {
    /// Stands before the first turn.
    fn new(
        timeline: &'t Timeline,
        projector: &'r mut P,
        layout: &'r Layout,
        recoveries: &'r [CompiledRecovery],
        limits: &'r Limits,
        rules: &CacheRules,
        sinks: &'r mut [S],
    ) -> Self {
        let billing = Billing::of(rules, timeline.harness.ttl);
        Self {
            timeline,
            projector,
            layout,
            recoveries,
            limits,
            cache: if has_changes(timeline) { cache_with_settings(rules) } else { cache(rules) },
            sinks,
            prompt: Prompt::new(&timeline.spine),
            log: ChangeLog::default(),
            memory_run: MemoryRun::new(timeline.facts.as_ref(), None),
            chain: Chain::default(),
            ambient: Ambient { ttl_ms: rules.ttl_ms(), ..Ambient::default() },
            last_ms: None,
            numbered: (0, 0),
            n_events: 0,
            settings: Settings::default(),
            is_cold: false,
            n_asking: 0,
            drawn: None,
            carried: recoveries
                .iter()
                .map(|it| it.terms().map(|terms| Carried::new(terms, billing)))
                .collect(),
            last_read: 0,
            outcome: Outcome::default(),
            fault: None,
        }
    }

    /// Plays with a memory, and with needs that are drawn, where they are.
    fn with(self, memory_run: MemoryRun<'t>, drawn: Option<Drawn>) -> Self {
        let weighs = drawn.is_none();
        let carried = self.carried.into_iter().map(|it| it.filter(|_| weighs)).collect();
        Self { memory_run, drawn, carried, ..self }
    }

    /// Plays a declared policy under rules of this house, which edit and divide as they may.
    fn play_declared(mut self) -> Outcome {
        self.run();
        debug_assert_eq!(self.fault, None, "a declared policy and its cache keep the rules");
        self.outcome
    }

    fn play(mut self) -> Result<Outcome, RunError> {
        self.run();
        self.fault.map_or(Ok(self.outcome), Err)
    }

    fn run(&mut self) {
        let spine = &self.timeline.spine;
        self.outcome.turns_requested = u32::try_from(spine.turns.len()).unwrap_or(u32::MAX);
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
        for row in self.cache.stored() {
            self.sinks.iter_mut().for_each(|sink| sink.stored(row));
        }
        self.outcome.tool_results = self.prompt.tool_results();
        self.outcome.touched_slots = self.prompt.touched();
    }

    /// Notes why the run cannot go on; its next request is not sent.
    #[cold]
    fn fail(&mut self, (turn_ix, step): (TurnIx, StepIx), fault: Fault) {
        let policy = || self.projector.name().to_owned();
        self.fault.get_or_insert_with(|| RunError { policy: policy(), turn: turn_ix + 1, step, fault });
    }

    /// Returns what a cache says of a prompt, if that adds up to it.
    #[inline]
    fn checked(&mut self, usage: CacheUse, prompt: Tokens, at: (TurnIx, StepIx)) -> CacheUse {
        let Some(fault) = Fault::of_use(&usage, prompt) else { return usage };
        self.fail(at, fault);
        CacheUse { uncached: prompt, ..CacheUse::default() }
    }

    /// Plays one session.
    fn play_session(&mut self, nth: usize, session: &'t Session) -> Result<(), Failure> {
        let memory = (self.layout.memory != MemoryPlace::Tail && self.memory_run.remembers())
            .then_some(self.layout.memory);
        self.prompt.begin_session(session, memory);
        self.log.begin_session();
        if let Some(drawn) = &mut self.drawn {
            drawn.begin_session(&self.timeline.spine, session);
        }
        let (first, last) = (session.turns.start, session.turns.end.saturating_sub(1));
        let first_step = self.timeline.spine.step_at(When { turn_ix: first, phase: Phase::SessionStart });
        self.at(first_step);
        self.reach(first, Phase::SessionStart);
        self.recall();
        self.project(Moment::SessionStart, first, first_step);
        for turn_ix in session.turns.clone() {
            self.outcome.turns_started += 1;
            self.play_turn(turn_ix).map_err(|kind| Failure { turn: turn_ix + 1, kind })?;
            self.outcome.turns_completed += 1;
        }
        let last_step = self.timeline.spine.steps.len().saturating_sub(1);
        let last_step = first_step.max(
            self.timeline
                .spine
                .turns
                .get(last as usize)
                .map_or(StepIx::try_from(last_step).unwrap_or(StepIx::MAX), |it| {
                    it.steps.end.saturating_sub(1)
                }),
        );
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
        self.prompt.user(row.user.end);
        self.at(row.steps.start);
        self.reach(turn_ix, Phase::TurnStart);
        self.project(Moment::TurnStart, turn_ix, row.steps.start);
        self.needs(turn_ix, row.steps.start, Due::TurnStart)?;
        for step in row.steps.clone() {
            self.at(step);
            self.reach(turn_ix, Phase::Request(step));
            self.recall();
            self.project(Moment::Request, turn_ix, step);
            self.item_needs(turn_ix, step)?;
            if step + 1 == row.steps.end {
                self.needs(turn_ix, step, Due::Answer)?;
            }
            self.ask(When { turn_ix, phase: Phase::Request(step) });
            self.n_asking += u32::from(!self.timeline.spine.steps[step as usize].results.is_empty());
            self.request(turn_ix, step)?;
            self.answer(turn_ix, step);
        }
        let last = row.steps.end.saturating_sub(1).max(row.steps.start);
        self.project(Moment::TurnEnd, turn_ix, last);
        self.needs(turn_ix, last, Due::TurnEnd)?;
        self.ask(When { turn_ix, phase: Phase::TurnEnd });
        self.memory_run.turn_end(&self.prompt, turn_ix);
        self.send_unrecorded(turn_ix, row.steps.end.saturating_sub(1));
        Ok(())
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
                    Editor::new(&mut self.prompt, &mut self.log, Moment::TurnStart).reset(slots);
                }
                EventKind::Change(setting, value) => self.settings.set(*setting, *value),
                EventKind::Memory(event) => self.memory_run.event(*event),
            }
        }
    }

    /// Answers what is asked up to a moment.
    #[inline]
    fn ask(&mut self, until: When) {
        if self.memory_run.is_asked(until) {
            let has_stopped = self.outcome.failure.is_some();
            self.remember();
            self.memory_run.probe(&self.prompt, until, has_stopped, self.sinks);
        }
    }

    /// Sends the prompt with the reply once more, where the harness is known to; its bill is in no record.
    fn send_unrecorded(&mut self, turn_ix: TurnIx, step: StepIx) {
        let Some(delay_ms) = self.timeline.harness.side_request_ms else { return };
        let is_quiet = self.timeline.quiet_turns.binary_search(&turn_ix).is_ok();
        if is_quiet || !self.cache.needs_chain() || self.is_cold {
            return;
        }
        let steps = &self.timeline.spine.steps;
        let now_ms = steps[step as usize].end_ms.saturating_add_unsigned(delay_ms);
        if steps.get(step as usize + 1).is_none_or(|it| it.at_ms < now_ms) {
            return;
        }
        let chain = Chain::aside(&mut self.prompt, self.log.identities());
        let (prompt, usage) = (self.prompt.tokens(), self.submit_aside(self.prompt.tokens(), &chain, now_ms));
        self.checked(usage, prompt, (turn_ix, step));
    }

    /// Asks the cache for a request beside the agent's own, which begins with the agent's prompt.
    fn submit_aside(&mut self, prompt: Tokens, chain: &Chain, now_ms: i64) -> CacheUse {
        self.cache.submit(&RequestView {
            stable: self.prompt.stable_tokens(),
            visits: self.log.visits(),
            ttl: self.timeline.harness.ttl,
            edited_from: self.log.change().first_slot,
            settings: self.settings,
            ..RequestView::of(prompt, chain, self.layout, now_ms)
        })
    }

    /// Moves the clock to a step.
    #[inline]
    fn at(&mut self, step: StepIx) {
        let Some(row) = self.timeline.spine.steps.get(step as usize) else { return };
        self.ambient.now_ms = row.at_ms;
        let idle = self.last_ms.map_or(0, |last| row.at_ms.saturating_sub(last));
        self.ambient.idle_ms = u64::try_from(idle).unwrap_or(0);
    }

    /// Lets the policy edit, and records the requests that it makes.
    #[inline]
    fn project(&mut self, moment: Moment, turn_ix: TurnIx, step: StepIx) {
        if !self.projector.acts_at(moment) {
            return;
        }
        let mut edit = Editor::new(&mut self.prompt, &mut self.log, moment);
        self.projector.project(moment, &self.ambient, &mut edit);
        if let Some(fault) = self.log.fault() {
            self.fail((turn_ix, step), Fault::Edit(fault));
        }
        let Some(requests) = self.log.take_requests() else { return };
        for request in requests {
            self.send_aside(&request, turn_ix, step);
        }
    }

    /// Sends a request that the policy makes; the cache can serve what it shares with the agent's own prompt.
    fn send_aside(&mut self, request: &SideRequest, turn_ix: TurnIx, step: StepIx) {
        let usage = match &request.chain {
            Some(chain) => self.submit_aside(request.prompt, chain, self.ambient.now_ms),
            None => CacheUse { uncached: request.prompt, ..CacheUse::default() },
        };
        let usage = self.checked(usage, request.prompt, (turn_ix, step));
        let row = RequestRow {
            turn_ix,
            step,
            n: self.number(step),
            role: Role::Summariser,
            at_ms: self.ambient.now_ms,
            prompt: request.prompt,
            usage,
            output: request.output,
            change: Change::default(),
            items: request.items,
            carried: 0.0,
        };
        self.record(&row);
    }

    /// Records a request of the agent, with what each recovery is expected to carry in it.
    #[inline]
    fn record_main(&mut self, row: &mut RequestRow) {
        for (sink, carried) in self.sinks.iter_mut().zip(&mut self.carried) {
            if let Some(carried) = carried {
                let was_edited = row.change.by.is_some_and(|it| it != u16::MAX);
                self.outcome.reacts |= was_edited && carried.has_any();
                row.carried = carried.stand(&self.prompt);
            }
            sink.request(row);
        }
    }

    #[inline]
    fn record(&mut self, row: &RequestRow) {
        for sink in &mut *self.sinks {
            sink.request(row);
        }
    }

    /// Numbers a request among those of its step.
    #[inline]
    fn number(&mut self, step: StepIx) -> u32 {
        let n = if self.numbered.0 == step { self.numbered.1 } else { 0 };
        self.numbered = (step, n + 1);
        n
    }

    /// Brings the memory up to date; returns what it takes at the end of the prompt.
    #[inline]
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

    /// Sends the prompt of a step.
    #[inline]
    fn request(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let row = &self.timeline.spine.steps[step as usize];
        let reply = Reply {
            response_ms: row.response_ms,
            end_ms: row.end_ms,
            tail: self.timeline.tail(step),
            output: row.output_tokens + self.riding_output(),
            asks: !row.results.is_empty(),
        };
        self.send(turn_ix, step, &reply)
    }

    /// Sends the prompt, to be answered so.
    #[inline]
    fn send(&mut self, turn_ix: TurnIx, step: StepIx, reply: &Reply) -> Result<(), FailureKind> {
        if self.cache.needs_chain() {
            self.chain.refresh(&mut self.prompt, self.log.identities());
        }
        let memory = if self.prompt.memory().is_none() { self.remember() } else { 0 };
        let shown = self.prompt.tokens();
        let view = RequestView {
            prompt: shown,
            stable: self.prompt.stable_tokens(),
            chain: &self.chain,
            visits: self.log.visits(),
            layout: self.layout,
            ttl: self.timeline.harness.ttl,
            tail: reply.tail,
            now_ms: self.ambient.now_ms,
            response_ms: reply.response_ms,
            end_ms: reply.end_ms,
            edited_from: self.log.change().first_slot,
            settings: self.settings,
        };
        let usage = self.cache.submit(&view);
        let mut usage = self.checked(usage, shown, (turn_ix, step));
        // At the tail, memory stands behind everything else, where no earlier prompt agrees.
        usage.uncached += memory;
        let prompt = shown + memory;
        self.is_cold = shown - usage.read.min(shown) > self.timeline.harness.side_request_cold_tokens;
        let mut row = RequestRow {
            turn_ix,
            step,
            n: self.number(step),
            role: Role::Main,
            at_ms: self.ambient.now_ms,
            prompt,
            usage,
            output: reply.output,
            change: self.log.change(),
            items: 0,
            carried: 0.0,
        };
        self.record_main(&mut row);
        self.last_read = usage.read;
        self.memory_run.settle(turn_ix, self.sinks);
        self.log.settle(&mut self.prompt);
        self.last_ms = Some(self.ambient.now_ms);
        self.ambient.idle_ms = 0;
        let violations =
            u32::from(prompt > self.limits.prompt) + u32::from(reply.output > self.limits.output);
        self.outcome.limit_violations += violations;
        match (violations, reply.asks, self.n_asking) {
            (0, ..) if self.fault.is_none() => Ok(()),
            (_, true, n) => Err(FailureKind::ToolRequest(n)),
            (_, false, 0) => Err(FailureKind::FinalNoTool),
            (_, false, _) => Err(FailureKind::FinalAfterTools),
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
        self.prompt.begin_message();
        for item in row.results.clone() {
            self.prompt.enter();
            if self.timeline.spine.items[item as usize].kind == Kind::ToolResult {
                self.project(Moment::Entry, turn_ix, step);
            }
        }
        self.join_results(joined, turn_ix);
    }

    /// Meets, recovers or fails what is due at a moment of a turn.
    #[inline]
    fn needs(&mut self, turn_ix: TurnIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due(turn_ix, due);
        if self.drawn.is_some() {
            return self.draw_needs(needs, turn_ix, step, due);
        }
        for need in needs {
            let evidence = &self.timeline.needs.evidence[need.source as usize];
            let stands = self.prompt.turn_state(need.source);
            for ((sink, carried), recovery) in
                self.sinks.iter_mut().zip(&mut self.carried).zip(self.recoveries)
            {
                let mut row = recovery.meet(turn_ix, need, evidence, &stands);
                if let Some(carried) = carried {
                    carried.charge(&mut row, Source::Turn(need.source), self.last_read, &self.prompt);
                }
                sink.need(&row);
            }
        }
        Ok(())
    }

    /// Meets, recovers or fails what a step's calls need of single results.
    #[inline]
    fn item_needs(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let needs = self.timeline.needs.due_at(step);
        if self.drawn.is_some() {
            return self.draw_item_needs(needs, turn_ix, step);
        }
        for it in needs {
            let slot = self.prompt.history().slot_of(it.inferred.item);
            let stands = item_state(&self.prompt, slot, self.timeline.needs.mentions(it));
            for ((sink, carried), recovery) in
                self.sinks.iter_mut().zip(&mut self.carried).zip(self.recoveries)
            {
                let row = recovery.meet(turn_ix, &it.need, &it.evidence, &stands);
                let mut row = NeedRow { inferred: Some(it.inferred), ..row };
                if let Some(carried) = carried {
                    carried.charge(&mut row, Source::Item(it.inferred.item), self.last_read, &self.prompt);
                }
                sink.need(&row);
            }
        }
        Ok(())
    }
}

/// How a request is answered.
#[derive(Clone, Copy, Debug)]
struct Reply {
    response_ms: i64,
    end_ms: i64,
    /// Tokens of the prompt behind its last breakpoint.
    tail: Tokens,
    output: Tokens,
    /// Whether it asks for a tool.
    asks: bool,
}
