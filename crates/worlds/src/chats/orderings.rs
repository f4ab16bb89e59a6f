//! Which runner answers more, by type of question, when one declared number after the other has another value.

use serde::Serialize;

use super::assumed::is_probability;
use super::run::ChatPlayer;
use super::{ChatNumbers, ChatObserved, ChatScenario};
use ctxsim_engine::measure::Statistic;
use ctxsim_input::policy::memory::ServiceMemory;

/// The groups of numbers that are swept: what is written, found and used; sizes and times change no answer but by the cap.
const GROUPS: [&str; 5] = ["entries.", "document.", "dates.", "search.", "use."];
/// The values of a probability.
const SHARES: [f64; 7] = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0];
/// The values of a margin, in standard deviations of noise.
const MARGINS: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

/// Who answers more questions of a type at one value of a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ordering {
    /// The number.
    pub number: String,
    /// Its declared value.
    pub declared: f64,
    /// The value that it has here.
    pub value: f64,
    /// The type of question.
    pub r#type: &'static str,
    /// The policy without entries.
    pub against: String,
    /// How much more accurate the one with entries is, chat by chat.
    pub difference: Statistic,
    /// Who is.
    pub wins: Wins,
}

/// Who is more accurate, where the interval of the difference leaves out 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wins {
    /// The runner with entries.
    Entries,
    /// Neither, for certain.
    Open,
    /// The runner with one document.
    Document,
}

impl Wins {
    /// Reads it off a difference of entries less document.
    pub fn new(difference: &Statistic) -> Self {
        match difference.ci95 {
            Some([low, _]) if low > 0.0 => Self::Entries,
            Some([_, high]) if high < 0.0 => Self::Document,
            _ => Self::Open,
        }
    }
}

/// Returns the numbers that are swept.
pub fn swept() -> Vec<String> {
    let is_swept = |it: &String| GROUPS.iter().any(|group| it.starts_with(group)) && it != "entries.words";
    ChatNumbers::declared().names().into_iter().filter(is_swept).collect()
}

/// Plays a load with a number at its values, the declared one among them, under a runner with entries and others without.
pub fn orderings(
    load: &ChatScenario,
    number: &str,
    entries: &ServiceMemory,
    others: &[(&str, &ServiceMemory)],
) -> Vec<Ordering> {
    let Some(declared) = load.numbers.get(number) else { return Vec::new() };
    let fixed: &[f64] = if is_probability(number) { &SHARES } else { &MARGINS };
    let mut values: Vec<f64> = fixed.iter().copied().chain([declared]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.into_iter().flat_map(|it| at(load, (number, declared, it), entries, others)).collect()
}

/// Plays a load with a number at one value.
fn at(
    load: &ChatScenario,
    (number, declared, value): (&str, f64, f64),
    entries: &ServiceMemory,
    others: &[(&str, &ServiceMemory)],
) -> Vec<Ordering> {
    let change = std::iter::once((number.to_owned(), value)).collect();
    let Ok(numbers) = load.numbers.with(&change) else { return Vec::new() };
    let mut base = ChatObserved::default();
    let mut observed = vec![ChatObserved::default(); others.len()];
    for trial in 0..load.trials {
        // What is said and asked stays as it was: no number of the workload is swept.
        let chats = load.chats(trial);
        let player = ChatPlayer { chats: &chats, numbers: &numbers };
        base.add(ChatObserved::new(&player.play(Some(entries))));
        for (own, other) in observed.iter_mut().zip(others) {
            own.add(ChatObserved::new(&player.play(Some(other.1))));
        }
    }
    let of = |(own, (name, _)): (&ChatObserved, &(&str, &ServiceMemory))| {
        let paired = base.less(own).into_iter();
        paired
            .map(|(kind, difference)| Ordering {
                number: number.to_owned(),
                declared,
                value,
                r#type: kind,
                against: (*name).to_owned(),
                wins: Wins::new(&difference),
                difference,
            })
            .collect::<Vec<_>>()
    };
    observed.iter().zip(others).flat_map(of).collect()
}
