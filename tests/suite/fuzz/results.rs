//! Results of ctxsim that it reads again, given any bytes: parts, shards, forecasts, best values and snapshots, with the pages drawn from them.

use ctxsim::app::parse_forecasts;
use ctxsim::app::parts;
use ctxsim::app::tune::{self, TuneHead};
use ctxsim::diag::Place;
use ctxsim::error::Error;
use ctxsim::report::guard::{GuardVerdict, Ratchet};
use ctxsim::report::html::{self, Traces};
use ctxsim::report::part::{JobKind, JobPart, PartHead, PartSet};
use ctxsim::report::realised::{LaterSession, Realised, markdown};
use ctxsim::report::run_blocks::{self, RunLayout};
use ctxsim::report::sections::Detail;
use ctxsim::report::sweep::json as shards;
use ctxsim::report::{Report, json, shot, sweep};

/// Folds parts of each kind of job, one a line, and draws what they come to.
pub(super) fn parts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if let Some(Ok(report)) = folded::<PartHead, _>(&lines, |order, read| parts::fold_parts(order, read)) {
        let _ = json::totals_json(&report);
        drawn(&report, Traces::default());
    }
    if let Some(Ok(found)) = folded::<TuneHead, _>(&lines, |order, read| tune::fold_parts(order, read)) {
        let _ = ctxsim::report::tune::html_page(&found);
        let _ = ctxsim::report::tune::terminal_text(&found, true, Some(100));
    }
}

fn drawn(report: &Report, traces: Traces) {
    let _ = html::html_page(report, Detail::Groups, &traces);
    let _ = run_blocks::report_text(report, RunLayout { on: Some(100).into(), ..RunLayout::default() });
}

/// What reads a part by its number.
type Read<'a, H> = &'a dyn Fn(usize) -> Result<JobPart<H>, Error>;

/// Folds lines if all of them are parts of one job.
fn folded<H: JobKind, R>(lines: &[&str], fold: impl FnOnce(&[usize], Read<'_, H>) -> R) -> Option<R> {
    let (mut set, mut parts) = (PartSet::default(), Vec::new());
    for line in lines {
        let part = JobPart::<H>::from_json_line(line).ok()?;
        set.add_part(&part, parts.len(), line.len() as u128).ok()?;
        parts.push(part);
    }
    let order = set.part_numbers_in_plan_order().ok()?;
    Some(fold(&order, &|nth| Ok(parts[nth].clone())))
}

/// Merges one shard, and draws the sweep.
pub(super) fn shards(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let Ok(sweep) = shards::merge_shards(&[("fuzz".to_owned(), text)]) else { return };
    let _ = shards::sweep_json(&sweep);
    let _ = sweep::html_page(&sweep);
    let _ = sweep::terminal_text(&sweep, true, Some(100));
    let _ = sweep.frontier_chart().map(|it| it.to_svg_file());
}

/// Reads a forecast, and holds it against sessions that are like it, and not.
pub(super) fn advice(bytes: &[u8]) {
    let Ok(mut all) = parse_forecasts("fuzz", &String::from_utf8_lossy(bytes)) else { return };
    let saved = all.remove(0);
    let kinds: Vec<String> =
        saved.kinds.iter().map(|it| it.name.clone()).chain(["other".to_owned()]).collect();
    let later = (0..40).map(|nth| LaterSession {
        kind: kinds[nth % kinds.len()].clone(),
        size: 1.0 + nth as f64,
        usd: 0.25 * nth as f64,
        change: (nth % 3 == 0).then_some(-0.1),
        is_unchanged: nth % 4 == 0,
        at_ms: Some(nth as i64 * 86_400_000),
        day: (!saved.trial.is_empty()).then(|| format!("day {}", nth / 2)),
    });
    let found = Realised::new(&saved, &later.collect::<Vec<_>>());
    let _ = markdown(&found);
    let _ = ctxsim::report::realised::terminal_text(&found, Some(100));
    let _ = realised_document(&found);
    let _ = ctxsim::report::realised::html_page(&found);
}

fn realised_document(found: &Realised) -> Option<String> {
    ctxsim::row::json::json_text(found).ok()
}

/// Reads best values, holds a number against them, and reads again what is kept.
pub(super) fn ratchet(bytes: &[u8]) {
    let Ok(mut ratchet) = Ratchet::from_toml(&String::from_utf8_lossy(bytes)) else { return };
    let verdict = GuardVerdict {
        guard: "Saves.".to_owned(),
        run: ["mine", "example", "anthropic-claude-opus-4.5"].map(str::to_owned),
        metric: "totals.cost_usd.total".to_owned(),
        over: None,
        value: Some(0.5),
        interval: None,
        allowed: None,
        is_better_higher: Some(false),
        bound: "below 1".to_owned(),
        holds: true,
        reason: None,
        place: Place::default(),
        policy_place: Place::default(),
    };
    for held in ratchet.check_and_update(&[verdict], 0.01) {
        let _ = held.to_string();
    }
    if let Ok(text) = ratchet.to_toml() {
        assert_eq!(Ratchet::from_toml(&text).ok(), Some(ratchet));
    }
}

/// Compares a snapshot with another one, either way.
pub(super) fn snapshots(bytes: &[u8]) {
    const OTHER: &str = "            requests  US dollars\nidentity          12    0.123456\nmine               –    1,000.5\n";
    let text = String::from_utf8_lossy(bytes);
    for moved in shot::changed_numbers(&text, OTHER).iter().chain(&shot::changed_numbers(OTHER, &text)) {
        assert!(!moved.column.is_empty() || moved.values.iter().any(Option::is_none), "{moved:?}");
    }
    assert_eq!(shot::changed_numbers(&text, &text), []);
}

/// Reads what a program answers, line by line.
pub(super) fn answers(bytes: &[u8]) {
    for line in bytes.split(|it| *it == b'\n') {
        if let Err(words) = ctxsim::own::process::heard(line) {
            assert!(!words.is_empty());
        }
    }
}
