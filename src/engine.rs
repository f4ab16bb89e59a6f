//! The loop that plays a timeline under a policy: project, ask the cache, recover, record; no I/O.

mod compiled;
mod sampled;
mod watch;
pub mod window;

use crate::builtin;
use crate::cache::{CacheRule, RequestView, cache, cache_with_settings};
use crate::ledger::{CacheUse, Change, Failure, FailureKind, NeedRow, Outcome, RequestRow, Role, Sink};
use crate::memory::MemoryRun;
use crate::model::policy::Moment;
use crate::model::{CacheRules, Layout, Limits, Policy, Settings};
use crate::projection::chain::Chain;
use crate::projection::edit::ChangeLog;
use crate::projection::{Ambient, Editor, Projector, Prompt, SideRequest};
use crate::quantity::Tokens;
use crate::recovery::{CompiledRecovery, item_state};
use crate::timeline::{Due, EventKind, Kind, StepIx, Timeline, TurnIx};

pub use compiled::CompiledPolicy;
pub use sampled::{Sampled, sample, simulate_sampled};
pub use watch::{Watch, simulate_watched};

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
    let memory_run = timeline.facts.as_ref().map(|it| MemoryRun::new(it, compiled.memory));
    if let Some(code) = compiled.code {
        let mut projector = builtin::projector(code, timeline);
        return Run {
            memory_run,
            ..Run::new(timeline, &mut projector, compiled.layout, recoveries, limits, rules, sinks)
        }
        .play();
    }
    let mut program = compiled.program.clone();
    Run { memory_run, ..Run::new(timeline, &mut program, compiled.layout, recoveries, limits, rules, sinks) }
        .play()
}

/// Plays a timeline under any projector.
pub fn play(
    timeline: &Timeline,
    projector: &mut impl Projector,
    layout: &Layout,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut impl Sink,
) -> Outcome {
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
    memory_run: Option<MemoryRun<'t>>,
    chain: Chain,
    ambient: Ambient,
    last_ms: Option<i64>,
    /// The step whose requests are being numbered, and how many it has made.
    numbered: (StepIx, u32),
    n_events: usize,
    settings: Settings,
    /// Whether the cache hardly served the last request.
    is_cold: bool,
    outcome: Outcome,
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
            memory_run: timeline.facts.as_ref().map(|it| MemoryRun::new(it, None)),
            chain: Chain::default(),
            ambient: Ambient { ttl_ms: rules.ttl_ms(), ..Ambient::default() },
            last_ms: None,
            numbered: (0, 0),
            n_events: 0,
            settings: Settings::default(),
            is_cold: false,
            outcome: Outcome::default(),
        }
    }

    fn play(mut self) -> Outcome {
        let n_turns = u32::try_from(self.timeline.spine.turns.len()).unwrap_or(u32::MAX);
        self.outcome.turns_requested = n_turns;
        for turn_ix in 0..n_turns {
            self.outcome.turns_started += 1;
            if let Some(kind) = self.play_turn(turn_ix) {
                self.outcome.failure = Some(Failure { turn: turn_ix + 1, kind });
                break;
            }
            self.outcome.turns_completed += 1;
        }
        self.outcome.end_tokens = self.prompt.tokens();
        self.outcome.end_memory_tokens = self.remember();
        if let Some(memory_run) = &self.memory_run {
            let has_failed = self.outcome.failure.is_some();
            self.sinks.iter_mut().for_each(|sink| memory_run.probe(&self.prompt, has_failed, sink));
        }
        for row in self.cache.stored() {
            self.sinks.iter_mut().for_each(|sink| sink.stored(row));
        }
        self.outcome.tool_results = self.prompt.tool_results();
        self.outcome.touched_slots = self.prompt.touched();
        self.outcome
    }

    /// Plays one turn; returns which request went over a limit, if one did.
    fn play_turn(&mut self, turn_ix: TurnIx) -> Option<FailureKind> {
        let row = &self.timeline.spine.turns[turn_ix as usize];
        self.prompt.begin_turn();
        self.prompt.arrive(row.user.end);
        self.at(row.steps.start);
        self.happen(row.steps.start);
        self.project(Moment::TurnStart, turn_ix, row.steps.start);
        self.needs(turn_ix, Due::TurnStart);
        for step in row.steps.clone() {
            self.at(step);
            self.happen(step);
            self.project(Moment::Request, turn_ix, step);
            self.item_needs(turn_ix, step);
            let is_last = step + 1 == row.steps.end;
            if is_last {
                self.needs(turn_ix, Due::Answer);
            }
            if !self.request(turn_ix, step) {
                return Some(self.failure(turn_ix, step));
            }
            self.answer(turn_ix, step);
        }
        let last = row.steps.end.saturating_sub(1).max(row.steps.start);
        self.project(Moment::TurnEnd, turn_ix, last);
        self.needs(turn_ix, Due::TurnEnd);
        self.send_unrecorded(turn_ix, row.steps.end.saturating_sub(1));
        None
    }

    /// Takes out what the recorded harness took out before a step.
    #[inline]
    fn happen(&mut self, step: StepIx) {
        while let Some(event) = self.timeline.events.get(self.n_events).filter(|it| it.step <= step) {
            match &event.kind {
                EventKind::Reset(items) => {
                    let items = items.start..items.end.min(self.prompt.len());
                    Editor::new(&mut self.prompt, &mut self.log, Moment::TurnStart).reset(items);
                }
                EventKind::Change(setting, value) => self.settings.set(*setting, *value),
            }
            self.n_events += 1;
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
        let chain = Chain::aside(&mut self.prompt, &self.log);
        self.submit_aside(self.prompt.tokens(), &chain, now_ms);
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
        };
        self.record(&row);
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
        let Some(memory_run) = &mut self.memory_run else { return 0 };
        memory_run.observe(&self.prompt);
        memory_run.tokens()
    }

    /// Sends the prompt; returns whether it kept within the limits.
    #[inline]
    fn request(&mut self, turn_ix: TurnIx, step: StepIx) -> bool {
        if self.cache.needs_chain() {
            self.chain.refresh(&mut self.prompt, &self.log);
        }
        let memory = self.remember();
        let shown = self.prompt.tokens();
        let view = RequestView {
            prompt: shown,
            stable: self.prompt.stable_tokens(),
            chain: &self.chain,
            visits: self.log.visits(),
            layout: self.layout,
            ttl: self.timeline.harness.ttl,
            tail: self.timeline.tail(step),
            now_ms: self.ambient.now_ms,
            response_ms: self.timeline.spine.steps[step as usize].response_ms,
            end_ms: self.timeline.spine.steps[step as usize].end_ms,
            edited_from: self.log.change().first_slot,
            settings: self.settings,
        };
        let mut usage = self.cache.submit(&view);
        // What is remembered changes behind everything else, where no earlier prompt agrees.
        usage.uncached += memory;
        let prompt = shown + memory;
        self.is_cold = shown - usage.read.min(shown) > self.timeline.harness.side_request_cold_tokens;
        let output = self.timeline.spine.steps[step as usize].output_tokens;
        let row = RequestRow {
            turn_ix,
            step,
            n: self.number(step),
            role: Role::Main,
            at_ms: self.ambient.now_ms,
            prompt,
            usage,
            output,
            change: self.log.change(),
            items: 0,
        };
        self.record(&row);
        self.log.settle(&mut self.prompt);
        self.last_ms = Some(self.ambient.now_ms);
        self.ambient.idle_ms = 0;
        let violations = u32::from(prompt > self.limits.prompt) + u32::from(output > self.limits.output);
        self.outcome.limit_violations += violations;
        violations == 0
    }

    /// Lets the reply and the results in; each result may be changed as it enters.
    #[inline]
    fn answer(&mut self, turn_ix: TurnIx, step: StepIx) {
        let row = &self.timeline.spine.steps[step as usize];
        self.prompt.count_step();
        self.prompt.arrive(row.reply.end);
        if row.results.is_empty() {
            return;
        }
        self.prompt.begin_message();
        for item in row.results.clone() {
            self.prompt.enter();
            if self.timeline.spine.items[item as usize].kind == Kind::ToolResult {
                self.project(Moment::Entry, turn_ix, step);
            }
        }
    }

    /// Meets, recovers or fails what is due.
    #[inline]
    fn needs(&mut self, turn_ix: TurnIx, due: Due) {
        for need in self.timeline.needs.due(turn_ix, due) {
            let evidence = &self.timeline.needs.evidence[need.source as usize];
            let stands = self.prompt.turn_state(need.source);
            for (n, sink) in self.sinks.iter_mut().enumerate() {
                sink.need(&self.recoveries[n].meet(turn_ix, need, evidence, &stands));
            }
        }
    }

    /// Meets, recovers or fails what a step's calls need of single results.
    #[inline]
    fn item_needs(&mut self, turn_ix: TurnIx, step: StepIx) {
        for it in self.timeline.needs.due_at(step) {
            let stands = item_state(&self.prompt, it.inferred.item, self.timeline.needs.mentions(it));
            for (n, sink) in self.sinks.iter_mut().enumerate() {
                let row = self.recoveries[n].meet(turn_ix, &it.need, &it.evidence, &stands);
                sink.need(&NeedRow { inferred: Some(it.inferred), ..row });
            }
        }
    }

    /// Names the request that went over a limit.
    fn failure(&self, turn_ix: TurnIx, step: StepIx) -> FailureKind {
        let row = &self.timeline.spine.turns[turn_ix as usize];
        let asks_tool = |step: StepIx| !self.timeline.spine.steps[step as usize].results.is_empty();
        let n_asking = (row.steps.start..=step).map(|it| u32::from(asks_tool(it))).sum();
        match (asks_tool(step), n_asking) {
            (true, _) => FailureKind::ToolRequest(n_asking),
            (false, 0) => FailureKind::FinalNoTool,
            (false, _) => FailureKind::FinalAfterTools,
        }
    }
}
