//! What fills the prompts of a recorded session, and what it costs to carry from request to request.
//!
//! Nothing is simulated: an item's position in a prompt determines whether its tokens were read from the
//! cache, written to it or uncached, from the provider's bill of that prompt.

use std::collections::BTreeSet;

use ctxsim_base::quantity::Tokens;
use ctxsim_input::profile::price::Prices;
use ctxsim_timeline::{EventKind, Item, ItemIx, Kind, StepIx, Timeline, TurnIx, Usage};

/// An item of a session and the cost of carrying it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedItem {
    pub item: ItemIx,
    /// The turn in which it entered.
    pub turn_ix: TurnIx,
    /// The first request whose prompt held it.
    pub first: StepIx,
    /// What it is.
    pub kind: Kind,
    pub tokens: Tokens,
    /// The number of later requests that sent it again.
    pub resent: u32,
    /// Its cost in its first request, in US dollars.
    pub entered_usd: f64,
    /// Its cost in later requests.
    pub carried_usd: f64,
    /// Whether a later call needed it; `None` if it is not a tool result, or if needs are unknown.
    pub is_needed: Option<bool>,
}

/// Follows every item of a session through its billed prompts; unpriced tokens cost as much as uncached
/// input.
pub fn carried_items(timeline: &Timeline, prices: &Prices) -> Vec<CarriedItem> {
    let needed: BTreeSet<ItemIx> = timeline.needs.of_items().iter().map(|it| it.inferred.item).collect();
    let spine = &timeline.spine;
    let mut all: Vec<Option<CarriedItem>> = vec![None; spine.items.len()];
    each_prompt(timeline, |step, usage, items| {
        let rates = RatesByPlace::new(timeline, prices, usage);
        let mut at = 0;
        for &item in items {
            let of = &spine.items[item as usize];
            let cost = rates.cost(at, at + Tokens::from(of.raw));
            at += Tokens::from(of.raw);
            match &mut all[item as usize] {
                Some(carried) => {
                    carried.resent += 1;
                    carried.carried_usd += cost;
                }
                none => *none = Some(entered(item, of, step, cost, &needed, !timeline.needs.is_empty())),
            }
        }
    });
    all.into_iter().flatten().collect()
}

/// Hands over the billed prompts of a session, each with its bill and its items in order.
pub fn each_prompt(timeline: &Timeline, mut each: impl FnMut(StepIx, Usage, &[ItemIx])) {
    let spine = &timeline.spine;
    let mut window = CarriedItems::new(timeline);
    for (session, row) in spine.sessions.iter().enumerate() {
        window.begin(session);
        for turn in row.turns.clone() {
            for step in spine.turns[turn as usize].steps.clone() {
                window.reach(step);
                if let Some(usage) = usage(timeline, step) {
                    each(step, usage, &window.items);
                }
            }
        }
    }
}

/// Returns what tokens at the very front of every billed prompt cost, in US dollars: what a memory file of that size costs there.
pub fn at_front(timeline: &Timeline, prices: &Prices, tokens: Tokens) -> f64 {
    let usages = timeline.recorded.iter().flat_map(|it| it.usage.iter().flatten());
    usages.map(|it| RatesByPlace::new(timeline, prices, *it).cost(0, tokens)).sum()
}

/// Returns an item at its first request.
fn entered(
    item: ItemIx,
    of: &Item,
    first: StepIx,
    cost: f64,
    needed: &BTreeSet<ItemIx>,
    knows: bool,
) -> CarriedItem {
    CarriedItem {
        item,
        turn_ix: of.turn_ix,
        first,
        kind: of.kind,
        tokens: of.raw.into(),
        resent: 0,
        entered_usd: cost,
        carried_usd: 0.0,
        is_needed: (knows && of.kind == Kind::ToolResult).then(|| needed.contains(&item)),
    }
}

pub(super) fn usage(timeline: &Timeline, step: StepIx) -> Option<Usage> {
    timeline.recorded.as_ref()?.usage.get(step as usize).copied().flatten()
}

/// The items of a prompt, in order.
pub(super) struct CarriedItems<'t> {
    timeline: &'t Timeline,
    pub(super) items: Vec<ItemIx>,
    stable: std::ops::Range<ItemIx>,
    /// The first item that has not arrived.
    pub(super) next: ItemIx,
    n_events: usize,
}

impl<'t> CarriedItems<'t> {
    pub(super) fn new(timeline: &'t Timeline) -> Self {
        Self { timeline, items: Vec::new(), stable: 0..timeline.spine.n_stable, next: 0, n_events: 0 }
    }

    /// Begins a session with its stable prefix, or with the previous session's.
    pub(super) fn begin(&mut self, session: usize) {
        let own = &self.timeline.spine.sessions[session].stable;
        if !own.is_empty() {
            self.stable = own.clone();
        }
        self.items = self.stable.clone().collect();
        self.next = self.next.max(self.stable.end);
    }

    /// Adds what arrived before a step's request, and removes what the harness removed.
    pub(super) fn reach(&mut self, step: StepIx) {
        let end = self.timeline.spine.steps[step as usize].reply.start;
        self.items.extend(self.next..end.max(self.next));
        self.next = self.next.max(end);
        while let Some(event) = self.timeline.events.get(self.n_events) {
            if self.timeline.spine.step_at(event.at) > step {
                break;
            }
            self.n_events += 1;
            if let EventKind::Reset(gone) = &event.kind {
                self.items.retain(|it| !gone.contains(it));
            }
        }
    }
}

/// Token costs in one prompt, by position.
pub(super) struct RatesByPlace {
    /// The end of each part of the prompt and its cost per token in US dollars: read, written, uncached.
    parts: [(Tokens, f64); 3],
}

impl RatesByPlace {
    pub(super) fn new(timeline: &Timeline, prices: &Prices, usage: Usage) -> Self {
        let rates = prices.usual();
        let input = rates.input.usd();
        // Nothing says which of the written tokens live longer: each costs what they cost on average.
        let written = usage.writes(timeline.harness.ttl).into_iter().enumerate();
        let paid = written.map(|(class, it)| it as f64 * rates.write(class).map_or(input, |it| it.usd()));
        let write = if usage.cache_write > 0 { paid.sum::<f64>() / usage.cache_write as f64 } else { input };
        let (read, written) = (usage.cache_read, usage.cache_read + usage.cache_write);
        Self { parts: [(read, rates.read().usd()), (written, write), (usage.prompt, input)] }
    }

    /// Returns the cost of the tokens between two positions; nothing is billed beyond the prompt's end.
    pub(super) fn cost(&self, from: Tokens, to: Tokens) -> f64 {
        let mut start = 0;
        let mut cost = 0.0;
        for (end, rate) in self.parts {
            cost += to.min(end).saturating_sub(from.max(start)) as f64 * rate;
            start = end;
        }
        cost
    }
}
