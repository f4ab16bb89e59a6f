//! Numbers as text.

use crate::quantity::Tokens;

/// The mark of a number that is unknown or undefined.
pub const NONE: &str = "–";

/// Returns a whole number with separators between thousands.
pub fn thousands(number: u64) -> String {
    separated(&number.to_string())
}

/// Returns a number with all its decimals; a large whole one has separators.
pub fn plain(number: f64) -> String {
    if number.fract() == 0.0 && (1e4..1e15).contains(&number) {
        thousands(number as u64)
    } else {
        number.to_string()
    }
}

/// Returns a number of things: `1 turn`, `1,320 turns`, `2 entries`, `2 days`.
pub fn counted(n: usize, one: &str) -> String {
    let number = thousands(n as u64);
    match one.strip_suffix('y') {
        _ if n == 1 => format!("{number} {one}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {one}s"),
    }
}

/// Returns a number of tokens in at most five characters: `987`, `12.3k`, `4.56M`.
pub fn short(tokens: Tokens) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    let Some((unit, mark)) = UNITS.into_iter().find(|(unit, _)| tokens >= *unit) else {
        return tokens.to_string();
    };
    let value = tokens as f64 / unit as f64;
    let decimals = if value >= 99.95 { 0 } else { 1 };
    format!("{value:.decimals$}{mark}")
}

/// Returns a share as a percentage with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Returns the relative difference from a base, signed, in percent; `None` if the base is 0 or unknown.
pub fn change(value: f64, base: f64) -> Option<String> {
    (base > 0.0).then(|| signed(value / base - 1.0))
}

/// Returns a change by a share, signed, in percent.
pub fn signed(change: f64) -> String {
    sign(change) + "%"
}

/// Returns an interval of changes, in percent, without the mark.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("{}…{}", sign(low), sign(high))
}

fn sign(change: f64) -> String {
    let shown = format!("{:.1}", change.abs() * 100.0);
    match shown.as_str() {
        "0.0" => shown,
        _ if change < 0.0 => format!("−{shown}"),
        _ => format!("+{shown}"),
    }
}

/// Returns an expected count: whole numbers plainly, others with two decimals.
pub fn expected(count: f64) -> String {
    fixed(count, if count.fract() == 0.0 { 0 } else { 2 })
}

/// Returns an amount with so many decimals and separators between thousands.
pub fn fixed(amount: f64, decimals: usize) -> String {
    let text = format!("{amount:.decimals$}");
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", separated(whole)),
        None => separated(&text),
    }
}

/// Writes what is known, or the mark of unknown numbers.
pub fn or_none<T>(known: Option<T>, written: impl FnOnce(T) -> String) -> String {
    known.map_or_else(|| NONE.to_owned(), written)
}

/// Returns an amount with a number of decimals, or the mark of unknown numbers.
pub fn fixed_or_none(amount: Option<f64>, decimals: usize) -> String {
    or_none(amount, |it| fixed(it, decimals))
}

/// Returns a number with a number of decimals and no separators, or the mark of unknown numbers.
pub fn plain_or_none(number: Option<f64>, decimals: usize) -> String {
    or_none(number, |it| format!("{it:.decimals$}"))
}

/// Returns how many decimals amounts of this size are shown with.
pub fn decimals(largest: f64) -> usize {
    match largest {
        it if it >= 100.0 => 2,
        it if it >= 1.0 => 4,
        _ => 6,
    }
}

/// Returns words as a list in a sentence: `A, B and C`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns names as they stand in code, as a list in a sentence.
pub fn listed_code(names: &[String]) -> String {
    listed(&names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>())
}

/// Returns the first and the last of some days, or the only one; nothing without any.
pub fn days<'d>(all: impl Iterator<Item = &'d str> + Clone) -> String {
    match (all.clone().min(), all.max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (day, _) => day.unwrap_or_default().to_owned(),
    }
}

/// Puts a separator before every third digit from the end.
fn separated(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |it| ("-", it));
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    text.push_str(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_where_people_stop_reading() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(
            (short(987), short(12_345), short(4_560_000)),
            ("987".into(), "12.3k".into(), "4.6M".into())
        );
        assert_eq!(short(999_949), "1000k");
        assert_eq!(fixed(1_199.144_484, 2), "1,199.14");
        assert_eq!((expected(3.0), expected(0.125)), ("3".into(), "0.12".into()));
    }

    #[test]
    fn a_change_too_small_to_show_has_no_sign() {
        assert_eq!(change(77.4, 100.0).as_deref(), Some("−22.6%"));
        assert_eq!(change(104.14, 100.0).as_deref(), Some("+4.1%"));
        assert_eq!(change(99.99, 100.0).as_deref(), Some("0.0%"));
        assert_eq!(change(1.0, 0.0), None);
    }
}
