//! Clearing of tool results as Anthropic's context editing does it when nothing is set: from 100,000 tokens on, all but three.

use crate::support::*;

/// The prompts of a run of requests, each with a result of so many tokens, behind a system prompt.
fn prompts(system: u32, results: &[u32]) -> Vec<u64> {
    let path = root().join("policies/agents/anthropic/clear_tool_uses.ron");
    let policy = Policy::new(&Source::read(&path).unwrap().decode::<PolicyFile>().unwrap()).unwrap();
    let mut timeline = TimelineBuilder::new("results", &[]);
    timeline.stable(Kind::System, system);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    for tokens in results {
        let result =
            NewItem::result("bash", 0, ItemSizes::whole(*tokens), Preserve::Reference, Default::default());
        timeline.step(0, 0, &[NewItem::call("bash", 0)], &[result]);
    }
    timeline.step(0, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
    let mut rows = Rows::default();
    Simulation::new(&timeline.finish(), &policy, &Limits::NONE, &CacheRules::None).run(&mut rows);
    rows.requests.iter().map(|it| it.prompt).collect()
}

#[test]
fn nothing_is_cleared_up_to_100_000_tokens() {
    assert_eq!(prompts(99_500, &[100, 100, 100, 100]).pop(), Some(100_000));
}

#[test]
fn above_it_all_but_the_three_newest_results_are_cleared_however_little_that_frees() {
    assert_eq!(prompts(99_501, &[100, 100, 100, 100]).pop(), Some(100_001 - 100 + 12));
    // The fourth result lets the first go; then the prompt is under the trigger again.
    assert_eq!(prompts(99_501, &[50_000, 13, 2, 3, 4]).pop(), Some(99_601 + 12 + 13 + 2 + 3 + 4));
}
