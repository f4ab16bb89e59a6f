//! A naive simulator that makes the same edits as the engine.
//!
//! It rescans every slot, recounts every total and compares
//! whole prompts at each request. It is written from what the policy language says, and shares no code with it.

mod apply;
mod ask;
mod cache;
mod fold;
mod history;
mod needs;
mod scope;
mod size;

use ctxsim::ledger::{CacheUse, Change, Failure, FailureKind, Outcome, RequestRow, Role, Rows, ToolResults};
use ctxsim::model::policy::Moment;
use ctxsim::model::{CacheRules, Limits, Policy};
use ctxsim::timeline::{Due, Kind, Timeline};

use cache::Cache;
use history::{Counts, History};
use size::World;

/// Plays a timeline under a policy, slowly.
pub(crate) fn simulate(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
) -> (Rows, Outcome) {
    let mut run = Run {
        timeline,
        policy,
        world: World { limits: *limits, chars_per_token: timeline.chars_per_token },
        history: History::new(timeline),
        cache: Cache::new(rules),
        seen: vec![Counts::default(); policy.stages.len()],
        clock: Clock { ttl_ms: rules.ttl_ms(), ..Clock::default() },
        last_request_ms: None,
        next_n: vec![0; timeline.spine.steps.len() + 1],
        rows: Rows::default(),
        outcome: Outcome::default(),
    };
    run.play();
    run.rows.stored = run.cache.stored();
    (run.rows, run.outcome)
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
    cache: Cache,
    /// What had come when each stage was last considered.
    seen: Vec<Counts>,
    clock: Clock,
    last_request_ms: Option<i64>,
    /// How many requests each step has made.
    next_n: Vec<u32>,
    rows: Rows,
    outcome: Outcome,
}

impl Run<'_> {
    fn play(&mut self) {
        let n_turns = self.timeline.spine.turns.len();
        self.outcome.turns_requested = n_turns as u32;
        for turn_ix in 0..n_turns {
            self.outcome.turns_started += 1;
            if let Some(kind) = self.play_turn(turn_ix) {
                self.outcome.failure = Some(Failure { turn: turn_ix as u32 + 1, kind });
                break;
            }
            self.outcome.turns_completed += 1;
        }
        self.outcome.tool_results = self.tool_results();
    }

    fn play_turn(&mut self, turn_ix: usize) -> Option<FailureKind> {
        let row = &self.timeline.spine.turns[turn_ix];
        let (first, end) = (row.steps.start as usize, row.steps.end as usize);
        self.history.n_turns += 1;
        self.history.arrive_message(row.user.clone());
        self.wait_for(first);
        self.project(Moment::TurnStart, turn_ix, first);
        self.needs(turn_ix, Due::TurnStart);
        for step in first..end {
            self.wait_for(step);
            self.project(Moment::Request, turn_ix, step);
            for need in self.timeline.needs.of_items().iter().filter(|it| it.inferred.step as usize == step) {
                let (policy, world) = (self.policy, &self.world);
                let row = needs::meet_item(self.timeline, policy, world, &self.history, turn_ix as u32, need);
                self.rows.needs.push(row);
            }
            if step + 1 == end {
                self.needs(turn_ix, Due::Answer);
            }
            if !self.request(turn_ix, step) {
                return Some(self.failure(first, step));
            }
            self.answer(turn_ix, step);
        }
        self.project(Moment::TurnEnd, turn_ix, end.saturating_sub(1).max(first));
        self.needs(turn_ix, Due::TurnEnd);
        None
    }

    /// Moves the clock to the request of a step, if there is such a step.
    fn wait_for(&mut self, step: usize) {
        let Some(row) = self.timeline.spine.steps.get(step) else { return };
        let idle = self.last_request_ms.map_or(0, |last| row.at_ms - last);
        self.clock.now_ms = row.at_ms;
        self.clock.idle_ms = u64::try_from(idle).unwrap_or(0);
    }

    fn project(&mut self, moment: Moment, turn_ix: usize, step: usize) {
        for index in 0..self.policy.stages.len() {
            if self.policy.stages[index].at.contains(&moment) {
                self.consider(index, moment);
            }
        }
        for request in std::mem::take(&mut self.history.requests) {
            let row = RequestRow {
                turn_ix: turn_ix as u32,
                step: step as u32,
                n: self.number(step),
                role: Role::Summariser,
                at_ms: self.clock.now_ms,
                prompt: request.prompt,
                usage: CacheUse { uncached: request.prompt, ..CacheUse::default() },
                output: request.output,
                change: Change::default(),
                items: request.n_turns,
            };
            self.rows.requests.push(row);
        }
    }

    fn number(&mut self, step: usize) -> u32 {
        self.next_n[step] += 1;
        self.next_n[step] - 1
    }

    fn request(&mut self, turn_ix: usize, step: usize) -> bool {
        let prompt = self.history.tokens();
        let output = self.timeline.spine.steps[step].output_tokens;
        let row = RequestRow {
            turn_ix: turn_ix as u32,
            step: step as u32,
            n: self.number(step),
            role: Role::Main,
            at_ms: self.clock.now_ms,
            prompt,
            usage: self.cache.submit(&self.history, &self.timeline.spine.steps[step], &self.policy.layout),
            output,
            change: self.history.change,
            items: 0,
        };
        self.rows.requests.push(row);
        self.history.settle();
        self.last_request_ms = Some(self.clock.now_ms);
        self.clock.idle_ms = 0;
        let limits = self.world.limits;
        let violations = u32::from(prompt > limits.prompt) + u32::from(output > limits.output);
        self.outcome.limit_violations += violations;
        violations == 0
    }

    fn answer(&mut self, turn_ix: usize, step: usize) {
        let row = &self.timeline.spine.steps[step];
        self.history.n_steps += 1;
        self.history.arrive_message(row.reply.clone());
        for item in row.results.clone() {
            if item == row.results.start {
                self.history.begin_message();
            }
            self.history.arrive(item);
            if self.timeline.spine.items[item as usize].kind == Kind::ToolResult {
                self.project(Moment::Entry, turn_ix, step);
            }
        }
    }

    fn needs(&mut self, turn_ix: usize, due: Due) {
        for need in self.timeline.needs.due(turn_ix as u32, due) {
            let row =
                needs::meet(self.timeline, self.policy, &self.world, &self.history, turn_ix as u32, need);
            self.rows.needs.push(row);
        }
    }

    fn failure(&self, first: usize, step: usize) -> FailureKind {
        let asks_tool = |step: &usize| !self.timeline.spine.steps[*step].results.is_empty();
        let n_asking = (first..=step).filter(asks_tool).count() as u32;
        match (asks_tool(&step), n_asking) {
            (true, n) => FailureKind::ToolRequest(n),
            (false, 0) => FailureKind::FinalNoTool,
            (false, _) => FailureKind::FinalAfterTools,
        }
    }

    fn tool_results(&self) -> ToolResults {
        let mut sums = ToolResults::default();
        for (index, slot) in self.history.slots.iter().enumerate() {
            let item = &self.timeline.spine.items[index];
            if index >= self.history.n_stable() && item.kind == Kind::ToolResult {
                sums.raw_tokens += u64::from(item.raw);
                sums.visible_tokens += slot.last_tokens;
                sums.compressed += u64::from(slot.was_compressed);
            }
        }
        sums
    }
}
