//! An explained request for people: its cost, the cache, where the prefix broke, every item.

use super::words::{self, describe_editor, format_seconds, format_token_count};
use crate::blocks::{Block, draw_blocks};
use crate::prelude::*;
use crate::rows::RowContext;
use ctxsim_engine::cache::Fate;
use ctxsim_engine::explain::{Done, Explanation, Same, StandingItem};
use ctxsim_engine::ledger::{NeedRow, Role};
use ctxsim_input::Policy;
use ctxsim_input::profile::Lifetimes;

/// How an explanation is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplainStyle {
    pub on: Terminal,
    /// Whether every item has its own line; otherwise similar items in a row share one.
    pub lists_all: bool,
}

/// Entries of a cache that are worth a line.
const ENTRIES_MAX: usize = 6;
/// The number of similar items in a row from which they share a line.
const RUN_MIN: usize = 4;

/// Returns an explanation as text.
pub fn draw_explanation(explanation: &Explanation, context: RowContext<'_>, style: ExplainStyle) -> String {
    let [title, place] = title_and_place(explanation, context);
    let cost = Block::Table(cost_parts_grid(explanation, context.profile.cache.lifetimes()));
    let mut blocks = vec![Block::Answer(title), Block::Text(place), cost];
    blocks.extend(recorded_bill_lines(explanation).into_iter().map(Block::Text));
    blocks.extend(Block::list_if_any("Cache", cache_lines(explanation, context)));
    blocks.extend(Block::list_if_any("Prefix", vec![words::prefix_comparison(explanation, context.policy)]));
    blocks.extend(Block::list_if_any("Stages", stage_lines(explanation, context.policy)));
    blocks.extend(Block::list_if_any("Recovery before this request", recovery_lines(explanation)));
    let items = item_blocks(explanation, context.policy, style.lists_all);
    format!("{}\n{}", draw_blocks(&blocks, "", style.on).trim_end(), draw_blocks(&items, "", style.on))
}

/// Says which request it is, and where it stands.
fn title_and_place(explanation: &Explanation, context: RowContext<'_>) -> [String; 2] {
    let RowContext { policy, scenario, profile, .. } = context;
    let (n, all) = (thousands(explanation.n as u64), thousands(explanation.of as u64));
    let (name, as_of) = (&profile.name, &profile.as_of);
    let title = format!("Request {n} of {all} · {} · {scenario} · {name} ({as_of})", policy.name);
    let who = match (explanation.row.role, explanation.asked_by) {
        (Role::Main, _) => "of the agent".to_owned(),
        (Role::KeepAlive, _) => "to keep the prompt in the cache".to_owned(),
        (Role::Summariser, None) => "of a summariser".to_owned(),
        (Role::Summariser, Some(by)) => "of a summariser for ".to_owned() + &describe_editor(by, policy),
    };
    let beside = match (explanation.beside, explanation.unread) {
        (0, 0) => String::new(),
        (0, n) => format!(", {} of which it does not read", format_token_count(n)),
        (n, _) => format!(" plus {} that belong to no item", format_token_count(n)),
    };
    let (turn, step) = (explanation.row.turn_ix.saturating_add(1), explanation.row.step.saturating_add(1));
    let at = format_seconds(u64::try_from(explanation.row.at_ms).unwrap_or(0));
    let [prompt, output] = [explanation.row.prompt, explanation.row.output].map(format_token_count);
    let items = counted(explanation.items.iter().filter(|it| it.now.tokens > 0).count(), "item");
    let when = format!("turn {turn}, step {step}, at {at}");
    [title, format!("{who}, {when}: {prompt} in {items}{beside}; answered with {output}")]
}

/// Returns what each part costs.
fn cost_parts_grid(explanation: &Explanation, lifetimes: Lifetimes) -> Grid {
    let usage = &explanation.row.usage;
    let all_written = usage.write[0] + usage.write[1];
    let written = lifetimes.names().into_iter().zip(usage.write).filter(|(_, tokens)| *tokens > 0);
    let written = written.map(|(name, tokens)| {
        if tokens == all_written { name.to_owned() } else { format!("{} for {name}", thousands(tokens)) }
    });
    let written = written.listed().join(", ");
    let label = if written.is_empty() { "written".to_owned() } else { format!("written ({written})") };
    let bill = &explanation.bill;
    let is_known = |cost: Cost, tokens| !bill.is_incomplete || tokens == 0 || cost != Cost::default();
    let known = |cost, tokens| Some(cost).filter(|it| is_known(*it, tokens));
    let lines = [
        ("read".to_owned(), usage.read, Some(bill.read)),
        (label, all_written, known(bill.write, all_written)),
        ("uncached".to_owned(), usage.uncached, Some(bill.uncached)),
        ("output".to_owned(), explanation.row.output, known(bill.output, explanation.row.output)),
        ("all".to_owned(), explanation.row.prompt + explanation.row.output, bill.total()),
    ];
    let rows = lines.map(|(name, tokens, cost)| {
        [name, thousands(tokens) + " tokens", or_none(cost, format_usd_exactly) + " USD"]
    });
    Grid::new("Cost", 1, &[""; 3], rows)
}

/// Says what the provider billed, and what of it was cached and not read.
fn recorded_bill_lines(explanation: &Explanation) -> Vec<String> {
    let billed = explanation.recorded.map(|billed| {
        let [read, written] = [billed.cache_read, billed.cache_write].map(thousands);
        let [uncached, output] = [billed.uncached, billed.output].map(thousands);
        format!(
            "Billed by the provider: {read} read, {written} written, {uncached} uncached, {output} output."
        )
    });
    let missed = explanation.missed.map(|missed| {
        let (tokens, why) = (thousands(missed.tokens), missed.cause.about());
        format!("Of it, {tokens} tokens were cached and not read, because: {why}.")
    });
    billed.into_iter().chain(missed).listed()
}

/// Returns an amount exactly.
fn format_usd_exactly(cost: Cost) -> String {
    const UNIT: u128 = 1_000_000_000_000;
    let text = format!("{}.{:012}", cost.0 / UNIT, cost.0 % UNIT);
    let short = text.trim_end_matches('0');
    let n_decimals = short.len() - short.find('.').map_or(short.len(), |it| it + 1);
    format!("{short}{}", "0".repeat(2_usize.saturating_sub(n_decimals)))
}

/// Says what the cache did and what it knew.
fn cache_lines(explanation: &Explanation, context: RowContext<'_>) -> Vec<String> {
    let rules = &context.profile.cache;
    let mut lines = vec![words::describe_cache_use(explanation, rules)];
    let Some(finding) = &explanation.finding else { return lines };
    for mark in &finding.marks {
        let why = match mark.too_short_for {
            Some(min) => format!(": ignored, the minimum is {}", format_token_count(min)),
            None => format!(", for {}", format_seconds(mark.life_ms)),
        };
        lines.push(format!("breakpoint after item {}, {}{why}", mark.slot, format_token_count(mark.tokens)));
    }
    let read = finding.entries.iter().position(|it| matches!(it.fate, Fate::Read(_)));
    let (told, rest) = finding.entries.split_at(read.map_or(finding.entries.len(), |it| it + 1));
    let shown = told.iter().take(ENTRIES_MAX);
    lines.extend(shown.map(|entry| format!("entry of {}", words::describe_cache_entry(entry, rules))));
    let n_shorter = told.len().saturating_sub(ENTRIES_MAX) + rest.len();
    let shorter = (n_shorter > 0).then(|| counted(n_shorter, "shorter entry"));
    lines.extend(shorter.map(|it| format!("{it}: --format json lists all")));
    lines
}

/// Says what stages did since the request before.
fn stage_lines(explanation: &Explanation, policy: &Policy) -> Vec<String> {
    if explanation.since.is_empty() {
        let since = explanation.prefix.as_ref();
        let since = since.map_or(String::new(), |it| format!(" since request {}", it.of));
        return vec![format!("No stage changed anything{since}.")];
    }
    let line = |done: &Done| {
        let (by, items) = (describe_editor(done.by, policy), counted(done.n_items, "item"));
        let (before, after) = (format_token_count(done.tokens[0]), thousands(done.tokens[1]));
        format!("{by}: {items}, {before} before and {after} after")
    };
    explanation.since.iter().map(line).listed()
}

/// Says what was due, and how it was met.
fn recovery_lines(explanation: &Explanation) -> Vec<String> {
    let need = |need: &NeedRow| {
        let [weight, calls, failed] = [need.weight, need.calls, need.failed].map(numbers::expected);
        let unmet = match (need.calls > 0.0, need.failed > 0.0) {
            (_, true) => format!("; {failed} expected failures, nothing to recover with"),
            (true, _) => format!("; {calls} expected calls for {}", format_token_count(need.fetched)),
            _ => String::new(),
        };
        let (level, met) = (serialized_name(need.level), percent(need.met));
        format!("{level} with weight {weight}: {met} met{unmet}")
    };
    let explored = explanation.explored.as_ref().map(|explored| {
        let calls = numbers::expected(explored.calls);
        let tokens = format_token_count(explored.fetched.round() as u64);
        format!("looked up anew because context was removed: {calls} expected calls for {tokens}")
    });
    explanation.needs.iter().map(need).chain(explored).listed()
}

/// Lists every item; runs of items that stand alike share a line, unless every item has its own.
fn item_blocks(explanation: &Explanation, policy: &Policy, lists_all: bool) -> Vec<Block> {
    let broken = explanation.prefix.as_ref().and_then(|prefix| match &prefix.same {
        Same::Until { item, .. } => Some(*item),
        Same::All => None,
    });
    let alike = |a: &StandingItem, b: &StandingItem| {
        a.is_new == b.is_new
            && describe_item_cache(a) == describe_item_cache(b)
            && words::describe_item_state(a) == words::describe_item_state(b)
            && describe_last_change(a, policy) == describe_last_change(b, policy)
            && broken != Some(b.item)
    };
    let head = ["", "item", "what", "raw tok", "shown tok", "cache", "how", "why"];
    let mut lines = Vec::new();
    for run in explanation.items.chunk_by(alike) {
        let parts = if lists_all || run.len() < RUN_MIN { run.chunks(1) } else { run.chunks(run.len()) };
        lines.extend(parts.map(|it| item_run_cells(it, broken, policy)));
    }
    let grid = Grid::new("Items", 1, &head, lines).with(CellKind::Name, &[2]);
    let grid = grid.with(CellKind::Text, &[5, 6, 7]).hued(Hue::Cache, &["", "cache"]);
    let since = explanation.prefix.as_ref().map(|it| format!("request {}", it.of));
    let since = since.unwrap_or_else(|| "the previous request".to_owned());
    let differs = if broken.is_some() { ", ≠ the first difference from it" } else { "" };
    vec![Block::Table(grid), Block::Text(format!("+ new since {since}{differs}"))]
}

/// Returns the line of items that stand alike.
fn item_run_cells(run: &[StandingItem], broken_at: Option<u32>, policy: &Policy) -> [String; 8] {
    let sum = |tokens: fn(&StandingItem) -> u32| thousands(run.iter().map(|it| u64::from(tokens(it))).sum());
    let first = &run[0];
    let (item, what) = match run {
        [.., last] if run.len() > 1 => (format!("{}–{}", first.item, last.item), counted(run.len(), "item")),
        _ => (first.item.to_string(), words::item_kind_text(first)),
    };
    let new = if first.is_new { "+" } else { "" };
    let sign = if broken_at == Some(first.item) { "≠" } else { new };
    [
        sign.to_owned(),
        item,
        what,
        sum(|it| it.raw),
        sum(|it| it.now.tokens),
        describe_item_cache(first),
        words::describe_item_state(first),
        describe_last_change(first, policy),
    ]
}

/// Returns what the cache did with an item.
fn describe_item_cache(item: &StandingItem) -> String {
    let cached = &item.cached;
    let parts = [(cached.read, "read"), (cached.written, "written"), (cached.uncached, "uncached")];
    let mut some = parts.into_iter().filter(|it| it.0 > 0);
    match (some.next(), some.next()) {
        (None, _) => String::new(),
        (Some((_, name)), None) => name.to_owned(),
        (Some((tokens, name)), Some(_)) => format!("{} {name}", thousands(tokens)),
    }
}

/// Returns why an item is shown as it is: its last change.
fn describe_last_change(item: &StandingItem, policy: &Policy) -> String {
    let Some(cause) = item.causes.last() else { return String::new() };
    describe_editor(cause.by, policy) + &or_nothing(cause.request, |it| format!(", request {it}"))
}
