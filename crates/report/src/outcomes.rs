//! What became of tasks: an outcome for each session, and how groups of sessions differ in it. It is read, and never computed from anything else.
//!
//! Groups are compared with the first, and the difference has a 95% interval, corrected for the number of groups. It is *higher* or *lower* only
//! where the whole interval is on one side of nothing and each group has enough sessions; else nothing can be told.

use super::decide::SESSIONS_MIN;
use crate::blocks::Block;
use crate::prelude::*;
use ctxsim_engine::measure::student;

/// The chance that an interval of all comparisons together misses.
const MISSES: f64 = 0.05;

/// The outcome of a session, and the group that it is in.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOutcome {
    pub group: String,
    pub value: f64,
}

/// What is said of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeWord {
    CannotTell,
    Higher,
    Lower,
}

impl OutcomeWord {
    fn text(self) -> String {
        serialized_name(self).replace('_', " ")
    }
}

/// Outcomes of some sessions by group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OutcomeReport {
    /// What the outcome is called.
    pub outcome: String,
    /// Where it is from.
    pub source: String,
    /// Whether each is 0 or 1.
    pub is_share: bool,
    /// In the order in which they are compared: the first is what the others differ from.
    pub groups: Vec<OutcomeGroup>,
    /// Sessions that were read and have no outcome.
    pub sessions_without: usize,
    /// Outcomes of sessions that were not read.
    pub unread: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeGroup {
    pub name: String,
    pub sessions: usize,
    pub mean: f64,
    /// Its mean less that of the first group; none of the first.
    pub difference: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<[f64; 2]>,
    pub word: Option<OutcomeWord>,
}

/// The mean of a group, with the square of its standard error and the freedom of that.
#[derive(Clone, Copy, Debug)]
struct GroupMean {
    mean: f64,
    /// Where it is taken to be for an interval.
    centre: f64,
    square: f64,
    freedom: f64,
}

impl GroupMean {
    /// Of shares, one session of each outcome is added: a group without a failure does not show that there is none (Agresti and Caffo).
    fn new(values: &[f64], is_share: bool) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if is_share {
            let (n, sum) = (n + 2.0, mean * n + 1.0);
            let centre = sum / n;
            return Self { mean, centre, square: centre * (1.0 - centre) / n, freedom: n - 1.0 };
        }
        let squares = values.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
        Self { mean, centre: mean, square: squares / (n - 1.0) / n, freedom: n - 1.0 }
    }

    /// Returns the interval of its difference from another, as wide as so many comparisons ask for (Welch; Bonferroni).
    fn difference_interval(&self, base: &Self, n_compared: usize) -> [f64; 2] {
        let square = self.square + base.square;
        let share = |it: &Self| it.square.powi(2) / it.freedom;
        let freedom = (square.powi(2) / (share(self) + share(base))).floor().max(1.0);
        let freedom = if freedom.is_finite() { freedom as u64 } else { 1 };
        let reach = student(freedom) * interval_widening_factor(n_compared) * square.sqrt();
        let centre = self.centre - base.centre;
        [centre - reach, centre + reach]
    }
}

/// Returns how many times as wide an interval is, if so many have to hold together: by the tails of the normal distribution.
fn interval_widening_factor(n_compared: usize) -> f64 {
    let reach = |misses: f64| {
        // The tail beyond x is less than exp(-x²/2) / (x √2π): wide enough, and exact enough for a ratio.
        let tail = |x: f64| (-x * x / 2.0).exp() / (x * std::f64::consts::TAU.sqrt());
        let (mut low, mut high) = (0.5, 10.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if tail(middle) > misses / 2.0 { low = middle } else { high = middle }
        }
        low
    };
    reach(MISSES / n_compared.max(1) as f64) / reach(MISSES)
}

impl OutcomeReport {
    /// Compares groups of sessions, in the order in which they come.
    pub fn new(outcome: String, source: String, sessions: &[SessionOutcome]) -> Self {
        let by_group = grouped(sessions.iter().map(|it| (it.group.as_str(), it.value)));
        let is_share = sessions.iter().all(|it| it.value == 0.0 || it.value == 1.0);
        let means = by_group.values().map(|it| GroupMean::new(it, is_share)).listed();
        let group = |(nth, (name, values)): (usize, (&&str, &Vec<f64>))| {
            let own = &means[nth];
            let base = means.first().filter(|_| nth > 0);
            let is_known = base.is_some() && values.len() > 1 && by_group[0].len() > 1;
            let interval = base.filter(|_| is_known).map(|it| own.difference_interval(it, means.len() - 1));
            let is_enough = values.len().min(by_group[0].len()) >= SESSIONS_MIN;
            let word = base.map(|_| match interval.filter(|_| is_enough) {
                Some([low, _]) if low > 0.0 => OutcomeWord::Higher,
                Some([_, high]) if high < 0.0 => OutcomeWord::Lower,
                _ => OutcomeWord::CannotTell,
            });
            let (name, mean, difference) = ((*name).to_owned(), own.mean, base.map(|it| own.mean - it.mean));
            OutcomeGroup { name, sessions: values.len(), mean, difference, interval, word }
        };
        let groups = by_group.iter().enumerate().map(group).listed();
        Self { outcome, source, is_share, groups, ..Self::default() }
    }

    /// Returns it in words, what cannot be told first, and as a table.
    pub(super) fn text_blocks(&self) -> Vec<Block> {
        let mut others = self.groups.iter().skip(1).listed();
        others.sort_by_key(|it| it.word != Some(OutcomeWord::CannotTell));
        let mut said = others.into_iter().filter_map(|it| self.group_sentence(it)).listed();
        if said.is_empty() {
            let only = self.groups.first().map(|it| in_one_line(&it.name));
            let one = only.map(|it| format!("All sessions with an outcome are in one group ({it})."));
            said.push(one.unwrap_or_else(|| "No session has an outcome.".to_owned()));
        }
        let (without, unread) = (counted(self.sessions_without, "session"), counted(self.unread, "outcome"));
        let without = (self.sessions_without > 0).then(|| format!("{without} without an outcome"));
        let unread = (self.unread > 0).then(|| format!("{unread} of sessions that were not read"));
        let left = without.into_iter().chain(unread).listed();
        said.extend((!left.is_empty()).then(|| format!("Not compared: {}.", listed(&left))));
        let head = format!("Outcome “{}”, from {}", in_one_line(&self.outcome), in_one_line(&self.source));
        let mut blocks = vec![Block::Head(head), Block::paragraph(said.join(" "))];
        blocks.extend((!self.groups.is_empty()).then(|| Block::Table(self.groups_grid())));
        blocks
    }

    /// Says how a group differs from the first.
    fn group_sentence(&self, group: &OutcomeGroup) -> Option<String> {
        let (base, difference, word) = (&self.groups[0], group.difference?, group.word?);
        let compared = format!("{} against {}", in_one_line(&group.name), in_one_line(&base.name));
        let ends = group.interval.map(|ends| format!(" (95% interval {})", self.format_range(ends)));
        let so_far = format!("{}{}", self.format_number(difference, true), ends.unwrap_or_default());
        let is_few = group.sessions.min(base.sessions) < SESSIONS_MIN;
        let few = text_if(is_few, || format!(", and it takes {SESSIONS_MIN} sessions in each group"));
        Some(match word {
            OutcomeWord::CannotTell => format!("Cannot tell: {compared}: {so_far}{few}."),
            word => format!("{} in {compared}: {so_far}.", capitalise(&word.text())),
        })
    }

    /// Writes a number: shares in percentage points.
    fn format_number(&self, number: f64, is_difference: bool) -> String {
        let sign = match number {
            it if it < 0.0 => "−",
            it if is_difference && it > 0.0 => "+",
            _ => "",
        };
        match (self.is_share, is_difference) {
            (true, true) => format!("{sign}{:.1} points", number.abs() * 100.0),
            (true, false) => format!("{:.1}%", number * 100.0),
            _ => format!("{sign}{:.3}", number.abs()),
        }
    }

    fn format_range(&self, ends: [f64; 2]) -> String {
        ends.map(|it| self.format_number(it, true)).join(" to ")
    }

    fn groups_grid(&self) -> Grid {
        let columns: [Of<'_, OutcomeGroup>; 6] = [
            ("group", &|it| in_one_line(&it.name).into_owned()),
            ("sessions", &|it| it.sessions.to_string()),
            (if self.is_share { "share" } else { "mean" }, &|it| self.format_number(it.mean, false)),
            ("difference", &|it| or_none(it.difference, |it| self.format_number(it, true))),
            ("95% interval", &|it| or_none(it.interval, |ends| self.format_range(ends))),
            ("word", &|it| or_none(it.word, OutcomeWord::text)),
        ];
        Grid::from_columns("", 1, &self.groups, &columns).with(CellKind::Text, &[5])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(groups: &[(&str, &[f64])]) -> OutcomeReport {
        let outcomes = |(group, values): &(&str, &[f64])| {
            values.iter().map(|it| SessionOutcome { group: (*group).to_owned(), value: *it }).listed()
        };
        OutcomeReport::new(String::new(), String::new(), &groups.iter().flat_map(outcomes).listed())
    }

    #[test]
    fn a_difference_is_told_only_where_its_whole_interval_is_on_one_side() {
        let [all, none] = [[1.0; 30], [0.0; 30]];
        let half: Vec<f64> = (0..30).map(|it| f64::from(it % 2)).collect();

        let found = report(&[("before", &none), ("after", &all), ("half", &half)]);

        let words: Vec<Option<OutcomeWord>> = found.groups.iter().map(|it| it.word).collect();
        assert_eq!(words, [None, Some(OutcomeWord::Higher), Some(OutcomeWord::Higher)]);
        let [low, high] = found.groups[1].interval.unwrap();
        assert!(low > 0.7 && high < 1.1 && low < high, "a group without a failure is not sure: {low} {high}");
        assert_eq!(report(&[("a", &half), ("b", &half)]).groups[1].word, Some(OutcomeWord::CannotTell));
    }

    #[test]
    fn few_sessions_tell_nothing() {
        let found = report(&[("before", &[0.0; 9]), ("after", &[1.0; 9])]);

        assert_eq!(found.groups[1].word, Some(OutcomeWord::CannotTell));
        assert_eq!(report(&[("before", &[0.0]), ("after", &[2.5])]).groups[1].interval, None);
    }

    #[test]
    fn numbers_are_compared_by_their_means_and_more_groups_make_wider_intervals() {
        let low: Vec<f64> = (0..20).map(f64::from).collect();
        let high: Vec<f64> = (0..20).map(|it| f64::from(it) + 15.0).collect();

        let two = report(&[("a", &low), ("b", &high)]);
        let three = report(&[("a", &low), ("b", &high), ("c", &low)]);

        let OutcomeGroup { difference, word, .. } = &two.groups[1];
        assert_eq!((two.is_share, *difference, *word), (false, Some(15.0), Some(OutcomeWord::Higher)));
        let width = |it: &OutcomeReport| it.groups[1].interval.map(|[low, high]| high - low).unwrap();
        assert!(width(&three) > 1.1 * width(&two) && width(&three) < 1.3 * width(&two));
    }
}
