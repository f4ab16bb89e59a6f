//! Days and hours for prices: UTC, without leap seconds.

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

pub const WEEK_MINUTES: u32 = 7 * 24 * 60;

/// Parses `YYYY-MM-DD` as milliseconds since 1970.
pub fn parse_day(text: &str) -> Option<i64> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=n_days).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day) * DAY_MS)
}

/// Returns the date of a moment as `YYYY-MM-DD`.
pub fn date_text(ms: i64) -> String {
    let [year, month, day] = date_of(ms);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns the year, month and day of a time, UTC.
pub fn date_of(ms: i64) -> [i64; 3] {
    let wanted = ms.div_euclid(86_400_000);
    let mut year = 1970 + wanted / 366;
    while days_since_1970(year + 1, 1, 1) <= wanted {
        year += 1;
    }
    let month = (1..=12).rev().find(|it| days_since_1970(year, *it, 1) <= wanted).unwrap_or(1);
    [year, month, wanted - days_since_1970(year, month, 1) + 1]
}

/// Returns the number of days from 1970 to a Gregorian date.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March put the leap day last; 719,468 days lie between 0000-03-01 and 1970-01-01.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let n_leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + n_leap + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// Parses a date, or a date with a time (`YYYY-MM-DDTHH:MMZ`), as milliseconds since 1970.
pub fn instant(text: &str) -> Option<i64> {
    match text.split_once('T') {
        None => parse_day(text),
        Some((date, time)) => {
            let minute = minute_of_day(time.strip_suffix('Z')?)?;
            (minute < 1_440).then(|| Some(parse_day(date)? + i64::from(minute) * 60_000)).flatten()
        }
    }
}

/// Parses `HH:MM` as minutes since midnight; `24:00` is the end of the day.
pub fn minute_of_day(text: &str) -> Option<u32> {
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute) = (number(hour, 2)?, number(minute, 2)?);
    let total = u32::try_from(hour * 60 + minute).ok()?;
    (minute < 60 && total <= 1_440).then_some(total)
}

/// Returns the minute of the week for milliseconds since 1970; 0 is Monday's first minute.
pub fn minute_of_week(ms: i64) -> u32 {
    // 1970-01-01 was a Thursday.
    let minutes = ms.div_euclid(60_000) + 3 * 1_440;
    u32::try_from(minutes.rem_euclid(i64::from(WEEK_MINUTES))).unwrap_or(0)
}

fn number(text: &str, n_digits: usize) -> Option<i64> {
    let is_plain = text.len() == n_digits && text.bytes().all(|it| it.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(parse_day("1970-01-01"), Some(0));
        assert_eq!(parse_day("2000-02-29"), Some(951_782_400_000));
        assert_eq!(parse_day("2026-10-07"), Some(1_791_331_200_000));
        for wrong in ["2026-02-29", "2026-13-01", "2026-1-1", "20261007", "", "2026-10-00", "−026-10-07"] {
            assert_eq!(parse_day(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hours_and_weekdays_are_those_of_utc() {
        assert_eq!(instant("1970-01-02T01:30Z"), Some(DAY_MS + 90 * 60_000));
        assert_eq!(instant("1970-01-02T24:00Z"), None);
        assert_eq!(minute_of_week(0), 3 * 1_440, "a Thursday");
        assert_eq!(minute_of_week(-1), 3 * 1_440 - 1);
        assert_eq!(minute_of_week(parse_day("2026-11-23").unwrap()), 0, "a Monday");
        assert_eq!(
            (minute_of_day("24:00"), minute_of_day("24:01"), minute_of_day("7:00")),
            (Some(1_440), None, None)
        );
    }
}
