//! The bill as logged by model, lane, project, user, day, week, month or version: groups whose exact amounts add up to the bill.

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::as_logged::{BillAsLogged, ProfileOf, each_logged};
use crate::beside_bill::BesideBill;
use crate::currency::Currency;
use crate::prelude::*;
use ctxsim_input::profile::calendar::{self, DAY_MS};
use ctxsim_timeline::import::{Indexed, user_of};

/// The group of what no log tells.
pub(super) const NOT_TOLD: &str = "not told";
/// The days from a Monday to 1970-01-01, a Thursday.
const DAYS_SINCE_MONDAY: i64 = 3;

/// What a bill is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BillKey {
    Model,
    Lane,
    Project,
    User,
    Day,
    Week,
    Month,
    Version,
}

impl BillKey {
    /// Its name, as a heading.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Lane => "lane",
            Self::Project => "project",
            Self::User => "user",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Version => "version",
        }
    }

    fn is_of_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }

    /// What the groups are, where their names do not say it.
    fn about(self) -> Option<&'static str> {
        Some(match self {
            Self::Day | Self::Month => {
                "Days are those of UTC. A request that has no time of its own in the log (a summary, or one on a branch that the user left) \
                 counts on the day on which its session began."
            }
            Self::Week => {
                "A week is named by its Monday. Days are those of UTC. A request that has no time of its own in the log (a summary, or one \
                 on a branch that the user left) counts on the day on which its session began."
            }
            Self::Lane => "Lanes: the main conversations, and the sub-agents that they started.",
            Self::Project => "A project is a session's working folder; worktrees are of their checkout.",
            Self::User => "A user is the home that a session's working folder is in.",
            Self::Version => "A session has the newest version of its harness that its log names.",
            Self::Model => return None,
        })
    }
}

/// What a session was billed, as finely as any key divides it.
#[derive(Clone, Debug, Default)]
pub struct SessionBill {
    pub(super) is_of_agent: bool,
    /// Empty where the log does not tell it, as the next ones.
    pub(super) project: String,
    pub(super) user: String,
    version: String,
    /// What stands beside it, and is in no group.
    beside: BesideBill,
    /// By model and by days since 1970.
    parts: BTreeMap<(String, Option<i64>), BillAsLogged>,
}

impl SessionBill {
    /// Divides what a session was billed.
    pub fn of(timeline: &Timeline, profile_of: ProfileOf<'_>) -> Self {
        let mut bill = Self { is_of_agent: timeline.is_of_agent(), ..Self::default() };
        if let Some(recorded) = &timeline.recorded {
            bill.project.clone_from(&recorded.project);
            user_of(&recorded.project).clone_into(&mut bill.user);
            if !recorded.version.is_empty() {
                bill.version = format!("{} {}", recorded.format, recorded.version);
            }
        }
        let mut last_model = String::new();
        each_logged(timeline, profile_of, |it| {
            it.model.clone_into(&mut last_model);
            let day = it.at_ms.map(|it| it.div_euclid(DAY_MS));
            bill.parts.entry((it.model.to_owned(), day)).or_default().add(it);
        });
        if !bill.parts.is_empty() {
            bill.beside = BesideBill::of(timeline, profile_of, &last_model);
        }
        bill
    }

    /// Adds what was billed on some days, since 1970.
    pub fn add_days(&self, days: &BTreeSet<i64>, bill: &mut BillAsLogged) {
        let on_days = self.parts.iter().filter(|it| it.0.1.is_some_and(|day| days.contains(&day)));
        on_days.for_each(|it| *bill += it.1);
    }

    /// Takes whose it is from the index of its log, which knows the working folder in every format.
    pub(super) fn place(&mut self, indexed: &Indexed) {
        if !indexed.project.is_empty() {
            self.project.clone_from(&indexed.project);
            self.user.clone_from(&indexed.user);
        }
    }

    /// Returns the group of a part; empty if no log tells it.
    fn group<'b>(&'b self, by: BillKey, model: &'b str, day: Option<i64>) -> Cow<'b, str> {
        let date = |day: i64| calendar::date_text(day.saturating_mul(DAY_MS));
        let told = |day: Option<i64>, written: &dyn Fn(i64) -> String| {
            Cow::Owned(day.map_or_else(String::new, written))
        };
        match by {
            BillKey::Model => Cow::Borrowed(model),
            BillKey::Lane => Cow::Borrowed(if self.is_of_agent { "sub-agents" } else { "main" }),
            BillKey::Project => Cow::Borrowed(&self.project),
            BillKey::User => Cow::Borrowed(&self.user),
            BillKey::Version => Cow::Borrowed(&self.version),
            BillKey::Day => told(day, &date),
            BillKey::Week => told(day, &|it| date(it - (it + DAYS_SINCE_MONDAY).rem_euclid(7))),
            BillKey::Month => told(day, &|it| date(it).chars().take("YYYY-MM".len()).collect()),
        }
    }
}

/// A bill by one key.
#[derive(Clone, Debug)]
pub struct BillBy {
    pub key: BillKey,
    /// The groups and their bills: dates in their order, others by dollars.
    pub groups: Vec<(String, BillAsLogged)>,
    /// What they add up to.
    pub total: BillAsLogged,
    /// What amounts are shown in; `None` for US dollars.
    pub currency: Option<Currency>,
}

/// A group as a row: dollars are the nearest floats of exact amounts.
#[derive(Serialize)]
struct BillRow<'b> {
    by: &'static str,
    group: &'b str,
    requests: u64,
    uncached_tokens: Tokens,
    cache_read_tokens: Tokens,
    cache_write_short_tokens: Tokens,
    cache_write_long_tokens: Tokens,
    output_tokens: Tokens,
    uncached_usd: f64,
    cache_read_usd: f64,
    cache_write_usd: f64,
    output_usd: f64,
    total_usd: f64,
    requests_without_price: u64,
    /// The user's currency, his rate, and the group's total in it.
    #[serde(flatten)]
    shown: Option<Shown<'b>>,
}

/// A total in the user's currency.
#[derive(Serialize)]
struct Shown<'b> {
    currency: &'b str,
    rate: f64,
    total: f64,
}

impl<'b> Shown<'b> {
    fn new(currency: &'b Currency, it: &BillAsLogged) -> Self {
        Self { currency: currency.code(), rate: currency.rate(), total: currency.of(it.total().usd()) }
    }
}

impl<'b> BillRow<'b> {
    fn new(BillBy { key, currency, .. }: &'b BillBy, group: &'b str, it: &BillAsLogged) -> Self {
        let [short, long] = it.tokens.write;
        Self {
            by: key.name(),
            group,
            requests: it.requests,
            uncached_tokens: it.tokens.uncached,
            cache_read_tokens: it.tokens.read,
            cache_write_short_tokens: short,
            cache_write_long_tokens: long,
            output_tokens: it.tokens.output,
            uncached_usd: it.bill.uncached.usd(),
            cache_read_usd: it.bill.read.usd(),
            cache_write_usd: it.bill.write.usd(),
            output_usd: it.bill.output.usd(),
            total_usd: it.total().usd(),
            requests_without_price: it.requests_without_price(),
            shown: currency.as_ref().map(|currency| Shown::new(currency, it)),
        }
    }
}

impl BillBy {
    /// Adds up the bills of all sessions by one key.
    pub fn new<'b>(
        sessions: impl IntoIterator<Item = &'b SessionBill>,
        key: BillKey,
        currency: Option<Currency>,
    ) -> Self {
        let mut groups: BTreeMap<String, BillAsLogged> = BTreeMap::new();
        let mut total = BillAsLogged::default();
        for session in sessions {
            for ((model, day), part) in &session.parts {
                let group = session.group(key, model, *day);
                *groups.entry(group.into_owned()).or_default() += part;
                total += part;
            }
            total.beside += &session.beside;
        }
        let mut groups = groups.into_iter().listed();
        if !key.is_of_time() {
            groups.order_by_key(|it| Reverse(it.1.total()));
        }
        groups.order_by_key(|it| it.0.is_empty());
        groups.iter_mut().filter(|it| it.0.is_empty()).for_each(|it| NOT_TOLD.clone_into(&mut it.0));
        Self { key, groups, total, currency }
    }

    fn rows(&self) -> Vec<BillRow<'_>> {
        self.groups.iter().map(|(group, it)| BillRow::new(self, group, it)).listed()
    }

    /// Returns the groups as rows.
    pub fn as_rows(&self) -> Rows {
        Rows::of(&self.rows())
    }

    /// Returns the groups and their total as one JSON document.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let shown = self.currency.as_ref().map(|it| Shown::new(it, &self.total));
        json_text(&group! {
            "schema": "ctxsim.bill/1",
            "by": self.key.name(),
            "groups": Value::of(&self.rows()),
            "total": Value::of(&self.total),
            "shown": Value::of(&shown),
        })
    }

    /// Returns the bill in a sentence, and a table of its groups.
    pub fn table(&self, width: usize) -> String {
        type Group = (String, BillAsLogged);
        let tokens = |of: fn(&BillAsLogged) -> Tokens| move |it: &Group| thousands(of(&it.1));
        let (uncached, read) = (tokens(|it| it.tokens.uncached), tokens(|it| it.tokens.read));
        let (short, long) = (tokens(|it| it.tokens.write[0]), tokens(|it| it.tokens.write[1]));
        let (output, requests) = (tokens(|it| it.tokens.output), tokens(|it| it.requests));
        let (code, rate) = self.currency.as_ref().map_or(("USD", 1.0), |it| (it.code(), it.rate()));
        let amount = |it: &Group| fixed(it.1.total().usd() * rate, 2);
        let mut columns: Vec<Of<'_, Group>> = vec![
            (self.key.name(), &|it| in_one_line(&it.0).into_owned()),
            ("requests", &requests),
            ("uncached", &uncached),
            ("read", &read),
            ("written 5 min", &short),
            ("written 1 h", &long),
            ("output", &output),
            (code, &amount),
        ];
        let has_unpriced = self.total.requests_without_price() > 0;
        if has_unpriced {
            columns.push(("without a price", &|it| thousands(it.1.requests_without_price())));
        }
        let total = ("total".to_owned(), self.total.clone());
        let rows = self.groups.iter().cloned().chain([total]).listed();
        let mut text = format!("{}\n\n", self.total.words_in(self.currency.as_ref()));
        text += &draw_with_note(&Grid::of("", 1, &rows, &columns), Some(width));
        text += "\n\n";
        let of_rate = self.currency.as_ref().map(Currency::note);
        let notes = [
            of_rate.as_deref(),
            self.key.about(),
            Some(
                "Each amount is rounded from its exact sum, so that the cents of a column may differ from its total. A write whose lifetime the \
                 log does not tell stands under 5 min.",
            ),
            has_unpriced.then_some(
                "Requests without a price are counted in their own column only, and their tokens in none.",
            ),
        ];
        wrap_all(notes.into_iter().flatten(), "", Some(width), &mut text);
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}
