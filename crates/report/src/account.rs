//! What sessions use of the limits of an account: how full its windows were, what filled the fullest five hours, and what a dollar at list prices takes.
//!
//! A log's percentages are of everything that the account used, here or elsewhere. So a window is said to have been as full as a session saw it,
//! and what a dollar takes is fitted to stretches of work alone. Where logs name no percentages, blocks of five hours begin with a request.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::logged::{ProfileOf, for_each_logged_request};

use crate::prelude::*;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::statistic::student;
use ctxsim_input::profile::calendar::{DAY_MS, date_text};
use ctxsim_timeline::LimitReading;
use ctxsim_timeline::import::user_of;

const MINUTE_MS: i64 = 60_000;
/// The windows that are looked at block by block, and how many of these are named.
const BLOCK_MINUTES: u32 = 300;
const BLOCKS: usize = 3;
/// What rises between readings that are further apart was used elsewhere; and the end of one window moves by less, as logs count seconds.
const APART_MS: i64 = 10 * MINUTE_MS;
/// What a dollar takes is said if so many windows rose, and if its standard error is at most this share of it.
const RISES: usize = 5;
const ERROR: f64 = 0.25;

/// What sessions used, each with what its log says of the account's limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AccountUse(Vec<Arc<SessionUse>>);

#[derive(Debug, PartialEq)]
struct SessionUse {
    format: &'static str,
    project: String,
    name: String,
    plan: String,
    requests: Vec<UsedRequest>,
    readings: Box<[LimitReading]>,
}

#[derive(Clone, Debug, PartialEq)]
struct UsedRequest {
    at_ms: Option<i64>,
    model: Arc<str>,
    tokens: Tokens,
    /// None where its model has no price.
    cost: Option<Cost>,
}

/// A request and its session.
type OwnRequest<'u> = (&'u UsedRequest, &'u SessionUse);

/// What is known of the limits of some accounts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LimitsUsed {
    /// How full the windows were of which logs name percentages, by person, plan and length.
    pub windows: Vec<WindowUse>,
    /// Of each person and format, the fullest blocks of five hours: by their percentages, or where logs name none by their dollars.
    pub fullest_blocks: Vec<BlockUse>,
}

/// How full windows of one length were.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WindowUse {
    /// The home of the person; empty where no log tells it.
    pub person: String,
    pub plan: String,
    pub window_minutes: u32,
    /// How many windows sessions saw; each was as full as they saw it, or fuller.
    pub windows: usize,
    pub fullest_percent: f64,
    /// The middle one of them.
    pub usual_percent: f64,
    /// What the sessions used in the fullest, at list prices.
    pub fullest_usd: f64,
    /// What a dollar at list prices takes; null where too few windows rose, or where they disagree.
    pub percent_per_usd: Option<PercentPerUsd>,
}

/// How much of a window a dollar takes, by least squares through the origin over windows; the error is that of the jackknife.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PercentPerUsd {
    pub percent: f64,
    pub standard_error: f64,
    pub windows: usize,
}

/// What was used in five hours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockUse {
    pub format: &'static str,
    /// When it began, UTC.
    pub began: String,
    /// How full the window was; null where logs name no percentages.
    pub used_percent: Option<f64>,
    pub tokens: Tokens,
    /// At list prices; what has no price is left out.
    pub usd: f64,
    /// The project, the session and the model that took most of it.
    pub filled_by: Vec<Filler>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filler {
    pub what: &'static str,
    pub name: String,
    /// Of the dollars of the block; of its tokens where nothing has a price.
    pub share: f64,
}

/// What a setting would have left free of the fullest window whose percentages a dollar explains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowFreed {
    pub window_minutes: u32,
    /// Points of percent, and their 95% interval: over later sessions, and over what a dollar takes.
    pub percent: f64,
    pub interval: [f64; 2],
}

impl AccountUse {
    /// Returns what a session used, at list prices of the time.
    pub(crate) fn from_timeline(timeline: &Timeline, profile_of: ProfileOf<'_>) -> Self {
        let Some(recorded) = &timeline.recorded else { return Self::default() };
        let mut requests: Vec<UsedRequest> = Vec::new();
        for_each_logged_request(timeline, profile_of, |request| {
            let same = requests.last().filter(|last| *last.model == *request.model);
            let model = same.map_or_else(|| request.model.into(), |last| Arc::clone(&last.model));
            let used = request.token_use();
            let TokenUse { read, write: [short, long], uncached, output } = used;
            let tokens = [short, long, uncached, output].into_iter().fold(read, Tokens::saturating_add);
            let cost = request.price_list().and_then(|it| Bill::of_request(it, &used).total());
            requests.push(UsedRequest { at_ms: request.at_ms, model, tokens, cost });
        });
        Self(vec![Arc::new(SessionUse {
            format: recorded.format,
            project: recorded.project.clone(),
            name: timeline.name.clone(),
            plan: recorded.plan.clone(),
            requests,
            readings: recorded.limits.clone(),
        })])
    }

    pub(crate) fn extend(&mut self, more: &Self) {
        self.0.extend(more.0.iter().cloned());
    }

    /// Returns the model that the bill of the last session ends with.
    pub(crate) fn last_model(&self) -> &str {
        self.0.last().and_then(|it| it.requests.last()).map_or("", |it| &it.model)
    }

    /// Returns the plans that the logs name.
    pub(crate) fn plans(&self) -> BTreeSet<&str> {
        self.0.iter().map(|it| it.plan.as_str()).filter(|it| !it.is_empty()).collect()
    }

    /// Returns whether every bill is of a log that names a plan.
    pub(crate) fn is_all_by_plan(&self) -> bool {
        let mut billed = self.0.iter().filter(|it| !it.requests.is_empty()).peekable();
        billed.peek().is_some() && billed.all(|it| !it.plan.is_empty())
    }

    /// Adds up how full windows were, and what filled the fullest blocks; `None` where no log tells times.
    pub(crate) fn limits_used(&self) -> Option<LimitsUsed> {
        let mut people: BTreeMap<(&str, &str), Vec<&SessionUse>> = BTreeMap::new();
        for session in &self.0 {
            people.entry((session.format, user_of(&session.project))).or_default().push(session);
        }
        let mut all = LimitsUsed::default();
        for ((_, person), sessions) in people {
            let mut requests: Vec<OwnRequest<'_>> = Vec::new();
            for session in &sessions {
                let timed = session.requests.iter().filter(|it| it.at_ms.is_some());
                requests.extend(timed.map(|it| (it, *session)));
            }
            requests.sort_by_key(|it| it.0.at_ms);
            let windows = windows(&sessions);
            let kinds = windows.chunk_by(|one, next| kind(one[0]) == kind(next[0]));
            all.windows.extend(kinds.map(|own| WindowUse::new(person, own, &requests)));
            all.fullest_blocks.extend(blocks(&windows, &requests));
        }
        all.fullest_blocks.order_by(BlockUse::fullest_first);
        (all != LimitsUsed::default()).then_some(all)
    }
}

fn kind(reading: &LimitReading) -> (&str, u32) {
    (&reading.plan, reading.window_minutes)
}

/// Returns the readings of each window, in order of time; windows of one plan and length follow each other.
fn windows<'u>(sessions: &[&'u SessionUse]) -> Vec<Vec<&'u LimitReading>> {
    let mut readings = sessions.iter().flat_map(|it| &it.readings).listed();
    readings.sort_by_key(|it| (kind(it), it.ends_ms));
    let is_same = |one: &&LimitReading, next: &&LimitReading| {
        kind(one) == kind(next) && next.ends_ms.saturating_sub(one.ends_ms) <= APART_MS
    };
    let mut windows = readings.chunk_by(is_same).map(<[_]>::to_vec).listed();
    windows.iter_mut().for_each(|window| window.sort_by_key(|it| it.at_ms));
    windows
}

/// Returns the requests from one time until before another.
fn between<'r, 'u>(requests: &'r [OwnRequest<'u>], from_ms: i64, to_ms: i64) -> &'r [OwnRequest<'u>] {
    let index = |ms: i64| requests.partition_point(|it| it.0.at_ms < Some(ms));
    &requests[index(from_ms)..index(to_ms.max(from_ms))]
}

/// Returns the requests that were made in a window.
fn within<'r, 'u>(requests: &'r [OwnRequest<'u>], window: &[&LimitReading]) -> &'r [OwnRequest<'u>] {
    let LimitReading { window_minutes, ends_ms, .. } = *window[0];
    between(requests, ends_ms.saturating_sub(i64::from(window_minutes) * MINUTE_MS), ends_ms)
}

/// Returns the blocks of five hours: the windows of that length that logs name, else those that begin with the first request after the one before.
fn blocks(windows: &[Vec<&LimitReading>], requests: &[OwnRequest<'_>]) -> Vec<BlockUse> {
    let named = windows.iter().filter(|it| it[0].window_minutes == BLOCK_MINUTES);
    let named = named.filter_map(|it| BlockUse::new(within(requests, it), Some(most_used(it))));
    let mut blocks = named.listed();
    let mut rest = if blocks.is_empty() { requests } else { &[] };
    while let Some(began_ms) = rest.first().and_then(|it| it.0.at_ms) {
        let ends_ms = began_ms.saturating_add(i64::from(BLOCK_MINUTES) * MINUTE_MS);
        let own = between(rest, began_ms, ends_ms);
        blocks.extend(BlockUse::new(own, None));
        rest = &rest[own.len().max(1)..];
    }
    blocks.order_by(BlockUse::fullest_first);
    blocks.truncate(BLOCKS);
    blocks
}

fn most_used(window: &[&LimitReading]) -> f64 {
    window.iter().map(|it| it.used_percent).fold(0.0, f64::max)
}

fn usd_of(requests: &[OwnRequest<'_>]) -> f64 {
    requests.iter().filter_map(|it| it.0.cost).fold(Cost::default(), |sum, it| sum + it).usd()
}

/// Returns how far a window rose from reading to reading in stretches of work whose requests have prices, and the dollars of these.
fn rise(window: &[&LimitReading], requests: &[OwnRequest<'_>]) -> [f64; 2] {
    let mut rise = [0.0; 2];
    for stretch in window.chunk_by(|one, next| next.at_ms.saturating_sub(one.at_ms) <= APART_MS) {
        let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
        let requests = between(requests, first.at_ms, last.at_ms);
        if requests.iter().all(|it| it.0.cost.is_some()) {
            rise = [rise[0] + last.used_percent - first.used_percent, rise[1] + usd_of(requests)];
        }
    }
    rise
}

impl WindowUse {
    fn new(person: &str, windows: &[Vec<&LimitReading>], requests: &[OwnRequest<'_>]) -> Self {
        let mut by_fullness = windows.iter().listed();
        by_fullness.order_by(|one, other| most_used(one).total_cmp(&most_used(other)));
        let at = |nth: usize| most_used(by_fullness[nth]);
        let n = windows.len();
        let rises = windows.iter().map(|it| rise(it, requests)).filter(|it| it[1] > 0.0).listed();
        Self {
            person: person.to_owned(),
            plan: windows[0][0].plan.clone(),
            window_minutes: windows[0][0].window_minutes,
            windows: n,
            fullest_percent: at(n - 1),
            usual_percent: f64::midpoint(at((n - 1) / 2), at(n / 2)),
            fullest_usd: usd_of(within(requests, by_fullness[n - 1])),
            percent_per_usd: PercentPerUsd::fit(&rises),
        }
    }

    fn length(&self) -> String {
        match self.window_minutes {
            BLOCK_MINUTES => "five-hour".to_owned(),
            10_080 => "weekly".to_owned(),
            minutes => format!("{}-hour", minutes / 60),
        }
    }

    /// Says how full the windows were.
    pub(crate) fn sentence(&self) -> String {
        let [usual, most] = [self.usual_percent, self.fullest_percent].map(points);
        let (length, n) = (capitalise(&self.length()), self.windows);
        format!("{length} windows: {n} seen, usually {usual}% full, at most {most}%.")
    }

    /// Says what a dollar takes of one.
    pub(crate) fn dollar_sentence(&self) -> Option<String> {
        let PercentPerUsd { percent, standard_error, windows } = self.percent_per_usd?;
        let (percent, error) = (fixed(percent, 2), fixed(standard_error, 2));
        Some(format!(
            "A dollar at list prices takes {percent}% of a {} window (standard error {error}, over {windows}).",
            self.length()
        ))
    }
}

impl PercentPerUsd {
    /// Fits what a dollar takes to how far windows rose and the dollars of it; `None` where too few rose, or where they disagree.
    fn fit(rises: &[[f64; 2]]) -> Option<Self> {
        let slope = |left_out: usize| {
            let own = || rises.iter().enumerate().filter(|(nth, _)| *nth != left_out);
            let product: f64 = own().map(|(_, [percent, usd])| percent * usd).sum();
            product / own().map(|(_, [_, usd])| usd * usd).sum::<f64>()
        };
        let (percent, n) = (slope(usize::MAX), rises.len() as f64);
        let without = (0..rises.len()).map(slope).listed();
        let mean = without.iter().sum::<f64>() / n;
        let squares: f64 = without.iter().map(|it| (it - mean).powi(2)).sum();
        let standard_error = ((n - 1.0) / n * squares).sqrt();
        let has_enough = rises.iter().filter(|it| it[0] > 0.0).count() >= RISES;
        let is_sure = percent > 0.0 && standard_error <= ERROR * percent;
        (has_enough && is_sure).then_some(Self { percent, standard_error, windows: rises.len() })
    }
}

impl BlockUse {
    fn new(requests: &[OwnRequest<'_>], used_percent: Option<f64>) -> Option<Self> {
        let (first, session) = requests.first()?;
        let (at_ms, usd) = (first.at_ms?, usd_of(requests));
        let minute = at_ms.rem_euclid(DAY_MS) / MINUTE_MS;
        let largest = |what: &'static str, name: fn(&OwnRequest<'_>) -> String| {
            let mut sizes: BTreeMap<String, f64> = BTreeMap::new();
            for request in requests {
                let UsedRequest { tokens, cost, .. } = request.0;
                let size = if usd > 0.0 { cost.map_or(0.0, Cost::usd) } else { *tokens as f64 };
                *sizes.entry(name(request)).or_default() += size;
            }
            let all: f64 = sizes.values().sum();
            let (name, size) = sizes.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
            (all > 0.0 && !name.is_empty()).then(|| Filler { what, name, share: size / all })
        };
        let filled_by = [
            largest("project", |it| it.1.project.clone()),
            largest("session", |it| it.1.name.clone()),
            largest("model", |it| it.0.model.to_string()),
        ];
        Some(Self {
            format: session.format,
            began: format!("{} {:02}:{:02}", date_text(at_ms), minute / 60, minute % 60),
            used_percent,
            tokens: requests.iter().map(|it| it.0.tokens).fold(0, Tokens::saturating_add),
            usd,
            filled_by: filled_by.into_iter().flatten().listed(),
        })
    }

    /// Puts the fullest first: by its percentage, and by its dollars where logs name none.
    fn fullest_first(&self, other: &Self) -> Ordering {
        let percent = |it: &Self| it.used_percent.unwrap_or(-1.0);
        percent(other).total_cmp(&percent(self)).then(other.usd.total_cmp(&self.usd))
    }

    /// Says what it used, and what filled it.
    pub(crate) fn sentence(&self) -> String {
        let full = or_nothing(self.used_percent, |it| format!("{}% full, ", points(it)));
        let (usd, tokens) = (format_usd(self.usd), thousands(self.tokens));
        let filled = |it: &Filler| format!("{} {}", last_folder_name(&it.name), percent(it.share));
        let filled = self.filled_by.iter().map(filled).listed().join(", ");
        format!("Five hours from {} (UTC): {full}{usd}, {tokens} tokens ({filled}).", self.began)
    }
}

impl LimitsUsed {
    /// Says how full windows were and what filled the fullest five hours: in short the two kinds of windows that were seen most and the fullest
    /// block; in full also what a dollar takes.
    pub(crate) fn sentences(&self, is_brief: bool) -> Vec<String> {
        let mut windows = self.windows.iter().listed();
        windows.order_by_key(|it| std::cmp::Reverse(it.windows));
        windows.truncate(if is_brief { 2 } else { usize::MAX });
        let blocks = self.fullest_blocks.iter().take(if is_brief { 1 } else { usize::MAX });
        let dollars = self.windows.iter().filter(|_| !is_brief).filter_map(WindowUse::dollar_sentence);
        let windows = windows.into_iter().map(WindowUse::sentence).chain(dollars);
        windows.chain(blocks.map(BlockUse::sentence)).collect()
    }

    /// Returns what a change in cost would have left free: of the fullest window of five hours whose percentages a dollar explains, else of another
    /// length.
    pub(crate) fn freed_by(&self, change: f64, interval: [f64; 2]) -> Option<WindowFreed> {
        let rank = |it: &&WindowUse| (it.window_minutes == BLOCK_MINUTES, (it.fullest_percent * 1e3) as u64);
        let window = self.windows.iter().filter(|it| it.percent_per_usd.is_some()).max_by_key(rank)?;
        let fit = window.percent_per_usd?;
        let reach = student(fit.windows as u64 - 1) * fit.standard_error;
        let freed = |percent: f64, change: f64| 0.0 - percent * window.fullest_usd * change;
        let ends = [fit.percent - reach, fit.percent + reach].map(|it| interval.map(|end| freed(it, end)));
        let mut ends = ends.concat();
        ends.sort_by(f64::total_cmp);
        let (window_minutes, percent) = (window.window_minutes, freed(fit.percent, change));
        Some(WindowFreed { window_minutes, percent, interval: [ends[0], ends[3]] })
    }
}

impl WindowFreed {
    /// Says how much of the fullest window a setting would have left free.
    pub(crate) fn sentence(&self) -> String {
        let [percent, low, high] = [self.percent, self.interval[0], self.interval[1]].map(points);
        let length = WindowUse { window_minutes: self.window_minutes, ..WindowUse::default() }.length();
        format!(
            "Of the fullest {length} window, it would have left {percent} points more free ({low} to {high})."
        )
    }
}

/// Writes points of percent: whole, unless they are few.
fn points(percent: f64) -> String {
    fixed(percent, usize::from(percent.abs() < 9.95 && percent.fract() != 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_setting_frees_has_the_errors_of_both() {
        // Each window is off by what rounding may do.
        let rise = |usd: f64, off: f64| [2.0 * usd + off, usd];
        let rises = [rise(1.0, 0.5), rise(3.0, -0.5), rise(5.0, 0.5), rise(2.0, -0.5), rise(4.0, 0.5)];
        let percent_per_usd = PercentPerUsd::fit(&rises);
        let window = |window_minutes, percent_per_usd| WindowUse {
            window_minutes,
            fullest_usd: 10.0,
            percent_per_usd,
            ..WindowUse::default()
        };
        let used = |fit| LimitsUsed {
            windows: vec![window(300, fit), window(10_080, fit)],
            ..LimitsUsed::default()
        };
        let freed = used(percent_per_usd).freed_by(-0.2, [-0.3, -0.1]).unwrap();
        assert_eq!(freed.window_minutes, 300);
        assert!((freed.percent - 4.0).abs() < 0.5 && freed.interval[0] < 2.0 && freed.interval[1] > 6.0);
        assert_eq!(
            used(PercentPerUsd::fit(&rises[..4])).freed_by(-0.2, [-0.3, -0.1]),
            None,
            "too few windows"
        );
    }
}
