//! Plays vectors: listed prompts go straight to a cache, traces go through the engine.

use indexmap::IndexMap;

use super::file::{
    ExpectedRecord, PriceRecord, RequestRecord, RuleRecord, SessionRecord, TtlRecord, VectorFile,
};
use super::{From, Row, Series, load, policy};
use crate::cache::breakpoints::{Cache, Times};
use crate::cache::marks::Mark;
use crate::cache::{RequestView, cache};
use crate::engine::simulate;
use crate::ledger::{CacheUse, Rows};
use crate::model::profile::Steps;
use crate::model::{Breakpoints, CacheRules, Layout, Limits, Settings};
use crate::projection::chain::Chain;
use crate::units::Tokens;

/// The lifetimes of the breakpoints rule, by class.
const TTL_NAMES: [&str; 2] = ["5m", "1h"];

/// Plays everything in a file; also says what could not be played.
pub(super) fn play(file: &VectorFile) -> (Vec<Series>, Vec<String>) {
    let mut all = Vec::new();
    let mut silent = Vec::new();
    for (name, session) in &file.sessions {
        for (policy, run) in &session.runs {
            for (rule, expected) in &run.expected {
                let Some(rules) = rules(rule, file.rules.get(rule)) else {
                    silent.push(format!("{name}, {policy}: the rule `{rule}` is not known"));
                    continue;
                };
                let price = file.prices_microusd_per_mtok.get(&expected.price);
                let series = Builder { name, policy, rule, rules, price, expected };
                all.push(series.of_requests(&run.requests));
                match series.of_trace(session, file.policies.get(policy)) {
                    Ok(it) => all.push(it),
                    Err(reason) => silent.push(format!("{name}, {policy}, {rule}: {reason}")),
                }
            }
        }
    }
    for (name, vector) in &file.cache_vectors {
        let mut record = file.rules.get("breakpoints").cloned().unwrap_or_default();
        record.min_tokens = vector.min_tokens.or(record.min_tokens);
        let Some(rules) = rules("breakpoints", Some(&record)) else { continue };
        let expected =
            ExpectedRecord { price: String::new(), rows: vector.expect.clone(), total_picodollars: None };
        let series =
            Builder { name, policy: "", rule: "breakpoints", rules, price: None, expected: &expected };
        all.push(series.of_requests(&vector.requests));
    }
    (all, silent)
}

/// Returns the rules of a name with a file's numbers.
fn rules(name: &str, record: Option<&RuleRecord>) -> Option<CacheRules> {
    let record = record.cloned().unwrap_or_default();
    let ttl = |name: &str| match &record.ttl_ms {
        Some(TtlRecord::One(ttl)) => Some(*ttl),
        Some(TtlRecord::ByName(names)) => names.get(name).copied(),
        None => None,
    };
    match name {
        "breakpoints" => Some(CacheRules::Breakpoints(Breakpoints {
            min_tokens: record.min_tokens.unwrap_or(1_024),
            breakpoints_max: record.max_marks.unwrap_or(4),
            lookback_positions: record.lookback.unwrap_or(20),
            ttl_ms: [Some(ttl("5m").unwrap_or(300_000)), Some(ttl("1h").unwrap_or(3_600_000))],
            ..Breakpoints::default()
        })),
        "prefix_interval" => Some(CacheRules::PrefixInterval {
            steps: Steps { min: record.min_tokens.unwrap_or(1_024), step: record.step.unwrap_or(128).max(1) },
            ttl_ms: ttl(""),
        }),
        _ => None,
    }
}

/// What all rows of a series share.
struct Builder<'a> {
    name: &'a str,
    policy: &'a str,
    rule: &'a str,
    rules: CacheRules,
    price: Option<&'a PriceRecord>,
    expected: &'a ExpectedRecord,
}

impl Builder<'_> {
    /// Submits listed prompts to a cache.
    fn of_requests(&self, requests: &[RequestRecord]) -> Series {
        let rows = match &self.rules {
            CacheRules::Breakpoints(rules) => {
                let mut cache = Cache::new(*rules);
                requests.iter().map(|it| self.row(it, &divide(&mut cache, rules, it))).collect()
            }
            other => {
                let mut cache = cache(other);
                let rows = requests.iter().map(|it| {
                    let chain = Chain::of(load::links(it));
                    let usage = cache.submit(&RequestView {
                        prompt: prompt(it),
                        stable: 0,
                        chain: &chain,
                        visits: &[],
                        layout: &Layout { breakpoints: Vec::new(), is_silent: false },
                        ttl: None,
                        tail: 0,
                        now_ms: it.t_ms,
                        response_ms: it.response_start_ms,
                        end_ms: it.response_start_ms,
                        edited_from: None,
                        settings: Settings::default(),
                    });
                    self.row(it, &usage)
                });
                rows.collect()
            }
        };
        self.series(From::Requests, rows)
    }

    /// Plays the session's trace under the policy.
    fn of_trace(&self, session: &SessionRecord, sentence: Option<&String>) -> Result<Series, String> {
        if session.trace.is_empty() {
            return Err("the session has no trace".to_owned());
        }
        let sentence = sentence.map_or("", String::as_str);
        let policy = policy::policy(self.policy, sentence)
            .ok_or("the policy is not known, or its sentence lacks a number")?
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        let trace = load::trace(self.name, session);
        let mut rows = Rows::default();
        simulate(&trace, &policy, &Limits::NONE, &self.rules, &mut rows);
        let rows = rows.requests.iter().map(|it| self.priced(it.prompt, &it.usage, it.output));
        Ok(self.series(From::Trace, rows.collect()))
    }

    fn series(&self, from: From, rows: Vec<Row>) -> Series {
        Series {
            name: self.name.to_owned(),
            policy: self.policy.to_owned(),
            rule: self.rule.to_owned(),
            from,
            rows,
            expected: self.expected.rows.clone(),
            expected_total: self.expected.total_picodollars,
        }
    }

    fn row(&self, request: &RequestRecord, usage: &CacheUse) -> Row {
        self.priced(prompt(request), usage, request.output_tokens)
    }

    /// Makes a row with what the request costs.
    fn priced(&self, prompt: Tokens, usage: &CacheUse, output: Tokens) -> Row {
        let mut write = IndexMap::new();
        if matches!(self.rules, CacheRules::Breakpoints(_)) {
            write.extend(TTL_NAMES.into_iter().map(str::to_owned).zip(usage.write));
        }
        let picodollars = self.price.map(|price| {
            let cost = |tokens: Tokens, rate: u64| u128::from(tokens) * u128::from(rate);
            let written: u128 = write
                .iter()
                .map(|(name, tokens)| cost(*tokens, price.write.get(name).copied().unwrap_or(price.input)))
                .sum();
            cost(usage.read, price.read)
                + written
                + cost(usage.uncached, price.input)
                + cost(output, price.output)
        });
        Row { prompt, read: usage.read, write, uncached: usage.uncached, output, picodollars }
    }
}

/// Returns the tokens of a listed prompt.
fn prompt(request: &RequestRecord) -> Tokens {
    request.segments.iter().map(|it| Tokens::from(it.2)).sum()
}

/// Divides a listed prompt by its listed marks; the last ones count when there are too many.
fn divide(cache: &mut Cache, rules: &Breakpoints, request: &RequestRecord) -> CacheUse {
    let links = load::links(request);
    let marks = request.marks.iter().filter_map(|(segment, ttl)| {
        let link = links.get(*segment)?;
        Some(Mark { link: *segment, tokens: link.tokens, ttl: rules.class(Some(load::ttl(ttl))) })
    });
    let mut marks: Vec<Mark> = marks.collect();
    marks.sort_by_key(|it| it.link);
    let surplus = marks.len().saturating_sub(usize::from(rules.breakpoints_max));
    marks.drain(..surplus);
    let times = Times { request_ms: request.t_ms, response_ms: request.response_start_ms };
    cache.divide(&links, &marks, prompt(request), times)
}
