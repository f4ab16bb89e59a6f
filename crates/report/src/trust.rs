//! How far the recorded sessions behind a table carry what it says.
//!
//! Are their bills reproduced, is it known what they needed, and does the provider promise the hits that were counted on?

use super::lines::RunBrief;
use super::session::{BillCheck, SessionReport};
use crate::prelude::*;
use ctxsim_timeline::import;

/// The largest error of predicted input cost that is passed over in silence, as a share of the recorded bill. Savings between
/// policies are mostly above it, and the bills of most recorded Claude Code sessions are reproduced within half of it.
pub const BILL_ERROR_MAX: f64 = 0.05;

/// Sessions of one profile, and how well their bills are reproduced.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BilledProfile {
    pub profile: String,
    pub sessions: usize,
    /// The difference between predicted and recorded input cost, as a share of the recorded one; `None` if no
    /// bill is recorded, or the sessions run under another model's profile.
    pub error: Option<f64>,
    /// The recorded input cost of the requests that were checked, in US dollars.
    pub billed_usd: f64,
}

/// What the sessions of a table have in common, or mix.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableTrust {
    /// By profile, the recorded sessions; empty if nothing is recorded.
    pub sources: Vec<BilledProfile>,
    /// Scenarios with known needs.
    pub with_needs: usize,
    /// Scenarios without.
    pub without_needs: usize,
    /// What rests on caches that their provider calls best effort, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_effort: Option<BestEffortShare>,
}

/// What of the first policy's bill rests on caches that their provider calls best effort.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestEffortShare {
    /// That policy.
    pub policy: String,
    /// How much of its bill is of runs that have such a cache, as a share.
    pub of_bill: f64,
    /// How many times as high the bill is if no request is served from them.
    pub times_without_hits: f64,
    /// The same if as much is read as in recorded sessions: as declared, and at either end of its interval; `None` where nobody counted that
    /// for all of the models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_as_counted: Option<[f64; 3]>,
}

impl BestEffortShare {
    /// Adds up what rests on such caches in runs of one policy; nothing where too little does to matter.
    fn new(runs: &[RunBrief<'_>]) -> Option<Self> {
        let cost: f64 = runs.iter().map(|it| it.figures.cost).sum::<Option<f64>>().filter(|it| *it > 0.0)?;
        let lucky = || runs.iter().filter_map(|it| Some((it, it.figures.saved_by_luck?)));
        let saved: f64 = lucky().map(|it| it.1).sum();
        let lost = |(run, saved): (&RunBrief<'_>, f64)| {
            Some(import::hit_share(run.profile)?.ends().map(|it| (1.0 - it) * saved))
        };
        let add = |sum: [f64; 3], more: [f64; 3]| [0, 1, 2].map(|at| sum[at] + more[at]);
        let lost = lucky().map(lost).try_fold([0.0; 3], |sum, more| Some(add(sum, more?)));
        (saved > BILL_ERROR_MAX * cost).then(|| Self {
            policy: runs.first().map_or_else(String::new, |it| it.policy.to_owned()),
            of_bill: lucky().filter_map(|it| it.0.figures.cost).sum::<f64>() / cost,
            times_without_hits: 1.0 + saved / cost,
            times_as_counted: lost.map(|it| it.map(|usd| 1.0 + usd / cost)),
        })
    }

    /// Says it, to follow *but*.
    pub fn best_effort_clause(&self) -> String {
        let share = if self.of_bill < 1.0 { percent(self.of_bill) } else { "all".to_owned() };
        let what = format!("{share} of the bill of {} rests on caches that are best effort", self.policy);
        match self.times_as_counted {
            Some([declared, low, high]) => format!(
                "{what}: with hits as in recorded sessions, it is about {declared:.1} times as high ({low:.1} to {high:.1})"
            ),
            None => format!("{what}: without a hit, it is {:.1} times as high", self.times_without_hits),
        }
    }
}

impl TableTrust {
    /// Looks at scenarios, given one policy's runs and the recorded sessions among them.
    pub(super) fn new(sessions: &[&SessionReport], runs: &[RunBrief<'_>]) -> Self {
        let sessions: IndexMap<&str, _> = sessions.iter().map(|it| (it.name.as_str(), it)).collect();
        let mut sources: IndexMap<&str, (usize, Option<BillCheck>)> = IndexMap::new();
        for run in runs {
            let Some(session) = sessions.get(run.scenario) else { continue };
            let (n, sum) = sources.entry(run.profile).or_default();
            *n += 1;
            if let Some(bill) = &session.bill {
                *sum.get_or_insert_default() += *bill;
            }
        }
        let source = |(profile, (sessions, bill)): (&str, (usize, Option<BillCheck>))| BilledProfile {
            profile: profile.to_owned(),
            sessions,
            billed_usd: bill.map_or(0.0, |it| it.billed_usd),
            error: bill.filter(|it| it.billed_usd > 0.0).map(|it| it.predicted_usd / it.billed_usd - 1.0),
        };
        let with_needs = runs.iter().filter(|it| it.figures.has_needs).count();
        Self {
            sources: sources.into_iter().map(source).listed(),
            with_needs,
            without_needs: runs.len() - with_needs,
            best_effort: BestEffortShare::new(runs),
        }
    }

    /// Says what speaks against the table's numbers, to follow them in the same sentence; empty if nothing does.
    pub fn doubts_clause(&self) -> String {
        let on_hits = self.best_effort.as_ref().map(BestEffortShare::best_effort_clause);
        let (unknown, all) = (self.without_needs, self.with_needs + self.without_needs);
        let on_needs = (0 < unknown && unknown < all)
            .then(|| format!("for {unknown} of {all} scenarios, evidence cannot be measured"));
        let doubts = [self.bill_error_clause(), on_needs, on_hits].into_iter().flatten().listed();
        text_if_any(doubts.len(), |_| format!(", but {}", doubts.join(", and ")))
    }

    /// Says which bills are not reproduced.
    fn bill_error_clause(&self) -> Option<String> {
        let is_off = |error: &f64| error.abs() > BILL_ERROR_MAX;
        let off = self.sources.iter().filter_map(|it| Some((it, it.error.filter(is_off)?))).listed();
        let (_, error) = *off.iter().max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))?;
        let usd: f64 = off.iter().map(|it| it.0.billed_usd).sum();
        // What hardly counts in the total says nothing about it.
        if usd < BILL_ERROR_MAX * self.sources.iter().map(|it| it.billed_usd).sum::<f64>() {
            return None;
        }
        let side = if error < 0.0 { "below" } else { "above" };
        let most = if off.len() > 1 { "up to " } else { "" };
        let error = percent(error.abs());
        let passes = format!("a check passes within {:.0}%", BILL_ERROR_MAX * 100.0);
        let size = format!("input cost is predicted {most}{error} {side} the recorded bill ({passes})");
        if off.len() == self.sources.len() {
            return Some(size);
        }
        let n_off: usize = off.iter().map(|it| it.0.sessions).sum();
        let n_all = counted(self.sources.iter().map(|it| it.sessions).sum(), "session");
        let named = |(it, _): &(&BilledProfile, f64)| format!("{} of {}", it.sessions, it.profile);
        let names = match off.as_slice() {
            [(only, _)] => only.profile.clone(),
            off => listed(&off.iter().map(named).listed()),
        };
        Some(format!("it mixes bills of different quality: for {n_off} of {n_all} ({names}), {size}"))
    }
}
