//! Costs of policies under many price lists: the cheapest policy under each,
//! and the change in a rate that would make another one cheapest.

use crate::prelude::*;
use std::ops::Deref;
use std::slice;

use super::floor::Floor;
use super::{BreakEven, Label, Remembered, Tally};
use crate::ledger::is_as_much;
use ctxsim_input::suite::Habits;
use ctxsim_input::{Counting, VariedRate};

/// A comparison of policies across profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The policies, in the given order.
    pub policies: Vec<String>,
    /// The profiles, in the given order.
    pub profiles: Vec<ComparedProfile>,
    /// The sum over all scenarios, if there are several, then each scenario.
    pub grids: Vec<SensitivityGrid>,
    /// The number of distinct pairs of cache rules and limits among the profiles.
    pub n_distinct: usize,
    /// How many simulations they ask for: each policy under each distinct pair, on each load and in each trial.
    pub n_simulations: usize,
    /// The inputs of the break-even points.
    pub asked: Option<Habits>,
    /// The sums that are answered on, each for itself: those of each agent whose settings are compared, else of everything.
    pub groups: Vec<AnsweredGroup>,
    /// Which recordings take no part, and why; nothing if all do.
    pub skipped: Option<String>,
}

/// Loads that are answered on together.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredGroup {
    /// What they are.
    pub title: String,
    /// Its policies, by their places among all.
    pub policies: Vec<usize>,
    /// These policies under every profile.
    pub grid: SensitivityGrid,
    /// The profile of the model that answered most of the sessions, if it is among these.
    pub own: Option<usize>,
}

/// A profile's part in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedProfile {
    pub name: String,
    /// The date of its prices.
    pub as_of: String,
    /// How its models count the recorded loads, each way once; empty without recordings.
    pub counting: Vec<Counting>,
    /// Its break-even points.
    pub break_even: BreakEven,
    /// By [`VariedRate`]: the rate as a multiple of the input price; `None` where the list has no such rate, or input is free.
    pub ratios: [Option<f64>; VariedRate::ALL.len()],
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
    pub cells: RowCells,
    /// The smallest change of a single rate that makes another policy the cheapest; `None` if no change does.
    pub nearest: Option<TurningPoint>,
}

/// The cells of a row. Those of a grid are in one piece: in hundreds of small ones, grids of many loads would keep the memory around them
/// from being used again.
#[derive(Clone, Debug)]
pub struct RowCells {
    of_grid: Arc<[PriceCell]>,
    own: Range<usize>,
}

impl Deref for RowCells {
    type Target = [PriceCell];

    fn deref(&self) -> &[PriceCell] {
        &self.of_grid[self.own.clone()]
    }
}

impl PartialEq for RowCells {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<'a> IntoIterator for &'a RowCells {
    type Item = &'a PriceCell;
    type IntoIter = slice::Iter<'a, PriceCell>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// What one policy comes to under one profile, as it is added up.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSum {
    /// Its numbers, with what is paid at each rate.
    pub tally: Tally,
    /// What it remembers, where there is anything to remember.
    pub remembered: Option<Remembered>,
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
    /// User turns that were asked for, and those that were answered.
    turns: [u32; 2],
    /// Whether a limit stopped it.
    pub is_stopped: bool,
    has_requests: bool,
    evidence_kept: Option<f64>,
    /// The tokens that recovery reads and writes; `None` if the load has no needs.
    pub recovery_tokens: Option<f64>,
    /// The share of tool output that prompts last showed; `None` if there is none.
    pub results_shown: Option<f64>,
    /// The longest prompt as a share of the limit; `None` without a limit.
    pub of_limit: Option<f64>,
    /// What it costs, if all prices are known.
    cost: Option<RatedCost>,
}

/// A cost, and by rate what is paid at it and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RatedCost {
    all: Amount,
    paid: [Amount; VariedRate::ALL.len()],
}

impl RatedCost {
    fn new(tally: &Tally) -> Option<Self> {
        let mut paid = [Amount::ZERO; VariedRate::ALL.len()];
        for (known, paid) in paid.iter_mut().zip(tally.paid.as_ref()?.0) {
            *known = paid?;
        }
        Some(Self { all: tally.costs.exact()?, paid })
    }
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
pub struct TurningPoint {
    /// Which rate.
    pub part: VariedRate,
    /// The factor of the rate at which both cost the same; above 0, not 1.
    pub factor: f64,
    /// The index of the policy that is cheapest beyond it.
    pub policy: usize,
}

impl ComparedProfile {
    /// Returns in a few words how its models count the recorded loads; `None` without recordings.
    pub fn counts(&self) -> Option<String> {
        let all: Vec<String> = self.counting.iter().map(|it| it.words()).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

impl CellSum {
    /// Adds another load of the same policy under the same profile.
    pub fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        self.remembered = match (self.remembered.take(), &other.remembered) {
            (Some(own), Some(more)) => own.and(more),
            (own, more) => own.or_else(|| more.clone()),
        };
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
            turns: [tally.outcome.turns_requested, tally.outcome.turns_completed],
            is_stopped: tally.outcome.failure.is_some() || tally.outcome.limit_violations > 0,
            has_requests: tally.sums.main.n > 0,
            cost: RatedCost::new(tally),
            evidence_kept: tally.evidence_kept(),
            recovery_tokens: tally.has_needs.then(|| (tally.recovery_input + tally.recovery_output).to_f64()),
            results_shown: (results.raw_tokens > 0).then_some(shown),
            of_limit: limit.map(|it| tally.sums.main.prompt_max as f64 / it as f64),
        }
    }

    /// Returns the share of what is needed that it still has: evidence, or what memories hold.
    pub fn kept(&self) -> Option<f64> {
        let remembered = self.remembered.as_ref().filter(|it| it.is_share);
        self.evidence_kept().or_else(|| remembered.map(|it| it.number.mean))
    }

    /// Returns the share of needed evidence that was still in prompts; `None` if none was needed.
    pub fn evidence_kept(&self) -> Option<f64> {
        self.evidence_kept
    }

    /// Returns what it costs in US dollars, or nothing if a price is unknown.
    pub fn cost(&self) -> Option<f64> {
        self.exact().map(Amount::usd)
    }

    /// Returns its cost in US dollars when a rate is 10% lower, and 10% higher.
    pub fn cost_at(&self, part: VariedRate) -> [Option<f64>; 2] {
        let tenfold = |less_or_more: fn(Amount, Amount) -> Amount| {
            Some(less_or_more(self.exact()? * 10, self.paid(part)?).usd() / 10.0)
        };
        [tenfold(|all, paid| all - paid), tenfold(|all, paid| all + paid)]
    }

    /// Returns the change in cost, in percent, per percent of the rate, which is the share of the cost that is paid at it: cost is linear
    /// in each rate. `None` for a cost of 0.
    pub fn elasticity(&self, part: VariedRate) -> Option<f64> {
        Some(self.paid(part)?.usd() / self.cost()?).filter(|it| it.is_finite())
    }

    /// Returns what is paid at a rate.
    fn paid(&self, part: VariedRate) -> Option<Amount> {
        self.cost.map(|it| it.paid[part as usize])
    }

    /// Returns its cost to the picodollar, or nothing if a price is unknown.
    pub fn exact(&self) -> Option<Amount> {
        self.cost.map(|it| it.all)
    }

    /// Returns whether it did as much as another.
    pub fn did_as_much_as(&self, other: &Self) -> bool {
        is_as_much([self.turns, other.turns])
    }

    /// Returns its cost if it counts in a ranking.
    fn ranked(&self) -> Option<Amount> {
        self.exact().filter(|_| !self.is_stopped)
    }
}

impl SensitivityGrid {
    /// Ranks the policies under every profile.
    pub fn new(load: String, sums: &[Vec<CellSum>]) -> Self {
        let row = |sums: &Vec<CellSum>| -> Vec<PriceCell> {
            let first = |nth: usize| sums.first().filter(|_| nth > 0);
            sums.iter().enumerate().map(|(nth, it)| PriceCell::new(it, first(nth))).collect()
        };
        Self::from_rows(load, sums.iter().map(row))
    }

    /// Returns the same of some of the policies, in their order.
    #[must_use]
    pub fn of_policies(self, policies: &[usize]) -> Self {
        let is_whole = self.rows.iter().all(|it| it.cells.len() == policies.len());
        let row = |row: &PriceRow| policies.iter().map(|it| row.cells[*it].clone()).collect();
        if is_whole { self } else { Self::from_rows(self.load, self.rows.iter().map(row)) }
    }

    fn from_rows(load: String, rows: impl Iterator<Item = Vec<PriceCell>>) -> Self {
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for mut row in rows {
            rank(&mut row);
            places.push(all.len()..all.len() + row.len());
            all.extend(row);
        }
        let of_grid: Arc<[PriceCell]> = all.into();
        let row = |own: Range<usize>| {
            let cells = RowCells { of_grid: Arc::clone(&of_grid), own };
            PriceRow { nearest: nearest(&cells), cells }
        };
        let rows: Vec<PriceRow> = places.into_iter().map(row).collect();
        Self { flips: flips(&rows), load, rows }
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

    /// Returns the cheapest of the first policy and those that keep enough of the evidence, or `None` if everything costs nothing.
    pub fn cheapest_keeping(&self, floor: Floor) -> Option<usize> {
        let keeps = |it: &usize| *it == 0 || floor.passes(self.cells[*it].evidence_kept());
        self.order().iter().copied().find(keeps).filter(|_| !self.is_free())
    }

    /// Returns where a rate alone, lower or higher, makes another policy the cheapest of those that keep enough; the nearest first.
    pub fn turning_points(&self, floor: Floor, rates: &[VariedRate]) -> Vec<TurningPoint> {
        let Some(best) = self.cheapest_keeping(floor) else { return Vec::new() };
        let keeps = |nth: &usize| *nth == 0 || floor.passes(self.cells[*nth].evidence_kept());
        let others = self.order().into_iter().filter(|nth| *nth != best && keeps(nth)).collect::<Vec<_>>();
        let mut points: Vec<TurningPoint> = Vec::new();
        for part in rates.iter().copied() {
            let crossings = others.iter().filter_map(|policy| {
                let factor = crossing(&self.cells[best], &self.cells[*policy], part)?;
                Some(TurningPoint { part, factor, policy: *policy })
            });
            let (higher, lower): (Vec<_>, Vec<_>) = crossings.partition(|it| it.factor > 1.0);
            points.extend(lower.into_iter().max_by(|one, other| one.factor.total_cmp(&other.factor)));
            points.extend(higher.into_iter().min_by(|one, other| one.factor.total_cmp(&other.factor)));
        }
        points.sort_by(|one, other| one.factor.ln().abs().total_cmp(&other.factor.ln().abs()));
        points
    }

    /// Returns how a policy compares with the first.
    pub fn label(&self, policy: usize) -> Option<Label> {
        self.cells.get(policy)?.label
    }
}

fn rank(cells: &mut [PriceCell]) {
    let costs: Vec<Option<Amount>> = cells.iter().map(PriceCell::ranked).collect();
    for cell in cells {
        cell.rank = cell.ranked().map(|own| 1 + costs.iter().flatten().filter(|it| **it < own).count());
    }
}

/// Solves for the rate at which another policy costs as much as the cheapest: cost is linear in each rate.
fn nearest(cells: &[PriceCell]) -> Option<TurningPoint> {
    let best = cells.iter().find(|it| it.rank == Some(1))?;
    let mut found: Option<TurningPoint> = None;
    for (policy, other) in cells.iter().enumerate().filter(|(_, it)| it.rank.is_some_and(|it| it > 1)) {
        for part in VariedRate::ALL {
            let Some(factor) = crossing(best, other, part) else { continue };
            let distance = |factor: f64| factor.ln().abs();
            // A rate up and the others down come to the same: of such two the first counts, whatever the last digit says.
            let is_nearer = found.is_none_or(|it| distance(factor) < distance(it.factor) * (1.0 - 1e-9));
            if is_nearer {
                found = Some(TurningPoint { part, factor, policy });
            }
        }
    }
    found
}

/// Returns the factor of a rate at which two policies cost the same, if there is one: none where both pay the same at that rate, and none
/// where they differ in nothing else.
fn crossing(best: &PriceCell, other: &PriceCell, part: VariedRate) -> Option<f64> {
    let dearer = other.ranked()? - best.ranked()?;
    let more = best.paid(part)? - other.paid(part)?;
    let rest = more + dearer;
    let has_point = more != Amount::ZERO && (rest > Amount::ZERO) == (more > Amount::ZERO);
    (has_point && rest != Amount::ZERO).then(|| rest.usd() / more.usd())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{NeedRow, Outcome, RequestSums, Sink, Sums, TokenUse};
    use crate::price::{Models, WithoutRates};
    use ctxsim_input::text::source::{Format, decode};
    use ctxsim_input::{Profile, ProfileFile};

    const PROFILE: &str = r#"
name = "p"
about = "Uneven numbers."
as_of = "2026-01-01"
sources = ["none"]
cache = "none"
[[prices]]
input = 2.000003
output = 10.000007
cache_read = 0.500001
cache_write = { "5m" = 3.000001 }
"#;

    /// Prices a run whose needs are fetched with these expected calls, which write and read tokens of their own.
    fn run(main: TokenUse, calls: &[f64], resent: f64) -> PriceCell {
        let profile = Profile::new(&decode::<ProfileFile>(PROFILE, Format::Toml).unwrap()).unwrap();
        let mut sums =
            Sums { main: RequestSums { n: 1, tokens: main, ..RequestSums::default() }, ..Sums::default() };
        for calls in calls {
            let asked = TokenUse { output: calls * 77.7, read: calls * resent, ..TokenUse::default() };
            sums.need(&NeedRow { weight: 1.0, calls: *calls, refetched: Some(asked), ..NeedRow::default() });
        }
        let without = WithoutRates::new(&profile);
        let models = Models { without: Some(&without), ..Models::from(&profile) };
        let tally = Tally::new(&sums, None, &Outcome::default(), false, models);
        PriceCell::new(&CellSum { tally, remembered: None }, None)
    }

    /// Both write the same, in another order; floats would differ in their last digit, at a factor of 10¹⁴.
    #[test]
    fn rates_at_which_two_policies_pay_the_same_have_no_break_even_point() {
        let main = TokenUse { read: 1_000, uncached: 500, output: 5_360, ..TokenUse::default() };
        let (one, other) = (run(main, &[0.1, 0.2, 0.3], 40.0), run(main, &[0.3, 0.2, 0.1], 90.0));
        assert!(one.cost() < other.cost(), "the other reads more");

        let at = |part| crossing(&one, &other, part);

        assert_eq!(at(VariedRate::Output), None, "both write the same");
        assert_eq!(at(VariedRate::Input), None, "both send the same uncached");
        assert_eq!(at(VariedRate::CacheRead), None, "they differ in nothing else");
    }

    #[test]
    fn a_rate_that_turns_an_order_is_found_to_the_picodollar() {
        let reads = TokenUse { read: 10_000, output: 100, ..TokenUse::default() };
        let writes = TokenUse { read: 1_000, output: 600, ..TokenUse::default() };
        let (one, other) = (run(reads, &[0.25], 40.0), run(writes, &[0.25], 40.0));
        assert!(other.cost() > one.cost());

        let reads_dearer = crossing(&one, &other, VariedRate::CacheRead).unwrap();

        // 500 tokens written at 10.000007 for 9,000 read at 0.500001.
        assert!((reads_dearer - 500.0 * 10.000_007 / (9_000.0 * 0.500_001)).abs() < 1e-12, "{reads_dearer}");
        let elasticities: f64 = VariedRate::ALL.iter().map(|it| one.elasticity(*it).unwrap()).sum();
        assert!((elasticities - 1.0).abs() < 1e-12, "all of the cost is paid at some rate");
    }
}
