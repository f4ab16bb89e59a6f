//! Settings files: the text to paste, and the values that a text holds.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::agents::{Agent, AgentSetting, SettingsForm};
use crate::diag::{Code, Diagnostic};
use crate::error::Error;
use crate::input::{self, Source};
use crate::report::advise::Paste;

/// A value of a setting.
pub type Chosen<'a> = (&'a AgentSetting, &'a str);

/// Returns what to paste, place by place.
pub fn pastes(chosen: &[Chosen<'_>]) -> Vec<Paste> {
    let mut places: IndexMap<&str, Vec<Chosen<'_>>> = IndexMap::new();
    chosen.iter().for_each(|it| places.entry(&it.0.at).or_default().push(*it));
    let paste = |(at, chosen): (&str, Vec<Chosen<'_>>)| Paste {
        at: at.to_owned(),
        project: chosen
            .iter()
            .map(|it| it.0.project.clone())
            .collect::<Option<Vec<_>>>()
            .and_then(|it| it.into_iter().next()),
        text: text(&chosen),
    };
    places.into_iter().map(paste).collect()
}

/// Writes settings of one place.
fn text(chosen: &[Chosen<'_>]) -> String {
    let form = chosen.first().map_or(SettingsForm::Code, |it| it.0.form);
    let line = |(setting, value): &Chosen<'_>| match form {
        SettingsForm::Toml if setting.is_text => format!("{} = \"{value}\"", setting.key),
        SettingsForm::Toml => format!("{} = {value}", setting.key),
        SettingsForm::Env => format!("export {}={value}", setting.key),
        SettingsForm::Code | SettingsForm::Json => setting.code(value).unwrap_or_default(),
    };
    match form {
        SettingsForm::Json => json(chosen),
        _ => chosen.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// Writes settings as one JSON object.
fn json(chosen: &[Chosen<'_>]) -> String {
    let mut root = Map::new();
    for (setting, value) in chosen {
        let plain = serde_json::from_str(value).ok().filter(|_| !setting.is_text);
        let leaf = plain.unwrap_or_else(|| Value::from(*value));
        let mut level = &mut root;
        let mut steps = setting.key.split('.').peekable();
        while let Some(step) = steps.next() {
            if steps.peek().is_none() {
                level.insert(step.to_owned(), leaf);
                break;
            }
            let below = level.entry(step).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(below) = below else { break };
            level = below;
        }
    }
    serde_json::to_string_pretty(&root).unwrap_or_default()
}

/// Returns the values that a text of settings holds, by key.
///
/// # Errors
/// The text is not of the form of the agent's places, or it sets nothing that the agent is known to have.
pub fn values(agent: &Agent, file: &str, text: &str) -> Result<IndexMap<String, String>, Error> {
    let is_json = text.trim_start().starts_with('{');
    let document: Option<Value> =
        match is_json && agent.settings.iter().any(|it| it.form == SettingsForm::Json) {
            true => Some(serde_json::from_str(text).map_err(|it| broken(file, &it))?),
            false => None,
        };
    let toml = Source::new(file, input::Format::Toml, text);
    let value = |setting: &AgentSetting| match setting.form {
        SettingsForm::Json => {
            plain(document.as_ref()?.pointer(&format!("/{}", setting.key.replace('.', "/")))?)
        }
        SettingsForm::Toml => text.get(toml.find(&setting.key)?).map(|it| it.replace('_', "")),
        SettingsForm::Env => variable(text, &setting.key),
        SettingsForm::Code => within(text, setting.write.as_ref()?),
    };
    let bare = |it: String| it.trim_matches('"').to_owned();
    let found = agent.settings.iter().filter_map(|it| Some((it.key.clone(), bare(value(it)?))));
    let found: IndexMap<String, String> = found.collect();
    if found.is_empty() { Err(nothing(agent, file)) } else { Ok(found) }
}

/// Returns a value as it is tried.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns a variable that a script or a list of variables sets, the last time that it does.
fn variable(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().rev().map(|it| it.trim().trim_start_matches("export ").trim());
    let mut set = lines.filter_map(|it| it.split_once('=')).filter(|it| it.0.trim() == name);
    set.next().map(|it| it.1.trim().trim_matches('\'').to_owned())
}

/// Returns what stands in a text where a template has its value, whatever blanks there are.
fn within(text: &str, template: &str) -> Option<String> {
    let dense = |it: &str| it.split_whitespace().collect::<String>();
    let (before, after) = template.split_once("{{ value }}")?;
    let text = dense(text);
    let rest = &text[text.find(&dense(before))? + dense(before).len()..];
    Some(rest[..rest.find(&dense(after))?].to_owned())
}

/// Says that a file is no JSON.
fn broken(file: &str, error: &serde_json::Error) -> Error {
    let mut problem = Diagnostic::at(Code::SettingsSyntax, "", format!("this is not JSON: {error}"));
    file.clone_into(&mut problem.place.file);
    problem.place.line_column = Some((error.line(), error.column().max(1)));
    vec![
        problem
            .help("give the agent's own settings file; JSON has no comments and no comma before a bracket"),
    ]
    .into()
}

/// Says that a file sets nothing that is known.
fn nothing(agent: &Agent, file: &str) -> Error {
    let keys: Vec<&str> = agent.settings.iter().map(|it| it.key.as_str()).collect();
    let message = format!("this file sets nothing of {} that is known here", agent.name);
    let mut problem = Diagnostic::at(Code::SettingsEmpty, "", message);
    file.clone_into(&mut problem.place.file);
    vec![problem.help(format!("settings that are read: {}", keys.join(", ")))].into()
}
