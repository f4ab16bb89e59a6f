//! What published runs tell of the task, by family of policy: the contrasts of `assumptions/quality.toml`, and nothing else.
//!
//! No success is worked out from length or evidence. A number of points is written by this file alone, which names its source beside it.

use std::fmt::Write as _;

use ctxsim_base::grid::numbers::{counted, fixed};
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::known_task::{KnownTask, TaskContrast, TaskNumber};
use ctxsim_input::policy::PolicyFamily;

/// Returns the contrasts of a family that were run on all tasks of their benchmark.
fn whole(known: &KnownTask, family: PolicyFamily) -> Vec<&TaskContrast> {
    let most = known.contrasts.iter().filter_map(|it| it.tasks).max();
    let is_whole = |it: &&TaskContrast| it.family == Some(family) && it.tasks == most;
    known.contrasts.iter().filter(is_whole).listed()
}

/// Returns in a sentence what is known of a family; nothing where nothing was published.
pub fn line(known: &KnownTask, family: PolicyFamily) -> Option<String> {
    let whole = whole(known, family);
    let ends = whole.iter().map(|it| it.points.value);
    let [low, high] = [ends.clone().reduce(f64::min)?, ends.reduce(f64::max)?];
    let mut text = format!(
        "In {} of {} with keeping everything, {} to {} points of tasks solved",
        counted(whole.len(), "public comparison"),
        family.about(),
        signed(low),
        signed(high)
    );
    let pooled = known.pooled.iter().filter(|it| it.family == family && it.contrasts > 1);
    if let Some(it) = pooled.max_by_key(|it| it.contrasts) {
        let of = format!("; pooled over {} under {}", counted(it.contrasts, "model"), it.scaffold);
        let _ = write!(text, "{of}, {}", points(it.points));
    }
    let source = known.sources.get(&whole[0].source)?;
    Some(format!("{text} ({}, {} to {} tasks each).", source.title, least(&whole), most(&whole)))
}

/// Returns how many times the turns agents took at most with a window that is small by this measure.
fn worst_turns(known: &KnownTask) -> Option<f64> {
    let is_small = |it: &&TaskContrast| {
        it.window.zip(it.raw_turns).is_some_and(|(n, all)| (n as f64) < known.window.share * all)
    };
    let masks = known.contrasts.iter().filter(|it| it.family == Some(PolicyFamily::Mask)).filter(is_small);
    masks.filter_map(|it| Some(it.turns?.value)).reduce(f64::max)
}

fn least(all: &[&TaskContrast]) -> u64 {
    all.iter().map(|it| it.n).min().unwrap_or_default()
}

fn most(all: &[&TaskContrast]) -> u64 {
    all.iter().map(|it| it.n).max().unwrap_or_default()
}

/// Writes a number with its interval, signed.
fn points(it: TaskNumber) -> String {
    match it.low.zip(it.high) {
        Some((low, high)) => format!("{} ({} to {})", signed(it.value), signed(low), signed(high)),
        None => signed(it.value),
    }
}

/// Writes a number with its interval, as a ratio.
fn ratio(it: TaskNumber) -> String {
    match it.low.zip(it.high) {
        Some((low, high)) => format!("{} ({} to {})", fixed(it.value, 2), fixed(low, 2), fixed(high, 2)),
        None => fixed(it.value, 2),
    }
}

/// Writes points with their sign.
fn signed(points: f64) -> String {
    let sign = match points {
        it if it <= -0.05 => "−",
        it if it >= 0.05 => "+",
        _ => "",
    };
    format!("{sign}{}", fixed(points.abs(), 1))
}

/// Returns in a sentence what is known of the task under policies of these families; nothing where nothing was published of any.
pub fn known(families: &[PolicyFamily]) -> Option<String> {
    let known = KnownTask::declared();
    let lines = families.iter().filter_map(|it| line(known, *it)).listed();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// Returns why a window of so many of the newest requests is its user's to judge, where it is small against the requests of the sessions.
pub fn narrow(window: u64, requests: &[u64]) -> Option<String> {
    let known = KnownTask::declared();
    let mut sorted = requests.to_vec();
    sorted.sort_unstable();
    let middle = *sorted.get(sorted.len() / 2)?;
    let worst = worst_turns(known).filter(|_| (window as f64) < known.window.share * middle as f64)?;
    let source = known.sources.first().map_or("", |it| it.1.title.as_str());
    Some(format!(
        "it leaves the results of the newest {}, and half of the sessions have {middle} or more: agents took up to {} times the turns with \
         such windows ({source})",
        counted(window as usize, "request"),
        fixed(worst, 1)
    ))
}

/// Returns the page of the book that has all of it.
pub fn page() -> String {
    let known = KnownTask::declared();
    let mut text = String::from(HEAD);
    let _ = writeln!(text, "\n## In a line\n");
    for family in PolicyFamily::ALL {
        let line = line(known, family)
            .unwrap_or_else(|| format!("Nothing is published here of {}.", family.about()));
        let _ = writeln!(text, "- {line}");
    }
    let _ = writeln!(text, "\n## Every comparison\n\n{CONTRASTS}");
    for it in known.contrasts.iter().chain(&known.read) {
        let title = known.sources.get(&it.source).map_or("", |it| it.title.as_str());
        let turns = it.turns.map_or_else(|| "–".to_owned(), ratio);
        let window = it.window.map_or_else(|| "–".to_owned(), |it| it.to_string());
        let raw = it.raw_turns.map_or_else(|| "–".to_owned(), |it| fixed(it, 1));
        let model = if it.model.is_empty() { "–" } else { &it.model };
        let _ = writeln!(
            text,
            "| {title} | {} | {model} | {} | {window} | {raw} | {} | {} | {} | {turns} |",
            it.scaffold,
            it.policy,
            it.n,
            points(it.points),
            ratio(it.cost)
        );
    }
    let _ = writeln!(text, "\n## Pooled\n\n{POOLED}");
    for it in &known.pooled {
        let title = known.sources.get(&it.source).map_or("", |it| it.title.as_str());
        let family = it.family.about();
        let _ = writeln!(
            text,
            "| {title} | {} | {family} | {} | {} | {} | {} and {} | {} | {} |",
            it.scaffold,
            it.contrasts,
            it.n,
            points(it.points),
            signed(it.halves[0]),
            signed(it.halves[1]),
            ratio(it.cost),
            ratio(it.turns)
        );
    }
    let _ = writeln!(text, "\n## Sources\n");
    for it in known.sources.values() {
        let _ = writeln!(text, "- [{}]({}): {}.", it.title, it.url, it.about);
    }
    text
}

const HEAD: &str = "# What is known of the task

ctxsim computes what a policy costs and how much of the needed text stays in prompts. It does not compute whether the agent still solves its task, and no part of it turns length or evidence into success: in published runs, neither predicts it. What it
shows instead is what others measured, with its source. This page has all of it; `assumptions/quality.toml` is the same as data, and `benches/task_contrasts.py` computes it.

A saving also bears only so many more turns ([turns](../reference/turns.md)), and a window that is small against the turns of a session is never more than *your call*: the mask of the newest 10 results under OpenHands, whose sessions take 80 turns, made 99 of 246 runs end at the cap of 250 turns, against 2.
";

const CONTRASTS: &str = "Points are percentage points of tasks solved, against the same scaffold and model that keeps everything; cost and turns are ratios. Brackets have 95% intervals (bootstrap over tasks). *Turns kept* are those of the agent that keeps everything.

| source | scaffold | model | policy | newest results | turns kept | tasks | points | cost | turns |
|---|---|---|---|---:|---:|---:|---|---|---|";

const POOLED: &str = "| source | scaffold | policy | models | tasks | points | halves | cost | turns |
|---|---|---|---:|---:|---|---|---|---|";
