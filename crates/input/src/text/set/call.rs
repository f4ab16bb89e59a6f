//! Values on a command line as policies in RON write them: `ratio(0.3)`, `min([tokens(40k), limit])`.

use super::number;
use crate::text::decode;
use crate::text::tree::Node;

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
        return number::suffixed(value.as_str().unwrap_or(text)).or(Some(value));
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
