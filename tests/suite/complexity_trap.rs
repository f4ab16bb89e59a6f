//! Which policies ctxsim orders by cost as published runs measured them: the arms of one study, replayed on trajectories of another agent.
//!
//! `tests/data/quality/orders.csv` has the costs of any two arms as they were measured (`benches/task_contrasts.py`). The trajectories are too large for
//! the test data; `CTXSIM_REFERENCE` names a folder that has them. `CTXSIM_BLESS=1` writes the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::tidy::root;

/// The page.
const PAGE: &str = "docs/studies/complexity-trap.md";

/// An arm: what it does, and the newest results that it shows.
type Arm = (String, u64);

/// Two arms as they were measured.
struct Order {
    scaffold: String,
    model: String,
    tasks: u64,
    arms: [Arm; 2],
    /// The cost of the first by that of the second, and its 95% interval.
    cost: [f64; 3],
}

impl Order {
    /// Returns whether the measured costs differ.
    fn is_told(&self) -> bool {
        self.cost[1] > 1.0 || self.cost[2] < 1.0
    }

    /// Returns the families that are compared, the other one last where one keeps everything.
    fn families(&self) -> String {
        let name = |it: &Arm| if it.0.starts_with("mask and") { "hybrid".to_owned() } else { it.0.clone() };
        let mut both = [name(&self.arms[0]), name(&self.arms[1])];
        both.sort();
        if both[0] == "raw" {
            both.swap(0, 1);
        }
        format!("{} and {}", both[0], both[1]).replace("raw", "keeping everything")
    }
}

fn orders() -> Vec<Order> {
    let text = include_str!("../data/quality/orders.csv");
    let of = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |nth: usize| cells[nth].parse::<f64>().unwrap();
        let arm = |nth: usize| (cells[nth].to_owned(), number(nth + 1) as u64);
        Order {
            scaffold: cells[0].to_owned(),
            model: cells[1].to_owned(),
            tasks: number(2) as u64,
            arms: [arm(3), arm(5)],
            cost: [8, 9, 10].map(number),
        }
    };
    text.lines().skip(1).map(of).collect()
}

/// Returns the policy that plays an arm, as a file.
fn file((family, window): &Arm) -> String {
    let every = family.rsplit(' ').next().unwrap();
    let (base, params) = match family.as_str() {
        "raw" => ("identity", String::new()),
        "summary" => ("agents/complexity_trap/summary", format!("\"keep_last_m_turns\": count({window})")),
        "mask" => ("agents/complexity_trap/mask", format!("\"M\": count({window})")),
        _ => (
            "agents/complexity_trap/hybrid",
            format!("\"summarize_every_n_turns\": count({every}), \"M\": count({window})"),
        ),
    };
    let params = if params.is_empty() { params } else { format!(", params: {{ {params} }}") };
    format!("(name: {:?}, about: \"An arm.\", base: {base:?}{params})", name(&(family.clone(), *window)))
}

fn name((family, window): &Arm) -> String {
    if family == "raw" { "raw".to_owned() } else { format!("{}-{window}", family.replace(' ', "_")) }
}

/// What an arm costs on the trajectories of even and of odd numbers, in US dollars, and how much of what is needed it keeps.
type Costs = BTreeMap<Arm, ([f64; 2], f64)>;

/// Plays all arms on all trajectories.
fn played(folder: &Path, arms: &[Arm], more: &[&str]) -> Costs {
    let policies = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        arms.iter().map(|it| policies.path().join(format!("{}.ron", name(it)))).collect();
    paths.iter().zip(arms).for_each(|(path, it)| std::fs::write(path, file(it)).unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    command.args(["run", "--alone", "--format", "json", "--policy"]).args(&paths).args(more);
    let output = command.arg("--scenario").arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut costs = Costs::new();
    for run in report["runs"].as_array().unwrap() {
        let arm = arms.iter().find(|it| name(it) == run["policy"].as_str().unwrap()).unwrap();
        let scenario = run["scenario"].as_str().unwrap().trim_end_matches(".traj");
        let odd = scenario.bytes().last().unwrap() % 2;
        let sum = costs.entry(arm.clone()).or_default();
        sum.0[usize::from(odd)] += run["totals"]["cost_usd"]["total"].as_f64().unwrap();
        sum.1 += run["totals"]["evidence_kept"].as_f64().unwrap_or(1.0) / 20.0;
    }
    costs
}

/// How often orders come out as measured, as the opposite, and without a difference.
#[derive(Clone, Copy, Default)]
struct Score([usize; 3]);

impl Score {
    fn of<'o>(orders: impl Iterator<Item = &'o Order>, costs: &Costs, halves: &[usize]) -> Self {
        let mut score = Self::default();
        for it in orders {
            let usd = |arm: &Arm| halves.iter().map(|half| costs[arm].0[*half]).sum::<f64>();
            let ratio = usd(&it.arms[0]) / usd(&it.arms[1]);
            let place =
                if (ratio - 1.0).abs() < 1e-9 { 2 } else { usize::from((ratio < 1.0) != (it.cost[0] < 1.0)) };
            score.0[place] += 1;
        }
        score
    }

    fn words(self) -> String {
        let [right, wrong, same] = self.0;
        let all = right + wrong + same;
        let share = 100.0 * right as f64 / all.max(1) as f64;
        format!("{right} of {all} ({share:.0}%); {wrong}; {same}")
    }
}

/// A way of playing: what it is called, and what it costs.
type Way<'w> = (&'w str, Costs);

fn page(orders: &[Order], ways: &[Way<'_>], arms: &[Arm]) -> String {
    let told: Vec<&Order> = orders.iter().filter(|it| it.is_told()).collect();
    let mut paid = "| scaffold | arms | runs | p5 | median | p95 |\n|---|---|---:|---:|---:|---:|".to_owned();
    for line in include_str!("../data/quality/paid.csv").lines().skip(1) {
        write!(paid, "\n| {} |", line.replace(',', " | ")).unwrap();
    }
    let mut text = HEAD
        .replace("PAID", &paid)
        .replace("TOLD", &told.len().to_string())
        .replace("ALL", &orders.len().to_string());
    text += "\n| which are compared |";
    ways.iter().for_each(|it| write!(text, " {} |", it.0).unwrap());
    text += "\n|---|";
    text += &"---|".repeat(ways.len());
    text += "\n";
    let mut families: Vec<String> = told.iter().map(|it| it.families()).collect();
    families.sort();
    families.dedup();
    for family in &families {
        write!(text, "| {family} |").unwrap();
        for (_, costs) in ways {
            let own = told.iter().copied().filter(|it| it.families() == *family);
            write!(text, " {} |", Score::of(own, costs, &[0, 1]).words()).unwrap();
        }
        text += "\n";
    }
    for (what, is_in) in [("under OpenHands", "OpenHands"), ("under SWE-agent", "SWE-agent")] {
        write!(text, "| {what} |").unwrap();
        for (_, costs) in ways {
            let own = told.iter().copied().filter(|it| it.scaffold == is_in);
            write!(text, " {} |", Score::of(own, costs, &[0, 1]).words()).unwrap();
        }
        text += "\n";
    }
    for (what, halves) in
        [("all, on even trajectories", &[0][..]), ("all, on odd trajectories", &[1]), ("**all**", &[0, 1])]
    {
        write!(text, "| {what} |").unwrap();
        for (_, costs) in ways {
            write!(text, " {} |", Score::of(told.iter().copied(), costs, halves).words()).unwrap();
        }
        text += "\n";
    }
    text += "\n## Each arm\n\nThe cost of the 20 trajectories by that of keeping everything, and the share kept of what later steps need.\n\n| arm |";
    ways.iter().for_each(|it| write!(text, " {} |", it.0).unwrap());
    text += " kept |\n|---|";
    text += &"---:|".repeat(ways.len() + 1);
    text += "\n";
    let raw: Arm = ("raw".to_owned(), 0);
    for arm in arms {
        let title = if arm == &raw {
            "keeping everything".to_owned()
        } else {
            format!("{}, newest {}", arm.0, arm.1)
        };
        write!(text, "| {title} |").unwrap();
        for (_, costs) in ways {
            let sum = |arm: &Arm| costs[arm].0.iter().sum::<f64>();
            write!(text, " {:.2} |", sum(arm) / sum(&raw)).unwrap();
        }
        writeln!(text, " {:.0}% |", 100.0 * ways[0].1[arm].1).unwrap();
    }
    text += "\n## Every order that was measured\n\n| scaffold | model | tasks | first | second | measured cost | ";
    ways.iter().for_each(|it| write!(text, "{} | ", it.0).unwrap());
    text = format!("{}\n|---|---|---:|---|---|---|", text.trim_end());
    text += &"---:|".repeat(ways.len());
    text += "\n";
    for it in told {
        let [first, second] = &it.arms;
        let arm =
            |it: &Arm| if it.1 == 0 { "keeping everything".to_owned() } else { format!("{} {}", it.0, it.1) };
        let [value, low, high] = it.cost;
        write!(
            text,
            "| {} | {} | {} | {} | {} | {value:.2} ({low:.2} to {high:.2}) |",
            it.scaffold,
            it.model,
            it.tasks,
            arm(first),
            arm(second)
        )
        .unwrap();
        for (_, costs) in ways {
            let sum = |arm: &Arm| costs[arm].0.iter().sum::<f64>();
            write!(text, " {:.2} |", sum(first) / sum(second)).unwrap();
        }
        text += "\n";
    }
    text
}

const HEAD: &str = "# The order of costs in The Complexity Trap

**What this cannot tell.** Not magnitudes: the trajectories are of another agent (mini-swe-agent) and another model (Gemini 3 Pro Preview), and their sessions are shorter than those of OpenHands. Not success: whether a task is solved under a policy is not simulated ([what is known of the task](task.md)). Not turns: each arm
replays the recorded turns, though the measured arms took 0.9 to 2.4 times as many, which is in their costs.

**What it can tell** is the order: of two policies, which costs less. [The Complexity Trap](https://github.com/Recursive-Safeguarding/the-complexity-trap) (1b07dec, MIT) ran SWE-agent and OpenHands with several models on SWE-bench Verified, under masks of different sizes, summaries and both, and published the cost of each task. Of any two arms of one
scaffold and model, `benches/task_contrasts.py` computes the ratio of their costs on the tasks of both, in the half of the tasks that is here, with a 95% interval (`tests/data/quality/orders.csv`). Of ALL pairs, TOLD have an interval that excludes 1: there, an order was measured.

ctxsim replays the same policies (`policies/agents/complexity_trap/`) on 20 trajectories that gruckion/mini-swe-agent published (d12a71a, MIT), 769 requests whose input and cost ctxsim reproduces as logged, to the last digit: with the provider's cache, and at the same prices without a cache.
Whether the measured costs are with or without a cache is not published, but the data tell: the arms with Gemini 2.5 Flash paid these US dollars for a million tokens of prompts, outputs included, at a list price of $0.30 for input and $0.03 for what is read from a cache (`profiles/google/gemini-2.5-flash.toml`): more than input without a cache.

PAID


## The order

So the column without a cache is the one that the study measured: no order there comes out the other way. With the cache, every policy that edits the history of these sessions costs more than keeping everything, since each edit has the provider read less. What halves a bill without a cache may raise one with a cache.

Orders as measured, of all (in percent); the opposite; no difference.
";

#[test]
fn the_page_says_which_policies_are_ordered_by_cost_as_they_were_measured() {
    let Some(folder) =
        std::env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("quality/mini-swe-agent"))
    else {
        return;
    };
    let orders = orders();
    let mut arms: Vec<Arm> = orders.iter().flat_map(|it| it.arms.clone()).collect();
    arms.push(("mask".to_owned(), 5));
    arms.sort();
    arms.dedup();
    let uncached = root().join("tests/data/quality/gemini-without-cache.toml");
    let ways = [
        ("with the cache", played(&folder, &arms, &[])),
        ("without a cache", played(&folder, &arms, &["--profile", uncached.to_str().unwrap()])),
    ];
    // What the page says of both columns.
    let told = || orders.iter().filter(|it| it.is_told());
    assert_eq!(Score::of(told(), &ways[0].1, &[0, 1]).0[0], 0, "with the cache");
    assert_eq!(Score::of(told(), &ways[1].1, &[0, 1]).0[1], 0, "without a cache");
    let text = page(&orders, &ways, &arms);
    let path = root().join(PAGE);
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
