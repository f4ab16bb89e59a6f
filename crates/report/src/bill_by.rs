//! The bill as logged by model, lane, project, user, day, week, month or version: groups whose exact amounts add up to the bill.

use crate::as_logged::{BillAsLogged, ProfileOf, for_each_logged_request, sum_bills};
use crate::beside_bill::BillFootnotes;
pub use crate::beside_bill::Currency;
use crate::prelude::*;
use ctxsim_input::profile::calendar::{self, DAY_MS};
use ctxsim_timeline::import::{Indexed, ProviderExport, user_of};
use std::borrow::Cow;
use std::cmp::Reverse;

/// The group of what no log tells.
pub(super) const NOT_TOLD: &str = "not told";
/// The days from a Monday to 1970-01-01, a Thursday.
const DAYS_SINCE_MONDAY: i64 = 3;

/// What a bill is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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
    pub fn heading(self) -> String {
        serialized_name(self)
    }

    /// What the groups are, where their names do not say it.
    fn explain_groups(self) -> Option<&'static str> {
        Some(match self {
            Self::Day | Self::Month => "Days are those of UTC.",
            Self::Week => "A week is named by its Monday. Days are those of UTC.",
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
    beside: BillFootnotes,
    /// By model and by days since 1970.
    parts: BTreeMap<(String, Option<i64>), BillAsLogged>,
}

impl SessionBill {
    /// Divides what a session was billed.
    pub fn from_timeline(timeline: &Timeline, profile_of: ProfileOf<'_>) -> Self {
        let mut bill = Self { is_of_agent: timeline.is_of_agent(), ..Self::default() };
        if let Some(recorded) = &timeline.recorded {
            bill.project.clone_from(&recorded.project);
            user_of(&recorded.project).clone_into(&mut bill.user);
            let version = &recorded.version;
            bill.version = text_if(!version.is_empty(), || format!("{} {version}", recorded.format));
        }
        for_each_logged_request(timeline, profile_of, |request| {
            let day = request.at_ms.map(|it| it.div_euclid(DAY_MS));
            bill.parts.entry((request.model.to_owned(), day)).or_default().add_request(request);
        });
        if !bill.parts.is_empty() {
            bill.beside = BillFootnotes::from_timeline(timeline, profile_of);
        }
        bill
    }

    /// Takes whose it is from the index of its log, which knows the working folder in every format.
    pub(super) fn set_project_and_user(&mut self, indexed: &Indexed) {
        if !indexed.project.is_empty() {
            self.project.clone_from(&indexed.project);
            self.user.clone_from(&indexed.user);
        }
    }

    /// Returns the group of a part; empty if no log tells it.
    fn group_name<'b>(&'b self, by: BillKey, model: &'b str, day: Option<i64>) -> Cow<'b, str> {
        let date = |day: i64| calendar::date_text(day.saturating_mul(DAY_MS));
        let told = |written: &dyn Fn(i64) -> String| Cow::Owned(or_nothing(day, written));
        match by {
            BillKey::Model => Cow::Borrowed(model),
            BillKey::Lane => Cow::Borrowed(if self.is_of_agent { "sub-agents" } else { "main" }),
            BillKey::Project => Cow::Borrowed(&self.project),
            BillKey::User => Cow::Borrowed(&self.user),
            BillKey::Version => Cow::Borrowed(&self.version),
            BillKey::Day => told(&date),
            BillKey::Week => told(&|it| date(it - (it + DAYS_SINCE_MONDAY).rem_euclid(7))),
            BillKey::Month => told(&|it| date(it).chars().take("YYYY-MM".len()).collect()),
        }
    }
}

/// A bill by one key.
#[derive(Clone, Debug)]
pub struct GroupedBill {
    pub key: BillKey,
    /// The groups and their bills: dates in their order, others by dollars.
    pub groups: Vec<(String, BillAsLogged)>,
    /// What they add up to.
    pub total: BillAsLogged,
    /// What amounts are shown in; `None` for US dollars.
    pub currency: Option<Currency>,
}

impl GroupedBill {
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
                *groups.entry(session.group_name(key, model, *day).into_owned()).or_default() += part;
                total += part;
            }
            total.beside += &session.beside;
        }
        let mut groups = groups.into_iter().listed();
        if !matches!(key, BillKey::Day | BillKey::Week | BillKey::Month) {
            groups.order_by_key(|it| Reverse(it.1.total()));
        }
        groups.order_by_key(|it| it.0.is_empty());
        groups.iter_mut().filter(|it| it.0.is_empty()).for_each(|it| NOT_TOLD.clone_into(&mut it.0));
        Self { key, groups, total, currency }
    }

    /// Returns the groups as rows: dollars are the nearest floats of exact amounts.
    fn row_values(&self) -> Vec<Value> {
        let row = |(name, bill): &(String, BillAsLogged)| {
            let (usd, n_unpriced) = (bill.total().usd(), bill.n_requests_without_price());
            let row = group! { "by": self.key.heading(), "group": name.clone(), "requests": bill.requests }
                .and(bill.tokens_by_part())
                .and(bill.usd_by_part())
                .and(group! { "total_usd": usd, "requests_without_price": n_unpriced });
            self.total_in_currency(bill).into_iter().fold(row, Value::and)
        };
        self.groups.iter().map(row).listed()
    }

    /// Returns the user's currency, his rate, and a total in it.
    fn total_in_currency(&self, bill: &BillAsLogged) -> Option<Value> {
        let currency = self.currency.as_ref()?;
        let (code, rate) = (currency.code().to_owned(), currency.rate_per_usd());
        Some(group! { "currency": code, "rate": rate, "total": currency.convert_usd(bill.total().usd()) })
    }

    /// Returns the groups as rows.
    pub fn to_rows(&self) -> Rows {
        Rows::serialised(&self.row_values())
    }

    /// Returns the groups and their total as one JSON document.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json_text(&group! {
            "schema": "ctxsim.bill/1",
            "by": self.key.heading(),
            "groups": self.row_values(),
            "total": Value::serialised(&self.total),
            "shown": self.total_in_currency(&self.total),
        })
    }

    /// Returns the bill in a sentence, and a table of its groups.
    pub fn draw_table(&self, width: usize) -> String {
        const UNPRICED: &str =
            "Requests without a price are counted in their own column only, and their tokens in none.";
        type Group = (String, BillAsLogged);

        let (code, rate) = self.currency.as_ref().map_or(("USD", 1.0), |it| (it.code(), it.rate_per_usd()));
        let heading = self.key.heading();
        let amount = |it: &Group| fixed(it.1.total().usd() * rate, 2);
        let mut columns: Vec<Of<'_, Group>> = vec![
            (&heading, &|it| in_one_line(&it.0).into_owned()),
            ("requests", &|it| thousands(it.1.requests)),
            ("uncached", &|it| thousands(it.1.tokens.uncached)),
            ("read", &|it| thousands(it.1.tokens.read)),
            ("written 5 min", &|it| thousands(it.1.tokens.write[0])),
            ("written 1 h", &|it| thousands(it.1.tokens.write[1])),
            ("output", &|it| thousands(it.1.tokens.output)),
            (code, &amount),
        ];
        let has_unpriced = self.total.n_requests_without_price() > 0;
        if has_unpriced {
            columns.push(("without a price", &|it| thousands(it.1.n_requests_without_price())));
        }
        let rows = self.groups.iter().cloned().chain([("total".to_owned(), self.total.clone())]).listed();
        let table = draw_with_note(&Grid::from_columns("", 1, &rows, &columns), Some(width));
        let sentences = self.total.sentences_in_currency(self.currency.as_ref());
        let mut text = format!("{sentences}\n\n{table}\n\n");
        let of_rate = self.currency.as_ref().map(Currency::describe_rate);
        let notes = [
            of_rate.as_deref(),
            self.key.explain_groups(),
            Some(
                "Each amount is rounded from its exact sum, so that the cents of a column may differ from its total. A write whose lifetime the \
                 log does not tell stands under 5 min.",
            ),
            has_unpriced.then_some(UNPRICED),
        ];
        wrap_all(notes.into_iter().flatten(), "", Some(width), &mut text);
        format!("{}\n", text.trim_end())
    }
}

/// Says what a provider's export and the logs say of the days of the export, in a line.
pub fn describe_export_difference<'b>(
    export: &ProviderExport,
    sessions: impl Iterator<Item = &'b SessionBill>,
) -> String {
    let is_in_export = |day: Option<i64>| day.is_some_and(|it| export.days.contains_key(&it));
    let parts = sessions.flat_map(|it| &it.parts).filter(|it| is_in_export(it.0.1));
    let logged = sum_bills(parts.map(|it| it.1)).unwrap_or_default();
    let date = |day: Option<&i64>| or_nothing(day, |it| calendar::date_text(it.saturating_mul(DAY_MS)));
    let (first, last) = (date(export.days.keys().next()), date(export.days.keys().next_back()));
    let of_days = if first == last { first } else { format!("{first} to {last}") };
    let charged = export.days.values().filter_map(|day| Some(day.charged?.0)).reduce(u128::saturating_add);
    let n_unpriced = logged.n_requests_without_price();
    let unpriced = text_if_any(n_unpriced, |n| format!("; {} of their requests have no price", thousands(n)));
    let left_out = text_if_any(export.n_left_out, |n| {
        format!(" Rows of the export without a day or an amount: {}.", thousands(n as u64))
    });
    if let Some(charged) = charged {
        let (theirs, ours) = (Cost(charged).usd(), logged.total().usd());
        let percents = (ours / theirs - 1.0) * 100.0;
        let sign = if percents < 0.0 { "−" } else { "+" };
        let change = text_if(theirs > 0.0, || format!(" ({sign}{}%)", fixed(percents.abs(), 1)));
        let [theirs, ours] = [theirs, ours].map(|usd| fixed(usd, 2));
        return format!(
            "The provider's export says ${theirs} for these days ({of_days}), the logs ${ours} at list prices{change}{unpriced}.{left_out}\n"
        );
    }
    let add = |sum: [u64; 4], more: [u64; 4]| [0, 1, 2, 3].map(|it| sum[it].saturating_add(more[it]));
    let theirs = export.days.values().filter_map(|it| it.tokens).fold([0; 4], add);
    let unpriced = logged.unpriced.values().map(|it| it.tokens);
    let all = unpriced.fold(logged.tokens, |sum, more| sum.zip(more, Tokens::saturating_add));
    let ours = [all.uncached, all.read, all.write[0].saturating_add(all.write[1]), all.output];
    let [theirs, ours] = [theirs, ours].map(format_token_parts);
    format!("The provider's export says {theirs} for these days ({of_days}), the logs {ours}.{left_out}\n")
}

fn format_token_parts([uncached, read, written, output]: [u64; 4]) -> String {
    let all = thousands(uncached.saturating_add(read).saturating_add(written).saturating_add(output));
    let [uncached, read, written, output] = [uncached, read, written, output].map(thousands);
    format!("{all} tokens (uncached {uncached}, read {read}, written {written}, output {output})")
}
