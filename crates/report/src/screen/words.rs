//! A first screen in words: at most 40 lines of 100 columns, which need no manual; the same in Markdown and on a page.

use super::{
    AgentSessions, BillPart, FirstScreen, MonthMisses, MonthPart, NextCommand, PartCosts, PeriodCosts,
    waiting,
};
use crate::advise::{
    ADVISE_DETAILS, brief_levers_grid, ceilings_sentence, format_rough_usd, indices_of_top_levers,
};
use crate::blocks::{Block, blocks_to_markdown, draw_blocks};
use crate::chart::days::BillByDay;
use crate::chart::{PageChart, draw_chart};
use crate::lever::Word;
use crate::page::{Card, Page, page_parts};
use crate::prelude::*;
use crate::session::{COMMAND, prediction_error_text};
use crate::template;
use ctxsim_base::grid::numbers::plain;
use ctxsim_base::grid::tint::COLUMNS;
use ctxsim_engine::measure::month::Basis;
use ctxsim_timeline::import::{behind_within_ms, changes_no_bill, is_never_sent};
use std::borrow::Cow;

/// The most levers, causes, agents and models that are named.
const LEVERS: usize = 8;
const CAUSES: usize = 3;
const NAMED: usize = 4;
/// The most kinds of what is left out that are named.
const LEFT_OUT: usize = 4;
/// The longest bar, in characters.
const BAR: f64 = 20.0;
/// Longer names of others' making are cut.
const NAME: usize = 24;

/// The headings of tables that need none on a terminal.
const SUM: [&str; 4] = ["what", "US dollars", "share", ""];

/// Returns a screen for a terminal, with as many levers as have room at 100 columns; one that is narrower takes more lines.
pub fn terminal_text(screen: &FirstScreen, terminal: impl Into<Terminal>) -> String {
    let terminal = terminal.into();
    let width = terminal.width.unwrap_or(COLUMNS).min(COLUMNS);
    Terminal { width: Some(width), ..terminal }.fitted(0..=LEVERS + 1, |terminal, room| {
        // Where there is no room for two levers, a cheaper model is named where there is room for it.
        let n_levers = room.saturating_sub(1);
        let mut all = text_blocks(screen, n_levers, if room == 1 { 1 } else { n_levers / 2 });
        for block in &mut all {
            // Parts of a sum say themselves what they are, and lines are few.
            if let Block::Table(grid) = block
                && grid.columns.iter().all(|it| SUM.contains(&it.heading.as_str()))
            {
                grid.columns.iter_mut().for_each(|it| it.heading.clear());
            }
        }
        let text = draw_blocks(&all, "", terminal);
        if terminal.is_quiet {
            text
        } else {
            format!("{text}\n{}", draw_blocks(&closing_blocks(screen), "", terminal))
        }
    })
}

/// Returns a screen as Markdown.
pub fn markdown(screen: &FirstScreen) -> Markdown {
    let all = text_blocks(screen, LEVERS, LEVERS).into_iter().chain(closing_blocks(screen)).listed();
    blocks_to_markdown(&all)
}

/// Returns what is said of sessions; where there is no room for one lever, what else can be looked up is said in fewer words.
fn text_blocks(screen: &FirstScreen, n_levers: usize, n_ceilings: usize) -> Vec<Block> {
    let is_brief = n_levers == 0;
    let mut blocks = vec![Block::paragraph(sessions_read_sentence(screen))];
    blocks.extend(prediction_sentence(screen).map(Block::Text));
    blocks.push(bill_block(screen));
    blocks.extend(not_in_bill_sentence(screen, is_brief).map(Block::Text));
    blocks.extend(left_out_sentence(screen, if is_brief { 0 } else { LEFT_OUT }).map(Block::Text));
    blocks.extend(waiting::waiting_sentence(screen, is_brief).map(Block::Text));
    if screen.month.usd > Cost::default() {
        blocks.push(Block::Table(month_bill_grid(screen)));
        blocks.extend(other_cache_misses_sentence(screen, is_brief).map(Block::Text));
    }
    if !screen.levers.is_empty() {
        blocks.push(Block::Table(levers_grid(screen, n_levers.max(1))));
    }
    blocks.extend(ceilings_sentence(&screen.ceilings, n_ceilings).map(Block::Text));
    blocks
}

/// Says how sure all of this is, and how to go on.
fn closing_blocks(screen: &FirstScreen) -> Vec<Block> {
    let certainty = (!screen.certainty.is_empty()).then(|| screen.certainty.clone());
    let next = screen.next.iter().map(|it| format!("Next: {} {}", it.short_command(), it.does));
    certainty.into_iter().map(Block::Aside).chain(next.map(Block::Text)).listed()
}

impl NextCommand {
    /// Returns the command, with one word for sessions that are many or have long names.
    fn short_command(&self) -> String {
        let verb = self.command.split(' ').take(2).listed().join(" ");
        let is_short = self.command.chars().count() <= COMMAND;
        if is_short { self.command.clone() } else { format!("{verb} SESSIONS") }
    }
}

/// Returns a name that others made, in so many characters.
fn shorten_name(name: &str) -> String {
    let name = in_one_line(name);
    let is_short = name.chars().count() <= NAME;
    if is_short { name.into_owned() } else { format!("{}…", name.chars().take(NAME).collect::<String>()) }
}

/// Says what was read.
fn sessions_read_sentence(screen: &FirstScreen) -> String {
    let read = &screen.read;
    let agents = read.agents.iter().map(|agent| agent_text(agent, read.agents.len() > 1));
    let agents = names_and_more(agents, NAMED);
    let sub_agents = text_if_any(read.sub_agents, |n| {
        format!("; {} of the sessions are sub-agents'", thousands(n as u64))
    });
    let people = match read.people {
        1 => "1 person".to_owned(),
        n => format!("{} people", thousands(n as u64)),
    };
    let people = (read.people > 0).then_some(people);
    let projects = (read.projects > 0).then(|| counted(read.projects, "project"));
    let days = read.first_day.as_ref().zip(read.last_day.as_ref()).map(|(first, last)| {
        let dates = numbers::days([first, last].into_iter().map(String::as_str));
        format!("{} ({dates})", counted(read.days as usize, "day"))
    });
    let whose = [people, projects, days].into_iter().flatten().listed().join(", ");
    let skipped = text_if_any(read.skipped.len(), |n| {
        format!(" {} skipped (--format json says why).", counted(n, "file"))
    });
    let (sessions, requests) =
        (counted(read.sessions, "session"), counted(read.requests as usize, "request"));
    let (agents, gap) = (agents.join(", "), if whose.is_empty() { "" } else { "; " });
    let source = read.source.as_ref().map_or_else(String::new, |it| format!("{it} "));
    format!("{source}{sessions} read ({requests}{sub_agents}): {agents}{gap}{whose}.{skipped}")
}

fn agent_text(agent: &AgentSessions, with_count: bool) -> String {
    let versions = match &agent.versions {
        Some([first, last]) if first == last => format!(" {}", shorten_name(first)),
        Some([first, last]) => format!(" {} to {}", shorten_name(first), shorten_name(last)),
        None => String::new(),
    };
    let n = if with_count { format!(" ({})", thousands(agent.sessions as u64)) } else { String::new() };
    format!("{}{versions}{n}", shorten_name(&agent.agent))
}

/// Says how well the bill is predicted.
fn prediction_sentence(screen: &FirstScreen) -> Option<String> {
    let check = screen.predicted?;
    let exact = percent(check.exact as f64 / check.requests.max(1) as f64);
    let reads = format!("cache reads match to the token on {exact} of the requests");
    let error = prediction_error_text(check.predicted_usd, check.billed_usd);
    Some(format!("Checked by predicting the bill: {reads}; {error}."))
}

/// Dollars to the same decimals, so that what adds up is seen to.
#[derive(Clone, Copy)]
struct DollarFormat {
    decimals: usize,
    /// Picodollars of the last decimal.
    unit: u128,
}

impl DollarFormat {
    /// Chooses the decimals for amounts up to one: cents, unless all of it is less than a dollar.
    fn for_amounts_up_to(largest: Cost) -> Self {
        let decimals: u32 = if largest.usd() < 1.0 && largest > Cost::default() { 4 } else { 2 };
        Self { decimals: decimals as usize, unit: 10_u128.pow(12 - decimals) }
    }

    /// Rounds an amount.
    fn round_to_units(self, cost: Cost) -> u128 {
        cost.0.saturating_add(self.unit / 2) / self.unit
    }

    /// Rounds parts so that they add up to their rounded sum: what was cut most is rounded up.
    fn round_parts_to_sum(self, parts: &[Cost]) -> Vec<u128> {
        let sum = self.round_to_units(parts.iter().fold(Cost::default(), |sum, it| sum + *it));
        let mut units = parts.iter().map(|it| it.0 / self.unit).listed();
        let left = sum.saturating_sub(units.iter().sum());
        let mut order = (0..parts.len()).listed();
        order.sort_by_key(|it| std::cmp::Reverse(parts[*it].0 % self.unit));
        order.into_iter().zip(0..left).for_each(|(at, _)| units[at] += 1);
        units
    }

    fn format_units(self, units: u128) -> String {
        let (whole, rest) = (units * self.unit / 1_000_000_000_000, units * self.unit % 1_000_000_000_000);
        format!("${}.{:0>2$}", thousands(whole as u64), rest / self.unit, self.decimals)
    }

    /// Writes by how much a number of units is more than another, with the share.
    fn format_change(self, last: u128, before: u128) -> String {
        if last == before {
            return self.format_units(0);
        }
        let sign = if last < before { '−' } else { '+' };
        let share = if before == 0 { None } else { Some(last as f64 / before as f64 - 1.0) };
        let share = share.map_or_else(String::new, |it| format!(" ({})", signed(it)));
        format!("{sign}{}{share}", self.format_units(last.abs_diff(before)))
    }
}

/// Returns the bill: all of it, the last 30 days, and what changed; a sentence where that is one number.
fn bill_block(screen: &FirstScreen) -> Block {
    let bill = &screen.bill;
    if bill.total.all == Cost::default() {
        return Block::Head("No bill: these logs have no usage that has a price".to_owned());
    }
    let shown = DollarFormat::for_amounts_up_to(bill.total.all);
    let n_days = screen.read.days;
    let days = counted(n_days as usize, "day");
    let has_agents = screen.read.sub_agents > 0;
    if bill.total.last.is_none() && !has_agents {
        let days = if n_days == 0 { String::new() } else { format!(" ({days})") };
        let usd = format_cost(bill.total.all);
        return Block::Head(format!("Billed by the logs, at list prices: {usd}{days}"));
    }
    let n_columns = if has_agents { 3 } else { 1 };
    let row = |name: &str, part: fn(&PeriodCosts) -> Option<Cost>| {
        let parts: Vec<Cost> = [bill.main, bill.sub_agents].iter().map(part).collect::<Option<_>>()?;
        let parts = shown.round_parts_to_sum(&parts);
        Some((name.to_owned(), [parts.iter().sum::<u128>(), parts[0], parts[1]]))
    };
    let last = row("last 30 days", |it| it.last);
    let before = row("the 30 days before", |it| it.before);
    let change = last.as_ref().zip(before.as_ref()).map(|((_, last), (_, before))| {
        let cells = last.iter().zip(before).map(|(last, before)| shown.format_change(*last, *before));
        std::iter::once("change".to_owned()).chain(cells).take(n_columns + 1).listed()
    });
    let cells = |(name, units): (String, [u128; 3])| {
        let cells = units.iter().map(|it| shown.format_units(*it));
        std::iter::once(name).chain(cells).take(n_columns + 1).listed()
    };
    let all = if n_days == 0 { "all sessions".to_owned() } else { format!("all {days}") };
    let rows = row(&all, |it| Some(it.all)).into_iter().chain(last).chain(before).map(cells).chain(change);
    let headings: &[&str] = if has_agents { &["", "all", "main", "sub-agents"] } else { &["", "US dollars"] };
    Block::Table(Grid::new("Billed by the logs, at list prices", 1, headings, rows))
}

/// Says what is not in the bill, and what its dollars are.
fn not_in_bill_sentence(screen: &FirstScreen, is_brief: bool) -> Option<String> {
    let bill = &screen.bill;
    let mut parts = Vec::new();
    if screen.read.requests_without_usage > 0 {
        let n = counted(screen.read.requests_without_usage as usize, "request");
        parts.push(format!("{n} without usage in the log"));
    }
    if screen.read.unread_records > 0 {
        parts.push(format!("{} that cannot be read", counted(screen.read.unread_records, "record")));
    }
    let n_unpriced: u64 = bill.requests_without_price.values().sum();
    if n_unpriced > 0 {
        let models = bill.requests_without_price.keys().map(|it| shorten_name(it));
        let models = names_and_more(models, NAMED).join(", ");
        let n = counted(n_unpriced as usize, "request");
        parts.push(format!("{n} of models without a price ({models})"));
    }
    parts.extend(bill.estimated.map(|totals| {
        let n = counted(totals.sub_agents as usize, "sub-agent");
        let usd = [totals.input_usd, totals.input_usd_low, totals.input_usd_high];
        let [usd, low, high] = usd.map(format_rough_usd);
        format!("{n} of which the logs hold only totals (input about {usd}, {low} to {high})")
    }));
    parts.extend(bill.unbilled_summaries.map(|it| it.describe(&format_rough_usd)));
    let without = (!parts.is_empty()).then(|| format!("Not in it: {}.", listed(&parts)));
    let mut sentences = without.into_iter().listed();
    if !bill.plans.is_empty() {
        let plans = bill.plans.iter().map(|it| in_one_line(it)).listed().join(", ");
        sentences.push(format!("The logs name a plan ({plans}): dollars are list prices."));
        let limits = bill.limits.iter().flat_map(|it| it.sentences(true));
        sentences.extend(limits.take(if is_brief { 1 } else { usize::MAX }));
        let advised = screen.levers.iter().find(|it| it.word == Some(Word::Do));
        sentences.extend(advised.and_then(|it| it.freed).map(|it| it.sentence()));
    }
    sentences.extend(bill.price_notes.iter().cloned());
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Says what is left out of the logs, in the words of `import`: first what a bill may lack, and what stands in no prompt added up.
fn left_out_sentence(screen: &FirstScreen, most: usize) -> Option<String> {
    let (never, mut kinds): (Vec<_>, Vec<_>) =
        screen.read.left_out.iter().partition(|it| is_never_sent(it.0));
    kinds.order_by_key(|it| (changes_no_bill(it.0), std::cmp::Reverse(it.1)));
    if most == 0 {
        let n: usize = screen.read.left_out.values().sum();
        return (n > 0).then(|| format!("Left out: {}, which `ctxsim import` lists.", counted(n, "record")));
    }
    let n_more = kinds.len().saturating_sub(most);
    let times = |(what, n): (&str, usize)| format!("{} × {what}", thousands(n as u64));
    let mut all = kinds.iter().take(most).map(|it| times((it.0, *it.1))).listed();
    let never: usize = never.iter().map(|it| *it.1).sum();
    let rest = [
        (n_more, "other kinds, which `ctxsim import` lists"),
        (never, "records that are never part of a prompt"),
    ];
    all.extend(rest.into_iter().filter(|it| it.0 > 0).map(|(n, what)| times((what, n))));
    (!all.is_empty()).then(|| format!("Left out: {}.", all.join(". ")))
}

/// Writes an exact amount.
fn format_cost(cost: Cost) -> String {
    let shown = DollarFormat::for_amounts_up_to(cost);
    shown.format_units(shown.round_to_units(cost))
}

/// Says whose dollars the parts of a month are.
fn month_bill_title(screen: &FirstScreen) -> String {
    let month = &screen.month;
    let usd = format_cost(month.usd);
    match month.of {
        Basis::Last30Days => format!("Where the {usd} of the last 30 days goes"),
        Basis::Scaled => {
            let few = screen.bill.total.last.map_or("", |_| ", as the last 30 have few sessions");
            format!("Where it goes, in dollars a month: {usd} (all days scaled to 30{few})")
        }
        Basis::AllSessions => format!("Where the {usd} goes"),
    }
}

/// Returns the parts of a month, those of nothing left out.
fn month_bill_grid(screen: &FirstScreen) -> Grid {
    let shown = DollarFormat::for_amounts_up_to(screen.month.usd);
    let parts = screen.month.parts.iter().filter(|it| it.usd > Cost::default()).listed();
    let units = shown.round_parts_to_sum(&parts.iter().map(|it| it.usd).listed());
    let largest = units.iter().copied().max().unwrap_or(0).max(1) as f64;
    let total = units.iter().sum::<u128>().max(1) as f64;
    let row = |(part, units): (&&MonthPart, &u128)| {
        let bar = "█".repeat((*units as f64 / largest * BAR).round() as usize);
        [part.about.to_owned(), shown.format_units(*units), percent(*units as f64 / total), bar]
    };
    let rows = parts.iter().zip(&units).map(row);
    Grid::new(month_bill_title(screen), 0, &SUM, rows).with(CellKind::Text, &[0, 3])
}

/// Says what other cache misses came of.
fn other_cache_misses_sentence(screen: &FirstScreen, is_brief: bool) -> Option<String> {
    let all = &screen.month.other_misses;
    let cause = |it: &MonthMisses| {
        let parts = [(it.sub_agents_usd, "by sub-agents"), (it.at_turns_usd, "where a turn began")];
        let named = parts.into_iter().filter(|(usd, _)| usd.0 > 0 && !is_brief).map(|(usd, whose)| {
            if usd == it.usd {
                format!("all {whose}")
            } else {
                format!("{} {whose}", format_rough_usd(usd.usd()))
            }
        });
        let named = named.listed().join(", ");
        let named = if named.is_empty() { named } else { format!(" ({named})") };
        format!("{} {}{named}", cause_in_plain_words(it.cause), format_rough_usd(it.usd.usd()))
    };
    let most = if is_brief { 1 } else { CAUSES };
    let named = all.iter().take(most).filter(|it| it.usd > Cost::default()).map(cause).listed();
    let more = if all.len() > most { ", and less for the rest" } else { "" };
    (!named.is_empty()).then(|| format!("Other cache misses: {}{more}.", named.join(", ")))
}

/// Says a cause of cache misses in words that need no explanation.
fn cause_in_plain_words(cause: MissCause) -> Cow<'static, str> {
    let words = match cause {
        MissCause::Began => "sessions that began",
        MissCause::Paused => "pauses",
        MissCause::Compacted => "compacted or cleared histories",
        MissCause::Cut => "histories that were cut",
        MissCause::Resumed => "resumed sessions",
        MissCause::Model => "changes of model",
        MissCause::Skill => "skills and slash commands",
        MissCause::Tools => "changes of tools",
        MissCause::ToolOrder => "the same tools in another order",
        MissCause::Setting => "changes of effort, thinking, tool choice and the like",
        MissCause::System => "changes of the system prompt",
        MissCause::Messages => "changes of earlier messages",
        MissCause::Forgotten => "dropped early by the provider",
        MissCause::Behind => {
            let seconds = plain(behind_within_ms() as f64 / 1e3);
            return format!("requests within {seconds} s of the one before").into();
        }
        MissCause::Untold => "no reason in the logs",
    };
    words.into()
}

/// Returns the levers, the largest saving first.
fn levers_grid(screen: &FirstScreen, n_levers: usize) -> Grid {
    let is_several = screen.read.agents.len() > 1;
    let shown = indices_of_top_levers(screen.levers.iter(), n_levers);
    let all = shown.into_iter().map(|nth| {
        let lever = &screen.levers[nth];
        let agent = if is_several { shorten_name(&lever.agent) + ": " } else { String::new() };
        (agent + &lever.title, lever)
    });
    let n_more = screen.levers.len().saturating_sub(n_levers);
    brief_levers_grid("What you can do, and what that saves a month", all).leaving_out(n_more, ADVISE_DETAILS)
}

/// Returns a screen as a page.
///
/// # Errors
/// What the template says.
pub fn html_page(screen: &FirstScreen) -> Result<String, template::Error> {
    // What was read is what the page is about.
    let blocks = text_blocks(screen, screen.levers.len().max(LEVERS), LEVERS).into_iter().skip(1);
    let blocks = blocks.chain(closing_blocks(screen));
    let (number, what) = (format_cost(screen.month.usd), month_bill_title(screen));
    Page {
        command: "screen",
        title: "What your sessions cost".to_owned(),
        about: sessions_read_sentence(screen),
        answers: vec![Card { number, what, ..Card::default() }],
        parts: page_parts(bill_by_day_chart(screen).into_iter().listed(), blocks),
        ..Page::default()
    }
    .into_html()
}

/// What a part is called where there is little room.
fn short_part_name(part: BillPart) -> &'static str {
    match part {
        BillPart::History => "history (cache reads)",
        BillPart::New => "new content",
        BillPart::AfterPauses => "again after pauses",
        BillPart::AfterOtherMisses => "again after other misses",
        BillPart::Answers => "answers",
        BillPart::Other => "compaction, branches",
    }
}

/// Draws the bill by day, where logs tell of more than one.
fn bill_by_day_chart(screen: &FirstScreen) -> Option<PageChart> {
    let parts = |it: &PartCosts| BillPart::ALL.map(|part| it.cost_of(part).usd()).to_vec();
    let chart = BillByDay {
        subject: "at list prices".to_owned(),
        parts: BillPart::ALL.map(short_part_name).to_vec(),
        days: screen.days.iter().map(|(day, costs)| (*day, parts(costs))).collect(),
    };
    (chart.days.len() > 1).then(|| draw_chart("days", &chart))
}
