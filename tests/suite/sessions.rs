//! Folders of recorded sessions: what is found, what is skipped and why, what sessions are called and what they run under.

use ctxsim::error::Error;
use ctxsim::measure::carried::carried_items;
use ctxsim::report::carried::PromptFill;
use ctxsim::report::run_blocks::{self, RunLayout};
use ctxsim::report::trust::{BilledProfile, TableTrust};
use ctxsim::report::{json, runs};

use crate::support::*;

/// A Claude Code session of some requests, a minute apart.
#[derive(Clone, Copy)]
struct Session<'a> {
    day: &'a str,
    models: &'a [&'a str],
    result_letters: usize,
    is_aside: bool,
}

const PLAIN: Session<'_> = Session {
    day: "2026-02-01",
    models: &["claude-opus-4-5-20251101"; 4],
    result_letters: 9_000,
    is_aside: false,
};

impl Session<'_> {
    /// Writes it: one request a model, all but the last of which call a tool.
    fn text(&self) -> String {
        let models = self.models.join(",");
        let id = if self.is_aside { "main".to_owned() } else { format!("{models}-{}", self.result_letters) };
        let (mut text, mut parent, mut read) = (String::new(), "null".to_owned(), 0);
        let mut line = |minute: usize, kind: &str, message: String| {
            let uuid = format!("{kind}{minute}");
            let _ = writeln!(
                text,
                r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{id}","agentId":"helper","isSidechain":{},"timestamp":"{}T10:{minute:02}:00.000Z","version":"2.1.30","message":{message}}}"#,
                self.is_aside, self.day
            );
            parent = format!("\"{uuid}\"");
        };
        line(0, "user", r#"{"role":"user","content":"Look for the header."}"#.to_owned());
        for (nth, model) in self.models.iter().enumerate() {
            let is_last = nth + 1 == self.models.len();
            let content = if is_last {
                r#"{"type":"text","text":"It is in line 40."}"#.to_owned()
            } else {
                format!(
                    r#"{{"type":"tool_use","id":"t{nth}","name":"Read","input":{{"file_path":"f{nth}"}}}}"#
                )
            };
            let written = 5_000 + nth * self.result_letters / 4;
            let usage = format!(
                r#"{{"input_tokens":4,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":50}}"#
            );
            read += written;
            line(
                2 * nth + 1,
                "assistant",
                format!(
                    r#"{{"id":"m{nth}","role":"assistant","model":"{model}","content":[{content}],"usage":{usage}}}"#
                ),
            );
            if !is_last {
                let words = format!("header {nth} ").repeat(self.result_letters / 9);
                let result =
                    format!(r#"{{"type":"tool_result","tool_use_id":"t{nth}","content":"{words}"}}"#);
                line(2 * nth + 2, "user", format!(r#"{{"role":"user","content":[{result}]}}"#));
            }
        }
        text
    }
}

const ID: &str = "-1111-4222-8333-444455556666.jsonl";

/// Lays out sessions as Claude Code does, with everything that a folder may hold beside them.
fn projects() -> TempDir {
    let folder = tempdir().unwrap();
    let put = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let sonnet = ["claude-sonnet-4-5-20250929"; 3];
    put(&format!("-home-me-one/0a0a0a0a{ID}"), PLAIN.text().as_bytes());
    put(&format!("-home-me-one/0b0b0b0b{ID}"), Session { result_letters: 18_000, ..PLAIN }.text().as_bytes());
    let later = Session { day: "2026-03-05", models: &sonnet, ..PLAIN };
    put(&format!("two/0a0a0a0a{ID}"), later.text().as_bytes());
    put("two/agent-c0ffee.jsonl", Session { is_aside: true, ..later }.text().as_bytes());
    put("two/copy.jsonl", later.text().as_bytes());
    put("two/empty.jsonl", b"");
    put("two/binary.jsonl", &[0, 159, 146, 150, 10, 255, 0, 7]);
    put("two/notes.md", b"# Not looked at");
    let unanswered = r#"{"type":"user","uuid":"u","timestamp":"2026-02-01T10:00:00Z","message":{"role":"user","content":"Hi"}}"#;
    put("two/unanswered.jsonl", unanswered.as_bytes());
    put("two/other.jsonl", Session { models: &["gpt-5.3-nano"; 2], ..PLAIN }.text().as_bytes());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path(), folder.path().join("two/loop")).unwrap();
        // What is no file has no end.
        std::os::unix::net::UnixListener::bind(folder.path().join("two/socket.jsonl")).unwrap();
    }
    folder
}

fn comparison(scenarios: &[&str]) -> Comparison {
    comparing(&["identity", "truncate_oldest"], scenarios, &[])
}

fn report(comparison: &Comparison, threads: usize) -> Report {
    planned(comparison).report(Some(threads), &|_, _| {}).unwrap()
}

/// Returns each session with the profile that it runs under.
fn sessions(report: &Report) -> Vec<(&str, &str)> {
    let of_first = report.runs.iter().filter(|it| it.policy == report.runs[0].policy);
    of_first.map(|it| (it.scenario.as_str(), it.profile.as_str())).collect()
}

/// Returns the codes and the words of what is wrong.
fn refused(comparison: &Comparison) -> String {
    let plan = Plan::new(&bundled_catalog(), comparison);
    match plan.and_then(|it| it.report(Some(1), &|_, _| {}).map(|_| ())) {
        Err(Error::Invalid(problems)) => problems.iter().map(|it| format!("{it}\n")).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_is_searched_and_what_cannot_be_used_is_skipped_with_its_reason() {
    let folder = projects();

    let report = report(&comparison(&[folder.path().to_str().unwrap()]), 2);

    let (opus, sonnet) = ("anthropic/claude-opus-4.5", "anthropic/claude-sonnet-4.5");
    assert_eq!(
        sessions(&report),
        [
            ("home-me-one/0a0a0a0a", opus),
            ("home-me-one/0b0b0b0b", opus),
            ("two/0a0a0a0a", sonnet),
            ("agent-c0ffee", sonnet)
        ]
    );
    let mut skipped: Vec<(&str, &str)> = report
        .skipped
        .iter()
        .map(|it| (Path::new(&it.file).file_name().unwrap().to_str().unwrap(), it.reason.as_str()))
        .collect();
    skipped.sort_unstable();
    assert_eq!(
        skipped,
        [
            ("binary.jsonl", "not a recorded session"),
            ("copy.jsonl", "the same content"),
            ("empty.jsonl", "no request"),
            ("other.jsonl", "no profile covers the model `gpt-5.3-nano`"),
            #[cfg(unix)]
            ("socket.jsonl", "a pipe, a socket or a device"),
            ("unanswered.jsonl", "no request"),
        ]
    );
}

#[test]
fn a_folder_comes_to_what_its_files_come_to_on_any_number_of_threads() {
    let folder = projects();
    let path = |it: &str| folder.path().join(it).to_str().unwrap().to_owned();
    let files = [
        path(&format!("-home-me-one/0a0a0a0a{ID}")),
        path(&format!("-home-me-one/0b0b0b0b{ID}")),
        path(&format!("two/0a0a0a0a{ID}")),
        path("two/agent-c0ffee.jsonl"),
    ];

    let of_folder = report(&comparison(&[folder.path().to_str().unwrap()]), 2);
    let of_files = report(&comparison(&files.each_ref().map(String::as_str)), 1);
    let of_pattern = report(&comparison(&[&path("*/*0a0a0a0a*")]), 2);
    let of_all = report(&comparison(&[&path("**/*.jsonl")]), 2);

    let rows = |it: &Report| runs::run_rows(it, false);
    assert_eq!(rows(&of_folder), rows(&of_files));
    assert_eq!(rows(&of_folder), rows(&of_all), "links that lead back end");
    assert_eq!(of_folder.skipped.len(), of_all.skipped.len());
    assert_eq!(sessions(&of_pattern), [sessions(&of_files)[0], sessions(&of_files)[2]]);
}

/// The recordings are too large for the test data.
#[test]
fn the_reference_sessions_laid_out_as_projects_come_to_what_a_suite_of_their_paths_comes_to() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(|it| Path::new(&it).join("recorded")) else {
        return;
    };
    let folder = projects();
    fs::remove_dir_all(folder.path().join("-home-me-one")).unwrap();
    fs::remove_file(folder.path().join(format!("two/0a0a0a0a{ID}"))).unwrap();
    fs::remove_file(folder.path().join("two/copy.jsonl")).unwrap();
    let mut paths = vec![folder.path().join("two/agent-c0ffee.jsonl")];
    for (nth, source) in ["claude-code", "claude-code-2"].into_iter().enumerate() {
        for (at, file) in fs::read_dir(root.join(source)).unwrap().enumerate() {
            let project = folder.path().join(format!("-home-{source}-{}", at % 3));
            fs::create_dir_all(&project).unwrap();
            let path = project.join(format!("{nth}{at:07}{ID}"));
            fs::copy(file.unwrap().path(), &path).unwrap();
            paths.push(path);
        }
    }
    assert_eq!(paths.len(), 24);
    let paths: Vec<String> = paths.iter().rev().map(|it| format!("{:?}", it.to_str().unwrap())).collect();
    let suite = folder.path().join("all.toml");
    let list = format!("policies = [\"identity\", \"truncate_oldest\"]\nscenarios = [{}]", paths.join(", "));
    let head = "name = \"all\"\nabout = \"Each path.\"\nprofiles = []\nown_models = true\n";
    fs::write(&suite, format!("{head}{list}\n")).unwrap();
    let of_suite = Comparison { suite: suite.to_str().map(str::to_owned), ..Comparison::default() };

    let of_folder = report(&comparison(&[folder.path().to_str().unwrap()]), 2);
    let on_one_thread = report(&comparison(&[folder.path().to_str().unwrap()]), 1);
    let of_suite = report(&of_suite, 2);

    let totals = |it: &Report| {
        let text = run_blocks::report_text(it, RunLayout { on: Some(100).into(), ..RunLayout::default() });
        // Groups of equally many sessions come in the order in which they are listed.
        let mut blocks: Vec<String> =
            text[text.find("36 sessions (").unwrap()..].split("\n\n").map(str::to_owned).collect();
        blocks.sort();
        blocks
    };
    assert_eq!(json::report_json(&of_folder).unwrap(), json::report_json(&on_one_thread).unwrap());
    assert_eq!(of_folder.skipped.len(), 5, "{:?}", of_folder.skipped);
    assert_eq!(
        of_folder.runs.len(),
        2 * (24 + 12),
        "twelve are of sub-agents that three of the files tell of"
    );
    assert_eq!(totals(&of_folder), totals(&of_suite), "in whatever order they are listed");
}

#[test]
fn the_file_of_a_sub_agent_is_a_session_with_a_parent() {
    let folder = projects();
    let path = folder.path().join("two/agent-c0ffee.jsonl");
    let plan = Plan::new(&bundled_catalog(), &comparison(&[path.to_str().unwrap()])).unwrap();

    let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);

    let session = &load.timeline().unwrap().spine.sessions[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("helper", Some("main")));
}

#[test]
fn sessions_are_chosen_by_day_number_and_model() {
    let folder = projects();
    let all = comparison(&[folder.path().to_str().unwrap()]);
    let names = |comparison: Comparison| {
        sessions(&report(&comparison, 2)).into_iter().map(|it| it.0.to_owned()).collect::<Vec<_>>()
    };

    let since = names(Comparison { since: Some("2026-03-01".to_owned()), ..all.clone() });
    assert_eq!(since, ["two/0a0a0a0a", "agent-c0ffee"]);
    let newest = names(Comparison { limit: Some(1), ..all.clone() });
    assert_eq!(newest, ["two/0a0a0a0a"]);
    for model in ["opus", "claude-opus-*", "OPUS", "anthropic/claude-opus-4.5"] {
        let of_model = names(Comparison { model: Some(model.to_owned()), ..all.clone() });
        assert_eq!(of_model, ["home-me-one/0a0a0a0a", "home-me-one/0b0b0b0b"]);
    }
    let none = refused(&Comparison { model: Some("llama".to_owned()), ..all.clone() });
    assert_says(&none, &["no recorded session is left", "recorded with claude-opus-4-5-20251101 (2)"]);
    let opus = Some("opus".to_owned());
    let newest_of_model = names(Comparison { limit: Some(1), model: opus.clone(), ..all.clone() });
    assert_eq!(newest_of_model.len(), 1);
    assert!(newest_of_model[0].starts_with("home-me-one/"), "{newest_of_model:?}");
    let beside = refused(&Comparison { model: opus, ..comparison(&["duckagent/plain_chat"]) });
    assert!(beside.contains("no recorded session is left"), "{beside}");
}

#[test]
fn a_file_that_is_named_and_cannot_be_used_is_an_error_told_with_the_others() {
    let folder = projects();
    let path = |it: &str| folder.path().join(it).to_str().unwrap().to_owned();

    let told = refused(&comparison(&[&path("two/empty.jsonl"), &path("two/other.jsonl")]));

    assert_says(&told, &["the file is empty", "no profile covers the model `gpt-5.3-nano`"]);
    assert!(told.contains("`--profile openai/gpt-5."), "the nearest is named: {told}");
}

#[test]
fn a_session_runs_under_the_model_that_was_billed_for_most_unless_profiles_are_named() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mixed.jsonl");
    let models = ["claude-sonnet-4-5-20250929", "claude-opus-4-6", "claude-opus-4-6"];
    fs::write(&path, Session { models: &models, ..PLAIN }.text()).unwrap();
    let own = comparison(&[path.to_str().unwrap()]);
    let named = Comparison { profiles: vec!["openai/gpt-5.4".to_owned()], ..own.clone() };
    let default = Comparison::default();

    assert_eq!(sessions(&report(&own, 1)), [("mixed", "anthropic/claude-opus-4.6")]);
    assert_eq!(sessions(&report(&named, 1)), [("mixed", "openai/gpt-5.4")]);
    let report = report(&default, 2);
    let recorded: Vec<_> = sessions(&report).into_iter().filter(|it| it.0.starts_with("recorded")).collect();
    assert_eq!(recorded, [("recorded/claude-code", "anthropic/claude-opus-4.5")]);
}

#[test]
fn requests_of_another_model_pay_its_prices() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mixed.jsonl");
    let models = ["claude-opus-4-6", "claude-haiku-4-5-20251001", "claude-opus-4-6"];
    fs::write(&path, Session { models: &models, ..PLAIN }.text()).unwrap();
    let own = comparison(&[path.to_str().unwrap()]);
    let alone = Comparison { profiles: vec!["anthropic/claude-opus-4.6".to_owned()], ..own.clone() };

    let [own, alone] = [own, alone].map(|it| report(&it, 1));

    assert_eq!(
        (own.sessions[0].requests_of_others, own.runs[0].profile.as_str()),
        (1, alone.runs[0].profile.as_str())
    );
    let [mixed, single] = [&own, &alone].map(|it| it.runs[0].tally.costs.total().unwrap());
    // The second request writes what it sends, at a fifth of the price: no model reads what another has cached.
    let prompt = own.runs[0].tally.sums.main.tokens.write[1];
    assert!(prompt > 0 && mixed < single, "{mixed} {single}");
}

#[test]
fn equal_inputs_run_once_and_different_ones_of_a_name_are_told_apart() {
    let folder = tempdir().unwrap();
    let bundled = fs::read_to_string(root().join("policies/clear_tool_results.ron"));
    let bundled = bundled.unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let same = put("same/clear_tool_results.ron", &bundled);
    let other = put("other/clear_tool_results.ron", &bundled.replacen("about: \"", "about: \"My own: ", 1));
    let [a, b] = ["one/a.jsonl", "two/a.jsonl"]
        .map(|it| put(it, &Session { result_letters: if it < "p" { 9_000 } else { 900 }, ..PLAIN }.text()));
    let policies = vec!["clear_tool_results".to_owned(), same, other];

    let report = report(&Comparison { policies, ..comparison(&[&a, &b]) }, 1);

    let runs: Vec<(&str, &str)> =
        report.runs.iter().map(|it| (it.scenario.as_str(), it.policy.as_str())).collect();
    let [one, two] = ["clear_tool_results", "clear_tool_results.ron"];
    assert_eq!(runs, [("one/a", one), ("one/a", two), ("two/a", one), ("two/a", two)]);
    assert!(report.runs.iter().all(|it| it.tally.sums.main.n == 4), "nothing is summed");
}

#[test]
fn several_sessions_print_a_verdict_then_what_was_read_and_a_total() {
    let folder = projects();
    let report = report(&comparison(&[folder.path().to_str().unwrap()]), 2);

    let text = run_blocks::report_text(&report, RunLayout { on: Some(100).into(), ..RunLayout::default() });

    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("No recommendation: "), "the answer first: {text}");
    assert_says(&text, &["\nAs logged: $", "\n4 sessions read (14 requests), under ", "\n6 skipped: "]);
    assert!(text.contains("Cache reads: "), "{text}");
    assert!(text.contains("\n4 sessions (4 turns) · each under the profile of its own model"), "{text}");
    let detailed = RunLayout { on: Some(100).into(), detail: Detail::Scenarios, ..RunLayout::default() };
    let detailed = run_blocks::report_text(&report, detailed);
    assert!(detailed.contains("\n2 sessions (2 turns) · anthropic/claude-opus-4.5"), "{detailed}");
    assert!(lines.iter().all(|it| it.chars().count() <= 100), "{text}");
    let sections = report.sections(Detail::Groups);
    assert_eq!((sections[0].scenarios, sections[0].is_part), (4, false));
    assert_eq!(
        sections[0].subject_and_profile(),
        "4 sessions (4 turns), each under the profile of its own model"
    );
    let cost: f64 = report.runs.iter().step_by(2).map(|it| it.tally.costs.total().unwrap()).sum();
    assert!((sections[0].lines[0].tally.costs.total().unwrap() - cost).abs() < 1e-9);
    let spread = sections[0].lines[1].spread.unwrap();
    assert!(spread.sessions == 4 && (spread.cheaper + spread.same + spread.dearer - 1.0).abs() < 1e-9);
    assert_eq!(report.verdicts().len(), 1, "parts of a total have none of their own");
    let one_by_one = report.sections(Detail::Scenarios);
    assert_eq!(one_by_one.len(), sections.len() + 4);
}

#[test]
fn a_folder_of_several_agents_has_a_table_for_each_agent_and_model_and_a_sum_that_says_what_it_mixes() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("claude.jsonl"), PLAIN.text()).unwrap();
    let opus = Session { models: &["claude-opus-4-6"; 3], ..PLAIN };
    fs::write(folder.path().join("claude2.jsonl"), opus.text()).unwrap();
    for file in ["pi-session.jsonl", "gemini-part.jsonl"] {
        fs::copy(recorded(file), folder.path().join(file)).unwrap();
    }
    let folder = folder.path().to_str().unwrap();

    let report = report(&comparison(&[folder]), 2);

    let sections = report.sections(Detail::Groups);
    let tables: Vec<(&str, &str)> =
        sections.iter().map(|it| (it.load.as_str(), it.profile.as_str())).collect();
    assert_eq!(
        tables,
        [
            (
                "4 sessions (10 turns; 2 claude-code, 1 gemini-cli, 1 pi)",
                "each under the profile of its own model"
            ),
            ("1 claude-code session (1 turn)", "anthropic/claude-opus-4.5"),
            ("1 claude-code session (1 turn)", "anthropic/claude-opus-4.6"),
            ("1 gemini-cli session (3 turns)", "google/gemini-3-flash-preview"),
            ("1 pi session (5 turns)", "anthropic/claude-sonnet-4.5"),
        ]
    );
    assert!(sections.iter().skip(1).all(|it| it.is_part));

    let under_one =
        Comparison { profiles: vec!["anthropic/claude-opus-4.5".to_owned()], ..comparison(&[folder]) };
    let sections = self::report(&under_one, 2).sections(Detail::Groups);
    assert_eq!(sections.len(), 4, "the sum, and one table an agent");
}

#[test]
fn sessions_of_no_known_model_have_tables_of_their_own() {
    let folder = projects();
    let nameless = Session { models: &[""; 3], ..PLAIN };
    fs::write(folder.path().join(format!("two/0c0c0c0c{ID}")), nameless.text()).unwrap();

    let report = report(&comparison(&[folder.path().to_str().unwrap()]), 2);

    assert_eq!(report.sessions.len(), 5);
    let sections = report.sections(Detail::Groups);
    let whole: Vec<(&str, usize)> =
        sections.iter().filter(|it| !it.is_part).map(|it| (it.load.as_str(), it.scenarios)).collect();
    assert_eq!(whole[0], ("4 sessions (4 turns)", 4));
    assert_eq!(whole[1..], [("1 session (1 turn)", 1); 3], "one table a profile of the suite");
}

#[test]
fn a_verdict_names_what_saves_by_losing_evidence_and_takes_no_oracle() {
    let guarded = "duckagent/duckagent_recoverable_decay_guarded_mid";
    let policies = ["identity", "duckagent/immediate_summary", guarded, "clairvoyant"];
    let comparison = Comparison {
        policies: policies.map(str::to_owned).to_vec(),
        ..comparison(&["recorded/claude-code"])
    };
    let mut report = report(&comparison, 2);

    report.min_evidence = 0.95;
    let strict = report.verdicts().remove(0);
    report.min_evidence = 0.0;
    let loose = report.verdicts().remove(0);

    assert_eq!(strict.cheapest.as_ref().unwrap().policy, "identity", "{strict:?}");
    let lossy: Vec<&str> = strict.lossy.iter().map(|it| it.policy.as_str()).collect();
    assert_eq!(lossy, [guarded]);
    let told = "Cheaper by losing evidence: duckagent_recoverable_decay_guarded_mid (";
    assert!(strict.full_text().contains(told), "{}", strict.full_text());
    assert_eq!(loose.cheapest.unwrap().policy, guarded);
    assert!(report.note_on_oracles().unwrap().starts_with("clairvoyant sees the future"));
}

/// Returns a recording of the test data.
fn recorded(name: &str) -> String {
    data("recorded").join(name).display().to_string()
}

#[test]
fn a_verdict_says_in_its_first_sentence_that_the_bill_is_not_reproduced() {
    let report = report(&comparison(&[&recorded("pi-session.jsonl")]), 1);

    let verdict = report.verdicts().remove(0);

    let error = verdict.trust.sources[0].error.unwrap();
    assert!(error < -0.05, "{error}");
    let first = verdict.full_text().split(". ").next().unwrap().to_owned();
    let doubt = "but input cost is predicted 6.6% below the recorded bill (a check passes within 5%)";
    assert!(first.contains(doubt), "{first}");
}

#[test]
fn where_nothing_says_what_is_needed_nothing_is_recommended() {
    let report = report(&comparison(&[&recorded("codex-rollout.jsonl")]), 1);

    for verdict in report.verdicts() {
        assert!(!verdict.knows_evidence);
        let words = verdict.full_text();
        assert!(words.starts_with("No recommendation: nothing says which results are needed"), "{words}");
        assert!(!words.contains("keep it") && !words.contains("To apply"), "{words}");
    }
}

#[test]
fn a_total_over_sources_of_different_quality_says_what_it_mixes() {
    let folder = projects();
    fs::copy(recorded("pi-session.jsonl"), folder.path().join("pi.jsonl")).unwrap();
    let report = report(&comparison(&[folder.path().to_str().unwrap()]), 2);

    let verdict = report.verdicts().remove(0);

    let errors: Vec<bool> =
        verdict.trust.sources.iter().filter_map(|it| Some(it.error?.abs() > 0.05)).collect();
    assert!(errors.contains(&true) && errors.contains(&false), "{:?}", verdict.trust);
    assert!(
        verdict.full_text().contains(", but it mixes bills of different quality: for "),
        "{}",
        verdict.full_text()
    );
}

#[test]
fn sessions_whose_bills_are_not_reproduced_are_counted_under_their_own_profiles() {
    let source = |profile: &str, sessions: usize, error: f64| BilledProfile {
        profile: profile.to_owned(),
        sessions,
        error: Some(error),
        billed_usd: 10.0,
    };
    let sources = vec![source("a", 22, -0.06), source("b", 1, 0.072), source("c", 13, 0.01)];
    let of = |sources: Vec<BilledProfile>| TableTrust { sources, ..TableTrust::default() }.doubts_clause();

    let doubts = of(sources.clone());
    assert!(doubts.contains("for 23 of 36 sessions (22 of a and 1 of b), input cost"), "{doubts}");
    let one = of(sources[1..].to_vec());
    assert!(one.contains("for 1 of 14 sessions (b), input cost is predicted 7.2% above"), "{one}");
}

#[test]
fn an_amount_between_the_bill_and_the_simulated_cost_is_the_same_on_a_terminal_and_on_a_page() {
    let here = root();
    let said = |format: &str| {
        out(&ctxsim(here, ["run", "recorded/claude-code", "--policy", "identity", "--format", format]))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let amount = |text: &str, [before, after]: [&str; 2]| -> Option<String> {
        let end = text.find(after)?;
        Some(text[text[..end].rfind(before)? + before.len()..end].to_owned())
    };
    let (table, page) = (said("table"), said("html"));

    let short = amount(&table, [", $", " of it for output that the logs do not tell"]);
    let long = amount(&page, ["+ $", " estimated for output that the logs do not tell"]);
    assert!(short.is_some() && short == long, "{short:?} and {long:?}");
}

#[test]
fn what_items_cost_to_carry_adds_up_to_the_billed_input() {
    let plan = Plan::new(&bundled_catalog(), &comparison(&["recorded/claude-code"])).unwrap();
    let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);
    let (timeline, profile) = (load.timeline().unwrap(), &load.profiles[0]);

    let items = carried_items(timeline, &profile.prices);

    let rates = profile.prices.usual();
    let billed: f64 = timeline.recorded.as_ref().unwrap().usage.iter().flatten().fold(0.0, |sum, it| {
        let [short, long] = it.writes(timeline.harness.ttl);
        sum + it.cache_read as f64 * rates.read().usd()
            + short as f64 * rates.write(0).unwrap().usd()
            + long as f64 * rates.write(1).unwrap().usd()
            + it.uncached as f64 * rates.input.usd()
    });
    let all: f64 = items.iter().map(|it| it.entered_usd + it.carried_usd).sum();
    assert!((all / billed - 1.0).abs() < 0.01, "{all} of {billed}");
    let told = PromptFill::new(&load.name, &profile.name, timeline, &items);
    assert_eq!(told.items.len(), 10);
    assert!(told.items.windows(2).all(|it| it[0].carried_usd >= it[1].carried_usd));
    let read = told.by_tool.iter().find(|it| it.what == "read_file").unwrap();
    assert!(read.never_needed_tokens.is_some_and(|it| it < read.tokens), "some of what was read was needed");
}
