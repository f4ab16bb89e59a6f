//! Times as recordings write them, in milliseconds since 1970.

use crate::input::profile::calendar::days;

/// Parses `2026-01-16T00:14:21.124Z` as milliseconds since 1970; `None` for anything else.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_in_range =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let fraction: String = text
        .get(19..)?
        .strip_prefix('.')
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_digit)
        .take(3)
        .collect();
    let ms: i64 = format!("{fraction:0<3}").parse().ok()?;
    let days = days(year, month, day);
    is_in_range.then_some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_counts_from_1970() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(milliseconds("2026-01-16T00:14:21.124Z"), Some(1_768_522_461_124));
        assert_eq!(milliseconds("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        assert_eq!(milliseconds("yesterday"), None);
        assert_eq!(milliseconds("2026-13-01T00:00:00Z"), None);
    }
}
