//! A scenario ready to run: what it plays, under which policies and profiles.

use crate::prelude::*;
use std::any::Any;
use std::cell::RefCell;

use serde_json::{Map, Value};

use super::lives::Layouts;
use super::run::LoadFacts;
use super::world::{Plays, World};
use super::{Cell, FailedRun, FailedRuns, Progress, Sinks, Take};
use crate::ledger::RequestSums;
use crate::measure::waiting::Waited;
use crate::price::{Bill, Costs, Models, PriceRows, RequestCost, StepPrices, WithoutRates, by_request};
use crate::projection::{Known, Num};
use ctxsim_base::error::Error;
use ctxsim_input::policy::Duration;
use ctxsim_input::profile::cache::{Setting, TtlClass, first_few};
use ctxsim_input::profile::{Factor, Family, ImageRule};
use ctxsim_input::{Apply, Builtin, Counting, End, RecoveryPrice, Refetch};

/// A scenario ready to run.
#[derive(Clone, Debug)]
pub struct Load {
    pub name: String,
    pub seed: u64,
    /// Whether its needs are sampled, so that fetches enter the history.
    pub is_sampled: bool,
    /// The number of trials per load; 1 if nothing is drawn.
    pub trials: u64,
    /// What it plays.
    pub world: Arc<dyn World>,
    /// Its session without some of its compactions, as its runs ask for it.
    pub layouts: Arc<Layouts>,
    /// The policies with their parameters for this scenario.
    pub policies: Vec<Arc<Policy>>,
    /// The profiles that it runs under.
    pub profiles: Vec<Profile>,
    /// For a session answered by several models, under its own: the profiles of all of them, by
    /// [`Setting::Model`].
    ///
    /// [`Setting::Model`]: ctxsim_input::profile::cache::Setting::Model
    pub models: Vec<Profile>,
    /// Whether that is the profile of the model that it was recorded with.
    pub is_under_own_model: bool,
    /// By profile: how its models count the load, if not as it was recorded.
    pub counts: Vec<Option<Arc<CountedLoad>>>,
    /// By profile: the same without each of its rates, where what is paid at each is asked.
    pub without: Arc<[WithoutRates]>,
    /// Its arguments on the command line of `explain`.
    pub arguments: String,
    /// The folder of its recording; empty if not recorded.
    pub project: String,
    /// Whether another recording holds the same session with more detail.
    pub is_twin: bool,
    /// The turns of the session as recorded, if this is one without some of its compactions.
    pub turns: Option<u32>,
    /// How many times the turns an agent takes under a policy that edits its prompts; `None` for as many.
    pub turns_ratio: Option<f64>,
    /// The same under other assumptions about its recording, where these were asked for.
    pub under: Vec<Load>,
}

impl Load {
    /// Begins a load with nothing drawn and no profiles.
    pub fn new(world: Arc<dyn World>, seed: u64, policies: Vec<Arc<Policy>>) -> Self {
        Self {
            name: world.name().to_owned(),
            seed,
            is_sampled: false,
            trials: 1,
            world,
            layouts: Arc::default(),
            policies,
            profiles: Vec::new(),
            models: Vec::new(),
            is_under_own_model: false,
            counts: Vec::new(),
            without: Arc::default(),
            arguments: String::new(),
            project: String::new(),
            is_twin: false,
            turns: None,
            turns_ratio: None,
            under: Vec::new(),
        }
    }

    /// Has its runs tell what is paid at each rate of its profiles.
    pub fn telling_rates(self) -> Self {
        Self { without: self.profiles.iter().map(WithoutRates::new).collect(), ..self }
    }

    /// Returns at whose prices a run is billed.
    pub fn models_of(&self, cell: Cell) -> Models<'_> {
        let summariser = self.policies[cell.policy].summariser();
        let without = self.without.get(cell.profile);
        Models { without, ..Models::new(&self.profiles[cell.profile], summariser) }
    }

    /// Returns the number of distinct pairs of cache rules and limits among its profiles.
    pub fn n_distinct(&self) -> usize {
        Keys::of_load(self).distinct.len()
    }

    /// Returns the timeline that the engine plays, if it plays one.
    pub fn timeline(&self) -> Option<&Arc<Timeline>> {
        if let Plays::Items(timeline) = self.world.plays() { Some(timeline) } else { None }
    }

    /// Returns what it plays as a world of some type, if it is one.
    pub fn world<W: World>(&self) -> Option<&W> {
        (&*self.world as &dyn Any).downcast_ref()
    }

    /// Returns whether anything in it needs anything.
    pub fn has_needs(&self) -> bool {
        self.timeline().is_some_and(|it| !it.needs.is_empty())
    }

    /// Returns the share of recovery calls that share a request with others; none where a profile prices calls by themselves.
    pub(super) fn shared_calls(&self, profile: usize) -> f64 {
        let is_priced = self.profiles[profile].assumptions.recovery == RecoveryPrice::Requests;
        let terms = self.timeline_under(profile).filter(|_| is_priced).map(|it| it.refetch.terms(End::Value));
        terms.map_or(0.0, |it| 1.0 - it.own_request)
    }

    /// Notes what it asks of its profiles that they do not have, with what is done instead: changed settings as a scenario writes them,
    /// lifetimes as another model's harness asks for them, images.
    pub fn unmet(&self) -> Vec<String> {
        let Some(timeline) = self.timeline().filter(|_| !self.is_under_own_model) else { return Vec::new() };
        let changed = timeline.events.iter().filter(|_| timeline.recorded.is_none());
        let changed: IndexSet<Setting> = changed
            .filter_map(|it| if let EventKind::Change(setting, _) = it.kind { Some(setting) } else { None })
            .collect();
        let marks = timeline.recorded.iter().flat_map(|it| it.marks.iter().flat_map(|it| it.iter()));
        let asks_for_hours =
            marks.map(|it| it.ttl).chain(timeline.harness.ttl).any(|it| it == TtlClass::Long);
        let mut found: IndexMap<[String; 2], Vec<&str>> = IndexMap::new();
        for profile in &self.profiles {
            let mut asks: Vec<[String; 2]> =
                changed.iter().filter_map(|it| profile.cache.unmet_change(*it)).collect();
            let life_ms = profile.cache.life_ms(TtlClass::Long).filter(|_| asks_for_hours);
            if let Some(life_ms) = life_ms.filter(|it| *it < TtlClass::Long.usual_ms()) {
                let asked =
                    "the recorded requests ask for cache entries of an hour, and there are none under";
                asks.push([asked.to_owned(), format!(": they live {}", Duration(life_ms))]);
            }
            if !timeline.images.items.is_empty() && profile.images.is_of_others() {
                let asked = "no rule for the tokens of an image is known under".to_owned();
                asks.push([asked, format!(": that of {} counts", profile.images.about)]);
            }
            asks.dedup();
            asks.into_iter().for_each(|it| found.entry(it).or_default().push(&profile.name));
        }
        let told = found.into_iter();
        told.map(|([asks, instead], names)| format!("{}: {asks} {}{instead}.", self.name, first_few(&names)))
            .collect()
    }

    /// Returns its runs in the order of a report: by profile, then by policy.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let n_policies = self.policies.len();
        (0..self.profiles.len())
            .flat_map(move |profile| (0..n_policies).map(move |policy| Cell { scenario: 0, profile, policy }))
    }

    /// Returns whether a policy is written to a memory service.
    pub fn is_written_by(&self, policy: &Policy) -> bool {
        self.world.kind().is_written_by(policy)
    }

    /// Returns the runs whose policies are not written to a service.
    pub fn own_cells(&self) -> impl Iterator<Item = Cell> {
        self.cells().filter(|it| !self.is_written_by(&self.policies[it.policy]))
    }

    /// Plays it under all of its policies: those of a memory service as this is told the facts, and the others as the world does.
    pub(super) fn takes_as_laid_out(&self, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        let n_policies = self.policies.len();
        let (written, others): (Vec<usize>, Vec<usize>) =
            (0..n_policies).partition(|it| self.is_written_by(&self.policies[*it]));
        let Some(service) = self.service() else { return self.world.play(self, sinks, progress) };
        if others.is_empty() {
            return service.play(self, sinks, progress);
        }
        let place = |made: Vec<Take>, of: &[usize]| -> Vec<Take> {
            let own = |it: Take| Take { cell: Cell { policy: of[it.cell.policy], ..it.cell }, ..it };
            made.into_iter().map(own).collect()
        };
        let mut all = place(service.play(&self.under(&written), sinks, progress), &written);
        all.extend(place(self.world.play(&self.under(&others), sinks, progress), &others));
        all.sort_by_key(|it| (it.cell.profile, it.cell.policy));
        all
    }

    /// Returns the world that tells a memory service its facts, if any policy is written to one.
    pub fn service(&self) -> Option<Arc<dyn World>> {
        let is_written = self.policies.iter().any(|it| self.is_written_by(it));
        Arc::clone(&self.world).service(self.seed).filter(|_| is_written)
    }

    /// Returns it under some of its policies.
    pub(super) fn under(&self, policies: &[usize]) -> Self {
        let policies = policies.iter().map(|it| Arc::clone(&self.policies[*it])).collect();
        Self { policies, ..self.clone() }
    }

    /// Returns what a report says of it under a profile.
    pub fn facts(&self, profile: usize) -> LoadFacts<'_> {
        let timeline = self.timeline_under(profile);
        LoadFacts {
            name: &self.name,
            has_needs: self.has_needs(),
            is_recorded: timeline.is_some_and(|it| it.recorded.is_some()),
            premises: self.world.premises(),
            drawn_from: self.is_sampled.then_some(self.seed),
            trials: self.trials,
            refetch: timeline.map_or_else(Refetch::default, |it| it.refetch),
            counting: self.counting(profile),
            assumptions: self.world.assumptions(),
        }
    }
}

// What the profiles of a load ask of its simulations, each thing once.

/// What a simulation asks of a profile.
pub struct SimulationKey<'a> {
    pub limits: &'a Limits,
    /// Its cache rules.
    pub cache: &'a CacheRules,
    /// Whether it prices every recovery call alike.
    pub(super) recovery: RecoveryPrice,
    /// The load as its models count it, if not as it was recorded.
    pub(super) counted: Option<&'a CountedLoad>,
    /// Whether sums are enough for the prices of all such profiles.
    pub(super) is_flat: bool,
    /// The first such profile; of some policies the prices decide what they do, and then it is the only one.
    pub profile: &'a Profile,
}

/// What the profiles of a load ask of its simulations.
pub struct Keys<'a> {
    /// By profile: which of the distinct pairs it has.
    of_profile: Vec<usize>,
    /// The distinct pairs of limits and cache rules.
    pub distinct: Vec<SimulationKey<'a>>,
    /// Whether sums are enough for all prices.
    pub is_flat: bool,
    n_policies: usize,
}

impl<'a> Keys<'a> {
    /// Collects what the profiles ask of the simulations of some policies, each thing once.
    pub fn new(profiles: &'a [Profile], policies: &[Arc<Policy>]) -> Self {
        Self::counted(profiles, policies, |_| None)
    }

    /// The same for a load, in the tokens that each profile's models count.
    pub(super) fn of_load(load: &'a Load) -> Self {
        Self::counted(&load.profiles, &load.policies, |nth| load.counted_under(nth))
    }

    fn counted(
        profiles: &'a [Profile],
        policies: &[Arc<Policy>],
        counted: impl Fn(usize) -> Option<&'a CountedLoad>,
    ) -> Self {
        let asks_prices = policies.iter().any(|it| it.code == Some(Builtin::Hindsight));
        let is_flat = |it: &Profile| it.prices.flat().is_some();
        let are_flat = policies.iter().filter_map(|it| it.summariser()).all(is_flat);
        let mut found = IndexSet::new();
        let mut distinct: Vec<SimulationKey<'a>> = Vec::new();
        let mut place = |(nth, profile): (usize, &'a Profile)| {
            let Profile { limits, cache, assumptions, .. } = profile;
            let counted = counted(nth);
            let family = counted.map(CountedLoad::key);
            let own = (limits, cache, assumptions.recovery, family, asks_prices.then_some(nth));
            let (place, is_new) = found.insert_full(own);
            if is_new {
                distinct.push(SimulationKey {
                    limits,
                    cache,
                    recovery: assumptions.recovery,
                    counted,
                    is_flat: are_flat,
                    profile,
                });
            }
            distinct[place].is_flat &= is_flat(profile);
            place
        };
        let of_profile = profiles.iter().enumerate().map(&mut place).collect();
        let is_flat = distinct.iter().all(|it| it.is_flat) && are_flat;
        Self { of_profile, distinct, is_flat, n_policies: policies.len() }
    }

    /// Returns which of the runs a run is, those of equal limits and cache rules being one.
    pub fn within(&self, cell: Cell) -> usize {
        self.of_profile[cell.profile] * self.n_policies + cell.policy
    }
}

// The settings that make real agents behave like a policy, with the numbers of the run.

impl Load {
    /// Returns the setting of a run's policy, if it has one and all its numbers are known.
    pub(super) fn applied(&self, cell: Cell) -> Option<Arc<Apply>> {
        let policy = &self.policies[cell.policy];
        let apply = policy.apply.as_ref()?;
        let known = Known::new(self.timeline_under(cell.profile)?, self.profiles[cell.profile].limits);
        let limits = [("limit", Size::Limit), ("window", Size::Window), ("output_limit", Size::OutputLimit)];
        let limits = limits.map(|(name, size)| (name.to_owned(), size));
        let params = policy.params.iter().map(|(name, size)| (name.clone(), size.clone()));
        let numbers: Map<String, Value> = limits
            .into_iter()
            .chain(params)
            .filter_map(|(name, it)| Some((name, number(&it, &known)?)))
            .collect();
        apply.filled(numbers).map(Arc::new)
    }
}

/// Returns what a setting says for a size, in the unit in which it is given.
fn number(size: &Size, known: &Known) -> Option<Value> {
    match size {
        Size::Ratio(share) => share.to_string().parse::<f64>().ok().map(Value::from),
        Size::Chars(count) => Some(Value::from(*count)),
        other => Num::known(other, known).map(Value::from),
    }
}

// The requests of a run with what each of them costs.

impl Load {
    /// Plays it and keeps the rows of its first trial, with what they cost; conversations have none, and those of a run that failed say so.
    pub fn priced_rows(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>, Vec<RequestCost>)> {
        if matches!(self.world.plays(), Plays::Trials) {
            return Vec::new();
        }
        let takes = self.takes(&Sinks { rows: true, ..Sinks::default() }, progress).takes;
        let priced =
            takes.iter().map(|it| Some((it.cell, Arc::clone(it.rows.as_ref()?), self.costs_by_request(it)?)));
        priced.flatten().collect()
    }

    /// Prices the rows of a run, if it has any: they add up to its total, or to that of its first trial where needs are drawn several times.
    pub fn costs_by_request(&self, take: &Take) -> Option<Vec<RequestCost>> {
        let rows = take.rows.as_deref()?;
        let models: Models<'_> = self.models_of(take.cell);
        let others = take.timeline.as_deref().and_then(|it| self.other_models_in(it));
        let model = |row: &RequestRow| {
            let other = others.as_ref().filter(|_| row.role == Role::Main);
            other.and_then(|it| it.of(self, row.step)).unwrap_or_else(|| models.of(row.role))
        };
        if self.trials > 1 {
            return Some(self.costs_of_trial(take.cell, rows, 0));
        }
        Some(by_request(rows, models.session, model, &take.run.tally.costs))
    }

    /// Prices the rows of one trial of a run, whose requests exceeded so many limits.
    pub fn costs_of_trial(&self, cell: Cell, rows: &Rows, limit_violations: u32) -> Vec<RequestCost> {
        let models: Models<'_> = self.models_of(cell);
        let mut sink: (Sums, PriceRows) = Default::default();
        rows.tell(&mut sink);
        let (sums, prices) = sink;
        let whole = Costs::new(&sums, Some(&prices.into()), limit_violations, models);
        by_request(rows, models.session, |row| models.of(row.role), &whole)
    }
}

// A load played into sinks that the caller makes, row by row.

impl Load {
    /// Plays it into a sink for each run; loads without requests of their own have none.
    ///
    /// # Errors
    /// The runs that failed.
    pub fn stream<S: Sink + Send>(&self, sink: impl Fn(Cell) -> S + Sync) -> Result<Vec<(Cell, S)>, Error> {
        if self.timeline().is_none() {
            return Ok(Vec::new());
        }
        let failed = RefCell::new(Vec::new());
        let all = self.lives().each(&|load: &Load, policies: &[usize]| {
            let of_load = |cell: Cell| Cell { policy: policies[cell.policy], ..cell };
            let (all, faults) = load.streamed(|cell| sink(of_load(cell)));
            failed.borrow_mut().extend(faults);
            all
        });
        let failed = failed.into_inner();
        if failed.is_empty() { Ok(all) } else { Err(Error::Run(Box::new(FailedRuns(failed)))) }
    }

    /// The same as it is laid out, with the runs that failed.
    fn streamed<S: Sink + Send>(&self, sink: impl Fn(Cell) -> S + Sync) -> (Vec<(Cell, S)>, Vec<FailedRun>) {
        let cells: Vec<Cell> = self.own_cells().collect();
        // Runs that share a simulation receive the same rows.
        let sinks = |cells: &[Cell]| cells.iter().copied().map(&sink).collect::<Vec<S>>();
        let played = self.simulations().run_into(&cells, sinks);
        let failed = played.iter().flat_map(|(cells, _, outcome)| {
            let fault = outcome.fault.as_deref();
            cells.iter().filter_map(move |it| Some((it, fault?)))
        });
        let failed: Vec<FailedRun> = failed.map(|(cell, fault)| self.failed(*cell, fault)).collect();
        let mut all: Vec<(Cell, S)> =
            played.into_iter().flat_map(|(cells, sinks, _)| cells.into_iter().zip(sinks)).collect();
        all.sort_by_key(|(cell, _)| cells.iter().position(|it| it == cell));
        (all, failed)
    }
}

// Requests answered by another model than most of their session: each is billed at its own model's prices.

/// Which model answered which request of a load, by step: a place among the models of the load.
pub(super) struct OtherModels(Vec<usize>);

impl Load {
    /// Finds which models answered; `None` if there is only one, or if needs are sampled several times.
    pub(super) fn other_models(&self) -> Option<OtherModels> {
        self.other_models_in(self.timeline()?)
    }

    /// The same of a layout of it.
    pub(super) fn other_models_in(&self, timeline: &Timeline) -> Option<OtherModels> {
        (self.models.len() > 1 && self.trials == 1).then(|| OtherModels(models(timeline)))
    }
}

impl Load {
    /// Returns the prices at which the requests of its session were billed under one of its profiles: each of its own model.
    pub fn step_prices<'l>(&'l self, timeline: &Timeline, profile: &'l Profile) -> StepPrices<'l> {
        let others = if self.models.len() > 1 { models(timeline) } else { Vec::new() };
        let own = |model: usize| self.models.get(model).unwrap_or(profile);
        StepPrices::new(&profile.prices, others.into_iter().map(|it| &own(it).prices).collect())
    }
}

impl OtherModels {
    /// Returns the model that answered a step.
    pub(super) fn of<'l>(&self, load: &'l Load, step: StepIx) -> Option<&'l Profile> {
        load.models.get(*self.0.get(step as usize)?)
    }

    /// Bills the agent's requests of a run, each at its own model's prices, and says how long they take.
    pub(super) fn bill(&self, load: &Load, cell: Cell, rows: &Rows) -> (Bill, Waited) {
        let mut bill = Bill::default();
        let mut sums: BTreeMap<Option<usize>, RequestSums> = BTreeMap::new();
        for row in rows.requests.iter().filter(|it| it.role == Role::Main) {
            let profile = self.of(load, row.step).unwrap_or(&load.profiles[cell.profile]);
            bill += Bill::of_request(profile.prices.at(row.at_ms), &row.tokens());
            let of_model = sums.entry(self.0.get(row.step as usize).copied()).or_default();
            of_model.n += 1;
            of_model.tokens += row.tokens();
        }
        let mut waited = Waited::default();
        for (model, sums) in &sums {
            let profile = model.and_then(|it| load.models.get(it)).unwrap_or(&load.profiles[cell.profile]);
            waited += Waited::expected(profile.waiting, sums);
        }
        (bill, waited)
    }
}

/// Returns by step which model answered.
fn models(timeline: &Timeline) -> Vec<usize> {
    let mut models = vec![0; timeline.spine.steps.len()];
    for event in &timeline.events {
        if let EventKind::Change(Setting::Model, model) = event.kind {
            let from = StepIx::min(timeline.spine.step_at(event.at), models.len() as StepIx) as usize;
            models[from..].fill(model as usize);
        }
    }
    models
}

// A recorded load in the tokens of the models that it is priced for, where these count differently.

/// A load as other models count its tokens.
#[derive(Clone, Debug)]
pub struct CountedLoad {
    /// The family whose tokens those of its texts are, where it is another than that of the recording.
    pub to: Option<&'static Family>,
    /// How many of these stand for one of those.
    pub factor: Factor,
    /// The rule by which its images are counted.
    images: &'static ImageRule,
    /// The load in them.
    pub timeline: Arc<Timeline>,
}

impl CountedLoad {
    /// Counts a layout of the load as this one.
    pub(super) fn count(&self, layout: &Timeline) -> Timeline {
        layout.recounted(self.factor, self.images)
    }

    /// Returns the ends of a cost's interval as shares of the cost, where texts are counted anew.
    pub fn shares(&self) -> Option<[f64; 2]> {
        self.to.map(|_| self.factor.shares())
    }

    /// Returns what tells it from the load as others count it.
    pub(super) fn key(&self) -> [&'static str; 2] {
        [self.to.map_or("", |it| &it.name), &self.images.name]
    }
}

impl Load {
    /// Has each profile's models count its tokens: those of texts, if somebody's models counted those that were recorded, and those of images.
    pub fn counted(mut self) -> Self {
        let Some(timeline) = self.timeline().filter(|_| !self.is_under_own_model) else { return self };
        let (from, images) = (timeline.counted_by(), &timeline.images);
        let mut all: Vec<Option<Arc<CountedLoad>>> = Vec::with_capacity(self.profiles.len());
        for profile in &self.profiles {
            let to = from.zip(profile.family).filter(|(from, to)| from.name != to.name);
            let counts_images =
                !images.items.is_empty() && images.rule.is_some_and(|it| it.name != profile.images.name);
            if to.is_none() && !counts_images {
                all.push(None);
                continue;
            }
            let mut counted = CountedLoad {
                to: to.map(|it| it.1),
                factor: to.map_or(Factor::ONE, |(from, to)| from.factor_to(to)),
                images: if images.items.is_empty() {
                    images.rule.unwrap_or(profile.images)
                } else {
                    profile.images
                },
                timeline: Arc::clone(timeline),
            };
            let known = all.iter().flatten().find(|it| it.key() == counted.key()).cloned();
            all.push(Some(known.unwrap_or_else(|| {
                counted.timeline = Arc::new(counted.count(timeline));
                Arc::new(counted)
            })));
        }
        self.counts = all;
        self
    }

    /// Returns how the models of a profile count it, if not as it was recorded.
    pub fn counted_under(&self, profile: usize) -> Option<&CountedLoad> {
        self.counts.get(profile)?.as_deref()
    }

    /// Returns how the models of a profile count a load that was recorded as billed.
    pub fn counting(&self, profile: usize) -> Option<Counting> {
        if let Some(counted) = self.counted_under(profile).filter(|it| it.to.is_some()) {
            return Some(Counting::Anew(counted.factor));
        }
        let (timeline, profile) = (self.timeline()?, self.profiles.get(profile)?);
        let model = timeline.main_model().filter(|_| timeline.recorded.is_some());
        let is_own = self.is_under_own_model || model.is_some_and(|it| profile.fits(&it.name).is_some());
        match (is_own, timeline.counted_by(), profile.family) {
            (true, ..) => Some(Counting::AsRecorded),
            // Sizes that nobody counted follow characters, and are estimates under any profile.
            (false, None, _) => model.map(|_| Counting::Unknown),
            (false, Some(_), None) => Some(Counting::Unknown),
            (false, Some(_), Some(_)) => Some(Counting::AsRecorded),
        }
    }

    /// Returns the timeline that the engine plays under a profile, if it plays one.
    pub fn timeline_under(&self, profile: usize) -> Option<&Arc<Timeline>> {
        self.counted_under(profile).map(|it| &it.timeline).or_else(|| self.timeline())
    }
}
