//! The sending of a request: the cache divides its prompt, and the ledger gets its row.

use super::EngineRun;
use crate::cache::{Lane, OwnMark, RequestView};
use crate::ledger::{ExpectedRow, FailureKind};
use crate::prelude::*;
use crate::projection::{Change, Purpose, SideRequest};
use crate::recovery::CarriedAgain;
use ctxsim_input::TtlClass;
use ctxsim_timeline::Shared;
use ctxsim_timeline::shared::Chance;

/// How a request is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelReply {
    pub(super) response_ms: i64,
    pub(super) end_ms: i64,
    /// Tokens of the prompt behind its last breakpoint.
    pub(super) tail: Tokens,
    pub(super) output: Tokens,
    /// Whether it asks for a tool.
    pub(super) asks: bool,
    /// Whether that fetches something again, beside what is recorded.
    pub(super) fetches: bool,
}

impl<'t, P: Projector + ?Sized, S: Sink> EngineRun<'_, 't, P, S> {
    /// Sends the prompt of a step.
    #[inline]
    pub(super) fn request(&mut self, turn_ix: TurnIx, step: StepIx) -> Result<(), FailureKind> {
        let row = &self.timeline.spine.steps[step as usize];
        let reply = ModelReply {
            response_ms: row.response_ms,
            end_ms: row.end_ms,
            tail: self.timeline.tail(step),
            output: row.output_tokens + self.riding_output(),
            asks: !row.results.is_empty(),
            fetches: false,
        };
        self.send(turn_ix, step, &reply)
    }

    /// Sends the prompt, to be answered so.
    #[inline]
    pub(super) fn send(
        &mut self,
        turn_ix: TurnIx,
        step: StepIx,
        reply: &ModelReply,
    ) -> Result<(), FailureKind> {
        if self.lanes.need_chain() {
            self.chain.refresh(&mut self.prompt, self.log.identities());
            self.chain.note_edits(self.log.change().first_slot);
        }
        if self.hears {
            self.hear_others(step);
        }
        let memory = if self.prompt.memory().is_none() { self.remember() } else { 0 };
        let shown = self.prompt.tokens();
        // At the tail, memory and what the harness puts there stand behind everything else, where no earlier prompt agrees.
        let unread = memory + self.timeline.harness.unread_tokens + self.tail_tokens;
        let prompt = shown + unread;
        let row = RequestRow {
            turn_ix,
            step,
            n: self.number(step),
            at_ms: self.ambient.now_ms,
            prompt,
            output: reply.output,
            change: self.log.change(),
            fetches: reply.fetches,
            ..RequestRow::default()
        };
        if let Some(images) = &mut self.images {
            self.settings.set(Setting::Images, images.are_shown(&self.prompt).into());
        }
        let is_other = self.carry_on(row.change);
        if self.has_marks {
            self.mark(step);
        }
        for lane in 0..self.lanes.len() {
            self.ask_cache(lane, row, reply, [shown, unread], is_other);
        }
        if self.seen.is_some() {
            self.foresee();
        }
        self.tell_prompt(step, prompt);
        if let Some(seen) = &mut self.seen {
            seen.look(&self.prompt);
        }
        if let Some(what) = self.memory_run.fault() {
            self.fail(turn_ix, step, what);
        }
        self.memory_run.settle(turn_ix, self.sinks);
        self.log.settle(&mut self.prompt);
        self.note_removed(shown);
        self.renew(Changes::Request);
        self.last_ms = Some(self.ambient.now_ms);
        self.ambient.idle_ms = 0;
        self.longest = [self.longest[0].max(prompt), self.longest[1].max(reply.output)];
        let violations =
            u32::from(prompt > self.limits.prompt) + u32::from(reply.output > self.limits.output);
        self.outcome.limit_violations += violations;
        if violations == 0 && self.outcome.fault.is_none() && !self.sinks.iter().all(Sink::is_done) {
            return Ok(());
        }
        Err(match (reply.asks, self.n_asking) {
            (true, n) => FailureKind::ToolRequest(n),
            (false, 0) => FailureKind::FinalNoTool,
            (false, _) => FailureKind::FinalAfterTools,
        })
    }

    /// Has a cache divide the prompt of a request, and records what it says.
    #[inline(always)]
    fn ask_cache(
        &mut self,
        lane: usize,
        row: RequestRow,
        reply: &ModelReply,
        [shown, unread]: [Tokens; 2],
        is_other: bool,
    ) {
        let view = RequestView {
            prompt: shown,
            intact_tokens: self.log.intact_tokens(&self.prompt),
            chain: &self.chain,
            layout: &self.layout,
            marks: (self.has_marks || !self.marks.is_empty()).then_some(&self.marks),
            ttl: self.ttl,
            tail: reply.tail,
            now_ms: self.ambient.now_ms,
            response_ms: reply.response_ms,
            end_ms: reply.end_ms,
            settings: self.settings,
        };
        let usage = self.lanes.submit(lane, &view);
        let mut usage = self.checked(lane, usage, shown, row.turn_ix, row.step);
        let has_odds = self.has_odds && (row.step == 0 || self.hour_missed.is_some());
        let left = if has_odds { self.left(lane, row.step, usage.read) } else { None };
        let is_cold = shown - usage.read.min(shown) > self.timeline.harness.side_request_cold_tokens;
        (self.lanes[lane].is_cold, self.lanes[lane].last_read) = (is_cold, usage.read);
        usage.uncached += unread;
        let row = RequestRow { usage, ..row };
        // An edit that breaks a prompt in front of what is carried is played, not expected.
        let broke_at = usage.broke_at.filter(|_| is_other);
        if self.prompt.spares().is_empty() {
            self.record(lane, &row, broke_at, left);
        } else {
            self.record_by_number(lane, row, broke_at, left);
        }
    }

    /// Finds the recorded request's own marks in the prompt.
    #[cold]
    fn mark(&mut self, step: StepIx) {
        let recorded = self.timeline.recorded.as_ref().map_or(&[] as &[_], |it| &it.marks);
        let marks = recorded.get(step as usize).map_or(&[] as &[_], |it| it);
        let history = self.prompt.history();
        let slot = |item: ItemIx| history.slots_of(&(item..item + 1)).start;
        self.marks = marks.iter().map(|it| OwnMark { slot: it.item.map(slot), ttl: it.ttl }).collect();
    }

    /// Lets the caches serve what another session sent before a step, which began as this one begins, and what somebody else sends now.
    #[cold]
    fn hear_others(&mut self, step: StepIx) {
        if let Some(shared) = &self.timeline.shared {
            if let Some((end, sent_ms)) = shared.sibling.filter(|_| step == 0 && self.last_ms.is_none()) {
                // Its whole prompt was this one, so it was marked where this one is.
                self.hear(end, sent_ms, (step, self.timeline.tail(step)));
            }
            while let Some((at, sent_ms)) = shared.sent.get(self.n_heard).filter(|it| it.0 <= step) {
                self.n_heard += 1;
                if *at == step {
                    self.hear(shared.end, *sent_ms, (step, 0));
                }
            }
        }
        if !self.has_marks {
            self.marks.clear();
        }
        if let Some(end) = self.front_sent.take() {
            self.hear(end, self.ambient.now_ms, (step, 0));
            // Where it ends in the first message, the request has a mark there.
            let last = end.saturating_sub(1);
            let is_in_message =
                self.timeline.spine.items.get(last as usize).is_some_and(|it| it.kind == Kind::User);
            if let Some(ttl) = self.ttl.filter(|_| is_in_message && !self.has_marks) {
                let slot = self.prompt.history().slots_of(&(last..end)).start;
                self.marks.extend([Some(slot), None].map(|slot| OwnMark { slot, ttl }));
            }
        }
    }

    /// Lets the cache serve the items before one, which somebody else sent before a step, with so many tokens behind the last mark.
    #[cold]
    fn hear(&mut self, end: ItemIx, sent_ms: i64, (step, tail): (StepIx, Tokens)) {
        let chain = self.chain.front(self.n_shared(end));
        let tokens = chain.links().last().map_or(0, |it| it.tokens);
        if tokens == 0 {
            return;
        }
        let (ttl, settings, layout) = (self.ttl, self.settings, self.layout.clone());
        let view = RequestView::new(tokens, &chain, &layout, sent_ms);
        let view = RequestView { ttl, settings, tail, ..view };
        for lane in 0..self.lanes.len() {
            if self.lanes.cache(lane).hears_others() {
                let usage = self.lanes.submit(lane, &view);
                self.checked(lane, usage, tokens, self.prompt.active_turn(), step);
            }
        }
    }

    /// Returns how many prefixes of the prompt stand as they came and end before an item, so that others can share them.
    fn n_shared(&self, end: ItemIx) -> usize {
        let is_shared = |it: &&Link| self.prompt.item(it.slot).origin < end;
        self.chain.links().iter().take_while(is_shared).count()
    }

    /// Returns how many tokens are expected to be read beyond what is, or not to be: those of the first prompt that a session which nobody
    /// recorded had left, less what an entry of an hour may not give. As declared, at the lower end and at the upper.
    #[cold]
    fn left(&self, lane: usize, step: StepIx, read: Tokens) -> Option<[f64; 3]> {
        let left = match &self.timeline.shared {
            Some(Shared { chance: Some(chance), .. })
                if step == 0 && self.last_ms.is_none() && self.lanes.cache(lane).hears_others() =>
            {
                self.expected_left(*chance, read)
            }
            _ => [0.0; 3],
        };
        Some(self.missed(lane, left, step, read)).filter(|it| *it != [0.0; 3])
    }

    fn expected_left(&self, chance: Chance, read: Tokens) -> [f64; 3] {
        let n_shared = self.timeline.shared.as_ref().map_or(0, |it| self.n_shared(it.end));
        let last = n_shared.checked_sub(1).and_then(|it| self.chain.links().get(it));
        let tokens = last.map_or(0, |it| it.tokens).saturating_sub(read);
        let Chance { value, interval: [low, high], .. } = chance;
        [value, low, high].map(|it| it * tokens as f64)
    }

    /// Takes off what an entry of an hour may not give after a pause that the recorded entries of five minutes did not outlive: no record
    /// tells that it would have been read.
    fn missed(&self, lane: usize, left: [f64; 3], step: StepIx, read: Tokens) -> [f64; 3] {
        let Some(Chance { value, interval: [low, high], .. }) = self.hour_missed else { return left };
        let [short_ms, long_ms] =
            [TtlClass::Short, TtlClass::Long].map(|it| self.lanes[lane].rules.life_ms(it).unwrap_or(0));
        let now_ms = self.ambient.now_ms;
        let before = step.checked_sub(1).and_then(|it| self.timeline.spine.steps.get(it as usize));
        let since = before.map_or(now_ms, |it| it.end_ms.max(self.ambient.pinged_ms));
        // Only where the provider sells two lifetimes is the longer one a choice of the policy.
        let lasts = self.ttl == Some(TtlClass::Short)
            && short_ms < long_ms
            && now_ms > since.saturating_add_unsigned(short_ms);
        if !lasts {
            return left;
        }
        let tokens = read.saturating_sub(self.timeline.front_tokens()) as f64;
        // As with what others left, the second reads least and the third most.
        let chances = [value, high, low];
        [0, 1, 2].map(|it| left[it] - chances[it] * tokens)
    }

    /// Returns what a cache says of a prompt, if that adds up to it.
    #[inline(always)]
    fn checked(
        &mut self,
        lane: usize,
        usage: CacheUse,
        prompt: Tokens,
        turn_ix: TurnIx,
        step: StepIx,
    ) -> CacheUse {
        let CacheUse { read, write: [short, long], uncached, .. } = usage;
        let sum = [short, long, uncached].into_iter().try_fold(read, Tokens::checked_add);
        if sum == Some(prompt) {
            return usage;
        }
        let said = self.lanes.cache(lane).fault().map(str::to_owned);
        self.fail(turn_ix, step, said.unwrap_or_else(|| no_division(&usage, prompt)));
        CacheUse { uncached: prompt, ..CacheUse::default() }
    }

    /// Notes that a request is sent with all that each recovery is expected to carry beside it; returns whether its settings are others
    /// than those of the request before.
    #[inline]
    fn carry_on(&mut self, change: Change) -> bool {
        let was_edited = change.by.is_some_and(|it| it != u16::MAX);
        for carried in self.ways.iter_mut().filter_map(|it| it.carried.as_mut()) {
            // The closed form is replaced only where everything is as it is declared.
            self.outcome.reacts |= was_edited && !carried.is_at_end() && carried.has_any();
            carried.sent(&self.prompt);
        }
        self.seen.is_some() && std::mem::replace(&mut self.sent_settings, self.settings) != self.settings
    }

    /// Records a request of the agent as one of the caches answered it, and what each recovery is expected to carry beside it.
    #[inline(always)]
    fn record(&mut self, lane: usize, row: &RequestRow, broke_at: Option<SlotIx>, left: Option<[f64; 3]>) {
        // One sink for each way; an index is followed by every compiler without a call.
        for at in 0..self.ways.len() {
            let (standing, is_at_end) = match &self.ways[at].carried {
                Some(it) => (Some(it.again(broke_at)), it.is_at_end()),
                None => (None, false),
            };
            let sink = self.sink(lane, at);
            if !is_at_end {
                sink.request(row);
            }
            if standing.is_some_and(|it| it != CarriedAgain::default()) || left.is_some() {
                let CarriedAgain { recovered, explored } = standing.unwrap_or_default();
                // As with needs: what takes its address gets a copy, so that a row of which nothing is expected is never made whole.
                sink.expected(
                    &RequestRow { ..*row },
                    &ExpectedRow { recovered, explored, left: left.unwrap_or_default() },
                );
            }
        }
    }

    /// Notes the prompt of a step that its outcome tells, of the step's first request.
    #[inline]
    fn tell_prompt(&mut self, step: StepIx, prompt: Tokens) {
        while let Some((next, rest)) = self.before_compactions.split_first().filter(|it| *it.0 <= step) {
            if *next == step {
                self.outcome.before_compactions.push((step, prompt));
            }
            self.before_compactions = rest;
        }
    }

    /// Records a request in a row that counts slots as if no policy had put any of its own between them.
    #[cold]
    #[inline(never)]
    fn record_by_number(
        &mut self,
        lane: usize,
        mut row: RequestRow,
        broke_at: Option<SlotIx>,
        left: Option<[f64; 3]>,
    ) {
        let number = |it: SlotIx| self.prompt.number(it);
        row.change.first_slot = row.change.first_slot.map(number);
        row.usage.broke_at = row.usage.broke_at.map(number);
        self.record(lane, &row, broke_at, left);
    }

    /// Sends the prompt with the reply once more, where the harness is known to; its bill is in no record.
    #[inline]
    pub(super) fn send_unrecorded(&mut self, turn_ix: TurnIx, step: StepIx) {
        if !self.timeline.side_requests.is_empty() {
            self.send_again(turn_ix, step);
        }
    }

    #[cold]
    #[inline(never)]
    fn send_again(&mut self, turn_ix: TurnIx, step: StepIx) {
        let timeline = self.timeline;
        let Some(next) = timeline.spine.steps.get(step as usize + 1) else { return };
        for request in timeline.side_requests_after(turn_ix).iter().filter(|it| it.at_ms <= next.at_ms) {
            let is_asked = |lane: &Lane<'_>| request.is_logged || lane.is_warm();
            if !self.lanes.iter().any(is_asked) {
                continue;
            }
            let mut chain = std::mem::take(&mut self.chain);
            let own = chain.lend(&mut self.prompt, self.log.identities());
            let shown = self.prompt.tokens();
            self.submit_aside(shown, &mut chain, request.at_ms, is_asked);
            chain.take_back(own);
            self.chain = chain;
            for lane in 0..self.lanes.len() {
                if is_asked(&self.lanes[lane]) {
                    self.checked(lane, self.lanes[lane].usage, shown, turn_ix, step);
                }
            }
        }
    }

    /// Sends a request that the policy makes; the cache can serve what it shares with the agent's own prompt.
    pub(super) fn send_aside(&mut self, request: SideRequest, turn_ix: TurnIx, step: StepIx) {
        match request.chain {
            Some(mut chain) => self.submit_aside(request.prompt, &mut chain, self.ambient.now_ms, |_| true),
            None => {
                let usage = CacheUse { uncached: request.prompt, ..CacheUse::default() };
                self.lanes.iter_mut().for_each(|it| it.usage = usage);
            }
        }
        let role = match request.purpose {
            Purpose::Summary => Role::Summariser,
            Purpose::KeepAlive => {
                self.ambient.pinged_ms = self.ambient.now_ms;
                Role::KeepAlive
            }
        };
        let row = RequestRow {
            turn_ix,
            step,
            n: self.number(step),
            role,
            at_ms: self.ambient.now_ms,
            prompt: request.prompt,
            output: request.output,
            items: request.items,
            ..RequestRow::default()
        };
        for lane in 0..self.lanes.len() {
            let usage = self.checked(lane, self.lanes[lane].usage, request.prompt, turn_ix, step);
            for way in 0..self.ways.len() {
                self.sink(lane, way).request(&RequestRow { usage, ..row });
            }
        }
    }

    /// Asks some of the caches for a request beside the agent's own, which begins with the agent's prompt.
    fn submit_aside(
        &mut self,
        prompt: Tokens,
        chain: &mut Chain,
        now_ms: i64,
        is_asked: impl Fn(&Lane<'t>) -> bool,
    ) {
        chain.note_edits(self.log.change().first_slot);
        let view = RequestView {
            intact_tokens: self.log.intact_tokens(&self.prompt),
            ttl: self.ttl,
            settings: self.settings,
            ..RequestView::new(prompt, chain, &self.layout, now_ms)
        };
        self.lanes.submit_to(&view, is_asked);
    }

    /// Numbers a request among those of its step.
    #[inline]
    fn number(&mut self, step: StepIx) -> u32 {
        let n = if self.numbered.0 == step { self.numbered.1 } else { 0 };
        self.numbered = (step, n + 1);
        n
    }
}

/// Says that a cache divided a prompt into parts that are not the prompt.
fn no_division(usage: &CacheUse, prompt: Tokens) -> String {
    let CacheUse { read, write: [short, long], uncached, .. } = usage;
    let written = short.saturating_add(*long);
    format!(
        "the cache reads {read} tokens, writes {written} and leaves {uncached} uncached, which does not add up to the prompt of {prompt}"
    )
}
