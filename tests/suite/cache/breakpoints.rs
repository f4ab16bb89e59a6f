//! The breakpoints rule on the examples of Anthropic's prompt caching guide, read 2026-09.

use ctxsim::cache::breakpoints::{BreakpointCache, Times};
use ctxsim::cache::marks::CacheMark;
use ctxsim::input::TtlClass::{Long, Short};
use ctxsim::timeline::Kind;

use super::{Blocks, rules, send};

#[test]
fn anthropic_guide_a_growing_conversation_reads_what_the_turn_before_wrote() {
    let mut cache = BreakpointCache::new(rules(0));

    let first = send(&mut cache, &Blocks::users(10), &[(10, Short)], 0);
    let second = send(&mut cache, &Blocks::users(15), &[(15, Short)], 10);

    assert_eq!((first.read, first.write, first.uncached), (0, [1_000, 0], 0));
    assert_eq!((second.read, second.write, second.uncached), (1_000, [500, 0], 0));
}

#[test]
fn anthropic_guide_twenty_positions_back_are_looked_at_and_no_more() {
    let mut cache = BreakpointCache::new(rules(0));
    send(&mut cache, &Blocks::users(15), &[(15, Short)], 0);

    let outside = send(&mut cache, &Blocks::users(35), &[(35, Short)], 10);
    assert_eq!((outside.read, outside.write), (0, [3_500, 0]), "35 to 16 are looked at, 15 is one too far");

    let mut cache = BreakpointCache::new(rules(0));
    send(&mut cache, &Blocks::users(15), &[(15, Short)], 0);
    let second_mark = send(&mut cache, &Blocks::users(35), &[(15, Short), (35, Short)], 10);
    assert_eq!((second_mark.read, second_mark.write), (1_500, [2_000, 0]));
}

#[test]
fn anthropic_guide_a_changing_block_in_front_of_the_mark_is_written_every_time() {
    let mut cache = BreakpointCache::new(rules(0));
    for now in 0..4 {
        let mut blocks = Blocks::users(5);
        blocks.0.push((Kind::User, 1_000 + now, 100));

        let usage = send(&mut cache, &blocks, &[(6, Short)], i64::try_from(now).unwrap() * 10_000);

        assert_eq!((usage.read, usage.write), (0, [600, 0]));
    }
}

#[test]
fn anthropic_guide_a_book_is_written_once_and_then_read() {
    let mut cache = BreakpointCache::new(rules(1_024));
    let blocks = Blocks(vec![(Kind::System, 1, 188_086), (Kind::User, 2, 21)]);

    let first = send(&mut cache, &blocks, &[(1, Short)], 0);
    let second = send(&mut cache, &blocks, &[(1, Short)], 20_000);

    assert_eq!((first.read, first.write, first.uncached), (0, [188_086, 0], 21));
    assert_eq!((second.read, second.write, second.uncached), (188_086, [0, 0], 21));
}

#[test]
fn anthropic_guide_mixed_lifetimes_are_billed_up_to_the_highest_mark_of_each() {
    let mut cache = BreakpointCache::new(rules(1_024));
    let front = vec![(Kind::System, 1, 1_800)];
    send(&mut cache, &Blocks(front.clone()), &[(1, Long)], 0);
    let mut blocks = Blocks(front);
    blocks.0.extend([(Kind::User, 2, 100), (Kind::User, 3, 148), (Kind::User, 4, 50)]);

    let usage = send(&mut cache, &blocks, &[(1, Long), (2, Long), (3, Short)], 10);

    assert_eq!((usage.read, usage.write, usage.uncached), (1_800, [148, 100], 50));
}

#[test]
fn anthropic_guide_a_stream_of_four_minutes_leaves_one_of_five() {
    let blocks = Blocks::users(10);
    let links = blocks.links();
    let mark = [CacheMark { link: 9, tokens: 1_000, ttl: Short }];
    for (now_ms, read) in [(239_999, 0), (240_000, 1_000), (300_000, 1_000), (300_001, 0)] {
        let mut cache = BreakpointCache::new(rules(0));
        cache.divide(&links, &mark, 1_000, Times { request_ms: 0, response_ms: 240_000 });

        let usage = cache.divide(&links, &mark, 1_000, Times { request_ms: now_ms, response_ms: now_ms });

        assert_eq!(usage.read, read, "at {now_ms} ms");
    }
}

#[test]
fn anthropic_guide_an_entry_is_readable_once_its_writers_response_began() {
    let mut cache = BreakpointCache::new(rules(0));
    let links = Blocks::users(10).links();
    let mark = [CacheMark { link: 9, tokens: 1_000, ttl: Short }];
    let mut at =
        |request_ms, response_ms| cache.divide(&links, &mark, 1_000, Times { request_ms, response_ms }).read;

    assert_eq!([at(0, 5_000), at(1, 9_000), at(2, 9_000), at(5_000, 6_000)], [0, 0, 0, 1_000]);
}

#[test]
fn anthropic_guide_reading_renews_for_free_and_only_what_is_read_or_marked() {
    let mut cache = BreakpointCache::new(rules(0));
    send(&mut cache, &Blocks::users(5), &[(2, Short), (5, Short)], 0);
    assert_eq!(send(&mut cache, &Blocks::users(5), &[(5, Short)], 200_000).read, 500);

    assert_eq!(send(&mut cache, &Blocks::users(2), &[(2, Short)], 300_001).read, 0, "nothing renewed it");
    assert_eq!(send(&mut cache, &Blocks::users(5), &[(5, Short)], 500_000).read, 500);
}
