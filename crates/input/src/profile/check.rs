//! The rules of a profile.

use super::cache::Cache;
use super::calendar::{DAY_MS, WEEK_MINUTES, instant, minute_of_day, parse_day};
use super::price::{Period, PriceList, PriceWindow, Prices, Rates, Tier, TierReach};
use super::written::{PriceSpec, RecoveryPrice, ServicePrices};
use super::{Assumptions, Family, ImageRule, Limits, Profile, ProfileFile, WaitModel, written};
use crate::TtlClass;
use crate::prelude::*;
use ctxsim_base::quantity::{Cost, Rate, UNLIMITED};

/// Checks a profile.
pub(super) fn profile(spec: &ProfileFile, problems: &mut Problems) -> Profile {
    if spec.sources.is_empty() {
        let help = "add `sources: [\"…\"]`: where its numbers come from";
        problems.push_at(Code("profile-unsourced"), "sources", "a profile must name its sources", help);
    }
    for (index, pattern) in spec.models.iter().enumerate().filter(|(_, it)| it.chars().all(|it| it == '*')) {
        let message = format!("`{pattern}` does not name a model");
        let help = "write a model id, such as `gpt-5.5` or `claude-opus-4-5{revision}`";
        problems.push_at(Code("profile-models"), format_args!("models.{index}"), message, help);
    }
    if let Some(name) = spec.tokenizer.as_ref().filter(|it| Family::named(it).is_none()) {
        let known: Vec<&str> = Family::all().iter().map(|it| it.name.as_str()).collect();
        let message = format!("no family of models is called `{name}`");
        let help = format!("write one of these, or leave it out: {}", known.join(", "));
        problems.push_at(Code("tokenizer-unknown"), "tokenizer", message, help);
    }
    let assumed = &spec.assumptions;
    let start_ms = start(assumed.starts_at.as_deref(), &spec.as_of, problems);
    Profile {
        name: spec.name.clone(),
        about: spec.about.clone(),
        as_of: spec.as_of.clone(),
        models: spec.models.iter().map(|it| it.to_ascii_lowercase()).collect(),
        family: Family::of_profile(spec),
        images: ImageRule::of_profile(spec),
        limits: problems.within("limits", |problems| limits(&spec.limits, problems)),
        is_best_effort: spec.best_effort,
        refuses: if let Cache::Breakpoints(it) = &spec.cache { it.refuses.clone() } else { Vec::new() },
        cache: problems.within("cache", |problems| spec.cache.check(problems)),
        prices: problems
            .within("prices", |problems| prices(&spec.prices, start_ms, &assumed.services, problems)),
        waiting: WaitModel::of_profile(spec),
        assumptions: problems.within("assumptions", |problems| assumptions(&spec.assumptions, problems)),
    }
}

fn limits(spec: &written::LimitsSpec, problems: &mut Problems) -> Limits {
    let given = [
        ("context_tokens", spec.context_tokens),
        ("input_tokens", spec.input_tokens),
        ("output_tokens", spec.output_tokens),
    ];
    for (field, _) in given.into_iter().filter(|it| it.1 == Some(0)) {
        let help = "remove it if there is no limit";
        problems.push_at(Code("limit-zero"), field, "a limit of 0 tokens allows nothing", help);
    }
    let window = spec.context_tokens.unwrap_or(UNLIMITED);
    Limits {
        prompt: spec.input_tokens.unwrap_or(window),
        window,
        output: spec.output_tokens.unwrap_or(UNLIMITED),
    }
}

fn assumptions(spec: &written::AssumptionsSpec, problems: &mut Problems) -> Assumptions {
    let mut cost = |field: &str, usd| {
        Cost::from_usd(usd).unwrap_or_else(|| {
            let message = "the amount has more than twelve decimals of a dollar";
            let help = "round it";
            problems.push_at(Code("price-too-fine"), field, message, help);
            Cost::default()
        })
    };
    let failure_penalty = cost("failure_penalty_usd", spec.failure_penalty_usd);
    let memory_call = cost("memory_call_usd", spec.memory_call_usd);
    if spec.recovery != RecoveryPrice::Flat {
        let given = [
            ("recovery_overhead_tokens", spec.recovery_overhead_tokens),
            ("recovery_output_tokens", spec.recovery_output_tokens),
        ];
        for (field, _) in given.into_iter().filter(|it| it.1 > 0) {
            let help = "leave it out (requests are priced by their contents), or write `recovery = \"flat\"`";
            let message = "this field is for recovery calls at a flat price, which this profile does not use";
            problems.push_at(Code("recovery-not-flat"), field, message, help);
        }
    }
    Assumptions {
        recovery: spec.recovery,
        recovery_overhead_tokens: spec.recovery_overhead_tokens,
        recovery_output_tokens: spec.recovery_output_tokens,
        failure_penalty,
        memory_call,
        memory_latency_ms: spec.memory_latency_ms.to_f64(),
        request_latency_ms: spec.request_latency_ms.to_f64(),
        recovery_latency_ms: spec.recovery_latency_ms.to_f64(),
        latency_ms_per_uncached_token: spec.latency_ms_per_uncached_token.to_f64(),
        latency_ms_per_output_token: spec.latency_ms_per_output_token.to_f64(),
    }
}

// Makes price lists from written prices: every rate exact, every threshold, date and hour checked.

/// Rates of any part of a price list.
struct GivenRates<'a> {
    input: Option<Decimal>,
    output: Option<Decimal>,
    cache_read: Option<Decimal>,
    cache_write: &'a IndexMap<String, Decimal>,
}

/// Reads the rates of a part that may omit any of them.
macro_rules! given {
    ($spec:expr) => {
        GivenRates {
            input: $spec.input.into(),
            output: $spec.output,
            cache_read: $spec.cache_read,
            cache_write: &$spec.cache_write,
        }
    };
}

impl GivenRates<'_> {
    fn is_empty(&self) -> bool {
        [self.input, self.output, self.cache_read] == [None; 3] && self.cache_write.is_empty()
    }
}

/// Makes the price list of a timeline with a start and services.
pub(crate) fn prices(
    specs: &[PriceSpec],
    start_ms: i64,
    services: &[String],
    problems: &mut Problems,
) -> Prices {
    if specs.is_empty() {
        let help = "write `prices: [(input: 3.0, output: 15.0)]`";
        problems.push(Code("price-missing"), "a profile needs at least one price", help);
    }
    let mut periods: Vec<Period> = Vec::with_capacity(specs.len());
    for (index, spec) in specs.iter().enumerate() {
        let period = problems.within(index, |problems| period(spec, services, problems));
        if periods.iter().any(|it| it.from_ms == period.from_ms) {
            let help = "give each its own `from`";
            let message = "two price lists start on the same date";
            problems.push_at(Code("price-date-duplicate"), index, message, help);
        }
        periods.push(period);
    }
    periods.order_by_key(|it| it.from_ms);
    let n_begun = periods.partition_point(|it| it.from_ms <= start_ms);
    if n_begun == 0 && !periods.is_empty() {
        let help = "set `assumptions.starts_at` to a later date, or add the earlier prices";
        problems.push(Code("price-not-yet"), "the timeline starts before the first price", help);
    }
    let later = periods.split_off(n_begun);
    let first = periods.pop().unwrap_or_else(free);
    Prices { start_ms, earlier: periods, first, later }
}

/// Replaces missing prices so that the check can go on.
fn free() -> Period {
    let usual = PriceList { base: Rates::default(), tiers: Vec::new(), reach: TierReach::WholeRequest };
    Period { from_ms: i64::MIN, ended_ms: None, usual, windows: Vec::new() }
}

fn period(spec: &PriceSpec, services: &[String], problems: &mut Problems) -> Period {
    let from_ms = spec.from.as_ref().and_then(|it| day("from", it, problems)).unwrap_or(i64::MIN);
    let ended_ms = spec.until.as_ref().and_then(|it| day("until", it, problems)).map(|last| last + DAY_MS);
    let mut base = over(&Rates::default(), &given!(spec), problems);
    base.storage = spec.storage.map(|it| rate("storage", it, problems));
    let mut usual = list(base, &spec.tiers, problems);
    let mut windows: Vec<PriceWindow> = Vec::with_capacity(spec.windows.len());
    for (index, window) in spec.windows.iter().enumerate() {
        let field = format!("windows.{index}");
        windows.extend(problems.within(field, |problems| self::window(window, &usual, problems)));
    }
    check_services(spec, problems);
    for (index, name) in services.iter().enumerate() {
        let Some(service) = spec.services.get(name) else {
            problems.elsewhere(format_args!("assumptions.services.{index}"), |it| {
                let known = spec.services.keys().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
                let there = if known.is_empty() { known } else { format!("there are {known}; ") };
                let otherwise = || format!("{there}add it under the prices' `services`, or remove it");
                let help = near_or(name, spec.services.keys().map(String::as_str), otherwise);
                it.push(Code("service-unknown"), format!("no price is known for `{name}`"), help);
            });
            continue;
        };
        let has_own = !given!(service).is_empty();
        if has_own && spec.windows.iter().any(|it| it.factor.is_none()) {
            let message = format!("both `{name}` and a time window set their own prices");
            let help = "replace the prices of one of them with a `factor`";
            problems.push_at(Code("price-ambiguous"), "windows", message, help);
        }
        problems.within(format!("services.{name}"), |problems| {
            usual = serve(&usual, service, problems);
            for (window, spec) in windows.iter_mut().zip(&spec.windows) {
                window.prices = match (has_own, spec.factor) {
                    (true, Some(factor)) => times(&usual, factor, problems),
                    _ => serve(&window.prices, service, problems),
                };
            }
        });
    }
    Period { from_ms, ended_ms, usual, windows }
}

/// Also checks services that are not used.
fn check_services(spec: &PriceSpec, problems: &mut Problems) {
    for (name, service) in &spec.services {
        let is_empty = given!(service).is_empty() && service.tiers.is_empty();
        if service.factor.is_some() != is_empty {
            let message = "a service needs either a `factor` or its own prices";
            let help = "write `factor: 0.5`, or `input` and `output`";
            problems.push_at(Code("service-form"), format_args!("services.{name}"), message, help);
        }
    }
}

/// Returns a list under a service.
fn serve(list: &PriceList, service: &ServicePrices, problems: &mut Problems) -> PriceList {
    match service.factor {
        Some(factor) => times(list, factor, problems),
        None => {
            let given = given!(service);
            let below = if given.input.is_some() { unsaid(&list.base) } else { list.base };
            self::list(over(&below, &given, problems), &service.tiers, problems)
        }
    }
}

/// Returns the known prices of a part that replaces the standard ones: a write with a standard price loses
/// it, and its new price is unknown.
fn unsaid(usual: &Rates) -> Rates {
    Rates { cache_write: usual.cache_write.map(|_| [None; 2]), storage: usual.storage, ..Rates::default() }
}

fn list(base: Rates, specs: &[written::TierSpec], problems: &mut Problems) -> PriceList {
    let mut tiers: Vec<(Tier, &written::TierSpec)> = Vec::with_capacity(specs.len());
    for (index, spec) in specs.iter().enumerate() {
        problems.within(format!("tiers.{index}"), |problems| {
            let from_tokens = match (spec.above_prompt_tokens, spec.from_prompt_tokens) {
                (Some(above), None) => above.saturating_add(1),
                (None, Some(from)) => from,
                _ => {
                    let help = "write either `above_prompt_tokens` or `from_prompt_tokens`, not both";
                    let message = "a tier needs the prompt length at which it starts";
                    problems.push(Code("tier-threshold"), message, help);
                    return;
                }
            };
            if tiers.iter().any(|(it, _)| it.from_tokens == from_tokens) {
                let help = "remove one";
                problems.push(Code("tier-duplicate"), "two tiers start at the same prompt length", help);
            }
            if spec.reach != specs[0].reach {
                let help = "give all of them the same `reach`";
                problems.push(Code("tier-mixed"), "the tiers have different values of `reach`", help);
            }
            tiers.push((Tier { from_tokens, rates: base }, spec));
        });
    }
    tiers.order_by_key(|(it, _)| it.from_tokens);
    let mut below = base;
    for (tier, spec) in &mut tiers {
        tier.rates = problems.within("tiers", |problems| over(&below, &given!(spec), problems));
        below = tier.rates;
    }
    let reach = specs.first().map_or(TierReach::WholeRequest, |it| it.reach);
    PriceList { base, tiers: tiers.into_iter().map(|(it, _)| it).collect(), reach }
}

fn window(spec: &written::WindowSpec, usual: &PriceList, problems: &mut Problems) -> Option<PriceWindow> {
    let given = given!(spec);
    let prices = match (spec.factor, given.is_empty()) {
        (Some(factor), true) => times(usual, factor, problems),
        (None, false) => PriceList { base: over(&usual.base, &given, problems), ..usual.clone() },
        _ => {
            let message = "a window needs either a `factor` or its own prices";
            problems.push(Code("window-form"), message, "write `factor: 0.5`, or `input` and `output`");
            return None;
        }
    };
    if spec.factor.is_none() && !usual.tiers.is_empty() {
        let message = "a window with its own prices does not say what longer prompts cost";
        problems.push(Code("window-tiers"), message, "give the window a `factor`");
    }
    let mut minutes = Vec::new();
    let mut days: Vec<u32> = spec.weekdays.iter().map(|it| *it as u32).collect();
    if days.is_empty() {
        days.extend(0..7);
    }
    for hours in &spec.hours {
        let Some((start, length)) = span(hours) else {
            let message = format!("`{hours}` is not a range of hours");
            problems.push_at(Code("window-hours"), "hours", message, "write it like \"01:00-04:00\"");
            continue;
        };
        days.iter().for_each(|day| push_minutes(day * 1_440 + start, length, &mut minutes));
    }
    if spec.hours.is_empty() {
        days.iter().for_each(|day| push_minutes(day * 1_440, 1_440, &mut minutes));
    }
    Some(PriceWindow { minutes, prices })
}

/// Parses `01:00-04:00` as a minute of the day and a length; an end at or before the start is on the next
/// day.
fn span(text: &str) -> Option<(u32, u32)> {
    let (start, end) = text.split_once('-')?;
    let (start, end) = (minute_of_day(start)?, minute_of_day(end)?);
    let length = if end > start { end - start } else { end + 1_440 - start };
    (start < 1_440).then_some((start, length))
}

/// Adds minutes of the week, wrapping at its end.
fn push_minutes(start: u32, length: u32, minutes: &mut Vec<Range<u32>>) {
    let end = start + length;
    minutes.push(start..end.min(WEEK_MINUTES));
    if end > WEEK_MINUTES {
        minutes.push(0..end - WEEK_MINUTES);
    }
}

/// Overrides rates.
fn over(below: &Rates, given: &GivenRates<'_>, problems: &mut Problems) -> Rates {
    let mut rates = *below;
    rates.input = given.input.map_or(rates.input, |it| rate("input", it, problems));
    rates.output = given.output.map(|it| rate("output", it, problems)).or(rates.output);
    rates.cache_read = given.cache_read.map(|it| rate("cache_read", it, problems)).or(rates.cache_read);
    let mut is_given = [false; 2];
    for (ttl, price) in given.cache_write {
        problems.within("cache_write", |problems| {
            let Some(class) = Duration::parse(ttl).map(|it| TtlClass::from_ms(it.0) as usize) else {
                let help = "write `\"5m\"`, `\"30m\"`, `\"1h\"` or `\"12h\"`";
                problems.push_at(Code("ttl-class"), ttl, format!("`{ttl}` is not a lifetime"), help);
                return;
            };
            if std::mem::replace(&mut is_given[class], true) {
                let message = "two prices for lifetimes of the same class";
                let help =
                    "give one price for lifetimes below an hour and one for lifetimes of an hour or more";
                problems.push_at(Code("ttl-class"), ttl, message, help);
            }
            rates.cache_write.get_or_insert([None; 2])[class] = Some(rate(ttl, *price, problems));
        });
    }
    rates
}

/// Multiplies every rate of a list.
fn times(list: &PriceList, factor: Decimal, problems: &mut Problems) -> PriceList {
    let mut product = |rate: Rate| {
        let exact =
            Decimal::parse(&rate.0.to_string()).and_then(|it| it.times(factor)).and_then(|it| it.scaled(0));
        exact.map(Rate).unwrap_or_else(|| {
            let message = format!("the factor {factor} yields a price with more than six decimals");
            problems.push_at(Code("price-too-fine"), "factor", message, "write the prices instead");
            rate
        })
    };
    let mut all = |rates: &Rates| Rates {
        input: product(rates.input),
        output: rates.output.map(&mut product),
        cache_read: rates.cache_read.map(&mut product),
        cache_write: rates.cache_write.map(|it| it.map(|it| it.map(&mut product))),
        storage: rates.storage,
    };
    PriceList {
        base: all(&list.base),
        tiers: list.tiers.iter().map(|it| Tier { rates: all(&it.rates), ..*it }).collect(),
        reach: list.reach,
    }
}

fn rate(field: &str, price: Decimal, problems: &mut Problems) -> Rate {
    Rate::from_usd_per_million(price).unwrap_or_else(|| {
        let message = format!("{price} USD per million tokens has more than six decimals");
        problems.push_at(Code("price-too-fine"), field, message, "round it to six decimals");
        Rate::default()
    })
}

/// Returns the date in a field, in milliseconds since 1970.
fn day(field: &str, text: &str, problems: &mut Problems) -> Option<i64> {
    let day = parse_day(text);
    if day.is_none() {
        let message = format!("`{text}` is not a date (YYYY-MM-DD)");
        problems.push_at(Code("date-format"), field, message, "write it like \"2026-10-07\"");
    }
    day
}

/// Returns the assumed start of a timeline, in milliseconds since 1970: as written, else the date of the
/// sources.
pub(crate) fn start(starts_at: Option<&str>, as_of: &str, problems: &mut Problems) -> i64 {
    let of_sources = day("as_of", as_of, problems);
    let Some(text) = starts_at else { return of_sources.unwrap_or(0) };
    instant(text).unwrap_or_else(|| {
        let message = format!("`{text}` is not a date or a time");
        let help = "write it like \"2026-10-07\" or \"2026-10-07T09:30Z\"";
        problems.push_at(Code("date-format"), "assumptions.starts_at", message, help);
        of_sources.unwrap_or(0)
    })
}
