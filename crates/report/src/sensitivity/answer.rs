//! The answer of a comparison across price lists, which every surface prints: who is cheapest of those that keep enough, and where that turns.

use super::Compared;
use crate::ALL;
use crate::names::names_without_folders;
use crate::prelude::*;
use crate::verdict::{MIN_EVIDENCE, format_trimmed_percent};
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::sensitivity::{PriceRow, Sensitivity, TurningPoint};
use ctxsim_input::profile::Counting;
use ctxsim_input::profile::price::VariedRate;

/// What a policy must keep to be called the cheapest.
const FLOOR: Floor = Floor(MIN_EVIDENCE);

/// The rates that are told as multiples of the input price, with what is paid at them.
const RATES: [(VariedRate, &str); 4] = [
    (VariedRate::CacheRead, "cache reads"),
    (VariedRate::CacheWriteShort, "cache writes"),
    (VariedRate::CacheWriteLong, "cache writes for an hour"),
    (VariedRate::Output, "output"),
];

/// The most turning points that are told.
const TURNS: usize = 3;

/// Who is cheapest under most price lists on one load, and where that turns.
pub(super) struct PriceAnswer<'s> {
    comparison: &'s Sensitivity,
    grid: &'s Compared,
    /// The policies' names, without folders where they are distinct.
    pub(super) names: Vec<&'s str>,
    /// The policy that is cheapest under most lists.
    pub(super) best: usize,
    /// The list whose turning points are told: the first that counts tokens as they were recorded, or else the first under which the best is.
    reference: usize,
    turns: Vec<TurningPoint>,
    /// The rate whose ratio to input turns the answer first.
    pub(super) deciding: VariedRate,
    /// The lists that charge something, in the order of that ratio.
    pub(super) lists: Vec<ListAnswer<'s>>,
}

/// Who is cheapest under a price list.
pub(super) struct ListAnswer<'s> {
    pub(super) name: &'s str,
    pub(super) winner: usize,
    /// What the winner costs, in US dollars.
    pub(super) cost: f64,
    /// The change of the winner's cost against the first policy's.
    pub(super) change: f64,
    /// How much dearer the policy is that is cheapest under most lists.
    pub(super) loss: Option<f64>,
    /// The deciding rate as a multiple of the input price.
    pub(super) ratio: Option<f64>,
}

impl<'s> PriceAnswer<'s> {
    /// Answers on all loads; `None` where no list charges anything.
    pub(super) fn new(comparison: &'s Sensitivity) -> Option<Self> {
        let grid = comparison.grids.first()?;
        let winners = grid.rows.iter().map(|row| row.cheapest_keeping(FLOOR)).listed();
        let n_won = |policy: &usize| winners.iter().filter(|it| **it == Some(*policy)).count();
        // Of as many, the first.
        let best = (0..comparison.policies.len()).rev().max_by_key(n_won).filter(|it| n_won(it) > 0)?;
        let is_recorded = |nth: &usize| {
            let counting = &comparison.profiles[*nth].counting;
            winners[*nth].is_some() && counting.as_slice() == [Counting::AsRecorded]
        };
        let recorded = (0..winners.len()).find(is_recorded);
        let reference = recorded.or_else(|| winners.iter().position(|it| *it == Some(best)))?;
        let turns = grid.rows[reference].turning_points(FLOOR, &RATES.map(|it| it.0));
        let deciding = turns.first().map_or(VariedRate::CacheRead, |it| it.part);
        let mut lists = Vec::new();
        for ((profile, row), winner) in comparison.profiles.iter().zip(&grid.rows).zip(&winners) {
            let Some((winner, cost)) = winner.and_then(|it| Some((it, row.cells[it].cost()?))) else {
                continue;
            };
            let over = |other: usize| row.cells[other].cost().map(|it| it / cost - 1.0);
            let change = row.cells[0].cost().map_or(0.0, |first| cost / first - 1.0);
            let ratio = profile.ratios[deciding as usize];
            lists.push(ListAnswer { name: &profile.name, winner, cost, change, loss: over(best), ratio });
        }
        let key = |it: &ListAnswer<'_>| it.ratio.unwrap_or(f64::INFINITY);
        lists.order_by(|one, other| key(one).total_cmp(&key(other)));
        let names = names_without_folders(&comparison.policies.iter().map(String::as_str).listed());
        Some(Self { comparison, grid, names, best, reference, turns, deciding, lists })
    }

    /// Returns how many lists a policy is cheapest under.
    pub(super) fn n_won(&self, policy: usize) -> usize {
        self.lists.iter().filter(|it| it.winner == policy).count()
    }

    /// Says under how many lists the best is cheapest: a number, and what it counts.
    pub(super) fn headline(&self) -> [String; 2] {
        let plural = if self.lists.len() == 1 { "" } else { "s" };
        let floor = format_trimmed_percent(FLOOR.0);
        let keeping =
            text_if(self.kept_range().is_some(), || format!(" that keeps at least {floor} of the evidence"));
        let what = format!("price list{plural}: {} is the cheapest{keeping}", self.names[self.best]);
        [format!("{} of {}", self.n_won(self.best), self.lists.len()), what]
    }

    /// Says where that turns, what the best keeps, and what is cheaper below the floor, a sentence each.
    pub(super) fn sentences(&self) -> Vec<String> {
        let turns = self.turns.iter().take(TURNS).filter_map(|it| self.turning_sentence(it)).listed();
        let reference = &self.comparison.profiles[self.reference].name;
        let none = format!(
            "No single price, of cache reads, cache writes or output beside input, would change that under {reference}."
        );
        let is_alone = self.names.len() < 2;
        let turns = if turns.is_empty() && !is_alone { vec![none] } else { turns };
        let kept = or_nothing(self.kept_range(), |[low, high]| {
            let to = if low == high { String::new() } else { format!(" to {high}") };
            format!("It keeps {low}{to} of the needed evidence.")
        });
        let unknown = "Nothing says which evidence is needed, so what it loses is unknown.";
        let kept = if kept.is_empty() { unknown.to_owned() } else { kept };
        turns.into_iter().chain([kept]).chain(self.below_floor_sentence()).listed()
    }

    /// Says at which ratio to the input price another policy is the cheapest, and which lists are on either side.
    fn turning_sentence(&self, turn: &TurningPoint) -> Option<String> {
        let at = turn.part as usize;
        let profile = &self.comparison.profiles[self.reference];
        let now = profile.ratios[at]?;
        let ratio = now * turn.factor;
        let others =
            self.comparison.profiles.iter().filter_map(|it| Some((it.ratios[at]?, it.name.as_str())));
        let others = others.filter(|it| it.1 != profile.name).listed();
        let near = |it: Option<&(f64, &str)>| it.map(|it| format!("{} {}", it.1, format_three_digits(it.0)));
        let below = others.iter().filter(|it| it.0 < ratio).max_by(|one, other| one.0.total_cmp(&other.0));
        let above = others.iter().filter(|it| it.0 >= ratio).min_by(|one, other| one.0.total_cmp(&other.0));
        let around = [near(below), near(above)].into_iter().flatten().listed().join(", ");
        let around = text_if(!around.is_empty(), || format!("; lists around that: {around}"));
        let paid = RATES.iter().find(|it| it.0 == turn.part)?.1;
        let more = if turn.factor > 1.0 { "more" } else { "less" };
        Some(format!(
            "Under {}, {} would be once {paid} cost {more} than {} of the input price (now {}{around}).",
            profile.name,
            self.names[turn.policy],
            format_three_digits(ratio),
            format_three_digits(now)
        ))
    }

    /// Returns the least and the most that the best keeps, in words.
    fn kept_range(&self) -> Option<[String; 2]> {
        let kept = || self.charging_rows().filter_map(|it| it.cells.get(self.best)?.kept());
        Some([kept().reduce(f64::min)?, kept().reduce(f64::max)?].map(percent))
    }

    /// Names what is cheaper under some list and keeps too little.
    fn below_floor_sentence(&self) -> Option<String> {
        // Whoever forgets more is not the cheapest of what does the same.
        let is_below = |nth: usize, row: &PriceRow| {
            row.cheapest() == Some(nth) && !FLOOR.passes(row.cells[nth].evidence_kept())
        };
        let below = self.names.iter().enumerate().skip(1);
        let below = below.filter(|(nth, _)| self.charging_rows().any(|row| is_below(*nth, row)));
        let below = below.map(|it| (*it.1).to_owned()).listed();
        let floor = format_trimmed_percent(FLOOR.0);
        let listed = below.join(", ");
        (!below.is_empty())
            .then(|| format!("Cheaper under some lists, but below {floor} of the evidence: {listed}."))
    }

    fn charging_rows(&self) -> impl Iterator<Item = &'s PriceRow> {
        self.grid.rows.iter().filter(|it| !it.is_free())
    }

    /// Returns what the deciding rate pays for.
    pub(super) fn deciding_name(&self) -> &'static str {
        RATES.iter().find(|it| it.0 == self.deciding).map_or("", |it| it.1)
    }

    /// Returns what it is of.
    pub(super) fn subject(&self) -> String {
        match self.grid.load.as_str() {
            ALL => format!("all {} scenarios", self.comparison.grids.len() - 1),
            load => load.to_owned(),
        }
    }

    /// Returns the same for those who read numbers.
    pub(super) fn to_json(&self) -> Value {
        let profiles = &self.comparison.profiles;
        let turn = |it: &TurningPoint| {
            let now = profiles[self.reference].ratios[it.part as usize];
            group! {
                "rate": it.part.name(),
                "of_input": now.map(|now| now * it.factor),
                "now": now,
                "then": self.comparison.policies[it.policy].clone(),
            }
        };
        group! {
            "policy": self.comparison.policies[self.best].clone(),
            "min_evidence": FLOOR.0,
            "cheapest_under": self.n_won(self.best),
            "price_lists": self.lists.len(),
            "turns_under": profiles[self.reference].name.clone(),
            "turns": self.turns.iter().map(turn).listed(),
        }
    }
}

/// Writes a number with three significant digits, or whole where it has more.
pub(super) fn format_three_digits(number: f64) -> String {
    let digits = [1.0, 10.0, 100.0].into_iter().filter(|it| number.abs() >= *it).count();
    fixed(number, 3 - digits)
}
