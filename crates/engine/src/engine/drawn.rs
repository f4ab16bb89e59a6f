//! Needs that are drawn and not weighed: what a drawn need fetches enters the history as a call and its result.
//!
//! A draw is a function of the seed, the session, and the need's place in it, and is held against the share of the need that the
//! prompt does not meet: of two policies, the one that meets more fetches a part of what the other fetches.

use crate::prelude::*;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::EngineRun;
use super::send::ModelReply;
use crate::ledger::{ExploredRow, FailureKind, NeedRow};
use crate::recovery::{Explores, NeedSource, Terms, item_state};
use ctxsim_timeline::evidence::Recover;
use ctxsim_timeline::{Due, ItemNeed, Level, Need, Session, TurnEvidence};

/// Tells what is looked up anew from what is fetched for a need.
const EXPLORED: u64 = 1;

/// How needs are drawn, and what was fetched.
#[derive(Clone, Debug)]
pub(super) struct DrawnNeeds {
    seed: Seed,
    /// The seed of the session's draws, and how many needs of it have been drawn.
    session: (Seed, u64),
    /// How many requests of the session may have looked something up anew.
    n_explored: u64,
    /// What the turns hold, with what was fetched in them.
    evidence: Vec<TurnEvidence>,
    /// By source: what was fetched of it.
    fetched: BTreeMap<NeedSource, Vec<Fetched>>,
    /// Calls that join the step that is due, each with what it brings.
    riding: Vec<(DrawnCall, [Item; 2])>,
    /// Calls of needs that are due at this moment.
    asked: Vec<DrawnCall>,
}

/// Something that was fetched and stands in the history.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    slot: SlotIx,
    /// What it meets.
    level: Level,
}

/// A call that was drawn: for a need, or to look something up anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawnCall {
    /// What is needed; `None` for what is looked up anew.
    source: Option<NeedSource>,
    meets: Level,
    /// The result that is fetched, or one like it.
    item: ItemIx,
    tokens: Tokens,
    /// How many calls it takes.
    count: u64,
    has_own_request: bool,
    id: u64,
}

impl DrawnNeeds {
    pub(super) fn new(timeline: &Timeline, seed: Seed) -> Self {
        Self {
            seed,
            session: (seed, 0),
            n_explored: 0,
            evidence: timeline.needs.evidence.clone(),
            fetched: BTreeMap::new(),
            riding: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// Begins the draws of a session: by what its log calls it, else by what it holds.
    pub(super) fn begin_session(&mut self, spine: &Spine, session: &Session) {
        self.session = (self.seed.child("session", spine.draws(session)), 0);
        self.n_explored = 0;
    }

    /// Turns an expected row into one that happened or did not; returns the need's place in its session.
    fn settle(&mut self, row: &NeedRow) -> (NeedRow, u64) {
        let (seed, id) = self.session;
        self.session.1 += 1;
        let unit = seed.nth("recovery", id, 0).unit();
        let unmet = row.weight * (1.0 - row.met);
        if unmet <= 0.0 || unit >= unmet {
            return (NeedRow { calls: 0.0, repeats: 0.0, failed: 0.0, ..*row }, id);
        }
        let row = NeedRow {
            calls: (row.calls / unmet).round(),
            repeats: (row.repeats / unmet).round(),
            failed: if row.failed > 0.0 { 1.0 } else { 0.0 },
            is_sent: row.calls > 0.0,
            ..*row
        };
        (row, id)
    }

    /// Returns whether something that was fetched before meets a need.
    fn has_met(&self, source: NeedSource, level: Level, prompt: &Prompt<'_>) -> bool {
        let mut coming = self.riding.iter().map(|it| &it.0).chain(&self.asked);
        self.fetched.get(&source).into_iter().flatten().any(|it| {
            let slot = prompt.slot(it.slot);
            it.level >= level && slot.state == State::Shown && slot.rendition == ShownAs::Raw
        }) || coming.any(|it| it.source == Some(source) && it.meets >= level)
    }

    /// Returns the call that a need takes, where it takes any.
    fn call(
        &self,
        spine: &Spine,
        source: NeedSource,
        row: &NeedRow,
        id: u64,
        terms: Option<Terms>,
    ) -> Option<DrawnCall> {
        let item = match source {
            NeedSource::Item(item) => Some(item),
            NeedSource::Turn(of) => result_of(spine, of, row.level),
        };
        let own_request = terms.map_or(1.0, |it| it.own_request);
        Some(DrawnCall {
            source: Some(source),
            meets: source.meets(row, spine),
            item: item.filter(|_| row.calls > 0.0)?,
            tokens: row.fetched,
            count: row.calls as u64,
            has_own_request: self.session.0.nth("recovery request", id, 0).unit() < own_request,
            id,
        })
    }

    /// Draws the calls of a request that look something up anew, of those that are expected; they bring results like a known one.
    fn explore(&mut self, expected: f64, like: ItemIx, terms: &Terms, explores: &Explores) -> Vec<DrawnCall> {
        let (session, id) = (self.session.0, self.n_explored);
        self.n_explored += 1;
        let n = (expected + session.nth("exploration", id, 0).unit()).floor() as u64;
        let one = |nth: u64| {
            let sizes = &explores.fetched_tokens;
            let at = session.nth("exploration size", id, nth).between(0, sizes.len() as u64 - 1);
            DrawnCall {
                source: None,
                meets: Level::None,
                item: like,
                tokens: Tokens::from(sizes[at as usize]),
                count: 1,
                has_own_request: session.nth("exploration request", id, nth).unit() < terms.own_request,
                id: xxh3_64_with_seed(&[id, nth].map(u64::to_le_bytes).concat(), EXPLORED),
            }
        };
        (0..n).map(one).collect()
    }
}

impl<P: Projector + ?Sized, S: Sink> EngineRun<'_, '_, P, S> {
    /// Draws the needs that are due at a moment of a turn.
    #[inline(never)]
    pub(super) fn draw_needs(
        &mut self,
        needs: &[Need],
        turn_ix: TurnIx,
        step: StepIx,
        due: Due,
    ) -> Result<(), FailureKind> {
        for need in needs {
            let Some(drawn) = &mut self.drawn else { return Ok(()) };
            let source = NeedSource::Turn(need.source);
            let evidence = drawn.evidence[need.source as usize];
            let stands = self.prompt.turn_state(need.source);
            let row = self.ways[0].recovery.meet(turn_ix, need, &evidence, &stands, true);
            self.draw(row, source);
        }
        self.fetch_asked(turn_ix, step, due)
    }

    /// Draws what a step's calls need of single results.
    #[inline(never)]
    pub(super) fn draw_item_needs(
        &mut self,
        needs: &[ItemNeed],
        turn_ix: TurnIx,
        step: StepIx,
    ) -> Result<(), FailureKind> {
        for it in needs {
            let slot = self.prompt.history().slot_of(it.inferred.item);
            let stands = item_state(&self.prompt, slot, self.timeline.needs.mentions(it));
            let row = self.ways[0].recovery.meet(turn_ix, &it.need, &it.evidence, &stands, true);
            let row = NeedRow { inferred: Some(it.inferred), ..row };
            self.draw(row, NeedSource::Item(it.inferred.item));
        }
        self.fetch_asked(turn_ix, step, Due::Answer)
    }

    /// Draws a need, records it, and notes the call that it takes.
    fn draw(&mut self, mut row: NeedRow, source: NeedSource) {
        let Some(drawn) = &mut self.drawn else { return };
        if drawn.has_met(source, row.level, &self.prompt) {
            row.met = 1.0;
        }
        let (row, id) = drawn.settle(&row);
        self.sinks.iter_mut().for_each(|sink| sink.need(&row));
        let call = drawn.call(&self.timeline.spine, source, &row, id, self.ways[0].recovery.terms());
        drawn.asked.extend(call);
    }

    /// Fetches what the needs of a moment ask for, once all of them are drawn.
    fn fetch_asked(&mut self, turn_ix: TurnIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        let asked = self.drawn.as_mut().map(|it| std::mem::take(&mut it.asked));
        for call in asked.unwrap_or_default() {
            self.fetch(call, turn_ix, step, due)?;
        }
        Ok(())
    }

    /// Draws what is looked up anew before a step's request because of removed tokens, and makes its calls.
    #[inline(never)]
    pub(super) fn draw_explored(
        &mut self,
        removed: f64,
        turn_ix: TurnIx,
        step: StepIx,
    ) -> Result<(), FailureKind> {
        let Some((terms, drawn)) = self.ways[0].recovery.terms().zip(self.drawn.as_mut()) else {
            return Ok(());
        };
        let Some(explores) = terms.explores else { return Ok(()) };
        // The last result before the step, or else the first of all.
        let spine = &self.timeline.spine;
        let is_result = |it: &ItemIx| spine.items[*it as usize].kind == Kind::ToolResult;
        let first = spine.steps.get(step as usize).map_or(0, |it| it.reply.start);
        let later = || (first..ix(spine.items.len())).find(is_result);
        let Some(like) = (0..first).rev().find(is_result).or_else(later) else { return Ok(()) };
        let working = self.prompt.tokens() - self.prompt.stable_tokens();
        let calls = drawn.explore(explores.calls(removed, working as f64), like, &terms, &explores);
        if calls.is_empty() {
            return Ok(());
        }
        let fetched = calls.iter().map(|it| it.tokens as f64).sum();
        let row = ExploredRow { turn_ix, step, calls: calls.len() as f64, fetched, tokens: None };
        self.sinks.iter_mut().for_each(|sink| sink.explored(&row));
        calls.into_iter().try_for_each(|it| self.fetch(it, turn_ix, step, Due::Answer))
    }

    /// Fetches what a need asks for: in requests of its own before the one that is due, or along with its step.
    fn fetch(&mut self, call: DrawnCall, turn_ix: TurnIx, step: StepIx, due: Due) -> Result<(), FailureKind> {
        for nth in 0..call.count {
            let items = self.items_of(&call, nth);
            if !call.has_own_request {
                if let Some(drawn) = &mut self.drawn {
                    drawn.riding.push((call, items));
                }
                continue;
            }
            if due != Due::Answer {
                self.project(Moment::Request, turn_ix, step);
            }
            self.n_asking += 1;
            let now_ms = self.ambient.now_ms;
            let output = Tokens::from(items[0].raw);
            let (asks, fetches) = (true, true);
            let reply = ModelReply { response_ms: now_ms, end_ms: now_ms, tail: 0, output, asks, fetches };
            self.send(turn_ix, step, &reply)?;
            self.prompt.begin_step();
            self.prompt.begin_message();
            let asked = self.prompt.add(items[0]);
            self.prompt.begin_results();
            self.enter_fetched(&call, asked, items[1], turn_ix);
            match due {
                Due::Answer => self.project(Moment::Request, turn_ix, step),
                Due::TurnEnd => self.project(Moment::TurnEnd, turn_ix, step),
                Due::TurnStart => {}
            }
        }
        Ok(())
    }

    /// Makes the items of a call and of what it brings.
    fn items_of(&self, call: &DrawnCall, nth: u64) -> [Item; 2] {
        let spine = &self.timeline.spine;
        let old = spine.items[call.item as usize];
        let asked =
            spine.items.get(old.pair as usize).copied().unwrap_or(Item { kind: Kind::ToolCall, ..old });
        let call_tokens = self.ways[0].recovery.terms().map_or(asked.raw, |it| it.call_tokens);
        let fetched = saturated(call.tokens);
        let id = [call.id, nth].map(u64::to_le_bytes).concat();
        let new = |item: Item, raw: u32, part| Item {
            digest: xxh3_64_with_seed(&id, old.digest ^ part),
            raw,
            excerpt: raw,
            summary: item.summary.min(raw),
            handle: item.handle.min(raw),
            pair: NO_ITEM,
            origin: NO_ITEM,
            ..item
        };
        let is_whole = call.source.is_some() && fetched >= old.raw;
        let whole = if is_whole { call.item } else { NO_ITEM };
        [new(asked, call_tokens, 0), Item { origin: whole, ..new(old, fetched, 1) }]
    }

    /// Lets what a call brings enter, raw whatever the policy does with results that enter.
    pub(super) fn enter_fetched(&mut self, call: &DrawnCall, asked: SlotIx, item: Item, turn_ix: TurnIx) {
        let slot = self.prompt.add(Item { pair: asked, ..item });
        if let Some((drawn, source)) = self.drawn.as_mut().zip(call.source) {
            drawn.evidence[turn_ix as usize].add(self.prompt.item(slot), &Recover::default(), false);
            let fetched = Fetched { slot, level: call.meets };
            drawn.fetched.entry(source).or_default().push(fetched);
        }
    }

    /// Returns the tokens that calls add to the reply that is due, which they join.
    #[inline]
    pub(super) fn riding_output(&self) -> Tokens {
        let riding = self.drawn.as_ref().map_or(&[] as &[_], |it| it.riding.as_slice());
        riding.iter().map(|(_, items)| Tokens::from(items[0].raw)).sum()
    }

    /// Lets the calls come that join a reply; returns what they bring, for when its results come.
    pub(super) fn join_reply(&mut self) -> Vec<(DrawnCall, SlotIx, Item)> {
        let Some(drawn) = &mut self.drawn else { return Vec::new() };
        let riding = std::mem::take(&mut drawn.riding);
        riding.into_iter().map(|(call, [asked, item])| (call, self.prompt.add(asked), item)).collect()
    }
}

/// Returns the result that a call fetches for a need of a whole turn: the largest, of working evidence where there is any.
fn result_of(spine: &Spine, turn_ix: TurnIx, level: Level) -> Option<ItemIx> {
    let row = spine.turns.get(turn_ix as usize)?;
    let results = row.items.clone().filter(|it| spine.items[*it as usize].kind == Kind::ToolResult);
    results.max_by_key(|it| {
        let item = &spine.items[*it as usize];
        let is_asked = level == Level::ExactEvidence && item.preserve.is_exact();
        (is_asked, item.raw, std::cmp::Reverse(*it))
    })
}
