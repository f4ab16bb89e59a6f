//! What is tried of an agent: every value of every setting, and every combination of those that combine. It is fixed before any result.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::agents::{Agent, MaintainerWish, SettingPair};
use super::in_force::{SettingPolicies, SettingValues};
use super::play::{LogData, log_data};
use super::stated::{FileSettings, SettingsFile};
use super::{AdviceRequest, asked, unknown_agent_problems};
use crate::ListPrices;
use ctxsim_input::policy::PolicyFamily;

/// Pairs that are tried together, by their places in the menu.
pub(super) type MenuChoice = Vec<usize>;

/// What is tried of one agent.
pub(super) struct SettingMenu<'c> {
    pub(super) agent: &'static Agent,
    pub(super) file: FileSettings,
    pub(super) pairs: Vec<SettingPair>,
    pub(super) choices: Vec<MenuChoice>,
    /// The choice that was asked for; none where nothing was, or where the agent has no setting of that name.
    pub(super) asked: Option<MenuChoice>,
    /// What only its maintainers can change, where that is asked for.
    pub(super) wishes: &'static [MaintainerWish],
    policies: SettingPolicies<'c>,
    /// Of sub-agents or not, and a choice: what plays it, made when it is first asked for.
    made: Mutex<IndexMap<(bool, MenuChoice), Arc<Policy>>>,
}

impl<'c> SettingMenu<'c> {
    /// Lays out the menu beside what a settings file says.
    fn new(catalog: &'c Catalog, agent: &'static Agent, file: FileSettings, asked: &[SettingPair]) -> Self {
        let (mut pairs, mut choices) = (Vec::new(), vec![MenuChoice::new()]);
        for setting in &agent.settings {
            let is_in_force = |it: &&String| file.values.get(&setting.key) == Some(*it);
            let first = pairs.len();
            let values = setting.values.iter().filter(|it| !is_in_force(it));
            pairs.extend(values.map(|it| SettingPair { setting, value: it.clone() }));
            let is_tried_with_others =
                |it: &usize| setting.combines.as_ref().is_none_or(|all| all.contains(&pairs[*it].value));
            let combines = (first..pairs.len()).filter(is_tried_with_others).listed();
            let with =
                |choice: &MenuChoice| combines.iter().map(|it| [&choice[..], &[*it]].concat()).listed();
            let more: Vec<MenuChoice> = choices.iter().flat_map(with).listed();
            choices.extend(more);
        }
        let alone = (0..pairs.len()).map(|it| vec![it]).filter(|it| !choices.contains(it)).listed();
        choices.extend(alone);
        let own = |one: &SettingPair| {
            pairs.iter().position(|pair| pair == one).unwrap_or_else(|| {
                pairs.push(one.clone());
                pairs.len() - 1
            })
        };
        let asked: MenuChoice = asked.iter().map(own).collect();
        let mut menu = Self {
            agent,
            file,
            pairs,
            choices: Vec::new(),
            asked: None,
            wishes: &[],
            policies: SettingPolicies { catalog, agent },
            made: Mutex::default(),
        };
        menu.asked = menu.with_needed_pairs(asked).filter(|it| !it.is_empty());
        choices.extend(menu.asked.clone());
        let whole: BTreeSet<_> = choices.into_iter().filter_map(|it| menu.with_needed_pairs(it)).collect();
        menu.choices = whole.into_iter().filter(|it| !it.is_empty()).listed();
        menu
    }

    /// Adds what settings need beside them and what is not in force by the file; `None` where the choice says the opposite.
    fn with_needed_pairs(&self, mut choice: MenuChoice) -> Option<MenuChoice> {
        for nth in choice.clone() {
            for (key, value) in &self.pairs[nth].setting.needs {
                let is_met = |it: &usize| self.pairs[*it].setting.key == *key;
                match choice.iter().find(|it| is_met(it)) {
                    Some(it) if self.pairs[*it].value == *value => {}
                    Some(_) => return None,
                    None if self.file.values.get(key) == Some(value) => {}
                    None => choice.push(self.pair_index(key, value)?),
                }
            }
        }
        choice.sort_unstable();
        Some(choice)
    }

    /// Returns the place of a setting with a value, if it is tried.
    pub(super) fn pair_index(&self, key: &str, value: &str) -> Option<usize> {
        self.pairs.iter().position(|it| it.setting.key == key && it.value == value)
    }

    /// Returns the pairs of a choice that concern sessions of a kind.
    pub(super) fn pairs_in_lane(&self, choice: &[usize], is_sub_agent: bool) -> MenuChoice {
        choice.iter().copied().filter(|it| self.pairs[*it].setting.lane.include(is_sub_agent)).listed()
    }

    /// Returns the policy that plays a choice.
    ///
    /// # Errors
    /// A setting's policy is broken, or its base is unknown.
    pub(super) fn policy_for_choice(&self, choice: &[usize], is_sub_agent: bool) -> Result<Arc<Policy>> {
        let key = (is_sub_agent, choice.to_vec());
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made().get(&key) {
            return Ok(Arc::clone(found));
        }
        let mut state = self.file.values.clone();
        let pairs = choice.iter().map(|it| &self.pairs[*it]);
        state.extend(pairs.map(|it| (it.setting.key.clone(), it.value.clone())));
        let policy = self.policies.policy_for_values(&state, is_sub_agent)?;
        made().insert(key, Arc::clone(&policy));
        Ok(policy)
    }

    /// Returns the families of what a choice adds to the settings in force, in either lane.
    pub(super) fn added_policy_families(&self, choice: &[usize]) -> Vec<PolicyFamily> {
        let families = |(own, base): (Arc<Policy>, Arc<Policy>)| own.families_beside(&base);
        let all: BTreeSet<_> = self.policy_and_base_by_lane(choice).into_iter().flat_map(families).collect();
        all.into_iter().listed()
    }

    /// Returns what plays a choice and what plays the settings in force, in each lane that it concerns.
    pub(super) fn policy_and_base_by_lane(&self, choice: &[usize]) -> Vec<(Arc<Policy>, Arc<Policy>)> {
        let in_lane = |of_agent: bool| {
            let own = self.pairs_in_lane(choice, of_agent);
            (!own.is_empty()).then_some(())?;
            Some((self.policy_for_choice(&own, of_agent).ok()?, self.policy_for_choice(&[], of_agent).ok()?))
        };
        [false, true].into_iter().filter_map(in_lane).listed()
    }

    /// Returns the policy of what only maintainers can change; none for sessions that it does not concern.
    ///
    /// # Errors
    /// Its policy is broken, or its base is unknown.
    pub(super) fn policy_for_wish(
        &self,
        wish: &MaintainerWish,
        is_sub_agent: bool,
    ) -> Result<Option<Arc<Policy>>> {
        let policy = || self.policies.merge_parts(vec![wish.policy_file()?]);
        wish.lane.include(is_sub_agent).then(policy).transpose()
    }

    /// Returns whether a choice is the one that was asked for.
    pub(super) fn is_requested_choice(&self, choice: &MenuChoice) -> bool {
        self.asked.as_ref() == Some(choice)
    }

    /// Returns a choice as settings with their values.
    pub(super) fn values_of_choice(&self, choice: &[usize]) -> SettingValues {
        choice.iter().map(|it| (self.pairs[*it].setting.key.clone(), self.pairs[*it].value.clone())).collect()
    }
}

/// A menu that is made when it is first asked for; none of a settings file that cannot be used.
type LazyMenu<'c> = OnceLock<Result<SettingMenu<'c>, Vec<Diagnostic>>>;

/// The menus of all agents that are known, each made when a session of it is met.
pub(crate) struct SettingMenus<'c> {
    catalog: &'c Catalog,
    pub(super) asked: &'c AdviceRequest,
    /// The agent that is named: its sessions alone are meant, and those whose format does not tell the agent are its own.
    pub(super) named: Option<&'static Agent>,
    agents: Vec<(&'static Agent, LazyMenu<'c>)>,
    /// The prices at which logs are billed.
    pub(super) prices: ListPrices,
}

impl<'c> SettingMenus<'c> {
    /// Looks the agents up.
    ///
    /// # Errors
    /// A file of settings is broken, or no agent has the name that is asked for.
    pub(crate) fn new(catalog: &'c Catalog, request: &'c AdviceRequest) -> Result<Self> {
        let known = Agent::all_by_file_name()?;
        let named = |name: &String| known.get(name).ok_or_else(|| unknown_agent_problems(name, known));
        let named = request.agent.as_ref().map(named).transpose()?;
        let agents = known.values().map(|it| (it, OnceLock::new())).listed();
        Ok(Self { catalog, asked: request, named, agents, prices: ListPrices::read(catalog) })
    }

    /// Returns the agent whose session a log is of.
    pub(super) fn agent_of_log(&self, seen: &LogData) -> Option<&'static Agent> {
        let mut known = self.agents.iter().map(|(agent, _)| *agent);
        let told = known.find(|agent| agent.matches_log(seen.format, &seen.model));
        let Some(named) = self.named else { return told };
        // Several agents write a format that does not tell the agent without the model.
        told.is_none_or(|it| it.name == named.name || !it.needs_model.is_empty()).then_some(named)
    }

    /// Returns whether the agent of a load keeps its logs in one folder per project.
    pub(crate) fn has_project_folders(&self, load: &Load) -> bool {
        log_data(load).and_then(|seen| self.agent_of_log(&seen)).is_some_and(|it| it.has_folders)
    }

    /// Returns the menu of the agent that made a session; none where it is not known.
    ///
    /// # Errors
    /// The settings file that was given cannot be used.
    pub(super) fn menu_for_log(&self, seen: &LogData) -> Result<Option<&SettingMenu<'c>>> {
        let Some(agent) = self.agent_of_log(seen) else { return Ok(None) };
        self.menu_for_agent(&agent.name).map(Some)
    }

    /// Returns the menu of the agent of a name.
    ///
    /// # Errors
    /// The settings file that was given cannot be used, or no agent has the name.
    pub(super) fn menu_for_agent(&self, name: &str) -> Result<&SettingMenu<'c>> {
        let found = self.agents.iter().find(|(agent, _)| agent.name == name);
        let Some((agent, menu)) = found else { return Err(Error::from(Vec::new())) };
        let make = || {
            let file = SettingsFile::index_for_agent(&self.asked.settings, agent).map_or_else(
                || Ok(FileSettings::default()),
                |it| FileSettings::read(agent, &self.asked.settings[it].file, &self.asked.settings[it].text),
            );
            let file = file.map_err(|it| it.problems())?;
            let wishes = if self.asked.has_wishes { &agent.wishes[..] } else { &[] };
            let asked = asked::parse_setting_pairs(agent, &self.asked.pairs)?;
            let menu = SettingMenu { wishes, ..SettingMenu::new(self.catalog, agent, file, &asked) };
            if !asked.is_empty() && menu.asked.is_none() {
                return Err(asked::describe_unmet_needs(agent, &asked));
            }
            Ok(menu)
        };
        menu.get_or_init(make).as_ref().map_err(|it| it.clone().into())
    }
}
