//! Recall of questions over several facts, by the share of them that was stated, as a whole, and of their versions.

use super::mean;
use crate::graph::FactRelation;

/// A question over several facts, and which of them were stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chained<'a> {
    /// What it does with them.
    pub relation: FactRelation,
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
    pub fn share(&self) -> f64 {
        mean(self.hops.iter().map(|it| f64::from(u8::from(*it)))).unwrap_or(0.0)
    }

    /// Returns whether all were stated, as the paper scores it.
    pub fn is_whole(&self) -> bool {
        self.hops.iter().all(|it| *it)
    }
}

/// Returns of questions about a changed fact the share that states the current version and no old one, or
/// none if nothing asks.
pub fn version_accuracy(all: &[Chained<'_>]) -> Option<f64> {
    let tests = all.iter().filter(|it| it.relation == FactRelation::Trend && it.needs_version);
    let is_right = |it: &Chained| it.hops.last() == Some(&true) && !it.is_stale;
    mean(tests.map(|it| f64::from(u8::from(is_right(it)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chained(relation: FactRelation, depth: u16, span: u32, hops: &[bool]) -> Chained<'_> {
        Chained { relation, depth, span, hops, needs_version: depth > 1, is_stale: false }
    }

    #[test]
    fn a_question_is_answered_by_share_or_as_a_whole() {
        let all = [&[true, true][..], &[true, false, false, true]]
            .map(|it| chained(FactRelation::Compare, 1, 2, it));

        assert_eq!(all.map(|it| it.share()), [1.0, 0.5]);
        assert_eq!(all.map(|it| it.is_whole()), [true, false]);
    }

    #[test]
    fn a_version_is_right_where_the_current_value_is_stated_and_no_old_one() {
        let stale = Chained { is_stale: true, ..chained(FactRelation::Trend, 2, 1, &[true, true]) };
        let all = [chained(FactRelation::Trend, 2, 1, &[false, true]), stale];

        assert_eq!(version_accuracy(&all), Some(0.5));
        assert_eq!(version_accuracy(&[chained(FactRelation::Compare, 1, 1, &[true])]), None);
    }
}
