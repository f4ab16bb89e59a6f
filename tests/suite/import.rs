//! Recorded sessions become timelines whose prompts are the recorded ones.

mod atif;
mod bills;
mod claude_code;
mod codex;
mod copilot_cli;
mod costs;
mod counted;
mod counted_documents;
mod damaged;
mod databases;
mod gemini_cli;
mod images;
mod inferred;
mod inspect_ai;
mod listed;
mod messages;
mod otel;
mod opencode;
mod pi;
mod refused;
mod shapes;
mod tools;
pub(crate) mod undo;
mod usage;
mod wires;

use ctxsim::input::scenario::ScenarioFile;
use ctxsim::timeline::NO_ITEM;
use ctxsim::timeline::import::detect;
use proptest::prelude::*;

use crate::support::*;

const FIXTURE: &str = include_str!("../../scenarios/recorded/claude-code-session.jsonl");
const SCENARIO: &str = include_str!("../../scenarios/recorded/claude-code.toml");

/// Returns what the bundled scenario assumes.
fn bundled_assumptions() -> (Assume, Vec<String>) {
    let scenario: ScenarioFile = decode(SCENARIO, Format::Toml).unwrap();
    match scenario.load {
        LoadSpec::Recorded { assume, .. } => (*assume, scenario.file_tools),
        _ => panic!("the bundled scenario is a recording"),
    }
}

/// Imports with nothing assumed.
fn imported(text: &str) -> Imported {
    import(text, "test", &Assume::default(), &[]).unwrap()
}

/// Returns, by step, the tokens of all items before the reply.
fn prompts(timeline: &Timeline) -> Vec<u64> {
    let sum = |end: u32| timeline.spine.items[..end as usize].iter().map(|it| u64::from(it.raw)).sum();
    timeline.spine.steps.iter().map(|it| sum(it.reply.start)).collect()
}

/// Returns the largest difference between a prompt and the recorded one.
fn deviation_max(timeline: &Timeline) -> u64 {
    let recorded = timeline.recorded.as_ref().unwrap();
    let pairs = prompts(timeline).into_iter().zip(&recorded.usage);
    pairs.filter_map(|(prompt, usage)| Some(prompt.abs_diff(usage.as_ref()?.prompt))).max().unwrap_or(0)
}

/// Returns the agent's prompts on a timeline when everything is kept that the harness kept.
fn played(timeline: &Timeline) -> Vec<u64> {
    let identity = include_str!("../../policies/identity.ron");
    let spec: PolicyFile = decode(identity, Format::Ron).unwrap();
    let policy = ctxsim::input::Policy::new(&spec).unwrap();
    let (limits, rules) = (ctxsim::input::Limits::NONE, ctxsim::input::CacheRules::None);
    let mut rows = ctxsim::ledger::Rows::default();
    ctxsim::engine::Simulation::new(timeline, &policy, &limits, &rules).run(&mut rows);
    let of_agent = rows.requests.iter().filter(|it| it.role == ctxsim::ledger::Role::Main);
    of_agent.map(|it| it.prompt).collect()
}

/// Checks what must hold of every timeline, whatever it was made of.
fn assert_well_formed(timeline: &Timeline) {
    let spine = &timeline.spine;
    let mut item = spine.n_stable;
    let mut step = 0;
    for row in &spine.turns {
        assert_eq!((row.items.start, row.user.start, row.steps.start), (item, item, step));
        assert!(!row.steps.is_empty(), "a turn has a step");
        item = row.user.end;
        for it in &spine.steps[row.steps.start as usize..row.steps.end as usize] {
            assert_eq!((it.reply.start, it.reply.end), (item, it.results.start));
            assert!(!it.reply.is_empty(), "a reply has a part");
            item = it.results.end;
        }
        assert_eq!(item, row.items.end);
        step = row.steps.end;
    }
    assert_eq!((item as usize, step as usize), (spine.items.len(), spine.steps.len()));
    assert!(spine.steps.is_sorted_by_key(|it| it.at_ms));
    for result in spine.items.iter().filter(|it| it.kind == Kind::ToolResult && it.pair != NO_ITEM) {
        assert_eq!(spine.items[result.pair as usize].kind, Kind::ToolCall);
        assert_eq!(spine.items[result.pair as usize].tool, result.tool);
    }
}

/// What an import says it lost, but for records of a kind that is in no prompt.
fn losses_but_of_records(imported: &Imported) -> Vec<String> {
    losses(imported).into_iter().filter(|it| !it.contains("never part of a prompt")).collect()
}

#[test]
fn the_bundled_session_has_the_recorded_prompts() {
    let (assume, file_tools) = bundled_assumptions();

    let Imported { timeline, format, losses, .. } =
        import(FIXTURE, "recorded/claude-code", &assume, &file_tools).unwrap();

    assert_well_formed(&timeline);
    assert_eq!(format, "claude-code");
    assert_eq!(deviation_max(&timeline), 0);
    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len()), (5, 69));
    assert!(recorded.usage.iter().all(Option::is_some));
    assert_eq!(timeline.spine.n_stable, 2, "tools and system prompt, and what stands in the first message");
    let working = timeline.spine.items.iter().filter(|it| it.preserve == Preserve::WorkingEvidence);
    let read_file = timeline.spine.tools.get_index_of("read_file");
    assert!(working.map(|it| usize::from(it.tool)).all(|it| Some(it) == read_file));
    let reasons: Vec<&str> = losses.iter().map(|it| it.what.as_str()).collect();
    assert!(reasons.iter().all(|it| it.ends_with("never part of a prompt")), "{reasons:#?}");
}

#[test]
fn a_text_without_records_is_no_recording() {
    for text in ["", "\n\n", "{}", "[1, 2]", "hello", "{\"type\":\"message\"}", "\u{feff}"] {
        assert_eq!(detect(text), None, "{text:?}");
        let problems = import(text, "test", &Assume::default(), &[]).unwrap_err();
        let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
        assert_eq!(
            problems[0].code.name(),
            if is_blank { "recording-empty" } else { "recording-unknown" },
            "{text:?}"
        );
    }
}

#[test]
fn a_token_of_no_characters_is_refused() {
    let assume = Assume { chars_per_token: Some(ctxsim::quantity::Decimal::ZERO), ..Assume::default() };

    assert_eq!(import(FIXTURE, "test", &assume, &[]).unwrap_err()[0].code.name(), "chars-per-token-zero");
}

#[test]
fn the_inputs_of_the_default_suite_that_are_bundled_here_are_well_formed() {
    let root = root();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let suite: SuiteFile = decode(&read("suites/default.toml"), Format::Toml).unwrap();

    for name in suite.policies.iter().filter(|it| !it.contains('/')) {
        let spec: PolicyFile = decode(&read(&format!("policies/{name}.ron")), Format::Ron).unwrap();
        let policy = ctxsim::input::Policy::new(&spec).unwrap();
        assert_eq!(policy.name, *name);
    }
    for name in &suite.profiles {
        let spec: ProfileFile = decode(&read(&format!("profiles/{name}.toml")), Format::Toml).unwrap();
        let profile = ctxsim::input::Profile::new(&spec).unwrap();
        assert_eq!(profile.name, *name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_session_never_panics(
        damages in prop::collection::vec((0..FIXTURE.len(), any::<u8>(), 0..3_u8), 1..40),
        from in 0..FIXTURE.len(),
    ) {
        // A part of the session, so that damage is dense and each case is quick.
        let mut bytes = FIXTURE.as_bytes()[from..(from + 40_000).min(FIXTURE.len())].to_vec();
        for (place, byte, how) in damages {
            let place = place % bytes.len();
            match how {
                0 => bytes[place] = byte,
                1 => { bytes.remove(place); if bytes.is_empty() { bytes.push(byte); } }
                _ => bytes.insert(place, byte),
            }
        }
        if let Ok(read) = import(&String::from_utf8_lossy(&bytes), "test", &Assume::default(), &[]) {
            assert_well_formed(&read.timeline);
        }
    }
}

/// Totals of one recorded session: requests, then input, read, write and output tokens.
type Totals = (&'static str, [u64; 5]);

/// The sessions of the reference data.
const REFERENCE: [Totals; 7] = [
    ("agentv_1e-d266d094ed-1", [11, 15, 525_595, 34_701, 4_119]),
    ("agentv_7a-d2528cc37f-0", [15, 17, 554_588, 44_142, 2_070]),
    ("entireio-cli_45-b48f42ab1f-0", [96, 2_548, 8_492_396, 340_337, 33_180]),
    ("entireio-cli_6d-123b9a5bc6-0", [78, 1_600, 6_713_200, 271_733, 20_832]),
    ("entireio-cli_9f-d2fc39aa5f-0", [66, 70, 2_995_725, 99_805, 12_098]),
    ("entireio-cli_d1-d3bff114fe-0", [101, 2_249, 11_295_226, 261_085, 24_733]),
    ("entireio-cli_d8-7ee3bab4de-0", [63, 350, 3_603_033, 188_966, 20_963]),
];

#[test]
fn the_reference_sessions_have_the_recorded_totals_and_prompts() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let (assume, file_tools) = bundled_assumptions();
    for (name, totals) in REFERENCE {
        let path = folder.join(format!("recorded/claude-code/{name}.jsonl"));
        let text = fs::read_to_string(path).unwrap();

        let Imported { timeline, losses, .. } = import(&text, name, &assume, &file_tools).unwrap();

        assert_well_formed(&timeline);
        let usage = &timeline.recorded.as_ref().unwrap().usage;
        let sum = |field: fn(&ctxsim::timeline::Usage) -> u64| usage.iter().flatten().map(field).sum::<u64>();
        let found = [
            u64::try_from(usage.len()).unwrap(),
            sum(|it| it.uncached),
            sum(|it| it.cache_read),
            sum(|it| it.cache_write),
            sum(|it| it.output),
        ];
        assert_eq!(found, totals, "{name}");
        let n_shrunk = usage.windows(2).filter(|it| it[1].unwrap().prompt < it[0].unwrap().prompt).count();
        assert_eq!(n_shrunk, usize::from(name.contains("_d1-")), "{name}");
        if n_shrunk == 0 {
            assert_eq!(deviation_max(&timeline), 0, "{name}");
        }
        let is_explained = losses.iter().all(|it| it.what.ends_with("never part of a prompt"));
        assert!(is_explained, "{name}: {losses:#?}");
    }
}
