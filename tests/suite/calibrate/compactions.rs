//! What follows a compaction: a small session, of which every count is known by hand.

use ctxsim::calibrate::Calibration;
use ctxsim::calibrate::compaction::{Aftermath, ReadOutcome, compacting};
use ctxsim::catalog::bundled_catalog;
use ctxsim::input::Policy;
use ctxsim::input::scenario::HiddenRequest;
use ctxsim::report::calibration::Calibrations;
use ctxsim::timeline::{Kind, Timeline};

use super::*;

/// The first request after the compaction.
const ORIGIN: u32 = 20;

/// A Claude Code log: one request a call, each of which adds 1,000 tokens to the prompt.
#[derive(Default)]
struct Log {
    text: String,
    n_lines: usize,
    n_requests: usize,
    prompt: u64,
}

impl Log {
    fn new() -> Self {
        Self { prompt: 20_000, ..Self::default() }.user("Mend it.", "")
    }

    fn line(mut self, kind: &str, message: &str, more: &str) -> Self {
        let parent = self.n_lines.checked_sub(1).map_or("null".to_owned(), |it| format!("\"u{it}\""));
        let (n, minute, second) = (self.n_lines, self.n_lines / 60, self.n_lines % 60);
        writeln!(
            self.text,
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"sessionId":"s","version":"2.1.7","timestamp":"2026-01-01T00:{minute:02}:{second:02}.000Z",{more}"message":{message}}}"#
        )
        .unwrap();
        self.n_lines += 1;
        self
    }

    fn user(self, text: &str, more: &str) -> Self {
        self.line("user", &format!(r#"{{"role":"user","content":"{text}"}}"#), more)
    }

    /// A request that calls one tool, and a result of so many characters.
    fn call(mut self, tool: &str, input: &str, characters: usize) -> Self {
        let n = self.n_requests;
        let usage = format!(
            r#"{{"input_tokens":4,"cache_read_input_tokens":0,"cache_creation_input_tokens":{},"output_tokens":50}}"#,
            self.prompt - 4
        );
        self.n_requests += 1;
        self.prompt += 1_000;
        let call = format!(r#"{{"type":"tool_use","id":"t{n}","name":"{tool}","input":{input}}}"#);
        let reply =
            format!(r#"{{"id":"m{n}","role":"assistant","model":"m","content":[{call}],"usage":{usage}}}"#);
        let result = "x ".repeat(characters / 2);
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"{result}"}}"#);
        self.line("assistant", &reply, "").line(
            "user",
            &format!(r#"{{"role":"user","content":[{result}]}}"#),
            "",
        )
    }

    fn file(self, tool: &str, path: &str) -> Self {
        self.call(tool, &format!(r#"{{"file_path":"{path}"}}"#), 3_000)
    }

    /// Lists the folder until so many requests are made.
    fn until(self, n_requests: u32) -> Self {
        (self.n_requests..n_requests as usize)
            .fold(self, |log, _| log.call("Bash", r#"{"command":"ls"}"#, 3_000))
    }

    fn compacted(self) -> Self {
        let log = self.user("So far: two files read.", r#""isCompactSummary":true,"#);
        Self { prompt: 30_000, ..log }
    }

    fn timeline(&self) -> Timeline {
        timelines(&self.text, HiddenRequest::None).remove(0)
    }

    fn calibration(&self) -> Calibration {
        let timeline = self.timeline();
        let profile = profile();
        let (rows, prices) = (rows(&timeline, &profile), &profile.prices);
        Calibration::new(&timeline, &rows, prices, &profile.cache).with_compactions(
            &timeline,
            &rows,
            prices,
            Some(&preset()),
        )
    }
}

/// Returns sessions that are the same under each assumption.
fn alike(sessions: &[Calibration]) -> Calibrations<'_> {
    let as_recorded = sessions;
    Calibrations { as_recorded, with_side_requests: sessions, with_inferred: sessions, as_logged: None }
}

/// What compacts as Claude Code does.
fn preset() -> Policy {
    compacting(&bundled_catalog().policy("agents/claude_code/auto_compact").unwrap().spec).unwrap()
}

/// Up to the compaction: two files that were read long ago, one just now, one that was written and one that was not found.
fn before() -> Log {
    let log = Log::new().file("Read", "/w/a.rs").file("Read", "/w/b.rs").file("Edit", "/w/a.rs");
    let log =
        log.file("Write", "/w/d.rs").call("Read", r#"{"file_path":"/w/not/where/anyone/looks/e.rs"}"#, 4);
    log.until(18).file("Read", "/w/c.rs").until(ORIGIN).compacted()
}

/// After it, one file is read again, one is searched, one is read too late, and one is read for the first time.
fn whole() -> Log {
    let log = before().until(22).file("Read", "/w/c.rs").until(25);
    let log = log.call("Grep", r#"{"pattern":"x","path":"/w/b.rs"}"#, 3_000).file("Read", "/w/f.rs");
    log.until(40).file("Read", "/w/a.rs").until(45)
}

fn only(calibration: &Calibration) -> &Aftermath {
    let [only] = calibration.compactions.as_slice() else { panic!("{:?}", calibration.compactions) };
    only
}

#[test]
fn files_that_a_compaction_hid_are_counted_by_hand() {
    let calibration = whole().calibration();

    let found = only(&calibration);
    assert_eq!((found.step, found.followed, found.is_scored()), (ORIGIN, 20, true));
    assert_eq!((found.prompt_before, found.prompt_after), (Some(39_000), Some(30_000)));
    let files: Vec<_> = found
        .files
        .iter()
        .map(|it| (it.path.as_str(), it.idle_requests, it.read_at, it.fetched_at))
        .collect();
    assert_eq!(
        files,
        [("/w/a.rs", 18, None, None), ("/w/b.rs", 19, None, Some(25)), ("/w/c.rs", 2, Some(22), Some(22)),]
    );
    let [read, baseline] = calibration.scores(ReadOutcome::Read);
    assert!((read.predicted - (0.167 + 0.167 + 0.434)).abs() < 1e-12 && read.actual == 1, "{read:?}");
    assert!((baseline.predicted - (0.139 + 0.139 + 0.285)).abs() < 1e-12, "{baseline:?}");
    let squares = 2.0 * 0.167_f64.powi(2) + 0.566_f64.powi(2);
    assert!((read.brier - squares / 3.0).abs() < 1e-12, "{read:?}");
    assert!((read.deviance - 2.0 * (-0.768_f64.ln() - 0.232)).abs() < 1e-12, "{read:?}");
    let [fetched, _] = calibration.scores(ReadOutcome::Fetched);
    assert!((fetched.predicted - 0.798).abs() < 1e-12 && fetched.actual == 2, "{fetched:?}");
}

#[test]
fn what_reads_cost_is_what_their_tokens_cost() {
    let log = whole();
    let (timeline, calibration) = (log.timeline(), log.calibration());
    let items = &timeline.spine.items;
    let result = |step: u32| {
        let found = items.iter().find(|it| it.kind == Kind::ToolResult && it.step_ix == step).unwrap();
        (f64::from(items[found.pair as usize].raw), f64::from(found.raw))
    };
    let (read, write, output) = (0.5e-6, 6.25e-6, 25e-6);

    let found = only(&calibration);

    // What stood in front of all messages, a summary, other content, and what was read last, whole: c, that there is no e, b and a.
    let user: u32 = items[timeline.spine.turns[0].user.start as usize..][..1].iter().map(|it| it.raw).sum();
    let files = [0, 1, 4, 18].map(|it| result(it).1).iter().sum::<f64>() as u64;
    let prompt = 20_000 - u64::from(user) + 3_066 + 5_000 + files;
    assert_eq!(found.predicted_prompt, Some(prompt));
    let chances = 0.167 + 0.167 + 0.434;
    let predicted =
        chances * (0.3 * prompt as f64 * read + (4_563.0 + 119.0) * (write + 12.0 * read) + 119.0 * output);
    assert!((found.predicted_usd.unwrap() - predicted).abs() < 1e-9, "{found:?} {predicted}");
    let (call, fetched) = result(22);
    let actual = 0.3 * 32_000.0 * read + (call + fetched) * (write + 16.0 * read) + call * output;
    assert!((found.actual_usd.unwrap() - actual).abs() < 1e-9, "{found:?} {actual}");
}

#[test]
fn nothing_that_follows_a_compaction_changes_its_prediction() {
    let of = |log: Log| {
        let calibration = log.calibration();
        let found = only(&calibration);
        (found.predicted(ReadOutcome::Read), found.predicted_prompt, found.predicted_usd)
    };

    let expected = of(whole());

    assert_eq!(of(before().until(45)), expected);
    assert_eq!(of(before().until(21)), expected);
}

#[test]
fn a_compaction_that_too_little_follows_is_shown_and_not_scored() {
    let sessions = [before().until(26).calibration()];
    let calibration = &sessions[0];

    let text = alike(&sessions).to_text(true);

    assert!(!only(calibration).is_scored() && only(calibration).actual_usd.is_none());
    assert_eq!(calibration.scores(ReadOutcome::Read)[0].events, 0);
    assert_says(&text, &["not scored: 6 of 20 requests followed", "No compaction could be scored"]);
}

#[test]
fn what_follows_a_second_compaction_follows_that_one() {
    let calibration = before().until(30).compacted().until(55).calibration();

    let [first, second] = calibration.compactions.as_slice() else { panic!("{calibration:?}") };
    assert_eq!((first.step, first.followed, first.files.len()), (20, 10, 3));
    assert_eq!(
        (second.step, second.followed, second.files.len()),
        (30, 20, 0),
        "what was gone was not hidden again"
    );
}

#[test]
fn a_session_without_compaction_prints_nothing_of_it() {
    let cleared = Log::new().file("Read", "/w/a.rs").until(20);
    let cleared = cleared.line("progress", "null", r#""data":{"hookName":"SessionStart:clear"},"#);
    let cleared = Log { prompt: 20_000, ..cleared }.user("Now another.", "").until(45);
    for log in [Log::new().until(30), cleared] {
        let calibration = log.calibration();
        let sessions = [calibration];

        let text = alike(&sessions).to_text(true);
        let json = alike(&sessions).to_json().unwrap();

        assert!(sessions[0].compactions.is_empty());
        assert!(!text.contains("compaction") && !json.contains("compaction"), "{text}");
    }
}

#[test]
fn the_report_shows_what_followed_and_how_little_it_proves() {
    let sessions = [whole().calibration()];

    let text = alike(&sessions).to_text(true);
    let json = alike(&sessions).to_json().unwrap();

    let shown = text.split_once("After compactions").unwrap().1;
    assert_says(shown, &["39,000", "0.8 → 1", "1 compaction with 3 files proves nothing"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let followed = &json["what_followed_compactions"];
    assert_eq!(followed["compactions"][0]["files"][2]["read_again_at"], 22);
    assert!(shown.contains("0.8 (0.6…1.0)"), "{shown}");
    assert_eq!(followed["read_or_searched_again"]["model"]["actual"], 2);
}
