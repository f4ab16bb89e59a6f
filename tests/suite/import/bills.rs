//! Every billed request of a recording is read once: the bills are those that a script counts, and nothing that looks like usage is passed over unnamed.

use ctxsim::catalog::InputKind as Listed;
use ctxsim::measure::sub_agents::input_usd;
use ctxsim::report::BillAsLogged;
use ctxsim::report::beside_bill::BillFootnotes;
use ctxsim::report::bill_by::{BillKey, GroupedBill};
use ctxsim::report::fixed::SessionPartBills;
use ctxsim::report::recording::FileContents;
use ctxsim::timeline::AgentTotals;
use ctxsim::timeline::import::index;

use super::*;

/// What `benches/bill_as_logged.py` counts in one file.
#[derive(Debug)]
struct Row {
    file: String,
    format: String,
    requests: u64,
    uncached: u64,
    read: u64,
    written_short: u64,
    written_long: u64,
    output: u64,
    dollars: f64,
    of_agents: u64,
    dollars_of_agents: f64,
    without_price: u64,
}

fn rows() -> Vec<Row> {
    include_str!("../../data/formats/bills.csv").lines().skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split(',').collect();
    let [file, format, counts @ .., dollars, of_agents, dollars_of_agents, without_price] = &cells[..] else {
        panic!("{line}")
    };
    let count = |text: &str| text.parse().unwrap();
    let counts: Vec<u64> = counts.iter().map(|it| count(it)).collect();
    let [requests, uncached, read, written_short, written_long, output] = counts[..] else {
        panic!("{line}")
    };
    Row {
        file: (*file).to_owned(),
        format: (*format).to_owned(),
        requests,
        uncached,
        read,
        written_short,
        written_long,
        output,
        dollars: dollars.parse().unwrap(),
        of_agents: count(of_agents),
        dollars_of_agents: dollars_of_agents.parse().unwrap(),
        without_price: count(without_price),
    }
}

/// The project, or the reference data where it is known, by the names that the script gives files.
fn folder_of(name: &str) -> Option<PathBuf> {
    if name.starts_with("tests/") || name.starts_with("scenarios/") {
        return Some(PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    }
    std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)
}

/// The bundled profiles, whose prices begin when time does, so that each request has those of its own time.
fn profiles() -> Vec<Profile> {
    let catalog = bundled_catalog();
    let specs = catalog.names(Listed::Profile).map(|it| catalog.profile(it).unwrap().spec);
    let of_models = specs.filter(|it| !it.models.is_empty()).map(|mut spec| {
        spec.assumptions.starts_at = Some("1970-01-01T00:00Z".to_owned());
        Profile::new(&spec).unwrap_or_else(|problems| panic!("{}: {problems:?}", spec.name))
    });
    of_models.collect()
}

/// Adds up what a file's sessions were billed, by whether they are sub-agents'.
fn billed(path: &Path, profiles: &[Profile]) -> [BillAsLogged; 2] {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let all = import_all(&text, "test", &Assume::default(), &[]);
    let profile_of = |model: &str| profile_in(profiles, model);
    let mut bills = [BillAsLogged::default(), BillAsLogged::default()];
    for Imported { timeline, .. } in all.unwrap_or_else(|it| panic!("{}: {it:?}", path.display())) {
        if let Some(bill) = BillAsLogged::from_timeline(&timeline, &profile_of) {
            bills[usize::from(timeline.is_of_agent())] += &bill;
        }
    }
    bills
}

/// Holds a row against what is read of its file; returns the dollars of both.
fn assert_row(row: &Row, path: &Path, profiles: &[Profile]) -> [f64; 2] {
    let [main, agents] = billed(path, profiles);
    let mut all = main;
    all += &agents;
    let unpriced = |it: &BillAsLogged| it.unpriced.values().map(|it| it.requests).sum::<u64>();
    let requests = [all.requests + unpriced(&all), agents.requests + unpriced(&agents), unpriced(&all)];
    assert_eq!(requests, [row.requests, row.of_agents, row.without_price], "{}", row.file);
    let with_price = std::iter::once(all.tokens);
    let tokens = with_price.chain(all.unpriced.values().map(|it| it.tokens));
    let TokenUse { read, write: [short, long], uncached, output } =
        tokens.reduce(|one, other| one.zip(other, |one, other| one + other)).unwrap();
    let expected = [row.uncached, row.read, row.written_short, row.written_long, row.output];
    assert_eq!([uncached, read, short, long, output], expected, "{}", row.file);
    let (of_all, of_agents) = (all.total(), agents.total());
    for (ours, theirs) in [(of_all.usd(), row.dollars), (of_agents.usd(), row.dollars_of_agents)] {
        assert!((ours - theirs).abs() < 0.000_01, "{}: {ours} and {theirs} dollars", row.file);
    }
    [of_all.usd(), row.dollars]
}

#[test]
fn bills_are_those_that_a_script_counts_to_the_cent() {
    let profiles = profiles();
    let mut sums: BTreeMap<String, (u64, [f64; 2])> = BTreeMap::new();
    for row in rows() {
        let Some(folder) = folder_of(&row.file) else { continue };
        let dollars = assert_row(&row, &folder.join(&row.file), &profiles);
        let sum = sums.entry(row.format.clone()).or_default();
        sum.0 += row.requests;
        (0..2).for_each(|it| sum.1[it] += dollars[it]);
    }
    assert!(sums.len() >= 6, "{sums:?}");
    for (format, (requests, [ours, theirs])) in sums {
        assert!(
            (ours - theirs).abs() < 0.005,
            "{format}: {requests} requests, {ours:.2} and {theirs:.2} dollars"
        );
    }
}

/// Finds the profile of a model.
fn profile_in<'p>(profiles: &'p [Profile], model: &str) -> Option<&'p Profile> {
    let fitting = profiles.iter().rev().filter_map(|it| Some((it.fits(model)?, it)));
    fitting.max_by_key(|it| it.0).map(|it| it.1)
}

#[test]
fn the_fixed_part_the_messages_and_the_output_add_up_to_the_bill_to_the_picodollar() {
    let profiles = profiles();
    let profile_of = |model: &str| profile_in(&profiles, model);
    let paths = files_below(&data("recorded"), &["json", "jsonl"]);
    let mut seen = BTreeSet::new();
    for path in &paths {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        for it in import_all(&text, "test", &Assume::default(), &[]).unwrap_or_default() {
            let Some(fixed) = SessionPartBills::from_timeline(&it.timeline, &profile_of) else { continue };
            let recorded = it.timeline.recorded.as_ref().unwrap();
            let mut own = it.timeline.clone();
            own.recorded.iter_mut().for_each(|it| it.aside = Box::default());
            let bill = BillAsLogged::from_timeline(&own, &profile_of).unwrap();
            let mut all = fixed.total_fixed_bill();
            all += fixed.messages;
            let name = path.display();
            assert_eq!(all.total() + fixed.output, bill.total(), "{name}");
            assert_eq!(TokenUse { output: bill.tokens.output, ..all.tokens }, bill.tokens, "{name}");
            let first = recorded.usage.iter().flatten().next().unwrap();
            assert!(
                fixed.first_prompt_fixed_tokens() <= first.prompt && fixed.first_prompt == first.prompt,
                "{name}"
            );
            seen.extend(fixed.first.keys().map(|it| it.name()));
        }
    }
    assert!(seen.len() >= 5, "kinds of parts: {seen:?}");
}

#[test]
fn groups_of_a_bill_add_up_to_it_to_the_picodollar_whatever_it_is_divided_by() {
    let profiles = profiles();
    let profile_of = |model: &str| profile_in(&profiles, model);
    let paths = files_below(&data("recorded"), &["json", "jsonl"]);
    let contents = paths.iter().filter_map(|path| {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let all = import_all(&text, "test", &Assume::default(), &[]).ok()?;
        let mut file = FileContents::new(&path.display().to_string(), &all, &profile_of);
        file.assign_owners(&index(&mut text.as_bytes()).unwrap());
        Some(file)
    });
    let files: Vec<FileContents> = contents.collect();
    let add = |mut sum: BillAsLogged, it: &BillAsLogged| {
        sum += it;
        sum
    };
    let sessions = files.iter().flat_map(|it| &it.sessions);
    let bill = sessions.filter_map(|it| it.as_logged.as_ref()).fold(BillAsLogged::default(), add);
    assert!(bill.requests > 100 && bill.n_requests_without_price() > 0, "{bill:?}");

    use BillKey::{Day, Lane, Model, Month, Project, User, Version, Week};
    let keys =
        [(Model, 5), (Lane, 2), (Project, 2), (User, 2), (Day, 5), (Week, 4), (Month, 3), (Version, 3)];
    for (key, n_least) in keys {
        let by = GroupedBill::new(files.iter().flat_map(FileContents::session_bills), key, None);
        assert_eq!(by.total, bill, "{key:?}");
        let groups = by.groups.iter().map(|it| &it.1).fold(BillAsLogged::default(), add);
        assert_eq!(groups, BillAsLogged { beside: BillFootnotes::default(), ..bill.clone() }, "{key:?}");
        assert!(by.groups.len() >= n_least, "{key:?}: {:?}", by.groups);
        let names: BTreeSet<&String> = by.groups.iter().map(|it| &it.0).collect();
        assert_eq!(names.len(), by.groups.len(), "{key:?}: a group stands once");
    }
}

#[test]
fn sub_agents_of_older_versions_of_claude_code_are_in_the_bill() {
    let own: Vec<Row> =
        rows().into_iter().filter(|it| it.file.starts_with("recorded/claude-code-2/")).collect();
    let Some(folder) = own.first().and_then(|it| folder_of(&it.file)) else { return };
    let (mut sessions, mut requests, mut writes) = (0, 0, [0, 0]);
    for row in &own {
        let text = std::fs::read_to_string(folder.join(&row.file)).unwrap();
        let all = import_all(&text, "test", &Assume::default(), &[]).unwrap();
        for timeline in all.iter().map(|it| &it.timeline).filter(|it| it.is_of_agent()) {
            let usage = timeline.recorded.as_ref().unwrap().usage.iter().flatten();
            sessions += 1;
            for it in usage {
                requests += 1;
                (0..2).for_each(|nth| writes[nth] += it.writes(None)[nth]);
            }
        }
    }

    // 107 stand in `progress`, for $7.20; the last request of each stands only in what its call gave back.
    assert_eq!((sessions, requests, writes[0]), (12, 107 + 12, 0), "all of it written for an hour");
    let dollars: f64 = own.iter().map(|it| it.dollars_of_agents).sum();
    assert!((dollars - 7.868_05).abs() < 0.000_1 && writes[1] > 0, "{dollars}");
}

#[test]
fn the_estimate_by_totals_holds_what_sub_agents_were_billed_where_their_requests_are_logged() {
    let profiles = profiles();
    let mut sums = [0.0; 4];
    let mut n = 0;
    for row in rows().into_iter().filter(|it| it.file.starts_with("recorded/claude-code-2/")) {
        let Some(folder) = folder_of(&row.file) else { return };
        let text = std::fs::read_to_string(folder.join(&row.file)).unwrap();
        let mut totals: BTreeMap<String, AgentTotals> = BTreeMap::new();
        for record in text.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok()) {
            let told = &record["toolUseResult"];
            let (Some(tokens), Some(agent)) = (told["totalTokens"].as_u64(), told["agentId"].as_str()) else {
                continue;
            };
            let is_long = told["usage"]["cache_creation"]["ephemeral_1h_input_tokens"].as_u64() > Some(0);
            let tools = told["totalToolUseCount"].as_u64().unwrap();
            let it = AgentTotals { tokens, tools, agents: 1, is_long, ..AgentTotals::default() };
            totals.insert(agent.to_owned(), it);
        }
        let all = import_all(&text, "test", &Assume::default(), &[]).unwrap();
        for timeline in all.iter().map(|it| &it.timeline).filter(|it| it.is_of_agent()) {
            let bill = BillAsLogged::from_timeline(timeline, &|it| profile_in(&profiles, it)).unwrap();
            let of = &totals[&timeline.spine.sessions[0].id];
            let prices = &profile_in(&profiles, &timeline.models[0].name).unwrap().prices;
            let estimate = input_usd(of, prices.on(timeline.began_ms.unwrap())).unwrap();
            sums[3] += bill.total().usd() - bill.bill.output.usd();
            (0..3).for_each(|at| sums[at] += estimate[at]);
            n += 1;
        }
    }
    let [value, low, high, logged] = sums;
    assert!(
        n == 0 || n == 12 && low < logged && logged < high && (value / logged - 1.0).abs() < 0.1,
        "{sums:?}"
    );
}

/// What the losses say of bills that are left out by what they are, and not by where they stand.
const NAMED: [&str; 4] = [
    "which are no requests",
    "which are that one's",
    "which are its requests",
    "replies that no model wrote",
];

/// Returns whether an object says what went in and what came out, or a total of both.
fn is_usage(object: &serde_json::Map<String, Value>) -> bool {
    let numbers = object.iter().filter(|it| it.1.is_number());
    let names: Vec<String> = numbers.map(|it| it.0.to_lowercase().replace(['_', '-'], "")).collect();
    let any = |begins: &[&str]| names.iter().any(|it| begins.iter().any(|begin| it.starts_with(begin)));
    any(&["totaltokens"]) || any(&["input", "prompt"]) && any(&["output", "completion", "candidates"])
}

/// Finds the objects with usage, each with where it stands.
fn usages<'v>(value: &'v Value, place: &str, found: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(object) if is_usage(object) => found.push((place.to_owned(), value)),
        Value::Object(object) => {
            let dot = if place.is_empty() { "" } else { "." };
            object.iter().for_each(|(key, it)| usages(it, &format!("{place}{dot}{key}"), found));
        }
        Value::Array(list) => list.iter().for_each(|it| usages(it, &format!("{place}[]"), found)),
        _ => {}
    }
}

/// Finds the numbers in an object, but for those of sums.
fn numbers(value: &Value, found: &mut BTreeSet<u64>) {
    match value {
        Value::Object(object) => {
            let parts = object.iter().filter(|it| !it.0.starts_with("total"));
            parts.for_each(|it| numbers(it.1, found));
        }
        Value::Array(list) => list.iter().for_each(|it| numbers(it, found)),
        _ => found.extend(value.as_u64()),
    }
}

/// Returns whether a place is one of the table's.
fn is_at(pattern: &str, place: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == place,
        Some((begin, end)) => {
            place.strip_prefix(begin).and_then(|it| it.strip_suffix(end)).is_some_and(|it| !it.is_empty())
        }
    }
}

/// Finds the objects with usage in a file; returns how many there are, and adds those that are neither read nor named.
fn find_unread(path: &Path, unread: &mut Vec<String>) -> usize {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let Ok(all) = import_all(&text, "test", &Assume::default(), &[]) else { return 0 };
    let format = all[0].format;
    let bills: Vec<Usage> = all
        .iter()
        .filter_map(|it| it.timeline.recorded.as_ref())
        .flat_map(|it| it.usage.iter().flatten().chain(it.aside.iter().map(|it| &it.usage)))
        .copied()
        .collect();
    let whole = serde_json::from_str::<Value>(&text).map(|it| vec![it]);
    let values =
        whole.unwrap_or_else(|_| text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect());
    let mut found = Vec::new();
    values.iter().for_each(|it| usages(it, "", &mut found));
    let (mut left, places) = (Vec::new(), table("usage_places"));
    for (place, object) in &found {
        let is_known = |it: &&(&str, &str)| {
            let (of, pattern) = it.0.split_once(' ').unwrap_or((it.0, ""));
            of == format && is_at(pattern, place)
        };
        let Some((_, what)) = places.iter().find(is_known) else {
            unread.push(format!("{}: usage at `{place}` of {format}", path.display()));
            continue;
        };
        let mut of_object = BTreeSet::new();
        numbers(object, &mut of_object);
        let has = |n: u64| of_object.contains(&n);
        let is_of = |it: &Usage| {
            [it.cache_read, it.cache_write].into_iter().all(|n| n == 0 || has(n))
                && (has(it.uncached) || has(it.prompt))
        };
        let is_zero = of_object.iter().all(|it| *it == 0);
        if *what == "billed" && !is_zero && !bills.iter().any(is_of) {
            left.push(object.to_string());
        }
    }
    if !all[0].losses.iter().any(|loss| NAMED.iter().any(|it| loss.what.contains(it))) {
        unread.extend(left.into_iter().map(|it| format!("{}: {it}", path.display())));
    }
    found.len()
}

/// Holds that every object with usage below some folders is read, or is named; returns how many there are.
fn assert_all_read(folders: &[PathBuf]) -> usize {
    let mut unread = Vec::new();
    let files = folders.iter().flat_map(|it| files_below(it, &["json", "jsonl"]));
    let n = files.map(|it| find_unread(&it, &mut unread)).sum();
    assert!(unread.is_empty(), "{unread:#?}");
    n
}

#[test]
fn every_object_with_usage_is_read_as_a_billed_request_or_is_named_with_why_it_is_none() {
    let root = root();
    assert!(
        assert_all_read(
            &["tests/data/recorded", "tests/data/shapes", "scenarios/recorded"].map(|it| root.join(it))
        ) > 300
    );

    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    assert!(assert_all_read(&["recorded", "formats"].map(|it| reference.join(it))) > 15_000);
}
