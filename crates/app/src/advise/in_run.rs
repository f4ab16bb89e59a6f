//! What a run plays on sessions of known agents where nobody names a policy: the settings that each agent's file lists, in the words of advice.

use crate::prelude::*;

use super::agents::Agent;
use super::in_force::SettingPolicies;
use super::play::log_data;
use ctxsim_input::policy::Builtin;

/// The settings that a run plays.
#[derive(Debug)]
pub(crate) struct RunSettings {
    /// Where the menus of advice come from.
    pub(crate) catalog: Catalog,
    agents: Vec<AgentInRun>,
}

/// An agent, and what is played of it.
#[derive(Debug)]
struct AgentInRun {
    agent: &'static Agent,
    /// In the agent's own sessions, and in those of sub-agents.
    by_lane: [Vec<Arc<Policy>>; 2],
}

impl RunSettings {
    /// Makes the policies of all settings.
    ///
    /// # Errors
    /// A setting's policy is broken, or its base is unknown.
    pub(crate) fn new(catalog: &Catalog) -> Result<Self> {
        let mut agents = Vec::new();
        for agent in Agent::all_by_file_name()?.values() {
            let policies = SettingPolicies { catalog, agent };
            let lane = |is_sub_agent| -> Result<Vec<_>> {
                agent.run.iter().map(|it| policies.named_policy(it, is_sub_agent)).collect()
            };
            agents.push(AgentInRun { agent, by_lane: [lane(false)?, lane(true)?] });
        }
        Ok(Self { catalog: catalog.clone(), agents })
    }

    fn agent_of_load(&self, load: &Load) -> Option<(&AgentInRun, bool)> {
        let seen = log_data(load)?;
        let found = self.agents.iter().find(|it| it.agent.matches_log(seen.format, &seen.model))?;
        Some((found, seen.is_of_agent))
    }

    /// Returns the name of the agent of a load.
    pub(crate) fn agent_name(&self, load: &Load) -> Option<&'static str> {
        self.agent_of_load(load).map(|it| it.0.agent.name.as_str())
    }

    /// Returns a load under the first policy, the settings of its agent and what knows the future; `None` where its agent has no settings.
    pub(crate) fn applied_to(&self, load: &Load) -> Option<Load> {
        let (found, is_sub_agent) = self.agent_of_load(load)?;
        let own = &found.by_lane[usize::from(is_sub_agent)];
        let looks_ahead = |it: &&Arc<Policy>| it.code.as_ref().is_some_and(Builtin::looks_ahead);
        let oracles = load.policies.iter().skip(1).filter(looks_ahead);
        let policies = load.policies.iter().take(1).chain(own).chain(oracles).cloned().listed();
        (!own.is_empty()).then(|| Load { policies, ..load.clone() })
    }

    /// Returns what each setting is called for a reader.
    pub(crate) fn titles(&self) -> impl Iterator<Item = (String, String)> {
        let pairs = self.agents.iter().flat_map(|it| it.agent.run.iter().map(|pair| (it.agent, pair)));
        pairs.filter_map(|(agent, pair)| {
            let (key, value) = pair.split_once('=')?;
            Some((pair.clone(), agent.setting(key)?.title_for_value(value)))
        })
    }

    /// Returns every policy that may be played.
    pub(crate) fn policies(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.agents.iter().flat_map(|it| it.by_lane.iter().flatten())
    }
}
