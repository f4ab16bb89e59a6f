//! Recorded compactions that a policy would have avoided, and the session's cost with and without them.

use crate::quantity::Tokens;
use crate::timeline::{Recorded, StepIx};

/// The harness's own compactions under one policy, of one session or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resets {
    /// How many were recorded.
    pub recorded: u32,
    /// Of these: compactions whose trigger the policy's prompt would not have reached.
    pub avoided: u32,
    /// Requests after such a compaction, up to the next that is not avoided.
    pub requests: u64,
    /// US dollars of the sessions in which all are avoided: as recorded, and with all undone; `None` if there
    /// are none, or if one of them is unknown.
    pub bills: Option<[f64; 2]>,
    /// Sessions of these that cannot be compared: a price is unknown, or a limit stops the policy.
    pub n_open: u32,
    /// Sessions in which the prompt still reaches the trigger, only later.
    pub n_reached: u32,
}

impl Resets {
    /// Counts the compactions that a run would have avoided, from its prompts in step order.
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

    /// Returns whether there were any and all are avoided.
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
