//! The first screen on recorded sessions: what was read, what it was billed, where that goes, and what can be done about it.
//!
//! The first screen (`ctxsim SESSIONS`: `app/screen.rs`, `report/screen.rs`) opens each session once and adds up `SessionFacts`: the bill
//! by day and by `BillPart`, in picodollars, so that parts add up to the bill. The levers and their words come from advice. A command line
//! without a verb is a `screen` if all that it names are recordings (`Catalog::means_recordings`) and all its options are a screen's; else
//! it is a `run`.

mod facts;
mod waiting;
mod words;

use crate::account::LimitsUsed;
use crate::beside_bill::{BillFootnotes, SubAgentCost, UnbilledCost};
use crate::lever::Lever;
use crate::prelude::*;
use crate::session::BillCheck;
use crate::{NextCommands, SkippedFile};
use ctxsim_engine::measure::month::{Basis, Calendar, DAYS};
use ctxsim_input::profile::calendar::{self, DAY_MS};
use ctxsim_timeline::import::may_be_billed;
use serde::Serializer;

pub use facts::{BillPart, PartCosts, SessionFacts};
pub use waiting::{ScreenWaiting, SessionWaits};
pub use words::{html_page, markdown, terminal_text};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.screen/1";

/// The first screen on some recorded sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FirstScreen {
    pub schema: &'static str,
    pub read: ReadSessions,
    /// How well the bill is predicted; none if no request could be compared.
    pub predicted: Option<BillCheck>,
    pub bill: ScreenBill,
    pub month: MonthBill,
    /// How long one waited for answers in the same time.
    pub waiting: ScreenWaiting,
    /// What was billed in all, project by project, the dearest first; the name is empty where no log tells it.
    pub by_project: Vec<ProjectBill>,
    /// What was billed in all, day by day, in UTC; what has no time is in none.
    pub by_day: Vec<DayBill>,
    /// What can be done about it, the largest saving first.
    pub levers: Vec<Lever>,
    /// What other models' prices would save at most, the most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Lever>,
    /// How sure all of this is, in a sentence.
    pub certainty: String,
    /// The commands that go on from here, and what they do.
    pub next: Vec<NextCommand>,
    /// What was billed by days since 1970, for its chart.
    #[serde(skip)]
    pub days: BTreeMap<i64, PartCosts>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReadSessions {
    /// Where they were found, if nobody named any, or that they are an example, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub sessions: usize,
    /// Those of sub-agents among them.
    pub sub_agents: usize,
    pub requests: u64,
    /// Those without usage in the log among them, which no bill knows.
    pub requests_without_usage: u64,
    /// Records that cannot be read, each of which may have been a request.
    pub unread_records: usize,
    /// What is left out of the logs, in the words of `import`, and how often; each file counts once.
    pub left_out: BTreeMap<String, usize>,
    /// 0 where no log tells them.
    pub people: usize,
    pub projects: usize,
    /// The days from the first request to the last, these two included, in UTC; 0 where no log tells times.
    pub days: u64,
    pub first_day: Option<String>,
    pub last_day: Option<String>,
    /// The agents, the one with most sessions first.
    pub agents: Vec<AgentSessions>,
    pub skipped: Vec<SkippedFile>,
}

/// The sessions of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentSessions {
    pub agent: String,
    pub sessions: usize,
    /// The oldest and the newest version; none where no log tells it.
    pub versions: Option<[String; 2]>,
    /// Whether `advise` knows its settings.
    pub has_settings: bool,
}

/// What the logs say was billed, at list prices.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScreenBill {
    #[serde(flatten)]
    pub total: PeriodCosts,
    pub main: PeriodCosts,
    pub sub_agents: PeriodCosts,
    /// Billed requests of models without a price, by model; they are in no amount.
    pub requests_without_price: BTreeMap<String, u64>,
    /// Sub-agents of which logs hold totals alone; they are in no amount.
    pub estimated: Option<SubAgentCost>,
    /// Requests that wrote summaries and that no usage shows; they are in no amount.
    pub unbilled_summaries: Option<UnbilledCost>,
    /// The plans that logs name: dollars are list prices all the same.
    pub plans: Vec<String>,
    /// How full windows of accounts were, and what filled the fullest five hours; null where no log tells times.
    pub limits: Option<LimitsUsed>,
    /// What there is to know of the prices: how old they are, and which of them change soon.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub price_notes: Vec<String>,
}

/// What was billed in all, in the last 30 days, and in the 30 days before; none of the latter if the logs cover fewer days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeriodCosts {
    pub all: Cost,
    pub last: Option<Cost>,
    pub before: Option<Cost>,
}

/// In JSON, dollars are the nearest floats of exact amounts; `change` is a share of the previous 30 days.
impl Serialize for PeriodCosts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (last, before) = (self.last.map(Cost::usd), self.before.map(Cost::usd));
        let both = last.zip(before);
        let all = group! {
            "total_usd": self.all.usd(),
            "last_30_days_usd": last,
            "previous_30_days_usd": before,
            "change_usd": both.map(|(last, before)| last - before),
            "change": both.filter(|it| it.1 > 0.0).map(|(last, before)| last / before - 1.0),
        };
        all.serialize(to)
    }
}

/// What a month's bill goes to; the parts add up to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MonthBill {
    /// Which sessions it is of.
    pub of: Basis,
    /// The days of these sessions, where they are scaled.
    pub days: Option<f64>,
    #[serde(serialize_with = "in_usd")]
    pub usd: Cost,
    pub parts: Vec<MonthPart>,
    /// The causes of other cache misses, the dearest first: they add up to their part.
    pub other_misses: Vec<MonthMisses>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonthPart {
    pub part: BillPart,
    pub about: &'static str,
    #[serde(serialize_with = "in_usd")]
    pub usd: Cost,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonthMisses {
    pub cause: MissCause,
    /// The same in words.
    pub about: &'static str,
    #[serde(serialize_with = "in_usd")]
    pub usd: Cost,
    /// Of it: requests of sub-agents.
    #[serde(serialize_with = "in_usd")]
    pub sub_agents_usd: Cost,
    /// Of it: requests that a user's message began; the others follow the results of tools.
    #[serde(serialize_with = "in_usd")]
    pub at_turns_usd: Cost,
}

/// What the sessions of a project were billed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProjectBill {
    pub project: String,
    pub sessions: usize,
    #[serde(serialize_with = "in_usd")]
    pub usd: Cost,
}

/// What a day was billed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DayBill {
    pub day: String,
    #[serde(serialize_with = "in_usd")]
    pub usd: Cost,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextCommand {
    pub command: String,
    pub does: &'static str,
}

fn in_usd<S: Serializer>(cost: &Cost, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(cost.usd())
}

impl FirstScreen {
    /// Adds sessions up, with the levers of all agents and a sentence on how sure these are.
    pub fn new(
        sessions: &[SessionFacts],
        skipped: Vec<SkippedFile>,
        mut levers: Vec<Lever>,
        certainty: String,
    ) -> Self {
        let calendar = Calendar::new(sessions.iter().map(|session| session.span_ms));
        let mut days: BTreeMap<i64, PartCosts> = BTreeMap::new();
        for (day, costs) in sessions.iter().flat_map(|it| &it.by_day) {
            if let Some(day) = day {
                *days.entry(*day).or_default() += costs;
            }
        }
        levers.sort_by(Lever::reading_order);
        let (ceilings, mut levers): (Vec<_>, Vec<_>) =
            levers.into_iter().partition(|lever| lever.ceiling.is_some());
        levers.retain(|lever| lever.word.is_some());
        Self {
            schema: SCHEMA,
            read: ReadSessions::new(sessions, skipped),
            predicted: sum_if_any(sessions.iter().filter_map(|it| it.check)),
            bill: ScreenBill::new(sessions, &calendar),
            month: MonthBill::new(sessions, &calendar),
            waiting: ScreenWaiting::new(sessions, &calendar),
            by_project: ProjectBill::of_each_project(sessions),
            by_day: days.iter().map(DayBill::new).listed(),
            levers,
            ceilings,
            certainty,
            next: Vec::new(),
            days,
        }
    }

    /// Adds the commands that go on from here.
    pub fn with_next_commands(mut self, next: &NextCommands) -> Self {
        let has_settings = self.read.agents.iter().any(|it| it.has_settings);
        let mut add = |command, does| self.next.push(NextCommand { command, does });
        if has_settings {
            add(next.advise_command(), "says which settings to change, and what to paste");
            add(next.compare_command(), "compares settings side by side");
        } else {
            add(next.compare_command(), "compares ways of keeping the context short");
        }
        self
    }

    /// Returns it as one JSON document.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        json_text(self)
    }
}

impl ProjectBill {
    fn of_each_project(sessions: &[SessionFacts]) -> Vec<Self> {
        let mut by_project: BTreeMap<&str, Self> = BTreeMap::new();
        for session in sessions {
            let bill = by_project.entry(&session.project).or_default();
            bill.project.clone_from(&session.project);
            bill.sessions += 1;
            bill.usd = session.by_day.values().fold(bill.usd, |sum, it| sum + it.total());
        }
        let mut all = by_project.into_values().listed();
        all.order_by_key(|it| std::cmp::Reverse(it.usd));
        all
    }
}

impl DayBill {
    fn new((day, costs): (&i64, &PartCosts)) -> Self {
        Self { day: calendar::date_text(day * DAY_MS), usd: costs.total() }
    }
}

impl ReadSessions {
    fn new(sessions: &[SessionFacts], skipped: Vec<SkippedFile>) -> Self {
        let distinct = |name: fn(&SessionFacts) -> &str| {
            sessions.iter().map(name).filter(|it| !it.is_empty()).collect::<BTreeSet<_>>().len()
        };
        let spans = || sessions.iter().filter_map(|it| it.span_ms);
        let ends = spans().map(|it| it[0]).min().zip(spans().map(|it| it[1]).max());
        let day = |ms: i64| ms.div_euclid(DAY_MS);
        let by_file: BTreeMap<&str, &[(String, usize)]> =
            sessions.iter().map(|it| (it.file.as_str(), it.left_out.as_slice())).collect();
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        for (what, n) in by_file.into_values().flatten() {
            *left_out.entry(what.clone()).or_default() += n;
        }
        Self {
            sessions: sessions.len(),
            sub_agents: sessions.iter().filter(|it| it.is_of_agent).count(),
            requests: sessions.iter().map(|it| it.requests).sum(),
            requests_without_usage: sessions.iter().map(|it| it.without_usage).sum(),
            unread_records: left_out.iter().filter(|it| may_be_billed(it.0)).map(|it| it.1).sum(),
            left_out,
            people: distinct(|it| &it.user),
            projects: distinct(|it| &it.project),
            days: ends.map_or(0, |(first, last)| day(last).abs_diff(day(first)) + 1),
            first_day: ends.map(|it| calendar::date_text(it.0)),
            last_day: ends.map(|it| calendar::date_text(it.1)),
            agents: AgentSessions::of_each_agent(sessions),
            skipped: skipped.into_iter().filter(|it| !it.is_not_asked).listed(),
            source: None,
        }
    }
}

impl AgentSessions {
    fn of_each_agent(sessions: &[SessionFacts]) -> Vec<Self> {
        let mut by_agent: BTreeMap<&str, Vec<&SessionFacts>> = BTreeMap::new();
        sessions.iter().for_each(|it| by_agent.entry(&it.agent).or_default().push(it));
        let numbers = |it: &&str| it.split('.').map(|part| part.parse::<u64>().unwrap_or(0)).listed();
        let agent_read = |(agent, own): (&str, Vec<&SessionFacts>)| {
            let mut versions = own.iter().map(|it| it.version.as_str()).filter(|it| !it.is_empty()).listed();
            versions.order_by_key(numbers);
            let ends = versions.first().zip(versions.last());
            Self {
                agent: agent.to_owned(),
                sessions: own.len(),
                versions: ends.map(|it| [(*it.0).to_owned(), (*it.1).to_owned()]),
                has_settings: own.iter().any(|it| it.has_settings),
            }
        };
        let mut all = by_agent.into_iter().map(agent_read).listed();
        all.order_by_key(|it| std::cmp::Reverse(it.sessions));
        all
    }
}

impl ScreenBill {
    fn new(sessions: &[SessionFacts], calendar: &Calendar) -> Self {
        let period = |takes: &dyn Fn(&SessionFacts) -> bool| {
            let own = || sessions.iter().filter(|it| takes(it)).flat_map(|it| &it.by_day);
            let sum = |from: i64, to: i64| {
                let within = own().filter(|(day, _)| day.is_some_and(|day| day > from && day <= to));
                within.fold(Cost::default(), |sum, it| sum + it.1.total())
            };
            // Months that the logs do not cover in full are compared with nothing.
            let covered = |n: i64| calendar.ends.filter(|[first, last]| last - first + 1 >= n * DAYS);
            PeriodCosts {
                all: own().fold(Cost::default(), |sum, it| sum + it.1.total()),
                last: covered(1).map(|[_, last]| sum(last - DAYS, last)),
                before: covered(2).map(|[_, last]| sum(last - 2 * DAYS, last - DAYS)),
            }
        };
        let (mut beside, mut requests_without_price) = (BillFootnotes::default(), BTreeMap::new());
        for session in sessions {
            beside += &session.beside;
            for (model, n) in &session.without_price {
                *requests_without_price.entry(model.clone()).or_default() += n;
            }
        }
        Self {
            total: period(&|_| true),
            main: period(&|it| !it.is_of_agent),
            sub_agents: period(&|it| it.is_of_agent),
            requests_without_price,
            estimated: beside.estimate_sub_agents(),
            unbilled_summaries: beside.estimate_summaries(),
            plans: beside.subscription_names(),
            limits: beside.used.limits_used(),
            price_notes: beside.price_sentences(),
        }
    }
}

impl MonthBill {
    fn new(sessions: &[SessionFacts], calendar: &Calendar) -> Self {
        let mut all = PartCosts::default();
        let counted = sessions.iter().flat_map(|it| &it.by_day).filter(|it| calendar.counts(*it.0));
        counted.for_each(|it| all += it.1);
        let all = all.scaled_to_month(calendar);
        let part = |part: BillPart| MonthPart { part, about: part.description(), usd: all.cost_of(part) };
        let (usd, parts) = (all.total(), BillPart::ALL.map(part).to_vec());
        let misses = all.by_cause.into_iter().map(|(cause, costs)| MonthMisses {
            cause,
            about: cause.about(),
            usd: costs.all,
            sub_agents_usd: costs.by_sub_agents,
            at_turns_usd: costs.at_turns,
        });
        let mut other_misses = misses.listed();
        other_misses.order_by_key(|it| std::cmp::Reverse(it.usd));
        Self {
            of: calendar.basis,
            days: calendar.days.filter(|_| calendar.basis == Basis::Scaled),
            usd,
            parts,
            other_misses,
        }
    }
}
