//! What recovery is expected to cost along a run whose prompts it does not change, as a closed form.
//!
//! A need of weight `w` of which the prompt meets the share `m` asks for a call with the probability `p = w
//! (1 − m)`, unless the same source was fetched before and still stands: `u = p ∏(1 − p′)` calls, the product
//! over the needs of that source before. Of these the share `ρ` has a request of its own, which sends the
//! prompt `P` again, and with it the `X` tokens that are carried by then. Every call writes what it fetches,
//! `f`, and itself, `c`; both are carried until the result that comes next is taken out of the prompt, by a
//! reset or by an edit. Where the prompt became another one before them, they are sent again.

use crate::prelude::*;

use super::Terms;
use crate::ledger::{Carry, ExploredRow, NeedRow, TokenUse};
use ctxsim_input::profile::cache::{Billing, Reads};
use ctxsim_timeline::Level;

/// The number of parts a carried token has.
const PARTS: f64 = 1_048_576.0;

/// What is needed: one result, or the evidence of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedSource {
    /// A result.
    Item(ItemIx),
    /// What a turn's results hold.
    Turn(TurnIx),
}

impl NeedSource {
    /// Returns what a call meets later: all that was asked of a turn; of a result what it brings of it.
    pub fn meets(self, row: &NeedRow, spine: &Spine) -> Level {
        match self {
            Self::Turn(_) => row.level,
            Self::Item(item) => {
                let is_whole =
                    spine.items.get(item as usize).is_some_and(|it| row.fetched >= Tokens::from(it.raw));
                if is_whole { Level::RawContent } else { row.level.max(Level::ExactEvidence) }
            }
        }
    }
}

/// What an agent is expected to have fetched, and to carry in its prompts.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    terms: Terms,
    /// The mean size of what is looked up anew, and the mean of its square.
    moments: [f64; 2],
    calls: Vec<ExpectedCall>,
    /// By source: its calls.
    by_source: BTreeMap<NeedSource, Vec<usize>>,
    by_host: CallsBySlot,
    /// The calls since whom no result has come, and the first slot where one may.
    unsettled: Vec<usize>,
    unsettled_from: Option<SlotIx>,
    /// In [`PARTS`] of a token, so that what goes and comes back leaves no rounding after.
    tokens: u64,
    /// Of these, what was looked up anew.
    explored: u64,
    /// Whether anything was carried before things were looked up for the request that comes: no edit was made while those stood.
    had_any: Option<bool>,
    /// The variance of the tokens.
    variance: u64,
    n_edits: usize,
    /// Where the prompt of the last request ended, and how many calls there had been.
    last_sent: (SlotIx, usize),
    /// The same of the request before that.
    sent_before: (SlotIx, usize),
}

/// A call that was expected.
#[derive(Clone, Copy, Debug, Default)]
struct ExpectedCall {
    /// How probable it was, had the source not been fetched before.
    probability: f64,
    /// Tokens that it brought and takes itself, times its probability; in [`PARTS`] of a token.
    tokens: u64,
    /// The variance of what it brings.
    variance: u64,
    /// What it meets.
    level: Level,
    /// The slot beside which it stands.
    host: Option<SlotIx>,
    /// What that showed then, in tokens.
    host_tokens: u32,
    is_carried: bool,
    /// Whether it was looked up anew, for no need.
    is_explored: bool,
}

/// Calls that are expected, whatever cache they meet.
#[derive(Clone, Copy, Debug)]
pub struct AskedCalls {
    /// How many of them have a request of their own.
    with_request: f64,
    /// Tokens of prompts that these send again.
    resent: f64,
    /// Tokens that all of them bring.
    brought: f64,
    /// Tokens that the agent writes for them.
    written: f64,
}

/// How requests are billed, and what the one before read.
#[derive(Clone, Copy, Debug)]
pub struct BilledSteps {
    /// How the cache's rules bill what is new and what is sent again.
    pub billing: Billing,
    /// What the request before read of its prompt.
    pub read: Tokens,
}

/// What one request carries of what was fetched again, and of what was looked up anew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CarriedAgain {
    /// What was fetched for needs.
    pub recovered: Carry,
    /// What was looked up anew.
    pub explored: Carry,
}

/// The calls that stand beside each slot, as lists within two columns: each edit of a prompt looks here, and each request adds some, to
/// which a list of its own for each slot would be slow.
#[derive(Clone, Debug, Default)]
struct CallsBySlot {
    /// By slot: the last call, from 1; 0 is none.
    last: Vec<u32>,
    /// By call: the one before it beside the same slot.
    before: Vec<u32>,
}

impl CallsBySlot {
    /// Adds a call to a slot.
    fn add(&mut self, slot: SlotIx, call: usize) {
        let at = slot as usize;
        if at >= self.last.len() {
            self.last.resize(at + 1, 0);
        }
        if call >= self.before.len() {
            self.before.resize(call + 1, 0);
        }
        self.before[call] = std::mem::replace(&mut self.last[at], ix(call + 1));
    }

    /// Takes a call from a slot.
    fn remove(&mut self, slot: SlotIx, call: usize) {
        let (mut at, after) = (self.last[slot as usize], self.before[call]);
        if at as usize == call + 1 {
            self.last[slot as usize] = after;
            return;
        }
        while let Some(place) = (at as usize).checked_sub(1) {
            at = self.before[place];
            if at as usize == call + 1 {
                self.before[place] = after;
            }
        }
    }

    /// Returns the calls beside a slot, the last first.
    fn of(&self, slot: SlotIx) -> impl Iterator<Item = usize> {
        let first = self.last.get(slot as usize).copied().unwrap_or_default();
        let place = |it: u32| (it as usize).checked_sub(1);
        std::iter::successors(place(first), move |it| place(self.before[*it]))
    }
}

impl Carried {
    /// Begins with nothing fetched.
    pub fn new(terms: Terms) -> Self {
        let moments = terms.explores.map_or([0.0; 2], |it| it.moments());
        Self { terms, moments, ..Self::default() }
    }

    /// Returns whether something is assumed otherwise than declared: of such a ledger only what recovery costs is read, not its requests, and
    /// no need that is met.
    pub fn is_at_end(&self) -> bool {
        !self.terms.is_declared
    }

    /// Returns the tokens that are carried in the prompt as it stands.
    #[inline]
    pub fn stand(&mut self, prompt: &Prompt<'_>) -> f64 {
        if self.calls.is_empty() {
            self.n_edits = prompt.journal().len();
            return 0.0;
        }
        self.follow(prompt);
        self.settle(prompt);
        self.tokens as f64 / PARTS
    }

    /// Notes that the prompt is sent.
    pub fn sent(&mut self, prompt: &Prompt<'_>) {
        self.stand(prompt);
        self.had_any = None;
        self.sent_before = std::mem::replace(&mut self.last_sent, (prompt.len(), self.calls.len()));
    }

    /// Returns what is carried in the prompt that was sent last, of which a cache read nothing from a slot on.
    pub fn again(&self, broke_at: Option<SlotIx>) -> CarriedAgain {
        let (end, n_calls) = self.sent_before;
        let mut anew = [0_u64; 2];
        if let Some(broke_at) = broke_at.filter(|it| *it < end) {
            let is_behind =
                |it: &&ExpectedCall| it.is_carried && it.host.is_some_and(|host| host >= broke_at);
            for call in self.calls[..n_calls].iter().filter(is_behind) {
                let sum = &mut anew[usize::from(call.is_explored)];
                *sum = sum.saturating_add(call.tokens);
            }
        }
        let carry =
            |tokens: u64, anew: u64| Carry { tokens: tokens as f64 / PARTS, anew: anew as f64 / PARTS };
        CarriedAgain {
            recovered: carry(self.tokens - self.explored, anew[0]),
            explored: carry(self.explored, anew[1]),
        }
    }

    /// Returns the most tokens that were carried when the prompt was last looked at, two standard deviations above
    /// those expected: about one run in forty carries more.
    pub fn most(&self) -> Tokens {
        (self.tokens as f64 / PARTS + 2.0 * (self.variance as f64).sqrt()).ceil() as Tokens
    }

    /// Returns whether anything was carried when the prompt was last looked at, beside what is looked up for the request that comes.
    pub fn has_any(&self) -> bool {
        self.had_any.unwrap_or(self.tokens > 0)
    }

    /// Follows the edits since the last look: what is beside a result goes and comes with it.
    fn follow(&mut self, prompt: &Prompt<'_>) {
        let journal = prompt.journal();
        for edit in journal.get(self.n_edits..).unwrap_or_default() {
            for call in self.by_host.of(edit.slot) {
                let call = &mut self.calls[call];
                let stands = edit.after.is_visible() && edit.after.tokens >= call.host_tokens;
                if stands != call.is_carried {
                    call.is_carried = stands;
                    let sum: fn(u64, u64) -> u64 =
                        if stands { u64::saturating_add } else { u64::saturating_sub };
                    self.tokens = sum(self.tokens, call.tokens);
                    self.variance = sum(self.variance, call.variance);
                    if call.is_explored {
                        self.explored = sum(self.explored, call.tokens);
                    }
                }
            }
        }
        self.n_edits = journal.len();
    }

    /// Moves what was fetched last beside the first result that came after it and is shown.
    fn settle(&mut self, prompt: &Prompt<'_>) {
        let Some(from) = self.unsettled_from else { return };
        let is_result =
            |it: &SlotIx| prompt.item(*it).kind == Kind::ToolResult && prompt.slot(*it).is_visible();
        let Some(host) = (from..prompt.len()).find(is_result) else { return };
        for index in std::mem::take(&mut self.unsettled) {
            let call = &mut self.calls[index];
            if !call.is_carried {
                continue;
            }
            if let Some(before) = call.host {
                self.by_host.remove(before, index);
            }
            (call.host, call.host_tokens) = (Some(host), prompt.slot(host).tokens);
            self.by_host.add(host, index);
        }
        self.unsettled_from = None;
    }

    /// Makes of the row of a need that the prompt does not meet what is expected of it; its calls are billed as each cache does.
    pub fn charged(
        &mut self,
        mut row: NeedRow,
        source: NeedSource,
        prompt: &Prompt<'_>,
    ) -> (NeedRow, Option<AskedCalls>) {
        if row.met >= 1.0 {
            return (row, None);
        }
        let carried = self.stand(prompt);
        // The share of the need that what was fetched before does not meet.
        let calls = self.by_source.get(&source).into_iter().flatten().map(|it| &self.calls[*it]);
        let meets = calls.filter(|it| it.is_carried && it.level >= row.level);
        let left: f64 = meets.map(|it| 1.0 - it.probability).product();
        row.met = 1.0 - (1.0 - row.met) * left;
        let probability = (row.calls - row.repeats).clamp(0.0, 1.0);
        (row.calls, row.repeats, row.failed) = (row.calls * left, row.repeats * left, row.failed * left);
        if row.calls <= 0.0 {
            return (row, None);
        }
        let brought = row.fetched as f64 + f64::from(self.terms.call_tokens);
        let asked = self.asked(row.calls, brought, prompt.tokens() as f64 + carried);
        let level = source.meets(&row, prompt.history().load());
        let share = row.calls.min(1.0);
        let call = ExpectedCall {
            probability,
            tokens: parts(row.calls * brought),
            variance: (share * (1.0 - share) * brought * brought).round() as u64,
            level,
            ..ExpectedCall::beside(prompt)
        };
        self.by_source.entry(source).or_default().push(self.calls.len());
        self.carry(call, prompt);
        (row, Some(asked))
    }

    /// Returns what is expected to be looked up anew before a request, of the tokens that were removed; nothing where nothing is.
    pub fn explored(&mut self, removed: f64, prompt: &Prompt<'_>) -> Option<(ExploredRow, AskedCalls)> {
        let explores = self.terms.explores?;
        self.had_any = Some(self.tokens > 0);
        let carried = self.stand(prompt);
        let working = (prompt.tokens() - prompt.stable_tokens()) as f64 + carried;
        let calls = explores.calls(removed, working);
        if calls <= 0.0 {
            return None;
        }
        let [mean, square] = self.moments;
        let brought = mean + f64::from(self.terms.call_tokens);
        let asked = self.asked(calls, brought, prompt.tokens() as f64 + carried);
        let call = ExpectedCall {
            tokens: parts(calls * brought),
            variance: (calls * square - (calls * mean).powi(2)).max(0.0).round() as u64,
            is_explored: true,
            ..ExpectedCall::beside(prompt)
        };
        self.carry(call, prompt);
        Some((ExploredRow { calls, fetched: calls * mean, ..ExploredRow::default() }, asked))
    }

    /// Returns expected calls that bring so many tokens each, beside a prompt.
    fn asked(&self, calls: f64, brought: f64, prompt: f64) -> AskedCalls {
        let with_request = calls * self.terms.own_request;
        AskedCalls {
            with_request,
            resent: with_request * prompt,
            brought: calls * brought,
            written: calls * f64::from(self.terms.call_tokens),
        }
    }

    /// Lets the prompts from now on carry what a call brings.
    fn carry(&mut self, call: ExpectedCall, prompt: &Prompt<'_>) {
        let index = self.calls.len();
        if let Some(host) = call.host {
            self.by_host.add(host, index);
        }
        self.tokens = self.tokens.saturating_add(call.tokens);
        self.variance = self.variance.saturating_add(call.variance);
        if call.is_explored {
            self.explored = self.explored.saturating_add(call.tokens);
        }
        self.calls.push(call);
        self.unsettled.push(index);
        self.unsettled_from = Some(prompt.len());
    }
}

impl AskedCalls {
    /// Returns the tokens of the calls as a cache bills them.
    pub fn billed(&self, BilledSteps { billing, read }: BilledSteps) -> TokenUse<f64> {
        let mut asked = TokenUse { output: self.written, ..TokenUse::default() };
        let read = match billing.reads {
            Reads::Nothing => 0.0,
            Reads::Stored => (self.with_request * read as f64).min(self.resent),
            Reads::Prefixes => self.resent,
        };
        (asked.read, asked.uncached) = (read, self.resent - read);
        match billing.writes {
            Some(class) => asked.write[class.min(1)] += self.brought,
            None => asked.uncached += self.brought,
        }
        asked
    }
}

impl ExpectedCall {
    /// Begins a call that brings nothing yet, beside what stands there.
    fn beside(prompt: &Prompt<'_>) -> Self {
        let host = host(prompt);
        let host_tokens = host.map_or(0, |it| prompt.slot(it).tokens);
        Self { host, host_tokens, is_carried: true, ..Self::default() }
    }
}

/// Returns tokens in [`PARTS`].
fn parts(tokens: f64) -> u64 {
    (tokens * PARTS).round() as u64
}

/// Returns beside what something stands that is fetched now, until a result comes: the newest result that is
/// shown; if none is, whatever is shown last.
fn host(prompt: &Prompt<'_>) -> Option<SlotIx> {
    let is_shown = |it: &SlotIx| prompt.slot(*it).is_visible();
    prompt.last_result().filter(is_shown).or_else(|| (0..prompt.len()).rev().find(is_shown))
}
