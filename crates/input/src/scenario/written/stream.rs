//! A stream of sessions in which facts are stated, changed, retracted and asked for, as written.

use crate::prelude::*;

use crate::scenario::check::stream;

/// Sessions of one agent with the facts that each states and the questions that it asks. Sessions are counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamFile {
    /// The topics of its records; a memory may keep a file for each. Default: one, called "general".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How a session is scored.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub score: StreamScore,
    /// Running totals, such as budgets and counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub totals: Vec<StreamTotal>,
    /// Pairs of facts that can be confused, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusable: Vec<[String; 2]>,
    /// The sessions, in order.
    pub sessions: Vec<StreamSession>,
    /// Questions once all sessions are over. Only the services of memory runners are asked them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks_after: Vec<StreamQuestion>,
}

/// How a session of a stream is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StreamScore {
    /// The share of its scored questions that are answered correctly.
    #[default]
    Answers,
    /// The share of tracked facts so far that the memory or the session itself still states.
    Keywords,
    /// The share of records so far of which the memory still states a tracked fact.
    Fidelity,
    /// The share of its scored questions whose answer is cited; three of ten are enough for the best score.
    Dependencies,
}

/// A running total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamTotal {
    /// Its name.
    pub name: String,
    /// Its value before the first session.
    pub initial: i64,
    /// Its topic. Default: the first.
    pub topic: Option<String>,
}

/// A session of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StreamSession {
    /// How many tasks the agent does in it. Default: 1.
    pub tasks: u64,
    /// Tokens that its environment sends. Default: 2,000.
    pub tokens: u64,
    /// What is said in it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<StreamRecord>,
    /// Facts that are no longer true from this session on, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retracts: Vec<String>,
    /// Questions that are first asked in this session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<StreamQuestion>,
}

impl Default for StreamSession {
    fn default() -> Self {
        Self { tasks: 1, tokens: 2_000, says: Vec::new(), retracts: Vec::new(), asks: Vec::new() }
    }
}

/// Facts that are said in one piece: a decision, a message, a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamRecord {
    /// Its topic. Default: the first.
    pub topic: Option<String>,
    /// Whether it is in the profile that the agent is given before the first session. Default: false.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub profile: bool,
    /// Its facts.
    pub facts: Vec<StreamFact>,
}

/// A fact: a detail that only survives word for word, the subject of its record, or a change of a running total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamFact {
    /// What questions and later versions call it. Default: nothing refers to it.
    pub name: Option<String>,
    /// Its value, if it is a number.
    pub value: Option<i64>,
    /// Whether it is what its record is about, which a short summary keeps, too. Default: false.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub subject: bool,
    /// The fact of which this is the new version, by name.
    pub replaces: Option<String>,
    /// By how much it changes the total named in `to`.
    pub adds: Option<i64>,
    /// The total that it changes.
    pub to: Option<String>,
    /// Whether scores by `keywords` and `fidelity` count it; false for what is said in passing. Default: true.
    #[serde(default = "crate::text::yes", skip_serializing_if = "Clone::clone")]
    pub tracked: bool,
}

/// A question. It asks for exactly one of `fact`, `any`, `compare`, `trend`, `synthesize`, `apart` and `total`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamQuestion {
    /// The current version of this fact.
    pub fact: Option<String>,
    /// The current version of any one of these facts.
    pub any: Option<Vec<String>>,
    /// All of these facts, set against each other.
    pub compare: Option<Vec<String>>,
    /// An earlier version of a fact, and its version when the question is asked.
    pub trend: Option<[String; 2]>,
    /// All of these facts, put together.
    pub synthesize: Option<Vec<String>>,
    /// This fact of a pair in `confusable`, and not the other.
    pub apart: Option<String>,
    /// The running total of this name.
    pub total: Option<String>,
    /// The session at whose end the total is meant. Default: the session before the question.
    pub at: Option<u64>,
    /// The right answer, which is checked against the facts.
    pub answer: Option<i64>,
    /// The session from which it is no longer asked; nor is it asked once its fact is retracted. Default: it is asked in one session.
    pub until: Option<u64>,
    /// Whether it counts in the score of its session. Default: true.
    #[serde(default = "crate::text::yes", skip_serializing_if = "Clone::clone")]
    pub scored: bool,
    /// Whether the question's own words contain the answer. Default: false.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub echoed: bool,
}

impl StreamFile {
    /// Checks a stream that no scenario contains; its questions about what is not true any more are left out.
    ///
    /// # Errors
    /// Every problem, each with its field path.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Problems::default();
        stream::check(self, false, &mut problems);
        problems.into_result(())
    }
}

impl StreamQuestion {
    /// Returns a question that does not ask anything yet.
    pub fn new(scored: bool) -> Self {
        Self { scored, ..Self::default() }
    }

    /// Returns the session at whose end a total is meant, if it is asked in a session.
    pub fn at_or_before(&self, session: usize) -> u64 {
        self.at.unwrap_or_else(|| (session as u64).saturating_sub(1))
    }

    /// Returns the names of the fields that say what it asks for.
    pub fn asks(&self) -> Vec<&'static str> {
        let all = [
            ("fact", self.fact.is_some()),
            ("any", self.any.is_some()),
            ("compare", self.compare.is_some()),
            ("trend", self.trend.is_some()),
            ("synthesize", self.synthesize.is_some()),
            ("apart", self.apart.is_some()),
            ("total", self.total.is_some()),
        ];
        all.into_iter().filter(|it| it.1).map(|it| it.0).collect()
    }

    /// Returns the facts that it names, with the fields that name them.
    pub fn facts(&self) -> Vec<(String, &str)> {
        let alone = [("fact", self.fact.as_deref()), ("apart", self.apart.as_deref())];
        let alone = alone.into_iter().filter_map(|(field, it)| Some((field.to_owned(), it?)));
        let mut all: Vec<(String, &str)> = alone.collect();
        let trend = self.trend.as_ref().map(|it| it.as_slice());
        let lists = [
            ("any", self.any.as_deref()),
            ("compare", self.compare.as_deref()),
            ("trend", trend),
            ("synthesize", self.synthesize.as_deref()),
        ];
        for (field, names) in lists {
            let names = names.into_iter().flatten().enumerate();
            all.extend(names.map(|(nth, it)| (format!("{field}.{nth}"), it.as_str())));
        }
        all
    }
}
