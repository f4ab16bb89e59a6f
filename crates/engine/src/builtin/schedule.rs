//! When to drop what behind which place, so that the whole costs least, with all needs known.
//!
//! A prompt is items in order. To drop an item takes everything behind its place out of the cached prefix, to be written again; not to drop it
//! takes a read at each further request. What is dead behind a place costs nothing more to drop with it, so a schedule is a list of
//! *clears*: at this request, all that is dead from this place on. What a clear writes again is what is alive behind its place,
//! whatever was dropped before; so the cost of two clears is a sum, and the deepest clear of a time parts what comes before it from
//! what comes after it. The dynamic program goes over times and places by that: exact where every request and place is looked at, and
//! near it where only some are.

/// What a token costs, in any one unit.
pub type TokenPrice = u64;

/// An item of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledItem {
    /// The first request that shows it.
    pub arrives: usize,
    /// The first request that need not show it any more; beyond the last one where it always has to be shown.
    pub dead: usize,
    pub tokens: u64,
}

/// What is paid, request by request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePrices {
    /// What a token costs that the prompt before had, too: a read, or a write where the cache has lost it.
    pub kept: Vec<TokenPrice>,
    /// What a token costs that is written.
    pub write: TokenPrice,
    /// The unit from which on a clear writes again, wherever it begins: a cache that has no entry in between loses all of it. Where
    /// entries are dense, a clear writes again from its own place on.
    pub breaks_at: Option<usize>,
}

/// A clear: all that is dead from a place on goes, before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clear {
    pub request: usize,
    /// The first unit that may go.
    pub place: usize,
}

/// So many requests and places are looked at; of longer sessions, those by which equal parts of what can be dropped are parted.
const LOOKED_AT: usize = 64;

/// Returns the clears of the cheapest schedule found, in order; units are in the order of the prompt.
pub fn cheapest(units: &[ScheduledItem], prices: &SchedulePrices) -> Vec<Clear> {
    let n = prices.kept.len();
    if !units.iter().any(|it| it.dead < n) {
        return Vec::new();
    }
    let program = ScheduleTimes::new(units, prices);
    let table = program.solve();
    let mut clears = Vec::new();
    program.clears(&table, [0, program.times.len() - 1], 0, &mut clears);
    clears.sort();
    clears
}

/// Returns what a schedule costs, all requests together.
pub fn cost(units: &[ScheduledItem], prices: &SchedulePrices, clears: &[Clear]) -> u128 {
    let mut shown = vec![false; units.len()];
    let mut is_gone = vec![false; units.len()];
    let mut sum = 0_u128;
    for (request, kept) in prices.kept.iter().enumerate() {
        let mut broken = usize::MAX;
        for clear in clears.iter().filter(|it| it.request == request) {
            for (at, unit) in units.iter().enumerate().skip(clear.place) {
                if unit.arrives <= request && unit.dead <= request && !is_gone[at] {
                    is_gone[at] = true;
                    let place = prices.breaks_at.map_or(at, |it| it.min(at));
                    broken = if shown[at] { broken.min(place) } else { broken };
                }
            }
        }
        for (at, unit) in units.iter().enumerate() {
            let is_shown = unit.arrives <= request && !is_gone[at];
            if is_shown {
                let price = if shown[at] && at < broken { *kept } else { prices.write.max(*kept) };
                sum += u128::from(unit.tokens) * u128::from(price);
            }
            shown[at] = is_shown;
        }
    }
    sum
}

/// The times, the places, and what lies between them.
struct ScheduleTimes<'u> {
    units: &'u [ScheduledItem],
    /// Requests at which a clear may be made, in order; behind the last is the end.
    times: Vec<usize>,
    /// Units at which a clear may begin, in order; behind the last is the end.
    places: Vec<usize>,
    /// By request: what it costs to show a token at all requests before it.
    sums: Vec<u128>,
    /// By time and place: tokens that are dead by then and stand before it.
    tokens: Vec<Vec<u128>>,
    /// The same, times what it had cost to show them up to when they died.
    spent: Vec<Vec<u128>>,
    /// By time and place: what a clear writes again.
    rewrites: Vec<Vec<u128>>,
}

/// By window and place: the least that waiting and clears cost within it.
type CostTable = Vec<Vec<Vec<u128>>>;

impl<'u> ScheduleTimes<'u> {
    fn new(units: &'u [ScheduledItem], prices: &SchedulePrices) -> Self {
        let n = prices.kept.len();
        let mut sums = vec![0_u128; n + 1];
        for (request, kept) in prices.kept.iter().enumerate() {
            sums[request + 1] = sums[request] + u128::from(*kept);
        }
        let droppable: Vec<usize> = (0..units.len()).filter(|it| units[*it].dead < n).collect();
        let weighed = |of: fn(&ScheduledItem, usize) -> usize| {
            let mut all: Vec<(usize, u64)> =
                droppable.iter().map(|it| (of(&units[*it], *it), units[*it].tokens)).collect();
            all.sort_unstable();
            all
        };
        let mut times = parted(&weighed(|it, _| it.dead.max(it.arrives)));
        // Where the cache has lost the prompt, a clear writes nothing again.
        times.extend((0..n).filter(|it| prices.kept[*it] >= prices.write).take(LOOKED_AT));
        times.extend([0, n]);
        times.sort_unstable();
        times.dedup();
        let mut places = parted(&weighed(|_, at| at));
        places.extend([0, units.len()]);
        places.extend(prices.breaks_at.filter(|it| *it < units.len()));
        places.sort_unstable();
        places.dedup();
        let mut program =
            Self { units, times, places, sums, tokens: Vec::new(), spent: Vec::new(), rewrites: Vec::new() };
        program.add_up(&droppable);
        program.rewrites = program.rewrites_of(prices);
        program
    }

    /// Adds up what is dead by each time in front of each place.
    fn add_up(&mut self, droppable: &[usize]) {
        let (n_times, n_places) = (self.times.len(), self.places.len());
        let (mut tokens, mut spent) = (vec![vec![0; n_places]; n_times], vec![vec![0; n_places]; n_times]);
        for at in droppable {
            let unit = &self.units[*at];
            let dead = unit.dead.max(unit.arrives);
            let time = self.times.partition_point(|it| *it < dead);
            let place = self.places.partition_point(|it| it <= at);
            if time < n_times && place < n_places {
                tokens[time][place] += u128::from(unit.tokens);
                spent[time][place] += u128::from(unit.tokens) * self.sums[dead];
            }
        }
        for table in [&mut tokens, &mut spent] {
            for time in 0..n_times {
                for place in 0..n_places {
                    let above = if time > 0 { table[time - 1][place] } else { 0 };
                    let before = if place > 0 { table[time][place - 1] } else { 0 };
                    let both = if time > 0 && place > 0 { table[time - 1][place - 1] } else { 0 };
                    table[time][place] += above + before - both;
                }
            }
        }
        (self.tokens, self.spent) = (tokens, spent);
    }

    /// Returns what clears write again: what is alive behind the place and was in the prompt before.
    fn rewrites_of(&self, prices: &SchedulePrices) -> Vec<Vec<u128>> {
        let of_time = |time: &usize| {
            let Some(kept) = prices.kept.get(*time) else { return vec![0; self.places.len()] };
            let price = u128::from(prices.write.saturating_sub(*kept));
            let mut alive = vec![0_u128; self.places.len()];
            let mut sum = 0;
            let mut place = self.places.len();
            for (at, unit) in self.units.iter().enumerate().rev() {
                while place > 0 && self.places[place - 1] > at {
                    place -= 1;
                    alive[place] = sum;
                }
                if unit.arrives < *time && unit.dead > *time {
                    sum += u128::from(unit.tokens) * price;
                }
            }
            alive[..place].fill(sum);
            if let Some(from) = prices.breaks_at {
                let first = self.places.partition_point(|it| *it < from);
                let all = alive.get(first).copied().unwrap_or_default();
                alive.iter_mut().skip(first).for_each(|it| *it = all);
            }
            alive
        };
        self.times.iter().map(of_time).collect()
    }

    /// Returns what it costs that nothing is cleared within a window between two places.
    fn waiting(&self, [start, end]: [usize; 2], [from, to]: [usize; 2]) -> u128 {
        let within =
            |table: &[Vec<u128>]| table[end][to] + table[start][from] - table[end][from] - table[start][to];
        within(&self.tokens) * self.sums[self.times[end]] - within(&self.spent)
    }

    /// Returns the least that a window costs behind a place if a clear begins just there, and which clear that is; nothing where none is
    /// best.
    fn deepest(&self, table: &CostTable, [start, end]: [usize; 2], place: usize) -> (u128, Option<usize>) {
        let last = self.places.len() - 1;
        let mut best = (self.waiting([start, end], [place, last]), None);
        let sums = (start + 1..end)
            .map(|at| (table[start][at][place] + self.rewrites[at][place] + table[at][end][place], Some(at)));
        for sum in sums {
            if sum.0 < best.0 {
                best = sum;
            }
        }
        best
    }

    /// Returns, for clears from a place on, the place of the deepest clear that is best.
    fn best_place(&self, deepest: &[u128], window: [usize; 2], from: usize) -> (u128, usize) {
        let sum = |place: usize| self.waiting(window, [from, place]) + deepest[place];
        (from..self.places.len()).map(|it| (sum(it), it)).min().unwrap_or_default()
    }

    /// Fills the table, the shortest windows first.
    fn solve(&self) -> CostTable {
        let (n_times, n_places) = (self.times.len(), self.places.len());
        let mut table: CostTable = vec![vec![vec![0; n_places]; n_times]; n_times];
        for length in 1..n_times {
            for start in 0..n_times - length {
                let window = [start, start + length];
                let deepest: Vec<u128> = (0..n_places).map(|it| self.deepest(&table, window, it).0).collect();
                let row = (0..n_places).map(|it| self.best_place(&deepest, window, it).0).collect();
                table[start][start + length] = row;
            }
        }
        table
    }

    /// Collects the clears of a window from a place on.
    fn clears(&self, table: &CostTable, window: [usize; 2], from: usize, clears: &mut Vec<Clear>) {
        let [start, end] = window;
        if end <= start + 1 {
            return;
        }
        let deepest: Vec<u128> = (0..self.places.len()).map(|it| self.deepest(table, window, it).0).collect();
        let (_, place) = self.best_place(&deepest, window, from);
        let (_, Some(at)) = self.deepest(table, window, place) else { return };
        clears.push(Clear { request: self.times[at], place: self.places[place] });
        self.clears(table, [start, at], place, clears);
        self.clears(table, [at, end], place, clears);
    }
}

/// Returns the values by which sorted weights are parted into equal parts; all of them, where they are few.
fn parted(weighed: &[(usize, u64)]) -> Vec<usize> {
    let mut values: Vec<usize> = weighed.iter().map(|it| it.0).collect();
    values.dedup();
    if values.len() <= LOOKED_AT {
        return values;
    }
    let total: u128 = weighed.iter().map(|it| u128::from(it.1)).sum();
    let (mut sum, mut next, mut found) = (0_u128, 0_u128, Vec::with_capacity(LOOKED_AT + 1));
    for (value, tokens) in weighed {
        sum += u128::from(*tokens);
        if sum * LOOKED_AT as u128 >= next {
            found.push(*value);
            next = sum * LOOKED_AT as u128 + total;
        }
    }
    found.dedup();
    found
}
