//! What fills the prompts of recorded sessions and what carrying it costs: by tool, and the most expensive items.

use super::SkippedFile;
use crate::prelude::*;
use ctxsim_base::grid;
use ctxsim_base::grid::terminal::{DrawnTable, draw, hidden_note};
use ctxsim_engine::measure::carried::{CarriedItem, PromptChange, each_prompt};
use ctxsim_timeline::{ItemIx, Kind};

/// The most kinds of content in prompts that are listed on their own.
const MOST_KINDS: usize = 6;
/// The number of items listed per session.
const SHOWN: usize = 10;
/// The most characters shown of an item's subject.
const ABOUT: usize = 48;

/// Explanations of the columns.
const NOTES: [&str; 4] = [
    "tokens: each item counted once. mean resent: how many later requests sent an item again, on average.",
    "entering USD: cost of the first request that sent the items. carrying USD: cost of all later requests. \
        Both price the billed cache reads and writes, without output.",
    "% of input: entering plus carrying USD, as a share of their total.",
    "% never needed: share of these results' tokens that no later call was seen to need; – where unknown.",
];

/// What fills the prompts of one session.
#[derive(Clone, Debug, Serialize)]
pub struct PromptFill {
    pub session: String,
    /// The profile whose prices are used.
    pub profile: String,
    /// By tool, or by kind for items other than tool results; the most expensive first.
    pub by_tool: Vec<CarriedTotals>,
    /// The items that cost most to carry.
    pub items: Vec<CarriedRow>,
}

/// Totals of the items of one tool or kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CarriedTotals {
    /// The tool, or the kind.
    pub what: String,
    pub items: u64,
    /// Their tokens, each once.
    pub tokens: Tokens,
    /// How many times they were sent again, over all of them.
    pub resent: u64,
    /// The cost of their first requests, in US dollars.
    pub entered_usd: f64,
    /// The cost of sending them again.
    pub carried_usd: f64,
    /// Of the results' tokens: those that no later call needed; `None` if needs are unknown.
    pub never_needed_tokens: Option<Tokens>,
}

/// An item that is expensive to carry.
#[derive(Clone, Debug, Serialize)]
pub struct CarriedRow {
    /// The tool, or the kind.
    pub what: String,
    /// Its subject: the input of its call, or its beginning.
    pub about: String,
    /// The turn in which it entered, from 1.
    pub turn: u32,
    /// The first request that sent it, from 1.
    pub request: u32,
    pub tokens: Tokens,
    /// How many further requests sent it again.
    pub resent: u32,
    /// The cost of sending it again, in US dollars.
    pub carried_usd: f64,
    /// Whether a later call needed it, or none if that is not known.
    pub is_needed: Option<bool>,
}

/// A kind of content in the prompts of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FilledKind {
    pub what: String,
    /// In the last prompt, in the one that has most of it, and in all of them.
    pub last: Tokens,
    pub largest: Tokens,
    pub sent: Tokens,
}

impl FilledKind {
    /// Follows the items of a session through its billed prompts; what fills most comes first, the others are one.
    pub(super) fn list_for_session(timeline: &Timeline) -> Vec<Self> {
        // By kind: its tokens in the prompt as it stands, and in each prompt.
        let mut sizes: IndexMap<String, (Tokens, Vec<Tokens>)> = IndexMap::new();
        let mut n_prompts = 0;
        each_prompt(timeline, |prompt| {
            for PromptChange { item, enters } in prompt.changes.iter().copied() {
                let row = &timeline.spine.items[item as usize];
                let kind = in_one_line(&item_kind_or_tool(timeline, row.kind, item)).into_owned();
                let (now, tokens) = (&mut sizes.entry(kind).or_default().0, Tokens::from(row.raw));
                *now = if enters { *now + tokens } else { *now - tokens };
            }
            for (now, by_prompt) in sizes.values_mut() {
                by_prompt.resize(n_prompts, 0);
                by_prompt.push(*now);
            }
            n_prompts += 1;
        });
        let by_kind = sizes.into_iter().map(|(kind, (_, by_prompt))| (kind, by_prompt));
        let mut kinds: IndexMap<String, Vec<Tokens>> = by_kind.collect();
        kinds.retain(|_, by_prompt| by_prompt.iter().any(|tokens| *tokens > 0));
        kinds.sort_by_key(|_, by_prompt| std::cmp::Reverse(by_prompt.iter().sum::<Tokens>()));
        if kinds.len() > MOST_KINDS + 1 {
            let rest = kinds.split_off(MOST_KINDS);
            let in_prompt = |nth| rest.values().filter_map(|all: &Vec<Tokens>| all.get(nth)).sum();
            kinds.insert(format!("{} others", rest.len()), (0..n_prompts).map(in_prompt).listed());
        }
        let kind = |(what, by_prompt): (String, Vec<Tokens>)| Self {
            what,
            last: by_prompt.get(n_prompts - 1).copied().unwrap_or(0),
            largest: by_prompt.iter().copied().max().unwrap_or(0),
            sent: by_prompt.iter().sum(),
        };
        kinds.into_iter().map(kind).listed()
    }

    /// Returns a table of what fills the prompts of a recorded session.
    pub(super) fn prompt_contents_grid(scenario: &str, kinds: &[Self]) -> Grid {
        let sent = kinds.iter().map(|kind| kind.sent).sum::<Tokens>().max(1) as f64;
        let columns: [Of<'_, Self>; 4] = [
            ("what", &|kind| kind.what.clone()),
            ("last prompt", &|kind| thousands(kind.last)),
            ("largest", &|kind| thousands(kind.largest)),
            ("of all sent", &|kind| percent(kind.sent as f64 / sent)),
        ];
        let title = format!("What fills the prompts of {}, in tokens", scenario.trim_end_matches(','));
        Grid::from_columns(title, 1, kinds, &columns)
    }
}

impl PromptFill {
    /// Adds up items and lists the most expensive ones.
    pub fn new(session: &str, profile: &str, timeline: &Timeline, items: &[CarriedItem]) -> Self {
        let mut dearest: Vec<&CarriedItem> = items.iter().filter(|it| it.kind != Kind::System).listed();
        dearest.order_by(|one, other| other.carried_usd.total_cmp(&one.carried_usd));
        let rows = dearest.into_iter().take(SHOWN).map(|item| CarriedRow {
            what: item_kind_or_tool(timeline, item.kind, item.item),
            about: item_excerpt(timeline, item),
            turn: item.turn_ix + 1,
            request: item.first + 1,
            tokens: item.tokens,
            resent: item.resent,
            carried_usd: item.carried_usd,
            is_needed: item.is_needed,
        });
        Self {
            session: session.to_owned(),
            profile: profile.to_owned(),
            by_tool: CarriedTotals::sum_by_tool(timeline, items),
            items: rows.listed(),
        }
    }
}

impl CarriedTotals {
    /// Adds up the items of a session by tool or kind, the most expensive first.
    pub fn sum_by_tool(timeline: &Timeline, items: &[CarriedItem]) -> Vec<Self> {
        merge_totals_by_tool(items.iter().map(|item| Self {
            what: item_kind_or_tool(timeline, item.kind, item.item),
            items: 1,
            tokens: item.tokens,
            resent: item.resent.into(),
            entered_usd: item.entered_usd,
            carried_usd: item.carried_usd,
            never_needed_tokens: item.is_needed.map(|needed| if needed { 0 } else { item.tokens }),
        }))
    }

    /// Returns what sending the items cost, in US dollars.
    pub fn total_usd(&self) -> f64 {
        self.entered_usd + self.carried_usd
    }

    fn add(&mut self, more: &Self) {
        self.items += more.items;
        self.tokens += more.tokens;
        self.resent += more.resent;
        self.entered_usd += more.entered_usd;
        self.carried_usd += more.carried_usd;
        if let Some(tokens) = more.never_needed_tokens {
            *self.never_needed_tokens.get_or_insert(0) += tokens;
        }
    }
}

/// Returns the name of an item: its tool where it is a result, else its kind.
pub(super) fn item_kind_or_tool(timeline: &Timeline, kind: Kind, item: ItemIx) -> String {
    kind_or_tool_name(timeline, kind, timeline.spine.items[item as usize].tool)
}

/// Returns the name of what a kind and, for results, a tool bring into prompts.
pub fn kind_or_tool_name(timeline: &Timeline, kind: Kind, tool: u16) -> String {
    let tool = timeline.spine.tools.get_index(usize::from(tool)).map_or("", String::as_str);
    match kind {
        Kind::ToolResult if !tool.is_empty() => tool.to_owned(),
        // Few logs tell them apart, and a prompt's hidden front may be cut anywhere: `import --fixed` splits it where that is known.
        Kind::System | Kind::ToolSchema => "system prompt and tools".to_owned(),
        Kind::User => "user messages".to_owned(),
        Kind::Assistant => "answers".to_owned(),
        Kind::Reasoning => "reasoning".to_owned(),
        Kind::ToolCall => "tool calls".to_owned(),
        Kind::ToolResult => "tool results".to_owned(),
        Kind::Summary => "summaries".to_owned(),
        Kind::Memory => "memory".to_owned(),
        Kind::Approval => "approvals".to_owned(),
        Kind::Image => "images".to_owned(),
    }
}

/// Returns what an item's call asked for, or the item's beginning, on one line; for a path, its end.
fn item_excerpt(timeline: &Timeline, item: &CarriedItem) -> String {
    let row = &timeline.spine.items[item.item as usize];
    let holder = if item.kind == Kind::ToolResult { row.pair } else { item.item };
    let text = timeline.texts.text(holder).unwrap_or_default();
    let arguments: Option<IndexMap<String, serde_json::Value>> = serde_json::from_str(text).ok();
    let asked = arguments.and_then(|it| it.values().find_map(|value| value.as_str().map(str::to_owned)));
    let line = asked.as_deref().unwrap_or(text).split_whitespace().listed().join(" ");
    let n = line.chars().count();
    if n <= ABOUT {
        return line;
    }
    if line.contains('/') && !line.contains(' ') {
        return std::iter::once('…').chain(line.chars().skip(n + 1 - ABOUT)).collect();
    }
    line.chars().take(ABOUT - 1).chain(std::iter::once('…')).collect()
}

/// Returns sessions as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn prompt_fills_json(sessions: &[PromptFill], skipped: &[SkippedFile]) -> serde_json::Result<String> {
    json_text(&group! {
        "schema": "ctxsim.carried/1",
        "by_tool": Value::serialised(&all_tool_totals(sessions)),
        "skipped": Value::serialised(skipped),
        "sessions": Value::serialised(sessions),
    })
}

/// Adds up the tools of all sessions, the most expensive first.
pub(super) fn merge_totals_by_tool(totals: impl Iterator<Item = CarriedTotals>) -> Vec<CarriedTotals> {
    let mut all: IndexMap<String, CarriedTotals> = IndexMap::new();
    for share in totals {
        let none = || CarriedTotals { what: share.what.clone(), ..CarriedTotals::default() };
        all.entry(share.what.clone()).or_insert_with(none).add(&share);
    }
    let mut all: Vec<CarriedTotals> = all.into_values().listed();
    all.order_by(|one, other| other.total_usd().total_cmp(&one.total_usd()));
    all
}

/// Adds up what each session has, by tool.
fn all_tool_totals(sessions: &[PromptFill]) -> Vec<CarriedTotals> {
    merge_totals_by_tool(sessions.iter().flat_map(|it| it.by_tool.iter().cloned()))
}

/// Returns sessions for people: all of them by tool, then the most expensive items.
pub fn draw_prompt_fills(sessions: &[PromptFill], skipped: &[SkippedFile], width: Option<usize>) -> String {
    let mut text = String::new();
    let n = thousands(sessions.len() as u64);
    let title = match sessions {
        [only] => format!("{} · {}", only.session, only.profile),
        [first, more @ ..] if more.iter().all(|it| it.profile == first.profile) => {
            format!("{n} sessions, at the prices of {}", first.profile)
        }
        _ => format!("{n} sessions, each at its own model's prices"),
    };
    let skipped = or_nothing(SkippedFile::count_with_reasons(skipped), |it| format!("; {it}"));
    let by_tool = draw_tool_totals(&all_tool_totals(sessions), width);
    wrap(&format!("{title}{skipped}"), "", width, &mut text);
    text += &format!("{}\n\n", by_tool.text);
    let mut rows: Vec<(&str, &CarriedRow)> =
        sessions.iter().flat_map(|of| of.items.iter().map(|it| (of.session.as_str(), it))).listed();
    rows.order_by(|one, other| other.1.carried_usd.total_cmp(&one.1.carried_usd));
    rows.truncate(SHOWN);
    let items = draw_dearest_items(&rows, sessions.len() > 1, width);
    text += &format!("Most expensive items to carry\n{}\n\n", items.text);
    wrap_all(NOTES, "Note: ", width, &mut text);
    wrap_all(hidden_note(by_tool.hidden.into_iter().chain(items.hidden)), "Note: ", width, &mut text);
    text
}

fn draw_tool_totals(totals: &[CarriedTotals], width: Option<usize>) -> DrawnTable {
    let all: f64 = totals.iter().map(CarriedTotals::total_usd).sum();
    let decimals = numbers::decimals(all);
    let part = |it: f64| percent(if all > 0.0 { it / all } else { 0.0 });
    let unneeded = |it: &CarriedTotals| Some(it.never_needed_tokens? as f64 / it.tokens.max(1) as f64);
    let columns: [Of<'_, &CarriedTotals>; 8] = [
        ("what", &|it| it.what.clone()),
        ("items", &|it| thousands(it.items)),
        ("tokens", &|it| thousands(it.tokens)),
        ("mean resent", &|it| fixed(it.resent as f64 / it.items.max(1) as f64, 1)),
        ("entering USD", &|it| fixed(it.entered_usd, decimals)),
        ("carrying USD", &|it| fixed(it.carried_usd, decimals)),
        ("% of input", &|it| part(it.total_usd())),
        ("% never needed", &|it| or_none(unneeded(it), percent)),
    ];
    let mut total = CarriedTotals { what: "total".to_owned(), ..CarriedTotals::default() };
    totals.iter().for_each(|it| total.add(it));
    // Needs exist only for tool results, so a share of all tokens would mean nothing.
    total.never_needed_tokens = None;
    let rows = totals.iter().chain((totals.len() > 1).then_some(&total)).listed();
    let grid = Grid::from_columns("", 1, &rows, &columns);
    draw(&grid.leaving(&["entering USD", "items", "mean resent"]), width)
}

fn draw_dearest_items(rows: &[(&str, &CarriedRow)], with_session: bool, width: Option<usize>) -> DrawnTable {
    let decimals = numbers::decimals(rows.first().map_or(0.0, |it| it.1.carried_usd));
    let place = |session: &str, row: &CarriedRow| {
        let at = format!("turn {}, request {}", row.turn, row.request);
        if with_session { format!("{session}, {at}") } else { at }
    };
    let columns: [Of<'_, (&str, &CarriedRow)>; 7] = [
        ("about", &|(_, it)| it.about.clone()),
        ("what", &|(_, it)| it.what.clone()),
        ("place", &|(session, it)| place(session, it)),
        ("tokens", &|(_, it)| thousands(it.tokens)),
        ("resent", &|(_, it)| thousands(it.resent.into())),
        ("carrying USD", &|(_, it)| fixed(it.carried_usd, decimals)),
        ("needed", &|(_, it)| it.is_needed.map_or(NONE, |it| if it { "yes" } else { "no" }).to_owned()),
    ];
    let grid = Grid::from_columns("", 1, rows, &columns);
    draw(&grid.with(grid::CellKind::Excerpt, &[0]).leaving(&["resent"]), width)
}
