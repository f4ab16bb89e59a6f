//! The bundled profiles are many, dated and sourced.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use ctxsim::catalog::{Catalog, Kind};
use ctxsim::model::{CacheRules, Profile, calendar};
use ctxsim::spec::ProfileSpec;

/// Folders of profiles that are no provider's current models.
const OTHERS: [&str; 5] = ["context_decay", "duckagent", "interval", "open", "unlimited"];

/// Returns the bundled profiles of providers.
fn bundled() -> Vec<(String, ProfileSpec)> {
    let catalog = Catalog::bundled();
    let names = catalog.names(Kind::Profile).filter(|it| !OTHERS.contains(&it.split('/').next().unwrap()));
    names.map(|it| (it.to_owned(), catalog.profile(it).unwrap().spec)).collect()
}

#[test]
fn every_bundled_profile_is_of_a_known_day_and_names_its_sources() {
    let oldest = calendar::day("2026-07-01").unwrap();
    for (name, spec) in bundled() {
        let day = calendar::day(&spec.as_of).unwrap();

        assert!(day >= oldest, "{name} is as of {}", spec.as_of);
        assert!(spec.sources.iter().any(|it| it.contains('/')), "{name}: {:?}", spec.sources);
        assert!(spec.limits.output_tokens.is_some(), "{name} has no limit of output");
        let profile = Profile::new(&spec).unwrap();
        let rates = profile.prices.usual();
        assert!(rates.output.is_some_and(|it| it.0 > 0) && rates.input.0 > 0, "{name} is free");
        let reads = profile.cache != CacheRules::None;
        assert!(!reads || rates.read() < rates.input, "{name} has a cache but no cheaper reads");
    }
}

#[test]
fn self_hosted_profiles_have_a_store_of_blocks() {
    let catalog = Catalog::bundled();
    let open: Vec<&str> = catalog.names(Kind::Profile).filter(|it| it.starts_with("open/")).collect();

    assert!(open.contains(&"open/blocks-64-infinite") && open.contains(&"open/blocks-512-lru"), "{open:?}");
    for name in open {
        let profile = Profile::new(&catalog.profile(name).unwrap().spec).unwrap();
        assert!(matches!(profile.cache, CacheRules::Blocks(_)), "{name}");
    }
}
