//! What users asked is needed: by its own turn, by later turns with a declared weight, and a summary keeps a declared share of it.

use ctxsim::catalog::InputKind as Kinds;
use ctxsim::input::policy::Kind;
use ctxsim::input::scenario::user_messages::{UserNeeds, UserTerms};
use ctxsim::ledger::{NeedRow, Sink};
use ctxsim::projection::{Ambient, Editor, Projector};
use ctxsim::timeline::ItemIx;
use ctxsim::timeline::evidence::{EARLIER, RUNNING};

use crate::support::*;

const TERMS: UserTerms = UserTerms { earlier: [0.25, 0.0, 0.5], summarised: [0.75, 0.5, 1.0] };

/// A policy that drops every message of the user and every reply, and keeps the results of tools.
const DROP_USERS: &str = "(name: \"drop\", scope: (kinds: [user, assistant, reasoning]), apply: drop)";

fn spec(stages: &str) -> PolicyFile {
    decode(&format!("(name: \"mine\", about: \"\", stages: [{stages}])"), Format::Ron).unwrap()
}

/// Three turns of two requests each: a call, and an answer.
fn timeline() -> Timeline {
    let mut builder = TimelineBuilder::new("three", &[]);
    builder.stable(Kind::System, 1_000);
    for turn in 0..3 {
        builder.begin_turn(&[NewItem::plain(Kind::User, 400)]);
        let call = [NewItem::call("read", 50)];
        let sizes = ItemSizes { raw: 3_000, excerpt: 3_000, summary: 100, handle: 20 };
        let result = NewItem::result("read", 0, sizes, Default::default(), Default::default());
        builder.step(turn * 20_000, 50, &call, &[result]);
        builder.step(turn * 20_000 + 10_000, 90, &[NewItem::plain(Kind::Assistant, 90)], &[]);
    }
    Timeline { users: Some(TERMS), ..builder.finish() }
}

fn needs(timeline: &Timeline, stages: &str) -> Vec<NeedRow> {
    let policy = Policy::new(&spec(stages)).unwrap();
    let profile = bundled_catalog().profile("anthropic/claude-sonnet-4.5").unwrap();
    let profile = Profile::new(&profile.spec).unwrap();
    let mut rows = Rows::default();
    Simulation::new(timeline, &policy, &Limits::NONE, &profile.cache).run(&mut rows);
    rows.needs
}

/// The weight of each need, and the share that was met, by rule.
fn of(rows: &[NeedRow], rule: &str) -> Vec<(f64, f64)> {
    let of_rule = rows.iter().filter(|it| it.inferred.is_some_and(|it| it.rule == rule));
    of_rule.map(|it| (it.weight, it.met)).collect()
}

#[test]
fn a_turn_needs_its_own_message_and_earlier_ones_by_their_weight() {
    let rows = needs(&timeline(), "");

    assert_eq!(of(&rows, RUNNING), [(1.0, 1.0); 3]);
    assert_eq!(of(&rows, EARLIER), [(0.25, 1.0), (0.5, 1.0)]);
    assert!(rows.iter().all(|it| it.failed == 0.0 && it.calls == 0.0));
}

#[test]
fn a_message_that_is_dropped_is_lost_for_each_request_that_does_not_show_it() {
    let timeline = timeline();
    let all = needs(&timeline, DROP_USERS);
    // The first request of all has 1,400 tokens, the second one 4,450.
    let late = needs(
        &timeline,
        "(name: \"drop\", when: prompt(at_least: tokens(4_000)), scope: (part: active, kinds: [user]), apply: drop)",
    );
    let earlier = needs(&timeline, "(name: \"drop\", scope: (part: completed, kinds: [user]), apply: drop)");

    assert_eq!(of(&all, RUNNING), [(1.0, 0.0); 3]);
    assert_eq!(of(&all, EARLIER), [(0.25, 0.0), (0.5, 0.0)]);
    assert!(all.iter().all(|it| (it.calls, it.failed) == (0.0, 0.0)), "no call is made, and nothing is paid");
    assert_eq!(of(&late, RUNNING), [(1.0, 0.5), (1.0, 0.0), (1.0, 0.0)]);
    assert_eq!(of(&earlier, RUNNING), [(1.0, 1.0); 3], "the running task stays");
    assert_eq!(of(&earlier, EARLIER), [(0.25, 0.0), (0.5, 0.0)]);
}

#[test]
fn a_summary_keeps_its_share_of_a_message_but_no_more_than_it_is_long() {
    let summary = |tokens: u32| {
        format!(
            "(name: \"sum\", at: [turn_start], scope: (part: completed), apply: summarise(output: tokens({tokens})))"
        )
    };
    let long = of(&needs(&timeline(), &summary(500)), EARLIER);
    let short = of(&needs(&timeline(), &summary(100)), EARLIER);

    assert_eq!(long, [(0.25, 0.75), (0.5, 0.75)]);
    assert_eq!(short, [(0.25, 0.75 * 0.25), (0.5, 0.75 * 0.25)]);
    let shown =
        "(name: \"mark\", scope: (part: completed, kinds: [user]), apply: show(truncate(head: tokens(10))))";
    assert_eq!(
        of(&needs(&timeline(), shown), EARLIER),
        [(0.25, 0.0), (0.5, 0.0)],
        "a part is not the message"
    );
}

#[test]
fn what_is_assumed_of_messages_has_ends_and_the_file_s_are_the_default() {
    let rows = needs(&timeline(), "(name: \"drop\", scope: (part: completed, kinds: [user]), apply: drop)");
    let mut sums = Sums::default();
    rows.iter().for_each(|it| sums.need(it));

    assert_eq!(sums.needs.evidence(), (3.0, 3.75));
    assert_eq!(sums.needs.evidence_ends(), [3.0 / 4.5, 1.0]);
    assert_eq!((sums.needs.weight, sums.needs.met), (0.0, 0.0), "of results nothing is known");
    assert!(UserNeeds::default().terms().earlier[0] > 0.0);
}

/// Plays policies on recorded sessions.
fn report(scenarios: Vec<String>, more: &[(&str, &str)], set: &[&str]) -> Report {
    let mut catalog = bundled_catalog();
    for (name, stages) in more {
        catalog.add_built(Kinds::Policy, name, PolicyFile { name: (*name).to_owned(), ..spec(stages) }, None);
    }
    let policies = std::iter::once("identity").chain(more.iter().map(|it| it.0));
    let comparison = Comparison {
        policies: policies.map(str::to_owned).collect(),
        scenarios,
        own_models: true,
        set: owned(set),
        ..Comparison::default()
    };
    Plan::new(&catalog, &comparison).unwrap().report(Some(1), &|_, _| {}).unwrap()
}

/// Checks that nobody is sent to a policy that deletes the task.
fn holds(sessions: String) {
    // A turn that a recorded compaction began begins with its summary, which is the task then.
    let with_summaries = DROP_USERS.replace("user, ", "user, summary, ");
    let policies = [("drop_users", DROP_USERS), ("drop_all", &with_summaries)];
    let report = report(vec![sessions], &policies, &[]);
    let [identity, dropped] = ["identity", "drop_users"].map(|name| {
        let own = report.runs.iter().filter(|it| it.policy == name).map(|it| it.tally.sums.needs.evidence());
        let (met, needed) = own.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        met / needed
    });
    assert!((identity - 1.0).abs() < 1e-9, "{identity}");
    assert!(dropped < 0.8, "{dropped}");
    for verdict in report.verdicts() {
        assert!(verdict.cheapest.is_none_or(|it| it.policy == "identity"));
    }
    for run in report.runs.iter().filter(|it| it.policy == "drop_all") {
        assert_eq!(run.tally.task_kept(), Some(0.0), "{}: a session of one turn, too", run.scenario);
    }
}

#[test]
fn a_policy_that_deletes_the_task_keeps_too_little_and_is_recommended_by_no_verdict() {
    holds("recorded/claude-code".to_owned());

    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    for folder in ["recorded/claude-code", "recorded/claude-code-2"] {
        holds(root.join(folder).display().to_string());
    }
}

/// Drops the results that no need is of, and those that some need is of if that is asked.
struct DropsResults {
    needed: BTreeSet<ItemIx>,
    drops_needed: bool,
}

impl Projector for DropsResults {
    fn project(&mut self, moment: Moment, _: &Ambient, edit: &mut Editor<'_, '_>) {
        for slot in (0..edit.prompt().len()).filter(|_| moment == Moment::Request) {
            let item = edit.prompt().item(slot);
            let is_dropped = !self.needed.contains(&item.origin) || self.drops_needed;
            if item.kind == Kind::ToolResult && is_dropped {
                edit.take_out(slot);
            }
        }
    }
}

#[test]
fn what_nothing_reads_again_can_be_dropped_without_a_loss() {
    let comparison =
        Comparison { own_models: true, ..comparing(&["identity"], &["recorded/claude-code"], &[]) };
    let plan = planned(&comparison);
    let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);
    let timeline = load.timeline().unwrap();
    let needed: BTreeSet<ItemIx> = timeline.needs.of_items().iter().map(|it| it.inferred.item).collect();
    let results = timeline.spine.items.iter().filter(|it| it.kind == Kind::ToolResult).count();
    assert!(!needed.is_empty() && needed.len() < results, "{} of {results}", needed.len());
    let policy = Policy::new(&spec("")).unwrap();
    let play = |drops_needed: bool| {
        let mut sums = Sums::default();
        let mut drops = DropsResults { needed: needed.clone(), drops_needed };
        let simulation = Simulation::new(timeline, &policy, &Limits::NONE, &load.profiles[0].cache);
        simulation.run_by(&mut drops, &mut [&mut sums]);
        let (met, needed) = sums.needs.evidence();
        (needed - met, sums.needs.users.weight.value - sums.needs.users.met)
    };

    assert_eq!(play(false), (0.0, 0.0));
    let (lost, of_users) = play(true);
    assert!(lost > 1.0 && of_users == 0.0, "{lost} {of_users}");
}

#[test]
fn a_scenario_switches_such_needs_off_or_sets_their_numbers() {
    let scenario = || vec!["recorded/claude-code".to_owned()];
    let drop = [("drop_users", DROP_USERS)];

    let usual = report(scenario(), &drop, &[]);
    let ignored = report(scenario(), &drop, &["scenario.user_messages=ignored"]);

    let users = |it: &Report| it.runs[1].tally.sums.needs.users.weight.value;
    assert!(users(&usual) > 0.0 && users(&ignored) == 0.0);
    assert_eq!(ignored.runs[1].tally.evidence_kept(), Some(1.0));
    let results = |it: &Report| (it.runs[1].tally.sums.needs.weight, it.runs[1].tally.sums.needs.met);
    assert_eq!(results(&usual), results(&ignored), "needs of results are as they were");
    assert_eq!(usual.runs[1].tally.costs, ignored.runs[1].tally.costs, "and nothing costs more");
}
