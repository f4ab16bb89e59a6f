//! Tables of the retention of planted facts: ours beside published figures, and beside its cost.

use super::Retention;
use super::found::{RetentionCost, has_stopped};
use super::trial::{LOSSES, QUARTILES, STATES};
use ctxsim_base::grid::numbers::{self, NONE, plain_or_none as written};
use ctxsim_base::grid::{Grid, Of};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Curve, CurvePlaces, Curves, Run};
use ctxsim_input::suite::Reference;

/// The runs of one scenario under one profile, with what is looked up in them.
pub(super) struct ScenarioRuns<'r> {
    /// Published figures beside ours.
    pub(super) references: &'r [Reference],
    pub(super) runs: Vec<(&'r Run, &'r Retention)>,
}

/// The measures of the first table, with their places and decimals.
const OVERALL: [(&str, &str, usize); 6] = [
    ("mean accuracy", "accuracy.mean", 3),
    ("standard deviation", "accuracy.sd", 3),
    ("explicit accuracy", "explicit_accuracy.mean", 3),
    ("implicit accuracy", "implicit_accuracy.mean", 3),
    ("compression ratio", "compression_ratio.mean", 1),
    ("found per 1,000 tokens", "info_density.mean", 2),
];

/// Returns the tables of runs: by scenario and profile.
pub(super) fn grids(runs: &[&Run], references: &[Reference]) -> Vec<Grid> {
    let of_group = |group: ScenarioRuns<'_>| {
        let subject = group.subject();
        group.grids().into_iter().map(move |it| Grid { title: format!("{}: {subject}", it.title), ..it })
    };
    groups(runs, references).flat_map(of_group).collect()
}

/// Returns the accuracy by depth and by length.
pub(super) fn curves(runs: &[&Run]) -> Vec<Curves> {
    groups(runs, &[]).flat_map(|it| it.curves()).collect()
}

/// Returns runs by scenario and profile.
fn groups<'r>(runs: &'r [&'r Run], references: &'r [Reference]) -> impl Iterator<Item = ScenarioRuns<'r>> {
    let groups = runs.chunk_by(|one, other| one.is_beside(other));
    let kept = |runs: &'r [&'r Run]| {
        runs.iter().filter_map(|run| Some((*run, run.found::<Retention>().filter(|it| !it.is_planted)?)))
    };
    let groups = groups.map(move |runs| ScenarioRuns { references, runs: kept(runs).collect() });
    groups.filter(|it| !it.runs.is_empty())
}

/// Returns a run's policy, and whether it stopped: later questions then count as not found.
fn name(run: &Run) -> String {
    format!("{}{}", run.policy, if has_stopped(run) { " (stopped at its limit)" } else { "" })
}

/// Returns the place of what the trials gave for the number at a place.
fn by_trial(place: &str) -> Option<&str> {
    if place == "gap" { Some("gap_by_trial") } else { place.strip_suffix(".mean") }
}

impl ScenarioRuns<'_> {
    fn grids(&self) -> Vec<Grid> {
        let mut grids = vec![
            self.overall(),
            self.by_depth(),
            self.by_form(),
            self.by_length(),
            self.context(),
            self.states(),
            self.paired(),
        ];
        grids.extend(self.published());
        if self.runs.iter().any(|(run, ..)| run.tally.costs.total().is_some_and(|it| it > 0.0)) {
            grids.push(self.costs());
        }
        grids
    }

    /// A line for each policy and measure.
    fn overall(&self) -> Grid {
        let mut rows = Vec::new();
        for (run, retention) in &self.runs {
            for (measure, place, decimals) in OVERALL {
                let mut row = vec![name(run), measure.to_owned()];
                row.extend(self.beside(run, retention, place, decimals));
                rows.push(row);
            }
        }
        self.grid("Overall accuracy", &["policy", "measure"], &["ours", "± 95%"], rows)
    }

    /// One line per policy for explicit facts, implicit facts, and the gap between the two.
    fn by_form(&self) -> Grid {
        let mut rows = Vec::new();
        for (run, retention) in &self.runs {
            let non_empty = &retention.non_empty;
            let measures = [
                ("explicit accuracy", "explicit_accuracy.mean", non_empty.explicit_accuracy),
                ("implicit accuracy", "implicit_accuracy.mean", non_empty.implicit_accuracy),
                ("gap", "gap", non_empty.gap),
            ];
            for (measure, place, corrected) in measures {
                let mut row = vec![name(run), measure.to_owned()];
                row.extend(self.beside_corrected(run, retention, place, corrected));
                rows.push(row);
            }
        }
        let columns = [
            "ours, counting a trial without such facts as 0",
            "± 95%",
            "ours, excluding such trials",
            "± 95%",
        ];
        self.grid("Explicit and implicit facts", &["policy", "measure"], &columns, rows)
    }

    /// A line for each quarter and policy.
    fn by_depth(&self) -> Grid {
        let of = |retention: &Retention, quartile: &str| {
            retention.non_empty.depth_accuracy.get(quartile).copied().flatten()
        };
        let rows = self.rows(&QUARTILES, |quartile, run, retention| {
            let place = format!("depth_accuracy.{quartile}.mean");
            self.beside_corrected(run, retention, &place, of(retention, quartile))
        });
        let columns =
            ["ours, counting an empty quarter as 0", "± 95%", "ours, excluding empty quarters", "± 95%"];
        self.grid("Accuracy by depth", &["depth", "policy"], &columns, rows)
    }

    /// A line for each length and policy.
    fn by_length(&self) -> Grid {
        let rows = self.rows(&self.lengths(), |length, run, retention| {
            self.beside(run, retention, &format!("by_length.{length}.accuracy.mean"), 3)
        });
        self.grid("Accuracy by length", &["messages", "policy"], &["ours", "± 95%"], rows)
    }

    fn curves(&self) -> [Curves; 2] {
        // The curve shows the published figure, and beside it ours.
        let of_depth = |it: &Retention, quartile: &str| it.depth_accuracy.get(quartile).copied();
        let of_non_empty =
            |it: &Retention, quartile: &str| it.non_empty.depth_accuracy.get(quartile).copied().flatten();
        let of_length = |it: &Retention, length: &str| it.by_length.get(length).map(|it| it.accuracy);
        let mut by_depth = self.curve("Accuracy by depth", CurvePlaces::Depth, &QUARTILES, of_depth);
        let beside = self.curve("", CurvePlaces::Depth, &QUARTILES, of_non_empty).curves.into_iter();
        by_depth.curves.extend(beside.map(|it| Curve {
            name: format!("{}: excluding empty quarters", it.name),
            is_beside: true,
            ..it
        }));
        [by_depth, self.curve("Accuracy by length", CurvePlaces::Length, &self.lengths(), of_length)]
    }

    /// Returns what was run.
    fn subject(&self) -> String {
        self.runs.first().map(|it| it.0.subject()).unwrap_or_default()
    }

    /// Returns a curve for each policy over places.
    fn curve(
        &self,
        title: &str,
        axis: CurvePlaces,
        places: &[&str],
        of: impl Fn(&Retention, &str) -> Option<Statistic>,
    ) -> Curves {
        let curves = self.runs.iter().map(|(run, retention)| Curve {
            policy: run.policy.clone(),
            name: name(run),
            is_beside: false,
            numbers: places.iter().map(|it| of(retention, it)).collect(),
        });
        Curves {
            axis,
            title: title.to_owned(),
            subject: self.subject(),
            places: places.iter().map(|it| (*it).to_owned()).collect(),
            curves: curves.collect(),
        }
    }

    /// A line for each length and policy: tokens of the prompt and of the load.
    fn context(&self) -> Grid {
        let pair = |tokens: Option<f64>, total: Option<f64>| match tokens.zip(total) {
            Some((tokens, total)) => format!("{tokens:.0} / {total:.0}"),
            None => NONE.to_owned(),
        };
        let rows = self.rows(&self.lengths(), |length, run, retention| {
            let places = ["context_tokens", "total_tokens"].map(|it| format!("by_length.{length}.{it}.mean"));
            let [tokens, total] = places.each_ref().map(|it| retention.number(it));
            let of = |index| places.each_ref().map(|it| self.reference(index, run, it));
            let others = (0..self.references.len()).map(of).map(|[tokens, total]| pair(tokens, total));
            std::iter::once(pair(tokens, total)).chain(others).collect()
        });
        self.grid("Context tokens / all tokens", &["messages", "policy"], &["ours"], rows)
    }

    /// A line for each policy: how its needles stand, and what lost the others.
    fn states(&self) -> Grid {
        let rows = self.runs.iter().map(|(run, retention)| {
            let states = STATES.iter().map(|it| retention.states.get(it));
            let losses = LOSSES.iter().map(|it| retention.lost_in.get(it));
            let counts = states.chain(losses).map(|it| numbers::thousands(it.copied().unwrap_or(0)));
            std::iter::once(name(run)).chain(counts).collect::<Vec<_>>()
        });
        let losses = LOSSES.map(|it| format!("lost: {it}"));
        let columns = STATES.into_iter().map(str::to_owned).chain(losses);
        let columns: Vec<String> = std::iter::once("policy".to_owned()).chain(columns).collect();
        Grid::new("Needles by state, and what lost the missing ones", 1, &columns, rows)
    }

    /// A line for each pair of policies.
    fn paired(&self) -> Grid {
        let mut rows = Vec::new();
        for (index, (run, retention)) in self.runs.iter().enumerate() {
            for (other, _) in &self.runs[index + 1..] {
                let Some(paired) = retention.paired.get(&other.policy) else { continue };
                let reach = written(paired.reach(), 3);
                rows.push(vec![name(run), name(other), format!("{:+.3}", paired.mean), reach]);
            }
        }
        Grid::new(
            "Accuracy differences, trial by trial on the same conversations",
            2,
            &["policy", "less", "difference", "± 95%"],
            rows,
        )
    }

    /// A line for each policy: what it keeps and what that costs.
    fn costs(&self) -> Grid {
        type Paid<'r> = (&'r Run, f64, RetentionCost);
        let hits = |run: &Run| (!has_stopped(run)).then(|| numbers::percent(run.tally.cache_hit_ratio()));
        let columns: [Of<'_, Paid<'_>>; 6] = [
            ("policy", &|(run, ..)| name(run)),
            ("accuracy", &|(_, accuracy, _)| format!("{accuracy:.3}")),
            ("tokens per request", &|(.., it)| written(it.tokens_per_request, 1)),
            ("cache hit", &|(run, ..)| hits(run).unwrap_or_else(|| NONE.to_owned())),
            ("USD per 1,000 messages", &|(.., it)| written(it.usd_per_1000_messages, 4)),
            ("accuracy per USD for 1,000 messages", &|(.., it)| written(it.accuracy_per_usd, 2)),
        ];
        let paid =
            self.runs.iter().filter_map(|(run, it)| Some((*run, it.accuracy.mean, RetentionCost::new(run)?)));
        let rows: Vec<Paid<'_>> = paid.collect();
        Grid::of("Cost and retention", 1, &rows, &columns)
    }

    /// Returns a row for each place and policy.
    fn rows(
        &self,
        places: &[&str],
        cells: impl Fn(&str, &Run, &Retention) -> Vec<String>,
    ) -> Vec<Vec<String>> {
        let pairs = places.iter().flat_map(|place| self.runs.iter().map(move |it| (*place, it)));
        let row = |(place, (run, retention)): (&str, &(&Run, &Retention))| {
            [vec![place.to_owned(), name(run)], cells(place, run, retention)].concat()
        };
        pairs.map(row).collect()
    }

    /// Returns our number, how far its confidence reaches, and the numbers of others.
    fn beside(&self, run: &Run, retention: &Retention, place: &str, decimals: usize) -> Vec<String> {
        let reach = by_trial(place).and_then(|it| retention.statistic(it)?.reach());
        let mut cells = vec![written(retention.number(place), decimals), written(reach, decimals)];
        let n_references = self.references.len();
        cells.extend((0..n_references).map(|index| written(self.reference(index, run, place), decimals)));
        cells
    }

    /// Returns the same with our number over the trials that have needles of the kind, after that as it was
    /// published.
    fn beside_corrected(
        &self,
        run: &Run,
        retention: &Retention,
        place: &str,
        corrected: Option<Statistic>,
    ) -> Vec<String> {
        let mut cells = self.beside(run, retention, place, 3);
        let corrected = [corrected.map(|it| it.mean), corrected.and_then(|known| known.reach())];
        cells.splice(2..2, corrected.map(|it| written(it, 3)));
        cells
    }

    /// Returns another's number.
    fn reference(&self, index: usize, run: &Run, place: &str) -> Option<f64> {
        self.references.get(index)?.values.get(&run.policy)?.get(place).copied()
    }

    /// Returns the lengths of the loads.
    fn lengths(&self) -> Vec<&str> {
        let first = self.runs.first().map(|(_, retention)| &retention.by_length);
        first.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect()
    }

    /// Puts a table together; a column of others that says nothing here is left out.
    fn grid(&self, title: &str, names: &[&str], ours: &[&str], mut rows: Vec<Vec<String>>) -> Grid {
        let mut columns: Vec<String> = names.iter().chain(ours).map(|it| (*it).to_owned()).collect();
        let first = columns.len();
        columns.extend(self.references.iter().map(|it| it.name.clone()));
        for column in (first..columns.len()).rev() {
            if rows.iter().all(|row| row[column] == NONE) {
                columns.remove(column);
                for row in &mut rows {
                    row.remove(column);
                }
            }
        }
        Grid::new(title, names.len(), &columns, rows)
    }
}
