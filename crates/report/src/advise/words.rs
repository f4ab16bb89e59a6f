//! Advice in words, on a terminal, in Markdown and on a page: what to change, what that does, and what else was tried.

use super::saved::TrialDay;
use super::whom::{self, group_savings_grid};
use super::*;
use crate::account::AccountUse;
use crate::blocks::{Block, blocks_to_markdown, draw_blocks};
use crate::chart::forest::{ForestLine, ForestPlot};
use crate::chart::{PageChart, draw_chart};
use crate::lever::{CeilingSessions, KnownBy, Lever, Word};
use crate::page::{Card, Page, Tone, evidence_kept_text, page_parts};
use crate::prelude::*;
use crate::{BillAsLogged, SkippedFile, template};
use ctxsim_base::grid::tint::ROWS_LEAST;

/// The most settings, notes, and reasons of words, unless details are asked for.
const LEVERS: usize = 12;
const NOTES: usize = 3;
/// What shows every setting.
pub(crate) const ADVISE_DETAILS: &str = "ctxsim advise --details";
const WHYS: usize = 3;
/// The most other models that are named.
const CEILINGS: usize = 4;

/// Returns advice for a terminal.
pub fn draw_advice(advice: &Advice, is_detailed: bool, terminal: impl Into<Terminal>) -> String {
    let terminal = terminal.into();
    let draw = |terminal, n| draw_blocks(&advice_blocks(advice, is_detailed, n), "\n", terminal);
    if is_detailed { draw(terminal, usize::MAX) } else { terminal.fitted(ROWS_LEAST..=LEVERS, draw) }
}

/// Returns advice as Markdown.
pub fn advice_markdown(advice: &Advice, is_detailed: bool) -> Markdown {
    blocks_to_markdown(&advice_blocks(advice, is_detailed, if is_detailed { usize::MAX } else { LEVERS }))
}

/// Lays advice out, with so many settings of each agent; a reason stands for each fourth of them.
fn advice_blocks(advice: &Advice, is_detailed: bool, n_levers: usize) -> Vec<Block> {
    let agents = advice.agents.iter();
    let mut blocks = agents.flat_map(|it| agent_advice_blocks(it, is_detailed, n_levers)).listed();
    for (format, n) in &advice.unknown {
        blocks.push(Block::paragraph(format!(
            "No settings are known for {} of the format {format}, which several agents write. Name the agent with `--agent`.",
            counted(*n, "session")
        )));
    }
    blocks.extend(advice.by_bills.iter().flat_map(billed_lever_blocks));
    let skipped = SkippedFile::count_with_reasons(&advice.skipped);
    blocks.extend(skipped.map(|it| Block::paragraph(format!("{it}."))));
    blocks.push(Block::Aside(
        "Simulated: no model ran and no answer was judged; what recovery costs is an expected value; prices are those of the bundled profiles.".to_owned(),
    ));
    blocks
}

fn agent_advice_blocks(advice: &AgentAdvice, is_detailed: bool, n_levers: usize) -> Vec<Block> {
    let mut blocks = asked_advice_blocks(advice);
    blocks.extend(recommendation_blocks(advice));
    blocks.push(Block::Text(describe_sessions_and_cost(advice)));
    let billed = |it: &BillAsLogged| if is_detailed { it.describe() } else { it.describe_briefly("") };
    blocks.extend(advice.as_logged.iter().map(|it| Block::Text(billed(it))));
    let used = advice.as_logged.as_ref().filter(|_| is_detailed).map(|it| &it.beside.used);
    let limits = used.and_then(AccountUse::limits_used);
    blocks.extend(limits.iter().flat_map(|it| it.sentences(false)).map(Block::Text));
    let n_notes = if is_detailed { advice.notes.len() } else { NOTES };
    let n_whys = if is_detailed { usize::MAX } else { WHYS.min(n_levers / 4) };
    blocks.extend(advice.notes.iter().take(n_notes).map(|it| Block::Aside(it.clone())));
    let best = advice.best_levers();
    if !best.is_empty() {
        blocks.push(Block::Table(if is_detailed {
            levers_grid("What you can do", &best, false)
        } else {
            let shown = indices_of_top_levers(best.iter().copied(), n_levers).into_iter();
            let shown = shown.map(|nth| (best[nth].title.clone(), best[nth]));
            brief_levers_grid("What you can do, and what that saves a month", shown)
                .leaving_out(best.len().saturating_sub(n_levers), ADVISE_DETAILS)
        }));
        blocks.extend(best.into_iter().filter_map(explain_lever_verdict).take(n_whys).map(Block::Aside));
    }
    blocks.extend(ceilings_sentence(&advice.ceilings, n_levers.div_ceil(4)).map(Block::Text));
    blocks.extend(if is_detailed { detail_blocks(advice) } else { vec![details_hint_block(advice)] });
    blocks
}

/// Lays out what stands behind the advice: whom it concerns, what is set now, and what else was tried or was not.
fn detail_blocks(advice: &AgentAdvice) -> Vec<Block> {
    let by_person = group_savings_grid(advice, "person", |lever| &lever.people);
    let by_project = group_savings_grid(advice, "project", |lever| &lever.projects);
    let mut blocks = by_person.into_iter().chain(by_project).map(Block::Table).listed();
    if !blocks.is_empty() {
        blocks.push(Block::paragraph(whom::STAR));
    }
    blocks.push(Block::Table(settings_in_force_grid(advice)));
    if !advice.lifetimes.is_empty() {
        blocks.push(Block::Table(lifetimes_grid(advice)));
    }
    if n_levers_left_out(advice) > 0 {
        let all = advice.levers.iter().listed();
        blocks.push(Block::Table(levers_grid("Everything that was tried", &all, true)));
    }
    blocks.extend(advice.wishes.iter().map(|wish| Block::paragraph(describe_wish(advice, wish))));
    let untried = |it: &UntriedSetting| format!("Not tried: {}. {}.", it.key, capitalise(&it.reason));
    blocks.extend(advice.left_out.iter().map(|it| Block::Text(untried(it))));
    if !advice.untold.is_empty() {
        let name_and_reason = |it: &UntoldLever| format!("{} ({})", it.name.replace('_', " "), it.reason);
        let untold = listed(&advice.untold.iter().map(name_and_reason).listed());
        blocks.push(Block::paragraph(format!("Left out, because the logs do not tell: {untold}.")));
    }
    blocks
}

/// Returns how many of the settings that were tried the table leaves out.
fn n_levers_left_out(advice: &AgentAdvice) -> usize {
    let simulated = |all: &[&Lever]| all.iter().filter(|it| it.known_by == KnownBy::Simulated).count();
    simulated(&advice.levers.iter().listed()).saturating_sub(simulated(&advice.best_levers()))
}

/// Says what only details show.
fn details_hint_block(advice: &AgentAdvice) -> Block {
    let n = n_levers_left_out(advice);
    let parts = [
        (n > 0, format!("{n} more of {} settings and combinations that were tried", advice.tried)),
        (advice.levers.iter().any(|it| it.people.len() > 1), "what each person would save".to_owned()),
        (true, "what is set now".to_owned()),
        (!advice.lifetimes.is_empty(), "5 minutes against 1 hour".to_owned()),
        (!advice.left_out.is_empty(), "what was not tried".to_owned()),
    ];
    let shown = parts.into_iter().filter(|it| it.0).map(|it| it.1).listed();
    Block::Aside(format!("More with --details: {}.", listed(&shown)))
}

/// Lays out what bills tell where no settings are known.
fn billed_lever_blocks(advice: &AgentAdvice) -> Vec<Block> {
    let best = advice.best_levers();
    let title = format!("What the bills of {} tell ({})", advice.agent, counted(advice.sessions, "session"));
    let table = (!best.is_empty()).then(|| Block::Table(levers_grid(&title, &best, false)));
    let whys = best.into_iter().filter_map(explain_lever_verdict);
    let whys = whys.chain(ceilings_sentence(&advice.ceilings, usize::MAX));
    table.into_iter().chain(whys.map(Block::Text)).listed()
}

/// Says what other models' prices would save at most: the first of each kind, so many of them.
pub(crate) fn ceilings_sentence(ceilings: &[Lever], n_named: usize) -> Option<String> {
    let has_several_agents = ceilings.iter().any(|it| it.agent != ceilings[0].agent);
    let mut named: IndexMap<(&str, &str), String> = IndexMap::new();
    for lever in ceilings {
        let CeilingSessions { sessions, short_sessions, .. } = lever.ceiling?;
        let agent = text_if(has_several_agents, || format!("{}: ", in_one_line(&lever.agent)));
        let (title, saved) = (&lever.title, or_none(lever.saved_month, format_rough_usd));
        let of = counted(sessions, "session");
        named.entry((&lever.agent, lever.name)).or_insert_with(|| {
            format!(
                "{agent}{title}, up to {saved} a month (short enough to try it on: {short_sessions} of {of})"
            )
        });
    }
    let named = named.into_values().take(n_named.min(CEILINGS)).listed();
    let head = "Cheaper models are a ceiling, quality not judged";
    (!named.is_empty()).then(|| format!("{head}: {}.", named.join("; ")))
}

/// Says what there is, and what it costs.
fn describe_sessions_and_cost(advice: &AgentAdvice) -> String {
    let versions = match &advice.versions {
        Some([first, last]) if first == last => format!(" {first}"),
        Some([first, last]) => format!(" {first} to {last}"),
        None => String::new(),
    };
    let agents = text_if_any(advice.sub_agents, |n| format!(", {n} of them sub-agents'"));
    let projects = text_if_any(advice.projects, |n| format!(" in {}", counted(n, "project")));
    let (sessions, requests) = (counted(advice.sessions, "session"), thousands(advice.requests));
    let kept = or_nothing(advice.evidence_kept, |kept| {
        format!("; prompts hold {} of what the agent later needs", percent(kept))
    });
    let cost = match advice.month.usd {
        Some(usd) => {
            let scaled = if advice.month.basis == Basis::AllSessions { "" } else { " a month" };
            format!("{}{scaled} ({})", format_usd(usd), advice.month.describe_basis())
        }
        None => "an unknown amount, because a model has no price".to_owned(),
    };
    format!(
        "{}{versions}: {sessions}{agents}, {requests} requests{projects}. What you have costs {cost}{kept}.",
        advice.agent
    )
}

/// Says what to change and what to paste, or that nothing is sure enough.
pub(crate) fn recommendation_blocks(advice: &AgentAdvice) -> Vec<Block> {
    let Some(best) = advice.advised_lever() else {
        let tried = format!("{} settings and combinations", advice.tried);
        let why = if advice.levers.is_empty() {
            format!("Nothing to change: none of {tried} does anything in these sessions.")
        } else {
            let or_else = if advice.asked_advice_and_lever().is_some() { " else" } else { "" };
            format!("Nothing{or_else} to paste: none of {tried} is certain enough to be called “do”.")
        };
        return vec![Block::Answer(why)];
    };
    let answer = Block::Answer(format!("Do this: {}.", best.title));
    let caveats: String = saving_caveats(best).iter().map(|it| format!(" {it}")).collect();
    let saving = describe_expected_saving(best) + &describe_added_savings(best) + &caveats;
    let mut blocks = vec![answer, Block::Text(saving)];
    blocks.extend(describe_price_of_caution(advice, best).map(Block::Text));
    blocks.extend(paste_blocks(best, &advice.paste));
    blocks.extend(advice.heed.iter().map(|it| Block::Aside(it.clone())));
    // The other levers that are *do* but not pasted.
    let mut left = advice.best_levers();
    left.retain(|it| it.word == Some(Word::Do) && !it.set.iter().all(|own| best.set.contains(own)));
    let titles = left.iter().map(|it| it.title.as_str()).listed().join("; ");
    let left = (!left.is_empty()).then(|| format!("Not in it, though they save alone, too: {titles}."));
    blocks.extend(left.map(Block::Aside));
    blocks
}

/// Says what each setting of a combination adds to the others.
fn describe_added_savings(lever: &Lever) -> String {
    let added =
        lever.adds.iter().map(|added| format!("{} adds {}", added.set, percent(-added.change))).listed();
    if added.is_empty() { String::new() } else { format!(" Of it, {}.", listed(&added)) }
}

/// Says what a surer setting would save less, or a bolder one more.
fn describe_price_of_caution(advice: &AgentAdvice, best: &Lever) -> Option<String> {
    let floor = Some(advice.min_evidence);
    let may_be_chosen = |lever: &&Lever| {
        let is_saving = matches!(lever.word, Some(Word::Do | Word::YourCall)) && lever.unjudged.is_none();
        is_saving && lever.evidence_kept >= floor && lever.keeps_floor_surely() != best.keeps_floor_surely()
    };
    let others = advice.levers.iter().filter(may_be_chosen);
    let other =
        others.max_by(|one, other| one.monthly_saving_usd().total_cmp(&other.monthly_saving_usd()))?;
    let (title, kept) = (&other.title, describe_evidence_kept(other)?);
    let more = other.saved_month? - best.saved_month?;
    if best.keeps_floor_surely() {
        let bolder =
            format!("Bolder: {title} saves {} a month more, and keeps {kept}.", format_usd_cents(more));
        return (more > 0.0).then_some(bolder);
    }
    Some(format!("Surer: {title} keeps {kept}, and saves {} a month less.", format_usd_cents(-more)))
}

/// Says what the user asked for comes to.
fn asked_advice_blocks(advice: &AgentAdvice) -> Vec<Block> {
    let Some((asked, lever)) = advice.asked_advice_and_lever() else { return Vec::new() };
    let word = or_nothing(lever.word, |it| format!(" ({})", it.text()));
    let mut blocks = vec![Block::Head(format!("{}{word}", lever.title))];
    blocks.push(Block::paragraph(describe_asked_lever(lever)));
    blocks.extend(paste_blocks(lever, &asked.paste));
    blocks.extend(asked.heed.iter().map(|it| Block::paragraph(it.clone())));
    if !asked.trial.is_empty() {
        let n = asked.trial.iter().filter(|it| it.is_on).count();
        blocks.push(Block::paragraph(format!(
            "A trial of {}: turn it on for the {n} days that are on, and off for the others, before the first session of the day (UTC). A session counts for the day on which it begins. `ctxsim realised` then compares the days.",
            counted(asked.trial.len(), "day")
        )));
        let row = |it: &TrialDay| vec![it.day.clone(), if it.is_on { "on" } else { "off" }.to_owned()];
        let grid = Grid::new("", 1, &["day", "setting"], asked.trial.iter().map(row));
        blocks.push(Block::Table(grid.with(CellKind::Text, &[1])));
    }
    blocks
}

/// Says what to expect of what the user asked for, and what its word rests on.
fn describe_asked_lever(lever: &Lever) -> String {
    if lever.word.is_none() {
        return "It changes nothing in these sessions.".to_owned();
    }
    format!("{} Why: {}.{}", describe_expected_saving(lever), lever.why, describe_sessions_needed(lever))
}

/// Says what else a lever does, and what to paste for it.
fn paste_blocks(lever: &Lever, pastes: &[Paste]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let effects = (!lever.effects.is_empty()).then(|| lever.effects.join(" "));
    blocks.extend(effects.map(|it| Block::paragraph(format!("It also does this: {it}"))));
    for paste in pastes {
        let project = or_nothing(paste.project.as_ref(), |it| format!(" (of one project: {it})"));
        blocks.push(Block::paragraph(format!("Put this into {}{project}:", paste.at)));
        blocks.push(Block::Code(paste.text.clone()));
    }
    blocks
}

/// Says what to expect of a lever.
pub(crate) fn describe_expected_saving(lever: &Lever) -> String {
    let Some(saved) = lever.saved_month else {
        return "What it saves cannot be told from these sessions.".to_owned();
    };
    let (is_dearer, mut saved) = (saved < 0.0, format!("{} a month", format_usd_cents(saved.abs())));
    let mut of_all = format!("{} of what you spend", or_none(lever.expected, signed));
    if let Some(expected) = lever.expected.filter(|_| lever.is_by_plan) {
        of_all = format!("{saved} at list prices");
        saved = format!("{} of what you use", percent(expected.abs()));
    }
    let ends = or_nothing(lever.saved_interval, |it| format!(", 95% interval {}", dollar_range(it)));
    let kept = or_nothing(describe_evidence_kept(lever), |it| {
        format!(" Prompts still hold {it} of what the agent later needs.")
    });
    let does = match (lever.interval.is_some(), is_dearer) {
        (true, false) => format!("It should save {saved}"),
        (true, true) => format!("It should cost {saved} more"),
        (false, false) => format!("In these sessions it saves {saved}"),
        (false, true) => format!("In these sessions it costs {saved} more"),
    };
    // What is over these sessions a saving may be none over as many later ones.
    let may_be_none = lever.word == Some(Word::Do) && lever.interval.is_some_and(|[_, high]| high > 0.0);
    let few = if may_be_none {
        " A few sessions hold much of the bill, so the next ones may cost more all the same."
    } else {
        ""
    };
    let freed = or_nothing(lever.freed, |it| format!(" {}", it.sentence()));
    format!("{does} ({of_all}{ends}).{few}{freed}{kept}")
}

/// Says how much is kept, and how little it may be.
pub(crate) fn describe_evidence_kept(lever: &Lever) -> Option<String> {
    let kept = lever.evidence_kept?;
    let low = lever.evidence_low.filter(|low| *low < kept - 5e-4);
    let low = or_nothing(low, |it| format!(" (at least {})", percent(it)));
    Some(format!("{}{low}", percent(kept)))
}

/// Writes two amounts, the lower one first.
pub(crate) fn dollar_range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", format_usd_cents(low), format_usd_cents(high))
}

/// Says what the word of a lever rests on.
fn explain_lever_verdict(lever: &Lever) -> Option<String> {
    let word = lever.word.filter(|it| *it != Word::Do)?.text();
    let met = if lever.about.is_empty() { String::new() } else { format!("{}; ", lever.about) };
    Some(format!("{} ({word}): {met}{}.{}", lever.title, lever.why, describe_sessions_needed(lever)))
}

/// Says of a *try* how many later sessions would tell.
fn describe_sessions_needed(lever: &Lever) -> String {
    match lever.sessions_to_know.map(thousands) {
        _ if lever.word != Some(Word::Try) => String::new(),
        Some(n) => format!(" The bills of about {n} sessions with it would tell."),
        None => " Bills vary too much for later ones to tell it from chance.".to_owned(),
    }
}

/// Returns the places of so many levers in their order: if not all fit, those that say *do* stay first, and then those of which
/// something is known.
pub(crate) fn indices_of_top_levers<'l>(all: impl Iterator<Item = &'l Lever>, n_levers: usize) -> Vec<usize> {
    let ranks = all.map(|lever| match lever.word {
        Some(Word::Do) => 0,
        Some(Word::YourCall | Word::Try) => 1,
        _ => 2,
    });
    let ranks = ranks.listed();
    let mut places = (0..ranks.len()).listed();
    places.order_by_key(|nth| ranks[*nth]);
    places.truncate(n_levers);
    places.sort_unstable();
    places
}

/// Lays levers out in a line each, by the names that they are given.
pub(crate) fn brief_levers_grid<'l>(title: &str, all: impl Iterator<Item = (String, &'l Lever)>) -> Grid {
    // What one decides oneself says why.
    let keeps = |lever: &Lever| match lever.word {
        Some(Word::YourCall) if lever.unjudged.is_some() => "not judged".to_owned(),
        Some(Word::YourCall) => or_none(describe_evidence_kept(lever), |it| it),
        _ => or_none(lever.evidence_kept, percent),
    };
    let row = |(name, lever): (String, &Lever)| {
        let shares = lever.interval.filter(|_| lever.is_by_plan);
        let shares =
            shares.map(|[low, high]| [high, low].map(|it| percent(0.0 - it).replace('-', "−")).join(" to "));
        let interval = shares.or(lever.saved_interval.map(|ends| ends.map(format_rough_usd).join(" to ")));
        let mark = if lever.known_by == KnownBy::Simulated { "~" } else { "" };
        vec![
            lever.word_text().to_owned(),
            in_one_line(&name).into_owned(),
            or_none(lever.saved_month, |usd| match lever.expected.map(|it| percent(0.0 - it)) {
                Some(share) if lever.is_by_plan => {
                    format!("{mark}{} ({})", share.replace('-', "−"), format_rough_usd(usd))
                }
                share => {
                    format!("{mark}{}{}", format_rough_usd(usd), or_nothing(share, |it| format!(" ({it})")))
                }
            }),
            or_none(interval, |it| it),
            keeps(lever),
        ]
    };
    let title = format!("{title} (~ simulated; keeps: of what later steps need)");
    Grid::new(title, 1, &["word", "what", "saves", "interval", "keeps"], all.map(row))
        .with(CellKind::Text, &[1])
        .hued(Hue::Words, &["word"])
        .hued(Hue::AsWords, &["saves"])
}

/// Writes an amount that is not exact: cents of a few dollars only.
pub(crate) fn format_rough_usd(usd: f64) -> String {
    let sign = if usd < 0.0 { "−" } else { "" };
    let size = usd.abs();
    if size >= 9.995 {
        format!("{sign}${}", thousands(size.round() as u64))
    } else {
        format!("{sign}${size:.2}")
    }
}

/// Lays levers out, by their titles or by the keys that they set.
fn levers_grid(title: &str, levers: &[&Lever], with_keys: bool) -> Grid {
    // Where a subscription pays, the share stands before dollars.
    let n_to_front = usize::from(levers.iter().all(|it| it.is_by_plan));
    let row = |lever: &&Lever| {
        let name =
            if with_keys && !lever.set.is_empty() { lever.set.join(", ") } else { lever.title.clone() };
        let mut row = vec![
            lever.word_text().to_owned(),
            name,
            or_none(lever.saved_month, format_usd_cents),
            or_none(lever.saved_interval, dollar_range),
            or_none(lever.expected, signed),
            or_none(describe_evidence_kept(lever), |it| it),
            lever.known_by.text().to_owned(),
        ];
        row[2..5].rotate_right(n_to_front);
        row
    };
    let mut headings = ["word", "what", "saves a month", "95% interval", "Δ cost", "kept", "known by"];
    headings[2..5].rotate_right(n_to_front);
    Grid::new(title, 1, &headings, levers.iter().map(row))
        .with(CellKind::Text, &[1, 6])
        .hued(Hue::Words, &["word"])
        .hued(Hue::AsWords, &["saves a month", "Δ cost"])
}

fn settings_in_force_grid(advice: &AgentAdvice) -> Grid {
    let says = |setting: &SettingInForce| match (setting.from, &setting.variable) {
        (SettingSource::Log, _) => "the logs".to_owned(),
        (SettingSource::File, Some(variable)) => format!("the file given, by {variable}"),
        (SettingSource::File, None) => "the file given".to_owned(),
        (SettingSource::Default, _) => "the agent's default".to_owned(),
    };
    let row = |it: &SettingInForce| vec![it.key.clone(), it.about.clone(), it.value.clone(), says(it)];
    let headings = ["setting", "decides", "now", "says"];
    let grid = Grid::new("What is set now", 1, &headings, advice.in_force.iter().map(row));
    grid.with(CellKind::Text, &[1, 2, 3])
}

fn lifetimes_grid(advice: &AgentAdvice) -> Grid {
    let columns: [Of<'_, LifetimeComparison>; 8] = [
        ("conversation", &|it| it.lane.to_owned()),
        ("sessions", &|it| it.sessions.to_string()),
        ("5 min a month", &|it| or_none(it.usd_month[0], format_usd)),
        ("1 h a month", &|it| or_none(it.usd_month[1], format_usd)),
        ("5 min → 1 h", &|it| or_none(it.change, signed)),
        ("95% interval", &|it| or_none(it.interval, interval)),
        ("written again", &|it| percent(it.share)),
        ("break-even", &|it| or_none(it.break_even, percent)),
    ];
    Grid::from_columns("5 minutes or 1 hour", 1, &advice.lifetimes, &columns)
}

fn describe_wish(advice: &AgentAdvice, wish: &WishEffect) -> String {
    let kept = or_nothing(wish.evidence_kept, |it| format!(", {} of what is needed kept", percent(it)));
    let (agent, change, reason) = (&advice.agent, signed(wish.change), capitalise(&wish.reason));
    format!("What only the maintainers of {agent} could change: {} ({change}{kept}). {reason}.", wish.about)
}

/// Returns an amount of US dollars a month, to the cent.
pub(crate) fn format_usd_cents(usd: f64) -> String {
    let sign = if usd <= -0.005 { "−" } else { "" };
    format!("{sign}${}", fixed(usd.abs(), 2))
}

/// Says of a lever when its saving is gone, and what is known of the task.
fn saving_caveats(lever: &Lever) -> Vec<String> {
    let gone = lever.gone_at_extra_turns.map(|it| format!("The saving is {}.", it.break_even_clause()));
    gone.into_iter().chain(lever.known_of_task.clone()).listed()
}

/// What all words rest on.
const RESTS_ON: &str = "Every setting and combination is tested on all sessions, and “do” allows for everything that was tried. Intervals are for \
     as many later sessions, and over what is assumed.";

/// Says between which ends the bill of a month changes: what is saved is negative.
fn negated_interval_text([low, high]: [f64; 2]) -> String {
    format!("95% interval {}", dollar_range([-high, -low]))
}

/// Returns advice as a page.
///
/// # Errors
/// What the template says.
pub fn render_advice_page(advice: &Advice) -> Result<String, template::Error> {
    let is_several = advice.agents.len() > 1;
    let agents = &advice.agents;
    let answer = |it: &AgentAdvice| recommendation_card(it, is_several.then(|| it.agent.clone()));
    let figures = agents.iter().zip(1..).filter_map(|(it, nth)| levers_forest_plot(it, nth));
    let names = agents.iter().map(|it| it.agent.as_str()).listed().join(", ");
    let whose = if names.is_empty() { "no known agent" } else { &names };
    let page = Page {
        command: "advise",
        title: format!("Settings of {whose}"),
        about: agents.iter().map(describe_sessions_and_cost).listed().join(" "),
        answers: agents.iter().filter_map(asked_card).chain(agents.iter().map(answer)).listed(),
        rests_on: vec![RESTS_ON.to_owned()],
        parts: page_parts(figures.listed(), advice_blocks(advice, true, usize::MAX)),
    };
    page.into_html()
}

/// Says what the user asked for comes to.
fn asked_card(advice: &AgentAdvice) -> Option<Card> {
    let (asked, lever) = advice.asked_advice_and_lever()?;
    let word = or_nothing(lever.word, |it| format!(" ({})", it.text()));
    Some(Card {
        number: lever.saved_month.map_or_else(|| "Unknown".to_owned(), |it| format_usd_cents(-it)),
        what: format!("a month with what you asked for: {}{word}", lever.title),
        sure: lever.saved_interval.map(negated_interval_text),
        words: std::iter::once(describe_asked_lever(lever)).chain(saving_caveats(lever)).listed(),
        code: asked.paste.first().map(|it| it.text.clone()),
        ..Card::default()
    })
}

/// Says what to do, or that nothing is sure enough; `of` names the agent where there are several.
pub(crate) fn recommendation_card(advice: &AgentAdvice, agent_name: Option<String>) -> Card {
    let Some(best) = advice.advised_lever() else {
        let n = format!("{} settings and combinations", advice.tried);
        return Card {
            of: agent_name,
            number: "Nothing to paste".to_owned(),
            what: format!("Of {n}, none is certain enough to be called “do”."),
            words: advice.best_levers().into_iter().filter_map(explain_lever_verdict).take(WHYS).listed(),
            ..Card::default()
        };
    };
    let pasted = advice.paste.first().map(|it| format!("Put this into {}:", it.at));
    let share = best.expected.filter(|_| best.is_by_plan).map(signed);
    let usd = best.saved_month.map(|it| format_usd_cents(-it));
    Card {
        of: agent_name,
        number: share.clone().or(usd).unwrap_or_else(|| "Do this".to_owned()),
        what: format!("{} with this: {}", share.map_or("a month", |_| "of what you use"), best.title),
        sure: best.saved_interval.map(negated_interval_text),
        words: saving_caveats(best).into_iter().chain(pasted).listed(),
        code: advice.paste.first().map(|it| it.text.clone()),
        tone: Tone::Better,
    }
}

/// Draws what was tried against what is in force.
fn levers_forest_plot(advice: &AgentAdvice, nth: usize) -> Option<PageChart> {
    let line = |lever: &Lever| {
        let saved = lever.saved_month.map(|it| format!("{} a month", format_usd_cents(-it)));
        let kept = lever.evidence_kept.map(|it| evidence_kept_text(Some(it)));
        let says = saved.into_iter().chain(kept).listed().join(", ");
        let word = or_nothing(lever.word, |it| format!("{}: ", it.text()));
        let name = format!("{word}{}", lever.title);
        Some(ForestLine::of_relative_cost(name, lever.expected?, lever.interval, says))
    };
    let lines = advice.best_levers().into_iter().filter_map(line).listed();
    let forest = ForestPlot {
        title: "What each setting saves".to_owned(),
        subject: advice.agent.clone(),
        base: "the current settings".to_owned(),
        of: "setting",
        lines,
    };
    (!forest.lines.is_empty()).then(|| draw_chart(&format!("settings-{nth}"), &forest))
}
