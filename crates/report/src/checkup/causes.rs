//! What moved the numbers of snapshots: each input that is not as it was, simulated as it was.

use super::CheckUp;
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
    pub fn words(&self) -> String {
        match self {
            Self::Assumed(name, [old, new]) => format!("{name} ({old} → {new})"),
            Self::File(kind, name, _) => format!("the {kind} {name}"),
            Self::Prices(profile, [old, new]) => format!("the prices of {profile} ({old} → {new})"),
        }
    }
}

/// The numbers of snapshots that differ from them in a simulation: new values by snapshot, policy and column.
pub type OldNumbers = IndexMap<[String; 3], Option<String>>;

/// A simulation with inputs as they were.
#[derive(Clone, Debug, PartialEq)]
pub struct OldPlay {
    pub input: OldInput,
    /// What the simulation with this input alone as it was gave; why there is none, if there is none.
    pub numbers: Result<OldNumbers, String>,
}

/// Every simulation that explains the snapshots of a suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OldPlays {
    pub alone: Vec<OldPlay>,
    /// With every input as it was that could be simulated so.
    pub together: OldNumbers,
    /// What else is not as it was, and cannot be simulated: numbers that are no longer assumed, or were not.
    pub unplayed: Vec<String>,
    /// The version that wrote the snapshots, if it is another.
    pub version: Option<String>,
}

/// The rest that inputs explain only together.
const TOGETHER: &str = "together";
/// The rest that no input explains.
const CODE: &str = "code";

impl CheckUp {
    /// Says of each number that moved what moved it.
    pub fn explain(&mut self, plays: &OldPlays) {
        for snapshot in &mut self.snapshots {
            let file = snapshot.file.clone();
            for moved in &mut snapshot.moved {
                // A line that is new or gone has no number to come from.
                if moved.values.iter().all(Option::is_some) {
                    let place = [file.clone(), moved.policy.clone(), moved.column.clone()];
                    moved.by = plays.causes(&place, &moved.values);
                }
            }
        }
        let failed = plays.alone.iter().filter_map(|it| Some((&it.input, it.numbers.as_ref().err()?)));
        self.notes.extend(
            failed.map(|(input, why)| format!("{} could not be simulated as it was: {why}", input.words())),
        );
        self.notes.extend(plays.unplayed.iter().cloned());
    }
}

impl OldPlays {
    /// Returns what moved a number from its old value to its new one.
    fn causes(&self, place: &[String; 3], [old, new]: &[Option<String>; 2]) -> Vec<MovedCause> {
        // What a simulation does not list came to what the snapshot says.
        let value = |numbers: &OldNumbers| numbers.get(place).cloned().unwrap_or_else(|| old.clone());
        let alone = self.alone.iter().filter_map(|it| Some((&it.input, value(it.numbers.as_ref().ok()?))));
        let moving = alone.filter(|(_, with_old)| with_old != new);
        let mut causes =
            moving.map(|(input, with_old)| MovedCause { cause: input.words(), with_old }).listed();
        let is_whole = |it: &MovedCause| it.with_old == *old;
        let together = value(&self.together);
        if together != *old {
            let version = self.version.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
            let is_known = self.unplayed.is_empty() && self.alone.iter().all(|it| it.numbers.is_ok());
            let cause = if is_known {
                CODE.to_owned() + &version
            } else {
                format!("{CODE}{version} or what could not be simulated")
            };
            causes.push(MovedCause { cause, with_old: together });
        } else if !(causes.len() == 1 && causes.iter().all(is_whole)) {
            causes.push(MovedCause { cause: TOGETHER.to_owned(), with_old: None });
        }
        causes
    }
}

/// Returns what moved numbers in a line.
pub(super) fn words(causes: &[MovedCause]) -> String {
    causes.iter().map(|it| it.cause.as_str()).listed().join(", ")
}

/// Says what a number would be without some of several causes.
pub(super) fn without(causes: &[MovedCause]) -> String {
    if causes.len() < 2 {
        return String::new();
    }
    let one = |it: &MovedCause| Some(format!("{} as it was: {}", it.cause, it.with_old.as_ref()?));
    let all: Vec<String> = causes.iter().filter(|it| !it.cause.starts_with(CODE)).filter_map(one).listed();
    if all.is_empty() { String::new() } else { format!(" [{}]", all.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> [String; 3] {
        ["a.snap", "mine", "US dollars"].map(str::to_owned)
    }

    fn play(name: &str, value: Option<&str>) -> OldPlay {
        let numbers = value.map(|it| (place(), Some(it.to_owned()))).into_iter().collect();
        OldPlay {
            input: OldInput::Assumed(name.to_owned(), ["1", "2"].map(str::to_owned)),
            numbers: Ok(numbers),
        }
    }

    fn told(plays: &OldPlays) -> Vec<(String, Option<String>)> {
        let values = ["10", "16"].map(|it| Some(it.to_owned()));
        plays.causes(&place(), &values).into_iter().map(|it| (it.cause, it.with_old)).collect()
    }

    #[test]
    fn one_input_that_leads_back_to_the_snapshot_is_the_cause_and_the_others_are_not() {
        let plays = OldPlays { alone: vec![play("a", None), play("b", Some("16"))], ..OldPlays::default() };

        assert_eq!(told(&plays), [("a (1 → 2)".to_owned(), Some("10".to_owned()))]);
    }

    #[test]
    fn inputs_that_lead_back_only_together_are_told_each_with_its_own_share() {
        let plays =
            OldPlays { alone: vec![play("a", Some("13")), play("b", Some("12"))], ..OldPlays::default() };

        let [a, b, rest] = told(&plays).try_into().unwrap();
        assert_eq!((a.1.as_deref(), b.1.as_deref()), (Some("13"), Some("12")));
        assert_eq!(rest, (TOGETHER.to_owned(), None));
    }

    #[test]
    fn what_no_input_leads_back_is_code_and_names_the_version() {
        let together = [(place(), Some("11".to_owned()))].into_iter().collect();
        let version = Some("ctxsim 0.1.0 → 0.2.0".to_owned());
        let plays = OldPlays { together, version, ..OldPlays::default() };

        assert_eq!(told(&plays), [("code (ctxsim 0.1.0 → 0.2.0)".to_owned(), Some("11".to_owned()))]);
        let lacks = OldPlay { numbers: Err("no such file".to_owned()), ..play("a", None) };
        let plays = OldPlays { alone: vec![lacks], ..plays };
        assert_eq!(told(&plays)[0].0, "code (ctxsim 0.1.0 → 0.2.0) or what could not be simulated");
    }
}
