//! What users of agents can set: one file per agent in `assumptions/settings/`.

use std::sync::OnceLock;

use crate::catalog::file_stem;
use crate::prelude::*;
use serde_json::Map;

use ctxsim_base::grid::numbers::percent;
use ctxsim_input::policy::{Apply, Lanes};
use ctxsim_input::text::source::decode;

/// An agent and what its users can set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// The formats of recordings that are its logs.
    pub formats: Vec<String>,
    /// The bundled policies that are its own; every setting of these is a setting here, or is left out with the reason.
    pub policies: Vec<String>,
    /// What a run plays of it where nobody names a policy: `KEY=VALUE`, at most six.
    #[serde(default)]
    pub run: Vec<String>,
    /// The day on which the sources were read.
    pub as_of: String,
    /// Where the settings come from.
    pub sources: Vec<String>,
    /// Which other place of settings comes first, so that what is pasted may do nothing.
    pub outranks: String,
    /// Whether its logs stand in one folder per project.
    #[serde(default)]
    pub has_folders: bool,
    /// What a model must be called for its settings to work; empty for any.
    #[serde(default)]
    pub needs_model: String,
    /// The settings.
    pub settings: Vec<AgentSetting>,
    /// Settings that are not varied.
    #[serde(default)]
    pub left_out: Vec<FixedSetting>,
    /// What only its maintainers can change.
    #[serde(default)]
    pub wishes: Vec<MaintainerWish>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSetting {
    /// Its key; dots part the levels of a file.
    pub key: String,
    /// What it decides.
    pub about: String,
    /// What a value does, in a few words that need no explanation; `{{ value }}` is the value, with its thousands apart.
    pub title: String,
    /// The values that are also tried together with other settings; by default all.
    pub(super) combines: Option<Vec<String>>,
    /// What it costs that no play can judge, in a clause; by default nothing.
    pub unjudged: Option<String>,
    /// Where it is written.
    pub at: String,
    /// The file of one project, if there is one.
    pub project: Option<String>,
    /// The form of that place.
    pub form: SettingsForm,
    /// Whether its value is written as a text.
    #[serde(default)]
    pub is_text: bool,
    /// Whose sessions it changes.
    #[serde(default)]
    pub lane: Lanes,
    /// The first version that has it, if that is known.
    pub since: Option<String>,
    /// What it may be.
    pub range: String,
    /// What is tried.
    pub values: Vec<String>,
    /// What holds if nobody sets it.
    pub default: String,
    /// How a log shows the value in force, if it does.
    pub shown_by: Option<ShownBy>,
    /// Values that leave it as if nobody had set it.
    #[serde(default)]
    pub unset: Vec<String>,
    /// The least value, if smaller ones do not count.
    pub least: Option<u64>,
    /// The least and the greatest value, where its range names both; no other is written.
    pub between: Option<[u64; 2]>,
    /// Variables of the environment that say the same and outrank it, the first before the others.
    #[serde(default)]
    pub variables: Vec<SettingVariable>,
    /// Variables that say the same and count where it is not set.
    #[serde(default)]
    pub fallbacks: Vec<SettingVariable>,
    /// Other settings that must be in force, or it does nothing.
    #[serde(default)]
    pub needs: IndexMap<String, String>,
    /// What the values of a log are called here.
    #[serde(default)]
    pub names: IndexMap<String, String>,
    /// What is written where the form is `code`; `{{ value }}` is the value.
    pub write: Option<String>,
    /// The inside of the policy that it becomes; `{{ value }}` is the value.
    pub plays: String,
    /// Parameters that move with it and are no settings themselves.
    #[serde(default)]
    pub follows: Vec<String>,
    /// What else it changes.
    pub effects: String,
    /// Who says so.
    pub source: String,
}

/// A setting with a value that it could have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SettingPair {
    pub(super) setting: &'static AgentSetting,
    pub(super) value: String,
}

impl SettingPair {
    /// Returns it as a text.
    pub(super) fn to_key_value(&self) -> String {
        format!("{}={}", self.setting.key, self.value)
    }
}

/// A variable of the environment that says what a setting says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingVariable {
    /// Its name.
    pub name: String,
    /// What it says if it is on; without that, its own value.
    pub value: Option<String>,
}

/// The form of a place of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsForm {
    /// A JSON object.
    Json,
    /// A TOML table.
    Toml,
    /// Variables of the environment.
    Env,
    /// Code, or the body of a request.
    Code,
}

/// How a log shows a value in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownBy {
    /// By the lifetimes of what was written to the cache.
    Lifetimes,
    /// By the smallest prompt before a compaction, and so many tokens more.
    Compactions(u64),
    /// By the smallest prompt before a compaction: what the window has more than it.
    Reserve,
}

/// A setting that is not varied.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedSetting {
    /// Its key.
    pub key: String,
    /// Why.
    pub reason: String,
    /// The parameters of the agent's policies that it moves.
    #[serde(default)]
    pub params: Vec<String>,
}

/// What only an agent's maintainers can change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaintainerWish {
    /// What it would do.
    pub about: String,
    /// Why no user can set it.
    pub reason: String,
    /// Whose sessions it changes.
    #[serde(default)]
    pub lane: Lanes,
    /// The inside of the policy that it becomes.
    pub plays: String,
}

impl Agent {
    /// Returns all that are known, by the names of their files.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn all_by_file_name() -> Checked<&'static IndexMap<String, Self>> {
        static READ: OnceLock<Checked<IndexMap<String, Agent>>> = OnceLock::new();
        let read = || {
            let named = |(path, text): &(&str, &str)| {
                Ok((file_stem(Path::new(path)), decode_table(text, Format::Toml)?))
            };
            ctxsim_assumptions::SETTINGS.iter().map(named).collect()
        };
        READ.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Returns the setting of a key.
    pub fn setting(&self, key: &str) -> Option<&AgentSetting> {
        self.settings.iter().find(|it| it.key == key)
    }
}

impl AgentSetting {
    /// Returns the policy of a value, without what its base says.
    ///
    /// # Errors
    /// The template or the policy is broken.
    pub fn policy_for_value(&self, value: &str) -> Checked<PolicyFile> {
        decode_policy_body(&fill_template(&self.plays, value)?)
    }

    /// Returns the policy of what holds where nobody sets it: its base, with the numbers that this has.
    ///
    /// # Errors
    /// The template or the policy is broken.
    pub(super) fn default_policy(&self) -> Checked<PolicyFile> {
        let mut part = self.policy_for_value(self.values.first().map_or("", String::as_str))?;
        part.params.clear();
        Ok(part)
    }

    /// Returns what a value does, in a few words.
    pub(super) fn title_for_value(&self, value: &str) -> String {
        let shown = match value {
            "5m" => "5 minutes".to_owned(),
            "1h" => "1 hour".to_owned(),
            _ if value.starts_with("0.") => value.parse().map_or_else(|_| value.to_owned(), percent),
            _ => value.parse().map_or_else(|_| value.to_owned(), thousands),
        };
        self.title.replace("{{ value }}", &shown)
    }

    /// Returns what is written where its place has no form of its own.
    pub(super) fn code_snippet_for_value(&self, value: &str) -> Option<String> {
        fill_template(self.write.as_ref()?, value).ok()
    }
}

impl MaintainerWish {
    /// Returns the policy, without what its base says.
    ///
    /// # Errors
    /// The policy is broken.
    pub fn policy_file(&self) -> Checked<PolicyFile> {
        decode_policy_body(&self.plays)
    }
}

/// Reads the inside of a policy file.
fn decode_policy_body(body: &str) -> Checked<PolicyFile> {
    decode(&format!("(name: \"\", about: \"\", {body})"), Format::Ron)
}

/// Fills a value in; one that is a number is one.
fn fill_template(template: &str, value: &str) -> Checked<String> {
    let number = value.parse::<u64>().map(Value::from).ok();
    let values = Map::from_iter([("value".to_owned(), number.unwrap_or_else(|| Value::from(value)))]);
    let filled = Apply { at: String::new(), write: template.to_owned() }.filled(values);
    let broken = || vec![Diagnostic::at(Code("setting-broken"), "", format!("cannot fill in `{template}`"))];
    filled.map(|it| it.write).ok_or_else(broken)
}

/// Returns whether one version is older than another.
pub(crate) fn is_older_version(version: &str, than: &str) -> bool {
    version_numbers(version) < version_numbers(than)
}

/// Returns the numbers of a version; unknown parts count as 0.
pub(super) fn version_numbers(version: &str) -> Vec<u64> {
    let digits = |it: &str| it.chars().take_while(char::is_ascii_digit).collect::<String>();
    version.split('.').map(|it| digits(it).parse().unwrap_or(0)).listed()
}
