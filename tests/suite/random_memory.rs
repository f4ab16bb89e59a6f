//! Random memories beside the window.

use ctxsim::input::policy::memory::{
    Extract, FactMemory, Facts, Memory, Part, Read, State, Store, When, Write,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A memory of entries, or none.
pub(crate) fn memory() -> impl Strategy<Value = Option<Memory>> {
    let facts = select(vec![Facts::Any, Facts::Explicit, Facts::Implicit]);
    let extract = (facts, select(vec![0.0, 0.3, 0.7, 1.0]), any::<bool>());
    let extract = extract.prop_map(|(facts, p, is_miss)| {
        let (p, miss) = if is_miss { (None, Some(1.0 - p)) } else { (Some(p), None) };
        Extract { facts, p, miss, passes: None, into: None }
    });
    let write = (select(vec![When::Session, When::Hidden]), prop::collection::vec(extract, 1..4));
    let write = write.prop_map(|(from, extract)| Write { from, extract });
    let store = (select(vec![0, 7, 300, 1_500]), prop::option::of(1_u64..4));
    let store = store.prop_map(|(tokens_per_fact, capacity)| Store::Entries { tokens_per_fact, capacity });
    let read = select(vec![Read::All, Read::Last(1), Read::Last(2), Read::ByKey]);
    let states = [State::Exact, State::Preview, State::Summarised, State::Recoverable];
    let answers = subsequence(states.to_vec(), 0..=4);
    let oracle = subsequence(vec![Part::Write, Part::Store, Part::Read, Part::Use], 0..=1);
    let all = (write, store, read, answers, oracle).prop_map(|(write, store, read, answers, oracle)| {
        Memory::Facts(FactMemory { write, store, read, answers, service: None, oracle })
    });
    prop::option::weighted(0.6, all)
}
