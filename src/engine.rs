//! The loop that plays a trace under a policy: project, ask the cache, recover, record; no I/O.

mod drawn;
mod fault;
mod ready;
mod watch;
pub mod window;

use crate::cache::{CacheRule, RequestView, cache, cache_with_settings};
use crate::coded;
use crate::input::policy::Moment;
use crate::input::policy::layout::MemoryPlace;
use crate::input::{CacheRules, Layout, Limits, Policy, Settings};
use crate::ledger::{CacheUse, Change, Failure, FailureKind, NeedRow, Outcome, RequestRow, Role, Sink};
use crate::memory::{AnyMemory, Keeper, Memory};
use crate::projection::chain::Chain;
use crate::projection::edit::ChangeLog;
use crate::projection::{Ambient, Editor, Projector, Prompt, SideRequest};
use crate::recovery::{Billing, Carried, ReadyRecovery, Source, item_state};
use crate::rng::Seed;
use crate::trace::{Due, EventKind, Kind, LoopIx, Phase, Session, StepIx, Trace, When};
use crate::units::Tokens;

use drawn::Drawn;

pub use fault::{Fault, RunError};
pub use ready::Ready;
pub use watch::{Watch, play_with_cache, simulate_watched};

/// Plays a trace under a declarative policy.
///
/// Prices are not asked: the ledger can be priced under every profile that shares these limits and cache rules.
pub fn simulate(
    trace: &Trace,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut impl Sink,
) -> Outcome {
    let ready = Ready::new(trace, policy, limits);
    simulate_each(trace, &ready, &[ready.recovery()], limits, rules, std::slice::from_mut(sink))
}

/// Plays a trace once for all policies that [show alike](Ready::shows_like): one recovery each, and one sink.
pub fn simulate_each<S: Sink>(
    trace: &Trace,
    ready: &Ready<'_>,
    recoveries: &[ReadyRecovery],
    limits: &Limits,
    rules: &CacheRules,
    sinks: &mut [S],
) -> Outcome {
    play_ready(trace, ready, recoveries, limits, rules, (ready.keeper(trace), None), sinks)
}

/// Plays a trace under a declarative policy with a memory in code, made for the trace; the policy's layout places it.
pub fn simulate_with_memory<'t>(
    trace: &'t Trace,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    memory: impl FnOnce(&'t Trace) -> Box<dyn Memory + 't>,
    sink: &mut impl Sink,
) -> Outcome {
    let ready = Ready::new(trace, policy, limits);
    let keeper = Keeper::new(trace.facts.as_ref(), Some(AnyMemory::Code(memory(trace))));
    let recoveries = [ready.recovery()];
    play_ready(trace, &ready, &recoveries, limits, rules, (keeper, None), std::slice::from_mut(sink))
}

/// Plays a trace with drawn needs; rows of requests that fetch something are further requests of the step that needs it.
pub fn simulate_sampled<S: Sink>(
    trace: &Trace,
    ready: &Ready<'_>,
    recovery: ReadyRecovery,
    limits: &Limits,
    rules: &CacheRules,
    seed: Seed,
    sink: &mut S,
) -> Outcome {
    let with = (ready.keeper(trace), Some(Drawn::new(trace, seed)));
    play_ready(trace, ready, &[recovery], limits, rules, with, std::slice::from_mut(sink))
}

fn play_ready<'t, S: Sink>(
    trace: &'t Trace,
    ready: &Ready<'_>,
    recoveries: &[ReadyRecovery],
    limits: &Limits,
    rules: &CacheRules,
    (keeper, drawn): (Keeper<'t>, Option<Drawn>),
    sinks: &mut [S],
) -> Outcome {
    if let Some(code) = ready.code {
        let mut projector = coded::projector(code, trace);
        let run = Run::new(trace, &mut projector, ready.layout, recoveries, limits, rules, sinks);
        return run.with(keeper, drawn).play_declared();
    }
    let mut program = ready.program.clone();
    let run = Run::new(trace, &mut program, ready.layout, recoveries, limits, rules, sinks);
    run.with(keeper, drawn).play_declared()
}

/// Plays a trace under any projector.
///
/// # Errors
/// The projector made an edit that cannot be made.
pub fn play(
    trace: &Trace,
    projector: &mut impl Projector,
    layout: &Layout,
    recovery: ReadyRecovery,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut impl Sink,
) -> Result<Outcome, RunError> {
    Run::new(trace, projector, layout, &[recovery], limits, rules, std::slice::from_mut(sink)).play()
}

/// Returns whether some request says other things beside its content than the first.
fn has_changes(trace: &Trace) -> bool {
    trace.events.iter().any(|it| matches!(it.kind, EventKind::Change(..)))
}

/// A run in progress.
struct Run<'r, 't, P, S> {
    trace: &'t Trace,
    projector: &'r mut P,
    layout: &'r Layout,
    /// How the agent recovers, once for each sink.
    recoveries: &'r [ReadyRecovery],
    limits: &'r Limits,
    cache: Box<dyn CacheRule>,
    sinks: &'r mut [S],
    prompt: Prompt<'t>,
    log: ChangeLog,
    keeper: Keeper<'t>,
    chain: Chain,
    ambient: Ambient,
    last_ms: Option<i64>,
    /// The step whose requests are being numbered, and how many it has made.
    numbered: (StepIx, u32),
    n_events: usize,
    settings: Settings,
    /// Whether the cache hardly served the last request.
    is_cold: bool,
    /// How many requests of the loop have asked for a tool.
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
    /// Stands before the first loop.
    fn new(
        trace: &'t Trace,
        projector: &'r mut P,
        layout: &'r Layout,
        recoveries: &'r [ReadyRecovery],
        limits: &'r Limits,
        rules: &CacheRules,
        sinks: &'r mut [S],
    ) -> Self {
        let billing = Billing::of(rules, trace.harness.ttl);
        Self {
            trace,
            projector,
            layout,
            recoveries,
            limits,
            cache: if has_changes(trace) { cache_with_settings(rules) } else { cache(rules) },
            sinks,
            prompt: Prompt::new(&trace.spine),
            log: ChangeLog::default(),
            keeper: Keeper::new(trace.facts.as_ref(), None),
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
    fn with(self, keeper: Keeper<'t>, drawn: Option<Drawn>) -> Self {
        let weighs = drawn.is_none();
        let carried = self.carried.into_iter().map(|it| it.filter(|_| weighs)).collect();
        Self { keeper, drawn, carried, ..self }
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
        let spine = &self.trace.spine;
        self.outcome.turns_requested = u32::try_from(spine.loops.len()).unwrap_or(u32::MAX);
        for (nth, session) in spine.sessions.iter().enumerate() {
            if let Err(failure) = self.play_session(nth, session) {
                self.outcome.failure = Some(failure);
                break;
            }
        }
        self.outcome.end_tokens = self.prompt.tokens() - self.prompt.memory_tokens();
        self.outcome.end_memory_tokens = self.remember();
        self.ask(When::END);
        self.keeper.settle(self.prompt.active_loop(), self.sinks);
        self.keeper.tell(self.sinks);
        for row in self.cache.stored() {
            self.sinks.iter_mut().for_each(|sink| sink.stored(row));
        }
        self.outcome.tool_results = self.prompt.tool_results();
        self.outcome.touched_slots = self.prompt.touched();
    }

    /// Notes why the run cannot go on; its next request is not sent.
    #[cold]
    fn fail(&mut self, (loop_ix, step): (LoopIx, StepIx), fault: Fault) {
        let policy = || self.projector.name().to_owned();
        self.fault.get_or_insert_with(|| RunError { policy: policy(), turn: loop_ix + 1, step, fault });
    }

    /// Returns what a cache says of a prompt, if that adds up to it.
    #[inline]
    fn checked(&mut self, usage: CacheUse, prompt: Tokens, at: (LoopIx, StepIx)) -> CacheUse {
        let Some(fault) = Fault::of_use(&usage, prompt) else { return usage };
        self.fail(at, fault);
        CacheUse { uncached: prompt, ..CacheUse::default() }
    }

    /// Plays one session.
    fn play_session(&mut self, nth: usize, session: &'t Session) -> Result<(), Failure> {
        let memory = (self.layout.memory != MemoryPlace::Tail && self.keeper.remembers())
            .then_some(self.layout.memory);
        self.prompt.begin_session(session, memory);
        self.log.begin_session();
        if let Some(drawn) = &mut self.drawn {
            drawn.begin_session(&self.trace.spine, session);
        }
        let (first, last) = (session.loops.start, session.loops.end.saturating_sub(1));
        let first_step = self.trace.spine.step_at(When { loop_ix: first, phase: Phase::SessionStart });
        self.at(first_step);
        self.reach(first, Phase::SessionStart);
        self.recall();
        self.project(Moment::SessionStart, first, first_step);
        for loop_ix in session.loops.clone() {
            self.outcome.turns_started += 1;
            self.play_loop(loop_ix).map_err(|kind| Failure { turn: loop_ix + 1, kind })?;
            self.outcome.turns_completed += 1;
        }
        let last_step = self.trace.spine.steps.len().saturating_sub(1);
        let last_step = first_step.max(
            self.trace
                .spine
                .loops
                .get(last as usize)
                .map_or(StepIx::try_from(last_step).unwrap_or(StepIx::MAX), |it| {
                    it.steps.end.saturating_sub(1)
                }),
        );
        self.project(Moment::SessionEnd, last, last_step);
        self.keeper.session_end(&self.prompt, nth);
        self.reach(last, Phase::SessionEnd);
        self.ask(When { loop_ix: last, phase: Phase::SessionEnd });
        Ok(())
    }

    /// Plays one loop, up to a request that goes over a limit.
    fn play_loop(&mut self, loop_ix: LoopIx) -> Result<(), FailureKind> {
        let row = &self.trace.spine.loops[loop_ix as usize];
        self.n_asking = 0;
        self.prompt.begin_loop();
        self.prompt.user(row.user.end);
        self.at(row.steps.start);
        self.reach(loop_ix, Phase::LoopStart);
        self.project(Moment::LoopStart, loop_ix, row.steps.start);
        self.needs(loop_ix, row.steps.start, Due::LoopStart)?;
        for step in row.steps.clone() {
            self.at(step);
            self.reach(loop_ix, Phase::Request(step));
            self.recall();
            self.project(Moment::Request, loop_ix, step);
            self.item_needs(loop_ix, step)?;
            if step + 1 == row.steps.end {
                self.needs(loop_ix, step, Due::Answer)?;
            }
            self.ask(When { loop_ix, phase: Phase::Request(step) });
            self.n_asking += u32::from(!self.trace.spine.steps[step as usize].results.is_empty());
            self.request(loop_ix, step)?;
            self.answer(loop_ix, step);
        }
        let last = row.steps.end.saturating_sub(1).max(row.steps.start);
        self.project(Moment::LoopEnd, loop_ix, last);
        self.needs(loop_ix, last, Due::LoopEnd)?;
        self.ask(When { loop_ix, phase: Phase::LoopEnd });
        self.keeper.turn_end(&self.prompt, loop_ix);
        self.send_unrecorded(loop_ix, row.steps.end.saturating_sub(1));
        Ok(())
    }

    /// Lets happen what happened up to a moment, and answers what was asked before it.
    #[inline]
    fn reach(&mut self, loop_ix: LoopIx, phase: Phase) {
        let at = When { loop_ix, phase };
        while let Some(event) = self.trace.events.get(self.n_events).filter(|it| it.at <= at) {
            self.n_events += 1;
            match &event.kind {
                EventKind::Reset(items) => {
                    let slots = self.prompt.history().slots_of(items);
                    Editor::new(&mut self.prompt, &mut self.log, Moment::LoopStart).reset(slots);
                }
                EventKind::Change(setting, value) => self.settings.set(*setting, *value),
                EventKind::Memory(event) => self.keeper.event(*event),
            }
        }
    }

    /// Answers what is asked up to a moment.
    #[inline]
    fn ask(&mut self, until: When) {
        if self.keeper.is_asked(until) {
            let has_stopped = self.outcome.failure.is_some();
            self.remember();
            self.keeper.probe(&self.prompt, until, has_stopped, self.sinks);
        }
    }

    /// Sends the prompt with the reply once more, where the harness is known to; its bill is in no record.
    fn send_unrecorded(&mut self, loop_ix: LoopIx, step: StepIx) {
        let Some(delay_ms) = self.trace.harness.side_request_ms else { return };
        let is_quiet = self.trace.quiet_loops.binary_search(&loop_ix).is_ok();
        if is_quiet || !self.cache.needs_chain() || self.is_cold {
            return;
        }
        let steps = &self.trace.spine.steps;
        let now_ms = steps[step as usize].end_ms.saturating_add_unsigned(delay_ms);
        if steps.get(step as usize + 1).is_none_or(|it| it.at_ms < now_ms) {
            return;
        }
        let chain = Chain::aside(&mut self.prompt, self.log.identities());
        let (prompt, usage) = (self.prompt.tokens(), self.submit_aside(self.prompt.tokens(), &chain, now_ms));
        self.checked(usage, prompt, (loop_ix, step));
    }

    /// Asks the cache for a request beside the agent's own, which begins with the agent's prompt.
    fn submit_aside(&mut self, prompt: Tokens, chain: &Chain, now_ms: i64) -> CacheUse {
        self.cache.submit(&RequestView {
            stable: self.prompt.stable_tokens(),
            visits: self.log.visits(),
            ttl: self.trace.harness.ttl,
            edited_from: self.log.change().first_slot,
            settings: self.settings,
            ..RequestView::of(prompt, chain, self.layout, now_ms)
        })
    }

    /// Moves the clock to a step.
    #[inline]
    fn at(&mut self, step: StepIx) {
        let Some(row) = self.trace.spine.steps.get(step as usize) else { return };
        self.ambient.now_ms = row.at_ms;
        let idle = self.last_ms.map_or(0, |last| row.at_ms.saturating_sub(last));
        self.ambient.idle_ms = u64::try_from(idle).unwrap_or(0);
    }

    /// Lets the policy edit, and records the requests that it makes.
    #[inline]
    fn project(&mut self, moment: Moment, loop_ix: LoopIx, step: StepIx) {
        if !self.projector.acts_at(moment) {
            return;
        }
        let mut edit = Editor::new(&mut self.prompt, &mut self.log, moment);
        self.projector.project(moment, &self.ambient, &mut edit);
        if let Some(fault) = self.log.fault() {
            self.fail((loop_ix, step), Fault::Edit(fault));
        }
        let Some(requests) = self.log.take_requests() else { return };
        for request in requests {
            self.send_aside(&request, loop_ix, step);
        }
    }

    /// Sends a request that the policy makes; the cache can serve what it shares with the agent's own prompt.
    fn send_aside(&mut self, request: &SideRequest, loop_ix: LoopIx, step: StepIx) {
        let usage = match &request.chain {
            Some(chain) => self.submit_aside(request.prompt, chain, self.ambient.now_ms),
            None => CacheUse { uncached: request.prompt, ..CacheUse::default() },
        };
        let usage = self.checked(usage, request.prompt, (loop_ix, step));
        let row = RequestRow {
            loop_ix,
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
    fn record_main(&mut self, mut row: RequestRow) {
        for (sink, carried) in self.sinks.iter_mut().zip(&mut self.carried) {
            if let Some(carried) = carried {
                let was_edited = row.change.by.is_some_and(|it| it != u16::MAX);
                self.outcome.reacts |= was_edited && carried.has_any();
                row.carried = carried.stand(&self.prompt);
            }
            sink.request(&row);
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
        self.keeper.observe(&self.prompt);
        self.keeper.tokens()
    }

    /// Lets memory say what it recalls where a slot is reserved for it.
    #[inline]
    fn recall(&mut self) {
        if self.prompt.memory().is_some() {
            self.keeper.observe(&self.prompt);
            let it = self.keeper.recall().unwrap_or_default();
            Editor::new(&mut self.prompt, &mut self.log, Moment::Request).recall(it.tokens, it.digest);
        }
    }

    /// Sends the prompt of a step.
    #[inline]
    fn request(&mut self, loop_ix: LoopIx, step: StepIx) -> Result<(), FailureKind> {
        let row = &self.trace.spine.steps[step as usize];
        let reply = Reply {
            response_ms: row.response_ms,
            end_ms: row.end_ms,
            tail: self.trace.tail(step),
            output: row.output_tokens + self.riding_output(),
            asks: !row.results.is_empty(),
        };
        self.send(loop_ix, step, &reply)
    }

    /// Sends the prompt, to be answered so.
    #[inline]
    fn send(&mut self, loop_ix: LoopIx, step: StepIx, reply: &Reply) -> Result<(), FailureKind> {
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
            ttl: self.trace.harness.ttl,
            tail: reply.tail,
            now_ms: self.ambient.now_ms,
            response_ms: reply.response_ms,
            end_ms: reply.end_ms,
            edited_from: self.log.change().first_slot,
            settings: self.settings,
        };
        let usage = self.cache.submit(&view);
        let mut usage = self.checked(usage, shown, (loop_ix, step));
        // At the tail, memory stands behind everything else, where no earlier prompt agrees.
        usage.uncached += memory;
        let prompt = shown + memory;
        self.is_cold = shown - usage.read.min(shown) > self.trace.harness.side_request_cold_tokens;
        let row = RequestRow {
            loop_ix,
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
        self.record_main(row);
        self.last_read = usage.read;
        self.keeper.settle(loop_ix, self.sinks);
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
    fn answer(&mut self, loop_ix: LoopIx, step: StepIx) {
        let row = &self.trace.spine.steps[step as usize];
        self.prompt.begin_step();
        self.prompt.arrive(row.reply.end);
        let joined = if self.drawn.is_some() { self.join_reply() } else { Vec::new() };
        if row.results.is_empty() && joined.is_empty() {
            return;
        }
        self.prompt.begin_message();
        for item in row.results.clone() {
            self.prompt.enter();
            if self.trace.spine.items[item as usize].kind == Kind::ToolResult {
                self.project(Moment::Entry, loop_ix, step);
            }
        }
        self.join_results(joined, loop_ix);
    }

    /// Meets, recovers or fails what is due at a moment of a loop.
    #[inline]
    fn needs(&mut self, loop_ix: LoopIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        let needs = self.trace.needs.due(loop_ix, due);
        if self.drawn.is_some() {
            return self.draw_needs(needs, loop_ix, step, due);
        }
        for need in needs {
            let evidence = &self.trace.needs.evidence[need.source as usize];
            let stands = self.prompt.loop_state(need.source);
            for n in 0..self.sinks.len() {
                let row = self.recoveries[n].meet(loop_ix, need, evidence, &stands);
                self.expect(n, row, Source::Loop(need.source));
            }
        }
        Ok(())
    }

    /// Records a need as it is expected to be met.
    #[inline]
    fn expect(&mut self, n: usize, mut row: NeedRow, source: Source) {
        if let Some(carried) = &mut self.carried[n]
            && row.met < 1.0
        {
            carried.charge(&mut row, source, self.last_read, &self.prompt);
        }
        self.sinks[n].need(&row);
    }

    /// Meets, recovers or fails what a step's calls need of single results.
    #[inline]
    fn item_needs(&mut self, loop_ix: LoopIx, step: StepIx) -> Result<(), FailureKind> {
        let needs = self.trace.needs.due_at(step);
        if self.drawn.is_some() {
            return self.draw_item_needs(needs, loop_ix, step);
        }
        for it in needs {
            let slot = self.prompt.history().slot_of(it.derived.item);
            let stands = item_state(&self.prompt, slot, self.trace.needs.mentions(it));
            for n in 0..self.sinks.len() {
                let row = self.recoveries[n].meet(loop_ix, &it.need, &it.evidence, &stands);
                let row = NeedRow { derived: Some(it.derived), ..row };
                self.expect(n, row, Source::Item(it.derived.item));
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
