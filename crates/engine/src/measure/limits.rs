//! How far a ratio over sessions may be off for later ones.
//!
//! What is estimated is the ratio of sums over later sessions of the same mix: the projects stay, each with its share of what is spent, and
//! other months come. A session's ratio is that ratio, what its month adds, and what it adds itself. What months add has a deviation of its
//! own, which few months can hardly tell: a half-normal prior (`assumptions/blocks.toml`) shrinks it toward nothing, many months speak
//! for themselves. For sessions of other projects, the deviation of projects enters beside it, for those known and for the one to come.
//!
//! The likelihood of the deviation is that of restricted maximum likelihood (Patterson and Thompson 1971), its prior that of Gelman (2006),
//! and its mean square over a grid enters the variance, as in Röver (2020). Student's quantile has a degree of freedom for each session
//! beyond the blocks. What is assumed may be wrong beside all that (`assumed`): as independent errors do, the two add as squares. Costs are the
//! same on any machine, logarithms and exponentials are not to the last bit, so limits are rounded.
//! `tests/suite/tune/coverage.rs` holds how often the truth lies within.

use crate::prelude::*;

use super::assumed::AssumedReach;
use super::student;
use ctxsim_base::list::Listed as _;
use ctxsim_input::profile::calendar::{DAY_MS, date_of, date_text};

/// The places of the grid over a deviation, from none to four times that of the prior.
const GRID: i32 = 60;
const GRID_TO: f64 = 4.0;

/// The share of the variance that sessions have within blocks at least, so that blocks whose sessions are all alike have some weight.
const LEAST: f64 = 1e-9;

/// What is drawn anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Sessions alone.
    Sessions,
    /// Sessions and projects.
    Projects,
    /// Sessions and calendar months.
    Months,
    /// Calendar weeks, from Monday.
    Weeks,
    /// Calendar days.
    Days,
}

impl Over {
    /// The units of time, the longest first.
    const TIMES: [Self; 3] = [Self::Months, Self::Weeks, Self::Days];

    /// Returns the name of one.
    pub fn one(self) -> &'static str {
        match self {
            Self::Sessions => "session",
            Self::Projects => "project",
            Self::Months => "month",
            Self::Weeks => "week",
            Self::Days => "day",
        }
    }

    /// Returns what the samples of a block have in common, in the order of blocks; nothing where a time is unknown.
    fn key_of<'s>(self, nth: usize, sample: &RatioSample<'s>) -> Option<(i64, &'s str)> {
        let days = |at_ms: i64| at_ms.div_euclid(DAY_MS);
        match self {
            Self::Sessions => Some((i64::try_from(nth).ok()?, "")),
            Self::Projects => Some((0, sample.project)),
            Self::Months => sample.at_ms.map(date_of).map(|[year, month, _]| (year * 12 + month, "")),
            Self::Weeks => sample.at_ms.map(|at_ms| (monday_before(days(at_ms)), "")),
            Self::Days => sample.at_ms.map(|at_ms| (days(at_ms), "")),
        }
    }

    /// Returns the name of the block of this unit of time that a moment is in, UTC.
    fn block_of(self, at_ms: i64) -> String {
        let date = date_text(at_ms);
        match self {
            Self::Months => date.chars().take("2026-01".len()).collect(),
            Self::Weeks => {
                format!("week of {}", date_text(monday_before(at_ms.div_euclid(DAY_MS)) * DAY_MS))
            }
            _ => date,
        }
    }
}

/// Returns the day of the last Monday, in days since 1970.
fn monday_before(day: i64) -> i64 {
    // 1970-01-01 was a Thursday, so weeks from Monday begin three days before.
    const THURSDAY: i64 = 3;
    day - (day + THURSDAY).rem_euclid(7)
}

/// The parts of a session in a ratio, and what it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RatioSample<'s> {
    /// What is compared, and what it is compared with.
    pub pair: (f64, f64),
    pub project: &'s str,
    /// When it was, in milliseconds since 1970, if it is known.
    pub at_ms: Option<i64>,
}

/// The limits of a ratio where blocks of one kind are drawn anew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// What is drawn anew.
    pub over: Over,
    /// How many blocks there are.
    pub blocks: usize,
    /// The 95% interval of the ratio less 1; `None` for a single session.
    pub interval: Option<[f64; 2]>,
    /// The standard deviation of what blocks add to the ratio, as estimated; 0 over sessions.
    pub deviation: f64,
}

/// Samples that belong together.
#[derive(Clone, Debug)]
pub struct SampleBlock<'a, 's> {
    /// Its name: the project, or the time.
    pub name: String,
    pub samples: Vec<&'a RatioSample<'s>>,
}

/// Returns the limits of a ratio of which what is assumed reaches so far: over sessions alone, over blocks of time where times are known, and
/// for other projects.
pub fn ratio_limits(samples: &[RatioSample<'_>], assumed: AssumedReach) -> Vec<Limit> {
    let alone = Estimate::new(samples, Over::Sessions);
    let of_time = unit_of_blocks(samples).map(|over| (over, Estimate::new(samples, over)));
    let by_time = of_time.as_ref().and_then(|it| it.1.as_ref()).map_or(0.0, |it| it.of_blocks);
    let projects = Estimate::new(samples, Over::Projects);
    let limit = |over, it, more| Limit::new(over, samples, it, more, assumed);
    let of_time = of_time.map(|(over, it)| limit(over, it, 0.0));
    let next = projects.map_or(0.0, |it| it.deviation * it.deviation);
    let sessions = limit(Over::Sessions, alone, 0.0);
    [sessions].into_iter().chain(of_time).chain([limit(Over::Projects, projects, by_time + next)]).listed()
}

/// A ratio less 1, and its standard error by which sessions were sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioError {
    pub change: f64,
    pub error: f64,
    /// The degrees of freedom of the error.
    pub freedom: u64,
}

/// Returns a ratio's sampling error where blocks of one kind are drawn anew; `None` for a single session.
pub fn ratio_error(samples: &[RatioSample<'_>], over: Over) -> Option<RatioError> {
    let Estimate { change, of_sessions, of_blocks, freedom, .. } = Estimate::new(samples, over)?;
    Some(RatioError { change, error: rounded((of_sessions + of_blocks).sqrt()), freedom })
}

/// Returns the interval for later sessions alone.
pub fn ratio_interval_for_later(samples: &[RatioSample<'_>], assumed: AssumedReach) -> Option<[f64; 2]> {
    let over = unit_of_blocks(samples).unwrap_or(Over::Sessions);
    Estimate::new(samples, over).map(|it| it.interval(0.0, assumed))
}

impl Limit {
    /// Makes the limit that an estimate has where something more varies.
    fn new(
        over: Over,
        samples: &[RatioSample<'_>],
        estimate: Option<Estimate>,
        more: f64,
        assumed: AssumedReach,
    ) -> Self {
        Self {
            over,
            blocks: if over == Over::Sessions { samples.len() } else { parted(over, samples).len() },
            interval: estimate.map(|it| it.interval(more, assumed)),
            deviation: estimate.map_or(0.0, |it| rounded(it.deviation)),
        }
    }
}

/// Returns the unit of time whose blocks are drawn anew: the longest of which there are several, else days; none where a time is unknown.
pub fn unit_of_blocks(samples: &[RatioSample<'_>]) -> Option<Over> {
    if samples.is_empty() || samples.iter().any(|it| it.at_ms.is_none()) {
        return None;
    }
    let are_several = |it: &Over| samples.iter().any(|own| it.key_of(0, own) != it.key_of(0, &samples[0]));
    Some(Over::TIMES.into_iter().find(are_several).unwrap_or(Over::Days))
}

/// Parts samples into blocks, in the order of their names; samples of an unknown time are left out of those of time.
pub fn sample_blocks<'a, 's>(over: Over, samples: &'a [RatioSample<'s>]) -> Vec<SampleBlock<'a, 's>> {
    let name = |samples: &[&RatioSample<'s>]| match over {
        Over::Sessions => String::new(),
        Over::Projects => samples[0].project.to_owned(),
        of_time => samples[0].at_ms.map_or_else(String::new, |it| of_time.block_of(it)),
    };
    let all = parted(over, samples).into_iter();
    all.map(|samples| SampleBlock { name: name(&samples), samples }).collect()
}

/// Parts samples into blocks, in their order.
fn parted<'a, 's>(over: Over, samples: &'a [RatioSample<'s>]) -> Vec<Vec<&'a RatioSample<'s>>> {
    let mut all: IndexMap<(i64, &'s str), Vec<&RatioSample<'s>>> = IndexMap::new();
    for (nth, it) in samples.iter().enumerate() {
        let Some(key) = over.key_of(nth, it) else { continue };
        all.entry(key).or_default().push(it);
    }
    all.sort_unstable_keys();
    all.into_values().collect()
}

/// What is declared of blocks.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Blocks {
    /// The scale of the half-normal prior on the deviation of blocks, in deviations of a session's ratio.
    deviation: f64,
}

declared_once! { Blocks: ctxsim_assumptions::BLOCKS }

/// A ratio less 1, and how far it may be off.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    change: f64,
    /// The variance by what sessions add themselves.
    of_sessions: f64,
    /// The variance by what blocks add.
    of_blocks: f64,
    /// The standard deviation of what blocks add.
    deviation: f64,
    freedom: u64,
}

/// What the sessions of a block sum to.
#[derive(Clone, Copy, Debug)]
struct BlockSums {
    change: f64,
    base: f64,
    /// The sum of the squares of their bases.
    squares: f64,
}

impl Estimate {
    /// Estimates a ratio from samples whose blocks of one kind differ; `None` for a single one.
    fn new(samples: &[RatioSample<'_>], over: Over) -> Option<Self> {
        let whole = samples.iter().map(|it| it.pair).listed();
        let parted = match over {
            Over::Sessions => Vec::new(),
            over => parted(over, samples).iter().map(|it| it.iter().map(|it| it.pair).listed()).listed(),
        };
        let pairs: Vec<&[(f64, f64)]> = match over {
            Over::Sessions => vec![&whole],
            _ => parted.iter().map(Vec::as_slice).listed(),
        };
        let (n, all) = (whole.len(), BlockSums::new(&whole)?);
        let sums: Vec<BlockSums> = pairs.iter().filter_map(|it| BlockSums::new(it)).listed();
        // Where nearly every session is a block of its own, their own deviation cannot be told from that of blocks, and holds both.
        let is_apart = n > sums.len() + 1;
        let total = within([(whole.as_slice(), &all)]);
        let within =
            if is_apart { within(pairs.iter().copied().zip(&sums)).max(total * LEAST) } else { total };
        let freedom = u64::try_from(n - if is_apart { sums.len() } else { 1 }).ok().filter(|it| *it > 0)?;
        let variance = |it: &BlockSums| within * it.squares / (it.base * it.base);
        let share = |it: &BlockSums| it.base / all.base;
        let of_sessions = sums.iter().map(|it| share(it) * share(it) * variance(it)).sum();
        let square = match over {
            Over::Sessions => 0.0,
            _ => between(&sums, &variance, total.sqrt() * Blocks::declared().deviation),
        };
        let of_blocks = square * sums.iter().map(|it| share(it) * share(it)).sum::<f64>();
        Some(Self { change: all.change, of_sessions, of_blocks, deviation: square.sqrt(), freedom })
    }

    /// Returns Student's 95% interval, where something more varies, and something is assumed.
    fn interval(self, more: f64, assumed: AssumedReach) -> [f64; 2] {
        let reach = student(self.freedom) * (self.of_sessions + self.of_blocks + more).sqrt();
        let [low, high] = assumed.interval(self.change, reach);
        // No sum of amounts is less than nothing.
        [low.max(-1.0), high].map(rounded)
    }
}

impl BlockSums {
    fn new(pairs: &[(f64, f64)]) -> Option<Self> {
        let (own, base) = sum_of_pairs(pairs.iter().copied());
        let squares = pairs.iter().map(|it| it.1 * it.1).sum();
        (base > 0.0).then(|| Self { change: own / base - 1.0, base, squares })
    }
}

/// Returns the variance of a session's ratio around that of its block, weighed by the squares of what sessions cost, as they weigh in a sum.
fn within<'a>(blocks: impl IntoIterator<Item = (&'a [(f64, f64)], &'a BlockSums)>) -> f64 {
    let (mut squares, mut expected) = (0.0, 0.0);
    for (pairs, block) in blocks {
        for (own, base) in pairs {
            let off = own - (1.0 + block.change) * base;
            squares += off * off;
            // What a session adds to its block's ratio takes from what it is off.
            let share = base / block.base;
            expected += base * base * (1.0 - 2.0 * share) + share * share * block.squares;
        }
    }
    if expected > 0.0 { squares / expected } else { 0.0 }
}

/// Returns the mean square of what blocks add: by how likely the blocks' ratios make each deviation, under a half-normal prior of a scale.
fn between(blocks: &[BlockSums], variance: &impl Fn(&BlockSums) -> f64, scale: f64) -> f64 {
    if scale <= 0.0 {
        return 0.0;
    }
    let at = |place: i32| scale * GRID_TO * f64::from(place) / f64::from(GRID);
    let log_likelihood = |square: f64| {
        let weights = blocks.iter().map(|it| (it.change, 1.0 / (variance(it) + square))).listed();
        let sum: f64 = weights.iter().map(|it| it.1).sum();
        let mean = weights.iter().map(|(change, weight)| weight * change).sum::<f64>() / sum;
        let logs: f64 =
            weights.iter().map(|(change, weight)| weight.ln() - weight * (change - mean).powi(2)).sum();
        (logs - sum.ln()) / 2.0
    };
    let logs = (0..=GRID)
        .map(|place| {
            let deviation = at(place);
            log_likelihood(deviation * deviation) - (deviation / scale).powi(2) / 2.0
        })
        .listed();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let likely = (0..=GRID).zip(&logs).map(|(place, log)| (at(place), (log - most).exp()));
    let (squares, all) =
        likely.fold((0.0, 0.0), |sum, (at, weight)| (sum.0 + weight * at * at, sum.1 + weight));
    squares / all
}

/// Rounds to a billionth, below what logarithms of different machines agree on.
fn rounded(number: f64) -> f64 {
    const UNITS: f64 = 1e9;
    (number * UNITS).round() / UNITS
}

/// Adds up pairs.
pub fn sum_of_pairs(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    pairs.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_base::rng::Seed;

    /// Makes samples a number of days apart.
    fn every(days: i64, own: &[f64]) -> Vec<RatioSample<'static>> {
        let first = ctxsim_input::profile::calendar::parse_day("2026-02-02").unwrap();
        let one = |(nth, own): (i64, &f64)| RatioSample {
            pair: (*own, 1.0),
            project: if nth % 2 == 0 { "even" } else { "odd" },
            at_ms: Some(first + nth * days * DAY_MS),
        };
        (0..).zip(own).map(one).collect()
    }

    #[test]
    fn blocks_of_time_are_of_the_longest_unit_of_which_there_are_several() {
        for (days, of) in [(31, Over::Months), (4, Over::Weeks), (1, Over::Days), (0, Over::Days)] {
            assert_eq!(unit_of_blocks(&every(days, &[0.9; 5])), Some(of), "{days} days apart");
        }
        let mut samples = every(4, &[0.9; 5]);
        let weeks = sample_blocks(Over::Weeks, &samples);
        assert_eq!((weeks.len(), weeks[0].name.as_str()), (3, "week of 2026-02-02"), "a Monday");
        let sunday = Over::Weeks.block_of(samples[0].at_ms.unwrap() - 1);
        assert_eq!(sunday, "week of 2026-01-26");
        samples[0].at_ms = None;
        assert_eq!(unit_of_blocks(&samples), None, "a time is unknown");
    }

    /// Of sessions that cost the same, the limits over sessions are Student's of their mean: the quantile for three degrees of freedom is 3.182.
    #[test]
    fn limits_over_equal_sessions_are_those_of_students_mean() {
        let own = [0.8, 0.9, 1.0, 0.9];
        let samples = every(31, &own);

        let [sessions, months, projects] =
            ratio_limits(&samples, AssumedReach::default()).try_into().unwrap();

        let error = (0.02_f64 / 3.0 / 4.0).sqrt();
        let expected = [-0.1 - 3.182 * error, -0.1 + 3.182 * error];
        assert!(sessions.interval.unwrap().iter().zip(expected).all(|(own, it)| (own - it).abs() < 1e-8));
        let reach = |it: &Limit| it.interval.map_or(0.0, |it| it[1] - it[0]);
        assert_eq!((months.over, months.blocks, projects.blocks), (Over::Months, 4, 2));
        assert!(reach(&sessions) < reach(&months) && reach(&months) < reach(&projects), "more varies");
        assert_eq!(ratio_interval_for_later(&samples, AssumedReach::default()), months.interval);
        let alone = ratio_limits(&every(0, &own[..1]), AssumedReach::default());
        assert!(alone.iter().all(|it| it.blocks == 1 && it.interval.is_none()), "{alone:?}");
        let same = ratio_limits(&every(31, &[0.9; 4]), AssumedReach::default());
        assert!(same.iter().all(|it| it.interval.is_some_and(|it| it[1] - it[0] < 1e-8)), "{same:?}");
    }

    /// A normal number, by twelve uniform ones.
    fn normal(draw: &mut ctxsim_base::rng::Draw, sd: f64) -> f64 {
        (0..12).map(|_| draw.next_between(0, 1_000_000) as f64 / 1e6).sum::<f64>() * sd - 6.0 * sd
    }

    /// Few months shrink toward none, many speak for themselves: what is estimated is near the truth where there are forty.
    #[test]
    fn many_months_tell_how_far_they_deviate_and_two_hardly_do() {
        let estimated = |months: i64, deviation: f64| {
            let mut draw = Seed(2).stream("months that deviate", 0).nth(0, 0);
            let mut own = Vec::new();
            for _ in 0..months {
                let month = normal(&mut draw, deviation);
                own.extend((0..8).map(|_| 0.92 + month + normal(&mut draw, 0.05)));
            }
            // From the second of a month on, and 30.44 days later each time.
            let samples = every(0, &own).into_iter().zip(0_i64..).map(|(it, nth)| RatioSample {
                at_ms: it.at_ms.map(|at| at + (nth / 8) * DAY_MS * 3_044 / 100 + nth % 8 * DAY_MS / 2),
                ..it
            });
            let all = ratio_limits(&samples.collect::<Vec<_>>(), AssumedReach::default());
            assert_eq!((all[1].over, all[1].blocks as i64), (Over::Months, months));
            all[1].deviation
        };
        let many = [0.0, 0.02, 0.04].map(|it| estimated(40, it));
        assert!(
            many[0] < 0.01 && (many[1] - 0.02).abs() < 0.006 && (many[2] - 0.04).abs() < 0.008,
            "{many:?}"
        );
        let two = [0.0, 0.1].map(|it| estimated(2, it));
        assert!(two[0] > 0.002 && two[1] < 0.08, "{two:?}");
    }

    /// Two sessions of a second project, worth 3%, whose changes lie within the range of those there.
    #[test]
    fn a_little_of_another_project_widens_no_interval_for_later_sessions_by_over_a_tenth() {
        for nth in 0..200 {
            let mut draw = Seed(3).stream("another project", 0).nth(0, nth);
            let n = 10 + nth as usize % 40;
            let own: Vec<f64> = (0..n).map(|_| 0.95 + normal(&mut draw, 0.08)).collect();
            let mut samples: Vec<RatioSample<'_>> =
                every(5, &own).into_iter().map(|it| RatioSample { project: "first", ..it }).collect();
            let [low, high] =
                [own.iter().copied().fold(1.0, f64::min), own.iter().copied().fold(0.0, f64::max)];
            let before = ratio_limits(&samples, AssumedReach::default());
            for nth in 0..2 {
                let base = 0.015 * n as f64;
                let ratio = low + (high - low) * draw.next_between(0, 1_000) as f64 / 1e3;
                let at_ms = samples[nth * (n - 1)].at_ms;
                samples.push(RatioSample { pair: (ratio * base, base), project: "second", at_ms });
            }
            let after = ratio_limits(&samples, AssumedReach::default());
            let reach = |it: &Limit| it.interval.map_or(0.0, |it| it[1] - it[0]);
            // That for other projects may: how these differ is first learned from the second one.
            for (after, before) in after.iter().zip(&before).filter(|it| it.0.over != Over::Projects) {
                assert!(reach(after) <= 1.1 * reach(before), "{nth}: {before:?}, {after:?}");
            }
        }
    }
}
