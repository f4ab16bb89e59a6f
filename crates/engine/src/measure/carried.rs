//! What fills the prompts of a recorded session, and what it costs to carry from request to request.
//!
//! Nothing is simulated: an item's position in a prompt determines whether its tokens were read from the
//! cache, written to it or uncached, from the provider's bill of that prompt.

use crate::prelude::*;

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
    let items = &timeline.spine.items;
    let mut all: Vec<Option<CarriedItem>> = vec![None; items.len()];
    let mut sent = SentItems::new(items.len());
    each_prompt(timeline, |prompt| {
        for PromptChange { item, enters } in prompt.changes.iter().copied() {
            if enters { sent.enters(item) } else { sent.leaves(item, &mut all[item as usize]) }
        }
        let rates = RatesByPlace::new(timeline, prices, prompt.usage);
        sent.send(&rates, prompt, &mut all);
        for PromptChange { item, .. } in prompt.changes.iter().copied() {
            if all[item as usize].is_none() && sent.since[item as usize].is_some() {
                let place = prompt.items.partition_point(|it| *it < item);
                let cost = rates.cost(prompt.start(place), prompt.ends[place]);
                let entering = &items[item as usize];
                let is_known = !timeline.needs.is_empty() && entering.kind == Kind::ToolResult;
                all[item as usize] = Some(CarriedItem {
                    item,
                    turn_ix: entering.turn_ix,
                    first: prompt.step,
                    kind: entering.kind,
                    tokens: entering.raw.into(),
                    resent: 0,
                    entered_usd: cost,
                    carried_usd: 0.0,
                    is_needed: is_known.then(|| needed.contains(&item)),
                });
                sent.enters(item);
            }
        }
    });
    for (item, carried) in (0..).zip(&mut all) {
        sent.leaves(item, carried);
    }
    all.into_iter().flatten().collect()
}

/// A billed prompt of a session.
#[derive(Clone, Copy, Debug)]
pub struct BilledPrompt<'p> {
    pub step: StepIx,
    /// Its bill.
    pub usage: Usage,
    /// Its items, in order.
    pub items: &'p [ItemIx],
    /// By item: how many tokens of the prompt end with it.
    pub ends: &'p [Tokens],
    /// What entered and left since the billed prompt before, in order.
    pub changes: &'p [PromptChange],
}

/// An item that enters a session's prompts, or leaves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptChange {
    pub item: ItemIx,
    pub enters: bool,
}

impl BilledPrompt<'_> {
    /// Returns where the item at a place begins.
    fn start(&self, place: usize) -> Tokens {
        place.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

/// Hands over the billed prompts of a session, in order.
pub fn each_prompt(timeline: &Timeline, mut each: impl FnMut(&BilledPrompt<'_>)) {
    let spine = &timeline.spine;
    let mut window = CarriedItems::new(timeline);
    for (session, row) in spine.sessions.iter().enumerate() {
        window.begin(session);
        for step in row.turns.clone().flat_map(|turn| spine.turns[turn as usize].steps.clone()) {
            window.reach(step);
            if let Some(usage) = usage(timeline, step) {
                let CarriedItems { items, ends, changes, .. } = &window;
                each(&BilledPrompt { step, usage, items, ends, changes });
                window.changes.clear();
            }
        }
    }
}

/// Returns what tokens at the very front of every billed prompt cost, in US dollars: what a memory file of that size costs there.
pub fn at_front(timeline: &Timeline, prices: &Prices, tokens: Tokens) -> f64 {
    let usages = timeline.recorded.iter().flat_map(|it| it.usage.iter().flatten());
    usages.map(|it| RatesByPlace::new(timeline, prices, *it).cost(0, tokens)).sum()
}

pub(super) fn usage(timeline: &Timeline, step: StepIx) -> Option<Usage> {
    timeline.recorded.as_ref()?.usage.get(step as usize).copied().flatten()
}

/// The items of a prompt, in order: each has a larger index than the one before.
pub(super) struct CarriedItems<'t> {
    timeline: &'t Timeline,
    items: Vec<ItemIx>,
    /// By item: how many tokens of the prompt end with it.
    ends: Vec<Tokens>,
    /// What entered and left since a prompt was last handed over.
    changes: Vec<PromptChange>,
    stable: Range<ItemIx>,
    /// The first item that has not arrived.
    pub(super) next: ItemIx,
    n_events: usize,
}

impl<'t> CarriedItems<'t> {
    pub(super) fn new(timeline: &'t Timeline) -> Self {
        Self {
            timeline,
            items: Vec::new(),
            ends: Vec::new(),
            changes: Vec::new(),
            stable: 0..timeline.spine.n_stable,
            next: 0,
            n_events: 0,
        }
    }

    /// Begins a session with its stable prefix, or with the previous session's.
    pub(super) fn begin(&mut self, session: usize) {
        let own = &self.timeline.spine.sessions[session].stable;
        if !own.is_empty() {
            self.stable = own.clone();
        }
        self.remove(0..ItemIx::MAX);
        self.add(self.stable.clone());
        self.next = self.next.max(self.stable.end);
    }

    /// Adds what arrived before a step's request, and removes what the harness removed.
    pub(super) fn reach(&mut self, step: StepIx) {
        let end = self.timeline.spine.steps[step as usize].reply.start.max(self.next);
        self.add(self.next..end);
        self.next = end;
        while let Some(event) = self.timeline.events.get(self.n_events) {
            if self.timeline.spine.step_at(event.at) > step {
                break;
            }
            self.n_events += 1;
            if let EventKind::Reset(gone) = &event.kind {
                self.remove(gone.clone());
            }
        }
    }

    /// Returns the tokens of the items before one.
    pub(super) fn tokens_before(&self, item: ItemIx) -> Tokens {
        let n_before = self.items.partition_point(|it| *it < item);
        n_before.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    fn add(&mut self, items: Range<ItemIx>) {
        for item in items {
            let before = self.ends.last().copied().unwrap_or(0);
            self.ends.push(before + Tokens::from(self.timeline.spine.items[item as usize].raw));
            self.items.push(item);
            self.changes.push(PromptChange { item, enters: true });
        }
    }

    /// Takes out the items of a range; only those behind it move.
    fn remove(&mut self, gone: Range<ItemIx>) {
        let tokens = self.tokens_before(gone.end) - self.tokens_before(gone.start);
        let [from, to] = [gone.start, gone.end].map(|end| self.items.partition_point(|it| *it < end));
        self.ends.drain(from..to);
        self.ends[from..].iter_mut().for_each(|it| *it -= tokens);
        let gone = self.items.drain(from..to);
        self.changes.extend(gone.map(|item| PromptChange { item, enters: false }));
    }
}

/// What it costs per token to send the items of prompts, added up without looking at each item of each prompt.
struct SentItems {
    /// A tree of sums (Fenwick 1994): numbers are added to all items from one on, and read by item. In units of 10⁻¹⁸ dollars, so that
    /// differences are exact.
    rates: Vec<i128>,
    /// By item that is in the prompt: what its rates came to when it was first sent, and the number of prompts up to then.
    since: Vec<Option<(i128, u32)>>,
    n_prompts: u32,
}

/// So many units of a rate are a dollar.
const UNITS: f64 = 1e18;

impl SentItems {
    fn new(n_items: usize) -> Self {
        Self { rates: vec![0; n_items], since: vec![None; n_items], n_prompts: 0 }
    }

    /// Counts an item from here on.
    fn enters(&mut self, item: ItemIx) {
        self.since[item as usize] = Some((self.rate(item), self.n_prompts));
    }

    /// Adds what was counted of an item, if it was sent before.
    fn leaves(&mut self, item: ItemIx, carried: &mut Option<CarriedItem>) {
        let Some((rate, n_before)) = self.since[item as usize].take() else { return };
        let rate = self.rate(item) - rate;
        if let Some(carried) = carried {
            carried.resent += self.n_prompts - n_before;
            carried.carried_usd += rate as f64 / UNITS * carried.tokens as f64;
        }
    }

    /// Counts a prompt: what is billed at one rate at once, what is billed at two by itself.
    fn send(&mut self, rates: &RatesByPlace, prompt: &BilledPrompt<'_>, all: &mut [Option<CarriedItem>]) {
        self.n_prompts += 1;
        let mut next = 0;
        for (end, rate) in rates.parts {
            let behind = prompt.ends.partition_point(|it| *it <= end).max(next);
            if next < behind {
                let units = (rate * UNITS).round() as i128;
                self.add(prompt.items[next], units);
                self.add(prompt.items[behind - 1] + 1, -units);
            }
            next = behind;
            if prompt.items.get(next).is_some_and(|_| prompt.start(next) < end) {
                if let Some(carried) = &mut all[prompt.items[next] as usize] {
                    carried.carried_usd += rates.cost(prompt.start(next), prompt.ends[next]);
                }
                next += 1;
            }
        }
    }

    /// Adds to the rates of all items from one on.
    fn add(&mut self, from: ItemIx, units: i128) {
        let mut at = from as usize;
        while let Some(sum) = self.rates.get_mut(at) {
            *sum += units;
            at |= at + 1;
        }
    }

    fn rate(&self, item: ItemIx) -> i128 {
        let (mut sum, mut end) = (0, item as usize + 1);
        while end > 0 {
            sum += self.rates[end - 1];
            end &= end - 1;
        }
        sum
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
