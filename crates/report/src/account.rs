//! What sessions use of the limits of an account: how full its windows were, what filled the fullest five hours, and what a dollar at list prices takes.
//!
//! A log's percentages are of everything that the account used, here or elsewhere. So a window is said to have been as full as a session saw it,
//! and what a dollar takes is fitted to stretches of work alone. Where logs name no percentages, blocks of five hours begin with a request.

use std::sync::Arc;

use crate::advise::last_folder_name;
use crate::as_logged::for_each_logged_request;
use crate::beside_bill::ProfileOf;
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
/// What rises between readings that are further apart was used elsewhere.
const STRETCH_MS: i64 = 10 * MINUTE_MS;
/// By how much the end of one window moves in a log, which counts seconds.
const SAME_END_MS: i64 = 10 * MINUTE_MS;
/// What a dollar takes is said if so many windows rose, and if its standard error is at most this share of it.
const RISES: usize = 5;
const ERROR: f64 = 0.25;

/// What sessions used, each with what its log says of the account's limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AccountUse {
    sessions: Vec<Arc<SessionUse>>,
}

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
    at_ms: i64,
    model: Arc<str>,
    tokens: Tokens,
    /// None where its model has no price.
    cost: Option<Cost>,
}

/// What is known of the limits of some accounts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LimitsUsed {
    /// How full the windows were of which logs name percentages, by person, plan and length.
    pub windows: Vec<WindowUse>,
    /// Of each format, the fullest blocks of five hours: by their percentages, or where logs name none by their dollars.
    pub fullest_blocks: Vec<BlockUse>,
}

/// How full windows of one length were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowUse {
    /// The home of the person; empty where no log tells it.
    pub person: String,
    pub plan: String,
    pub window_minutes: u32,
    /// How many windows sessions saw; each was as full as they saw it last, or fuller.
    pub windows: usize,
    pub fullest_percent: f64,
    /// The middle one of them.
    pub usual_percent: f64,
    /// What the sessions used in the fullest, at list prices.
    pub fullest_usd: f64,
    /// What a dollar at list prices takes; none where too few windows rose, or where they disagree.
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
    pub person: String,
    /// When it began, UTC.
    pub began: String,
    /// How full the window was; none where logs name no percentages.
    pub used_percent: Option<f64>,
    pub requests: usize,
    pub tokens: Tokens,
    /// At list prices; what has no price is left out.
    pub usd: f64,
    pub project: Filler,
    pub session: Filler,
    pub model: Filler,
}

/// What took the largest part of a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Filler {
    pub name: String,
    /// Of its dollars; of its tokens where nothing has a price.
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

/// How far one window rose while sessions worked, and what they used then.
#[derive(Clone, Copy, Debug, Default)]
struct Rise {
    percent: f64,
    usd: f64,
}

/// The sessions of one person, and their requests in order of time.
struct PersonUse<'u> {
    sessions: Vec<&'u SessionUse>,
    requests: Vec<(&'u UsedRequest, &'u SessionUse)>,
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
            let at_ms = request.at_ms.unwrap_or(i64::MIN);
            requests.push(UsedRequest { at_ms, model, tokens, cost });
        });
        let session = SessionUse {
            format: recorded.format,
            project: recorded.project.clone(),
            name: timeline.name.clone(),
            plan: recorded.plan.clone(),
            requests,
            readings: recorded.limits.clone(),
        };
        Self { sessions: vec![Arc::new(session)] }
    }

    pub(crate) fn extend(&mut self, more: &Self) {
        self.sessions.extend(more.sessions.iter().cloned());
    }

    /// Returns the plans that the logs name.
    pub(crate) fn plans(&self) -> BTreeSet<&str> {
        self.sessions.iter().map(|it| it.plan.as_str()).filter(|it| !it.is_empty()).collect()
    }

    /// Returns whether every bill is of a log that names a plan.
    pub(crate) fn is_all_by_plan(&self) -> bool {
        let mut billed = self.sessions.iter().filter(|it| !it.requests.is_empty()).peekable();
        billed.peek().is_some() && billed.all(|it| !it.plan.is_empty())
    }

    /// Adds up how full windows were, and what filled the fullest blocks; `None` where no log tells times.
    pub(crate) fn limits_used(&self) -> Option<LimitsUsed> {
        let mut people: BTreeMap<(&str, &str), PersonUse<'_>> = BTreeMap::new();
        for session in &self.sessions {
            let person = people.entry((session.format, user_of(&session.project)));
            let person = person.or_insert_with(|| PersonUse { sessions: Vec::new(), requests: Vec::new() });
            person.sessions.push(session);
            let timed = session.requests.iter().filter(|it| it.at_ms != i64::MIN);
            person.requests.extend(timed.map(|it| (it, &**session)));
        }
        let mut all = LimitsUsed::default();
        let mut blocks: BTreeMap<&str, Vec<BlockUse>> = BTreeMap::new();
        for ((format, name), mut person) in people {
            person.requests.sort_by_key(|it| it.0.at_ms);
            let windows = person.windows();
            all.windows.extend(windows.iter().map(|(kind, windows)| person.window_use(name, *kind, windows)));
            blocks.entry(format).or_default().extend(person.blocks(name, &windows));
        }
        for (_, mut blocks) in blocks {
            let fullness = |it: &BlockUse| (it.used_percent.unwrap_or(-1.0), it.usd);
            blocks.order_by(|one, other| {
                fullness(other).partial_cmp(&fullness(one)).unwrap_or(std::cmp::Ordering::Equal)
            });
            all.fullest_blocks.extend(blocks.into_iter().take(BLOCKS));
        }
        (all != LimitsUsed::default()).then_some(all)
    }
}

/// The windows of one plan and length: the readings of each, in order of time.
type WindowsByKind<'u> = BTreeMap<(&'u str, u32), Vec<Vec<&'u LimitReading>>>;

impl<'u> PersonUse<'u> {
    fn windows(&self) -> WindowsByKind<'u> {
        let mut readings = self.sessions.iter().flat_map(|it| &it.readings).listed();
        readings.sort_by_key(|it| (it.ends_ms, it.at_ms));
        let mut all: WindowsByKind<'u> = BTreeMap::new();
        for reading in readings {
            let own = all.entry((&reading.plan, reading.window_minutes)).or_default();
            match own.last_mut().filter(|it| reading.ends_ms.saturating_sub(it[0].ends_ms) <= SAME_END_MS) {
                Some(window) => window.push(reading),
                None => own.push(vec![reading]),
            }
        }
        all.values_mut().flatten().for_each(|window| window.sort_by_key(|it| it.at_ms));
        all
    }

    /// Returns the requests from one time until before another.
    fn requests_between(&self, from_ms: i64, to_ms: i64) -> &[(&'u UsedRequest, &'u SessionUse)] {
        let index = |ms: i64| self.requests.partition_point(|it| it.0.at_ms < ms);
        &self.requests[index(from_ms)..index(to_ms.max(from_ms))]
    }

    fn requests_in(&self, window: &[&LimitReading]) -> &[(&'u UsedRequest, &'u SessionUse)] {
        let length_ms = i64::from(window[0].window_minutes) * MINUTE_MS;
        self.requests_between(window[0].ends_ms.saturating_sub(length_ms), window[0].ends_ms)
    }

    fn window_use(
        &self,
        person: &str,
        (plan, window_minutes): (&str, u32),
        windows: &[Vec<&LimitReading>],
    ) -> WindowUse {
        let mut by_fullness = windows.iter().map(|window| (most_used(window), window)).listed();
        by_fullness.order_by(|one, other| one.0.total_cmp(&other.0));
        let (fullest_percent, fullest) = by_fullness[by_fullness.len() - 1];
        let rises = windows.iter().map(|window| self.rise(window)).filter(|it| it.usd > 0.0).listed();
        WindowUse {
            person: person.to_owned(),
            plan: plan.to_owned(),
            window_minutes,
            windows: windows.len(),
            fullest_percent,
            usual_percent: by_fullness[by_fullness.len() / 2].0,
            fullest_usd: usd_of(self.requests_in(fullest)),
            percent_per_usd: PercentPerUsd::fit(&rises),
        }
    }

    /// Adds up how far a window rose from reading to reading, in stretches of work whose requests have prices.
    fn rise(&self, window: &[&LimitReading]) -> Rise {
        let mut rise = Rise::default();
        for stretch in window.chunk_by(|one, next| next.at_ms.saturating_sub(one.at_ms) <= STRETCH_MS) {
            let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
            let requests = self.requests_between(first.at_ms, last.at_ms);
            if requests.iter().all(|it| it.0.cost.is_some()) {
                rise.percent += last.used_percent - first.used_percent;
                rise.usd += usd_of(requests);
            }
        }
        rise
    }

    /// Returns the blocks of five hours: the windows of that length that logs name, else those that begin with the first request after the one before.
    fn blocks(&self, person: &str, windows: &WindowsByKind<'u>) -> Vec<BlockUse> {
        let named = windows.iter().filter(|it| it.0.1 == BLOCK_MINUTES).flat_map(|it| it.1);
        let block = |window: &Vec<&LimitReading>| {
            BlockUse::new(person, self.requests_in(window), Some(most_used(window)))
        };
        let mut blocks = named.filter_map(block).listed();
        let mut rest = if blocks.is_empty() { self.requests.as_slice() } else { &[] };
        while let Some((first, _)) = rest.first() {
            let ends_ms = first.at_ms.saturating_add(i64::from(BLOCK_MINUTES) * MINUTE_MS);
            let (own, later) = rest.split_at(rest.partition_point(|it| it.0.at_ms < ends_ms));
            blocks.extend(BlockUse::new(person, own, None));
            rest = later;
        }
        blocks
    }
}

fn most_used(window: &[&LimitReading]) -> f64 {
    window.iter().map(|it| it.used_percent).fold(0.0, f64::max)
}

fn usd_of(requests: &[(&UsedRequest, &SessionUse)]) -> f64 {
    requests.iter().filter_map(|it| it.0.cost).fold(Cost::default(), |sum, it| sum + it).usd()
}

impl PercentPerUsd {
    /// Fits what a dollar takes; `None` where too few windows rose, or where they disagree.
    fn fit(rises: &[Rise]) -> Option<Self> {
        let slope = |left_out: usize| {
            let own = rises.iter().enumerate().filter(|(nth, _)| *nth != left_out).map(|it| it.1);
            let [mut product, mut square] = [0.0, 0.0];
            own.for_each(|it| (product, square) = (product + it.percent * it.usd, square + it.usd.powi(2)));
            product / square
        };
        let (percent, n) = (slope(usize::MAX), rises.len() as f64);
        let without = (0..rises.len()).map(slope).listed();
        let mean = without.iter().sum::<f64>() / n;
        let squares: f64 = without.iter().map(|it| (it - mean).powi(2)).sum();
        let standard_error = ((n - 1.0) / n * squares).sqrt();
        let has_enough = rises.iter().filter(|it| it.percent > 0.0).count() >= RISES;
        let is_sure = percent > 0.0 && standard_error <= ERROR * percent;
        (has_enough && is_sure).then_some(Self { percent, standard_error, windows: rises.len() })
    }
}

impl BlockUse {
    fn new(
        person: &str,
        requests: &[(&UsedRequest, &SessionUse)],
        used_percent: Option<f64>,
    ) -> Option<Self> {
        let ((first, session), usd) = (requests.first()?, usd_of(requests));
        let minute = first.at_ms.rem_euclid(DAY_MS) / MINUTE_MS;
        Some(Self {
            format: session.format,
            person: person.to_owned(),
            began: format!("{} {:02}:{:02}", date_text(first.at_ms), minute / 60, minute % 60),
            used_percent,
            requests: requests.len(),
            tokens: requests.iter().map(|it| it.0.tokens).fold(0, Tokens::saturating_add),
            usd,
            project: Filler::largest(requests, |it| &it.1.project),
            session: Filler::largest(requests, |it| &it.1.name),
            model: Filler::largest(requests, |it| &it.0.model),
        })
    }
}

impl Filler {
    fn largest<'r>(
        requests: &'r [(&'r UsedRequest, &'r SessionUse)],
        name: impl Fn(&'r (&'r UsedRequest, &'r SessionUse)) -> &'r str,
    ) -> Self {
        let has_price = requests.iter().any(|it| it.0.cost.is_some_and(|it| it.0 > 0));
        let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
        for request in requests {
            let UsedRequest { tokens, cost, .. } = request.0;
            let size = if has_price { cost.map_or(0.0, Cost::usd) } else { *tokens as f64 };
            *sizes.entry(name(request)).or_default() += size;
        }
        let all: f64 = sizes.values().sum();
        let largest = sizes.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default();
        Self { name: largest.0.to_owned(), share: if all > 0.0 { largest.1 / all } else { 0.0 } }
    }
}

impl WindowFreed {
    /// Says how much of the fullest window a setting would have left free.
    pub(crate) fn sentence(&self) -> String {
        let ([low, high], window) = (self.interval.map(points), window_name(self.window_minutes));
        let percent = points(self.percent);
        format!(
            "Of the fullest {window} window, it would have left {percent} points more free ({low} to {high})."
        )
    }
}

impl LimitsUsed {
    /// Returns what a change in cost would have left free: of the fullest window of five hours whose percentages a dollar explains, else of another
    /// length.
    pub(crate) fn freed_by(&self, change: f64, interval: [f64; 2]) -> Option<WindowFreed> {
        let fitted = self.windows.iter().filter_map(|it| Some((it, it.percent_per_usd?)));
        let rank = |it: &WindowUse| (it.window_minutes == BLOCK_MINUTES, it.fullest_percent);
        let (window, fit) = fitted.max_by(|one, other| {
            let [one, other] = [rank(one.0), rank(other.0)];
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        })?;
        let reach = student(fit.windows as u64 - 1) * fit.standard_error;
        let freed = |percent: f64, change: f64| 0.0 - percent * window.fullest_usd * change;
        let ends = [fit.percent - reach, fit.percent + reach].map(|it| interval.map(|end| freed(it, end)));
        let (low, high) =
            ends.iter().flatten().fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(*it), high.max(*it)));
        Some(WindowFreed {
            window_minutes: window.window_minutes,
            percent: freed(fit.percent, change),
            interval: [low, high],
        })
    }

    /// Says how full the windows were, and what filled the fullest five hours.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let lengths: BTreeSet<u32> = self.windows.iter().map(|it| it.window_minutes).collect();
        let fullness = |minutes: &u32| {
            let own = self.windows.iter().filter(|it| it.window_minutes == *minutes);
            let usual = own.clone().map(|it| it.usual_percent).listed();
            let [low, high] =
                [usual.iter().copied().fold(f64::MAX, f64::min), usual.iter().copied().fold(0.0, f64::max)];
            let [low, high, most] =
                [low, high, own.map(|it| it.fullest_percent).fold(0.0, f64::max)].map(points);
            let usual = if low == high { low } else { format!("{low} to {high}") };
            format!("{} windows {usual}% full, at most {most}%", window_name(*minutes))
        };
        let windows = lengths.iter().map(fullness).listed().join("; ");
        let windows = (!windows.is_empty()).then(|| format!("Usually {windows}."));
        let block = self.fullest_blocks.first().map(|it| {
            let full = or_nothing(it.used_percent, |it| format!(", {}% full", points(it)));
            let (usd, tokens) = (format_usd(it.usd), thousands(it.tokens));
            let project = text_if(!it.project.name.is_empty(), || {
                format!(
                    ", {} of it {}",
                    percent(it.project.share),
                    in_one_line(&last_folder_name(&it.project.name))
                )
            });
            format!("Fullest five hours ({}{full}): {usd}, {tokens} tokens{project}.", it.began)
        });
        windows.into_iter().chain(block).collect()
    }

    /// Lays out how full each kind of window was, and what filled the fullest blocks.
    pub(crate) fn grids(&self) -> Vec<Grid> {
        let takes =
            |it: &PercentPerUsd| format!("{}% ± {}", fixed(it.percent, 2), fixed(it.standard_error, 2));
        let windows: [Of<'_, WindowUse>; 7] = [
            ("plan", &|it| in_one_line(&it.plan).into_owned()),
            ("window", &|it| window_name(it.window_minutes)),
            ("seen", &|it| it.windows.to_string()),
            ("usually", &|it| format!("{}%", points(it.usual_percent))),
            ("fullest", &|it| format!("{}%", points(it.fullest_percent))),
            ("these sessions in it", &|it| format_usd(it.fullest_usd)),
            ("a dollar takes", &|it| or_none(it.percent_per_usd.as_ref(), takes)),
        ];
        let filled =
            |it: &Filler| format!("{} ({})", in_one_line(&last_folder_name(&it.name)), percent(it.share));
        let blocks: [Of<'_, BlockUse>; 8] = [
            ("from (UTC)", &|it| it.began.clone()),
            ("full", &|it| or_none(it.used_percent, |it| format!("{}%", points(it)))),
            ("requests", &|it| thousands(it.requests as u64)),
            ("tokens", &|it| thousands(it.tokens)),
            ("at list prices", &|it| format_usd(it.usd)),
            ("mostly project", &|it| filled(&it.project)),
            ("session", &|it| filled(&it.session)),
            ("model", &|it| filled(&it.model)),
        ];
        let grids = [
            Grid::from_columns(
                "How full the account's windows were, as sessions saw them",
                2,
                &self.windows,
                &windows,
            ),
            Grid::from_columns("The fullest five hours", 1, &self.fullest_blocks, &blocks)
                .with(CellKind::Text, &[5, 6, 7]),
        ];
        grids.into_iter().filter(|it| !it.rows.is_empty()).collect()
    }
}

/// Writes points of percent: whole, unless they are few.
fn points(percent: f64) -> String {
    fixed(percent, usize::from(percent.abs() < 9.95 && percent.fract() != 0.0))
}

fn window_name(minutes: u32) -> String {
    match minutes {
        BLOCK_MINUTES => "five-hour".to_owned(),
        10_080 => "weekly".to_owned(),
        _ if minutes.is_multiple_of(1_440) => format!("{}-day", minutes / 1_440),
        _ => format!("{minutes}-minute"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows in which a dollar takes so much, each off by what rounding to whole percent may do.
    fn rises(n: usize, percent: f64, off: f64) -> Vec<Rise> {
        let rise = |nth: usize| {
            let usd = 1.0 + (nth * 7 % 5) as f64;
            Rise { percent: percent * usd + if nth.is_multiple_of(2) { off } else { -off }, usd }
        };
        (0..n).map(rise).collect()
    }

    #[test]
    fn what_a_dollar_takes_is_found_within_its_error_or_not_said() {
        for n in [5, 8, 40] {
            let fit = PercentPerUsd::fit(&rises(n, 2.0, 0.5)).unwrap();
            assert!((fit.percent - 2.0).abs() <= student(n as u64 - 1) * fit.standard_error, "{fit:?}");
            assert!(fit.standard_error <= ERROR * fit.percent && fit.windows == n, "{fit:?}");
        }
        assert_eq!(PercentPerUsd::fit(&rises(4, 2.0, 0.5)), None, "too few windows");
        assert_eq!(PercentPerUsd::fit(&rises(8, 0.2, 4.0)), None, "windows disagree");
        assert_eq!(PercentPerUsd::fit(&rises(8, 0.0, 0.0)), None, "nothing rises");
        assert_eq!(PercentPerUsd::fit(&[]), None);
    }

    #[test]
    fn what_a_setting_frees_has_the_errors_of_both() {
        let percent_per_usd = PercentPerUsd::fit(&rises(8, 2.0, 0.5));
        let window = |window_minutes, fullest_percent, percent_per_usd| WindowUse {
            person: String::new(),
            plan: "pro".to_owned(),
            window_minutes,
            windows: 8,
            fullest_percent,
            usual_percent: 5.0,
            fullest_usd: 10.0,
            percent_per_usd,
        };
        let used = |fit| LimitsUsed {
            windows: vec![window(10_080, 90.0, fit), window(300, 30.0, fit)],
            ..LimitsUsed::default()
        };
        let freed = used(percent_per_usd).freed_by(-0.2, [-0.3, -0.1]).unwrap();
        let [low, high] = freed.interval;
        assert_eq!(freed.window_minutes, 300);
        assert!((freed.percent - 4.0).abs() < 0.5 && low < 2.0 && high > 6.0, "{freed:?}");
        assert_eq!(used(None).freed_by(-0.2, [-0.3, -0.1]), None);
    }
}
