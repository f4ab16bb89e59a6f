//! The settings in force: as a settings file says, else as the logs show, else the agent's defaults.

use std::cmp::Ordering;

use super::agents::{Agent, AgentSetting, ShownBy, is_older};
use super::play::SeenLog;
use super::stated::FileSettings;
use super::states::{SettingValues, UNSET};
use ctxsim_base::grid::numbers::thousands;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::Tokens;
use ctxsim_report::advise::{From, InForce, UntriedSetting};

/// What is known of the settings in force in some sessions of an agent.
pub(super) struct Force<'a> {
    pub(super) agent: &'a Agent,
    pub(super) seen: Vec<&'a SeenLog>,
    /// What the settings file says.
    pub(super) file: &'a FileSettings,
}

impl Force<'_> {
    /// Returns the value of a setting, if the file says it, or if all sessions show the same.
    pub(super) fn value(&self, setting: &AgentSetting) -> Option<String> {
        self.file.values.get(&setting.key).cloned().or_else(|| self.shown(setting))
    }

    /// Returns the settings that are not tried, with the reasons.
    pub(super) fn left_out(&self) -> Vec<UntriedSetting> {
        let known = self.agent.left_out.iter();
        known.map(|it| UntriedSetting { key: it.key.clone(), reason: it.reason.clone() }).listed()
    }

    /// Returns all settings with what is in force, and who says so.
    pub(super) fn all(&self) -> Vec<InForce> {
        let one = |setting: &AgentSetting| {
            let log = || self.told(setting).map(|it| (it, From::Log));
            let file = self.file.values.get(&setting.key).map(|it| (it.clone(), From::File));
            let (value, from) = file.or_else(log).unwrap_or_else(|| (setting.default.clone(), From::Default));
            let variable = self.file.variables.get(&setting.key).cloned();
            InForce { key: setting.key.clone(), about: setting.about.clone(), value, from, variable }
        };
        self.agent.settings.iter().map(one).listed()
    }

    /// Returns the values in force of some settings, if all of them are known and later sessions can be played with them: lifetimes change no
    /// prompt, and a compaction that an earlier window avoids is undone. What was cut out of a result cannot be put back.
    pub(super) fn playable<'k>(&self, keys: impl Iterator<Item = &'k String>) -> Option<SettingValues> {
        let known = |key: &String| {
            let setting = self.agent.setting(key)?;
            let value = match setting.shown_by? {
                ShownBy::Lifetimes => self.value(setting)?,
                ShownBy::Compactions(_) => self.value(setting).unwrap_or_else(|| UNSET.to_owned()),
                ShownBy::Reserve => return None,
            };
            Some((key.clone(), value))
        };
        keys.map(known).collect()
    }

    /// Returns the oldest and the newest version.
    pub(super) fn versions(&self) -> Option<[String; 2]> {
        let mut all: Vec<&String> =
            self.seen.iter().map(|it| &it.version).filter(|it| !it.is_empty()).listed();
        all.order_by(|one, other| match (is_older(one, other), is_older(other, one)) {
            (true, _) => Ordering::Less,
            (_, true) => Ordering::Greater,
            _ => Ordering::Equal,
        });
        Some([all.first()?, all.last()?].map(|it| (*it).clone()))
    }

    /// Returns the value of a setting that all sessions show alike, if they do.
    fn shown(&self, setting: &AgentSetting) -> Option<String> {
        if setting.shown_by? != ShownBy::Lifetimes {
            return None;
        }
        match self.lives(setting) {
            [0, 0] => None,
            [_, 0] => Some(setting.called("5m")),
            [0, _] => Some(setting.called("1h")),
            _ => None,
        }
    }

    /// Counts the sessions that wrote for a short time, and those that wrote for a long one.
    fn lives(&self, setting: &AgentSetting) -> [usize; 2] {
        let own = self.seen.iter().filter(|it| setting.lane.include(it.is_of_agent));
        own.fold([0; 2], |n, it| {
            let is_long = it.written[1] > it.written[0];
            let is_any = it.written != [0; 2];
            [n[0] + usize::from(is_any && !is_long), n[1] + usize::from(is_long)]
        })
    }

    /// Says what the logs show of a lifetime, sessions that wrote with both among it.
    fn told_lifetimes(&self, setting: &AgentSetting) -> Option<String> {
        let [short, long] = self.lives(setting);
        let [five, hour] = ["5m", "1h"].map(|it| setting.called(it));
        let sessions = |n: usize| format!("{n} {}", if n == 1 { "session" } else { "sessions" });
        let each = || format!("{five} in {}, {hour} in {}", sessions(short), sessions(long));
        let said = self.shown(setting).or_else(|| (short + long > 0).then(each))?;
        let own = self.seen.iter().filter(|it| setting.lane.include(it.is_of_agent));
        match own.filter(|it| it.written[0] > 0 && it.written[1] > 0).count() {
            0 => Some(said),
            n => Some(format!("{said}; {} wrote with both", sessions(n))),
        }
    }

    /// Says what the logs show of a setting.
    fn told(&self, setting: &AgentSetting) -> Option<String> {
        match setting.shown_by? {
            ShownBy::Lifetimes => self.told_lifetimes(setting),
            ShownBy::Compactions(more) => {
                let (trigger, of) = self.lowest_compaction()?;
                Some(format!(
                    "at most {} ({of} had {} tokens)",
                    thousands(trigger + more),
                    thousands(trigger)
                ))
            }
            ShownBy::Reserve => {
                let (trigger, of) = self.lowest_compaction()?;
                let window =
                    self.seen.iter().filter(|it| !it.compacted_at.is_empty()).map(|it| it.window).min()?;
                let reserve = window.checked_sub(trigger)?;
                Some(format!("at least {} ({of} had {} tokens)", thousands(reserve), thousands(trigger)))
            }
        }
    }

    /// Returns the smallest prompt before a compaction, and what it is.
    fn lowest_compaction(&self) -> Option<(Tokens, String)> {
        let all = || self.seen.iter().flat_map(|it| &it.compacted_at).copied();
        let of = match all().count() {
            1 => "the prompt before a compaction".to_owned(),
            n => format!("the smallest of {n} prompts before a compaction"),
        };
        Some((all().min()?, of))
    }
}

impl AgentSetting {
    /// Returns what a value of the logs is called.
    pub(crate) fn called(&self, value: &str) -> String {
        self.names.get(value).map_or(value, String::as_str).to_owned()
    }
}
