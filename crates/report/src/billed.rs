//! Levers that recorded bills tell by themselves: what a habit, a fixed part of prompts or a choice of model costs, in closed form.
//!
//! A lever is a file and a line in `LEVERS`. Of one session it says what of the bill it would have saved (`net_savings_by_choice`); of all of them, which rows are
//! to be judged (`rows_worth_judging`). The rows of all levers are one family, and the rule gives each its word as it does to settings that are simulated.
//!
//! **Bills tell of levers that no play can** (`report/billed.rs`; `docs/reference/levers.md`), a file and a line each: `Timeline + prices →
//! BilledSession → BilledSaving (by lever and session) → LeverRow → TriedFamily → RowEffect → Lever`. The facts of a session are taken while it is open
//! (`SavingsByLever`); rows compare sessions, and are judged as a family of their own. `decide/groups.rs` says whom a lever concerns: a person
//! or a project by its own sessions where these suffice, else shrunk toward the others.

mod after_misses;
mod fresh_start;
mod front;
mod images;
mod injected;
mod keep_alive;
mod leaving;
mod lifetimes;
mod marks;
mod models;
mod outputs;
mod reasoning;
pub mod session;
mod skills;
mod starts;

use crate::advise::{AgentAdvice, MonthCost, UntoldLever};
use crate::decide::groups::{GroupedSession, savings_of_groups};
use crate::decide::{FamilySession, SessionEffect, TriedFamily};
use crate::lever::{GroupSaving, KnownBy, Lever};
use crate::prelude::*;
use ctxsim_base::quantity::Amount;
use ctxsim_engine::measure::assumed::{Assumed, AssumedChanges, AssumedCost};
use session::{BilledSession, RequestBill};

/// All of them, each behind the word by which documents name it.
static LEVERS: [(&str, &dyn BilledLever); 20] = [
    ("model_changes", &after_misses::MODELS),
    ("resumes", &after_misses::RESUMED),
    ("system_changes", &after_misses::SYSTEM),
    ("tool_changes", &after_misses::TOOLS),
    ("tool_order", &after_misses::TOOL_ORDER),
    ("long_sessions", &fresh_start::FreshStartLever),
    ("front", &front::FixedPrefixLever),
    ("images", &images::ImagesLever),
    ("injected", &injected::InjectedTextLever),
    ("keep_alive", &keep_alive::KeepAliveLever),
    ("pauses", &leaving::CompactBeforePause),
    ("lifetimes", &lifetimes::CacheLifetimesLever),
    ("marks", &marks::CacheMarksLever),
    ("models", &models::MAIN),
    ("cheaper_models", &models::SAME_LINE),
    ("sub_agent_models", &models::SUB_AGENTS),
    ("outputs", &outputs::ToolOutputsLever),
    ("reasoning", &reasoning::ReasoningLever),
    ("skills", &skills::SkillsLever),
    ("sub_agent_starts", &starts::SubAgentStarts),
];

const HOUR_MS: u64 = 3_600_000;

/// Rows that save a smaller share of the bill are not worth a line, nor a place in the family.
const SHARE_MIN: f64 = 0.002;
/// The most rows of one lever.
const ROWS: usize = 6;

/// A lever whose effect recorded bills tell.
trait BilledLever: Sync {
    /// Returns why the log of a session cannot tell it; `None` where it can.
    fn why_unmeasurable(&self, _session: &BilledSession<'_>) -> Option<&'static str> {
        None
    }

    /// Returns what it would have changed in a session.
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving>;

    /// Returns what is to be judged, of all sessions and what each tells: a row for each of several, unless the lever compares sessions.
    fn rows_to_judge(&self, _sessions: &[AttributedBill<'_>], savings: &[&[BilledSaving]]) -> Vec<LeverRow> {
        let mut rows = sum_savings_by_choice(savings);
        rows.iter_mut().for_each(|row| row.lever = self.lever_in_words(row));
        rows
    }

    /// Says what a row is, in the words of its lever.
    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        row.lever.clone()
    }
}

/// What the log of a session tells of a lever.
#[derive(Clone, Debug, Default, PartialEq)]
struct BilledSaving {
    /// Which of several: a tool, a model, a size; empty where there is one alone.
    which: String,
    /// US dollars of the bill that it saves; negative where it costs more.
    saved: f64,
    /// How often it is met.
    times: u64,
    /// A size in tokens, where the lever has one.
    size: Tokens,
    /// By how much the saving changes where what is assumed is at its lower and at its upper end.
    off: [f64; 2],
}

impl BilledSaving {
    /// Returns it where it is met at all.
    fn into_vec_if_occurred(self) -> Vec<Self> {
        if self.times > 0 { vec![self] } else { Vec::new() }
    }
}

/// What the bills of a session tell of each lever.
#[derive(Clone, Debug, PartialEq)]
pub struct SavingsByLever {
    /// What it was billed, in US dollars.
    usd: f64,
    /// By lever; or why its log does not tell it.
    told: Vec<Result<Vec<BilledSaving>, &'static str>>,
}

impl SavingsByLever {
    /// Asks each lever.
    pub fn new(session: &BilledSession<'_>) -> Self {
        let told = LEVERS.iter().map(|(_, lever)| match lever.why_unmeasurable(session) {
            Some(reason) => Err(reason),
            None => Ok(lever.net_savings_by_choice(session)),
        });
        Self { usd: session.usd, told: told.listed() }
    }
}

/// A session with its bill, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct AttributedBill<'a> {
    /// Empty where no log tells them.
    pub person: &'a str,
    pub project: &'a str,
    /// When it began and ended, in milliseconds since 1970.
    pub span_ms: Option<[i64; 2]>,
    /// Its part of the month's bill, in US dollars.
    pub month_usd: f64,
    pub is_of_agent: bool,
    pub facts: &'a SavingsByLever,
}

/// A lever to be judged, with what it saves session by session.
#[derive(Clone, Debug, Default)]
struct LeverRow {
    lever: Lever,
    /// The folder of the one person or project whose sessions it changes, where it is one.
    only: Option<String>,
    /// By session, in US dollars.
    saved: Vec<f64>,
    /// By how much each changes where what is assumed is at its ends; empty where nothing is assumed.
    off: Vec<[f64; 2]>,
    /// In how many sessions it is met, how often, and a size in tokens over all of them.
    sessions: usize,
    times: u64,
    size: Tokens,
}

/// Advises by what the bills of sessions tell, judged as one family; the month is that of all sessions of their agent.
pub fn advise_by_bills(sessions: &[AttributedBill<'_>], month: MonthCost, min_evidence: f64) -> AgentAdvice {
    let billed: f64 = sessions.iter().map(|session| session.facts.usd).sum();
    let rows = rows_worth_judging(sessions, billed);
    let effect = |cost: AssumedCost| SessionEffect { cost: Some(cost), ..SessionEffect::default() };
    let mut effects = Vec::with_capacity(sessions.len());
    for (nth, session) in sessions.iter().enumerate() {
        let changed = rows.iter().map(|row| effect(row.cost_in_session(nth, session.facts.usd))).listed();
        effects.push((effect(assumed_cost(session.facts.usd, [0.0; 2])), changed));
    }
    let with_effects = sessions.iter().zip(&effects);
    // The setting of each row is one that no other has.
    let setting = |it: &Lever| vec![format!("{} {}", it.name, it.of)];
    let levers = rows.iter().map(|it| Lever { set: setting(&it.lever), ..it.lever.clone() });
    let family = TriedFamily {
        sessions: with_effects.map(|(it, (base, changed))| it.to_family_session(base, changed)).listed(),
        levers: levers.listed(),
        floor: min_evidence,
    };
    let mut levers = Vec::new();
    for (nth, (row, judged)) in rows.iter().zip(family.judge_levers()).enumerate() {
        if judged.word.is_some() {
            let mut lever = row.lever_with_judgement(judged, billed).with_monthly_cost(month.usd);
            if lever.ceiling.is_none() {
                lever.people = row.savings_by_group(&lever, family.group_sessions(nth, |it| it.person));
                lever.projects = row.savings_by_group(&lever, family.group_sessions(nth, |it| it.project));
            }
            levers.push(lever);
        }
    }
    levers.order_by(|one, other| other.monthly_saving_usd().total_cmp(&one.monthly_saving_usd()));
    let (ceilings, levers) = levers.into_iter().partition(|it: &Lever| it.ceiling.is_some());
    // The levers that no session tells, where one says why.
    let untold = LEVERS.iter().enumerate().filter_map(|(nth, (name, _))| {
        let reasons = sessions.iter().map(|session| session.facts.told[nth].as_ref().err().copied());
        let reasons: Option<Vec<&str>> = reasons.collect();
        reasons?.first().map(|reason| UntoldLever { name, reason })
    });
    let (sessions, untold) = (sessions.len(), untold.listed());
    AgentAdvice { sessions, month, levers, ceilings, untold, ..AgentAdvice::default() }
}

/// Returns a cost that what is assumed moves so far.
fn assumed_cost(usd: f64, off_at_ends: [f64; 2]) -> AssumedCost {
    let changes = AssumedChanges::default().with(Assumed::World, off_at_ends.map(Amount::of_usd));
    AssumedCost { usd, all_ends: off_at_ends.map(|end| usd + end), changes }
}

/// Returns the rows of all levers that are worth a line.
fn rows_worth_judging(sessions: &[AttributedBill<'_>], billed_usd: f64) -> Vec<LeverRow> {
    let mut all = Vec::new();
    for (nth, (name, lever)) in LEVERS.iter().enumerate() {
        let told = sessions.iter().map(|session| session.facts.told[nth].as_deref().unwrap_or(&[])).listed();
        let mut rows = lever.rows_to_judge(sessions, &told);
        rows.retain(|row| row.total_saved_usd() > SHARE_MIN * billed_usd);
        rows.order_by(|one, other| other.total_saved_usd().total_cmp(&one.total_saved_usd()));
        rows.truncate(ROWS);
        rows.iter_mut().for_each(|row| row.lever.name = name);
        all.extend(rows);
    }
    all
}

impl<'a> AttributedBill<'a> {
    fn to_family_session(self, base: &'a SessionEffect, changed: &'a [SessionEffect]) -> FamilySession<'a> {
        FamilySession {
            project: self.project,
            person: self.person,
            last_ms: self.span_ms.map(|[_, end]| end),
            is_of_agent: self.is_of_agent,
            month_usd: Some(self.month_usd),
            base,
            rows: changed.iter().listed(),
        }
    }
}

impl LeverRow {
    /// Returns what it saves over all sessions.
    fn total_saved_usd(&self) -> f64 {
        self.saved.iter().sum()
    }

    /// Counts the sessions in which it is met, and how often it is, by what that is called.
    fn sessions_and_times(&self, noun: &str) -> [String; 2] {
        [counted(self.sessions, "session"), counted(self.times as usize, noun)]
    }

    /// Returns what a session costs with it.
    fn cost_in_session(&self, nth: usize, billed_usd: f64) -> AssumedCost {
        let off = self.off.get(nth).copied().unwrap_or_default();
        assumed_cost(billed_usd - self.saved[nth], off.map(|end| -end))
    }

    /// Returns whether it saves something or nothing in each session: then it costs nothing in later ones.
    fn never_costs_more(&self) -> bool {
        self.saved.iter().all(|usd| *usd >= 0.0) && self.off.iter().flatten().all(|end| *end == 0.0)
    }

    /// Returns the lever as the rule judged it, of sessions that were billed so much.
    fn lever_with_judgement(&self, judged: Lever, billed_usd: f64) -> Lever {
        // A single session has a change, though nothing tells how others differ.
        let alone = Some(-self.total_saved_usd() / billed_usd).filter(|change| change.is_finite());
        let change = judged.change.or(alone);
        let high = |high: f64| if self.never_costs_more() { high.min(0.0) } else { high };
        let interval = judged.interval.map(|[low, end]| [low, high(end)]);
        let lever =
            Lever { set: Vec::new(), change, expected: change, interval, known_by: KnownBy::Bills, ..judged };
        if lever.ceiling.is_none() {
            return lever;
        }
        // Prices alone do not tell what later sessions would cost.
        let why = "quality not judged, nor other turns".to_owned();
        Lever { word: None, why, interval: None, ..lever }
    }

    /// Returns whom it concerns.
    fn savings_by_group(&self, lever: &Lever, sessions: Vec<GroupedSession<'_>>) -> Vec<GroupSaving> {
        let Some(only) = &self.only else {
            let mut groups = savings_of_groups(&sessions);
            if self.never_costs_more() {
                for group in &mut groups {
                    group.saved_interval[0] = group.saved_interval[0].max(0.0);
                }
            }
            return groups;
        };
        let own = sessions.iter().filter(|session| session.group == only).listed();
        let known = lever.saved_month.zip(lever.saved_interval).filter(|_| !own.is_empty());
        let (group, sessions) = (only.clone(), own.len());
        let month_usd = own.iter().map(|session| session.month_usd).sum();
        let saving = |(saved_month, saved_interval)| GroupSaving {
            group,
            sessions,
            month_usd,
            saved_month,
            saved_interval,
            own_share: 1.0,
        };
        known.map(saving).into_iter().listed()
    }
}

/// Sums up what sessions tell of a lever: a row without words for each of several, in the order in which they are met.
fn sum_savings_by_choice(savings: &[&[BilledSaving]]) -> Vec<LeverRow> {
    let mut rows: IndexMap<&str, LeverRow> = IndexMap::new();
    for (nth, all) in savings.iter().enumerate() {
        for own in *all {
            let row = rows.entry(&own.which).or_insert_with(|| LeverRow {
                lever: Lever { of: own.which.clone(), ..Lever::default() },
                saved: vec![0.0; savings.len()],
                off: vec![[0.0; 2]; savings.len()],
                ..LeverRow::default()
            });
            row.saved[nth] += own.saved;
            row.off[nth] = [row.off[nth][0] + own.off[0], row.off[nth][1] + own.off[1]];
            row.times += own.times;
            row.size += own.size;
            row.sessions += 1;
        }
    }
    rows.into_values().listed()
}
