//! What published runs tell of the task, by family of policy: the contrasts of `assumptions/quality.toml`, and nothing else.
//!
//! No success is worked out from length or evidence. A number of points is written by this file alone, which names its source beside it.

use crate::prelude::*;
use ctxsim_engine::measure::known_task::{KnownTask, TaskContrast, TaskNumber};
use ctxsim_input::policy::PolicyFamily;

/// Returns the contrasts of a family that were run on all tasks of their benchmark.
fn whole_benchmark_contrasts(known: &KnownTask, family: PolicyFamily) -> Vec<&TaskContrast> {
    let most = known.contrasts.iter().filter_map(|it| it.tasks).max();
    let is_whole = |it: &&TaskContrast| it.family == Some(family) && it.tasks == most;
    known.contrasts.iter().filter(is_whole).listed()
}

/// Returns in a sentence what is known of a family; nothing where nothing was published.
pub fn published_task_effect(known: &KnownTask, family: PolicyFamily) -> Option<String> {
    let whole = whole_benchmark_contrasts(known, family);
    let ends = whole.iter().map(|it| it.points.value);
    let [low, high] = [ends.clone().reduce(f64::min)?, ends.reduce(f64::max)?];
    let (n, [low, high]) = (counted(whole.len(), "public comparison"), [low, high].map(format_signed_points));
    let (what, points) = (family.about(), format!("{low} to {high} points of tasks solved"));
    let mut text = format!("In {n} of {what} with keeping everything, {points}");
    let mut pooled = known.pooled.iter().filter(|it| it.family == family && it.contrasts > 1).listed();
    pooled.sort_by_key(|it| std::cmp::Reverse(it.contrasts));
    for it in pooled {
        let over = format!("; pooled over {} under {}", counted(it.contrasts, "run"), it.scaffold);
        text += &format!("{over}, {}", format_points_with_interval(it.points));
    }
    let source = known.sources.get(&whole[0].source)?;
    let smaller = known.contrasts.iter().filter(|it| it.family == Some(family)).count() - whole.len();
    let smaller = if smaller > 0 { format!("; {smaller} more with fewer tasks") } else { String::new() };
    let tasks = || whole.iter().map(|it| it.n);
    let [least, most] = [tasks().min(), tasks().max()].map(Option::unwrap_or_default);
    Some(format!("{text} ({}, {least} to {most} tasks each{smaller}).", source.title))
}

/// Returns how many times the turns agents took at most with a window that is small by this measure.
fn worst_turns_multiple(known: &KnownTask) -> Option<f64> {
    let is_small = |contrast: &&TaskContrast| {
        contrast.window.zip(contrast.raw_turns).is_some_and(|(n, all)| (n as f64) < known.window.share * all)
    };
    let masks = whole_benchmark_contrasts(known, PolicyFamily::Mask).into_iter().filter(is_small);
    masks.filter_map(|it| Some(it.turns?.value)).reduce(f64::max)
}

/// Writes a number with its interval, signed.
pub fn format_points_with_interval(number: TaskNumber) -> String {
    let value = format_signed_points(number.value);
    let ends = number.low.map(format_signed_points).zip(number.high.map(format_signed_points));
    ends.map_or_else(|| value.clone(), |(low, high)| format!("{value} ({low} to {high})"))
}

/// Writes points with their sign.
pub fn format_signed_points(points: f64) -> String {
    let sign = match points {
        it if it <= -0.05 => "−",
        it if it >= 0.05 => "+",
        _ => "",
    };
    format!("{sign}{}", fixed(points.abs(), 1))
}

/// Returns in a sentence what is known of the task under policies of these families; nothing where nothing was published of any.
pub fn published_task_effects(families: &[PolicyFamily]) -> Option<String> {
    let lines = families.iter().filter_map(|it| published_task_effect(KnownTask::declared(), *it)).listed();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// Returns why a window of so many of the newest requests is its user's to judge, where it is small against the requests of the sessions.
pub fn narrow_window_reason(window_requests: u64, session_requests: &[u64]) -> Option<String> {
    let known = KnownTask::declared();
    let mut sorted = session_requests.to_vec();
    sorted.sort_unstable();
    let middle = *sorted.get(sorted.len() / 2)?;
    let is_narrow = (window_requests as f64) < known.window.share * middle as f64;
    let worst = worst_turns_multiple(known).filter(|_| is_narrow)?;
    let source = known.sources.first().map_or("", |it| it.1.title.as_str());
    let (n, most) = (counted(window_requests as usize, "request"), fixed(worst, 1));
    Some(format!(
        "it leaves the results of the newest {n}, and half of the sessions have {middle} or more: agents took up to {most} times the turns with \
         such windows ({source})"
    ))
}
