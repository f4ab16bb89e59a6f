//! Recorded sessions under the provider's own rules: what is predicted, what was billed, and what the prediction may see.

mod compactions;
mod harness;
mod unforeseen;
mod whose_rules;

use harness::Log;

use ctxsim::calibrate::{Calibration, ReadClass, sum_of_sessions};

use crate::support::*;

const FIXTURE: &str = include_str!("../../scenarios/recorded/claude-code-session.jsonl");
const PROFILE: &str = include_str!("../../profiles/anthropic/claude-opus-4.5.toml");
const HEADER: &str = "file,session,idx,version,t_start,t_first_line,t_last_line,input,cache_read,cache_write_total,output_logged_max,new_user_chars,new_tool_result_chars,asst_text_chars,asst_thinking_chars,asst_tool_use_chars";
const IDENTITY: &str = include_str!("../../policies/identity.ron");

/// Reads the agents' own sessions and those of sub-agents of a text.
fn all_timelines(text: &str, side_request: HiddenRequest) -> Vec<Timeline> {
    let assume = Assume { side_request: Some(side_request), ..Assume::default() };
    import_all(text, "test", &assume, &[]).unwrap().into_iter().map(|it| it.timeline).collect()
}

/// Reads the agents' own sessions, of which bounds and odds were measured.
fn timelines(text: &str, side_request: HiddenRequest) -> Vec<Timeline> {
    let all = all_timelines(text, side_request).into_iter();
    all.filter(|it| !it.is_of_agent()).collect()
}

fn identity() -> Policy {
    policy_from(IDENTITY)
}

fn rows(timeline: &Timeline, profile: &Profile) -> Rows {
    let mut rows = Rows::default();
    Simulation::new(timeline, &identity(), &Limits::NONE, &profile.cache).run(&mut rows);
    rows
}

fn profile() -> Profile {
    profile_from(PROFILE)
}

/// Compares every session of some texts.
fn calibrated(texts: &[String], side_request: HiddenRequest) -> Calibration {
    calibrated_under(&profile(), texts, side_request)
}

/// Compares every session of some texts under a model.
fn calibrated_under(profile: &Profile, texts: &[String], side_request: HiddenRequest) -> Calibration {
    let timelines = texts.iter().flat_map(|it| timelines(it, side_request));
    let all: Vec<Calibration> = timelines
        .map(|it| Calibration::new(&it, &rows(&it, profile), &profile.prices, &profile.cache))
        .collect();
    sum_of_sessions(&all)
}

/// Returns the shares of exact and of close reads, in percent.
fn shares(calibration: &Calibration) -> (f64, f64) {
    let n = calibration.pairs.len() as f64 / 100.0;
    let exact = calibration.count(ReadClass::Exact) as f64;
    (exact / n, (exact + calibration.count(ReadClass::Within) as f64) / n)
}

#[test]
fn the_bundled_session_is_predicted_as_it_was_billed() {
    let calibration = calibrated(&[FIXTURE.to_owned()], HiddenRequest::None);

    assert!(shares(&calibration).0 >= 97.0, "{:?}", calibration.reasons());
    let (predicted, billed) = (calibration.predicted_cost.usd(), calibration.billed_cost.usd());
    assert!((predicted - billed).abs() / billed < 0.01, "{predicted} {billed}");
}

/// Moves what was read to what was written, or back, in every usage of a session.
fn moved(text: &str, to_write: bool) -> String {
    let number = |line: &str, field: &str| -> Option<(usize, usize, u64)> {
        let start = line.find(field)? + field.len();
        let end = start + line[start..].bytes().take_while(u8::is_ascii_digit).count();
        Some((start, end, line[start..end].parse().ok()?))
    };
    let (read, write) = ("\"cache_read_input_tokens\":", "\"cache_creation_input_tokens\":");
    let lines = text.lines().map(|line| {
        let (Some(from), Some(to)) = (number(line, read), number(line, write)) else {
            return line.to_owned();
        };
        let sum = from.2 + to.2;
        let (new_read, new_write) = if to_write { (0, sum) } else { (sum, 0) };
        let mut parts = [(from, new_read), (to, new_write)];
        parts.sort_by_key(|it| std::cmp::Reverse(it.0.0));
        parts.iter().fold(line.to_owned(), |mut line, ((start, end, _), new)| {
            line.replace_range(*start..*end, &new.to_string());
            line
        })
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn tokens_moved_between_read_and_written_change_no_prediction() {
    let profile = profile();
    for side_request in [HiddenRequest::None, HiddenRequest::Usual] {
        let predicted = |text: &str| rows(&timelines(text, side_request)[0], &profile).requests;
        let as_billed = predicted(FIXTURE);
        for to_write in [false, true] {
            let moved = moved(FIXTURE, to_write);
            assert_ne!(moved, FIXTURE);
            assert_eq!(predicted(&moved), as_billed);
        }
    }
}

/// A usage table of one session: 10 tokens behind the last breakpoint, 1,000 more a turn, a turn every hundred seconds.
fn turns(reads: &[u64]) -> String {
    let rows = reads.iter().zip(0_u64..).map(|(read, turn)| {
        let (seconds, write) = (100 * turn, 30_000 + 1_000 * turn - read);
        format!("f,s,{turn},2.1.7,{seconds}.0,{seconds}.5,{seconds}.9,10,{read},{write},5,400,0,2000,0,0")
    });
    std::iter::once(HEADER.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}

/// The turns after which the harness sends nothing, though another turn follows.
fn quiet_turns(timeline: &Timeline) -> Vec<u32> {
    let n_turns = u32::try_from(timeline.spine.turns.len()).unwrap();
    (0..n_turns - 1).filter(|it| timeline.side_requests_after(*it).is_empty()).collect()
}

#[test]
fn side_requests_are_expected_after_turns_where_the_turns_before_had_them() {
    let quiet = |reads: &[u64]| quiet_turns(&timelines(&turns(reads), HiddenRequest::Inferred)[0]);

    let always = [29_000, 30_500, 31_500, 32_500, 33_500];
    let never = [29_000, 30_000, 31_000, 32_000, 33_000];
    let once_missing = [29_000, 30_500, 31_500, 32_000, 33_500];
    assert_eq!(quiet(&always), [0; 0]);
    assert_eq!(quiet(&never), [1, 2, 3], "only the first turn knows of none before it");
    assert_eq!(quiet(&once_missing), [0; 0], "a session has them or not, whatever one turn says");
}

#[test]
fn what_tells_nothing_of_side_requests_changes_no_inference() {
    let quiet = |text: &str| quiet_turns(&timelines(text, HiddenRequest::Inferred)[0]);

    let missed = turns(&[29_000, 30_000, 9_000, 32_000]);
    let soon =
        turns(&[29_000, 30_000, 31_000]).replace(",100.0,", ",5.0,").replace(",100.5,100.9,", ",5.5,5.9,");
    assert_eq!(quiet(&missed), [1, 2], "a miss neither shows one nor shows that none came");
    assert_eq!(quiet(&soon), [0; 0], "none can have come before the user spoke again");
}

#[test]
fn an_inferred_side_request_asks_the_bills_of_earlier_turns_alone() {
    let profile = profile();
    let predicted = |reads: &[u64]| rows(&timelines(&turns(reads), HiddenRequest::Inferred)[0], &profile);
    let billed = [29_000, 30_000, 31_000, 32_000, 33_000, 34_000];
    let as_billed = predicted(&billed).requests;
    for turn in 1..billed.len() {
        let mut moved = billed;
        moved[turn..].iter_mut().for_each(|it| *it += 500);

        assert_eq!(predicted(&moved).requests[..=turn], as_billed[..=turn], "turn {turn}");
    }
    let mut first_read_more = billed;
    first_read_more[1] += 500;
    assert_ne!(predicted(&first_read_more).requests, as_billed, "later turns learn from it");
}

#[test]
fn a_model_reads_nothing_of_what_another_has_cached() {
    let turns = turns(&[0, 0, 30_000]);
    let lines = turns.lines().zip(["model", "opus", "sonnet", "opus"]);
    let text = lines.map(|(line, model)| format!("{line},{model}")).collect::<Vec<_>>().join("\n");

    let timeline = &timelines(&text, HiddenRequest::None)[0];

    let reads: Vec<u64> = rows(timeline, &profile()).requests.iter().map(|it| it.usage.read).collect();
    assert_eq!(reads, [0, 0, 30_000], "and what a model has cached it reads when its turn comes again");
    assert!(timeline.assumptions.iter().any(|it| it.starts_with("Model switches: 2.")));
}

/// Returns the recorded sessions of some folders of the reference data, by the folder's order and then by name; nothing without it.
fn reference(folders: &[&str]) -> Option<Vec<String>> {
    let root = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(root.join("recorded").join(folder)).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
        files.sort();
        paths.extend(files);
    }
    Some(paths.iter().map(|it| fs::read_to_string(it).unwrap()).collect())
}

#[test]
fn the_reference_sessions_are_predicted_as_they_were_billed() {
    let Some(texts) = reference(&["claude-code"]) else { return };

    let recorded = calibrated(&texts, HiddenRequest::None);
    let inferred = calibrated(&texts, HiddenRequest::Inferred);
    let usual = calibrated(&texts, HiddenRequest::Usual);

    assert_eq!(recorded.pairs.len(), 423);
    assert!(shares(&recorded).0 >= 97.0, "{:?} {:?}", shares(&recorded), recorded.reasons());
    assert!(shares(&inferred).0 >= 97.0, "{:?} {:?}", shares(&inferred), inferred.reasons());
    assert!(shares(&inferred).1 >= 99.0, "{:?} {:?}", shares(&inferred), inferred.reasons());
    assert!(shares(&usual).1 >= 98.5, "{:?} {:?}", shares(&usual), usual.reasons());
}

#[test]
fn sessions_with_skills_tasks_compactions_and_restarts_are_predicted_within_bounds() {
    let Some(texts) = reference(&["claude-code", "claude-code-2"]) else { return };

    let all = calibrated(&texts, HiddenRequest::Inferred);

    assert_eq!(all.pairs.len(), 1_662, "requests before a session was cleared, too");
    assert!(shares(&all).0 >= 96.5, "{:?} {:?}", shares(&all), all.reasons());
    assert!(shares(&all).1 >= 98.5, "{:?} {:?}", shares(&all), all.reasons());
    assert!(all.token_error() <= 0.0025, "{}", all.token_error());
    let (predicted, billed) = (all.predicted_cost.usd(), all.billed_cost.usd());
    assert!((predicted - billed).abs() / billed <= 0.015, "{predicted} {billed}");

    // Neither half carries the other.
    for first in [0, 1] {
        let half: Vec<String> = texts.iter().skip(first).step_by(2).cloned().collect();
        let half = calibrated(&half, HiddenRequest::Inferred);
        assert!(shares(&half).0 >= 95.5, "{:?} {:?}", shares(&half), half.reasons());
        assert!(shares(&half).1 >= 98.4, "{:?} {:?}", shares(&half), half.reasons());
        assert!(half.token_error() <= 0.005, "{}", half.token_error());
    }
}

/// Returns the logs of newer versions of Claude Code in the reference data, each with its name; nothing without it.
fn newer() -> Option<Vec<(String, String)>> {
    let root = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)?.join("recorded/2026");
    let folders = fs::read_dir(root).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir());
    let files = folders.flat_map(|it| fs::read_dir(it).unwrap()).map(|it| it.unwrap().path());
    let text = |it: PathBuf| {
        let name = it.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(it).unwrap())
    };
    let mut logs: Vec<_> = files.map(text).filter(|it| it.1.contains("\"parentUuid\"")).collect();
    logs.sort();
    Some(logs)
}

#[test]
fn newer_versions_are_predicted_within_bounds_on_either_half_of_their_logs() {
    let Some(logs) = newer() else { return };
    let texts: Vec<String> = logs.into_iter().map(|it| it.1).collect();

    let all = calibrated(&texts, HiddenRequest::Inferred);

    assert_eq!(all.pairs.len(), 4_658);
    assert!(shares(&all).0 >= 96.5, "{:?} {:?}", shares(&all), all.reasons());
    assert!(shares(&all).1 >= 98.3, "{:?} {:?}", shares(&all), all.reasons());
    assert!(all.token_error() <= 0.0009, "{}", all.token_error());
    let gross = all.gross_error.usd() / all.billed_cost.usd();
    assert!(gross <= 0.02, "{gross}");
    for first in [0, 1] {
        let half: Vec<String> = texts.iter().skip(first).step_by(2).cloned().collect();
        let half = calibrated(&half, HiddenRequest::Inferred);
        assert!(shares(&half).0 >= 95.0, "{:?} {:?}", shares(&half), half.reasons());
        assert!(shares(&half).1 >= 97.6, "{:?} {:?}", shares(&half), half.reasons());
        assert!(half.token_error() <= 0.0015, "{}", half.token_error());
    }

    let [plain, usual] =
        [HiddenRequest::None, HiddenRequest::Usual].map(|it| calibrated(&texts, it).count(ReadClass::Exact));
    assert!(plain <= usual && usual <= all.count(ReadClass::Exact), "{plain} {usual}");
}

#[test]
fn every_request_of_sub_agents_in_progress_records_is_predicted_as_it_was_billed() {
    let Some(texts) = reference(&["claude-code-2"]) else { return };
    let of_agents: Vec<Timeline> = texts
        .iter()
        .flat_map(|it| all_timelines(it, HiddenRequest::Inferred))
        .filter(Timeline::is_of_agent)
        .collect();

    let all: Vec<Calibration> = of_agents
        .iter()
        .map(|it| Calibration::new(it, &rows(it, &profile()), &profile().prices, &profile().cache))
        .collect();
    let all = sum_of_sessions(&all);

    // 119 requests of 12 sub-agents, of each the first left out.
    assert_eq!((of_agents.len(), all.pairs.len(), all.count(ReadClass::Exact)), (12, 107, 107));
}

#[test]
fn codex_rollouts_are_read_on_the_grid_of_their_model() {
    const GPT: &str = include_str!("../../profiles/openai/gpt-5.5.toml");
    let Some(texts) = reference(&["codex"]) else { return };
    let profile = profile_from(GPT);

    let all = calibrated_under(&profile, &texts, HiddenRequest::Inferred);

    assert_eq!(all.pairs.len(), 496);
    assert!(shares(&all).0 >= 88.0, "{:?} {:?}", shares(&all), all.reasons());
}

#[test]
fn the_reference_usage_table_is_predicted_as_it_was_billed() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let text = fs::read_to_string(folder.join("recorded/usage/claude-code_sessions.csv")).unwrap();

    let recorded = calibrated(std::slice::from_ref(&text), HiddenRequest::None);
    for (side_request, close) in [(HiddenRequest::Usual, 97.5), (HiddenRequest::Inferred, 98.0)] {
        let predicted = calibrated(std::slice::from_ref(&text), side_request);

        assert_eq!(predicted.pairs.len(), 4_083);
        assert!(shares(&predicted).1 >= close, "{:?} {:?}", shares(&predicted), predicted.reasons());
        assert!(predicted.token_error() <= 0.007, "{}", predicted.token_error());
        assert!(predicted.count(ReadClass::Exact) >= recorded.count(ReadClass::Exact).max(3_805));
    }
}

#[test]
fn a_prompt_that_shrinks_is_a_reset_and_the_prompts_are_the_recorded_ones_still() {
    let row = |idx: u64, t: u64, read: u64, write: u64, user: u64, result: u64| {
        format!("f,s,{idx},2.1.7,{t}.0,{t}.5,{t}.9,10,{read},{write},5,{user},{result},40,0,80")
    };
    let lines = [
        HEADER.to_owned(),
        row(0, 100, 0, 30_000, 400, 0),
        row(1, 110, 30_000, 20_000, 0, 40_000),
        row(2, 120, 50_000, 20_000, 0, 40_000),
        row(3, 130, 20_000, 15_000, 8_000, 0),
        row(4, 140, 35_000, 5_000, 0, 9_000),
        row(5, 150, 39_000, 500, 60, 0),
        row(6, 160, 9_000, 11_000, 0, 300),
    ];

    let timeline = &timelines(&lines.join("\n"), HiddenRequest::None)[0];
    let rows = rows(timeline, &profile());

    let prompts: Vec<u64> = rows.requests.iter().map(|it| it.prompt).collect();
    assert_eq!(prompts, [30_010, 50_010, 70_010, 35_010, 40_010, 39_510, 20_010]);
    let resets = timeline.events.iter().filter(|it| matches!(it.kind, EventKind::Reset(_)));
    assert_eq!(resets.count(), 3, "two resets and one step back");
}
