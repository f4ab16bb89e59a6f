//! Malformed price lists give reasons and never a wrong price.

use ctxsim::pricelist::place::{Placing, place};
use ctxsim::pricelist::{PriceFile, read};

use super::*;

#[test]
fn malformed_prices_are_told_and_never_guessed() {
    let model = |fields: &str| {
        let text = format!(r#"{{"m": {{"litellm_provider": "p", "mode": "chat", {fields}}}}}"#);
        let found = list("l.json", &text);
        assert!(found.entries.is_empty(), "{fields}");
        found.unplaced[0].code
    };
    assert_eq!(model(r#""input_cost_per_token": -1e-06, "output_cost_per_token": 1e-06"#), "price-malformed");
    assert_eq!(
        model(r#""input_cost_per_token": "1e-06", "output_cost_per_token": 1e-06"#),
        "price-malformed"
    );
    assert_eq!(model(r#""input_cost_per_token": 1e-13, "output_cost_per_token": 1e-06"#), "price-malformed");
    assert_eq!(model(r#""input_cost_per_token": 1e300, "output_cost_per_token": 1e-06"#), "price-malformed");
    assert_eq!(model(r#""input_cost_per_token": null, "output_cost_per_token": 1e-06"#), "price-absent");
    assert_eq!(model(r#""input_cost_per_token": 1e-06"#), "price-absent");
    assert_eq!(
        model(
            r#""input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06, "provider_specific_entry": {"us": -1}"#
        ),
        "price-malformed"
    );
    let broken = |path: &str, text: &str| {
        read(&[PriceFile { path: path.to_owned(), text: text.to_owned() }]).unwrap_err().remove(0)
    };
    let twice = broken("l.json", "{\"a\": {\"litellm_provider\": \"p\"},\n \"a\": {}}");
    assert!(twice.message.contains("`a` occurs twice") && twice.place.line_column.unwrap().0 == 2, "{twice}");
    let nested = "[".repeat(5 << 20);
    assert_eq!(broken("l.json", &format!("{{\"litellm_provider\": {nested}")).code.name(), "syntax");
    assert_eq!(broken("p/models/m.toml", &format!("a = {nested}")).code.name(), "syntax");
    assert_eq!(broken("l.json", "{\"litellm_provider\": nan}").code.name(), "syntax");
    assert_eq!(broken("l.txt", "hello").code.name(), "price-list-unknown");
    let not_numbers = "[cost]\ninput = nan\noutput = 1.0\n";
    assert_eq!(list("p/models/m.toml", not_numbers).unplaced[0].code, "price-malformed");
    assert_eq!(
        list("p/models/m.toml", "[cost]\ninput = inf\noutput = 1.0\n").unplaced[0].code,
        "price-malformed"
    );
}

/// What is passed over may cost tokens less than it says only if it is told.
#[test]
fn what_cannot_be_read_of_prices_by_length_or_hour_is_refused() {
    let model = |fields: &str| {
        let priced = r#""input_cost_per_token": 2e-06, "output_cost_per_token": 1e-06"#;
        let found = list("l.json", &format!(r#"{{"m": {{"litellm_provider": "p", {priced}, {fields}}}}}"#));
        assert!(found.entries.is_empty(), "{fields}");
        found.unplaced[0].code
    };
    let window = |window: &str| {
        model(&format!(r#""off_peak_pricing": {{"input_cost_per_token": 1e-06, "windows": [{window}]}}"#))
    };
    assert_eq!(model(r#""input_cost_per_request": 0.005"#), "price-form");
    assert_eq!(model(r#""input_cost_per_token_above_1m_tokens": 4e-06"#), "price-form");
    assert_eq!(
        model(r#""tiered_pricing": [{"range": [0, 9], "input_cost_per_token": 1e-06}]"#),
        "price-malformed"
    );
    for hours in ["", r#""hours_utc": []"#, r#""hours_utc": [1, 2]"#, r#""hours_utc": 5"#] {
        assert_eq!(window(&format!("{{{hours}}}")), "price-malformed", "{hours}");
    }
    assert_eq!(window(r#"{"hours_utc": "01:00-02:00", "weekdays": "mon"}"#), "price-malformed");
    assert_eq!(window(r#"{"hours_utc": "01:00-02:00", "weekdays": [8]}"#), "price-malformed");

    let models_dev = |more: &str| {
        let text = format!("[cost]\ninput = 1.0\noutput = 1.0\n{more}\n");
        list("p/models/m.toml", &text).unplaced[0].code
    };
    assert_eq!(models_dev("tiers = 5"), "price-malformed");
    assert_eq!(models_dev("[cost.context_over_200k]\ninput = 2.0"), "price-form");
}

#[test]
fn what_a_profile_has_no_word_for_is_told_with_it() {
    let text = r#"{"m": {"litellm_provider": "p", "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-06,
        "input_cost_per_token_turbo": 1e-06, "output_cost_per_reasoning_token": 3e-06}}"#;
    let left_out = &place(&list("l.json", text), "2026-11-21", "").placed[0].left_out;

    assert_eq!(left_out, &["a separate price for reasoning", "`input_cost_per_token_turbo`"]);
}

/// Wrong types, negative prices, numbers that are none, too small and too large ones, in every place where a list has
/// prices.
#[test]
fn a_wrong_price_anywhere_costs_its_model_and_no_other() {
    let wrong = ["-1.0", "\"1.0\"", "true", "[1.0]", "1e300", "1e-13", "{}"];
    for value in wrong {
        let litellm = |field: &str| {
            format!(
                r#"{{"bad": {{"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06, "{field}": {value}}},
                    "good": {{"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-06}}}}"#
            )
        };
        let fields = "\
            cache_read_input_token_cost cache_creation_input_token_cost \
            cache_creation_input_token_cost_above_1hr input_cost_per_token_above_128k_tokens \
            output_cost_per_token_batches off_peak_pricing tiered_pricing";
        for field in listed(fields) {
            if (field, value) == ("off_peak_pricing", "{}") {
                continue;
            }
            let placing = place(&list("l.json", &litellm(field)), "2026-11-21", "");
            assert_only_good(&placing, "p/good", 2_000_000, &format!("{field} = {value}"));
        }
    }
    for value in ["-1.0", "\"1.0\"", "true", "[1.0]", "1e300", "1e-13", "nan", "inf", "-nan"] {
        for field in ["input", "output", "cache_read", "cache_write"] {
            let others = ["input", "output"].into_iter().filter(|it| *it != field);
            let others: String = others.map(|it| format!("{it} = 1.0\n")).collect();
            let bad = format!("[cost]\n{others}{field} = {value}\n");
            let files = [
                ("p/models/bad.toml", bad.as_str()),
                ("p/models/good.toml", "[cost]\ninput = 2.0\noutput = 1.0\n"),
            ];
            let files = files.map(|(path, text)| PriceFile { path: path.to_owned(), text: text.to_owned() });
            let placing = place(&read(&files).unwrap()[0], "2026-11-21", "");
            assert_only_good(&placing, "p/good", 2_000_000, &format!("{field} = {value}"));
        }
    }
}

/// The model without a mistake is placed at its price, the other is told with a reason.
fn assert_only_good(placing: &Placing, name: &str, input: u64, what: &str) {
    let placed: Vec<_> =
        placing.placed.iter().map(|it| (it.name.as_str(), it.profile.prices.usual().input.0)).collect();
    assert_eq!(placed, [(name, input)], "{what}");
    assert!(placing.unplaced.iter().any(|it| it.name.ends_with("bad") && !it.reason.is_empty()), "{what}");
}

#[test]
fn nesting_of_megabytes_within_a_list_is_refused_or_left_out() {
    let deep = format!("{}{}", "[".repeat(5 << 19), "]".repeat(5 << 19));
    let texts = [
        (
            "l.json",
            format!(
                r#"{{"m": {{"litellm_provider": "p", "mode": "chat", "input_cost_per_token": {deep}, "output_cost_per_token": 1e-06}}}}"#
            ),
        ),
        ("p/models/m.toml", format!("[cost]\ninput = {deep}\noutput = 1.0\n")),
    ];
    for (path, text) in texts {
        match read(&[PriceFile { path: path.to_owned(), text }]) {
            Err(problems) => assert_eq!(problems[0].code.name(), "syntax", "{path}"),
            Ok(lists) => assert!(place(&lists[0], "2026-11-21", "").placed.is_empty(), "{path}"),
        }
    }
}

#[test]
fn a_model_that_stands_twice_is_placed_once_or_not_at_all() {
    let model = |price: &str| {
        format!(
            r#"{{"litellm_provider": "p", "mode": "chat", "input_cost_per_token": {price}, "output_cost_per_token": 1e-06}}"#
        )
    };
    let twice = format!(r#"{{"m": {}, "m": {}}}"#, model("1e-06"), model("2e-06"));
    assert!(
        read(&[PriceFile { path: "l.json".to_owned(), text: twice }]).is_err(),
        "a parser would keep the last"
    );
    let key = r#"{"m": {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-06, "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-06}}"#;
    assert!(read(&[PriceFile { path: "l.json".to_owned(), text: key.to_owned() }]).is_err());

    let text = "[cost]\ninput = 1.0\noutput = 1.0\ninput = 2.0\n".to_owned();
    let read_twice = read(&[PriceFile { path: "p/models/m.toml".to_owned(), text }]);
    assert!(read_twice.map_or(true, |it| it[0].entries.is_empty()), "a key that stands twice");
    let other = list("l.json", &format!(r#"{{"p/m": {}, "m": {}}}"#, model("1e-06"), model("2e-06")));
    let placing = place(&other, "2026-11-21", "");
    assert_eq!((placing.placed.len(), placing.unplaced[0].code), (1, "name-duplicate"));
}
