//! Which values of settings are in force, and the policies that values make.

use crate::prelude::*;

use crate::advise::agents::{Agent, AgentSetting, ShownBy, version_numbers};
use crate::advise::play::LogData;
use crate::advise::stated::FileSettings;
use ctxsim_input::policy::{HarnessNumber, Lanes, Size};
use ctxsim_input::scenario::ITEM_TOKENS_MAX;
use ctxsim_input::text::source::decode;
use ctxsim_report::advise::{SettingInForce, SettingSource};
use ctxsim_report::as_logged::AS_RECORDED;

/// What is known of the settings in force in some sessions of an agent.
pub(super) struct SettingsInForce<'a> {
    pub(super) agent: &'a Agent,
    pub(super) seen: Vec<&'a LogData>,
    /// What the settings file says.
    pub(super) file: &'a FileSettings,
}

impl SettingsInForce<'_> {
    /// Returns the value of a setting, if the file says it, or if all sessions show the same.
    pub(super) fn known_value(&self, setting: &AgentSetting) -> Option<String> {
        self.file.values.get(&setting.key).cloned().or_else(|| self.unanimous_logged_value(setting))
    }

    /// Returns all settings with what is in force, and who says so.
    pub(super) fn values_in_force(&self) -> Vec<SettingInForce> {
        let one = |setting: &AgentSetting| {
            let log = || self.describe_logged_value(setting).map(|it| (it, SettingSource::Log));
            let file = self.file.values.get(&setting.key).map(|it| (it.clone(), SettingSource::File));
            let (value, from) =
                file.or_else(log).unwrap_or_else(|| (setting.default.clone(), SettingSource::Default));
            let variable = self.file.variables.get(&setting.key).cloned();
            SettingInForce { key: setting.key.clone(), about: setting.about.clone(), value, from, variable }
        };
        self.agent.settings.iter().map(one).listed()
    }

    /// Returns the values in force of some settings, if all of them are known and later sessions can be played with them: lifetimes change no
    /// prompt, and a compaction that an earlier window avoids is undone. What was cut out of a result cannot be put back.
    pub(super) fn replay_values<'k>(&self, keys: impl Iterator<Item = &'k String>) -> Option<SettingValues> {
        let known = |key: &String| {
            let setting = self.agent.setting(key)?;
            let value = match setting.shown_by? {
                ShownBy::Lifetimes => self.known_value(setting)?,
                ShownBy::Compactions(_) => self.known_value(setting).unwrap_or_else(|| UNSET.to_owned()),
                ShownBy::Reserve => return None,
            };
            Some((key.clone(), value))
        };
        keys.map(known).collect()
    }

    /// Returns the oldest and the newest version.
    pub(super) fn oldest_and_newest_version(&self) -> Option<[String; 2]> {
        let mut all = self.seen.iter().map(|it| &it.version).filter(|it| !it.is_empty()).listed();
        all.order_by_key(|it| version_numbers(it));
        Some([all.first()?, all.last()?].map(|it| (*it).clone()))
    }

    /// Returns the value of a setting that all sessions show alike, if they do.
    fn unanimous_logged_value(&self, setting: &AgentSetting) -> Option<String> {
        if setting.shown_by? != ShownBy::Lifetimes {
            return None;
        }
        match self.n_sessions_by_cache_lifetime(setting) {
            [short, 0] if short > 0 => Some(setting.name_of_logged_value("5m")),
            [0, long] if long > 0 => Some(setting.name_of_logged_value("1h")),
            _ => None,
        }
    }

    /// Counts the sessions that wrote for a short time, and those that wrote for a long one.
    fn n_sessions_by_cache_lifetime(&self, setting: &AgentSetting) -> [usize; 2] {
        let own = self.seen.iter().filter(|it| setting.lane.include(it.is_of_agent));
        own.fold([0; 2], |n, seen| {
            let is_long = seen.written[1] > seen.written[0];
            let is_any = seen.written != [0; 2];
            [n[0] + usize::from(is_any && !is_long), n[1] + usize::from(is_long)]
        })
    }

    /// Says what the logs show of a lifetime, sessions that wrote with both among it.
    fn describe_logged_cache_lifetimes(&self, setting: &AgentSetting) -> Option<String> {
        let [short, long] = self.n_sessions_by_cache_lifetime(setting);
        let [five, hour] = ["5m", "1h"].map(|it| setting.name_of_logged_value(it));
        let each =
            || format!("{five} in {}, {hour} in {}", counted(short, "session"), counted(long, "session"));
        let said = self.unanimous_logged_value(setting).or_else(|| (short + long > 0).then(each))?;
        let own = self.seen.iter().filter(|it| setting.lane.include(it.is_of_agent));
        match own.filter(|it| it.written[0] > 0 && it.written[1] > 0).count() {
            0 => Some(said),
            n => Some(format!("{said}; {} wrote with both", counted(n, "session"))),
        }
    }

    /// Says what the logs show of a setting.
    fn describe_logged_value(&self, setting: &AgentSetting) -> Option<String> {
        let shown_by = setting.shown_by?;
        if shown_by == ShownBy::Lifetimes {
            return self.describe_logged_cache_lifetimes(setting);
        }
        let compacted = || self.seen.iter().filter(|seen| !seen.compacted_at.is_empty());
        let prompts = || compacted().flat_map(|seen| &seen.compacted_at).copied();
        let trigger = prompts().min()?;
        let bound = match shown_by {
            ShownBy::Compactions(more) => format!("at most {}", thousands(trigger + more)),
            _ => {
                let window = compacted().map(|seen| seen.window).min()?;
                format!("at least {}", thousands(window.checked_sub(trigger)?))
            }
        };
        let what = match prompts().count() {
            1 => "the prompt before a compaction".to_owned(),
            n => format!("the smallest of {n} prompts before a compaction"),
        };
        Some(format!("{bound} ({what} had {} tokens)", thousands(trigger)))
    }
}

impl AgentSetting {
    /// Returns what a value of the logs is called.
    pub(crate) fn name_of_logged_value(&self, value: &str) -> String {
        self.names.get(value).map_or(value, String::as_str).to_owned()
    }
}

/// The values of settings, by key; what is not there is as recorded.
pub(crate) type SettingValues = IndexMap<String, String>;

/// The value of a setting that nobody has set, where the policy itself says what then holds.
pub(crate) const UNSET: &str = "default";

/// The policies of an agent's settings.
#[derive(Clone, Copy)]
pub(crate) struct SettingPolicies<'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) agent: &'c Agent,
}

impl SettingPolicies<'_> {
    /// Returns the policy of a state, for the agent's own sessions or for those of sub-agents; what nobody sets is as recorded.
    ///
    /// # Errors
    /// A setting's policy is broken, or its base is unknown.
    pub(crate) fn policy_for_values(self, values: &SettingValues, is_sub_agent: bool) -> Result<Arc<Policy>> {
        let settings = values.iter().filter_map(|it| Some((self.agent.setting(it.0)?, it.1)));
        let own = settings.filter(|it| it.0.lane.include(is_sub_agent));
        let part = |(setting, value): (&AgentSetting, &String)| match value == UNSET {
            true => setting.default_policy(),
            false => setting.policy_for_value(value),
        };
        let mut parts = own.map(part).collect::<Result<Vec<_>, _>>()?;
        if self.has_prompt_edits(&parts)? {
            parts.extend(self.log_compaction_part(values, is_sub_agent)?);
        }
        self.merge_parts(parts)
    }

    /// Returns the policy of one value of one setting, `KEY=VALUE`, under that name.
    ///
    /// # Errors
    /// The setting's policy is broken, or its base is unknown.
    pub(super) fn named_policy(self, pair: &str, is_sub_agent: bool) -> Result<Arc<Policy>> {
        let (key, value) = pair.split_once('=').unwrap_or((pair, UNSET));
        let values = SettingValues::from([(key.to_owned(), value.to_owned())]);
        let policy = self.policy_for_values(&values, is_sub_agent)?;
        Ok(Arc::new(Policy::new(&PolicyFile { name: pair.to_owned(), ..PolicyFile::clone(&policy) })?))
    }

    /// Returns whether parts edit prompts, so that the harness compacts them elsewhere.
    fn has_prompt_edits(self, parts: &[PolicyFile]) -> Result<bool> {
        for part in parts {
            let base = part.base.as_ref().map(|it| self.catalog.policy(it)).transpose()?;
            if !part.stages.is_empty() || base.is_some_and(|it| !it.spec.stages.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the part that compacts where each log shows that the agent did: what shortens prompts only puts compactions off. `None` where
    /// the state says itself when the agent compacts.
    ///
    /// # Errors
    /// The setting's policy is broken.
    fn log_compaction_part(self, values: &SettingValues, is_sub_agent: bool) -> Result<Option<PolicyFile>> {
        let trigger = self.agent.settings.iter().find(|setting| {
            setting.lane.include(is_sub_agent) && setting.shown_by.is_some_and(|it| it != ShownBy::Lifetimes)
        });
        let Some(setting) = trigger.filter(|it| !values.contains_key(&it.key)) else { return Ok(None) };
        let Some(value) = setting.values.first() else { return Ok(None) };
        let mut part = setting.policy_for_value(value)?;
        let harness = |or: Size| Size::Harness { number: HarnessNumber::Trigger, or: Box::new(or) };
        let in_force = match setting.shown_by {
            Some(ShownBy::Reserve) => Size::Minus(vec![Size::Window, harness(Size::Window)]),
            _ => harness(Size::Tokens(ITEM_TOKENS_MAX)),
        };
        // A setting of several numbers is not one trigger.
        let is_one = part.params.len() == 1;
        part.params.values_mut().for_each(|it| *it = in_force.clone());
        Ok(Some(part).filter(|_| is_one))
    }

    /// Puts parts together; of none, everything is as recorded.
    pub(super) fn merge_parts(self, parts: Vec<PolicyFile>) -> Result<Arc<Policy>> {
        if parts.is_empty() {
            return Ok(Arc::new(Policy::new(&PolicyFile::named(AS_RECORDED))?));
        }
        // Settings of one base are one policy.
        let mut by_base: IndexMap<String, PolicyFile> = IndexMap::new();
        for (nth, part) in parts.into_iter().enumerate() {
            let key = part.base.clone().unwrap_or_else(|| format!("#{nth}"));
            let base = match (by_base.shift_remove(&key), &part.base) {
                (Some(before), _) => before,
                (None, Some(base)) => self.catalog.policy(base)?.spec,
                (None, None) => PolicyFile::named(""),
            };
            by_base.insert(key, part.over(base));
        }
        let applies_to = Some(Lanes::Both);
        let mut whole = PolicyFile { recovery: None, applies_to, ..PolicyFile::named("") };
        for (nth, part) in by_base.into_values().enumerate() {
            let part = with_unique_names(&part, nth)?;
            whole.params.extend(part.params);
            whole.tables.extend(part.tables);
            whole.ladders.extend(part.ladders);
            whole.stages.extend(part.stages);
            // Only one part may lay the prompt out: the first one that does.
            whole.layout = whole.layout.or(part.layout);
            whole.recovery = whole.recovery.or(part.recovery);
            whole.summariser = whole.summariser.or(part.summariser);
            whole.counter = whole.counter.or(part.counter);
        }
        Ok(Arc::new(Policy::new(&PolicyFile { name: "advise".to_owned(), ..whole })?))
    }
}

/// Gives parameters and stages names of their own, so that parts with the same ones stay apart.
fn with_unique_names(part: &PolicyFile, nth: usize) -> Result<PolicyFile> {
    let mut part = PolicyFile { apply: None, settable: None, allows: IndexMap::new(), ..part.clone() };
    // What a setting takes the place of is read by nothing any more.
    let read = part.params_read().map(|it| it.iter().map(|it| (*it).to_owned()).listed());
    part.params.retain(|name, _| read.as_ref().is_none_or(|it| it.contains(name)));
    let text = encode(&part, Format::Ron).map_err(|it| vec![*it])?;
    let mut named: PolicyFile = decode(&text.replace("param(\"", &format!("param(\"{nth}_")), Format::Ron)?;
    named.params = named.params.into_iter().map(|(name, size)| (format!("{nth}_{name}"), size)).collect();
    named.stages.iter_mut().for_each(|it| it.name = format!("{nth}_{}", it.name));
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::shipped_catalog;

    /// Returns the policy of the main conversation under some settings of an agent.
    fn policy(agent: &str, state: &[(&str, &str)]) -> PolicyFile {
        let catalog = shipped_catalog();
        let state = state.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        let policies =
            SettingPolicies { catalog: &catalog, agent: &Agent::all_by_file_name().unwrap()[agent] };
        PolicyFile::clone(&policies.policy_for_values(&state, false).unwrap())
    }

    #[test]
    fn a_lone_cap_on_outputs_is_played_with_the_trigger_that_each_log_shows() {
        for (agent, cap, trigger) in [
            ("codex", ("tool_output_token_limit", "2500"), ("model_auto_compact_token_limit", "100000")),
            ("claude-code", ("bashOutputMaxChars", "8000"), ("autoCompactWindow", "200000")),
        ] {
            let shown = |policy: &PolicyFile| {
                let of_log = |it: &Size| matches!(it, Size::Harness { number: HarnessNumber::Trigger, .. });
                policy.params.values().any(of_log)
            };
            let [alone, both, own] =
                [policy(agent, &[cap]), policy(agent, &[cap, trigger]), policy(agent, &[trigger])];

            assert!(shown(&alone) && alone.stages.len() == both.stages.len(), "{agent}: {alone:?}");
            assert!(!shown(&both) && !shown(&own), "{agent}: a trigger that is set is played");
        }
    }

    #[test]
    fn what_edits_no_prompt_moves_no_compaction() {
        assert_eq!(policy("claude-code", &[("promptCacheTtl", "1h")]).stages.len(), 0);
        assert_eq!(policy("claude-code", &[]).name, AS_RECORDED);
    }
}
