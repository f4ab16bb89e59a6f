//! The declared numbers of memory runners, the services that they call, and a policy's runner with both filled in.

use std::sync::OnceLock;

use crate::prelude::*;

use crate::numbers::{Naming, folder, named, within};
use ctxsim_base::quantity::{Cost, Decimal};
use ctxsim_input::policy::memory::Cap;

/// The files of `assumptions/memory_runners`, by path.
const FILES: &[(&str, &str)] = ctxsim_assumptions::MEMORY_RUNNERS;
/// What the numbers are called.
const NAMING: Naming = Naming {
    files: FILES,
    file: "assumptions/memory_runners/numbers.toml",
    example: "document.keeps",
    unnamed: &[],
    is_probability,
};

/// The numbers, by subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatNumbers {
    /// What an entry holds.
    pub entries: EntryNumbers,
    /// What a document holds.
    pub document: DocumentNumbers,
    /// Knowledge of dates.
    pub dates: DateNumbers,
    /// What a search finds.
    pub search: SearchNumbers,
    /// What a model makes of what it reads.
    pub r#use: ChatUseNumbers,
    /// How large things are.
    pub sizes: ChatSizes,
    /// How long a model takes.
    pub model: ModelNumbers,
    /// What generated chats say.
    pub workload: Workload,
    /// The least and the largest value of numbers that ratios of times are given for.
    pub intervals: IndexMap<String, [f64; 2]>,
}

/// What an entry holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryNumbers {
    /// A statement of a message is in its entry.
    pub takes: f64,
    /// An implicit statement is in its entry.
    pub takes_detail: f64,
    /// Words of an entry.
    pub words: u32,
}

/// What a document holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentNumbers {
    /// A statement of the session is written into it.
    pub takes: f64,
    /// An implicit statement is written into it.
    pub takes_detail: f64,
    /// The same if the prompt asks for a comprehensive Facts section.
    pub takes_detail_listed: f64,
    /// A statement survives when the document is written again.
    pub keeps: f64,
    /// A new value replaces the old one.
    pub sees_contradiction: f64,
    /// A date in the text is kept with its event.
    pub keeps_date: f64,
}

/// What is known of dates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateNumbers {
    /// An event's own text contains its date.
    pub in_text: f64,
}

/// What a search finds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchNumbers {
    /// By how many standard deviations of noise an entry that holds something needed is more like the question.
    pub entry_margin: f64,
    /// The same of a version of the document that holds all that is needed.
    pub shard_margin: f64,
    /// The same of an entry about something similar.
    pub near_margin: f64,
    /// The model asks for a second pass where something is missing.
    pub refines_missing: f64,
    /// And where nothing is.
    pub refines_complete: f64,
}

/// What a model makes of what it reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatUseNumbers {
    /// It states a fact that it reads.
    pub states: f64,
    /// It counts one thing that is in an entry.
    pub counts_entry: f64,
    /// Or in a document.
    pub counts_document: f64,
    /// It states an old value that is beside the current one.
    pub takes_stale: f64,
    /// The same where both carry their dates.
    pub takes_stale_dated: f64,
    /// It mistakes something similar for the answer.
    pub takes_near: f64,
    /// It answers although nothing similar was read.
    pub invents: f64,
}

/// How large things are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatSizes {
    /// Words of a statement in a document.
    pub statement_words: u32,
    /// Words of a conversation's line in the timeline.
    pub date_words: u32,
    /// Words of the line that an old conversation leaves.
    pub summary_words: u32,
    /// Words of a Description section.
    pub description_words: u32,
    /// Words of a Topics section.
    pub topics_words: u32,
    /// Words of a Decisions section.
    pub decisions_words: u32,
    /// Words of a Diagram section.
    pub diagram_words: u32,
    /// Characters of a word, with the blank after it.
    pub chars_per_word: u32,
    /// Words of a message of a generated chat.
    pub message_words: u32,
    /// Tokens of a word.
    pub tokens_per_word: f64,
    /// Tokens of the agent's system prompt.
    pub system_tokens: u32,
    /// Tokens of the prompt that asks for the document.
    pub instruction_tokens: u32,
    /// Tokens that make an entry.
    pub entry_output_tokens: u32,
    /// Tokens of a question.
    pub question_tokens: u32,
    /// Tokens that say whether a pass is enough.
    pub judge_output_tokens: u32,
    /// Tokens of an answer.
    pub answer_output_tokens: u32,
}

/// How long a model takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelNumbers {
    /// Before its first token.
    pub request_ms: f64,
    /// For a token of the prompt.
    pub prompt_ms_per_token: f64,
    /// For a token that it writes.
    pub output_ms_per_token: f64,
}

/// What generated chats say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Things worth remembering, by the message.
    pub statements_per_message: f64,
    /// Their shares.
    pub shares: Shares,
    /// A statement is repeated, per later session.
    pub mentioned_again: f64,
    /// It changes its value, per later session.
    pub updated: f64,
    /// A relation ends, per later session.
    pub retracted: f64,
    /// Of the questions about a single fact: those about an implicit one.
    pub asked_detail: f64,
    /// Things that a question asks to count: from, to.
    pub counted: [u64; 2],
    /// Events that a question asks the date or the order of: from, to.
    pub dated: [u64; 2],
}

/// The shares of statements, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// What holds.
    pub fact: f64,
    /// What the user likes.
    pub preference: f64,
    /// People and things.
    pub entity: f64,
    /// What happened.
    pub event: f64,
    /// What is said in passing.
    pub detail: f64,
}

/// A policy's runner with the declared numbers filled in.
#[derive(Clone, Debug)]
pub struct RunnerRules {
    /// As the policy declares it; none keeps nothing.
    pub spec: Option<ServiceMemory>,
    /// The service.
    pub service: ServiceSpec,
    /// The numbers.
    pub numbers: ChatNumbers,
}

impl ChatNumbers {
    /// Returns the numbers as they are declared.
    pub fn declared() -> &'static Self {
        static NUMBERS: OnceLock<ChatNumbers> = OnceLock::new();
        NUMBERS.get_or_init(|| NAMING.read())
    }

    /// Returns them with some numbers changed.
    ///
    /// # Errors
    /// Every name that nothing declares and every value that its number cannot have.
    pub fn with(&self, changes: &IndexMap<String, f64>) -> OrProblems<Self> {
        NAMING.with(self, changes)
    }

    /// Returns the names of all numbers.
    pub fn names(&self) -> Vec<String> {
        NAMING.names(self)
    }

    /// Returns a number by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        NAMING.get(self, name)
    }

    /// Returns every combination of the ends between which the speed of a model may lie.
    pub(super) fn speeds(&self) -> Vec<ModelNumbers> {
        let names = ["request_ms", "prompt_ms_per_token", "output_ms_per_token"];
        let ends = names.map(|it| self.intervals.get(&format!("model.{it}")).copied());
        let [Some(request), Some(prompt), Some(output)] = ends else { return Vec::new() };
        let one = |nth: usize| ModelNumbers {
            request_ms: request[nth / 4],
            prompt_ms_per_token: prompt[nth / 2 % 2],
            output_ms_per_token: output[nth % 2],
        };
        (0..8).map(one).collect()
    }

    /// Returns the tokens of a model's prompt: what is said to it, the document, and what every agent is told.
    pub(super) fn prompt(&self, said: u64, document_words: u64) -> u64 {
        said + self.tokens(document_words) + u64::from(self.sizes.system_tokens)
    }

    /// Returns the tokens of so many words.
    pub fn tokens(&self, words: u64) -> u64 {
        (words as f64 * self.sizes.tokens_per_word).round() as u64
    }

    /// Returns the words that a document may have.
    pub fn words(&self, cap: Cap) -> u64 {
        match cap {
            Cap::Words(words) => words,
            Cap::Chars(chars) => chars / u64::from(self.sizes.chars_per_word.max(1)),
        }
    }
}

impl ModelNumbers {
    /// Returns how long a request takes, in milliseconds.
    pub(super) fn ms(&self, prompt: u64, output: u64) -> f64 {
        self.request_ms + self.prompt_ms_per_token * prompt as f64 + self.output_ms_per_token * output as f64
    }
}

impl RunnerRules {
    /// Takes a policy's declaration; an undeclared service takes no time.
    pub fn new(spec: Option<&ServiceMemory>, numbers: &ChatNumbers) -> Self {
        let service = spec.and_then(|it| ServiceSpec::named(&it.service)).cloned().unwrap_or_default();
        Self { spec: spec.cloned(), service, numbers: numbers.clone() }
    }
}

/// Reports undeclared numbers of a load, and invalid values.
pub fn check(changes: &IndexMap<String, f64>) -> Vec<Diagnostic> {
    within("load.chats.numbers", ChatNumbers::declared().with(changes).err().unwrap_or_default()).collect()
}

/// Returns whether a number is a probability rather than a margin, a time or a ratio.
pub(super) fn is_probability(name: &str) -> bool {
    let is_ratio =
        ["margin", "_ms", "per_token", "per_word", "per_message"].iter().any(|it| name.contains(it));
    !is_ratio && !name.starts_with("sizes.")
}

/// The folder of the services.
const SERVICES: &str = "assumptions/memory_runners/services/";

/// A memory service: what its calls take and cost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// What its file is called.
    #[serde(default)]
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Whether its numbers are measured or assumed.
    pub kind: String,
    /// Milliseconds from a write to the moment at which a search finds it.
    pub indexing_ms: u64,
    /// Milliseconds of the indexer's work for a write; there is one for all users.
    pub indexing_ms_per_write: u64,
    /// By call: what it takes.
    pub calls: BTreeMap<ServiceCall, CallCost>,
}

/// What a call takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCost {
    /// Milliseconds.
    pub latency_ms: u64,
    /// Dollars.
    pub usd: Decimal,
}

impl ServiceSpec {
    /// Returns every declared service.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<ServiceSpec>> = OnceLock::new();
        ALL.get_or_init(|| folder(FILES, SERVICES).map(|(name, it)| Self { name, ..it }).collect())
    }

    /// Returns a service by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|it| it.name == name)
    }

    /// Returns the milliseconds that a call takes, beside what it waits for.
    pub fn latency_ms(&self, call: ServiceCall) -> u64 {
        self.calls.get(&call).map_or(0, |it| it.latency_ms)
    }

    /// Returns what a call costs.
    pub fn cost(&self, call: ServiceCall) -> Cost {
        self.calls.get(&call).and_then(|it| Cost::from_usd(it.usd)).unwrap_or_default()
    }
}

/// Reports a service of a policy that nothing declares.
pub fn check_policy(spec: &ServiceMemory) -> Vec<Diagnostic> {
    let known: Vec<&str> = ServiceSpec::all().iter().map(|it| it.name.as_str()).collect();
    let mut problems = Problems::default();
    problems.within("memory.service.service", |to| named("service", &spec.service, &known, to));
    problems.into_result(()).err().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_change_is_told_at_once() {
        let changes =
            [("document.kept", 0.5), ("use.states", 1.5), ("entries.words", 1.5), ("model.request_ms", -1.0)];
        let changes = changes.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        let codes: Vec<&str> = check(&changes).iter().map(|it| it.code.name()).collect();

        assert_eq!(codes, ["name-unknown", "probability-range", "number-range", "number-range"]);
    }
}
