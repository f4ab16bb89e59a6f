//! The best values of guarded numbers so far, behind which later ones may not fall.

use super::guards::GuardVerdict;
use crate::prelude::*;
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::grid::numbers::plain;
use ctxsim_input::Format;
use ctxsim_input::text::decode::{decode, encode};

/// The first line of such a file.
pub const HEAD: &str = "# The best values of guarded numbers, kept by `ctxsim check --ratchet`; `--bless` takes today's instead.\n";

ctxsim_input::decoded_here!(Ratchet);
ctxsim_input::encoded_here!(Ratchet);

/// The best values of a suite's guards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratchet {
    #[serde(default)]
    best: Vec<Best>,
}

/// The best value of a guard on one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Best {
    guard: String,
    metric: String,
    policy: String,
    scenario: String,
    profile: String,
    value: f64,
}

impl Ratchet {
    /// Reads what was kept.
    ///
    /// # Errors
    /// Every problem of the text; the caller adds the file's name.
    pub fn read(text: &str) -> Result<Self, Vec<Diagnostic>> {
        decode(text, Format::Toml)
    }

    /// Returns it as the text of a file.
    ///
    /// # Errors
    /// A number that TOML cannot hold.
    pub fn text(&self) -> Result<String, Box<Diagnostic>> {
        Ok(HEAD.to_owned() + &encode(self, Format::Toml)?)
    }

    /// Returns whether nothing was kept yet.
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }

    /// Holds numbers against the best ones so far, by more than a tolerance none may be worse: a share of the best value, or points of
    /// it where the number is a change itself. Returns a verdict for each, and keeps the better ones; what no guard asks for any more is
    /// kept no longer.
    pub fn hold(&mut self, verdicts: &[GuardVerdict], tolerance: f64) -> Vec<GuardVerdict> {
        let known = std::mem::take(&mut self.best);
        let mut all = Vec::new();
        for it in verdicts {
            let kept = known.iter().find(|best| best.is_of(it));
            let (Some(value), Some(rises)) = (it.value, it.is_better_higher) else {
                // A run that came to no number fails its guard, and loosens nothing.
                self.best.extend(kept.cloned());
                continue;
            };
            let best = kept.map_or(value, |it| it.value);
            all.push(against(it, value, best, tolerance, rises));
            let better = if rises { best.max(value) } else { best.min(value) };
            self.best.push(Best::new(it, better));
        }
        all
    }
}

impl Best {
    fn new(verdict: &GuardVerdict, value: f64) -> Self {
        let [policy, scenario, profile] = verdict.run.clone();
        Self {
            guard: verdict.guard.clone(),
            metric: verdict.metric.clone(),
            policy,
            scenario,
            profile,
            value,
        }
    }

    fn is_of(&self, verdict: &GuardVerdict) -> bool {
        let run = [&self.policy, &self.scenario, &self.profile];
        self.guard == verdict.guard && self.metric == verdict.metric && verdict.run.iter().eq(run)
    }
}

/// Returns whether a number is still as good as the best one.
fn against(of: &GuardVerdict, value: f64, best: f64, tolerance: f64, rises: bool) -> GuardVerdict {
    let worse = if rises { best - value } else { value - best };
    let allowed = if of.is_change { tolerance } else { tolerance * best.abs() };
    let shown = if of.is_change { signed(best) } else { plain((best * 1e4).round() / 1e4) };
    let give = if tolerance > 0.0 { format!(" or {} worse", percent(tolerance)) } else { String::new() };
    GuardVerdict {
        guard: format!("{} (ratchet)", of.title()),
        bound: format!("as good as the best so far, {shown}{give}"),
        holds: worse <= allowed,
        interval: None,
        ..of.clone()
    }
}
