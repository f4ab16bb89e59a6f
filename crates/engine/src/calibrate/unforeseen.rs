//! What no record tells of a bill: how often it was expected and how often it happened, and what it costs.

use crate::prelude::*;

use crate::price;
use ctxsim_base::quantity::sums;
use ctxsim_timeline::odds::{Foreseen, Odds, Trigger};
use ctxsim_timeline::shared::Chance;
use ctxsim_timeline::{Diagnosis, Occasion};

/// What may happen at a request though no record tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surprise {
    /// The first request of a turn reads less than stood in the cache.
    TurnFell,
    /// Another request does.
    WithinTurnFell,
    /// A side request came before a turn where one was expected.
    SideRequest,
    /// One came where none was expected.
    UnexpectedSideRequest,
    /// A request reads only what the one before did, which had started so shortly before that what it wrote was not there yet.
    Behind,
    /// Tools and system prompt outlive a pause that the session's own entries did not.
    FrontStayed,
    /// The harness writes all messages anew, as a rule foresees, for a reason.
    Rewritten(&'static str),
}

/// Requests at which the same may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnforeseenTally {
    /// Their number.
    pub requests: usize,
    /// How often it was expected to happen.
    pub expected: f64,
    /// The same as declared for everybody, where the user's own sessions narrow the probability.
    pub expected_declared: f64,
    /// The same at the lower end of the probability's interval.
    pub expected_low: f64,
    /// At the upper end.
    pub expected_high: f64,
    /// The variance of that number if every probability is right and the requests are independent.
    pub variance: f64,
    /// How often it happened.
    pub happened: usize,
    /// The expected change of the predicted cost of input, in US dollars.
    pub expected_usd: f64,
    /// The same at the end of the interval where it is least.
    pub expected_usd_low: f64,
    /// Where it is most.
    pub expected_usd_high: f64,
    /// By how much the bill differs from the predicted cost where the prediction was wrong, in US dollars.
    pub happened_usd: f64,
    /// The expected change of the tokens read.
    pub expected_read: f64,
    /// The same at the end of the interval where it is least.
    pub expected_read_low: f64,
    /// Where it is most.
    pub expected_read_high: f64,
    /// By how much the tokens read differ from the predicted ones where the prediction was wrong.
    pub happened_read: f64,
}

sums!(UnforeseenTally: requests, expected, expected_declared, expected_low, expected_high, variance, happened, expected_usd, expected_usd_low,
    expected_usd_high, happened_usd, expected_read, expected_read_low, expected_read_high, happened_read);

/// Counts by what may happen, and by whether its probability is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unforeseen(IndexMap<(Surprise, bool), UnforeseenTally>);

/// A request, the one before it, and its bill.
#[derive(Clone, Copy, Debug)]
pub(super) struct BillMoment<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) before: &'a RequestRow,
    pub(super) row: &'a RequestRow,
    pub(super) billed: Usage,
    /// What was billed for its input, less what was predicted, in US dollars.
    pub(super) difference_usd: f64,
    pub(super) prices: &'a Prices,
}

/// What is said of one request.
struct Claim {
    what: Surprise,
    /// That it happens, if that is known.
    chance: Option<Chance>,
    has_happened: bool,
    /// Whether the prediction takes it as certain.
    is_predicted: bool,
    /// Tokens that are read besides, or fewer, where it turns out otherwise than predicted: as declared, and at the ends where the chance is
    /// least and most.
    change: [f64; 3],
}

impl Unforeseen {
    /// Counts what may have happened at a request.
    pub(super) fn add(&mut self, moment: &BillMoment<'_>) {
        let Some(odds) = &moment.timeline.odds else { return };
        for claim in moment.claims(odds) {
            *self.0.entry((claim.what, claim.chance.is_some())).or_default() += moment.tally(&claim);
        }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn merge(&mut self, other: &Self) {
        for (key, tally) in &other.0 {
            *self.0.entry(*key).or_default() += *tally;
        }
    }

    /// Returns what may happen and whether its probability is known, with the counts.
    pub fn iter(&self) -> impl Iterator<Item = (Surprise, bool, &UnforeseenTally)> {
        self.0.iter().map(|((what, is_known), tally)| (*what, *is_known, tally))
    }

    /// Returns the counts of what may happen, whether or not its probability is known.
    pub fn of(&self, what: Surprise) -> UnforeseenTally {
        let mut sum = UnforeseenTally::default();
        self.iter().filter(|it| it.0 == what).for_each(|it| sum += *it.2);
        sum
    }

    /// Returns the expected change of the predicted cost of input in US dollars: as declared, and the least and the most.
    pub fn expected_usd(&self) -> [f64; 3] {
        let ends: [fn(&UnforeseenTally) -> f64; 3] =
            [|it| it.expected_usd, |it| it.expected_usd_low, |it| it.expected_usd_high];
        ends.map(|end| self.0.values().map(end).sum())
    }
}

impl BillMoment<'_> {
    /// Returns what the entries of the request before hold.
    fn cached(&self) -> Tokens {
        self.before.prompt.saturating_sub(self.timeline.tail(self.before.step))
    }

    /// Returns whether it reads less than a share of what was to be read.
    fn fell_from(&self, tokens: Tokens, odds: &Odds) -> bool {
        self.billed.cache_read < odds.fallen_below.share_of(tokens)
    }

    /// Returns what may happen at it: nothing where nothing was to be read, or where the log tells what broke the prompt.
    fn claims(&self, odds: &Odds) -> Vec<Claim> {
        if self.row.usage.read == 0 {
            return Vec::new();
        }
        if let Some(foreseen) = odds.rewrite(self.row.step) {
            return self.foreseen(foreseen, odds).into_iter().collect();
        }
        if self.is_told() {
            return Vec::new();
        }
        let behind = self.behind(odds);
        let is_behind = behind.as_ref().is_some_and(|it| it.has_happened);
        let mut fall = self.fallen(odds);
        fall.has_happened &= !is_behind;
        let is_less = fall.has_happened || is_behind;
        let side = self.side_request(odds).filter(|_| !is_less);
        [fall].into_iter().chain(side).chain(behind).collect()
    }

    /// Returns whether the log tells why the prompt is not the one before it and more.
    fn is_told(&self) -> bool {
        let timeline = self.timeline;
        let mut occasions = timeline.recorded.iter().flat_map(|it| it.occasions.iter());
        // That the provider no longer had the entries says nothing of the prompt.
        let changed = |it: Occasion| matches!(it, Occasion::Diagnosed(it) if it != Diagnosis::Forgotten);
        if occasions.any(|(step, it)| *step == self.row.step && changed(*it)) {
            return true;
        }
        let mut events = timeline.events.iter().filter(|it| timeline.spine.step_at(it.at) == self.row.step);
        events.any(|it| match it.kind {
            EventKind::Change(setting, _) => {
                matches!(setting, Setting::Preamble | Setting::System | Setting::Model)
            }
            EventKind::Compaction(_) | EventKind::Front(_) => true,
            _ => false,
        })
    }

    /// Says that the messages were written anew, where that would lose something, or that tools and system prompt outlived a pause.
    fn foreseen(&self, foreseen: &Foreseen, odds: &Odds) -> Option<Claim> {
        let (read, cached) = (self.row.usage.read, self.cached());
        let stays = foreseen.because == Trigger::FrontStays;
        let (what, otherwise) = if stays {
            (Surprise::FrontStayed, -(read as f64))
        } else {
            (Surprise::Rewritten(foreseen.because.words()), cached as f64 - read as f64)
        };
        (stays || read < odds.fallen_below.share_of(cached)).then(|| Claim {
            what,
            chance: Some(foreseen.comes),
            has_happened: stays != self.fell_from(if stays { read } else { cached }, odds),
            is_predicted: true,
            change: [otherwise; 3],
        })
    }

    /// Says that the request falls, though nothing tells why.
    fn fallen(&self, odds: &Odds) -> Claim {
        let read = self.row.usage.read;
        let begins = self.row.turn_ix != self.before.turn_ix;
        let front = || self.timeline.front_tokens().min(read);
        let kept = odds.kept.map_or_else(
            || [front() as f64; 3],
            |it| [it.value, it.interval[1], it.interval[0]].map(|share| share * read as f64),
        );
        Claim {
            what: if begins { Surprise::TurnFell } else { Surprise::WithinTurnFell },
            chance: if begins { odds.turn } else { odds.within },
            has_happened: self.fell_from(read, odds),
            is_predicted: false,
            change: kept.map(|it| it - read as f64),
        }
    }

    /// Says that what the request before wrote is not there yet, where that one started shortly before and wrote something.
    fn behind(&self, odds: &Odds) -> Option<Claim> {
        let chance = odds.behind(self.row.at_ms - self.before.at_ms)?;
        let (read, before) = (self.row.usage.read, self.before.usage.read);
        (0 < before && before < read).then(|| Claim {
            what: Surprise::Behind,
            chance: Some(chance),
            has_happened: (before..read).contains(&self.billed.cache_read),
            is_predicted: false,
            change: [-((read - before) as f64); 3],
        })
    }

    /// Says that a side request came before it, if it begins a turn of a harness that makes them.
    fn side_request(&self, odds: &Odds) -> Option<Claim> {
        let (read, cached) = (self.row.usage.read, self.cached());
        let begins = self.row.turn_ix != self.before.turn_ix;
        if !begins || read < cached || !self.timeline.harness.makes_side_requests {
            return None;
        }
        let is_expected = read > cached;
        Some(Claim {
            what: if is_expected { Surprise::SideRequest } else { Surprise::UnexpectedSideRequest },
            chance: if is_expected { odds.side_expected } else { odds.side_unexpected },
            has_happened: self.billed.cache_read > cached,
            is_predicted: is_expected,
            change: [if is_expected { -((read - cached) as f64) } else { self.before.output as f64 }; 3],
        })
    }

    /// Counts what is said of it.
    fn tally(&self, claim: &Claim) -> UnforeseenTally {
        let Chance { value, interval: [low, high], declared } = claim.chance.unwrap_or(Chance::NONE);
        let is_known = claim.chance.is_some();
        let change = |(probability, change): (f64, f64)| {
            let otherwise = if claim.is_predicted { 1.0 - probability } else { probability };
            if is_known { otherwise * change } else { 0.0 }
        };
        let [at, at_low, at_high] = claim.change;
        let read = [(value, at), (low, at_low), (high, at_high)].map(change);
        let usd = |tokens: f64| {
            price::usd_of_expected(&self.row.left_tokens(tokens), self.prices.usual()).unwrap_or_default()
        };
        let [expected_usd, one, other] = if is_known { read.map(usd) } else { [0.0; 3] };
        let is_otherwise = claim.has_happened != claim.is_predicted;
        let difference = self.billed.cache_read as f64 - self.row.usage.read as f64;
        UnforeseenTally {
            requests: 1,
            expected: value,
            expected_declared: declared,
            expected_low: low,
            expected_high: high,
            variance: value * (1.0 - value),
            happened: usize::from(claim.has_happened),
            expected_usd,
            expected_usd_low: one.min(other),
            expected_usd_high: one.max(other),
            happened_usd: if is_otherwise { self.difference_usd } else { 0.0 },
            expected_read: read[0],
            expected_read_low: read[1].min(read[2]),
            expected_read_high: read[1].max(read[2]),
            happened_read: if is_otherwise { difference } else { 0.0 },
        }
    }
}
