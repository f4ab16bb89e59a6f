//! What fills the prompts of recorded sessions, and what of them missed the cache: by recorded bills alone, in dollars a month.

use super::SessionReport;
use super::carried::{CarriedTotals, merge_totals_by_tool};
use crate::prelude::*;
use ctxsim_base::quantity::ix;
use ctxsim_engine::measure::carried::{at_front, carried_items};
use ctxsim_engine::measure::missed::{Miss, all_misses};
use ctxsim_engine::measure::month::Calendar;
use ctxsim_timeline::{EventKind, StepIx};

/// The most rows of what fills the prompts; the others are one more.
const ROWS: usize = 9;
/// The longest bar, in characters.
const BAR: f64 = 20.0;
/// A memory file of this size is what the price of a memory file is told for.
const MEMORY_TOKENS: Tokens = 1_000;

/// What fills the prompts of a recorded session, and what of them missed the cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptContents {
    /// When it began and ended, in milliseconds since 1970, if its log says so.
    pub span_ms: Option<[i64; 2]>,
    /// What sending its items cost, by tool or kind.
    pub by_tool: Vec<CarriedTotals>,
    /// Requests whose prompts were cached farther than they were read.
    pub missed: Vec<BilledMiss>,
    /// What 1,000 tokens at the front of every prompt cost, in US dollars.
    pub front_usd: f64,
}

/// A request whose prompt was cached farther than it was read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BilledMiss {
    /// The request, from 1, as `explain` counts: requests for summaries are requests, too.
    pub request: u32,
    /// Why.
    pub cause: MissCause,
    /// The same in words.
    pub because: &'static str,
    /// Tokens that were not read.
    pub tokens: Tokens,
    /// What they cost beyond a read, in US dollars.
    pub usd: f64,
}

impl PromptContents {
    /// Follows the items of a session through its billed prompts; `None` if its requests have no bills of their own.
    pub fn from_timeline(timeline: &Timeline, profile: &Profile) -> Option<Self> {
        timeline.recorded.as_ref().filter(|it| !it.is_spread && it.usage.iter().any(Option::is_some))?;
        let prices = &profile.prices;
        let compactions = timeline.events.iter().filter(|it| matches!(it.kind, EventKind::Compaction(_)));
        let compactions: Vec<StepIx> = compactions.map(|it| timeline.spine.step_at(it.at)).listed();
        // Summaries are requests, too, so that a request has another number than its step.
        let number = |step: StepIx| step + 1 + ix::<u32>(compactions.partition_point(|it| *it <= step));
        let missed_by_number = |miss: Miss| BilledMiss {
            request: number(miss.step),
            cause: miss.cause,
            because: miss.cause.about(),
            tokens: miss.tokens,
            usd: miss.usd,
        };
        Some(Self {
            span_ms: timeline.began_ms.zip(timeline.last_ms()).map(|it| [it.0, it.1]),
            by_tool: CarriedTotals::sum_by_tool(timeline, &carried_items(timeline, prices)),
            missed: all_misses(timeline, profile).into_iter().map(missed_by_number).listed(),
            front_usd: at_front(timeline, prices, MEMORY_TOKENS),
        })
    }
}

/// The sessions of a report that have bills, each with how much it counts towards a month.
struct BilledSessions<'r> {
    sessions: Vec<(&'r SessionReport, &'r PromptContents)>,
    calendar: Calendar,
}

/// The misses of one cause.
struct MissSum<'r> {
    requests: f64,
    tokens: f64,
    usd: f64,
    dearest: (&'r SessionReport, BilledMiss),
}

impl Report {
    /// Returns what a month of its sessions is made of, if any was billed.
    fn billed_sessions(&self) -> Option<BilledSessions<'_>> {
        let sessions: Vec<_> = self.sessions.iter().filter_map(|it| Some((it, it.filled.as_ref()?))).listed();
        let calendar = Calendar::new(sessions.iter().map(|it| it.1.span_ms));
        (!sessions.is_empty()).then_some(BilledSessions { sessions, calendar })
    }

    /// Returns the tables of what fills the prompts and of what missed the cache, if sessions were billed.
    pub fn contents_and_miss_grids(&self) -> Vec<Grid> {
        let Some(month) = self.billed_sessions() else { return Vec::new() };
        std::iter::once(month.prompt_contents_grid()).chain(month.cache_misses_grid()).listed()
    }

    /// Says what a memory file costs, if sessions were billed.
    pub fn memory_file_cost_line(&self) -> Option<String> {
        let month = self.billed_sessions()?;
        let (n, usd) = (thousands(MEMORY_TOKENS), format_usd(month.weighted_sum(|it| it.front_usd)));
        let of = if month.calendar.is_month() { " a month" } else { "" };
        let front = format!("Each {n} tokens at the front of the prompts, such as those of a memory file,");
        Some(format!("{front} cost {usd}{of}."))
    }

    /// Says what a memory file costs, and how to look into the dearest miss, where this is the first report on its sessions.
    pub fn memory_and_miss_lines(&self) -> Vec<String> {
        let (Some(month), Some(next)) = (self.billed_sessions(), &self.next) else { return Vec::new() };
        let dearest = month.misses_by_cause().into_iter().map(|it| it.dearest);
        let dearest = dearest.max_by(|one, other| one.1.usd.total_cmp(&other.1.usd));
        let look = dearest.map(|(session, miss)| next.explain_command(&session.name, miss.request));
        let look = look.map(|command| format!("The most expensive miss: {command}"));
        self.memory_file_cost_line().into_iter().chain(look).listed()
    }
}

impl BilledSessions<'_> {
    /// Returns sessions with how much of each counts.
    fn weighted_sessions(&self) -> impl Iterator<Item = (&SessionReport, &PromptContents, f64)> {
        self.sessions.iter().map(|(session, filled)| {
            let by_day = session.as_logged.as_ref().map(|it| &it.by_day);
            (*session, *filled, self.calendar.weight(filled.span_ms, by_day))
        })
    }

    fn weighted_sum(&self, number: impl Fn(&PromptContents) -> f64) -> f64 {
        self.weighted_sessions().map(|(_, filled, weight)| number(filled) * weight).sum()
    }

    /// Returns what is sent, the dearest first, with the rest in one.
    fn prompt_contents_grid(&self) -> Grid {
        let all = merge_totals_by_tool(self.weighted_sessions().flat_map(|(_, filled, weight)| {
            filled.by_tool.iter().map(move |it| CarriedTotals {
                entered_usd: it.entered_usd * weight,
                carried_usd: it.carried_usd * weight,
                ..it.clone()
            })
        }));
        let total: f64 = all.iter().map(CarriedTotals::total_usd).sum();
        let (shown, rest) = all.split_at(all.len().min(if all.len() > ROWS + 1 { ROWS } else { ROWS + 1 }));
        let mut rows: Vec<(String, f64)> = shown.iter().map(|it| (it.what.clone(), it.total_usd())).listed();
        let others = rest.iter().map(CarriedTotals::total_usd).sum();
        rows.extend((!rest.is_empty()).then(|| (format!("{} others", rest.len()), others)));
        let largest = rows.iter().map(|it| it.1).fold(f64::MIN_POSITIVE, f64::max);
        let decimals = usd_decimals_up_to(total);
        let usd = if self.calendar.is_month() { "USD a month" } else { "USD" };
        let columns: [Of<'_, (String, f64)>; 4] = [
            ("what", &|it| it.0.clone()),
            (usd, &|it| fixed(it.1, decimals)),
            ("% of input", &|it| percent(it.1 / total.max(f64::MIN_POSITIVE))),
            ("", &|it| "█".repeat((it.1 / largest * BAR).round() as usize)),
        ];
        let basis = match self.sessions.len() {
            _ if self.calendar.is_month() => self.calendar.words(),
            1 => "in this session".to_owned(),
            _ => "in these sessions".to_owned(),
        };
        let title = format!("What fills the prompts, and what sending it again and again costs ({basis})");
        Grid::from_columns(&title, 1, &rows, &columns).with(CellKind::Text, &[3])
    }

    /// Adds up the misses by cause, the dearest first.
    fn misses_by_cause(&self) -> Vec<MissSum<'_>> {
        let mut all: IndexMap<MissCause, MissSum<'_>> = IndexMap::new();
        for (session, filled, weight) in self.weighted_sessions() {
            for miss in filled.missed.iter().filter(|_| weight > 0.0) {
                let dearest = (session, *miss);
                let nothing = MissSum { requests: 0.0, tokens: 0.0, usd: 0.0, dearest };
                let sum = all.entry(miss.cause).or_insert(nothing);
                sum.requests += weight;
                sum.tokens += miss.tokens as f64 * weight;
                sum.usd += miss.usd * weight;
                if miss.usd > sum.dearest.1.usd {
                    sum.dearest = dearest;
                }
            }
        }
        all.sort_by(|_, one, _, other| other.usd.total_cmp(&one.usd));
        all.into_values().listed()
    }

    fn cache_misses_grid(&self) -> Option<Grid> {
        let rows = self.misses_by_cause();
        let input: f64 = self.weighted_sum(|it| it.by_tool.iter().map(CarriedTotals::total_usd).sum());
        let (decimals, of_requests) = (usd_decimals_up_to(input), self.calendar.is_month().into());
        let [requests, tokens, usd] = if self.calendar.is_month() {
            ["requests a month", "tokens a month", "USD a month"]
        } else {
            ["requests", "tokens", "USD"]
        };
        let columns: [Of<'_, MissSum<'_>>; 6] = [
            ("what missed the cache", &|it| it.dearest.1.because.to_owned()),
            (requests, &|it| fixed(it.requests, of_requests)),
            (tokens, &|it| numbers::short(it.tokens.round() as u64)),
            (usd, &|it| fixed(it.usd, decimals)),
            ("% of input", &|it| percent(it.usd / input.max(f64::MIN_POSITIVE))),
            ("most expensive", &|it| format!("{}, request {}", it.dearest.0.name, it.dearest.1.request)),
        ];
        let title = "What was sent before and not read from the cache, and what that costs beyond a read";
        let grid = Grid::from_columns(title, 1, &rows, &columns).with(CellKind::Text, &[0]);
        (!rows.is_empty()).then(|| grid.leaving(&["tokens a month", "tokens", "most expensive"]))
    }
}
