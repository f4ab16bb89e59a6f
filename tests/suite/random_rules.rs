//! Random cache rules of every kind, and random layouts.

use ctxsim::input::CacheRules;
use ctxsim::input::policy::written::{
    Breakpoint, BreakpointCond, Changes, Dynamic, DynamicPlace, LayoutSpec, MemoryPlace,
};
use ctxsim::input::policy::{Duration, LevelEnd, PromptPlace, Size, SizeBound};
use ctxsim::input::profile::cache::{
    Automatic, Blocks, Breakpoints, CachedEnd, ExplicitCache, Hits, Invalidates, LoggedCache, LookbackUnit,
    Lookup, Qualified, Readable, Steps, Touch, UnitRules,
};
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn steps() -> impl Strategy<Value = Steps> {
    select(vec![
        Steps { min: 0, step: 1 },
        Steps { min: 0, step: 64 },
        Steps { min: 1_024, step: 128 },
        Steps { min: 1_024, step: 1 },
    ])
}

fn ttl() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), Just(Some(300_000)), (0_u64..30_000).prop_map(Some)]
}

/// From when on entries can be read; the responses of random timelines take no time.
fn readable() -> impl Strategy<Value = (Readable, u64)> {
    let at = vec![Readable::RequestStart, Readable::ResponseStart, Readable::ResponseEnd];
    (select(at), select(vec![0, 0, 4_000, 60_000]))
}

pub(crate) fn units() -> impl Strategy<Value = UnitRules> {
    let interval = prop_oneof![2 => Just(None), 1 => (1_u64..2_000).prop_map(Some)];
    let ends = (any::<bool>(), any::<bool>(), any::<bool>());
    (steps(), ends, interval, ttl(), readable()).prop_map(
        |(steps, ends, interval_tokens, ttl_ms, readable)| UnitRules {
            steps,
            at_input_end: ends.0,
            at_output_end: ends.1,
            at_common_prefix: ends.2,
            interval_tokens,
            ttl_ms,
            readable: readable.0,
            readable_after_ms: readable.1,
        },
    )
}

fn lookup() -> impl Strategy<Value = Option<Lookup>> {
    let one = (0_u16..3, 0_u16..6, 0_u16..6, any::<bool>());
    prop::option::of(one.prop_map(|(first, latest, message_ends, lead)| Lookup {
        first,
        latest,
        message_ends,
        lead,
    }))
}

pub(crate) fn breakpoints() -> impl Strategy<Value = Breakpoints> {
    let sizes = (select(vec![0_u64, 512, 2_048]), 1_u8..6, 1_u16..30, any::<bool>());
    let places = (lookup(), any::<bool>(), any::<bool>(), any::<bool>());
    let ttls = select(vec![[Some(300_000), None], [None, Some(3_600_000)], [Some(20_000), Some(3_600_000)]]);
    let ages = (ttls, select(vec![0_u64, 5_000]), prop::option::of(10_000_u64..600_000), any::<bool>());
    (sizes, places, ages, readable()).prop_map(|(sizes, places, ages, readable)| Breakpoints {
        min_tokens: sizes.0,
        breakpoints_max: sizes.1,
        lookback_positions: sizes.2,
        lookback_unit: if sizes.3 { LookbackUnit::Run } else { LookbackUnit::Block },
        lookup: places.0,
        automatic: if places.1 { Automatic::LastBlock } else { Automatic::LastMessage },
        is_implicit: places.2,
        marks_lead: places.3,
        marks_instruction: false,
        ttl_ms: ages.0,
        grace_ms: ages.1,
        max_age_ms: ages.2,
        renews: ages.3,
        readable: readable.0,
        readable_after_ms: readable.1,
    })
}

fn blocks() -> impl Strategy<Value = Blocks> {
    let capacity = prop_oneof![Just(None), (1_u32..60).prop_map(Some)];
    (50_u64..700, capacity, any::<bool>()).prop_map(|(block_tokens, capacity_blocks, is_head_first)| Blocks {
        block_tokens,
        capacity_blocks,
        touch: if is_head_first { Touch::HeadFirst } else { Touch::TailFirst },
    })
}

fn stored() -> impl Strategy<Value = ExplicitCache> {
    let numbers = (select(vec![0_u64, 2_048]), select(vec![15_000_u64, 300_000, 3_600_000]), any::<bool>());
    numbers.prop_map(|(min_tokens, ttl_ms, renews)| ExplicitCache { min_tokens, ttl_ms, renews })
}

fn logged() -> impl Strategy<Value = LoggedCache> {
    let ends = vec![CachedEnd::Prompt, CachedEnd::BeforeEnd, CachedEnd::BeforeReplyEnd];
    (select(ends), select(vec![0_u64, 0, 700, 2_500])).prop_map(|(end, front)| LoggedCache { end, front })
}

/// Rules of every kind, a third of those that can be with luck.
pub(crate) fn rules() -> impl Strategy<Value = CacheRules> {
    let lucky = prop_oneof![
        5 => (steps(), ttl(), logged()).prop_map(|(steps, ttl_ms, logged)| CacheRules::PrefixInterval { steps, ttl_ms, logged }),
        5 => breakpoints().prop_map(CacheRules::Breakpoints),
        4 => units().prop_map(CacheRules::Units),
        3 => blocks().prop_map(CacheRules::Blocks),
    ];
    let hits = prop::option::weighted(
        0.3,
        (0_u64..=Hits::CERTAIN, 0_u64..5, prop::option::of((0_u64..300, 0_u64..300))),
    );
    let lucky = (lucky, hits).prop_map(|(rules, hits)| match hits {
        None => rules,
        Some((parts, seed, never)) => {
            let never = never.map(|(from, more)| [from, from + more]);
            let hits = Some(Hits { parts, seed, never });
            CacheRules::Qualified(Box::new(Qualified {
                rules,
                invalidates: Invalidates::default(),
                hits,
                of_models: Vec::new(),
            }))
        }
    });
    prop_oneof![
        1 => Just(CacheRules::None),
        2 => steps().prop_map(CacheRules::PrefixCap),
        2 => stored().prop_map(CacheRules::ExplicitCache),
        14 => lucky,
    ]
}

/// A policy's layout, or none.
pub(crate) fn layout() -> impl Strategy<Value = Option<LayoutSpec>> {
    let at = prop_oneof![
        Just(PromptPlace::EndOf(LevelEnd::Tools)),
        Just(PromptPlace::EndOf(LevelEnd::System)),
        (1_u8..5, 0_u8..3).prop_map(|(n, offset)| PromptPlace::LastMessages { n, offset }),
        Just(PromptPlace::Automatic),
        (0_u8..3).prop_map(PromptPlace::BeforeTurn),
    ];
    let ttl = prop::option::of(select(vec![Duration(300_000), Duration(3_600_000)]));
    let bound = |(is_least, size): (bool, u64)| {
        let size = Some(Size::Tokens(size));
        let bound = if is_least { (None, size) } else { (size, None) };
        BreakpointCond::Prompt(SizeBound { below: bound.0, at_least: bound.1, ..SizeBound::default() })
    };
    let when = prop::option::weighted(0.4, (any::<bool>(), 0_u64..20_000).prop_map(bound));
    let breakpoint = (at, ttl, when).prop_map(|(at, ttl, when)| Breakpoint { at, ttl, when });
    let breakpoints = prop::option::weighted(0.8, prop::collection::vec(breakpoint, 0..4));
    let memory = select(vec![MemoryPlace::Head, MemoryPlace::BehindSystem, MemoryPlace::Tail]);
    let places = vec![DynamicPlace::FrontOfSystem, DynamicPlace::BehindSystem, DynamicPlace::Tail];
    let changes = select(vec![Changes::Request, Changes::Turn, Changes::Session]);
    let dynamic = (1_u32..300, select(places), changes).prop_map(|(tokens, at, changes)| Dynamic {
        name: None,
        tokens,
        at,
        changes: if at == DynamicPlace::Tail { Changes::default() } else { changes },
    });
    let dynamic = prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(dynamic, 1..4)];
    let layout = (breakpoints, memory, dynamic).prop_map(|(breakpoints, memory, dynamic)| LayoutSpec {
        breakpoints,
        memory,
        dynamic,
    });
    prop::option::weighted(0.7, layout)
}
