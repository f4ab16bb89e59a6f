//! The declared numbers of the model of ageing, and the models that answer: `assumptions/aging`.

use crate::prelude::*;
use std::sync::OnceLock;

use super::generate;
use crate::numbers::{Naming, folder, named, within};
use ctxsim_input::scenario::Happening;
use ctxsim_input::text::source::{Format, decode_table};

/// The files of `assumptions/aging`, by path.
const FILES: &[(&str, &str)] = ctxsim_assumptions::AGING;
/// The folder of the models.
pub const MODELS: &str = "assumptions/aging/models/";
/// What the numbers are called: by their own names alone, so that a name outlives what its number rests on.
const NAMING: Naming = Naming {
    files: FILES,
    file: "assumptions/aging/numbers.toml",
    example: "extract",
    unnamed: &["fitted", "counted", "assumed"],
    is_probability,
};

/// The numbers, by where they come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgingNumbers {
    /// Fitted to published figures.
    pub fitted: Fitted,
    /// Counted in the benchmark's generators.
    pub counted: CountedNumbers,
    /// Neither.
    pub assumed: AssumedAging,
    /// The prompts that make summaries.
    pub prompts: IndexMap<String, SummariserPrompt>,
    /// The least and the largest value of numbers that conclusions are tried under.
    pub intervals: IndexMap<String, [f64; 2]>,
}

/// Numbers that are fitted to published figures, each to those that `fit.toml` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// A change is worked into the running balance.
    pub fold: f64,
    /// A total that is before the memory is used.
    pub header_use: f64,
    /// Answers of the multi-domain scenario that are the record's subject.
    pub subject_share_domains: f64,
    /// A keyword in view is cited in a design.
    pub cited_share: f64,
}

/// Numbers that were counted in the benchmark's generators.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedNumbers {
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

/// Numbers that are assumed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssumedAging {
    /// Words of an exact statement, or of a gist.
    pub words_per_statement: u64,
    /// Tokens of a word.
    pub tokens_per_word: f64,
    /// By how many standard deviations records of one template outrank all others.
    pub confusable_margin: f64,
    /// Odds of stating a confusable fact that is beside the target.
    pub confusion_odds: f64,
    /// Something retracted that is still held is mentioned in a later session.
    pub mention_share: f64,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummariserPrompt {
    /// The most words; no limit where nothing is said.
    pub words: Option<u64>,
    /// Which of the fitted numbers says how many statements stay exact.
    pub exact: Exact,
    /// Whether it asks so much that a model does only the share of it that its adherence says.
    pub demanding: bool,
}

/// Which number says how many statements stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exact {
    /// A share of those that there is room for.
    Lossy,
    /// The careful prompt's own number.
    Careful,
}

/// A model that answers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What its file is called.
    #[serde(default)]
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Whether its numbers are fitted, assumed or measured.
    pub kind: String,
    /// A fact in view is stated, per hop.
    pub utilisation: f64,
    /// The share of a demanding prompt's work that it does.
    #[serde(default = "all")]
    pub adherence: f64,
    /// The share of its utilisation that is left for each session between what was said and the question.
    #[serde(default = "all")]
    pub recall_by_span: f64,
    /// The share of changes that it works into a balance, of those that the reference model does.
    #[serde(default = "all")]
    pub revision: f64,
    /// The published figure that each of its numbers comes from, by name, or that it is assumed.
    #[serde(default)]
    pub from: IndexMap<String, String>,
    /// Other numbers that hold where it answers, by name.
    #[serde(default)]
    pub numbers: IndexMap<String, f64>,
}

/// The share of which nothing is lost.
fn all() -> f64 {
    1.0
}

impl Default for Model {
    fn default() -> Self {
        Self {
            name: String::new(),
            about: String::new(),
            kind: String::new(),
            utilisation: 0.0,
            adherence: all(),
            recall_by_span: all(),
            revision: all(),
            from: IndexMap::new(),
            numbers: IndexMap::new(),
        }
    }
}

impl AgingNumbers {
    /// Returns the numbers as they are declared.
    pub fn declared() -> &'static Self {
        static NUMBERS: OnceLock<AgingNumbers> = OnceLock::new();
        NUMBERS.get_or_init(|| NAMING.read())
    }

    /// Returns them with some of them changed.
    ///
    /// # Errors
    /// Every name that nothing declares and every value that its number cannot have.
    pub fn with(&self, changes: &IndexMap<String, f64>) -> OrProblems<Self> {
        NAMING.with(self, changes)
    }

    /// Returns the names of all of them, and of the numbers of the model that answers.
    pub fn names(&self) -> Vec<String> {
        NAMING.names(self).into_iter().chain(Model::OWN.map(str::to_owned)).collect()
    }

    /// Returns one by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        NAMING.get(self, name)
    }
}

impl Model {
    /// The numbers that each model has in its own file, among those that a load overrides.
    pub const OWN: [&str; 4] = ["utilisation", "adherence", "recall_by_span", "revision"];

    /// Returns one of its own numbers by its name.
    pub fn own(&self, name: &str) -> Option<f64> {
        self.clone().own_mut(name).copied()
    }

    fn own_mut(&mut self, name: &str) -> Option<&mut f64> {
        match name {
            "utilisation" => Some(&mut self.utilisation),
            "adherence" => Some(&mut self.adherence),
            "recall_by_span" => Some(&mut self.recall_by_span),
            "revision" => Some(&mut self.revision),
            _ => None,
        }
    }

    /// Returns every declared model.
    pub fn all() -> &'static [Arc<Self>] {
        static ALL: OnceLock<Vec<Arc<Model>>> = OnceLock::new();
        ALL.get_or_init(|| folder(FILES, MODELS).map(|(name, it)| Arc::new(Self { name, ..it })).collect())
    }

    /// Returns a model by its name.
    pub fn named(name: &str) -> Option<Arc<Self>> {
        Self::all().iter().find(|it| it.name == name).cloned()
    }

    /// Reads a model from a file of a user; it is called what the file is called.
    ///
    /// # Errors
    /// Every problem of the file.
    pub fn read(path: &str, text: &str) -> OrProblems<Arc<Self>> {
        let name = path.strip_suffix(EXTENSION).unwrap_or(path);
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
        let model: Self = decode_table(text, Format::Toml)?;
        let mut problems = Problems::default();
        for name in Self::OWN {
            check_share(name, model.own(name).unwrap_or_default(), &mut problems);
        }
        let of_numbers = AgingNumbers::declared().with(&model.numbers).err().unwrap_or_default();
        let found = problems.into_result(()).err().unwrap_or_default().into_iter();
        let all: Vec<Diagnostic> = found.chain(within("numbers", of_numbers)).collect();
        if all.is_empty() { Ok(Arc::new(Self { name, ..model })) } else { Err(all) }
    }

    /// Returns the model and the numbers that hold where it answers a load: the load's before the model's before those that
    /// are declared.
    ///
    /// # Errors
    /// Every name that nothing declares and every value that its number cannot have.
    pub fn answering(&self, of_load: &IndexMap<String, f64>) -> OrProblems<(Self, AgingNumbers)> {
        let mut changes = self.numbers.clone();
        changes.extend(of_load.iter().map(|(name, value)| (name.clone(), *value)));
        let mut model = self.clone();
        let mut problems = Problems::default();
        for name in Self::OWN {
            if let (Some(value), Some(own)) = (changes.shift_remove(name), model.own_mut(name)) {
                check_share(name, value, &mut problems);
                *own = value;
            }
        }
        match AgingNumbers::declared().with(&changes) {
            Ok(numbers) => problems.into_result((model, numbers)),
            Err(more) => Err(problems.into_result(()).err().into_iter().flatten().chain(more).collect()),
        }
    }

    /// Returns whether a scenario's name for a model is that of a user's file.
    pub fn is_path(name: &str) -> bool {
        name.ends_with(EXTENSION)
    }
}

/// How the files of models end.
const EXTENSION: &str = ".toml";

/// Returns whether a number is a probability rather than a margin or a ratio.
fn is_probability(name: &str) -> bool {
    !["margin", "odds", "per_"].iter().any(|it| name.contains(it))
}

/// Reports a number that is no probability.
fn check_share(field: &str, value: f64, problems: &mut Problems) {
    if !(0.0..=1.0).contains(&value) {
        let (message, help) = ("a probability must be from 0 to 1", "write a number from 0.0 to 1.0");
        problems.push_at(Code("probability-range"), field, message, help);
    }
}

/// Reports generators, models and prompts of a load that nothing declares.
pub fn check(load: &AgingLoad) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    problems.within("load.aging", |problems| {
        let generators: Vec<&str> = generate::GENERATORS.iter().map(|it| it.0).collect();
        if !load.generator.is_empty() {
            problems.within("generator", |to| named("generator", &load.generator, &generators, to));
        }
        let models: Vec<&str> = Model::all().iter().map(|it| it.name.as_str()).collect();
        for (index, name) in load.models.iter().enumerate().filter(|it| !Model::is_path(it.1)) {
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
    let of_numbers = Model::default().answering(&load.numbers).err().unwrap_or_default();
    let found = problems.into_result(()).err().unwrap_or_default().into_iter();
    found.chain(within("load.aging.numbers", of_numbers)).collect()
}

/// Returns what the declared prompts are called.
pub(super) fn prompts() -> Vec<&'static str> {
    AgingNumbers::declared().prompts.keys().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_model_has_a_source() {
        for model in Model::all() {
            let from: Vec<&str> = model.from.keys().map(String::as_str).collect();
            let own = Model::OWN.into_iter().chain(model.numbers.keys().map(String::as_str));
            assert_eq!(from, own.collect::<Vec<_>>(), "{}", model.name);
        }
    }

    #[test]
    fn a_model_of_a_user_is_read_with_every_problem_of_its_file() {
        let text = "about = \"Ours.\"\nkind = \"measured\"\nutilisation = 0.8\n[numbers]\nextract = 0.6\n";
        let model = Model::read("models/ours.toml", text).unwrap();
        assert_eq!((model.name.as_str(), model.numbers["extract"]), ("ours", 0.6));

        let wrong = text.replace("0.8", "1.8").replace("extract", "extrakt");
        let found = Model::read("ours.toml", &wrong).unwrap_err();
        let told: Vec<_> = found.iter().map(|it| (it.code.name(), it.place.field.as_str())).collect();
        assert_eq!(told, [("probability-range", "utilisation"), ("name-unknown", "numbers.extrakt")]);
    }
}
