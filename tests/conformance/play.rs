//! Plays a file: listed prompts go straight to a cache, traces go through the engine.

use ctxsim::cache::breakpoints::{BreakpointCache, Times};
use ctxsim::cache::marks::CacheMark;
use ctxsim::cache::{RequestView, cache};
use ctxsim::engine::Simulation;
use ctxsim::input::{self, CacheRules, LayoutSpec, Limits};
use ctxsim::ledger::{CacheUse, Rows};
use ctxsim::projection::chain::Chain;
use serde::Serialize;
use serde_json::Value;

use super::file::{Expected, ExpectedRow, FORMAT, File, Request, Row, Run, Session};
use super::policy::{Play, Ready, declared};
use super::prompts;
use super::rules::{self, BOUNDARIES, BREAKPOINTS, Rule};

/// Where a row's prompts come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Side {
    /// The prompts that the file lists; only the cache is at work.
    Requests,
    /// The file's trace under one of its policies; the engine makes the prompts.
    Timeline,
}

/// Which requests under which rule; a vector of the rule alone has no policy.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place<'a> {
    file: &'a str,
    session: &'a str,
    policy: &'a str,
    side: Side,
    rule: &'a str,
}

/// One row as it is written.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    row: usize,
    #[serde(flatten)]
    cells: &'a Row,
}

/// What came of files.
#[derive(Default)]
pub(super) struct Played {
    /// Every row, one JSON object each.
    pub(super) lines: Vec<String>,
    /// How many series were compared: from requests, from traces.
    pub(super) compared: [usize; 2],
    /// Everything that is not as expected, or that could not be played.
    pub(super) problems: Vec<String>,
    /// Files whose policies are sentences: their traces are left out.
    pub(super) of_sentences: Vec<String>,
}

impl Played {
    /// Plays everything in a file.
    pub(super) fn file(&mut self, name: &str, text: &str) {
        let file: File = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => return self.problems.push(format!("{name}: {error}")),
        };
        let is_of_sentences = file.format != FORMAT && file.policies.values().all(Value::is_string);
        if is_of_sentences {
            self.of_sentences.push(name.to_owned());
        } else if file.format != FORMAT {
            self.problems.push(format!("{name}: the format is `{}`, not `{FORMAT}`", file.format));
        }
        for (policy, object) in file.policies.iter().filter(|_| !is_of_sentences) {
            // One that no run names has to be known, too.
            let problem = Ready::new(object).err();
            self.problems.extend(problem.map(|it| format!("{name}: {policy}: {it}")));
        }
        let silent = Run::default();
        for (session_name, session) in &file.sessions {
            let mut runs: Vec<(&String, &Run)> = session.runs.iter().collect();
            if runs.is_empty() {
                runs = file.policies.keys().map(|it| (it, &silent)).collect();
            }
            for (policy, run) in runs {
                let place =
                    Place { file: name, session: session_name, policy, side: Side::Requests, rule: "" };
                self.run(&file, place, session, run, !is_of_sentences);
            }
        }
        for (vector_name, vector) in &file.cache_vectors {
            let place = Place {
                file: name,
                session: vector_name,
                policy: "",
                side: Side::Requests,
                rule: BREAKPOINTS,
            };
            let expected = Expected { rows: vector.expect.clone(), ..Expected::default() };
            let rows = of_requests(&file, place, &vector.requests, vector.min_tokens, &expected);
            self.take(place, rows, &expected);
        }
    }

    /// Plays a session under a policy; under every rule of the file, where nothing says what to expect.
    fn run(&mut self, file: &File, place: Place<'_>, session: &Session, run: &Run, has_policies: bool) {
        let silent = Expected::default();
        let mut expected: Vec<(&str, &Expected)> =
            run.expected.iter().map(|it| (it.0.as_str(), it.1)).collect();
        if expected.is_empty() {
            expected = rules::names(&file.rules).into_iter().map(|it| (it, &silent)).collect();
        }
        for (rule, expected) in expected {
            let place = Place { rule, ..place };
            if !run.requests.is_empty() {
                self.take(place, of_requests(file, place, &run.requests, None, expected), expected);
            }
            if !session.trace.is_empty() && has_policies {
                let place = Place { side: Side::Timeline, ..place };
                self.take(place, of_trace(file, place, session, expected), expected);
            }
        }
    }

    /// Writes rows and compares them.
    fn take(&mut self, place: Place<'_>, rows: Result<Vec<Row>, String>, expected: &Expected) {
        let Place { file, session, policy, side, rule } = place;
        let mut tell = |it: String| {
            self.problems.push(format!("{file}: {session}, {policy}, {rule}, from {side:?}: {it}"));
        };
        let rows = match rows {
            Ok(rows) => rows,
            Err(problem) => return tell(problem),
        };
        for problem in expected.rows.iter().flat_map(|it| differing(&rows, it)) {
            tell(problem);
        }
        let total: Option<u128> = rows.iter().map(|it| it.picodollars).sum();
        if expected.total_picodollars.is_some() && total != expected.total_picodollars {
            tell(format!("costs {total:?}, expected {:?}", expected.total_picodollars));
        }
        self.compared[side as usize] += usize::from(expected.rows.is_some());
        let lines = rows.iter().enumerate().map(|(row, cells)| Line { place, row, cells });
        self.lines.extend(lines.map(|it| serde_json::to_string(&it).unwrap()));
    }
}

/// Says which rows are not as expected.
fn differing(rows: &[Row], expected: &[ExpectedRow]) -> Vec<String> {
    let mut problems: Vec<String> = rows
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (row, expected))| !expected.is_met_by(row))
        .map(|(n, (row, expected))| format!("row {n} is {row:?}, expected {expected:?}"))
        .collect();
    if rows.len() != expected.len() {
        problems.push(format!("{} rows, expected {}", rows.len(), expected.len()));
    }
    problems
}

/// Returns the price that a file expects rows to be billed at.
fn price<'f>(file: &'f File, expected: &Expected) -> Result<Option<&'f super::file::Price>, String> {
    let Some(name) = &expected.price else { return Ok(None) };
    let found = file.prices_microusd_per_mtok.get(name);
    found.map(Some).ok_or_else(|| format!("there is no price `{name}`"))
}

/// Plays listed prompts.
fn of_requests(
    file: &File,
    place: Place<'_>,
    requests: &[Request],
    min_tokens: Option<u64>,
    expected: &Expected,
) -> Result<Vec<Row>, String> {
    let asked = requests.iter().flat_map(|it| it.marks.iter().map(|it| it.1.as_str()));
    let mut rule = Rule::new(&file.rules, place.rule, asked)?;
    if let (CacheRules::Breakpoints(rules), Some(min_tokens)) = (&mut rule.cache, min_tokens) {
        rules.min_tokens = min_tokens;
    }
    let price = price(file, expected)?;
    let uses = match (&rule.cache, place.rule) {
        (CacheRules::Breakpoints(rules), BREAKPOINTS) => by_marks(&rule, *rules, requests)?,
        _ => by_kinds(&rule, place.rule, requests),
    };
    let rows = requests.iter().zip(uses);
    Ok(rows.map(|(it, usage)| rule.row(price, it.prompt(), &usage, it.output_tokens)).collect())
}

/// Divides listed prompts by their listed marks; the last ones count when there are too many.
fn by_marks(rule: &Rule, rules: input::Breakpoints, requests: &[Request]) -> Result<Vec<CacheUse>, String> {
    let mut cache = BreakpointCache::new(rules);
    let uses = requests.iter().map(|request| {
        let links = prompts::links_at_positions(request)?;
        let marks = request.marks.iter().map(|(segment, ttl)| {
            let link =
                links.get(*segment).ok_or_else(|| format!("there is no segment {segment} to be marked"))?;
            Ok(CacheMark { link: *segment, tokens: link.tokens, ttl: rule.class(ttl) })
        });
        let mut marks: Vec<CacheMark> = marks.collect::<Result<_, String>>()?;
        marks.sort_by_key(|it| it.link);
        let surplus = marks.len().saturating_sub(usize::from(rules.breakpoints_max));
        marks.drain(..surplus);
        let times = Times { request_ms: request.t_ms, response_ms: request.response_start_ms };
        Ok(cache.divide(&links, &marks, request.prompt(), times))
    });
    uses.collect()
}

/// Submits listed prompts to a rule that finds its places by itself.
fn by_kinds(rule: &Rule, name: &str, requests: &[Request]) -> Vec<CacheUse> {
    let is_marked = matches!(&rule.cache, CacheRules::Breakpoints(it) if it.marks_instruction);
    let mut cache = cache(&rule.cache);
    let uses = requests.iter().map(|it| {
        let mut links = prompts::links(it);
        if name == BOUNDARIES && (!is_marked || it.marks.is_empty()) {
            // What stands behind the last mark is no part of the conversation; a prompt without marks asks for nothing.
            links.truncate(it.marks.iter().map(|it| it.0 + 1).max().unwrap_or(0));
        }
        cache.submit(&RequestView {
            response_ms: it.response_start_ms,
            end_ms: it.response_start_ms,
            ..RequestView::new(it.prompt(), &Chain::from_links(links), LayoutSpec::silent(), it.t_ms)
        })
    });
    uses.collect()
}

/// Plays a session's trace under a policy.
fn of_trace(
    file: &File,
    place: Place<'_>,
    session: &Session,
    expected: &Expected,
) -> Result<Vec<Row>, String> {
    let rule = Rule::new(&file.rules, place.rule, std::iter::once(session.ttl.as_str()))?;
    let object = file.policies.get(place.policy).ok_or("there is no policy of this name")?;
    let ready = Ready::new(object)?;
    if let CacheRules::PrefixInterval { steps, .. } = &rule.cache
        && steps.floor(ready.own_system) > 0
    {
        return Err(
            "a summariser could read its own system prompt again, which the engine does not play".to_owned()
        );
    }
    let trace = prompts::trace(place.session, session, rule.class(&session.ttl));
    let mut rows = Rows::default();
    match ready.play {
        Play::Declared(policy) => {
            Simulation::new(&trace, &policy, &Limits::NONE, &rule.cache).run(&mut rows);
        }
        Play::Coded(mut code) => {
            let bare = declared("")?;
            let play = Simulation::new(&trace, &bare, &Limits::NONE, &rule.cache);
            let outcome = play.run_by(&mut code, &mut [&mut rows]);
            outcome.fault.map_or(Ok(()), |it| Err(it.to_string()))?;
        }
    };
    let price = price(file, expected)?;
    Ok(rows.requests.iter().map(|it| rule.row(price, it.prompt, &it.usage, it.output)).collect())
}
