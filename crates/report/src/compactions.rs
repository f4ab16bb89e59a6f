//! What followed real compactions: predicted and actual values, one line each, then scores for all,
//! as text and JSON.

use crate::prelude::*;
use ctxsim_base::grid::numbers::fixed_or_none;
use ctxsim_engine::calibrate::compaction::{Aftermath, HiddenFile, ReadOutcome};
use ctxsim_engine::calibrate::scores::ForecastScores;
use ctxsim_engine::calibrate::{Calibration, sum_of_sessions};

/// Ratios of predicted to actual counts within these bounds are good enough for planning.
const GOOD_RATIO: [f64; 2] = [0.8, 1.25];

/// Returns how well predictions fit.
fn fit(it: &ForecastScores) -> Value {
    group! {
        "compactions": it.events,
        "files": it.chances,
        "predicted": it.predicted,
        "actual": it.actual,
        "ratio": it.ratio(),
        "poisson_deviance": it.deviance,
        "brier": it.brier,
    }
}

/// Returns a file that a compaction hid.
fn file(it: &HiddenFile) -> Value {
    group! {
        "path": it.path.to_string(),
        "idle_requests": it.idle_requests,
        "probability": it.chance.after[0],
        "baseline": it.chance.baseline,
        "read_again_at": it.read_at,
        "read_or_searched_at": it.fetched_at,
    }
}

fn compaction((session, it): (&str, &Aftermath)) -> Value {
    let [predicted, low, high] = it.predicted(ReadOutcome::Read);
    group! {
        "session": session.to_owned(),
        "step": it.step,
        "prompt_tokens_before": it.prompt_before,
        "predicted_prompt_tokens": it.predicted_prompt,
        "prompt_tokens": it.prompt_after,
        "predicted_read_again": predicted,
        "predicted_read_again_low": low,
        "predicted_read_again_high": high,
        "read_again": it.actual(ReadOutcome::Read),
        "read_or_searched_again": it.actual(ReadOutcome::Fetched),
        "requests_followed": it.followed,
        "scored": it.is_scored(),
        "not_scored_because": why_not_scored(it),
        "predicted_usd": it.predicted_usd,
        "usd": it.actual_usd,
        "files": it.files.iter().map(file).listed(),
    }
}

/// Returns the compactions of some sessions, with the scores of predictions and of baseline predictions that ignore compactions; nothing
/// if there are none.
pub(super) fn document(sessions: &[Calibration]) -> Option<Value> {
    let window_requests = each(sessions).next()?.1.window;
    let all = sum_of_sessions(sessions);
    let of = |outcome| {
        let [model, baseline] = all.scores(outcome).map(|it| fit(&it));
        let [low, high] = all.predicted_interval(outcome);
        group! { "predicted_low": low, "predicted_high": high, "model": model, "baseline": baseline }
    };
    Some(group! {
        "window_requests": window_requests,
        "compactions": each(sessions).map(compaction).listed(),
        "read_again": of(ReadOutcome::Read),
        "read_or_searched_again": of(ReadOutcome::Fetched),
        "trust": trust(&all.scores(ReadOutcome::Read)[0]),
    })
}

/// Returns every compaction with its session.
fn each(sessions: &[Calibration]) -> impl Iterator<Item = (&str, &Aftermath)> {
    sessions.iter().flat_map(|session| session.compactions.iter().map(|it| (session.name.as_str(), it)))
}

/// Returns the part as text, or nothing if no session was compacted.
pub(super) fn table(sessions: &[Calibration]) -> Option<String> {
    let window = each(sessions).next()?.1.window;
    let all = sum_of_sessions(sessions);
    let model = &all.scores(ReadOutcome::Read)[0];
    let intro = format!(
        "After compactions\n\nPredicted → actual: the first prompt after each compaction; how many files \
            that the agent had read, and that\nthe compaction hid, are read again within {window} \
            requests; how many are searched by path instead;\nwhat these reads add to the bill.\n"
    );
    let mut parts = vec![intro, lines(sessions)];
    parts.extend(notes(sessions));
    if model.events > 0 {
        parts.push(scores(&all));
    }
    parts.push(format!("{}\n", trust(model)));
    Some(parts.join("\n"))
}

/// Returns one line per compaction.
fn lines(sessions: &[Calibration]) -> String {
    let head = ["session", "step", "before", "prompt tokens", "files", "read again", "searched", "USD"];
    let tokens = |it: Option<Tokens>| or_none(it, thousands);
    let row = |(session, it): (&str, &Aftermath)| {
        let read_again = match (it.files.is_empty(), it.is_scored()) {
            (true, _) => NONE.to_owned(),
            (false, true) => {
                format!("{:.1} → {}", it.predicted(ReadOutcome::Read)[0], it.actual(ReadOutcome::Read))
            }
            (false, false) => format!("{:.1} → {NONE}", it.predicted(ReadOutcome::Read)[0]),
        };
        let searched = it.actual(ReadOutcome::Fetched) - it.actual(ReadOutcome::Read);
        let usd = match it.files.is_empty() {
            true => NONE.to_owned(),
            false => format!("{} → {}", fixed_or_none(it.predicted_usd, 3), fixed_or_none(it.actual_usd, 3)),
        };
        [
            session.to_owned(),
            it.step.to_string(),
            tokens(it.prompt_before),
            format!("{} → {}", tokens(it.predicted_prompt), tokens(it.prompt_after)),
            it.files.len().to_string(),
            read_again,
            if it.is_scored() { searched.to_string() } else { NONE.to_owned() },
            usd,
        ]
    };
    draw_whole(&Grid::new("", 1, &head, each(sessions).map(row)))
}

/// Returns why some cells hold a dash.
fn notes(sessions: &[Calibration]) -> Option<String> {
    let note = |(session, it): (&str, &Aftermath)| {
        let reasons: Vec<String> = why_not_scored(it).into_iter().chain(why_unknown(it)).listed();
        (!reasons.is_empty()).then(|| format!("{session}, step {}: {}\n", it.step, reasons.join("; ")))
    };
    let notes: String = each(sessions).filter_map(note).collect();
    (!notes.is_empty()).then_some(notes)
}

/// Says why a compaction is not scored.
fn why_not_scored(it: &Aftermath) -> Option<String> {
    if it.files.is_empty() {
        return Some("not scored: no file read by a file-reading tool was hidden".to_owned());
    }
    (it.followed < it.window).then(|| {
        format!(
            "not scored: {} of {} requests followed before the end of the session or its history",
            it.followed, it.window
        )
    })
}

/// Explains why a prompt or a cost is unknown.
fn why_unknown(it: &Aftermath) -> Option<String> {
    if it.prompt_before.is_none() || it.prompt_after.is_none() {
        return Some("a request has no recorded bill".to_owned());
    }
    if it.predicted_prompt.is_none() {
        return Some("no policy is known by which its agent compacts".to_owned());
    }
    it.predicted_usd.is_none().then(|| "the profile lacks a price".to_owned())
}

/// Returns the scores of all compactions, each beside the baseline's.
fn scores(all: &Calibration) -> String {
    let head = ["all scored", "predicted", "actual", "predicted / actual", "Poisson deviance", "Brier score"];
    let row = |name: &str, interval: &str, it: &ForecastScores| {
        [
            name.to_owned(),
            format!("{:.1}{interval}", it.predicted),
            it.actual.to_string(),
            fixed_or_none(it.ratio(), 2),
            format!("{:.2}", it.deviance),
            format!("{:.3}", it.brier),
        ]
    };
    let mut rows = Vec::new();
    for (name, outcome) in
        [("read again", ReadOutcome::Read), ("read or searched again", ReadOutcome::Fetched)]
    {
        let [model, baseline] = all.scores(outcome);
        let [low, high] = all.predicted_interval(outcome);
        let interval = format!(" ({low:.1}…{high:.1})");
        rows.extend([row(name, &interval, &model), row("  with no effect at all", "", &baseline)]);
    }
    draw_whole(&Grid::new("", 1, &head, rows))
}

/// Explains how reliable the scores are.
fn trust(model: &ForecastScores) -> String {
    let n = model.events;
    let compactions = if n == 1 { "1 compaction".to_owned() } else { format!("{n} compactions") };
    if n == 0 {
        return "No compaction could be scored, so this does not test the model.".to_owned();
    }
    let (low, high) = model.ratios_by_chance();
    let is_enough = low >= GOOD_RATIO[0] && high.is_some_and(|it| it <= GOOD_RATIO[1]);
    let proves = match (is_enough, n) {
        (true, _) => "can test the total, but not the individual files",
        (false, 1) => "proves nothing",
        (false, _) => "prove nothing",
    };
    let high = high.map_or_else(|| "any number".to_owned(), |it| format!("{it:.2}"));
    format!(
        "{compactions} with {} files {proves}: even if every probability is right,\nchance alone gives a predicted / \
         actual ratio from {low:.2} to {high} in 95% of cases.",
        model.chances
    )
}
