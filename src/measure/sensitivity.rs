//! Costs of policies under many price lists: the cheapest policy under each,
//! and the change in a rate that would make another one cheapest.

use super::{Beside, BreakEven, Label, Remembered, Tally};
use crate::input::Profile;
use crate::input::profile::Counting;
use crate::input::profile::price::VariedRate;
use crate::input::suite::Habits;
use crate::ledger::{Outcome, Sums};
use crate::price::{Costs, Models, PriceIndex};
use crate::quantity::{Cost, UNLIMITED, or_unlimited};

/// The number of rates that are varied.
pub const N_PARTS: usize = VariedRate::ALL.len();

/// A comparison of policies across profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The policies, in the given order.
    pub policies: Vec<String>,
    /// The profiles, in the given order.
    pub profiles: Vec<ProfileShare>,
    /// The sum over all scenarios, if there are several, then each scenario.
    pub grids: Vec<SensitivityGrid>,
    /// The number of distinct pairs of cache rules and limits among the profiles.
    pub n_distinct: usize,
    /// How many times the engine ran.
    pub n_simulations: usize,
    /// The inputs of the break-even points.
    pub asked: Option<Habits>,
    /// The number of profiles that are not shown.
    pub n_left_out: usize,
}

/// The sort order of profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// As given.
    #[default]
    Given,
    Name,
    /// By the cheapest policy's cost; free profiles last.
    Cost,
}

impl Sensitivity {
    /// Sorts the profiles by the first table of scenarios, and keeps the first N.
    #[must_use]
    pub fn arranged(mut self, sort: Sort, top: Option<usize>) -> Self {
        let mut order: Vec<usize> = (0..self.profiles.len()).collect();
        let first = self.grids.first();
        let cost = |profile: &usize| {
            let row = first.and_then(|it| it.rows.get(*profile));
            row.filter(|it| !it.is_free()).and_then(PriceRow::lowest).unwrap_or(f64::INFINITY)
        };
        match sort {
            Sort::Given => {}
            Sort::Name => {
                order.sort_by(|left, right| self.profiles[*left].name.cmp(&self.profiles[*right].name));
            }
            Sort::Cost => order.sort_by(|left, right| cost(left).total_cmp(&cost(right))),
        }
        order.truncate(or_unlimited(top));
        self.n_left_out += self.profiles.len() - order.len();
        self.profiles = order.iter().map(|it| self.profiles[*it].clone()).collect();
        for grid in &mut self.grids {
            grid.rows = order.iter().filter_map(|it| grid.rows.get(*it).cloned()).collect();
            grid.flips = flips(&grid.rows);
        }
        self
    }
}

/// A profile's part in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileShare {
    pub name: String,
    /// The date of its prices.
    pub as_of: String,
    /// How its models count the recorded loads, each way once; empty without recordings.
    pub counting: Vec<Counting>,
    /// Its break-even points.
    pub break_even: BreakEven,
}

/// How far an order of profiles depends on how their models count tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOrders {
    /// Pairs of profiles next to each other.
    pub neighbours: usize,
    /// Pairs whose order depends on it.
    pub open: usize,
    /// Profiles of models of which it is not published.
    pub unknown: usize,
}

/// Every policy under every profile on one load.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityGrid {
    /// The scenario, or the name of the sum over scenarios.
    pub load: String,
    /// By profile: the policies.
    pub rows: Vec<PriceRow>,
    /// Pairs of policies whose order differs between profiles.
    pub flips: Vec<Flip>,
}

/// The policies under one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceRow {
    /// By policy.
    pub cells: Vec<PriceCell>,
    /// The smallest change of a single rate that makes another policy the cheapest; `None` if no change does.
    pub nearest: Option<Nearest>,
}

/// What one policy comes to under one profile, as it is added up.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSum {
    /// Its numbers.
    tally: Tally,
    /// What it remembers, where there is anything to remember.
    remembered: Option<Remembered>,
    /// By rate: ten times its cost when the rate is 10% lower, and 10% higher.
    varied: [[Costs; 2]; N_PARTS],
}

/// One policy under one profile: what tables show of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceCell {
    /// Its rank by cost, from 1, shared by equal costs; `None` if the cost is unknown, or if the policy
    /// stopped at a limit and so did less work.
    pub rank: Option<usize>,
    /// What it remembers, where there is anything to remember.
    pub remembered: Option<Box<Remembered>>,
    /// How it compares with the first policy.
    pub label: Option<Label>,
    /// The share of the prompts that was read from the cache.
    pub cache_hit_ratio: f64,
    /// User turns that were answered.
    pub turns_completed: u32,
    /// Whether a limit stopped it.
    is_stopped: bool,
    has_requests: bool,
    cost: MaybeNumber,
    evidence_kept: MaybeNumber,
    recovery_tokens: MaybeNumber,
    results_shown: MaybeNumber,
    of_limit: MaybeNumber,
    /// By rate: ten times its cost when the rate is 10% lower, and 10% higher.
    varied: [[MaybeNumber; 2]; N_PARTS],
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
    pub part: VariedRate,
    /// The factor at which both cost the same; above 0, not 1.
    pub factor: f64,
    /// The index of the policy that is cheapest beyond it.
    pub policy: usize,
}

/// A ledger to price.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a> {
    /// The sums of its rows.
    pub sums: &'a Sums,
    /// Its rows by length, if a profile needs them.
    pub index: Option<&'a PriceIndex>,
    /// The outcome of the run, apart from its rows.
    pub outcome: &'a Outcome,
    /// Whether the load has needs.
    pub has_needs: bool,
    /// The model that writes summaries, if it is not the session's.
    pub summariser: Option<&'a Profile>,
    /// What a memory's calls to its service cost, if the service has prices of its own.
    pub service: Option<Cost>,
    /// The turns of the session as recorded, if it was.
    pub turns: Option<u32>,
    /// The ends of its sizes' interval as shares of them, if they were counted anew for other models.
    pub counted: Option<[f64; 2]>,
}

impl<'a> Ledger<'a> {
    /// A ledger of a load without needs, all of which the session's model wrote.
    pub fn new(sums: &'a Sums, index: Option<&'a PriceIndex>, outcome: &'a Outcome) -> Self {
        Self {
            sums,
            index,
            outcome,
            has_needs: false,
            summariser: None,
            service: None,
            turns: None,
            counted: None,
        }
    }
}

/// A profile with its variations: each rate 10% lower and 10% higher, all amounts tenfold.
#[derive(Clone, Debug)]
pub struct Variations<'a> {
    profile: &'a Profile,
    varied: [[Profile; 2]; N_PARTS],
}

impl<'a> Variations<'a> {
    /// Varies every rate of a profile.
    pub fn new(profile: &'a Profile) -> Self {
        let varied = VariedRate::ALL.map(|part| {
            [9, 11].map(|tenths| {
                let mut varied = profile.clone();
                varied.prices = profile.prices.in_tenths(part, tenths);
                let assumptions = &mut varied.assumptions;
                assumptions.failure_penalty = assumptions.failure_penalty * 10;
                assumptions.memory_call = assumptions.memory_call * 10;
                varied
            })
        });
        Self { profile, varied }
    }
}

impl ProfileShare {
    /// Returns in a few words how its models count the recorded loads; `None` without recordings.
    pub fn counts(&self) -> Option<String> {
        let all: Vec<String> = self.counting.iter().map(|it| it.words()).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// Returns the widest ends of a cost's interval, as shares of the cost, by how its models count.
    fn shares(&self) -> [f64; 2] {
        let known = self.counting.iter().filter_map(|it| it.shares());
        known.fold([1.0; 2], |all, it| [all[0].min(it[0]), all[1].max(it[1])])
    }
}

impl Sensitivity {
    /// Counts the pairs of profiles, next to each other in the order of the first policy's costs on the first load, whose order
    /// depends on how their models count: of how many, and how many profiles' models count in a way that nobody has published.
    pub fn open_orders(&self) -> Option<OpenOrders> {
        let is_counted =
            self.profiles.iter().any(|it| it.counting.iter().any(|it| *it != Counting::AsRecorded));
        let rows = self.profiles.iter().zip(&self.grids.first().filter(|_| is_counted)?.rows);
        let ranges = rows.filter_map(|(profile, row)| {
            let cost = row.cells.first()?.cost().filter(|it| *it > 0.0)?;
            Some((cost, profile.shares().map(|it| it * cost), profile.shares() != [1.0; 2]))
        });
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_by(|one, other| one.0.total_cmp(&other.0));
        let is_open = |pair: &&[(f64, [f64; 2], bool)]| {
            let [(_, cheaper, one), (_, dearer, other)] = pair else { return false };
            (*one || *other) && cheaper[1] >= dearer[0]
        };
        Some(OpenOrders {
            neighbours: ranges.len().saturating_sub(1),
            open: ranges.windows(2).filter(is_open).count(),
            unknown: self.profiles.iter().filter(|it| it.counting.contains(&Counting::Unknown)).count(),
        })
    }
}

impl CellSum {
    /// Prices a ledger under a profile and under all its variations.
    pub fn new(ledger: &Ledger<'_>, variations: &Variations<'_>) -> Self {
        let Ledger { sums, index, outcome, has_needs, summariser, service, turns, counted } = *ledger;
        let costs = |profile: &Profile| {
            let costs = Costs::new(sums, index, outcome.limit_violations, Models::new(profile, summariser));
            Costs { memory: service.map_or(costs.memory, |it| it * 10), ..costs }
        };
        let models = Models::new(variations.profile, summariser);
        let beside = Beside { has_needs, service, turns, counted, ..Beside::default() };
        Self {
            tally: Tally::beside(sums, index, outcome, models, &beside),
            remembered: None,
            varied: variations.varied.each_ref().map(|it| it.each_ref().map(costs)),
        }
    }

    /// Adds what it remembers.
    #[must_use]
    pub fn remembering(self, remembered: Option<Remembered>) -> Self {
        Self { remembered, ..self }
    }

    /// Returns what the runs came to beside their rows.
    pub fn outcome(&self) -> &Outcome {
        &self.tally.outcome
    }

    /// Adds another load of the same policy under the same profile.
    pub fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        self.remembered = match (self.remembered.take(), &other.remembered) {
            (Some(own), Some(more)) => own.and(more),
            (own, more) => own.or_else(|| more.clone()),
        };
        for (sums, more) in self.varied.as_flattened_mut().iter_mut().zip(other.varied.as_flattened()) {
            *sums += more;
        }
    }
}

/// A number that may be unknown, in half of the room: there are many cells.
#[derive(Clone, Copy, Debug)]
struct MaybeNumber(f64);

impl MaybeNumber {
    fn known(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl From<Option<f64>> for MaybeNumber {
    fn from(number: Option<f64>) -> Self {
        Self(number.unwrap_or(f64::NAN))
    }
}

impl PartialEq for MaybeNumber {
    fn eq(&self, other: &Self) -> bool {
        self.known() == other.known()
    }
}

impl PriceCell {
    /// Takes what tables show; the first policy is what it is compared with, or `None` if it is the first itself.
    fn new(sum: &CellSum, first: Option<&CellSum>) -> Self {
        let tally = &sum.tally;
        let results = &tally.outcome.tool_results;
        let shown = results.visible_tokens as f64 / results.raw_tokens as f64;
        let limit = Some(tally.limits.prompt).filter(|it| *it != UNLIMITED && *it > 0);
        Self {
            rank: None,
            remembered: sum.remembered.clone().map(Box::new),
            label: first.map_or(Some(Label::Baseline), |first| Label::new(tally, &first.tally)),
            cache_hit_ratio: tally.cache_hit_ratio(),
            turns_completed: tally.outcome.turns_completed,
            is_stopped: tally.outcome.failure.is_some() || tally.outcome.limit_violations > 0,
            has_requests: tally.sums.main.n > 0,
            cost: tally.costs.total().into(),
            evidence_kept: tally.evidence_kept().into(),
            recovery_tokens: tally.has_needs.then_some(tally.recovery_input + tally.recovery_output).into(),
            results_shown: (results.raw_tokens > 0).then_some(shown).into(),
            of_limit: limit.map(|it| tally.sums.main.prompt_max as f64 / it as f64).into(),
            varied: sum.varied.each_ref().map(|it| it.each_ref().map(|it| it.total().into())),
        }
    }

    /// Returns the share of what is needed that it still has: evidence, or what memories hold.
    pub fn kept(&self) -> Option<f64> {
        let remembered = self.remembered.as_ref().filter(|it| it.is_share);
        self.evidence_kept().or_else(|| remembered.map(|it| it.number.mean))
    }

    /// Returns the share of needed evidence that was still in prompts; `None` if none was needed.
    pub fn evidence_kept(&self) -> Option<f64> {
        self.evidence_kept.known()
    }

    /// Returns the tokens that recovery reads and writes; `None` if the load has no needs.
    pub fn recovery_tokens(&self) -> Option<f64> {
        self.recovery_tokens.known()
    }

    /// Returns the share of tool output that prompts last showed; `None` if there is none.
    pub fn results_shown(&self) -> Option<f64> {
        self.results_shown.known()
    }

    /// Returns the longest prompt as a share of the limit; nothing without a limit.
    pub fn of_limit(&self) -> Option<f64> {
        self.of_limit.known()
    }

    /// Returns what it costs in US dollars, or nothing if a price is unknown.
    pub fn cost(&self) -> Option<f64> {
        self.cost.known()
    }

    /// Returns its cost in US dollars when a rate is 10% lower, and 10% higher.
    pub fn cost_at(&self, part: VariedRate) -> [Option<f64>; 2] {
        self.varied[part as usize].map(|it| Some(it.known()? / 10.0))
    }

    /// Returns the change in cost, in percent, per percent of the rate: (C₊ − C₋) / 0.2 C, from −10% to +10%;
    /// `None` for a cost of 0.
    pub fn elasticity(&self, part: VariedRate) -> Option<f64> {
        Some(self.paid(part)? / self.cost()?).filter(|it| it.is_finite())
    }

    /// Returns the US dollars paid at a rate.
    fn paid(&self, part: VariedRate) -> Option<f64> {
        let [less, more] = self.varied[part as usize].map(MaybeNumber::known);
        Some((more? - less?) / 2.0)
    }

    /// Returns whether a limit stopped it.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns its cost if it counts in a ranking.
    fn ranked(&self) -> Option<f64> {
        self.cost().filter(|_| !self.is_stopped())
    }
}

impl SensitivityGrid {
    /// Ranks the policies under every profile.
    pub fn new(load: String, sums: &[Vec<CellSum>]) -> Self {
        let row = |sums: &Vec<CellSum>| {
            let first = |nth: usize| sums.first().filter(|_| nth > 0);
            let cells = sums.iter().enumerate().map(|(nth, it)| PriceCell::new(it, first(nth)));
            let mut cells: Vec<PriceCell> = cells.collect();
            rank(&mut cells);
            PriceRow { nearest: nearest(&cells), cells }
        };
        let rows: Vec<PriceRow> = sums.iter().map(row).collect();
        let flips = flips(&rows);
        Self { load, rows, flips }
    }
}

impl PriceRow {
    /// Returns the policies that have a rank, by rank.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.cells.len()).filter(|it| self.cells[*it].rank.is_some()).collect();
        order.sort_by_key(|it| self.cells[*it].rank);
        order
    }

    /// Returns whether requests are made but none is charged.
    pub fn is_free(&self) -> bool {
        self.cells.iter().any(|it| it.has_requests) && self.cells.iter().all(|it| it.cost() == Some(0.0))
    }

    /// Returns the cheapest policy, or `None` if everything costs nothing.
    pub fn cheapest(&self) -> Option<usize> {
        self.order().first().copied().filter(|_| !self.is_free())
    }

    /// Returns the lowest cost of a policy that has a rank.
    fn lowest(&self) -> Option<f64> {
        self.cells[*self.order().first()?].cost()
    }

    /// Returns how a policy compares with the first.
    pub fn label(&self, policy: usize) -> Option<Label> {
        self.cells.get(policy)?.label
    }
}

fn rank(cells: &mut [PriceCell]) {
    let costs: Vec<Option<f64>> = cells.iter().map(PriceCell::ranked).collect();
    for cell in cells {
        cell.rank = cell.ranked().map(|own| 1 + costs.iter().flatten().filter(|it| **it < own).count());
    }
}

/// Solves for the rate at which another policy costs as much as the cheapest: cost is linear in each rate.
fn nearest(cells: &[PriceCell]) -> Option<Nearest> {
    let best = cells.iter().find(|it| it.rank == Some(1))?;
    let mut found: Option<Nearest> = None;
    for (policy, other) in cells.iter().enumerate().filter(|(_, it)| it.rank.is_some_and(|it| it > 1)) {
        for part in VariedRate::ALL {
            let Some(factor) = crossing(best, other, part) else { continue };
            let distance = |factor: f64| factor.ln().abs();
            // A rate up and the others down come to the same: of such two the first counts, whatever the last digit says.
            let is_nearer = found.is_none_or(|it| distance(factor) < distance(it.factor) * (1.0 - 1e-9));
            if is_nearer {
                found = Some(Nearest { part, factor, policy });
            }
        }
    }
    found
}

/// Returns the factor of a rate at which two policies cost the same, if there is one.
fn crossing(best: &PriceCell, other: &PriceCell, part: VariedRate) -> Option<f64> {
    let factor = 1.0 + (other.cost()? - best.cost()?) / (best.paid(part)? - other.paid(part)?);
    Some(factor).filter(|it| *it > 0.0 && it.is_finite())
}

/// Collects pairs of policies whose order differs between profiles.
fn flips(rows: &[PriceRow]) -> Vec<Flip> {
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
