//! Which scenarios share a table: folders, recorded sessions, sums, and single ones.

use indexmap::{IndexMap, IndexSet};

use super::Detail;
use crate::grid::numbers;
use crate::report::{ALL, Report, distinct};

/// The most scenarios shown beside their sum.
const FEW_SCENARIOS: usize = 3;

/// A group of scenarios.
pub(super) struct Group<'r> {
    pub(super) title: String,
    pub(super) scenarios: Vec<&'r str>,
    pub(super) under: Under<'r>,
    pub(super) is_part: bool,
}

/// Under which profiles a group ran.
#[derive(Clone, Copy)]
pub(super) enum Under<'r> {
    /// Under each profile of the report, one table each.
    Each,
    /// Under one.
    One(&'r str),
    /// Each scenario under its own model's.
    Own,
}

impl Report {
    /// Returns groups of scenarios with their titles.
    pub(super) fn groups(&self, detail: Detail) -> Vec<Group<'_>> {
        // Loads with planted facts have tables of their own.
        let shown = self.runs.iter().filter(|it| it.is_in_sections());
        let scenarios = distinct(shown.map(|it| it.scenario.as_str()));
        if scenarios.is_empty() {
            return Vec::new();
        }
        let recorded: IndexSet<&str> = self.sessions.iter().map(|it| it.name.as_str()).collect();
        let (mut sessions, others): (Vec<&str>, Vec<&str>) = match self.sums.is_empty() {
            true => scenarios.iter().partition(|it| recorded.contains(**it)),
            false => (Vec::new(), Vec::new()),
        };
        let mut groups = Vec::new();
        let mut singles: Vec<&str> = Vec::new();
        let is_whole = detail == Detail::Scenarios;
        if !self.sums.is_empty() {
            groups.push(self.group(ALL, scenarios.clone()));
            if scenarios.len() > 1 && (is_whole || scenarios.len() <= FEW_SCENARIOS) {
                singles.clone_from(&scenarios);
            }
        } else if sessions.len() > 1 {
            groups.extend(self.groups_of_sessions(&sessions));
            singles.extend(sessions.iter().filter(|_| is_whole));
            sessions.clear();
        }
        let rest: Vec<&str> =
            scenarios.into_iter().filter(|it| others.contains(it) || sessions.contains(it)).collect();
        for name in distinct(rest.iter().map(|it| folder(it))) {
            let members: Vec<&str> = rest.iter().copied().filter(|it| folder(it) == name).collect();
            if is_whole && members.len() > 1 {
                singles.extend(&members);
            }
            groups.push(self.group(name, members));
        }
        for name in singles {
            groups.push(Group { is_part: true, ..self.group(name, vec![name]) });
        }
        groups
    }

    /// Makes a group of scenarios; one of a single scenario is called by it.
    fn group<'r>(&self, title: &str, scenarios: Vec<&'r str>) -> Group<'r> {
        let title = match scenarios.as_slice() {
            [only] => (*only).to_owned(),
            all => format!("{title} ({}, {})", numbers::counted(all.len(), "scenario"), self.turns_of(all)),
        };
        Group { title, scenarios, under: Under::Each, is_part: false }
    }

    /// Returns recorded sessions as one group, and by format and model if each runs under its own model's profile; those
    /// under several profiles are separate groups.
    fn groups_of_sessions<'r>(&'r self, sessions: &[&'r str]) -> Vec<Group<'r>> {
        let mut profiles: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        for run in &self.runs {
            profiles.entry(&run.scenario).or_default().insert(&run.profile);
        }
        let formats = self.formats();
        let mut parts: IndexMap<(&str, &str), Vec<&str>> = IndexMap::new();
        let mut parts_of_several: IndexMap<&str, Vec<&str>> = IndexMap::new();
        let (mut under_one, mut under_several) = (Vec::new(), Vec::new());
        for session in sessions {
            let of_it = &profiles[session];
            let format = formats.get(session).copied().unwrap_or_default();
            match of_it.first().filter(|_| of_it.len() == 1) {
                Some(profile) => {
                    under_one.push(*session);
                    parts.entry((format, profile)).or_default().push(*session);
                }
                None => {
                    under_several.push(*session);
                    parts_of_several.entry(format).or_default().push(*session);
                }
            }
        }
        parts.sort_by(|_, one, _, other| other.len().cmp(&one.len()));
        let mut groups = Vec::new();
        if let Some(((_, first), _)) = parts.first() {
            let is_one = parts.keys().all(|(_, profile)| profile == first);
            let under = if is_one { Under::One(first) } else { Under::Own };
            let lanes = self.lanes(&under_one, under);
            groups.push(self.group_of_sessions(under_one, under, false));
            groups.extend(lanes);
            let parts = parts.iter().filter(|_| parts.len() > 1);
            groups.extend(parts.map(|((_, profile), of_it)| {
                self.group_of_sessions(of_it.clone(), Under::One(profile), true)
            }));
        }
        if !under_several.is_empty() {
            groups.push(self.group_of_sessions(under_several, Under::Each, false));
            let parts = parts_of_several.values().filter(|_| parts_of_several.len() > 1);
            groups.extend(parts.map(|of_it| self.group_of_sessions(of_it.clone(), Under::Each, true)));
        }
        groups
    }

    /// Returns the sessions of agents and those of their sub-agents apart, where there are both.
    fn lanes<'r>(&self, sessions: &[&'r str], under: Under<'r>) -> Vec<Group<'r>> {
        let agents = self.sessions.iter().filter(|it| it.parent.is_some());
        let agents: IndexSet<&str> = agents.map(|it| it.name.as_str()).collect();
        let is_of_agent = |it: &&&str| agents.contains(**it);
        let (subs, mains): (Vec<&str>, Vec<&str>) = sessions.iter().partition(is_of_agent);
        if subs.is_empty() || mains.is_empty() {
            return Vec::new();
        }
        let lane = |of_it: Vec<&'r str>, one: &str| {
            let title = format!("{} ({})", numbers::counted(of_it.len(), one), self.turns_of(&of_it));
            Group { title, scenarios: of_it, under, is_part: true }
        };
        vec![lane(mains, "main session"), lane(subs, "sub-agent session")]
    }

    /// Returns the format of each recorded session; empty if all have the same.
    fn formats(&self) -> IndexMap<&str, &'static str> {
        let formats: IndexMap<&str, &'static str> =
            self.sessions.iter().map(|it| (it.name.as_str(), it.format)).collect();
        let first = formats.first().map(|it| *it.1);
        if formats.values().all(|it| Some(*it) == first) { IndexMap::new() } else { formats }
    }

    /// Makes a group of recorded sessions, whose title says of which formats they are where the report has several.
    fn group_of_sessions<'r>(&self, sessions: Vec<&'r str>, under: Under<'r>, is_part: bool) -> Group<'r> {
        let formats = self.formats();
        let mut counts: IndexMap<&str, usize> = IndexMap::new();
        for format in sessions.iter().filter_map(|it| formats.get(it)) {
            *counts.entry(format).or_default() += 1;
        }
        counts.sort_by(|_, one, _, other| other.cmp(one));
        let turns = self.turns_of(&sessions);
        let title = match counts.first() {
            None => format!("{} ({turns})", numbers::counted(sessions.len(), "session")),
            Some((format, _)) if counts.len() == 1 => {
                format!("{} ({turns})", numbers::counted(sessions.len(), &format!("{format} session")))
            }
            Some(_) => {
                let mixed = counts.iter().map(|(format, n)| format!("{n} {format}")).collect::<Vec<_>>();
                format!("{} ({turns}; {})", numbers::counted(sessions.len(), "session"), mixed.join(", "))
            }
        };
        Group { title, scenarios: sessions, under, is_part }
    }

    /// Returns the user turns of some scenarios, as people read them.
    fn turns_of(&self, scenarios: &[&str]) -> String {
        let mut turns: IndexMap<&str, u32> = IndexMap::new();
        for run in &self.runs {
            turns.entry(&run.scenario).or_insert(run.tally.outcome.turns_requested);
        }
        let n_turns: u32 = scenarios.iter().filter_map(|it| turns.get(it)).sum();
        numbers::counted(n_turns as usize, "turn")
    }
}

/// Returns the first part of a scenario's path; a name without a folder represents itself.
fn folder(scenario: &str) -> &str {
    scenario.split('/').next().unwrap_or(scenario)
}
