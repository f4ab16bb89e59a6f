//! What a lever is worth to each person or project: by their own sessions where these suffice, else shrunk toward the others.
//!
//! The change in cost of a group is an estimate with an error; groups differ by a variance of their own, which is estimated as that of blocks is
//! (`measure/limits.rs`). With few sessions, a group's estimate is the mean of all groups and its own, weighed by that variance over itself plus
//! the square of the group's error, as in James and Stein's.

use super::{FamilySession, SESSIONS_MIN, TriedFamily};
use crate::lever::GroupSaving;
use crate::prelude::*;
use ctxsim_engine::measure::assumed::AssumedReach;
use ctxsim_engine::measure::limits::{Over, RatioSample, ratio_limits, sum_of_pairs};
use ctxsim_engine::measure::student;

/// A session of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupedSession<'s> {
    /// The person or the project; empty where no log tells it, and then it is in none.
    pub(crate) group: &'s str,
    /// What it costs with the lever, and as it is.
    pub(crate) pair: (f64, f64),
    /// Its part of the month's bill, in US dollars.
    pub(crate) month_usd: f64,
}

/// The change in cost of a group, as its own sessions show it.
struct OwnChange<'s> {
    group: &'s str,
    sessions: usize,
    month_usd: f64,
    change: f64,
    /// The sum of its bases, and that of their squares.
    base: f64,
    squares: f64,
}

impl<'s> TriedFamily<'s> {
    /// Returns what a lever, by its place, is worth to each person or project, the largest saving first; nothing where there is a single one.
    pub fn savings_by_group(
        &self,
        lever_ix: usize,
        group_of: impl Fn(&FamilySession<'s>) -> &'s str,
    ) -> Vec<GroupSaving> {
        savings_of_groups(&self.group_sessions(lever_ix, group_of))
    }

    /// Returns the sessions whose costs and part of the month are known, each in its group.
    pub(crate) fn group_sessions(
        &self,
        lever_ix: usize,
        group_of: impl Fn(&FamilySession<'s>) -> &'s str,
    ) -> Vec<GroupedSession<'s>> {
        let grouped = |session: &FamilySession<'s>| {
            let pair = (session.rows[lever_ix].cost?.usd, session.base.cost?.usd);
            Some(GroupedSession { group: group_of(session), pair, month_usd: session.month_usd? })
        };
        self.sessions.iter().filter_map(grouped).listed()
    }
}

/// Returns what a lever is worth to each group, the largest saving first; nothing where there is a single group.
pub(crate) fn savings_of_groups(sessions: &[GroupedSession<'_>]) -> Vec<GroupSaving> {
    let mut members: IndexMap<&str, Vec<&GroupedSession<'_>>> = IndexMap::new();
    for session in sessions.iter().filter(|session| !session.group.is_empty()) {
        members.entry(session.group).or_default().push(session);
    }
    let own = members.iter().filter_map(|(group, its)| OwnChange::new(group, its)).listed();
    if own.len() < 2 {
        return Vec::new();
    }
    let grouped = || members.values().flatten();
    let square_off = |session: &&GroupedSession<'_>| {
        let change = own.iter().find(|own| own.group == session.group).map_or(0.0, |own| own.change);
        (session.pair.0 - (1.0 + change) * session.pair.1).powi(2)
    };
    let off: f64 = grouped().map(square_off).sum();
    let squares: f64 = own.iter().map(|own| own.squares).sum();
    let n = grouped().count();
    // How far a session is from its group is taken as alike in all groups: few sessions do not know it.
    let freedom = n.saturating_sub(own.len()).max(1);
    let of_session = off / squares * n as f64 / freedom as f64;
    let samples = grouped().map(|it| RatioSample { pair: it.pair, project: it.group, at_ms: None });
    let limits = ratio_limits(&samples.listed(), AssumedReach::default());
    let between = limits.iter().find(|it| it.over == Over::Projects).map_or(0.0, |it| it.deviation);
    let groups = GroupEstimates::new(&own, of_session, between * between, freedom as u64);
    let mut all = own.iter().map(|own| groups.saving_of_group(own)).listed();
    all.sort_by(|one, other| other.saved_month.total_cmp(&one.saved_month));
    all
}

impl<'s> OwnChange<'s> {
    /// Sums up a group's own sessions; `None` if they cost nothing.
    fn new(group_name: &'s str, sessions: &[&GroupedSession<'_>]) -> Option<Self> {
        let (own, base) = sum_of_pairs(sessions.iter().map(|session| session.pair));
        (base > 0.0).then(|| Self {
            group: group_name,
            sessions: sessions.len(),
            month_usd: sessions.iter().map(|session| session.month_usd).sum(),
            change: own / base - 1.0,
            base,
            squares: sessions.iter().map(|session| session.pair.1 * session.pair.1).sum(),
        })
    }

    /// Returns the square of the error of its change.
    fn change_variance(&self, session_variance: f64) -> f64 {
        session_variance * self.squares / (self.base * self.base)
    }
}

/// What is known of groups by all of them.
struct GroupEstimates {
    mean: f64,
    /// The square of the mean's standard error.
    mean_variance: f64,
    /// The variance between groups.
    between: f64,
    /// The variance of a session's change.
    of_session: f64,
    /// The degrees of freedom of both variances: of sessions, of groups.
    freedom: [u64; 2],
}

impl GroupEstimates {
    fn new(changes: &[OwnChange<'_>], session_var: f64, group_var: f64, freedom: u64) -> Self {
        /// No error is smaller: sessions that are all alike are not known to be so.
        const LEAST: f64 = 1e-9;
        let weight =
            |changes: &OwnChange<'_>| 1.0 / (changes.change_variance(session_var) + group_var).max(LEAST);
        let sum: f64 = changes.iter().map(weight).sum();
        let mean = changes.iter().map(|changes| changes.change * weight(changes)).sum::<f64>() / sum;
        let freedom = [freedom, changes.len() as u64 - 1];
        Self { mean, mean_variance: 1.0 / sum, between: group_var, of_session: session_var, freedom }
    }

    /// Returns what the lever is worth to a group.
    fn saving_of_group(&self, own: &OwnChange<'_>) -> GroupSaving {
        let variance = own.change_variance(self.of_session);
        let own_share = match self.between {
            _ if own.sessions >= SESSIONS_MIN => 1.0,
            between if between > 0.0 => between / (between + variance),
            _ => 0.0,
        };
        let rest = 1.0 - own_share;
        let change = own_share * own.change + rest * self.mean;
        let variance = own_share * own_share * variance + rest * rest * (self.between + self.mean_variance);
        // How sessions differ is known by sessions, how groups do by groups.
        let freedom = if own_share < 1.0 { self.freedom[1] } else { self.freedom[0] };
        let reach = student(freedom) * variance.sqrt();
        let dollars = |change: f64| 0.0 - change * own.month_usd;
        GroupSaving {
            group: own.group.to_owned(),
            sessions: own.sessions,
            month_usd: own.month_usd,
            saved_month: dollars(change),
            saved_interval: [dollars(change + reach), dollars((change - reach).max(-1.0))],
            own_share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_base::rng::Seed;

    fn sessions<'s>(group: &'s str, ratios: &[f64]) -> Vec<GroupedSession<'s>> {
        ratios.iter().map(|it| GroupedSession { group, pair: (*it, 1.0), month_usd: 1.0 }).collect()
    }

    #[test]
    fn a_group_with_many_sessions_keeps_its_own_change_and_one_with_few_takes_that_of_the_others() {
        let mut all = sessions("many", &[0.9, 0.92, 0.88, 0.9, 0.91, 0.89, 0.9, 0.9, 0.92, 0.88, 0.9]);
        all.extend(sessions("alike", &[0.9, 0.91, 0.89, 0.9, 0.92, 0.88, 0.9, 0.9, 0.91, 0.89]));
        all.extend(sessions("one", &[0.91]));
        let found = savings_of_groups(&all);
        let named = |name: &str| found.iter().find(|it| it.group == name).unwrap();

        assert_eq!(named("many").own_share, 1.0);
        assert!(named("one").own_share < 0.3, "{:?}", named("one"));
        assert!((named("one").saved_month - 0.1).abs() < 0.01, "{:?}", named("one"));
    }

    #[test]
    fn groups_that_differ_are_shrunk_little() {
        let mut all = Vec::new();
        for (group, level) in [("a", 0.7), ("b", 0.8), ("c", 0.95), ("d", 1.1)] {
            all.extend(sessions(group, &[level, level + 0.01, level - 0.01, level, level + 0.02]));
        }
        let found = savings_of_groups(&all);

        assert!(found.iter().all(|it| it.own_share > 0.95), "{found:?}");
        assert_eq!(found[0].group, "a");
    }

    #[test]
    fn intervals_of_small_groups_hold_their_truth() {
        let mut held = 0;
        for nth in 0..200 {
            let mut draw = Seed(5).stream("groups", 0).nth(0, nth);
            let mut normal = || (0..12).map(|_| draw.next_unit()).sum::<f64>() - 6.0;
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let truths: Vec<f64> = names.iter().map(|_| 0.92 + 0.04 * normal()).collect();
            let mut all = Vec::new();
            for (name, truth) in names.into_iter().zip(&truths) {
                all.extend(sessions(name, &[(); 5].map(|()| truth + 0.08 * normal())));
            }
            for saving in savings_of_groups(&all) {
                let truth = truths[names.iter().position(|name| *name == saving.group).unwrap()];
                let saved = (1.0 - truth) * saving.month_usd;
                held += usize::from(saving.saved_interval[0] <= saved && saved <= saving.saved_interval[1]);
            }
        }
        let share = held as f64 / 1_600.0;

        assert!((0.90..=0.99).contains(&share), "{share}");
    }
}
