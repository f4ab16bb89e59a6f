//! Price lists of the field become profiles, and what cannot is told.

#![expect(clippy::print_stdout, reason = "what was left out is read when the whole reference is compared")]
mod coverage;
mod malformed;
mod services;

use ctxsim::catalog::InputKind;
use ctxsim::input::PriceSpec;
use ctxsim::input::profile::cache::LookbackUnit;
use ctxsim::pricelist::place::{PlacedProfile, place};
use ctxsim::pricelist::{ListContents, ListEntry, PriceFile, read};
use proptest::prelude::*;

use crate::support::*;

const LITELLM: &str = include_str!("../data/prices/litellm/prices.json");

fn folder() -> PathBuf {
    data("prices")
}

/// Reads one list from text.
fn list(path: &str, text: &str) -> ListContents {
    read(&[PriceFile { path: path.to_owned(), text: text.to_owned() }]).unwrap().remove(0)
}

fn file(path: &Path) -> PriceFile {
    PriceFile { path: path.display().to_string(), text: fs::read_to_string(path).unwrap() }
}

fn placed<'a>(all: &'a [PlacedProfile], name: &str) -> &'a Profile {
    &all.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("{name}")).profile
}

fn ctxsim(args: &[&str]) -> Output {
    crate::support::ctxsim(folder(), args)
}

#[test]
fn litellm_gives_cliffs_hours_services_and_cache_rules() {
    let placing = place(&list("prices.json", LITELLM), "2026-11-21", "");
    let profile = |name| placed(&placing.placed, name);

    let gpt = profile("openai/gpt-5.4").prices.timeless().unwrap();
    assert_eq!((gpt.of_prompt(272_000).input.0, gpt.of_prompt(272_001).input.0), (2_500_000, 5_000_000));
    let grok = profile("xai/grok-4.6").prices.timeless().unwrap();
    assert_eq!((grok.of_prompt(199_999).input.0, grok.of_prompt(200_000).input.0), (2_000_000, 4_000_000));
    let qwen = profile("alibaba/qwen3-coder-plus").prices.timeless().unwrap();
    let lengths = [32_000, 32_001, 128_001, 256_001];
    assert_eq!(lengths.map(|it| qwen.of_prompt(it).output.unwrap().0 / 1_000_000), [5, 9, 15, 60]);
    let deepseek = &profile("deepseek/deepseek-v4-flash").prices;
    assert!(deepseek.timeless().is_none());
    let hour = |hours: i64| deepseek.at(hours * 3_600_000).base.input.0;
    assert_eq!((hour(2), hour(48 + 2)), (150_000, 300_000), "a Saturday, then a Monday");
    let breakpoints = |name: &str| match &placed(&placing.placed, name).cache {
        CacheRules::Breakpoints(rules) => (rules.min_tokens, rules.ttl_ms, rules.lookback_positions),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(breakpoints("anthropic/claude-opus-5"), (512, [Some(300_000), Some(3_600_000)], 20));
    assert_eq!(breakpoints("openai/gpt-6-sol").1, [Some(1_800_000), Some(43_200_000)]);
    let CacheRules::Units(units) = &profile("deepseek/deepseek-v4-flash").cache else { panic!("no units") };
    assert!(units.at_input_end && units.at_output_end);
    let haiku = profile("anthropic/claude-haiku-5-5").prices.timeless().unwrap();
    let hour = |prompt| haiku.of_prompt(prompt).write(1).unwrap().0;
    assert_eq!((hour(100_000), hour(100_001)), (200_000, 1_000_000));
    let reasons: BTreeMap<&str, &str> =
        placing.unplaced.iter().map(|it| (it.name.as_str(), it.code)).collect();
    assert_eq!(reasons["text-embedding-3-small"], "not-a-text-model");
    assert!(!placing.placed.iter().any(|it| it.name.contains("sample_spec")));
    for it in &placing.placed {
        assert_eq!(it.profile.as_of, "2026-11-21", "{}", it.name);
    }
}

#[test]
fn models_sold_elsewhere_have_the_cache_rules_of_where_they_are_sold() {
    let rules = |provider: &str, model: &str| {
        let text = format!(
            r#"{{"{model}": {{"litellm_provider": "{provider}", "mode": "chat", "input_cost_per_token": 1e-06,
                "output_cost_per_token": 1e-06, "cache_read_input_token_cost": 1e-07}}}}"#
        );
        place(&list("l.json", &text), "2026-11-21", "").placed.remove(0).profile.cache
    };
    let breakpoints = |provider, model| match rules(provider, model) {
        CacheRules::Breakpoints(it) => (it.min_tokens, it.lookback_unit, it.ttl_ms[1].is_some()),
        CacheRules::Qualified(it) => match it.rules {
            CacheRules::Breakpoints(it) => (it.min_tokens, it.lookback_unit, it.ttl_ms[1].is_some()),
            other => panic!("{model}: {other:?}"),
        },
        other => panic!("{model}: {other:?}"),
    };

    let bedrock = "us.anthropic.claude-opus-4-7-v1:0";
    assert_eq!(
        breakpoints("bedrock_converse", bedrock),
        (4_096, LookbackUnit::Block, false),
        "no price for an hour"
    );
    assert_eq!(
        breakpoints("vertex_ai-anthropic_models", "vertex_ai/claude-opus-5"),
        (512, LookbackUnit::Run, true)
    );
    assert_eq!(breakpoints("azure_ai", "azure_ai/claude-opus-4-7"), (2_048, LookbackUnit::Run, true));
    assert_eq!(breakpoints("azure", "azure/eu/gpt-5.6-sol"), (1_024, LookbackUnit::Run, false));
    assert_eq!(breakpoints("moonshot", "moonshot/kimi-k3"), (256, LookbackUnit::Run, true));
    for (provider, model) in [("azure", "azure/eu/gpt-4o"), ("bedrock", "amazon.nova-pro-v1:0")] {
        assert!(matches!(rules(provider, model), CacheRules::PrefixInterval { .. }), "{model}");
    }
    assert_eq!(rules("azure_ai", "azure_ai/grok-4"), CacheRules::None, "nobody says");
}

#[test]
fn every_key_of_a_price_is_read_exactly() {
    let text = r#"{"m": {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2.5e-06,
        "cache_read_input_token_cost": 7.5e-08, "cache_creation_input_token_cost": 1.25e-06,
        "cache_creation_input_token_cost_above_1hr": 2e-06, "input_cost_per_token_above_128k_tokens": 4e-06,
        "cache_creation_input_token_cost_above_1hr_above_128k_tokens": 8e-06, "input_cost_per_token_batches": 5e-07,
        "output_cost_per_token_batches": 1.25e-06}}"#;
    let entry: ListEntry = list("l.json", text).entries.remove(0);
    let price: &PriceSpec = &entry.prices[0];
    let decimal = |text| Decimal::parse(text).unwrap();

    assert_eq!((price.input, price.output), (decimal("1"), Some(decimal("2.5"))));
    assert_eq!((price.cache_read, price.cache_write["5m"]), (Some(decimal("0.075")), decimal("1.25")));
    assert_eq!(price.cache_write["1h"], decimal("2"));
    assert_eq!(price.tiers[0].above_prompt_tokens, Some(128_000));
    assert_eq!((price.tiers[0].input, price.tiers[0].cache_write["1h"]), (Some(decimal("4")), decimal("8")));
    assert_eq!(price.services["batch"].output, Some(decimal("1.25")));
}

#[test]
fn a_price_that_a_program_computed_is_the_one_that_was_meant() {
    let price = |input: &str| {
        let text = format!(
            r#"{{"m": {{"litellm_provider": "p", "input_cost_per_token": {input}, "output_cost_per_token": 1e-06}}}}"#
        );
        list("l.json", &text).entries.first().map(|it| it.prices[0].input.to_string())
    };

    assert_eq!(price("0.00000020000000000000002").as_deref(), Some("0.2"));
    assert_eq!(price("4.6999999999999995e-07").as_deref(), Some("0.47"));
    assert_eq!(price("0.000015000020000000002").as_deref(), Some("15.00002"));
    assert_eq!(price("1.1428571428571428e-06"), None);
    assert_eq!(price("1.41953125e-07"), None);
}

#[test]
fn a_service_that_differs_by_one_factor_is_written_as_that_factor() {
    let text = |batch: &str| {
        format!(
            r#"{{"m": {{"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
            "input_cost_per_token_above_200k_tokens": 6e-06, "input_cost_per_token_batches": 1.5e-06,
            "input_cost_per_token_above_200k_tokens_batches": 3e-06, "output_cost_per_token_batches": {batch}}}}}"#
        )
    };
    let placed = |batch| place(&list("l.json", &text(batch)), "2026-11-21", "").placed.remove(0).text;

    assert!(placed("7.5e-06").contains("[prices.services.batch]\nfactor = 0.5\n"));
    let other = placed("7e-06");
    assert!(!other.contains("factor") && other.contains("[[prices.services.batch.tiers]]"), "{other}");
}

#[test]
fn a_name_that_leads_out_of_the_folder_is_refused() {
    let text = r#"{"../../x": {"litellm_provider": "p", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
        "p/a:b": {"litellm_provider": "p", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
        "p/a-b": {"litellm_provider": "p", "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-06}}"#;
    let placing = place(&list("l.json", text), "2026-11-21", "");

    let names: Vec<&str> = placing.placed.iter().map(|it| it.name.as_str()).collect();
    let codes: Vec<&str> = placing.unplaced.iter().map(|it| it.code).collect();
    assert_eq!((names, codes), (vec!["p/a-b"], vec!["name-unusable", "name-duplicate"]));
}

#[test]
fn imported_profiles_are_written_valid() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("imported/profiles");
    let _ = fs::remove_dir_all(&out);
    let output = out.display().to_string();
    let paths = ["litellm/prices.json", "models.dev"];

    let import = ctxsim(
        &[&["prices", "import"][..], &paths, &["--as-of", "2026-11-21", "--output", &output]].concat(),
    );
    let text = String::from_utf8(import.stdout).unwrap();
    assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stderr));
    assert_says(&text, &["[not-a-text-model]", "litellm: ", "models.dev: "]);
    let written = fs::read_to_string(out.join("openai/gpt-5.4.toml")).unwrap();
    let spec: ProfileFile = decode(&written, Format::Toml).unwrap();
    assert!(spec.sources[0].contains("litellm") && Profile::new(&spec).is_ok());
    let valid = ctxsim(&["validate", &output]);
    assert!(valid.status.success(), "{}", String::from_utf8_lossy(&valid.stderr));

    // Below a folder called `profiles` they have that path, so that a catalog and a folder give them one name.
    let below = out.join("imported").display().to_string();
    let import = ["prices", "import", "litellm/prices.json", "--as-of", "2026-11-21", "--output", &below];
    assert!(ctxsim(&import).status.success());
    let args =
        ["sensitivity", "--policies", "identity", "--scenarios", "duckagent/plain_chat", "--format", "csv"];
    let run = ctxsim(&[&args[..], &["--profiles", &format!("{below}/openai")]].concat());
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.lines().count() > 2 && text.contains(",imported/openai/gpt-5.4,"), "{text}");
}

#[test]
fn the_reference_list_is_placed_without_a_wrong_profile() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("prices")) else {
        return;
    };
    let path = "litellm/model_prices_and_context_window.json";
    let found = read(&[file(&folder.join(path))]).unwrap().remove(0);
    let placing = place(&found, "2026-11-21", "");
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    placing.unplaced.iter().for_each(|it| *codes.entry(it.code).or_default() += 1);
    println!("{path}: {} profiles, {codes:?}", placing.placed.len());
    assert!(placing.placed.len() > 1_000, "{codes:?}");
    assert!(placing.unplaced.iter().all(|it| it.code != "profile-invalid"), "{:#?}", placing.unplaced);
}

/// What a bundled profile says about one model's cache must not depend on whether its prices were imported.
#[test]
fn the_reference_list_gives_models_the_cache_rules_that_their_bundled_profiles_have() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let path = folder.join("prices/litellm/model_prices_and_context_window.json");
    let placing = place(&read(&[file(&path)]).unwrap()[0], "2026-11-21", "");
    let catalog = bundled_catalog();
    let plain = |name: &str| name.to_lowercase().replace('.', "-");
    let mut n_compared = 0;
    for name in catalog.names(InputKind::Profile) {
        let Some(imported) = placing.placed.iter().find(|it| plain(&it.name) == plain(name)) else {
            continue;
        };
        let bundled = Profile::new(&catalog.profile(name).unwrap().spec).unwrap();

        // What a changed setting invalidates differs from model to model, which no list says.
        let but_settings = |rules: &CacheRules| match rules {
            CacheRules::Qualified(it) if it.hits.is_none() => it.rules.clone(),
            rules => rules.clone(),
        };
        // An older list that prices no reads says nothing of a cache.
        if imported.profile.cache == CacheRules::None {
            continue;
        }
        assert_eq!(but_settings(&imported.profile.cache), but_settings(&bundled.cache), "{name}");
        n_compared += 1;
    }
    assert!(n_compared > 40, "{n_compared}");
}

proptest! {
    #[test]
    fn no_changed_byte_of_a_list_leads_to_a_panic(at in 0_usize..LITELLM.len(), byte in 32_u8..127) {
        let mut bytes = LITELLM.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes)
            && let Ok(lists) = read(&[PriceFile { path: "l.json".to_owned(), text }])
        {
            let _ = place(&lists[0], "2026-11-21", "");
        }
    }
}
