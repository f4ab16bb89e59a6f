//! What advice is asked for: settings to try, a trial by days, and whose sessions.

use crate::advise::agents::{Agent, SettingPair};
use crate::advise::play::PlayedSession;
use crate::prelude::*;
use crate::selection::{OwnerFilter, not_a_day_problem, parse_day_ms};
use ctxsim_base::grid::numbers::listed_code;
use ctxsim_base::rng::Seed;
use ctxsim_input::profile::calendar::{self, DAY_MS};
use ctxsim_report::advise::AgentAdvice;
use ctxsim_report::advise::saved::TrialDay;
use ctxsim_report::decide::SESSIONS_MIN;
use ctxsim_report::lever::{GroupSaving, Lever, Word};

/// Reads which settings and values are asked of an agent, together one choice, without those that another agent has.
///
/// # Errors
/// A text without `=`, a setting that no agent has, a value that the setting does not take, or a setting that is named twice.
pub(super) fn parse_setting_pairs(agent: &'static Agent, texts: &[String]) -> Checked<Vec<SettingPair>> {
    let known = Agent::all_by_file_name()?;
    let mut all: Vec<SettingPair> = Vec::new();
    let mut problems = Vec::new();
    for text in texts {
        let Some((key, value)) = text.split_once('=') else {
            let message = "a setting and its value are expected";
            let first = agent.settings.first();
            let first = first.and_then(|it| Some(format!("{}={}", it.key, it.values.first()?)));
            let help = format!("write KEY=VALUE, as in `--try {}`", first.unwrap_or_default());
            problems.push(try_option_problem(text, message, help));
            continue;
        };
        let Some(setting) = agent.setting(key.trim()) else {
            if !known.values().any(|it| it.setting(key.trim()).is_some()) {
                problems.push(unknown_setting_problem(agent, text, key.trim()));
            }
            continue;
        };
        if all.iter().any(|pair| pair.setting.key == setting.key) {
            let message = format!("`{}` is given twice", setting.key);
            problems.push(try_option_problem(text, message, "give one value for each setting"));
            continue;
        }
        match setting.played_value_or_help(value.trim()) {
            Ok(Some(value)) => all.push(SettingPair { setting, value }),
            Ok(None) => {
                let message = format!("`{value}` leaves `{}` as if nobody had set it", setting.key);
                problems.push(try_option_problem(text, message, format!("give a value: {}", setting.range)));
            }
            Err(help) => {
                let message = format!("`{value}` is not a value of `{}` of {}", setting.key, agent.name);
                problems.push(try_option_problem(text, message, help));
            }
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// Says that what is asked for contradicts what one of its settings needs.
pub(super) fn describe_unmet_needs(agent: &Agent, pairs: &[SettingPair]) -> Vec<Diagnostic> {
    let needs = pairs.iter().flat_map(|pair| &pair.setting.needs);
    let needed: Vec<String> = needs.map(|(key, value)| format!("{key}={value}")).listed();
    let set: Vec<String> = pairs.iter().map(SettingPair::to_key_value).listed();
    let message =
        format!("{} does nothing in {} without {}", listed_code(&set), agent.name, listed_code(&needed));
    vec![try_option_problem(&set[0], message, format!("also give `--try {}`", needed.join(" --try ")))]
}

/// Checks that one of the agents of the sessions has each setting that is asked for.
pub(super) fn check_agents_have_settings(agents: &[String], texts: &[String]) -> Result<()> {
    let known = Agent::all_by_file_name()?.values();
    let mut problems = Vec::new();
    for text in texts {
        let key = text.split_once('=').map_or(text.as_str(), |it| it.0.trim());
        let whose = known.clone().filter(|it| it.setting(key).is_some()).map(|it| it.name.clone()).listed();
        if !whose.iter().any(|it| agents.contains(it)) {
            let (ours, whose) = (listed(agents), listed(&whose));
            let message = format!("these are sessions of {ours}, and this is a setting of {whose}");
            let help = "name sessions of the agent that has the setting";
            problems.push(try_option_problem(text, message, help));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Says that an agent has no such setting, with the reason where it is one that is not played.
fn unknown_setting_problem(agent: &Agent, text: &str, key: &str) -> Diagnostic {
    let left_out = agent.left_out.iter().find(|it| it.key.split(", ").any(|own| own == key));
    let message = match left_out {
        Some(it) => format!("`{key}` of {} is not simulated: {}", agent.name, it.reason),
        None => format!("{} has no setting `{key}` that is simulated here", agent.name),
    };
    let keys: Vec<String> = agent.settings.iter().map(|it| it.key.clone()).listed();
    let help = match nearest(key, keys.iter().map(String::as_str)).filter(|_| left_out.is_none()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", listed_code(&keys)),
    };
    try_option_problem(text, message, help)
}

fn try_option_problem(text: &str, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::at(Code("setting-value"), text, message).help(help).in_file("--try")
}

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
    pub(super) fn schedule_days(&self, newest_session_ms: Option<i64>) -> Checked<Vec<TrialDay>> {
        const WEEK: u64 = 7;
        let untold = || vec![not_a_day_problem("--from", "no session tells a day to begin on".to_owned())];
        let first_ms = match &self.from {
            Some(day) => parse_day_ms("--from", day).map_err(|problem| vec![*problem])?,
            None => newest_session_ms.ok_or_else(untold)? + DAY_MS,
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

/// The sessions by which somebody is advised.
pub(super) struct SessionsToAdviseOn<'a> {
    pub(super) played: Vec<&'a PlayedSession>,
    /// How many of them are the one's own, where these are too few.
    pub(super) few: Option<usize>,
}

impl<'a> SessionsToAdviseOn<'a> {
    /// Chooses among the sessions of an agent; `None` if nobody who is asked for has any.
    pub(super) fn own_or_all(sessions: &[&'a PlayedSession], owner: &OwnerFilter) -> Option<Self> {
        let own = sessions.iter().copied().filter(|it| owner.includes_folder(&it.seen.project)).listed();
        match own.len() {
            0 => None,
            n if n >= SESSIONS_MIN || n == sessions.len() => Some(Self { played: own, few: None }),
            n => Some(Self { played: sessions.to_vec(), few: Some(n) }),
        }
    }
}

/// Says that nobody who is asked for has a session, and who has.
pub(super) fn no_session_of_owner_error<'s>(
    folders: impl Iterator<Item = &'s String>,
    owner: &OwnerFilter,
) -> Error {
    let (asked, known): (&str, Vec<&str>) = match (&owner.project, &owner.user) {
        (Some(project), _) => (project, distinct(folders.map(String::as_str))),
        (None, user) => (user.as_deref().unwrap_or_default(), distinct(folders.map(|it| user_of(it)))),
    };
    let known = known.into_iter().filter(|it| !it.is_empty()).listed();
    let option = if owner.project.is_some() { "--project" } else { "--user" };
    let message = format!("no recorded session is one of `{asked}`");
    let help = match known.join(", ") {
        none if none.is_empty() => "these logs do not tell whose they are".to_owned(),
        names => format!("use one of {names}"),
    };
    problem_in(option, Code("nothing-to-run"), message).help(help).into()
}

/// Narrows advice by everybody's sessions to one who has few: the words stay, and the dollars become those of the one.
pub(super) fn narrow_to_owner(mut advice: AgentAdvice, owner: &OwnerFilter, n_own: usize) -> AgentAdvice {
    let own = |lever: &Lever| {
        let groups = if owner.project.is_some() { &lever.projects } else { &lever.people };
        let takes = |saving: &&GroupSaving| owner.includes_folder(&saving.group);
        // A name may be that of several folders.
        groups.iter().filter(takes).cloned().reduce(|mut sum, more| {
            sum.sessions += more.sessions;
            sum.month_usd += more.month_usd;
            sum.saved_month += more.saved_month;
            (0..2).for_each(|end| sum.saved_interval[end] += more.saved_interval[end]);
            sum
        })
    };
    advice.notes.push(format!(
        "Words, and what the logs bill, are of all {}, as there are only {} of the one asked for. Dollars a month are for that one, shrunk toward the others'.",
        counted(advice.sessions, "session"),
        counted(n_own, "session")
    ));
    advice.lifetimes.clear();
    advice.month.usd = advice.levers.iter().find_map(|it| Some(own(it)?.month_usd));
    let narrow = |lever: &Lever| {
        let group = own(lever)?;
        let share = |usd: f64| 0.0 - usd / group.month_usd;
        let mut lever = lever.clone();
        if lever.word == Some(Word::Do) && group.saved_interval[0] <= 0.0 {
            lever.word = Some(Word::Try);
            "it saves over everybody's sessions, and whether it does here is not sure"
                .clone_into(&mut lever.why);
        }
        let is_spent = group.month_usd > 0.0;
        lever.change = is_spent.then(|| share(group.saved_month));
        lever.expected = lever.change;
        lever.interval = is_spent.then(|| group.saved_interval.map(share)).map(|[low, high]| [high, low]);
        Some(lever.with_monthly_cost(Some(group.month_usd)))
    };
    let month_usd = advice.month.usd;
    advice.ceilings = advice.ceilings.into_iter().map(|lever| lever.with_monthly_cost(month_usd)).collect();
    let levers = advice.levers.iter().enumerate();
    let levers = levers.filter_map(|(nth, it)| Some((nth, narrow(it)?))).listed();
    let mut advice = advice.with_replaced_levers(levers);
    advice.pasted = advice.pasted.filter(|it| advice.levers[*it].word == Some(Word::Do));
    if advice.pasted.is_none() {
        advice.paste.clear();
        advice.heed.clear();
    }
    for lever in &mut advice.levers {
        lever.people.clear();
        lever.projects.clear();
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(seed: u64, days: u64) -> Vec<TrialDay> {
        TrialRequest { days, from: Some("2026-11-30".to_owned()), seed }.schedule_days(None).unwrap()
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
        let days = |from: Option<&str>, newest| {
            TrialRequest { days: 4, from: from.map(str::to_owned), seed: 0 }.schedule_days(newest)
        };
        assert_eq!(days(None, Some(0)).unwrap()[0].day, "1970-01-02");
        assert!(days(None, None).is_err());
        assert_eq!(days(Some("2026-13-01"), None).unwrap_err()[0].place.file, "--from");
    }
}
