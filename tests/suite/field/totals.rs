//! Every total of the oracle: requests, prompt, read, write, uncached, output, longest prompt, picodollars.

use super::*;

/// What the oracle calls a cache rule, and the profile that has it with the oracle's prices.
const RULES: [(&str, &str); 3] =
    [("breakpoints", "sonnet-5"), ("prefix_interval", "gpt-5"), ("boundaries", "gpt-5.6-sol")];

/// What a run comes to, in the oracle's columns.
fn totals(rows: &Rows, picodollars: u128) -> Vec<u128> {
    let sum = |of: &dyn Fn(&ctxsim::ledger::RequestRow) -> u64| rows.requests.iter().map(of).sum::<u64>();
    let longest = rows.requests.iter().map(|it| it.prompt).max().unwrap_or(0);
    let tokens = [
        rows.requests.len() as u64,
        sum(&|it| it.prompt),
        sum(&|it| it.usage.read),
        sum(&|it| it.usage.write[0] + it.usage.write[1]),
        sum(&|it| it.usage.uncached),
        sum(&|it| it.output),
        longest,
    ];
    tokens.into_iter().map(u128::from).chain([picodollars]).collect()
}

#[test]
fn every_total_of_the_oracle_is_equal_to_the_token_and_the_picodollar() {
    let mut policies: BTreeMap<&str, Vec<_>> =
        table("oracle_policies").into_iter().map(|(theirs, ours)| (theirs, vec![policy(ours)])).collect();
    for (theirs, preset) in table("oracle_presets") {
        policies.get_mut(theirs).unwrap().push(named(preset));
    }
    let profiles: BTreeMap<&str, _> = RULES.iter().map(|(theirs, ours)| (*theirs, profile(ours))).collect();
    for folder in folders() {
        let exact = json(&folder.join("exact.json"));
        let expected = exact["totals"].as_object().unwrap();
        let mut timelines = BTreeMap::new();
        let mut wrong = Vec::new();
        for (name, theirs) in expected {
            let [load, seed, policy, rule] = name.split('/').collect::<Vec<_>>()[..] else {
                panic!("{name}")
            };
            let timeline = timelines.entry((load, seed)).or_insert_with(|| {
                timeline(&ctxsim::input::ScenarioFile { seed: seed.parse().unwrap(), ..workload(load) })
            });
            for policy in &policies[policy] {
                let rows = play(timeline, policy, &profiles[rule]);
                let ours = totals(&rows, picodollars(&rows, &profiles[rule]));
                if ours != numbers(theirs) {
                    wrong.push(format!("{name} by {}: {ours:?}, expected {theirs}", policy.name));
                }
            }
        }
        let (n_wrong, n_all) = (wrong.len(), expected.len());
        assert!(wrong.is_empty(), "{n_wrong} of {n_all} differ:\n{}", wrong.join("\n"));
        assert!(n_all > 180, "{n_all}");
    }
}
