//! Text from outside (names, sessions) is shown in every output and obeyed in none: each output is read by a parser of its format.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use roxmltree::{Document, ParsingOptions};

use crate::support::*;

/// How many projects and sessions are made up.
const N_DRAWN: u64 = 3;

/// What stands in every name, so that an output can be asked for it.
const NAMED: &str = "Zed";

/// What names may have, and media would obey.
const IN_NAMES: [&str; 20] = [
    "<!-- ",
    "<img src=x onerror=alert(1)>",
    "![i](data:x)",
    "[l](x)",
    "@octocat ",
    "$x$ ",
    "| a | b ",
    "`code` ",
    "`",
    "**b** ",
    "~~s~~ ",
    "#1 ",
    "&lt;b&#62; ",
    "]]> ",
    "\"q\" ",
    "it's ",
    "https:x ",
    "日本語 ",
    "Übung ",
    "##[error]n ",
];

/// What logs may have besides.
const IN_LOGS: [&str; 16] = [
    "\u{1b}[2J",
    "\u{1b}]8;;http://evil/\u{1b}\\",
    "\u{1b}]52;c;aGVsbG8=\u{7}",
    "\u{9b}2J",
    "\n::error::INJ",
    "\n## INJ",
    "\r",
    "\u{202e}",
    "\u{200b}",
    "\u{2028}",
    "\u{fffe}",
    "\u{0}",
    "</code></pre><script>alert(1)</script>",
    "\n```\n# INJ",
    "http://evil/",
    "\n\n<details>",
];

/// A colour of ours in every word of a log: where there are colours, only ours are.
const PAINT: &str = "\u{1b}[32mPAINT";

/// What spreadsheets take for a formula.
const FORMULAS: [&str; 3] = ["=", "+", "@"];

/// Numbers that follow from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    /// Returns the name of an input.
    fn name(&mut self) -> String {
        let parts: Vec<&str> = (0..3).map(|_| IN_NAMES[self.below(IN_NAMES.len())]).collect();
        format!("{}{NAMED}{}", FORMULAS[self.below(FORMULAS.len())], parts.concat().trim_end())
    }

    /// Returns a word of a log.
    fn word(&mut self) -> String {
        let log = IN_LOGS[self.below(IN_LOGS.len())];
        let name = IN_NAMES[self.below(IN_NAMES.len())];
        format!("w{PAINT}{log}{name}{}e", IN_LOGS[self.below(IN_LOGS.len())])
    }
}

/// A repository and a session, all of whose names and words are hostile.
struct Hostile {
    folder: TempDir,
    name: String,
    session: String,
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn hostile(seed: u64) -> Hostile {
    let mut draws = Draws(seed);
    let folder = tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let name = draws.name();
    let told = quoted(&name);
    put("ctxsim.toml", "folders = [\"ctx\"]\n");
    put(
        &format!("ctx/policies/{name}.ron"),
        &format!(
            "(name: {told}, about: {told}, base: \"clear_tool_results\", params: {{\"trigger\": tokens(4_000), \"clear_at_least\": tokens(100)}})"
        ),
    );
    let call = format!("(tool: {told}, args_tokens: 20, result: (raw: 3_000))");
    let turn = "(user_tokens: 90, answer_tokens: 50)";
    put(
        &format!("ctx/scenarios/{name}.ron"),
        &format!(
            "(name: {told}, about: {told}, load: turns([(user_tokens: 500, answer_tokens: 50, rounds: 2, calls: [{call}]), {turn}]))"
        ),
    );
    put(
        &format!("ctx/suites/{name}.toml"),
        &format!(
            "name = {told}\nabout = {told}\npolicies = [\"identity\", {told}]\nscenarios = [\"../../s/session.jsonl\"]\n\
             profiles = [\"anthropic/claude-sonnet-5.5\"]\n\n[[guards]]\nname = {told}\npolicy = {told}\n\
             metric = \"totals.prompt_tokens_max\"\nbelow = 1\n\n[[guards]]\nname = {}\npolicy = {told}\n\
             metric = \"totals.prompt_tokens_max\"\nat_least = 1\n",
            quoted(&format!("{name} holds"))
        ),
    );
    for (file, base) in [("fitted", "aging/careful"), ("stored", "context_decay/file_backed")] {
        let told = quoted(&format!("{name} {file}"));
        put(
            &format!("ctx/policies/{name} {file}.ron"),
            &format!("(name: {told}, about: {told}, base: \"{base}\")"),
        );
    }
    put("answers.csv", &answers(&mut draws));
    put("one/prices.json", &prices(&name).to_string());
    for model in [&name, "claude-haiku-4-5"] {
        put(&format!("two/anthropic/models/{model}.toml"), PRICED);
    }
    put("advice.json", &forecast(&mut draws).to_string());
    let log = session(&mut draws);
    // The same work a year later, as another session.
    let later =
        log.replace("2026-03-06T", "2027-03-06T").replace("\"sessionId\":\"s\"", "\"sessionId\":\"later\"");
    put("later/session.jsonl", &later.replace("\"uuid\":\"", "\"uuid\":\"l"));
    put("s/session.jsonl", &log);
    let session = folder.path().join("s/session.jsonl").display().to_string();
    Hostile { folder, name, session }
}

/// Returns a table of questions and answers, whose facts have words of a log.
fn answers(draws: &mut Draws) -> String {
    let mut table = "session,fact,lag,right,held\n".to_owned();
    for nth in 0..12 {
        // A row of such a table is one line.
        let fact = format!("{nth}{}", draws.word()).replace(['\n', '\r'], " ").replace('"', "\"\"");
        let held = if nth % 4 == 1 { "no" } else { "yes" };
        let right = if held == "no" || nth % 5 == 0 { "no" } else { "yes" };
        table += &format!("1,\"{fact}\",0,yes,yes\n{},\"{fact}\",{},{right},{held}\n", 2 + nth, 1 + nth);
    }
    table
}

/// Returns a price list of a model with a hostile name, in the form of LiteLLM.
fn prices(name: &str) -> Value {
    let price = json!({"litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200_000,
        "input_cost_per_token": 1e-6, "output_cost_per_token": 5e-6, "cache_read_input_token_cost": 1e-7});
    json!({name: price, "claude-haiku-4-5": price})
}

/// The price of a model in the form of models.dev, which differs.
const PRICED: &str = "name = \"m\"\n[cost]\ninput = 2\noutput = 5\ncache_read = 0.1\n[limit]\ncontext = 200_000\noutput = 64_000\n";

/// Returns a forecast of before the sessions, which has words of a log.
fn forecast(draws: &mut Draws) -> Value {
    let bills = json!({"sessions": 12, "size": 480.0, "usd": 31.5, "residual": 4.25});
    let kinds: Vec<Value> = ["agent, claude-opus-4-6, short".to_owned(), draws.word()]
        .iter()
        .map(|name| json!({"name": name, "bills": bills, "change": -0.2}))
        .collect();
    json!({"schema": "ctxsim.forecast/1", "agent": "Claude Code", "set": [draws.word(), "cacheTtl=1h"], "until_ms": 1_500_000_000_000_i64,
        "versions": [draws.word()], "change": -0.21, "interval": [-0.3, -0.12], "before": [], "kinds": kinds})
}

/// Returns a log of Claude Code: a few calls, the same file read twice, and words everywhere.
fn session(draws: &mut Draws) -> String {
    let (cwd, branch) = (format!("/work/{}", draws.word()), draws.word());
    let mut lines = vec![json!({"type": draws.word(), "cwd": cwd, "sessionId": "s"})];
    for nth in 0..4 {
        let (tool, id) =
            (if nth % 2 == 0 { "Read".to_owned() } else { draws.word() }, format!("t{nth}{}", draws.word()));
        let at = |second: u64| format!("2026-03-06T14:{:02}:{second:02}.000Z", 10 + nth);
        let common = json!({"cwd": cwd, "gitBranch": branch, "sessionId": "s", "version": "2.1.0", "isSidechain": false});
        let with = |more: Value| {
            let mut line = common.clone();
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line
        };
        let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 4000, "cache_read_input_tokens": 9000 * nth, "output_tokens": 50});
        let model =
            if nth == 3 { format!("claude-opus-4-6{}", draws.word()) } else { "claude-opus-4-6".to_owned() };
        lines.extend([
            with(json!({"type": "user", "uuid": format!("u{nth}"), "timestamp": at(1), "message": {"role": "user", "content": draws.word()}})),
            with(json!({"type": "assistant", "uuid": format!("a{nth}"), "timestamp": at(5), "requestId": format!("r{nth}"), "message": {
                "id": format!("m{nth}"), "role": "assistant", "model": model, "usage": usage,
                "content": [{"type": "text", "text": draws.word()},
                    {"type": "tool_use", "id": id, "name": tool, "input": {"file_path": format!("/work/{}", "a.rs"), "x": draws.word()}}]}})),
            with(json!({"type": "user", "uuid": format!("v{nth}"), "timestamp": at(9), "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": format!("{} {}", draws.word(), "line ".repeat(900))}]}})),
        ]);
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}

/// Returns the verbs with their formats; each result must be readable, whatever it says.
fn lines(it: &Hostile) -> Vec<(Vec<String>, &'static str)> {
    let (name, session) = (it.name.as_str(), it.session.as_str());
    let policy = format!("ctx/policies/{name}.ron");
    let verbs: Vec<(Vec<&str>, &[&'static str])> = vec![
        (
            vec!["run", session, "--policy", "identity", "--policy", &policy],
            &["table", "markdown", "github", "html", "json", "jsonl", "csv", "svg"],
        ),
        (vec!["run", session, "--policy", &policy, "--rows", "requests"], &["json", "jsonl", "csv"]),
        (vec!["run", session, "--policy", &policy, "--details"], &["table"]),
        (
            vec![
                "run",
                "--scenario",
                name,
                "--policy",
                "identity",
                "--profile",
                "anthropic/claude-sonnet-5.5",
            ],
            &["table", "markdown", "csv"],
        ),
        (
            vec!["check", "--suite", name, "--snapshots", "none"],
            &["table", "json", "junit", "sarif", "github", "html"],
        ),
        (
            vec!["compare", "--base", "identity", "--candidate", &policy, session],
            &["table", "json", "markdown", "github", "html"],
        ),
        (
            vec!["sweep", "--policy", &policy, "--vary", "params.trigger.tokens=3000,4000", session],
            &["table", "json", "html"],
        ),
        (
            vec!["sensitivity", session, "--profile", "anthropic/claude-sonnet*"],
            &["table", "json", "csv", "markdown", "html"],
        ),
        (vec!["advise", session], &["table", "markdown", "json", "html"]),
        (vec!["explain", session, "--policy", &policy, "--request", "4"], &["table", "json"]),
        (vec!["import", session], &["table", "json"]),
        (vec!["import", "--report", session], &["table", "json"]),
        (vec!["import", "--carried", session], &["table", "json"]),
    ];
    let mut all: Vec<(Vec<String>, &str)> = Vec::new();
    for (verb, formats) in verbs {
        for format in formats {
            let args = verb.iter().copied().chain(["--format", format]).map(str::to_owned);
            all.push((args.collect(), format));
        }
    }
    let plain: [(Vec<&str>, &str); 4] = [
        (vec!["list", "policies"], "table"),
        (vec!["show", "policy", name], "table"),
        (vec!["validate", "ctx"], "table"),
        (vec!["show", session, "--redact"], "jsonl"),
    ];
    all.extend(plain.map(|(args, format)| (args.into_iter().map(str::to_owned).collect(), format)));
    all.extend(of_files(it));
    all
}

/// Returns the verbs that read what others of them have written, in their order; what only writes a file shows nothing.
fn of_files(it: &Hostile) -> Vec<(Vec<String>, &'static str)> {
    let (name, session) = (it.name.as_str(), it.session.as_str());
    let [policy, fitted, stored] =
        ["", " fitted", " stored"].map(|it| format!("ctx/policies/{name}{it}.ron"));
    let tune = ["tune", session, "later", "--policy", &policy, "--vary", "params.trigger.tokens=3000,4000"];
    let store = ["--scenario", "context_decay/paper", "--length", "50"];
    let lines: Vec<(Vec<&str>, &[&'static str])> = vec![
        (tune.to_vec(), &["table"]),
        ([&tune[..], &["--json"]].concat(), &["json"]),
        ([&tune[..], &["--parts", "parts/tune"]].concat(), &[WRITES]),
        (vec!["run", "--merge", "parts/tune"], &["table", "json", "html"]),
        (
            vec![
                "run",
                session,
                "later",
                "--policy",
                "identity",
                "--policy",
                &policy,
                "--parts",
                "parts/run",
            ],
            &[WRITES],
        ),
        (vec!["run", "--merge", "parts/run"], &["table", "json", "html"]),
        (vec!["realised", "advice.json", "later"], &["table", "markdown", "json", "html"]),
        (vec!["tune", "--fit", "answers.csv", "--policy", &fitted], &["table"]),
        (vec!["tune", "--fit", "answers.csv", "--policy", &fitted, "--json"], &["json"]),
        (
            [&["run", "--store", "write", "--policy", &stored, "--output", "store"], &store[..]].concat(),
            &[WRITES],
        ),
        (vec!["run", "--store", "read", "store"], &["table"]),
        (vec!["prices", "import", "one/prices.json", "--as-of", "2026-11-21"], &["table"]),
        (vec!["prices", "import", "two", "--as-of", "2026-11-21"], &["table"]),
    ];
    let formatted = |args: &[&str], format: &'static str| {
        let takes = args.contains(&"--merge") || args[0] == "realised";
        let more = if takes { vec!["--format", format] } else { Vec::new() };
        (args.iter().copied().chain(more).map(str::to_owned).collect(), format)
    };
    let all = lines.iter().flat_map(|(args, formats)| formats.iter().map(|it| formatted(args, it)));
    all.collect()
}

/// The format of what writes a file.
const WRITES: &str = "";

/// Reads a text as a terminal and a runner do: nothing is obeyed or hidden.
fn on_terminal(of: &str, text: &str) {
    let is_shown = |it: char| {
        it == '\n'
            || !it.is_control()
                && !matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let mut before = "";
    for line in text.split('\n') {
        assert!(line.chars().all(is_shown), "{of}: {line:?}");
        assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{of}: {line:?}");
        // A line end of a log would begin a line of its own; a cell that is wrapped behind its sign is one cell.
        let begins = line.trim_start_matches([' ', '#', '>', '-', '*']).starts_with("INJ");
        assert!(!begins || before.contains('␊'), "{of}: {before:?} {line:?}");
        before = line;
    }
}

/// Reads Markdown: no HTML but folds, small type and the remark, and nothing that leads away.
fn in_markdown(of: &str, text: &str) {
    let mut in_code = false;
    let mut cells = (0, 0);
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let html = html.trim();
                let is_ours = ["</details>", "<sub>", "</sub>"].contains(&html)
                    || html.starts_with("<details><summary>") && html.ends_with("</summary>");
                assert!(is_ours, "{of}: {html}");
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                panic!("{of}: a link to {dest_url}")
            }
            Event::Start(Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_) | Tag::BlockQuote(_)) => {
                panic!("{of}: {event:?}")
            }
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {
                panic!("{of}: {event:?}")
            }
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::TableHead) => cells = (0, 0),
            Event::End(TagEnd::TableHead) => cells.0 = cells.1,
            Event::Start(Tag::TableRow) => cells.1 = 0,
            Event::End(TagEnd::TableRow) => assert_eq!(cells.0, cells.1, "{of}"),
            Event::Start(Tag::TableCell) => cells.1 += 1,
            Event::Text(words) if !in_code => {
                let mentions = words
                    .match_indices('@')
                    .any(|(at, _)| words[at + 1..].starts_with(char::is_alphanumeric));
                assert!(!mentions && !words.starts_with("INJ"), "{of}: {words}");
            }
            _ => {}
        }
    }
}

/// Reads XML: no element that loads or leads away.
fn in_xml(of: &str, text: &str) {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{of}: {error}"));
    for it in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(
            !matches!(it.tag_name().name(), "img" | "iframe" | "form" | "object"),
            "{of}: {:?}",
            it.tag_name()
        );
        assert!(it.attributes().all(|it| !it.name().starts_with("on")), "{of}");
        let leads = it.attribute("href").filter(|it| !it.starts_with('#') && *it != "data:,");
        assert_eq!(leads, None, "{of}");
    }
    assert!(document.descendants().filter(|it| it.has_tag_name("script")).count() <= 1, "{of}");
}

/// Reads comma-separated values: rows of one width, and no formula.
fn in_csv(of: &str, text: &str) {
    let mut rows: Vec<Vec<String>> = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        let row = rows.last_mut().unwrap();
        match it {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => row.last_mut().unwrap().push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(String::new()),
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            it => row.last_mut().unwrap().push(it),
        }
    }
    rows.pop();
    assert!(!is_quoted && rows.len() > 1, "{of}: {text}");
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{of}: {row:?}");
        for cell in row {
            let is_number = cell.split("; ").all(|it| it.parse::<f64>().is_ok());
            assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{of}: {cell:?}");
        }
    }
}

/// Reads JSON, one value or one a line.
fn in_json(of: &str, text: &str) {
    for it in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        it.unwrap_or_else(|error| panic!("{of}: {error}"));
    }
}

/// Takes the commands of a runner out of a text, each of which annotates a file, and returns the rest.
fn without_commands(of: &str, text: &str) -> String {
    let (commands, rest): (Vec<&str>, Vec<&str>) =
        text.split('\n').partition(|it| it.starts_with("::error file="));
    for command in commands {
        let (properties, message) = command["::error ".len()..].split_once("::").unwrap();
        assert!(properties.split(',').all(|it| it.contains('=') && !it.contains(':')), "{of}: {command}");
        assert!(!message.is_empty(), "{of}: {command}");
    }
    rest.join("\n")
}

#[expect(clippy::print_stdout, reason = "a law says how many cases it held")]
#[test]
fn whatever_names_and_logs_say_each_output_is_what_its_format_reads() {
    let mut n_read = 0;
    for seed in 0..N_DRAWN {
        let it = hostile(seed);
        let mut n_named = 0;
        for (args, format) in lines(&it) {
            let of = format!("{seed}: {}", args.join(" "));
            let output = ctxsim(it.folder.path(), &args);
            let (text, told) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            let is_told = !text.is_empty() || format == WRITES;
            assert!(matches!(output.status.code(), Some(0 | 1)) && is_told, "{of}: {told}");
            on_terminal(&of, &told);
            let text = if format == "github" { without_commands(&of, &text) } else { text };
            on_terminal(&of, &text);
            match format {
                "markdown" | "github" => in_markdown(&of, &text),
                "html" | "svg" | "junit" => in_xml(&of, &text),
                "csv" => in_csv(&of, &text),
                "json" | "jsonl" | "sarif" => in_json(&of, &text),
                _ => {}
            }
            if seed == 0 && format == "table" {
                let args: Vec<&str> = args.iter().map(String::as_str).chain(["--color", "always"]).collect();
                let Output { stdout, stderr, .. } = ctxsim(it.folder.path(), &args);
                let texts = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
                assert!(!texts.iter().any(|it| it.contains(PAINT)), "{of}: {texts:?}");
            }
            n_named += usize::from(text.contains(NAMED));
            n_read += 1;
        }
        assert!(n_named > 25, "{n_named} outputs show the name");
        json_has_the_name(&it);
    }
    println!("{n_read} outputs of {N_DRAWN} projects were read");
}

/// Holds that JSON tells a name as it is.
fn json_has_the_name(it: &Hostile) {
    let args = ["run", &it.session, "--policy", &format!("ctx/policies/{}.ron", it.name), "--format", "json"];
    let report: Value = serde_json::from_slice(&ctxsim(it.folder.path(), args).stdout).unwrap();
    assert_eq!(report["runs"][0]["policy"], it.name.as_str());
}

/// Names that no input may have.
const NAMELESS: [&str; 5] = [
    "a\n::error::pwn\n## INJ",
    "s\u{1b}[2J\u{1b}]52;c;aGVsbG8=\u{7}",
    "a\u{fffe}b",
    "a\u{202e}b",
    "a\u{200b}b",
];

#[cfg(unix)]
#[test]
fn an_input_whose_name_cannot_be_shown_is_refused_by_name_and_a_session_of_a_folder_is_left_out() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/recorded/claude-code-session.jsonl");
    for name in NAMELESS {
        let folder = tempdir().unwrap();
        fs::create_dir_all(folder.path().join("ctx/policies")).unwrap();
        fs::create_dir(folder.path().join("s")).unwrap();
        fs::copy(sample, folder.path().join("s/fine.jsonl")).unwrap();
        fs::copy(sample, folder.path().join(format!("s/{name}.jsonl"))).unwrap();

        let output = ctxsim(folder.path(), ["run", "s", "--policy", "identity"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{name:?}");
        assert!(
            text.replace('\n', " ").contains("1 skipped: its name has control characters"),
            "{name:?}: {text}"
        );
        on_terminal(name, &text);

        let refused = |args: &[&str]| {
            let output = ctxsim(folder.path(), args);
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{name:?}: {told}");
            assert_says(&told, &["error[name-characters]", "--> ", "rename it"]);
            on_terminal(name, &told);
            output.stdout
        };
        assert!(refused(&["run", &format!("s/{name}.jsonl"), "--policy", "identity"]).is_empty());
        let file = format!("ctx/policies/{name}.ron");
        fs::write(folder.path().join(&file), "(name: \"a\", about: \"\")").unwrap();
        assert!(refused(&["validate", "ctx"]).is_empty());
        assert!(refused(&["run", "--policy", &file, "s/fine.jsonl"]).is_empty());
        fs::write(folder.path().join("ctxsim.toml"), "folders = [\"ctx\"]").unwrap();
        in_xml(name, &String::from_utf8(refused(&["check", "--format", "junit"])).unwrap());
        let summary = String::from_utf8(refused(&["check", "--format", "github"])).unwrap();
        in_markdown(name, &without_commands(name, &summary));
    }
}

#[cfg(unix)]
#[test]
fn names_have_letters_of_every_language_blanks_and_signs() {
    for name in ["Übung 3 (neu)", "日本語", "می‌خواهم", "👩‍💻 a+b=c", "it's \"q\" $x & <y>"]
    {
        let folder = tempdir().unwrap();
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/recorded/claude-code-session.jsonl");
        fs::copy(sample, folder.path().join(format!("{name}.jsonl"))).unwrap();

        let report: Value =
            parsed(&ctxsim(folder.path(), ["run", ".", "--policy", "identity", "--format", "json"]));
        assert_eq!(report["runs"][0]["scenario"], name);
    }
}

#[test]
fn a_redacted_log_names_models_as_everybody_does() {
    let folder = tempdir().unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/recorded/claude-code-session.jsonl");
    let text = fs::read_to_string(sample).unwrap();
    let model = text.split("\"model\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let redacted = |name: &str| {
        fs::write(folder.path().join("s.jsonl"), text.replace(&model, name)).unwrap();
        let output = ctxsim(folder.path(), ["show", "s.jsonl", "--redact"]);
        String::from_utf8(output.stdout).unwrap()
    };

    for own in
        ["ft:gpt-4.1:acme-corp:support:Ab12", "acme-gateway/in-house-9", &format!("acme-gateway/{model}")]
    {
        let text = redacted(own);
        assert!(!text.to_lowercase().contains("acme") && text.contains("\"model\":\""), "{own}: {text}");
    }
    assert!(redacted(&model).contains(&format!("\"model\":\"{model}\"")));
    assert!(redacted("acme-gateway/in-house-9").contains("\"model\":\"model-1\""));
}
