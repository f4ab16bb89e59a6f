//! What brings changes in cost about, as tables of a page: the sessions, and what each assumption moves.

use super::chart::ChartData;
use super::sections::{Section, change_on_same_work};
use crate::prelude::*;
use ctxsim_engine::measure::assumed::Assumed;

/// Changes in cost below this, 0.05%, are none.
const NOTHING: f64 = 0.000_5;

/// The changes in cost that a policy makes: −0.1 is a tenth less.
pub(super) struct PolicyChanges {
    pub(super) policy: String,
    pub(super) changes: Vec<f64>,
}

/// Returns a table of policies with more than one change: how many of them save, and their quartiles.
pub(super) fn change_spread_grid(title: String, noun: &str, mut lines: Vec<PolicyChanges>) -> Option<Grid> {
    lines.retain(|policy| policy.changes.len() > 1);
    lines.iter_mut().for_each(|policy| policy.changes.order_by(f64::total_cmp));
    let rows = lines.iter().map(|policy| {
        let cheaper = policy.changes.iter().filter(|change| **change <= -NOTHING).count();
        let dearer = policy.changes.iter().filter(|change| **change >= NOTHING).count();
        let counts = [policy.changes.len(), cheaper, dearer].map(|n| n.to_string());
        let quantile = |share: f64| {
            let at = share * (policy.changes.len() - 1) as f64;
            let [below, above] = [at.floor(), at.ceil()].map(|place| policy.changes[place as usize]);
            signed(below + at.fract() * (above - below))
        };
        let quartiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(quantile);
        [policy.policy.clone()].into_iter().chain(counts).chain(quartiles).listed()
    });
    let columns = ["policy", noun, "cheaper", "more expensive", "lowest", "25%", "median", "75%", "highest"];
    (!lines.is_empty()).then(|| Grid::new(title, 1, &columns, rows))
}

/// Returns a table for each profile of what policies change of the cost of recorded sessions; one for all, where each session has a
/// profile of its own.
pub(super) fn changes_by_session_grids(source: &ChartData<'_>) -> Vec<Grid> {
    let recorded: Vec<&Run> = source.report.runs.iter().filter(|run| run.assumed.is_recorded).listed();
    let sessions: IndexSet<&str> = recorded.iter().map(|run| run.scenario.as_str()).collect();
    let cells: IndexSet<[&str; 2]> = recorded.iter().map(|run| [&*run.scenario, &*run.profile]).collect();
    let own = (cells.len() == sessions.len()).then_some("their own profiles");
    let mut grids = Vec::new();
    for (profile, runs) in grouped(recorded.into_iter().map(|run| (own.unwrap_or(&run.profile), run))) {
        let mut changes: IndexMap<&str, Vec<f64>> = IndexMap::new();
        for group in runs.chunk_by(|one, other| one.is_beside(other)) {
            for run in &group[1..] {
                let change = change_on_same_work(&run.tally, &group[0].tally);
                changes.entry(&run.policy).or_default().extend(change);
            }
        }
        let label = |policy: &str| source.names.label_of(policy).label;
        let lines = changes.into_iter().map(|(name, changes)| PolicyChanges { policy: label(name), changes });
        let base = source.names.label_of(&runs[0].policy).label;
        let title = format!("Change in cost by recorded session under {profile}, against {base}");
        grids.extend(change_spread_grid(title, "sessions", lines.listed()));
    }
    grids
}

/// Returns a table of what each assumption alone moves of the changes in cost, of the largest effect first.
pub(super) fn changes_by_assumption_grid(source: &ChartData<'_>, section: &Section) -> Option<Grid> {
    let (first, others) = section.lines.split_first()?;
    let mut rows = Vec::new();
    for line in others.iter().filter(|line| line.tally.outcome.did_as_much_as(&first.tally.outcome)) {
        let both = line.tally.assumed_cost().zip(first.tally.assumed_cost());
        let Some((own, base)) = both.filter(|it| it.1.usd > 0.0) else { continue };
        // The change at either end of an assumption's interval; the first policy lives under the same assumption.
        let ends = |assumed: Assumed| own.change_at(&base, assumed);
        let width = |assumed: &Assumed| (ends(*assumed)[1] - ends(*assumed)[0]).abs();
        let mut moving = Assumed::ALL.into_iter().filter(|it| width(it) >= NOTHING).listed();
        moving.order_by(|one, other| width(other).total_cmp(&width(one)));
        for assumed in moving {
            let [low, high] = ends(assumed).map(signed);
            let policy = source.names.label_of(&line.policy).label;
            rows.push(vec![policy, assumed.about().to_owned(), low, signed(own.change_from(&base)), high]);
        }
    }
    let title = format!("Effect of each assumption on the change in cost: {}", section.subject_and_profile());
    let columns = ["policy", "assumption", "at its lower end", "as declared", "at its upper end"];
    (!rows.is_empty()).then(|| Grid::new(title, 2, &columns, rows))
}
