//! The loop over the moments of sessions, turns and steps: what happens, what the policy does, and what enters.
//!
//! A layout also places content that is not part of the history (`layout: (dynamic: [(tokens: 25, at: front_of_system, changes:
//! request)])`). It becomes items of the policy's own, which are rewritten after each of the agent's requests, before a turn, or before a
//! session. An aligned summary sees them as the request that it precedes does. At the `tail`, such content is sent with every request and
//! never cached.

use super::EngineRun;
use crate::ledger::{Failure, FailureKind};
use crate::memory::Edited;
use crate::prelude::*;
use crate::projection::{Purpose, SideRequest};
use ctxsim_base::counts::count_one;
use ctxsim_input::MemoryPlace;
use ctxsim_timeline::{Compaction, Due, FrontItem, Phase, Session, When};

impl<'t, P: Projector + ?Sized, S: Sink> EngineRun<'_, 't, P, S> {
    pub(super) fn run(&mut self) {
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
            for row in self.lanes.stored(lane) {
                sinks.iter_mut().for_each(|sink| sink.stored(row));
            }
        }
        self.outcome.tool_results = self.prompt.tool_results();
        self.outcome.touched_slots = self.prompt.touched();
        self.outcome.firings = self.projector.firings();
        self.outcome.is_swayed = self.log.is_swayed();
    }

    fn play_session(&mut self, nth: usize, session: &'t Session) -> Result<(), Failure> {
        let remembers = self.layout.memory != MemoryPlace::Tail && self.memory_run.remembers();
        self.prompt.begin_session(session, self.layout, remembers);
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
        let row = &turns[turn_ix as usize];
        let step = row.steps.end.saturating_sub(1).max(row.steps.start);
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
    pub(super) fn project(&mut self, moment: Moment, turn_ix: TurnIx, step: StepIx) {
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
        if let Some(what) = self.log.take_failure() {
            self.fail(turn_ix, step, what);
        }
        let Some(requests) = self.log.take_requests() else { return };
        for request in requests {
            self.send_aside(request, turn_ix, step);
        }
    }

    /// Brings the memory up to date; returns what it takes at the end of the prompt.
    #[inline(always)]
    pub(super) fn remember(&mut self) -> Tokens {
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
    pub(super) fn renew(&mut self, changes: Changes) {
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
        self.join_results(joined, turn_ix);
    }
}
