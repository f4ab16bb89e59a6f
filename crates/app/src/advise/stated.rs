//! What a settings file says: its values in the places where the agent looks for them, each checked before it is played.

use std::ops::Range;

use crate::prelude::*;
use serde_json::value::RawValue;

use super::agents::{Agent, AgentSetting, SettingVariable, SettingsForm};
use super::in_force::SettingValues;
use ctxsim_base::quantity::Decimal;
use ctxsim_input::text::source::line_column;

/// The member of a file in which it sets variables of the environment.
const ENV: &str = "env";

/// The settings that a file sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// The values, by key.
    pub values: SettingValues,
    /// The variables that say some of them, by key.
    pub variables: IndexMap<String, String>,
    /// What a reader must know of the file.
    pub notes: Vec<String>,
}

/// A settings file that was given: its path and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsFile {
    pub file: String,
    pub text: String,
    /// The agent that it is of, by the name of that agent's own file, where somebody said so.
    pub agent: Option<String>,
}

impl SettingsFile {
    /// Takes a file, and the agent that somebody named before it.
    pub fn new(file: &str, text: &str, agent: Option<&str>) -> Self {
        Self { file: file.to_owned(), text: text.to_owned(), agent: agent.map(str::to_owned) }
    }

    /// Returns how much it looks like a file of an agent: by its place, and by the settings that it has; `None` where it is of another form.
    fn likeness(&self, agent: &Agent) -> Option<usize> {
        if let Some(named) = &self.agent {
            let is_named = Agent::all_by_file_name().ok();
            let is_named = is_named.and_then(|all| all.get(named)).is_some_and(|it| it.name == agent.name);
            return is_named.then_some(usize::MAX);
        }
        let is_json = self.text.trim_start().starts_with('{');
        let is_toml = !is_json && decode_table::<Value>(&self.text, Format::Toml).is_ok();
        let path = self.file.replace('\\', "/");
        let read = SettingsText::new(agent, &self.file, &self.text).ok();
        let (mut likeness, mut has_form) = (0, false);
        for setting in &agent.settings {
            let is_its_place = path.ends_with(setting.at.trim_start_matches("~/"));
            let is_set = read.as_ref().is_some_and(|read| read.effective_value(setting).is_some());
            likeness += usize::from(is_its_place) + usize::from(is_set);
            has_form |= match setting.form {
                SettingsForm::Json => is_json || self.text.trim().is_empty(),
                SettingsForm::Toml => is_toml,
                SettingsForm::Env => !is_json && !is_toml,
                SettingsForm::Code => !is_json,
            };
        }
        (likeness > 0 || has_form).then_some(likeness)
    }

    /// Returns which of some files is most like one of an agent.
    pub(super) fn index_for_agent(files: &[Self], agent: &Agent) -> Option<usize> {
        let likeness = files.iter().map(|file| file.likeness(agent)).listed();
        let most = likeness.iter().flatten().max()?;
        likeness.iter().position(|it| it.as_ref() == Some(most))
    }

    /// Returns which of some files is that of each agent, where one is.
    ///
    /// # Errors
    /// It cannot be told of which agent a file is.
    pub fn indices_for_agents(files: &[Self], agents: &[&'static Agent]) -> Result<Vec<Option<usize>>> {
        let mut found = agents.iter().map(|agent| Self::index_for_agent(files, agent)).listed();
        // Where no agent is known, that is said first.
        for (nth, file) in files.iter().enumerate().filter(|_| !agents.is_empty()) {
            let own = (0..agents.len()).filter(|it| found[*it] == Some(nth)).listed();
            let sure = own.iter().copied().filter(|it| file.likeness(agents[*it]) > Some(0)).listed();
            match (own.as_slice(), sure.as_slice()) {
                ([_], _) => {}
                (_, [one]) => own.iter().filter(|it| *it != one).for_each(|it| found[*it] = None),
                _ => return Err(file.unassigned_error(agents)),
            }
        }
        Ok(found)
    }

    /// Says that it cannot be told of which agent it is.
    fn unassigned_error(&self, agents: &[&'static Agent]) -> Error {
        let is_one = |name: &String| agents.iter().any(|agent| agent.name == *name);
        let known = Agent::all_by_file_name().into_iter().flatten().filter(|it| is_one(&it.1.name));
        let (options, names): (Vec<_>, Vec<_>) =
            known.map(|it| (format!("`--settings {}={}`", it.0, self.file), it.1.name.clone())).unzip();
        let names = listed(&names);
        let message = format!("it cannot be told whose settings `{}` has: these are of {names}", self.file);
        let help = format!("name its agent: {}", options.join(" or "));
        problem_in("--settings", Code("setting-value"), message).help(help).into()
    }
}

/// A value, where it stands, and the variable that says it.
struct StatedValue {
    value: String,
    at: Option<usize>,
    variable: Option<String>,
}

/// A text of settings.
struct SettingsText<'t> {
    text: &'t str,
    is_json: bool,
    toml: Source,
}

impl FileSettings {
    /// Reads the settings of an agent from a file; one that sets nothing known leaves everything to the logs, and says so.
    ///
    /// # Errors
    /// The text is not of the form of the agent's places, or it has values that cannot be used, all of them at once.
    pub fn read(agent: &Agent, file: &str, text: &str) -> Result<Self> {
        let read = SettingsText::new(agent, file, text)?;
        let mut all = Self::default();
        let mut problems = Vec::new();
        for setting in &agent.settings {
            match read.effective_value(setting).map(|it| (setting.played_value_or_help(&it.value), it)) {
                Some((Ok(Some(value)), it)) => {
                    all.values.insert(setting.key.clone(), value);
                    all.variables.extend(it.variable.map(|it| (setting.key.clone(), it)));
                }
                Some((Err(help), it)) => {
                    let field = it.variable.as_ref().unwrap_or(&setting.key);
                    let message = format!("`{}` is not a value of {}", it.value, agent.name);
                    let mut problem = Diagnostic::at(Code("setting-value"), field, message).help(help);
                    problem.place.line_column = it.at.map(|it| line_column(text, it));
                    problems.push(problem.in_file(file));
                }
                Some((Ok(None), _)) | None => {}
            }
        }
        fail_if_any(problems)?;
        if all.values.is_empty() {
            let name = &agent.name;
            all.notes.push(format!(
                "{file} sets nothing of {name} that is simulated here, so the logs and the agent's defaults decide."
            ));
        }
        let untried = read.list_untried_keys(agent);
        all.notes.extend(untried.map(|it| format!("{file} also sets {it}, which is not simulated here.")));
        Ok(all)
    }

    /// Returns the variable that keeps a setting of the file from being heeded.
    pub(super) fn outranking_variable(&self, setting: &AgentSetting) -> Option<&String> {
        let variable = self.variables.get(&setting.key)?;
        let outranks = |it: &SettingVariable| variable.strip_prefix(ENV) == Some(&format!(".{}", it.name));
        setting.variables.iter().any(outranks).then_some(variable)
    }
}

impl<'t> SettingsText<'t> {
    fn new(agent: &Agent, file: &str, text: &'t str) -> Result<Self> {
        let has = |form: SettingsForm| agent.settings.iter().any(|it| it.form == form);
        let is_blank = text.trim().is_empty();
        let is_json_alone = agent.settings.iter().all(|it| it.form == SettingsForm::Json) && !is_blank;
        let is_json = has(SettingsForm::Json) && text.trim_start().starts_with('{') || is_json_alone;
        if is_json {
            serde_json::from_str::<IndexMap<String, &RawValue>>(text)
                .map_err(|it| invalid_json_error(file, &it))?;
        }
        Ok(Self { text, is_json, toml: Source::new(file, ctxsim_input::Format::Toml, text) })
    }

    /// Returns what is in force of a setting by the text: variables that outrank it, the setting, and variables that it outranks.
    fn effective_value(&self, setting: &AgentSetting) -> Option<StatedValue> {
        let by = |all: &[SettingVariable]| all.iter().find_map(|it| self.value_from_variable(it));
        let own = || {
            let (value, at) = self.own_value_and_offset(setting)?;
            Some(StatedValue { value, at, variable: None })
        };
        by(&setting.variables).or_else(own).or_else(|| by(&setting.fallbacks))
    }

    /// Returns what a variable says of a setting.
    fn value_from_variable(&self, variable: &SettingVariable) -> Option<StatedValue> {
        let (said, at) = self.json_value_at(&format!("{ENV}.{}", variable.name)).filter(|_| self.is_json)?;
        let is_off = ["", "0", "false"].contains(&said.as_str());
        let value = match &variable.value {
            Some(_) if is_off => return None,
            Some(value) => value.clone(),
            None => said,
        };
        Some(StatedValue { value, at, variable: Some(format!("{ENV}.{}", variable.name)) })
    }

    /// Returns the value of a setting at its own place, and where that is.
    fn own_value_and_offset(&self, setting: &AgentSetting) -> Option<(String, Option<usize>)> {
        let bare = |it: &str| it.trim_matches('"').to_owned();
        match setting.form {
            SettingsForm::Json => self.json_value_at(&setting.key).filter(|_| self.is_json),
            SettingsForm::Toml => {
                let span = self.toml.find(&setting.key).filter(|_| self.toml.gives(&setting.key))?;
                Some((bare(&self.text.get(span.clone())?.replace('_', "")), Some(span.start)))
            }
            SettingsForm::Env => {
                let value = last_assigned_value(self.text, &setting.key)?;
                Some((bare(value), Some(offset_of_part(self.text, value))))
            }
            SettingsForm::Code => {
                Some((bare(&extract_by_template(self.text, setting.write.as_ref()?)?), None))
            }
        }
    }

    /// Returns a value of a JSON document by its dotted path, and where it is; nothing of what is null.
    fn json_value_at(&self, path: &str) -> Option<(String, Option<usize>)> {
        let JsonKeyPlace::Found(at) = locate_json_key(self.text, path) else { return None };
        let value = match serde_json::from_str(&self.text[at.clone()]).ok()? {
            Value::Null => return None,
            Value::String(text) => text,
            _ => self.text[at.clone()].to_owned(),
        };
        Some((value, Some(at.start)))
    }

    /// Names what the text sets of an agent's settings that are not varied.
    fn list_untried_keys(&self, agent: &Agent) -> Option<String> {
        let read = |it: &AgentSetting| [&it.variables[..], &it.fallbacks].concat();
        let read: IndexSet<String> = agent.settings.iter().flat_map(read).map(|it| it.name).collect();
        let names = agent.left_out.iter().flat_map(|it| it.key.split(", ")).filter(|it| !read.contains(*it));
        let is_set = |it: &&str| {
            self.is_json
                && (self.json_value_at(it).is_some() || self.json_value_at(&format!("{ENV}.{it}")).is_some())
        };
        let set: Vec<String> = names.filter(is_set).map(|it| format!("`{it}`")).listed();
        (!set.is_empty()).then(|| listed(&set))
    }
}

impl AgentSetting {
    /// Returns a value as it is played, or nothing if it leaves the setting as if nobody had set it.
    ///
    /// # Errors
    /// What to write in its place.
    pub(super) fn played_value_or_help(&self, value: &str) -> Result<Option<String>, String> {
        if self.unset.iter().any(|it| it == value) {
            return Ok(None);
        }
        let example =
            self.values.first().map_or_else(String::new, |it| format!("write `{it}`, for example; "));
        let help = format!("{example}what it takes: {}", self.range);
        if self.values.iter().all(|it| it.parse::<u64>().is_ok()) {
            let number = value.parse::<u64>();
            let meant = number.as_ref().ok().copied().or_else(|| parse_human_number(value));
            if let Some(least) = self.least.filter(|least| meant.is_some_and(|it| it < *least)) {
                return Err(format!("write `{least}` or more"));
            }
            if number.is_err() {
                return Err(meant.map_or(help, |it| format!("write `{it}`")));
            }
        } else if self.values.iter().all(|it| it.parse::<f64>().is_ok()) {
            // A share of the window; no agent takes more than all of it.
            if !value.parse::<f64>().is_ok_and(|it| it > 0.0 && it <= 1.0) {
                return Err(help);
            }
        } else if !self.values.iter().any(|it| it == value) {
            return Err(format!("what it takes: {}", self.range));
        }
        self.policy_for_value(value).map(|_| Some(value.to_owned())).map_err(|_| help)
    }

    /// Returns whether a value may be written for it.
    pub(super) fn accepts_value(&self, value: &str) -> bool {
        let is_between =
            |it: &[u64; 2]| value.parse::<u64>().is_ok_and(|value| (it[0]..=it[1]).contains(&value));
        let played = self.played_value_or_help(value);
        played.is_ok_and(|played| played.is_none() || self.between.as_ref().is_none_or(is_between))
    }
}

/// Returns the whole number that somebody meant who wrote it for people: `160k`, `1.5M`, `160,000`.
fn parse_human_number(value: &str) -> Option<u64> {
    let digits: String = value.trim().chars().filter(|it| ![',', '_', ' '].contains(it)).collect();
    let scaled = |unit: char, places| Some((digits.strip_suffix([unit, unit.to_ascii_uppercase()])?, places));
    let (number, places) = scaled('k', 3).or_else(|| scaled('m', 6)).unwrap_or((&digits, 0));
    Decimal::parse(number)?.scaled(places)
}

/// Returns a variable that a script or a list of variables sets, the last time that it does.
fn last_assigned_value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lines = text.lines().rev().map(|it| it.trim().trim_start_matches("export ").trim());
    let mut set = lines.filter_map(|it| it.split_once('=')).filter(|it| it.0.trim() == name);
    set.next().map(|it| it.1.trim().trim_matches('\''))
}

/// Returns what stands in a text where a template has its value, whatever blanks there are.
fn extract_by_template(text: &str, template: &str) -> Option<String> {
    let dense = |it: &str| it.split_whitespace().collect::<String>();
    let (before, after) = template.split_once("{{ value }}")?;
    let text = dense(text);
    let rest = &text[text.find(&dense(before))? + dense(before).len()..];
    Some(rest[..rest.find(&dense(after))?].to_owned())
}

/// Where a key of a JSON document leads.
pub(super) enum JsonKeyPlace {
    /// To a value.
    Found(Range<usize>),
    /// To an object, so many levels down and written with this before its closing bracket, that does not have the rest of the key.
    Missing { object: Range<usize>, indent: String, depth: usize },
    /// To something that is not an object.
    Blocked,
}

pub(super) fn locate_json_key(text: &str, key: &str) -> JsonKeyPlace {
    let steps: Vec<&str> = key.split('.').collect();
    let Ok(mut raw) = serde_json::from_str::<&RawValue>(text) else { return JsonKeyPlace::Blocked };
    let mut indent = "\n".to_owned();
    for (depth, step) in steps.iter().enumerate() {
        let Ok(members) = serde_json::from_str::<IndexMap<String, &RawValue>>(raw.get()) else {
            return JsonKeyPlace::Blocked;
        };
        let start = offset_of_part(text, raw.get());
        let object = start..start + raw.get().len();
        match members.get(*step) {
            Some(found) => {
                let before = leading_blanks(&text[object.start + 1..]);
                raw = found;
                before.clone_into(&mut indent);
            }
            None => return JsonKeyPlace::Missing { object, indent, depth },
        }
    }
    let start = offset_of_part(text, raw.get());
    JsonKeyPlace::Found(start..start + raw.get().len())
}

/// Returns the blanks with which a text begins.
pub(super) fn leading_blanks(text: &str) -> &str {
    &text[..text.len() - text.trim_start().len()]
}

/// Returns where a part of a text begins in it.
pub(super) fn offset_of_part(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Says that a file is no JSON.
fn invalid_json_error(file: &str, error: &serde_json::Error) -> Error {
    let mut problem =
        problem_in(file, Code("settings-syntax"), format!("this is not a JSON object: {error}"));
    problem.place.line_column = Some((error.line().max(1), error.column().max(1)));
    let help = "give the agent's own settings file; JSON has no comments and no comma before a bracket";
    vec![problem.help(help)].into()
}
