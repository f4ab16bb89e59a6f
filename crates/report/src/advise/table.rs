//! Advice in words: totals first, then what to change, what that does, and what else was tried.

use super::{Advice, AgentAdvice, Candidate, From, Lifetimes};
use crate::Skipped;
use crate::blocks::{PageBlock, in_markdown, on_terminal};
use crate::tune::table::{HELD_OUT_BLOCKS, IN_TURN_BLOCKS, block_grid};
use crate::tune::{PROJECTS_MIN, SplitBy, TunePart};
use ctxsim_base::grid::markdown::Markdown;
use ctxsim_base::grid::numbers::{
    counted, interval, listed, listed_code, or_none, percent, signed, thousands,
};
use ctxsim_base::grid::{CellKind, Grid};
use ctxsim_base::list::Listed as _;

/// The most candidates that are shown by default.
const SHOWN: usize = 10;

/// Returns advice for a terminal.
pub fn table(it: &Advice, is_detailed: bool, width: Option<usize>) -> String {
    on_terminal(&blocks(it, is_detailed), width)
}

/// Returns advice as Markdown.
pub fn markdown(it: &Advice, is_detailed: bool) -> Markdown {
    in_markdown(&blocks(it, is_detailed))
}

pub(super) fn blocks(advice: &Advice, is_detailed: bool) -> Vec<PageBlock> {
    let mut blocks: Vec<PageBlock> = advice.agents.iter().flat_map(|it| of_agent(it, is_detailed)).listed();
    for (format, n) in &advice.unknown {
        blocks.push(PageBlock::text(format!(
            "Not advised on: {} of the format {format}, which several agents write. Name the agent with `--agent`.",
            counted(*n, "session")
        )));
    }
    if !advice.skipped.is_empty() {
        let n = thousands(advice.skipped.len() as u64);
        blocks.push(PageBlock::text(format!("{n} skipped: {}.", Skipped::counted(&advice.skipped))));
    }
    blocks.push(PageBlock::text(
        "Simulated: no model ran and no answer was judged; what recovery costs is an expected value; prices are those of the bundled profiles.",
    ));
    blocks
}

fn of_agent(it: &AgentAdvice, is_detailed: bool) -> Vec<PageBlock> {
    let mut blocks = vec![PageBlock::Head(head(it))];
    blocks.extend(it.as_logged.iter().map(|it| PageBlock::text(it.words())));
    blocks.push(PageBlock::text(cost(it)));
    blocks.extend(it.notes.iter().map(|it| PageBlock::text(it.clone())));
    match &it.advised {
        Some(best) => blocks.extend(advised(it, best)),
        None => blocks.extend(kept(it)),
    }
    blocks.push(PageBlock::Table(in_force(it)));
    if !it.lifetimes.is_empty() {
        blocks.push(PageBlock::Table(lifetimes(it)));
        blocks.extend(it.lifetimes.iter().map(|it| PageBlock::text(of_lifetimes(it))));
    }
    if !it.tried.is_empty() {
        blocks.push(PageBlock::Table(tried(it, is_detailed)));
        let more = it.tried.chunk_by(is_alike).skip(SHOWN).map(<[_]>::len).sum::<usize>();
        if more > 0 && !is_detailed {
            blocks.push(PageBlock::text(format!("… and {more} more: see --details")));
        }
    }
    if is_detailed && let Some(best) = it.advised.as_ref().or(it.rejected.as_ref()) {
        let of = [(HELD_OUT_BLOCKS, &best.held_out_blocks), (IN_TURN_BLOCKS, &best.by_project_blocks)];
        blocks.extend(
            of.iter()
                .filter(|it| !it.1.is_empty())
                .map(|(title, blocks)| PageBlock::Table(block_grid(title, blocks))),
        );
    }
    for wish in &it.wishes {
        blocks.push(PageBlock::text(of_wish(it, wish)));
    }
    if is_detailed {
        blocks.extend(
            it.left_out
                .iter()
                .map(|it| PageBlock::text(format!("Not tried: {}, because {}.", it.key, it.reason))),
        );
    } else if !it.left_out.is_empty() {
        let keys: Vec<String> = it.left_out.iter().map(|it| it.key.clone()).listed();
        blocks.push(PageBlock::text(format!("Not tried (--details says why): {}.", listed(&keys))));
    }
    blocks
}

fn head(it: &AgentAdvice) -> String {
    let versions = match &it.versions {
        Some([first, last]) if first == last => format!(" {first}"),
        Some([first, last]) => format!(" {first} to {last}"),
        None => String::new(),
    };
    let agents =
        if it.sub_agents > 0 { format!(", {} of them sub-agents'", it.sub_agents) } else { String::new() };
    let projects =
        if it.projects > 0 { format!(" in {}", counted(it.projects, "project")) } else { String::new() };
    format!(
        "{}{versions}: {}{agents}, {} requests{projects}",
        it.agent,
        counted(it.sessions, "session"),
        thousands(it.requests)
    )
}

/// Says what there is, and what it costs.
pub(super) fn words(it: &AgentAdvice) -> String {
    format!("{}. {}", head(it), cost(it))
}

/// Returns what was tried; candidates that come to the same are one group.
pub(super) fn groups(it: &AgentAdvice) -> Vec<&[Candidate]> {
    it.tried.chunk_by(is_alike).listed()
}

fn cost(it: &AgentAdvice) -> String {
    let kept = it
        .evidence_kept
        .map_or_else(String::new, |it| format!("; prompts hold {} of the needed evidence", percent(it)));
    match it.month.usd {
        Some(usd) => format!("What you have costs {} a month ({}){kept}.", dollars(usd), it.month.words()),
        None => format!("What you have costs an unknown amount, because a model has no price{kept}."),
    }
}

/// Says what to change, and what that does.
fn advised(it: &AgentAdvice, best: &Candidate) -> Vec<PageBlock> {
    let set = listed_code(&best.set);
    let saved = or_none(best.saved_month, dollars);
    let mut blocks =
        vec![PageBlock::text(format!("Change {set}: it saves {saved} a month ({}).", changes(best)))];
    blocks.extend(held_out(it, best));
    blocks.push(PageBlock::text(forgets(it, best)));
    blocks.extend(hangs_on(best).map(PageBlock::Text));
    if !best.effects.is_empty() {
        blocks.push(PageBlock::text(format!("It also does this: {}", best.effects.join(" "))));
    }
    for paste in &it.paste {
        let project =
            paste.project.as_ref().map_or_else(String::new, |it| format!(" (of one project: {it})"));
        blocks.push(PageBlock::text(format!("Put this into {}{project}:", paste.at)));
        blocks.push(PageBlock::Code(paste.text.clone()));
    }
    blocks.extend(it.heed.iter().map(|it| PageBlock::text(it.clone())));
    blocks
}

/// Says to keep what there is, and what was rejected.
fn kept(it: &AgentAdvice) -> Vec<PageBlock> {
    let reason = it.reason.clone().unwrap_or_default();
    let mut blocks = vec![PageBlock::text(format!("Keep what you have: {reason}."))];
    if let Some(best) = &it.rejected {
        blocks.push(PageBlock::text(format!(
            "The best that was rejected is {}: {}. {}",
            listed_code(&best.set),
            changes(best),
            forgets(it, best)
        )));
        blocks.extend(held_out(it, best));
        blocks.extend(hangs_on(best).map(PageBlock::Text));
    }
    blocks
}

/// Says by how much costs change.
fn changes(it: &Candidate) -> String {
    let change = or_none(it.change, signed);
    it.interval.map_or_else(|| change.clone(), |it| format!("{change}, 95% interval {}%", interval(it)))
}

/// Says how far it held on sessions that it was not chosen on, and what its limits rest on.
fn held_out(it: &AgentAdvice, best: &Candidate) -> Vec<PageBlock> {
    let out = |parts: &[TunePart]| {
        parts.get(1).map(|it| format!("{}: {}", counted(it.sessions, "session"), it.words()))
    };
    let time = match out(&best.by_time) {
        Some(words) if it.split == Some(SplitBy::Project) => {
            format!("Chosen on some projects; on those held out, {words}.")
        }
        Some(words) => format!("Chosen on the older half of the sessions; on the newer half, {words}."),
        None => "There are too few sessions to hold any out.".to_owned(),
    };
    let project = match (out(&best.by_project), it.projects) {
        (Some(words), _) => format!(" With each project held out in turn, {words}."),
        (None, 0) => " No projects are known, so none is held out.".to_owned(),
        (None, n) => {
            format!(" With {} (fewer than {PROJECTS_MIN}), none is held out in turn.", counted(n, "project"))
        }
    };
    let limits = best.by_time.get(1).and_then(TunePart::limits_words);
    let limits = limits.map(|it| format!("95% limits: {it}."));
    let cautions = (!best.cautions.is_empty())
        .then(|| format!("Of the sessions held out: {}.", best.cautions.join("; ")));
    [time + &project].into_iter().chain(limits).chain(cautions).map(PageBlock::text).listed()
}

/// Says what prompts no longer hold.
fn forgets(it: &AgentAdvice, best: &Candidate) -> String {
    match (best.evidence_kept, it.evidence_kept) {
        (Some(kept), Some(base)) => {
            let low = best.evidence_low.map_or_else(String::new, |it| format!(" (at least {})", percent(it)));
            format!(
                "Its prompts still hold {}{low} of the needed evidence, those of what you have {}.",
                percent(kept),
                percent(base)
            )
        }
        _ => "What it forgets is unknown: nothing says which evidence is needed.".to_owned(),
    }
}

/// Says what the saving hangs on.
fn hangs_on(best: &Candidate) -> Option<String> {
    let bound = best.bound.filter(|it| (it[0] - it[1]).abs() > 5e-4);
    let bound = bound.map(|it| {
        format!("Were all that is assumed wrong in one direction, the change would be {}%.", interval(it))
    });
    let factor = best
        .recovery_factor
        .map(|it| format!("The saving is gone if recovery costs {it:.1} times what is assumed."));
    let all: Vec<String> = bound.into_iter().chain(factor).listed();
    (!all.is_empty()).then(|| all.join(" "))
}

fn in_force(it: &AgentAdvice) -> Grid {
    let says = |it: &super::InForce| match (it.from, &it.variable) {
        (From::Log, _) => "the logs".to_owned(),
        (From::File, Some(variable)) => format!("the file given, by {variable}"),
        (From::File, None) => "the file given".to_owned(),
        (From::Default, _) => "the agent's default".to_owned(),
    };
    let row = |it: &super::InForce| vec![it.key.clone(), it.about.clone(), it.value.clone(), says(it)];
    let headings = ["setting", "decides", "in force", "says"];
    Grid::new("In force", 1, &headings, it.in_force.iter().map(row)).with(CellKind::Text, &[1, 2, 3])
}

fn lifetimes(it: &AgentAdvice) -> Grid {
    let row = |it: &Lifetimes| {
        vec![
            it.lane.to_owned(),
            it.sessions.to_string(),
            or_none(it.usd_month[0], dollars),
            or_none(it.usd_month[1], dollars),
            or_none(it.change, signed),
            or_none(it.interval, interval),
            percent(it.share),
            or_none(it.break_even, percent),
        ]
    };
    let headings = [
        "lane",
        "sessions",
        "5 min a month",
        "1 h a month",
        "5 min → 1 h",
        "95% interval",
        "written again",
        "break-even",
    ];
    Grid::new("5 minutes or 1 hour", 1, &headings, it.lifetimes.iter().map(row))
}

/// Says which lifetime is cheaper.
fn of_lifetimes(it: &Lifetimes) -> String {
    let lane = it.lane;
    let (cheaper, is_sure) = match (it.change, it.interval) {
        (Some(change), ends) => {
            let is_sure = ends.is_some_and(|it| it[0] * it[1] > 0.0);
            (if change < 0.0 { "an hour is" } else { "five minutes are" }, is_sure)
        }
        _ => return format!("{lane}: what lifetimes cost is unknown, because a model has no price."),
    };
    let sure = if is_sure { "" } else { ", but other sessions may show the opposite" };
    format!(
        "{lane}: {cheaper} cheaper{sure}. Of {} tokens written with five minutes, {} are written again after pauses of up to an hour.",
        thousands(it.written_tokens),
        thousands(it.rewritten_tokens)
    )
}

fn tried(it: &AgentAdvice, is_detailed: bool) -> Grid {
    let groups = groups(it);
    let shown = if is_detailed { groups.len() } else { SHOWN };
    let row = |group: &&[Candidate]| {
        let it = &group[0];
        let alike = match group.len() - 1 {
            0 => String::new(),
            n => format!(" and {n} alike"),
        };
        vec![
            it.set.join(", ") + &alike,
            or_none(it.usd_month, dollars),
            or_none(it.change, signed),
            or_none(it.interval, interval),
            or_none(it.bound, interval),
            or_none(it.evidence_kept, percent),
        ]
    };
    let headings = ["tried", "USD a month", "Δ cost", "95% interval", "bound", "kept"];
    Grid::new("Tried", 1, &headings, groups.iter().take(shown).map(row))
}

/// Returns whether two candidates come to the same.
fn is_alike(one: &Candidate, other: &Candidate) -> bool {
    one.change == other.change && one.evidence_kept == other.evidence_kept
}

fn of_wish(it: &AgentAdvice, wish: &Candidate) -> String {
    let kept =
        wish.evidence_kept.map_or_else(String::new, |it| format!(", {} of the evidence kept", percent(it)));
    format!(
        "What only the maintainers of {} could change: {} ({}{kept}). {}.",
        it.agent,
        wish.set.join(", "),
        changes(wish),
        wish.why_not.as_deref().map(upper).unwrap_or_default()
    )
}

/// Begins a sentence.
fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

/// Returns an amount of US dollars; small ones with more digits.
pub(crate) fn dollars(usd: f64) -> String {
    let sign = if usd < 0.0 { "−" } else { "" };
    let decimals = if usd.abs() >= 1.0 || usd == 0.0 { 2 } else { 4 };
    format!("{sign}${}", ctxsim_base::grid::numbers::fixed(usd.abs(), decimals))
}
