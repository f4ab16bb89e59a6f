//! The generated pages of the reference are what the program and the bundled files say today.

use toml::{Table, Value};

use crate::support::*;

/// The first line of each generated page.
pub(crate) const GENERATED: &str =
    "<!-- Generated: `CTXSIM_BLESS=1 cargo test --test suite references` writes this page. -->";

/// Pages whose tests stand elsewhere, beside what they list.
const ELSEWHERE: [&str; 2] = ["formats.md", "rows.md"];

/// Holds a page against what it should be, or writes it.
fn hold_page(name: &str, text: &str) {
    let path = root().join("docs/reference").join(name);
    let page = format!("{GENERATED}\n\n{}\n", text.trim_end());
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        return fs::write(path, page).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == page, "{name}: set CTXSIM_BLESS to write it");
}

/// Returns what the program prints.
fn printed(args: &[&str]) -> String {
    let mut ctxsim = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    ctxsim.args(args).env("COLUMNS", "100").env("NO_COLOR", "1").current_dir(env!("CARGO_TARGET_TMPDIR"));
    String::from_utf8(ctxsim.output().unwrap().stdout).unwrap()
}

/// Returns the TOML files below a folder with their names below it, in order.
fn tables(folder: &str) -> BTreeMap<String, (String, Table)> {
    let base = root().join(folder);
    let mut found = BTreeMap::new();
    for path in files_below(&base, &["toml"]) {
        let name = path.strip_prefix(&base).unwrap().with_extension("");
        let text = fs::read_to_string(&path).unwrap();
        let table = text.parse().unwrap();
        found.insert(name.to_string_lossy().replace('\\', "/"), (text, table));
    }
    found
}

/// Returns a text of a table; empty if there is none.
fn text<'a>(table: &'a Table, name: &str) -> &'a str {
    table.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Returns a number as it is written, or a dash.
fn number(value: Option<&Value>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    match (value.as_integer(), value.as_float()) {
        (Some(whole), _) => whole.to_string(),
        (_, Some(float)) => format!("{float}"),
        _ => "–".to_owned(),
    }
}

#[test]
fn the_page_of_commands_is_the_help_of_each_verb() {
    let help = printed(&["--help"]);
    let verb = |line: &str| {
        let word = line.strip_prefix("  ")?.split_once("  ")?.0;
        let is_verb = word != "ctxsim" && word.chars().all(|it| it.is_ascii_lowercase());
        is_verb.then(|| word.to_owned())
    };
    let verbs: Vec<String> = help.lines().filter_map(verb).collect();
    assert!(verbs.len() > 12, "{verbs:?}");
    let mut page =
        format!("# Commands\n\nWhat `ctxsim --help` and `ctxsim VERB --help` print.\n\n```text\n{help}```\n");
    for verb in verbs {
        write!(page, "\n## ctxsim {verb}\n\n```text\n{}```\n", indented(&printed(&[&verb, "--help"])))
            .unwrap();
    }
    hold_page("commands.md", &page);
}

/// Indents lines that look like commands, which a block of text may not begin with.
fn indented(help: &str) -> String {
    let line = |it: &str| if it.starts_with("ctxsim ") { format!("  {it}\n") } else { format!("{it}\n") };
    help.lines().map(line).collect()
}

#[test]
fn the_page_of_profiles_lists_the_bundled_price_lists() {
    let mut page = "# Profiles\n\nA profile is one model at one provider on one date: limits, cache rules, prices. `ctxsim show profile NAME` prints the file. \
        Prices are US dollars for a million tokens, of the period that is in force on that day and before any tier; `–` means that the file, or the one that it is based on, gives none.\n\n\
        | profile | as of | longest input | cache rule | input | cache read | cache write | output |\n|---|---|---:|---|---:|---:|---:|---:|\n"
        .to_owned();
    for (name, (_, table)) in tables("profiles") {
        let limits = table.get("limits").and_then(Value::as_table);
        let limit = limits.and_then(|it| it.get("input_tokens").or_else(|| it.get("context_tokens")));
        let rules = table.get("cache").and_then(Value::as_table);
        let rule = rules.and_then(|it| it.keys().next()).map_or("–".to_owned(), |it| format!("`{it}`"));
        let has_begun =
            |it: &&Value| it.get("from").and_then(Value::as_str).unwrap_or("") <= text(&table, "as_of");
        let of_the_day = |it: &Value| it.as_array()?.iter().rev().find(has_begun)?.as_table().cloned();
        let prices = table.get("prices").and_then(of_the_day);
        let price = |name: &str| match prices.as_ref().and_then(|it| it.get(name)) {
            Some(Value::Table(by_lifetime)) => {
                let all = by_lifetime.iter().map(|(ttl, usd)| format!("{} ({ttl})", number(Some(usd))));
                all.collect::<Vec<_>>().join(", ")
            }
            it => number(it),
        };
        let [input, read, write, output] = ["input", "cache_read", "cache_write", "output"].map(price);
        let (date, limit) = (text(&table, "as_of"), number(limit));
        writeln!(page, "| `{name}` | {date} | {limit} | {rule} | {input} | {read} | {write} | {output} |")
            .unwrap();
    }
    let (_, shipped) = &tables("assumptions")["shipped"];
    write!(
        page,
        "\n## Shipped since {}\n\n| vendor | model | day | profile | source |\n|---|---|---|---|---|\n",
        text(shipped, "since")
    )
    .unwrap();
    for model in shipped["models"].as_array().unwrap().iter().filter_map(Value::as_table) {
        let cells = ["vendor", "id", "day", "none", "source"].map(|it| text(model, it));
        let [vendor, id, day, none, source] = cells;
        let profile = if none.is_empty() { format!("`{}`", text(model, "profile")) } else { none.to_owned() };
        writeln!(page, "| {vendor} | `{id}` | {day} | {profile} | {source} |").unwrap();
    }
    hold_page("profiles.md", &page);
}

#[test]
fn the_page_of_settings_lists_what_advice_tries() {
    let mut page =
        "# Settings of agents\n\nWhat `ctxsim advise` tries, by agent, from `assumptions/settings/`.\n"
            .to_owned();
    for (file, (_, table)) in tables("assumptions/settings") {
        let (name, date) = (text(&table, "name"), text(&table, "as_of"));
        write!(page, "\n## {name}\n\nFrom `assumptions/settings/{file}.toml`, as of {date}.\n\n| setting | what it decides | where | values | default | source |\n|---|---|---|---|---|---|\n").unwrap();
        let list = |name: &str| table.get(name).and_then(Value::as_array).into_iter().flatten();
        for it in list("settings").filter_map(Value::as_table) {
            let values = it.get("values").and_then(Value::as_array).into_iter().flatten();
            let values: Vec<String> = values.filter_map(|it| Some(format!("`{}`", it.as_str()?))).collect();
            let cells = ["about", "at"].map(|name| text(it, name).replace('|', "\\|"));
            let [about, at] = cells;
            let (key, default, source) = (text(it, "key"), text(it, "default"), text(it, "source"));
            writeln!(page, "| `{key}` | {about} | {at} | {} | {default} | {source} |", values.join(", "))
                .unwrap();
        }
        let left_out: Vec<&Table> = list("left_out").filter_map(Value::as_table).collect();
        if !left_out.is_empty() {
            page.push_str("\nNot tried:\n\n");
        }
        for it in left_out {
            writeln!(page, "- `{}`: {}", text(it, "key"), text(it, "reason")).unwrap();
        }
    }
    hold_page("settings.md", &page);
}

/// Collects the numbers with an interval of a table, with their paths.
fn intervals(path: &str, table: &Table, found: &mut Vec<[String; 4]>) {
    let [value, low, high] = ["value", "low", "high"].map(|it| table.get(it));
    if value.is_some() && low.is_some() {
        found.push([path.to_owned(), number(value), number(low), number(high)]);
        return;
    }
    for (name, value) in table {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Table(it) => intervals(&path, it, found),
            Value::Array(all) => {
                for (nth, it) in all.iter().enumerate().filter_map(|(nth, it)| Some((nth, it.as_table()?))) {
                    intervals(&format!("{path}.{nth}"), it, found);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn the_page_of_assumptions_lists_every_declared_number_with_an_interval() {
    let mut page = "# Assumptions\n\nWhat is assumed rather than known stands in files below `assumptions/`, each number with its source and, where it has one, its interval. \
        A report says which of them it rests on (`--details`). This page has the first sentences of each file and its numbers with an interval.\n"
        .to_owned();
    for (name, (text, table)) in tables("assumptions") {
        if name == "Cargo" || name.starts_with("settings/") || name.starts_with("tools/") {
            continue;
        }
        let about = text.lines().take_while(|it| it.starts_with("# ")).map(|it| it[2..].trim());
        let about = about.collect::<Vec<_>>().join(" ");
        let mut found = Vec::new();
        intervals("", &table, &mut found);
        if about.is_empty() && found.is_empty() {
            continue;
        }
        write!(page, "\n## {name}\n\n{}\n", about.replace('<', "&lt;")).unwrap();
        if !found.is_empty() {
            page.push_str("\n| number | value | low | high |\n|---|---:|---:|---:|\n");
        }
        for [path, value, low, high] in found {
            writeln!(page, "| `{path}` | {value} | {low} | {high} |").unwrap();
            // One that is no number has a dash.
            if let [Ok(value), Ok(low), Ok(high)] = [value, low, high].map(|it| it.parse::<f64>()) {
                assert!(low <= value && value <= high, "{name}: {path}");
            }
        }
    }
    hold_page("assumptions.md", &page);
}

#[test]
fn each_generated_page_says_so_in_its_first_line() {
    for page in ["commands.md", "profiles.md", "settings.md", "assumptions.md"].into_iter().chain(ELSEWHERE) {
        let text = fs::read_to_string(root().join("docs/reference").join(page)).unwrap();
        assert!(text.starts_with("<!-- Generated: `CTXSIM_BLESS=1 cargo test --test suite "), "{page}");
    }
}
