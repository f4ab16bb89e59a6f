//! The one reason why the best variant is not recommended.

use serde::Serialize;

use super::{HELD_OUT_MIN, Part, SplitBy, Tuned, TunedSession, named};
use crate::grid::numbers::{counted, interval, percent, signed};
use crate::measure::{SAME, Spread};

/// Why nothing is recommended, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNot {
    /// No stage fires in any variant.
    NeverFires,
    /// No variant can be compared: each stops elsewhere than the base, or a price is unknown.
    NotComparable,
    /// No variant costs less than the base.
    Dearer,
    /// What costs less may keep too little evidence.
    Evidence,
    /// There are too few sessions to test a choice.
    TooFewSessions,
    /// On the sessions held out, the interval of the saving includes zero.
    IntervalIncludesZero,
    /// The saving rests on one project or session.
    OneProject,
    /// Whether it saves depends on what is assumed of recovery.
    RecoveryAssumptions,
}

/// Why nothing is recommended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// As a word.
    pub why: WhyNot,
    /// As a sentence, without its stop.
    pub text: String,
}

impl Reason {
    fn new(why: WhyNot, text: String) -> Self {
        Self { why, text }
    }
}

impl Tuned {
    /// Returns why nothing can be chosen on the first part of the sessions.
    pub(super) fn why_not_here(&self, all_idle: bool) -> Option<Reason> {
        let (base, floor) = (&self.base, percent(self.min_evidence));
        if all_idle {
            let longest = crate::grid::numbers::thousands(self.prompt_tokens_max);
            let text = format!(
                "no stage ever fired, so every variant is {base}; the longest prompt has {longest} tokens"
            );
            return Some(Reason::new(WhyNot::NeverFires, text));
        }
        let mut known = self.points.iter().filter_map(|it| Some((it, it.own()?, it.own()?.change()?)));
        let Some((_, own, change)) = known.next() else {
            let text = format!(
                "every variant stops at a limit where {base} does not, or the other way round, or a price is unknown"
            );
            return Some(Reason::new(WhyNot::NotComparable, text));
        };
        if change < 0.0 && own.surely_keeps(self.min_evidence) {
            return None;
        }
        // What costs less stands behind what keeps enough.
        let all = self.points.iter().filter_map(|it| Some((it, it.own()?, it.own()?.change()?)));
        let cheapest = all.min_by(|one, other| one.2.total_cmp(&other.2));
        let text = match cheapest {
            Some((point, own, change)) if change < 0.0 => {
                let keeps = own.kept_words().unwrap_or_else(|| "an unknown share".to_owned());
                let text = format!(
                    "no variant that is certain to keep {floor} of the evidence costs less than {base}; the cheapest, {}, keeps {keeps}",
                    named(&point.set)
                );
                return Some(Reason::new(WhyNot::Evidence, text));
            }
            Some((_, _, change)) if change.abs() < SAME => {
                format!("no variant costs less than {base}; the best costs the same")
            }
            Some((_, _, change)) => {
                format!("no variant costs less than {base}; the best costs {}", signed(change))
            }
            None => format!("no variant costs less than {base}"),
        };
        Some(Reason::new(WhyNot::Dearer, text))
    }

    /// Says that there are too few sessions to test a choice, and how many it takes.
    pub(super) fn too_few(&self, n_all: usize, n_held_out: usize) -> Reason {
        let n = counted(n_all, "session");
        let are = if n_all == 1 { "is" } else { "are" };
        let text = match self.split {
            SplitBy::Time => format!(
                "{n} {are} too few to test a choice: the newer half is held out and must have {HELD_OUT_MIN}, so it takes {}",
                2 * HELD_OUT_MIN - 1
            ),
            SplitBy::Project => format!(
                "{n} {are} too few to test a choice: whole projects are held out, here {}, and at least {HELD_OUT_MIN} must be; add sessions of the smaller projects",
                counted(n_held_out, "session")
            ),
        };
        Reason::new(WhyNot::TooFewSessions, text)
    }
}

/// Returns why a variant does not hold on the sessions held out.
pub(super) fn on_held_out(
    tuned: &Tuned,
    out: &Part,
    held_out: &[&TunedSession],
    nth: usize,
) -> Option<Reason> {
    let (base, floor) = (&tuned.base, tuned.min_evidence);
    let Some(Spread { interval: Some(ends), .. }) = out.spread.filter(|_| out.cost.is_some()) else {
        let text = format!(
            "on the held-out sessions it stops at a limit where {base} does not, or the other way round, or a price is unknown"
        );
        return Some(Reason::new(WhyNot::NotComparable, text));
    };
    if ends[1] >= 0.0 {
        let text = format!(
            "on the held-out sessions the 95% interval of its change in cost ({}%) includes zero",
            interval(ends)
        );
        return Some(Reason::new(WhyNot::IntervalIncludesZero, text));
    }
    if out.without_best.is_none_or(|it| it >= 0.0) {
        let one = if out.projects > 1 { "project" } else { "session" };
        let text = format!("without the held-out {one} that saves most, it does not cost less than {base}");
        return Some(Reason::new(WhyNot::OneProject, text));
    }
    if !out.surely_keeps(floor) {
        let text =
            format!("on the held-out sessions it is not certain to keep {} of the evidence", percent(floor));
        return Some(Reason::new(WhyNot::Evidence, text));
    }
    let ends = |of: &dyn Fn(&TunedSession) -> [f64; 3]| {
        let all = held_out.iter().map(|it| of(it));
        all.fold([0.0; 3], |sum, it| [sum[0] + it[0], sum[1] + it[1], sum[2] + it[2]])
    };
    let (own, base_ends) = (ends(&|it| it.variants[nth].cost_ends()), ends(&|it| it.base.cost_ends()));
    let is_sure = own.iter().zip(&base_ends).all(|(own, base)| own < base);
    (!is_sure).then(|| {
        let text = format!("whether it costs less than {base} depends on the recovery assumptions");
        Reason::new(WhyNot::RecoveryAssumptions, text)
    })
}
