//! Conversations as the published script of the Context Decay Benchmark writes them: its fields, its names, its rounding and its order.

use super::trial::{LoadTrial, NeedleHits, QUARTILES};
use ctxsim_timeline::row::{ColumnUnit, Value, columns, heads_named};

/// What the script calls the strategies that the last parts of policies' names stand for.
const STRATEGIES: [(&str, &str); 4] = [
    ("naive_truncation", "Naive Truncation"),
    ("sliding_window_summary", "Sliding Window + Summary"),
    ("memory_banks", "Structured Memory Banks"),
    ("file_backed", "File-Backed Persistent State"),
];

/// A conversation under a policy, as the script writes it.
#[derive(Clone, Debug)]
pub(super) struct ScriptTrial {
    strategy: String,
    trial: LoadTrial,
}

columns! { ScriptTrial;
    /// The script's name of the strategy; the policy's name where the script has none.
    "strategy": Text = |it| it.strategy.clone(),
    /// Messages of the conversation.
    "conv_length": Count = |it| it.trial.length,
    /// The index of the conversation among those of that length, from 0.
    "trial": Count = |it| it.trial.trial,
    /// The share of needles found, to four decimals, as are the next two.
    "retrieval_accuracy": Share = |it| decimals(it.trial.needles().as_published(), 4),
    /// The same for explicit needles; 0 without any.
    "explicit_accuracy": Share = |it| decimals(it.trial.explicit.as_published(), 4),
    /// The same for implicit needles.
    "implicit_accuracy": Share = |it| decimals(it.trial.implicit.as_published(), 4),
    /// The prompt at the end, with the memory.
    "context_tokens": Tokens = |it| it.trial.context_tokens,
    /// The conversation.
    "total_tokens": Tokens = |it| it.trial.total_tokens,
    /// The conversation over the prompt, to two decimals; null for an empty prompt.
    "compression_ratio": Number = |it| it.trial.compression_ratio().map(|it| decimals(it, 2)),
    /// Needles found for each 1,000 tokens of the prompt, to three decimals.
    "info_density": Number = |it| decimals(it.trial.info_density(), 3),
    /// Needles planted.
    "needles_total": Count = |it| it.trial.needles().total,
    /// Of these, found.
    "needles_found": Count = |it| it.trial.needles().found,
    /// The share found, by quarter of the conversation, to four decimals; 0 without any.
    "depth_accuracy": Group(|| heads_named(&QUARTILES, ColumnUnit::Share)) =
        |it| Value::from_iter(QUARTILES.into_iter().zip(it.trial.quartiles.map(by_quarter))),
}

impl ScriptTrial {
    /// Puts the conversations of all policies in the script's order: by length, then by strategy.
    pub(super) fn all<'a>(of: impl IntoIterator<Item = (&'a str, Vec<LoadTrial>)>) -> Vec<Self> {
        let one = |(policy, trials): (&'a str, Vec<LoadTrial>)| {
            let last = policy.rsplit('/').next().unwrap_or(policy);
            let name = STRATEGIES.iter().find(|it| it.0 == last).map_or(policy, |it| it.1);
            trials.into_iter().map(move |trial| Self { strategy: name.to_owned(), trial })
        };
        let mut all: Vec<Self> = of.into_iter().flat_map(one).collect();
        let place = |it: &Self| STRATEGIES.iter().position(|known| known.1 == it.strategy);
        all.sort_by_key(|it| (it.trial.length, place(it).unwrap_or(STRATEGIES.len())));
        all
    }
}

fn by_quarter(hits: NeedleHits) -> f64 {
    decimals(hits.as_published(), 4)
}

/// Rounds a number as the script does: the nearest decimal of what is stored.
fn decimals(number: f64, n: usize) -> f64 {
    format!("{number:.n$}").parse().unwrap_or(number)
}
