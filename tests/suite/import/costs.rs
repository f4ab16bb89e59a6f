//! What logs say that their requests cost, against what was billed at the prices of that time.

use super::*;

/// US dollars per million tokens: uncached, read, written and output.
type Rates = [f64; 4];

const SONNET: Rates = [3.0, 0.3, 3.75, 15.0];
const GPT_4O: Rates = [2.5, 1.25, 0.0, 10.0];
/// Until 5 September 2025, as DeepSeek's page said then.
const DEEPSEEK_CHAT: Rates = [0.27, 0.07, 0.0, 1.1];
/// `moonshot/kimi-k2.5` in BerriAI/litellm 1.109.1.
const KIMI: Rates = [0.6, 0.1, 0.0, 3.0];

/// Files whose prices are known, with the number of requests that have a cost: `pi-session` and `openhands-completions` are in this
/// repository, the others are of the reference data.
const MATCHING: [(&str, Rates, usize); 13] = [
    ("pi-session.jsonl", SONNET, 59),
    ("openhands-completions.jsonl", DEEPSEEK_CHAT, 4),
    (
        "request-logs/openhands_nonfncall-llm-logs_litellm_proxy__deepseek__deepseek-chat-1757015054.055.json",
        DEEPSEEK_CHAT,
        1,
    ),
    (
        "request-logs/openhands_nonfncall-llm-logs_litellm_proxy__deepseek__deepseek-chat-1757015062.589.json",
        DEEPSEEK_CHAT,
        1,
    ),
    (
        "request-logs/openhands_nonfncall-llm-logs_litellm_proxy__deepseek__deepseek-chat-1757015068.723.json",
        DEEPSEEK_CHAT,
        1,
    ),
    (
        "request-logs/openhands_nonfncall-llm-logs_litellm_proxy__deepseek__deepseek-chat-1757015076.651.json",
        DEEPSEEK_CHAT,
        1,
    ),
    ("opencode/biome-config_kimi-k2.5_4.json", KIMI, 4),
    ("atif/scout_terminus_2_hello-world-context-summarization-linear-history.trajectory.json", GPT_4O, 3),
    (
        "atif/scout_terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json",
        GPT_4O,
        4,
    ),
    ("pi/overdeck_compaction.jsonl", SONNET, 2),
    ("pi/overdeck_forked.jsonl", SONNET, 2),
    ("pi/overdeck_linear.jsonl", SONNET, 2),
    ("pi/overdeck_unknown-event.jsonl", SONNET, 1),
];

/// Files whose costs are not those of a price list, with the reason.
const OTHERS: [(&str, &str); 3] = [
    ("atif/scout_openhands_hello-world.trajectory.json", "names no model; its costs are those of GPT-4o"),
    (
        "pi/agentsview_session.jsonl",
        "made up: 100 and 50 tokens of Opus 4.5 for 0.01 dollars, 200 and 10 for 0.005",
    ),
    (
        "pi/overdeck_model-change.jsonl",
        "made up: its request to gpt-5.4-mini costs 0.00065 dollars, at twice the price of input",
    ),
];

/// What was billed and what it cost, by request.
fn costs(path: &Path) -> Vec<(Usage, f64)> {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let all = import_all(&text, "test", &Assume::default(), &[]).unwrap_or_default();
    let recorded = all.iter().filter_map(|it| it.timeline.recorded.as_ref());
    let pairs = recorded.flat_map(|it| it.usage.iter().zip(&it.costs));
    pairs
        .filter_map(|(usage, cost)| Some(((*usage)?, cost.as_ref()?.usd())))
        .filter(|it| it.1 > 0.0)
        .collect()
}

fn assert_matching(folder: &Path, of_reference: bool) {
    for (name, [uncached, read, written, output], n) in MATCHING {
        if name.contains('/') != of_reference {
            continue;
        }
        let costs = costs(&folder.join(name));
        assert_eq!(costs.len(), n, "{name}");
        for (usage, cost) in costs {
            let tokens =
                [usage.uncached, usage.cache_read, usage.cache_write, usage.output].map(|it| it as f64);
            let rates = [uncached, read, written, output];
            let billed: f64 = tokens.iter().zip(rates).map(|(n, rate)| n * rate / 1e6).sum();
            assert!((cost / billed - 1.0).abs() < 0.001, "{name}: {cost} and {billed}");
        }
    }
}

#[test]
fn costs_in_the_copies_are_what_was_billed_at_the_prices_of_their_time() {
    assert_matching(&root().join("tests/data/recorded"), false);
}

/// What a trajectory of mini-swe-agent says of each request: its input, its output and what it cost, in picodollars.
fn logged(path: &Path) -> Vec<[u128; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let usage = document["messages"].as_array().unwrap().iter().map(|it| &it["extra"]["response"]["usage"]);
    let number = |it: &Value| u128::from(it.as_u64().unwrap());
    let of = |it: &Value| {
        let cost = (it["cost"].as_f64().unwrap() * 1e12).round() as u128;
        [number(&it["prompt_tokens"]), number(&it["completion_tokens"]), cost]
    };
    usage.filter(|it| it.is_object()).map(of).collect()
}

/// Returns how many requests of a trajectory have the logged input, and the logged cost to the last digit, read from it and by the profile of their model.
fn assert_as_logged(path: &Path) -> usize {
    let profile: ProfileFile =
        decode(include_str!("../../../profiles/google/gemini-3-pro-preview.toml"), Format::Toml).unwrap();
    let profile = ctxsim::input::Profile::new(&profile).unwrap();
    let read = imported(&fs::read_to_string(path).unwrap());
    let (timeline, recorded) = (&read.timeline, read.timeline.recorded.as_ref().unwrap());
    let logged = logged(path);
    let inputs: Vec<u64> = logged.iter().map(|it| it[0] as u64).collect();
    assert_eq!(played(timeline), inputs, "{}", path.display());
    assert_eq!((recorded.usage.len(), recorded.costs.len()), (logged.len(), logged.len()));
    for ((usage, cost), [input, output, of_log]) in recorded.usage.iter().zip(&recorded.costs).zip(&logged) {
        let usage = usage.unwrap();
        assert_eq!((u128::from(usage.prompt), u128::from(usage.output)), (*input, *output));
        assert_eq!(cost.unwrap().0, *of_log, "as logged");
        let tokens = ctxsim::ledger::TokenUse {
            read: usage.cache_read,
            write: [0; 2],
            uncached: usage.uncached,
            output: usage.output,
        };
        let bill = ctxsim::price::Bill::of_request(profile.prices.at(0), &tokens);
        assert_eq!(bill.total().unwrap().0, *of_log, "by the price list");
    }
    logged.len()
}

#[test]
fn a_trajectory_of_mini_swe_agent_has_the_logged_input_and_the_logged_cost_to_the_digit() {
    let path = root().join("tests/data/recorded/mini-swe-agent.traj.json");
    assert_eq!(assert_as_logged(&path), 20);
}

#[test]
fn all_trajectories_of_the_reference_data_have_the_logged_input_and_cost_to_the_digit() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let files = fs::read_dir(folder.join("quality/mini-swe-agent")).unwrap().map(|it| it.unwrap().path());
    let n = files.filter(|it| it.extension().is_some_and(|it| it == "json")).map(|it| assert_as_logged(&it));
    assert_eq!(n.sum::<usize>(), 769);
}

#[test]
fn costs_in_the_reference_files_are_what_was_billed_or_it_is_known_why_not() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("formats"))
    else {
        return;
    };
    assert_matching(&folder, true);
    let known: Vec<&str> = MATCHING.iter().map(|it| it.0).chain(OTHERS.iter().map(|it| it.0)).collect();
    let mut with_costs = 0;
    for entry in
        fs::read_dir(&folder).unwrap().filter_map(|it| fs::read_dir(it.unwrap().path()).ok()).flatten()
    {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
        if !costs(&path).is_empty() {
            assert!(known.contains(&name), "{name} has costs, and nothing says whether they match");
            with_costs += 1;
        }
    }
    assert_eq!(with_costs, known.iter().filter(|it| it.contains('/')).count());
}

#[test]
fn the_input_of_trajectories_lies_in_its_interval_where_a_cache_works_by_best_effort() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let report: Value = parsed(&ctxsim(folder, args("import --report --format json quality/mini-swe-agent")));
    let usd = |it: &Value, name: &str| it[name].as_f64().unwrap();
    let holds = |it: &&Value| {
        (usd(it, "expected_input_usd_low")..=usd(it, "expected_input_usd_high"))
            .contains(&usd(it, "billed_input_usd"))
    };
    let sessions = report["as_recorded"]["sessions"].as_array().unwrap();
    let all = &report["as_recorded"]["all"];
    let [expected, billed] = ["expected_input_usd", "billed_input_usd"].map(|it| usd(all, it));
    assert!((expected / billed - 1.0).abs() < 0.06, "{expected} for {billed}");
    assert!(sessions.iter().filter(holds).count() >= 19 && sessions.len() == 20);
}
