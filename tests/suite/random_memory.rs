//! Random memories beside the window.

use ctxsim::spec::memory::{
    ExtractSpec, FactsSpec, FromSpec, MemorySpec, PartSpec, ReadSpec, StateSpec, StoreSpec, WriteSpec,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A memory of entries, or none.
pub(crate) fn memory() -> impl Strategy<Value = Option<MemorySpec>> {
    let facts = select(vec![FactsSpec::Any, FactsSpec::Explicit, FactsSpec::Implicit]);
    let extract = (facts, select(vec![0.0, 0.3, 0.7, 1.0]), any::<bool>());
    let extract = extract.prop_map(|(facts, p, is_miss)| {
        let (p, miss) = if is_miss { (None, Some(1.0 - p)) } else { (Some(p), None) };
        ExtractSpec { facts, p, miss, passes: None, into: None }
    });
    let write = (select(vec![FromSpec::Session, FromSpec::Hidden]), prop::collection::vec(extract, 1..4));
    let write = write.prop_map(|(from, extract)| WriteSpec { from, extract });
    let store = (select(vec![0, 7, 300, 1_500]), prop::option::of(1_u64..4));
    let store =
        store.prop_map(|(tokens_per_fact, capacity)| StoreSpec::Entries { tokens_per_fact, capacity });
    let read = select(vec![ReadSpec::All, ReadSpec::Last(1), ReadSpec::Last(2), ReadSpec::ByKey]);
    let states = [StateSpec::Exact, StateSpec::Preview, StateSpec::Summarised, StateSpec::Recoverable];
    let answers = subsequence(states.to_vec(), 0..=4);
    let oracle = subsequence(vec![PartSpec::Write, PartSpec::Store, PartSpec::Read, PartSpec::Use], 0..=1);
    let all = (write, store, read, answers, oracle).prop_map(|(write, store, read, answers, oracle)| {
        MemorySpec { write, store, read, answers, service: None, oracle }
    });
    prop::option::weighted(0.6, all)
}
