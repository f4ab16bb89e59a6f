//! The declared numbers of the model of ageing, and the models that answer: `assumptions/aging`.

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::Deserialize;

use super::generate;
use crate::diag::{Diagnostic, Problems, nearest};
use crate::input::scenario::{AgingLoad, Happening};
use crate::input::text::decode::{Format, decode};

/// The files of `assumptions/aging`, by path.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/aging_numbers.rs"));
/// The folder of the models.
pub const MODELS: &str = "assumptions/aging/models/";
/// The file of the numbers.
const NUMBERS: &str = "assumptions/aging/numbers.toml";

/// The numbers, by where they come from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    /// Fitted to published figures.
    pub fitted: Fitted,
    /// Counted in the benchmark's generators.
    pub counted: Counted,
    /// Said by the benchmark's code.
    pub code: Code,
    /// Neither.
    pub assumed: Assumed,
    /// The prompts that make summaries.
    pub prompts: IndexMap<String, Prompt>,
}

/// Numbers that are fitted to published figures: at most eight.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted {
    /// Of the statements that a lossy summary has room for, those that stay exact.
    pub lossy_exact_share: f64,
    /// Exact statements that the careful prompt keeps.
    pub careful_statements: u64,
    /// A value survives the first time that it is written.
    pub extract: f64,
    /// By how many standard deviations of noise a needed record is more like the question than another.
    pub similarity_margin: f64,
    /// Odds of stating a confusable fact that is beside the target.
    pub confusion_odds: f64,
    /// A change is worked into the running balance.
    pub fold: f64,
    /// A total that is before the memory is used.
    pub header_use: f64,
}

/// Numbers that were counted in the benchmark's generators.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// A lost keyword is in the text by chance.
    pub chance_hit: f64,
    /// Of ten constraint probes, those whose own text holds the answer.
    pub echoed_constraints: u64,
    /// Gold keywords of a knowledge base that are the record's subject.
    pub subject_share_knowledge: f64,
    /// Decisions that name their subject by the figures beside it: none, one, two.
    pub figures_with_subject: [f64; 3],
    /// Decisions that do not by their figures: none, one, two.
    pub figures_alone: [f64; 3],
}

/// Numbers that the benchmark's code says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// Words of a lossy summary.
    pub lossy_words: u64,
    /// Records that a question brings back.
    pub top_entries: u64,
    /// Categories that the careful prompt lists.
    pub careful_instructions: u64,
    /// Words that a memory compaction leaves.
    pub truncated_words: u64,
}

/// Numbers that are assumed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    /// Words of an exact statement, or of a gist.
    pub words_per_statement: u64,
    /// Tokens of a word.
    pub tokens_per_word: f64,
    /// By how many standard deviations records of one template outrank all others.
    pub confusable_margin: f64,
    /// Answers of the multi-domain scenario that are the record's subject.
    pub subject_share_domains: f64,
    /// A keyword in view is cited in a design.
    pub cited_share: f64,
    /// Something retracted that is still held is mentioned in a later session.
    pub mention_share: f64,
    /// The utilisation under which the careful prompt was fitted.
    pub reference_utilisation: f64,
    /// A response violates a constraint.
    pub violation_share: f64,
    /// Tokens of the system prompt.
    pub system_tokens: u32,
    /// Tokens of a question.
    pub question_tokens: u32,
    /// Tokens of its answer.
    pub answer_tokens: u32,
    /// Tokens of a task.
    pub task_tokens: u32,
    /// Tokens of what the agent makes of it.
    pub work_tokens: u32,
    /// Tokens of the prompt that asks for a summary.
    pub compaction_prompt_tokens: u32,
    /// Seconds from one session to the next.
    pub session_seconds: i64,
}

/// A prompt that makes summaries.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// The most words; no limit where nothing is said.
    pub words: Option<u64>,
    /// Which of the fitted numbers says how many statements stay exact.
    pub exact: Exact,
    /// Instructions that an agent has to follow for that.
    pub instructions: u32,
}

/// Which number says how many statements stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exact {
    /// A share of those that there is room for.
    Lossy,
    /// The careful prompt's own number.
    Careful,
}

/// A model that answers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What its file is called.
    #[serde(default)]
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Whether its number is fitted or assumed.
    pub kind: String,
    /// A fact in view is stated, per hop.
    pub utilisation: f64,
}

impl Numbers {
    /// Returns the numbers as they are declared.
    #[must_use]
    pub fn declared() -> &'static Self {
        static NUMBERS_READ: OnceLock<Numbers> = OnceLock::new();
        NUMBERS_READ
            .get_or_init(|| file(NUMBERS).and_then(|it| decode(it, Format::Toml).ok()).unwrap_or_default())
    }
}

impl Model {
    /// Returns every declared model.
    #[must_use]
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Model>> = OnceLock::new();
        ALL.get_or_init(|| {
            let files = FILES.iter().filter_map(|(path, text)| {
                let name = path.strip_prefix(MODELS)?.strip_suffix(".toml")?.to_owned();
                Some(Self { name, ..decode(text, Format::Toml).ok()? })
            });
            files.collect()
        })
    }

    /// Returns a model by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|it| it.name == name)
    }
}

fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(it, _)| *it == path).map(|it| it.1)
}

/// Reports generators, models and prompts of a load that nothing declares.
#[must_use]
pub fn check(load: &AgingLoad) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    problems.within("load.aging", |problems| {
        let generators: Vec<&str> = generate::GENERATORS.iter().map(|it| it.0).collect();
        problems.within("generator", |to| named("generator", &load.generator, &generators, to));
        let models: Vec<&str> = Model::all().iter().map(|it| it.name.as_str()).collect();
        for (index, name) in load.models.iter().enumerate() {
            problems.within(format_args!("models.{index}"), |to| named("model", name, &models, to));
        }
        for (index, event) in load.events.iter().enumerate() {
            problems.within(format_args!("events.{index}.what"), |to| match &event.what {
                Happening::PromptUpdate { prompt } => named("prompt", prompt, &prompts(), to),
                Happening::ModelRotation { model } => named("model", model, &models, to),
                _ => {}
            });
        }
    });
    problems.into_result(()).err().unwrap_or_default()
}

/// Returns what the declared prompts are called.
pub(super) fn prompts() -> Vec<&'static str> {
    Numbers::declared().prompts.keys().map(String::as_str).collect()
}

/// Reports a name that nothing declares.
pub(super) fn named(kind: &str, name: &str, known: &[&str], problems: &mut Problems) {
    if known.contains(&name) {
        return;
    }
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of `{}`", known.join("`, `")),
    };
    problems.push("name-unknown", format!("unknown {kind} `{name}`"), help);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_numbers_and_models_decode_and_no_more_than_eight_are_fitted() {
        let text = file(NUMBERS).unwrap();
        let fitted = text.split_once("[fitted]").unwrap().1.split_once("\n[").unwrap().0;
        let n_fitted = fitted.lines().filter(|it| it.contains(" = ")).count();

        assert!((1..=8).contains(&n_fitted), "{fitted}");
        assert_eq!(Numbers::declared().fitted.careful_statements, 62);
        assert_eq!(Numbers::declared().prompts.len(), 4);
        let n_files = FILES.iter().filter(|it| it.0.starts_with(MODELS)).count();
        assert_eq!(Model::all().len(), n_files);
        assert_eq!(Model::named("mid").map(|it| it.utilisation), Some(0.96));
    }
}
