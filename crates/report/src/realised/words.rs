//! A forecast and what became of it in words, on a terminal, in Markdown and on a page.

use super::{ComparedSessions, ForecastOutcome, Realised, RealisedKind};
use crate::advise::format_usd_cents;
use crate::blocks::{Block, blocks_to_markdown, draw_blocks};
use crate::outcomes::OutcomeReport;
use crate::page::{Card, Page, Tone, page_parts};
use crate::prelude::*;
use crate::template;
use ctxsim_base::grid::numbers::listed_code;

/// A change that rounds to less, in percent, is called nothing.
const NOTHING: f64 = 5e-4;

/// Returns it for a terminal.
pub fn terminal_text(realised: &Realised, terminal: impl Into<Terminal>) -> String {
    draw_blocks(&text_blocks(realised), "\n", terminal.into())
}

pub fn markdown(realised: &Realised) -> Markdown {
    blocks_to_markdown(&text_blocks(realised))
}

fn text_blocks(realised: &Realised) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(outcome_sentence(realised))];
    let word = text_if_any(realised.word.len(), |_| format!(", which was “{}”", realised.word));
    let change = format!("The change: {} of {}{word}", listed_code(&realised.set), realised.agent);
    let promised = format!("Forecast for sessions like the earlier ones: {}", signed(realised.promised));
    blocks.push(Block::Text(format!("{change}. {promised}.")));
    blocks.extend((realised.sessions > 0).then(|| Block::Text(billed_vs_unchanged_sentence(realised))));
    if realised.is_by_cost && realised.sessions > 0 && realised.forecast.abs() < NOTHING {
        let nothing = "As simulated, the change does next to nothing in these sessions";
        blocks.push(Block::Text(format!("{nothing}, whatever it does in others.")));
    }
    blocks.extend(realised.compared.iter().map(|it| Block::paragraph(compared_sessions_sentence(it))));
    blocks.extend(left_out_sessions_sentence(realised).map(Block::Text));
    blocks.extend(realised.notes.iter().map(|it| Block::Aside(it.clone())));
    blocks.extend((!realised.kinds.is_empty()).then(|| Block::Table(session_kinds_grid(realised))));
    blocks.push(Block::Aside(how_measured_text(realised)));
    blocks.extend(realised.outcomes.iter().flat_map(OutcomeReport::text_blocks));
    blocks.extend(realised.other_agents.iter().flat_map(text_blocks));
    blocks
}

/// Says in a sentence what became of the forecast.
fn outcome_sentence(realised: &Realised) -> String {
    let answer = answer_sentence(realised);
    match (realised.is_shown, realised.sessions) {
        (true, _) => answer,
        (false, 0) => format!("Nothing shows that anybody made this change. {answer}"),
        (false, _) => format!(
            "Nothing shows that anybody made this change; `--changed YYYY-MM-DD` says since when it is made. Taken as made in all that count: {answer}"
        ),
    }
}

fn answer_sentence(found: &Realised) -> String {
    let ends = found.interval.map_or_else(String::new, |it| format!(" (95% interval {}%)", interval(it)));
    let n = counted(found.sessions as usize, "later session");
    let [realised, forecast] = [found.realised, found.forecast].map(format_more_or_less);
    let was = format!("{n} cost {realised}{ends} than without the change; {forecast} was forecast for them");
    let word = match found.answer {
        ForecastOutcome::AsForecast => "As forecast",
        ForecastOutcome::Less => "Less than forecast",
        ForecastOutcome::More => "More than forecast",
        ForecastOutcome::CannotTell => return undecided_sentence(found),
    };
    format!("{word}: {was}.")
}

/// Says how many more sessions it takes, or that no number would do.
fn undecided_sentence(realised: &Realised) -> String {
    let so_far = match realised.sessions {
        0 => " So far, no later session has the change.".to_owned(),
        n => {
            let ends = realised.interval.map(|it| format!(", 95% interval {}%", interval(it)));
            let n = counted(n as usize, "later session") + &ends.unwrap_or_default();
            format!(" So far: {} in {n}; forecast: {}.", signed(realised.realised), signed(realised.forecast))
        }
    };
    match realised.more_sessions {
        Some(n) => format!("Not yet: about {} more sessions like these would tell.{so_far}", thousands(n)),
        None => {
            let trial = realised.trial_sessions.map_or_else(String::new, |n| {
                let n = thousands(n);
                format!(" A trial by days (`ctxsim advise --trial KEY=VALUE`) would tell after about {n} sessions.")
            });
            format!(
                "These bills cannot show it: the earlier ones vary too much for any number of later sessions to tell the change from chance.{trial}{so_far}"
            )
        }
    }
}

/// Writes a change as more or less.
fn format_more_or_less(change: f64) -> String {
    if change <= 0.0 { format!("{} less", percent(-change)) } else { format!("{} more", percent(change)) }
}

fn billed_vs_unchanged_sentence(realised: &Realised) -> String {
    let how = match (realised.is_by_cost, &realised.compared) {
        (true, None) => {
            "simulated with the earlier settings, and corrected by how far such simulations were off earlier bills"
        }
        (true, Some(_)) => {
            "simulated with the earlier settings, and corrected by the sessions without the change"
        }
        (false, None) => "by their requests and at the earlier rates of their kinds",
        (false, Some(_)) => "by their requests and at the rates of the sessions without the change",
    };
    let [billed, before] = [realised.billed_usd, realised.before_usd].map(format_usd);
    format!("They were billed {billed}. Without the change they would have been billed {before}: {how}.")
}

fn compared_sessions_sentence(compared: &ComparedSessions) -> String {
    let n = counted(compared.sessions as usize, "session");
    let who = if compared.who.is_empty() { String::new() } else { format!(" of {}", listed(&compared.who)) };
    format!(
        "Compared with {n}{who} that went without the change in the same time and cost {} than at the earlier rates.",
        format_more_or_less(compared.change)
    )
}

/// Says how many later sessions do not count, and why; and how many were there before.
fn left_out_sessions_sentence(realised: &Realised) -> Option<String> {
    let [out, all] = realised.left_out_later;
    let reasons = realised.left_out.iter();
    let reasons = reasons.map(|(reason, n)| format!("{}, because {reason}", thousands(*n as u64)));
    let reasons = reasons.listed().join("; ");
    let many = ", more than a fifth, so that the answer is only of the others";
    let many = if realised.leaves_out_many() { many } else { "" };
    let (out, all) = (thousands(out as u64), counted(all, "later session"));
    (!reasons.is_empty()).then(|| format!("Left out: {out} of {all}{many}. {reasons}."))
}

fn how_measured_text(realised: &Realised) -> String {
    let what = match realised.is_by_cost {
        true => {
            "Measured: what their input was billed. Logs do not show outputs whole, nor the requests that compact, so these are as simulated on both sides; what an agent looks up again is in both."
        }
        false => "Measured: recorded bills on both sides.",
    };
    format!(
        "{what} Prices are those of the bundled profiles. Whatever else changed with the setting (tasks, versions, models of one name) is part of the difference."
    )
}

fn session_kinds_grid(realised: &Realised) -> Grid {
    let rate = |it: &RealisedKind, nth: usize| {
        let written =
            |it: [f64; 2]| if realised.is_by_cost { format!("{:.3}", it[nth]) } else { format_usd(it[nth]) };
        or_none(it.rate, written)
    };
    let by = if realised.is_by_cost { "billed of simulated before" } else { "per request before" };
    let columns: [Of<'_, RealisedKind>; 8] = [
        ("kind of session", &|it| it.kind.clone()),
        ("sessions before", &|it| it.sessions[0].to_string()),
        ("after", &|it| it.sessions[1].to_string()),
        ("say nothing", &|it| it.silent.to_string()),
        (by, &|it| rate(it, 0)),
        ("after", &|it| rate(it, 1)),
        ("Δ", &|it| or_none(it.rate, |it| signed(it[1] / it[0] - 1.0))),
        ("forecast", &|it| or_none(it.forecast, signed)),
    ];
    Grid::from_columns("", 1, &realised.kinds, &columns)
}

/// What the answer rests on.
const RESTS_ON: &str = "It is “as forecast” if the whole 95% interval is less than half of the forecast away from it, “less” or “more” if the \
     forecast is outside of it, and else “not yet”.";

/// Returns it as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(realised: &Realised) -> Result<String, template::Error> {
    Page {
        command: "realised",
        title: format!("What became of {}", listed(&realised.set)),
        about: format!("{}, {} later sessions.", realised.agent, realised.sessions),
        answers: std::iter::once(realised).chain(&realised.other_agents).map(answer_card).listed(),
        rests_on: vec![RESTS_ON.to_owned()],
        parts: page_parts(Vec::new(), text_blocks(realised).into_iter().skip(1)),
    }
    .into_html()
}

fn answer_card(realised: &Realised) -> Card {
    let (number, tone) = match realised.answer {
        _ if !realised.is_shown => ("No sign of the change", Tone::Plain),
        ForecastOutcome::AsForecast => ("As forecast", Tone::Better),
        ForecastOutcome::More => ("More than forecast", Tone::Better),
        ForecastOutcome::Less => ("Less than forecast", Tone::Worse),
        ForecastOutcome::CannotTell if realised.more_sessions.is_none() => ("Cannot be told", Tone::Plain),
        ForecastOutcome::CannotTell => ("Not yet", Tone::Plain),
    };
    let saved = (realised.sessions > 0).then(|| {
        let usd = format_usd_cents(realised.before_usd - realised.billed_usd);
        format!("{usd} saved in these sessions ({})", signed(realised.realised))
    });
    Card {
        number: number.to_owned(),
        what: saved.unwrap_or_else(|| "No later session has the change.".to_owned()),
        sure: realised.interval.map(|it| format!("95% interval {}%", interval(it))),
        words: vec![outcome_sentence(realised)],
        tone,
        ..Card::default()
    }
}
