//! The one reason why the best variant is not recommended.

use ctxsim_engine::measure::SAME;
use ctxsim_engine::measure::floor::{Floor, keeps_more};

use super::{HELD_OUT_MIN, SplitBy, Tuned, variant_name};
use crate::lever::{Lever, Word};
use crate::prelude::*;

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
    /// The base itself keeps too little, so that being cheaper than it is no merit.
    BaseBelowFloor,
    /// There are too few sessions to test a choice.
    TooFewSessions,
    /// On the sessions held out, the rule does not call it *do*.
    Word,
}

/// Why nothing is recommended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// As a word.
    pub why: WhyNot,
    /// As a sentence, without its stop.
    pub text: String,
}

/// Gives a reason.
fn some_reason(why: WhyNot, text: String) -> Option<Reason> {
    Some(Reason { why, text })
}

impl Tuned {
    /// Returns why nothing can be chosen on the first part of the sessions.
    pub(super) fn why_nothing_chosen(&self, is_every_variant_idle: bool) -> Option<Reason> {
        let (base, floor) = (&self.base, percent(self.min_evidence));
        if is_every_variant_idle {
            let longest = format!("the longest prompt has {} tokens", thousands(self.prompt_tokens_max));
            let text = format!("no stage ever fired, so every variant is {base}; {longest}");
            return some_reason(WhyNot::NeverFires, text);
        }
        let points = || self.points.iter().filter_map(|it| Some((it, it.parts.first()?)));
        let known = || points().filter_map(|(point, own)| Some((point, own, own.cost_change_share()?)));
        let cheapest = known().min_by(|one, other| one.2.total_cmp(&other.2));
        let Some(((_, own, change), (point, cheapest, least))) = known().next().zip(cheapest) else {
            let stops = format!("stops at a limit where {base} does not, or the other way round");
            let text = format!("every variant {stops}, or a price is unknown");
            return some_reason(WhyNot::NotComparable, text);
        };
        if let Some(kept) = own.base_kept.filter(|it| !Floor(self.min_evidence).passes(Some(*it))) {
            return some_reason(WhyNot::BaseBelowFloor, self.base_below_floor_sentence(kept));
        }
        if change < 0.0 && own.surely_keeps(self.min_evidence) {
            return None;
        }
        // What costs less stands behind what keeps enough.
        if least < 0.0 {
            let keeps = cheapest.evidence_kept_text().unwrap_or_else(|| "an unknown share".to_owned());
            let what = match self.evidence_measure_name() {
                None => format!("keep {floor} of the evidence"),
                Some(number) => format!("have {number} of at least {floor}"),
            };
            let name = variant_name(&point.set);
            let text = format!(
                "no variant that is certain to {what} costs less than {base}; the cheapest, {name}, keeps {keeps}"
            );
            return some_reason(WhyNot::Evidence, text);
        }
        let costs = if least.abs() < SAME { "the same".to_owned() } else { signed(least) };
        let text = format!("no variant costs less than {base}; the best costs {costs}");
        some_reason(WhyNot::Dearer, text)
    }

    /// Says that the base keeps too little to be a measure, and what keeps more.
    fn base_below_floor_sentence(&self, kept_share: f64) -> String {
        const SHOWN: usize = 3;
        let points = self.points.iter().filter_map(|it| Some((it, it.parts.first()?)));
        let known = points.filter_map(|(point, own)| Some((own.evidence_kept?, point, own)));
        let mut more = known.filter(|it| keeps_more(Some(it.0), Some(kept_share))).listed();
        more.order_by(|one, other| other.0.total_cmp(&one.0));
        more.dedup_by(|one, other| one.2 == other.2);
        let said = more.iter().map(|(kept_share, point, own)| {
            let change = own.cost_change_share().map_or_else(String::new, |it| format!(", {}", signed(it)));
            format!("{} ({}{change})", variant_name(&point.set), percent(*kept_share))
        });
        let others = match more.len() {
            0 => "no variant keeps more".to_owned(),
            _ => format!("these keep more: {}", first_few(said, SHOWN)),
        };
        let (base, kept_share, floor) = (&self.base, percent(kept_share), percent(self.min_evidence));
        let keeps = match self.evidence_measure_name() {
            None => format!("keeps only {kept_share} of the evidence"),
            Some(number) => format!("comes to only {kept_share} ({number})"),
        };
        format!(
            "{base} itself {keeps}, less than the floor of {floor}, so nothing is recommended for being cheap; {others}"
        )
    }

    /// Returns the number that is used as the evidence kept, if it is not the evidence itself.
    pub(super) fn evidence_measure_name(&self) -> Option<&str> {
        self.parts.first()?.kept_of.as_deref()
    }

    /// Says that there are too few sessions to test a choice, and how many it takes.
    pub(super) fn too_few_sessions_reason(&self, n_all: usize, n_held_out: usize) -> Reason {
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
        Reason { why: WhyNot::TooFewSessions, text }
    }
}

/// Returns why a choice is not to be made: the rule does not call it *do*.
pub(super) fn reason_unless_word_is_do(lever: &Lever, name: &str) -> Option<Reason> {
    let word = lever.word.filter(|it| *it != Word::Do)?;
    some_reason(WhyNot::Word, format!("The word for {name} is “{}”: {}", word.text(), lever.why))
}
