//! A naive simulator that makes the same edits as the engine.
//!
//! It rescans every slot, recounts every total and compares
//! whole prompts at each request. It is written from what the policy language says, and shares no code with it.

mod apply;
mod ask;
mod cache;
mod drawn;
mod fold;
mod history;
mod memory;
mod needs;
mod scope;
mod size;
mod summarise;
mod users;

use ctxsim::input::policy::{Changes, DynamicPlace, MemoryPlace, Moment, Pause};
use ctxsim::ledger::{
    Carry, Change, ExpectedRow, ExploredRow, Failure, FailureKind, Firing, NeedRow, Outcome, ToolResults,
};
use ctxsim::recovery::End;
use ctxsim::timeline::{Compaction, Due, EventKind, Kind, Phase, Session, StepRow, When};

use cache::Cache;
use drawn::Drawn;
use history::{Counts, History, Left};
use memory::Memory;
use needs::Source;
use size::World;

use crate::support::*;

/// Plays a timeline under a policy, slowly.
pub(crate) fn simulate(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
) -> (Rows, Outcome) {
    play(timeline, policy, limits, rules, None)
}

/// Plays a timeline with drawn needs, slowly.
pub(crate) fn simulate_sampled(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    seed: Seed,
) -> (Rows, Outcome) {
    play(timeline, policy, limits, rules, Some(Drawn::new(seed)))
}

fn play(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    drawn: Option<Drawn>,
) -> (Rows, Outcome) {
    let mut run = Run {
        timeline,
        policy,
        world: World {
            limits: *limits,
            chars_per_token: timeline.chars_per_token,
            harness: timeline.recorded.as_ref().map_or_else(Default::default, |it| it.harness_limits),
        },
        history: History::new(timeline),
        memory: Memory::new(timeline, policy.fact_memory()),
        n_events: 0,
        n_asked: 0,
        cache: Cache::new(rules),
        seen: vec![Counts::default(); policy.stages().len()],
        left: vec![None; policy.stages().len()],
        clock: Clock { ttl_ms: rules.ttl_ms(), ..Clock::default() },
        last_request_ms: None,
        last_ping_ms: None,
        next_n: vec![0; timeline.spine.steps.len() + 1],
        heard: vec![false; timeline.spine.steps.len() + 1],
        front_sent: None,
        rows: Rows::default(),
        rules,
        expected: Vec::new(),
        last_read: 0,
        was_carried: false,
        removed: Vec::new(),
        n_explored: 0,
        n_asking: 0,
        drawn,
        shown: Vec::new(),
        outcome: Outcome { firings: vec![Firing::default(); policy.stages().len()], ..Outcome::default() },
    };
    run.play();
    run.rows.stored = run.cache.stored();
    (run.rows, run.outcome)
}

/// Returns what of the engine's outcome the oracle knows.
pub(crate) fn known(outcome: &Outcome) -> Outcome {
    let firings = outcome.firings.iter().map(|it| Firing { acted: 0, ..*it }).collect();
    Outcome {
        touched_slots: 0,
        is_swayed: false,
        end_tokens: 0,
        end_memory_tokens: 0,
        firings,
        ..outcome.clone()
    }
}

/// What conditions may ask of time.
#[derive(Clone, Copy, Default)]
struct Clock {
    now_ms: i64,
    idle_ms: u64,
    ttl_ms: Option<u64>,
}

/// A run in progress.
struct Run<'a> {
    timeline: &'a Timeline,
    policy: &'a Policy,
    world: World,
    history: History<'a>,
    memory: Memory<'a>,
    n_events: usize,
    n_asked: usize,
    cache: Cache,
    /// What had come when each stage was last considered.
    seen: Vec<Counts>,
    /// How each stage left the last prompt that it changed.
    left: Vec<Option<Left>>,
    clock: Clock,
    last_request_ms: Option<i64>,
    last_ping_ms: Option<i64>,
    /// How many requests each step has made.
    next_n: Vec<u32>,
    /// Whether the agent has made one, so that what others sent before the step is known.
    heard: Vec<bool>,
    /// What somebody else sends before the agent's next request ends before this item.
    front_sent: Option<u32>,
    rows: Rows,
    rules: &'a CacheRules,
    /// The calls that were expected so far.
    expected: Vec<needs::Expected>,
    last_read: u64,
    /// Whether anything was carried when that was last asked.
    was_carried: bool,
    /// By how many steps' requests had come before: what stages took out of the prompt, less what came back.
    removed: Vec<(usize, i64)>,
    n_explored: usize,
    /// How many requests of the turn have asked for a tool.
    n_asking: u32,
    drawn: Option<Drawn>,
    /// By request of the turn: what it showed of what users asked.
    shown: Vec<users::Shown>,
    outcome: Outcome,
}

impl Run<'_> {
    fn play(&mut self) {
        let n_turns = self.timeline.spine.turns.len();
        self.outcome.turns_requested = n_turns as u32;
        for session in &self.timeline.spine.sessions {
            self.outcome.failure = self.play_session(session);
            if self.outcome.failure.is_some() {
                break;
            }
        }
        self.memory.observe(&self.history);
        self.ask(When::END);
        self.outcome.tool_results = self.tool_results();
    }

    fn play_session(&mut self, session: &Session) -> Option<Failure> {
        let place = self.policy.layout().memory;
        let is_placed = self.memory.is_some() && place != MemoryPlace::Tail;
        self.history.begin_session(session, is_placed.then_some(place), self.policy.layout());
        if let Some(drawn) = &mut self.drawn {
            drawn.begin_session(self.timeline, session);
        }
        self.removed.clear();
        self.reach(session.turns.start, Phase::SessionStart);
        self.recall();
        for turn_ix in session.turns.clone() {
            self.outcome.turns_started += 1;
            if turn_ix > 0 {
                self.history.renew(Changes::Turn);
            }
            if let Err(kind) = self.play_turn(turn_ix as usize) {
                return Some(Failure { turn: turn_ix + 1, kind });
            }
            self.outcome.turns_completed += 1;
            if turn_ix + 1 < session.turns.end {
                self.idle(turn_ix as usize);
            }
        }
        let last = session.turns.end.saturating_sub(1);
        self.reach(last, Phase::SessionEnd);
        self.ask(When { turn_ix: last, phase: Phase::SessionEnd });
        None
    }

    /// Lets happen what happened up to a moment.
    fn reach(&mut self, turn_ix: u32, phase: Phase) {
        while let Some(event) = self.timeline.events.get(self.n_events)
            && event.at <= (When { turn_ix, phase })
        {
            self.n_events += 1;
            match &event.kind {
                EventKind::Reset(items) => {
                    self.history.reset(items.clone());
                    self.removed.clear();
                }
                EventKind::Memory(event) => self.memory.happen(*event),
                EventKind::Compaction(request) => self.compact(*request, event.at),
                EventKind::FrontSent(end) => self.front_sent = Some(*end),
                // The loads that the oracle plays change neither settings nor what prompts begin with.
                EventKind::Change(..) | EventKind::Front(_) | EventKind::Lifetime(_) => {}
            }
        }
    }

    /// Sends the harness's own request for a summary; it stands with the request before it.
    fn compact(&mut self, request: Compaction, at: When) {
        let (step, turn_ix) = match at.phase {
            Phase::Request(step) => (step as usize, at.turn_ix),
            _ => {
                let steps = &self.timeline.spine.turns[at.turn_ix as usize].steps;
                (steps.start as usize, at.turn_ix.saturating_sub(1))
            }
        };
        let step = step.saturating_sub(1);
        assert_eq!(request.instruction, 0, "an instruction is not part of the history");
        let prompt = self.history.tokens();
        let usage = self.submit_aside(self.history.clone(), request.output);
        let row = RequestRow {
            turn_ix,
            step: step as u32,
            n: self.number(step),
            role: Role::Summariser,
            at_ms: self.clock.now_ms,
            prompt,
            usage,
            output: request.output,
            items: request.items,
            ..RequestRow::default()
        };
        self.rows.requests.push(row);
    }

    /// Lets the cache have what another session sent before the agent's first request of a step, whatever a summariser has asked before.
    fn hear_others(&mut self, step: usize) {
        let is_first = !std::mem::replace(&mut self.heard[step], true);
        if let Some(shared) = &self.timeline.shared
            && let Some((_, sent_ms)) =
                shared.sent.iter().find(|it| it.0 as usize == step).filter(|_| is_first)
        {
            self.cache.submit_front(&self.history, shared.end, *sent_ms, self.policy.layout());
        }
        if let Some(end) = self.front_sent.take() {
            self.cache.submit_front(&self.history, end, self.clock.now_ms, self.policy.layout());
        }
    }

    /// What somebody unknown may have left for the first request of all.
    fn left_by_others(&self, step: usize, read: u64) -> [f64; 3] {
        let Some(shared) = &self.timeline.shared else { return [0.0; 3] };
        let Some(chance) = shared.chance.filter(|_| step == 0 && self.last_request_ms.is_none()) else {
            return [0.0; 3];
        };
        let tokens = self.cache.front_tokens(&self.history, shared.end).saturating_sub(read) as f64;
        [chance.value, chance.interval[0], chance.interval[1]].map(|it| it * tokens)
    }

    /// Sends a prompt beside the agent's own requests.
    fn submit_aside(&mut self, mut sent: History<'_>, output: u64) -> CacheUse {
        // All that the moment has edited counts as edited by then.
        (sent.change, sent.visits) = (self.history.change, self.history.visits.clone());
        let now_ms = self.clock.now_ms;
        let row = StepRow {
            at_ms: now_ms,
            response_ms: now_ms,
            end_ms: now_ms,
            reply: 0..0,
            results: 0..0,
            output_tokens: output,
        };
        self.cache.submit(&sent, &row, self.policy.layout())
    }

    /// Puts what memory recalls into its slot, if there is one.
    fn recall(&mut self) {
        if self.history.has_memory() {
            self.memory.observe(&self.history);
            let recalled = self.memory.recall();
            self.history.recall(recalled);
        }
    }

    /// Answers what is asked up to a moment.
    fn ask(&mut self, until: When) {
        let probes = self.timeline.facts.as_ref().map_or(&[][..], |it| &it.probes);
        for probe in probes[self.n_asked..].iter().filter(|it| it.at <= until) {
            self.memory.observe(&self.history);
            let row = self.memory.answer(probe, &self.history, self.outcome.failure.is_some());
            self.rows.probes.push(row);
            self.n_asked += 1;
        }
    }

    fn play_turn(&mut self, turn_ix: usize) -> Result<(), FailureKind> {
        let row = &self.timeline.spine.turns[turn_ix];
        let (first, end) = (row.steps.start as usize, row.steps.end as usize);
        self.n_asking = 0;
        self.wait_for(first);
        self.reach(turn_ix as u32, Phase::TurnOpen);
        self.history.begin_turn(row.user.clone());
        self.reach(turn_ix as u32, Phase::TurnStart);
        self.project(Moment::TurnStart, turn_ix, first);
        self.needs(turn_ix, first, Due::TurnStart)?;
        for step in first..end {
            self.wait_for(step);
            self.reach(turn_ix as u32, Phase::Request(step as u32));
            self.recall();
            self.project(Moment::Request, turn_ix, step);
            self.item_needs(turn_ix, step)?;
            if step + 1 == end {
                self.needs(turn_ix, step, Due::Answer)?;
            }
            self.user_needs(turn_ix, step);
            self.explore(turn_ix, step)?;
            self.ask(When { turn_ix: turn_ix as u32, phase: Phase::Request(step as u32) });
            self.request(turn_ix, step)?;
            self.answer(turn_ix, step);
        }
        let last = end.saturating_sub(1).max(first);
        let before = self.history.tokens();
        self.history.end_turn();
        self.note_removed(before);
        self.project(Moment::TurnEnd, turn_ix, last);
        self.needs(turn_ix, last, Due::TurnEnd)?;
        self.ask(When { turn_ix: turn_ix as u32, phase: Phase::TurnEnd });
        Ok(())
    }

    /// Moves the clock to the request of a step, if there is such a step.
    fn wait_for(&mut self, step: usize) {
        let Some(row) = self.timeline.spine.steps.get(step) else { return };
        let idle = self.last_request_ms.map_or(0, |last| row.at_ms - last);
        self.clock.now_ms = row.at_ms;
        self.clock.idle_ms = u64::try_from(idle).unwrap_or(0);
    }

    /// Lets each moment of the pause behind a turn come, millisecond by millisecond where any stage waits for one.
    fn idle(&mut self, turn_ix: usize) {
        let turns = &self.timeline.spine.turns;
        let next = self.timeline.spine.steps.get(turns[turn_ix + 1].steps.start as usize);
        let (Some(next), Some(last_ms)) = (next, self.last_request_ms) else { return };
        let Some(step) = turns[turn_ix].steps.clone().next_back() else { return };
        let pauses = self.policy.stages().iter().filter_map(|it| it.pause);
        let moments = pauses.flat_map(|it| (1..=it.times).map(move |nth| nth * it.after.0));
        let mut moments: Vec<u64> = moments.filter(|it| last_ms + (*it as i64) < next.at_ms).collect();
        moments.sort_unstable();
        moments.dedup();
        for idle_ms in moments {
            self.clock.now_ms = last_ms + idle_ms as i64;
            self.clock.idle_ms = idle_ms;
            self.project(Moment::Idle, turn_ix, step as usize);
        }
    }

    fn project(&mut self, moment: Moment, turn_ix: usize, step: usize) {
        let idle_ms = self.clock.idle_ms;
        let before = self.history.tokens();
        for index in 0..self.policy.stages().len() {
            let stage = &self.policy.stages()[index];
            let is_due = |it: Pause| (1..=it.times).any(|nth| nth * it.after.0 == idle_ms);
            if stage.at.contains(&moment) && stage.pause.is_none_or(is_due) {
                self.consider(index, moment);
            }
        }
        self.note_removed(before);
        for request in std::mem::take(&mut self.history.requests) {
            let mut usage = CacheUse { uncached: request.prompt, ..CacheUse::default() };
            let role = if request.ping.is_some() { Role::KeepAlive } else { Role::Summariser };
            if let Some(sent) = request.ping {
                usage = self.submit_aside(*sent, request.output);
                self.last_ping_ms = Some(self.clock.now_ms);
            }
            let row = RequestRow {
                turn_ix: turn_ix as u32,
                step: step as u32,
                n: self.number(step),
                role,
                at_ms: self.clock.now_ms,
                prompt: request.prompt,
                usage,
                output: request.output,
                change: Change::default(),
                items: request.n_turns,
                fetches: false,
            };
            self.rows.requests.push(row);
        }
    }

    /// Notes what the prompt lost, or got back, before the request that comes next.
    fn note_removed(&mut self, before: u64) {
        self.removed.push((self.n_explored, before as i64 - self.history.tokens() as i64));
    }

    /// Looks up anew, before a step's request, what its missing context makes the agent look up.
    fn explore(&mut self, turn_ix: usize, step: usize) -> Result<(), FailureKind> {
        let terms = self.timeline.refetch.terms(End::Value);
        let Some(explores) = terms.explores else { return Ok(()) };
        let window = i64::from(explores.fades_in_requests);
        let weight = |at: usize| (window - (self.n_explored - at) as i64).max(0);
        let missing: i64 = self.removed.iter().map(|(at, tokens)| tokens * weight(*at)).sum();
        let missing = missing.max(0) as f64 / window as f64;
        self.n_explored += 1;
        if self.drawn.is_some() {
            return self.draw_explored(missing, &explores, turn_ix, step);
        }
        let (rules, history) = (self.rules, &self.history);
        let row = needs::explore(self.timeline, rules, history, &mut self.expected, missing, self.last_read);
        let at = |it| ExploredRow { turn_ix: turn_ix as u32, step: step as u32, ..it };
        self.rows.explored.extend(row.map(at));
        Ok(())
    }

    fn number(&mut self, step: usize) -> u32 {
        self.next_n[step] += 1;
        self.next_n[step] - 1
    }

    fn request(&mut self, turn_ix: usize, step: usize) -> Result<(), FailureKind> {
        let mut row = self.timeline.spine.steps[step].clone();
        row.output_tokens += self.drawn.as_ref().map_or(0, Drawn::joining_tokens);
        self.send(turn_ix, step, &row, !row.results.is_empty())
    }

    /// Sends the prompt for a reply that asks for a tool or does not.
    fn send(&mut self, turn_ix: usize, step: usize, reply: &StepRow, asks: bool) -> Result<(), FailureKind> {
        self.n_asking += u32::from(asks);
        let mut tail = 0;
        if !self.history.has_memory() {
            self.memory.observe(&self.history);
            tail = self.memory.recall().0;
        }
        let at_tail = self.policy.layout().dynamic.iter().filter(|it| it.at == DynamicPlace::Tail);
        tail += at_tail.map(|it| u64::from(it.tokens)).sum::<u64>();
        let prompt = self.history.tokens() + tail;
        self.outcome.reacts |= self.was_carried && self.history.change.by.is_some_and(|it| it != u16::MAX);
        self.hear_others(step);
        let mut usage = self.cache.submit(&self.history, reply, self.policy.layout());
        let left = self.left_by_others(step, usage.read);
        usage.uncached += tail;
        let row = RequestRow {
            turn_ix: turn_ix as u32,
            step: step as u32,
            n: self.number(step),
            role: Role::Main,
            at_ms: self.clock.now_ms,
            prompt,
            usage,
            output: reply.output_tokens,
            change: self.history.change,
            items: 0,
            fetches: asks && reply.results.is_empty(),
        };
        self.last_read = row.usage.read;
        let [recovered, explored] = needs::carried_apart(&mut self.expected, &self.history);
        self.was_carried = recovered + explored > 0.0;
        let carry = |tokens| Carry { tokens, anew: 0.0 };
        let beside = ExpectedRow { recovered: carry(recovered), explored: carry(explored), left };
        if beside != ExpectedRow::default() {
            self.rows.expected.push((self.rows.requests.len(), beside));
        }
        self.rows.requests.push(row);
        let before = self.history.tokens();
        self.history.settle();
        self.note_removed(before);
        self.history.renew(Changes::Request);
        self.last_request_ms = Some(self.clock.now_ms);
        self.clock.idle_ms = 0;
        let limits = self.world.limits;
        let violations = u32::from(prompt > limits.prompt) + u32::from(reply.output_tokens > limits.output);
        self.outcome.limit_violations += violations;
        match (violations, asks, self.n_asking) {
            (0, ..) => Ok(()),
            (_, true, n) => Err(FailureKind::ToolRequest(n)),
            (_, false, 0) => Err(FailureKind::FinalNoTool),
            (_, false, _) => Err(FailureKind::FinalAfterTools),
        }
    }

    fn answer(&mut self, turn_ix: usize, step: usize) {
        let row = &self.timeline.spine.steps[step];
        self.history.begin_step();
        self.history.arrive_message(row.reply.clone());
        let joined = self.join_reply();
        if !row.results.is_empty() || !joined.is_empty() {
            self.history.begin_results();
        }
        for item in row.results.clone() {
            self.history.arrive(item);
            if self.timeline.spine.items[item as usize].kind == Kind::ToolResult {
                self.project(Moment::Entry, turn_ix, step);
            }
        }
        joined.into_iter().for_each(|(call, asked)| self.enter_fetched(&call, asked, turn_ix));
    }

    fn needs(&mut self, turn_ix: usize, step: usize, due: Due) -> Result<(), FailureKind> {
        let (timeline, policy, world) = (self.timeline, self.policy, &self.world);
        let meet = |need| needs::meet(timeline, policy, world, &self.history, turn_ix as u32, need);
        let rows = timeline.needs.due(turn_ix as u32, due).iter().map(|it| (meet(it), (true, it.source)));
        self.settle_needs(rows.collect(), turn_ix, step, due)
    }

    fn item_needs(&mut self, turn_ix: usize, step: usize) -> Result<(), FailureKind> {
        let (timeline, policy, world) = (self.timeline, self.policy, &self.world);
        let meet = |need| needs::meet_item(timeline, policy, world, &self.history, turn_ix as u32, need);
        let due = timeline.needs.of_items().iter().filter(|it| it.inferred.step as usize == step);
        let rows = due.map(|it| (meet(it), (false, it.inferred.item))).collect();
        self.settle_needs(rows, turn_ix, step, Due::Answer)
    }

    /// Weighs the needs of a moment, or draws them.
    fn settle_needs(
        &mut self,
        rows: Vec<(NeedRow, Source)>,
        turn_ix: usize,
        step: usize,
        due: Due,
    ) -> Result<(), FailureKind> {
        if self.drawn.is_some() {
            return self.draw(rows, turn_ix, step, due);
        }
        rows.into_iter().for_each(|(row, source)| self.expect(row, source));
        Ok(())
    }

    fn expect(&mut self, row: NeedRow, source: Source) {
        let (history, last_read) = (&self.history, self.last_read);
        let is_met = row.met >= 1.0;
        let row =
            needs::expect(self.timeline, self.rules, history, &mut self.expected, row, source, last_read);
        if !is_met {
            self.was_carried = needs::carried(&mut self.expected, &self.history) > 0.0;
        }
        self.rows.needs.push(row);
    }

    fn tool_results(&self) -> ToolResults {
        let mut sums = ToolResults::default();
        for (index, slot) in self.history.slots.iter().enumerate() {
            let item = self.history.item(index);
            if index >= self.timeline.spine.n_stable as usize && item.kind == Kind::ToolResult {
                sums.raw_tokens += u64::from(item.raw);
                sums.visible_tokens += slot.last_tokens;
                sums.compressed += u64::from(slot.was_compressed);
            }
        }
        sums
    }
}
