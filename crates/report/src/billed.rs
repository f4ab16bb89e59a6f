//! Levers that recorded bills tell by themselves: what a habit, a fixed part of prompts or a choice of model costs, in closed form.
//!
//! A lever is a file and a line in `LEVERS`. Of one session it says what of the bill it would have saved (`told`); of all of them, which rows are
//! to be judged (`rows`). The rows of all levers are one family, and the rule gives each its word as it does to settings that are simulated.
//!
//! **Bills tell of levers that no play can** (`report/billed.rs`; `docs/reference/levers.md`), a file and a line each: `Timeline + prices →
//! BilledSession → Told (by lever and session) → BilledRow → TriedFamily → Lever`. The facts of a session are taken while it is open
//! (`BilledFacts`); rows compare sessions, and are judged as a family of their own. `decide/groups.rs` says whom a lever concerns: a person
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

use crate::decide::groups::{GroupedSession, by_group};
use crate::decide::{FamilyRow, FamilySession, Judgement, SessionEffect, TriedFamily};
use crate::lever::{GroupSaving, KnownBy, Lever};
use crate::prelude::*;
use ctxsim_base::quantity::Amount;
use ctxsim_engine::measure::assumed::{Assumed, AssumedChanges, AssumedCost};
use session::BilledSession;

/// All of them, in the order of the words that name them.
static LEVERS: [NamedLever; 20] = [
    named("model_changes", &after_misses::MODELS),
    named("resumes", &after_misses::RESUMED),
    named("system_changes", &after_misses::SYSTEM),
    named("tool_changes", &after_misses::TOOLS),
    named("tool_order", &after_misses::TOOL_ORDER),
    named("long_sessions", &fresh_start::FreshStartLever),
    named("front", &front::FrontLever),
    named("images", &images::ImagesLever),
    named("injected", &injected::InjectedLever),
    named("keep_alive", &keep_alive::KeepAliveLever),
    named("pauses", &leaving::LeavingLever),
    named("lifetimes", &lifetimes::LifetimesLever),
    named("marks", &marks::MarksLever),
    named("models", &models::MAIN),
    named("cheaper_models", &models::SAME_LINE),
    named("sub_agent_models", &models::SUB_AGENTS),
    named("outputs", &outputs::OutputsLever),
    named("reasoning", &reasoning::ReasoningLever),
    named("skills", &skills::SkillsLever),
    named("sub_agent_starts", &starts::StartsLever),
];

/// A lever, and the word by which documents name it.
struct NamedLever {
    name: &'static str,
    lever: &'static dyn BilledLever,
}

const fn named(name: &'static str, lever: &'static dyn BilledLever) -> NamedLever {
    NamedLever { name, lever }
}

/// Rows that save a smaller share of the bill are not worth a line, nor a place in the family.
const SHARE_MIN: f64 = 0.002;
/// The most rows of one lever.
const ROWS: usize = 6;

/// A lever whose effect recorded bills tell.
trait BilledLever: Sync {
    /// Returns why the log of a session cannot tell it; `None` where it can.
    fn untold(&self, _session: &BilledSession<'_>) -> Option<&'static str> {
        None
    }

    /// Returns what it would have changed in a session.
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told>;

    /// Returns what is to be judged, of all sessions: a row for each of several, unless the lever compares sessions.
    fn rows(&self, all: &[ToldSession<'_>]) -> Vec<BilledRow> {
        by_kind(all).iter().map(|kind| self.row(kind)).listed()
    }

    /// Describes what all sessions tell of one of several.
    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        kind.row()
    }
}

/// What the log of a session tells of a lever.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    /// Which of several: a tool, a model, a size; empty where there is one alone.
    of: String,
    /// US dollars of the bill that it saves; negative where it costs more.
    saved: f64,
    /// How often it is met.
    times: u64,
    /// A size in tokens, where the lever has one.
    size: Tokens,
    /// By how much the saving changes where what is assumed is at its lower and at its upper end.
    off: [f64; 2],
}

/// What the bills of a session tell of each lever.
#[derive(Clone, Debug, PartialEq)]
pub struct BilledFacts {
    /// What it was billed, in US dollars.
    usd: f64,
    /// By lever.
    told: Vec<Vec<Told>>,
    untold: Vec<Option<&'static str>>,
}

impl BilledFacts {
    /// Asks each lever.
    pub fn of(session: &BilledSession<'_>) -> Self {
        let untold = LEVERS.iter().map(|it| it.lever.untold(session)).listed();
        let told = LEVERS.iter().zip(&untold);
        let told =
            told.map(|(it, untold)| if untold.is_some() { Vec::new() } else { it.lever.told(session) });
        Self { usd: session.usd, told: told.listed(), untold }
    }

    /// Returns what the session was billed, in US dollars.
    pub fn usd(&self) -> f64 {
        self.usd
    }
}

/// A session with its bill, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct WhoseBill<'a> {
    /// Empty where no log tells them.
    pub person: &'a str,
    pub project: &'a str,
    /// When it began and ended, in milliseconds since 1970.
    pub span_ms: Option<[i64; 2]>,
    /// Its part of the month's bill, in US dollars.
    pub month_usd: f64,
    pub is_of_agent: bool,
    pub facts: &'a BilledFacts,
}

/// A session, and what it tells of one lever.
struct ToldSession<'a> {
    whose: &'a WhoseBill<'a>,
    told: &'a [Told],
}

/// Something to be judged.
#[derive(Clone, Debug, Default)]
struct BilledRow {
    /// Which of several; empty where there is one alone.
    of: String,
    title: String,
    /// In a sentence, what it was met in.
    about: String,
    /// Whom it concerns, where it is one person or project.
    whom: Option<String>,
    /// What it costs that is not ctxsim's to judge, in a clause.
    unjudged: Option<String>,
    /// The folder of the one person or project whose sessions it changes, where it is one.
    only: Option<String>,
    /// By session, in US dollars.
    saved: Vec<f64>,
    /// By how much each changes where what is assumed is at its ends; empty where nothing is assumed.
    off: Vec<[f64; 2]>,
}

/// A lever that no log of these sessions tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UntoldLever {
    pub name: &'static str,
    pub reason: &'static str,
}

/// What recorded bills tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BilledLevers {
    /// The most saved first.
    pub levers: Vec<Lever>,
    pub untold: Vec<UntoldLever>,
}

impl BilledLevers {
    /// Judges what the bills of sessions tell, as one family; dollars are those of the month that all of their agent's sessions cost.
    pub fn new(all: &[WhoseBill<'_>], month_usd: Option<f64>, floor: f64) -> Self {
        let named: Vec<(&'static str, BilledRow)> = rows(all);
        let effect = |cost: AssumedCost| SessionEffect { cost: Some(cost), ..SessionEffect::default() };
        let bases = all.iter().map(|it| effect(cost(it.facts.usd, [0.0; 2]))).listed();
        let own = |(nth, it): (usize, &WhoseBill<'_>)| {
            let costs = named.iter().map(|row| row.1.cost(nth, it.facts.usd));
            costs.map(effect).listed()
        };
        let owns: Vec<Vec<SessionEffect>> = all.iter().enumerate().map(own).listed();
        let sessions = all.iter().zip(&bases).zip(&owns).map(|((it, base), own)| FamilySession {
            project: it.project,
            person: it.person,
            last_ms: it.span_ms.map(|it| it[1]),
            lifetimes: 0,
            is_of_agent: it.is_of_agent,
            base,
            rows: own.iter().listed(),
        });
        let family = TriedFamily {
            sessions: sessions.listed(),
            rows: named.iter().map(|it| it.1.tried(it.0)).listed(),
            floor,
        };
        let judged = family.judged();
        let billed: f64 = all.iter().map(|it| it.facts.usd).sum();
        let mut levers = Vec::new();
        for ((name, row), it) in named.iter().zip(&judged) {
            let mut lever = row.lever(name, it, month_usd, -row.saved.iter().sum::<f64>() / billed);
            lever.people = row.groups(all, &lever, |it| it.person);
            lever.projects = row.groups(all, &lever, |it| it.project);
            levers.push(lever);
        }
        levers.retain(|it| it.word.is_some());
        levers.order_by(|one, other| other.saved().total_cmp(&one.saved()));
        Self { levers, untold: untold(all) }
    }
}

/// Returns a cost that what is assumed moves so far.
fn cost(usd: f64, off: [f64; 2]) -> AssumedCost {
    let changes = AssumedChanges::default().with(Assumed::World, off.map(Amount::of_usd));
    AssumedCost { usd, all_ends: off.map(|it| usd + it), changes }
}

/// Returns the rows of all levers that are worth a line.
fn rows(all: &[WhoseBill<'_>]) -> Vec<(&'static str, BilledRow)> {
    let billed: f64 = all.iter().map(|it| it.facts.usd).sum();
    let mut named = Vec::new();
    for (nth, lever) in LEVERS.iter().enumerate() {
        let told = all.iter().map(|it| ToldSession { whose: it, told: &it.facts.told[nth] }).listed();
        let mut rows = lever.lever.rows(&told);
        let sum = |it: &BilledRow| it.saved.iter().sum::<f64>();
        rows.retain(|it| sum(it) > SHARE_MIN * billed);
        rows.order_by(|one, other| sum(other).total_cmp(&sum(one)));
        rows.truncate(ROWS);
        named.extend(rows.into_iter().map(|it| (lever.name, it)));
    }
    named
}

/// Returns the levers that no session tells, where one says why.
fn untold(all: &[WhoseBill<'_>]) -> Vec<UntoldLever> {
    let of = |(nth, lever): (usize, &NamedLever)| {
        let mut reasons = all.iter().map(|it| it.facts.untold[nth]);
        let first = reasons.next()??;
        let is_untold = reasons.all(|it| it.is_some());
        is_untold.then_some(UntoldLever { name: lever.name, reason: first })
    };
    LEVERS.iter().enumerate().filter_map(of).listed()
}

impl BilledRow {
    /// Returns what a session costs with it.
    fn cost(&self, nth: usize, usd: f64) -> AssumedCost {
        let off = self.off.get(nth).copied().unwrap_or_default();
        cost(usd - self.saved[nth], off.map(|it| -it))
    }

    /// Returns whether it saves something or nothing in each session: then it costs nothing in later ones.
    fn only_saves(&self) -> bool {
        self.saved.iter().all(|it| *it >= 0.0) && self.off.iter().flatten().all(|it| *it == 0.0)
    }

    fn tried(&self, name: &str) -> FamilyRow {
        FamilyRow {
            set: vec![format!("{name} {}", self.of)],
            lanes: vec![[true; 2]],
            is_lifetime: false,
            unjudged: self.unjudged.clone(),
        }
    }

    fn lever(&self, name: &'static str, it: &Judgement, month_usd: Option<f64>, alone: f64) -> Lever {
        let interval =
            it.interval.map(|[low, high]| [low, if self.only_saves() { high.min(0.0) } else { high }]);
        // A single session has a change, though nothing tells how others differ.
        let change = it.change.or(Some(alone).filter(|it| it.is_finite()));
        Lever {
            name,
            of: self.of.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            whom: self.whom.clone(),
            word: it.word,
            why: it.why.clone(),
            change,
            expected: change,
            interval,
            known_by: KnownBy::Bills,
            ..Lever::default()
        }
        .in_month(month_usd)
    }

    /// Returns whom it concerns.
    fn groups<'a>(
        &self,
        all: &'a [WhoseBill<'a>],
        lever: &Lever,
        group: impl Fn(&WhoseBill<'a>) -> &'a str,
    ) -> Vec<GroupSaving> {
        let of = |(it, saved): (&WhoseBill<'a>, &f64)| GroupedSession {
            group: group(it),
            pair: (it.facts.usd - saved, it.facts.usd),
            month_usd: it.month_usd,
        };
        let sessions = all.iter().zip(&self.saved).map(of).listed();
        let Some(only) = &self.only else {
            let mut groups = by_group(&sessions);
            if self.only_saves() {
                groups.iter_mut().for_each(|it| it.saved_interval[0] = it.saved_interval[0].max(0.0));
            }
            return groups;
        };
        let own = sessions.iter().filter(|it| it.group == only).listed();
        let known = lever.saved_month.zip(lever.saved_interval).filter(|_| !own.is_empty());
        let saving = |(saved_month, saved_interval)| GroupSaving {
            group: only.clone(),
            sessions: own.len(),
            month_usd: own.iter().map(|it| it.month_usd).sum(),
            saved_month,
            saved_interval,
            own_share: 1.0,
        };
        known.map(saving).into_iter().listed()
    }
}

/// Lays the sessions of a lever out by which of several they tell of: its sums over sessions, the dearest first.
fn by_kind<'a>(all: &'a [ToldSession<'a>]) -> Vec<KindOfTold<'a>> {
    let mut kinds: indexmap::IndexMap<&str, KindOfTold<'_>> = indexmap::IndexMap::new();
    for (nth, session) in all.iter().enumerate() {
        for it in session.told {
            let kind = kinds.entry(&it.of).or_insert_with(|| KindOfTold {
                of: &it.of,
                saved: vec![0.0; all.len()],
                off: vec![[0.0; 2]; all.len()],
                times: 0,
                size: 0,
                sessions: 0,
            });
            kind.saved[nth] += it.saved;
            kind.off[nth] = [kind.off[nth][0] + it.off[0], kind.off[nth][1] + it.off[1]];
            kind.times += it.times;
            kind.size += it.size;
            kind.sessions += 1;
        }
    }
    kinds.into_values().listed()
}

/// What sessions tell of one of several.
struct KindOfTold<'a> {
    of: &'a str,
    /// By session.
    saved: Vec<f64>,
    off: Vec<[f64; 2]>,
    times: u64,
    size: Tokens,
    /// In how many sessions it is met.
    sessions: usize,
}

impl KindOfTold<'_> {
    /// Counts the sessions in which it is met, and how often it is, by what that is called.
    fn counts(&self, one: &str) -> [String; 2] {
        [counted(self.sessions, "session"), counted(self.times as usize, one)]
    }

    /// Returns a row with what it saves and no words yet.
    fn row(&self) -> BilledRow {
        let (of, saved, off) = (self.of.to_owned(), self.saved.clone(), self.off.clone());
        BilledRow { of, saved, off, ..BilledRow::default() }
    }
}
