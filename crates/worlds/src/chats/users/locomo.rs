//! Chats from a JSON file in the shape of LoCoMo: each sample has sessions of two speakers, and questions that name their evidence.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use super::long_mem_eval::ToldUser;
use super::{FactWording, Question, QuestionKind, StatementKind, User, UserDraft};
use crate::chats::ChatNumbers;
use crate::graph::FactIx;
use ctxsim_base::diag::{Code, Problems};
use ctxsim_base::quantity::ix;

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
        let most = (numbers.sizes.statement_words as usize).max(1);
        let count = |text: &str| text.split_whitespace().count();
        let is_evidence = |id: &str| self.qa.iter().any(|it| it.names().any(|name| name == id));
        for turns in self.sessions() {
            let session = draft.n_sessions();
            draft.session(ix::<u32>(turns.len()).max(1), turns.iter().map(|it| count(&it.text) as u64).sum());
            for (message, turn) in turns.iter().enumerate() {
                let kind =
                    if is_evidence(&turn.dia_id) { StatementKind::Fact } else { StatementKind::Detail };
                let words = ix(count(&turn.text).clamp(1, most));
                let text = Some(turn.text.as_str().into());
                let said = FactWording { message: ix(message), kind, words, text };
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
