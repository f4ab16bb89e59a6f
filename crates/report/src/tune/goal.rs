//! A search for what a memory does best, rather than for what is cheapest: chosen on one half of the seeds, tested on the other.

use ctxsim_engine::measure::Statistic;

use super::{TunedPoint, TunedSession, variant_name};
use crate::found;
use crate::lever::Word;
use crate::prelude::*;
use crate::sweep::{Objective, PointGuard, knee_of_points};

/// What a search is for, and what its choice has to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneGoal {
    /// What is optimised, the most important first; none for the cost under a floor of evidence.
    pub objectives: Vec<Objective>,
    pub guards: Vec<PointGuard>,
}

impl TuneGoal {
    /// Returns whether anything but the lowest cost is asked for.
    pub fn has_objectives(&self) -> bool {
        !self.objectives.is_empty()
    }
}

/// A number of the choice and of the base on the seeds held out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalNumber {
    pub objective: Objective,
    pub heading: String,
    pub base: f64,
    pub chosen: f64,
    /// By how much the choice has more than the base, seed by seed.
    pub difference: Statistic,
}

/// A variant of the search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalPoint {
    pub set: Vec<String>,
    /// By part, then by objective: the mean.
    pub numbers: Vec<Vec<Option<f64>>>,
    /// Whether it keeps every guard on the seeds that are chosen on.
    pub keeps: bool,
}

/// The result of such a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalResult {
    pub goal: TuneGoal,
    /// The choice on the seeds held out, by objective.
    pub held_out: Vec<GoalNumber>,
    /// How many other variants cannot be told from the choice by the first objective.
    pub alike: usize,
    pub word: Word,
    /// What the word rests on, in a sentence.
    pub why: String,
    /// All variants, in the order of the table.
    pub points: Vec<GoalPoint>,
    /// The base by part, then by objective.
    pub base: Vec<Vec<Option<f64>>>,
}

/// Sessions of both parts, and what is looked for.
pub(super) struct GoalSearch<'s> {
    pub(super) goal: &'s TuneGoal,
    pub(super) parts: &'s [Vec<&'s TunedSession>],
    /// How many variants there are.
    pub(super) n: usize,
}

impl GoalSearch<'_> {
    /// Returns the numbers of a run (the base at 0) on a part, by one of the columns: objectives, then guards.
    fn column_numbers(&self, part: usize, run: usize, column: usize) -> Option<Vec<f64>> {
        self.parts.get(part)?.iter().map(|it| it.numbers.get(run)?.get(column).copied().flatten()).collect()
    }

    fn column_mean(&self, part: usize, run: usize, column: usize) -> Option<f64> {
        Some(Statistic::new(self.column_numbers(part, run, column)?.into_iter())?.mean)
    }

    fn objective_means_by_part(&self, run: usize) -> Vec<Vec<Option<f64>>> {
        let means = |part| (0..self.goal.objectives.len()).map(|it| self.column_mean(part, run, it)).listed();
        (0..self.parts.len()).map(means).listed()
    }

    /// Returns whether a variant keeps every guard on the seeds that are chosen on.
    fn run_keeps_guards(&self, run: usize) -> bool {
        let first = self.goal.objectives.len();
        let mut means = self.goal.guards.iter().zip(first..).map(|it| (it.0, self.column_mean(0, run, it.1)));
        means.all(|(guard, mean)| mean.is_some_and(|it| guard.allows(it)))
    }

    /// Returns how bad a variant is by each objective, on the seeds that are chosen on.
    fn badness_by_objective(&self, variant: usize) -> Option<Vec<f64>> {
        let all = self.goal.objectives.iter().enumerate();
        all.map(|(nth, of)| Some(of.badness(self.column_mean(0, variant + 1, nth)?))).collect()
    }

    /// Returns the variants, the choice first: no other that keeps the guards is better by one objective and as good by all others.
    pub(super) fn variants_best_first(&self) -> Vec<usize> {
        let known = (0..self.n).filter_map(|it| Some((it, self.badness_by_objective(it)?))).listed();
        let keeping = known.iter().filter(|it| self.run_keeps_guards(it.0 + 1)).cloned().listed();
        let chosen = knee_of_points(&keeping);
        let mut order = (0..self.n).listed();
        let first = |it: usize| known.iter().find(|own| own.0 == it).map(|it| it.1[0]);
        order.sort_by(|one, other| {
            let key = |it: usize| (chosen != Some(it), !self.run_keeps_guards(it + 1), first(it).is_none());
            let number = |it: usize| first(it).unwrap_or_default();
            key(*one).cmp(&key(*other)).then(number(*one).total_cmp(&number(*other)))
        });
        order
    }

    /// Returns what was found; `order` is that of the variants, and `points` are in it.
    pub(super) fn goal_result(&self, order: &[usize], points: &[TunedPoint]) -> Option<GoalResult> {
        let best = *order.first()?;
        let out = self.parts.len() - 1;
        let number = |(nth, of): (usize, &Objective)| self.held_out_number(best, nth, *of);
        let held_out = self.goal.objectives.iter().enumerate().filter_map(number).listed();
        let (word, why) = self.word_and_reason(best, &held_out);
        let point = |(nth, tuned): (&usize, &TunedPoint)| GoalPoint {
            set: tuned.set.clone(),
            numbers: self.objective_means_by_part(nth + 1),
            keeps: self.run_keeps_guards(nth + 1),
        };
        Some(GoalResult {
            goal: self.goal.clone(),
            held_out,
            alike: order.iter().skip(1).filter(|it| self.is_indistinguishable(out, best, **it)).count(),
            word,
            why,
            points: order.iter().zip(points).map(point).listed(),
            base: self.objective_means_by_part(0),
        })
    }

    fn held_out_number(&self, best: usize, nth: usize, objective: Objective) -> Option<GoalNumber> {
        let out = self.parts.len() - 1;
        let [base, own] = [self.column_numbers(out, 0, nth)?, self.column_numbers(out, best + 1, nth)?];
        let mean = |it: &[f64]| it.iter().sum::<f64>() / it.len().max(1) as f64;
        let (heading, chosen, before) = (self.objective_heading(objective), mean(&own), mean(&base));
        let difference = Statistic::new(own.iter().zip(&base).map(|(own, base)| own - base))?;
        Some(GoalNumber { objective, heading, base: before, chosen, difference })
    }

    /// Returns an objective's heading; the retention is that of the kind of memory.
    fn objective_heading(&self, objective: Objective) -> String {
        let kind = self.parts.iter().flatten().find_map(|it| it.remembered.as_ref()).map(|it| it.0.clone());
        match objective {
            Objective::Retention => kind.unwrap_or_else(|| "facts found".to_owned()),
            of => of.column_heading(|_| false).to_owned(),
        }
    }

    /// Returns whether a variant cannot be told from the choice by the first objective.
    fn is_indistinguishable(&self, part: usize, best: usize, other: usize) -> bool {
        let both = self.column_numbers(part, best + 1, 0).zip(self.column_numbers(part, other + 1, 0));
        let Some((own, other)) = both else { return false };
        let difference = Statistic::new(own.iter().zip(&other).map(|(own, other)| own - other));
        difference.is_none_or(|it| it.ci95.is_none_or(|[low, high]| low <= 0.0 && high >= 0.0))
    }

    /// Returns the word for the choice, and what it rests on.
    fn word_and_reason(&self, best: usize, held_out: &[GoalNumber]) -> (Word, String) {
        let out = self.parts.len() - 1;
        let first = self.goal.objectives.len();
        for (nth, guard) in self.goal.guards.iter().enumerate() {
            let numbers = self.column_numbers(out, best + 1, first + nth);
            let Some(mean) = numbers.and_then(|it| Statistic::new(it.into_iter())) else {
                return (Word::CannotTell, format!("nothing tells whether `{guard}` holds"));
            };
            let end = mean.ci95.map_or(mean.mean, |it| if guard.is_least { it[0] } else { it[1] });
            if !guard.allows(end) {
                let end = guard.of.format_number(end, 4);
                let why = format!("`{guard}` is not certain to hold on the seeds held out: it may be {end}");
                return (Word::CannotTell, why);
            }
        }
        if self.parts.len() < 2 {
            return (Word::CannotTell, "too few seeds to test the choice".to_owned());
        }
        let named = |is_meant: fn(f64) -> bool| {
            let is_sure = |it: &&GoalNumber| {
                let ends = it.difference.ci95.map(|ends| ends.map(|end| it.objective.badness(end)));
                ends.is_some_and(|ends| ends.into_iter().all(is_meant))
            };
            held_out.iter().filter(is_sure).map(|it| it.heading.as_str()).listed().join(", ")
        };
        let [better, worse] = [named(|it| it < 0.0), named(|it| it > 0.0)];
        let sure = "on the seeds held out, at both ends of the 95% interval";
        match (better.is_empty(), worse.is_empty()) {
            (false, true) => (Word::Do, format!("better {sure}: {better}")),
            (false, false) => (Word::YourCall, format!("better {sure}: {better}; worse: {worse}")),
            (true, false) => (Word::Dont, format!("worse {sure}: {worse}")),
            (true, true) => {
                (Word::CannotTell, "no difference from the base is certain on the seeds held out".to_owned())
            }
        }
    }
}

impl GoalResult {
    /// Returns what was looked for.
    pub fn looked_for_sentence(&self) -> String {
        let all = self.held_out.iter().map(|it| it.heading.as_str()).listed().join(", ");
        let guards = self.goal.guards.iter().map(|it| format!("`{it}`")).listed().join(" and ");
        let bounds = if guards.is_empty() { guards } else { format!(" where {guards}") };
        format!("Looks for the best {all}{bounds}.")
    }

    /// Returns the variants as a table.
    pub(super) fn variants_grid(&self, base: &str) -> Grid {
        let columns = self.held_out.iter().map(|it| it.heading.as_str()).listed();
        let cells = |part: &Vec<Option<f64>>| {
            let pairs = self.goal.objectives.iter().zip(part);
            pairs.map(|(of, number)| or_none(*number, |it| of.format_number(it, 4))).listed()
        };
        let mut rows = vec![(base.to_owned(), self.base.iter().map(cells).listed())];
        for (nth, point) in self.points.iter().enumerate() {
            let best = if nth == 0 { " (best)" } else { "" };
            let mark = if point.keeps { best } else { " (guard fails)" };
            rows.push((variant_name(&point.set) + mark, point.numbers.iter().map(cells).listed()));
        }
        found::candidates_grid(&columns, self.base.len(), rows)
    }

    /// Returns what was chosen, how it did on the seeds held out, and the word for it.
    pub fn result_sentences(&self, base: &str) -> Vec<String> {
        let Some(first) = self.points.first() else { return Vec::new() };
        if self.held_out.is_empty() {
            let none = "No variant has a number for what was asked: nothing in these sessions tells it.";
            return vec![none.to_owned()];
        }
        let one = |outcome: &GoalNumber| {
            let shown = |number: f64| outcome.objective.format_number(number, 4);
            let ends = outcome.difference.ci95.map_or_else(String::new, |ends| {
                let [low, high] = ends.map(shown);
                format!("; 95% interval of the difference {low} to {high}").replace(" -", " −")
            });
            let [chosen, before] = [outcome.chosen, outcome.base].map(shown);
            format!("{} {chosen} against {before} under {base}{ends}", outcome.heading)
        };
        let all = self.held_out.iter().map(one).listed().join(". ");
        let alike = match self.alike {
            0 => "Every other variant can be told from it",
            n if n + 1 == self.points.len() => "It makes no difference here: no variant can be told from it",
            n => &format!("{} cannot be told from it", counted(n, "other variant")),
        };
        let word = self.word.text();
        vec![
            format!("Best: {}. The word for it is “{word}”: {}.", variant_name(&first.set), self.why),
            format!("On the seeds held out: {all}. {alike}."),
        ]
    }
}
