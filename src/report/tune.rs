//! The cheapest parameters under a floor of evidence, chosen on one part of the sessions and held against the other.

use std::fmt::Write as _;

use serde::Serialize;

use super::numbers::{counted, interval, percent, signed};
use super::prose::wrap;
use super::sweep::short;
use crate::measure::{Spread, Tally};
use crate::rng::Seed;

/// The stream that parts projects.
const PURPOSE: &str = "projects held out";

/// A session under the base and under each variant.
#[derive(Clone, Debug)]
pub struct TunedSession {
    /// The folder of its recording.
    pub project: String,
    /// When its last request was, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// What the base came to.
    pub base: Tally,
    /// What each variant came to.
    pub variants: Vec<Tally>,
}

/// How sessions were parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitBy {
    /// Whole projects are held out.
    Project,
    /// The newest sessions are held out.
    Time,
}

/// A variant on one part of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// How many sessions.
    pub sessions: usize,
    /// How its cost differs from the base's.
    pub spread: Option<Spread>,
    /// The share of needed evidence that it keeps.
    pub evidence_kept: Option<f64>,
}

/// What tuning came to.
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
    /// How the sessions were parted.
    pub split: SplitBy,
    /// The overrides of the variant that is cheapest on the part that it was chosen on; nothing where none keeps enough and is cheaper.
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
        if own.is_empty() || held_out.len() < 2 {
            let n = counted(sessions.len(), "session");
            tuned.reason = Some(format!("{n} cannot be parted: at least two have to be held out"));
            return tuned;
        }
        let tried: Vec<Part> = (0..points.len()).map(|it| tried(&own, it)).collect();
        let keeps = |it: &Part| it.evidence_kept.is_none_or(|it| it >= min_evidence);
        let change = |it: &Part| it.spread.filter(|spread| spread.sessions == own.len()).map(|it| it.change);
        let cheaper =
            tried.iter().enumerate().filter(|it| keeps(it.1) && change(it.1).is_some_and(|it| it < 0.0));
        let best = cheaper.min_by(|a, b| {
            let changes = [a.1, b.1].map(|it| change(it).unwrap_or_default());
            changes[0].total_cmp(&changes[1]).then(a.0.cmp(&b.0))
        });
        let Some((nth, in_sample)) = best.map(|(nth, it)| (nth, *it)) else {
            let floor = percent(min_evidence);
            tuned.reason =
                Some(format!("no variant that keeps {floor} of the evidence costs less than {base}"));
            return tuned;
        };
        let out = self::tried(&held_out, nth);
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
            "Chosen of {} by ctxsim tune on {} and held against {} others{until} ({}): {}",
            counted(self.variants, "variant"),
            counted(own.sessions, "session"),
            out.sessions,
            self.split_words(),
            part_words(out)
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
                &format!("Cheapest with {} of the evidence kept: {}", percent(self.min_evidence), short(set)),
                "",
                width,
                &mut text,
            );
            let _ = writeln!(text, "  chosen on  {:>4} sessions: {}", own.sessions, part_words(own));
            let _ = writeln!(
                text,
                "  held out   {:>4} sessions: {} ({})",
                out.sessions,
                part_words(out),
                self.split_words()
            );
            if let Some(optimism) = self.optimism {
                let _ =
                    writeln!(text, "  optimism: {} of the cost (held out less chosen on)", signed(optimism));
            }
        }
        match (&self.reason, &self.chosen) {
            (Some(reason), _) => wrap(&format!("Nothing is recommended: {reason}."), "", width, &mut text),
            (None, Some(set)) => {
                text.push_str("Recommended. Apply:\n");
                set.iter().for_each(|it| {
                    let _ = writeln!(text, "  {it}");
                });
            }
            (None, None) => {}
        }
        text
    }
}

/// Says what a variant saves and keeps.
fn part_words(it: &Part) -> String {
    let saved = it.spread.map_or_else(String::new, |it| {
        let ends = it.interval.map_or_else(String::new, |it| format!(" (95% interval {}%)", interval(it)));
        format!("cost {}{ends}", signed(it.change))
    });
    let kept =
        it.evidence_kept.map_or_else(String::new, |it| format!(", {} of the evidence kept", percent(it)));
    format!("{saved}{kept}")
}

/// Says why a variant is not recommended; nothing where it is.
fn refusal(out: &Part, held_out: &[&TunedSession], nth: usize, floor: f64, base: &str) -> Option<String> {
    let Some(Spread { sessions, interval: Some([_, high]), .. }) = out.spread else {
        return Some("its costs on the sessions held out cannot be compared".to_owned());
    };
    if sessions < held_out.len() {
        return Some(format!("it stops at a limit where {base} does not, or the other way round"));
    }
    if high >= 0.0 {
        return Some(format!("on the sessions held out it does not surely cost less than {base}"));
    }
    if out.evidence_kept.is_some_and(|it| it < floor) {
        return Some(format!(
            "on the sessions held out it keeps less than {} of the evidence",
            percent(floor)
        ));
    }
    let ends = |of: &dyn Fn(&TunedSession) -> [f64; 3]| {
        held_out
            .iter()
            .map(|it| of(it))
            .fold([0.0; 3], |sum, it| [sum[0] + it[0], sum[1] + it[1], sum[2] + it[2]])
    };
    let (own, base_ends) = (ends(&|it| it.variants[nth].cost_ends()), ends(&|it| it.base.cost_ends()));
    let is_sure = own.iter().zip(&base_ends).all(|(own, base)| own < base);
    (!is_sure).then(|| format!("whether it costs less than {base} hangs on what is assumed of recovery"))
}

/// Returns what a variant comes to on some sessions.
fn tried(sessions: &[&TunedSession], nth: usize) -> Part {
    let pairs = sessions.iter().filter_map(|it| {
        let own = &it.variants[nth];
        let is_same = own.outcome.turns_completed == it.base.outcome.turns_completed;
        own.costs.total().zip(it.base.costs.total()).filter(|_| is_same)
    });
    let (weight, met) = sessions
        .iter()
        .map(|it| &it.variants[nth].sums.needs)
        .fold((0.0, 0.0), |sum, it| (sum.0 + it.weight, sum.1 + it.met));
    Part {
        sessions: sessions.len(),
        spread: Spread::new(&pairs.collect::<Vec<_>>()),
        evidence_kept: (weight > 0.0).then(|| met / weight),
    }
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
