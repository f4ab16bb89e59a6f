//! Advice for one user or project: by its own sessions where they suffice, else by everybody's, with dollars that are shrunk toward the others'.

use super::play::PlayedSession;
use crate::Comparison;
use crate::selection::Whose;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers::counted;
use ctxsim_base::list::Listed as _;
use ctxsim_report::advise::AgentAdvice;
use ctxsim_report::decide::SESSIONS_MIN;
use ctxsim_report::distinct;
use ctxsim_report::lever::{GroupSaving, Lever, Word};
use ctxsim_timeline::import::user_of;

/// Splits a comparison into one of everybody's sessions and the user or project that it asked for.
pub(super) fn without_whose(comparison: &Comparison) -> (Comparison, Whose) {
    let whose = Whose { user: comparison.user.clone(), project: comparison.project.clone() };
    (Comparison { user: None, project: None, ..comparison.clone() }, whose)
}

/// The sessions by which somebody is advised.
pub(super) struct SessionsFor<'a> {
    pub(super) played: Vec<&'a PlayedSession>,
    /// How many of them are the one's own, where these are too few.
    pub(super) few: Option<usize>,
}

impl<'a> SessionsFor<'a> {
    /// Chooses among the sessions of an agent; `None` if nobody who is asked for has any.
    pub(super) fn new(all: &[&'a PlayedSession], whose: &Whose) -> Option<Self> {
        let own = all.iter().copied().filter(|it| whose.takes(&it.seen.project)).listed();
        match own.len() {
            0 => None,
            n if n >= SESSIONS_MIN || n == all.len() => Some(Self { played: own, few: None }),
            n => Some(Self { played: all.to_vec(), few: Some(n) }),
        }
    }
}

/// Says that nobody who is asked for has a session, and who has.
pub(super) fn nobody(all: &[PlayedSession], whose: &Whose) -> Error {
    let (asked, known): (&str, Vec<&str>) = match (&whose.project, &whose.user) {
        (Some(project), _) => (project, distinct(all.iter().map(|it| it.seen.project.as_str()))),
        (None, user) => {
            (user.as_deref().unwrap_or_default(), distinct(all.iter().map(|it| user_of(&it.seen.project))))
        }
    };
    let known = known.into_iter().filter(|it| !it.is_empty()).listed();
    let mut problem =
        Diagnostic::at(Code("nothing-to-run"), "", format!("no recorded session is one of `{asked}`"));
    if whose.project.is_some() { "--project" } else { "--user" }.clone_into(&mut problem.place.file);
    let help = if known.is_empty() {
        "these logs do not tell whose they are".to_owned()
    } else {
        format!("use one of {}", known.join(", "))
    };
    vec![problem.help(help)].into()
}

/// Narrows advice by everybody's sessions to one who has few: the words stay, and the dollars become those of the one.
pub(super) fn narrowed(mut advice: AgentAdvice, whose: &Whose, few: usize) -> AgentAdvice {
    let own = |it: &Lever| {
        let groups = if whose.project.is_some() { &it.projects } else { &it.people };
        let takes = |it: &&GroupSaving| {
            if whose.project.is_some() { whose.takes(&it.group) } else { whose.takes_user(&it.group) }
        };
        // A name may be that of several folders.
        groups.iter().filter(takes).cloned().reduce(|mut sum, it| {
            sum.sessions += it.sessions;
            sum.month_usd += it.month_usd;
            sum.saved_month += it.saved_month;
            (0..2).for_each(|end| sum.saved_interval[end] += it.saved_interval[end]);
            sum
        })
    };
    advice.notes.push(format!(
        "Words, and what the logs bill, are of all {}, as there are only {} of the one asked for. Dollars a month are for that one, shrunk toward the others'.",
        counted(advice.sessions, "session"),
        counted(few, "session")
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
        Some(lever.in_month(Some(group.month_usd)))
    };
    let levers = advice.levers.iter().enumerate();
    let levers = levers.filter_map(|(nth, it)| Some((nth, narrow(it)?))).listed();
    let mut advice = advice.with_levers(levers);
    advice.pasted = advice.pasted.filter(|it| advice.levers[*it].word == Some(Word::Do));
    if advice.pasted.is_none() {
        advice.paste.clear();
        advice.heed.clear();
    }
    advice.levers.iter_mut().for_each(|it| {
        it.people.clear();
        it.projects.clear();
    });
    advice
}
