//! What is still known of planted facts, over many trials.

use indexmap::IndexMap;
use serde::Serialize;

use super::trial::{LOSSES, LoadTrial, QUARTILES, STATES};
use ctxsim_engine::measure::statistic::{DIFFERENCE, SHARE, Statistic};

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
        match place.rsplit_once('.') {
            Some((stem, "mean")) => self.statistic(stem).map(|it| it.mean),
            Some((stem, "sd")) => self.statistic(stem).map(|it| it.sd),
            _ => (place == "gap").then_some(self.gap),
        }
    }

    /// Returns the trials' values of the number at a dotted path.
    pub fn statistic(&self, place: &str) -> Option<Statistic> {
        match place.split_once('.') {
            None => match place {
                "accuracy" => Some(self.accuracy),
                "explicit_accuracy" => Some(self.explicit_accuracy),
                "implicit_accuracy" => Some(self.implicit_accuracy),
                "gap_by_trial" => Some(self.gap_by_trial),
                "compression_ratio" => self.compression_ratio,
                "info_density" => Some(self.info_density),
                _ => None,
            },
            Some(("depth_accuracy", quartile)) => self.depth_accuracy.get(quartile).copied(),
            Some(("by_length", rest)) => {
                let (length, number) = rest.split_once('.')?;
                let at = self.by_length.get(length)?;
                match number {
                    "accuracy" => Some(at.accuracy),
                    "context_tokens" => Some(at.context_tokens),
                    "total_tokens" => Some(at.total_tokens),
                    "info_density" => Some(at.info_density),
                    _ => None,
                }
            }
            Some(_) => None,
        }
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

    /// Compares with another policy on the same draws.
    pub fn pair<'t>(
        &mut self,
        against: &str,
        own: impl Iterator<Item = &'t LoadTrial> + Clone,
        other: impl Iterator<Item = &'t LoadTrial> + Clone,
    ) {
        let difference = |(own, other): (&LoadTrial, &LoadTrial)| {
            own.needles().as_published() - other.needles().as_published()
        };
        if let Some(paired) = Statistic::new(own.zip(other).map(difference)) {
            self.paired.insert(against.to_owned(), paired.within(DIFFERENCE));
        }
    }
}

impl NonEmpty {
    fn new(trials: &[LoadTrial]) -> Self {
        let by_quartile = |nth: usize| {
            of_some(trials, move |it| it.quartiles[nth].share()).map(|found| found.within(SHARE))
        };
        Self {
            explicit_accuracy: of_some(trials, |it| it.explicit.share()).map(|found| found.within(SHARE)),
            implicit_accuracy: of_some(trials, |it| it.implicit.share()).map(|found| found.within(SHARE)),
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
