//! The days of a trial: on half of them the settings are in force, on the others not.

use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::rng::Seed;
use ctxsim_input::profile::calendar::{self, DAY_MS};
use ctxsim_report::advise::saved::TrialDay;

/// What trial is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrialRequest {
    /// Its length in days.
    pub days: u64,
    /// Its first day, YYYY-MM-DD; by default the day behind the newest session.
    pub from: Option<String>,
    /// The seed of the draws.
    pub seed: u64,
}

impl TrialRequest {
    /// Returns the days: of two weeks, each weekday is on once and off once; of what is left, one of each two days is on.
    ///
    /// # Errors
    /// The first day is not a date, or no session tells one.
    pub(super) fn schedule(&self, newest_ms: Option<i64>) -> Result<Vec<TrialDay>, Vec<Diagnostic>> {
        const WEEK: u64 = 7;
        let wrong = |message: String| {
            let mut problem = Diagnostic::at(Code("since-day"), "", message);
            "--from".clone_into(&mut problem.place.file);
            vec![problem.help("write YYYY-MM-DD, as in `2026-11-01`")]
        };
        let first_ms = match &self.from {
            Some(day) => calendar::parse_day(day).ok_or_else(|| wrong(format!("`{day}` is not a date")))?,
            None => newest_ms.ok_or_else(|| wrong("no session tells a day to begin on".to_owned()))? + DAY_MS,
        };
        let stream = Seed(self.seed).stream("trial days", 0);
        let whole = self.days / (2 * WEEK) * 2 * WEEK;
        let is_on = |nth: u64| {
            // The two days that are drawn together, and which of them this is.
            let (pair, is_second) = match nth < whole {
                true => (nth / (2 * WEEK) * WEEK + nth % WEEK, nth / WEEK % 2 == 1),
                false => (whole + (nth - whole) / 2, (nth - whole) % 2 == 1),
            };
            (stream.nth(pair, 0).between(0, 1) == 1) != is_second
        };
        let day = |nth: u64| TrialDay {
            day: calendar::date_text(first_ms.saturating_add(DAY_MS.saturating_mul(nth.cast_signed()))),
            is_on: is_on(nth),
        };
        Ok((0..self.days).map(day).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(seed: u64, days: u64) -> Vec<TrialDay> {
        TrialRequest { days, from: Some("2026-11-30".to_owned()), seed }.schedule(None).unwrap()
    }

    #[test]
    fn each_weekday_is_as_often_on_as_off_and_a_seed_gives_the_same_days_again() {
        for seed in 0..20 {
            let all = days(seed, 28);
            for weekday in 0..7 {
                let on = all.iter().skip(weekday).step_by(7).filter(|it| it.is_on).count();
                assert_eq!(on, 2, "seed {seed}, weekday {weekday}: {all:?}");
            }
            assert_eq!(days(seed, 10).iter().filter(|it| it.is_on).count(), 5);
            assert_eq!(all, days(seed, 28));
        }
        assert_ne!(days(0, 28), days(1, 28));
        assert_eq!((days(0, 28)[0].day.as_str(), days(0, 28)[27].day.as_str()), ("2026-11-30", "2026-12-27"));
    }

    #[test]
    fn a_trial_begins_behind_the_newest_session_and_refuses_what_is_not_a_date() {
        let of = |from: Option<&str>, newest| {
            TrialRequest { days: 4, from: from.map(str::to_owned), seed: 0 }.schedule(newest)
        };
        assert_eq!(of(None, Some(0)).unwrap()[0].day, "1970-01-02");
        assert!(of(None, None).is_err());
        assert_eq!(of(Some("2026-13-01"), None).unwrap_err()[0].place.file, "--from");
    }
}
