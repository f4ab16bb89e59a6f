//! Settings as text to paste.

use crate::prelude::*;
use serde_json::Map;

use super::agents::{AgentSetting, SettingsForm};
use ctxsim_report::advise::Paste;

/// A value of a setting.
pub type SettingToPaste<'a> = (&'a AgentSetting, &'a str);

/// Returns what to paste, place by place.
pub fn pastes_by_place(chosen: &[SettingToPaste<'_>]) -> Vec<Paste> {
    let mut places: IndexMap<&str, Vec<SettingToPaste<'_>>> = IndexMap::new();
    chosen.iter().for_each(|it| places.entry(&it.0.at).or_default().push(*it));
    let paste = |(at, chosen): (&str, Vec<SettingToPaste<'_>>)| {
        let project = chosen[0].0.project.clone().filter(|_| chosen.iter().all(|it| it.0.project.is_some()));
        Paste { at: at.to_owned(), project, text: settings_text(&chosen) }
    };
    places.into_iter().map(paste).listed()
}

/// Writes settings of one place.
fn settings_text(chosen: &[SettingToPaste<'_>]) -> String {
    let form = chosen.first().map_or(SettingsForm::Code, |it| it.0.form);
    let line = |(setting, value): &SettingToPaste<'_>| match form {
        SettingsForm::Toml if setting.is_text => format!("{} = \"{value}\"", setting.key),
        SettingsForm::Toml => format!("{} = {value}", setting.key),
        SettingsForm::Env => format!("export {}={value}", setting.key),
        SettingsForm::Code | SettingsForm::Json => setting.code_snippet_for_value(value).unwrap_or_default(),
    };
    match form {
        SettingsForm::Json => settings_json(chosen),
        _ => chosen.iter().map(line).listed().join("\n"),
    }
}

/// Writes settings as one JSON object.
fn settings_json(chosen: &[SettingToPaste<'_>]) -> String {
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
