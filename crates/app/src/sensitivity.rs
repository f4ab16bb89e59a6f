//! A plan priced under many profiles: each distinct pair of cache rules and limits is simulated once.

use super::as_unstoppable_watch;
use super::entry::check_same_work;
use super::watch::PlanWatcher;
use crate::prelude::*;
use ctxsim_base::quantity::saturated;
use ctxsim_engine::measure::BreakEven;
use ctxsim_engine::measure::sensitivity::{CellSum, ComparedProfile, Sensitivity, SensitivityGrid};
use ctxsim_engine::take::{FailedRun, Sinks};
use ctxsim_input::profile::Counting;
use ctxsim_input::profile::price::VariedRate;
use ctxsim_report::ALL;

/// A load as it came out under the profiles.
#[derive(Default)]
struct PricedLoad {
    name: String,
    /// By profile, then by policy.
    cells: Vec<Vec<CellSum>>,
    n_distinct: usize,
    n_played: usize,
    failed: Vec<FailedRun>,
    /// By profile.
    counting: Vec<Option<Counting>>,
    /// The profile of the model that answered it.
    own: Option<usize>,
}

/// The sum of loads, which are added in their order; of each, only its table is kept.
#[derive(Default)]
struct PricedSum {
    /// By profile, then by policy.
    cells: Vec<Vec<CellSum>>,
    n_distinct: usize,
    n_played: usize,
    failed: Vec<FailedRun>,
    /// By profile: how its models count the loads, each way once.
    counting: Vec<Vec<Counting>>,
    /// The profiles of the models that answered them, of each load one.
    own: Vec<usize>,
}

impl PricedSum {
    /// Adds a load, and returns its table.
    fn add_and_tabulate_load(&mut self, load: PricedLoad) -> SensitivityGrid {
        let PricedLoad { name, cells, n_distinct, n_played, failed, counting, own } = load;
        self.cells.resize_with(self.cells.len().max(cells.len()), Vec::new);
        for (own, more) in self.cells.iter_mut().zip(&cells) {
            let n_known = own.len();
            own.iter_mut().zip(more).for_each(|(own, more)| own.add(more));
            own.extend(more.iter().skip(n_known).cloned());
        }
        self.n_distinct = self.n_distinct.max(n_distinct);
        self.n_played += n_played;
        self.failed.extend(failed);
        self.own.extend(own);
        self.counting.resize_with(self.counting.len().max(counting.len()), Vec::new);
        for (known, one) in self.counting.iter_mut().zip(counting) {
            known.extend(one.filter(|it| !known.contains(it)));
        }
        SensitivityGrid::new(name, &cells)
    }
}

impl Plan {
    /// Runs everything and compares the policies across the plan's profiles, whatever model a session was
    /// recorded with.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn sensitivity_to_profiles(
        &self,
        threads: Option<usize>,
        progress: Progress<'_>,
    ) -> Result<Sensitivity> {
        let open = |entry: &ReadyLoad| self.open(&ReadyLoad { under_own_model: false, ..entry.clone() });
        let one = |load: &Load, it: Progress<'_>| play_and_price(load, self.policies.len(), it);
        let mut sum = PricedSum::default();
        let settle = |it: Result<PricedLoad>| it.map(|it| sum.add_and_tabulate_load(it));
        let watch = as_unstoppable_watch(progress);
        let (loads, skipped) =
            self.map_loads_watched(threads, &PlanWatcher::new(&watch), open, one, settle)?;
        let each = loads.into_iter().collect::<Result<Vec<_>>>()?;
        if !sum.failed.is_empty() {
            return Err(Error::Run(Box::new(FailedRuns(sum.failed))));
        }
        let all = (each.len() > 1).then(|| SensitivityGrid::new(ALL.to_owned(), &sum.cells));
        let counting = |nth: usize| sum.counting.get(nth).cloned().unwrap_or_default();
        let n_own = |profile: &usize| sum.own.iter().filter(|own| *own == profile).count();
        Ok(Sensitivity {
            policies: self.policies.clone(),
            profiles: (0..self.profiles.len()).map(|it| self.compared_profile(it, counting(it))).listed(),
            grids: all.into_iter().chain(each).listed(),
            n_distinct: sum.n_distinct,
            n_simulations: sum.n_played,
            asked: self.break_even,
            own: distinct(sum.own.iter().copied()).into_iter().max_by_key(n_own),
            skipped: SkippedFile::note(&skipped),
        })
    }

    fn compared_profile(&self, nth: usize, counting: Vec<Counting>) -> ComparedProfile {
        let profile = &self.profiles[nth];
        ComparedProfile {
            counting,
            name: profile.name.clone(),
            as_of: profile.as_of.clone(),
            break_even: BreakEven::new(profile, self.break_even.as_ref()),
            ratios: VariedRate::ALL.map(|part| profile.prices.usual().ratio_to_input(part)),
        }
    }
}

/// Plays it as `run` does, and tells what is paid at each rate.
fn play_and_price(load: &Load, n_plan_policies: usize, progress: Progress<'_>) -> Result<PricedLoad> {
    check_same_work(load, &(0..load.policies.len()).listed())?;
    if load.policies.len() < n_plan_policies {
        let message = format!("{} is a block trace, which no policy changes", load.name);
        return Err(Error::refused(Code("policy-unread"), message, "add `--policy identity`"));
    }
    if load.turns_ratio.is_some() {
        let message = "a comparison of price lists takes as many turns as the load has";
        let problem = Diagnostic::at(Code("turns-ratio-range"), "scenario.turns_ratio", message);
        return Err(problem.help("leave it out, and declare it in a run").into());
    }
    let load = load.clone().telling_rates();
    let n_distinct = load.n_distinct();
    let model = load.timeline().and_then(|it| it.main_model());
    let fit = |(nth, profile): (usize, &Profile)| Some((profile.fits(&model?.name)?, nth));
    let fits = load.profiles.iter().enumerate().filter_map(fit).max();
    let mut priced = PricedLoad {
        name: load.name.clone(),
        n_played: n_distinct * n_plan_policies * saturated::<usize>(load.trials),
        cells: vec![Vec::with_capacity(n_plan_policies); load.profiles.len()],
        n_distinct,
        counting: (0..load.profiles.len()).map(|it| load.counting(it)).listed(),
        own: fits.map(|it| it.1),
        ..PricedLoad::default()
    };
    for take in load.takes(&Sinks { bare: true, ..Sinks::default() }, progress).takes {
        let run = take.run;
        priced.failed.extend(run.tally.outcome.fault.as_ref().map(|it| load.failed(take.cell, it)));
        let remembered = run.remembered().next();
        priced.cells[take.cell.profile].push(CellSum { tally: run.tally, remembered });
    }
    Ok(priced)
}
