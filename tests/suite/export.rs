//! Sessions that are exported for other programs say the same when they are read back.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ctxsim::catalog::bundled_catalog;
use ctxsim::engine::Simulation;
use ctxsim::input::profile::{Blocks, Touch};
use ctxsim::input::scenario::{Assume, HiddenRequest};
use ctxsim::input::{CacheRules, Format, Limits, Policy, Profile, decode};
use ctxsim::ledger::Rows;
use ctxsim::timeline::Timeline;
use ctxsim::timeline::import::import;
use ctxsim::worlds::blocks::export::export;
use ctxsim::worlds::blocks::trace::{BlockTrace, MOONCAKE_BLOCK_TOKENS, mooncake, read, replay};

const SESSION: &str = include_str!("../../scenarios/recorded/claude-code-session.jsonl");
const PI: &str = include_str!("../data/recorded/pi-session.jsonl");
const PROFILE: &str = include_str!("../../profiles/anthropic/claude-opus-4.5.toml");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn policy(name: &str) -> Policy {
    Policy::new(&bundled_catalog().policy(name).unwrap().spec).unwrap()
}

fn profile() -> Profile {
    Profile::new(&decode::decode(PROFILE, Format::Toml).unwrap()).unwrap()
}

fn timeline(text: &str) -> Timeline {
    let assume = Assume { side_request: Some(HiddenRequest::None), ..Assume::default() };
    import(text, "test", &assume, &[]).unwrap().timeline
}

fn exported(timeline: &Timeline, name: &str) -> BlockTrace {
    export(timeline, &policy(name), &profile(), MOONCAKE_BLOCK_TOKENS).unwrap()
}

fn ctxsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ctxsim")).args(args).current_dir(root()).output().unwrap()
}

/// Policies that leave everything, clear results, cut the front and summarise.
const POLICIES: [&str; 4] =
    ["identity", "clear_tool_results_at_40k_min_5k", "truncate_oldest", "duckagent/immediate_summary"];

#[test]
fn a_mooncake_trace_is_read_back_with_the_same_blocks_tokens_and_times() {
    for text in [SESSION, PI] {
        let timeline = timeline(text);
        for name in POLICIES {
            let trace = exported(&timeline, name);

            let back = read(&mooncake::write(&trace).unwrap(), "test").unwrap();

            assert_eq!(back.requests, trace.requests, "{name}");
            assert_eq!((back.blocks, back.n_distinct), (trace.blocks, trace.n_distinct), "{name}");
        }
    }
}

#[test]
fn the_requests_are_those_of_the_run_and_their_blocks_are_read_as_often() {
    let rules =
        CacheRules::Blocks(Blocks { block_tokens: 512, capacity_blocks: None, touch: Touch::TailFirst });
    let timeline = timeline(SESSION);
    for name in POLICIES {
        let trace = exported(&timeline, name);
        let mut rows = Rows::default();
        Simulation::new(&timeline, &policy(name), &profile().limits, &rules).run(&mut rows);

        let requests: Vec<_> = trace.requests.iter().map(|it| (it.at_ms, it.prompt, it.output)).collect();
        let expected: Vec<_> = rows.requests.iter().map(|it| (it.at_ms, it.prompt, it.output)).collect();
        assert_eq!(requests, expected, "{name}");
        let mut replayed = Rows::default();
        replay(&trace, &Limits::NONE, &rules, &mut replayed);
        let read = |rows: &Rows| rows.requests.iter().map(|it| it.usage.read).sum::<u64>();
        assert!(read(&rows) > 0);
        assert_eq!(read(&replayed), read(&rows), "{name}");
    }
}

#[test]
fn equal_blocks_have_equal_blocks_before_them() {
    for name in POLICIES {
        let trace = exported(&timeline(SESSION), name);
        let mut before = std::collections::BTreeMap::new();
        for request in &trace.requests {
            let blocks = &trace.blocks[request.blocks.clone()];
            assert_eq!(u64::try_from(blocks.len()).unwrap(), request.prompt.div_ceil(512));
            for pair in blocks.windows(2) {
                assert_eq!(*before.entry(pair[1]).or_insert(pair[0]), pair[0], "{name}");
            }
        }
    }
}

#[test]
fn blocks_of_another_size_are_not_written() {
    let trace = export(&timeline(PI), &policy("identity"), &profile(), 64).unwrap();

    assert_eq!(mooncake::write(&trace).unwrap_err().code.name(), "unwritable");
}

#[test]
fn a_session_is_exported_and_its_trace_replayed_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("trace.jsonl");
    let file = file.to_str().unwrap();
    let policy = ["--policy", "identity", "--as", "mooncake"];

    let args = [&["show", "recorded/claude-code"][..], &policy, &["--output", file]].concat();
    let output = ctxsim(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let replayed =
        ctxsim(&["run", "--scenario", file, "--profile", "open/blocks-512-lru", "--format", "json"]);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(text.lines().count(), 69);
    assert!(text.starts_with(r#"{"timestamp":0,"input_length":"#), "{}", &text[..80]);

    let several = [&["show", "tests/data/recorded/copilot-cli-agents.jsonl"][..], &policy].concat();
    let output = ctxsim(&several);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("add `--session NAME`"));
}
