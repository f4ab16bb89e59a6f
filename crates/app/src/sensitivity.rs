//! A plan priced under many profiles: each distinct pair of cache rules and limits is simulated once.

use super::as_unstoppable_watch;
use super::entry::check_same_work;
use super::watch::PlanWatcher;
use crate::prelude::*;
use ctxsim_base::quantity::saturated;
use ctxsim_engine::measure::BreakEven;
use ctxsim_engine::measure::sensitivity::{
    AnsweredGroup, CellSum, ComparedProfile, Sensitivity, SensitivityGrid,
};
use ctxsim_engine::take::{FailedRun, Sinks};
use ctxsim_input::profile::Counting;
use ctxsim_input::profile::price::VariedRate;
use ctxsim_report::ALL;

/// By profile, then by policy.
type Cells = Vec<Vec<CellSum>>;

/// A load as it came out under the profiles.
#[derive(Default)]
struct PricedLoad {
    name: String,
    /// The agent whose settings it was played under; empty where it was not.
    agent: String,
    cells: Cells,
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
    by_agent: IndexMap<String, AgentSum>,
    n_distinct: usize,
    n_played: usize,
    failed: Vec<FailedRun>,
    /// By profile: how its models count the loads, each way once.
    counting: Vec<Vec<Counting>>,
}

/// The sum of the loads of an agent.
#[derive(Default)]
struct AgentSum {
    cells: Cells,
    n_loads: usize,
    /// The profiles of the models that answered them, of each load one.
    own: Vec<usize>,
}

/// Adds cells to others.
fn add_cells(sum: &mut Cells, cells: &Cells) {
    sum.resize_with(sum.len().max(cells.len()), Vec::new);
    for (own, more) in sum.iter_mut().zip(cells) {
        let n_known = own.len();
        own.iter_mut().zip(more).for_each(|(own, more)| own.add(more));
        own.extend(more.iter().skip(n_known).cloned());
    }
}

impl PricedSum {
    /// Adds a load, and returns its table.
    fn add_and_tabulate_load(&mut self, load: PricedLoad) -> SensitivityGrid {
        let PricedLoad { name, agent, cells, n_distinct, n_played, failed, counting, own } = load;
        let sum = self.by_agent.entry(agent).or_default();
        add_cells(&mut sum.cells, &cells);
        sum.n_loads += 1;
        sum.own.extend(own);
        self.n_distinct = self.n_distinct.max(n_distinct);
        self.n_played += n_played;
        self.failed.extend(failed);
        self.counting.resize_with(self.counting.len().max(counting.len()), Vec::new);
        for (known, one) in self.counting.iter_mut().zip(counting) {
            known.extend(one.filter(|it| !known.contains(it)));
        }
        SensitivityGrid::new(name, &cells)
    }
}

impl AgentSum {
    /// Returns whether a policy does something else than the first under any profile.
    fn changes_anything(&self, policy: usize) -> bool {
        let numbers = |cell: &CellSum| (cell.tally.costs, cell.tally.sums);
        self.cells.iter().any(|row| numbers(&row[policy]) != numbers(&row[0]))
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
        // Settings of an agent change nothing in the sessions of others.
        let settings = self.settings.iter().flat_map(|it| it.policies()).map(|it| it.name.clone());
        let policies: Vec<String> = distinct(self.policies.iter().cloned().chain(settings));
        let one = |load: &Load, it: Progress<'_>| {
            let agent = self.settings.as_ref().and_then(|it| it.agent_name(load)).unwrap_or_default();
            let priced = play_and_price(&self.under_settings(load), &policies, it)?;
            Ok(PricedLoad { agent: agent.to_owned(), ..priced })
        };
        let mut sum = PricedSum::default();
        let settle = |it: Result<PricedLoad>| it.map(|it| sum.add_and_tabulate_load(it));
        let watch = as_unstoppable_watch(progress);
        let (loads, skipped) =
            self.map_loads_watched(threads, &PlanWatcher::new(&watch), open, one, settle)?;
        let each = loads.into_iter().collect::<Result<Vec<_>>>()?;
        if !sum.failed.is_empty() {
            return Err(Error::Run(Box::new(FailedRuns(sum.failed))));
        }
        // Settings that change nothing in these sessions are left out.
        let is_told =
            |it: &AgentSum, nth: usize| self.settings.is_none() || nth == 0 || it.changes_anything(nth);
        let sums = || sum.by_agent.values();
        let told = (0..policies.len()).filter(|nth| sums().any(|it| is_told(it, *nth))).listed();
        let mut whole = Cells::new();
        sums().for_each(|it| add_cells(&mut whole, &it.cells));
        let all = (each.len() > 1).then(|| SensitivityGrid::new(ALL.to_owned(), &whole));
        let group = |(agent, sum): (&String, &AgentSum)| {
            let n_own = |profile: &usize| sum.own.iter().filter(|own| *own == profile).count();
            let title = match (sum.n_loads, each.first()) {
                (1, Some(only)) if each.len() == 1 => only.load.clone(),
                (n, _) if n == each.len() && agent.is_empty() => format!("all {n} scenarios"),
                (n, _) if agent.is_empty() => counted(n, "other scenario"),
                (n, _) => format!("{} of {agent}", counted(n, "session")),
            };
            let own = (0..told.len()).filter(|it| is_told(sum, told[*it])).listed();
            let places = own.iter().map(|it| told[*it]).listed();
            AnsweredGroup {
                title,
                grid: SensitivityGrid::new(String::new(), &sum.cells).of_policies(&places),
                policies: own,
                own: distinct(sum.own.iter().copied()).into_iter().max_by_key(n_own),
            }
        };
        let counting = |nth: usize| sum.counting.get(nth).cloned().unwrap_or_default();
        Ok(Sensitivity {
            policies: told.iter().map(|it| policies[*it].clone()).listed(),
            profiles: (0..self.profiles.len()).map(|it| self.compared_profile(it, counting(it))).listed(),
            groups: sum.by_agent.iter().map(group).listed(),
            grids: all.into_iter().chain(each).map(|it| it.of_policies(&told)).listed(),
            n_distinct: sum.n_distinct,
            n_simulations: sum.n_played,
            asked: self.break_even,
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

/// Plays it as `run` does, and tells what is paid at each rate; under policies that are not its own, as under the first.
fn play_and_price(load: &Load, policies: &[String], progress: Progress<'_>) -> Result<PricedLoad> {
    check_same_work(load, &(0..load.policies.len()).listed())?;
    if load.policies.len() < policies.len().min(2) {
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
        n_played: n_distinct * load.policies.len() * saturated::<usize>(load.trials),
        n_distinct,
        counting: (0..load.profiles.len()).map(|it| load.counting(it)).listed(),
        own: fits.map(|it| it.1),
        ..PricedLoad::default()
    };
    let mut own = vec![Vec::with_capacity(load.policies.len()); load.profiles.len()];
    for take in load.takes(&Sinks { bare: true, ..Sinks::default() }, progress).takes {
        let run = take.run;
        priced.failed.extend(run.tally.outcome.fault.as_ref().map(|it| load.failed(take.cell, it)));
        let remembered = run.remembered().next();
        own[take.cell.profile].push(CellSum { tally: run.tally, remembered });
    }
    let place = |name: &String| load.policies.iter().position(|it| it.name == *name).unwrap_or_default();
    let places = policies.iter().map(place).listed();
    priced.cells = own.iter().map(|row| places.iter().map(|it| row[*it].clone()).listed()).listed();
    Ok(priced)
}
