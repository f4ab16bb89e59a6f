//! A calibration as text: requests by class, totals, reasons for differences, and the differing requests.

use super::{BillAsLogged, compactions, unforeseen};
use crate::prelude::*;
use ctxsim_engine::calibrate::{
    BillPair, CLOSE_TOKENS, Calibration, FirstRequests, ReadClass, sum_of_sessions,
};
use ctxsim_timeline::row::Fields;
use std::cmp::Reverse;
/// The most lines that are printed unless more are asked for.
const LINES_MAX: usize = 60;
/// The most differing requests listed in the text; JSON has all.
const LISTED_MAX: usize = 20;
/// The most sessions named in a note.
const NAMED_MAX: usize = 3;
/// The width of notes.
const WIDTH: usize = 100;
/// The classes, best first.
const CLASSES: [ReadClass; 4] = [ReadClass::Exact, ReadClass::Within, ReadClass::Exceeded, ReadClass::Missed];

/// Returns the tokens read and written, predicted and billed.
fn read_and_written_tokens(calibration: &Calibration) -> [[Tokens; 2]; 2] {
    let sum = |tokens: fn(&BillPair) -> Tokens| calibration.pairs.iter().map(tokens).sum();
    [
        [sum(|it| it.predicted.read), sum(|pair| pair.billed.cache_read)],
        [sum(predicted_write_tokens), sum(|pair| pair.billed.cache_write)],
    ]
}

fn predicted_write_tokens(pair: &BillPair) -> Tokens {
    pair.predicted.write[0] + pair.predicted.write[1]
}

/// Returns the numbers of one session, or of all.
fn calibration_json(calibration: &Calibration) -> Value {
    let [exact, within, exceeded, missed] = CLASSES.map(|class| calibration.count(class));
    let n = calibration.pairs.len().max(1) as f64;
    let [read, written] = read_and_written_tokens(calibration);
    let [expected, expected_low, expected_high] = unforeseen::input_usd_expected_low_high(calibration);
    let reason = |(class, reason, n): (ReadClass, &'static str, usize)| group! { "class": serialized_name(class), "reason": reason, "requests": n };
    group! {
        "session": calibration.name.clone(),
        "assumed_profile": calibration.assumed_profile.clone(),
        "outcome": calibration.outcome.as_ref().map(|it| group! { "name": it.name.clone(), "value": it.value }),
        "requests": calibration.pairs.len(),
        "exact": exact,
        "within": within,
        "exceeded": exceeded,
        "missed": missed,
        "exact_share": exact as f64 / n,
        "close_share": (exact + within) as f64 / n,
        "token_error": calibration.token_error(),
        "predicted_read_tokens": read[0],
        "billed_read_tokens": read[1],
        "predicted_write_tokens": written[0],
        "billed_write_tokens": written[1],
        "gross_error_usd": calibration.gross_error.usd(),
        "predicted_input_usd": calibration.predicted_cost.usd(),
        "billed_input_usd": calibration.billed_cost.usd(),
        "expected_input_usd": expected,
        "expected_input_usd_low": expected_low,
        "expected_input_usd_high": expected_high,
        "unforeseen": unforeseen::unforeseen_kinds_json(calibration),
        "reasons": calibration.reasons().into_iter().map(reason).listed(),
        "first_requests": (calibration.first.requests > 0).then(|| Value::serialised(&calibration.first)),
    }
}

/// Returns the requests whose cache read differs from the prediction, each with its session.
fn mispredicted_requests(sessions: &[Calibration]) -> impl Iterator<Item = (&Calibration, &BillPair)> {
    let differs = |it: &&BillPair| it.class != ReadClass::Exact;
    sessions.iter().flat_map(move |of| of.pairs.iter().filter(differs).map(move |it| (of, it)))
}

/// Returns sessions under one assumption: together, one by one, and the requests whose cache read differs from the prediction.
fn sessions_json(sessions: &[Calibration]) -> Value {
    group! {
        "all": calibration_json(&sum_of_sessions(sessions)),
        "sessions": sessions.iter().map(calibration_json).listed(),
        "differing": mispredicted_requests(sessions).map(request_json).listed(),
    }
}

fn request_json((session, it): (&Calibration, &BillPair)) -> Value {
    group! {
        "session": session.name.clone(),
        "step": it.step,
        "class": serialized_name(it.class),
        "reason": it.reason,
        "predicted_read_tokens": it.predicted.read,
        "billed_read_tokens": it.billed.cache_read,
    }
}

/// Sessions under each assumption about requests that nobody recorded.
#[derive(Clone, Copy, Debug)]
pub struct Calibrations<'c> {
    pub as_recorded: &'c [Calibration],
    pub with_side_requests: &'c [Calibration],
    pub with_inferred: &'c [Calibration],
    /// What all sessions were billed by their logs.
    pub as_logged: Option<&'c BillAsLogged>,
}

impl Calibrations<'_> {
    /// Returns the report as one JSON document.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut all: Fields = vec![("schema".into(), "ctxsim.calibration/1".into())];
        all.extend(self.as_logged.map(|bill| ("as_logged".into(), Value::serialised(bill))));
        all.push(("as_recorded".into(), sessions_json(self.as_recorded)));
        all.push(("with_side_requests".into(), sessions_json(self.with_side_requests)));
        all.push(("with_inferred_side_requests".into(), sessions_json(self.with_inferred)));
        let followed = compactions::compactions_json(self.as_recorded);
        all.extend(followed.map(|it| ("what_followed_compactions".into(), it)));
        json_text(&Value::Fields(all))
    }

    /// Returns the report as text, at most 100 columns wide except for long reasons: in full if that is asked for or has few lines.
    pub fn to_text(&self, is_detailed: bool) -> String {
        let mut head = describe_assumed_profiles(self.as_recorded);
        let billed = self.as_logged.map(BillAsLogged::describe).into_iter();
        for line in billed.chain(outcome_lines(self.as_recorded)) {
            wrap(&line, "", Some(WIDTH), &mut head);
            head.push('\n');
        }
        let text = head.clone() + &self.full_text();
        if is_detailed || text.lines().count() <= LINES_MAX { text } else { head + &self.brief_text() }
    }

    /// Returns every session under each assumption.
    fn full_text(&self) -> String {
        let mut text = format!("As recorded\n\n{}", draw_session_tables(self.as_recorded));
        let usual = "the harness's usual side requests, which are not recorded";
        let inferred = ("inferred side requests", self.with_inferred);
        for (what, sessions) in [(usual, self.with_side_requests), inferred] {
            let is_same = sessions.iter().zip(self.as_recorded).all(|(it, own)| it.pairs == own.pairs);
            let same = is_same.then(|| "The same as recorded.\n".to_owned());
            text += &format!("\nWith {what}\n\n{}", same.unwrap_or_else(|| draw_session_tables(sessions)));
        }
        let parts = [compactions::draw_compactions(self.as_recorded), draw_outcome_table(self.as_recorded)];
        parts.into_iter().flatten().for_each(|part| text += &format!("\n{part}"));
        text
    }

    /// Returns what all sessions come to under each assumption, and what matters of those as recorded.
    fn brief_text(&self) -> String {
        let all = [
            ("as recorded", sum_of_sessions(self.as_recorded)),
            ("with usual side requests", sum_of_sessions(self.with_side_requests)),
            ("with inferred side requests", sum_of_sessions(self.with_inferred)),
        ];
        let (sessions, recorded) = (self.as_recorded, &all[0].1);
        let n_sessions = if sessions.len() > 1 { sessions.len().min(SESSIONS_SHOWN) } else { 0 };
        let mut text = draw_assumptions_table(&all);
        text += &draw_misprediction_reasons(recorded, ROWS_SHOWN - n_sessions);
        text += &text_if(n_sessions > 0, || draw_most_mispredicted(sessions));
        let parts = [unforeseen::unforeseen_table_text(recorded), draw_first_requests_table(recorded)];
        parts.into_iter().flatten().for_each(|part| text += &format!("\n{part}"));
        text + REST
    }
}

/// Says which sessions are judged by the rules of a model that nobody named.
fn describe_assumed_profiles(sessions: &[Calibration]) -> String {
    let assumed = sessions.iter().filter_map(|it| Some((it.assumed_profile.as_ref()?, it.name.as_str())));
    let mut text = String::new();
    for (profile, names) in grouped(assumed) {
        let first = names.iter().take(NAMED_MAX).copied().listed().join(", ");
        let more = if names.len() > NAMED_MAX { ", …" } else { "" };
        let sentence = format!(
            "{} without a model in the log, judged under {profile}, whose cache may be another one ({first}{more}). Name the model \
                with `--profile`.",
            counted(names.len(), "session")
        );
        wrap(&sentence, "Note: ", Some(WIDTH), &mut text);
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// Returns one part of it.
fn draw_session_tables(sessions: &[Calibration]) -> String {
    let all = sum_of_sessions(sessions);
    if all.pairs.is_empty() {
        return "Nothing to compare: only first requests of sessions have a bill of their own.\n".to_owned();
    }
    let parts = [
        Some(draw_class_counts(sessions, &all)),
        Some(draw_totals_table(&all)),
        Some(draw_read_classes_table(&all)),
        unforeseen::unforeseen_table_text(&all),
        draw_first_requests_table(&all),
        draw_differing_requests(sessions),
    ];
    parts.into_iter().flatten().listed().join("\n")
}

/// Returns how many first requests were expected to read what other sessions had left, and how many did.
fn draw_first_requests_table(pooled: &Calibration) -> Option<String> {
    let first = &pooled.first;
    let [low, high] = [first.expected_reads_low, first.expected_reads_high];
    let expected = format!("{:.1} ({low:.1} to {high:.1})", first.expected_reads);
    let row = |what: &str, n: usize, predicted: String, billed: usize| {
        [what.to_owned(), n.to_string(), predicted, billed.to_string()]
    };
    let left = "another session had left tools and system prompt";
    let rows = [
        row(left, first.known, first.known.to_string(), first.known_reads),
        row("no such session is known", first.requests - first.known, expected, first.unknown_reads),
    ];
    let head = ["first requests of sessions", "number", "predicted to read", "read"];
    let FirstRequests { predicted_read_tokens, billed_read_tokens, predicted_usd, billed_usd, .. } = *first;
    let gross = format_gross_error(first.gross_error_usd, billed_usd);
    let sum = format_relative_error(predicted_usd, billed_usd);
    let sums = format!(
        "Their reads: {predicted_read_tokens:.0} tokens predicted, {billed_read_tokens} billed. Their input: {predicted_usd:.4} USD predicted, {billed_usd:.4} billed: off by {gross} by request, and {sum} in sum.\n"
    );
    (first.requests > 0).then(|| draw_whole(&Grid::new("", 1, &head, rows)) + &sums)
}

/// Returns the number of requests in each class, by session.
fn draw_class_counts(sessions: &[Calibration], pooled: &Calibration) -> String {
    let head = ["session", "requests", "exact", "within", "exceeded", "missed", "read error"];
    let row = |calibration: &Calibration| {
        let counts = CLASSES.map(|it| calibration.count(it).to_string());
        let error = format!("{:.2}%", calibration.token_error() * 100.0);
        [&[calibration.name.clone(), calibration.pairs.len().to_string()][..], &counts, &[error]].concat()
    };
    let mut rows = sessions.iter().chain((sessions.len() > 1).then_some(pooled)).map(row).listed();
    let shares = CLASSES.map(|class| format_class_share(pooled, class));
    rows.push([&[String::new(), String::new()][..], &shares, &[String::new()]].concat());
    draw_whole(&Grid::new("", 1, &head, rows))
}

/// Returns the predicted and billed totals.
fn draw_totals_table(calibration: &Calibration) -> String {
    let [read, written] = read_and_written_tokens(calibration);
    let row = |name: &str, [own, bill]: [String; 2], [predicted, billed, gross]: [f64; 3]| {
        let gross = format_gross_error(gross, billed);
        [name.to_owned(), own, bill, gross, format_relative_error(predicted, billed)]
    };
    let tokens = |name: &str, [predicted, billed]: [Tokens; 2], gross: fn(&BillPair) -> Tokens| {
        let shown = [predicted, billed].map(|it| it.to_string());
        row(name, shown, [predicted, billed, calibration.pairs.iter().map(gross).sum()].map(|it| it as f64))
    };
    let Calibration { predicted_cost, billed_cost, gross_error, .. } = calibration;
    let usd = [predicted_cost, billed_cost, gross_error].map(|it| it.usd());
    let rows = [
        tokens("read", read, |it| it.predicted.read.abs_diff(it.billed.cache_read)),
        tokens("written", written, |it| predicted_write_tokens(it).abs_diff(it.billed.cache_write)),
        row("input USD", [usd[0], usd[1]].map(|it| format!("{it:.4}")), usd),
    ];
    draw_whole(&Grid::new("", 1, &["", "predicted", "billed", "by request", "in sum"], rows))
}

/// Returns the share of the requests that are in a class.
fn format_class_share(calibration: &Calibration, class: ReadClass) -> String {
    format!("{:.2}%", calibration.count(class) as f64 / calibration.pairs.len().max(1) as f64 * 100.0)
}

/// Returns the differences of all requests, whatever their sign, in percent of the bill.
fn format_gross_error(gross: f64, billed: f64) -> String {
    if billed > 0.0 { format!("{:.2}%", gross / billed * 100.0) } else { "–".to_owned() }
}

/// Returns the difference between a prediction and a bill, in percent of the bill.
fn format_relative_error(predicted: f64, billed: f64) -> String {
    let change = (billed > 0.0).then(|| predicted / billed - 1.0);
    or_none(change, |it| format!("{:+.2}%", it * 100.0).replace('-', "−"))
}

/// Explains each class and lists the reasons in it.
fn draw_read_classes_table(pooled: &Calibration) -> String {
    let mut rows = Vec::new();
    for class in CLASSES {
        let means = match class {
            ReadClass::Exact => "the predicted number of tokens was read".to_owned(),
            ReadClass::Within => format!("the difference was at most {CLOSE_TOKENS} tokens or 0.5%"),
            ReadClass::Exceeded => "more was read than predicted".to_owned(),
            ReadClass::Missed => "less was read than predicted".to_owned(),
        };
        rows.push([format!("{:>6}", pooled.count(class)), serialized_name(class), means]);
        let reasons = pooled.reasons().into_iter().filter(|it| it.0 == class);
        rows.extend(reasons.map(|(_, reason, n)| [String::new(), String::new(), format!("  {n}: {reason}")]));
    }
    draw_whole(&Grid::new("", 0, &[""; 3], rows).with(CellKind::Text, &[1, 2]))
        + "        A session's first request is not counted: what was in the cache before it is told by other sessions alone.\n"
}

/// Returns which requests are neither exact nor close.
fn draw_differing_requests(sessions: &[Calibration]) -> Option<String> {
    let far = mispredicted_requests(sessions).filter(|it| it.1.class != ReadClass::Within).listed();
    let head = ["session", "step", "class", "predicted read tokens", "billed read tokens"];
    let row = |(session, pair): &(&Calibration, &BillPair)| {
        let (step, class) = (pair.step.to_string(), serialized_name(pair.class));
        let tokens = [pair.predicted.read, pair.billed.cache_read].map(|it| it.to_string());
        [&[session.name.clone(), step, class][..], &tokens].concat()
    };
    let grid = Grid::new("", 1, &head, far.iter().take(LISTED_MAX).map(row)).with(CellKind::Text, &[2]);
    let more =
        text_if_any(far.len().saturating_sub(LISTED_MAX), |n| format!("{n} more: --format json lists all\n"));
    (!far.is_empty()).then(|| draw_whole(&grid) + &more)
}

/// Returns a line for each outcome that logs tell: how many sessions have it.
fn outcome_lines(sessions: &[Calibration]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for outcome in sessions.iter().filter_map(|it| it.outcome.as_ref()) {
        let [sum, n] = by_name.entry(&outcome.name).or_default();
        (*sum, *n) = (*sum + outcome.value, *n + 1.0);
    }
    let said = |(name, [sum, n]): (&str, [f64; 2])| {
        let (name, sessions) = (in_one_line(name), counted(n as usize, "session"));
        format!("By the logs, {name}: {} of {sessions}.", thousands(sum.round() as u64))
    };
    by_name.into_iter().map(said).listed()
}

/// Returns the outcome of each session that has one.
fn draw_outcome_table(sessions: &[Calibration]) -> Option<String> {
    let row = |session: &Calibration| {
        let outcome = session.outcome.as_ref()?;
        Some(vec![session.name.clone(), in_one_line(&outcome.name).into_owned(), outcome.value.to_string()])
    };
    let rows = sessions.iter().filter_map(row).listed();
    let grid = Grid::new("", 1, &["session", "outcome", "value"], rows).with(CellKind::Text, &[1]);
    let title = "What became of the tasks, by the logs";
    (!grid.rows.is_empty()).then(|| format!("{title}\n\n{}\n", draw_whole(&grid)))
}

/// The most reasons and sessions that are shown together.
const ROWS_SHOWN: usize = 12;
/// The most sessions that are shown.
const SESSIONS_SHOWN: usize = 6;

/// What shows the rest.
const REST: &str = "\n`--details` shows every session under each assumption, requests that differ, and what followed compactions; `--format json` has all of them.\n";

/// Returns a row for each assumption.
fn draw_assumptions_table(all: &[(&str, Calibration)]) -> String {
    let columns: [Of<'_, (&str, Calibration)>; 10] = [
        ("all sessions", &|it| it.0.to_owned()),
        ("requests", &|it| thousands(it.1.pairs.len() as u64)),
        ("exact", &|it| format_class_share(&it.1, ReadClass::Exact)),
        ("within", &|it| format_class_share(&it.1, ReadClass::Within)),
        ("exceeded", &|it| format_class_share(&it.1, ReadClass::Exceeded)),
        ("missed", &|it| format_class_share(&it.1, ReadClass::Missed)),
        ("read error", &|it| format!("{:.2}%", it.1.token_error() * 100.0)),
        ("billed USD", &|it| fixed(it.1.billed_cost.usd(), 2)),
        ("by request", &|it| format_gross_error(it.1.gross_error.usd(), it.1.billed_cost.usd())),
        ("in sum", &|it| format_relative_error(it.1.predicted_cost.usd(), it.1.billed_cost.usd())),
    ];
    draw_whole(&Grid::from_columns("", 1, all, &columns))
        + "USD are those of input; by request and in sum: by how much it is predicted otherwise. A session's first request is not counted.\n"
}

/// Returns why predictions differ, the most frequent reasons first.
fn draw_misprediction_reasons(pooled: &Calibration, n_shown: usize) -> String {
    let exact = |it: &(ReadClass, &str, usize)| it.0 != ReadClass::Exact;
    let mut frequent_reasons = pooled.reasons().into_iter().filter(exact).listed();
    frequent_reasons.order_by_key(|it| Reverse(it.2));
    let rows = frequent_reasons
        .iter()
        .take(n_shown)
        .map(|(class, reason, n)| [thousands(*n as u64), serialized_name(*class), (*reason).to_owned()]);
    let grid = Grid::new("", 0, &["requests", "class", "why"], rows).with(CellKind::Text, &[1, 2]);
    let n_more = frequent_reasons.len().saturating_sub(n_shown);
    let more = text_if_any(n_more, |n| format!("… and {}\n", counted(n, "other reason")));
    format!("\n{}{more}", draw_whole(&grid))
}

/// Returns the sessions whose input is predicted furthest from what was billed.
fn draw_most_mispredicted(sessions: &[Calibration]) -> String {
    let mut rows = sessions.iter().listed();
    rows.order_by_key(|it| Reverse(it.gross_error));
    rows.truncate(SESSIONS_SHOWN);

    let columns: [Of<'_, &Calibration>; 8] = [
        ("furthest off, as recorded", &|it| it.name.clone()),
        ("requests", &|it| thousands(it.pairs.len() as u64)),
        ("exact", &|it| thousands(it.count(ReadClass::Exact) as u64)),
        ("within", &|it| thousands(it.count(ReadClass::Within) as u64)),
        ("exceeded", &|it| thousands(it.count(ReadClass::Exceeded) as u64)),
        ("missed", &|it| thousands(it.count(ReadClass::Missed) as u64)),
        ("read error", &|it| format!("{:.2}%", it.token_error() * 100.0)),
        ("USD off by request", &|it| fixed(it.gross_error.usd(), 2)),
    ];
    let n_more = sessions.len() - rows.len();
    let more = text_if_any(n_more, |n| format!("… and {}, which are nearer\n", counted(n, "other session")));
    format!("\n{}{more}", draw_whole(&Grid::from_columns("", 1, &rows, &columns)))
}
