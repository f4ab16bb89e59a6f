//! Needs that are drawn: what happened of each, and what was fetched for it.

use ctxsim::ledger::{ExploredRow, FailureKind, NeedRow};
use ctxsim::recovery::{End, Explores, Terms};
use ctxsim::timeline::{Due, Item, Level, NO_ITEM, Session, Spine, StepRow};
use xxhash_rust::xxh3::xxh3_64;

use super::history::Stands;
use super::needs::{Source, is_exact, meets};

use super::*;

/// What was drawn and fetched so far.
pub(super) struct Drawn {
    seed: Seed,
    /// The seed of the session, and how many of its needs were drawn.
    session: (Seed, u64),
    /// What was fetched, where it stands and what it meets.
    fetched: Vec<(Source, Level, usize)>,
    /// Calls that join the step that is due.
    joining: Vec<Call>,
    n_calls: u64,
    /// How many requests of the session looked for something to look up anew.
    n_explored: u64,
}

/// A call, with what it brings.
#[derive(Clone)]
pub(super) struct Call {
    source: Option<Source>,
    meets: Level,
    asks: Item,
    brings: Item,
    has_own_request: bool,
}

impl Drawn {
    pub(super) fn new(seed: Seed) -> Self {
        Self { seed, session: (seed, 0), fetched: Vec::new(), joining: Vec::new(), n_calls: 0, n_explored: 0 }
    }

    pub(super) fn begin_session(&mut self, timeline: &Timeline, session: &Session) {
        let mut name = session.id.clone().into_bytes();
        if name.is_empty() {
            let turns = &timeline.spine.turns[session.turns.start as usize..session.turns.end as usize];
            for item in turns.iter().flat_map(|it| it.items.clone()) {
                name.extend(timeline.spine.items[item as usize].digest.to_le_bytes());
            }
        }
        self.session = (self.seed.child("session", xxh3_64(&name)), 0);
        self.n_explored = 0;
    }

    /// The tokens of the calls that join the reply that is due.
    pub(super) fn joining_tokens(&self) -> u64 {
        self.joining.iter().map(|it| u64::from(it.asks.raw)).sum()
    }

    /// The calls that a need takes which comes to this.
    fn calls(&mut self, row: &NeedRow, source: Source, timeline: &Timeline, is_own: bool) -> Vec<Call> {
        let Some(old) = result(&timeline.spine, source, row.level) else { return Vec::new() };
        let call = timeline.spine.items.get(old.pair as usize);
        let call = call.copied().unwrap_or(Item { kind: Kind::ToolCall, ..old });
        let mut new = |item: Item, raw: u32| {
            self.n_calls += 1;
            let (summary, handle) = (item.summary.min(raw), item.handle.min(raw));
            let digest = xxh3_64(&self.n_calls.to_le_bytes());
            Item { digest, raw, excerpt: raw, summary, handle, pair: NO_ITEM, origin: NO_ITEM, ..item }
        };
        let is_whole = row.fetched >= u64::from(old.raw);
        let mut one = || Call {
            source: Some(source),
            meets: meets(timeline, row, source),
            asks: new(call, timeline.refetch.terms(End::Value).call_tokens),
            brings: Item {
                origin: if is_whole { old.origin } else { NO_ITEM },
                ..new(old, row.fetched as u32)
            },
            has_own_request: is_own,
        };
        (0..row.calls as u64).map(|_| one()).collect()
    }
}

/// The result that is fetched: of a turn the largest, of its working evidence where that is asked for and there is any.
fn result(spine: &Spine, source: Source, level: Level) -> Option<Item> {
    let (true, turn_ix) = source else { return Some(spine.items[source.1 as usize]) };
    let items = &spine.turns[turn_ix as usize].items;
    let items = spine.items[items.start as usize..items.end as usize].iter();
    let results: Vec<Item> = items.filter(|it| it.kind == Kind::ToolResult).copied().collect();
    let is_asked = |it: &&Item| level == Level::ExactEvidence && is_exact(it);
    let largest = |results: &[&Item]| results.iter().rev().max_by_key(|it| it.raw).map(|it| **it);
    let asked: Vec<&Item> = results.iter().filter(is_asked).collect();
    largest(&asked).or_else(|| largest(&results.iter().collect::<Vec<_>>()))
}

impl Run<'_> {
    /// Draws all needs of a moment, then fetches what they ask for.
    pub(super) fn draw(
        &mut self,
        rows: Vec<(NeedRow, Source)>,
        turn_ix: usize,
        step: usize,
        due: Due,
    ) -> Result<(), FailureKind> {
        let terms = self.timeline.refetch.terms(End::Value);
        let mut asked = Vec::new();
        for (row, source) in rows {
            let calls = self.draw_one(row, source, &asked, terms);
            asked.extend(calls);
        }
        asked.into_iter().try_for_each(|call| self.fetch(call, turn_ix, step, due))
    }

    fn draw_one(&mut self, mut row: NeedRow, source: Source, asked: &[Call], terms: Terms) -> Vec<Call> {
        let Some(drawn) = &mut self.drawn else { return Vec::new() };
        let stands = |slot: usize| {
            let view = &self.history.slots[slot].view;
            view.stands == Stands::Shown && view.rendition == ShownAs::Raw
        };
        let is_enough = |of: Source, level: Level| of == source && level >= row.level;
        if drawn.fetched.iter().any(|it| is_enough(it.0, it.1) && stands(it.2))
            || drawn.joining.iter().chain(asked).any(|it| it.source.is_some_and(|of| is_enough(of, it.meets)))
        {
            row.met = 1.0;
        }
        let (seed, nth) = drawn.session;
        drawn.session.1 += 1;
        let unmet = row.weight * (1.0 - row.met);
        let happens = seed.nth("recovery", nth, 0).unit() < unmet;
        let certain = |expected: f64| if happens { (expected / unmet).round() } else { 0.0 };
        (row.calls, row.repeats, row.failed) =
            (certain(row.calls), certain(row.repeats), certain(row.failed));
        row.is_sent = row.calls > 0.0;
        self.rows.needs.push(row);
        let is_own = seed.nth("recovery request", nth, 0).unit() < terms.own_request;
        drawn.calls(&row, source, self.timeline, is_own)
    }

    /// Draws what is looked up anew, of missing tokens, and fetches it.
    pub(super) fn draw_explored(
        &mut self,
        missing: f64,
        explores: &Explores,
        turn_ix: usize,
        step: usize,
    ) -> Result<(), FailureKind> {
        let working = self.history.tokens() - self.history.stable_tokens();
        let expected = explores.calls(missing, working as f64);
        let spine = &self.timeline.spine;
        let before = 0..spine.steps[step].reply.start as usize;
        let is_result = |it: &&Item| it.kind == Kind::ToolResult;
        let like = spine.items[before].iter().rfind(is_result).or_else(|| spine.items.iter().find(is_result));
        let (Some(drawn), Some(like), true) = (&mut self.drawn, like, missing > 0.0) else { return Ok(()) };
        let (seed, nth) = (drawn.session.0, drawn.n_explored);
        drawn.n_explored += 1;
        let n = (expected + seed.nth("exploration", nth, 0).unit()).floor() as u64;
        let terms = self.timeline.refetch.terms(End::Value);
        let mut calls = Vec::new();
        for it in 0..n {
            let size = explores.fetched_tokens[seed.nth("exploration size", nth, it).between(0, 9) as usize];
            let is_own = seed.nth("exploration request", nth, it).unit() < terms.own_request;
            let call = spine.items.get(like.pair as usize);
            let call = call.copied().unwrap_or(Item { kind: Kind::ToolCall, ..*like });
            let mut new = |item: Item, raw: u32| {
                drawn.n_calls += 1;
                let (summary, handle) = (item.summary.min(raw), item.handle.min(raw));
                let digest = xxh3_64(&drawn.n_calls.to_le_bytes());
                Item { digest, raw, excerpt: raw, summary, handle, pair: NO_ITEM, origin: NO_ITEM, ..item }
            };
            calls.push(Call {
                source: None,
                meets: Level::None,
                asks: new(call, terms.call_tokens),
                brings: new(*like, size),
                has_own_request: is_own,
            });
        }
        if n > 0 {
            let fetched = calls.iter().map(|it| f64::from(it.brings.raw)).sum();
            let (turn_ix, step) = (turn_ix as u32, step as u32);
            self.rows.explored.push(ExploredRow { turn_ix, step, calls: n as f64, fetched, tokens: None });
        }
        calls.into_iter().try_for_each(|call| self.fetch(call, turn_ix, step, Due::Answer))
    }

    /// Fetches in a request of its own, for which and behind which the stages are considered, or along with the step.
    fn fetch(&mut self, call: Call, turn_ix: usize, step: usize, due: Due) -> Result<(), FailureKind> {
        if !call.has_own_request {
            self.drawn.iter_mut().for_each(|it| it.joining.push(call.clone()));
            return Ok(());
        }
        if due != Due::Answer {
            self.project(Moment::Request, turn_ix, step);
        }
        let at_ms = self.clock.now_ms;
        let output_tokens = call.asks.raw.into();
        let (reply, results) = (0..0, 0..0);
        let reply = StepRow { at_ms, response_ms: at_ms, end_ms: at_ms, reply, results, output_tokens };
        self.send(turn_ix, step, &reply, true)?;
        self.history.begin_step();
        self.history.begin_message();
        let asked = self.history.add(Item { turn_ix: turn_ix as u32, ..call.asks });
        self.history.begin_results();
        self.enter_fetched(&call, asked, turn_ix);
        match due {
            Due::TurnStart => {}
            Due::Answer => self.project(Moment::Request, turn_ix, step),
            Due::TurnEnd => self.project(Moment::TurnEnd, turn_ix, step),
        }
        Ok(())
    }

    /// Lets what a call brings come as it is; it is evidence of the turn in which it comes.
    pub(super) fn enter_fetched(&mut self, call: &Call, asked: usize, turn_ix: usize) {
        let item = Item { pair: asked as u32, turn_ix: turn_ix as u32, ..call.brings };
        let slot = self.history.add(item);
        let Some(source) = call.source else { return };
        let evidence = &mut self.history.evidence[turn_ix];
        evidence.n_results += 1;
        evidence.n_working += u32::from(is_exact(&item));
        evidence.has_handle |= item.handle > 0;
        evidence.raw = evidence.raw.max(item.raw);
        self.drawn.iter_mut().for_each(|it| it.fetched.push((source, call.meets, slot)));
    }

    /// Lets the calls come that join a reply; returns where they stand.
    pub(super) fn join_reply(&mut self) -> Vec<(Call, usize)> {
        let joining = self.drawn.as_mut().map(|it| std::mem::take(&mut it.joining)).unwrap_or_default();
        let turn_ix = self.history.turns.len() as u32 - 1;
        let come = |call: Call| (call.clone(), self.history.add(Item { turn_ix, ..call.asks }));
        joining.into_iter().map(come).collect()
    }
}
