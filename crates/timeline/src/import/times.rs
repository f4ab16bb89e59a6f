//! Times as recordings write them, in milliseconds since 1970.

use ctxsim_input::profile::calendar::days_since_1970;

use super::losses::NOT_TIMES;
use crate::import::prelude::*;

/// Parses `2026-01-16T00:14:21.124Z` as milliseconds since 1970; a time without a zone is in UTC. `None` for anything else.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_in_range =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let rest = text.get(19..)?;
    let digits = rest.strip_prefix('.').unwrap_or_default();
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let ms: i64 = format!("{:0<3}", &digits[..n_digits.min(3)]).parse().ok()?;
    let zone = if n_digits > 0 { &digits[n_digits..] } else { rest };
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - ahead(zone);
    is_in_range.then_some((minutes * 60 + second) * 1_000 + ms)
}

/// A record's line, from 1, and when it was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub(super) line: usize,
    pub(super) ms: Option<i64>,
}

impl Stamp {
    /// Parses the time of a record; one that is written and is none is told.
    pub(super) fn noted(line: usize, text: &str, losses: &mut Losses) -> Self {
        let ms = milliseconds(text);
        if ms.is_none() && !text.is_empty() {
            losses.add(line, NOT_TIMES);
        }
        Self { line, ms }
    }
}

/// Returns by how many minutes a zone is ahead of UTC: `+02:00`, `-0400`.
fn ahead(zone: &str) -> i64 {
    let sign = match zone.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return 0,
    };
    let digits: String = zone.chars().filter(char::is_ascii_digit).take(4).collect();
    let number = |from: usize| digits.get(from..from + 2).and_then(|it| it.parse::<i64>().ok()).unwrap_or(0);
    sign * (number(0) * 60 + number(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_counts_from_1970() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(milliseconds("2026-01-16T00:14:21.124Z"), Some(1_768_522_461_124));
        assert_eq!(milliseconds("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        assert_eq!(milliseconds("2024-03-01T01:59:59.5+02:00"), Some(1_709_251_199_500));
        assert_eq!(milliseconds("2024-02-29T19:59:59-0400"), Some(1_709_251_199_000));
        assert_eq!(milliseconds("yesterday"), None);
        assert_eq!(milliseconds("2026-13-01T00:00:00Z"), None);
    }
}
