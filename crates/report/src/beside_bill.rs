//! What stands beside a bill as logged: an estimate of sub-agents of which logs hold totals alone, the plans that logs name, and a currency of the user's.

use std::ops::AddAssign;

use crate::account::AccountUse;
use crate::logged::ProfileOf;
use crate::prelude::*;
use ctxsim_base::grid::numbers::{listed_code, plain};
use ctxsim_base::quantity::sums;
use ctxsim_engine::calibrate::forecast::Forecast;
use ctxsim_engine::measure::sub_agents::input_usd;
use ctxsim_input::profile::calendar::{date_text, parse_day};
use ctxsim_input::profile::price::PriceChange;
use ctxsim_timeline::Recorded;

/// The most changes of prices that are named.
const CHANGES: usize = 3;

/// What stands beside a bill as logged, and is no part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillFootnotes {
    /// What was used of accounts, and the plans that the logs name.
    pub(crate) used: AccountUse,
    /// The sub-agents whose requests are in the bill.
    logged: BTreeSet<String>,
    /// What is known of others.
    totalled: Vec<Totalled>,
    /// What requests may have cost that wrote summaries, and that no usage shows.
    summaries: UnbilledCost,
    /// The profiles whose prices the bill has, by name.
    prices: BTreeMap<String, PricesUsed>,
}

/// How the prices of a profile were used.
#[derive(Clone, Debug, PartialEq)]
struct PricesUsed {
    /// The day on which they were read.
    as_of: String,
    /// The newest request; `None` where no log tells times.
    newest_ms: Option<i64>,
    /// Whether a log told no times, so that the prices are those of that day.
    is_without_times: bool,
    changes: Vec<PriceChange>,
}

impl PricesUsed {
    fn new(profile: &Profile, newest_ms: Option<i64>) -> Self {
        let (as_of, is_without_times) = (profile.as_of.clone(), newest_ms.is_none());
        Self { as_of, newest_ms, is_without_times, changes: profile.prices.changes() }
    }

    /// Returns the first change that comes soon after the newest request, and the first after the day on which the prices were read.
    fn changes_soon(&self) -> Vec<&PriceChange> {
        let days = [self.newest_ms, parse_day(&self.as_of)].into_iter().flatten();
        let first = |day: i64| self.changes.iter().find(|change| change.is_soon_after(day));
        let mut soon = days.filter_map(first).listed();
        soon.dedup();
        soon
    }
}

/// Sub-agents of which totals are known.
#[derive(Clone, Debug, PartialEq)]
struct Totalled {
    /// The name of the one, or of their workflow; may be empty.
    name: String,
    agents: u64,
    /// Whether the log names their model.
    has_model: bool,
    usd: Option<[f64; 3]>,
}

/// What requests may have cost that no usage shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct UnbilledCost {
    pub requests: u64,
    /// What they may have cost, in US dollars.
    pub usd: f64,
    pub usd_low: f64,
    pub usd_high: f64,
    /// Of them, those whose model has no price; the dollars leave them out.
    pub without_price: u64,
}

/// What sub-agents of which logs hold totals alone may have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SubAgentCost {
    /// How many there are.
    pub sub_agents: u64,
    /// What their input may have cost, in US dollars.
    pub input_usd: f64,
    pub input_usd_low: f64,
    pub input_usd_high: f64,
    /// Of them, those that are priced as their session's model, because the log names none.
    pub without_model: u64,
    /// Of them, those whose model has no price; the dollars leave them out.
    pub without_price: u64,
}

impl BillFootnotes {
    /// Returns what stands beside a session's bill, some of it at the prices of the model that it ended with.
    pub(super) fn from_timeline(timeline: &Timeline, profile_of: ProfileOf<'_>) -> Self {
        let Some(recorded) = &timeline.recorded else { return Self::default() };
        let used = AccountUse::from_timeline(timeline, profile_of);
        let last_model = used.last_model();
        let own = timeline.spine.sessions.first().filter(|it| it.parent.is_some() && !it.id.is_empty());
        let totalled = recorded.agents.iter().map(|agents| {
            let model = if agents.model.is_empty() { last_model } else { &agents.model };
            let prices = profile_of(model).map(|it| it.prices.on_day_of(timeline.began_ms));
            let (name, has_model) = (agents.agent.clone(), !agents.model.is_empty());
            let usd = prices.and_then(|prices| input_usd(agents, prices));
            Totalled { name, agents: agents.agents, has_model, usd }
        });
        let newest_ms = timeline.last_ms();
        let profiles = timeline.models.iter().filter_map(|model| profile_of(&model.name));
        Self {
            prices: profiles.map(|it| (it.name.clone(), PricesUsed::new(it, newest_ms))).collect(),
            logged: own.map(|it| it.id.clone()).into_iter().collect(),
            totalled: totalled.listed(),
            summaries: UnbilledCost::of_summaries(recorded, timeline.began_ms, profile_of, last_model),
            used,
        }
    }

    /// Estimates the requests that wrote summaries and that no usage shows; `None` if there are none.
    pub fn estimate_summaries(&self) -> Option<UnbilledCost> {
        Some(self.summaries).filter(|it| it.requests > 0)
    }

    /// Returns the plans that the logs name.
    pub fn subscription_names(&self) -> Vec<String> {
        self.used.plans().into_iter().map(str::to_owned).listed()
    }

    /// Says of the prices that they were read before the newest request, that they hold for logs without times, and which of them change soon.
    pub fn price_sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let used = self.prices.values().filter_map(|used| Some((date_text(used.newest_ms?), &used.as_of)));
        if let Some((newest, as_of)) = used.filter(|(newest, as_of)| newest > *as_of).max() {
            sentences.push(format!("Prices were read on {as_of}, and the newest request is of {newest}."));
        }
        if let Some(used) = self.prices.values().find(|used| used.is_without_times) {
            sentences.push(format!("Where logs tell no times, prices are those of {}.", used.as_of));
        }
        let days = |used: &PricesUsed| used.changes_soon().iter().map(|change| change.day()).listed();
        let changes = self.prices.iter().map(|(name, used)| (name, days(used))).filter(|it| !it.1.is_empty());
        let changes = changes.map(|(name, days)| format!("{name} on {}", listed(&days)));
        let changes = names_and_more(changes, CHANGES).join("; ");
        if !changes.is_empty() {
            sentences.push(format!("Prices change: {changes}."));
        }
        sentences
    }

    /// Estimates the sub-agents of which no log holds requests, each once; `None` if there are none.
    pub fn estimate_sub_agents(&self) -> Option<SubAgentCost> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut all = SubAgentCost::default();
        for agents in &self.totalled {
            let name = agents.name.as_str();
            if !name.is_empty() && (self.logged.contains(name) || !seen.insert(name)) {
                continue;
            }
            all.sub_agents += agents.agents;
            let Some([usd, low, high]) = agents.usd else {
                all.without_price += agents.agents;
                continue;
            };
            all.without_model += if agents.has_model { 0 } else { agents.agents };
            all.input_usd += usd;
            all.input_usd_low += low;
            all.input_usd_high += high;
        }
        (all.sub_agents > 0).then_some(all)
    }

    /// Says it in a sentence each, after a space.
    pub(super) fn describe_briefly(&self, format_amount: &dyn Fn(f64) -> String) -> String {
        let agents = or_nothing(self.estimate_sub_agents(), |estimated| {
            let is_priced = estimated.sub_agents > estimated.without_price;
            let about = text_if(is_priced, || format!("about {} for ", format_amount(estimated.input_usd)));
            let n = counted(estimated.sub_agents as usize, "sub-agent");
            format!(" Not in it: {about}{n} of which the logs hold only totals.")
        });
        let summaries = or_nothing(self.estimate_summaries(), |it| {
            format!(" Not in it: {}.", it.describe(format_amount))
        });
        let plan = " The logs name a plan, which is not billed at list prices.";
        agents + &summaries + if self.used.plans().is_empty() { "" } else { plan } + &self.price_note()
    }

    /// Says it in sentences, with amounts as the bill has them.
    pub(super) fn describe(&self, format_amount: &dyn Fn(f64) -> String) -> String {
        let agents = or_nothing(self.estimate_sub_agents(), |it| it.describe(format_amount));
        let summaries = or_nothing(self.estimate_summaries(), |it| {
            format!(" Estimated, and not in it: {}.", it.describe(format_amount))
        });
        let plans = self.used.plans();
        let plans = text_if_any(plans.len(), |n| {
            let plans = listed_code(&plans.iter().map(|it| in_one_line(it).into_owned()).listed());
            let named = if n == 1 { "a plan" } else { "plans" };
            format!(
                " The logs name {named} ({plans}): dollars are list prices, not what a subscription costs."
            )
        });
        agents + &summaries + &plans + &self.price_note()
    }

    /// Says the same of the prices, each sentence after a space.
    fn price_note(&self) -> String {
        self.price_sentences().into_iter().map(|sentence| format!(" {sentence}")).collect()
    }
}

impl UnbilledCost {
    fn of_summaries(
        recorded: &Recorded,
        began_ms: Option<i64>,
        profile_of: ProfileOf<'_>,
        last_model: &str,
    ) -> Self {
        let mut all = Self::default();
        for request in &recorded.unbilled {
            let model = if request.model.is_empty() { last_model } else { &request.model };
            let at_ms = request.at_ms.or(began_ms);
            let profile = profile_of(model);
            let usd = profile.and_then(|it| {
                Forecast::declared().summary_usd(request, recorded.format, it.prices.on_day_of(at_ms))
            });
            let without_price = u64::from(usd.is_none());
            let [usd, usd_low, usd_high] = usd.unwrap_or_default();
            all += Self { requests: 1, usd, usd_low, usd_high, without_price };
        }
        all
    }

    /// Says what they are, and what they may have cost.
    pub(super) fn describe(&self, format_amount: &dyn Fn(f64) -> String) -> String {
        let [usd, low, high] = [self.usd, self.usd_low, self.usd_high].map(format_amount);
        let n = counted(self.requests as usize, "compaction request");
        let without_price = text_if_any(self.without_price, |n| format!("; {n} without a price"));
        let is_priced = self.requests > self.without_price;
        let about = text_if(is_priced, || format!(" (about {usd}, {low} to {high}{without_price})"));
        format!("{n} that no usage shows{about}")
    }
}

sums!(UnbilledCost: requests, usd, usd_low, usd_high, without_price);

impl SubAgentCost {
    fn describe(&self, format_amount: &dyn Fn(f64) -> String) -> String {
        let [usd, low, high] = [self.input_usd, self.input_usd_low, self.input_usd_high].map(format_amount);
        let lead = match self.sub_agents - self.without_price {
            0 => " Not in it: ".to_owned(),
            _ => format!(" Estimated, and not in it: {usd} ({low} to {high}) for the input of "),
        };
        let n = counted(self.sub_agents as usize, "sub-agent");
        let without_model = text_if_any(self.without_model, |n| {
            format!("; {n} at the prices of the session's model, as the logs name no other")
        });
        let without_price = text_if_any(self.without_price, |n| format!("; {n} without a price"));
        format!("{lead}{n} of which the logs hold only totals{without_model}{without_price}.")
    }
}

impl AddAssign<&Self> for BillFootnotes {
    fn add_assign(&mut self, more: &Self) {
        self.used.extend(&more.used);
        self.logged.extend(more.logged.iter().cloned());
        self.totalled.extend(more.totalled.iter().cloned());
        for (name, more) in &more.prices {
            let used = self.prices.entry(name.clone()).or_insert_with(|| more.clone());
            used.newest_ms = used.newest_ms.max(more.newest_ms);
            used.is_without_times |= more.is_without_times;
        }
        self.summaries += more.summaries;
    }
}

/// A currency and its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Currency {
    code: String,
    rate: f64,
}

impl Currency {
    /// Reads `CODE=RATE`.
    ///
    /// # Errors
    /// What to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        const FIX: &str = "write CODE=RATE, such as `EUR=0.92` where a US dollar is 0.92 euros";
        let (code, rate) = text.split_once('=').ok_or(FIX)?;
        if code.len() != 3 || !code.bytes().all(|it| it.is_ascii_uppercase()) {
            return Err(format!("{FIX}; a code is three capital letters"));
        }
        if code == "USD" {
            return Err(format!("{FIX}; without `--currency`, amounts are US dollars"));
        }
        let rate = rate.parse().ok().filter(|it: &f64| it.is_normal() && *it > 0.0 && *it < 1e9);
        let rate = rate.ok_or_else(|| format!("{FIX}; a rate is more than 0 and less than 1,000,000,000"))?;
        Ok(Self { code: code.to_owned(), rate })
    }

    /// Returns its code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns how much of it a US dollar is.
    pub fn rate_per_usd(&self) -> f64 {
        self.rate
    }

    /// Returns what dollars are in it.
    pub fn convert_usd(&self, usd: f64) -> f64 {
        usd * self.rate
    }

    /// Says whose rate it is.
    pub(super) fn describe_rate(&self) -> String {
        let (code, rate) = (&self.code, plain(self.rate));
        format!(
            "Amounts are in {code}, at {rate} {code} for a US dollar: that rate is yours, and no part of the bill."
        )
    }
}
