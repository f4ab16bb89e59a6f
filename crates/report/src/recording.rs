//! What a recording contains and what is left out, as a table and as JSON.

use crate::SharedFront;
use crate::as_logged::{BillAsLogged, ProfileOf, sum_bills};
use crate::bill_by::SessionBill;
use crate::fixed::{SenderSession, SessionPartBills};
use crate::prelude::*;
use ctxsim_timeline::import::{Imported, Indexed, LossReason};
use ctxsim_timeline::{AsideKind, EventKind, ItemIx, Kind, UnbilledSummary, Usage};
use std::cmp::Reverse;
/// The most lines that are printed unless more are asked for.
const LINES_MAX: usize = 60;
/// The most line numbers of a loss in the table.
const LINES_SHOWN: usize = 5;

#[derive(Debug, Serialize)]
pub struct FileContents {
    /// The file, as named.
    pub file: String,
    pub format: &'static str,
    /// Its sessions, in order.
    pub sessions: Vec<SessionContents>,
    /// What is left out, by first line; each loss with all its lines.
    pub left_out: Vec<LeftOutRecords>,
}

/// The contents of one session.
#[derive(Debug, Serialize)]
pub struct SessionContents {
    /// Its name within the file; empty for a single session.
    pub session: String,
    /// User turns.
    pub turns: usize,
    /// Model requests.
    pub requests: usize,
    /// Requests with recorded usage.
    pub billed_requests: usize,
    /// Requests that are billed and are no step, by what they were for: how many, and their tokens in and out; no other number includes them.
    #[serde(flatten)]
    pub aside: IndexMap<String, Option<u64>>,
    /// Requests that wrote summaries and that no usage shows; no number includes them.
    pub unbilled_summaries: Vec<UnbilledSummary>,
    /// Items of all kinds.
    pub items: usize,
    /// How often the harness removed history; reasoning that a provider drops by itself is none.
    pub resets: usize,
    /// Requests without recorded usage, whose sizes are estimated from their texts.
    pub requests_estimated: usize,
    /// Whether usage is known for the session alone, and spread over its requests by the sizes of their texts.
    pub usage_spread: bool,
    /// The longest billed prompt, in tokens; like all billed numbers, `None` if no request has recorded usage.
    pub prompt_tokens_max: Option<Tokens>,
    /// Billed tokens neither read from the cache nor written to it, over all requests.
    pub uncached_tokens: Option<Tokens>,
    /// Billed tokens that were read from the cache.
    pub cache_read_tokens: Option<Tokens>,
    /// Billed tokens that were written to the cache.
    pub cache_write_tokens: Option<Tokens>,
    /// Billed tokens that the model wrote.
    pub output_tokens: Option<Tokens>,
    /// The cost stated by the recording itself, in US dollars.
    pub cost_usd: Option<f64>,
    /// What its log says was billed, at list prices; each request counts once, also those for summaries and on left branches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_logged: Option<BillAsLogged>,
    /// The same, by what bills are divided by.
    #[serde(skip)]
    pub by: SessionBill,
    /// What the fixed part of its prompts was billed, if its requests have bills of their own.
    #[serde(skip)]
    pub fixed: Option<SessionPartBills>,
    /// The session whose agent started it, if it is a sub-agent's.
    pub parent: Option<String>,
    /// What other sessions send of its prompts, if any are known.
    pub shared: Option<SharedFront>,
    /// Its assumptions, in sentences.
    pub assumptions: Vec<String>,
}

/// Something left out.
#[derive(Debug, Serialize)]
pub struct LeftOutRecords {
    /// What, and why.
    pub what: String,
    /// How many times.
    pub count: usize,
    /// The lines, in order.
    pub lines: Vec<usize>,
}

impl FileContents {
    /// Sums up what was imported of a file.
    pub fn new(file_name: &str, imported: &[Imported], profile_of: ProfileOf<'_>) -> Self {
        let left_out = imported.first().map(|it| it.losses.clone()).unwrap_or_default().into_iter();
        let held = |LossReason { what, count, lines, .. }| LeftOutRecords { what, count, lines };
        Self {
            file: file_name.to_owned(),
            format: imported.first().map_or("", |it| it.format),
            sessions: imported.iter().map(|it| SessionContents::new(it, profile_of)).listed(),
            left_out: left_out.map(held).listed(),
        }
    }

    /// Returns what its sessions were billed, for dividing it.
    pub fn session_bills(&self) -> impl Iterator<Item = &SessionBill> {
        self.sessions.iter().map(|it| &it.by)
    }

    /// Returns what is fixed of its sessions' prompts, for adding it up.
    pub fn fixed_parts_by_session(&self) -> impl Iterator<Item = SenderSession<'_>> {
        self.sessions.iter().map(|session| SenderSession {
            by: &session.by,
            fixed: session.fixed.as_ref(),
            as_logged: session.as_logged.as_ref(),
        })
    }

    /// Takes whose its sessions are from the index of its log.
    pub fn assign_owners(&mut self, index: &[Indexed]) {
        for session in &mut self.sessions {
            let own = index.iter().find(|it| it.session == session.session).or(index.first());
            own.into_iter().for_each(|it| session.by.set_project_and_user(it));
        }
    }
}

impl SessionContents {
    fn new(imported: &Imported, profile_of: ProfileOf<'_>) -> Self {
        let timeline = &imported.timeline;
        let recorded = timeline.recorded.clone().unwrap_or_default();
        let billed: Vec<Usage> = recorded.usage.iter().flatten().copied().listed();
        let total = |bills: &[Usage], field: fn(&Usage) -> Tokens| {
            bills.iter().map(field).reduce(Tokens::saturating_add)
        };
        let aside = ASIDE.iter().flat_map(|(kind, name, _)| {
            let own = recorded.aside.iter().filter(|it| it.kind == *kind).map(|it| it.usage).listed();
            let numbers = [Some(own.len() as u64), total(&own, |it| it.prompt), total(&own, |it| it.output)];
            ASIDE_NUMBERS.iter().map(move |it| format!("{name}_{it}")).zip(numbers)
        });
        let costs: Vec<f64> = recorded.costs.iter().flatten().map(|it| it.usd()).listed();
        let items = &timeline.spine.items;
        let is_history = |it: ItemIx| items.get(it as usize).is_none_or(|it| it.kind != Kind::Reasoning);
        let is_reset = |it: &EventKind| matches!(it, EventKind::Reset(gone) if gone.clone().any(is_history));
        let resets = timeline.events.iter().filter(|it| is_reset(&it.kind));
        let mut resets: Vec<u32> = resets.map(|it| timeline.spine.step_at(it.at)).listed();
        resets.dedup();
        Self {
            session: imported.session.clone(),
            turns: timeline.spine.turns.len(),
            requests: timeline.spine.steps.len(),
            billed_requests: billed.len(),
            requests_estimated: timeline.spine.steps.len().saturating_sub(billed.len()),
            usage_spread: recorded.is_spread,
            aside: aside.collect(),
            unbilled_summaries: recorded.unbilled,
            items: timeline.spine.items.len(),
            resets: resets.len(),
            prompt_tokens_max: billed.iter().map(|it| it.prompt).max(),
            uncached_tokens: total(&billed, |it| it.uncached),
            cache_read_tokens: total(&billed, |it| it.cache_read),
            cache_write_tokens: total(&billed, |it| it.cache_write),
            output_tokens: total(&billed, |it| it.output),
            cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
            as_logged: BillAsLogged::from_timeline(timeline, profile_of),
            by: SessionBill::from_timeline(timeline, profile_of),
            fixed: SessionPartBills::from_timeline(timeline, profile_of),
            parent: timeline.spine.sessions.first().and_then(|it| it.parent.clone()),
            shared: SharedFront::from_timeline(timeline),
            assumptions: timeline.assumptions.clone(),
        }
    }
}

/// Returns what files hold as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn recordings_json(files: &[FileContents]) -> Result<String, serde_json::Error> {
    json_text(&group! { "schema": "ctxsim.recording/1", "files": Value::serialised(files) })
}

/// Returns what files hold, for people: in full if that is asked for or has few lines.
pub fn recordings_text(files: &[FileContents], is_detailed: bool) -> String {
    let logged = sum_bills(files.iter().flat_map(|it| &it.sessions).filter_map(|it| it.as_logged.as_ref()));
    let bill = or_nothing(logged, |it| format!("{}\n", it.describe()));
    let text = append_full_listing(files, bill.clone());
    let is_whole = is_detailed || text.lines().count() <= LINES_MAX;
    if is_whole { text } else { bill + &costliest_files_overview(files) }
}

/// Adds each file with its sessions and its losses to a text.
fn append_full_listing(files: &[FileContents], mut text: String) -> String {
    for file in files {
        let gap = if text.is_empty() { "" } else { "\n" };
        let sessions = counted(file.sessions.len(), "session");
        text += &format!("{gap}{}: {}, {sessions}\n\n", file.file, file.format);
        text += &sessions_table(&file.sessions);
        let spread =
            "with usage as totals alone, which are spread over the requests by the sizes of their texts";
        let estimated = "without recorded usage, so that sizes are estimated from the text";
        let n_spread = file.sessions.iter().map(|it| if it.usage_spread { it.billed_requests } else { 0 });
        let n_estimated = file.sessions.iter().map(|it| it.requests_estimated);
        for (how, n) in [(spread, n_spread.sum::<usize>()), (estimated, n_estimated.sum())] {
            text += &text_if_any(n, |n| format!("\n{how}: {} requests\n", thousands(n as u64)));
        }
        for (_, name, what) in ASIDE {
            let [n, input, output] = ASIDE_NUMBERS.map(|it| {
                let number = format!("{name}_{it}");
                file.sessions.iter().filter_map(|it| *it.aside.get(&number)?).fold(0, u64::saturating_add)
            });
            let billed = format!("({} tokens in, {} out)", thousands(input), thousands(output));
            let beside = format!("\nrequests that {what}, which no number above includes: {n} {billed}\n");
            text += &text_if(n > 0, || beside);
        }
        text += &unbilled_summaries_text(&file.sessions);
        text += &sub_agent_and_sharing_text(&file.sessions);
        let lost = |LeftOutRecords { what, count, lines }: &LeftOutRecords| {
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let first = first_few(lines.iter().map(ToString::to_string), LINES_SHOWN);
            [count.to_string(), format!("{what} ({word} {first})")]
        };
        text += &left_out_text(file.left_out.iter().map(lost).listed());
    }
    text
}

/// Requests that are billed and are no step: what they are called in JSON, and what they did.
const ASIDE: [(AsideKind, &str, &str); 4] = [
    (AsideKind::Summary, "summary", "wrote a summary of the history"),
    (AsideKind::LeftBranch, "left", "lie on branches that the user left"),
    (AsideKind::Inner, "inner", "went on inside others, with the provider's own tools"),
    (AsideKind::Advisor, "advisor", "advised inside others"),
];
const ASIDE_NUMBERS: [&str; 3] = ["requests", "prompt_tokens", "output_tokens"];

/// Says which compactions left only their sizes.
fn unbilled_summaries_text(sessions: &[SessionContents]) -> String {
    let size = |it: &UnbilledSummary| {
        let estimated = if it.is_stated { "" } else { ", estimated" };
        format!("{} → {} tokens{estimated}", thousands(it.prompt), thousands(it.output))
    };
    let sizes = sessions.iter().flat_map(|it| &it.unbilled_summaries).map(size).listed();
    let (n, shown) = (sizes.len(), first_few(sizes.into_iter(), LINES_SHOWN));
    text_if_any(n, |n| format!("\ncompactions whose request no usage shows: {n} ({shown})\n"))
}

/// Lists what is left out: how often, and what.
fn left_out_text(counts_and_reasons: Vec<[String; 2]>) -> String {
    if counts_and_reasons.is_empty() {
        return "\nnothing is left out\n".to_owned();
    }
    let grid = Grid::new("", 0, &[""; 2], counts_and_reasons).with(CellKind::Text, &[1]);
    format!("\nleft out\n{}", draw_whole(&grid))
}

/// Says which sessions are sub-agents', and what other sessions had left for each.
fn sub_agent_and_sharing_text(sessions: &[SessionContents]) -> String {
    let mut text = String::new();
    for session in sessions {
        let name = if session.session.is_empty() { "the session" } else { &session.session };
        if let Some(parent) = &session.parent {
            let id = if parent.is_empty() { "which has no id" } else { parent };
            text += &format!("{name} is a sub-agent's, of the session {id}\n");
        }
        text += &or_nothing(session.shared.as_ref(), |it| format!("{name}: {}\n", it.told));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Returns one line a session.
fn sessions_table(sessions: &[SessionContents]) -> String {
    let count = |n: usize| thousands(n as u64);
    let tokens = |n: Option<Tokens>| or_none(n, thousands);
    let columns: [Of<'_, SessionContents>; 12] = [
        ("session", &|it| if it.session.is_empty() { NONE.to_owned() } else { it.session.clone() }),
        ("turns", &|it| count(it.turns)),
        ("requests", &|it| count(it.requests)),
        ("billed", &|it| count(it.billed_requests)),
        ("items", &|it| count(it.items)),
        ("resets", &|it| count(it.resets)),
        ("longest prompt tokens", &|it| tokens(it.prompt_tokens_max)),
        ("uncached", &|it| tokens(it.uncached_tokens)),
        ("read", &|it| tokens(it.cache_read_tokens)),
        ("written", &|it| tokens(it.cache_write_tokens)),
        ("output", &|it| tokens(it.output_tokens)),
        ("cost", &|it| or_none(it.cost_usd, |usd| format!("{usd:.4}$"))),
    ];
    draw_whole(&Grid::from_columns("", 1, sessions, &columns))
}

/// The most files that are shown.
const FILES_SHOWN: usize = 20;
/// The most kinds of losses that are shown.
const LOSSES_SHOWN: usize = 10;

/// Returns, in short, the costliest files, what is left out most, and what shows the rest.
fn costliest_files_overview(files: &[FileContents]) -> String {
    // What the requests of a file were billed, if any was.
    let bill = |it: &FileContents| sum_bills(it.sessions.iter().filter_map(|it| it.as_logged.as_ref()));
    let cost = |it: &FileContents| bill(it).filter(|it| it.requests > 0).map(|it| it.total());
    let mut rows: Vec<(&FileContents, Option<Cost>)> = files.iter().map(|it| (it, cost(it))).listed();
    rows.order_by_key(|it| Reverse(it.1));
    let more = rows.len().saturating_sub(FILES_SHOWN);
    rows.truncate(FILES_SHOWN);
    let n_sessions = files.iter().map(|it| it.sessions.len()).sum::<usize>();
    let sum = |file: &FileContents, number: fn(&SessionContents) -> usize| {
        thousands(file.sessions.iter().map(number).sum::<usize>() as u64)
    };
    let columns: [Of<'_, (&FileContents, Option<Cost>)>; 6] = [
        ("file", &|(file, _)| file.file.clone()),
        ("format", &|(file, _)| file.format.to_owned()),
        ("sessions", &|(file, _)| thousands(file.sessions.len() as u64)),
        ("requests", &|(file, _)| sum(file, |it| it.requests)),
        ("billed", &|(file, _)| sum(file, |it| it.billed_requests)),
        ("USD", &|(_, cost)| or_none(*cost, |it| fixed(it.usd(), 2))),
    ];
    let counts = format!("{}, {}", counted(files.len(), "file"), counted(n_sessions, "session"));
    let table = draw_whole(&Grid::from_columns("", 2, &rows, &columns));
    let more = text_if_any(more, |n| format!("… and {} more, which cost no more\n", thousands(n as u64)));
    format!("\n{counts}\n\n{table}{more}{}", left_out_by_kind_text(files))
        + "\n`--details` shows the sessions of each file, and all that is left out, with its lines; `--by KEY` divides the bill; `--fixed` shows \
            what every prompt begins with.\n"
}

/// Returns what is left out of all files, by what it is.
fn left_out_by_kind_text(files: &[FileContents]) -> String {
    let mut by_what: IndexMap<&str, [usize; 2]> = IndexMap::new();
    for loss in files.iter().flat_map(|it| &it.left_out) {
        let sum = by_what.entry(&loss.what).or_default();
        *sum = [sum[0] + loss.count, sum[1] + 1];
    }
    let mut all = by_what.into_iter().listed();
    all.order_by_key(|it| Reverse(it.1[0]));
    let more = all.len().saturating_sub(LOSSES_SHOWN);
    let row = |(what, [count, files]): &(&str, [usize; 2])| {
        [thousands(*count as u64), format!("{what} ({})", counted(*files, "file"))]
    };
    let text = left_out_text(all.iter().take(LOSSES_SHOWN).map(row).listed());
    text + &text_if_any(more, |n| format!("… and {} more kinds\n", thousands(n as u64)))
}
