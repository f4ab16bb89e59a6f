//! The bundled profiles are many, dated and sourced.

use ctxsim::app::ListPrices;
use ctxsim::catalog::InputKind;
use ctxsim::input::profile::calendar;

use crate::support::*;

/// Folders of profiles that are no provider's current models.
const OTHERS: [&str; 5] = ["context_decay", "duckagent", "interval", "open", "unlimited"];

/// Returns the bundled profiles of providers.
fn bundled() -> Vec<(String, ProfileFile)> {
    let catalog = bundled_catalog();
    let names =
        catalog.names(InputKind::Profile).filter(|it| !OTHERS.contains(&it.split('/').next().unwrap()));
    names.map(|it| (it.to_owned(), catalog.profile(it).unwrap().spec)).collect()
}

/// How many current models of how many providers are bundled, at least.
const N_MODELS: usize = 40;
const N_PROVIDERS: usize = 10;

#[test]
fn many_models_of_many_providers_are_bundled_one_file_each() {
    let all = bundled();
    let providers: BTreeSet<&str> = all.iter().map(|(name, _)| name.split('/').next().unwrap()).collect();

    assert!(all.len() >= N_MODELS && providers.len() >= N_PROVIDERS, "{} of {providers:?}", all.len());
    let folder = root().join("profiles");
    for (name, spec) in &all {
        let path = folder.join(format!("{name}.toml"));
        assert!(path.is_file(), "{name} is not in a file of its name");
        assert_eq!(&spec.name, name);
        assert!(name.split('/').count() == 2 && *name == name.to_lowercase(), "{name} is no PROVIDER/MODEL");
        assert!(
            spec.about.lines().count() == 1 && spec.about.chars().count() <= 130,
            "{name}: {}",
            spec.about
        );
        let lines = fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= 75, "{name} has {lines} lines");
    }
}

/// Services that are regions.
const REGIONS: [&str; 7] = ["us", "eu", "apac", "jp", "us-gov", "azure-eu", "regional"];

#[test]
fn every_service_of_a_bundled_profile_has_prices_that_hold() {
    for (name, spec) in bundled() {
        let usual = Profile::new(&spec).unwrap();
        let services: BTreeSet<&String> = spec.prices.iter().flat_map(|it| it.services.keys()).collect();
        for service in services {
            let mut spec = spec.clone();
            spec.assumptions.services = vec![service.clone()];
            let served = Profile::new(&spec).unwrap_or_else(|it| panic!("{name} as {service}: {it:?}"));
            let (own, other) = (served.prices.usual(), usual.prices.usual());
            // A region that costs the usual price says so: one that is not listed has no price.
            let is_region = REGIONS.contains(&service.as_str());
            let is_dearer = is_region || ["priority", "fast", "ultrafast"].contains(&service.as_str());
            let is_same = is_region && (own.input, own.output) == (other.input, other.output);
            assert!(is_same || (own.input > other.input) == is_dearer, "{name} as {service}");
            assert!(is_same || (own.output > other.output) == is_dearer, "{name} as {service}");
        }
    }
}

/// The one model that its maker gives away.
const FREE: &str = "zai/glm-4.7-flash";

#[test]
fn every_bundled_profile_is_of_a_known_day_and_names_its_sources() {
    let oldest = calendar::parse_day("2026-07-01").unwrap();
    for (name, spec) in bundled() {
        let day = calendar::parse_day(&spec.as_of).unwrap();

        assert!(day >= oldest, "{name} is as of {}", spec.as_of);
        assert!(spec.sources.iter().any(|it| it.contains('/')), "{name}: {:?}", spec.sources);
        assert!(spec.limits.output_tokens.is_some(), "{name} has no limit of output");
        let profile = Profile::new(&spec).unwrap();
        let rates = profile.prices.usual();
        let is_free = rates.output.is_none_or(|it| it.0 == 0) || rates.input.0 == 0;
        assert_eq!(is_free, name == FREE, "{name}");
        let reads = profile.cache != CacheRules::None;
        assert!(!reads || is_free || rates.read() < rates.input, "{name} has a cache but no cheaper reads");
    }
}

#[test]
fn a_price_that_ends_has_its_next_period_or_says_that_none_is_published() {
    let all = bundled();
    let day = |text: &str| calendar::parse_day(&text[..10]).unwrap_or_else(|| panic!("{text}"));
    for (name, spec) in &all {
        let text = fs::read_to_string(root().join(format!("profiles/{name}.toml"))).unwrap();
        let starts: Vec<i64> = spec.prices.iter().filter_map(|it| it.from.as_deref()).map(day).collect();
        // An end stands in a comment before its prices: `# Until 2026-11-30: …`.
        let ends: Vec<&str> = text.split("# Until ").skip(1).collect();
        for it in &ends {
            let is_told = spec.prices.iter().any(|price| price.until.as_deref() == Some(&it[..10]));
            let is_followed = starts.contains(&(day(it) + 86_400_000));
            assert!(is_followed || is_told, "{name}: what holds after {}?", &it[..10]);
        }
        let is_passing = ["promotion", "introductory"].iter().any(|it| text.contains(it));
        assert!(!is_passing || !ends.is_empty(), "{name} does not say until when");
        for line in text.lines().filter(|it| it.starts_with("from = ")) {
            let is_future = day(&line["from = \"".len()..]) > day(&spec.as_of);
            assert!(!is_future || line.contains("announced"), "{name}: who said so? {line}");
        }
    }
}

#[test]
fn every_model_that_shipped_lately_has_a_profile_or_says_why_not() {
    let (prices, shipped) =
        (ListPrices::read(&bundled_catalog()), fs::read_to_string(root().join("assumptions/shipped.toml")));
    let shipped: toml::Table = shipped.unwrap().parse().unwrap();
    let [first, last] = ["since", "as_of"].map(|it| shipped[it].as_str().unwrap());
    for model in shipped["models"].as_array().unwrap() {
        let text = |it: &str| model.get(it).and_then(toml::Value::as_str);
        let id = text("id").unwrap();
        let of_its_name = prices.profile_file_of(id).map(|it| it.name.as_str());

        assert_eq!(of_its_name, text("profile"), "{id}");
        assert!(text("profile").is_some() != text("none").is_some(), "{id}");
        assert!((first..=last).contains(&text("day").unwrap().trim_start_matches("by ")), "{id}");
        assert!(text("vendor").is_some() && text("source").is_some(), "{id}");
    }
}

#[test]
fn self_hosted_profiles_have_a_store_of_blocks() {
    let catalog = bundled_catalog();
    let open: Vec<&str> = catalog.names(InputKind::Profile).filter(|it| it.starts_with("open/")).collect();

    assert!(open.contains(&"open/blocks-64-infinite") && open.contains(&"open/blocks-512-lru"), "{open:?}");
    for name in open {
        let profile = Profile::new(&catalog.profile(name).unwrap().spec).unwrap();
        assert!(matches!(profile.cache, CacheRules::Blocks(_)), "{name}");
    }
}

#[test]
fn a_request_before_a_change_of_prices_has_the_prices_of_its_own_day() {
    let spec = bundled_catalog().profile("anthropic/claude-sonnet-5.5").unwrap().spec;
    let prices = Profile::new(&spec).unwrap().prices;
    let read = |day: &str| prices.on(calendar::parse_day(day).unwrap()).base.read().usd() * 1e6;

    let near = |usd: f64, expected: f64| (usd - expected).abs() < 1e-9;
    assert!(near(read("2026-10-06"), 0.2), "{}", read("2026-10-06"));
    assert!(near(read("2020-01-01"), 0.2), "before all of them, the first holds");
    assert!(near(read("2026-10-07"), 0.1) && near(read("2027-01-01"), 0.1));
    assert!(
        near(prices.at(0).base.read().usd() * 1e6, 0.1),
        "a timeline without a date begins under the newest"
    );
}
