//! Memory runners: their calls, their document, what they answer, and what the document on them says.

mod accuracy;
mod advice;
mod calls;
mod document;
mod figures;
mod limitations;
mod loads;

use ctxsim::input::policy::memory::ServiceMemory;
use ctxsim::input::scenario::{ChatLoad, ChatSource, GeneratedChats, QuestionCounts};
use ctxsim::worlds::chats::{ChatLog, ChatNumbers, ChatPlayer, ChatScenario};

use crate::support::*;

/// Returns how a bundled policy writes sessions.
pub(crate) fn runner(name: &str) -> ServiceMemory {
    let policy = bundled_catalog().policy(&format!("memory_runners/{name}")).unwrap();
    policy.spec.service_memory().unwrap().clone()
}

/// Returns chats that are drawn, with some numbers changed.
pub(crate) fn chats(made: GeneratedChats, numbers: &[(&str, f64)]) -> ChatScenario {
    let numbers: IndexMap<String, f64> = numbers.iter().map(|it| (it.0.to_owned(), it.1)).collect();
    let from = ChatSource::Generated(made);
    let load = ChatLoad { trials: 1, conversation_time: false, session_seconds: 0, numbers, from };
    let file = ScenarioFile {
        load: LoadSpec::Chats(Box::new(load.clone())),
        ..bundled_catalog().scenario("memory_runners/spec").unwrap().spec
    };
    ChatScenario::new(&Scenario::new(&file).unwrap(), &load, None)
}

/// Chats of some sessions and messages with questions of one of each type.
pub(crate) fn few(sessions: u64, messages: u64) -> GeneratedChats {
    let questions = QuestionCounts {
        single_fact: 1,
        knowledge_update: 1,
        counting: 1,
        timeline: 1,
        abstention: 1,
        audit: 0,
    };
    GeneratedChats { sessions, messages, users: 1, questions }
}

/// Plays a runner over the first trial of some chats.
pub(crate) fn play(load: &ChatScenario, runner: &ServiceMemory) -> ChatLog {
    let chats = load.chats(0);
    ChatPlayer { chats: &chats, numbers: &load.numbers }.play(Some(runner))
}

/// Numbers under which nothing is lost.
pub(crate) const LOSSLESS: [(&str, f64); 14] = [
    ("entries.takes", 1.0),
    ("entries.takes_detail", 1.0),
    ("document.takes", 1.0),
    ("document.takes_detail", 1.0),
    ("document.takes_detail_listed", 1.0),
    ("document.keeps", 1.0),
    ("document.sees_contradiction", 1.0),
    ("use.states", 1.0),
    ("use.counts_entry", 1.0),
    ("use.counts_document", 1.0),
    ("use.takes_stale", 0.0),
    ("use.takes_stale_dated", 0.0),
    ("use.takes_near", 0.0),
    ("use.invents", 0.0),
];

/// Runs a command line and returns the objects that it prints.
pub(crate) fn lines_of(args: &[&str]) -> Vec<Value> {
    let text = out(&ctxsim(root(), args));
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Runs policies on a scenario.
pub(crate) fn report(scenario: &str, policies: &[&str], set: &[&str]) -> Report {
    let comparison =
        Comparison { set: owned(set), ..comparing(policies, &[scenario], &["anthropic/claude-haiku-4.5"]) };
    reported(&comparison)
}

#[test]
fn the_declared_numbers_are_those_of_the_file() {
    assert_eq!(ChatNumbers::declared().get("search.entry_margin"), Some(2.5));
    assert!(ChatNumbers::declared().with(&IndexMap::new()).unwrap() == *ChatNumbers::declared());
}
