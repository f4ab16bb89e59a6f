//! Recall of questions over several facts: by how often these were changed, by how far apart they were said, and hop by hop.

use std::collections::BTreeMap;

use super::mean;
use crate::worlds::graph::Relation;

/// A question over several facts, and which of them were stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chained<'a> {
    /// What it does with them.
    pub relation: Relation,
    /// The longest chain of versions among them.
    pub depth: u16,
    /// From the first session that said one to the last.
    pub span: u32,
    /// Whether each was stated.
    pub hops: &'a [bool],
    /// Whether some version after the first was needed.
    pub needs_version: bool,
    /// Whether an old version was stated.
    pub is_stale: bool,
}

impl Chained<'_> {
    /// Returns the share of its facts that were stated, as the code scores it.
    #[must_use]
    pub fn share(&self) -> f64 {
        mean(self.hops.iter().map(|it| f64::from(u8::from(*it)))).unwrap_or(0.0)
    }

    /// Returns whether all were stated, as the paper scores it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.hops.iter().all(|it| *it)
    }
}

/// Returns means of a number of questions by a key.
fn by<K: Ord>(
    all: &[Chained<'_>],
    key: impl Fn(&Chained<'_>) -> K,
    number: impl Fn(&Chained<'_>) -> f64,
) -> BTreeMap<K, f64> {
    let mut groups: BTreeMap<K, Vec<f64>> = BTreeMap::new();
    for it in all.iter().filter(|it| it.relation != Relation::Standalone) {
        groups.entry(key(it)).or_default().push(number(it));
    }
    groups.into_iter().filter_map(|(key, all)| Some((key, mean(all.into_iter())?))).collect()
}

/// Returns recall by version depth.
#[must_use]
pub fn by_depth(all: &[Chained<'_>]) -> BTreeMap<u16, f64> {
    by(all, |it| it.depth, |it| it.share())
}

/// Returns recall by span, the share of facts stated.
#[must_use]
pub fn by_span(all: &[Chained<'_>]) -> BTreeMap<u32, f64> {
    by(all, |it| it.span, |it| it.share())
}

/// Returns recall by hop, over questions of two facts or more.
#[must_use]
pub fn by_hop(all: &[Chained<'_>]) -> BTreeMap<usize, f64> {
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for it in all.iter().filter(|it| it.hops.len() >= 2) {
        for (hop, is_stated) in it.hops.iter().enumerate() {
            groups.entry(hop).or_default().push(f64::from(u8::from(*is_stated)));
        }
    }
    groups.into_iter().filter_map(|(key, all)| Some((key, mean(all.into_iter())?))).collect()
}

/// Returns which hop fails first, in the code's words.
#[must_use]
pub fn pattern(by_hop: &BTreeMap<usize, f64>) -> &'static str {
    let ends = by_hop.values().next().zip(by_hop.values().next_back());
    match ends.filter(|_| by_hop.len() >= 2) {
        None => "insufficient_data",
        Some((first, last)) if first > last => "later_hops_fail_first",
        Some((first, last)) if first < last => "earlier_hops_fail_first",
        Some(_) => "uniform_failure",
    }
}

/// Returns of questions about a changed fact the share that states the current version and no old one, or
/// none if nothing asks.
#[must_use]
pub fn version_accuracy(all: &[Chained<'_>]) -> Option<f64> {
    let tests = all.iter().filter(|it| it.relation == Relation::Trend && it.needs_version);
    let is_right = |it: &Chained| it.hops.last() == Some(&true) && !it.is_stale;
    mean(tests.map(|it| f64::from(u8::from(is_right(it)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chained(relation: Relation, depth: u16, span: u32, hops: &[bool]) -> Chained<'_> {
        Chained { relation, depth, span, hops, needs_version: depth > 1, is_stale: false }
    }

    #[test]
    fn recall_is_grouped_by_depth_span_and_hop() {
        let all = [
            chained(Relation::Compare, 1, 2, &[true, true]),
            chained(Relation::Synthesize, 2, 2, &[true, false, false, true]),
            chained(Relation::Standalone, 1, 0, &[false]),
        ];

        assert_eq!(by_depth(&all), BTreeMap::from([(1, 1.0), (2, 0.5)]));
        assert_eq!(by_span(&all), BTreeMap::from([(2, 0.75)]));
        let hops = by_hop(&all);
        assert_eq!(hops, BTreeMap::from([(0, 1.0), (1, 0.5), (2, 0.0), (3, 1.0)]));
        assert_eq!(pattern(&hops), "uniform_failure");
        assert_eq!(pattern(&BTreeMap::new()), "insufficient_data");
        assert!(all[0].is_whole() && !all[1].is_whole());
    }

    #[test]
    fn a_version_is_right_where_the_current_value_is_stated_and_no_old_one() {
        let stale = Chained { is_stale: true, ..chained(Relation::Trend, 2, 1, &[true, true]) };
        let all = [chained(Relation::Trend, 2, 1, &[false, true]), stale];

        assert_eq!(version_accuracy(&all), Some(0.5));
        assert_eq!(version_accuracy(&[chained(Relation::Compare, 1, 1, &[true])]), None);
    }
}
