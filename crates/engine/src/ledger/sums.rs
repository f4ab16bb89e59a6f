//! A ledger folded to the sums that prices need.

use std::ops::{Add, AddAssign, Sub};

use crate::prelude::*;
use serde::{Deserializer, Serializer};

use super::{CallRow, ExpectedRow, ExploredRow, MemoryEffect, NeedRow, RequestRow, Role, Sink, UserRow};
use ctxsim_base::quantity::sums;
use ctxsim_timeline::Level;
use ctxsim_timeline::evidence::RUNNING;

/// Sums of the requests of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestSums {
    /// The number of requests.
    pub n: u64,
    pub tokens: TokenUse,
    /// The longest prompt.
    pub prompt_max: Tokens,
    /// The longest output.
    pub output_max: Tokens,
    /// Turns that summaries replaced.
    pub items: u64,
}

/// Sums of the needs: expected values, or counts if needs are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NeedSums {
    /// Recovery calls.
    pub calls: Expected,
    /// Repeated calls.
    pub repeats: Expected,
    /// Tokens fetched, without overheads.
    pub fetched: Expected,
    /// Failures.
    pub failed: Expected,
    /// Calls that were actually sent, and are priced as requests.
    pub sent_calls: Expected,
    /// Tokens fetched by these.
    pub sent_fetched: Expected,
    /// The expected tokens of recovery, as the requests would be billed.
    pub refetched: TokenUse<Expected>,
    /// Weights of the needs above `global_conclusion`, without those of users' messages.
    pub weight: f64,
    /// The part of that weight that prompts met.
    pub met: f64,
    /// The part that model's summaries may still say, by published rates: as published, and at either end of their intervals.
    pub told: ToldWeights,
    /// The needs of what users asked.
    pub users: UserSums,
}

/// Sums of the needs of what users asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserSums {
    /// Their weights: as assumed, and at the ends of the interval.
    pub weight: ToldWeights,
    /// The part that prompts met, as assumed.
    pub met: f64,
    /// That part at the lower end of the weights, where summaries keep the least and the most.
    pub met_low: MetEnds,
    /// The same at the upper end of the weights.
    pub met_high: MetEnds,
    /// Of these weights, those of the turns' own messages, and the part that was met.
    pub running: f64,
    pub running_met: f64,
}

/// What is met at either end of what summaries keep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MetEnds {
    pub least: f64,
    pub most: f64,
}

/// Weights at published rates, and at either end of their intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToldWeights {
    /// As published.
    pub value: f64,
    /// At the lower end.
    pub low: f64,
    /// At the upper end.
    pub high: f64,
}

/// Sums of what was looked up anew because context was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExploredSums {
    pub calls: Expected,
    /// Tokens that they bring, without overheads.
    pub fetched: Expected,
    /// Calls that were actually sent, and are priced as requests.
    pub sent_calls: Expected,
    /// The expected tokens of the others, as the requests would be billed.
    pub tokens: TokenUse<Expected>,
}

/// The expected change of the bill because sessions that nobody recorded may have left tools and system prompt in the cache, and because
/// longer-lived entries than the recorded ones may be missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeftSums {
    /// As declared.
    pub expected: TokenUse<Expected>,
    /// At the lower end of the probability's interval.
    pub low: TokenUse<Expected>,
    /// At the upper end.
    pub high: TokenUse<Expected>,
}

/// Sums of the stored contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplicitCacheSums {
    /// The number of contents.
    pub n: u64,
    pub tokens: Tokens,
    /// Tokens times milliseconds.
    pub token_ms: u128,
}

/// Sums of the calls from memories to their services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySums {
    /// Calls that write.
    pub writes: u64,
    pub write_tokens: Tokens,
    /// Calls that read.
    pub reads: u64,
    pub read_tokens: Tokens,
    /// Calls that wait.
    pub waits: u64,
}

impl MemorySums {
    pub fn calls(&self) -> u64 {
        self.writes.saturating_add(self.reads).saturating_add(self.waits)
    }
}

/// A ledger folded to the sums that prices need; a flat price list needs nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The agent's own requests.
    pub main: RequestSums,
    /// The summariser's requests.
    pub summariser: RequestSums,
    /// Keep-alive requests.
    pub keep_alive: RequestSums,
    /// Summaries that replaced something; a review request replaces nothing.
    pub compactions: u64,
    pub needs: NeedSums,
    /// The stored contents.
    pub stored: ExplicitCacheSums,
    /// The calls of memories.
    pub memory: MemorySums,
    /// What may have been left by other sessions.
    pub left: LeftSums,
    /// What was looked up anew.
    pub explored: ExploredSums,
}

sums!(RequestSums: n, tokens, items; max prompt_max, output_max);
sums!(NeedSums: calls, repeats, fetched, failed, sent_calls, sent_fetched, refetched, weight, met, told, users);
sums!(UserSums: weight, met, met_low, met_high, running, running_met);
sums!(MetEnds: least, most);
sums!(ToldWeights: value, low, high);
sums!(ExplicitCacheSums: n, tokens, token_ms);
sums!(LeftSums: expected, low, high);
sums!(ExploredSums: calls, fetched, sent_calls, tokens);
sums!(MemorySums: writes, write_tokens, reads, read_tokens, waits);
sums!(Sums: main, summariser, keep_alive, compactions, needs, stored, memory, left, explored);

packed!(RequestSums: [n, tokens, items, prompt_max, output_max]);
packed!(NeedSums: [calls, repeats, fetched, failed, sent_calls, sent_fetched, refetched, weight, met, told, users]);
packed!(UserSums: [weight, met, met_low, met_high, running, running_met]);
packed!(MetEnds: [least, most]);
packed!(ToldWeights: [value, low, high]);
packed!(ExplicitCacheSums: [n, tokens, token_ms]);
packed!(LeftSums: [expected, low, high]);
packed!(ExploredSums: [calls, fetched, sent_calls, tokens]);
packed!(MemorySums: [writes, write_tokens, reads, read_tokens, waits]);
packed!(Sums: [main, summariser, keep_alive, compactions, needs, stored, memory, left, explored]);

impl NeedSums {
    /// Returns expected calls that were not sent, and the tokens they fetch: they have no requests to price.
    pub fn unsent(&self) -> (Expected, Expected) {
        (self.calls - self.sent_calls, self.fetched - self.sent_fetched)
    }

    /// Adds what fetches a need again, rounded once.
    #[inline(always)]
    fn ask(&mut self, row: &NeedRow) {
        if row.calls != 0.0 {
            let calls = Expected::from_f64(row.calls);
            // The product is rounded, not a factor: a rounded number of calls would be off by as much for each token that they fetch.
            let fetched = Expected::from_f64(row.calls * row.fetched as f64);
            self.calls += calls;
            self.fetched += fetched;
            if row.is_sent {
                self.sent_calls += calls;
                self.sent_fetched += fetched;
            }
        }
        if row.repeats != 0.0 {
            self.repeats += Expected::from_f64(row.repeats);
        }
        if row.failed != 0.0 {
            self.failed += Expected::from_f64(row.failed);
        }
        if let Some(refetched) = row.refetched {
            self.bill(refetched);
        }
    }

    /// Adds how it is billed; apart, because no need of an agent without terms is.
    #[inline(never)]
    fn bill(&mut self, refetched: TokenUse<f64>) {
        self.refetched += refetched.map(Expected::from_f64);
    }

    /// Returns what prompts met of everything that was needed, and all of that: what users asked included.
    pub fn evidence(&self) -> (f64, f64) {
        (self.met + self.users.met, self.weight + self.users.weight.value)
    }

    /// Returns the lowest and the highest share of everything that prompts met, over what is assumed of users' messages.
    pub fn evidence_ends(&self) -> [f64; 2] {
        let UserSums { weight, met_low, met_high, .. } = self.users;
        let ends = [(weight.low, met_low), (weight.high, met_high)];
        let shares = ends.into_iter().flat_map(|(weight, met)| {
            [met.least, met.most].map(|it| (self.met + it) / (self.weight + weight))
        });
        shares.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], it| [low.min(it), high.max(it)])
    }
}

impl UserSums {
    /// Apart, and by value: a row whose address is taken is made whole, and most rows are not of users.
    #[inline(never)]
    fn add(&mut self, weight: f64, met: f64, ends: UserRow, is_running: bool) {
        let ([low, high], [least, most]) = (ends.weights, ends.met);
        self.weight += ToldWeights { value: weight, low, high };
        self.met += weight * met;
        self.met_low += MetEnds { least: low * least, most: low * most };
        self.met_high += MetEnds { least: high * least, most: high * most };
        if is_running {
            self.running += weight;
            self.running_met += weight * met;
        }
    }
}

impl RequestSums {
    // Where a row is made, most of it is known to be zero.
    #[inline(always)]
    fn add(&mut self, row: &RequestRow) {
        self.n += 1;
        self.tokens += row.tokens();
        self.prompt_max = self.prompt_max.max(row.prompt);
        self.output_max = self.output_max.max(row.output);
        self.items += u64::from(row.items);
    }
}

impl Sink for Sums {
    #[inline(always)]
    fn request(&mut self, row: &RequestRow) {
        match row.role {
            Role::Main => self.main.add(row),
            Role::KeepAlive => self.keep_alive.add(row),
            Role::Summariser => {
                self.compactions += u64::from(row.items > 0);
                self.summariser.add(row);
            }
        }
    }

    #[inline]
    fn expected(&mut self, row: &RequestRow, beside: &ExpectedRow) {
        if beside.recovered.tokens > 0.0 {
            self.needs.refetched += row.carried_tokens(beside.recovered).map(Expected::from_f64);
        }
        if beside.explored.tokens > 0.0 {
            self.explored.tokens += row.carried_tokens(beside.explored).map(Expected::from_f64);
        }
        if beside.left != [0.0; 3] {
            let [expected, low, high] = beside.left.map(|it| row.left_tokens(it).map(Expected::from_f64));
            self.left += LeftSums { expected, low, high };
        }
    }

    #[inline]
    fn explored(&mut self, row: &ExploredRow) {
        let sums = &mut self.explored;
        let calls = Expected::from_f64(row.calls);
        sums.calls += calls;
        sums.fetched += Expected::from_f64(row.fetched);
        match row.tokens {
            Some(tokens) => sums.tokens += tokens.map(Expected::from_f64),
            None => sums.sent_calls += calls,
        }
    }

    // As with requests: a row that is added where it is made is never made whole.
    #[inline(always)]
    fn need(&mut self, row: &NeedRow) {
        let needs = &mut self.needs;
        // Most needs are met: nothing is fetched.
        if row.calls > 0.0 || row.failed > 0.0 || row.refetched.is_some() {
            needs.ask(row);
        }
        if let Some(ends) = row.of_user {
            needs.users.add(row.weight, row.met, ends, row.inferred.is_some_and(|it| it.rule == RUNNING));
        } else if row.level > Level::GlobalConclusion {
            needs.weight += row.weight;
            needs.met += row.weight * row.met;
            if let Some(fact) = row.told {
                let unmet = row.weight * (1.0 - row.met);
                let [value, low, high] = fact.kept().map(|it| it * unmet);
                needs.told += ToldWeights { value, low, high };
            }
        }
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.stored.n += 1;
        self.stored.tokens = self.stored.tokens.saturating_add(row.tokens);
        self.stored.token_ms = self.stored.token_ms.saturating_add(row.token_ms);
    }

    fn memory(&mut self, row: &CallRow) {
        let sums = &mut self.memory;
        let (calls, tokens) = match row.kind.effect() {
            MemoryEffect::Write => (&mut sums.writes, &mut sums.write_tokens),
            MemoryEffect::Read => (&mut sums.reads, &mut sums.read_tokens),
            MemoryEffect::Wait => {
                sums.waits = sums.waits.saturating_add(row.calls);
                return;
            }
        };
        *calls = calls.saturating_add(row.calls);
        *tokens = tokens.saturating_add(row.tokens);
    }
}

// Tokens by how they are billed: of one request, of several, or expected.

/// Tokens by how they are billed; exact numbers, or expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUse<T = Tokens> {
    /// Read from the cache.
    pub read: T,
    /// Written to it, by lifetime class: short, long.
    pub write: [T; 2],
    /// Plain input.
    pub uncached: T,
    /// Written by the model.
    pub output: T,
}

impl<T: Serialize> Serialize for TokenUse<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.read, &self.write, &self.uncached, &self.output).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TokenUse<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (read, write, uncached, output) = Deserialize::deserialize(from)?;
        Ok(Self { read, write, uncached, output })
    }
}

impl<T: Copy> TokenUse<T> {
    /// Returns what each kind of token becomes.
    pub fn map<U>(self, one: impl Fn(T) -> U) -> TokenUse<U> {
        let Self { read, write, uncached, output } = self;
        TokenUse { read: one(read), write: write.map(&one), uncached: one(uncached), output: one(output) }
    }

    /// Returns what each kind of token becomes together with that of another bill.
    pub fn zip<U>(self, other: Self, both: impl Fn(T, T) -> U) -> TokenUse<U> {
        TokenUse {
            read: both(self.read, other.read),
            write: [0, 1].map(|it| both(self.write[it], other.write[it])),
            uncached: both(self.uncached, other.uncached),
            output: both(self.output, other.output),
        }
    }
}

impl<T: Copy + Add<Output = T>> TokenUse<T> {
    /// Returns the tokens of the prompts.
    #[inline]
    pub fn prompt(&self) -> T {
        self.read + self.write[0] + self.write[1] + self.uncached
    }
}

impl TokenUse {
    /// Returns the first tokens of its prompt: reads stand before long writes, those before short ones, and plain input behind all.
    pub fn up_to(&self, end: Tokens) -> Self {
        let mut left = end;
        let mut take = |tokens: Tokens| {
            let taken = tokens.min(left);
            left -= taken;
            taken
        };
        let (read, long, short) = (take(self.read), take(self.write[1]), take(self.write[0]));
        Self { read, write: [short, long], uncached: take(self.uncached), output: 0 }
    }
}

impl<T: Copy + AddAssign> AddAssign for TokenUse<T> {
    #[inline]
    fn add_assign(&mut self, more: Self) {
        self.read += more.read;
        self.write[0] += more.write[0];
        self.write[1] += more.write[1];
        self.uncached += more.uncached;
        self.output += more.output;
    }
}

impl<T: Copy + Sub<Output = T>> Sub for TokenUse<T> {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        self.zip(less, Sub::sub)
    }
}
