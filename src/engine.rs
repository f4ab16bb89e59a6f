//! What plays a timeline under a policy, and what a run is made of: project, ask the cache, recover, record; no I/O.

mod compiled;
mod drawn;
mod fault;
mod moments;
mod needs;
mod seen;
mod send;
mod watch;

use crate::builtin;
use crate::cache::{CacheRule, cache, cache_with_settings};
use crate::input::policy::{Code, DynamicPlace};
use crate::input::{CacheRules, Layout, Limits, Policy, Settings, TtlClass};
use crate::ledger::{Outcome, Sink, Sums};
use crate::memory::{AnyMemory, Memory, MemoryRun};
use crate::own::Played;
use crate::projection::chain::Chain;
use crate::projection::change::ChangeLog;
use crate::projection::{Ambient, Projector, Prompt};
use crate::quantity::Tokens;
use crate::recovery::{Carried, CompiledRecovery, Removed};
use crate::rng::Seed;
use crate::timeline::{EventKind, StepIx, Timeline, TurnIx};

use drawn::Drawn;
use seen::Seen;

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
    sink: &mut dyn Sink,
) -> Outcome {
    let compiled = CompiledPolicy::new(timeline, policy, limits);
    let with = (compiled.memory_run(timeline), None);
    play_ready(timeline, &compiled, &[compiled.recovery()], limits, rules, with, &mut [sink])
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
    let with = (compiled.memory_run(timeline), None);
    play_ready(timeline, compiled, recoveries, limits, rules, with, sinks)
}

/// Plays a timeline under a declarative policy with a memory in code, made for the timeline; the policy's layout places it.
pub fn simulate_with_memory<'t>(
    timeline: &'t Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    memory: impl FnOnce(&'t Timeline) -> Box<dyn Memory + 't>,
    sink: &mut dyn Sink,
) -> Outcome {
    let compiled = CompiledPolicy::new(timeline, policy, limits);
    let memory_run = MemoryRun::new(timeline.facts.as_ref(), Some(AnyMemory::Code(memory(timeline))));
    let recoveries = [compiled.recovery()];
    play_ready(timeline, &compiled, &recoveries, limits, rules, (memory_run, None), &mut [sink])
}

/// Plays a timeline with drawn needs; rows of requests that fetch something are further requests of the step that needs it.
pub fn simulate_sampled(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    seed: Seed,
    sink: &mut dyn Sink,
) -> Outcome {
    let with = (compiled.memory_run(timeline), Some(Drawn::new(timeline, seed)));
    play_ready(timeline, compiled, &[recovery], limits, rules, with, &mut [sink])
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
    if let Some(code) = &compiled.code {
        let drawn_before = drawn.clone();
        let mut projector = projector(timeline, compiled, code, recoveries, limits, rules, drawn_before);
        let sinks = &mut erased(sinks);
        let run = Run::new(timeline, &mut *projector, compiled.layout, recoveries, limits, rules, sinks);
        return run.with(memory_run, drawn).play_declared();
    }
    let mut program = compiled.program.clone();
    let run = Run::new(timeline, &mut program, compiled.layout, recoveries, limits, rules, sinks);
    run.with(memory_run, drawn).play_declared()
}

/// Makes the code of a policy, which is played once more beforehand where that is asked for.
fn projector<'t>(
    timeline: &'t Timeline,
    compiled: &CompiledPolicy<'_>,
    code: &Code,
    recoveries: &[CompiledRecovery],
    limits: &Limits,
    rules: &CacheRules,
    drawn: Option<Drawn>,
) -> Box<dyn Projector + 't> {
    let made = builtin::projector(code, compiled.made(timeline, 0));
    if compiled.own().is_none_or(|it| !it.plays_twice) {
        return made;
    }
    first_play(timeline, compiled, recoveries, limits, rules, drawn).compare(made)
}

/// Plays a timeline under own code once more beforehand, and returns what its requests showed.
fn first_play(
    timeline: &Timeline,
    compiled: &CompiledPolicy<'_>,
    recoveries: &[CompiledRecovery],
    limits: &Limits,
    rules: &CacheRules,
    drawn: Option<Drawn>,
) -> Played {
    let played = Played::default();
    if let Some(code) = &compiled.code {
        let mut noted = played.note(builtin::projector(code, compiled.made(timeline, 1)));
        let mut sinks = vec![Sums::default(); recoveries.len()];
        let (noted, sinks): (&mut dyn Projector, _) = (&mut noted, &mut erased(&mut sinks));
        let run = Run::new(timeline, noted, compiled.layout, recoveries, limits, rules, sinks);
        run.with(compiled.memory_run(timeline), drawn).play_declared();
    }
    played
}

/// Plays a timeline under any projector.
///
/// # Errors
/// The projector made an edit that cannot be made.
pub fn play(
    timeline: &Timeline,
    projector: &mut dyn Projector,
    layout: &Layout,
    recovery: CompiledRecovery,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut dyn Sink,
) -> Result<Outcome, RunError> {
    Run::new(timeline, projector, layout, &[recovery], limits, rules, &mut [sink]).play()
}

/// Returns sinks of one type as sinks of any.
pub fn erased<S: Sink>(sinks: &mut [S]) -> Vec<&mut dyn Sink> {
    sinks.iter_mut().map(|it| it as &mut dyn Sink).collect()
}

/// Returns whether some request says other things beside its content than the first.
fn has_changes(timeline: &Timeline) -> bool {
    timeline.events.iter().any(|it| matches!(it.kind, EventKind::Change(..)))
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
struct Run<'r, 't, P: ?Sized, S> {
    timeline: &'t Timeline,
    projector: &'r mut P,
    layout: &'r Layout,
    /// How the agent recovers, once for each sink.
    ways: Vec<Way>,
    limits: &'r Limits,
    rules: &'r CacheRules,
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
    /// How many requests of other sessions are heard of.
    n_heard: usize,
    /// The steps whose prompts the outcome tells, from the next one on.
    before_compactions: &'t [StepIx],
    settings: Settings,
    /// The settings of the agent's last request.
    sent_settings: Settings,
    /// How long the harness asks entries to live.
    ttl: Option<TtlClass>,
    /// What the layout puts behind everything else.
    tail_tokens: Tokens,
    /// Whether the cache hardly served the last request.
    is_cold: bool,
    /// How many requests of the turn have asked for a tool.
    n_asking: u32,
    /// How needs are drawn, where they are.
    drawn: Option<Drawn>,
    /// What the agent has seen whole, where anything is expected.
    seen: Option<Seen>,
    /// What the policy removed lately, where an agent looks things up anew because of it.
    removed: Option<Removed>,
    /// What the agent's last request read of its prompt.
    last_read: Tokens,
    outcome: Outcome,
    /// Why the run cannot go on.
    fault: Option<RunError>,
}

impl<'r, 't, P: Projector + ?Sized, S: Sink> Run<'r, 't, P, S> {
    /// Stands before the first turn.
    fn new(
        timeline: &'t Timeline,
        projector: &'r mut P,
        layout: &'r Layout,
        recoveries: &[CompiledRecovery],
        limits: &'r Limits,
        rules: &'r CacheRules,
        sinks: &'r mut [S],
    ) -> Self {
        let way = |recovery: &CompiledRecovery| Way {
            recovery: *recovery,
            carried: recovery.terms().map(Carried::new),
        };
        Self {
            timeline,
            projector,
            layout,
            ways: recoveries.iter().map(way).collect(),
            limits,
            rules,
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
            n_heard: 0,
            before_compactions: timeline.recorded.as_ref().map_or(&[], |it| &it.before_compactions),
            settings: Settings::default(),
            sent_settings: Settings::default(),
            ttl: timeline.harness.ttl,
            tail_tokens: layout.dynamic_at(DynamicPlace::Tail).map(|it| Tokens::from(it.tokens)).sum(),
            is_cold: false,
            n_asking: 0,
            drawn: None,
            seen: recoveries.iter().any(|it| it.terms().is_some()).then(Seen::default),
            removed: removed(recoveries),
            last_read: 0,
            outcome: Outcome::default(),
            fault: None,
        }
    }

    /// Plays with a memory, and with needs that are drawn, where they are.
    fn with(mut self, memory_run: MemoryRun<'t>, drawn: Option<Drawn>) -> Self {
        if drawn.is_some() {
            self.ways.iter_mut().for_each(|it| it.carried = None);
            self.seen = None;
        }
        Self { memory_run, drawn, ..self }
    }

    /// Plays a policy of a plan; own code and own cache rules may end the run, which its outcome says.
    fn play_declared(mut self) -> Outcome {
        self.run();
        if let Some(error) = self.fault {
            self.outcome.fault = Some(error.into());
        }
        self.outcome
    }

    fn play(mut self) -> Result<Outcome, RunError> {
        self.run();
        self.fault.map_or(Ok(self.outcome), Err)
    }

    /// Notes why the run cannot go on; its next request is not sent.
    #[cold]
    fn fail(&mut self, (turn_ix, step): (TurnIx, StepIx), fault: Fault) {
        let policy = || self.projector.name().to_owned();
        self.fault.get_or_insert_with(|| RunError { policy: policy(), turn: turn_ix + 1, step, fault });
    }
}
