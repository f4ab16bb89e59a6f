//! The short way through a conversation: under a policy that is a window, and without a cache, a prompt is two places.
//!
//! It gives what a [`Simulation`](ctxsim_engine::engine::Simulation) gives of the conversation's timeline, without making timeline or prompt.
//!
//! **The fast path.** A policy that only drops its oldest items is a window (`projection/window.rs`): two positions describe what a prompt
//! shows. Without a cache, `worlds/needles/window.rs` runs a conversation on the sums of its messages, with the same memory floor. A law
//! checks that sums, probes and outcome equal those of the loop. If the policy is anything else or a request exceeds a limit, the fast path
//! gives up and the loop runs.

use ctxsim_base::quantity::Decimal;
use ctxsim_engine::ledger::{CacheUse, Firing, RequestRow, Role, ToolResults};
use ctxsim_engine::memory::{AnyMemory, MemoryRun, MemoryView};
use ctxsim_engine::projection::Window;
use ctxsim_engine::projection::test::Known;
use ctxsim_input::CacheRules;
use ctxsim_input::policy::memory::{FactMemory, State};
use ctxsim_input::policy::{MemoryPlace, Moment};
use ctxsim_timeline::{ItemIx, Kind, When};

use crate::needles::conversation::{Dialogue, MessageStep, TrialMessage};
use crate::prelude::*;

/// Plays a conversation the short way; nothing, where only the long way tells: the policy is no window, there is a cache,
/// memory stands in front of messages or makes calls, or a request goes over a limit. Of a run that is given up, the sink has rows that mean nothing.
///
/// A request's row does not say what the policy changed since the request before.
pub fn simulate(
    trial: &Dialogue,
    chars_per_token: Decimal,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut dyn Sink,
) -> Option<Outcome> {
    let layout = policy.layout();
    let is_beside = |it: &FactMemory| layout.memory == MemoryPlace::Tail && it.service.is_none();
    let is_code = policy.code.is_some();
    if is_code
        || *rules != CacheRules::None
        || !layout.dynamic.is_empty()
        || !policy.fact_memory().is_none_or(is_beside)
    {
        return None;
    }
    let window = Window::new(policy, &Known::unrecorded(*limits, chars_per_token))?;
    let memory = policy.fact_memory().map(|it| AnyMemory::declared(it, &trial.facts));
    let memory_run = MemoryRun::new(Some(&trial.facts), memory);
    let shown = ShownMessages { trial, from: 0, to: 0 };
    let firings = vec![Firing::default(); policy.stages().len()];
    WindowRun {
        trial,
        window,
        memory_run,
        limits,
        sink,
        shown,
        outcome: Outcome { firings, ..Outcome::default() },
    }
    .play()
}

/// A run in progress.
struct WindowRun<'r> {
    trial: &'r Dialogue,
    window: Window,
    memory_run: MemoryRun<'r>,
    limits: &'r Limits,
    sink: &'r mut dyn Sink,
    shown: ShownMessages<'r>,
    outcome: Outcome,
}

/// The messages that a prompt shows.
struct ShownMessages<'r> {
    trial: &'r Dialogue,
    /// The first message that is shown.
    from: usize,
    /// The first message that has not come.
    to: usize,
}

impl ShownMessages<'_> {
    /// Returns the tokens of the messages that are shown.
    #[inline]
    fn body(&self) -> Tokens {
        self.trial.tokens_in(self.from, self.to)
    }

    /// Returns the messages that came and those of them that are shown, by what became of the tools' words.
    fn tool_results(&self) -> ToolResults {
        let of = |messages: &[TrialMessage]| {
            let tokens =
                |it: &TrialMessage| if it.kind == Kind::ToolResult { Tokens::from(it.tokens) } else { 0 };
            messages.iter().map(tokens).sum()
        };
        let came = &self.trial.messages[..self.to];
        ToolResults { raw_tokens: of(came), visible_tokens: of(&came[self.from..]), compressed: 0 }
    }
}

impl MemoryView for ShownMessages<'_> {
    fn n_items(&self) -> ItemIx {
        self.trial.n_stable + ix::<u32>(self.to)
    }

    fn standing(&self, item: ItemIx) -> State {
        let message = item.checked_sub(self.trial.n_stable).map(|it| it as usize);
        match message {
            Some(message) if message < self.from || message >= self.to => State::Lost,
            _ => State::Exact,
        }
    }

    #[inline]
    fn shows_all_since(&self, item: ItemIx) -> bool {
        item.checked_sub(self.trial.n_stable).is_some_and(|it| it as usize >= self.from)
    }
}

impl WindowRun<'_> {
    fn play(mut self) -> Option<Outcome> {
        for (nth, step) in self.trial.steps.iter().enumerate() {
            if step.begins_turn {
                if nth > 0 {
                    self.move_at(Moment::TurnEnd);
                }
                self.outcome.turns_requested += 1;
                self.shown.to = step.reply as usize;
                self.move_at(Moment::TurnStart);
            }
            if step.has_request {
                self.request(nth, step)?;
            }
        }
        if !self.trial.steps.is_empty() {
            self.move_at(Moment::TurnEnd);
        }
        let (shown, outcome) = (&self.shown, &mut self.outcome);
        (outcome.turns_started, outcome.turns_completed) = (outcome.turns_requested, outcome.turns_requested);
        self.memory_run.observe(shown);
        outcome.end_tokens = self.trial.stable_tokens + shown.body();
        outcome.end_memory_tokens = self.memory_run.tokens();
        let sinks: &mut [&mut dyn Sink] = &mut [self.sink];
        self.memory_run.probe(shown, When::END, false, sinks);
        self.memory_run.tell(sinks);
        outcome.tool_results = shown.tool_results();
        outcome.touched_slots = (shown.from + shown.to) as u64;
        Some(self.outcome)
    }

    /// Moves the window, if this is the moment.
    #[inline(always)]
    fn move_at(&mut self, moment: Moment) {
        if self.window.moves(moment, self.shown.body(), self.trial.stable_tokens) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let rest = self.window.rest(self.trial.stable_tokens);
        let from = self.trial.first_within(rest, self.shown.from, self.shown.to);
        let has_moved = std::mem::replace(&mut self.shown.from, from) != from;
        if let Some(firing) = self.outcome.firings.first_mut() {
            firing.count(has_moved);
        }
    }

    /// Sends the prompt and lets in what comes of it; nothing, when it goes over a limit.
    #[inline]
    fn request(&mut self, nth: usize, step: &MessageStep) -> Option<()> {
        self.move_at(Moment::Request);
        self.memory_run.observe(&self.shown);
        let prompt = self.trial.stable_tokens + self.shown.body() + self.memory_run.tokens();
        let output = self.trial.tokens_in(step.reply as usize, step.results as usize);
        if prompt > self.limits.prompt || output > self.limits.output {
            return None;
        }
        self.sink.request(&RequestRow {
            turn_ix: self.outcome.turns_requested - 1,
            step: ix(nth),
            role: Role::Main,
            at_ms: step.at_ms(self.trial),
            prompt,
            usage: CacheUse { uncached: prompt, ..CacheUse::default() },
            output,
            ..RequestRow::default()
        });
        self.shown.to = step.end as usize;
        Some(())
    }
}
