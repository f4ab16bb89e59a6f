//! Published series and trigger points, to the digit; costs and break-evens of issues are in `price.rs` and `sensitivity`.

use ctxsim::projection::test::{Known, Num};

use crate::support::*;

/// A preset with numbers of its parameters.
fn preset(name: &str, params: &[(&str, Size)]) -> Policy {
    let mut spec =
        bundled_catalog().policy(&format!("agents/{name}")).unwrap_or_else(|it| panic!("{it}")).spec;
    for (param, size) in params {
        *spec.params.get_mut(*param).unwrap_or_else(|| panic!("{name} has no {param}")) = size.clone();
    }
    Policy::new(&spec).unwrap_or_else(|it| panic!("{it:#?}"))
}

/// The agent's prompts, and how many summaries were asked for.
fn prompts(load: &Timeline, policy: &Policy, limits: &Limits) -> (Vec<u64>, usize) {
    let mut rows = Rows::default();
    Simulation::new(load, policy, limits, &CacheRules::None).run(&mut rows);
    let of = |role| rows.requests.iter().filter(move |it| it.role == role).map(|it| it.prompt);
    (of(Role::Main).collect(), of(Role::Summariser).count())
}

fn result(raw: u32) -> NewItem<'static> {
    NewItem::result("search", 0, ItemSizes::whole(raw), Preserve::None, Default::default())
}

/// Ten requests: 1,141 tokens to begin with, and 571 more with each call and its result. A cleared result is 497 shorter.
#[test]
fn browser_use_cc_compaction_clears_tool_results_from_37_105_to_23_189() {
    let mut load = TimelineBuilder::new("tools", &[]);
    load.stable(Kind::System, 1_041);
    load.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    for _ in 0..9 {
        load.step(0, 62, &[NewItem::call("search", 62)], &[result(509)]);
    }
    load.step(0, 10, &[NewItem::plain(Kind::Assistant, 10)], &[]);
    let load = load.finish();
    let [none, clear] = [
        preset("anthropic/clear_tool_uses", &[]),
        preset("anthropic/clear_tool_uses", &[("trigger", Size::Tokens(0)), ("keep", Size::Count(2))]),
    ]
    .map(|it| prompts(&load, &it, &Limits::NONE).0);

    let expected: Vec<u64> = (0..10).map(|n| 1_141 + 571 * n).collect();
    assert_eq!((&none, none.iter().sum()), (&expected, 37_105_u64));
    assert_eq!(clear, [1_141, 1_712, 2_283, 2_357, 2_431, 2_505, 2_579, 2_653, 2_727, 2_801]);
    assert_eq!(clear.iter().sum::<u64>(), 23_189);
}

/// Eight turns that think. The source's fifth turn clears 271 tokens of thinking where the prompt grew by 212: something of at least 59
/// tokens left both prompts there, which is a note of 89 here.
#[test]
fn browser_use_cc_compaction_clears_thinking_from_11_172_to_8_903() {
    const THINKING: [u32; 8] = [94, 70, 63, 271, 102, 86, 50, 50];
    const GROWTH: [u32; 7] = [123, 221, 323, 301, 228, 245, 228];
    let mut load = TimelineBuilder::new("thinking", &[]);
    load.stable(Kind::System, 531);
    let note = load.next_item();
    for (turn, thinking) in THINKING.into_iter().enumerate() {
        let asked = NewItem::plain(Kind::User, 20);
        if turn == 0 {
            load.begin_turn(&[NewItem::plain(Kind::User, 89), asked]);
        } else {
            load.begin_turn(&[asked]);
        }
        if turn == 4 {
            load.reset(note..note + 1);
        }
        let said = GROWTH.get(turn).map_or(10, |it| it - thinking - 20);
        let reply = [NewItem::plain(Kind::Reasoning, thinking), NewItem::plain(Kind::Assistant, said)];
        load.step(0, (thinking + said).into(), &reply, &[]);
    }
    let load = load.finish();
    let keeps = |turns| {
        prompts(&load, &preset("anthropic/clear_thinking", &[("keep", Size::Count(turns))]), &Limits::NONE).0
    };
    let (all, newest) = (keeps(100), keeps(1));

    assert_eq!(all, [640, 763, 984, 1_307, 1_519, 1_747, 1_992, 2_220]);
    assert_eq!(newest, [640, 763, 890, 1_143, 1_292, 1_249, 1_392, 1_534]);
    assert_eq!((all.iter().sum::<u64>(), newest.iter().sum::<u64>()), (11_172, 8_903));
}

/// Whether a preset compacts a prompt of so many tokens.
fn compacts(preset_name: &str, limits: &Limits, prompt: u64) -> bool {
    let mut load = TimelineBuilder::new("trigger", &[]);
    load.stable(Kind::System, 1_000);
    load.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    let raw = u32::try_from(prompt - 1_110).unwrap();
    load.step(0, 10, &[NewItem::call("search", 10)], &[result(raw)]);
    load.step(0, 10, &[NewItem::plain(Kind::Assistant, 10)], &[]);
    prompts(&load.finish(), &preset(preset_name, &[]), limits).1 > 0
}

#[test]
fn agents_compact_at_the_prompts_that_their_sources_name() {
    let window = |window, output| Limits { prompt: window, window, output };
    for (name, limits, first) in [
        ("codex/auto_compact", window(272_000, 128_000), 244_800),
        ("claude_code/auto_compact", window(200_000, 64_000), 167_000),
        ("claude_code/auto_compact", window(1_000_000, 128_000), 967_000),
        ("claude_code/auto_compact_2_1_20", window(200_000, 64_000), 155_000),
        ("pi/compact", window(200_000, 64_000), 183_617),
        ("anthropic/compact", window(200_000, 64_000), 150_000),
        ("zed/auto_compact", window(200_000, 64_000), 108_800),
        ("crush/auto_summarize", window(1_000_000, 64_000), 980_000),
    ] {
        assert!(compacts(name, &limits, first), "{name} lets {first} pass");
        assert!(!compacts(name, &limits, first - 1), "{name} compacts {}", first - 1);
    }
}

#[test]
fn codex_counts_95_percent_of_its_window_as_usable() {
    let limits = Limits { prompt: 272_000, window: 272_000, output: 128_000 };
    let known = Known::unrecorded(limits, Decimal::ONE);
    let usable = Size::Times(Decimal::from_f64(0.95).unwrap(), Box::new(Size::Limit));
    assert_eq!(Num::known(&usable, &known), Some(258_400));
}
