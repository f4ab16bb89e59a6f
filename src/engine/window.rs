//! The short way through a conversation: under a policy that is a window, and without a cache, a prompt is two places.
//!
//! It gives what [`simulate`](super::simulate) gives of the conversation's trace, without making trace or prompt.

use crate::ledger::{CacheUse, Outcome, RequestRow, Role, Sink, ToolResults};
use crate::memory::{Keeper, View};
use crate::model::memory::State;
use crate::model::policy::Moment;
use crate::model::{CacheRules, Limits, Policy};
use crate::projection::Window;
use crate::projection::num::Known;
use crate::trace::conversation::{Step, Trial};
use crate::trace::{ItemIx, Kind};
use crate::units::{Decimal, Tokens};

/// Plays a conversation the short way; nothing, where only the long way tells: the policy is no window, there is a cache,
/// or a request goes over a limit. Of a run that is given up, the sink has rows that mean nothing.
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
    if *rules != CacheRules::None {
        return None;
    }
    let window = Window::new(policy, &Known { limits: *limits, chars_per_token })?;
    let keeper = Keeper::new(&trial.facts, policy.memory.as_ref());
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
    /// The tokens of the turns that are shown.
    body: Tokens,
    tools: ToolResults,
}

impl<'r> Shown<'r> {
    fn new(trial: &'r Trial) -> Self {
        Self { trial, from: 0, to: 0, body: 0, tools: ToolResults::default() }
    }

    /// Lets turns in.
    #[inline]
    fn arrive(&mut self, end: u32) {
        let end = end as usize;
        for turn in self.trial.turns.get(self.to..end).unwrap_or(&[]) {
            let tokens = Tokens::from(turn.tokens);
            self.body += tokens;
            if turn.kind == Kind::ToolResult {
                self.tools.raw_tokens += tokens;
                self.tools.visible_tokens += tokens;
            }
        }
        self.to = end;
    }

    /// Drops the oldest turn; returns whether there was one.
    #[inline]
    fn drop_oldest(&mut self) -> bool {
        let Some(turn) = self.trial.turns[..self.to].get(self.from) else { return false };
        let tokens = Tokens::from(turn.tokens);
        self.body -= tokens;
        if turn.kind == Kind::ToolResult {
            self.tools.visible_tokens -= tokens;
        }
        self.from += 1;
        true
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
}

impl<S: Sink> Run<'_, S> {
    fn play(mut self) -> Option<Outcome> {
        for (nth, step) in self.trial.steps.iter().enumerate() {
            if step.begins_loop {
                if nth > 0 {
                    self.end_loop();
                }
                self.outcome.turns_requested += 1;
                self.shown.arrive(step.reply);
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
        outcome.end_tokens = self.trial.stable_tokens + shown.body;
        outcome.end_memory_tokens = self.keeper.tokens();
        self.keeper.probe(shown, false, self.sink);
        outcome.tool_results = shown.tools;
        outcome.touched_slots = (shown.from + shown.to) as u64;
        Some(self.outcome)
    }

    fn end_loop(&mut self) {
        self.move_at(Moment::LoopEnd);
    }

    /// Moves the window, if this is the moment.
    #[inline]
    fn move_at(&mut self, moment: Moment) {
        let stable = self.trial.stable_tokens;
        if !self.window.moves(moment, self.shown.body, stable) {
            return;
        }
        while !self.window.rests(self.shown.body, stable) {
            if !self.shown.drop_oldest() {
                return;
            }
        }
    }

    /// Sends the prompt and lets in what comes of it; nothing, when it goes over a limit.
    #[inline]
    fn request(&mut self, nth: usize, step: &Step) -> Option<()> {
        self.move_at(Moment::Request);
        self.keeper.observe(&self.shown);
        let prompt = self.trial.stable_tokens + self.shown.body + self.keeper.tokens();
        let [_, reply, _] = step.turns(self.trial);
        let output = reply.iter().map(|it| Tokens::from(it.tokens)).sum();
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
        self.shown.arrive(step.end);
        Some(())
    }
}
