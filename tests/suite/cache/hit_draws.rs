//! A hit that is only probable: drawn from a named stream, billed as if nothing had been found.

use ctxsim::cache::HitDraws;
use ctxsim::input::profile::cache::Hits;
use ctxsim::rng::Seed;

use super::listed::{Listed, rules_of, users};

const BREAKPOINTS: &str = "[cache.breakpoints]\nttl = [\"5m\", \"1h\"]";

/// Which of so many requests are served.
fn served(parts: u64, n: usize) -> Vec<bool> {
    let mut hit_draws = HitDraws::new(Some(Hits { parts, seed: 7, never: None }));
    (0..n).map(|_| hit_draws.is_served(100)).collect()
}

#[test]
fn the_draws_are_those_of_the_stream_that_is_named() {
    let mut stream = Seed(7).stream("cache hit", 0);
    let expected: Vec<bool> = (0..100).map(|_| stream.between(1, Hits::CERTAIN) <= 300_000_000).collect();

    assert_eq!(served(300_000_000, 100), expected);
}

#[test]
fn a_larger_probability_serves_what_a_smaller_one_does_and_about_its_share() {
    let all = [0, 250_000_000, 900_000_000, Hits::CERTAIN].map(|it| served(it, 4_000));
    for pair in all.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(few, more)| more | !few));
    }
    let n = all.each_ref().map(|it| it.iter().filter(|it| **it).count());
    assert_eq!((n[0], n[3]), (0, 4_000));
    assert!((900..1_100).contains(&n[1]) && (3_540..3_660).contains(&n[2]), "{n:?}");
}

#[test]
fn bad_luck_is_billed_as_if_nothing_had_been_found() {
    let grows = [users(2_000, &[]), users(2_000, &[(1, 100)])];
    let plain = |rules: &str| Listed::new(&rules_of(rules), "").reads_and_writes(&grows);
    for rules in [BREAKPOINTS, "[cache.prefix_interval]", "[cache.units]\nunits = [\"input_end\"]"] {
        let never = format!("{rules}\nhits = {{ probability = 0.0 }}");
        let always = format!("{rules}\nhits = {{ probability = 1.0 }}");

        assert_eq!(plain(&always), plain(rules), "{rules}");
        assert!(plain(rules)[1][0] >= 2_000, "{rules}");
        let writes = if rules == BREAKPOINTS { [2_000, 2_100] } else { [0, 0] };
        assert_eq!(plain(&never), [[0, writes[0]], [0, writes[1]]], "{rules}");
    }
}

#[test]
fn what_bad_luck_writes_is_written_for_as_long_as_its_marks_ask() {
    let mixed = "layout: (breakpoints: [(at: end_of(system), ttl: \"1h\"), (at: automatic)])";
    let mut cache = Listed::new(&rules_of(&format!("{BREAKPOINTS}\nhits = {{ probability = 0.0 }}")), mixed);
    let prompt = users(2_000, &[(1, 100)]);

    for n in 0..3 {
        let usage = cache.send(&prompt, n * 60_000);
        assert_eq!((usage.read, usage.write, usage.uncached), (0, [100, 2_000], 0));
    }
}

#[test]
fn another_seed_is_another_luck() {
    let reads = |seed: u32| {
        let rules = format!("[cache.prefix_interval]\nhits = {{ probability = 0.5, seed = {seed} }}");
        let prompts = [(); 40].map(|()| users(2_000, &[]));
        Listed::new(&rules_of(&rules), "").reads_and_writes(&prompts)
    };

    assert_eq!(reads(1), reads(1));
    assert_ne!(reads(1), reads(2));
}

/// python-genai#1880: a cache that held nothing for prompts of 9,000 to 17,000 tokens.
#[test]
fn prompts_of_lengths_that_are_never_cached_find_nothing_and_those_on_either_side_do() {
    let rules = "[cache.prefix_interval]\nhits = { probability = 1, never = { from_tokens = 9_000, to_tokens = 17_000 } }";
    let grown = [&[][..], &[], &[(1, 1)], &[(1, 1), (2, 8_000)], &[(1, 1), (2, 8_000), (3, 1)]];
    let prompts = grown.map(|it| users(8_999, it));
    let reads = Listed::new(&rules_of(rules), "").reads_and_writes(&prompts);

    assert_eq!(reads.iter().map(|it| it[0]).collect::<Vec<_>>(), [0, 8_999, 0, 0, 17_000]);
}
