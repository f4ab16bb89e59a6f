//! Live calls of Tanisha-Katara/cacheeconomics, commit e3d83f4 (Apache-2.0): one prompt, each lifetime, at 0 to 15 minutes.

use ctxsim::cache::breakpoints::BreakpointCache;

use super::*;

const CALLS: &str = include_str!("../../data/live-ttl/ttl_calls.csv");

#[test]
fn every_verdict_of_the_valid_live_runs_is_predicted() {
    let mut caches: BTreeMap<(&str, &str), BreakpointCache> = BTreeMap::new();
    let mut n_checked = 0;
    for line in CALLS.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [run, "True", _, tag, ttl, _, verdict, _, offset, read, write, input, ..] = fields[..] else {
            continue;
        };
        let number = |text: &str| text.parse::<u64>().unwrap();
        let (read, write, input) = (number(read), number(write), number(input));
        // The two lifetimes were tried on prompts of their own, as both first calls wrote.
        let cache = caches.entry((run, ttl)).or_insert_with(|| BreakpointCache::new(rules(1_024)));
        let class = if ttl == "1h" { TtlClass::Long } else { TtlClass::Short };
        let blocks = Blocks(vec![(Kind::System, 1, read + write), (Kind::User, 2, input)]);
        let at_ms = (offset.parse::<f64>().unwrap() * 1_000.0) as i64;

        let usage = send(cache, &blocks, &[(1, class)], at_ms);

        let mut expected = [0; 2];
        expected[class as usize] = write;
        assert_eq!((usage.read, usage.write, usage.uncached), (read, expected, input), "{run} {tag} {ttl}");
        assert_eq!(verdict == "HIT", usage.read > 0, "{run} {tag} {ttl}");
        n_checked += 1;
    }
    assert_eq!(n_checked, 16);
}
