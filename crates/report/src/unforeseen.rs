//! What no record tells of bills, as a table and as values: expected against what happened.

use crate::prelude::*;
use ctxsim_engine::calibrate::Calibration;
use ctxsim_engine::calibrate::unforeseen::{Surprise, UnforeseenTally};

/// Returns its name in JSON.
fn surprise_name(surprise: Surprise) -> &'static str {
    match surprise {
        Surprise::Rewritten(_) => "rewritten",
        Surprise::TurnFell => "turn_fell",
        Surprise::WithinTurnFell => "within_turn_fell",
        Surprise::SideRequest => "side_request",
        Surprise::UnexpectedSideRequest => "unexpected_side_request",
        Surprise::Behind => "behind",
    }
}

/// Returns the reason that a rule gives.
fn surprise_because(surprise: Surprise) -> Option<&'static str> {
    match surprise {
        Surprise::Rewritten(because) => Some(because),
        _ => None,
    }
}

/// Says it in words.
fn surprise_words(surprise: Surprise) -> String {
    match surprise {
        Surprise::Rewritten(because) => format!("rewrite: {because}"),
        Surprise::TurnFell => "fall at a new turn".to_owned(),
        Surprise::WithinTurnFell => "fall within a turn".to_owned(),
        Surprise::SideRequest => "side request, expected".to_owned(),
        Surprise::UnexpectedSideRequest => "side request, not expected".to_owned(),
        Surprise::Behind => "what the request before wrote, not there yet".to_owned(),
    }
}

/// Returns whether users' own sessions moved what was expected.
fn is_narrowed(it: &UnforeseenTally) -> bool {
    (it.expected - it.expected_declared).abs() > 1e-9
}

/// Returns the values of each kind.
pub(super) fn values(of: &Calibration) -> Vec<Value> {
    let known = |is_known: bool, value: f64| is_known.then_some(value);
    let value = |(what, is_known, it): (Surprise, bool, &UnforeseenTally)| {
        group! {
            "what": surprise_name(what),
            "because": surprise_because(what),
            "requests": it.requests,
            "happened": it.happened,
            "expected": known(is_known, it.expected),
            "expected_declared": known(is_known, it.expected_declared),
            "expected_low": known(is_known, it.expected_low),
            "expected_high": known(is_known, it.expected_high),
            "happened_usd": it.happened_usd,
            "expected_usd": known(is_known, it.expected_usd),
            "expected_usd_low": known(is_known, it.expected_usd_low),
            "expected_usd_high": known(is_known, it.expected_usd_high),
            "happened_read_tokens": it.happened_read,
            "expected_read_tokens": known(is_known, it.expected_read),
            "expected_read_tokens_low": known(is_known, it.expected_read_low),
            "expected_read_tokens_high": known(is_known, it.expected_read_high),
        }
    };
    of.unforeseen.iter().map(value).listed()
}

/// Returns the predicted cost of input with all that is expected: as declared, and the least and the most.
pub(super) fn expected_input_usd(of: &Calibration) -> [f64; 3] {
    of.unforeseen.expected_usd().map(|it| of.predicted_cost.usd() + it)
}

/// Returns how often each was expected and how often it happened; nothing where nothing may happen.
pub(super) fn table(of: &Calibration) -> Option<String> {
    type Kind<'k> = (Surprise, bool, &'k UnforeseenTally);
    let expected = |it: &UnforeseenTally| {
        let declared = format!("; declared {:.1}", it.expected_declared);
        let declared = if is_narrowed(it) { declared.as_str() } else { "" };
        format!("{:.1} ({:.1} to {:.1}){declared}", it.expected, it.expected_low, it.expected_high)
    };
    let known = |it: &Kind<'_>, number: &dyn Fn(&UnforeseenTally) -> String| it.1.then(|| number(it.2));
    let columns: [Of<'_, Kind<'_>>; 8] = [
        ("what no record tells", &|it| surprise_words(it.0)),
        ("requests", &|it| it.2.requests.to_string()),
        ("expected", &|it| known(it, &expected).unwrap_or_else(|| "not known".to_owned())),
        ("happened", &|it| it.2.happened.to_string()),
        ("expected tokens read", &|it| {
            or_none(known(it, &|it| thousands(it.expected_read.round())), |it| it)
        }),
        ("tokens read", &|it| thousands(it.2.happened_read)),
        ("expected USD", &|it| or_none(known(it, &|it| dollars(it.expected_usd)), |it| it)),
        ("USD", &|it| dollars(it.2.happened_usd)),
    ];
    let mut kinds: Vec<Kind<'_>> = of.unforeseen.iter().listed();
    kinds.order_by_key(|it| (it.0, it.1));
    let [expected, low, high] = expected_input_usd(of);
    let sum = format!(
        "With what is expected, input comes to {expected:.4} USD ({low:.4} to {high:.4}); billed {:.4}. No request's tokens change.\n",
        of.billed_cost.usd()
    );
    (!kinds.is_empty()).then(|| draw_whole(&Grid::from_columns("", 1, &kinds, &columns)) + &sum)
}

/// Writes a change of tokens.
fn thousands(change: f64) -> String {
    let text = format!("{:+.1}K", change / 1_000.0);
    if text.ends_with("0.0K") { "0".to_owned() } else { text.replace('-', "−") }
}

/// Writes a change in US dollars.
fn dollars(change: f64) -> String {
    let text = format!("{change:+.2}");
    if text.ends_with("0.00") { "0.00".to_owned() } else { text.replace('-', "−") }
}
