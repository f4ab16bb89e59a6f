//! What a set of policies costs under many price lists: who is cheapest where, and how much a rate must move to change that.

use super::{BreakEven, Tally};
use crate::ledger::{Outcome, Sums};
use crate::model::Profile;
use crate::model::price::Part;
use crate::price::{Costs, PriceIndex};
use crate::spec::suite::BreakEvenSpec;

/// How many rates are varied.
pub const N_PARTS: usize = Part::ALL.len();

/// A comparison of policies across profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The policies, in the order of the request.
    pub policies: Vec<String>,
    /// The profiles, in the order of the request.
    pub profiles: Vec<Priced>,
    /// The scenarios added up, where there are several, then each of them.
    pub grids: Vec<Grid>,
    /// How many distinct pairs of cache rules and limits the profiles have.
    pub n_distinct: usize,
    /// How many times the engine ran.
    pub n_simulations: usize,
    /// What the break-even points were asked about.
    pub asked: Option<BreakEvenSpec>,
}

/// What of a profile a comparison speaks of.
#[derive(Clone, Debug, PartialEq)]
pub struct Priced {
    /// Its name.
    pub name: String,
    /// The day of its prices.
    pub as_of: String,
    /// From which points on habits pay.
    pub break_even: BreakEven,
}

/// Every policy under every profile on one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The scenario, or how those that are added up are called.
    pub load: String,
    /// By profile: the policies.
    pub rows: Vec<Row>,
    /// Pairs of policies whose order is not the same under all profiles.
    pub flips: Vec<Flip>,
}

/// The policies under one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// By policy.
    pub cells: Vec<Cell>,
    /// The smallest change of a single rate that makes another policy the cheapest; none where no change does.
    pub nearest: Option<Nearest>,
}

/// One policy under one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its numbers.
    pub tally: Tally,
    /// Its place by cost from 1 on, equal costs sharing one; none where the cost is unknown or the policy stopped at a
    /// limit, because it did less work.
    pub rank: Option<usize>,
    /// By rate: ten times what it costs when the rate is a tenth lower, and a tenth higher.
    varied: [[Costs; 2]; N_PARTS],
}

/// Two policies whose order depends on the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The policies' indices.
    pub policies: [usize; 2],
    /// By policy: the indices of the profiles under which it costs less than the other.
    pub cheaper: [Vec<usize>; 2],
}

/// A change of one rate that makes another policy the cheapest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Which rate.
    pub part: Part,
    /// What it is multiplied with when both cost the same; above 0, not 1.
    pub factor: f64,
    /// The index of the policy that is the cheapest beyond it.
    pub policy: usize,
}

/// A ledger to be priced.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a> {
    /// What its rows sum to.
    pub sums: &'a Sums,
    /// Its rows by length, where a profile asks for them.
    pub index: Option<&'a PriceIndex>,
    /// What the run came to beside.
    pub outcome: &'a Outcome,
    /// Whether anything needs anything.
    pub has_needs: bool,
}

/// A profile with its variations: by rate a tenth lower and a tenth higher, all money tenfold.
#[derive(Clone, Debug)]
pub struct Variations<'a> {
    profile: &'a Profile,
    varied: [[Profile; 2]; N_PARTS],
}

impl<'a> Variations<'a> {
    /// Varies every rate of a profile.
    #[must_use]
    pub fn new(profile: &'a Profile) -> Self {
        let varied = Part::ALL.map(|part| {
            [9, 11].map(|tenths| {
                let mut varied = profile.clone();
                varied.prices = profile.prices.in_tenths(part, tenths);
                varied.assumptions.failure_penalty = profile.assumptions.failure_penalty * 10;
                varied
            })
        });
        Self { profile, varied }
    }
}

impl Cell {
    /// Prices a ledger under a profile and under all its variations.
    #[must_use]
    pub fn new(ledger: &Ledger<'_>, variations: &Variations<'_>) -> Self {
        let Ledger { sums, index, outcome, has_needs } = *ledger;
        let costs = |profile: &Profile| Costs::new(sums, index, outcome.limit_violations, profile);
        Self {
            tally: Tally::new(sums, index, outcome, has_needs, variations.profile),
            rank: None,
            varied: variations.varied.each_ref().map(|it| it.each_ref().map(costs)),
        }
    }

    /// Adds another load of the same policy under the same profile.
    pub fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        for (sums, more) in self.varied.as_flattened_mut().iter_mut().zip(other.varied.as_flattened()) {
            *sums += more;
        }
    }

    /// Returns what it costs in US dollars; no number when a price is unknown.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.tally.costs.total()
    }

    /// Returns what it costs in US dollars when a rate is a tenth lower, and a tenth higher.
    #[must_use]
    pub fn cost_at(&self, part: Part) -> [f64; 2] {
        self.varied[part as usize].each_ref().map(|it| it.total() / 10.0)
    }

    /// Returns by how many percent the cost changes for each percent of a rate: (C₊ − C₋) / 0.2 C, from a tenth less to a
    /// tenth more; no number for a cost of nothing.
    #[must_use]
    pub fn elasticity(&self, part: Part) -> f64 {
        self.paid(part) / self.cost()
    }

    /// Returns the US dollars that are paid at a rate.
    fn paid(&self, part: Part) -> f64 {
        let [less, more] = self.varied[part as usize].each_ref().map(Costs::total);
        (more - less) / 2.0
    }

    /// Returns whether a limit stopped it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.tally.outcome.failure.is_some() || self.tally.outcome.limit_violations > 0
    }

    /// Returns its cost where it counts in a ranking.
    fn ranked(&self) -> Option<f64> {
        Some(self.cost()).filter(|it| !it.is_nan() && !self.is_stopped())
    }
}

impl Grid {
    /// Ranks the policies under every profile.
    #[must_use]
    pub fn new(load: String, mut cells: Vec<Vec<Cell>>) -> Self {
        cells.iter_mut().for_each(|it| rank(it));
        let rows: Vec<Row> = cells.into_iter().map(|cells| Row { nearest: nearest(&cells), cells }).collect();
        let flips = flips(&rows);
        Self { load, rows, flips }
    }
}

impl Row {
    /// Returns the policies that have a rank, by rank.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.cells.len()).filter(|it| self.cells[*it].rank.is_some()).collect();
        order.sort_by_key(|it| self.cells[*it].rank);
        order
    }
}

fn rank(cells: &mut [Cell]) {
    let costs: Vec<Option<f64>> = cells.iter().map(Cell::ranked).collect();
    for cell in cells {
        cell.rank = cell.ranked().map(|own| 1 + costs.iter().flatten().filter(|it| **it < own).count());
    }
}

/// Solves for the rate at which another policy costs what the cheapest does: cost is linear in each rate.
fn nearest(cells: &[Cell]) -> Option<Nearest> {
    let best = cells.iter().find(|it| it.rank == Some(1))?;
    let mut found: Option<Nearest> = None;
    for (policy, other) in cells.iter().enumerate().filter(|(_, it)| it.rank.is_some_and(|it| it > 1)) {
        for part in Part::ALL {
            let factor = 1.0 + (other.cost() - best.cost()) / (best.paid(part) - other.paid(part));
            let distance = |factor: f64| factor.ln().abs();
            // A rate up and the others down come to the same: of such two the first counts, whatever the last digit says.
            let is_nearer = found.is_none_or(|it| distance(factor) < distance(it.factor) * (1.0 - 1e-9));
            if factor > 0.0 && factor.is_finite() && is_nearer {
                found = Some(Nearest { part, factor, policy });
            }
        }
    }
    found
}

/// Collects the pairs of policies that are in one order here and in the other there.
fn flips(rows: &[Row]) -> Vec<Flip> {
    let n_policies = rows.first().map_or(0, |it| it.cells.len());
    let pairs = (0..n_policies).flat_map(|left| (left + 1..n_policies).map(move |right| [left, right]));
    let flips = pairs.filter_map(|policies| {
        let mut cheaper = [Vec::new(), Vec::new()];
        for (profile, row) in rows.iter().enumerate() {
            let [left, right] = policies.map(|it| row.cells[it].rank);
            match left.zip(right) {
                Some((left, right)) if left < right => cheaper[0].push(profile),
                Some((left, right)) if left > right => cheaper[1].push(profile),
                _ => {}
            }
        }
        cheaper.iter().all(|it| !it.is_empty()).then_some(Flip { policies, cheaper })
    });
    flips.collect()
}
