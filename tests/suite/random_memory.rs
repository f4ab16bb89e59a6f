//! Random memories beside the window.

use ctxsim::input::policy::memory::{
    Extract, FactExtraction, FactMemory, FactStore, Facts, MemoryPart, MemorySpec, RecallRule, SearchedWhen,
    State,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A memory of entries, or none.
pub(crate) fn memory() -> impl Strategy<Value = Option<MemorySpec>> {
    let facts = select(vec![Facts::Any, Facts::Explicit, Facts::Implicit]);
    let extract = (facts, select(vec![0.0, 0.3, 0.7, 1.0]), any::<bool>());
    let extract = extract.prop_map(|(facts, p, is_miss)| {
        let (p, miss) = if is_miss { (None, Some(1.0 - p)) } else { (Some(p), None) };
        Extract { facts, p, miss, passes: None, into: None }
    });
    let write =
        (select(vec![SearchedWhen::Session, SearchedWhen::Hidden]), prop::collection::vec(extract, 1..4));
    let write = write.prop_map(|(from, extract)| FactExtraction { from, extract });
    let store = (select(vec![0, 7, 300, 1_500]), prop::option::of(1_u64..4));
    let store =
        store.prop_map(|(tokens_per_fact, capacity)| FactStore::Entries { tokens_per_fact, capacity });
    let read = select(vec![RecallRule::All, RecallRule::Last(1), RecallRule::Last(2), RecallRule::ByKey]);
    let states = [State::Exact, State::Preview, State::Summarised, State::Recoverable];
    let answers = subsequence(states.to_vec(), 0..=4);
    let oracle =
        subsequence(vec![MemoryPart::Write, MemoryPart::Store, MemoryPart::Read, MemoryPart::Use], 0..=1);
    let all = (write, store, read, answers, oracle).prop_map(|(write, store, read, answers, oracle)| {
        MemorySpec::Facts(FactMemory { write, store, read, answers, service: None, oracle })
    });
    prop::option::weighted(0.6, all)
}
