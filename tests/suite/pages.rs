//! Every page: the verdict first, points that lead to rows, one script that may run, nothing loaded, and no word of a transcript.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roxmltree::Node;
use sha2::{Digest as _, Sha256};

use crate::pictures::xml;
use crate::support::*;

/// The most bytes that all scripts of a page may have.
const SCRIPT_MAX: usize = 25_000;
/// A word that stands in every text of a marked session.
const MARK: &str = "zqxjkmarked";
/// A session whose texts can be marked.
const SESSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/recorded/claude-code-session.jsonl");

fn ctxsim(args: &[&str]) -> String {
    let output = crate::support::ctxsim(data("small"), args);
    assert!(output.status.code() != Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns every command that makes a page, with arguments for a session.
fn commands(session: &str) -> Vec<(&'static str, Vec<&str>)> {
    let clear = "clear_tool_results_at_40k_min_5k";
    vec![
        ("run", vec!["run", session, "--policy", "identity", clear, "truncate_oldest"]),
        ("run", vec!["run", "--suite", "small"]),
        ("run", vec!["run", "--suite", "aging-lite"]),
        ("run", vec!["run", "--suite", "context-decay"]),
        ("compare", vec!["compare", "--base", "identity", "--candidate", clear, session]),
        ("sweep", vec!["sweep", "--policy", clear, "--vary", "params.trigger.tokens=3000,40000", session]),
        ("tune", vec!["tune", "--policy", clear, "--vary", "params.trigger.tokens=3000,40000", session]),
        ("sensitivity", vec!["sensitivity", session, "--profile", "anthropic/*"]),
        ("advise", vec!["advise", session]),
        ("check", vec!["check", "--suite", "aging-lite", "--snapshots", "nowhere"]),
    ]
}

/// Writes the page of each command; returns it with the command's name.
fn pages(session: &str) -> Vec<(&'static str, String)> {
    let folder = tempdir().unwrap();
    let page = |(nth, (name, args)): (usize, (&'static str, Vec<&str>))| {
        let file = folder.path().join(format!("{nth}.html"));
        ctxsim(&[&args[..], &["--html", file.to_str().unwrap()]].concat());
        (name, fs::read_to_string(file).unwrap())
    };
    commands(session).into_iter().enumerate().map(page).collect()
}

/// Returns the pages of the session, made once.
fn plain() -> &'static [(&'static str, String)] {
    static PAGES: OnceLock<Vec<(&str, String)>> = OnceLock::new();
    PAGES.get_or_init(|| pages(SESSION))
}

fn elements<'a, 'i>(of: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    of.descendants().filter(move |it| it.tag_name().name() == name)
}

fn words(of: Node<'_, '_>) -> String {
    of.descendants().filter(Node::is_text).filter_map(|it| it.text()).collect::<String>().trim().to_owned()
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

#[test]
fn every_page_begins_with_its_verdict_and_goes_on_to_picture_tables_causes_assumptions() {
    for (name, page) in plain() {
        let document = xml(page);
        let main = elements(document.root(), "main").next().unwrap();
        let parts: Vec<&str> = main.children().filter_map(|it| it.attribute("id")).collect();
        let in_order = ["verdict", "picture", "tables", "causes", "assumptions"];
        let verdict = main.children().find(Node::is_element).unwrap();

        assert_eq!(parts.first(), Some(&"verdict"), "{name}");
        assert!(in_order.iter().filter(|it| parts.contains(it)).eq(parts.iter()), "{name}: {parts:?}");
        assert!(parts.contains(&"tables"), "{name}: {parts:?}");
        assert!(elements(verdict, "strong").all(|it| !words(it).is_empty()), "{name}");
        assert!(elements(verdict, "strong").count() > 0, "{name} has no verdict");
    }
}

#[test]
fn a_page_loads_nothing_and_runs_one_small_script_that_it_names_by_its_digest() {
    for (name, page) in plain() {
        let document = xml(page);
        let script = between(page, "<script>", "</script>");
        let digest = STANDARD.encode(Sha256::digest(script));
        let policy = elements(document.root(), "meta").find_map(|it| {
            it.attribute("http-equiv").filter(|it| *it == "Content-Security-Policy")?;
            it.attribute("content")
        });
        let policy = policy.unwrap();

        assert_eq!(page.matches("<script").count(), 1, "{name}");
        assert!(script.len() <= SCRIPT_MAX, "{}", script.len());
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(
            policy.contains(&format!("script-src 'sha256-{digest}';")),
            "SCRIPT_SHA256 is {digest}: {policy}"
        );
        for loading in ["src", "href", "action", "data", "srcset"] {
            let targets = document.descendants().filter_map(|it| it.attribute(loading));
            targets.for_each(|it| assert!(it.starts_with('#') || it == "data:,", "{name} loads {it}"));
        }
        assert!(!page.contains("url(") && !page.contains("@import"), "{name}");
        // What an author of a policy wrote of its sources may hold an address, as text alone.
        for on in document.descendants().flat_map(|it| it.attributes()) {
            assert!(!on.name().starts_with("on") && on.name() != "style", "{name}: {}", on.name());
        }
    }
}

#[test]
fn every_point_leads_to_a_row_and_every_table_and_drawing_says_what_it_is() {
    for (name, page) in plain() {
        let document = xml(page);
        let root = document.root();
        let rows: BTreeSet<&str> = elements(root, "tr").filter_map(|it| it.attribute("id")).collect();
        let ids: Vec<&str> = document.descendants().filter_map(|it| it.attribute("id")).collect();
        let points = elements(root, "a").filter(|it| it.attribute("class") == Some("spot"));

        for point in points {
            let row = point.attribute("href").unwrap().trim_start_matches('#');
            assert!(rows.contains(row), "{name}: {row} is no row");
            assert!(point.attribute("aria-label").is_some_and(|it| !it.is_empty()), "{name}: {row}");
        }
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{name} has an id twice");
        for table in elements(root, "table") {
            assert!(elements(table, "caption").all(|it| !words(it).is_empty()), "{name}");
            assert_eq!(elements(table, "caption").count(), 1, "{name}");
            assert!(elements(table, "th").all(|it| it.attribute("scope").is_some()), "{name}");
        }
        for svg in elements(root, "svg") {
            for part in ["title", "desc"] {
                assert!(elements(svg, part).next().is_some_and(|it| !words(it).is_empty()), "{name}: {part}");
            }
        }
    }
}

#[test]
fn pictures_of_policies_lead_to_rows_and_rows_to_the_command_that_explains_them() {
    let args = ["run", SESSION, "--policy", "identity", "truncate_oldest", "--format", "html"];
    let page = ctxsim(&args);
    let document = xml(&page);

    let frontier = document.descendants().find(|it| it.attribute("id") == Some("frontier")).unwrap();
    let href = elements(frontier, "a").filter_map(|it| it.attribute("href")).nth(1).unwrap();
    let row = document.descendants().find(|it| it.attribute("id") == Some(&href[1..])).unwrap();
    let command = words(elements(row, "code").next().unwrap());
    assert!(words(row).starts_with("truncate_oldest"), "{}", words(row));
    let told = command.strip_prefix("ctxsim ").unwrap().replace('\'', "");
    let explained = ctxsim(&told.split(' ').collect::<Vec<_>>());
    assert!(explained.contains("truncate_oldest"), "{command}: {explained}");
}

#[test]
fn a_page_has_the_numbers_of_the_json() {
    let args = ["run", SESSION, "--policy", "identity", "truncate_oldest", "--min-evidence", "0"];
    let page = ctxsim(&[&args[..], &["--format", "html"]].concat());
    let json: Value = serde_json::from_str(&ctxsim(&[&args[..], &["--format", "json"]].concat())).unwrap();
    let document = xml(&page);
    let table = elements(document.root(), "section").find(|it| it.attribute("id") == Some("tables")).unwrap();
    let cells: Vec<String> = elements(table, "td").map(words).collect();

    for run in json["runs"].as_array().unwrap() {
        let cost = run["totals"]["cost_usd"]["total"].as_f64().unwrap();
        let is_it =
            |it: &String| it.parse::<f64>().is_ok_and(|it| (it - cost).abs() <= 5.1e-5 * cost.max(1.0));
        assert!(cells.iter().any(is_it), "{cost} is not in {cells:?}");
    }
    let best = &json["verdicts"][0]["verdict"]["cheapest"];
    let number = words(elements(document.root(), "strong").next().unwrap());
    match best["change"].as_f64() {
        Some(change) => assert_eq!(number, format!("{:+.1}%", change * 100.0).replace('-', "−")),
        // Of two policies, the verdict says what the other one costs.
        None => {
            let usd = |it: &Value| it["totals"]["cost_usd"]["total"].as_f64().unwrap();
            let [base, other] = [0, 1].map(|nth| usd(&json["runs"][nth]));
            let change = other / base - 1.0;
            let costs = format!("{base:.2}");
            assert!(change > 0.0 && change < 1.0, "{change}");
            assert_eq!(number, format!("Costs {:+.1}%", change * 100.0));
            assert_says(
                &page,
                &[&format!("${other:.2} instead of ${costs}, with truncate_oldest: keep identity")],
            );
        }
    }
}

/// Puts a mark behind every text of a session, and returns how many there are.
fn mark(value: &mut Value, is_text: bool) -> usize {
    const TEXTS: [&str; 8] =
        ["text", "content", "thinking", "stdout", "command", "old_string", "new_string", "description"];
    match value {
        Value::String(text) if is_text => {
            let end = if text.ends_with('}') { return 0 } else { text.len() };
            text.insert_str(end, &format!(" {MARK}"));
            1
        }
        Value::Array(all) => all.iter_mut().map(|it| mark(it, is_text)).sum(),
        Value::Object(all) => all.iter_mut().map(|(key, it)| mark(it, TEXTS.contains(&key.as_str()))).sum(),
        _ => 0,
    }
}

#[test]
fn no_page_holds_a_word_of_the_session_that_it_was_made_of() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    let mut n_marked = 0;
    let lines = fs::read_to_string(SESSION).unwrap();
    let marked = lines.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        n_marked += mark(&mut value, false);
        value.to_string() + "\n"
    });
    fs::write(&file, marked.collect::<String>()).unwrap();

    assert!(n_marked > 10, "{n_marked}");
    for (name, page) in pages(file.to_str().unwrap()) {
        assert!(!page.contains(MARK), "{name} tells what was said");
    }
    let told =
        ctxsim(&["explain", "--policy", "identity", file.to_str().unwrap(), "--request", "1", "--details"]);
    assert!(told.contains("request"), "the session can be played: {told}");
}

#[test]
fn a_page_beside_a_result_changes_nothing_of_the_result() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("page.html");
    let file = file.to_str().unwrap();
    for (name, args) in commands(SESSION) {
        let with = ctxsim(&[&args[..], &["--html", file, "--force"]].concat());
        assert!(ctxsim(&args) == with, "{name}");
    }
}

#[test]
fn a_page_by_its_format_is_the_page_beside_a_result() {
    let folder = tempdir().unwrap();
    let [beside, alone] = ["beside.html", "alone.html"].map(|it| folder.path().join(it));
    let args = ["compare", "--base", "keep", "--candidate", "cap", "--scenario", "one", "--profile", "plain"];

    ctxsim(&[&args[..], &["--html", beside.to_str().unwrap()]].concat());
    ctxsim(&[&args[..], &["--output", alone.to_str().unwrap()]].concat());

    let [beside, alone] = [beside, alone].map(|it| fs::read_to_string(it).unwrap());
    assert!(beside == alone);
    let marks = [("<style>", "</style>"), ("<script>", "</script>"), ("'sha256-", "'")];
    let plain = marks.iter().fold(alone.clone(), |it, (from, to)| it.replace(between(&alone, from, to), "…"));
    assert_snapshot("pages", "compare", &plain);
}

#[test]
fn no_curve_of_an_ageing_memory_is_drawn_twice() {
    let (_, page) = &plain()[2];
    let of_ageing = page.split("<figure id=\"aging").skip(1).map(|it| between(it, "<svg", "</svg>"));
    let lines = of_ageing.map(|it| it.split('<').filter(|it| it.starts_with("path")).collect::<Vec<_>>());
    let lines: Vec<Vec<&str>> = lines.collect();

    assert!(lines.len() > 2, "{} pictures", lines.len());
    for (nth, one) in lines.iter().enumerate() {
        assert!(!lines[..nth].contains(one), "{nth} is drawn twice: {one:?}");
    }
}

#[test]
fn of_many_policies_a_page_draws_the_cheapest_and_lists_all_by_their_cost() {
    let page = ctxsim(&["run", SESSION, "--suite", "field", "--format", "html"]);
    let document = xml(&page);
    let of = |id: &str| document.descendants().find(|it| it.attribute("id") == Some(id)).unwrap();
    let bars = elements(elements(of("cost"), "svg").next().unwrap(), "a").count();
    let table = elements(of("tables"), "table").next().unwrap();
    let at = elements(table, "th").position(|it| words(it) == "cost USD").unwrap();
    let costs = elements(table, "tr").skip(1).filter_map(|row| {
        let cells = row.children().filter(Node::is_element).map(words);
        cells.clone().nth(at)?.parse::<f64>().ok()
    });
    let costs: Vec<f64> = costs.skip(1).collect();

    assert_eq!(bars, 14, "a bar each, and no more than an eye can read");
    assert!(costs.len() > 90, "{}", costs.len());
    assert!(costs.windows(2).all(|it| it[0] <= it[1]), "by cost: {costs:?}");
}

#[test]
fn a_recorded_compaction_is_not_said_to_be_an_edit_of_the_policy() {
    let run = ["run", "../recorded/codex-rollout.jsonl", "--policy", "identity"];
    let page = ctxsim(&[&run[..], &["--profile", "openai/gpt-5.6-sol", "--format", "html"]].concat());

    assert!(page.contains("the harness or memory 1×"), "{page}");
    assert!(!page.contains("identity 1×"));
}

#[test]
fn of_many_runs_a_page_draws_the_requests_of_the_dearest_session() {
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded/pi-session.jsonl");
    let run = ["run", SESSION, other, "--suite", "field", "--format"];
    let page = ctxsim(&[&run[..], &["html"]].concat());
    let json: Value = serde_json::from_str(&ctxsim(&[&run[..], &["json"]].concat())).unwrap();

    let usd = |name: &str| {
        let runs = json["runs"].as_array().unwrap().iter();
        let mut of = runs.filter(|it| it["scenario"].as_str().unwrap().contains(name));
        of.next().unwrap()["totals"]["cost_usd"]["total"].as_f64().unwrap()
    };
    let stem = |it: &str| Path::new(it).file_stem().unwrap().to_str().unwrap().to_owned();
    let [one, two] = [SESSION, other].map(stem);
    let dearest = if usd(&two) > usd(&one) { two } else { one };
    let figure = page.split("<figure id=\"requests\">").nth(1).expect("requests are drawn");
    let caption = between(figure, "<small>", "</small>");
    assert!(caption.contains(&dearest) && caption.contains("the most expensive of 2"), "{caption}");
}

#[test]
fn what_is_assumed_is_folded_by_kind_with_its_counts() {
    let page = ctxsim(&["run", SESSION, "--policy", "identity", "--format", "html"]);
    let document = xml(&page);
    let assumed = document.descendants().find(|it| it.attribute("id") == Some("assumptions")).unwrap();
    let folds: Vec<String> = elements(assumed, "summary").map(words).collect();

    for kind in ["Assumed: ", "Not known: "] {
        assert!(folds.iter().any(|it| it.starts_with(kind) && it.contains("sentence")), "{folds:?}");
    }
}
