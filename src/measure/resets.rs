//! Compactions of a recorded session that a policy would have avoided, and what the session costs with and without them.

use crate::quantity::Tokens;
use crate::timeline::{Recorded, StepIx};

/// The compactions that a harness made on its own account, as one policy meets them; of one session, or of several added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resets {
    /// How many were recorded.
    pub recorded: u32,
    /// Of these: the policy's prompt would not have reached what the harness compacts at.
    pub avoided: u32,
    /// Requests that follow one of these, up to the next that is not avoided.
    pub requests: u64,
    /// US dollars of the sessions of which all are avoided: as recorded, and with all of them undone; none where there is no such
    /// session, or where it cannot be said of one.
    pub bills: Option<[f64; 2]>,
    /// How many of these sessions cannot be compared: a price is unknown, or a limit stops the policy.
    pub n_open: u32,
    /// In how many of them the prompt comes to what the harness compacts at all the same, only elsewhere.
    pub n_reached: u32,
}

impl Resets {
    /// Counts the compactions that a run would have avoided, by its prompts in the order of its steps.
    #[must_use]
    pub fn new(recorded: &Recorded, n_steps: usize, prompts: &[(StepIx, Tokens)]) -> Self {
        let mut resets = Self::default();
        let mut nexts = recorded.compactions.iter().skip(1).map(|it| u64::from(*it));
        for step in &recorded.compactions {
            let next = nexts.next().unwrap_or(n_steps as u64);
            let before = prompts.binary_search_by_key(&step.saturating_sub(1), |it| it.0);
            resets.recorded += 1;
            if before.is_ok_and(|it| prompts[it].1 < recorded.avoided_below) {
                resets.avoided += 1;
                resets.requests += next.saturating_sub(u64::from(*step));
            }
        }
        resets
    }

    /// Returns whether there were some and all are avoided.
    #[must_use]
    pub fn are_all_avoided(&self) -> bool {
        self.recorded > 0 && self.avoided == self.recorded
    }

    /// Adds those of another session.
    pub fn add(&mut self, more: &Self) {
        self.recorded += more.recorded;
        self.avoided += more.avoided;
        self.requests += more.requests;
        self.n_open += more.n_open;
        self.n_reached += more.n_reached;
        self.bills = match (self.bills, more.bills) {
            (Some([kept, undone]), Some(more)) => Some([kept + more[0], undone + more[1]]),
            (one, other) => one.or(other),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Recorded {
        Recorded { compactions: vec![3, 7], avoided_below: 100, ..Recorded::default() }
    }

    #[test]
    fn a_compaction_is_avoided_where_the_prompt_of_the_request_before_it_is_smaller_than_what_was_compacted()
    {
        let prompts = |third, seventh| [(0, 10), (2, third), (3, 300), (6, seventh), (7, 300)];
        let avoided = |prompts: &[(StepIx, Tokens)]| {
            let resets = Resets::new(&recorded(), 10, prompts);
            (resets.recorded, resets.avoided, resets.requests)
        };

        assert_eq!(avoided(&prompts(99, 99)), (2, 2, 7));
        assert_eq!(avoided(&prompts(99, 100)), (2, 1, 4));
        assert_eq!(avoided(&prompts(100, 100)), (2, 0, 0));
        assert_eq!(avoided(&prompts(99, 99)[..3]), (2, 1, 4), "what stopped before it avoids nothing");
    }

    #[test]
    fn sessions_add_up_and_one_without_bills_leaves_those_of_the_others() {
        let mut all =
            Resets { recorded: 1, avoided: 1, requests: 5, bills: Some([4.0, 5.0]), ..Resets::default() };

        all.add(&Resets { recorded: 2, ..Resets::default() });
        all.add(&Resets {
            recorded: 1,
            avoided: 1,
            requests: 2,
            bills: Some([1.0, 1.5]),
            ..Resets::default()
        });

        assert_eq!((all.recorded, all.avoided, all.requests), (4, 2, 7));
        assert_eq!(all.bills, Some([5.0, 6.5]));
        assert!(!all.are_all_avoided());
    }
}
