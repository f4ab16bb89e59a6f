//! The answer of a comparison across price lists, which every surface prints: who is cheapest of those that keep enough, and where that turns.

use crate::names::names_without_folders;
use crate::prelude::*;
use crate::verdict::{MIN_EVIDENCE, format_trimmed_percent};
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::sensitivity::{AnsweredGroup, PriceRow, Sensitivity, TurningPoint};
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
const TURNS: usize = 2;

/// Who is cheapest under most price lists on one load, and where that turns.
pub(super) struct PriceAnswer<'s> {
    comparison: &'s Sensitivity,
    pub(super) group: &'s AnsweredGroup,
    /// The policies' names, without folders where they are distinct.
    pub(super) names: Vec<&'s str>,
    /// The policy that is cheapest under most lists.
    pub(super) best: usize,
    /// The list whose turning points are told: that of most sessions, or else the first under which the best is cheapest.
    reference: usize,
    turns: Vec<TurningPoint>,
    /// The rate whose ratio to input turns the answer first, where a list reaches that.
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
    /// How much dearer the policy is that is cheapest under most lists; `None` where it keeps too little, or comes to no end.
    pub(super) loss: Option<f64>,
    /// The deciding rate as a multiple of the input price.
    pub(super) ratio: Option<f64>,
}

impl<'s> PriceAnswer<'s> {
    /// Answers on each group of loads, unless no list charges anything.
    pub(super) fn all(comparison: &'s Sensitivity) -> Vec<Self> {
        comparison.groups.iter().filter_map(|it| Self::new(comparison, it)).listed()
    }

    fn new(comparison: &'s Sensitivity, group: &'s AnsweredGroup) -> Option<Self> {
        let grid = &group.grid;
        let winners = grid.rows.iter().map(|row| row.cheapest_keeping(FLOOR)).listed();
        let n_won = |policy: &usize| winners.iter().filter(|it| **it == Some(*policy)).count();
        // Of as many, the first.
        let best = (0..group.policies.len()).rev().max_by_key(n_won).filter(|it| n_won(it) > 0)?;
        let own = group.own.filter(|it| winners[*it].is_some());
        let reference = own.or_else(|| winners.iter().position(|it| *it == Some(best)))?;
        let turns = grid.rows[reference].turning_points(FLOOR, &RATES.map(|it| it.0));
        // A ratio that no list reaches tells no lists apart.
        let is_reached = |turn: &&TurningPoint| {
            let ratios = || comparison.profiles.iter().map(|it| it.ratios[turn.part as usize]);
            let at = ratios().nth(reference).flatten().map(|now| now * turn.factor);
            at.is_some_and(|at| ratios().flatten().any(|it| (it >= at) == (turn.factor > 1.0)))
        };
        let deciding = turns.iter().find(is_reached).map_or(VariedRate::CacheRead, |it| it.part);
        let mut lists = Vec::new();
        for ((profile, row), winner) in comparison.profiles.iter().zip(&grid.rows).zip(&winners) {
            let Some((winner, cost)) = winner.and_then(|it| Some((it, row.cells[it].cost()?))) else {
                continue;
            };
            let own = Some(&row.cells[best]).filter(|it| winner == best || FLOOR.passes(it.evidence_kept()));
            let loss = own.and_then(|it| Some(it.cost()? / cost - 1.0));
            let change = row.cells[0].cost().map_or(0.0, |first| cost / first - 1.0);
            let ratio = profile.ratios[deciding as usize];
            lists.push(ListAnswer { name: &profile.name, winner, cost, change, loss, ratio });
        }
        let key = |it: &ListAnswer<'_>| it.ratio.unwrap_or(f64::INFINITY);
        lists.order_by(|one, other| key(one).total_cmp(&key(other)));
        let policies = group.policies.iter().map(|it| comparison.policies[*it].as_str());
        let names = names_without_folders(&policies.listed());
        Some(Self { comparison, group, names, best, reference, turns, deciding, lists })
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
        let turns = self.turns.iter().enumerate().filter_map(|(nth, it)| self.turning_sentence(it, nth == 0));
        let turns = turns.take(TURNS).listed();
        let reference = &self.comparison.profiles[self.reference].name;
        let none =
            format!("No price of cache reads, cache writes or output would change that under {reference}.");
        let turns = if turns.is_empty() && self.names.len() > 1 { vec![none] } else { turns };
        let kept = or_nothing(self.kept_range(), |[low, high]| {
            let to = if low == high { String::new() } else { format!(" to {high}") };
            format!("It keeps {low}{to} of the needed evidence.")
        });
        let unknown = "Nothing says which evidence is needed, so what it loses is unknown.";
        let kept = if kept.is_empty() { unknown.to_owned() } else { kept };
        turns.into_iter().chain([kept]).chain(self.below_floor_sentence()).listed()
    }

    /// Says at which ratio to the input price another policy is the cheapest, and which lists are on either side; nothing of one that no list
    /// reaches, unless it is the nearest.
    fn turning_sentence(&self, turn: &TurningPoint, is_nearest: bool) -> Option<String> {
        let at = turn.part as usize;
        let profile = &self.comparison.profiles[self.reference];
        let now = profile.ratios[at]?;
        let ratio = now * turn.factor;
        let others = || self.comparison.profiles.iter().filter_map(|it| Some((it.ratios[at]?, &*it.name)));
        let below = others().filter(|it| it.0 < ratio).max_by(|one, other| one.0.total_cmp(&other.0));
        let above = others().filter(|it| it.0 >= ratio).min_by(|one, other| one.0.total_cmp(&other.0));
        let beyond = if turn.factor > 1.0 { above } else { below };
        if beyond.is_none() && !is_nearest {
            return None;
        }
        let near = [below, above].into_iter().flatten();
        let lists = if beyond.is_some() { "nearest lists" } else { "no list goes so far, the nearest" };
        let own = self.group.grid.rows[self.reference].cheapest_keeping(FLOOR)?;
        let own = text_if(own != self.best, || format!("{} is, and ", self.names[own]));
        Some(format!(
            "Under {}, {own}that turns to {} where {} cost {} than {} of the input price (now {}; {lists}: {}).",
            profile.name,
            self.names[turn.policy],
            RATES.iter().find(|it| it.0 == turn.part)?.1,
            if turn.factor > 1.0 { "more" } else { "less" },
            format_three_digits(ratio),
            format_three_digits(now),
            near.map(|(ratio, name)| format!("{name} at {}", format_three_digits(ratio))).listed().join(", ")
        ))
    }

    /// Returns the least and the most that the best keeps, in words.
    fn kept_range(&self) -> Option<[String; 2]> {
        let won = || self.charging_rows().filter(|it| it.cheapest_keeping(FLOOR) == Some(self.best));
        let kept = || won().filter_map(|it| it.cells.get(self.best)?.kept());
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
        let listed = below.map(|it| *it.1).listed().join(", ");
        let told = format!("Cheaper under some lists, but {} of the evidence: {listed}.", self.below_floor());
        (!listed.is_empty()).then_some(told)
    }

    /// Says of the best where it keeps too little.
    pub(super) fn below_floor(&self) -> String {
        format!("below {}", format_trimmed_percent(FLOOR.0))
    }

    fn charging_rows(&self) -> impl Iterator<Item = &'s PriceRow> {
        self.group.grid.rows.iter().filter(|it| !it.is_free())
    }

    /// Returns what the deciding rate pays for.
    pub(super) fn deciding_name(&self) -> &'static str {
        RATES.iter().find(|it| it.0 == self.deciding).map_or("", |it| it.1)
    }

    /// Returns the same for those who read numbers.
    pub(super) fn to_json(&self) -> Value {
        let profiles = &self.comparison.profiles;
        let policy = |it: usize| self.comparison.policies[self.group.policies[it]].clone();
        let turn = |it: &TurningPoint| {
            let now = profiles[self.reference].ratios[it.part as usize];
            group! {
                "rate": it.part.name(),
                "of_input": now.map(|now| now * it.factor),
                "now": now,
                "then": policy(it.policy),
            }
        };
        group! {
            "of": self.group.title.clone(),
            "policy": policy(self.best),
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
    fixed(number, 3 - [1.0, 10.0, 100.0].into_iter().filter(|it| number.abs() >= *it).count())
}
