//! Chats from a JSON file in the shape of LongMemEval: each question has a user of its own, with sessions, and names its evidence.

use crate::prelude::*;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer as _, SeqAccess, Visitor};
use serde_json::Value;

use super::{FactWording, Question, QuestionKind, StatementKind, User, UserDraft};
use crate::chats::ChatNumbers;
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
pub fn read(reader: &mut dyn BufRead, numbers: &ChatNumbers) -> OrProblems<Arc<[User]>> {
    let mut users = Vec::new();
    each(reader, numbers, &mut |it| users.push(it))?;
    Ok(users.into())
}

/// Hands over the users of a file one by one, so that only one of them is held with all its texts.
///
/// # Errors
/// As [`read`].
pub fn each(reader: &mut dyn BufRead, numbers: &ChatNumbers, take: &mut dyn FnMut(User)) -> OrProblems<()> {
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
) -> OrProblems<()> {
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

impl ToldUser for LongMemQuestion {
    fn check(&self, problems: &mut Problems) {
        if !TYPES.iter().any(|it| it.0 == self.question_type) {
            let names: Vec<&str> = TYPES.iter().map(|it| it.0).collect();
            let message = format!("unknown question type `{}`", self.question_type);
            problems.push_at(
                Code("chats-type"),
                "question_type",
                message,
                format!("write one of `{}`", names.join("`, `")),
            );
        }
        let (ids, sessions) = (self.haystack_session_ids.len(), self.haystack_sessions.len());
        if ids != sessions || (!self.haystack_dates.is_empty() && self.haystack_dates.len() != sessions) {
            let message = format!(
                "the numbers of sessions ({sessions}), ids ({ids}) and dates ({}) differ",
                self.haystack_dates.len()
            );
            let help = "give each session one id and one date, or no dates at all";
            problems.push_at(Code("chats-sessions"), "haystack_session_ids", message, help);
        }
        if sessions == 0 {
            problems.push_at(
                Code("chats-sessions"),
                "haystack_sessions",
                "there are no sessions",
                "write at least one",
            );
        }
        let is_abstention = self.question_id.ends_with(ABSTENTION);
        if self.answer_session_ids.is_empty() && !is_abstention {
            let help =
                format!("name the sessions that answer it, or end the question's id with `{ABSTENTION}`");
            problems.push_at(
                Code("chats-evidence"),
                "answer_session_ids",
                "no session answers the question",
                help,
            );
        }
        for id in &self.answer_session_ids {
            if !self.haystack_session_ids.contains(id) && !is_abstention {
                let message = format!("there is no session `{id}`");
                let help = "use an id from `haystack_session_ids`";
                problems.push_at(Code("chats-evidence"), "answer_session_ids", message, help);
            }
        }
    }

    /// Returns the user of a question, with the sessions in the order of their dates.
    fn user(&self, numbers: &ChatNumbers) -> User {
        let (_, kind, statement) = *TYPES.iter().find(|it| it.0 == self.question_type).unwrap_or(&TYPES[0]);
        let is_abstention = self.question_id.ends_with(ABSTENTION);
        let mut draft = UserDraft::new(self.question_id.clone());
        let mut evidence: Vec<FactIx> = Vec::new();
        for at in order(&self.haystack_dates, self.haystack_sessions.len()) {
            let turns = &self.haystack_sessions[at];
            let words = turns.iter().map(|it| count(&it.content)).sum();
            let session = draft.n_sessions();
            draft.session(ix::<u32>(turns.len()).max(1), words);
            let is_evidence = self.answer_session_ids.contains(&self.haystack_session_ids[at]);
            for (message, turn) in turns.iter().enumerate() {
                let answers = is_evidence && holds_answer(turns, turn);
                if !answers && turn.role != "user" {
                    continue;
                }
                let kind_of = if answers { statement } else { StatementKind::Detail };
                let said = said(&turn.content, kind_of, message, numbers);
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

/// Says a text in a message.
fn said(text: &str, kind: StatementKind, message: usize, numbers: &ChatNumbers) -> FactWording {
    let most = u64::from(numbers.sizes.statement_words).max(1);
    let words = saturated(count(text).clamp(1, most));
    FactWording { message: ix(message), kind, words, text: Some(text.into()) }
}

fn count(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// A conversation with its questions.
#[derive(Debug, Deserialize)]
pub(super) struct LocomoSample {
    #[serde(default)]
    sample_id: String,
    conversation: IndexMap<String, Value>,
    #[serde(default)]
    qa: Vec<LocomoQuestion>,
}

#[derive(Debug, Deserialize)]
struct LocomoQuestion {
    #[serde(default)]
    evidence: Vec<String>,
    category: u32,
}

/// A turn of a session.
#[derive(Debug, Deserialize)]
struct LocomoTurn {
    dia_id: String,
    #[serde(default)]
    text: String,
}

/// The types of questions by their numbers; what is adversarial has no answer.
const CATEGORIES: [(u32, QuestionKind); 5] = [
    (1, QuestionKind::Counting),
    (2, QuestionKind::Timeline),
    (3, QuestionKind::Counting),
    (4, QuestionKind::SingleFact),
    (5, QuestionKind::Abstention),
];

impl LocomoSample {
    /// Returns the sessions, by their numbers.
    fn sessions(&self) -> Vec<Vec<LocomoTurn>> {
        let number = |name: &str| name.strip_prefix("session_")?.parse::<u32>().ok();
        let mut all: Vec<(u32, Vec<LocomoTurn>)> = Vec::new();
        for (name, value) in &self.conversation {
            let turns = number(name).and_then(|it| Some((it, serde_json::from_value(value.clone()).ok()?)));
            all.extend(turns);
        }
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|it| it.1).collect()
    }
}

impl ToldUser for LocomoSample {
    fn check(&self, problems: &mut Problems) {
        let sessions = self.sessions();
        if sessions.is_empty() {
            let help = "write `session_1` with a list of turns, each with `speaker`, `dia_id` and `text`";
            problems.push_at(Code("chats-sessions"), "conversation", "there are no sessions", help);
        }
        for (nth, question) in self.qa.iter().enumerate() {
            problems.within(format_args!("qa.{nth}"), |problems| {
                if !CATEGORIES.iter().any(|it| it.0 == question.category) {
                    let message = format!("unknown category {}", question.category);
                    problems.push_at(Code("chats-type"), "category", message, "write a number from 1 to 5");
                }
            });
        }
    }

    /// Returns the two speakers as one user of a memory; evidence that no turn has is left out.
    fn user(&self, numbers: &ChatNumbers) -> User {
        let mut draft = UserDraft::new(self.sample_id.clone());
        let mut facts: IndexMap<String, FactIx> = IndexMap::new();
        let is_evidence = |id: &str| self.qa.iter().any(|it| it.names().any(|name| name == id));
        for turns in self.sessions() {
            let session = draft.n_sessions();
            draft.session(ix::<u32>(turns.len()).max(1), turns.iter().map(|it| count(&it.text)).sum());
            for (message, turn) in turns.iter().enumerate() {
                let kind =
                    if is_evidence(&turn.dia_id) { StatementKind::Fact } else { StatementKind::Detail };
                let said = said(&turn.text, kind, message, numbers);
                facts.insert(turn.dia_id.clone(), draft.say(session, said));
            }
        }
        let after = draft.n_sessions();
        for question in &self.qa {
            let kind = CATEGORIES.iter().find(|it| it.0 == question.category).map(|it| it.1);
            let mut needs: Vec<FactIx> = question.names().filter_map(|it| facts.get(it).copied()).collect();
            needs.dedup();
            let kind = kind.filter(|_| !needs.is_empty()).unwrap_or(QuestionKind::Abstention);
            draft.ask(match kind {
                QuestionKind::Abstention => {
                    Question { near: needs, ..Question::new(kind, after, Vec::new()) }
                }
                kind => Question::new(kind, after, needs),
            });
        }
        draft.finish()
    }
}

impl LocomoQuestion {
    /// Returns the turns that answer it; some lists hold several in one text.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.evidence
            .iter()
            .flat_map(|it| it.split([';', ',', ' ']))
            .map(str::trim)
            .filter(|it| !it.is_empty())
    }
}
