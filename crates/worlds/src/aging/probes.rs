//! A user's own agent: the write, read and use numbers of a declared memory that explain what it answered to questions.

use crate::prelude::*;

use super::assumed::{AgingNumbers, Model};
use super::generate;
use super::metric::flag;
use super::play::AgingPlayer;
use super::rules::MemoryRules;
use super::stream::{AgingStream, Ask};
use ctxsim_base::diag::nearest;
use ctxsim_engine::measure::student;
use ctxsim_input::policy::memory::{MemoryPart, SessionMemory};

/// A number of a memory, as the answers show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The part of the memory that it is of: `write`, `read` or `use`.
    pub part: &'static str,
    /// Its name among the declared numbers.
    pub number: &'static str,
    /// The most likely value.
    pub value: f64,
    /// The 95% interval.
    pub ci95: [f64; 2],
    /// By how much answers about one fact are alike: the interval is as wide as if there were so many times fewer answers.
    pub alike: f64,
    /// Whether the answers leave out most of what it can be.
    pub is_known: bool,
}

/// What the answers show of a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedMemory {
    /// How many answers there are.
    pub n_answers: usize,
    /// How many facts they are about.
    pub n_facts: usize,
    /// The numbers.
    pub estimates: Vec<Estimate>,
}

/// What a fit holds fixed: the memory, the sessions, and the numbers that are not fitted.
#[derive(Debug)]
pub struct Memories {
    expected: ExpectedShares,
    /// Which of write and read the memory has a number for.
    has: [bool; 2],
}

impl Memories {
    /// Plays a memory with all values of the numbers that it has, over sessions of a load.
    pub fn new(spec: &SessionMemory, load: &AgingLoad, model: &Arc<Model>, seed: Seed) -> Self {
        let writes = matches!(
            spec.store,
            SessionStore::Summary(_)
                | SessionStore::History(_)
                | SessionStore::Episodes(_)
                | SessionStore::Files
        );
        let is_searched = matches!(spec.store, SessionStore::Entries { .. } | SessionStore::Files);
        let reads = is_searched && matches!(spec.read, SessionRead::Top { .. });
        let has = [writes, reads];
        Self { expected: ExpectedShares::new(spec, load, model, seed, has), has }
    }

    /// Fits write, read and use to answers.
    pub fn fit(&self, probes: &[ProbeQuestion]) -> FittedMemory {
        let likelihood = Likelihood::new(&self.expected, probes);
        let best = likelihood.best(self.has);
        let mut of_facts: BTreeMap<&str, usize> = BTreeMap::new();
        probes.iter().for_each(|it| *of_facts.entry(it.fact.as_str()).or_default() += 1);
        let names = [("use", "utilisation"), ("write", "extract"), ("read", "similarity_margin")];
        let is_fitted = [true, self.has[0], self.has[1]];
        let estimates =
            names.iter().enumerate().filter(|it| is_fitted[it.0]).map(|(axis, (part, number))| {
                let alike = likelihood.alike(&best, axis);
                let ci95 = likelihood.interval(best, axis, self.has, alike);
                let all = UsePoint::RANGES[axis];
                let is_known = ci95[1] - ci95[0] < (all[1] - all[0]) / 2.0;
                Estimate { part, number, value: best.0[axis], ci95, alike, is_known }
            });
        FittedMemory { n_answers: probes.len(), n_facts: of_facts.len(), estimates: estimates.collect() }
    }
}

impl FittedMemory {
    /// Returns the file of a model that answers like this agent. What it writes was fitted under its own prompt, so its adherence is whole.
    pub fn model(&self, about: &str) -> String {
        let line = |it: &Estimate| {
            format!("{} = {:.3}    # 95% from {:.2} to {:.2}\n", it.number, it.value, it.ci95[0], it.ci95[1])
        };
        let (own, others): (Vec<_>, Vec<_>) = self.estimates.iter().partition(|it| it.part == "use");
        let mut text = format!("about = {}\nkind = \"measured\"\n", serde_json::Value::from(about));
        own.iter().for_each(|it| text += &line(it));
        text += "\n[numbers]\n";
        others.iter().for_each(|it| text += &line(it));
        text
    }
}

/// Returns the numbers with those of a point, for a fit or for a test that generates answers.
fn with(numbers: &AgingNumbers, point: &UsePoint) -> AgingNumbers {
    let mut numbers = numbers.clone();
    numbers.fitted.extract = point.0[1];
    numbers.fitted.similarity_margin = point.0[2];
    numbers
}

/// The streams whose means stand for probabilities.
const STREAMS: u64 = 100;
/// The values of the write number that are played, and of the read number; between them lies a straight line.
const STEPS: [usize; 2] = [20, 12];

/// What is held and in view in one session of one lag.
#[derive(Clone, Copy, Debug, Default)]
struct LagCell {
    /// Held by the memory.
    held: f64,
    /// Held, and in what a question brings back.
    seen: f64,
}

/// Probabilities by values of the numbers, session and lag.
#[derive(Debug)]
struct ExpectedShares {
    n_sessions: usize,
    /// How many values each axis has.
    n: [usize; 2],
    /// By value of write, then of read, then by session and lag.
    cells: Vec<Vec<LagCell>>,
}

impl ExpectedShares {
    /// Plays a memory with all values of the numbers that it has.
    fn new(spec: &SessionMemory, load: &AgingLoad, model: &Arc<Model>, seed: Seed, has: [bool; 2]) -> Self {
        // What the model uses is a factor of its own, and known.
        let oracle = spec.oracle.iter().copied().chain([MemoryPart::Use]).collect();
        let spec = SessionMemory { oracle, ..spec.clone() };
        let declared =
            model.answering(&load.numbers).map_or_else(|_| AgingNumbers::declared().clone(), |it| it.1);
        // What is written is fitted as it is under the agent's own prompt, however well it follows instructions.
        let model = &Arc::new(Model { adherence: 1.0, ..Model::clone(model) });
        let n = [0, 1].map(|axis| if has[axis] { STEPS[axis] + 1 } else { 1 });
        let streams = in_order(STREAMS as usize, |nth| {
            generate::stream(load, seed.child("probe stream", nth as u64), &declared)
        });
        let n_sessions: usize = streams.first().map_or(0, |it| it.sessions.len());
        let cells = in_order(n[0] * n[1], |at| {
            let place = [at / n[1], at % n[1]];
            let mut point = UsePoint([1.0, declared.fitted.extract, declared.fitted.similarity_margin]);
            for axis in [0, 1] {
                if has[axis] {
                    let [low, high] = UsePoint::RANGES[axis + 1];
                    point.0[axis + 1] = low + (high - low) * place[axis] as f64 / STEPS[axis] as f64;
                }
            }
            let numbers = with(&declared, &point);
            played(&spec, &streams, &numbers, model, n_sessions)
        });
        Self { n_sessions, n, cells }
    }

    /// Returns the probabilities of a session and a lag at a point; what is said in the session itself is in view.
    fn at(&self, session: u32, lag: u32, point: &UsePoint) -> LagCell {
        if lag == 0 {
            return LagCell { held: 1.0, seen: 1.0 };
        }
        let last = self.n_sessions.saturating_sub(1);
        let session = (session as usize).min(last);
        let place = session * self.n_sessions + (lag as usize).min(session);
        let [write, read] = [0, 1].map(|axis| {
            let [low, high] = UsePoint::RANGES[axis + 1];
            let n = self.n[axis].saturating_sub(1);
            let at = (point.0[axis + 1] - low) / (high - low) * n as f64;
            let below = (at.floor() as usize).min(n.saturating_sub(1));
            (below, (below + 1).min(n), (at - below as f64).clamp(0.0, 1.0))
        });
        let cell = |write: usize, read: usize| self.cells[write * self.n[1] + read][place];
        let over_read = |at: usize| mixed(cell(at, read.0), cell(at, read.1), read.2);
        mixed(over_read(write.0), over_read(write.1), write.2)
    }
}

fn mixed(one: LagCell, other: LagCell, part: f64) -> LagCell {
    let between = |one: f64, other: f64| one + (other - one) * part;
    LagCell { held: between(one.held, other.held), seen: between(one.seen, other.seen) }
}

/// Plays a memory over streams, and counts what is held and in view by session and lag.
fn played(
    spec: &SessionMemory,
    streams: &[AgingStream],
    numbers: &AgingNumbers,
    model: &Arc<Model>,
    n_sessions: usize,
) -> Vec<LagCell> {
    let mut counts = vec![[0.0; 3]; n_sessions * n_sessions];
    for stream in streams {
        let player = AgingPlayer::of_stream(stream, numbers, &[], false);
        let log = player.play(MemoryRules::new(Some(spec), Arc::clone(model)));
        for asked in &log.asked {
            let Ask::Any { facts, is_echoed: false } = &stream.probes[asked.probe].ask else { continue };
            let [fact] = facts.as_slice() else { continue };
            let Some(current) = stream.graph.current(*fact, asked.session) else { continue };
            let said = stream.graph.facts[current as usize].session;
            let place = asked.session as usize * n_sessions + asked.session.saturating_sub(said) as usize;
            let [seen, held, _] = &asked.answers;
            let count = &mut counts[place];
            count[0] += 1.0;
            count[1] += flag(held.is_right);
            count[2] += flag(seen.is_right);
        }
    }
    smoothed(&counts, n_sessions)
}

/// Returns shares by session and lag; a place that no question has takes those of all sessions with its lag.
fn smoothed(counts: &[[f64; 3]], n_sessions: usize) -> Vec<LagCell> {
    let of_lag = |lag: usize| {
        let mut sum = [0.0; 3];
        for session in 0..n_sessions {
            sum.iter_mut().zip(counts[session * n_sessions + lag]).for_each(|(sum, it)| *sum += it);
        }
        sum
    };
    let lags: Vec<[f64; 3]> = (0..n_sessions).map(of_lag).collect();
    let share = |[n, held, seen]: [f64; 3]| LagCell { held: held / n.max(1.0), seen: seen / n.max(1.0) };
    let at = |place: usize| {
        let own = counts[place];
        let mut lag = place % n_sessions.max(1);
        while own[0] == 0.0 && lags[lag][0] == 0.0 && lag > 0 {
            lag -= 1;
        }
        if own[0] > 0.0 { share(own) } else { share(lags[lag]) }
    };
    (0..counts.len()).map(at).collect()
}

/// Values of use, write and read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct UsePoint([f64; 3]);

impl UsePoint {
    /// What each can be.
    const RANGES: [[f64; 2]; 3] = [[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]];
}

/// No answer is impossible: nothing is less likely than this.
const LEAST: f64 = 1e-4;
/// The values of an axis that are looked at.
const GRID: usize = 100;
/// The values that a search begins with.
const COARSE: usize = 10;
/// The rounds of a search, each with half the steps of the one before.
const ROUNDS: usize = 9;
/// What twice the logarithm of the likelihood may fall by, for 95%.
const FALL: f64 = 3.841;
/// The normal quantile at 97.5%.
const NORMAL: f64 = 1.96;
/// The step of a slope, as a share of what a number can be.
const STEP: f64 = 0.05;

/// Answers that share a fact, session and lag, counted.
struct AnswerCount {
    session: u32,
    lag: u32,
    held: Option<bool>,
    is_right: bool,
    n: f64,
}

/// Answers, counted.
struct Likelihood<'a> {
    expected: &'a ExpectedShares,
    /// All of them.
    lines: Vec<AnswerCount>,
    facts: Vec<Vec<AnswerCount>>,
}

impl<'a> Likelihood<'a> {
    /// Counts answers.
    fn new(expected: &'a ExpectedShares, probes: &[ProbeQuestion]) -> Self {
        let mut of_facts: BTreeMap<&str, Vec<&ProbeQuestion>> = BTreeMap::new();
        for probe in probes {
            of_facts.entry(&probe.fact).or_default().push(probe);
        }
        let facts = of_facts.values().map(|it| counted(it.iter().copied())).collect();
        Self { expected, lines: counted(probes.iter()), facts }
    }

    /// Returns the logarithm of the likelihood of some answers.
    fn log(&self, lines: &[AnswerCount], point: &UsePoint) -> f64 {
        let of = |line: &AnswerCount| {
            let cell = self.expected.at(line.session, line.lag, point);
            let uses = point.0[0];
            let p = match line.held {
                None => uses * cell.seen,
                Some(false) => 0.0,
                Some(true) => uses * cell.seen / cell.held.max(LEAST),
            };
            let of_held = match line.held {
                None => 0.0,
                Some(true) => log(cell.held),
                Some(false) => log(1.0 - cell.held),
            };
            line.n * (of_held + if line.is_right { log(p) } else { log(1.0 - p) })
        };
        lines.iter().map(of).sum()
    }

    fn all(&self, point: &UsePoint) -> f64 {
        self.log(&self.lines, point)
    }

    /// Returns the axes that are fitted.
    fn axes([write, read]: [bool; 2]) -> Vec<usize> {
        [(0, true), (1, write), (2, read)].into_iter().filter(|it| it.1).map(|place| place.0).collect()
    }

    /// Returns the most likely values.
    fn best(&self, has: [bool; 2]) -> UsePoint {
        self.climbed(&Self::axes(has), &UsePoint([0.9, 0.7, 1.0]))
    }

    /// Searches some axes: the best of coarse values together, then ever smaller steps along each.
    fn climbed(&self, axes: &[usize], from: &UsePoint) -> UsePoint {
        let mut best = (self.all(from), *from);
        let n = (0..axes.len()).fold(1, |n, _| n * (COARSE + 1));
        for at in 0..n {
            let (mut point, mut rest) = (*from, at);
            for axis in axes {
                let [low, high] = UsePoint::RANGES[*axis];
                point.0[*axis] = low + (high - low) * (rest % (COARSE + 1)) as f64 / COARSE as f64;
                rest /= COARSE + 1;
            }
            best = better(best, (self.all(&point), point));
        }
        self.refined(axes, best.1)
    }

    /// Goes on from a point with ever smaller steps along each axis.
    fn refined(&self, axes: &[usize], from: UsePoint) -> UsePoint {
        let mut best = (self.all(&from), from);
        let mut step = 1.0 / COARSE as f64;
        for _ in 0..ROUNDS {
            for _ in 0..2 {
                for axis in axes {
                    let [low, high] = UsePoint::RANGES[*axis];
                    for side in [-1.0, 1.0] {
                        let mut point = best.1;
                        point.0[*axis] = (point.0[*axis] + side * step * (high - low)).clamp(low, high);
                        best = better(best, (self.all(&point), point));
                    }
                }
            }
            step /= 2.0;
        }
        best.1
    }

    /// Returns by how much answers about one fact are alike where an axis is concerned: the spread of the slopes of facts against
    /// the curvature of all, and more for few facts.
    fn alike(&self, best: &UsePoint, axis: usize) -> f64 {
        let n_facts = self.facts.len() as u64;
        let few = (student(n_facts.saturating_sub(1).max(1)) / NORMAL).powi(2);
        self.alike_along(best, axis).unwrap_or(1.0).max(1.0) * few
    }

    /// Compares the squares of the slopes of facts with those of answers. Slopes reach over a step, because between values that were
    /// played the likelihood is made of straight pieces.
    fn alike_along(&self, best: &UsePoint, axis: usize) -> Option<f64> {
        let [low, high] = UsePoint::RANGES[axis];
        let step = STEP * (high - low);
        let moved = |by: f64| {
            let mut point = *best;
            // Where the best value is at an end, the slopes are taken a step inside.
            point.0[axis] = point.0[axis].clamp(low + step, high - step) + by * step;
            point
        };
        let [below, above] = [-1.0, 1.0].map(moved);
        let slope = |lines: &[AnswerCount]| self.log(lines, &above) - self.log(lines, &below);
        let of_answers = |it: &AnswerCount| slope(std::slice::from_ref(it)).powi(2) / it.n;
        let answers: f64 = self.facts.iter().flatten().map(of_answers).sum();
        let slopes: Vec<f64> = self.facts.iter().map(|it| slope(it)).collect();
        let n = slopes.len() as f64;
        let facts = slopes.iter().map(|it| it.powi(2)).sum::<f64>() * n / (n - 1.0).max(1.0);
        Some(facts / answers).filter(|it| it.is_finite())
    }

    /// Returns the values of an axis under which answers are hardly less likely, whatever the others are.
    fn interval(&self, best: UsePoint, axis: usize, has: [bool; 2], alike: f64) -> [f64; 2] {
        let others: Vec<usize> = Self::axes(has).into_iter().filter(|it| *it != axis).collect();
        let most = self.all(&best);
        let [low, high] = UsePoint::RANGES[axis];
        let step = (high - low) / GRID as f64;
        let reached = |side: f64| {
            let (mut from, mut end) = (best, best.0[axis]);
            loop {
                let next = (end + side * step).clamp(low, high);
                if next == end {
                    return end;
                }
                from.0[axis] = next;
                from = self.refined(&others, from);
                if 2.0 * (most - self.all(&from)) > FALL * alike {
                    return next;
                }
                end = next;
            }
        };
        [reached(-1.0), reached(1.0)]
    }
}

fn log(p: f64) -> f64 {
    p.clamp(LEAST, 1.0 - LEAST).ln()
}

fn better(one: (f64, UsePoint), other: (f64, UsePoint)) -> (f64, UsePoint) {
    if other.0 > one.0 { other } else { one }
}

/// Counts answers that are alike.
fn counted<'p>(probes: impl Iterator<Item = &'p ProbeQuestion>) -> Vec<AnswerCount> {
    let mut counts: BTreeMap<(u32, u32, Option<bool>, bool), f64> = BTreeMap::new();
    for it in probes {
        *counts.entry((it.session, it.lag, it.held, it.is_right)).or_default() += 1.0;
    }
    let line = |((session, lag, held, is_right), n)| AnswerCount { session, lag, held, is_right, n };
    counts.into_iter().map(line).collect()
}

/// A question that an agent was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeQuestion {
    /// The session that asked it, from 0.
    pub session: u32,
    /// What it was about; answers about one fact are not independent.
    pub fact: String,
    /// How many sessions before the fact was said; 0: in the same session.
    pub lag: u32,
    /// Whether the answer was right.
    pub is_right: bool,
    /// Whether the memory held the fact, if somebody looked.
    pub held: Option<bool>,
}

/// The columns, the last of which is optional.
const COLUMNS: [&str; 5] = ["session", "fact", "lag", "right", "held"];
/// The most sessions.
const SESSIONS_MAX: u32 = 2_000;

/// A table while it is read.
struct TableReader<'t> {
    /// By column: its place in a line.
    places: [Option<usize>; COLUMNS.len()],
    separator: char,
    file: &'t str,
    problems: Vec<Diagnostic>,
}

/// Reads a table; columns are separated by commas, or by tabs.
///
/// # Errors
/// Every problem of the table, each with its line and column.
pub fn read(file: &str, text: &str) -> OrProblems<Vec<ProbeQuestion>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|it| !it.1.trim().is_empty());
    let (at, head) = lines.next().unwrap_or((0, ""));
    let separator = if head.contains('\t') { '\t' } else { ',' };
    let mut reader = TableReader { places: [None; COLUMNS.len()], separator, file, problems: Vec::new() };
    reader.head(at, head);
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let mut probes = Vec::new();
    for (at, line) in lines {
        probes.extend(reader.probe(at, line));
    }
    if probes.is_empty() && reader.problems.is_empty() {
        reader.report(
            (at, 0),
            Code("probes-empty"),
            "the table has no answers",
            "write one line for each question",
        );
    }
    if reader.problems.is_empty() { Ok(probes) } else { Err(reader.problems) }
}

impl TableReader<'_> {
    /// Reads the names of the columns.
    fn head(&mut self, at: usize, line: &str) {
        for (nth, cell) in line.split(self.separator).enumerate() {
            let name = clean(cell).to_lowercase();
            match COLUMNS.iter().position(|it| *it == name) {
                Some(column) if self.places[column].is_none() => self.places[column] = Some(nth),
                Some(_) => {
                    let message = format!("two columns are called `{name}`");
                    self.report((at, nth), Code("probes-columns"), message, "keep one of them");
                }
                None => {
                    let near = nearest(&name, COLUMNS.iter().copied());
                    let help = near.map_or_else(
                        || format!("remove it; the columns are `{}`", COLUMNS.join("`, `")),
                        |it| format!("did you mean `{it}`?"),
                    );
                    self.report((at, nth), Code("probes-columns"), format!("unknown column `{name}`"), &help);
                }
            }
        }
        let required = COLUMNS.iter().zip(self.places).take(COLUMNS.len() - 1);
        let missing: Vec<&str> = required.filter(|it| it.1.is_none()).map(|column| *column.0).collect();
        if !missing.is_empty() {
            let message = format!("the columns `{}` are missing", missing.join("`, `"));
            let help = "begin with a line `session,fact,lag,right`, or `session,fact,lag,right,held`";
            self.report((at, 0), Code("probes-columns"), message, help);
        }
    }

    /// Reads a line, or reports every problem of it.
    fn probe(&mut self, at: usize, line: &str) -> Option<ProbeQuestion> {
        let cells: Vec<&str> = line.split(self.separator).map(clean).collect();
        let n_known = self.problems.len();
        let session = self.count((at, 0), &cells);
        let fact = self.cell((at, 1), &cells).map(str::to_owned);
        let lag = self.count((at, 2), &cells);
        let is_right = self.flag((at, 3), &cells).flatten();
        let held = self.flag((at, 4), &cells).unwrap_or_default();
        if fact.as_deref() == Some("") {
            self.value((at, 1), "the fact has no name", "name each fact");
        }
        if is_right.is_none() && self.problems.len() == n_known {
            self.value((at, 3), "the answer is not judged", "write `yes` or `no`");
        }
        if let (Some(session), Some(lag)) = (session, lag)
            && lag > session
        {
            let message = format!("the lag {lag} reaches before the first session");
            let help = "count sessions from 0, and the lag back from the session that asks";
            self.value((at, 2), message, help);
        }
        if self.problems.len() > n_known {
            return None;
        }
        Some(ProbeQuestion { session: session?, fact: fact?, lag: lag?, is_right: is_right?, held })
    }

    fn cell<'c>(&mut self, (at, column): (usize, usize), cells: &[&'c str]) -> Option<&'c str> {
        let place = self.places[column]?;
        let cell = cells.get(place).copied();
        if cell.is_none() && COLUMNS[column] != "held" {
            let message = format!("the line has no `{}`", COLUMNS[column]);
            self.report((at, 0), Code("probes-value"), message, "give every line all columns");
        }
        cell
    }

    fn count(&mut self, place: (usize, usize), cells: &[&str]) -> Option<u32> {
        let cell = self.cell(place, cells)?;
        let number = cell.parse().ok().filter(|it| *it < SESSIONS_MAX);
        if number.is_none() {
            let message = format!("`{cell}` is not a number of sessions");
            let help = format!("write a whole number from 0 to {}", SESSIONS_MAX - 1);
            self.value(place, message, &help);
        }
        number
    }

    /// Reads yes or no; nothing of an empty cell.
    fn flag(&mut self, place: (usize, usize), cells: &[&str]) -> Option<Option<bool>> {
        let cell = self.cell(place, cells)?;
        match cell.to_lowercase().as_str() {
            "yes" | "true" | "1" | "right" => Some(Some(true)),
            "no" | "false" | "0" | "wrong" => Some(Some(false)),
            "" => Some(None),
            _ => {
                let message = format!("`{cell}` is neither yes nor no");
                self.value(place, message, "write `yes` or `no`");
                None
            }
        }
    }

    /// Reports a value in one of the columns.
    fn value(&mut self, (line, column): (usize, usize), message: impl Into<String>, help: &str) {
        self.report((line, self.places[column].unwrap_or_default()), Code("probes-value"), message, help);
    }

    fn report(&mut self, (line, column): (usize, usize), code: Code, message: impl Into<String>, help: &str) {
        let mut problem = Diagnostic::at(code, "", message).help(help);
        self.file.clone_into(&mut problem.place.file);
        problem.place.line_column = Some((line + 1, column + 1));
        self.problems.push(problem);
    }
}

/// Returns a cell without blanks and quotes around it.
fn clean(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_in_any_order_of_its_columns() {
        let found = read("p.csv", "fact,right,lag,session\nbudget,yes,2,5\n\"city\",0,0,5\n").unwrap();

        assert_eq!(
            found[0],
            ProbeQuestion { session: 5, fact: "budget".into(), lag: 2, is_right: true, held: None }
        );
        assert_eq!((found[1].fact.as_str(), found[1].is_right), ("city", false));
        let held =
            read("p.tsv", "session\tfact\tlag\tright\theld\n3\ta\t1\tno\tyes\n3\tb\t1\tno\t\n").unwrap();
        assert_eq!((held[0].held, held[1].held), (Some(true), None));
    }

    #[test]
    fn every_problem_of_a_table_is_told_with_its_line() {
        let told = |text: &str| -> Vec<(usize, String)> {
            let found = read("p.csv", text).unwrap_err();
            found.into_iter().map(|it| (it.place.line_column.unwrap().0, it.message)).collect()
        };

        assert_eq!(told("").len(), 2);
        assert_eq!(told("session,fact,lag,rigth\n")[0].1, "unknown column `rigth`");
        let lines = told("session,fact,lag,right\n1,a,2,yes\nx,b,0,maybe\n1,c,0\n1,,0,yes\n");
        assert_eq!(lines.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3, 3, 4, 5]);
        assert_eq!(told("session,fact,lag,right\n")[0].1, "the table has no answers");
    }
}
