//! Batches of price lists: what a list does not price is never at the usual price.

use ctxsim::input::PriceSpec;
use ctxsim::pricelist::place::{PlacedProfile, place};

use super::*;

/// Returns a model whose list prices a batch's input, output and some of what else it sells.
fn placed(provider: &str, batch: &str) -> PlacedProfile {
    let text = format!(
        r#"{{"{provider}/claude-m": {{"litellm_provider": "{provider}", "mode": "chat", "input_cost_per_token": 4e-06,
            "output_cost_per_token": 2e-05, "cache_read_input_token_cost": 4e-07, "cache_creation_input_token_cost": 5e-06,
            "cache_creation_input_token_cost_above_1hr": 8e-06, "input_cost_per_token_batches": 2e-06,
            "output_cost_per_token_batches": 1e-05{batch}}}}}"#
    );
    place(&list("l.json", &text), "2026-11-21", "").placed.remove(0)
}

const READ: &str = r#", "cache_read_input_token_cost_batches": 2e-07"#;
const WRITE: &str = r#", "cache_creation_input_token_cost_batches": 2.5e-06"#;

/// Returns a profile as batches are served, with what it lists.
fn batch(placed: &PlacedProfile) -> (Profile, PriceSpec) {
    let mut spec: ProfileFile = decode(&placed.text, Format::Toml).unwrap();
    spec.assumptions.services = vec!["batch".to_owned()];
    (Profile::new(&spec).unwrap(), spec.prices.remove(0))
}

#[test]
fn what_a_list_leaves_out_of_a_batch_is_at_the_factor_that_the_provider_documents() {
    for given in [format!("{READ}{WRITE}"), READ.to_owned(), String::new()] {
        let placed = placed("anthropic", &given);
        let (profile, price) = batch(&placed);
        let rates = profile.prices.usual();

        assert_eq!(price.services["batch"].factor.unwrap().to_string(), "0.5", "{given}");
        assert_eq!(rates.write(1).unwrap().0, 4_000_000);
        assert!(
            placed.unpriced.is_empty() && placed.text.contains("about-claude/pricing"),
            "{}",
            placed.text
        );
    }
    let other = placed("anthropic", r#", "cache_read_input_token_cost_batches": 4e-07"#);
    let rates = *batch(&other).0.prices.usual();
    assert_eq!(
        (rates.read().0, rates.write(1).unwrap().0),
        (400_000, 4_000_000),
        "a price of the list stands"
    );
}

#[test]
fn what_neither_a_list_nor_the_provider_prices_in_a_batch_is_unknown_and_said_so() {
    let short = placed("vertex_ai-anthropic_models", &format!("{READ}{WRITE}"));
    let rates = *batch(&short).0.prices.usual();
    assert_eq!((rates.write(0).unwrap().0, rates.write(1)), (2_500_000, None));
    assert_eq!(short.unpriced, ["cache writes for 1h by `batch` (unknown)"]);
    assert!(
        short.text.starts_with("# Cache: ")
            && short.text.contains("# Without a price: cache writes for 1h by")
    );

    let bare = placed("vertex_ai-anthropic_models", "");
    let rates = *batch(&bare).0.prices.usual();
    assert_eq!((rates.write(0), rates.write(1), rates.read().0), (None, None, rates.input.0));
    assert_eq!(bare.unpriced.len(), 3, "{:?}", bare.unpriced);
    assert_eq!(bare.profile.prices.usual().write(1).unwrap().0, 8_000_000, "the usual prices stay");
}

#[test]
fn a_cost_with_writes_of_unknown_price_is_unknown_and_a_note_says_which() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("claude-m.toml");
    let text = placed("vertex_ai-anthropic_models", READ).text;
    fs::write(&path, text.replace("[assumptions]", "[assumptions]\nservices = [\"batch\"]")).unwrap();
    let run = args("run --policy identity --scenario recorded/claude-code --format json --profile");

    let output = super::ctxsim(&[&run[..], &[path.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["runs"][0]["totals"]["cost_usd"]["total"].is_null(), "{report}");
    let note = report["notes"].to_string();
    assert!(note.contains("no price is known for short cache writes (minutes)"), "{note}");
}
