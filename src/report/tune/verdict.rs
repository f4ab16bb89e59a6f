//! The one reason why the best variant is not recommended.

use serde::Serialize;

use super::{HELD_OUT_MIN, Part, SplitBy, Tuned, named};
use crate::grid::numbers::{counted, interval, percent, signed};
use crate::measure::SAME;
use crate::measure::limits::Limit;

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
                    "no variant that is certain to keep {floor} of the evidence costs less than {base}; the cheapest, {}, keeps {keeps}{}",
                    named(&point.set),
                    over(own)
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

impl Tuned {
    /// Returns why the choice does not hold: on the sessions held out, then with each project held out in turn. The one place that decides.
    pub(super) fn forbids(&self, out: &Part) -> Option<Reason> {
        let in_turn = self.by_project.as_ref();
        self.forbids_on(out, "on the held-out sessions")
            .or_else(|| self.forbids_on(in_turn?, "where each project is held out in turn"))
    }

    /// Returns why the choice does not hold on what it was not made on.
    fn forbids_on(&self, out: &Part, place: &str) -> Option<Reason> {
        let (base, floor) = (&self.base, self.min_evidence);
        let Some(ends) = out.spread.and_then(|it| it.interval).filter(|_| out.cost.is_some()) else {
            let text = format!(
                "{place} it stops at a limit where {base} does not, or the other way round, or a price is unknown"
            );
            return Some(Reason::new(WhyNot::NotComparable, text));
        };
        if ends[1] >= 0.0 {
            let (over, ends) = limit(&out.cost_limits, |it| -it[1]).unwrap_or((String::new(), ends));
            let text = format!(
                "{place} the 95% interval of its change in cost{over} ({}%) includes zero",
                interval(ends)
            );
            return Some(Reason::new(WhyNot::IntervalIncludesZero, text));
        }
        if out.without_best.is_none_or(|it| it >= 0.0) {
            let one = if out.projects > 1 { "project" } else { "session" };
            let text =
                format!("{place}, without the {one} that saves most, it does not cost less than {base}");
            return Some(Reason::new(WhyNot::OneProject, text));
        }
        if !out.surely_keeps(floor) {
            let text = format!(
                "{place} it is not certain to keep {} of the evidence{}",
                percent(floor),
                at_least(out)
            );
            return Some(Reason::new(WhyNot::Evidence, text));
        }
        out.ends.is_none_or(|it| it[1] >= 0.0).then(|| {
            let text =
                format!("{place}, whether it costs less than {base} depends on the recovery assumptions");
            Reason::new(WhyNot::RecoveryAssumptions, text)
        })
    }
}

/// Says which blocks the lower limit of the evidence is over.
fn over(part: &Part) -> String {
    limit(&part.evidence_limits, |it| it[0]).map_or_else(String::new, |it| it.0)
}

/// Says how little evidence may be kept, and which blocks say so.
fn at_least(part: &Part) -> String {
    let low = limit(&part.evidence_limits, |it| it[0]);
    low.map_or_else(String::new, |(over, ends)| format!(": it keeps at least {}{over}", percent(ends[0])))
}

/// Returns the limit that decides, which has the lowest rank: what it is over, and its ends.
fn limit(limits: &[Limit], rank: impl Fn([f64; 2]) -> f64) -> Option<(String, [f64; 2])> {
    let known = limits.iter().filter_map(|it| Some((it, it.interval?)));
    let (of, ends) = known.min_by(|one, other| rank(one.1).total_cmp(&rank(other.1)))?;
    Some((format!(" over {}", counted(of.blocks, of.over.one())), ends))
}
