//! Random sizes, extents and conditions.

use ctxsim::input::policy::{Cond, Count, Duration, Extent, Size, SizeBound, Unit};
use ctxsim::quantity::Decimal;
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

pub(super) fn share() -> impl Strategy<Value = Decimal> {
    select(vec!["0", "0.1", "0.25", "0.3", "0.5", "0.75", "1"]).prop_map(decimal)
}

pub(super) fn plain_size() -> impl Strategy<Value = Size> {
    prop_oneof![
        3 => (0_u64..1_500).prop_map(Size::Tokens),
        6 => (1_500_u64..40_000).prop_map(Size::Tokens),
        1 => (0_u64..60_000).prop_map(Size::Chars),
        2 => share().prop_map(Size::Ratio),
        1 => Just(Size::Param("a".to_owned())),
        1 => select(vec![Size::Limit, Size::Window, Size::OutputLimit]),
    ]
}

/// A size that may look at the prompt when the stage fired.
fn size() -> BoxedStrategy<Size> {
    let start = share().prop_map(|it| Size::Times(it, Box::new(Size::Start)));
    let parts = || prop::collection::vec(plain_size(), 1..3);
    prop_oneof![
        10 => plain_size(),
        3 => start,
        1 => share().prop_map(|it| Size::Times(it, Box::new(Size::Behind))),
        1 => parts().prop_map(Size::Min),
        1 => parts().prop_map(Size::Max),
        1 => parts().prop_map(Size::Sum),
        1 => parts().prop_map(Size::Minus),
        1 => (1_000_u64..60_000, plain_size(), plain_size()).prop_map(|(below, then, otherwise)| {
            let (of, then, otherwise) = (Default::default(), Box::new(then), Box::new(otherwise));
            Size::ByWindow { below, of, then, otherwise }
        }),
    ]
    .boxed()
}

fn bound(most: impl Strategy<Value = Size>, starts: bool) -> impl Strategy<Value = SizeBound> {
    let kind = if starts { select(vec![0, 0, 0, 1, 1, 2, 3]) } else { select(vec![2, 3, 3, 3, 0]) };
    (kind, most).prop_map(|(kind, size)| {
        let given = |n| (kind == n).then(|| size.clone());
        SizeBound { above: given(0), at_least: given(1), below: given(2), at_most: given(3) }
    })
}

pub(super) fn unit() -> impl Strategy<Value = Unit> {
    use Unit::{Groups, Items, Messages, Steps, ToolUses, Turns};
    select(vec![Items, ToolUses, Messages, Groups, Steps, Turns])
}

fn count(starts: bool) -> BoxedStrategy<Cond> {
    (unit(), 0_u64..9, 0..2)
        .prop_map(move |(of, count, kind)| {
            let given = |wanted: bool, n| (wanted && kind == n).then_some(Count::Fixed(count));
            Cond::Count {
                of,
                above: given(starts, 0),
                at_least: given(starts, 1),
                below: given(!starts, 0),
                at_most: given(!starts, 1),
            }
        })
        .boxed()
}

/// A bound on what has grown since the policy's first stage or the one that asks acted.
fn grown(bound: SizeBound) -> Cond {
    let SizeBound { above, at_least, below, at_most } = bound;
    let stage = at_least.is_some().then(|| "stage_0".to_owned());
    Cond::Grown { stage, above, at_least, below, at_most }
}

/// A bound on what has come since.
fn since(count: Cond) -> Cond {
    let Cond::Count { of, above, at_least, below, at_most } = count else { return count };
    let stage = above.is_some().then(|| "stage_0".to_owned());
    Cond::Since { stage, of, above, at_least, below, at_most }
}

pub(super) fn units_of(unit: Unit, n: u64) -> Extent {
    let n = Count::Fixed(n);
    match unit {
        Unit::Items => Extent::Items(n),
        Unit::ToolUses => Extent::ToolUses(n),
        Unit::Messages => Extent::Messages(n),
        Unit::Groups => Extent::Groups(n),
        Unit::Steps => Extent::Steps(n),
        Unit::Turns => Extent::Turns(n),
    }
}

pub(super) fn extent() -> BoxedStrategy<Extent> {
    prop_oneof![
        8 => (unit(), 0_u64..5).prop_map(|(unit, n)| units_of(unit, n)),
        1 => Just(Extent::Items(Count::Param("n".to_owned()))),
        2 => (0_u64..9_000).prop_map(|it| Extent::Tokens(Count::Fixed(it))),
        1 => size().prop_map(Extent::Size),
        2 => share().prop_map(Extent::Fraction),
        1 => Just(Extent::All),
    ]
    .boxed()
}

pub(super) fn plain_small() -> impl Strategy<Value = Size> {
    (0_u64..2_000).prop_map(Size::Tokens)
}

/// What a trigger or a step's own condition may ask.
pub(super) fn when(reclaims: bool) -> BoxedStrategy<Cond> {
    let leaf = || {
        prop_oneof![
            6 => bound(size(), true).prop_map(Cond::Prompt),
            1 => bound(size(), true).prop_map(Cond::Body),
            1 => bound(size(), true).prop_map(Cond::Raw),
            1 => bound(size(), true).prop_map(grown),
            1 => count(true).prop_map(since),
            1 => bound(size(), true).prop_map(Cond::Counted),
            2 => bound(size(), true).prop_map(Cond::Scope),
            1 => bound(size(), true).prop_map(move |it| {
                if reclaims { Cond::Reclaimable(it) } else { Cond::Freed(it) }
            }),
            2 => (unit(), 1_u64..6).prop_map(|(unit, n)| Cond::Every(units_of(unit, n))),
            2 => count(true),
            1 => select(vec![5_000, 300_000]).prop_map(|ms| Cond::Idle { longer_than: Duration(ms) }),
            1 => Just(Cond::CacheCold),
            1 => Just(Cond::Always),
        ]
    };
    let some = move || prop::collection::vec(leaf(), 1..3);
    prop_oneof![
        8 => leaf(),
        1 => some().prop_map(Cond::All),
        1 => some().prop_map(Cond::Any),
        1 => leaf().prop_map(|it| Cond::Not(Box::new(it))),
    ]
    .boxed()
}

/// What a goal may ask: of summaries only what they foresee, and what was taken only where one rung takes.
pub(super) fn until(summarises: bool, reclaims: bool, is_alone: bool) -> BoxedStrategy<Cond> {
    let leaf = move || {
        let seen = if summarises {
            bound(size(), false).prop_map(Cond::Scope).boxed()
        } else {
            prop_oneof![
                bound(size(), false).prop_map(Cond::Scope),
                bound(size(), false)
                    .prop_map(move |it| { if reclaims { Cond::Reclaimable(it) } else { Cond::Scope(it) } }),
                count(false),
            ]
            .boxed()
        };
        let taken =
            if is_alone { extent().prop_map(Cond::Taken).boxed() } else { Just(Cond::Always).boxed() };
        prop_oneof![
            6 => bound(size(), false).prop_map(Cond::Prompt),
            1 => bound(size(), false).prop_map(Cond::Body),
            1 => bound(size(), false).prop_map(Cond::Counted),
            2 => bound(size(), true).prop_map(Cond::Freed),
            3 => seen,
            2 => taken,
            1 => Just(Cond::Not(Box::new(Cond::Always))),
        ]
    };
    let some = move || prop::collection::vec(leaf(), 1..3);
    prop_oneof![
        8 => leaf(),
        1 => some().prop_map(Cond::All),
        1 => some().prop_map(Cond::Any),
    ]
    .boxed()
}
