//! The cheapest parameters under a floor of evidence,
//! chosen on one part of the sessions and compared with the other.

pub mod page;
mod part;
pub mod table;
mod verdict;

use serde::Serialize;

use crate::grid::numbers::counted;
use crate::measure::Tally;
use crate::rng::Seed;

pub use part::Part;
pub use verdict::{Reason, WhyNot};

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
    /// Of memories: what the base remembers, and then each variant; it stands for the evidence that is kept.
    pub remembered: Option<Vec<f64>>,
}

/// A path that is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Varied {
    /// The path, as in `--set`.
    pub path: String,
    /// The values that are tried, as in `--set`.
    pub values: Vec<String>,
    /// Where the values come from.
    pub rule: &'static str,
}

impl Varied {
    /// Returns the override that sets a value.
    pub fn setting(&self, value: &str) -> String {
        format!("{}={value}", self.path)
    }
}

/// A parameter that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fixed {
    /// Its name.
    pub param: String,
    /// Why it is not varied.
    pub reason: String,
}

/// What is tried.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// The paths that are varied.
    pub varied: Vec<Varied>,
    /// The parameters that are left as they are.
    pub fixed: Vec<Fixed>,
    /// The overrides of each variant.
    pub points: Vec<Vec<String>>,
    /// The names of the policy's stages.
    pub stages: Vec<String>,
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

/// A variant and its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunedPoint {
    /// Its overrides; none for the policy as it is.
    pub set: Vec<String>,
    /// Its results on the part that is chosen on, and on the part that is held out, if there is one.
    pub parts: Vec<Part>,
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
    /// The paths that were varied.
    pub varied: Vec<Varied>,
    /// The parameters that were left as they are.
    pub fixed: Vec<Fixed>,
    /// How the sessions were split.
    pub split: SplitBy,
    /// The overrides of the best variant: the cheapest, on the part that it was chosen on, of those that are certain
    /// to keep enough evidence; where none is, the cheapest.
    pub chosen: Vec<String>,
    /// Its results on the part that it was chosen on, and on the part that was held out, if there is one.
    pub parts: Vec<Part>,
    /// By how much its saving was smaller on what was held out.
    pub optimism: Option<f64>,
    /// Whether it is recommended.
    pub is_recommended: bool,
    /// Why it is not, as a word.
    pub why_not: Option<WhyNot>,
    /// Why it is not, in a sentence.
    pub reason: Option<String>,
    /// Stages that fired in no variant, on no session.
    pub never_fired: Vec<String>,
    /// The longest prompt under the base.
    pub prompt_tokens_max: u64,
    /// All variants, the best first.
    pub points: Vec<TunedPoint>,
}

impl Tuned {
    /// Chooses on one part of the sessions and holds the choice against the other: whole projects are held out where there are
    /// several, else the newest sessions.
    pub fn new(
        names: [&str; 2],
        sessions: &[TunedSession],
        tried: Tried,
        min_evidence: f64,
        seed: u64,
    ) -> Self {
        let n_projects = part::projects(&sessions.iter().collect::<Vec<_>>()).len();
        let split = if n_projects < 2 { SplitBy::Time } else { SplitBy::Project };
        Self::parted(split, names, sessions, tried, min_evidence, seed)
    }

    /// The same, parted as asked.
    pub fn parted(
        split: SplitBy,
        [base, policy]: [&str; 2],
        sessions: &[TunedSession],
        tried: Tried,
        min_evidence: f64,
        seed: u64,
    ) -> Self {
        let is_held_out = held_out(split, sessions, seed);
        let part = |held_out: bool| -> Vec<&TunedSession> {
            sessions.iter().zip(&is_held_out).filter(|it| *it.1 == held_out).map(|it| it.0).collect()
        };
        let halves = [part(false), part(true)];
        let is_split = !halves[0].is_empty() && halves[1].len() >= HELD_OUT_MIN;
        // Too few sessions to test a choice still show what it would be.
        let parts = if is_split { halves.to_vec() } else { vec![sessions.iter().collect()] };
        let point = |(nth, set)| {
            let parts = parts.iter().map(|it| Part::new(it, nth)).collect();
            (nth, TunedPoint { set, parts })
        };
        let mut points: Vec<(usize, TunedPoint)> = tried.points.into_iter().enumerate().map(point).collect();
        // Points that cost the same stay in the order in which they were tried.
        points.sort_by(|one, other| {
            let (one, other) = (one.1.order(min_evidence), other.1.order(min_evidence));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        let never_fired = never_fired(&tried.stages, sessions);
        let best = points.first().map(|it| it.0).unwrap_or_default();
        let points: Vec<TunedPoint> = points.into_iter().map(|it| it.1).collect();
        let mut tuned = Self {
            base: base.to_owned(),
            policy: policy.to_owned(),
            min_evidence,
            variants: points.len(),
            varied: tried.varied,
            fixed: tried.fixed,
            split,
            chosen: points.first().map(|it| it.set.clone()).unwrap_or_default(),
            parts: points.first().map(|it| it.parts.clone()).unwrap_or_default(),
            optimism: None,
            is_recommended: false,
            why_not: None,
            reason: None,
            prompt_tokens_max: sessions.iter().map(|it| it.base.sums.main.prompt_max).max().unwrap_or(0),
            never_fired,
            points,
        };
        let n_held_out = halves[1].len();
        let all_idle = !tried.stages.is_empty() && tuned.never_fired.len() == tried.stages.len();
        let reason = tuned.why_not_here(all_idle).or_else(|| match tuned.parts.as_slice() {
            [_, out] => verdict::on_held_out(&tuned, out, &halves[1], best),
            _ => Some(tuned.too_few(sessions.len(), n_held_out)),
        });
        tuned.is_recommended = reason.is_none();
        (tuned.why_not, tuned.reason) = reason.map(|it| (it.why, it.text)).unzip();
        if let [own, out] = tuned.parts.as_slice() {
            tuned.optimism = own.spread.zip(out.spread).map(|(own, out)| out.change - own.change);
        }
        tuned
    }

    /// Returns what a policy file says of where its numbers come from.
    pub fn evidence(&self, until: Option<&str>) -> String {
        let [own, out] = self.parts.as_slice() else { return String::new() };
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
}

impl TunedPoint {
    /// Returns its results on what is chosen on.
    fn own(&self) -> Option<&Part> {
        self.parts.first()
    }

    /// Returns its place: those that are certain to keep enough first, then the others, then those that cannot be
    /// compared; each by cost.
    fn order(&self, floor: f64) -> (u8, f64) {
        match self.own().and_then(|it| Some((it, it.change()?))) {
            Some((own, change)) => (u8::from(!own.surely_keeps(floor)), change),
            None => (2, 0.0),
        }
    }
}

/// Returns a variant's results on all sessions.
pub fn whole(sessions: &[TunedSession], nth: usize) -> Part {
    Part::new(&sessions.iter().collect::<Vec<_>>(), nth)
}

/// Names a variant by its overrides.
pub fn named(set: &[String]) -> String {
    if set.is_empty() { "as it is".to_owned() } else { super::sweep::short(set) }
}

/// Returns the stages that fired in no variant, on no session.
fn never_fired(stages: &[String], sessions: &[TunedSession]) -> Vec<String> {
    let fired = |stage: usize| {
        let mut all = sessions.iter().flat_map(|it| &it.variants);
        all.any(|it| it.outcome.firings.get(stage).is_some_and(|it| it.fired > 0))
    };
    stages.iter().enumerate().filter(|(nth, _)| !fired(*nth)).map(|(_, name)| name.clone()).collect()
}

/// Parts sessions; returns which are held out.
fn held_out(split: SplitBy, sessions: &[TunedSession], seed: u64) -> Vec<bool> {
    if split == SplitBy::Time {
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        order.sort_by_key(|it| (sessions[*it].last_ms, *it));
        let mut is_held_out = vec![false; sessions.len()];
        order.iter().skip(sessions.len() / 2).for_each(|it| is_held_out[*it] = true);
        return is_held_out;
    }
    let projects = part::projects(&sessions.iter().collect::<Vec<_>>());
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
    sessions.iter().map(|it| held_out.contains(&it.project.as_str())).collect()
}
