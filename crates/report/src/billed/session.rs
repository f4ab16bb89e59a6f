//! The requests of one recorded session as they were billed, with what each missed, for levers to read.

use crate::as_logged::{MadeFor, ProfileOf, for_each_logged_request};
use crate::prelude::*;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::missed::{Miss, all_misses};
use ctxsim_input::TtlClass;
use ctxsim_input::profile::price::{PriceList, Rates};
use ctxsim_timeline::{ItemIx, StepIx};

/// Which cheaper model of the same provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheaperChoice {
    /// Of the same line.
    SameLine,
    /// Of the next line down: the dearest of those that are cheaper.
    NextLine,
}

/// Finds a cheaper model.
pub type CheaperModel<'p> = &'p dyn Fn(&Profile, CheaperChoice) -> Option<&'p Profile>;

/// The prices of models, and which are cheaper.
#[derive(Clone, Copy)]
pub struct ModelPrices<'p> {
    pub profile_of: ProfileOf<'p>,
    pub cheaper: CheaperModel<'p>,
}

/// Returns the line of a model, by its name without numbers: `claude-opus`, `gpt-mini`.
pub fn model_line_name(name: &str) -> String {
    let words = name.split('-').filter(|it| !it.contains(|letter: char| letter.is_ascii_digit()));
    words.listed().join("-")
}

/// A session as it was billed.
pub struct BilledSession<'t> {
    pub(super) timeline: &'t Timeline,
    /// The agent's own requests that have a price, in order.
    pub(super) requests: Vec<RequestBill<'t>>,
    /// All that was billed, in US dollars, also for summaries and on branches that the user left.
    pub(super) usd: f64,
    /// Whether its agent has a setting for the lifetime of cache entries, which is simulated.
    pub(super) has_lifetime_setting: bool,
    pub(super) cheaper: CheaperModel<'t>,
}

/// A request of the agent's own.
pub(super) struct RequestBill<'t> {
    pub(super) step: StepIx,
    /// Whether it is the first of its turn.
    pub(super) begins_turn: bool,
    /// How long nothing had been asked, in milliseconds; 0 for the first.
    pub(super) pause_ms: u64,
    pub(super) profile: &'t Profile,
    pub(super) list: &'t PriceList,
    pub(super) tokens: TokenUse,
    /// What it was billed, in US dollars.
    pub(super) usd: f64,
    /// What it should have read and did not.
    pub(super) miss: Option<(MissCause, Tokens)>,
    /// The lifetime class that the session writes with.
    class: usize,
}

impl<'t> BilledSession<'t> {
    /// Reads a session; `None` where its log has no bill for each request. The profile tells what the cache had held.
    pub fn new(
        timeline: &'t Timeline,
        profile: Option<&Profile>,
        prices: ModelPrices<'t>,
        has_lifetime_setting: bool,
    ) -> Option<Self> {
        timeline.recorded.as_ref().filter(|it| !it.is_spread)?;
        let misses = profile.map_or_else(Vec::new, |it| all_misses(timeline, it));
        let cheaper = prices.cheaper;
        let mut session = Self { timeline, requests: Vec::new(), usd: 0.0, has_lifetime_setting, cheaper };
        let mut misses = misses.iter().peekable();
        let steps = &timeline.spine.steps;
        let mut begins = timeline.spine.turns.iter().map(|it| it.steps.start).peekable();
        let mut class = 0;
        for_each_logged_request(timeline, prices.profile_of, |request| {
            let (tokens, Some((profile, list))) = (request.token_use(), request.profile_and_prices()) else {
                return;
            };
            let Some(usd) = Bill::of_request(list, &tokens).total() else { return };
            session.usd += usd.usd();
            let MadeFor::Step(nth) = request.made_for else { return };
            while misses.next_if(|miss| (miss.step as usize) < nth).is_some() {}
            let miss = misses.peek().filter(|miss| miss.step as usize == nth);
            let mut begins_turn = false;
            while begins.next_if(|first| *first as usize <= nth).is_some() {
                begins_turn = true;
            }
            if tokens.write != [0, 0] {
                class = usize::from(tokens.write[1] > 0);
            }
            let last = nth.checked_sub(1).map(|it| steps[it].end_ms.max(steps[it].at_ms));
            session.requests.push(RequestBill {
                step: nth as StepIx,
                begins_turn,
                pause_ms: last.map_or(0, |it| u64::try_from(steps[nth].at_ms - it).unwrap_or(0)),
                profile,
                list,
                tokens,
                usd: usd.usd(),
                miss: miss.map(|it: &&Miss| (it.cause, it.tokens)),
                class,
            });
        });
        (session.usd > 0.0).then_some(session)
    }

    /// Returns the tokens that stand before every message of its user: tools, system prompt and memory files, as far as its first bill shows.
    pub(super) fn fixed_prefix_tokens(&self) -> Tokens {
        let Some(first) = self.requests.first() else { return 0 };
        let fixed = self.timeline.recorded.iter().flat_map(|it| it.fixed.iter());
        let size = |item: ItemIx| self.timeline.spine.items.get(item as usize).map_or(0, |it| it.raw.into());
        fixed.map(|it| size(it.0)).sum::<Tokens>().min(first.prompt_tokens())
    }

    /// Returns what a token costs that was sent, with each of the requests from one place to another: a running sum over requests.
    pub(super) fn carried_rates(&self) -> CarriedRates {
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for request in &self.requests {
            let missed = request.missed_tokens();
            let known = (request.tokens.read + missed).max(1) as f64;
            sum += request.read_token_usd()
                + missed as f64 / known * (request.write_token_usd() - request.read_token_usd());
            sums.push(sum);
        }
        let steps = self.requests.iter().map(|request| request.step).listed();
        let ends = self.timeline.recorded.iter().flat_map(|recorded| recorded.summarised.to_vec()).listed();
        CarriedRates { sums, steps, ends }
    }

    /// Returns the request of a step, if it was billed.
    pub(super) fn request_at_step(&self, step: StepIx) -> Option<&RequestBill<'t>> {
        let nth = self.requests.partition_point(|request| request.step < step);
        self.requests.get(nth).filter(|request| request.step == step)
    }
}

/// What a token costs that is sent again and again.
pub(super) struct CarriedRates {
    sums: Vec<f64>,
    steps: Vec<StepIx>,
    /// The steps before which the history was summed up.
    ends: Vec<StepIx>,
}

impl CarriedRates {
    /// Returns what a token that a step first sends costs in later requests, in US dollars, until the history is summed up.
    pub(super) fn later_usd_per_token(&self, step: StepIx) -> f64 {
        let place = |step: StepIx| self.steps.partition_point(|it| *it < step);
        let end = self.ends.iter().find(|it| **it > step).map_or(self.steps.len(), |it| place(*it));
        let first = self.steps.partition_point(|it| *it <= step);
        self.sums[end] - self.sums[first.min(end)]
    }
}

impl RequestBill<'_> {
    pub(super) fn prompt_tokens(&self) -> Tokens {
        self.tokens.prompt()
    }

    fn rates(&self) -> &Rates {
        self.list.of_prompt(self.prompt_tokens())
    }

    /// Returns what reading a token from the cache costs, in US dollars.
    pub(super) fn read_token_usd(&self) -> f64 {
        self.rates().read().usd()
    }

    /// Returns what writing one costs, with the lifetime that the session writes with.
    pub(super) fn write_token_usd(&self) -> f64 {
        let rates = self.rates();
        let has_writes = self.tokens.write.iter().any(|it| *it > 0);
        let written = rates.write(self.class).filter(|_| has_writes || self.tokens.uncached == 0);
        written.unwrap_or(rates.input).usd()
    }

    pub(super) fn output_token_usd(&self) -> f64 {
        self.rates().output.map_or(0.0, |it| it.usd())
    }

    /// Returns what it would have cost less if what it missed had been read.
    pub(super) fn cache_miss_usd(&self) -> f64 {
        if self.miss.is_none() {
            return 0.0;
        }
        let place = [self.tokens.read, self.tokens.read.saturating_add(self.missed_tokens())];
        let (part, bill) = Bill::of_part(self.list, &self.tokens, place);
        let paid = bill.write + bill.uncached;
        paid.usd() - (part.write[0] + part.write[1] + part.uncached) as f64 * self.read_token_usd()
    }

    /// Returns how many tokens it should have read and did not.
    pub(super) fn missed_tokens(&self) -> Tokens {
        self.miss.map_or(0, |(_, tokens)| tokens)
    }

    /// Returns whether it missed something of one of some causes.
    pub(super) fn has_miss_of(&self, causes: &[MissCause]) -> bool {
        self.miss.is_some_and(|(cause, _)| causes.contains(&cause))
    }

    /// Returns how long the entries live that it writes, in milliseconds.
    pub(super) fn entry_life_ms(&self) -> Option<u64> {
        self.profile.cache.life_ms(if self.writes_long_lived() { TtlClass::Long } else { TtlClass::Short })
    }

    pub(super) fn writes_long_lived(&self) -> bool {
        self.class == 1
    }

    /// Returns its rates for writing with a short and a long lifetime.
    pub(super) fn write_usd_by_lifetime(&self) -> Option<[f64; 2]> {
        let rates = self.rates();
        rates.cache_write?;
        Some([rates.write(0)?.usd(), rates.write(1)?.usd()])
    }
}
