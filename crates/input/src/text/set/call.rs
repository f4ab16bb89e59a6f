//! Values on a command line as policies in RON write them: `ratio(0.3)`, `min([tokens(40k), limit])`.

use crate::prelude::*;
use crate::text::decode;
use crate::text::tree::{Node, Value};

/// The deepest nesting of brackets.
const DEPTH_MAX: usize = 16;

/// Returns a value with brackets as a tree; `None` if it is none.
pub(super) fn read(text: &str) -> Option<Node> {
    text.ends_with(')').then(|| nested(text, DEPTH_MAX)).flatten()
}

/// Returns a value: a list, a named choice with its values or fields, or anything without brackets.
fn nested(text: &str, depth: usize) -> Option<Node> {
    let (text, depth) = (text.trim(), depth.checked_sub(1)?);
    if let Some(inner) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        return parts(inner)?.into_iter().map(|it| nested(it, depth)).collect::<Option<_>>().map(Node::list);
    }
    let Some((name, inner)) = text.strip_suffix(')').and_then(|it| it.split_once('(')) else {
        let value = decode::value(text);
        return suffixed(value.as_str().unwrap_or(text)).or(Some(value));
    };
    if name.is_empty() || !name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') {
        return None;
    }
    let parts = parts(inner)?;
    let field = |part: &&str| part.split_once(':').map(|(name, it)| (name.trim().to_owned(), it.to_owned()));
    let fields: Option<Vec<(String, String)>> = parts.iter().map(field).collect();
    let value = match (fields.filter(|it| !it.is_empty()), parts.as_slice()) {
        (Some(fields), _) => {
            let fields = fields.into_iter().map(|(name, it)| Some((name, nested(&it, depth)?)));
            Node::table(fields.collect::<Option<_>>()?)
        }
        (None, [one]) => nested(one, depth)?,
        (None, several) => Node::list(several.iter().map(|it| nested(it, depth)).collect::<Option<_>>()?),
    };
    Some(Node::table(vec![(name.to_owned(), value)]))
}

/// Returns what stands between the commas outside of brackets and quotes; `None` if they do not match.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, mark) in text.char_indices() {
        match mark {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|it| !it.trim().is_empty());
    (depth == 0 && !is_quoted).then_some(parts)
}

// Numbers on a command line: `100k`, `1.5M`, and `*2` to double the current value.

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
        Value::Whole(number) => Value::Whole(factor.share_of(u64::try_from(number).ok()?).into()),
        Value::Real(number) => Value::Real(Decimal::from_f64(number)?.times(factor)?.to_f64()),
        _ => return None,
    };
    Some(Node::of(product))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tree::Value;

    fn json(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Whole(it) => u64::try_from(*it).unwrap().into(),
            Value::Real(it) => (*it).into(),
            Value::Text(it) => it.as_str().into(),
            Value::List(all) => all.iter().map(|it| json(&it.value)).collect(),
            _ => node.entries().iter().map(|it| (it.name().unwrap(), json(&it.value))).collect(),
        }
    }

    #[test]
    fn a_value_is_read_as_a_policy_in_ron_writes_it() {
        let json = |text: &str| read(text).map(|it| json(&it).to_string());

        assert_eq!(json("ratio(0.3)").as_deref(), Some(r#"{"ratio":0.3}"#));
        assert_eq!(json("ratio(30%)").as_deref(), Some(r#"{"ratio":0.3}"#));
        assert_eq!(json("tokens(40k)").as_deref(), Some(r#"{"tokens":40000}"#));
        assert_eq!(
            json("min([tokens(1e6), limit])").as_deref(),
            Some(r#"{"min":[{"tokens":1000000},"limit"]}"#)
        );
        assert_eq!(json("times(0.5, window)").as_deref(), Some(r#"{"times":[0.5,"window"]}"#));
        assert_eq!(
            json("by_window(below: 200k, then: ratio(0.8), otherwise: limit)").as_deref(),
            Some(r#"{"by_window":{"below":200000,"otherwise":"limit","then":{"ratio":0.8}}}"#)
        );
        for no_value in ["ratio(0.3", "ratio(0.3))", "a b(1)", "(1)", "plain"] {
            assert_eq!(json(no_value), None, "{no_value}");
        }
    }
}
