//! The levers and decoys that are built in, which lever of a first screen each of them is, and what it truly saves.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bill::{AS_IS, Life, Setting, bill};
use crate::team::{LEAD, Person, Session, people, sessions};

/// Something that a first screen may name.
pub(crate) struct BuiltIn {
    pub(crate) what: &'static str,
    /// How its setting begins; empty for what no setting changes.
    set: &'static str,
    /// Else the lever's name, and a word of its title.
    name: &'static str,
    word: &'static str,
    /// Whether it saves nothing: a decoy.
    pub(crate) is_decoy: bool,
}

const fn setting(what: &'static str, set: &'static str, is_decoy: bool) -> BuiltIn {
    BuiltIn { what, set, name: "", word: "", is_decoy }
}

const fn habit(what: &'static str, name: &'static str, word: &'static str, is_decoy: bool) -> BuiltIn {
    BuiltIn { what, set: "", name, word, is_decoy }
}

/// Everything that is built in, and what a first screen calls it.
pub(crate) const BUILT_IN: [BuiltIn; 10] = [
    setting("an hour's lifetime", "promptCacheTtl=1h", false),
    setting("a window", "autoCompactWindow=", false),
    setting("sub-agents on the wrong lifetime", "subagentPromptCacheTtl=5m", false),
    habit("a skill that rewrites the prompt", "skills", "house-style", false),
    habit("a fat front", "front", "person-3", false),
    habit("another fat front", "front", "person-5", false),
    setting("decoy: long outputs that are needed", "bashOutputMaxChars=", true),
    setting("decoy: a window that nothing reaches", "autoCompactWindow=600000", true),
    habit("decoy: a skill that rewrites nothing", "skills", "notes", true),
    habit("decoy: more sessions, the same front", "front", "person-6", true),
];

impl BuiltIn {
    /// Returns whether a first screen's lever is this one, alone or among others that are pasted together.
    pub(crate) fn is(&self, lever: &Value) -> bool {
        if !self.set.is_empty() {
            return set_of(lever).iter().any(|it| it.starts_with(self.set));
        }
        let text = |field: &str| lever[field].as_str().unwrap_or_default().to_owned();
        text("name") == self.name && text("title").contains(self.word)
    }

    /// Returns whether a lever is this one alone, with the value that it has in another lever.
    pub(crate) fn is_of(&self, alone: &Value, of: &Value) -> bool {
        is_alone(alone) && self.is(alone) && set_of(alone).iter().all(|it| set_of(of).contains(it))
    }
}

/// Returns the settings of a lever.
fn set_of(lever: &Value) -> Vec<&str> {
    lever["set"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns whether a lever is one thing to change.
pub(crate) fn is_alone(lever: &Value) -> bool {
    set_of(lever).len() < 2
}

/// Returns what a lever changes; none if that is not built in.
pub(crate) fn pulled(lever: &Value) -> Option<Setting> {
    let mut all = AS_IS;
    for set in set_of(lever) {
        match set.split_once('=')? {
            ("promptCacheTtl", "1h") => all.main = Life::Hour,
            ("promptCacheTtl", _) => all.main = Life::FiveMinutes,
            ("subagentPromptCacheTtl", "5m") => all.agents = Life::FiveMinutes,
            ("autoCompactWindow", tokens) => all.window = tokens.parse().ok(),
            _ => return None,
        }
    }
    let title = lever["title"].as_str().unwrap_or_default();
    match lever["name"].as_str() {
        Some("skills") if title.contains("house-style") => all.rewrites = false,
        Some("front") => all.slim = people().iter().position(|it| title.contains(&it.name) && it.is_fat),
        _ => {}
    }
    Some(all)
}

/// What levers truly save, over many teams.
pub(crate) struct Truths {
    people: Vec<Person>,
    teams: Vec<Vec<Session>>,
    /// By setting, in words.
    known: BTreeMap<String, f64>,
}

impl Truths {
    /// Draws teams other than those that are measured.
    pub(crate) fn new(people: Vec<Person>, n: u64) -> Self {
        let teams = (0..n).map(|it| sessions(&people, 1_000_000 + it)).collect();
        Self { people, teams, known: BTreeMap::new() }
    }

    /// Returns the share of the bill that a setting saves.
    pub(crate) fn share(&mut self, setting: &Setting) -> f64 {
        let words = format!("{setting:?}");
        if let Some(known) = self.known.get(&words) {
            return *known;
        }
        let dollars =
            |setting: &Setting| self.teams.iter().map(|it| dollars(it, &self.people, setting)).sum::<f64>();
        let share = 1.0 - dollars(setting) / dollars(&AS_IS);
        self.known.insert(words, share);
        share
    }
}

/// Returns the share of its bill that a setting saves one team.
pub(crate) fn own_share(people: &[Person], seed: u64, setting: &Setting) -> f64 {
    let all = sessions(people, seed);
    1.0 - dollars(&all, people, setting) / dollars(&all, people, &AS_IS)
}

/// Returns what a team is billed under a setting.
fn dollars(sessions: &[Session], people: &[Person], setting: &Setting) -> f64 {
    sessions.iter().map(|it| bill(it, people[it.person].model, setting, LEAD).1).sum()
}
