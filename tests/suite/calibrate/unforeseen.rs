//! What no record tells of a bill: the declared probabilities against sessions that they were not measured on.

use ctxsim::calibrate::unforeseen::{Surprise, UnforeseenTally};
use ctxsim::calibrate::{BillPair, Calibration};
use ctxsim::input::scenario::HiddenRequest;
use ctxsim::timeline::import::index;
use ctxsim::timeline::own::{OwnCounts, SeenCases};
use ctxsim::timeline::shared::Chance;

use super::*;

const DECLARED: &str = include_str!("../../../assumptions/harnesses.toml");
const GPT: &str = include_str!("../../../profiles/openai/gpt-5.5.toml");
const COUNTED: [Surprise; 4] =
    [Surprise::TurnFell, Surprise::WithinTurnFell, Surprise::SideRequest, Surprise::UnexpectedSideRequest];

/// A recorded session and what was found of its bill.
struct Session {
    name: String,
    version: Vec<u32>,
    found: Calibration,
    /// How probable it is by its row of the file that a request within a turn falls.
    within: Option<f64>,
    /// Its requests of which more was to be read than tools and system prompt.
    moments: Vec<ReadMoment>,
}

/// A request of which more was to be read than tools and system prompt.
struct ReadMoment {
    /// Since the answer before it.
    paused_ms: i64,
    /// Whether the entries before it were asked to live for an hour.
    is_long: bool,
    /// If it begins a turn: how long the turn before took.
    turn_ms: Option<i64>,
    /// Whether it read less than 0.7 of what was to be read.
    fell: bool,
}

fn moments(timeline: &Timeline, found: &Calibration) -> Vec<ReadMoment> {
    let (spine, usage) = (&timeline.spine, &timeline.recorded.as_ref().unwrap().usage);
    let moment = |it: &BillPair| {
        let (at, steps) = (it.step as usize, &spine.steps);
        let written = usage[..at].iter().rev().flatten().find(|it| it.cache_write > 0);
        let after = spine.turns.iter().find(|turn| turn.steps.end == it.step && !turn.steps.is_empty());
        ReadMoment {
            paused_ms: steps[at].at_ms - steps[at - 1].end_ms,
            is_long: written.is_some_and(|it| it.cache_write_long > Some(0)),
            turn_ms: after.map(|it| steps[at - 1].end_ms - steps[it.steps.start as usize].at_ms),
            fell: it.billed.cache_read * 10 < it.predicted.read * 7,
        }
    };
    let pairs = found.pairs.iter().filter(|it| it.predicted.read > timeline.front_tokens());
    pairs.map(moment).collect()
}

/// Counts moments of some kind: those that fell, and all.
fn falls<'s>(of: impl IntoIterator<Item = &'s Session>, is_one: impl Fn(&ReadMoment) -> bool) -> [usize; 2] {
    let all: Vec<&ReadMoment> = of.into_iter().flat_map(|it| &it.moments).filter(|it| is_one(it)).collect();
    [all.iter().filter(|it| it.fell).count(), all.len()]
}

/// Compares the sessions of some texts, each with a name, one by one.
fn sessions(texts: &[(String, String)], profile: &Profile) -> Vec<Session> {
    let of_text = |(file, text): &(String, String)| {
        timelines(text, HiddenRequest::Inferred)
            .into_iter()
            .map(|timeline| {
                let version = timeline.recorded.as_ref().map_or("", |it| &it.version);
                let version = version.split('.').map(|it| it.parse().unwrap_or(0)).collect();
                let logged = timeline.main_model().and_then(|it| it.cache.clone());
                let profile = Profile { cache: logged.unwrap_or(profile.cache.clone()), ..profile.clone() };
                let found =
                    Calibration::new(&timeline, &rows(&timeline, &profile), &profile.prices, &profile.cache);
                let moments = moments(&timeline, &found);
                Session {
                    moments,
                    name: format!("{file} {}", timeline.name).replace('_', "-"),
                    version,
                    found,
                    within: timeline.odds.as_ref().and_then(|it| it.within).map(|it| it.value),
                }
            })
            .collect::<Vec<_>>()
    };
    texts.iter().flat_map(of_text).collect()
}

/// Reads the files of a folder by name.
fn files(folder: &Path) -> Vec<(String, String)> {
    let name = |it: &Path| it.file_stem().unwrap().to_string_lossy().into_owned();
    files_below(folder, &[]).iter().map(|it| (name(it), fs::read_to_string(it).unwrap())).collect()
}

/// Reads the rollouts of newer versions.
fn newer_codex(root: &Path) -> Vec<(String, String)> {
    let folders = ["entire-graph", "git-sync", "skills"].map(|it| files(&root.join("2026").join(it)));
    let is_rollout =
        |it: &(String, String)| it.1.lines().next().is_some_and(|it| it.contains("session_meta"));
    folders.concat().into_iter().filter(is_rollout).collect()
}

/// The recorded sessions of the reference data.
struct Reference {
    shared: Vec<Session>,
    table: Vec<Session>,
    codex: Vec<Session>,
    newer: Vec<Session>,
}

impl Reference {
    fn read() -> Option<Self> {
        let root = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)?.join("recorded");
        let gpt = profile_from(GPT);
        let texts = ["claude-code", "claude-code-2"].map(|it| files(&root.join(it))).concat();
        let table = root.join("usage/claude-code_sessions.csv");
        let table = [("table".to_owned(), fs::read_to_string(table).unwrap())];
        Some(Self {
            shared: sessions(&texts, &profile()),
            table: sessions(&table, &profile()),
            codex: sessions(&[files(&root.join("codex")), newer_codex(&root)].concat(), &gpt),
            newer: sessions(&newer()?, &profile()),
        })
    }

    /// Returns the sessions of the table that are not among those with texts.
    fn others(&self) -> Vec<&Session> {
        let is_shared = |it: &&Session| {
            let name = it.name.rsplit('/').next().unwrap();
            self.shared.iter().any(|of| of.name.contains(name))
        };
        self.table.iter().filter(|it| !is_shared(it)).collect()
    }
}

/// A share with its interval, of sessions that are independent of each other.
struct Measured {
    happened: usize,
    requests: usize,
    n_sessions: usize,
    value: f64,
    error: f64,
}

impl Measured {
    /// Measures how often something happened; nothing where that, or the contrary, happened in fewer than five cases.
    fn new(of: &[&Session], what: Surprise) -> Option<Self> {
        let tallies: Vec<UnforeseenTally> =
            of.iter().map(|it| it.found.unforeseen.of(what)).filter(|it| it.requests > 0).collect();
        Self::of(tallies.iter().map(|it| [it.happened, it.requests]).collect())
    }

    /// Measures the same of counts by session.
    fn of(counts: Vec<[usize; 2]>) -> Option<Self> {
        let sum = |nth: usize| counts.iter().map(|it| it[nth]).sum::<usize>();
        let (happened, requests, n_sessions) = (sum(0), sum(1), counts.len());
        if happened < 5 || requests - happened < 5 || n_sessions < 2 {
            return None;
        }
        let (n, value) = (n_sessions as f64, happened as f64 / requests as f64);
        let apart = |it: &[usize; 2]| (it[0] as f64 - value * it[1] as f64).powi(2);
        let scatter: f64 = counts.iter().map(apart).sum();
        let error = (scatter * n / (n - 1.0)).sqrt() / requests as f64;
        Some(Self { happened, requests, n_sessions, value, error })
    }

    /// Says it as the file of assumptions does.
    fn said(&self) -> String {
        let [low, high] = [-1.96, 1.96].map(|it| (self.value + it * self.error).clamp(0.0, 1.0));
        format!(
            "{{ value = {:.4}, low = {low:.4}, high = {high:.4} }}   # {} of {} requests, {} sessions",
            self.value, self.happened, self.requests, self.n_sessions
        )
    }

    /// Asserts that it holds for other sessions within two standard errors: of their number, and of its own measurement.
    fn holds_for(&self, of: &[&Session], what: Surprise) {
        let mut found = UnforeseenTally::default();
        of.iter().for_each(|it| found += it.found.unforeseen.of(what));
        let n = found.requests as f64;
        let variance = n * self.value * (1.0 - self.value) + (n * self.error).powi(2);
        let (expected, happened) = (n * self.value, found.happened as f64);
        assert!(
            (expected - happened).abs() <= 2.0 * variance.sqrt(),
            "{what:?}: {expected} for {happened} of {n}"
        );
    }
}

fn field(what: Surprise) -> &'static str {
    match what {
        Surprise::TurnFell => "turn",
        Surprise::WithinTurnFell => "within",
        Surprise::SideRequest => "side_expected",
        Surprise::UnexpectedSideRequest => "side_unexpected",
        Surprise::Rewritten(_) | Surprise::Behind | Surprise::FrontStayed => {
            panic!("it has counts of its own")
        }
    }
}

/// Asserts that one of the rows of a format declares what was measured, and nothing that is not known.
fn is_declared((section, nth): (&str, usize), what: Surprise, measured: Option<&Measured>) {
    let text = DECLARED.split(&format!("[[{section}.odds]]\n")).nth(nth + 1).unwrap();
    let text = text.split_once("\n[").map_or(text, |it| it.0);
    let line = text.lines().find(|it| it.starts_with(&format!("{} = ", field(what))));
    let said = measured.map(|it| format!("{} = {}", field(what), it.said()));
    assert_eq!(line, said.as_deref(), "{section} {nth}");
}

#[test]
fn the_declared_odds_are_those_that_were_measured_and_fewer_than_five_cases_declare_none() {
    let Some(reference) = Reference::read() else { return };
    let others = reference.others();
    assert_eq!((reference.shared.len(), others.len()), (23, 50));
    // The table does not show what skills and calls rewrite in the versions between.
    let shows_all = |it: &&Session| it.version < vec![2, 1, 14] || it.version > vec![2, 1, 37];
    let shown: Vec<&Session> = others.iter().copied().filter(shows_all).collect();
    let (newer, newest): (Vec<&Session>, Vec<&Session>) =
        reference.newer.iter().partition(|it| it.version <= vec![2, 1, 126]);
    let table: Vec<&Session> = reference.table.iter().collect();
    let codex = |rows: &[f64]| -> Vec<&Session> {
        reference.codex.iter().filter(|it| it.within.is_some_and(|it| rows.contains(&it))).collect()
    };
    let [reviews, gpt_5_4, to_0_139, from_0_140] = [0.2418, 0.0112, 0.0371, 0.076];
    // Falls within a turn are too rare to be told apart.
    let mut within = UnforeseenTally::default();
    let with_texts = reference.shared.iter().chain(&reference.newer).chain(shown.iter().copied());
    with_texts.for_each(|it| within += it.found.unforeseen.of(Surprise::WithinTurnFell));
    let said = format!("# {} of {} requests\n", within.happened, within.requests);
    assert_eq!(
        DECLARED
            .matches(&format!("within = {{ value = 0.0007, low = 0.0003, high = 0.0016 }}   {said}"))
            .count(),
        3,
        "{said}"
    );
    for what in COUNTED {
        let is_fall = matches!(what, Surprise::TurnFell | Surprise::WithinTurnFell);
        let of_logs = Measured::new(if is_fall { &shown } else { &others }, what);
        if what != Surprise::WithinTurnFell {
            is_declared(("claude-code", 0), what, of_logs.as_ref());
            is_declared(("claude-code", 1), what, Measured::new(&newer, what).as_ref());
            is_declared(("claude-code", 2), what, Measured::new(&newest, what).as_ref());
        }
        is_declared(("claude-code-usage", 0), what, Measured::new(&table, what).as_ref());
        // New turns of the versions up to 0.139 are too few to stand alone.
        let all_5_5 =
            if what == Surprise::TurnFell { codex(&[to_0_139, from_0_140]) } else { codex(&[to_0_139]) };
        is_declared(("codex", 0), what, Measured::new(&codex(&[reviews]), what).as_ref());
        is_declared(("codex", 1), what, Measured::new(&codex(&[gpt_5_4]), what).as_ref());
        is_declared(("codex", 2), what, Measured::new(&all_5_5, what).as_ref());
        is_declared(("codex", 3), what, Measured::new(&codex(&[from_0_140]), what).as_ref());
    }
}

#[test]
fn how_often_an_hour_is_missed_is_what_was_measured_on_sessions_of_older_and_of_newer_versions() {
    let Some(reference) = Reference::read() else { return };
    let is_hour = |it: &ReadMoment| it.is_long && (300_001..=3_600_000).contains(&it.paused_ms);
    let of = |sessions: &mut dyn Iterator<Item = &Session>| {
        sessions.map(|it| falls([it], is_hour)).filter(|it| it[1] > 0).collect::<Vec<_>>()
    };

    let older = of(&mut reference.shared.iter().chain(reference.others()));
    let newer = of(&mut reference.newer.iter());

    let said = Measured::of(older).unwrap().said().replace("requests", "pauses");
    assert!(DECLARED.contains(&format!("hour_missed = {said}")), "{said}");
    let (n_sessions, missed, all) =
        newer.iter().fold((0, 0, 0), |it, hours| (it.0 + 1, it.1 + hours[0], it.2 + hours[1]));
    // Wilson's upper end, as nothing happened.
    let high = 1.96_f64.powi(2) / (f64::from(u32::try_from(all).unwrap()) + 1.96_f64.powi(2));
    let said = format!(
        "{{ value = 0.0000, low = 0.0000, high = {high:.4} }}   # {missed} of {all} pauses, {n_sessions} sessions"
    );
    assert_eq!(DECLARED.matches(&format!("hour_missed = {said}")).count(), 2, "{said}");
}

#[test]
fn new_turns_fall_more_often_after_long_turns_but_in_too_few_cases_to_tell_how_often() {
    let Some(reference) = Reference::read() else { return };
    let older: Vec<&Session> = reference.shared.iter().chain(reference.others()).collect();
    let is_shared = |it: &Session| reference.shared.iter().any(|of| std::ptr::eq(of, it));
    let shows_skills =
        |it: &&&Session| is_shared(it) || it.version < vec![2, 1, 14] || it.version > vec![2, 1, 37];
    let shown: Vec<&Session> = older.iter().filter(shows_skills).copied().collect();
    let counts = |of: &[&Session]| {
        [true, false].map(|long| {
            falls(of.iter().copied(), |it| it.turn_ms.is_some_and(|took| (took >= 120_000) == long))
        })
    };

    assert_eq!(counts(&older), [[13, 115], [8, 220]]);
    assert_eq!(counts(&shown), [[7, 60], [3, 128]]);
    assert_eq!(counts(&reference.newer.iter().collect::<Vec<_>>()), [[0, 136], [1, 202]]);
}

#[test]
fn an_hour_that_nobody_recorded_may_be_missed_and_is_expected_to_be_as_often_as_was_measured() {
    const HOUR: &str = include_str!("../../../policies/lifetimes/main_1h.ron");
    let hour = policy_from(HOUR);
    let timeline = |is_long, pause: usize| {
        let log = Log::new("2.1.62").lasting(is_long).user("hello").called("Read", 16_000, 14_000);
        log.reply("", 30_000, 1_000).wait(pause).user("go on").reply("", 16_000, 15_500).timeline()
    };
    let expected = |timeline: &Timeline, policy: &Policy| {
        let mut rows = Rows::default();
        Simulation::new(timeline, policy, &Limits::NONE, &profile().cache).run(&mut rows);
        (rows.requests[2].usage.read, rows.expected.iter().map(|it| (it.0, it.1.left)).collect::<Vec<_>>())
    };

    let paused = timeline(false, 600);
    let Chance { value, interval: [low, high], .. } = paused.odds.as_ref().unwrap().hour_missed.unwrap();
    let (read, found) = expected(&paused, &hour);
    let lost = read as f64 - paused.front_tokens() as f64;
    assert!(lost >= 15_000.0, "{read}");
    assert_eq!(found, [(2, [value, high, low].map(|it| 0.0 - it * lost))]);
    for (timeline, policy) in [
        (timeline(false, 600), identity()),
        (timeline(false, 200), hour.clone()),
        (timeline(true, 600), hour.clone()),
        (timeline(false, 4_000), hour.clone()),
    ] {
        assert_eq!(expected(&timeline, &policy).1, []);
    }
    // Where the provider has one lifetime for all, nobody asked for more.
    let mut rows = Rows::default();
    let gpt = profile_from(GPT);
    Simulation::new(&paused, &hour, &Limits::NONE, &gpt.cache).run(&mut rows);
    assert!(rows.expected.is_empty());
}

/// Returns every second session, from one on.
fn half(of: &[Session], first: usize) -> Vec<&Session> {
    of.iter().skip(first).step_by(2).collect()
}

#[test]
fn what_is_expected_of_each_half_of_the_shared_sessions_happened_within_two_standard_errors() {
    let Some(reference) = Reference::read() else { return };
    let all = [&reference.shared, &reference.newer];
    for (sessions, first) in all.into_iter().flat_map(|it| [(it, 0), (it, 1)]) {
        let mut all = Calibration::default();
        half(sessions, first).iter().for_each(|it| all.merge(&it.found));
        let (mut falls, mut falls_error) = ([0.0; 2], 0.0);
        for (what, _, found) in all.unforeseen.iter().filter(|it| it.1) {
            let error = (found.expected_high - found.expected_low) / (2.0 * 1.96);
            let variance = found.variance + error.powi(2);
            let happened = found.happened as f64;
            assert!(
                (found.expected - happened).abs() <= 2.0 * variance.sqrt(),
                "half {first}, {what:?}: {} expected, {happened} happened",
                found.expected
            );
            if matches!(what, Surprise::TurnFell | Surprise::Rewritten(_)) {
                falls = [falls[0] + found.expected, falls[1] + happened];
                falls_error += variance;
            }
        }
        assert!((falls[0] - falls[1]).abs() <= 2.0 * falls_error.sqrt(), "half {first}: {falls:?}");
        assert!(falls[1] > 0.0, "half {first}");
    }
}

#[test]
fn what_a_request_wrote_may_not_be_there_yet_for_one_that_starts_shortly_after_in_some_versions() {
    let behind = |version, pause: usize| {
        let log = Log::new(version).user("hello").called("Read", 0, 30_000);
        let log = log.called_for(pause, "Read", 30_000, 1_000).reply("", 30_000, 2_000);
        let timeline = log.timeline();
        let profile = profile();
        let found = Calibration::new(&timeline, &rows(&timeline, &profile), &profile.prices, &profile.cache);
        found.unforeseen.of(Surprise::Behind)
    };
    let soon = behind("2.1.126", 0);

    assert_eq!((soon.requests, soon.happened), (1, 1), "{soon:?}");
    assert!((soon.expected - 0.0525).abs() < 1e-12, "started four seconds later: {soon:?}");
    assert!(soon.expected_usd > 0.0 && soon.happened_usd > 0.0, "{soon:?}");
    for (version, pause) in [("2.1.126", 2), ("2.1.129", 0), ("2.1.37", 0)] {
        assert_eq!(behind(version, pause).requests, 0, "{version} {pause}");
    }
}

#[test]
fn the_odds_of_one_half_hold_for_the_other_where_it_tells_any() {
    let Some(reference) = Reference::read() else { return };
    for (of, n_told) in [(&reference.table, 4), (&reference.codex, 4), (&reference.shared, 0)] {
        let mut told = 0;
        for (first, what) in [0, 1].into_iter().flat_map(|first| COUNTED.map(|what| (first, what))) {
            if let Some(measured) = Measured::new(&half(of, first), what) {
                measured.holds_for(&half(of, 1 - first), what);
                told += 1;
            }
        }
        assert_eq!(told, n_told);
    }
}

/// Three turns a minute apart, but for the last reply.
fn before_a_fall() -> Log {
    let log = Log::new("2.1.62").user("hello").reply("", 16_000, 14_000).wait(60).user("go on");
    log.reply("", 30_000, 1_000).wait(60).user("go on")
}

/// Three turns a minute apart; the last one reads tools and system prompt alone.
fn with_a_fall() -> Log {
    before_a_fall().reply("", 16_000, 16_000)
}

#[test]
fn what_the_provider_says_has_changed_is_no_fall_that_nothing_tells() {
    let profile = profile();
    let fell = |log: Log| {
        let timeline = log.reply("", 16_000, 16_000).timeline();
        let found = Calibration::new(&timeline, &rows(&timeline, &profile), &profile.prices, &profile.cache);
        let fell = found.unforeseen.of(Surprise::TurnFell);
        (fell.requests, fell.happened)
    };

    assert_eq!(fell(before_a_fall()), (2, 1));
    assert_eq!(fell(before_a_fall().diagnosed(true)), (1, 0));
    assert_eq!(fell(before_a_fall().diagnosed(false)), (2, 1), "that it is gone says nothing of the prompt");
}

#[test]
fn a_fall_is_expected_with_its_probability_at_each_new_turn_and_costs_what_is_written_again() {
    let profile = profile();
    let timeline = with_a_fall().timeline();
    let rows = rows(&timeline, &profile);

    let found = Calibration::new(&timeline, &rows, &profile.prices, &profile.cache);

    let odds = timeline.odds.as_ref().unwrap().turn.unwrap();
    let fell = found.unforeseen.of(Surprise::TurnFell);
    assert_eq!((fell.requests, fell.happened), (2, 1));
    assert!((fell.expected - 2.0 * odds.value).abs() < 1e-12);
    // Tools and system prompt stay; what is written for an hour costs 10 USD a million, what is read 0.5.
    let lost: u64 = rows.requests[1..].iter().map(|it| it.usage.read - 16_000).sum();
    assert!((fell.expected_usd - odds.value * lost as f64 * 9.5e-6).abs() < 1e-12, "{fell:?}");
    let predicted = rows.requests[2].usage.read;
    assert!((fell.happened_usd - (predicted - 16_000) as f64 * 9.5e-6).abs() < 1e-9, "{fell:?}");
}

#[test]
fn what_no_record_tells_changes_neither_rows_nor_the_predicted_cost() {
    let profile = profile();
    let timeline = with_a_fall().timeline();
    let silent = ctxsim::timeline::Timeline { odds: None, ..with_a_fall().timeline() };

    let [with, without] = [&timeline, &silent].map(|it| rows(it, &profile));

    assert_eq!(with.requests, without.requests);
    let [with, without] = [(&timeline, &with), (&silent, &without)]
        .map(|(timeline, rows)| Calibration::new(timeline, rows, &profile.prices, &profile.cache));
    assert_eq!(with.predicted_cost, without.predicted_cost);
    assert!(with.unforeseen.expected_usd()[0] > 0.0 && without.unforeseen.expected_usd() == [0.0; 3]);
}

#[test]
fn a_front_that_is_taken_to_outlive_a_pause_may_not_and_costs_what_is_written_again() {
    let profile = profile();
    let log = Log::new("2.1.178").user("hello").called("Read", 16_000, 14_000).reply("", 30_000, 1_000);
    let timeline = log.wait(4_000).user("go on").reply("", 0, 31_500).timeline();

    let found = Calibration::new(&timeline, &rows(&timeline, &profile), &profile.prices, &profile.cache);

    let stayed = found.unforeseen.of(Surprise::FrontStayed);
    assert_eq!((stayed.requests, stayed.happened), (1, 0));
    assert!((stayed.expected - 18.0 / 22.0).abs() < 1e-12);
    assert!((stayed.expected_usd - 4.0 / 22.0 * 16_000.0 * 9.5e-6).abs() < 1e-12, "{stayed:?}");
    assert_eq!(found.unforeseen.of(Surprise::TurnFell).requests, 0);
}

#[test]
fn a_foreseen_rewrite_that_does_not_come_is_counted_with_what_it_saves() {
    let log = Log::new("2.1.30")
        .user("hello")
        .called("Read", 16_000, 14_000)
        .reply("", 30_000, 10_000)
        .skill_command()
        .reply("", 40_000, 1_000)
        .user("go on")
        .reply("", 16_000, 26_000);
    let profile = profile();
    let timeline = log.timeline();

    let found = Calibration::new(&timeline, &rows(&timeline, &profile), &profile.prices, &profile.cache);

    let of = |because| found.unforeseen.of(Surprise::Rewritten(because));
    let skill = of("a skill was expanded");
    assert_eq!((skill.requests, skill.happened), (1, 0));
    assert!((skill.expected - 43.0 / 53.0).abs() < 1e-12);
    assert!((skill.expected_usd + 10.0 / 53.0 * 24_000.0 * 9.5e-6).abs() < 1e-12, "{skill:?}");
    assert!((skill.happened_usd + 24_000.0 * 9.5e-6).abs() < 1e-9, "{skill:?}");
    let after = of("the previous turn had a skill");
    assert_eq!((after.requests, after.happened, after.happened_usd), (1, 1, 0.0));
}

/// Returns what a scan counts of a file: falls at new turns, and entries of an hour that are missed.
fn scanned(text: &str) -> [SeenCases; 2] {
    let sessions = index(&mut text.as_bytes()).unwrap();
    let mut sum = OwnCounts::default();
    sessions.iter().for_each(|it| sum += &it.own);
    [sum.turn, sum.hour_missed]
}

#[test]
fn a_scan_of_a_log_counts_what_a_play_finds() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let root = root.join("recorded");
    let older = ["claude-code", "claude-code-2"].map(|it| files(&root.join(it))).concat();
    let counts = |texts: &[(String, String)]| {
        let mut sums = [[0; 2]; 4];
        for text in texts {
            let played = sessions(std::slice::from_ref(text), &profile());
            let mut fell = UnforeseenTally::default();
            played.iter().for_each(|it| fell += it.found.unforeseen.of(Surprise::TurnFell));
            let hours = falls(&played, |it| it.is_long && (300_001..=3_600_000).contains(&it.paused_ms));
            let [turn, hour] = scanned(&text.1).map(|it| [it.happened, it.of].map(|it| it as usize));
            // What a scan cannot be sure of it leaves out.
            for (scanned, played) in [(turn, [fell.happened, fell.requests]), (hour, hours)] {
                assert!(scanned[0] <= played[0] && scanned[1] <= played[1], "{}: {scanned:?}", text.0);
            }
            let all = [turn, [fell.happened, fell.requests], hour, hours];
            sums.iter_mut().zip(all).for_each(|(sum, it)| *sum = [sum[0] + it[0], sum[1] + it[1]]);
        }
        sums
    };

    // Falls at new turns and all of these, scanned and played; missed hours and all pauses, scanned and played.
    assert_eq!(counts(&older), [[3, 70], [4, 74], [1, 10], [2, 16]]);
    // Of newer versions no odds of falls are declared.
    let newer = counts(&newer().unwrap());
    assert_eq!([newer[0], newer[2], newer[3]], [[0, 0], [0, 156], [0, 159]]);
}
