//! What a report gives to code: the command line's bytes, tables over several models, rows of the runs that were made, and a stop.

use std::sync::atomic::{AtomicUsize, Ordering};

use ctxsim::{
    BoxError, Catalog, CodePolicy, Comparison, Cx, Entry, NeedRow, Part, Recording, Report, RequestRow,
    Scenario, Sink,
};

use crate::support::*;

const SESSION: &str = "recorded/claude-code";
const PROFILE: &str = "anthropic/claude-sonnet-4.5";
/// Recorded sessions of several harnesses and models; one of the files holds several.
const SESSIONS: [&str; 4] = [
    "scenarios/recorded/claude-code-session.jsonl",
    "tests/data/recorded/pi-session.jsonl",
    "tests/data/recorded/codex-rollout.jsonl",
    "tests/data/recorded/copilot-cli-agents.jsonl",
];

/// Returns what the command line prints.
fn printed(args: &[&str]) -> String {
    out(&ctxsim(root(), [&["run"], args].concat()))
}

/// Reads sessions from bytes, under the names of their files.
fn from_bytes(paths: &[&str]) -> Vec<Scenario> {
    let read = |path: &&str| {
        let stem = path.rsplit('/').next().unwrap().split('.').next().unwrap();
        Scenario::recorded(stem, &fs::read(path).unwrap()[..]).unwrap()
    };
    paths.iter().flat_map(read).collect()
}

fn sessions() -> Comparison {
    SESSIONS.into_iter().fold(Comparison::new(), Comparison::scenario)
}

fn keeps(_: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
    Ok(history.iter().map(|it| Part::keep(it.id)).collect())
}

#[test]
fn json_and_pages_are_those_of_the_command_line_from_paths_from_bytes_and_of_a_suite() {
    let printed_of_sessions = printed(&[&["--format", "json"], &SESSIONS[..]].concat());
    let from_paths = sessions().run().unwrap();
    // Of a file with several sessions, the command line says which one an argument means: notes name no file of bytes.
    let read = from_bytes(&SESSIONS);
    let of_bytes = Comparison::new().scenarios(read).run().unwrap();
    assert!(from_paths.json().unwrap() == printed_of_sessions);
    assert!(of_bytes.json().unwrap() == printed_of_sessions);
    assert_eq!(of_bytes.to_string(), from_paths.to_string());

    let suite = || Comparison::new().suite("context-decay");
    let report = suite().run().unwrap();
    assert!(report.json().unwrap() == printed(&["--suite", "context-decay", "--format", "json"]));
    let page = |args: &[&str]| printed(&[&["--format", "html", "--scenario"], args].concat());
    let kept = Comparison::new().scenario(SESSION).rows().run().unwrap();
    assert!(kept.html().unwrap() == page(&[SESSION]), "with rows, a page has charts of requests");
    let without = Comparison::new().scenario(SESSION).run().unwrap().html().unwrap();
    assert!(without.contains("rows of the runs were not kept"), "without, it says why it has none");
}

#[test]
fn sessions_that_were_read_once_give_the_same_bytes() {
    let plan = sessions().limit(3).policy("identity").profile(PROFILE).plan().unwrap();
    let read = plan.sessions(|_| ControlFlow::Continue(())).unwrap();
    let names: Vec<&str> = read.iter().map(Scenario::name).collect();
    let again = Comparison::new().scenarios(&read).policy("identity").profile(PROFILE).run().unwrap();

    assert!(names.len() == 3 && again.json().unwrap().contains(names[0]), "{names:?}");
    let runs = plan.run().unwrap();
    assert_eq!(
        again.runs().iter().map(|it| it.usd()).collect::<Vec<_>>(),
        runs.runs().iter().map(|it| it.usd()).collect::<Vec<_>>()
    );
    assert!(plan.sessions(|_| ControlFlow::Break(())).is_err());
}

#[test]
fn selections_and_the_evidence_asked_for_are_those_of_the_command_line() {
    let of = |args: &[&str]| printed(&[args, &["--format", "json"], &SESSIONS[..]].concat());
    let cases = [
        (sessions().limit(2), of(&["--limit", "2"])),
        (sessions().since("2025-12-01"), of(&["--since", "2025-12-01"])),
        (sessions().model("opus"), of(&["--model", "opus"])),
        (sessions().min_evidence(0.5), of(&["--min-evidence", "0.5"])),
    ];
    for (comparison, printed) in cases {
        assert!(comparison.run().unwrap().json().unwrap() == printed, "{printed}");
    }
    let wrong = sessions().min_evidence(90.0).since("yesterday").plan().unwrap_err();
    assert_eq!(wrong.problems()[0].code, "min-evidence");
}

#[test]
fn verdicts_and_totals_are_those_of_the_json_report() {
    let report = sessions().run().unwrap();
    let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();

    let lines = json["totals"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|table| table["policies"].as_array().unwrap().iter().map(move |line| (table, line)));
    let lines: Vec<_> = lines.collect();
    let totals = report.totals();
    assert!(!totals.is_empty() && totals.len() == lines.len());
    assert!(totals[0].profile().contains("its own model"), "{}", totals[0].profile());
    for (total, (table, line)) in totals.iter().zip(lines) {
        assert_eq!(
            (total.load(), total.policy()),
            (table["load"].as_str().unwrap(), line["policy"].as_str().unwrap())
        );
        assert_eq!(total.usd(), line["totals"]["cost_usd"]["total"].as_f64());
        assert_eq!(total.evidence_kept(), line["totals"]["evidence_kept"].as_f64());
        assert_eq!(total.change(), line["change"].as_f64());
        assert_eq!(total.change_median(), line["spread"]["median"].as_f64());
        assert_eq!(total.change_interval().map(|it| it[0]), line["spread"]["interval"][0].as_f64());
        assert_eq!(total.cheaper_same_dearer().map(|it| it[2]), line["spread"]["dearer"].as_f64());
        assert!(total.is_whole() && total.scenarios() > 1);
    }
    let words: Vec<&str> =
        json["verdicts"].as_array().unwrap().iter().map(|it| it["words"].as_str().unwrap()).collect();
    let verdicts = report.verdicts();
    assert_eq!(verdicts.iter().map(|it| it.words.as_str()).collect::<Vec<_>>(), words);
    assert_eq!(verdicts[0].baseline, "identity");
    assert_eq!(
        verdicts[0].cheapest.as_deref(),
        json["verdicts"][0]["verdict"]["cheapest"]["policy"].as_str()
    );
}

#[test]
fn a_policy_that_failed_on_one_session_has_its_failure_in_the_place_of_its_sum() {
    let breaks = |it: ctxsim::Trace<'_>| {
        let is_it = it.name() == "pi-session";
        move |cx: &Cx<'_>, history: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> {
            if is_it { Err("no idea".into()) } else { keeps(cx, history) }
        }
    };
    let of = |it: Comparison| it.scenario(SESSION).scenario(SESSIONS[1]).profile(PROFILE);
    let report =
        of(Comparison::new().policy("identity").policy(CodePolicy::view("mine", breaks))).run().unwrap();

    let sums: Vec<_> = report.sums().collect();
    assert_eq!(sums[0].unwrap().policy(), "identity");
    let failed = sums[1].unwrap_err();
    assert_eq!((failed.policy.as_str(), failed.scenario.as_str()), ("mine", "pi-session"));
    assert_eq!(report.sums().flatten().count(), 1);
}

/// Collects the rows of a run.
#[derive(Default)]
struct Streamed(Vec<RequestRow>, Vec<NeedRow>);

impl Sink for Streamed {
    fn request(&mut self, row: &RequestRow) -> ControlFlow<()> {
        self.0.push(*row);
        ControlFlow::Continue(())
    }

    fn need(&mut self, row: &NeedRow) -> ControlFlow<()> {
        self.1.push(*row);
        ControlFlow::Continue(())
    }
}

#[test]
fn rows_are_those_of_the_run_that_was_made() {
    let asked = |keeps_rows: bool| {
        let n_views = std::sync::Arc::new(AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&n_views);
        let code = CodePolicy::view("mine", move |_| {
            let count = std::sync::Arc::clone(&count);
            move |cx: &Cx<'_>, history: &[Entry<'_>]| {
                count.fetch_add(1, Ordering::Relaxed);
                keeps(cx, history)
            }
        });
        let comparison =
            Comparison::new().policy("truncate_oldest").policy(code).scenario(SESSION).profile(PROFILE);
        let plan = if keeps_rows { comparison.rows() } else { comparison }.plan().unwrap();
        let report = plan.run().unwrap();
        (n_views.load(Ordering::Relaxed), plan, report)
    };
    let (n_plain, _, plain) = asked(false);
    let (n_kept, plan, kept) = asked(true);

    assert_eq!(n_kept, n_plain, "nothing is played again");
    assert!(plain.runs()[0].request_rows().is_none());
    assert_eq!(plain.json().unwrap(), kept.json().unwrap());
    let streamed = plan.stream(|_| Streamed::default()).unwrap();
    for (run, (id, rows)) in kept.runs().iter().zip(&streamed) {
        assert_eq!(run.policy(), id.policy);
        let kept = run.request_rows().unwrap();
        assert_eq!(run.need_rows().unwrap(), &rows.1[..]);
        // What a row is and costs besides is known of a run that has ended.
        let own =
            |it: &RequestRow| (it.turn, it.step, it.n, it.role, it.prompt, it.cache_read, it.picodollars);
        assert_eq!(kept.iter().map(own).collect::<Vec<_>>(), rows.0.iter().map(own).collect::<Vec<_>>());
        assert!(rows.0.iter().all(|it| it.pair.is_none() && it.total_usd.is_none()));
        let pairs: BTreeSet<_> = kept.iter().filter_map(|it| it.pair).collect();
        assert_eq!(pairs.len(), kept.len(), "no two are the same request");
        let total: i128 = kept.iter().filter_map(|it| it.parts).map(|it| it.total).sum();
        assert_eq!(total as f64 / 1e12, run.usd().unwrap(), "rows add up to the total: {}", run.policy());
        let exact: u128 = rows.0.iter().filter_map(|it| it.picodollars).sum();
        let base = ["base", "compaction", "keep_alive"]
            .map(|it| run.metric(&format!("cost_usd.{it}")).unwrap().unwrap());
        assert!((exact as f64 / 1e12 - base.iter().sum::<f64>()).abs() < 1e-9, "{}", run.policy());
        let metrics: Vec<_> = run.metrics().collect();
        assert!(metrics.contains(&("cost_usd.total".to_owned(), run.usd())) && metrics.len() > 50);
    }
}

#[test]
fn a_stop_takes_effect_within_one_session() {
    let opened: &'static Mutex<BTreeSet<String>> = Box::leak(Box::default());
    let code = CodePolicy::view("mine", move |it: ctxsim::Trace<'_>| {
        opened.lock().unwrap().insert(it.name().to_owned());
        keeps
    });
    let plan = SESSIONS.into_iter().cycle().take(8).fold(Comparison::new(), Comparison::scenario);
    let plan =
        plan.scenarios(from_bytes(&SESSIONS[..2])).policy(code).profile(PROFILE).threads(1).plan().unwrap();
    let told = Mutex::new(Vec::new());
    let stopped = plan.run_with(|it| {
        told.lock().unwrap().push((it.done, it.all));
        if it.done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });

    assert_eq!(stopped.unwrap_err().problems()[0].code, "run-stopped");
    assert_eq!(*told.lock().unwrap(), [(1, 6), (2, 6)]);
    assert_eq!(opened.lock().unwrap().len(), 2, "the sessions behind are not begun");
    assert_eq!(plan.run_with(|_| ControlFlow::Continue(())).unwrap().runs().len(), 9);
}

#[test]
fn bytes_take_assumptions_and_tools_as_scenario_files_do() {
    let assume = "(summary_tokens_max: 40, chars_per_token: 3.0)";
    let text = format!(
        "(name: \"session\", about: \"x\", file_tools: [\"bash\"], load: recorded(path: {:?}, assume: {assume}))",
        std::path::absolute(SESSIONS[1]).unwrap()
    );
    let of_file = Comparison::new()
        .catalog(Catalog::bundled().text("scenarios/session.ron", text.clone()).unwrap())
        .scenario("session");
    let recording = Recording::new("session").assume(assume).unwrap().file_tools(["bash"]);
    let read = recording.read(&fs::read(SESSIONS[1]).unwrap()[..]).unwrap();
    let plain = Scenario::recorded("session", &fs::read(SESSIONS[1]).unwrap()[..]).unwrap();
    let json = |it: Comparison| -> Report {
        it.policy("identity").policy("sliding_window").profile(PROFILE).run().unwrap()
    };

    let of_bytes = json(Comparison::new().scenarios(read));
    assert_eq!(of_bytes.json().unwrap(), json(of_file).json().unwrap());
    assert_ne!(of_bytes.json().unwrap(), json(Comparison::new().scenarios(plain.clone())).json().unwrap());
    assert!(Recording::new("x").assume("(nothing: 1)").is_err());
    let late = Comparison::new().scenarios(plain).set("scenario.load.recorded.assume.chars_per_token", 3.0);
    assert_eq!(
        late.policy("identity").profile(PROFILE).run().unwrap_err().problems()[0].code,
        "recording-read"
    );
}

#[test]
fn sessions_of_equal_names_are_told_apart() {
    let read = || from_bytes(&SESSIONS[1..2]);
    let both =
        Comparison::new().scenarios(read()).scenarios(read()).policy("identity").profile(PROFILE).run();
    let both = both.unwrap();
    let names: Vec<&str> = both.runs().iter().map(|it| it.scenario()).collect();

    assert_eq!(names, ["pi-session", "pi-session#2"]);
}

#[test]
fn a_catalog_lists_what_it_has() {
    let catalog = Catalog::bundled().text("policies/mine.ron", "(name: \"mine\", about: \"x\")").unwrap();
    assert!(["mine", "identity"].iter().all(|name| catalog.policies().any(|it| it == *name)));
    assert!(catalog.scenarios().any(|it| it == SESSION) && catalog.profiles().any(|it| it == PROFILE));
    assert!(catalog.suites().any(|it| it == "default"));
    assert_eq!(Catalog::empty().policies().count(), 0);
}
