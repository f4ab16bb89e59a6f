//! A forecast and what became of it in words, on a terminal, in Markdown and on a page.

use super::{ComparedSessions, ForecastOutcome, Realised, RealisedKind};
use crate::advise::{cents, dollars};
use crate::blocks::{Block, in_markdown, on_terminal};
use crate::chart::forest::{Forest, ForestLine};
use crate::chart::{PageChart, figure};
use crate::outcomes::OutcomeReport;
use crate::page::{Card, Page, Tone, parts};
use crate::prelude::*;
use crate::template;
use ctxsim_base::grid::numbers::listed_code;

/// A change that rounds to less, in percent, is called nothing.
const NOTHING: f64 = 5e-4;

/// Returns it for a terminal.
pub fn table(it: &Realised, on: impl Into<Terminal>) -> String {
    on_terminal(&blocks(it), "\n", on.into())
}

pub fn markdown(it: &Realised) -> Markdown {
    in_markdown(&blocks(it))
}

fn blocks(it: &Realised) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(sentence(it))];
    let word = if it.word.is_empty() { String::new() } else { format!(", which was “{}”", it.word) };
    let (set, promised) = (listed_code(&it.set), signed(it.promised));
    blocks.push(Block::text(format!(
        "The change: {set} of {}{word}. Forecast for sessions like the earlier ones: {promised}.",
        it.agent
    )));
    if it.sessions > 0 {
        blocks.push(Block::text(sums(it)));
    }
    if it.is_by_cost && it.sessions > 0 && it.forecast.abs() < NOTHING {
        blocks.push(Block::text(
            "As simulated, the change does next to nothing in these sessions, whatever it does in others.",
        ));
    }
    blocks.extend(it.compared.iter().map(|it| Block::text(compared(it))));
    blocks.extend(left_out(it).map(Block::Text));
    blocks.extend(it.notes.iter().map(|it| Block::Aside(it.clone())));
    if !it.kinds.is_empty() {
        blocks.push(Block::Table(kinds(it)));
    }
    blocks.push(Block::Aside(measured(it)));
    blocks.extend(it.outcomes.iter().flat_map(OutcomeReport::blocks));
    blocks
}

/// Says in a sentence what became of the forecast.
fn sentence(it: &Realised) -> String {
    match (it.is_shown, it.sessions) {
        (true, _) => answer(it),
        (false, 0) => format!("Nothing shows that anybody made this change. {}", answer(it)),
        (false, _) => format!(
            "Nothing shows that anybody made this change; `--changed YYYY-MM-DD` says since when it is made. Taken as made in all that count: {}",
            answer(it)
        ),
    }
}

fn answer(it: &Realised) -> String {
    let ends = it.interval.map_or_else(String::new, |it| format!(" (95% interval {}%)", interval(it)));
    let n = sessions(it.sessions, "later session");
    let [realised, forecast] = [it.realised, it.forecast].map(by);
    let was = format!("{n} cost {realised}{ends} than without the change; {forecast} was forecast for them");
    let word = match it.answer {
        ForecastOutcome::AsForecast => "As forecast",
        ForecastOutcome::Less => "Less than forecast",
        ForecastOutcome::More => "More than forecast",
        ForecastOutcome::CannotTell => return not_yet(it),
    };
    format!("{word}: {was}.")
}

/// Says how many more sessions it takes, or that no number would do.
fn not_yet(it: &Realised) -> String {
    let so_far = match it.sessions {
        0 => " So far, no later session has the change.".to_owned(),
        n => {
            let n = sessions(n, "later session");
            let ends = it.interval.map_or_else(String::new, |it| format!(", 95% interval {}%", interval(it)));
            format!(" So far: {} in {n}{ends}; forecast: {}.", signed(it.realised), signed(it.forecast))
        }
    };
    match it.more_sessions {
        Some(n) => format!("Not yet: about {} more sessions like these would tell.{so_far}", thousands(n)),
        None => {
            let trial = it.trial_sessions.map_or_else(String::new, |n| {
                let n = thousands(n);
                format!(" A trial by days (`ctxsim advise --trial KEY=VALUE`) would tell after about {n} sessions.")
            });
            format!(
                "These bills cannot show it: the earlier ones vary too much for any number of later sessions to tell the change from chance.{trial}{so_far}"
            )
        }
    }
}

fn sessions(n: u64, one: &str) -> String {
    counted(usize::try_from(n).unwrap_or_default(), one)
}

/// Writes a change as more or less.
fn by(change: f64) -> String {
    if change <= 0.0 { format!("{} less", percent(-change)) } else { format!("{} more", percent(change)) }
}

fn sums(it: &Realised) -> String {
    let how = match (it.is_by_cost, &it.compared) {
        (true, None) => {
            "simulated with the earlier settings, and corrected by how far such simulations were off earlier bills"
        }
        (true, Some(_)) => {
            "simulated with the earlier settings, and corrected by the sessions without the change"
        }
        (false, None) => "by their requests and at the earlier rates of their kinds",
        (false, Some(_)) => "by their requests and at the rates of the sessions without the change",
    };
    let [billed, before] = [it.billed_usd, it.before_usd].map(dollars);
    format!("They were billed {billed}. Without the change they would have been billed {before}: {how}.")
}

fn compared(it: &ComparedSessions) -> String {
    let n = sessions(it.sessions, "session");
    let who = if it.who.is_empty() { String::new() } else { format!(" of {}", listed(&it.who)) };
    format!(
        "Compared with {n}{who} that went without the change in the same time and cost {} than at the earlier rates.",
        by(it.change)
    )
}

/// Says how many later sessions do not count, and why; and how many were there before.
fn left_out(it: &Realised) -> Option<String> {
    let [out, all] = it.left_out_later;
    let reasons: Vec<String> =
        it.left_out.iter().map(|(reason, n)| format!("{}, because {reason}", thousands(*n as u64))).collect();
    if reasons.is_empty() {
        return None;
    }
    let much =
        if it.is_of_a_part() { ", more than a fifth, so that the answer is only of the others" } else { "" };
    let (out, all, reasons) = (thousands(out as u64), counted(all, "later session"), reasons.join("; "));
    Some(format!("Left out: {out} of {all}{much}. {reasons}."))
}

fn measured(it: &Realised) -> String {
    let what = match it.is_by_cost {
        true => {
            "Measured: what their input was billed. Logs do not show outputs whole, nor the requests that compact, so these are as simulated on both sides; what an agent looks up again is in both."
        }
        false => "Measured: recorded bills on both sides.",
    };
    format!(
        "{what} Prices are those of the bundled profiles. Whatever else changed with the setting (tasks, versions, models of one name) is part of the difference."
    )
}

fn kinds(it: &Realised) -> Grid {
    let rate = |rate: f64| if it.is_by_cost { format!("{rate:.3}") } else { dollars(rate) };
    let row = |it: &RealisedKind| {
        vec![
            it.kind.clone(),
            it.sessions[0].to_string(),
            it.sessions[1].to_string(),
            rate(it.rate[0]),
            rate(it.rate[1]),
            signed(it.rate[1] / it.rate[0] - 1.0),
            signed(it.forecast),
        ]
    };
    let by = if it.is_by_cost { "billed of simulated before" } else { "per request before" };
    let headings = ["kind of session", "sessions before", "after", by, "after", "Δ", "forecast"];
    Grid::new("", 1, &headings, it.kinds.iter().map(row))
}

/// What the answer rests on.
const RESTS_ON: &str = "It is “as forecast” if the whole 95% interval is less than half of the forecast away from it, “less” or “more” if the \
     forecast is outside of it, and else “not yet”.";

/// Returns it as a page.
///
/// # Errors
/// What the template says.
pub fn page(it: &Realised) -> Result<String, template::Error> {
    let page = Page {
        command: "realised",
        title: format!("What became of {}", listed(&it.set)),
        about: format!("{}, {} later sessions.", it.agent, it.sessions),
        answers: vec![card(it)],
        rests_on: vec![RESTS_ON.to_owned()],
        parts: parts(forest(it).into_iter().listed(), blocks(it).into_iter().skip(1)),
    };
    page.write()
}

/// Draws what came about beside what was forecast.
fn forest(it: &Realised) -> Option<PageChart> {
    let line = |name: &str, change: f64, ends: Option<[f64; 2]>, note: String| {
        ForestLine::of_cost(name.to_owned(), change, ends, note)
    };
    let n = counted(usize::try_from(it.sessions).unwrap_or_default(), "later session");
    let forest = Forest {
        title: "What it changed".to_owned(),
        subject: it.agent.clone(),
        base: "the earlier settings".to_owned(),
        of: "change",
        lines: vec![
            line("came about", it.realised, it.interval, format!("in {n}")),
            line("forecast for these sessions", it.forecast, None, String::new()),
            line("forecast for the earlier ones", it.promised, None, String::new()),
        ],
    };
    (it.sessions > 0 && it.realised.is_finite()).then(|| figure("realised", &forest))
}

fn card(it: &Realised) -> Card {
    let (number, tone) = match it.answer {
        _ if !it.is_shown => ("No sign of the change", Tone::Plain),
        ForecastOutcome::AsForecast => ("As forecast", Tone::Better),
        ForecastOutcome::More => ("More than forecast", Tone::Better),
        ForecastOutcome::Less => ("Less than forecast", Tone::Worse),
        ForecastOutcome::CannotTell if it.more_sessions.is_none() => ("Cannot be told", Tone::Plain),
        ForecastOutcome::CannotTell => ("Not yet", Tone::Plain),
    };
    let saved = (it.sessions > 0).then(|| {
        format!("{} saved in these sessions ({})", cents(it.before_usd - it.billed_usd), signed(it.realised))
    });
    Card {
        number: number.to_owned(),
        what: saved.unwrap_or_else(|| "No later session has the change.".to_owned()),
        sure: it.interval.map(|it| format!("95% interval {}%", interval(it))),
        words: vec![sentence(it)],
        tone,
        ..Card::default()
    }
}
