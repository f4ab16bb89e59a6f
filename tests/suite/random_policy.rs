//! Random valid policies, as a file would say them.

mod conditions;

use ctxsim::input::PolicyFile;
use ctxsim::input::policy::{
    Action, Budget, BudgetCounts, Cond, Count, Duration, EditsLast, Extent, Fold, FoldedResults,
    HarnessCounter, Keep, KeptItems, Kind, Moment, Order, Pause, PrefixRule, Preserve, PromptPart,
    RecoverySpec, Rendition, Restore, Scope, SecondCall, SecondReads, ShownAs, Size, StageFile, StageStep,
    Summarise, SummaryPer, SummaryPrompt, SummaryWords, Supersedes, TableRow, Unit,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use conditions::{decimal, extent, plain_size, plain_small, share, unit, units_of, until, when};

fn some_of<T: Clone + std::fmt::Debug + 'static>(all: Vec<T>) -> impl Strategy<Value = Vec<T>> {
    let most = all.len();
    prop_oneof![3 => Just(Vec::new()), 2 => subsequence(all, 1..=most)]
}

fn kinds() -> BoxedStrategy<Vec<Kind>> {
    use Kind::{Assistant, Reasoning, Summary, ToolCall, ToolResult, User};
    prop_oneof![
        3 => Just(vec![ToolResult]),
        2 => Just(Vec::new()),
        2 => subsequence(vec![User, Assistant, Reasoning, ToolCall, ToolResult, Summary], 1..=5),
    ]
    .boxed()
}

fn tools() -> BoxedStrategy<Vec<String>> {
    let names = ["read_file", "process_*", "grep", "*_read"].map(str::to_owned).to_vec();
    prop_oneof![5 => Just(Vec::new()), 2 => subsequence(names, 1..=2)].boxed()
}

fn preserve() -> BoxedStrategy<Vec<Preserve>> {
    let all = vec![Preserve::WorkingEvidence, Preserve::Reference, Preserve::None];
    prop_oneof![4 => Just(Vec::new()), 1 => subsequence(all, 1..=2)].boxed()
}

fn shown() -> BoxedStrategy<Vec<ShownAs>> {
    use ShownAs::{Exact, Gist, Handle, Marker, Offload, Preview, Raw, Summary, Truncate};
    some_of(vec![Raw, Exact, Summary, Gist, Preview, Handle, Marker, Truncate, Offload]).boxed()
}

fn keep() -> BoxedStrategy<Vec<Keep>> {
    let extent = || prop::option::of(extent());
    let one = (kinds(), tools(), extent(), extent()).prop_map(|(kinds, tools, first, recent)| Keep {
        kinds,
        tools,
        first,
        recent,
    });
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(one, 1..=2)].boxed()
}

fn by() -> BoxedStrategy<Option<Extent>> {
    prop_oneof![
        4 => Just(None),
        5 => (unit(), 1_u64..4).prop_map(|(unit, n)| Some(units_of(unit, n))),
        1 => share().prop_map(|it| Some(Extent::Fraction(it))),
        1 => Just(Some(Extent::All)),
    ]
    .boxed()
}

fn scope(order: Order) -> BoxedStrategy<Scope> {
    let part = select(vec![PromptPart::History, PromptPart::Active, PromptPart::Completed]);
    let larger = prop::option::weighted(0.2, plain_small());
    let few = || prop::option::weighted(0.25, extent());
    let filters = (kinds(), tools(), tools(), preserve(), shown(), larger, superseded_by());
    let order = if order == Order::Oldest { Just(order).boxed() } else { orders().boxed() };
    let by = (by(), prop::bool::weighted(0.2));
    (part, filters, keep(), few(), prop::option::weighted(0.4, extent()), few(), order, by)
        .prop_map(|(part, filters, keep, keep_first, keep_recent, only_recent, order, (by, whole))| {
            let whole = whole && by.as_ref().is_some_and(|it| it.units().is_some());
            let (kinds, tools, except_tools, preserve, shown, larger_than, superseded_by) = filters;
            Scope {
                part,
                kinds,
                tools,
                except_tools,
                preserve,
                shown,
                superseded_by,
                larger_than,
                keep,
                keep_first,
                keep_recent,
                only_recent,
                order,
                by,
                whole,
            }
        })
        .boxed()
}

fn superseded_by() -> BoxedStrategy<Vec<Supersedes>> {
    let ways = subsequence(vec![Supersedes::SameCall, Supersedes::SameFile], 1..=2);
    prop_oneof![8 => Just(Vec::new()), 1 => ways].boxed()
}

fn orders() -> impl Strategy<Value = Order> {
    select(vec![Order::Oldest, Order::Oldest, Order::Newest, Order::Largest])
}

fn rendition() -> BoxedStrategy<Rendition> {
    let ranked = || {
        prop_oneof![
            4 => plain_small(),
            1 => (0_u64..9_000).prop_map(|it| Size::PerRank(Box::new(Size::Tokens(it)))),
        ]
    };
    let cut = move || (ranked(), prop::option::of(ranked()));
    prop_oneof![
        2 => select(vec![Rendition::Raw, Rendition::Gist]),
        6 => select(vec![Rendition::Exact, Rendition::Summary, Rendition::Handle]),
        2 => (0_u64..40).prop_map(Rendition::Marker),
        1 => plain_small().prop_map(Rendition::Preview),
        1 => cut().prop_map(|(head, tail)| Rendition::Truncate { head, tail }),
        1 => cut().prop_map(|(head, tail)| Rendition::Offload { head, tail }),
    ]
    .boxed()
}

fn row() -> BoxedStrategy<TableRow> {
    let over = prop::option::of(rendition());
    let exact = prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let charged = prop::bool::weighted(0.3);
    (tools(), preserve(), prop::option::weighted(0.2, plain_small()), rendition(), over, exact, charged)
        .prop_map(|(tools, preserve, larger_than, shown_as, over_budget, exact, charged)| TableRow {
            tools,
            preserve,
            larger_than,
            shown_as,
            over_budget,
            exact,
            charged,
        })
        .boxed()
}

fn budget() -> BoxedStrategy<Budget> {
    let per = select(vec![Extent::All, Extent::Turns(Count::Fixed(1))]);
    let counts = select(vec![BudgetCounts::Shown, BudgetCounts::Visited]);
    (0_u64..9_000, per, counts)
        .prop_map(|(tokens, per, counts)| Budget { tokens: Size::Tokens(tokens), per, counts })
        .boxed()
}

fn table(rows: &'static str) -> impl Strategy<Value = Action> {
    (prop::option::weighted(0.7, budget()), prop::bool::weighted(0.2)).prop_map(move |(budget, grows)| {
        Action::Table { rows: rows.to_owned(), budget, template: None, grows }
    })
}

fn summarise() -> BoxedStrategy<Action> {
    let share_of_input = share().prop_map(|it| Size::Times(it, Box::new(Size::Input)));
    let output = prop_oneof![
        2 => (0_u64..1_500).prop_map(Size::Tokens),
        1 => share_of_input,
        1 => (0_u64..400, 1_u64..900).prop_map(|(least, most)| {
            let share = Size::Times(decimal("0.25"), Box::new(Size::Input));
            let clipped = Size::Min(vec![share, Size::Tokens(most)]);
            Size::Sum(vec![Size::Tokens(least), clipped])
        }),
    ];
    let copy = some_of(vec![Kind::User, Kind::ToolCall, Kind::Summary]);
    let overhead = prop::option::of(prop_oneof![
        (0_u64..900).prop_map(Size::Tokens),
        Just(Size::Times(decimal("0.5"), Box::new(Size::Input))),
    ]);
    let at_least = prop::option::of((0_u64..4).prop_map(Count::Fixed));
    let prompt = select(vec![SummaryPrompt::Separate, SummaryPrompt::Free]);
    let per = select(vec![SummaryPer::All, SummaryPer::Unit]);
    (output, copy, overhead, at_least, prompt, per, beside())
        .prop_map(|(output, copy, overhead, at_least, prompt, per, (reads, keeps, again, restore))| {
            let is_asked = prompt == SummaryPrompt::Separate;
            let (reads, again) = (reads.filter(|_| is_asked), again.filter(|_| is_asked));
            let keeps = keeps.filter(|it| !it.kinds.iter().any(|kind| copy.contains(kind)));
            let at_least = at_least.filter(|_| per == SummaryPer::All);
            let says = SummaryWords::Unknown;
            Action::Summarise(Summarise {
                output,
                copy,
                overhead,
                at_least,
                reads,
                keeps,
                restore,
                again,
                per,
                says,
                prompt,
            })
        })
        .boxed()
}

/// What may go with a summary: a cap on what is read, what is kept, a second request, files that come back.
type Beside = (Option<Size>, Option<KeptItems>, Option<SecondCall>, Option<Restore>);

fn beside() -> BoxedStrategy<Beside> {
    let some = |most: u64| prop::option::weighted(0.5, (0..most).prop_map(Size::Tokens));
    let kinds =
        subsequence(vec![Kind::User, Kind::Assistant, Kind::ToolResult, Kind::Reasoning, Kind::Image], 1..=2);
    let keeps =
        (kinds, 0_u64..3_000).prop_map(|(kinds, tokens)| KeptItems { kinds, tokens: Size::Tokens(tokens) });
    let reads = select(vec![SecondReads::History, SecondReads::Summary]);
    let again = (reads, some(500), some(900)).prop_map(|(reads, overhead, output)| SecondCall {
        reads,
        overhead,
        output,
    });
    let tools = select(vec![vec!["read_file".to_owned()], vec!["*".to_owned()]]);
    let restore = (1_u64..4, tools, some(3_000), some(5_000), some(40), some(200)).prop_map(
        |(files, tools, each, all, name, more)| Restore {
            files: Count::Fixed(files),
            tools,
            each,
            all,
            name,
            more,
        },
    );
    let few = 0.25;
    (
        prop::option::weighted(few, (0_u64..4_000).prop_map(Size::Tokens)),
        prop::option::weighted(few, keeps),
        prop::option::weighted(few, again),
        prop::option::weighted(few, restore),
    )
        .boxed()
}

fn fold() -> BoxedStrategy<Action> {
    use Kind::{Assistant, Reasoning, Summary, ToolCall, ToolResult, User};
    let having = some_of(vec![ToolResult, ToolCall, Reasoning, Summary]);
    let copy = prop_oneof![4 => Just(vec![User]), 1 => some_of(vec![User, Reasoning, ToolCall, ToolResult])];
    let quote = prop_oneof![2 => Just(vec![Assistant, Summary]), 1 => some_of(vec![Assistant, Summary])];
    let rows = select(vec!["first", "second"]).prop_map(str::to_owned);
    let results = (rows, prop::option::weighted(0.7, budget())).prop_map(|(rows, budget)| FoldedResults {
        rows,
        budget,
        template: None,
    });
    let words = || prop::option::of((0_u64..120).prop_map(Size::Tokens));
    (having, copy, quote, prop::option::weighted(0.8, results), words(), words(), any::<bool>())
        .prop_map(|(having, copy, quote, results, frame, each, grows)| {
            let template = None;
            Action::Fold(Fold { having, copy, quote, results, frame, each, template, grows })
        })
        .boxed()
}

/// What a stage and its steps do, which decides what else they may say.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Show,
    Table,
    Drop,
    Summarise,
    Fold,
}

fn action(does: Does) -> BoxedStrategy<Action> {
    match does {
        Does::Show => rendition().prop_map(Action::Show).boxed(),
        Does::Table => prop_oneof![table("first"), table("second")].boxed(),
        Does::Drop => Just(Action::Drop).boxed(),
        Does::Summarise => summarise().boxed(),
        Does::Fold => fold(),
    }
}

/// The scope of a stage or a step; turns are folded one by one.
fn scope_of(does: Does) -> BoxedStrategy<Scope> {
    let scope = scope(order_of(does));
    if does != Does::Fold {
        return scope;
    }
    (scope, prop::option::of(Just(units_of(Unit::Turns, 1))))
        .prop_map(|(scope, by)| Scope { whole: scope.whole && by.is_some(), by, ..scope })
        .boxed()
}

fn order_of(does: Does) -> Order {
    if matches!(does, Does::Show | Does::Drop) { Order::Largest } else { Order::Oldest }
}

/// Whether what is freed is known beforehand.
fn is_foreseen(does: Does) -> bool {
    matches!(does, Does::Show | Does::Drop)
}

fn does() -> impl Strategy<Value = Does> {
    let show = prop_oneof![Just(Does::Show), Just(Does::Table)];
    prop_oneof![8 => show, 2 => Just(Does::Drop), 3 => Just(Does::Summarise), 4 => Just(Does::Fold)]
}

fn step() -> BoxedStrategy<StageStep> {
    does()
        .prop_flat_map(|does| {
            let until = until(does == Does::Summarise, is_foreseen(does), false);
            let own = prop::option::weighted(0.5, when(false));
            (own, scope_of(does), action(does), prop::option::weighted(0.5, until))
                .prop_map(|(when, scope, apply, until)| StageStep { when, scope: Some(scope), apply, until })
        })
        .boxed()
}

fn lasts() -> impl Strategy<Value = EditsLast> {
    prop_oneof![4 => Just(EditsLast::History), 1 => Just(EditsLast::Request), 1 => Just(EditsLast::TurnEnd)]
}

fn prefix() -> impl Strategy<Value = PrefixRule> {
    prop_oneof![4 => Just(PrefixRule::Breaks), 1 => Just(PrefixRule::Keeps)]
}

fn late_stage() -> BoxedStrategy<StageFile> {
    let moments = vec![Moment::TurnStart, Moment::Request, Moment::TurnEnd];
    (does(), prop_oneof![3 => Just(0_usize), 2 => 1_usize..=2])
        .prop_flat_map(move |(does, n_steps)| {
            // A stage that later steps share its goal with is held to what all of them foresee.
            let until = until(does == Does::Summarise || n_steps > 0, is_foreseen(does), n_steps == 0);
            let parts = (
                subsequence(moments.clone(), 1..=3),
                prop::option::weighted(0.8, when(is_foreseen(does))),
                scope_of(does),
                action(does),
                prop::option::weighted(0.6, until),
                prop::collection::vec(step(), n_steps),
                lasts(),
                prefix(),
            );
            parts.prop_map(|(at, when, scope, apply, until, then, lasts, prefix)| StageFile {
                lasts: Some(lasts),
                name: String::new(),
                at: Some(at),
                pause: None,
                when,
                scope: Some(scope),
                apply: Some(apply),
                until,
                then,
                ladder: None,
                prefix: Some(prefix),
                remove: Vec::new(),
            })
        })
        .boxed()
}

fn entry_stage() -> BoxedStrategy<StageFile> {
    let scope = (tools(), preserve(), prop::option::weighted(0.3, plain_small())).prop_map(
        |(tools, preserve, larger_than)| Scope {
            part: PromptPart::Entering,
            tools,
            preserve,
            larger_than,
            ..Scope::default()
        },
    );
    let parts = (does(), prop::option::weighted(0.8, when(false)), scope, lasts(), prefix());
    parts
        .prop_flat_map(|(does, when, scope, lasts, prefix)| {
            action(does).prop_map(move |apply| StageFile {
                name: String::new(),
                at: Some(vec![Moment::Entry]),
                when: when.clone(),
                scope: Some(scope.clone()),
                apply: Some(apply),
                lasts: Some(lasts),
                prefix: Some(prefix),
                ..StageFile::default()
            })
        })
        .boxed()
}

/// A stage that acts while nothing is asked, or only sends the prompt then.
fn idle_stage() -> BoxedStrategy<StageFile> {
    let pause = (select(vec![2_000, 60_000, 299_000, 301_000]), 1_u64..4)
        .prop_map(|(after, times)| Pause { after: Duration(after), times });
    let ping = prop::option::of((0_u64..9).prop_map(Size::Tokens)).prop_map(|output| StageFile {
        apply: Some(Action::Ping { output }),
        when: Some(Cond::Always),
        ..StageFile::default()
    });
    let stage = prop_oneof![1 => ping.boxed(), 1 => late_stage()];
    (pause, stage)
        .prop_map(|(pause, stage)| StageFile {
            at: Some(vec![Moment::Idle]),
            pause: Some(pause),
            lasts: stage.lasts.filter(|it| *it == EditsLast::Request),
            ..stage
        })
        .boxed()
}

fn recovery() -> BoxedStrategy<Option<RecoverySpec>> {
    let reread = (1_u64..4, prop::option::of(plain_size()))
        .prop_map(|(limit, fits)| Some(RecoverySpec::NaiveReread { limit, fits }));
    prop_oneof![Just(None), Just(Some(RecoverySpec::OneShot)), Just(Some(RecoverySpec::Pinned)), reread]
        .boxed()
}

/// A policy of up to four stages, of which `Policy::new` has nothing to complain.
pub(crate) fn policy() -> BoxedStrategy<PolicyFile> {
    let stages =
        prop::collection::vec(prop_oneof![2 => entry_stage(), 8 => late_stage(), 1 => idle_stage()], 1..=4);
    let table = || prop::collection::vec(row(), 1..=3);
    let kinds =
        vec![Kind::User, Kind::Assistant, Kind::ToolCall, Kind::ToolResult, Kind::Summary, Kind::Image];
    let adds = prop::collection::vec((select(kinds), (0_u64..200).prop_map(Size::Tokens)), 0..4);
    let counter = prop::option::of(adds.prop_map(|it| HarnessCounter { adds: it.into_iter().collect() }));
    (stages, table(), table(), 0_u64..20_000, 0_u64..5, recovery(), counter)
        .prop_map(|(mut stages, first, second, a, n, recovery, counter)| {
            for (index, stage) in stages.iter_mut().enumerate() {
                stage.name = format!("stage_{index}");
            }
            PolicyFile {
                name: "random".to_owned(),
                title: Some("Drawn at random".to_owned()),
                about: "Random.".to_owned(),
                params: [("a".to_owned(), Size::Tokens(a)), ("n".to_owned(), Size::Count(n))].into(),
                tables: [("first".to_owned(), first), ("second".to_owned(), second)].into(),
                stages,
                recovery,
                counter,
                ..Default::default()
            }
        })
        .boxed()
}
