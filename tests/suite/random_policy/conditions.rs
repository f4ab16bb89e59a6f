//! Random sizes, extents and conditions.

use ctxsim::quantity::Decimal;
use ctxsim::spec::size::{BoundSpec, CondSpec, CountSpec, DurationSpec, ExtentSpec, SizeSpec, UnitSpec};
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

pub(super) fn share() -> impl Strategy<Value = Decimal> {
    select(vec!["0", "0.1", "0.25", "0.3", "0.5", "0.75", "1"]).prop_map(decimal)
}

pub(super) fn plain_size() -> impl Strategy<Value = SizeSpec> {
    prop_oneof![
        3 => (0_u64..1_500).prop_map(SizeSpec::Tokens),
        6 => (1_500_u64..40_000).prop_map(SizeSpec::Tokens),
        1 => (0_u64..60_000).prop_map(SizeSpec::Chars),
        2 => share().prop_map(SizeSpec::Ratio),
        1 => Just(SizeSpec::Param("a".to_owned())),
        1 => select(vec![SizeSpec::Limit, SizeSpec::Window, SizeSpec::OutputLimit]),
    ]
}

/// A size that may look at the prompt when the stage fired.
fn size() -> BoxedStrategy<SizeSpec> {
    let start = share().prop_map(|it| SizeSpec::Times(it, Box::new(SizeSpec::Start)));
    let parts = || prop::collection::vec(plain_size(), 1..3);
    prop_oneof![
        10 => plain_size(),
        3 => start,
        1 => parts().prop_map(SizeSpec::Min),
        1 => parts().prop_map(SizeSpec::Max),
        1 => parts().prop_map(SizeSpec::Sum),
        1 => parts().prop_map(SizeSpec::Minus),
        1 => (1_000_u64..60_000, plain_size(), plain_size()).prop_map(|(below, then, otherwise)| {
            let (of, then, otherwise) = (Default::default(), Box::new(then), Box::new(otherwise));
            SizeSpec::ByWindow { below, of, then, otherwise }
        }),
    ]
    .boxed()
}

fn bound(most: impl Strategy<Value = SizeSpec>, starts: bool) -> impl Strategy<Value = BoundSpec> {
    let kind = if starts { select(vec![0, 0, 0, 1, 1, 2, 3]) } else { select(vec![2, 3, 3, 3, 0]) };
    (kind, most).prop_map(|(kind, size)| {
        let given = |n| (kind == n).then(|| size.clone());
        BoundSpec { above: given(0), at_least: given(1), below: given(2), at_most: given(3) }
    })
}

pub(super) fn unit() -> impl Strategy<Value = UnitSpec> {
    use UnitSpec::{Items, Messages, Steps, ToolUses, Turns};
    select(vec![Items, ToolUses, Messages, Steps, Turns])
}

fn count(starts: bool) -> BoxedStrategy<CondSpec> {
    (unit(), 0_u64..9, 0..2)
        .prop_map(move |(of, count, kind)| {
            let given = |wanted: bool, n| (wanted && kind == n).then_some(CountSpec::Fixed(count));
            CondSpec::Count {
                of,
                above: given(starts, 0),
                at_least: given(starts, 1),
                below: given(!starts, 0),
                at_most: given(!starts, 1),
            }
        })
        .boxed()
}

pub(super) fn units_of(unit: UnitSpec, n: u64) -> ExtentSpec {
    let n = CountSpec::Fixed(n);
    match unit {
        UnitSpec::Items => ExtentSpec::Items(n),
        UnitSpec::ToolUses => ExtentSpec::ToolUses(n),
        UnitSpec::Messages => ExtentSpec::Messages(n),
        UnitSpec::Steps => ExtentSpec::Steps(n),
        UnitSpec::Turns => ExtentSpec::Turns(n),
    }
}

pub(super) fn extent() -> BoxedStrategy<ExtentSpec> {
    prop_oneof![
        8 => (unit(), 0_u64..5).prop_map(|(unit, n)| units_of(unit, n)),
        1 => Just(ExtentSpec::Items(CountSpec::Param("n".to_owned()))),
        2 => (0_u64..9_000).prop_map(|it| ExtentSpec::Tokens(CountSpec::Fixed(it))),
        1 => size().prop_map(ExtentSpec::Size),
        2 => share().prop_map(ExtentSpec::Fraction),
        1 => Just(ExtentSpec::All),
    ]
    .boxed()
}

pub(super) fn plain_small() -> impl Strategy<Value = SizeSpec> {
    (0_u64..2_000).prop_map(SizeSpec::Tokens)
}

/// What a trigger or a step's own condition may ask.
pub(super) fn when(reclaims: bool) -> BoxedStrategy<CondSpec> {
    let leaf = || {
        prop_oneof![
            6 => bound(size(), true).prop_map(CondSpec::Prompt),
            1 => bound(size(), true).prop_map(CondSpec::Body),
            2 => bound(size(), true).prop_map(CondSpec::Scope),
            1 => bound(size(), true).prop_map(move |it| {
                if reclaims { CondSpec::Reclaimable(it) } else { CondSpec::Freed(it) }
            }),
            2 => (unit(), 1_u64..6).prop_map(|(unit, n)| CondSpec::Every(units_of(unit, n))),
            2 => count(true),
            1 => select(vec![5_000, 300_000]).prop_map(|ms| CondSpec::Idle { longer_than: DurationSpec(ms) }),
            1 => Just(CondSpec::CacheCold),
            1 => Just(CondSpec::Always),
        ]
    };
    let some = move || prop::collection::vec(leaf(), 1..3);
    prop_oneof![
        8 => leaf(),
        1 => some().prop_map(CondSpec::All),
        1 => some().prop_map(CondSpec::Any),
        1 => leaf().prop_map(|it| CondSpec::Not(Box::new(it))),
    ]
    .boxed()
}

/// What a goal may ask: of summaries only what they foresee, and what was taken only where one rung takes.
pub(super) fn until(summarises: bool, reclaims: bool, is_alone: bool) -> BoxedStrategy<CondSpec> {
    let leaf = move || {
        let seen = if summarises {
            bound(size(), false).prop_map(CondSpec::Scope).boxed()
        } else {
            prop_oneof![
                bound(size(), false).prop_map(CondSpec::Scope),
                bound(size(), false).prop_map(move |it| {
                    if reclaims { CondSpec::Reclaimable(it) } else { CondSpec::Scope(it) }
                }),
                count(false),
            ]
            .boxed()
        };
        let taken = if is_alone {
            extent().prop_map(CondSpec::Taken).boxed()
        } else {
            Just(CondSpec::Always).boxed()
        };
        prop_oneof![
            6 => bound(size(), false).prop_map(CondSpec::Prompt),
            1 => bound(size(), false).prop_map(CondSpec::Body),
            2 => bound(size(), true).prop_map(CondSpec::Freed),
            3 => seen,
            2 => taken,
            1 => Just(CondSpec::Not(Box::new(CondSpec::Always))),
        ]
    };
    let some = move || prop::collection::vec(leaf(), 1..3);
    prop_oneof![
        8 => leaf(),
        1 => some().prop_map(CondSpec::All),
        1 => some().prop_map(CondSpec::Any),
    ]
    .boxed()
}
