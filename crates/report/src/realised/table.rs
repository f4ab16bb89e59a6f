//! A forecast and what became of it, in words.

use super::{ForecastOutcome, Realised, RealisedKind};
use crate::advise::dollars;
use crate::blocks::{PageBlock, in_markdown, on_terminal};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::markdown::Markdown;
use ctxsim_base::grid::numbers::{counted, interval, listed_code, signed, thousands};

/// Returns it for a terminal.
pub fn table(it: &Realised, width: Option<usize>) -> String {
    on_terminal(&blocks(it), width)
}

pub fn markdown(it: &Realised) -> Markdown {
    in_markdown(&blocks(it))
}

fn blocks(it: &Realised) -> Vec<PageBlock> {
    let set = listed_code(&it.set);
    let mut blocks = vec![PageBlock::Head(format!("{}, {set}: {}", it.agent, answer(it)))];
    if it.sessions > 0 {
        let by = match it.is_by_cost {
            true => "played with the earlier settings, at the rates at which bills were met before",
            false => "by their requests, at the earlier rates of their kinds",
        };
        let ends = it.interval.map_or_else(String::new, |it| format!(" (95% interval {}%)", interval(it)));
        blocks.push(PageBlock::text(format!(
            "{} were billed {}; {by}, they would have been billed {}: {}{ends}. Forecast: {}.",
            counted(usize::try_from(it.sessions).unwrap_or_default(), "later session"),
            dollars(it.billed_usd),
            dollars(it.before_usd),
            signed(it.realised),
            signed(it.forecast)
        )));
        blocks.push(PageBlock::Table(kinds(it)));
    }
    for (reason, n) in &it.left_out {
        blocks.push(PageBlock::text(format!("Left out: {}, because {reason}.", counted(*n, "session"))));
    }
    blocks.extend(it.notes.iter().map(|it| PageBlock::text(it.clone())));
    blocks.push(PageBlock::text(
        "Measured: both sides are recorded bills at the prices of the bundled profiles. Whatever else changed between them (tasks, versions, models of one name) is part of the difference.",
    ));
    blocks
}

fn answer(it: &Realised) -> String {
    match (it.answer, it.more_sessions) {
        (ForecastOutcome::AsForecast, _) => "as forecast".to_owned(),
        (ForecastOutcome::Less, _) => "less than forecast".to_owned(),
        (ForecastOutcome::More, _) => "more than forecast".to_owned(),
        (ForecastOutcome::CannotTell, Some(n)) => {
            format!("cannot be told yet: about {} more sessions", thousands(n))
        }
        (ForecastOutcome::CannotTell, None) => {
            "cannot be told: the earlier sessions vary too much for any number of later ones".to_owned()
        }
    }
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
    let by = if it.is_by_cost { "billed to simulated, before" } else { "per request before" };
    let headings = ["kind of session", "before", "after", by, "after", "Δ", "forecast"];
    Grid::new("", 1, &headings, it.kinds.iter().map(row))
}
