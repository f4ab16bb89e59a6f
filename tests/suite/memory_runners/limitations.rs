//! The three limitations that the specification names, each with a question that fails without entries and is answered with them.

use ctxsim::input::policy::memory::ServiceMemory;
use ctxsim::ledger::Loss;
use ctxsim::rng::Seed;
use ctxsim::worlds::chats::{
    Answered, ChatNumbers, ChatPlayer, Chats, FactWording, NeededVersion, Question, QuestionKind,
    StatementKind, User, UserDraft,
};
use ctxsim::worlds::graph::FactIx;

use super::{LOSSLESS, runner};

/// Answers the questions of one user, by numbers of which some are changed.
fn ask(user: User, runner: &ServiceMemory, numbers: &[(&str, f64)]) -> Vec<Answered> {
    let chats = Chats { users: vec![user].into(), conversation_time: false, session_ms: 0, seed: Seed(1) };
    let changes = numbers.iter().map(|it| (it.0.to_owned(), it.1)).collect();
    let numbers = ChatNumbers::declared().with(&changes).unwrap();
    ChatPlayer { chats: &chats, numbers: &numbers }.play(Some(runner)).answers
}

/// Writes a user who says things of a kind, one a session, and other things beside.
fn user(kind: StatementKind, n: u32) -> (UserDraft, Vec<FactIx>) {
    let mut draft = UserDraft::new("someone");
    let mut facts = Vec::new();
    for session in 0..n {
        draft.session(10, 600);
        facts.push(draft.say(session, FactWording::new(kind, 4, 12)));
    }
    (draft, facts)
}

#[test]
fn without_entries_single_messages_cannot_be_searched_for_what_the_document_does_not_hold() {
    let things = |runner: &ServiceMemory| {
        let (mut draft, facts) = user(StatementKind::Detail, 5);
        draft.ask(Question::new(QuestionKind::Counting, 5, facts));
        // A summary of a session leaves out what is said in passing; nothing else is ever lost.
        let numbers =
            [&LOSSLESS[..], &[("document.takes_detail", 0.0), ("search.entry_margin", 100.0)]].concat();
        ask(draft.finish(), runner, &numbers)[0]
    };
    let without = things(&runner("context_only"));

    assert!(!without.is_right && without.loss == Some(Loss::Write));
    assert!(things(&runner("entries")).is_right);
    assert!(things(&runner("context_only_listed")).is_right, "the mitigation lists what is said in passing");
}

#[test]
fn without_entries_there_is_no_trail_of_what_was_said_before_it_changed() {
    let history = |runner: &ServiceMemory| {
        let mut draft = UserDraft::new("someone");
        (0..3).for_each(|_| draft.session(10, 600));
        let said = || FactWording::new(StatementKind::Fact, 2, 12);
        let first = draft.say(0, said());
        // Both values of one session: the document is written when it is over, and then one of them is gone.
        let second = draft.update(first, 1, said()).unwrap();
        let third = draft.update(second, 1, FactWording { message: 6, ..said() }).unwrap();
        let question = Question::new(QuestionKind::SingleFact, 3, vec![first, second, third]);
        draft.ask(Question { versions: NeededVersion::Named, ..question });
        ask(draft.finish(), runner, &[&LOSSLESS[..], &[("search.entry_margin", 100.0)]].concat())[0]
    };
    let without = history(&runner("context_only"));

    assert!(
        !without.is_right && without.loss == Some(Loss::Write),
        "the value in between stands in no version"
    );
    assert!(history(&runner("entries")).is_right, "each message is an entry of its own");
}

#[test]
fn without_entries_details_are_lost_when_the_document_is_full() {
    let detail = |runner: &ServiceMemory| {
        let (mut draft, facts) = user(StatementKind::Detail, 60);
        draft.ask(Question::new(QuestionKind::SingleFact, 60, vec![facts[0]]));
        // Nothing is lost but by the cap; one detail is found among 600 entries, and among 60 versions of the document none in particular.
        let numbers =
            [&LOSSLESS[..], &[("search.entry_margin", 100.0), ("search.shard_margin", 0.0)]].concat();
        let mut small = runner.clone();
        small.store.cap = ctxsim::input::policy::memory::Cap::Words(600);
        small.read.first.shards = 0;
        small.read.second.shards = 0;
        ask(draft.finish(), &small, &numbers)[0]
    };
    let without = detail(&runner("context_only"));

    assert!(
        !without.is_right && without.loss == Some(Loss::Read),
        "only versions that nobody finds still hold it"
    );
    assert!(detail(&runner("entries")).is_right);
}

#[test]
fn earlier_versions_of_the_document_are_found_unless_it_is_read_alone() {
    let detail = |name: &str| {
        let (mut draft, facts) = user(StatementKind::Detail, 60);
        draft.ask(Question::new(QuestionKind::SingleFact, 60, vec![facts[0]]));
        let numbers = [&LOSSLESS[..], &[("search.shard_margin", 100.0)]].concat();
        let mut small = runner(name);
        small.store.cap = ctxsim::input::policy::memory::Cap::Words(600);
        ask(draft.finish(), &small, &numbers)[0]
    };

    assert!(detail("context_only").is_right);
    let alone = detail("context_only_document");
    assert!(!alone.is_right && alone.loss == Some(Loss::Store) && alone.passes == 0);
}
