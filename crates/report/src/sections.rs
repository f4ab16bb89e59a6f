//! The tables of a report: one per group of scenarios and profile, one line per policy.
//!
//! **Sections are the tables of a run** (`report/sections.rs`): groups of scenarios with one row per policy and, over several scenarios,
//! the spread of the change (`measure/delta.rs`), with its interval for later sessions (`measure/limits.rs`) over what is assumed
//! (`measure/assumed.rs`). Tables, Markdown, HTML and JSON all use these sections; `report/run_blocks.rs` puts the text of `ctxsim run` together
//! from them and the notes, and `report/verdict.rs` reads its verdicts from them. In a suite with `ranked = true`, rows are ordered by
//! cost, each with the parts of the bill that changed (`report/firings.rs`).

pub mod columns;
pub(super) mod groups;

use std::borrow::Cow;
use std::sync::Arc;

use columns::TableColumn;
use groups::{GroupKey, GroupProfiles, ScenarioGroup};

use super::decide::SESSIONS_TOLD;
use super::lines::{PolicySum, PolicySums, RunBrief, RunFigures};
use super::metric::TokenFormat;
use super::trust::TableTrust;
use super::{counts_by_value, distinct, firings};
use crate::prelude::*;
use ctxsim_base::grid::{self, Row};
use ctxsim_engine::ledger::is_as_much;
use ctxsim_engine::measure::Spread;
use ctxsim_engine::measure::assumed::AssumedReach;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later};
use ctxsim_input::policy::Apply;

/// The level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Groups of scenarios.
    #[default]
    Groups,
    /// Also every scenario, and the assumptions.
    Scenarios,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What was run: a scenario, or a group of them.
    pub load: String,
    /// The profile, or a note that each session runs under its own model's.
    pub profile: String,
    /// The date of the profile's prices.
    pub as_of: String,
    /// The number of scenarios in the sum.
    pub scenarios: usize,
    /// Their names, unless runs were folded.
    pub members: Vec<String>,
    /// Whether it is a part of another table.
    pub is_part: bool,
    /// Whether the policies are ranked by cost.
    pub is_ranked: bool,
    /// The columns that are asked for; none for the usual ones.
    pub columns: Vec<TableColumn>,
    /// The decimals of dollars, the same in all tables of a report.
    pub decimals: usize,
    /// The policies; the first is the baseline.
    pub lines: Vec<TableLine>,
    /// Settings that change nothing in it, which get no line.
    pub without_effect: Vec<String>,
    /// How far the sessions behind it carry what it says.
    pub trust: TableTrust,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableLine {
    pub policy: String,
    /// Its numbers.
    pub tally: Tally,
    /// How the change in its cost against the first policy varies over scenarios; `None` for a single
    /// scenario, and for the first policy.
    pub spread: Option<Spread>,
    /// How far that change hangs on what is assumed.
    pub assumed: AssumedReach,
    /// Where it stopped at a limit, if it did.
    pub stopped: Option<String>,
    /// Why its cost differs from the first policy's, if requested.
    pub reason: Option<String>,
    /// Whether it is ranked, no stage of it ever acted, and it costs what the first policy does.
    pub is_idle: bool,
    /// The setting that makes a real agent behave like this, if it is the same everywhere.
    pub apply: Option<Arc<Apply>>,
}

impl TableLine {
    /// Returns the line's note: where it stopped, and why its cost differs from the first policy's.
    pub fn note(&self) -> Option<String> {
        let notes = [&self.stopped, &self.reason].into_iter().flatten().cloned().listed();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

impl Section {
    /// Returns whether some line has a spread.
    pub fn has_spread(&self) -> bool {
        self.lines.iter().any(|it| it.spread.is_some())
    }

    /// Returns it as a table of texts.
    pub fn to_grid(&self, digits: TokenFormat) -> Grid {
        let is_asked = !self.columns.is_empty();
        // A model without data has no such column, instead of an empty one.
        let has_waiting = || self.lines.iter().any(|it| it.tally.waiting.total().minutes() > Some(0.0));
        let usual = || TableColumn::usual_columns(self.has_spread(), has_waiting());
        let shown = if is_asked { self.columns.clone() } else { usual() };
        let name = grid::Column::new("policy", CellKind::Name);
        let cells: Vec<Vec<String>> = shown.iter().map(|it| it.format_cells(self, digits)).listed();
        let row = |(nth, line): (usize, &TableLine)| {
            let numbers = cells.iter().map(|it| it[nth].clone());
            Row { cells: std::iter::once(line.policy.clone()).chain(numbers).listed(), note: line.note() }
        };
        Grid {
            title: format!("{} ({})", self.subject_and_profile(), self.as_of),
            columns: std::iter::once(name).chain(shown.iter().map(|it| it.to_grid_column(is_asked))).listed(),
            rows: self.lines.iter().enumerate().map(row).listed(),
            more: None,
        }
    }

    /// Returns whether runs under a profile are in it.
    pub fn has_profile(&self, profile: &str) -> bool {
        self.profile == OWN || self.profile == profile
    }

    /// Returns the subject and the profile.
    pub fn subject_and_profile(&self) -> String {
        let joint = if self.profile == OWN { "," } else { " under" };
        format!("{}{joint} {}", self.load, self.profile)
    }

    /// Returns the table with the first policy and the ten cheapest of those that acted, and a sentence on the others; `None`
    /// if it is not ranked, or not longer.
    pub fn shortened_ranking_and_note(&self) -> Option<(Self, String)> {
        let n_others = self.lines.len().saturating_sub(1);
        if !self.is_ranked || n_others <= SHOWN {
            let note = format!("No effect in these sessions: {}.", self.without_effect.join(", "));
            return (!self.without_effect.is_empty()).then(|| (self.clone(), note));
        }
        let (idle, acting): (Vec<_>, Vec<_>) = self.lines.iter().skip(1).partition(|it| it.is_idle);
        let n_dearer = acting.len().saturating_sub(SHOWN);
        let lines = self.lines.iter().take(1).chain(acting.into_iter().take(SHOWN)).cloned().listed();
        let by_agent = counts_by_value(idle.iter().map(|it| agent_name(&it.policy)));
        let named = |(name, n): (&str, usize)| if n == 1 { name.to_owned() } else { format!("{name} ({n})") };
        let agents = by_agent.into_iter().map(named).listed().join(", ");
        let idle = (!idle.is_empty())
            .then(|| format!("{} of {n_others} policies changed nothing: {agents}", idle.len()));
        let dearer = (n_dearer > 0).then(|| format!("{n_dearer} more expensive ones are left out"));
        let told = idle.into_iter().chain(dearer).listed().join("; ");
        Some((Self { lines, ..self.clone() }, format!("{told}. --details shows all.")))
    }

    /// Returns the relative difference of a line's cost from the first one's, on the same work.
    pub fn relative_cost_change(&self, line: &TableLine) -> Option<f64> {
        let first = &self.lines.first()?.tally;
        line.spread.map(|it| it.change).or_else(|| change_on_same_work(&line.tally, first))
    }

    /// Returns the 95% interval of that difference over what is assumed alone, both policies under the same numbers; `None` where nothing is.
    pub fn cost_change_interval_assumed(&self, line: &TableLine) -> Option<[f64; 2]> {
        Some(line.assumed.interval(self.relative_cost_change(line).filter(|_| line.assumed.is_some())?, 0.0))
    }

    /// Returns the same with every recorded compaction as recorded; `None` where nothing was compacted.
    pub fn cost_change_with_compactions(&self, line: &TableLine) -> Option<f64> {
        line.tally.resets.filter(|it| it.avoided > 0)?;
        let [cost, other] = [&line.tally, &self.lines.first()?.tally].map(|it| it.bills()[0]);
        Some(cost? / other.filter(|it| *it > 0.0)? - 1.0)
    }

    /// Sorts the policies after the first by cost; those that cannot be compared are last.
    fn sort_by_cost(&mut self) {
        let mut others = self.lines.iter().skip(1).cloned().listed();
        let change = |it: &TableLine| self.relative_cost_change(it).unwrap_or(f64::INFINITY);
        // Equal costs stay in the order in which they are listed.
        others.order_by(|one, other| change(one).total_cmp(&change(other)));
        self.lines.truncate(1);
        self.lines.extend(others);
    }
}

/// Returns by how much the cost of runs differs from that of others that did the same work.
pub(super) fn change_on_same_work(tally: &Tally, first: &Tally) -> Option<f64> {
    let (cost, before) = tally.costs.total().zip(first.costs.total())?;
    (tally.outcome.did_as_much_as(&first.outcome) && before > 0.0).then(|| cost / before - 1.0)
}

/// The policies of a ranked table that are shown beside the first.
const SHOWN: usize = 10;

/// Returns the agent whose policy it is, or the policy's own name.
fn agent_name(policy: &str) -> &str {
    policy.strip_prefix("agents/").and_then(|it| it.split('/').next()).unwrap_or(policy)
}

impl Report {
    /// Returns the tables: groups of scenarios first, then, if asked for, the scenarios one by one.
    pub fn sections(&self, detail: Detail) -> Vec<Section> {
        let profiles = distinct(self.run_briefs().map(|it| it.profile));
        let mut sections = Vec::new();
        for group in self.scenario_groups(detail) {
            let under = match group.under {
                GroupProfiles::Each => profiles.iter().map(|it| Some(*it)).listed(),
                GroupProfiles::One(profile) => vec![Some(profile)],
                GroupProfiles::Own => vec![None],
            };
            sections.extend(under.into_iter().map(|profile| self.section_of_group(&group, profile)));
        }
        // A recorded session may run under its own model's profile alone.
        sections.retain(|it| !it.lines.is_empty());
        sections
    }

    /// Adds up all runs under a profile, or under any; a fold has their sums.
    pub fn policy_sums(&self, profile: Option<&str>) -> Cow<'_, PolicySums> {
        let Some(folded) = &self.folded else {
            let own = self.runs.iter().filter(|it| profile.is_none_or(|profile| it.profile == profile));
            return Cow::Owned(PolicySums::from_runs(own));
        };
        folded.policy_sums(&GroupKey::All, profile).map_or_else(Cow::default, Cow::Borrowed)
    }

    /// Returns when the last request of each recorded session was, where its log says so, in milliseconds since 1970.
    pub fn session_ends_ms(&self) -> IndexMap<&str, i64> {
        self.sessions.iter().filter_map(|it| Some((it.name.as_str(), it.last_ms?))).collect()
    }

    /// Returns the decimals of dollars in all tables: those of the dearest run, but at most four if everything together costs
    /// a dollar.
    fn usd_decimals(&self) -> usize {
        let mut by_load: IndexMap<(&str, &str), f64> = IndexMap::new();
        for run in self.run_briefs() {
            let dearest = by_load.entry((run.scenario, run.profile)).or_default();
            *dearest = dearest.max(run.figures.cost.unwrap_or(0.0));
        }
        let of_one = numbers::decimals(by_load.values().copied().fold(0.0, f64::max));
        if by_load.values().sum::<f64>() >= 1.0 { of_one.min(4) } else { of_one }
    }

    /// Returns a note on scenarios whose needs are unknown.
    pub fn note_on_unknown_needs(&self) -> Option<String> {
        let unknown = self.run_briefs().filter(|it| !it.figures.has_needs && !it.figures.has_findings);
        let names = distinct(unknown.map(|it| it.scenario)).join(", ");
        let needs = format!("declares no evidence needs ({NONE} in the columns)");
        let note = format!("{names}: this scenario {needs}: do not judge it by cost alone.");
        Some(note).filter(|_| !names.is_empty())
    }

    /// Adds up the runs of one table.
    fn section_of_group(&self, group: &ScenarioGroup<'_>, profile: Option<&str>) -> Section {
        let members: IndexSet<&str> = group.scenarios.iter().copied().collect();
        let is_under = |own: &str| profile.is_none_or(|profile| own == profile);
        let is_in = |scenario: &str, profile: &str| is_under(profile) && members.contains(scenario);
        let runs: Vec<&Run> = self.runs.iter().filter(|it| is_in(&it.scenario, &it.profile)).listed();
        let sums = match &self.folded {
            Some(folded) => folded.policy_sums(&group.key, profile).map_or_else(Cow::default, Cow::Borrowed),
            None => Cow::Owned(PolicySums::from_runs(runs.iter().copied())),
        };
        let briefs = || {
            let folded = self.folded.iter().flat_map(|it| it.run_briefs());
            let folded = folded.filter(|kept| is_in(kept.scenario, kept.profile));
            runs.iter().map(|it| RunBrief::from(*it)).chain(folded)
        };
        let leading = sums.iter().next();
        let is_first = |run: &RunBrief<'_>| leading.is_some_and(|(policy, _)| policy == run.policy);
        let first: Vec<RunBrief<'_>> = briefs().filter(is_first).listed();
        let baseline = leading.map(|(_, sum)| table_line(sum));
        // The first policy is compared with nothing.
        let others = sums.iter().skip(1).filter(|_| first.len() > 1);
        let samples = cost_ratios_by_policy(&first, others.map(|it| it.0), briefs(), &self.session_ends_ms());
        let base = baseline.as_ref().map(|it| &it.tally);
        let reach = |own: &Tally| base.map(|it| own.assumed_reach(it)).unwrap_or_default();
        let reaches = sums.iter().map(|it| reach(&it.1.run.tally)).listed();
        let lines = sums.iter().enumerate().map(|(nth, (_, sum))| {
            let mut line = TableLine { assumed: reaches[nth], ..table_line(sum) };
            if let Some(samples) = nth.checked_sub(1).and_then(|it| samples.get(it)) {
                let pairs = samples.iter().map(|it| it.pair).listed();
                let interval = ratio_interval_for_later(samples, line.assumed);
                let spread = Spread::new(&pairs, interval.filter(|_| pairs.len() >= SESSIONS_TOLD));
                line.spread = spread.filter(|it| it.sessions > 0);
            }
            if let Some(base) = baseline.as_ref().filter(|_| self.is_ranked && nth > 0) {
                line.is_idle = firings::has_no_effect(&line, base);
                line.reason = firings::explain_change(&line, base, &sum.stages);
            }
            line
        });
        let under = profile.unwrap_or(OWN).to_owned();
        let is_setting = |line: &TableLine| self.settings.contains(&line.policy);
        let same = |own: &Tally| base.is_some_and(|it| it.costs == own.costs && it.sums == own.sums);
        let (idle, mut lines): (Vec<_>, Vec<_>) = lines.partition(|it| is_setting(it) && same(&it.tally));
        // The rule knows how sure each is among everything that was tried; sums alone do not.
        for line in &mut lines {
            let lever = self.levers.get(&(under.clone(), line.policy.clone())).filter(|_| !group.is_part);
            let is_judged = lever.is_some() || is_setting(line);
            if let Some(spread) = line.spread.as_mut().filter(|_| is_judged) {
                spread.interval = lever.and_then(|it| it.interval);
            }
        }
        let mut section = Section {
            load: group.title.clone(),
            profile: under,
            as_of: numbers::days(first.iter().map(|it| it.as_of)),
            scenarios: first.len(),
            members: first.iter().filter(|_| self.folded.is_none()).map(|it| it.scenario.to_owned()).listed(),
            is_part: group.is_part,
            is_ranked: self.is_ranked,
            columns: self.columns.clone(),
            decimals: self.usd_decimals(),
            lines,
            without_effect: idle.into_iter().map(|it| it.policy).listed(),
            trust: TableTrust::new(&self.sessions.iter().listed(), &first),
        };
        if self.is_ranked {
            section.sort_by_cost();
        }
        section
    }
}

/// The name of the profile in a table whose sessions each run under their own.
pub const OWN: &str = "each under the profile of its own model";

/// Returns for each policy the costs of its runs with those of others on the same scenarios, if both got equally far.
fn cost_ratios_by_policy<'r>(
    base_runs: &[RunBrief<'_>],
    policies: impl Iterator<Item = &'r str>,
    runs: impl Iterator<Item = RunBrief<'r>>,
    session_ends_ms: &IndexMap<&str, i64>,
) -> Vec<Vec<RatioSample<'static>>> {
    let others: IndexMap<&str, RunFigures> = base_runs.iter().map(|it| (it.scenario, it.figures)).collect();
    let mut samples: IndexMap<&str, Vec<_>> = policies.map(|it| (it, Vec::new())).collect();
    for run in runs {
        let both = samples.get_mut(run.policy).zip(others.get(run.scenario));
        let Some((of_policy, other)) = both else { continue };
        let turns = [&run.figures, other].map(|it| [it.turns_requested, it.turns_completed]);
        let pair = run.figures.cost.zip(other.cost).filter(|it| is_as_much(turns) && it.1 > 0.0);
        // Its projects are those of later sessions, too.
        let at_ms = session_ends_ms.get(run.scenario).copied();
        of_policy.extend(pair.map(|pair| RatioSample { pair, project: "", at_ms }));
    }
    samples.into_values().listed()
}

/// Returns the line of a policy.
fn table_line(sum: &PolicySum) -> TableLine {
    TableLine {
        policy: sum.run.policy.clone(),
        tally: sum.run.tally.clone(),
        stopped: sum.where_stopped(),
        apply: sum.run.apply.clone(),
        ..TableLine::default()
    }
}
