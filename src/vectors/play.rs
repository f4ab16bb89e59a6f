//! Plays vectors: listed prompts go straight to a cache, traces go through the engine.

use super::file::{
    ExpectedRecord, PriceRecord, RequestRecord, RuleRecord, RunRecord, SessionRecord, VectorFile,
};
use super::policy::{Small, own_system, policy};
use super::rules::Rule;
use super::{From, NotPlayed, Row, Series, load};
use crate::cache::breakpoints::{Cache, Times};
use crate::cache::marks::Mark;
use crate::cache::{CacheRule, RequestView};
use crate::engine::play_with_cache;
use crate::input::{Breakpoints, CacheRules, Layout, Limits};
use crate::ledger::{CacheUse, Rows};
use crate::projection::Program;
use crate::projection::chain::Chain;
use crate::projection::num::Known;
use crate::recovery::ReadyRecovery;
use crate::units::Tokens;

/// The rule of vectors that name none.
const BREAKPOINTS: &str = "breakpoints";

/// Plays everything in a file; also says what could not be played.
pub(super) fn play(file: &VectorFile) -> (Vec<Series>, Vec<NotPlayed>) {
    let mut played = Played { file, all: Vec::new(), not_played: Vec::new() };
    for (name, session) in &file.sessions {
        let silent = RunRecord::default();
        let mut runs: Vec<(&String, &RunRecord)> = session.runs.iter().collect();
        if runs.is_empty() {
            runs = file.policies.keys().map(|it| (it, &silent)).collect();
        }
        for (policy, run) in runs {
            played.run(name, session, policy, run);
        }
    }
    for (name, vector) in &file.cache_vectors {
        let mut record = file.rules.get(BREAKPOINTS).cloned().unwrap_or_default();
        record.min_tokens = vector.min_tokens.or(record.min_tokens);
        let expected = ExpectedRecord { rows: vector.expect.clone(), ..ExpectedRecord::default() };
        let place = Place { name, policy: "", rule: BREAKPOINTS };
        played.requests(place, Some(&record), &vector.requests, &expected);
    }
    (played.all, played.not_played)
}

/// Which series of a file.
#[derive(Clone, Copy)]
struct Place<'a> {
    name: &'a str,
    policy: &'a str,
    rule: &'a str,
}

/// What has been played of a file.
struct Played<'a> {
    file: &'a VectorFile,
    all: Vec<Series>,
    not_played: Vec<NotPlayed>,
}

impl Played<'_> {
    /// Plays a session under a policy; under every rule of the file, where nothing says what to expect.
    fn run(&mut self, name: &str, session: &SessionRecord, policy: &str, run: &RunRecord) {
        let silent = ExpectedRecord::default();
        let mut expected: Vec<(&String, &ExpectedRecord)> = run.expected.iter().collect();
        if expected.is_empty() {
            expected = self.file.rules.keys().map(|it| (it, &silent)).collect();
        }
        for (rule, expected) in expected {
            let place = Place { name, policy, rule };
            let record = self.file.rules.get(rule);
            if !run.requests.is_empty() {
                self.requests(place, record, &run.requests, expected);
            }
            if !session.trace.is_empty() {
                let series = self.of_trace(place, record, session, expected);
                self.take(place, From::Trace, series);
            }
        }
    }

    /// Plays listed prompts.
    fn requests(
        &mut self,
        place: Place<'_>,
        record: Option<&RuleRecord>,
        requests: &[RequestRecord],
        expected: &ExpectedRecord,
    ) {
        let asked = requests.iter().flat_map(|it| it.marks.iter().map(|it| it.1.as_str()));
        let series = Rule::new(place.rule, record, asked).and_then(|rule| {
            let price = self.file.prices_microusd_per_mtok.get(&expected.price);
            let rows = divide_all(&rule, requests)?;
            let rows = requests.iter().zip(rows);
            let rows = rows.map(|(it, usage)| row(&rule, price, prompt(it), &usage, it.output_tokens));
            Ok(series(place, From::Requests, rows.collect(), expected))
        });
        self.take(place, From::Requests, series);
    }

    /// Plays a session's trace under a policy.
    fn of_trace(
        &self,
        place: Place<'_>,
        record: Option<&RuleRecord>,
        session: &SessionRecord,
        expected: &ExpectedRecord,
    ) -> Result<Series, String> {
        let ttl = if session.ttl.is_empty() { "5m" } else { session.ttl.as_str() };
        let rule = Rule::new(place.rule, record, std::iter::once(ttl))?;
        let sentence = self.file.policies.get(place.policy).map_or("", String::as_str);
        let small = policy(place.policy, sentence)?;
        if let (CacheRules::PrefixInterval { steps, .. }, Some(system)) =
            (rule.own(), own_system(place.policy, sentence))
            && steps.floor(system) > 0
        {
            return Err(
                "a summariser could read its own system prompt again, which the engine does not play"
                    .to_owned(),
            );
        }
        let trace = load::trace(place.name, session, rule.class(ttl));
        let cache = (rule.own(), rule.cache());
        let (recovery, limits) = (ReadyRecovery::OneShot, Limits::NONE);
        let mut rows = Rows::default();
        match small {
            Small::Stages(policy) => {
                let known = Known { limits, chars_per_token: trace.chars_per_token };
                let mut program = Program::new(&policy, &trace, &known);
                play_with_cache(&trace, &mut program, policy.layout(), recovery, &limits, cache, &mut rows);
            }
            Small::Coded(mut code) => {
                let layout = Layout::default();
                play_with_cache(&trace, &mut code, &layout, recovery, &limits, cache, &mut rows);
            }
        }
        let price = self.file.prices_microusd_per_mtok.get(&expected.price);
        let rows = rows.requests.iter().map(|it| row(&rule, price, it.prompt, &it.usage, it.output));
        Ok(series(place, From::Trace, rows.collect(), expected))
    }

    /// Keeps a series, or the reason why there is none.
    fn take(&mut self, place: Place<'_>, from: From, series: Result<Series, String>) {
        match series {
            Ok(series) => self.all.push(series),
            Err(reason) => {
                let [name, policy, rule] = [place.name, place.policy, place.rule].map(str::to_owned);
                self.not_played.push(NotPlayed { name, policy, rule, from, reason });
            }
        }
    }
}

fn series(place: Place<'_>, from: From, rows: Vec<Row>, expected: &ExpectedRecord) -> Series {
    Series {
        name: place.name.to_owned(),
        policy: place.policy.to_owned(),
        rule: place.rule.to_owned(),
        from,
        rows,
        expected: expected.rows.clone(),
        expected_total: expected.total_picodollars,
    }
}

/// Makes a row with what the request costs.
fn row(rule: &Rule, price: Option<&PriceRecord>, prompt: Tokens, usage: &CacheUse, output: Tokens) -> Row {
    let write = rule.written(usage);
    let picodollars = price.map(|price| {
        let cost = |tokens: Tokens, rate: u64| u128::from(tokens) * u128::from(rate);
        let rate = |name: &String| price.write.get(name).copied().unwrap_or(price.input);
        let written: u128 = write.iter().map(|(name, tokens)| cost(*tokens, rate(name))).sum();
        cost(usage.read, price.read)
            + written
            + cost(usage.uncached, price.input)
            + cost(output, price.output)
    });
    Row { prompt, read: usage.read, write, uncached: usage.uncached, output, picodollars }
}

/// Returns the tokens of a listed prompt.
fn prompt(request: &RequestRecord) -> Tokens {
    request.segments.iter().map(|it| Tokens::from(it.2)).sum()
}

/// Submits listed prompts to a cache.
fn divide_all(rule: &Rule, requests: &[RequestRecord]) -> Result<Vec<CacheUse>, String> {
    if let Rule::Own(CacheRules::Breakpoints(rules), _) = rule {
        let mut cache = Cache::new(*rules);
        return requests.iter().map(|it| divide(&mut cache, rule, rules, it)).collect();
    }
    let mut cache: Box<dyn CacheRule> = rule.cache();
    let layout = Layout { breakpoints: Vec::new(), ..Layout::default() };
    let usages = requests.iter().map(|it| {
        let mut links = load::links(it);
        if let Rule::Boundaries(_) = rule {
            // What stands behind the last mark is no part of the conversation; a prompt without marks asks for nothing.
            links.truncate(it.marks.iter().map(|it| it.0 + 1).max().unwrap_or(0));
        }
        let chain = Chain::of(links);
        cache.submit(&RequestView {
            response_ms: it.response_start_ms,
            end_ms: it.response_start_ms,
            ..RequestView::of(prompt(it), &chain, &layout, it.t_ms)
        })
    });
    Ok(usages.collect())
}

/// Divides a listed prompt by its listed marks; the last ones count when there are too many.
fn divide(
    cache: &mut Cache,
    rule: &Rule,
    rules: &Breakpoints,
    request: &RequestRecord,
) -> Result<CacheUse, String> {
    let links = load::links_at_positions(request)?;
    let marks = request.marks.iter().map(|(segment, ttl)| {
        let link = links.get(*segment).ok_or_else(|| {
            format!("a mark stands behind segment {segment} of {}, counted from 0", links.len())
        })?;
        Ok(Mark { link: *segment, tokens: link.tokens, ttl: rule.class(ttl) })
    });
    let mut marks: Vec<Mark> = marks.collect::<Result<_, String>>()?;
    marks.sort_by_key(|it| it.link);
    let surplus = marks.len().saturating_sub(usize::from(rules.breakpoints_max));
    marks.drain(..surplus);
    let times = Times { request_ms: request.t_ms, response_ms: request.response_start_ms };
    Ok(cache.divide(&links, &marks, prompt(request), times))
}
