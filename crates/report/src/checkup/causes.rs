//! What moved the numbers of snapshots: each input that is not as it was, simulated as it was.

use super::SuiteCheck;
use crate::prelude::*;
use crate::shot::MovedCause;

/// An input that is not as it was when snapshots were written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OldInput {
    /// An assumed number: its name, what it was, and what it is.
    Assumed(String, [String; 2]),
    /// A file: its kind, its name and its digest as it was.
    File(&'static str, String, String),
    /// The day of a profile's prices: the profile, what it was, and what it is.
    Prices(String, [String; 2]),
}

impl OldInput {
    /// Says in a few words what it is.
    pub fn describe(&self) -> String {
        match self {
            Self::Assumed(name, [old, new]) => format!("{name} ({old} → {new})"),
            Self::File(kind, name, _) => format!("the {kind} {name}"),
            Self::Prices(profile, [old, new]) => format!("the prices of {profile} ({old} → {new})"),
        }
    }
}

/// The numbers of snapshots that differ from them in a simulation: new values by snapshot, policy and column.
pub type MovedNumbers = IndexMap<[String; 3], Option<String>>;

/// A simulation with inputs as they were.
#[derive(Clone, Debug, PartialEq)]
pub struct OldInputRun {
    pub input: OldInput,
    /// What the simulation with this input alone as it was gave; why there is none, if there is none.
    pub numbers: Result<MovedNumbers, String>,
}

/// Every simulation that explains the snapshots of a suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OldInputRuns {
    pub alone: Vec<OldInputRun>,
    /// With every input as it was that could be simulated so.
    pub together: MovedNumbers,
    /// What else is not as it was, and cannot be simulated: numbers that are no longer assumed, or were not.
    pub unplayed: Vec<String>,
    /// The version that wrote the snapshots, if it is another.
    pub version: Option<String>,
}

/// The rest that inputs explain only together.
const TOGETHER: &str = "together";
/// The rest that no input explains.
const CODE: &str = "code";

impl SuiteCheck {
    /// Says of each number that moved what moved it.
    pub fn set_causes_of_moves(&mut self, runs: &OldInputRuns) {
        for snapshot in &mut self.snapshots {
            for moved in &mut snapshot.moved {
                // A line that is new or gone has no number to come from.
                if moved.values.iter().all(Option::is_some) {
                    let place = [snapshot.file.clone(), moved.policy.clone(), moved.column.clone()];
                    moved.by = runs.causes_of_move(&place, &moved.values);
                }
            }
        }
        for OldInputRun { input, numbers } in &runs.alone {
            let note = |why| format!("{} could not be simulated as it was: {why}", input.describe());
            self.notes.extend(numbers.as_ref().err().map(note));
        }
        self.notes.extend(runs.unplayed.iter().cloned());
    }
}

impl OldInputRuns {
    /// Returns what moved a number from its old value to its new one.
    fn causes_of_move(&self, key: &[String; 3], [old, new]: &[Option<String>; 2]) -> Vec<MovedCause> {
        // What a simulation does not list came to what the snapshot says.
        let value = |numbers: &MovedNumbers| numbers.get(key).cloned().unwrap_or_else(|| old.clone());
        let alone = self.alone.iter().filter_map(|it| Some((&it.input, value(it.numbers.as_ref().ok()?))));
        let cause = |(input, with_old): (&OldInput, _)| MovedCause { cause: input.describe(), with_old };
        let mut causes = alone.filter(|(_, with_old)| with_old != new).map(cause).listed();
        let together = value(&self.together);
        if together != *old {
            let version = or_nothing(self.version.as_ref(), |it| format!(" ({it})"));
            let is_known = self.unplayed.is_empty() && self.alone.iter().all(|it| it.numbers.is_ok());
            let rest = if is_known { "" } else { " or what could not be simulated" };
            causes.push(MovedCause { cause: format!("{CODE}{version}{rest}"), with_old: together });
        } else if !(causes.len() == 1 && causes.iter().all(|it| it.with_old == *old)) {
            causes.push(MovedCause { cause: TOGETHER.to_owned(), with_old: None });
        }
        causes
    }
}

/// Says what a number would be without some of several causes.
pub(super) fn describe_values_if_undone(causes: &[MovedCause]) -> String {
    let one = |it: &MovedCause| Some(format!("{} as it was: {}", it.cause, it.with_old.as_ref()?));
    let all = causes.iter().filter(|it| !it.cause.starts_with(CODE)).filter_map(one).listed();
    text_if(causes.len() > 1 && !all.is_empty(), || format!(" [{}]", all.join("; ")))
}
