//! How far a ratio over sessions may be off.
//!
//! Sessions of one project are alike, and so are those of one month: the ratio is resampled over sessions, over projects and over blocks
//! of time, and the widest of these limits decides.

use indexmap::IndexMap;
use serde::Serialize;

use super::{Spread, student};
use ctxsim_input::profile::calendar::{DAY_MS, date_text};

/// Blocks of time are of the longest unit of which there are so many: Student's quantile is 3.18 for four blocks, 4.30 for three and 12.7 for two,
/// so that fewer longer blocks tell less than more shorter ones. With fewer blocks of any kind, reports say so.
pub const BLOCKS_MIN: usize = 4;

/// What is resampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    Sessions,
    /// Projects: the sessions of one stay together.
    Projects,
    /// Calendar months.
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

    /// Returns the block of this unit of time that a moment is in, UTC.
    fn block_of(self, at_ms: i64) -> String {
        // 1970-01-01 was a Thursday, so weeks from Monday begin three days before.
        const THURSDAY: i64 = 3;
        let date = date_text(at_ms);
        match self {
            Self::Months => date.chars().take("2026-01".len()).collect(),
            Self::Weeks => {
                let days = at_ms.div_euclid(DAY_MS);
                let monday = days - (days + THURSDAY).rem_euclid(7);
                format!("week of {}", date_text(monday * DAY_MS))
            }
            _ => date,
        }
    }
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

/// The limits of a ratio over blocks of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// What is resampled.
    pub over: Over,
    /// How many blocks there are.
    pub blocks: usize,
    /// The 95% interval of the ratio less 1; `None` for a single block.
    pub interval: Option<[f64; 2]>,
}

/// Samples that belong together.
#[derive(Clone, Debug)]
pub struct SampleBlock<'a, 's> {
    /// Its name: the project, or the time.
    pub name: String,
    pub samples: Vec<&'a RatioSample<'s>>,
}

impl SampleBlock<'_, '_> {
    /// Returns the sum of its pairs.
    pub fn pair(&self) -> (f64, f64) {
        sum_of_pairs(self.samples.iter().map(|it| it.pair))
    }
}

/// Returns the limits of a ratio: over sessions, over projects, and over blocks of time where times are known. Of each it is the wider of what
/// resampling says and of Student's interval: resampling is too narrow where blocks are few, and Student's interval is symmetric.
pub fn ratio_limits(samples: &[RatioSample<'_>]) -> Vec<Limit> {
    ratio_limits_of_all(&[samples.to_vec()]).pop().unwrap_or_default()
}

/// Returns those of several ratios, which share the draws of resampling.
pub fn ratio_limits_of_all(all: &[Vec<RatioSample<'_>>]) -> Vec<Vec<Limit>> {
    let overs = |samples: &[RatioSample<'_>]| {
        [Over::Sessions, Over::Projects].into_iter().chain(unit_of_blocks(samples)).collect::<Vec<_>>()
    };
    let kinds: Vec<(usize, Over)> =
        all.iter().enumerate().flat_map(|(nth, it)| overs(it).into_iter().map(move |of| (nth, of))).collect();
    let pairs: Vec<Vec<(f64, f64)>> = kinds.iter().map(|(nth, over)| pairs(*over, &all[*nth])).collect();
    let resampled = Spread::of_all(&pairs);
    let mut found = vec![Vec::new(); all.len()];
    for (((nth, over), pairs), spread) in kinds.into_iter().zip(&pairs).zip(resampled) {
        let resampled = spread.and_then(|it| it.interval);
        let interval = resampled.into_iter().chain(by_student(pairs)).reduce(hull);
        found[nth].push(Limit { over, blocks: pairs.len(), interval });
    }
    found
}

/// Returns the widest interval of some limits: the lowest and the highest end.
pub fn widest_interval(limits: &[Limit]) -> Option<[f64; 2]> {
    limits.iter().filter_map(|it| it.interval).reduce(hull)
}

/// Returns the unit of time whose blocks some samples are resampled over: the longest of which there are enough, else days; none where a time is unknown.
pub fn unit_of_blocks(samples: &[RatioSample<'_>]) -> Option<Over> {
    if samples.is_empty() || samples.iter().any(|it| it.at_ms.is_none()) {
        return None;
    }
    let is_enough = |it: &Over| sample_blocks(*it, samples).len() >= BLOCKS_MIN;
    Some(Over::TIMES.into_iter().find(is_enough).unwrap_or(Over::Days))
}

/// Parts samples into blocks, in the order of their names; samples of an unknown time are left out of those of time.
pub fn sample_blocks<'a, 's>(over: Over, samples: &'a [RatioSample<'s>]) -> Vec<SampleBlock<'a, 's>> {
    let mut all: IndexMap<String, Vec<&RatioSample<'s>>> = IndexMap::new();
    for (nth, it) in samples.iter().enumerate() {
        let name = match over {
            Over::Sessions => Some(format!("{nth:09}")),
            Over::Projects => Some(it.project.to_owned()),
            of_time => it.at_ms.map(|it| of_time.block_of(it)),
        };
        let Some(name) = name else { continue };
        all.entry(name).or_default().push(it);
    }
    all.sort_unstable_keys();
    all.into_iter().map(|(name, samples)| SampleBlock { name, samples }).collect()
}

/// Returns the sums of blocks that can be compared.
fn pairs(over: Over, samples: &[RatioSample<'_>]) -> Vec<(f64, f64)> {
    sample_blocks(over, samples).iter().map(SampleBlock::pair).filter(|it| it.1 > 0.0).collect()
}

/// Returns Student's 95% interval around a ratio less 1, its error by leaving out each block (the jackknife); `None` for a single block.
fn by_student(pairs: &[(f64, f64)]) -> Option<[f64; 2]> {
    let freedom = u64::try_from(pairs.len()).ok()?.checked_sub(1).filter(|it| *it > 0)?;
    let all = sum_of_pairs(pairs.iter().copied());
    let without: Vec<f64> = pairs.iter().map(|it| (all.0 - it.0) / (all.1 - it.1)).collect();
    let n = pairs.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let squares: f64 = without.iter().map(|it| (it - mean) * (it - mean)).sum();
    let reach = student(freedom) * (squares * (n - 1.0) / n).sqrt();
    let change = all.0 / all.1 - 1.0;
    // No sum of amounts is less than nothing.
    Some([(change - reach).max(-1.0), change + reach]).filter(|it| it.iter().all(|it| it.is_finite()))
}

fn hull(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [one[0].min(other[0]), one[1].max(other[1])]
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
    fn blocks_of_time_are_of_the_longest_unit_of_which_there_are_enough() {
        for (days, of) in [(31, Over::Months), (7, Over::Weeks), (1, Over::Days), (0, Over::Days)] {
            assert_eq!(unit_of_blocks(&every(days, &[0.9; 5])), Some(of), "{days} days apart");
        }
        let mut samples = every(7, &[0.9; 5]);
        let weeks = sample_blocks(Over::Weeks, &samples);
        assert_eq!((weeks.len(), weeks[0].name.as_str()), (5, "week of 2026-02-02"), "a Monday");
        let sunday = Over::Weeks.block_of(samples[0].at_ms.unwrap() - 1);
        assert_eq!(sunday, "week of 2026-01-26");
        samples[0].at_ms = None;
        assert_eq!(unit_of_blocks(&samples), None, "a time is unknown");
    }

    /// The jackknife of equal shares is the standard error of their mean, and Student's quantile for three degrees of freedom is 3.182.
    #[test]
    fn the_fewer_the_blocks_the_wider_the_limits() {
        let own = [0.8, 0.9, 1.0, 0.9];
        let samples = every(31, &own);

        let [sessions, projects, months] = ratio_limits(&samples).try_into().unwrap();

        let error = (0.02_f64 / 3.0 / 4.0).sqrt();
        let expected = [-0.1 - 3.182 * error, -0.1 + 3.182 * error];
        assert!(sessions.interval.unwrap().iter().zip(expected).all(|(own, it)| (own - it).abs() < 1e-12));
        assert_eq!(months.interval, sessions.interval, "each session is a month of its own");
        let reach = projects.interval.unwrap().map(|it| (it + 0.1).abs());
        assert!(projects.blocks == 2 && reach.iter().all(|it| *it < 1e-12), "both save a tenth");
        assert_eq!(widest_interval(&ratio_limits(&samples)), sessions.interval);
        let alone = ratio_limits(&every(0, &own[..1]));
        assert!(alone.iter().all(|it| it.blocks == 1 && it.interval.is_none()), "{alone:?}");
    }

    /// Sessions have an effect of their month: limits over sessions alone would hold the truth in far fewer than 95% of draws.
    #[test]
    fn limits_hold_the_truth_where_months_differ() {
        let held = |nth: u64| {
            let mut draw = Seed(1).stream("months that differ", 0).nth(0, nth);
            let mut normal = |sd: f64| {
                (0..12).map(|_| draw.next_between(0, 1_000_000) as f64 / 1e6).sum::<f64>() * sd - 6.0 * sd
            };
            let mut own = Vec::new();
            for _ in 0..5 {
                let month = normal(0.05);
                own.extend((0..8).map(|_| 0.92 + month + normal(0.03)));
            }
            let samples: Vec<RatioSample<'_>> = every(1, &own)
                .into_iter()
                .enumerate()
                .map(|(nth, it)| RatioSample {
                    at_ms: it.at_ms.map(|at| at + (nth as i64 / 8) * 23 * DAY_MS),
                    ..it
                })
                .collect();
            let all = ratio_limits(&samples);
            let has = |it: Option<[f64; 2]>| it.is_some_and(|it| it[0] <= -0.08 && -0.08 <= it[1]);
            assert_eq!(all[2].over, Over::Months);
            [has(all[0].interval), has(widest_interval(&all))]
        };
        let all: Vec<[bool; 2]> = (0..400).map(held).collect();
        let count = |of: usize| all.iter().filter(|it| it[of]).count();

        assert!(count(0) < 300, "over sessions alone: {} of 400", count(0));
        assert!(count(1) >= 376, "the widest: {} of 400", count(1));
    }
}
