//! The bill as logged: what the logs of sessions say was billed, at list prices, exactly.

use std::ops::AddAssign;

use super::SessionReport;
use crate::beside_bill::{BillFootnotes, Currency};
pub use crate::logged::ProfileOf;
pub(super) use crate::logged::{LoggedRequest, MadeFor, for_each_logged_request};
use crate::prelude::*;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_engine::measure::month::DailyBill;
use ctxsim_engine::price::Costs;
use ctxsim_timeline::AsideKind;
use serde::Serializer;

/// The policy that keeps everything, as the recorded harness did.
pub const AS_RECORDED: &str = "identity";

/// What sessions were billed by their logs: each request once, also those for summaries and on branches that the user left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillAsLogged {
    /// The requests that have a price.
    pub requests: u64,
    /// Their tokens.
    pub tokens: TokenUse,
    /// What they cost.
    pub bill: Bill,
    /// Of it, what was written in answers of the agent's own requests.
    pub own_output: Cost,
    /// Of it, the requests that wrote summaries.
    pub summaries: Cost,
    /// What has no price, by model.
    pub unpriced: BTreeMap<String, Unpriced>,
    /// All of it, by the days of its requests.
    pub by_day: DailyBill,
    /// What is said beside it and not counted in it.
    pub beside: BillFootnotes,
}

/// Requests without a price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unpriced {
    /// How many there are.
    pub requests: u64,
    /// Their tokens.
    pub tokens: TokenUse,
}

impl Unpriced {
    /// Returns the tokens of their prompts.
    fn prompt_tokens(&self) -> Tokens {
        let TokenUse { read, write: [short, long], uncached, .. } = self.tokens;
        [short, long, uncached].into_iter().fold(read, Tokens::saturating_add)
    }
}

/// In JSON, dollars are the nearest floats of exact amounts.
impl Serialize for BillAsLogged {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let unpriced = |(model, of_model): (&String, &Unpriced)| {
            group! {
                "model": model.clone(),
                "requests": of_model.requests,
                "prompt_tokens": of_model.prompt_tokens(),
                "output_tokens": of_model.tokens.output,
            }
        };
        let all = group! { "requests": self.requests, "total_usd": self.total().usd() }
            .and(self.usd_by_part())
            .and(self.tokens_by_part())
            .and(group! { "without_price": self.unpriced.iter().map(unpriced).listed() });
        // What is no part of it: sub-agents of which logs hold totals alone, and plans, under which dollars are list prices all the same.
        let estimated = self.beside.estimate_sub_agents();
        let estimated = estimated.map(|it| group! { "estimated": Value::serialised(&it) });
        let summaries = self.beside.estimate_summaries();
        let summaries = summaries.map(|it| group! { "unbilled_summaries": Value::serialised(&it) });
        let plans = self.beside.subscription_names();
        let plans = (!plans.is_empty()).then(|| group! { "plans": plans });
        estimated.into_iter().chain(summaries).chain(plans).fold(all, Value::and).serialize(to)
    }
}

impl BillAsLogged {
    /// Adds up what a session was billed, each request at its own model's prices of its own time; `None` if its log has no bill.
    /// Where a log tells no times, the prices of the day on which a list was read hold.
    pub fn from_timeline(timeline: &Timeline, profile_of: ProfileOf<'_>) -> Option<Self> {
        let mut all = Self::default();
        for_each_logged_request(timeline, profile_of, |request| all.add_request(request));
        if all == Self::default() {
            return None;
        }
        all.beside = BillFootnotes::from_timeline(timeline, profile_of);
        Some(all)
    }

    /// Adds one request.
    pub(super) fn add_request(&mut self, request: &LoggedRequest<'_, '_>) {
        let (model, tokens) = (request.model, request.token_use());
        let bill = request.price_list().map(|it| Bill::of_request(it, &tokens));
        let Some((bill, cost)) = bill.and_then(|it| Some((it, it.total()?))) else {
            let name = if model.is_empty() { "a model that is not named" } else { model };
            return self.add_unpriced(name, &Unpriced { requests: 1, tokens });
        };
        self.requests += 1;
        self.tokens = self.tokens.zip(tokens, Tokens::saturating_add);
        self.bill += bill;
        *self.by_day.entry(request.day_since_1970()).or_default() += cost;
        match request.made_for {
            MadeFor::Step(_) => self.own_output += bill.output,
            MadeFor::Aside(AsideKind::Summary) => self.summaries += cost,
            MadeFor::Aside(_) => {}
        }
    }

    fn add_unpriced(&mut self, model: &str, more: &Unpriced) {
        let of_model = self.unpriced.entry(model.to_owned()).or_default();
        of_model.requests += more.requests;
        of_model.tokens = of_model.tokens.zip(more.tokens, Tokens::saturating_add);
    }

    /// Returns how many requests have no price.
    pub fn n_requests_without_price(&self) -> u64 {
        self.unpriced.values().map(|it| it.requests).sum()
    }

    /// Returns what all that has a price cost.
    pub fn total(&self) -> Cost {
        self.bill.read + self.bill.write + self.bill.uncached + self.bill.output
    }

    /// Returns its dollars by part, for JSON and rows.
    pub(super) fn usd_by_part(&self) -> Value {
        let Bill { uncached, read, write, output, .. } = self.bill;
        group! {
            "uncached_usd": uncached.usd(),
            "cache_read_usd": read.usd(),
            "cache_write_usd": write.usd(),
            "output_usd": output.usd(),
        }
    }

    /// Returns its tokens by part, for JSON and rows.
    pub(super) fn tokens_by_part(&self) -> Value {
        let TokenUse { uncached, read, write: [short, long], output, .. } = self.tokens;
        group! {
            "uncached_tokens": uncached,
            "cache_read_tokens": read,
            "cache_write_short_tokens": short,
            "cache_write_long_tokens": long,
            "output_tokens": output,
        }
    }

    /// Says it in a sentence or two.
    pub fn describe(&self) -> String {
        self.sentences_in_currency(None)
    }

    /// Says the sum in a sentence, what else there is to say of it before its end, and what is beside it.
    pub(super) fn describe_briefly(&self, more_words: &str) -> String {
        if self.requests == 0 {
            return self.describe();
        }
        let n = counted(self.requests as usize, "request");
        let left_out = text_if_any(self.n_requests_without_price(), |n| {
            format!(" ({} without a price left out)", counted(n as usize, "request"))
        });
        let (total, beside) = (format_usd(self.total().usd()), self.beside.describe_briefly(&format_usd));
        format!("As logged: {total} at list prices for {n}{left_out}{more_words}.{beside}")
    }

    /// Says it in a currency.
    pub fn sentences_in_currency(&self, currency: Option<&Currency>) -> String {
        let usd = |dollars: f64| match currency {
            Some(it) => format!("{:.2} {}", it.convert_usd(dollars), it.code()),
            None => format_usd(dollars),
        };
        let named = |(model, unpriced): (&String, &Unpriced)| {
            let tokens = unpriced.prompt_tokens().saturating_add(unpriced.tokens.output);
            let (requests, tokens) = (counted(unpriced.requests as usize, "request"), thousands(tokens));
            format!("{} ({requests}, {tokens} tokens)", in_one_line(model))
        };
        let without_price = self.unpriced.iter().map(named).listed().join(", ");
        if self.requests == 0 {
            let beside = self.beside.describe(&usd);
            return format!("As logged: nothing that has a price, but {without_price}.{beside}");
        }
        let (bill, n) = (&self.bill, counted(self.requests as usize, "request"));
        let amounts = [self.total(), bill.uncached, bill.read, bill.write, bill.output];
        let [all, uncached, read, write, output] = amounts.map(|it| usd(it.usd()));
        let left_out = text_if(!without_price.is_empty(), || {
            format!(" Without a price, and not in it: {without_price}.")
        });
        format!(
            "As logged: {all} at list prices for {n} (uncached input {uncached}, cache reads {read}, cache writes {write}, output as logged {output}).{left_out}{}",
            self.beside.describe(&usd)
        )
    }
}

impl AddAssign<&Self> for BillAsLogged {
    fn add_assign(&mut self, more: &Self) {
        self.requests += more.requests;
        self.tokens = self.tokens.zip(more.tokens, Tokens::saturating_add);
        self.bill += more.bill;
        self.own_output += more.own_output;
        self.summaries += more.summaries;
        more.by_day.iter().for_each(|(day, usd)| *self.by_day.entry(*day).or_default() += *usd);
        more.unpriced.iter().for_each(|(model, it)| self.add_unpriced(model, it));
        self.beside += &more.beside;
    }
}

/// Adds the bills of sessions up; `None` if none has one.
pub fn sum_bills<'b>(bills: impl Iterator<Item = &'b BillAsLogged>) -> Option<BillAsLogged> {
    let mut all = BillAsLogged::default();
    bills.for_each(|it| all += it);
    (all != BillAsLogged::default()).then_some(all)
}

impl Report {
    /// Returns what all sessions were billed by their logs, if any log says so.
    pub fn total_bill_as_logged(&self) -> Option<BillAsLogged> {
        sum_bills(self.sessions.iter().filter_map(|it| it.as_logged.as_ref()))
    }

    /// Says what was billed, and how the simulated cost of the same sessions, as they were, comes from it.
    pub(super) fn logged_bill_lines(&self) -> Vec<String> {
        let Some(logged) = self.total_bill_as_logged() else {
            return self.explain_missing_bill().into_iter().listed();
        };
        std::iter::once(logged.describe()).chain(self.describe_reconciliation(&logged)).collect()
    }

    /// Says what was billed, and what it costs simulated as it was, in a sentence or two.
    pub(super) fn describe_bill_briefly(&self) -> Option<String> {
        let Some(logged) = self.total_bill_as_logged() else { return self.explain_missing_bill() };
        let simulated = self.reconciliation_cents(&logged).map(|terms| {
            let [total, output] = [terms.total, terms.output].map(|cents| format_usd(cents / 100.0));
            let untold = text_if(terms.output > 0.0, || {
                format!(", {output} of it for output that the logs do not tell")
            });
            format!("; simulated as it was: {total}{untold}")
        });
        Some(logged.describe_briefly(&simulated.unwrap_or_default()))
    }

    /// Says why the bill that logs have is not shown.
    fn explain_missing_bill(&self) -> Option<String> {
        let has_bill = |it: &&SessionReport| it.requests > it.requests_estimated;
        let mut with_bill = self.sessions.iter().filter(has_bill).peekable();
        with_bill.peek()?;
        let why = if with_bill.any(|it| it.is_under_own_model) {
            "totals do not hold it"
        } else {
            "profiles are not chosen by the models of the logs"
        };
        Some(format!("The bill as logged is left out, because {why}: `ctxsim import` shows it."))
    }

    /// Says what is between the bill and the simulated cost; nothing where not every session was played once as it was.
    fn describe_reconciliation(&self, logged: &BillAsLogged) -> Option<String> {
        let SimulatedTerms { total, logged, output, compactions, rest } =
            self.reconciliation_cents(logged)?;
        const REST: &str = "for the rest: other requests that they do not tell, branches that were left, and caches that did otherwise";
        let terms = [
            (output, "estimated for output that the logs do not tell"),
            (compactions, "estimated for compaction requests that they do not tell"),
            (rest, REST),
        ];
        let told = terms.iter().filter(|it| it.0 != 0.0).map(|(cents, what)| {
            format!(" {} {} {what}", if *cents < 0.0 { '−' } else { '+' }, format_usd(cents.abs() / 100.0))
        });
        let [total, logged] = [total, logged].map(|it| format_usd(it / 100.0));
        Some(format!("Simulated as it was: {total} = {logged} as logged{}.", told.listed().join(",")))
    }

    /// Returns what is between the bill and the simulated cost, in cents that add up.
    fn reconciliation_cents(&self, logged: &BillAsLogged) -> Option<SimulatedTerms> {
        // Each session is simulated once as it was.
        let recorded = self.runs.iter().filter(|run| run.policy == AS_RECORDED);
        let costs_of = |session: &SessionReport| {
            let mut own = recorded.clone().filter(|run| run.scenario == session.name);
            own.next().filter(|_| own.next().is_none()).map(|run| &run.tally.costs)
        };
        let costs: Vec<&Costs> = self.sessions.iter().map(costs_of).collect::<Option<_>>()?;
        let total: f64 = costs.iter().map(|it| it.total()).sum::<Option<f64>>()?;
        let output = costs.iter().map(|it| it.main.output.usd()).sum::<f64>() - logged.own_output.usd();
        let compactions = costs.iter().map(|it| it.compaction.usd()).sum::<f64>() - logged.summaries.usd();
        let rest = total - logged.total().usd() - output - compactions;
        // In cents that add up: what is estimated takes what rounding leaves, and where nothing is, the rest does.
        let [total, logged, compactions, rest, output] =
            [total, logged.total().usd(), compactions, rest, output].map(|it| (it * 100.0).round());
        let rest = if output == 0.0 { total - logged - compactions } else { rest };
        let output = total - logged - compactions - rest;
        Some(SimulatedTerms { total, logged, output, compactions, rest })
    }
}

/// A simulated cost and what it is made of, in whole cents.
struct SimulatedTerms {
    total: f64,
    logged: f64,
    output: f64,
    compactions: f64,
    rest: f64,
}

/// Writes dollars to the cent.
fn format_usd(dollars: f64) -> String {
    format!("${dollars:.2}")
}
