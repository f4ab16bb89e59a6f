//! A calibration as text: requests by class, totals, reasons for differences, and the differing requests.

use std::fmt::Write as _;

use serde::Serialize;

use super::compactions;
use crate::calibrate::{CLOSE_TOKENS, Calibration, Class, Pair, together};
use crate::grid::terminal::whole;
use crate::grid::{Grid, Kind};
use crate::quantity::Tokens;
use crate::timeline::StepIx;

/// The most differing requests listed in the text; JSON has all.
const LISTED_MAX: usize = 20;
/// The classes, best first.
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

/// A reason and its frequency.
#[derive(Debug, Serialize)]
struct ReasonJson {
    class: Class,
    reason: &'static str,
    requests: usize,
}

/// A request whose cache read differs from the prediction.
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

/// Returns the requests whose cache read differs from the prediction.
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
        #[serde(skip_serializing_if = "Option::is_none")]
        what_followed_compactions: Option<compactions::Part<'a>>,
    }
    let all = [as_recorded, with_side_requests, with_inferred].map(together);
    let document = Document {
        schema: "ctxsim.calibration/1",
        as_recorded: Part::new(&all[0], as_recorded),
        with_side_requests: Part::new(&all[1], with_side_requests),
        with_inferred_side_requests: Part::new(&all[2], with_inferred),
        what_followed_compactions: compactions::Part::new(as_recorded),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Returns the report as text, at most 100 columns wide except for long reasons.
#[must_use]
pub fn tables(
    as_recorded: &[Calibration],
    with_side_requests: &[Calibration],
    with_inferred: &[Calibration],
) -> String {
    let mut text = format!("As recorded\n\n{}", table(as_recorded));
    let more = [
        ("the harness's usual side requests, which are not recorded", with_side_requests),
        ("inferred side requests", with_inferred),
    ];
    for (what, sessions) in more {
        let is_same = sessions.iter().zip(as_recorded).all(|(it, recorded)| it.pairs == recorded.pairs);
        let told = if is_same { "The same as recorded.\n".to_owned() } else { table(sessions) };
        let _ = write!(text, "\nWith {what}\n\n{told}");
    }
    if let Some(followed) = compactions::table(as_recorded) {
        let _ = write!(text, "\n{followed}");
    }
    text
}

/// Returns one part of it.
fn table(sessions: &[Calibration]) -> String {
    let all = together(sessions);
    if all.pairs.is_empty() {
        return "Nothing to compare: only first requests of sessions have a bill.\n".to_owned();
    }
    let parts = [counts(sessions, &all), sums(&Summary::new(&all)), reasons(&all)];
    parts.into_iter().chain(listed(sessions)).collect::<Vec<_>>().join("\n")
}

/// Returns the number of requests in each class, by session.
fn counts(sessions: &[Calibration], all: &Calibration) -> String {
    let head = ["session", "requests", "exact", "within", "exceeded", "missed", "read error"];
    let mut rows = Vec::new();
    let several = (sessions.len() > 1).then_some(all);
    for calibration in sessions.iter().chain(several) {
        let [exact, within, exceeded, missed] = CLASSES.map(|it| calibration.count(it).to_string());
        let error = format!("{:.2}%", calibration.token_error() * 100.0);
        let n = calibration.pairs.len().to_string();
        rows.push([calibration.name.clone(), n, exact, within, exceeded, missed, error]);
    }
    let n = all.pairs.len().max(1) as f64;
    let share = |class| format!("{:.2}%", all.count(class) as f64 / n * 100.0);
    let [exact, within, exceeded, missed] = CLASSES.map(share);
    let none = String::new;
    rows.push([none(), none(), exact, within, exceeded, missed, none()]);
    whole(&Grid::new("", 1, &head, rows))
}

/// Returns the predicted and billed totals.
fn sums(it: &Summary<'_>) -> String {
    let tokens = |name: &str, predicted: Tokens, billed: Tokens| {
        let difference = difference(predicted as f64, billed as f64);
        [name.to_owned(), predicted.to_string(), billed.to_string(), difference]
    };
    let (predicted, billed) = (it.predicted_input_usd, it.billed_input_usd);
    let rows = [
        tokens("read", it.predicted_read_tokens, it.billed_read_tokens),
        tokens("written", it.predicted_write_tokens, it.billed_write_tokens),
        [
            "input USD".to_owned(),
            format!("{predicted:.4}"),
            format!("{billed:.4}"),
            difference(predicted, billed),
        ],
    ];
    whole(&Grid::new("", 1, &["", "predicted", "billed", "difference"], rows))
}

/// Returns the difference between a prediction and a bill, in percent of the bill.
fn difference(predicted: f64, billed: f64) -> String {
    if billed <= 0.0 {
        return "–".to_owned();
    }
    format!("{:+.2}%", (predicted / billed - 1.0) * 100.0).replace('-', "−")
}

/// Explains each class and lists the reasons in it.
fn reasons(all: &Calibration) -> String {
    let mut rows = Vec::new();
    for class in CLASSES {
        let means = match class {
            Class::Exact => "the predicted number of tokens was read".to_owned(),
            Class::Within => format!("the difference was at most {CLOSE_TOKENS} tokens or 0.5%"),
            Class::Exceeded => "more was read than predicted".to_owned(),
            Class::Missed => "less was read than predicted".to_owned(),
        };
        rows.push([format!("{:>6}", all.count(class)), class.name().to_owned(), means]);
        for (_, reason, n) in all.reasons().into_iter().filter(|it| it.0 == class) {
            rows.push([String::new(), String::new(), format!("  {n}: {reason}")]);
        }
    }
    whole(&Grid::new("", 0, &[""; 3], rows).with(Kind::Text, &[1, 2]))
        + "        A session's first request is not counted, because earlier cache contents are unknown.\n"
}

/// Returns which requests are neither exact nor close.
fn listed(sessions: &[Calibration]) -> Option<String> {
    let far: Vec<_> = differing(sessions).filter(|it| it.class != Class::Within).collect();
    let head = ["session", "step", "class", "predicted read tokens", "billed read tokens"];
    let row = |it: &DifferingJson<'_>| {
        [
            it.session.to_owned(),
            it.step.to_string(),
            it.class.name().to_owned(),
            it.predicted_read_tokens.to_string(),
            it.billed_read_tokens.to_string(),
        ]
    };
    let grid = Grid::new("", 1, &head, far.iter().take(LISTED_MAX).map(row));
    let mut text = whole(&grid.with(Kind::Text, &[2]));
    if far.len() > LISTED_MAX {
        let _ = writeln!(text, "{} more: --format json lists all", far.len() - LISTED_MAX);
    }
    (!far.is_empty()).then_some(text)
}
