//! What a run costs, request by request: its rows add up to its total, to the picodollar.
//!
//! Expected amounts are rounded once for the run. A request pays what that amount grows by when its rows are added, so that no rounding is
//! lost between rows, under any price list.

use crate::prelude::*;

use super::{Bill, Costs, charged, recovery};
use crate::ledger::Rows;
use ctxsim_input::WaitModel;

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
