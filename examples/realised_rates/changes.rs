//! Kinds of change, and sessions that are drawn, cut by date, and billed anew under each.

use ctxsim::app::advise::{ChangedSession, PlayedSessions};
use ctxsim::report::advise::saved::{EarlierBills, EarlierSession, SCHEMA, SavingsForecast, TrialDay};
use ctxsim::report::realised::{ForecastOutcome, LaterSession, Realised};
use ctxsim::rng::{Draw, Seed};

/// Where later sessions come from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mix {
    /// All of them, each drawn session with a day of its own.
    Same,
    /// The newer ones, by the recorded days.
    Newer,
    /// The same as the earlier ones, by their length: one of twice as many requests comes twice as often.
    Longer,
    /// People that the forecast did not see.
    OtherPeople,
}

/// How later sessions are held against the forecast.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum By {
    Play,
    Requests,
    /// By the others of them, half of the people, who changed nothing.
    Unchanged,
    /// By the days of a trial on which the setting is off.
    Trial,
}

/// What changed.
pub(crate) struct Change {
    pub(crate) name: &'static str,
    pub(crate) set: &'static [&'static str],
    /// The forecast over all sessions.
    pub(crate) level: f64,
    /// How many times the forecast came about.
    pub(crate) came: f64,
    mix: Mix,
    by: By,
    /// By how much all later bills rose beside.
    drift: f64,
    /// Whether it is one of the eight kinds that are asked for.
    pub(crate) counts: bool,
}

const DAY_MS: i64 = 86_400_000;
/// As many days as the recorded sessions are of.
const SPAN_DAYS: u64 = 72;
const WINDOW: &[&str] = &["autoCompactWindow=160000"];
const LIFETIME: &[&str] = &["promptCacheTtl=1h"];
const BOTH: &[&str] = &["autoCompactWindow=160000", "promptCacheTtl=1h", "subagentPromptCacheTtl=1h"];

const fn change(name: &'static str, set: &'static [&'static str], level: f64, came: f64, mix: Mix) -> Change {
    Change { name, set, level, came, mix, by: By::Play, drift: 1.0, counts: true }
}

pub(crate) const CHANGES: [Change; 15] = [
    change("a window, as forecast", WINDOW, -0.08, 1.0, Mix::Same),
    change("a lifetime, as forecast", LIFETIME, -0.08, 1.0, Mix::Same),
    change("both, as forecast", BOTH, -0.12, 1.0, Mix::Same),
    change("a window, half of it", WINDOW, -0.08, 0.5, Mix::Same),
    change("a window that nobody heeds", WINDOW, -0.08, 0.0, Mix::Same),
    change("a lifetime, twice as much", LIFETIME, -0.08, 2.0, Mix::Same),
    change("a window, dearer by as much", WINDOW, -0.08, -1.0, Mix::Same),
    change("a lifetime, while sessions get longer", LIFETIME, -0.08, 1.0, Mix::Longer),
    change("both, by other people", BOTH, -0.12, 1.0, Mix::OtherPeople),
    Change { counts: false, ..change("a window, cut at the recorded days", WINDOW, -0.08, 1.0, Mix::Newer) },
    Change {
        counts: false,
        ..change("a lifetime, cut at the recorded days", LIFETIME, -0.08, 1.0, Mix::Newer)
    },
    Change {
        by: By::Requests,
        counts: false,
        ..change("a window, by requests alone", WINDOW, -0.08, 1.0, Mix::Same)
    },
    Change {
        drift: 1.1,
        counts: false,
        ..change("a window, while all is 10% dearer", WINDOW, -0.08, 1.0, Mix::Same)
    },
    Change {
        drift: 1.1,
        by: By::Unchanged,
        counts: false,
        ..change("the same, beside people who changed nothing", WINDOW, -0.08, 1.0, Mix::Same)
    },
    Change {
        drift: 1.1,
        by: By::Trial,
        counts: false,
        ..change("the same, as a trial by days", WINDOW, -0.08, 1.0, Mix::Same)
    },
];

/// How often something was told, and rightly.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    pub(crate) asked: usize,
    pub(crate) answered: usize,
    pub(crate) right: usize,
    /// Half the widths of the intervals, in sum.
    pub(crate) reach: f64,
}

impl Told {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            answered: self.answered + other.answered,
            right: self.right + other.right,
            reach: self.reach + other.reach,
        }
    }
}

/// A session, and what is forecast for it.
#[derive(Clone)]
struct Session {
    of: ChangedSession,
    change: f64,
    /// Whether it is one of the first half of people, taken in turns by their names.
    is_first: bool,
}

/// The sessions of an agent under a change, oldest first.
pub(crate) struct Folder(Vec<Session>);

impl Folder {
    pub(crate) fn new(folder: &PlayedSessions<'_>, agent: &str, change: &Change) -> Option<Self> {
        let known = |it: &ChangedSession| it.earlier.size.zip(it.earlier.billed_usd).is_some();
        let mut all: Vec<ChangedSession> =
            folder.sessions_under_change(agent, change.set)?.into_iter().filter(known).collect();
        all.sort_by_key(|it| it.earlier.at_ms);
        let sum = |of: fn(&ChangedSession) -> Option<f64>| all.iter().filter_map(of).sum::<f64>();
        let scale = (1.0 + change.level) * sum(|it| it.earlier.usd) / sum(|it| it.earlier.changed_usd);
        let mut people: Vec<String> = all.iter().map(|it| person(it).to_owned()).collect();
        people.sort_unstable();
        people.dedup();
        let session = |of: ChangedSession| {
            let is_first = people.iter().position(|it| it == person(&of)).is_some_and(|it| it % 2 == 0);
            let change =
                of.earlier.changed_usd.zip(of.earlier.usd).map_or(0.0, |it| scale * it.0 / it.1 - 1.0);
            Session { of, change, is_first }
        };
        Some(Self(all.into_iter().map(session).collect()))
    }

    /// Draws as many earlier sessions as later ones, and holds the forecast of the former against the latter.
    pub(crate) fn told(&self, change: &Change, seed: u64, n: usize) -> Told {
        let mut draw = Seed(seed).stream("realised", n as u64).nth(0, 0);
        let (earlier, later) = self.parts(change.mix, n, &mut draw);
        let saved = saved(change, &earlier);
        let later: Vec<LaterSession> = later.iter().map(|it| billed(change, it, &mut draw)).collect();
        let found = Realised::new(&saved, &later);
        let right = match change.came {
            came if came > 1.0 => ForecastOutcome::More,
            came if came < 1.0 => ForecastOutcome::Less,
            _ => ForecastOutcome::AsForecast,
        };
        Told {
            asked: 1,
            answered: usize::from(found.answer != ForecastOutcome::CannotTell),
            right: usize::from(found.answer == right),
            reach: found.interval.map_or(1.0, |it| (it[1] - it[0]) / 2.0),
        }
    }

    fn of_half(&self, is_first: bool) -> Vec<&Session> {
        self.0.iter().filter(|it| it.is_first == is_first).collect()
    }

    /// Draws sessions, and cuts them by date; or by people.
    fn parts(&self, mix: Mix, n: usize, draw: &mut Draw) -> (Vec<Session>, Vec<Session>) {
        let mut from = |part: &[&Session], n: usize, weight: fn(&Session) -> u64| -> Vec<Session> {
            let all: u64 = part.iter().map(|it| weight(it)).sum();
            let mut one = || {
                let mut at = draw.next_below(all);
                let found = part.iter().find(|it| {
                    let is_it = at < weight(it);
                    at = at.saturating_sub(weight(it));
                    is_it
                });
                found.map(|it| (*it).clone())
            };
            (0..n).filter_map(|_| one()).collect()
        };
        let whole: Vec<&Session> = self.0.iter().collect();
        let mut drawn = from(&whole, 2 * n, |_| 1);
        match mix {
            // Sessions of one list have no order; days are drawn with them.
            Mix::Same | Mix::Longer => {}
            Mix::OtherPeople => drawn = from(&self.of_half(true), 2 * n, |_| 1),
            Mix::Newer => drawn.sort_by_key(|it| it.of.earlier.at_ms),
        }
        let mut later = drawn.split_off(n);
        if mix == Mix::Longer {
            later = from(&whole, n, |it| it.of.requests);
        }
        if mix == Mix::OtherPeople {
            later = from(&self.of_half(false), n, |_| 1);
        }
        if mix != Mix::Newer {
            dated(&mut drawn, 0, draw);
            dated(&mut later, SPAN_DAYS, draw);
        }
        (drawn, later)
    }
}

/// Gives sessions days from one on.
fn dated(sessions: &mut [Session], first_day: u64, draw: &mut Draw) {
    for it in sessions {
        let day = first_day + draw.next_below(SPAN_DAYS);
        it.of.earlier.at_ms = i64::try_from(day).ok().map(|it| it * DAY_MS);
    }
}

/// Returns whose session it is.
fn person(it: &ChangedSession) -> &str {
    it.project.split('/').nth(2).unwrap_or_default()
}

/// Makes the forecast of sessions.
fn saved(change: &Change, earlier: &[Session]) -> SavingsForecast {
    let by_cost = change.by != By::Requests;
    let read = |it: &Session| EarlierSession {
        size: if by_cost { it.of.earlier.size } else { Some(it.of.requests as f64) },
        billed_usd: if by_cost { it.of.earlier.billed_usd } else { Some(it.of.billed_usd) },
        changed_usd: it.of.earlier.usd.map(|usd| usd * (1.0 + it.change)),
        ..it.of.earlier.clone()
    };
    let read: Vec<EarlierSession> = earlier.iter().map(read).collect();
    let EarlierBills { kinds, pooled, drift } = EarlierBills::new(&read, by_cost);
    let sum = |of: fn(&EarlierSession) -> Option<f64>| read.iter().filter_map(of).sum::<f64>();
    let whole = sum(|it| it.changed_usd) / sum(|it| it.usd) - 1.0;
    let trial = (change.by == By::Trial).then(|| TrialDay { day: String::new(), is_on: true });
    SavingsForecast {
        schema: SCHEMA.to_owned(),
        agent: "Claude Code".to_owned(),
        set: Vec::new(),
        word: String::new(),
        until_ms: None,
        versions: Vec::new(),
        change: whole,
        interval: [whole; 2],
        before: if by_cost { vec!["setting=default".to_owned()] } else { Vec::new() },
        kinds,
        pooled,
        drift,
        former: Vec::new(),
        trial: trial.into_iter().collect(),
    }
}

/// Bills a later session anew.
fn billed(change: &Change, it: &Session, draw: &mut Draw) -> LaterSession {
    // Three sessions a day; half of the days are off.
    let day = draw.next_below(40);
    let is_unchanged = match change.by {
        By::Play | By::Requests => false,
        By::Unchanged => it.is_first,
        By::Trial => day.is_multiple_of(2),
    };
    let came = if is_unchanged { 0.0 } else { change.came * it.change };
    let by_requests = change.by == By::Requests;
    let usd = if by_requests { it.of.billed_usd } else { it.of.earlier.billed_usd.unwrap_or_default() };
    LaterSession {
        kind: it.of.earlier.kind.clone(),
        size: if by_requests { it.of.requests as f64 } else { it.of.earlier.size.unwrap_or_default() },
        usd: usd * (1.0 + came) * change.drift,
        change: (!by_requests).then_some(it.change),
        is_unchanged,
        at_ms: it.of.earlier.at_ms,
        day: (change.by == By::Trial).then(|| day.to_string()),
    }
}
