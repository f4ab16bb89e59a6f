//! The short way through a conversation: under a policy that is a window, and without a cache, a prompt is two places.
//!
//! It gives what [`simulate`](super::simulate) gives of the conversation's trace, without making trace or prompt.

use crate::input::policy::Moment;
use crate::input::policy::layout::MemoryPlace;
use crate::input::policy::memory::Memory;
use crate::input::policy::memory::State;
use crate::input::{CacheRules, Limits, Policy};
use crate::ledger::{CacheUse, Outcome, RequestRow, Role, Sink, ToolResults};
use crate::memory::{AnyMemory, Keeper, View};
use crate::projection::Window;
use crate::projection::num::Known;
use crate::trace::conversation::{Step, Trial, Turn};
use crate::trace::{ItemIx, Kind, When};
use crate::units::{Decimal, Tokens};

/// Plays a conversation the short way; nothing, where only the long way tells: the policy is no window, there is a cache,
/// memory stands in front of messages or makes calls, or a request goes over a limit. Of a run that is given up, the sink has rows that mean nothing.
///
/// A request's row does not say what the policy changed since the request before.
pub fn simulate(
    trial: &Trial,
    chars_per_token: Decimal,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    sink: &mut impl Sink,
) -> Option<Outcome> {
    let is_beside = |it: &Memory| policy.layout().memory == MemoryPlace::Tail && it.service.is_none();
    if *rules != CacheRules::None || !policy.memory().is_none_or(is_beside) {
        return None;
    }
    let window = Window::new(policy, &Known { limits: *limits, chars_per_token })?;
    let memory = policy.memory().map(|it| AnyMemory::declared(it, &trial.facts));
    let keeper = Keeper::new(Some(&trial.facts), memory);
    let shown = Shown::new(trial);
    Run { trial, window, keeper, limits, sink, shown, outcome: Outcome::default() }.play()
}

/// A run in progress.
struct Run<'r, S> {
    trial: &'r Trial,
    window: Window,
    keeper: Keeper<'r>,
    limits: &'r Limits,
    sink: &'r mut S,
    shown: Shown<'r>,
    outcome: Outcome,
}

/// The turns that a prompt shows.
struct Shown<'r> {
    trial: &'r Trial,
    /// The first turn that is shown.
    from: usize,
    /// The first turn that has not come.
    to: usize,
}

impl<'r> Shown<'r> {
    fn new(trial: &'r Trial) -> Self {
        Self { trial, from: 0, to: 0 }
    }

    /// Returns the tokens of the turns that are shown.
    #[inline]
    fn body(&self) -> Tokens {
        self.trial.tokens_in(self.from, self.to)
    }

    /// Returns the turns that came and those of them that are shown, by what became of the tools' words.
    fn tool_results(&self) -> ToolResults {
        let of = |turns: &[Turn]| {
            let tokens = |it: &Turn| if it.kind == Kind::ToolResult { Tokens::from(it.tokens) } else { 0 };
            turns.iter().map(tokens).sum()
        };
        let came = &self.trial.turns[..self.to];
        ToolResults { raw_tokens: of(came), visible_tokens: of(&came[self.from..]), compressed: 0 }
    }
}

impl View for Shown<'_> {
    fn n_items(&self) -> ItemIx {
        self.trial.n_stable + u32::try_from(self.to).unwrap_or(u32::MAX)
    }

    fn standing(&self, item: ItemIx) -> State {
        let turn = item.checked_sub(self.trial.n_stable).map(|it| it as usize);
        match turn {
            Some(turn) if turn < self.from || turn >= self.to => State::Lost,
            _ => State::Exact,
        }
    }

    #[inline]
    fn shows_all_since(&self, item: ItemIx) -> bool {
        item.checked_sub(self.trial.n_stable).is_some_and(|it| it as usize >= self.from)
    }
}

impl<S: Sink> Run<'_, S> {
    fn play(mut self) -> Option<Outcome> {
        for (nth, step) in self.trial.steps.iter().enumerate() {
            if step.begins_loop {
                if nth > 0 {
                    self.end_loop();
                }
                self.outcome.turns_requested += 1;
                self.shown.to = step.reply as usize;
                self.move_at(Moment::LoopStart);
            }
            if step.has_request {
                self.request(nth, step)?;
            }
        }
        if !self.trial.steps.is_empty() {
            self.end_loop();
        }
        let (shown, outcome) = (&self.shown, &mut self.outcome);
        (outcome.turns_started, outcome.turns_completed) = (outcome.turns_requested, outcome.turns_requested);
        self.keeper.observe(shown);
        outcome.end_tokens = self.trial.stable_tokens + shown.body();
        outcome.end_memory_tokens = self.keeper.tokens();
        let sinks = std::slice::from_mut(self.sink);
        self.keeper.probe(shown, When::END, false, sinks);
        self.keeper.tell(sinks);
        outcome.tool_results = shown.tool_results();
        outcome.touched_slots = (shown.from + shown.to) as u64;
        Some(self.outcome)
    }

    fn end_loop(&mut self) {
        self.move_at(Moment::LoopEnd);
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
        self.shown.from = self.trial.first_within(rest, self.shown.from, self.shown.to);
    }

    /// Sends the prompt and lets in what comes of it; nothing, when it goes over a limit.
    #[inline]
    fn request(&mut self, nth: usize, step: &Step) -> Option<()> {
        self.move_at(Moment::Request);
        self.keeper.observe(&self.shown);
        let prompt = self.trial.stable_tokens + self.shown.body() + self.keeper.tokens();
        let output = self.trial.tokens_in(step.reply as usize, step.results as usize);
        if prompt > self.limits.prompt || output > self.limits.output {
            return None;
        }
        self.sink.request(&RequestRow {
            loop_ix: self.outcome.turns_requested - 1,
            step: u32::try_from(nth).unwrap_or(u32::MAX),
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
