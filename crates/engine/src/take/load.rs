//! A scenario ready to run: what it plays, under which policies and profiles.

use std::any::Any;
use std::sync::Arc;

use super::counted::CountedLoad;
use super::lives::Layouts;
use super::run::LoadFacts;
use super::simulations::Keys;
use super::world::{Plays, World};
use super::{Cell, Progress, Sinks, Take};
use crate::price::{Models, WithoutRates};
use ctxsim_input::profile::written::RecoveryPrice;
use ctxsim_input::scenario::refetch::{End, Refetch};
use ctxsim_input::{Policy, Profile};
use ctxsim_timeline::Timeline;

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
    #[must_use]
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
        Keys::of(self).distinct.len()
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
