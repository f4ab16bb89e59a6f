//! How fast a ledger of 10,000 requests is priced under 4,000 price lists, flat ones and lists with tiers.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at what it did not expect")]

mod measure;

use criterion::{Criterion, criterion_group, criterion_main};
use ctxsim::input::Profile;
use ctxsim::ledger::{CacheUse, RequestRow, Sink, Sums};
use ctxsim::price::{Costs, PriceIndex, PriceRows};
use ctxsim::pricelist::place::place;
use ctxsim::pricelist::{PriceFile, read};
use measure::CoreTime;

/// The profiles of a list, over and over up to 4,000.
fn profiles() -> Vec<Profile> {
    let folder = std::env::var_os("CTXSIM_REFERENCE").map(std::path::PathBuf::from);
    let path = folder.map(|it| it.join("prices/litellm/model_prices_and_context_window.json"));
    let text = match path {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("../tests/data/prices/litellm/prices.json").to_owned(),
    };
    let lists = read(&[PriceFile { path: "list.json".to_owned(), text }]).unwrap();
    let placed: Vec<Profile> =
        place(&lists[0], "2026-11-21", "").placed.into_iter().map(|it| it.profile).collect();
    placed.iter().cycle().take(4_000).cloned().collect()
}

fn ledger() -> (Sums, PriceRows) {
    let mut ledger = (Sums::default(), PriceRows::default());
    for n in 0..10_000_u64 {
        let usage = CacheUse {
            read: n * 37 % 300_000,
            write: [n % 5_000, n % 700],
            uncached: n % 9_000,
            broke_at: None,
        };
        let prompt = usage.read + usage.write[0] + usage.write[1] + usage.uncached;
        let at_ms = i64::try_from(n).unwrap() * 60_000;
        ledger.request(&RequestRow { at_ms, prompt, usage, output: n % 2_000, ..RequestRow::default() });
    }
    ledger
}

fn prices(criterion: &mut Criterion<CoreTime>) {
    let profiles = profiles();
    let (sums, rows) = ledger();
    let n_flat = profiles.iter().filter(|it| it.prices.flat().is_some()).count();
    criterion.bench_function(&format!("prices/10000 rows x 4000 profiles, {n_flat} flat"), |bencher| {
        bencher.iter(|| {
            let index = PriceIndex::from(rows.clone());
            profiles
                .iter()
                .map(|it| Costs::new(&sums, Some(&index), 0, it).base().0)
                .fold(0, u128::wrapping_add)
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CoreTime).sample_size(20);
    targets = prices
}
criterion_main!(benches);
