//! Chats from a JSON file in the shape of LongMemEval: each question has a user of its own, with sessions, and names its evidence.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer as _, SeqAccess, Visitor};

use super::locomo::LocomoSample;
use super::{FactWording, Question, QuestionKind, StatementKind, User, UserDraft};
use crate::chats::ChatNumbers;
use crate::graph::FactIx;
use ctxsim_base::diag::{Code, Diagnostic, Problems};
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::{ix, saturated};
use ctxsim_input::text::source::json_problem;

/// A question with its user's sessions.
#[derive(Debug, Deserialize)]
struct LongMemQuestion {
    question_id: String,
    question_type: String,
    #[serde(default)]
    answer_session_ids: Vec<String>,
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<LongMemMessage>>,
}

/// A message.
#[derive(Debug, Deserialize)]
struct LongMemMessage {
    role: String,
    content: String,
    #[serde(default)]
    has_answer: bool,
}

/// The types of questions by their names, with the kind of statement that their evidence is. Abstention is marked in the question's id.
const TYPES: [(&str, QuestionKind, StatementKind); 6] = [
    ("single-session-user", QuestionKind::SingleFact, StatementKind::Fact),
    ("single-session-assistant", QuestionKind::SingleFact, StatementKind::Detail),
    ("single-session-preference", QuestionKind::SingleFact, StatementKind::Preference),
    ("knowledge-update", QuestionKind::KnowledgeUpdate, StatementKind::Fact),
    ("multi-session", QuestionKind::Counting, StatementKind::Detail),
    ("temporal-reasoning", QuestionKind::Timeline, StatementKind::Event),
];

/// What ends the id of a question that has no answer.
const ABSTENTION: &str = "_abs";

/// Returns whether a text begins like such a file.
pub fn is_one(front: &str) -> bool {
    let is_known = ["\"haystack_session", "\"dia_id\""].iter().any(|it| front.contains(it));
    front.trim_start().starts_with('[') && is_known
}

/// Reads users.
///
/// # Errors
/// Every problem of the file, each with the question that it is in.
pub fn read(reader: &mut dyn BufRead, numbers: &ChatNumbers) -> Result<Arc<[User]>, Vec<Diagnostic>> {
    let mut users = Vec::new();
    each(reader, numbers, &mut |it| users.push(it))?;
    Ok(users.into())
}

/// Hands over the users of a file one by one, so that only one of them is held with all its texts.
///
/// # Errors
/// As [`read`].
pub fn each(
    reader: &mut dyn BufRead,
    numbers: &ChatNumbers,
    take: &mut dyn FnMut(User),
) -> Result<(), Vec<Diagnostic>> {
    let front = reader.fill_buf().map(String::from_utf8_lossy).unwrap_or_default();
    let is_locomo = front.contains("\"conversation\"") && !front.contains("\"haystack_");
    if is_locomo {
        each_of::<LocomoSample>(reader, numbers, take)
    } else {
        each_of::<LongMemQuestion>(reader, numbers, take)
    }
}

/// Hands over the users of a file whose elements are of one kind.
fn each_of<T: ToldUser>(
    reader: &mut dyn BufRead,
    numbers: &ChatNumbers,
    take: &mut dyn FnMut(User),
) -> Result<(), Vec<Diagnostic>> {
    let mut reading =
        UserReading { numbers, take, problems: Problems::default(), n: 0, of: PhantomData::<T> };
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, reader));
    let read = json.deserialize_seq(&mut reading).and_then(|()| json.end());
    read.map_err(|fault| vec![json_fault(&fault, QUESTIONS)])?;
    let UserReading { mut problems, n, .. } = reading;
    if n == 0 {
        problems.push(Code("chats-empty"), "the file contains no questions", "write at least one");
    }
    problems.into_result(())
}

/// What a file of LongMemEval should be.
const QUESTIONS: &str = "write a list of questions in LongMemEval's format: `question_id`, `question_type`, \
    `haystack_session_ids`, `haystack_sessions`, `answer_session_ids`";

/// Says what is wrong with the JSON of a file of chats or graphs, where, and what the file should be.
pub fn json_fault(fault: &serde_json::Error, help: &str) -> Diagnostic {
    let mut problem = Diagnostic { code: Code("chats-json"), ..json_problem("", fault) }.help(help);
    // The text is not held, so that only the line and the column are known.
    problem.place.span = None;
    problem
}

/// A list of questions or samples while it is read.
struct UserReading<'a, T> {
    numbers: &'a ChatNumbers,
    take: &'a mut dyn FnMut(User),
    problems: Problems,
    n: usize,
    of: PhantomData<T>,
}

/// An element of a file of chats, with its user.
pub(super) trait ToldUser: DeserializeOwned {
    /// Finds what is wrong with it.
    fn check(&self, problems: &mut Problems);

    /// Returns the user with what is said and asked.
    fn user(&self, numbers: &ChatNumbers) -> User;
}

impl ToldUser for LongMemQuestion {
    fn check(&self, problems: &mut Problems) {
        check(self, problems);
    }

    fn user(&self, numbers: &ChatNumbers) -> User {
        user(self, numbers)
    }
}

impl<'de, T: ToldUser> Visitor<'de> for &mut UserReading<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while let Some(one) = all.next_element::<T>()? {
            let n = self.n;
            self.problems.within(n, |to| one.check(to));
            if self.problems.is_empty() {
                (self.take)(one.user(self.numbers));
            }
            self.n += 1;
        }
        Ok(())
    }
}

fn check(written: &LongMemQuestion, problems: &mut Problems) {
    if !TYPES.iter().any(|it| it.0 == written.question_type) {
        let names: Vec<&str> = TYPES.iter().map(|it| it.0).collect();
        let message = format!("unknown question type `{}`", written.question_type);
        let help = format!("write one of `{}`", names.join("`, `"));
        problems.push_at(Code("chats-type"), "question_type", message, help);
    }
    let (ids, sessions) = (written.haystack_session_ids.len(), written.haystack_sessions.len());
    if ids != sessions || (!written.haystack_dates.is_empty() && written.haystack_dates.len() != sessions) {
        let message = format!(
            "the numbers of sessions ({sessions}), ids ({ids}) and dates ({}) differ",
            written.haystack_dates.len()
        );
        let help = "give each session one id and one date, or no dates at all";
        problems.push_at(Code("chats-sessions"), "haystack_session_ids", message, help);
    }
    if sessions == 0 {
        let help = "write at least one";
        problems.push_at(Code("chats-sessions"), "haystack_sessions", "there are no sessions", help);
    }
    let is_abstention = written.question_id.ends_with(ABSTENTION);
    if written.answer_session_ids.is_empty() && !is_abstention {
        let help = format!("name the sessions that answer it, or end the question's id with `{ABSTENTION}`");
        let message = "no session answers the question";
        problems.push_at(Code("chats-evidence"), "answer_session_ids", message, help);
    }
    for id in &written.answer_session_ids {
        if !written.haystack_session_ids.contains(id) && !is_abstention {
            let message = format!("there is no session `{id}`");
            let help = "use an id from `haystack_session_ids`";
            problems.push_at(Code("chats-evidence"), "answer_session_ids", message, help);
        }
    }
}

/// Returns the user of a question, with the sessions in the order of their dates.
fn user(written: &LongMemQuestion, numbers: &ChatNumbers) -> User {
    let (_, kind, statement) = *TYPES.iter().find(|it| it.0 == written.question_type).unwrap_or(&TYPES[0]);
    let is_abstention = written.question_id.ends_with(ABSTENTION);
    let mut draft = UserDraft::new(written.question_id.clone());
    let mut evidence: Vec<FactIx> = Vec::new();
    for at in order(&written.haystack_dates, written.haystack_sessions.len()) {
        let turns = &written.haystack_sessions[at];
        let words = turns.iter().map(|it| count(&it.content)).sum();
        let session = draft.n_sessions();
        draft.session(ix::<u32>(turns.len()).max(1), words);
        let is_evidence = written.answer_session_ids.contains(&written.haystack_session_ids[at]);
        for (message, turn) in turns.iter().enumerate() {
            let answers = is_evidence && holds_answer(turns, turn);
            if !answers && turn.role != "user" {
                continue;
            }
            let kind_of = if answers { statement } else { StatementKind::Detail };
            let said = said(turn, kind_of, ix(message), numbers);
            let is_change = kind == QuestionKind::KnowledgeUpdate && !is_abstention;
            let old = evidence.last().copied().filter(|_| answers && is_change);
            let fact = match old {
                Some(old) => draft.update(old, session, said),
                None => Some(draft.say(session, said)),
            };
            evidence.extend(fact.filter(|_| answers));
        }
    }
    let after = draft.n_sessions();
    let question = if is_abstention {
        Question { near: evidence, ..Question::new(QuestionKind::Abstention, after, Vec::new()) }
    } else {
        evidence.truncate(if kind == QuestionKind::KnowledgeUpdate { 1 } else { usize::MAX });
        Question::new(kind, after, evidence)
    };
    draft.ask(question);
    draft.finish()
}

/// Returns whether a message of a session with evidence is the evidence: it is marked, or nothing is and it is the user's first.
fn holds_answer(turns: &[LongMemMessage], turn: &LongMemMessage) -> bool {
    if turns.iter().any(|it| it.has_answer) {
        return turn.has_answer;
    }
    let first = turns.iter().find(|it| it.role == "user").or(turns.first());
    first.is_some_and(|it| std::ptr::eq(it, turn))
}

/// Returns the places of sessions in the order of their dates, which are written from year to minute; as they come without dates.
fn order(dates: &[String], n: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..n).collect();
    if dates.len() == n {
        places.order_by(|one, other| dates[*one].cmp(&dates[*other]));
    }
    places
}

fn said(turn: &LongMemMessage, kind: StatementKind, message: u32, numbers: &ChatNumbers) -> FactWording {
    let most = u64::from(numbers.sizes.statement_words);
    let words = saturated(count(&turn.content).clamp(1, most.max(1)));
    FactWording { message, kind, words, text: Some(turn.content.as_str().into()) }
}

fn count(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}
