//! Recorded compactions that a policy would have avoided, and the session's cost with and without them.

use crate::prelude::*;
use ctxsim_timeline::Recorded;

/// The harness's own compactions under one policy, of one session or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resets {
    /// How many were recorded.
    pub recorded: u32,
    /// Of these: compactions whose trigger the policy's prompt would not have reached.
    pub avoided: u32,
    /// Requests after such a compaction, up to the next that is not avoided.
    pub requests: u64,
    /// The cost with all of them, as recorded, and with none; `None` if a price is unknown or a limit stops
    /// the policy. In a sum, sessions without compactions are part of both.
    pub bills: [Option<Amount>; 2],
    /// Sessions in which the policy's prompts stay below the trigger, but without the compactions a limit stops
    /// it: they count as recorded.
    pub n_open: u32,
    /// Sessions in which all are avoided, but the prompt still reaches the trigger, only later.
    pub n_reached: u32,
}

packed!(Resets: [recorded, avoided, requests, bills, n_open, n_reached]);

impl Resets {
    /// Counts the compactions that a run avoids, and the requests that follow them.
    pub fn new(recorded: &Recorded, n_steps: usize, avoided: &[StepIx]) -> Self {
        let mut resets = Self::default();
        let mut nexts = recorded.compactions.iter().skip(1).map(|it| u64::from(*it));
        for step in &recorded.compactions {
            let next = nexts.next().unwrap_or(n_steps as u64);
            resets.recorded += 1;
            if avoided.contains(step) {
                resets.avoided += 1;
                resets.requests += next.saturating_sub(u64::from(*step));
            }
        }
        resets
    }

    /// Adds those of another session.
    pub fn add(&mut self, more: &Self) {
        self.recorded = self.recorded.saturating_add(more.recorded);
        self.avoided = self.avoided.saturating_add(more.avoided);
        self.requests = self.requests.saturating_add(more.requests);
        self.n_open = self.n_open.saturating_add(more.n_open);
        self.n_reached = self.n_reached.saturating_add(more.n_reached);
        self.bills = [0, 1].map(|nth| Some(self.bills[nth]? + more.bills[nth]?));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_behind_an_avoided_compaction_count_up_to_the_next_one() {
        let recorded = Recorded { compactions: vec![3, 7], ..Recorded::default() };
        let counted = |avoided: &[StepIx]| {
            let resets = Resets::new(&recorded, 10, avoided);
            (resets.recorded, resets.avoided, resets.requests)
        };

        assert_eq!(counted(&[3, 7]), (2, 2, 7));
        assert_eq!(counted(&[3]), (2, 1, 4));
        assert_eq!(counted(&[]), (2, 0, 0));
    }

    #[test]
    fn sessions_add_up_and_one_with_an_unknown_bill_leaves_that_of_all_unknown() {
        let one = Resets {
            recorded: 1,
            avoided: 1,
            requests: 5,
            bills: [4, 5].map(|it| Some(Amount(it))),
            ..Resets::default()
        };
        let other = Resets { recorded: 2, bills: [Some(Amount(1)), None], ..Resets::default() };
        let mut all = one;

        all.add(&other);

        assert_eq!((all.recorded, all.avoided, all.requests), (3, 1, 5));
        assert_eq!(all.bills, [Some(Amount(5)), None]);
    }
}
