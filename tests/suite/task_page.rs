//! The page of the book on the task: all that is declared of it, as `CTXSIM_BLESS=1` writes it.

use ctxsim::input::policy::PolicyFamily;
use ctxsim::measure::known_task::{KnownTask, TaskNumber};
use ctxsim::report::known_task::{format_points_with_interval, format_signed_points, published_task_effect};

use crate::support::*;

/// Writes a number with its interval, as a ratio.
fn ratio(it: TaskNumber) -> String {
    match it.low.zip(it.high) {
        Some((low, high)) => format!("{:.2} ({low:.2} to {high:.2})", it.value),
        None => format!("{:.2}", it.value),
    }
}

/// Returns the page of the book that has all of it.
pub(crate) fn page() -> String {
    let known = KnownTask::declared();
    let mut text = String::from(HEAD);
    writeln!(text, "\n## In a line\n").unwrap();
    for family in PolicyFamily::ALL {
        let line = published_task_effect(known, family)
            .unwrap_or_else(|| format!("Nothing is published here of {}.", family.about()));
        writeln!(text, "- {line}").unwrap();
    }
    writeln!(text, "\n## Every comparison\n\n{CONTRASTS}").unwrap();
    for it in known.contrasts.iter().chain(&known.read) {
        let title = known.sources.get(&it.source).map_or("", |it| it.title.as_str());
        let turns = it.turns.map_or_else(|| "–".to_owned(), ratio);
        let window = it.window.map_or_else(|| "–".to_owned(), |it| it.to_string());
        let raw = it.raw_turns.map_or_else(|| "–".to_owned(), |it| format!("{it:.1}"));
        let model = if it.model.is_empty() { "–" } else { &it.model };
        writeln!(
            text,
            "| {title} | {} | {model} | {} | {window} | {raw} | {} | {} | {} | {turns} |",
            it.scaffold,
            it.policy,
            it.n,
            format_points_with_interval(it.points),
            ratio(it.cost)
        )
        .unwrap();
    }
    writeln!(text, "\n## Pooled\n\n{POOLED}").unwrap();
    for it in &known.pooled {
        let title = known.sources.get(&it.source).map_or("", |it| it.title.as_str());
        let family = it.family.about();
        writeln!(
            text,
            "| {title} | {} | {family} | {} | {} | {} | {} and {} | {} | {} |",
            it.scaffold,
            it.contrasts,
            it.n,
            format_points_with_interval(it.points),
            format_signed_points(it.halves[0]),
            format_signed_points(it.halves[1]),
            ratio(it.cost),
            ratio(it.turns)
        )
        .unwrap();
    }
    writeln!(text, "\n## Sources\n").unwrap();
    for it in known.sources.values() {
        writeln!(text, "- [{}]({}): {}.", it.title, it.url, it.about).unwrap();
    }
    text
}

const HEAD: &str = "<!-- Generated: `CTXSIM_BLESS=1 cargo test --test suite task_page` writes this page. -->

# What is known of the task

ctxsim computes what a policy costs and how much of the needed text stays in prompts. It does not compute whether the agent still solves its task, and no part of it turns length or evidence into success: in published runs, neither predicts it. What it
shows instead is what others measured, with its source. This page has all of it; `assumptions/quality.toml` is the same as data, and `benches/task_contrasts.py` computes it.

A saving also bears only so many more turns ([turns](../reference/turns.md)), and a window that is small against the turns of a session is never more than *your call*: the mask of the newest 10 results under OpenHands, whose sessions take 80 turns, made 99 of 246 runs end at the cap of 250 turns, against 2.
";

const CONTRASTS: &str = "Points are percentage points of tasks solved, against the same scaffold and model that keeps everything; cost and turns are ratios. Brackets have 95% intervals (bootstrap over tasks). *Turns kept* are those of the agent that keeps everything.

| source | scaffold | model | policy | newest results | turns kept | tasks | points | cost | turns |
|---|---|---|---|---:|---:|---:|---|---|---|";

const POOLED: &str = "| source | scaffold | policy | models | tasks | points | halves | cost | turns |
|---|---|---|---:|---:|---|---|---|---|";

/// `CTXSIM_BLESS=1 cargo test --test suite the_page_on_the_task` writes it.
#[test]
fn the_page_on_the_task_has_all_that_is_declared() {
    let path = root().join("docs/studies/task.md");
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(&path, page()).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page());
}
