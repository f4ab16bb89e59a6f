//! Tables of memory runners' savings and losses: calls, time and cost, answers by type,
//! and the specification's expectations.

use super::rows::Wins;
use super::summary::{ChatSummary, LostAnswers, OVERALL, TYPES};
use super::users::QuestionKind;
use crate::trial::{FoundRun, Ordering, found, is_beside, titled};
use ctxsim_base::grid::numbers::{NONE, percent, plain_or_none, thousands};
use ctxsim_base::grid::{Grid, Of};
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Findings, FindingsKind, Number, Run, StageRepair};
use ctxsim_input::suite::Reference;
use ctxsim_timeline::row::{Fields, Head, Value, number_heads};

/// A run with its runner's results.
type RunnerRow<'r> = FoundRun<'r, ChatSummary>;

/// The specification's expectations of the context-only agent relative to entries, by column.
const EXPECTED: [(&str, &str); 6] = [
    ("faster ingestion", "10×"),
    ("faster in total", "5–8×"),
    ("fewer calls", "75%"),
    ("fewer calls in total", NONE),
    ("less storage", "90%"),
    ("entries' accuracy", "80–100%"),
];

/// The specification's expectations of entries relative to the document alone, by question type.
fn expected(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::SingleFact | QuestionKind::KnowledgeUpdate | QuestionKind::Abstention => "equal",
        QuestionKind::Counting | QuestionKind::Audit => "entries win",
        QuestionKind::Timeline => "equal with conversation_time",
    }
}

/// Returns the tables of sessions that are written to a memory service.
fn grids(runs: &[&Run], _references: &[Reference]) -> Vec<Grid> {
    let of_group = |runs: &[RunnerRow<'_>]| {
        [
            Some(calls(runs)),
            Some(time(runs)),
            Some(costs(runs)),
            Some(accuracy(runs)),
            losses(runs),
            wins(runs),
            beside(runs),
            storage(runs),
            advice(runs),
        ]
    };
    found(runs).chunk_by(is_beside).flat_map(of_group).flatten().collect()
}

/// Returns a table about a group of runs.
fn grid(
    title: &str,
    runs: &[RunnerRow<'_>],
    columns: &[impl AsRef<str>],
    n_names: usize,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Grid {
    Grid::new(titled(title, runs), n_names, columns, rows)
}

/// Returns a table with a line for each run of a group, and any number of cells.
fn lines(
    title: &str,
    runs: &[RunnerRow<'_>],
    columns: impl IntoIterator<Item = String>,
    cells: impl Fn(&ChatSummary) -> Vec<String>,
) -> Grid {
    let columns: Vec<String> = std::iter::once("policy".to_owned()).chain(columns).collect();
    let row = |it: &RunnerRow<'_>| [vec![named(&it.0.policy, runs)], cells(it.1)].concat();
    grid(title, runs, &columns, 1, runs.iter().map(row))
}

/// Returns a table with a line for each run of a group.
fn by_policy<'r>(title: &str, runs: &[RunnerRow<'r>], columns: &[Of<'_, RunnerRow<'r>>]) -> Grid {
    let name = |it: &RunnerRow<'r>| named(&it.0.policy, runs);
    let all: Vec<Of<'_, RunnerRow<'r>>> =
        std::iter::once(("policy", &name as _)).chain(columns.iter().copied()).collect();
    Grid { title: titled(title, runs), ..Grid::from_columns("", 1, runs, &all) }
}

/// One line per policy: calls while writing sessions, by kind.
fn calls(runs: &[RunnerRow<'_>]) -> Grid {
    let of = |it: &ChatSummary, name: &str| thousands(it.ingestion.get(name).copied().unwrap_or(0));
    let none = || NONE.to_owned();
    let title = "Calls to the memory service while sessions are written";
    let columns: [Of<'_, RunnerRow<'_>>; 8] = [
        ("context only", &|(_, it)| it.context_only.map_or_else(none, |it| it.to_string())),
        ("add", &|(_, it)| of(it, "add_entry")),
        ("await", &|(_, it)| of(it, "await_consistency")),
        ("put", &|(_, it)| of(it, "put_context")),
        ("get", &|(_, it)| of(it, "get_context")),
        ("list", &|(_, it)| of(it, "list_entries")),
        ("all", &|(_, it)| thousands(it.n_ingestion())),
        ("a session", &|(_, it)| format!("{:.1}", it.n_ingestion() as f64 / it.sessions.max(1) as f64)),
    ];
    by_policy(title, runs, &columns)
}

/// One line per policy: time and storage.
fn time(runs: &[RunnerRow<'_>]) -> Grid {
    let seconds = |ms: u64| thousands((ms as f64 / 1_000.0).round() as u64);
    let columns: [Of<'_, RunnerRow<'_>>; 7] = [
        ("sessions s", &|(_, it)| seconds(it.latency_ms.ingestion)),
        ("questions s", &|(_, it)| seconds(it.latency_ms.qa)),
        ("both: index s", &|(_, it)| seconds(it.latency_ms.waiting)),
        ("questions", &|(_, it)| thousands(it.questions)),
        ("their calls", &|(_, it)| thousands(it.n_qa())),
        ("stored words", &|(_, it)| thousands(it.storage.words())),
        ("document words", &|(_, it)| thousands(it.storage.document_words)),
    ];
    by_policy("Time and storage of the first trial", runs, &columns)
}

/// One line per policy: model requests and dollars.
fn costs(runs: &[RunnerRow<'_>]) -> Grid {
    let model = |run: &Run| run.tally.costs.total().map(|all| all - run.tally.costs.memory.usd());
    let columns: [Of<'_, RunnerRow<'_>>; 5] = [
        ("model calls", &|(_, it)| thousands(it.model_calls.total)),
        ("prompt tokens", &|(_, it)| thousands(it.model_calls.prompt_tokens)),
        ("output tokens", &|(_, it)| thousands(it.model_calls.output_tokens)),
        ("model USD", &|(run, _)| plain_or_none(model(run), 4)),
        ("service USD", &|(_, it)| format!("{:.4}", it.service_usd)),
    ];
    by_policy("Models and cost of the first trial", runs, &columns)
}

/// One line per policy: the share of correct answers by type, with its confidence interval.
fn accuracy(runs: &[RunnerRow<'_>]) -> Grid {
    let titles = TYPES.iter().map(|it| it.replace('_', " "));
    let shares = |it: &ChatSummary| TYPES.iter().map(|name| shown(it.accuracy.get(*name))).collect();
    lines("Correct answers in percent by question type, ± 95%", runs, titles, shares)
}

/// One line per policy: causes of wrong answers; `None` if nothing was lost.
fn losses(runs: &[RunnerRow<'_>]) -> Option<Grid> {
    let columns = ["never written", "not held", "not found", "not used", "invented"].map(str::to_owned);
    let counts = |LostAnswers { write, store, read, r#use, invented }| [write, store, read, r#use, invented];
    let is_any = runs.iter().any(|it| counts(it.1.lost_in) != [0; 5]);
    let cells = |it: &ChatSummary| counts(it.lost_in).map(thousands).to_vec();
    is_any.then(|| lines("Causes of wrong answers", runs, columns, cells))
}

/// A line for each type and runner without entries: how much more accurate the first one with entries is on the same chats.
fn wins(runs: &[RunnerRow<'_>]) -> Option<Grid> {
    let (base, entries) = runs.iter().find(|it| it.1.context_only == Some(false))?;
    let mut rows = Vec::new();
    for (run, _) in runs.iter().filter(|it| it.1.context_only == Some(true)) {
        let paired = entries.paired.get(&run.policy)?;
        for kind in QuestionKind::ALL {
            let Some(it) = paired.get(kind.name()) else { continue };
            rows.push(vec![
                kind.name().to_owned(),
                named(&run.policy, runs),
                format!("{:+.3}", it.mean),
                plain_or_none(it.reach(), 3),
                sign(it).to_owned(),
                expected(kind).to_owned(),
            ]);
        }
    }
    rows.order_by_key(|row| QuestionKind::ALL.iter().position(|it| it.name() == row[0]));
    let columns = ["type", "against", "difference", "± 95%", "winner", "expected by spec"];
    let title = format!("When {} wins: paired trials on the same chats", named(&base.policy, runs));
    (!rows.is_empty()).then(|| grid(&title, runs, &columns, 2, rows))
}

/// Names the more accurate one.
fn sign(difference: &Statistic) -> &'static str {
    match Wins::new(difference) {
        Wins::Entries => "entries win",
        Wins::Document => "document wins",
        Wins::Open if difference.mean == 0.0 && difference.sd == 0.0 => "equal",
        Wins::Open => "open",
    }
}

/// One line per number, type and runner without entries whose order changes between values of the number.
pub fn flips(orderings: &[Ordering]) -> Grid {
    let key = |it: &Ordering| (it.number.clone(), it.compared.clone(), it.against.clone());
    let mut sorted: Vec<&Ordering> = orderings.iter().collect();
    sorted.order_by(|one, other| key(one).cmp(&key(other)).then(one.value.total_cmp(&other.value)));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in sorted.chunk_by(|one, other| key(one) == key(other)) {
        let wins = |it: &Ordering| Wins::new(&it.difference);
        let declared = line.iter().find(|it| it.value == it.declared).map(|own| wins(own));
        if line.iter().all(|it| Some(wins(it)) == declared) {
            continue;
        }
        let at = |wanted: Wins| {
            let values = line.iter().filter(|it| wins(it) == wanted).map(|won| won.value.to_string());
            let values = values.collect::<Vec<_>>().join(" ");
            if values.is_empty() { NONE.to_owned() } else { values }
        };
        let first = line[0];
        rows.push(vec![
            first.number.clone(),
            first.compared.clone(),
            last_word(&first.against).to_owned(),
            first.declared.to_string(),
            at(Wins::Entries),
            at(Wins::Open),
            at(Wins::Document),
        ]);
    }
    let columns = ["number", "type", "against", "declared", "entries win at", "open at", "document wins at"];
    Grid::new("When the order of the runners flips", 3, &columns, rows)
}

/// Returns the part of a policy's name that distinguishes it within its folder.
fn last_word(policy: &str) -> &str {
    policy.rsplit('/').next().unwrap_or(policy)
}

/// Returns a policy's name in a table: without its folder, if that is unambiguous.
fn named(policy: &str, runs: &[RunnerRow<'_>]) -> String {
    let own = last_word(policy);
    let same = runs.iter().filter(|it| last_word(&it.0.policy) == own).count();
    if same == 1 { own.to_owned() } else { policy.to_owned() }
}

/// A line for each pair of a runner without entries and one with them, below what the specification expects.
fn beside(runs: &[RunnerRow<'_>]) -> Option<Grid> {
    let of = |context_only: bool| runs.iter().filter(move |it| it.1.context_only == Some(context_only));
    let columns: Vec<&str> = ["policy", "against"].into_iter().chain(EXPECTED.map(|it| it.0)).collect();
    let spec = ["the specification", NONE].into_iter().chain(EXPECTED.map(|it| it.1));
    let mut rows = vec![spec.map(str::to_owned).collect::<Vec<String>>()];
    for (run, own) in of(true) {
        for (other, base) in of(false) {
            let ratio = |nth: usize, ms: fn(&ChatSummary) -> u64| {
                let mean = ms(base) as f64 / ms(own).max(1) as f64;
                format!("{mean:.1}×{}", between(own, base, nth))
            };
            let less = |own: u64, base: u64| percent(1.0 - own as f64 / base.max(1) as f64);
            let overall = |it: &ChatSummary| it.accuracy.get(OVERALL).map(|it| it.mean);
            let share =
                overall(own).zip(overall(base)).filter(|it| it.1 > 0.0).map(|both| percent(both.0 / both.1));
            rows.push(vec![
                named(&run.policy, runs),
                named(&other.policy, runs),
                ratio(0, |it| it.latency_ms.ingestion),
                ratio(1, |it| it.latency_ms.total),
                less(own.n_ingestion(), base.n_ingestion()),
                less(own.n_ingestion() + own.n_qa(), base.n_ingestion() + base.n_qa()),
                less(own.storage.words(), base.storage.words()),
                share.unwrap_or_else(|| NONE.to_owned()),
            ]);
        }
    }
    (rows.len() > 1).then(|| grid("Expected by the specification, and our results", runs, &columns, 2, rows))
}

/// Returns between which ratios the time lies under every speed of the model that is possible, in brackets.
fn between(own: &ChatSummary, base: &ChatSummary, nth: usize) -> String {
    let ratios =
        base.ms_at_speeds.iter().zip(&own.ms_at_speeds).map(|(base, own)| base[nth] / own[nth].max(1.0));
    let ends = ratios.fold([f64::INFINITY, 0.0], |[low, high], it: f64| [low.min(it), high.max(it)]);
    if ends[0] > ends[1] { String::new() } else { format!(" ({:.1} to {:.1})", ends[0], ends[1]) }
}

/// The sessions after which stored words are shown, in quarters of all.
const QUARTERS: [usize; 4] = [1, 2, 3, 4];

/// One line per policy: stored words after each quarter of the sessions; `None` where nothing is stored.
fn storage(runs: &[RunnerRow<'_>]) -> Option<Grid> {
    let n_sessions = runs.iter().map(|it| it.1.storage_words_by_session.len()).max()?;
    let after: Vec<usize> = QUARTERS.iter().map(|it| (n_sessions * it).div_ceil(QUARTERS.len())).collect();
    let titles = after.iter().map(|it| format!("after {it}"));
    let cells = |it: &ChatSummary| {
        let words = after.iter().map(|at| it.storage_words_by_session.get(at.saturating_sub(1)));
        words.map(|it| it.map_or_else(|| NONE.to_owned(), |words| thousands(*words))).collect()
    };
    (n_sessions > 1).then(|| lines("Stored words after so many sessions", runs, titles, cells))
}

/// What the rule says where no difference is certain, or where they contradict each other.
const CANNOT_TELL: &str = "cannot tell";

/// What the specification advises, with the question types or savings that it rests on. An audit asks what was known at a date, and where
/// that came from.
const ADVICE: [(&str, &[&str]); 4] = [
    ("recent information matters most", &["single_fact", "knowledge_update"]),
    ("audits", &["audit"]),
    ("history", &["timeline"]),
    ("fine-grained search", &["counting"]),
];

/// A line for each advice of the specification: which of the first two runners the answers of these chats speak for.
fn advice(runs: &[RunnerRow<'_>]) -> Option<Grid> {
    let (base, entries) = runs.iter().find(|it| it.1.context_only == Some(false))?;
    let (document, own) = runs.iter().find(|it| it.1.context_only == Some(true))?;
    let paired = entries.paired.get(&document.policy)?;
    let chosen = |wins: Wins| match wins {
        Wins::Entries => format!("entries: {}", named(&base.policy, runs)),
        Wins::Document => format!("document: {}", named(&document.policy, runs)),
        Wins::Open => CANNOT_TELL.to_owned(),
    };
    let row = |(need, kinds): &(&str, &[&str])| {
        let asked: Vec<(&str, &Statistic)> =
            kinds.iter().filter_map(|it| Some((*it, paired.get(*it)?))).collect();
        let differences = asked.iter().map(|(kind, it)| {
            let reach = it.reach().map_or_else(String::new, |it| format!(" ± {:.1}", it * 100.0));
            format!("{kind} {:+.1}{reach}", it.mean * 100.0)
        });
        let differences = differences.collect::<Vec<_>>().join(", ");
        let judged = if asked.is_empty() { "nothing asks for it".to_owned() } else { differences };
        vec![(*need).to_owned(), judged, chosen(advised(asked.iter().map(|it| Wins::new(it.1))))]
    };
    let mut rows: Vec<Vec<String>> = ADVICE.iter().map(row).collect();
    let is_faster = entries.ms_at_speeds.iter().zip(&own.ms_at_speeds).all(|(base, own)| base[0] > own[0]);
    let faster = chosen(if is_faster { Wins::Document } else { Wins::Open });
    rows.push(vec!["many messages, little time".to_owned(), "time, at every speed".to_owned(), faster]);
    let title = "What to choose when: the specification's cases, by these chats";
    Some(grid(title, runs, &["what matters", "entries less document, points", "verdict"], 3, rows))
}

/// Returns what several differences speak for together: one runner if some do and none speaks for the other.
pub fn advised(all: impl Iterator<Item = Wins> + Clone) -> Wins {
    let has = |wanted: Wins| all.clone().any(|it| it == wanted);
    match (has(Wins::Entries), has(Wins::Document)) {
        (true, false) => Wins::Entries,
        (false, true) => Wins::Document,
        _ => Wins::Open,
    }
}

/// Writes a share in percent.
fn shown(statistic: Option<&Statistic>) -> String {
    let Some(it) = statistic else { return NONE.to_owned() };
    match it.reach() {
        Some(reach) => format!("{:.1} ± {:.1}", it.mean * 100.0, reach * 100.0),
        None => format!("{:.1}", it.mean * 100.0),
    }
}

/// What is found of memory runners.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[
        Number::share("overall", "memory_calls.accuracy.overall.mean", "right answers"),
        Number::share("single_fact", "memory_calls.accuracy.single_fact.mean", "single facts"),
        Number::share("knowledge_update", "memory_calls.accuracy.knowledge_update.mean", "updates"),
        Number::share("counting", "memory_calls.accuracy.counting.mean", "counting"),
        Number::share("timeline", "memory_calls.accuracy.timeline.mean", "timeline"),
        Number::share("abstention", "memory_calls.accuracy.abstention.mean", "abstention"),
    ],
    is_of_memory: true,
    is_in_sections: false,
    columns: &[],
    calls: of_runner,
    grids,
    curves: |_| Vec::new(),
};

impl Findings for ChatSummary {
    fn kind(&self) -> &'static FindingsKind {
        &KIND
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.accuracy.get(name).copied()
    }

    fn more(&self, name: &str, base: &str) -> Option<Statistic> {
        self.paired.get(base)?.get(name).copied()
    }

    fn repair(&self) -> Option<&StageRepair> {
        self.repair.as_ref()?.get()
    }

    fn value(&self) -> Value {
        Value::serialised(self)
    }

    fn calls(&self) -> Fields {
        if let Value::Fields(it) = self.value() { it } else { Vec::new() }
    }
}

/// Returns what a run can have.
fn of_runner() -> Vec<Head> {
    number_heads(&Value::serialised(&ChatSummary::sample()), &["paired"])
}
