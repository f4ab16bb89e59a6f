//! Loads that memory runners write: several users, files in LongMemEval's shape, and every other load with sessions and facts.

use ctxsim::input::policy::memory::ServiceCall;
use ctxsim::input::scenario::GeneratedChats;
use ctxsim::worlds::chats::{ChatNumbers, ChatObserved, ChatPhase, QuestionKind, long_mem_eval};

use super::*;

const BOTH: [&str; 2] = ["memory_runners/entries", "memory_runners/context_only"];

#[test]
fn one_more_user_of_a_service_changes_nobodys_answers() {
    let users =
        |users: u64| chats(GeneratedChats { users, ..few(10, 10) }, &[("search.refines_complete", 0.5)]);
    let [one, three] = [1, 3].map(|n| play(&users(n), &runner("entries")));
    let own = |log: &ctxsim::worlds::chats::ChatLog| -> Vec<bool> {
        log.answers.iter().filter(|it| it.user == 0).map(|it| it.is_right).collect()
    };

    assert_eq!(own(&one), own(&three));
    assert_eq!(
        three.calls(ChatPhase::Ingestion, ServiceCall::AddEntry),
        3 * one.calls(ChatPhase::Ingestion, ServiceCall::AddEntry)
    );
    let users: std::collections::BTreeSet<u32> = three.answers.iter().map(|it| it.user).collect();
    assert_eq!(users.len(), 3);
}

#[test]
fn the_writes_of_all_users_stand_in_one_queue_of_the_indexer() {
    let waited = |users: u64| {
        let log = play(&chats(GeneratedChats { users, ..few(10, 10) }, &[]), &runner("entries"));
        log.events.iter().filter(|it| it.user == 0).map(|it| it.waited_ms).sum::<u64>()
    };
    assert!(waited(100) > waited(1), "{} {}", waited(100), waited(1));
}

#[test]
fn chats_in_the_shape_of_longmemeval_are_read_with_their_evidence() {
    let text = include_str!("../../../scenarios/memory_runners/spec_questions.json");
    let users = long_mem_eval::read(&mut text.as_bytes(), ChatNumbers::declared()).unwrap();
    let kinds: Vec<QuestionKind> = users.iter().map(|it| it.questions[0].kind).collect();

    assert_eq!(
        kinds,
        QuestionKind::ALL[..5],
        "the five questions of the specification are of the five types"
    );
    let needs: Vec<usize> = users.iter().map(|it| it.questions[0].needs.len()).collect();
    assert_eq!(needs, [1, 1, 4, 2, 0]);
    assert!(users.iter().all(|it| it.sessions.len() == 8 && it.sessions.iter().all(|it| it.messages == 4)));
    let degree = &users[1];
    let current = degree.needed(&degree.questions[0]);
    let words = degree.said[current[0] as usize].text.as_deref().unwrap();
    assert!(words.contains("MBA"), "the later value is the current one: {words}");
    assert_eq!(users[4].questions[0].near.len(), 1, "a cat was named, no hamster");
}

#[test]
fn four_of_the_five_questions_of_the_specification_are_answered_from_context_when_a_summary_leaves_out_details()
 {
    let numbers: Vec<String> = LOSSLESS
        .iter()
        .filter(|it| it.0 != "document.takes_detail")
        .chain(&[("document.takes_detail", 0.0), ("search.entry_margin", 10.0)])
        .map(|(name, value)| format!("\"{name}\" = {value:?}"))
        .collect();
    let set = format!("scenario.load.chats.numbers={{ {} }}", numbers.join(", "));
    let report = report("memory_runners/spec_questions", &BOTH, &[&set, "scenario.load.chats.trials=3"]);
    let accuracy = |at: usize, kind: QuestionKind| {
        report.runs[at].found::<ctxsim::worlds::chats::ChatSummary>().unwrap().accuracy[kind.name()].mean
    };
    let right = |at: usize| QuestionKind::ALL[..5].iter().filter(|it| accuracy(at, **it) == 1.0).count();

    assert_eq!((right(0), right(1)), (5, 4));
    assert_eq!(accuracy(1, QuestionKind::Counting), 0.0, "Q3 needs entries");
}

#[test]
fn every_lifespan_scenario_runs_under_both_runners() {
    let catalog = bundled_catalog();
    let names = catalog.expand_pattern(ctxsim::catalog::InputKind::Scenario, "aging/*");
    assert!(names.len() > 20);
    for name in names.iter().filter(|it| !it.ends_with("00") && !it.ends_with("many")) {
        let report = report(name, &BOTH, &["scenario.load.aging.trials=1"]);
        for run in &report.runs {
            let it = run.found::<ctxsim::worlds::chats::ChatSummary>().unwrap();
            assert!(it.questions > 0 && it.n_ingestion() >= 3 * it.sessions, "{name}");
        }
    }
}

#[test]
fn conversations_and_turns_with_facts_run_under_both_runners_and_other_policies_beside_them() {
    let plants = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/chats/plants.toml");
    let policies = ["identity", BOTH[0], BOTH[1]];
    let of_plants = report(plants, &policies, &[]);
    let is_written: Vec<bool> =
        of_plants.runs.iter().map(|it| it.found::<ctxsim::worlds::chats::ChatSummary>().is_some()).collect();
    assert_eq!(is_written, [false, true, true]);
    assert_eq!(of_plants.runs[1].found::<ctxsim::worlds::chats::ChatSummary>().unwrap().questions, 1);

    let set = ["scenario.load.conversation.trials=1"];
    let conversations = report("context_decay/trials", &policies, &set);
    assert!(conversations.runs[0].found::<ctxsim::worlds::needles::Retention>().is_some());
    assert!(conversations.runs[1].found::<ctxsim::worlds::chats::ChatSummary>().unwrap().questions > 0);
}

#[test]
fn a_policy_without_a_runner_keeps_nothing_and_answers_only_what_was_never_said() {
    let report = report("memory_runners/spec", &["identity"], &["scenario.load.chats.trials=1"]);
    let it = report.runs[0].found::<ctxsim::worlds::chats::ChatSummary>().unwrap();
    assert_eq!(it.context_only, None);
    assert_eq!((it.accuracy["abstention"].mean, it.accuracy["single_fact"].mean), (1.0, 0.0));
    assert_eq!((it.n_ingestion(), it.model_calls.total), (0, 0));
}

#[test]
fn what_loses_nothing_answers_everything() {
    let lossless = [
        &LOSSLESS[..],
        &[("search.entry_margin", 100.0), ("dates.in_text", 1.0), ("document.keeps_date", 1.0)],
    ]
    .concat();
    for name in ["entries", "context_only"] {
        let load = chats(GeneratedChats { questions: Default::default(), ..few(30, 10) }, &lossless);
        let log = play(&load, &runner(name));
        let observed = ChatObserved::new(&log);
        assert!(observed.accuracy().values().all(|it| it.mean == 1.0), "{name}: {:?}", observed.accuracy());
    }
}

#[test]
fn a_file_of_longmemeval_is_played_by_its_name() {
    let text = include_str!("../../../scenarios/memory_runners/spec_questions.json");
    let folder = folder_with(&[("longmemeval_s.json", text)]);
    let policies = "memory_runners/entries memory_runners/context_only";
    let run = format!("run longmemeval_s.json --profile unlimited --policy {policies}");

    assert_says(&out(&ctxsim(folder.path(), args(&run))), &["longmemeval_s", "Correct answers"]);
}
