//! The cheapest parameters under a floor of evidence,
//! chosen on one part of the sessions and compared with the other.

mod part;

use std::fmt::Write as _;

use serde::Serialize;

use super::numbers::{counted, percent, signed};
use super::prose::wrap;
use super::sweep::short;
use crate::measure::{Spread, Tally};
use crate::rng::Seed;

pub use part::Part;

/// So many sessions have to be held out: were saving and losing equally likely, fewer of them would all save once in sixteen times.
const HELD_OUT_MIN: usize = 5;

/// The stream that parts projects.
const PURPOSE: &str = "projects held out";

/// A session under the base and under each variant.
#[derive(Clone, Debug)]
pub struct TunedSession {
    /// The folder of its recording.
    pub project: String,
    /// When its last request was, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// The base's result.
    pub base: Tally,
    /// Each variant's result.
    pub variants: Vec<Tally>,
}

/// How sessions were split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitBy {
    /// Whole projects are held out.
    Project,
    /// The newest sessions are held out.
    Time,
}

/// The result of tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// The base.
    pub base: String,
    /// The policy whose parameters were looked for.
    pub policy: String,
    /// The share of evidence that has to be kept.
    pub min_evidence: f64,
    /// How many variants were played.
    pub variants: usize,
    /// How the sessions were split.
    pub split: SplitBy,
    /// The overrides of the variant that is cheapest on the part that it was chosen on, or nothing if none
    /// keeps enough and is cheaper.
    pub chosen: Option<Vec<String>>,
    /// The chosen variant on the part that it was chosen on, and on the part that was held out.
    pub parts: Option<[Part; 2]>,
    /// By how much the saving was smaller on what was held out.
    pub optimism: Option<f64>,
    /// Whether it is recommended.
    pub is_recommended: bool,
    /// Why it is not.
    pub reason: Option<String>,
}

impl Tuned {
    /// Chooses on one part of the sessions and holds the choice against the other.
    #[must_use]
    pub fn new(
        [base, policy]: [&str; 2],
        sessions: &[TunedSession],
        points: &[Vec<String>],
        min_evidence: f64,
        seed: u64,
    ) -> Self {
        let (split, is_held_out) = parted(sessions, seed);
        let part = |held_out: bool| -> Vec<&TunedSession> {
            sessions.iter().zip(&is_held_out).filter(|it| *it.1 == held_out).map(|it| it.0).collect()
        };
        let [own, held_out] = [part(false), part(true)];
        let mut tuned = Self {
            base: base.to_owned(),
            policy: policy.to_owned(),
            min_evidence,
            variants: points.len(),
            split,
            chosen: None,
            parts: None,
            optimism: None,
            is_recommended: false,
            reason: None,
        };
        if own.is_empty() || held_out.len() < HELD_OUT_MIN {
            let n = counted(sessions.len(), "session");
            tuned.reason = Some(format!("{n} cannot be split: at least {HELD_OUT_MIN} must be held out"));
            return tuned;
        }
        let mut cheaper: Vec<(f64, usize)> =
            (0..points.len()).filter_map(|nth| Some((saved(&own, nth)?, nth))).collect();
        cheaper.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let tried = cheaper.into_iter().map(|(_, nth)| (nth, Part::new(&own, nth)));
        let Some((nth, in_sample)) = tried.into_iter().find(|(_, it)| it.surely_keeps(min_evidence)) else {
            let floor = percent(min_evidence);
            tuned.reason = Some(format!(
                "no variant that is certain to keep {floor} of the evidence costs less than {base}"
            ));
            return tuned;
        };
        let out = Part::new(&held_out, nth);
        tuned.reason = refusal(&out, &held_out, nth, min_evidence, base);
        tuned.is_recommended = tuned.reason.is_none();
        tuned.optimism = in_sample.spread.zip(out.spread).map(|(own, out)| out.change - own.change);
        tuned.chosen = Some(points[nth].clone());
        tuned.parts = Some([in_sample, out]);
        tuned
    }

    /// Returns what a policy file says of where its numbers come from.
    #[must_use]
    pub fn evidence(&self, until: Option<&str>) -> String {
        let Some([own, out]) = &self.parts else { return String::new() };
        let until = until.map_or_else(String::new, |it| format!(" up to {it}"));
        format!(
            "Chosen from {} by ctxsim tune on {} and tested on {} others{until} ({}): {}",
            counted(self.variants, "variant"),
            counted(own.sessions, "session"),
            out.sessions,
            self.split_words(),
            out.words()
        )
    }

    fn split_words(&self) -> &'static str {
        match self.split {
            SplitBy::Project => "whole projects held out",
            SplitBy::Time => "the newest held out",
        }
    }

    /// Says it for a terminal.
    #[must_use]
    pub fn text(&self, width: Option<usize>) -> String {
        let mut text = String::new();
        let head = format!("{} of {} against {}", counted(self.variants, "variant"), self.policy, self.base);
        wrap(&head, "", width, &mut text);
        if let (Some(set), Some([own, out])) = (&self.chosen, &self.parts) {
            wrap(
                &format!(
                    "Cheapest that keeps {} of the evidence: {}",
                    percent(self.min_evidence),
                    short(set)
                ),
                "",
                width,
                &mut text,
            );
            let _ = writeln!(text, "  chosen on  {:>4} sessions: {}", own.sessions, own.words());
            let _ = writeln!(
                text,
                "  held out   {:>4} sessions: {} ({})",
                out.sessions,
                out.words(),
                self.split_words()
            );
            if let Some(optimism) = self.optimism {
                let _ =
                    writeln!(text, "  optimism: {} of the cost (held out minus chosen on)", signed(optimism));
            }
        }
        match (&self.reason, &self.chosen) {
            (Some(reason), _) => wrap(&format!("Nothing is recommended: {reason}."), "", width, &mut text),
            (None, Some(set)) => {
                text.push_str("Recommended. To apply:\n");
                set.iter().for_each(|it| {
                    let _ = writeln!(text, "  {it}");
                });
            }
            (None, None) => {}
        }
        text
    }
}

/// Says why a variant is not recommended, or nothing if it is.
fn refusal(out: &Part, held_out: &[&TunedSession], nth: usize, floor: f64, base: &str) -> Option<String> {
    let Some(Spread { sessions, interval: Some([_, high]), .. }) = out.spread else {
        return Some("its costs on the held-out sessions cannot be compared".to_owned());
    };
    if sessions < held_out.len() {
        return Some(format!("it stops at a limit where {base} does not, or the other way round"));
    }
    if high >= 0.0 {
        return Some(format!("on the held-out sessions it is not certain to cost less than {base}"));
    }
    if out.without_best.is_none_or(|it| it >= 0.0) {
        let one = if out.projects > 1 { "project" } else { "session" };
        return Some(format!(
            "without the held-out {one} that saves most, it does not cost less than {base}"
        ));
    }
    if !out.surely_keeps(floor) {
        let floor = percent(floor);
        return Some(format!("on the held-out sessions it is not certain to keep {floor} of the evidence"));
    }
    let ends = |of: &dyn Fn(&TunedSession) -> [f64; 3]| {
        held_out
            .iter()
            .map(|it| of(it))
            .fold([0.0; 3], |sum, it| [sum[0] + it[0], sum[1] + it[1], sum[2] + it[2]])
    };
    let (own, base_ends) = (ends(&|it| it.variants[nth].cost_ends()), ends(&|it| it.base.cost_ends()));
    let is_sure = own.iter().zip(&base_ends).all(|(own, base)| own < base);
    (!is_sure).then(|| format!("whether it costs less than {base} depends on the recovery assumptions"))
}

/// Returns the change of what a variant costs on all of some sessions, if it costs less.
fn saved(sessions: &[&TunedSession], nth: usize) -> Option<f64> {
    let costs: Option<Vec<(f64, f64)>> = sessions.iter().map(|it| it.costs(nth)).collect();
    let (own, base) = costs?.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    Some(own / base - 1.0).filter(|it| *it < 0.0)
}

/// Parts sessions: whole projects where there are several, else by time; returns which are held out.
fn parted(sessions: &[TunedSession], seed: u64) -> (SplitBy, Vec<bool>) {
    let mut projects: Vec<&str> = super::distinct(sessions.iter().map(|it| it.project.as_str()));
    projects.sort_unstable();
    if projects.len() < 2 {
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        order.sort_by_key(|it| (sessions[*it].last_ms, *it));
        let mut is_held_out = vec![false; sessions.len()];
        order.iter().skip(sessions.len() / 2).for_each(|it| is_held_out[*it] = true);
        return (SplitBy::Time, is_held_out);
    }
    let stream = Seed(seed).stream(PURPOSE, 0);
    let mut drawn: Vec<(u64, &str)> =
        (0..).zip(&projects).map(|(nth, it)| (stream.nth(0, nth).next_between(0, u64::MAX), *it)).collect();
    drawn.sort_unstable();
    // Each project goes to the smaller part, so that both have as many sessions as can be.
    let (mut n, mut held_out) = ([0_usize; 2], Vec::new());
    for (_, project) in drawn {
        let size = sessions.iter().filter(|it| it.project == project).count();
        let part = usize::from(n[1] < n[0]);
        n[part] += size;
        if part == 1 {
            held_out.push(project);
        }
    }
    (SplitBy::Project, sessions.iter().map(|it| held_out.contains(&it.project.as_str())).collect())
}
