//! One month: what a lever saves is its change of the month that stands in the heading, in every table and in JSON.

use crate::advise::logs::{Session, write};
use crate::support::*;

fn number(of: &Value) -> Option<f64> {
    of.as_f64()
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-3)
}

/// Checks that dollars are changes of a month.
fn are_changes_of(lever: &Value, month: Option<f64>, place: &str) {
    let place = format!("{place}: {}", lever["title"]);
    assert_eq!(number(&lever["month_usd"]), month, "{place}");
    let Some(month) = month else { return };
    if let Some((saved, expected)) = number(&lever["saved_month"]).zip(number(&lever["expected"])) {
        assert!(is_near(saved, -expected * month), "{place}: {saved} of {month} at {expected}");
    }
    if let Some((saved, change)) = lever["saved_interval"].as_array().zip(lever["interval"].as_array()) {
        for (saved, change) in saved.iter().zip(change.iter().rev()) {
            let (saved, change) = (number(saved).unwrap(), number(change).unwrap());
            assert!(is_near(saved, -change * month), "{place}: {saved} of {month} at {change}");
        }
    }
}

/// Checks the law on a folder: on the first screen, in advice, and in the rows of its table.
fn has_one_month(folder: &Path) {
    let place = folder.display().to_string();
    let said = |command: &str, format: &str| ctxsim(folder, [command, &place, "--format", format]);
    let answers = ["screen", "advise"].map(|it| said(it, "json"));
    // Folders that hold no session, or none of a known agent, have no month.
    if answers.iter().any(|it| !it.status.success()) {
        return;
    }
    let [screen, advice]: [Value; 2] = answers.map(|it| parsed(&it));
    let none = Vec::new();
    let agents = advice["agents"].as_array().unwrap().iter();
    let all: Vec<&Value> = agents.chain(advice["by_bills"].as_array().unwrap_or(&none)).collect();
    let mut billed = 0.0;
    for agent in &all {
        let month = number(&agent["month"]["usd"]);
        billed += month.filter(|_| agent["month"]["known_by"] == "bills").unwrap_or_default();
        for lever in agent["levers"].as_array().unwrap() {
            are_changes_of(lever, month, &place);
            let spent = |groups: &Value| -> Option<f64> {
                Some(groups.as_array()?.iter().filter_map(|it| number(&it["month_usd"])).sum())
            };
            for groups in [&lever["people"], &lever["projects"]].into_iter().filter_map(spent) {
                let month = month.unwrap();
                assert!(groups <= month * (1.0 + 1e-9), "{place}: groups spend {groups} of {month}");
            }
        }
        for lives in agent["lifetimes"].as_array().unwrap_or(&none) {
            let ends = [0, 1].map(|end| number(&lives["usd_month"][end]));
            if let [Some(short), Some(long)] = ends
                && short > 0.0
            {
                assert!(is_near(long / short - 1.0, number(&lives["change"]).unwrap()), "{place}: {lives}");
            }
        }
    }
    assert!(is_near(billed, number(&screen["month"]["usd"]).unwrap()), "{place}: {billed}, {screen}");
    for lever in screen["levers"].as_array().unwrap() {
        let own = all.iter().find(|it| it["agent"] == lever["agent"]).unwrap();
        are_changes_of(lever, number(&own["month"]["usd"]), &place);
    }
    if all.len() == 1 && billed >= 1.0 {
        let heading = format!("${billed:.2}");
        let texts = ["screen", "advise"].map(|it| out(&said(it, "table")).replace(',', ""));
        assert!(texts.iter().all(|it| it.contains(&heading)), "{heading}: {texts:#?}");
    }
}

/// Sessions over so many days, of which some go on over weeks, so that the last 30 days begin within them.
fn drawn(seed: u64, sessions: u64, days: u64) -> Vec<Session> {
    let mut draw = Seed(seed).stream("sessions over weeks", 0).nth(0, 0);
    let mut session = |nth: u64| {
        let slow = if draw.next_below(3) == 0 { 2_000 } else { 20 };
        let steps = (0..24).map(|_| (draw.next_between(1, slow), draw.next_between(300, 5_000))).collect();
        Session {
            steps,
            day: nth * days / sessions,
            project: nth as usize % 3,
            is_long: nth.is_multiple_of(2),
        }
    };
    (0..sessions).map(&mut session).collect()
}

/// Checks the law on folders of so many sessions over so many days.
fn has_one_month_in_made_up_folders(seeds: std::ops::Range<u64>, sizes: &[(u64, u64)]) {
    for seed in seeds {
        for &(sessions, days) in sizes {
            let folder = tempdir().unwrap();
            write(folder.path(), &drawn(seed, sessions, days), "s");
            has_one_month(folder.path());
        }
    }
}

#[test]
fn what_a_lever_saves_is_its_change_of_the_month_in_the_heading() {
    has_one_month(&data("recorded"));
    has_one_month_in_made_up_folders(0..1, &[(12, 60)]);
}

#[test]
fn a_session_that_began_before_the_last_thirty_days_counts_with_its_requests_within_them() {
    let folder = tempdir().unwrap();
    // A request a day for 24 days, until the 31st; and five sessions of the last day.
    let slow = Session { steps: vec![(1_440, 500); 24], day: 10, project: 0, is_long: false };
    let last = Session { steps: vec![(1, 500); 24], day: 60, ..slow.clone() };
    let first = Session { day: 0, ..last.clone() };
    let all: Vec<Session> = [first, slow.clone()].into_iter().chain(vec![last.clone(); 5]).collect();
    write(folder.path(), &all, "s");

    let advice: Value = parsed(&ctxsim(folder.path(), ["advise", ".", "--format", "json"]));

    let month = &advice["agents"][0]["month"];
    assert_eq!((&month["basis"], &month["known_by"]), (&"last30_days".into(), &"bills".into()));
    // Days 31 to 60 count; the slow session has requests on days 31, 32 and 33.
    let within = number(&month["usd"]).unwrap() - 5.0 * last.usd(false);
    assert!(within > 0.0 && within < slow.usd(false) / 4.0, "{within} of {}", slow.usd(false));
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn what_a_lever_saves_is_its_change_of_the_month_in_every_folder_that_is_shared() {
    has_one_month_in_made_up_folders(1..12, &[(12, 60), (12, 20), (6, 90), (3, 2)]);
    let mut folders: Vec<PathBuf> = vec![root().join("scenarios/recorded")];
    let shared = std::env::var("CTXSIM_REFERENCE").map(|it| Path::new(&it).join("recorded"));
    if let Ok(shared) = shared.as_ref().map(fs::read_dir) {
        folders.extend(shared.into_iter().flatten().map(|it| it.unwrap().path()).filter(|it| it.is_dir()));
    }
    folders.iter().for_each(|it| has_one_month(it));
}
