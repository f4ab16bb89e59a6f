//! Retention as findings of a run: its numbers, its columns, and what it costs.

use super::Retention;
use super::trial::{LOSSES, LoadTrial, NeedleHits, QUARTILES, STATES};
use crate::trial::{FoundRun, curve, found, is_beside, subject, titled};
use ctxsim_base::grid::numbers::{self, NONE, plain_or_none as written};
use ctxsim_base::grid::{Grid, Of};
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::take::{Curve, CurvePlaces, Curves, Findings, FindingsKind, Number, Run};
use ctxsim_input::suite::{DerivedNumber, Reference};
use ctxsim_timeline::row::{Head, RowColumn, Value, columns, fields, heads, listed, number_heads};

/// What is found of planted facts.
pub(super) static KIND: FindingsKind = FindingsKind {
    numbers: &[Number::share("accuracy", "retention.accuracy.mean", "facts found")],
    is_of_memory: false,
    is_in_sections: false,
    columns: &COLUMNS,
    calls: Vec::new,
    grids,
    curves,
};

/// The same of facts that are planted in a load of items: it is a load as any other, in which something is asked.
static PLANTED: FindingsKind = FindingsKind { is_in_sections: true, ..KIND };

static COLUMNS: [RowColumn<Run>; 2] = listed![Run;
    /// What is still known of planted facts; null for loads without any.
    "retention": Group(of_retention) = |it| it.found::<Retention>().map(Value::serialised),
    /// What that costs.
    "retention_cost": Group(heads::<RetentionCost>) = |it| RetentionCost::new(it).as_ref().map(fields),
];

impl Findings for Retention {
    fn kind(&self) -> &'static FindingsKind {
        if self.is_planted { &PLANTED } else { &KIND }
    }

    fn number(&self, name: &str) -> Option<Statistic> {
        self.statistic(name)
    }

    fn more(&self, name: &str, base: &str) -> Option<Statistic> {
        self.paired.get(base).filter(|_| name == "accuracy").copied()
    }

    fn value(&self) -> Value {
        Value::serialised(self)
    }

    fn uncovered(&self, metric: &str) -> Option<&'static str> {
        self.uncovered(metric.strip_prefix("retention.")?)
    }

    fn facts_left(&self) -> Option<[u64; 2]> {
        Some([self.needles_found, self.needles_total])
    }

    fn evidence(&self) -> Option<f64> {
        Some(self.accuracy.mean)
    }
}

/// Returns what a run can have; a trial has all of it.
fn of_retention() -> Vec<Head> {
    let hits = NeedleHits { found: 1, total: 1 };
    let (explicit, implicit, quartiles) = (hits, hits, [hits; 4]);
    let trial =
        LoadTrial { length: 1, context_tokens: 1, explicit, implicit, quartiles, ..LoadTrial::default() };
    let mut retention = Retention::new(&[trial]);
    retention.paired.extend(Statistic::new([0.0].into_iter()).map(|it| (String::new(), it)));
    number_heads(&Value::serialised(&retention), &["by_length", "paired"])
}

/// The cost of retention in tables and JSON; null for runs that stopped early and where there is nothing to
/// divide by.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RetentionCost {
    tokens_per_request: Option<f64>,
    usd_per_1000_messages: Option<f64>,
    accuracy_per_usd: Option<f64>,
}

impl RetentionCost {
    /// Returns the cost of a run; `None` for loads without facts.
    fn new(run: &Run) -> Option<Self> {
        let retention = run.found::<Retention>()?;
        let known = |it: Option<f64>| it.filter(|it| it.is_finite() && !has_stopped(run));
        let (main, usd) = (&run.tally.sums.main, run.tally.costs.total());
        let usd_per_1000_messages = usd.map(|it| it / (retention.messages as f64 / 1_000.0));
        Some(Self {
            tokens_per_request: known(Some(main.tokens.prompt() as f64 / main.n as f64)),
            usd_per_1000_messages: known(usd_per_1000_messages),
            accuracy_per_usd: known(usd_per_1000_messages.map(|it| retention.accuracy.mean / it)),
        })
    }
}

columns! { RetentionCost;
    /// Tokens of a prompt, on average.
    "tokens_per_request": Tokens = |it| it.tokens_per_request,
    /// Dollars per 1,000 messages of conversation.
    "usd_per_1000_turns": Usd = |it| it.usd_per_1000_messages,
    /// The share of needles found per such dollar.
    "accuracy_per_usd": Number = |it| it.accuracy_per_usd,
}

/// Returns whether a run stopped before its load was over.
fn has_stopped(run: &Run) -> bool {
    run.tally.outcome.turns_completed < run.tally.outcome.turns_requested
}

/// The runs of one scenario under one profile, with what is looked up in them.
struct ScenarioRuns<'r> {
    /// Published figures beside ours.
    references: &'r [Reference],
    runs: Vec<FoundRun<'r, Retention>>,
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
fn grids(runs: &[&Run], references: &[Reference]) -> Vec<Grid> {
    let of_group = |group: ScenarioRuns<'_>| {
        let title = |it: &Grid| titled(&it.title, &group.runs);
        group.grids().into_iter().map(|it| Grid { title: title(&it), ..it }).collect::<Vec<_>>()
    };
    groups(runs, references).into_iter().flat_map(of_group).collect()
}

/// Returns the accuracy by depth and by length.
fn curves(runs: &[&Run]) -> Vec<Curves> {
    groups(runs, &[]).iter().flat_map(ScenarioRuns::curves).collect()
}

/// Returns runs by scenario and profile; facts that are planted in a load of items have no tables of their own.
fn groups<'r>(runs: &[&'r Run], references: &'r [Reference]) -> Vec<ScenarioRuns<'r>> {
    let mut all: Vec<FoundRun<'r, Retention>> = found(runs);
    all.retain(|it| !it.1.is_planted);
    all.chunk_by(is_beside).map(|it| ScenarioRuns { references, runs: it.to_vec() }).collect()
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

    /// Returns a curve for each policy over places.
    fn curve(
        &self,
        title: &str,
        axis: CurvePlaces,
        places: &[&str],
        of: impl Fn(&Retention, &str) -> Option<Statistic>,
    ) -> Curves {
        let curves = self.runs.iter().map(|(run, retention)| {
            curve(run, name(run), places.iter().map(|it| of(retention, it)).collect())
        });
        Curves {
            axis,
            title: title.to_owned(),
            subject: subject(&self.runs),
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
        Grid::from_columns("Cost and retention", 1, &rows, &columns)
    }

    /// Returns a row for each place and policy.
    fn rows(&self, places: &[&str], row: impl Fn(&str, &Run, &Retention) -> Vec<String>) -> Vec<Vec<String>> {
        let pairs = places.iter().flat_map(|place| self.runs.iter().map(move |it| (*place, it)));
        let named = |(place, (run, retention)): (&str, &(&Run, &Retention))| {
            [vec![place.to_owned(), name(run)], row(place, run, retention)].concat()
        };
        pairs.map(named).collect()
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

impl ScenarioRuns<'_> {
    /// One line per finding whose policies are in the report; `None` if there is none.
    fn published(&self) -> Option<Grid> {
        let mut rows = Vec::new();
        for reference in self.references {
            for finding in &reference.findings {
                let Some(ours) = self.found(finding) else { continue };
                let write = |number| written(number, usize::from(finding.decimals));
                rows.push(vec![
                    finding.name.clone(),
                    write(ours),
                    write(Some(finding.value)),
                    reference.name.clone(),
                ]);
            }
        }
        (!rows.is_empty())
            .then(|| Grid::new("Published findings", 1, &["finding", "ours", "theirs", "whose"], rows))
    }

    /// Returns our number for a finding, or `None` if a policy was left out.
    fn found(&self, finding: &DerivedNumber) -> Option<Option<f64>> {
        let number = |policy: &str| {
            let (_, retention) = self.runs.iter().find(|(run, _)| run.policy == policy)?;
            Some(retention.number(&finding.metric).map(|it| match finding.from_decimals {
                Some(decimals) => rounded(it, decimals),
                None => it,
            }))
        };
        let value = number(&finding.policy)?;
        let Some(over) = &finding.over else { return Some(value) };
        let ratio = value.zip(number(over)?).map(|(value, over)| value / over);
        Some(ratio.filter(|it| it.is_finite()))
    }
}

/// Rounds a number as tables write it.
fn rounded(number: f64, decimals: u8) -> f64 {
    written(Some(number), decimals.into()).parse().unwrap_or(number)
}
