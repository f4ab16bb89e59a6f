//! What is still known of planted facts at the end of a load, and over many trials.

use crate::prelude::*;

use ctxsim_engine::ledger::{Loss, NeedRow, ProbeRow, RequestRow, Sums};
use ctxsim_engine::measure::statistic::{DIFFERENCE, SHARE, Statistic};
use ctxsim_input::policy::memory::State;
use ctxsim_timeline::row::{ColumnUnit, Value, heads_named};

/// The quarters of a load, as named by the Context Decay Benchmark.
pub const QUARTILES: [&str; 4] =
    ["early (0-25%)", "mid-early (25-50%)", "mid-late (50-75%)", "late (75-100%)"];
/// The names of needle states, in the order of [`State`].
pub const STATES: [&str; 5] = ["exact", "preview", "summarised", "recoverable", "lost"];
/// The names of a memory's lossy parts in reports, in the order of [`Loss`].
pub const LOSSES: [&str; 5] = ["write", "store", "read", "use", "stopped"];

/// Returns a state's name in reports.
pub fn state_name(state: State) -> &'static str {
    STATES[state as usize]
}

/// Returns a loss's name in reports.
pub fn loss_name(loss: Loss) -> &'static str {
    LOSSES[loss as usize]
}

/// Needles of some kind: how many were found, out of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedleHits {
    pub found: u32,
    pub total: u32,
}

impl NeedleHits {
    fn add(&mut self, is_found: bool) {
        self.found += u32::from(is_found);
        self.total += 1;
    }

    /// Returns the share that was found, or nothing if there is none of the kind.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| f64::from(self.found) / f64::from(self.total))
    }

    /// Returns the share found; an empty kind counts as 0, as in the Context Decay Benchmark.
    pub fn as_published(self) -> f64 {
        self.share().unwrap_or(0.0)
    }
}

/// What a policy retained of one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadTrial {
    /// Turns of the load.
    pub length: u64,
    /// The index of the load among those of that length, from 0.
    pub trial: u64,
    /// Tokens of the prompt at the end, including the memory.
    pub context_tokens: Tokens,
    /// Tokens of the load.
    pub total_tokens: Tokens,
    /// Explicit needles.
    pub explicit: NeedleHits,
    /// Implicit needles.
    pub implicit: NeedleHits,
    /// Needles by the quarter in which they were stated.
    pub quartiles: [NeedleHits; 4],
    /// Needles by state, in the order of [`STATES`].
    pub states: [u32; 5],
    /// Missing needles by what lost them, in the order of [`LOSSES`].
    pub losses: [u32; 5],
}

/// The sums of a run, which are priced, and what was retained.
pub type TrialSink = (Sums, LoadTrial);

impl Sink for LoadTrial {
    #[inline(always)]
    fn request(&mut self, _row: &RequestRow) {}

    #[inline(always)]
    fn need(&mut self, _row: &NeedRow) {}

    fn probe(&mut self, row: &ProbeRow) {
        let of_form = if row.is_explicit { &mut self.explicit } else { &mut self.implicit };
        of_form.add(row.is_found);
        self.quartiles[usize::from(row.quartile).min(3)].add(row.is_found);
        self.states[row.state as usize] += 1;
        if let Some(loss) = row.loss {
            self.losses[loss as usize] += 1;
        }
    }
}

impl LoadTrial {
    /// Completes the probes' numbers with the outcome of the load and the run.
    pub fn ended(self, length: u64, trial: u64, total_tokens: Tokens, outcome: &Outcome) -> Self {
        let context_tokens = outcome.end_tokens + outcome.end_memory_tokens;
        Self { length, trial, context_tokens, total_tokens, ..self }
    }

    pub fn needles(&self) -> NeedleHits {
        NeedleHits {
            found: self.explicit.found + self.implicit.found,
            total: self.explicit.total + self.implicit.total,
        }
    }

    /// Returns the ratio of load to prompt; `None` for an empty prompt.
    pub fn compression_ratio(&self) -> Option<f64> {
        (self.context_tokens > 0).then(|| self.total_tokens as f64 / self.context_tokens as f64)
    }

    /// Returns the needles found for each 1,000 tokens of the prompt; 0 for an empty prompt.
    pub fn info_density(&self) -> f64 {
        if self.context_tokens == 0 {
            return 0.0;
        }
        f64::from(self.needles().found) / self.context_tokens as f64 * 1_000.0
    }
}

// The first eleven columns and `depth_accuracy` are those of the published script.
columns! { LoadTrial;
    /// Messages of the conversation.
    "conv_length": Count = |it| it.length,
    /// The index of the conversation among those of that length, from 0.
    "trial": Count = |it| it.trial,
    /// The share of needles found.
    "retrieval_accuracy": Share = |it| it.needles().as_published(),
    /// The same for explicit needles; 0 without any, as published.
    "explicit_accuracy": Share = |it| it.explicit.as_published(),
    /// The same for implicit needles.
    "implicit_accuracy": Share = |it| it.implicit.as_published(),
    /// The prompt at the end, with the memory.
    "context_tokens": Tokens = |it| it.context_tokens,
    /// The conversation.
    "total_tokens": Tokens = |it| it.total_tokens,
    /// The conversation over the prompt; null for an empty prompt.
    "compression_ratio": Number = |it| it.compression_ratio(),
    /// Needles found for each 1,000 tokens of the prompt.
    "info_density": Number = |it| it.info_density(),
    /// Needles planted.
    "needles_total": Count = |it| it.needles().total,
    /// Of these, found.
    "needles_found": Count = |it| it.needles().found,
    /// The share found, by quarter of the conversation; 0 without any, as published.
    "depth_accuracy": Group(|| heads_named(&QUARTILES, ColumnUnit::Share)) =
        |it| Value::from_iter(QUARTILES.into_iter().zip(it.quartiles.map(NeedleHits::as_published))),
    /// Needles by quarter.
    "depth_needles": Group(|| heads_named(&QUARTILES, ColumnUnit::Count)) =
        |it| Value::from_iter(QUARTILES.into_iter().zip(it.quartiles.map(|hits| hits.total))),
    /// Needles by state.
    "states": Group(|| heads_named(&STATES, ColumnUnit::Count)) =
        |it| Value::from_iter(STATES.into_iter().zip(it.states)),
    /// Missing needles, by what lost them.
    "lost_in": Group(|| heads_named(&LOSSES, ColumnUnit::Count)) =
        |it| Value::from_iter(LOSSES.into_iter().zip(it.losses)),
}

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
        |it| Value::from_iter(QUARTILES.into_iter().zip(it.trial.quartiles.map(|it| decimals(it.as_published(), 4)))),
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

/// Rounds a number as the script does: the nearest decimal of what is stored.
fn decimals(number: f64, n: usize) -> f64 {
    format!("{number:.n$}").parse().unwrap_or(number)
}

/// What a policy kept over many trials; the `retention` of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retention {
    /// How many trials there are, of all lengths.
    pub trials: u64,
    /// Messages of all loads.
    pub messages: u64,
    /// Needles planted.
    pub needles_total: u64,
    /// Of these, found.
    pub needles_found: u64,
    /// The share of needles found, trial by trial.
    pub accuracy: Statistic,
    /// The same for explicit needles; a trial without any counts as 0, as published.
    pub explicit_accuracy: Statistic,
    /// The same for implicit needles.
    pub implicit_accuracy: Statistic,
    /// The difference between the means of explicit and implicit needles.
    pub gap: f64,
    /// The same by trial; a trial without needles of a kind counts as 0, as published.
    pub gap_by_trial: Statistic,
    /// Tokens of the load divided by tokens of the prompt.
    pub compression_ratio: Option<Statistic>,
    /// Needles found for each 1,000 tokens of the prompt.
    pub info_density: Statistic,
    /// By quarter of the load; a trial without needles there counts as 0, as published.
    pub depth_accuracy: IndexMap<&'static str, Statistic>,
    /// The same without trials that have none.
    pub non_empty: NonEmpty,
    /// By number of messages.
    pub by_length: IndexMap<String, AtLength>,
    /// Needles by state.
    pub states: IndexMap<&'static str, u64>,
    /// Missing needles, by what lost them.
    pub lost_in: IndexMap<&'static str, u64>,
    /// Whether the facts are planted in a load of items, so that there is one trial and no conversation.
    #[serde(skip)]
    pub is_planted: bool,
    /// This policy's accuracy minus another's, trial by trial on the same draws.
    pub paired: IndexMap<String, Statistic>,
}

/// Accuracies over trials that have needles of the kind; null if none has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NonEmpty {
    /// Of explicit needles.
    pub explicit_accuracy: Option<Statistic>,
    /// Of implicit needles.
    pub implicit_accuracy: Option<Statistic>,
    /// The difference of the two, over trials that have both.
    pub gap: Option<Statistic>,
    /// By quarter of the load.
    pub depth_accuracy: IndexMap<&'static str, Option<Statistic>>,
}

/// What a policy kept of loads of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtLength {
    /// The share of needles found.
    pub accuracy: Statistic,
    /// Tokens of the prompt at the end.
    pub context_tokens: Statistic,
    /// Tokens of the load.
    pub total_tokens: Statistic,
    /// Needles found for each 1,000 tokens of the prompt.
    pub info_density: Statistic,
}

impl Retention {
    /// Computes retention from trials, in their order.
    pub fn new(trials: &[LoadTrial]) -> Self {
        let explicit_accuracy = share(trials, |it| it.explicit.as_published());
        let implicit_accuracy = share(trials, |it| it.implicit.as_published());
        let by_quartile = |nth: usize| share(trials, |it| it.quartiles[nth].as_published());
        let mut lengths: IndexMap<String, Vec<LoadTrial>> = IndexMap::new();
        for trial in trials {
            lengths.entry(trial.length.to_string()).or_default().push(*trial);
        }
        Self {
            trials: trials.len() as u64,
            messages: trials.iter().map(|it| it.length).sum(),
            needles_total: trials.iter().map(|it| u64::from(it.needles().total)).sum(),
            needles_found: trials.iter().map(|it| u64::from(it.needles().found)).sum(),
            accuracy: share(trials, |it| it.needles().as_published()),
            gap: explicit_accuracy.mean - implicit_accuracy.mean,
            gap_by_trial: statistic(trials, |it| it.explicit.as_published() - it.implicit.as_published())
                .within(DIFFERENCE),
            explicit_accuracy,
            implicit_accuracy,
            compression_ratio: of_some(trials, LoadTrial::compression_ratio),
            info_density: statistic(trials, LoadTrial::info_density),
            depth_accuracy: QUARTILES.into_iter().zip((0..).map(by_quartile)).collect(),
            non_empty: NonEmpty::new(trials),
            by_length: lengths.into_iter().map(|(length, it)| (length, AtLength::new(&it))).collect(),
            states: summed(STATES, trials, |it| it.states),
            lost_in: summed(LOSSES, trials, |it| it.losses),
            is_planted: false,
            paired: IndexMap::new(),
        }
    }

    /// Returns a mean, a standard deviation or the gap by its dotted path.
    pub fn number(&self, place: &str) -> Option<f64> {
        let is_one = place == "gap" || place.ends_with(".mean") || place.ends_with(".sd");
        self.at(place).filter(|_| is_one)?.as_f64()
    }

    /// Returns the trials' values of the number at a dotted path.
    pub fn statistic(&self, place: &str) -> Option<Statistic> {
        serde_json::from_value(self.at(place)?).ok()
    }

    /// Returns what stands at a dotted path of its JSON.
    fn at(&self, place: &str) -> Option<serde_json::Value> {
        let mut all = serde_json::to_value(self).ok()?;
        all.pointer_mut(&format!("/{}", place.replace('.', "/"))).map(serde_json::Value::take)
    }

    /// Explains why no data covers the number at a dotted path; it is then 0, as published, or null.
    pub fn uncovered(&self, place: &str) -> Option<&'static str> {
        let (first, rest) = place.split_once('.').unwrap_or((place, ""));
        let quartile = |it: &Option<Statistic>| it.is_none();
        let (marked, passing) = ("no fact is explicit", "no fact is implicit");
        let NonEmpty { explicit_accuracy, implicit_accuracy, depth_accuracy, .. } = &self.non_empty;
        match first {
            _ if self.needles_total == 0 => Some("no question asks for a fact"),
            "gap" | "gap_by_trial" | "explicit_accuracy" if explicit_accuracy.is_none() => Some(marked),
            "gap" | "gap_by_trial" | "implicit_accuracy" if implicit_accuracy.is_none() => Some(passing),
            "depth_accuracy" => {
                let name = rest.rsplit_once('.').map_or(rest, |it| it.0);
                depth_accuracy.get(name).is_some_and(quartile).then_some("no fact is in that quarter")
            }
            _ => None,
        }
    }

    /// Returns how much more accurate a policy is than another, trial by trial on the same draws.
    pub fn less<'t>(
        own: impl Iterator<Item = &'t LoadTrial> + Clone,
        other: impl Iterator<Item = &'t LoadTrial> + Clone,
    ) -> Option<Statistic> {
        let accuracy = |it: &LoadTrial| it.needles().as_published();
        let differences = own.zip(other).map(|(own, other)| accuracy(own) - accuracy(other));
        Statistic::new(differences).map(|it| it.within(DIFFERENCE))
    }
}

impl NonEmpty {
    fn new(trials: &[LoadTrial]) -> Self {
        let share = |share: fn(&LoadTrial) -> Option<f64>| of_some(trials, share).map(|it| it.within(SHARE));
        let quartile = |nth: usize| of_some(trials, |it| it.quartiles[nth].share());
        let by_quartile = |nth: usize| quartile(nth).map(|it| it.within(SHARE));
        Self {
            explicit_accuracy: share(|it| it.explicit.share()),
            implicit_accuracy: share(|it| it.implicit.share()),
            gap: of_some(trials, |it| Some(it.explicit.share()? - it.implicit.share()?))
                .map(|it| it.within(DIFFERENCE)),
            depth_accuracy: QUARTILES.into_iter().zip((0..).map(by_quartile)).collect(),
        }
    }
}

impl AtLength {
    fn new(trials: &[LoadTrial]) -> Self {
        Self {
            accuracy: share(trials, |it| it.needles().as_published()),
            context_tokens: statistic(trials, |it| it.context_tokens as f64),
            total_tokens: statistic(trials, |it| it.total_tokens as f64),
            info_density: statistic(trials, LoadTrial::info_density),
        }
    }
}

/// Counts a share of every trial.
fn share(trials: &[LoadTrial], number: impl Fn(&LoadTrial) -> f64 + Clone) -> Statistic {
    statistic(trials, number).within(SHARE)
}

/// Counts a number of every trial.
fn statistic(trials: &[LoadTrial], number: impl Fn(&LoadTrial) -> f64 + Clone) -> Statistic {
    Statistic::new(trials.iter().map(number)).unwrap_or_default()
}

/// Counts a number of the trials that have it.
fn of_some(trials: &[LoadTrial], number: impl Fn(&LoadTrial) -> Option<f64> + Clone) -> Option<Statistic> {
    Statistic::new(trials.iter().filter_map(number))
}

/// Adds up every trial's counts under their names.
fn summed<const N: usize>(
    names: [&'static str; N],
    trials: &[LoadTrial],
    counts: impl Fn(&LoadTrial) -> [u32; N],
) -> IndexMap<&'static str, u64> {
    let mut sums = [0_u64; N];
    for trial in trials {
        for (sum, count) in sums.iter_mut().zip(counts(trial)) {
            *sum += u64::from(count);
        }
    }
    names.into_iter().zip(sums).collect()
}
