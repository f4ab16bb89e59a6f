//! Compactions of recorded sessions that a scenario undoes.

use ctxsim::catalog::InputKind as Kinds;
use ctxsim::input::scenario::{self};
use ctxsim::ledger::pairing::{RequestId, paired};
use ctxsim::measure::Resets;

use super::claude_code::{Session, n_resets, usage};
use super::*;

/// Imports as recorded, and with the harness's resets undone.
fn both(text: &str) -> [Timeline; 2] {
    [scenario::ResetsAssumed::Keep, scenario::ResetsAssumed::Undo].map(|resets| {
        let assume = Assume { resets: Some(resets), ..Assume::default() };
        // Sub-agents' sessions stand behind the agent's own.
        let timeline = import_all(text, "test", &assume, &[]).unwrap().remove(0).timeline;
        assert_well_formed(&timeline);
        timeline
    })
}

/// Returns what the items of a timeline say.
fn said(timeline: &Timeline) -> Vec<&str> {
    (0..timeline.spine.items.len()).filter_map(|it| timeline.texts.text(it as u32)).collect()
}

/// A turn that is compacted while its calls are open; the user speaks again after it.
pub(crate) fn compacted(boundary: &str) -> String {
    let session = Session::default()
        .user("hello")
        .call("m1", "c1", &usage(3, 0, 40_000, 20))
        .result("c1", &"x".repeat(400))
        .call("m2", "c2", &usage(3, 40_003, 100_000, 20))
        .result("c2", &"y".repeat(400))
        .line("system", "null", boundary)
        .line("user", r#"{"content":"so far: hello"}"#, r#""isCompactSummary":true,"#)
        .line("user", r#"{"content":"a file again"}"#, r#""isMeta":true,"#)
        .call("m3", "c3", &usage(3, 30_000, 10_000, 20))
        .result("c3", "z")
        .text("m4", "done", &usage(3, 40_003, 1_000, 20))
        .user("thanks")
        .text("m5", "bye", &usage(3, 41_003, 100, 20));
    session.text
}

pub(crate) const BY_ITSELF: &str =
    r#""subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":140100},"#;

#[test]
fn what_an_undone_compaction_took_out_stays_and_what_the_harness_put_in_its_place_goes() {
    let [kept, undone] = both(&compacted(BY_ITSELF));

    assert_eq!((n_resets(&kept), n_resets(&undone)), (1, 0));
    let (as_recorded, prompts) = (played(&kept), played(&undone));
    assert_eq!(as_recorded, [40_003, 140_006, 40_003, 41_006, 41_106]);
    assert_eq!(prompts[..2], as_recorded[..2], "nothing changes before the compaction");
    assert!(prompts.is_sorted() && prompts[2] > 140_006, "{prompts:?}");
    let growth = |it: &[u64], at: usize| it[at + 1] - it[at];
    assert_eq!([2, 3].map(|it| growth(&prompts, it)), [2, 3].map(|it| growth(&as_recorded, it)));
    assert!(said(&kept).contains(&"so far: hello") && said(&kept).contains(&"a file again"));
    assert!(!said(&undone).contains(&"so far: hello") && !said(&undone).contains(&"a file again"));
    assert!(said(&undone).contains(&"thanks"), "what the user says stays");
}

#[test]
fn an_undone_compaction_does_not_end_the_turn_that_it_came_in() {
    let [kept, undone] = both(&compacted(BY_ITSELF));

    assert_eq!((kept.spine.turns.len(), undone.spine.turns.len()), (3, 2));
    let is_rewrite = |it: &&ctxsim::timeline::Event| matches!(it.kind, EventKind::Change(..));
    assert_eq!(undone.events.iter().filter(is_rewrite).count(), 0, "the messages are not written anew");
}

#[test]
fn the_report_says_how_many_compactions_are_undone_and_bills_behind_them_are_not_compared() {
    let [kept, undone] = both(&compacted(BY_ITSELF)).map(|it| (it.assumptions, it.recorded.unwrap()));

    let is_told = |sentences: &[String], words: &str| sentences.iter().any(|it| it.starts_with(words));
    assert!(is_told(&undone.0, "The harness's compactions are undone: 1;"), "{:?}", undone.0);
    assert!(is_told(&kept.0, "Compactions: 1."));
    assert!(!is_told(&undone.0, "Compactions: "));
    assert_eq!((kept.1.compactions, kept.1.undone_from), (vec![2], None));
    assert_eq!((undone.1.compactions, undone.1.undone_from), (vec![], Some(2)));
}

#[test]
fn what_the_user_asked_for_is_never_undone() {
    let asked = r#""subtype":"compact_boundary","compactMetadata":{"trigger":"manual"},"#;
    let cleared = Session::default()
        .user("hello")
        .text("m1", "hi", &usage(3, 0, 1_000, 20))
        .line("progress", "null", r#""data":{"hookName":"SessionStart:clear"},"#)
        .user("anew")
        .text("m2", "yes", &usage(3, 0, 500, 20));
    for text in [compacted(asked), cleared.text] {
        let [kept, undone] = both(&text);

        assert_eq!((n_resets(&kept), n_resets(&undone)), (1, 1));
        assert_eq!(played(&kept), played(&undone));
        assert_eq!(said(&kept), said(&undone));
        assert!(kept.recorded.unwrap().compactions.is_empty(), "no trigger was reached");
    }
}

#[test]
fn results_that_the_harness_cleared_stay_too() {
    let session = Session::default()
        .user("hello")
        .call("m1", "c1", &usage(3, 0, 40_000, 20))
        .result("c1", &"x".repeat(400))
        .text("m2", "hi", &usage(3, 40_003, 10_000, 20))
        .line("system", "null", r#""microcompactMetadata":{"compactedToolIds":["c1"]},"#)
        .user("again")
        .text("m3", "yes", &usage(3, 40_003, 500, 20));

    let [kept, undone] = both(&session.text);

    assert_eq!((n_resets(&kept), n_resets(&undone)), (1, 0));
    assert_eq!(played(&kept)[..2], played(&undone)[..2]);
    assert!(played(&undone)[2] > 50_003);
    assert_eq!(undone.recorded.unwrap().undone_from, Some(2));
}

#[test]
fn a_compaction_of_other_harnesses_is_undone_with_what_it_put_in_its_place() {
    let codex = include_str!("../../data/recorded/codex-rollout.jsonl");
    let pi = include_str!("../../data/recorded/pi-session.jsonl");
    for text in [codex, pi] {
        let [kept, undone] = both(text);

        let n = kept.recorded.as_ref().map_or(0, |it| it.compactions.len());
        let first = kept.recorded.as_ref().and_then(|it| it.compactions.first().copied());
        let before = first.map_or(usize::MAX, |it| it as usize).min(kept.spine.steps.len());
        assert_eq!(played(&kept)[..before], played(&undone)[..before]);
        assert_eq!(said(&kept).len() > said(&undone).len(), n > 0);
    }
}

/// Runs two policies on two sessions: one that is compacted, and one that is not.
fn report(set: &[&str]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let plain = Session::default().user("hello").text("m1", "hi", &usage(3, 0, 1_000, 20));
    let comparison = Comparison {
        scenarios: vec![put("long.jsonl", &compacted(BY_ITSELF)), put("plain.jsonl", &plain.text)],
        set: owned(set),
        ..comparing(&["identity", "duckagent/immediate_summary"], &[], &["anthropic/claude-sonnet-4.5"])
    };
    let report = reported(&comparison);
    assert_eq!(report.runs.len(), 4);
    report
}

#[test]
fn a_report_says_what_a_policy_that_avoids_a_compaction_costs_with_it_and_without() {
    let report = report(&[]);
    let undone = self::report(&["scenario.load.recorded.assume.resets=\"undo\""]);

    let totals = |it: &Report| it.runs.iter().map(|it| it.tally.costs.total().unwrap()).collect::<Vec<f64>>();
    let exact = |it: &Report| it.runs.iter().map(|it| it.tally.costs.exact()).collect::<Vec<_>>();
    let resets: Vec<Option<Resets>> = report.runs.iter().map(|it| it.tally.resets).collect();
    let met = Resets { recorded: 1, ..Resets::default() };
    let kept = resets.iter().flatten().map(|it| it.bills[0]).collect::<Vec<_>>();
    let bills = [0, 1].map(|nth: usize| [kept[nth], exact(&undone)[nth]]);
    let expected = [
        Some(Resets { bills: bills[0], ..met }),
        Some(Resets { avoided: 1, requests: 3, bills: bills[1], ..met }),
        None,
        None,
    ];
    assert_eq!(resets, expected);
    assert_eq!(exact(&report)[0], kept[0], "what reaches the trigger is billed as recorded");
    assert_eq!(
        totals(&report)[1],
        totals(&undone)[1],
        "what stays below it is billed without the compaction"
    );
    assert!((kept[1].unwrap().usd() - totals(&undone)[1]).abs() > 0.001, "the two bills differ");
    let begins = "1 recorded compaction under anthropic/claude-sonnet-4.5. A policy that stays below the trigger avoids it;";
    assert!(report.notes.iter().any(|it| it.starts_with(begins)), "{:?}", report.notes);
}

/// A session that its harness compacted twice, at 110,000 tokens and later.
fn compacted_twice() -> Session {
    let boundary = BY_ITSELF;
    let words = "word ".repeat(52_800);
    let half = |it: Session, call: &str, read: u64| {
        it.user(&words)
            .call(&format!("m{call}"), call, &usage(3, read, 60_000, 20))
            .result(call, &"x".repeat(4_000))
            .text(&format!("n{call}"), "done", &usage(3, read + 60_000, 40_000, 20))
            .line("system", "null", boundary)
            .line("user", r#"{"content":"so far: hello"}"#, r#""isCompactSummary":true,"#)
    };
    let session = Session::default().user("hello").text("m1", "hi", &usage(3, 0, 10_000, 20));
    let session = half(half(session, "c1", 10_000), "c2", 15_000).user("thanks");
    session.text("m9", "bye", &usage(3, 10_000, 5_000, 20))
}

#[test]
fn what_puts_a_compaction_off_meets_the_trigger_that_the_log_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.jsonl");
    std::fs::write(&path, compacted_twice().text).unwrap();
    let cap = "(name: \"cap\", at: [entry], scope: (part: entering, kinds: [tool_result]), apply: show(truncate(head: tokens(10))))";
    let trigger = "params: { \"trigger\": harness(number: trigger, or: tokens(2_000_000_000)) }";
    let policies = [
        ("cap", format!("(name: \"cap\", about: \"\", stages: [{cap}])")),
        (
            "both",
            format!(
                "(name: \"both\", about: \"\", base: \"agents/claude_code/auto_compact\", {trigger}, stages: [{cap}])"
            ),
        ),
    ];
    let mut catalog = bundled_catalog();
    for (name, text) in &policies {
        let file: PolicyFile = decode(text, Format::Ron).unwrap();
        catalog.add_built(Kinds::Policy, name, file, None);
    }
    let comparison =
        comparing(&["identity", "cap", "both"], &[path.to_str().unwrap()], &["anthropic/claude-sonnet-4.5"]);

    let report = Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap();

    let longest: Vec<u64> = report.runs.iter().map(|it| it.tally.sums.main.prompt_max).collect();
    let summaries: Vec<u64> = report.runs.iter().map(|it| it.tally.sums.summariser.n).collect();
    assert!(longest[1] > 120_000, "a lone cap plays no trigger: {longest:?}");
    assert!(longest[2] < 110_003, "the trigger is the smallest prompt that was compacted: {longest:?}");
    assert!(summaries[0] == 2 && summaries[2] > 0, "compactions are put off, not ended: {summaries:?}");
}

#[test]
fn a_compaction_behind_an_avoided_one_happens_where_the_longer_history_reaches_its_trigger() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.jsonl");
    std::fs::write(&path, compacted_twice().text).unwrap();
    let plan = planned(&comparing(
        &["identity", "duckagent/immediate_summary"],
        &[path.to_str().unwrap()],
        &["anthropic/claude-sonnet-4.5"],
    ));

    let report = plan.report(Some(1), &|_, _| {}).unwrap();

    let avoided = report.runs.iter().map(|it| it.tally.resets.unwrap()).map(|it| (it.recorded, it.avoided));
    assert_eq!(avoided.collect::<Vec<_>>(), [(2, 0), (2, 1)]);
    let summaries = report.runs.iter().map(|it| it.tally.sums.summariser.n).collect::<Vec<u64>>();
    assert_eq!(summaries, [2, 1]);
    let rows = plan.map_loads(Some(1), &|_, _| {}, Load::rows).unwrap().concat();
    let longest = |nth: usize| rows[nth].1.requests.iter().map(|it| it.prompt).max().unwrap();
    assert_eq!(longest(1), report.runs[1].tally.sums.summariser.prompt_max, "rows are of the same layout");
    assert!(longest(1) > 120_000, "{}", longest(1));
}

#[test]
fn the_request_that_wrote_a_recorded_summary_is_billed_where_the_compaction_happens() {
    let requests =
        |set: &[&str]| -> Vec<u64> { report(set).runs.iter().map(|it| it.tally.sums.summariser.n).collect() };
    assert_eq!(requests(&[]), [1, 0, 0, 0], "identity meets the compaction, immediate_summary avoids it");

    let set = "scenario.load.recorded.assume.compaction_instruction_tokens=5000";
    let cost = |it: &Report| it.runs[0].tally.costs.total().unwrap();
    let [plain, dearer] = [report(&[]), report(&[set])];
    let [before, after] = [&plain, &dearer].map(|it| it.runs[0].tally.sums.summariser.tokens.prompt());
    assert_eq!(after - before, 4_000);
    assert!(cost(&dearer) > cost(&plain));
}

#[test]
fn of_sessions_without_a_compaction_of_their_own_a_report_says_nothing() {
    let undone = report(&["scenario.load.recorded.assume.resets=\"undo\""]);

    assert!(undone.runs.iter().all(|it| it.tally.resets.is_none()));
    assert!(!undone.notes.iter().any(|it| it.contains("recorded compaction")), "{:?}", undone.notes);
}

#[test]
fn a_policy_avoids_a_compaction_only_below_the_margin() {
    let avoided = |margin: &str| {
        let report = report(&[&format!("scenario.load.recorded.assume.compaction_margin={margin}")]);
        report.runs[1].tally.resets.unwrap().avoided
    };

    assert_eq!(["0.0", "0.5", "0.9"].map(avoided), [1, 1, 0]);
}

/// The recordings are too large for the test data.
#[test]
fn identity_runs_past_the_compactions_of_the_reference_sessions() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(|it| Path::new(&it).join("recorded")) else {
        return;
    };
    let mut n_compactions = 0;
    for file in std::fs::read_dir(root.join("claude-code-2")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let [kept, undone] = both(&text);
        let (as_recorded, prompts) = (played(&kept), played(&undone));
        let compactions = kept.recorded.map_or_else(Vec::new, |it| it.compactions);
        let from = undone.recorded.and_then(|it| it.undone_from).map_or(prompts.len(), |it| it as usize);
        n_compactions += compactions.len();

        assert_eq!(prompts[..from], as_recorded[..from]);
        for at in compactions {
            assert!(prompts[at as usize] >= prompts[at as usize - 1], "nothing went");
        }
    }
    assert_eq!(n_compactions, 4);
}

#[test]
fn a_session_from_bytes_has_the_numbers_of_its_file_with_both_bills_of_its_compactions() {
    let text = compacted(BY_ITSELF).replace("\"model\":\"m\"", "\"model\":\"claude-opus-4-5-20251101\"");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, &text).unwrap();
    let reference = std::env::var_os("CTXSIM_REFERENCE");
    let recorded = reference.map(|it| std::path::Path::new(&it).join("recorded/claude-code"));
    let others = recorded.and_then(|it| std::fs::read_dir(it).ok()).into_iter().flatten();
    let others =
        others.map(|it| it.unwrap().path()).filter(|it| it.extension().is_some_and(|it| it == "jsonl"));
    let compare = |scenarios: Vec<ctxsim::ScenarioRef>| {
        let names = ["identity", "sliding_window", "duckagent/immediate_summary"];
        let comparison = ctxsim::Comparison::new().own_models().scenarios(scenarios);
        let report = names.iter().fold(comparison, |all, it| all.policy(*it)).run().unwrap();
        let totals = |it: &ctxsim::Run| serde_json::to_value(it).unwrap()["totals"].clone();
        report.runs().iter().map(totals).collect::<Vec<_>>()
    };

    for path in std::iter::once(path).chain(others) {
        let of_file = compare(vec![path.display().to_string().into()]);
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let sessions = ctxsim::Scenario::recorded(name, &bytes[..]).unwrap();

        let of_bytes = compare(sessions.into_iter().map(Into::into).collect());

        assert_eq!(of_bytes, of_file, "{}", path.display());
    }
}

/// Without the compaction two turns are one: a turn is not what pairs the requests of the two.
#[test]
fn a_policy_that_avoids_a_compaction_makes_the_same_requests() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long.jsonl");
    std::fs::write(&long, compacted(BY_ITSELF)).unwrap();
    let plan = planned(&comparing(
        &["identity", "duckagent/immediate_summary"],
        &[long.to_str().unwrap()],
        &["anthropic/claude-sonnet-4.5"],
    ));
    let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);
    let rows = load.rows(&|_, _| {});
    let [kept, avoided] = [0, 1].map(|nth: usize| &*rows[nth].1.requests);

    let pairs = paired([kept, avoided]);

    let turns: Vec<[u32; 2]> =
        pairs.iter().filter_map(|it| Some([kept[it[0]?].turn_ix, avoided[it[1]?].turn_ix])).collect();
    assert_eq!(turns.len(), avoided.len(), "each has its partner: {pairs:?}");
    assert!(turns.iter().any(|[one, other]| one != other), "{turns:?}");
    let mut alone = pairs.iter().filter(|it| it[1].is_none()).filter_map(|it| it[0]);
    assert!(alone.all(|it| kept[it].role == Role::Summariser), "only the compaction is not made: {pairs:?}");
    let contrast = plan.contrast_pairs(&[[0, 1]], Some(1), &|_, _| {}).unwrap().remove(0);
    let listed: BTreeSet<RequestId> = contrast.requests.iter().map(|it| it.pair).collect();
    assert_eq!(listed.len(), contrast.requests.len(), "no request is listed twice: {:?}", contrast.requests);
}
