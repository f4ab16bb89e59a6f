//! Forecasts held against what came after: which sessions count, what they are compared with, and what is said.

use ctxsim::app::RealisedRequest;
use ctxsim::app::advise::{AdviceRequest, advise};
use ctxsim::report::advise::saved::{RateDrift, SavingsForecast, TrialDay};
use ctxsim::report::realised::{ForecastOutcome, LaterSession, Realised, terminal_text};

use super::logs::{Recipe, Session, write};

use super::*;

/// Makes a folder of earlier sessions, and the forecast of an hour on it.
fn forecast() -> SavingsForecast {
    let folder = tempdir().unwrap();
    write(folder.path(), &Recipe { seed: 7, ..SAVES }.sessions(), "s");
    advice_on(folder.path(), None).1.unwrap()
}

/// Writes later sessions with entries of an hour or not, with something replaced in their logs.
fn add(folder: &Path, prefix: &str, n: usize, is_long: bool, replaced: &[(&str, &str)]) {
    let seed = 1_007 + prefix.len() as u64;
    let all = Recipe { seed, sessions: n, first_day: 60, ..SAVES }.sessions();
    let all: Vec<Session> = all.into_iter().map(|it| Session { is_long, ..it }).collect();
    write(folder, &all, prefix);
    for nth in 0..n {
        let path = folder.join(format!("{prefix}{nth}.jsonl"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, replaced.iter().fold(text, |it, (from, to)| it.replace(from, to))).unwrap();
    }
}

fn became(saved: &SavingsForecast, folder: &Path) -> Realised {
    became_of(saved, folder, &RealisedRequest::default())
}

/// The first paragraph of the text.
fn sentence(found: &Realised) -> String {
    terminal_text(found, Some(10_000)).lines().next().unwrap().to_owned()
}

#[test]
fn the_number_of_sessions_that_would_tell_is_the_same_however_often_it_is_asked() {
    let needed = held(0, 30, -0.08).more_sessions.unwrap() + 30;
    for seed in 0..10 {
        for n in [0, 1, 4, 5, 20, 60, 100] {
            let found = held(0, n, if seed % 2 == 0 { -0.08 } else { -0.06 });
            if found.answer == ForecastOutcome::CannotTell {
                assert_eq!(found.more_sessions.unwrap() + n as u64, needed, "after {n} sessions");
            }
        }
    }
}

#[test]
fn where_no_number_would_do_it_is_said_from_the_beginning_and_stays_so() {
    let drift = RateDrift { deviation: 0.5, blocks: 3, per: "month".to_owned() };
    let saved = SavingsForecast { drift: Some(drift), ..forecast() };
    let folder = tempdir().unwrap();
    for n in [2, 12, 24] {
        add(folder.path(), "t", n, true, &[]);
        let found = became(&saved, folder.path());
        assert_eq!((found.answer, found.more_sessions), (ForecastOutcome::CannotTell, None));
        assert!(sentence(&found).starts_with("These bills cannot show it: "), "{}", sentence(&found));
    }
}

#[test]
fn versions_that_do_not_have_the_setting_do_not_count_and_newer_ones_do() {
    let saved = forecast();
    let folder = tempdir().unwrap();
    add(folder.path(), "new", 20, true, &[("2.1.260", "2.1.300")]);
    add(folder.path(), "old", 4, false, &[("2.1.260", "2.1.37")]);

    let found = became(&saved, folder.path());

    assert_eq!((found.sessions, found.left_out_later), (20, [4, 24]));
    let reason = "their versions do not have the setting (`promptCacheTtl` exists since 2.1.242)";
    assert_eq!(found.left_out, [(reason.to_owned(), 4)]);
    assert!(!found.leaves_out_many());
    let text = terminal_text(&found, Some(200));
    assert!(text.contains("Left out: 4 of 24 later sessions. 4, because their versions"), "{text}");
    let of_others = "Of versions that the forecast did not see: 24 later sessions. What these versions changed is part of the difference.";
    assert!(terminal_text(&found, Some(10_000)).contains(of_others), "{text}");

    add(folder.path(), "more", 4, false, &[("2.1.260", "2.1.37")]);
    let found = became(&saved, folder.path());
    assert!(found.leaves_out_many(), "8 of 28");
    assert!(
        terminal_text(&found, None).contains("more than a fifth, so that the answer is only of the others")
    );
}

#[test]
fn sessions_whose_logs_show_another_value_do_not_count_as_changed() {
    let saved = forecast();
    let folder = tempdir().unwrap();
    add(folder.path(), "t", 6, false, &[]);

    let found = became(&saved, folder.path());

    assert_eq!((found.sessions, found.answer), (0, ForecastOutcome::CannotTell));
    let said = sentence(&found);
    assert!(
        said.starts_with("Nothing shows that anybody made this change. Not yet: about ")
            && said.ends_with("So far, no later session has the change."),
        "{said}"
    );
}

/// Draws later sessions that changed by a share, of which some went without the change; all are dearer by a fifth.
fn dearer(
    seed: u64,
    change: f64,
    is_unchanged: impl Fn(usize) -> bool,
    day: impl Fn(usize) -> Option<String>,
) -> Vec<LaterSession> {
    let one = |(nth, (size, usd)): (usize, (f64, f64))| LaterSession {
        kind: "main".to_owned(),
        size,
        usd: 1.2 * usd * if is_unchanged(nth) { 1.0 } else { 1.0 + change },
        is_unchanged: is_unchanged(nth),
        day: day(nth),
        ..LaterSession::default()
    };
    drawn(seed, 2, 1_600, 1.0).into_iter().enumerate().map(one).collect()
}

#[test]
fn people_and_days_without_the_change_take_out_what_moved_all_bills() {
    let saved = held_forecast(0);
    let (mut by_people, mut by_days, mut alone) = (0, 0, 0);
    for seed in 0..20 {
        let halves = |nth: usize| nth.is_multiple_of(2);
        let people = Realised::new(&saved, &dearer(seed, -0.08, halves, |_| None));
        assert!((people.compared.as_ref().unwrap().change - 0.2).abs() < 0.05, "{people:?}");
        by_people += usize::from(people.answer == ForecastOutcome::AsForecast);
        let day = |nth: usize| Some((nth / 20).to_string());
        let days = Realised::new(&saved, &dearer(seed, -0.08, |nth| (nth / 20).is_multiple_of(2), day));
        by_days += usize::from(days.answer == ForecastOutcome::AsForecast);
        alone += usize::from(
            Realised::new(&saved, &dearer(seed, -0.08, |_| false, |_| None)).answer == ForecastOutcome::Less,
        );
    }
    assert!(by_people >= 18 && by_days >= 18, "{by_people} and {by_days} of 20");
    assert_eq!(alone, 20, "without them, it is not told apart");
}

#[test]
fn people_whose_logs_show_that_they_changed_nothing_are_compared_with() {
    let saved = forecast();
    let folder = tempdir().unwrap();
    add(folder.path(), "long", 40, true, &[]);
    add(folder.path(), "other", 40, false, &[("/Users/ann/", "/Users/bob/")]);

    let found = became(&saved, folder.path());

    let compared = found.compared.as_ref().unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!((compared.sessions, found.sessions), (40, 40));
    assert_eq!(compared.who, ["/Users/bob"]);
    assert_eq!(found.answer, ForecastOutcome::AsForecast, "{found:?}");
    assert_eq!(found.left_out_later, [0, 80]);
    let text = terminal_text(&found, Some(10_000));
    assert!(text.contains("Compared with 40 sessions of /Users/bob that went without the change"), "{text}");
    let named = RealisedRequest { unchanged: vec!["bob".to_owned()], ..RealisedRequest::default() };
    assert_eq!(became_of(&saved, folder.path(), &named), found, "as if they were named");
    fs::write(folder.path().join("f.json"), serde_json::to_string(&saved).unwrap()).unwrap();
    let told = refusal(&ctxsim(folder.path(), ["realised", "f.json", ".", "--unchanged-user", "eve"]));
    assert!(told.contains("no later session is one of `eve`"), "{told}");
    assert!(
        told.contains("`/Users/ann` and `/Users/bob`") || told.contains("`/Users/bob` and `/Users/ann`"),
        "{told}"
    );
}

#[test]
fn a_day_from_which_a_setting_is_in_force_leaves_out_what_began_before_it() {
    let saved = forecast();
    let folder = tempdir().unwrap();
    add(folder.path(), "t", 20, true, &[]);
    let on = |day: &str| RealisedRequest { changed: Some(day.to_owned()), ..RealisedRequest::default() };

    // A month has 28 days there, and the first of them is day 60.
    let found = became_of(&saved, folder.path(), &on("2026-03-10"));

    assert_eq!(found.sessions, 15);
    assert!(found.notes[0].starts_with("Skipped: 5 sessions "), "{:?}", found.notes);
    let wrong = out_of(folder.path(), "2026-02-31");
    assert!(wrong.contains("`2026-02-31` is not a date") && wrong.contains("--changed"), "{wrong}");
}

/// What the command line says of a day that is none.
fn out_of(folder: &Path, day: &str) -> String {
    fs::write(folder.join("f.json"), serde_json::to_string(&forecast()).unwrap()).unwrap();
    refusal(&ctxsim(folder, ["realised", "f.json", ".", "--changed", day]))
}

#[test]
fn a_trial_is_planned_by_days_and_its_days_are_compared() {
    let folder = tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    write(&logs, &Recipe { seed: 7, ..SAVES }.sessions(), "s");
    let args = args("advise logs --trial promptCacheTtl=1h --days 28 --from 2026-03-05 --save f.json");
    let text = out(&ctxsim(folder.path(), &args));
    assert!(text.contains("A trial of 28 days: turn it on for the 14 days that are on"), "{text}");
    let saved =
        &parse_forecasts("f.json", &fs::read_to_string(folder.path().join("f.json")).unwrap()).unwrap()[0];
    assert_eq!((saved.trial.len(), saved.trial[0].day.as_str()), (28, "2026-03-05"));

    // Three sessions each day, from day 60 on.
    let later = tempdir().unwrap();
    for part in ["a", "bb", "ccc"] {
        for (is_long, prefix) in [(true, "on"), (false, "off")] {
            add(later.path(), &format!("{part}{prefix}"), 28, is_long, &[]);
        }
    }
    let is_on: Vec<bool> = saved.trial.iter().map(|TrialDay { is_on, .. }| *is_on).collect();
    for (day, is_on) in is_on.iter().enumerate() {
        for part in ["a", "bb", "ccc"] {
            let unused = if *is_on { "off" } else { "on" };
            fs::remove_file(later.path().join(format!("{part}{unused}{day}.jsonl"))).unwrap();
        }
    }
    let found = became(saved, later.path());

    assert!(found.compared.is_some() && found.sessions > 30, "{found:?}");
    assert_eq!(found.answer, ForecastOutcome::AsForecast, "{found:?}");
    assert!(terminal_text(&found, Some(10_000)).contains(" of the days off "), "{found:?}");
}

#[test]
fn each_answer_is_one_sentence() {
    let found = held(0, 600, -0.08);
    let mut told = vec![sentence(&found)];
    told.extend([-0.03, -0.14].map(|change| sentence(&held(0, 600, change))));
    told.push(sentence(&held(0, 40, -0.08)));
    told.push(sentence(&held(0, 0, -0.08)));
    assert_snapshot("advise", "sentences", &told.join("\n"));
}

#[test]
fn sessions_of_other_agents_do_not_count() {
    let saved = forecast();
    let folder = tempdir().unwrap();
    add(folder.path(), "t", 20, true, &[]);
    let alone = became(&saved, folder.path());
    let codex = data("recorded/codex-rollout.jsonl");
    fs::copy(codex, folder.path().join("rollout-2026-03-20.jsonl")).unwrap();

    let found = became(&saved, folder.path());

    assert_eq!(found.notes, ["Not of this agent, so not counted: 1 session."]);
    assert_eq!(Realised { notes: Vec::new(), ..found }, alone);
}

#[test]
fn outcomes_of_a_table_are_compared_beside_the_dollars() {
    let folder = tempdir().unwrap();
    add(folder.path(), "long", 20, true, &[]);
    add(folder.path(), "other", 20, false, &[("/Users/ann/", "/Users/bob/")]);
    fs::write(folder.path().join("f.json"), serde_json::to_string(&forecast()).unwrap()).unwrap();
    let ask = |table: &str, more: &[&str]| {
        fs::write(folder.path().join("o.csv"), table).unwrap();
        ctxsim(folder.path(), [&["realised", "f.json", ".", "--outcomes", "o.csv"][..], more].concat())
    };
    let lines = |prefix: &str, value: &str| -> String {
        (0..20).map(|nth| format!("{prefix}{nth},{value}\n")).collect()
    };

    let all = format!("session,solved\n{}{}", lines("long", "true"), lines("other", "false"));
    let found: Value = parsed(&ask(&all, &["--format", "json"]));

    let outcomes = &found["outcomes"];
    let words: Vec<&str> =
        outcomes["groups"].as_array().unwrap().iter().filter_map(|it| it["word"].as_str()).collect();
    assert_eq!((words, outcomes["groups"][1]["difference"].as_f64()), (vec!["higher"], Some(1.0)));
    let text = out(&ask(&all, &[]));
    assert!(text.contains("Outcome “solved”, from o.csv"), "{text}");
    assert!(text.contains("Higher in with it against without the change: +100.0 points"), "{text}");

    let groups = format!("session,merged,group\n{}{}", lines("long", "1,new"), lines("other", "1,old"));
    let text = out(&ask(&groups, &[]));
    assert!(text.contains("Cannot tell: old against new: 0.0 points"), "{text}");

    let told = refusal(&ask("session,solved\nlong1,yes\nohter3,1\n", &[]));
    assert!(told.contains("o.csv:2:7") && told.contains("`yes` is not an outcome"), "{told}");
}

/// Sessions of one request a minute, whose prompts grow by so many tokens with each.
fn growing(n: usize, first_day: u64, tokens: u64) -> Vec<Session> {
    let one = |nth| Session {
        steps: vec![(1, tokens + nth as u64); 24],
        day: first_day + nth as u64,
        project: 0,
        is_long: false,
    };
    (0..n).map(one).collect()
}

#[test]
fn sessions_in_which_a_setting_does_nothing_are_no_treated_group_and_where_nobody_set_it_that_is_said_first()
{
    let folder = tempdir().unwrap();
    write(folder.path(), &growing(12, 0, 6_500), "s");
    let asked = AdviceRequest {
        pairs: vec!["autoCompactWindow=140000".to_owned()],
        min_evidence: 0.9,
        ..AdviceRequest::default()
    };
    let of = |folder: &Path| {
        advise(&bundled_catalog(), &super::sessions(folder), &asked, Some(1), &|_, _| {}).unwrap()
    };
    let saved = of(folder.path()).1.remove(0);
    assert_eq!(saved.set, ["autoCompactWindow=140000"]);

    // Nobody changes anything: some sessions are too short for the window, and the long ones grow beyond it.
    let later = tempdir().unwrap();
    write(later.path(), &growing(8, 60, 600), "short");
    write(later.path(), &growing(10, 60, 6_500), "long");
    let found = became(&saved, later.path());

    assert_eq!((found.sessions, found.is_shown, found.answer), (0, false, ForecastOutcome::CannotTell));
    let reasons: Vec<(&str, usize)> = found.left_out.iter().map(|it| (it.0.as_str(), it.1)).collect();
    assert!(reasons.contains(&("they are the same with the change and without it", 8)), "{reasons:?}");
    assert!(reasons.contains(&("their logs show that the setting was not on", 10)), "{reasons:?}");
    assert!(found.compared.is_none(), "the long ones are no control group: {found:?}");
    let said = sentence(&found);
    assert!(said.starts_with("Nothing shows that anybody made this change. "), "{said}");
}

#[test]
fn where_nothing_is_do_the_forecast_of_what_may_be_tried_is_saved() {
    let folder = tempdir().unwrap();
    write(folder.path(), &growing(8, 0, 6_500), "s");

    let (advice, saved) = advice_on(folder.path(), None);

    assert!(advice.advised_lever().is_none() && advice.asked.is_none());
    let saved = saved.unwrap();
    let lever = advice.levers.iter().find(|it| it.set == saved.set).unwrap();
    assert!(matches!(lever.word, Some(Word::Try | Word::YourCall)), "{lever:?}");
    assert_eq!((saved.set.len(), saved.word.as_str()), (1, lever.word_text()));
}

#[test]
fn a_setting_that_no_log_shows_is_taken_as_made_only_after_it_is_said_that_nothing_shows_it() {
    let before = forecast();
    let saved =
        SavingsForecast { set: vec!["bashOutputMaxChars=4000".to_owned()], before: Vec::new(), ..before };
    let folder = tempdir().unwrap();
    add(folder.path(), "t", 6, false, &[("2.1.260", "2.1.300")]);

    let found = became(&saved, folder.path());

    assert_eq!((found.sessions, found.is_shown), (6, false), "{found:?}");
    let said = sentence(&found);
    assert!(said.starts_with("Nothing shows that anybody made this change; `--changed "), "{said}");
    let asked = RealisedRequest { changed: Some("2026-03-01".to_owned()), ..RealisedRequest::default() };
    let told = became_of(&saved, folder.path(), &asked);
    assert!(told.is_shown && !sentence(&told).starts_with("Nothing"), "{told:?}");
}

#[test]
fn sub_agents_say_nothing_of_a_setting_of_main_conversations() {
    let saved = forecast();
    let folder = tempdir().unwrap();
    add(folder.path(), "t", 6, true, &[("\"isSidechain\":false", "\"isSidechain\":true")]);

    let found = became(&saved, folder.path());

    assert_eq!((found.sessions, found.left_out_later), (0, [6, 6]), "{found:?}");
}
