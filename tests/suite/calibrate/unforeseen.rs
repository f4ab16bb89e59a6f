//! What no record tells of a bill: the declared probabilities against sessions that they were not measured on.

use std::path::{Path, PathBuf};

use ctxsim::calibrate::Calibration;
use ctxsim::calibrate::unforeseen::{Surprise, UnforeseenTally};
use ctxsim::input::scenario::HiddenRequest;
use ctxsim::input::{Format, Profile, decode};

use super::{Log, newer, profile, rows, timelines};

const DECLARED: &str = include_str!("../../../assumptions/harnesses.toml");
const GPT: &str = include_str!("../../../profiles/openai/gpt-5.5.toml");
const COUNTED: [Surprise; 4] =
    [Surprise::TurnFell, Surprise::WithinTurnFell, Surprise::SideRequest, Surprise::UnexpectedSideRequest];

/// A recorded session and what was found of its bill.
struct Session {
    name: String,
    version: Vec<u32>,
    found: Calibration,
}

/// Compares the sessions of some texts, each with a name, one by one.
fn sessions(texts: &[(String, String)], profile: &Profile) -> Vec<Session> {
    let of_text = |(file, text): &(String, String)| {
        timelines(text, HiddenRequest::Inferred)
            .into_iter()
            .map(|timeline| {
                let version = timeline.recorded.as_ref().map_or("", |it| &it.version);
                let version = version.split('.').map(|it| it.parse().unwrap_or(0)).collect();
                let found =
                    Calibration::new(&timeline, &rows(&timeline, profile), &profile.prices, &profile.cache);
                Session { name: format!("{file} {}", timeline.name).replace('_', "-"), version, found }
            })
            .collect::<Vec<_>>()
    };
    texts.iter().flat_map(of_text).collect()
}

/// Reads the files of a folder by name.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let name = |it: &Path| it.file_stem().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|it| (name(it), std::fs::read_to_string(it).unwrap())).collect()
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
        let gpt = Profile::new(&decode::decode(GPT, Format::Toml).unwrap()).unwrap();
        let texts = ["claude-code", "claude-code-2"].map(|it| files(&root.join(it))).concat();
        let table = root.join("usage/claude-code_sessions.csv");
        let table = [("table".to_owned(), std::fs::read_to_string(table).unwrap())];
        Some(Self {
            shared: sessions(&texts, &profile()),
            table: sessions(&table, &profile()),
            codex: sessions(&files(&root.join("codex")), &gpt),
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
        let sum = |count: fn(&UnforeseenTally) -> usize| tallies.iter().map(count).sum::<usize>();
        let (happened, requests, n_sessions) = (sum(|it| it.happened), sum(|it| it.requests), tallies.len());
        if happened < 5 || requests - happened < 5 || n_sessions < 2 {
            return None;
        }
        let (n, value) = (n_sessions as f64, happened as f64 / requests as f64);
        let apart = |it: &UnforeseenTally| (it.happened as f64 - value * it.requests as f64).powi(2);
        let scatter: f64 = tallies.iter().map(apart).sum();
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
        Surprise::Rewritten(_) | Surprise::Behind => panic!("it has counts of its own"),
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
    let (table, codex) =
        (reference.table.iter().collect::<Vec<_>>(), reference.codex.iter().collect::<Vec<_>>());
    for what in COUNTED {
        let is_fall = matches!(what, Surprise::TurnFell | Surprise::WithinTurnFell);
        let of_logs = Measured::new(if is_fall { &shown } else { &others }, what);
        is_declared(("claude-code", 0), what, of_logs.as_ref());
        is_declared(("claude-code", 1), what, Measured::new(&newer, what).as_ref());
        is_declared(("claude-code", 2), what, Measured::new(&newest, what).as_ref());
        is_declared(("claude-code-usage", 0), what, Measured::new(&table, what).as_ref());
        is_declared(("codex", 0), what, Measured::new(&codex, what).as_ref());
    }
}

/// Returns every second session, from one on.
fn half(of: &[Session], first: usize) -> Vec<&Session> {
    of.iter().skip(first).step_by(2).collect()
}

#[test]
fn what_is_expected_of_each_half_of_the_shared_sessions_happened_within_two_standard_errors() {
    let Some(reference) = Reference::read() else { return };
    let all = [(&reference.shared, true), (&reference.newer, false)];
    for ((sessions, has_falls), first) in all.into_iter().flat_map(|it| [(it, 0), (it, 1)]) {
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
        assert_eq!(falls[1] > 0.0, has_falls, "half {first}");
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
    for (of, n_told) in [(&reference.table, 4), (&reference.codex, 3), (&reference.shared, 0)] {
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
