//! How much of the working context is missing because a policy took it out, which fades as the work goes on.
//!
//! What was removed counts in full at the next request, and evenly less at each one after, until it counts nothing. What comes back is
//! taken off. A reset by the harness and a new session begin with nothing missing: what follows them is in the load already.

use std::collections::VecDeque;

use crate::prelude::*;

/// The tokens that a policy has removed lately.
#[derive(Clone, Debug)]
pub struct Removed {
    /// In how many requests what was removed fades.
    window: u32,
    /// By request, the oldest first: what was removed before it, less what came back.
    by_request: VecDeque<i64>,
    sum: i64,
    /// Their sum, each weighed by the requests in which it still counts.
    weighed: i64,
    /// What was removed since the last request.
    since: i64,
}

impl Removed {
    /// Begins with nothing removed.
    pub fn new(window: u32) -> Self {
        Self { window: window.max(1), by_request: VecDeque::new(), sum: 0, weighed: 0, since: 0 }
    }

    /// Notes that a prompt of so many tokens has so many now, because the policy edited it or took an edit back.
    #[inline]
    pub fn note(&mut self, before: Tokens, after: Tokens) {
        self.since = self.since.saturating_add(before.cast_signed()).saturating_sub(after.cast_signed());
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        *self = Self::new(self.window);
    }

    /// Returns the tokens that are missing at the next request, faded; 0 where nothing is.
    #[inline]
    pub fn at_request(&mut self) -> f64 {
        if self.since == 0 && self.by_request.is_empty() {
            return 0.0;
        }
        self.advance()
    }

    fn advance(&mut self) -> f64 {
        // Each counts for one request less; what has counted to its end goes.
        self.weighed = self.weighed.saturating_sub(self.sum);
        if self.by_request.len() == self.window as usize {
            self.sum = self.sum.saturating_sub(self.by_request.pop_front().unwrap_or_default());
        }
        let new = std::mem::take(&mut self.since);
        self.by_request.push_back(new);
        self.sum = self.sum.saturating_add(new);
        self.weighed = self.weighed.saturating_add(new.saturating_mul(i64::from(self.window)));
        if self.by_request.iter().all(|it| *it == 0) {
            self.by_request.clear();
        }
        self.weighed.max(0) as f64 / f64::from(self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_fades_evenly_and_is_gone_after_its_window() {
        let mut removed = Removed::new(4);
        removed.note(1_000, 200);

        let missing: Vec<f64> = (0..6).map(|_| removed.at_request()).collect();

        assert_eq!(missing, [800.0, 600.0, 400.0, 200.0, 0.0, 0.0]);
    }

    #[test]
    fn what_is_taken_out_for_each_request_anew_is_missing_once() {
        let mut removed = Removed::new(4);
        let missing: Vec<f64> = (0..3)
            .map(|_| {
                removed.note(1_000, 200);
                let it = removed.at_request();
                removed.note(200, 1_000);
                it
            })
            .collect();

        assert_eq!(missing, [800.0, 600.0, 400.0]);
    }

    #[test]
    fn removals_add_up_and_a_reset_forgets_them() {
        let mut removed = Removed::new(2);
        removed.note(100, 0);
        assert_eq!(removed.at_request(), 100.0);
        removed.note(100, 0);
        assert_eq!(removed.at_request(), 150.0);
        removed.forget();
        assert_eq!(removed.at_request(), 0.0);
    }
}
