//! How long one waits for answers: what the requests of a run take by its sums, where their model has data.
//!
//! Pauses are the user's, and requests that keep a cache warm are waited for by nobody: neither counts.

use std::ops::{Add, AddAssign};

use crate::ledger::{RequestSums, TokenUse};
use crate::prelude::*;
use crate::price::Models;
use ctxsim_input::WaitModel;

/// Nanoseconds of a millisecond.
const MS: i128 = 1_000_000;
/// Milliseconds of a minute.
const MINUTE: f64 = 60_000.0;

/// What some requests take, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    pub ms: i64,
    /// The 90% interval of a session's total.
    pub ends: [i64; 2],
    /// Whether the model of some request has no data.
    pub is_unknown: bool,
}

/// What the requests of a run take, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The agent's own requests.
    pub main: Waited,
    /// Requests that wrote summaries.
    pub compaction: Waited,
    /// Calls that fetch again what is needed, and those that look something up anew.
    pub recovery: Waited,
}

impl Waiting {
    /// Returns it so many times as long.
    pub fn times(self, share: f64) -> Self {
        let times = |it: Waited| {
            let of = |ms: i64| (ms as f64 * share).round() as i64;
            Waited { ms: of(it.ms), ends: it.ends.map(of), ..it }
        };
        Self { main: times(self.main), compaction: times(self.compaction), recovery: times(self.recovery) }
    }

    /// Returns what the requests of a ledger take; of the calls that recover something, a share shares a request with others.
    pub(super) fn new(
        sums: &Sums,
        models: Models<'_>,
        refetched: &TokenUse<Expected>,
        shared_calls: f64,
    ) -> Self {
        let session = models.session.waiting;
        let explored = &sums.explored;
        let calls = sums.needs.unsent().0 + explored.calls - explored.sent_calls;
        let own = Expected::from_f64(calls.to_f64() * (1.0 - shared_calls));
        let mut tokens = *refetched;
        tokens += explored.tokens;
        Self {
            main: Waited::expected(session, &sums.main),
            compaction: Waited::expected(models.summariser.waiting, &sums.summariser),
            recovery: Waited::of_expected(session, own, &tokens),
        }
    }

    /// Returns all of it.
    pub fn total(&self) -> Waited {
        self.main + self.compaction + self.recovery
    }
}

packed!(Waited: [ms, ends, is_unknown]);
packed!(Waiting: [main, compaction, recovery]);

impl Waited {
    /// Returns what requests of a model take; unknown if there are any and the model has no data.
    pub fn expected(model: Option<&WaitModel>, requests: &RequestSums) -> Self {
        let tokens = &requests.tokens;
        let new = tokens.prompt() - tokens.read;
        let is_any = requests.n > 0;
        Self::known(model, is_any, |it| it.rates().ns(requests.n, [new, tokens.read, tokens.output]))
    }

    /// Returns the same of expected requests.
    fn of_expected(model: Option<&WaitModel>, requests: Expected, tokens: &TokenUse<Expected>) -> Self {
        let is_any = requests != Expected::ZERO || *tokens != TokenUse::default();
        Self::known(model, is_any, |it| {
            let rates = it.rates();
            let new = tokens.prompt() - tokens.read;
            let parts = [
                (requests, rates.request),
                (new, rates.new),
                (tokens.read, rates.cached),
                (tokens.output, rates.output),
            ];
            parts.into_iter().map(|(number, ns)| number.whole(ns)).sum()
        })
    }

    fn known(model: Option<&WaitModel>, is_any: bool, ns: impl Fn(&WaitModel) -> i128) -> Self {
        let Some(model) = model else { return Self { is_unknown: is_any, ..Self::default() } };
        let ms: i64 = saturated((ns(model) + MS / 2).div_euclid(MS));
        let end = |share: f64| (ms as f64 * share).round() as i64;
        Self { ms, ends: model.session_ratio.map(end), is_unknown: false }
    }

    /// Returns the minutes; `None` where some request's model has no data.
    pub fn minutes(&self) -> Option<f64> {
        (!self.is_unknown).then(|| self.ms as f64 / MINUTE)
    }

    /// Returns the ends of their interval.
    pub fn interval(&self) -> Option<[f64; 2]> {
        (!self.is_unknown).then(|| self.ends.map(|it| it as f64 / MINUTE))
    }

    /// Returns the seconds.
    pub fn seconds(&self) -> Option<f64> {
        (!self.is_unknown).then(|| self.ms as f64 / 1_000.0)
    }
}

impl Add for Waited {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            ms: self.ms.saturating_add(more.ms),
            ends: [0, 1].map(|it| self.ends[it].saturating_add(more.ends[it])),
            is_unknown: self.is_unknown || more.is_unknown,
        }
    }
}

impl AddAssign for Waited {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

ctxsim_base::quantity::sums!(Waiting: main, compaction, recovery);

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> &'static WaitModel {
        &WaitModel::all()[0]
    }

    #[test]
    fn what_is_expected_takes_as_long_as_what_is_sent() {
        let tokens = TokenUse { read: 90_000, write: [400, 30], uncached: 70, output: 1_200 };
        let sent = Waited::expected(Some(model()), &RequestSums { n: 7, tokens, ..RequestSums::default() });

        let expected = Waited::of_expected(Some(model()), Expected::from(7_u64), &tokens.map(Expected::from));

        assert_eq!(expected, sent);
        assert!(sent.ends[0] < sent.ms && sent.ms < sent.ends[1]);
    }
}
