//! A calibration as text: how many requests of each class, the sums, why they differ, and which do.

use std::fmt::Write as _;

use serde::Serialize;

use super::{CLOSE_TOKENS, Calibration, Class, Pair, together};
use crate::quantity::Tokens;
use crate::timeline::StepIx;

/// So many requests that differ are listed for people; programs get all.
const LISTED_MAX: usize = 20;
/// The classes, the best first.
const CLASSES: [Class; 4] = [Class::Exact, Class::Within, Class::Exceeded, Class::Missed];

impl Class {
    /// Returns its name.
    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Within => "within",
            Self::Exceeded => "exceeded",
            Self::Missed => "missed",
        }
    }
}

/// Numbers of one session, or of all.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    session: &'a str,
    requests: usize,
    exact: usize,
    within: usize,
    exceeded: usize,
    missed: usize,
    exact_share: f64,
    close_share: f64,
    token_error: f64,
    predicted_read_tokens: Tokens,
    billed_read_tokens: Tokens,
    predicted_write_tokens: Tokens,
    billed_write_tokens: Tokens,
    predicted_input_usd: f64,
    billed_input_usd: f64,
    reasons: Vec<ReasonJson>,
}

/// A reason and how often it stands.
#[derive(Debug, Serialize)]
struct ReasonJson {
    class: Class,
    reason: &'static str,
    requests: usize,
}

/// A request of which something else was read than predicted.
#[derive(Debug, Serialize)]
struct DifferingJson<'a> {
    session: &'a str,
    step: StepIx,
    class: Class,
    reason: &'static str,
    predicted_read_tokens: Tokens,
    billed_read_tokens: Tokens,
}

impl<'a> Summary<'a> {
    fn new(calibration: &'a Calibration) -> Self {
        let of = |class| calibration.count(class);
        let n = calibration.pairs.len().max(1) as f64;
        let sum = |tokens: fn(&Pair) -> Tokens| calibration.pairs.iter().map(tokens).sum();
        let reasons = calibration.reasons().into_iter();
        Self {
            session: &calibration.name,
            requests: calibration.pairs.len(),
            exact: of(Class::Exact),
            within: of(Class::Within),
            exceeded: of(Class::Exceeded),
            missed: of(Class::Missed),
            exact_share: of(Class::Exact) as f64 / n,
            close_share: (of(Class::Exact) + of(Class::Within)) as f64 / n,
            token_error: calibration.token_error(),
            predicted_read_tokens: sum(|it| it.predicted.read),
            billed_read_tokens: sum(|it| it.billed.cache_read),
            predicted_write_tokens: sum(|it| it.predicted.write[0] + it.predicted.write[1]),
            billed_write_tokens: sum(|it| it.billed.cache_write),
            predicted_input_usd: calibration.predicted_cost.usd(),
            billed_input_usd: calibration.billed_cost.usd(),
            reasons: reasons
                .map(|(class, reason, requests)| ReasonJson { class, reason, requests })
                .collect(),
        }
    }
}

/// Sessions under one assumption, together and one by one.
#[derive(Debug, Serialize)]
struct Part<'a> {
    all: Summary<'a>,
    sessions: Vec<Summary<'a>>,
    differing: Vec<DifferingJson<'a>>,
}

impl<'a> Part<'a> {
    fn new(all: &'a Calibration, sessions: &'a [Calibration]) -> Self {
        Self {
            all: Summary::new(all),
            sessions: sessions.iter().map(Summary::new).collect(),
            differing: differing(sessions).collect(),
        }
    }
}

/// Returns the requests of which something else was read than predicted.
fn differing(sessions: &[Calibration]) -> impl Iterator<Item = DifferingJson<'_>> {
    sessions.iter().flat_map(|session| {
        session.pairs.iter().filter(|it| it.class != Class::Exact).map(|it| DifferingJson {
            session: &session.name,
            step: it.step,
            class: it.class,
            reason: it.reason,
            predicted_read_tokens: it.predicted.read,
            billed_read_tokens: it.billed.cache_read,
        })
    })
}

/// Returns the report as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json(
    as_recorded: &[Calibration],
    with_side_requests: &[Calibration],
    with_inferred: &[Calibration],
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        as_recorded: Part<'a>,
        with_side_requests: Part<'a>,
        with_inferred_side_requests: Part<'a>,
    }
    let all = [as_recorded, with_side_requests, with_inferred].map(together);
    let document = Document {
        schema: "ctxsim.calibration/1",
        as_recorded: Part::new(&all[0], as_recorded),
        with_side_requests: Part::new(&all[1], with_side_requests),
        with_inferred_side_requests: Part::new(&all[2], with_inferred),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Returns the report as text, at most a hundred columns wide but for long reasons.
#[must_use]
pub fn tables(
    as_recorded: &[Calibration],
    with_side_requests: &[Calibration],
    with_inferred: &[Calibration],
) -> String {
    let mut text = format!("As recorded\n\n{}", table(as_recorded));
    let more = [
        ("the side requests that are usual for the harness and that no record has", with_side_requests),
        ("those of them that the bills of the session's own earlier turns let expect", with_inferred),
    ];
    for (what, sessions) in more {
        let is_same = sessions.iter().zip(as_recorded).all(|(it, recorded)| it.pairs == recorded.pairs);
        let told = if is_same { "The same as recorded.\n".to_owned() } else { table(sessions) };
        let _ = write!(text, "\nWith {what}\n\n{told}");
    }
    text
}

/// Returns one part of it.
fn table(sessions: &[Calibration]) -> String {
    let all = together(sessions);
    if all.pairs.is_empty() {
        return "Nothing to compare: no request after a session's first has a bill.\n".to_owned();
    }
    let mut text = String::new();
    counts(sessions, &all, &mut text);
    sums(&Summary::new(&all), &mut text);
    reasons(&all, &mut text);
    listed(sessions, &mut text);
    text
}

/// Writes how many requests of each session are of each class.
fn counts(sessions: &[Calibration], all: &Calibration, text: &mut String) {
    let widest = sessions.iter().map(|it| it.name.chars().count()).max().unwrap_or(0).max(7);
    let _ = writeln!(
        text,
        "{:widest$}  {:>8}  {:>7}  {:>7}  {:>8}  {:>7}  {:>10}",
        "session", "requests", "exact", "within", "exceeded", "missed", "read error"
    );
    let several = (sessions.len() > 1).then_some(all);
    for calibration in sessions.iter().chain(several) {
        let [exact, within, exceeded, missed] = CLASSES.map(|it| calibration.count(it));
        let _ = writeln!(
            text,
            "{:widest$}  {:>8}  {exact:>7}  {within:>7}  {exceeded:>8}  {missed:>7}  {:>9.2}%",
            calibration.name,
            calibration.pairs.len(),
            calibration.token_error() * 100.0
        );
    }
    let n = all.pairs.len().max(1) as f64;
    let share = |class| format!("{:.2}%", all.count(class) as f64 / n * 100.0);
    let [exact, within, exceeded, missed] = CLASSES.map(share);
    let _ = writeln!(text, "{:widest$}  {:>8}  {exact:>7}  {within:>7}  {exceeded:>8}  {missed:>7}", "", "");
}

/// Writes what was predicted and billed in all.
fn sums(it: &Summary<'_>, text: &mut String) {
    let _ = writeln!(text, "\n{:9}  {:>14}  {:>14}  {:>12}", "", "predicted", "billed", "difference");
    let tokens = [
        ("read", it.predicted_read_tokens, it.billed_read_tokens),
        ("written", it.predicted_write_tokens, it.billed_write_tokens),
    ];
    for (name, predicted, billed) in tokens {
        let difference = difference(predicted as f64, billed as f64);
        let _ = writeln!(text, "{name:9}  {predicted:>14}  {billed:>14}  {difference:>12}");
    }
    let (predicted, billed) = (it.predicted_input_usd, it.billed_input_usd);
    let difference = difference(predicted, billed);
    let _ = writeln!(text, "{:9}  {predicted:>14.4}  {billed:>14.4}  {difference:>12}", "input USD");
}

/// Returns how far a prediction is from a bill, in percent of the bill.
fn difference(predicted: f64, billed: f64) -> String {
    if billed <= 0.0 {
        return "–".to_owned();
    }
    format!("{:+.2}%", (predicted / billed - 1.0) * 100.0).replace('-', "−")
}

/// Writes what each class means and why its requests are in it.
fn reasons(all: &Calibration, text: &mut String) {
    text.push('\n');
    for class in CLASSES {
        let means = match class {
            Class::Exact => "as much was read as predicted, to the token".to_owned(),
            Class::Within => format!("no more than {CLOSE_TOKENS} tokens or 0.5% apart"),
            Class::Exceeded => "more was read than predicted".to_owned(),
            Class::Missed => "less was read than predicted".to_owned(),
        };
        let _ = writeln!(text, "{:>6}  {:8}  {means}", all.count(class), class.name());
        for (_, reason, n) in all.reasons().into_iter().filter(|it| it.0 == class) {
            let _ = writeln!(text, "{:>6}  {:8}    {n}: {reason}", "", "");
        }
    }
    text.push_str(
        "        The first request of a session is not counted: nobody knows what was cached before it.\n",
    );
}

/// Writes which requests are neither exact nor close.
fn listed(sessions: &[Calibration], text: &mut String) {
    let far: Vec<_> = differing(sessions).filter(|it| it.class != Class::Within).collect();
    if far.is_empty() {
        return;
    }
    let widest = far.iter().map(|it| it.session.chars().count()).max().unwrap_or(0).max(7);
    let _ = writeln!(
        text,
        "\n{:widest$}  {:>5}  {:8}  {:>14}  {:>11}",
        "session", "step", "class", "read predicted", "read billed"
    );
    for it in far.iter().take(LISTED_MAX) {
        let _ = writeln!(
            text,
            "{:widest$}  {:>5}  {:8}  {:>14}  {:>11}",
            it.session,
            it.step,
            it.class.name(),
            it.predicted_read_tokens,
            it.billed_read_tokens
        );
    }
    if far.len() > LISTED_MAX {
        let _ = writeln!(text, "{} more: --format json lists all", far.len() - LISTED_MAX);
    }
}
