//! Prices of a folded ledger: the cost of each part, exact where possible.
//!
//! A policy may name the model that writes its summaries (`summariser: "openai/gpt-5.4-mini"`). The catalog finds the profile
//! (`app/check.rs`), `Policy` holds it, and its requests find nothing in the cache of the session's model. The ledger knows no prices, so
//! `price::Models` maps each role to the prices at which it is billed.

pub mod index;

use std::ops::AddAssign;

use self::index::Side;
use crate::ledger::{ExplicitCacheSums, NeedSums, RequestSums, TokenUse};
use crate::prelude::*;
use ctxsim_base::quantity::Rate;
use ctxsim_input::{Assumptions, PriceList, Rates, RecoveryPrice, TierReach, VariedRate, WaitModel};

pub use index::{PriceIndex, PriceRows};

/// The cost of a run, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The agent's own requests.
    pub main: Bill,
    /// The summariser's requests, input and output.
    pub compaction: Cost,
    /// Keep-alive requests, input and output.
    pub keep_alive: Cost,
    /// Stored contents: creating and storing them.
    pub storage: Cost,
    /// Calls from a memory to its service.
    pub memory: Cost,
    /// Requests over a limit.
    pub penalty: Cost,
    /// What recovery and unrecoverable needs are expected to cost, at the standard prices of short prompts.
    pub recovery: Amount,
    /// What is expected to be paid for what is looked up anew because context was removed, at the same prices.
    pub exploration: Amount,
    /// What the policy's edits of fetched results change, where runs with sampled needs were played: the mean of these runs less the
    /// closed form.
    pub reaction: Amount,
    /// The expected change because sessions that nobody recorded may have left tools and system prompt in the cache, and because entries
    /// that a policy asks to live longer than the recorded ones may be missed.
    pub left: Amount,
    /// The same where least is read, by the intervals of the probabilities, and where most is.
    pub left_ends: [Amount; 2],
    /// Whether recovery writes something without a price; the sum leaves that out.
    pub is_recovery_unknown: bool,
    /// Whether some token of the requests has no price; the sum is then unknown.
    pub is_unknown: bool,
}

/// The models at whose prices a run is billed.
#[derive(Clone, Copy, Debug)]
pub struct Models<'a> {
    /// The session's model.
    pub session: &'a Profile,
    /// The model that writes summaries.
    pub summariser: &'a Profile,
    /// The session's model without each of its rates, where what is paid at each is asked.
    pub without: Option<&'a WithoutRates>,
}

/// A profile without each of its rates, in the order of [`VariedRate::ALL`]; `None` for a rate that it does not have.
#[derive(Clone, Debug)]
pub struct WithoutRates([Option<Profile>; VariedRate::ALL.len()]);

impl WithoutRates {
    /// Takes each rate out of a profile.
    pub fn new(profile: &Profile) -> Self {
        let without = |rate| {
            let prices = profile.prices.times(rate, 0);
            (prices != profile.prices).then(|| Profile { prices, ..profile.clone() })
        };
        Self(VariedRate::ALL.map(without))
    }
}

/// What is paid at each rate and nothing else, in the order of [`VariedRate::ALL`]; `None` if a price is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaidAtRates(pub [Option<Amount>; VariedRate::ALL.len()]);

impl PaidAtRates {
    /// Takes from what a bill comes to what it does without each rate.
    pub fn new(bill: impl Fn(Models<'_>) -> Option<Amount>, models: Models<'_>) -> Option<Self> {
        let WithoutRates(without) = models.without?;
        let all = bill(models);
        let paid = |without: &Option<Profile>| match without {
            Some(session) => Some(all? - bill(models.with_session(session))?),
            None => all.map(|_| Amount::ZERO),
        };
        Some(Self(without.each_ref().map(paid)))
    }

    /// Returns the means of several.
    pub fn mean(all: &[Self]) -> Self {
        let of_rate = |nth: usize| all.iter().map(|one| one.0[nth]).sum::<Option<Amount>>();
        Self(std::array::from_fn(|nth| of_rate(nth).map(|sum| sum.over(all.len() as u64))))
    }
}

impl AddAssign for PaidAtRates {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum = sum.zip(more).map(|(own, more)| own + more);
        }
    }
}

/// The prices of the requests of a session: those of its profile, or each at those of the model that answered it.
#[derive(Clone, Debug)]
pub struct StepPrices<'p> {
    usual: &'p Prices,
    by_step: Vec<&'p Prices>,
}

impl<'p> StepPrices<'p> {
    /// Those of a profile, and by step those of other models, where any are.
    pub(crate) fn new(usual: &'p Prices, by_step: Vec<&'p Prices>) -> Self {
        Self { usual, by_step }
    }

    /// Returns those of a step's request.
    pub fn at(&self, step: StepIx) -> &'p Prices {
        self.by_step.get(step as usize).copied().unwrap_or(self.usual)
    }
}

impl<'p> From<&'p Prices> for StepPrices<'p> {
    fn from(usual: &'p Prices) -> Self {
        Self { usual, by_step: Vec::new() }
    }
}

impl<'a> From<&'a Profile> for Models<'a> {
    fn from(session: &'a Profile) -> Self {
        Self::new(session, None)
    }
}

impl<'a> Models<'a> {
    /// The session's model and, if different, the one that writes summaries.
    pub fn new(session: &'a Profile, summariser: Option<&'a Profile>) -> Self {
        Self { session, summariser: summariser.unwrap_or(session), without: None }
    }

    /// Puts another model in the place of the session's, and of the summaries' if it writes them.
    fn with_session<'b>(self, session: &'b Profile) -> Models<'b>
    where
        'a: 'b,
    {
        let has_own_summariser = !std::ptr::eq(self.session, self.summariser);
        Models::new(session, has_own_summariser.then_some(self.summariser))
    }

    /// Returns the model that a request goes to.
    pub fn of(&self, role: Role) -> &'a Profile {
        if role == Role::Summariser { self.summariser } else { self.session }
    }

    /// Returns the longest prompt of the model that writes summaries, if it is not the session's and has a limit.
    pub fn summariser_limit(&self) -> Option<Tokens> {
        let limit = (!std::ptr::eq(self.session, self.summariser)).then_some(self.summariser.limits.prompt);
        limit.filter(|it| *it != UNLIMITED)
    }
}

/// Returns the cost of one role's requests, from sums if prices are flat and from lengths otherwise.
fn billed(prices: &Prices, sums: &RequestSums, by_length: Option<&Side>) -> Bill {
    match (prices.flat(), by_length) {
        (Some(rates), _) => Bill::at(rates, &sums.tokens),
        (None, Some(rows)) => rows.bill(prices),
        (None, None) => Bill { is_incomplete: true, ..Bill::default() },
    }
}

impl Costs {
    /// Prices a folded ledger; prices that depend on length are unknown without the requests by length.
    pub fn new<'a>(
        sums: &Sums,
        index: Option<&PriceIndex>,
        limit_violations: u32,
        models: impl Into<Models<'a>>,
    ) -> Self {
        let Models { session: profile, summariser, .. } = models.into();
        let by_length = |role| index.map(|it| &it.of_role[role as usize]);
        let main = billed(&profile.prices, &sums.main, by_length(Role::Main));
        let keep_alive = billed(&profile.prices, &sums.keep_alive, by_length(Role::KeepAlive));
        let summariser = billed(&summariser.prices, &sums.summariser, by_length(Role::Summariser));
        let stored = match (profile.prices.flat(), index) {
            _ if sums.stored == ExplicitCacheSums::default() => Some(Cost::default()),
            (Some(rates), _) => stored(rates, sums.stored.tokens, sums.stored.token_ms),
            (None, index) => index.and_then(|it| it.stored(&profile.prices)),
        };
        let recovery = recovery(&sums.needs, profile);
        let usual = profile.prices.usual();
        let exploration = charged(&sums.explored.tokens, usual);
        let left = [sums.left.expected, sums.left.low, sums.left.high].map(|it| charged(&it, usual));
        let [left, low, high] = left.map(Option::unwrap_or_default);
        Self {
            main,
            compaction: summariser.known(),
            keep_alive: keep_alive.known(),
            storage: stored.unwrap_or_default(),
            memory: profile.assumptions.memory_call * sums.memory.calls(),
            penalty: profile.assumptions.failure_penalty * u64::from(limit_violations),
            recovery: recovery.unwrap_or_default(),
            exploration: exploration.unwrap_or_default(),
            reaction: Amount::ZERO,
            left,
            left_ends: [low, high],
            is_recovery_unknown: recovery.is_none() || exploration.is_none(),
            is_unknown: [main, summariser, keep_alive].iter().any(|it| it.is_incomplete) || stored.is_none(),
        }
    }

    /// Returns the cost of the agent's own requests.
    pub fn base(&self) -> Cost {
        self.main.known()
    }

    /// Returns the total, or `None` if a price is unknown.
    pub fn exact(&self) -> Option<Amount> {
        let parts = [self.compaction, self.keep_alive, self.storage, self.memory, self.penalty];
        let exact = parts.into_iter().fold(self.base(), |sum, it| sum + it);
        (!self.is_unknown && !self.is_recovery_unknown)
            .then(|| Amount::from(exact) + self.assumed() + self.reaction + self.left)
    }

    /// Returns the total in US dollars, or `None` if a price is unknown.
    pub fn total(&self) -> Option<f64> {
        self.exact().map(Amount::usd)
    }

    /// Returns the cost of recovery and of exploration, which follow from what is assumed of them.
    pub fn assumed(&self) -> Amount {
        self.recovery + self.exploration
    }
}

packed!(Costs:
    [main, compaction, keep_alive, storage, memory, penalty],
    [recovery, exploration, reaction, left, left_ends],
    [is_recovery_unknown, is_unknown]);

ctxsim_base::quantity::sums!(Costs:
    main, compaction, keep_alive, storage, memory, penalty, recovery, exploration, reaction, left;
    each left_ends; or is_recovery_unknown, is_unknown);

/// Returns the cost of one request, or `None` if some of its tokens have no price.
pub fn request(row: &RequestRow, prices: &Prices) -> Option<Cost> {
    Bill::of_request(prices.at(row.at_ms), &row.tokens()).total()
}

/// Returns the expected tokens of recovery, apart from sampled calls that have their own requests.
pub fn refetched(needs: &NeedSums, assumptions: &Assumptions) -> TokenUse<Expected> {
    if assumptions.recovery == RecoveryPrice::Requests {
        return needs.refetched;
    }
    let (calls, fetched) = needs.unsent();
    TokenUse {
        uncached: calls * assumptions.recovery_overhead_tokens + fetched,
        output: calls * assumptions.recovery_output_tokens,
        ..TokenUse::default()
    }
}

/// Returns the expected cost of recovery calls and failures at the standard rates of short prompts, or `None` if some tokens have
/// no price.
pub fn recovery(needs: &NeedSums, profile: &Profile) -> Option<Amount> {
    let assumptions = &profile.assumptions;
    let calls = charged(&refetched(needs, assumptions), profile.prices.usual())?;
    Some(calls + needs.failed.each(assumptions.failure_penalty))
}

/// Returns the expected cost of recovery and of exploration, or `None` if some tokens have no price.
pub fn assumed(sums: &Sums, profile: &Profile) -> Option<Amount> {
    Some(recovery(&sums.needs, profile)? + charged(&sums.explored.tokens, profile.prices.usual())?)
}

/// Returns the US dollars of expected tokens, or nothing if some of them have no price.
pub fn usd_of_expected(tokens: &TokenUse<f64>, rates: &Rates) -> Option<f64> {
    charged(&tokens.map(Expected::from_f64), rates).map(Amount::usd)
}

/// Returns what expected tokens cost, or nothing if some of them have no price. Each kind of token is rounded for itself, so that two
/// bills with the same tokens of a kind pay the same for them.
pub fn charged(tokens: &TokenUse<Expected>, rates: &Rates) -> Option<Amount> {
    let priced = |tokens: Expected, rate: Option<Rate>| match rate {
        Some(rate) => Some(tokens.at(rate)),
        None => (tokens <= Expected::ZERO).then_some(Amount::ZERO),
    };
    Some(
        priced(tokens.read, Some(rates.read()))?
            + priced(tokens.write[0], rates.write(0))?
            + priced(tokens.write[1], rates.write(1))?
            + tokens.uncached.at(rates.input)
            + priced(tokens.output, rates.output)?,
    )
}

// What tokens cost under one price list, exactly; a price that nobody gives makes the sum unknown.

/// What requests cost, by what their tokens are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Reads from the cache.
    pub read: Cost,
    pub write: Cost,
    /// Plain input.
    pub uncached: Cost,
    pub output: Cost,
    /// Whether some token has no price; the amounts then leave it out.
    pub is_incomplete: bool,
}

ctxsim_base::quantity::packed!(Bill: [read, write, uncached, output, is_incomplete]);

impl Bill {
    /// Prices tokens at one set of rates.
    pub fn at(rates: &Rates, tokens: &TokenUse) -> Self {
        let mut is_incomplete = false;
        let mut cost = |tokens: Tokens, rate: Option<Rate>| {
            is_incomplete |= tokens > 0 && rate.is_none();
            rate.map_or(Cost::default(), |it| tokens * it)
        };
        let write = cost(tokens.write[0], rates.write(0)) + cost(tokens.write[1], rates.write(1));
        let output = cost(tokens.output, rates.output);
        Self {
            read: tokens.read * rates.read(),
            write,
            uncached: tokens.uncached * rates.input,
            output,
            is_incomplete,
        }
    }

    /// Prices one request, whose length may decide.
    pub fn of_request(list: &PriceList, request: &TokenUse) -> Self {
        match list.reach {
            TierReach::WholeRequest => Self::at(list.of_prompt(request.prompt()), request),
            TierReach::Bracket => Self::in_brackets(list, request, 0),
        }
    }

    /// Prices the tokens of a request's prompt between two places, and returns them; parts that follow one another cost together what the
    /// whole does. A prompt is reads first, then long writes, short writes, plain input.
    pub fn of_part(list: &PriceList, request: &TokenUse, [from, to]: [Tokens; 2]) -> (TokenUse, Self) {
        let part = request.up_to(to).zip(request.up_to(from), Tokens::saturating_sub);
        let bill = match list.reach {
            TierReach::WholeRequest => Self::at(list.of_prompt(request.prompt()), &part),
            TierReach::Bracket => Self::in_brackets(list, &part, from),
        };
        (part, bill)
    }

    /// Prices each token where it stands, so many tokens behind the beginning: reads first, then long writes, short writes, plain input,
    /// output.
    fn in_brackets(list: &PriceList, request: &TokenUse, from: Tokens) -> Self {
        let mut bill = Self::default();
        let starts = list.tiers.iter().map(|it| it.from_tokens.saturating_sub(1));
        let ends = starts.chain([Tokens::MAX]);
        let rates = std::iter::once(&list.base).chain(list.tiers.iter().map(|it| &it.rates));
        let mut left = *request;
        let mut start = from;
        for (rates, end) in rates.zip(ends) {
            let mut room = end.saturating_sub(start);
            let mut take = |tokens: &mut Tokens| {
                let taken = (*tokens).min(room);
                room -= taken;
                *tokens -= taken;
                taken
            };
            let read = take(&mut left.read);
            let long = take(&mut left.write[1]);
            let short = take(&mut left.write[0]);
            let uncached = take(&mut left.uncached);
            let output = if left.prompt() == 0 { std::mem::take(&mut left.output) } else { 0 };
            bill += Self::at(rates, &TokenUse { read, write: [short, long], uncached, output });
            start = start.max(end);
        }
        bill
    }

    /// Returns the sum, or nothing if some token has no price.
    pub fn total(&self) -> Option<Cost> {
        (!self.is_incomplete).then(|| self.known())
    }

    /// Returns the sum of what has a price.
    fn known(&self) -> Cost {
        self.read + self.write + self.uncached + self.output
    }
}

ctxsim_base::quantity::sums!(Bill: read, write, uncached, output; or is_incomplete);

/// Returns what it costs to keep tokens for some time, to the nearest picodollar, or nothing if nobody says.
pub fn storage(rates: &Rates, tokens: Tokens, ms: u64) -> Option<Cost> {
    storage_of(rates, u128::from(tokens).checked_mul(u128::from(ms))?)
}

/// Returns what so many tokens times milliseconds of storage cost.
fn storage_of(rates: &Rates, token_ms: u128) -> Option<Cost> {
    const HOUR_MS: u128 = 3_600_000;
    let per_hour = u128::from(rates.storage?.0);
    let product = token_ms.checked_mul(per_hour)?.checked_add(HOUR_MS / 2)?;
    Some(Cost(product / HOUR_MS))
}

/// Returns what stored contents cost: made at the price of a write, else of input, then kept, or nothing if
/// nobody says.
fn stored(rates: &Rates, tokens: Tokens, token_ms: u128) -> Option<Cost> {
    Some(tokens * rates.write(0)? + storage_of(rates, token_ms)?)
}

// What a run costs, request by request: its rows add up to its total, to the picodollar.
//
// Expected amounts are rounded once for the run. A request pays what that amount grows by when its rows are added, so that no rounding is
// lost between rows, under any price list.

/// What a request costs, and what is expected beside it; `None` where some token has no price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestCost {
    /// The request itself, by what its tokens are.
    pub bill: Bill,
    /// Recovery of what was due with it, and what it carries of what was fetched again.
    pub recovery: Option<Amount>,
    /// What is looked up anew before it, and what it carries of that.
    pub exploration: Option<Amount>,
    /// The expected change because other sessions may have left its front in the cache.
    pub left: Amount,
    /// Of the run as a whole, in its last request: what the policy's edits of fetched results change.
    pub reaction: Amount,
    /// Likewise: stored contents, calls of memories, and penalties of requests.
    pub rest: Amount,
    /// What is known of how long its model takes.
    pub waits: Option<&'static WaitModel>,
}

impl RequestCost {
    /// Returns the cost of the request itself.
    pub fn request(&self) -> Option<Cost> {
        self.bill.total()
    }

    /// Returns the sum.
    pub fn total(&self) -> Option<Amount> {
        let expected = self.recovery? + self.exploration? + self.left + self.reaction;
        Some(Amount::from(self.request()?) + expected + self.rest)
    }
}

/// Returns the agent's last request of a turn up to a step.
pub fn request_of(rows: &Rows, turn_ix: TurnIx, step: StepIx) -> Option<usize> {
    let all = &rows.requests;
    let end = all.partition_point(|it| (it.turn_ix, it.step) <= (turn_ix, step));
    (0..end).rev().take_while(|at| all[*at].turn_ix == turn_ix).find(|before| all[*before].role == Role::Main)
}

/// What is expected beside requests, of which each adds its own to the sums.
struct Growing<'a> {
    profile: &'a Profile,
    sums: Sums,
    before: [Option<Amount>; 3],
}

impl Growing<'_> {
    fn amounts(&self) -> [Option<Amount>; 3] {
        let (sums, rates) = (&self.sums, self.profile.prices.usual());
        let left = charged(&sums.left.expected, rates).unwrap_or_default();
        [recovery(&sums.needs, self.profile), charged(&sums.explored.tokens, rates), Some(left)]
    }

    /// Returns by how much the amounts have grown since it was asked last.
    fn growth(&mut self) -> [Option<Amount>; 3] {
        let now = self.amounts();
        let before = std::mem::replace(&mut self.before, now);
        [0, 1, 2].map(|it| Some(now[it]? - before[it]?))
    }
}

/// Prices the requests of a run under the profile of its session, each at the prices of the model that it goes to, with what is known of
/// the run as a whole. What is due in a turn without a request stands with the last request, too.
pub fn by_request<'a>(
    rows: &Rows,
    profile: &Profile,
    model: impl Fn(&RequestRow) -> &'a Profile,
    whole: &Costs,
) -> Vec<RequestCost> {
    let Some(last) = rows.requests.len().checked_sub(1) else { return Vec::new() };
    let mut due: BTreeMap<usize, Sums> = BTreeMap::new();
    let place = |turn, step| request_of(rows, turn, step).unwrap_or(last);
    for need in &rows.needs {
        let step = need.inferred.map_or(StepIx::MAX, |it| it.step);
        due.entry(place(need.turn_ix, step)).or_default().need(need);
    }
    for row in &rows.explored {
        due.entry(place(row.turn_ix, row.step)).or_default().explored(row);
    }
    for (at, beside) in &rows.expected {
        due.entry(*at).or_default().expected(&rows.requests[*at], beside);
    }
    let mut growing = Growing { profile, sums: Sums::default(), before: [None; 3] };
    growing.growth();
    let cost = |(at, row): (usize, &RequestRow)| {
        let grown = due.get(&at).map_or([Some(Amount::ZERO); 3], |more| {
            growing.sums += *more;
            growing.growth()
        });
        let [recovery, exploration, left] = grown;
        let (mut reaction, mut rest) = (Amount::ZERO, Amount::ZERO);
        if at == last {
            reaction = whole.reaction;
            rest = Amount::from(whole.storage + whole.memory + whole.penalty);
        }
        let (model, left) = (model(row), left.unwrap_or_default());
        let bill = Bill::of_request(model.prices.at(row.at_ms), &row.tokens());
        RequestCost { bill, recovery, exploration, left, reaction, rest, waits: model.waiting }
    };
    rows.requests.iter().enumerate().map(cost).collect()
}
