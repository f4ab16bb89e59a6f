//! The grammar of designed policies: kinds of stages with the values of their numbers, read from `assumptions/design.toml`.

use std::sync::OnceLock;

use crate::prelude::*;

use ctxsim_base::rng::Draw;
use ctxsim_input::text::source::decode;

/// The kinds of stages that a designed policy may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DesignGrammar {
    /// The day on which its sources were read.
    pub as_of: String,
    /// How far towards the unfavourable end of its 95% interval a number has to hold for a policy to be chosen: 0 not at all, 1 at the end itself.
    pub caution: f64,
    /// The most kinds of a policy.
    pub kinds_max: usize,
    /// The kinds, in the order in which their stages run.
    pub kinds: Vec<DesignKind>,
}

/// A kind of stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DesignKind {
    /// Its name, which its stage has, too.
    pub name: String,
    /// What it does, with the values of its numbers.
    pub says: String,
    /// Where its values come from.
    pub source: String,
    /// The values of each number.
    pub values: IndexMap<String, Vec<String>>,
    /// What values are in the file, where they are called otherwise.
    #[serde(default)]
    pub means: IndexMap<String, IndexMap<String, String>>,
    /// The inside of the policy file that it becomes.
    pub plays: String,
}

/// The places of a kind's values among those of each of its numbers.
pub type DesignValues = Vec<usize>;

/// A policy that is tried: a preset, stages of the grammar, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The preset that it begins with, by its place among them.
    pub preset: Option<usize>,
    /// Of each kind of the grammar its values, or nothing.
    pub stages: Vec<Option<DesignValues>>,
}

impl Candidate {
    /// Returns whether it is a preset as it is.
    pub fn is_preset(&self) -> bool {
        self.preset.is_some() && self.n_added_stages() == 0
    }

    /// Counts its kinds of stages.
    pub(super) fn n_added_stages(&self) -> usize {
        self.stages.iter().flatten().count()
    }

    /// Returns it with other values of a kind.
    fn with_stage(&self, kind_index: usize, values: Option<DesignValues>) -> Self {
        let mut changed = self.clone();
        changed.stages[kind_index] = values;
        changed
    }
}

impl DesignGrammar {
    /// Returns the grammar.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read() -> Checked<&'static Self> {
        static READ: OnceLock<Checked<DesignGrammar>> = OnceLock::new();
        let read = || decode_table(ctxsim_assumptions::DESIGN, Format::Toml);
        READ.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Returns the policy without any stage.
    pub fn empty_candidate(&self) -> Candidate {
        Candidate { preset: None, stages: vec![None; self.kinds.len()] }
    }

    /// Returns stages by the names and values of their kinds, as in `trim size=2000 form=offload`; `None` if the grammar has no such.
    pub fn parse_candidate(&self, stages: &[&str]) -> Option<Candidate> {
        let mut all = self.empty_candidate();
        for text in stages {
            let (name, values) = text.split_once(' ')?;
            let nth = self.kinds.iter().position(|it| it.name == name)?;
            let given: IndexMap<&str, &str> =
                values.split(", ").filter_map(|it| it.split_once('=')).collect();
            let place = |(number, values): (&String, &Vec<String>)| {
                let value = given.get(number.as_str())?;
                values.iter().position(|it| it == value)
            };
            all.stages[nth] = Some(self.kinds[nth].values.iter().map(place).collect::<Option<_>>()?);
        }
        Some(all)
    }

    /// Returns the policy file of a candidate's stages, without a name.
    ///
    /// # Errors
    /// The grammar has a broken kind.
    pub fn policy_file(&self, candidate: &Candidate) -> Checked<PolicyFile> {
        let mut whole = PolicyFile::named("");
        for (kind, values) in self.stages_of(candidate) {
            let part = kind.policy_part(values)?;
            whole.layout = whole.layout.or(part.layout);
            whole.stages.extend(part.stages);
        }
        Ok(whole)
    }

    /// Returns the kinds of a policy with their values.
    pub fn stages_of<'g>(
        &'g self,
        candidate: &'g Candidate,
    ) -> impl Iterator<Item = (&'g DesignKind, &'g DesignValues)> {
        self.kinds.iter().zip(&candidate.stages).filter_map(|(kind, values)| Some((kind, values.as_ref()?)))
    }

    /// Draws a policy of one kind to as many as it may have.
    pub fn draw_candidate(&self, draw: &mut Draw) -> Candidate {
        let mut all = self.empty_candidate();
        let n = draw.next_between(1, self.kinds_max as u64) as usize;
        let mut left: Vec<usize> = (0..self.kinds.len()).listed();
        for _ in 0..n.min(left.len()) {
            let kind = left.remove(draw.next_below(left.len() as u64) as usize);
            let value = |it: &Vec<String>| draw.next_below(it.len() as u64) as usize;
            all.stages[kind] = Some(self.kinds[kind].values.values().map(value).collect());
        }
        all
    }

    /// Lists the coordinates: for each kind whether it is there, then each of its numbers.
    pub(super) fn kind_and_number_indices(&self) -> Vec<(usize, Option<usize>)> {
        let of_kind = |(nth, kind): (usize, &DesignKind)| {
            let numbers = (0..kind.values.len()).map(Some);
            std::iter::once(None).chain(numbers).map(move |number| (nth, number)).listed()
        };
        self.kinds.iter().enumerate().flat_map(of_kind).listed()
    }

    /// Returns the policies that differ from one in a coordinate.
    pub(super) fn neighbours_in_coordinate(
        &self,
        candidate: &Candidate,
        kind_index: usize,
        number_index: Option<usize>,
    ) -> Vec<Candidate> {
        let kind = &self.kinds[kind_index];
        match (&candidate.stages[kind_index], number_index) {
            (Some(_), None) => vec![candidate.with_stage(kind_index, None)],
            (Some(own), Some(number)) => {
                let others = kind.vary_one_number(own, number).filter(|values| values != own);
                others.map(|values| candidate.with_stage(kind_index, Some(values))).listed()
            }
            (None, None) if candidate.n_added_stages() < self.kinds_max => {
                let values = kind.values_around_middle().into_iter();
                values.map(|values| candidate.with_stage(kind_index, Some(values))).listed()
            }
            (None, _) => Vec::new(),
        }
    }

    /// Returns the policies that have another kind of stage in the place of one, kind by kind.
    pub(super) fn with_one_stage_swapped(&self, candidate: &Candidate) -> Vec<Vec<Candidate>> {
        let (own, others): (Vec<usize>, Vec<usize>) =
            (0..self.kinds.len()).partition(|nth| candidate.stages[*nth].is_some());
        let mut all = Vec::new();
        for gone in own {
            for nth in &others {
                let without = candidate.with_stage(gone, None);
                let values = self.kinds[*nth].values_around_middle().into_iter();
                all.push(values.map(|values| without.with_stage(*nth, Some(values))).listed());
            }
        }
        all
    }

    /// Returns the policies that differ from one in two numbers of a stage that it has or could have, pair by pair.
    pub(super) fn with_two_numbers_changed(&self, candidate: &Candidate) -> Vec<Vec<Candidate>> {
        let has_room = candidate.n_added_stages() < self.kinds_max;
        let mut all = Vec::new();
        for (nth, kind) in self.kinds.iter().enumerate() {
            let middle = has_room.then(|| kind.middle_values());
            let Some(own) = &candidate.stages[nth].clone().or(middle) else { continue };
            for one in 0..own.len() {
                for other in one + 1..own.len() {
                    let firsts = kind.vary_one_number(own, one).filter(|values| values[one] != own[one]);
                    let both = firsts.flat_map(|values| kind.vary_one_number(&values, other).listed());
                    let both = both.filter(|values| values[other] != own[other]);
                    all.push(both.map(|values| candidate.with_stage(nth, Some(values))).listed());
                }
            }
        }
        all
    }
}

impl DesignKind {
    /// Returns its part of a policy file.
    fn policy_part(&self, values: &DesignValues) -> Checked<PolicyFile> {
        let means = |number: &str, value: &str| {
            let meant = self.means.get(number).and_then(|it| it.get(value));
            meant.map_or(value, String::as_str).to_owned()
        };
        let inside = self.fill_text(&self.plays, values, means);
        decode(&format!("(name: \"\", about: \"\", {inside})"), Format::Ron)
    }

    /// Returns whether it is a stage, and not a layout.
    pub fn is_stage(&self) -> bool {
        self.plays.contains("stages:")
    }

    /// Says what it does with some values.
    pub fn description(&self, values: &DesignValues) -> String {
        self.fill_text(&self.says, values, |_, value| {
            value.parse().map_or_else(|_| value.to_owned(), thousands)
        })
    }

    /// Returns its name with its values, as [`DesignGrammar::parse_candidate`] reads it.
    pub fn name_with_values(&self, values: &DesignValues) -> String {
        let one = |((number, of), at): ((&String, &Vec<String>), &usize)| format!("{number}={}", of[*at]);
        format!("{} {}", self.name, self.values.iter().zip(values).map(one).listed().join(", "))
    }

    /// Returns values in the middle of each number's.
    pub fn middle_values(&self) -> DesignValues {
        self.values.values().map(|it| (it.len() - 1) / 2).collect()
    }

    /// Returns the middle, and what differs from it in one number.
    pub fn values_around_middle(&self) -> IndexSet<DesignValues> {
        let middle = self.middle_values();
        (0..middle.len()).flat_map(|number| self.vary_one_number(&middle, number)).collect()
    }

    /// Returns values with every value of one number.
    fn vary_one_number(&self, values: &DesignValues, number: usize) -> impl Iterator<Item = DesignValues> {
        let values = values.clone();
        (0..self.values[number].len()).map(move |value| {
            let mut changed = values.clone();
            changed[number] = value;
            changed
        })
    }

    /// Fills values in.
    fn fill_text(&self, text: &str, values: &DesignValues, text_of: impl Fn(&str, &str) -> String) -> String {
        let mut text = text.to_owned();
        for ((number, choices), at) in self.values.iter().zip(values) {
            text = text.replace(&format!("{{{{ {number} }}}}"), &text_of(number, &choices[*at]));
        }
        text
    }
}
