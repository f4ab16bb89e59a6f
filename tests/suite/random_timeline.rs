//! Random small timelines: a few turns with calls, pauses, handles and needs at every moment.

use ctxsim::input::scenario::user_messages::UserTerms;
use ctxsim::timeline::build::{ItemSizes, NewItem, TimelineBuilder};
use ctxsim::timeline::facts::FactForm;
use ctxsim::timeline::shared::Chance;
use ctxsim::timeline::{Compaction, Due, Inferred, ItemIx, Level, Lifecycle, Need, Shared, tool_form};
use proptest::prelude::*;

use crate::support::*;

/// The tools of random timelines; the first reads files.
pub(crate) const TOOLS: [&str; 4] = ["read_file", "grep", "process_read", "process_start"];

/// What calls say that name a file, as a harness writes it.
const FILES: [&str; 2] = [r#"{"file_path": "a.rs"}"#, r#"{"file_path": "b.rs", "offset": 3}"#];

/// A timeline that can still be shrunk.
#[derive(Clone, Debug)]
pub(crate) struct TimelinePlan {
    stable: Vec<u32>,
    chars_per_token: &'static str,
    turns: Vec<TurnPlan>,
    asks: Vec<AskPlan>,
    /// By turn, where anything happens beside its requests.
    beside: Vec<BesidePlan>,
    /// How many items other sessions share; whether somebody unknown may have left them; and at which steps others sent them, so many
    /// milliseconds before.
    others: (u32, bool, Vec<(usize, i64)>),
    /// What is assumed of users' messages, if they are needed.
    users: Option<UserTerms>,
}

/// What happens beside the requests of a turn.
#[derive(Clone, Debug)]
struct BesidePlan {
    /// It begins a session, with a stable prefix of its own or none.
    session: Option<Vec<u32>>,
    lifecycle: Option<Lifecycle>,
    /// Somebody else sends the items before this one.
    front: Option<u32>,
    /// What the user's message says.
    told: Option<(usize, FactForm)>,
    asked: Option<usize>,
    /// What the harness takes out of the session so far; the places are taken modulo what there is.
    reset: Option<(u32, u32)>,
    /// What the turn's last item says.
    found: Option<(usize, FactForm)>,
}

/// The names of facts.
const FACTS: [&str; 3] = ["port", "name", "sum"];

/// A need of one result; the places are taken modulo what there is.
#[derive(Clone, Debug)]
struct AskPlan {
    step: usize,
    result: usize,
    mention: ItemIx,
    level: Level,
    weight: f64,
}

#[derive(Clone, Debug)]
struct TurnPlan {
    user: Vec<u32>,
    steps: Vec<StepPlan>,
    needs: Vec<NeedPlan>,
}

#[derive(Clone, Debug)]
struct StepPlan {
    pause_ms: i64,
    output: u64,
    text: Option<(bool, u32)>,
    calls: Vec<CallPlan>,
}

#[derive(Clone, Debug)]
struct CallPlan {
    tool: usize,
    call: u32,
    sizes: ItemSizes,
    preserve: Preserve,
    recover: Recover,
    digest: Option<u64>,
    /// Which of a few calls it is, and which file it names.
    call_again: Option<u64>,
    file: Option<usize>,
}

#[derive(Clone, Debug)]
struct NeedPlan {
    due: Due,
    back: u32,
    level: Level,
    weight: f64,
    recover_tokens: Option<u32>,
}

/// Tokens of an item: often few, sometimes none, sometimes many.
fn tokens() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 4 => 1_u32..60, 6 => 60_u32..900, 5 => 900_u32..5_000]
}

fn call() -> BoxedStrategy<CallPlan> {
    let sizes = (tokens(), 0..=100_u32, 0..=60_u32, prop_oneof![2 => Just(0_u32), 5 => 1_u32..50]);
    let sizes = sizes.prop_map(|(raw, excerpt, summary, handle)| ItemSizes {
        raw,
        excerpt: raw * excerpt / 100,
        summary: raw * summary / 100,
        handle,
    });
    let preserve = prop_oneof![
        3 => Just(Preserve::WorkingEvidence), 1 => Just(Preserve::Reference), 2 => Just(Preserve::None),
        2 => Just(Preserve::Unset)
    ];
    let recover = (0_u32..200, 0_u32..400, 0_u32..900).prop_map(|(handle, local, exact)| Recover {
        handle,
        local,
        exact,
    });
    let digest = prop_oneof![8 => Just(None), 1 => (0_u64..3).prop_map(Some)];
    let again = (prop::option::weighted(0.3, 0_u64..3), prop::option::weighted(0.4, 0..FILES.len()));
    (0..TOOLS.len(), 1_u32..200, sizes, preserve, recover, digest, again)
        .prop_map(|(tool, call, sizes, preserve, recover, digest, (call_again, file))| CallPlan {
            tool,
            call,
            sizes,
            preserve,
            recover,
            digest,
            call_again,
            file,
        })
        .boxed()
}

fn step() -> BoxedStrategy<StepPlan> {
    let pause = prop_oneof![6 => 0_i64..20_000, 1 => Just(300_000), 2 => 300_001_i64..900_000];
    let output = prop_oneof![8 => 1_u64..900, 1 => 900_u64..4_000];
    let calls = prop_oneof![
        2 => Just(Vec::new()),
        6 => prop::collection::vec(call(), 1..=1),
        3 => prop::collection::vec(call(), 2..=3),
    ];
    let text = prop::option::of((any::<bool>(), 1_u32..700));
    (pause, output, text, calls)
        .prop_map(|(pause_ms, output, text, calls)| StepPlan { pause_ms, output, text, calls })
        .boxed()
}

fn level() -> impl Strategy<Value = Level> {
    prop::sample::select(&Level::ALL[..])
}

fn weight() -> impl Strategy<Value = f64> {
    prop::sample::select(vec![0.0, 0.125, 0.3, 0.5, 1.0])
}

fn ask() -> impl Strategy<Value = AskPlan> {
    (0_usize..100, 0_usize..100, 0_u32..100, level(), weight())
        .prop_map(|(step, result, mention, level, weight)| AskPlan { step, result, mention, level, weight })
}

fn need() -> BoxedStrategy<NeedPlan> {
    let due = prop::sample::select(vec![Due::TurnStart, Due::Answer, Due::TurnEnd]);
    (due, 0_u32..4, level(), weight(), prop::option::weighted(0.3, 0_u32..3_000))
        .prop_map(|(due, back, level, weight, recover_tokens)| NeedPlan {
            due,
            back,
            level,
            weight,
            recover_tokens,
        })
        .boxed()
}

/// A timeline of 1 to 8 turns of up to 6 steps.
pub(crate) fn timeline() -> BoxedStrategy<TimelinePlan> {
    let user = prop::collection::vec(tokens(), 1..=2);
    let steps =
        prop_oneof![1 => Just(Vec::new()).boxed(), 15 => prop::collection::vec(step(), 1..=6).boxed()];
    let one = (user, steps, prop::collection::vec(need(), 0..4)).prop_map(|(user, steps, needs)| TurnPlan {
        user,
        steps,
        needs,
    });
    let stable = prop::collection::vec(0_u32..3_000, 0..3);
    let chars = prop::sample::select(vec!["4", "3.5", "2.125"]);
    let share = || prop::sample::select(vec![0.0, 0.3, 1.0]);
    let users = prop::option::of((share(), share())).prop_map(|it| {
        it.map(|(earlier, kept)| UserTerms { earlier: [earlier, 0.0, 1.0], summarised: [kept, 0.0, 1.0] })
    });
    (stable, chars, prop::collection::vec(one, 1..=8), prop::collection::vec(ask(), 0..6), users)
        .prop_map(|(stable, chars_per_token, turns, asks, users)| TimelinePlan {
            users,
            stable,
            chars_per_token,
            turns,
            asks,
            beside: Vec::new(),
            others: (0, false, Vec::new()),
        })
        .boxed()
}

/// The same in several sessions, with facts, and with events between the requests.
pub(crate) fn eventful_trace() -> BoxedStrategy<TimelinePlan> {
    let session = prop_oneof![
        4 => Just(None), 2 => Just(Some(Vec::new())),
        1 => prop::collection::vec(0_u32..3_000, 1..3).prop_map(Some),
    ];
    let lifecycle = prop::sample::select(vec![
        Lifecycle::Flush,
        Lifecycle::Reset { keep: 1 },
        Lifecycle::Budget { entries: 1 },
        Lifecycle::Budget { entries: 0 },
    ]);
    let fact = || {
        let form = prop::sample::select(vec![FactForm::Explicit, FactForm::Implicit]);
        prop::option::weighted(0.5, (0..FACTS.len(), form))
    };
    let asked = prop::option::weighted(0.4, 0..FACTS.len());
    let reset = prop::option::weighted(0.15, (0_u32..100, 1_u32..20));
    let front = prop::option::weighted(0.2, 0_u32..4);
    let beside = (session, prop::option::weighted(0.15, lifecycle), front, fact(), asked, reset, fact());
    let beside = beside.prop_map(|(session, lifecycle, front, told, asked, reset, found)| BesidePlan {
        session,
        lifecycle,
        front,
        told,
        asked,
        reset,
        found,
    });
    let sent = prop::collection::vec((0_usize..12, 0_i64..900_000), 0..4);
    let others = (0_u32..3, any::<bool>(), sent);
    (timeline(), prop::collection::vec(beside, 0..=8), others)
        .prop_map(|(plan, beside, others)| TimelinePlan { beside, others, ..plan })
        .boxed()
}

impl TimelinePlan {
    /// Builds the timeline.
    pub(crate) fn build(&self) -> Timeline {
        let mut timeline = self.builder();
        let spine = self.builder().finish().spine;
        let asks = self.asks.iter().filter(|_| !spine.steps.is_empty());
        let mut asks: Vec<_> = asks.map(|it| (it.step % spine.steps.len(), it)).collect();
        asks.sort_by_key(|(step, _)| *step);
        for (step, ask) in asks {
            let before = spine.steps[step].reply.start;
            let of_session = spine.sessions.iter().rfind(|it| {
                let first = &spine.turns[it.turns.start as usize];
                first.steps.start as usize <= step
            });
            let first = spine.turns[of_session.unwrap().turns.start as usize].items.start;
            let is_result = |it: &ItemIx| spine.items[*it as usize].kind == Kind::ToolResult;
            let results: Vec<ItemIx> = (first..before).filter(is_result).collect();
            if !results.is_empty() {
                let item = results[ask.result % results.len()];
                let inferred =
                    Inferred { rule: "random", step: u32::try_from(step).unwrap(), item, names: None };
                timeline.item_need(
                    inferred,
                    ask.level,
                    ask.weight,
                    &[first + ask.mention % (before - first)],
                );
            }
        }
        let mut timeline = timeline.finish();
        timeline.shared = self.shared(&timeline);
        timeline.users = self.users;
        timeline
    }

    /// What other sessions sent, between the request before a step and the step's own.
    fn shared(&self, timeline: &Timeline) -> Option<Shared> {
        let (end, has_chance, sent) = &self.others;
        let steps = &timeline.spine.steps;
        let mut sent: Vec<(u32, i64)> = sent
            .iter()
            .filter_map(|(step, ago_ms)| {
                let at_ms = steps.get(*step)?.at_ms - ago_ms;
                let before_ms = step.checked_sub(1).map_or(i64::MIN, |it| steps[it].at_ms);
                Some((u32::try_from(*step).unwrap(), at_ms.max(before_ms)))
            })
            .collect();
        sent.sort_unstable();
        sent.dedup_by_key(|it| it.0);
        let chance = has_chance.then_some(Chance { interval: [0.125, 0.5], ..Chance::certain(0.25) });
        let end = (*end).min(timeline.spine.n_stable);
        (end > 0).then_some(Shared { end, sent, sibling: None, chance })
    }

    fn builder(&self) -> TimelineBuilder {
        let mut timeline = TimelineBuilder::new("random", &[TOOLS[0].to_owned()]);
        timeline.chars_per_token(Decimal::parse(self.chars_per_token).unwrap());
        for (n, tokens) in self.stable.iter().enumerate() {
            timeline.stable(if n == 0 { Kind::System } else { Kind::ToolSchema }, *tokens);
        }
        let (mut now_ms, mut body, mut first_turn) = (0, timeline.next_item(), 0);
        for (turn_ix, plan) in (0_u32..).zip(&self.turns) {
            let beside = self.beside.get(turn_ix as usize);
            if let Some(stable) = beside.and_then(|it| it.session.as_ref()).filter(|_| turn_ix > 0) {
                timeline.begin_session("", None);
                stable.iter().for_each(|tokens| timeline.stable(Kind::System, *tokens));
                (body, first_turn) = (timeline.next_item(), turn_ix);
            }
            if let Some(event) = beside.and_then(|it| it.lifecycle) {
                timeline.lifecycle(event);
            }
            let user: Vec<_> = plan.user.iter().map(|it| NewItem::plain(Kind::User, *it)).collect();
            timeline.begin_turn(&user);
            if let Some(beside) = beside {
                beside.before_steps(body, &mut timeline);
                let front = beside.front.map(|it| it.min(u32::try_from(self.stable.len()).unwrap()));
                front.into_iter().for_each(|end| timeline.front_sent(end));
            }
            for step in &plan.steps {
                now_ms += step.pause_ms;
                step.append(now_ms, &mut timeline);
            }
            if let Some((fact, form)) = beside.and_then(|it| it.found) {
                timeline.plant(FACTS[fact], form, 0);
            }
            for need in &plan.needs {
                let source = turn_ix.saturating_sub(need.back).max(first_turn);
                let NeedPlan { level, weight, recover_tokens, .. } = *need;
                timeline.need(need.due, Need::new(source, level, weight, recover_tokens));
            }
        }
        timeline
    }
}

impl BesidePlan {
    fn before_steps(&self, body: ItemIx, timeline: &mut TimelineBuilder) {
        if let Some((fact, form)) = self.told {
            timeline.plant(FACTS[fact], form, 0);
        }
        if let Some(fact) = self.asked {
            timeline.ask(FACTS[fact]);
        }
        if let Some((from, count)) = self.reset {
            if count % 2 == 1 && timeline.next_step() > 0 {
                timeline.compaction(Compaction { items: count, instruction: 0, output: u64::from(count) });
            }
            let from = body + from % (timeline.next_item() - body);
            timeline.reset(from..from + count);
        }
    }
}

impl StepPlan {
    fn append(&self, now_ms: i64, timeline: &mut TimelineBuilder) {
        let text = self.text.map(|(is_reasoning, tokens)| {
            NewItem::plain(if is_reasoning { Kind::Reasoning } else { Kind::Assistant }, tokens)
        });
        let inputs: Vec<Option<Arc<str>>> =
            self.calls.iter().map(|it| it.file.map(|it| FILES[it].into())).collect();
        let calls = self.calls.iter().zip(&inputs).map(|(it, input)| NewItem {
            digest: it.call_again,
            text: input.as_ref(),
            form: tool_form::form_of("claude-code", "Read"),
            ..NewItem::call(TOOLS[it.tool], it.call)
        });
        let mut reply: Vec<_> = text.into_iter().chain(calls).collect();
        if reply.is_empty() {
            reply.push(NewItem::plain(Kind::Assistant, 40));
        }
        let results = self.calls.iter().enumerate().flat_map(|(n, it)| {
            let result = NewItem {
                digest: it.digest,
                ..NewItem::result(TOOLS[it.tool], n, it.sizes, it.preserve, it.recover)
            };
            // Some show something, too.
            let image =
                NewItem { tool: TOOLS[it.tool], answers: usize::MAX, ..NewItem::image(None, it.call + 1) };
            std::iter::once(result).chain((it.call % 5 == 2).then_some(image))
        });
        timeline.step(now_ms, self.output, &reply, &results.collect::<Vec<_>>());
    }
}
