//! Fixed blocks as vLLM's design page on prefix caching and SGLang's radix cache keep them.

use super::listed::{Listed, rules_of, users};

fn blocks(tokens: u64, more: &str) -> Listed {
    Listed::new(&rules_of(&format!("[cache.blocks]\nblock_tokens = {tokens}\n{more}")), "")
}

#[test]
fn vllm_design_only_full_blocks_are_cached() {
    let prompts = [
        users(0, &[(1, 40)]),
        users(0, &[(1, 40)]),
        users(0, &[(1, 40), (2, 8)]),
        users(0, &[(1, 40), (2, 8)]),
    ];

    let reads = blocks(16, "").reads_and_writes(&prompts).map(|it| it[0]);

    assert_eq!(reads, [0, 32, 32, 48]);
}

#[test]
fn vllm_design_a_block_is_known_by_all_that_stands_before_it() {
    let prompts =
        [users(0, &[(1, 16), (2, 32)]), users(0, &[(3, 16), (2, 32)]), users(0, &[(1, 16), (2, 32)])];

    let reads = blocks(16, "").reads_and_writes(&prompts).map(|it| it[0]);

    assert_eq!(reads, [0, 0, 48]);
}

#[test]
fn vllm_design_of_equally_old_blocks_the_tail_is_freed_first() {
    // Four blocks of room; the second prompt needs two of them.
    let prompts = [users(0, &[(1, 64)]), users(0, &[(2, 32)]), users(0, &[(1, 64)])];
    let reads = |touch| {
        let mut cache = blocks(16, &format!("capacity_blocks = 4\ntouch = \"{touch}\""));
        cache.reads_and_writes(&prompts).map(|it| it[0])
    };

    assert_eq!(reads("tail_first"), [0, 0, 32]);
    assert_eq!(reads("head_first"), [0, 0, 0]);
}

#[test]
fn sglang_pages_of_one_token_read_all_that_is_shared() {
    let prompts = [users(0, &[(1, 37), (2, 5)]), users(0, &[(1, 37), (3, 9)]), users(0, &[(1, 37), (2, 5)])];

    let reads = blocks(1, "").reads_and_writes(&prompts).map(|it| it[0]);

    assert_eq!(reads, [0, 37, 42]);
}
