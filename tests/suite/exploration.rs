//! What agents look up anew after context was removed: declared numbers beside measured ones.
//!
//! The rate is made again from the rows that it was measured on, and a compaction that is forced where none was is held against what
//! real ones cost.
//!
//! The rows are too large for the test data; `CTXSIM_REFERENCE` names a folder that has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::bundled_catalog;
use ctxsim::input::Profile;
use ctxsim::input::scenario::refetch::Refetch;
use ctxsim::ledger::{Role, Rows, TokenUse};
use ctxsim::price;
use ctxsim::recovery::{End, Explores};

/// The requests that are looked at on either side of a compaction.
const WINDOW: u32 = 20;

fn reference() -> Option<PathBuf> {
    std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from)
}

fn declared(end: End) -> Explores {
    Refetch::default().explored().terms(end).explores.unwrap()
}

/// A table with a header, as maps of numbers and as texts.
fn table(name: &str) -> Vec<BTreeMap<String, String>> {
    let path = reference().unwrap().join("recovery").join(name);
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|it| it.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    lines.map(|it| header.iter().cloned().zip(it).collect()).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or(0.0)
}

/// One compaction: what the agent fetched beyond what it fetched before, and the missing share of the context, both summed over the
/// requests after it.
struct Measured {
    session: u32,
    calls: f64,
    rereads: f64,
    missing: f64,
}

/// The excess of each compaction, by request after it.
fn measured() -> Vec<Measured> {
    let around = table("around_compactions.csv");
    let all = table("compactions.csv");
    let mut known: Vec<f64> = all.iter().map(|it| number(it, "S")).filter(|it| *it > 0.0).collect();
    known.sort_by(f64::total_cmp);
    let usual = known[known.len() / 2];
    let fetching = ["calls_read", "calls_search", "calls_other_fetch"];
    let one = |compaction: &BTreeMap<String, String>| {
        let of = |it: &&BTreeMap<String, String>| it["compaction"] == compaction["compaction"];
        let rows: Vec<_> = around.iter().filter(of).collect();
        let (before, after): (Vec<_>, Vec<_>) = rows.into_iter().partition(|it| number(it, "offset") < 0.0);
        let calls = |row: &BTreeMap<String, String>| fetching.iter().map(|it| number(row, it)).sum::<f64>();
        let rereads = |row: &BTreeMap<String, String>| number(row, "rereads");
        let mean = |of: &dyn Fn(&BTreeMap<String, String>) -> f64| {
            before.iter().map(|it| of(it)).sum::<f64>() / before.len().max(1) as f64
        };
        let excess = |of: &dyn Fn(&BTreeMap<String, String>) -> f64| {
            after.iter().map(|it| of(it) - mean(of)).sum::<f64>()
        };
        let stable = Some(number(compaction, "S")).filter(|it| *it > 0.0).unwrap_or(usual);
        let removed = (number(compaction, "prompt_before") - number(compaction, "prompt_after")).max(0.0);
        let window = f64::from(declared(End::Value).fades_in_requests);
        let missing = after.iter().map(|it| {
            let faded = removed * (1.0 - (number(it, "offset") - 1.0) / window).max(0.0);
            let stands = (number(it, "prompt") - stable).max(0.0);
            faded / (faded + stands)
        });
        Measured {
            session: u32::from_str_radix(&compaction["session"], 16).unwrap(),
            calls: excess(&calls),
            rereads: excess(&rereads),
            missing: missing.sum(),
        }
    };
    all.iter().map(one).collect()
}

/// Calls for nothing read before, by request and missing share.
fn new_calls<'a>(of: impl Iterator<Item = &'a Measured>) -> f64 {
    let (calls, missing) = of.fold((0.0, 0.0), |sum, it| (sum.0 + it.calls - it.rereads, sum.1 + it.missing));
    calls / missing
}

#[test]
fn the_declared_rate_is_what_the_rows_around_real_compactions_give_and_each_half_lies_in_its_interval() {
    if reference().is_none() {
        return;
    }
    let all = measured();
    let [value, low, high] = End::ALL.map(|it| declared(it).calls_per_request);

    let found = new_calls(all.iter());
    let halves = [0, 1].map(|half| new_calls(all.iter().filter(|it| it.session % 2 == half)));

    assert_eq!(all.len(), 42);
    assert!((found - value).abs() < 0.005, "{found} and not {value}");
    for half in halves {
        assert!((low..=high).contains(&half), "{halves:?} in {low} to {high}");
    }
}

#[test]
fn sizes_of_what_is_looked_up_have_the_published_mean_median_and_tail() {
    let sizes = declared(End::Value).fetched_tokens;

    assert_eq!(declared(End::Value).moments()[0], 4_555.0);
    assert_eq!((sizes[4] + sizes[5]) / 2, 1_558);
    assert_eq!((sizes[8] + sizes[9]) / 2, 15_456);
    assert_eq!(sizes.iter().filter(|it| **it > 4_000).count(), 3, "29% are above 4,000");
}

#[test]
fn exploration_grows_from_nothing_to_the_measured_rate_with_the_share_that_is_missing() {
    for end in End::ALL {
        let it = declared(end);
        let at = |percent: u32| it.calls(f64::from(percent), f64::from(100 - percent));
        assert_eq!((at(0), at(100)), (0.0, it.calls_per_request));
        let steps: Vec<f64> = (0..=100).map(at).collect();
        assert!(steps.windows(2).all(|it| it[0] <= it[1]), "{end:?} {steps:?}");
    }
    let halves = End::ALL.map(|it| declared(it).calls(50.0, 50.0) / declared(it).calls_per_request);
    let is_near = |(found, at): (f64, f64)| (found - at).abs() < 1e-9;
    assert!(
        halves.into_iter().zip([0.5, 0.25, 0.75]).all(is_near),
        "between, nothing was measured: {halves:?}"
    );
}

/// What a forced compaction is charged within the window: calls, tokens that they bring, US dollars.
fn charged(rows: &Rows, profile: &Profile) -> Option<[f64; 3]> {
    let first =
        rows.requests.windows(2).find(|it| it[0].role == Role::Summariser && it[1].role == Role::Main)?;
    let steps = first[1].step..first[1].step + WINDOW;
    let followed = rows.requests.iter().any(|it| it.step >= steps.end);
    let rates = profile.prices.usual();
    let usd = |tokens: TokenUse<f64>| price::usd_of_expected(&tokens, rates).unwrap();
    let mut sum = [0.0; 3];
    let needs = rows.needs.iter().filter(|it| it.inferred.is_some_and(|it| steps.contains(&it.step)));
    for need in needs {
        let paid = need.refetched.map_or(0.0, usd);
        sum = [sum[0] + need.calls, sum[1] + need.calls * need.fetched as f64, sum[2] + paid];
    }
    for row in rows.explored.iter().filter(|it| steps.contains(&it.step)) {
        let paid = row.tokens.map_or(0.0, usd);
        sum = [sum[0] + row.calls, sum[1] + row.fetched, sum[2] + paid];
    }
    for (nth, beside) in &rows.expected {
        let row = &rows.requests[*nth];
        if steps.contains(&row.step) && row.role == Role::Main {
            sum[2] += usd(row.carried_tokens(beside.recovered)) + usd(row.carried_tokens(beside.explored));
        }
    }
    followed.then_some(sum)
}

/// Intervals of 52 real compactions in sessions that are not in the reference data (calls and tokens in twenty requests, and dollars
/// under Opus 4.5): fidelity of the simulator, section 3.
const REAL: [(f64, f64); 3] = [(1.8, 4.6), (6_300.0, 15_300.0), (0.144, 0.282)];

#[test]
fn a_compaction_forced_where_none_was_costs_what_real_ones_were_measured_to_cost() {
    let Some(root) = reference() else { return };
    let folders = ["recorded/claude-code", "recorded/claude-code-2"].map(|it| root.join(it));
    let files = folders.iter().flat_map(|it| fs::read_dir(it).unwrap()).map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.extension().is_some_and(|it| it == "jsonl")).collect();
    files.sort();
    let policy = "agents/claude_code/auto_compact";
    let comparison = Comparison {
        policies: vec![policy.to_owned()],
        scenarios: files.iter().map(|it| it.display().to_string()).collect(),
        profiles: vec!["anthropic/claude-opus-4.5".to_owned()],
        set: vec![format!("{policy}.params.trigger=tokens(110000)")],
        ..Comparison::default()
    };
    let plan = Plan::new(&bundled_catalog(), &comparison).unwrap_or_else(|it| panic!("{it}"));
    let all = plan.each(Some(2), &|_, _| {}, |load, _| {
        let has_own = load.timeline()?.recorded.as_ref().is_some_and(|it| !it.compactions.is_empty());
        let (_, rows) = load.rows(&|_, _| {}).pop()?;
        if has_own { None } else { charged(&rows, &plan.profiles[0]) }
    });
    let all: Vec<[f64; 3]> = all.unwrap().into_iter().flatten().collect();

    let mean = [0, 1, 2].map(|at| all.iter().map(|it| it[at]).sum::<f64>() / all.len() as f64);

    assert!(all.len() >= 5, "{}", all.len());
    for (found, (low, high)) in mean.into_iter().zip(REAL) {
        assert!((low..=high).contains(&found), "{mean:?} of {} compactions", all.len());
    }
}
