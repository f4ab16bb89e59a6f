//! A report's numbers in snapshots: a table per load and profile,
//! a line per policy; and the changes between two tables.

use super::made::MadeWith;
use super::metric::{self, COST};
use crate::prelude::*;
use ctxsim_base::grid::numbers::fixed_or_none;

/// The columns of a line, after the policy's name, and the metrics that they show.
const HEADS: [(&str, &str); 8] = [
    ("requests", "requests"),
    ("longest prompt", "prompt_tokens_max"),
    ("cache read", "cache_read_tokens"),
    ("cache write", "cache_write_tokens"),
    ("uncached", "uncached_tokens"),
    ("recovery calls", "recovery.expected_calls"),
    ("evidence kept", EVIDENCE),
    ("US dollars", COST),
];

/// Where facts are planted, its column shows how many of them are found.
const EVIDENCE: &str = "evidence_kept";

/// The decimals of numbers that are not counts.
const DECIMALS: usize = 6;

/// The smallest separator of two cells.
const GAP: &str = "  ";

/// The column that says which file a policy is, by the first digits of its digest.
const FILE: &str = "file";
const FILE_DIGITS: usize = 8;

/// The least width of a column of numbers in a file that is kept, and what the width of its names is a multiple of: a number of one digit more
/// changes no other line.
const KEPT_WIDTH: usize = 14;
const KEPT_NAMES: usize = 16;

/// A table in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotTable {
    /// The scenario and the profile.
    pub of: [String; 2],
    /// The same as names of folders and files.
    pub path: [String; 2],
    /// The date of the prices.
    pub as_of: String,
    /// The table.
    pub text: String,
}

/// A changed number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedNumber {
    /// The policy.
    pub policy: String,
    /// The column of the table.
    pub column: String,
    /// Its old and new values; `None` if the line is new or gone.
    pub values: [Option<String>; 2],
    /// Its relative change, if both are numbers.
    pub relative: Option<f64>,
    /// What moved it, if that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<MovedCause>,
}

/// Something that moved a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedCause {
    /// What it is: an input, `together`, or `code`.
    pub cause: String,
    /// What the number would be with that alone as it was; with all inputs as they were, if that still differs from the snapshot.
    pub with_old: Option<String>,
}

impl Report {
    /// Returns its numbers as snapshots keep them.
    pub fn snapshot_tables(&self) -> Vec<SnapshotTable> {
        self.snapshot_tables_drawn_by(&|runs| draw_runs_table(runs))
    }

    /// Returns the same as files keep them: with what each policy's file is, in columns that keep their width.
    pub fn snapshot_tables_for_files(&self, made: &MadeWith) -> Vec<SnapshotTable> {
        let file = |run: &&Run| made.digest_of_input("policy", &run.policy)?.get(..FILE_DIGITS);
        self.snapshot_tables_drawn_by(&|runs| {
            let files = runs.iter().map(|it| file(it).unwrap_or("-").to_owned()).listed();
            draw_aligned_table(runs, &[(FILE, files)], [KEPT_NAMES, KEPT_WIDTH])
        })
    }

    fn snapshot_tables_drawn_by(&self, table: &dyn Fn(&[&Run]) -> String) -> Vec<SnapshotTable> {
        let shot = |runs: &[Run]| SnapshotTable {
            of: [&runs[0].scenario, &runs[0].profile].map(String::clone),
            path: [&runs[0].scenario, &runs[0].profile].map(|it| to_file_name(it)),
            as_of: runs[0].assumed.as_of.clone(),
            text: table(&runs.iter().listed()),
        };
        self.runs.chunk_by(|one, other| one.is_beside(other)).map(shot).listed()
    }
}

/// Returns a table of runs, one a line, its columns aligned; what memories hold stands behind the cost.
pub fn draw_runs_table(runs: &[&Run]) -> String {
    draw_aligned_table(runs, &[], [1, 0])
}

/// Lays a table out with columns behind all others, its names in a multiple of a width and its numbers in at least one.
fn draw_aligned_table(runs: &[&Run], extra: &[(&str, Vec<String>)], [names, least]: [usize; 2]) -> String {
    let mut heads = HEADS.map(|it| it.0);
    if runs.iter().any(|it| planted_facts_share(it).is_some()) {
        heads[6] = "accuracy";
    }
    let remembered = runs.iter().map(|run| {
        // Planted facts stand in the place of evidence.
        run.remembered().filter(|_| run.is_of_memory()).map(|it| (it.heading, it.number.mean)).collect()
    });
    let remembered: Vec<IndexMap<&str, f64>> = remembered.listed();
    let more = super::distinct(remembered.iter().flat_map(|it| it.keys().copied()));
    let heads = heads.into_iter().chain(more.iter().copied()).chain(extra.iter().map(|it| it.0)).listed();
    let lines = runs.iter().zip(&remembered).enumerate().map(|(nth, (run, of_run))| {
        let more = more.iter().map(|it| fixed_or_none(of_run.get(it).copied(), DECIMALS));
        run_cells(run).into_iter().chain(more).chain(extra.iter().map(|it| it.1[nth].clone())).listed()
    });
    let lines = lines.listed();
    let longest = runs.iter().map(|it| it.policy.chars().count()).chain([6]).max().unwrap_or_default();
    let longest = longest.next_multiple_of(names);
    let widths = heads.iter().enumerate().map(|(nth, head)| {
        lines.iter().map(|it| it[nth].chars().count()).fold(head.len().max(least), usize::max)
    });
    let widths = widths.listed();
    let aligned = |name: &str, cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{GAP}{cell:>width$}"));
        format!("{name:longest$}{}\n", cells.collect::<String>())
    };
    let head = aligned("policy", &heads.iter().map(|it| (*it).to_owned()).listed());
    head + &runs.iter().zip(&lines).map(|(run, line)| aligned(&run.policy, line)).collect::<String>()
}

/// Returns the share that a run has in the place of kept evidence.
fn planted_facts_share(run: &Run) -> Option<f64> {
    run.findings.as_ref()?.evidence()
}

/// Returns what a line says of a run.
fn run_cells(run: &Run) -> Vec<String> {
    let known = |number| fixed_or_none(number, DECIMALS);
    let cell = |(_, place): &(&str, &str)| match planted_facts_share(run) {
        Some(share) if *place == EVIDENCE => known(Some(share)),
        _ => match metric::at_place(place).map(|it| it.value(&run.tally)) {
            Some(Value::Count(count)) => thousands(count),
            other => known(other.and_then(|it| it.number())),
        },
    };
    HEADS.iter().map(cell).listed()
}

/// Returns the numbers that changed between two tables, in the order of the new one.
pub fn changed_numbers(old: &str, new: &str) -> Vec<ChangedNumber> {
    let (old, new) = (parse_cells(old), parse_cells(new));
    let mut moved = Vec::new();
    for policy in super::distinct(new.keys().chain(old.keys())) {
        let lines = [&new, &old].into_iter().filter_map(|it| it.get(policy));
        for column in super::distinct(lines.flat_map(IndexMap::keys)).into_iter().filter(|it| *it != FILE) {
            let values = [&old, &new].map(|it| it.get(policy).and_then(|line| line.get(column)).cloned());
            if values[0] != values[1] {
                let both = parse_number_pair(&values).filter(|it| it.0 != 0.0);
                let relative = both.map(|(old, new)| new / old - 1.0);
                let (policy, column) = (policy.clone(), column.clone());
                moved.push(ChangedNumber { policy, column, values, relative, by: Vec::new() });
            }
        }
    }
    moved
}

/// Returns the numbers that two cells hold, if both do.
fn parse_number_pair([old, new]: &[Option<String>; 2]) -> Option<(f64, f64)> {
    let number = |it: &Option<String>| it.as_ref()?.replace(',', "").parse::<f64>().ok();
    number(old).zip(number(new))
}

impl ChangedNumber {
    /// Returns both values as other tables show them: shares in percent, numbers with as few decimals as tell them apart.
    pub(super) fn shown_values(&self) -> [String; 2] {
        let whole = || self.values.each_ref().map(|it| it.clone().unwrap_or_else(|| "(none)".to_owned()));
        let pair = parse_number_pair(&self.values).filter(|it| it.0.fract() + it.1.fract() > 0.0);
        let Some((old, new)) = pair else { return whole() };
        let is_share = self.share_difference().is_some();
        let both = |decimals| [old, new].map(|it| if is_share { percent(it) } else { fixed(it, decimals) });
        let least = if self.column == HEADS[7].0 { numbers::decimals(old.max(new)) } else { 2 };
        (least..=DECIMALS).map(both).find(|[old, new]| old != new).unwrap_or_else(whole)
    }

    /// Returns the difference of two shares, which are compared in percentage points.
    pub(super) fn share_difference(&self) -> Option<f64> {
        let is_share = HEADS.iter().any(|it| it.0 == self.column && it.1 == EVIDENCE);
        parse_number_pair(&self.values).filter(|_| is_share).map(|(old, new)| new - old)
    }
}

/// Returns whether two tables have the same numbers in the same order, whatever their layout and their policies' files.
pub fn has_same_numbers(old: &str, new: &str) -> bool {
    changed_numbers(old, new).is_empty() && parse_cells(old).keys().eq(parse_cells(new).keys())
}

/// Returns what a table says of its policies' files: the first digits of their digests, by policy; nothing in tables of earlier versions.
pub fn policy_file_digests(table: &str) -> IndexMap<String, String> {
    let file = |(policy, line): (String, IndexMap<String, String>)| Some((policy, line.get(FILE)?.clone()));
    parse_cells(table).into_iter().filter_map(file).collect()
}

/// Returns the cells of a table by policy and column.
fn parse_cells(table: &str) -> IndexMap<String, IndexMap<String, String>> {
    let split = |line: &str| -> Vec<String> {
        line.split(GAP).map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).listed()
    };
    let mut lines = table.lines().map(split).filter(|it| !it.is_empty());
    let heads = lines.next().unwrap_or_default();
    let named = |line: Vec<String>| {
        let cells = heads.iter().skip(1).cloned().zip(line.iter().skip(1).cloned()).collect();
        (line[0].clone(), cells)
    };
    lines.map(named).collect()
}

/// Returns a name as that of one file or folder, which leads to no other place.
pub fn to_file_name(name: &str) -> String {
    let plain = name.replace(['/', '\\', ':'], "-");
    if plain.chars().all(|it| it == '.') { plain.replace('.', "-") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_told_by_policy_and_column() {
        let heads = "policy  requests  US dollars\n";
        let [old, new] = [
            "mine          10    0.500000\ngone           1    0.100000\n",
            "mine          10    0.600000\nfresh      1,000           –\n",
        ]
        .map(|it| heads.to_owned() + it);

        let all = changed_numbers(&old, &new);

        let told = all.iter().map(|it| format!("{}: {}", it.policy, it.column)).listed().join(", ");
        let expected =
            "mine: US dollars, fresh: requests, fresh: US dollars, gone: requests, gone: US dollars";
        assert_eq!(told, expected);
        assert!((all[0].relative.unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(all[1].values, [None, Some("1,000".to_owned())]);
        assert_eq!(changed_numbers(&old, &old), []);
    }

    #[test]
    fn shares_differ_in_points_and_other_numbers_in_percent() {
        let table = |evidence: &str, usd: &str| {
            format!("policy  evidence kept  US dollars\nmine  {evidence}  {usd}\n")
        };

        let all = changed_numbers(&table("0.840000", "0.500000"), &table("0.936000", "0.600000"));

        assert_eq!(all[0].describe(), "mine, evidence kept: 84.0% → 93.6% (+9.6 pp)");
        assert_eq!(all[1].describe(), "mine, US dollars: 0.500000 → 0.600000 (+20.0%)");
        assert_eq!(all.len(), 2);
    }
}
