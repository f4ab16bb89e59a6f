//! The best schedule in hindsight: between its bound and keeping everything, with every needed item kept.

use ctxsim::builtin::bound::{Bounds, bound, bounds};
use ctxsim::catalog::InputKind;
use ctxsim::hindsight::under;
use ctxsim::timeline::build::{NewItem, TimelineBuilder};
use ctxsim::timeline::{Inferred, Kind as ItemKind, Level};

use crate::support::*;

/// Plays a scenario under `identity` and `hindsight` and holds it against the bound.
fn assert_between(scenario: &str, profile: &str) -> [f64; 3] {
    let plan = planned(&comparing(&["identity", "hindsight"], &[scenario], &[profile]));
    let report = plan.without_limits().report(None, &|_, _| {}).unwrap();
    let mut sums = [0.0; 3];
    for runs in report.runs.chunks(2) {
        let [identity, hindsight] = [0, 1].map(|it| &runs[it]);
        let kept = [identity, hindsight].map(|it| it.tally.evidence_kept());
        assert_eq!(kept[1], kept[0], "{}: every needed item is kept", identity.scenario);
        assert!(hindsight.looks_ahead);
        // Where prices hang on the length or the hour, no bound is known.
        let low = hindsight.tally.bound.unwrap_or_default();
        let costs = [low, hindsight.tally.costs.total().unwrap(), identity.tally.costs.total().unwrap()];
        sums.iter_mut().zip(costs).for_each(|(sum, it)| *sum += it);
    }
    let [low, hindsight, identity] = sums;
    assert!(low <= hindsight * (1.0 + 1e-9), "{scenario}: {low} is no bound of {hindsight}");
    assert!(hindsight <= identity * (1.0 + 1e-9), "{scenario}: {hindsight} is above {identity}");
    [low, hindsight, identity]
}

#[test]
fn hindsight_lies_between_its_bound_and_keeping_everything() {
    let profile = "anthropic/claude-opus-4.5";
    let [_, hindsight, identity] = assert_between("recorded/claude-code", profile);
    assert!(hindsight < identity * 0.8, "there is much to save: {hindsight} of {identity}");
    for name in ["duckagent/incremental_workspace_audit", "duckagent/long_log_debug"] {
        assert_between(name, profile);
    }
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn hindsight_lies_between_them_on_every_bundled_load() {
    let of = |it: &str| it.starts_with("duckagent/") || it.starts_with("agents/");
    for name in names(InputKind::Scenario, of) {
        assert_between(&name, "anthropic/claude-opus-4.5");
    }
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn hindsight_lies_between_them_under_every_kind_of_cache_and_price() {
    for profile in names(InputKind::Profile, |it| !it.starts_with("open/blocks")) {
        assert_between("duckagent/incremental_workspace_audit", &profile);
    }
    for profile in ["anthropic/claude-sonnet-5.5", "openai/gpt-5.6-sol", "deepseek/deepseek-v4-pro"] {
        assert_between("recorded/claude-code", profile);
    }
}

/// Returns the bundled inputs of a kind.
fn names(kind: InputKind, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    bundled_catalog().names(kind).filter(|it| is_wanted(it)).map(str::to_owned).collect()
}

/// What stands in a prompt until it is dropped: a message, or a call with its result.
#[derive(Clone, Copy, Debug)]
struct Unit {
    arrives: usize,
    dead: usize,
    tokens: u64,
}

/// A random load, and what its prompts are made of, said by the generator and not by the policy.
struct Trace {
    timeline: Timeline,
    units: Vec<Unit>,
    at_ms: Vec<i64>,
    output_tokens: u64,
}

const FIVE_MINUTES: i64 = 5 * 60_000;

/// Draws a load of a few turns in which some results are needed again.
fn trace(nth: u64) -> Trace {
    let mut draw = Seed(18).stream("hindsight traces", 0).nth(0, nth);
    let mut below = |n: u64| draw.next_between(0, n - 1);
    let mut builder = TimelineBuilder::new("trace", &[]);
    let item = |kind, tokens: u64| NewItem::plain(kind, u32::try_from(tokens).unwrap());
    let stable = 10 + below(90);
    builder.stable(ItemKind::System, u32::try_from(stable).unwrap());
    let mut units = vec![Unit { arrives: 0, dead: usize::MAX, tokens: stable }];
    let (mut n_items, mut now_ms, mut at_ms, mut output_tokens) = (1, 0, Vec::new(), 0);
    // By result: its unit, and its item.
    let mut results: Vec<(usize, u32)> = Vec::new();
    for _ in 0..1 + below(3) {
        let first = at_ms.len();
        let user = 1 + below(60);
        builder.begin_turn(&[item(ItemKind::User, user)]);
        units.push(Unit { arrives: first, dead: usize::MAX, tokens: user });
        let user_at = units.len() - 1;
        n_items += 1;
        for _ in 0..1 + below(3) {
            let step = at_ms.len();
            now_ms += if below(5) == 0 { FIVE_MINUTES + 60_000 } else { 60_000 };
            at_ms.push(now_ms);
            for (at, index) in &results {
                if below(4) == 0 {
                    let inferred = Inferred {
                        rule: "drawn",
                        step: u32::try_from(step).unwrap(),
                        item: *index,
                        names: None,
                    };
                    builder.item_need(inferred, Level::RawContent, 1.0, &[]);
                    units[*at].dead = units[*at].dead.max(step + 1);
                }
            }
            let (call, result) = (1 + below(20), 1 + below(200));
            builder.step(
                now_ms,
                call,
                &[item(ItemKind::ToolCall, call)],
                &[item(ItemKind::ToolResult, result)],
            );
            output_tokens += call;
            units.push(Unit { arrives: step + 1, dead: step + 2, tokens: call + result });
            results.push((units.len() - 1, n_items + 1));
            n_items += 2;
        }
        units[user_at].dead = at_ms.len();
    }
    Trace { timeline: builder.finish(), units, at_ms, output_tokens }
}

/// Returns the least that any schedule costs, in units of `read`: every set of what is dropped by each request is looked at.
fn brute_force(trace: &Trace, [read, write]: [u64; 2]) -> u64 {
    let Trace { units, at_ms, .. } = trace;
    let droppable: Vec<usize> = (0..units.len()).filter(|it| units[*it].dead < at_ms.len()).collect();
    assert!(droppable.len() <= 8, "{}", droppable.len());
    let mut best = vec![None::<u64>; 1 << droppable.len()];
    best[0] = Some(0);
    for request in 0..at_ms.len() {
        let is_cold = request > 0 && at_ms[request] - at_ms[request - 1] > FIVE_MINUTES;
        let mut next = vec![None::<u64>; best.len()];
        for (before, spent) in best.iter().enumerate().filter_map(|(before, it)| Some((before, (*it)?))) {
            let may_go = |bit: &usize| {
                let unit = &units[droppable[*bit]];
                before >> bit & 1 == 0 && unit.arrives <= request && unit.dead <= request
            };
            let free: usize = (0..droppable.len()).filter(may_go).map(|bit| 1 << bit).sum();
            // Each subset of what may go, from all of it down to nothing.
            let mut new = free;
            loop {
                let is_in = |set: usize, at: usize| {
                    droppable.iter().position(|it| *it == at).is_some_and(|bit| set >> bit & 1 == 1)
                };
                let (mut is_whole, mut sum) = (true, 0);
                for (at, unit) in units.iter().enumerate().filter(|it| it.1.arrives <= request) {
                    let was_shown = unit.arrives < request && !is_in(before, at);
                    if is_in(before | new, at) {
                        is_whole &= !was_shown;
                    } else {
                        let is_read = was_shown && is_whole && !is_cold;
                        sum += unit.tokens * if is_read { read } else { write };
                    }
                }
                let sum = spent + sum;
                let set = before | new;
                next[set] = Some(next[set].map_or(sum, |it| it.min(sum)));
                if new == 0 {
                    break;
                }
                new = (new - 1) & free;
            }
        }
        best = next;
    }
    best.into_iter().flatten().min().unwrap()
}

#[test]
fn the_bundled_hindsight_costs_what_brute_force_finds_on_a_thousand_random_traces() {
    let text = "name = \"dense\"\nabout = \"Every prefix is an entry.\"\nas_of = \"2026-01-01\"\nsources = [\"made up\"]\n\
                [cache.prefix_interval]\nmin_tokens = 1\nstep_tokens = 1\nttl = \"5m\"\n\
                [[prices]]\ninput = 10.0\noutput = 50.0\ncache_read = 1.0\n";
    let profile = profile_from(text);
    let policy = Policy::new(&bundled_catalog().policy("hindsight").unwrap().spec).unwrap();
    let (mut n_played, mut n_saved) = (0, 0);
    for nth in 0.. {
        let trace = trace(nth);
        let n_droppable = trace.units.iter().filter(|it| it.dead < trace.at_ms.len()).count();
        if n_droppable > 8 {
            continue;
        }
        let played = |policy: &Policy| {
            let mut sums = Sums::default();
            Simulation::new(&trace.timeline, policy, &profile.limits, &profile.cache).run(&mut sums);
            assert_eq!(sums.needs.weight, sums.needs.met, "trace {nth}: every needed item is kept");
            sums.main.tokens
        };
        let found = played(&under(&policy, &trace.timeline, &profile, &profile.limits));
        let kept = played(&policy);

        let cost = found.read + 10 * found.uncached;
        assert_eq!(cost, brute_force(&trace, [1, 10]), "trace {nth}");
        assert_eq!(found.output, trace.output_tokens);
        let least = bound(&trace.timeline, &profile).unwrap() * 1e6;
        assert!(least <= (cost + 50 * found.output) as f64 + 1e-6, "trace {nth}");
        n_saved += u32::from(cost < kept.read + 10 * kept.uncached);
        n_played += 1;
        if n_played == 1_000 {
            break;
        }
    }
    assert!(n_saved > 500, "most traces have something worth dropping: {n_saved}");
}

/// A cache of entries at breakpoints, of any length, whose entries cost more to write than to send.
const BREAKPOINTS: &str = "name = \"marks\"\nabout = \"Entries at breakpoints.\"\nas_of = \"2026-01-01\"\nsources = [\"made up\"]\n\
    [cache.breakpoints]\nmin_tokens = 1\nttl = [\"5m\", \"1h\"]\n\
    [[prices]]\ninput = 10.0\noutput = 50.0\ncache_read = 1.0\ncache_write = { \"5m\" = 12.5, \"1h\" = 20.0 }\n";

#[test]
fn nothing_with_full_evidence_costs_less_than_the_bound_where_writes_cost_more_than_sending() {
    let profile = profile_from(BREAKPOINTS);
    let catalog = bundled_catalog();
    let policies = ["identity", "clairvoyant", "hindsight", "clear_tool_results", "truncate_oldest"];
    let policies = policies.map(|it| Policy::new(&catalog.policy(it).unwrap().spec).unwrap());
    let (mut n_whole, mut n_tighter) = (0, 0);
    for nth in 0..1_000 {
        let trace = trace(nth);
        let of = bounds(&trace.timeline, &profile).unwrap();
        assert!(of.reads <= of.writes && of.writes <= of.newest + 1e-12, "trace {nth}: {of:?}");
        n_tighter += u32::from(of.writes > of.reads * 1.001);
        for policy in &policies {
            let mut sums = Sums::default();
            let policy = under(policy, &trace.timeline, &profile, &profile.limits);
            Simulation::new(&trace.timeline, &policy, &profile.limits, &profile.cache).run(&mut sums);
            if sums.needs.weight > sums.needs.met {
                continue;
            }
            n_whole += 1;
            let tokens = sums.main.tokens;
            let cost = tokens.read * 10
                + tokens.write[0] * 125
                + tokens.write[1] * 200
                + tokens.uncached * 100
                + tokens.output * 500;
            assert!(
                of.writes * 1e7 <= cost as f64 + 1e-3,
                "trace {nth}: {} beats {of:?}: {cost}",
                policy.name
            );
        }
    }
    assert!(n_whole > 3_000 && n_tighter > 800, "{n_whole} {n_tighter}");
}

/// What the sessions of a folder cost under their own models' profiles: kept whole, in hindsight, and by the bounds.
fn bounds_of(folder: &Path) -> ([f64; 2], Bounds) {
    let comparison = Comparison {
        scenarios: files_below(folder, &["jsonl"]).iter().map(|it| it.display().to_string()).collect(),
        own_models: true,
        ..comparing(&["identity", "hindsight"], &[], &["anthropic/claude-opus-4.5"])
    };
    let plan = planned(&comparison);
    let of_loads = plan.map_loads(None, &|_, _| {}, |load, progress| {
        let runs = load.runs(progress);
        let costs = [0, 1].map(|it| runs[it].tally.costs.total().unwrap());
        (costs, bounds(load.timeline().unwrap(), &load.profiles[0]).unwrap())
    });
    let (mut sums, mut all) = ([0.0; 2], Bounds::default());
    for (costs, of) in of_loads.unwrap() {
        sums.iter_mut().zip(costs).for_each(|(sum, it)| *sum += it);
        all.reads += of.reads;
        all.writes += of.writes;
        all.newest += of.newest;
        all.breaks += of.breaks;
    }
    (sums, all)
}

#[test]
fn the_guide_says_what_keeps_the_bound_above_what_hindsight_saves() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let mut sums = ([0.0; 2], Bounds::default());
    for folder in ["recorded/claude-code", "recorded/claude-code-2"] {
        let (costs, of) = bounds_of(&root.join(folder));
        sums.0.iter_mut().zip(costs).for_each(|(sum, it)| *sum += it);
        sums.1.reads += of.reads;
        sums.1.writes += of.writes;
        sums.1.newest += of.newest;
        sums.1.breaks += of.breaks;
    }
    let ([identity, hindsight], of) = sums;
    let saved = |usd: f64| format!("{:.1}%", (1.0 - usd / identity) * 100.0);
    let figures = [of.reads, of.writes, of.newest, of.breaks, hindsight].map(saved);

    let guide =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/explanation/hindsight.md")).unwrap();
    let shown = guide.split_once("<!-- bounds -->").unwrap().1.split_once("<!-- /bounds -->").unwrap().0;
    let rows = shown.lines().filter_map(|it| it.strip_suffix(" |")?.rsplit_once("| ")).map(|it| it.1);
    let rows: Vec<&str> = rows.filter(|it| it.ends_with('%')).collect();
    assert_eq!(rows, figures);
}

#[test]
fn hindsight_lies_between_them_on_every_reference_session() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = root.join("recorded");
    let mut n_played = 0;
    for path in files_below(&folder, &["jsonl"]) {
        assert_between(&path.display().to_string(), "anthropic/claude-opus-4.5");
        n_played += 1;
    }
    assert!(n_played > 10, "{n_played} sessions");
}
