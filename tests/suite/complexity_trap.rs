//! Which policies ctxsim orders by cost as published runs measured them: the arms of one study, replayed on trajectories of another agent.
//!
//! `tests/data/quality/orders.csv` has the costs of any two arms as they were measured (`benches/task_contrasts.py`). The trajectories are too large for
//! the test data; `CTXSIM_REFERENCE` names a folder that has them. `CTXSIM_BLESS=1` writes the page.

use crate::support::*;

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
    let policies = tempdir().unwrap();
    let paths: Vec<PathBuf> =
        arms.iter().map(|it| policies.path().join(format!("{}.ron", name(it)))).collect();
    paths.iter().zip(arms).for_each(|(path, it)| fs::write(path, file(it)).unwrap());
    let mut command = program(root(), ["run", "--alone", "--format", "json", "--policy"]);
    command.args(&paths).args(more).arg("--scenario").arg(folder);
    let report: Value = parsed(&command.output().unwrap());
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

/// Writes a row that has the score of some orders under each way.
fn scored<'o>(
    what: &str,
    orders: &[&'o Order],
    ways: &[Way<'_>],
    halves: &[usize],
    is_in: impl Fn(&'o Order) -> bool,
) -> String {
    let mut text = format!("| {what} |");
    for (_, costs) in ways {
        let own = orders.iter().copied().filter(|it| is_in(it));
        write!(text, " {} |", Score::of(own, costs, halves).words()).unwrap();
    }
    text + "\n"
}

/// Writes a head of a table, with a column for each way.
fn head(first: &str, ways: &[Way<'_>], last: &str, cell: &str) -> String {
    let mut text = format!("\n| {first} |");
    ways.iter().for_each(|it| write!(text, " {} |", it.0).unwrap());
    let n = first.matches('|').count() + 1;
    let columns = ways.len() + last.matches('|').count();
    format!("{text}{last}\n|{}{}\n", "---|".repeat(n), format!("{cell}|").repeat(columns))
}

fn title(it: &Arm) -> String {
    if it.0 == "raw" { "keeping everything".to_owned() } else { format!("{}, newest {}", it.0, it.1) }
}

/// Returns what an arm costs on all trajectories.
fn sum(costs: &Costs, arm: &Arm) -> f64 {
    costs[arm].0.iter().sum()
}

fn page(orders: &[Order], ways: &[Way<'_>], arms: &[Arm]) -> String {
    let told: Vec<&Order> = orders.iter().filter(|it| it.is_told()).collect();
    let mut paid = "| scaffold | arms | runs | p5 | median | p95 |\n|---|---|---:|---:|---:|---:|".to_owned();
    for line in include_str!("../data/quality/paid.csv").lines().skip(1) {
        write!(paid, "\n| {} |", line.replace(',', " | ")).unwrap();
    }
    let counts = [told.len(), orders.len()].map(|it| it.to_string());
    let mut text = HEAD.replace("PAID", &paid).replace("TOLD", &counts[0]).replace("ALL", &counts[1]);
    text += &head("which are compared", ways, "", "---");
    let mut families: Vec<String> = told.iter().map(|it| it.families()).collect();
    families.sort();
    families.dedup();
    for family in &families {
        text += &scored(family, &told, ways, &[0, 1], |it| it.families() == *family);
    }
    for scaffold in ["OpenHands", "SWE-agent"] {
        text += &scored(&format!("under {scaffold}"), &told, ways, &[0, 1], |it| it.scaffold == scaffold);
    }
    text += &scored("all, on even trajectories", &told, ways, &[0], |_| true);
    text += &scored("all, on odd trajectories", &told, ways, &[1], |_| true);
    text += &scored("**all**", &told, ways, &[0, 1], |_| true);
    text += ARMS;
    text += &head("arm", ways, " kept |", "---:");
    let raw: Arm = ("raw".to_owned(), 0);
    for arm in arms {
        write!(text, "| {} |", title(arm)).unwrap();
        for (_, costs) in ways {
            write!(text, " {:.2} |", sum(costs, arm) / sum(costs, &raw)).unwrap();
        }
        writeln!(text, " {:.0}% |", 100.0 * ways[0].1[arm].1).unwrap();
    }
    text += "\n## Every order that was measured\n";
    text += &head("scaffold | model | tasks | first | second | measured cost", ways, "", "---:");
    for it in told {
        let ([first, second], [value, low, high]) = (&it.arms, it.cost);
        let own =
            format!("{} | {} | {} | {} | {}", it.scaffold, it.model, it.tasks, title(first), title(second));
        write!(text, "| {own} | {value:.2} ({low:.2} to {high:.2}) |").unwrap();
        for (_, costs) in ways {
            write!(text, " {:.2} |", sum(costs, first) / sum(costs, second)).unwrap();
        }
        text += "\n";
    }
    text
}

/// What stands before the arms.
const ARMS: &str = "
## Each arm

The cost of the 20 trajectories by that of keeping everything, and the share kept of what later steps need.
";

const HEAD: &str = "<!-- Generated: `CTXSIM_BLESS=1 cargo test --test suite complexity_trap` writes this page. -->

# The order of costs in The Complexity Trap

**What this cannot tell.** Not magnitudes: the trajectories are of another agent (mini-swe-agent) and another model (Gemini 3 Pro Preview), and their sessions are shorter than those of OpenHands. Not success: whether a task is solved under a policy is not simulated ([what is known of the task](task.md)). Not turns: each arm
replays the recorded turns, though the measured arms took 0.9 to 2.4 times as many, which is in their costs.

**What it can tell** is the order: of two policies, which costs less. [The Complexity Trap](https://github.com/Recursive-Safeguarding/the-complexity-trap) (1b07dec, MIT) ran SWE-agent and OpenHands with several models on SWE-bench Verified, under masks of different sizes, summaries and both, and published the cost of each task. Of any two arms of one
scaffold and model, `benches/task_contrasts.py` computes the ratio of their costs on the tasks of both, in the half of the tasks that is here, with a 95% interval (`tests/data/quality/orders.csv`). Of ALL pairs, TOLD have an interval that excludes 1: there, an order was measured.

ctxsim replays the same policies (`policies/agents/complexity_trap/`) on 20 trajectories that gruckion/mini-swe-agent published (d12a71a, MIT), 769 requests whose input and cost ctxsim reproduces as logged, to the last digit: with the provider's cache, and at the same prices without a cache. With the cache, all costs are simulated, that of keeping everything too: $7.01 where $8.25 was billed, as this provider's cache misses more often than it promises.
Whether the measured costs are with or without a cache is not published, but the data tell: the arms with Gemini 2.5 Flash paid these US dollars for a million tokens of prompts, outputs included, at a list price of $0.30 for input and $0.03 for what is read from a cache (`profiles/google/gemini-2.5-flash.toml`). The middle of the runs paid more than input without a cache costs. Under SWE-agent four in ten paid less, so there it cannot be told; of Qwen nothing shows it.

PAID


## The order

The study probably measured what the column without a cache shows, surely under OpenHands: no order there comes out the other way. Several rows ask for the same pair of arms, for which the replay has one answer: SWE-agent's orders are those of two pairs. With the cache, every policy that edits the history of these sessions costs more than keeping everything, since each edit has the provider read less. What halves a bill without a cache may raise one with a cache.

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
    let uncached = data("quality/gemini-without-cache.toml");
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
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
