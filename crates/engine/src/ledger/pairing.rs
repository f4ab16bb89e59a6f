//! Requests of two runs of a load, paired by what they are: what differs between the runs does not shift them.
//!
//! **Requests of two runs are paired by what they are** (`ledger/pairing.rs`): the step of the recording, the purpose (what the step
//! answers, a fetch of sampled needs, a summary, a keep-alive), and how many of that purpose came before it in the step. Turns do not take
//! part: in a layout without a compaction, two of them are one. `compare` pairs by it, rows, wheel and page have it as a column (`pair`),
//! and `explain` says it. Two runs did the same work if each completed all turns that it was asked, or if both stopped at the same one
//! (`Outcome::did_as_much_as`); a pair that is left out of a sum is left out of every list beside it.

use crate::prelude::*;
use serde::Serializer;

use super::{RequestRow, Role};

/// What a request is in every run of its load: the step of the recording that it belongs to, its purpose, and how many of that purpose came
/// before it there. A layout without some compactions keeps the steps, though not the turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId {
    /// The step, from 0.
    step: StepIx,
    purpose: RequestPurpose,
    /// From 0.
    attempt: u32,
}

/// What a request is sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum RequestPurpose {
    /// It is answered by the step.
    Main,
    /// The agent fetches something again.
    Fetch,
    Summariser,
    KeepAlive,
}

impl RequestPurpose {
    fn of(row: &RequestRow) -> Self {
        match row.role {
            Role::Main if row.fetches => Self::Fetch,
            Role::Main => Self::Main,
            Role::Summariser => Self::Summariser,
            Role::KeepAlive => Self::KeepAlive,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Fetch => "fetch",
            Self::Summariser => "summariser",
            Self::KeepAlive => "keep_alive",
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.step, self.purpose.name(), self.attempt)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl RequestId {
    /// Returns in a word what it is, if it is not what the step answers.
    #[doc(hidden)]
    pub fn beside(self) -> Option<&'static str> {
        match self.purpose {
            RequestPurpose::Main => None,
            RequestPurpose::Fetch => Some("fetch"),
            RequestPurpose::Summariser => Some("summary"),
            RequestPurpose::KeepAlive => Some("keep-alive"),
        }
    }

    /// Returns what the requests of a run are, in their order; no two are the same.
    pub fn of_all(rows: &[RequestRow]) -> Vec<Self> {
        let mut seen: IndexMap<(StepIx, RequestPurpose), u32> = IndexMap::new();
        let id = |row: &RequestRow| {
            let (step, purpose) = (row.step, RequestPurpose::of(row));
            let next = seen.entry((step, purpose)).or_default();
            let attempt = *next;
            *next += 1;
            Self { step, purpose, attempt }
        };
        rows.iter().map(id).collect()
    }
}

/// Pairs the requests of two runs: the places of each in both, in the order of the first run; what only the second has stands before
/// what comes next in both.
pub fn paired(runs: [&[RequestRow]; 2]) -> Vec<[Option<usize>; 2]> {
    let [first, second] = runs.map(RequestId::of_all);
    let places: IndexMap<RequestId, usize> = first.iter().enumerate().map(|(nth, it)| (*it, nth)).collect();
    let mut partners = vec![None; first.len()];
    // By place in the first run: what only the second has before it; at last, what it has behind all.
    let mut alone: Vec<Vec<usize>> = vec![Vec::new(); first.len() + 1];
    let mut waiting = Vec::new();
    for (nth, id) in second.iter().enumerate() {
        let Some(&place) = places.get(id) else {
            waiting.push(nth);
            continue;
        };
        partners[place] = Some(nth);
        alone[place].append(&mut waiting);
    }
    alone[first.len()] = waiting;
    let mut all = Vec::with_capacity(first.len());
    for (place, alone) in alone.into_iter().enumerate() {
        all.extend(alone.into_iter().map(|nth| [None, Some(nth)]));
        all.extend(partners.get(place).map(|partner| [Some(place), *partner]));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(turn_ix: u32, step: StepIx, role: Role, fetches: bool) -> RequestRow {
        RequestRow { turn_ix, step, role, fetches, ..RequestRow::default() }
    }

    #[test]
    fn a_request_has_its_partner_whatever_turn_it_is_in_and_whatever_is_asked_before_it() {
        use Role::{Main, Summariser};
        let base = [row(0, 0, Main, false), row(2, 1, Main, false), row(2, 2, Main, false)];
        let other = [
            row(0, 0, Main, false),
            row(1, 1, Summariser, false),
            row(1, 1, Main, true),
            row(1, 1, Main, false),
            row(1, 2, Main, false),
            row(1, 2, Main, true),
        ];

        let pairs = paired([&base, &other]);

        let expected = [
            [Some(0), Some(0)],
            [None, Some(1)],
            [None, Some(2)],
            [Some(1), Some(3)],
            [Some(2), Some(4)],
            [None, Some(5)],
        ];
        assert_eq!(pairs, expected);
        let back: Vec<[Option<usize>; 2]> = paired([&other, &base]);
        assert!(expected.iter().all(|[one, other]| back.contains(&[*other, *one])));
        let ids: Vec<String> = RequestId::of_all(&other).iter().map(RequestId::to_string).collect();
        assert_eq!(ids, ["0.main.0", "1.summariser.0", "1.fetch.0", "1.main.0", "2.main.0", "2.fetch.0"]);
    }
}
