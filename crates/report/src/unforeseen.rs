//! What no record tells of bills, as a table and as values: expected against what happened.

use crate::prelude::*;
use ctxsim_engine::calibrate::Calibration;
use ctxsim_engine::calibrate::unforeseen::{Surprise, UnforeseenTally};

/// Returns its name in JSON, and what it is in words.
fn json_name_and_words(surprise: Surprise) -> [String; 2] {
    let [name, words] = match surprise {
        Surprise::Rewritten(because) => return ["rewritten".to_owned(), format!("rewrite: {because}")],
        Surprise::TurnFell => ["turn_fell", "fall at a new turn"],
        Surprise::WithinTurnFell => ["within_turn_fell", "fall within a turn"],
        Surprise::SideRequest => ["side_request", "side request, expected"],
        Surprise::UnexpectedSideRequest => ["unexpected_side_request", "side request, not expected"],
        Surprise::FrontStayed => ["front_stayed", "tools and system prompt outlived a pause"],
        Surprise::Behind => ["behind", "what the request before wrote, not there yet"],
    };
    [name, words].map(str::to_owned)
}

/// Returns the values of each kind.
pub(super) fn unforeseen_kinds_json(calibration: &Calibration) -> Vec<Value> {
    let known = |is_known: bool, value: f64| is_known.then_some(value);
    let value = |(what, is_known, tally): (Surprise, bool, &UnforeseenTally)| {
        let [name, _] = json_name_and_words(what);
        group! {
            "what": name,
            "because": if let Surprise::Rewritten(because) = what { Some(because) } else { None },
            "requests": tally.requests,
            "happened": tally.happened,
            "expected": known(is_known, tally.expected),
            "expected_declared": known(is_known, tally.expected_declared),
            "expected_low": known(is_known, tally.expected_low),
            "expected_high": known(is_known, tally.expected_high),
            "happened_usd": tally.happened_usd,
            "expected_usd": known(is_known, tally.expected_usd),
            "expected_usd_low": known(is_known, tally.expected_usd_low),
            "expected_usd_high": known(is_known, tally.expected_usd_high),
            "happened_read_tokens": tally.happened_read,
            "expected_read_tokens": known(is_known, tally.expected_read),
            "expected_read_tokens_low": known(is_known, tally.expected_read_low),
            "expected_read_tokens_high": known(is_known, tally.expected_read_high),
        }
    };
    calibration.unforeseen.iter().map(value).listed()
}

/// Returns the predicted cost of input with all that is expected: as declared, and the least and the most.
pub(super) fn input_usd_expected_low_high(calibration: &Calibration) -> [f64; 3] {
    calibration.unforeseen.expected_usd().map(|it| calibration.predicted_cost.usd() + it)
}

/// Returns how often each was expected and how often it happened; nothing where nothing may happen.
pub(super) fn unforeseen_table_text(calibration: &Calibration) -> Option<String> {
    type Kind<'k> = (Surprise, bool, &'k UnforeseenTally);
    let expected = |tally: &UnforeseenTally| {
        // Users' own sessions may have moved what was expected.
        let is_narrowed = (tally.expected - tally.expected_declared).abs() > 1e-9;
        let declared = text_if(is_narrowed, || format!("; declared {:.1}", tally.expected_declared));
        format!("{:.1} ({:.1} to {:.1}){declared}", tally.expected, tally.expected_low, tally.expected_high)
    };
    let columns: [Of<'_, Kind<'_>>; 8] = [
        ("what no record tells", &|it| json_name_and_words(it.0)[1].clone()),
        ("requests", &|it| it.2.requests.to_string()),
        ("expected", &|it| if it.1 { expected(it.2) } else { "not known".to_owned() }),
        ("happened", &|it| it.2.happened.to_string()),
        ("expected tokens read", &|it| {
            or_none(it.1.then_some(it.2.expected_read.round()), format_token_change)
        }),
        ("tokens read", &|it| format_token_change(it.2.happened_read)),
        ("expected USD", &|it| or_none(it.1.then_some(it.2.expected_usd), format_usd_change)),
        ("USD", &|it| format_usd_change(it.2.happened_usd)),
    ];
    let mut kinds: Vec<Kind<'_>> = calibration.unforeseen.iter().listed();
    kinds.order_by_key(|it| (it.0, it.1));
    let [expected, low, high] = input_usd_expected_low_high(calibration);
    let sum = format!(
        "With what is expected, input comes to {expected:.4} USD ({low:.4} to {high:.4}); billed {:.4}. No request's tokens change.\n",
        calibration.billed_cost.usd()
    );
    (!kinds.is_empty()).then(|| draw_whole(&Grid::from_columns("", 1, &kinds, &columns)) + &sum)
}

/// Writes a change of tokens.
fn format_token_change(change: f64) -> String {
    let text = format!("{:+.1}K", change / 1_000.0);
    if text.ends_with("0.0K") { "0".to_owned() } else { text.replace('-', "−") }
}

/// Writes a change in US dollars.
fn format_usd_change(change: f64) -> String {
    let text = format!("{change:+.2}");
    if text.ends_with("0.00") { "0.00".to_owned() } else { text.replace('-', "−") }
}
