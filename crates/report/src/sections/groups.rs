//! Which scenarios share a table: folders, recorded sessions, sums, and single ones.

use super::Detail;
use crate::prelude::*;
use crate::{ALL, counts_by_value, distinct};

/// The most scenarios shown beside their sum.
pub(crate) const FEW_SCENARIOS: usize = 3;

/// What the scenarios of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// Nothing: it has all.
    All,
    /// It is one.
    One(String),
    /// They are in one folder, and no recorded sessions.
    Folder(String),
    /// They are recorded sessions.
    Sessions {
        /// Whether each runs under several profiles.
        is_under_several: bool,
    },
    /// They are recorded sessions of one format.
    Format {
        /// Whether each runs under several profiles.
        is_under_several: bool,
        format: &'static str,
    },
    /// They are recorded sessions, each under one profile.
    Lane {
        /// Whether they are sub-agents'.
        is_of_agent: bool,
    },
}

/// A group of scenarios.
pub(super) struct ScenarioGroup<'r> {
    pub(super) key: GroupKey,
    pub(super) title: String,
    pub(super) scenarios: Vec<&'r str>,
    pub(super) under: GroupProfiles<'r>,
    pub(super) is_part: bool,
}

/// Under which profiles a group ran.
#[derive(Clone, Copy)]
pub(super) enum GroupProfiles<'r> {
    /// Under each profile of the report, one table each.
    Each,
    /// Under one.
    One(&'r str),
    /// Each scenario under its own model's.
    Own,
}

impl Report {
    /// Returns groups of scenarios with their titles.
    pub(super) fn scenario_groups(&self, detail: Detail) -> Vec<ScenarioGroup<'_>> {
        // Loads with planted facts have tables of their own.
        let shown = self.run_briefs().filter(|it| it.figures.is_in_sections);
        let scenarios = distinct(shown.map(|it| it.scenario));
        if scenarios.is_empty() {
            return Vec::new();
        }
        let recorded: IndexSet<&str> = self.sessions.iter().map(|it| it.name.as_str()).collect();
        let (sessions, others): (Vec<_>, Vec<_>) = scenarios.iter().partition(|it| recorded.contains(**it));
        let mut groups = Vec::new();
        let mut singles: Vec<&str> = Vec::new();
        let is_whole = detail == Detail::Scenarios;
        let rest = if !self.sums.is_empty() {
            groups.push(self.scenario_group(GroupKey::All, ALL, scenarios.clone()));
            if scenarios.len() > 1 && (is_whole || scenarios.len() <= FEW_SCENARIOS) {
                singles = scenarios;
            }
            Vec::new()
        } else if sessions.len() > 1 {
            groups.extend(self.session_groups(&sessions));
            singles.extend(sessions.iter().filter(|_| is_whole));
            others
        } else {
            scenarios
        };
        let mut folders: IndexMap<GroupKey, Vec<&str>> = IndexMap::new();
        for name in rest {
            // A recorded session that is the only one stands among the folders.
            let key = if recorded.contains(name) {
                let profiles = self.run_briefs().filter(|it| it.scenario == name).map(|it| it.profile);
                GroupKey::Sessions { is_under_several: distinct(profiles).len() > 1 }
            } else {
                GroupKey::Folder(top_folder(name).to_owned())
            };
            folders.entry(key).or_default().push(name);
        }
        for (key, members) in folders {
            singles.extend(members.iter().filter(|_| is_whole && members.len() > 1));
            groups.push(self.scenario_group(key, top_folder(members[0]), members));
        }
        for name in singles {
            let single = self.scenario_group(GroupKey::One(name.to_owned()), name, vec![name]);
            groups.push(ScenarioGroup { is_part: true, ..single });
        }
        groups
    }

    /// Makes a group of scenarios; one of a single scenario is called by it.
    fn scenario_group<'r>(&self, key: GroupKey, title: &str, scenarios: Vec<&'r str>) -> ScenarioGroup<'r> {
        let title = match scenarios.as_slice() {
            [only] => (*only).to_owned(),
            all => format!("{title} ({}, {})", counted(all.len(), "scenario"), self.turn_count_text(all)),
        };
        ScenarioGroup { key, title, scenarios, under: GroupProfiles::Each, is_part: false }
    }

    /// Returns recorded sessions as one group, and by format and model if each runs under its own model's profile; those
    /// under several profiles are separate groups.
    fn session_groups<'r>(&'r self, sessions: &[&'r str]) -> Vec<ScenarioGroup<'r>> {
        let mut profiles: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        self.run_briefs().for_each(|it| _ = profiles.entry(it.scenario).or_default().insert(it.profile));
        let formats = self.session_formats();
        let mut groups = Vec::new();
        // Each agent has settings of its own.
        if !self.settings.is_empty() && distinct(sessions.iter().map(|it| formats[*it])).len() > 1 {
            for (format, members) in grouped(sessions.iter().map(|it| (formats[*it], *it))) {
                let is_under_several = members.iter().any(|it| profiles[*it].len() > 1);
                let key = GroupKey::Format { is_under_several, format };
                let under = if is_under_several { GroupProfiles::Each } else { GroupProfiles::Own };
                groups.push(ScenarioGroup { under, ..self.session_group(key, members) });
            }
            return groups;
        }
        for is_under_several in [false, true] {
            let is_own = |session: &&&str| (profiles[**session].len() > 1) == is_under_several;
            let own: Vec<&str> = sessions.iter().filter(is_own).copied().listed();
            if own.is_empty() {
                continue;
            }
            // By format and, where each session is under one profile, by that.
            let profile = |it: &&str| profiles[*it].first().copied().filter(|_| !is_under_several);
            let mut parts = grouped(own.iter().map(|it| ((formats[*it], profile(it)), *it)));
            if !is_under_several {
                parts.sort_by(|_, one, _, other| other.len().cmp(&one.len()));
            }
            let under_of = |profile: Option<&'r str>| profile.map_or(GroupProfiles::Each, GroupProfiles::One);
            let first = parts.keys().next().and_then(|it| it.1);
            let is_one = parts.keys().all(|(_, profile)| *profile == first);
            let under = if is_one { under_of(first) } else { GroupProfiles::Own };
            let lanes = (!is_under_several).then(|| self.groups_by_lane(&own, under));
            let all = self.session_group(GroupKey::Sessions { is_under_several }, own);
            groups.push(ScenarioGroup { under, ..all });
            groups.extend(lanes.into_iter().flatten());
            let is_several = parts.len() > 1;
            groups.extend(parts.into_iter().filter(|_| is_several).map(|((format, profile), members)| {
                let part = self.session_group(GroupKey::Format { is_under_several, format }, members);
                ScenarioGroup { under: under_of(profile), is_part: true, ..part }
            }));
        }
        groups
    }

    /// Returns the sessions of agents and those of their sub-agents apart, where there are both.
    fn groups_by_lane<'r>(&self, sessions: &[&'r str], under: GroupProfiles<'r>) -> Vec<ScenarioGroup<'r>> {
        let agents = self.sessions.iter().filter(|it| it.parent.is_some());
        let agents: IndexSet<&str> = agents.map(|it| it.name.as_str()).collect();
        let is_of_agent = |it: &&&str| agents.contains(**it);
        let (subs, mains): (Vec<&str>, Vec<&str>) = sessions.iter().partition(is_of_agent);
        if subs.is_empty() || mains.is_empty() {
            return Vec::new();
        }
        let lane = |is_of_agent: bool, scenarios: Vec<&'r str>, one: &str| {
            let title = format!("{} ({})", counted(scenarios.len(), one), self.turn_count_text(&scenarios));
            ScenarioGroup { key: GroupKey::Lane { is_of_agent }, title, scenarios, under, is_part: true }
        };
        vec![lane(false, mains, "main session"), lane(true, subs, "sub-agent session")]
    }

    /// Returns the format of each recorded session.
    fn session_formats(&self) -> IndexMap<&str, &'static str> {
        self.sessions.iter().map(|it| (it.name.as_str(), it.format)).collect()
    }

    /// Makes a group of recorded sessions, whose title says of which formats they are where the report has several.
    fn session_group<'r>(&self, key: GroupKey, sessions: Vec<&'r str>) -> ScenarioGroup<'r> {
        let formats = self.session_formats();
        let is_one = distinct(formats.values()).len() == 1;
        let mut counts = counts_by_value(sessions.iter().filter(|_| !is_one).map(|it| formats[it]));
        counts.sort_by(|_, one, _, other| other.cmp(one));
        let turns = self.turn_count_text(&sessions);
        let one = match counts.first() {
            Some((format, _)) if counts.len() == 1 => format!("{format} session"),
            _ => "session".to_owned(),
        };
        let formats = counts.iter().map(|(format, n)| format!("{n} {format}")).listed();
        let mixed = text_if(counts.len() > 1, || format!("; {}", formats.join(", ")));
        let title = format!("{} ({turns}{mixed})", counted(sessions.len(), &one));
        ScenarioGroup { key, title, scenarios: sessions, under: GroupProfiles::Each, is_part: false }
    }

    /// Returns the user turns of some scenarios, as people read them.
    fn turn_count_text(&self, scenarios: &[&str]) -> String {
        let mut turns: IndexMap<&str, u32> = IndexMap::new();
        self.run_briefs().for_each(|it| _ = turns.entry(it.scenario).or_insert(it.figures.turns_requested));
        counted(scenarios.iter().filter_map(|it| turns.get(it)).sum::<u32>() as usize, "turn")
    }
}

/// Returns the first part of a scenario's path; a name without a folder represents itself.
pub(crate) fn top_folder(scenario: &str) -> &str {
    scenario.split('/').next().unwrap_or(scenario)
}
