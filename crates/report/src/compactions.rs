//! What followed real compactions: predicted and actual values, one line each, then scores for all,
//! as text and JSON.

use crate::prelude::*;
use ctxsim_base::grid::numbers::fixed_or_none;
use ctxsim_engine::calibrate::compaction::{Aftermath, HiddenFile, ReadOutcome};
use ctxsim_engine::calibrate::scores::ForecastScores;
use ctxsim_engine::calibrate::{Calibration, sum_of_sessions};

/// Ratios of predicted to actual counts within these bounds are good enough for planning.
const GOOD_RATIO: [f64; 2] = [0.8, 1.25];

/// Returns a file that a compaction hid.
fn hidden_file_json(file: &HiddenFile) -> Value {
    group! {
        "path": file.path.to_string(),
        "idle_requests": file.idle_requests,
        "probability": file.chance.after[0],
        "baseline": file.chance.baseline,
        "read_again_at": file.read_at,
        "read_or_searched_at": file.fetched_at,
    }
}

fn compaction_json((session, after): (&str, &Aftermath)) -> Value {
    let [predicted, low, high] = after.predicted(ReadOutcome::Read);
    group! {
        "session": session.to_owned(),
        "step": after.step,
        "prompt_tokens_before": after.prompt_before,
        "predicted_prompt_tokens": after.predicted_prompt,
        "prompt_tokens": after.prompt_after,
        "predicted_read_again": predicted,
        "predicted_read_again_low": low,
        "predicted_read_again_high": high,
        "read_again": after.actual(ReadOutcome::Read),
        "read_or_searched_again": after.actual(ReadOutcome::Fetched),
        "requests_followed": after.followed,
        "scored": after.is_scored(),
        "not_scored_because": explain_not_scored(after),
        "predicted_usd": after.predicted_usd,
        "usd": after.actual_usd,
        "files": after.files.iter().map(hidden_file_json).listed(),
    }
}

/// Returns the compactions of some sessions, with the scores of predictions and of baseline predictions that ignore compactions; nothing
/// if there are none.
pub(super) fn compactions_json(sessions: &[Calibration]) -> Option<Value> {
    let window_requests = all_compactions(sessions).next()?.1.window;
    let all = sum_of_sessions(sessions);
    let fit = |scores: ForecastScores| {
        group! {
            "compactions": scores.events,
            "files": scores.chances,
            "predicted": scores.predicted,
            "actual": scores.actual,
            "ratio": scores.ratio(),
            "poisson_deviance": scores.deviance,
            "brier": scores.brier,
        }
    };
    let scored = |outcome| {
        let [model, baseline] = all.scores(outcome).map(fit);
        let [low, high] = all.predicted_interval(outcome);
        group! { "predicted_low": low, "predicted_high": high, "model": model, "baseline": baseline }
    };
    Some(group! {
        "window_requests": window_requests,
        "compactions": all_compactions(sessions).map(compaction_json).listed(),
        "read_again": scored(ReadOutcome::Read),
        "read_or_searched_again": scored(ReadOutcome::Fetched),
        "trust": describe_reliability(&all.scores(ReadOutcome::Read)[0]),
    })
}

/// Returns every compaction with its session.
fn all_compactions(sessions: &[Calibration]) -> impl Iterator<Item = (&str, &Aftermath)> {
    sessions.iter().flat_map(|session| session.compactions.iter().map(|it| (session.name.as_str(), it)))
}

/// Returns the part as text, or nothing if no session was compacted.
pub(super) fn draw_compactions(sessions: &[Calibration]) -> Option<String> {
    let window = all_compactions(sessions).next()?.1.window;
    let all = sum_of_sessions(sessions);
    let model = &all.scores(ReadOutcome::Read)[0];
    let intro = format!(
        "After compactions\n\nPredicted → actual: the first prompt after each compaction; how many files \
            that the agent had read, and that\nthe compaction hid, are read again within {window} \
            requests; how many are searched by path instead;\nwhat these reads add to the bill.\n"
    );
    let mut parts = vec![intro, draw_compactions_table(sessions)];
    parts.extend(explain_missing_cells(sessions));
    parts.extend((model.events > 0).then(|| draw_scores_table(&all)));
    parts.push(format!("{}\n", describe_reliability(model)));
    Some(parts.join("\n"))
}

/// Returns one line per compaction.
fn draw_compactions_table(sessions: &[Calibration]) -> String {
    let all = all_compactions(sessions).listed();
    let tokens = |it: Option<Tokens>| or_none(it, thousands);
    let or_dash = |is_known: bool, words: String| if is_known { words } else { NONE.to_owned() };
    let scored = |after: &Aftermath, n: usize| or_dash(after.is_scored(), n.to_string());
    let read_again = |(_, after): &(&str, &Aftermath)| {
        let [predicted, ..] = after.predicted(ReadOutcome::Read);
        let read = scored(after, after.actual(ReadOutcome::Read));
        or_dash(!after.files.is_empty(), format!("{predicted:.1} → {read}"))
    };
    let searched = |after: &Aftermath| after.actual(ReadOutcome::Fetched) - after.actual(ReadOutcome::Read);
    let usd = |(_, after): &(&str, &Aftermath)| {
        let both = [after.predicted_usd, after.actual_usd].map(|it| fixed_or_none(it, 3));
        or_dash(!after.files.is_empty(), both.join(" → "))
    };
    let columns: [Of<'_, (&str, &Aftermath)>; 8] = [
        ("session", &|it| it.0.to_owned()),
        ("step", &|it| it.1.step.to_string()),
        ("before", &|it| tokens(it.1.prompt_before)),
        ("prompt tokens", &|it| format!("{} → {}", tokens(it.1.predicted_prompt), tokens(it.1.prompt_after))),
        ("files", &|it| it.1.files.len().to_string()),
        ("read again", &read_again),
        ("searched", &|it| scored(it.1, searched(it.1))),
        ("USD", &usd),
    ];
    draw_whole(&Grid::from_columns("", 1, &all, &columns))
}

/// Returns why some cells hold a dash.
fn explain_missing_cells(sessions: &[Calibration]) -> Option<String> {
    let note = |(session, after): (&str, &Aftermath)| {
        let reasons = [explain_not_scored(after), explain_unknown_numbers(after)];
        let reasons = reasons.into_iter().flatten().listed().join("; ");
        (!reasons.is_empty()).then(|| format!("{session}, step {}: {reasons}\n", after.step))
    };
    let notes: String = all_compactions(sessions).filter_map(note).collect();
    (!notes.is_empty()).then_some(notes)
}

/// Says why a compaction is not scored.
fn explain_not_scored(after: &Aftermath) -> Option<String> {
    if after.files.is_empty() {
        return Some("not scored: no file read by a file-reading tool was hidden".to_owned());
    }
    let (n, all) = (after.followed, after.window);
    (n < all).then(|| {
        format!("not scored: {n} of {all} requests followed before the end of the session or its history")
    })
}

/// Explains why a prompt or a cost is unknown.
fn explain_unknown_numbers(after: &Aftermath) -> Option<String> {
    if after.prompt_before.is_none() || after.prompt_after.is_none() {
        return Some("a request has no recorded bill".to_owned());
    }
    if after.predicted_prompt.is_none() {
        return Some("no policy is known by which its agent compacts".to_owned());
    }
    after.predicted_usd.is_none().then(|| "the profile lacks a price".to_owned())
}

/// Returns the scores of all compactions, each beside the baseline's.
fn draw_scores_table(pooled: &Calibration) -> String {
    let head = ["all scored", "predicted", "actual", "predicted / actual", "Poisson deviance", "Brier score"];
    let row = |name: &str, interval: &str, scores: &ForecastScores| {
        [
            name.to_owned(),
            format!("{:.1}{interval}", scores.predicted),
            scores.actual.to_string(),
            fixed_or_none(scores.ratio(), 2),
            format!("{:.2}", scores.deviance),
            format!("{:.3}", scores.brier),
        ]
    };
    let mut rows = Vec::new();
    let outcomes = [("read again", ReadOutcome::Read), ("read or searched again", ReadOutcome::Fetched)];
    for (name, outcome) in outcomes {
        let [model, baseline] = pooled.scores(outcome);
        let [low, high] = pooled.predicted_interval(outcome);
        let interval = format!(" ({low:.1}…{high:.1})");
        rows.extend([row(name, &interval, &model), row("  with no effect at all", "", &baseline)]);
    }
    draw_whole(&Grid::new("", 1, &head, rows))
}

/// Explains how reliable the scores are.
fn describe_reliability(model: &ForecastScores) -> String {
    let n = model.events;
    if n == 0 {
        return "No compaction could be scored, so this does not test the model.".to_owned();
    }
    let compactions = if n == 1 { "1 compaction".to_owned() } else { format!("{n} compactions") };
    let (n_files, (low, high)) = (model.chances, model.ratios_by_chance());
    let is_enough = low >= GOOD_RATIO[0] && high.is_some_and(|it| it <= GOOD_RATIO[1]);
    let proves = match (is_enough, n) {
        (true, _) => "can test the total, but not the individual files",
        (false, 1) => "proves nothing",
        (false, _) => "prove nothing",
    };
    let high = high.map_or_else(|| "any number".to_owned(), |it| format!("{it:.2}"));
    format!(
        "{compactions} with {n_files} files {proves}: even if every probability is right,\nchance alone gives a predicted / \
         actual ratio from {low:.2} to {high} in 95% of cases."
    )
}
