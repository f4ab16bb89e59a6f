//! Numbers on a command line: `100k`, `1.5M`, and `*2` to double the current value.

use crate::text::tree::{Node, Value};
use ctxsim_base::quantity::Decimal;

/// The suffixes of numbers, and how many places each shifts them.
const SUFFIXES: [(char, u32); 3] = [('k', 3), ('K', 3), ('M', 6)];

/// Returns a number that is written with a suffix or an exponent, or as a percentage.
pub(super) fn suffixed(text: &str) -> Option<Node> {
    if let Some(share) = text.strip_suffix('%') {
        let share = Decimal::parse(share.trim_end())?.times(Decimal::parse("0.01")?)?;
        return Some(Node::of(Value::Real(share.to_f64())));
    }
    if !text.ends_with(SUFFIXES.map(|it| it.0)) && !text.contains(['e', 'E']) {
        return None;
    }
    Some(Node::of(Value::Whole(decimal(text)?.scaled(0)?.into())))
}

/// Returns a number with or without a suffix or an exponent.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let of_suffix = SUFFIXES.iter().find_map(|(suffix, places)| Some((text.strip_suffix(*suffix)?, *places)));
    let of_exponent = || {
        let (digits, places) = text.split_once(['e', 'E'])?;
        Some((digits, places.trim_start_matches('+').parse().ok()?))
    };
    let (digits, places) = of_suffix.or_else(of_exponent).unwrap_or((text, 0));
    Decimal::parse(&digits.replace('_', ""))?.shifted(places)
}

/// Returns the factor of `*2`.
pub(super) fn factor(text: &str) -> Option<Decimal> {
    Decimal::parse(text.strip_prefix('*')?.trim_start())
}

/// Multiplies a number; products of whole numbers are rounded down, as everywhere.
pub(super) fn times(present: &Node, factor: Decimal) -> Option<Node> {
    let product = match present.value {
        Value::Whole(number) => Value::Whole(factor.of(u64::try_from(number).ok()?).into()),
        Value::Real(number) => Value::Real(Decimal::from_f64(number)?.times(factor)?.to_f64()),
        _ => return None,
    };
    Some(Node::of(product))
}
