//! The short way through a conversation gives what the long way gives, whatever is drawn, dropped or remembered.

use ctxsim::input::scenario::LoadSpec;
use ctxsim::ledger::{Change, NeedRow, Outcome, ProbeRow, Sink};
use ctxsim::worlds::needles::ConversationLoad;
use ctxsim::worlds::needles::window;
use proptest::prelude::*;

use crate::support::*;

/// Sums and probes: everything that the short way tells.
#[derive(Debug, Default, PartialEq)]
struct Told {
    sums: Sums,
    probes: Vec<ProbeRow>,
    /// Of each request, what is in its row beside the policy's edits.
    requests: Vec<RequestRow>,
}

impl Sink for Told {
    fn request(&mut self, row: &RequestRow) {
        self.sums.request(row);
        self.requests.push(RequestRow { change: Change::default(), ..*row });
    }

    fn need(&mut self, row: &NeedRow) {
        self.sums.need(row);
    }

    fn probe(&mut self, row: &ProbeRow) {
        self.probes.push(*row);
    }
}

fn conversation(random: &str, length: u64, density: f64, stable: u64, seed: u64) -> ConversationLoad {
    let stable =
        if stable == 0 { String::new() } else { format!("{{ kind = \"system\", tokens = {stable} }}") };
    let text = format!(
        r#"
        name = "drawn"
        about = "Drawn."
        sources = ["a test"]
        seed = {seed}
        stable = [{stable}]
        [load.conversation]
        {random}
        lengths = [{length}]
        trials = 2
        needle_density = {density}
        implicit_ratio = 0.5
        message_seconds = 7
        context_budget_ratio = 0.2
        domains = ["one", "two"]
        [load.conversation.categories.config]
        port = {{ between = {{ first = 1, last = 9 }} }}
        level = {{ one_of = ["low", "very high"] }}
        [load.conversation.categories.entity]
        lead = {{ one_of = ["Ada Byron", "Grace"] }}
        rate = {{ uniform = {{ from = 1.0, to = 2.0, decimals = 1, suffix = " %" }} }}
        "#
    );
    let spec: ScenarioFile = decode(&text, Format::Toml).unwrap();
    let LoadSpec::Conversation(load) = &spec.load else { panic!("it is a conversation") };
    ConversationLoad::new(&Scenario::new(&spec).unwrap(), load)
}

fn policy(stages: &str, memory: &str) -> Policy {
    let text = format!(
        "(name: \"drawn\", about: \"Drawn.\", sources: [\"a test\"], as_of: \"2026-01-01\", stages: [{stages}]{memory})"
    );
    policy_from(&text)
}

fn stages() -> impl Strategy<Value = String> {
    let at = prop_oneof![
        Just("request"),
        Just("turn_end"),
        Just("request, turn_end"),
        Just("turn_start, request"),
        Just("turn_start, request, turn_end"),
    ];
    let of = prop_oneof![Just("body"), Just("prompt")];
    let stage = (at, of.clone(), of, 0..600_u64, 0..600_u64).prop_map(|(at, when, until, above, at_most)| {
        format!(
            "(name: \"w\", at: [{at}], when: {when}(above: tokens({above})), until: {until}(at_most: tokens({at_most})), apply: drop)"
        )
    });
    prop_oneof![1 => Just(String::new()), 6 => stage]
}

fn memory() -> impl Strategy<Value = String> {
    let store = prop_oneof![
        Just("entries(tokens_per_fact: 5)".to_owned()),
        (1..4_u64).prop_map(|it| format!("entries(tokens_per_fact: 3, capacity: {it})")),
        (1..9_u64).prop_map(|it| {
            format!("banks(categories: [\"config\", \"entity\"], capacity: {it}, tokens_per_fact: 4)")
        }),
        Just("files(tokens_per_fact: 2)".to_owned()),
    ];
    let read = prop_oneof![Just("all"), Just("last(2)"), Just("by_key")];
    let oracle = prop_oneof![4 => Just(""), 1 => Just("write"), 1 => Just("store"), 1 => Just("read")];
    let from = prop_oneof![Just("session"), Just("hidden")];
    let some = (store, read, from, oracle, 0.0..1.0_f64).prop_map(|(store, read, from, oracle, p)| {
        format!(
            ", memory: facts(write: (from: {from}, extract: [(facts: explicit, miss: 0.2, passes: 2), (p: {p:?})]), \
             store: {store}, read: {read}, oracle: [{oracle}])"
        )
    });
    prop_oneof![1 => Just(String::new()), 4 => some]
}

fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        3 => Just(Limits::NONE),
        1 => (300..2_000_u64).prop_map(|prompt| Limits { prompt, ..Limits::NONE }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_short_way_gives_what_the_long_way_gives(
        is_cpython in any::<bool>(),
        length in 1..60_u64,
        density in 0.02..1.0_f64,
        stable in 0..50_u64,
        seed in any::<u32>(),
        stages in stages(),
        memory in memory(),
        limits in limits(),
    ) {
        let random = if is_cpython { "random = \"cpython\"\nhash_seed = 3" } else { "" };
        let density = (density * 100.0).round() / 100.0;
        let conversation = conversation(random, length, density, stable, u64::from(seed));
        let policy = policy(&stages, &memory);
        for trial in 0..conversation.n_trials() {
            let made = conversation.trial(trial);
            let (mut short, mut long) = (Told::default(), Told::default());
            let per_token = conversation.chars_per_token();
            let outcome =
                Simulation::new(&conversation.timeline(&made), &policy, &limits, &CacheRules::None).run(&mut long);
            let told = window::simulate(&made, per_token, &policy, &limits, &CacheRules::None, &mut short);
            prop_assert_eq!(told.is_none(), outcome.failure.is_some(), "only a limit leads the long way");
            let Some(told) = told else { continue };
            prop_assert_eq!(short, long);
            prop_assert_eq!(&told, &Outcome { touched_slots: told.touched_slots, ..outcome });
        }
    }
}

#[test]
fn what_is_no_window_goes_the_long_way() {
    let conversation = conversation("", 20, 0.1, 0, 1);
    let made = conversation.trial(0);
    let short = |stages: &str, rules: &CacheRules| {
        let policy = policy(stages, "");
        let per_token = conversation.chars_per_token();
        window::simulate(&made, per_token, &policy, &Limits::NONE, rules, &mut Told::default()).is_some()
    };
    let stage = |rest: &str| {
        format!(
            "(name: \"w\", at: [request], when: body(above: tokens(9)), until: body(at_most: tokens(9)), {rest})"
        )
    };

    assert!(short(&stage("apply: drop"), &CacheRules::None));
    assert!(!short(&stage("apply: drop, scope: (kinds: [user])"), &CacheRules::None));
    assert!(!short(&stage("apply: drop, scope: (keep_recent: items(2))"), &CacheRules::None));
    assert!(!short(&stage("apply: drop, scope: (order: newest)"), &CacheRules::None));
    assert!(!short(&stage("apply: drop, lasts: request"), &CacheRules::None));
    let interval = CacheRules::prefix_interval(ctxsim::input::profile::Steps { min: 0, step: 1 }, None);
    assert!(!short(&stage("apply: drop"), &interval));
}
