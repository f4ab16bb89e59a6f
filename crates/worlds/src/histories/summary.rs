//! What the sessions of a project fetched again, and what a memory would have made of it: counts and dollars.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::assumed::HistoryNumbers;
use super::names;
use super::play::{self, FetchBill, PlayedHistory, fixed, floats};
use super::stream::{FetchClass, FetchSeen, LAGS, ProjectStream, RefetchRate, lag_of};
use ctxsim_base::quantity::Tokens;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::price::usd_of_expected;
use ctxsim_input::policy::memory::SourceKind;
use ctxsim_input::profile::price::Rates;

/// Fewer fetches of what earlier sessions had fetched tell nothing.
pub(super) const PROBES_MIN: u64 = 30;

/// The lags by which fetches are told apart, in days: the first day that is too late, and what they are called.
pub(super) const DAYS: [(f64, &str); 4] =
    [(1.0, "under 1 day"), (7.0, "1 to 7 days"), (30.0, "7 to 30 days"), (f64::INFINITY, "30 days or more")];

/// What is said of whether a memory pays.
pub(super) const VERDICTS: [&str; 4] = ["pays", "harms", "open", "cannot tell"];

/// A name that is known; an alias, since serde would read a reference from the text itself.
type KnownName = &'static str;

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// What the sessions of a project fetched, and what a memory would have made of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FetchSummary {
    /// The agent's own sessions.
    pub sessions: u64,
    /// Their requests, with those of sub-agents.
    pub requests: u64,
    /// How often harnesses compacted or reset a history.
    pub resets: u64,
    /// By kind of source: what fetches found.
    #[serde(deserialize_with = "names::by_name")]
    pub kinds: IndexMap<KnownName, FetchTally>,
    /// By lag in sessions: sources fetched again that are the same, and that have changed.
    #[serde(deserialize_with = "names::by_name")]
    pub lags: IndexMap<KnownName, Again>,
    /// By lag in days.
    #[serde(deserialize_with = "names::by_name")]
    pub days: IndexMap<KnownName, Again>,
    /// What sources fetched again cost, in US dollars.
    pub again_usd: f64,
    /// What the sessions cost.
    pub billed_usd: f64,
    /// Days after which half of the sources have changed, if enough were fetched again to tell.
    pub half_life_days: Option<f64>,
    /// How many changes the agent had made itself.
    pub own_changes: u64,
    /// How often sources were fetched again, by kind and lag.
    pub rates: Vec<RateRow>,
    /// The memory file that the log shows.
    pub memory_file: Option<MemoryFile>,
    /// Sessions whose calls name a memory file.
    pub with_file: Again,
    /// The others.
    pub without_file: Again,
    /// What the policy's memory would have made of it.
    pub memory: Option<MemoryNumbers>,
}

/// What fetches of a kind of source found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchTally {
    /// Something that no session had fetched.
    pub new: FetchCount,
    /// Another part of a file that an earlier session had fetched.
    pub other_part: FetchCount,
    /// What the same session had fetched, and its prompt still held.
    pub again: FetchCount,
    /// What the same session had fetched, and its harness had taken out since.
    pub lost: FetchCount,
    /// What an earlier session had fetched, the same.
    pub unchanged: FetchCount,
    /// What an earlier session had fetched, changed.
    pub changed: FetchCount,
}

/// Fetches and their tokens, call and result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchCount {
    /// How many there are.
    pub calls: u64,
    /// Their tokens.
    pub tokens: Tokens,
}

/// Sources that earlier sessions had fetched, fetched again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// Sessions that it is told of.
    pub sessions: u64,
    /// Fetches that found the same.
    pub unchanged: u64,
    /// Fetches that found a change.
    pub changed: u64,
    /// What a memory tells as it is.
    pub fresh: u64,
    /// What it tells as it was.
    pub stale: u64,
}

/// How often sources of a kind were fetched again at a lag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateRow {
    /// The kind.
    #[serde(deserialize_with = "names::one")]
    pub kind: KnownName,
    /// The lag, in sessions.
    #[serde(deserialize_with = "names::one")]
    pub lag: KnownName,
    /// In the first half of the sessions: how many of how many.
    pub first: [u64; 2],
    /// In the second half.
    pub second: [u64; 2],
}

/// A memory file that calls named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryFile {
    /// Its name.
    pub name: String,
    /// The most tokens that a call showed of it.
    pub tokens: Tokens,
    /// What these cost if every prompt held them behind the system prompt.
    pub usd: f64,
    /// What they could spare at most: the cost of all that was fetched again unchanged.
    pub spares_at_most_usd: f64,
}

/// What a memory would have made of what was fetched again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryNumbers {
    /// Fetches of what earlier sessions had fetched.
    pub probes: u64,
    /// What it tells as it is.
    pub fresh: u64,
    /// What it tells as it was.
    pub stale: u64,
    /// Expected share of these fetches that it spares.
    pub spared: f64,
    /// Expected share of these fetches that it answers with something that has changed.
    pub misled: f64,
    /// Its tokens in a request, in the mean.
    pub shown_tokens: f64,
    /// The most tokens that a prompt held of it.
    pub shown_max: Tokens,
    /// How often it was written.
    pub writes: u64,
    /// What it costs in requests, in US dollars.
    pub carried_usd: f64,
    /// What writing it costs.
    pub written_usd: f64,
    /// What it spares.
    pub spared_usd: f64,
    /// What going by old notes costs.
    pub stale_usd: f64,
    /// What the sessions cost more with it than without; negative if it pays.
    pub net_usd: f64,
    /// The same at the ends of what is assumed.
    pub net_interval: [f64; 2],
    /// What it would spare if it went by all that it knows, and nothing had changed.
    pub at_stake_usd: f64,
    /// What going by an old note costs, in fetches.
    pub stale_fetches: f64,
    /// The share of changed sources above which it costs more than it spares; none if it does at any.
    pub harms_from: Option<f64>,
    /// Whether it pays: `pays`, `harms`, `open`, or `cannot tell` where too little was fetched again.
    #[serde(deserialize_with = "names::one")]
    pub verdict: KnownName,
}

impl FetchTally {
    /// Returns the counts of what fetches found.
    pub fn of(mut self, class: FetchClass) -> FetchCount {
        *self.of_mut(class)
    }

    fn of_mut(&mut self, class: FetchClass) -> &mut FetchCount {
        match class {
            FetchClass::New => &mut self.new,
            FetchClass::OtherPart => &mut self.other_part,
            FetchClass::Again => &mut self.again,
            FetchClass::Lost => &mut self.lost,
            FetchClass::Unchanged => &mut self.unchanged,
            FetchClass::Changed => &mut self.changed,
        }
    }

    /// Returns what fetches found again that earlier sessions had found.
    pub fn rediscovered(&self) -> FetchCount {
        self.unchanged.and(self.changed)
    }
}

impl FetchCount {
    /// Returns both together.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self { calls: self.calls + more.calls, tokens: self.tokens + more.tokens }
    }
}

impl Again {
    fn add(&mut self, more: &Self) {
        self.sessions += more.sessions;
        self.unchanged += more.unchanged;
        self.changed += more.changed;
        self.fresh += more.fresh;
        self.stale += more.stale;
    }

    /// Returns how many there are.
    pub fn n(&self) -> u64 {
        self.unchanged + self.changed
    }
}

impl RateRow {
    /// Returns the share that the first half of the sessions predicts, and that of the second.
    pub fn shares(&self) -> [Option<f64>; 2] {
        [self.first, self.second].map(|[again, of]| (of > 0).then(|| again as f64 / of as f64))
    }
}

/// Returns whether a fetch is of a source, and not the outcome of an action.
fn is_of_source(stream: &ProjectStream, seen: &FetchSeen) -> bool {
    stream.fetch(seen).kind != SourceKind::Action
}

/// Returns the US dollars of tokens at the standard prices; tokens without a price count as nothing.
pub(super) fn usd(tokens: &TokenUse<f64>, rates: &Rates) -> f64 {
    usd_of_expected(tokens, rates).unwrap_or_default()
}

impl FetchSummary {
    /// Nothing, of every kind and lag.
    fn empty() -> Self {
        Self {
            kinds: SourceKind::ALL.iter().map(|it| (it.name(), FetchTally::default())).collect(),
            lags: LAGS.iter().map(|it| (it.2, Again::default())).collect(),
            days: DAYS.iter().map(|it| (it.1, Again::default())).collect(),
            ..Self::default()
        }
    }

    /// Sums up a stream without a memory.
    pub fn new(stream: &ProjectStream, rates: &Rates) -> Self {
        let mut all = Self {
            sessions: stream.n_sessions().into(),
            requests: stream.sessions.iter().map(|it| it.requests.len() as u64).sum(),
            resets: stream.sessions.iter().map(|it| u64::from(it.resets)).sum(),
            billed_usd: usd(&floats(&stream.billed()), rates),
            ..Self::empty()
        };
        for seen in &stream.seen {
            let fetch = stream.fetch(seen);
            let counted = all.kinds.entry(fetch.kind.name()).or_default().of_mut(seen.class);
            *counted = counted.and(FetchCount { calls: 1, tokens: fetch.tokens() });
        }
        let has_file: Vec<bool> = stream.sessions.iter().map(|it| !it.memory_files.is_empty()).collect();
        for has in &has_file {
            all.of_file(*has).sessions += 1;
        }
        let mut lags: Vec<(f64, bool)> = Vec::new();
        for seen in stream.probes().filter(|it| is_of_source(stream, it)) {
            let Some(lag) = seen.lag else { continue };
            let days = lag.ms as f64 / DAY_MS;
            let is_same = seen.class == FetchClass::Unchanged;
            let one = Again { unchanged: is_same.into(), changed: (!is_same).into(), ..Again::default() };
            all.lags[lag_of(lag.sessions)].add(&one);
            all.days[DAYS.iter().position(|it| days < it.0).unwrap_or(DAYS.len() - 1)].add(&one);
            all.of_file(has_file[seen.session]).add(&one);
            all.again_usd += usd(&floats(&seen.cost), rates);
            all.own_changes += u64::from(seen.is_own_change);
            lags.push((days, is_same));
        }
        all.half_life_days = half_life(&lags).filter(|_| lags.len() as u64 >= PROBES_MIN);
        let row = |((kind, lag), [first, second]): ((SourceKind, usize), [RefetchRate; 2])| RateRow {
            kind: kind.name(),
            lag: LAGS[lag].2,
            first: [first.again, first.of],
            second: [second.again, second.of],
        };
        all.rates = stream.rates().into_iter().filter(|it| it.0.0 != SourceKind::Action).map(row).collect();
        all.memory_file = stream.memory_file().map(|(name, tokens)| MemoryFile {
            name: name.to_owned(),
            tokens,
            usd: usd(&fixed(stream, tokens), rates),
            spares_at_most_usd: unchanged_usd(stream, rates),
        });
        all
    }

    /// Returns what is told of sessions with or without a memory file.
    fn of_file(&mut self, has_file: bool) -> &mut Again {
        if has_file { &mut self.with_file } else { &mut self.without_file }
    }

    /// Adds what a memory told, by lag.
    pub fn with_lags(mut self, played: &PlayedHistory) -> Self {
        for (own, [fresh, stale]) in self.lags.values_mut().zip(played.by_lag) {
            own.add(&Again { fresh, stale, ..Again::default() });
        }
        self
    }

    /// Returns what was fetched again of sources.
    pub fn rediscovered(&self) -> FetchCount {
        self.found(FetchClass::Unchanged).and(self.found(FetchClass::Changed))
    }

    /// Returns what fetches of sources found.
    pub fn found(&self, class: FetchClass) -> FetchCount {
        let of_sources = self.kinds.iter().filter(|it| *it.0 != SourceKind::Action.name());
        of_sources.fold(FetchCount::default(), |sum, it| sum.and(it.1.of(class)))
    }

    /// Adds the sessions of another project under the same policy.
    pub fn add(&mut self, more: &Self) {
        if let (Some(own), Some(it)) = (&mut self.memory, &more.memory) {
            own.add(it, [self.requests, more.requests]);
        }
        self.sessions += more.sessions;
        self.requests += more.requests;
        self.resets += more.resets;
        for (kind, found) in &more.kinds {
            let own = self.kinds.entry(kind).or_default();
            FetchClass::ALL.iter().for_each(|it| *own.of_mut(*it) = own.of(*it).and(found.of(*it)));
        }
        for (own, more) in [(&mut self.lags, &more.lags), (&mut self.days, &more.days)] {
            more.iter().for_each(|(name, it)| own.entry(name).or_default().add(it));
        }
        self.again_usd += more.again_usd;
        self.billed_usd += more.billed_usd;
        self.half_life_days = None;
        self.own_changes += more.own_changes;
        for row in &more.rates {
            match self.rates.iter_mut().find(|it| (it.kind, it.lag) == (row.kind, row.lag)) {
                Some(own) => (0..2).for_each(|it| {
                    own.first[it] += row.first[it];
                    own.second[it] += row.second[it];
                }),
                None => self.rates.push(row.clone()),
            }
        }
        self.with_file.add(&more.with_file);
        self.without_file.add(&more.without_file);
    }

    /// Returns a number that stands beside the cost, by its name.
    pub fn number(&self, name: &str) -> Option<Statistic> {
        let memory = self.memory.as_ref();
        let value = match name {
            "spared" => memory?.spared,
            "misled" => memory?.misled,
            "net_usd" => memory?.net_usd,
            "rediscovered_calls" => self.rediscovered().calls as f64,
            "rediscovered_tokens" => self.rediscovered().tokens as f64,
            _ => return None,
        };
        Statistic::new([value].into_iter())
    }

    /// Returns numbers that have all that such numbers can have.
    pub fn sample() -> Self {
        Self {
            half_life_days: Some(0.0),
            memory_file: Some(MemoryFile::default()),
            memory: Some(MemoryNumbers { harms_from: Some(0.0), ..MemoryNumbers::default() }),
            ..Self::empty()
        }
    }
}

impl MemoryNumbers {
    /// Returns the share of changed sources above which it costs more than it spares: a share `r` spares `1 − r` of what is at stake,
    /// and costs `r` times what stale notes cost beyond the fetch that they put off.
    fn harms_from(&self) -> Option<f64> {
        let cost = self.carried_usd + self.written_usd;
        let pays = self.at_stake_usd > cost && self.stale_fetches > 0.0;
        pays.then(|| ((1.0 - cost / self.at_stake_usd) / self.stale_fetches).min(1.0))
    }

    /// Adds what the same memory came to in another project.
    fn add(&mut self, more: &Self, [own_requests, more_requests]: [u64; 2]) {
        let mean = |own: f64, own_n: u64, more: f64, more_n: u64| {
            let n = own_n + more_n;
            if n == 0 { 0.0 } else { (own * own_n as f64 + more * more_n as f64) / n as f64 }
        };
        self.spared = mean(self.spared, self.probes, more.spared, more.probes);
        self.misled = mean(self.misled, self.probes, more.misled, more.probes);
        self.shown_tokens = mean(self.shown_tokens, own_requests, more.shown_tokens, more_requests);
        self.probes += more.probes;
        self.fresh += more.fresh;
        self.stale += more.stale;
        self.shown_max = self.shown_max.max(more.shown_max);
        self.writes += more.writes;
        self.carried_usd += more.carried_usd;
        self.written_usd += more.written_usd;
        self.spared_usd += more.spared_usd;
        self.stale_usd += more.stale_usd;
        self.net_usd += more.net_usd;
        (0..2).for_each(|it| self.net_interval[it] += more.net_interval[it]);
        self.at_stake_usd += more.at_stake_usd;
        self.harms_from = self.harms_from();
        self.verdict = verdict(self.probes, self.net_interval);
    }
}

/// Says whether a memory pays.
pub(super) fn verdict(probes: u64, [low, high]: [f64; 2]) -> &'static str {
    match () {
        // Nothing has a price.
        () if low >= 0.0 && high <= 0.0 => "cannot tell",
        // Whatever agents make of it, it costs more than it could spare.
        () if low > 0.0 => "harms",
        () if probes < PROBES_MIN => "cannot tell",
        () if high < 0.0 => "pays",
        () => "open",
    }
}

/// Returns what all that was fetched again unchanged cost.
fn unchanged_usd(stream: &ProjectStream, rates: &Rates) -> f64 {
    let same = stream.probes().filter(|it| it.class == FetchClass::Unchanged && is_of_source(stream, it));
    same.map(|it| usd(&floats(&it.cost), rates)).fold(0.0, |sum, it| sum + it)
}

/// Returns the days after which half of the sources have changed, if they change at a constant rate: that under which what was found
/// after so many days is most likely. None if nothing has changed, or all of it.
fn half_life(found: &[(f64, bool)]) -> Option<f64> {
    let n_changed = found.iter().filter(|it| !it.1).count();
    if n_changed == 0 || n_changed == found.len() {
        return None;
    }
    // A source has changed after t days with 1 − exp(−r t); the slope of the likelihood falls with r.
    let slope = |rate: f64| {
        let one = |(days, is_same): &(f64, bool)| {
            let days = days.max(1.0 / 1_440.0);
            if *is_same { -days } else { days / (rate * days).exp_m1() }
        };
        found.iter().map(one).sum::<f64>()
    };
    let (mut low, mut high) = (1e-9_f64, 1e6_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some(std::f64::consts::LN_2 / low)
}

/// Returns what is told beside the bill of a memory, from what it came to with and without.
pub(super) fn memory(
    played: &PlayedHistory,
    stream: &ProjectStream,
    numbers: &HistoryNumbers,
    (trusts, notes_actions): (f64, bool),
    (rates, net_usd, net_interval): (&Rates, f64, [f64; 2]),
) -> MemoryNumbers {
    let of = |it: &TokenUse| usd(&floats(it), rates);
    let of_answered = |it: &FetchBill| of(&it.cost);
    // What is carried may be less of one kind and more of another: each is priced, whichever sign it has.
    let carried_usd = signed_usd(&play::expected(&played.carried), rates);
    let written_usd = of(&played.written);
    let topics_usd = usd(&played.topics, rates);
    let [fresh_usd, stale_usd] = [of_answered(&played.fresh), of_answered(&played.stale)];
    let counts = |it: &&FetchSeen| is_of_source(stream, it) || notes_actions;
    let probes = stream.probes().filter(counts).count() as u64;
    let share = |n: u64| if probes == 0 { 0.0 } else { trusts * n as f64 / probes as f64 };
    let factor = numbers.stale.fetches;
    let n_requests = stream.sessions.iter().map(|it| it.requests.len()).sum::<usize>().max(1);
    let told = MemoryNumbers {
        probes,
        fresh: played.fresh.n,
        stale: played.stale.n,
        spared: share(played.fresh.n),
        misled: share(played.stale.n),
        shown_tokens: played.shown as f64 / n_requests as f64,
        shown_max: played.shown_max,
        writes: played.writes,
        carried_usd,
        written_usd,
        spared_usd: trusts * (fresh_usd - topics_usd),
        stale_usd: trusts * stale_usd * (factor - 1.0),
        net_usd,
        net_interval,
        at_stake_usd: trusts * (fresh_usd + stale_usd - topics_usd),
        stale_fetches: factor,
        harms_from: None,
        verdict: verdict(probes, net_interval),
    };
    MemoryNumbers { harms_from: told.harms_from(), ..told }
}

/// Returns the US dollars of tokens of any sign.
fn signed_usd(tokens: &TokenUse<f64>, rates: &Rates) -> f64 {
    let more = tokens.map(|it| it.max(0.0));
    usd(&more, rates) - usd(&(more - *tokens), rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_sources_have_changed_after_the_half_life() {
        let found = |days: f64, same: usize, changed: usize| {
            std::iter::repeat_n((days, true), same).chain(std::iter::repeat_n((days, false), changed))
        };
        let half_life = |found: Vec<(f64, bool)>| half_life(&found);

        let ten = half_life(found(10.0, 20, 20).collect()).unwrap();
        assert!((ten - 10.0).abs() < 1e-6, "{ten}");
        // A quarter is left after two half-lives.
        let five = half_life(found(10.0, 10, 30).collect()).unwrap();
        assert!((five - 5.0).abs() < 1e-6, "{five}");
        let mixed = half_life(found(10.0, 20, 20).chain(found(20.0, 10, 30)).collect()).unwrap();
        assert!((mixed - 10.0).abs() < 1e-6, "{mixed}");
        assert_eq!(half_life(found(10.0, 40, 0).collect()), None, "it is longer than anyone has seen");
        assert_eq!(half_life(Vec::new()), None);
    }

    #[test]
    fn a_verdict_needs_prices_and_enough_fetches_unless_nothing_could_pay() {
        assert_eq!(verdict(30, [-2.0, -1.0]), "pays");
        assert_eq!(verdict(30, [-1.0, 1.0]), "open");
        assert_eq!(verdict(0, [1.0, 2.0]), "harms");
        assert_eq!(verdict(29, [-2.0, -1.0]), "cannot tell");
        assert_eq!(verdict(30, [0.0, 0.0]), "cannot tell");
    }
}
