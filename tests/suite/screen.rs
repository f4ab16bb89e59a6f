//! The first screen: its size, its sums, its words, and which command lines mean it.

use ctxsim::app::first_screen;
use ctxsim::report::NextCommands;
use ctxsim::report::account::LimitsUsed;
use ctxsim::report::lever::{CeilingSessions, KnownBy, Lever, Word};
use ctxsim::report::screen::{BillPart, FirstScreen, SessionFacts, markdown, terminal_text};

use crate::support::*;

/// Words that no reader has met on a first screen.
const UNKNOWN: [&str; 7] = ["identity", "clairvoyant", "lane", "evidence", "exploration", "entries", "basis"];

fn screen_on(folder: &Path) -> FirstScreen {
    let comparison = Comparison {
        scenarios: vec![folder.display().to_string()],
        own_models: true,
        ..Comparison::default()
    };
    first_screen(&bundled_catalog(), &comparison, Some(1), &|_, _| {}).unwrap()
}

/// A request of a made-up session of Claude Code: the day of 2026, and the tokens that it writes, reads and answers.
struct Request {
    day: u32,
    minute: u32,
    written: u64,
    read: u64,
    output: u64,
}

/// Writes a session with the bills of its requests.
fn write(folder: &Path, id: &str, requests: &[Request]) {
    let mut text = String::new();
    let mut parent = "null".to_owned();
    for (nth, Request { day, minute, written, read, output }) in requests.iter().enumerate() {
        // January, February and March of 2026.
        let (month, day) = match day {
            1..=31 => (1, *day),
            32..=59 => (2, day - 31),
            _ => (3, day - 59),
        };
        let mut line = |kind: &str, second: u32, message: &str| {
            let _ = writeln!(
                text,
                r#"{{"type":"{kind}","uuid":"{kind}{nth}","parentUuid":{parent},"sessionId":"{id}","cwd":"/home/ann/p","isSidechain":false,"timestamp":"2026-{month:02}-{day:02}T10:{minute:02}:{second:02}.000Z","version":"2.1.29","message":{message}}}"#
            );
            parent = format!("\"{kind}{nth}\"");
        };
        line("user", 0, r#"{"role":"user","content":"Go on."}"#);
        let message = format!(
            r#"{{"id":"{id}m{nth}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"Done {nth}."}}],"usage":{{"input_tokens":0,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":{output},"cache_creation":{{"ephemeral_5m_input_tokens":{written},"ephemeral_1h_input_tokens":0}}}}}}"#
        );
        line("assistant", 4, &message);
    }
    fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
}

fn first_request(day: u32, written: u64) -> Request {
    Request { day, minute: 0, written, read: 0, output: 0 }
}

/// Returns the dollars of a sum of parts, which must be exact.
fn sum(all: impl Iterator<Item = Cost>) -> Cost {
    all.fold(Cost::default(), |sum, it| sum + it)
}

fn adds_up(it: &FirstScreen) {
    assert_eq!(sum(it.month.parts.iter().map(|it| it.usd)), it.month.usd);
    let missed = it.month.parts.iter().find(|it| it.part == BillPart::AfterOtherMisses).unwrap();
    assert_eq!(sum(it.month.other_misses.iter().map(|it| it.usd)), missed.usd);
    assert_eq!(it.bill.main.all + it.bill.sub_agents.all, it.bill.total.all);
}

fn fits(text: &str) {
    assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
    let longest = text.lines().map(|it| it.chars().count()).max().unwrap();
    assert!(longest <= 100, "{longest} columns:\n{text}");
}

fn is_plain(text: &str) {
    let words: Vec<&str> = text.split(|it: char| !it.is_alphanumeric()).collect();
    for unknown in UNKNOWN {
        assert!(!words.iter().any(|it| it.eq_ignore_ascii_case(unknown)), "`{unknown}` in:\n{text}");
    }
}

/// Levers as long as any, of two agents.
fn levers() -> Vec<Lever> {
    let words = [Word::Do, Word::YourCall, Word::Try, Word::CannotTell, Word::Dont];
    let lever = |agent: &str, nth: usize| Lever {
        agent: agent.to_owned(),
        set: vec![format!("setting={nth}")],
        title: format!(
            "Compact the history at {nth}0,000 tokens in place of the default of the agent, for all models and projects"
        ),
        word: Some(words[nth % words.len()]),
        saved_month: Some(1_234.5 - 100.0 * nth as f64),
        saved_interval: Some([-1_000.25, 12_345.0]),
        evidence_kept: Some(0.97),
        known_by: if nth.is_multiple_of(2) { KnownBy::Simulated } else { KnownBy::Bills },
        ..Lever::default()
    };
    let nothing = Lever { title: "It changes nothing.".to_owned(), ..Lever::default() };
    let others = (3..9).map(|nth| lever("Claude Code", nth));
    let sessions = CeilingSessions { sessions: 1_000, short_sessions: 12, short_requests: 20 };
    let model =
        |nth| Lever { word: None, ceiling: Some(sessions), saved_interval: None, ..lever("Codex", nth) };
    (0..8).map(|nth| lever("Codex", nth)).chain([nothing]).chain(others).chain((0..3).map(model)).collect()
}

/// Made-up facts of many agents and people, the worst that a screen has to hold.
fn crowded() -> FirstScreen {
    let folder = screen_facts();
    let next = NextCommands {
        sessions: "~/a/very/long/folder ".repeat(30).trim().to_owned(),
        options: String::new(),
    };
    let certainty = "Simulated: no model ran; how much of what later steps need stays is inferred from what the sessions did next.";
    FirstScreen::new(&folder, Vec::new(), levers(), certainty.to_owned()).with_next_commands(&next)
}

fn screen_facts() -> Vec<SessionFacts> {
    let facts = |nth: usize| SessionFacts {
        agent: format!("an agent of a long name that nobody has heard of {}", nth % 9),
        has_settings: true,
        version: format!("{nth}.0.1-a-version-that-somebody-made-as-long-as-he-could"),
        user: format!("/home/{nth}"),
        project: format!("/home/{nth}/p"),
        is_of_agent: nth.is_multiple_of(3),
        span_ms: Some([nth as i64 * 86_400_000, nth as i64 * 86_400_000 + 1]),
        requests: 1_000_000,
        without_usage: 3,
        without_price: [(format!("a-model-of-a-long-name-without-a-price-{nth}"), 5)].into(),
        ..SessionFacts::default()
    };
    (0..80).map(facts).collect()
}

#[test]
fn the_screen_on_the_small_recordings_is_as_reviewed() {
    let text = out(&ctxsim(data("."), ["recorded"]));

    assert_snapshot("cli", "screen_recorded", &text);
    fits(&text);
    is_plain(&text);
}

#[test]
fn every_recording_has_a_screen_of_forty_lines_that_adds_up_in_plain_words() {
    let folder = data("recorded");
    adds_up(&screen_on(&folder));
    for file in fs::read_dir(&folder).unwrap() {
        let file = file.unwrap().path();
        let output = ctxsim(&folder, ["screen", file.to_str().unwrap(), "--format", "table"]);
        if !output.status.success() {
            continue;
        }
        fits(&out(&output));
        is_plain(&out(&output));
        adds_up(&screen_on(&file));
    }
}

#[test]
fn the_most_that_a_screen_can_hold_is_forty_lines_and_what_to_do_stands_before_what_saves_more() {
    let it = crowded();
    let text = terminal_text(&it, Some(200));

    fits(&text);
    is_plain(&text);
    assert_snapshot("cli", "screen_crowded", &text);
    is_plain(markdown(&it).as_ref());
    let saved: Vec<f64> = it.levers.iter().filter_map(|it| it.saved_month).collect();
    assert_eq!(saved.len(), 14, "what changes nothing is not shown");
    assert!(it.ceilings.len() == 3 && text.contains("are a ceiling, quality not judged"), "{text}");
    assert!(it.levers.is_sorted_by(|one, other| one.reading_order(other).is_le()), "{saved:?}");
    assert!(text.contains("Codex: Compact") && text.contains("97.0%"), "{text}");
}

#[test]
fn eight_levers_of_one_agent_have_room_and_say_their_word_first() {
    let facts: Vec<SessionFacts> = screen_facts()
        .into_iter()
        .take(9)
        .map(|it| SessionFacts { agent: "Codex".to_owned(), ..it })
        .collect();
    let mut levers = levers();
    levers.truncate(8);
    levers.iter_mut().for_each(|it| "Compact at 200,000 tokens".clone_into(&mut it.title));
    let text = terminal_text(&FirstScreen::new(&facts, Vec::new(), levers, String::new()), None);

    fits(&text);
    assert_snapshot("cli", "screen_levers", &text);
    let rows: Vec<&str> = text.lines().filter(|it| it.contains("Compact at")).collect();
    assert_eq!(rows.len(), 8, "{text}");
    assert!(rows[1].starts_with("do ") && rows[2].starts_with("your call "), "{text}");
    assert!(
        rows[0].contains("~$1,235") && rows[2].contains(" $1,135") && rows[0].contains("−$1,000 to $12,345"),
        "{text}"
    );
}

#[test]
fn the_last_thirty_days_and_the_thirty_before_count_requests_by_their_days() {
    let folder = tempdir().unwrap();
    // A million tokens written are 6.25 dollars. The last day is the 65th; the 36th is the first of the last 30, the 6th that of those before.
    for (day, millions) in [(1, 1), (5, 1), (6, 2), (35, 4), (36, 8), (60, 8), (62, 8), (63, 8), (65, 8)] {
        write(folder.path(), &format!("s{day}"), &[first_request(day, millions * 1_000_000)]);
    }
    let it = screen_on(folder.path());
    let usd = |millions: u64| Cost(u128::from(millions) * 6_250_000_000_000);

    assert_eq!(it.read.days, 65);
    assert_eq!(it.bill.total.all, usd(48));
    assert_eq!((it.bill.total.last, it.bill.total.before), (Some(usd(40)), Some(usd(6))));
    assert_eq!(it.month.usd, usd(40), "a month is the last 30 days");
    let text = terminal_text(&it, None);
    assert!(text.contains("+$212.50 (+566.7%)"), "{text}");
    adds_up(&it);

    // 59 days do not hold the 30 before in full.
    [1, 5, 6].iter().for_each(|day| fs::remove_file(folder.path().join(format!("s{day}.jsonl"))).unwrap());
    let it = screen_on(folder.path());
    assert_eq!((it.bill.total.last, it.bill.total.before), (Some(usd(40)), None));
    assert!(!terminal_text(&it, None).contains("change "), "{}", terminal_text(&it, None));
}

#[test]
fn what_is_written_again_after_a_pause_is_told_apart_from_what_is_new() {
    let folder = tempdir().unwrap();
    let request = |minute, written, read| Request { day: 1, minute, written, read, output: 1_000 };
    write(folder.path(), "s", &[request(0, 20_000, 0), request(1, 1_000, 20_000), request(30, 22_000, 0)]);
    let it = screen_on(folder.path());
    let of = |part| it.month.parts.iter().find(|it| it.part == part).unwrap().usd;
    let rate = |tokens: u128, micro: u128| Cost(tokens * micro * 10_000);

    // Dollars per million tokens: reads 0.50, writes 6.25, output 25.
    assert_eq!(of(BillPart::History), rate(20_000, 50));
    assert_eq!(of(BillPart::Answers), rate(3_000, 2_500));
    assert_eq!(of(BillPart::AfterPauses) + of(BillPart::New), rate(43_000, 625));
    assert!(of(BillPart::AfterPauses) > rate(20_000, 625) && of(BillPart::AfterPauses) <= rate(21_000, 625));
    assert_eq!(of(BillPart::AfterOtherMisses), Cost::default());
    adds_up(&it);
}

#[test]
fn json_says_what_the_table_says_and_the_bill_is_that_of_import() {
    let folder = data("recorded");
    let files = ["claude-code-progress.jsonl", "codex-rollout.jsonl", "pi-session.jsonl"];
    let text = out(&ctxsim(&folder, files));
    let json =
        |args: &[&str]| -> Value { parsed(&ctxsim(&folder, [args, &files, &["--format", "json"]].concat())) };
    let (own, import) = (json(&[]), json(&["import", "--by", "model"]));

    assert_eq!(own["schema"], "ctxsim.screen/1");
    assert_eq!(own["bill"]["total_usd"], import["total"]["total_usd"]);
    let shown = |usd: &Value| {
        let decimals = if own["bill"]["total_usd"].as_f64().unwrap() >= 1.0 { 2 } else { 4 };
        format!("${:.decimals$}", usd.as_f64().unwrap())
    };
    assert!(text.contains(&shown(&own["bill"]["total_usd"])), "{text}");
    assert!(text.contains(&format!("{} sessions read", own["read"]["sessions"])), "{text}");
    // What import leaves out is told by the screen.
    let files_left_out = json(&["import"])["files"].as_array().unwrap().clone();
    for lost in files_left_out.iter().flat_map(|it| it["left_out"].as_array().unwrap()) {
        let what = lost["what"].as_str().unwrap();
        assert!(own["read"]["left_out"][what].as_u64() >= lost["count"].as_u64(), "{what}");
        assert!(
            what.ends_with("part of a prompt") || text.replace('\n', " ").contains(what),
            "{what} {text}"
        );
    }
    let parts = own["month"]["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|it| it["usd"].as_f64().unwrap()).sum();
    assert!((sum - own["month"]["usd"].as_f64().unwrap()).abs() < 1e-9);
    for part in parts.iter().filter(|it| it["usd"].as_f64() > Some(0.0)) {
        assert!(text.contains(part["about"].as_str().unwrap()), "{part} {text}");
    }
    assert!(
        out(&ctxsim(&folder, [&files[..], &["--format", "html"]].concat()))
            .contains("What your sessions cost")
    );
    assert!(out(&ctxsim(&folder, [&files[..], &["--format", "markdown"]].concat())).contains("### Where "));
}

/// Returns what a command line without a command is.
fn meant(args: &[&str]) -> &'static str {
    let document: Value = parsed(&ctxsim(data("recorded"), [args, &["--format", "json"]].concat()));
    match document["schema"].as_str().unwrap() {
        "ctxsim.screen/1" => "screen",
        "ctxsim.report/1" => "run",
        other => panic!("{other}"),
    }
}

#[test]
fn recorded_sessions_without_a_command_are_a_screen_and_all_else_is_a_run() {
    for args in [
        &["pi-session.jsonl"][..],
        &["--since", "2020-01-01", "pi-session.jsonl", "--threads", "1"],
        &["*.jsonl", "--limit", "1"],
        &["recorded/claude-code"],
    ] {
        assert_eq!(meant(args), "screen", "{args:?}");
    }
    for args in [
        &["pi-session.jsonl", "--policy", "identity"][..],
        &["--policy", "identity", "--scenario", "pi-session.jsonl"],
        &["pi-session.jsonl", "--details"],
        &["pi-session.jsonl", "--suite", "default"],
        &["pi-session.jsonl", "--seed", "1"],
        &["pi-session.jsonl", "--min-evidence", "0.5"],
        &["pi-session.jsonl", "--profile", "anthropic/claude-opus-4.5"],
        &["duckagent/incremental_workspace_audit"],
        &["duckagent/incremental_workspace_audit", "pi-session.jsonl"],
    ] {
        assert_eq!(meant(args), "run", "{args:?}");
    }
    let rows = out(&ctxsim(data("recorded"), ["pi-session.jsonl", "--format", "csv"]));
    assert!(rows.starts_with("policy,"), "{rows}");
}

#[test]
fn what_cannot_be_read_is_refused_as_a_run_refuses_it() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("notes.json"), "{}").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for args in
        [&["empty"][..], &["./missing"], &["notes.json"], &["./missing.jsonl"], &["empty", "--widht", "3"]]
    {
        let (own, run) = (ctxsim(folder.path(), args), ctxsim(folder.path(), [&["run"], args].concat()));
        assert_eq!(own.status.code(), Some(2), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&own.stderr), String::from_utf8_lossy(&run.stderr), "{args:?}");
    }
}

/// The recordings are too large for the test data.
#[test]
fn the_page_about_the_screen_shows_it_on_the_reference_sessions() {
    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE") else { return };
    let text = out(&ctxsim(Path::new(&reference).join("recorded"), ["claude-code", "claude-code-2"]));
    let path = root().join("docs/reference/screen.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- screen -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- /screen -->").unwrap();
    let now = format!("{before}<!-- screen -->\n```text\n{text}```\n<!-- /screen -->{after}");

    fits(&text);
    is_plain(&text);
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        fs::write(&path, &now).unwrap();
        return;
    }
    assert!(page == now, "screen.md: set CTXSIM_BLESS to write what is printed:\n{text}");
}

/// Whoever asks, the same lever has the same word, dollars and interval: on the shared sessions where they are there, else on made-up ones.
#[test]
fn the_first_screen_advice_its_page_and_its_json_say_the_same_of_each_lever() {
    let folder = tempdir().unwrap();
    crate::advise::write_saving(folder.path());
    let shared = std::env::var("CTXSIM_REFERENCE").ok().map(|it| format!("{it}/recorded/claude-code"));
    for sessions in [Some(folder.path().display().to_string()), shared].into_iter().flatten() {
        let json = |command: &str| -> Value {
            let text = out(&ctxsim(folder.path(), [command, &sessions, "--format", "json"]));
            serde_json::from_str(&text).unwrap()
        };
        let (screen, advice) = (json("screen"), json("advise"));
        let [text, page] = ["table", "html"]
            .map(|it| out(&ctxsim(folder.path(), ["advise", &sessions, "--details", "--format", it])));
        let said = out(&ctxsim(folder.path(), ["screen", &sessions]));
        let levers = screen["levers"].as_array().unwrap();
        assert!(!levers.is_empty(), "{screen}");
        for lever in levers {
            let all = advice["agents"][0]["levers"].as_array().unwrap();
            let is_same =
                |it: &&Value| ["set", "name", "of", "whom"].iter().all(|field| it[field] == lever[field]);
            let same = all.iter().find(is_same).unwrap();
            for field in
                ["word", "why", "saved_month", "saved_interval", "change", "interval", "evidence_kept"]
            {
                assert_eq!(lever[field], same[field], "{field}");
            }
            let dollars = lever["saved_month"].as_f64().unwrap();
            let shown = format!("{}${:.2}", if dollars <= -0.005 { "−" } else { "" }, dollars.abs());
            assert!(text.contains(&shown) && page.contains(&shown), "{shown}: {text}");
        }
        let best = levers.iter().find(|it| it["word"] == "do");
        assert!(best.is_none() || said.contains("do  "), "{said}");
    }
}

/// Writes a Codex session that works in so many windows of five hours, of which each 50,000 tokens take two percent.
fn limits_of_codex(windows: u64, limits: &str) -> (LimitsUsed, String) {
    const HEAD: &str = r#"{"timestamp":"2026-06-01T09:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-06-01T09:00:00Z","type":"turn_context","payload":{"model":"gpt-5.5"}}
"#;
    const REQUEST: &str = r#"{"timestamp":"AT:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}}
{"timestamp":"AT:20Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}
{"timestamp":"AT:30Z","type":"event_msg","payload":{"type":"token_count","rate_limits":LIMITS,"info":{"total_token_usage":{"input_tokens":TOTAL,"output_tokens":1},"last_token_usage":{"input_tokens":INPUT,"output_tokens":1}}}}
"#;
    let (mut text, mut total) = (HEAD.to_owned(), 0);
    for (window, nth) in (0..windows).flat_map(|window| (0..4).map(move |nth| (window, nth))) {
        let input = if nth == 0 { 1_000 } else { (window % 3 + 1) * 50_000 };
        total += input;
        let used = 2 * nth * (window % 3 + 1);
        let ends = 1_780_315_200 + window * 86_400;
        let limits = limits.replace("USED", &used.to_string()).replace("ENDS", &ends.to_string());
        let at = format!("2026-06-{:02}T10:0{nth}", window + 1);
        let request = REQUEST.replace("AT", &at).replace("LIMITS", &limits);
        text += &request.replace("TOTAL", &total.to_string()).replace("INPUT", &input.to_string());
    }
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("rollout.jsonl"), text).unwrap();
    let screen = screen_on(folder.path());
    (screen.bill.limits.clone().unwrap(), terminal_text(&screen, None).replace('\n', " "))
}

#[test]
fn percentages_of_limits_say_how_full_windows_were_in_each_form_that_versions_write() {
    const NEWEST: &str = r#"{"limit_id":"codex","plan_type":"pro","primary":{"used_percent":USED,"window_minutes":300,"resets_at":ENDS}}"#;
    const OLDER: [&str; 2] = [
        r#"{"plan_type":"pro","primary":{"used_percent":USED,"window_minutes":299,"resets_in_seconds":7200}}"#,
        r#"{"plan_type":"pro","primary_used_percent":USED,"primary_window_minutes":300,"primary_resets_in_seconds":7200}"#,
    ];
    const OTHER: &str =
        r#"{"limit_id":"a-model","primary":{"used_percent":9,"window_minutes":300,"resets_at":ENDS}}"#;

    let (used, text) = limits_of_codex(6, NEWEST);
    let window = &used.windows[0];
    assert_eq!((window.window_minutes, window.windows, window.fullest_percent), (300, 6, 18.0));
    let taken = window.percent_per_usd.unwrap().percent * window.fullest_usd;
    assert!((taken - 18.0).abs() < 0.2, "{taken}");
    assert!(text.contains("Five-hour windows: 6 seen, usually 12% full, at most 18%."), "{text}");
    assert!(text.contains("from 2026-06-03 10:00 (UTC): 18% full"), "{text}");
    for older in OLDER {
        assert_eq!(limits_of_codex(6, older).0.windows[0].fullest_percent, 18.0, "{older}");
    }
    assert_eq!(limits_of_codex(4, NEWEST).0.windows[0].percent_per_usd, None, "too few windows");
    for none in ["null", OTHER] {
        let (used, text) = limits_of_codex(6, none);
        assert!(used.windows.is_empty() && used.fullest_blocks[0].used_percent.is_none(), "{used:?}");
        assert!(!text.contains("name a plan") && !text.contains("% full"), "{text}");
    }
}
